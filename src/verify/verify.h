/*
 * verify: shape inference, the verifier, and the lowering of builder forms (lower/lower.h).
 *
 * Inference has two users. For the parser, it determines the shape of an instruction that is
 * written without one, and is more permissive (grammar/text.md 3.5); `verify_module` checks every
 * written shape by the rules (grammar/shapes.md). The component is independent of the text form, so
 * that the parser can include it.
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

/* Infers the shape of an instruction that is written without one, as XLA's parser does; NULL with a
 * diagnostic if it cannot be inferred. The instruction needs opcode, operands, attributes and
 * spans; the result is in the module's arena. `strict`: only for opcodes for which XLA's parser
 * infers it; otherwise for all whose shape follows from the operands. */
const struct shape *verify_infer_for_parser(struct diags *ds, struct module *m,
                                            const struct inst *i, bool strict);

/* The meaning of the ids in a collective's groups or pairs: E_MODE_... (grammar/values.md 16.2). */
int verify_group_mode(const struct inst *i);

/* Whether the shape of this opcode can be inferred. */
bool verify_can_infer(enum opcode op, bool strict);

/* onnx_config.c: ONNX's operator Loop as a custom call (onnx_loop.c). */
enum { ONNX_LOOP_NEWEST = 25 };
struct onnx_loop {
    int64_t version;
    bool has_count, has_condition; /* whether M and cond are operands, before the carried values */
};
bool inst_is_onnx_loop(const struct inst *i);
/* Parses a backend_config. Returns NULL, or the problem. */
const char *onnx_loop_config(struct str text, struct arena *a, struct onnx_loop *out);

#endif
