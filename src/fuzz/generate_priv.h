/*
 * Declarations shared by the files of the generator.
 *
 * generate.c: choices, types, values, instructions as text, the module. generate_shared.c:
 * computations called by several instructions. generate_NAME.c: a function gen_<family> for each
 * family of op.def.
 *
 * A region is a computation being written. Families take operands from the values of the region or
 * create new ones: parameters in ENTRY, constants elsewhere.
 */
#ifndef HLO_GENERATE_PRIV_H
#define HLO_GENERATE_PRIV_H

#include "fuzz/generate.h"
#include "op/op.h"
#include "type/type.h"

enum { GEN_RANK = 8, GEN_VALUES = 160, GEN_ELEMENTS = 600, GEN_LARGE = 1 << 18 };
#define GEN_HUGE INT64_C(1000000000000) /* a size, in arrays that are empty */
enum { GEN_LEAVES = 24, GEN_PARAMS = 6, GEN_SHARED = 24 };

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
    bool plumbing; /* operand inside a composite form; not to be selected */
};

struct region {
    struct region *outer;
    struct buf text;
    struct val vals[GEN_VALUES];
    int count;
    int params;      /* number of parameters so far */
    bool takes_more; /* ENTRY: a new operand may be a parameter */
    bool nested;     /* an instruction calls a computation */
    bool random;     /* it or a callee draws random numbers */
};

/* What a computation may be used as, besides the callee of a call. */
enum role { ROLE_CALLEE, ROLE_REDUCER, ROLE_COMPARATOR, ROLE_CONDITION, ROLE_BODY };

/* A complete computation, which any number of instructions may call. */
struct shared {
    int number;
    enum role role;
    int param_count, result_count; /* result_count 0: the result is an array, results[0] */
    struct type params[GEN_PARAMS], results[GEN_LEAVES];
    bool takes_tuple;    /* of params, its only parameter */
    bool nested, random; /* as in struct region */
    bool fusible;        /* all values are used, and no fusion of it exists yet */
};

struct gen {
    const uint8_t *bytes; /* bytes of the fuzzer that remain for choices ... */
    size_t left;
    uint64_t state;  /* ... and the state of the random numbers used afterwards */
    struct buf done; /* text of complete computations */
    struct region *region;
    bool large;  /* arrays have up to GEN_LARGE elements; else GEN_ELEMENTS */
    bool calls;  /* most instructions call computations */
    bool excess; /* the size of a result exceeds the limit */
    int depth;   /* of nested regions */
    int ids, computations, channels;
    struct shared shared[GEN_SHARED];
    int shared_count;
    bool closed_nested, closed_random; /* of the region that was closed last */
};

/* ---- choices ---- */

uint64_t gen_bits(struct gen *g);
int64_t gen_below(struct gen *g, int64_t n); /* 0 .. n-1; 0 for n < 1 */
bool gen_chance(struct gen *g, int percent);
static inline int64_t gen_between(struct gen *g, int64_t low, int64_t high)
{
    return low + gen_below(g, high - low + 1);
}
/* low .. high, in large modules up to `large`. */
int64_t gen_size(struct gen *g, int64_t low, int64_t high, int64_t large);
void gen_shuffle(struct gen *g, int64_t *items, int count);

/* ---- types ---- */

enum dtype gen_dtype(struct gen *g,
                     unsigned types); /* a type of the classes TY_..., ored; TY_ANY: any */
/* A type for a second operand next to type `t`: operands may not be floats of different types. */
enum dtype gen_partner(struct gen *g, enum dtype t);
struct type gen_type(struct gen *g, unsigned types, int min_rank);
struct type type_of(enum dtype t, int rank, const int64_t *dims);
struct type type_scalar(enum dtype t);
struct type type_with(struct type t, enum dtype dtype);
int64_t type_elements(const struct type *t);
bool type_is_huge(const struct type *t); /* a dimension is longer than in any non-empty array */
bool type_equal(const struct type *a, const struct type *b);
void put_type(struct gen *g, struct buf *out, const struct type *t); /* sometimes with a layout */
void put_plain_type(struct buf *out, const struct type *t);
void put_list(struct buf *out, const int64_t *items, int count); /* {1,2} */

/* ---- values ---- */

