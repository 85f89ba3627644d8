/*
 * fft_row: one-dimensional transforms, row by row, in double. Private to kern.
 */
#ifndef HLO_KERN_FFT_ROW_H
#define HLO_KERN_FFT_ROW_H

#include "kern/fftw.h"

enum { FFT_RADIX = 31, FFT_FACTORS = 64 };
enum {
    FFT_FEW = 4096
}; /* fewer elements in all are transformed before a team or FFTW would have begun */
struct fft_rows {
    enum kern_fft type;
    struct fftw_rows fftw; /* if it has a plan, the rest is unused */
    int64_t n,
        m; /* length of the row; length of the transforms by factors, different only with a chirp */
    int factor_count;
    uint8_t factors[FFT_FACTORS]; /* of m, up to FFT_RADIX each */
    struct c128 *roots;           /* exp(-2 pi i k / m), k < m */
    struct c128 *chirp;           /* exp(-pi i k^2 / n), k < n; NULL if not needed */
    struct c128 *filter;          /* transform of the conjugate chirp, wrapped around */
};

/* Plans for rows of n elements of an array of `all` elements. False: no memory. */
bool fft_rows_make(struct fft_rows *f, int64_t n, enum kern_fft type, int64_t all);
int64_t fft_row_room(const struct fft_rows *f); /* elements that fft_row needs */
/* Transforms a row in place, in storage for n elements, of which a half spectrum takes the first n
 * / 2 + 1. The inverse is divided by n. */
void fft_row(const struct fft_rows *f, struct c128 *x, struct c128 *room);
void fft_rows_free(struct fft_rows *f);

/* Parts of these transforms, for fft.c and fft_lanes.c: */

bool fft_has_factors(int64_t n); /* whether none of its prime factors is above FFT_RADIX */
bool fft_factors_make(struct fft_rows *f,
                      int64_t n); /* factors and roots of such a number. False: out of memory */
/* Of a real row half the spectrum is there, and the other half is its conjugate in reverse. */
void fft_clear_real_places(
    struct c128 *x,
    int64_t n); /* its first element and, where there is one, the middle one are real */
void fft_extend(struct c128 *x, int64_t n);

#endif
