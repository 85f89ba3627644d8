/*
 * text/token: the lexer for text that may be incomplete, such as input at the prompt: token
 * boundaries, and whether brackets, strings and comments are closed. Tokens are those of the
 * default mode.
 */
#ifndef HLO_TEXT_TOKEN_H
#define HLO_TEXT_TOKEN_H

#include "base/base.h"

enum token_kind {
    TOK_EOF,
    TOK_ERROR,
    TOK_EQUAL,
    TOK_COMMA,
    TOK_COLON,
    TOK_STAR,
    TOK_HASH,
    TOK_PLUS,
    TOK_TILDE,
    TOK_LSQUARE,
    TOK_RSQUARE,
    TOK_LBRACE,
    TOK_RBRACE,
    TOK_LPAREN,
    TOK_RPAREN,
    TOK_LESS,
    TOK_GREATER, /* `<` and `>` alone: default mode only, else error tokens */
    TOK_LESS_EQUAL,
    TOK_ARROW,
    TOK_DOTS,
    TOK_QUESTION,
    TOK_NAME,      /* %name, or name: with the colon swallowed; value without either */
    TOK_ATTR_NAME, /* name= with the `=` swallowed */
    TOK_IDENT,
    TOK_DTYPE,  /* element type: token.dtype */
    TOK_STRING, /* value by lex_string; token.i: whether there are escapes */
    TOK_INT,
    TOK_DECIMAL, /* token.i; token.d (nan included, payload in token.i, -1: none) */
    TOK_NEG_INF,
    TOK_DXD,
    TOK_PAD,
    TOK_DIM_LABELS, /* `2x3`, `1_1x0_0`, `b01f_01io->b01f`: the spelling is token.s */
    TOK_TRUE,
    TOK_FALSE,
    TOK_INF,
    TOK_HLO_MODULE,
    TOK_ENTRY,
    TOK_ROOT,
    TOK_FILE_NAMES,
    TOK_FUNCTION_NAMES,
    TOK_FILE_LOCATIONS,
    TOK_STACK_FRAMES,
    TOK_MAXIMAL,
    TOK_REPLICATED,
    TOK_MANUAL,
    TOK_LAST_TILE_DIM_REPLICATE,
    TOK_SHARD_AS,
    TOK_SHARD_LIKE,
    TOK_UNKNOWN,
    TOK_UNREDUCED,
    TOK_KIND_COUNT
};

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
