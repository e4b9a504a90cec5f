/* How many blocks fit an SM? Against public cases, textbook examples and NVIDIA's own arithmetic. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "sm/occupancy.h"
#include "suites.h"

#ifdef HAVE_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

enum { REGISTERS = WT_RES_REGISTERS, SHARED = WT_RES_SHARED_MEMORY };

static struct wt_limits limits_of(const char *gpu_name)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load(gpu_name, &gpu, &err) == WT_OK, "%s", err.text);
    struct wt_limits limits = gpu->limits;
    wt_gpu_free(gpu);
    return limits;
}

static struct wt_launch_needs needs_of(int threads, int registers, int shared)
{
    return (struct wt_launch_needs){.threads = threads,
                                    .registers_per_thread = registers,
                                    .static_shared_bytes = shared,
                                    .carveout_kb = WT_CARVEOUT_DEFAULT,
                                    .barriers = 1};
}

/* --- the public cases --- */

enum { CASES = 31, COLUMNS = 12 };

struct public_case {
    char *field[COLUMNS]; /* as the header line names them; in `line` */
    char line[512];
};

/* Case `index`, from 0. */
static void read_case(int index, struct public_case *out)
{
    char *path = wt_format("%s/tests/data/occupancy_cases.csv", WT_SOURCE_ROOT);
    FILE *stream = fopen(path, "r");
    free(path);
    ck_assert_ptr_nonnull(stream);
    for (int i = 0; i < index + 2; i++)
        ck_assert_ptr_nonnull(fgets(out->line, sizeof out->line, stream));
    fclose(stream);
    char *rest = out->line;
    for (int i = 0; i < COLUMNS; i++)
        out->field[i] = strsep(&rest, ",");
    ck_assert_ptr_nonnull(out->field[COLUMNS - 1]);
}

static struct wt_launch_needs needs_of_case(const struct public_case *c)
{
    return (struct wt_launch_needs){
        .threads = atoi(c->field[3]),
        .registers_per_thread = atoi(c->field[4]),
        .static_shared_bytes = atoi(c->field[5]),
        .dynamic_shared_bytes = atoi(c->field[6]),
        .carveout_kb = strcmp(c->field[7], "default") ? atoi(c->field[7]) / 1024 : WT_CARVEOUT_DEFAULT,
        .barriers = 1,
    };
}

/* `unstated`: a resource of which nothing is expected, or WT_RES_COUNT. */
static void expect_limiters(const struct wt_occupancy *occupancy, const char *id, const char *expected,
                            enum wt_resource unstated)
{
    char names[128] = "";
    for (int r = 0; r < WT_RES_COUNT; r++) {
        bool named = strstr(expected, wt_resource_name(r)) != NULL;
        if (occupancy->limiter[r])
            strcat(strcat(names, " "), wt_resource_name(r));
        ck_assert_msg(occupancy->limiter[r] == named || r == (int)unstated, "%s: limiters are%s, expected %s",
                      id, names, expected);
    }
}

static void expect_failure(enum wt_code code, const struct wt_occupancy *occupancy,
                           const struct public_case *c, const struct wt_error *err)
{
    bool shared = !strcmp(c->field[10], "launch_failure_smem");
    ck_assert_int_eq(code, WT_BAD_INPUT);
    ck_assert_int_eq(occupancy->limits[shared ? SHARED : REGISTERS], 0);
    ck_assert_msg(strstr(err->text, shared ? "shared memory" : "registers") != NULL, "%s: %s", c->field[0],
                  err->text);
}

START_TEST(public_cases)
{
    struct public_case c;
    read_case(_i, &c);
    char *gpu = wt_format("cc%s", c.field[2]);
    struct wt_limits limits = limits_of(gpu);
    free(gpu);
    struct wt_launch_needs needs = needs_of_case(&c);
    struct wt_occupancy occupancy;
    struct wt_error err = {0};
    enum wt_code code = wt_occupancy(&limits, &needs, &occupancy, &err);
    ck_assert_msg(occupancy.blocks_per_sm == atoi(c.field[8]), "%s: %d blocks", c.field[0],
                  occupancy.blocks_per_sm);
    ck_assert_double_eq_tol(100 * occupancy.occupancy, atof(c.field[9]), 5e-5);
    if (!strncmp(c.field[10], "launch_failure", 14)) {
        expect_failure(code, &occupancy, &c, &err);
        return;
    }
    ck_assert_msg(code == WT_OK, "%s: %s", c.field[0], err.text);
    bool registers_assumed = strstr(c.field[11], "regs assumed") != NULL; /* N31 */
    expect_limiters(&occupancy, c.field[0], c.field[10], registers_assumed ? WT_RES_REGISTERS : WT_RES_COUNT);
}
END_TEST

