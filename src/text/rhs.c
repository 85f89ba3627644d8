/*
 * rhs.c: parses the right-hand side of an instruction, such as `f32[2] add(a, b), sharding={...}`.
 *
 * Everything is parsed into a draft; the instruction is added to its computation when it is
 * complete.
 */
#include "infer/infer.h"
#include "lower/lower.h"
#include "text/parse.h"

/* ---- opcodes ---- */

/* Modules use few opcodes many times: a small cache avoids the search. */
static enum opcode find_opcode(struct parser *p, struct str word, enum form *form)
{
    *form = FORM_NONE;
    const unsigned char *c = (const unsigned char *)word.ptr;
    size_t h = c[0] * 7U + c[word.len > 1] * 5U + c[word.len - 1] * 3U + word.len;
    struct opcode_cache *slot = &p->state->opcodes[h % COUNT_OF(p->state->opcodes)];
    if (str_eq(slot->word, word)) {
        *form = slot->form;
        return slot->op;
    }
    enum opcode op = op_find(word);
    if (!p->strict)
        *form = form_find(word);
    if (op == OP_INVALID && *form != FORM_NONE)
        op = (enum opcode)form_table[*form].opcode;
    if (op != OP_INVALID)
        *slot = (struct opcode_cache){word, op, *form};
    return op;
}

static bool report_opcode(struct parser *p)
{
    const char *keywords[OP_COUNT + FORM_COUNT];
    size_t count = 0;
    for (int op = 0; op < OP_COUNT; op++)
        keywords[count++] = op_spelling((enum opcode)op);
    for (int form = 0; form < FORM_COUNT && !p->strict; form++)
        keywords[count++] = form_table[form].spelling;
    struct diag *d = DIAG(p->ds, p->tok.span, UNKNOWN_OPCODE, STR_ARG(p->tok.s));
    diag_suggest(p->ds, d, diag_nearest(p->tok.s, keywords, count));
    return false;
}

/* Whether the shape is known, follows from the operands, or may be given by an attribute. */
static bool shape_may_come(const struct parser *p, const struct draft *d, enum opcode op)
{
    return d->i.shape || infer_is_possible(op, p->strict) ||
           (!p->strict && !d->i.sugar && lower_result_attr(op) != A_NONE);
}

/* opcode = IDENT ; or IDENT ("-start" | "-update" | "-done") around most opcodes */
static bool parse_opcode(struct parser *p, struct draft *d)
{
    const struct shape *none;
    if (p->tok.kind != TOK_IDENT)
        return expected(p, d->i.shape ? "an opcode" : "a shape or an opcode");
    enum opcode op = find_opcode(p, p->tok.s, &d->form);
    d->wrapped = OP_INVALID;
    if (op == OP_INVALID && !async_opcode(p->tok.s, &op, &d->wrapped)) {
        if (!d->i.shape && peek(p) == TOK_LSQUARE)
            return parse_shape(p, &none);
        return report_opcode(p);
    }
    d->i.opcode = (uint8_t)op;
    d->i.sugar = d->wrapped != OP_INVALID;
    d->word = p->tok.s;
    d->i.opcode_span = p->tok.span;
    struct token word = p->tok;
    next(p);
    if (!shape_may_come(p, d, op))
        return DIAG_ERROR(p->ds, word.span, SHAPE_NEEDED, STR_ARG(word.s));
    return true;
}

/* ---- attributes ---- */

struct attr_target {
    enum attr_id id;
    struct inst *inst; /* the draft, or the instruction that an async start wraps */
    bool renamed;      /* spelled as in the specification, not as in HLO */
};

/* Whether an attribute may be given here. --strict accepts only what XLA's parser does; OP-start
 * and the wrapped operation have no attributes of builder forms. */
static bool attribute_is_read(const struct parser *p, const struct draft *d,
                              const struct op_attr *a)
{
    if (a->use & USE_BUILDER)
        return !p->strict && !d->i.sugar && !d->wrapped_inside;
    return !p->strict || !(a->use & USE_NEWER);
}

