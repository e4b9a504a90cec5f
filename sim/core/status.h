/* Errors: a status code, plus a message that says where, what and what to do. */
#ifndef WT_CORE_STATUS_H
#define WT_CORE_STATUS_H

/* The values are the command's exit codes. */
enum wt_code {
    WT_OK = 0,
    WT_BAD_INPUT = 1, /* a file or value the user gave is wrong, or cannot be read or written */
    WT_BAD_USAGE = 2, /* the command line is wrong */
    WT_DEADLOCK = 3   /* the simulated programs wait for each other for ever */
};

/* Owned by the caller; zero-initialise it. `text` is empty while no error happened. */
struct wt_error {
    enum wt_code code;
    char text[1024];
};

/* Records the message (first error wins: later calls on a failed `err` keep the first) and returns `code`.
 * `err` may be NULL when only the code matters. */
enum wt_code wt_fail(struct wt_error *err, enum wt_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As wt_fail with WT_BAD_INPUT, and "FILE:LINE: " in front ("FILE: " when line is 0). */
enum wt_code wt_fail_at(struct wt_error *err, const char *file, long line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Propagates a failure to the caller. */
#define WT_TRY(call)                                                                                         \
    do {                                                                                                     \
        enum wt_code wt_try_code_ = (call);                                                                  \
        if (wt_try_code_ != WT_OK)                                                                           \
            return wt_try_code_;                                                                             \
    } while (0)

#endif
