/*
 * Graphs as SVG, and as HTML pages with a script that folds boxes.
 */
#include "cli/graph.h"

#include <math.h>

enum { ARROW = 5 };

/* ---- kinds of operations ---- */

static const struct kind {
    const char *name, *light, *dark; /* colors of the fill */
    const char *families;            /* of operations; and two operations */
} kinds[] = {
    {"parameter", "#cfe2f9", "#1d4468", " parameter "},
    {"constant", "#e8e8e8", "#3b3f45", " constant iota "},
    {"elementwise", "#fdf0c4", "#554a1c", " elementwise compare convert "},
    {"product", "#fbd3ab", "#6a4114", " dot conv fft linalg "},
    {"reduction", "#e3d5f5", "#4b366b", " reduce window batchnorm sort "},
    {"movement", "#d3efd3", "#23512c", " shape dynamic dynslice gather tuple "},
    {"control", "#fdfdfd", "#262b31", " control "},
    {"communication", "#f8cfdf", "#66263f", ""}, /* and all others */
};

static const struct kind *kind_of(struct picture *p, const char *op)
{
    const size_t found = op_number(str_of(op));
    const char *family = found < hlo_op_count() ? hlo_op_get(found).family : op;
    const struct str words[] = {arena_printf(&p->arena, " %s ", op),
                                arena_printf(&p->arena, " %s ", family)};
    for (size_t w = 0; w < COUNT_OF(words); w++)
        for (size_t k = 0; k + 1 < COUNT_OF(kinds); k++)
            if (strstr(kinds[k].families, words[w].ptr))
                return &kinds[k];
    return &kinds[COUNT_OF(kinds) - 1];
}

/* ---- style and script ---- */

static const char style[] =
    "text{font:11px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#222}\n"
    ".page{fill:#fff}.frame{fill:#f6f8fa;stroke:#b6bec8}.title{font-weight:bold;fill:#57606a}\n"
    ".shape{stroke:#8a929c}.root>.shape{stroke-width:2.5;stroke:#444}.name{font-weight:bold}\n"
    ".where,.far{fill:#666}.value{fill:#0a5a2a}.link{fill:none;stroke:#69717c}.tip{fill:#69717c}\n"
    ".around>.shape{fill:#ffd700}.nan>.shape{fill:#f33}.nan>text,.nan>a>text{fill:#fff}\n";
static const char dark_style[] =
    "body{background:#0d1117;color:#ddd}header{background:#161b22}text{fill:#e6e6e6}"
    ".page{fill:#0d1117}\n.frame{fill:#161b22;stroke:#444c56}.title{fill:#9aa4af}"
    ".shape{stroke:#6b7480}.root>.shape{stroke:#ddd}\n"
    ".where,.far{fill:#aaa}.value{fill:#7ee2a0}.link{stroke:#7d8793}.tip{fill:#7d8793}\n"
    ".link.lit{stroke:#f66}.around>.shape{fill:#8a7000}.nan>.shape{fill:#c00}";
static const char page_style[] =
    "body{margin:0;width:max-content;min-width:100%;font:13px sans-serif}svg{display:block}\n"
    "header{position:sticky;top:0;left:0;width:100vw;box-sizing:border-box;padding:6px 10px;"
    "background:#eee}\n.folds>.title,.folds>.name{cursor:pointer}.folded>.row{display:none}\n"
    ".key{border:1px solid #8888;border-radius:3px;padding:0 4px;margin-left:6px}\n"
    ".item:target>rect{stroke:#d33;stroke-width:3}.link.lit{stroke:#d33;stroke-width:2.5}\n";

/* An item is an instruction or a box; those that contain rows of items can be folded. The script
 * has no characters that XML would have to escape. */
