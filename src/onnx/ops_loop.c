/*
 * Operators that iterate over a subgraph: SequenceMap, Scan. They are rewritten to graphs with a
 * Loop, which are translated.
 */
#include "onnx/import_priv.h"

/* ---- generated nodes ---- */

/* A name that cannot occur in the model: the node's first output with a control character. */
static struct str made_name(struct node *n, const char *what, size_t k)
{
    return arena_printf(n->s->imp->arena, "%s%zu\001" STR_FMT, what, k,
                        STR_ARG(n->onnx->output_count > 0 ? n->onnx->outputs[0] : STR("")));
}

static struct onnx_node make_node(struct node *n, const char *op, size_t inputs, size_t outputs)
{
    struct arena *a = n->s->imp->arena;
    return (struct onnx_node){.name = n->onnx->name,
                              .op = str_of(op),
                              .input_count = inputs,
                              .output_count = outputs,
                              .inputs = ARENA_ARRAY(a, struct str, inputs + 1),
                              .outputs = ARENA_ARRAY(a, struct str, outputs + 1)};
}

static struct onnx_attr *one_attr(struct node *n, struct onnx_node *node, const char *name)
{
    node->attr_count = 1;
    node->attrs = ARENA_NEW(n->s->imp->arena, struct onnx_attr);
    node->attrs->name = str_of(name);
    return node->attrs;
}

static void put_int(struct node *n, struct onnx_node *node, const char *name, int64_t value)
{
    struct onnx_attr *a = one_attr(n, node, name);
    a->kind = ONNX_ATTR_INT;
    a->i = value;
}

static void put_graph(struct node *n, struct onnx_node *node, struct onnx_graph *g)
{
    struct onnx_attr *a = one_attr(n, node, "body");
    a->kind = ONNX_ATTR_GRAPH;
    a->graph = g;
}

/* Translates the graph in place of the node. */
static bool translate_instead(struct node *n, const struct onnx_graph *g, struct val *outputs)
{
    struct scope inner;
    begin_scope(&inner, n->s);
    return translate_graph(&inner, g, outputs);
}

/* A body with the nodes of g and `nodes` others, to be set, as a Loop calls it. */
static struct onnx_graph *loop_body(struct node *n, const struct onnx_graph *g, size_t states,
                                    size_t outputs, size_t nodes)
{
    struct arena *a = n->s->imp->arena;
    struct onnx_graph *body = ARENA_NEW(a, struct onnx_graph);
    *body = *g;
    body->input_count = 2 + states;
    body->output_count = 1 + outputs;
    body->node_count = nodes + g->node_count;
    body->inputs = ARENA_ARRAY(a, struct onnx_value_info, body->input_count);
    body->outputs = ARENA_ARRAY(a, struct onnx_value_info, body->output_count);
    body->nodes = ARENA_ARRAY(a, struct onnx_node, body->node_count);
    body->inputs[0].name = made_name(n, "i", 0);
    body->inputs[1].name = body->outputs[0].name = made_name(n, "go", 0);
    return body;
}

/* ---- SequenceMap ---- */

/* The body of the loop: selects elements of the sequences, contains the nodes of the graph, and
 * appends its outputs to sequences. */
static struct onnx_graph *map_body(struct node *n, const struct onnx_graph *g)
{
    size_t results = g->output_count, at = 0;
    struct onnx_graph *body = loop_body(n, g, results, results, g->input_count + results);
    for (size_t k = 0; k < g->input_count; k++) {
        bool sequence = is_sequence(n->inputs[k]);
        struct onnx_node *read = &body->nodes[at++];
        *read = make_node(n, sequence ? "SequenceAt" : "Identity", sequence ? 2 : 1, 1);
        read->inputs[0] = n->onnx->inputs[k];
        read->inputs[1] = body->inputs[0].name;
        read->outputs[0] = g->inputs[k].name;
    }
    for (size_t k = 0; k < g->node_count; k++)
        body->nodes[at++] = g->nodes[k];
    for (size_t k = 0; k < results; k++) {
        struct onnx_node *put = &body->nodes[at++];
        *put = make_node(n, "SequenceInsert", 2, 1);
        put->inputs[0] = body->inputs[2 + k].name = made_name(n, "in", k);
        put->inputs[1] = g->outputs[k].name;
        put->outputs[0] = body->outputs[1 + k].name = made_name(n, "out", k);
    }
    return body;
}

