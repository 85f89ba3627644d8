/*
 * twice: a module run by the fast kernels and by the plain ones, on the same made-up arguments.
 */
#ifndef HLO_TWICE_H
#define HLO_TWICE_H

#include "base/base.h"

enum twice {
    TWICE_REJECTED, /* by the parser or the verifier */
    TWICE_SKIPPED,  /* more work than a test has time for */
    TWICE_STOPPED,  /* both runs ended in an error */
    TWICE_AGREES,
    TWICE_DIFFERS /* more than another order of sums explains, or only one run ended in an error */
};

/* `why` gets what there is to say about anything but agreement. */
enum twice run_twice(struct str text, uint64_t seed, struct buf *why);

#endif
