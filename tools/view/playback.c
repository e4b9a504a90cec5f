#include "playback.h"

#include <math.h>

/* 1, 2, 5, 10, 20, … */
static double nice_speed(int step)
{
    static const double mantissas[] = {1, 2, 5};
    return mantissas[step % 3] * pow(10, step / 3);
}

static int step_below(double speed)
{
    int step = 0;
    while (nice_speed(step + 1) <= speed * 1.000001)
        step++;
    return step;
}

struct playback playback_new(double end, double clock_mhz, double seconds)
{
    struct playback playback = {.end = end, .real_time = (clock_mhz > 0 ? clock_mhz : 1000) * 1e6};
    playback.speed = fmin(nice_speed(step_below(fmax(end / seconds, 1))), playback.real_time);
    return playback;
}

void playback_advance(struct playback *playback, double seconds)
{
    if (!playback->playing)
        return;
    playback->now += playback->speed * seconds;
    if (playback->now < playback->end)
        return;
    playback->now = playback->end;
    playback->playing = false;
}

void playback_toggle(struct playback *playback)
{
    if (!playback->playing && playback->now >= playback->end)
        playback->now = 0;
    playback->playing = !playback->playing;
}

void playback_go(struct playback *playback, double cycles)
{
    playback->now = fmin(fmax(cycles, 0), playback->end);
}

void playback_change_speed(struct playback *playback, int steps)
{
    bool between = nice_speed(step_below(playback->speed)) < playback->speed * 0.999999;
    int step = step_below(playback->speed) + steps + (steps < 0 && between ? 1 : 0);
    playback->speed = fmin(nice_speed(step < 0 ? 0 : step), playback->real_time);
}
