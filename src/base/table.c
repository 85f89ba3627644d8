/*
 * table.c: text tables.
 */
#include "base/table.h"

enum {
    WIDEST = 48,    /* of a column */
    LEAST = 20,     /* to which columns are narrowed; they are dropped if the last one has less */
    NARROWEST = 10, /* to which columns are narrowed after that */
    GAP = 2
};
static const size_t DROPPED = SIZE_MAX;

void table_next(struct table *t) { buf_bytes(&t->ends, &t->text.size, sizeof t->text.size); }

void table_cell(struct table *t, struct str text)
{
    buf_str(&t->text, text);
    table_next(t);
}

static size_t cell_count(const struct table *t) { return t->ends.size / sizeof(size_t); }

void table_end_row(struct table *t)
{
    while (cell_count(t) % t->column_count != 0)
        table_next(t);
}

static size_t cell_end(const struct table *t, size_t k)
{
    size_t end;
    memcpy(&end, t->ends.data + k * sizeof end, sizeof end);
    return end;
}

static struct str cell(const struct table *t, size_t k)
{
    const size_t begin = k > 0 ? cell_end(t, k - 1) : 0;
    return (struct str){buf_view(&t->text).ptr + begin, cell_end(t, k) - begin};
}

/* CUT: cells that are too long are cut, otherwise they do not widen their column. */
static size_t column_width(const struct table *t, size_t column, bool cut)
{
    size_t width = t->columns[column].head ? strlen(t->columns[column].head) : 0;
    for (size_t k = column; k < cell_count(t); k += t->column_count) {
        const size_t n = cell(t, k).len;
        if (n > width && (n <= WIDEST || cut))
            width = n < WIDEST ? n : WIDEST;
    }
    return width;
}

/* Narrows columns after the first to LEAST, then drops columns, by setting their width to DROPPED,
 * and narrows the others to NARROWEST, until the last one has room. Returns the longest cell of the
 * last one that fits. */
static size_t fit_columns(const struct table *t, size_t *widths, size_t width)
{
    const size_t last = t->column_count - 1;
    size_t before = GAP, least = widths[last] < LEAST ? widths[last] : LEAST;
    for (size_t c = 0; c < last; c++)
        before += GAP + widths[c];
    for (size_t c = 1; c < last && before + least > width; c++) {
        const size_t excess = before + least - width, more = widths[c] - LEAST;
        const size_t saved = widths[c] < LEAST ? 0 : more < excess ? more : excess;
        widths[c] -= saved;
        before -= saved;
    }
    for (int order = 1; order <= (int)last; order++)
        for (size_t c = 0; c < last && before + least > width; c++)
            if (t->columns[c].drop == order) {
                before -= GAP + widths[c];
                widths[c] = DROPPED;
            }
    for (size_t c = 0; c < last; c++) /* numbers are not cut */
        while (before + least > width && widths[c] > NARROWEST && widths[c] != DROPPED &&
               !t->columns[c].right) {
            widths[c]--;
            before--;
        }
    return before + NARROWEST < width ? width - before : NARROWEST;
}

static struct str truncate_cell(struct str s, size_t longest, struct buf *storage)
{
    if (s.len <= longest)
        return s;
    s.len = str_char_start(s, longest - 3);
    storage->size = 0;
    buf_printf(storage, STR_FMT "...", STR_ARG(s));
    return buf_view(storage);
}

static void put_cell(struct buf *out, struct str s, size_t width, bool right)
{
    if (width == DROPPED)
        return;
    const int gap = s.len < width ? (int)(width - s.len) : 0;
    buf_printf(out, "  %*s", right ? gap : 0, "");
    buf_str(out, s);
    buf_printf(out, "%*s", right ? 0 : gap, "");
}

static void end_line(struct buf *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->size--;
    buf_putc(out, '\n');
}

void table_put(struct buf *out, struct table *t) { table_put_within(out, t, SIZE_MAX); }

void table_put_within(struct buf *out, struct table *t, size_t width)
{
    SCOPED_BUF storage = {0};
    const bool limited = width < SIZE_MAX;
    size_t longest = SIZE_MAX, *widths = heap_zalloc(t->column_count, sizeof *widths);
    for (size_t c = 0; c < t->column_count; c++)
        widths[c] = column_width(t, c, limited);
    if (limited)
        longest = fit_columns(t, widths, width);
    for (size_t c = 0; c < t->column_count && t->columns[0].head; c++)
        put_cell(out, str_of(t->columns[c].head), widths[c], t->columns[c].right);
    if (t->columns[0].head)
        end_line(out);
    for (size_t k = 0; k < cell_count(t); k++) {
        const size_t c = k % t->column_count;
        const bool last = c + 1 == t->column_count;
        const size_t most = !limited ? SIZE_MAX : last ? longest : widths[c];
        put_cell(out, truncate_cell(cell(t, k), most, &storage), widths[c], t->columns[c].right);
        if (last)
            end_line(out);
    }
    heap_free(widths);
    buf_free(&t->text);
    buf_free(&t->ends);
}
