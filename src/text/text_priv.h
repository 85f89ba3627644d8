/*
 * Private to text/: the lexer, the parser's state, and what its files share.
 *
 * Reading
 *   split.c          the modules of a file
 *   lex.c            tokens
 *   token.c          tokens for the prompt, which has no parser
 *   parse.c          module, computations, instructions: parse.h has its companions
 *   shape.c          shapes and layouts
 *   literal.c        literals
 *   build.c          modules made instruction by instruction, each from its text
 * Writing
 *   print.c          modules, computations, instructions
 *   literal_print.c  literals
 *   frames.c         stack frame tables, read as well; frames are renumbered
 * Both: the values of attributes, see attr_priv.h
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
    struct module *m;    /* being made; NULL for a lone shape or literal */
    struct arena *arena; /* where values go: the module's */
    struct str text;
    bool strict;
    size_t at;               /* first byte after the current token */
    struct token tok;        /* the current token */
    uint32_t prev_end;       /* end of the token before it */
    int depth;               /* of nesting, see enter() */
    bool too_deep;           /* nesting went past the limit: nothing more is read */
    struct scope *scope;     /* instruction names of the computation being read (parse.c) */
    struct map computations; /* by name as written */
    struct uniquifier *names;
    struct parse_state *state;  /* of the parser proper (parse.h) */
    struct shape_cache *shapes; /* shapes by their spelling (shape.c) */
    bool has_frame_ids;         /* some metadata names a stack frame */
    struct literal **loose;     /* literals made without a module to own them */
    size_t loose_count, loose_capacity;
    bool bare_literals; /* `f32[2]{1,2}` is a value: `{...}` is a layout only if a value follows it
                         */
};

void lex_start(struct parser *p, struct diags *ds, struct str text, struct arena *arena,
               bool strict);
void next(struct parser *p);             /* to the next token */
void next_in_int_list(struct parser *p); /* the same with TOK_DXD, TOK_PAD, ... masked (patterns 2
                                            to 5 of grammar/text.md 1.4) */
enum token_kind peek(const struct parser *p); /* kind of the token after the current one */
struct lex_state {
    size_t at;
    struct token tok;
    uint32_t prev_end;
};
struct lex_state lex_save(const struct parser *p);
void lex_restore(struct parser *p, struct lex_state s);
void lex_jump(struct parser *p,
              size_t at); /* takes the current token to end at byte `at`, and goes to the next */
bool accept(struct parser *p, enum token_kind kind); /* consumes it if it is there */
/* Consumes a token of this kind, or reports "expected WHAT, found ..."; `what` NULL: the name of
 * the kind. */
bool expect(struct parser *p, enum token_kind kind, const char *what);
/* Reports that `what` was expected at the current token; false. At the end of the text, or at an
 * error token (unterminated string, stray byte), it says that instead. */
bool expected(struct parser *p, const char *what);
/* Unescaped value of the current string token, in the arena. */
bool lex_string(struct parser *p, struct str *out);
/* Consumes the raw text from the current `{` to its `}` (grammar/text.md 1.6). */
bool lex_dict(struct parser *p, struct str *out);
/* Whether `s` is one such dictionary and nothing else but separators. */
bool lex_is_dict(struct str s);
/* Nesting guard: every recursive production calls enter() and, whether it succeeds or not, leave().
 */
bool enter(struct parser *p);
static inline void leave(struct parser *p) { p->depth--; }
enum { NESTING_LIMIT = 8192 };

/* ---- simple values, shared (attr.c) ---- */

bool parse_int(struct parser *p, int64_t *out);
bool parse_int32(struct parser *p, int32_t *out);
bool parse_bool(struct parser *p, bool *out);
bool parse_number(struct parser *p, double *out); /* int, decimal, inf, -inf */
bool parse_string(struct parser *p, struct str *out);
bool parse_int_list(struct parser *p, struct ints *out); /* {1,2} */
bool parse_index(struct parser *p, struct ints *out);    /* {1,2,}: trailing comma allowed */
bool parse_frontend_attributes(struct parser *p, struct frontend_attributes *out);
bool parse_metadata(struct parser *p, struct metadata *out);
bool parse_origin_leaf(struct parser *p, struct origin *out);
bool parse_aliasing(struct parser *p, struct aliasing *out, bool module_level);

/* ---- shape.c, literal.c, parse.c ---- */

struct shape_cache *shape_cache_new(struct arena *a);
bool starts_shape(const struct parser *p);
bool parse_shape(struct parser *p, const struct shape **out);
/* The literal of a constant of this shape, written without its shape. The shape of the result may
 * differ from it (grammar/text.md 2.6). */
bool parse_literal(struct parser *p, const struct shape *shape, struct literal **out);
bool parse_literal_with_shape(struct parser *p, struct literal **out);
/* NAME of a finished computation, or a nested `{...}`. */
bool parse_computation_ref(struct parser *p, struct computation **out);
/* NAME of a known instruction of the current scope. */
bool parse_inst_ref(struct parser *p, struct inst **out);

/* ---- attr.c: values of attributes ---- */

/* Reads the value after `name=` (the attribute name token is consumed). The instruction being made
 * has its opcode, its shape, if known, and its operands. */
bool attr_parse_value(struct parser *p, enum attr_id id, const struct inst *i,
                      union attr_value *out);
/* Writes the value only, without `name=`. */
void attr_print_value(struct buf *out, enum attr_id id, const struct inst *i, union attr_value v,
                      const struct print_options *options);
/* Whether the printer shows it: defaults are left out. */
bool attr_is_printed(const struct inst *i, const struct attr *a,
                     const struct print_options *options);

/* ---- sharding.c ---- */

bool parse_sharding(struct parser *p, struct sharding **out); /* one or a tuple, canonical */

#endif
