/*
 * Making scalar programs: computations all of whose values are scalars become a flat list of tile
 * kernels applied to one element, on addresses that are fixed here. Calls are taken apart, loops
 * and branches become jumps.
 *
 * Whatever is not understood makes the attempt fail; then the computation is run as a function.
 */
#include "plan/plan_priv.h"

enum { BUDGET = 1 << 15, MAX_INLINE = 100 }; /* instructions looked at, calls inside calls */

struct reg {
    void *at;
    enum dtype type;
};

struct maker {
    struct planner *pl;
    bool widen;
    int budget, depth;
    struct reg *regs;
    int reg_count;
    size_t reg_capacity;
    struct scalar_op *ops;
    int op_count;
    size_t op_capacity;
};

/* ---- registers and operations ---- */

static int alias_reg(struct maker *m, void *at, enum dtype t)
{
    VEC_PUSH(&m->pl->scratch, m->regs, m->reg_count, m->reg_capacity) = (struct reg){at, t};
    return m->reg_count - 1;
}

static int new_reg(struct maker *m, enum dtype t)
{
    return alias_reg(m, arena_zalloc(&m->pl->p->arena, sizeof(struct c128)), t);
}

static enum dtype type_of(const struct maker *m, enum dtype t) { return m->widen ? dtype_widened(t) : t; }

static struct scalar_op *push(struct maker *m, enum scalar_kind kind)
{
    struct scalar_op *op = &VEC_PUSH(&m->pl->scratch, m->ops, m->op_count, m->op_capacity);
    *op = (struct scalar_op){.kind = (uint8_t)kind};
    return op;
}

static void push_move(struct maker *m, int to, int from)
{
    struct scalar_op *op = push(m, SCALAR_MOVE);
    op->out = m->regs[to].at;
    op->args[0] = m->regs[from].at;
    op->size = (uint8_t)dtype_bytes(m->regs[from].type);
}

/* The register, or a new one with its value in another type; -1 when types don't convert. */
static int convert(struct maker *m, int reg, enum dtype t)
{
    enum dtype from = m->regs[reg].type;
    if (from == t)
        return reg;
    kern_tile_fn *fn = kern_find_convert(t, from);
    if (!fn)
        return -1;
    int out = new_reg(m, t);
    struct scalar_op *op = push(m, SCALAR_APPLY);
    op->fn = fn;
    op->out = m->regs[out].at;
    op->args[0] = m->regs[reg].at;
    return out;
}

/* ---- instructions ---- */

static bool make_computation(struct maker *m, const struct computation *c, struct leaves args, struct leaves *out);

static struct leaves one_leaf(struct maker *m, int reg)
{
    struct leaves l = {1, ARENA_NEW(&m->pl->scratch, int)};
    *l.at = reg;
    return l;
}

static bool make_tile(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    enum dtype type, result;
    kern_tile_fn *fn = plan_tile(i, m->widen, &type, &result);
    int args[KERN_MAX_ARGS];
    if (!fn || i->operand_count > KERN_MAX_ARGS)
        return false;
    for (int k = 0; k < i->operand_count; k++) {
        bool chooser = i->opcode == OP_SELECT && k == 0;
        args[k] = convert(m, env[i->operands[k]->index].at[0], chooser ? DT_PRED : type);
        if (args[k] < 0)
            return false;
    }
    int reg = new_reg(m, result);
    struct scalar_op *op = push(m, SCALAR_APPLY);
    op->fn = fn;
    op->out = m->regs[reg].at;
    for (int k = 0; k < i->operand_count; k++)
        op->args[k] = m->regs[args[k]].at;
    reg = convert(m, reg, type_of(m, i->shape->dtype));
    return reg >= 0 && (*out = one_leaf(m, reg), true);
}

/* Between widened floats there is nothing to convert. */
static bool make_convert(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    int reg = convert(m, env[i->operands[0]->index].at[0], type_of(m, i->shape->dtype));
    return reg >= 0 && (*out = one_leaf(m, reg), true);
}

