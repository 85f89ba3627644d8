/*
 * Shared by the families of infer/: what infer.c provides to their rules, and the rules that
 * several families share. Functions that return a shape return NULL after reporting.
 */
#ifndef HLO_INFER_PRIV_H
#define HLO_INFER_PRIV_H

#include "infer/check.h"

/* One function per family, expanded from op.def: the rules of its opcodes, as infer_result. */
typedef const struct shape *infer_family_fn(struct infer *ctx, const struct inst *i);
#define X(name, flags) infer_family_fn infer_##name;
FAMILIES(X)
#undef X

/* ---- infer.c ---- */

/* The common element type of operands a and b; false (reported) if they have none in common. */
bool infer_common_type(struct infer *ctx, const struct inst *i, int a, int b, enum dtype *out);
/* The operands' shapes as a tuple; a single one unchanged. */
const struct shape *infer_operands_shape(struct infer *ctx, const struct inst *i, int count);
/* Which of [0, end) are in a list that check_dim_list() accepted. */
const bool *infer_marks(struct infer *ctx, struct ints list, int64_t end);

/* Checks of a computation that is applied to elements: the number of its parameters; that
 * parameter k is a scalar of type `t`, or of any float type if `t` is one; that it returns pred[].
 */
bool infer_check_params(struct infer *ctx, const struct inst *i, const struct computation *c,
                        int count);
bool infer_check_scalar(struct infer *ctx, const struct inst *i, const struct computation *c, int k,
                        enum dtype t);
bool infer_check_predicate(struct infer *ctx, const struct inst *i, const struct computation *c);

/* The exclusive limit of sizes within a dimension; none if the size is unknown. */
static inline int64_t size_end(int64_t dim)
{
    return dim == DIM_UNBOUNDED || dim == INT64_MAX ? INT64_MAX : dim + 1;
}

/* ---- elementwise.c ---- */

const struct shape *infer_binary(struct infer *ctx, const struct inst *i);

/* ---- reduce.c: reducers ---- */

/* A computation that reduces `count` inputs: it has 2 * count parameters (accumulators, then
 * values) and `count` scalar results, which must match the initial values and the inputs. */
struct reducer {
    struct computation *computation;
    int count;
    const struct shape *const *init; /* shapes of the initial values */
    const enum dtype *input;         /* element types of the inputs */
};
bool reduce_check_reducer(struct infer *ctx, const struct inst *i, const struct reducer *r);
/* The result shape of a reduce-window; NULL with a diagnostic. */
const struct shape *reduce_window_shape(struct infer *ctx, const struct inst *i);
/* Without mixed precision, operands and parameters must have the same element types. */
bool reduce_check_types(struct infer *ctx, const struct inst *i, const struct computation *c);

/* ---- dot.c ---- */

/* The element type of the result of a dot or convolution: the written one; for the parser, the more
 * precise one of operands 0 and `rhs`. False (reported) if these have no common type. */
bool dot_result_type(struct infer *ctx, const struct inst *i, int rhs, enum dtype *out);

/* ---- window.c ---- */

/* The size of a windowed dimension (grammar/shapes.md 5.6); false if the rules are violated. */
bool window_output_size(const struct window_dim *w, int64_t base, int64_t *out);
/* The same; reports violations as an error of the attribute `window`. */
bool window_dim_size(struct infer *ctx, const struct inst *i, const struct window_dim *w,
                     int64_t base, int64_t *out);
/* Appends the sizes of all dimensions of `base` under the instruction's window to `out`. */
bool window_sizes(struct infer *ctx, const struct inst *i, const struct shape *base,
                  struct dims *out);

/* ---- groups.c: replica groups ---- */

struct group_facts {
    int64_t size; /* participants of one group; 1 if the module has only one */
};
/* Checks replica_groups against the number of participants; with `uniform`, all groups must have
 * the same size. False if violated; `out` is set otherwise. */
bool groups_check(struct infer *ctx, const struct inst *i, bool uniform, struct group_facts *out);
/* Checks source_target_pairs: ids in range, and each used at most once, or as often as an in-place
 * permute allows, as source and as target. */
bool groups_check_pairs(struct infer *ctx, const struct inst *i, bool in_place);

#endif
