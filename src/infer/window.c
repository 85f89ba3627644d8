/*
 * window.c: result sizes of sliding windows, and the result shape of select-and-scatter.
 */
#include "verify/verify_priv.h"

/* The size with dilation - 1 gaps between elements. False on overflow. */
static bool dilated(int64_t size, int64_t dilation, int64_t *out)
{
    *out = 0;
    return size == 0 || (mul_i64(size - 1, dilation, out) && add_i64(*out, 1, out));
}

bool window_output_size(const struct window_dim *w, int64_t base, int64_t *out)
{
    int64_t padded, win;
    if (w->size <= 0 || w->stride <= 0 || w->base_dilation < 1 || w->window_dilation < 1)
        return false;
    *out = base;
    if (base == DIM_UNBOUNDED)
        return true;
    if (!dilated(base, w->base_dilation, &padded) || !add_i64(padded, w->pad_low, &padded) ||
        !add_i64(padded, w->pad_high, &padded) || padded < 0 ||
        !dilated(w->size, w->window_dilation, &win))
        return false;
    *out = padded == 0 || win > padded ? 0 : (padded - win) / w->stride + 1;
    return true;
}

bool verify_window_dim(struct verify *v, const struct inst *i, const struct window_dim *w,
                       int64_t base, int64_t *out)
{
    if (window_output_size(w, base, out))
        return true;
    return verify_bad_attr(
        v, i, A_WINDOW,
        "size %" PRId64 ", stride %" PRId64 ", padding %" PRId64 "_%" PRId64 ", dilations %" PRId64
        " and %" PRId64 " do not fit dimension size %" PRId64,
        w->size, w->stride, w->pad_low, w->pad_high, w->base_dilation, w->window_dilation, base);
}

bool verify_window_shape(struct verify *v, const struct inst *i, const struct shape *base,
                         struct dims *out)
{
    struct window w = inst_window(i);
    if (!verify_attr_count(v, i, A_WINDOW, w.rank, base->rank))
        return false;
    for (int k = 0; k < base->rank; k++) {
        int64_t size;
        if (!verify_window_dim(v, i, &w.dims[k], base->dims[k], &size))
            return false;
        dims_add(out, size, shape_dim_dynamic(base, k));
    }
    return true;
}

static bool select_fits(struct verify *v, const struct inst *i, const struct shape *s)
{
    const struct computation *c = inst_computation(i, A_SELECT);
    if (c->param_count != 2)
        return verify_bad_computation(v, i, c, "has %d parameters, expected 2", c->param_count);
    if (!shape_is_scalar_of(c->root->shape, DT_PRED))
        return verify_bad_computation(v, i, c, "returns %s, expected pred[]",
                                      verify_text(v, c->root->shape));
    for (int k = 0; k < 2; k++)
        if (!shape_is_scalar_like(c->params[k]->shape, s->dtype))
            return verify_bad_computation(
                v, i, c, "takes %s as parameter %d, expected a scalar of %s",
                verify_text(v, c->params[k]->shape), k, dtype_spelling(s->dtype));
    return true;
}

/* spec: SelectAndScatter */
static const struct shape *select_and_scatter_shape(struct verify *v, const struct inst *i)
{
    if (!verify_operand_arrays(v, i, 0, 3) || !select_fits(v, i, operand_shape(i, 0)))
        return NULL;
    const struct shape *s = operand_shape(i, 0), *source = operand_shape(i, 1),
                       *init = operand_shape(i, 2);
    struct reducer r = {inst_computation(i, A_SCATTER), 1, &init, &source->dtype};
    struct dims d = verify_dims(v, s->rank);
    if (!verify_reducer(v, i, &r) || !verify_window_shape(v, i, s, &d))
        return NULL;
    const struct shape *windowed = verify_dims_shape(v, s->dtype, &d);
    if (!shape_compatible_fp(source, windowed))
        return verify_bad_operand(v, i, 1, "%s, one element per window", verify_text(v, windowed)),
               NULL;
    return s;
}

const struct shape *verify_window(struct verify *v, const struct inst *i)
{
    return i->opcode == OP_REDUCE_WINDOW ? verify_reduce_window(v, i)
                                         : select_and_scatter_shape(v, i);
}
