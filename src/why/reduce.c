/*
 * Reductions: what is folded away, and the value that folding begins with; scan: the rows so far.
 */
#include "why/why_priv.h"

static void reduce(struct why *w, const struct inst *i, const int64_t *index)
{
    const struct ints dims = inst_ints(i, A_DIMENSIONS);
    const int n = i->operand_count / 2;
    for (int k = 0; k < n; k++) {
        struct why_source *s = why_whole(w, i, k, 0, "folded");
        for (int d = 0, kept = 0; d < s->rank; d++)
            if (!i64_in(dims.at, (int)dims.count, d))
                why_fix(s, d, index[kept++]);
    }
    for (int k = n; k < i->operand_count; k++)
        why_whole(w, i, k, 0, "init");
}

/* A row of an output is made of the rows of the inputs up to there, whole ones; a carry of all. */
static void scan(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const int64_t along = inst_ints(i, A_DIMENSIONS).at[0];
    const int carries = (int)inst_int(i, A_NUM_CARRIES, 0), inputs = i->operand_count - carries;
    const bool output = leaf < shape_leaf_count(i->shape) - carries;
    for (int k = 0; k < i->operand_count; k++) {
        struct why_source *s = why_whole(w, i, k, 0, k < inputs ? "input" : "init");
        if (k >= inputs || !output)
            continue;
        if (inst_bool(i, A_IS_REVERSE))
            why_span(s, along, index[along], s->count[along] - index[along], 1);
        else
            why_span(s, along, 0, index[along] + 1, 1);
    }
}

void why_reduce(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    if (i->opcode == OP_SCAN)
        scan(w, i, leaf, index);
    else
        reduce(w, i, index);
}
