#include "observe/html_page.h"

/* The file's bytes and a NUL. */
#define EMBED(symbol, file)                                                                                  \
    __asm__(".section .rodata\n.globl " #symbol "\n" #symbol ":\n.incbin \"" WT_SOURCE_ROOT "/sim/observe/" file \
            "\"\n.byte 0\n.previous\n")

EMBED(wt_html_body, "page.html");
EMBED(wt_html_data, "page_data.js");
EMBED(wt_html_words, "page_words.js");
EMBED(wt_html_draw, "page_draw.js");
EMBED(wt_html_move, "page_move.js");

extern const char wt_html_data[], wt_html_words[], wt_html_draw[], wt_html_move[];
const char *const wt_html_scripts[WT_HTML_SCRIPTS] = {wt_html_data, wt_html_words, wt_html_draw, wt_html_move};
