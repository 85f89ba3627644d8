/*
 * repl/line_priv: what the files of the line editor share.
 *
 * libedit reads one buffer at a time, and draws it whole, with the ends of lines that are in it. An entry that is typed line by
 * line is read as one such buffer after the other, each behind its prompt; one that is recalled or pasted is one buffer. Keys of
 * ours that need more than libedit's functions can do (list what may follow, take up earlier lines again, give up) leave
 * the buffer with a reason, and it is opened again with the same text where that is wanted.
 */
#ifndef HLO_REPL_LINE_PRIV_H
#define HLO_REPL_LINE_PRIV_H

#include "repl/history.h"
#include "repl/line.h"

#include <histedit.h>
#include <locale.h>
#include <stdio.h>
#include <signal.h>
#include <wchar.h>

enum leave {
    LEAVE_NOT,    /* by a key of ours: the user has bound one to libedit's own function, or switched editing off */
    LEAVE_ENTER,  /* the line has ended */
    LEAVE_END,    /* Ctrl-D on nothing */
    LEAVE_CANCEL, /* Ctrl-C */
    LEAVE_LIST,   /* show what may stand at the cursor */
    LEAVE_REOPEN  /* show another part of the entry, or another entry */
};

struct line_editor {
    const struct line_hooks *hooks;
    struct history history;
    size_t older;     /* where one is in it: 1 for the newest entry, 0 for what is being typed, ... */
    struct buf draft; /* ... which is kept here meanwhile */
    size_t search_at; /* where libedit's search is in it: 1 for the oldest entry */
    FILE *out;        /* for prompts: standard output, or standard error where that is no terminal */
    bool color;
    locale_t locale; /* for characters only; while editing */
    EditLine *el;    /* NULL: lines are read as the terminal sends them */
    int signals;     /* a signalfd; -1 */
    sigset_t mask;   /* as it was before editing */

    wchar_t *prompt; /* with escapes between \1 where it is colored */
    size_t prompt_width;
    struct buf before; /* lines of the entry before those in the buffer, each with its end */
    struct buf text;   /* in the buffer: when it was left, and when it will be opened */
    struct buf after;  /* begins with the end of the buffer's last line, where it isn't empty */
    size_t cursor;     /* in `text` */
    enum leave leave;
    size_t goal;                   /* of LEAVE_REOPEN: where the cursor is to be, in all of the entry */
    size_t rows_above, rows_shown; /* of the entry on the screen, above the buffer and by it */
    struct completions found;      /* to be listed */
    bool list_all;

    const wchar_t *inject;        /* keys that come before those of the terminal; NULL */
    uint64_t keys;                /* characters that the terminal has sent */
    uint64_t last_tab, last_move; /* `keys` when they were last pressed */
    bool moved;                   /* the last key before the buffer was opened went through the history */
    unsigned tabs;                /* in a row */
    mbstate_t decoding;
};

/* A function of libedit. The loader knows where it is: nothing is kept here. */
void *edit_function(const char *name);
#define EDIT(name) ((__typeof__(&el_##name))edit_function("el_" #name))
struct line_editor *editor_of(EditLine *el);

/* keys.c */
void keys_bind(EditLine *el);
/* How many rows the buffer takes up to the cursor, its own among them. */
size_t keys_rows_to_cursor(struct line_editor *e);
/* For `inject`, Ctrl-\ and a letter, which nobody types: functions of libedit's and of ours, wherever the user has put them. */
#define KEY_NEWLINE L"\034n"
#define KEY_RESUME L"\034r"
#define KEY_DELETE L"\034d"

/* input.c */
void input_begin(struct line_editor *e); /* signals come as input */
void input_end(struct line_editor *e);
/* Waits for the terminal, or for a signal that stands for a key, which is in `inject` then. False: there will be no more. */
bool input_byte(struct line_editor *e, char *out);
int input_key(EditLine *el, wchar_t *out);
void input_suspend(struct line_editor *e); /* Ctrl-Z; returns when it goes on */

/* term.c */
EditLine *term_open(struct line_editor *e);
/* Rows that a line takes, behind a prompt of so many columns. */
size_t term_rows(struct str line, size_t prompt, size_t columns);
size_t term_width(struct str s); /* columns */

/* window.c */
size_t window_rows(const struct line_editor *e, struct str text); /* of the screen, behind the prompt */
bool window_fits(const struct line_editor *e, struct str text);
/* Of the entry in before, text and after, what fits around the cursor becomes the text. */
void window_open(struct line_editor *e, size_t cursor);
/* Goes back to the row in which the entry begins, and wipes out what is below; if that is still on the screen. */
void window_close(struct line_editor *e);
/* The place in a line nearest to a column in bytes. */
size_t window_column(struct str line, size_t column);

/* list.c: completions in columns, or one a line with their notes. */
void list_completions(FILE *f, const struct completions *c, bool all);

/* Text as libedit has it, and back. NULL when it isn't text. Free with free(). */
wchar_t *wide_of(struct str s);
void buf_wide(struct buf *out, const wchar_t *s, size_t count);

#endif
