/*
 * hlo graph: a module, or the neighborhood of an instruction, as a picture or in DOT, the language
 * of Graphviz.
 */
#include "cli/arguments.h"
#include "cli/graph.h"

#include <stdio.h>

enum {
    DEFAULT_WIDTH = 2,
    MAX_WIDTH = 1000000,
    MAX_LABEL = 200 /* Graphviz rejects labels above 16 KB */
};

/* ---- --values ---- */

static bool note_value(void *context, const struct hlo_event *s)
{
    struct graph *g = context;
    const hlo_literal *value = s->participant == 0 ? hlo_event_value(s) : NULL;
    if (value)
        g->stats[s->inst] = hlo_literal_stats(value);
    return value || s->participant > 0;
}

static int run_with_trace(struct graph *g, struct arguments *a)
{
    const struct hlo_trace_callbacks trace_callbacks = {
        .size = sizeof trace_callbacks, .context = g, .after = note_value};
    struct hlo_run_options options;
    int status = arguments_prepare(a, &options);
    const hlo_literal *const *args = (const hlo_literal *const *)a->all;
    if (status == HLO_OK &&
        !hlo_run_traced(a->module, &options, &trace_callbacks, args, a->count, a->m))
        status = hlo_messages_limit(a->m) ? HLO_LIMIT : HLO_FAILED;
    return status;
}

static int find_values(struct graph *g)
{
    const struct options *o = g->l->o;
    struct arguments a = {.o = o,
                          .m = g->l->m,
                          .module = g->l->module,
                          .given = o->args + 1,
                          .given_count = o->arg_count - 1,
                          .make_up = true};
    int status = arguments_check(&a, g->l->module);
    if (status != HLO_OK)
        return status;
    g->stats = heap_zalloc(hlo_list_count(g->l->listing) + 1, sizeof *g->stats);
    status = run_with_trace(g, &a);
    arguments_free(&a);
    return status;
}

/* ---- neighborhood ---- */

/* Visits the neighbors of an instruction: operands, users, roots of called computations and, for a
 * parameter or root, callers. */
static void visit_neighbours(const struct graph *g, size_t inst, size_t *queue, size_t *count)
{
    const hlo_listing *l = g->l->listing;
    const struct hlo_listed i = hlo_list_inst(l, inst);
    const struct hlo_listed_computation c = hlo_list_computation(l, i.computation);
    const size_t *const lists[] = {i.operands, i.users, c.callers};
    const size_t counts[] = {i.operand_count, i.user_count,
                             i.parameter >= 0 || c.root == inst ? c.caller_count : 0};
    for (size_t n = 0; n < COUNT_OF(lists); n++)
        for (size_t k = 0; k < counts[n]; k++)
            if (!g->shown[lists[n][k]]) {
                g->shown[lists[n][k]] = true;
                queue[(*count)++] = lists[n][k];
            }
    for (size_t k = 0; k < i.callee_count; k++) {
        const size_t root = hlo_list_computation(l, i.callees[k]).root;
        if (!g->shown[root]) {
            g->shown[root] = true;
            queue[(*count)++] = root;
        }
    }
}

static void choose_around(struct graph *g, int64_t width)
{
    size_t *queue = heap_zalloc(hlo_list_count(g->l->listing) + 1, sizeof *queue), count = 1,
           done = 0;
    queue[0] = (size_t)g->around;
    g->shown[g->around] = true;
    for (int64_t distance = 0; distance < width && done < count; distance++)
        for (size_t end = count; done < end; done++)
            visit_neighbours(g, queue[done], queue, &count);
    heap_free(queue);
}

static void choose_all(struct graph *g)
{
    for (size_t n = 0; n < hlo_list_count(g->l->listing); n++)
        g->shown[n] = listed_filter(g->l, hlo_list_inst(g->l->listing, n).computation);
}

/* ---- DOT ---- */

