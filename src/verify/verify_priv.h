/*
 * What the families of verify/ share: reporting broken rules, dimension lists, result shapes
 * under construction, and the few routines that several families use.
 *
 * Every `verify_bad_...` reports and returns false. Functions that return a shape return NULL after
 * that.
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
    bool strict;  /* ... just as XLA's parser infers */
    const char
        *word; /* the operation's name in messages, when it is a builder form; NULL: its opcode */
};

/* One for each family, expanded from op.def: the result shape by the rule of the opcode, or NULL
 * with a diagnostic. For COMPARE_OWN opcodes it checks the written shape itself and returns it. */
typedef const struct shape *verify_family_fn(struct verify *v, const struct inst *i);
#define X(name, flags) verify_family_fn verify_##name;
FAMILIES(X)
#undef X

/* Rules that look beyond one instruction; each reports what it finds, in the order of the stages of
 * grammar/shapes.md 2. False when something was reported. */
bool verify_pairing(
    struct verify *v); /* pairing.c: async chains, start and done, send and recv, channels */
bool verify_buffers(struct verify *v); /* buffers.c: where buffers are allowed, one writer each */
bool verify_module_rules(
    struct verify *v); /* module.c: entry layout, aliases, donors, all-reduce uniformity */
bool verify_annotations(struct verify *v,
                        const struct inst *i); /* annotations.c: sharding, origin, replication */
bool verify_fusions(struct verify *v);         /* fusion.c: called once, nothing dead in them */
bool verify_async_bodies(struct verify *v);    /* async.c: what asynchronous chains call */

/* ---- check.c: reports and common checks ---- */

const char *verify_text(struct verify *v, const struct shape *s);

/* "operand 0 of `add` is f32[2], expected ..."; a note shows where the operand is defined. */
bool verify_bad_operand(struct verify *v, const struct inst *i, int k, const char *expected, ...)
    PRINTF_LIKE(4, 5);
/* "operands 0 and 1 of `add` differ in <what>: f32[2] and s32[2]" */
bool verify_bad_operands(struct verify *v, const struct inst *i, int a, int b, const char *what);
bool verify_bad_result(struct verify *v, const struct inst *i, const struct shape *expected);
bool verify_bad_attr(struct verify *v, const struct inst *i, enum attr_id id, const char *problem,
                     ...) PRINTF_LIKE(4, 5);
bool verify_bad_computation(struct verify *v, const struct inst *i, const struct computation *c,
                            const char *problem, ...) PRINTF_LIKE(4, 5);
/* For problems of the instruction as a whole: "`async-start` has 2 users, ..."; a note shows
 * `other`, unless NULL. */
bool verify_bad_inst(struct verify *v, const struct inst *i, const struct inst *other,
                     const char *problem, ...) PRINTF_LIKE(4, 5);

bool verify_operand_array(struct verify *v, const struct inst *i, int k);
bool verify_operand_arrays(struct verify *v, const struct inst *i, int first, int end);
bool verify_operand_least(struct verify *v, const struct inst *i, int least);
bool verify_attr_int(struct verify *v, const struct inst *i, enum attr_id id, int64_t value,
                     int64_t low, int64_t end);
bool verify_attr_count(struct verify *v, const struct inst *i, enum attr_id id, int64_t count,
                       int64_t expected);

/* Checks a list of dimensions: entries in [0, end), none twice, and with LIST_SORTED ascending. */
enum list_rule { LIST_DISTINCT, LIST_SORTED };
bool verify_dim_list(struct verify *v, const struct inst *i, enum attr_id id, int64_t end,
                     enum list_rule rule);
/* Which of [0, end) are in a list that verify_dim_list() found sound. */
const bool *verify_marked(struct verify *v, struct ints list, int64_t end);

static inline bool dtype_same_kind(enum dtype a, enum dtype b)
{
    return a == b || (dtype_is_float(a) && dtype_is_float(b));
}
static inline bool shape_is_scalar_like(const struct shape *s, enum dtype t)
{
    return shape_is_scalar(s) && dtype_same_kind(s->dtype, t);
}
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
/* Whether two shapes are the same for the rules: compatible, or fully equal when layouts count. */
bool verify_same(const struct verify *v, const struct shape *a, const struct shape *b);
/* The element type that operands a and b have in common; false (reported) when there is none. */
bool verify_higher(struct verify *v, const struct inst *i, int a, int b, enum dtype *out);

/* A result shape under construction. */
struct dims {
    int rank;
    int64_t *size;
    bool *dynamic;
};
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
const struct shape *verify_dims_shape(struct verify *v, enum dtype t, const struct dims *d);
/* The operands' shapes as a tuple; a single one as it is. */
const struct shape *verify_operands_shape(struct verify *v, const struct inst *i, int count);

/* ---- elementwise.c ---- */

const struct shape *verify_binary_shape(struct verify *v, const struct inst *i);

/* ---- reduce.c: computations that fold ---- */

/* A computation that reduces `count` inputs: it has 2 * count parameters (accumulators, then
 * values) and `count` scalar results, which must fit the initial values and the inputs. */
struct reducer {
    struct computation *computation;
    int count;
    const struct shape *const *init; /* shapes of the initial values */
    const enum dtype *input;         /* element types of the inputs */
};
bool verify_reducer(struct verify *v, const struct inst *i, const struct reducer *r);
const struct shape *verify_reduce_window(struct verify *v, const struct inst *i);
/* Without mixed precision, operands and parameters must have the same element types. */
bool verify_operand_types_match(struct verify *v, const struct inst *i,
                                const struct computation *c);

/* ---- dot.c ---- */

bool verify_contract_type(struct verify *v, const struct inst *i, int rhs, enum dtype *out);

/* ---- window.c ---- */

/* The size of one windowed dimension (grammar/shapes.md 5.6); false when the rules are broken. */
bool window_output_size(const struct window_dim *w, int64_t base, int64_t *out);
bool verify_window_dim(struct verify *v, const struct inst *i, const struct window_dim *w,
                       int64_t base, int64_t *out);
bool verify_window_shape(struct verify *v, const struct inst *i, const struct shape *base,
                         struct dims *out);

/* ---- control.c: called computations ---- */

bool verify_aliasing(struct verify *v, const struct inst *i);
bool verify_onnx_loop(struct verify *v, const struct inst *i);                  /* onnx_loop.c */
const struct shape *verify_async_shape(struct verify *v, const struct inst *i); /* async.c */

/* ---- groups.c: replica groups ---- */

struct group_facts {
    int64_t size; /* participants of one group; 1 when the module has only one */
};
bool verify_groups(struct verify *v, const struct inst *i, bool uniform, struct group_facts *out);
bool verify_permute_pairs(struct verify *v, const struct inst *i, bool in_place);

/* ---- sharding.c ---- */

bool verify_sharding_equal(struct arena *scratch, const struct sharding *a,
                           const struct sharding *b);

#endif
