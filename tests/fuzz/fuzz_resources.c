/* Whatever the text, the reader of what ptxas and cuobjdump say of kernels returns kernels or a message. */
#include <stdint.h>
#include <stdlib.h>

#include "warp/resources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wt_resources *all;
    struct wt_error err = {0};
    enum wt_code code = wt_resources_read_memory("fuzz", data, size, &all, &err);
    if ((code == WT_OK) != (all != NULL) || (code == WT_OK) != (err.text[0] == '\0'))
        abort();
    for (size_t i = 0; all && i < all->count; i++) {
        const struct wt_kernel_resources *kernel = &all->kernels[i];
        if (kernel->registers < 0 || kernel->registers > 255 || kernel->static_shared_bytes < 0 || kernel->stack_bytes < 0)
            abort();
    }
    wt_resources_free(all);
    return 0;
}
