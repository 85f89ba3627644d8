/*
 * Traversal of a graph: names and scopes, nodes and their rows in op.def; inputs and outputs of the
 * model.
 */
#include "onnx/import_priv.h"

#include <stdlib.h>

/* ---- operators ---- */

static const struct op_row rows[] = {
#define OP(name, since, min, max, folds, translate, arg)                                           \
    {name, since, min, max, folds, translate, arg},
#include "onnx/op.def"
};

static int row_cmp(struct str name, size_t i) { return str_cmp(name, str_of(rows[i].name)); }

/* The newest row of the operator in the opset, or NULL. `first`: its oldest row; NULL if the
 * operator is unknown. */
static const struct op_row *find_row(struct str name, int64_t opset, const struct op_row **first)
{
    size_t low = 0;
    BISECT(low, COUNT_OF(rows), middle, row_cmp(name, middle) > 0);
    const struct op_row *found = NULL;
    *first = low < COUNT_OF(rows) && row_cmp(name, low) == 0 ? &rows[low] : NULL;
    for (size_t i = low; i < COUNT_OF(rows) && row_cmp(name, i) == 0 && rows[i].since <= opset; i++)
        found = &rows[i];
    return found;
}

/* ---- messages ---- */

bool refuse_node(struct scope *s, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    struct str text = arena_vprintf(s->imp->arena, format, ap);
    va_end(ap);
    const struct onnx_node *n = s->node;
    const char *path = s->imp->model->path.ptr ? s->imp->model->path.ptr : "model";
    if (!n)
        return onnx_error(s->m, path, STR_FMT, STR_ARG(text));
    struct str name = n->name.len > 0 ? n->name : n->output_count > 0 ? n->outputs[0] : STR("");
    return onnx_error(s->m, path, STR_FMT " '" STR_FMT "': " STR_FMT, STR_ARG(n->op), STR_ARG(name),
                      STR_ARG(text));
}

/* ---- scopes ---- */

void begin_scope(struct scope *s, struct scope *outer)
{
    *s = (struct scope){.imp = outer->imp,
                        .m = outer->m,
                        .b = outer->b,
                        .c = outer->c,
                        .outer = outer,
                        .names = outer->names,
                        .constants = outer->constants,
                        .types_only = outer->types_only};
    map_init(&s->vals, s->imp->arena);
}

void bind_val(struct scope *s, struct str name, struct val v)
{
    if (name.len > 0)
        map_put(&s->vals, name, arena_copy(s->imp->arena, &v, sizeof v));
}

/* Looks up a value by its name. Instructions of an outer computation cannot be used here, but known
 * elements can be emitted again. */
struct val *find_val(struct scope *s, struct str name)
{
    for (struct scope *at = s; at; at = at->outer) {
        struct val *v = map_get(&at->vals, name);
        if (!v)
            continue;
        if (at->c == s->c)
            return v;
        struct val again = *v;
        again.data = again.sizes = again.there = NULL;
        bind_val(s, name, again);
        return map_get(&s->vals, name);
    }
    return NULL;
}

/* ---- nodes ---- */

static size_t input_count(const struct onnx_node *node)
{
    size_t n = node->input_count;
    while (n > 0 && node->inputs[n - 1].len == 0)
        n--;
    return n;
}

static bool check_inputs(struct scope *s, const struct onnx_node *node, const struct op_row *row)
{
    size_t given = input_count(node),
           max = row->max_inputs < 0 ? SIZE_MAX : (size_t)row->max_inputs;
    if (given > max)
        return refuse_node(s, "%zu inputs, expected at most %d", given, row->max_inputs);
    if (node->input_count < (size_t)row->min_inputs)
        return refuse_node(s, "%zu inputs, expected at least %d", node->input_count,
                           row->min_inputs);
    return true;
}

bool translate_by(struct scope *s, const struct onnx_node *node, const struct op_row *row,
                  struct val *outputs)
{
    size_t count = input_count(node), errors = hlo_messages_errors(s->m);
    struct node n = {s,      node,
                     row,    s->imp->model->opset,
                     count,  ARENA_ARRAY(s->imp->arena, struct val *, count + 1),
                     outputs};
    for (size_t k = 0; k < count; k++)
        if (node->inputs[k].len > 0 && !(n.inputs[k] = find_val(s, node->inputs[k])))
            return refuse_node(s, "undefined input '" STR_FMT "'", STR_ARG(node->inputs[k]));
    if (!row->translate(&n))
        return hlo_messages_errors(s->m) > errors ? false : refuse_node(s, "cannot be translated");
    if (hlo_messages_errors(s->m) > errors)
        return refuse_node(s, "translated instructions were rejected");
    return true;
}

