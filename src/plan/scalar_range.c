/*
 * scalar_range.c: value ranges for the scalar code compiler.
 *
 * In the body of a loop that counts from one constant to another, all its counters lie in ranges.
 * So the test for a negative index, which clients make before each access, is folded, and clamping
 * the index needs no operation. The same holds for indices of narrow types and remainders.
 */
#include "plan/scalar.h"

/* ---- ranges of loop counters ---- */

static bool is_counted(enum dtype t) { return t == DT_S32 || t == DT_S64; }

static bool constant_of(const struct inst *i, int64_t *v)
{
    if (i->opcode != OP_CONSTANT || i->literal->elided || !shape_is_array(i->shape) ||
        i->shape->rank != 0 || !is_counted(i->shape->dtype))
        return false;
    *v = kern_load_index(i->shape->dtype, i->literal->data);
    return true;
}

/* The element of its computation's only parameter that this instruction is, or -1. */
static int part_of_parameter(const struct inst *i)
{
    const bool part = i->opcode == OP_GET_TUPLE_ELEMENT && i->operands[0]->opcode == OP_PARAMETER;
    return part ? (int)inst_int(i, A_INDEX, -1) : -1;
}

/* The initial value of part k of the state. */
static bool first_value(const struct maker *m, const struct inst *loop, struct leaves init, int k,
                        int64_t *v)
{
    const struct inst *state = loop->operands[0];
    if (init.at && init.at[k] >= 0 && m->regs[init.at[k]].constant && m->regs[init.at[k]].n == 1 &&
        is_counted(m->regs[init.at[k]].type)) {
        *v = kern_load_index(m->regs[init.at[k]].type, m->regs[init.at[k]].at);
        return true;
    }
    return state->opcode == OP_TUPLE && constant_of(state->operands[k], v);
}

/* A bound: a constant, or a part of the state that is one initially and never changes. */
static bool bound_of(const struct maker *m, const struct inst *loop, struct leaves init,
                     const struct inst *bound, int64_t *v)
{
    const int k = part_of_parameter(bound);
    return constant_of(bound, v) ||
           (k >= 0 && part_of_parameter(inst_computation(loop, A_BODY)->root->operands[k]) == k &&
            first_value(m, loop, init, k, v));
}

/* The value that `i` is within the computation that `*call`, if not NULL, calls. */
static const struct inst *called_value(const struct inst *i, const struct inst **call)
{
    const struct inst *c = i->opcode == OP_GET_TUPLE_ELEMENT ? i->operands[0] : i;
    const struct inst *root = c->opcode == OP_CALL ? plan_called(c)->root : NULL;
    *call = root && (c == i || root->opcode == OP_TUPLE) ? c : NULL;
    return !*call ? i : c == i ? root : root->operands[inst_int(i, A_INDEX, 0)];
}

/* The constant that an iteration adds to part k; 0: none. */
static int64_t step_of(const struct inst *next, int k)
{
    int64_t step = 0;
    const struct inst *call, *v = called_value(next, &call);
    if (v->opcode != OP_ADD)
        return 0;
    for (int j = 0; j < 2; j++) {
        const struct inst *x = v->operands[j];
        if (call)
            x = x->opcode == OP_PARAMETER ? call->operands[x->number] : call;
        if (part_of_parameter(x) == k && constant_of(v->operands[1 - j], &step))
            return step;
    }
    return 0;
}

/* Whether elements of the tuple and leaves are numbered alike. */
static bool is_flat(const struct inst *tuple)
{
    bool flat = tuple->opcode == OP_TUPLE;
    for (int k = 0; k < tuple->operand_count && flat; k++)
        flat = shape_is_array(tuple->operands[k]->shape);
    return flat;
}

bool *scalar_invariants(struct arena *a, const struct inst *loop, int count)
{
    const struct inst *next = inst_computation(loop, A_BODY)->root;
    bool *invariant = ARENA_ARRAY(a, bool, count);
    const bool flat = is_flat(next) && next->operand_count == count;
    for (int k = 0; k < count && flat; k++)
        invariant[k] = part_of_parameter(next->operands[k]) == k;
    return invariant;
}

static bool is_counter(const struct maker *m, int reg)
{
    return reg >= 0 && is_counted(m->regs[reg].type) && m->regs[reg].n == 1;
}

