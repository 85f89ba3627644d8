/*
 * scalar_join.c: one call for the same function of several values: functions that machine code has
 * to call compute as many elements as a vector has in the time of one. Operations in between that
 * need none of the results go before the call.
 */
#include "plan/scalar.h"

enum {
    MOST_JOINED = 8, /* elements */
    WINDOW = 96,     /* operations that are looked through for the same function */
    IN_MEMORY = -1   /* for a register: all that may be accessed besides registers */
};

/* Operations that are executed together: one, or calls of one function. */
struct unit {
    int count, ops[MOST_JOINED];
    int64_t elements;
    bool waits; /* for the call that is looked at */
};
struct touched_register {
    int reg;
    bool write;
};
struct joining {
    struct maker *m;
    struct own_registers registers;
    int *first; /* by operation: the first of what it touches; ends at that of the next */
    struct touched_register *touched;
    int touched_count;
    size_t touched_capacity;
    bool *calls;        /* by operation: a call on few elements */
    bool *targets;      /* by operation: of a jump */
    struct unit *units; /* in the new order */
    struct unit moved[WINDOW];
    struct scalar_op *ops; /* the result */
    int op_count;
    size_t op_capacity;
    int *place; /* by operation: its number in the result */
};

/* ---- dependences ---- */

static void note(struct joining *j, int reg, bool write)
{
    VEC_PUSH(&j->m->pl->scratch, j->touched, j->touched_count, j->touched_capacity) =
        (struct touched_register){reg, write};
}

static void note_touched(void *context, const void *at, void *pointer, bool write)
{
    struct joining *j = context;
    const int reg = scalar_register_at(&j->registers, at);
    if (reg >= 0)
        note(j, reg, write);
}

static bool is_within_registers(const struct scalar_op *op)
{
    return op->kind == SCALAR_APPLY || op->kind == SCALAR_MOVE ||
           (op->kind == SCALAR_COPY && !op->copy->x.origin.large_array);
}

static void note_operations(struct joining *j)
{
    struct maker *m = j->m;
    for (int k = 0; k < m->op_count; k++) {
        j->first[k] = j->touched_count;
        scalar_visit(&m->ops[k], note_touched, j);
        const struct scalar_op *op = &m->ops[k];
        if (!is_within_registers(op))
            note(j, IN_MEMORY, true);
        for (int t = 0; t < scalar_target_count(op); t++)
            j->targets[scalar_target(op, t)] = true;
    }
    j->first[m->op_count] = j->touched_count;
}

/* Whether the order of two operations matters. */
static bool depend(const struct joining *j, int x, int y)
{
    for (int a = j->first[x]; a < j->first[x + 1]; a++)
        for (int b = j->first[y]; b < j->first[y + 1]; b++)
            if (j->touched[a].reg == j->touched[b].reg &&
                (j->touched[a].write || j->touched[b].write))
                return true;
    return false;
}

static bool units_depend(const struct joining *j, const struct unit *x, const struct unit *y)
{
    for (int a = 0; a < x->count; a++)
        for (int b = 0; b < y->count; b++)
            if (depend(j, x->ops[a], y->ops[b]))
                return true;
    return false;
}

/* ---- units ---- */

static bool is_call(const struct joining *j, const struct scalar_op *op)
{
    return op->kind == SCALAR_APPLY && op->count > 0 && op->count <= MOST_JOINED / 2 &&
           !scalar_has_lanes(j->m->pl, op);
}

static bool may_join(const struct joining *j, const struct unit *call, const struct unit *next)
{
    const struct scalar_op *x = &j->m->ops[call->ops[0]], *y = &j->m->ops[next->ops[0]];
    return next->count == 1 && y->kind == SCALAR_APPLY && x->fn == y->fn && y->count > 0 &&
           call->elements + y->count <= MOST_JOINED;
}

/* Adds to the call at `at` those of the same function before `end` that do not need its results;
 * what is in between and does not either goes before it. Returns whether there are any. */
static bool join(struct joining *j, int at, int *end)
{
    struct unit *units = j->units, *call = &units[at];
    const int limit = *end - at > WINDOW ? at + WINDOW : *end;
    int last = at, moved = 0, to = at;
    call->waits = true;
    for (int k = at + 1; k < limit; k++) {
        units[k].waits = false;
        for (int i = at; i < k && !units[k].waits; i++)
            units[k].waits = units[i].waits && units_depend(j, &units[i], &units[k]);
        if (units[k].waits || !may_join(j, call, &units[k]))
            continue;
        call->elements += units[k].elements;
        call->ops[call->count++] = units[k].ops[0];
        units[k].count = 0; /* part of the call */
        units[k].waits = true;
        last = k;
    }
    if (last == at)
        return false;
    const struct unit joined = *call;
    for (int k = at + 1; k <= last; k++)
        if (!units[k].waits)
            units[to++] = units[k];
        else if (units[k].count > 0)
            j->moved[moved++] = units[k];
    units[to++] = joined;
    memcpy(units + to, j->moved, (size_t)moved * sizeof *units);
    to += moved;
    memmove(units + to, units + last + 1, (size_t)(*end - last - 1) * sizeof *units);
    *end -= last + 1 - to;
    return true;
}

