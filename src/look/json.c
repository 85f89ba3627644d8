/*
 * Values as JSON: {"shape":"f32[2]","values":[1,"nan"]}. A tuple has "elements", an object per
 * component.
 */
#include "look/look.h"

#include "text/text.h"

#include <math.h>

/* Numbers are written in full precision, although readers may lose digits of an s64. NaN and
 * infinities, which JSON lacks, are strings. */
static void put_float(struct buf *out, enum dtype t, const void *p, const struct hlo_view *v)
{
    double value = float_load(t, p);
    bool quoted = v->hex || !isfinite(value);
    if (quoted)
        buf_putc(out, '"');
    if (isnan(value))
        buf_puts(out, "nan");
    else
        look_put_element(out, t, p, v);
    if (quoted)
        buf_putc(out, '"');
}

static void put_element(struct buf *out, enum dtype t, const char *p, const struct hlo_view *v)
{
    if (dtype_is_complex(t)) {
        enum dtype part = dtype_component(t);
        buf_putc(out, '[');
        put_float(out, part, p, v);
        buf_puts(out, ",");
        put_float(out, part, p + dtype_bytes(part), v);
        buf_putc(out, ']');
    } else if (dtype_is_float(t)) {
        put_float(out, t, p, v);
    } else if (t == DT_PRED) {
        buf_puts(out, *p ? "true" : "false");
    } else {
        text_print_element(out, t, p);
    }
}

static void put_values(struct buf *out, const struct shape *s, int d, const char **p,
                       const struct hlo_view *v, struct look_sink *to)
{
    if (to && (look_drain(out, to), to->stopped))
        return;
    if (d == s->rank) {
        put_element(out, s->dtype, *p, v);
        *p += dtype_bytes(s->dtype);
        return;
    }
    buf_putc(out, '[');
    for (int64_t i = 0; i < s->dims[d] && !text_is_brief(s); i++) {
        if (i > 0)
            buf_puts(out, ",");
        put_values(out, s, d + 1, p, v, to);
    }
    buf_putc(out, ']');
}

void look_json(struct buf *out, const struct literal *l, const struct hlo_view *v,
               struct look_sink *to)
{
    const struct shape *s = l->shape;
    const struct hlo_view how = {.precision = v ? v->precision : 0, .hex = v && v->hex};
    const char *p = l->data;
    SCOPED_BUF shape = {0};
    int64_t elements = 0;
    shape_print(&shape, s, false);
    buf_putc(out, '{');
    buf_json_text(out, "shape", buf_view(&shape));
    if (shape_is_tuple(s)) {
        buf_json_open(out, "elements", '[');
        for (int i = 0; i < s->count; i++) {
            buf_json_key(out, NULL);
            look_json(out, l->elements[i], v, to);
        }
        buf_putc(out, ']');
    } else if (shape_is_array(s) && shape_elements(s, &elements)) {
        bool few = !v || (v->summary ? elements <= 1 : v->max == 0 || (uint64_t)elements <= v->max);
        buf_json_key(out, few ? "values" : "stats");
        if (few) {
            put_values(out, s, 0, &p, &how, to);
        } else {
            struct hlo_stats stats = look_stats(l);
            look_put_stats_json(out, &stats);
        }
    }
    buf_putc(out, '}');
}
