/*
 * rehearse: what the files of a rehearsal share.
 */
#ifndef HLO_EVAL_REHEARSE_H
#define HLO_EVAL_REHEARSE_H

#include "eval/eval_priv.h"

struct rehearsal {
    struct foresight *out;
    struct pretence pretence;
    struct kernels kernels; /* of the program, but they do nothing */
    int buffers;            /* numbers given out so far */
    const char *choice;     /* of the kernel of the step that runs */
    size_t room;
    struct budget budget; /* of the program, for when it is over */
};

/* rehearse_kernels.c: a table with the same kernels that are there, each of which does nothing. */
struct kernels rehearse_kernels(const struct kernels *k);

#endif
