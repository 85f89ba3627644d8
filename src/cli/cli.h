/*
 * cli: the command line. There is a file for each subcommand; command.def and option.def are the
 * tables of subcommands and options.
 *
 * Data goes to standard output, everything else to standard error. Exit statuses are enum
 * hlo_status.
 */
#ifndef HLO_CLI_H
#define HLO_CLI_H

#include "base/base.h"
#include "hlo_advanced.h"

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

/* May be given for one participant as --NAME@N; every occurrence counts, not only the last; names a
 * program or library to run. */
enum { OPTION_EACH = 1, OPTION_MANY = 2, OPTION_RUNS = 4 };
struct option_row {
    const char *name;
    const char *value; /* "=FILE"; "[=SEED]", which may be left out; "" for a switch */
    const char *help;
    uint64_t commands; /* commands that have it: a bit for each enum command; CMD_NONE: without a
                          command */
    char letter;       /* short form, as in -n; 0: none */
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
    int64_t participant; /* -1: every participant */
    const char *value;
};

struct options {
    enum command command;
    bool given[OPT_COUNT];
    const char *value[OPT_COUNT]; /* NULL: without a value */
    const char **args;            /* arguments that are no options, in order */
    size_t arg_count;
    struct each_option *each; /* in order */
    size_t each_count, each_capacity;
    const char *colors; /* for messages on standard error, as hlo_messages_draw_in takes them; NULL:
                           no color */
    bool short_help;    /* -h, not --help */
    struct arena arena; /* for words from HLO_OPTIONS and files of options */
    int depth;          /* how deep files of options are nested */
    int pager;          /* the process that pages standard output; 0: none */
    struct processes *processes; /* those that share a run (--world=mpi); or NULL */
};

/* Parses what follows the subcommand. False after saying what is wrong with it. */
bool options_parse(struct options *o, int argc, char **argv);
/* The value of --threads, `absent` without it. False after saying what is wrong. */
bool option_threads(const struct options *o, int absent, int *out);
/* The value of an option as a number between two bounds; `absent` when it was not given. False
 * after saying what is wrong. */
bool option_int(const struct options *o, enum option_id id, int64_t low, int64_t high,
                int64_t absent, int64_t *out);
enum command command_find(const char *word);
const char *command_nearest(const char *word); /* for suggestions; "" when none is near */
void print_help(FILE *f, enum command c);
void print_short_help(FILE *f, enum command c); /* at most a screen */

/* words.c: splits a text into words like a shell. False: a quote is not closed. */
bool split_words(struct arena *a, struct str text, char ***words, int *count);

/* terminal.c: --color and the environment; --quiet; a pager when standard output is a terminal, for
 * which pager_end waits. */
bool choose_color(struct options *o);
void be_quiet(const struct options *o);
/* Whether standard output, or that of the pager, is a terminal that somebody looks at. */
bool people_read(const struct options *o);
void pager_begin(struct options *o);
void pager_end(struct options *o);

/* Prints `hlo: ...` on standard error. Returns HLO_USAGE. */
int usage_error(const struct options *o, const char *format, ...) PRINTF_LIKE(2, 3);
/* Prints the messages on standard error. */
void report(const struct options *o, const hlo_messages *m);

typedef int command_fn(const struct options *o);
#define COMMAND(id, name, function, paged, usage, summary, examples) command_fn function;
#include "cli/command.def"
#undef COMMAND

/* completion.c: prints a completion script for bash, zsh or fish. HLO_USAGE for another shell. */
int print_completion(const struct options *o, const char *shell);

/* world.c: several processes that run the same command. All functions also work for a single
 * process. */
int world_begin(struct options *o); /* opens the world that --world names; HLO_OK or a status */
/* Closes it. Returns the status with which all of them end. */
int world_end(struct options *o, int status);
/* They go on together or not at all: returns the worst status of any; the first process that has it
 * says why. All must make the same calls in the same order, until one has failed. */
int world_agree(const struct options *o, int status);
/* The module on standard input, which only the first process has. Free with hlo_file_free. */
hlo_file *world_stdin(const struct options *o, bool strict, hlo_messages *m);
hlo_world *world_of(const struct options *o); /* NULL: this process is alone */
bool world_first(
    const struct options *o); /* this is the first process, which prints and writes for all */
FILE *world_stderr(const struct options *o);

/* interrupt.c: while a program runs, the first Ctrl-C ends the run, the second one the process. */
enum { STATUS_INTERRUPTED = 130 };
void interrupt_begin(hlo_program *p);
bool interrupt_end(void); /* whether one came */
bool interrupt_came(
    void); /* whether one has come since interrupt_begin, whose program may be NULL */
/* From now on Ctrl-C never ends the process; one that came between runs is forgotten by
 * interrupt_end. */
void interrupt_stay(void);

/* temporary.c: a folder in $TMPDIR or /tmp that is removed when the process ends. There is at most
 * one, and only files of these names are in it. */
#define TEMPORARY_CANDIDATE "candidate.hlo"
#define TEMPORARY_INPUTS "in.npz"
#define TEMPORARY_MODULE "module.hlo"
#define TEMPORARY_OUTPUTS "out.npz"
bool temporary_begin(hlo_messages *m);
const char *temporary_path(const char *name, struct buf *out);
void temporary_end(void);
void temporary_leave(
    int signal); /* a signal handler: removes the folder and ends the process by this signal */

/* value.c: a result as people read it. With view NULL it is written in full, and `hlo run` can read
 * it again. */
void put_value(struct buf *out, const hlo_literal *l, const struct hlo_view *v);

/* progress.c: a line on a terminal about how far a command is, while it takes long. */
void progress_begin(const struct options *o); /* of `hlo run`: SIGUSR1 is answered from now on */
void progress_run(const struct options *o,
                  const hlo_program *p); /* the run begins; `p` must last until progress_end */
/* Work of several parts begins, `12 of 100 tests`: what stands between the numbers, and their unit.
 */
void progress_parts(const struct options *o, const char *between, const char *unit);
void progress_step(size_t done, size_t all);
void progress_end(
    const struct options *o); /* removes the line; to be called before anything else is written */

/* open.c: the first argument, or else the bundle of --bundle; NULL: neither. */
const char *file_argument(const struct options *o);
bool file_is_bundle(const char *path); /* --save-bundle may have written it */
/* Opens PATH, from which --module may pick a module. Free with hlo_file_free. NULL with messages.
 */
hlo_file *open_file(const struct options *o, const char *path, hlo_messages *m);

/* Writes shape and values on one line, with a newline. */
void put_item(struct buf *out, const hlo_literal *l);

/* Writes text to the file of --output, or to standard output. False with a message. */
bool put_output(const struct options *o, struct str text, hlo_messages *m);

/* Writes a field of a CSV line, quoted, and a comma. */
void put_csv_field(struct buf *out, const char *text);

/* Writes a time in eleven columns: "  12.345 us". */
void put_seconds(struct buf *out, double s);

/* targets.c: the targets that --custom-call and --custom-call-lib name; NULL with messages. */
hlo_targets *targets_of(const struct options *o, hlo_messages *m);

/* text_diff.c: the difference of two texts, as `diff -u` shows it. */
void put_diff(struct buf *out, const char *name, struct str from, struct str to);

#endif
