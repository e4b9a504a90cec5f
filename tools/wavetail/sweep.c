/* wavetail sweep: in threads; under mpirun wavetail-sweep-mpi, from beside this program or from the path, takes over. */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

static const char mpi_program[] = "wavetail-sweep-mpi";

static enum wt_code work_in_threads(const struct sweep_work *work, struct wt_error *err)
{
    enum wt_code code = WT_OK;
    size_t count = wt_sweep_count(work->sweep);
#pragma omp parallel for schedule(dynamic, 1) num_threads(work->threads)
    for (size_t i = 0; i < count; i++) {
        enum wt_code seen;
#pragma omp atomic read
        seen = code;
        if (seen != WT_OK || wt_sweep_book_row(work->book, i))
            continue;
        char *row = wt_sweep_row(work->sweep, i);
#pragma omp critical(sweep_book)
        {
            enum wt_code added = wt_sweep_book_add(work->book, i, row, err);
            progress_step(work->progress);
            if (added != WT_OK) {
#pragma omp atomic write
                code = added;
            }
        }
    }
    return code;
}

/* Open MPI, MPICH and Slurm say so in the environment. */
static bool under_mpirun(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *size = getenv(sizes[i]);
        if (size && atoi(size) > 1)
            return true;
    }
    return false;
}

/* Returns only when it fails. */
static enum wt_code become_mpi(char **argv, struct wt_error *err)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    char *beside = slash ? wt_format("%.*s/%s", (int)(slash - self), self, mpi_program) : wt_strdup(mpi_program);
    execv(beside, argv);
    execvp(mpi_program, argv);
    free(beside);
    return wt_fail(err, WT_BAD_INPUT, "%s cannot be started (%s); it is built where mpicc is: run tools/setup.sh, then make",
                   mpi_program, strerror(errno));
}

static enum wt_code run(int argc, char **argv, struct wt_error *err)
{
    static const struct sweep_workers threads = {.work = work_in_threads};
    if (under_mpirun())
        return become_mpi(argv, err);
    return sweep_main(argc, argv, &threads, err);
}

const struct command sweep_command = {
    .name = "sweep", .summary = "simulate the many points of a study, in parallel", .run = run};
