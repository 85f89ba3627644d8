/*
 * quick.h: bytecode: lists of operations on fixed addresses, most of them on one element each, run
 * without a call per operation.
 *
 * The opcode of an operation selects a case of the switch in quick.c. Elementwise opcodes compute
 * one element as the tile kernels of the same names do; other operations call a kernel with their
 * operands, or return to the caller.
 */
#ifndef HLO_KERN_QUICK_H
#define HLO_KERN_QUICK_H

#include "kern/kern.h"

enum quick_code {
    QUICK_NONE, /* no such operation */
    QUICK_STOP,
    QUICK_CALL,  /* fn(out, args, n) */
    QUICK_MOVE,  /* n bytes from args[0] to out */
    QUICK_FILL,  /* out[0..n) = the element of 4 bytes at args[0] */
    QUICK_READ,  /* n bytes of the window `window` to out */
    QUICK_WRITE, /* n bytes from args[0] to the window */
    QUICK_OTHER, /* calls `other` */
    /* to operation n; charges a step, and calls `other` at the end of a budget slice */
    QUICK_JUMP,
    QUICK_JUMP_UNLESS, /* to operation n when the pred args[0] is false */
    QUICK_SWITCH,      /* to targets[s32 at args[0]], the last when out of range; n targets */
    QUICK_FIRST        /* the first opcode that the functions below return */
};

/* Contiguous bytes of an array, at clamped indices. */
enum { QUICK_INDICES = 3 };
struct quick_window {
    char *const *cell; /* holds the address of the array; NULL: it is `at` */
    char *at;
    int rank; /* number of indices that may vary; all are s32 */
    struct {
        const int32_t *at;
        int64_t last, stride; /* greatest index; bytes between indices */
    } index[QUICK_INDICES];
};

struct quick_op {
    uint16_t code;
    int32_t n;
    union {
        kern_tile_fn *fn;
        const int32_t *targets;
        const struct quick_window *window;
        const void *with;
    };
    void *out;
    const void *args[KERN_MAX_ARGS];
};

/* Runs a QUICK_OTHER operation, or refills the budget at a QUICK_JUMP; false ends the list. */
typedef bool quick_other_fn(const void *context, const struct quick_op *op);
/* Runs a list. False: `other` returned false. */
bool quick_run(const struct quick_op *ops, struct budget *budget, quick_other_fn *other,
               const void *context);

/* Opcodes of operations on one element; QUICK_NONE: not available. */
int quick_elementwise(const char *opcode, enum dtype t);
int quick_compare(enum kern_direction d,
                  enum dtype t); /* in partial order, where total order differs */
int quick_convert(enum dtype to, enum dtype from);
int quick_move(size_t bytes);
/* Bytes of an operation's result and operands, if they are single elements; else 0. */
struct quick_widths {
    uint8_t out, args[KERN_MAX_ARGS];
};
struct quick_widths quick_widths(int code);
/* The opcode of the same comparison that also jumps to operation n unless it holds. */
int quick_branch(int compare);
bool quick_is_branch(int code);

#endif
