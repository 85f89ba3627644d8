/*
 * points.c: gathers and scatters of single elements at a line of indices (no kernel of its own).
 */
#include "kern/points.h"

#include "kern/extremes.h"
#include "kern/gather_windows.h"
#include "kern/tile.h"

/* Adds component k, with `size` indices along its dimension, `stride` bytes apart. False: its
 * indices have no equal distances. */
static bool add_component(struct points *p, const struct view *indices, int k,
                          const struct kern_gather_dims *dims, int64_t size, int64_t stride)
{
    const bool separate = dims->component_count > 0;
    const struct view *x = separate ? &indices[k] : indices;
    const char *index = x->data;
    struct nest n;
    nest_init(&n, 1);
    for (int d = 0; d < x->rank; d++)
        if (d != dims->index_vector_dim)
            nest_add(&n, x->dims[d], &x->strides[d]);
        else if (!separate)
            index += k * x->strides[d];
    nest_merge(&n);
    const int64_t step = n.rank > 0 ? n.strides[0][0] : 0;
    if (step == 0 && n.rank <= 1) {
        const int64_t at = kern_load_index(p->index_type, index),
                      inside = max_i64(0, min_i64(at, size - 1));
        p->inside &= at == inside;
        p->array += inside * stride;
        return true;
    }
    p->component[p->components++] = (struct point_component){
        .index = index, .step = step, .limit = (int32_t)(size - 1), .stride = (int32_t)stride};
    return n.rank == 1;
}

bool points_init(struct points *p, const struct view *line, const struct view *array,
                 const struct view *indices, const struct kern_gather_dims *dims)
{
    int64_t bytes = 0;
    if (dims->batching_count > 0 || line->dtype != array->dtype || !view_is_dense(line) ||
        view_elements(array) == 0)
        return false;
    for (int k = 0; k < dims->offset_count; k++)
        if (line->dims[dims->offset_dims[k]] != 1)
            return false;
    *p = (struct points){.line = line->data,
                         .array = array->data,
                         .index_type = indices->dtype,
                         .count = view_elements(line),
                         .inside = true};
    for (int k = 0; k < dims->map_count; k++) {
        const int64_t d = dims->start_index_map[k], size = array->dims[d],
                      stride = array->strides[d];
        if (stride < 0 || size > INT32_MAX || (bytes += size * stride) > INT32_MAX ||
            !add_component(p, indices, k, dims, size, stride))
            return false;
    }
    return true;
}

enum { BLOCK = 256 }; /* elements whose offsets are computed at a time */

/* Adds the offsets of a component to those of n elements; `first`: to zeros. */
typedef void place_fn(int32_t *restrict at, bool first, const int32_t *index,
                      const struct point_component *c, int64_t n);

/* Sets the offsets of n elements of the array, from number `from` on. */
static void find_offsets(const struct points *p, int64_t from, int64_t n, int32_t *at,
                         place_fn *place)
{
    int32_t buffer[BLOCK];
    if (p->components == 0)
        memset(at, 0, (size_t)n * sizeof *at);
    for (int k = 0; k < p->components; k++) {
        const struct point_component *c = &p->component[k];
        const char *index = c->index + from * c->step;
        const bool in_place = p->index_type == DT_S32 && c->step == (int64_t)sizeof *buffer;
        if (!in_place)
            windows_load_starts(p->index_type, buffer, index, c->step, n);
        place(at, k == 0, in_place ? (const int32_t *)(const void *)index : buffer, c, n);
    }
}

/* ---- gather ---- */

static inline int32_t clamp(int32_t x, int32_t limit)
{
    x = x < limit ? x : limit;
    return x > 0 ? x : 0;
}

KERN_CLONES static void place_clamped(int32_t *restrict at, bool first, const int32_t *index,
                                      const struct point_component *c, int64_t n)
{
    const int32_t limit = c->limit, stride = c->stride;
    for (int64_t i = 0; first && i < n; i++)
        at[i] = clamp(index[i], limit) * stride;
    for (int64_t i = 0; !first && i < n; i++)
        at[i] += clamp(index[i], limit) * stride;
}

#define GATHER(W)                                                                                  \
    static void gather_##W(const struct points *p, int64_t from, int64_t limit)                    \
    {                                                                                              \
        const char *array = p->array;                                                              \
        int32_t at[BLOCK];                                                                         \
        for (int64_t n; from < limit; from += n) {                                                 \
            W *out = (W *)(void *)p->line + from;                                                  \
            n = min_i64(limit - from, BLOCK);                                                      \
            find_offsets(p, from, n, at, place_clamped);                                           \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = *(const W *)(const void *)(array + at[i]);                                \
        }                                                                                          \
    }
GATHER(kern_w1)
GATHER(kern_w2)
GATHER(kern_w4)
GATHER(kern_w8)
typedef struct kern_w16 kern_w16;
GATHER(kern_w16)

struct gather_task {
    const struct points *p;
    void (*fn)(const struct points *p, int64_t from, int64_t limit);
};