static void list_attribute_names(const struct parser *p, const struct draft *d, struct str name,
                                 struct diag *message)
{
    struct diags *ds = p->ds;
    const char *keywords[64];
    size_t count = 0;
    SCOPED_BUF list = {0};
    enum opcode op = d->inner ? d->wrapped : (enum opcode)d->i.opcode;
    for (const struct op_attr *a = op_table[op].attrs; a->id != A_NONE; a++)
        if (check_attribute_applies(d, (enum attr_id)a->id) &&
            attribute_is_read(p, d->inner ? d->inner : d, a))
            keywords[count++] = attr_spelling((enum attr_id)a->id);
    size_t own = count;
    for (const uint8_t *a = attr_common; *a != A_NONE; a++)
        keywords[count++] = attr_spelling((enum attr_id) * a);
    for (size_t i = 0; i < own; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", keywords[i]);
    diag_suggest(ds, message, diag_nearest(name, keywords, count));
    if (own)
        diag_note(ds, message, d->i.opcode_span,
                  "accepted attributes: " STR_FMT " and the common attributes",
                  STR_ARG(buf_view(&list)));
    else
        diag_note(ds, message, d->i.opcode_span, "only the common attributes are accepted");
}

static bool find_own(const struct parser *p, const struct draft *d, enum opcode op, struct str name,
                     struct attr_target *out)
{
    const struct op_attr *a = op_attr_find(op, name);
    out->renamed = !a && !p->strict;
    if (out->renamed)
        a = form_attr_find(op, name);
    if (!a || !attribute_is_read(p, d, a) || !check_attribute_applies(d, (enum attr_id)a->id))
        return false;
    out->id = (enum attr_id)a->id;
    return true;
}

/* Finds the attribute of this name, and whether the draft or the wrapped operation has it. */
static bool find_attribute(struct parser *p, struct draft *d, struct str name, struct span span,
                           struct attr_target *out)
{
    *out = (struct attr_target){.inst = &d->i};
    if (d->inner && find_own(p, d->inner, d->wrapped, name, out)) {
        out->inst = out->id == A_OUTPUT_TO_OPERAND_ALIASING && d->wrapped != OP_CUSTOM_CALL &&
                            d->wrapped != OP_FUSION
                        ? &d->i
                        : &d->inner->i;
        return true;
    }
    bool calls = d->wrapped != OP_INVALID && str_is(name, "calls");
    if (!calls && find_own(p, d, (enum opcode)d->i.opcode, name, out))
        return true;
    out->renamed = false;
    out->id = attr_find_common(name);
    if (out->id != A_NONE)
        return true;
    struct diag *message = DIAG(p->ds, span, UNKNOWN_ATTRIBUTE, STR_ARG(d->word), STR_ARG(name));
    list_attribute_names(p, d, name, message);
    return false;
}

/* XLA deletes `"wait_on_operation_queues":[],` from the text of a backend_config (grammar/text.md
 * 2.12). */
static struct str clean_config(struct parser *p, struct str s)
{
    static const char key[] = "\"wait_on_operation_queues\"", blanks[] = " \t\n\r\f\v";
    const char *end = s.ptr + s.len, *from = s.ptr, *hit;
    SCOPED_BUF kept = {0};
    while ((hit = memmem(from, (size_t)(end - from), key, sizeof key - 1))) {
        static const char rest[] = ":[],";
        const char *q = hit + sizeof key - 1, *pattern = rest;
        for (; *pattern; pattern++) {
            while (q < end && *q && strchr(blanks, *q))
                q++;
            if (q == end || *q != *pattern)
                break;
            q++;
        }
        buf_bytes(&kept, from, (size_t)((*pattern ? hit + 1 : hit) - from));
        from = *pattern ? hit + 1 : q;
    }
    if (from == s.ptr)
        return s;
    buf_bytes(&kept, from, (size_t)(end - from));
    s = arena_str(p->arena, buf_view(&kept));
    return s;
}

static bool check_duplicate(struct parser *p, struct draft *d, struct attr_target t,
                            struct str name, struct span span)
{
    if (!draft_has(d, t.id)) {
        d->seen[t.id / 64] |= UINT64_C(1) << t.id % 64;
        return true;
    }
    struct diag *message = DIAG(p->ds, span, DUPLICATE, "attribute", STR_ARG(name));
    if (inst_has(t.inst, t.id))
        diag_note(p->ds, message, inst_attr_span(t.inst, t.id), "first given here");
    return false;
}

/* attribute = IDENT "=" value ; outside strict mode blanks may precede the `=`. If the name
 * is the specification's, a list of one number may be written as the number: `dimension=0`. */
static bool parse_attribute(struct parser *p, struct draft *d)
{
    struct span span = p->tok.span;
    struct str name = p->tok.s;
    bool loose = !p->strict && p->tok.kind == TOK_IDENT && peek(p) == TOK_EQUAL;
    struct attr_target t;
    union attr_value v;
    if (p->tok.kind != TOK_ATTR_NAME && !loose)
        return expected(p, "an attribute");
    span.end = (uint32_t)(span.begin + name.len);
    if (!find_attribute(p, d, name, span, &t) || !check_duplicate(p, d, t, name, span))
        return false;
    next(p);
    if (loose)
        next(p);
    if (t.renamed && attr_table[t.id].kind == KIND_INT_LIST && p->tok.kind == TOK_INT) {
        v.ints = (struct ints){1, ARENA_DUP(p->arena, &p->tok.i, 1)};
        next(p);
    } else if (!attr_parse_value(p, t.id, t.inst, &v)) {
        return false;
    }
    span.end = p->prev_end;
    if (t.id == A_BACKEND_CONFIG)
        v.s = clean_config(p, v.s);
    inst_set_attr(p->m, t.inst, t.id, v, span);
    if (d->inner && t.inst == &d->inner->i)
        d->inner->seen[t.id / 64] |= UINT64_C(1) << t.id % 64;
    return true;
}

/* attributes = {"," attribute} ; */
static bool parse_attributes(struct parser *p, struct draft *d)
{
    while (accept(p, TOK_COMMA))
        if (!parse_attribute(p, d))
            return false;
    return true;
}

/* ---- bodies ---- */

/* body of a parameter = "(" INT ")" ; */
static bool parse_parameter_number(struct parser *p, struct draft *d)
{
    d->open = p->tok.span;
    if (!expect(p, TOK_LPAREN, NULL))
        return false;
    if (p->tok.kind != TOK_INT)
        return expected(p, "a parameter number");
    d->i.number = p->tok.i;
    if (d->i.number < 0)
        return DIAG_ERROR(p->ds, p->tok.span, NEGATIVE_PARAMETER, (long long)d->i.number);
    next(p);
    return expect(p, TOK_RPAREN, NULL);
}

/* body of a constant = "(" literal ")" ; */
static bool parse_constant_value(struct parser *p, struct draft *d)
{
    d->open = p->tok.span;
    if (!expect(p, TOK_LPAREN, NULL) || !parse_literal(p, d->i.shape, &d->i.literal))
        return false;
    d->i.shape = d->i.literal->shape;
    return expect(p, TOK_RPAREN, "')' after the value");
}

static bool parse_body(struct parser *p, struct draft *d)
{
    if (d->i.opcode == OP_PARAMETER)
        return parse_parameter_number(p, d);
    if (d->i.opcode == OP_CONSTANT)
        return parse_constant_value(p, d);
    return parse_operands(p, d) && async_operands(p, d) && check_operand_count(p, d) &&
           check_operand_kinds(p, d);
}

/* ---- from draft to instruction ---- */

/* Lowers builder forms to core HLO; attributes that this adds count as given. */
static bool lower_draft(struct parser *p, struct draft *d)
{
    if (p->strict || p->core || d->i.sugar)
        return true;
    if (!lower_inst(p->ds, p->scope->c, &d->i, d->form))
        return false;
    for (int k = 0; k < d->i.attr_count; k++)
        d->seen[d->i.attrs[k].id / 64] |= UINT64_C(1) << d->i.attrs[k].id % 64;
    if (d->i.shape || infer_is_possible((enum opcode)d->i.opcode, false))
        return true;
    struct diag *message = DIAG(p->ds, d->i.opcode_span, SHAPE_NEEDED, STR_ARG(d->word));
    diag_note(p->ds, message, d->i.opcode_span,
              "or add %s=", attr_spelling(lower_result_attr((enum opcode)d->i.opcode)));
    return false;
}

static bool infer_omitted(struct parser *p, struct draft *d)
{
    struct infer ctx = {
        .ds = p->ds, .m = p->m, .arena = &p->m->arena, .parsing = true, .strict = p->strict};
    d->i.shape_inferred = true;
    d->i.shape = infer_result(&ctx, &d->i);
    return d->i.shape != NULL;
}

static struct inst *poison_draft(struct parser *p, struct draft *d, struct str name)
{
    return scope_poison(p, p->scope, name, d->i.name_span, d->i.shape);
}

/* The name of the instruction. XLA registers every name of the text in the uniquifier that names
 * nested instructions; only names of the form that it generates matter there. */
static struct str name_draft(struct parser *p, struct draft *d, struct str name)
{
    if (name.len == 0)
        return uniquifier_name(
            p->names, arena_printf(p->arena, "%s.anon", op_spelling((enum opcode)d->i.opcode)));
    const char *end = name.ptr + name.len, *dot = name.ptr;
    while ((dot = memchr(dot, '.', (size_t)(end - dot))) && end - dot >= 5 &&
           memcmp(dot, ".anon", 5) != 0)
        dot++;
    if (dot && end - dot >= 5)
        uniquifier_name(p->names, name);
    return name;
}

static struct inst *add_to_computation(struct parser *p, struct draft *d, struct str name)
{
    name = name_draft(p, d, name);
    struct inst *i = inst_new(p->scope->c, (enum opcode)d->i.opcode, name, d->i.shape,
                              d->i.operand_count, d->i.operands);
    i->sugar = d->i.sugar;
    i->shape_inferred = d->i.shape_inferred;
    i->attr_count = d->i.attr_count;
    i->attrs = d->i.attrs;
    i->number = d->i.number;
    if (i->opcode == OP_CONSTANT)
        i->literal = d->i.literal;
    i->span = d->i.span;
    i->name_span = d->i.name_span;
    i->shape_span = d->i.shape_span;
    i->opcode_span = d->i.opcode_span;
    if (d->nested)
        scope_add(p, p->scope, i);
    return i;
}

/* Checks a parsed draft, determines its shape and adds it to its computation. */
static struct inst *finish_draft(struct parser *p, struct draft *d, struct str name)
{
    if (d->poisoned) /* its lowering is unknown */
        return poison_draft(p, d, name);
    if (!lower_draft(p, d) || !check_required(p, d))
        return NULL;
    if (!async_finish(p, d) || !check_draft(p, d) || (!d->i.shape && !infer_omitted(p, d)))
        return NULL;
    if (d->dropped && !p->strict)
        DIAG(p->ds, ((struct span){d->dropped_at.tok.span.begin, d->dropped_end}), OPERAND_DROPPED);
    normalise_draft(p, d);
    return add_to_computation(p, d, name);
}

static bool read_draft(struct parser *p, struct draft *d)
{
    d->i.shape_span = p->tok.span;
    if (starts_shape(p)) {
        if (!parse_shape(p, &d->i.shape))
            return false;
        d->i.shape_span.end = p->prev_end;
    } else {
        d->i.shape_span.end = d->i.shape_span.begin;
    }
    return parse_opcode(p, d) && parse_body(p, d) && (d->nested || parse_attributes(p, d));
}

/* rhs = [shape] opcode body attributes ; body = operands | "(" INT ")" | "(" literal ")" ; */
struct inst *parse_rhs(struct parser *p, struct str name, struct span name_span,
                       const struct shape *before, size_t begin)
{
    size_t operands = p->state->operand_count;
    bool poisoned = p->state->poisoned;
    struct draft d = {
        .i = {.shape = before, .parent = p->scope->c, .name = name, .name_span = name_span},
        .nested = name.len == 0,
        .form = FORM_NONE,
        .wrapped = OP_INVALID};
    struct inst *i = NULL;
    p->state->poisoned = false;
    d.i.span.begin = (uint32_t)begin;
    bool ok = read_draft(p, &d);
    d.i.span.end = p->prev_end;
    d.poisoned |= p->state->poisoned;
    if (ok)
        i = finish_draft(p, &d, name);
    p->state->poisoned = poisoned;
    p->state->operand_count = operands;
    return i;
}
