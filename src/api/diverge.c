/*
 * Public interface: comparison of runs. Finds the first instruction that computes another value
 * when two programs run on the same arguments.
 *
 * Sketches of all values are taken in a run of each program, and instructions are paired by them
 * (match.c). If the results differ, program b runs again for each pair that may be the first to
 * differ, with the value of a in place of that of b: the instruction whose replacement makes the
 * results agree is the one. There may be none, as when several instructions were changed; then it
 * is the first that differs although its operands do not. The instructions that its value was
 * computed from, which may have no counterpart in a, are tried with changes (change.c): of those
 * with which the results agree, the best is the one with which most values of b are values of a.
 */
#include "api/match.h"

/* Trials: at least MIN_TRIALS, and as many as take WORK, the elements of all values; MORE times as
 * many of alternatives, of which an instruction has dozens. */
enum { MIN_TRIALS = 16, MAX_TRIALS = 1000, MORE = 4, EVENT_WORK = 1000, MOST_EXPLANATIONS = 32 };
static const uint64_t WORK = UINT64_C(1) << 30;
static const uint64_t BUDGET = UINT64_C(512) << 20; /* bytes of values kept for replacement */

struct values { /* of one instruction of a and participant, in all executions */
    hlo_literal **at;
    size_t count, capacity;
    bool requested, dropped;
};

struct search {
    struct hlo_comparison c;
    struct hlo_tolerance tolerance;
    struct arena arena;
    struct matching matching;
    struct values *values; /* by participant and instruction of a */
    uint64_t bytes;        /* of values */
    size_t participants;
    struct suspect trial;     /* the pair whose value is replaced, or compared */
    hlo_literal *guess;       /* unless NULL, replaces the value of b in place of that of a */
    hlo_messages *ignored;    /* of the alternative */
    hlo_program *alternative; /* unless NULL, computes it from the operands */
    const struct match_change *change;      /* or NULL */
    hlo_literal *extras[MATCH_EXTRA_COUNT]; /* values of its extras in the current run */
    uint64_t trial_events;
    uint64_t *executions; /* of an instruction in the current run, by participant */
    hlo_pairing *pairing; /* as given */
    hlo_pairing *found;   /* before any change is tried */
    struct hlo_divergence *out;
    hlo_messages *m;
};

static void prepare(struct search *s, struct tracks *t, const hlo_listing *l)
{
    *t = (struct tracks){.l = l, .insts = hlo_list_count(l), .participants = s->participants};
    t->at = ARENA_ARRAY(&s->arena, struct track, s->participants * t->insts);
}

/* ---- runs ---- */

static bool run(struct search *s, hlo_program *p,
                bool (*after)(void *context, const struct hlo_event *s), hlo_literal **results,
                hlo_messages *m)
{
    struct hlo_trace_callbacks o = {.size = sizeof o, .context = s, .after = after};
    memset(s->executions, 0, s->participants * sizeof *s->executions);
    hlo_trace_within(p, &o);
    const bool ok = hlo_run_all(p, s->c.args, s->c.count, NULL, results, m);
    hlo_trace(p, NULL);
    return ok;
}

static void free_results(struct search *s, hlo_literal **results)
{
    for (size_t i = 0; i < s->participants; i++) {
        hlo_literal_free(results[i]);
        results[i] = NULL;
    }
}

static bool take(struct search *s, struct tracks *t, const struct hlo_event *e)
{
    const struct inst *inst = hlo_listing_inst(t->l, e->inst);
    t->events++;
    if (op_is(inst->opcode, OP_NAMES) && !shape_is_array(inst->shape))
        return true;
    if (!hlo_event_value(e))
        return false;
    track_add(&s->arena, track_of(t, e->participant, e->inst), e);
    return true;
}

static bool take_a(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    return take(s, &s->matching.a, e);
}

static bool take_b(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    return take(s, &s->matching.b, e);
}

/* ---- values of a ---- */

static struct values *values_of(struct search *s, size_t participant, size_t a)
{
    return &s->values[participant * s->matching.a.insts + a];
}

