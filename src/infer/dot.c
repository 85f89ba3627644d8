/*
 * dot.c: result shapes of dot, ragged-dot and scaled-dot.
 */
#include "infer/infer_priv.h"

struct dot_dims {
    struct ints contract[2], batch[2];
    const bool *contracts[2],
        *batches[2]; /* whether dimension k of an operand is in its list; side_lists() */
    int rhs;         /* operand number of the right-hand side */
};

static struct dot_dims dot_dims(const struct inst *i)
{
    return (struct dot_dims){
        .contract = {inst_ints(i, A_LHS_CONTRACTING_DIMS), inst_ints(i, A_RHS_CONTRACTING_DIMS)},
        .batch = {inst_ints(i, A_LHS_BATCH_DIMS), inst_ints(i, A_RHS_BATCH_DIMS)},
        .rhs = 1,
    };
}

static bool kept(const struct dot_dims *d, int side, int64_t k)
{
    return !d->contracts[side][k] && !d->batches[side][k];
}

static bool side_lists(struct infer *ctx, const struct inst *i, struct dot_dims *d, int side)
{
    enum attr_id contract = side ? A_RHS_CONTRACTING_DIMS : A_LHS_CONTRACTING_DIMS,
                 batch = side ? A_RHS_BATCH_DIMS : A_LHS_BATCH_DIMS;
    int rank = operand_shape(i, side ? d->rhs : 0)->rank;
    if (!check_dim_list(ctx, i, contract, rank, LIST_DISTINCT) ||
        !check_dim_list(ctx, i, batch, rank, LIST_DISTINCT))
        return false;
    d->contracts[side] = infer_marks(ctx, d->contract[side], rank);
    d->batches[side] = infer_marks(ctx, d->batch[side], rank);
    for (int64_t k = 0; k < d->batch[side].count; k++)
        if (d->contracts[side][d->batch[side].at[k]])
            return report_attr(ctx, i, contract, "%" PRId64 " is also in '%s'",
                               d->batch[side].at[k], attr_spelling(batch));
    return true;
}

/* Paired dimensions of the two sides must have the same size. */
static bool paired(struct infer *ctx, const struct inst *i, int right, const struct ints pair[2],
                   enum attr_id lhs, enum attr_id rhs)
{
    const struct shape *l = operand_shape(i, 0), *r = operand_shape(i, right);
    if (pair[0].count != pair[1].count)
        return report_attr(ctx, i, rhs, "%" PRId64 " entries, '%s' has %" PRId64, pair[1].count,
                           attr_spelling(lhs), pair[0].count);
    for (int64_t k = 0; k < pair[0].count; k++) {
        int64_t a = l->dims[pair[0].at[k]], b = r->dims[pair[1].at[k]];
        if (!dim_compatible(a, b))
            return report_attr(ctx, i, rhs,
                               "dimension %" PRId64 " of %s is %" PRId64 ", dimension %" PRId64
                               " of %s is %" PRId64,
                               pair[0].at[k], report_text(ctx, l), a, pair[1].at[k],
                               report_text(ctx, r), b);
    }
    return true;
}

/* The result dimensions of all three operations: batch dimensions, then the free dimensions of the
 * left-hand side, then those of the right-hand side. */
static bool dot_result(struct infer *ctx, const struct inst *i, struct dot_dims *d,
                       struct dims *out)
{
    if (!check_operand_array(ctx, i, 0) || !check_operand_array(ctx, i, d->rhs) ||
        !side_lists(ctx, i, d, 0) || !side_lists(ctx, i, d, 1) ||
        !paired(ctx, i, d->rhs, d->contract, A_LHS_CONTRACTING_DIMS, A_RHS_CONTRACTING_DIMS) ||
        !paired(ctx, i, d->rhs, d->batch, A_LHS_BATCH_DIMS, A_RHS_BATCH_DIMS))
        return false;
    const struct shape *side[2] = {operand_shape(i, 0), operand_shape(i, d->rhs)};
    *out = dims_new(ctx->arena, (int64_t)side[0]->rank + side[1]->rank + 1);
    for (int64_t k = 0; k < d->batch[0].count; k++)
        dims_take(out, side[0], d->batch[0].at[k]);
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < side[s]->rank; k++)
            if (kept(d, s, k))
                dims_take(out, side[s], k);
    return true;
}

/* The element type of the result: the written one, if any; else the more precise one of the
 * operands. */
