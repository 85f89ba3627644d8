/*
 * scalar.c: compiles to scalar code. A computation whose values are all scalars or small arrays
 * becomes a flat list of kernel calls on fixed addresses. Calls are inlined, loops and branches
 * become jumps, and operations on constants are folded. If anything is not supported, compilation
 * fails and the computation runs as a function.
 */
#include "plan/scalar.h"

/* ---- registers and operations ---- */

int scalar_alias_reg(struct maker *m, int reg, char *at, enum dtype t, int64_t n)
{
    const struct reg of = reg >= 0 ? m->regs[reg] : (struct reg){0};
    VEC_PUSH(&m->pl->scratch, m->regs, m->reg_count, m->reg_capacity) =
        (struct reg){.at = at,
                     .n = n,
                     .type = t,
                     .constant = of.constant,
                     .rearranged = of.rearranged,
                     .invariant = of.invariant};
    return m->reg_count - 1;
}

int scalar_new_reg(struct maker *m, enum dtype t, int64_t n)
{
    size_t size = (size_t)n * dtype_bytes(t);
    m->bytes += (int64_t)size + 16;
    if (m->bytes > SCALAR_MAX_BYTES)
        return -1;
    int reg = scalar_alias_reg(m, -1, arena_zalloc(&m->pl->scratch, size < 16 ? 16 : size), t, n);
    m->regs[reg].own = true;
    return reg;
}

static bool elements_of(const struct maker *m, const struct shape *s, int64_t *n)
{
    return shape_elements(s, n) && mul_i64(*n, m->lanes, n);
}

struct scalar_op *scalar_push_jump(struct maker *m, enum scalar_kind kind)
{
    struct scalar_op *op = &VEC_PUSH(&m->pl->scratch, m->ops, m->op_count, m->op_capacity);
    *op = (struct scalar_op){.kind = (uint8_t)kind};
    return op;
}

struct scalar_op *scalar_push(struct maker *m, enum scalar_kind kind, int out)
{
    struct scalar_op *op = scalar_push_jump(m, kind);
    op->out = m->regs[out].at;
    return op;
}

void scalar_done(struct maker *m, int out, bool constant)
{
    if (!constant)
        return;
    scalar_run_one(m->pl->p->kern, &m->ops[--m->op_count]);
    m->regs[out].constant = true;
}

int64_t scalar_reg_bytes(const struct maker *m, int reg)
{
    return m->regs[reg].n * (int64_t)dtype_bytes(m->regs[reg].type);
}

void scalar_push_move(struct maker *m, int to, int from)
{
    struct scalar_op *op = scalar_push(m, SCALAR_MOVE, to);
    op->args[0] = m->regs[from].at;
    op->count = (int32_t)scalar_reg_bytes(m, from);
}

int scalar_apply(struct maker *m, kern_tile_fn *fn, struct tile_meaning meaning, const int *args,
                 int64_t n)
{
    const int reg = scalar_new_reg(m, meaning.to, n),
              count = meaning.inst ? meaning.inst->operand_count : 1;
    if (reg < 0)
        return -1;
    struct scalar_op *op = scalar_push(m, SCALAR_APPLY, reg);
    op->fn = fn;
    op->meaning = meaning;
    op->count = (int32_t)n;
    bool constant = true;
    for (int k = 0; k < count; k++) {
        op->args[k] = m->regs[args[k]].at;
        constant &= m->regs[args[k]].constant;
    }
    scalar_done(m, reg, constant);
    return reg;
}

int scalar_convert(struct maker *m, int reg, enum dtype t)
{
    const enum dtype from = m->regs[reg].type;
    if (from == t)
        return reg;
    kern_tile_fn *fn = m->regs[reg].large_array ? NULL : m->pl->tiles->convert(t, from);
    const struct tile_meaning meaning = {TILE_CONVERT, NULL, from, t, DT_INVALID};
    return fn ? scalar_apply(m, fn, meaning, &reg, m->regs[reg].n) : -1;
}

/* ---- instructions ---- */

/* Larger values are of types whose tile kernels compute no more elements per instruction than
 * machine code does. */
static int64_t most_elements(const struct maker *m, const struct shape *s)
{
    const bool wide = s->dtype == DT_PRED || dtype_bytes(s->dtype) >= 4,
               long_rows = s->rank > 0 && s->dims[s->rank - 1] >= SCALAR_ROW;
    return m->in_loop && wide && long_rows ? SCALAR_MAX_IN_LOOP : SCALAR_MAX_ELEMENTS;
}

