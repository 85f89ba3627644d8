/*
 * repl/line_priv: shared by the files of the line editor.
 *
 *   line.c   reads entries: one libedit buffer after the other until the entry is complete
 *   keys.c   functions bound to keys, for what libedit does not do
 *   term.c   libedit, the terminal, its signals and characters
 *
 * libedit edits one buffer and draws it with the newlines in it. While an entry is typed, the
 * buffer is its last line. An entry that is recalled, pasted or taken up again is in the buffer as
 * a whole, or, where the screen is too small, the lines around the cursor. A key function that
 * needs another buffer ends the current one with CC_EOF and a reason.
 */
#ifndef HLO_REPL_LINE_PRIV_H
#define HLO_REPL_LINE_PRIV_H

#include "base/system.h"
#include "repl/history.h"
#include "repl/line.h"

#include <histedit.h>
#include <locale.h>
#include <signal.h>

enum leave {
    LEAVE_NOT,    /* libedit ended the buffer by a function of its own */
    LEAVE_ENTER,  /* end of the line */
    LEAVE_END,    /* Ctrl-D on an empty line */
    LEAVE_CANCEL, /* Ctrl-C */
    LEAVE_LIST,   /* list the completions */
    LEAVE_REOPEN  /* other lines, or another entry */
};

struct line_editor {
    const struct line_hooks *hooks;
    struct history history;
    size_t older;     /* history entry that is shown: 1 is the newest, 0 the draft */
    struct buf draft; /* the entry as it was before the history was shown */
    size_t search_at; /* position of libedit's search: 1 is the oldest entry */
    FILE *out;        /* standard output, or standard error where that is no terminal */
    bool color;
    locale_t locale; /* characters of the terminal; current while editing */
    EditLine *el;    /* NULL: lines are read as the terminal driver edits them */
    struct system_signals signals;
    sigset_t mask; /* signal mask before editing */

    struct buf prompt; /* with escapes between \1 */
    size_t prompt_width;
    struct buf *entry; /* the caller's entry, with all its lines */
    size_t from, to;   /* bytes of the entry that are in the buffer */
    size_t cursor;     /* byte offset in the entry */
    enum leave leave;
    size_t rows_above; /* rows of the entry above the buffer that can be erased */
    struct completions found;
    bool list_all;

    uint64_t keys;                /* number of characters read from the terminal */
    uint64_t last_tab, last_move; /* `keys` at the last Tab, and at the last move in the history */
    unsigned tabs;                /* in a row */
    mbstate_t decoding;
};

/* ---- keys.c ---- */
void keys_bind(EditLine *el);
/* For el_push: bound, in all modes, to a function that fills a new buffer, and to libedit's
 * function that deletes a character. */
#define KEY_RESUME "\034r"
#define KEY_DELETE "\034d"

/* line.c */
void line_take(struct line_editor *e); /* copies the buffer and its cursor into the entry */
bool line_fits(const struct line_editor *e, struct str text); /* on the screen, as one buffer */
static inline size_t line_start(struct str s, size_t at)
{
    while (at > 0 && s.ptr[at - 1] != '\n')
        at--;
    return at;
}
static inline size_t line_end(struct str s, size_t at)
{
    const char *end = memchr(s.ptr + at, '\n', s.len - at);
    return end ? (size_t)(end - s.ptr) : s.len;
}

/* list.c: prints completions in columns, or one per line with their notes */
void line_list(FILE *f, const struct completions *c, bool all);

/* term.c */
void *edit_function(const char *name); /* a function of libedit */
#define EDIT(name) ((__typeof__(&el_##name))edit_function("el_" #name))
struct line_editor *editor_of(EditLine *el);
EditLine *term_open(struct line_editor *e); /* NULL: the terminal cannot move its cursor */
void term_begin(struct line_editor *e);     /* signals become input */
void term_end(struct line_editor *e);
enum input { INPUT_END, INPUT_BYTE, INPUT_INTERRUPT };
enum input term_read(struct line_editor *e, char *out); /* reads one byte */
struct place {
    size_t row, column; /* from 0 */
};
/* The position after a text that follows a prompt of this width. */
struct place term_place(struct str text, size_t prompt_width);
size_t term_width(struct str s); /* in columns */

#endif
