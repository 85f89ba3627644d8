/*
 * table.c: text tables.
 */
#include "base/table.h"

enum { WIDEST = 48 }; /* longer cells do not widen their column */

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

static size_t column_width(const struct table *t, size_t column)
{
    size_t width = t->columns[column].head ? strlen(t->columns[column].head) : 0;
    for (size_t k = column; k < cell_count(t); k += t->column_count) {
        const size_t n = cell(t, k).len;
        width = n > width && n <= WIDEST ? n : width;
    }
    return width;
}

static void put_cell(struct buf *out, struct str s, size_t width, bool right)
{
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

void table_put(struct buf *out, struct table *t)
{
    size_t *widths = heap_zalloc(t->column_count, sizeof *widths);
    for (size_t c = 0; c < t->column_count; c++) {
        widths[c] = column_width(t, c);
        if (t->columns[c].head)
            put_cell(out, str_of(t->columns[c].head), widths[c], t->columns[c].right);
    }
    if (t->columns[0].head)
        end_line(out);
    for (size_t k = 0; k < cell_count(t); k++) {
        const size_t c = k % t->column_count;
        put_cell(out, cell(t, k), widths[c], t->columns[c].right);
        if (c + 1 == t->column_count)
            end_line(out);
    }
    heap_free(widths);
    buf_free(&t->text);
    buf_free(&t->ends);
}
