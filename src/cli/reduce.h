/*
 * hlo reduce: how it is found out whether a candidate still fails.
 */
#ifndef HLO_CLI_REDUCE_H
#define HLO_CLI_REDUCE_H

#include "cli/arguments.h"

/* ---- reduce_command.c: a command of the shell ---- */

struct shell_check {
    const char *command;
    char *
        script; /* the command, followed by the file's name unless it says itself where that goes */
    char *path; /* of the candidate's text; NULL: it is not open */
    int error;  /* errno when the candidate couldn't be written, so that the command can't be asked;
                   else 0 */
    bool nonzero;   /* a status other than 0 says that it still fails; else 0 does */
    bool verbose;   /* show what the command prints */
    double timeout; /* seconds, 0: none; a candidate that takes longer counts as one that does not
                       fail */
};
bool shell_check_open(struct shell_check *c, hlo_messages *m);
void shell_check_close(struct shell_check *c);
/* Runs the command: whether this text still fails. */
bool shell_check_ask(struct shell_check *c, struct str text);

/* ---- reduce_check.c ---- */

enum check_kind { CHECK_COMMAND, CHECK_NAN, CHECK_PLAIN, CHECK_MISMATCH, CHECK_ERROR };
struct check {
    const struct options *o;
    enum check_kind kind;
    const char *text; /* of --check, behind the colon; or the command */
    struct hlo_run_options options;
    struct hlo_tolerance tolerance;
    int64_t repeat,
        seconds; /* how often a candidate is asked at most, until it fails; time for the search */
    struct shell_check shell;
    struct arguments *args; /* of the original module */
    struct arena arena;
    struct map constants; /* for CHECK_NAN: names of its constants */
    /* What instructions gave: the module's own run, or the reference of CHECK_MISMATCH, which is a
     * module or a file of arrays. */
    hlo_module *reference;
    hlo_listing *listing;   /* of the module that was run */
    hlo_recorded *recorded; /* its run; NULL: it could not be run */
    hlo_literal *
        *given; /* from a file, by the instructions of the listing; NULL: there is no file */
};
/* Reads --check and related options; false with a message. */
bool check_options(struct check *c, const struct options *o);
/* Prepares for candidates of a module with its arguments, or, when ARGS is NULL, for texts. HLO_OK,
 * or a status with messages. */
int check_open(struct check *c, struct arguments *args, hlo_messages *m);
void check_close(struct check *c);
/* Whether a candidate still fails. Its instructions have the names that they had in the original
 * module. */
bool check_bad(struct check *c, const hlo_module *candidate);
/* The same for a text that need not be a module; for CHECK_COMMAND and CHECK_ERROR. */
bool check_bad_text(struct check *c, struct str text);
/* The known value of an instruction, by which the search may replace it; NULL: none. */
const hlo_literal *check_value(struct check *c, const char *name);

/* ---- reduce_lines.c ---- */

/* Makes a text as few lines as still fail, within so many seconds. False when the text itself does
 * not fail. */
bool reduce_lines(struct check *c, struct str text, double seconds, struct buf *out);

#endif
