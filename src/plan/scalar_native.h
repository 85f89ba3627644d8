/*
 * Private to scalar_native*.c: the translation of scalar code to machine code.
 */
#ifndef HLO_PLAN_SCALAR_NATIVE_H
#define HLO_PLAN_SCALAR_NATIVE_H

#include "plan/scalar.h"

/* A register, and what is known about it. One of one element may become a variable. A register of
 * few elements that are accessed one by one is as many cells. */
struct cell {
    const char *at;
    size_t size;
    enum dtype type;
    int first, count; /* cells of its register */
    bool single;      /* has one element */
    bool partial;     /* accessed as another type, or in part */
    bool written, read_first, is_arg, is_result;
    int reads; /* number of operands that are read from it */
    int value; /* of the machine program: a variable or a constant; JIT_NONE: in memory */
};

struct translation {
    struct planner *pl;
    struct scalar_code *code;
    struct jit_builder *b;
    struct own_registers registers; /* one for each cell */
    struct cell *cells;
    int *order;                  /* numbers of the operations as they are translated */
    struct grouping *grouping;   /* scalar_native_group.c */
    int *labels;                 /* by operation; -1: no jump goes there */
    int *touched, touched_count; /* variables that the current operation touches */
};

/* Operation `k` in order. */
static inline struct scalar_op *scalar_op_at(const struct translation *t, int k)
{
    return &t->code->ops[t->order[k]];
}
/* The cell that contains the address; NULL: none. */
struct cell *scalar_cell_at(const struct translation *t, const void *at);
/* Whether the register that contains the address is in memory, not in variables. */
bool scalar_is_in_memory(const struct translation *t, const void *at);
/* The element at an address, as a value of this type; JIT_NONE: the type has no lanes. */
int scalar_read_element(struct translation *t, const void *at, enum dtype type);
bool scalar_write_element(struct translation *t, void *at, enum dtype type, int value);
void scalar_copy_bytes(struct translation *t, void *to, const void *from, int64_t n);

/* ---- scalar_native_copy.c: copies between views ---- */

enum { SCALAR_SINGLE_COPIES = 16 }; /* maximum number of elements copied one by one */
/* The dimensions of a copy, without those of size 1, and those merged that both views allow;
 * distances in bytes. */
struct copy_shape {
    int rank;
    int64_t dims[VIEW_MAX_RANK], out[VIEW_MAX_RANK], x[VIEW_MAX_RANK];
};
struct copy_shape scalar_copy_shape(const struct view *out, const struct view *x);
/* False: it consists of too many parts, or its type has no lanes. */
bool scalar_translate_copy(struct translation *t, const struct scalar_copy *c);

/* ---- scalar_native_group.c: elementwise operations on arrays ---- */

struct grouping *scalar_new_grouping(struct arena *a, int registers, int op_count);
/* Finds the operations that have equal counts from `first` in order on, none if that is no such
 * operation, and puts them next to each other: others that were between them come before or after
 * them. Returns the number of those before. */
int scalar_gather_group(struct translation *t, int first, int end);
/* Translates the group that was gathered last as one loop. Returns the number of operations, 0
 * without any, -1 if a type has no lanes. */
int scalar_translate_group(struct translation *t);

/* ---- scalar_native_array.c: reductions and products of small arrays ---- */

/* Whether they are translated; else they are called. */

bool scalar_may_translate_reduce(struct translation *t, const struct scalar_reduce *r);
bool scalar_may_translate_dot(const struct scalar_dot *d);

/* False: nothing was translated. */

bool scalar_translate_reduce(struct translation *t, const struct scalar_reduce *r);
bool scalar_translate_dot(struct translation *t, const struct scalar_dot *d);

#endif