static bool keep(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    struct values *v = values_of(s, e->participant, e->inst);
    if (!v->requested || v->dropped)
        return true;
    const hlo_literal *value = hlo_event_value(e);
    const uint64_t bytes = value ? (uint64_t)shape_bytes_or(value->l->shape, 0) : 0;
    hlo_literal *copy = value && bytes <= BUDGET - s->bytes ? hlo_literal_copy(value) : NULL;
    v->dropped = !copy;
    if (copy) {
        VEC_PUSH(&s->arena, v->at, v->count, v->capacity) = copy;
        s->bytes += bytes;
    }
    return true;
}

static void free_kept(struct search *s)
{
    for (size_t i = 0; i < s->participants * s->matching.a.insts; i++)
        for (size_t k = 0; k < s->values[i].count; k++)
            hlo_literal_free(s->values[i].at[k]);
}

/* Keeps the values of a that replace those of b. */
static bool keep_values(struct search *s, const struct suspect *suspects, size_t count,
                        hlo_literal **results)
{
    for (size_t k = 0; k < count; k++)
        for (size_t p = 0; p < s->participants; p++)
            values_of(s, p, suspects[k].a)->requested = true;
    const bool ok = run(s, s->c.a, keep, results, s->m);
    free_results(s, results);
    return ok;
}

/* ---- trials ---- */

static bool agree(const struct search *s, const hlo_literal *a, const hlo_literal *b,
                  struct hlo_difference *d)
{
    *d = hlo_literal_difference(b, a, &s->tolerance);
    return d->comparable && d->outside == 0;
}

/* Copies floats to an array of another type. */
static void convert(const struct literal *to, const struct literal *from)
{
    const enum dtype t = to->shape->dtype, f = from->shape->dtype;
    int64_t count = 0;
    shape_elements(to->shape, &count);
    for (size_t k = 0; k < (size_t)count; k++)
        float_store(t, (char *)to->data + k * dtype_bytes(t),
                    float_load(f, (const char *)from->data + k * dtype_bytes(f)));
}

/* A copy of `from` with the dimensions and the type of a value, both arrays, or with the same
 * shape; NULL: out of memory. */
static hlo_literal *literal_like(const hlo_literal *value, const hlo_literal *from)
{
    if (!shape_is_array(value->l->shape))
        return hlo_literal_copy(from);
    hlo_literal *copy = hlo_literal_copy(value);
    if (copy && copy->l->shape->dtype == from->l->shape->dtype)
        memcpy(copy->l->data, from->l->data, (size_t)shape_bytes_or(copy->l->shape, 0));
    else if (copy)
        convert(copy->l, from->l);
    return copy;
}

static bool set(const struct hlo_event *e, const hlo_literal *l, hlo_messages *m)
{
    const hlo_literal *value = hlo_event_value(e);
    SCOPED_LITERAL *copy = value ? literal_like(value, l) : NULL;
    return copy && hlo_event_set(e, copy, m);
}

/* The value in place of that of this execution in b, which it counts; NULL: a was not executed as
 * often. */
static const hlo_literal *next_value(struct search *s, const struct hlo_event *e)
{
    if (s->guess)
        return s->guess;
    const struct values *v = values_of(s, e->participant, s->trial.a);
    const uint64_t n = s->executions[e->participant]++;
    const bool varies = track_of(&s->matching.a, e->participant, s->trial.a)->varies;
    const uint64_t k = varies ? n : 0;
    return k < v->count ? v->at[k] : NULL;
}

/* Wrong values may make a loop endless. */
static uint64_t most_events(const struct search *s)
{
    return 2 * (s->matching.a.events + s->matching.b.events);
}

/* Replaces the value of an instruction of b by that of the alternative. */
static bool set_alternative(struct search *s, const struct hlo_event *e)
{
    const hlo_literal *operands[MATCH_OPERAND_COUNT + MATCH_EXTRA_COUNT] = {NULL};
    size_t count = (size_t)hlo_listing_inst(s->matching.b.l, e->inst)->operand_count;
    for (size_t k = 0; k < count; k++)
        if (!(operands[k] = hlo_event_operand(e, k)))
            return false;
    for (size_t k = 0; k < s->change->extra_count; k++)
        if (!(operands[count++] = s->extras[k]))
            return false;
    SCOPED_LITERAL *value = hlo_run(s->alternative, operands, count, s->ignored);
    return value && hlo_event_set(e, value, s->ignored);
}