/* The cases whose shared-memory configuration was reported: the driver's choice is predicted. */
START_TEST(public_cases_configuration)
{
    struct public_case c;
    read_case(_i, &c);
    if (!strcmp(c.field[7], "default"))
        return;
    char *gpu = wt_format("cc%s", c.field[2]);
    struct wt_limits limits = limits_of(gpu);
    free(gpu);
    struct wt_launch_needs needs = needs_of_case(&c);
    needs.carveout_kb = WT_CARVEOUT_DEFAULT;
    ck_assert_msg(wt_launch_configuration_kb(&limits, &needs) * 1024 == atoi(c.field[7]), "%s: %d KB",
                  c.field[0], wt_launch_configuration_kb(&limits, &needs));
}
END_TEST

/* --- textbook examples: an idealised device, and what a real one of the same size does --- */

static const struct lesson {
    const char *id;
    int max_threads, max_blocks, shared_kb; /* the device; 65,536 registers */
    int threads, registers, shared;         /* the kernel; shared in bytes */
    int by_warps, by_registers, by_shared;  /* expected; 0 = the lesson does not say */
    int blocks;
    double percent;
    int real_by_shared; /* with 1 KB more per block, in 128-byte units: shared_kb * 1024 / (shared + 1024); 0
                           = same */
} lessons[] = {
    {"L1a", 2048, 16, 64, 256, 64, 20480, 8, 4, 3, 3, 37.5, 0},
    {"L1b", 2048, 32, 228, 256, 32, 0, 8, 8, 0, 8, 100, 0},
    {"L1b", 2048, 32, 228, 256, 64, 0, 8, 4, 0, 4, 50, 0},
    {"L1b", 2048, 32, 228, 256, 128, 0, 8, 2, 0, 2, 25, 0},
    {"L1c", 2048, 32, 64, 128, 32, 16384, 0, 0, 4, 4, 25, 3},
    {"L1c", 2048, 32, 64, 128, 32, 32768, 0, 0, 2, 2, 12.5, 1},
    {"L1d", 2048, 32, 228, 100, 32, 0, 16, 0, 0, 16, 100, 0},
    {"L1e", 2048, 16, 228, 32, 16, 0, 64, 0, 0, 16, 25, 0},
    {"L2a", 2048, 32, 228, 256, 40, 0, 8, 6, 0, 6, 75, 0},
    {"L2b", 2048, 32, 228, 512, 16, 0, 4, 0, 0, 4, 100, 0},
    {"L2b", 2048, 32, 228, 1024, 16, 0, 2, 0, 0, 2, 100, 0},
    {"L2b", 2048, 32, 228, 32, 16, 0, 64, 0, 0, 32, 50, 0},
    {"L4a", 2048, 32, 96, 128, 32, 8192, 16, 16, 12, 12, 75, 10},
    {"L5a", 2048, 32, 100, 256, 64, 16384, 8, 4, 6, 4, 50, 5},
    {"L5a", 2048, 32, 100, 256, 32, 16384, 8, 8, 6, 6, 75, 5},
    {"L5b", 2048, 32, 100, 256, 80, 24576, 8, 3, 4, 3, 37.5, 0},
    {"L5b", 2048, 32, 100, 256, 64, 24576, 8, 4, 4, 4, 50, 0},
    {"L5b", 2048, 32, 100, 256, 48, 24576, 8, 5, 4, 4, 50, 0},
    {"L5b", 2048, 32, 100, 256, 16, 40960, 8, 16, 2, 2, 25, 0},
    {"L5b", 2048, 32, 100, 256, 80, 40960, 8, 3, 2, 2, 25, 0},
};

enum { LESSONS = sizeof lessons / sizeof *lessons };

static struct wt_limits lesson_device(const struct lesson *lesson)
{
    struct wt_limits limits = limits_of("cc9.0");
    limits.threads_per_sm = lesson->max_threads;
    limits.warps_per_sm = lesson->max_threads / 32;
    limits.blocks_per_sm = lesson->max_blocks;
    limits.shared_bytes_per_sm = lesson->shared_kb * 1024;
    limits.carveout_count = 0;
    return limits;
}

