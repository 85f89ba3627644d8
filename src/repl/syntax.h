/*
 * repl/syntax: the kind of an entry, and the parts of a text, by the tokens of HLO. The parser
 * decides what a text means; this only finds out which part of the session it is for.
 */
#ifndef HLO_REPL_SYNTAX_H
#define HLO_REPL_SYNTAX_H

#include "text/token.h"

#define NOWHERE SIZE_MAX

/* Whether the entry ends here: brackets, strings and comments are closed, or cannot be any more; a
 * command ends with its line. */
bool syntax_complete(struct str text);
/* The same of a text that grows by lines, each of which is read once. {0} at the beginning. */
struct syntax_progress {
    struct text_nesting nesting;
    size_t first; /* byte that is neither blank nor comment, once it has begun */
    bool begun, command;
};
bool syntax_complete_so_far(struct syntax_progress *p, struct str text);

enum reading_kind {
    READ_BLANK,
    READ_COMMAND,     /* .word or !command */
    READ_MODULE,      /* HloModule, ENTRY */
    READ_COMPUTATION, /* f { ... }; there may be several */
    READ_INSTRUCTION, /* name = ... */
    READ_EXPRESSION,  /* the right side of one */
    READ_LITERAL,     /* f32[2] {1, 2} */
    READ_NAME,        /* of a value, or a piece of it: x[0,:4] */
    READ_UNCLOSED,
    READ_UNOPENED, /* a bracket is closed that was not opened */
    READ_OTHER
};
struct reading {
    enum reading_kind kind;
    bool root;        /* after ROOT */
    bool quiet;       /* before `;` */
    struct str text;  /* without those, and blanks */
    struct str name;  /* of an instruction or a value, without % */
    struct str right; /* of an instruction, what follows `=` */
    struct str op;    /* the word before the operands; empty: it is a literal */
    struct str index; /* "[0,:4]" of a value */
};
struct reading syntax_read(struct str text);

/* The token begins with a letter, `_` or `%`. */
bool syntax_is_word(struct text_token t);
size_t syntax_skip(struct str s, size_t at); /* past blanks and comments */
struct str syntax_first_word(struct str s);  /* empty: it begins with something else */
/* Where the values of a literal begin, after its shape; 0: it has none. */
size_t syntax_literal_values(struct str s);

/* `, name=value` at `at`, if it is one: its name, and the byte after it. */
bool syntax_attribute(struct str s, size_t at, struct str *name, size_t *end);

/* The computations in the text of a module. */
struct syntax_computation {
    struct str whole; /* with the attributes after its body */
    struct str name;  /* without % */
    struct str body;  /* between its braces */
    struct str tail;  /* after them */
    bool entry;
};
struct syntax_module {
    struct str header; /* all before the first of them */
    struct syntax_computation *computations;
    size_t count;
};
/* False where the parts cannot be told apart. */
bool syntax_module(struct arena *a, struct str text, struct syntax_module *out);

#endif
