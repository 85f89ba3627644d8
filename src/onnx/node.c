/*
 * Accessors for translators: attributes, inputs, axes and outputs of a node.
 */
#include "onnx/import_priv.h"

const struct onnx_attr *attr_find(const struct node *n, const char *name)
{
    for (size_t k = 0; k < n->onnx->attr_count; k++)
        if (str_is(n->onnx->attrs[k].name, name))
            return &n->onnx->attrs[k];
    return NULL;
}

int64_t attr_int(const struct node *n, const char *name, int64_t otherwise)
{
    const struct onnx_attr *a = attr_find(n, name);
    return a && a->kind == ONNX_ATTR_INT ? a->i : otherwise;
}

const struct onnx_graph *graph_attr(struct node *n, const char *name)
{
    const struct onnx_attr *a = attr_find(n, name);
    if (a && a->kind == ONNX_ATTR_GRAPH && a->graph)
        return a->graph;
    refuse_node(n->s, "attribute '%s' is not a graph", name);
    return NULL;
}

struct val *input_of(struct node *n, size_t k) { return k < n->input_count ? n->inputs[k] : NULL; }

struct val *tensor_of(struct node *n, size_t k)
{
    struct val *v = input_of(n, k);
    if (!v)
        return refuse_node(n->s, "missing input %zu", k), NULL;
    if (v->kind == ONNX_TENSOR)
        return v;
    if (v->kind == ONNX_OPTIONAL && !v->open) { /* use its element */
        struct val *element = arena_copy(n->s->imp->arena, v, sizeof *v);
        element->kind = ONNX_TENSOR;
        return element;
    }
    refuse_node(n->s, "input %zu is %s, expected a tensor", k, type_text(n->s->imp, v));
    return NULL;
}

struct val *shape_input(struct node *n, size_t k)
{
    struct val *v = tensor_of(n, k);
    if (!v || (v->a.rank == 1 && !v->a.dynamic[0] && v->a.dims[0] <= ONNX_MAX_RANK &&
               v->a.elem == ELEM_S64))
        return v;
    refuse_node(n->s, "shape is %s, expected int64[n] with static n of at most %d",
                type_text(n->s->imp, v), ONNX_MAX_RANK);
    return NULL;
}

bool set_val(struct node *n, size_t k, struct val v)
{
    if (k < n->onnx->output_count)
        n->outputs[k] = v;
    return true;
}

bool set_tensor(struct node *n, const struct array *a, hlo_inst *x)
{
    return set_val(n, 0, tensor_val(a, x));
}

bool set_known(struct node *n, hlo_literal *l, int elem)
{
    if (!l)
        return false;
    struct hlo_array x = hlo_literal_leaf(l, 0);
    struct array a = array_of(elem, (int)x.rank, x.dims);
    struct val v = tensor_val(&a, NULL);
    v.known = l;
    return set_val(n, 0, v);
}

bool axis_of(struct node *n, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return refuse_node(n->s, "axis %" PRId64 " is out of range for rank %d", axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

/* The list of an attribute; a single number is a list of one. */
static bool list_of_attr(struct node *n, const char *name, struct int_list *out)
{
    const struct onnx_attr *a = name ? attr_find(n, name) : NULL;
    if (!a)
        return true;
    if (a->kind == ONNX_ATTR_INTS)
        *out = (struct int_list){a->ints, a->count, true};
    else if (a->kind == ONNX_ATTR_INT)
        *out = (struct int_list){&a->i, 1, true};
    else
        return refuse_node(n->s, "attribute '%s' is not a list of integers", name);
    return true;
}

bool known_list(struct node *n, size_t input, const char *attr, struct int_list *out)
{
    *out = (struct int_list){0};
    if (!input_of(n, input))
        return list_of_attr(n, attr, out);
    struct val *v = tensor_of(n, input);
    if (!v)
        return false;
    n->s->imp->needs_values |= !v->known;
    if (!v->known || !elem_is_int(v->a.elem))
        return refuse_node(
            n->s, "input %zu must be a constant, but it is computed from inputs of the model",
            input);
    size_t count = known_count(v);
    int64_t *at = ARENA_ARRAY(n->s->imp->arena, int64_t, count + 1);
    for (size_t k = 0; k < count; k++)
        at[k] = known_int(v, k);
    *out = (struct int_list){at, count, true};
    return true;
}
