#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>

static void record(struct wt_error *err, enum wt_code code, const char *place, const char *format, va_list args)
{
    if (!err || err->code != WT_OK)
        return;
    err->code = code;
    int used = snprintf(err->text, sizeof err->text, "%s", place);
    if (used >= 0 && (size_t)used < sizeof err->text)
        vsnprintf(err->text + used, sizeof err->text - (size_t)used, format, args);
}

enum wt_code wt_fail(struct wt_error *err, enum wt_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(err, code, "", format, args);
    va_end(args);
    return code;
}

enum wt_code wt_fail_at(struct wt_error *err, const char *file, long line, const char *format, ...)
{
    char place[512];
    if (line > 0)
        snprintf(place, sizeof place, "%s:%ld: ", file, line);
    else
        snprintf(place, sizeof place, "%s: ", file);
    va_list args;
    va_start(args, format);
    record(err, WT_BAD_INPUT, place, format, args);
    va_end(args);
    return WT_BAD_INPUT;
}
