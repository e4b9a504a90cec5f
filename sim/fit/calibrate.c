#include "fit/calibrate.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* A name stays a name; a path becomes absolute, so that the config can lie anywhere. */
static enum wt_code name_base(struct wt_calibration *c, const char *base, struct wt_error *err)
{
    const struct wt_trace *trace = c->evidence.traces[0].trace;
    if (base && wt_gpu_is_path(base)) {
        c->base = realpath(base, NULL);
        if (!c->base)
            return wt_fail_at(err, base, 0, "cannot be found; check the name given with --base");
        return WT_OK;
    }
    if (!base && trace->cc_major == 0)
        return wt_fail_at(err, trace->path, 0, "does not state the compute capability; name the GPU to start from with "
                          "--base, or add a line '# compute_capability = X.Y'");
    c->base = base ? wt_strdup(base) : wt_format("cc%d.%d", trace->cc_major, trace->cc_minor);
    return WT_OK;
}

/* The base with the arrangement that was found. */
static enum wt_code load_arranged(struct wt_calibration *c, struct wt_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    wt_calibration_print_arrangement(c, stream);
    fclose(stream);
    enum wt_code code = wt_gpu_parse(text, size, "the arrangement found", &c->gpu, err);
    free(text);
    return code;
}

static void apply(const struct wt_fitted *rate, struct wt_rates *rates)
{
    void *field = wt_rate_of(rate->estimator, rates);
    switch (rate->estimator->kind) {
    case WT_RATE_NUMBER:
        *(double *)field = rate->estimate.value;
        break;
    case WT_RATE_CURVE:
        *(struct wt_curve *)field = rate->estimate.curve;
        break;
    case WT_RATE_PER_TPC:
        *(struct wt_numbers *)field = rate->estimate.per_tpc;
        break;
    }
}

/* One estimator after another, each on what those before it found. */
static void fit_rates(struct wt_calibration *c)
{
    size_t count = 0;
    while (wt_estimators[count])
        count++;
    c->rates = wt_alloc(count, sizeof *c->rates);
    c->rate_count = count;
    c->fitted = *c->gpu;
    for (size_t i = 0; i < count; i++) {
        struct wt_fitted *rate = &c->rates[i];
        struct wt_fit fit = {&c->evidence, &c->fitted};
        rate->estimator = wt_estimators[i];
        rate->estimate.used = wt_alloc(c->evidence.trace_count, sizeof(bool));
        rate->estimator->fit(&fit, &rate->estimate);
        rate->told = rate->estimate.samples >= rate->estimator->least;
        if (rate->told)
            apply(rate, &c->fitted.rates);
    }
}

static enum wt_code calibrate(struct wt_calibration *c, const char *const *paths, size_t count, const char *base,
                              struct wt_error *err)
{
    WT_TRY(wt_evidence_read(paths, count, &c->evidence, err));
    WT_TRY(name_base(c, base, err));
    WT_TRY(wt_gpu_load(c->base, &c->base_gpu, err));
    c->arrangement = wt_arrange(&c->evidence);
    WT_TRY(load_arranged(c, err));
    wt_evidence_prepare(&c->evidence, c->gpu);
    fit_rates(c);
    return WT_OK;
}

enum wt_code wt_calibrate(const char *const *paths, size_t count, const char *base, struct wt_calibration **out,
                          struct wt_error *err)
{
    struct wt_calibration *c = wt_alloc(1, sizeof *c);
    enum wt_code code = calibrate(c, paths, count, base, err);
    *out = c;
    if (code != WT_OK) {
        wt_calibration_free(c);
        *out = NULL;
    }
    return code;
}

void wt_calibration_free(struct wt_calibration *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->rate_count; i++) {
        struct wt_estimate *estimate = &c->rates[i].estimate;
        free(estimate->per_tpc.values);
        free(estimate->used);
        free(estimate->spread);
        free(estimate->error);
        free(estimate->unclear);
    }
    free(c->rates);
    wt_gpu_free(c->gpu);
    wt_gpu_free(c->base_gpu);
    wt_arrangement_free(&c->arrangement);
    wt_evidence_free(&c->evidence);
    free(c->base);
    free(c);
}