bool scalar_fits(const struct maker *m, const struct shape *s)
{
    int64_t n;
    return shape_elements(s, &n) && n <= most_elements(m, s);
}

/* With dynamic sizes, registers are for scalars only. */
static bool is_small(const struct maker *m, const struct shape *s)
{
    return shape_is_array(s) && s->rank <= (m->pl->p->dynamic ? 0 : VIEW_MAX_RANK) &&
           scalar_fits(m, s);
}

bool scalar_one_leaf(struct maker *m, int reg, struct leaves *out)
{
    *out = (struct leaves){1, ARENA_NEW(&m->pl->scratch, int)};
    *out->at = reg;
    return reg >= 0;
}

static bool make_tile(struct maker *m, const struct inst *i, const struct leaves *env,
                      struct leaves *out)
{
    enum dtype type, result;
    kern_tile_fn *fn = plan_tile(m->pl, i, &type, &result);
    int args[KERN_MAX_ARGS];
    int64_t n = 0;
    bool constant = true;
    if (!fn || i->operand_count > KERN_MAX_ARGS || !elements_of(m, i->shape, &n))
        return false;
    for (int k = 0; k < i->operand_count; k++) {
        bool chooser = i->opcode == OP_SELECT && k == 0;
        args[k] = scalar_convert(m, env[i->operands[k]->index].at[0], chooser ? DT_PRED : type);
        if (args[k] >= 0 && i->operands[k]->shape->rank != i->shape->rank)
            args[k] = scalar_spread(m, args[k], n);
        if (args[k] < 0)
            return false;
        constant &= m->regs[args[k]].constant;
    }
    int reg = -1;
    if (result == i->shape->dtype && !constant) {
        if (scalar_known(m, i, args, out))
            return true;
        reg = scalar_apply_affine(m, i, args);
    }
    if (reg < 0) {
        const struct tile_meaning meaning = {TILE_INST, i, type, result, DT_INVALID};
        reg = scalar_apply(m, fn, meaning, args, n);
        if (reg < 0)
            return false;
        scalar_set_affine(m, i, args, reg);
    }
    scalar_set_range(m, i, args, reg);
    return scalar_one_leaf(m, scalar_convert(m, reg, i->shape->dtype), out);
}

static bool make_convert(struct maker *m, const struct inst *i, const struct leaves *env,
                         struct leaves *out)
{
    const int reg = env[i->operands[0]->index].at[0],
              converted = scalar_convert(m, reg, i->shape->dtype);
    if (converted >= 0 && converted != reg)
        scalar_set_range(m, i, &reg, converted);
    return scalar_one_leaf(m, converted, out);
}

/* A constant whose elements were elided is replaced by its filled literal. */
static bool make_elided(struct maker *m, const struct inst *i, struct leaves *out)
{
    int64_t n;
    bool allowed = m->pl->p->options.elided != ELIDED_REFUSE &&
                   m->lanes == 1; /* the function that runs instead reports why not */
    int reg = allowed && is_small(m, i->shape) && shape_elements(i->shape, &n)
                  ? scalar_new_reg(m, i->shape->dtype, n)
                  : -1;
    const struct literal *l = reg < 0 ? NULL : elided_fill(m->pl, i, i->literal);
    if (!l)
        return false;
    memcpy(m->regs[reg].at, l->data, (size_t)scalar_reg_bytes(m, reg));
    m->regs[reg].constant = true;
    return scalar_one_leaf(m, reg, out);
}

static bool make_constant(struct maker *m, const struct inst *i, struct leaves *out)
{
    const struct literal *l = i->literal;
    int64_t n;
    if (!shape_is_array(l->shape) || !elements_of(m, l->shape, &n))
        return false;
    if (l->elided)
        return make_elided(m, i, out);
    if (!is_small(m, l->shape))
        return scalar_one_leaf(m, scalar_new_large(m, l->shape, -1, l->data), out);
    int reg = scalar_new_reg(m, l->shape->dtype, n);
    if (reg < 0)
        return false;
    size_t size = (size_t)(scalar_reg_bytes(m, reg) / m->lanes);
    for (int64_t k = 0; k < m->lanes; k++)
        memcpy(m->regs[reg].at + (size_t)k * size, l->data, size);
    m->regs[reg].constant = true;
    return scalar_one_leaf(m, reg, out);
}

