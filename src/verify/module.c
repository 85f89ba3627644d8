/*
 * module.c: checks the module header (layout, aliases, donors) against the entry computation, and
 * that all all-reduces have the same constrain_layout.
 */
#include "verify/verify_priv.h"

/* ---- entry_computation_layout ---- */

/* Layouts and sizes of shapes in the header must be valid. Those of instructions are not
 * checked. */
static bool check_layout(struct verify *v, struct span at, const struct shape *s)
{
    if (s->dtype == DT_TUPLE || s->dtype == DT_BUFFER) {
        for (int k = 0; k < s->count; k++)
            if (!check_layout(v, at, s->elements[k]))
                return false;
        return true;
    }
    if (!shape_is_array(s))
        return true;
    int64_t bytes;
    struct str text = shape_text(v->arena, s);
    const char *problem = layout_problem(s->layout, s);
    if (problem)
        return DIAG_ERROR(v->ds, at, LAYOUT_INVALID, STR_ARG(text), problem);
    if (!shape_has_unbounded(s) && !shape_bytes(s, &bytes))
        return DIAG_ERROR(v->ds, at, SIZE_OVERFLOW, STR_ARG(text));
    return true;
}

static bool same_as_layout(const struct verify *v, const struct shape *a, const struct shape *b)
{
    if (!v->options.layout_sensitive)
        return shape_compatible(a, b);
    return shape_equal(a, b, IGNORE_TILES | IGNORE_TAIL_PADDING | IGNORE_MEMORY_SPACE);
}

static bool check_entry_layout(struct verify *v)
{
    const struct module *m = v->m;
    const struct computation *e = m->entry;
    bool ok = true;
    if (!m->entry_result)
        return true;
    if (m->entry_param_count != e->param_count)
        return DIAG_ERROR(v->ds, e->name_span, ENTRY_LAYOUT_COUNT, m->entry_param_count,
                          e->param_count);
    for (int k = 0; k < e->param_count; k++) {
        const struct inst *p = e->params[k];
        if (!same_as_layout(v, p->shape, m->entry_params[k])) {
            struct str is = shape_text(v->arena, p->shape),
                       declared = shape_text(v->arena, m->entry_params[k]);
            struct str what = arena_printf(v->arena, "parameter %d", k);
            ok = DIAG_ERROR(v->ds, p->shape_span, ENTRY_LAYOUT, STR_ARG(declared), STR_ARG(what),
                            STR_ARG(is));
        } else {
            ok &= check_layout(v, p->shape_span, m->entry_params[k]);
        }
    }
    if (!same_as_layout(v, e->root->shape, m->entry_result)) {
        struct str is = shape_text(v->arena, e->root->shape),
                   declared = shape_text(v->arena, m->entry_result);
        return DIAG_ERROR(v->ds, e->root->shape_span, ENTRY_LAYOUT, STR_ARG(declared),
                          STR_ARG(STR("the result")), STR_ARG(is));
    }
    return check_layout(v, e->root->shape_span, m->entry_result) && ok;
}

/* ---- input_output_alias, buffer_donor ---- */

/* The array that an alias or donor refers to, or NULL with a diagnostic. */
static const struct shape *named_array(struct verify *v, const char *attribute, int64_t number,
                                       struct ints index)
{
    const struct computation *e = v->m->entry;
    if (number < 0 || number >= e->param_count) {
        DIAG(v->ds, e->name_span, ALIAS_PARAMETER, attribute, number, e->param_count);
        return NULL;
    }
    const struct shape *whole = e->params[number]->shape;
    const struct shape *s = shape_at(whole, index.at, (size_t)index.count);
    if (!s || !shape_is_array(s)) {
        struct str text = shape_text(v->arena, whole);
        DIAG(v->ds, e->params[number]->shape_span, ALIAS_INDEX, attribute, number, STR_ARG(text));
        return NULL;
    }
    return s;
}

