/*
 * Public interface: trees of sources (an element, its sources, their sources, ...) as text or
 * JSON.
 */
#include "api/api.h"

#include "look/look.h"
#include "why/why.h"

#include <float.h>
#include <math.h>

enum { MAX_SHOWN = 4, MAX_NODES = 100000 /* upper bound of the nodes of a tree */ };

struct node { /* an element */
    struct hlo_element e;
    const struct shape *shape; /* of its leaf */
    enum dtype dtype;
    const void *value; /* NULL: unknown */
    struct group *groups;
    size_t count;
    bool above; /* its sources are shown under an earlier line */
};
struct group { /* related sources: a box, or two whose elements are multiplied */
    const struct hlo_source *box[2];
    const char *role;
    int sides;
    int64_t elements;
    bool sorted; /* the most significant elements come first */
    bool known;  /* its values are known */
    struct node *(*shown)[2];
    double *products;
    size_t count;
};

struct tree {
    const hlo_listing *l;
    struct hlo_known known;
    struct hlo_why_view view;
    struct hlo_view values; /* format of values */
    struct arena arena;
    size_t nodes;
    struct map grown; /* elements whose sources are already in the tree */
    struct buf key;
    hlo_messages *m; /* discarded */
};

/* ---- elements and values ---- */

static const struct inst *inst_of(const struct tree *t, const struct hlo_element *e)
{
    return hlo_listing_inst(t->l, e->inst);
}

static const struct literal *leaf_value(const struct tree *t, const struct hlo_element *e)
{
    const struct inst *i = inst_of(t, e);
    if (i->opcode == OP_CONSTANT && !i->literal->elided)
        return why_leaf(i->shape, i->literal, (int64_t)e->leaf);
    bool before = oom_begin_callback();
    const hlo_literal *v =
        t->known.value ? t->known.value(t->known.context, e->inst, e->within, e->depth) : NULL;
    oom_end_callback(before);
    return v ? why_leaf(i->shape, v->l, (int64_t)e->leaf) : NULL;
}

static const char *element_at(const struct literal *l, const int64_t *index)
{
    int64_t at = 0;
    for (int d = 0; d < l->shape->rank; d++) {
        if (index[d] < 0 || index[d] >= l->shape->dims[d])
            return NULL;
        at = at * l->shape->dims[d] + index[d];
    }
    return (const char *)l->data + (size_t)at * dtype_bytes(l->shape->dtype);
}

/* Whether the instruction only passes values on. */
static bool passes_on(const struct tree *t, const struct hlo_element *e)
{
    switch (inst_of(t, e)->opcode) {
    case OP_WHILE:
    case OP_CALL:
    case OP_FUSION:
    case OP_ASYNC_START:
    case OP_ASYNC_UPDATE:
    case OP_ASYNC_DONE: return true;
    case OP_PARAMETER: return e->depth > 0;
    default: return op_is(inst_of(t, e)->opcode, OP_NAMES);
    }
}

/* The first element of a box, with the execution that computed it. */
static struct hlo_element first_of(struct tree *t, const struct hlo_element *from,
                                   const struct hlo_source *s)
{
    struct hlo_element e = {
        .inst = s->inst, .leaf = s->leaf, .within = from->within, .depth = from->depth};
    for (size_t d = 0; d < s->rank; d++)
        e.index[d] = s->start[d];
    if (s->place == HLO_SOURCE_OUTSIDE)
        e.depth--;
    if (s->place == HLO_SOURCE_INSIDE || s->place == HLO_SOURCE_BESIDE) {
        const size_t kept = from->depth - (s->place == HLO_SOURCE_BESIDE);
        struct hlo_within *within = ARENA_ARRAY(&t->arena, struct hlo_within, kept + 1);
        if (kept > 0)
            memcpy(within, from->within, kept * sizeof *within);
        within[kept].inst = s->place == HLO_SOURCE_BESIDE ? from->within[kept].inst : from->inst;
        within[kept].iteration = s->iteration;
        e.within = within;
        e.depth = kept + 1;
    }
    return e;
}

