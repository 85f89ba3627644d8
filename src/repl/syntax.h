/*
 * repl/syntax: kinds of entries, and parts of texts, by the tokens of HLO. The parser decides what
 * a text means; this only determines which part of the session it belongs to.
 */
#ifndef HLO_REPL_SYNTAX_H
#define HLO_REPL_SYNTAX_H

#include "text/token.h"

#define NOWHERE SIZE_MAX

/* Whether the entry is complete: brackets, strings and comments are closed, or cannot be closed any
 * more; a command ends with its line. */
bool syntax_complete(struct str text);
/* State for a text that grows line by line, with each line scanned once. Initially {0}. */
struct syntax_progress {
    struct text_nesting nesting;
    size_t first; /* first byte that is neither blank nor comment, once known */
    bool begun, command;
};
bool syntax_complete_so_far(struct syntax_progress *p, struct str text);

enum reading_kind {
    READ_BLANK,
    READ_COMMAND,     /* .word or !command */
    READ_MODULE,      /* HloModule, ENTRY */
    READ_COMPUTATION, /* f { ... }; may be repeated */
    READ_INSTRUCTION, /* name = ... */
    READ_EXPRESSION,  /* the right side of an instruction */
    READ_LITERAL,     /* f32[2] {1, 2} */
    READ_NAME,        /* a value or a slice of it: x[0,:4] */
    READ_UNCLOSED,
    READ_UNOPENED, /* unmatched closing bracket */
    READ_OTHER
};
struct reading {
    enum reading_kind kind;
    bool root;        /* after ROOT */
    bool quiet;       /* before `;` */
    struct str text;  /* without those, and without blanks */
    struct str name;  /* of an instruction or a value, without % */
    struct str right; /* of an instruction: the text after `=` */
    struct str op;    /* the word before the operands; empty: a literal */
    struct str index; /* "[0,:4]" of a value */
};
struct reading syntax_read(struct str text);

/* Whether the token starts with a letter, `_` or `%`. */
bool syntax_is_word(struct text_token t);
size_t syntax_skip(struct str s, size_t at); /* skips blanks and comments */
struct str syntax_first_word(struct str s);  /* empty: the text starts with something else */
/* The end of the shape at `at`, including its layout; `at` if none. */
size_t syntax_shape_end(struct str s, size_t at);
/* The start of the values of a literal, after its shape; 0: no shape. */
size_t syntax_literal_values(struct str s);

/* Parses `, name=value` at `at`: its name, and the byte after it. False: not an attribute. */
bool syntax_attribute(struct str s, size_t at, struct str *name, size_t *end);

/* The computations in the text of a module. */
struct syntax_computation {
    struct str whole; /* including the attributes after its body */
    struct str name;  /* without % */
    struct str body;  /* between its braces */
    struct str tail;  /* after them */
    bool entry;
};
struct syntax_module {
    struct str header; /* text before the first computation */
    struct syntax_computation *computations;
    size_t count;
};
/* False if the parts cannot be told apart. */
bool syntax_module(struct arena *a, struct str text, struct syntax_module *out);

#endif
