/*
 * Private to text/: the lexer, the state of the parser, and interfaces of the files.
 *
 * Parsing
 *   split.c          the modules of a file
 *   lex.c            tokens
 *   token.c          tokens for the prompt
 *   parse.c          module, computations, instructions (parse.h)
 *   shape.c          shapes and layouts
 *   literal.c        literals
 *   build.c          modules built instruction by instruction, each from its text
 * Printing
 *   print.c          modules, computations, instructions
 *   literal_print.c  literals
 *   comments.c       the comments of the text that a module was parsed from
 *   frames.c         stack frame tables: parsing and renumbering
 * Both directions: attribute values, see attr_priv.h
 */
#ifndef HLO_TEXT_PRIV_H
#define HLO_TEXT_PRIV_H

#include "text/text.h"
#include "text/token.h"

/* ---- lex.c ---- */

struct token {
    enum token_kind kind;
    struct span span;
    struct str s; /* spelling; names without % : = */
    int64_t i;
    double d;
    enum dtype dtype;
};

struct parser {
    struct diags *ds;
    struct module *m;    /* under construction; NULL for a shape or literal outside a module */
    struct arena *arena; /* storage of values: that of the module */
    struct str text;
    bool strict;
    bool core;               /* of struct parse_options */
    size_t at;               /* first byte after the current token */
    struct token tok;        /* the current token */
    uint32_t prev_end;       /* end of the previous token */
    int depth;               /* of nesting, see enter() */
    bool too_deep;           /* the nesting limit was exceeded: parsing stops */
    struct scope *scope;     /* scope of the current computation (parse.c) */
    struct map computations; /* by name as written */
    struct uniquifier *names;
    struct parse_state *state;  /* of the parser proper (parse.h) */
    struct shape_cache *shapes; /* shapes by spelling (shape.c) */
    bool has_frame_ids;         /* some metadata refers to a stack frame */
    struct literal **loose;     /* literals that no module owns */
    size_t loose_count, loose_capacity;
    bool bare_literals; /* `f32[2]{1,2}` is a value: `{...}` is a layout only if a value follows */
};

/* Initializes a parser for `text`, and reads its first token. */
void lex_start(struct parser *p, struct diags *ds, struct str text, struct arena *arena,
               bool strict);
void next(struct parser *p); /* advances to the next token */
/* The same with TOK_DXD, TOK_PAD, ... masked (patterns 2 to 5 of grammar/text.md 1.4). */
void next_in_int_list(struct parser *p);
enum token_kind peek(const struct parser *p); /* kind of the token after the current one */
struct lex_state {
    size_t at;
    struct token tok;
    uint32_t prev_end;
};
/* Saves and restores the position of the lexer, to backtrack. */
struct lex_state lex_save(const struct parser *p);
void lex_restore(struct parser *p, struct lex_state s);
/* Ends the current token at byte `at`, and advances to the next. */
void lex_jump(struct parser *p, size_t at);
/* The end of a prefix written by a logger at the start of a line, as in `I0000 00:00:17.123 12345
 * file.cc:123] ` and `2024-01-01 12:00:00.123: I xla/file.cc:12] `; NULL if none. */
const char *lex_log_prefix_end(const char *s, const char *end);
/* The end of the comment that begins at `s`, before the line break of one to the end of its line;
 * NULL: not a comment, or unterminated. */
const char *lex_comment_end(const char *s, const char *end);
bool accept(struct parser *p, enum token_kind kind); /* consumes the token if it has this kind */
/* Consumes a token of this kind, or reports "expected WHAT, got ..."; `what` NULL: the name of
 * the kind. */
bool expect(struct parser *p, enum token_kind kind, const char *what);
/* Reports that `what` was expected at the current token; returns false. At the end of the text, or
 * at an error token (unterminated string, stray byte), reports that instead. */
bool expected(struct parser *p, const char *what);
/* Unescapes the current string token into the arena. */
bool lex_string(struct parser *p, struct str *out);
/* Consumes the raw text from the current `{` to its `}` (grammar/text.md 1.6). */
bool lex_dict(struct parser *p, struct str *out);
/* Whether `s` is one such dictionary, apart from separators. */
bool lex_is_dict(struct str s);
/* Nesting limit: every recursive production calls enter() and, whether it succeeds or not,
 * leave(). */
