/*
 * elementwise.c: elementwise operations: the same place of each operand. For select, only the side that was chosen; for
 * clamp, minimum and maximum all operands, and a note on the one that is the result.
 */
#include "why/why_priv.h"

#include <string.h>

/* Whether operand k has the bits of the result there. */
static bool is_result(const struct why *w, const struct inst *i, int k, const int64_t *index)
{
    const struct literal *result = why_value(w, i, WHY_SELF, 0), *operand = why_value(w, i, k, 0);
    const void *a = result ? why_at(result, index) : NULL, *b = operand ? why_at(operand, index) : NULL;
    return a && b && result->shape->dtype == operand->shape->dtype && memcmp(a, b, dtype_bytes(result->shape->dtype)) == 0;
}

/* Operands in the order of `first`, whose bits the result may have. */
static void one_of(struct why *w, const struct inst *i, const int64_t *index, const int *order, const char *const *roles)
{
    int chosen = -1;
    for (int k = 0; k < i->operand_count && chosen < 0; k++)
        if (is_result(w, i, order[k], index))
            chosen = order[k];
    for (int k = 0; k < i->operand_count; k++)
        why_same(w, i, k, 0, index, k == chosen ? "chosen" : roles[k]);
}

static void select_one(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    const struct literal *pred = why_value(w, i, 0, 0);
    const unsigned char *p = pred ? why_at(pred, index) : NULL;
    why_same(w, i, 0, 0, index, "condition");
    if (p) {
        why_same(w, i, *p ? 1 : 2, leaf, index, "chosen");
        return;
    }
    why_same(w, i, 1, leaf, index, "on true");
    why_same(w, i, 2, leaf, index, "on false");
}

void why_elementwise(struct why *w, const struct inst *i, int64_t leaf, const int64_t *index)
{
    static const char *const binary[] = {"lhs", "rhs"}, *const clamp[] = {"min", "operand", "max"};
    switch (i->opcode) {
    case OP_SELECT: select_one(w, i, leaf, index); break;
    case OP_CLAMP: one_of(w, i, index, (const int[]){1, 0, 2}, clamp); break;
    case OP_MINIMUM:
    case OP_MAXIMUM: one_of(w, i, index, (const int[]){0, 1}, binary); break;
    default:
        for (int k = 0; k < i->operand_count; k++)
            why_same(w, i, k, 0, index, i->operand_count == 2 ? binary[k] : "operand");
    }
}
