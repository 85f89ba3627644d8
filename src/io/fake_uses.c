/*
 * fake_uses.c: derives constraints on the values of a parameter from its uses. A value is followed
 * through everything that passes its elements on unchanged: reshapes, converts, tuples, calls,
 * loops, branches. Other uses determine the constraints.
 */
#include "io/io_priv.h"

#include "kern/kern.h"
#include "plan/plan.h"

#include <math.h>

struct operand_use {
    const struct inst *user;
    int operand;
    struct operand_use *next;
};
struct caller {
    const struct inst *inst;
    struct caller *next;
};

/* A leaf of an instruction's value that contains elements of the parameter. `whole`: it has the
 * dimensions of the parameter. */
struct spot {
    const struct inst *inst;
    int64_t leaf;
    bool whole;
    struct spot *next;
};

struct walk {
    struct arena *a;
    struct operand_use ***uses; /* by computation and instruction */
    struct caller **callers;    /* by computation */
    struct map seen;            /* visited spots, by instruction and leaf */
    struct spot *todo;
    struct fake_facts facts;
};

/* ---- users ---- */

static void note_inst(struct walk *w, const struct inst *i)
{
    w->facts.summed |= op_is(i->opcode, OP_SUMS);
    for (int k = 0; k < i->operand_count; k++) {
        const struct inst *x = i->operands[k];
        struct operand_use *u = ARENA_NEW(w->a, struct operand_use),
                           **list = &w->uses[x->parent->index][x->index];
        *u = (struct operand_use){i, k, *list};
        *list = u;
    }
    int n;
    struct computation **callees = inst_callee_list(w->a, i, &n);
    for (int k = 0; k < n; k++) {
        struct caller *c = ARENA_NEW(w->a, struct caller);
        *c = (struct caller){i, w->callers[callees[k]->index]};
        w->callers[callees[k]->index] = c;
    }
}

static void note_module(struct walk *w, const struct module *m)
{
    w->uses = ARENA_ARRAY(w->a, struct operand_use **, m->computation_count);
    w->callers = ARENA_ARRAY(w->a, struct caller *, m->computation_count);
    for (int c = 0; c < m->computation_count; c++)
        w->uses[c] = ARENA_ARRAY(w->a, struct operand_use *, m->computations[c]->inst_count);
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;)
        note_inst(w, i);
}

/* ---- constraints of uses ---- */

/* Adds a range constraint; ignored if it contradicts an earlier one. */
static void bound(struct walk *w, int64_t low, int64_t high)
{
    struct fake_facts *f = &w->facts;
    if (f->bounded && low < f->low)
        low = f->low;
    if (f->bounded && high > f->high)
        high = f->high;
    if (low > high)
        return;
    f->bounded = true;
    f->low = low;
    f->high = high;
}

static void set_exact(struct walk *w, double value)
{
    w->facts.fixed = true;
    w->facts.value = value;
}

/* The initial value of a reduction: the identity of its reducer. */
static void begin_reduction(struct walk *w, const struct inst *i, enum attr_id applied)
{
    const struct computation *c = inst_computation(i, applied);
    switch (c ? c->root->opcode : OP_INVALID) {
    case OP_ADD:
    case OP_OR:
    case OP_XOR: set_exact(w, 0); break;
    case OP_MULTIPLY: set_exact(w, 1); break;
    case OP_AND: set_exact(w, c->root->shape->dtype == DT_PRED ? 1 : -1); break;
    case OP_MAXIMUM: set_exact(w, -HUGE_VAL); break;
    case OP_MINIMUM: set_exact(w, HUGE_VAL); break;
    default: break;
    }
}

static void index_into(struct walk *w, int64_t size, int64_t window)
{
    bound(w, 0, size > window ? size - window : 0);
}

/* Start indices: a scalar per dimension, or one vector of all. */
static void slice_index(struct walk *w, const struct inst *i, int first, int k,
                        const struct shape *window)
{
    const struct shape *array = i->operands[0]->shape;
    bool vector = i->operand_count == first + 1 && i->operands[first]->shape->rank == 1;
    for (int d = 0; d < array->rank; d++)
        if (vector || d == k - first)
            index_into(w, array->dims[d], window->dims[d]);
}

/* The size of a scatter's window along dimension d of its operand. */
static int64_t scattered_size(const struct kern_gather_dims *g, const struct shape *updates, int d)
{
    int k = 0;
    if (i64_in(g->collapsed, g->collapsed_count, d) ||
        i64_in(g->operand_batching, g->batching_count, d))
        return 1;
    for (int e = 0; e < d; e++)
        k += !i64_in(g->collapsed, g->collapsed_count, e) &&
             !i64_in(g->operand_batching, g->batching_count, e);
    return k < g->offset_count ? updates->dims[g->offset_dims[k]] : 1;
}

