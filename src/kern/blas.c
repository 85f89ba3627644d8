/*
 * blas: where is OpenBLAS (no kernel of its own)? The loader knows: nothing is kept here, for to ask it again for what is loaded
 * takes less than a tenth of a microsecond. It is never unloaded.
 */
#include "kern/blas.h"

#include <dlfcn.h>
#include <stddef.h>

static void *library(void)
{
    void *lib = dlopen("libopenblas.so.0", RTLD_LAZY);
    return lib ? lib : dlopen("libopenblas.so", RTLD_LAZY);
}

bool blas_is_there(void)
{
    void *lib = library();
    return lib && dlsym(lib, "cblas_sgemm");
}

void *blas_function(const char *name)
{
    return dlsym(library(), name);
}
