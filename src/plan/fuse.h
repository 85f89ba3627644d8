/*
 * fuse.h: what fuse.c, which groups steps, and fuse_ops.c, which turns a group into one step,
 * share. Private to plan/.
 */
#ifndef HLO_PLAN_FUSE_H
#define HLO_PLAN_FUSE_H

#include "plan/plan_priv.h"

/* What a step is within a fused loop. */
enum fuse_role {
    FUSE_NOT,
    FUSE_APPLY,
    FUSE_FOLD,   /* elements of a row to one */
    FUSE_REPEAT, /* one of a row to its elements */
    FUSE_RENAME  /* nothing moves */
};

/* A chain of steps, from `first` on, that will become one: the last of them. */
struct fuse_group {
    int steps, work,
        first;          /* number of steps; how many of them compute something; the first of them */
    int rank, row_rank; /* as of struct kern_fused */
    const int64_t *dims; /* but for those of size 1 */
    int leaf_count;
    int leaves[KERN_FUSED_VIEWS]; /* values from outside, each once */
    int out_count;
    int outs[KERN_FUSED_RESULTS]; /* steps whose values are read outside too, last one first */
};

/* The place of a value among the leaves; leaf_count when it is not there. */
static inline int fuse_find_leaf(const struct fuse_group *g, int value)
{
    int k = 0;
    while (k < g->leaf_count && g->leaves[k] != value)
        k++;
    return k;
}

/* The type that an elementwise kernel takes its operand in. */
static inline enum dtype fuse_operand_type(const struct step *s, int k)
{
    return s->inst->opcode == OP_SELECT && k == 0 ? DT_PRED : s->tile_type;
}

struct fuse_leaf {
    enum dtype type;
    int rank; /* without dimensions of size 1 */
};

/* Makes `to`, the last step of the group, do the work of all; false when that takes too many ops.
 */
bool fuse_make(struct planner *pl, const struct fuse_group *g, const struct fuse_leaf *leaves,
               const struct step *const *steps, const enum fuse_role *roles,
               const struct step *const *outs, struct step *to);

#endif
