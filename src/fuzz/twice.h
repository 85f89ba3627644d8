/*
 * Runs a module in two ways on the same made-up arguments: by fast and by plain kernels, observed and not observed, or on one
 * thread and on several.
 */
#ifndef HLO_TWICE_H
#define HLO_TWICE_H

#include "base/base.h"

enum twice {
    TWICE_REJECTED, /* by the parser or the verifier */
    TWICE_SKIPPED,  /* it takes longer than a test may */
    TWICE_STOPPED,  /* both runs ended in an error */
    TWICE_AGREES,
    TWICE_DIFFERS /* by more than the order of sums explains, or only one run ended in an error */
};

/* By fast and by plain kernels. `why` gets an explanation of any outcome but agreement. */
enum twice run_twice(struct str text, uint64_t seed, struct buf *why);

/* By fast kernels, observed and not observed, with the same bounds. */
enum twice run_looked_at(struct str text, uint64_t seed, struct buf *why);

/* By fast kernels, on one thread and on 2, 3 and 8, whose results must have the same bits. */
enum twice run_by_teams(struct str text, uint64_t seed, struct buf *why);

#endif