static bool make_constant(struct maker *m, const struct inst *i, struct leaves *out)
{
    const struct literal *l = i->literal;
    if (!shape_is_array(l->shape) || l->elided)
        return false;
    int reg = new_reg(m, l->shape->dtype);
    memcpy(m->regs[reg].at, l->data, dtype_bytes(l->shape->dtype));
    enum dtype t = type_of(m, l->shape->dtype);
    if (t != l->shape->dtype) {
        kern_tile_fn *fn = kern_find_convert(t, l->shape->dtype);
        int wide = new_reg(m, t);
        fn(m->regs[wide].at, (const void *const[]){m->regs[reg].at}, 1);
        reg = wide;
    }
    *out = one_leaf(m, reg);
    return true;
}

static bool make_precision(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    enum dtype t = i->operands[0]->shape->dtype;
    if (type_of(m, t) != t || t != i->shape->dtype)
        return false;
    int reg = new_reg(m, t);
    struct scalar_op *op = push(m, SCALAR_PRECISION);
    op->size = (uint8_t)t;
    op->target = (int32_t)(inst_int(i, A_EXPONENT_BITS, 0) << 8 | inst_int(i, A_MANTISSA_BITS, 0));
    op->out = m->regs[reg].at;
    op->args[0] = m->regs[env[i->operands[0]->index].at[0]].at;
    *out = one_leaf(m, reg);
    return inst_int(i, A_EXPONENT_BITS, 0) < 1 << 15 && inst_int(i, A_MANTISSA_BITS, 0) < 1 << 8;
}

/* The same bits under another type; not where bits would have to be made ones that the type has. */
static bool make_bitcast(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    enum dtype from = i->operands[0]->shape->dtype, to = i->shape->dtype;
    if (from != to && (dtype_bits(from) != dtype_bits(to) || dtype_bits(from) < 8 || to == DT_PRED || m->widen))
        return false;
    *out = one_leaf(m, alias_reg(m, m->regs[env[i->operands[0]->index].at[0]].at, type_of(m, to)));
    return true;
}

static bool make_number(struct maker *m, int64_t number, struct leaves *out)
{
    int reg = new_reg(m, DT_U32);
    uint32_t v = (uint32_t)number;
    memcpy(m->regs[reg].at, &v, sizeof v);
    *out = one_leaf(m, reg);
    return true;
}

/* ---- control flow ---- */

static struct leaves operand_leaves(struct maker *m, const struct inst *i, const struct leaves *env, int first)
{
    int n = 0;
    for (int k = first; k < i->operand_count; k++)
        n += env[i->operands[k]->index].count;
    struct leaves out = {0, ARENA_ARRAY(&m->pl->scratch, int, n)};
    for (int k = first; k < i->operand_count; k++)
        for (int j = 0; j < env[i->operands[k]->index].count; j++)
            out.at[out.count++] = env[i->operands[k]->index].at[j];
    return out;
}

/* New registers of the same types; NO_VALUE stays. */
static struct leaves registers_like(struct maker *m, struct leaves l)
{
    struct leaves out = {l.count, ARENA_ARRAY(&m->pl->scratch, int, l.count)};
    for (int k = 0; k < l.count; k++)
        out.at[k] = l.at[k] == NO_VALUE ? NO_VALUE : new_reg(m, m->regs[l.at[k]].type);
    return out;
}

/* Brings the registers of `l` to the types of those of `model`. */
static bool make_like(struct maker *m, struct leaves *l, struct leaves model)
{
    if (l->count != model.count)
        return false;
    int *at = ARENA_DUP(&m->pl->scratch, l->at, l->count);
    for (int k = 0; k < l->count; k++) {
        if ((at[k] == NO_VALUE) != (model.at[k] == NO_VALUE))
            return false;
        if (at[k] != NO_VALUE)
            at[k] = convert(m, at[k], m->regs[model.at[k]].type);
        if (at[k] < 0 && at[k] != NO_VALUE)
            return false;
    }
    l->at = at;
    return true;
}