static void gather_index(struct walk *w, const struct inst *i, int of, const struct spot *p)
{
    struct kern_gather_dims g;
    const struct shape *array = i->operands[0]->shape, *indices = i->operands[of]->shape;
    if (array->rank > VIEW_MAX_RANK || indices->rank > VIEW_MAX_RANK)
        return;
    plan_gather_dims(i, &g);
    for (int k = 0; k < g.map_count; k++) {
        int d = (int)g.start_index_map[k];
        index_into(w, array->dims[d],
                   i->opcode == OP_GATHER ? g.slice_sizes[d]
                                          : scattered_size(&g, i->operands[2 * of]->shape, d));
    }
    bool sorted = inst_bool(i, A_INDICES_ARE_SORTED), unique = inst_bool(i, A_UNIQUE_INDICES);
    w->facts.sorted |= sorted;
    w->facts.unique |= unique;
    if ((sorted || unique) && p->whole && g.index_vector_dim < indices->rank) {
        w->facts.vector_dim = (int)g.index_vector_dim;
        w->facts.components = g.map_count > 0 ? g.map_count : 1;
    }
}

static void add_fan_in(struct walk *w, double products)
{
    if (products > w->facts.fan_in)
        w->facts.fan_in = products;
}

static void add_dot_fan_in(struct walk *w, const struct inst *i)
{
    const struct shape *rhs = i->operands[1]->shape;
    double n = 1;
    if (i->opcode == OP_CONVOLUTION) {
        const struct dim_labels *l = inst_attr(i, A_DIM_LABELS)->v.dim_labels;
        for (int d = 0; d < rhs->rank; d++)
            n *= d == l->kernel_output_feature ? 1 : (double)rhs->dims[d];
    } else {
        struct ints contracting = inst_ints(i, A_LHS_CONTRACTING_DIMS);
        for (int64_t k = 0; k < contracting.count; k++)
            n *= (double)i->operands[0]->shape->dims[contracting.at[k]];
    }
    add_fan_in(w, n);
}

static bool in_condition(const struct walk *w, const struct inst *i)
{
    for (const struct caller *c = w->callers[i->parent->index]; c; c = c->next)
        if (c->inst->opcode == OP_WHILE && inst_computation(c->inst, A_CONDITION) == i->parent)
            return true;
    return false;
}

static bool in_loop(const struct walk *w, const struct inst *i)
{
    for (const struct caller *c = w->callers[i->parent->index]; c; c = c->next)
        if (c->inst->opcode == OP_WHILE)
            return true;
    return false;
}

/* A scalar integer that a loop's condition compares, or that its body adds: 1 to FEW, so that the
 * loop ends after few iterations. */
static void loop_number(struct walk *w, const struct inst *i, int k)
{
    enum { FEW = 4 };
    const struct shape *s = i->operands[k]->shape;
    bool counts = i->opcode == OP_COMPARE ? in_condition(w, i) : in_loop(w, i);
    if (!counts || s->rank != 0 || !dtype_is_integer(s->dtype))
        return;
    bound(w, 1, FEW);
    w->facts.loop = true;
}

