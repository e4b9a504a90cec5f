#include "cost/fluid.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "dispatch/endqueue.h"

/* TABLED: warps of a server, and of an SM on average, for which a single kernel's speeds are computed once. */
enum { MOST_CLAIMS = 2 * WT_MAX_SLOTS, SUB_CORES = 4, TABLED = 64, ALL_RATES = MOST_CLAIMS * (MOST_CLAIMS + 1) / 2 };

#define NONE UINT32_MAX

/* Of the next younger block, even where the oldest takes all: what that one cannot use. */
static const double LEAST_SHARE = 1e-6;

/* Warps of a block on one server that have equally much to do. */
struct piece {
    double work;   /* served alike: when it is through, on the server's clock */
    uint32_t next; /* of the claim, with more work; NONE */
    uint32_t warps;
};

/* A block's warps on a server that share alike: all of them, or those of one part. */
struct claim {
    double left; /* of its first piece; served alike: when that is through, on the server's clock */
    double rate; /* of full speed, before the GPU slows it down; oldest first only */
    uint32_t piece; /* the first to be through */
    uint32_t kernel;
    uint16_t warps; /* not yet through */
    uint8_t slot;
};

/* An SM, or a sub-core. */
struct server {
    double clock;    /* its own, at `seen`; served alike only */
    double seen;     /* the GPU's clock when it was last looked at */
    double speed;    /* of its clock, against the GPU's; served alike only */
    double load;     /* demands on it */
    double grains;   /* load times a customer's demand */
    double asks;     /* demands on the GPU at full speed */
    double gpu_grains;
    double asked;    /* demands on the GPU as it serves */
    double serving;  /* warps times their rates */
    double next;     /* on the GPU's clock: its first piece is through; INFINITY */
    int warps;       /* being served */
    int squares;     /* of its claims' warps */
    int count;
    int first;       /* claim whose piece is the first to be through; oldest first only */
    struct claim *claims; /* a heap by what is left; oldest first: by age */
    size_t capacity;
};

struct block {
    uint64_t number;
    uint64_t age;     /* the higher, the younger; 0: none was here yet */
    uint32_t kernel;
    uint16_t pieces;  /* not yet through */
    uint8_t sub_core; /* of its first warp */
};

/* An SM's to the counter. */
struct way {
    wt_time opens; /* not before; WT_NEVER: nothing has started there */
    double cycles;
};

struct wt_fluid {
    const struct wt_fluid_kernel *kernels;
    size_t kernel_count;
    bool oldest_first, hindered;
    bool gpu_asked; /* by any kernel */
    uint32_t ways;  /* servers of an SM: 1 or SUB_CORES */
    int way_bits;   /* its logarithm */
    uint32_t count; /* of all servers */
    double now;     /* cycles */
    double clock;   /* the GPU's, at `now` */
    double speed;   /* of the GPU's clock */
    double load;    /* demands on the GPU */
    double grains;  /* asks times a customer's demand, all servers */
    double asks;
    double crowding; /* of the GPU */
    double serving; /* all servers */
    size_t warps;   /* likewise */
    bool known;     /* the next two are computed */
    double finish;  /* when the first piece is through, cycles; INFINITY: never */
    wt_time end;    /* likewise, and not before; WT_NEVER */
    struct server *servers;
    uint64_t *rounds; /* 1: the first server of all; 2 i and 2 i + 1 are who played for i; from first_round on all servers */
    uint32_t first_round; /* a power of two */
    struct block *blocks; /* by id */
    uint8_t *sub_cores; /* by SM: of the next block's first warp */
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    uint32_t free_piece; /* those that were given back, by next */
    uint64_t youngest, tasks_taken;
    struct way *ways_to_counter; /* by SM; NULL: none is used */
    struct wt_random jitter;
    struct wt_endqueue starting;
    struct wt_fluid_sums sums;
    /* One kernel alone, 0: not computed yet. */
    double served[TABLED + 1]; /* what part of what so many warps ask for a server serves */
    double *gpu_served;        /* the same of the GPU, where nothing else limits; NULL: something does, or several kernels */
    size_t gpu_tabled;
    double *rates[TABLED + 1]; /* by the warps of each claim: of one claim, of two, and so on; NULL: not computed yet */
};

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* ---- Stages ---- */

