/*
 * scalar_control.c: compiles loops and branches to scalar code: jumps, and moves into the registers
 * of a loop's state or of a conditional's result.
 */
#include "plan/scalar.h"

#include <stdlib.h>

/* A register for a value of the same type and size; NO_VALUE stays. */
static int register_like(struct maker *m, int reg)
{
    return reg == NO_VALUE            ? NO_VALUE
           : m->regs[reg].large_array ? scalar_same_large(m, reg)
                                      : scalar_new_reg(m, m->regs[reg].type, m->regs[reg].n);
}

static bool registers_like(struct maker *m, struct leaves l, struct leaves *out)
{
    bool ok = true;
    *out = (struct leaves){l.count, ARENA_ARRAY(&m->pl->scratch, int, l.count + 1)};
    for (int k = 0; k < l.count && ok; k++) {
        out->at[k] = register_like(m, l.at[k]);
        ok = out->at[k] == NO_VALUE || out->at[k] >= 0;
    }
    return ok;
}

/* Registers for the state of a loop. Parts that no iteration changes stay where they are; `init`:
 * the initial values, of which hoisted ones are loaded otherwise. */
static bool state_registers(struct maker *m, const struct inst *loop, struct leaves init,
                            struct leaves *out)
{
    struct leaves changed = {init.count, ARENA_DUP(&m->pl->scratch, init.at, init.count)};
    bool *same = ARENA_ARRAY(&m->pl->scratch, bool, init.count);
    const bool *invariant = scalar_invariants(&m->pl->scratch, loop, init.count);
    for (int k = 0; k < init.count; k++) {
        same[k] = init.at[k] != NO_VALUE && !m->regs[init.at[k]].large_array && invariant[k];
        if (same[k])
            changed.at[k] = NO_VALUE;
    }
    if (!scalar_load_hoisted(m, &changed) || !registers_like(m, changed, out))
        return false;
    for (int k = 0; k < init.count; k++)
        if (!same[k]) {
            init.at[k] = changed.at[k];
        } else {
            const struct reg r = m->regs[init.at[k]];
            out->at[k] = scalar_alias_reg(m, init.at[k], r.at, r.type, r.n);
        }
    for (int k = 0; k < init.count; k++)
        if (out->at[k] != NO_VALUE) {
            m->regs[out->at[k]].invariant = invariant[k];
            if (invariant[k])
                m->regs[out->at[k]].before = m->regs[init.at[k]].before;
        }
    return true;
}

/* Converts the registers of `l` to the types of `model`. */
static bool make_like(struct maker *m, struct leaves *l, struct leaves model)
{
    if (l->count != model.count)
        return false;
    int *at = ARENA_DUP(&m->pl->scratch, l->at, l->count);
    for (int k = 0; k < l->count; k++) {
        if ((at[k] == NO_VALUE) != (model.at[k] == NO_VALUE))
            return false;
        if (at[k] != NO_VALUE)
            at[k] = scalar_convert(m, at[k], m->regs[model.at[k]].type);
        if (at[k] != NO_VALUE && (at[k] < 0 || m->regs[at[k]].n != m->regs[model.at[k]].n))
            return false;
    }
    l->at = at;
    return true;
}

static void move_all(struct maker *m, struct leaves to, struct leaves from)
{
    for (int k = 0; k < to.count; k++)
        if (to.at[k] != NO_VALUE && m->regs[to.at[k]].at != m->regs[from.at[k]].at)
            scalar_push_move(m, to.at[k], from.at[k]);
}

/* The byte range of a register, in a list sorted by start. */
struct bytes {
    const char *at, *end; /* of this range; and the greatest end of this range and all before it */
};
struct byte_ranges {
    struct bytes *list;
    int count;
};

