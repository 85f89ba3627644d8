/*
 * The operators If and Loop: subgraphs become computations. Values that they use from enclosing
 * graphs are determined first and passed as operands. Types that change between iterations of a
 * loop are widened until they hold the values of all iterations.
 */
#include "onnx/import_priv.h"

/* ---- captures: names that a graph uses from enclosing graphs ---- */

/* Names defined by a graph of the node, and by the graphs around it within the node. */
struct known_names {
    struct map map;
    const struct known_names *outer;
};

struct captures {
    struct str *names;
    size_t count, capacity;
};

static bool is_known(const struct known_names *k, struct str name)
{
    for (; k; k = k->outer)
        if (map_get(&k->map, name))
            return true;
    return false;
}

static void capture(struct scope *s, struct captures *c, const struct known_names *k,
                    struct str name)
{
    if (name.len == 0 || is_known(k, name))
        return;
    for (size_t i = 0; i < c->count; i++)
        if (str_eq(c->names[i], name))
            return;
    VEC_PUSH(s->imp->arena, c->names, c->count, c->capacity) = name;
}

static void know(struct known_names *k, struct str name)
{
    static const char yes = 1;
    map_put(&k->map, name, (void *)(uintptr_t)&yes);
}

static bool collect(struct scope *s, struct captures *c, const struct known_names *outer,
                    const struct onnx_graph *g, int depth)
{
    struct known_names k = {.outer = outer};
    bool ok = depth < ONNX_MAX_NESTING ||
              refuse_node(s, "graphs are nested more than %d deep", ONNX_MAX_NESTING);
    map_init(&k.map, s->imp->arena);
    for (size_t i = 0; i < g->input_count; i++)
        know(&k, g->inputs[i].name);
    for (size_t i = 0; i < g->initializer_count; i++)
        know(&k, g->initializers[i].name);
    for (size_t i = 0; ok && i < g->node_count; i++) {
        const struct onnx_node *n = &g->nodes[i];
        for (size_t j = 0; j < n->input_count; j++)
            capture(s, c, &k, n->inputs[j]);
        for (size_t j = 0; ok && j < n->attr_count; j++)
            if (n->attrs[j].kind == ONNX_ATTR_GRAPH && n->attrs[j].graph)
                ok = collect(s, c, &k, n->attrs[j].graph, depth + 1);
        for (size_t j = 0; j < n->output_count; j++)
            know(&k, n->outputs[j]);
    }
    for (size_t i = 0; i < g->output_count; i++)
        capture(s, c, &k, g->outputs[i].name);
    return ok;
}

/* Drops captures that are undefined, which are reported for the nodes that use them, and those with
 * known elements, which are emitted again as constants. */
static void keep_captured(struct scope *s, struct captures *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct val *v = find_val(s, c->names[i]);
        if (v && !(v->known && known_count(v) <= ONNX_SMALL))
            c->names[kept++] = c->names[i];
    }
    c->count = kept;
}

/* Translates a node with subgraphs, which may contain such nodes in turn; limits the depth. */
static bool deeper(struct node *n, bool (*translate)(struct node *))
{
    struct import *imp = n->s->imp;
    if (imp->depth >= ONNX_MAX_NESTING)
        return refuse_node(n->s, "graphs are nested more than %d deep", ONNX_MAX_NESTING);
    imp->depth++;
    bool ok = translate(n);
    imp->depth--;
    return ok;
}

/* Opens a scope with a new computation of this builder. */
static void begin_computation(struct scope *inner, struct scope *outer, hlo_builder *b,
                              const char *name)
{
    begin_scope(inner, outer);
    inner->b = b;
    inner->c = hlo_computation_new(b, name);
    inner->names = ARENA_ARRAY(outer->imp->arena, struct map, 2);
    inner->constants = inner->names + 1;
    map_init(inner->names, outer->imp->arena);
    map_init(inner->constants, outer->imp->arena);
    inner->node = outer->node;
}

static const char *graph_name(struct scope *s, const struct onnx_graph *g, const char *otherwise)
{
    return g->name.len > 0 ? legal_name(s->imp, g->name).ptr : otherwise;
}

/* ---- If ---- */

static void put_tuple_type(struct buf *b, const struct val *types, size_t count)
{
    for (size_t k = 0; BUF_LIST(b, k, count, "()", ", "); k++)
        put_type(b, &types[k]);
}

/* A trip count or condition as a scalar. The input may be a vector of one element, possibly only
 * known to be one at run time. */
