/* What the user can ask for, each with its key: one table that drives the keyboard, scripts, tips and the help. */
#ifndef VIEW_KEYS_H
#define VIEW_KEYS_H

#include <stddef.h>

/* Keys that are not letters; letters and signs are their own code (lower case). */
enum {
    KEY_LEFT = 0x100, KEY_RIGHT, KEY_UP, KEY_DOWN, KEY_HOME, KEY_END, KEY_PAGE_UP, KEY_PAGE_DOWN,
    KEY_ENTER, KEY_ESCAPE, KEY_BACKSPACE, KEY_TAB, KEY_F9, KEY_F11, KEY_F12
};

/* Name, key, second key (0 = none), group, help. */
#define ACTION_LIST(X)                                                                                               \
    X(play, ' ', 0, "Time", "play or pause")                                                                         \
    X(next_event, '.', KEY_RIGHT, "Time", "next start or end; of the pinned block's SM if one is pinned")            \
    X(previous_event, ',', KEY_LEFT, "Time", "previous start or end")                                                \
    X(faster, KEY_UP, 0, "Time", "play faster, up to real time")                                                     \
    X(slower, KEY_DOWN, 0, "Time", "play slower, down to 1 cycle a second")                                          \
    X(to_begin, KEY_HOME, 0, "Time", "go to the first start")                                                        \
    X(to_end, KEY_END, 0, "Time", "go to the last end")                                                              \
    X(to_tail, 'e', 0, "Time", "go to the moment at which the queue is empty")                                       \
    X(go_to, 'g', 0, "Time", "go to a time or a block: 12000, 6.5us, 40%, #128")                                     \
    X(mark, 'm', 0, "Time", "set marker A, then B; their difference is shown")                                       \
    X(zoom_in, 'w', 0, "Timeline", "zoom in at the mouse (also the wheel)")                                          \
    X(zoom_out, 's', 0, "Timeline", "zoom out")                                                                      \
    X(pan_left, 'a', 0, "Timeline", "earlier (also Shift and the wheel, or dragging)")                               \
    X(pan_right, 'd', 0, "Timeline", "later")                                                                        \
    X(fit, 'f', 0, "Timeline", "fit the selected range, the pinned block, or everything")                            \
    X(taller, '+', '=', "Timeline", "taller rows (also Ctrl and the wheel)")                                         \
    X(flatter, '-', 0, "Timeline", "flatter rows")                                                                   \
    X(collapse, 'h', 0, "Timeline", "collapse every GPC into one row, or open them again")                           \
    X(follow, 'l', 0, "Timeline", "let the timeline follow the playing head")                                        \
    X(page_overview, '1', 0, "Views", "floor and timeline")                                                          \
    X(page_floor, '2', 0, "Views", "floor")                                                                          \
    X(page_timeline, '3', 0, "Views", "timeline")                                                                    \
    X(page_sm, '4', 0, "Views", "one SM opened up (also a double click on it)")                                      \
    X(next_sm, ']', KEY_PAGE_DOWN, "Views", "next SM")                                                               \
    X(previous_sm, '[', KEY_PAGE_UP, "Views", "previous SM")                                                         \
    X(swap_run, 'b', 0, "Views", "show the other run")                                                               \
    X(compare, 'v', KEY_TAB, "Views", "compare: one run, side by side, overlaid")                                    \
    X(colour, 'c', 0, "Views", "colour by kernel, stream, age, limiter, block, duration, start error")               \
    X(resource, 'r', 0, "Views", "fill SMs by slots, warps, registers, shared memory")                               \
    X(search, '/', 0, "Looking closer", "search and filter blocks")                                                  \
    X(next_match, 'n', 0, "Looking closer", "next match")                                                            \
    X(previous_match, 'p', 0, "Looking closer", "previous match")                                                    \
    X(why, 'y', 0, "Looking closer", "why is this block not running?")                                               \
    X(whatif, 'x', 0, "Looking closer", "what if: block size, registers, shared memory, order, GPU")                 \
    X(facts, 'i', 0, "Looking closer", "facts of the block, or of the run")                                          \
    X(range, 'k', 0, "Looking closer", "figures of the selected range (drag on the ruler), and what limits")         \
    X(panel, 'o', 0, "Looking closer", "show or hide the panel")                                                     \
    X(lesson_next, KEY_ENTER, 0, "Lesson", "go on: play, the next case, the answer")                                  \
    X(lesson_back, KEY_BACKSPACE, 0, "Lesson", "back")                                                               \
    X(theme, 't', 0, "Window", "light or dark")                                                                      \
    X(hatching, 'j', 0, "Window", "patterns beside colours")                                                         \
    X(larger, '0', 0, "Window", "larger letters")                                                                    \
    X(smaller, '9', 0, "Window", "smaller letters")                                                                  \
    X(units, 'u', 0, "Window", "cycles or microseconds")                                                             \
    X(record, KEY_F9, 0, "Window", "start or stop recording a video")                                                \
    X(fullscreen, KEY_F11, 0, "Window", "the whole screen")                                                          \
    X(screenshot, KEY_F12, 0, "Window", "save a picture")                                                            \
    X(escape, KEY_ESCAPE, 0, "Window", "close, unpin, clear the selection; then the search")                         \
    X(help, '?', 0, "Window", "this help")                                                                           \
    X(quit, 'q', 0, "Window", "quit")

#define ACTION_ENUM(name, key, second, group, help) ACTION_##name,
enum action { ACTION_LIST(ACTION_ENUM) ACTIONS };
#undef ACTION_ENUM

struct binding {
    const char *name; /* for scripts */
    int key, second;
    const char *group, *help;
};

extern const struct binding bindings[ACTIONS];

/* ACTIONS: no action has this key. */
enum action key_action(int key);
/* ACTIONS: there is no such name. */
enum action action_by_name(const char *name);
/* The code of "a", "Left", "F12", "Space", …; 0 when there is none. */
int key_by_name(const char *name);
/* For people: "W", "Space", "→". At most 15 bytes. */
const char *key_text(int key, char text[16]);
/* "play or pause (Space)", for tips. */
const char *action_tip(enum action action, char *text, size_t size);

#endif
