#include "sm/sm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "sm/occupancy.h"

/* Live shared-memory ranges, by start address; only the last may wrap around the end. Units of
 * limits.shared_unit_bytes. A range's `start` is below `total`; its `end` may exceed it. */
struct space {
    uint32_t total;
    uint32_t used;
    uint32_t count;
    uint32_t packed; /* no hole before any of the first `packed` ranges: first fit need not look there */
    uint32_t start[WT_MAX_SLOTS];
    uint32_t end[WT_MAX_SLOTS];
};

struct wt_sm {
    const struct wt_limits *limits;
    uint64_t free_slots; /* bit i: slot i can take a block */
    int32_t free_warps[WT_MAX_SUBCORES];
    int32_t free_units[WT_MAX_SUBCORES]; /* registers, in limits.register_unit */
    int32_t free_barriers;
    int32_t carveout_kb;
    int32_t pointer; /* sub-core of the next block's first warp */
    int32_t blocks;
    int32_t warps;
    uint32_t shared_unit;
    struct space space;
    const struct wt_shape *shape[WT_MAX_SLOTS];
    uint32_t offset[WT_MAX_SLOTS]; /* shared-memory start, units */
    uint8_t first_subcore[WT_MAX_SLOTS];
};

const char *wt_resource_name(enum wt_resource resource)
{
    static const char *const names[] = {"blocks", "warps", "registers", "shared_memory", "barriers"};
    return resource < WT_RES_COUNT ? names[resource] : "?";
}

const char *wt_shortage_name(enum wt_shortage shortage)
{
    static const char *const names[] = {"total", "fragmented", "subcore", "carveout"};
    return shortage <= WT_SHORT_CARVEOUT ? names[shortage] : "?";
}

static void space_reset(struct space *space, uint32_t total)
{
    space->total = total;
    space->used = 0;
    space->count = 0;
    space->packed = 0;
}

/* Where the last range, wrapping, ends: the first address of the hole before range 0. */
static inline uint32_t space_head(const struct space *space)
{
    uint32_t last = space->count ? space->end[space->count - 1] : 0;
    return last > space->total ? last - space->total : 0;
}

/* First fit. Returns the index at which the new range goes, with its start in *start, or -1. */
static inline int space_find(const struct space *space, uint32_t units, uint32_t *start)
{
    uint32_t i = space->packed;
    uint32_t from = i ? space->end[i - 1] : space_head(space);
    for (; i < space->count; i++) {
        if (space->start[i] - from >= units) {
            *start = from;
            return (int)i;
        }
        from = space->end[i];
    }
    uint32_t limit = space->count ? space->total + space->start[0] : space->total;
    if (from >= space->total || limit < from + units)
        return -1;
    *start = from;
    return (int)i;
}

static inline void space_insert(struct space *space, uint32_t index, uint32_t start, uint32_t units)
{
    uint32_t behind = space->count - index;
    memmove(&space->start[index + 1], &space->start[index], behind * sizeof *space->start);
    memmove(&space->end[index + 1], &space->end[index], behind * sizeof *space->end);
    space->start[index] = start;
    space->end[index] = start + units;
    space->count++;
    space->used += units;
    if (index == space->packed)
        space->packed++;
}

static inline void space_remove(struct space *space, uint32_t start)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < space->count; i++)
        index += space->start[i] < start;
    assert(index < space->count && space->start[index] == start);
    bool wraps = space->end[index] > space->total;
    space->used -= space->end[index] - start;
    space->count--;
    uint32_t behind = space->count - index;
    memmove(&space->start[index], &space->start[index + 1], behind * sizeof *space->start);
    memmove(&space->end[index], &space->end[index + 1], behind * sizeof *space->end);
    if (space->packed > index || wraps)
        space->packed = wraps ? 0 : index;
}

/* Over the wrap-around: the hole behind the last range continues at address 0. */
static uint32_t space_largest_hole(const struct space *space)
{
    if (space->count == 0)
        return space->total;
    uint32_t largest = space->total + space->start[0] - space->end[space->count - 1];
    for (uint32_t i = 1; i < space->count; i++) {
        uint32_t hole = space->start[i] - space->end[i - 1];
        if (hole > largest)
            largest = hole;
    }
    return largest;
}

static inline uint32_t shared_units(const struct wt_sm *sm, const struct wt_shape *shape)
{
    return (uint32_t)shape->shared_bytes / sm->shared_unit;
}

static void configure(struct wt_sm *sm, int carveout_kb)
{
    sm->carveout_kb = carveout_kb;
    space_reset(&sm->space, (uint32_t)carveout_kb * 1024 / sm->shared_unit);
}

