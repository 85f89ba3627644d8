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
    bool loosely;
    long *unconfirmed; /* by instruction of b: partner by name or op_name whose value differs */
};

struct difference_at {
    size_t participant;
    uint64_t execution;
};

void track_add(struct arena *a, struct track *t, const struct hlo_event *e);
struct track *track_of(const struct tracks *t, size_t participant, size_t inst);
/* Whether an instruction was executed and computes a value; others are aliases of values. */
bool track_counts(const struct tracks *t, size_t inst);
/* Whether it executes the computations that it calls. */
bool track_runs(const struct tracks *t, size_t inst);
const struct inst *track_inst(const struct tracks *t, size_t inst);
/* The number of elements of its first value; a complex one counts twice. */
uint64_t track_numbers(const struct tracks *t, size_t inst);
/* Whether the values of `a` and `b` agree there, within the tolerance. */
bool match_agree_at(const struct matching *m, size_t a, size_t b, struct difference_at at);
/* Whether the values of instruction `a` differ from those of `b`; `at`, unless NULL: where first.
 * Values that do not vary are those of any number of executions. */
bool match_differ(const struct matching *m, size_t a, size_t b, struct difference_at *at);
/* Whether no value differs by a bit. */
bool match_identical(const struct matching *m, size_t a, size_t b);
/* Whether two instructions of a run have the same values, bit for bit. */
bool match_same_values(const struct tracks *t, size_t i, size_t j);
/* Whether the value of an instruction consists of elements of its operands. */
bool match_moves(const struct inst *i);
bool match_is_paired(const struct matching *m, size_t b);
/* Whether a value of b is unlikely to be equal to another one by chance. */
bool match_is_informative(const struct matching *m, size_t participant, size_t b);
bool match_same_op(const struct hlo_listed *x, const struct hlo_listed *y);
/* Whether the operands have equal values there, in any order of the last two. */
bool match_same_operands(const struct matching *m, const struct hlo_listed *x,
                         const struct hlo_listed *y, struct difference_at at);
/* Pairs instructions with equal values, and removes pairs without. */
void match_values(struct matching *m);
/* Pairs more instructions, for the number of those compared, but not as evidence: values in another
 * layout, and of one of several calls; constants that were folded; moves that were removed. */
void match_loosely(struct matching *m);
/* How many instructions of b, except constants, have a partner of equal value. */
size_t match_agreeing(const struct matching *m);
/* Whether their names or op_names may be those of the same operation of the program: JAX names
 * instructions by it, and passes keep the op_name. */
bool match_are_related(struct hlo_listed x, struct hlo_listed y);
/* The last part of an op_name, or a name without its number. */
struct str match_stem(const char *name);

/* ---- suspect.c ---- */

/* Why a pair may be the first that differs: see match_suspects. */
enum evidence {
    PARTNER,
    SAME_OPERANDS,
    BY_CHANCE,
    OTHER_OPERAND,
    ONE_OPERAND,
    RELATED,
    OTHER_PLACE
};

/* A pair of instructions whose values differ, `at` first. */
struct suspect {
    size_t a, b;
    struct difference_at at;
    enum evidence evidence;
    uint64_t order; /* of execution in b */
};

/* Determines pairs of which one may be the first that differs, the most likely first:
 * PARTNER: partners by name, op_name or position, whose operands are equal;
 * SAME_OPERANDS: the operands are equal;
 * BY_CHANCE: the operands are equal, but b has a partner of equal value with little information;
 * OTHER_OPERAND: operands without operands, such as constants, of a pair with the same op;
 * ONE_OPERAND: the op is the same, and all operands are equal but one, which has a partner;
 * RELATED: the name or op_name is similar;
 * OTHER_PLACE: instructions without partners. */
struct suspect *match_suspects(const struct matching *m, size_t *count);
/* The first instruction of b that the value of a suspect was computed from without having a
 * partner, or a partner with nothing but the value in common; otherwise the instruction itself. */
size_t match_origin(const struct matching *m, const struct suspect *u);

/* An instruction of b that may have been changed, and the one whose value that changes: itself, or
 * the one that applies its computation to elements. */
struct match_candidate {
    size_t inst, by;
};
enum { MATCH_OPERAND_COUNT = 16, MATCH_EXTRA_COUNT = 8 }; /* of `by`, at most */
/* Which candidates: the suspect itself; those that its value was computed from, up to instructions
 * with a likely partner; those that the results were computed from; all that were executed. */
enum match_scope { MATCH_ITSELF, MATCH_OPERANDS, MATCH_RESULTS, MATCH_ALL };
/* Where to search the change that a suspect shows. A value with little information may have another
 * cause. */
enum match_scope match_scope_of(const struct matching *m, const struct suspect *u);
/* Scalar constants without a certain partner, or instructions with changes; of those first the ones
 * whose operands have partners, in the order of execution. Returns their number. */
size_t match_candidates(const struct matching *m, const struct suspect *u, enum match_scope scope,
                        bool constants, const struct match_candidate **candidates);

/* ---- applied.c ---- */

/* Finds the only pair of instructions that differ in the computations that two instructions apply
 * to elements. False if not found, or if the computations have different structures. */
struct match_applied {
    size_t a, b;
};
bool match_find_applied(const struct matching *m, size_t a, size_t b, struct match_applied *out);

/* ---- variant.c ---- */

bool match_has_changes(const struct inst *i);
/* Changes of a candidate: another opcode, attribute or order of operands; or another operand. */
enum match_kind { MATCH_OPERATION, MATCH_OPERAND };
struct match_variants {
    struct match_variant *at;
    size_t count;
};
struct match_variants match_variants_of(const struct matching *m, const struct match_candidate *c,
                                        enum match_kind kind);

/* ---- change.c ---- */

struct match_change {
    struct match_candidate of;
    hlo_literal *value; /* of a constant, or NULL */
    hlo_module *module; /* computes the value of `by` from its operands, or NULL */
    size_t extras[MATCH_EXTRA_COUNT], extra_count; /* whose values are further operands of it */
    struct str text; /* what the instruction is then, in the arena of the matching */
    const struct match_variant *variant; /* of an instruction */
};

/* Makes change number `k` of an instruction; false if it does not apply. Free with
 * match_change_free. */
bool match_change(const struct matching *m, const struct match_candidate *c,
                  const struct match_variants *variants, size_t k, struct match_change *out);
void match_change_free(struct match_change *c);

/* ---- constant.c ---- */

struct match_values { /* that passes make of constants */
    double *at;
    size_t count, capacity;
    size_t single; /* the first ones are made of one constant each */
};

bool match_is_scalar_constant(const struct inst *i);
/* Values that passes make of the constants of a, the likeliest first: the constants without a
 * partner, the others, neutral elements, negated values, factors in place of divisors, masks of
 * powers of two; sums, differences, products and ratios of two constants, which are tried for
 * constants whose own value is not made of one. */
struct match_values match_values_of_constants(const struct matching *m);
/* As match_change, with value number `k` of a constant. */
bool match_change_constant(const struct matching *m, const struct match_candidate *c,
                           const struct match_values *values, size_t k, struct match_change *out);

/* ---- likely.c ---- */

/* How well a change explains the results, after instructions were paired by their values with it:
 * the more values of b are those of a, and the better its names fit, the better. Of equally good
 * changes, other operands are the least likely: most instructions have many. */
long match_evidence(const struct matching *m, const struct match_change *c);

#endif
