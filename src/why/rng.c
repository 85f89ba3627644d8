/*
 * Random numbers: the state, or the bounds of the distribution.
 */
#include "why/why_priv.h"

void why_rng(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    (void)leaf;
    (void)index;
    for (int k = 0; k < i->operand_count; k++)
        why_every_leaf(w, i, k, i->opcode == OP_RNG ? "parameter" : "state");
}
