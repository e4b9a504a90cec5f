/* What a kernel takes of an SM, from what the compiler prints: `nvcc -Xptxas -v` or `cuobjdump -res-usage`. */
#ifndef WT_WARP_RESOURCES_H
#define WT_WARP_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

enum { WT_SHARED_RESERVED = 1024 }; /* bytes; cuobjdump adds them to a kernel's own from compute capability 9.0 on */

struct wt_kernel_resources {
    char *name;       /* mangled; owned */
    int architecture; /* 90 for sm_90; 0: not stated */
    int registers;    /* per thread */
    int static_shared_bytes;
    int stack_bytes;  /* per thread */
    int spill_store_bytes, spill_load_bytes; /* per thread; -1: not stated (cuobjdump) */
    int barriers;     /* -1: not stated (cuobjdump) */
    long line;
};

struct wt_resources {
    struct wt_kernel_resources *kernels; /* owned; at least one; functions that are no kernels left out */
    size_t count, capacity;
    bool reserved_taken_off; /* where no architecture is stated and each kernel has at least the reserved bytes */
};

/* Streams the file, plain or zstd. A kernel that stands twice for one architecture is as it stands last. On failure *out is
 * NULL. */
enum wt_code wt_resources_read(const char *path, struct wt_resources **out, struct wt_error *err);
enum wt_code wt_resources_read_memory(const char *name, const void *data, size_t size, struct wt_resources **out,
                                      struct wt_error *err);

/* NULL is allowed. */
void wt_resources_free(struct wt_resources *resources);

#endif
