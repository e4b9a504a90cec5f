#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "observe/why.h"
#include "observe/words.h"
#include "occupancy.h"

enum { WIDTH = 100 };

static const char *const labels[WT_RES_COUNT] = {"block slots", "warps", "registers", "shared memory",
                                                 "barriers"};

/* --- why real and idealised differ --- */

static char *registers_reason(const struct occ_question *q)
{
    const struct wt_limits *l = &q->limits;
    int per_warp = wt_launch_register_units(l, &q->needs) * l->register_unit;
    return wt_format(
        "a warp's registers are rounded up to a multiple of %d (%d per thread become %d), and each of the "
        "%d sub-cores holds whole warps only",
        l->register_unit, q->needs.registers_per_thread, per_warp / WT_WARP_SIZE, l->subcores);
}

static char *shared_reason(const struct occ_question *q)
{
    const struct wt_limits *l = &q->limits;
    char reserve[80] = "";
    if (l->shared_reserved_bytes)
        snprintf(reserve, sizeof reserve, "the system takes %d bytes of shared memory for each block, and ",
                 l->shared_reserved_bytes);
    return wt_format("%sa block's share is rounded up to a multiple of %d bytes", reserve,
                     l->shared_unit_bytes);
}

/* The sentence, or NULL when both agree. Owned by the caller. */
static char *difference(const struct occ_question *q, const struct occ_answer *a)
{
    if (a->real.blocks_per_sm == a->idealised.blocks_per_sm)
        return NULL;
    bool registers = a->real.limits[WT_RES_REGISTERS] < a->idealised.blocks_per_sm;
    bool shared = a->real.limits[WT_RES_SHARED_MEMORY] < a->idealised.blocks_per_sm;
    char *first = registers ? registers_reason(q) : NULL, *second = shared ? shared_reason(q) : NULL;
    char *text = wt_format("Idealised, %d blocks would fit: %s%s%s.", a->idealised.blocks_per_sm,
                           first ? first : "", first && second ? "; " : "", second ? second : "");
    free(first);
    free(second);
    return text;
}

/* --- warnings --- */

struct warnings {
    char *texts[6]; /* owned */
    int count;
};

static void warn(struct warnings *warnings, char *text)
{
    warnings->texts[warnings->count++] = text;
}

static struct warnings warnings_of(const struct occ_question *q, const struct occ_answer *a)
{
    struct warnings w = {0};
    const struct wt_limits *l = &q->limits;
    int sms = q->gpu->topology.sm_count,
        idle_lanes = wt_warps_of(q->needs.threads) * WT_WARP_SIZE - q->needs.threads;
    long shared = (long)q->needs.static_shared_bytes + q->needs.dynamic_shared_bytes;
    if (q->grid && q->grid < (uint64_t)sms)
        warn(&w, wt_format("grid smaller than the GPU: %llu blocks leave %llu of %d SMs idle",
                           (unsigned long long)q->grid, (unsigned long long)((uint64_t)sms - q->grid), sms));
    if (idle_lanes > 0)
        warn(&w, wt_format("%d of the block's last warp's 32 lanes are idle: %d threads take %d warps",
                           idle_lanes, q->needs.threads, wt_warps_of(q->needs.threads)));
    if (!q->registers_given)
        warn(&w, wt_strdup("registers per thread are not given (--regs), so they do not limit here"));
    if (q->needs.static_shared_bytes > 49152)
        warn(&w,
             wt_strdup("more than 49152 bytes of static shared memory cannot be compiled; make it dynamic"));
    else if (shared > l->shared_bytes_per_block && a->real.blocks_per_sm > 0)
        warn(&w, wt_format("more than %d bytes need cudaFuncAttributeMaxDynamicSharedMemorySize",
                           l->shared_bytes_per_block));
    if (q->cluster > 8)
        warn(&w, wt_strdup("clusters of more than 8 blocks need "
                           "cudaFuncAttributeNonPortableClusterSizeAllowed"));
    return w;
}

/* --- text --- */

static void limit_text(char *text, size_t size, int limit)
{
    if (limit == WT_UNLIMITED)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%d", limit);
}

static void print_limits(const struct occ_answer *a)
{
    puts("blocks per SM by     real   idealised");
    for (int r = 0; r < WT_RES_COUNT; r++) {
        char real[16], idealised[16];
        limit_text(real, sizeof real, a->real.limits[r]);
        limit_text(idealised, sizeof idealised, a->idealised.limits[r]);
        printf("  %-14s %8s %11s%s\n", labels[r], real, idealised, a->real.limiter[r] ? "  <- limits" : "");
    }
}

static void print_limiters(const struct wt_occupancy *o)
{
    const char *separator = "";
    for (int r = 0; r < WT_RES_COUNT; r++)
        if (o->limiter[r]) {
            printf("%s%s", separator, labels[r]);
            separator = ", ";
        }
}