/* Keeps the last value of an instruction that a change has as a further operand. */
static void keep_extra(struct search *s, const struct hlo_event *e)
{
    for (size_t k = 0; k < s->change->extra_count; k++)
        if (s->change->extras[k] == e->inst) {
            const hlo_literal *value = hlo_event_value(e);
            hlo_literal_free(s->extras[k]);
            s->extras[k] = value ? hlo_literal_copy(value) : NULL;
        }
}

/* Replaces the value of an instruction of b by that of a. */
static bool replace(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    if (s->change)
        keep_extra(s, e);
    if (s->alternative && e->inst == s->trial.b)
        return set_alternative(s, e) && s->trial_events++ <= most_events(s);
    const hlo_literal *value = e->inst == s->trial.b ? next_value(s, e) : NULL;
    if (value && !set(e, value, s->m))
        return false;
    return s->trial_events++ <= most_events(s);
}

static bool replace_and_take(void *context, const struct hlo_event *e)
{
    return replace(context, e) && take_b(context, e);
}

static bool can_try(struct search *s, const struct suspect *u)
{
    for (size_t p = 0; p < s->participants; p++)
        if (values_of(s, p, u->a)->dropped)
            return false;
    return true;
}

/* Whether the results of b are those of a with the value replaced. */
static bool repairs(struct search *s, const struct suspect *u, hlo_literal *const *expected,
                    hlo_literal **results)
{
    struct hlo_difference d;
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    s->trial = *u;
    s->trial_events = 0;
    bool ok = can_try(s, u) && run(s, s->c.b, replace, results, ignored);
    for (size_t p = 0; p < s->participants && ok; p++)
        ok = agree(s, expected[p], results[p], &d);
    free_results(s, results);
    return ok;
}

/* Pairs instructions by the values of b in the run of the last trial. */
static bool match_repaired(struct search *s, hlo_literal **results)
{
    const struct tracks before = s->matching.b;
    s->trial_events = 0;
    prepare(s, &s->matching.b, before.l);
    const bool ok = run(s, s->c.b, replace_and_take, results, s->m);
    free_results(s, results);
    if (!ok) {
        s->matching.b = before;
        return false;
    }
    hlo_pair_copy(s->matching.pairing, s->pairing);
    match_values(&s->matching);
    return true;
}

/* The number of trials that may be made. */
static size_t affordable(const struct search *s)
{
    const struct tracks *t = &s->matching.b;
    uint64_t work = t->events * EVENT_WORK + 1;
    for (size_t i = 0; i < t->participants * t->insts; i++)
        work += t->at[i].kept ? t->at[i].executions * t->at[i].at[0].numbers : 0;
    const uint64_t trials = WORK / work;
    return trials < MIN_TRIALS ? MIN_TRIALS : trials < MAX_TRIALS ? (size_t)trials : MAX_TRIALS;
}

/* The pair that is the first to differ; NULL: unknown. */
static const struct suspect *find_first(struct search *s, const struct suspect *suspects,
                                        size_t count, hlo_literal *const *expected,
                                        hlo_literal **results)
{
    for (size_t k = 0; k < count; k++)
        if (repairs(s, &suspects[k], expected, results))
            return match_repaired(s, results) ? &suspects[k] : NULL;
    return count > 0 && suspects[0].evidence == PARTNER ? suspects : NULL;
}

/* ---- changes ---- */

struct explanation { /* a change of b with which the results agree */
    struct match_change change;
    long evidence; /* match_evidence() */
};

struct explanations {
    struct explanation at[MOST_EXPLANATIONS];
    size_t count;
};

/* Replaces the value of an instruction by that of a change, from now on. */
static bool prepare_change(struct search *s, const struct match_change *c)
{
    s->guess = c->value;
    s->change = c;
    s->alternative = c->module
                         ? hlo_plan(c->module, &HLO_WITH(hlo_run_options, .threads = 1), s->ignored)
                         : NULL;
    return c->value || s->alternative;
}

static void end_change(struct search *s)
{
    hlo_program_free(s->alternative);
    s->alternative = NULL;
    s->guess = NULL;
    s->change = NULL;
    for (size_t k = 0; k < MATCH_EXTRA_COUNT; k++) {
        hlo_literal_free(s->extras[k]);
        s->extras[k] = NULL;
    }
}

