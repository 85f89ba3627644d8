/*
 * edit: modules made from modules. Some instructions become something else, the result may be other ones, and what
 * then nobody needs is left out.
 *
 * The module that is read stays as it is. The one that is made holds it (module_hold): names, shapes, attributes and
 * literals are shared. Where nothing was said, it is a copy that prints the same.
 */
#ifndef HLO_EDIT_H
#define HLO_EDIT_H

#include "ir/ir.h"

struct edit;

struct edit *edit_new(struct module *from);
void edit_free(struct edit *e); /* one that is not finished */

/* What becomes of an instruction; what is said last holds. Each returns NULL, or what is wrong with it, and then
 * nothing has been said. Values and zeros are constants, tuples of constants, and where sizes change
 * set-dimension-size; a token is made by after-all. */
const char *edit_constant(struct edit *e, struct inst *i, const struct literal *value); /* copied */
const char *edit_zeros(struct edit *e, struct inst *i);
/* A further parameter; of the entry computation only. */
const char *edit_parameter(struct edit *e, struct inst *i);
/* Its users use another instruction of the computation, of the same shape but for layout. */
const char *edit_replace(struct edit *e, struct inst *i, struct inst *by);
/* What the computation does that it calls: a call, a fusion; a while once, whatever its condition says; a conditional's
 * branch number `which`. */
const char *edit_inline(struct edit *e, struct inst *i, int which);

/* Whether an instruction may become something else at all; NULL, or why not. */
const char *edit_may_change(const struct inst *i);

/* The result is these, as a tuple unless `count` is 1; they are of one computation, which becomes the entry. What has
 * side effects there goes too where nobody needs it, as it does not without a new root. */
const char *edit_root(struct edit *e, struct inst *const *insts, int count);
/* Parameters of the entry computation that nobody reads go, and the others are numbered anew. */
void edit_drop_parameters(struct edit *e);

/* What is left out everywhere. */
enum edit_strip {
    EDIT_STRIP_METADATA = 1, /* where instructions came from: metadata, stack frames, original values, statistics */
    EDIT_STRIP_SHARDING = 2,
    EDIT_STRIP_HINTS = 4,    /* frontend_attributes, backend_config but of custom calls, aliases, donors, control dependencies */
};
void edit_strip(struct edit *e, unsigned what);

/* The module, not verified. NULL with what is wrong. The edit is freed either way. */
struct module *edit_finish(struct edit *e, const char **problem);

#endif
