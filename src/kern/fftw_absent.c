/*
 * fftw: built without FFTW (no kernel of its own).
 */
#include "kern/fft_plan.h"

bool fftw_is_built_in(void) { return false; }

const char *fftw_name(bool wide) { return ""; }

bool fftw_plan_make(struct fft_plan *p) { return false; }