static bool is_point(const struct hlo_source *s)
{
    for (size_t d = 0; d < s->rank; d++)
        if (s->count[d] != 1)
            return false;
    return true;
}

/* Follows instructions that only pass values on to the one that computed the element. */
static struct hlo_element look_through(struct tree *t, struct hlo_element e)
{
    struct hlo_source s;
    for (int64_t steps = 0; steps < INT32_MAX && passes_on(t, &e); steps++) {
        if (hlo_why(t->l, &e, &t->known, &s, 1, t->m) != 1 || !is_point(&s))
            break;
        e = first_of(t, &e, &s);
    }
    return e;
}

/* ---- boxes ---- */

static int64_t elements_of(const struct hlo_source *s)
{
    return dims_elements((int)s->rank, s->count);
}

/* The index of element n, counted in the order of s->walk. */
static void place_of(const struct hlo_source *s, int64_t n, int64_t *index)
{
    for (size_t k = s->rank; k-- > 0;) {
        const size_t d = s->walk[k];
        const int64_t count = s->count[d] > 0 ? s->count[d] : 1;
        index[d] = s->start[d] + n % count * s->step[d];
        n /= count;
    }
}

static double number_at(const struct literal *l, const struct hlo_source *s, int64_t n)
{
    int64_t index[HLO_MAX_RANK];
    place_of(s, n, index);
    const char *p = l ? element_at(l, index) : NULL;
    return p ? look_number(l->shape->dtype, p) : 0;
}

/* Significance of a value: NaN first, then by magnitude. */
static double weight(double v) { return isnan(v) ? INFINITY : isinf(v) ? DBL_MAX : fabs(v); }

struct pick {
    int64_t n;
    double weight;
};

/* Selects the `max` elements of greatest weight, in descending order; ties by position. */
static size_t pick_most(const struct group *g, const struct literal *const *values, size_t max,
                        struct pick *out)
{
    size_t found = 0;
    for (int64_t n = 0; n < g->elements; n++) {
        double v = number_at(values[0], g->box[0], n);
        if (g->sides == 2)
            v *= number_at(values[1], g->box[1], n);
        const double w = weight(v);
        if (found == max && w <= out[found - 1].weight)
            continue;
        size_t at = found < max ? found++ : found - 1;
        for (; at > 0 && out[at - 1].weight < w; at--)
            out[at] = out[at - 1];
        out[at] = (struct pick){n, w};
    }
    return found;
}

/* ---- expansion ---- */

static struct node *grow(struct tree *t, struct hlo_element e, size_t levels);

static struct node *grow_source(struct tree *t, const struct node *from, const struct hlo_source *s,
                                int64_t n, size_t levels)
{
    struct hlo_element e = first_of(t, &from->e, s);
    place_of(s, n, e.index);
    struct node *node = grow(t, look_through(t, e), levels);
    const struct literal *l = node->value ? NULL : leaf_value(t, &e);
    if (l)
        node->value =
            element_at(l, e.index); /* the value may be known here even if not at its origin */
    return node;
}

/* Whether elements of a large box are shown: not if they only select other elements. */
static bool is_worth_it(const struct group *g)
{
    static const char *const minor[] = {"line", "index", "state", "group sizes", "scale", "size"};
    for (size_t k = 0; k < COUNT_OF(minor); k++)
        if (strcmp(g->role, minor[k]) == 0)
            return false;
    return true;
}

