/*
 * function.c: plans one computation as a list of steps. Values are flattened to their array leaves,
 * and dead code is left out. build_function() calls the passes in order.
 */
#include "plan/plan_priv.h"

enum { MAX_TOTAL_LEAVES = 1 << 24 }; /* leaves of all values of one computation */

/* ---- emitting ---- */

static void fresh_values(struct build *b, const struct shape *const *shapes, int count, int *out)
{
    for (int k = 0; k < count; k++) {
        size_t n = (size_t)b->value_count;
        if (shape_is_array(shapes[k]))
            VEC_PUSH(&b->pl->scratch, b->maker, n, b->maker_capacity) = -1;
        out[k] = shape_is_array(shapes[k]) ? b->value_count++ : NO_VALUE;
    }
}

struct leaves plan_operands(struct build *b, const struct inst *i, int **starts)
{
    int n = 0;
    for (int k = 0; k < i->operand_count; k++)
        n += b->env[i->operands[k]->index].count;
    struct leaves out = {0, ARENA_ARRAY(build_arena(b), int, n)};
    *starts = ARENA_ARRAY(build_arena(b), int, i->operand_count + 1);
    for (int k = 0; k < i->operand_count; k++) {
        struct leaves l = b->env[i->operands[k]->index];
        if (l.count > 0)
            memcpy(out.at + out.count, l.at, (size_t)l.count * sizeof *l.at);
        out.count += l.count;
        (*starts)[k + 1] = out.count;
    }
    return out;
}

struct step *plan_emit(struct build *b, const struct inst *i, struct leaves operands,
                       const int *starts, const struct shape *result, struct leaves *out)
{
    struct step s = {
        .inst = i, .operand_count = operands.count, .operands = operands.at, .starts = starts};
    if (!plan_leaf_shapes(b->pl, i, result, &s.result_count, &s.shapes))
        return NULL;
    int *results = ARENA_ARRAY(build_arena(b), int, s.result_count);
    fresh_values(b, s.shapes, s.result_count, results);
    s.results = results;
    *out = (struct leaves){s.result_count, ARENA_DUP(&b->pl->scratch, results, s.result_count)};
    struct step *at = &VEC_PUSH(build_arena(b), b->f->steps, b->f->step_count, b->step_capacity);
    *at = s;
    return at;
}

static bool add_callee(struct build *b, struct step *s, const struct computation *c)
{
    struct function *f = plan_function(b->pl, s->inst, c);
    s->callees[s->callee_count++] = f;
    return f != NULL;
}

/* A condition that reads a few scalars of the state is compiled to scalar code. */
static bool add_condition(struct build *b, struct step *s)
{
    struct computation *c = inst_computation(s->inst, A_CONDITION);
    if (!add_callee(b, s, c))
        return false;
    struct function *f = s->callees[s->callee_count - 1];
    if (!f->code && !plan_is_traced(b->pl))
        f->code = scalar_of_computation(b->pl, c, NULL);
    return true;
}

static bool add_callees(struct build *b, struct step *s)
{
    const struct inst *i = s->inst;
    struct computation *c =
        inst_computation(i, i->opcode == OP_CALL || i->opcode == OP_SCAN ? A_TO_APPLY : A_CALLS);
    if (i->opcode != OP_CONDITIONAL) {
        s->callees = ARENA_ARRAY(build_arena(b), struct function *, 2);
        if (i->opcode != OP_WHILE)
            return add_callee(b, s, c);
        s->kind = STEP_WHILE;
        s->as.termination = plan_termination(b->pl, i);
        return add_callee(b, s, inst_computation(i, A_BODY)) && add_condition(b, s);
    }
    int n;
    struct computation **branches = inst_callee_list(&b->pl->scratch, i, &n);
    s->callees = ARENA_ARRAY(build_arena(b), struct function *, n);
    for (int k = 0; k < n; k++)
        if (!add_callee(b, s, branches[k]))
            return false;
    return true;
}

