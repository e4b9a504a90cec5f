/* wavetail import ptxas: what nvcc -Xptxas -v or cuobjdump -res-usage says, as a workload's kernels. */
#include "import.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/outfile.h"
#include "warp/resources.h"

/* How long a block lasts is not in these files. */
static const double placeholder_cycles = 10000;

/* ---- Choosing ---- */

static bool is_wanted(const struct import_options *o, const struct wt_kernel_resources *kernel)
{
    return (!o->architecture || kernel->architecture == o->architecture) &&
           (!o->sass.kernel || strstr(kernel->name, o->sass.kernel));
}

static char *architectures_of(const struct wt_resources *all)
{
    char *list = wt_strdup("");
    for (size_t i = 0; i < all->count; i++) {
        bool listed = false;
        for (size_t j = 0; j < i && !listed; j++)
            listed = all->kernels[j].architecture == all->kernels[i].architecture;
        if (listed)
            continue;
        char *longer = wt_format("%s%ssm_%d", list, list[0] ? ", " : "", all->kernels[i].architecture);
        free(list);
        list = longer;
    }
    return list;
}

/* Kernels of one architecture alone: *wanted is how many. */
static enum wt_code choose(const struct import_options *o, const struct wt_resources *all, size_t *wanted, struct wt_error *err)
{
    int architecture = -1;
    bool several = false;
    *wanted = 0;
    for (size_t i = 0; i < all->count; i++)
        if (is_wanted(o, &all->kernels[i])) {
            several |= architecture >= 0 && all->kernels[i].architecture != architecture;
            architecture = all->kernels[i].architecture;
            ++*wanted;
        }
    if (*wanted > 0 && !several)
        return WT_OK;
    char *list = architectures_of(all);
    enum wt_code code = several ? wt_fail_at(err, o->file, 0, "holds several architectures; choose one with --arch: %s", list)
                                : wt_fail_at(err, o->file, 0, "has no such kernel; it holds %s", list);
    free(list);
    return code;
}

/* ---- Writing ---- */

static char *comment_on(const struct wt_kernel_resources *k)
{
    if (k->spill_store_bytes < 0)
        return wt_format("%d bytes of stack", k->stack_bytes);
    return wt_format("%d bytes of stack, spills %d bytes out, %d bytes in", k->stack_bytes, k->spill_store_bytes,
                     k->spill_load_bytes);
}

static void print_json(const struct import_options *o, const struct wt_resources *all)
{
    struct wt_json json = wt_json_begin(stdout, false);
    wt_json_object(&json, NULL);
    wt_json_array(&json, "kernels");
    for (size_t i = 0; i < all->count; i++) {
        const struct wt_kernel_resources *k = &all->kernels[i];
        if (!is_wanted(o, k))
            continue;
        wt_json_object(&json, NULL);
        wt_json_string(&json, "name", k->name);
        wt_json_int(&json, "architecture", k->architecture);
        wt_json_int(&json, "registers", k->registers);
        wt_json_int(&json, "static_shared", k->static_shared_bytes);
        wt_json_int(&json, "stack", k->stack_bytes);
        if (k->spill_store_bytes >= 0) {
            wt_json_int(&json, "spill_stores", k->spill_store_bytes);
            wt_json_int(&json, "spill_loads", k->spill_load_bytes);
        }
        if (k->barriers >= 0)
            wt_json_int(&json, "barriers", k->barriers);
        wt_json_close(&json);
    }
    wt_json_close(&json);
    wt_json_close(&json);
    wt_json_end(&json);
}

static enum wt_code write_workload(const struct import_options *o, const struct wt_resources *all, size_t wanted,
                                   struct wt_error *err)
{
    struct wt_outfile out;
    WT_TRY(wt_outfile_open(&out, o->out, err));
    struct import_kernel *kernels = wt_alloc(wanted, sizeof *kernels);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct wt_kernel_resources *k = &all->kernels[i];
        if (is_wanted(o, k))
            kernels[count++] = (struct import_kernel){.name = k->name, .grid = o->grid, .block = o->block,
                                                      .registers = k->registers, .static_shared = k->static_shared_bytes,
                                                      .barriers = k->barriers, .cycles = placeholder_cycles,
                                                      .comment = comment_on(k)};
    }
    char *head = wt_format("Resources from %s.%s\nGrid, block and duration are not in that file: put yours here.", o->file,
                           all->reserved_taken_off ? " Shared memory is less the 1024 bytes that the driver reserves." : "");
    import_write_workload(out.stream, head, o->common.gpu, kernels, count);
    for (size_t i = 0; i < count; i++)
        free((char *)kernels[i].comment);
    free(kernels);
    free(head);
    return wt_outfile_commit(&out, err);
}

static enum wt_code convert(const struct import_options *o, const struct wt_resources *all, struct wt_error *err)
{
    size_t wanted;
    WT_TRY(choose(o, all, &wanted, err));
    if (!o->common.json || strcmp(o->out, "-"))
        WT_TRY(write_workload(o, all, wanted, err));
    if (o->common.json)
        print_json(o, all);
    return WT_OK;
}

static enum wt_code run(const struct import_options *o, struct wt_error *err)
{
    struct wt_resources *all;
    WT_TRY(wt_resources_read(o->file, &all, err));
    enum wt_code code = convert(o, all, err);
    wt_resources_free(all);
    return code;
}

const struct import_kind import_ptxas = {.name = "ptxas", .summary = "-Xptxas -v, -res-usage", .import = run};
