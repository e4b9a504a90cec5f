/* The words of a program text: splitting it, mnemonics, keys. Internal to warp/text.h. */
#ifndef WT_WARP_TEXT_WORDS_H
#define WT_WARP_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warp/assemble.h"

/* ---- Splitting ---- */

/* Words are separated by blanks and commas; braces are words of their own. Copying it remembers a place. */
struct wt_tokens {
    const char *at, *end; /* what is left of the text */
    long line;
    char text[160]; /* the present line without comment and blanks at its ends, shortened where it is long */
    char word[160]; /* lower case; what peek and take return */
};

struct wt_tokens wt_tokens_begin(const char *text, size_t size);

/* The next word of the present line, NULL at its end; take moves on behind it. Valid until the next call. */
const char *wt_tokens_peek(struct wt_tokens *words);
const char *wt_tokens_take(struct wt_tokens *words);

/* Moves on behind `expected` if it comes next in the present line, not followed by a letter or digit if it ends in one. */
bool wt_tokens_accept(struct wt_tokens *words, const char *expected);

/* Moves on behind the number that comes next in the present line. */
bool wt_tokens_number(struct wt_tokens *words, double *value);

/* Moves on by `count` characters of the next word. */
void wt_tokens_skip(struct wt_tokens *words, size_t count);

/* Goes to the next line that has words, if the present one has none left. False at the end of the text. */
bool wt_tokens_more(struct wt_tokens *words);

/* ---- Instructions ---- */

struct wt_mnemonic {
    const char *name;
    enum wt_op op;
    enum wt_space space; /* of memory */
    enum wt_access_kind kind;
    bool has_result;
    uint16_t interval; /* where it differs from the class's; 0: it does not */
};

/* By the word's part in front of the first dot; NULL: there is none. */
const struct wt_mnemonic *wt_mnemonic_of(const char *word);

/* The first of that class, and for memory of that space and kind; NULL: there is none. */
const struct wt_mnemonic *wt_mnemonic_for(enum wt_op op, enum wt_space space, enum wt_access_kind kind);

/* One being read. */
struct wt_instruction_text {
    const struct wt_mnemonic *mnemonic;
    struct wt_instruction instruction;
    struct wt_operands operands;
    bool gave_stall, gave_boards;
    int width, stride, lanes; /* stride -1: the width */
    double lines, sectors, bytes, ways; /* -1: from the stride */
    double l1_hit, l2_hit, footprint_mib, words, dirty;
    bool scattered;
};

/* Defaults of the mnemonic, and what the word's dots say. */
void wt_text_begin(struct wt_instruction_text *t, const char *word);

struct wt_access wt_text_access(const struct wt_instruction_text *t);

struct wt_text_key {
    const char *name, *help;
    double low, high;
    void (*set)(struct wt_instruction_text *t, double value);
    bool of_memory, is_flag, is_boards;
    bool of_control; /* of branches and the like only */
};

const struct wt_text_key *wt_text_key(const char *name);
bool wt_is_flag(const char *word);

/* "0+2" as a mask. */
bool wt_text_boards(const char *text, uint8_t *mask);

const char *wt_text_nearest_mnemonic(const char *word);
const char *wt_text_nearest_key(const char *word);

#endif
