#include "dispatch/front_end.h"

static wt_time next(void *context)
{
    const struct wt_serial *serial = context;
    return serial->next < serial->count ? serial->ready : WT_NEVER;
}

static uint32_t take(void *context)
{
    struct wt_serial *serial = context;
    serial->ready = WT_NEVER;
    return serial->next++;
}

static void done(void *context, uint32_t kernel, wt_time end)
{
    struct wt_serial *serial = context;
    (void)kernel;
    serial->ready = end + serial->gap;
}

struct wt_front_end wt_serial_front_end(struct wt_serial *serial, size_t kernel_count, wt_time gap)
{
    *serial = (struct wt_serial){.count = (uint32_t)kernel_count, .gap = gap};
    return (struct wt_front_end){.context = serial, .next = next, .take = take, .done = done};
}