static const char script[] =
    "const rows = e => [...e.children].filter(c => c.classList.contains('row'));\n"
    "const shape = e => e.querySelector(':scope > rect');\n"
    "// Stacks the rows of an item or of the page, whose items have their sizes.\n"
    "function fit(e) {\n"
    "  let y = +e.dataset.top;\n"
    "  for (const row of e.classList.contains('folded') ? [] : rows(e)) {\n"
    "    const items = [...row.children].filter(c => c.classList.contains('item'));\n"
    "    const height = Math.max(...items.map(i => +shape(i).getAttribute('height')), 0);\n"
    "    y += +row.dataset.gap;\n"
    "    row.setAttribute('transform', `translate(${row.dataset.x},${y})`);\n"
    "    for (const stem of row.querySelectorAll(':scope > line, :scope > .item > line'))\n"
    "      stem.setAttribute('y2', height);\n"
    "    y += height;\n"
    "  }\n"
    "  y += e.classList.contains('folded') ? 6 : +e.dataset.bottom;\n"
    "  shape(e).setAttribute('height', y);\n"
    "  e.querySelector(':scope > line')?.setAttribute('y1', y);\n"
    "  if (e.matches('svg')) { e.setAttribute('height', y);\n"
    "    e.setAttribute('viewBox', `0 0 ${e.getAttribute('width')} ${y}`); }\n"
    "}\n"
    "const all = [...document.querySelectorAll('svg, .folds')].reverse();\n"
    "function fold(e, on) {\n"
    "  e.classList.toggle('folded', on);\n"
    "  e.querySelector(':scope > .mark').textContent = on ? '\\u25b8' : '\\u25be';\n"
    "}\n"
    "function foldAll(on) {\n"
    "  for (const e of all) if (e.matches('.node')) fold(e, on);\n"
    "  all.forEach(fit);\n"
    "}\n"
    "document.addEventListener('click', event => {\n"
    "  const item = event.target.closest('.item');\n"
    "  if (!item || !item.matches('.folds') || event.target.closest('a')) return;\n"
    "  fold(item, !item.matches('.folded'));\n"
    "  for (let e = item; e; e = e.parentNode.closest('.folds, svg')) fit(e);\n"
    "});\n"
    "document.addEventListener('mouseover', event => {\n"
    "  const node = event.target.closest('.node');\n"
    "  for (const e of document.querySelectorAll('.lit')) e.classList.remove('lit');\n"
    "  if (node) for (const e of document.querySelectorAll('.' + node.id)) "
    "e.classList.add('lit');\n"
    "});\n";

/* ---- text ---- */

static long px(double v) { return lround(v); }

/* Writes the lines of a label, centered at `x`; in a node with boxes they begin there. */
static void put_label(struct picture *p, size_t inst, long x)
{
    const struct label *label = &p->labels[inst];
    const char *anchor = p->nested[inst] ? "" : " text-anchor=\"middle\"";
    struct buf *out = &p->g->out;
    for (size_t k = 0; k < label->count; k++) {
        const struct label_line *line = &label->lines[k];
        if (line->link)
            buf_printf(out, "<a href=\"#%s%zu\">", line->link, line->number);
        buf_printf(out, "<text class=\"%s\" x=\"%ld\" y=\"%zu\"%s>", line->style, x,
                   (k + 1) * LABEL_LINE, anchor);
        put_xml(out, line->text);
        buf_puts(out, line->link ? "</text></a>\n" : "</text>\n");
    }
}

/* ---- boxes and nodes ---- */

static void put_box(struct picture *p, size_t computation, double x);

static void begin_row(struct buf *out, double x, double y, double gap)
{
    buf_printf(out, "<g class=\"row\" transform=\"translate(%ld,%ld)\"", px(x), px(y));
    buf_printf(out, " data-x=\"%ld\" data-gap=\"%ld\">\n", px(x), px(gap));
}

static void put_rect(struct buf *out, const char *class, double width, double height)
{
    buf_printf(out, "<rect class=\"%s\" width=\"%ld\" height=\"%ld\" rx=\"4\"/>\n", class,
               px(width), px(height));
}

static void put_mark(const struct picture *p)
{
    if (p->g->format == GRAPH_HTML)
        buf_puts(&p->g->out, "<text class=\"mark\" x=\"6\" y=\"14\">\u25be</text>\n");
}

