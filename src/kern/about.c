/*
 * about.c: which instructions and libraries the kernels use here, for people (no kernel of its
 * own).
 */
#include "kern/blas.h"
#include "kern/cpu.h"
#include "kern/fft_plan.h"
#include "kern/kern.h"

void kern_about(struct buf *out)
{
    const struct cpu_extras extras = cpu_extras();
    const char *blas = blas_version(), *fftw = fftw_name(true), *single = fftw_name(false);
    fftw = fftw ? fftw : "";
    buf_printf(out, "instructions: %s%s%s\n", cpu_isa_name(cpu_isa()), extras.bf16 ? " bf16" : "",
               extras.vnni ? " vnni" : "");
    buf_printf(out, "processors: %d\n", team_processors());
    buf_printf(out, "BLAS: %s\n", *blas ? blas : "none; products go by the program's own kernels");
    buf_printf(out, "FFTW: %s", *fftw ? fftw : "none; transforms go by the program's own kernels");
    buf_printf(out, "%s\n", (single && *single) || !*fftw ? "" : "; none in single precision");
}
