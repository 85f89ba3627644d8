/*
 * fuse.h: what fuse.c, which groups steps, and fuse_ops.c, which makes one step of a group, share. Private to plan/.
 */
#ifndef HLO_PLAN_FUSE_H
#define HLO_PLAN_FUSE_H

#include "plan/plan_priv.h"

/* What a step is in a fused loop. */
enum fuse_role {
    FUSE_NOT,
    FUSE_APPLY,
    FUSE_FOLD,   /* elements of a row to one */
    FUSE_REPEAT, /* one of a row to its elements */
    FUSE_RENAME  /* nothing moves */
};

/* Steps from `first` on become the last one of them. */
struct fuse_group {
    int steps, work, first;      /* how many, and how many of them do something; the first of them */
    int rank, row_rank;          /* as of struct kern_fused */
    const int64_t *dims;         /* but for those of size 1 */
    int leaf_count;
    int leaves[KERN_FUSED_VIEWS]; /* values from outside, each once */
    int out_count;
    int outs[KERN_FUSED_RESULTS]; /* steps whose values are read outside as well, the last one first */
};

/* Where a value is among the leaves; their number when it is none. */
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

/* Makes `to`, the last of the steps, do what they all do; false when that takes too many ops. */
bool fuse_make(struct planner *pl, const struct fuse_group *g, const struct fuse_leaf *leaves,
               const struct step *const *steps, const enum fuse_role *roles, const struct step *const *outs,
               struct step *to);

#endif
