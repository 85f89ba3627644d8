/*
 * gather_window.c: gathers whose indices are affine in their position, such as x[i + j] (sliding
 * windows) or x[i, i] (the diagonal), are views of their operand: the indices need not be computed.
 *
 * Indices count only if they need no clamping. Clients let negative ones count from the end, by a
 * comparison whose result is known here.
 *
 * Likewise, a scatter of one window whose indices are known, such as x[1:-1] += y, is a
 * dynamic-update-slice, and its combiner an elementwise operation on a slice, which can be fused.
 */
#include "plan/derive.h"

/* The elements of an array: offset + scale[0] * i[0] + scale[1] * i[1] ... at position i. */
struct affine {
    int rank;
    int64_t dims[VIEW_MAX_RANK], offset, scale[VIEW_MAX_RANK];
};

/* Limits the time for values that are used many times. */
struct search {
    const struct build *b;
    int visits;
};

static bool find_affine(struct search *s, int value, struct affine *out);

static bool range_of(const struct affine *a, int64_t *min, int64_t *max)
{
    int64_t last;
    *min = *max = a->offset;
    for (int d = 0; d < a->rank; d++) {
        int64_t *end = a->scale[d] < 0 ? min : max;
        if (!mul_i64(a->scale[d], a->dims[d] - 1, &last) || !add_i64(*end, last, end))
            return false;
    }
    return true;
}

/* Whether no element overflows the integer type. */
static bool is_exact(const struct affine *a, enum dtype t)
{
    const unsigned bits = dtype_is_integer(t) ? dtype_bits(t) - dtype_is_signed(t) : 0;
    int64_t min, max;
    return range_of(a, &min, &max) && bits > 0 &&
           (bits >= 63 || (max >> bits == 0 && min >= -((int64_t)1 << bits))) &&
           (dtype_is_signed(t) || min >= 0);
}

static void set_dims(struct affine *a, int rank, const int64_t *dims)
{
    *a = (struct affine){.rank = rank};
    for (int d = 0; d < rank; d++)
        a->dims[d] = dims[d];
}

/* ---- operations ---- */

static bool of_constant(const struct view *v, struct affine *out)
{
    enum { MOST = 1 << 16 };
    int64_t at[VIEW_MAX_RANK] = {0};
    const int64_t n = view_elements(v);
    if (!dtype_is_integer(v->dtype) || n == 0 || n > MOST)
        return false;
    set_dims(out, v->rank, v->dims);
    out->offset = kern_load_index(v->dtype, v->data);
    for (int d = 0; d < v->rank; d++)
        if (v->dims[d] > 1 && !sub_i64(kern_load_index(v->dtype, v->data + v->strides[d]),
                                       out->offset, &out->scale[d]))
            return false;
    if (!is_exact(out, v->dtype))
        return false;
    do {
        int64_t expected = out->offset;
        for (int d = 0; d < v->rank; d++)
            expected += at[d] * out->scale[d];
        if (kern_load_index(v->dtype, view_at(v, at)) != expected)
            return false;
    } while (index_next(v->rank, v->dims, at));
    return true;
}

/* Dimensions of size 1 may come and go. */
static bool of_reshape(const struct affine *x, struct affine *out)
{
    int from = 0;
    for (int d = 0; d < out->rank; d++) {
        if (out->dims[d] == 1)
            continue;
        while (from < x->rank && x->dims[from] == 1)
            from++;
        if (from == x->rank || x->dims[from] != out->dims[d])
            return false;
        out->scale[d] = x->scale[from++];
    }
    return true;
}

static bool of_slice(const struct inst *i, const struct affine *x, struct affine *out)
{
    const struct slices slices = inst_attr(i, A_SLICE)->v.slices;
    int64_t moved;
    for (int d = 0; d < out->rank; d++)
        if (!mul_i64(slices.dims[d].start, x->scale[d], &moved) ||
            !add_i64(out->offset, moved, &out->offset) ||
            !mul_i64(slices.dims[d].stride, x->scale[d], &out->scale[d]))
            return false;
    return true;
}

static bool of_view(const struct inst *i, const struct affine *x, struct affine *out)
{
    out->offset = x->offset;
    if (i->opcode == OP_RESHAPE)
        return of_reshape(x, out);
    if (i->opcode == OP_SLICE)
        return of_slice(i, x, out);
    if (i->opcode != OP_BROADCAST && i->opcode != OP_TRANSPOSE)
        return false;
    const int64_t *dims = inst_ints(i, A_DIMENSIONS).at;
    for (int d = 0; d < x->rank; d++)
        if (i->opcode == OP_BROADCAST)
            out->scale[dims[d]] = x->scale[d];
        else
            out->scale[d] = x->scale[dims[d]];
    return true;
}

