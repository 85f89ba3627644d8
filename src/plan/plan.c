/*
 * Plans a verified module as a program: checks shapes, collects constants, and plans the entry
 * computation and everything it calls.
 */
#include "plan/plan_priv.h"

#include "kern/cpu.h"

bool plan_where(struct planner *pl, const struct inst *i, struct diag *d)
{
    d->where = inst_where(&pl->ds->arena, i);
    return false;
}

/* ---- shapes ---- */

/* Every value becomes a strided view: bounded rank, known sizes, an element count that fits. */
static bool check_leaf(struct planner *pl, const struct inst *i, const struct shape *s)
{
    int64_t bytes;
    if (!shape_is_array(s))
        return shape_is_token(s) ||
               PLAN_FAIL(pl, i, UNSUPPORTED, op_spelling(i->opcode), dtype_spelling(s->dtype));
    if (shape_has_unbounded(s))
        return PLAN_FAIL(pl, i, UNSUPPORTED, op_spelling(i->opcode), "a dimension without a bound");
    if (s->rank > VIEW_MAX_RANK)
        return PLAN_FAIL(pl, i, RANK_TOO_HIGH, s->rank, VIEW_MAX_RANK);
    if (!shape_bytes(s, &bytes))
        return PLAN_FAIL(pl, i, OUT_OF_MEMORY, STR_ARG(shape_text(&pl->ds->arena, s)),
                         "more than 2^63");
    return true;
}

static bool collect_leaves(struct planner *pl, const struct inst *i, const struct shape *s,
                           const struct shape **out, int *count)
{
    if (!shape_is_tuple(s)) {
        out[(*count)++] = s;
        return check_leaf(pl, i, s);
    }
    for (int k = 0; k < s->count; k++)
        if (!collect_leaves(pl, i, s->elements[k], out, count))
            return false;
    return true;
}

bool plan_leaf_shapes(struct planner *pl, const struct inst *i, const struct shape *s, int *count,
                      const struct shape *const **out)
{
    int64_t n = leaf_count(s);
    if (n > PLAN_MAX_LEAVES)
        return PLAN_FAIL(pl, i, TOO_MANY_LEAVES, PLAN_MAX_LEAVES);
    const struct shape **leaves = ARENA_ARRAY(&pl->p->arena, const struct shape *, n);
    *count = 0;
    *out = leaves;
    return collect_leaves(pl, i, s, leaves, count);
}

/* ---- constants ---- */

int plan_add_constant(struct planner *pl, const struct literal *l)
{
    struct program *p = pl->p;
    size_t capacity = (size_t)pl->constant_capacity;
    struct view *v = &VEC_PUSH(&p->arena, p->constants, p->constant_count, capacity);
    pl->constant_capacity = (int)capacity;
    view_dense(v, l->shape->dtype, l->shape->rank, l->shape->dims, l->data);
    return ~(p->constant_count - 1);
}

void plan_keep_filled(struct planner *pl, struct literal *l)
{
    size_t capacity = (size_t)pl->filled_capacity;
    VEC_PUSH(&pl->p->arena, pl->p->filled, pl->p->filled_count, capacity) = l;
    pl->filled_capacity = (int)capacity;
}

int plan_zero(struct planner *pl, const struct shape *s)
{
    struct literal *l = literal_new(&pl->p->arena, s);
    if (!l)
        return NO_VALUE;
    plan_keep_filled(pl, l);
    return plan_add_constant(pl, l);
}

static bool constant_leaf(struct planner *pl, const struct inst *i, const struct literal *l,
                          struct leaves *out)
{
    if (shape_is_tuple(l->shape)) {
        for (int k = 0; k < l->shape->count; k++)
            if (!constant_leaf(pl, i, l->elements[k], out))
                return false;
        return true;
    }
    if (!shape_is_array(l->shape)) {
        out->at[out->count++] = NO_VALUE;
        return true;
    }
    if (l->elided) {
        l = elided_fill(pl, i, l);
        if (!l)
            return false;
    }
    out->at[out->count++] = same_constant(pl, l);
    return true;
}

bool plan_constant(struct planner *pl, const struct inst *i, const struct literal *l,
                   struct leaves *out)
{
    int n;
    const struct shape *const *shapes;
    if (!plan_leaf_shapes(pl, i, l->shape, &n, &shapes))
        return false;
    *out = (struct leaves){0, ARENA_ARRAY(&pl->scratch, int, n)};
    return constant_leaf(pl, i, l, out);
}