static void move_all(struct maker *m, struct leaves to, struct leaves from)
{
    for (int k = 0; k < to.count; k++)
        if (to.at[k] != NO_VALUE && m->regs[to.at[k]].at != m->regs[from.at[k]].at)
            push_move(m, to.at[k], from.at[k]);
}

static bool holds(const struct maker *m, struct leaves l, const void *at)
{
    for (int k = 0; k < l.count; k++)
        if (l.at[k] != NO_VALUE && m->regs[l.at[k]].at == at)
            return true;
    return false;
}

/* The next state may consist of pieces of the present one in other places: by way of copies then. */
static void move_state(struct maker *m, struct leaves state, struct leaves next)
{
    struct leaves from = {next.count, ARENA_DUP(&m->pl->scratch, next.at, next.count)};
    for (int k = 0; k < next.count; k++) {
        if (next.at[k] == NO_VALUE || m->regs[next.at[k]].at == m->regs[state.at[k]].at ||
            !holds(m, state, m->regs[next.at[k]].at))
            continue;
        from.at[k] = new_reg(m, m->regs[next.at[k]].type);
        push_move(m, from.at[k], next.at[k]);
    }
    move_all(m, state, from);
}

static bool make_while(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    struct leaves init = operand_leaves(m, i, env, 0), go, next;
    *out = registers_like(m, init);
    move_all(m, *out, init);
    int top = m->op_count;
    if (!make_computation(m, inst_computation(i, A_CONDITION), *out, &go))
        return false;
    int test = m->op_count;
    push(m, SCALAR_JUMP_UNLESS)->args[0] = m->regs[go.at[0]].at;
    if (!make_computation(m, inst_computation(i, A_BODY), *out, &next) || !make_like(m, &next, *out))
        return false;
    move_state(m, *out, next);
    push(m, SCALAR_JUMP)->target = top;
    m->ops[test].target = m->op_count;
    return true;
}

static bool make_branch(struct maker *m, const struct inst *i, const struct computation *c, const struct leaves *env,
                        int operand, struct leaves *out)
{
    struct leaves made;
    if (!make_computation(m, c, env[i->operands[operand]->index], &made))
        return false;
    if (!out->at)
        *out = registers_like(m, made);
    if (!make_like(m, &made, *out))
        return false;
    move_all(m, *out, made);
    return true;
}

static bool make_conditional(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    struct arena *scratch = &m->pl->scratch;
    int n = inst_callees(i, NULL), chooser = m->op_count;
    struct computation **branches = ARENA_ARRAY(scratch, struct computation *, n);
    int32_t *targets = ARENA_ARRAY(&m->pl->p->arena, int32_t, n);
    int *ends = ARENA_ARRAY(scratch, int, n);
    bool two_way = i->operands[0]->shape->dtype == DT_PRED;
    if (two_way && n != 2)
        return false;
    inst_callees(i, branches);
    *out = (struct leaves){0, NULL};
    push(m, two_way ? SCALAR_JUMP_UNLESS : SCALAR_SWITCH)->args[0] = m->regs[env[i->operands[0]->index].at[0]].at;
    for (int k = 0; k < n; k++) {
        targets[k] = m->op_count;
        if (!make_branch(m, i, branches[k], env, k + 1, out))
            return false;
        ends[k] = m->op_count;
        push(m, SCALAR_JUMP);
    }
    for (int k = 0; k < n; k++)
        m->ops[ends[k]].target = m->op_count;
    m->ops[chooser].target = two_way ? targets[1] : n;
    if (!two_way)
        m->ops[chooser].targets = targets;
    return true;
}

/* ---- dispatch ---- */

