/*
 * operand.c: parses operand lists.
 *
 * XLA tries a name, then a nested instruction; if both fail at a `,` or `)`, it drops the operand
 * without a message (grammar/text.md 2.4). The default mode warns; if a later check fails because
 * of the missing operand, the message refers to the operand.
 */
#include "text/parse.h"

static void push_operand(struct parser *p, struct inst *i)
{
    struct parse_state *s = p->state;
    VEC_PUSH(&s->scratch, s->operands, s->operand_count, s->operand_capacity) = i;
}

/* ---- names ---- */

/* Reports an unknown instruction name, once per name. */
static bool report_unknown(struct parser *p, struct str name, struct span span)
{
    struct diag *d = DIAG(p->ds, span, UNKNOWN_OPERAND, STR_ARG(name));
    /* The search below is slow: only for messages that are shown. */
    bool seen = p->ds->errors <= DIAG_ERROR_LIMIT;
    struct span below = seen ? find_definition(p, name) : NO_SPAN;
    if (below.begin)
        diag_note(p->ds, d, below, "defined here, after its use");
    else if (seen)
        diag_suggest(p->ds, d, scope_nearest(p->scope, name));
    scope_poison(p, p->scope, name, span, NULL);
    return false;
}

/* Text of a single instruction: creates a parameter for an unknown operand. */
static struct inst *make_parameter(struct parser *p, struct str name, struct span span,
                                   const struct shape *shape)
{
    struct computation *c = p->scope->c;
    int64_t number = 0;
    for (int k = 0; k < c->inst_count; k++)
        number += c->insts[k]->opcode == OP_PARAMETER;
    if (name.len == 0)
        name = arena_printf(p->arena, "_%" PRId64, number);
    struct inst *i = inst_new(c, OP_PARAMETER, name, shape, 0, NULL);
    i->number = number;
    i->span = i->name_span = i->shape_span = span;
    struct inst *known = scope_add(p, p->scope, i);
    return known ? known : i;
}

/* XLA's main branch: {"#" INT} after an operand, each a get-tuple-element. */
static struct inst *parse_elements(struct parser *p, struct inst *i)
{
    while (!p->strict && p->tok.kind == TOK_HASH && peek(p) == TOK_INT) {
        struct span span = p->tok.span;
        next(p);
        int64_t index = p->tok.i;
        span.end = p->tok.span.end;
        next(p);
        if (inst_is_poisoned(i))
            continue;
        if (!shape_is_tuple(i->shape) || index < 0 || index >= i->shape->count) {
            DIAG(p->ds, span, NO_ELEMENT, STR_ARG(shape_text(p->arena, i->shape)),
                 (long long)index);
            return NULL;
        }
        struct str name = arena_printf(p->arena, STR_FMT "_%" PRId64, STR_ARG(i->name), index);
        struct inst *element = scope_find(p->scope, name);
        if (!element || element->opcode != OP_GET_TUPLE_ELEMENT || element->operands[0] != i) {
            name = uniquifier_name(p->names, name);
            element =
                inst_new(p->scope->c, OP_GET_TUPLE_ELEMENT, name, i->shape->elements[index], 1, &i);
            element->span = element->name_span = element->opcode_span = span;
            inst_set_attr(p->m, element, A_INDEX, (union attr_value){.i = index}, span);
            scope_add(p, p->scope, element);
        }
        i = element;
    }
    return i;
}

static bool check_operand_shape(struct parser *p, const struct inst *i, const struct shape *shape,
                                struct span span)
{
    if (!shape || !i->shape || shape_compatible(shape, i->shape))
        return true;
    struct diag *d = DIAG(p->ds, span, OPERAND_SHAPE, STR_ARG(shape_text(p->arena, shape)),
                          STR_ARG(i->name), STR_ARG(shape_text(p->arena, i->shape)));
    diag_note(p->ds, d, i->name_span, "defined here");
    return false;
}

/* operand = [shape] name {"#" INT} ; the part after the name is an extension */
static bool parse_operand_name(struct parser *p, struct inst **out)
{
    const struct shape *shape = NULL;
    struct span shape_span = p->tok.span, span;
    if (starts_shape(p) && !parse_shape(p, &shape))
        return false;
    shape_span.end = p->prev_end;
    span = p->tok.span;
    struct str name = p->tok.s;
    bool may_make = p->scope->makes_params && shape,
         named = p->tok.kind == TOK_IDENT || p->tok.kind == TOK_NAME;
    if (named)
        next(p);
    else if (may_make)
        name = STR("");
    else
        return expected(p, "an operand");
    struct inst *i = name.len ? scope_find(p->scope, name) : NULL;
    if (!i && may_make)
        i = make_parameter(p, name, named ? span : shape_span, shape);
    if (!i && p->scope->makes_params && named)
        return DIAG_ERROR(p->ds, span, PARAMETER_SHAPE, STR_ARG(name));
    if (!i)
        return p->ds->quiet ? false : report_unknown(p, name, span);
    if (p->tok.kind == TOK_HASH && !(i = parse_elements(p, i)))
        return false;
    if (!check_operand_shape(p, i, shape, shape_span))
        return false;
    if (p->tok.kind != TOK_COMMA && p->tok.kind != TOK_RPAREN)
        return expected(p, "',' or ')' after the operand");
    *out = i;
    return true;
}

static bool try_operand_name(struct parser *p, struct inst **out)
{
    struct diag_mark mark = diags_mark(p->ds);
    bool quiet = p->ds->quiet;
    p->ds->quiet = true;
    bool ok = parse_operand_name(p, out);
    p->ds->quiet = quiet;
    diags_rollback(p->ds, mark);
    return ok;
}

