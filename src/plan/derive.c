/*
 * derive.c: steps of instructions that are not in the module.
 */
#include "plan/derive.h"

struct inst *derive_inst(struct build *b, const struct inst *of, enum opcode op,
                         const struct shape *result, int n, const struct shape *const *operands)
{
    struct arena *keep = build_arena(b);
    struct inst *i = ARENA_DUP(keep, of, 1);
    i->opcode = (uint8_t)op;
    i->shape = result;
    i->attr_count = 0;
    i->operand_count = n;
    i->operands = ARENA_ARRAY(keep, struct inst *, n);
    for (int k = 0; k < n; k++) {
        i->operands[k] = ARENA_DUP(keep, of, 1);
        i->operands[k]->shape = operands[k];
        i->operands[k]->index = k;
    }
    return i;
}

/* Gives the instruction one attribute. */
static void set_attr(struct build *b, struct inst *i, struct attr a)
{
    i->attrs = ARENA_DUP(build_arena(b), &a, 1);
    i->attr_count = 1;
}

void derive_dimensions(struct build *b, struct inst *i, int count, const int64_t *dims)
{
    const int64_t *copy = count > 0 ? ARENA_DUP(build_arena(b), dims, count) : NULL;
    set_attr(b, i, (struct attr){.id = A_DIMENSIONS, .v.ints = {count, copy}});
}

void derive_slice(struct build *b, struct inst *i, int rank, const struct slice_dim *dims)
{
    const struct slice_dim *copy = ARENA_DUP(build_arena(b), dims, rank);
    set_attr(b, i, (struct attr){.id = A_SLICE, .v.slices = {rank, copy}});
}

struct step *derive_step(struct build *b, const struct inst *i, const int *operands,
                         struct leaves *out)
{
    struct arena *keep = build_arena(b);
    int *starts = ARENA_ARRAY(keep, int, i->operand_count + 1);
    for (int k = 0; k <= i->operand_count; k++)
        starts[k] = k;
    const struct leaves x = {i->operand_count, ARENA_DUP(keep, operands, i->operand_count)};
    struct step *s = plan_emit(b, i, x, starts, i->shape, out);
    return s && plan_prepare(b, s) ? s : NULL;
}

const struct shape *derive_shape(struct build *b, const struct shape *s, enum dtype t)
{
    return shape_array(build_arena(b), t, s->rank, s->dims, s->dynamic, NULL);
}