static bool make_inst(struct maker *m, const struct inst *i, const struct leaves *env, struct leaves *out)
{
    const struct program *p = m->pl->p;
    switch (i->opcode) {
    case OP_CONSTANT:
        return make_constant(m, i, out);
    case OP_CONVERT:
        return make_convert(m, i, env, out);
    case OP_REDUCE_PRECISION:
        return make_precision(m, i, env, out);
    case OP_BITCAST:
    case OP_BITCAST_CONVERT:
        return make_bitcast(m, i, env, out);
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_TRANSPOSE:
    case OP_SLICE:
    case OP_REVERSE:
        return *out = env[i->operands[0]->index], true;
    case OP_REPLICA_ID:
        return make_number(m, p->options.replica, out);
    case OP_PARTITION_ID:
        return make_number(m, p->options.partition, out);
    case OP_CALL:
    case OP_MAP:
        return make_computation(m, inst_computation(i, A_TO_APPLY), operand_leaves(m, i, env, 0), out);
    case OP_FUSION:
        return make_computation(m, inst_computation(i, A_CALLS), operand_leaves(m, i, env, 0), out);
    case OP_WHILE:
        return make_while(m, i, env, out);
    case OP_CONDITIONAL:
        return make_conditional(m, i, env, out);
    case OP_TUPLE:
    case OP_GET_TUPLE_ELEMENT:
    case OP_OPT_BARRIER:
    case OP_DOMAIN:
    case OP_ADD_DEPENDENCY:
    case OP_AFTER_ALL:
        return plan_rename(m->pl, i, env, out);
    case OP_COPY:
        return i->shape->dtype == i->operands[0]->shape->dtype ? plan_rename(m->pl, i, env, out)
                                                               : make_tile(m, i, env, out);
    default:
        break;
    }
    uint8_t family = op_table[i->opcode].family;
    return (family == FAMILY_elementwise || family == FAMILY_compare) && make_tile(m, i, env, out);
}

static bool all_scalar(const struct shape *s)
{
    if (!shape_is_tuple(s))
        return shape_is_scalar(s) || shape_is_token(s);
    for (int k = 0; k < s->count; k++)
        if (!all_scalar(s->elements[k]))
            return false;
    return true;
}

/* What is not live may be anything: conditions of loops look at one or two of their parameters. */
static bool all_live_scalar(struct inst *const *order, int count)
{
    for (int k = 0; k < count; k++) {
        const struct inst *i = order[k];
        if (i->opcode == OP_PARAMETER && shape_is_tuple(i->shape))
            continue;
        if (!all_scalar(i->shape))
            return false;
    }
    return true;
}

static bool make_live(struct maker *m, const struct computation *c, struct leaves args, struct leaves *out)
{
    int count;
    struct inst **order = plan_live(m->pl, c, &count);
    m->budget -= count;
    if (m->budget < 0 || !all_live_scalar(order, count))
        return false;
    struct leaves *env = ARENA_ARRAY(&m->pl->scratch, struct leaves, c->inst_count);
    for (int k = 0, first = 0; k < c->param_count; k++) {
        int n = (int)leaf_count(c->params[k]->shape);
        env[c->params[k]->index] = (struct leaves){n, args.at + first};
        first += n;
    }
    for (int k = 0; k < count; k++)
        if (order[k]->opcode != OP_PARAMETER && !make_inst(m, order[k], env, &env[order[k]->index]))
            return false;
    *out = env[c->root->index];
    return true;
}

static bool make_computation(struct maker *m, const struct computation *c, struct leaves args, struct leaves *out)
{
    if (m->depth >= MAX_INLINE || m->pl->not_scalar[c->index])
        return false;
    m->depth++;
    bool ok = make_live(m, c, args, out);
    m->depth--;
    if (!ok && m->budget >= 0 && !m->widen && m->depth < MAX_INLINE)
        m->pl->not_scalar[c->index] = true;
    return ok;
}

/* ---- the ends: arguments in, results out ---- */

static struct scalar_slot slot_of(const struct maker *m, int reg)
{
    if (reg == NO_VALUE)
        return (struct scalar_slot){NULL, 0};
    return (struct scalar_slot){m->regs[reg].at, (uint8_t)dtype_bytes(m->regs[reg].type)};
}

static void set_args(struct maker *m, struct scalar_code *code, struct leaves args)
{
    code->arg_count = args.count;
    code->args = ARENA_ARRAY(&m->pl->p->arena, struct scalar_slot, args.count);
    for (int k = 0; k < args.count; k++)
        code->args[k] = slot_of(m, args.at[k]);
}

