/*
 * blas: OpenBLAS, loaded on first use, since loading takes longer than a short run. Private to
 * kern.
 */
#ifndef HLO_KERN_BLAS_H
#define HLO_KERN_BLAS_H

#include <stdbool.h>

bool blas_is_there(void);
/* The address of one of its functions; only valid after blas_is_there(). */
void *blas_function(const char *name);
const char *blas_version(void); /* "" when not available */

#endif