bool dot_result_type(struct infer *ctx, const struct inst *i, int rhs, enum dtype *out)
{
    if (ctx->parsing)
        return infer_common_type(ctx, i, 0, rhs, out);
    *out = i->shape->dtype;
    return check_result_array(ctx, i);
}

/* spec: DotGeneral */
static const struct shape *dot_shape(struct infer *ctx, const struct inst *i)
{
    struct dot_dims d = dot_dims(i);
    struct dims out;
    enum dtype t;
    if (!dot_result(ctx, i, &d, &out) || !dot_result_type(ctx, i, d.rhs, &t))
        return NULL;
    return dims_shape(ctx->arena, t, &out);
}

/* ---- ragged-dot ---- */

enum ragged_mode { RAGGED_FREE, RAGGED_CONTRACT, RAGGED_BATCH };

struct ragged {
    int64_t dim;
    enum ragged_mode mode;
    struct ints groups; /* rhs_group_dims */
};

static bool ragged_dims(struct infer *ctx, const struct inst *i, const struct dot_dims *d,
                        struct ragged *r)
{
    struct ints dims = inst_ints(i, A_LHS_RAGGED_DIMS);
    if (!check_attr_count(ctx, i, A_LHS_RAGGED_DIMS, dims.count, 1) ||
        !check_attr_int(ctx, i, A_LHS_RAGGED_DIMS, dims.at[0], 0, operand_shape(i, 0)->rank))
        return false;
    r->dim = dims.at[0];
    r->mode = d->batches[0][r->dim]     ? RAGGED_BATCH
              : d->contracts[0][r->dim] ? RAGGED_CONTRACT
                                        : RAGGED_FREE;
    r->groups = inst_ints(i, A_RHS_GROUP_DIMS);
    return check_attr_count(ctx, i, A_RHS_GROUP_DIMS, r->groups.count, r->mode == RAGGED_FREE);
}

/* The dimensions of group_sizes except the last: those of the left-hand side without the ragged
 * one, batch dimensions first. */
static void ragged_prefix(const struct inst *i, const struct dot_dims *d, const struct ragged *r,
                          struct dims *out)
{
    const struct shape *l = operand_shape(i, 0);
    for (int64_t k = 0; k < d->batch[0].count; k++) {
        if (d->batch[0].at[k] == r->dim)
            return;
        dims_take(out, l, d->batch[0].at[k]);
    }
    for (int64_t k = 0;
         r->mode == RAGGED_CONTRACT && k < d->contract[0].count && d->contract[0].at[k] != r->dim;
         k++)
        dims_take(out, l, d->contract[0].at[k]);
    for (int k = 0; r->mode == RAGGED_FREE && k < l->rank && k != r->dim; k++)
        if (kept(d, 0, k))
            dims_take(out, l, k);
}

static bool group_sizes_fit(struct infer *ctx, const struct inst *i, const struct dot_dims *d,
                            const struct ragged *r)
{
    const struct shape *s = operand_shape(i, 2);
    if (!check_operand_array(ctx, i, 2))
        return false;
    if (s->rank == 1)
        return true;
    struct dims prefix = dims_new(ctx->arena, operand_shape(i, 0)->rank);
    ragged_prefix(i, d, r, &prefix);
    bool fits = s->rank == prefix.rank + 1;
    for (int k = 0; fits && k < prefix.rank; k++)
        fits = dim_compatible(prefix.size[k], s->dims[k]);
    return fits || report_operand(ctx, i, 2, "one size per group, or per group of each slice");
}

static bool group_dim_fits(struct infer *ctx, const struct inst *i, const struct dot_dims *d,
                           const struct ragged *r)
{
    const struct shape *rhs = operand_shape(i, 1), *sizes = operand_shape(i, 2);
    if (r->mode != RAGGED_FREE)
        return true;
    if (!check_attr_int(ctx, i, A_RHS_GROUP_DIMS, r->groups.at[0], 0, rhs->rank))
        return false;
    if (!kept(d, 1, r->groups.at[0]))
        return report_attr(ctx, i, A_RHS_GROUP_DIMS,
                           "%" PRId64 " is a batch or contracting dimension", r->groups.at[0]);
    return dim_compatible(rhs->dims[r->groups.at[0]], sizes->dims[sizes->rank - 1]) ||
           report_operand(ctx, i, 2, "%" PRId64 " groups", rhs->dims[r->groups.at[0]]);
}