double wt_fluid_served(double load, double grain)
{
    if (load <= 0 || grain <= 0 || grain >= 1)
        return load > 1 ? 1 / load : 1;
    double customers = load / grain, thinking = 1 / grain - 1;
    double whole = floor(customers), loss = 1 - (customers - whole) * grain;
    if (whole > 60 * thinking)
        return 1 / load;
    for (double n = customers - whole + 1; n < customers + 0.5; n++)
        loss = thinking * loss / (n + thinking * loss);
    return (1 - loss) / load;
}

/* Of load = x (1 + crowding x / (1 - x)) the root that is less than 1, over the load. */
double wt_fluid_crowded(double load, double crowding)
{
    return 2 / (1 + load + sqrt((1 + load) * (1 + load) - 4 * (1 - crowding) * load));
}

/* Of a server. */
static double served_part(struct wt_fluid *f, int warps, double load, double grains)
{
    bool tabled = f->kernel_count == 1 && warps <= TABLED;
    if (tabled && f->served[warps] > 0)
        return f->served[warps];
    double served = wt_fluid_served(load, load > 0 ? grains / load : 0);
    if (tabled)
        f->served[warps] = served;
    return served;
}

/* Of the GPU. */
static double gpu_served_part(struct wt_fluid *f)
{
    if (f->load <= 1 && f->grains <= 0 && f->crowding <= 0)
        return 1;
    bool tabled = f->gpu_served && f->warps < f->gpu_tabled;
    if (tabled && f->gpu_served[f->warps] > 0)
        return f->gpu_served[f->warps];
    double grain = f->asks > 0 ? f->grains / f->asks : 0;
    double served = f->crowding > 0 ? wt_fluid_crowded(fmax(0, f->load), f->crowding) : wt_fluid_served(f->load, grain);
    if (tabled)
        f->gpu_served[f->warps] = served;
    return served;
}

/* ---- Servers by their next event: a tournament ---- */

/* Times are not negative, so that such doubles have the order of their bits; the last bits, less than 1e-12 of the time, make room for the
 * server: of equals the lower wins. */
static uint64_t round_of(const struct wt_fluid *f, uint32_t server)
{
    uint64_t bits;
    memcpy(&bits, &f->servers[server].next, sizeof bits);
    return (bits & ~(uint64_t)(f->first_round - 1)) | server;
}

static uint32_t first_server(const struct wt_fluid *f)
{
    return (uint32_t)f->rounds[1] & (f->first_round - 1);
}

/* The server's next event has changed. Without branches, which nobody could predict. */
static void play(struct wt_fluid *f, uint32_t server)
{
    uint64_t winner = round_of(f, server), *rounds = f->rounds;
    uint32_t at = f->first_round + server;
    rounds[at] = winner;
    for (; at > 1; at /= 2) {
        uint64_t other = rounds[at ^ 1];
        winner = other < winner ? other : winner;
        rounds[at / 2] = winner;
    }
}

/* ---- Pieces ---- */

static uint32_t new_piece(struct wt_fluid *f)
{
    uint32_t piece = f->free_piece;
    if (piece != NONE) {
        f->free_piece = f->pieces[piece].next;
        return piece;
    }
    f->pieces = wt_grow(f->pieces, &f->piece_capacity, f->piece_count + 1, sizeof *f->pieces);
    return (uint32_t)f->piece_count++;
}

static void free_piece(struct wt_fluid *f, uint32_t piece)
{
    f->pieces[piece].next = f->free_piece;
    f->free_piece = piece;
}