static bool make_precision(struct maker *m, const struct inst *i, const struct leaves *env,
                           struct leaves *out)
{
    int x = env[i->operands[0]->index].at[0];
    enum dtype t = i->operands[0]->shape->dtype;
    int reg = t != i->shape->dtype ? -1 : scalar_new_reg(m, t, m->regs[x].n);
    if (reg < 0)
        return false;
    struct scalar_precision *p = ARENA_NEW(&m->pl->scratch, struct scalar_precision);
    p->exponent = plan_bits(i, A_EXPONENT_BITS);
    p->mantissa = plan_bits(i, A_MANTISSA_BITS);
    view_dense(&p->x, t, 1, &m->regs[x].n, m->regs[x].at);
    view_dense(&p->out, t, 1, &m->regs[x].n, m->regs[reg].at);
    scalar_push(m, SCALAR_PRECISION, reg)->precision = p;
    scalar_done(m, reg, m->regs[x].constant);
    return scalar_one_leaf(m, reg, out);
}

/* A bitcast that keeps the bytes. Not compiled where the bits may not be a valid value of the new
 * type, nor where layouts determine the order of elements. */
static bool make_bitcast(struct maker *m, const struct inst *i, const struct leaves *env,
                         struct leaves *out)
{
    const struct shape *x = i->operands[0]->shape;
    enum dtype from = x->dtype, to = i->shape->dtype;
    int reg = env[i->operands[0]->index].at[0];
    int64_t n;
    if (from != to && (dtype_bits(from) != dtype_bits(to) || dtype_bits(from) < 8 || to == DT_PRED))
        return false;
    if (i->opcode == OP_BITCAST &&
        (!layout_is_descending(x->layout) || !layout_is_descending(i->shape->layout)))
        return false;
    if (!elements_of(m, i->shape, &n) || n != m->regs[reg].n)
        return false;
    return scalar_one_leaf(m, scalar_alias_reg(m, reg, m->regs[reg].at, to, n), out);
}

/* The id of the participant, an argument of the code; `count`: how many ids there are. */
static bool make_id(struct maker *m, enum scalar_id id, int64_t count, struct leaves *out)
{
    if (m->ids[id] == 0) {
        const int reg = scalar_new_reg(m, DT_U32, 1);
        if (reg < 0)
            return false;
        m->regs[reg].constant = count == 1; /* 0 */
        m->ids[id] = 1 + reg;
    }
    return scalar_one_leaf(m, m->ids[id] - 1, out);
}

struct leaves scalar_operands(struct maker *m, const struct inst *i, const struct leaves *env,
                              int first)
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

/* ---- dispatch ---- */

/* Vectorized code has no control flow: all lanes do the same. */
static bool works_in_lanes(const struct inst *i)
{
    return i->opcode != OP_WHILE && i->opcode != OP_CONDITIONAL &&
           !op_is(i->opcode, OP_PARTICIPANT) && (!shape_is_array(i->shape) || i->shape->rank == 0);
}

static bool reads_large(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    for (int k = 0; k < i->operand_count && m->large_array_count > 0; k++)
        for (int j = 0; j < env[i->operands[k]->index].count; j++) {
            int reg = env[i->operands[k]->index].at[j];
            if (reg != NO_VALUE && m->regs[reg].large_array)
                return true;
        }
    return false;
}

static bool multiplies_rearranged(const struct maker *m, const struct inst *i,
                                  const struct leaves *env)
{
    for (int k = 0; i->opcode == OP_DOT && k < i->operand_count; k++)
        if (m->regs[env[i->operands[k]->index].at[0]].rearranged)
            return true;
    return false;
}

static bool takes_large(const struct inst *i)
{
    return scalar_may_be_large(i) || scalar_may_read_large(i) || i->opcode == OP_DYNAMIC_SLICE ||
           i->opcode == OP_GATHER;
}

