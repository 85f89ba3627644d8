/*
 * fft_lanes: transforms of eight rows, or columns, at a time, one in each lane, shared by a team.
 * Private to kern.
 */
#ifndef HLO_KERN_FFT_LANES_H
#define HLO_KERN_FFT_LANES_H

#include "kern/fft_row.h"

/* Sequences of n elements in an array: `sets` sets of `places` sequences, which are `next` elements
 * apart; the elements of a sequence are `step` apart. */
struct fft_sequences {
    struct c128 *x;
    int64_t n, step;
    int64_t places, next;
    int64_t sets, set_step;
};

/* Transforms all of them in place; with `back`, inversely, divided by n. n must have no prime
 * factor above FFT_RADIX. If there are few and long sequences, results are in `spare` instead,
 * which must be as large as the array: *moved is then set. False: no memory. */
bool fft_lanes(struct team *team, const struct fft_sequences *s, bool back, struct c128 *spare,
               bool *moved);
bool fft_lanes_need_spare(const struct fft_sequences *s);

#endif
