/*
 * Makes allocations fail, without environment variables: see shim_alloc.c.
 */
#ifndef HLO_TEST_SHIM_ALLOC_H
#define HLO_TEST_SHIM_ALLOC_H

#include <stdbool.h>

/* The at-th allocation from now on fails, and with `on` all after it; 0: none. */
void shim_alloc_fail(unsigned long at, bool on);
unsigned long shim_alloc_count(void);  /* since then */
unsigned long shim_alloc_failed(void); /* of these */

#endif