/* Whether the results agree with a change. Then instructions are paired anew. */
static bool change_repairs(struct search *s, const struct match_change *c,
                           hlo_literal *const *expected, hlo_literal **results)
{
    const struct suspect at = {.b = c->of.by};
    s->ignored = hlo_messages_new();
    const bool ok =
        prepare_change(s, c) && repairs(s, &at, expected, results) && match_repaired(s, results);
    end_change(s);
    hlo_messages_free(s->ignored);
    return ok;
}

static bool is_explained(const struct explanations *x, size_t inst)
{
    for (size_t k = 0; k < x->count; k++)
        if (x->at[k].change.of.inst == inst)
            return true;
    return false;
}

/* The search of explanations among the changes of some candidates. */
struct trying {
    struct search *s;
    const struct match_candidate *candidates;
    size_t count;
    size_t trials; /* that may be made */
    hlo_literal *const *expected;
    hlo_literal **results;
    struct explanations *out;
};

static bool may_try(const struct trying *t)
{
    return t->trials > 0 && t->out->count < MOST_EXPLANATIONS;
}

/* Tries the change that the next explanation would have. Leaves the tracks and pairs as they were.
 */
static void try_change(struct trying *t)
{
    const struct matching before = t->s->matching;
    struct explanation *e = &t->out->at[t->out->count];
    t->trials--;
    if (change_repairs(t->s, &e->change, t->expected, t->results)) {
        e->evidence = match_evidence(&t->s->matching, &e->change);
        t->s->matching = before;
        hlo_pair_copy(before.pairing, t->s->found);
        t->out->count++;
    } else {
        match_change_free(&e->change);
    }
}

/* Tries values, each for all constants that no earlier one explains. */
static void try_values(struct trying *t)
{
    const struct match_values values = match_values_of_constants(&t->s->matching);
    for (size_t v = 0; v < values.count; v++)
        for (size_t k = 0; k < t->count && may_try(t); k++)
            if (!is_explained(t->out, t->candidates[k].inst) &&
                match_change_constant(&t->s->matching, &t->candidates[k], &values, v,
                                      &t->out->at[t->out->count].change))
                try_change(t);
}

/* Tries all changes of a kind of each instruction. */
static void try_variants(struct trying *t, enum match_kind kind)
{
    for (size_t k = 0; k < t->count && may_try(t); k++) {
        const struct match_variants v = match_variants_of(&t->s->matching, &t->candidates[k], kind);
        for (size_t n = 0; n < v.count && may_try(t); n++)
            if (match_change(&t->s->matching, &t->candidates[k], &v, n,
                             &t->out->at[t->out->count].change))
                try_change(t);
    }
}

/* Sorts explanations by decreasing evidence, stably. */
static void sort_explanations(struct explanations *x)
{
    for (size_t k = 1; k < x->count; k++)
        for (size_t i = k; i > 0 && x->at[i].evidence > x->at[i - 1].evidence; i--) {
            const struct explanation other = x->at[i];
            x->at[i] = x->at[i - 1];
            x->at[i - 1] = other;
        }
}

/* Reports those whose evidence is about that of the best, each instruction once. */
static void report_explanations(struct search *s, const struct explanations *x)
{
    struct hlo_divergence *out = s->out;
    enum { ABOUT = 4 };
    for (size_t k = 0; k < x->count && x->at[k].evidence >= x->at[0].evidence - ABOUT; k++) {
        const struct match_change *c = &x->at[k].change;
        bool reported = out->change_count == COUNT_OF(out->changes);
        for (size_t i = 0; i < out->change_count; i++)
            reported |= out->changes[i].inst == c->of.inst;
        if (reported)
            continue;
        struct buf text = {0};
        buf_str(&text, c->text);
        out->changes[out->change_count++] =
            (struct hlo_change){c->of.inst, c->of.by, hlo_text_of(&text)};
    }
}

/* Finds changes of one instruction of b with which the results agree: of those that the value of
 * the suspect was computed from, or else of others. */
