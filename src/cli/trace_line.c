/*
 * The line of a trace for an executed instruction, as text or JSON.
 */
#include "cli/trace.h"

enum { WIDEST_NAME = 40, WIDEST_SHAPE = 32, LOOP = 6, NUMBER = 10, COUNT = 6, DIGITS = 4 };

struct columns {
    int name, shape;
    bool loops; /* the module has loops */
};

/* ---- shapes without layouts, truncated to their column ---- */

static void put_shape(struct buf *out, const char *shape, int max)
{
    struct buf b = {0};
    for (int depth = 0; *shape; shape++) {
        depth += *shape == '{';
        if (depth == 0)
            buf_putc(&b, *shape);
        depth -= *shape == '}';
    }
    if (b.size > (size_t)max)
        buf_printf(out, "%.*s...", max - 3, b.data);
    else
        buf_str(out, buf_view(&b));
    buf_free(&b);
}

static int width_of_shape(const char *shape)
{
    struct buf b = {0};
    put_shape(&b, shape, WIDEST_SHAPE);
    int width = (int)b.size;
    buf_free(&b);
    return width;
}

struct columns *columns_new(const hlo_listing *l)
{
    struct columns *c = heap_zalloc(1, sizeof *c);
    c->name = (int)strlen("instruction");
    c->shape = (int)strlen("shape");
    for (size_t k = 0; k < hlo_list_count(l); k++) {
        const struct hlo_listed i = hlo_list_inst(l, k);
        int name = (int)strlen(i.name), shape = width_of_shape(i.shape);
        c->name = name > c->name ? name : c->name;
        c->shape = shape > c->shape ? shape : c->shape;
        c->loops |= strcmp(i.op, "while") == 0;
    }
    if (c->name > WIDEST_NAME)
        c->name = WIDEST_NAME;
    return c;
}

/* ---- text ---- */

void put_iterations(struct buf *out, const struct tracing *t, const struct hlo_event *s)
{
    const size_t before = out->size;
    for (size_t k = 0; k < s->depth; k++) {
        if (strcmp(hlo_list_inst(t->listing, s->within[k].inst).op, "while") != 0)
            continue;
        if (out->size > before)
            buf_putc(out, '.');
        if (s->within[k].iteration < 0)
            buf_puts(out, "test");
        else
            buf_int(out, s->within[k].iteration);
    }
}

/* Writes text right- or left-aligned in a column. */
static void put_cell(struct buf *out, struct buf *text, int width, bool right)
{
    for (int k = (int)text->size; right && k < width; k++)
        buf_putc(out, ' ');
    buf_str(out, buf_view(text));
    for (int k = (int)text->size; !right && k < width; k++)
        buf_putc(out, ' ');
    text->size = 0;
}

static void put_number(struct buf *out, double v, bool there)
{
    struct buf b = {0};
    buf_puts(out, "  ");
    if (there)
        buf_g(&b, v, DIGITS);
    else
        buf_putc(&b, '-');
    put_cell(out, &b, NUMBER, true);
    buf_free(&b);
}

static void put_count(struct buf *out, uint64_t n, bool there)
{
    struct buf b = {0};
    buf_puts(out, "  ");
    if (there)
        buf_uint(&b, n);
    else
        buf_putc(&b, '-');
    put_cell(out, &b, COUNT, true);
    buf_free(&b);
}

/* Writes the columns that identify the instruction. */
static void put_inst(struct buf *out, const struct tracing *t, const struct traced *i,
                     const char *shape)
{
    const struct columns *c = t->columns;
    struct buf b = {0};
    if (t->participants > 1)
        buf_printf(out, "%4zu  ", i->event->participant);
    if (c->loops) {
        put_iterations(&b, t, i->event);
        put_cell(out, &b, LOOP, false);
        buf_puts(out, "  ");
    }
    buf_puts(&b, i->inst.name);
    put_cell(out, &b, c->name, false);
    buf_puts(out, "  ");
    put_shape(&b, shape, WIDEST_SHAPE);
    put_cell(out, &b, c->shape, false);
    buf_free(&b);
}

