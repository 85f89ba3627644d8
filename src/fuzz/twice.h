/*
 * Runs a module several times on the same generated arguments and compares the results: with fast
 * and with reference kernels, traced and untraced, on one thread and on several.
 */
#ifndef HLO_TWICE_H
#define HLO_TWICE_H

#include "base/base.h"

enum twice {
    TWICE_REJECTED, /* by the parser or the verifier */
    TWICE_SKIPPED,  /* the run takes longer than a test may */
    TWICE_STOPPED,  /* all runs ended in an error */
    TWICE_AGREES,
    TWICE_DIFFERS /* by more than the order of sums explains, or only some runs ended in an error */
};

/* Runs with fast and with reference kernels, each traced and untraced, on one thread and on two.
 * Sums of floats of fast and reference kernels are compared within a bound, all else bitwise. `why`
 * is set to an explanation unless the runs agree. */
enum twice run_all_ways(struct str text, uint64_t seed, struct buf *why);

/* Runs with fast kernels on 1, 2, 3 and 8 threads, whose results must be bitwise identical. */
enum twice run_by_teams(struct str text, uint64_t seed, struct buf *why);

#endif
