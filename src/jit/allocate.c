/*
 * allocate.c: assigns registers to values by linear scan. A value lives from the instruction that
 * computes it to the last one that reads it; if no register is free, the value that is read last is
 * spilled.
 */
#include "jit/jit_priv.h"

struct scan {
    const struct jit_builder *b;
    int *registers, *last;    /* by instruction; last: of its readers */
    int owner[JIT_REGISTERS]; /* instruction whose value is in the register; -1: free */
    int slot_count;
};

static void find_last_readers(const struct jit_builder *b, int *last)
{
    for (int i = 0; i < b->inst_count; i++)
        last[i] = i;
    for (int i = 0; i < b->inst_count; i++)
        for (int k = 0; k < lane_operands(&b->insts[i]); k++)
            if (b->insts[i].args[k] >= 0)
                last[b->insts[i].args[k]] = i;
}

/* The register whose value is read last. */
static int furthest(const struct scan *s)
{
    int best = 0;
    for (int r = 1; r < JIT_REGISTERS; r++)
        if (s->last[s->owner[r]] > s->last[s->owner[best]])
            best = r;
    return best;
}

static void assign(struct scan *s, int i)
{
    for (int r = 0; r < JIT_REGISTERS; r++)
        if (s->owner[r] < 0) {
            s->owner[r] = i;
            s->registers[i] = r;
            return;
        }
    int r = furthest(s), slot = ~s->slot_count++;
    if (s->last[s->owner[r]] <= s->last[i]) {
        s->registers[i] = slot;
        return;
    }
    s->registers[s->owner[r]] = slot;
    s->registers[i] = r;
    s->owner[r] = i;
}

int allocate_registers(const struct jit_builder *b, int *registers)
{
    struct scan s = {b, registers, ARENA_ARRAY(b->arena, int, b->inst_count), {0}, 0};
    find_last_readers(b, s.last);
    for (int r = 0; r < JIT_REGISTERS; r++)
        s.owner[r] = -1;
    for (int i = 0; i < b->inst_count; i++) {
        for (int r = 0; r < JIT_REGISTERS; r++) /* an operand's register may hold the result */
            if (s.owner[r] >= 0 && s.last[s.owner[r]] <= i)
                s.owner[r] = -1;
        if (b->insts[i].op != LANE_STORE)
            assign(&s, i);
    }
    return s.slot_count;
}