static bool find_changes(struct search *s, const struct suspect *u, hlo_literal *const *expected,
                         hlo_literal **results)
{
    const size_t most = affordable(s);
    struct explanations found = {.count = 0};
    enum match_scope scope = u ? match_scope_of(&s->matching, u) : MATCH_RESULTS;
    size_t own = 0; /* explanations by the suspect itself */
    hlo_pair_copy(s->found, s->matching.pairing);
    for (; scope <= MATCH_ALL && found.count == own && s->participants == 1; scope++) {
        struct trying constants = {
            .s = s, .trials = most, .expected = expected, .results = results, .out = &found};
        struct trying insts = constants;
        constants.count = match_candidates(&s->matching, u, scope, true, &constants.candidates);
        insts.count = match_candidates(&s->matching, u, scope, false, &insts.candidates);
        try_values(&constants);
        for (int kind = MATCH_OPERATION; kind <= MATCH_OPERAND; kind++) {
            insts.trials = most > MIN_TRIALS ? MORE * most : most;
            try_variants(&insts, (enum match_kind)kind);
        }
        if (scope == MATCH_ITSELF)
            own = found.count;
        if (scope == MATCH_ITSELF && u->evidence != OTHER_OPERAND)
            break;
    }
    sort_explanations(&found);
    const bool ok = found.count > 0 && change_repairs(s, &found.at[0].change, expected, results);
    if (ok)
        report_explanations(s, &found);
    for (size_t k = 0; k < found.count; k++)
        match_change_free(&found.at[k].change);
    return ok;
}

/* ---- the first difference ---- */

/* Whether two values differ by more than the tolerance, or relative to each element, if that is
 * what distinguishes them: the usual error of arrays with a few huge elements hides all others. */
static bool values_differ(const struct search *s, const hlo_literal *a, const hlo_literal *b,
                          struct hlo_difference *d)
{
    if (!agree(s, a, b, d))
        return true;
    const struct look_sketch x = look_sketch(a->l), y = look_sketch(b->l);
    if (look_sketches_agree(&x, &y, &s->tolerance))
        return false;
    struct hlo_tolerance strict = s->tolerance;
    strict.usual = false;
    strict.rel += look_usual_error(x.dtype);
    *d = hlo_literal_difference(b, a, &strict);
    return d->outside > 0;
}

/* Compares the values of b with those of a, up to the first that differ. */
static bool compare(void *context, const struct hlo_event *e)
{
    struct search *s = context;
    struct hlo_divergence *out = s->out;
    if (e->inst != s->trial.b || out->found)
        return true;
    const hlo_literal *expected = next_value(s, e), *value = hlo_event_value(e);
    if (!value || !expected)
        return value;
    hlo_literal *replaced = literal_like(value, expected);
    out->found = replaced && values_differ(s, replaced, value, &out->difference);
    if (!out->found) {
        hlo_literal_free(replaced);
        return replaced;
    }
    out->participant = e->participant;
    out->occurrence = s->executions[e->participant] - 1;
    out->value_a = replaced;
    return (out->value_b = hlo_literal_copy(value));
}

static void find_applied(struct search *s, const struct suspect *first)
{
    struct match_applied pair;
    s->out->applied = match_find_applied(&s->matching, first->a, first->b, &pair);
    if (s->out->applied) {
        s->out->applied_a = pair.a;
        s->out->applied_b = pair.b;
    }
}

/* Finds where the values of a pair differ first. */
static bool describe(struct search *s, const struct suspect *first, hlo_literal **results)
{
    s->trial = *first;
    s->out->a = first->a;
    s->out->b = first->b;
    if (s->out->change_count == 0 && !s->out->applied)
        find_applied(s, first);
    s->out->origin = s->out->change_count > 0 ? s->out->changes[0].inst
                     : s->out->applied        ? first->b
                                              : match_origin(&s->matching, first);
    hlo_pair_add(s->matching.pairing, first->a, first->b, HLO_PAIRED_OTHERWISE);
    const bool ok = run(s, s->c.b, compare, results, s->m);
    free_results(s, results);
    return ok;
}

/* ---- the search ---- */

/* Counts the instructions of the module that has fewer. */
static void count_compared(struct search *s)
{
    struct matching *m = &s->matching;
    uint64_t counts[2] = {0}, compared[2] = {0}, unequal[2] = {0};
    match_loosely(m);
    for (int side = 0; side < 2; side++) {
        const struct tracks *t = side ? &m->b : &m->a;
        for (size_t i = 0; i < t->insts; i++) {
            if (!track_counts(t, i))
                continue;
            const long other =
                (side ? hlo_pair_of_b(m->pairing, i) : hlo_pair_of_a(m->pairing, i)).other;
            counts[side]++;
            compared[side] += other >= 0;
            unequal[side] += other >= 0 && !(side ? match_identical(m, (size_t)other, i)
                                                  : match_identical(m, i, (size_t)other));
        }
    }
    const int fewer = counts[1] < counts[0];
    s->out->instructions = counts[fewer];
    s->out->compared = compared[fewer];
    s->out->unequal = unequal[fewer];
}

