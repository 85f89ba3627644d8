/*
 * indexed.h: loops over lists of byte offsets: runs of elements copied or combined one after the
 * other, in the order of the lists. Private to kern.
 */
#ifndef HLO_KERN_INDEXED_H
#define HLO_KERN_INDEXED_H

#include "kern/nest.h"

/* Prefetches a run that will be used RUNS_AHEAD runs later, or its first part. */
enum { RUNS_AHEAD = 8, BYTES_AHEAD = 512 };
static inline void indexed_fetch(const char *at, int64_t bytes)
{
    for (int64_t k = 0; k < bytes && k < BYTES_AHEAD; k += 64)
        __builtin_prefetch(at + k);
}

/* runs.c: copies n runs of `bytes` bytes from x + x_at[i] to out + out_at[i]; in and out do not
 * overlap. */
void indexed_copy(char *out, const int64_t *out_at, const char *x, const int64_t *x_at, int64_t n,
                  int64_t bytes);

/* Combines n runs of `elements` elements at x + x_at[i] into those at out + out_at[i], of which
 * runs before number `fetched` are prefetched: n, or 0. */
typedef void indexed_fn(char *out, const int64_t *out_at, const char *x, const int64_t *x_at,
                        int64_t n, int64_t elements, int64_t fetched);
/* Such a function, for elements x and y of type T. Before each: TILE_LOOP (tile.h). Runs are short:
 * their first and last lines are prefetched unless the array is near, since the processor may delay
 * a load until the run before is stored. */
#define INDEXED_COMBINE(id, T, formula)                                                            \
    static void id(char *out, const int64_t *out_at, const char *x_data, const int64_t *x_at,      \
                   int64_t n, int64_t elements, int64_t fetched)                                   \
    {                                                                                              \
        for (int64_t i = 0; elements == 1 && i < n; i++) {                                         \
            T *to = (T *)(void *)(out + out_at[i]);                                                \
            const T x = *to, y = *(const T *)(const void *)(x_data + x_at[i]);                     \
            *to = (T)(formula);                                                                    \
        }                                                                                          \
        for (int64_t i = 0; elements > 1 && i < n; i++) {                                          \
            T *to = (T *)(void *)(out + out_at[i]);                                                \
            const T *from = (const T *)(const void *)(x_data + x_at[i]);                           \
            if (i + RUNS_AHEAD < fetched) {                                                        \
                const char *ahead = out + out_at[i + RUNS_AHEAD];                                  \
                __builtin_prefetch(ahead);                                                         \
                __builtin_prefetch(ahead + (elements - 1) * (int64_t)sizeof(T));                   \
            }                                                                                      \
            TILE_LOOP                                                                              \
            for (int64_t j = 0; j < elements; j++) {                                               \
                const T x = to[j], y = from[j];                                                    \
                to[j] = (T)(formula);                                                              \
            }                                                                                      \
        }                                                                                          \
    }

struct indexed_combiner {
    kern_tile_fn *fn;   /* for runs that are long, and types that `points` does not cover */
    indexed_fn *points; /* for short runs; or NULL */
    enum dtype type;
    bool is_far; /* the array that is combined into: it does not stay in the nearest caches */
};
/* For runs of an array; false when elements of its type have no such combiner. */
bool indexed_combiner_init(struct indexed_combiner *c, enum kern_combine combine,
                           const struct view *array);
void indexed_combine(const struct indexed_combiner *c, char *out, const int64_t *out_at,
                     const char *x, const int64_t *x_at, int64_t n, int64_t elements);

#endif
