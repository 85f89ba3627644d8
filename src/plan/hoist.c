/*
 * hoist.c: hoists steps of functions that run many times.
 *
 * Steps that depend on constants alone run in the first run of a function. Steps that depend,
 * besides, on parts of a loop's state that its body passes on unchanged are loop-invariant and run
 * in the first iteration of each run of the loop. Nothing is executed speculatively. Hoisted steps
 * are moved before all others, and those of their results that other steps read stay in their
 * slots. Those of the entry computation stay there for later runs, and are the same for all
 * participants.
 */
#include "plan/plan_priv.h"

static const int64_t KEEP_BYTES =
    (int64_t)256 << 20; /* limit for all functions together; values beyond it are recomputed */
/* limit for values kept between runs; the smallest are kept */
static const int64_t PROGRAM_KEEPS = 64 << 20;

bool plan_is_pure(struct planner *pl, const struct inst *i)
{
    if (!op_is(i->opcode, OP_PURE))
        return false;
    return inst_callees(i, NULL) == 0 || (!plan_has_effect(pl, i) && !inline_has_state(pl, i));
}

/* Whether loops, branches and calls are pure: their computations, and all that those call, only
 * compute. */
static bool computes_only(struct planner *pl, const struct computation *c);

bool plan_runs_pure(struct planner *pl, const struct inst *i)
{
    int n;
    struct computation **callees = inst_callee_list(&pl->scratch, i, &n);
    for (int k = 0; k < n; k++)
        if (!computes_only(pl, callees[k]))
            return false;
    return true;
}

static bool computes_only(struct planner *pl, const struct computation *c)
{
    uint8_t *known = &pl->computes[c->index];
    if (*known != KNOWN_NOTHING)
        return *known == KNOWN_YES;
    if (pl->depth >= PLAN_MAX_DEPTH)
        return false;
    pl->depth++;
    bool pure = true;
    for (int k = 0; k < c->inst_count && pure; k++) {
        const struct inst *i = c->insts[k];
        pure = op_is(i->opcode, OP_RUNS) ? plan_runs_pure(pl, i)
                                         : op_is(i->opcode, OP_COMPUTES) || plan_is_pure(pl, i);
    }
    pl->depth--;
    *known = pure ? KNOWN_YES : KNOWN_NO;
    return pure;
}

/* Whether its value may differ between participants: it, or what it calls, reads their ids. */
static bool differs(struct planner *pl, const struct inst *i)
{
    int n;
    bool found = op_is(i->opcode, OP_PARTICIPANT);
    if (!pl->has[OP_REPLICA_ID] && !pl->has[OP_PARTITION_ID])
        return false;
    struct computation **callees = inst_callee_list(&pl->scratch, i, &n);
    for (int k = 0; k < n && !found; k++) {
        uint8_t *known = &pl->differs[callees[k]->index];
        for (int j = 0; j < callees[k]->inst_count && *known != KNOWN_YES; j++)
            if (*known == KNOWN_NOTHING && differs(pl, callees[k]->insts[j]))
                *known = KNOWN_YES;
        if (*known == KNOWN_NOTHING)
            *known = KNOWN_NO;
        found = *known == KNOWN_YES;
    }
    return found;
}

/* ---- frequency of steps ---- */

static int64_t bytes_of(const struct shape *s) { return shape_bytes_or(s, INT64_MAX); }

struct when {
    struct planner *pl;
    struct function *f;
    /* by value number, before slots are assigned: enum hoist of the step that makes it */
    uint8_t *value;
    int *maker; /* by value: the step that makes it; ~k: leaf k of the parameters */
    struct missed_hoist *missed; /* by step */
    bool *held;                  /* by value: its storage is kept */
    int value_count;
    struct leaves results;
    bool *read; /* by value: read by a step, or a result; NULL until first needed */
};

static enum hoist when_of(const struct when *w, int operand)
{
    return operand == NO_VALUE ? HOIST_NOT
           : operand < 0       ? HOIST_RUN
                               : (enum hoist)w->value[operand];
}

/* Finds the parts of the state that a body passes on unchanged. */
static void find_invariant_params(struct when *w, struct leaves results)
{
    const struct function *f = w->f;
    bool body = f->is_body && plan_optimises(w->pl);
    for (int k = 0; k < f->param_count && k < results.count && body; k++)
        if (f->params[k] >= 0 && f->params[k] == results.at[k])
            w->value[f->params[k]] = HOIST_LOOP;
}

enum { LARGE = 1 << 18 }; /* bytes; arrays that are expensive to copy */

