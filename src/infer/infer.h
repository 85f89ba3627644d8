/*
 * infer: shape inference: the result shape of an instruction by the rule of its opcode
 * (grammar/shapes.md), and reports of operands, attributes and computations that violate the rule
 * (check.h).
 *
 * The parser infers the shape of an instruction that is written without one, by more permissive
 * rules (grammar/text.md 3.5). The verifier infers the shape of every instruction and compares the
 * written one with it.
 */
#ifndef HLO_INFER_H
#define HLO_INFER_H

#include "ir/ir.h"

/* By which rules shapes are inferred; zero: by the verifier's. */
struct infer {
    struct diags *ds;
    struct module *m;
    struct arena *arena; /* for inferred shapes and temporary lists */
    /* For the parser: no shape is written, operands are broadcast, float types may be mixed. */
    bool parsing;
    bool strict;           /* ... and the rules are those of XLA's parser */
    bool layout_sensitive; /* layouts and dynamic flags count (grammar/shapes.md 1.4, LS) */
    bool mixed_precision;  /* float types may differ (MP) */
    /* The operation's name in messages if it is a builder form; NULL: its opcode. */
    const char *word;
};

/* The result shape by the rule of the opcode; NULL with a diagnostic if operands, attributes or
 * computations violate the rule. The instruction needs opcode, operands, attributes, spans and,
 * where the rule refers to it, its written shape. For opcodes with COMPARE_OWN, a written shape is
 * returned unchecked, except that of a scan. */
const struct shape *infer_result(struct infer *ctx, const struct inst *i);

/* Whether the shape of this opcode follows from operands, attributes and computations. `strict`:
 * whether XLA's parser infers it. */
bool infer_is_possible(enum opcode op, bool strict);

#endif
