/*
 * spec: Fft
 *
 * FFTW, for fft_plan.h. Plans are estimated, not measured: measuring takes longer than many
 * transforms, and would choose differently from run to run. They are for buffers that are aligned
 * as all of kern's are, so that results do not depend on where these are.
 */
#include "kern/fft_plan.h"

#include "base/system.h"

#include <dlfcn.h>
#include <fftw3.h>
#include <sys/mman.h>

/* FFTW's threads libraries are needed for their lock: participants run as threads, and all plans
 * share memory. FFTW itself is loaded along with them. NULL if they are older than that lock. */
static void *load(bool wide, int flags)
{
    void *lib =
        dlopen(wide ? "libfftw3_threads.so.3" : "libfftw3f_threads.so.3", RTLD_LAZY | flags);
    const char *newest = wide ? "fftw_make_planner_thread_safe" : "fftwf_make_planner_thread_safe";
    return lib && dlsym(lib, newest) ? lib : NULL;
}

static void *library(bool wide) { return load(wide, 0); }

/* Whether there is address space for the libraries. Their absence must not depend on memory, or
 * results would. */
static bool has_memory(void)
{
    enum { SIZE = 8 << 20 };
    void *scratch = system_reserve(SIZE);
    return scratch && munmap(scratch, SIZE) == 0;
}

#define FUNCTION(name) ((__typeof__(&(name)))dlsym(lib, #name))

/* A plan in one precision; x and y are memory for operand and result. */
#define MAKE(P, REAL)                                                                              \
    static void P##make(struct fft_plan *p, void *lib, P##complex *x, P##complex *y)               \
    {                                                                                              \
        const int n = (int)p->n, count = (int)p->count, size = sizeof *x;                          \
        const int in = (int)(p->in / size), out = (int)(p->out / size);                            \
        const int sign = p->back ? FFTW_BACKWARD : FFTW_FORWARD;                                   \
        FUNCTION(P##make_planner_thread_safe)();                                                   \
        p->made = p->type == KERN_RFFT                                                             \
                      ? FUNCTION(P##plan_many_dft_r2c)(1, &n, count, (REAL *)x, NULL, 1, 2 * in,   \
                                                       y, NULL, 1, out, FFTW_ESTIMATE)             \
                  : p->type == KERN_IRFFT                                                          \
                      ? FUNCTION(P##plan_many_dft_c2r)(1, &n, count, x, NULL, 1, in, (REAL *)y,    \
                                                       NULL, 1, 2 * out, FFTW_ESTIMATE)            \
                      : FUNCTION(P##plan_many_dft)(1, &n, count, x, NULL, 1, in, y, NULL, 1, out,  \
                                                   sign, FFTW_ESTIMATE);                           \
        const char *name = p->type == KERN_RFFT    ? #P "execute_dft_r2c"                          \
                           : p->type == KERN_IRFFT ? #P "execute_dft_c2r"                          \
                                                   : #P "execute_dft";                             \
        p->execute = (void (*)(void *, void *, void *))dlsym(lib, name);                           \
        p->destroy = (void (*)(void *))dlsym(lib, #P "destroy_plan");                              \
    }
MAKE(fftw_, double)
MAKE(fftwf_, float)

/* FFTW ends the process when it gets no memory for planning, or for tables and buffers of its own,
 * which are about as long as the rows. So this much is taken and freed before. */
bool fftw_plan_make(struct fft_plan *p)
{
    enum { PLANNING = 1 << 20 };
    void *lib = library(p->wide);
    const size_t in = (size_t)(p->count * p->in), bytes = in + (size_t)(p->count * p->out);
    void *probe = lib ? mem_alloc(3 * bytes + PLANNING) : NULL;
    mem_free(probe);
    char *x = probe ? mem_alloc(bytes) : NULL;
    if (x && p->wide)
        fftw_make(p, lib, (void *)x, (void *)(x + in));
    else if (x)
        fftwf_make(p, lib, (void *)x, (void *)(x + in));
    mem_free(x);
    return p->made != NULL;
}

bool fftw_is_built_in(void) { return true; }

const char *fftw_name(bool wide)
{
    if (!load(wide, RTLD_NOLOAD) && !has_memory())
        return NULL;
    void *lib = library(wide);
    return lib ? dlsym(lib, wide ? "fftw_version" : "fftwf_version") : "";
}
