/* The playing head: where the view is in the run, and how fast it moves. Units are cycles and seconds of the wall. */
#ifndef VIEW_PLAYBACK_H
#define VIEW_PLAYBACK_H

#include <stdbool.h>

struct playback {
    double now;       /* cycles */
    double end;       /* cycles; the head stops there */
    double speed;     /* cycles per second, from 1 */
    double real_time; /* the speed that is real time: cycles per second of the GPU's clock */
    bool playing;
};

/* A run of `end` cycles, to be over in about `seconds`; clock_mhz 0: 1000 is assumed. */
struct playback playback_new(double end, double clock_mhz, double seconds);
void playback_advance(struct playback *playback, double seconds);
/* Starts or stops; at the end it begins anew. */
void playback_toggle(struct playback *playback);
/* Clamped to the run. */
void playback_go(struct playback *playback, double cycles);
/* Doubles (steps > 0) or halves the speed, within 1 cycle/s and real time; speeds are 1, 2, 5 times powers of ten. */
void playback_change_speed(struct playback *playback, int steps);

#endif
