/* What the benchmarks measure with. */
#ifndef WT_BENCH_MEASURE_H
#define WT_BENCH_MEASURE_H

#include <stdio.h>
#include <time.h>

/* Processor time of this process, seconds. */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The most memory the process has held, in MB (/proc/self/status, VmHWM). */
static inline double peak_mb(void)
{
    FILE *stream = fopen("/proc/self/status", "r");
    char line[256];
    double kb = 0;
    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "VmHWM: %lf", &kb) == 1)
            break;
    if (stream)
        fclose(stream);
    return kb / 1024;
}

#endif
