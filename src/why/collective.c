/*
 * collective.c: collectives: an element comes from the same operand on all participants, of which only this participant's
 * own is known.
 */
#include "why/why_priv.h"

static void all_leaves(struct why *w, const struct inst *i)
{
    for (int k = 0; k < i->operand_count; k++)
        why_every_leaf(w, i, k, "of all participants");
}

/* Results go by place where they have the shapes of the operands. */
static void by_place(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index, const char *role)
{
    if (leaf < i->operand_count && shape_leaf_count(i->shape) == i->operand_count &&
        shape_same_dims(why_leaf_shape(i->shape, leaf), i->operands[leaf]->shape))
        why_point(w, i, (int)leaf, 0, index, role);
    else
        all_leaves(w, i);
}

void why_collective(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    switch (i->opcode) {
    case OP_ALL_REDUCE: by_place(w, i, leaf, index, "of all participants"); break;
    case OP_COLLECTIVE_BROADCAST:
    case OP_COLLECTIVE_PERMUTE: by_place(w, i, leaf, index, "of another participant"); break;
    default: all_leaves(w, i); /* and the ends of those that were begun; the numbers of participants have no operands */
    }
}
