/*
 * spec: Fft
 *
 * FFTW, for kern/fftw.h. Plans are estimated, not measured: measuring takes longer than one
 * transform, and would choose differently from run to run.
 */
#include "kern/fftw.h"

#include <dlfcn.h>
#include <fftw3.h>

/* FFTW's threads library is needed only for its lock, since participants run as threads and all
 * plans share memory. FFTW itself is loaded along with it. */
static void *library(void) { return dlopen("libfftw3_threads.so.3", RTLD_LAZY); }

#define FFTW(name) ((__typeof__(&(name)))dlsym(library(), #name))

/* Whether there is memory for tables about as long as the row: FFTW ends the process when it gets
 * none. */
static bool there_is_room(int64_t n)
{
    void *probe = mem_alloc(((size_t)n * 4 + 65536) * sizeof(fftw_complex));
    mem_free(probe);
    return probe != NULL;
}

static fftw_plan plan(int64_t n, enum kern_fft type, fftw_complex *x, double *real)
{
    switch (type) {
    case KERN_RFFT: return FFTW(fftw_plan_dft_r2c_1d)((int)n, real, x, FFTW_ESTIMATE);
    case KERN_IRFFT: return FFTW(fftw_plan_dft_c2r_1d)((int)n, x, real, FFTW_ESTIMATE);
    default:
        return FFTW(fftw_plan_dft_1d)((int)n, x, x, type == KERN_FFT ? FFTW_FORWARD : FFTW_BACKWARD,
                                      FFTW_ESTIMATE);
    }
}

struct fftw_rows fftw_make(int64_t n, enum kern_fft type)
{
    struct fftw_rows f = {.type = type};
    if (n > INT32_MAX / 8 || !library() || !FFTW(fftw_make_planner_thread_safe) ||
        !there_is_room(n))
        return f;
    FFTW(fftw_make_planner_thread_safe)();
    /* A plan fits rows at any place that is aligned like these. */
    fftw_complex *x = mem_alloc((size_t)n * sizeof *x);
    double *real = mem_alloc((size_t)n * sizeof *real);
    f.plan = x && real ? plan(n, type, x, real) : NULL;
    mem_free(x);
    mem_free(real);
    f.execute = (void (*)(void))dlsym(library(), type == KERN_RFFT    ? "fftw_execute_dft_r2c"
                                                 : type == KERN_IRFFT ? "fftw_execute_dft_c2r"
                                                                      : "fftw_execute_dft");
    return f;
}

void fftw_row(const struct fftw_rows *f, void *in, void *out)
{
    if (f->type == KERN_RFFT)
        ((__typeof__(&fftw_execute_dft_r2c))f->execute)(f->plan, in, out);
    else if (f->type == KERN_IRFFT)
        ((__typeof__(&fftw_execute_dft_c2r))f->execute)(f->plan, in, out);
    else
        ((__typeof__(&fftw_execute_dft))f->execute)(f->plan, in, out);
}

void fftw_done(struct fftw_rows *f)
{
    if (f->plan)
        FFTW(fftw_destroy_plan)(f->plan);
    f->plan = NULL;
}

const char *fftw_name(void)
{
    void *lib = library();
    const char *version = lib ? dlsym(lib, "fftw_version") : NULL;
    return version ? version : "";
}