/* Whether the results of all participants agree; otherwise records the difference of the first that
 * does not, and copies of its results. */
static bool compare_results(struct search *s, hlo_literal *const *a, hlo_literal *const *b)
{
    struct hlo_divergence *out = s->out;
    out->results_agree = true;
    for (size_t i = 0; i < s->participants && out->results_agree; i++) {
        out->results_agree = agree(s, a[i], b[i], &out->results);
        if (out->results_agree)
            continue;
        out->result_a = hlo_literal_copy(a[i]);
        out->result_b = hlo_literal_copy(b[i]);
        if (!out->result_a || !out->result_b) {
            hlo_messages_add(s->m, "diff", "out of memory for the results");
            return false;
        }
    }
    return true;
}

static bool search(struct search *s, hlo_literal **a, hlo_literal **b)
{
    if (!run(s, s->c.a, take_a, a, s->m) || !run(s, s->c.b, take_b, b, s->m) ||
        !compare_results(s, a, b))
        return false;
    free_results(s, b);
    match_values(&s->matching);
    if (s->out->results_agree) {
        count_compared(s);
        return true;
    }
    size_t count = 0;
    const struct suspect *suspects = match_suspects(&s->matching, &count);
    const size_t most = affordable(s);
    count = count < most ? count : most;
    if (count > 0 && !keep_values(s, suspects, count, b))
        return false;
    const struct suspect *first = find_first(s, suspects, count, a, b);
    if (first && match_scope_of(&s->matching, first) == MATCH_ITSELF)
        find_applied(s, first);
    if (!s->out->applied)
        find_changes(s, first, a, b);
    const bool ok = !first || describe(s, first, b);
    count_compared(s);
    return ok;
}

bool hlo_diverge(const struct hlo_comparison *comparison, struct hlo_divergence *out,
                 hlo_messages *m)
{
    OOM_SCOPE((*out = (struct hlo_divergence){0}, hlo_messages_no_memory(m), false));
    *out = (struct hlo_divergence){0};
    struct search s = {.out = out, .m = m};
    if (!hlo_options_copy(&s.c, sizeof s.c, comparison, m) ||
        !hlo_options_copy(&s.tolerance, sizeof s.tolerance, s.c.tolerance, m))
        return false;
    s.participants = hlo_participants(s.c.a);
    if (s.participants != hlo_participants(s.c.b)) {
        hlo_messages_add(m, "diff", "modules differ in the number of participants");
        return false;
    }
    SCOPED_LISTING *a = hlo_list(s.c.a->module), *b = hlo_list(s.c.b->module);
    s.pairing = hlo_pair(a, b);
    s.found = hlo_pair(a, b);
    arena_init(&s.arena);
    s.matching =
        (struct matching){.arena = &s.arena, .pairing = s.c.pairing, .tolerance = &s.tolerance};
    prepare(&s, &s.matching.a, a);
    prepare(&s, &s.matching.b, b);
    s.values = ARENA_ARRAY(&s.arena, struct values, s.participants * s.matching.a.insts);
    s.executions = ARENA_ARRAY(&s.arena, uint64_t, s.participants);
    hlo_literal **results_a = ARENA_ARRAY(&s.arena, hlo_literal *, s.participants);
    hlo_literal **results_b = ARENA_ARRAY(&s.arena, hlo_literal *, s.participants);
    const bool ok = search(&s, results_a, results_b);
    free_results(&s, results_a);
    free_results(&s, results_b);
    free_kept(&s);
    if (!ok)
        hlo_divergence_free(out);
    arena_free(&s.arena);
    hlo_pairing_free(s.pairing);
    hlo_pairing_free(s.found);
    return ok;
}

void hlo_divergence_free(struct hlo_divergence *d)
{
    for (size_t k = 0; k < d->change_count; k++)
        hlo_text_free(&d->changes[k].text);
    d->change_count = 0;
    hlo_literal **const all[] = {&d->value_a, &d->value_b, &d->result_a, &d->result_b};
    for (size_t k = 0; k < COUNT_OF(all); k++) {
        hlo_literal_free(*all[k]);
        *all[k] = NULL;
    }
}
