/*
 * fftw: one-dimensional transforms by FFTW, in double; loaded when it is first needed, like
 * OpenBLAS. Private to kern. Without FFTW, at build time or at run time, there is never a plan, and
 * fft_row.c does it alone.
 */
#ifndef HLO_KERN_FFTW_H
#define HLO_KERN_FFTW_H

#include "kern/kern.h"

/* For rows of n elements, without scaling. KERN_RFFT: n doubles to n / 2 + 1 elements; KERN_IRFFT:
 * back, overwriting its input; the others in place. */
struct fftw_rows {
    enum kern_fft type;
    void *plan; /* NULL: there is none */
    void (*execute)(
        void); /* FFTW's function for this type: asking the loader takes longer than a short row */
};
struct fftw_rows fftw_make(int64_t n, enum kern_fft type);
void fftw_row(const struct fftw_rows *f, void *in, void *out);
void fftw_done(struct fftw_rows *f);
const char *fftw_name(void); /* with its version; "" if it isn't there */

#endif
