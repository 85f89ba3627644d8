/*
 * dict.h: reads a text that is a dictionary, such as the backend_config of a custom call, into a
 * tree. The form is MLIR's alone, or also what JSON has and people write. What the entries mean is
 * up to the caller.
 */
#ifndef HLO_BASE_DICT_H
#define HLO_BASE_DICT_H

#include "base/base.h"

/*
 *     dictionary = "{" [ entry { "," entry } ] "}"
 *     entry      = name [ "=" value ]
 *     name       = word | string
 *     value      = ( number | word | string ) [ ":" type ] | dictionary | "[" [ value { "," value }
 * ] "]" | "array" "<" type [ ":" value { "," value } ] ">" | "dense" "<" value ">" [ ":" type ]
 *
 * DICT_LOOSE: `:` may stand for `=`, single quotes for double ones, a comma at the end does no
 * harm, and the braces around the whole may be missing.
 */
enum dict_form { DICT_MLIR, DICT_LOOSE };

enum dict_kind {
    DICT_UNIT, /* a name without a value */
    DICT_INT,
    DICT_FLOAT,
    DICT_BOOL,
    DICT_STRING,
    DICT_WORD,
    DICT_LIST,  /* in brackets, or dense<...> */
    DICT_ARRAY, /* array<i64: ...> */
    DICT_DICT,
};

struct dict_value {
    enum dict_kind kind;
    int64_t i;       /* of INT, BOOL, and UNIT (which is true) */
    double f;        /* INT, FLOAT */
    struct str s;    /* of a STRING without quotes and escapes, NUL-terminated; of other kinds as
                        spelled, without the type */
    struct str type; /* after the colon, `ui8`; of an ARRAY that of its elements; empty when there
                        is none */
    const char *at;  /* where it begins in the text */
    size_t count;    /* LIST, ARRAY, DICT */
    struct dict_entry *items; /* names are empty but in a DICT */
    struct map *by_name;      /* of a DICT with many items, for dict_find */
};
struct dict_entry {
    struct str name;
    struct dict_value value;
};

struct dict_error {
    const char *wanted; /* what was expected where `rest`, the remaining text, begins */
    struct str rest;
};

/* Reads the whole text; an empty one is an empty dictionary. What is not in the text itself lives
 * in the arena. */
bool dict_read(struct arena *a, struct str text, enum dict_form form, struct dict_value *out,
               struct dict_error *error);
/* The first entry of this name; NULL when there is none. */
const struct dict_value *dict_find(const struct dict_value *d, struct str name);
/* "wanted a value at `}`", NUL-terminated */
const char *dict_problem(struct arena *a, const struct dict_error *error);

#endif
