/*
 * verify: checks modules by the rules of XLA's verifier (grammar/shapes.md). The rules of single
 * opcodes that determine a shape are those of infer.
 */
#ifndef HLO_VERIFY_H
#define HLO_VERIFY_H

#include "ir/ir.h"

struct verify_options {
    bool layout_sensitive; /* layouts and dynamic flags count (grammar/shapes.md 1.4, LS) */
    bool mixed_precision;  /* float types may differ (MP) */
    bool allow_unbounded;  /* results may have `?` dimensions */
};

/* Verifies all computations, reachable or not. Reports up to DIAG_ERROR_LIMIT independent errors,
 * at most one per instruction, with its spans. True if there were none. */
bool verify_module(struct diags *ds, struct module *m, const struct verify_options *options);

#endif