/* Records the constraints of the instruction on its operand k. */
static void add_constraints(struct walk *w, const struct inst *i, int k, const struct spot *p)
{
    struct fake_facts *f = &w->facts;
    const struct shape *of = i->operands[0]->shape;
    switch (i->opcode) {
    case OP_DYNAMIC_SLICE: slice_index(w, i, 1, k, i->shape); break;
    case OP_DYNAMIC_UPDATE_SLICE: slice_index(w, i, 2, k, i->operands[1]->shape); break;
    case OP_GATHER: gather_index(w, i, 1, p); break;
    case OP_SCATTER: gather_index(w, i, i->operand_count / 2, p); break;
    case OP_SET_DIMENSION_SIZE: {
        struct ints d = inst_ints(i, A_DIMENSIONS);
        bound(w, 0, d.count ? of->dims[d.at[0]] : 0);
        break;
    }
    case OP_DYNAMIC_RESHAPE: bound(w, i->shape->dims[k - 1], i->shape->dims[k - 1]); break;
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT_ARITHMETIC:
    case OP_SHIFT_RIGHT_LOGICAL: bound(w, 0, (int64_t)dtype_bits(of->dtype) - 1); break;
    case OP_DIVIDE:
    case OP_REMAINDER: f->nonzero = true; break;
    case OP_POWER:
        f->positive |= k == 0;
        if (k == 1 && dtype_is_integer(of->dtype))
            bound(w, 0, 3);
        break;
    case OP_LOG:
    case OP_LOG_PLUS_ONE:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_BATCH_NORM_INFERENCE:
    case OP_BATCH_NORM_GRAD: f->positive = true; break;
    case OP_ACOS:
    case OP_ASIN:
    case OP_ATANH: f->unit = true; break;
    case OP_ACOSH: f->above_one = true; break;
    case OP_CHOLESKY:
    case OP_TRIANGULAR_SOLVE: f->dominant |= p->whole; break;
    case OP_RNG: set_exact(w, k); break; /* uniform: [0, 1); normal: mean 0 and deviation 1 */
    case OP_REDUCE:
    case OP_REDUCE_WINDOW: begin_reduction(w, i, A_TO_APPLY); break;
    case OP_SELECT_AND_SCATTER: begin_reduction(w, i, A_SCATTER); break;
    case OP_CONDITIONAL: bound(w, 0, i->operand_count - 2); break;
    case OP_DOT:
    case OP_RAGGED_DOT:
    case OP_SCALED_DOT:
    case OP_CONVOLUTION: add_dot_fan_in(w, i); break;
    case OP_SORT: f->unique |= dtype_is_integer(of->dtype) && !inst_bool(i, A_IS_STABLE); break;
    case OP_COMPARE:
    case OP_ADD:
    case OP_SUBTRACT: loop_number(w, i, k); break;
    default: break;
    }
}

/* Whether add_constraints handles operand k. */
static bool has_constraints(const struct inst *i, int k)
{
    int n = i->operand_count;
    switch (i->opcode) {
    case OP_DYNAMIC_SLICE:
    case OP_GATHER:
    case OP_SET_DIMENSION_SIZE:
    case OP_DYNAMIC_RESHAPE:
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT_ARITHMETIC:
    case OP_SHIFT_RIGHT_LOGICAL:
    case OP_DIVIDE:
    case OP_REMAINDER:
        return k == 1 || (i->opcode == OP_DYNAMIC_SLICE && k > 1) ||
               (i->opcode == OP_DYNAMIC_RESHAPE && k > 1);
    case OP_DYNAMIC_UPDATE_SLICE: return k >= 2;
    case OP_SCATTER: return k == n / 2;
    case OP_BATCH_NORM_INFERENCE: return k == 4;
    case OP_BATCH_NORM_GRAD: return k == 3;
    case OP_CHOLESKY:
    case OP_TRIANGULAR_SOLVE:
    case OP_CONDITIONAL: return k == 0;
    case OP_DOT:
    case OP_RAGGED_DOT:
    case OP_SCALED_DOT:
    case OP_CONVOLUTION: return k < 2;
    case OP_REDUCE:
    case OP_REDUCE_WINDOW: return k >= n / 2;
    case OP_SELECT_AND_SCATTER: return k == 2;
    default: return true;
    }
}

/* ---- propagation ---- */

static void visit(struct walk *w, const struct inst *i, int64_t leaf, bool whole)
{
    struct spot *p = ARENA_NEW(w->a, struct spot);
    *p = (struct spot){i, leaf, whole, w->todo};
    struct str key = {(const char *)p, offsetof(struct spot, whole)};
    if (map_put(&w->seen, key, p))
        return; /* visited before; the first visit's `whole` is used */
    w->todo = p;
}

static void visit_param(struct walk *w, const struct computation *c, int param, int64_t leaf,
                        bool whole)
{
    if (c && param < c->param_count)
        visit(w, c->params[param], leaf, whole);
}

static void visit_element(struct walk *w, const struct inst *i, const struct spot *p)
{
    int64_t from = shape_first_leaf(i->operands[0]->shape, inst_int(i, A_INDEX, 0));
    if (p->leaf >= from && p->leaf < from + shape_leaf_count(i->shape))
        visit(w, i, p->leaf - from, p->whole);
}