/* Returns how many pieces the claim has more. */
static int add_piece(struct wt_fluid *f, struct claim *claim, double work, uint32_t warps)
{
    uint32_t before = NONE, after = claim->piece;
    claim->warps = (uint16_t)(claim->warps + warps);
    while (after != NONE && f->pieces[after].work < work) {
        before = after;
        after = f->pieces[after].next;
    }
    if (after != NONE && f->pieces[after].work <= work) {
        f->pieces[after].warps += warps;
        return 0;
    }
    uint32_t piece = new_piece(f);
    f->pieces[piece] = (struct piece){work, after, warps};
    *(before == NONE ? &claim->piece : &f->pieces[before].next) = piece;
    return 1;
}

/* ---- Claims that are served alike: a heap ---- */

static bool before(const struct claim *a, const struct claim *b)
{
    return a->left < b->left || (a->left == b->left && a->slot < b->slot);
}

static void push(struct server *server, struct claim claim)
{
    int place = server->count++;
    while (place > 0 && before(&claim, &server->claims[(place - 1) / 2])) {
        server->claims[place] = server->claims[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    server->claims[place] = claim;
}

/* For the heap's first. */
static void exchange_first(struct server *server, struct claim with)
{
    int place = 0;
    for (int child = 1; child < server->count; child = 2 * place + 1) {
        if (child + 1 < server->count && before(&server->claims[child + 1], &server->claims[child]))
            child++;
        if (!before(&server->claims[child], &with))
            break;
        server->claims[place] = server->claims[child];
        place = child;
    }
    server->claims[place] = with;
}

/* Returns when the server's first piece is through. */
static double serve_alike(struct wt_fluid *f, struct server *s)
{
    s->speed = served_part(f, s->warps, s->load, s->grains);
    s->asked = s->asks * s->speed;
    s->serving = s->warps * s->speed;
    return s->count > 0 ? s->seen + (s->claims[0].left - s->clock) / s->speed : INFINITY;
}

/* ---- Claims that are served by age: a list ---- */

static double most_of(const struct wt_fluid *f, const struct claim *claim)
{
    return claim->warps * f->kernels[claim->kernel].sm_demand * f->ways;
}

/* `left` is what the server serves of all its claims, as demands. Whoever reaches full speed leaves his share to the others: mostly the
 * oldest, one after the other. */
static void share_out(const struct wt_fluid *f, const struct server *s, double left, double *rates)
{
    double weights[MOST_CLAIMS], rest[MOST_CLAIMS + 1], weight = 1;
    for (int i = 0; i < s->count; i++) {
        weights[i] = weight;
        weight *= LEAST_SHARE + 1 - f->kernels[s->claims[i].kernel].favour;
        weight = weight < DBL_MIN ? DBL_MIN : weight;
    }
    for (bool again = true; again;) {
        double older = 0; /* weights of those that are not at full speed */
        again = false;
        rest[s->count] = 0;
        for (int i = s->count - 1; i >= 0; i--)
            rest[i] = rest[i + 1] + weights[i];
        for (int i = 0; i < s->count; i++) {
            double most = most_of(f, &s->claims[i]), sum = (older + rest[i]) * most;
            rates[i] = 1;
            if (weights[i] > 0 && left * weights[i] < sum) {
                rates[i] = left * weights[i] / sum;
                older += weights[i];
            } else if (weights[i] > 0) {
                left -= most;
                weights[i] = 0;
                again |= older > 0;
            }
        }
    }
}

/* The same where the others hinder even the oldest. */
static void share_hindered(const struct wt_fluid *f, const struct server *s, double left, double *rates)
{
    double lacking = 0;
    for (int i = 0; i < s->count; i++) {
        const struct wt_fluid_kernel *kernel = &f->kernels[s->claims[i].kernel];
        double most = s->claims[i].warps * kernel->sm_demand * f->ways, served = lesser(kernel->hindered * most, kernel->favour * left);
        left -= served;
        lacking += most - served;
        rates[i] = most > 0 ? served / most : 1;
    }
    double part = lacking > 0 ? lesser(1, left / lacking) : 0;
    for (int i = 0; i < s->count; i++)
        rates[i] += part * (1 - rates[i]);
}

static void find_rates(const struct wt_fluid *f, const struct server *s, double left, double *rates)
{
    (f->hindered ? share_hindered : share_out)(f, s, left, rates);
}

/* Of claims that are as large as each other. */
static const double *tabled_rates(struct wt_fluid *f, const struct server *s, double left)
{
    size_t row = (size_t)s->count * ((size_t)s->count - 1) / 2;
    double **table = &f->rates[s->claims[0].warps];
    if (!*table)
        *table = wt_alloc(ALL_RATES, sizeof **table);
    if ((*table)[row] <= 0)
        find_rates(f, s, left, *table + row);
    return *table + row;
}

/* Takes the rates, and returns when the server's first piece is through. */
static double serve_at(const struct wt_fluid *f, struct server *s, const double *rates)
{
    double least = INFINITY, serving = 0, asked = 0;
    int count = s->count, first = 0;
    for (int i = 0; i < count; i++) {
        struct claim *claim = &s->claims[i];
        double rate = rates[i], served = claim->warps * rate;
        double left = rate > 0 ? claim->left / rate : claim->left > 0 ? INFINITY : 0;
        claim->rate = rate;
        serving += served;
        if (f->gpu_asked)
            asked += served * f->kernels[claim->kernel].gpu_demand;
        first = left < least ? i : first;
        least = lesser(left, least);
    }
    s->serving = serving;
    s->asked = asked;
    s->first = first;
    return s->seen + (least > 0 ? least : 0);
}

/* Returns when the server's first piece is through. */
static double serve_oldest(struct wt_fluid *f, struct server *s)
{
    double untabled[MOST_CLAIMS];
    if (s->count == 0) {
        s->asked = s->serving = 0;
        return INFINITY;
    }
    double left = s->load * served_part(f, s->warps, s->load, s->grains);
    bool alike = s->squares * s->count == s->warps * s->warps;
    if (f->kernel_count == 1 && s->claims[0].warps <= TABLED && alike)
        return serve_at(f, s, tabled_rates(f, s, left));
    find_rates(f, s, left, untabled);
    return serve_at(f, s, untabled);
}

/* ---- Clocks ---- */

static void advance(struct wt_fluid *f, double time)
{
    if (time <= f->now)
        return;
    double step = (time - f->now) * f->speed;
    f->sums.done += step * f->serving;
    f->clock += step;
    f->now = time;
}

static void look_at(const struct wt_fluid *f, struct server *s)
{
    double passed = f->clock - s->seen;
    s->seen = f->clock;
    if (!f->oldest_first)
        s->clock += passed * s->speed;
    else
        for (int i = 0; i < s->count; i++)
            s->claims[i].left -= passed * s->claims[i].rate;
}

/* And the GPU, whatever the server serves of it. */
static void ask_gpu(struct wt_fluid *f, struct server *s, const struct wt_fluid_kernel *kernel, int warps)
{
    bool idle = s->count == 0;
    f->asks -= s->asks;
    f->grains -= s->gpu_grains;
    s->asks = idle ? 0 : s->asks + warps * kernel->gpu_demand;
    s->gpu_grains = idle ? 0 : s->gpu_grains + warps * kernel->gpu_demand * kernel->gpu_demand * kernel->gpu_grain;
    f->asks += s->asks;
    f->grains += s->gpu_grains;
}

/* `warps` more of a kernel, or fewer, ask for a server that was just looked at. */
static void ask(struct wt_fluid *f, struct server *s, const struct wt_fluid_kernel *kernel, int warps)
{
    bool idle = s->count == 0;
    double demand = kernel->sm_demand * f->ways;
    f->load -= s->asked;
    f->serving -= s->serving;
    f->warps += (size_t)warps;
    s->load = idle ? 0 : s->load + warps * demand;
    s->grains = idle ? 0 : s->grains + warps * demand * demand * kernel->sm_grain / f->ways;
    s->warps += warps;
    if (f->gpu_asked)
        ask_gpu(f, s, kernel, warps);
    s->next = f->oldest_first ? serve_oldest(f, s) : serve_alike(f, s);
    f->load += s->asked;
    f->serving += s->serving;
    f->speed = f->gpu_asked ? gpu_served_part(f) : 1;
    f->known = false;
    play(f, (uint32_t)(s - f->servers));
}

/* ---- Starts and ends ---- */

/* Of the warps `first` to `first` + `warps` - 1 of a block those that a server of its SM has. */
static uint32_t warps_on(const struct wt_fluid *f, const struct block *block, uint32_t way, uint32_t first, uint32_t warps)
{
    uint32_t skip = (way - block->sub_core - first) & (f->ways - 1);
    return warps > skip ? (warps - skip + f->ways - 1) >> f->way_bits : 0;
}

/* Behind those that are as old or older. `blocks`: the SM's. */
static void insert(struct server *s, const struct block *blocks, uint64_t youngest, struct claim claim)
{
    int place = s->count++;
    uint64_t age = blocks[claim.slot].age;
    for (; age < youngest && place > 0 && blocks[s->claims[place - 1].slot].age > age; place--)
        s->claims[place] = s->claims[place - 1];
    s->claims[place] = claim;
}

static void add_claim(const struct wt_fluid *f, struct server *s, const struct block *blocks, struct claim *claim)
{
    if (claim->piece == NONE)
        return;
    assert(s->count < MOST_CLAIMS);
    if ((size_t)s->count == s->capacity)
        s->claims = wt_grow(s->claims, &s->capacity, s->capacity + 1, sizeof *s->claims);
    claim->left = f->pieces[claim->piece].work;
    s->squares += claim->warps * claim->warps;
    if (f->oldest_first)
        insert(s, blocks, f->youngest, *claim);
    else
        push(s, *claim);
    claim->piece = NONE;
    claim->warps = 0;
}

/* What a server of the block's SM has of it. */
static void serve(struct wt_fluid *f, uint32_t id, uint32_t way, const struct wt_fluid_part *parts, int count)
{
    struct block *block = &f->blocks[id];
    struct server *s = &f->servers[id / WT_MAX_SLOTS * f->ways + way];
    struct claim claim = {.piece = NONE, .kernel = block->kernel, .slot = (uint8_t)(id % WT_MAX_SLOTS)};
    const struct wt_fluid_kernel *kernel = &f->kernels[block->kernel];
    uint32_t first = 0, all = 0;
    look_at(f, s);
    for (int i = 0; i < count; first += (uint32_t)parts[i++].warps) {
        uint32_t warps = warps_on(f, block, way, first, (uint32_t)parts[i].warps);
        if (warps == 0)
            continue;
        block->pieces = (uint16_t)(block->pieces + add_piece(f, &claim, parts[i].work + (f->oldest_first ? 0 : s->clock), warps));
        f->sums.given += parts[i].work * warps;
        all += warps;
        if (kernel->apart && f->oldest_first)
            add_claim(f, s, block - id % WT_MAX_SLOTS, &claim);
    }
    add_claim(f, s, block - id % WT_MAX_SLOTS, &claim);
    if (all > 0)
        ask(f, s, kernel, (int)all);
}

/* The first of those that are starting asks for service. */
static void admit(struct wt_fluid *f)
{
    struct wt_running starting = wt_endqueue_pop(&f->starting);
    struct block *block = &f->blocks[starting.id];
    const struct wt_fluid_kernel *kernel = &f->kernels[block->kernel];
    struct wt_fluid_part parts[WT_FLUID_PARTS];
    uint64_t number = kernel->counter.used ? f->tasks_taken++ : block->number;
    int count = kernel->parts(kernel->context, number, parts), warps = 0;
    uint8_t *sub_core = &f->sub_cores[starting.id / WT_MAX_SLOTS];
    bool stays = kernel->counter.used && block->age > 0;
    advance(f, wt_to_cycles(starting.end));
    block->sub_core = stays ? block->sub_core : *sub_core;
    block->age = stays ? block->age : ++f->youngest;
    for (uint32_t way = 0; way < f->ways; way++)
        serve(f, starting.id, way, parts, count);
    for (int i = 0; i < count; i++)
        warps += parts[i].warps;
    if (!stays)
        *sub_core = (uint8_t)((*sub_core + (warps % SUB_CORES > 0 ? warps : 1)) % SUB_CORES);
}

/* Fills finish and end. */
static void find_finish(struct wt_fluid *f)
{
    double next = f->servers[first_server(f)].next, left = next > f->clock ? next - f->clock : 0;
    f->known = true;
    f->finish = f->now + (f->speed < 1 ? left / f->speed : left);
    f->end = WT_NEVER;
    if (isinf(next))
        return;
    f->end = (wt_time)(f->finish * (double)WT_CYCLE);
    f->end += (double)f->end < f->finish * (double)WT_CYCLE;
}

/* The claim's first piece is through. */
static void go_on(struct wt_fluid *f, struct server *s, int which)
{
    struct claim claim = s->claims[which];
    const struct piece *done = &f->pieces[claim.piece];
    s->squares -= (int)done->warps * (2 * claim.warps - (int)done->warps);
    claim.warps = (uint16_t)(claim.warps - done->warps);
    s->clock = claim.left;
    if (done->next != NONE) {
        claim.left = f->pieces[done->next].work - (f->oldest_first ? done->work : 0);
        claim.piece = done->next;
    } else if (f->oldest_first) {
        s->count--;
        memmove(&s->claims[which], &s->claims[which + 1], (size_t)(s->count - which) * sizeof claim);
        return;
    } else {
        claim = s->claims[--s->count];
    }
    if (f->oldest_first)
        s->claims[which] = claim;
    else
        exchange_first(s, claim);
}

static int first_through(const struct wt_fluid *f, const struct server *s)
{
    return f->oldest_first ? s->first : 0;
}

/* The piece that is through first leaves; returns its block's id. */
static uint32_t leave(struct wt_fluid *f)
{
    uint32_t server = first_server(f);
    struct server *s = &f->servers[server];
    if (!f->known)
        find_finish(f);
    advance(f, f->finish);
    look_at(f, s);
    int which = first_through(f, s);
    uint32_t piece = s->claims[which].piece, id = (server >> f->way_bits) * WT_MAX_SLOTS + s->claims[which].slot;
    const struct wt_fluid_kernel *kernel = &f->kernels[s->claims[which].kernel];
    go_on(f, s, which);
    ask(f, s, kernel, -(int)f->pieces[piece].warps);
    free_piece(f, piece);
    f->blocks[id].pieces--;
    return id;
}

static bool ends_block(const struct wt_fluid *f)
{
    uint32_t server = first_server(f);
    const struct server *s = &f->servers[server];
    return f->blocks[(server >> f->way_bits) * WT_MAX_SLOTS + s->claims[first_through(f, s)].slot].pieces == 1;
}

/* ---- The engine's side ---- */

static wt_time come_to_counter(struct wt_fluid *f, const struct wt_fluid_counter *counter, uint32_t sm, wt_time asks)
{
    struct way *way = &f->ways_to_counter[sm];
    if (way->opens == WT_NEVER)
        way->opens = asks + wt_from_cycles(counter->wait);
    return (asks > way->opens ? asks : way->opens) + wt_from_cycles(way->cycles + counter->jitter * wt_random_unit(&f->jitter));
}

static void begin(void *context, uint32_t id, uint32_t kernel, uint64_t number, wt_time start)
{
    struct wt_fluid *f = context;
    assert(kernel < f->kernel_count);
    f->blocks[id].number = number;
    f->blocks[id].kernel = kernel;
    f->blocks[id].pieces = 0;
    wt_time asks = start + wt_from_cycles(f->kernels[kernel].start_cycles);
    if (f->kernels[kernel].counter.used)
        asks = come_to_counter(f, &f->kernels[kernel].counter, id / WT_MAX_SLOTS, asks);
    wt_endqueue_push(&f->starting, (struct wt_running){asks, id});
}

static wt_time next_end(void *context, wt_time until)
{
    struct wt_fluid *f = context;
    for (;;) {
        if (!f->known)
            find_finish(f);
        wt_time starting = wt_endqueue_next(&f->starting), end = f->end;
        if ((starting < end ? starting : end) > until || (end <= starting && (end == WT_NEVER || ends_block(f))))
            return starting < end ? starting : end;
        if (end <= starting)
            leave(f);
        else
            admit(f);
    }
}

static uint32_t take_end(void *context)
{
    return leave(context);
}

struct wt_sharing wt_fluid_sharing(struct wt_fluid *fluid)
{
    return (struct wt_sharing){.context = fluid, .begin = begin, .next_end = next_end, .take_end = take_end};
}

struct wt_fluid_sums wt_fluid_sums(const struct wt_fluid *fluid)
{
    return fluid->sums;
}

static struct way *find_ways(const struct wt_fluid_counter *counter, int sm_count)
{
    struct way *ways = wt_alloc((size_t)sm_count, sizeof *ways);
    struct wt_random random = wt_random_stream(counter->seed, "ways to the counter", 0);
    for (int sm = 0; sm < sm_count; sm++)
        ways[sm] = (struct way){.opens = WT_NEVER, .cycles = counter->far * wt_random_unit(&random)};
    return ways;
}

/* What holds where all kernels say so, or any. */
static void ask_kernels(struct wt_fluid *f)
{
    bool sub_cores = true;
    f->oldest_first = true;
    f->crowding = f->kernel_count > 0 ? INFINITY : 0;
    for (size_t i = 0; i < f->kernel_count; i++) {
        const struct wt_fluid_kernel *kernel = &f->kernels[i];
        f->oldest_first &= kernel->favour > 0;
        f->hindered |= kernel->hindered > 0;
        f->crowding = fmin(f->crowding, kernel->gpu_crowding);
        f->gpu_asked |= kernel->gpu_demand > 0;
        sub_cores &= kernel->sub_cores;
    }
    f->ways = sub_cores ? SUB_CORES : 1;
    f->way_bits = sub_cores ? 2 : 0;
}

struct wt_fluid *wt_fluid_new(const struct wt_fluid_kernel *kernels, size_t count, int sm_count)
{
    struct wt_fluid *f = wt_alloc(1, sizeof *f);
    f->kernels = kernels;
    f->kernel_count = count;
    f->speed = 1;
    f->free_piece = NONE;
    ask_kernels(f);
    f->count = (uint32_t)sm_count * f->ways;
    f->gpu_tabled = (size_t)sm_count * TABLED;
    f->gpu_served = count == 1 && kernels[0].sm_demand <= 0 ? wt_alloc(f->gpu_tabled, sizeof *f->gpu_served) : NULL;
    f->servers = wt_alloc(f->count, sizeof *f->servers);
    for (f->first_round = 1; f->first_round < f->count; f->first_round *= 2)
        ;
    f->rounds = wt_alloc(2 * f->first_round, sizeof *f->rounds);
    memset(f->rounds, 0xff, 2 * f->first_round * sizeof *f->rounds);
    f->blocks = wt_alloc((size_t)sm_count * WT_MAX_SLOTS, sizeof *f->blocks);
    f->sub_cores = wt_alloc((size_t)sm_count, sizeof *f->sub_cores);
    f->jitter = wt_random_stream(kernels[0].counter.seed, "coming to the counter", 0);
    f->ways_to_counter = kernels[0].counter.used ? find_ways(&kernels[0].counter, sm_count) : NULL;
    for (uint32_t i = 0; i < f->count; i++) {
        f->servers[i].speed = 1;
        f->servers[i].next = INFINITY;
        play(f, i);
    }
    wt_endqueue_init(&f->starting, (size_t)sm_count * WT_MAX_SLOTS);
    return f;
}

void wt_fluid_free(struct wt_fluid *fluid)
{
    if (!fluid)
        return;
    wt_endqueue_free(&fluid->starting);
    for (int i = 0; i <= TABLED; i++)
        free(fluid->rates[i]);
    for (uint32_t i = 0; i < fluid->count; i++)
        free(fluid->servers[i].claims);
    free(fluid->servers);
    free(fluid->rounds);
    free(fluid->blocks);
    free(fluid->sub_cores);
    free(fluid->ways_to_counter);
    free(fluid->pieces);
    free(fluid->gpu_served);
    free(fluid);
}
