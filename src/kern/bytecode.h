/*
 * bytecode.h: bytecode: lists of operations on fixed addresses, most of them on one element each,
 * run without a call per operation.
 *
 * The opcode of an operation selects a case of the switch in bytecode.c. Elementwise opcodes
 * compute one element as the tile kernels of the same names do; other operations call a kernel with
 * their operands, or return to the caller.
 */
#ifndef HLO_KERN_BYTECODE_H
#define HLO_KERN_BYTECODE_H

#include "kern/kern.h"

enum bytecode_opcode {
    BYTECODE_NONE, /* no such operation */
    BYTECODE_STOP,
    BYTECODE_CALL,  /* fn(out, args, n) */
    BYTECODE_MOVE,  /* n bytes from args[0] to out */
    BYTECODE_FILL,  /* out[0..n) = the element of 4 bytes at args[0] */
    BYTECODE_READ,  /* n bytes of the window `window` to out */
    BYTECODE_WRITE, /* n bytes from args[0] to the window */
    BYTECODE_OTHER, /* calls `other` */
    /* to operation n; charges a step, and calls `other` at the end of a budget slice */
    BYTECODE_JUMP,
    BYTECODE_JUMP_UNLESS, /* to operation n when the pred args[0] is false */
    BYTECODE_SWITCH,      /* to targets[s32 at args[0]], the last when out of range; n targets */
    BYTECODE_FIRST        /* the first opcode that the functions below return */
};

/* Contiguous bytes of an array, at clamped indices. */
enum { BYTECODE_INDICES = 3 };
struct bytecode_window {
    char *const *large_array; /* holds the address of the array; NULL: it is `at` */
    char *at;
    int rank; /* number of indices that may vary; all are s32 */
    struct {
        const int32_t *at;
        int64_t last, stride; /* greatest index; bytes between indices */
    } index[BYTECODE_INDICES];
};

struct bytecode_op {
    uint16_t code;
    int32_t n;
    union {
        kern_tile_fn *fn;
        const int32_t *targets;
        const struct bytecode_window *window;
        const void *with;
    };
    void *out;
    const void *args[KERN_MAX_ARGS];
};

/* Runs a BYTECODE_OTHER operation, or refills the budget at a BYTECODE_JUMP; false ends the list.
 */
typedef bool bytecode_other_fn(const void *context, const struct bytecode_op *op);
/* Runs a list. False: `other` returned false. */
bool bytecode_run(const struct bytecode_op *ops, struct budget *budget, bytecode_other_fn *other,
                  const void *context);

/* Opcodes of operations on one element; BYTECODE_NONE: not available. */
int bytecode_elementwise(const char *opcode, enum dtype t);
int bytecode_compare(enum kern_direction d,
                     enum dtype t); /* in partial order, where total order differs */
int bytecode_convert(enum dtype to, enum dtype from);
int bytecode_move(size_t bytes);
/* Bytes of an operation's result and operands, if they are single elements; else 0. */
struct bytecode_widths {
    uint8_t out, args[KERN_MAX_ARGS];
};
struct bytecode_widths bytecode_widths(int code);
/* The opcode of the same comparison that also jumps to operation n unless it holds. */
int bytecode_branch(int compare);
bool bytecode_is_branch(int code);

#endif
