/*
 * Inputs and outputs of a run: arguments of each participant, results, and files of feeds.
 */
#ifndef HLO_CLI_ARGUMENTS_H
#define HLO_CLI_ARGUMENTS_H

#include "cli/cli.h"

/* ---- arguments.c ---- */

enum { ALL_PARTICIPANTS = -1 };
struct generated_inputs { /* how missing arguments are generated */
    enum hlo_fake kind;
    uint64_t seed;
};
struct arguments {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    const char *path;         /* of the module, for messages; NULL: there is only one */
    const char *const *given; /* arguments on the command line */
    size_t given_count;
    bool make_up;                      /* generate missing arguments even without --random */
    const struct generated_inputs *as; /* overrides the options; or NULL */
    const hlo_module *with; /* the module whose stored arguments are used; NULL: `module` */
    hlo_file *bundle;       /* of --bundle if it is not an archive and not the file of `module` */
    hlo_module *bundled;    /* its module, whose stored arguments are used */
    bool stored;            /* all arguments are stored ones, so the stored results are expected */
    size_t participants, count; /* count: number of parameters */
    hlo_literal **common;       /* values for all participants, by parameter; NULL: none */
    /* values for one participant, which take precedence, in order of participants */
    hlo_literal **own;
    const hlo_literal **all; /* arguments of the run, in order of participants */
    size_t next;             /* parameter of the next argument without a name */
    struct buf *ahead;       /* bytes of standard input read ahead while running earlier modules */
    hlo_targets *targets;    /* of arguments_prepare */
};

/* Determines the number of participants from the module, --replicas and --partitions, and sets it
 * in the module. Call it before hlo_verify. False with a message. */
bool arguments_participants(struct arguments *a, hlo_module *module);
/* arguments_participants and hlo_verify; MODULE is NULL if the parser rejected it. HLO_OK, or a
 * status with messages. */
int arguments_check(struct arguments *a, hlo_module *module);
/* Determines all arguments. HLO_OK, or a status with messages. */
int arguments_collect(struct arguments *a);
/* Sets the options of a run, with its targets, and determines all arguments unless --parameters is
 * given. HLO_OK, or a status with messages. */
int arguments_prepare(struct arguments *a, struct hlo_run_options *options);
void arguments_free(struct arguments *a);
/* Whether a parameter has the same shape in two modules. */
bool same_parameter(const hlo_module *a, const hlo_module *b, size_t param);
/* The path of --bundle if it is an archive of arrays, not a snapshot; NULL: none. */
const char *bundle_of_arrays(const struct options *o);
/* The kind of --fake; uniform by default. False with a message. */
bool fake_kind(const struct options *o, enum hlo_fake *out);
bool ends_with(const char *s, const char *end);

/* ---- open.c ---- */

/* Opens and parses the module of a file: the one selected by --module, or the first. NULL with
 * messages and a status. */
hlo_module *open_one(const struct options *o, const char *path, hlo_messages *m, int *status);
/* Writes the text of a module to standard output or the file of --output. */
int put_module(const struct options *o, const hlo_module *module, hlo_messages *m);
/* Runs a command with operands FILE NAME [ARG...]: FN is called with the verified module and with
 * arguments not yet collected. MISSING is the message for missing operands; NULL: NAME is optional,
 * and "" if an argument of the run follows FILE, or nothing. */
typedef int named_fn(struct arguments *a, const hlo_listing *l, const char *path, const char *name);
int with_name(const struct options *o, const char *missing, named_fn *fn);

/* ---- run_options.c ---- */

/* Fills in the options of a run, except `targets`. False with a message. */
bool run_options(const struct options *o, struct hlo_run_options *out);

/* ---- result.c ---- */

/* How values are printed: --full, --summary, --precision, --hexfloat. On a terminal, large arrays
 * are abridged. False with a message. */
bool result_view(const struct options *o, struct hlo_view *v);
/* Writes the results of all participants to --output or, without --quiet, to standard output:
 * `out[1].0` is tuple element 0 of the result of participant 1. */
bool put_results(const struct options *o, hlo_literal *const *results, size_t count,
                 hlo_messages *m);

/* ---- expect.c ---- */

/* The tolerance of --abs, --rel and --ulp; by default numbers must be equal. False with a
 * message. */
bool tolerance_options(const struct options *o, struct hlo_tolerance *out);
bool tolerance_given(const struct options *o); /* whether one of the three is given */
/* Appends the elements that differ most, and a histogram of the errors, after the line that
 * hlo_literal_compare() made: nothing for a single element and different shapes. */
void put_differing(struct buf *out, const struct hlo_difference *d, const hlo_literal *actual,
                   const hlo_literal *expected);
/* Compares the results of all participants with out0, out1, ... of a file, or with those in the
 * bundle's or module's file if PATH is NULL, and reports differences, or with `verdict` that they
 * agree. Returns a status. */
int expect_results(const struct arguments *a, const char *path, hlo_literal *const *results,
                   bool verdict);
bool bundle_has_results(const char *path, hlo_messages *m);

/* ---- feed.c ---- */

struct feed_in;
struct feed_out;
struct feed_files {
    const struct options *o;
    hlo_messages *m;
    size_t participants, in_count, out_count;
    struct feed_in *in; /* input files: the one for all participants, then those for single ones */
    struct feed_out *out;        /* output files, in the same order */
    struct feed_reader *readers; /* by participant */
    struct buf *ahead;           /* as in struct arguments */
    _Atomic size_t dropped;      /* number of outfeed items without a file */
    struct hlo_feeds feeds;      /* callbacks for the run */
};

/* Opens the files of --infeed and --outfeed. HLO_OK, or a status with messages. */
int feed_open(struct feed_files *f, const struct arguments *a);
/* Writes buffered output and moves files into place. If a pipe is full, waits or drops the rest.
 * False with a message. */
bool feed_finish(struct feed_files *f, bool wait, hlo_messages *m);
void feed_free(struct feed_files *f);

#endif