static hlo_inst *scalar_input(struct node *n, struct val *v, int elem, const char *what)
{
    struct array one = scalar_of(elem);
    bool fits = v->kind == ONNX_TENSOR && v->a.elem == elem &&
                (array_elements(&v->a) == 1 || (v->a.rank == 1 && v->a.dynamic[0]));
    if (!fits)
        return refuse_node(n->s, "%s is %s, expected a scalar of type %s", what,
                           type_text(n->s->imp, v), onnx_dtype_name(elem)),
               NULL;
    hlo_inst *x = data_of(n->s, v);
    return v->a.rank == 0 ? x : reshape_to(n->s, x, &v->a, &one, NULL);
}

/* Translates only the selected branch of an If with a known condition. */
static bool take_branch(struct node *n, const struct onnx_graph *g)
{
    struct scope inner;
    struct val *outputs = ARENA_ARRAY(n->s->imp->arena, struct val, g->output_count + 1);
    begin_scope(&inner, n->s);
    inner.node = n->onnx;
    bool ok = translate_graph(&inner, g, outputs);
    for (size_t k = 0; ok && k < g->output_count; k++)
        set_val(n, k, outputs[k]);
    return ok;
}

struct branch {
    const struct onnx_graph *graph;
    struct scope scope;
    struct val *outputs;
};

static bool translate_branch(struct node *n, struct branch *b, const char *name,
                             const struct val *types, const struct captures *c)
{
    struct scope *s = n->s;
    SCOPED_BUF shape = {0};
    begin_computation(&b->scope, s, s->b, name);
    put_tuple_type(&shape, types, c->count);
    hlo_inst *p = emit_parameter(&b->scope, 0, shape.data, STR("outer"));
    for (size_t k = 0; k < c->count; k++) {
        bind_val(
            &b->scope, c->names[k],
            val_unpack(&b->scope, &types[k], hlo_get_tuple_element(b->scope.c, p, (int64_t)k)));
    }
    b->outputs = ARENA_ARRAY(s->imp->arena, struct val, b->graph->output_count + 1);
    return translate_graph(&b->scope, b->graph, b->outputs);
}

static bool finish_branch(struct branch *b, const struct val *types, size_t count)
{
    hlo_inst **all = ARENA_ARRAY(b->scope.imp->arena, hlo_inst *, count + 1);
    for (size_t k = 0; k < count; k++) {
        struct val v = val_coerce(&b->scope, &b->outputs[k], &types[k]);
        all[k] = val_pack(&b->scope, &v);
    }
    return hlo_computation_finish(b->scope.c, hlo_tuple(b->scope.c, all, count));
}

static bool choose(struct node *n, hlo_inst *condition, struct branch *branches,
                   const struct captures *c)
{
    struct scope *s = n->s;
    size_t count = branches[0].graph->output_count;
    struct val *types = ARENA_ARRAY(s->imp->arena, struct val, c->count + count + 1),
               *results = types + c->count;
    hlo_inst **outer = ARENA_ARRAY(s->imp->arena, hlo_inst *, c->count + 1);
    for (size_t k = 0; k < c->count; k++) {
        types[k] = *find_val(s, c->names[k]);
        outer[k] = val_pack(s, find_val(s, c->names[k]));
    }
    if (!translate_branch(n, &branches[0], graph_name(s, branches[0].graph, "then"), types, c) ||
        !translate_branch(n, &branches[1], graph_name(s, branches[1].graph, "else"), types, c))
        return false;
    for (size_t k = 0; k < count; k++)
        if (!join_types(&branches[0].outputs[k], &branches[1].outputs[k], &results[k]))
            return refuse_node(s, "output %zu is %s in one branch and %s in the other", k,
                               type_text(s->imp, &branches[0].outputs[k]),
                               type_text(s->imp, &branches[1].outputs[k]));
    if (!finish_branch(&branches[0], results, count) ||
        !finish_branch(&branches[1], results, count))
        return false;
    hlo_inst *arg = hlo_tuple(s->c, outer, c->count);
    SCOPED_BUF shape = {0};
    put_tuple_type(&shape, results, count);
    const char *called =
        arena_printf(s->imp->arena, "true_computation=%%%s, false_computation=%%%s",
                     hlo_computation_name(branches[0].scope.c),
                     hlo_computation_name(branches[1].scope.c))
            .ptr;
    hlo_inst *x =
        emit_typed(s, shape.data, "conditional", (hlo_inst *[]){condition, arg, arg}, 3, called);
    for (size_t k = 0; k < count; k++) {
        set_val(n, k, val_unpack(s, &results[k], hlo_get_tuple_element(s->c, x, (int64_t)k)));
    }
    return true;
}

