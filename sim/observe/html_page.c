#include "observe/html_page.h"

/* The file's bytes and a NUL. */
#define EMBED(symbol, file)                                                                                  \
    __asm__(".section .rodata\n.globl " #symbol "\n" #symbol ":\n.incbin \"" WT_SOURCE_ROOT "/sim/observe/" file \
            "\"\n.byte 0\n.previous\n")

EMBED(wt_html_body, "page.html");
EMBED(wt_html_script, "page.js");
