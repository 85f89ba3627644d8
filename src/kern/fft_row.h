/*
 * fft_row: one-dimensional transforms, row by row, in double. Private to kern.
 */
#ifndef HLO_KERN_FFT_ROW_H
#define HLO_KERN_FFT_ROW_H

#include "kern/fftw.h"

enum { FFT_RADIX = 31, FFT_FACTORS = 64 };
struct fft_rows {
    enum kern_fft type;
    struct fftw_rows fftw; /* where it has a plan, that does it all, with `work` */
    int64_t n, m;          /* length; length that the work is done in, another one only with a chirp */
    int factor_count;
    uint8_t factors[FFT_FACTORS]; /* of m, up to FFT_RADIX each */
    struct c128 *roots;           /* exp(-2 pi i k / m), k < m */
    struct c128 *work;            /* m elements */
    struct c128 *chirp;           /* exp(-pi i k^2 / n), k < n; NULL if not needed */
    struct c128 *filter;          /* transform of the conjugate chirp, wrapped around */
    struct c128 *wide;            /* m elements, with a chirp */
};

/* For rows of n elements of an array of so many in all. False: out of memory. */
bool fft_rows_make(struct fft_rows *f, int64_t n, enum kern_fft type, int64_t all);
/* A row in place, in room for n elements, of which a half spectrum takes the first n / 2 + 1. Back it is
 * divided by n. */
void fft_row(struct fft_rows *f, struct c128 *x);
void fft_rows_free(struct fft_rows *f);

#endif
