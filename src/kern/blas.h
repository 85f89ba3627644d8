/*
 * blas: OpenBLAS, loaded when it is first needed: that takes longer than all of a short run. Private to kern.
 */
#ifndef HLO_KERN_BLAS_H
#define HLO_KERN_BLAS_H

#include <stdbool.h>

bool blas_is_there(void);
/* One of its functions; only where blas_is_there(). */
void *blas_function(const char *name);
const char *blas_version(void); /* "" where it is not there */
#define BLAS(name) ((__typeof__(&(name)))blas_function(#name))

#endif