/* x + sign * y; a scalar, as of clamp, has the same value everywhere. */
static bool of_sum(const struct affine *x, const struct affine *y, int64_t sign, struct affine *out)
{
    int64_t part;
    *out = x->rank > 0 ? *x : *y;
    if (!mul_i64(y->offset, sign, &part) || !add_i64(x->offset, part, &out->offset))
        return false;
    for (int d = 0; d < out->rank; d++)
        if (!mul_i64(d < y->rank ? y->scale[d] : 0, sign, &part) ||
            !add_i64(d < x->rank ? x->scale[d] : 0, part, &out->scale[d]))
            return false;
    return true;
}

static bool of_product(const struct affine *x, const struct affine *y, struct affine *out)
{
    for (int d = 0; d < y->rank; d++)
        if (y->scale[d] != 0)
            return false;
    for (int d = 0; d < x->rank; d++)
        if (!mul_i64(x->scale[d], y->offset, &out->scale[d]))
            return false;
    return mul_i64(x->offset, y->offset, &out->offset);
}

/* 1: x < y everywhere; 0: nowhere; -1: unknown. */
static int is_less(const struct affine *x, const struct affine *y)
{
    struct affine difference;
    int64_t min, max;
    if (!of_sum(x, y, -1, &difference) || !range_of(&difference, &min, &max))
        return -1;
    return max < 0 ? 1 : min >= 0 ? 0 : -1;
}

/* What a comparison of affine values gives everywhere, or -1. */
static int answer_of(struct search *s, int value)
{
    const struct step *c = simple_maker(s->b, value);
    struct affine x, y;
    if (!c || c->inst->opcode != OP_COMPARE || !find_affine(s, c->operands[0], &x) ||
        !find_affine(s, c->operands[1], &y))
        return -1;
    int less;
    switch (inst_enum(c->inst, A_DIRECTION, E_DIRECTION_EQ)) {
    case E_DIRECTION_LT: return is_less(&x, &y);
    case E_DIRECTION_GT: return is_less(&y, &x);
    case E_DIRECTION_GE: less = is_less(&x, &y); break;
    case E_DIRECTION_LE: less = is_less(&y, &x); break;
    default: return -1;
    }
    return less < 0 ? less : !less;
}

static bool of_extreme(enum opcode op, const struct affine *x, const struct affine *y,
                       struct affine *out)
{
    const int less = op == OP_MAXIMUM ? is_less(x, y) : is_less(y, x);
    if (less >= 0)
        *out = less ? *y : *x;
    return less >= 0;
}

/* Only where it changes nothing. */
static bool of_clamp(const struct affine *x, struct affine *out)
{
    *out = x[1];
    return is_less(&x[1], &x[0]) == 0 && is_less(&x[2], &x[1]) == 0;
}

/* Operations on elements, of which x are the operands. */
static bool of_elements(const struct inst *i, const struct affine *x, struct affine *out)
{
    switch (i->opcode) {
    case OP_ADD: return of_sum(&x[0], &x[1], 1, out);
    case OP_SUBTRACT: return of_sum(&x[0], &x[1], -1, out);
    case OP_MULTIPLY: return of_product(&x[0], &x[1], out) || of_product(&x[1], &x[0], out);
    case OP_MAXIMUM:
    case OP_MINIMUM: return of_extreme((enum opcode)i->opcode, &x[0], &x[1], out);
    case OP_CLAMP: return of_clamp(x, out);
    case OP_CONVERT: return *out = x[0], true;
    default: return false;
    }
}

static bool of_step(struct search *s, const struct step *made, struct affine *out)
{
    const struct inst *i = made->inst;
    struct affine x[KERN_MAX_ARGS];
    set_dims(out, i->shape->rank, i->shape->dims);
    if (i->opcode == OP_IOTA) {
        out->scale[inst_int(i, A_IOTA_DIMENSION, 0)] = 1;
        return true;
    }
    if (i->opcode == OP_SELECT) {
        const int answer = answer_of(s, made->operands[0]);
        return answer >= 0 && find_affine(s, made->operands[answer ? 1 : 2], out);
    }
    if (made->operand_count > KERN_MAX_ARGS || made->operand_count != i->operand_count)
        return false;
    for (int k = 0; k < made->operand_count; k++)
        if (!find_affine(s, made->operands[k], &x[k]))
            return false;
    return op_is(i->opcode, OP_VIEW) ? of_view(i, x, out) : of_elements(i, x, out);
}

