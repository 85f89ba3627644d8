/*
 * Runs a module several times on the same generated arguments and compares the results: with fast
 * and with reference kernels, traced and untraced, on one thread and on several.
 */
#ifndef HLO_DIFFERENTIAL_H
#define HLO_DIFFERENTIAL_H

#include "base/base.h"

enum differential {
    DIFFERENTIAL_REJECTED, /* by the parser or the verifier */
    DIFFERENTIAL_SKIPPED,  /* the run takes longer than a test may */
    DIFFERENTIAL_STOPPED,  /* all runs ended in an error */
    DIFFERENTIAL_AGREES,
    DIFFERENTIAL_DIFFERS /* by more than the order of sums explains, or only some runs ended in an
                            error */
};

/* Runs with fast and with reference kernels, each traced and untraced, on one thread and on two,
 * and without machine code.
 * Sums of floats of fast and reference kernels are compared within a bound, all else bitwise. `why`
 * is set to an explanation unless the runs agree. */
enum differential run_all_modes(struct str text, uint64_t seed, struct buf *why);

/* Runs with fast kernels on 1, 2, 3 and 8 threads, traced, and without machine code, whose results
 * must be bitwise identical; if the module has little work, with reference kernels as well. */
enum differential run_on_threads(struct str text, uint64_t seed, struct buf *why);

#endif