bool enter(struct parser *p);
static inline void leave(struct parser *p) { p->depth--; }
enum { NESTING_LIMIT = 8192 };

/* ---- lists (attr.c) ---- */

/* Parses a comma-separated list in brackets: after `struct list l = {TOK_LBRACE, TOK_RBRACE}` and
 * `while (list_more(p, &l) && PARSE(&one)) VEC_PUSH(p->arena, at, l.count, l.capacity) = one;`,
 * `l.ok` is whether the list was well-formed. */
struct list {
    enum token_kind open, close;
    bool trailing; /* a comma may follow the last element; otherwise not in strict mode */
    bool started, ok;
    size_t count, capacity;
};
bool list_more(struct parser *p, struct list *l);

/* ---- simple values; false with a diagnostic ---- */

bool parse_int(struct parser *p, int64_t *out);
bool parse_int32(struct parser *p, int32_t *out);
bool parse_bool(struct parser *p, bool *out);
bool parse_number(struct parser *p, double *out); /* int, decimal, inf, -inf */
bool parse_string(struct parser *p, struct str *out);
bool parse_int_list(struct parser *p, struct ints *out); /* {1,2} */
bool parse_index(struct parser *p, struct ints *out);    /* {1,2,}: a trailing comma is allowed */
bool parse_frontend_attributes(struct parser *p, struct frontend_attributes *out);
bool parse_metadata(struct parser *p, struct metadata *out);
bool parse_origin_leaf(struct parser *p, struct origin *out);
bool parse_aliasing(struct parser *p, struct aliasing *out, bool module_level);

/* ---- shape.c, literal.c, parse.c ---- */

struct shape_cache *shape_cache_new(struct arena *a);
/* Whether the current token can begin a shape. */
bool starts_shape(const struct parser *p);
bool parse_shape(struct parser *p, const struct shape **out);
/* Parses the literal of a constant of this shape, written without its shape. The shape of the
 * result may differ from it (grammar/text.md 2.6). */
bool parse_literal(struct parser *p, const struct shape *shape, struct literal **out);
/* Parses a literal after its shape, `f32[2] {1, 2}`, or a tuple of such. */
bool parse_literal_with_shape(struct parser *p, struct literal **out);
/* Parses the name of a finished computation, or a nested `{...}`. */
bool parse_computation_ref(struct parser *p, struct computation **out);
/* Parses the name of an instruction of the current scope. */
bool parse_inst_ref(struct parser *p, struct inst **out);

/* ---- attr.c: attribute values ---- */

/* Parses the value after `name=` (that token is consumed). The instruction under construction has
 * its opcode, its shape, if known, and its operands. */
bool attr_parse_value(struct parser *p, enum attr_id id, const struct inst *i,
                      union attr_value *out);
/* Prints the value without `name=`. */
void attr_print_value(struct buf *out, enum attr_id id, const struct inst *i, union attr_value v,
                      const struct print_options *options);
/* Whether the attribute is printed: defaults are omitted. */
bool attr_is_printed(const struct inst *i, const struct attr *a,
                     const struct print_options *options);

/* ---- sharding.c ---- */

bool parse_sharding(struct parser *p, struct sharding **out); /* one or a tuple, canonical */

/* ---- comments.c ---- */

struct comment {
    struct str text;
    uint32_t anchor; /* where the item begins that it is attached to, or COMMENTS_AT_... */
    bool trailing;   /* on the line where the item ends; otherwise above the item */
    bool after_blank_line, printed;
};
enum { COMMENTS_AT_BEGIN = 0 };
#define COMMENTS_AT_END (UINT32_MAX - 1)

struct comments { /* in the order of the text, which is also that of `anchor` */
    struct comment *at;
    int count;
    size_t capacity;
};
struct comments comments_of(struct arena *a, const struct module *m);
/* Prints the comments above the item that begins at `anchor`, one per line, each once. */
void comments_print_before(struct buf *out, struct comments *c, uint32_t anchor,
                           const char *indent);
/* Prints those at the end of the item's last line. */
void comments_print_after(struct buf *out, struct comments *c, uint32_t anchor);

#endif