static void gather_part(void *context, int64_t from, int64_t limit, int worker)
{
    const struct gather_task *t = context;
    t->fn(t->p, from, limit);
}

void points_gather(struct thread_pool *workers, const struct points *p, size_t width)
{
    enum { PIECE = 6 << 10, SHARED_FROM = 2 * PIECE };
    struct gather_task t = {.p = p};
    switch (width) {
    case 1: t.fn = gather_kern_w1; break;
    case 2: t.fn = gather_kern_w2; break;
    case 4: t.fn = gather_kern_w4; break;
    case 8: t.fn = gather_kern_w8; break;
    default: t.fn = gather_kern_w16; break;
    }
    if (p->count < SHARED_FROM)
        t.fn(p, 0, p->count);
    else
        thread_pool_share(workers, p->count, PIECE, gather_part, &t);
}

/* ---- scatter ---- */

/* Less than 0: outside. */
KERN_CLONES static void place_checked(int32_t *restrict at, bool first, const int32_t *index,
                                      const struct point_component *c, int64_t n)
{
    const uint32_t limit = (uint32_t)c->limit, stride = (uint32_t)c->stride;
    for (int64_t i = 0; first && i < n; i++)
        at[i] = (uint32_t)index[i] > limit ? -1 : (int32_t)((uint32_t)index[i] * stride);
    for (int64_t i = 0; !first && i < n; i++) {
        const int32_t sum = (int32_t)((uint32_t)at[i] + (uint32_t)index[i] * stride);
        at[i] = ((at[i] < 0) | ((uint32_t)index[i] > limit)) ? -1 : sum;
    }
}

/* `combined`: an expression of the elements *to and from[i], of type T. */
#define SCATTER(id, T, combined)                                                                   \
    static void id(const struct points *p)                                                         \
    {                                                                                              \
        char *array = p->array;                                                                    \
        int32_t at[BLOCK];                                                                         \
        for (int64_t k = 0, n; p->inside && k < p->count; k += n) {                                \
            const T *from = (const T *)(const void *)p->line + k;                                  \
            n = min_i64(p->count - k, BLOCK);                                                      \
            find_offsets(p, k, n, at, place_checked);                                              \
            for (int64_t i = 0; i < n; i++) {                                                      \
                if (at[i] < 0)                                                                     \
                    continue;                                                                      \
                T *to = (T *)(void *)(array + at[i]);                                              \
                *to = combined(*to, from[i]);                                                      \
            }                                                                                      \
        }                                                                                          \
    }

/* The processor may delay an element until the one before it is stored, so the time from load to
 * store counts: numbers stay in vector registers, and NaN is a branch. */
#define EXTREME(T, WORD, f)                                                                        \
    typedef T floats_##f __attribute__((vector_size(16)));                                         \
    typedef WORD words_##f __attribute__((vector_size(16)));                                       \
    static inline T greater_in_lane_##f(T x, T y)                                                  \
    {                                                                                              \
        const floats_##f a = {x > y ? x : y}, b = {y > x ? y : x};                                 \
        return __builtin_isunordered(x, y) ? greater_##f(x, y)                                     \
                                           : ((floats_##f)((words_##f)a & (words_##f)b))[0];       \
    }                                                                                              \
    static inline T lesser_in_lane_##f(T x, T y)                                                   \
    {                                                                                              \
        const floats_##f a = {x < y ? x : y}, b = {y < x ? y : x};                                 \
        return __builtin_isunordered(x, y) ? lesser_##f(x, y)                                      \
                                           : ((floats_##f)((words_##f)a | (words_##f)b))[0];       \
    }
EXTREME(float, int32_t, f32)
EXTREME(double, int64_t, f64)
#define greater_f32 greater_in_lane_f32
#define lesser_f32 lesser_in_lane_f32
#define greater_f64 greater_in_lane_f64
#define lesser_f64 lesser_in_lane_f64

#define COMBINE(op, type, T, formula)                                                              \
    static inline T of_##op##_##type(T x, T y) { return (T)(formula); }                            \
    SCATTER(op##_##type, T, of_##op##_##type)
#include "kern/combine.def"

static points_fn *const combiners[DT_COUNT][KERN_XOR + 1] = {
#define COMBINE(op, type, T, formula) [DT_##type][KERN_##op] = op##_##type,
#include "kern/combine.def"
};

#define SECOND(x, y) (y)
#define STORE(W) SCATTER(store_##W, W, SECOND)
STORE(kern_w1)
STORE(kern_w2)
STORE(kern_w4)
STORE(kern_w8)
STORE(kern_w16)

points_fn *points_combiner(enum kern_combine combine, enum dtype t)
{
    if (combine != KERN_TAKE_VALUE)
        return combine <= KERN_XOR ? combiners[t][combine] : NULL;
    switch (dtype_bytes(t)) {
    case 1: return store_kern_w1;
    case 2: return store_kern_w2;
    case 4: return store_kern_w4;
    case 8: return store_kern_w8;
    default: return store_kern_w16;
    }
}
