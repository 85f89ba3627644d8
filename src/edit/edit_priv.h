/*
 * What the files of edit/ share: what each instruction becomes, and whether it is needed.
 */
#ifndef HLO_EDIT_PRIV_H
#define HLO_EDIT_PRIV_H

#include "edit/edit.h"

enum becomes { BECOMES_ITSELF, BECOMES_VALUE, BECOMES_PARAMETER, BECOMES_OTHER, BECOMES_CALLEE };

struct mark {                    /* what becomes of an instruction */
    uint8_t becomes;             /* enum becomes */
    bool live;                   /* what it becomes is needed */
    int which;                   /* BECOMES_CALLEE: as of edit_inline */
    struct inst *by;             /* BECOMES_OTHER */
    const struct literal *value; /* BECOMES_VALUE; NULL: zeros */
};

struct caller { /* an instruction whose operands are its callee's parameters, and can be left out
                   together with them */
    struct inst *inst;
    int first; /* operand that is parameter 0 */
    struct caller *next;
};

struct part {           /* the same for a computation */
    struct mark *marks; /* by the index of the instruction */
    bool effects;       /* something in it has side effects */
    bool entered;       /* something live calls it or is replaced by its instructions */
    bool called;        /* it stays a computation */
    bool keeps;         /* it keeps all parameters: one of its callers can't leave out operands */
    bool fused;         /* a fusion of the copy calls it */
    struct caller *callers;
    struct computation *copy;
    int *numbers;   /* of its parameters in the copy; -1: removed */
    int parameters; /* of the copy so far; new ones come after the old ones */
};

struct edit {
    struct arena arena;
    struct module *from, *to; /* `to` owns constants from the start */
    struct part *parts;       /* by the index of the computation */
    bool touched;             /* something is to be changed */
    bool fresh_names;         /* names may occur twice: make them unique */
    bool new_root;
    struct computation *entry;
    struct inst **roots; /* if new_root */
    int root_count;
    bool drop_parameters;
    unsigned strip;
    const char *problem;
};

static inline struct part *part_of(const struct edit *e, const struct computation *c)
{
    return &e->parts[c->index];
}
static inline struct mark *mark_of(const struct edit *e, const struct inst *i)
{
    return &e->parts[i->parent->index].marks[i->index];
}

/* edit.c: the instruction that `i` is replaced by in the end, or itself. There are no cycles. */
struct inst *edit_target(const struct edit *e, struct inst *i);
/* The computation whose instructions `i` can become, and the operand that is its parameter 0; NULL
 * when there is none. */
struct computation *edit_callee(const struct inst *i, int which, int *first);
/* Whether its operands are just the parameters of the computation that it calls, so that both can
 * be left out together. */
bool edit_passes_operands(const struct inst *i);

/* live.c: marks the instructions that are needed. */
void edit_find_live(struct edit *e);

/* value.c */
bool value_can_be(const struct shape *s); /* whether there are constants of this shape */
bool value_fits(const struct literal *l, const struct shape *s);
/* A copy that `to` owns, of the shape s; NULL: no memory. */
const struct literal *value_copy(struct edit *e, const struct literal *l, const struct shape *s);
/* Adds the instructions that make a value to `c`; returns the last, which gets `name`. NULL: no
 * memory. */
struct inst *value_make(struct edit *e, struct computation *c, const struct literal *l,
                        const struct shape *s, struct str name);

/* copy.c: false with e->problem. */
bool edit_copy(struct edit *e);

/* header.c: the attributes of the module that depend on its entry computation. */
void edit_header(struct edit *e);

#endif
