/*
 * edit: makes a changed copy of a module. Instructions can become something else, the result can be
 * other instructions, and what is then not needed any more is left out.
 *
 * The original stays as it is. The new module holds on to it (module_hold): names, shapes,
 * attributes and literals are shared. An edit without changes gives a copy that prints the same.
 */
#ifndef HLO_EDIT_H
#define HLO_EDIT_H

#include "ir/ir.h"

struct edit;

struct edit *edit_new(struct module *from);
void edit_free(struct edit *e); /* only before edit_finish */

/* These set what becomes of an instruction; the last call counts. Each returns NULL, or why it
 * can't be done, and then has no effect. Values and zeros are made of constants, tuples of
 * constants and, where sizes change, set-dimension-size; a token is made by after-all. */
const char *edit_constant(struct edit *e, struct inst *i,
                          const struct literal *value); /* `value` is copied */
const char *edit_zeros(struct edit *e, struct inst *i);
/* A new parameter; for instructions of the entry computation only. */
const char *edit_parameter(struct edit *e, struct inst *i);
/* Its users use another instruction of the computation, of the same shape but for layout. */
const char *edit_replace(struct edit *e, struct inst *i, struct inst *by);
/* The instructions of the computation that it calls: of a call or fusion; of a while's body, once,
 * whatever its condition says; of a conditional's branch number `which`. */
const char *edit_inline(struct edit *e, struct inst *i, int which);

/* Whether an instruction may become something else at all; NULL, or why not. */
const char *edit_may_change(const struct inst *i);

/* Makes these instructions the result, as a tuple unless `count` is 1. All are of one computation,
 * which becomes the entry. Only what they need is kept, whereas without a new root instructions
 * with side effects are kept as well. */
const char *edit_root(struct edit *e, struct inst *const *insts, int count);
/* Removes parameters of the entry computation that nothing reads, and renumbers the others. */
void edit_drop_parameters(struct edit *e);

/* What to leave out everywhere. */
enum edit_strip {
    EDIT_STRIP_METADATA =
        1, /* where instructions came from: metadata, stack frames, original values, statistics */
    EDIT_STRIP_SHARDING = 2,
    EDIT_STRIP_HINTS = 4, /* frontend_attributes, backend_config but of custom calls, aliases,
                             donors, control dependencies */
};
void edit_strip(struct edit *e, unsigned what);

/* The new module, not verified. NULL with *problem. The edit is freed either way. */
struct module *edit_finish(struct edit *e, const char **problem);

#endif
