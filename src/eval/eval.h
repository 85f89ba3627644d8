/*
 * eval: runs programs: frames, control flow, and operands handed to kern.
 */
#ifndef HLO_EVAL_H
#define HLO_EVAL_H

#include "plan/plan.h"

/* Runs the entry computation on one literal for each parameter. The result lies in `a`, its storage
 * is freed by literal_free_data. NULL with diagnostics. */
struct literal *eval_program(struct diags *ds, struct program *p, const struct literal *const *args,
                             size_t count, struct arena *a);

#endif
