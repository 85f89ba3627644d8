/*
 * twice: a module run in two ways on the same made-up arguments: by the fast kernels and by the plain ones, looked at and
 * not, or by one thread and by several.
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

/* By the fast kernels, looked at instruction by instruction and not: as alike as above. */
enum twice run_looked_at(struct str text, uint64_t seed, struct buf *why);

/* By the fast kernels, on one thread and on 2, 3 and 8: to the last bit the same. */
enum twice run_by_teams(struct str text, uint64_t seed, struct buf *why);

#endif
