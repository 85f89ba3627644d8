/*
 * slots.c: assigns values to slots of a function's frame, and finds the last use of each. Values
 * whose live ranges do not overlap share a slot.
 */
#include "plan/plan_priv.h"

enum { LIVE_FOREVER = INT_MAX }; /* as last use: the value is kept between calls of the function */

/* The operands shared by several steps: all leaves of a tuple from which each step takes an
 * element. */
struct table {
    int last; /* the last of those steps */
    int *slots;
    uint8_t *uses;
};
struct slots {
    int *last_use; /* by value: the step; -1: none */
    int *slot;     /* by value */
    int *free;
    int free_count;
    int *loop_cached;     /* slots of values kept for one run of the loop */
    int *run_cached;      /* slots of values kept between runs */
    struct table *tables; /* by instruction; traced functions only */
};

/* The table of a step that shares its operands with other steps, else NULL. */
static struct table *table_of(const struct slots *s, const struct step *step)
{
    return step_takes_element(step) ? &s->tables[step->inst->operands[0]->index] : NULL;
}

static int take_slot(struct build *b, struct slots *s, int value)
{
    s->slot[value] = s->free_count > 0 ? s->free[--s->free_count] : b->f->slot_count++;
    return s->slot[value];
}

/* Keeps the results of hoisted steps that steps which run more often read. */
static void find_kept(struct build *b, struct slots *s, struct leaves results)
{
    const struct function *f = b->f;
    if (plan_is_traced(b->pl))
        return; /* no step is hoisted */
    uint8_t *hoist = ARENA_ARRAY(&b->pl->scratch, uint8_t, b->value_count);
    for (int k = 0; k < f->step_count; k++)
        for (int r = 0; r < f->steps[k].result_count; r++)
            if (f->steps[k].results[r] >= 0)
                hoist[f->steps[k].results[r]] = f->steps[k].hoist;
    for (int k = 0; k < f->step_count; k++)
        for (int j = 0; j < f->steps[k].operand_count; j++) {
            int v = f->steps[k].operands[j];
            if (v >= 0 && hoist[v] > f->steps[k].hoist)
                s->last_use[v] = LIVE_FOREVER;
        }
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0 && hoist[results.at[j]] != HOIST_NOT)
            s->last_use[results.at[j]] = LIVE_FOREVER;
}

static void find_last_uses(struct build *b, struct slots *s, struct leaves results)
{
    const struct function *f = b->f;
    for (int v = 0; v < b->value_count; v++)
        s->last_use[v] = -1;
    for (int k = 0; k < f->step_count; k++) {
        struct table *t = table_of(s, &f->steps[k]);
        if (t)
            t->last = k;
    }
    for (int k = 0; k < f->step_count; k++) {
        const struct table *t = table_of(s, &f->steps[k]);
        for (int j = 0; j < f->steps[k].operand_count && (!t || t->last == k); j++)
            if (f->steps[k].operands[j] >= 0)
                s->last_use[f->steps[k].operands[j]] = k;
    }
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            s->last_use[results.at[j]] = f->step_count;
}

/* Marks those of operands `from` to `to` of a step that are not read afterwards, at their last
 * occurrence. `seen` counts occurrences by value and is all zero before and after. */
static void mark_range(const struct slots *s, const struct step *step, int number, int from, int to,
                       uint8_t *uses, uint8_t *seen)
{
    for (int j = from; j < to; j++) {
        int v = step->operands[j];
        if (v >= 0 && s->last_use[v] == number && seen[v] < 2)
            seen[v]++;
    }
    for (int j = to - 1; j >= from; j--) {
        int v = step->operands[j];
        if (v >= 0 && seen[v] > 0) {
            uses[j] = seen[v] == 1 ? USE_ONLY : USE_LAST;
            seen[v] = 0;
        }
    }
}

/* Only one branch of a conditional runs, so each branch may take over its own operands. */
static void mark_uses(const struct slots *s, struct step *step, int number, uint8_t *uses,
                      uint8_t *seen)
{
    const struct inst *i = step->inst;
    if (i->opcode == OP_CONDITIONAL)
        for (int k = 0; k < i->operand_count; k++)
            mark_range(s, step, number, step->starts[k], step->starts[k + 1], uses, seen);
    else
        mark_range(s, step, number, 0, step->operand_count, uses, seen);
}

static void assign_operands(struct build *b, const struct slots *s, const struct step *step,
                            struct table *t)
{
    if (t->slots)
        return; /* a value keeps its slot until the last of these steps */
    t->slots = ARENA_ARRAY(build_arena(b), int, step->operand_count);
    t->uses = ARENA_ARRAY(build_arena(b), uint8_t, step->operand_count);
    for (int j = 0; j < step->operand_count; j++)
        t->slots[j] = step->operands[j] >= 0 ? s->slot[step->operands[j]] : step->operands[j];
}

