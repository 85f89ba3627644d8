/*
 * window.c: result sizes of sliding windows, and the result shape of select-and-scatter.
 */
#include "infer/infer_priv.h"

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

bool window_dim_size(struct infer *ctx, const struct inst *i, const struct window_dim *w,
                     int64_t base, int64_t *out)
{
    if (window_output_size(w, base, out))
        return true;
    return report_attr(ctx, i, A_WINDOW,
                       "size %" PRId64 ", stride %" PRId64 ", padding %" PRId64 "_%" PRId64
                       ", dilations %" PRId64 " and %" PRId64 " do not fit dimension size %" PRId64,
                       w->size, w->stride, w->pad_low, w->pad_high, w->base_dilation,
                       w->window_dilation, base);
}

bool window_sizes(struct infer *ctx, const struct inst *i, const struct shape *base,
                  struct dims *out)
{
    struct window w = inst_window(i);
    if (!check_attr_count(ctx, i, A_WINDOW, w.rank, base->rank))
        return false;
    for (int k = 0; k < base->rank; k++) {
        int64_t size;
        if (!window_dim_size(ctx, i, &w.dims[k], base->dims[k], &size))
            return false;
        dims_add(out, size, shape_dim_dynamic(base, k));
    }
    return true;
}

static bool select_fits(struct infer *ctx, const struct inst *i, const struct shape *s)
{
    const struct computation *c = inst_computation(i, A_SELECT);
    return infer_check_params(ctx, i, c, 2) && infer_check_predicate(ctx, i, c) &&
           infer_check_scalar(ctx, i, c, 0, s->dtype) && infer_check_scalar(ctx, i, c, 1, s->dtype);
}

/* spec: SelectAndScatter */
static const struct shape *select_and_scatter_shape(struct infer *ctx, const struct inst *i)
{
    if (!check_operand_arrays(ctx, i, 0, 3) || !select_fits(ctx, i, operand_shape(i, 0)))
        return NULL;
    const struct shape *s = operand_shape(i, 0), *source = operand_shape(i, 1),
                       *init = operand_shape(i, 2);
    struct reducer r = {inst_computation(i, A_SCATTER), 1, &init, &source->dtype};
    struct dims d = dims_new(ctx->arena, s->rank);
    if (!reduce_check_reducer(ctx, i, &r) || !window_sizes(ctx, i, s, &d))
        return NULL;
    const struct shape *windowed = dims_shape(ctx->arena, s->dtype, &d);
    if (!shape_compatible_fp(source, windowed))
        return report_operand(ctx, i, 1, "%s, one element per window", report_text(ctx, windowed)),
               NULL;
    return s;
}

const struct shape *infer_window(struct infer *ctx, const struct inst *i)
{
    return i->opcode == OP_REDUCE_WINDOW ? reduce_window_shape(ctx, i)
                                         : select_and_scatter_shape(ctx, i);
}
