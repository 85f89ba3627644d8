/*
 * cli: main, one file per subcommand; command.def and option.def are the tables of subcommands and options.
 *
 * Data goes to standard output, everything else to standard error. Exit statuses are enum hlo_status.
 */
#ifndef HLO_CLI_H
#define HLO_CLI_H

#include "base/base.h"
#include "hlo.h"

#include <stdio.h>

enum command {
#define COMMAND(id, name, function, paged, usage, summary, examples) CMD_##id,
#include "cli/command.def"
#undef COMMAND
    CMD_COUNT,
    CMD_NONE = CMD_COUNT
};

enum option_id {
#define OPTION(id, name, value, help, commands, letter, flags) OPT_##id,
#include "cli/option.def"
#undef OPTION
    OPT_COUNT
};

/* For one participant as --NAME@N; kept each time that it is given; names a program or a library that is run. */
enum { OPTION_EACH = 1, OPTION_MANY = 2, OPTION_RUNS = 4 };
struct option_row {
    const char *name;
    const char *value; /* "=FILE", "[=SEED]" (may be left out), or "" for a switch */
    const char *help;
    uint64_t commands; /* that have it: bits by enum command; that of CMD_NONE: where no command is named */
    char letter;       /* 0: none */
    int flags;
};
struct command_row {
    const char *name, *usage, *summary, *examples;
    bool paged; /* through a pager, where a terminal shows it */
};
const struct option_row *option_row(enum option_id id);
const struct command_row *command_row(enum command c);
bool option_belongs(enum option_id id, enum command c);

struct each_option { /* --NAME@PARTICIPANT=VALUE, or one of several --NAME=VALUE */
    enum option_id id;
    int64_t participant; /* -1: all */
    const char *value;
};

struct options {
    enum command command;
    bool given[OPT_COUNT];
    const char *value[OPT_COUNT]; /* NULL where none was given */
    const char **args;            /* what is no option, in order */
    size_t arg_count;
    struct each_option *each;     /* in order */
    size_t each_count, each_capacity;
    const char *colors; /* of standard error, as hlo_messages_draw_in takes them; NULL: none */
    bool short_help; /* -h, not --help */
    struct arena arena; /* for words that stood elsewhere */
    int depth;          /* of files of options in files of options */
    int pager;          /* the process that pages standard output; 0: none */
    struct processes *processes; /* with which a run is shared (--world=mpi); or NULL */
};

/* Parses what follows the subcommand. False after saying what is wrong with it. */
bool options_parse(struct options *o, int argc, char **argv);
/* --threads of a run. */
bool option_threads(const struct options *o, int absent, int *out);
/* The value of an option as a number between two bounds; `absent` when it was not given. */
bool option_int(const struct options *o, enum option_id id, int64_t low, int64_t high, int64_t absent,
                int64_t *out);
enum command command_find(const char *word);
const char *command_nearest(const char *word); /* "" when none is near */
void print_help(FILE *f, enum command c);
void print_short_help(FILE *f, enum command c); /* no more than a screen */

/* words.c: words as a shell splits them; false: a quote is not closed. */
bool split_words(struct arena *a, struct str text, char ***words, int *count);

/* terminal.c: --color and the environment, --quiet, and a pager where standard output is a terminal; pager_end waits for it. */
bool choose_color(struct options *o);
void be_quiet(const struct options *o);
/* Whether standard output, or the pager's, is a terminal with somebody at it. */
bool people_read(const struct options *o);
void pager_begin(struct options *o);
void pager_end(struct options *o);

/* `hlo: ...` on standard error. Returns HLO_USAGE. */
int usage_error(const struct options *o, const char *format, ...) PRINTF_LIKE(2, 3);
/* Draws the messages on standard error. */
void report(const struct options *o, const hlo_messages *m);

typedef int command_fn(const struct options *o);
#define COMMAND(id, name, function, paged, usage, summary, examples) command_fn function;
#include "cli/command.def"
#undef COMMAND

