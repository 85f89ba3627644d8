/*
 * fft.c: valid lengths and result shape of a Fourier transform.
 */
#include "infer/infer_priv.h"

/* The shape with another element type and size of the last dimension. */
static const struct shape *with_last(struct infer *ctx, const struct shape *s, enum dtype t,
                                     int64_t last)
{
    struct dims d = dims_of(ctx->arena, s, 0);
    d.size[s->rank - 1] = last;
    return shape_with_layout(ctx->arena, dims_shape(ctx->arena, t, &d), s->layout);
}

/* The first `count` transformed dimensions must have the given lengths. The last one of an irfft is
 * checked separately: it has size length / 2 + 1. */
static bool lengths_fit(struct infer *ctx, const struct inst *i, struct ints lengths, int64_t count)
{
    const struct shape *s = operand_shape(i, 0);
    for (int64_t k = 0; k < count; k++) {
        int64_t size = s->dims[s->rank - lengths.count + k];
        if (!dim_compatible(size, lengths.at[k]))
            return report_attr(ctx, i, A_FFT_LENGTH, "%" PRId64 " where %s has %" PRId64,
                               lengths.at[k], report_text(ctx, s), size);
    }
    return true;
}

static const struct shape *real_shape(struct infer *ctx, const struct inst *i, struct ints lengths)
{
    const struct shape *s = operand_shape(i, 0);
    if (s->dtype != DT_F32 && s->dtype != DT_F64)
        return report_operand(ctx, i, 0, "f32 or f64 elements"), NULL;
    if (!lengths_fit(ctx, i, lengths, lengths.count))
        return NULL;
    int64_t last = s->dims[s->rank - 1];
    if (last > 0)
        last = last / 2 + 1;
    return with_last(ctx, s, s->dtype == DT_F32 ? DT_C64 : DT_C128, last);
}

static const struct shape *inverse_real_shape(struct infer *ctx, const struct inst *i,
                                              struct ints lengths)
{
    const struct shape *s = operand_shape(i, 0);
    int64_t length = lengths.at[lengths.count - 1], last = s->dims[s->rank - 1];
    if (!dtype_is_complex(s->dtype))
        return report_operand(ctx, i, 0, "complex elements"), NULL;
    if (!lengths_fit(ctx, i, lengths, lengths.count - 1))
        return NULL;
    if (length < 0 || (!dim_compatible(last, length / 2 + 1) && !(length == 0 && last == 0)))
        return report_attr(ctx, i, A_FFT_LENGTH,
                           "%" PRId64 " requires a last dimension of %" PRId64 ", %s has %" PRId64,
                           length, length / 2 + 1, report_text(ctx, s), last),
               NULL;
    return with_last(ctx, s, dtype_component(s->dtype), length);
}

/* spec: Fft */
const struct shape *infer_fft(struct infer *ctx, const struct inst *i)
{
    const struct shape *s = operand_shape(i, 0);
    struct ints lengths = inst_ints(i, A_FFT_LENGTH);
    if (!check_operand_array(ctx, i, 0))
        return NULL;
    if (lengths.count < 1 || lengths.count > 3 || lengths.count > s->rank)
        return report_attr(ctx, i, A_FFT_LENGTH, "%" PRId64 " entries for %s, expected 1 to 3",
                           lengths.count, report_text(ctx, s)),
               NULL;
    switch (inst_enum(i, A_FFT_TYPE, E_FFT_TYPE_FFT)) {
    case E_FFT_TYPE_RFFT: return real_shape(ctx, i, lengths);
    case E_FFT_TYPE_IRFFT: return inverse_real_shape(ctx, i, lengths);
    default:
        if (!dtype_is_complex(s->dtype))
            return report_operand(ctx, i, 0, "complex elements"), NULL;
        return s;
    }
}
