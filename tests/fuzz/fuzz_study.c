/* Whatever the text, the reader of studies returns a study or a message; of one that it accepts, each point has a key, and a
 * workload or a message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "study/sweep_state.h"
#include "study/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void agree(enum wt_code code, const void *result, const struct wt_error *err)
{
    if ((code == WT_OK) != (result != NULL) || (code == WT_OK) != (err->text[0] == '\0'))
        abort();
}

static void look_at(const struct wt_sweep *sweep, size_t point)
{
    struct wt_config *tree;
    struct wt_workload *workload;
    struct wt_error err = {0};
    if (wt_sweep_key(sweep, point) != wt_sweep_key(sweep, point))
        abort();
    agree(wt_sweep_tree(sweep, point, &tree, &err), tree, &err);
    if (tree)
        agree(wt_workload_from(tree, &workload, &err), workload, &err);
    if (tree)
        wt_workload_free(workload);
    wt_config_free(tree);
}

/* First, last and middle: none of a large study's points is read before it is simulated. */
static void check(const struct wt_sweep *sweep)
{
    size_t count = wt_sweep_count(sweep);
    char *header = wt_sweep_header(sweep);
    if (count < 1 || count > WT_SWEEP_POINTS || strchr(header, '\n') || !wt_sweep_title(sweep))
        abort();
    free(header);
    look_at(sweep, 0);
    look_at(sweep, count / 2);
    look_at(sweep, count - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_sweep *sweep;
    struct wt_sweep_setup setup = {.seed = 1};
    struct wt_error err = {0};
    if (memmem(data, size, "@include", 8))
        return 0;
    agree(wt_sweep_parse((const char *)data, size, "fuzz.cfg", &setup, &sweep, &err), sweep, &err);
    if (sweep)
        check(sweep);
    wt_sweep_free(sweep);
    return 0;
}
