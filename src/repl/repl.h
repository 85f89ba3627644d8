/*
 * repl: the prompt. What is typed there is HLO text, which makes a module grow, or a command, which
 * looks into it.
 *
 * It is a program that embeds the library: it uses hlo_advanced.h, and text/token.h to see where
 * entries end and of what kind they are. line.h reads entries from a terminal, session.h says what
 * they mean.
 */
#ifndef HLO_REPL_H
#define HLO_REPL_H

#include "hlo_advanced.h"

struct repl_options {
    const char *file;            /* a module to begin with; NULL: none */
    size_t part;                 /* which of those in the file */
    const char *const *commands; /* are done first, in order */
    size_t command_count;
    bool stay;     /* go on with standard input behind them */
    bool norc;     /* leave the user's rc file alone */
    bool confined; /* write files in the current folder only, and start no other programs */
    const char
        *colors; /* of what goes to a terminal, as hlo_messages_draw_in takes them; NULL: none */
    bool random; /* make up parameters that nobody gives */
    uint64_t seed;
    const char *inputs; /* arrays for parameters by name; NULL: none */
    struct hlo_run_options run;
    /* Around each run: from now on Ctrl-C ends it; and no longer. Whether it came. */
    void (*interrupt_begin)(hlo_program *p);
    bool (*interrupt_end)(void);
    /* Somebody types: Ctrl-C is never to end the process. One that comes between runs ends the
     * next, unless interrupt_end is called before that. */
    void (*interrupt_stay)(void);
};

const char *repl_command_name(size_t i); /* "bail", without its dot; NULL past the last */

enum { REPL_INTERRUPTED = 130 }; /* as a status */

/* Off a terminal the first error ends it, and is its status: one of enum hlo_status, or
 * REPL_INTERRUPTED. */
int repl_main(const struct repl_options *o);

#endif