static void print_result(const struct occ_question *q, const struct occ_answer *a)
{
    const struct wt_occupancy *o = &a->real;
    printf("\n%d block%s per SM, limited by ", o->blocks_per_sm, o->blocks_per_sm == 1 ? "" : "s");
    print_limiters(o);
    printf(": %d of %d warps, occupancy %.1f %%", o->warps_per_sm, wt_warps_per_sm(&q->limits),
           100 * o->occupancy);
    if (a->idealised.blocks_per_sm != o->blocks_per_sm)
        printf(" (idealised %d, %.1f %%)", a->idealised.blocks_per_sm, 100 * a->idealised.occupancy);
    putchar('\n');
    char *why = difference(q, a);
    if (why)
        wt_print_wrapped(stdout, 0, WIDTH, why);
    free(why);
}

static void print_allocation(const struct occ_question *q)
{
    const struct wt_limits *l = &q->limits;
    char a[WT_WORDS], b[WT_WORDS];
    int warps = wt_warps_of(q->needs.threads),
        per_warp = wt_launch_register_units(l, &q->needs) * l->register_unit;
    int asked = q->needs.static_shared_bytes + q->needs.dynamic_shared_bytes;
    printf("\nA block takes %d warp%s", warps, warps == 1 ? "" : "s");
    if (q->registers_given)
        printf(", %s registers (%d per thread%s)", wt_words_count(a, (uint64_t)per_warp * (uint64_t)warps),
               per_warp / WT_WARP_SIZE,
               per_warp / WT_WARP_SIZE == q->needs.registers_per_thread ? "" : " after rounding");
    printf(" and %s bytes of shared memory",
           wt_words_count(a, (uint64_t)wt_launch_shared_bytes(l, &q->needs)));
    if (wt_launch_shared_bytes(l, &q->needs) != asked)
        printf(" (asked: %s)", wt_words_count(b, (uint64_t)asked));
    puts(".");
    if (l->carveout_count)
        printf("%s shared-memory configuration: %d KB.\n",
               q->needs.carveout_kb == WT_CARVEOUT_DEFAULT ? "The driver's likely" : "The preferred",
               wt_launch_configuration_kb(l, &q->needs));
}

static void print_grid(const struct occ_question *q, const struct occ_answer *a)
{
    if (!q->grid)
        return;
    int sms = q->gpu->topology.sm_count;
    uint64_t wave = (uint64_t)sms * (uint64_t)a->real.blocks_per_sm, last = (q->grid - 1) % wave + 1;
    char grid[WT_WORDS], size[WT_WORDS], rest[WT_WORDS];
    printf("\nGrid of %s blocks: %.4g waves of %s on %d SMs", wt_words_count(grid, q->grid),
           wt_waves(q->grid, sms, a->real.blocks_per_sm), wt_words_count(size, wave), sms);
    if (q->grid > wave && last < wave)
        printf("; the last has %s blocks (%.0f %% of one)", wt_words_count(rest, last),
               100.0 * (double)last / (double)wave);
    puts(".");
}

static void print_clusters(const struct occ_question *q, const struct occ_answer *a)
{
    if (q->cluster == 1)
        return;
    const struct wt_topology *t = &q->gpu->topology;
    int usable, clusters = wt_active_clusters(t, q->cluster, a->real.blocks_per_sm, &usable);
    char *text = wt_format(
        "Clusters of %d: at most %d active at once (%d blocks), on %d of %d SMs: summed over the groups "
        "of at least %d SMs, blocks per SM (at most 8, as measured on the H200) x SMs / %d, rounded "
        "down%s.",
        q->cluster, clusters, clusters * q->cluster, usable, t->sm_count, q->cluster, q->cluster,
        t->group_count > 1 ? ""
                           : "; this GPU's groups are not known, so all SMs count "
                             "as one and the true number may be lower");
    putchar('\n');
    wt_print_wrapped(stdout, 0, WIDTH, text);
    free(text);
}

/* What an SM full of such blocks lacks for another: of a total that would do, a sub-core's part may not. */
static void print_refusal(const struct occ_question *q)
{
    struct wt_shape shape;
    struct wt_error err = {0};
    struct wt_refusal refusal;
    char text[200];
    if (wt_shape_make(&q->gpu->limits, &q->needs, &shape, &err) != WT_OK)
        return;
    struct wt_sm *sm = wt_sm_new(&q->gpu->limits);
    while (wt_sm_admit(sm, &shape) >= 0)
        continue;
    if (wt_sm_refusal(sm, &shape, &refusal)) {
        wt_why_describe(&refusal, text, sizeof text);
        printf("One block more: %s.\n", text);
    }
    wt_sm_free(sm);
}

