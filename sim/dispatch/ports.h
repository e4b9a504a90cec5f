/* The ports through which GPCs report ended blocks to the distributor: one report at a time, in the order in which
 * the blocks ended, one each `report_time`. */
#ifndef WT_DISPATCH_PORTS_H
#define WT_DISPATCH_PORTS_H

#include <assert.h>
#include <stdint.h>

#include "core/time.h"

struct wt_report {
    wt_time ready; /* would be at the distributor if the port let it through at once */
    uint32_t id;   /* of the block's place: SM * WT_MAX_SLOTS + slot */
};

/* A ring as large as the GPC's block slots. */
struct wt_port {
    struct wt_report *ring;
    uint32_t size, head, count;
    wt_time free_at;
    wt_time held_until;
};

struct wt_ports {
    int count;
    int soonest;         /* the GPC whose next report is the earliest */
    struct wt_port *ports;
    wt_time *next;       /* by GPC: arrival of the head report, WT_NEVER when none */
    wt_time report_time;
};

/* `sizes[g]`: how many reports of GPC g may be under way at once. */
void wt_ports_init(struct wt_ports *ports, int count, const uint32_t *sizes, wt_time report_time);
void wt_ports_free(struct wt_ports *ports);

/* When the head report reaches the distributor. */
static inline wt_time wt_port_arrival(const struct wt_port *port)
{
    if (port->count == 0)
        return WT_NEVER;
    wt_time free_at = port->free_at > port->held_until ? port->free_at : port->held_until;
    wt_time ready = port->ring[port->head].ready;
    return ready > free_at ? ready : free_at;
}

static inline void wt_ports_find_soonest(struct wt_ports *ports)
{
    int soonest = 0;
    for (int g = 1; g < ports->count; g++)
        soonest = ports->next[g] < ports->next[soonest] ? g : soonest;
    ports->soonest = soonest;
}

/* Arrival of the earliest report of all; WT_NEVER when none is under way. */
static inline wt_time wt_ports_next(const struct wt_ports *ports)
{
    return ports->next[ports->soonest];
}

/* The port must not be full. */
static inline void wt_ports_push(struct wt_ports *ports, int gpc, struct wt_report report)
{
    struct wt_port *port = &ports->ports[gpc];
    assert(port->count < port->size);
    uint32_t tail = port->head + port->count;
    port->ring[tail < port->size ? tail : tail - port->size] = report;
    if (port->count++ > 0)
        return;
    ports->next[gpc] = wt_port_arrival(port);
    if (ports->next[gpc] < wt_ports_next(ports))
        ports->soonest = gpc;
}

/* Lets no report of the GPC through before `until`. */
static inline void wt_ports_hold(struct wt_ports *ports, int gpc, wt_time until)
{
    struct wt_port *port = &ports->ports[gpc];
    port->held_until = until > port->held_until ? until : port->held_until;
    if (port->count == 0)
        return;
    ports->next[gpc] = wt_port_arrival(port);
    wt_ports_find_soonest(ports);
}

/* Takes the earliest report, of which there must be one. */
static inline struct wt_report wt_ports_take(struct wt_ports *ports)
{
    int gpc = ports->soonest;
    struct wt_port *port = &ports->ports[gpc];
    struct wt_report report = port->ring[port->head];
    if (++port->head == port->size)
        port->head = 0;
    port->count--;
    port->free_at = ports->next[gpc] + ports->report_time;
    ports->next[gpc] = wt_port_arrival(port);
    wt_ports_find_soonest(ports);
    return report;
}

#endif
