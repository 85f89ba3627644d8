/*
 * hlo ls: lists computations and instructions, or the number of instructions per opcode.
 */
#include "base/table.h"
#include "cli/listed.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- for people ---- */

static void put_title(struct buf *out, const struct listed_module *l)
{
    const size_t computations = hlo_list_computations(l->listing),
                 instructions = hlo_list_count(l->listing);
    buf_printf(out, "%s", l->path);
    if (l->parts > 1)
        buf_printf(out, " module %zu%s%s", l->part + 1, *l->title ? " " : "", l->title);
    buf_printf(out, ": %zu computation%s, %zu instruction%s\n", computations,
               computations == 1 ? "" : "s", instructions, instructions == 1 ? "" : "s");
}

static const struct table_column columns[] = {
    {NULL, false, 0}, {NULL, false, 1}, {NULL, false, 2}, {NULL, false, 0}};

static void add_inst(struct table *t, const hlo_listing *l, size_t inst)
{
    const struct hlo_listed i = hlo_list_inst(l, inst);
    const char *separator = "";
    table_cell(t, str_of(i.name));
    table_cell(t, str_of(i.op));
    table_cell(t, str_of(i.shape));
    if (i.parameter >= 0)
        buf_printf(&t->text, "%ld", i.parameter);
    for (size_t k = 0; k < i.operand_count; k++, separator = ", ")
        buf_printf(&t->text, "%s%s", separator, hlo_list_inst(l, i.operands[k]).name);
    separator = i.operand_count > 0 ? "  calls " : "calls ";
    for (size_t k = 0; k < i.callee_count; k++, separator = ", ")
        buf_printf(&t->text, "%s%s", separator, hlo_list_computation(l, i.callees[k]).name);
    if (*i.where)
        buf_printf(&t->text, "  %s", i.where);
    table_next(t);
}

static void put_computation(struct buf *out, const struct listed_module *of, size_t number)
{
    const hlo_listing *l = of->listing;
    const struct hlo_listed_computation c = hlo_list_computation(l, number);
    struct table t = TABLE(columns);
    buf_printf(out, "%s%s: %zu instruction%s", c.entry ? "ENTRY " : "", c.name, c.count,
               c.count == 1 ? "" : "s");
    for (size_t k = 0; k < c.caller_count && k < 3; k++)
        buf_printf(out, "%s %s", k ? "," : ", called by", hlo_list_inst(l, c.callers[k]).name);
    buf_printf(out, c.caller_count > 3 ? " and %zu more\n" : "\n", c.caller_count - 3);
    for (size_t k = 0; k < c.count; k++)
        add_inst(&t, l, c.first + k);
    table_put_within(out, &t, output_width(of->o));
}

/* ---- --histogram ---- */

struct op_count {
    const char *op;
    size_t count;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct op_count *)a)->op, ((const struct op_count *)b)->op);
}

static int most_first(const void *a, const void *b)
{
    const struct op_count *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->op, y->op);
}

/* Counts instructions by opcode in the selected computations. The caller frees the result. */
static struct op_count *count_ops(const struct listed_module *l, size_t *count)
{
    const size_t n = hlo_list_count(l->listing);
    struct op_count *ops = heap_zalloc(n + 1, sizeof *ops);
    size_t all = 0, kept = 0;
    for (size_t k = 0; k < n; k++) {
        const struct hlo_listed i = hlo_list_inst(l->listing, k);
        if (listed_filter(l, i.computation))
            ops[all++] = (struct op_count){.op = i.op, .count = 1};
    }
    if (all > 0)
        qsort(ops, all, sizeof *ops, by_name);
    for (size_t k = 0; k < all; k++)
        if (kept > 0 && strcmp(ops[kept - 1].op, ops[k].op) == 0)
            ops[kept - 1].count++;
        else
            ops[kept++] = ops[k];
    if (kept > 0)
        qsort(ops, kept, sizeof *ops, most_first);
    *count = kept;
    return ops;
}

static void put_histogram(struct buf *out, const struct listed_module *l)
{
    size_t count;
    SCOPED_HEAP struct op_count *ops = count_ops(l, &count);
    for (size_t k = 0; k < count; k++)
        buf_printf(out, "%7zu  %s\n", ops[k].count, ops[k].op);
}

/* ---- for programs ---- */

static void put_histogram_json(struct buf *out, const struct listed_module *l)
{
    size_t count;
    SCOPED_HEAP struct op_count *ops = count_ops(l, &count);
    buf_json_open(out, "ops", '{');
    for (size_t k = 0; k < count; k++)
        buf_json_count(out, ops[k].op, ops[k].count);
    buf_putc(out, '}');
}

static void put_json(struct buf *out, const struct listed_module *l, bool histogram)
{
    put_module_json(out, l);
    if (histogram) {
        put_histogram_json(out, l);
        buf_puts(out, "}\n");
        return;
    }
    buf_json_open(out, "computations", '[');
    for (size_t c = 0; c < hlo_list_computations(l->listing); c++) {
        const struct hlo_listed_computation at = hlo_list_computation(l->listing, c);
        if (!listed_filter(l, c))
            continue;
        buf_json_open(out, NULL, '{');
        buf_json_text(out, "name", str_of(at.name));
        buf_json_bool(out, "entry", at.entry);
        put_names_json(out, "callers", l->listing, at.callers, at.caller_count, false);
        buf_json_open(out, "instructions", '[');
        for (size_t k = 0; k < at.count; k++) {
            buf_puts(out, k ? ",\n" : "\n");
            put_listed_json(out, l->listing, at.first + k);
        }
        buf_puts(out, "]}");
    }
    buf_puts(out, "]}\n");
}

static int list_module(void *context, const struct listed_module *l)
{
    const struct options *o = l->o;
    struct buf out = {0};
    if (o->given[OPT_JSON]) {
        put_json(&out, l, o->given[OPT_HISTOGRAM]);
    } else {
        put_title(&out, l);
        if (o->given[OPT_HISTOGRAM])
            put_histogram(&out, l);
        for (size_t c = 0; !o->given[OPT_HISTOGRAM] && c < hlo_list_computations(l->listing); c++)
            if (listed_filter(l, c))
                put_computation(&out, l, c);
    }
    print_buf(&out);
    return HLO_OK;
}

int ls_command(const struct options *o)
{
    return each_listed(o, o->args, o->arg_count, false, list_module, NULL);
}
