/*
 * Operators that reduce dimensions: MatMul, ReduceSum and the like.
 */
#include "onnx/import_priv.h"

#include <stdlib.h>

/* ---- MatMul ---- */

struct side {
    hlo_inst *x;
    struct array a;
};

/* Converts a vector to a matrix: of one row on the left, of one column on the right. */
static struct side matrix_of(struct scope *s, struct val *v, bool left)
{
    struct side out = {data_of(s, v), v->a};
    bool is_new[2] = {left, !left};
    if (v->a.rank == 1)
        out.x = add_ones(s, out.x, &out.a, is_new, 2);
    return out;
}

/* Broadcasts batch dimensions of one side to the sizes of the other. */
static bool same_batch(struct scope *s, struct side *l, struct side *r)
{
    int batch = (l->a.rank > r->a.rank ? l->a.rank : r->a.rank) - 2;
    bool same = l->a.rank == r->a.rank;
    struct num size[ONNX_MAX_RANK + 1];
    int64_t bound[ONNX_MAX_RANK + 1];
    for (int d = 0; d < batch; d++) {
        int i = d - (batch - (l->a.rank - 2)), j = d - (batch - (r->a.rank - 2));
        struct num a = i < 0 ? num_of(1) : num_size(s, l->x, &l->a, i),
                   b = j < 0 ? num_of(1) : num_size(s, r->x, &r->a, j);
        if (a.known && b.known && a.n != b.n && a.n != 1 && b.n != 1)
            return false;
        bool takes_b = a.known && a.n == 1;
        size[d] = takes_b ? b : b.known && b.n == 1 ? a : num_if(s, a, "EQ", num_of(1), b, a);
        bound[d] = takes_b                                            ? r->a.dims[j]
                   : i < 0 || (j >= 0 && r->a.dims[j] > l->a.dims[i]) ? r->a.dims[j]
                                                                      : l->a.dims[i];
        same &= a.known && b.known && a.n == b.n;
    }
    for (int k = 0; k < 2 && !same; k++) {
        struct side *x = k ? r : l;
        struct array to = {.elem = x->a.elem, .rank = batch + 2};
        for (int d = 0; d < batch + 2; d++) {
            int own = d - batch + x->a.rank - 2;
            size[d] = d < batch ? size[d] : num_size(s, x->x, &x->a, own);
            to.dims[d] = d < batch ? bound[d] : x->a.dims[own];
            to.dynamic[d] = !size[d].known;
        }
        x->x = expand_to(s, x->x, &x->a, &to, size);
        x->a = to;
    }
    return true;
}

/* Gives the contracting dimensions the same bound. */
static bool same_depth(struct scope *s, struct side *l, struct side *r)
{
    int i = l->a.rank - 1, j = r->a.rank - 2;
    if (l->a.dims[i] == r->a.dims[j])
        return true;
    if (!l->a.dynamic[i] && !r->a.dynamic[j])
        return false;
    int64_t upper = l->a.dims[i] > r->a.dims[j] ? l->a.dims[i] : r->a.dims[j];
    struct array tl = l->a, tr = r->a;
    tl.dims[i] = tr.dims[j] = upper;
    tl.dynamic[i] = tr.dynamic[j] = true;
    l->x = fit_array(s, l->x, &l->a, &tl);
    r->x = fit_array(s, r->x, &r->a, &tr);
    l->a = tl;
    r->a = tr;
    return true;
}

/* Removes the row and column that were added to vectors. */
static bool set_product(struct node *n, const struct array *a, hlo_inst *x, bool drop_row,
                        bool drop_column)
{
    struct array to = {.elem = a->elem};
    struct num size[ONNX_MAX_RANK + 1];
    for (int d = 0; d < a->rank; d++) {
        if ((drop_row && d == a->rank - 2) || (drop_column && d == a->rank - 1))
            continue;
        to.dims[to.rank] = a->dims[d];
        to.dynamic[to.rank] = a->dynamic[d];
        size[to.rank++] = num_size(n->s, x, a, d);
    }
    return set_tensor(n, &to, to.rank == a->rank ? x : reshape_to(n->s, x, a, &to, size));
}

bool op_matmul(struct node *n)
{
    struct scope *s = n->s;
    struct val *x = tensor_of(n, 0), *y = x ? tensor_of(n, 1) : NULL;
    if (!y)
        return false;
    if (x->a.rank < 1 || y->a.rank < 1 || x->a.elem != y->a.elem)
        return refuse_node(s, "incompatible inputs %s and %s", type_text(s->imp, x),
                           type_text(s->imp, y));
    struct side l = matrix_of(s, x, true), r = matrix_of(s, y, false);
    if (!same_depth(s, &l, &r) || !same_batch(s, &l, &r))
        return refuse_node(s, "cannot broadcast %s and %s", type_text(s->imp, x),
                           type_text(s->imp, y));
    int batch = l.a.rank - 2;
    struct array a = l.a;
    a.dims[batch + 1] = r.a.dims[batch + 1];
    a.dynamic[batch + 1] = r.a.dynamic[batch + 1];
    const char *shared = count_text(s->imp, 0, batch);
    hlo_inst *product = emit_op(s, &a, "dot", (hlo_inst *[]){l.x, r.x}, 2,
                                "lhs_batch_dims=%s, lhs_contracting_dims={%d}, rhs_batch_dims=%s, "
                                "rhs_contracting_dims={%d}",
                                shared, batch + 1, shared, batch);
    return set_product(n, &a, product, x->a.rank == 1, y->a.rank == 1);
}

