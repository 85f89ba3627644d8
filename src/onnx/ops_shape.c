/*
 * Operators on shapes: Shape, Reshape, Squeeze, Transpose, Expand, Concat and the like.
 */
#include "onnx/import_priv.h"

bool op_identity(struct node *n)
{
    struct val *v = input_of(n, 0);
    return v ? set_val(n, 0, *v) : refuse_node(n->s, "missing input 0");
}

/* ---- queries ---- */

static int clamp_axis(int64_t axis, int rank)
{
    axis += axis < 0 ? rank : 0;
    return (int)(axis < 0 ? 0 : axis > rank ? rank : axis);
}

bool op_shape(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0);
    if (!v)
        return false;
    int start = n->opset < 15 ? 0 : clamp_axis(attr_int(n, "start", 0), v->a.rank);
    int end = n->opset < 15 ? v->a.rank : clamp_axis(attr_int(n, "end", v->a.rank), v->a.rank);
    int64_t count = end > start ? end - start : 0, one = 1;
    bool known = true;
    for (int d = start; d < end; d++)
        known &= !v->a.dynamic[d];
    if (known)
        return set_known(n, literal_of_ints(s, ELEM_S64, 1, &count, v->a.dims + start), ELEM_S64);
    hlo_inst *size[ONNX_MAX_RANK + 1];
    struct array each = array_of(ELEM_S64, 1, &one), all = array_of(ELEM_S64, 1, &count);
    for (int d = start; d < end; d++)
        size[d - start] =
            emit_unary(s, &each, "reshape", num_inst(s, num_size(s, data_of(s, v), &v->a, d)));
    return set_tensor(n, &all,
                      count == 1
                          ? size[0]
                          : emit_op(s, &all, "concatenate", size, (size_t)count, "dimensions={0}"));
}

static struct num count_of(struct scope *s, struct val *v, int from, int to)
{
    struct num count = num_of(1);
    for (int d = from; d < to; d++)
        count = num_op(s, "multiply", count,
                       num_size(s, v->a.dynamic[d] ? data_of(s, v) : NULL, &v->a, d));
    return count;
}

static bool set_num(struct node *n, struct num x)
{
    struct array a = scalar_of(ELEM_S64);
    if (x.known)
        return set_known(n, literal_of_ints(n->s, ELEM_S64, 0, NULL, &x.n), ELEM_S64);
    return set_tensor(n, &a, num_inst(n->s, x));
}

bool op_size(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    return v && set_num(n, count_of(n->s, v, 0, v->a.rank));
}

/* ---- Reshape, Flatten ---- */

/* The product of the bounds of dimensions from ... to - 1. */
static int64_t bound_of(const struct array *a, int from, int to)
{
    int64_t count = 1;
    for (int d = from; d < to; d++)
        count = mul_most(count, a->dims[d]);
    return count;
}

/* The requested sizes; the one to be computed is still -1. */
static bool asked_sizes(struct node *n, struct val *v, struct val *shape, struct array *to,
                        struct num *size)
{
    struct scope *s = n->s;
    bool zeros = attr_int(n, "allowzero", 0) != 0;
    int64_t all = array_elements(&v->a), max = all > s->imp->bound ? s->imp->bound : all;
    max = max > 0 ? max : 1;
    int open = 0;
    for (int d = 0; d < to->rank; d++) {
        size[d] = num_shape_element(s, shape, d);
        bool mine = d < v->a.rank, zero = size[d].known && size[d].n == 0;
        if (zero && !zeros && !mine)
            return refuse_node(s, "cannot copy dimension %d of %s", d, type_text(s->imp, v));
        if (!zeros && mine && (zero || !size[d].known)) {
            struct num own = num_size(s, v->a.dynamic[d] ? data_of(s, v) : NULL, &v->a, d);
            size[d] = num_if(s, size[d], "EQ", num_of(0), own, size[d]);
            to->dynamic[d] = !size[d].known;
            to->dims[d] = zero ? v->a.dims[d] : max;
        } else {
            to->dynamic[d] = !size[d].known;
            to->dims[d] = num_most(size[d], max);
        }
        if (size[d].known && (size[d].n < -1 || (size[d].n == -1 && open++ > 0)))
            return refuse_node(s, "%s",
                               size[d].n < -1 ? "negative size" : "at most one size may be -1");
    }
    return true;
}

/* The size that was given as -1, or may be -1 at run time: the number of elements divided by the
 * other sizes. */
