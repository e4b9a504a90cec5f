#include "cost/fluid.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "dispatch/endqueue.h"

enum { MOST_PARTS = 2 * WT_MAX_SLOTS, MOST_WARPS = 2048, SUB_CORES = 4 };

/* Of the next younger block, even where the oldest takes all: what that one cannot use. */
static const double LEAST_SHARE = 1e-6;

/* A part that is being served. Served alike, `finish` is when on its server's clock; oldest first, it is what is left. */
struct served {
    double finish, rate; /* of full speed, before the GPU slows it down; oldest first only */
    uint32_t kernel;
    uint8_t slot, warps;
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
    double warps;    /* being served */
    double asked;    /* demands on the GPU as it serves */
    double serving;  /* warps times their rates */
    double next;     /* on the GPU's clock: its first part is through; INFINITY */
    int count;
    int first;       /* of its parts to be through; oldest first only */
    uint32_t place;  /* in the GPU's heap */
    struct served *parts; /* a heap by finish; oldest first: by age */
};

struct block {
    uint64_t number;
    uint64_t age;     /* the higher, the younger; 0: none was here yet */
    uint32_t kernel;
    uint8_t parts;    /* not yet through */
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
    double *by_warps; /* what a server serves so many warps, as demands; NULL: several kernels */
    struct share { double weight, sum; } shares[MOST_PARTS + 1]; /* one kernel's claims by age: the i-th's, and of the first i together */
    uint32_t ways;  /* servers of an SM */
    uint32_t count; /* of all servers */
    double now;     /* cycles */
    double clock;   /* the GPU's, at `now` */
    double speed;   /* of the GPU's clock */
    double load;    /* demands on the GPU */
    double grains;  /* asks times a customer's demand, all servers */
    double asks;
    double serving; /* all servers */
    struct server *servers;
    uint32_t *heap; /* all servers, by next */
    struct block *blocks; /* by id */
    uint8_t *sub_cores; /* by SM: of the next block's first warp */
    uint64_t youngest, tasks_taken;
    struct way *ways_to_counter; /* by SM; NULL: none is used */
    struct wt_random jitter;
    struct wt_endqueue starting;
    struct wt_fluid_sums sums;
};

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

/* ---- Servers by their next event ---- */

static void put(struct wt_fluid *f, uint32_t place, uint32_t server)
{
    f->heap[place] = server;
    f->servers[server].place = place;
}

static bool sooner(const struct wt_fluid *f, uint32_t a, uint32_t b)
{
    return f->servers[a].next < f->servers[b].next || (f->servers[a].next == f->servers[b].next && a < b);
}