/* For other targets, only the target's own code interprets a called computation. */
static bool add_onnx_loop(struct build *b, struct step *s)
{
    struct onnx_loop *loop = ARENA_NEW(build_arena(b), struct onnx_loop);
    const struct attr *a = inst_attr(s->inst, A_CALLED_COMPUTATIONS);
    onnx_loop_config(inst_str(s->inst, A_BACKEND_CONFIG), &b->pl->scratch, loop);
    s->as.call.loop = loop;
    s->callees = ARENA_ARRAY(build_arena(b), struct function *, 1);
    if (!add_callee(b, s, a->v.computations.at[0]))
        return false;
    struct function *f = s->callees[0];
    if (!f->code && !plan_is_traced(b->pl))
        f->code = scalar_of_computation(b->pl, a->v.computations.at[0], NULL);
    return true;
}

static const struct tile_step *add_tile(struct build *b, struct step *s, struct tile_step *t)
{
    t->run = plan_tile(b->pl, s->inst, &t->type, &t->result);
    if (!t->run)
        return NULL;
    s->kind = STEP_TILE;
    s->as.tile = *t;
    return t;
}

/* Like XLA's, the verifier accepts some operations on types for which the specification defines no
 * meaning: shifts of floats, the remainder of complex numbers. */
static bool find_tile(struct build *b, struct step *s)
{
    const struct inst *i = s->inst;
    struct tile_step t;
    return add_tile(b, s, &t) || !shape_is_array(i->shape) ||
           PLAN_FAIL(b->pl, i, NOT_DEFINED, op_spelling(i->opcode), dtype_spelling(t.type));
}

/* The scalar code of a whole call, fusion, while or conditional, shared by all calls of one
 * computation; NULL if it cannot be compiled. `operands` as for scalar_of_inst(). False with a
 * message. */
static bool find_scalar(struct build *b, const struct inst *i, struct leaves *operands,
                        const struct scalar_code **code)
{
    bool call = i->opcode == OP_CALL || i->opcode == OP_FUSION;
    *code = NULL;
    if (plan_is_traced(b->pl))
        return true;
    if (!call || !inline_fits(i, plan_called(i)))
        return scalar_of_inst(b, i, operands, code);
    struct known_call *k = &b->pl->calls[plan_called(i)->index];
    if (!k->known && !scalar_of_inst(b, i, operands, &k->code))
        return false;
    k->known = true;
    *code = k->code;
    return true;
}

/* The key of an rng instruction's stream, from the seed and the names, which printing and editing
 * preserve. */
static uint64_t rng_key(const struct inst *i, uint64_t seed)
{
    const struct str computation = i->parent->name;
    uint64_t key = hash_from(hash_bytes(&seed, sizeof seed), computation.ptr, computation.len);
    return hash_from(key, i->name.ptr, i->name.len);
}

static bool add_rng(struct build *b, struct step *s, uint64_t first, uint64_t second)
{
    struct program *p = b->pl->p;
    s->kind = STEP_RNG;
    s->as.rng = p->rng_count;
    VEC_PUSH(&p->arena, p->rng, p->rng_count, b->pl->rng_capacity) =
        (struct rng_state){{first, second}};
    return true;
}

bool plan_prepare(struct build *b, struct step *s)
{
    switch (s->inst->opcode) {
    case OP_SCAN: return add_callees(b, s);
    case OP_CUSTOM_CALL:
        s->kind = STEP_CUSTOM_CALL;
        s->as.call = (struct call_step){.number = ++b->pl->p->call_count,
                                        .foreign = plan_foreign(b->pl->p, s->inst, false),
                                        .fallback = plan_foreign(b->pl->p, s->inst, true)};
        return inst_is_onnx_loop(s->inst) ? add_onnx_loop(b, s) : plan_bodies(b->pl, s);
    case OP_RNG: return add_rng(b, s, 0, rng_key(s->inst, b->pl->p->options.seed));
    case OP_RNG_GET_AND_UPDATE_STATE: return add_rng(b, s, 0x7012395, 0); /* XLA's initial state */
    case OP_CONVERT:
    case OP_COPY: return find_tile(b, s);
    case OP_BITCAST_CONVERT: add_tile(b, s, &(struct tile_step){0}); return true;
    default: break;
    }
    return op_is(s->inst->opcode, OP_ELEMENTWISE) ? find_tile(b, s) : plan_bodies(b->pl, s);
}