static void find_open_size(struct scope *s, struct val *v, struct array *to, struct num *size)
{
    struct num total = count_of(s, v, 0, v->a.rank), others = num_of(1);
    int64_t max = array_elements(&v->a);
    bool some = false;
    for (int d = 0; d < to->rank; d++) {
        some |= !size[d].known || size[d].n == -1;
        others =
            num_op(s, "multiply", others, num_if(s, size[d], "LT", num_of(0), num_of(1), size[d]));
        if (size[d].known && size[d].n > 0)
            max /= size[d].n;
    }
    if (!some)
        return;
    struct num left =
        num_if(s, others, "EQ", num_of(0), num_of(0), num_op(s, "divide", total, others));
    for (int d = 0; d < to->rank; d++) {
        if (size[d].known && size[d].n != -1)
            continue;
        bool open = size[d].known;
        size[d] = num_if(s, size[d], "LT", num_of(0), left, size[d]);
        to->dynamic[d] = !size[d].known;
        if (open)
            to->dims[d] = num_most(size[d], max);
    }
}

bool op_reshape(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0), *shape = v ? shape_input(n, 1) : NULL;
    struct num size[ONNX_MAX_RANK + 1];
    if (!shape)
        return false;
    struct array to = {.elem = v->a.elem, .rank = (int)shape->a.dims[0]};
    if (!asked_sizes(n, v, shape, &to, size))
        return false;
    find_open_size(s, v, &to, size);
    if (array_is_static(&v->a) && array_is_static(&to) &&
        array_elements(&v->a) != array_elements(&to)) {
        struct val target = tensor_val(&to, NULL);
        return refuse_node(s, "%s and %s differ in the number of elements", type_text(s->imp, v),
                           type_text(s->imp, &target));
    }
    return set_tensor(n, &to, reshape_to(s, data_of(s, v), &v->a, &to, size));
}

bool op_flatten(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0);
    if (!v)
        return false;
    int64_t axis = attr_int(n, "axis", 1);
    if (axis < -v->a.rank || axis > v->a.rank)
        return refuse_node(s, "axis %" PRId64 " is out of range for rank %d", axis, v->a.rank);
    int at = clamp_axis(axis, v->a.rank);
    struct num size[2] = {count_of(s, v, 0, at), count_of(s, v, at, v->a.rank)};
    struct array to = {.elem = v->a.elem, .rank = 2};
    for (int d = 0; d < 2; d++) {
        to.dims[d] = num_most(size[d], bound_of(&v->a, d ? at : 0, d ? v->a.rank : at));
        to.dynamic[d] = !size[d].known;
    }
    return set_tensor(n, &to, reshape_to(s, data_of(s, v), &v->a, &to, size));
}

/* ---- Squeeze, Unsqueeze ---- */

static bool marked_axes(struct node *n, const struct int_list *axes, int rank, bool *marked)
{
    for (size_t k = 0; k < axes->count; k++) {
        int d;
        if (!axis_of(n, axes->at[k], rank, &d))
            return false;
        if (marked[d])
            return refuse_node(n->s, "duplicate axis %d", d);
        marked[d] = true;
    }
    return true;
}

bool op_squeeze(struct node *n)
{
    struct scope *s = n->s;
    struct int_list axes;
    bool gone[ONNX_MAX_RANK + 1] = {false};
    struct num size[ONNX_MAX_RANK + 1];
    struct val *v = tensor_of(n, 0);
    if (!v || !known_list(n, 1, "axes", &axes) || !marked_axes(n, &axes, v->a.rank, gone))
        return false;
    struct array to = {.elem = v->a.elem};
    for (int d = 0; d < v->a.rank; d++) {
        if (!axes.given && v->a.dynamic[d])
            return refuse_node(s, "shape must be static when axes are omitted, got %s",
                               type_text(s->imp, v));
        gone[d] = axes.given ? gone[d] : v->a.dims[d] == 1;
        if (gone[d] && !v->a.dynamic[d] && v->a.dims[d] != 1)
            return refuse_node(s, "dimension %d of %s is not 1", d, type_text(s->imp, v));
        if (gone[d])
            continue;
        to.dims[to.rank] = v->a.dims[d];
        to.dynamic[to.rank] = v->a.dynamic[d];
        size[to.rank++] = num_size(s, v->a.dynamic[d] ? data_of(s, v) : NULL, &v->a, d);
    }
    return set_tensor(n, &to,
                      to.rank == v->a.rank ? data_of(s, v)
                                           : reshape_to(s, data_of(s, v), &v->a, &to, size));
}

bool op_unsqueeze(struct node *n)
{
    struct int_list axes;
    bool is_new[2 * ONNX_MAX_RANK + 1] = {false};
    struct val *v = tensor_of(n, 0);
    if (!v || !known_list(n, 1, "axes", &axes))
        return false;
    if (!axes.given)
        return refuse_node(n->s, "missing axes");
    if (axes.count > ONNX_MAX_RANK || v->a.rank + (int)axes.count > ONNX_MAX_RANK)
        return refuse_node(n->s, "more than %d dimensions", ONNX_MAX_RANK);
    int rank = v->a.rank + (int)axes.count;
    if (!marked_axes(n, &axes, rank, is_new))
        return false;
    struct array a = v->a;
    hlo_inst *x = add_ones(n->s, data_of(n->s, v), &a, is_new, rank);
    return set_tensor(n, &a, x);
}

