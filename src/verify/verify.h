/*
 * verify: shape inference, the rules a module must keep, and the builder conveniences on top of them.
 *
 * Two users: the parser asks for the shape of an instruction whose text leaves it out (inference is
 * permissive there, hlo-text 3.5), and `verify_module` holds every written shape against the rules
 * (hlo-shapes). It stands left of text/: the parser includes it, it never sees text.
 */
#ifndef HLO_VERIFY_H
#define HLO_VERIFY_H

#include "ir/ir.h"

struct verify_options {
    bool layout_sensitive;     /* layouts and dynamic flags count (hlo-shapes 1.4, LS) */
    bool mixed_precision;      /* float types may differ (MP) */
    bool allow_unbounded;      /* `?` in results */
};

/* Verifies everything reachable or not; reports up to DIAG_ERROR_LIMIT independent errors, at most
 * one per instruction, with the instruction's spans. True when there was none. */
bool verify_module(struct diags *ds, struct module *m, const struct verify_options *options);

/* The shape an instruction without a written one has, as XLA's parser infers it; NULL (and a
 * diagnostic) when it cannot be inferred. The instruction needs opcode, operands, attributes and
 * spans; result in the module's arena. `strict`: only what XLA's parser infers; otherwise also
 * opcodes that XLA wants written although their shape follows from the operands. */
const struct shape *verify_infer_for_parser(struct diags *ds, struct module *m, const struct inst *i, bool strict);

/* What the ids of a collective's groups or pairs name: E_MODE_... (hlo-values 16.2). */
int verify_group_mode(const struct inst *i);

/* Whether any rule can give the shape of this opcode. */
bool verify_can_infer(enum opcode op, bool strict);

/* onnx_config.c: the operator Loop of ONNX as a custom call (onnx_loop.c). */
enum { ONNX_LOOP_NEWEST = 25 };
struct onnx_loop {
    int64_t version;
    bool has_count, has_condition; /* M and cond stand before the carried values */
};
bool inst_is_onnx_loop(const struct inst *i);
/* Reads a backend_config. NULL, or what is wrong with it. */
const char *onnx_loop_config(struct str text, struct arena *a, struct onnx_loop *out);

#endif
