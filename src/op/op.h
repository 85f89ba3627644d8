/*
 * op: static tables of opcodes and attributes.
 *
 * op.def, attr.def, enum.def (values of attributes) and form.def (alternative spellings of opcodes)
 * are the only lists. Everything that depends on the opcode or attribute is expanded from them, or
 * uses the tables declared here. grammar/operations has the reference of every operation.
 */
#ifndef HLO_OP_H
#define HLO_OP_H

#include "base/base.h"

enum opcode {
#define OP(id, ...) OP_##id,
#include "op/op.def"
    OP_COUNT,
    OP_INVALID = OP_COUNT
};

enum attr_id {
#define ATTR(id, ...) A_##id,
#include "op/attr.def"
    A_COUNT,
    A_NONE = A_COUNT
};

/* Builder forms: spellings that select an opcode outside --strict. */
enum form {
#define FORM(id, ...) FORM_##id,
#include "op/form.def"
#undef FORM
    FORM_COUNT,
    FORM_NONE = FORM_COUNT
};

/* E_DIRECTION_EQ ...: the values of enum.def */
#define ENUM_BEGIN(attr, case)                                                                     \
    }                                                                                              \
    ;                                                                                              \
    enum {
#define WORD(attr, id, spelling) E_##attr##_##id,
#define BUILDER_WORD WORD
enum {
    E_UNUSED_FIRST,
#include "op/enum.def"
};

enum attr_kind {
#define KIND(id, function, name) KIND_##id,
#include "op/kind.def"
    KIND_COUNT
};

/* Classes of shape rules (grammar/shapes.md 0). */
enum op_class {
    CLASS_UNARY,
    CLASS_BINARY,
    CLASS_TERNARY,   /* elementwise: the operands' dimensions */
    CLASS_PASS,      /* the operand's shape */
    CLASS_RETYPE,    /* the operand's dimensions, the element type as written */
    CLASS_DECLARED,  /* the written shape */
    CLASS_REARRANGE, /* dimensions computed from the operand's and attributes */
    CLASS_REDUCER,   /* from operands and a computation that is applied to elements */
    CLASS_CONTRACT,  /* from dimension numbers */
    CLASS_NUMERIC,   /* mostly the operand's: factorizations, transforms, normalizations */
    CLASS_CONTROL,   /* that of the root of a called computation */
    CLASS_TUPLE,
    CLASS_IO,         /* shapes that contain a token */
    CLASS_COLLECTIVE, /* the operands', with one dimension scaled by the number of participants */
    CLASS_ASYNC_PAIR, /* what -start and -done transfer */
    CLASS_DYNAMIC     /* the operand's with one size that changes, or that size itself */
};

/* clang-format off */
/* Families: files of that name in infer/, eval/ or kern/; and the op_flags of all its opcodes. */
#define FAMILIES(X)                                                                                \
    X(batchnorm, OP_PURE | OP_SUMS) X(collective, OP_SUMS) X(compare, OP_PURE | OP_ELEMENTWISE)    \
    X(control, 0) X(conv, OP_PURE | OP_SUMS) X(convert, OP_PURE) X(dot, OP_PURE | OP_SUMS)         \
    X(dynamic, OP_COMPUTES) X(dynslice, OP_PURE) X(elementwise, OP_PURE | OP_ELEMENTWISE)          \
    X(fft, OP_PURE | OP_SUMS) X(gather, OP_PURE) X(io, OP_EFFECT) X(linalg, OP_PURE | OP_SUMS)     \
    X(reduce, OP_PURE | OP_SUMS) X(rng, 0) X(shape, OP_PURE) X(sort, OP_PURE)                      \
    X(tuple, OP_COMPUTES) X(window, OP_PURE | OP_SUMS)
enum family {
#define X(name, flags) FAMILY_##name,
    FAMILIES(X)
#undef X
    FAMILY_COUNT
};
/* clang-format on */

/* Element types of the first operand. */
enum op_types {
    TY_PRED = 1,
    TY_SIGNED = 2,
    TY_UNSIGNED = 4,
    TY_FLOAT = 8,
    TY_COMPLEX = 16,
    TY_INTEGER = TY_SIGNED | TY_UNSIGNED,
    TY_ARRAY = TY_PRED | TY_INTEGER | TY_FLOAT | TY_COMPLEX,
    TY_ANY = 0
};

/* Defined in op.def. */
enum op_flags {
    OP_INFER = 1 << 0,
    OP_MIXED = 1 << 1,
    OP_PURE = 1 << 2,
    OP_COMPUTES = 1 << 3,
    OP_EFFECT = 1 << 4,
    OP_PARTICIPANT = 1 << 5,
    OP_ELEMENTWISE = 1 << 6,
    OP_SUMS = 1 << 7,
    OP_NAMES = 1 << 8,
    OP_VIEW = 1 << 9,
    OP_UPDATES = 1 << 10,
    OP_RUNS = 1 << 11,
    OP_STARTS = 1 << 12,
    OP_CHEAP = 1 << 13,
    OP_EXACT = 1 << 14,
    OP_DECLARED = 1 << 15,
    OP_ELEMENTARY = 1 << 16,
    OP_COMMUTATIVE = 1 << 17
};

enum op_compare { /* how a written result shape is compared with the inferred one */
                  COMPARE_DEFAULT, /* layouts are ignored */
                  COMPARE_STRICT,  /* layouts count in layout-sensitive verification */
                  /* Of their layouts only the order of dimensions counts (minor to major). */
                  COMPARE_STRICT_MTM,
                  COMPARE_COPY, /* either side may be in host memory */
                  COMPARE_OWN   /* checked by verify/written.c; of a scan, by its rule in infer/ */
};

/* How an opcode uses an attribute; defined in op.def. */
enum attr_use {
    USE_REQUIRED = 1,
    USE_ALWAYS = 2,
    USE_DROPPED = 4,
    USE_NEWER = 8,
    USE_BUILDER = 16
};
struct op_attr {
    uint8_t id;  /* enum attr_id; A_NONE ends a list */
    uint8_t use; /* enum attr_use bits */
};

enum { OPERANDS_MANY = 255 };

struct op_info {
    const char *spelling;
    uint8_t min_operands, max_operands; /* OPERANDS_MANY: no upper limit */
    uint8_t class;                      /* enum op_class */
    uint8_t types;                      /* enum op_types bits; TY_ANY: not checked here */
    uint32_t flags;                     /* enum op_flags bits, including those of the family */
    uint8_t compare;                    /* enum op_compare */
    uint8_t family;                     /* enum family */
    const char *spec;
    const char *help;
    const struct op_attr *attrs; /* print order, ended by A_NONE */
};
extern const struct op_info op_table[OP_COUNT];

struct form_info {
    const char *spelling;
    uint8_t opcode;
    uint8_t min_operands, max_operands;
    const char *spec, *help;
};
extern const struct form_info form_table[FORM_COUNT];

struct attr_info {
    const char *spelling;
    uint8_t length;       /* of the spelling */
    uint8_t kind;         /* enum attr_kind */
    int8_t default_value; /* NO_DEFAULT: none */
    const char *help;
};
#define NO_DEFAULT INT8_MIN
extern const struct attr_info attr_table[A_COUNT];
extern const char *const family_names[FAMILY_COUNT];

static inline const char *op_spelling(enum opcode op) { return op_table[op].spelling; }
static inline const char *attr_spelling(enum attr_id a) { return attr_table[a].spelling; }

/* Whether the opcode has one of these op_flags. */
static inline bool op_is(enum opcode op, unsigned flags) { return op_table[op].flags & flags; }

/* Whether its value is that of its first operand, of any shape. */
static inline bool op_passes(enum opcode op) { return op_table[op].class == CLASS_PASS; }

enum opcode op_find(struct str word); /* OP_INVALID when unknown */
/* An attribute of the opcode, by its id or its name; or NULL. */
const struct op_attr *op_attr_of(enum opcode op, enum attr_id id);
const struct op_attr *op_attr_find(enum opcode op, struct str word);
/* An attribute that every opcode may have, or A_NONE. */
enum attr_id attr_find_common(struct str word);
enum form form_find(struct str word); /* FORM_NONE if unknown */
/* The attribute of an opcode that the specification names `word`; or NULL. */
const struct op_attr *form_attr_find(enum opcode op, struct str word);
extern const uint8_t attr_common[]; /* the attributes that every opcode may have, ended by A_NONE */

/* An example of an operation's page in grammar/operations. */
struct op_example {
    const char *dtype; /* element type that may be substituted; NULL: the example has fixed types */
    const char *other; /* a second such type; or NULL */
    /* The unsigned type of the same width as `dtype`, substituted with it; or NULL. */
    const char *bits;
    const char *args; /* a literal per line and parameter */
    const char *text; /* the module; NULL ends the list */
    const char *result;
};
struct op_doc {
    const char *form;        /* the names of the operands */
    const char *rule;        /* Markdown */
    const char *differences; /* differences between implementations: Markdown; may be empty */
    /* The examples as shell commands, each followed by its output in comments. */
    const char *script;
    const struct op_example *examples;
};
extern const struct op_doc op_docs[OP_COUNT];

int enum_find(enum attr_id a, struct str word); /* -1 when unknown */
const char *enum_word(enum attr_id a, int number);
bool enum_is_builder(enum attr_id a, int number); /* a value that --strict does not accept */
int enum_count(enum attr_id a);

#endif
