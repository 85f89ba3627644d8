/*
 * blas: OpenBLAS, loaded only when it is first needed, since loading takes longer than a short run.
 * Private to kern.
 */
#ifndef HLO_KERN_BLAS_H
#define HLO_KERN_BLAS_H

#include <stdbool.h>

bool blas_is_there(void);
/* One of its functions; call it only if blas_is_there(). */
void *blas_function(const char *name);
const char *blas_version(void); /* "" if it isn't there */
#define BLAS(name) ((__typeof__(&(name)))blas_function(#name))

#endif