static int by_begin(const void *a, const void *b)
{
    const struct bytes *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

static struct byte_ranges byte_ranges_of(struct maker *m, struct leaves l)
{
    struct byte_ranges p = {ARENA_ARRAY(&m->pl->scratch, struct bytes, l.count), 0};
    for (int k = 0; k < l.count; k++)
        if (l.at[k] != NO_VALUE && m->regs[l.at[k]].at)
            p.list[p.count++] = (struct bytes){m->regs[l.at[k]].at,
                                               m->regs[l.at[k]].at + scalar_reg_bytes(m, l.at[k])};
    if (p.count > 1)
        qsort(p.list, (size_t)p.count, sizeof *p.list, by_begin);
    for (int k = 1; k < p.count; k++)
        if (p.list[k].end < p.list[k - 1].end)
            p.list[k].end = p.list[k - 1].end;
    return p;
}

/* Whether a register overlaps any of these ranges. */
static bool overlaps(const struct maker *m, struct byte_ranges p, int reg)
{
    const char *at = m->regs[reg].at, *end = at + scalar_reg_bytes(m, reg);
    int low = 0, high = p.count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p.list[middle].at < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && at < p.list[low - 1].end;
}

/* Moves `next` to `state`. The next state may consist of parts of the present one in another order:
 * these are moved through temporaries. */
static bool move_state(struct maker *m, struct leaves state, struct leaves next)
{
    struct leaves from = {next.count, ARENA_DUP(&m->pl->scratch, next.at, next.count)};
    struct byte_ranges byte_ranges = byte_ranges_of(m, state);
    for (int k = 0; k < next.count; k++) {
        if (next.at[k] == NO_VALUE || m->regs[next.at[k]].at == m->regs[state.at[k]].at ||
            !overlaps(m, byte_ranges, next.at[k]))
            continue;
        from.at[k] = scalar_new_reg(m, m->regs[next.at[k]].type, m->regs[next.at[k]].n);
        if (from.at[k] < 0)
            return false;
        scalar_push_move(m, from.at[k], next.at[k]);
    }
    move_all(m, state, from);
    return true;
}

static void push_trip(struct maker *m, int reg, int count)
{
    if (m->pl->p->options.limits.trip)
        scalar_push(m, SCALAR_TRIP, reg)->count = count;
}

/* ---- loops that cannot end ---- */

static void set_parts(struct maker *m, struct cycle *c, struct leaves state)
{
    const struct termination *t = c->termination;
    c->parts = ARENA_ARRAY(&m->pl->scratch, struct scalar_view, t->count);
    for (int k = 0; k < t->count; k++) {
        const int reg = state.at[t->leaves[k]];
        const struct reg *r = reg == NO_VALUE ? NULL : &m->regs[reg];
        struct scalar_view *p = &c->parts[c->part_count];
        if (!r || scalar_is_hoisted(m, reg)) /* not read by the scalar code */
            continue;
        view_dense(&p->view, r->type, 1, &r->n, r->at);
        p->origin.large_array = r->large_array ? &r->large_array->at : NULL;
        c->part_count++;
    }
}

/* Makes the cycle detection for the state in these registers. */
static struct cycle *new_cycle(struct maker *m, const struct termination *t, struct leaves state)
{
    struct cycle *c = ARENA_NEW(&m->pl->scratch, struct cycle);
    if (t && t->known == ENDS_UNLESS_CYCLE) {
        c->termination = t;
        set_parts(m, c, state);
    }
    c->number = m->cycle_count;
    VEC_PUSH(&m->pl->scratch, m->cycles, m->cycle_count, m->cycle_capacity) = c;
    return c;
}

struct cycle_monitor *scalar_monitor(struct maker *m)
{
    bool needed = false;
    for (int k = 0; k < m->cycle_count; k++)
        needed |= m->cycles[k]->termination != NULL;
    if (!needed)
        return NULL;
    struct cycle_monitor *made = ARENA_NEW(&m->pl->scratch, struct cycle_monitor);
    made->count = m->cycle_count;
    made->cycles = ARENA_ARRAY(&m->pl->scratch, struct cycle, m->cycle_count);
    for (int k = 0; k < m->cycle_count; k++)
        made->cycles[k] = *m->cycles[k];
    return made;
}

/* Ends the run in the first iteration of a loop that cannot end. */
static void push_infinite(struct maker *m, const struct termination *t)
{
    if (t && t->known == ENDS_NEVER)
        scalar_push_jump(m, SCALAR_INFINITE)->termination = t;
}

/* Loads the hoisted values in the next state, except those of parts that the loop does not load. */
static bool load_next(struct maker *m, struct leaves state, struct leaves *next)
{
    int *at = ARENA_DUP(&m->pl->scratch, next->at, next->count);
    for (int k = 0; k < next->count; k++) {
        struct leaves one = {1, &at[k]};
        if (k < state.count && scalar_is_hoisted(m, state.at[k]))
            continue;
        if (!scalar_load_hoisted(m, &one))
            return false;
        at[k] = one.at[0];
    }
    next->at = at;
    return true;
}

/* Makes the loop of a while whose state is in the registers `state`; `init`: those of the initial
 * values. */
static bool make_loop(struct maker *m, const struct inst *loop, struct leaves init,
                      struct leaves state)
{
    struct leaves go, next;
    const struct termination *t = plan_termination(m->pl, loop);
    const int trips = scalar_new_reg(m, DT_U64, 1);
    if (trips < 0)
        return false;
    push_trip(m, trips, 0);
    int top = m->op_count, inner = m->cycle_count;
    if (!scalar_computation(m, inst_computation(loop, A_CONDITION), state, &go) ||
        !scalar_load_hoisted(m, &go))
        return false;
    int test = m->op_count;
    scalar_push_jump(m, SCALAR_JUMP_UNLESS)->args[0] = m->regs[go.at[0]].at;
    push_infinite(m, t);
    push_trip(m, trips, -1);
    const int uncertain = !scalar_know_counter(m, loop, init, state);
    m->preheader.uncertain += uncertain;
    const bool made = scalar_computation(m, inst_computation(loop, A_BODY), state, &next);
    m->preheader.uncertain -= uncertain;
    scalar_forget_counters(m, state);
    if (!made || !load_next(m, state, &next) || !make_like(m, &next, state) ||
        !scalar_same_arrays(m, next, state) || !move_state(m, state, next))
        return false;
    scalar_refresh(m, state);
    struct scalar_op *back = scalar_push_jump(m, SCALAR_JUMP);
    back->count = top;
    back->cycle = new_cycle(m, t, state);
    back->cycle->first_inner = inner;
    m->ops[test].count = m->op_count;
    return true;
}

/* Begins what is not executed in all runs: a loop or a branch. */
static struct map enter(struct maker *m)
{
    const struct map outside = m->same;
    map_init(&m->same, &m->pl->scratch);
    return outside;
}

bool scalar_while(struct maker *m, const struct inst *i, const struct leaves *env,
                  struct leaves *out)
{
    struct leaves init = scalar_operands(m, i, env, 0);
    if (!state_registers(m, i, init, out) || !scalar_arrays_differ(m, *out))
        return false;
    move_all(m, *out, init);
    const struct map outside = enter(m);
    const bool made = make_loop(m, i, init, *out);
    m->same = outside;
    return made;
}

static bool make_branch(struct maker *m, const struct inst *i, const struct computation *c,
                        const struct leaves *env, int operand, struct leaves *out)
{
    struct leaves made;
    const struct map outside = enter(m);
    const bool ok = scalar_computation(m, c, env[i->operands[operand]->index], &made);
    m->same = outside;
    if (!ok || !scalar_load_hoisted(m, &made))
        return false;
    if (!out->at && !registers_like(m, made, out))
        return false;
    if (!make_like(m, &made, *out) || !scalar_same_arrays(m, made, *out))
        return false;
    move_all(m, *out, made);
    return true;
}

bool scalar_conditional(struct maker *m, const struct inst *i, const struct leaves *env,
                        struct leaves *out)
{
    struct arena *scratch = &m->pl->scratch;
    int n, chooser = m->op_count;
    struct computation **branches = inst_callee_list(scratch, i, &n);
    int32_t *targets = ARENA_ARRAY(&m->pl->p->arena, int32_t, n);
    int *ends = ARENA_ARRAY(scratch, int, n);
    bool two_way = i->operands[0]->shape->dtype == DT_PRED;
    struct versions before = scalar_versions(m);
    if (two_way && n != 2)
        return false;
    *out = (struct leaves){0, NULL};
    struct leaves index = env[i->operands[0]->index];
    if (!scalar_load_hoisted(m, &index))
        return false;
    scalar_push_jump(m, two_way ? SCALAR_JUMP_UNLESS : SCALAR_SWITCH)->args[0] =
        m->regs[index.at[0]].at;
    m->preheader.branches++;
    m->preheader.uncertain++;
    for (int k = 0; k < n; k++) {
        targets[k] = m->op_count;
        if (!make_branch(m, i, branches[k], env, k + 1, out))
            return false;
        ends[k] = m->op_count;
        scalar_push_jump(m, SCALAR_JUMP);
        scalar_back_to(m, before);
    }
    m->preheader.branches--;
    m->preheader.uncertain--;
    scalar_meet(m, before);
    scalar_refresh(m, *out);
    for (int k = 0; k < n; k++)
        m->ops[ends[k]].count = m->op_count;
    m->ops[chooser].count = two_way ? targets[1] : n;
    if (!two_way)
        m->ops[chooser].targets = targets;
    return true;
}
