/* Do the shipped GPUs load, say where every number comes from, and put every SM where it belongs? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/param.h"
#include "gpu/gpu.h"
#include "scratch.h"
#include "suites.h"

static struct wt_gpu *load(const char *name)
{
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_msg(wt_gpu_load(name, &gpu, &err) == WT_OK, "%s", err.text);
    return gpu;
}

/* A GPU from "base = BASE" and further text; NULL with `err` filled when that is wrong. */
static struct wt_gpu *derive(const char *base, const char *text, struct wt_error *err)
{
    struct wt_gpu *gpu;
    char *whole = wt_format("base = \"%s\";\n%s", base, text);
    *err = (struct wt_error){0};
    wt_gpu_parse(whole, strlen(whole), "t.cfg", &gpu, err);
    free(whole);
    return gpu;
}

static void assert_refused(const char *base, const char *text, const char *message)
{
    struct wt_error err;
    struct wt_gpu *gpu = derive(base, text, &err);
    ck_assert_msg(gpu == NULL, "accepted: %s", text);
    ck_assert_str_eq(err.text, message);
}

static void free_list(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static void check_sources(const struct wt_gpu *gpu)
{
    static const char *const kinds[] = {"measured: ", "documented: ", "assumed: "};
    const struct wt_record *record = wt_gpu_record(gpu);
    for (size_t i = 0; i < record->count; i++) {
        const char *key = record->table[i].key, *source = record->origins[i].source;
        if (!record->origins[i].given || !strcmp(key, "base") || !strcmp(key, "name")) /* no claims about hardware */
            continue;
        bool good = false;
        for (int k = 0; k < 3 && source; k++)
            good |= !strncmp(source, kinds[k], strlen(kinds[k])) && strlen(source) > strlen(kinds[k]) + 8;
        ck_assert_msg(good, "%s: source of %s is: %s", gpu->key, key, source ? source : "missing");
    }
}

static void check_topology(const struct wt_gpu *gpu)
{
    const struct wt_topology *t = &gpu->topology;
    int seen = 0;
    for (int g = 0; g < t->group_count; g++) {
        ck_assert_int_ge(t->groups[g].sm_count, 1);
        for (int k = 0; k < t->groups[g].sm_count; k++, seen++) {
            int sm = t->groups[g].sms[k];
            ck_assert_int_eq(t->group_of_sm[sm], g);
            ck_assert_int_eq(t->rank_in_group[sm], k);
        }
    }
    ck_assert_int_eq(seen, t->sm_count);
    for (int sm = 0; sm < t->sm_count; sm++) {
        ck_assert_int_lt(t->gpc_of_sm[sm], t->gpc_count);
        ck_assert_int_lt(t->tpc_of_sm[sm], t->tpc_count);
        if (sm && t->tpc_of_sm[sm] == t->tpc_of_sm[sm - 1])
            ck_assert_int_eq(t->group_of_sm[sm], t->group_of_sm[sm - 1]);
    }
}

START_TEST(every_shipped_gpu_loads_and_states_its_sources)
{
    char **names;
    size_t count;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_list(true, &names, &count, &err), WT_OK);
    ck_assert_uint_ge(count, 19 + 17); /* the rows of the two reference tables */
    for (size_t i = 0; i < count; i++) {
        struct wt_gpu *gpu = load(names[i]);
        ck_assert_str_eq(gpu->key, names[i]);
        check_sources(gpu);
        check_topology(gpu);
        wt_gpu_free(gpu);
    }
    free_list(names, count);
}
END_TEST

START_TEST(bare_capabilities_are_listed_only_on_request)
{
    char **names;
    size_t all, without;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_list(true, &names, &all, &err), WT_OK);
    int bare = 0;
    for (size_t i = 0; i < all; i++) {
        bare += !strncmp(names[i], "cc", 2);
        ck_assert(names[i][0] != '_');
        ck_assert(i == 0 || strverscmp(names[i - 1], names[i]) < 0);
    }
    free_list(names, all);
    ck_assert_int_eq(bare, 19);
    ck_assert_int_eq(wt_gpu_list(false, &names, &without, &err), WT_OK);
    ck_assert_uint_eq(without, all - 19);
    free_list(names, without);
}
END_TEST

