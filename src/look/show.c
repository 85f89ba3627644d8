/*
 * Values as text for terminals: on one line if they fit, else on several with aligned columns.
 * Large arrays are abbreviated to both ends of each dimension and statistics of the whole. Text of
 * complete values can be read back by `hlo run`.
 */
#include "look/look.h"

#include "text/text.h"

#include <math.h>

enum { USUAL_MAX = 1000, DEFAULT_EDGE = 3, DEFAULT_WIDTH = 80 };

struct show {
    struct buf *out;
    struct look_sink *to; /* may be NULL */
    struct hlo_view v;    /* with defaults filled in */
    const struct shape *shape;
    bool abridged;
    size_t edge;   /* elements kept at both ends, if abridged */
    bool trial;    /* the text may be discarded: it must not be drained */
    bool broken;   /* the array is printed on several lines */
    size_t margin; /* indentation of the whole value */
    size_t line;   /* offset of the current line in `out` */
    size_t widest; /* width of the widest element, for columns; 0: not aligned */
};

/* ---- one element ---- */

/* Prints a float as 0x1.8p+1. */
static void put_hex(struct buf *out, double v)
{
    int exponent;
    if (signbit(v))
        buf_putc(out, '-');
    if (v == 0) {
        buf_puts(out, "0x0p+0");
        return;
    }
    double mantissa = frexp(fabs(v), &exponent) * 2; /* in [1, 2) */
    uint64_t digits = (uint64_t)ldexp(mantissa - 1, 52);
    buf_puts(out, digits ? "0x1." : "0x1");
    for (; digits; digits = (digits << 4) & ((UINT64_C(1) << 52) - 1))
        buf_putc(out, "0123456789abcdef"[digits >> 48]);
    buf_printf(out, "p%+d", exponent - 1);
}

static void put_float(struct buf *out, enum dtype t, const void *p, const struct hlo_view *v)
{
    double value = float_load(t, p);
    if (!isfinite(value) || !(v->hex || v->precision > 0))
        text_print_element(out, t, p);
    else if (v->hex)
        put_hex(out, value);
    else
        buf_g(out, value, v->precision < 17 ? v->precision : 17);
}

void look_put_element(struct buf *out, enum dtype t, const void *p, const struct hlo_view *v)
{
    if (dtype_is_complex(t)) {
        buf_putc(out, '(');
        put_float(out, dtype_component(t), p, v);
        buf_puts(out, ", ");
        put_float(out, dtype_component(t), (const char *)p + dtype_bytes(dtype_component(t)), v);
        buf_putc(out, ')');
    } else if (dtype_is_float(t)) {
        put_float(out, t, p, v);
    } else {
        text_print_element(out, t, p);
    }
    if (v->bits) {
        buf_puts(out, " /*0x");
        for (size_t i = dtype_bytes(t); i-- > 0;)
            buf_printf(out, "%02x", ((const unsigned char *)p)[i]);
        buf_puts(out, "*/");
    }
}

/* ---- arrays ---- */

size_t look_drain(struct buf *out, struct look_sink *to)
{
    enum { PIECE = 1 << 16 };
    if (!to || out->size <= PIECE)
        return 0;
    const size_t n = out->size - 1;
    to->stopped = to->stopped || !to->put(to->context, out->data, n);
    memmove(out->data, out->data + n, 2);
    out->size = 1;
    return n;
}

/* Passes on what has been formatted; false: stop. */
static bool drain(struct show *w)
{
    if (!w->trial)
        w->line -= look_drain(w->out, w->to); /* may wrap around; differences are right */
    return !w->to || !w->to->stopped;
}

/* Whether the middle of dimension d is elided; and the next visible index after index i. */
static bool leaves_out(const struct show *w, int d)
{
    return w->abridged && (uint64_t)w->shape->dims[d] > 2 * (uint64_t)w->edge;
}
static int64_t next_shown(const struct show *w, int d, int64_t i)
{
    return leaves_out(w, d) && (uint64_t)i + 1 == w->edge ? w->shape->dims[d] - (int64_t)w->edge
                                                          : i + 1;
}

/* Calls `fn` for each visible element of the part of the array at `p`, which begins at dimension
 * d. */
static void each_shown(const struct show *w, int d, const char *p, size_t stride,
                       void (*fn)(void *context, enum dtype t, const char *p), void *context)
{
    const struct shape *s = w->shape;
    if (d == s->rank) {
        fn(context, s->dtype, p);
        return;
    }
    if (s->dims[d] == 0)
        return;
    stride /= (size_t)s->dims[d];
    for (int64_t i = 0; i < s->dims[d]; i = next_shown(w, d, i))
        each_shown(w, d + 1, p + (size_t)i * stride, stride, fn, context);
}