/* ---- the new operations ---- */

static void push(struct joining *j, struct scalar_op op)
{
    VEC_PUSH(&j->m->pl->scratch, j->ops, j->op_count, j->op_capacity) = op;
}

/* Moves operand `arg` of each call to the block, or, if it is -1, the results from there. */
static void push_moves(struct joining *j, const struct unit *u, int arg, char *block, size_t width)
{
    for (int k = 0; k < u->count; k++) {
        const struct scalar_op *op = &j->m->ops[u->ops[k]];
        const size_t size = (size_t)op->count * width;
        push(j, (struct scalar_op){.kind = SCALAR_MOVE,
                                   .count = (int32_t)size,
                                   .out = arg < 0 ? op->out : block,
                                   .args = {arg < 0 ? block : op->args[arg]}});
        block += size;
    }
}

/* One call on arrays of the operands; false: there is no room for them. */
static bool push_call(struct joining *j, const struct unit *u)
{
    struct scalar_op call = j->m->ops[u->ops[0]];
    int regs[KERN_MAX_ARGS], args = 0;
    for (; args < KERN_MAX_ARGS && call.args[args]; args++) {
        regs[args] = scalar_new_reg(j->m, plan_operand_type(&call.meaning, args), u->elements);
        if (regs[args] < 0)
            return false;
    }
    const int out = scalar_new_reg(j->m, call.meaning.to, u->elements);
    if (out < 0)
        return false;
    for (int k = 0; k < args; k++) {
        const struct reg *r = &j->m->regs[regs[k]];
        push_moves(j, u, k, r->at, dtype_bytes(r->type));
        call.args[k] = r->at;
    }
    call.out = j->m->regs[out].at;
    call.count = (int32_t)u->elements;
    push(j, call);
    push_moves(j, u, -1, call.out, dtype_bytes(call.meaning.to));
    return true;
}

static void push_units(struct joining *j, int count)
{
    for (int k = 0; k < count; k++)
        if (j->units[k].count == 1 || !push_call(j, &j->units[k]))
            for (int o = 0; o < j->units[k].count; o++)
                push(j, j->m->ops[j->units[k].ops[o]]);
}

/* Operations without a jump or the target of one in between, from `from` on. */
static int find_block(const struct joining *j, int from)
{
    int end = from;
    do {
        if (j->m->ops[end].kind >= SCALAR_JUMP)
            return end == from ? end + 1 : end;
        j->units[end - from] = (struct unit){1, {end}, j->m->ops[end].count, false};
        end++;
    } while (end < j->m->op_count && !j->targets[end]);
    return end;
}

static void join_all(struct joining *j)
{
    for (int from = 0, end; from < j->m->op_count; from = end) {
        end = find_block(j, from);
        j->place[from] = j->op_count;
        if (j->m->ops[from].kind >= SCALAR_JUMP) {
            push(j, j->m->ops[from]);
            continue;
        }
        int count = end - from;
        for (int k = 0; k < count;)
            k += j->units[k].count > 1 || !j->calls[j->units[k].ops[0]] || !join(j, k, &count);
        push_units(j, count);
    }
    j->place[j->m->op_count] = j->op_count;
}

void scalar_join_calls(struct maker *m)
{
    struct arena *a = &m->pl->scratch;
    struct joining *j = ARENA_NEW(a, struct joining);
    int calls = 0;
    if (!scalar_has_loop(m))
        return;
    *j = (struct joining){.m = m, .registers = scalar_own_registers(m)};
    j->calls = ARENA_ARRAY(a, bool, m->op_count);
    for (int k = 0; k < m->op_count; k++)
        calls += j->calls[k] = is_call(j, &m->ops[k]);
    if (calls < 2)
        return;
    j->first = ARENA_ARRAY(a, int, m->op_count + 1);
    j->targets = ARENA_ARRAY(a, bool, m->op_count + 1);
    j->place = ARENA_ARRAY(a, int, m->op_count + 1);
    j->units = ARENA_ARRAY(a, struct unit, m->op_count);
    note_operations(j);
    join_all(j);
    scalar_set_targets(j->ops, j->op_count, j->place);
    m->ops = j->ops;
    m->op_count = j->op_count;
    m->op_capacity = j->op_capacity;
}