static bool compile_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                         struct leaves *out)
{
    const struct module *module = m->pl->p->module;
    if ((m->lanes > 1 && !works_in_lanes(i)) || (reads_large(m, i, env) && !takes_large(i)) ||
        multiplies_rearranged(m, i, env))
        return false;
    switch (i->opcode) {
    case OP_CONSTANT: return make_constant(m, i, out);
    case OP_CONVERT: return make_convert(m, i, env, out);
    case OP_REDUCE_PRECISION: return make_precision(m, i, env, out);
    case OP_BITCAST:
    case OP_BITCAST_CONVERT: return make_bitcast(m, i, env, out);
    case OP_REPLICA_ID: return make_id(m, SCALAR_REPLICA, module->replica_count, out);
    case OP_PARTITION_ID: return make_id(m, SCALAR_PARTITION, module->num_partitions, out);
    case OP_MAP:
        if (i->shape->rank > 0)
            return false;
        /* fallthrough */
    case OP_CALL:
        return scalar_computation(m, inst_computation(i, A_TO_APPLY), scalar_operands(m, i, env, 0),
                                  out);
    case OP_FUSION:
        return scalar_computation(m, inst_computation(i, A_CALLS), scalar_operands(m, i, env, 0),
                                  out);
    case OP_WHILE: return scalar_while(m, i, env, out);
    case OP_CONDITIONAL: return scalar_conditional(m, i, env, out);
    case OP_TUPLE:
    case OP_GET_TUPLE_ELEMENT:
    case OP_OPT_BARRIER:
    case OP_DOMAIN:
    case OP_ADD_DEPENDENCY:
    case OP_AFTER_ALL: return plan_alias(m->pl, i, env, out);
    case OP_COPY:
        return i->shape->dtype == i->operands[0]->shape->dtype ? plan_alias(m->pl, i, env, out)
                                                               : make_tile(m, i, env, out);
    default: break;
    }
    if (op_is(i->opcode, OP_ELEMENTWISE))
        return make_tile(m, i, env, out);
    return m->lanes == 1 && (scalar_array_inst(m, i, env, out) ||
                             (!reads_large(m, i, env) && scalar_step_inst(m, i, env, out)));
}

/* Whether the instruction is compiled once for equal operands. Constants have none, loops count
 * their iterations, and what is called is compiled as a part of this code. */
static bool may_be_same(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    return i->operand_count > 0 && !op_is(i->opcode, OP_RUNS) &&
           op_table[i->opcode].family != FAMILY_tuple && !reads_large(m, i, env);
}

/* Compiles the instruction, unless an equal one was. */
static bool compile_once(struct maker *m, const struct inst *i, const struct leaves *env,
                         struct leaves *out)
{
    if (!may_be_same(m, i, env))
        return compile_inst(m, i, env, out);
    const struct leaves operands = scalar_operands(m, i, env, 0);
    if (same_find(m->pl, &m->same, i, operands, out))
        return true;
    if (!compile_inst(m, i, env, out))
        return false;
    same_note(m->pl, &m->same, i, operands, *out);
    return true;
}

/* Whether a value fits in registers; with `large`, arrays that stay in place count as fitting. */
static bool all_fit(const struct maker *m, const struct shape *s, bool large)
{
    if (!shape_is_tuple(s))
        return is_small(m, s) || shape_is_token(s) || (large && scalar_is_large(m, s));
    for (int k = 0; k < s->count; k++)
        if (!all_fit(m, s->elements[k], large))
            return false;
    return true;
}

/* A quick check before any operation is made. */
static bool may_be_understood(struct planner *pl, const struct inst *i)
{
    return op_is(i->opcode, OP_RUNS | OP_PARTICIPANT) ||
           op_table[i->opcode].family == FAMILY_tuple || plan_is_pure(pl, i) ||
           plan_is_lapack(pl->p, i);
}

bool scalar_is_taken(const struct maker *m, const struct inst *i)
{
    return all_fit(m, i->shape, scalar_may_be_large(i)) && may_be_understood(m->pl, i);
}

/* Only live instructions must be small: conditions of loops often read only one or two of their
 * parameters. */
static bool all_live_small(const struct maker *m, struct inst *const *order, int count)
{
    for (int k = 0; k < count; k++) {
        const struct inst *i = order[k];
        if (i->opcode == OP_PARAMETER && shape_is_tuple(i->shape))
            continue;
        if (!scalar_is_taken(m, i))
            return false;
    }
    return true;
}

static bool is_invariant(const struct maker *m, struct leaves l)
{
    for (int k = 0; k < l.count; k++)
        if (l.at[k] != NO_VALUE && !m->regs[l.at[k]].constant && !m->regs[l.at[k]].invariant)
            return false;
    return true;
}