/* ---- Transpose ---- */

bool op_transpose(struct node *n)
{
    struct val *v = tensor_of(n, 0);
    struct int_list perm;
    int64_t at[ONNX_MAX_RANK + 1];
    if (!v || !known_list(n, SIZE_MAX, "perm", &perm))
        return false;
    if (perm.given && perm.count != (size_t)v->a.rank)
        return refuse_node(n->s, "perm has %zu entries, expected %d", perm.count, v->a.rank);
    struct array a = v->a;
    for (int d = 0; d < a.rank; d++) {
        at[d] = perm.given ? perm.at[d] : a.rank - 1 - d;
        if (at[d] < 0 || at[d] >= a.rank || i64_in(at, d, at[d]))
            return refuse_node(n->s, "perm is not a permutation of %d dimensions", a.rank);
        a.dims[d] = v->a.dims[at[d]];
        a.dynamic[d] = v->a.dynamic[at[d]];
    }
    hlo_inst *x = data_of(n->s, v);
    return set_tensor(n, &a,
                      emit_op(n->s, &a, "transpose", &x, 1, "dimensions=%s",
                              ints_text(n->s->imp, at, (size_t)a.rank)));
}

/* ---- Expand, Tile ---- */

/* Broadcasts dimension d, which is 1 or has its final size already, possibly only known at run
 * time. */
static hlo_inst *expand_dynamic(struct scope *s, hlo_inst *x, struct array *a, int d, int64_t bound,
                                struct num size)
{
    struct array row = array_of(ELEM_S64, 1, &bound);
    struct num last = num_op(s, "subtract", num_size(s, x, a, d), num_of(1));
    hlo_inst *i = emit_binary(s, &row, "minimum", emit_iota(s, ELEM_S64, bound),
                              emit_broadcast(s, num_inst(s, last), &row, NULL, 0));
    return take_at(s, x, a, d, i, bound, size);
}

hlo_inst *expand_to(struct scope *s, hlo_inst *x, const struct array *from, struct array *to,
                    const struct num *sizes)
{
    struct array a = *from, full = {.elem = from->elem};
    int shift = to->rank - from->rank;
    bool is_new[ONNX_MAX_RANK + 1] = {false};
    int64_t at[ONNX_MAX_RANK + 1];
    for (int d = 0; d < to->rank; d++)
        is_new[d] = d < shift;
    x = add_ones(s, x, &a, is_new, to->rank);
    full = a;
    bool repeats = false;
    for (int d = 0; d < to->rank; d++) {
        at[d] = d;
        if (a.dynamic[d])
            x = expand_dynamic(s, x, &a, d, to->dims[d], sizes[d]);
    }
    struct array kept = {.elem = a.elem};
    struct num size[ONNX_MAX_RANK + 1];
    for (int d = 0; d < to->rank; d++) {
        full.dims[d] = a.dims[d];
        full.dynamic[d] = a.dynamic[d];
        if (!a.dynamic[d] && a.dims[d] == 1 && !(sizes[d].known && sizes[d].n == 1)) {
            full.dims[d] = to->dims[d];
            repeats = true;
            continue;
        }
        at[kept.rank] = d;
        size[kept.rank] = num_size(s, x, &a, d);
        kept.dims[kept.rank] = a.dims[d];
        kept.dynamic[kept.rank++] = a.dynamic[d];
    }
    if (repeats) {
        x = reshape_to(s, x, &a, &kept, size);
        x = emit_broadcast(s, x, &full, at, kept.rank);
    }
    for (int d = 0; d < to->rank; d++)
        if (!full.dynamic[d] && to->dynamic[d])
            x = set_size(s, x, &full, d, sizes[d]);
    *to = full;
    return x;
}

