/*
 * Operators that select elements by position: Slice, Split, Gather.
 */
#include "onnx/import_priv.h"

/* ---- Slice ---- */

/* No dimension is longer; longer steps are clamped to it, and select one element. */
enum { LONGEST = 1 << 30 };

/* The selection along one axis: `size` elements from `start` on, at most `bound`. */
struct range {
    struct num start, step, size;
    int64_t bound;
};

/* The number of steps from start to end, both within the array; the step is positive. */
static struct num steps_between(struct scope *s, struct num from, struct num to, struct num step)
{
    struct num span =
        num_op(s, "add", num_op(s, "subtract", to, from), num_op(s, "subtract", step, num_of(1)));
    return num_op(s, "divide", num_op(s, "maximum", span, num_of(0)), step);
}

static struct range range_of(struct scope *s, struct num n, struct num start, struct num end,
                             struct num step)
{
    struct num zero = num_of(0), one = num_of(1), last = num_op(s, "subtract", n, one);
    step = num_clamp(s, num_of(-LONGEST), step, num_of(LONGEST));
    start = num_if(s, start, "LT", zero, num_op(s, "add", start, n), start);
    end = num_if(s, end, "LT", zero, num_op(s, "add", end, n), end);
    struct range up = {num_clamp(s, zero, start, n), step},
                 down = {num_clamp(s, zero, start, last), step};
    if (!step.known || step.n > 0)
        up.size = steps_between(s, up.start, num_clamp(s, zero, end, n), step);
    if (step.known && step.n > 0)
        return up;
    struct num back = num_op(s, "subtract", zero, step),
               stop = num_op(s, "maximum", num_op(s, "minimum", end, last), num_of(-1));
    down.size = num_op(s, "minimum", steps_between(s, stop, down.start, back), n);
    if (step.known)
        return down;
    up.start = num_if(s, step, "LT", zero, down.start, up.start);
    up.size = num_if(s, step, "LT", zero, down.size, up.size);
    return up;
}

/* A bound for the number of elements, from what is known of start and end. */
static int64_t most_elements(int64_t bound, struct num start, struct num end, struct num step)
{
    if (!step.known)
        return bound;
    if (step.n > 0) {
        bool from_front = start.known && start.n >= 0, to_front = end.known && end.n >= 0;
        int64_t first = from_front ? start.n : 0, span = bound - (first < bound ? first : bound);
        if (to_front && end.n - first < span)
            span = end.n > first ? end.n - first : 0;
        if (start.known && end.known && start.n < 0 && end.n < 0 && end.n - start.n < span)
            span = end.n > start.n ? end.n - start.n : 0;
        if (start.known && start.n < 0 && -start.n < span)
            span = -start.n;
        bound = span;
    }
    int64_t by = step.n < 0 ? -step.n : step.n;
    return bound / by + (bound % by != 0);
}

/* With known ends and steps: a static slice, reversed if the step is negative. */
static hlo_inst *static_slice(struct scope *s, hlo_inst *x, struct array *a, int d,
                              const struct range *r)
{
    int64_t by = r->step.n < 0 ? -r->step.n : r->step.n, size = r->size.n;
    int64_t low = r->step.n < 0 ? r->start.n - (size - 1) * by : r->start.n;
    int64_t high = low + (size > 0 ? (size - 1) * by + 1 : 0);
    SCOPED_BUF b = {0};
    if (size == 0)
        low = high = 0;
    buf_puts(&b, "slice=");
    for (int k = 0; BUF_LIST(&b, k, a->rank, "{}", ", "); k++)
        if (k == d)
            buf_printf(&b, "[%" PRId64 ":%" PRId64 ":%" PRId64 "]", low, high, by);
        else
            buf_printf(&b, "[0:%" PRId64 "]", a->dims[k]);
    a->dims[d] = size;
    x = emit_op(s, a, "slice", &x, 1, "%s", b.data);
    return r->step.n < 0 && size > 1 ? emit_op(s, a, "reverse", &x, 1, "dimensions={%d}", d) : x;
}

hlo_inst *slice_axis(struct scope *s, hlo_inst *x, struct array *a, int d, struct num start,
                     struct num end, struct num step)
{
    bool all = start.known && start.n == 0 && end.known && end.n >= a->dims[d] && step.known &&
               step.n == 1;
    if (all)
        return x;
    struct range r = range_of(s, num_size(s, x, a, d), start, end, step);
    if (r.start.known && r.size.known && r.step.known && !a->dynamic[d])
        return static_slice(s, x, a, d, &r);
    int64_t bound = most_elements(a->dims[d], start, end, step);
    return take_range(s, x, a, d, r.start, r.step, bound == 0 ? num_of(0) : r.size, bound);
}