static bool find_affine(struct search *s, int value, struct affine *out)
{
    enum { MOST_VISITS = 64 };
    if (value == NO_VALUE || s->visits++ == MOST_VISITS)
        return false;
    if (value < 0)
        return of_constant(&s->b->pl->p->constants[~value], out);
    const struct step *made = simple_maker(s->b, value);
    return made && made->result_count == 1 && shape_is_array(made->inst->shape) &&
           dims_elements(made->inst->shape->rank, made->inst->shape->dims) > 0 &&
           of_step(s, made, out) && is_exact(out, made->inst->shape->dtype);
}

/* ---- gathers ---- */

/* The start of the window along a dimension of the operand, from component k of the indices. */
static bool find_start(struct search *s, const struct step *gather, int64_t vector, int k,
                       struct affine *start)
{
    const bool separate = gather->operand_count > 2;
    if (!find_affine(s, gather->operands[separate ? 1 + k : 1], start))
        return false;
    if (separate || vector >= start->rank)
        return true;
    start->offset += k * start->scale[vector];
    return true;
}

/* The dimension of the result that is dimension `d` of the indices. */
static int result_of(const struct kern_gather_dims *dims, int d)
{
    int r = 0;
    d -= d > dims->index_vector_dim;
    while (d > 0 || i64_in(dims->offset_dims, dims->offset_count, r))
        d -= !i64_in(dims->offset_dims, dims->offset_count, r++);
    return r;
}

/* Sets the start of windows along a dimension of the operand, and the steps to the next window.
 * False: windows may have to be clamped. */
static bool add_start(const struct step *gather, const struct kern_gather_dims *dims, int64_t d,
                      struct affine *start, struct window_step *w)
{
    const struct shape *x = gather->inst->operands[0]->shape;
    int64_t min, max;
    if (dims->index_vector_dim < start->rank)
        start->scale[dims->index_vector_dim] = 0;
    if (!range_of(start, &min, &max) || min < 0 || max > x->dims[d] - dims->slice_sizes[d])
        return false;
    w->start[d] = start->offset;
    for (int k = 0; k < start->rank; k++)
        if (k != dims->index_vector_dim)
            w->steps[result_of(dims, k) * x->rank + d] = start->scale[k];
    return true;
}

/* Sets the steps in windows, and to those of the next batch. */
static bool add_window(const struct step *gather, const struct kern_gather_dims *dims,
                       struct window_step *w)
{
    const struct shape *x = gather->inst->operands[0]->shape,
                       *indices = gather->inst->operands[1]->shape;
    for (int d = 0, next = 0; d < x->rank; d++)
        if (!i64_in(dims->collapsed, dims->collapsed_count, d) &&
            !i64_in(dims->operand_batching, dims->batching_count, d))
            w->steps[dims->offset_dims[next++] * x->rank + d] = 1;
    for (int k = 0; k < dims->batching_count; k++) {
        if (plan_batching_problem(dims, k, x, indices))
            return false;
        const int r = result_of(dims, (int)dims->indices_batching[k]);
        w->steps[r * x->rank + dims->operand_batching[k]] = 1;
    }
    return true;
}

void plan_gather_window(struct build *b, struct step *s)
{
    struct search search = {b, 0};
    struct kern_gather_dims dims;
    struct affine start;
    const struct inst *i = s->inst;
    if (!plan_optimises(b->pl) || i->opcode != OP_GATHER || s->operand_count < 2)
        return;
    plan_gather_dims(i, &dims);
    const int rank = i->operands[0]->shape->rank;
    struct window_step w = {
        ARENA_ARRAY(build_arena(b), int64_t, rank),
        ARENA_ARRAY(build_arena(b), int64_t, rank * i->shape->rank),
    };
    for (int k = 0; k < dims.map_count; k++)
        if (!find_start(&search, s, dims.index_vector_dim, k, &start) ||
            !add_start(s, &dims, dims.start_index_map[k], &start, &w))
            return;
    if (!add_window(s, &dims, &w))
        return;
    const int starts[] = {0, 1, 1};
    s->starts = ARENA_DUP(build_arena(b), starts, 3);
    s->operand_count = 1;
    s->kind = STEP_WINDOW;
    s->as.window = w;
    b->pl->p->stats.simplified++;
}

/* ---- scatters ---- */

struct update {
    struct build *b;
    const struct inst *scatter;
    const struct shape *array, *window;
    int64_t start[VIEW_MAX_RANK], size[VIEW_MAX_RANK];
};