/* ---- asynchronous operations: all their work is done at the start ---- */

/* The leaves of a start's value: the operands, then the results, then context leaves that are never
 * read. */
static void start_leaves(struct build *b, const struct shape *s, struct leaves operands,
                         struct leaves results, struct leaves *out)
{
    int n = (int)leaf_count(s), j = 0;
    *out = (struct leaves){n, ARENA_ARRAY(&b->pl->scratch, int, n)};
    int given = (int)leaf_count(s->elements[0]); /* without the offsets of a permute in place */
    for (int k = 0; k < operands.count && k < given && j < n; k++)
        out->at[j++] = operands.at[k];
    for (int k = 0; k < results.count && j < n; k++)
        out->at[j++] = results.at[k];
    for (int e = 2; e < s->count; e++)
        if (j < n && !shape_is_tuple(s->elements[e]))
            out->at[j++] =
                shape_is_array(s->elements[e]) ? plan_zero(b->pl, s->elements[e]) : NO_VALUE;
    while (j < n)
        out->at[j++] = NO_VALUE;
}

static bool plan_pair_start(struct build *b, const struct inst *i, struct leaves *out)
{
    int *starts;
    struct leaves operands = plan_operands(b, i, &starts), made;
    struct step *s = plan_emit(b, i, operands, starts, i->shape->elements[1], &made);
    if (!s)
        return false;
    start_leaves(b, i->shape, operands, made, out);
    return true;
}

static const struct inst *async_first(const struct inst *i)
{
    while (i->opcode != OP_ASYNC_START)
        i = i->operands[0];
    return i;
}

/* Operands may arrive in parts, in the start and in updates; the computation runs once all are
 * present. */
static bool plan_async(struct build *b, const struct inst *i, struct leaves *out)
{
    int *starts;
    const struct computation *c = inst_computation(async_first(i), A_CALLS);
    int64_t expected = 0;
    for (int k = 0; k < c->param_count; k++)
        expected += leaf_count(c->params[k]->shape);
    struct leaves operands = plan_operands(b, i, &starts), made;
    if (i->opcode == OP_ASYNC_UPDATE) {
        const struct inst *before = i->operands[0];
        if (i->operand_count == 1)
            return *out = b->env[before->index], true;
        struct leaves bound = leaves_component(before->shape, b->env[before->index], 0);
        struct leaves more = {operands.count - starts[1], operands.at + starts[1]};
        operands = (struct leaves){0, ARENA_ARRAY(build_arena(b), int, bound.count + more.count)};
        for (int k = 0; k < bound.count; k++)
            operands.at[operands.count++] = bound.at[k];
        for (int k = 0; k < more.count; k++)
            operands.at[operands.count++] = more.at[k];
    }
    made = (struct leaves){0, NULL};
    if (operands.count == expected) {
        struct step *s = plan_emit(b, i, operands, starts, c->root->shape, &made);
        if (!s)
            return false;
        s->callees = ARENA_ARRAY(build_arena(b), struct function *, 1);
        struct function *f = plan_function(b->pl, i, c);
        s = &b->f->steps[b->f->step_count - 1];
        s->callees[s->callee_count++] = f;
        if (!f)
            return false;
    }
    start_leaves(b, i->shape, operands, made, out);
    return true;
}

/* ---- one instruction ---- */

/* Makes the results of earlier steps the value of the instruction. */
static bool take_over(struct build *b, const struct inst *i, struct leaves made)
{
    for (int k = 0; k < made.count && plan_is_used(b->pl, i); k++) {
        int at = made.at[k] >= 0 ? b->maker[made.at[k]] : -1;
        if (at >= 0)
            b->f->steps[at].unused = false;
    }
    return true;
}

/* Plans a call, fusion, while or conditional as scalar code, or else as functions. */
static bool plan_control(struct build *b, const struct inst *i, struct leaves operands,
                         const int *starts, struct leaves *out)
{
    const struct scalar_code *code;
    if (!find_scalar(b, i, &operands, &code))
        return false;
    struct step *s = plan_emit(b, i, operands, starts, i->shape, out);
    if (!s || !code)
        return s && add_callees(b, s);
    s->kind = STEP_SCALAR;
    s->as.scalar = code;
    return true;
}

