/*
 * Pictures of modules: labels of instructions, and the layout of each computation. A computation
 * with one caller is a box in the node of its caller.
 */
#include "cli/graph.h"
#include "cli/listed.h"

enum {
    MAX_DEPTH = 8, /* of nested boxes */
    MAX_LINE = 44, /* characters of a line of a label */
    MAX_LINES = 12,
    MIN_PAGE = 1200,
    REACH = 30,         /* rows that an edge may pass; others are named in the label */
    CONSTANT_REACH = 3, /* the same for constants */
};
static const double char_width = 6.7;

/* ---- labels ---- */

/* The length of the longest prefix of at most `limit` characters, whose number is in `chars`. */
static size_t clip(struct str s, size_t limit, size_t *chars)
{
    size_t at = 0;
    for (*chars = 0; at < s.len && *chars < limit; ++*chars) {
        const size_t n = str_utf8(s, at);
        at += n > 0 ? n : 1;
    }
    return at;
}

static struct label_line *add_line(struct picture *p, struct label *label, const char *style,
                                   struct str text)
{
    size_t chars, at = clip(text, MAX_LINE, &chars);
    if (at < text.len)
        text = arena_printf(&p->arena, STR_FMT "\u2026", (int)clip(text, MAX_LINE - 1, &chars),
                            text.ptr);
    else
        text = arena_str(&p->arena, text);
    struct label_line *line = &VEC_PUSH(&p->arena, label->lines, label->count, label->capacity);
    *line = (struct label_line){.style = style, .text = text};
    const double width = (double)(chars + 1) * char_width + 2 * LABEL_PAD;
    label->width = label->width > width ? label->width : width;
    return line;
}

/* Writes what is in the parentheses of a constant or parameter. */
static void put_content(struct picture *p, struct buf *out, size_t inst, const char *op)
{
    SCOPED_TEXT text = hlo_list_print(p->g->l->listing, inst, HLO_PRINT_ABRIDGED);
    struct str from = arena_printf(&p->arena, " %s(", op);
    const char *begin = strstr(text.data, from.ptr);
    if (begin) {
        begin += from.len;
        const char *end = strstr(begin, "), ");
        end = end ? end : strrchr(begin, ')');
        const struct str content = {begin, end ? (size_t)(end - begin) : strlen(begin)};
        buf_printf(out, content.len > MAX_LINE / 2 ? "(\u2026)" : "(" STR_FMT ")",
                   STR_ARG(content));
    }
}

static void add_op_line(struct picture *p, struct label *label, size_t inst)
{
    const struct hlo_listed i = hlo_list_inst(p->g->l->listing, inst);
    SCOPED_BUF text = {0};
    buf_puts(&text, i.op);
    if (i.parameter >= 0 || strcmp(i.op, "constant") == 0)
        put_content(p, &text, inst, i.op);
    buf_putc(&text, ' ');
    put_shape_alone(&text, i.shape);
    add_line(p, label, "op", buf_view(&text));
}

static void add_stats_lines(struct picture *p, struct label *label, size_t inst)
{
    SCOPED_BUF text = {0};
    graph_put_stats(&text, &p->g->stats[inst], "\n");
    struct str rest = buf_view(&text);
    str_cut(&rest, '\n');
    while (rest.len > 0)
        add_line(p, label, "value", str_cut(&rest, '\n'));
}

/* Adds a line that refers to an instruction or computation, unless there are many. */
static void add_reference(struct picture *p, struct label *label, struct str text, const char *link,
                          size_t number)
{
    if (label->count >= MAX_LINES) {
        label->lines[label->count - 1].text = STR("\u2026");
        label->lines[label->count - 1].link = NULL;
        return;
    }
    struct label_line *line = add_line(p, label, "far", text);
    line->link = link;
    line->number = number;
}

/* Operands that are not drawn as edges, and computations that are not drawn in the node. */
static void add_references(struct picture *p, struct label *label, size_t inst,
                           const struct layout_edge **edge, const struct layout_edge *end)
{
    const hlo_listing *list = p->g->l->listing;
    const struct hlo_listed i = hlo_list_inst(list, inst);
    for (size_t k = 0; k < i.operand_count; k++) {
        if (!p->g->shown[i.operands[k]] || *edge == end)
            continue;
        if ((*edge)++->far)
            add_reference(p, label,
                          arena_printf(&p->arena, "%zu \u2190 %s", k,
                                       hlo_list_inst(list, i.operands[k]).name),
                          "n", i.operands[k]);
    }
    for (size_t k = 0; k < i.callee_count; k++)
        if (!p->boxes[i.callees[k]].nested)
            add_reference(
                p, label,
                arena_printf(&p->arena, "calls %s", hlo_list_computation(list, i.callees[k]).name),
                p->boxes[i.callees[k]].layout.node_count > 0 ? "c" : NULL, i.callees[k]);
}

static void make_label(struct picture *p, size_t inst, const struct layout_edge **edge,
                       const struct layout_edge *end)
{
    struct label *label = &p->labels[inst];
    const struct hlo_listed i = hlo_list_inst(p->g->l->listing, inst);
    add_line(p, label, "name", str_of(i.name));
    add_op_line(p, label, inst);
    const char *slash = strrchr(i.where, '/');
    if (*i.where)
        add_line(p, label, "where", str_of(slash ? slash + 1 : i.where));
    if (p->g->stats)
        add_stats_lines(p, label, inst);
    add_references(p, label, inst, edge, end);
    label->height = (double)label->count * LABEL_LINE + LABEL_PAD;
}

/* ---- boxes ---- */

