/*
 * Shared by the families of verify/: reporting of violations, dimension lists, result shapes under
 * construction, and common routines.
 *
 * Every `verify_bad_...` reports and returns false. Functions that return a shape return NULL after
 * reporting.
 */
#ifndef HLO_VERIFY_PRIV_H
#define HLO_VERIFY_PRIV_H

#include "verify/verify.h"

struct verify {
    struct diags *ds;
    struct module *m;
    struct arena *arena; /* for inferred shapes */
    struct verify_options options;
    bool parsing; /* inference for the parser: operands are broadcast, float types may be mixed */
    bool strict;  /* ... by the rules of XLA's parser only */
    /* The operation's name in messages if it is a builder form; NULL: its opcode. */
    const char *word;
};

/* One function per family, expanded from op.def: returns the result shape by the rule of the
 * opcode, or NULL with a diagnostic. For COMPARE_OWN opcodes it checks the written shape itself and
 * returns it. */
typedef const struct shape *verify_family_fn(struct verify *v, const struct inst *i);
#define X(name, flags) verify_family_fn verify_##name;
FAMILIES(X)
#undef X

/* Rules that concern several instructions; each reports violations, in the order of the stages of
 * grammar/shapes.md 2. False if something was reported. */
/* pairing.c: async chains, start and done, send and recv, channels. */
bool verify_pairing(struct verify *v);
bool verify_buffers(struct verify *v); /* buffers.c: allowed places, single writers */
/* module.c: entry layout, aliases, donors, all-reduce uniformity. */
bool verify_module_rules(struct verify *v);
/* annotations.c: sharding, origin, replication. */
bool verify_annotations(struct verify *v, const struct inst *i);
bool verify_fusions(struct verify *v);      /* fusion.c: a single caller, no dead instructions */
bool verify_async_bodies(struct verify *v); /* async.c: computations of asynchronous chains */

/* ---- check.c: reports and common checks ---- */

/* The text of a shape for messages, NUL-terminated. */
const char *verify_text(struct verify *v, const struct shape *s);

/* "operand 0 of 'add' is f32[2], expected ..."; a note shows where the operand is defined. */
bool verify_bad_operand(struct verify *v, const struct inst *i, int k, const char *expected, ...)
    PRINTF_LIKE(4, 5);
/* "operands 0 and 1 of 'add' differ in <what>: f32[2] and s32[2]" */
bool verify_bad_operands(struct verify *v, const struct inst *i, int a, int b, const char *what);
/* "result of 'add' is f32[2], expected f32[3]" */
bool verify_bad_result(struct verify *v, const struct inst *i, const struct shape *expected);
/* "'dimensions' of 'reduce': <problem>", at the attribute. */
bool verify_bad_attr(struct verify *v, const struct inst *i, enum attr_id id, const char *problem,
                     ...) PRINTF_LIKE(4, 5);
/* "computation 'c' of 'while' <problem>"; a note shows where it is defined. */
bool verify_bad_computation(struct verify *v, const struct inst *i, const struct computation *c,
                            const char *problem, ...) PRINTF_LIKE(4, 5);
/* For problems of the instruction as a whole: "'async-start' has 2 users, ..."; a note shows the
 * location of `other`, unless NULL. */
bool verify_bad_inst(struct verify *v, const struct inst *i, const struct inst *other,
                     const char *problem, ...) PRINTF_LIKE(4, 5);

/* Checks that operand k, or all operands in [first, end), are arrays. */
bool verify_operand_array(struct verify *v, const struct inst *i, int k);
bool verify_operand_arrays(struct verify *v, const struct inst *i, int first, int end);
/* Checks that there are at least `min` operands. */
bool verify_operand_least(struct verify *v, const struct inst *i, int min);
/* Checks that a value of an attribute is in [low, end); INT64_MIN and INT64_MAX: unlimited. */
bool verify_attr_int(struct verify *v, const struct inst *i, enum attr_id id, int64_t value,
                     int64_t low, int64_t end);
/* The exclusive limit of sizes within a dimension; none if the size is unknown. */
static inline int64_t verify_size_end(int64_t dim)
{
    return dim == DIM_UNBOUNDED || dim == INT64_MAX ? INT64_MAX : dim + 1;
}
/* Checks the number of entries of a list attribute. */
bool verify_attr_count(struct verify *v, const struct inst *i, enum attr_id id, int64_t count,
                       int64_t expected);

/* Checks a list of dimensions: entries in [0, end), distinct, and with LIST_SORTED ascending. */
enum list_rule { LIST_DISTINCT, LIST_SORTED };
bool verify_dim_list(struct verify *v, const struct inst *i, enum attr_id id, int64_t end,
                     enum list_rule rule);
/* Which of [0, end) are in a list that verify_dim_list() accepted. */
const bool *verify_marked(struct verify *v, struct ints list, int64_t end);