static bool find_same(struct build *b, const struct inst *i, struct leaves operands,
                      struct leaves *out)
{
    const bool found = same_find(b->pl, &b->same, i, operands, out);
    b->pl->p->stats.merged += found;
    return found;
}

static bool plan_step(struct build *b, const struct inst *i, struct leaves *out)
{
    int *starts;
    struct leaves operands = plan_operands(b, i, &starts);
    i = simple_inst(b, i, &operands);
    if (simple_find(b, i, operands, out) || find_same(b, i, operands, out))
        return take_over(b, i, *out);
    if (op_is(i->opcode, OP_RUNS)) {
        if (!plan_control(b, i, operands, starts, out))
            return false;
    } else if (!simple_smaller(b, i, operands, out) && !plan_product(b, i, out) &&
               !plan_scatter_window(b, i, operands, out)) {
        struct step *s = plan_emit(b, i, operands, starts, i->shape, out);
        if (!s || !plan_prepare(b, s))
            return false;
        plan_split_indices(b, s);
        plan_gather_window(b, s);
    }
    same_note(b->pl, &b->same, i, operands, *out);
    simple_note(b, *out);
    return true;
}

/* spec: BatchNormGrad, BatchNormInference, BatchNormTraining */
static bool plan_norm(struct build *b, const struct inst *i, struct leaves *out)
{
    int *starts;
    const struct leaves operands = plan_operands(b, i, &starts);
    if (!dtype_is_float(i->operands[0]->shape->dtype))
        return plan_step(b, i, out);
    if (find_same(b, i, operands, out))
        return take_over(b, i, *out);
    if (!plan_batch_norm(b, i, out))
        return false;
    same_note(b->pl, &b->same, i, operands, *out);
    return true;
}

static bool all_constant(const struct build *b, const struct inst *i)
{
    bool all = true;
    for (int k = 0; k < i->operand_count; k++)
        for (int j = 0; j < b->env[i->operands[k]->index].count; j++)
            all &= b->env[i->operands[k]->index].at[j] < 0;
    return all;
}

/* A computation on scalars runs faster as scalar code than as steps, unless it can be folded or is
 * only one. */
static bool plan_call(struct build *b, const struct inst *i, struct leaves *out)
{
    enum { ONE_STEP = 2 /* operations, including the stop */ };
    const bool may = inline_is_profitable(b->pl, i, plan_called(i));
    const struct scalar_code *code = NULL;
    if (may && !all_constant(b, i) && !find_scalar(b, i, NULL, &code))
        return false;
    if (may && (!code || code->op_count <= ONE_STEP))
        return inline_call(b, i, plan_called(i), out);
    return plan_step(b, i, out);
}

bool plan_inst(struct build *b, const struct inst *i, struct leaves *out)
{
    bool done = false;
    switch (i->opcode) {
    case OP_CONSTANT: return plan_constant(b->pl, i, i->literal, out);
    case OP_ASYNC_START:
    case OP_ASYNC_UPDATE: return plan_async(b, i, out);
    case OP_ASYNC_DONE:
        return *out = leaves_component(i->operands[0]->shape, b->env[i->operands[0]->index], 1),
               true;
    case OP_ALL_GATHER_START:
    case OP_COLLECTIVE_PERMUTE_START: return plan_pair_start(b, i, out);
    case OP_BATCH_NORM_GRAD:
    case OP_BATCH_NORM_INFERENCE:
    case OP_BATCH_NORM_TRAINING: return plan_norm(b, i, out);
    case OP_CALL:
    case OP_FUSION: return plan_call(b, i, out);
    case OP_MAP:
        if (!inline_map(b, i, out, &done))
            return false;
        return done || plan_step(b, i, out);
    default: return plan_alias(b->pl, i, b->env, out) || plan_step(b, i, out);
    }
}