/* A vertical line from a node, or across the row, to the end of the row. */
static void put_stem(struct buf *out, size_t inst, long x, double from, double to)
{
    buf_printf(out, "<line class=\"link n%zu\" x1=\"%ld\" x2=\"%ld\" y1=\"%ld\" y2=\"%ld\"/>\n",
               inst, x, x, px(from), px(to));
}

/* The boxes in a node. */
static void put_nested(struct picture *p, size_t inst, double width)
{
    double all = -BOX_PAD, x = 0;
    for (const struct box *b = p->nested[inst]; b; b = b->next)
        all += b->width + BOX_PAD;
    begin_row(&p->g->out, (width - all) / 2, p->labels[inst].height, 0);
    for (const struct box *b = p->nested[inst]; b; x += b->width + BOX_PAD, b = b->next)
        put_box(p, (size_t)(b - p->boxes), x);
    buf_puts(&p->g->out, "</g>\n");
}

static void put_node(struct picture *p, const struct layout *l, const struct layout_cell *c,
                     size_t inst)
{
    const struct graph *g = p->g;
    const struct hlo_listed i = hlo_list_inst(g->l->listing, inst);
    const double width = l->nodes[c->node].width, height = l->nodes[c->node].height;
    const long left = px(c->x - width / 2), middle = px(c->x) - left;
    struct buf *out = &p->g->out;
    buf_printf(out, "<g id=\"n%zu\" class=\"item node %s%s%s%s%s\" transform=\"translate(%ld,0)\"",
               inst, kind_of(p, i.op)->name, p->nested[inst] ? " folds" : "",
               hlo_list_computation(g->l->listing, i.computation).root == inst ? " root" : "",
               g->around == (long)inst ? " around" : "",
               g->stats && g->stats[inst].nan > 0 ? " nan" : "", left);
    buf_printf(out, " data-top=\"%ld\" data-bottom=\"%d\">\n<title>", px(p->labels[inst].height),
               BOX_PAD);
    SCOPED_TEXT text = hlo_list_print(g->l->listing, inst, HLO_PRINT_ABRIDGED);
    put_xml(out, (struct str){text.data, text.size < 400 ? text.size : 400});
    buf_puts(out, "</title>\n");
    if (c->linked)
        put_stem(out, inst, middle, height, l->rows[c->row].height);
    put_rect(out, "shape", width, height);
    put_label(p, inst, p->nested[inst] ? 2 * BOX_PAD : middle);
    if (p->nested[inst]) {
        put_mark(p);
        put_nested(p, inst, width);
    }
    buf_puts(out, "</g>\n");
}

/* A link, from the bottom of the row above; it has a tip if it ends at a node. */
static void put_link(struct buf *out, size_t inst, const struct layout_link *k, double gap)
{
    const long from = px(k->from->x), to = px(k->to->x + k->port * k->to->width);
    const long tip = k->to->wire ? 0 : ARROW, height = px(gap) - tip;
    buf_printf(out, "<path class=\"link n%zu\" d=\"M%ld %ld", inst, from, -px(gap));
    if (from == to)
        buf_printf(out, "V%ld\"/>\n", -tip);
    else
        buf_printf(out, "C%ld %ld %ld %ld %ld %ld\"/>\n", from, -tip - height / 2, to,
                   -tip - height / 2, to, -tip);
    if (tip > 0)
        buf_printf(out, "<path class=\"tip\" d=\"M%ld 0l-3 -6h6z\"/>\n", to);
}

static void put_row(struct picture *p, const struct box *box, size_t row)
{
    const struct layout *l = &box->layout;
    const struct layout_row *r = &l->rows[row];
    for (size_t k = 0; k < r->link_count; k++)
        put_link(&p->g->out, box->insts[r->links[k].from->node], &r->links[k], r->gap);
    for (size_t k = 0; k < r->count; k++)
        if (r->cells[k]->wire)
            put_stem(&p->g->out, box->insts[r->cells[k]->node], px(r->cells[k]->x), 0, r->height);
        else
            put_node(p, l, r->cells[k], box->insts[r->cells[k]->node]);
}

