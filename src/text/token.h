/*
 * text/token: the lexer for text that may be incomplete, such as input at the prompt: token
 * boundaries, and whether brackets, strings and comments are closed. Tokens are those of the
 * default mode.
 */
#ifndef HLO_TEXT_TOKEN_H
#define HLO_TEXT_TOKEN_H

#include "base/base.h"

enum token_kind {
#define TOKEN(id, name) TOK_##id,
#include "text/token.def"
    TOK_KIND_COUNT
};

/* By the order of token.def. */
static inline bool token_is_number(enum token_kind t) /* and truth values */
{
    return t >= TOK_INT && t <= TOK_INF;
}
static inline bool token_is_keyword(enum token_kind t) /* of modules */
{
    return t >= TOK_HLO_MODULE && t <= TOK_STACK_FRAMES;
}
static inline bool token_opens(enum token_kind t)
{
    return t == TOK_LPAREN || t == TOK_LSQUARE || t == TOK_LBRACE;
}

/* The error of an error token, in token.i. */
enum lex_error { LEX_STRAY, LEX_STRING, LEX_ESCAPE, LEX_COMMENT, LEX_NUMBER, LEX_NAN };

struct text_token {
    enum token_kind kind;
    size_t begin, end; /* span in the text, without preceding blanks and comments */
    struct str s;      /* spelling; names without % : = */
};
/* The token that begins at or after byte `at`; TOK_EOF at the end of the text. */
struct text_token text_token_at(struct str text, size_t at);

/* Nesting of brackets up to a byte of a text that may grow; {0} at its beginning. */
struct text_nesting {
    size_t at;
    int depth;   /* below 0: unmatched closing bracket; scanning stops */
    char within; /* `"` in a string, `/` in a line comment, `*` in a block comment; 0 outside */
};
/* Continues to the end of the text. */
void text_nest(struct str text, struct text_nesting *n);
/* The byte after the string or bracket group that begins at `at`; SIZE_MAX: unterminated. */
size_t text_group_end(struct str text, size_t at);

#endif