static void find_read(struct when *w)
{
    w->read = ARENA_ARRAY(&w->pl->scratch, bool, w->value_count);
    for (int k = 0; k < w->f->step_count; k++)
        plan_mark_read(w->read, w->f->steps[k].operands, w->f->steps[k].operand_count);
    plan_mark_read(w->read, w->results.at, w->results.count);
}

/* Whether the step is a loop or a branch that makes a large array. A loop that updates one in place
 * must keep doing so: a kept array would be copied. */
static bool makes_large(struct when *w, const struct step *s)
{
    bool large = false;
    if (w->pl->depth > 1 || (!step_scalar(s) && s->callee_count == 0))
        return false;
    if (!w->read)
        find_read(w);
    for (int r = 0; r < s->result_count; r++)
        large |= s->results[r] >= 0 && w->read[s->results[r]] && bytes_of(s->shapes[r]) >= LARGE;
    return large;
}

/* Whether the step always has the same results for the same operands and can be kept; `missed`: why
 * it cannot. In functions that run more than once, only an instruction that becomes a step of its
 * own can. */
static bool can_keep(struct when *w, const struct step *s, struct missed_hoist *missed)
{
    *missed = (struct missed_hoist){0};
    if (s->result_count == 0 || makes_large(w, s) || (w->pl->depth == 1 && differs(w->pl, s->inst)))
        return false;
    if (w->pl->depth == 1 && s->callee_count > 0)
        return op_is(s->inst->opcode, OP_RUNS) && plan_runs_pure(w->pl, s->inst);
    if (s->callee_count > 0) {
        bool pure = op_is(s->inst->opcode, OP_RUNS) && plan_runs_pure(w->pl, s->inst);
        missed->kind = pure ? MISSED_CALLEE : MISSED_EFFECT;
        return false;
    }
    if (!step_scalar(s) && !plan_is_pure(w->pl, s->inst))
        missed->kind = MISSED_EFFECT;
    for (int k = 0; s->bodies && k < 2; k++)
        if (s->bodies[k].function)
            missed->kind = MISSED_ELEMENTS;
    return missed->kind == MISSED_NONE;
}

/* Why a step that reads this value, which changes from run to run, is not hoisted. */
static struct missed_hoist missed_by_operand(const struct when *w, int value)
{
    if (value == NO_VALUE)
        return (struct missed_hoist){.kind = MISSED_NONE};
    int at = w->maker[value];
    if (at < 0)
        return (struct missed_hoist){.kind = w->f->is_body ? MISSED_STATE : MISSED_PARAMETER,
                                     .state = ~at};
    const struct missed_hoist *m = &w->missed[at];
    if (m->kind == MISSED_STATE || m->kind == MISSED_PARAMETER || m->kind == MISSED_OPERAND)
        return *m;
    return (struct missed_hoist){.kind = MISSED_OPERAND, .inst = w->f->steps[at].inst};
}

static void find_steps(struct when *w)
{
    for (int k = 0; k < w->f->step_count; k++) {
        struct step *s = &w->f->steps[k];
        enum hoist hoist = can_keep(w, s, &w->missed[k]) ? HOIST_RUN : HOIST_NOT;
        for (int j = 0; j < s->operand_count && hoist != HOIST_NOT; j++) {
            if (when_of(w, s->operands[j]) < hoist)
                hoist = when_of(w, s->operands[j]);
            if (hoist == HOIST_NOT)
                w->missed[k] = missed_by_operand(w, s->operands[j]);
        }
        s->hoist = (uint8_t)hoist;
        for (int r = 0; r < s->result_count; r++)
            if (s->results[r] >= 0) {
                w->value[s->results[r]] = (uint8_t)hoist;
                w->maker[s->results[r]] = k;
            }
    }
}

/* ---- cost heuristics ---- */

static bool is_view(const struct step *s) { return op_is(s->inst->opcode, OP_VIEW); }

/* Bytes that are read from memory for the operand. */
static int64_t bytes_read(const struct when *w, const struct step *s, int k)
{
    int v = s->operands[k], at = v >= 0 ? w->maker[v] : -1;
    const struct step *maker = at >= 0 ? &w->f->steps[at] : NULL;
    const struct inst *i = maker ? maker->inst : NULL;
    if (i && (i->opcode == OP_BROADCAST || i->opcode == OP_IOTA))
        return i->operand_count > 0 ? bytes_of(i->operands[0]->shape) : 0;
    return maker ? bytes_of(maker->shapes[0]) : bytes_of(s->inst->operands[k]->shape);
}

