/*
 * Which of several changes that explain the results is the likeliest. The weights are such that
 * most of some hundred changes of optimized modules are found, one of an instruction each.
 */
#include "api/change.h"

/* The word of an operation: an opcode, or the direction of a comparison. */
static struct str word_of(const struct inst *i, const struct match_variant *v)
{
    if (v->op != OP_COMPARE)
        return str_of(op_spelling(v->op));
    return v->attribute.len > 0 ? v->value
                                : str_of(enum_word(A_DIRECTION, inst_enum(i, A_DIRECTION, -1)));
}

/* Whether a name, or the last part of an op_name, is that of an operation: JAX abbreviates
 * "subtract" to "sub" and writes "select_n" for "select". */
static bool is_named_after(struct str name, struct str word)
{
    const size_t common = name.len < word.len ? name.len : word.len;
    return name.len >= 2 && strncasecmp(name.ptr, word.ptr, common) == 0 &&
           (common == name.len || name.ptr[common] == '_');
}

/* How much better the names of an instruction fit a variant: passes keep those of the program's
 * operations. */
static long fit_of_names(const struct matching *m, size_t b, const struct match_variant *v)
{
    const struct inst *i = hlo_listing_inst(m->b.l, b);
    const struct match_variant same = variant_unchanged(i);
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const struct str names[] = {match_stem(y.name), match_stem(y.op_name)}, old = word_of(i, &same),
                     new = word_of(i, v);
    long fit = 0;
    for (size_t k = 0; k < COUNT_OF(names); k++)
        fit += is_named_after(names[k], new) - is_named_after(names[k], old);
    return fit;
}

/* Whether an instruction of b is another operand of a user than its partner is of the partner of
 * the user, with the same op. */
static bool is_misplaced(const struct matching *m, size_t b)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const long a = hlo_pair_of_b(m->pairing, b).other;
    for (size_t k = 0; a >= 0 && k < y.user_count; k++) {
        const struct hlo_listed v = hlo_list_inst(m->b.l, y.users[k]);
        const long other = hlo_pair_of_b(m->pairing, y.users[k]).other;
        if (other < 0)
            continue;
        const struct hlo_listed u = hlo_list_inst(m->a.l, (size_t)other);
        for (size_t n = 0; n < v.operand_count && strcmp(u.op, v.op) == 0 && n < u.operand_count;
             n++)
            if (v.operands[n] == b && u.operands[n] != (size_t)a)
                return true;
    }
    return false;
}

long match_evidence(const struct matching *m, const struct match_change *c)
{
    const size_t b = c->of.inst;
    const struct match_variant *v = c->variant;
    const bool other_operand = v && v->operand >= 0;
    return 2 * (long)match_agreeing(m) + (v ? 4 * fit_of_names(m, b, v) : 0) -
           (other_operand ? 1 + (hlo_pair_of_b(m->pairing, b).other < 0) : 0) - is_misplaced(m, b);
}
