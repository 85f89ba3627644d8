/*
 * timed: a module that is run several times on generated or given arguments, for hlo bench and
 * hlo prof.
 */
#ifndef HLO_CLI_TIMED_H
#define HLO_CLI_TIMED_H

#include "cli/arguments.h"

enum { TIMED_MAX_RUNS = 100000 };

struct timed {
    const struct options *o;
    hlo_messages *m;
    hlo_file *file;
    hlo_module *module;
    hlo_targets *targets;
    hlo_program *program;
    struct arguments arguments;
    hlo_literal **results;      /* of a run, one per participant */
    double parse, plan, inputs; /* seconds */
    double *runs;               /* seconds of each run */
    size_t run_count;
};

/* Reads and plans a module and collects its arguments: the COUNT given ones, the others by the
 * options or at random. HLO_OK, or a status with messages. Call timed_free in any case. */
int timed_prepare(struct timed *t, const struct options *o, const char *path,
                  const char *const *given, size_t count);
/* The number of runs by --runs, with room for one more; false with a message. */
bool timed_requested(struct timed *t, int64_t otherwise, int64_t *requested);
/* Runs the module once and records the time. False with a message. */
bool timed_run(struct timed *t);
/* Prints the messages and frees all. */
void timed_free(struct timed *t);

#endif
