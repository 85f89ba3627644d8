/*
 * Fourier transforms. spec: Fft
 */
#include "eval/eval_priv.h"

/* The elements of v that the transform reads or writes: the first `lengths` of the last dimensions;
 * of a half spectrum (of a real transform), length / 2 + 1 of the last dimension. */
static struct view cut(const struct view *v, struct ints lengths, bool half)
{
    struct view out = *v;
    const int first = v->rank - (int)lengths.count;
    for (int d = first; d < v->rank; d++) {
        const int64_t length = lengths.at[d - first];
        const int64_t n = half && d == v->rank - 1 ? length / 2 + 1 : length;
        out.dims[d] = n < v->dims[d] ? n : v->dims[d];
    }
    return out;
}

static bool transform(struct eval *ev, const struct step *s, struct view *out, struct ints lengths)
{
    static const enum kern_fft types[] = {
        [E_FFT_TYPE_FFT] = KERN_FFT,
        [E_FFT_TYPE_IFFT] = KERN_IFFT,
        [E_FFT_TYPE_RFFT] = KERN_RFFT,
        [E_FFT_TYPE_IRFFT] = KERN_IRFFT,
    };
    static const struct c128 zero;
    const enum kern_fft type = types[inst_enum(s->inst, A_FFT_TYPE, 0)];
    const struct view from = cut(eval_view(ev, s, 0), lengths, type == KERN_IRFFT);
    const struct view to = cut(out, lengths, type == KERN_RFFT);
    if (view_elements(&to) < view_elements(out) && !eval_rehearsed(ev))
        kern_fill(ev->team, out, &zero);
    return ev->kern->fft(ev->team, &to, &from, type, (int)lengths.count, lengths.at);
}

/* The verifier checks only the lengths of real transforms. Otherwise, as in XLA's HloEvaluator, the
 * operand is truncated or zero-padded to the lengths, and the result to its dimensions. */
bool eval_fft(struct eval *ev, const struct step *s)
{
    struct ints lengths = inst_ints(s->inst, A_FFT_LENGTH);
    for (int64_t k = 0; k < lengths.count; k++)
        if (lengths.at[k] < 0)
            return EVAL_FAIL(ev, s, UNSUPPORTED, "fft", "negative lengths");
    struct view *out = eval_result(ev, s, 0);
    return out && (transform(ev, s, out, lengths) || eval_no_memory(ev, s, s->shapes[0]));
}
