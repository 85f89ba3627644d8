/*
 * Thread pools of several sizes, for tests that results do not depend on the number of threads.
 * The first one is the caller alone.
 */
#ifndef HLO_TEST_THREAD_POOLS_H
#define HLO_TEST_THREAD_POOLS_H

#include "base/base.h"

enum { THREAD_POOLS = 4 };
static const int thread_counts[THREAD_POOLS] = {1, 2, 3, 8};
static struct thread_pool *thread_pools[THREAD_POOLS];

/* To be called in the process of the test: fork does not copy threads. */
static inline void start_thread_pools(void)
{
    for (int k = 0; k < THREAD_POOLS; k++)
        thread_pools[k] = thread_pool_new(thread_counts[k]);
}

static inline void end_thread_pools(void)
{
    for (int k = 0; k < THREAD_POOLS; k++)
        thread_pool_free(thread_pools[k]);
}

#endif
