/*
 * blas.c: loads OpenBLAS (no kernel of its own). The handle is not cached, since the loader finds a
 * loaded library in less than 0.1 us. It is never unloaded.
 */
#include "kern/blas.h"

#include "base/system.h"
#include "kern/cpu.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Some settings of OpenBLAS can only be made in the environment, before it is loaded; and the
 * environment may only be changed while no other thread reads it, hence before main. */
__attribute__((constructor)) static void set_up(void)
{
    /* One thread: more would be slow to start, and results would depend on their number. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
#if defined __x86_64__
    /* OpenBLAS treats AMD processors that are newer than itself as lacking AVX-512, and runs at
     * half their speed. A setting of the user is kept. */
    __builtin_cpu_init();
    if (__builtin_cpu_is("amd") && cpu_isa() == CPU_AVX512)
        setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
#endif
}

static void *library(void)
{
    void *lib = dlopen("libopenblas.so.0", RTLD_LAZY);
    return lib ? lib : dlopen("libopenblas.so", RTLD_LAZY);
}

/* Whether there is memory for OpenBLAS's work buffers. Without it, OpenBLAS would retry the
 * allocation in an infinite loop. */
static bool has_memory(void)
{
    enum { MOST = 256 << 20 };
    void *scratch = system_reserve(MOST);
    return scratch && munmap(scratch, MOST) == 0;
}

bool blas_is_there(void)
{
    void *lib = library();
    return lib && dlsym(lib, "cblas_sgemm") && has_memory();
}

void *blas_function(const char *name) { return dlsym(library(), name); }

const char *blas_version(void)
{
    void *lib = library();
    char *(*config)(void) = lib ? (char *(*)(void))dlsym(lib, "openblas_get_config") : NULL;
    return config ? config() : "";
}