static bool translate_if(struct node *n)
{
    struct branch branches[2] = {{graph_attr(n, "then_branch")}, {NULL}};
    branches[1].graph = branches[0].graph ? graph_attr(n, "else_branch") : NULL;
    struct val *v = branches[1].graph ? tensor_of(n, 0) : NULL;
    struct captures c = {0};
    if (!v)
        return false;
    if (branches[0].graph->output_count != branches[1].graph->output_count)
        return refuse_node(n->s, "branches have %zu and %zu outputs",
                           branches[0].graph->output_count, branches[1].graph->output_count);
    if (v->known && v->a.elem == ELEM_PRED && known_count(v) == 1)
        return take_branch(n, branches[known_int(v, 0) ? 0 : 1].graph);
    hlo_inst *condition = scalar_input(n, v, ELEM_PRED, "condition");
    if (!condition || !collect(n->s, &c, NULL, branches[0].graph, 0) ||
        !collect(n->s, &c, NULL, branches[1].graph, 0))
        return false;
    keep_captured(n->s, &c);
    return choose(n, condition, branches, &c);
}

bool op_if(struct node *n) { return deeper(n, translate_if); }

/* ---- Loop ---- */

struct loop {
    struct node *n;
    const struct onnx_graph *body;
    struct captures captured;
    size_t carried, scans;
    struct val *types; /* types of carried values, then of captured ones */
    struct val *scan_types;
};

/* Translates the body to a computation of this builder. `outputs`: all outputs of the graph;
 * returns the first, the condition, as a scalar. */
static hlo_inst *translate_body(struct loop *l, struct scope *inner, hlo_builder *b,
                                bool types_only, struct val *outputs)
{
    struct scope *s = l->n->s;
    const struct onnx_graph *g = l->body;
    size_t total = l->carried + l->captured.count;
    begin_computation(inner, s, b, graph_name(s, g, "body"));
    inner->types_only |= types_only;
    struct array i = scalar_of(ELEM_S64), p = scalar_of(ELEM_PRED);
    struct val index = tensor_val(&i, emit_parameter(inner, 0, "s64[]", g->inputs[0].name));
    struct val condition = tensor_val(&p, emit_parameter(inner, 1, "pred[]", g->inputs[1].name));
    for (size_t k = 0; k < total; k++) {
        struct str name =
            k < l->carried ? g->inputs[k + 2].name : l->captured.names[k - l->carried];
        SCOPED_BUF shape = {0};
        put_type(&shape, &l->types[k]);
        bind_val(inner, name,
                 val_unpack(inner, &l->types[k], emit_parameter(inner, k + 2, shape.data, name)));
    }
    bind_val(inner, g->inputs[0].name, index);
    bind_val(inner, g->inputs[1].name, condition);
    if (!translate_graph(inner, g, outputs))
        return NULL;
    struct node as_node = *l->n;
    as_node.s = inner;
    return scalar_input(&as_node, &outputs[0], ELEM_PRED, "condition");
}

/* Dimensions that are still growing get the bound of the import at once; larger sizes are an error
 * of the loop at run time. */
static void settle(const struct loop *l, const struct val *now, struct val *next, int round)
{
    int64_t bound = l->n->s->imp->bound;
    for (int d = 0; d < next->a.rank; d++) {
        int64_t was = d < now->a.rank ? now->a.dims[d] : 0;
        if (d >= now->a.rank || next->a.dims[d] == was || round == 0)
            continue;
        next->a.dims[d] = was >= bound ? was : next->a.dims[d] < bound ? bound : next->a.dims[d];
    }
    if (next->length != now->length && round > 0)
        next->length = now->length >= bound   ? now->length
                       : next->length < bound ? bound
                                              : next->length;
}

enum { MAX_ROUNDS = 12, NEWEST_LOOP = 25 };

/* Widens carried types to hold the results of the body. `changed`: another iteration is needed. */
static bool widen(struct loop *l, const struct val *outputs, int round, bool *changed)
{
    struct scope *s = l->n->s;
    *changed = false;
    for (size_t k = 0; k < l->carried; k++) {
        struct val next;
        if (!join_types(&l->types[k], &outputs[k + 1], &next))
            return refuse_node(s, "carried value %zu changes type from %s to %s", k,
                               type_text(s->imp, &l->types[k]), type_text(s->imp, &outputs[k + 1]));
        settle(l, &l->types[k], &next, round);
        *changed |= !same_type(&l->types[k], &next);
        l->types[k] = next;
    }
    for (size_t k = 0; k < l->scans; k++) {
        l->scan_types[k] = outputs[1 + l->carried + k];
        if (l->scan_types[k].kind != ONNX_TENSOR)
            return refuse_node(s, "scan output %zu is %s, expected a tensor", k,
                               type_text(s->imp, &l->scan_types[k]));
        if (l->scan_types[k].a.rank >= ONNX_MAX_RANK)
            return refuse_node(s, "more than %d dimensions", ONNX_MAX_RANK);
    }
    return !*changed || round < MAX_ROUNDS ||
           refuse_node(s, "type inference of carried values did not converge");
}