static bool is_of_invariants(const struct maker *m, const struct inst *i, const struct leaves *env)
{
    for (int k = 0; k < i->operand_count; k++)
        if (!is_invariant(m, env[i->operands[k]->index]))
            return false;
    return i->operand_count > 0;
}

/* Marks the results of operations on what the loop does not change; those of tuples are registers
 * of their operands. False if they are large: a function computes them once per loop. */
static bool mark_invariant(struct maker *m, const struct inst *i, const struct leaves *env,
                           struct leaves results)
{
    if (op_table[i->opcode].family == FAMILY_tuple || !is_of_invariants(m, i, env))
        return true;
    const bool computes = op_is(i->opcode, OP_ELEMENTWISE) || i->opcode == OP_DOT;
    for (int k = 0; k < results.count; k++) {
        struct reg *r = results.at[k] == NO_VALUE ? NULL : &m->regs[results.at[k]];
        if (r && computes && !r->constant && r->n > SCALAR_MAX_ELEMENTS)
            return false;
        if (r)
            r->invariant = true;
    }
    return true;
}

/* Compiles an instruction on registers that hold the values of its operands. */
static bool compile_loaded(struct maker *m, const struct inst *i, struct leaves *env,
                           struct leaves *out)
{
    if (op_is(i->opcode, OP_RUNS) || op_table[i->opcode].family == FAMILY_tuple ||
        !scalar_reads_hoisted(m, i, env))
        return compile_once(m, i, env, out);
    struct leaves *kept = ARENA_ARRAY(&m->pl->scratch, struct leaves, i->operand_count);
    bool ok = true;
    for (int k = 0; k < i->operand_count; k++) {
        kept[k] = env[i->operands[k]->index];
        ok = ok && scalar_load_hoisted(m, &env[i->operands[k]->index]);
    }
    ok = ok && compile_once(m, i, env, out);
    for (int k = i->operand_count - 1; k >= 0; k--)
        env[i->operands[k]->index] = kept[k];
    return ok;
}

/* Compiles an instruction, or makes it run before the loop. */
static bool compile_or_hoist(struct maker *m, const struct inst *i, struct leaves *env,
                             struct leaves *out)
{
    const bool precedes = scalar_precedes(m, i, env);
    const int before = m->op_count;
    if (precedes && scalar_is_worth_hoisting(m, i, env) && scalar_hoist(m, i, env, out))
        return true;
    if (compile_loaded(m, i, env, out) && mark_invariant(m, i, env, *out)) {
        if (precedes)
            scalar_note_preceding(m, i, env, *out);
        return true;
    }
    m->op_count = before;
    map_init(&m->same, &m->pl->scratch); /* has results of what was removed */
    return precedes && scalar_hoist(m, i, env, out);
}

static bool make_live(struct maker *m, const struct computation *c, struct leaves args,
                      struct leaves *out)
{
    int count;
    struct inst **order = plan_live(m->pl, c, &count);
    m->budget -= count;
    if (m->budget < 0 || (!all_live_small(m, order, count) &&
                          !(m->preheader.enabled && scalar_may_hoist(m, c, order, count, args))))
        return false;
    struct leaves *env = ARENA_ARRAY(&m->pl->scratch, struct leaves, c->inst_count);
    for (int k = 0, first = 0; k < c->param_count; k++) {
        int n = (int)leaf_count(c->params[k]->shape);
        env[c->params[k]->index] = (struct leaves){n, args.at + first};
        first += n;
    }
    for (int k = 0; k < count; k++)
        if (order[k]->opcode != OP_PARAMETER &&
            !compile_or_hoist(m, order[k], env, &env[order[k]->index]))
            return false;
    *out = env[c->root->index];
    return true;
}

bool scalar_computation(struct maker *m, const struct computation *c, struct leaves args,
                        struct leaves *out)
{
    /* what fails in a loop, where more is allowed, fails elsewhere too */
    const uint8_t outside = 1, inside = 2, failed = m->in_loop ? outside | inside : outside;
    if (m->depth >= SCALAR_INLINE || m->pl->not_scalar[c->index] & (m->in_loop ? inside : outside))
        return false;
    m->depth++;
    bool ok = make_live(m, c, args, out);
    m->depth--;
    if (!ok && m->budget >= 0 && m->lanes == 1 && m->depth < SCALAR_INLINE && !m->preheader.failed)
        m->pl->not_scalar[c->index] |= failed;
    return ok;
}

