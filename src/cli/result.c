/*
 * Values as text, and the results of a run as text, JSON or array files.
 */
#include "cli/arguments.h"

#include <stdlib.h>

enum { TERMINAL_MAX = 1000 }; /* on a terminal, larger arrays are abridged unless --full is given */

/* Text for a file or pipe has all elements, since it may be read back. */
struct hlo_view result_view(const struct options *o)
{
    const char *path = o->value[OPT_OUTPUT];
    bool terminal = (!path || strcmp(path, "-") == 0) && people_read(o);
    struct hlo_view v = {
        .size = sizeof v, .max = SIZE_MAX, .width = SIZE_MAX, .hex = o->given[OPT_HEXFLOAT]};
    if (terminal && !o->given[OPT_FULL] && !o->given[OPT_JSON]) {
        v.max = TERMINAL_MAX;
        v.width = 0;
    }
    if (o->given[OPT_SUMMARY]) {
        v.max = 1;
        v.width = 0;
    }
    return v;
}

static void put_text(struct buf *b, hlo_literal *const *results, size_t count,
                     const struct hlo_view *v)
{
    for (size_t p = 0; p < count; p++) {
        size_t components = hlo_literal_count(results[p]);
        for (size_t k = 0; count > 1 && k < components; k++) {
            buf_printf(b, "out[%zu].%zu = ", p, k);
            put_value(b, hlo_literal_element(results[p], k), v);
            buf_putc(b, '\n');
        }
        if (count > 1 && components > 0)
            continue;
        if (count > 1)
            buf_printf(b, "out[%zu] = ", p);
        put_value(b, results[p], v);
        buf_putc(b, '\n');
    }
}

/* Writes one JSON object per module and line. With --summary, arrays have statistics instead of
 * values. */
static void put_json(struct buf *b, hlo_literal *const *results, size_t count,
                     const struct hlo_view *v)
{
    buf_puts(b, "{\"schema\":1,\"results\":[");
    for (size_t p = 0; p < count; p++) {
        hlo_text value = hlo_literal_json(results[p], v);
        buf_printf(b, "%s{\"participant\":%zu,", p ? "," : "", p);
        buf_bytes(b, value.data + 1, value.size - 1);
        hlo_text_free(&value);
    }
    buf_puts(b, "]}\n");
}

bool put_results(const struct options *o, hlo_literal *const *results, size_t count,
                 hlo_messages *m)
{
    const char *path = o->value[OPT_OUTPUT];
    if (path && hlo_write_knows(path))
        return hlo_write_arrays(path, "out", (const hlo_literal *const *)results, count, m);
    struct buf b = {0};
    struct hlo_view v = result_view(o);
    if (o->given[OPT_JSON])
        put_json(&b, results, count, &v);
    else
        put_text(&b, results, count, &v);
    bool ok = put_output(o, buf_view(&b), m);
    buf_free(&b);
    return ok;
}

/* ---- values and times as text; --output ---- */

void put_value(struct buf *out, const hlo_literal *l, const struct hlo_view *v)
{
    const struct hlo_view all = {.size = sizeof all, .max = SIZE_MAX, .width = SIZE_MAX};
    hlo_text text = hlo_literal_show(l, v ? v : &all);
    buf_bytes(out, text.data, text.size);
    hlo_text_free(&text);
}

void put_item(struct buf *out, const hlo_literal *l)
{
    struct buf b = {0};
    put_value(&b, l, NULL);
    for (size_t i = 0; i < b.size; i++)
        if (b.data[i] != '\n') {
            buf_putc(out, b.data[i]);
        } else {
            if (i > 0 && b.data[i - 1] == ',')
                buf_putc(out, ' ');
            while (i + 1 < b.size && b.data[i + 1] == ' ') /* skip indentation */
                i++;
        }
    buf_putc(out, '\n');
    buf_free(&b);
}

void put_csv_field(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_puts(out, "\",");
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double sort_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

void put_seconds(struct buf *out, double s)
{
    if (s >= 1)
        buf_printf(out, "%8.3f s ", s);
    else if (s >= 1e-3)
        buf_printf(out, "%8.3f ms", s * 1e3);
    else
        buf_printf(out, "%8.3f us", s * 1e6);
}

bool put_output(const struct options *o, struct str text, hlo_messages *m)
{
    const char *path = o->value[OPT_OUTPUT];
    if (path && strcmp(path, "-") != 0)
        return hlo_write_text(path, text.ptr, text.len, m);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, stdout);
    return true;
}