/* A map key for a leaf of a parameter. */
static struct str leaf_key(struct arena *a, int64_t number, struct ints index)
{
    int64_t *key = ARENA_ARRAY(a, int64_t, index.count + 1);
    key[0] = number;
    if (index.count)
        memcpy(key + 1, index.at, (size_t)index.count * sizeof *key);
    return (struct str){(const char *)key, ((size_t)index.count + 1) * sizeof *key};
}

static bool check_alias(struct verify *v, const struct alias *a, struct map *seen)
{
    const struct module *m = v->m;
    const struct computation *e = m->entry;
    const struct shape *param = named_array(v, "input_output_alias", a->operand, a->index);
    if (!param)
        return false;
    const struct shape *result = shape_at(e->root->shape, a->output.at, (size_t)a->output.count);
    if (!result || !shape_is_array(result)) {
        struct str text = shape_text(v->arena, e->root->shape);
        return DIAG_ERROR(v->ds, e->root->shape_span, ALIAS_OUTPUT, STR_ARG(text));
    }
    if (map_put(seen, leaf_key(v->arena, a->operand, a->index), e->root))
        return DIAG_ERROR(v->ds, e->params[a->operand]->name_span, ALIAS_TWICE, a->operand);
    int64_t in = 0, out = 0;
    bool sized = !v->options.layout_sensitive ||
                 (shape_bytes(param, &in) && shape_bytes(result, &out) && in == out);
    if (sized && !a->must)
        return true;
    const struct shape *given =
        shape_at(m->entry_params[a->operand], a->index.at, (size_t)a->index.count);
    const struct shape *made = shape_at(m->entry_result, a->output.at, (size_t)a->output.count);
    if (sized && given && made && shape_equal(given, made, 0))
        return true;
    struct str x = shape_text(v->arena, param), y = shape_text(v->arena, result);
    return DIAG_ERROR(v->ds, e->params[a->operand]->shape_span, ALIAS_MUST, STR_ARG(x), STR_ARG(y));
}

static bool check_aliases(struct verify *v)
{
    const struct module *m = v->m;
    struct map aliased;
    bool ok = true;
    map_init(&aliased, v->arena);
    for (int k = 0; k < m->input_output_alias.count; k++)
        ok &= check_alias(v, &m->input_output_alias.at[k], &aliased);
    for (int k = 0; k < m->buffer_donor.count; k++) {
        const struct alias *d = &m->buffer_donor.at[k];
        if (!named_array(v, "buffer_donor", d->operand, d->index))
            ok = false;
        else if (map_get(&aliased, leaf_key(v->arena, d->operand, d->index)))
            ok = DIAG_ERROR(v->ds, m->entry->params[d->operand]->name_span, DONOR_ALIASED,
                            d->operand);
    }
    return ok;
}

/* ---- all-reduce ---- */

static bool check_constrain_layout(struct verify *v)
{
    const struct inst *first = NULL;
    for (struct inst *i = NULL; (i = module_next(v->m, i)) != NULL;) {
        if (i->opcode != OP_ALL_REDUCE && i->opcode != OP_ALL_REDUCE_START)
            continue;
        if (!first) {
            first = i;
        } else if (inst_bool(i, A_CONSTRAIN_LAYOUT) != inst_bool(first, A_CONSTRAIN_LAYOUT)) {
            struct diag *d = DIAG(v->ds, i->opcode_span, ALL_REDUCE_MIXED);
            diag_note(v->ds, d, first->name_span, "first one is here");
            return false;
        }
    }
    return true;
}

bool verify_module_rules(struct verify *v)
{
    if (v->m->entry->fused)
        return DIAG_ERROR(v->ds, v->m->entry->name_span, ENTRY_FUSED);
    bool ok = check_entry_layout(v);
    /* Only if the layout is valid, since aliases are looked up in it. */
    ok = ok && check_aliases(v);
    return check_constrain_layout(v) && ok;
}
