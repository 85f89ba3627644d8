/*
 * repl: the interactive session. Entries are HLO text, which is added to a module, or commands.
 *
 * It is a program that embeds the library: it uses hlo_advanced.h, and text/token.h to determine
 * the end and the kind of entries. line.h reads entries from a terminal, session.h evaluates them.
 */
#ifndef HLO_REPL_H
#define HLO_REPL_H

#include "hlo_advanced.h"

struct repl_options {
    const char *file;            /* module to load at the start; NULL: none */
    size_t part;                 /* part of the file */
    const char *const *commands; /* executed first, in order */
    size_t command_count;
    bool stay;          /* continue with standard input afterwards */
    bool norc;          /* do not read the rc file */
    bool confined;      /* only write files in the current directory, and start no other programs */
    const char *colors; /* of terminal output, for hlo_messages_draw_in; NULL: no color */
    const char *inks;   /* of HLO text on standard output, likewise */
    bool paged;         /* the pager shows long output on the terminal */
    bool random;        /* generate missing arguments */
    uint64_t seed;
    const char *inputs; /* file with arrays for parameters by name; NULL: none */
    struct hlo_run_options run;
    /* Called around each run, during which Ctrl-C ends the run. interrupt_end returns whether
     * Ctrl-C was pressed. */
    void (*interrupt_begin)(hlo_program *p);
    bool (*interrupt_end)(void);
    /* Called for an interactive session: Ctrl-C must never end the process. If pressed between
     * runs, it ends the next run unless interrupt_end is called before. */
    void (*interrupt_stay)(void);
    /* Writes the module of a listing, or the neighborhood of an instruction (-1: none) in it, to a
     * file, as a picture or in DOT by its suffix. */
    bool (*write_graph)(const hlo_listing *l, long around, const char *path, hlo_messages *m);
};

const char *repl_command_name(size_t i); /* "bail", without the dot; NULL past the last */

enum { REPL_INTERRUPTED = 130 }; /* an exit status */

/* If not interactive, the first error ends the session and determines the status: one of enum
 * hlo_status, or REPL_INTERRUPTED. */
int repl_main(const struct repl_options *o);

/* ---- pager.c: long output on a terminal, one screen at a time ---- */

bool terminal_is_dumb(void); /* TERM=dumb: without colors and cursor movement */

/* Starts the pager: HLO_PAGER, PAGER or less. Returns the descriptor of its standard input, and its
 * process, for which the caller waits; -1: output is not to be paged. */
int pager_open(int *process);
/* Waits until the user leaves the pager. */
void pager_wait(int process);
/* Writes text to standard output, through the pager if it has more lines than the screen. */
void pager_show(const char *text, size_t size);

#endif
