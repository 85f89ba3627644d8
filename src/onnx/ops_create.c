/*
 * Operators that create tensors: Constant, ConstantOfShape, Range.
 */
#include "onnx/import_priv.h"

#include <math.h>

/* ---- Constant ---- */

static bool set_floats(struct node *n, const float *at, int rank, size_t count)
{
    int64_t dims = (int64_t)count;
    hlo_literal *l = keep_literal(n->s->imp, hlo_literal_new("f32", (size_t)rank, &dims, n->s->m));
    if (l && count > 0)
        memcpy(hlo_literal_leaf(l, 0).data, at, count * sizeof *at);
    return set_known(n, l, ELEM_F32);
}

static bool set_ints(struct node *n, const int64_t *at, int rank, size_t count)
{
    int64_t dims = (int64_t)count;
    return set_known(n, literal_of_ints(n->s, ELEM_S64, rank, &dims, at), ELEM_S64);
}

/* A tensor of an attribute; NULL with a message. */
static hlo_literal *tensor_attr(struct node *n, const struct onnx_attr *a)
{
    bool fits = a->kind == ONNX_ATTR_TENSOR && a->tensor.kind == ONNX_TENSOR && a->tensor.tensor;
    struct hlo_array x = {0};
    if (fits)
        x = hlo_literal_leaf(a->tensor.tensor, 0);
    if (fits && x.rank <= ONNX_MAX_RANK)
        return a->tensor.tensor;
    refuse_node(n->s, "attribute '" STR_FMT "' is a tensor without HLO equivalent",
                STR_ARG(a->name));
    return NULL;
}

bool op_constant(struct node *n)
{
    const struct onnx_attr *a = NULL;
    for (size_t k = 0; k < n->onnx->attr_count; k++)
        if (str_starts(n->onnx->attrs[k].name, STR("value")) ||
            str_is(n->onnx->attrs[k].name, "sparse_value"))
            a = &n->onnx->attrs[k];
    if (!a)
        return refuse_node(n->s, "missing value");
    hlo_literal *l;
    switch (a->kind) {
    case ONNX_ATTR_INT: return set_ints(n, &a->i, 0, 1);
    case ONNX_ATTR_INTS: return set_ints(n, a->ints, 1, a->count);
    case ONNX_ATTR_FLOAT: return set_floats(n, &a->f, 0, 1);
    case ONNX_ATTR_FLOATS: return set_floats(n, a->floats, 1, a->count);
    case ONNX_ATTR_TENSOR:
        l = tensor_attr(n, a);
        return l && set_known(n, l, onnx_dtype_find(hlo_literal_leaf(l, 0).dtype));
    default:
        return refuse_node(n->s, "attribute '" STR_FMT "' has no HLO equivalent", STR_ARG(a->name));
    }
}

/* ---- ConstantOfShape ---- */

bool op_constant_of_shape(struct node *n)
{
    struct scope *s = n->s;
    struct val *shape = shape_input(n, 0);
    const struct onnx_attr *attr = attr_find(n, "value");
    if (!shape)
        return false;
    hlo_literal *l = attr ? tensor_attr(n, attr) : literal_of_scalar(s, ELEM_F32, "0");
    if (!l)
        return false;
    struct hlo_array value = hlo_literal_leaf(l, 0);
    if (value.elements != 1)
        return refuse_node(s, "value has %zu elements, expected one", value.elements);
    struct array a = {.elem = onnx_dtype_find(value.dtype), .rank = (int)shape->a.dims[0]},
                 one = scalar_of(a.elem);
    struct num size[ONNX_MAX_RANK + 1];
    for (int d = 0; d < a.rank; d++) {
        size[d] = num_shape_element(s, shape, d);
        if (size[d].known && size[d].n < 0)
            return refuse_node(s, "negative size");
        a.dims[d] = num_most(size[d], s->imp->bound);
    }
    hlo_inst *x = hlo_constant(s->c, l);
    if (value.rank > 0)
        x = emit_unary(s, &one, "reshape", x);
    if (a.rank > 0)
        x = emit_broadcast(s, x, &a, NULL, 0);
    for (int d = 0; d < a.rank; d++)
        x = set_size(s, x, &a, d, size[d]);
    return set_tensor(n, &a, x);
}

/* ---- Range ---- */

/* The length if start, limit and delta are known; -1 if delta is 0 or the length exceeds the
 * limit. */
static int64_t known_length(struct val *const *v)
{
    double start = known_double(v[0], 0), limit = known_double(v[1], 0),
           delta = known_double(v[2], 0);
    double length = ceil((limit - start) / delta);
    if (elem_is_int(v[0]->a.elem)) {
        int64_t by = known_int(v[2], 0), span;
        if (by == 0 || !sub_i64(known_int(v[1], 0), known_int(v[0], 0), &span) || by == INT64_MIN)
            return -1;
        bool away = span == 0 || (span < 0) != (by < 0);
        return away ? 0 : span / by + (span % by != 0);
    }
    return isnan(length) || length > 1e9 ? -1 : length > 0 ? (int64_t)length : 0;
}

static struct num run_time_length(struct scope *s, hlo_inst *const *x, int elem)
{
    struct array a = scalar_of(ELEM_F64), from;
    hlo_inst *d[3];
    for (int k = 0; k < 3; k++) {
        from = scalar_of(elem);
        d[k] = emit_convert(s, x[k], &from, ELEM_F64);
    }
    hlo_inst *length =
        emit_unary(s, &a, "ceil",
                   emit_binary(s, &a, "divide", emit_binary(s, &a, "subtract", d[1], d[0]), d[2]));
    length = emit_convert(s, length, &a, ELEM_S64);
    return num_op(s, "maximum", (struct num){.i = length}, num_of(0));
}

bool op_range(struct node *n)
{
    struct scope *s = n->s;
    struct val *v[3];
    hlo_inst *x[3];
    bool known = true;
    for (size_t k = 0; k < 3; k++) {
        if (!(v[k] = tensor_of(n, k)))
            return false;
        if (v[k]->a.elem != v[0]->a.elem || array_elements(&v[k]->a) != 1 || v[k]->a.rank > 1)
            return refuse_node(s, "input %zu is %s, expected scalars of one type", k,
                               type_text(s->imp, v[k]));
        struct array one = scalar_of(v[k]->a.elem);
        x[k] = data_of(s, v[k]);
        x[k] = v[k]->a.rank > 0 ? emit_unary(s, &one, "reshape", x[k]) : x[k];
        known &= v[k]->known && (elem_is_int(v[k]->a.elem) || v[k]->a.elem == ELEM_F32 ||
                                 v[k]->a.elem == ELEM_F64);
    }
    int64_t length = known ? known_length(v) : 0;
    if (length < 0)
        return refuse_node(s, "limit is never reached");
    struct num size = known ? num_of(length) : run_time_length(s, x, v[0]->a.elem);
    int64_t bound = num_most(size, s->imp->bound);
    struct array a = array_of(v[0]->a.elem, 1, &bound);
    hlo_inst *i = emit_iota(s, a.elem, bound);
    i = emit_binary(s, &a, "multiply", i, emit_broadcast(s, x[2], &a, NULL, 0));
    i = emit_binary(s, &a, "add", emit_broadcast(s, x[0], &a, NULL, 0), i);
    return set_tensor(n, &a, set_size(s, i, &a, 0, size));
}