/* Writes a string in DOT syntax, truncated if too long. */
static void put_label(struct buf *out, const char *text)
{
    for (size_t k = 0; text[k] && k < MAX_LABEL; k++) {
        if (text[k] == '"' || text[k] == '\\')
            buf_putc(out, '\\');
        buf_putc(out, text[k]);
    }
    if (strlen(text) > MAX_LABEL)
        buf_puts(out, "...");
}

void graph_put_stats(struct buf *out, const struct hlo_stats *s, const char *line)
{
    if (s->finite > 0) {
        buf_puts(out, line);
        buf_g(out, s->min, 6);
        if (s->elements > 1) {
            buf_puts(out, " ... ");
            buf_g(out, s->max, 6);
            buf_puts(out, ", mean ");
            buf_g(out, s->mean, 6);
        }
    }
    if (s->nan > 0)
        buf_printf(out, "%s%" PRIu64 " nan", line, s->nan);
    if (s->positive_inf + s->negative_inf > 0)
        buf_printf(out, "%s%" PRIu64 " inf", line, s->positive_inf + s->negative_inf);
}

static void put_node(struct graph *g, size_t inst)
{
    const struct hlo_listed i = hlo_list_inst(g->l->listing, inst);
    const bool root = hlo_list_computation(g->l->listing, i.computation).root == inst;
    struct buf *out = &g->out;
    buf_printf(out, "    n%zu [label=\"", inst);
    put_label(out, i.name);
    buf_puts(out, "\\n");
    put_label(out, i.op);
    buf_putc(out, ' ');
    put_label(out, i.shape);
    if (*i.where) {
        buf_puts(out, "\\n");
        put_label(out, i.where);
    }
    if (g->stats)
        graph_put_stats(out, &g->stats[inst], "\\n");
    buf_putc(out, '"');
    if (g->stats && g->stats[inst].nan > 0)
        buf_puts(out, ", style=filled, fillcolor=red");
    else if (g->around == (long)inst)
        buf_puts(out, ", style=filled, fillcolor=gold");
    else if (i.parameter >= 0)
        buf_puts(out, ", style=filled, fillcolor=lightblue");
    else if (strcmp(i.op, "constant") == 0)
        buf_puts(out, ", style=filled, fillcolor=gray90");
    buf_puts(out, root ? ", peripheries=2];\n" : "];\n");
}

static void put_edges(struct graph *g, size_t inst)
{
    const hlo_listing *l = g->l->listing;
    const struct hlo_listed i = hlo_list_inst(l, inst);
    for (size_t k = 0; k < i.operand_count; k++)
        if (g->shown[i.operands[k]])
            buf_printf(&g->out,
                       i.operand_count > 1 ? "  n%zu -> n%zu [headlabel=\"%zu\"];\n"
                                           : "  n%zu -> n%zu;\n",
                       i.operands[k], inst, k);
    for (size_t k = 0; k < i.callee_count; k++) {
        const size_t root = hlo_list_computation(l, i.callees[k]).root;
        if (g->shown[root])
            buf_printf(&g->out, "  n%zu -> n%zu [style=dotted];\n", root, inst);
    }
}

static void put_cluster(struct graph *g, size_t computation)
{
    const struct hlo_listed_computation c = hlo_list_computation(g->l->listing, computation);
    bool any = false;
    for (size_t k = 0; k < c.count; k++)
        any |= g->shown[c.first + k];
    if (!any)
        return;
    buf_printf(&g->out, "  subgraph cluster_%zu {\n    label=\"", computation);
    put_label(&g->out, c.name);
    buf_puts(&g->out, c.entry ? "\"; penwidth=2;\n" : "\";\n");
    for (size_t k = 0; k < c.count; k++)
        if (g->shown[c.first + k])
            put_node(g, c.first + k);
    buf_puts(&g->out, "  }\n");
}

static void put_dot(struct graph *g)
{
    buf_puts(&g->out, "digraph \"");
    put_label(&g->out, g->l->path);
    buf_puts(&g->out, "\" {\n  node [shape=box, fontname=monospace, fontsize=10];\n");
    for (size_t c = 0; c < hlo_list_computations(g->l->listing); c++)
        put_cluster(g, c);
    for (size_t n = 0; n < hlo_list_count(g->l->listing); n++)
        if (g->shown[n])
            put_edges(g, n);
    buf_puts(&g->out, "}\n");
}

