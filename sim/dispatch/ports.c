#include "dispatch/ports.h"

#include <stdlib.h>

#include "core/mem.h"

void wt_ports_init(struct wt_ports *ports, int count, const uint32_t *sizes, wt_time report_time)
{
    *ports = (struct wt_ports){.count = count, .report_time = report_time};
    ports->ports = wt_alloc((size_t)count, sizeof *ports->ports);
    ports->next = wt_alloc((size_t)count, sizeof *ports->next);
    for (int g = 0; g < count; g++) {
        ports->ports[g].size = sizes[g];
        ports->ports[g].ring = wt_alloc(sizes[g], sizeof *ports->ports[g].ring);
        ports->next[g] = WT_NEVER;
    }
}

void wt_ports_free(struct wt_ports *ports)
{
    for (int g = 0; g < ports->count; g++)
        free(ports->ports[g].ring);
    free(ports->ports);
    free(ports->next);
}