/* ---- arguments in, results out ---- */

static struct scalar_slot slot_of(const struct maker *m, int reg)
{
    if (reg == NO_VALUE)
        return (struct scalar_slot){0};
    const struct reg *r = &m->regs[reg];
    if (r->large_array)
        return (struct scalar_slot){.at = &r->large_array->at,
                                    .large = true,
                                    .written = r->large_array->written,
                                    .arg = r->large_array->arg};
    return (struct scalar_slot){.at = r->at, .size = (uint32_t)scalar_reg_bytes(m, reg)};
}

static void set_args(struct maker *m, struct scalar_code *code, struct leaves args)
{
    code->arg_count = args.count;
    code->args = ARENA_ARRAY(&m->pl->p->arena, struct scalar_slot, args.count + SCALAR_IDS);
    for (int k = 0; k < args.count; k++)
        code->args[k] = slot_of(m, args.at[k]);
}

/* The arguments that the scalar code modifies are known only when it is complete. */
static void mark_written(struct maker *m, struct scalar_code *code)
{
    for (int k = 0; k < code->arg_count; k++)
        for (int c = 0; c < m->large_array_count && code->args[k].large; c++)
            if (code->args[k].at == &m->large_arrays[c]->at)
                code->args[k].written = m->large_arrays[c]->written;
}

static struct scalar_code *finish(struct maker *m, struct leaves args, struct leaves results,
                                  const enum dtype *types, bool is_body)
{
    struct scalar_code *code = ARENA_NEW(&m->pl->p->arena, struct scalar_code);
    set_args(m, code, scalar_all_args(m, args));
    code->program = m->pl->p;
    code->number = m->pl->p->scalar_count++;
    code->kern = m->pl->p->kern;
    code->result_count = results.count;
    code->results = ARENA_ARRAY(&m->pl->p->arena, struct scalar_slot, results.count);
    for (int k = 0; k < results.count; k++) {
        int reg = results.at[k];
        if (types && reg != NO_VALUE)
            reg = scalar_convert(m, reg, types[k]);
        if (reg < 0 && reg != NO_VALUE)
            return NULL;
        if (reg >= 0 && m->regs[reg].large_array &&
            (!scalar_is_fresh(&m->regs[reg]) || !scalar_may_write(m, m->regs[reg].large_array)))
            return NULL;
        code->results[k] = slot_of(m, reg);
    }
    for (int k = 0; k < SCALAR_IDS; k++)
        if (m->ids[k] && !m->regs[m->ids[k] - 1].constant)
            code->args[code->arg_count + k] = slot_of(m, m->ids[k] - 1);
    mark_written(m, code);
    scalar_push_jump(m, SCALAR_STOP);
    if (!m->pl->p->options.plain) {
        scalar_tidy(m, code);
        scalar_turn_matrices(m);
        scalar_join_calls(m);
    }
    code->monitor = scalar_monitor(m);
    scalar_pack(m, code);
    if (!m->pl->p->options.plain)
        scalar_set_native(m, code, is_body);
    return code;
}

/* Makes registers for the parameters; arrays get none (no live instruction may read them). */
static bool make_params(struct maker *m, const struct computation *c, const enum dtype *types,
                        struct leaves *given, struct leaves *out)
{
    int n = 0, at = 0;
    for (int k = 0; k < c->param_count; k++)
        n += (int)leaf_count(c->params[k]->shape);
    *given = (struct leaves){n, ARENA_ARRAY(&m->pl->scratch, int, n)};
    *out = (struct leaves){n, ARENA_ARRAY(&m->pl->scratch, int, n)};
    for (int k = 0; k < c->param_count; k++) {
        int count;
        const struct shape *const *shapes;
        if (!plan_leaf_shapes(m->pl, c->params[k], c->params[k]->shape, &count, &shapes))
            return false;
        for (int j = 0; j < count; j++, at++) {
            enum dtype t = shapes[j]->dtype;
            given->at[at] = out->at[at] = NO_VALUE;
            int64_t elements;
            if (!is_small(m, shapes[j]) || !elements_of(m, shapes[j], &elements))
                continue;
            given->at[at] = scalar_new_reg(m, types ? types[at] : t, elements);
            if (given->at[at] < 0)
                return false;
            out->at[at] = scalar_convert(m, given->at[at], t);
            if (out->at[at] < 0)
                return false;
        }
    }
    return true;
}

