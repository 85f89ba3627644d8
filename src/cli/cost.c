/*
 * hlo cost: operations and bytes of instructions, estimated from shapes.
 */
#include "base/table.h"
#include "cli/listed.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_TOP = 20 };

struct cost_line {
    size_t inst;
    double times, operations, bytes; /* total of all executions */
};

struct costs {
    const struct listed_module *l;
    double *times; /* by computation: number of executions in a run of the entry computation */
    bool *fused;   /* by computation: runs inside a fusion, so that its bytes stay in the cache */
    bool loops;    /* a loop has no known trip count and is counted once */
    struct cost_line *lines;
    size_t count;
    double operations, bytes;
};

/* Whether the instruction calls its computations on whole values, not on elements. */
static bool runs_whole(const char *op)
{
    static const char *const ops[] = {"async-start", "call", "conditional", "fusion", "while"};
    return str_among(str_of(op), ops, COUNT_OF(ops)) >= 0;
}

/* The trip count that XLA records in the backend_config of a while. */
static double trip_count(const hlo_listing *l, size_t inst)
{
    static const char key[] = "\"known_trip_count\":{\"n\":\"";
    SCOPED_TEXT text = hlo_list_print(l, inst, HLO_PRINT_ABRIDGED);
    const char *at = strstr(text.data, key);
    return at ? strtod(at + strlen(key), NULL) : -1;
}

static void note_call(struct costs *c, size_t inst, const struct hlo_listed *i)
{
    const bool loop = strcmp(i->op, "while") == 0;
    double times = c->times[i->computation], trips = loop ? trip_count(c->l->listing, inst) : 1;
    c->loops |= trips < 0;
    for (size_t k = 0; k < i->callee_count; k++) {
        c->times[i->callees[k]] += times * (trips < 0 ? 1 : trips);
        c->fused[i->callees[k]] |= c->fused[i->computation] || strcmp(i->op, "fusion") == 0;
    }
}

static void add_line(struct costs *c, size_t inst, const struct hlo_listed *i)
{
    const double times = c->times[i->computation];
    struct hlo_cost one = hlo_list_cost(c->l->listing, inst);
    if (runs_whole(i->op) && strcmp(i->op, "fusion") != 0)
        one = (struct hlo_cost){0, 0};
    if (c->fused[i->computation])
        one.bytes = 0;
    struct cost_line line = {inst, times, times * one.operations, times * one.bytes};
    if (line.operations == 0 && line.bytes == 0)
        return;
    c->operations += line.operations;
    c->bytes += line.bytes;
    c->lines[c->count++] = line;
}

static int dearest_first(const void *a, const void *b)
{
    const struct cost_line *x = a, *y = b;
    if (x->operations != y->operations)
        return x->operations < y->operations ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->inst > y->inst) - (x->inst < y->inst);
}

/* Visits callers before callees: callers have higher numbers. */
static void count_all(struct costs *c)
{
    const hlo_listing *l = c->l->listing;
    const size_t computations = hlo_list_computations(l);
    c->times[computations - 1] = 1;
    for (size_t n = computations; n-- > 0;) {
        const struct hlo_listed_computation at = hlo_list_computation(l, n);
        for (size_t k = 0; k < at.count && c->times[n] > 0; k++) {
            const struct hlo_listed i = hlo_list_inst(l, at.first + k);
            if (runs_whole(i.op))
                note_call(c, at.first + k, &i);
            if (listed_filter(c->l, n))
                add_line(c, at.first + k, &i);
        }
    }
    if (c->count > 0)
        qsort(c->lines, c->count, sizeof *c->lines, dearest_first);
}

/* ---- for people ---- */

static const struct table_column columns[] = {
    {"operations", true, 0}, {"share", true, 2}, {"bytes", true, 4},
    {"share", true, 1},      {"times", true, 3}, {"instruction", false, 0},
};

static void put_amount(struct buf *out, double v)
{
    static const char units[] = " kMGTPE";
    int unit = 0;
    for (; v >= 1000 && unit < 6; unit++)
        v /= 1000;
    if (unit)
        buf_printf(out, "%.2f%c", v, units[unit]);
    else
        buf_printf(out, "%.0f", v);
}

/* Two cells: an amount and its share of the total. */
static void add_share(struct table *t, double v, double total)
{
    put_amount(&t->text, v);
    table_next(t);
    buf_printf(&t->text, "%.1f%%", total > 0 ? 100 * v / total : 0);
    table_next(t);
}

static void add_row(struct table *t, const struct costs *c, const struct cost_line *line)
{
    const struct hlo_listed i = hlo_list_inst(c->l->listing, line->inst);
    add_share(t, line->operations, c->operations);
    add_share(t, line->bytes, c->bytes);
    put_amount(&t->text, line->times);
    table_next(t);
    buf_printf(&t->text, "%s  %s  %s", i.name, i.op, i.shape);
    table_next(t);
}

static void put_text(struct buf *out, const struct costs *c, size_t top)
{
    struct table t = TABLE(columns);
    buf_printf(out, "%s: ", c->l->path);
    put_amount(out, c->operations);
    buf_puts(out, " operations, ");
    put_amount(out, c->bytes);
    buf_printf(out, " bytes moved%s\n",
               c->loops ? "; loops of unknown trip count are counted once" : "");
    for (size_t k = 0; k < c->count && k < top; k++)
        add_row(&t, c, &c->lines[k]);
    table_put_within(out, &t, output_width(c->l->o));
    if (c->count > top)
        buf_printf(out, "... %zu more\n", c->count - top);
}

/* ---- for programs ---- */

static void put_json(struct buf *out, const struct costs *c)
{
    enum { DIGITS = 17 };
    put_module_json(out, c->l);
    buf_json_real(out, "operations", c->operations, DIGITS);
    buf_json_real(out, "bytes", c->bytes, DIGITS);
    buf_json_bool(out, "loops_once", c->loops);
    buf_json_open(out, "instructions", '[');
    for (size_t k = 0; k < c->count; k++) {
        const struct hlo_listed i = hlo_list_inst(c->l->listing, c->lines[k].inst);
        buf_puts(out, k ? ",\n{" : "\n{");
        buf_json_text(out, "name", str_of(i.name));
        buf_json_text(out, "op", str_of(i.op));
        buf_json_text(out, "computation",
                      str_of(hlo_list_computation(c->l->listing, i.computation).name));
        buf_json_real(out, "times", c->lines[k].times, DIGITS);
        buf_json_real(out, "operations", c->lines[k].operations, DIGITS);
        buf_json_real(out, "bytes", c->lines[k].bytes, DIGITS);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}\n");
}

static int cost_of_module(void *context, const struct listed_module *l)
{
    const size_t computations = hlo_list_computations(l->listing);
    const int64_t *top = context;
    struct costs c = {.l = l,
                      .times = heap_zalloc(computations, sizeof *c.times),
                      .fused = heap_zalloc(computations, sizeof *c.fused),
                      .lines = heap_zalloc(hlo_list_count(l->listing) + 1, sizeof *c.lines)};
    struct buf out = {0};
    count_all(&c);
    if (l->o->given[OPT_JSON])
        put_json(&out, &c);
    else
        put_text(&out, &c, (size_t)*top);
    print_buf(&out);
    heap_free(c.times);
    heap_free(c.fused);
    heap_free(c.lines);
    return HLO_OK;
}

int cost_command(const struct options *o)
{
    int64_t top;
    if (!option_int(o, OPT_TOP, 1, INT32_MAX, DEFAULT_TOP, &top))
        return HLO_USAGE;
    return each_listed(o, o->args, o->arg_count, true, cost_of_module, &top);
}