/* False: there are several windows, or one at indices that are not known or not inside. */
static bool find_place(struct update *u, int indices)
{
    struct search search = {u->b, 0};
    struct kern_gather_dims dims;
    struct affine a;
    int64_t tuples;
    const struct inst *i = u->scatter;
    const struct shape *x = u->array;
    plan_gather_dims(i, &dims);
    if (dims.batching_count > 0 || !shape_elements(i->operands[1]->shape, &tuples) ||
        tuples != dims.map_count || !find_affine(&search, indices, &a))
        return false;
    kern_update_window(x->rank, i->operands[2]->shape->dims, &dims, u->size);
    const int64_t step = dims.index_vector_dim < a.rank ? a.scale[dims.index_vector_dim] : 0;
    for (int k = 0; k < dims.map_count; k++)
        u->start[dims.start_index_map[k]] = a.offset + k * step;
    bool inside = true;
    for (int d = 0; d < x->rank; d++)
        inside =
            inside && u->size[d] > 0 && u->start[d] >= 0 && u->start[d] <= x->dims[d] - u->size[d];
    return inside;
}

static struct inst *slice_of_window(const struct update *u)
{
    struct inst *i = derive_inst(u->b, u->scatter, OP_SLICE, u->window, 1, &u->array);
    struct slice_dim dims[VIEW_MAX_RANK];
    for (int d = 0; d < u->array->rank; d++)
        dims[d] = (struct slice_dim){u->start[d], u->start[d] + u->size[d], 1};
    derive_slice(u->b, i, u->array->rank, dims);
    return i;
}

/* Combines the window of the array with its new elements, `value`. */
static bool combine(const struct update *u, const struct inst *op, int array, int *value)
{
    const struct shape *const pair[] = {u->window, u->window};
    const int now = op->operands[0]->number != 0;
    struct leaves made;
    int x[] = {*value, *value};
    if (!derive_step(u->b, slice_of_window(u), &array, &made))
        return false;
    x[now] = *made.at;
    struct inst *i = derive_inst(u->b, u->scatter, (enum opcode)op->opcode, u->window, 2, pair);
    i->attrs = op->attrs;
    i->attr_count = op->attr_count;
    if (!derive_step(u->b, i, x, &made))
        return false;
    *value = *made.at;
    return true;
}

static bool store_window(const struct update *u, int array, int value, struct leaves *out)
{
    enum { FIRST = 2 /* of the indices */ };
    struct arena *keep = build_arena(u->b);
    const struct shape *shapes[FIRST + VIEW_MAX_RANK] = {u->array, u->window};
    int operands[FIRST + VIEW_MAX_RANK] = {array, value};
    const struct shape *single = shape_array(keep, DT_S64, 0, NULL, NULL, NULL);
    const int rank = u->array->rank;
    for (int d = 0; d < rank; d++) {
        const struct literal l = {.shape = single, .data = ARENA_DUP(keep, &u->start[d], 1)};
        shapes[FIRST + d] = single;
        operands[FIRST + d] = same_constant(u->b->pl, &l);
    }
    struct inst *i =
        derive_inst(u->b, u->scatter, OP_DYNAMIC_UPDATE_SLICE, u->array, FIRST + rank, shapes);
    return derive_step(u->b, i, operands, out) != NULL;
}

bool plan_scatter_window(struct build *b, const struct inst *i, struct leaves operands,
                         struct leaves *out)
{
    if (!plan_optimises(b->pl) || b->pl->p->dynamic || i->opcode != OP_SCATTER ||
        i->operand_count != 3 || operands.count != 3)
        return false;
    const struct computation *body = inst_computation(i, A_TO_APPLY);
    const struct inst *op = plan_binary_body(body);
    const struct shape *x = i->operands[0]->shape, *y = i->operands[2]->shape;
    const bool replaces = body->root == body->params[1];
    struct update u = {.b = b, .scatter = i, .array = x};
    const int array = operands.at[0];
    int value = operands.at[2];
    if ((!op && !replaces) || x->dtype != y->dtype || body->root->shape->dtype != x->dtype ||
        array == NO_VALUE || value == NO_VALUE || !find_place(&u, operands.at[1]))
        return false;
    for (int k = 0; k < body->param_count; k++)
        if (body->params[k]->shape->dtype != x->dtype)
            return false;
    u.window = shape_array(build_arena(b), x->dtype, x->rank, u.size, NULL, NULL);
    if (!same_elements(y, u.window)) {
        if (!derive_step(b, derive_inst(b, i, OP_RESHAPE, u.window, 1, &y), &value, out))
            return false;
        value = *out->at;
    }
    b->pl->p->stats.simplified++;
    return (!op || combine(&u, op, array, &value)) && store_window(&u, array, value, out);
}
