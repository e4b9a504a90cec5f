/* Numbers as people read them; the same in summaries and pictures. Independent of the locale. Every function
 * writes to `text` (WT_WORDS bytes) and returns it. */
#ifndef WT_OBSERVE_WORDS_H
#define WT_OBSERVE_WORDS_H

#include <stdint.h>

enum { WT_WORDS = 64 };

/* 1234567 -> "1,234,567". */
char *wt_words_count(char *text, uint64_t count);
/* Whole from 1000 on, below that at most two decimals: "20,071", "61.25". >= 0. */
char *wt_words_number(char *text, double value);
/* The same with " cycles". */
char *wt_words_cycles(char *text, double cycles);
/* "830 ns", "20.83 µs", "1.204 ms", "3.118 s". */
char *wt_words_us(char *text, double us);

#endif