/* Removes the group dimension of the right-hand side from the result. */
static void drop_group(const struct inst *i, const struct dot_dims *d, int64_t group,
                       struct dims *out)
{
    int at = out->rank;
    for (int k = operand_shape(i, 1)->rank - 1; k >= group; k--)
        at -= kept(d, 1, k);
    out->rank--;
    for (int k = at; k < out->rank; k++) {
        out->size[k] = out->size[k + 1];
        out->dynamic[k] = out->dynamic[k + 1];
    }
}

/* spec: RaggedDot */
static const struct shape *ragged_shape(struct infer *ctx, const struct inst *i)
{
    struct dot_dims d = dot_dims(i);
    struct ragged r;
    struct dims out;
    enum dtype t;
    if (!dot_result(ctx, i, &d, &out) || !ragged_dims(ctx, i, &d, &r) ||
        !group_sizes_fit(ctx, i, &d, &r) || !group_dim_fits(ctx, i, &d, &r) ||
        !dot_result_type(ctx, i, d.rhs, &t))
        return NULL;
    const struct shape *sizes = operand_shape(i, 2);
    struct dims all = dims_new(ctx->arena, (int64_t)out.rank + 1);
    if (r.mode == RAGGED_CONTRACT)
        dims_take(&all, sizes, sizes->rank - 1);
    if (r.mode == RAGGED_FREE)
        drop_group(i, &d, r.groups.at[0], &out);
    for (int k = 0; k < out.rank; k++)
        dims_add(&all, out.size[k], out.dynamic[k]);
    return dims_shape(ctx->arena, t, &all);
}

/* ---- scaled-dot ---- */

/* Whether a scale has no effect: it and the operand are bf16, and all its sizes are 1, unlike the
 * operand's. */
static bool scale_is_trivial(const struct shape *s, const struct shape *scale)
{
    bool ones = true, other = false;
    for (int k = 0; k < scale->rank; k++)
        ones &= scale->dims[k] == 1;
    for (int k = 0; k < s->rank; k++)
        other |= s->dims[k] != 1;
    return s->dtype == DT_BF16 && scale->dtype == DT_BF16 && ones && other;
}

static bool scale_fits(struct infer *ctx, const struct inst *i, const struct dot_dims *d, int side)
{
    const struct shape *s = operand_shape(i, side), *scale = operand_shape(i, 2 + side);
    if (!check_operand_array(ctx, i, side) || !check_operand_array(ctx, i, 2 + side))
        return false;
    if (scale_is_trivial(s, scale))
        return true;
    if (scale->rank != s->rank)
        return report_operands(ctx, i, side, 2 + side, "rank");
    if (d->contract[side].count != 1)
        return check_attr_count(ctx, i, side ? A_RHS_CONTRACTING_DIMS : A_LHS_CONTRACTING_DIMS,
                                d->contract[side].count, 1);
    for (int k = 0; k < s->rank; k++)
        if (scale->dims[k] == 0 || s->dims[k] % scale->dims[k] != 0)
            return report_operand(ctx, i, 2 + side, "dimension %d to divide %" PRId64, k,
                                  s->dims[k]);
    return true;
}

/* spec: ScaledDot */
static const struct shape *scaled_shape(struct infer *ctx, const struct inst *i)
{
    struct dot_dims d = dot_dims(i);
    struct dims out;
    enum dtype t;
    if (!ctx->parsing) {
        if (shape_is_scalar(operand_shape(i, 2)) && shape_is_scalar(operand_shape(i, 3)))
            return report_operand(ctx, i, 2, "a scale for at least one operand"), NULL;
        if (!scale_fits(ctx, i, &d, 0) || !scale_fits(ctx, i, &d, 1))
            return NULL;
    } else if (ctx->strict) {
        d.rhs = 2; /* XLA's parser takes operand 2, the left scale, for the right-hand side */
    }
    if (!dot_result(ctx, i, &d, &out) || !dot_result_type(ctx, i, d.rhs, &t))
        return NULL;
    return dims_shape(ctx->arena, t, &out);
}

const struct shape *infer_dot(struct infer *ctx, const struct inst *i)
{
    switch (i->opcode) {
    case OP_RAGGED_DOT: return ragged_shape(ctx, i);
    case OP_SCALED_DOT: return scaled_shape(ctx, i);
    default: return dot_shape(ctx, i);
    }
}
