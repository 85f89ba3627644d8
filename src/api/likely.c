/*
 * How likely a change is: whether it makes the instruction that of the other module, by names,
 * op_name, attributes and operands.
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

/* How well names fit: those of the program's operations are kept by passes. */
static int likelihood_of(const struct hlo_listed *x, struct str old, struct str new)
{
    const struct str names[] = {match_stem(x->name), match_stem(x->op_name)};
    int likelihood = 0;
    for (int k = 0; k < 2; k++)
        likelihood += is_named_after(names[k], new) - is_named_after(names[k], old);
    return likelihood;
}

/* Whether an operand of `x`, of a, may be the operand of an instruction of b. */
static bool correspond(const struct matching *m, size_t x, size_t y)
{
    const size_t a = hlo_pair_source(m->a.l, x), b = hlo_pair_source(m->b.l, y);
    return hlo_pair_of_b(m->pairing, b).other == (long)a ||
           match_are_related(hlo_list_inst(m->a.l, a), hlo_list_inst(m->b.l, b));
}

/* How well an instruction of b, or a variant of it, fits instruction `x` of a: 0: another
 * operation, 1: other operands. */
static int fit_of(const struct matching *m, size_t x, size_t b, const struct match_variant *v)
{
    const hlo_listing *l = m->b.l;
    const struct inst *i = hlo_listing_inst(l, b), *j = hlo_listing_inst(m->a.l, x);
    SCOPED_BUF rest = {0};
    if (j->opcode != v->op || j->operand_count != i->operand_count)
        return 0;
    change_put_attributes(&rest, change_line_of(m->arena, l, b).rest, v);
    if (!str_eq(buf_view(&rest), change_line_of(m->arena, m->a.l, x).rest))
        return 0;
    for (int k = 0; k < i->operand_count; k++) {
        int from;
        const size_t y = variant_operand(l, i, v, k, &from);
        if (!correspond(m, hlo_listing_number(m->a.l, j->operands[k]), y))
            return 1;
    }
    return 2;
}

/* Whether two op_names may be that of one operation: inlining puts that of the call in front. */
static bool same_op_name(const char *x, const char *y)
{
    const size_t a = strlen(x), b = strlen(y);
    return a > 0 && b >= a && strcmp(y + b - a, x) == 0 && (b == a || y[b - a - 1] == '/');
}

/* How much better a variant fits the instructions of a with the same op_name, of which one is the
 * original. */
static int fit_better(const struct matching *m, size_t b, const struct match_variant *v)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const struct match_variant same = variant_unchanged(hlo_listing_inst(m->b.l, b));
    int before = 0, after = 0;
    for (size_t x = 0; x < m->a.insts; x++) {
        if (!same_op_name(hlo_list_inst(m->a.l, x).op_name, y.op_name))
            continue;
        const int old = fit_of(m, x, b, &same), new = fit_of(m, x, b, v);
        before = old > before ? old : before;
        after = new > after ? new : after;
    }
    return after - before;
}

bool match_is_misplaced(const struct matching *m, size_t b)
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

int match_likelihood(const struct matching *m, const struct match_change *c)
{
    const struct inst *i = hlo_listing_inst(m->b.l, c->of.inst);
    const struct match_variant same = variant_unchanged(i);
    if (!c->variant)
        return c->common ? -1 : 0;
    const struct hlo_listed x = hlo_list_inst(m->b.l, c->of.inst);
    return likelihood_of(&x, word_of(i, &same), word_of(i, c->variant)) +
           fit_better(m, c->of.inst, c->variant);
}
