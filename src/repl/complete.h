/*
 * repl/complete: completion at the cursor of an entry, from the tables of the language, the names
 * of the session, the table of its commands, and file names.
 */
#ifndef HLO_REPL_COMPLETE_H
#define HLO_REPL_COMPLETE_H

#include "repl/line.h"

/* Kind of the arguments of a command. */
enum complete_kind {
    COMPLETE_NOTHING,
    COMPLETE_NAMES,  /* of the session, optionally with `%` and a slice */
    COMPLETE_PLACES, /* names and ops */
    COMPLETE_FILES,
    COMPLETE_OPS,
    COMPLETE_COMMANDS,
    COMPLETE_WORDS, /* the keywords in `words` */
    COMPLETE_ENTRY, /* HLO text */
};

struct complete_command {
    const char *name; /* ".load" */
    const char *help; /* one line */
    enum complete_kind kind;
    /* "on|off"; for COMPLETE_WORDS, or additional keywords for other kinds; or NULL */
    const char *words;
};

struct complete_source {
    void *context;
    /* Adds the names that an entry may use, with their shapes as notes, by completions_add. */
    void (*names)(void *context, struct completions *out);
    /* Returns a command; false past the end. */
    bool (*command)(void *context, size_t i, struct complete_command *out);
    /* Adds the names of computations; NULL: `names` adds these, too. */
    void (*computations)(void *context, struct completions *out);
};

void complete_entry(const struct complete_source *s, struct str entry, size_t cursor,
                    struct completions *out);
/* Completion in the text of a module, where nothing but HLO is valid. `text` begins anywhere
 * between two instructions and ends at the cursor; `inside`: it is in the body of a computation.
 * Sets the word to that at the cursor. */
void complete_module(const struct complete_source *s, struct str text, bool inside,
                     struct completions *out);

#endif
