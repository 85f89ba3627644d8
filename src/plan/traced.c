/*
 * traced.c: plans functions in which every instruction is a step, so that a callback sees each
 * instruction and its value.
 *
 * Instructions that only alias existing values (tuples, parameters, constants) become steps here
 * too. Their results are the same values in slots of their own, so that the callback may replace
 * them without changing the original. All operands of an instruction are operands of its step, read
 * or not, so that they are still alive when the step is done. Dead code is planned as well, except
 * what cannot be planned.
 */
#include "plan/plan_priv.h"

/* Whether the last step is the instruction's own and has made exactly these values. */
static bool is_made(const struct build *b, const struct inst *i, int steps_before, struct leaves l)
{
    if (b->f->step_count == steps_before)
        return false;
    const struct step *s = &b->f->steps[b->f->step_count - 1];
    if (s->inst != i)
        return false;
    for (int k = 0; k < l.count && l.count == s->result_count; k++)
        if (s->results[k] != l.at[k])
            return false;
    return l.count == s->result_count;
}

/* Emits a step that makes aliases of the values `given`; `aliases` as in struct step; `out`: the
 * aliases. */
static bool emit_names(struct build *b, const struct inst *i, struct leaves operands,
                       const int *starts, int *aliases, struct leaves *out)
{
    struct step *s = plan_emit(b, i, operands, starts, i->shape, out);
    if (!s)
        return false;
    int *results = ARENA_DUP(&b->pl->p->arena, s->results, s->result_count);
    for (int k = 0; k < s->result_count; k++)
        if (aliases[k] == NO_VALUE)
            results[k] = out->at[k] = NO_VALUE;
    s->results = results;
    s->aliases = aliases;
    return true;
}

/* emit_names() for a step that has operands of its own after those of the instruction. */
static bool name_again(struct build *b, const struct inst *i, struct leaves given,
                       struct leaves *out)
{
    struct arena *keep = &b->pl->p->arena;
    int *starts, *aliases = ARENA_ARRAY(keep, int, given.count);
    struct leaves own = plan_operands(b, i, &starts), all = {own.count, NULL};
    all.at = ARENA_ARRAY(keep, int, own.count + given.count);
    if (own.count > 0)
        memcpy(all.at, own.at, (size_t)own.count * sizeof *own.at);
    for (int k = 0; k < given.count; k++) {
        aliases[k] = given.at[k];
        if (given.at[k] >= 0) {
            aliases[k] = all.count;
            all.at[all.count++] = given.at[k];
        }
    }
    return emit_names(b, i, all, starts, aliases, out);
}

/* emit_names() for get-tuple-element: the element is one of the operands. */
static bool name_element(struct build *b, const struct inst *i, struct leaves given,
                         struct leaves *out)
{
    struct arena *keep = &b->pl->p->arena;
    const struct leaves tuple = b->env[i->operands[0]->index];
    int *starts = ARENA_ARRAY(keep, int, 2), *aliases = ARENA_ARRAY(keep, int, given.count);
    starts[1] = tuple.count;
    for (int k = 0; k < given.count; k++)
        aliases[k] = given.at[k] == NO_VALUE ? NO_VALUE : (int)(given.at - tuple.at) + k;
    return emit_names(b, i, tuple, starts, aliases, out);
}

/* ---- dead code that cannot be planned ---- */

/* Whether runs without a callback leave the instruction out. */
static bool is_dead(struct build *b, const struct inst *i)
{
    int count;
    if (plan_is_used(b->pl, i))
        return false;
    struct inst **live = plan_live(b->pl, i->parent, &count);
    for (int k = 0; k < count; k++)
        if (live[k] == i)
            return false;
    return true;
}

static bool reads_left_out(const struct build *b, const struct inst *i)
{
    for (int k = 0; k < i->operand_count && b->left_out; k++)
        if (b->left_out[i->operands[k]->index])
            return true;
    return false;
}

static void leave_out(struct build *b, const struct inst *i, int steps_before)
{
    if (!b->left_out)
        b->left_out = ARENA_ARRAY(&b->pl->scratch, bool, i->parent->inst_count);
    b->left_out[i->index] = true;
    b->f->step_count = steps_before;
}

/* ---- instructions as steps ---- */

static bool plan_shown(struct build *b, const struct inst *i, struct leaves *out)
{
    const int before = b->f->step_count;
    if (i->opcode != OP_PARAMETER &&
        !plan_inst(b, i, out)) /* the leaves of a parameter exist already */
        return false;
    if (is_made(b, i, before, *out))
        return true;
    for (int k = before; k < b->f->step_count; k++)
        b->f->steps[k].continues = true;
    return (i->opcode == OP_GET_TUPLE_ELEMENT ? name_element : name_again)(b, i, *out, out);
}

bool plan_traced_inst(struct build *b, const struct inst *i, struct leaves *out)
{
    const int before = b->f->step_count;
    struct diags messages, *ds = b->pl->ds;
    if (plan_is_used(b->pl, i))
        return plan_shown(b, i, out);
    if (reads_left_out(b, i)) {
        leave_out(b, i, before);
        return true;
    }
    diags_init(&messages, ds->source);
    b->pl->ds = &messages;
    bool ok = plan_shown(b, i, out), dead = !ok && is_dead(b, i);
    b->pl->ds = ds;
    if (dead)
        leave_out(b, i, before);
    else
        diags_copy(ds, &messages);
    diags_free(&messages);
    return ok || dead;
}
