/*
 * repl/expression_parse: parses expressions. Operators have the precedence of Python.
 */
#include "repl/expression.h"

enum { DEEPEST = 200 };

struct infix {
    const char *spelling, *op;
    int level;
};
/* Longer spellings precede their prefixes. */
static const struct infix operators[] = {
    {"==", "eq", 1},      {"!=", "ne", 1},    {"<=", "le", 1},      {">=", "ge", 1},
    {"<", "lt", 1},       {">", "gt", 1},     {"|", "or", 2},       {"^", "xor", 3},
    {"&", "and", 4},      {"+", "add", 5},    {"-", "subtract", 5}, {"**", "power", 8},
    {"*", "multiply", 6}, {"/", "divide", 6}, {"%", "remainder", 6}};
enum { COMPARISON = 1, SIGN = 7, POWER = 8 };

struct reader {
    struct expression *x;
    size_t at;
    int depth;
};

bool expression_compares(const struct node *n)
{
    for (size_t i = 0; i < COUNT_OF(operators) && n->kind == NODE_OPERATOR; i++)
        if (n->op == operators[i].op)
            return operators[i].level == COMPARISON;
    return false;
}

/* ---- characters ---- */

static char next_char(struct reader *r)
{
    r->at = syntax_skip(r->x->text, r->at);
    return r->at < r->x->text.len ? r->x->text.ptr[r->at] : '\0';
}

static bool accept(struct reader *r, char c)
{
    const bool is = next_char(r) == c;
    r->at += is;
    return is;
}

static struct str slice_of(const struct reader *r, size_t begin, size_t end)
{
    return (struct str){r->x->text.ptr + begin, end - begin};
}

static struct node *fail(struct reader *r, size_t at, const char *problem)
{
    if (!r->x->problem) {
        r->x->problem = problem;
        r->x->problem_at = at;
    }
    return NULL;
}

static struct node *node_new(struct reader *r, enum node_kind kind, size_t begin, struct str word)
{
    struct node *n = ARENA_NEW(r->x->arena, struct node);
    *n = (struct node){.kind = kind, .word = word, .text = slice_of(r, begin, r->at)};
    return n;
}

static struct node *fail_depth(struct reader *r)
{
    r->x->operators = true; /* HLO is not nested as deeply either */
    return fail(r, r->at, "expression nested too deeply");
}

static bool add_operand(struct reader *r, struct node *n, struct node *operand)
{
    if (!operand)
        return false;
    VEC_PUSH(r->x->arena, n->operands, n->count, n->capacity) = operand;
    n->depth = operand->depth >= n->depth ? operand->depth + 1 : n->depth;
    return n->depth < DEEPEST || fail_depth(r);
}

/* ---- operands ---- */

static struct node *read_level(struct reader *r, int level);

/* The end of the values of a literal at `at`; `at` if it is no literal. */
static size_t values_end(const struct reader *r, size_t at)
{
    const struct str s = r->x->text;
    if (at < s.len && (s.ptr[at] == '{' || s.ptr[at] == '[')) {
        const size_t end = text_group_end(s, at);
        return end == NOWHERE ? at : end;
    }
    const size_t digits = at + (at < s.len && s.ptr[at] == '-');
    const struct text_token t = text_token_at(s, digits);
    const bool number = t.kind == TOK_INT || t.kind == TOK_DECIMAL || t.kind == TOK_INF ||
                        t.kind == TOK_TRUE || t.kind == TOK_FALSE;
    return number && t.begin == digits && *t.s.ptr != '-' ? t.end : at;
}

/* A name of HLO may contain `-`. If it is unknown, it ends at a `-` after a known one. */
static struct str word_of(const struct reader *r, struct str word)
{
    if (r->x->known(r->x->context, word))
        return word;
    for (size_t n = word.len; n-- > 1;)
        if (word.ptr[n] == '-' && r->x->known(r->x->context, (struct str){word.ptr, n}))
            return (struct str){word.ptr, n};
    return word;
}