/* Whether two element types are equal, or both float types. */
static inline bool dtype_same_kind(enum dtype a, enum dtype b)
{
    return a == b || (dtype_is_float(a) && dtype_is_float(b));
}
/* Whether a shape is a scalar of type `t`, or of any float type if `t` is one. */
static inline bool shape_is_scalar_like(const struct shape *s, enum dtype t)
{
    return shape_is_scalar(s) && dtype_same_kind(s->dtype, t);
}
/* Whether an element type is in a set of classes, of enum op_types. */
static inline bool dtype_in_class(enum dtype t, unsigned types)
{
    switch (dtype_class(t)) {
    case DC_PRED: return types & TY_PRED;
    case DC_SIGNED: return types & TY_SIGNED;
    case DC_UNSIGNED: return types & TY_UNSIGNED;
    case DC_FLOAT: return types & TY_FLOAT;
    case DC_COMPLEX: return types & TY_COMPLEX;
    case DC_OTHER: break;
    }
    return false;
}
/* Whether two shapes are the same in the verifier's mode: compatible, or fully equal if layouts
 * count. */
bool verify_same(const struct verify *v, const struct shape *a, const struct shape *b);
/* The common element type of operands a and b; false (reported) if there is none. */
bool verify_higher(struct verify *v, const struct inst *i, int a, int b, enum dtype *out);

/* A result shape under construction. */
struct dims {
    int rank;
    int64_t *size;
    bool *dynamic;
};
/* An empty list with storage for `capacity` dimensions. */
struct dims verify_dims(struct verify *v, int64_t capacity);
static inline void dims_add(struct dims *d, int64_t size, bool dynamic)
{
    d->dynamic[d->rank] = dynamic;
    d->size[d->rank++] = size;
}
static inline void dims_take(struct dims *d, const struct shape *s, int64_t k)
{
    dims_add(d, s->dims[k], shape_dim_dynamic(s, (int)k));
}
/* The array shape with these dimensions and the default layout. */
const struct shape *verify_dims_shape(struct verify *v, enum dtype t, const struct dims *d);
/* The operands' shapes as a tuple; a single one unchanged. */
const struct shape *verify_operands_shape(struct verify *v, const struct inst *i, int count);

/* ---- elementwise.c ---- */

const struct shape *verify_binary_shape(struct verify *v, const struct inst *i);

/* ---- reduce.c: reducers ---- */

/* A computation that reduces `count` inputs: it has 2 * count parameters (accumulators, then
 * values) and `count` scalar results, which must match the initial values and the inputs. */
struct reducer {
    struct computation *computation;
    int count;
    const struct shape *const *init; /* shapes of the initial values */
    const enum dtype *input;         /* element types of the inputs */
};
bool verify_reducer(struct verify *v, const struct inst *i, const struct reducer *r);
/* The result shape of a reduce-window; NULL with a diagnostic. */
const struct shape *verify_reduce_window(struct verify *v, const struct inst *i);
/* Without mixed precision, operands and parameters must have the same element types. */
bool verify_operand_types_match(struct verify *v, const struct inst *i,
                                const struct computation *c);

/* ---- dot.c ---- */

/* The element type of the result of a dot or convolution: the written one; for the parser, the more
 * precise one of operands 0 and `rhs`. False (reported) if there is none. */
bool verify_contract_type(struct verify *v, const struct inst *i, int rhs, enum dtype *out);

/* ---- window.c ---- */

/* The size of a windowed dimension (grammar/shapes.md 5.6); false if the rules are violated. */
bool window_output_size(const struct window_dim *w, int64_t base, int64_t *out);
/* The same; reports violations as an error of the attribute `window`. */
bool verify_window_dim(struct verify *v, const struct inst *i, const struct window_dim *w,
                       int64_t base, int64_t *out);
/* Appends the sizes of all dimensions of `base` under the instruction's window to `out`. */
bool verify_window_shape(struct verify *v, const struct inst *i, const struct shape *base,
                         struct dims *out);

/* ---- control.c: called computations ---- */

bool verify_aliasing(struct verify *v, const struct inst *i);
bool verify_onnx_loop(struct verify *v, const struct inst *i);                  /* onnx_loop.c */
const struct shape *verify_async_shape(struct verify *v, const struct inst *i); /* async.c */

/* ---- groups.c: replica groups ---- */

struct group_facts {
    int64_t size; /* participants of one group; 1 if the module has only one */
};
/* Checks replica_groups against the number of participants; with `uniform`, all groups must have
 * the same size. False if violated; `out` is set otherwise. */
bool verify_groups(struct verify *v, const struct inst *i, bool uniform, struct group_facts *out);
/* Checks source_target_pairs: ids in range, and each used at most once, or as often as an in-place
 * permute allows, as source and as target. */
bool verify_permute_pairs(struct verify *v, const struct inst *i, bool in_place);

/* ---- sharding.c ---- */

bool verify_sharding_equal(struct arena *scratch, const struct sharding *a,
                           const struct sharding *b);

#endif
