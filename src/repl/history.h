/*
 * repl/history: the history of entries without duplicates, and the file that stores it between
 * sessions.
 *
 * The file has one entry per line, with `\n` for line breaks and `\\` for backslashes. New entries
 * are appended immediately, under a lock, so that concurrent sessions can share the file; each
 * sees its own entries and those present at its start. The file is readable by its owner only.
 */
#ifndef HLO_REPL_HISTORY_H
#define HLO_REPL_HISTORY_H

#include "base/base.h"

enum { HISTORY_LIMIT = 1000 };

struct history {
    struct buf *entries; /* oldest first, NUL-terminated */
    size_t count, capacity;
    char *path; /* NULL: no file */
};

/* The file: $HLO_HISTORY, or hlo/history in $XDG_STATE_HOME or ~/.local/state. Empty: none. */
void history_path(struct buf *out);
/* `path` may be NULL or empty. An unreadable file counts as empty. */
void history_open(struct history *h, const char *path);
void history_close(struct history *h);
/* Adds the newest entry and removes an earlier duplicate. Blank entries, entries that start with a
 * blank and entries of more than 64 KiB are ignored. False, with errno, if the file cannot be
 * written. */
bool history_add(struct history *h, struct str entry);

#endif
