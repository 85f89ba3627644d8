/*
 * What the families in why/ share: making boxes, and asking for values.
 */
#ifndef HLO_WHY_PRIV_H
#define HLO_WHY_PRIV_H

#include "why/why.h"

#include "op/op.h"

#define X(name) why_family_fn why_##name;
FAMILIES(X)
#undef X

/* ---- boxes; a source may be changed until the next one is added ---- */

/* A leaf of any instruction, all of it. */
struct why_source *why_of(struct why *w, const struct inst *from, int64_t leaf, const char *role);
/* The same of operand k. */
struct why_source *why_whole(struct why *w, const struct inst *i, int k, int64_t leaf, const char *role);
void why_every_leaf(struct why *w, const struct inst *i, int k, const char *role);
/* One element of operand k; NULL instead of an index of a scalar. */
struct why_source *why_point(struct why *w, const struct inst *i, int k, int64_t leaf, const int64_t *index, const char *role);
/* The element at the same index, or the scalar that stands for all of them. */
struct why_source *why_same(struct why *w, const struct inst *i, int k, int64_t leaf, const int64_t *index, const char *role);
/* One dimension of a box becomes one place, or a stretch. */
void why_fix(struct why_source *s, int64_t dimension, int64_t at);
void why_span(struct why_source *s, int64_t dimension, int64_t start, int64_t count, int64_t step);

/* ---- values ---- */

/* The value of a leaf of operand k, dense; of the instruction itself where k is WHY_SELF; NULL: it isn't known. */
enum { WHY_SELF = -1 };
const struct literal *why_value(const struct why *w, const struct inst *i, int k, int64_t leaf);
/* Sizes of the moment, where they change and are known; else those of the shape. */
void why_dims(const struct why *w, const struct inst *i, int k, int64_t leaf, int64_t *dims);
/* Where an element of a value lies; NULL when it has none there. */
const void *why_at(const struct literal *l, const int64_t *index);
/* An integer of a leaf at an index; false: it isn't known. */
bool why_integer(const struct why *w, const struct inst *i, int k, const int64_t *index, int64_t *out);

static inline int64_t why_clamp(int64_t v, int64_t low, int64_t high) { return v > high ? high : v < low ? low : v; }
/* Places in row-major order and back. */
int64_t why_linear(int rank, const int64_t *dims, const int64_t *index);
void why_unlinear(int rank, const int64_t *dims, int64_t at, int64_t *index);

/* The positions of a window that meet an element of an array of so many, at one place of the result: window positions first,
 * first + step, ..., count of them, and where these are in the array. */
struct why_window {
    int64_t first, step, count, start, stride;
};
struct why_window why_window_at(const struct window_dim *d, int64_t size, int64_t at);

#endif
