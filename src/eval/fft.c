/*
 * Fourier transforms.
 */
#include "eval/eval_priv.h"

bool eval_fft(struct eval *ev, const struct step *s)
{
    static const enum kern_fft types[] = {
        [E_FFT_TYPE_FFT] = KERN_FFT,
        [E_FFT_TYPE_IFFT] = KERN_IFFT,
        [E_FFT_TYPE_RFFT] = KERN_RFFT,
        [E_FFT_TYPE_IRFFT] = KERN_IRFFT,
    };
    struct ints lengths = inst_ints(s->inst, A_FFT_LENGTH);
    struct view *out = eval_result(ev, s, 0);
    return out && (ev->kern->fft(out, eval_view(ev, s, 0), types[inst_enum(s->inst, A_FFT_TYPE, 0)],
                                 (int)lengths.count, lengths.at) ||
                   eval_no_memory(ev, s, s->shapes[0]));
}
