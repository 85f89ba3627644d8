/*
 * Views with random sizes, strides and contents for the property tests of kern. The order of
 * dimensions in memory, their direction and the gaps between elements are random as well.
 */
#ifndef HLO_TEST_RANDOM_VIEW_H
#define HLO_TEST_RANDOM_VIEW_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kern/kern.h"

struct random {
    uint64_t state;
    bool small;    /* no integers of full width */
    bool specials; /* sometimes special floats */
};

static inline uint64_t random_bits(struct random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* from `from` to `to`, inclusive */
static inline int64_t random_in(struct random *r, int64_t from, int64_t to)
{
    return from + (int64_t)(random_bits(r) % (uint64_t)(to - from + 1));
}

static inline double random_float(struct random *r)
{
    static const double specials[] = {INFINITY, -INFINITY, NAN,        -NAN,
                                      -0.0,     0x1p-140,  -0x1p-1060, 0x1p127};
    if (r->specials && random_in(r, 0, 5) == 0)
        return specials[random_in(r, 0, 7)];
    return (double)random_in(r, -8, 8) / 4;
}

/* Any type of array elements. */
static inline enum dtype random_type(struct random *r)
{
    return (enum dtype)random_in(r, DT_PRED, DT_C128);
}

/* A small number that every type of its class represents exactly or rounds the same way. */
static inline void random_element(struct random *r, enum dtype t, void *p)
{
    int64_t v = random_in(r, -8, 8);
    if (dtype_is_float(t)) {
        float_store(t, p, t == DT_F8E8M0FNU ? ldexp(1, (int)v / 4) : random_float(r));
    } else if (dtype_is_complex(t)) {
        size_t half = dtype_bytes(t) / 2;
        float_store(dtype_component(t), p, random_float(r));
        float_store(dtype_component(t), (char *)p + half, random_float(r));
    } else if (dtype_is_subbyte(t)) {
        kern_find_convert(t, DT_S64)(p, (const void *const[]){&v}, 1);
    } else {
        v = t == DT_PRED ? v & 1 : r->small || random_in(r, 0, 3) ? v : (int64_t)random_bits(r);
        memcpy(p, &v, dtype_bytes(t));
    }
}

/* A view with random strides, and its storage. */
struct random_view {
    struct view view;
    void *block;
};

/* FREE_VIEWS(&a, &b): their storage. */
#define FREE_VIEWS(...)                                                                            \
    do {                                                                                           \
        struct random_view *views_[] = {__VA_ARGS__};                                              \
        for (size_t i_ = 0; i_ < COUNT_OF(views_); i_++)                                           \
            free(views_[i_]->block);                                                               \
    } while (0)

static inline struct random_view random_layout(struct random *r, enum dtype t, int rank,
                                               const int64_t *dims)
{
    struct random_view v = {.view = {.dtype = t, .rank = rank}};
    int order[VIEW_MAX_RANK];
    int64_t step = (int64_t)dtype_bytes(t), start = 0;
    bool plain = random_in(r, 0, 2) == 0;
    for (int d = 0; d < rank; d++)
        order[d] = d;
    for (int d = rank - 1; d > 0 && !plain; d--) {
        int other = (int)random_in(r, 0, d), swap = order[d];
        order[d] = order[other];
        order[other] = swap;
    }
    for (int i = rank - 1; i >= 0; i--) {
        int d = order[i];
        v.view.dims[d] = dims[d];
        if (!plain && random_in(r, 0, 4) == 0)
            step *= random_in(r, 2, 3);
        v.view.strides[d] = step;
        if (!plain && random_in(r, 0, 4) == 0 && dims[d] > 0) {
            v.view.strides[d] = -step;
            start += step * (dims[d] - 1);
        }
        step *= dims[d] > 0 ? dims[d] : 1;
    }
    v.block = calloc(1, (size_t)step + 1);
    v.view.data = (char *)v.block + start;
    return v;
}

static inline struct random_view random_array(struct random *r, enum dtype t, int rank,
                                              const int64_t *dims)
{
    struct random_view v = random_layout(r, t, rank, dims);
    int64_t i[VIEW_MAX_RANK] = {0};
    if (view_elements(&v.view) > 0)
        do
            random_element(r, t, view_at(&v.view, i));
        while (index_next(rank, v.view.dims, i));
    return v;
}

/* The same for kernels that only read it: some dimensions are broadcast. */
static inline struct random_view random_operand(struct random *r, enum dtype t, int rank,
                                                const int64_t *dims)
{
    struct random_view v = random_array(r, t, rank, dims);
    if (rank > 0 && random_in(r, 0, 5) == 0)
        v.view.strides[random_in(r, 0, rank - 1)] = 0;
    return v;
}

/* Dims of 1 to `max`, now and then 0; few elements in many dimensions. */
static inline void random_dims(struct random *r, int rank, int64_t max, int64_t *dims)
{
    if (rank > 4 && max > 3)
        max = 3;
    for (int d = 0; d < rank; d++)
        dims[d] = random_in(r, 0, 60) == 0 ? 0 : random_in(r, 1, max);
}

/* Windows whose result has 0 or more positions in every dimension. */
static inline void random_window(struct random *r, int rank, const int64_t *dims,
                                 struct kern_window_dim *w, int64_t *out_dims)
{
    for (int d = 0; d < rank; d++) {
        w[d] = (struct kern_window_dim){random_in(r, 1, 3),
                                        random_in(r, 1, 3),
                                        random_in(r, -1, 3),
                                        random_in(r, -1, 3),
                                        random_in(r, 0, 3) ? 1 : 2,
                                        random_in(r, 0, 3) ? 1 : 2,
                                        false};
        int64_t dilated = dims[d] > 0 ? (dims[d] - 1) * w[d].base_dilation + 1 : 0;
        int64_t left =
            dilated + w[d].pad_low + w[d].pad_high - ((w[d].size - 1) * w[d].window_dilation + 1);
        out_dims[d] = left < 0 ? 0 : left / w[d].stride + 1;
    }
}

static inline bool floats_agree(enum dtype t, const char *a, const char *b, double relative,
                                double scale)
{
    double x = float_load(t, a), y = float_load(t, b);
    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y);
    return x == y || fabs(x - y) <= relative * (fabs(y) + scale);
}

