/*
 * scalar_peel.c: loops that are scalar code except for their hoisted steps. The first iteration is
 * peeled and runs step by step; the remaining iterations are scalar code, compiled from the other
 * steps and the loop around them.
 */
#include "plan/scalar.h"

struct peeled {
    struct planner *pl;
    const struct inst *loop;
    const struct function *f;
    struct leaves results;
    struct scalar_peeled_loop *made;
    int *reg;           /* by value: its register, or NO_VALUE */
    struct leaves *env; /* by index, for the operands of one instruction */
};

/* ---- arguments: the state, then the kept values ---- */

static int new_argument(struct maker *m, const struct shape *s, int arg)
{
    int64_t n;
    if (!shape_is_array(s) || !shape_elements(s, &n))
        return NO_VALUE;
    return n <= SCALAR_MAX_ELEMENTS ? scalar_new_reg(m, s->dtype, n)
                                    : scalar_new_large(m, s, arg, NULL);
}

static bool add_argument(struct peeled *r, struct maker *m, int value, const struct shape *s,
                         struct leaves *given)
{
    int reg = value < 0 ? NO_VALUE : new_argument(m, s, given->count);
    given->at[given->count++] = reg;
    if (value >= 0)
        r->reg[value] = reg;
    return value < 0 || reg >= 0;
}

static void mark_read(const struct peeled *r, bool *read)
{
    const struct function *f = r->f;
    for (int k = 0; k < f->step_count; k++)
        for (int j = 0; j < f->steps[k].operand_count && f->steps[k].hoist == HOIST_NOT; j++)
            if (f->steps[k].operands[j] >= 0)
                read[f->steps[k].operands[j]] = true;
    for (int j = 0; j < r->results.count; j++)
        if (r->results.at[j] >= 0)
            read[r->results.at[j]] = true;
}

/* Adds arguments for results of hoisted steps that the remaining steps read. */
static bool add_kept(struct peeled *r, struct maker *m, const struct step *s, const bool *read,
                     struct leaves *given)
{
    for (int k = 0; k < s->result_count; k++) {
        int v = s->results[k];
        if (v < 0 || !read[v])
            continue;
        r->made->kept[r->made->cached_count++] = v;
        if (!add_argument(r, m, v, s->shapes[k], given))
            return false;
    }
    return true;
}

static bool add_arguments(struct peeled *r, struct maker *m, int value_count, struct leaves *given)
{
    const struct function *f = r->f;
    bool *read = ARENA_ARRAY(&m->pl->scratch, bool, value_count);
    mark_read(r, read);
    *given = (struct leaves){0, ARENA_ARRAY(&m->pl->scratch, int, value_count + f->param_count)};
    for (int k = 0; k < f->param_count; k++)
        if (!add_argument(r, m, f->params[k], f->param_shapes[k], given))
            return false;
    for (int k = 0; k < f->step_count; k++)
        if (f->steps[k].hoist != HOIST_NOT && !add_kept(r, m, &f->steps[k], read, given))
            return false;
    return true;
}

/* ---- steps ---- */

static int constant_register(struct maker *m, int number)
{
    struct arena *keep = &m->pl->p->arena;
    const struct view *v = &m->pl->p->constants[number];
    int64_t n = view_elements(v);
    if (n > SCALAR_MAX_ELEMENTS)
        return scalar_new_large(m, shape_array(keep, v->dtype, v->rank, v->dims, NULL, NULL), -1,
                                v->data);
    int reg = scalar_new_reg(m, v->dtype, n);
    if (reg < 0)
        return NO_VALUE;
    memcpy(m->regs[reg].at, v->data, (size_t)n * dtype_bytes(v->dtype));
    m->regs[reg].constant = true;
    return reg;
}

static int register_of(const struct peeled *r, struct maker *m, int value)
{
    return value == NO_VALUE ? NO_VALUE : value < 0 ? constant_register(m, ~value) : r->reg[value];
}

