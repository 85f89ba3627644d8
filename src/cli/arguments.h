/*
 * What a run is given: the arguments of each participant, and the files behind its feeds.
 */
#ifndef HLO_CLI_ARGUMENTS_H
#define HLO_CLI_ARGUMENTS_H

#include "cli/cli.h"

/* ---- arguments.c ---- */

enum { EVERYBODY = -1 };
struct made_up { /* how what is not given is made up */
    enum hlo_fake kind;
    uint64_t seed;
};
struct arguments {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    const char *const *given; /* what stands on the command line for parameters */
    size_t given_count;
    bool make_up;               /* what is not given, --random or not */
    const struct made_up *as;   /* whatever the options say of it; or NULL */
    const char *bundle;         /* that they come from, and what the results should be; NULL */
    size_t participants, count; /* count: parameters */
    hlo_literal **common;       /* one for each parameter, NULL where there is none */
    hlo_literal **own;          /* of one participant after the other, in place of the common ones */
    const hlo_literal **all;    /* what the run gets: these or those */
    size_t next;                /* the next parameter that an argument without a name is for */
    struct buf *ahead;          /* of standard input, what was read and not used by the modules before this one */
};

/* How many participants there are: as the module says, or --replicas and --partitions in its place, which it is
 * told. Before hlo_verify; false with a message. */
bool arguments_participants(struct arguments *a, hlo_module *module);
/* Both; MODULE is NULL where the parser refused it. HLO_OK, or a status with messages. */
int arguments_check(struct arguments *a, hlo_module *module);
/* Says what is wrong; else HLO_OK. */
int arguments_collect(struct arguments *a);
void arguments_free(struct arguments *a);
/* --fake; uniform when it says nothing. False with a message. */
bool fake_kind(const struct options *o, enum hlo_fake *out);
bool ends_with(const char *s, const char *end);

/* ---- one.c ---- */

/* The module of a file, of several the one that --module names, or the first. NULL with messages and a status. */
hlo_module *open_one(const struct options *o, const char *path, hlo_messages *m, int *status);
/* Its text on standard output, or where --output says. */
int put_module(const struct options *o, const hlo_module *module, hlo_messages *m);
/* A command that takes FILE NAME [ARG...]: FN is called for the verified module, with arguments still to be collected. MISSING
 * says what there is too little of. */
typedef int named_fn(struct arguments *a, const hlo_listing *l, const char *path, const char *name);
int with_name(const struct options *o, const char *missing, named_fn *fn);

/* ---- run_options.c ---- */

/* How a module is to be run, but for `targets`; false with a message. */
bool run_options(const struct options *o, struct hlo_run_options *out);

/* ---- result.c ---- */

/* How values are shown: --full, --summary, --hexfloat. On a terminal large ones are not shown whole. */
struct hlo_view result_view(const struct options *o);
/* Writes the results of all participants to standard output or --output: `out[1].0` is component 0 of the result of
 * participant 1. */
bool put_results(const struct options *o, hlo_literal *const *results, size_t count, hlo_messages *m);

/* ---- expect.c ---- */

/* --abs, --rel and --ulp; without them numbers must be equal. False with a message. */
bool tolerance_options(const struct options *o, struct hlo_tolerance *out);
/* Holds the results of all participants against out0, out1, ... of a file; says how they differ. */
int expect_results(const struct arguments *a, const char *path, hlo_literal *const *results);
bool bundle_has_results(const char *path, hlo_messages *m);

/* ---- feed.c ---- */

struct feed_in;
struct feed_out;
struct feed_files {
    const struct options *o;
    hlo_messages *m;
    size_t participants, in_count, out_count;
    struct feed_in *in;   /* files that are read: everyone's, then those of single participants */
    struct feed_out *out; /* and written */
    struct feed_reader *readers; /* by participant */
    struct buf *ahead;    /* as there */
    _Atomic size_t dropped; /* items that were given to nobody */
    struct hlo_feeds feeds; /* what the run is given */
};

/* Opens what --infeed and --outfeed name. Says what is wrong; else HLO_OK. */
int feed_open(struct feed_files *f, const struct arguments *a);
/* Writes what is still to be written, and files take their places; false with a message. Where a pipe can't take it: waits, or leaves it. */
bool feed_finish(struct feed_files *f, bool wait, hlo_messages *m);
void feed_free(struct feed_files *f);

#endif
