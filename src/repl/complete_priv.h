/*
 * repl/complete_priv: what the files of completion share.
 */
#ifndef HLO_REPL_COMPLETE_PRIV_H
#define HLO_REPL_COMPLETE_PRIV_H

#include "repl/complete.h"

/* ---- complete_place.c: where in a text one is ---- */

enum complete_place_kind {
    PLACE_NOWHERE, /* in a comment, a string, a shape */
    PLACE_START,   /* an instruction, or what else an entry may be */
    PLACE_RIGHT,   /* behind `name =`: a type or an op */
    PLACE_OP,      /* behind the type */
    PLACE_OPERAND,
    PLACE_ATTRIBUTE, /* its name */
    PLACE_VALUE
};
struct complete_place {
    enum complete_place_kind kind;
    bool inside;          /* of the body of a computation */
    size_t op;            /* of OPERAND, ATTRIBUTE and VALUE; hlo_op_count() where it isn't known */
    struct str attribute; /* of VALUE */
    struct str given;     /* what stands between the op's operands and here */
    struct str *locals;   /* names that the text has defined */
    size_t local_count, local_capacity;
};
/* `text` ends where the word at the cursor begins. */
struct complete_place complete_place(struct str text, struct arena *a);
bool complete_has_attribute(struct str given, const char *name);
bool complete_name_char(char c);

/* ---- complete_file.c: names of files ---- */

/* Makes all that follows the last blank the word, and adds the files that begin so. */
void complete_file(struct completions *out, struct str before);
/* The same, if there is an `@` in front of the word. */
bool complete_file_after_at(struct completions *out, struct str before);

#endif
