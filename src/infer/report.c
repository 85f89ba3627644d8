/*
 * report.c: reports rule violations.
 */
#include "infer/infer_priv.h"

/* The span of the opcode, if the text contains one. */
static struct span place_of(const struct inst *i)
{
    return i->opcode_span.end > i->opcode_span.begin ? i->opcode_span : i->span;
}

static const char *called(const struct infer *ctx, const struct inst *i)
{
    return ctx->word ? ctx->word : op_spelling((enum opcode)i->opcode);
}

static struct span result_place(const struct inst *i)
{
    return i->shape_span.end > i->shape_span.begin ? i->shape_span : place_of(i);
}

const char *report_text(struct infer *ctx, const struct shape *s)
{
    return shape_text(&ctx->ds->arena, s).ptr;
}

static void note_definition(struct infer *ctx, struct diag *d, const struct inst *operand)
{
    diag_note(ctx->ds, d, operand->name_span, "'" STR_FMT "' is %s, defined here",
              STR_ARG(operand->name), report_text(ctx, operand->shape));
}

bool report_operand(struct infer *ctx, const struct inst *i, int k, const char *expected, ...)
{
    va_list ap;
    va_start(ap, expected);
    struct str expectation = arena_vprintf(&ctx->ds->arena, expected, ap);
    va_end(ap);
    struct diag *d = DIAG(ctx->ds, place_of(i), BAD_OPERAND, k, called(ctx, i),
                          report_text(ctx, operand_shape(i, k)), expectation.ptr);
    note_definition(ctx, d, i->operands[k]);
    return false;
}

bool report_operand_type(struct infer *ctx, const struct inst *i, int k, const char *expected)
{
    struct diag *d = DIAG(ctx->ds, place_of(i), BAD_OPERAND_TYPE, k, called(ctx, i),
                          report_text(ctx, operand_shape(i, k)), expected);
    note_definition(ctx, d, i->operands[k]);
    return false;
}

static bool note_operands(struct infer *ctx, const struct inst *i, int a, int b, struct diag *d)
{
    note_definition(ctx, d, i->operands[a]);
    note_definition(ctx, d, i->operands[b]);
    return false;
}

bool report_operand_types(struct infer *ctx, const struct inst *i, int a, int b)
{
    return note_operands(ctx, i, a, b,
                         DIAG(ctx->ds, place_of(i), OPERAND_TYPES, a, b, called(ctx, i),
                              report_text(ctx, operand_shape(i, a)),
                              report_text(ctx, operand_shape(i, b))));
}

bool report_operands(struct infer *ctx, const struct inst *i, int a, int b, const char *what)
{
    return note_operands(ctx, i, a, b,
                         DIAG(ctx->ds, place_of(i), OPERANDS_DIFFER, a, b, called(ctx, i), what,
                              report_text(ctx, operand_shape(i, a)),
                              report_text(ctx, operand_shape(i, b))));
}

bool report_result(struct infer *ctx, const struct inst *i, const struct shape *expected)
{
    return DIAG_ERROR(ctx->ds, result_place(i), BAD_RESULT, called(ctx, i),
                      report_text(ctx, i->shape), report_text(ctx, expected));
}

bool report_attr(struct infer *ctx, const struct inst *i, enum attr_id id, const char *problem, ...)
{
    va_list ap;
    va_start(ap, problem);
    struct str text = arena_vprintf(&ctx->ds->arena, problem, ap);
    va_end(ap);
    struct span span = inst_attr_span(i, id);
    return DIAG_ERROR(ctx->ds, span.end > span.begin ? span : place_of(i), BAD_ATTRIBUTE,
                      attr_spelling(id), called(ctx, i), text.ptr);
}

bool report_computation(struct infer *ctx, const struct inst *i, const struct computation *c,
                        const char *problem, ...)
{
    va_list ap;
    va_start(ap, problem);
    struct str text = arena_vprintf(&ctx->ds->arena, problem, ap);
    va_end(ap);
    struct diag *d =
        DIAG(ctx->ds, place_of(i), BAD_COMPUTATION, STR_ARG(c->name), called(ctx, i), text.ptr);
    diag_note(ctx->ds, d, c->name_span, "'" STR_FMT "' is defined here", STR_ARG(c->name));
    return false;
}

bool report_inst(struct infer *ctx, const struct inst *i, const struct inst *other,
                 const char *problem, ...)
{
    va_list ap;
    va_start(ap, problem);
    struct str text = arena_vprintf(&ctx->ds->arena, problem, ap);
    va_end(ap);
    struct diag *d = DIAG(ctx->ds, place_of(i), BAD_INSTRUCTION, called(ctx, i), text.ptr);
    if (other)
        note_definition(ctx, d, other);
    return false;
}
