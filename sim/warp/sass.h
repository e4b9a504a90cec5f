/* The text of `cuobjdump -sass`, compute capability 7.0 and up: instructions of 128 bits, of which the upper ones tell the
 * scheduler what to wait for. The layout of those bits has not changed from 7.0 to 12.0. */
#ifndef WT_WARP_SASS_H
#define WT_WARP_SASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lines.h"
#include "core/status.h"

enum { WT_SASS_BYTES = 16, WT_SASS_MOST = 1 << 19 }; /* of an instruction; instructions of a function */
#define WT_SASS_NO_TARGET UINT32_MAX

/* Bits 105 to 125 of the encoding. */
struct wt_sass_control {
    uint8_t stall;        /* cycles until the warp's next instruction, 0 … 15 */
    bool yield;           /* bit 109 is clear */
    uint8_t write_board;  /* scoreboard of the result, 0 … 5; 7: none */
    uint8_t read_board;   /* scoreboard of the operands' reading */
    uint8_t wait_boards;  /* bit mask */
    uint8_t reuse;        /* bit mask of operand slots kept in the reuse cache */
};

struct wt_sass_instruction {
    uint32_t address; /* bytes from the function's start */
    long line;        /* in the file */
    char *text;       /* opcode and operands, without the guard; owned */
    char opcode[16];  /* up to the first '.' */
    bool guarded;     /* @P…: executed by the threads whose predicate holds. @PT is not a guard */
    uint32_t target;  /* the address named last, of BRA, CALL, BSSY, …; WT_SASS_NO_TARGET: none */
    struct wt_sass_control control;
};

struct wt_sass_function {
    char *name; /* as in the file, mangled; owned */
    long line;
    struct wt_sass_instruction *instructions; /* by address, without gaps; owned */
    size_t count, capacity;
};

struct wt_sass {
    int architecture; /* 90 for sm_90; 0: not stated */
    struct wt_sass_function *functions; /* owned; at least one */
    size_t count, capacity;
};

/* Streams the file, plain or zstd. On failure *out is NULL. */
enum wt_code wt_sass_read(const char *path, struct wt_sass **out, struct wt_error *err);
enum wt_code wt_sass_read_memory(const char *name, const void *data, size_t size, struct wt_sass **out,
                                 struct wt_error *err);

/* NULL is allowed. */
void wt_sass_free(struct wt_sass *sass);

/* The function of that name, mangled or the plain name inside it ("matmul" finds "_Z6matmulPKf"). NULL as a name: the only
 * function. Fails, naming those there are, when none or several fit. */
enum wt_code wt_sass_find(const struct wt_sass *sass, const char *path, const char *name,
                          const struct wt_sass_function **out, struct wt_error *err);

/* The instruction at `address`, or -1. */
long wt_sass_at(const struct wt_sass_function *function, uint32_t address);

/* Whether the opcode has this modifier (".64" → "64"). */
bool wt_sass_has(const struct wt_sass_instruction *instruction, const char *modifier);

#endif
