/*
 * merge.c: removes instructions of a function on tiles that compute a constant, an operand or what
 * an earlier one does, and those whose values are not used: two operations often expand to common
 * parts, as quotient and remainder do.
 */
#include "jit/jit_priv.h"

struct merging {
    struct jit_builder *b;
    int *to;    /* by instruction: the one that has its value */
    int *slots; /* hash table of instructions, -1: empty; open addressing */
    size_t slot_count;
};

static bool may_merge(const struct lane_inst *i)
{
    return lane_has_result(i) && i->op != LANE_LOAD && i->op != LANE_LOAD_SINGLE;
}

static bool is_equal(const struct lane_inst *x, const struct lane_inst *y)
{
    return x->op == y->op && x->type == y->type && x->count == y->count &&
           memcmp(x->args, y->args, sizeof x->args) == 0;
}

static size_t hash_of(const struct lane_inst *i)
{
    uint64_t h = (uint64_t)i->op << 16 | (uint64_t)i->type << 8 | i->count;
    for (int k = 0; k < LANE_OPERANDS; k++)
        h = (h ^ (uint32_t)i->args[k]) * 0x9e3779b97f4a7c15;
    return (size_t)(h >> 32);
}

/* The earlier instruction that is equal, or this one, which is then in the table. */
static int find_equal(struct merging *m, int at)
{
    const struct lane_inst *insts = m->b->insts;
    size_t slot = hash_of(&insts[at]) % m->slot_count;
    for (; m->slots[slot] >= 0; slot = (slot + 1) % m->slot_count)
        if (is_equal(&insts[m->slots[slot]], &insts[at]))
            return m->slots[slot];
    return m->slots[slot] = at;
}

static void find_used(const struct jit_builder *b, bool *used)
{
    for (int k = b->inst_count; k-- > 0;) {
        const struct lane_inst *i = &b->insts[k];
        used[k] |= !lane_has_result(i);
        for (int j = 0; j < lane_operands(i) && used[k]; j++)
            if (i->args[j] >= 0)
                used[i->args[j]] = true;
    }
}

/* Moves used instructions together. */
static void remove_unused(struct merging *m)
{
    struct jit_builder *b = m->b;
    bool *used = ARENA_ARRAY(b->arena, bool, b->inst_count);
    int count = 0;
    bool wide = false;
    find_used(b, used);
    for (int k = 0; k < b->inst_count; k++) {
        struct lane_inst i = b->insts[k];
        for (int j = 0; j < lane_operands(&i) && used[k]; j++)
            if (i.args[j] >= 0)
                i.args[j] = m->to[i.args[j]];
        m->to[k] = count;
        if (used[k])
            b->insts[count++] = i;
        wide |= used[k] && lane_is_wide((enum lane_type)i.type);
    }
    b->wide = wide;
    b->inst_count = count;
}

void lane_remove_unused(struct jit_builder *b)
{
    struct merging m = {b, ARENA_ARRAY(b->arena, int, b->inst_count), NULL, 0};
    for (int k = 0; k < b->inst_count; k++)
        m.to[k] = k;
    remove_unused(&m);
}

void lane_hoist(struct jit_builder *b)
{
    struct lane_inst *sorted = ARENA_ARRAY(b->arena, struct lane_inst, b->inst_count);
    int *to = ARENA_ARRAY(b->arena, int, b->inst_count), count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < b->inst_count; k++)
            if (b->insts[k].invariant == (pass == 0)) {
                to[k] = count;
                sorted[count++] = b->insts[k];
            }
        b->invariant_count = pass == 0 ? count : b->invariant_count;
    }
    for (int k = 0; k < count; k++)
        for (int j = 0; j < lane_operands(&sorted[k]); j++)
            if (sorted[k].args[j] >= 0)
                sorted[k].args[j] = to[sorted[k].args[j]];
    memcpy(b->insts, sorted, (size_t)count * sizeof *sorted);
}

/* What a store of bf16 stores: the low halves of its operand are not masked out. */
static int stored_as_bf16(const struct jit_builder *b, int lanes)
{
    const struct lane_inst *i = lanes >= 0 ? &b->insts[lanes] : NULL;
    const bool masks = i && i->op == LANE_AND && i->args[1] < 0 &&
                       (uint32_t)b->constants[~i->args[1]].bits == lane_high_half;
    return masks ? i->args[0] : lanes;
}

void lane_merge(struct jit_builder *b)
{
    struct merging m = {b, ARENA_ARRAY(b->arena, int, b->inst_count), NULL,
                        2 * (size_t)b->inst_count + 1};
    m.slots = arena_alloc(b->arena, m.slot_count * sizeof *m.slots);
    memset(m.slots, 0xff, m.slot_count * sizeof *m.slots);
    for (int k = 0; k < b->inst_count; k++) {
        struct lane_inst *i = &b->insts[k];
        for (int j = 0; j < lane_operands(i); j++)
            if (i->args[j] >= 0)
                i->args[j] = m.to[i->args[j]];
        if (i->op == LANE_STORE && i->format == DT_BF16)
            i->args[0] = stored_as_bf16(b, i->args[0]);
        m.to[k] = lane_fold(b, i);
        if (m.to[k] == LANE_NONE)
            m.to[k] = may_merge(i) ? find_equal(&m, k) : k;
    }
    remove_unused(&m);
}
