/*
 * repl/line: reads entries from the terminal.
 */
#include "repl/line_priv.h"

#include <errno.h>
#include <unistd.h>

/* ---- open and close ---- */

/* Callback of libedit's search in the history. */
static int history_event(void *context, HistEvent *event, int what, ...)
{
    struct line_editor *e = context;
    const struct history *h = &e->history;
    switch (what) {
    case H_FIRST: /* the newest */ e->search_at = h->count; break;
    case H_NEXT: e->search_at -= e->search_at > 0; break;
    case H_PREV: e->search_at++; break;
    case H_LAST: e->search_at = 1; break;
    case H_CURR: break;
    default: return -1;
    }
    if (e->search_at == 0 || e->search_at > h->count)
        return -1;
    event->num = (int)e->search_at;
    event->str = h->entries[e->search_at - 1].data;
    return 0;
}

struct line_editor *line_open(const struct line_hooks *hooks, const char *history_path, bool color)
{
    struct line_editor *e = heap_zalloc(1, sizeof *e);
    e->hooks = hooks;
    e->out = isatty(STDOUT_FILENO) ? stdout : stderr;
    e->color = color;
    history_open(&e->history, history_path);
    e->el = term_open(e);
    if (e->el)
        EDIT(set)(e->el, EL_HIST, history_event, e);
    return e;
}

struct str line_history(const struct line_editor *e, size_t i)
{
    return i < e->history.count ? buf_view(&e->history.entries[i]) : STR("");
}

void line_close(struct line_editor *e)
{
    if (!e)
        return;
    if (e->el)
        EDIT(end)(e->el);
    if (e->locale)
        freelocale(e->locale);
    history_close(&e->history);
    completions_free(&e->found);
    buf_free(&e->draft);
    buf_free(&e->prompt);
    heap_free(e);
}

/* ---- lines of the buffer ---- */

/* Replaces the part of the entry that is in the buffer by the current text of the buffer. */
static void take_text(struct line_editor *e, struct str text, size_t cursor)
{
    struct str all = buf_view(e->entry);
    struct buf entry = {0};
    buf_bytes(&entry, all.ptr, e->from);
    buf_str(&entry, text);
    buf_bytes(&entry, all.ptr + e->to, all.len - e->to);
    e->cursor = e->from + cursor;
    e->to = e->from + text.len;
    buf_free(e->entry);
    *e->entry = entry;
}

void line_take(struct line_editor *e)
{
    const LineInfo *l = EDIT(line)(e->el);
    struct str text = {l->buffer, (size_t)(l->lastchar - l->buffer)};
    take_text(e, text, (size_t)(l->cursor - l->buffer));
}

/* One row is reserved for the note above the lines, another for the cursor below them. */
bool line_fits(const struct line_editor *e, struct str text)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    return term_place(text, e->prompt_width).row < (rows > 4 ? rows - 2 : 2);
}

static struct str part(const struct line_editor *e, size_t from, size_t to)
{
    return (struct str){buf_view(e->entry).ptr + from, to - from};
}

static size_t count_lines(struct str s)
{
    size_t lines = 1;
    for (size_t i = 0; i < s.len; i++)
        lines += s.ptr[i] == '\n';
    return lines;
}

/* Selects the lines around the cursor that fit, alternately above and below it. */
static void choose_lines(struct line_editor *e)
{
    struct str all = buf_view(e->entry);
    e->from = line_start(all, e->cursor);
    e->to = line_end(all, e->cursor);
    for (bool grown = true; grown;) {
        size_t above = e->from > 0 ? line_start(all, e->from - 1) : 0;
        grown = e->from > 0 && line_fits(e, part(e, above, e->to));
        if (grown)
            e->from = above;
        size_t below = e->to < all.len ? line_end(all, e->to + 1) : all.len;
        bool more = e->to < all.len && line_fits(e, part(e, e->from, below));
        if (more)
            e->to = below;
        grown |= more;
    }
}

/* Erases the rows of the entry and displays the lines around the cursor instead. The cursor of the
 * terminal is `down` rows below the first row of the buffer. */
static void reopen(struct line_editor *e, size_t down)
{
    struct str all = buf_view(e->entry);
    down += e->rows_above;
    if (down > 0)
        fprintf(e->out, "\033[%zuA", down);
    fputs("\r\033[J", e->out);
    choose_lines(e);
    e->rows_above = e->to - e->from < all.len;
    if (e->rows_above) {
        size_t first = count_lines(part(e, 0, e->from));
        size_t shown = count_lines(part(e, e->from, e->to));
        fprintf(e->out, "(lines %zu to %zu of %zu)\n", first, first + shown - 1, count_lines(all));
    }
}

/* ---- entries ---- */

static bool is_whole(const struct line_editor *e)
{
    return e->hooks->whole(e->hooks->context, buf_view(e->entry));
}

