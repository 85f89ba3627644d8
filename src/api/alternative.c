/*
 * Alternatives of an elementwise instruction: the same operands in another order, another direction
 * of a comparison, another opcode. Each is a module whose parameters are the operands.
 */
#include "api/match.h"

/* What an alternative changes. */
struct variant {
    enum opcode op;
    const char *direction; /* NULL: not a comparison */
    bool swapped;          /* the last two operands */
};

static bool is_elementwise(enum opcode op)
{
    return op_is(op, OP_ELEMENTWISE) && op_table[op].class <= CLASS_TERNARY;
}

/* Variant number `k` of a comparison: another direction, or swapped operands. */
static bool find_comparison(const struct inst *i, size_t k, struct variant *out)
{
    const size_t count = (size_t)enum_count(A_DIRECTION);
    const int own = inst_enum(i, A_DIRECTION, 0), direction = k < count ? (int)k : own;
    *out = (struct variant){OP_COMPARE, enum_word(A_DIRECTION, direction), k == count};
    return k == count || direction != own;
}

/* Variant number `k` of an instruction; false if it does not apply. */
static bool find_variant(const struct inst *i, size_t k, struct variant *out)
{
    if (i->opcode == OP_COMPARE)
        return k <= (size_t)enum_count(A_DIRECTION) && find_comparison(i, k, out);
    if (k == 0) {
        *out = (struct variant){i->opcode, NULL, true};
        return i->operand_count >= 2;
    }
    *out = (struct variant){(enum opcode)(k - 1), NULL, false};
    return out->op != i->opcode && out->op != OP_COMPARE && is_elementwise(out->op) &&
           op_table[out->op].class == op_table[i->opcode].class;
}

static int operand_at(const struct inst *i, const struct variant *f, int k)
{
    const int last = i->operand_count - 1;
    return !f->swapped || k < last - 1 ? k : k == last ? last - 1 : last;
}

/* The text of a module with one instruction, whose operands are parameters. */
static void put_variant(struct buf *out, struct arena *a, const struct inst *i,
                        const struct variant *f)
{
    buf_puts(out, "ENTRY e {\n");
    for (int k = 0; k < i->operand_count; k++)
        buf_printf(out, "p%d = " STR_FMT " parameter(%d)\n", k,
                   STR_ARG(shape_text(a, i->operands[k]->shape)), k);
    buf_printf(out, "ROOT r = " STR_FMT " %s(", STR_ARG(shape_text(a, i->shape)),
               op_spelling(f->op));
    for (int k = 0; k < i->operand_count; k++)
        buf_printf(out, "%sp%d", k ? ", " : "", operand_at(i, f, k));
    buf_printf(out, f->direction ? "), direction=%s\n}\n" : ")\n}\n", f->direction);
}

/* What the user reads. */
static void put_change(struct buf *out, const struct inst *i, const struct variant *f)
{
    buf_printf(out, "%s(", op_spelling(f->op));
    for (int k = 0; k < i->operand_count; k++)
        buf_printf(out, "%s%%" STR_FMT, k ? ", " : "",
                   STR_ARG(i->operands[operand_at(i, f, k)]->name));
    buf_printf(out, f->direction ? "), direction=%s" : ")", f->direction);
}

bool match_has_alternatives(const struct inst *i)
{
    return is_elementwise(i->opcode) && i->operand_count > 0 && shape_is_array(i->shape) &&
           inst_enum(i, A_TYPE, -1) < 0;
}

hlo_module *match_alternative(struct arena *a, const struct inst *i, size_t k, struct buf *change)
{
    struct variant f;
    if (!find_variant(i, k, &f))
        return NULL;
    SCOPED_BUF text = {0};
    put_variant(&text, a, i, &f);
    const struct hlo_piece piece = {.text = text.data, .size = text.size};
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_FILE *file = hlo_file_of_pieces("alternative", &piece, 1);
    hlo_module *module = hlo_parse(file, 0, ignored);
    if (module && !hlo_verify(module, ignored)) {
        hlo_module_free(module);
        module = NULL;
    }
    if (module)
        put_change(change, i, &f);
    return module;
}
