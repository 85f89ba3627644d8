/*
 * fft_lanes: transforms of eight rows, or columns, at a time, a lane each, shared by a team. Private to kern.
 */
#ifndef HLO_KERN_FFT_LANES_H
#define HLO_KERN_FFT_LANES_H

#include "kern/fft_row.h"

/* Sequences of n elements of an array: `sets` times `places` of them, those of a set side by side (`next` elements from one
 * to the next), elements of a sequence `step` apart. */
struct fft_sequences {
    struct c128 *x;
    int64_t n, step;
    int64_t places, next;
    int64_t sets, set_step;
};

/* Transforms all of them in place; back they are divided by n. n has no prime factor above FFT_RADIX. Sequences that are few
 * and long are transformed by way of `spare`, as large as the array, where the results are then: *moved says so. False: no
 * memory. */
bool fft_lanes(struct team *team, const struct fft_sequences *s, bool back, struct c128 *spare, bool *moved);
bool fft_lanes_need_spare(const struct fft_sequences *s);

#endif
