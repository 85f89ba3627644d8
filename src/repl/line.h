/*
 * repl/line: the terminal side of the prompt. It reads entries of one or several lines, with
 * editing, history and completion. Their syntax is left to callbacks, which tell whether an entry
 * is complete and what may follow.
 *
 * Editing is done by libedit, which is loaded when the first editor is opened. If libedit is
 * missing or the terminal cannot move its cursor, lines are edited by the terminal driver.
 */
#ifndef HLO_REPL_LINE_H
#define HLO_REPL_LINE_H

#include "base/base.h"

#include <stdio.h>

/* ---- completions ---- */

struct completion {
    struct str text; /* the whole word */
    struct str note; /* a shape, help or kind; may be empty */
    struct str tail; /* appended if it is the only candidate: " ", "(", "=" ... */
};
struct completions {
    struct arena arena;
    struct str word; /* the part of the word before the cursor */
    struct completion *items;
    size_t count, capacity;
};
/* Frees all candidates; `word` and texts are valid until then. */
void completions_free(struct completions *c);
/* Sorts by text and removes duplicates. */
void completions_sort(struct completions *c);
/* Adds the text if it starts with `word`; texts are copied. */
void completions_add(struct completions *c, struct str text, struct str note, const char *tail);

/* ---- the editor ---- */

void line_about(FILE *f); /* prints the line editor in use */

struct line_hooks {
    void *context;
    /* Whether the entry is complete: brackets, quotes and comments are closed. */
    bool (*whole)(void *context, struct str entry);
    /* Sets `word` to the word before the cursor, and adds its completions. NULL: no completion. */
    void (*complete)(void *context, struct str entry, size_t cursor, struct completions *out);
};

struct line_editor;
enum line_result {
    LINE_ENTRY,     /* an entry without its final newline; may be empty */
    LINE_END,       /* Ctrl-D on an empty line, or the terminal was closed */
    LINE_CANCELLED, /* Ctrl-C: the entry is discarded */
    LINE_ENDLESS    /* for files: the entry exceeds the limit of input */
};

/* For standard input, which is a terminal. `history_path`: file to store entries in, except those
 * that start with a blank; NULL: no file. The hooks must live until line_close. Never NULL. */
struct line_editor *line_open(const struct line_hooks *hooks, const char *history_path, bool color);
/* Continuation lines start with `more_prompt`. */
enum line_result line_read(struct line_editor *e, const char *prompt, const char *more_prompt,
                           struct buf *entry);
void line_close(struct line_editor *e);
/* Entry `i` of the history, the oldest first, valid until the next one is read; empty past the
 * newest. */
struct str line_history(const struct line_editor *e, size_t i);

/* Whether prompting is possible: standard input is a terminal, and standard output or standard
 * error. */
bool line_possible(void);
/* Columns and rows of the terminal; 80 by 24 if unknown. */
void line_window(size_t *columns, size_t *rows);

/* Whether the terminal uses UTF-8, according to the user's locale. */
bool line_utf8(void);

#endif
