/*
 * fftw: built without FFTW (no kernel of its own).
 */
#include "kern/fftw.h"

struct fftw_rows fftw_make(int64_t n, enum kern_fft type)
{
    (void)n;
    return (struct fftw_rows){.type = type};
}

void fftw_row(const struct fftw_rows *f, void *in, void *out)
{
    (void)f;
    (void)in;
    (void)out;
}

void fftw_done(struct fftw_rows *f) { (void)f; }

const char *fftw_name(void) { return ""; }
