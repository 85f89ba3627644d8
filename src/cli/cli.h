/*
 * cli: the command line, one file for each subcommand; command.def and option.def are the tables
 * of subcommands and options.
 *
 * Results go to standard output, diagnostics to standard error. Exit statuses are enum hlo_status.
 */
#ifndef HLO_CLI_H
#define HLO_CLI_H

#include "base/base.h"
#include "hlo_scoped.h"

#include <stdio.h>

enum command {
#define COMMAND(id, name, function, flags, usage, summary, examples) CMD_##id,
#include "cli/command.def"
#undef COMMAND
    CMD_COUNT,
    CMD_NONE = CMD_COUNT
};

enum option_id {
#define OPTION(group, id, name, value, help, commands, letter, flags) OPT_##id,
#define HELP(id, commands, help)
#include "cli/option.def"
#undef OPTION
#undef HELP
    OPT_COUNT
};

/* In the order of `--help`. */
enum option_group {
    GROUP_INPUT,
    GROUP_SELECTION,
    GROUP_TESTS,
    GROUP_EXECUTION,
    GROUP_COMPARISON,
    GROUP_LIMITS,
    GROUP_DEBUGGING,
    GROUP_OUTPUT,
    GROUP_GENERAL
};

/* Flags of options: can be set per participant as --NAME@N; all occurrences count, not only the
 * last; names a program or library to run. */
enum { OPTION_EACH = 1, OPTION_MANY = 2, OPTION_RUNS = 4 };
struct option_row {
    enum option_group group;
    const char *name;
    const char *value; /* "=FILE"; "[=SEED]" if optional; "" for a switch */
    const char *help;  /* option_help has that for a command */
    uint64_t commands; /* bit set of enum command; CMD_NONE: without a command */
    char letter;       /* short form, as n in -n; 0: none */
    int flags;
};
/* Flags of commands: output is paged on a terminal; a file is required; without one, the
 * module is read from standard input, unless that is a terminal or a device. */
enum { COMMAND_PAGED = 1, COMMAND_NEEDS = 2, COMMAND_READS = 4 };
struct command_row {
    const char *name, *usage, *summary, *examples;
    int flags;
};
const struct option_row *option_row(enum option_id id);
const struct command_row *command_row(enum command c);
bool option_belongs(enum option_id id, enum command c);
const char *option_help(enum option_id id, enum command c);

struct each_option { /* --NAME@PARTICIPANT=VALUE, or one of several --NAME=VALUE */
    enum option_id id;
    int64_t participant; /* -1: all participants */
    const char *value;
};

struct options {
    enum command command;
    bool given[OPT_COUNT];
    const char *value[OPT_COUNT]; /* NULL: no value */
    const char **args;            /* operands, in order */
    size_t arg_count;
    struct each_option *each; /* in order */
    size_t each_count, each_capacity;
    const char *colors; /* colors of diagnostics, for hlo_messages_draw_in; NULL: no color */
    const char *inks;   /* colors of HLO text on standard output; NULL: no color */
    bool short_help;    /* -h instead of --help */
    struct arena arena; /* memory for words from HLO_OPTIONS and option files */
    int depth;          /* nesting depth of option files */
    struct processes *processes; /* processes that share a run (--world=mpi); or NULL */
};

/* Parses the words after the subcommand. False after reporting an error. */
bool options_parse(struct options *o, int argc, char **argv);
/* The value of --threads, `absent` by default. False after reporting an error. */
bool option_threads(const struct options *o, int absent, int *out);
/* The value of an option as an integer between two bounds; `absent` if it is not given. False after
 * reporting an error. */
bool option_int(const struct options *o, enum option_id id, int64_t low, int64_t high,
                int64_t absent, int64_t *out);
/* The value of an option as an index into keywords; `absent` if it is not given. False after
 * reporting an error. */
bool option_word(const struct options *o, enum option_id id, const char *const *words, int count,
                 int absent, int *out);
enum command command_find(const char *word);
/* The most similar command, for suggestions; "": none. */
const char *command_nearest(const char *word);
void print_help(FILE *f, enum command c);
void print_short_help(FILE *f, enum command c); /* at most one screen */

/* Splits a text into words like a shell. False: an unterminated quote. */
bool split_words(struct arena *a, struct str text, char ***words, int *count);
/* expect.c: whether a word is a literal and not the name of a file. */
bool is_literal(const char *word);
/* Whether it is the value of a parameter and not a file: a literal, NAME=VALUE or @FILE. */
bool is_value(const char *word);

/* terminal.c: --color and its environment variables; --quiet; a pager if standard output is a
 * terminal: pager_begin starts it for all further output, once, and pager_end waits for it. */
bool choose_color(struct options *o);
void be_quiet(const struct options *o);
/* Whether standard output, or that of the pager, is an interactive terminal. */
bool people_read(const struct options *o);
/* The longest line that fits: COLUMNS, or the width of that terminal; SIZE_MAX: any. */
size_t output_width(const struct options *o);
/* Prints HLO text, in color on a terminal. */
void print_hlo(const struct options *o, struct str text);
void pager_begin(const struct options *o);
void pager_end(void);
/* Signal handler: ends the process by this signal, after the pager. */
void leave(int signal);

/* Prints `hlo: ...` to standard error. Returns HLO_USAGE. */
int usage_error(const struct options *o, const char *format, ...) PRINTF_LIKE(2, 3);
/* Write a text to standard output, and free it. */
void print_buf(struct buf *text);
void print_text(hlo_text *text);
/* Adds an error about a file. Returns false. */
bool file_error(hlo_messages *m, const char *file, const char *format, ...) PRINTF_LIKE(3, 4);
/* Prints the messages to standard error. */
void report(const struct options *o, const hlo_messages *m);

