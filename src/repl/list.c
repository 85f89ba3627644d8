/*
 * repl/list: displays completions below the line.
 */
#include "repl/line_priv.h"

enum {
    GAP = 2,          /* columns between items */
    WIDEST_TEXT = 40, /* maximum width of items in a list with notes */
    NARROWEST_NOTE = 8
};

static size_t widest(const struct completions *c)
{
    size_t width = 0;
    for (size_t i = 0; i < c->count; i++) {
        size_t w = term_width(c->items[i].text);
        width = w > width ? w : width;
    }
    return width;
}

/* Writes text truncated and padded to `width`. */
static void put_cut(FILE *f, struct str s, size_t width, size_t columns)
{
    bool cut = term_width(s) > columns;
    while (cut && s.len > 0 &&
           (term_width(s) + 3 > columns || ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80))
        s.len--;
    size_t used = term_width(s);
    fprintf(f, STR_FMT "%s%*s", STR_ARG(s), cut ? "..." : "",
            used < width ? (int)(width - used) : 0, "");
}

static void list_notes(FILE *f, const struct completions *c, size_t width, size_t columns)
{
    width = width < WIDEST_TEXT ? width : WIDEST_TEXT;
    bool notes = width + 2 * GAP + NARROWEST_NOTE < columns;
    for (size_t i = 0; i < c->count; i++) {
        size_t used = term_width(c->items[i].text),
               left = (used > width ? used : width) + 2 * GAP + 1;
        fputs("  ", f);
        put_cut(f, c->items[i].text, c->items[i].note.len > 0 && notes ? width + GAP : 0,
                columns - GAP);
        if (notes && left < columns)
            put_cut(f, c->items[i].note, 0, columns - left);
        fputc('\n', f);
    }
}

static void list_columns(FILE *f, const struct completions *c, size_t width, size_t columns,
                         size_t max)
{
    size_t per_row = (columns + GAP) / (width + GAP),
           rows = per_row ? (c->count + per_row - 1) / per_row : c->count;
    for (size_t row = 0; row < rows && row < max; row++) {
        for (size_t i = row; i < c->count; i += rows)
            put_cut(f, c->items[i].text, i + rows < c->count ? width + GAP : 0, SIZE_MAX);
        fputc('\n', f);
    }
    if (rows > max)
        fprintf(f, "(Tab again shows all %zu)\n", c->count);
}

void line_list(FILE *f, const struct completions *c, bool all)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    size_t max = all ? SIZE_MAX : rows > 4 ? rows - 3 : 1;
    if (c->count <= max && !all)
        list_notes(f, c, widest(c), columns);
    else
        list_columns(f, c, widest(c), columns, max);
}
