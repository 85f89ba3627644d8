/*
 * fuse.h: what fuse.c (grouping of steps) and fuse_ops.c (lowering a group to one step) share.
 * Private to plan/.
 */
#ifndef HLO_PLAN_FUSE_H
#define HLO_PLAN_FUSE_H

#include "plan/plan_priv.h"

/* The role of a step within a fused loop. */
enum fuse_role {
    FUSE_NOT,
    FUSE_APPLY,
    FUSE_REDUCE, /* reduces the columns of each row */
    FUSE_REPEAT, /* repeats row values along the columns */
    FUSE_ALIAS   /* alias: no data moves */
};

enum {
    FUSE_MAX_STEPS = 160 /* this stays below KERN_FUSED_OPS; steps of narrow floats count twice */
};

/* Steps that are replaced by the last of them. */
struct fuse_group {
    int steps, work, reducers; /* steps: their number; work: of those that compute */
    int narrow;                /* steps of narrow floats, for which there may be two ops */
    int at[FUSE_MAX_STEPS];    /* last first */
    int copies;                /* elementwise steps that are in other groups as well */
    int rank, row_rank;        /* as in struct kern_fused */
    const int64_t *dims;       /* without those of size 1 */
    const bool *reduced;
    int leaf_count, array_count;
    /* distinct values from outside, `array_count` of them of more than one element */
    int leaves[KERN_FUSED_VIEWS];
    int out_count;
    int outs[KERN_FUSED_RESULTS]; /* steps whose values are also read outside, last first */
};

/* Whether two shapes have the same dimensions except for those of size 1. */
bool fuse_same_dims(const struct shape *a, const struct shape *b);

/* Makes fused loops store results in the places to which they are only copied. */
void fuse_parts(struct planner *pl, struct function *f, int value_count, struct leaves results);

/* The index of a value among the leaves, or leaf_count. */
static inline int fuse_find_leaf(const struct fuse_group *g, int value)
{
    int k = 0;
    while (k < g->leaf_count && g->leaves[k] != value)
        k++;
    return k;
}

/* The type of operand k that an elementwise kernel takes. */
static inline enum dtype fuse_operand_type(const struct step *s, int k)
{
    return s->inst->opcode == OP_SELECT && k == 0 ? DT_PRED : s->as.tile.type;
}

/* An op of a fused loop under construction. Values are numbered: leaves, then results of ops. */
struct fuse_op {
    uint8_t kind; /* enum kern_fused_kind */
    kern_tile_fn *fn;
    const struct kern_reducer *reducer;
    struct tile_meaning meaning;
    uint8_t arg_count, width, reducer_number;
    int args[KERN_MAX_ARGS];
    bool rows, invariant, late;
    int8_t result;
};

struct fuse_leaf {
    enum dtype type;
    int rank;             /* without dimensions of size 1 */
    bool repeats;         /* it repeats one element along each row of elements */
    const char *constant; /* its elements if it is a constant, else NULL */
};

/* Lowers ops to those of a kern_fused, whose op_count, ops and tile_count it sets: consecutive
 * elementwise ops become machine code, and values share tiles when their live ranges do not
 * overlap. `fixed` tells of each value whether it is one repeated element. `results[...].over` is
 * set. */
void fuse_lower(struct planner *pl, int leaf_count, const struct fuse_leaf *leaves,
                const bool *fixed, const struct fuse_op *ops, int op_count, struct kern_fused *out,
                struct kern_fused_result *results);

/* Makes `to`, the last step of the group, compute all results of the group; false when that takes
 * more than KERN_FUSED_OPS ops. */
bool fuse_make(struct planner *pl, const struct fuse_group *g, const struct fuse_leaf *leaves,
               const struct step *const *steps, const enum fuse_role *roles,
               const struct step *const *outs, struct step *to);

#endif