static struct scalar_code *finish(struct maker *m, struct scalar_code *code, struct leaves results, const enum dtype *types)
{
    code->result_count = results.count;
    code->results = ARENA_ARRAY(&m->pl->p->arena, struct scalar_slot, results.count);
    for (int k = 0; k < results.count; k++) {
        int reg = results.at[k];
        if (types && reg != NO_VALUE)
            reg = convert(m, reg, types[k]);
        if (reg < 0 && reg != NO_VALUE)
            return NULL;
        code->results[k] = slot_of(m, reg);
    }
    push(m, SCALAR_STOP);
    code->op_count = m->op_count;
    code->ops = ARENA_DUP(&m->pl->p->arena, m->ops, m->op_count);
    return code;
}

/* Registers for the parameters; arrays get none (nothing live may read them). */
static bool make_params(struct maker *m, const struct computation *c, struct scalar_code *code,
                        const enum dtype *types, struct leaves *out)
{
    int n = 0, at = 0;
    for (int k = 0; k < c->param_count; k++)
        n += (int)leaf_count(c->params[k]->shape);
    struct leaves given = {n, ARENA_ARRAY(&m->pl->scratch, int, n)};
    *out = (struct leaves){n, ARENA_ARRAY(&m->pl->scratch, int, n)};
    for (int k = 0; k < c->param_count; k++) {
        int count;
        const struct shape *const *shapes;
        if (!plan_leaf_shapes(m->pl, c->params[k], c->params[k]->shape, &count, &shapes))
            return false;
        for (int j = 0; j < count; j++, at++) {
            enum dtype t = shapes[j]->dtype;
            given.at[at] = out->at[at] = NO_VALUE;
            if (!shape_is_scalar(shapes[j]))
                continue;
            given.at[at] = new_reg(m, types ? types[at] : t);
            out->at[at] = convert(m, given.at[at], type_of(m, t));
            if (out->at[at] < 0)
                return false;
        }
    }
    set_args(m, code, given);
    return true;
}

struct scalar_code *scalar_of_computation(struct planner *pl, const struct computation *c, const struct scalar_types *t)
{
    struct maker m = {.pl = pl, .widen = t && t->widen, .budget = BUDGET};
    struct scalar_code *code = ARENA_NEW(&pl->p->arena, struct scalar_code);
    struct leaves args, results;
    if (pl->not_scalar[c->index] || !all_scalar(c->root->shape) || !make_params(&m, c, code, t ? t->args : NULL, &args))
        return NULL;
    if (!make_computation(&m, c, args, &results))
        return NULL;
    return finish(&m, code, results, t ? t->results : NULL);
}

struct scalar_code *scalar_of_inst(struct planner *pl, const struct inst *i)
{
    struct maker m = {.pl = pl, .budget = BUDGET};
    if (!all_scalar(i->shape))
        return NULL;
    for (int k = 0; k < i->operand_count; k++)
        if (!all_scalar(i->operands[k]->shape))
            return NULL;
    struct scalar_code *code = ARENA_NEW(&pl->p->arena, struct scalar_code);
    struct leaves *env = ARENA_ARRAY(&pl->scratch, struct leaves, i->parent->inst_count);
    for (int k = 0; k < i->operand_count; k++) {
        int count;
        const struct shape *const *shapes;
        if (!plan_leaf_shapes(pl, i, i->operands[k]->shape, &count, &shapes))
            return NULL;
        env[i->operands[k]->index] = (struct leaves){count, ARENA_ARRAY(&pl->scratch, int, count)};
        for (int j = 0; j < count; j++)
            env[i->operands[k]->index].at[j] = shape_is_array(shapes[j]) ? new_reg(&m, shapes[j]->dtype) : NO_VALUE;
    }
    struct leaves args = operand_leaves(&m, i, env, 0), results;
    set_args(&m, code, args);
    return make_inst(&m, i, env, &results) ? finish(&m, code, results, NULL) : NULL;
}