static bool translate_node(struct scope *s, const struct onnx_node *node)
{
    const struct op_row *first, *row = find_row(node->op, s->imp->model->opset, &first);
    bool ours = node->domain.len == 0 || str_is(node->domain, "ai.onnx");
    s->node = node;
    if (s->imp->nodes-- <= 0)
        return refuse_node(s, "type inference of nested loops did not converge");
    if (!ours || !first)
        return refuse_node(s, "unknown operator in domain '" STR_FMT "'",
                           STR_ARG(node->domain.len > 0 ? node->domain : STR("ai.onnx")));
    if (!row)
        return refuse_node(s, "supported from opset %" PRId64 "; the model has opset %" PRId64,
                           first->since, s->imp->model->opset);
    struct val *outputs = ARENA_ARRAY(s->imp->arena, struct val, node->output_count + 1);
    if (!check_inputs(s, node, row) ||
        (!fold_node(s, node, row, outputs) && !translate_by(s, node, row, outputs)))
        return false;
    for (size_t k = 0; k < node->output_count; k++)
        if (node->outputs[k].len > 0 && outputs[k].kind == ONNX_UNKNOWN)
            return refuse_node(s, "no output %zu", k);
        else
            bind_val(s, node->outputs[k], outputs[k]);
    return true;
}

/* ---- graphs ---- */

static bool bind_initializers(struct scope *s, const struct onnx_graph *g)
{
    for (size_t k = 0; k < g->initializer_count; k++) {
        const struct onnx_initializer *i = &g->initializers[k];
        if (i->value.kind != ONNX_TENSOR || !i->value.tensor)
            return refuse_node(s, "initializer '" STR_FMT "' is a tensor without HLO equivalent",
                               STR_ARG(i->name));
        struct hlo_array x = hlo_literal_leaf(i->value.tensor, 0);
        if (x.rank > ONNX_MAX_RANK)
            return refuse_node(s, "initializer '" STR_FMT "' has rank %zu, limit is %d",
                               STR_ARG(i->name), x.rank, ONNX_MAX_RANK);
        struct array a = array_of(onnx_dtype_find(x.dtype), (int)x.rank, x.dims);
        struct val v = tensor_val(&a, NULL);
        v.known = i->value.tensor;
        bind_val(s, i->name, v);
    }
    return true;
}

bool translate_graph(struct scope *s, const struct onnx_graph *g, struct val *outputs)
{
    const struct onnx_node *outer = s->node;
    bool ok = bind_initializers(s, g);
    for (size_t k = 0; ok && k < g->node_count; k++)
        ok = translate_node(s, &g->nodes[k]);
    s->node = outer;
    for (size_t k = 0; ok && k < g->output_count; k++) {
        struct val *v = find_val(s, g->outputs[k].name);
        if (!v)
            return refuse_node(s, "undefined output '" STR_FMT "' of graph '" STR_FMT "'",
                               STR_ARG(g->outputs[k].name), STR_ARG(g->name));
        outputs[k] = *v;
    }
    return ok;
}

/* ---- inputs of the model ---- */

/* The declared dimensions; unknown ones get the bound of the import. */
static void declared_dims(const struct scope *s, const struct onnx_type *type, struct array *a)
{
    a->rank = type->rank;
    for (int d = 0; d < type->rank; d++) {
        a->dynamic[d] = type->dims[d] < 0;
        a->dims[d] = a->dynamic[d] ? s->imp->bound : type->dims[d];
    }
}

static bool take_array(struct scope *s, const struct onnx_value_info *info, const hlo_literal *l,
                       struct array *a)
{
    struct hlo_array x = hlo_literal_leaf(l, 0);
    if (x.rank > ONNX_MAX_RANK)
        return refuse_node(s, "input '" STR_FMT "' has rank %zu, limit is %d", STR_ARG(info->name),
                           x.rank, ONNX_MAX_RANK);
    *a = array_of(onnx_dtype_find(x.dtype), (int)x.rank, x.dims);
    return true;
}

