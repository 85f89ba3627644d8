/*
 * Fourier transforms.
 */
#include "eval/eval_priv.h"

/* The verifier only checks the lengths of real transforms. For other wrong lengths, XLA's results contain whatever was in
 * memory. */
static bool lengths_fit(const struct step *s, struct ints lengths)
{
    const struct shape *x = s->inst->operands[0]->shape, *out = s->inst->shape;
    int64_t first = x->rank - lengths.count;
    for (int64_t k = 0; k < lengths.count; k++)
        if (lengths.at[k] != x->dims[first + k] && lengths.at[k] != out->dims[first + k])
            return false;
    return true;
}

bool eval_fft(struct eval *ev, const struct step *s)
{
    static const enum kern_fft types[] = {
        [E_FFT_TYPE_FFT] = KERN_FFT,
        [E_FFT_TYPE_IFFT] = KERN_IFFT,
        [E_FFT_TYPE_RFFT] = KERN_RFFT,
        [E_FFT_TYPE_IRFFT] = KERN_IRFFT,
    };
    struct ints lengths = inst_ints(s->inst, A_FFT_LENGTH);
    if (!lengths_fit(s, lengths))
        return EVAL_FAIL(ev, s, UNSUPPORTED, "fft", "lengths other than the dimensions'");
    struct view *out = eval_result(ev, s, 0);
    return out && (ev->kern->fft(ev->team, out, eval_view(ev, s, 0), types[inst_enum(s->inst, A_FFT_TYPE, 0)], (int)lengths.count,
                                 lengths.at) ||
                   eval_no_memory(ev, s, s->shapes[0]));
}
