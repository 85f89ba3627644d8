/*
 * derive.h: steps of instructions that are not in the module, of which several replace one that is.
 * Private to plan/.
 */
#ifndef HLO_PLAN_DERIVE_H
#define HLO_PLAN_DERIVE_H

#include "plan/plan_priv.h"

/* Makes an instruction with the source location and name of `of`, on values of these shapes; only
 * the shapes of its operands may be read. It has no attributes. */
struct inst *derive_inst(struct build *b, const struct inst *of, enum opcode op,
                         const struct shape *result, int n, const struct shape *const *operands);
/* Gives it the attribute `dimensions`. */
void derive_dimensions(struct build *b, struct inst *i, int count, const int64_t *dims);
/* Gives it the attribute `slice`. */
void derive_slice(struct build *b, struct inst *i, int rank, const struct slice_dim *dims);
/* Emits its step, with one leaf per operand; NULL with a message. */
struct step *derive_step(struct build *b, const struct inst *i, const int *operands,
                         struct leaves *out);
const struct shape *derive_shape(struct build *b, const struct shape *s, enum dtype t);

#endif