static void grow_group(struct tree *t, const struct node *from, struct group *g, size_t levels)
{
    const struct literal *values[2] = {NULL, NULL};
    size_t max = t->view.max < (size_t)g->elements ? t->view.max : (size_t)g->elements;
    struct pick *picks = NULL;
    g->known = true;
    g->sorted = g->elements > (int64_t)max;
    if (max > MAX_NODES)
        max = MAX_NODES; /* all elements: the first ones */
    for (int side = 0; side < g->sides; side++) {
        const struct hlo_element e = first_of(t, &from->e, g->box[side]);
        values[side] = leaf_value(t, &e);
        g->known &= values[side] != NULL;
    }
    if (g->sorted && (!is_worth_it(g) || !g->known))
        return;
    if (g->sorted) {
        picks = ARENA_ARRAY(&t->arena, struct pick, max);
        max = pick_most(g, values, max, picks);
    }
    g->shown = arena_zalloc(&t->arena, (max + 1) * sizeof *g->shown);
    g->products = ARENA_ARRAY(&t->arena, double, max + 1);
    for (size_t k = 0; k < max && t->nodes < MAX_NODES; k++, g->count++) {
        const int64_t n = picks ? picks[k].n : (int64_t)k;
        g->products[k] = 1;
        for (int side = 0; side < g->sides; side++) {
            g->shown[k][side] = grow_source(t, from, g->box[side], n, levels);
            g->products[k] *= number_at(values[side], g->box[side], n);
        }
    }
}

static void grow_sources(struct tree *t, struct node *node, size_t levels)
{
    const long count = hlo_why(t->l, &node->e, &t->known, NULL, 0, t->m);
    if (count <= 0)
        return;
    struct hlo_source *all = ARENA_ARRAY(&t->arena, struct hlo_source, count);
    hlo_why(t->l, &node->e, &t->known, all, (size_t)count, t->m);
    node->groups = ARENA_ARRAY(&t->arena, struct group, count);
    for (long k = 0; k < count; k++) {
        struct group *g = &node->groups[node->count++];
        *g = (struct group){
            .box = {&all[k]}, .role = all[k].role, .sides = 1, .elements = elements_of(&all[k])};
        if (all[k].product && k + 1 < count && g->elements == elements_of(&all[k + 1])) {
            g->sides = 2;
            g->box[1] = &all[++k];
        }
        grow_group(t, node, g, levels);
    }
}

/* Whether an element occurs for the first time. Expanding repeated elements again would double the
 * tree at each level. */
static bool is_new(struct tree *t, const struct node *node)
{
    const struct hlo_element *e = &node->e;
    t->key.size = 0;
    buf_bytes(&t->key, &e->inst, sizeof e->inst);
    buf_bytes(&t->key, &e->leaf, sizeof e->leaf);
    buf_bytes(&t->key, e->index, (size_t)node->shape->rank * sizeof *e->index);
    for (size_t k = 0; k < e->depth; k++) {
        buf_bytes(&t->key, &e->within[k].inst, sizeof e->within[k].inst);
        buf_bytes(&t->key, &e->within[k].iteration, sizeof e->within[k].iteration);
    }
    if (map_get(&t->grown, buf_view(&t->key)))
        return false;
    map_put(&t->grown, arena_str(&t->arena, buf_view(&t->key)), t);
    return true;
}

static struct node *grow(struct tree *t, struct hlo_element e, size_t levels)
{
    struct node *node = ARENA_NEW(&t->arena, struct node);
    const struct literal *l;
    t->nodes++;
    node->e = e;
    node->shape = why_leaf_shape(inst_of(t, &e)->shape, (int64_t)e.leaf);
    node->dtype = node->shape->dtype;
    if ((l = leaf_value(t, &e)))
        node->value = element_at(l, e.index);
    if (levels > 0 && is_new(t, node))
        grow_sources(t, node, levels - 1);
    else
        node->above = levels > 0 && hlo_why(t->l, &e, &t->known, NULL, 0, t->m) > 0;
    return node;
}

/* ---- names ---- */

/* Writes "@3.0": the iterations of the enclosing loops. */
static void put_iterations(struct buf *out, const struct tree *t, const struct hlo_element *e)
{
    char before = '@';
    for (size_t k = 0; k < e->depth; k++) {
        if (hlo_listing_inst(t->l, e->within[k].inst)->opcode != OP_WHILE)
            continue;
        buf_putc(out, before);
        if (e->within[k].iteration < 0)
            buf_puts(out, "test");
        else
            buf_int(out, e->within[k].iteration);
        before = '.';
    }
}

/* Writes "[1][0]": the path to a leaf of a tuple. */
static void put_components(struct buf *out, const struct shape *s, int64_t leaf)
{
    while (shape_is_tuple(s) && s->count > 0) {
        const int k = shape_component_of(s, &leaf);
        buf_printf(out, "[%d]", k);
        s = s->elements[k];
    }
}

