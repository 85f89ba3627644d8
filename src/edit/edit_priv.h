/*
 * What the files of edit/ share: what was said about each instruction, and who is needed.
 */
#ifndef HLO_EDIT_PRIV_H
#define HLO_EDIT_PRIV_H

#include "edit/edit.h"

enum becomes { BECOMES_ITSELF, BECOMES_VALUE, BECOMES_PARAMETER, BECOMES_OTHER, BECOMES_CALLEE };

struct mark { /* of an instruction */
    uint8_t becomes;           /* enum becomes */
    bool live;                 /* somebody needs what it becomes */
    int which;                 /* CALLEE */
    struct inst *by;           /* OTHER */
    const struct literal *value; /* VALUE; NULL: zeros */
};

struct caller { /* an instruction whose operands are its callee's parameters, and may be left out with them */
    struct inst *inst;
    int first; /* operand that is parameter 0 */
    struct caller *next;
};

struct part { /* a computation */
    struct mark *marks;  /* by the index of the instruction */
    bool effects;        /* something in it has side effects */
    bool entered;        /* it is called or taken apart by something live */
    bool called;         /* it stays a computation */
    bool keeps;          /* all its parameters: who calls it can't leave out operands */
    struct caller *callers;
    struct computation *copy;
    int *numbers;        /* of its parameters in the copy; -1: it is gone */
    int parameters;      /* of the copy so far; new ones come behind the old ones */
};

struct edit {
    struct arena arena;
    struct module *from, *to; /* `to` owns constants from the start */
    struct part *parts;       /* by the index of the computation */
    bool touched;             /* something was said */
    bool fresh_names;         /* names may occur twice */
    bool new_root;
    struct computation *entry;
    struct inst **roots;      /* where new_root */
    int root_count;
    bool drop_parameters;
    unsigned strip;
    const char *problem;
};

static inline struct part *part_of(const struct edit *e, const struct computation *c) { return &e->parts[c->index]; }
static inline struct mark *mark_of(const struct edit *e, const struct inst *i)
{
    return &e->parts[i->parent->index].marks[i->index];
}

/* edit.c: the instruction that stands for it in the end. There are no circles. */
struct inst *edit_target(const struct edit *e, struct inst *i);
/* The computation that an instruction becomes, and the operand that is its parameter 0; NULL when it can't be. */
struct computation *edit_callee(const struct inst *i, int which, int *first);
/* Whether its operands are just the parameters of what it calls, so that they may be left out together. */
bool edit_passes_operands(const struct inst *i);

/* live.c: marks what is needed. */
void edit_find_live(struct edit *e);

/* value.c */
bool value_can_be(const struct shape *s); /* whether there are constants of it */
bool value_fits(const struct literal *l, const struct shape *s);
/* A copy that `to` owns, of the shape s; NULL: no memory. */
const struct literal *value_copy(struct edit *e, const struct literal *l, const struct shape *s);
/* The instructions that make it in `c`; the last has this name. NULL: no memory. */
struct inst *value_make(struct edit *e, struct computation *c, const struct literal *l, const struct shape *s, struct str name);

/* copy.c: false with e->problem. */
bool edit_copy(struct edit *e);

/* header.c: what the module says of its entry computation. */
void edit_header(struct edit *e);

#endif
