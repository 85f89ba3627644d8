/*
 * repl/line: reads entries from the terminal, line by line until they are whole.
 */
#include "repl/line_priv.h"

#include <errno.h>
#include <unistd.h>

/* ---- the history, as libedit searches it ---- */

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

static void keep(struct line_editor *e, struct str entry)
{
    if (history_add(&e->history, entry))
        return;
    fprintf(stderr, "hlo: warning: cannot keep the history in %s: %s\n", e->history.path, strerror(errno));
    heap_free(e->history.path);
    e->history.path = NULL;
}

/* ---- open and close ---- */

struct line_editor *line_open(const struct line_hooks *hooks, const char *history_path, bool color)
{
    struct line_editor *e = heap_zalloc(1, sizeof *e);
    e->hooks = hooks;
    e->out = isatty(STDOUT_FILENO) ? stdout : stderr;
    e->color = color;
    e->signals = -1;
    history_open(&e->history, history_path);
    e->el = term_open(e);
    if (e->el)
        EDIT(set)(e->el, EL_HIST, history_event, e);
    return e;
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
    buf_free(&e->before);
    buf_free(&e->text);
    buf_free(&e->after);
    buf_free(&e->draft);
    heap_free(e->prompt);
    heap_free(e);
}

/* ---- without libedit ---- */

/* Appends a line as the terminal sends it, without its end. */
static enum line_result read_plain(struct line_editor *e, const char *prompt, struct buf *entry)
{
    size_t before = entry->size;
    char c;
    fputs(prompt, e->out);
    fflush(e->out);
    while (input_byte(e, &c)) {
        if (e->inject) { /* Ctrl-C */
            e->inject = NULL;
            fputc('\n', e->out);
            return LINE_CANCELLED;
        }
        if (c == '\n')
            return LINE_ENTRY;
        buf_putc(entry, c);
    }
    fputc('\n', e->out);
    return entry->size > before ? LINE_ENTRY : LINE_END;
}

static bool is_whole(const struct line_editor *e, struct str entry) { return e->hooks->whole(e->hooks->context, entry); }

static enum line_result read_plain_entry(struct line_editor *e, const char *prompt, const char *more_prompt, struct buf *entry)
{
    enum line_result result = read_plain(e, prompt, entry);
    while (result == LINE_ENTRY && !is_whole(e, buf_view(entry))) {
        buf_putc(entry, '\n');
        result = read_plain(e, more_prompt, entry);
        if (result == LINE_END)
            result = LINE_CANCELLED;
    }
    return result;
}

/* ---- with libedit ---- */

/* Bold, up to its last blanks. */
static void set_prompt(struct line_editor *e, const char *prompt)
{
    struct buf b = {0};
    struct str all = str_of(prompt), word = all;
    while (word.len > 0 && word.ptr[word.len - 1] == ' ')
        word.len--;
    if (e->color && word.len < all.len)
        buf_printf(&b, "\1\033[1m\1" STR_FMT "\1\033[0m\1%s", STR_ARG(word), prompt + word.len);
    else
        buf_str(&b, all);
    heap_free(e->prompt);
    e->prompt = wide_of(buf_view(&b));
    e->prompt_width = term_width(all);
    buf_free(&b);
}

/* One buffer: it begins with `text`, and what is in it at the end is there then. */
static enum leave read_buffer(struct line_editor *e)
{
    int size = 0;
    e->leave = LEAVE_NOT;
    e->inject = e->text.size > 0 ? KEY_RESUME : NULL;
    e->keys = e->last_tab = 0; /* a Tab after a list is one in a row */
    e->last_move = e->moved ? 0 : UINT64_MAX;
    e->moved = false;
    const wchar_t *line = EDIT(wgets)(e->el, &size);
    if (!line || size <= 0)
        return LEAVE_END;
    if (e->leave != LEAVE_NOT)
        return e->leave;
    e->text.size = 0;
    buf_wide(&e->text, line, (size_t)(line[size - 1] == L'\n' ? size - 1 : size));
    e->rows_shown = window_rows(e, buf_view(&e->text));
    return LEAVE_ENTER;
}

/* The line has ended: whether the entry has. If not, the next one begins. */
static bool end_line(struct line_editor *e)
{
    buf_str(&e->before, buf_view(&e->text));
    buf_str(&e->before, buf_view(&e->after));
    e->text.size = e->after.size = 0;
    if (is_whole(e, buf_view(&e->before)))
        return true;
    buf_putc(&e->before, '\n');
    e->rows_above += e->rows_shown;
    return false;
}

static enum line_result read_edited_entry(struct line_editor *e, const char *prompt, const char *more_prompt, struct buf *entry)
{
    e->before.size = e->text.size = e->after.size = 0;
    e->rows_above = e->older = e->search_at = e->tabs = 0;
    for (;;) {
        set_prompt(e, e->before.size > 0 ? more_prompt : prompt);
        switch (read_buffer(e)) {
        case LEAVE_NOT:
        case LEAVE_ENTER:
            if (end_line(e)) {
                buf_str(entry, buf_view(&e->before));
                return LINE_ENTRY;
            }
            break;
        case LEAVE_END: return LINE_END;
        case LEAVE_CANCEL: return LINE_CANCELLED;
        case LEAVE_LIST:
            list_completions(e->out, &e->found, e->list_all);
            e->rows_above = 0;
            break;
        case LEAVE_REOPEN:
            window_close(e);
            window_open(e, e->goal);
            break;
        }
    }
}

enum line_result line_read(struct line_editor *e, const char *prompt, const char *more_prompt, struct buf *entry)
{
    entry->size = 0;
    enum line_result result;
    input_begin(e);
    if (e->el) {
        locale_t before = uselocale(e->locale);
        result = read_edited_entry(e, prompt, more_prompt, entry);
        uselocale(before);
    } else
        result = read_plain_entry(e, prompt, more_prompt, entry);
    input_end(e);
    if (result == LINE_ENTRY)
        keep(e, buf_view(entry));
    return result;
}
