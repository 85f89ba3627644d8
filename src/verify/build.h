/*
 * build: lowers the specification's builder forms to core HLO: operands that are broadcast,
 * `padding=same`, collapse, cross-replica-sum and the like. Outside --strict the parser calls it
 * for every instruction that it has read, also for those that embedders build (hlo_advanced.h,
 * "building modules").
 */
#ifndef HLO_BUILD_H
#define HLO_BUILD_H

#include "ir/ir.h"

/* Lowers `i`, which isn't in the computation yet but has opcode, operands, attributes, spans and,
 * if written, its shape. Core HLO stays as it is. Otherwise helpers are appended to the
 * computation, and `i` becomes the last instruction of the lowering: all but its name and spans may
 * change. False with a message. */
bool build_lower(struct diags *ds, struct computation *c, struct inst *i, enum form form);

/* The attribute that may give the shape of an opcode whose operands don't; A_NONE when there is
 * none. */
enum attr_id build_may_shape(enum opcode op);

#endif
