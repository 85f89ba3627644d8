/*
 * verify: shape inference, the rules a module must keep, and the lowering of builder forms
 * (build.h).
 *
 * Inference has two users: the parser asks for the shape of an instruction whose text leaves it
 * out, and there it is more permissive (grammar/text.md 3.5); `verify_module` checks every written
 * shape by the rules (grammar/shapes.md). The room knows nothing of the text, so the parser can
 * include it.
 */
#ifndef HLO_VERIFY_H
#define HLO_VERIFY_H

#include "ir/ir.h"

struct verify_options {
    bool layout_sensitive; /* layouts and dynamic flags count (grammar/shapes.md 1.4, LS) */
    bool mixed_precision;  /* float types may differ (MP) */
    bool allow_unbounded;  /* results may have dimensions `?` */
};

/* Verifies everything, reachable or not. Reports up to DIAG_ERROR_LIMIT independent errors, at most
 * one for each instruction, with its spans. True when there was none. */
bool verify_module(struct diags *ds, struct module *m, const struct verify_options *options);

/* The shape of an instruction that is written without one, as XLA's parser infers it; NULL with a
 * diagnostic when it can't be inferred. The instruction needs opcode, operands, attributes and
 * spans; the result is in the module's arena. `strict`: only for opcodes for which XLA's parser
 * infers it; otherwise for all whose shape follows from the operands. */
const struct shape *verify_infer_for_parser(struct diags *ds, struct module *m,
                                            const struct inst *i, bool strict);

/* What the ids in a collective's groups or pairs are ids of: E_MODE_... (grammar/values.md 16.2).
 */
int verify_group_mode(const struct inst *i);

/* Whether any rule can give the shape of this opcode. */
bool verify_can_infer(enum opcode op, bool strict);

/* onnx_config.c: the operator Loop of ONNX as a custom call (onnx_loop.c). */
enum { ONNX_LOOP_NEWEST = 25 };
struct onnx_loop {
    int64_t version;
    bool has_count, has_condition; /* M and cond are operands, before the carried values */
};
bool inst_is_onnx_loop(const struct inst *i);
/* Reads a backend_config. NULL, or what is wrong with it. */
const char *onnx_loop_config(struct str text, struct arena *a, struct onnx_loop *out);

#endif