static bool type_from_value(struct scope *s, const struct onnx_value_info *info,
                            const struct onnx_value *value, struct val *v)
{
    if (value->kind != ONNX_SEQUENCE && value->kind != ONNX_OPTIONAL_SEQUENCE)
        return take_array(s, info, value->tensor, &v->a);
    for (size_t k = 0; k < value->count; k++) {
        struct val element = {.kind = ONNX_SEQUENCE}, sum = *v;
        if (!take_array(s, info, value->elements[k].tensor, &element.a))
            return false;
        if (v->open)
            sum = element;
        else if (!join_types(v, &element, &sum))
            return refuse_node(s, "input '" STR_FMT "': elements of different types",
                               STR_ARG(info->name));
        v->a = sum.a;
        v->mixed = sum.mixed;
        v->open = false;
    }
    v->length = value->count > 0 ? (int64_t)value->count : 1;
    return true;
}

static bool type_from_declaration(struct scope *s, const struct onnx_value_info *info,
                                  struct val *v)
{
    if (info->type.rank < 0 && v->kind != ONNX_OPTIONAL && v->kind != ONNX_OPTIONAL_SEQUENCE)
        return refuse_node(s,
                           "model does not declare the shape of input '" STR_FMT
                           "'; pass the inputs as arguments",
                           STR_ARG(info->name));
    if (info->type.rank > ONNX_MAX_RANK)
        return refuse_node(s, "input '" STR_FMT "' has rank %d, limit is %d", STR_ARG(info->name),
                           info->type.rank, ONNX_MAX_RANK);
    v->open = info->type.rank < 0;
    if (!v->open)
        declared_dims(s, &info->type, &v->a);
    v->length = s->imp->bound;
    return true;
}

static bool type_of_input(struct scope *s, const struct onnx_value_info *info,
                          const struct onnx_value *value, struct val *v)
{
    bool given = value && value->kind != ONNX_UNKNOWN;
    *v = (struct val){.kind = info->type.kind, .open = true, .length = 1};
    if (given && !onnx_value_fits(value, &info->type, s->imp->model->path.ptr, info->name, s->m))
        return false;
    if (v->kind == ONNX_UNKNOWN && given)
        v->kind = value->kind;
    if (v->kind == ONNX_UNKNOWN)
        return refuse_node(s, "model does not declare the type of input '" STR_FMT "'",
                           STR_ARG(info->name));
    v->a.elem = info->type.elem ? info->type.elem : given ? value->elem : 0;
    if (!given || (is_optional(v) && !value->present))
        return type_from_declaration(s, info, v);
    if (!is_sequence(v)) {
        v->open = false;
        return take_array(s, info, value->tensor, &v->a);
    }
    return type_from_value(s, info, value, v);
}

static bool is_initializer(const struct onnx_graph *g, struct str name)
{
    for (size_t k = 0; k < g->initializer_count; k++)
        if (str_eq(g->initializers[k].name, name))
            return true;
    return false;
}

static bool bind_inputs(struct scope *s, const struct onnx_graph *g,
                        const struct onnx_value *values)
{
    size_t number = 0;
    for (size_t k = 0; k < g->input_count; k++) {
        const struct onnx_value_info *info = &g->inputs[k];
        struct val type;
        if (is_initializer(g, info->name))
            continue;
        if (!type_of_input(s, info, values ? &values[number] : NULL, &type))
            return false;
        if (!onnx_dtype_hlo(type.a.elem))
            return refuse_node(
                s, "input '" STR_FMT "' has element type %s, which has no HLO equivalent",
                STR_ARG(info->name), onnx_dtype_name(type.a.elem));
        SCOPED_BUF shape = {0};
        put_type(&shape, &type);
        hlo_inst *p = emit_parameter(s, number++, shape.data, info->name);
        struct val v = val_unpack(s, &type, p);
        if (s->imp->specialize && v.kind == ONNX_TENSOR && elem_is_int(v.a.elem) &&
            array_elements(&v.a) <= ONNX_SMALL)
            v.known = values[number - 1].tensor;
        bind_val(s, info->name, v);
    }
    return true;
}

