/* Whatever the bytes, the trace reader returns a trace or a message; and a trace it accepts can be aligned,
 * looked at and made a timeline. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "observe/measured.h"
#include "trace/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct wt_trace *trace)
{
    struct wt_clocks *clocks;
    struct wt_timeline *timeline;
    struct wt_error err = {0};
    wt_trace_kinds(trace);
    if (wt_clocks_fit(trace, &clocks, &err) != WT_OK)
        return;
    for (size_t i = 0; i < trace->row_count; i++)
        if (!(wt_clocks_end(clocks, &trace->rows[i]) >= wt_clocks_start(clocks, &trace->rows[i])))
            abort();
    struct wt_discovery found = wt_discover_topology(trace, clocks);
    wt_discovery_free(&found);
    if (wt_timeline_from_trace(trace, clocks, &timeline, &err) == WT_OK)
        wt_timeline_free(timeline);
    wt_clocks_free(clocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_trace *trace;
    struct wt_error err = {0};
    enum wt_code code = wt_trace_read_memory("fuzz", data, size, &trace, &err);
    if ((code == WT_OK) != (trace != NULL) || (code == WT_OK) != (err.text[0] == '\0'))
        abort();
    if (trace)
        use(trace);
    wt_trace_free(trace);
    return 0;
}
