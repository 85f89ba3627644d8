/*
 * hlo reduce: how candidates are checked.
 */
#ifndef HLO_CLI_REDUCE_H
#define HLO_CLI_REDUCE_H

#include "cli/arguments.h"

/* ---- reduce_command.c: shell commands ---- */

struct shell_check {
    const char *command;
    char *script;   /* the command, with the file name appended unless it contains it */
    char *path;     /* path of the candidate file; NULL: not open */
    int error;      /* errno if the candidate could not be written; else 0 */
    bool nonzero;   /* a status other than 0 means failure */
    bool verbose;   /* show the output of the command */
    double timeout; /* seconds, 0: none; a candidate that takes longer counts as not failing */
};
bool shell_check_open(struct shell_check *c, hlo_messages *m);
void shell_check_close(struct shell_check *c);
/* Runs the command: whether the text still fails. */
bool shell_check_ask(struct shell_check *c, struct str text);

/* ---- reduce_check.c ---- */

enum check_kind { CHECK_COMMAND, CHECK_NAN, CHECK_PLAIN, CHECK_MISMATCH, CHECK_ERROR };
struct check {
    const struct options *o;
    enum check_kind kind;
    const char *text; /* the text after the colon of --check, or the command */
    struct hlo_run_options options;
    struct hlo_tolerance tolerance;
    int64_t repeat, seconds; /* maximum number of checks of a candidate, until one fails; time limit
                                of the search */
    struct shell_check shell;
    struct arguments *args; /* of the original module */
    struct arena arena;
    struct map constants; /* for CHECK_NAN: names of its constants */
    /* Recorded values: of a run of the module, or the reference of CHECK_MISMATCH, which is a
     * module or an array file. */
    hlo_module *reference;
    hlo_listing *listing;   /* of the recorded module */
    hlo_recorded *recorded; /* NULL: the run failed */
    hlo_literal **given;    /* arrays of a file, by instruction of the listing; NULL: no file */
};
/* Reads --check and related options; false with a message. */
bool check_options(struct check *c, const struct options *o);
/* Prepares checks of a module with its arguments, or of texts if ARGS is NULL. HLO_OK, or a status
 * with messages. */
int check_open(struct check *c, struct arguments *args, hlo_messages *m);
void check_close(struct check *c);
/* Whether a candidate still fails. Its instructions have the names of the original module. */
bool check_bad(struct check *c, const hlo_module *candidate);
/* Whether a text, which need not be a module, still fails; for CHECK_COMMAND and CHECK_ERROR. */
bool check_bad_text(struct check *c, struct str text);
/* The recorded value of an instruction, which may replace it; NULL: none. */
const hlo_literal *check_value(struct check *c, const char *name);

/* ---- reduce_lines.c ---- */

/* Removes lines of a text while it still fails, for the given time. False if the text itself does
 * not fail. */
bool reduce_lines(struct check *c, struct str text, double seconds, struct buf *out);

#endif
