/*
 * The line of a trace for an executed instruction, as text or JSON.
 */
#include "cli/listed.h"
#include "cli/trace.h"

enum {
    WIDEST_NAME = 40,
    WIDEST_SHAPE = 32,
    NARROW = 16,
    NARROWEST = 8,
    PART = 4,
    LOOP = 6,
    DIGITS = 4
};

/* Columns after the shape, each behind two blanks. */
enum { TIME, MIN, MAX, MEAN, NANS, INFS, ZEROS, FIGURES };
static const struct {
    const char *head;
    int width;
} figures[FIGURES] = {
    [TIME] = {"time", 11}, [MIN] = {"min", 10}, [MAX] = {"max", 10},   [MEAN] = {"mean", 10},
    [NANS] = {"nan", 6},   [INFS] = {"inf", 6}, [ZEROS] = {"zero", 6},
};
enum { GAP = 2 };

struct columns {
    int name, shape;
    bool loops; /* the module has loops */
    bool parts; /* several participants */
    bool cut;   /* names are cut to their column */
    bool dropped[FIGURES];
};

/* ---- shapes without layouts, truncated to their column ---- */

static void put_shape(struct buf *out, const char *shape, int max)
{
    SCOPED_BUF b = {0};
    put_shape_alone(&b, shape);
    if (b.size > (size_t)max)
        buf_printf(out, "%.*s...", max - 3, b.data);
    else
        buf_str(out, buf_view(&b));
}

static int width_of_shape(const char *shape)
{
    SCOPED_BUF b = {0};
    put_shape(&b, shape, WIDEST_SHAPE);
    return (int)b.size;
}

static int line_width(const struct columns *c)
{
    int width =
        c->name + GAP + c->shape + (c->parts ? PART + GAP : 0) + (c->loops ? LOOP + GAP : 0);
    for (int k = 0; k < FIGURES; k++)
        width += c->dropped[k] ? 0 : figures[k].width + (k == TIME ? 0 : GAP);
    return width;
}

static void narrow(struct columns *c, int *column, int least, size_t width)
{
    while (*column > least && (size_t)line_width(c) > width)
        --*column;
}

/* Drops columns and narrows those of names and shapes until lines fit. */
static void fit(struct columns *c, size_t width)
{
    static const int first[] = {ZEROS, MEAN}, last[] = {INFS, MIN, MAX, TIME};
    c->cut = width < SIZE_MAX;
    for (size_t k = 0; k < COUNT_OF(first) && (size_t)line_width(c) > width; k++)
        c->dropped[first[k]] = true;
    narrow(c, &c->shape, NARROW, width);
    narrow(c, &c->name, NARROW, width);
    for (size_t k = 0; k < COUNT_OF(last) && (size_t)line_width(c) > width; k++)
        c->dropped[last[k]] = true;
    narrow(c, &c->shape, NARROWEST, width);
    narrow(c, &c->name, NARROWEST, width);
}

struct columns *columns_new(const hlo_listing *l, size_t participants, size_t width)
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
    c->parts = participants > 1;
    fit(c, width);
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

/* Writes a figure; `-` if it is unknown. */
static void put_figure(struct buf *out, const struct columns *c, int column, struct buf *text)
{
    if (!c->dropped[column]) {
        if (text->size == 0)
            buf_putc(text, '-');
        buf_printf(out, "%*s", column == TIME ? 0 : GAP, "");
        put_cell(out, text, figures[column].width, true);
    }
    text->size = 0;
}

static void put_number(struct buf *out, const struct columns *c, int column, double v, bool there)
{
    SCOPED_BUF b = {0};
    if (there)
        buf_g(&b, v, DIGITS);
    put_figure(out, c, column, &b);
}

static void put_count(struct buf *out, const struct columns *c, int column, uint64_t n, bool there)
{
    SCOPED_BUF b = {0};
    if (there)
        buf_uint(&b, n);
    put_figure(out, c, column, &b);
}

/* Writes the columns that identify the instruction. */
static void put_inst(struct buf *out, const struct tracing *t, const struct traced *i,
                     const char *shape)
{
    const struct columns *c = t->columns;
    SCOPED_BUF b = {0};
    if (c->parts)
        buf_printf(out, "%*zu  ", PART, i->event->participant);
    if (c->loops) {
        put_iterations(&b, t, i->event);
        put_cell(out, &b, LOOP, false);
        buf_puts(out, "  ");
    }
    const size_t length = strlen(i->inst.name), most = c->cut ? (size_t)c->name : SIZE_MAX;
    buf_printf(&b, "%.*s%s", (int)(length > most ? most - 3 : length), i->inst.name,
               length > most ? "..." : "");
    put_cell(out, &b, c->name, false);
    buf_puts(out, "  ");
    put_shape(&b, shape, c->cut ? c->shape : WIDEST_SHAPE);
    put_cell(out, &b, c->shape, false);
}

static void put_text_line(struct buf *out, const struct tracing *t, const struct traced *i)
{
    const struct hlo_stats *s = &i->stats;
    if (!i->value) {
        put_inst(out, t, i, i->inst.shape);
        buf_puts(out, "  not executed: its result is unused\n");
        return;
    }
    SCOPED_TEXT shape = hlo_literal_shape(i->value);
    put_inst(out, t, i, shape.data);
    const struct columns *c = t->columns;
    SCOPED_BUF time = {0};
    if (i->event->seconds > 0)
        buf_seconds(&time, i->event->seconds);
    put_figure(out, c, TIME, &time);
    const bool any = i->array && s->finite > 0;
    put_number(out, c, MIN, s->min, any);
    put_number(out, c, MAX, s->max, any);
    put_number(out, c, MEAN, s->mean, any);
    put_count(out, c, NANS, s->nan, i->array);
    put_count(out, c, INFS, s->positive_inf + s->negative_inf, i->array);
    put_count(out, c, ZEROS, s->zero, i->array);
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
    SCOPED_TEXT shape = hlo_literal_shape(i->value), stats = hlo_stats_json(&i->stats);
    put_json_inst(out, t, i, shape.data);
    buf_json_real(out, "seconds", s->seconds, 6);
    buf_printf(out, ",\"stats\":%s}\n", stats.data);
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
    if (c->parts)
        buf_puts(out, "part  ");
    if (c->loops)
        buf_printf(out, "%-*s  ", LOOP, "loop");
    buf_printf(out, "%-*s  %-*s", c->name, "instruction", c->shape, "shape");
    for (int k = 0; k < FIGURES; k++)
        if (!c->dropped[k])
            buf_printf(out, "%*s", figures[k].width + (k == TIME ? 0 : GAP), figures[k].head);
    buf_putc(out, '\n');
}

void put_trace_line(struct buf *out, const struct tracing *t, const struct traced *i)
{
    if (t->json)
        put_json_line(out, t, i);
    else
        put_text_line(out, t, i);
}