/* ---- the module ---- */

/* The number of nodes of a graph and its subgraphs. */
static int64_t count_nodes(const struct onnx_graph *g, int depth)
{
    int64_t count = (int64_t)g->node_count;
    for (size_t k = 0; k < g->node_count && depth < ONNX_MAX_NESTING; k++)
        for (size_t j = 0; j < g->nodes[k].attr_count; j++)
            if (g->nodes[k].attrs[j].kind == ONNX_ATTR_GRAPH && g->nodes[k].attrs[j].graph)
                count += count_nodes(g->nodes[k].attrs[j].graph, depth + 1);
    return count;
}

/* Limit on the number of node translations, which exceeds that of nodes, since bodies of loops are
 * translated repeatedly until their types are known. */
static int64_t node_budget(const struct onnx_model *model)
{
    return 10000 + 20 * count_nodes(&model->graph, 0);
}

/* An output of the model is an optional exactly if it is declared as one, independently of the node
 * that computes it. */
static hlo_inst *output_of(struct scope *s, const struct onnx_value_info *info, struct val *v)
{
    struct val type = *v;
    if (info->type.kind == ONNX_SEQUENCE || info->type.kind == ONNX_TENSOR)
        type.kind = is_sequence(v) ? ONNX_SEQUENCE : ONNX_TENSOR;
    if (info->type.kind == ONNX_OPTIONAL || info->type.kind == ONNX_OPTIONAL_SEQUENCE)
        type.kind = is_sequence(v) ? ONNX_OPTIONAL_SEQUENCE : ONNX_OPTIONAL;
    if (type.kind != v->kind)
        *v = val_coerce(s, v, &type);
    return val_pack(s, v);
}

static hlo_inst *translate_model(struct scope *s, const struct onnx_value *inputs)
{
    const struct onnx_graph *g = &s->imp->model->graph;
    struct val *outputs = ARENA_ARRAY(s->imp->arena, struct val, g->output_count + 1);
    hlo_inst **all = ARENA_ARRAY(s->imp->arena, hlo_inst *, g->output_count + 1);
    if (!bind_inputs(s, g, inputs) || !translate_graph(s, g, outputs))
        return NULL;
    for (size_t k = 0; k < g->output_count; k++)
        all[k] = output_of(s, &g->outputs[k], &outputs[k]);
    return hlo_tuple(s->c, all, g->output_count);
}

static hlo_module *import(const struct onnx_model *model, const struct onnx_import_options *o,
                          bool specialize, bool *needs_values, hlo_messages *m)
{
    struct arena arena;
    arena_init(&arena);
    struct import imp = {.model = model,
                         .bound = o->bound > 0 ? o->bound : 1,
                         .specialize = specialize,
                         .arena = &arena,
                         .nodes = node_budget(model)};
    struct map names, constants;
    struct scope s = {.imp = &imp, .m = m, .names = &names, .constants = &constants};
    struct str name =
        model->graph.name.len > 0 ? legal_name(&imp, model->graph.name) : STR("model");
    s.b = hlo_builder_new(name.ptr, m);
    s.c = hlo_computation_new(s.b, "main");
    map_init(&names, &arena);
    map_init(&constants, &arena);
    map_init(&s.vals, &arena);
    hlo_inst *root = translate_model(&s, o->inputs);
    hlo_module *module = NULL;
    if (root && hlo_computation_finish(s.c, root))
        module = hlo_builder_finish(s.b, s.c);
    else
        hlo_builder_free(s.b);
    *needs_values = imp.needs_values;
    free_literals(&imp);
    arena_free(&arena);
    return module;
}

/* Shapes, axes and the like may come from an input. The module is then specialized to the integers
 * that were given. */
hlo_module *onnx_import(const struct onnx_model *model, const struct onnx_import_options *o,
                        hlo_messages *m)
{
    bool needs_values = false;
    if (!o->inputs)
        return import(model, o, false, &needs_values, m);
    hlo_messages *first = hlo_messages_new();
    hlo_module *module = import(model, o, false, &needs_values, first);
    hlo_messages_free(first);
    if (module && !needs_values)
        return module;
    hlo_module_free(module);
    return import(model, o, needs_values, &needs_values, m);
}
