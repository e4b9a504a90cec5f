/* The reference kernels by name: what each does, without CUDA, so that experiment lists can be checked anywhere. */
#ifndef CAPTURE_CATALOG_H
#define CAPTURE_CATALOG_H

#include <string>

struct KernelInfo {
    const char *name;
    const char *what; /* with the unit of `work` */
    int max_threads;  /* per block */
    int tile;         /* > 0: block must be tile × tile */
    bool queue;       /* persistent: needs tasks */
    bool body;        /* its blocks can also be taken from a queue */
};

extern const KernelInfo catalog[];
extern const int catalog_size;

/* Index in the catalog; -1 = no such kernel. */
int find_kernel(const std::string &name);

#endif
