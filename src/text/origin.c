/*
 * origin.c: parses and prints original values. XLA reads them as a stream: `(` enters a level, `)`
 * leaves it, `,` advances to the next position, and a leaf is stored at the current position. So
 * leaves may overwrite each other, and positions without one are `()`.
 */
#include "text/attr_priv.h"

/* A value being parsed: a leaf, or a node with children. */
struct tree {
    struct origin leaf;
    struct tree **at;
    size_t count, capacity;
};

/* One open parenthesis; `node` is NULL until the first leaf below it. */
struct level {
    int64_t position;
    struct tree *node;
};

struct stream {
    struct tree *root;
    struct level *levels;
    size_t depth, capacity;
    bool closed_too_often;
};

/* The child of `t` at a position; creates missing ones. Makes `t` an inner node. */
static struct tree *child(struct parser *p, struct tree *t, int64_t position)
{
    t->leaf = (struct origin){0};
    while (t->count <= (size_t)position)
        VEC_PUSH(p->arena, t->at, t->count, t->capacity) = NULL;
    if (!t->at[position])
        t->at[position] = ARENA_NEW(p->arena, struct tree);
    return t->at[position];
}

static void put_leaf(struct parser *p, struct stream *s, struct origin leaf)
{
    size_t known = s->depth;
    while (known && !s->levels[known - 1].node)
        known--;
    struct tree *t =
        known ? child(p, s->levels[known - 1].node, s->levels[known - 1].position) : s->root;
    for (size_t i = known; i < s->depth; i++) {
        s->levels[i].node = t;
        t = child(p, t, s->levels[i].position);
    }
    *t = (struct tree){.leaf = leaf};
}

/* origin_leaf = "{" [STRING [index]] "}" ; */
bool parse_origin_leaf(struct parser *p, struct origin *out)
{
    *out = (struct origin){.leaf = true};
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    if (accept(p, TOK_RBRACE))
        return true;
    if (!parse_string(p, &out->name))
        return false;
    out->named = out->name.len > 0;
    if (p->tok.kind == TOK_LBRACE && !parse_index(p, &out->index))
        return false;
    return expect(p, TOK_RBRACE, NULL);
}

static bool open_level(struct parser *p, struct stream *s)
{
    if (!enter(p))
        return false;
    VEC_PUSH(p->arena, s->levels, s->depth, s->capacity) = (struct level){0};
    next(p);
    return true;
}

static bool close_level(struct parser *p, struct stream *s)
{
    if (s->depth) {
        s->depth--;
        leave(p);
    } else {
        s->closed_too_often = true;
    }
    next(p);
    return true;
}

static bool next_position(struct parser *p, struct stream *s)
{
    if (!s->depth)
        return DIAG_ERROR(p->ds, p->tok.span, BAD_ORIGIN, "',' outside of parentheses");
    s->levels[s->depth - 1].position++;
    next(p);
    return true;
}

static bool parse_leaf_here(struct parser *p, struct stream *s)
{
    struct origin leaf;
    if (s->closed_too_often)
        return DIAG_ERROR(p->ds, p->tok.span, BAD_ORIGIN, "unmatched ')'");
    if (!parse_origin_leaf(p, &leaf))
        return false;
    put_leaf(p, s, leaf);
    return true;
}

/* origin_tree = {"(" | ")" | "," | origin_leaf} ; */
static bool parse_stream(struct parser *p, struct stream *s)
{
    for (;;) {
        bool ok;
        switch (p->tok.kind) {
        case TOK_LPAREN: ok = open_level(p, s); break;
        case TOK_RPAREN: ok = close_level(p, s); break;
        case TOK_COMMA: ok = next_position(p, s); break;
        case TOK_LBRACE: ok = parse_leaf_here(p, s); break;
        case TOK_RBRACE: return true;
        default: return expected(p, "'(', ')', ',', '{' or '}'");
        }
        if (!ok)
            return false;
    }
}

/* Converts a tree to its final form. The recursion depth is that of the parentheses, which enter()
 * limits. */
static struct origin freeze(struct parser *p, const struct tree *t)
{
    if (!t || t->leaf.leaf)
        return t ? t->leaf : (struct origin){0};
    struct origin *elements = ARENA_ARRAY(p->arena, struct origin, t->count);
    for (size_t i = 0; i < t->count; i++)
        elements[i] = freeze(p, t->at[i]);
    return (struct origin){.count = (int)t->count, .elements = elements};
}

static bool parse_synthetic_call(struct parser *p, struct origin *out)
{
    *out = (struct origin){.synthetic_call = true};
    next(p);
    if (p->tok.kind != TOK_IDENT || !str_is(p->tok.s, "synthetic_call"))
        return expected(p, "'synthetic_call'");
    next(p);
    return expect(p, TOK_RSQUARE, NULL);
}

/* origin = "{" ("[" "synthetic_call" "]" | origin_tree) "}" ; */
bool parse_origin_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct origin *o = ARENA_NEW(p->arena, struct origin);
    out->origin = o;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    if (p->tok.kind == TOK_LSQUARE)
        return parse_synthetic_call(p, o) && expect(p, TOK_RBRACE, NULL);
    struct stream s = {.root = ARENA_NEW(p->arena, struct tree)};
    bool ok = parse_stream(p, &s);
    p->depth -= (int)s.depth;
    if (!ok)
        return false;
    *o = freeze(p, s.root);
    return expect(p, TOK_RBRACE, NULL);
}

void print_origin_leaf(struct buf *out, const struct origin *o)
{
    buf_putc(out, '{');
    if (o->named) {
        print_unescaped(out, o->name);
        if (o->index.count) {
            buf_putc(out, ' ');
            print_ints_braced(out, o->index);
        }
    }
    buf_putc(out, '}');
}

static void print_tree(struct buf *out, const struct origin *o)
{
    if (o->leaf) {
        print_origin_leaf(out, o);
        return;
    }
    for (int i = 0; BUF_LIST(out, i, o->count, "()", ", "); i++)
        print_tree(out, &o->elements[i]);
}

void print_origin_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_putc(out, '{');
    if (v.origin->synthetic_call)
        buf_puts(out, "[synthetic_call]");
    else
        print_tree(out, v.origin);
    buf_putc(out, '}');
}