static bool plan_params(struct build *b, const struct computation *c)
{
    struct function *f = b->f;
    const struct shape *const *shapes;
    int count;
    for (int k = 0; k < c->param_count; k++)
        f->param_count += (int)leaf_count(c->params[k]->shape);
    const struct shape **all = ARENA_ARRAY(build_arena(b), const struct shape *, f->param_count);
    int *params = ARENA_ARRAY(build_arena(b), int, f->param_count);
    int n = 0;
    for (int k = 0; k < c->param_count; k++) {
        if (!plan_leaf_shapes(b->pl, c->params[k], c->params[k]->shape, &count, &shapes))
            return false;
        fresh_values(b, shapes, count, params + n);
        b->env[c->params[k]->index] =
            (struct leaves){count, ARENA_DUP(&b->pl->scratch, params + n, count)};
        for (int j = 0; j < count; j++)
            all[n++] = shapes[j];
    }
    f->params = params;
    f->param_shapes = all;
    return true;
}

static void mark_unused(struct build *b, int first)
{
    for (int k = first; k < b->f->step_count; k++)
        b->f->steps[k].unused = true;
}

bool plan_steps(struct build *b, const struct computation *c)
{
    const bool shown = plan_is_traced(b->pl);
    int count = c->inst_count;
    struct inst **order = shown ? plan_order(b->pl, c) : plan_live(b->pl, c, &count);
    for (int k = 0; k < count; k++) {
        const struct inst *i = order[k];
        const int first = b->f->step_count;
        if (i->opcode == OP_PARAMETER && !shown)
            continue;
        if (!(shown ? plan_traced_inst : plan_inst)(b, i, &b->env[i->index]))
            return false;
        if (!plan_is_used(b->pl, i))
            mark_unused(b, first);
        b->total_leaves += b->env[i->index].count;
        if (b->total_leaves > MAX_TOTAL_LEAVES)
            return PLAN_FAIL(b->pl, i, TOO_MANY_LEAVES, MAX_TOTAL_LEAVES);
    }
    return true;
}

/* ---- functions ---- */

static struct function *new_function(struct planner *pl, const struct computation *c)
{
    struct program *p = pl->p;
    struct function *f = ARENA_NEW(&p->arena, struct function);
    size_t capacity = (size_t)p->function_capacity;
    f->computation = c;
    f->index = p->function_count;
    VEC_PUSH(&p->arena, p->functions, p->function_count, capacity) = f;
    p->function_capacity = (int)capacity;
    return f;
}

static bool build_function(struct planner *pl, const struct inst *caller, struct function *f)
{
    const struct computation *c = f->computation;
    struct build b = {.pl = pl, .f = f};
    int count;
    b.env = ARENA_ARRAY(&pl->scratch, struct leaves, c->inst_count);
    map_init(&b.same, &pl->scratch);
    if (!plan_params(&b, c) || !plan_steps(&b, c) ||
        !plan_leaf_shapes(pl, c->root, c->root->shape, &count, &f->result_shapes))
        return false;
    if (plan_optimises(pl) && f->is_body)
        plan_drop_dead_state(pl, f, b.env[c->root->index]);
    if (plan_optimises(pl)) {
        plan_read_through(&b, b.env[c->root->index]);
        plan_drop_dead(pl, f, b.value_count, b.env[c->root->index]);
    }
    if (pl->depth > 1 && !plan_is_traced(pl))
        plan_hoist(pl, f, b.value_count, b.env[c->root->index]);
    else if (plan_keeps(pl))
        plan_hoist_entry(pl, f, b.value_count, b.env[c->root->index]);
    if (plan_optimises(pl))
        plan_fuse(pl, f, b.value_count, b.env[c->root->index]);
    plan_assign_slots(&b, b.env[c->root->index]);
    return true;
}

struct function *plan_function(struct planner *pl, const struct inst *caller,
                               const struct computation *c)
{
    struct function **known = &pl->by_computation[c->index];
    if (*known)
        return *known;
    if (pl->depth >= PLAN_MAX_DEPTH) {
        PLAN_FAIL(pl, caller, CALLS_TOO_DEEP, PLAN_MAX_DEPTH);
        return NULL;
    }
    pl->depth++;
    struct function *f = new_function(pl, c);
    f->is_body = caller && caller->opcode == OP_WHILE && inst_computation(caller, A_BODY) == c;
    f->has_effect = caller && plan_has_effect(pl, caller);
    bool ok = build_function(pl, caller, f);
    pl->depth--;
    return *known = ok ? f : NULL;
}