static void put_name(struct buf *out, const struct tree *t, const struct hlo_element *e)
{
    const struct inst *i = inst_of(t, e);
    buf_str(out, i->name);
    put_iterations(out, t, e);
    put_components(out, i->shape, (int64_t)e->leaf);
}

static void put_index(struct buf *out, size_t rank, const int64_t *index)
{
    for (size_t d = 0; d < rank; d++) {
        buf_putc(out, d ? ',' : '[');
        buf_int(out, index[d]);
    }
    if (rank > 0)
        buf_putc(out, ']');
}

/* Writes "[0,2:5,0:9:2]", the syntax of slices. */
static void put_box(struct buf *out, const struct hlo_source *s)
{
    for (size_t d = 0; d < s->rank; d++) {
        const int64_t last = s->start[d] + (s->count[d] > 0 ? s->count[d] - 1 : 0) * s->step[d];
        const int64_t low = last < s->start[d] ? last : s->start[d],
                      high = last < s->start[d] ? s->start[d] : last;
        const int64_t step = s->step[d] < 0 ? -s->step[d] : s->step[d];
        buf_putc(out, d ? ',' : '[');
        buf_int(out, low);
        if (s->count[d] != 1) {
            buf_putc(out, ':');
            buf_int(out, s->count[d] > 0 ? high + 1 : low);
        }
        if (s->count[d] > 1 && step != 1) {
            buf_putc(out, ':');
            buf_int(out, step);
        }
    }
    if (s->rank > 0)
        buf_putc(out, ']');
}

/* ---- text ---- */

static void indent(struct buf *out, size_t depth)
{
    for (size_t k = 0; k < depth; k++)
        buf_puts(out, "  ");
}

static void put_op(struct buf *out, struct tree *t, const struct node *node)
{
    const struct inst *i = inst_of(t, &node->e);
    const struct str where = inst_where(&t->arena, i);
    buf_printf(out, "  %s %s[", op_spelling(i->opcode), dtype_spelling(node->shape->dtype));
    for (int d = 0; d < node->shape->rank; d++)
        buf_printf(out, "%s%s%" PRId64, d ? "," : "", shape_dim_dynamic(node->shape, d) ? "<=" : "",
                   node->shape->dims[d]);
    buf_putc(out, ']');
    if (where.len > 0)
        buf_printf(out, "  " STR_FMT, STR_ARG(where));
}

static void put_groups(struct buf *out, struct tree *t, const struct node *node, size_t depth);

static void put_node(struct buf *out, struct tree *t, const struct node *node, const char *role,
                     size_t depth)
{
    indent(out, depth);
    if (role)
        buf_printf(out, "%s: ", role);
    put_name(out, t, &node->e);
    put_index(out, (size_t)node->shape->rank, node->e.index);
    buf_puts(out, " = ");
    if (node->value)
        look_put_element(out, node->dtype, node->value, &t->values);
    else
        buf_putc(out, '?');
    put_op(out, t, node);
    buf_puts(out, node->above ? "  (see above)\n" : "\n");
    put_groups(out, t, node, depth + 1);
}

static void put_source(struct buf *out, struct tree *t, const struct node *from,
                       const struct hlo_source *s)
{
    const struct hlo_element e = first_of(t, &from->e, s);
    put_name(out, t, &e);
    put_box(out, s);
}

static void put_products(struct buf *out, struct tree *t, const struct group *g, size_t depth)
{
    for (size_t k = 0; k < g->count; k++) {
        indent(out, depth);
        buf_g(out, g->products[k], 6);
        buf_putc(out, '\n');
        put_node(out, t, g->shown[k][0], g->box[0]->role, depth + 1);
        put_node(out, t, g->shown[k][1], g->box[1]->role, depth + 1);
    }
}