/* ---- the command ---- */

#define UNKNOWN_FORMAT "unknown format of '%s': expected .dot, .svg or .html"

static bool format_of(const char *word, enum graph_format *out)
{
    static const char *const words[] = {"dot", "svg", "html", "gv", "htm"};
    static const enum graph_format formats[] = {GRAPH_DOT, GRAPH_SVG, GRAPH_HTML, GRAPH_DOT,
                                                GRAPH_HTML};
    const int k = str_among(str_of(word), words, COUNT_OF(words));
    if (k >= 0)
        *out = formats[k];
    return k >= 0;
}

static bool format_of_file(const char *path, enum graph_format *out)
{
    const char *dot = strrchr(path, '.');
    return dot && format_of(dot + 1, out);
}

/* The format is that of --to or of the suffix of --output; on standard output DOT. */
static bool read_format(const struct options *o, enum graph_format *out)
{
    const char *path = o->given[OPT_OUTPUT] ? o->value[OPT_OUTPUT] : "-";
    const char *to = o->value[OPT_TO];
    *out = GRAPH_DOT;
    if (to && !format_of(to, out))
        return usage_error(o, "invalid value '%s' for '--to': expected dot, svg or html", to),
               false;
    if (!to && strcmp(path, "-") != 0 && !format_of_file(path, out))
        return usage_error(o, UNKNOWN_FORMAT ", or use --to", path), false;
    return true;
}

static void draw(struct graph *g, int64_t width)
{
    g->shown = heap_zalloc(hlo_list_count(g->l->listing) + 1, sizeof *g->shown);
    if (g->around >= 0)
        choose_around(g, width);
    else
        choose_all(g);
    (g->format == GRAPH_DOT ? put_dot : graph_put_svg)(g);
    heap_free(g->shown);
}

bool graph_write(const hlo_listing *l, long around, const char *path, hlo_messages *m)
{
    const struct listed_module module = {.path = "session", .listing = l, .only = -1, .m = m};
    struct graph g = {.l = &module, .around = around};
    if (!format_of_file(path, &g.format))
        return file_error(m, "hlo", UNKNOWN_FORMAT, path);
    draw(&g, DEFAULT_WIDTH);
    const bool ok = hlo_write_text(path, g.out.data, g.out.size, m);
    buf_free(&g.out);
    return ok;
}

/* `context`: the number of modules so far; a picture or file has only one. */
static int graph_module(void *context, const struct listed_module *l)
{
    size_t *modules = context;
    const char *name = l->o->value[OPT_AROUND];
    struct graph g = {.l = l, .around = name ? hlo_list_find(l->listing, name) : -1};
    int64_t width;
    if (!read_format(l->o, &g.format))
        return HLO_USAGE;
    const bool several = (*modules)++ > 0 || hlo_file_count(l->file) > 1;
    if (several && (g.format != GRAPH_DOT || l->o->given[OPT_OUTPUT]))
        return usage_error(l->o, "%s has several modules; select one with --module", l->path);
    if (!option_int(l->o, OPT_WIDTH, 0, MAX_WIDTH, DEFAULT_WIDTH, &width))
        return HLO_USAGE;
    if (name && g.around < 0)
        return usage_error(l->o, "%s has no instruction '%s'", l->path, name);
    int status = l->o->given[OPT_VALUES] ? find_values(&g) : HLO_OK;
    if (status == HLO_OK) {
        draw(&g, width);
        status = put_output(l->o, buf_view(&g.out), l->m) ? HLO_OK : HLO_USAGE;
    }
    buf_free(&g.out);
    heap_free(g.stats);
    return status;
}

int graph_command(const struct options *o)
{
    if (o->arg_count > 1 && !o->given[OPT_VALUES])
        return usage_error(o, "expected one file; arguments require --values");
    size_t modules = 0;
    return each_listed(o, o->args, 1, false, graph_module, &modules);
}
