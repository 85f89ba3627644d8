/*
 * match: the values of all instructions of two traced runs, which instructions compute the same
 * values, and which one may be the first that computes another.
 */
#ifndef HLO_API_MATCH_H
#define HLO_API_MATCH_H

#include "api/api.h"

#include "look/look.h"

struct track {              /* of one instruction and participant: sketches of its values */
    struct look_sketch *at; /* of the first executions; the last one combines all later ones */
    size_t kept, capacity;
    uint64_t executions, first; /* first: number of its first event */
    bool varies;                /* executions have different values */
    unsigned information;
};

struct tracks { /* of one run */
    const hlo_listing *l;
    size_t insts, participants;
    struct track *at; /* by participant and instruction */
    uint64_t events;
};

struct matching {
    struct arena *arena;
    struct tracks a, b;
    hlo_pairing *pairing;
    const struct hlo_tolerance *tolerance;
    long *unconfirmed; /* by instruction of b: partner by name or op_name whose value differs */
};

struct difference_at {
    size_t participant;
    uint64_t execution;
};

/* Why a pair may be the first that differs: see match_suspects. */
enum evidence { PARTNER, SAME_OPERANDS, BY_CHANCE, OTHER_OPERAND, RELATED, OTHER_PLACE };

/* A pair of instructions whose values differ, `at` first. */
struct suspect {
    size_t a, b;
    struct difference_at at;
    enum evidence evidence;
    uint64_t order; /* of execution in b */
};

void track_add(struct arena *a, struct track *t, const struct hlo_event *e);
struct track *track_of(const struct tracks *t, size_t participant, size_t inst);
/* Whether an instruction was executed and computes a value; others are aliases of values. */
bool track_counts(const struct tracks *t, size_t inst);
/* Whether no value differs by a bit. */
bool match_identical(const struct matching *m, size_t a, size_t b);
/* Pairs instructions with equal values, and removes pairs without. */
void match_values(struct matching *m);
/* Determines pairs of which one may be the first that differs, the most likely first:
 * PARTNER: partners by name, op_name or position, whose operands are equal;
 * SAME_OPERANDS: the operands are equal;
 * BY_CHANCE: the operands are equal, but b has a partner of equal value with little information;
 * OTHER_OPERAND: operands without operands, such as constants, of a pair with the same op;
 * RELATED: the name or op_name is similar;
 * OTHER_PLACE: instructions without partners. */
struct suspect *match_suspects(const struct matching *m, size_t *count);
/* The first instruction of b that the value of a suspect was computed from without having a
 * partner, or a partner with nothing but the value in common; otherwise the instruction itself. */
size_t match_origin(const struct matching *m, const struct suspect *u);
/* The instructions of b with alternatives that may have been changed: those without a certain
 * partner that the value of a suspect was computed from, or all (NULL); first those whose operands
 * have partners, in the order of execution. Returns their number. */
size_t match_candidates(const struct matching *m, const struct suspect *u, size_t **candidates);
bool match_is_scalar_constant(const struct inst *i);
/* The scalar constants of b without a certain partner that the value of a suspect was computed
 * from, or of all instructions (NULL). Returns their number. */
size_t match_constants(const struct matching *m, const struct suspect *u, size_t **constants);

/* Finds the only pair of instructions that differ in the computations that two instructions apply
 * to elements. False if not found, or if the computations have different structures. */
struct match_applied {
    size_t a, b;
};
bool match_find_applied(const struct matching *m, size_t a, size_t b, struct match_applied *out);

/* ---- alternative.c: what an instruction may have been before it was changed ---- */

enum { MATCH_ALTERNATIVES = OP_COUNT + 1 };
bool match_has_alternatives(const struct inst *i);
/* Alternative number `k` below MATCH_ALTERNATIVES, a module whose parameters are the operands, and
 * its text; NULL if number `k` does not apply. Free with hlo_module_free. */
hlo_module *match_alternative(struct arena *a, const struct inst *i, size_t k, struct buf *change);

#endif
