/*
 * doc.c: the table of doc/: the rule and the worked examples of every op.
 */
#include "op/op.h"

#include <assert.h>

/* An op without a row, or with two, is a compile error. */
enum {
#define DOC(id, ...) HAS_DOC_##id,
#include "op/doc/all.def"
#undef DOC
};
#define OP(id, ...) static_assert((int)HAS_DOC_##id >= 0, "");
#include "op/op.def"
#undef OP

const struct op_doc op_docs[OP_COUNT] = {
#define EXAMPLE(...)                                                                                                             \
    {                                                                                                                            \
        __VA_ARGS__                                                                                                              \
    }
#define DOC(id, form, rule, ...) [OP_##id] = {form, rule, (const struct op_example[]){__VA_ARGS__, {0}}},
#include "op/doc/all.def"
#undef DOC
};