static void put_group(struct buf *out, struct tree *t, const struct node *node,
                      const struct group *g, size_t depth)
{
    if (g->sides == 1 && g->elements == 1 && g->count == 1) {
        put_node(out, t, g->shown[0][0], g->role, depth);
        return;
    }
    indent(out, depth);
    buf_printf(out, "%s: ", g->role);
    put_source(out, t, node, g->box[0]);
    if (g->sides == 2) {
        buf_printf(out, ", %s: ", g->box[1]->role);
        put_source(out, t, node, g->box[1]);
    }
    buf_printf(out, ", %" PRId64 " %s%s", g->elements, g->sides == 2 ? "product" : "element",
               g->elements == 1 ? "" : "s");
    if (g->count > 0 && g->sorted)
        buf_puts(out, ", largest first");
    buf_putc(out, '\n');
    if (g->sides == 2) {
        put_products(out, t, g, depth + 1);
    } else {
        for (size_t k = 0; k < g->count; k++)
            put_node(out, t, g->shown[k][0], NULL, depth + 1);
    }
    if (g->count > 0 && (int64_t)g->count < g->elements) {
        indent(out, depth + 1);
        buf_printf(out, "and %" PRId64 " more\n", g->elements - (int64_t)g->count);
    }
}

static void put_groups(struct buf *out, struct tree *t, const struct node *node, size_t depth)
{
    for (size_t k = 0; k < node->count; k++)
        put_group(out, t, node, &node->groups[k], depth);
}

/* ---- JSON ---- */

static void put_list(struct buf *out, const char *key, size_t count, const int64_t *list)
{
    buf_json_open(out, key, '[');
    for (size_t k = 0; k < count; k++)
        buf_json_int(out, NULL, list[k]);
    buf_putc(out, ']');
}

static void put_iterations_json(struct buf *out, const struct tree *t, const struct hlo_element *e)
{
    buf_json_open(out, "iterations", '[');
    for (size_t k = 0; k < e->depth; k++)
        if (hlo_listing_inst(t->l, e->within[k].inst)->opcode == OP_WHILE)
            buf_json_int(out, NULL, e->within[k].iteration);
    buf_putc(out, ']');
}

/* Writes a number; NaN and infinities as strings, a complex number as a pair. */
static void put_value_json(struct buf *out, const struct tree *t, const struct node *node)
{
    struct hlo_view view = t->values;
    const enum dtype part = dtype_component(node->dtype);
    const char *p = node->value;
    view.bits = view.hex = false;
    buf_json_key(out, "value");
    if (!p) {
        buf_puts(out, "null");
        return;
    }
    if (dtype_is_complex(node->dtype))
        buf_putc(out, '[');
    for (size_t at = 0; at < dtype_bytes(node->dtype); at += dtype_bytes(part)) {
        const double number = look_number(part, p + at);
        if (at > 0)
            buf_putc(out, ',');
        if (isfinite(number))
            look_put_element(out, part, p + at, &view);
        else
            buf_json_number(out, number, 0);
    }
    if (dtype_is_complex(node->dtype))
        buf_putc(out, ']');
}

static void put_groups_json(struct buf *out, struct tree *t, const struct node *node);

/* KEY NULL: an element of a list. */
static void put_node_json(struct buf *out, const char *key, struct tree *t, const struct node *node)
{
    const struct inst *i = inst_of(t, &node->e);
    buf_json_open(out, key, '{');
    buf_json_text(out, "name", i->name);
    buf_json_text(out, "computation", i->parent->name);
    buf_json_text(out, "op", str_of(op_spelling(i->opcode)));
    buf_json_text(out, "shape", shape_text(&t->arena, i->shape));
    put_iterations_json(out, t, &node->e);
    buf_json_count(out, "leaf", node->e.leaf);
    put_list(out, "index", (size_t)node->shape->rank, node->e.index);
    put_value_json(out, t, node);
    buf_json_text(out, "where", inst_where(&t->arena, i));
    if (node->count > 0)
        put_groups_json(out, t, node);
    buf_putc(out, '}');
}