/* SM counts as in vendors' documents and public reports; the splits' sums follow. */
START_TEST(sm_counts_are_the_published_ones)
{
    static const struct { const char *key; int sms, groups, largest; } published[] = {
        {"t4", 40, 3, 14}, {"v100-sxm2", 80, 6, 14}, {"a100-sxm-80gb", 108, 7, 16}, {"rtx3090", 82, 7, 12},
        {"rtx4090", 128, 11, 12}, {"l4", 58, 4, 16}, {"l40s", 142, 12, 12}, {"h100-sxm", 132, 9, 18},
        {"h100-pcie", 114, 7, 18}, {"h200", 132, 9, 18}, {"h20", 78, 5, 16}, {"b200", 148, 11, 20},
        {"b300", 148, 11, 20}, {"rtx5090", 170, 11, 16}, {"rtx-pro-6000", 188, 12, 16}, {"rtx5070ti", 70, 6, 12},
        {"rtx3060", 28, 2, 14}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        struct wt_gpu *gpu = load(published[i].key);
        int largest = 0;
        for (int g = 0; g < gpu->topology.group_count; g++)
            largest = gpu->topology.groups[g].sm_count > largest ? gpu->topology.groups[g].sm_count : largest;
        ck_assert_int_eq(gpu->topology.sm_count, published[i].sms);
        ck_assert_int_eq(gpu->topology.tpc_count, published[i].sms / 2);
        ck_assert_int_eq(gpu->topology.group_count, published[i].groups);
        ck_assert_int_eq(largest, published[i].largest);
        wt_gpu_free(gpu);
    }
}
END_TEST

/* Facts of the hardware notes: sizes, the extra group, and who shares its clock. */
START_TEST(h200_is_arranged_as_measured)
{
    struct wt_gpu *gpu = load("h200");
    const struct wt_topology *t = &gpu->topology;
    static const int sizes[] = {8, 16, 16, 16, 16, 16, 18, 18, 8};
    for (int g = 0; g < 9; g++)
        ck_assert_int_eq(t->groups[g].sm_count, sizes[g]);
    ck_assert_int_eq(t->extra_group, 8);
    for (int sm = 124; sm < 132; sm++) {
        ck_assert_int_eq(t->group_of_sm[sm], 8);
        ck_assert_int_eq(t->gpc_of_sm[sm], t->gpc_of_sm[49]);
    }
    ck_assert_int_eq(t->gpc_count, 8);
    ck_assert_int_eq(t->group_of_sm[0], t->group_of_sm[17]);
    ck_assert_int_ne(t->group_of_sm[0], t->group_of_sm[2]);
    ck_assert_double_eq_tol(gpu->rates.report_cycles, 1 / 0.84, 0.01); /* 0.84 blocks a cycle */
    ck_assert_double_eq_tol(wt_curve_at(&gpu->rates.launch_cycles, 32), 98, 0.5);
    ck_assert_double_eq_tol(wt_curve_at(&gpu->rates.tpc_lag_cycles, 1), 7, 0.5);
    ck_assert_int_eq(gpu->rates.extra_first_gap, 5);
    ck_assert_int_eq(gpu->rates.extra_gap, 6);
    ck_assert_ptr_eq(strstr(wt_gpu_source(gpu, "rates.report_cycles"), "measured: "),
                     wt_gpu_source(gpu, "rates.report_cycles"));
    ck_assert_ptr_null(wt_gpu_source(gpu, "rates.no_such_key"));
    wt_gpu_free(gpu);
}
END_TEST

/* The rule "TPC k goes to the next group with room, the extra group takes the last" gives the measured lists. */
START_TEST(sizes_alone_give_the_measured_h200_groups)
{
    struct wt_gpu *listed = load("h200"), *sized = load("h100-sxm");
    ck_assert_int_eq(sized->topology.group_count, listed->topology.group_count);
    for (int g = 0; g < 9; g++)
        for (int k = 0; k < listed->topology.groups[g].sm_count; k++)
            ck_assert_int_eq(sized->topology.groups[g].sms[k], listed->topology.groups[g].sms[k]);
    wt_gpu_free(listed);
    wt_gpu_free(sized);
}
END_TEST

