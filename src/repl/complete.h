/*
 * repl/complete: what may stand at the cursor of an entry, out of the tables of the language, the
 * names of the session, the table of its commands and the names of files.
 */
#ifndef HLO_REPL_COMPLETE_H
#define HLO_REPL_COMPLETE_H

#include "repl/line.h"

/* What a command wants as its arguments. */
enum complete_kind {
    COMPLETE_NOTHING,
    COMPLETE_NAMES,  /* of the session; `%`, and a slice after it, are fine */
    COMPLETE_PLACES, /* names, and ops */
    COMPLETE_FILES,
    COMPLETE_OPS,
    COMPLETE_COMMANDS,
    COMPLETE_WORDS, /* those of `words` */
    COMPLETE_ENTRY, /* HLO text */
};

struct complete_command {
    const char *name; /* ".load" */
    const char *help; /* a line */
    enum complete_kind kind;
    const char *words; /* "on|off"; for COMPLETE_WORDS, and for others words that may stand there
                          too; or NULL */
};

struct complete_source {
    void *context;
    /* Adds each name that an entry may use, with its shape as note: completions_add. */
    void (*names)(void *context, struct completions *out);
    /* The commands; false past the end. */
    bool (*command)(void *context, size_t i, struct complete_command *out);
};

void complete_entry(const struct complete_source *s, struct str entry, size_t cursor,
                    struct completions *out);

#endif
