/*
 * eval: runs programs: frames, control flow, and operands handed to kern.
 */
#ifndef HLO_EVAL_H
#define HLO_EVAL_H

#include "eval/exchange.h"
#include "plan/plan.h"

/* Runs the entry computation on one literal for each parameter. The result lies in `a`, its storage
 * is freed by literal_free_data. NULL with diagnostics, or without one where the exchange knows why;
 * `exchange` may be NULL where nobody else is asked for anything. */
struct literal *eval_program(struct diags *ds, struct program *p, const struct literal *const *args,
                             size_t count, const struct exchange *exchange, struct arena *a);

#endif