struct val gen_value(struct gen *g, struct type t); /* a value of this type, old or new */
struct val gen_fresh(struct gen *g, struct type t); /* a new value of this type */
struct val gen_pick(struct gen *g, unsigned types,
                    int min_rank); /* a value of some type without dynamic dimensions */
struct val gen_constant(struct gen *g, struct type t);
struct val gen_number(struct gen *g, enum dtype t, int64_t n); /* a scalar constant */
struct val gen_last(struct gen *g, const struct type *t); /* the newest of this type; id -1: none */

/* ---- instructions ---- */

/* Writes `type op(operands)`, followed by `rest`, a format. */
struct val gen_emit(struct gen *g, enum opcode op, struct type t, int count,
                    const struct val *operands, const char *rest, ...) PRINTF_LIKE(6, 7);
/* The same with a tuple of types; `out` gets a get-tuple-element for each component. */
void gen_emit_tuple(struct gen *g, enum opcode op, int result_count, const struct type *results,
                    int count, const struct val *operands, struct val *out, const char *rest, ...)
    PRINTF_LIKE(8, 9);
/* The same with any shape, for special forms; the value is marked as plumbing. */
struct val gen_emit_raw(struct gen *g, const char *shape, const char *op, int count,
                        const struct val *operands, const char *rest, ...) PRINTF_LIKE(6, 7);
struct val gen_element(struct gen *g, struct val tuple, int index, struct type t);
void put_tuple_type(struct buf *out, int count, const struct type *types);

/* ---- computations ---- */

void gen_open(struct gen *g, struct region *r, int param_count, const struct type *params,
              struct val *out);
/* The same with a tuple as the only parameter; `out` gets its components. */
void gen_open_tuple(struct gen *g, struct region *r, int count, const struct type *types,
                    struct val *out);
/* Ends the region and returns the number of the computation, `c<number>`. */
int gen_close(struct gen *g, struct val root);
int gen_close_tuple(struct gen *g, int count, const struct val *roots);
void gen_instruction(
    struct gen *g);             /* an instruction of any family, or several that belong together */
void gen_simple(struct gen *g); /* an instruction that calls no computation */
void gen_inner(struct gen *g);  /* that, or control flow, random numbers, reductions */
int gen_reducer(struct gen *g, int count,
                const enum dtype *types); /* with `count` accumulators and values */
/* A computation from parameters of these types to results of any types, in which every value is
 * used. `simple`: only instructions that call no computation. */
struct shared gen_function(struct gen *g, bool simple, int param_count, const struct type *params);
/* A computation from a parameter of type `t` to a result of that type. */
int gen_step(struct gen *g, struct type t);

/* ---- computations that several instructions call ---- */

/* A signature of `count` scalar parameters, whose result is the array `result`. */
struct shared gen_scalar_signature(enum role role, int count, const enum dtype *params,
                                   struct type result);
/* Records the computation closed last, described by `s`, for further calls. */
void gen_share(struct gen *g, struct shared *s, int number);
/* The number of a recorded computation with the signature and role of `requested` (any role for
 * ROLE_CALLEE; random numbers only if `requested` has them). -1: none, or, except in `percent` of
 * 100 calls, do not reuse one. */
int gen_reuse(struct gen *g, int percent, const struct shared *requested);
/* Any recorded computation of that role, or any at all for ROLE_CALLEE; false: none. */
bool gen_some_shared(struct gen *g, enum role role, struct shared *out);
/* Operands for a call: values of all kinds, earlier results, one value for several parameters. */
void gen_arguments(struct gen *g, const struct shared *s, struct val *out);
/* A call or a fusion. */
void gen_call(struct gen *g, enum opcode op, const struct shared *s, const struct val *args);
/* Further calls, and other instructions that the computation can be a part of. */
void gen_more_calls(struct gen *g, const struct shared *s);

void gen_map(struct gen *g);
/* A window over spatial dimensions: writes its text, gives the kernel's sizes, and returns the type
 * of its positions. */
struct type gen_conv_window(struct gen *g, struct type spatial, struct buf *out, int64_t *kernel);

#define X(name, flags) void gen_##name(struct gen *g, enum opcode op);
FAMILIES(X)
#undef X

#endif