/* Translates the body into temporary modules until the types reach a fixed point. Loops nested in
 * it are left without bodies there, since each would be translated twice for every enclosing
 * loop. */
static bool find_types(struct loop *l)
{
    struct scope *s = l->n->s;
    bool changed = true;
    for (int round = 0; changed; round++) {
        struct scope inner;
        struct val *outputs = ARENA_ARRAY(s->imp->arena, struct val, l->body->output_count + 1);
        hlo_builder *b = hlo_builder_new("types", s->m);
        bool ok = translate_body(l, &inner, b, true, outputs) != NULL;
        hlo_builder_free(b);
        if (!ok || !widen(l, outputs, round, &changed))
            return false;
    }
    return true;
}

/* Translates the body to its final computation, which has the result that onnx.Loop requires.
 * Returns its name. */
static const char *make_body(struct loop *l)
{
    struct scope inner;
    size_t total = l->carried + l->captured.count;
    struct arena *arena = l->n->s->imp->arena;
    struct val *outputs = ARENA_ARRAY(arena, struct val, l->body->output_count + 1);
    hlo_inst **all = ARENA_ARRAY(arena, hlo_inst *, 1 + total + l->scans);
    all[0] = translate_body(l, &inner, l->n->s->b, false, outputs);
    if (!all[0])
        return NULL;
    for (size_t k = 0; k < l->carried; k++) {
        struct val type, v;
        /* Values beyond the bound are an error of the loop at run time. */
        join_types(&l->types[k], &outputs[k + 1], &type);
        v = val_coerce(&inner, &outputs[k + 1], &type);
        all[1 + k] = val_pack(&inner, &v);
    }
    for (size_t k = 0; k < l->captured.count; k++)
        all[1 + l->carried + k] = val_pack(&inner, find_val(&inner, l->captured.names[k]));
    for (size_t k = 0; k < l->scans; k++)
        all[1 + total + k] = data_of(&inner, &outputs[1 + l->carried + k]);
    if (!hlo_computation_finish(inner.c, hlo_tuple(inner.c, all, 1 + total + l->scans)))
        return NULL;
    return hlo_computation_name(inner.c);
}

/* A trip count or condition; `x` remains NULL if the input is absent. */
static bool control_input(struct node *n, size_t k, int elem, const char *what, hlo_inst **x)
{
    struct val *v = input_of(n, k);
    *x = v ? scalar_input(n, v, elem, what) : NULL;
    return !v || *x;
}

/* The type of stacked scan output k, whose first dimension is the trip count. A trip count that
 * exceeds any memory, as exporters write if only the condition ends the loop, counts as
 * unbounded. */
static struct val stacked(const struct loop *l, size_t k)
{
    const int64_t max = INT64_C(1) << 40; /* elements */
    struct val *m = input_of(l->n, 0), out = l->scan_types[k];
    const struct array *a = &l->scan_types[k].a;
    int64_t bound = m && m->known ? known_int(m, 0) : l->n->s->imp->bound;
    out.known = NULL;
    out.a.rank++;
    for (int d = a->rank; d > 0; d--) {
        out.a.dims[d] = a->dims[d - 1];
        out.a.dynamic[d] = a->dynamic[d - 1];
    }
    out.a.dims[0] = bound > 0 ? bound : 1;
    out.a.dynamic[0] = true;
    if (array_elements(&out.a) > max)
        out.a.dims[0] = l->n->s->imp->bound;
    return out;
}

/* The first version of Loop that supports carried values of this type. */
static int64_t carried_since(const struct val *v)
{
    return is_optional(v) ? 16 : is_sequence(v) ? 13 : v->a.elem >= ELEM_BF16 ? NEWEST_LOOP : 1;
}

/* Whether this version of Loop supports carried values of that kind. The verifier checks element
 * types. */
static bool check_carried(struct node *n, const struct val *v, size_t k)
{
    bool takes = v->kind == ONNX_TENSOR || n->row->since >= carried_since(v);
    return takes ||
           refuse_node(n->s, "carried value %zu is %s, not allowed in version %" PRId64 " of Loop",
                       k, type_text(n->s->imp, v), n->row->since);
}