START_TEST(textbook_examples)
{
    const struct lesson *lesson = &lessons[_i];
    struct wt_limits limits = lesson_device(lesson);
    struct wt_launch_needs needs = needs_of(lesson->threads, lesson->registers, lesson->shared);
    struct wt_occupancy occupancy;
    ck_assert_int_eq(wt_occupancy_idealised(&limits, &needs, &occupancy, NULL), WT_OK);
    const int expected[WT_RES_COUNT] = {lesson->max_blocks, lesson->by_warps, lesson->by_registers,
                                        lesson->by_shared, 0};
    for (int r = 0; r < WT_RES_COUNT; r++)
        if (expected[r])
            ck_assert_msg(occupancy.limits[r] == expected[r], "%s: %s allow %d blocks", lesson->id,
                          wt_resource_name(r), occupancy.limits[r]);
    ck_assert_int_eq(occupancy.blocks_per_sm, lesson->blocks);
    ck_assert_double_eq_tol(100 * occupancy.occupancy, lesson->percent, 1e-9);
    wt_occupancy(&limits, &needs, &occupancy, NULL);
    int real = lesson->real_by_shared ? lesson->real_by_shared : lesson->by_shared;
    if (real)
        ck_assert_msg(occupancy.limits[SHARED] == real, "%s: really %d", lesson->id,
                      occupancy.limits[SHARED]);
}
END_TEST

START_TEST(textbook_limiters)
{
    struct wt_limits limits = lesson_device(&lessons[0]);
    struct wt_launch_needs needs = needs_of(256, 64, 20480);
    struct wt_occupancy occupancy;
    wt_occupancy_idealised(&limits, &needs, &occupancy, NULL);
    expect_limiters(&occupancy, "L1a", "shared_memory", WT_RES_COUNT);
    ck_assert_int_eq(occupancy.warps_per_sm, 24);
    limits = lesson_device(&lessons[12]);
    needs = needs_of(128, 32, 8192);
    wt_occupancy_idealised(&limits, &needs, &occupancy, NULL);
    expect_limiters(&occupancy, "L4a", "shared_memory", WT_RES_COUNT);
    ck_assert_int_eq(occupancy.warps_per_sm * 32, 1536);
}
END_TEST

/* L1c: more than a block may have; L3a: a T4 is full at every block size. */
START_TEST(textbook_launches)
{
    struct wt_limits limits = lesson_device(&lessons[4]);
    struct wt_launch_needs needs = needs_of(128, 32, 65537);
    struct wt_occupancy occupancy;
    ck_assert_int_eq(wt_occupancy_idealised(&limits, &needs, &occupancy, NULL), WT_BAD_INPUT);
    ck_assert_int_eq(occupancy.blocks_per_sm, 0);
    limits = limits_of("t4");
    for (int threads = 64; threads <= 1024; threads *= 2) {
        needs = needs_of(threads, 16, 0);
        ck_assert_int_eq(wt_occupancy(&limits, &needs, &occupancy, NULL), WT_OK);
        ck_assert_double_eq(occupancy.occupancy, 1.0);
    }
}
END_TEST

START_TEST(waves)
{
    ck_assert_double_eq(wt_waves(1056, 132, 8), 1.0);
    ck_assert_double_eq(wt_waves(10, 4, 1), 2.5);
    ck_assert_double_eq(wt_waves(10, 4, 0), 0.0);
    ck_assert_double_eq_tol(wt_waves(16384, 132, 32), 3.88, 0.005); /* Nsight Compute, fma_b64 on the H200 */
    ck_assert_double_eq_tol(wt_waves(16384, 132, 4), 31.03, 0.005);
}
END_TEST

/* Clusters seen at once on the H200 (clpack_*: 1 block per SM; cluster*_ds100k: 2; cluster*_b128: 16 would
 * fit). */
