/*
 * For commands that display modules without running them: calls a function with the listing of
 * each module of the given files.
 */
#ifndef HLO_CLI_LISTED_H
#define HLO_CLI_LISTED_H

#include "cli/cli.h"

struct listed_module {
    const struct options *o;
    const char *path;
    const char *title;  /* of the part: name of the module or the dump; or "" */
    size_t part, parts; /* number of the part in the file, from 0; number of parts */
    const hlo_file *file;
    hlo_module *module;
    const hlo_listing *listing;
    long only; /* computation selected by --computation; -1: all */
    hlo_messages *m;
};
/* Returns a status. Processing continues with the next module even if it is not HLO_OK. */
typedef int listed_fn(void *context, const struct listed_module *l);

/* Calls `fn` for each module of files and directories, or only for that of --module, after parsing
 * and, if `verified`, verifying it. Reports messages, and returns the worst status. */
int each_listed(const struct options *o, const char *const *paths, size_t count, bool verified,
                listed_fn *fn, void *context);

/* Whether instructions of this computation are selected. */
static inline bool listed_filter(const struct listed_module *l, size_t computation)
{
    return l->only < 0 || (size_t)l->only == computation;
}

/* Writes the shape of an instruction without its layouts. */
void put_shape_alone(struct buf *out, const char *shape);

/* Begins a JSON object with the schema, the file and the number of the module. */
void put_module_json(struct buf *out, const struct listed_module *l);
/* Writes an instruction as a JSON object: name, op, shape, computation, operands, users,
 * location. */
void put_listed_json(struct buf *out, const hlo_listing *l, size_t inst);
/* Writes `"name":[...]` with names of instructions or computations. */
void put_names_json(struct buf *out, const char *key, const hlo_listing *l, const size_t *list,
                    size_t count, bool computations);

#endif