static const char *loop_attributes(const struct loop *l, const char *body, bool m, bool condition)
{
    size_t total = l->carried + l->captured.count;
    int64_t version = l->n->row->since;
    for (size_t k = l->carried; k < total;
         k++) /* captured values are carried too, by a version that supports them */
        version = version < carried_since(&l->types[k]) ? carried_since(&l->types[k]) : version;
    const char *called =
        *body ? arena_printf(l->n->s->imp->arena, "called_computations={%%%s}, ", body).ptr : "";
    return arena_printf(l->n->s->imp->arena,
                        "custom_call_target=\"onnx.Loop\", %sbackend_config={\"version\": %" PRId64
                        ", \"inputs\": [%s%s%s]}",
                        called, version, m ? "\"M\"" : "", m && condition ? ", " : "",
                        condition ? "\"cond\"" : "")
        .ptr;
}

static bool call_loop(struct loop *l, hlo_inst *m, hlo_inst *condition)
{
    struct scope *s = l->n->s;
    struct arena *arena = s->imp->arena;
    size_t total = l->carried + l->captured.count, count = 0;
    hlo_inst **operands = ARENA_ARRAY(arena, hlo_inst *, 2 + total);
    struct val *results = ARENA_ARRAY(arena, struct val, total + l->scans + 1);
    const char *body = s->types_only ? "" : make_body(l);
    if (!body)
        return false;
    if (m)
        operands[count++] = m;
    if (condition)
        operands[count++] = condition;
    for (size_t k = 0; k < total; k++) {
        struct val *v =
            k < l->carried ? l->n->inputs[k + 2] : find_val(s, l->captured.names[k - l->carried]);
        struct val wide = val_coerce(s, v, &l->types[k]);
        operands[count++] = val_pack(s, &wide);
        results[k] = l->types[k];
    }
    for (size_t k = 0; k < l->scans; k++)
        results[total + k] = stacked(l, k);
    SCOPED_BUF shape = {0};
    put_tuple_type(&shape, results, total + l->scans);
    hlo_inst *x = emit_typed(s, shape.data, "custom-call", operands, count,
                             loop_attributes(l, body, m != NULL, condition != NULL));
    for (size_t k = 0; k < l->carried + l->scans; k++) {
        size_t at = k < l->carried ? k : k + l->captured.count;
        set_val(l->n, k, val_unpack(s, &results[at], hlo_get_tuple_element(s->c, x, (int64_t)at)));
    }
    return true;
}

static bool begin_loop(struct node *n, struct loop *l)
{
    struct scope *s = n->s;
    size_t carried = n->onnx->input_count > 2 ? n->onnx->input_count - 2 : 0;
    if (n->input_count < carried + 2)
        carried = n->input_count > 2 ? n->input_count - 2 : 0;
    if (!(l->body = graph_attr(n, "body")))
        return false;
    if (l->body->input_count != carried + 2 || l->body->output_count < carried + 1)
        return refuse_node(s, "%zu carried values, but the body has %zu inputs and %zu outputs",
                           carried, l->body->input_count, l->body->output_count);
    l->n = n;
    l->carried = carried;
    l->scans = l->body->output_count - 1 - carried;
    if (n->onnx->output_count > l->carried + l->scans)
        return refuse_node(s, "%zu outputs, but the body has %zu", n->onnx->output_count,
                           l->carried + l->scans);
    if (!collect(s, &l->captured, NULL, l->body, 0))
        return false;
    keep_captured(s, &l->captured);
    l->types = ARENA_ARRAY(s->imp->arena, struct val, carried + l->captured.count + 1);
    l->scan_types = ARENA_ARRAY(s->imp->arena, struct val, l->scans + 1);
    for (size_t k = 0; k < carried + l->captured.count; k++) {
        struct val *v =
            k < carried ? n->inputs[k + 2] : find_val(s, l->captured.names[k - carried]);
        if (!v)
            return refuse_node(s, "missing carried value %zu", k);
        if (k < carried && !check_carried(n, v, k))
            return false;
        l->types[k] = *v;
        l->types[k].known = NULL;
    }
    return true;
}

static bool translate_loop(struct node *n)
{
    struct loop l = {0};
    hlo_inst *m, *condition;
    return begin_loop(n, &l) && control_input(n, 0, ELEM_S64, "trip count", &m) &&
           control_input(n, 1, ELEM_PRED, "condition", &condition) && find_types(&l) &&
           call_loop(&l, m, condition);
}

bool op_loop(struct node *n) { return deeper(n, translate_loop); }
