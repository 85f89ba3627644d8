/*
 * header.c: the module header.
 *
 * `header_attributes` has one row per attribute. Checks that need the entry computation are in
 * finish_header.
 */
#include "text/parse.h"

#include <stdlib.h>

/* ---- values ---- */

static int ints_cmp(struct ints a, struct ints b)
{
    for (int64_t k = 0; k < a.count && k < b.count; k++)
        if (a.at[k] != b.at[k])
            return a.at[k] < b.at[k] ? -1 : 1;
    return (a.count > b.count) - (a.count < b.count);
}

static bool parse_input_output_alias(struct parser *p)
{
    struct span span = p->tok.span;
    bool ok = parse_aliasing(p, &p->m->input_output_alias, true);
    p->state->alias_span = span_join(span, (struct span){0, p->prev_end});
    return ok;
}

/* donor = "(" INT "," index ")" ; */
static bool parse_donor(struct parser *p, struct alias *out)
{
    struct span span = p->tok.span;
    if (!expect(p, TOK_LPAREN, "'(' before the donor") || !parse_int(p, &out->operand) ||
        !expect(p, TOK_COMMA, NULL) || !parse_index(p, &out->index))
        return false;
    if (out->operand < 0)
        return DIAG_ERROR(p->ds, span, NEGATIVE_PARAMETER, (long long)out->operand);
    return expect(p, TOK_RPAREN, NULL);
}

static int donor_cmp(const void *pa, const void *pb)
{
    const struct alias *a = pa, *b = pb;
    if (a->operand != b->operand)
        return a->operand < b->operand ? -1 : 1;
    return ints_cmp(a->index, b->index);
}

/* buffer_donor = "{" [donor {"," donor} [","]] "}" ; */
static bool parse_buffer_donor(struct parser *p)
{
    struct alias *donors = NULL, donor = {0};
    size_t kept = 0;
    struct list l = {TOK_LBRACE, TOK_RBRACE, .trailing = true};
    while (list_more(p, &l) && parse_donor(p, &donor))
        VEC_PUSH(p->arena, donors, l.count, l.capacity) = donor;
    if (l.count)
        qsort(donors, l.count, sizeof *donors, donor_cmp);
    for (size_t k = 0; k < l.count; k++)
        if (kept == 0 || donor_cmp(&donors[kept - 1], &donors[k]) != 0)
            donors[kept++] = donors[k];
    p->m->buffer_donor = (struct aliasing){(int)kept, donors};
    return l.ok;
}

/* entry_computation_layout = "{" "(" {shape ","} [shape] ")" "->" shape "}" ; */
static bool parse_entry_layout(struct parser *p)
{
    struct module *m = p->m;
    const struct shape *s;
    struct list l = {TOK_LPAREN, TOK_RPAREN, .trailing = true};
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    while (list_more(p, &l) && parse_shape(p, &s))
        VEC_PUSH(p->arena, m->entry_params, l.count, l.capacity) = s;
    m->has_entry_layout = true;
    m->entry_param_count = (int)l.count;
    return l.ok && expect(p, TOK_ARROW, NULL) && parse_shape(p, &m->entry_result) &&
           expect(p, TOK_RBRACE, NULL);
}

/* allow_spmd_sharding_propagation = bool | "{" [bool {"," bool}] "}" ; */
static bool parse_propagation(struct parser *p, struct bool_list *out)
{
    bool *values = NULL, value;
    size_t count = 0, capacity = 0;
    bool list = accept(p, TOK_LBRACE);
    if (!list || p->tok.kind != TOK_RBRACE) {
        do {
            if (!parse_bool(p, &value))
                return false;
            VEC_PUSH(p->arena, values, count, capacity) = value;
        } while (list && accept(p, TOK_COMMA));
    }
    *out = (struct bool_list){(int)count, values};
    return !list || expect(p, TOK_RBRACE, "',' or '}'");
}

/* Values that are members of the module. */
#define MEMBER(name, function)                                                                     \
    static bool parse_##name(struct parser *p) { return function(p, &p->m->name); }
MEMBER(alias_passthrough_params, parse_bool)
MEMBER(frontend, parse_frontend_attributes)
MEMBER(is_scheduled, parse_bool)
MEMBER(num_partitions, parse_int)
MEMBER(replica_count, parse_int)
MEMBER(spmd_to_output, parse_propagation)
MEMBER(spmd_to_parameters, parse_propagation)
#undef MEMBER

/* Stored verbatim. */
static bool parse_debug_attributes(struct parser *p)
{
    if (p->tok.kind != TOK_LBRACE)
        return expected(p, "'{'");
    return lex_dict(p, &p->m->debug_attributes);
}

/* ---- origin_recovery_table ---- */