/* Errors are relative to the whole number: either part may be a difference of larger ones. */
static inline bool complex_agree(enum dtype part, const char *a, const char *b, double relative,
                                 double scale)
{
    const size_t half = dtype_bytes(part);
    const double re = fabs(float_load(part, b)), im = fabs(float_load(part, b + half));
    return floats_agree(part, a, b, relative, isfinite(im) ? scale + im : scale) &&
           floats_agree(part, a + half, b + half, relative, isfinite(re) ? scale + re : scale);
}

/* Equal numbers, for kernels that may make any NaN. */
#define EQUAL_NUMBERS 1e-300

/* Prints the index of the first element that differs and returns false. relative 0: bitwise. */
static inline bool views_agree(const struct view *a, const struct view *b, double relative,
                               double scale)
{
    int64_t i[VIEW_MAX_RANK] = {0};
    enum dtype t = a->dtype, part = dtype_component(t);
    if (view_elements(a) == 0)
        return true;
    do {
        const char *x = view_at(a, i), *y = view_at(b, i);
        bool same = memcmp(x, y, dtype_bytes(t)) == 0;
        if (!same && relative > 0 && part != t)
            same = complex_agree(part, x, y, relative, scale);
        else if (!same && relative > 0 && dtype_is_float(part))
            same = floats_agree(part, x, y, relative, scale);
        if (same)
            continue;
        printf("# %s differs at", dtype_spelling(t));
        for (int d = 0; d < a->rank; d++)
            printf(" %lld", (long long)i[d]);
        if (dtype_is_float(part))
            printf(": %g, expected %g", float_load(part, x), float_load(part, y));
        printf("\n");
        return false;
    } while (index_next(a->rank, a->dims, i));
    return true;
}

#endif