struct wt_sm *wt_sm_new(const struct wt_limits *limits)
{
    assert(limits->subcores == 1 || limits->subcores == 2 || limits->subcores == 4);
    assert(limits->blocks_per_sm >= 1 && limits->blocks_per_sm <= WT_MAX_SLOTS);
    struct wt_sm *sm = wt_alloc(1, sizeof *sm);
    sm->limits = limits;
    sm->free_slots = ~UINT64_C(0) >> (WT_MAX_SLOTS - limits->blocks_per_sm);
    int warps = wt_warps_per_sm(limits);
    for (int s = 0; s < limits->subcores; s++) {
        sm->free_warps[s] = warps / limits->subcores + (s < warps % limits->subcores);
        sm->free_units[s] = limits->registers_per_sm / limits->subcores / limits->register_unit;
    }
    sm->free_barriers = limits->barriers_per_sm;
    sm->shared_unit = (uint32_t)limits->shared_unit_bytes;
    configure(sm, limits->shared_bytes_per_sm / 1024);
    return sm;
}

void wt_sm_free(struct wt_sm *sm)
{
    free(sm);
}

static inline bool subcores_have(const struct wt_sm *sm, const struct wt_shape *shape)
{
    const uint8_t *warps = shape->subcore_warps[sm->pointer];
    int32_t lacking = 0;
    for (int s = 0; s < WT_MAX_SUBCORES; s++) {
        lacking |= sm->free_warps[s] - warps[s];
        lacking |= sm->free_units[s] - warps[s] * shape->register_units_per_warp;
    }
    return lacking >= 0;
}

/* sign +1 gives to the sub-cores, -1 takes from them. */
static inline void subcores_change(struct wt_sm *sm, const struct wt_shape *shape, int pointer, int sign)
{
    const uint8_t *warps = shape->subcore_warps[pointer];
    for (int s = 0; s < WT_MAX_SUBCORES; s++) {
        sm->free_warps[s] += sign * warps[s];
        sm->free_units[s] += sign * warps[s] * shape->register_units_per_warp;
    }
}

static inline int advance(int pointer, int warps, int subcores)
{
    int step = warps & (subcores - 1);
    return (pointer + (step ? step : 1)) & (subcores - 1);
}

int wt_sm_admit(struct wt_sm *sm, const struct wt_shape *shape)
{
    if (!sm->free_slots || sm->free_barriers < shape->barriers || !subcores_have(sm, shape))
        return -1;
    if (sm->carveout_kb != shape->carveout_kb) {
        if (sm->blocks == 0)
            configure(sm, shape->carveout_kb);
        else if (sm->carveout_kb < shape->carveout_kb)
            return -1;
    }
    uint32_t units = shared_units(sm, shape), start = 0;
    if (units) {
        int index = space_find(&sm->space, units, &start);
        if (index < 0)
            return -1;
        space_insert(&sm->space, (uint32_t)index, start, units);
    }
    int slot = __builtin_ctzll(sm->free_slots);
    sm->free_slots &= sm->free_slots - 1;
    sm->free_barriers -= shape->barriers;
    subcores_change(sm, shape, sm->pointer, -1);
    sm->shape[slot] = shape;
    sm->offset[slot] = start;
    sm->first_subcore[slot] = (uint8_t)sm->pointer;
    sm->pointer = advance(sm->pointer, shape->warps, sm->limits->subcores);
    sm->blocks++;
    sm->warps += shape->warps;
    return slot;
}

void wt_sm_release(struct wt_sm *sm, int slot)
{
    const struct wt_shape *shape = sm->shape[slot];
    assert(shape);
    if (shape->shared_bytes)
        space_remove(&sm->space, sm->offset[slot]);
    subcores_change(sm, shape, sm->first_subcore[slot], 1);
    sm->free_barriers += shape->barriers;
    sm->free_slots |= UINT64_C(1) << slot;
    sm->shape[slot] = NULL;
    sm->blocks--;
    sm->warps -= shape->warps;
}

static bool refuse(struct wt_refusal *out, enum wt_resource resource, enum wt_shortage shortage, int wanted,
                   int available)
{
    if (wanted <= available)
        return false;
    *out = (struct wt_refusal){resource, shortage, -1, wanted, available};
    return true;
}

static int sum(const int32_t *values)
{
    int total = 0;
    for (int s = 0; s < WT_MAX_SUBCORES; s++)
        total += values[s];
    return total;
}

