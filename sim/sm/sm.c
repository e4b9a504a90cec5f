#include "sm/sm.h"

#include <assert.h>
#include <stdlib.h>

#include "core/mem.h"
#include "sm/occupancy.h"

enum { NONE = 0xff };

/* Set in every lane before a subtraction, it survives where nothing is borrowed: where there is enough. */
static const uint64_t lane_guard = UINT64_C(0x8000800080008000);

/* A resident block, and its shared-memory range in units: `start` is below the configuration's size, `end` of
 * the last range may exceed it (it wraps around). Blocks with shared memory are linked in the order of their
 * starts. */
struct resident {
    const struct wt_shape *shape; /* NULL: the slot is free */
    uint16_t start, end;
    uint8_t before, after; /* slots; NONE at the ends */
    uint8_t first_subcore;
};

struct wt_sm {
    _Alignas(WT_LINE_BYTES) const struct wt_limits *limits;
    uint64_t free_slots;     /* bit i: slot i can take a block */
    uint64_t all_slots;      /* what free_slots is when the SM is empty */
    uint64_t free_warps;     /* lanes as in wt_shape */
    uint64_t free_registers; /* lanes, in limits.register_unit */
    int32_t free_barriers;
    int16_t carveout_kb;
    uint16_t shared_total, shared_free; /* units */
    uint8_t pointer;                    /* sub-core of the next block's first warp */
    uint8_t subcore_mask;               /* sub-cores - 1 */
    uint8_t lowest, highest;            /* slots of the first and last range; NONE when there is none */
    uint64_t holes; /* bit i: between slot i's range and the next one is a hole */
    struct resident slot[WT_MAX_SLOTS];
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

static inline bool is_empty(const struct wt_sm *sm)
{
    return sm->free_slots == sm->all_slots;
}

/* The hole behind the last range, which may go on from address 0. */
static inline int last_hole(const struct wt_sm *sm)
{
    return sm->shared_total + sm->slot[sm->lowest].start - sm->slot[sm->highest].end;
}

/* The first hole between ranges with so many units, by the slot before it; NONE: there is none. Holes are compared without
 * branches, since nobody foresees which comes first. */
static inline int first_hole(const struct wt_sm *sm, int units)
{
    uint32_t first = UINT32_MAX; /* start of the hole, then slot; its last byte is NONE */
    for (uint64_t bits = sm->holes; bits; bits &= bits - 1) {
        uint32_t slot = (uint32_t)__builtin_ctzll(bits), start = sm->slot[slot].end;
        bool fits = sm->slot[sm->slot[slot].after].start - (int)start >= units;
        uint32_t key = fits ? start << 8 | slot : UINT32_MAX;
        first = key < first ? key : first;
    }
    return (int)(first & 0xff);
}

/* First fit: the hole around address 0 first, from its beginning near the end of the space, then by address.
 * Gives the slot whose range comes before (NONE: the new one is the lowest), and the start. */
static inline bool find_hole(const struct wt_sm *sm, int units, int *before, int *start)
{
    if (sm->shared_free < units)
        return false;
    *before = NONE;
    *start = 0;
    if (sm->lowest == NONE)
        return true;
    int end = sm->slot[sm->highest].end;
    bool last_fits = last_hole(sm) >= units;
    if (last_fits && sm->slot[sm->lowest].start > 0) {
        bool begins_at_end = end < sm->shared_total;
        *before = begins_at_end ? sm->highest : NONE;
        *start = begins_at_end ? end : end - sm->shared_total;
        return true;
    }
    int i = first_hole(sm, units);
    *before = i == NONE ? sm->highest : i;
    *start = sm->slot[*before].end;
    return i != NONE || last_fits;
}

static inline uint64_t bit_of(int slot)
{
    return UINT64_C(1) << slot;
}

/* The new range lies at the beginning of its hole. */
static inline void link_range(struct wt_sm *sm, int slot, int before, int start, int units)
{
    struct resident *block = &sm->slot[slot];
    int after = before == NONE ? sm->lowest : sm->slot[before].after, end = start + units;
    block->start = (uint16_t)start;
    block->end = (uint16_t)end;
    block->before = (uint8_t)before;
    block->after = (uint8_t)after;
    *(before == NONE ? &sm->lowest : &sm->slot[before].after) = (uint8_t)slot;
    *(after == NONE ? &sm->highest : &sm->slot[after].before) = (uint8_t)slot;
    if (before != NONE)
        sm->holes &= ~bit_of(before);
    if (after != NONE && sm->slot[after].start > end)
        sm->holes |= bit_of(slot);
    sm->shared_free = (uint16_t)(sm->shared_free - units);
}

static inline void unlink_range(struct wt_sm *sm, int slot)
{
    const struct resident *block = &sm->slot[slot];
    *(block->before == NONE ? &sm->lowest : &sm->slot[block->before].after) = block->after;
    *(block->after == NONE ? &sm->highest : &sm->slot[block->after].before) = block->before;
    sm->holes &= ~bit_of(slot);
    if (block->before != NONE)
        sm->holes = block->after == NONE ? sm->holes & ~bit_of(block->before) : sm->holes | bit_of(block->before);
    sm->shared_free = (uint16_t)(sm->shared_free + block->shape->shared_units);
}

static void configure(struct wt_sm *sm, int carveout_kb)
{
    sm->carveout_kb = (int16_t)carveout_kb;
    sm->shared_total = (uint16_t)(carveout_kb * 1024 / sm->limits->shared_unit_bytes);
    sm->shared_free = sm->shared_total;
    sm->lowest = sm->highest = NONE;
    sm->holes = 0;
}

struct wt_sm *wt_sm_new(const struct wt_limits *limits)
{
    int subcores = limits->subcores, warps = wt_warps_per_sm(limits);
    int file = limits->registers_per_sm / subcores / limits->register_unit;
    assert(subcores == 1 || subcores == 2 || subcores == 4);
    assert(limits->blocks_per_sm >= 1 && limits->blocks_per_sm <= WT_MAX_SLOTS);
    assert(file < 0x8000 && limits->shared_bytes_per_sm / limits->shared_unit_bytes < 0x8000);
    struct wt_sm *sm = wt_alloc_lines(1, sizeof *sm);
    sm->limits = limits;
    sm->all_slots = ~UINT64_C(0) >> (WT_MAX_SLOTS - limits->blocks_per_sm);
    sm->free_slots = sm->all_slots;
    for (int s = 0; s < subcores; s++) {
        sm->free_warps |= (uint64_t)(warps / subcores + (s < warps % subcores)) << 16 * s;
        sm->free_registers |= (uint64_t)file << 16 * s;
    }
    sm->free_barriers = limits->barriers_per_sm;
    sm->subcore_mask = (uint8_t)(subcores - 1);
    configure(sm, limits->shared_bytes_per_sm / 1024);
    return sm;
}

void wt_sm_free(struct wt_sm *sm)
{
    free(sm);
}

/* Slots, barriers, and what the sub-cores named by the pointer have. */
static inline bool has_all_but_shared(const struct wt_sm *sm, const struct wt_shape *shape)
{
    uint64_t warps = (sm->free_warps | lane_guard) - shape->warp_lanes[sm->pointer];
    uint64_t registers = (sm->free_registers | lane_guard) - shape->register_lanes[sm->pointer];
    return (warps & registers & lane_guard) == lane_guard && sm->free_slots &&
           sm->free_barriers >= shape->barriers;
}

/* An empty SM takes the kernel's configuration; an occupied one must have at least that. */
static inline bool has_configuration(struct wt_sm *sm, const struct wt_shape *shape)
{
    if (sm->carveout_kb == shape->carveout_kb)
        return true;
    if (is_empty(sm))
        configure(sm, shape->carveout_kb);
    return sm->carveout_kb >= shape->carveout_kb;
}

static inline int advance(const struct wt_sm *sm, int warps)
{
    int step = warps & sm->subcore_mask;
    return (sm->pointer + (step ? step : 1)) & sm->subcore_mask;
}

int wt_sm_admit(struct wt_sm *sm, const struct wt_shape *shape)
{
    int before = NONE, start = 0;
    if (!has_all_but_shared(sm, shape) || !has_configuration(sm, shape))
        return -1;
    if (shape->shared_units && !find_hole(sm, shape->shared_units, &before, &start))
        return -1;
    int slot = __builtin_ctzll(sm->free_slots);
    sm->slot[slot].shape = shape;
    sm->slot[slot].first_subcore = sm->pointer;
    if (shape->shared_units)
        link_range(sm, slot, before, start, shape->shared_units);
    sm->free_slots &= sm->free_slots - 1;
    sm->free_warps -= shape->warp_lanes[sm->pointer];
    sm->free_registers -= shape->register_lanes[sm->pointer];
    sm->free_barriers -= shape->barriers;
    sm->pointer = (uint8_t)advance(sm, shape->warps);
    return slot;
}

void wt_sm_release(struct wt_sm *sm, int slot)
{
    struct resident *block = &sm->slot[slot];
    const struct wt_shape *shape = block->shape;
    assert(shape);
    if (shape->shared_units)
        unlink_range(sm, slot);
    sm->free_slots |= UINT64_C(1) << slot;
    sm->free_warps += shape->warp_lanes[block->first_subcore];
    sm->free_registers += shape->register_lanes[block->first_subcore];
    sm->free_barriers += shape->barriers;
    block->shape = NULL;
}

static bool refuse(struct wt_refusal *out, enum wt_resource resource, enum wt_shortage shortage, int wanted,
                   int available)
{
    if (wanted <= available)
        return false;
    *out = (struct wt_refusal){resource, shortage, -1, wanted, available};
    return true;
}

static int sum_of_lanes(uint64_t lanes)
{
    int sum = 0;
    for (int s = 0; s < WT_MAX_SUBCORES; s++)
        sum += wt_lane(lanes, s);
    return sum;
}

static bool short_in_total(const struct wt_sm *sm, const struct wt_shape *shape, struct wt_refusal *out)
{
    int unit = sm->limits->register_unit;
    int registers = shape->register_units_per_warp * shape->warps * unit;
    int shared = !is_empty(sm) ? sm->shared_free * sm->limits->shared_unit_bytes : shape->carveout_kb * 1024;
    return refuse(out, WT_RES_BLOCKS, WT_SHORT_TOTAL, 1, sm->free_slots ? 1 : 0) ||
           refuse(out, WT_RES_WARPS, WT_SHORT_TOTAL, shape->warps, sum_of_lanes(sm->free_warps)) ||
           refuse(out, WT_RES_REGISTERS, WT_SHORT_TOTAL, registers,
                  sum_of_lanes(sm->free_registers) * unit) ||
           refuse(out, WT_RES_SHARED_MEMORY, WT_SHORT_TOTAL, shape->shared_bytes, shared) ||
           refuse(out, WT_RES_BARRIERS, WT_SHORT_TOTAL, shape->barriers, sm->free_barriers);
}

static bool short_in_subcore(enum wt_resource resource, uint64_t wanted, uint64_t available, int unit,
                             struct wt_refusal *out)
{
    for (int s = 0; s < WT_MAX_SUBCORES; s++)
        if (refuse(out, resource, WT_SHORT_SUBCORE, wt_lane(wanted, s) * unit,
                   wt_lane(available, s) * unit)) {
            out->subcore = s;
            return true;
        }
    return false;
}

bool wt_sm_refusal(const struct wt_sm *sm, const struct wt_shape *shape, struct wt_refusal *out)
{
    if (!is_empty(sm) && refuse(out, WT_RES_SHARED_MEMORY, WT_SHORT_CARVEOUT, shape->carveout_kb * 1024,
                             sm->carveout_kb * 1024))
        return true;
    if (short_in_total(sm, shape, out) ||
        short_in_subcore(WT_RES_WARPS, shape->warp_lanes[sm->pointer], sm->free_warps, 1, out) ||
        short_in_subcore(WT_RES_REGISTERS, shape->register_lanes[sm->pointer], sm->free_registers,
                         sm->limits->register_unit, out))
        return true;
    int before, start;
    if (is_empty(sm) || shape->shared_units == 0 || find_hole(sm, shape->shared_units, &before, &start))
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
    return __builtin_popcountll(sm->all_slots & ~sm->free_slots);
}

int wt_sm_resident_warps(const struct wt_sm *sm)
{
    return wt_warps_per_sm(sm->limits) - sum_of_lanes(sm->free_warps);
}

int wt_sm_free_registers(const struct wt_sm *sm, int subcore)
{
    return wt_lane(sm->free_registers, subcore) * sm->limits->register_unit;
}

int wt_sm_free_warp_slots(const struct wt_sm *sm, int subcore)
{
    return wt_lane(sm->free_warps, subcore);
}

int wt_sm_subcore_pointer(const struct wt_sm *sm)
{
    return sm->pointer;
}

int wt_sm_carveout_kb(const struct wt_sm *sm)
{
    return sm->carveout_kb;
}

static int largest_hole(const struct wt_sm *sm)
{
    if (sm->lowest == NONE)
        return sm->shared_total;
    int largest = last_hole(sm);
    for (int i = sm->lowest; i != sm->highest; i = sm->slot[i].after) {
        int hole = sm->slot[sm->slot[i].after].start - sm->slot[i].end;
        if (hole > largest)
            largest = hole;
    }
    return largest;
}

struct wt_shared_use wt_sm_shared_use(const struct wt_sm *sm)
{
    int unit = sm->limits->shared_unit_bytes, largest = largest_hole(sm);
    return (struct wt_shared_use){
        .total_bytes = sm->shared_total * unit,
        .free_bytes = sm->shared_free * unit,
        .largest_hole_bytes = largest * unit,
        .fragmentation = sm->shared_free ? 1.0 - (double)largest / sm->shared_free : 0.0,
    };
}

bool wt_sm_shared_range(const struct wt_sm *sm, int slot, int *offset, int *bytes)
{
    const struct resident *block = &sm->slot[slot];
    if (!block->shape)
        return false;
    *bytes = block->shape->shared_bytes;
    *offset = *bytes ? block->start * sm->limits->shared_unit_bytes : 0;
    return true;
}

void wt_sm_set_subcore_pointer(struct wt_sm *sm, int pointer)
{
    assert(is_empty(sm) && pointer >= 0 && pointer < sm->limits->subcores);
    sm->pointer = (uint8_t)pointer;
}

/* ---- Many SMs ---- */

static bool alike(const struct wt_refusal *a, const struct wt_refusal *b)
{
    return a->resource == b->resource && a->shortage == b->shortage;
}

int wt_sm_refusal_kinds(struct wt_sm *const *sms, int count, const struct wt_shape *shape,
                        struct wt_refusal_kind kinds[WT_REFUSAL_KINDS])
{
    int known = 0;
    struct wt_refusal refusal;
    for (int sm = 0; sm < count; sm++) {
        if (!wt_sm_refusal(sms[sm], shape, &refusal))
            continue;
        int i = 0;
        while (i < known && !alike(&kinds[i].example, &refusal))
            i++;
        if (i == known)
            kinds[known++] = (struct wt_refusal_kind){0, refusal};
        kinds[i].sms++;
        for (; i > 0 && kinds[i].sms > kinds[i - 1].sms; i--) {
            struct wt_refusal_kind less = kinds[i - 1];
            kinds[i - 1] = kinds[i];
            kinds[i] = less;
        }
    }
    return known;
}