/* Parses a module from a string. */
static bool parse_recovery_module(struct parser *p, struct module **out)
{
    struct span span = p->tok.span;
    struct str text;
    struct source source;
    struct diags inside;
    if (!parse_string(p, &text))
        return false;
    source_init(&source, STR("origin_recovery_table"), arena_str(p->arena, text));
    diags_init(&inside, &source);
    *out = NULL;
    if (p->state->nesting < 64)
        *out = parse_source(&inside, &source,
                            &(struct parse_options){.strict = p->strict, .core = p->core},
                            p->state->nesting + 1);
    if (!*out) {
        struct diag *d = DIAG(p->ds, span, RECOVERY_MODULE);
        if (inside.first)
            diag_note(p->ds, d, span, STR_FMT, STR_ARG(inside.first->text));
    }
    diags_free(&inside);
    source_free(&source);
    return *out != NULL;
}

static int place_cmp(const struct origin *a, const struct origin *b)
{
    int by_name = str_cmp(a->name, b->name);
    return by_name ? by_name : ints_cmp(a->index, b->index);
}

/* Sorts by location; entries with the same location keep their order. */
static int recovery_cmp(const void *pa, const void *pb)
{
    const struct recovery_entry *a = *(const struct recovery_entry *const *)pa,
                                *b = *(const struct recovery_entry *const *)pb;
    int by_place = place_cmp(&a->old_value, &b->old_value);
    return by_place ? by_place : (a > b) - (a < b);
}

/* Sorts in the order of printing; the first entry for a location is kept. */
static void sort_recovery(struct parser *p)
{
    struct module *m = p->m;
    const int count = m->recovery_count;
    const struct recovery_entry **order =
        ARENA_ARRAY(p->arena, const struct recovery_entry *, count);
    struct recovery_entry *kept = ARENA_ARRAY(p->arena, struct recovery_entry, count);
    int last = -1;
    for (int k = 0; k < count; k++)
        order[k] = &m->recovery[k];
    if (count)
        qsort(order, (size_t)count, sizeof *order, recovery_cmp);
    for (int k = 0; k < count; k++) {
        if (last < 0 || place_cmp(&kept[last].old_value, &order[k]->old_value) != 0)
            kept[++last] = *order[k];
        else
            module_free(order[k]->module);
    }
    m->recovery = kept;
    m->recovery_count = last + 1;
}

/* origin_recovery_table = "{" {leaf ":" leaf ["," STRING]} "}" ; */
static bool parse_recovery_table(struct parser *p)
{
    size_t capacity = 0;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    while (p->tok.kind != TOK_RBRACE) {
        struct recovery_entry e = {0};
        if (!parse_origin_leaf(p, &e.old_value) || !expect(p, TOK_COLON, NULL) ||
            !parse_origin_leaf(p, &e.new_value))
            return false;
        if (accept(p, TOK_COMMA) && !parse_recovery_module(p, &e.module))
            return false;
        /* Owned by the module even if a later entry fails. */
        VEC_PUSH(p->arena, p->m->recovery, p->m->recovery_count, capacity) = e;
    }
    sort_recovery(p);
    return expect(p, TOK_RBRACE, NULL);
}

/* ---- the attribute list ---- */

static const struct header_attribute {
    const char *name;
    bool (*parse)(struct parser *p);
    bool newer;
} header_attributes[] = {
    {"alias_passthrough_params", parse_alias_passthrough_params, false},
    {"allow_spmd_sharding_propagation_to_output", parse_spmd_to_output, false},
    {"allow_spmd_sharding_propagation_to_parameters", parse_spmd_to_parameters, false},
    {"buffer_donor", parse_buffer_donor, false},
    {"debug_attributes", parse_debug_attributes, true},
    {"entry_computation_layout", parse_entry_layout, false},
    {"frontend_attributes", parse_frontend, false},
    {"input_output_alias", parse_input_output_alias, false},
    {"is_scheduled", parse_is_scheduled, false},
    {"num_partitions", parse_num_partitions, false},
    {"origin_recovery_table", parse_recovery_table, false},
    {"replica_count", parse_replica_count, false},
};

/* The default mode skips unknown attributes with a warning. */
static bool skip_unknown(struct parser *p, struct str name, struct span span)
{
    const char *keywords[COUNT_OF(header_attributes)];
    for (size_t k = 0; k < COUNT_OF(keywords); k++)
        keywords[k] = header_attributes[k].name;
    struct str near = diag_nearest(name, keywords, COUNT_OF(keywords)), ignored;
    struct diag *d = p->strict ? DIAG(p->ds, span, UNKNOWN_HEADER, STR_ARG(name))
                               : DIAG(p->ds, span, SKIPPED_HEADER, STR_ARG(name));
    diag_suggest(p->ds, d, near);
    if (p->strict)
        return false;
    if (p->tok.kind == TOK_LBRACE)
        return lex_dict(p, &ignored);
    next(p);
    return true;
}

