/*
 * The inputs and outputs of a run: arguments of each participant, results, and the files of its
 * feeds.
 */
#ifndef HLO_CLI_ARGUMENTS_H
#define HLO_CLI_ARGUMENTS_H

#include "cli/cli.h"

/* ---- arguments.c ---- */

enum { EVERYBODY = -1 };
struct made_up { /* how arguments that are not given are made up */
    enum hlo_fake kind;
    uint64_t seed;
};
struct arguments {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    const char *const *given; /* the arguments on the command line */
    size_t given_count;
    bool make_up;               /* make up what is not given, even without --random */
    const struct made_up *as;   /* in this way, whatever the options say; or NULL */
    const char *bundle;         /* that they come from, and what the results should be; NULL */
    size_t participants, count; /* count: parameters */
    hlo_literal **common;       /* the values for all participants, by parameter; NULL: none */
    hlo_literal **own; /* those for one participant, which come before the common ones: participant
                          by participant */
    const hlo_literal **all; /* what the run gets, participant by participant */
    size_t next;             /* the parameter of the next argument without a name */
    struct buf *ahead; /* bytes of standard input that were read for the modules before this one,
                          but not used */
};

/* Finds the number of participants: that of the module, unless --replicas and --partitions replace
 * it there. To be called before hlo_verify. False with a message. */
bool arguments_participants(struct arguments *a, hlo_module *module);
/* That and hlo_verify; MODULE is NULL when the parser rejected it. HLO_OK, or a status with
 * messages. */
int arguments_check(struct arguments *a, hlo_module *module);
/* Finds the values of all arguments. HLO_OK, or a status with messages. */
int arguments_collect(struct arguments *a);
void arguments_free(struct arguments *a);
/* The kind that --fake names; uniform without it. False with a message. */
bool fake_kind(const struct options *o, enum hlo_fake *out);
bool ends_with(const char *s, const char *end);

/* ---- one.c ---- */

/* The module of a file; of several, the one that --module names, or the first. NULL with messages
 * and a status. */
hlo_module *open_one(const struct options *o, const char *path, hlo_messages *m, int *status);
/* Writes its text to standard output or the file of --output. */
int put_module(const struct options *o, const hlo_module *module, hlo_messages *m);
/* Runs a command that takes FILE NAME [ARG...]: FN is called with the verified module, the
 * arguments not yet collected. MISSING is the message for too few words. */
typedef int named_fn(struct arguments *a, const hlo_listing *l, const char *path, const char *name);
int with_name(const struct options *o, const char *missing, named_fn *fn);

/* ---- run_options.c ---- */

/* What the options say about a run, except for `targets`. False with a message. */
bool run_options(const struct options *o, struct hlo_run_options *out);

/* ---- result.c ---- */

/* How values are shown: --full, --summary, --hexfloat. On a terminal, large ones are abridged. */
struct hlo_view result_view(const struct options *o);
/* Writes the results of all participants to standard output or --output: `out[1].0` is component 0
 * of the result of participant 1. */
bool put_results(const struct options *o, hlo_literal *const *results, size_t count,
                 hlo_messages *m);

/* ---- expect.c ---- */

/* The tolerance of --abs, --rel and --ulp; without them numbers must be equal. False with a
 * message. */
bool tolerance_options(const struct options *o, struct hlo_tolerance *out);
/* Compares the results of all participants with out0, out1, ... of a file, and says how they
 * differ. A status. */
int expect_results(const struct arguments *a, const char *path, hlo_literal *const *results);
bool bundle_has_results(const char *path, hlo_messages *m);

/* ---- feed.c ---- */

struct feed_in;
struct feed_out;
struct feed_files {
    const struct options *o;
    hlo_messages *m;
    size_t participants, in_count, out_count;
    struct feed_in
        *in; /* files to read: the one for all participants, then those for single ones */
    struct feed_out *out;        /* files to write, likewise */
    struct feed_reader *readers; /* by participant */
    struct buf *ahead;           /* as in struct arguments */
    _Atomic size_t dropped;      /* outfed items for which there was no file */
    struct hlo_feeds feeds;      /* for the run */
};

/* Opens the files that --infeed and --outfeed name. HLO_OK, or a status with messages. */
int feed_open(struct feed_files *f, const struct arguments *a);
/* Writes what is still to be written, and puts files in their places. When a pipe can't take
 * everything: waits, or drops the rest. False with a message. */
bool feed_finish(struct feed_files *f, bool wait, hlo_messages *m);
void feed_free(struct feed_files *f);

#endif
