/*
 * combine.c: pairs of lane instructions that AVX-512 has one instruction for: two logical
 * operations as one of three operands, and the shifts and the sum of bits that make a rotation.
 */
#include "jit/x86.h"

struct combining {
    struct jit_builder *b;
    int *uses; /* by instruction: of its value */
    bool *masks;
};

/* Of the bits of three operands, the first one's first. */
enum { TABLE_A = 0xf0, TABLE_B = 0xcc, TABLE_C = 0xaa };

static bool is_logical(enum lane_op op)
{
    return op == LANE_AND || op == LANE_AND_NOT || op == LANE_OR || op == LANE_XOR;
}

static int table_of(enum lane_op op, int x, int y)
{
    switch (op) {
    case LANE_AND: return x & y;
    case LANE_AND_NOT: return x & ~y & 0xff;
    case LANE_OR: return x | y;
    default: return x ^ y;
    }
}

/* Whether the instruction is a logical operation on vectors. */
static bool is_candidate(const struct combining *c, int at)
{
    if (at < 0 || c->masks[at] || !is_logical((enum lane_op)c->b->insts[at].op))
        return false;
    const int *args = c->b->insts[at].args;
    return (args[0] < 0 || !c->masks[args[0]]) && (args[1] < 0 || !c->masks[args[1]]);
}

static bool combine_logic(const struct combining *c, int at)
{
    struct lane_inst *i = &c->b->insts[at];
    for (int k = 0; k < 2 && is_candidate(c, at); k++) {
        const int inner = i->args[k], other = i->args[!k];
        if (!is_candidate(c, inner) || c->uses[inner] != 1)
            continue;
        const struct lane_inst *j = &c->b->insts[inner];
        const int pair = table_of((enum lane_op)j->op, TABLE_A, TABLE_B);
        i->count = (uint8_t)(k == 0 ? table_of((enum lane_op)i->op, pair, TABLE_C)
                                    : table_of((enum lane_op)i->op, TABLE_C, pair));
        i->op = LANE_LOGIC;
        memcpy(i->args, (const int[]){j->args[0], j->args[1], other}, sizeof i->args);
        return true;
    }
    return false;
}

/* x << n | x >> (width - n) */
static bool combine_rotation(const struct combining *c, int at)
{
    struct lane_inst *i = &c->b->insts[at];
    if (i->op != LANE_OR && i->op != LANE_ADD && i->op != LANE_XOR)
        return false;
    for (int k = 0; k < 2; k++) {
        if (i->args[k] < 0 || i->args[!k] < 0)
            continue;
        const struct lane_inst *left = &c->b->insts[i->args[k]], *right = &c->b->insts[i->args[!k]];
        const int width = lane_is_wide((enum lane_type)i->type) ? 64 : 32;
        if (left->op == LANE_SHL && right->op == LANE_SHR && left->args[0] == right->args[0] &&
            left->type == i->type && right->type == i->type && left->count > 0 &&
            left->count + right->count == width) {
            i->op = LANE_ROTATE;
            i->count = left->count;
            i->args[0] = left->args[0];
            return true;
        }
    }
    return false;
}

void lane_combine(struct jit_builder *b)
{
    struct combining c = {b, ARENA_ARRAY(b->arena, int, b->inst_count), x512_find_masks(b)};
    for (int k = 0; k < b->inst_count; k++)
        for (int j = 0; j < lane_operands(&b->insts[k]); j++)
            if (b->insts[k].args[j] >= 0)
                c.uses[b->insts[k].args[j]]++;
    for (int k = 0; k < b->inst_count; k++)
        if (!combine_rotation(&c, k))
            combine_logic(&c, k);
    lane_remove_unused(b);
}
