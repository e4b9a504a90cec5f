#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "occupancy.h"

static const struct {
    const char *name, *label;
} axes[OCC_AXES] = {
    [OCC_BLOCK] = {"block", "threads per block"},
    [OCC_REGISTERS] = {"regs", "registers per thread"},
    [OCC_SHARED] = {"smem", "bytes of shared memory per block"},
};

enum occ_axis occ_axis_of(const char *name)
{
    enum occ_axis axis = 0;
    while (axis < OCC_AXES && strcmp(name, axes[axis].name))
        axis++;
    return axis;
}

const char *occ_axis_name(enum occ_axis axis)
{
    return axes[axis].name;
}

const char *occ_axis_label(enum occ_axis axis)
{
    return axes[axis].label;
}

/* Values up to `last`; nothing changes between multiples of `step`. */
struct range {
    int first, last, step;
};

static struct range range_of(const struct occ_question *q, enum occ_axis axis)
{
    switch (axis) {
    case OCC_BLOCK:
        return (struct range){1, q->limits.threads_per_block, WT_WARP_SIZE};
    case OCC_REGISTERS:
        return (struct range){1, q->limits.registers_per_thread, 1};
    default:
        return (struct range){0, q->limits.shared_bytes_per_block_opt_in, q->limits.shared_unit_bytes};
    }
}

static int current_of(const struct occ_question *q, enum occ_axis axis)
{
    switch (axis) {
    case OCC_BLOCK:
        return q->needs.threads;
    case OCC_REGISTERS:
        return q->needs.registers_per_thread;
    default:
        return q->needs.static_shared_bytes + q->needs.dynamic_shared_bytes;
    }
}

static struct occ_point point_at(const struct occ_question *q, enum occ_axis axis, int x)
{
    struct wt_launch_needs needs = q->needs;
    switch (axis) {
    case OCC_BLOCK:
        needs.threads = x;
        break;
    case OCC_REGISTERS:
        needs.registers_per_thread = x;
        break;
    default:
        needs.static_shared_bytes = 0;
        needs.dynamic_shared_bytes = x;
    }
    struct occ_point point = {.x = x};
    struct wt_occupancy idealised;
    wt_occupancy(&q->limits, &needs, &point.real, NULL);
    wt_occupancy_idealised(&q->limits, &needs, &idealised, NULL);
    point.idealised = idealised.occupancy;
    return point;
}

struct occ_curve occ_curve_make(const struct occ_question *q, enum occ_axis axis)
{
    struct range range = range_of(q, axis);
    struct occ_curve curve = {.axis = axis, .first = range.first, .current = current_of(q, axis)};
    curve.points = wt_alloc((size_t)(range.last / range.step) + 2, sizeof *curve.points);
    int x = range.first ? range.step : 0;
    for (; x < range.last; x += range.step)
        curve.points[curve.count++] = point_at(q, axis, x);
    curve.points[curve.count++] = point_at(q, axis, range.last);
    return curve;
}

void occ_curve_free(struct occ_curve *curve)
{
    free(curve->points);
    *curve = (struct occ_curve){0};
}

static bool same(const struct wt_occupancy *a, const struct wt_occupancy *b)
{
    return a->blocks_per_sm == b->blocks_per_sm && a->warps_per_sm == b->warps_per_sm &&
           !memcmp(a->limiter, b->limiter, sizeof a->limiter);
}

static void print_range(int first, int last, const struct wt_occupancy *o, bool current)
{
    char range[32], bar[41] = "";
    snprintf(range, sizeof range, first == last ? "%d" : "%d-%d", first, last);
    int length = (int)(o->occupancy * 40 + 0.5);
    memset(bar, '#', (size_t)(o->blocks_per_sm ? length : 0));
    printf("%c %-15s %6d %7.1f %%  %-40s ", current ? '>' : ' ', range, o->blocks_per_sm, 100 * o->occupancy,
           bar);
    for (int r = 0; r < WT_RES_COUNT; r++)
        if (o->limiter[r])
            printf(" %s", wt_resource_name(r));
    putchar('\n');
}

void occ_curve_print(const struct occ_curve *curve)
{
    printf("\n  %s\n  %-15s %6s %9s\n", axes[curve->axis].label, "", "blocks", "occupancy");
    for (int i = 0, next; i < curve->count; i = next) {
        for (next = i + 1; next < curve->count && same(&curve->points[i].real, &curve->points[next].real);
             next++)
            ;
        int first = i ? curve->points[i - 1].x + 1 : curve->first, last = curve->points[next - 1].x;
        print_range(first, last, &curve->points[i].real, curve->current >= first && curve->current <= last);
    }
}

void occ_curve_json(const struct occ_curve *curve, struct wt_json *json)
{
    wt_json_object(json, NULL);
    wt_json_string(json, "vary", axes[curve->axis].name);
    wt_json_int(json, "current", curve->current);
    wt_json_array(json, "points");
    for (int i = 0; i < curve->count; i++) {
        const struct occ_point *point = &curve->points[i];
        wt_json_object(json, NULL);
        wt_json_int(json, axes[curve->axis].name, point->x);
        wt_json_int(json, "blocks_per_sm", point->real.blocks_per_sm);
        wt_json_number(json, "occupancy", point->real.occupancy, 12);
        wt_json_number(json, "idealised_occupancy", point->idealised, 12);
        wt_json_array(json, "limiters");
        for (int r = 0; r < WT_RES_COUNT; r++)
            if (point->real.limiter[r])
                wt_json_string(json, NULL, wt_resource_name(r));
        wt_json_close(json);
        wt_json_close(json);
    }
    wt_json_close(json);
    wt_json_close(json);
}
