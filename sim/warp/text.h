/* Kernel programs as text files (configs/workloads/NAME.wtp): one instruction a line, in SASS's words, with registers;
 * or blocks in braces. `#` begins a comment.
 *
 *     work 2000                   # a block's `work` where the launch gives none
 *     ldg r3, [r8] l1=0.9 l2=1    # result in R3, address from R8; hit rates
 *     loop work / 16 {
 *         repeat 16 { ffma r10, r10, r11 }      # written out 16 times
 *         isetp p1, r9
 *     }
 *     if 0.25 both=0.5 { mufu r4, r4 } else { fadd r4, r4 }
 *     first-warp { stg [r8], r10 }
 *     bar
 *     exit
 *
 * Statements:
 *     work N
 *     loop COUNT [per block] { … }    COUNT: N, work, N * work, work / N, each with + N or - N; uniform A B; geometric MEAN
 *     repeat N { … }
 *     if P [both=Q] { … } [else { … }]    P: the whole warp takes the first path; Q: it diverges and takes both
 *     first-warp { … }                only the block's first warp
 *     NAME:                           a label
 *     bra NAME [chance=P | trips=COUNT | later-warps | never]
 *     [@p0] MNEMONIC operands key=value …
 * Mnemonics are SASS's (what follows a dot sets the width of memory accesses and is ignored otherwise) or a class's name
 * (`wt_text_print_reference`). The first operand is the result, save for stores, barriers and branches; further ones are
 * read. R0 … R254, P0 … P6, UR0 … UR62; anything else (numbers, RZ, c[0][4]) is no register.
 * Keys: active=P (of executions in which a predicated instruction does something), latency=CYCLES, interval=CYCLES;
 * control bits as in SASS, worked out from the registers where not given: stall=N, wait=0+2, write=N, read=N, yield;
 * of memory: width=BYTES per thread, stride=BYTES from thread to thread, lanes=N, or lines=N sectors=N directly;
 * ways=N (passes through the banks; of global atomics: threads that meet in one address), l1=P, l2=P (hit rates),
 * footprint=MIB, words=N (that all of the grid's atomics meet in), dirty=P (of what is stored), scattered.
 *
 * What wt_text_write makes of other programs (SASS) says it all: `control given` (nothing is worked out from registers), and
 * branches in the form of warp/program.h, whose loops and splits are declared by number:
 *     count K COUNT [per block]       split K Q
 *     bra NAME loop=K | skip=K | split=K chance=P | unite=K */
#ifndef WT_WARP_TEXT_H
#define WT_WARP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "core/status.h"
#include "warp/program.h"

enum { WT_TEXT_MOST_BYTES = 16 << 20 };

/* Reads and checks a program; it is named after the file. On failure *out is NULL and `err` says FILE:LINE: what, and
 * what to do. */
enum wt_code wt_text_read(const char *path, struct wt_program **out, struct wt_error *err);

/* The same from `size` bytes in memory; `path` names them in messages. */
enum wt_code wt_text_parse(const char *text, size_t size, const char *path, struct wt_program **out, struct wt_error *err);

/* The program as such a text, which read again is the same program, names apart. The texts of its instructions become
 * comments, behind their places in hexadecimal if `has_addresses`. */
void wt_text_write(const struct wt_program *program, bool has_addresses, FILE *stream);

/* Statements, mnemonics and keys, for --help. */
void wt_text_print_reference(FILE *stream);

#endif