static void assign_step(struct build *b, struct slots *s, int number, uint8_t *seen)
{
    struct step *step = &b->f->steps[number];
    struct table own = {.last = number}, *shared = table_of(s, step), *t = shared ? shared : &own;
    /* operands that may be read here for the last time */
    const int ending = t->last == number ? step->operand_count : 0;
    int *release = ARENA_ARRAY(build_arena(b), int, ending + step->result_count);
    int *results = ARENA_ARRAY(build_arena(b), int, step->result_count);
    assign_operands(b, s, step, t);
    if (ending > 0)
        mark_uses(s, step, number, t->uses, seen);
    for (int j = 0; j < step->result_count; j++) {
        int v = step->results[j];
        results[j] = v >= 0 ? take_slot(b, s, v) : v;
        if (v >= 0 && s->last_use[v] < 0)
            release[step->release_count++] = results[j];
        if (v >= 0 && s->last_use[v] == LIVE_FOREVER && step->hoist == HOIST_LOOP)
            s->loop_cached[b->f->loop_cached_count++] = results[j];
        if (v >= 0 && s->last_use[v] == LIVE_FOREVER && step->hoist == HOIST_RUN &&
            b->pl->depth == 1)
            s->run_cached[b->f->run_cached_count++] = results[j];
    }
    for (int j = 0; j < ending; j++) {
        int v = step->operands[j];
        if (t->uses[j] != USE_KEEP && !seen[v]) {
            release[step->release_count++] = t->slots[j];
            seen[v] = 1;
        }
    }
    for (int j = 0; j < ending; j++)
        if (step->operands[j] >= 0)
            seen[step->operands[j]] = 0;
    for (int j = 0; j < step->release_count; j++)
        s->free[s->free_count++] = release[j];
    if (plan_is_traced(b->pl)) /* a callback reads the operands of a step after it is done */
        memset(t->uses, USE_KEEP, (size_t)ending);
    step->uses = t->uses;
    step->release = release;
    step->operands = t->slots;
    step->results = results;
}

static void assign_params(struct build *b, struct slots *s)
{
    int *params = ARENA_ARRAY(build_arena(b), int, b->f->param_count);
    for (int j = 0; j < b->f->param_count; j++) {
        int v = b->f->params[j];
        params[j] = v >= 0 && s->last_use[v] >= 0 ? take_slot(b, s, v) : NO_VALUE;
    }
    b->f->params = params;
}

static void assign_results(struct build *b, struct slots *s, struct leaves results)
{
    struct function *f = b->f;
    bool *moves = ARENA_ARRAY(build_arena(b), bool, results.count);
    int *slots = ARENA_ARRAY(build_arena(b), int, results.count);
    bool *taken = ARENA_ARRAY(&b->pl->scratch, bool, f->slot_count);
    for (int j = results.count - 1; j >= 0; j--) {
        int v = results.at[j];
        slots[j] = v >= 0 ? s->slot[v] : v;
        if (v >= 0) {
            moves[j] = !taken[slots[j]] && s->last_use[v] != LIVE_FOREVER;
            taken[slots[j]] = true;
        }
    }
    f->results = slots;
    f->result_moves = moves;
    f->result_count = results.count;
}

/* Finds the parts of the state that the body passes on unchanged. */
static void find_passing(struct build *b)
{
    struct function *f = b->f;
    bool *passes = ARENA_ARRAY(build_arena(b), bool, f->param_count);
    for (int k = 0; k < f->param_count && k < f->result_count; k++)
        passes[k] = f->params[k] >= 0 && f->params[k] == f->results[k] && f->result_moves[k];
    f->passes = passes;
}

static void count_hoisted(struct build *b)
{
    struct function *f = b->f;
    struct plan_stats *stats = &b->pl->p->stats;
    for (int k = 0; k < f->step_count; k++) {
        f->hoisted_steps += f->steps[k].hoist == HOIST_RUN;
        f->loop_steps += f->steps[k].hoist != HOIST_NOT;
    }
    *(b->pl->depth == 1 ? &stats->kept : &stats->hoist) += f->hoisted_steps;
    stats->invariant += f->loop_steps - f->hoisted_steps;
}

void plan_assign_slots(struct build *b, struct leaves results)
{
    struct arena *a = &b->pl->scratch;
    struct slots s = {
        ARENA_ARRAY(a, int, b->value_count),
        ARENA_ARRAY(a, int, b->value_count),
        ARENA_ARRAY(a, int, b->value_count),
        0,
        ARENA_ARRAY(a, int, b->value_count),
        ARENA_ARRAY(a, int, b->value_count),
        plan_is_traced(b->pl) ? ARENA_ARRAY(a, struct table, b->f->computation->inst_count) : NULL};
    uint8_t *seen = ARENA_ARRAY(a, uint8_t, b->value_count);
    find_last_uses(b, &s, results);
    find_kept(b, &s, results);
    assign_params(b, &s);
    for (int k = 0; k < b->f->step_count; k++)
        assign_step(b, &s, k, seen);
    count_hoisted(b);
    assign_results(b, &s, results);
    b->f->loop_cached = ARENA_DUP(build_arena(b), s.loop_cached, b->f->loop_cached_count);
    b->f->run_cached = ARENA_DUP(build_arena(b), s.run_cached, b->f->run_cached_count);
    if (b->f->is_body && plan_optimises(b->pl))
        find_passing(b);
}
