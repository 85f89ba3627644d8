/*
 * Private to the generator.
 *
 * generate.c          choices, types, values, instructions as text, the module
 * generate_NAME.c     what the families need: one function for each family of op.def, gen_<family>
 *
 * A region is a computation that is being written. Families take operands from what the region has
 * made already, or have new ones made: parameters in ENTRY, constants elsewhere.
 */
#ifndef HLO_GENERATE_PRIV_H
#define HLO_GENERATE_PRIV_H

#include "fuzz/generate.h"
#include "op/op.h"
#include "type/type.h"

enum { GEN_RANK = 8, GEN_VALUES = 160, GEN_ELEMENTS = 600, GEN_LARGE = 1 << 18, GEN_LEAVES = 24 };

struct type { /* of an array */
    enum dtype dtype;
    int rank;
    int64_t dims[GEN_RANK];
    unsigned dynamic; /* bit d: dimension d is `<=` */
};

struct val {
    int id;
    struct type type;
    int users;
    bool plumbing; /* operand of a tuple form; not to be picked */
};

struct region {
    struct region *outer;
    struct buf text;
    struct val vals[GEN_VALUES];
    int count;
    int params;      /* so far */
    bool takes_more; /* ENTRY: a new operand may be a parameter */
};

struct gen {
    const uint8_t *bytes; /* choices still to be used ... */
    size_t left;
    uint64_t state;       /* ... and where they come from afterwards */
    struct buf done;      /* computations that are complete */
    struct region *region;
    bool large;           /* arrays, up to GEN_LARGE elements; else GEN_ELEMENTS */
    int depth;            /* of regions */
    int ids, computations, channels;
};

/* ---- choices ---- */

uint64_t gen_bits(struct gen *g);
int64_t gen_below(struct gen *g, int64_t n); /* 0 .. n-1; 0 for n < 1 */
bool gen_chance(struct gen *g, int percent);
static inline int64_t gen_between(struct gen *g, int64_t low, int64_t high)
{
    return low + gen_below(g, high - low + 1);
}
void gen_shuffle(struct gen *g, int64_t *items, int count);

/* ---- types ---- */

enum dtype gen_dtype(struct gen *g, unsigned types); /* of the classes TY_...; TY_ANY: any */
/* Of an operand beside one of this type: floats of two types may not stand together. */
enum dtype gen_partner(struct gen *g, enum dtype t);
struct type gen_type(struct gen *g, unsigned types, int least_rank);
struct type type_of(enum dtype t, int rank, const int64_t *dims);
struct type type_scalar(enum dtype t);
struct type type_with(struct type t, enum dtype dtype);
int64_t type_elements(const struct type *t);
bool type_equal(const struct type *a, const struct type *b);
void put_type(struct gen *g, struct buf *out, const struct type *t); /* now and then with a layout */
void put_plain_type(struct buf *out, const struct type *t);
void put_list(struct buf *out, const int64_t *items, int count);     /* {1,2} */

/* ---- values ---- */

struct val gen_value(struct gen *g, struct type t);   /* some value of this type */
struct val gen_fresh(struct gen *g, struct type t);   /* a new one */
struct val gen_pick(struct gen *g, unsigned types, int least_rank); /* of some type; static */
struct val gen_constant(struct gen *g, struct type t);
struct val gen_number(struct gen *g, enum dtype t, int64_t n); /* a scalar constant */
struct val gen_last(struct gen *g, const struct type *t);      /* the newest of this type, which there must be */

/* ---- instructions ---- */

/* `type op(operands)` and then the rest as printf writes it. */
struct val gen_emit(struct gen *g, enum opcode op, struct type t, int count, const struct val *operands,
                    const char *rest, ...) PRINTF_LIKE(6, 7);
/* The same for a tuple of types; the components in `out`, each by a get-tuple-element. */
void gen_emit_tuple(struct gen *g, enum opcode op, int result_count, const struct type *results, int count,
                    const struct val *operands, struct val *out, const char *rest, ...) PRINTF_LIKE(8, 9);
/* With a shape written out, for forms of their own; the value is plumbing. */
struct val gen_emit_raw(struct gen *g, const char *shape, const char *op, int count,
                        const struct val *operands, const char *rest, ...) PRINTF_LIKE(6, 7);
struct val gen_element(struct gen *g, struct val tuple, int index, struct type t);
void put_tuple_type(struct buf *out, int count, const struct type *types);

/* ---- computations ---- */

void gen_open(struct gen *g, struct region *r, int param_count, const struct type *params, struct val *out);
/* The same with one parameter that is a tuple; its components in `out`. */
void gen_open_tuple(struct gen *g, struct region *r, int count, const struct type *types, struct val *out);
/* Ends the region and returns the number of the computation, `c<number>`. */
int gen_close(struct gen *g, struct val root);
int gen_close_tuple(struct gen *g, int count, const struct val *roots);
void gen_instruction(struct gen *g); /* one of any family, or what belongs to one */
void gen_simple(struct gen *g);      /* one without computations of its own */
int gen_reducer(struct gen *g, int count, const enum dtype *types); /* of `count` accumulators and values */
/* A computation from parameters of these types to results of some types, every value in use. */
int gen_function(struct gen *g, int param_count, const struct type *params, int *result_count,
                 struct type *results);
/* ... to results of these types, each of which is a parameter's as well. */
int gen_step(struct gen *g, int param_count, const struct type *params, int result_count,
             const struct type *results);

void gen_map(struct gen *g);
/* A window over spatial dimensions: its text, the kernel's sizes, and how many positions it has. */
struct type gen_conv_window(struct gen *g, struct type spatial, struct buf *out, int64_t *kernel);

#define X(name) void gen_##name(struct gen *g, enum opcode op);
FAMILIES(X)
#undef X

#endif