/* Whether recomputing the step is cheaper than keeping its result: a few operations on values in
 * cache take less time than reading a large array. */
static bool is_cheaper_again(const struct when *w, const struct step *s)
{
    if (!step_tile(s) || s->operand_count != s->inst->operand_count ||
        !op_is(s->inst->opcode, OP_CHEAP))
        return false;
    int64_t out = bytes_of(s->shapes[0]), in = 0;
    for (int k = 0; k < s->operand_count; k++)
        if (!add_i64(in, bytes_read(w, s, k), &in))
            return false;
    return out >= LARGE && in < out / 2;
}

/* Summary of the readers of a value visited so far. */
struct readers {
    uint8_t rarest, oftenest; /* enum hoist */
    bool known;
    bool as_array; /* some reader needs it as an array, not only within a fused loop */
    /* some reader takes over its storage, or updates it in place where it has no other reader */
    bool overwritten;
};

static void add_reader(struct readers *r, enum hoist hoist, bool as_array)
{
    if (!r->known || hoist > r->rarest)
        r->rarest = (uint8_t)hoist;
    if (!r->known || hoist < r->oftenest)
        r->oftenest = (uint8_t)hoist;
    r->known = true;
    r->as_array |= as_array;
}

/* Whether the step may take over its operands: loops take their state, updates their array. */
static bool takes_over(const struct step *s)
{
    return s->callee_count > 0 || step_scalar(s) || op_is(s->inst->opcode, OP_UPDATES) ||
           s->inst->opcode == OP_SORT;
}

/* Of a step of the entry computation: whether keeping its result gains nothing, or less than
 * copying it costs. */
static bool is_not_worth_keeping(const struct step *s, const struct readers *r)
{
    bool moves = is_view(s) || s->inst->opcode == OP_IOTA;
    return moves || (r->overwritten && bytes_of(s->shapes[0]) >= LARGE &&
                     (step_tile(s) || op_table[s->inst->opcode].family == FAMILY_shape));
}

static bool is_no_gain(const struct when *w, const struct step *s, const struct readers *r)
{
    if (w->pl->depth == 1 && is_not_worth_keeping(s, r))
        return true;
    return !r->as_array && is_cheaper_again(w, s);
}

/* From the last step to the first: where all readers run equally often, a cheap step runs as often
 * too. */
static void repeat_cheap_steps(struct when *w, int value_count, struct leaves results)
{
    struct readers *readers = ARENA_ARRAY(&w->pl->scratch, struct readers, value_count);
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0) {
            add_reader(&readers[results.at[j]], HOIST_NOT, true);
            readers[results.at[j]].overwritten = true;
        }
    for (int k = w->f->step_count - 1; k >= 0; k--) {
        struct step *s = &w->f->steps[k];
        const struct readers *r =
            s->result_count == 1 && s->results[0] >= 0 ? &readers[s->results[0]] : NULL;
        if (r && r->known && r->rarest == r->oftenest && r->rarest < s->hoist &&
            is_no_gain(w, s, r)) {
            s->hoist = r->rarest;
            w->missed[k].kind = MISSED_CHEAP;
        }
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0) {
                add_reader(&readers[s->operands[j]], (enum hoist)s->hoist, !step_tile(s));
                readers[s->operands[j]].overwritten |= takes_over(s);
            }
    }
}

/* Bytes held by the results of steps of this kind; a view holds its base array. */
static int64_t bytes_held(struct when *w, enum hoist hoist, int value_count, struct leaves results)
{
    int64_t sum = 0;
    memset(w->held, 0, (size_t)value_count);
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            w->held[results.at[j]] = true;
    for (int k = w->f->step_count - 1; k >= 0; k--) {
        const struct step *s = &w->f->steps[k];
        bool view = is_view(s), held = s->hoist < hoist;
        for (int r = 0; r < s->result_count; r++) {
            bool kept = s->hoist == hoist && s->results[r] >= 0 && w->held[s->results[r]];
            held |= kept && view;
            if (kept && !view && !add_i64(sum, bytes_of(s->shapes[r]), &sum))
                return INT64_MAX;
        }
        for (int j = 0; j < s->operand_count; j++)
            if (held && s->operands[j] >= 0)
                w->held[s->operands[j]] = true;
    }
    return sum;
}

/* ---- the pass ---- */