/* Reads `, attribute=value ...` up to the end of the brackets or of the text. */
static bool read_attributes(struct reader *r, struct str *out)
{
    const size_t begin = r->at;
    struct str name;
    for (size_t end; syntax_attribute(r->x->text, r->at, &name, &end);)
        r->at = end;
    *out = slice_of(r, begin, r->at);
    return r->at > begin;
}

static bool at_attribute(const struct reader *r)
{
    struct str name;
    size_t end;
    return syntax_attribute(r->x->text, r->at, &name, &end);
}

/* The operands after the opening parenthesis. */
static struct node *read_operands(struct reader *r, struct node *n)
{
    while (next_char(r) != ')') {
        if (!add_operand(r, n, read_level(r, 0)))
            return NULL;
        if (next_char(r) == ',' && at_attribute(r) && read_attributes(r, &n->attributes))
            break;
        if (next_char(r) != ')' && !accept(r, ','))
            return fail(r, r->at, "expected an operator, ',' or ')'");
    }
    if (!accept(r, ')'))
        return fail(r, r->at, "expected ')'");
    return n;
}

static struct node *read_word(struct reader *r, size_t begin)
{
    const struct text_token t = text_token_at(r->x->text, r->at);
    if (t.begin != r->at || !syntax_is_word(t))
        return fail(r, r->at, "expected an operand");
    const struct str word = word_of(r, t.s);
    r->at = (size_t)(word.ptr - r->x->text.ptr) + word.len;
    struct node *n = node_new(r, NODE_NAME, begin, word);
    if (next_char(r) != '(') {
        r->at = begin + n->text.len;
        return n;
    }
    if (str_is(word, "constant") || str_is(word, "parameter")) {
        n->kind = NODE_HLO;
        const size_t end = text_group_end(r->x->text, r->at);
        r->at = end == NOWHERE ? r->at : end;
    } else {
        n->kind = NODE_CALL;
        r->at++;
        n = read_operands(r, n);
    }
    if (n)
        n->text = slice_of(r, begin, r->at);
    return n;
}

static struct node *read_literal(struct reader *r, size_t begin, size_t values, size_t end)
{
    r->at = end;
    return node_new(r, NODE_LITERAL, begin, slice_of(r, values, end));
}

/* A literal, a name or a call after its shape. The braces of f32[2]{1, 2} are values unless a value
 * or a word follows. */
static struct node *read_typed(struct reader *r, size_t shape_end)
{
    const struct str s = r->x->text;
    const size_t begin = r->at, next = syntax_skip(s, shape_end);
    const size_t end = values_end(r, next), brackets = text_token_at(s, begin).end;
    struct node *n;
    size_t stop = shape_end;
    if (end > next) {
        n = read_literal(r, begin, next, end);
    } else if (next < s.len && syntax_is_word(text_token_at(s, next))) {
        r->at = next;
        n = read_word(r, begin);
    } else {
        stop = text_group_end(s, brackets);
        n = stop < shape_end ? read_literal(r, begin, stop, shape_end)
                             : fail(r, next, "expected a value or an operation after the shape");
    }
    if (n)
        n->shape = slice_of(r, begin, stop);
    return n;
}

/* (x, y) after the first comma: tuple(x, y). */
static struct node *read_tuple(struct reader *r, size_t begin, struct node *first)
{
    struct node *n = node_new(r, NODE_CALL, begin, STR("tuple"));
    n->op = "tuple";
    r->x->operators = true;
    if (!add_operand(r, n, first) || !read_operands(r, n))
        return NULL;
    n->text = slice_of(r, begin, r->at);
    return n;
}

static struct node *read_group(struct reader *r)
{
    const size_t begin = r->at++;
    struct node *n = read_level(r, 0);
    if (n && accept(r, ','))
        return read_tuple(r, begin, n);
    if (n && !accept(r, ')'))
        return fail(r, r->at, "expected an operator or ')'");
    if (n)
        n->text = slice_of(r, begin, r->at);
    return n;
}

