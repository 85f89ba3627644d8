/*
 * The specification's builder forms, brought down to core HLO: broadcasting operands, `padding=same`,
 * collapse, cross-replica-sum and the like. The parser calls this outside --strict for every instruction
 * it has read; embedders come here by the same way (hlo.h, "building modules").
 */
#ifndef HLO_BUILD_H
#define HLO_BUILD_H

#include "ir/ir.h"

/* `i` is complete but for its place: opcode, operands, attributes, spans and, where it is written, its
 * shape. What is core HLO already stays as it is. Else helpers are appended to the computation, and `i`
 * becomes the last instruction of the lowering: all of it but its name and spans may change. False with
 * a message. */
bool build_lower(struct diags *ds, struct computation *c, struct inst *i, enum form form);

/* The attribute that may give this opcode the shape that nothing else gives; A_NONE when there is none. */
enum attr_id build_may_shape(enum opcode op);

/* The contracting dimensions of the specification's Dot, which follow from the ranks; false where none do. */
bool build_dot_numbers(const struct shape *lhs, const struct shape *rhs, int64_t *left, int64_t *right);

#endif