bool op_expand(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0), *shape = v ? shape_input(n, 1) : NULL;
    if (!shape)
        return false;
    int asked = (int)shape->a.dims[0], rank = asked > v->a.rank ? asked : v->a.rank;
    struct array to = {.elem = v->a.elem, .rank = rank};
    struct num size[ONNX_MAX_RANK + 1];
    for (int d = 0; d < rank; d++) {
        int mine = d - (rank - v->a.rank), theirs = d - (rank - asked);
        struct num own = mine < 0
                             ? num_of(1)
                             : num_size(s, v->a.dynamic[mine] ? data_of(s, v) : NULL, &v->a, mine);
        struct num target = theirs < 0 ? num_of(1) : num_shape_element(s, shape, theirs);
        if (own.known && target.known && own.n != target.n && own.n != 1 && target.n != 1)
            return refuse_node(s, "cannot expand dimension %d of %s to %" PRId64, mine,
                               type_text(s->imp, v), target.n);
        size[d] = num_if(s, target, "EQ", num_of(1), own, target);
        if (!size[d].known && own.known && own.n != 1)
            size[d] = own;
        int64_t bound =
            mine >= 0 && v->a.dims[mine] > s->imp->bound ? v->a.dims[mine] : s->imp->bound;
        to.dims[d] = target.known && target.n == 1 && mine >= 0
                         ? v->a.dims[mine]
                         : num_most(size[d], target.known ? target.n : bound);
        to.dynamic[d] = !size[d].known;
    }
    hlo_inst *x = expand_to(s, data_of(s, v), &v->a, &to, size);
    return set_tensor(n, &to, x);
}

/* Element i of the result is element i modulo the size. */
static hlo_inst *repeat(struct scope *s, hlo_inst *x, struct array *a, int d, struct num times)
{
    struct num own = num_size(s, x, a, d), size = num_op(s, "multiply", own, times);
    int64_t bound = times.known ? mul_most(a->dims[d], num_most(times, 0))
                                : mul_most(a->dims[d], s->imp->bound);
    struct array row = array_of(ELEM_S64, 1, &bound);
    struct num by = num_op(s, "maximum", own, num_of(1));
    hlo_inst *i = emit_binary(s, &row, "remainder", emit_iota(s, ELEM_S64, bound),
                              emit_broadcast(s, num_inst(s, by), &row, NULL, 0));
    return take_at(s, x, a, d, i, bound, size);
}

bool op_tile(struct node *n)
{
    struct val *v = tensor_of(n, 0), *times = v ? tensor_of(n, 1) : NULL;
    if (!times)
        return false;
    if (times->a.rank != 1 || times->a.dynamic[0] || times->a.dims[0] != v->a.rank)
        return refuse_node(n->s, "repeats are %s, expected one for each of %d dimensions",
                           type_text(n->s->imp, times), v->a.rank);
    struct array a = v->a;
    hlo_inst *x = data_of(n->s, v);
    for (int d = 0; d < v->a.rank; d++) {
        struct num t = num_shape_element(n->s, times, d);
        if (!t.known || t.n != 1)
            x = repeat(n->s, x, &a, d, t);
    }
    return set_tensor(n, &a, x);
}

/* ---- Concat ---- */

bool op_concat(struct node *n)
{
    struct scope *s = n->s;
    struct val *first = tensor_of(n, 0);
    hlo_inst **parts = ARENA_ARRAY(s->imp->arena, hlo_inst *, n->input_count + 1);
    const struct onnx_attr *attr = attr_find(n, "axis");
    int axis;
    if (!first || (!attr && n->opset >= 4 && !refuse_node(s, "missing attribute 'axis'")))
        return false;
    if (!axis_of(n, attr_int(n, "axis", 1), first->a.rank, &axis))
        return false;
    struct array all = first->a;
    for (size_t k = 1; k < n->input_count; k++) { /* joins the types, except along the axis */
        struct val *v = tensor_of(n, k);
        if (!v)
            return false;
        struct array other = v->a;
        bool fits = other.rank == all.rank && other.elem == all.elem;
        for (int d = 0; d < all.rank && fits; d++)
            fits = d == axis || other.dims[d] == all.dims[d] || other.dynamic[d] || all.dynamic[d];
        other.dims[axis] = other.rank == all.rank ? all.dims[axis] : 0;
        if (!fits || !join_arrays(&all, &other, &all))
            return refuse_node(s, "cannot broadcast %s and %s", type_text(s->imp, first),
                               type_text(s->imp, v));
    }
    struct array sum = all;
    sum.dims[axis] = 0;
    sum.dynamic[axis] = false;
    for (size_t k = 0; k < n->input_count; k++) {
        struct val *v = tensor_of(n, k);
        struct array to = all;
        to.dims[axis] = v->a.dims[axis];
        to.dynamic[axis] = v->a.dynamic[axis];
        parts[k] = fit_array(s, data_of(s, v), &v->a, &to);
        if (!add_i64(sum.dims[axis], to.dims[axis], &sum.dims[axis]))
            return refuse_node(s, "result too large");
        sum.dynamic[axis] |= to.dynamic[axis];
    }
    return set_tensor(n, &sum,
                      n->input_count == 1 ? parts[0]
                                          : emit_op(s, &sum, "concatenate", parts, n->input_count,
                                                    "dimensions={%d}", axis));
}