static void new_line(struct show *w, size_t indent)
{
    buf_putc(w->out, '\n');
    w->line = w->out->size;
    for (size_t i = 0; i < indent; i++)
        buf_putc(w->out, ' ');
}

static void put_shown(struct show *w, const char *p)
{
    const size_t start = w->out->size;
    look_put_element(w->out, w->shape->dtype, p, &w->v);
    const size_t length = w->out->size - start;
    if (length >= w->widest)
        return;
    const size_t blanks = w->widest - length;
    buf_reserve(w->out, blanks);
    memmove(w->out->data + start + blanks, w->out->data + start, length + 1);
    memset(w->out->data + start, ' ', blanks);
    w->out->size += blanks;
}

/* Prints a row. Long rows are wrapped below their first element; a vector has lines of its own. */
static void put_row(struct show *w, const char *p)
{
    int d = w->shape->rank - 1;
    int64_t n = w->shape->dims[d];
    /* A comma, or the closing brace. */
    size_t width = dtype_bytes(w->shape->dtype), need = w->widest + 3;
    bool spaced = w->shape->rank > 1 && n > 1, block = w->broken && d == 0;
    buf_puts(w->out, spaced ? "{ " : "{");
    if (block)
        new_line(w, w->margin + 2);
    size_t indent = w->out->size - w->line;
    for (int64_t i = 0; i < n && drain(w); i = next_shown(w, d, i)) {
        if (leaves_out(w, d) && i == n - (int64_t)w->edge)
            buf_puts(w->out, ", ...");
        if (i > 0)
            buf_bytes(w->out, ", ", 2);
        if (i > 0 && w->broken && w->out->size - w->line + need > w->v.width) {
            w->out->size--;
            new_line(w, indent);
        }
        put_shown(w, p + (size_t)i * width);
    }
    if (block)
        new_line(w, w->margin);
    buf_puts(w->out, spaced ? " }" : "}");
}

/* Prints the part of the array at `p` from dimension `d` on, of `size` bytes, at position `index`
 * of dimension d - 1. */
static void put_level(struct show *w, int d, const char *p, size_t size, int64_t index,
                      size_t indent)
{
    const struct shape *s = w->shape;
    int64_t n = s->dims[d];
    if (d == s->rank - 1) {
        put_row(w, p);
        return;
    }
    size_t part = n > 0 ? size / (size_t)n : 0;
    buf_puts(w->out, w->broken ? "{" : "{ ");
    if (d > 0 && s->rank > 3) {
        buf_printf(w->out, w->broken ? " /*i%d=%" PRId64 "*/" : "/*i%d=%" PRId64 "*/", d - 1,
                   index);
        if (n > 0 && !w->broken)
            buf_putc(w->out, ' ');
    }
    for (int64_t i = 0; i < n && drain(w); i = next_shown(w, d, i)) {
        if (i > 0)
            buf_puts(w->out, w->broken ? "," : ", ");
        if (leaves_out(w, d) && i == n - (int64_t)w->edge) {
            if (w->broken)
                new_line(w, indent + 2);
            buf_puts(w->out, w->broken ? "...," : "..., ");
        }
        if (w->broken)
            new_line(w, indent + 2);
        put_level(w, d + 1, p + (size_t)i * part, part, i, indent + 2);
    }
    if (w->broken)
        new_line(w, indent);
    buf_puts(w->out, w->broken ? "}" : " }");
}

static void count_shown(void *count, enum dtype t, const char *p) { ++*(size_t *)count; }

struct widest {
    const struct hlo_view *v;
    struct buf text;
    size_t widest;
};

static void measure(void *context, enum dtype t, const char *p)
{
    struct widest *w = context;
    w->text.size = 0;
    look_put_element(&w->text, t, p, w->v);
    w->widest = w->text.size > w->widest ? w->text.size : w->widest;
}

static void put_values(struct show *w, const struct literal *l, size_t bytes)
{
    size_t start = w->out->size, count = 0;
    if (w->v.width != SIZE_MAX)
        each_shown(w, 0, l->data, bytes, count_shown, &count);
    if (count <= w->v.width) {
        w->trial = w->v.width != SIZE_MAX;
        put_level(w, 0, l->data, bytes, 0, w->margin);
        w->trial = false;
        if (w->v.width == SIZE_MAX || w->out->size - w->line <= w->v.width)
            return;
        w->out->size = start;
    }
    struct widest widest = {.v = &w->v};
    each_shown(w, 0, l->data, bytes, measure, &widest);
    buf_free(&widest.text);
    w->widest = widest.widest;
    w->broken = true;
    put_level(w, 0, l->data, bytes, 0, w->margin);
}

