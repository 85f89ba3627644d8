/*
 * rehearse.h: shared by the files of the dry run.
 */
#ifndef HLO_EVAL_REHEARSE_H
#define HLO_EVAL_REHEARSE_H

#include "eval/eval_priv.h"

struct rehearsal {
    struct foresight *out;
    struct pretence pretence;
    struct kernels kernels; /* the program's table, with kernels that do nothing */
    int buffers;            /* last buffer number */
    const char *choice;     /* kernel variant of the running step */
    size_t room;
    struct budget budget; /* the program's, restored at the end */
};

/* rehearse_kernels.c: a table of the same kernels, each of which does nothing. */
struct kernels rehearse_kernels(const struct kernels *k);

#endif