struct scalar_code *scalar_of_computation(struct planner *pl, const struct computation *c,
                                          const struct scalar_types *t)
{
    struct maker m = {.pl = pl, .lanes = t && t->lanes ? t->lanes : 1, .budget = SCALAR_BUDGET};
    struct leaves given, args, results;
    map_init(&m.same, &pl->scratch);
    if (!all_fit(&m, c->root->shape, false) ||
        !make_params(&m, c, t ? t->args : NULL, &given, &args))
        return NULL;
    if (!scalar_computation(&m, c, args, &results))
        return NULL;
    return finish(&m, given, results, t ? t->results : NULL, true);
}

/* Makes registers for the leaves of an operand, the arguments from `first` on. */
static bool make_operand(struct maker *m, const struct inst *i, int first, struct leaves *out)
{
    int count;
    const struct shape *const *shapes;
    if (!all_fit(m, i->shape, true) || !plan_leaf_shapes(m->pl, i, i->shape, &count, &shapes))
        return false;
    *out = (struct leaves){count, ARENA_ARRAY(&m->pl->scratch, int, count)};
    for (int k = 0; k < count; k++) {
        int64_t n;
        int made = NO_VALUE;
        if (is_small(m, shapes[k]) && shape_elements(shapes[k], &n))
            made = scalar_new_reg(m, shapes[k]->dtype, n);
        else if (shape_is_array(shapes[k]))
            made = scalar_new_large(m, shapes[k], first + k, NULL);
        if (made < 0 && made != NO_VALUE)
            return false;
        if (made >= 0)
            m->regs[made].before = (struct preheader_value){true, NULL, first + k};
        out->at[k] = made;
    }
    return true;
}

struct leaves *scalar_loose_leaves(struct planner *pl, int count)
{
    if (pl->loose_capacity < count) {
        pl->loose_capacity = count > 2 * pl->loose_capacity ? count : 2 * pl->loose_capacity;
        pl->loose = ARENA_ARRAY(&pl->scratch, struct leaves, pl->loose_capacity);
    }
    return pl->loose;
}

/* A call's code is shared by all calls of the computation, so its arguments are distinct by
 * position even where this call passes one value for several parameters. */
static bool make_inst(struct maker *m, const struct inst *i, const struct leaves *env,
                      struct leaves args, struct leaves *out)
{
    if (i->opcode == OP_CALL || i->opcode == OP_FUSION)
        return scalar_computation(m, plan_called(i), args, out);
    return compile_inst(m, i, env, out);
}

bool scalar_of_inst(struct build *b, const struct inst *i, struct leaves *operands,
                    const struct scalar_code **code)
{
    struct planner *pl = b->pl;
    struct maker m = {.pl = pl,
                      .lanes = 1,
                      .budget = SCALAR_BUDGET,
                      .in_loop = i->opcode == OP_WHILE,
                      .takes_large = !pl->p->dynamic && !pl->p->options.plain};
    *code = NULL;
    map_init(&m.same, &pl->scratch);
    m.preheader.enabled = m.in_loop && m.takes_large && pl->hoisting_budget > 0;
    if (!all_fit(&m, i->shape, true))
        return true;
    struct leaves *env = scalar_loose_leaves(pl, i->parent->inst_count);
    int64_t n = 0;
    for (int k = 0; k < i->operand_count; k++)
        n += leaf_count(i->operands[k]->shape);
    struct leaves args = {0, ARENA_ARRAY(&pl->scratch, int, n)}, results;
    for (int k = 0; k < i->operand_count; k++) {
        struct leaves *operand = &env[i->operands[k]->index];
        if (!make_operand(&m, i->operands[k], args.count, operand))
            return true;
        for (int j = 0; j < operand->count; j++)
            args.at[args.count++] = operand->at[j];
    }
    m.arg_count = args.count;
    if (make_inst(&m, i, env, args, &results))
        *code = finish(&m, args, results, NULL, false);
    else if (m.preheader.enabled)
        pl->hoisting_budget -= SCALAR_BUDGET - m.budget;
    return !*code || scalar_emit_preheader(b, &m.preheader, operands);
}