static void add_edges(struct picture *p, struct box *box, size_t inst, size_t *capacity)
{
    const struct hlo_listed i = hlo_list_inst(p->g->l->listing, inst);
    for (size_t k = 0; k < i.operand_count; k++) {
        if (!p->g->shown[i.operands[k]])
            continue;
        const bool constant =
            strcmp(hlo_list_inst(p->g->l->listing, i.operands[k]).op, "constant") == 0;
        struct layout *l = &box->layout;
        VEC_PUSH(&p->arena, l->edges, l->edge_count, *capacity) =
            (struct layout_edge){.from = p->nodes[i.operands[k]],
                                 .to = p->nodes[inst],
                                 .reach = constant ? CONSTANT_REACH : REACH,
                                 .port = 0.9 * (((double)k + 0.5) / (double)i.operand_count - 0.5)};
    }
}

/* The size of a node: its label and the boxes in it, side by side. */
static void measure_node(const struct picture *p, size_t inst, struct layout_node *node)
{
    double width = BOX_PAD, height = 0;
    for (const struct box *b = p->nested[inst]; b; b = b->next) {
        width += b->width + BOX_PAD;
        height = height > b->height + BOX_PAD ? height : b->height + BOX_PAD;
    }
    node->width = width > p->labels[inst].width ? width : p->labels[inst].width;
    node->height = p->labels[inst].height + height;
}

static void measure_box(struct picture *p, struct box *box, const char *name)
{
    struct layout *l = &box->layout;
    const double title = ((double)strlen(name) + 6) * char_width;
    box->width = (l->width > title ? l->width : title) + 2 * BOX_PAD;
    box->height = BOX_TITLE + BOX_PAD;
    for (size_t r = 0; r < l->row_count; r++)
        box->height += l->rows[r].gap + l->rows[r].height;
    box->depth = 1;
    for (size_t n = 0; n < l->node_count; n++)
        for (const struct box *b = p->nested[box->insts[n]]; b; b = b->next)
            box->depth = box->depth > b->depth ? box->depth : b->depth + 1;
}

static void make_box(struct picture *p, size_t computation)
{
    const struct hlo_listed_computation c = hlo_list_computation(p->g->l->listing, computation);
    struct box *box = &p->boxes[computation];
    struct layout *l = &box->layout;
    size_t capacity = 1; /* edges are never NULL */
    l->arena = &p->arena;
    l->edges = ARENA_ARRAY(&p->arena, struct layout_edge, capacity);
    l->nodes = ARENA_ARRAY(&p->arena, struct layout_node, c.count);
    box->insts = ARENA_ARRAY(&p->arena, size_t, c.count);
    for (size_t n = c.first; n < c.first + c.count; n++)
        if (p->g->shown[n]) {
            box->insts[l->node_count] = n;
            p->nodes[n] = l->node_count++;
        }
    for (size_t n = 0; n < l->node_count; n++)
        add_edges(p, box, box->insts[n], &capacity);
    layout_rank(l);
    const struct layout_edge *edge = l->edges;
    for (size_t n = 0; n < l->node_count; n++) {
        make_label(p, box->insts[n], &edge, l->edges + l->edge_count);
        measure_node(p, box->insts[n], &l->nodes[n]);
    }
    layout_place(l);
    measure_box(p, box, c.name);
}

/* Puts a box into the node of its caller, if that is shown and the only one. */
static void nest_box(struct picture *p, size_t computation)
{
    const struct hlo_listed_computation c = hlo_list_computation(p->g->l->listing, computation);
    struct box *box = &p->boxes[computation];
    if (c.caller_count != 1 || !p->g->shown[c.callers[0]] || box->layout.node_count == 0 ||
        box->depth >= MAX_DEPTH)
        return;
    struct box **end = &p->nested[c.callers[0]];
    while (*end)
        end = &(*end)->next;
    *end = box;
    box->nested = true;
}

/* Puts the boxes that are not nested in rows of about the width of the widest one. */
static void arrange_boxes(struct picture *p, size_t computations)
{
    double x = 0, y = BOX_PAD, limit = MIN_PAGE, height = 0;
    for (int entry = 1; entry >= 0; entry--)
        for (size_t c = 0; c < computations; c++) {
            if (p->boxes[c].nested || p->boxes[c].layout.node_count == 0 ||
                hlo_list_computation(p->g->l->listing, c).entry != entry)
                continue;
            limit = limit > p->boxes[c].width ? limit : p->boxes[c].width;
            p->outer[p->outer_count++] = c;
        }
    for (size_t k = 0; k < p->outer_count; k++) {
        struct box *box = &p->boxes[p->outer[k]];
        if (x > 0 && x + box->width > limit) {
            x = 0;
            y += height + BOX_PAD;
            height = 0;
        }
        box->x = x;
        box->y = y;
        x += box->width + BOX_PAD;
        height = height > box->height ? height : box->height;
        p->width = p->width > x + BOX_PAD ? p->width : x + BOX_PAD;
        p->height = y + height + BOX_PAD;
    }
}

void picture_init(struct picture *p, struct graph *g)
{
    const size_t insts = hlo_list_count(g->l->listing);
    const size_t computations = hlo_list_computations(g->l->listing);
    *p = (struct picture){.g = g};
    arena_init(&p->arena);
    p->boxes = ARENA_ARRAY(&p->arena, struct box, computations);
    p->labels = ARENA_ARRAY(&p->arena, struct label, insts);
    p->nested = ARENA_ARRAY(&p->arena, struct box *, insts);
    p->nodes = ARENA_ARRAY(&p->arena, size_t, insts);
    p->outer = ARENA_ARRAY(&p->arena, size_t, computations);
    for (size_t c = 0; c < computations; c++) {
        make_box(p, c);
        nest_box(p, c);
    }
    arrange_boxes(p, computations);
}

void picture_free(struct picture *p) { arena_free(&p->arena); }
