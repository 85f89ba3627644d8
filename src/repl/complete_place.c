/*
 * repl/complete_place: the syntactic position of the cursor, by brackets and words.
 */
#include "repl/complete_priv.h"

#include "repl/expression.h"

enum { DEEPEST = 64 };

struct level {    /* text inside a pair of brackets, or all of it */
    char bracket; /* opening bracket; 0: none */
    enum complete_place_kind kind;
    size_t op; /* op whose operands or attributes these are */
    struct str attribute;
    const char *given; /* start of the text after the operands */
};

struct walk {
    struct level levels[DEEPEST];
    size_t depth;
    struct str word; /* the last token if it is a word; otherwise empty */
    bool comma;      /* the last token is a comma */
    struct arena *arena;
    struct complete_place *out;
};

bool complete_name_char(char c)
{
    return char_is_letter(c) || char_is_digit(c) || c == '.' || c == '-' ||
           (unsigned char)c >= 0x80;
}

bool complete_has_attribute(struct str given, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i + length < given.len; i++)
        if (memcmp(given.ptr + i, name, length) == 0 && given.ptr[i + length] == '=' &&
            (i == 0 || !complete_name_char(given.ptr[i - 1])))
            return true;
    return false;
}

static struct level *top(struct walk *w) { return &w->levels[w->depth]; }

/* Whether an instruction can start here: in a body, or in the text itself. */
static bool holds_instructions(const struct level *l)
{
    return l->bracket == 0 || l->bracket == 'B';
}

static void start_instruction(struct level *l)
{
    char bracket = l->bracket;
    *l = (struct level){.bracket = bracket, .kind = PLACE_START, .op = hlo_op_count()};
}

/* GROUP: a `(` may begin an operand. */
static void open_bracket(struct walk *w, char c, bool group)
{
    struct level *outer = top(w),
                 inner = {.bracket = c, .kind = PLACE_NOWHERE, .op = hlo_op_count()};
    if (w->depth + 1 == DEEPEST)
        return;
    if (c == '(') {
        size_t op = expression_op_number(w->word);
        if (op < hlo_op_count()) {
            inner.kind = PLACE_OPERAND;
            inner.op = op;
        } else if (group) {
            inner.kind = PLACE_OPERAND;
        }
    } else if (c == '{' && outer->kind == PLACE_VALUE) {
        inner.kind = PLACE_VALUE;
        inner.op = outer->op;
        inner.attribute = outer->attribute;
    } else if (c == '{' && outer->kind == PLACE_START && holds_instructions(outer)) {
        inner.bracket = 'B'; /* a body */
        inner.kind = PLACE_START;
    }
    w->levels[++w->depth] = inner;
}

static void close_bracket(struct walk *w, const char *after)
{
    if (w->depth == 0)
        return;
    struct level inner = *top(w);
    w->depth--;
    struct level *l = top(w);
    if (inner.bracket == '(' && inner.op < hlo_op_count() && holds_instructions(l)) {
        l->kind = PLACE_NOWHERE; /* until the next comma */
        l->op = inner.op;
        l->given = after;
    } else if (inner.bracket == 'B')
        start_instruction(l);
    else if (inner.bracket == '{' && l->kind == PLACE_VALUE)
        l->kind = PLACE_NOWHERE;
    else if (l->kind == PLACE_RIGHT)
        l->kind = PLACE_OP; /* the type is complete */
}

/* Handles `name=`. */
static void take_name(struct walk *w, struct str name)
{
    struct level *l = top(w);
    struct complete_place *p = w->out;
    if (l->given) {
        l->kind = PLACE_VALUE;
        l->attribute = name;
    } else if (l->kind == PLACE_START) {
        VEC_PUSH(w->arena, p->locals, p->local_count, p->local_capacity) = name;
        l->kind = PLACE_RIGHT;
    }
}

/* Whether an operand of an expression follows, in an instruction or in parentheses. */
static bool is_operator(const struct level *l, struct text_token t)
{
    return (l->bracket == 0 || l->bracket == '(') && t.s.len == 1 &&
           strchr("+-*/%<>&|^~", *t.s.ptr);
}

static void take_token(struct walk *w, struct str text, struct text_token t)
{
    struct level *l = top(w);
    const bool expression = l->bracket == 0 && l->kind != PLACE_NOWHERE && !l->given;
    if (t.kind == TOK_LPAREN || t.kind == TOK_LBRACE || t.kind == TOK_LSQUARE)
        open_bracket(w, *t.s.ptr, expression && w->word.len == 0);
    else if (is_operator(l, t))
        l->kind = PLACE_OPERAND;
    else if (t.kind == TOK_RPAREN || t.kind == TOK_RBRACE || t.kind == TOK_RSQUARE)
        close_bracket(w, text.ptr + t.end);
    else if (t.kind == TOK_ATTR_NAME || t.kind == TOK_EQUAL)
        take_name(w, t.kind == TOK_EQUAL ? w->word : t.s);
    else if (t.kind == TOK_COMMA && l->given)
        l->kind = PLACE_ATTRIBUTE;
    else if (t.kind == TOK_ERROR && *t.s.ptr == ';' && holds_instructions(l))
        start_instruction(l);
    else if (syntax_is_word(t) && l->kind == PLACE_RIGHT && t.end < text.len &&
             char_is_blank(text.ptr[t.end]))
        l->kind = PLACE_OP; /* a type without dimensions: token[] is one with them */
    w->word = syntax_is_word(t) && t.kind != TOK_ATTR_NAME ? t.s : STR("");
    w->comma = t.kind == TOK_COMMA;
}

struct complete_place complete_place(struct str text, struct arena *a)
{
    struct complete_place out = {.kind = PLACE_NOWHERE, .op = hlo_op_count()};
    struct walk w = {.arena = a, .out = &out};
    struct text_nesting n = {0};
    while (n.at < text.len) {
        n.depth = 0; /* ignore unmatched closing brackets */
        text_nest(text, &n);
    }
    if (n.within)
        return out;
    start_instruction(top(&w));
    for (size_t at = 0; at < text.len;) {
        struct text_token t = text_token_at(text, at);
        if (memchr(text.ptr + at, '\n', t.begin - at) && holds_instructions(top(&w)) && !w.comma)
            start_instruction(top(&w));
        if (t.kind != TOK_EOF)
            take_token(&w, text, t);
        at = t.end;
    }
    const struct level *l = top(&w);
    out.kind = l->kind;
    out.op = l->op;
    out.attribute = l->attribute;
    if (l->given)
        out.given = (struct str){l->given, (size_t)(text.ptr + text.len - l->given)};
    for (size_t i = 0; i <= w.depth; i++)
        out.inside |= w.levels[i].bracket == 'B';
    return out;
}