static struct node *read_indices(struct reader *r, struct node *n)
{
    while (n && r->at < r->x->text.len && r->x->text.ptr[r->at] == '[') {
        const size_t open = r->at, end = text_group_end(r->x->text, open);
        if (end == NOWHERE)
            return fail(r, open, "unterminated index");
        r->at = end;
        struct node *index =
            node_new(r, NODE_INDEX, (size_t)(n->text.ptr - r->x->text.ptr), STR(""));
        index->attributes = slice_of(r, open, end);
        n = add_operand(r, index, n) ? index : NULL;
    }
    return n;
}

static struct node *read_sign(struct reader *r, const char *op)
{
    const size_t begin = r->at++;
    const struct str word = slice_of(r, begin, r->at);
    r->x->operators = true;
    struct node *operand = read_level(r, SIGN), *n = node_new(r, NODE_OPERATOR, begin, word);
    n->op = op;
    return add_operand(r, n, operand) ? n : NULL;
}

/* -3 ** 2 is -(3 ** 2). */
static bool is_power_at(const struct reader *r, size_t at)
{
    const struct str s = r->x->text;
    at = syntax_skip(s, at);
    return str_starts((struct str){s.ptr + at, s.len - at}, STR("**"));
}

/* The end of a shape; that of a tuple is followed by an operation. */
static size_t shape_at(const struct reader *r)
{
    const struct str s = r->x->text;
    const size_t end = syntax_shape_end(s, r->at);
    const struct text_token word = text_token_at(s, end);
    const bool called = syntax_is_word(word) && text_token_at(s, word.end).kind == TOK_LPAREN;
    return end > r->at && s.ptr[r->at] == '(' && !called ? r->at : end;
}

static struct node *read_operand(struct reader *r)
{
    const char c = next_char(r);
    const size_t end = values_end(r, r->at), shape = shape_at(r);
    if (end > r->at && !(c == '-' && is_power_at(r, end)))
        return read_literal(r, r->at, r->at, end);
    if (c == '-' || c == '~')
        return read_sign(r, c == '-' ? "negate" : "not");
    if (shape > r->at)
        return read_typed(r, shape);
    if (c == '(')
        return read_indices(r, read_group(r));
    return read_indices(r, read_word(r, r->at));
}

/* ---- operators ---- */

static const struct infix *operator_at(struct reader *r)
{
    const char c = next_char(r);
    const struct str rest = {r->x->text.ptr + r->at, r->x->text.len - r->at};
    for (size_t i = 0; i < COUNT_OF(operators) && c; i++)
        if (str_starts(rest, str_of(operators[i].spelling)))
            return &operators[i];
    return NULL;
}

static struct node *read_operators(struct reader *r, int level)
{
    const size_t begin = (next_char(r), r->at);
    struct node *left = read_operand(r);
    const struct infix *o;
    while (left && (o = operator_at(r)) && o->level >= level) {
        const struct str word = slice_of(r, r->at, r->at + strlen(o->spelling));
        r->x->operators = true;
        r->at += word.len;
        struct node *right = read_level(r, o->level == POWER ? SIGN : o->level + 1);
        struct node *n = node_new(r, NODE_OPERATOR, begin, word);
        n->op = o->op;
        left = add_operand(r, n, left) && add_operand(r, n, right) ? n : NULL;
    }
    return left;
}

static struct node *read_level(struct reader *r, int level)
{
    if (r->depth == DEEPEST)
        return fail_depth(r);
    r->depth++;
    struct node *n = read_operators(r, level);
    r->depth--;
    return n;
}

/* Whether it can only be an operand: neither any word nor a form of a value that only literals
 * have. */
static bool is_certain(const struct expression *x, const struct node *n)
{
    return n->kind == NODE_NAME ? x->known(x->context, n->word) && !expression_op(n->word)
                                : n->kind != NODE_LITERAL || n->shape.len == 0;
}

void expression_parse(struct expression *x)
{
    struct reader r = {.x = x};
    x->problem = NULL;
    struct node *n = read_level(&r, 0);
    if (n && next_char(&r) == ',' && n->attributes.len == 0 && n->kind != NODE_INDEX)
        read_attributes(&r, &n->attributes);
    if (n && next_char(&r)) {
        x->operators |= next_char(&r) != ',' && is_certain(x, n);
        n = fail(&r, r.at, "expected an operator");
    }
    x->root = n;
}