static bool short_in_total(const struct wt_sm *sm, const struct wt_shape *shape, struct wt_refusal *out)
{
    int unit = sm->limits->register_unit;
    int registers = shape->register_units_per_warp * shape->warps * unit;
    int shared = sm->blocks ? wt_sm_shared_use(sm).free_bytes : shape->carveout_kb * 1024;
    return refuse(out, WT_RES_BLOCKS, WT_SHORT_TOTAL, 1, sm->free_slots ? 1 : 0) ||
           refuse(out, WT_RES_WARPS, WT_SHORT_TOTAL, shape->warps, sum(sm->free_warps)) ||
           refuse(out, WT_RES_REGISTERS, WT_SHORT_TOTAL, registers, sum(sm->free_units) * unit) ||
           refuse(out, WT_RES_SHARED_MEMORY, WT_SHORT_TOTAL, shape->shared_bytes, shared) ||
           refuse(out, WT_RES_BARRIERS, WT_SHORT_TOTAL, shape->barriers, sm->free_barriers);
}

static bool short_in_subcore(const struct wt_sm *sm, const struct wt_shape *shape, enum wt_resource resource,
                             const int32_t *available, int per_warp, int unit, struct wt_refusal *out)
{
    for (int s = 0; s < WT_MAX_SUBCORES; s++)
        if (refuse(out, resource, WT_SHORT_SUBCORE, shape->subcore_warps[sm->pointer][s] * per_warp * unit,
                   available[s] * unit)) {
            out->subcore = s;
            return true;
        }
    return false;
}

bool wt_sm_refusal(const struct wt_sm *sm, const struct wt_shape *shape, struct wt_refusal *out)
{
    if (sm->blocks && refuse(out, WT_RES_SHARED_MEMORY, WT_SHORT_CARVEOUT, shape->carveout_kb * 1024,
                             sm->carveout_kb * 1024))
        return true;
    if (short_in_total(sm, shape, out) ||
        short_in_subcore(sm, shape, WT_RES_WARPS, sm->free_warps, 1, 1, out) ||
        short_in_subcore(sm, shape, WT_RES_REGISTERS, sm->free_units, shape->register_units_per_warp,
                         sm->limits->register_unit, out))
        return true;
    uint32_t start;
    uint32_t units = shared_units(sm, shape);
    if (sm->blocks == 0 || units == 0 || space_find(&sm->space, units, &start) >= 0)
        return false;
    return refuse(out, WT_RES_SHARED_MEMORY, WT_SHORT_FRAGMENTED, shape->shared_bytes,
                  wt_sm_shared_use(sm).largest_hole_bytes);
}

int wt_sm_room(const struct wt_sm *sm, const struct wt_shape *shape)
{
    struct wt_sm trial = *sm;
    int room = 0;
    while (wt_sm_admit(&trial, shape) >= 0)
        room++;
    return room;
}

int wt_sm_resident_blocks(const struct wt_sm *sm)
{
    return sm->blocks;
}

int wt_sm_resident_warps(const struct wt_sm *sm)
{
    return sm->warps;
}

int wt_sm_free_registers(const struct wt_sm *sm, int subcore)
{
    return sm->free_units[subcore] * sm->limits->register_unit;
}

int wt_sm_free_warp_slots(const struct wt_sm *sm, int subcore)
{
    return sm->free_warps[subcore];
}

int wt_sm_subcore_pointer(const struct wt_sm *sm)
{
    return sm->pointer;
}

int wt_sm_carveout_kb(const struct wt_sm *sm)
{
    return sm->carveout_kb;
}

struct wt_shared_use wt_sm_shared_use(const struct wt_sm *sm)
{
    uint32_t available = sm->space.total - sm->space.used;
    uint32_t largest = space_largest_hole(&sm->space);
    return (struct wt_shared_use){
        .total_bytes = (int)(sm->space.total * sm->shared_unit),
        .free_bytes = (int)(available * sm->shared_unit),
        .largest_hole_bytes = (int)(largest * sm->shared_unit),
        .fragmentation = available ? 1.0 - (double)largest / available : 0.0,
    };
}

bool wt_sm_shared_range(const struct wt_sm *sm, int slot, int *offset, int *bytes)
{
    if (!sm->shape[slot])
        return false;
    *offset = (int)(sm->offset[slot] * sm->shared_unit);
    *bytes = sm->shape[slot]->shared_bytes;
    return true;
}

void wt_sm_set_subcore_pointer(struct wt_sm *sm, int pointer)
{
    assert(sm->blocks == 0 && pointer >= 0 && pointer < sm->limits->subcores);
    sm->pointer = pointer;
}

void wt_sm_set_carveout(struct wt_sm *sm, int carveout_kb)
{
    assert(sm->blocks == 0);
    configure(sm, carveout_kb);
}