START_TEST(sm_ids_go_round_groups_of_unequal_size)
{
    struct wt_error err;
    struct wt_gpu *gpu = derive("cc9.0", "topology = { sm_count = 12; group_sizes = [2, 6, 4]; };", &err);
    ck_assert_msg(gpu != NULL, "%s", err.text);
    static const int expected[] = {0, 0, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1};
    for (int sm = 0; sm < 12; sm++) {
        ck_assert_int_eq(gpu->topology.group_of_sm[sm], expected[sm]);
        ck_assert_int_eq(gpu->topology.gpc_of_sm[sm], expected[sm]);
    }
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(explicit_groups_keep_their_visiting_order)
{
    struct wt_error err;
    struct wt_gpu *gpu = derive("cc9.0", "topology = { sm_count = 6; groups = ([4, 5, 0, 1], [2, 3]); gpc_sizes = "
                                         "[6]; };", &err);
    ck_assert_msg(gpu != NULL, "%s", err.text);
    static const int order[] = {4, 5, 0, 1};
    for (int k = 0; k < 4; k++)
        ck_assert_int_eq(gpu->topology.groups[0].sms[k], order[k]);
    ck_assert_int_eq(gpu->topology.rank_in_group[0], 2);
    ck_assert_int_eq(gpu->topology.gpc_count, 1);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(wrong_arrangements_are_refused)
{
    const char *t = "cc9.0";
    assert_refused(t, "topology = { sm_count = 4;\n groups = ([0, 1], [1, 2, 3]); };",
                   "t.cfg:3: 'topology.groups' names SM 1 twice; every SM is in exactly one list");
    assert_refused(t, "topology = { sm_count = 4;\n groups = ([0, 1], [2]); };",
                   "t.cfg:3: 'topology.groups' leaves out SM 3; every SM is in exactly one list");
    assert_refused(t, "topology = { sm_count = 4;\n groups = ([0, 1], [2, 3, 4]); };",
                   "t.cfg:3: 'topology.groups' names SM 4, but the GPU has SMs 0 to 3; correct topology.sm_count or "
                   "the list");
    assert_refused(t, "topology = { sm_count = 4;\n groups = ([0, 2], [1, 3]); };",
                   "t.cfg:3: 'topology.groups' parts SMs 0 and 1, which are one TPC; keep them together");
    assert_refused(t, "topology = { sm_count = 4;\n groups = ([0, 1, 2, 3], []); };",
                   "t.cfg:3: list 1 of 'topology.groups' is empty; remove it");
    assert_refused(t, "topology = { sm_count = 6;\n group_sizes = [2, 2]; };",
                   "t.cfg:3: 'topology.group_sizes' adds up to 4, but topology.sm_count is 6; correct one, or give []");
    assert_refused(t, "topology = { sm_count = 6;\n group_sizes = [3, 3]; };",
                   "t.cfg:3: 'topology.group_sizes' has 3, which is no whole number of TPCs of 2 SMs");
    assert_refused("h200", "topology = {\n group_sizes = [66, 66]; };",
                   "t.cfg:3: both 'topology.groups' and 'topology.group_sizes' are given; set one of them to []");
    assert_refused(t, "topology = { sm_count = 4;\n extra_group = 1; };",
                   "t.cfg:3: 'topology.extra_group' is 1, but groups are 0 to 0; correct it, or give -1");
    assert_refused(t, "topology = {\n sm_count = 1025; };",
                   "t.cfg:3: 'topology.sm_count' = 1025 is out of range; give 1 to 1024");
}
END_TEST

START_TEST(limits_that_contradict_each_other_are_refused)
{
    static const struct { const char *limit, *what; } wrong[] = {
        {"warps_per_sm = 62", "'limits.warps_per_sm' must be a multiple of limits.subcores"},
        {"threads_per_sm = 2047", "'limits.threads_per_sm' must be 32 times limits.warps_per_sm"},
        {"threads_per_block = 2049", "'limits.threads_per_block' exceeds limits.threads_per_sm"},
        {"registers_per_sm = 65537", "'limits.registers_per_sm' must be a multiple of limits.subcores times "
                                     "limits.register_unit"},
        {"registers_per_block = 65537", "'limits.registers_per_block' exceeds limits.registers_per_sm"},
        {"shared_bytes_per_sm = 233473", "'limits.shared_bytes_per_sm' must be a multiple of "
                                         "limits.shared_unit_bytes"},
        {"shared_bytes_per_block = 232449", "'limits.shared_bytes_per_block' exceeds "
                                            "limits.shared_bytes_per_block_opt_in"},
        {"shared_bytes_per_block_opt_in = 232449", "'limits.shared_bytes_per_block_opt_in' with "
                                                   "limits.shared_reserved_bytes exceeds limits.shared_bytes_per_sm"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[128], message[256];
        snprintf(text, sizeof text, "limits = {\n %s; };", wrong[i].limit);
        snprintf(message, sizeof message, "t.cfg:3: %s; correct one of them", wrong[i].what);
        assert_refused("cc9.0", text, message);
    }
    assert_refused("cc9.0", "limits = {\n carveouts_kb = [0, 64, 32, 228]; };",
                   "t.cfg:3: 'limits.carveouts_kb' must rise; sort it");
    assert_refused("cc9.0", "limits = {\n carveouts_kb = [0, 64]; };",
                   "t.cfg:3: the largest of 'limits.carveouts_kb', 64 KB, is not limits.shared_bytes_per_sm, 233472; "
                   "make them agree");
}
END_TEST

START_TEST(capabilities_are_two_numbers)
{
    static const char *const wrong[] = {"9", "", "9.", "nine", "9.0x", "-9.0", "9.-1", "123456.0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[64], message[128];
        snprintf(text, sizeof text, "compute_capability = \"%s\";", wrong[i]);
        snprintf(message, sizeof message, "t.cfg:2: 'compute_capability' is \"%s\"; give e.g. \"9.0\"", wrong[i]);
        assert_refused("cc9.0", text, message);
    }
}
END_TEST

START_TEST(unknown_names_suggest_near_ones)
{
    static const struct { const char *name, *near; } cases[] = {
        {"h2000", "no GPU 'h2000'; did you mean 'h200'?"},
        {"A100", "no GPU 'A100'; did you mean 'a100-sxm-80gb'?"},
        {"H100", "no GPU 'H100'; did you mean 'h100-pcie', 'h100-sxm'?"},
        {"quantum", "no GPU 'quantum'; 'wavetail gpus' lists all"},
        {"", "no GPU ''"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wt_gpu *gpu;
        struct wt_error err = {0};
        ck_assert_int_eq(wt_gpu_load(cases[i].name, &gpu, &err), WT_BAD_INPUT);
        ck_assert_ptr_null(gpu);
        ck_assert_msg(!strncmp(err.text, cases[i].near, strlen(cases[i].near)), "%s", err.text);
    }
}
END_TEST

/* ---- Files that name others; a scratch folder set as $WAVETAIL_CONFIGS ---- */

static void set_up(void)
{
    scratch_enter();
    setenv("WAVETAIL_CONFIGS", scratch, 1);
}

static void tear_down(void)
{
    scratch_leave();
    unsetenv("WAVETAIL_CONFIGS");
}

START_TEST(a_base_is_read_first_and_overridden)
{
    scratch_write("a.cfg", "base = \"b\"; clock_mhz = 1000;");
    scratch_write("b.cfg", "base = \"c.cfg\"; name = \"B\"; clock_mhz = { value = 500; source = \"measured: b\"; };");
    scratch_write("c.cfg", "base = \"h200\"; name = \"C\"; memory_gbs = 7;");
    struct wt_gpu *gpu = load("a");
    ck_assert_str_eq(gpu->key, "a");
    ck_assert_str_eq(gpu->name, "B");
    ck_assert_double_eq(gpu->clock_mhz, 1000);
    ck_assert_ptr_null(wt_gpu_source(gpu, "clock_mhz"));
    ck_assert_double_eq(gpu->memory_gbs, 7);
    ck_assert_int_eq(gpu->topology.sm_count, 132);
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(bases_that_lead_in_a_circle_are_refused)
{
    scratch_write("a.cfg", "base = \"b.cfg\";");
    scratch_write("b.cfg", "\nbase = \"c\";");
    scratch_write("c.cfg", "\n\nbase = \"./b.cfg\";");
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_load("a", &gpu, &err), WT_BAD_INPUT);
    char *message = wt_format("%s/c.cfg:3: base './b.cfg' leads in a circle; name another", scratch);
    ck_assert_str_eq(err.text, message);
    free(message);
    scratch_write("b.cfg", "base = \"nowhere\";");
    struct wt_error missing = {0};
    ck_assert_int_eq(wt_gpu_load("a", &gpu, &missing), WT_BAD_INPUT);
    message = wt_format("%s/b.cfg:1: base: no GPU 'nowhere'", scratch);
    ck_assert_msg(!strncmp(missing.text, message, strlen(message)), "%s", missing.text);
    free(message);
}
END_TEST

/* One's own h200.cfg may refine the shipped one only by path, since its name is its own. */
START_TEST(own_folder_comes_first)
{
    scratch_write("h200.cfg", "base = \"h200\";");
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_load("h200", &gpu, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "h200.cfg:1: base 'h200' leads in a circle; name another"));
    scratch_write("h200.cfg", "base = \"h100-sxm\"; name = \"mine\";");
    gpu = load("h200");
    ck_assert_str_eq(gpu->name, "mine");
    wt_gpu_free(gpu);
}
END_TEST

START_TEST(errors_name_the_file_they_are_in)
{
    scratch_write("a.cfg", "base = \"b.cfg\";\nclok_mhz = 5;");
    scratch_write("b.cfg", "base = \"cc9.0\";\n\nrates = { reprt_cycles = 1; };");
    struct wt_gpu *gpu;
    struct wt_error err = {0};
    ck_assert_int_eq(wt_gpu_load("a", &gpu, &err), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "/b.cfg:3: unknown key 'reprt_cycles'; did you mean 'report_cycles'?"));
    scratch_write("b.cfg", "base = \"cc9.0\";");
    struct wt_error later = {0};
    ck_assert_int_eq(wt_gpu_load("a", &gpu, &later), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(later.text, "/a.cfg:2: unknown key 'clok_mhz'; did you mean 'clock_mhz'?"));
    scratch_write("a.cfg", "name = \"x\";");
    struct wt_error missing = {0};
    ck_assert_int_eq(wt_gpu_load("a", &gpu, &missing), WT_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(missing.text, "/a.cfg: 'compute_capability' is missing"));
}
END_TEST

Suite *gpu_suite(void)
{
    Suite *suite = suite_create("gpu");
    TCase *shipped = tcase_create("shipped"), *chains = tcase_create("chains");
    tcase_add_test(shipped, every_shipped_gpu_loads_and_states_its_sources);
    tcase_add_test(shipped, bare_capabilities_are_listed_only_on_request);
    tcase_add_test(shipped, sm_counts_are_the_published_ones);
    tcase_add_test(shipped, h200_is_arranged_as_measured);
    tcase_add_test(shipped, sizes_alone_give_the_measured_h200_groups);
    tcase_add_test(shipped, sm_ids_go_round_groups_of_unequal_size);
    tcase_add_test(shipped, explicit_groups_keep_their_visiting_order);
    tcase_add_test(shipped, wrong_arrangements_are_refused);
    tcase_add_test(shipped, limits_that_contradict_each_other_are_refused);
    tcase_add_test(shipped, capabilities_are_two_numbers);
    tcase_add_test(shipped, unknown_names_suggest_near_ones);
    tcase_add_checked_fixture(chains, set_up, tear_down);
    tcase_add_test(chains, a_base_is_read_first_and_overridden);
    tcase_add_test(chains, bases_that_lead_in_a_circle_are_refused);
    tcase_add_test(chains, own_folder_comes_first);
    tcase_add_test(chains, errors_name_the_file_they_are_in);
    suite_add_tcase(suite, shipped);
    suite_add_tcase(suite, chains);
    return suite;
}