/* ---- sizes ---- */

static bool sets_size(const struct inst *i)
{
    switch (i->opcode) {
    case OP_SET_DIMENSION_SIZE:
    case OP_DYNAMIC_RESHAPE: return true;
    case OP_CUSTOM_CALL:
        return str_is(inst_str(i, A_CUSTOM_CALL_TARGET), "SliceToDynamic") ||
               (inst_is_onnx_loop(i) && shape_has_dynamic(i->shape));
    default: return false;
    }
}

/* Whether the instruction's value comes from outside the program. */
static bool brings_value(const struct inst *i)
{
    return i->opcode == OP_PARAMETER || i->opcode == OP_INFEED || i->opcode == OP_RECV_DONE;
}

/* ---- programs ---- */

/* Sizes can change at run time: values from outside do so where their shape is dynamic, some
 * operations regardless of their shape. */
static bool is_dynamic(const struct inst *i)
{
    return sets_size(i) || (brings_value(i) && shape_has_dynamic(i->shape));
}

/* Collects what the passes need to know of the whole module. */
static void survey(struct planner *pl)
{
    const struct module *m = pl->p->module;
    struct elided next = {0};
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;) {
        pl->has[i->opcode] = true;
        pl->any_effect |= inst_has_effect(i);
        pl->p->dynamic |= is_dynamic(i);
        if (i->opcode == OP_CALL || i->opcode == OP_FUSION)
            pl->call_sites[plan_called(i)->index]++;
        else if (i->opcode == OP_CONSTANT)
            elided_collect(pl, i->literal, &next);
    }
}

struct program *plan_module(struct diags *ds, struct module *m, const struct plan_options *options)
{
    struct arena arena;
    arena_init(&arena);
    struct program *p = ARENA_NEW(&arena, struct program);
    p->arena = arena;
    p->module = m;
    p->options = *options;
    p->kern = options->plain ? &kern_plain : &kern_fast;
    struct planner pl = {.ds = ds,
                         .p = p,
                         .tiles = options->plain ? kern_plain_tiles() : kern_tiles(),
                         .hoisting_budget = PLAN_HOISTING_BUDGET};
    arena_init(&pl.scratch);
    pl.by_computation = ARENA_ARRAY(&pl.scratch, struct function *, m->computation_count);
    pl.traffic = ARENA_ARRAY(&pl.scratch, struct traffic_list *, m->computation_count);
    pl.calls = ARENA_ARRAY(&pl.scratch, struct known_call, m->computation_count);
    pl.effects = ARENA_ARRAY(&pl.scratch, uint8_t, m->computation_count);
    pl.computes = ARENA_ARRAY(&pl.scratch, uint8_t, m->computation_count);
    pl.differs = ARENA_ARRAY(&pl.scratch, uint8_t, m->computation_count);
    pl.not_scalar = ARENA_ARRAY(&pl.scratch, uint8_t, m->computation_count);
    pl.call_sites = ARENA_ARRAY(&pl.scratch, int, m->computation_count);
    pl.inline_sizes = ARENA_ARRAY(&pl.scratch, int, m->computation_count);
    map_init(&pl.constants, &pl.scratch);
    pl.equal = ARENA_ARRAY(&pl.scratch, const struct computation *, m->computation_count);
    map_init(&pl.contents, &pl.scratch);
    map_init(&pl.inst_numbers, &pl.scratch);
    map_init(&pl.elided, &pl.scratch);
    map_init(&pl.terminations, &pl.scratch);
    survey(&pl);
    plan_find_used(&pl);
    p->entry = plan_function(&pl, NULL, m->entry);
    arena_free(&pl.scratch);
    if (!p->entry) {
        program_free(p);
        return NULL;
    }
    if (p->code)
        jit_memory_seal(p->code);
    p->code_ready = p->code != NULL;
    return p;
}

struct jit_memory *plan_code(struct planner *pl)
{
    if (!pl->p->code && !pl->no_code) {
        const bool wanted = !pl->p->options.portable && cpu_isa() != CPU_BASELINE;
        pl->p->code = wanted ? jit_memory_new() : NULL;
        pl->no_code = !pl->p->code;
    }
    return pl->p->code;
}

void program_free(struct program *p)
{
    if (!p)
        return;
    for (int k = 0; k < p->filled_count; k++)
        literal_free_data(p->filled[k]);
    jit_memory_free(p->code);
    struct arena arena = p->arena; /* the program itself lives in this arena */
    arena_free(&arena);
}
