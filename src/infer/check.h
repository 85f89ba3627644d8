/*
 * Reports of violated rules, checks that many rules share, and shapes under construction: for the
 * families of infer/ and for components that have rules of their own.
 *
 * Every `report_...` reports and returns false. Every `check_...` returns false after reporting.
 */
#ifndef HLO_INFER_CHECK_H
#define HLO_INFER_CHECK_H

#include "infer/infer.h"

/* ---- report.c ---- */

/* The text of a shape for messages, NUL-terminated. */
const char *report_text(struct infer *ctx, const struct shape *s);

/* "operand 0 of 'add' is f32[2], expected ..."; a note shows where the operand is defined. */
bool report_operand(struct infer *ctx, const struct inst *i, int k, const char *expected, ...)
    PRINTF_LIKE(4, 5);
bool report_operand_type(struct infer *ctx, const struct inst *i, int k, const char *expected);
/* "operands 0 and 1 of 'add' differ in <what>: f32[2] and s32[2]" */
bool report_operands(struct infer *ctx, const struct inst *i, int a, int b, const char *what);
bool report_operand_types(struct infer *ctx, const struct inst *i, int a, int b);
/* "result of 'add' is f32[2], expected f32[3]" */
bool report_result(struct infer *ctx, const struct inst *i, const struct shape *expected);
/* "'dimensions' of 'reduce': <problem>", at the attribute. */
bool report_attr(struct infer *ctx, const struct inst *i, enum attr_id id, const char *problem, ...)
    PRINTF_LIKE(4, 5);
/* "computation 'c' of 'while' <problem>"; a note shows where it is defined. */
bool report_computation(struct infer *ctx, const struct inst *i, const struct computation *c,
                        const char *problem, ...) PRINTF_LIKE(4, 5);
/* For problems of the instruction as a whole: "'async-start' has 2 users, ..."; a note shows the
 * location of `other`, unless NULL. */
bool report_inst(struct infer *ctx, const struct inst *i, const struct inst *other,
                 const char *problem, ...) PRINTF_LIKE(4, 5);

/* ---- check.c ---- */

/* Checks that operand k, or all operands in [first, end), are arrays. */
bool check_operand_array(struct infer *ctx, const struct inst *i, int k);
bool check_operand_arrays(struct infer *ctx, const struct inst *i, int first, int end);
/* Checks that the written result is an array. */
bool check_result_array(struct infer *ctx, const struct inst *i);
/* Checks that operands a and b have element types of the same kind, or compatible dimensions. */
bool check_same_kind(struct infer *ctx, const struct inst *i, int a, int b);
bool check_same_dims(struct infer *ctx, const struct inst *i, int a, int b);
/* Checks that there are at least `min` operands. */
bool check_operand_least(struct infer *ctx, const struct inst *i, int min);
/* Checks that a value of an attribute is in [low, end); INT64_MIN and INT64_MAX: unlimited. */
bool check_attr_int(struct infer *ctx, const struct inst *i, enum attr_id id, int64_t value,
                    int64_t low, int64_t end);
/* Checks the number of entries of a list attribute. */
bool check_attr_count(struct infer *ctx, const struct inst *i, enum attr_id id, int64_t count,
                      int64_t expected);
/* Checks a list of dimensions: entries in [0, end), distinct, and with LIST_SORTED ascending. */
enum list_rule { LIST_DISTINCT, LIST_SORTED };
bool check_dim_list(struct infer *ctx, const struct inst *i, enum attr_id id, int64_t end,
                    enum list_rule rule);
/* Checks that both operands of a convolution have the rank of its dim_labels. */
bool check_label_ranks(struct infer *ctx, const struct inst *i, const struct dim_labels *labels);
/* Fusions, loops and conditionals must run on the execution thread of their caller. The parser does
 * not check it. */
bool check_thread(struct infer *ctx, const struct inst *i, const struct computation *c);

/* Whether two shapes are the same in the mode of `ctx`: compatible, or fully equal if layouts
 * count. */
bool infer_same(const struct infer *ctx, const struct shape *a, const struct shape *b);

/* Whether two element types are equal, or both float types. */
static inline bool dtype_same_kind(enum dtype a, enum dtype b)
{
    return a == b || (dtype_is_float(a) && dtype_is_float(b));
}

/* ---- dims.c: an array shape under construction ---- */

struct dims {
    int rank;
    int64_t *size;
    bool *dynamic;
};
/* An empty list with storage for `capacity` dimensions. */
struct dims dims_new(struct arena *a, int64_t capacity);
/* The dimensions of a shape, with storage for `more`. */
struct dims dims_of(struct arena *a, const struct shape *s, int64_t more);
static inline void dims_add(struct dims *d, int64_t size, bool dynamic)
{
    d->dynamic[d->rank] = dynamic;
    d->size[d->rank++] = size;
}
/* Adds dimension k of a shape. */
static inline void dims_take(struct dims *d, const struct shape *s, int64_t k)
{
    dims_add(d, s->dims[k], shape_dim_dynamic(s, (int)k));
}
/* The array shape with these dimensions and the default layout. */
const struct shape *dims_shape(struct arena *a, enum dtype t, const struct dims *d);

#endif
