/*
 * Modules to be looked at, not run: those of all files on the command line, one after the other, each with its listing.
 */
#ifndef HLO_CLI_LISTED_H
#define HLO_CLI_LISTED_H

#include "cli/cli.h"

struct listed_module {
    const struct options *o;
    const char *path;
    size_t part, parts; /* its number in the file, from 0, and whether there are others */
    const hlo_file *file;
    hlo_module *module;
    const hlo_listing *listing;
    long only; /* --computation: its number; -1: all of them */
    hlo_messages *m;
};
/* Returns a status; one that is not HLO_OK does not keep the others from their turn. */
typedef int listed_fn(void *context, const struct listed_module *l);

/* Calls `fn` for each module, or for that of --module, once it is parsed and, if wanted, verified. The worst status of
 * all, which were reported. */
int each_listed(const struct options *o, const char *const *paths, size_t count, bool verified, listed_fn *fn, void *context);

/* Whether instructions of a computation are wanted. */
static inline bool listed_wanted(const struct listed_module *l, size_t computation)
{
    return l->only < 0 || (size_t)l->only == computation;
}

/* An instruction as an object: name, op, shape, computation, operands, users, where it stands. */
void put_listed_json(struct buf *out, const hlo_listing *l, size_t inst);
/* `"name":[...]` of the names of instructions, or of computations. */
void put_names_json(struct buf *out, const char *key, const hlo_listing *l, const size_t *list, size_t count, bool computations);

#endif