static void put_box(struct picture *p, size_t computation, double x)
{
    const struct hlo_listed_computation c = hlo_list_computation(p->g->l->listing, computation);
    const struct box *box = &p->boxes[computation];
    struct buf *out = &p->g->out;
    double y = BOX_TITLE;
    buf_printf(out,
               "<g id=\"c%zu\" class=\"item folds box\" transform=\"translate(%ld,0)\""
               " data-top=\"%d\" data-bottom=\"%d\">\n",
               computation, px(x), BOX_TITLE, BOX_PAD);
    put_rect(out, "frame", box->width, box->height);
    buf_printf(out, "<text class=\"title\" x=\"20\" y=\"14\">%s", c.entry ? "ENTRY " : "");
    put_xml(out, str_of(c.name));
    buf_puts(out, "</text>\n");
    put_mark(p);
    for (size_t r = 0; r < box->layout.row_count; r++) {
        y += box->layout.rows[r].gap;
        begin_row(out, (box->width - box->layout.width) / 2, y, box->layout.rows[r].gap);
        put_row(p, box, r);
        buf_puts(out, "</g>\n");
        y += box->layout.rows[r].height;
    }
    buf_puts(out, "</g>\n");
}

/* ---- the page ---- */

static void put_colors(struct buf *out, const char *before, const char *after, bool dark)
{
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        buf_printf(out, "%s%s%s:%s}\n", before, kinds[k].name, after,
                   dark ? kinds[k].dark : kinds[k].light);
}

/* The boxes of the page, in rows. */
static void put_boxes(struct picture *p)
{
    struct buf *out = &p->g->out;
    for (size_t k = 0; k < p->outer_count; k++) {
        const struct box *box = &p->boxes[p->outer[k]];
        if (box->x == 0) {
            buf_puts(out, k > 0 ? "</g>\n" : "");
            begin_row(out, BOX_PAD, box->y, BOX_PAD);
        }
        put_box(p, p->outer[k], box->x);
    }
    buf_puts(out, p->outer_count > 0 ? "</g>\n" : "");
}

static void put_svg(struct picture *p)
{
    struct buf *out = &p->g->out;
    const long width = px(p->width), height = px(p->height);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%ld\" height=\"%ld\""
               " viewBox=\"0 0 %ld %ld\" data-top=\"0\" data-bottom=\"%d\">\n<style>\n",
               width, height, width, height, BOX_PAD);
    put_colors(out, ".", ">.shape{fill", false);
    buf_printf(out, "%s</style>\n", style);
    put_rect(out, "page", p->width, p->height);
    put_boxes(p);
    buf_puts(out, "</svg>\n");
}

static void put_page(struct picture *p)
{
    struct buf *out = &p->g->out;
    const struct str path = str_of(p->g->l->path);
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"/><title>");
    put_xml(out, path);
    buf_printf(out, "</title>\n<style>\n%s", page_style);
    put_colors(out, ".key.", "{background", false);
    buf_puts(out, "</style></head>\n<body>\n<header><b>");
    put_xml(out, path);
    buf_puts(out, "</b>\n<button onclick=\"foldAll(true)\">fold all</button>\n"
                  "<button onclick=\"foldAll(false)\">unfold all</button>\n");
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        buf_printf(out, "<span class=\"key %s\">%s</span>", kinds[k].name, kinds[k].name);
    buf_puts(out, "\n</header>\n");
    put_svg(p);
    buf_puts(out, "<style>\n@media (prefers-color-scheme: dark) {\n");
    put_colors(out, ".", ">.shape{fill", true);
    put_colors(out, ".key.", "{background", true);
    buf_printf(out, "%s\n}\n</style>\n<script>\n%s</script>\n</body>\n</html>\n", dark_style,
               script);
}

void graph_put_svg(struct graph *g)
{
    struct picture p;
    picture_init(&p, g);
    (g->format == GRAPH_HTML ? put_page : put_svg)(&p);
    picture_free(&p);
}
