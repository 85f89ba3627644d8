/*
 * Shared by the files of edit/: the replacement and liveness of each instruction.
 */
#ifndef HLO_EDIT_PRIV_H
#define HLO_EDIT_PRIV_H

#include "edit/edit.h"

enum becomes { BECOMES_ITSELF, BECOMES_VALUE, BECOMES_PARAMETER, BECOMES_OTHER, BECOMES_CALLEE };

struct mark {                    /* the replacement of an instruction */
    uint8_t becomes;             /* enum becomes */
    bool live;                   /* its replacement is live */
    int which;                   /* BECOMES_CALLEE: as for edit_inline */
    struct inst *by;             /* BECOMES_OTHER */
    const struct literal *value; /* BECOMES_VALUE; NULL: zeros */
};

/* An instruction that passes its operands as parameters of its callee, so that both can be dropped
 * together. */
struct caller {
    struct inst *inst;
    int first; /* number of the operand that is parameter 0 */
    struct caller *next;
};

struct part {           /* the edit state of a computation */
    struct mark *marks; /* by index of the instruction */
    bool effects;       /* contains instructions with side effects */
    bool entered;       /* live instructions call it or are replaced by its instructions */
    bool called;        /* remains a computation of its own */
    bool keeps;         /* keeps all parameters, since a caller cannot drop operands */
    bool fused;         /* called by a fusion of the copy */
    struct caller *callers;
    struct computation *copy;
    int *numbers;   /* new numbers of its parameters; -1: removed */
    int parameters; /* number of parameters of the copy so far; new ones follow the old ones */
};

struct edit {
    struct arena arena;
    struct module *from, *to; /* `to` owns constants from the start */
    struct part *parts;       /* by index of the computation */
    bool touched;             /* some change is requested */
    bool fresh_names;         /* names may collide: make them unique */
    bool new_root;
    struct computation *entry;
    struct inst **roots; /* if new_root */
    int root_count;
    bool drop_parameters;
    bool keep_dead;
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

/* edit.c: the final replacement of `i`, or `i` itself. There are no cycles. */
struct inst *edit_target(const struct edit *e, struct inst *i);
/* The computation whose instructions can replace `i`, and the operand that is its parameter 0; NULL
 * if none. */
struct computation *edit_callee(const struct inst *i, int which, int *first);
/* Whether its operands are exactly the parameters of the called computation, so that both can be
 * dropped together. */
bool edit_passes_operands(const struct inst *i);

/* live.c: marks live instructions. */
void edit_find_live(struct edit *e);

/* value.c */
bool value_can_be(const struct shape *s); /* whether constants of this shape exist */
bool value_fits(const struct literal *l, const struct shape *s);
/* A copy owned by `to`, of shape s; NULL if the allocation fails. */
const struct literal *value_copy(struct edit *e, const struct literal *l, const struct shape *s);
/* Appends the instructions that create a value to `c`; returns the last, which is named `name`.
 * NULL if the allocation fails. */
struct inst *value_make(struct edit *e, struct computation *c, const struct literal *l,
                        const struct shape *s, struct str name);

/* copy.c: false with e->problem. */
bool edit_copy(struct edit *e);

/* header.c: the attributes of the module that depend on its entry computation. */
void edit_header(struct edit *e);

#endif