static void print_heading(const struct occ_question *q)
{
    char shared[WT_WORDS];
    bool bare = !strncmp(q->gpu->key, "cc", 2); /* the name says the capability */
    char *capability =
        bare ? wt_strdup("") : wt_format(" (compute capability %d.%d)", q->gpu->cc_major, q->gpu->cc_minor);
    printf("%s%s%s: %d threads", q->gpu->name, capability, q->overridden ? " with other limits" : "",
           q->needs.threads);
    free(capability);
    if (q->registers_given)
        printf(", %d registers", q->needs.registers_per_thread);
    printf(", %s bytes of shared memory\n\n",
           wt_words_count(shared,
                          (uint64_t)q->needs.static_shared_bytes + (uint64_t)q->needs.dynamic_shared_bytes));
}

void occ_print(const struct occ_question *q, const struct occ_answer *a)
{
    print_heading(q);
    print_limits(a);
    if (a->real.blocks_per_sm > 0) {
        print_result(q, a);
        print_allocation(q);
        print_refusal(q);
        print_grid(q, a);
        print_clusters(q, a);
    }
    struct warnings w = warnings_of(q, a);
    for (int i = 0; i < w.count; i++) {
        printf("%sNote: %s.\n", i == 0 ? "\n" : "", w.texts[i]);
        free(w.texts[i]);
    }
}

/* --- JSON --- */

static void json_limit(struct wt_json *json, const char *key, int limit)
{
    if (limit == WT_UNLIMITED)
        wt_json_number(json, key, NAN, 1);
    else
        wt_json_int(json, key, limit);
}

static void json_answer(const struct occ_question *q, const struct wt_occupancy *o,
                        const struct wt_error *error, struct wt_json *json)
{
    wt_json_int(json, "blocks_per_sm", o->blocks_per_sm);
    if (error->code != WT_OK)
        wt_json_string(json, "error", error->text);
    wt_json_object(json, "limits");
    for (int r = 0; r < WT_RES_COUNT; r++)
        json_limit(json, wt_resource_name(r), o->limits[r]);
    wt_json_close(json);
    wt_json_array(json, "limiters");
    for (int r = 0; r < WT_RES_COUNT; r++)
        if (o->limiter[r])
            wt_json_string(json, NULL, wt_resource_name(r));
    wt_json_close(json);
    wt_json_int(json, "warps_per_sm", o->blocks_per_sm ? o->warps_per_sm : 0);
    wt_json_number(json, "occupancy", o->blocks_per_sm ? o->occupancy : 0, 12);
    bool waves = q->grid && o->blocks_per_sm;
    wt_json_number(json, "waves",
                   waves ? wt_waves(q->grid, q->gpu->topology.sm_count, o->blocks_per_sm) : NAN, 12);
}

static void json_allocation(const struct occ_question *q, struct wt_json *json)
{
    const struct wt_limits *l = &q->limits;
    int warps = wt_warps_of(q->needs.threads),
        per_warp = wt_launch_register_units(l, &q->needs) * l->register_unit;
    wt_json_object(json, "allocation");
    wt_json_int(json, "warps_per_block", warps);
    wt_json_int(json, "idle_lanes", warps * WT_WARP_SIZE - q->needs.threads);
    wt_json_number(json, "registers_per_thread", (double)per_warp / WT_WARP_SIZE, 12);
    wt_json_int(json, "registers_per_block", (int64_t)per_warp * warps);
    wt_json_int(json, "shared_bytes_per_block", wt_launch_shared_bytes(l, &q->needs));
    wt_json_int(json, "configuration_kb", wt_launch_configuration_kb(l, &q->needs));
    wt_json_close(json);
}

static void json_clusters(const struct occ_question *q, const struct occ_answer *a, struct wt_json *json)
{
    if (q->cluster == 1 || a->real.blocks_per_sm == 0)
        return;
    const struct wt_topology *t = &q->gpu->topology;
    int usable, clusters = wt_active_clusters(t, q->cluster, a->real.blocks_per_sm, &usable);
    wt_json_object(json, "clusters");
    wt_json_int(json, "size", q->cluster);
    wt_json_int(json, "max_active", clusters);
    wt_json_int(json, "usable_sms", usable);
    wt_json_bool(json, "groups_known", t->group_count > 1);
    wt_json_close(json);
}

void occ_json(const struct occ_question *q, const struct occ_answer *a, struct wt_json *json)
{
    wt_json_string(json, "gpu", q->gpu->key);
    wt_json_int(json, "threads_per_block", q->needs.threads);
    json_answer(q, &a->real, &a->real_error, json);
    if (a->real.blocks_per_sm > 0)
        json_allocation(q, json);
    json_clusters(q, a, json);
    wt_json_object(json, "idealised");
    json_answer(q, &a->idealised, &a->idealised_error, json);
    wt_json_close(json);
    char *why = a->real.blocks_per_sm ? difference(q, a) : NULL;
    wt_json_string(json, "difference", why);
    free(why);
    struct warnings w = warnings_of(q, a);
    wt_json_array(json, "warnings");
    for (int i = 0; i < w.count; i++) {
        wt_json_string(json, NULL, w.texts[i]);
        free(w.texts[i]);
    }
    wt_json_close(json);
}