/* Sets the prompt, in bold except for trailing blanks. */
static void set_prompt(struct line_editor *e, const char *prompt)
{
    struct str all = str_of(prompt), word = all;
    while (word.len > 0 && word.ptr[word.len - 1] == ' ')
        word.len--;
    e->prompt.size = 0;
    if (e->color && word.len < all.len)
        buf_printf(&e->prompt, "\1\033[1m\1" STR_FMT "\1\033[0m\1%s", STR_ARG(word),
                   prompt + word.len);
    else
        buf_str(&e->prompt, all);
    e->prompt_width = term_width(all);
}

/* Edits the selected lines. */
static void read_buffer(struct line_editor *e)
{
    int size = 0;
    e->leave = LEAVE_NOT;
    if (e->to > e->from)
        EDIT(push)(e->el, KEY_RESUME);
    EDIT(set)(e->el, EL_PREP_TERM, 1); /* before the prompt is displayed: keys are not echoed */
    const char *line = EDIT(gets)(e->el, &size);
    if (e->leave != LEAVE_NOT)
        return;
    e->leave = line && size > 0 ? LEAVE_ENTER : LEAVE_END;
    if (e->leave == LEAVE_ENTER) { /* ended by a user's key binding to a function of libedit */
        size_t length = (size_t)size - (line[size - 1] == '\n');
        take_text(e, (struct str){line, length}, length);
        fputs("\033[A", e->out); /* leave_rows expects the cursor in the buffer */
    }
}

/* Moves the cursor of the terminal from its position in the buffer to the line after the buffer. */
static void leave_rows(struct line_editor *e, size_t row, struct place last)
{
    if (last.row > row)
        fprintf(e->out, "\033[%zuB", last.row - row);
    fputc('\r', e->out);
    if (e->leave == LEAVE_CANCEL && last.column > 0)
        fprintf(e->out, "\033[%zuC", last.column);
    fputs(e->leave == LEAVE_CANCEL ? "^C\n" : "\n", e->out);
    fflush(e->out);
    e->rows_above += last.row + 1;
}

static enum line_result read_edited(struct line_editor *e, const char *prompt,
                                    const char *more_prompt)
{
    e->from = e->to = e->cursor = e->rows_above = e->older = e->search_at = e->tabs = 0;
    for (;;) {
        set_prompt(e, e->from > 0 ? more_prompt : prompt);
        read_buffer(e);
        const size_t before = e->cursor > e->from ? e->cursor : e->from; /* it may be above */
        size_t row = term_place(part(e, e->from, before), e->prompt_width).row;
        if (e->leave == LEAVE_REOPEN) {
            reopen(e, row);
            continue;
        }
        leave_rows(e, row, term_place(part(e, e->from, e->to), e->prompt_width));
        if (e->leave == LEAVE_LIST) {
            line_list(e->out, &e->found, e->list_all);
            e->rows_above = 0;
        } else if (e->leave == LEAVE_ENTER && !is_whole(e)) {
            buf_putc(e->entry, '\n');
            e->from = e->to = e->cursor = e->entry->size;
        } else {
            return e->leave == LEAVE_ENTER ? LINE_ENTRY
                   : e->leave == LEAVE_END ? LINE_END
                                           : LINE_CANCELLED;
        }
    }
}

/* Without libedit: appends a line. */
static enum line_result read_plain_line(struct line_editor *e, const char *prompt)
{
    size_t before = e->entry->size;
    char c;
    enum input got;
    fputs(prompt, e->out);
    fflush(e->out);
    while ((got = term_read(e, &c)) == INPUT_BYTE && c != '\n')
        buf_putc(e->entry, c);
    if (got == INPUT_BYTE)
        return LINE_ENTRY;
    fputc('\n', e->out);
    return got == INPUT_INTERRUPT    ? LINE_CANCELLED
           : e->entry->size > before ? LINE_ENTRY
                                     : LINE_END;
}

static enum line_result read_plain(struct line_editor *e, const char *prompt,
                                   const char *more_prompt)
{
    enum line_result result = read_plain_line(e, prompt);
    while (result == LINE_ENTRY && !is_whole(e)) {
        buf_putc(e->entry, '\n');
        result = read_plain_line(e, more_prompt);
        if (result == LINE_END)
            result = LINE_CANCELLED;
    }
    return result;
}

static void keep(struct line_editor *e)
{
    if (history_add(&e->history, buf_view(e->entry)))
        return;
    fprintf(stderr, "hlo: warning: cannot write the history file %s: %s\n", e->history.path,
            strerror(errno));
    heap_free(e->history.path);
    e->history.path = NULL;
}

enum line_result line_read(struct line_editor *e, const char *prompt, const char *more_prompt,
                           struct buf *entry)
{
    enum line_result result;
    entry->size = 0;
    e->entry = entry;
    term_begin(e);
    if (e->el) {
        locale_t before = uselocale(e->locale);
        result = read_edited(e, prompt, more_prompt);
        uselocale(before);
    } else {
        result = read_plain(e, prompt, more_prompt);
    }
    term_end(e);
    if (result == LINE_ENTRY)
        keep(e);
    return result;
}