/* A Loop over the length of the first sequence, as in ONNX's definition of the operator. */
static struct onnx_graph map_loop(struct node *n, const struct onnx_graph *g)
{
    struct arena *a = n->s->imp->arena;
    size_t results = g->output_count;
    struct onnx_graph all = {.node_count = results + 2, .output_count = results};
    all.nodes = ARENA_ARRAY(a, struct onnx_node, all.node_count);
    all.outputs = ARENA_ARRAY(a, struct onnx_value_info, results + 1);
    struct onnx_node *length = &all.nodes[0], *loop = &all.nodes[results + 1];
    *length = make_node(n, "SequenceLength", 1, 1);
    *loop = make_node(n, "Loop", 2 + results, results);
    length->inputs[0] = n->onnx->inputs[0];
    loop->inputs[0] = length->outputs[0] = made_name(n, "length", 0);
    for (size_t k = 0; k < results; k++) {
        struct onnx_node *empty = &all.nodes[1 + k];
        *empty = make_node(n, "SequenceEmpty", 0, 1);
        put_int(n, empty, "dtype", g->outputs[k].type.elem);
        loop->inputs[2 + k] = empty->outputs[0] = made_name(n, "empty", k);
        all.outputs[k].name = loop->outputs[k] = made_name(n, "mapped", k);
    }
    put_graph(n, loop, map_body(n, g));
    return all;
}

bool op_sequence_map(struct node *n)
{
    const struct onnx_graph *g = sequence_input(n, 0) ? graph_attr(n, "body") : NULL;
    if (!g)
        return false;
    if (g->input_count != n->input_count || g->output_count != n->onnx->output_count)
        return refuse_node(n->s, "%zu inputs and %zu outputs, but the body has %zu and %zu",
                           n->input_count, n->onnx->output_count, g->input_count, g->output_count);
    for (size_t k = 0; k < n->input_count; k++)
        if (!n->inputs[k])
            return refuse_node(n->s, "missing input %zu", k);
    struct onnx_graph all = map_loop(n, g);
    struct val *outputs = ARENA_ARRAY(n->s->imp->arena, struct val, g->output_count + 1);
    bool ok = translate_instead(n, &all, outputs);
    for (size_t k = 0; ok && k < g->output_count; k++)
        set_val(n, k, outputs[k]);
    return ok;
}

/* ---- Scan ---- */

struct scan {
    const struct onnx_graph *body;
    size_t states, inputs,
        outputs; /* numbers of carried values, scanned inputs and stacked outputs */
    struct int_list axes, directions, output_axes, output_directions;
};

static int64_t listed(const struct int_list *l, size_t k) { return l->given ? l->at[k] : 0; }

static bool read_scan(struct node *n, struct scan *out)
{
    const struct onnx_graph *g = graph_attr(n, "body");
    int64_t inputs = attr_int(n, "num_scan_inputs", 0);
    if (!g)
        return false;
    if (inputs < 1 || (uint64_t)inputs > n->input_count || g->input_count != n->input_count ||
        g->output_count != n->onnx->output_count ||
        g->output_count < n->input_count - (size_t)inputs)
        return refuse_node(n->s,
                           "%zu inputs, %" PRId64
                           " of them scanned, and %zu outputs, but the body has %zu and %zu",
                           n->input_count, inputs, n->onnx->output_count, g->input_count,
                           g->output_count);
    *out = (struct scan){
        .body = g, .states = n->input_count - (size_t)inputs, .inputs = (size_t)inputs};
    out->outputs = g->output_count - out->states;
    if (!known_list(n, SIZE_MAX, "scan_input_axes", &out->axes) ||
        !known_list(n, SIZE_MAX, "scan_input_directions", &out->directions) ||
        !known_list(n, SIZE_MAX, "scan_output_axes", &out->output_axes) ||
        !known_list(n, SIZE_MAX, "scan_output_directions", &out->output_directions))
        return false;
    bool fits = (!out->axes.given || out->axes.count == out->inputs) &&
                (!out->directions.given || out->directions.count == out->inputs) &&
                (!out->output_axes.given || out->output_axes.count == out->outputs) &&
                (!out->output_directions.given || out->output_directions.count == out->outputs);
    for (size_t k = 0; k < n->input_count; k++)
        fits = fits && n->inputs[k];
    return fits ||
           refuse_node(n->s,
                       "expected an axis and a direction for each of %zu inputs and %zu outputs",
                       out->inputs, out->outputs);
}

