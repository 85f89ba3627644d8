/*
 * Executes a module several times on the same made-up arguments and compares the results: by fast
 * and by plain kernels, traced and not traced, on one thread and on several.
 */
#ifndef HLO_TWICE_H
#define HLO_TWICE_H

#include "base/base.h"

enum twice {
    TWICE_REJECTED, /* by the parser or the verifier */
    TWICE_SKIPPED,  /* it takes longer than a test may */
    TWICE_STOPPED,  /* all runs ended in an error */
    TWICE_AGREES,
    TWICE_DIFFERS /* by more than the order of sums explains, or only some runs ended in an error */
};

/* By fast and by plain kernels, each of them traced and not traced, on one thread and on two. Sums
 * of floats by fast and by plain kernels are compared within a bound, all else by its bits. `why`
 * gets an explanation of any outcome but agreement. */
enum twice run_all_ways(struct str text, uint64_t seed, struct buf *why);

/* By fast kernels, on one thread and on 2, 3 and 8, whose results must have the same bits. */
enum twice run_by_teams(struct str text, uint64_t seed, struct buf *why);

#endif
