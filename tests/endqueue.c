/* Do running blocks come out by (end, id), whatever the spread of their durations? */
#include <stdbool.h>

#include "core/random.h"
#include "dispatch/endqueue.h"
#include "suites.h"

enum { CAPACITY = 300, STEPS = 30000 };

/* What the queue should hold, unsorted; the least is found by looking at all. */
struct model {
    struct wt_running held[CAPACITY];
    size_t count;
};

static size_t least(const struct model *model)
{
    size_t best = 0;
    for (size_t i = 1; i < model->count; i++) {
        const struct wt_running *a = &model->held[i], *b = &model->held[best];
        if (a->end < b->end || (a->end == b->end && a->id < b->id))
            best = i;
    }
    return best;
}

/* Each regime is an extreme for a calendar: everything at once, a day's length far too short or too long, a few ends
 * years ahead, a rate that changes a millionfold. */
static wt_time draw_duration(struct wt_random *r, int regime, int step)
{
    switch (regime) {
    case 0:
        return 1000;
    case 1:
        return wt_random_below(r, 3);
    case 2:
        return 1 + ((wt_time)wt_random_u32(r) << wt_random_below(r, 20));
    case 3:
        return wt_random_below(r, 100) ? 500 + wt_random_below(r, 100) : (wt_time)1 << 50;
    default:
        return wt_random_below(r, 50) + ((step / 7000) % 2 ? (wt_time)wt_random_u32(r) << 10 : 0);
    }
}

START_TEST(earliest_comes_first)
{
    struct wt_random r = wt_random_stream(1, "endqueue", (uint64_t)_i);
    struct wt_endqueue queue;
    struct model model = {.count = 0};
    wt_time now = 0;
    wt_endqueue_init(&queue, CAPACITY);
    for (int step = 0; step < STEPS; step++) {
        ck_assert_uint_eq(queue.count, model.count);
        bool full = model.count == CAPACITY, draining = step % 5000 > 4000;
        if (model.count > 0 && (full || wt_random_below(&r, 100) < (draining ? 80 : 45))) {
            size_t best = least(&model);
            ck_assert_uint_eq(wt_endqueue_next(&queue), model.held[best].end);
            struct wt_running running = wt_endqueue_pop(&queue);
            ck_assert_uint_eq(running.end, model.held[best].end);
            ck_assert_uint_eq(running.id, model.held[best].id);
            now = running.end;
            model.held[best] = model.held[--model.count];
        } else {
            struct wt_running running = {now + draw_duration(&r, _i, step), wt_random_below(&r, 1 << 16)};
            model.held[model.count++] = running;
            wt_endqueue_push(&queue, running);
        }
    }
    wt_endqueue_free(&queue);
}
END_TEST

START_TEST(empty_queue_never_ends)
{
    struct wt_endqueue queue;
    wt_endqueue_init(&queue, 1);
    ck_assert_uint_eq(wt_endqueue_next(&queue), WT_NEVER);
    wt_endqueue_push(&queue, (struct wt_running){(wt_time)1 << 62, 7});
    ck_assert_uint_eq(wt_endqueue_next(&queue), (wt_time)1 << 62);
    ck_assert_uint_eq(wt_endqueue_pop(&queue).id, 7);
    ck_assert_uint_eq(wt_endqueue_next(&queue), WT_NEVER);
    wt_endqueue_push(&queue, (struct wt_running){3, 8}); /* earlier than anything before */
    ck_assert_uint_eq(wt_endqueue_pop(&queue).id, 8);
    wt_endqueue_free(&queue);
}
END_TEST

Suite *endqueue_suite(void)
{
    Suite *suite = suite_create("endqueue");
    TCase *tcase = tcase_create("endqueue");
    tcase_add_loop_test(tcase, earliest_comes_first, 0, 5);
    tcase_add_test(tcase, empty_queue_never_ends);
    suite_add_tcase(suite, tcase);
    return suite;
}
