/*
 * repl/window: of an entry that is taller than the screen, the lines that are edited. libedit draws no more than the last
 * screenful of a buffer; so what doesn't fit stays outside of the buffer, before and after it.
 */
#include "repl/line_priv.h"

/* Rows that are left for the buffer: one is for the remark above it, one for the cursor when the buffer is left. */
static size_t rows_at_most(void)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    return rows > 4 ? rows - 2 : 2;
}

size_t window_rows(const struct line_editor *e, struct str text)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    return term_rows(text, e->prompt_width, columns);
}

bool window_fits(const struct line_editor *e, struct str text) { return window_rows(e, text) <= rows_at_most(); }

static size_t line_start(struct str all, size_t at)
{
    while (at > 0 && all.ptr[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(struct str all, size_t at)
{
    const char *end = memchr(all.ptr + at, '\n', all.len - at);
    return end ? (size_t)(end - all.ptr) : all.len;
}

static size_t lines_of(struct str s)
{
    size_t lines = 1;
    for (size_t i = 0; i < s.len; i++)
        lines += s.ptr[i] == '\n';
    return lines;
}

/* From the cursor's line on it grows by lines above and below, by turns, while there is room. */
static struct str around(const struct line_editor *e, struct str all, size_t cursor)
{
    size_t from = line_start(all, cursor), to = line_end(all, cursor);
    for (bool grown = true; grown;) {
        grown = false;
        size_t above = from > 0 ? line_start(all, from - 1) : from;
        if (above < from && window_fits(e, (struct str){all.ptr + above, to - above})) {
            from = above;
            grown = true;
        }
        size_t below = to < all.len ? line_end(all, to + 1) : to;
        if (below > to && window_fits(e, (struct str){all.ptr + from, below - from})) {
            to = below;
            grown = true;
        }
    }
    return (struct str){all.ptr + from, to - from};
}

void window_open(struct line_editor *e, size_t cursor)
{
    struct buf all = {0};
    buf_str(&all, buf_view(&e->before));
    buf_str(&all, buf_view(&e->text));
    buf_str(&all, buf_view(&e->after));
    buf_putc(&all, '\0'); /* so that there is a place even when it is empty */
    struct str s = {all.data, all.size - 1}, part = around(e, s, cursor);
    size_t from = (size_t)(part.ptr - s.ptr);
    e->before.size = e->text.size = e->after.size = 0;
    buf_str(&e->before, (struct str){s.ptr, from});
    buf_str(&e->text, part);
    buf_str(&e->after, (struct str){part.ptr + part.len, s.len - from - part.len});
    e->cursor = cursor - from;
    e->rows_above = 0;
    if (part.len < s.len) {
        size_t first = lines_of((struct str){s.ptr, from});
        fprintf(e->out, "(lines %zu to %zu of %zu)\n", first, first + lines_of(part) - 1, lines_of(s));
        e->rows_above = 1;
    }
    buf_free(&all);
}

size_t window_column(struct str line, size_t column)
{
    size_t at = column < line.len ? column : line.len;
    while (at > 0 && at < line.len && ((unsigned char)line.ptr[at] & 0xc0) == 0x80)
        at--; /* not within a character */
    return at;
}

void window_close(struct line_editor *e)
{
    size_t columns, rows, up = e->rows_above + e->rows_shown;
    line_window(&columns, &rows);
    if (up < rows)
        fprintf(e->out, "\033[%zuA\r\033[J", up);
}