/* A list of integers: from an attribute, from an input, or absent. */
struct ends {
    struct val *v;
    struct int_list list;
    size_t count;
};

static bool find_ends(struct node *n, size_t input, const char *attr, struct ends *out)
{
    *out = (struct ends){0};
    if (n->opset < 10) {
        if (!known_list(n, SIZE_MAX, attr, &out->list))
            return false;
        out->count = out->list.count;
        return true;
    }
    if (!input_of(n, input))
        return true;
    if (!(out->v = tensor_of(n, input)))
        return false;
    if (out->v->a.rank != 1 || out->v->a.dynamic[0] || !elem_is_int(out->v->a.elem))
        return refuse_node(n->s, "input %zu is %s, expected a list of integers", input,
                           type_text(n->s->imp, out->v));
    out->count = (size_t)out->v->a.dims[0];
    return true;
}

static struct num end_number(struct scope *s, struct ends *e, size_t k)
{
    return e->v ? num_element(s, e->v, (int64_t)k) : num_of(e->list.at[k]);
}

bool op_slice(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0);
    struct ends starts, ends, steps;
    struct int_list axes;
    bool done[ONNX_MAX_RANK + 1] = {false};
    if (!v || !find_ends(n, 1, "starts", &starts) || !find_ends(n, 2, "ends", &ends) ||
        !find_ends(n, 4, NULL, &steps) ||
        !known_list(n, n->opset < 10 ? SIZE_MAX : 3, n->opset < 10 ? "axes" : NULL, &axes))
        return false;
    size_t count = axes.given ? axes.count : starts.count;
    if (starts.count != count || ends.count != count || count > (size_t)v->a.rank ||
        (steps.count > 0 && steps.count != count))
        return refuse_node(s, "%zu starts, %zu ends, %zu axes and %zu steps for %d dimensions",
                           starts.count, ends.count, count, steps.count, v->a.rank);
    struct array a = v->a;
    hlo_inst *x = data_of(s, v);
    for (size_t k = 0; k < count; k++) {
        int d;
        if (!axis_of(n, axes.given ? axes.at[k] : (int64_t)k, a.rank, &d))
            return false;
        struct num step = steps.count > 0 ? end_number(s, &steps, k) : num_of(1);
        if (done[d] || (step.known && step.n == 0))
            return refuse_node(s, done[d] ? "duplicate axis %d" : "step of axis %d is 0", d);
        done[d] = true;
        x = slice_axis(s, x, &a, d, end_number(s, &starts, k), end_number(s, &ends, k), step);
    }
    return set_tensor(n, &a, x);
}

/* ---- Split ---- */

/* The sizes of the parts, if given. */
static bool split_sizes(struct node *n, struct val *v, int d, struct num *size)
{
    struct scope *s = n->s;
    struct int_list list = {0};
    size_t parts = n->onnx->output_count;
    struct val *given = n->opset >= 13 ? input_of(n, 1) : NULL;
    if (n->opset < 13 && !known_list(n, SIZE_MAX, "split", &list))
        return false;
    if (given && (given->kind != ONNX_TENSOR || given->a.rank != 1 || given->a.dynamic[0] ||
                  given->a.dims[0] != (int64_t)parts))
        return refuse_node(s, "split is %s, expected %zu sizes", type_text(s->imp, given), parts);
    if (list.given && list.count != parts)
        return refuse_node(s, "split has %zu sizes for %zu outputs", list.count, parts);
    struct num all = num_size(s, v->a.dynamic[d] ? data_of(s, v) : NULL, &v->a, d), left = all;
    bool uneven = n->opset >= 18;
    if (!given && !list.given && !uneven && all.known && all.n % (int64_t)parts != 0)
        return refuse_node(s, "%" PRId64 " elements cannot be split into %zu equal parts", all.n,
                           parts);
    struct num max = num_op(s, "divide", num_op(s, "add", all, num_of((int64_t)parts - 1)),
                            num_of((int64_t)parts));
    for (size_t k = 0; k < parts; k++) {
        size[k] = given        ? num_element(s, given, (int64_t)k)
                  : list.given ? num_of(list.at[k])
                               : num_op(s, "minimum", max, left);
        if (size[k].known && size[k].n < 0)
            return refuse_node(s, "negative split size");
        left = num_op(s, "subtract", left, size[k]);
    }
    return !left.known || left.n == 0 ||
           refuse_node(s, "split sizes do not add up to %" PRId64, all.n);
}

