/*
 * text/token: the lexer for callers other than the parser, which look at text that need not be
 * complete: where tokens begin and end, and whether brackets, strings and comments are closed.
 * Tokens are those of the default mode.
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

/* What is wrong with an error token, in token.i. */
enum lex_error { LEX_STRAY, LEX_STRING, LEX_ESCAPE, LEX_COMMENT, LEX_NUMBER, LEX_NAN };

struct text_token {
    enum token_kind kind;
    size_t begin, end; /* bytes of the text; blanks and comments are before it */
    struct str s;      /* spelling; names without % : = */
};
/* The token that begins at byte `at` or after it; TOK_EOF at the end of the text. */
struct text_token text_token_at(struct str text, size_t at);

/* Nesting of brackets up to a byte of a text, which may grow: {0} at its beginning. */
struct text_nesting {
    size_t at;
    int depth;   /* below 0: a bracket is closed that was not opened, and nothing more is read */
    char within; /* `"` a string, `/` a line comment, `*` a block comment; 0: none of them */
};
/* Goes on to the end of the text. */
void text_nest(struct str text, struct text_nesting *n);
/* The byte after the string or the brackets that begin at `at`; SIZE_MAX: they are not closed. */
size_t text_group_end(struct str text, size_t at);

#endif
