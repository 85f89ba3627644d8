/*
 * dry_run.h: shared by the files of the dry run.
 */
#ifndef HLO_EVAL_DRY_RUN_H
#define HLO_EVAL_DRY_RUN_H

#include "eval/eval_priv.h"

struct dry_run {
    struct memory_estimate *out;
    struct unbacked unbacked;
    struct kernels kernels; /* the program's table, with kernels that do nothing */
    int buffers;            /* last buffer number */
    const char *choice;     /* kernel variant of the running step */
    size_t workspace;
    struct budget budget; /* the program's, restored at the end */
};

/* dry_run_kernels.c: a table of the same kernels, each of which does nothing. */
struct kernels dry_run_kernels(const struct kernels *k);

#endif