static bool set_operands(struct peeled *r, struct maker *m, const struct step *s)
{
    for (int k = 0; k < s->inst->operand_count; k++) {
        struct leaves l = {s->starts[k + 1] - s->starts[k], NULL};
        l.at = ARENA_ARRAY(&m->pl->scratch, int, l.count + 1);
        for (int j = 0; j < l.count; j++) {
            l.at[j] = register_of(r, m, s->operands[s->starts[k] + j]);
            if (l.at[j] < 0)
                return false;
        }
        r->env[s->inst->operands[k]->index] = l;
    }
    return true;
}

static bool make_step(struct peeled *r, struct maker *m, const struct step *s)
{
    struct leaves made;
    if (--m->budget < 0 || !scalar_takes(m, s->inst) || !set_operands(r, m, s) ||
        !scalar_inst(m, s->inst, r->env, &made) || made.count != s->result_count)
        return false;
    for (int k = 0; k < s->result_count; k++)
        if (s->results[k] >= 0)
            r->reg[s->results[k]] = made.at[k];
    return true;
}

/* A scalar_body_fn; the context is a struct peeled. */
static bool make_steps(struct maker *m, const void *context, struct leaves state,
                       struct leaves *next)
{
    struct peeled *r = (struct peeled *)(uintptr_t)context;
    for (int k = 0; k < r->f->step_count; k++)
        if (r->f->steps[k].hoist == HOIST_NOT && !make_step(r, m, &r->f->steps[k]))
            return false;
    *next = (struct leaves){state.count, ARENA_ARRAY(&m->pl->scratch, int, state.count + 1)};
    for (int k = 0; k < state.count; k++) {
        next->at[k] = register_of(r, m, r->results.at[k]);
        if (r->results.at[k] != NO_VALUE && next->at[k] < 0)
            return false;
    }
    return true;
}

/* ---- the loop ---- */

static int greatest_index(const struct function *f)
{
    int max = 0;
    for (int k = 0; k < f->step_count; k++)
        for (int j = 0; j < f->steps[k].inst->operand_count; j++)
            if (f->steps[k].inst->operands[j]->index > max)
                max = f->steps[k].inst->operands[j]->index;
    return max;
}

static struct scalar_code *make_program(struct peeled *r, struct maker *m, int value_count)
{
    const struct function *f = r->f;
    struct leaves given;
    if (!add_arguments(r, m, value_count, &given))
        return NULL;
    struct scalar_code *code = ARENA_NEW(&m->pl->p->arena, struct scalar_code);
    struct leaves state = {f->param_count, given.at};
    scalar_set_args(m, code, given);
    if (!scalar_loop(m, r->loop, 1, (struct leaves){0, NULL}, state, make_steps, r))
        return NULL;
    struct leaves results = {state.count, ARENA_DUP(&m->pl->scratch, state.at, state.count)};
    for (int k = 0; k < state.count; k++)
        if (f->params[k] == r->results.at[k])
            results.at[k] = NO_VALUE; /* unchanged */
    if (!scalar_finish(m, code, results, NULL, false))
        return NULL;
    for (int k = f->param_count; k < code->arg_count; k++)
        if (code->args[k].written) /* kept values must not be modified */
            return NULL;
    return code;
}

struct scalar_peeled_loop *scalar_peel_loop(struct planner *pl, const struct inst *caller,
                                            const struct function *f, int value_count,
                                            struct leaves results)
{
    struct arena *a = &pl->scratch;
    struct maker m = {.pl = pl, .lanes = 1, .budget = SCALAR_BUDGET, .takes_large = true};
    struct peeled r = {.pl = pl, .loop = caller, .f = f, .results = results};
    if (results.count != f->param_count)
        return NULL;
    r.reg = ARENA_ARRAY(a, int, value_count);
    r.env = ARENA_ARRAY(a, struct leaves, greatest_index(f) + 1);
    for (int v = 0; v < value_count; v++)
        r.reg[v] = NO_VALUE;
    r.made = ARENA_NEW(&pl->p->arena, struct scalar_peeled_loop);
    r.made->kept = ARENA_ARRAY(&pl->p->arena, int, value_count);
    r.made->condition = inst_computation(caller, A_CONDITION);
    r.made->termination = plan_termination(pl, caller);
    r.made->code = make_program(&r, &m, value_count);
    pl->p->stats.peeled += r.made->code != NULL;
    return r.made->code ? r.made : NULL;
}
