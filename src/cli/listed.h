/*
 * For commands that look at modules without running them: calls a function for each module of the
 * files given, with its listing.
 */
#ifndef HLO_CLI_LISTED_H
#define HLO_CLI_LISTED_H

#include "cli/cli.h"

struct listed_module {
    const struct options *o;
    const char *path;
    size_t part, parts; /* its number in the file, from 0, and how many there are */
    const hlo_file *file;
    hlo_module *module;
    const hlo_listing *listing;
    long only; /* the computation that --computation names; -1: all */
    hlo_messages *m;
};
/* Returns a status. The other modules follow even if it is not HLO_OK. */
typedef int listed_fn(void *context, const struct listed_module *l);

/* Calls `fn` for each module, or only that of --module, after it was parsed and, if `verified`,
 * verified. Reports messages, and returns the worst status. */
int each_listed(const struct options *o, const char *const *paths, size_t count, bool verified,
                listed_fn *fn, void *context);

/* Whether instructions of this computation are wanted. */
static inline bool listed_wanted(const struct listed_module *l, size_t computation)
{
    return l->only < 0 || (size_t)l->only == computation;
}

/* An instruction as a JSON object: name, op, shape, computation, operands, users, its place. */
void put_listed_json(struct buf *out, const hlo_listing *l, size_t inst);
/* `"name":[...]` of the names of instructions, or of computations. */
void put_names_json(struct buf *out, const char *key, const hlo_listing *l, const size_t *list,
                    size_t count, bool computations);

#endif
