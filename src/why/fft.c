/*
 * Fourier transforms: the whole of the dimensions that are transformed.
 */
#include "why/why_priv.h"

void why_fft(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t transformed = inst_ints(i, A_FFT_LENGTH).count;
    struct why_source *s = why_whole(w, i, 0, leaf, "line");
    for (int d = 0; d < s->rank - transformed; d++)
        why_fix(s, d, index[d]);
}
