/*
 * repl/line: reads entries from the terminal.
 */
#include "repl/line.h"

#include "repl/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct line_editor {
    const struct line_hooks *hooks;
    struct history history;
    FILE *out; /* for prompts: standard output, or standard error where that is no terminal */
    bool color;
};

struct line_editor *line_open(const struct line_hooks *hooks, const char *history_path, bool color)
{
    struct line_editor *e = calloc(1, sizeof *e);
    if (!e)
        exit(4);
    e->hooks = hooks;
    e->out = isatty(STDOUT_FILENO) ? stdout : stderr;
    e->color = color;
    history_open(&e->history, history_path);
    return e;
}

void line_close(struct line_editor *e)
{
    if (!e)
        return;
    history_close(&e->history);
    free(e);
}

/* Appends a line as the terminal sends it, without its end. LINE_END: there is none. */
static enum line_result read_plain(struct line_editor *e, const char *prompt, struct buf *entry)
{
    fputs(prompt, e->out);
    fflush(e->out);
    size_t before = entry->size;
    for (;;) {
        char c;
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n == 1 && c == '\n')
            return LINE_ENTRY;
        if (n == 1)
            buf_putc(entry, c);
        else if (n < 0 && errno == EINTR) {
            fputc('\n', e->out);
            return LINE_CANCELLED;
        } else
            return entry->size > before ? LINE_ENTRY : LINE_END;
    }
}

enum line_result line_read(struct line_editor *e, const char *prompt, const char *more_prompt, struct buf *entry)
{
    entry->size = 0;
    enum line_result result = read_plain(e, prompt, entry);
    while (result == LINE_ENTRY && !e->hooks->whole(e->hooks->context, buf_view(entry))) {
        buf_putc(entry, '\n');
        result = read_plain(e, more_prompt, entry);
    }
    if (result == LINE_ENTRY && !history_add(&e->history, buf_view(entry))) {
        fprintf(stderr, "hlo: warning: cannot keep the history in %s: %s\n", e->history.path, strerror(errno));
        free(e->history.path);
        e->history.path = NULL;
    }
    return result;
}
