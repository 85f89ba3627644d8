/*
 * repl/expression: expressions of the prompt, such as `2 * x[0] + 1` or `reduce(x, 0),
 * to_apply=add`, and their translation to HLO.
 *
 * An expression is parsed to nodes (expression_parse.c), which are translated to the text of one
 * instruction (expression.c): operators become operations, and what HLO text requires but is not
 * written is added. Operations with attributes become instructions of their own.
 */
#ifndef HLO_REPL_EXPRESSION_H
#define HLO_REPL_EXPRESSION_H

#include "repl/session.h"

struct parts {
    struct text_part *at;
    size_t count, capacity;
};

enum node_kind {
    NODE_NAME,
    NODE_HLO,      /* parameter(0), constant(1): taken as it is */
    NODE_LITERAL,  /* 2.5, {1, 2}, f32[2] {1, 2} */
    NODE_OPERATOR, /* x + y, -x */
    NODE_CALL,     /* op(x, y, attribute=1), f(x) */
    NODE_INDEX     /* x[0, 1:3] */
};
struct node {
    enum node_kind kind;
    struct str text;       /* as typed */
    struct str shape;      /* the shape in front; may be empty */
    struct str word;       /* name, operator, operation; of a literal its values */
    const char *op;        /* of an operator: its operation; of (x, y): tuple */
    struct str attributes; /* of a call: from the first comma on; of an index: its brackets */
    struct node **operands;
    size_t count, capacity;
    int depth;
    /* Set by the translation: */
    struct parts call, tail; /* the instruction without attributes, and these */
    const char *inferred;    /* its shape; NULL: not yet known */
};

struct expression {
    struct str text;
    struct arena *arena;
    bool (*known)(void *context, struct str name); /* whether it is a name of the session */
    void *context;
    struct node *root; /* NULL: the text is no expression */
    bool operators;    /* it cannot be HLO, which has no operators, and a comma after operands */
    const char *problem;
    size_t problem_at;
};
/* Parses the right side of an instruction. */
void expression_parse(struct expression *x);
bool expression_compares(const struct node *n); /* ==, < ... */

/* ---- expression_type.c: shapes and types ---- */

enum { RANKS = 16 };
struct array_shape {
    struct str dtype; /* empty: no array, or unknown */
    size_t rank;
    int64_t dims[RANKS];
};
struct translation {
    struct session *s;
    struct state *next;       /* gets the additional instructions and computations */
    struct source_text *from; /* what was typed */
    struct str name;          /* of the instruction; may be empty */
    struct arena *arena;
    bool changed; /* the translation differs from the text */
    hlo_messages *m;
};

bool expression_op(struct str word); /* whether it is the name of an operation */
/* The operation of this name or builder form; hlo_op_count() or {0}: none. */
size_t expression_op_number(struct str word);
struct hlo_op expression_op_named(struct str word);
/* What computes the same as a function of NumPy that is not an operation; "": unknown. A method,
 * x.sum, is such a function of its object. */
const char *expression_instead(struct str word);
bool expression_is_computation(const struct translation *t, struct str word);
struct array_shape expression_read_shape(struct str text);
/* The shape of a translated node as text; empty: it is not well-formed. The first uses its name,
 * if it has one. */
const char *expression_shape(struct translation *t, struct node *n);
const char *expression_infer(struct translation *t, const struct node *n);
/* Whether it has the type that its context needs: a literal without shape, or an expression of
 * such. */
bool expression_untyped(const struct node *n);
/* The type of an untyped node without context: f32 if there is a fraction, pred for true. */
struct str expression_default_type(const struct node *n);
struct str expression_type(struct translation *t, struct node *n); /* of a translated node */
/* The type of an untyped node as operand K of N; WANTED if nothing determines it. */
struct str expression_literal_type(struct translation *t, const struct node *n, size_t k,
                                   struct str wanted);

/* ---- expression.c: translation ---- */

/* Makes a translated node an entry with a new name. */
struct entry *expression_make_entry(struct translation *t, const struct node *n, struct str *name);

enum translated { TRANSLATED, TRANSLATED_NOTHING /* the text is HLO as it is */, TRANSLATED_BADLY };
/* Translates the right side of instruction NAME, which may be empty, a slice of FROM, to OUT. MUST:
 * other text than an expression is rejected. The
 * computations and instructions that it needs are added to NEXT, a copy of the state.
 * TRANSLATED_BADLY: with messages. */
enum translated expression_translate(struct session *s, struct state *next,
                                     struct source_text *from, struct str text, struct str name,
                                     bool must, struct arena *a, struct parts *out,
                                     hlo_messages *m);

#endif