static void put_text_line(struct buf *out, const struct tracing *t, const struct traced *i)
{
    const struct hlo_stats *s = &i->stats;
    if (!i->value) {
        put_inst(out, t, i, i->inst.shape);
        buf_puts(out, "  not executed: its result is unused\n");
        return;
    }
    hlo_text shape = hlo_literal_shape(i->value);
    put_inst(out, t, i, shape.data);
    hlo_text_free(&shape);
    if (i->event->seconds > 0)
        put_seconds(out, i->event->seconds);
    else
        buf_puts(out, "          -");
    const bool any = i->array && s->finite > 0;
    put_number(out, s->min, any);
    put_number(out, s->max, any);
    put_number(out, s->mean, any);
    put_count(out, s->nan, i->array);
    put_count(out, s->positive_inf + s->negative_inf, i->array);
    put_count(out, s->zero, i->array);
    buf_putc(out, '\n');
}

/* ---- JSON ---- */

/* Writes the members that identify the instruction. */
static void put_json_inst(struct buf *out, const struct tracing *t, const struct traced *i,
                          const char *shape)
{
    const struct hlo_event *s = i->event;
    buf_printf(out, "{\"number\":%" PRIu64, s->number);
    if (t->participants > 1)
        buf_json_count(out, "participant", s->participant);
    buf_json_text(out, "name", str_of(i->inst.name));
    buf_json_text(out, "op", str_of(i->inst.op));
    buf_json_text(out, "computation", str_of(i->computation));
    buf_json_text(out, "shape", str_of(shape));
    if (i->inst.line > 0)
        buf_json_count(out, "line", i->inst.line);
    if (*i->inst.where)
        buf_json_text(out, "where", str_of(i->inst.where));
    buf_json_open(out, "within", '[');
    for (size_t k = 0; k < s->depth; k++) {
        buf_json_open(out, NULL, '{');
        buf_json_text(out, "name", str_of(hlo_list_inst(t->listing, s->within[k].inst).name));
        buf_json_int(out, "iteration", s->within[k].iteration);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_json_line(struct buf *out, const struct tracing *t, const struct traced *i)
{
    const struct hlo_event *s = i->event;
    if (!i->value) {
        put_json_inst(out, t, i, i->inst.shape);
        buf_puts(out, ",\"executed\":false}\n");
        return;
    }
    hlo_text shape = hlo_literal_shape(i->value), stats = hlo_stats_json(&i->stats);
    put_json_inst(out, t, i, shape.data);
    buf_json_real(out, "seconds", s->seconds, 6);
    buf_printf(out, ",\"stats\":%s}\n", stats.data);
    hlo_text_free(&shape);
    hlo_text_free(&stats);
}

/* ---- entry points ---- */

void put_trace_head(struct buf *out, const struct tracing *t)
{
    const struct columns *c = t->columns;
    if (t->json) {
        buf_puts(out, "{\"schema\":1,\"trace\":");
        buf_json_str(out, str_of(file_argument(t->o)));
        buf_puts(out, "}\n");
        return;
    }
    if (t->participants > 1)
        buf_puts(out, "part  ");
    if (c->loops)
        buf_printf(out, "%-*s  ", LOOP, "loop");
    buf_printf(out, "%-*s  %-*s%11s  %*s  %*s  %*s  %*s  %*s  %*s\n", c->name, "instruction",
               c->shape, "shape", "time", NUMBER, "min", NUMBER, "max", NUMBER, "mean", COUNT,
               "nan", COUNT, "inf", COUNT, "zero");
}

void put_trace_line(struct buf *out, const struct tracing *t, const struct traced *i)
{
    if (t->json)
        put_json_line(out, t, i);
    else
        put_text_line(out, t, i);
}