/* The number of iterations, if the condition compares a counter with a constant; or 0. */
static int64_t trips_of(const struct maker *m, const struct inst *loop, struct leaves init,
                        struct leaves state)
{
    const struct inst *next = inst_computation(loop, A_BODY)->root,
                      *test = inst_computation(loop, A_CONDITION)->root;
    int64_t first, bound, distance;
    if (test->opcode != OP_COMPARE ||
        inst_enum(test, A_DIRECTION, E_DIRECTION_EQ) != E_DIRECTION_LT)
        return 0;
    const int k = part_of_parameter(test->operands[0]);
    if (k < 0 || !is_counter(m, state.at[k]))
        return 0;
    const int64_t step = step_of(next->operands[k], k),
                  max = m->regs[state.at[k]].type == DT_S32 ? INT32_MAX : INT64_MAX;
    if (step <= 0 || !first_value(m, loop, init, k, &first) || first == INT64_MIN ||
        !bound_of(m, loop, init, test->operands[1], &bound) || bound <= first ||
        bound - 1 > max - step || !add_i64(bound, -first, &distance))
        return 0;
    return (distance - 1) / step + 1;
}

/* The range of part k of the state in the body: a value that never changes, or a sum of the same
 * constants. */
static bool range_of_part(const struct maker *m, const struct inst *loop, struct leaves init, int k,
                          int64_t trips, enum dtype t, struct scalar_range *out)
{
    const struct inst *next = inst_computation(loop, A_BODY)->root->operands[k];
    const int64_t step = step_of(next, k), max = t == DT_S32 ? INT32_MAX : INT64_MAX;
    if (init.at && init.at[k] >= 0 && part_of_parameter(next) == k && m->regs[init.at[k]].range) {
        *out = *m->regs[init.at[k]].range;
        return true;
    }
    return trips > 0 && step > 0 && first_value(m, loop, init, k, &out->min) &&
           mul_i64(step, trips - 1, &out->max) && add_i64(out->min, out->max, &out->max) &&
           out->max <= max;
}

bool scalar_know_counter(struct maker *m, const struct inst *loop, struct leaves init,
                         struct leaves state)
{
    const struct inst *next = inst_computation(loop, A_BODY)->root;
    if (m->pl->p->options.plain || !is_flat(next) || next->operand_count != state.count)
        return false;
    const int64_t trips = trips_of(m, loop, init, state);
    for (int k = 0; k < state.count; k++) {
        struct scalar_range range;
        if (is_counter(m, state.at[k]) &&
            range_of_part(m, loop, init, k, trips, m->regs[state.at[k]].type, &range))
            m->regs[state.at[k]].range = ARENA_DUP(&m->pl->scratch, &range, 1);
    }
    return trips > 0;
}

void scalar_forget_counters(struct maker *m, struct leaves state)
{
    for (int k = 0; k < state.count; k++)
        if (state.at[k] >= 0)
            m->regs[state.at[k]].range = NULL;
}

/* ---- results known from ranges ---- */

/* Of an integer type other than u64. */
static struct scalar_range limits_of(enum dtype t)
{
    const unsigned bits = dtype_bits(t) - dtype_is_signed(t);
    const int64_t max = bits == 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    return (struct scalar_range){dtype_is_signed(t) ? -max - 1 : 0, max};
}

static bool range_of(const struct maker *m, int reg, struct scalar_range *out)
{
    const struct reg *r = &m->regs[reg];
    if (r->n != 1 || !dtype_is_integer(r->type) || r->type == DT_U64)
        return false;
    *out = r->range ? *r->range : limits_of(r->type);
    if (r->constant)
        out->min = out->max = kern_load_index(r->type, r->at);
    return true;
}

/* 1 or 0, or -1 if unknown. */
static int is_less(struct scalar_range a, struct scalar_range b)
{
    return a.max < b.min ? 1 : a.min >= b.max ? 0 : -1;
}

static int is_equal(struct scalar_range a, struct scalar_range b)
{
    const bool single = a.min == a.max && b.min == b.max;
    return a.max < b.min || b.max < a.min ? 0 : single && a.min == b.min ? 1 : -1;
}

static int is_not(int answer) { return answer < 0 ? answer : !answer; }

