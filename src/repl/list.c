/*
 * repl/list: what may stand at the cursor, below the line.
 */
#include "repl/line_priv.h"

enum {
    GAP = 2,         /* columns between what stands side by side */
    WIDEST_TEXT = 40 /* in a list with notes */
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

static void pad(FILE *f, size_t from, size_t to)
{
    for (; from < to; from++)
        fputc(' ', f);
}

/* As much of it as fits. */
static void put_cut(FILE *f, struct str s, size_t columns)
{
    if (term_width(s) <= columns) {
        fprintf(f, STR_FMT, STR_ARG(s));
        return;
    }
    while (s.len > 0 && (term_width(s) + 3 > columns || ((unsigned char)s.ptr[s.len] & 0xc0) == 0x80))
        s.len--;
    fprintf(f, STR_FMT "...", STR_ARG(s));
}

static void put_note_line(FILE *f, const struct completion *item, size_t text_width, size_t columns)
{
    fputs("  ", f);
    put_cut(f, item->text, columns - GAP);
    size_t used = term_width(item->text);
    if (item->note.len > 0 && text_width + 2 * GAP + 8 < columns) {
        pad(f, used, text_width + GAP);
        size_t left = used > text_width ? used : text_width;
        put_cut(f, item->note, columns - left - 2 * GAP - 1);
    }
    fputc('\n', f);
}

static void put_columns(FILE *f, const struct completions *c, size_t first_rows, size_t per_row, size_t width)
{
    size_t rows = (c->count + per_row - 1) / per_row;
    for (size_t row = 0; row < rows && row < first_rows; row++) {
        for (size_t i = row, column = 0; i < c->count; i += rows, column++) {
            struct str text = c->items[i].text;
            fprintf(f, STR_FMT, STR_ARG(text));
            if (i + rows < c->count)
                pad(f, term_width(text), width);
        }
        fputc('\n', f);
    }
}

void list_completions(FILE *f, const struct completions *c, bool all)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    size_t width = widest(c), most = all ? SIZE_MAX : rows > 4 ? rows - 3 : 1;
    if (c->count <= most && !all) {
        size_t text_width = width < WIDEST_TEXT ? width : WIDEST_TEXT;
        for (size_t i = 0; i < c->count; i++)
            put_note_line(f, &c->items[i], text_width, columns);
        return;
    }
    size_t per_row = (columns + GAP - 1) / (width + GAP);
    per_row = per_row ? per_row : 1;
    put_columns(f, c, most, per_row, width + GAP);
    size_t needed = (c->count + per_row - 1) / per_row;
    if (needed > most)
        fprintf(f, "(Tab again shows all %zu)\n", c->count);
}
