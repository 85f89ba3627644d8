/*
 * lower: lowers the builder forms of the specification to core HLO: implicit broadcasts of
 * operands, `padding=same`, collapse, cross-replica-sum and the like. Outside --strict the parser
 * calls it for every instruction, including those that embedders build (hlo_advanced.h, "building
 * modules").
 */
#ifndef HLO_LOWER_H
#define HLO_LOWER_H

#include "ir/ir.h"

/* Lowers `i`, which is not in the computation yet but has opcode, operands, attributes, spans and,
 * if written, its shape. Core HLO is left unchanged. Otherwise helper instructions are appended to
 * the computation, and `i` becomes the last instruction of the lowering: everything but its name
 * and spans may change. False with a message. */
bool lower_inst(struct diags *ds, struct computation *c, struct inst *i, enum form form);

/* The attribute that may give the shape of an opcode whose operands do not determine it; A_NONE if
 * there is none. */
enum attr_id lower_result_attr(enum opcode op);

#endif
