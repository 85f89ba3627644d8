/*
 * Parses a text that is a dictionary, such as the backend_config of a custom call or a request in
 * JSON, to a tree. Accepts MLIR's form only, or JSON only, or both with common variations. The
 * caller interprets the entries.
 */
#ifndef HLO_BASE_DICT_H
#define HLO_BASE_DICT_H

#include "base/base.h"

/*
 *   dictionary = "{" [ entry { "," entry } ] "}"
 *   entry      = name [ "=" value ]
 *   name       = word | string
 *   value      = ( number | word | string ) [ ":" type ] | dictionary
 *              | "[" [ value { "," value } ] "]"
 *              | "array" "<" type [ ":" value { "," value } ] ">"
 *              | "dense" "<" value ">" [ ":" type ]
 *
 * DICT_LOOSE also accepts `:` for `=`, single quotes, a trailing comma, and a dictionary without
 * its braces. DICT_JSON accepts a JSON object only; its null is a DICT_WORD.
 */
enum dict_form { DICT_MLIR, DICT_LOOSE, DICT_JSON };

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
    int64_t i; /* INT, BOOL, and UNIT (1) */
    double f;  /* INT, FLOAT */
    /* STRING: without quotes and escapes, NUL-terminated; other kinds: the spelling, without the
     * type. */
    struct str s;
    struct str type;          /* after the colon, `ui8`; ARRAY: type of the elements; empty: none */
    const char *at;           /* position in the text */
    size_t count;             /* LIST, ARRAY, DICT */
    struct dict_entry *items; /* names are empty except in a DICT */
    struct map *by_name;      /* DICT with many items: index for dict_find */
};
struct dict_entry {
    struct str name;
    struct dict_value value;
};

struct dict_error {
    const char *expected; /* what was expected at `rest`, the remaining text */
    struct str rest;
};

/* Parses the whole text; an empty text is an empty dictionary. Values refer to the text or to
 * memory of the arena. False with *error set. */
bool dict_read(struct arena *a, struct str text, enum dict_form form, struct dict_value *out,
               struct dict_error *error);
/* The first entry with this name; NULL if none. */
const struct dict_value *dict_find(const struct dict_value *d, struct str name);
/* The same if it has this kind; D may be NULL or no dictionary. */
const struct dict_value *dict_member(const struct dict_value *d, const char *name,
                                     enum dict_kind kind);
/* Writes the id of a request in JSON: an integer or a string, or null. */
void dict_put_id(struct buf *out, const struct dict_value *id);
/* The message, "expected a value at '}'", NUL-terminated. */
const char *dict_problem(struct arena *a, const struct dict_error *error);

#endif