/* Whether elements of operand k are passed on to other positions. */
static bool moves_elements(const struct inst *i, int k)
{
    if (op_is(i->opcode, OP_VIEW))
        return true;
    switch (i->opcode) {
    case OP_CONCATENATE:
    case OP_PAD:
    case OP_COLLECTIVE_PERMUTE: return true;
    case OP_BITCAST: return i->shape->dtype == i->operands[k]->shape->dtype;
    case OP_ALL_GATHER:
    case OP_ALL_TO_ALL:
    case OP_COLLECTIVE_BROADCAST: return i->operand_count == 1;
    case OP_GATHER:
    case OP_DYNAMIC_SLICE:
    case OP_DYNAMIC_RESHAPE:
    case OP_SET_DIMENSION_SIZE: return k == 0;
    case OP_DYNAMIC_UPDATE_SLICE: return k <= 1;
    default: return false;
    }
}

static bool is_constant(const struct inst *i)
{
    while (i->opcode == OP_BROADCAST || i->opcode == OP_RESHAPE || i->opcode == OP_CONVERT)
        i = i->operands[0];
    return i->opcode == OP_CONSTANT;
}

/* Whether it is like the epsilon in rsqrt(variance + epsilon): constraints on the sum then apply to
 * the operand as well. Not for integers, where one more may be out of range. */
static bool is_epsilon(const struct inst *i, int k)
{
    return i->opcode == OP_ADD && dtype_is_float(i->shape->dtype) &&
           is_constant(i->operands[1 - k]);
}

/* Whether elements of operand k are passed on at the same positions. */
static bool keeps_elements(const struct inst *i, int k)
{
    if (op_passes(i->opcode))
        return k == 0;
    switch (i->opcode) {
    case OP_CONVERT:
    case OP_REDUCE_PRECISION:
    case OP_COPY_START:
    case OP_COPY_DONE: return true;
    case OP_CLAMP: return k == 1;
    case OP_SELECT: return k > 0;
    default: return false;
    }
}

static void propagate(struct walk *w, const struct inst *i, int k, const struct spot *p)
{
    switch (i->opcode) {
    case OP_TUPLE: visit(w, i, shape_first_leaf(i->shape, k) + p->leaf, p->whole); break;
    case OP_GET_TUPLE_ELEMENT: visit_element(w, i, p); break;
    case OP_WHILE:
        visit_param(w, inst_computation(i, A_CONDITION), 0, p->leaf, p->whole);
        visit_param(w, inst_computation(i, A_BODY), 0, p->leaf, p->whole);
        visit(w, i, p->leaf, p->whole);
        break;
    case OP_CALL:
    case OP_FUSION:
    case OP_ASYNC_START:
    case OP_CONDITIONAL: {
        int n, branch = i->opcode == OP_CONDITIONAL;
        struct computation **callees = inst_callee_list(w->a, i, &n);
        if (!branch && n == 1)
            visit_param(w, callees[0], k, p->leaf, p->whole);
        else if (branch && k >= 1 && k <= n)
            visit_param(w, callees[k - 1], 0, p->leaf, p->whole);
        break;
    }
    default:
        if (keeps_elements(i, k))
            visit(w, i, p->leaf, p->whole);
        else if (moves_elements(i, k) || is_epsilon(i, k))
            visit(w, i, p->leaf, false);
        break;
    }
}

/* Continues from the root of a computation to its callers. */
static void visit_callers(struct walk *w, const struct inst *root, const struct spot *p)
{
    for (const struct caller *c = w->callers[root->parent->index]; c; c = c->next)
        switch (c->inst->opcode) {
        case OP_WHILE:
            if (inst_computation(c->inst, A_BODY) != root->parent)
                break;
            visit_param(w, inst_computation(c->inst, A_CONDITION), 0, p->leaf, p->whole);
            visit_param(w, root->parent, 0, p->leaf, p->whole);
            visit(w, c->inst, p->leaf, p->whole);
            break;
        case OP_CALL:
        case OP_FUSION:
        case OP_CONDITIONAL: visit(w, c->inst, p->leaf, p->whole); break;
        default: break;
        }
}

struct fake_facts io_fake_facts(struct arena *scratch, const struct module *m, int param,
                                int64_t leaf)
{
    struct walk w = {.a = scratch, .facts = {.vector_dim = -1, .components = 1}};
    note_module(&w, m);
    map_init(&w.seen, scratch);
    visit(&w, m->entry->params[param], leaf, true);
    while (w.todo) {
        struct spot *p = w.todo;
        w.todo = p->next;
        for (const struct operand_use *u = w.uses[p->inst->parent->index][p->inst->index]; u;
             u = u->next) {
            if (has_constraints(u->user, u->operand))
                add_constraints(&w, u->user, u->operand, p);
            propagate(&w, u->user, u->operand, p);
        }
        if (p->inst == p->inst->parent->root)
            visit_callers(&w, p->inst, p);
    }
    return w.facts;
}