START_TEST(active_clusters)
{
    static const struct {
        int size, blocks_per_sm, expected;
    } rows[] = {{2, 1, 66},  {3, 1, 39},   {4, 1, 30},   {5, 1, 22},   {6, 1, 17},  {7, 1, 15}, {8, 1, 15},
                {9, 1, 9},   {10, 1, 7},   {12, 1, 7},   {16, 1, 7},   {2, 2, 132}, {4, 2, 62}, {8, 2, 30},
                {16, 2, 14}, {2, 16, 528}, {4, 16, 248}, {8, 16, 124}, {16, 16, 58}};
    struct wt_gpu *gpu;
    ck_assert_int_eq(wt_gpu_load("h200", &gpu, NULL), WT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_int_eq(wt_active_clusters(&gpu->topology, rows[i].size, rows[i].blocks_per_sm, NULL),
                         rows[i].expected);
    int sms;
    wt_active_clusters(&gpu->topology, 8, 1, &sms);
    ck_assert_int_eq(sms, 124);
    wt_active_clusters(&gpu->topology, 16, 1, &sms);
    ck_assert_int_eq(sms, 116);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(impossible_launches_say_why)
{
    struct wt_limits limits = limits_of("h200");
    static const struct {
        struct wt_launch_needs needs;
        const char *says;
    } cases[] = {
        {{.threads = 0, .carveout_kb = -1}, "at least 1"},
        {{.threads = 1025, .carveout_kb = -1}, "1024"},
        {{.threads = 32, .registers_per_thread = 257, .carveout_kb = -1}, "257 registers"},
        {{.threads = 1024, .registers_per_thread = 65, .carveout_kb = -1}, "needs 73728"},
        {{.threads = 32, .dynamic_shared_bytes = 232449, .carveout_kb = -1}, "232448"},
        {{.threads = 32,
          .static_shared_bytes = INT32_MAX,
          .dynamic_shared_bytes = INT32_MAX,
          .carveout_kb = -1},
         "232448"},
        {{.threads = 32, .barriers = 65, .carveout_kb = -1}, "barriers"},
        {{.threads = 32, .carveout_kb = 229}, "228 KB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_occupancy occupancy;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_occupancy(&limits, &cases[i].needs, &occupancy, &err), WT_BAD_INPUT);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "'%s' lacks '%s'", err.text, cases[i].says);
    }
}
END_TEST

/* --- NVIDIA's arithmetic --- */
#ifdef HAVE_CUDA_OCCUPANCY

enum { CONFIGURATIONS = 1200000 };

/* Every compute capability the project knows; the header knows 3.x and 10.1 besides. */
static const struct {
    int major, minor;
} capabilities[] = {{5, 0}, {5, 2}, {5, 3}, {6, 0}, {6, 1},  {6, 2},  {7, 0},  {7, 2},  {7, 5}, {8, 0},
                    {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {11, 0}, {12, 0}, {12, 1}};

enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };

struct question {
    int capability;
    struct wt_launch_needs needs; /* carveout_kb is made from `percent` */
    int percent;                  /* preferred carve-out; -1: none */
    bool opted_in;                /* the program allows itself the largest dynamic shared memory */
};

static struct wt_limits all_limits[CAPABILITIES];

static void load_all_limits(void)
{
    for (int i = 0; i < CAPABILITIES; i++) {
        char *name = wt_format("cc%d.%d", capabilities[i].major, capabilities[i].minor);
        all_limits[i] = limits_of(name);
        free(name);
    }
}

static cudaOccResult ask_nvidia(const struct question *q)
{
    const struct wt_limits *l = &all_limits[q->capability];
    struct cudaOccDeviceProp device = {
        .computeMajor = capabilities[q->capability].major,
        .computeMinor = capabilities[q->capability].minor,
        .maxThreadsPerBlock = l->threads_per_block,
        .maxThreadsPerMultiprocessor = l->threads_per_sm,
        .regsPerBlock = l->registers_per_block,
        .regsPerMultiprocessor = l->registers_per_sm,
        .warpSize = 32,
        .sharedMemPerBlock = (size_t)l->shared_bytes_per_block,
        .sharedMemPerMultiprocessor = (size_t)l->shared_bytes_per_sm,
        .numSms = 1,
        .sharedMemPerBlockOptin = (size_t)l->shared_bytes_per_block_opt_in,
        .reservedSharedMemPerBlock = (size_t)l->shared_reserved_bytes,
    };
    struct cudaOccFuncAttributes function = {
        .maxThreadsPerBlock = INT_MAX,
        .numRegs = q->needs.registers_per_thread,
        .sharedSizeBytes = (size_t)q->needs.static_shared_bytes,
        .shmemLimitConfig = q->opted_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT,
        .maxDynamicSharedSizeBytes = (size_t)q->needs.dynamic_shared_bytes,
        .numBlockBarriers = q->needs.barriers,
    };
    struct cudaOccDeviceState state = {.carveoutConfig = q->percent};
    cudaOccResult result = {0};
    cudaOccError status = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &device, &function, &state, q->needs.threads, (size_t)q->needs.dynamic_shared_bytes);
    if (status != CUDA_OCC_SUCCESS)
        ck_abort_msg("NVIDIA's arithmetic gives error %d", status);
    return result;
}

static struct wt_occupancy ask_us(const struct question *q)
{
    struct wt_limits limits = all_limits[q->capability];
    if (!q->opted_in)
        limits.shared_bytes_per_block_opt_in = limits.shared_bytes_per_block;
    struct wt_launch_needs needs = q->needs;
    if (q->percent >= 0)
        needs.carveout_kb = (q->percent * limits.shared_bytes_per_sm / 100 + 1023) / 1024;
    struct wt_occupancy occupancy;
    if ((wt_occupancy(&limits, &needs, &occupancy, NULL) == WT_OK) != (occupancy.blocks_per_sm > 0))
        ck_abort_msg("a launch of %d blocks per SM is judged otherwise", occupancy.blocks_per_sm);
    return occupancy;
}

/* NVIDIA's flags are those of the minimum without barriers; if barriers lower it further, barriers are added
 * but the others stay. Ours are those of the minimum. */
static unsigned our_flags(const struct wt_occupancy *ours, const cudaOccResult *nvidia)
{
    static const unsigned flags[WT_RES_COUNT] = {OCC_LIMIT_BLOCKS, OCC_LIMIT_WARPS, OCC_LIMIT_REGISTERS,
                                                 OCC_LIMIT_SHARED_MEMORY, OCC_LIMIT_BARRIERS};
    unsigned set = 0, without_barriers = 0;
    int minimum = INT_MAX;
    for (int r = 0; r < WT_RES_BARRIERS; r++)
        minimum = ours->limits[r] < minimum ? ours->limits[r] : minimum;
    for (int r = 0; r < WT_RES_COUNT; r++) {
        set |= ours->limiter[r] ? flags[r] : 0;
        without_barriers |= r != WT_RES_BARRIERS && ours->limits[r] == minimum ? flags[r] : 0;
    }
    bool lowered = nvidia->blockLimitBarriers < minimum;
    return lowered ? set | without_barriers : set;
}

static int bounded(int nvidia_limit)
{
    return nvidia_limit == INT_MAX ? WT_UNLIMITED : nvidia_limit;
}

static void compare(const struct question *q)
{
    cudaOccResult nvidia = ask_nvidia(q);
    struct wt_occupancy ours = ask_us(q);
    const int expected[WT_RES_COUNT] = {nvidia.blockLimitBlocks, nvidia.blockLimitWarps,
                                        bounded(nvidia.blockLimitRegs), bounded(nvidia.blockLimitSharedMem),
                                        bounded(nvidia.blockLimitBarriers)};
    bool same = ours.blocks_per_sm == nvidia.activeBlocksPerMultiprocessor &&
                our_flags(&ours, &nvidia) == nvidia.limitingFactors &&
                !memcmp(ours.limits, expected, sizeof expected);
    if (!same)
        ck_abort_msg(
            "cc %d.%d, %d threads, %d registers, %d + %d bytes, carve-out %d %%, %d barriers, opted in %d: "
            "%d blocks (NVIDIA %d); limits %d %d %d %d %d (NVIDIA %d %d %d %d %d); NVIDIA's flags %#x",
            capabilities[q->capability].major, capabilities[q->capability].minor, q->needs.threads,
            q->needs.registers_per_thread, q->needs.static_shared_bytes, q->needs.dynamic_shared_bytes,
            q->percent, q->needs.barriers, q->opted_in, ours.blocks_per_sm,
            nvidia.activeBlocksPerMultiprocessor, ours.limits[0], ours.limits[1], ours.limits[2],
            ours.limits[3], ours.limits[4], expected[0], expected[1], expected[2], expected[3], expected[4],
            nvidia.limitingFactors);
}

static int one_of(struct wt_random *random, const int *values, uint32_t count)
{
    return values[wt_random_below(random, count)];
}

static int around(struct wt_random *random, uint32_t below)
{
    return (int)wt_random_below(random, below);
}

/* One in three from the edges, else anything. */
static struct question random_question(struct wt_random *random)
{
    static const int threads[] = {1, 31, 32, 33, 64, 96, 127, 128, 256, 512, 768, 1023, 1024, 1025};
    static const int registers[] = {0, 1, 8, 9, 16, 24, 32, 33, 40, 64, 65, 128, 168, 254, 255, 256, 257};
    struct question q = {.capability = around(random, CAPABILITIES),
                         .opted_in = wt_random_below(random, 4) > 0};
    const struct wt_limits *l = &all_limits[q.capability];
    int opt_in = l->shared_bytes_per_block_opt_in, block = l->shared_bytes_per_block,
        reserved = l->shared_reserved_bytes;
    const int shared[] = {0, 1, 127, 128, 129, 255, 256, 1024, /* units and their neighbours, then limits */
                          block - reserved, block - reserved + 1, block - 1, block, block + 1,
                          opt_in / 2 - reserved, opt_in / 2, opt_in - 1, opt_in, opt_in + 1};
    enum { SHARED_EDGES = sizeof shared / sizeof *shared };
    bool edge = wt_random_below(random, 3) == 0;
    q.needs = (struct wt_launch_needs){
        .threads =
            edge ? one_of(random, threads, sizeof threads / sizeof *threads) : 1 + around(random, 1024),
        .registers_per_thread = edge ? one_of(random, registers, sizeof registers / sizeof *registers)
                                     : around(random, wt_random_below(random, 2) ? 64 : 258),
        .static_shared_bytes =
            wt_random_below(random, 2) ? 0 : around(random, (uint32_t)(edge ? block : 8192)),
        .dynamic_shared_bytes =
            edge ? one_of(random, shared, SHARED_EDGES)
                 : around(random, wt_random_below(random, 2) ? 20000 : (uint32_t)opt_in + 2000),
        .carveout_kb = WT_CARVEOUT_DEFAULT,
        .barriers = around(random, wt_random_below(random, 2) ? 3 : 20),
    };
    q.percent = wt_random_below(random, 2) ? -1 : around(random, 101);
    return q;
}

START_TEST(nvidias_arithmetic)
{
    load_all_limits();
    struct wt_random random = wt_random_stream(1, "occupancy", 0);
    for (int i = 0; i < CONFIGURATIONS; i++) {
        struct question q = random_question(&random);
        compare(&q);
    }
}
END_TEST

/* Every block size with every register count, and every carve-out with every multiple of 64 bytes. */
START_TEST(nvidias_arithmetic_everywhere)
{
    load_all_limits();
    struct question q = {.opted_in = true};
    for (q.capability = 0; q.capability < CAPABILITIES; q.capability++) {
        q.percent = -1;
        q.needs = needs_of(1, 0, 0);
        for (q.needs.threads = 1; q.needs.threads <= 1025; q.needs.threads += q.needs.threads < 65 ? 1 : 32)
            for (q.needs.registers_per_thread = 0; q.needs.registers_per_thread <= 257;
                 q.needs.registers_per_thread++)
                compare(&q);
        q.needs = needs_of(128, 32, 0);
        for (q.percent = -1; q.percent <= 100; q.percent += 3)
            for (q.needs.dynamic_shared_bytes = 0; q.needs.dynamic_shared_bytes < 240000;
                 q.needs.dynamic_shared_bytes += 640 + q.percent)
                compare(&q);
    }
}
END_TEST
#endif

Suite *occupancy_suite(void)
{
    Suite *suite = suite_create("occupancy");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, public_cases, 0, CASES);
    tcase_add_loop_test(tcase, public_cases_configuration, 0, CASES);
    tcase_add_loop_test(tcase, textbook_examples, 0, LESSONS);
    tcase_add_test(tcase, textbook_limiters);
    tcase_add_test(tcase, textbook_launches);
    tcase_add_test(tcase, waves);
    tcase_add_test(tcase, active_clusters);
    tcase_add_test(tcase, impossible_launches_say_why);
    suite_add_tcase(suite, tcase);
#ifdef HAVE_CUDA_OCCUPANCY
    TCase *oracle = tcase_create("oracle");
    tcase_set_timeout(oracle, 180);
    tcase_add_test(oracle, nvidias_arithmetic);
    tcase_add_test(oracle, nvidias_arithmetic_everywhere);
    suite_add_tcase(suite, oracle);
#endif
    return suite;
}
