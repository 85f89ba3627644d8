/*
 * repl/scan: what somebody typed, looked at from outside: where it ends, what kind of entry it is, and where the parts of a
 * module's text lie. The parser of the library decides what it means; this tells only where to put it.
 */
#ifndef HLO_REPL_SCAN_H
#define HLO_REPL_SCAN_H

#include "base/base.h"

#define NOWHERE SIZE_MAX

/* Brackets, quotes and comments are closed, or can't be any more; a command ends with its line. */
bool scan_whole(struct str text);
/* The same of a text that grows by lines: what was looked at before isn't looked at again. {0} is where it begins. */
struct scan_progress {
    size_t at;
    int depth; /* of brackets; below 0 one is closed that wasn't opened */
    enum { SCAN_CODE, SCAN_STRING, SCAN_LINE_COMMENT, SCAN_COMMENT } within;
    bool begun, command;
};
bool scan_whole_on(struct scan_progress *p, struct str text);

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
    READ_UNOPENED, /* a bracket closes what nobody opened */
    READ_OTHER
};
struct reading {
    enum reading_kind kind;
    bool root;        /* ROOT stands before it */
    bool quiet;       /* a `;` stands behind it */
    struct str text;  /* without those, and blanks */
    struct str name;  /* of an instruction or a value, without % */
    struct str right; /* of an instruction, what stands behind `=` */
    struct str op;    /* the word before the operands; empty: it is a literal */
    struct str index; /* "[0,:4]" of a value */
};
struct reading scan_read(struct str text);

/* Past blanks and comments. */
size_t scan_blanks(struct str s, size_t at);
size_t scan_word(struct str s, size_t at); /* past a name, a number, %x */
struct str scan_first_word(struct str s);
/* Past the bracket that closes the one at `at`, and past a string; NOWHERE: it stays open. */
size_t scan_group(struct str s, size_t at);
/* Past the shape of a literal: where its values begin; 0: it names none. */
size_t scan_literal_shape(struct str s);

/* The places of the computations in the text of a module. */
struct scan_computation {
    struct str whole; /* attributes behind its body among it */
    struct str name;  /* without % */
    struct str body;  /* between its braces */
    struct str tail;  /* behind them */
    bool entry;
};
struct scan_module {
    struct str header; /* all before the first of them */
    struct scan_computation *computations;
    size_t count;
};
/* False where this text can't be told apart. */
bool scan_module(struct arena *a, struct str text, struct scan_module *out);

#endif