static void put_box_json(struct buf *out, struct tree *t, const struct node *from,
                         const struct hlo_source *s)
{
    const struct hlo_element e = first_of(t, &from->e, s);
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "role", str_of(s->role));
    buf_json_text(out, "name", inst_of(t, &e)->name);
    put_iterations_json(out, t, &e);
    buf_json_count(out, "leaf", s->leaf);
    put_list(out, "start", s->rank, s->start);
    put_list(out, "count", s->rank, s->count);
    put_list(out, "step", s->rank, s->step);
    buf_putc(out, '}');
}

static void put_shown_json(struct buf *out, struct tree *t, const struct group *g)
{
    buf_json_open(out, "shown", '[');
    for (size_t k = 0; k < g->count; k++) {
        if (g->sides == 1) {
            put_node_json(out, NULL, t, g->shown[k][0]);
            continue;
        }
        buf_json_open(out, NULL, '{');
        buf_json_real(out, "product", g->products[k], 17);
        buf_json_open(out, "elements", '[');
        put_node_json(out, NULL, t, g->shown[k][0]);
        put_node_json(out, NULL, t, g->shown[k][1]);
        buf_puts(out, "]}");
    }
    buf_putc(out, ']');
}

static void put_groups_json(struct buf *out, struct tree *t, const struct node *node)
{
    buf_json_open(out, "sources", '[');
    for (size_t k = 0; k < node->count; k++) {
        const struct group *g = &node->groups[k];
        buf_json_open(out, NULL, '{');
        buf_json_open(out, "boxes", '[');
        put_box_json(out, t, node, g->box[0]);
        if (g->sides == 2)
            put_box_json(out, t, node, g->box[1]);
        buf_putc(out, ']');
        buf_json_int(out, "elements", g->elements);
        put_shown_json(out, t, g);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* ---- entry points ---- */

/* Expands the requested element. An instruction that only passes it on counts as no level. */
static struct node *grow_root(struct tree *t, const struct hlo_element *e)
{
    struct node *root = grow(t, *e, passes_on(t, e) ? 0 : t->view.levels);
    struct hlo_source s;
    if (!passes_on(t, e) || hlo_why(t->l, e, &t->known, &s, 1, t->m) != 1)
        return root;
    struct hlo_source *box = ARENA_NEW(&t->arena, struct hlo_source);
    *box = s;
    root->groups = ARENA_ARRAY(&t->arena, struct group, 1);
    root->groups[0] =
        (struct group){.box = {box}, .role = s.role, .sides = 1, .elements = elements_of(box)};
    root->count = 1;
    grow_group(t, root, &root->groups[0], t->view.levels);
    if (!root->value && root->groups[0].count == 1)
        root->value = root->groups[0].shown[0][0]->value; /* values of tuples are not kept */
    return root;
}

hlo_text hlo_why_print(const hlo_listing *l, const struct hlo_element *e,
                       const struct hlo_known *known, const struct hlo_why_view *v)
{
    OOM_SCOPE((hlo_text){0});
    struct tree t = {.l = l};
    struct buf out = {0};
    struct cleanup freeing;
    if (!hlo_options_copy(&t.known, sizeof t.known, known, NULL) ||
        !hlo_options_copy(&t.view, sizeof t.view, v, NULL) ||
        !hlo_options_copy(&t.values, sizeof t.values, t.view.view, NULL))
        return (hlo_text){0};
    t.m = hlo_messages_new();
    oom_push_cleanup(&freeing, hlo_messages_cleanup, t.m);
    if (t.view.levels == 0)
        t.view.levels = 1;
    if (t.view.max == 0)
        t.view.max = MAX_SHOWN;
    arena_init(&t.arena);
    map_init(&t.grown, &t.arena);
    if (hlo_why(l, e, &t.known, NULL, 0, t.m) >= 0) {
        struct node *root = grow_root(&t, e);
        if (t.view.json) {
            buf_puts(&out, "{\"schema\":1");
            put_node_json(&out, "element", &t, root);
            buf_puts(&out, "}\n");
        } else {
            put_node(&out, &t, root, NULL, 0);
        }
    }
    buf_free(&t.key);
    arena_free(&t.arena);
    oom_pop_cleanup(&freeing);
    hlo_messages_free(t.m);
    return hlo_text_of(&out);
}
