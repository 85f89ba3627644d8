/*
 * observed.c: functions whose every instruction is a step, so that an observer can be told of each one and see its value.
 *
 * Instructions that only rename existing values (tuples, parameters, constants) become steps here too, with results of
 * their own: the same values, in slots that nobody else has, so that an observer may replace them without changing what
 * they were named after. All operands of an instruction are operands of its step, read or not, so that they still exist
 * when the step is done.
 */
#include "plan/plan_priv.h"

/* Whether the last step has made exactly these values. */
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

/* Emits a step that gives the values `given` new names; `names` as in struct step; `out`: the new names. */
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

/* The same, where operands of the step itself follow those of the instruction. */
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

/* The same for get-tuple-element: the element is among the operands already. */
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

bool plan_observed_inst(struct build *b, const struct inst *i, struct leaves *out)
{
    const int before = b->f->step_count;
    if (i->opcode != OP_PARAMETER && !plan_inst(b, i, out)) /* the leaves of a parameter exist already */
        return false;
    if (is_made(b, before, *out))
        return true;
    for (int k = before; k < b->f->step_count; k++)
        b->f->steps[k].goes_on = true;
    return (i->opcode == OP_GET_TUPLE_ELEMENT ? name_element : name_again)(b, i, *out, out);
}
