/* Small questions about text. */
#ifndef WT_CORE_TEXT_H
#define WT_CORE_TEXT_H

#include <stddef.h>

/* The candidate most like `word` (edit distance at most a third of its length, at least 1), or NULL. */
const char *wt_nearest(const char *word, const char *const *candidates, size_t count);

#endif
