/*
 * hlo reduce: what says whether a candidate still fails.
 */
#ifndef HLO_CLI_REDUCE_H
#define HLO_CLI_REDUCE_H

#include "cli/arguments.h"

/* ---- reduce_values.c: what instructions gave in a run, by name ---- */

struct values {
    struct arena arena;
    struct map named; /* to struct value_of */
    uint64_t bytes, steps; /* of the run */
};
void values_init(struct values *v);
void values_free(struct values *v);
const hlo_literal *values_get(const struct values *v, const char *name);
void values_put(struct values *v, const char *name, hlo_literal *l); /* takes it over; the first of a name stays */
/* Runs a module and keeps what each instruction gives the first time that it is done, where that has up to so many bytes: as
 * far as the run comes and a gigabyte goes. Whether it came to its end; messages say why not. */
bool values_of_run(struct values *v, const hlo_module *module, const struct hlo_run_options *options,
                   const hlo_literal *const *args, uint64_t most, hlo_messages *m);

/* ---- reduce_command.c: a command of the shell ---- */

struct shell_check {
    const char *command;
    char *script;        /* the command with the file's name behind it, where it doesn't say where it goes */
    char *path;          /* of the candidate's text; NULL: it is not open */
    int error;           /* the candidate couldn't be written, and so the command not be asked: errno; 0 */
    bool nonzero;        /* the status that says that it still fails */
    bool verbose;        /* what it prints is shown */
    double timeout;      /* 0: none; one that takes longer does not fail */
};
bool shell_check_open(struct shell_check *c, hlo_messages *m);
void shell_check_close(struct shell_check *c);
/* Whether the command says that this text still fails. */
bool shell_check_ask(struct shell_check *c, struct str text);

/* ---- reduce_check.c ---- */

enum check_kind { CHECK_COMMAND, CHECK_NAN, CHECK_PLAIN, CHECK_MISMATCH, CHECK_ERROR };
struct check {
    const struct options *o;
    enum check_kind kind;
    const char *text; /* behind the colon; the command */
    struct hlo_run_options options;
    struct hlo_tolerance tolerance;
    int64_t repeat, seconds; /* that the search may take */
    struct shell_check shell;
    struct arguments *args; /* of the module as it was given */
    struct values known;    /* of a run of it, or of the reference */
    struct map constants;   /* names; for NAN */
    hlo_arrays *reference;  /* MISMATCH with a file of arrays */
};
/* What --check and its kin say; false with a message. */
bool check_options(struct check *c, const struct options *o);
/* What it takes to ask about candidates of a module, whose arguments are there; NULL: about texts. A status, with messages. */
int check_open(struct check *c, struct arguments *args, hlo_messages *m);
void check_close(struct check *c);
/* Whether a candidate still fails. Names are those of the module. */
bool check_bad(struct check *c, const hlo_module *candidate);
/* The same of a text that need not be a module; for COMMAND and ERROR. */
bool check_bad_text(struct check *c, struct str text);
/* What stands for an instruction in the search; NULL: nobody knows. */
const hlo_literal *check_value(struct check *c, const char *name);

/* ---- reduce_lines.c ---- */

/* As few lines of a text as still fail, for so many seconds. False when the text itself does not. */
bool reduce_lines(struct check *c, struct str text, double seconds, struct buf *out);

#endif
