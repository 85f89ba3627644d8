/*
 * op.c: the tables of op.def, attr.def and enum.def, and lookups in them.
 */
#include "op/op.h"

#include <stdlib.h>

/* Attribute lists are file-scope compound literals, so that a row of op.def is one expression. */
#define USES(a, use)                                                                               \
    {                                                                                              \
        A_##a, use                                                                                 \
    }
#define REQUIRED(a) USES(a, USE_REQUIRED)
#define OPTIONAL(a) USES(a, 0)
#define ALWAYS(a) USES(a, USE_ALWAYS)
#define DROPPED(a) USES(a, USE_DROPPED)
#define NEWER(a) USES(a, USE_NEWER)
#define BUILDER(a) USES(a, USE_BUILDER)
#define ATTRS(...) ((const struct op_attr[]){__VA_ARGS__, {A_NONE, 0}})
#define NO_ATTRS ((const struct op_attr[]){{A_NONE, 0}})
#define MANY OPERANDS_MANY

enum {
#define X(name, flags) FLAGS_##name = flags,
    FAMILIES(X)
#undef X
};

const struct op_info op_table[OP_COUNT] = {
#define OP(id, spelling, min, max, class, types, flags, compare, family, spec, help, attrs)        \
    {spelling,        min,  max,  CLASS_##class, types, flags | FLAGS_##family, COMPARE_##compare, \
     FAMILY_##family, spec, help, attrs},
#include "op/op.def"
};

const struct attr_info attr_table[A_COUNT] = {
#define ATTR(id, spelling, kind, default_value, help)                                              \
    {spelling, sizeof(spelling) - 1, KIND_##kind, default_value, help},
#include "op/attr.def"
};

const struct form_info form_table[FORM_COUNT] = {
#define FORM(id, spelling, opcode, min, max, spec, help)                                           \
    {spelling, OP_##opcode, min, max, spec, help},
#include "op/form.def"
#undef FORM
};

static const struct form_attr {
    uint8_t opcode;
    const char *spelling;
    uint8_t attr;
} form_attrs[] = {
#define FORM_ATTR(opcode, spelling, attr) {OP_##opcode, spelling, A_##attr},
#include "op/form.def"
#undef FORM_ATTR
};

const char *const family_names[FAMILY_COUNT] = {
#define X(name, flags) #name,
    FAMILIES(X)
#undef X
};

const uint8_t attr_common[] = {
    A_BACKEND_CONFIG,
    A_CONTROL_PREDECESSORS,
    A_FRONTEND_ATTRIBUTES,
    A_METADATA,
    A_ORIGIN,
    A_PARAMETER_REPLICATION,
    A_SHARDING,
    A_STATISTICS,
    A_NONE,
};

/* ---- values of enumerated attributes ---- */

struct word {
    uint8_t attr;
    bool any_case; /* in the first row of an attribute: case is ignored */
    bool builder;
    const char *spelling;
};

static const struct word words[] = {
#define ENUM_BEGIN(attr, case) {A_##attr, CASE_##case, false, NULL},
#define WORD(attr, id, spelling) {A_##attr, false, false, spelling},
#define BUILDER_WORD(attr, id, spelling) {A_##attr, false, true, spelling},
#define CASE_ANY true
#define CASE_EXACT false
#include "op/enum.def"
};

/* The first row of the values of `a`, or the end of the table. */
static size_t words_of(enum attr_id a)
{
    size_t i = 0;
    while (i < COUNT_OF(words) && words[i].attr != a)
        i++;
    return i;
}

int enum_count(enum attr_id a)
{
    size_t first = words_of(a) + 1, i = first;
    while (i < COUNT_OF(words) && words[i].attr == a)
        i++;
    return (int)(i - first);
}

int enum_find(enum attr_id a, struct str word)
{
    size_t head = words_of(a);
    if (head == COUNT_OF(words))
        return -1;
    for (size_t i = head + 1; i < COUNT_OF(words) && words[i].attr == a; i++) {
        struct str w = str_of(words[i].spelling);
        if (words[head].any_case ? str_eq_nocase(w, word) : str_eq(w, word))
            return (int)(i - head - 1);
    }
    return -1;
}

const char *enum_word(enum attr_id a, int number)
{
    return words[words_of(a) + 1 + (size_t)number].spelling;
}

bool enum_is_builder(enum attr_id a, int number)
{
    return words[words_of(a) + 1 + (size_t)number].builder;
}

/* ---- opcodes and attributes by spelling ---- */

static int op_row_cmp(const void *key, const void *row)
{
    const struct str *word = key;
    const struct op_info *op = row;
    return str_cmp(*word, str_of(op->spelling));
}

enum opcode op_find(struct str word)
{
    const struct op_info *row = bsearch(&word, op_table, OP_COUNT, sizeof *op_table, op_row_cmp);
    return row ? (enum opcode)(row - op_table) : OP_INVALID;
}

static bool attr_is(enum attr_id a, struct str word)
{
    return attr_table[a].length == word.len &&
           memcmp(attr_table[a].spelling, word.ptr, word.len) == 0;
}

const struct op_attr *op_attr_of(enum opcode op, enum attr_id id)
{
    const struct op_attr *a = op_table[op].attrs;
    while (a->id != A_NONE && a->id != id)
        a++;
    return a->id == A_NONE ? NULL : a;
}

const struct op_attr *op_attr_find(enum opcode op, struct str word)
{
    for (const struct op_attr *a = op_table[op].attrs; a->id != A_NONE; a++)
        if (attr_is((enum attr_id)a->id, word))
            return a;
    return NULL;
}

enum attr_id attr_find_common(struct str word)
{
    for (const uint8_t *a = attr_common; *a != A_NONE; a++)
        if (attr_is((enum attr_id) * a, word))
            return (enum attr_id) * a;
    return A_NONE;
}

/* ---- builder forms ---- */

static int form_row_cmp(const void *key, const void *row)
{
    const struct str *word = key;
    const struct form_info *form = row;
    return str_cmp(*word, str_of(form->spelling));
}

enum form form_find(struct str word)
{
    char kebab[32];
    if (word.len > sizeof kebab)
        return FORM_NONE;
    for (size_t k = 0; k < word.len; k++)
        kebab[k] = word.ptr[k] == '_' ? '-' : word.ptr[k];
    word.ptr = kebab;
    const struct form_info *row =
        bsearch(&word, form_table, FORM_COUNT, sizeof *form_table, form_row_cmp);
    return row ? (enum form)(row - form_table) : FORM_NONE;
}

const struct op_attr *form_attr_find(enum opcode op, struct str word)
{
    for (size_t k = 0; k < COUNT_OF(form_attrs); k++)
        if (form_attrs[k].opcode == op && str_is(word, form_attrs[k].spelling))
            return op_attr_of(op, form_attrs[k].attr);
    return NULL;
}

/* ---- the reference of every operation, made by doc.awk from the pages of grammar/operations ----
 */

const struct op_doc op_docs[OP_COUNT] = {
#include "op/op_doc.inc"
};
