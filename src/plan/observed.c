/*
 * Functions whose every instruction is a step, so that somebody can be told of each and see what it has made.
 *
 * What is another name for values that exist, a tuple, a parameter, a constant, is a step here that makes them its own:
 * its results are the same values in slots that nobody else has, and may be replaced without a change to what they
 * were named after. All operands of the instruction are operands of its step, read or not, so that they are still there
 * when it is done.
 */
#include "plan/plan_priv.h"

/* The last step has made just these. */
static bool is_made(const struct build *b, int steps_before, struct leaves l)
{
    if (b->f->step_count == steps_before)
        return false;
    const struct step *s = &b->f->steps[b->f->step_count - 1];
    for (int k = 0; k < l.count && l.count == s->result_count; k++)
        if (s->results[k] != l.at[k])
            return false;
    return l.count == s->result_count;
}

/* A step that names `given` once more; `names` as in struct step, `out`: the names. */
static bool emit_names(struct build *b, const struct inst *i, struct leaves operands, const int *starts, int *names,
                       struct leaves *out)
{
    struct step *s = plan_emit(b, i, operands, starts, i->shape, out);
    if (!s)
        return false;
    int *results = ARENA_DUP(&b->pl->p->arena, s->results, s->result_count);
    for (int k = 0; k < s->result_count; k++)
        if (names[k] == NO_VALUE)
            results[k] = out->at[k] = NO_VALUE;
    s->results = results;
    s->names = names;
    return true;
}

/* Operands of its own stand behind those of the instruction. */
static bool name_again(struct build *b, const struct inst *i, struct leaves given, struct leaves *out)
{
    struct arena *keep = &b->pl->p->arena;
    int *starts, *names = ARENA_ARRAY(keep, int, given.count);
    struct leaves own = plan_operands(b, i, &starts), all = {own.count, NULL};
    all.at = ARENA_ARRAY(keep, int, own.count + given.count);
    if (own.count > 0)
        memcpy(all.at, own.at, (size_t)own.count * sizeof *own.at);
    for (int k = 0; k < given.count; k++) {
        names[k] = given.at[k];
        if (given.at[k] >= 0) {
            names[k] = all.count;
            all.at[all.count++] = given.at[k];
        }
    }
    return emit_names(b, i, all, starts, names, out);
}

/* The element is among the operands already. */
static bool name_element(struct build *b, const struct inst *i, struct leaves given, struct leaves *out)
{
    struct arena *keep = &b->pl->p->arena;
    const struct leaves tuple = b->env[i->operands[0]->index];
    int *starts = ARENA_ARRAY(keep, int, 2), *names = ARENA_ARRAY(keep, int, given.count);
    starts[1] = tuple.count;
    for (int k = 0; k < given.count; k++)
        names[k] = given.at[k] == NO_VALUE ? NO_VALUE : (int)(given.at - tuple.at) + k;
    return emit_names(b, i, tuple, starts, names, out);
}

bool plan_shown(struct build *b, const struct inst *i, struct leaves *out)
{
    const int before = b->f->step_count;
    if (i->opcode != OP_PARAMETER && !plan_inst(b, i, out)) /* the leaves of a parameter are there already */
        return false;
    if (is_made(b, before, *out))
        return true;
    for (int k = before; k < b->f->step_count; k++)
        b->f->steps[k].goes_on = true;
    return (i->opcode == OP_GET_TUPLE_ELEMENT ? name_element : name_again)(b, i, *out, out);
}
