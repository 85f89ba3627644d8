/*
 * Values as text, and the results of a run as text, JSON or array files.
 */
#include "cli/arguments.h"
#include "repl/line.h"

#include <stdlib.h>

enum { TERMINAL_MAX = 200 }; /* on a terminal, larger arrays are abridged unless --full is given */

static bool to_stdout(const struct options *o)
{
    const char *path = o->value[OPT_OUTPUT];
    return !path || strcmp(path, "-") == 0;
}

/* Text for a file or pipe has all elements, since it may be read back. */
bool result_view(const struct options *o, struct hlo_view *v)
{
    int64_t digits;
    *v = HLO_WITH(hlo_view, .max = SIZE_MAX, .width = SIZE_MAX, .hex = o->given[OPT_HEXFLOAT],
                  .summary = o->given[OPT_SUMMARY]);
    if (!option_int(o, OPT_PRECISION, 1, 17, 0, &digits))
        return false;
    v->precision = (int)digits;
    if (to_stdout(o) && people_read(o) && !o->given[OPT_JSON]) {
        line_window(&v->width, &v->lines);
        v->max = o->given[OPT_FULL] ? SIZE_MAX : TERMINAL_MAX;
        v->lines = o->given[OPT_FULL] ? 0 : v->lines > 2 ? v->lines - 2 : 1;
    }
    return true;
}

/* Where results are written. */
struct sink {
    hlo_output *file; /* NULL: standard output */
    bool inner;       /* drop the first byte of the next piece, the brace of a JSON object */
    const struct hlo_view *view;
    hlo_messages *m;
};

static bool put_piece(void *context, const char *text, size_t size)
{
    struct sink *s = context;
    const bool skip = s->inner && size > 0;
    text += skip;
    size -= skip;
    s->inner &= !skip;
    return s->file ? hlo_output_put(s->file, text, size, s->m)
                   : fwrite(text, 1, size, stdout) == size;
}

static bool put_string(struct sink *s, const char *text)
{
    return put_piece(s, text, strlen(text));
}

/* `title` = VALUE */
static bool put_titled(struct sink *s, const char *title, const hlo_literal *l)
{
    return put_string(s, title) && hlo_literal_write(l, s->view, false, put_piece, s, s->m) &&
           put_string(s, "\n");
}

static bool put_text(struct sink *s, hlo_literal *const *results, size_t count)
{
    char title[64] = "";
    bool ok = true;
    for (size_t p = 0; p < count && ok; p++) {
        size_t components = count > 1 ? hlo_literal_count(results[p]) : 0;
        for (size_t k = 0; k < components && ok; k++) {
            snprintf(title, sizeof title, "out[%zu].%zu = ", p, k);
            ok = put_titled(s, title, hlo_literal_element(results[p], k));
        }
        if (components > 0)
            continue;
        if (count > 1)
            snprintf(title, sizeof title, "out[%zu] = ", p);
        ok = ok && put_titled(s, title, results[p]);
    }
    return ok;
}

/* Writes one JSON object per module and line. With --summary, arrays have statistics instead of
 * values. */
static bool put_json(struct sink *s, hlo_literal *const *results, size_t count)
{
    char title[64];
    bool ok = put_string(s, "{\"schema\":1,\"results\":[");
    for (size_t p = 0; p < count && ok; p++) {
        snprintf(title, sizeof title, "%s{\"participant\":%zu,", p ? "," : "", p);
        ok = put_string(s, title);
        s->inner = true;
        ok = ok && hlo_literal_write(results[p], s->view, true, put_piece, s, s->m);
    }
    return ok && put_string(s, "]}\n");
}

static size_t leaf_count(hlo_literal *const *results, size_t count)
{
    size_t n = 0;
    for (size_t p = 0; p < count; p++)
        n += hlo_literal_leaves(results[p]);
    return n ? n : 1;
}

bool put_results(const struct options *o, hlo_literal *const *results, size_t count,
                 hlo_messages *m)
{
    const char *path = o->value[OPT_OUTPUT];
    if (path && hlo_write_knows(path))
        return hlo_write_arrays(path, "out", (const hlo_literal *const *)results, count, m);
    struct hlo_view v;
    struct sink s = {.view = &v, .m = m};
    if (to_stdout(o) && o->given[OPT_QUIET])
        return true;
    if (!result_view(o, &v) || (!to_stdout(o) && !(s.file = hlo_output_open(path, m))))
        return false;
    const size_t leaves = leaf_count(results, count);
    if (!s.file && v.lines < leaves)
        pager_begin(o);
    if (v.lines > 0)
        v.lines = 1 + (v.lines - 1) / leaves;
    bool ok = (o->given[OPT_JSON] ? put_json : put_text)(&s, results, count);
    if (s.file)
        return hlo_output_close(s.file, ok, m) && ok;
    return ok || ferror(stdout); /* the final flush reports errors of standard output */
}

/* ---- values as text; --output ---- */

void put_value(struct buf *out, const hlo_literal *l, const struct hlo_view *v)
{
    const struct hlo_view all = {.size = sizeof all, .max = SIZE_MAX, .width = SIZE_MAX};
    SCOPED_TEXT text = hlo_literal_show(l, v ? v : &all);
    buf_bytes(out, text.data, text.size);
}

void put_item(struct buf *out, const hlo_literal *l)
{
    SCOPED_BUF b = {0};
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

/* Whether XML may contain the character. */
static bool is_char(struct str s)
{
    const unsigned char first = (unsigned char)*s.ptr;
    return first >= ' ' ? !str_starts(s, STR("\xef\xbf\xbe")) && !str_starts(s, STR("\xef\xbf\xbf"))
                        : first == '\t' || first == '\n';
}

void put_xml(struct buf *out, struct str s)
{
    for (size_t at = 0; at < s.len;) {
        size_t n = str_utf8(s, at);
        const struct str c = {s.ptr + at, n};
        if (n == 0 || !is_char(c))
            buf_puts(out, "\ufffd");
        else if (*c.ptr == '&' || *c.ptr == '<' || *c.ptr == '>' || *c.ptr == '"')
            buf_printf(out, "&#%d;", *c.ptr);
        else
            buf_str(out, c);
        at += n > 0 ? n : 1;
    }
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

bool put_output(const struct options *o, struct str text, hlo_messages *m)
{
    if (!to_stdout(o))
        return hlo_write_text(o->value[OPT_OUTPUT], text.ptr, text.len, m);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, stdout);
    return true;
}

bool put_hlo(const struct options *o, struct str text, hlo_messages *m)
{
    if (!to_stdout(o))
        return put_output(o, text, m);
    print_hlo(o, text);
    return true;
}