/* About the number of columns of an element with its comma. */
static size_t usual_width(enum dtype t)
{
    const size_t bytes = dtype_bytes(t);
    return dtype_is_integer(t) || t == DT_PRED ? 6 : bytes > 4 ? 22 : bytes > 2 ? 14 : 10;
}

/* About the number of lines of the part of an array from dimension d on. */
static size_t lines_from(const struct show *w, int d)
{
    const size_t before = d > 0 ? 0 : w->abridged ? 80 : 20; /* shape and statistics */
    if (d == w->shape->rank)
        return 1;
    const uint64_t shown = leaves_out(w, d) ? 2 * w->edge + 1 : (uint64_t)w->shape->dims[d];
    if (d == w->shape->rank - 1) { /* a vector that does not fit has two lines more */
        const size_t columns =
            before + (shown < w->v.width ? shown : w->v.width) * usual_width(w->shape->dtype);
        return columns <= w->v.width ? 1 : (d > 0 ? 1 : 3) + columns / w->v.width;
    }
    const uint64_t lines = lines_from(w, d + 1);
    return shown < w->v.lines ? 2 + shown * lines : w->v.lines + 1;
}

/* Decides how much of the array is shown; false: only statistics. */
static bool abridge(struct show *w, int64_t elements)
{
    w->abridged = (uint64_t)elements > w->v.max;
    w->edge = w->v.edge;
    if (w->v.summary || w->v.lines == 0)
        return !w->v.summary || elements == 1;
    if (lines_from(w, 0) > w->v.lines)
        w->abridged = elements > 1;
    while (w->abridged && w->edge > 1 && lines_from(w, 0) > w->v.lines)
        w->edge--;
    return elements <= 1 || lines_from(w, 0) <= w->v.lines;
}

static void put_array(struct show *w, const struct literal *l)
{
    int64_t elements = 0, bytes = 0;
    shape_elements(l->shape, &elements);
    shape_bytes(l->shape, &bytes);
    w->shape = l->shape;
    w->broken = false;
    w->widest = 0;
    buf_putc(w->out, ' ');
    if (!abridge(w, elements)) {
        struct hlo_stats s = look_stats(l);
        look_put_stats(w->out, l->shape->dtype, &s);
        return;
    }
    if (w->abridged) {
        struct hlo_stats s = look_stats(l);
        buf_puts(w->out, "/* ");
        look_put_stats(w->out, l->shape->dtype, &s);
        buf_puts(w->out, " */ ");
    }
    if (l->shape->rank == 0 && l->shape->dtype == DT_PRED)
        buf_puts(w->out, *(const uint8_t *)l->data ? "true" : "false");
    else if (l->shape->rank == 0)
        look_put_element(w->out, l->shape->dtype, l->data, &w->v);
    else if (text_is_brief(l->shape))
        buf_puts(w->out, "{}");
    else
        put_values(w, l, (size_t)bytes);
}

static void put_value(struct show *w, const struct literal *l)
{
    if (!shape_is_tuple(l->shape)) {
        shape_print(w->out, l->shape, false);
        if (shape_is_array(l->shape))
            put_array(w, l);
        else
            buf_puts(w->out, " token");
        return;
    }
    buf_putc(w->out, '(');
    for (int i = 0; i < l->shape->count && drain(w); i++) {
        w->margin += 2;
        new_line(w, w->margin);
        put_value(w, l->elements[i]);
        w->margin -= 2;
        if (i + 1 < l->shape->count)
            buf_putc(w->out, ',');
    }
    if (l->shape->count > 0)
        new_line(w, w->margin);
    buf_putc(w->out, ')');
}

void look_show(struct buf *out, const struct literal *l, const struct hlo_view *v,
               struct look_sink *to)
{
    struct show w = {.out = out, .to = to, .line = out->size};
    if (v)
        w.v = *v;
    w.v.max = w.v.max ? w.v.max : USUAL_MAX;
    w.v.edge = w.v.edge ? w.v.edge : DEFAULT_EDGE;
    w.v.width = w.v.width ? w.v.width : DEFAULT_WIDTH;
    put_value(&w, l);
}
