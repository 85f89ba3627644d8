/*
 * repl/history: what was typed, each entry once, and the file that keeps it from one session to the
 * next.
 *
 * The file has an entry a line, `\n` for the ends of lines within it and `\\` for a backslash. What
 * is added is appended at once, under a lock, so several sessions may share it; each sees its own
 * entries and what was there when it began. Only its owner may read it.
 */
#ifndef HLO_REPL_HISTORY_H
#define HLO_REPL_HISTORY_H

#include "base/base.h"

enum { HISTORY_LIMIT = 1000 };

struct history {
    struct buf *entries; /* oldest first, NUL-terminated */
    size_t count, capacity;
    char *path; /* NULL: nothing is kept */
};

/* The file: $HLO_HISTORY, else hlo/history in $XDG_STATE_HOME or ~/.local/state. Empty: none. */
void history_path(struct buf *out);
/* `path` may be NULL or empty. A file that can't be read holds nothing. */
void history_open(struct history *h, const char *path);
void history_close(struct history *h);
/* The newest from now on, and no longer where it stood before. Blank ones, those that begin with a
 * blank and those of more than 64 KiB are left out. False, with errno, when the file can't be
 * written. */
bool history_add(struct history *h, struct str entry);

#endif
