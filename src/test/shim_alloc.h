/*
 * Makes allocations fail, without environment variables: see shim_alloc.c.
 */
#ifndef HLO_TEST_SHIM_ALLOC_H
#define HLO_TEST_SHIM_ALLOC_H

#include <stdbool.h>

/* Allocation number `at` from now on fails, with `on` also all later ones; 0: none. */
void shim_alloc_fail(unsigned long at, bool on);
unsigned long shim_alloc_count(void);  /* since then */
unsigned long shim_alloc_failed(void); /* number of failed ones */

#endif