/* ---- Reduce ---- */

static hlo_computation *reducer(struct scope *s, const char *opcode, int elem)
{
    const char *hlo = onnx_dtype_hlo(elem);
    struct arena *a = s->imp->arena;
    hlo_computation *c = hlo_computation_new(s->b, arena_printf(a, "%s_%s", opcode, hlo).ptr);
    const char *shape = arena_printf(a, "%s[]", hlo).ptr;
    hlo_inst *both[] = {hlo_parameter(c, 0, shape, "x"), hlo_parameter(c, 1, shape, "y")};
    hlo_inst *root = hlo_build(c, arena_printf(a, "r = %s %s", shape, opcode).ptr, both, 2, NULL);
    return hlo_computation_finish(c, root) ? c : NULL;
}

hlo_inst *sum_over(struct scope *s, hlo_inst *x, struct array *a, int d)
{
    struct array to = {.elem = a->elem};
    hlo_computation *c = reducer(s, "add", a->elem);
    for (int k = 0; k < a->rank; k++)
        if (k != d) {
            to.dims[to.rank] = a->dims[k];
            to.dynamic[to.rank++] = a->dynamic[k];
        }
    *a = to;
    return c ? emit_op(s, a, "reduce", (hlo_inst *[]){x, emit_zero(s, a->elem)}, 2,
                       "dimensions={%d}, to_apply=%%%s", d, hlo_computation_name(c))
             : NULL;
}

/* The identity of a reduction. */
static const char *neutral(struct import *imp, const char *opcode, int elem)
{
    bool max = strcmp(opcode, "maximum") == 0;
    if (strcmp(opcode, "add") == 0 || strcmp(opcode, "multiply") == 0)
        return *opcode == 'a' ? "0" : "1";
    if (elem == ELEM_PRED)
        return max ? "false" : "true";
    if (elem_is_float(elem))
        return max ? "-inf" : "inf";
    int bits = atoi(onnx_dtype_hlo(elem) + 1);
    if (!elem_is_signed(elem))
        return max ? "0" : arena_printf(imp->arena, "%" PRIu64, UINT64_MAX >> (64 - bits)).ptr;
    int64_t upper = (int64_t)(UINT64_MAX >> (65 - bits));
    return arena_printf(imp->arena, "%" PRId64, max ? -upper - 1 : upper).ptr;
}

/* The reduced dimensions; false with a message. If none are given: all, unless the node specifies
 * otherwise. */
static bool reduced_axes(struct node *n, struct val *v, bool *gone, bool *nothing)
{
    struct int_list axes;
    int64_t since = strcmp(n->row->name, "ReduceSum") == 0 ? 13 : 18;
    if (!known_list(n, n->opset >= since ? 1 : SIZE_MAX, n->opset >= since ? NULL : "axes", &axes))
        return false;
    *nothing = axes.count == 0 && attr_int(n, "noop_with_empty_axes", 0) != 0;
    for (int d = 0; d < v->a.rank; d++)
        gone[d] = axes.count == 0;
    for (size_t k = 0; k < axes.count; k++) {
        int d;
        if (!axis_of(n, axes.at[k], v->a.rank, &d))
            return false;
        gone[d] = true;
    }
    return true;
}

bool op_reduce(struct node *n)
{
    struct scope *s = n->s;
    struct val *v = tensor_of(n, 0);
    bool gone[ONNX_MAX_RANK + 1] = {false}, nothing, mean = strcmp(n->row->arg, "mean") == 0;
    const char *opcode = mean ? "add" : n->row->arg;
    if (!v || !reduced_axes(n, v, gone, &nothing))
        return false;
    if (nothing)
        return set_val(n, 0, *v);
    struct array a = {.elem = v->a.elem};
    int64_t at[ONNX_MAX_RANK + 1];
    size_t count = 0;
    struct num elements = num_of(1);
    hlo_inst *x = data_of(s, v);
    for (int d = 0; d < v->a.rank; d++) {
        if (gone[d]) {
            at[count++] = d;
            if (mean)
                elements = num_op(s, "multiply", elements, num_size(s, x, &v->a, d));
            continue;
        }
        a.dims[a.rank] = v->a.dims[d];
        a.dynamic[a.rank++] = v->a.dynamic[d];
    }
    hlo_computation *c = reducer(s, opcode, a.elem);
    if (!c)
        return false;
    hlo_inst *operands[] = {x, emit_scalar(s, a.elem, neutral(s->imp, opcode, a.elem))};
    x = emit_op(s, &a, "reduce", operands, 2, "dimensions=%s, to_apply=%%%s",
                ints_text(s->imp, at, count), hlo_computation_name(c));
    if (mean) {
        struct array one = scalar_of(ELEM_S64), full = array_of(a.elem, a.rank, a.dims);
        hlo_inst *by = num_inst(s, elements);
        by = emit_convert(s, by, &one, a.elem);
        x = emit_binary(s, &a, "divide", x,
                        a.rank == 0 ? by : emit_broadcast(s, by, &full, NULL, 0));
    }
    if (attr_int(n, "keepdims", 1) != 0)
        x = add_ones(s, x, &a, gone, v->a.rank);
    return set_tensor(n, &a, x);
}