/* The server's next event has changed. */
static void move(struct wt_fluid *f, uint32_t server)
{
    uint32_t place = f->servers[server].place;
    while (place > 0 && sooner(f, server, f->heap[(place - 1) / 2])) {
        put(f, place, f->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (uint32_t child = 2 * place + 1; child < f->count; child = 2 * place + 1) {
        if (child + 1 < f->count && sooner(f, f->heap[child + 1], f->heap[child]))
            child++;
        if (!sooner(f, f->heap[child], server))
            break;
        put(f, place, f->heap[child]);
        place = child;
    }
    put(f, place, server);
}

/* ---- Parts that are served alike: a heap ---- */

static bool before(const struct served *a, const struct served *b)
{
    return a->finish < b->finish || (a->finish == b->finish && a->slot < b->slot);
}

static void push(struct server *server, struct served part)
{
    int place = server->count++;
    while (place > 0 && before(&part, &server->parts[(place - 1) / 2])) {
        server->parts[place] = server->parts[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    server->parts[place] = part;
}

static struct served pop(struct server *server)
{
    struct served first = server->parts[0], last = server->parts[--server->count];
    int place = 0;
    for (int child = 1; child < server->count; child = 2 * place + 1) {
        if (child + 1 < server->count && before(&server->parts[child + 1], &server->parts[child]))
            child++;
        if (!before(&server->parts[child], &last))
            break;
        server->parts[place] = server->parts[child];
        place = child;
    }
    server->parts[place] = last;
    return first;
}

static void serve_alike(struct server *s)
{
    s->speed = wt_fluid_served(s->load, s->load > 0 ? s->grains / s->load : 0);
    s->asked = s->asks * s->speed;
    s->serving = s->warps * s->speed;
    s->next = s->count > 0 ? s->seen + (s->parts[0].finish - s->clock) / s->speed : INFINITY;
}

/* ---- Parts that are served by age: a list ---- */

static double left_at(const struct served *part)
{
    return part->finish <= 0 ? 0 : part->rate > 0 ? part->finish / part->rate : INFINITY;
}

static void find_first(struct server *s)
{
    double least = INFINITY;
    s->first = 0;
    for (int i = 0; i < s->count; i++) {
        double left = left_at(&s->parts[i]);
        if (left < least) {
            least = left;
            s->first = i;
        }
    }
    s->next = s->count > 0 ? s->seen + least : INFINITY;
}

static struct served take(struct server *s, int which)
{
    struct served part = s->parts[which];
    s->count--;
    memmove(&s->parts[which], &s->parts[which + 1], (size_t)(s->count - which) * sizeof part);
    return part;
}

/* Behind those that are as old or older. `blocks`: the SM's. */
static void insert(struct server *s, const struct block *blocks, struct served part)
{
    int place = s->count++;
    for (; place > 0 && blocks[s->parts[place - 1].slot].age > blocks[part.slot].age; place--)
        s->parts[place] = s->parts[place - 1];
    s->parts[place] = part;
}

/* A block's parts on a server, or one of them that goes on its own; or all that are there. */
struct claim {
    double most;   /* what it is served at full speed, as demands */
    double grains;
    int warps, first, next;
};

static struct claim claim_at(const struct wt_fluid *f, const struct server *s, int first)
{
    struct claim c = {.first = first, .next = first};
    for (; c.next < s->count && s->parts[c.next].slot == s->parts[first].slot; c.next++) {
        if (c.next > first && f->kernels[s->parts[first].kernel].apart)
            break;
        const struct wt_fluid_kernel *kernel = &f->kernels[s->parts[c.next].kernel];
        double demand = s->parts[c.next].warps * kernel->sm_demand * f->ways;
        c.most += demand;
        if (!f->by_warps)
            c.grains += demand * kernel->sm_grain * kernel->sm_demand;
        c.warps += s->parts[c.next].warps;
    }
    return c;
}

static void serve_claim(const struct wt_fluid *f, struct server *s, const struct claim *c, double served)
{
    double rate = c->most > 0 ? fmin(1, served / c->most) : 1;
    for (int part = c->first; part < c->next; part++) {
        s->parts[part].rate = rate;
        s->serving += s->parts[part].warps * rate;
        s->asked += s->parts[part].warps * rate * f->kernels[s->parts[part].kernel].gpu_demand;
    }
}

/* `claims` by age; `left` is what the server serves of them all. On return `served` is each one's. Whoever reaches full speed leaves
 * his share to the others. */
static void share_out(const struct wt_fluid *f, const struct server *s, const struct claim *claims, int count, double left,
                      double *served)
{
    double weights[MOST_PARTS], weight = 1, sum = 0;
    for (int i = 0; i < count; i++) {
        served[i] = 0;
        weights[i] = weight;
        sum += weight;
        weight *= LEAST_SHARE + 1 - f->kernels[s->parts[claims[i].first].kernel].favour;
    }
    for (int capped = 1; capped > 0 && sum > 0;) {
        double each = left / sum;
        capped = 0;
        for (int i = 0; i < count; i++) {
            if (weights[i] <= 0)
                continue;
            served[i] = each * weights[i];
            if (served[i] < claims[i].most)
                continue;
            served[i] = claims[i].most;
            left -= served[i];
            sum -= weights[i];
            weights[i] = 0;
            capped++;
        }
    }
}

/* The same where the others hinder even the oldest. */
static void share_hindered(const struct wt_fluid *f, const struct server *s, const struct claim *claims, int count, double left,
                           double *served)
{
    double lacking = 0;
    for (int i = 0; i < count; i++) {
        const struct wt_fluid_kernel *kernel = &f->kernels[s->parts[claims[i].first].kernel];
        served[i] = fmin(kernel->hindered * claims[i].most, kernel->favour * left);
        left -= served[i];
        lacking += claims[i].most - served[i];
    }
    double part = lacking > 0 ? fmin(1, left / lacking) : 0;
    for (int i = 0; i < count; i++)
        served[i] += part * (claims[i].most - served[i]);
}

/* The same of claims that are alike, of one kernel: the oldest reach full speed first. */
static void share_alike(const struct wt_fluid *f, double most, int count, double left, double *served)
{
    int capped = 0;
    while (capped < count && left / f->shares[count - capped].sum >= most) {
        served[capped++] = most;
        left -= most;
    }
    for (int i = capped; i < count; i++)
        served[i] = left / f->shares[count - capped].sum * f->shares[i - capped].weight;
}

static void serve_oldest(const struct wt_fluid *f, struct server *s)
{
    struct claim claims[MOST_PARTS], all = {0};
    double served[MOST_PARTS];
    int count = 0;
    bool alike = f->by_warps && !f->hindered;
    for (int i = 0; i < s->count; i = claims[count++].next) {
        claims[count] = claim_at(f, s, i);
        all.most += claims[count].most;
        all.grains += claims[count].grains;
        all.warps += claims[count].warps;
        alike &= claims[count].warps == claims[0].warps;
    }
    double grain = all.most > 0 ? all.grains / all.most : 0;
    double all_served = f->by_warps ? f->by_warps[all.warps] : all.most * wt_fluid_served(all.most, grain);
    if (alike)
        share_alike(f, claims[0].most, count, all_served, served);
    else
        (f->hindered ? share_hindered : share_out)(f, s, claims, count, all_served, served);
    s->asked = s->serving = 0;
    for (int i = 0; i < count; i++)
        serve_claim(f, s, &claims[i], served[i]);
    find_first(s);
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
            s->parts[i].finish -= passed * s->parts[i].rate;
}

/* `warps` more of a kernel, or fewer, ask for a server that was just looked at. */
static void ask(struct wt_fluid *f, struct server *s, const struct wt_fluid_kernel *kernel, double warps)
{
    bool idle = s->count == 0;
    double demand = kernel->sm_demand * f->ways;
    f->load -= s->asked;
    f->asks -= s->asks;
    f->grains -= s->gpu_grains;
    f->serving -= s->serving;
    s->load = idle ? 0 : s->load + warps * demand;
    s->grains = idle ? 0 : s->grains + warps * demand * demand * kernel->sm_grain / f->ways;
    s->asks = idle ? 0 : s->asks + warps * kernel->gpu_demand;
    s->gpu_grains = idle ? 0 : s->gpu_grains + warps * kernel->gpu_demand * kernel->gpu_demand * kernel->gpu_grain;
    s->warps = idle ? 0 : s->warps + warps;
    if (f->oldest_first)
        serve_oldest(f, s);
    else
        serve_alike(s);
    f->load += s->asked;
    f->asks += s->asks;
    f->grains += s->gpu_grains;
    f->serving += s->serving;
    f->speed = wt_fluid_served(f->load, f->asks > 0 ? f->grains / f->asks : 0);
    move(f, (uint32_t)(s - f->servers));
}

/* ---- Starts and ends ---- */

static void serve(struct wt_fluid *f, uint32_t id, uint32_t sub_core, int warps, double work)
{
    struct block *block = &f->blocks[id];
    struct server *s = &f->servers[id / WT_MAX_SLOTS * f->ways + sub_core];
    struct served part = {.finish = work, .kernel = block->kernel, .slot = (uint8_t)(id % WT_MAX_SLOTS), .warps = (uint8_t)warps};
    look_at(f, s);
    assert(s->count < MOST_PARTS);
    if (f->oldest_first) {
        insert(s, &f->blocks[id / WT_MAX_SLOTS * WT_MAX_SLOTS], part);
    } else {
        part.finish += s->clock;
        push(s, part);
    }
    block->parts++;
    f->sums.given += work * warps;
    ask(f, s, &f->kernels[block->kernel], warps);
}

/* Warps `first` to `first` + `warps` - 1 of a block. */
static void serve_warps(struct wt_fluid *f, uint32_t id, int first, int warps, double work)
{
    for (uint32_t way = 0; way < f->ways; way++) {
        uint32_t skip = (way + 2 * SUB_CORES - f->blocks[id].sub_core - (uint32_t)first % SUB_CORES) % f->ways;
        if ((uint32_t)warps > skip)
            serve(f, id, way, (int)(((uint32_t)warps - skip + f->ways - 1) / f->ways), work);
    }
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
    for (int i = 0; i < count; i++) {
        serve_warps(f, starting.id, warps, parts[i].warps, parts[i].work);
        warps += parts[i].warps;
    }
    if (!stays)
        *sub_core = (uint8_t)((*sub_core + (warps % SUB_CORES > 0 ? warps : 1)) % SUB_CORES);
}

static double next_finish(const struct wt_fluid *f)
{
    double next = f->servers[f->heap[0]].next;
    return isinf(next) ? INFINITY : f->now + fmax(0, next - f->clock) / f->speed;
}

/* The part that is through first leaves; returns its block's id. */
static uint32_t leave(struct wt_fluid *f)
{
    struct server *s = &f->servers[f->heap[0]];
    advance(f, next_finish(f));
    look_at(f, s);
    struct served part = f->oldest_first ? take(s, s->first) : pop(s);
    if (!f->oldest_first)
        s->clock = part.finish;
    ask(f, s, &f->kernels[part.kernel], -(double)part.warps);
    uint32_t id = (uint32_t)(s - f->servers) / f->ways * WT_MAX_SLOTS + part.slot;
    f->blocks[id].parts--;
    return id;
}

static bool ends_block(const struct wt_fluid *f)
{
    const struct server *s = &f->servers[f->heap[0]];
    const struct served *part = &s->parts[f->oldest_first ? s->first : 0];
    return f->blocks[f->heap[0] / f->ways * WT_MAX_SLOTS + part->slot].parts == 1;
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
    f->blocks[id].parts = 0;
    wt_time asks = start + wt_from_cycles(f->kernels[kernel].start_cycles);
    if (f->kernels[kernel].counter.used)
        asks = come_to_counter(f, &f->kernels[kernel].counter, id / WT_MAX_SLOTS, asks);
    wt_endqueue_push(&f->starting, (struct wt_running){asks, id});
}

static wt_time next_end(void *context, wt_time until)
{
    struct wt_fluid *f = context;
    for (;;) {
        wt_time starting = wt_endqueue_next(&f->starting);
        double finish = next_finish(f);
        wt_time end = isinf(finish) ? WT_NEVER : (wt_time)ceil(finish * (double)WT_CYCLE);
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

/* For the warps of one kernel. */
static double *tabulate(const struct wt_fluid_kernel *kernel, uint32_t ways)
{
    double *table = wt_alloc(MOST_WARPS + 1, sizeof *table), each = kernel->sm_demand * ways;
    for (int i = 1; i <= MOST_WARPS; i++)
        table[i] = i * each * wt_fluid_served(i * each, kernel->sm_grain * kernel->sm_demand);
    return table;
}

static void fill_shares(struct wt_fluid *f, double favour)
{
    double weight = 1, sum = 0;
    for (int i = 0; i <= MOST_PARTS; i++, weight *= LEAST_SHARE + 1 - favour) {
        f->shares[i] = (struct share){weight, sum};
        sum += weight;
    }
}

static struct way *find_ways(const struct wt_fluid_counter *counter, int sm_count)
{
    struct way *ways = wt_alloc((size_t)sm_count, sizeof *ways);
    struct wt_random random = wt_random_stream(counter->seed, "ways to the counter", 0);
    for (int sm = 0; sm < sm_count; sm++)
        ways[sm] = (struct way){.opens = WT_NEVER, .cycles = counter->far * wt_random_unit(&random)};
    return ways;
}

struct wt_fluid *wt_fluid_new(const struct wt_fluid_kernel *kernels, size_t count, int sm_count)
{
    struct wt_fluid *f = wt_alloc(1, sizeof *f);
    bool sub_cores = true;
    f->kernels = kernels;
    f->kernel_count = count;
    f->speed = 1;
    f->oldest_first = true;
    for (size_t i = 0; i < count; i++) {
        f->oldest_first &= kernels[i].favour > 0;
        f->hindered |= kernels[i].hindered > 0;
        sub_cores &= kernels[i].sub_cores;
    }
    f->ways = sub_cores ? SUB_CORES : 1;
    f->count = (uint32_t)sm_count * f->ways;
    f->by_warps = count == 1 ? tabulate(kernels, f->ways) : NULL;
    fill_shares(f, kernels[0].favour);
    f->servers = wt_alloc(f->count, sizeof *f->servers);
    f->heap = wt_alloc(f->count, sizeof *f->heap);
    f->blocks = wt_alloc((size_t)sm_count * WT_MAX_SLOTS, sizeof *f->blocks);
    f->sub_cores = wt_alloc((size_t)sm_count, sizeof *f->sub_cores);
    f->jitter = wt_random_stream(kernels[0].counter.seed, "coming to the counter", 0);
    f->ways_to_counter = kernels[0].counter.used ? find_ways(&kernels[0].counter, sm_count) : NULL;
    struct served *parts = wt_alloc((size_t)f->count * MOST_PARTS, sizeof *parts);
    for (uint32_t i = 0; i < f->count; i++) {
        f->servers[i].speed = 1;
        f->servers[i].next = INFINITY;
        f->servers[i].parts = parts + (size_t)i * MOST_PARTS;
        put(f, i, i);
    }
    wt_endqueue_init(&f->starting, (size_t)sm_count * WT_MAX_SLOTS);
    return f;
}

void wt_fluid_free(struct wt_fluid *fluid)
{
    if (!fluid)
        return;
    wt_endqueue_free(&fluid->starting);
    free(fluid->servers[0].parts);
    free(fluid->servers);
    free(fluid->heap);
    free(fluid->blocks);
    free(fluid->sub_cores);
    free(fluid->ways_to_counter);
    free(fluid->by_warps);
    free(fluid);
}