typedef int command_fn(const struct options *o);
#define COMMAND(id, name, function, flags, usage, summary, examples) command_fn function;
#include "cli/command.def"
#undef COMMAND

/* completion.c: prints the completion script of --completion=SHELL. Returns a status. */
int print_completion(const struct options *o);

/* world.c: processes that run the same command together. All functions also work for a single
 * process. */
int world_begin(struct options *o); /* opens the world of --world; HLO_OK or a status */
/* Closes it. Returns the common exit status of all processes. */
int world_end(struct options *o, int status);
/* Synchronizes: returns the worst status of all processes; the first process that has it reports
 * why. All processes must make the same calls in the same order, until one has failed. */
int world_agree(const struct options *o, int status);
/* The module on standard input, which only rank 0 reads. Free with hlo_file_free. */
hlo_file *world_stdin(const struct options *o, bool strict, hlo_messages *m);
hlo_world *world_of(const struct options *o); /* NULL: single process */
/* Whether this is rank 0, which does all input and output. */
bool world_first(const struct options *o);
FILE *world_stderr(const struct options *o);

/* interrupt.c: while a program runs, the first Ctrl-C ends the run, the second one the process. */
enum { STATUS_INTERRUPTED = 130 };
void interrupt_begin(hlo_program *p);
bool interrupt_end(void); /* returns whether Ctrl-C was pressed */
/* Whether Ctrl-C was pressed since interrupt_begin, whose program may be NULL. */
bool was_interrupted(void);
/* From now on Ctrl-C never ends the process; interrupt_end clears one that was pressed between
 * runs. */
void interrupt_stay(void);

void interrupt_leave(void); /* outside of runs, Ctrl-C ends the process after the pager */

/* temporary.c: a directory in $TMPDIR or /tmp that is removed when the process ends. There is at
 * most one, and it contains only files of these names. */
#define TEMPORARY_CANDIDATE "candidate.hlo"
#define TEMPORARY_INPUTS "in.npz"
#define TEMPORARY_MODULE "module.hlo"
#define TEMPORARY_OUTPUTS "out.npz"
bool temporary_begin(hlo_messages *m);
const char *temporary_path(const char *name, struct buf *out);
void temporary_end(void);
/* Signal handler: removes the directory and ends the process by this signal. */
void temporary_leave(int signal);

/* result.c: writes a value in the form accepted by `hlo run`. View NULL: all elements. */
void put_value(struct buf *out, const hlo_literal *l, const struct hlo_view *v);

/* progress.c: a status line on the terminal during long commands. */
void progress_begin(const struct options *o); /* for `hlo run`: also handles SIGUSR1 */
/* A run starts; `p` must live until progress_end. */
void progress_run(const struct options *o, const hlo_program *p);
/* Work in parts starts, `12 of 100 tests`: BETWEEN is the word between the numbers, UNIT the
 * noun. */
void progress_parts(const struct options *o, const char *between, const char *unit);
void progress_step(size_t done, size_t all);
/* Removes the line; call it before writing anything else. */
void progress_end(const struct options *o);

/* open.c: the first operand, otherwise the bundle of --bundle; NULL: neither. */
const char *file_argument(const struct options *o);
/* Opens PATH; --module selects one of its modules. Free with hlo_file_free. NULL with messages. */
hlo_file *open_file(const struct options *o, const char *path, hlo_messages *m);

struct files { /* of a command that takes all modules of its operands */
    struct arena arena;
    const char **at;
    size_t count, capacity;
};
/* The files of operands: a directory or a pattern stands for all of its dumps, those of
 * subdirectories too, unless --module selects one. False after reporting those that cannot be read;
 * the others are there. */
bool files_of(struct files *f, const struct options *o, const char *const *paths, size_t count);
void files_free(struct files *f);

/* Writes shape and values on one line, with a newline. */
void put_item(struct buf *out, const hlo_literal *l);

/* Writes text to the file of --output, or to standard output. False with a message. */
bool put_output(const struct options *o, struct str text, hlo_messages *m);
/* The same for HLO text, which is in color on a terminal. */
bool put_hlo(const struct options *o, struct str text, hlo_messages *m);

/* Writes a field of a CSV line, quoted, and a comma. */
void put_csv_field(struct buf *out, const char *text);
/* Writes text in XML, in an element or in an attribute in double quotes. */
void put_xml(struct buf *out, struct str text);

/* Sorts the values, at least one, and returns their median. */
double sort_median(double *values, size_t count);

/* graph.c: see struct repl_options. */
bool graph_write(const hlo_listing *l, long around, const char *path, hlo_messages *m);

/* run_options.c: the targets of --custom-call and --custom-call-lib; NULL with messages. */
hlo_targets *targets_of(const struct options *o, hlo_messages *m);

/* text_diff.c: the difference of two texts in the format of `diff -u`. */
void put_diff(struct buf *out, const char *name, struct str from, struct str to);

/* serve.c: handling of requests. */
struct server;                                       /* state with the loaded modules */
struct server *serve_begin(const struct options *o); /* NULL after reporting invalid options */
void serve_end(struct server *s);
/* Appends the response to a request, one line; nothing for a blank line. */
void serve_answer(struct server *s, struct str line, struct buf *out);

#endif
