/*
 * repl/line: the terminal side of the prompt. It reads entries, of one line or several, with
 * editing, history and completion, and knows nothing about what they mean: what is whole and what
 * may follow is asked of its owner.
 *
 * The editing is libedit's, which is loaded when the first editor is opened. Where it isn't there,
 * and on terminals that can't move a cursor, lines are read as the terminal sends them.
 */
#ifndef HLO_REPL_LINE_H
#define HLO_REPL_LINE_H

#include "base/base.h"

#include <stdio.h>

/* ---- what may stand at the cursor ---- */

struct completion {
    struct str text; /* the whole word */
    struct str note; /* a shape, help, a kind; may be empty */
    struct str tail; /* follows it when nothing else may stand here: " ", "(", "=" ... */
};
struct completions {
    struct arena arena;
    struct str word; /* what stands there already, up to the cursor */
    struct completion *items;
    size_t count, capacity;
};
/* Begins anew, with a place in an entry; `word` and texts live until then, or until
 * completions_free. */
void completions_free(struct completions *c);
/* In the order of their texts, each once. */
void completions_sort(struct completions *c);
/* Takes the word over where it begins with what stands there; texts are copied. */
void completions_add(struct completions *c, struct str text, struct str note, const char *tail);

/* ---- the editor ---- */

void line_about(FILE *f); /* what edits lines here, in a line */

struct line_hooks {
    void *context;
    /* Does the entry end here? (Brackets, quotes and comments are closed.) */
    bool (*whole)(void *context, struct str entry);
    /* Sets `word` to what ends at the cursor, and adds what it may become. NULL: nothing is known.
     */
    void (*complete)(void *context, struct str entry, size_t cursor, struct completions *out);
};

struct line_editor;
enum line_result {
    LINE_ENTRY,     /* there is one, without the end of its last line; it may be empty */
    LINE_END,       /* Ctrl-D on an empty line, or the terminal is gone */
    LINE_CANCELLED, /* Ctrl-C: what was typed is dropped */
    LINE_ENDLESS    /* of a file: the entry is longer than what is read into memory */
};

/* For standard input, which is a terminal. `history_path`: what is typed is kept in this file from
 * now on, unless it begins with a blank; NULL: nothing is kept. The hooks must stay until
 * line_close. Never NULL. */
struct line_editor *line_open(const struct line_hooks *hooks, const char *history_path, bool color);
/* Lines after the first begin with `more_prompt`. */
enum line_result line_read(struct line_editor *e, const char *prompt, const char *more_prompt,
                           struct buf *entry);
void line_close(struct line_editor *e);

/* Whether one can prompt at all: standard input is a terminal, and one of the other two. */
bool line_possible(void);
/* Columns and rows of the terminal; 80 by 24 where it doesn't say. */
void line_window(size_t *columns, size_t *rows);

/* Whether the terminal speaks UTF-8, as far as the user's locale says. */
bool line_utf8(void);

#endif
