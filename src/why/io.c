/*
 * Feeds and channels: what is sent is the operand, what comes in was made elsewhere.
 */
#include "why/why_priv.h"

void why_io(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    (void)index;
    const bool hands_on = i->opcode == OP_SEND || i->opcode == OP_RECV_DONE;
    if (hands_on && leaf < shape_leaf_count(i->operands[0]->shape))
        why_every_leaf(w, i, 0, i->opcode == OP_SEND ? "operand" : "received");
}
