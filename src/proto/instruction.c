/*
 * instruction.c: instructions: shape, opcode, operands.
 */
#include "proto/proto_priv.h"

/* Opcodes of files from before 2020, when each comparison was one. */
static const struct {
    const char *opcode, *direction;
} comparisons[] = {
    {"equal-to", "EQ"},  {"greater-than", "GT"},          {"greater-than-or-equal-to", "GE"},
    {"less-than", "LT"}, {"less-than-or-equal-to", "LE"}, {"not-equal-to", "NE"},
};

static const char *old_direction(const char *opcode)
{
    for (size_t k = 0; k < COUNT_OF(comparisons); k++)
        if (strcmp(comparisons[k].opcode, opcode) == 0)
            return comparisons[k].direction;
    return NULL;
}

/* Spellings of opcodes that differ from those of HLO text. */
static enum opcode find_opcode(const char *word)
{
    if (old_direction(word))
        return OP_COMPARE;
    return op_find(str_of(strcmp(word, "optimization-barrier") == 0 ? "opt-barrier" : word));
}

static void put_operands(struct reader *r, const struct computation_info *c, const inst_proto *i)
{
    for (size_t k = 0; k < i->n_operand_ids; k++) {
        buf_puts(r->out, k ? ", " : "");
        proto_put_name(r->out, c->names[proto_find_inst(c, i->operand_ids[k])]);
    }
}

static bool put_body(struct reader *r, const struct computation_info *c, enum opcode op,
                     const inst_proto *i, uint32_t at)
{
    if (op == OP_PARAMETER) {
        buf_int(r->out, i->parameter_number);
    } else if (op != OP_CONSTANT) {
        put_operands(r, c, i);
    } else if (proto_literal_is_absent(i->literal)) {
        if (i->shape && i->shape->n_dimensions == 0)
            return proto_error(r, "literal", -1, "value of a scalar constant is missing");
        buf_puts(r->out, "{...}");
    } else {
        return proto_put_literal(r, i->literal, at, false);
    }
    return true;
}

/* Numbers of operands are checked here, as the text of some opcodes may have more operands than
 * the opcode. */
static bool check_operands(struct reader *r, enum opcode op, const inst_proto *i)
{
    const size_t least = op_table[op].min_operands, most = op_table[op].max_operands;
    if (i->n_operand_ids < least || (most != OPERANDS_MANY && i->n_operand_ids > most))
        return proto_error(r, "operand_ids", -1, "'%s' has %s %zu operands, got %zu", i->opcode,
                           i->n_operand_ids < least ? "at least" : "at most",
                           i->n_operand_ids < least ? least : most, i->n_operand_ids);
    return true;
}

bool proto_put_inst(struct reader *r, const struct computation_info *c, size_t index)
{
    inst_proto *i = c->proto->instructions[index];
    const size_t node = proto_enter(r, "instructions", (int64_t)index);
    const uint32_t at = (uint32_t)r->out->size;
    proto_put_name(r->out, c->names[index]);
    buf_puts(r->out, " = ");
    if (!*i->opcode)
        return proto_error(r, "opcode", -1, "opcode is missing");
    const enum opcode op = find_opcode(i->opcode);
    if (op == OP_INVALID)
        return proto_error(r, "opcode", -1, "unknown opcode '%s'", i->opcode);
    const size_t shape = proto_enter(r, "shape", -1);
    if (!proto_put_shape(r, i->shape, NULL, -1))
        return false;
    proto_leave(r, shape);
    proto_enter(r, "opcode", -1);
    buf_printf(r->out, " %s", op_spelling(op));
    proto_leave(r, shape);
    if (!check_operands(r, op, i))
        return false;
    buf_putc(r->out, '(');
    if (op != OP_CONSTANT)
        proto_enter(r, op == OP_PARAMETER ? "parameter_number" : "operand_ids", -1);
    if (!put_body(r, c, op, i, at))
        return false;
    proto_leave(r, shape);
    buf_putc(r->out, ')');
    if (op == OP_COMPARE && old_direction(i->opcode))
        buf_printf(r->out, ", direction=%s", old_direction(i->opcode));
    if (!proto_put_attributes(r, op, i, at))
        return false;
    buf_putc(r->out, '\n');
    proto_leave(r, node);
    return true;
}
