/*
 * Scalar constants that are tried with another value: what compiler passes make of the constants of
 * the other module.
 */
#include "api/change.h"

#include <math.h>

bool match_is_scalar_constant(const struct inst *i)
{
    return i->opcode == OP_CONSTANT && shape_is_array(i->shape) && i->shape->rank == 0 &&
           !i->literal->elided;
}

static void add_value(struct arena *a, struct match_values *g, double v)
{
    for (size_t k = 0; k < g->count; k++)
        if (g->at[k] == v)
            return;
    if (isfinite(v))
        VEC_PUSH(a, g->at, g->count, g->capacity) = v;
}

/* Adds the constants of a, with or without partners. */
static void add_constants(const struct matching *m, struct match_values *g, bool paired)
{
    for (size_t i = 0; i < m->a.insts; i++) {
        const struct inst *inst = hlo_listing_inst(m->a.l, i);
        if (match_is_scalar_constant(inst) && (hlo_pair_of_a(m->pairing, i).other >= 0) == paired)
            add_value(m->arena, g, look_number(inst->shape->dtype, inst->literal->data));
    }
}

/* What passes make of two constants. */
static void add_pairs(struct arena *a, struct match_values *g, size_t count)
{
    enum { MOST = 24 };
    for (size_t i = 0; i < count && count <= MOST; i++)
        for (size_t j = 0; j < count; j++) {
            const double x = g->at[i], y = g->at[j], forms[] = {x * y, x + y, x - y, x / y};
            for (size_t k = 0; k < COUNT_OF(forms); k++)
                add_value(a, g, forms[k]);
        }
}

struct match_values match_values_of_constants(const struct matching *m)
{
    struct match_values g = {0};
    add_constants(m, &g, false);
    add_constants(m, &g, true);
    const size_t count = g.count;
    for (int v = 0; v <= 2; v++)
        add_value(m->arena, &g, v < 2 ? v : -1);
    for (size_t i = 0; i < count; i++) {
        const double v = g.at[i], forms[] = {-v, 1 / v, v - 1, -v - 1};
        for (size_t k = 0; k < COUNT_OF(forms); k++)
            add_value(m->arena, &g, forms[k]);
    }
    g.single = g.count;
    add_pairs(m->arena, &g, count);
    return g;
}

/* Whether a constant has one of the first `count` values. */
static bool is_among(const struct match_values *g, size_t count, const struct inst *i)
{
    const double v = look_number(i->shape->dtype, i->literal->data);
    for (size_t k = 0; k < count; k++)
        if (fabs(g->at[k] - v) <= look_usual_error(i->shape->dtype) * fabs(v))
            return true;
    return false;
}

static bool change_constant(struct arena *a, const struct inst *i, double v,
                            struct match_change *out)
{
    enum { DIGITS = 17 };
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_BUF text = {0};
    buf_g(&text, v, DIGITS);
    out->value = hlo_literal_parse_named("", buf_view(&text), i->shape, ignored);
    if (!out->value)
        return false; /* the type has no such value */
    SCOPED_TEXT shown = hlo_literal_print(out->value, false);
    out->text = arena_str(a, (struct str){shown.data, shown.size});
    return true;
}

bool match_change_constant(const struct matching *m, const struct match_candidate *c,
                           const struct match_values *values, size_t k, struct match_change *out)
{
    const struct inst *i = hlo_listing_inst(m->b.l, c->inst);
    *out = (struct match_change){.of = *c};
    return k < (is_among(values, values->single, i) ? values->single : values->count) &&
           change_constant(m->arena, i, values->at[k], out);
}