/* header_attribute = IDENT "=" value ; */
static bool parse_header_attribute(struct parser *p, uint32_t *seen)
{
    struct str name = p->tok.s;
    struct span span = {p->tok.span.begin, (uint32_t)(p->tok.span.begin + name.len)};
    bool loose = !p->strict && p->tok.kind == TOK_IDENT && peek(p) == TOK_EQUAL;
    if (p->tok.kind != TOK_ATTR_NAME && !loose)
        return expected(p, "an attribute of the module");
    next(p);
    if (loose)
        next(p);
    for (size_t k = 0; k < COUNT_OF(header_attributes); k++) {
        const struct header_attribute *a = &header_attributes[k];
        if (!str_is(name, a->name) || (a->newer && p->strict))
            continue;
        if (*seen >> k & 1)
            return DIAG_ERROR(p->ds, span, DUPLICATE, "attribute", STR_ARG(name));
        *seen |= UINT32_C(1) << k;
        return a->parse(p);
    }
    return skip_unknown(p, name, span);
}

/* header = {"," header_attribute} ; */
bool parse_header(struct parser *p)
{
    uint32_t seen = 0;
    while (accept(p, TOK_COMMA))
        if (!parse_header_attribute(p, &seen))
            return false;
    return true;
}

/* ---- checks with the entry computation ---- */

/* Sorts by output; entries for the same output keep their order. */
static int alias_cmp(const void *pa, const void *pb)
{
    const struct alias *a = *(const struct alias *const *)pa, *b = *(const struct alias *const *)pb;
    int by_output = ints_cmp(a->output, b->output);
    return by_output ? by_output : (a > b) - (a < b);
}

/* Checks that outputs exist, keeps the first entry for each output, and sorts in the order of
 * printing. */
static bool finish_alias(struct parser *p)
{
    struct module *m = p->m;
    struct aliasing *list = &m->input_output_alias;
    const struct alias **order = ARENA_ARRAY(p->arena, const struct alias *, list->count);
    struct alias *kept = ARENA_ARRAY(p->arena, struct alias, list->count);
    int count = 0;
    for (int k = 0; k < list->count; k++) {
        const struct alias *a = order[k] = &list->at[k];
        if (!shape_at(m->entry->root->shape, a->output.at, (size_t)a->output.count))
            return DIAG_ERROR(p->ds, p->state->alias_span, ALIAS_NO_OUTPUT,
                              STR_ARG(shape_text(p->arena, m->entry->root->shape)));
        if (a->operand < 0)
            return DIAG_ERROR(p->ds, p->state->alias_span, NEGATIVE_PARAMETER,
                              (long long)a->operand);
    }
    if (list->count)
        qsort(order, (size_t)list->count, sizeof *order, alias_cmp);
    for (int k = 0; k < list->count; k++)
        if (count == 0 || ints_cmp(kept[count - 1].output, order[k]->output) != 0)
            kept[count++] = *order[k];
    *list = (struct aliasing){count, kept};
    return true;
}

/* The shape with minor_to_major in descending order; tiles, memory space and so on are kept. */
static const struct shape *reset_order(struct arena *a, const struct shape *s)
{
    if (shape_is_tuple(s)) {
        const struct shape **elements = ARENA_ARRAY(a, const struct shape *, s->count);
        for (int k = 0; k < s->count; k++)
            elements[k] = reset_order(a, s->elements[k]);
        return shape_tuple(a, s->count, elements);
    }
    if (s->dtype == DT_BUFFER)
        return shape_buffer(a, reset_order(a, s->elements[0]));
    if (!shape_is_array(s) || layout_is_descending(s->layout))
        return s;
    struct layout *l = ARENA_DUP(a, s->layout, 1);
    l->minor_to_major = layout_default(a, s->rank)->minor_to_major;
    return shape_with_layout(a, s, l);
}

/* The default layout is that of the entry computation, except that some other attributes make XLA
 * drop the order of the dimensions (grammar/text.md 5.1). */
static void derive_entry_layout(struct parser *p)
{
    struct module *m = p->m;
    const struct computation *entry = m->entry;
    bool reset = m->alias_passthrough_params || m->replica_count != 1 || m->num_partitions != 1 ||
                 m->spmd_to_parameters.count > 0 || m->spmd_to_output.count > 0;
    m->entry_param_count = entry->param_count;
    m->entry_params = ARENA_ARRAY(p->arena, const struct shape *, entry->param_count);
    for (int k = 0; k < entry->param_count; k++)
        m->entry_params[k] =
            reset ? reset_order(p->arena, entry->params[k]->shape) : entry->params[k]->shape;
    m->entry_result = reset ? reset_order(p->arena, entry->root->shape) : entry->root->shape;
}

bool finish_header(struct parser *p)
{
    if (!p->m->has_entry_layout)
        derive_entry_layout(p);
    return finish_alias(p);
}