/* Makes steps of this kind run more often. */
static void run_more_often(struct when *w, enum hoist hoist)
{
    for (int k = 0; k < w->f->step_count; k++)
        if (w->f->steps[k].hoist == hoist) {
            w->f->steps[k].hoist--;
            w->missed[k].kind = MISSED_FULL;
        }
}

static void put_first(struct planner *pl, struct function *f)
{
    struct step *steps = ARENA_ARRAY(&pl->p->arena, struct step, f->step_count);
    int n = 0;
    for (int hoist = HOIST_RUN; hoist >= HOIST_NOT; hoist--)
        for (int k = 0; k < f->step_count; k++)
            if (f->steps[k].hoist == hoist)
                steps[n++] = f->steps[k];
    f->steps = steps;
}

static int count(const struct function *f, enum hoist hoist)
{
    int n = 0;
    for (int k = 0; k < f->step_count; k++)
        n += f->steps[k].hoist == hoist;
    return n;
}

static struct when nothing_known(struct planner *pl, struct function *f, int value_count,
                                 struct leaves results)
{
    struct arena *a = &pl->scratch;
    struct when w = {.pl = pl,
                     .f = f,
                     .value = ARENA_ARRAY(a, uint8_t, value_count),
                     .maker = ARENA_ARRAY(a, int, value_count),
                     .held = ARENA_ARRAY(a, bool, value_count),
                     .missed = ARENA_ARRAY(a, struct missed_hoist, f->step_count),
                     .value_count = value_count,
                     .results = results};
    for (int k = 0; k < f->param_count; k++)
        if (f->params[k] >= 0)
            w.maker[f->params[k]] = ~k;
    return w;
}

static void note_missed(struct when *w)
{
    const struct missed_hoist *missed = ARENA_DUP(&w->pl->p->arena, w->missed, w->f->step_count);
    for (int k = 0; k < w->f->step_count; k++)
        w->f->steps[k].missed = &missed[k];
}

void plan_hoist(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    struct when w = nothing_known(pl, f, value_count, results);
    find_invariant_params(&w, results);
    find_steps(&w);
    if (plan_optimises(pl))
        repeat_cheap_steps(&w, value_count, results);
    for (int hoist = HOIST_RUN; hoist > HOIST_NOT; hoist--) {
        int64_t bytes = pl->cached_bytes;
        if (add_i64(bytes, bytes_held(&w, (enum hoist)hoist, value_count, results), &bytes) &&
            bytes <= KEEP_BYTES)
            pl->cached_bytes = bytes;
        else
            run_more_often(&w, (enum hoist)hoist);
    }
    if (plan_optimises(pl))
        note_missed(&w);
    if (count(f, HOIST_NOT) < f->step_count)
        put_first(pl, f);
}

/* ---- the entry computation ---- */

/* With a memory limit nothing is kept between runs: the limit is on one run, which then needs the
 * least memory. */
bool plan_keeps(const struct planner *pl)
{
    return plan_optimises(pl) && !pl->p->dynamic && pl->p->options.limits.memory == 0;
}

/* Makes steps whose results would hold more than `max` bytes run in every run, and so the steps
 * that read them. */
static void repeat_large_steps(struct when *w, int64_t max)
{
    for (int k = 0; k < w->f->step_count; k++) {
        struct step *s = &w->f->steps[k];
        bool again = s->hoist == HOIST_NOT;
        for (int r = 0; r < s->result_count; r++)
            again |= s->results[r] >= 0 && w->held[s->results[r]] && !is_view(s) &&
                     bytes_of(s->shapes[r]) > max;
        for (int j = 0; j < s->operand_count; j++)
            again |= when_of(w, s->operands[j]) == HOIST_NOT;
        s->hoist = again ? HOIST_NOT : HOIST_RUN;
        for (int r = 0; r < s->result_count; r++)
            if (s->results[r] >= 0)
                w->value[s->results[r]] = s->hoist;
    }
}

void plan_hoist_entry(struct planner *pl, struct function *f, int value_count,
                      struct leaves results)
{
    struct when w = nothing_known(pl, f, value_count, results);
    find_steps(&w);
    if (count(f, HOIST_RUN) == 0)
        return;
    repeat_cheap_steps(&w, value_count, results);
    for (int64_t max = PROGRAM_KEEPS;
         bytes_held(&w, HOIST_RUN, value_count, results) > PROGRAM_KEEPS; max /= 2) {
        repeat_large_steps(&w, max);
        repeat_cheap_steps(&w, value_count, results); /* their readers may have changed */
    }
    if (count(f, HOIST_RUN) > 0)
        put_first(pl, f);
}
