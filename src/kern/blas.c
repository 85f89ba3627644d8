/*
 * blas: where is OpenBLAS (no kernel of its own)? The loader knows: nothing is kept here, for to ask it again for what is loaded
 * takes less than a tenth of a microsecond. It is never unloaded.
 */
#include "kern/blas.h"

#include "kern/cpu.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* What it can be told by the environment alone has to be said before it is loaded; and an environment may only be changed where
 * no other thread looks at it, hence before main. */
__attribute__((constructor)) static void set_up(void)
{
    /* One thread: others would take long to start, and its answers would depend on how many there are. */
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
#if defined __x86_64__ && defined __linux__
    /* An AMD processor younger than OpenBLAS itself is to it one without AVX-512, and runs at half its speed. What the user
     * has set stays. */
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

/* Whether there is room for what it works in. Where there is none it would ask for it again and again, and never come back. */
static bool has_room(void)
{
    enum { MOST = 256 << 20 };
    void *room = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return room != MAP_FAILED && munmap(room, MOST) == 0;
}

bool blas_is_there(void)
{
    void *lib = library();
    return lib && dlsym(lib, "cblas_sgemm") && has_room();
}

void *blas_function(const char *name)
{
    return dlsym(library(), name);
}

const char *blas_version(void)
{
    void *lib = library();
    char *(*config)(void) = lib ? (char *(*)(void))dlsym(lib, "openblas_get_config") : NULL;
    return config ? config() : "";
}
