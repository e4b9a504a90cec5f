/* Of dispatch/run.c and dispatch/tell.c alone: tells observers what happens, and watches why. The latter only where the engine
 * is watched. `id` is a block's place. */
#ifndef WT_DISPATCH_TELL_H
#define WT_DISPATCH_TELL_H

#include "dispatch/engine.h"

void wt_tell_begin(const struct wt_engine *engine, const struct wt_grid *grid);
void wt_tell_block(const struct wt_engine *engine, uint32_t id, wt_time end);
void wt_tell_end(const struct wt_engine *engine, const struct wt_grid *grid);

void wt_tell_arrived(const struct wt_engine *engine, uint32_t launch);
void wt_tell_heads(const struct wt_engine *engine);
void wt_tell_waits(const struct wt_engine *engine);
void wt_tell_ended(const struct wt_engine *engine, uint32_t id, wt_time end);
void wt_tell_known(const struct wt_engine *engine, uint32_t id, wt_time ready);
void wt_tell_handed_out(const struct wt_engine *engine, uint32_t id, wt_time earliest);
void wt_tell_started(const struct wt_engine *engine, uint32_t id);

#endif
