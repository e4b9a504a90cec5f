/* wavetail-sweep-mpi: what `wavetail sweep` becomes under mpirun; the only part that knows MPI.
 *
 * Rank 0 hands points out on demand and keeps the book; the others compute. Nothing waits for a rank in particular, and when
 * nothing is left to hand out, points that have been given away but not come back are given away again: a row is
 * the same whoever computes it, so a rank that died costs only the time of what it was at. When nobody has been heard of for long,
 * rank 0 computes, too. Messages are short, so that none is ever half sent. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "sweep.h"

enum { TAG_ROW, TAG_ASK, TAG_BYE, TAG_POINTS, TAG_LEAVE };
enum { CHUNK = 16 };                       /* most points given to a rank's thread at once */
static const double least_patience = 2;    /* seconds of silence after which rank 0 does a point itself */
static const double farewell_patience = 3; /* and after which a rank that has not said goodbye counts as dead */

static const double answer_patience = 300; /* and after which the others count rank 0 as dead, which may be at a point itself */

struct row_message {
    uint64_t point; /* and the text follows */
    char text[];
};

static double now(void)
{
    return MPI_Wtime();
}

/* ---- Ranks that compute ---- */

static void send_row(uint64_t point, const char *row)
{
    size_t size = sizeof(struct row_message) + strlen(row) + 1;
    struct row_message *message = wt_alloc(1, size);
    message->point = point;
    memcpy(message->text, row, strlen(row) + 1);
    MPI_Send(message, (int)size, MPI_BYTE, 0, TAG_ROW, MPI_COMM_WORLD);
    free(message);
}

