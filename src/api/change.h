/*
 * change: changes of instructions that may explain why results differ. Shared by variant.c,
 * constant.c, change.c and likely.c; match.h declares what the search calls.
 */
#ifndef HLO_API_CHANGE_H
#define HLO_API_CHANGE_H

#include "api/match.h"

/* ---- variant.c ---- */

/* What a change does. */
struct match_variant {
    enum opcode op;
    bool swapped;                /* the last two operands */
    struct str attribute, value; /* the attribute, "direction=", that gets the value; or empty */
    int operand;                 /* is replaced by instruction `by`; -1: none */
    size_t by;
};

/* What computes the value of another operand: its computation as far as it is executed later than
 * the instruction that is changed, from the values of `extras`, which are executed earlier. */
struct change_cone {
    const hlo_listing *l;
    size_t at; /* the instruction that is changed */
    size_t extras[MATCH_EXTRA_COUNT], extra_count;
    size_t insts[MATCH_EXTRA_COUNT], inst_count;
};

/* The instruction as it is. */
struct match_variant variant_unchanged(const struct inst *i);
/* Adds what computes the value of an instruction; false if it depends on the one that is changed,
 * or on too many others. */
bool variant_add_to_cone(struct change_cone *c, size_t n);
/* The number of operand k of a variant, whose value is that of operand `*from`, or, if there are no
 * others, of the instruction that is returned. */
size_t variant_operand(const hlo_listing *l, const struct inst *i, const struct match_variant *v,
                       int k, int *from);

/* ---- change.c ---- */

/* An instruction as text, in parts: its operands are between `head` and `rest`. */
struct change_line {
    struct str head, rest; /* "%sum = f32[2]{0} ", ", dimensions={1}, to_apply=%add" */
};

struct change_line change_line_of(struct arena *a, const hlo_listing *l, size_t i);
/* Writes an attribute list, the rest of a line, with the value of the variant. */
void change_put_attributes(struct buf *out, struct str rest, const struct match_variant *v);

#endif
