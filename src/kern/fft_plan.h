/*
 * fft_plan: one-dimensional transforms of rows in buffers, by FFTW or by our own loops. Private
 * to kern.
 */
#ifndef HLO_KERN_FFT_PLAN_H
#define HLO_KERN_FFT_PLAN_H

#include "kern/kern.h"

/* A row is n complex numbers; the result of KERN_RFFT and the operand of KERN_IRFFT are n / 2 + 1,
 * their other side n real ones. */
struct fft_plan {
    struct fft_plan *next; /* in struct kern_fft_plans */
    enum kern_fft type;
    bool back; /* inverse */
    bool fftw; /* by FFTW */
    bool wide; /* of doubles, else of floats, which only FFTW transforms */
    int64_t n;
    int64_t count;     /* rows that are transformed at a time */
    int64_t in, out;   /* bytes from row to row of the operand and of the result: multiples of 64 */
    int64_t workspace; /* bytes, of fft_plan_run */

    void *made; /* FFTW's plan, and its functions */
    void (*execute)(void *made, void *in, void *out);
    void (*destroy)(void *made);

    /* length of the transforms by factors or by FFTW; greater than n for a convolution */
    int64_t m;
    int factor_count;
    uint8_t factors[64];                 /* of m */
    struct c128 *roots, *chirp, *filter; /* tables of fft_plan.c */
    void *tables; /* for FFTW: those of a convolution, in its precision; or NULL */
};

/* A plan without what needs memory: FFTW's plan, and tables. */
struct fft_plan fft_plan_of(enum kern_fft type, int64_t n, bool wide, bool fftw);
/* Adds a complete copy to the front of the list. NULL: out of memory. */
struct fft_plan *fft_plan_add(struct kern_fft_plans *plans, const struct fft_plan *like);
/* Frees all but the first `count` of the list. */
void fft_plans_trim(struct kern_fft_plans *plans, int count);
/* Transforms `count` rows from `in`, which is overwritten, to `out`; not scaled. Memory is aligned
 * to 64 bytes. Safe for concurrent use. */
void fft_plan_run(const struct fft_plan *p, void *in, void *out, void *workspace);

/* exp(-2 pi i k / n), or its conjugate */
struct c128 fft_root(bool back, int64_t k, int64_t n);

/* fftw.c: libraries that are loaded when they are first needed; fftw_absent.c: built without them
 */
enum { FFTW_LONGEST = INT32_MAX / 32 };
bool fftw_is_built_in(void);
const char *fftw_name(bool wide); /* with its version; "": not installed; NULL: out of memory */
bool fftw_plan_make(struct fft_plan *p); /* of a length up to FFTW_LONGEST; false: out of memory */

#endif
