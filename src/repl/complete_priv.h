/*
 * repl/complete_priv: declarations shared by the files of completion.
 */
#ifndef HLO_REPL_COMPLETE_PRIV_H
#define HLO_REPL_COMPLETE_PRIV_H

#include "repl/complete.h"

/* ---- complete_place.c: syntactic position ---- */

enum complete_place_kind {
    PLACE_NOWHERE, /* in a comment, a string, a shape */
    PLACE_START,   /* start of an instruction or another entry */
    PLACE_RIGHT,   /* after `name =`: a type or an op */
    PLACE_OP,      /* after the type */
    PLACE_OPERAND,
    PLACE_ATTRIBUTE, /* name of an attribute */
    PLACE_VALUE
};
struct complete_place {
    enum complete_place_kind kind;
    bool inside;          /* in the body of a computation */
    size_t op;            /* for OPERAND, ATTRIBUTE and VALUE; hlo_op_count() if unknown */
    struct str attribute; /* for VALUE */
    struct str given;     /* text between the op's operands and the cursor */
    struct str *locals;   /* names defined in the text */
    size_t local_count, local_capacity;
};
/* `text` ends where the word at the cursor starts. */
struct complete_place complete_place(struct str text, struct arena *a);
bool complete_has_attribute(struct str given, const char *name);
bool complete_name_char(char c);

/* ---- complete_file.c: names of files ---- */

/* Sets the word to the text after the last blank, and adds matching files. */
void complete_file(struct completions *out, struct str before);
/* The same, if an `@` precedes the word. */
bool complete_file_after_at(struct completions *out, struct str before);

#endif
