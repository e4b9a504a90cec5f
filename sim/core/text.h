/* Small questions about text. */
#ifndef WT_CORE_TEXT_H
#define WT_CORE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* The candidate most like `word` (edit distance at most a third of its length, at least 1), or NULL. */
const char *wt_nearest(const char *word, const char *const *candidates, size_t count);

/* Prints `text` in lines of at most `width` columns (bytes), broken at spaces, each after `indent` spaces. */
void wt_print_wrapped(FILE *stream, int indent, int width, const char *text);

/* Length in bytes (1..4) of the UTF-8 sequence at `text`, or 0 when it is not valid. A NUL counts as valid. */
size_t wt_utf8_length(const char *text);

#endif