/* completion.c: what shells complete, as a script for bash, zsh or fish; HLO_USAGE for another shell. */
int print_completion(const struct options *o, const char *shell);

/* world.c: several processes that run the same command. Each function does what is right for one, too. */
int world_begin(struct options *o); /* as --world says; HLO_OK or a status */
/* Closes it. The status that all of them end with. */
int world_end(struct options *o, int status);
/* They go on together or not at all: the worst status of any, and the first that has it says why. What
 * one calls, all must call, in the same order, until one has failed. */
int world_agree(const struct options *o, int status);
/* The module on standard input, which only the first of them has; to be freed with hlo_file_free. */
hlo_file *world_stdin(const struct options *o, bool strict, hlo_messages *m);
hlo_world *world_of(const struct options *o); /* NULL: this process is alone */
bool world_first(const struct options *o);    /* this one speaks and writes for all */
FILE *world_stderr(const struct options *o);

/* interrupt.c: while a program runs, the first Ctrl-C ends its run, the second one the process. */
enum { STATUS_INTERRUPTED = 130 };
void interrupt_begin(hlo_program *p);
bool interrupt_end(void); /* whether there was one */
bool interrupt_came(void); /* whether there has been one since the beginning, which may be without a program */
void interrupt_stay(void); /* from now on it ends runs and never the process; what came between runs is forgotten by interrupt_end */

/* temporary.c: a folder of our own for as long as the process lasts, in $TMPDIR or /tmp. No more than one, and only with files of these
 * names in it. */
#define TEMPORARY_CANDIDATE "candidate.hlo"
#define TEMPORARY_INPUTS "in.npz"
#define TEMPORARY_MODULE "module.hlo"
#define TEMPORARY_OUTPUTS "out.npz"
bool temporary_begin(hlo_messages *m);
const char *temporary_path(const char *name, struct buf *out);
void temporary_end(void);
void temporary_leave(int signal); /* a handler: ends the process by this signal, and leaves no folder behind */

/* value.c: a result for people to read and, all of it (NULL), for `hlo run` to read again. */
void put_value(struct buf *out, const hlo_literal *l, const struct hlo_view *v);

/* progress.c: `12 of 100 runs` on a terminal, for what takes long. */
struct progress {
    const char *what;
    double next; /* when a line is due; negative: never */
    bool shown;
};
struct progress progress_begin(const struct options *o, const char *what);
void progress_step(struct progress *p, size_t done, size_t all);
void progress_end(struct progress *p); /* before anything else is written */

/* status.c: how far a run is, on a terminal and for SIGUSR1, which says something as soon as status_begin has been called. */
void status_begin(const struct options *o);
void status_run(const struct options *o, const hlo_program *p); /* the run begins; P lasts until status_end */
void status_end(const struct options *o); /* before anything else is written */

/* open.c: the first argument; where there is none, the bundle. NULL: neither. */
const char *file_argument(const struct options *o);
bool file_is_bundle(const char *path); /* --save-bundle may have written it */
/* What PATH names, of which --module picks. To be freed with hlo_file_free; NULL with messages. */
hlo_file *open_file(const struct options *o, const char *path, hlo_messages *m);

/* Shape and values on one line, ended. */
void put_item(struct buf *out, const hlo_literal *l);

/* Text to the file of --output, or to standard output; false with a message. */
bool put_output(const struct options *o, struct str text, hlo_messages *m);

/* A time in eleven columns: "  12.345 us". */
void put_seconds(struct buf *out, double s);

/* targets.c: what --custom-call and --custom-call-lib name; NULL with messages. */
hlo_targets *targets_of(const struct options *o, hlo_messages *m);

/* text_diff.c: how a text becomes another, as `diff -u` shows it. */
void put_diff(struct buf *out, const char *name, struct str from, struct str to);

#endif