bool op_split(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0);
    size_t parts = n->onnx->output_count;
    int d;
    if (!v || !axis_of(n, attr_int(n, "axis", 0), v->a.rank, &d))
        return false;
    if (parts == 0 || attr_int(n, "num_outputs", (int64_t)parts) != (int64_t)parts)
        return refuse_node(s, "num_outputs does not match %zu outputs", parts);
    struct num *size = ARENA_ARRAY(s->imp->arena, struct num, parts), start = num_of(0);
    if (!split_sizes(n, v, d, size))
        return false;
    for (size_t k = 0; k < parts; k++) {
        struct array a = v->a;
        struct num end = num_op(s, "add", start, size[k]);
        hlo_inst *x = slice_axis(s, data_of(s, v), &a, d, start, end, num_of(1));
        struct val part = tensor_val(&a, x);
        set_val(n, k, part);
        start = end;
    }
    return true;
}

/* ---- Gather ---- */

/* Indices with negative ones counted from the end. */
static hlo_inst *from_front(struct scope *s, struct val *indices, struct num n)
{
    struct array a = indices->a, full = array_of(ELEM_S64, a.rank, a.dims);
    hlo_inst *i = data_of(s, indices);
    i = emit_convert(s, i, &a, ELEM_S64);
    bool negative = !indices->known;
    for (size_t k = 0; k < known_count(indices); k++)
        negative |= known_int(indices, k) < 0;
    if (!negative)
        return i;
    hlo_inst *zero = emit_broadcast(s, emit_zero(s, ELEM_S64), &full, NULL, 0);
    hlo_inst *moved =
        emit_binary(s, &a, "add", i, emit_broadcast(s, num_inst(s, n), &full, NULL, 0));
    return emit_select(s, &a, emit_compare(s, &a, "LT", i, zero), moved, i);
}

bool op_gather(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0), *at = v ? tensor_of(n, 1) : NULL;
    int d;
    if (!at || !axis_of(n, attr_int(n, "axis", 0), v->a.rank, &d))
        return false;
    if (!elem_is_int(at->a.elem))
        return refuse_node(s, "indices are %s, expected integers", type_text(s->imp, at));
    int q = at->a.rank, rank = v->a.rank - 1 + q, n_offset = 0;
    if (rank > ONNX_MAX_RANK)
        return refuse_node(s, "more than %d dimensions", ONNX_MAX_RANK);
    struct array to = {.elem = v->a.elem, .rank = rank};
    int64_t offset[ONNX_MAX_RANK + 1], slice[ONNX_MAX_RANK + 1];
    for (int k = 0; k < rank; k++) {
        bool index = k >= d && k < d + q;
        const struct array *from = index ? &at->a : &v->a;
        int dim = index ? k - d : k < d ? k : k - q + 1;
        to.dims[k] = from->dims[dim];
        to.dynamic[k] = from->dynamic[dim];
        if (!index)
            offset[n_offset++] = k;
    }
    for (int k = 0; k < v->a.rank; k++)
        slice[k] = k == d ? 1 : v->a.dims[k];
    if (v->a.dims[d] == 0 && array_elements(&to) > 0)
        return refuse_node(s, "dimension %d of %s has no elements", d, type_text(s->imp, v));
    hlo_inst *x = data_of(s, v), *i = from_front(s, at, num_size(s, x, &v->a, d));
    if (v->a.dims[d] == 0) { /* the result is empty */
        struct array none = array_of(to.elem, rank, to.dims);
        return set_tensor(n, &none, emit_broadcast(s, emit_zero(s, to.elem), &none, NULL, 0));
    }
    return set_tensor(n, &to,
                      emit_op(s, &to, "gather", (hlo_inst *[]){x, i}, 2,
                              "offset_dims=%s, collapsed_slice_dims={%d}, start_index_map={%d}, "
                              "index_vector_dim=%d, slice_sizes=%s",
                              ints_text(s->imp, offset, (size_t)n_offset), d, d, q,
                              ints_text(s->imp, slice, (size_t)v->a.rank)));
}
