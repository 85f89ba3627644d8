/*
 * Shared by the files of why/: boxes and known values.
 */
#ifndef HLO_WHY_PRIV_H
#define HLO_WHY_PRIV_H

#include "why/why.h"

#include "op/op.h"

#define X(name, flags) why_family_fn why_##name;
FAMILIES(X)
#undef X

/* ---- boxes; a source may be modified until the next one is added ---- */

/* A whole leaf of any instruction. */
struct why_source *why_of(struct why *w, const struct inst *from, int64_t leaf, const char *role);
/* A whole leaf of operand k. */
struct why_source *why_whole(struct why *w, const struct inst *i, int k, int64_t leaf,
                             const char *role);
/* All leaves of operand k. */
void why_every_leaf(struct why *w, const struct inst *i, int k, const char *role);
/* One element of operand k. For a scalar, the index is ignored and may be NULL. */
struct why_source *why_point(struct why *w, const struct inst *i, int k, int64_t leaf,
                             const int64_t *index, const char *role);
/* Restricts one dimension of a box to an index, or to a range. */
void why_fix(struct why_source *s, int64_t dimension, int64_t at);
void why_span(struct why_source *s, int64_t dimension, int64_t start, int64_t count, int64_t step);

/* ---- values ---- */

/* The value of a leaf of operand k, dense; WHY_SELF: of the instruction itself. NULL: unknown. */
enum { WHY_SELF = -1 };
const struct literal *why_value(const struct why *w, const struct inst *i, int k, int64_t leaf);
/* The dynamic sizes if known; else the bounds of the shape. */
void why_dims(const struct why *w, const struct inst *i, int k, int64_t leaf, int64_t *dims);
/* The element of a value at an index; NULL if it is out of bounds. */
const void *why_at(const struct literal *l, const int64_t *index);
/* An integer of operand k at an index; false: unknown. */
bool why_integer(const struct why *w, const struct inst *i, int k, const int64_t *index,
                 int64_t *out);

static inline int64_t why_clamp(int64_t v, int64_t low, int64_t high)
{
    return v > high ? high : v < low ? low : v;
}
/* Conversion between indices and row-major positions. */
int64_t why_linear(int rank, const int64_t *dims, const int64_t *index);
void why_unravel(int rank, const int64_t *dims, int64_t at, int64_t *index);

/* The positions of a window that coincide with elements of an array of `size`, for index `at` of
 * the result: window positions first, first + step, ..., `count` of them, at start, start + stride,
 * ... in the array. */
struct why_window {
    int64_t first, step, count, start, stride;
};
struct why_window why_window_at(const struct window_dim *d, int64_t size, int64_t at);

#endif