/* Whether rank 0 answers; else it must be dead. */
static bool await(int tag)
{
    int there = 0;
    for (double since = now(); !there && now() - since < answer_patience;) {
        MPI_Iprobe(0, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there)
            nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return there;
}

/* The points given by rank 0; 0: there are no more. */
static int ask(int threads, uint64_t **points)
{
    MPI_Status status;
    int count;
    *points = NULL;
    MPI_Send(&threads, 1, MPI_INT, 0, TAG_ASK, MPI_COMM_WORLD);
    if (!await(TAG_POINTS))
        return 0;
    MPI_Probe(0, TAG_POINTS, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    *points = wt_alloc((size_t)count, sizeof **points);
    MPI_Recv(*points, count, MPI_UINT64_T, 0, TAG_POINTS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return count;
}

static enum wt_code compute(const struct sweep_work *work, struct wt_error *err)
{
    uint64_t *points;
    (void)err;
    for (int count; (count = ask(work->threads, &points)) > 0; free(points)) {
        size_t *numbers = wt_alloc((size_t)count, sizeof *numbers);
        char **rows = wt_alloc((size_t)count, sizeof *rows);
        for (int i = 0; i < count; i++)
            numbers[i] = points[i];
        sweep_rows(work->sweep, numbers, (size_t)count, work->threads, rows);
        for (int i = 0; i < count; i++) {
            send_row(points[i], rows[i]);
            free(rows[i]);
        }
        free(rows);
        free(numbers);
    }
    free(points);
    return WT_OK;
}

/* ---- Rank 0 ---- */

struct lead {
    const struct sweep_work *work;
    size_t count, next;  /* points; from which on none has been given away */
    size_t again;        /* where to look for one to be given away again */
    int helpers, gone;
    bool *has_gone; /* by rank: has said goodbye */
    double heard, longest; /* last message; longest time between a message and the next */
    struct wt_error *err;
};

static bool is_done(const struct lead *lead, size_t point)
{
    return wt_sweep_book_row(lead->work->book, point) != NULL;
}

/* A point that has not come back; lead->count: all have. */
static size_t unfinished(struct lead *lead)
{
    for (size_t looked = 0; looked < lead->count; looked++) {
        size_t point = lead->again++ % lead->count;
        if (!is_done(lead, point))
            return point;
    }
    return lead->count;
}

static size_t fresh(struct lead *lead)
{
    while (lead->next < lead->count && is_done(lead, lead->next))
        lead->next++;
    return lead->next < lead->count ? lead->next++ : lead->count;
}

/* The fewer are left, the fewer at once, so that all end together. */
static void give(struct lead *lead, int rank, int threads)
{
    uint64_t *points = wt_alloc((size_t)threads * CHUNK, sizeof *points);
    size_t share = (lead->count - lead->next) / (size_t)(4 * lead->helpers);
    size_t most = (size_t)threads * CHUNK, wanted = share < (size_t)threads ? (size_t)threads : share > most ? most : share;
    size_t count = 0;
    for (size_t point; count < wanted && (point = fresh(lead)) < lead->count;)
        points[count++] = point;
    size_t point;
    if (count == 0 && (point = unfinished(lead)) < lead->count)
        points[count++] = point;
    MPI_Send(points, (int)count, MPI_UINT64_T, rank, TAG_POINTS, MPI_COMM_WORLD);
    free(points);
}

static enum wt_code keep(struct lead *lead, size_t point, const char *row)
{
    if (point >= lead->count || is_done(lead, point))
        return WT_OK;
    WT_TRY(wt_sweep_book_add(lead->work->book, point, wt_strdup(row), lead->err));
    progress_step(lead->work->progress);
    return WT_OK;
}

static enum wt_code take(struct lead *lead, const MPI_Status *status)
{
    int size;
    MPI_Get_count(status, MPI_BYTE, &size);
    struct row_message *message = wt_alloc(1, (size_t)size + 1);
    MPI_Recv(message, size, MPI_BYTE, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    enum wt_code code = WT_OK;
    if (status->MPI_TAG == TAG_ROW)
        code = keep(lead, message->point, message->text);
    else if (status->MPI_TAG == TAG_ASK)
        give(lead, status->MPI_SOURCE, *(const int *)(const void *)message);
    else {
        lead->gone++;
        lead->has_gone[status->MPI_SOURCE] = true;
    }
    free(message);
    return code;
}

/* One message, where there is one; else a nap. */
static enum wt_code listen(struct lead *lead, bool *heard)
{
    MPI_Status status;
    int there;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    *heard = there;
    if (!there) {
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        return WT_OK;
    }
    double silence = now() - lead->heard;
    lead->longest = silence > lead->longest ? silence : lead->longest;
    lead->heard += silence;
    return take(lead, &status);
}

static enum wt_code do_one(struct lead *lead)
{
    size_t point = unfinished(lead);
    char *row = wt_sweep_row(lead->work->sweep, point);
    enum wt_code code = keep(lead, point, row);
    free(row);
    return code;
}

static struct lead the_lead;

static enum wt_code hand_out(const struct sweep_work *work, struct wt_error *err)
{
    struct lead *lead = &the_lead;
    lead->work = work;
    lead->count = wt_sweep_count(work->sweep);
    lead->heard = now();
    lead->err = err;
    while (wt_sweep_book_done(work->book) < lead->count) {
        bool heard;
        WT_TRY(listen(lead, &heard));
        double patience = 3 * lead->longest > least_patience ? 3 * lead->longest : least_patience;
        if (!heard && (lead->helpers == 0 || now() - lead->heard > patience))
            WT_TRY(do_one(lead));
    }
    return WT_OK;
}

/* Until every rank has said goodbye, or is silent for so long that it must be dead: whether all have. */
static bool dismiss(void)
{
    struct lead *lead = &the_lead;
    double patience = 4 * lead->longest > farewell_patience ? 4 * lead->longest : farewell_patience;
    lead->count = lead->next = 0; /* nothing is left to give away, and what comes is not wanted any more */
    lead->heard = now();
    while (lead->gone < lead->helpers && now() - lead->heard < patience) {
        bool heard;
        listen(lead, &heard);
    }
    return lead->gone == lead->helpers;
}

/* MPI_Finalize would wait for the dead, and MPI_Abort sometimes lets Open MPI's mpirun hang: then all leave without. */
static void leave(bool together, int code)
{
    if (together) {
        MPI_Finalize();
        return;
    }
    fflush(NULL);
    _exit(code);
}

/* Tells those who are there how to leave. */
static void send_home(bool together)
{
    int how = together;
    for (int rank = 1; rank <= the_lead.helpers; rank++)
        if (the_lead.has_gone[rank])
            MPI_Send(&how, 1, MPI_INT, rank, TAG_LEAVE, MPI_COMM_WORLD);
    if (!together)
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL); /* until the messages are through */
}

static int end_lead(enum wt_code code)
{
    bool together = dismiss();
    if (!together && code == WT_OK)
        fprintf(stderr, "%d of %d processes died; the others did their points, and the table is complete\n",
                the_lead.helpers - the_lead.gone, the_lead.helpers + 1);
    send_home(together);
    free(the_lead.has_gone);
    leave(together, (int)code);
    return (int)code;
}

static int end_helper(int rank, enum wt_code code)
{
    int together = 0;
    MPI_Send(&rank, 1, MPI_INT, 0, TAG_BYE, MPI_COMM_WORLD);
    if (await(TAG_LEAVE))
        MPI_Recv(&together, 1, MPI_INT, 0, TAG_LEAVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    leave(together, (int)code);
    return (int)code;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    the_lead.helpers = size - 1;
    the_lead.has_gone = wt_alloc((size_t)size, sizeof *the_lead.has_gone);
    struct sweep_workers workers = {.rank = rank, .default_threads = 1, .work = rank == 0 ? hand_out : compute};
    struct wt_error err = {0};
    enum wt_code code = sweep_main(argc, argv, &workers, &err);
    if (rank == 0 && err.text[0])
        fprintf(stderr, "%s\n", err.text);
    return rank > 0 ? end_helper(rank, code) : end_lead(code);
}
