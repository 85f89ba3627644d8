/*
 * elementwise.c: result shapes of elementwise operations.
 */
#include "infer/infer_priv.h"

/* spec: Element-wise unary functions */
static const struct shape *unary_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    switch (i->opcode) {
    case OP_ABS:
    case OP_REAL:
    case OP_IMAG:
        return dtype_is_complex(s->dtype)
                   ? shape_with_dtype(ctx->arena, s, dtype_component(s->dtype))
                   : s;
    case OP_IS_FINITE: return shape_with_dtype(ctx->arena, s, DT_PRED);
    default: return s;
    }
}

/* The common dimensions of two arrays. Sizes must be equal; the parser's inference also accepts 1
 * on one side. */
static bool meet_dims(struct infer *ctx, const struct inst *i, struct dims *out)
{
    const struct shape *l = operand_shape(i, 0), *r = operand_shape(i, 1);
    for (int k = 0; k < l->rank; k++) {
        int64_t a = l->dims[k], b = r->dims[k];
        bool da = shape_dim_dynamic(l, k), db = shape_dim_dynamic(r, k);
        if (a == b)
            dims_add(out, a, da || db);
        else if (b == 1 || (b == DIM_UNBOUNDED && a != 1))
            dims_add(out, a, da);
        else if (a == 1 || a == DIM_UNBOUNDED)
            dims_add(out, b, db);
        else
            return report_operands(ctx, i, 0, 1, "dimensions");
    }
    return true;
}

static bool all_dims_equal(const struct shape *l, const struct shape *r)
{
    for (int k = 0; k < l->rank; k++)
        if (l->dims[k] != r->dims[k] || l->dims[k] == DIM_UNBOUNDED)
            return false;
    return true;
}

/* The result for equal ranks; it has the left operand's layout if nothing is broadcast. */
static const struct shape *meet_equal_ranks(struct infer *ctx, const struct inst *i, enum dtype t)
{
    const struct shape *l = operand_shape(i, 0), *r = operand_shape(i, 1);
    bool equal = all_dims_equal(l, r);
    if (equal && !r->dynamic)
        return shape_with_dtype(ctx->arena, l, t);
    struct dims d = dims_new(ctx->arena, l->rank);
    if (!meet_dims(ctx, i, &d))
        return NULL;
    const struct shape *s = dims_shape(ctx->arena, t, &d);
    if (equal)
        s = shape_with_layout(ctx->arena, s, shape_with_dtype(ctx->arena, l, t)->layout);
    return s;
}

/* spec: Element-wise binary arithmetic operations */
const struct shape *infer_binary(struct infer *ctx, const struct inst *i)
{
    const struct shape *l = operand_shape(i, 0), *r = operand_shape(i, 1);
    if (!check_operand_arrays(ctx, i, 0, 2))
        return NULL;
    enum dtype t;
    if (!check_same_kind(ctx, i, 0, 1) || !infer_common_type(ctx, i, 0, 1, &t))
        return NULL;
    if (l->rank == r->rank)
        return meet_equal_ranks(ctx, i, t);
    const struct shape *wide = l->rank > r->rank ? l : r, *narrow = wide == l ? r : l;
    if (narrow->rank > 0)
        return report_operands(ctx, i, 0, 1, "rank"), NULL;
    return shape_array(ctx->arena, t, wide->rank, wide->dims, wide->dynamic, NULL);
}

/* spec: Complex */
static const struct shape *complex_shape(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = infer_binary(ctx, i);
    if (!s)
        return NULL;
    for (int k = 0; k < 2; k++) {
        enum dtype t = operand_shape(i, k)->dtype;
        if (t != DT_F32 && t != DT_F64)
            return report_operand(ctx, i, k, "f32 or f64 elements"), NULL;
    }
    if (operand_shape(i, 0)->dtype != operand_shape(i, 1)->dtype)
        return report_operand_types(ctx, i, 0, 1), NULL;
    return shape_with_dtype(ctx->arena, s, s->dtype == DT_F32 ? DT_C64 : DT_C128);
}

/* spec: Clamp */
static const struct shape *clamp_shape(struct infer *ctx, const struct inst *i)
{
    if (!check_operand_arrays(ctx, i, 0, 3))
        return NULL;
    const struct shape *x = operand_shape(i, 1);
    for (int k = 0; k < 3; k += 2) {
        const struct shape *bound = operand_shape(i, k);
        if (!check_same_kind(ctx, i, 1, k))
            return NULL;
        if (bound->rank > 0 && !shape_same_dims(bound, x))
            return report_operand(ctx, i, k, "a scalar or the dimensions of %s",
                                  report_text(ctx, x)),
                   NULL;
    }
    return x;
}

static bool select_operands(struct infer *ctx, const struct inst *i)
{
    const struct shape *p = operand_shape(i, 0), *t = operand_shape(i, 1);
    if (!check_operand_arrays(ctx, i, 0, 3))
        return false;
    if (p->dtype != DT_PRED)
        return report_operand(ctx, i, 0, "pred elements");
    if (!check_same_kind(ctx, i, 1, 2) || !check_same_dims(ctx, i, 1, 2))
        return false;
    if (p->rank > 0 && !shape_same_dims(p, t))
        return report_operand(ctx, i, 0, "a scalar or the dimensions of %s", report_text(ctx, t));
    return true;
}

/* The layout of a select: that of the predicate, unless it is a scalar, with the element size of
 * on_true. */
static const struct layout *select_layout(struct infer *ctx, const struct shape *p,
                                          const struct shape *t)
{
    if (p->rank == 0 && p != t)
        return t->layout;
    struct layout *l = arena_copy(ctx->arena, p->layout, sizeof *l);
    l->element_bits = t->layout->element_bits;
    return l;
}

/* spec: Select */
static const struct shape *select_shape(struct infer *ctx, const struct inst *i)
{
    enum dtype type;
    if (!select_operands(ctx, i) || !infer_common_type(ctx, i, 1, 2, &type))
        return NULL;
    const struct shape *p = operand_shape(i, 0), *t = operand_shape(i, 1), *f = operand_shape(i, 2);
    struct dims d = dims_new(ctx->arena, t->rank);
    for (int k = 0; k < t->rank; k++) {
        int64_t size = t->dims[k] == DIM_UNBOUNDED ? f->dims[k] : t->dims[k];
        if (size == DIM_UNBOUNDED && p->rank > 0)
            size = p->dims[k];
        dims_add(&d, size,
                 shape_dim_dynamic(t, k) || shape_dim_dynamic(f, k) ||
                     (p->rank > 0 && shape_dim_dynamic(p, k)));
    }
    return shape_with_layout(ctx->arena, dims_shape(ctx->arena, type, &d),
                             select_layout(ctx, p, t));
}

const struct shape *infer_elementwise(struct infer *ctx, const struct inst *i)
{
    switch (i->opcode) {
    case OP_CLAMP: return clamp_shape(ctx, i);
    case OP_SELECT: return select_shape(ctx, i);
    case OP_COMPLEX: return complex_shape(ctx, i);
    default:
        return op_table[i->opcode].class == CLASS_UNARY ? unary_shape(ctx, i)
                                                        : infer_binary(ctx, i);
    }
}