static int answer_of(enum kern_direction d, struct scalar_range a, struct scalar_range b)
{
    switch (d) {
    case KERN_LT: return is_less(a, b);
    case KERN_GE: return is_not(is_less(a, b));
    case KERN_GT: return is_less(b, a);
    case KERN_LE: return is_not(is_less(b, a));
    case KERN_EQ: return is_equal(a, b);
    default: return is_not(is_equal(a, b));
    }
}

static bool make_answer(struct maker *m, int answer, struct leaves *out)
{
    const int reg = answer < 0 ? -1 : scalar_new_reg(m, DT_PRED, 1);
    if (reg < 0)
        return false;
    *(uint8_t *)m->regs[reg].at = (uint8_t)answer;
    m->regs[reg].constant = true;
    return scalar_one_leaf(m, reg, out);
}

bool scalar_known(struct maker *m, const struct inst *i, const int *args, struct leaves *out)
{
    struct scalar_range a, b;
    if (m->lanes > 1 || m->pl->p->options.plain)
        return false;
    if (i->opcode == OP_SELECT) {
        const struct reg *chooser = &m->regs[args[0]];
        return chooser->constant && chooser->n == 1 && m->regs[args[1]].n == 1 &&
               scalar_one_leaf(m, args[*chooser->at ? 1 : 2], out);
    }
    if ((i->opcode != OP_COMPARE && i->opcode != OP_MAXIMUM && i->opcode != OP_MINIMUM) ||
        !range_of(m, args[0], &a) || !range_of(m, args[1], &b))
        return false;
    if (i->opcode == OP_COMPARE)
        return make_answer(
            m, answer_of((enum kern_direction)inst_enum(i, A_DIRECTION, E_DIRECTION_EQ), a, b),
            out);
    const bool greatest = i->opcode == OP_MAXIMUM;
    if (greatest ? a.min >= b.max : a.max <= b.min)
        return scalar_one_leaf(m, args[0], out);
    return (greatest ? b.min >= a.max : b.max <= a.min) && scalar_one_leaf(m, args[1], out);
}

/* The range of an operation's exact result. `b` is `a` if it has one operand. */
static bool result_range(enum opcode op, struct scalar_range a, struct scalar_range b,
                         struct scalar_range *r)
{
    const bool natural = a.min >= 0 && b.min >= 0;
    switch (op) {
    case OP_CONVERT: *r = a; return true;
    case OP_ADD: return add_i64(a.min, b.min, &r->min) && add_i64(a.max, b.max, &r->max);
    case OP_SUBTRACT:
        return b.min > INT64_MIN && add_i64(a.min, -b.max, &r->min) &&
               add_i64(a.max, -b.min, &r->max);
    case OP_MULTIPLY:
        return natural && mul_i64(a.min, b.min, &r->min) && mul_i64(a.max, b.max, &r->max);
    case OP_AND:
        *r = (struct scalar_range){0, a.min < 0   ? b.max
                                      : b.min < 0 ? a.max
                                                  : min_i64(a.max, b.max)};
        return a.min >= 0 || b.min >= 0;
    case OP_REMAINDER: /* has the sign of the dividend */
        *r = (struct scalar_range){a.min < 0 ? 1 - b.max : 0, b.max - 1};
        return b.min > 0;
    case OP_SHIFT_RIGHT_LOGICAL:
        *r = (struct scalar_range){a.min >> (b.max & 63), a.max >> (b.min & 63)};
        return natural && b.max < 64;
    default: return false;
    }
}

void scalar_set_range(struct maker *m, const struct inst *i, const int *args, int reg)
{
    struct scalar_range a, b, r;
    if (i->operand_count > 2 || !dtype_is_integer(m->regs[reg].type) || m->lanes > 1 ||
        m->regs[reg].type == DT_U64 || m->pl->p->options.plain || !range_of(m, args[0], &a) ||
        !range_of(m, args[i->operand_count - 1], &b) || !result_range(i->opcode, a, b, &r))
        return;
    const struct scalar_range limits = limits_of(m->regs[reg].type);
    if (r.min >= limits.min && r.max <= limits.max)
        m->regs[reg].range = ARENA_DUP(&m->pl->scratch, &r, 1);
}

bool scalar_is_inside(const struct maker *m, int reg, int64_t last)
{
    struct scalar_range range;
    return !m->pl->p->options.plain && range_of(m, reg, &range) && range.min >= 0 &&
           range.max <= last;
}