/* ---- nested instructions ---- */

enum { NESTED_WEIGHT = 6 }; /* stack usage of one level, relative to one level of a shape */

/* operand = [shape] OPCODE operands ; without attributes */
static bool parse_operand_nested(struct parser *p, struct inst **out)
{
    p->depth += NESTED_WEIGHT;
    *out = enter(p) ? parse_rhs(p, STR(""), p->tok.span, NULL, p->tok.span.begin) : NULL;
    leave(p);
    p->depth -= NESTED_WEIGHT;
    return *out != NULL;
}

/* Whether the text looks like a nested instruction: an optional shape, a word and `(`. */
static bool looks_nested(struct parser *p)
{
    struct lex_state start = lex_save(p);
    struct diag_mark mark = diags_mark(p->ds);
    bool quiet = p->ds->quiet;
    const struct shape *shape;
    p->ds->quiet = true;
    bool nested = (!starts_shape(p) || parse_shape(p, &shape)) && p->tok.kind == TOK_IDENT &&
                  peek(p) == TOK_LPAREN;
    p->ds->quiet = quiet;
    diags_rollback(p->ds, mark);
    lex_restore(p, start);
    return nested;
}

/* Both attempts failed: keeps the messages of the more likely one. True if that is a name, after
 * which parsing can continue. */
static bool report_operand(struct parser *p, struct lex_state start, struct diag_mark before)
{
    struct lex_state stop = lex_save(p);
    struct inst *i;
    lex_restore(p, start);
    if (looks_nested(p)) {
        lex_restore(p, stop);
        return false;
    }
    diags_rollback(p->ds, before);
    if (parse_operand_name(p, &i)) /* it was unknown before and is poisoned now */
        expected(p, "an operand");
    if (p->tok.span.begin > start.tok.span.begin &&
        (p->tok.kind == TOK_COMMA || p->tok.kind == TOK_RPAREN))
        return true;
    lex_restore(p, stop);
    return false;
}

static void drop_operand(struct parser *p, struct draft *d, struct lex_state start,
                         struct diag_mark before)
{
    diags_rollback(p->ds, before);
    if (d->dropped)
        return;
    d->dropped = true;
    d->dropped_at = start;
    d->dropped_end = p->prev_end > start.tok.span.begin ? p->prev_end : start.tok.span.end;
}

/* Reports the problem of a dropped operand when a check fails because it is missing. */
bool report_dropped_operand(struct parser *p, struct draft *d)
{
    struct lex_state stop = lex_save(p);
    struct diag_mark before = diags_mark(p->ds);
    struct inst *i;
    lex_restore(p, d->dropped_at);
    parse_operand_nested(p, &i);
    if (p->ds->errors == before.errors)
        expected(p, "an operand");
    report_operand(p, d->dropped_at, before);
    lex_restore(p, stop);
    return false;
}

static bool parse_any_operand(struct parser *p, struct draft *d)
{
    struct lex_state start = lex_save(p);
    struct inst *i = NULL;
    bool ok = try_operand_name(p, &i);
    if (!ok) {
        struct diag_mark before = diags_mark(p->ds);
        lex_restore(p, start);
        ok = parse_operand_nested(p, &i);
        if (!ok && (p->tok.kind == TOK_COMMA || p->tok.kind == TOK_RPAREN)) {
            drop_operand(p, d, start, before);
            return true;
        }
        if (!ok) {
            d->poisoned = true;
            return report_operand(p, start, before);
        }
    }
    if (inst_is_poisoned(i))
        d->poisoned = true;
    else
        push_operand(p, i);
    return true;
}

/* Fast path: a known name directly followed by `,` or `)`; otherwise NULL, and nothing is
 * consumed. */
static struct inst *parse_plain_operand(struct parser *p)
{
    bool named = p->tok.kind == TOK_IDENT || p->tok.kind == TOK_NAME;
    if (!named || p->at == p->text.len || (p->text.ptr[p->at] != ',' && p->text.ptr[p->at] != ')'))
        return NULL;
    struct inst *i = scope_find(p->scope, p->tok.s);
    if (i)
        next(p);
    return i;
}

static bool parse_operand(struct parser *p, struct draft *d)
{
    struct inst *i = parse_plain_operand(p);
    if (i && !inst_is_poisoned(i)) {
        push_operand(p, i);
        return true;
    }
    return i ? d->poisoned = true : parse_any_operand(p, d);
}

/* operands = "(" [operand {"," operand}] ")" ; a broken operand before "," or ")" is dropped */
bool parse_operands(struct parser *p, struct draft *d)
{
    size_t base = p->state->operand_count;
    d->open = p->tok.span;
    if (!expect(p, TOK_LPAREN, "'(' after the opcode"))
        return false;
    if (p->tok.kind != TOK_RPAREN) {
        do {
            if (!parse_operand(p, d))
                return false;
        } while (accept(p, TOK_COMMA));
    }
    if (!expect(p, TOK_RPAREN, "',' or ')'"))
        return false;
    d->i.operands = p->state->operands ? p->state->operands + base : NULL;
    d->i.operand_count = (int)(p->state->operand_count - base);
    return true;
}

bool parse_inst_ref(struct parser *p, struct inst **out)
{
    if (p->tok.kind != TOK_IDENT && p->tok.kind != TOK_NAME)
        return expected(p, "the name of an instruction");
    struct inst *i = scope_find(p->scope, p->tok.s);
    if (!i)
        return report_unknown(p, p->tok.s, p->tok.span);
    if (inst_is_poisoned(i))
        p->state->poisoned = true;
    next(p);
    *out = i;
    return true;
}