/* The body of the loop: slices the scanned inputs, and contains the nodes of the graph. */
static struct onnx_graph *scan_body(struct node *n, const struct scan *c)
{
    const struct onnx_graph *g = c->body;
    size_t at = 0;
    struct onnx_graph *body = loop_body(n, g, c->states, g->output_count, 1 + c->inputs);
    for (size_t k = 0; k < c->states; k++)
        body->inputs[2 + k].name = g->inputs[k].name;
    for (size_t k = 0; k < g->output_count; k++)
        body->outputs[1 + k].name = g->outputs[k].name;
    struct onnx_node *back = &body->nodes[at++]; /* the position counted from the end */
    *back = make_node(n, "Sub", 2, 1);
    back->inputs[0] = made_name(n, "last", 0);
    back->inputs[1] = body->inputs[0].name;
    back->outputs[0] = made_name(n, "back", 0);
    for (size_t k = 0; k < c->inputs; k++) {
        struct onnx_node *read = &body->nodes[at++];
        *read = make_node(n, "Gather", 2, 1);
        put_int(n, read, "axis", listed(&c->axes, k));
        read->inputs[0] = n->onnx->inputs[c->states + k];
        read->inputs[1] = listed(&c->directions, k) ? back->outputs[0] : body->inputs[0].name;
        read->outputs[0] = g->inputs[c->states + k].name;
    }
    for (size_t k = 0; k < g->node_count; k++)
        body->nodes[at++] = g->nodes[k];
    return body;
}

/* A Loop whose trip count is the size of the first scanned input along its axis. */
static struct onnx_graph scan_loop(struct node *n, const struct scan *c)
{
    struct arena *a = n->s->imp->arena;
    struct onnx_graph all = {.node_count = 6, .output_count = c->states + c->outputs};
    all.nodes = ARENA_ARRAY(a, struct onnx_node, all.node_count);
    all.outputs = ARENA_ARRAY(a, struct onnx_value_info, all.output_count + 1);
    struct onnx_node *shape = &all.nodes[0], *axis = &all.nodes[1], *length = &all.nodes[2],
                     *one = &all.nodes[3];
    struct onnx_node *last = &all.nodes[4], *loop = &all.nodes[5];
    *shape = make_node(n, "Shape", 1, 1);
    shape->inputs[0] = n->onnx->inputs[c->states];
    *axis = make_node(n, "Constant", 0, 1);
    put_int(n, axis, "value_int", listed(&c->axes, 0));
    *length = make_node(n, "Gather", 2, 1);
    length->inputs[0] = shape->outputs[0] = made_name(n, "shape", 0);
    length->inputs[1] = axis->outputs[0] = made_name(n, "axis", 0);
    *one = make_node(n, "Constant", 0, 1);
    put_int(n, one, "value_int", 1);
    *last = make_node(n, "Sub", 2, 1);
    last->inputs[0] = length->outputs[0] = made_name(n, "length", 0);
    last->inputs[1] = one->outputs[0] = made_name(n, "one", 0);
    last->outputs[0] = made_name(n, "last", 0);
    *loop = make_node(n, "Loop", 2 + c->states, all.output_count);
    loop->inputs[0] = length->outputs[0];
    for (size_t k = 0; k < c->states; k++)
        loop->inputs[2 + k] = n->onnx->inputs[k];
    for (size_t k = 0; k < all.output_count; k++)
        all.outputs[k].name = loop->outputs[k] = made_name(n, "scanned", k);
    put_graph(n, loop, scan_body(n, c));
    return all;
}

/* Loop stacks slices along the first dimension in the order of iterations. This reverses and
 * transposes them as the node specifies. */
static bool set_stacked(struct node *n, const struct scan *c, size_t k, const struct val *v)
{
    struct array a = v->a;
    hlo_inst *x = v->data;
    int axis;
    if (!axis_of(n, listed(&c->output_axes, k), a.rank, &axis))
        return false;
    if (listed(&c->output_directions, k))
        x = emit_op(n->s, &a, "reverse", &x, 1, "dimensions={0}");
    x = move_dimension(n->s, x, &a, 0, axis);
    return set_val(n, c->states + k, tensor_val(&a, x));
}

bool op_scan(struct node *n)
{
    struct scan c;
    if (!read_scan(n, &c))
        return false;
    struct onnx_graph all = scan_loop(n, &c);
    struct val *outputs = ARENA_ARRAY(n->s->imp->arena, struct val, all.output_count + 1);
    if (!translate_instead(n, &all, outputs))
        return false;
    for (size_t k = 0; k < c.states; k++)
        set_val(n, k, outputs[k]);
    for (size_t k = 0; k < c.outputs; k++)
        if (!set_stacked(n, &c, k, &outputs[c.states + k]))
            return false;
    return true;
}
