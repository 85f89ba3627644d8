/*
 * reduce_pick.c: reduce of pairs, a value and an index, by a body that keeps the greater (or
 * lesser) value with its index (spec: Reduce), as in argmax and argmin. The best value of an
 * interval is found first, vectorized; only elements equal to it are then passed to the body, which
 * is given as a table. An interval with a NaN is processed element by element.
 *
 * Order and accumulation: row-major; nothing is rounded, so the result is the body's own, bit for
 * bit.
 */
#include <stdlib.h>

#include "kern/nest.h"

/* The state of one result. */
struct pick_state {
    const struct kern_pick *pick;
    union kern_element value, work, index; /* the current value, also in the work type */
    int64_t number;                        /* the current index */
    size_t value_width, index_width;
    enum dtype value_type, index_type;
};

/* Elements a stride apart, and their values packed in the work type. */
struct strided_run {
    const char *value, *index;
    int64_t value_stride, index_stride, n;
    const void *work;
};

static int sign_of(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* Takes from element i what the body takes when the current value compares to the element's as `r`.
 * Returns whether it took the value. */
static bool take_element(struct pick_state *s, const struct strided_run *x, int64_t i,
                         enum kern_relation r)
{
    const char *index = x->index + i * x->index_stride;
    int64_t number = kern_load_index(s->index_type, index);
    uint8_t takes = s->pick->takes[r][1 + sign_of(s->number, number)];
    if (takes & KERN_TAKES_INDEX) {
        memcpy(&s->index, index, s->index_width);
        s->number = number;
    }
    if (takes & KERN_TAKES_VALUE)
        memcpy(&s->value, x->value + i * x->value_stride, s->value_width);
    return takes & KERN_TAKES_VALUE;
}

#define ASCENDS(T)                                                                                 \
    KERN_CLONES static bool ascends_##T(const T *x, int64_t n)                                     \
    {                                                                                              \
        int any = 0;                                                                               \
        for (int64_t i = 1; i < n; i++)                                                            \
            any |= x[i] <= x[i - 1];                                                               \
        return !any;                                                                               \
    }
ASCENDS(int32_t)
ASCENDS(int64_t)

/* Whether the body takes nothing from element i of x and those after it, if their values equal the
 * current one: their indices are greater than the current one, since they ascend. */
static bool takes_no_more(const struct pick_state *s, const struct strided_run *x, int64_t i)
{
    const char *index = x->index + i * x->index_stride;
    const bool greater = kern_load_index(s->index_type, index) > s->number;
    if (!greater || s->pick->takes[KERN_EQUAL][0] != 0 ||
        x->index_stride != (int64_t)s->index_width)
        return false;
    return (s->index_type == DT_S32 && ascends_int32_t((const void *)index, x->n - i)) ||
           (s->index_type == DT_S64 && ascends_int64_t((const void *)index, x->n - i));
}

/* Lane by lane, then of the lanes by halving. */
#define BEST_OF_LANES(BETTER)                                                                      \
    {                                                                                              \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int j = 0; j < LANES; j++) {                                                      \
                lanes[j] = x[i + j] BETTER lanes[j] ? x[i + j] : lanes[j];                         \
                bad[j] |= x[i + j] != x[i + j];                                                    \
            }                                                                                      \
        for (int j = 0; i < n; i++, j++) {                                                         \
            lanes[j] = x[i] BETTER lanes[j] ? x[i] : lanes[j];                                     \
            bad[j] |= x[i] != x[i];                                                                \
        }                                                                                          \
        for (int step = LANES / 2; step > 0; step /= 2)                                            \
            for (int j = 0; j < step; j++) {                                                       \
                lanes[j] = lanes[j + step] BETTER lanes[j] ? lanes[j + step] : lanes[j];           \
                bad[j] |= bad[j + step];                                                           \
            }                                                                                      \
    }

/* For the work type T, stored in `FIELD` of an accumulator; MASK is an integer as wide. */
#define PICK_OF(T, FIELD, MASK)                                                                    \
    static enum kern_relation relation_##FIELD(T a, T b)                                           \
    {                                                                                              \
        if (a < b)                                                                                 \
            return KERN_BELOW;                                                                     \
        if (a > b)                                                                                 \
            return KERN_ABOVE;                                                                     \
        if (a == b)                                                                                \
            return KERN_EQUAL;                                                                     \
        return a == a ? KERN_ELEMENT_NAN : b == b ? KERN_SO_FAR_NAN : KERN_BOTH_NAN;               \
    }                                                                                              \
    /* The greatest of n elements, or the least; NaNs are skipped, and *nan is set. */             \
    KERN_CLONES static T best_##FIELD(const T *restrict x, int64_t n, bool greatest, bool *nan)    \
    {                                                                                              \
        enum { LANES = 128 / sizeof(T) };                                                          \
        T lanes[LANES];                                                                            \
        MASK bad[LANES] = {0};                                                                     \
        int64_t i = 0;                                                                             \
        for (int j = 0; j < LANES; j++)                                                            \
            lanes[j] = x[0];                                                                       \
        if (greatest)                                                                              \
            BEST_OF_LANES(>)                                                                       \
        else                                                                                       \
            BEST_OF_LANES(<)                                                                       \
        *nan = bad[0];                                                                             \
        return lanes[0];                                                                           \
    }                                                                                              \
    KERN_CLONES static bool found_##FIELD(const T *x, int64_t n, T target)                         \
    {                                                                                              \
        MASK any = 0;                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            any |= x[i] == target;                                                                 \
        return any;                                                                                \
    }                                                                                              \
    static void take_##FIELD(struct pick_state *s, const struct strided_run *x, int64_t i)         \
    {                                                                                              \
        T value = ((const T *)x->work)[i];                                                         \
        if (take_element(s, x, i, relation_##FIELD(s->work.FIELD, value)))                         \
            s->work.FIELD = value;                                                                 \
    }                                                                                              \
    static void pick_##FIELD(struct pick_state *s, const struct strided_run *x)                    \
    {                                                                                              \
        enum { BLOCK = 64 };                                                                       \
        const T *work = x->work, so_far = s->work.FIELD;                                           \
        bool nan, greatest = s->pick->greatest;                                                    \
        T best = best_##FIELD(work, x->n, greatest, &nan);                                         \
        if (nan || so_far != so_far) {                                                             \
            for (int64_t i = 0; i < x->n; i++)                                                     \
                take_##FIELD(s, x, i);                                                             \
            return;                                                                                \
        }                                                                                          \
        if (greatest ? best < so_far : best > so_far)                                              \
            return;                                                                                \
        for (int64_t i = 0, taken = 0; i < x->n; i += BLOCK) {                                     \
            int64_t count = x->n - i < BLOCK ? x->n - i : BLOCK;                                   \
            if (!found_##FIELD(work + i, count, best))                                             \
                continue;                                                                          \
            for (int64_t j = i; j < i + count; j++) {                                              \
                if (work[j] != best)                                                               \
                    continue;                                                                      \
                if (++taken == 2 && takes_no_more(s, x, j))                                        \
                    return;                                                                        \
                take_##FIELD(s, x, j);                                                             \
            }                                                                                      \
        }                                                                                          \
    }

PICK_OF(float, f32, int32_t)
PICK_OF(double, f64, int64_t)
PICK_OF(int32_t, s32, int32_t)
PICK_OF(int64_t, s64, int64_t)
PICK_OF(uint64_t, u64, int64_t)

/* The type that values of type `t` are compared in. */
static enum dtype pick_work_type(enum dtype t)
{
    if (dtype_is_float(t))
        return t == DT_F64 ? DT_F64 : DT_F32;
    if (t == DT_U64)
        return DT_U64;
    return dtype_bits(t) < 32 || t == DT_S32 ? DT_S32 : DT_S64;
}

static void pick_run(enum dtype work, struct pick_state *s, const struct strided_run *x)
{
    switch (work) {
    case DT_F32: pick_f32(s, x); break;
    case DT_F64: pick_f64(s, x); break;
    case DT_S32: pick_s32(s, x); break;
    case DT_S64: pick_s64(s, x); break;
    default: pick_u64(s, x); break;
    }
}

/* ---- result by result ---- */

struct pick_reducer {
    enum dtype work;
    struct loader to_work;
    struct nest kept, reduced; /* kept: value and index of the result, then of the operand; reduced:
                                  of the operand */
    struct pick_state start;
    char *at[4]; /* addresses of the views of `kept` */
};

static void reduce_pairs(const struct pick_reducer *f, struct pick_state *s, char *value,
                         char *index)
{
    char scratch[LOADER_BYTES] __attribute__((aligned(64)));
    int inner = f->reduced.rank - 1;
    int64_t n = f->reduced.dims[inner];
    struct strided_run x = {.value_stride = f->reduced.strides[0][inner],
                            .index_stride = f->reduced.strides[1][inner]};
    struct nest_walk w;
    nest_start(&w, &f->reduced, inner, (char *[]){value, index});
    do {
        for (int64_t i = 0; i < n; i += KERN_TILE) {
            x.n = n - i < KERN_TILE ? n - i : KERN_TILE;
            x.value = w.at[0] + i * x.value_stride;
            x.index = w.at[1] + i * x.index_stride;
            x.work = loader_read(&f->to_work, scratch, x.value, x.value_stride, x.n);
            pick_run(f->work, s, &x);
        }
    } while (nest_step(&w));
}

static void split_pairs(struct pick_reducer *f, const struct view *out, const struct view *x,
                        const bool *reduced)
{
    nest_init(&f->kept, 4);
    nest_init(&f->reduced, 2);
    for (int d = 0, k = 0; d < x->rank; d++) {
        int64_t strides[4] = {0, 0, x[0].strides[d], x[1].strides[d]};
        if (reduced[d]) {
            nest_add(&f->reduced, x->dims[d], strides + 2);
            continue;
        }
        strides[0] = out[0].strides[k];
        strides[1] = out[1].strides[k++];
        nest_add(&f->kept, x->dims[d], strides);
    }
    nest_merge(&f->reduced);
    if (f->reduced.rank == 0)
        nest_add(&f->reduced, 1, (int64_t[]){0, 0});
}

/* Whether the elements of a result are in different cache lines; then adjacent results are
 * processed together. */
static bool far_apart(const struct view *x, const bool *reduced)
{
    for (int d = x->rank - 1; d >= 0; d--)
        if (reduced[d] && x->dims[d] > 1)
            return llabs(x->strides[d]) > 32;
    return true;
}

/* Whether results are adjacent as columns_apply requires. */
static bool in_columns(const struct view *x, const bool *reduced)
{
    int lane = x->rank - 1;
    while (lane >= 0 && reduced[lane])
        lane--;
    return lane >= 0 && x[0].dtype == DT_F32 && x[1].dtype == DT_S32 && x->dims[lane] >= 16 &&
           x->strides[lane] == (int64_t)sizeof(float);
}

bool pick_applies(int n, const struct view *out, const struct view *x, const enum dtype *acc,
                  const bool *reduced, const struct kern_body *body)
{
    if (n != 2 || !body->pick ||
        (far_apart(x, reduced) && lanes_apply(out, body) && view_elements(out) >= 16 &&
         !in_columns(x, reduced)))
        return false;
    for (int k = 0; k < n; k++)
        if (x[k].dtype != acc[k] || out[k].dtype != acc[k])
            return false;
    return true;
}

/* ---- adjacent results: f32 with s32 indices ---- */

enum { COLUMNS = KERN_TILE, ROWS_AHEAD = 3, LINE = 64 };
struct columns {
    float value[COLUMNS];
    /* open: nonzero for elements neither better nor worse */
    int32_t index[COLUMNS], open[COLUMNS];
};

/* Takes better elements; returns whether any is open. */
#define PICK_ROW(NAME, BETTER, WORSE)                                                              \
    KERN_CLONES static bool pick_row_##NAME(struct columns *restrict c, const float *restrict x,   \
                                            const int32_t *restrict index, int64_t n)              \
    {                                                                                              \
        int32_t any = 0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const float so_far = c->value[i];                                                      \
            const int32_t open = !(x[i] BETTER so_far) & !(x[i] WORSE so_far);                     \
            c->index[i] = x[i] BETTER so_far ? index[i] : c->index[i];                             \
            c->value[i] = x[i] BETTER so_far ? x[i] : so_far;                                      \
            c->open[i] = open;                                                                     \
            any |= open;                                                                           \
        }                                                                                          \
        return any;                                                                                \
    }
PICK_ROW(greatest, >, <)
PICK_ROW(min, <, >)

static void pick_open_element(const struct kern_pick *pick, struct columns *c, float x,
                              int32_t index, int64_t i)
{
    uint8_t takes = pick->takes[relation_f32(c->value[i], x)][1 + sign_of(c->index[i], index)];
    c->index[i] = takes & KERN_TAKES_INDEX ? index : c->index[i];
    c->value[i] = takes & KERN_TAKES_VALUE ? x : c->value[i];
}

/* Applies the table to elements for which the values do not decide. Mostly there are few. */
KERN_CLONES static void pick_open(const struct kern_pick *pick, struct columns *c, const float *x,
                                  const int32_t *index, int64_t n)
{
    enum { BLOCK = 64 };
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t limit = n - i < BLOCK ? n : i + BLOCK;
        int32_t any = 0;
        for (int64_t j = i; j < limit; j++)
            any |= c->open[j];
        for (int64_t j = i; any && j < limit; j++)
            if (c->open[j])
                pick_open_element(pick, c, x[j], index[j], j);
    }
}

/* Results of few elements are processed so even where the elements are adjacent. */
static bool columns_apply(const struct pick_reducer *f)
{
    enum { FEW = 32 };
    int lane = f->kept.rank - 1, inner = f->reduced.rank - 1;
    return lane >= 0 && f->kept.dims[lane] >= 16 &&
           (nest_points(&f->reduced) <= FEW ||
            (f->kept.strides[2][lane] == (int64_t)sizeof(float) &&
             llabs(f->reduced.strides[0][inner]) > (int64_t)sizeof(float))) &&
           f->start.value_type == DT_F32 && f->start.index_type == DT_S32;
}

static void pick_columns(const struct pick_reducer *f, char *const *at, int64_t n)
{
    struct columns c;
    float values[COLUMNS];
    int32_t scratch[COLUMNS];
    int lane = f->kept.rank - 1;
    int64_t stride = f->kept.strides[2][lane], index_stride = f->kept.strides[3][lane];
    int64_t ahead = ROWS_AHEAD * f->reduced.strides[0][f->reduced.rank - 1];
    struct nest_walk w;
    kern_pack(c.value, (const char *)&f->start.value, 0, sizeof *c.value, n);
    kern_pack(c.index, (const char *)&f->start.index, 0, sizeof *c.index, n);
    nest_start(&w, &f->reduced, f->reduced.rank, at + 2);
    do {
        const float *x = (const float *)(const void *)w.at[0];
        if (stride != (int64_t)sizeof *x) {
            kern_pack(values, w.at[0], stride, sizeof *x, n);
            x = values;
        }
        for (int64_t i = 0; i < n && x != values; i += LINE / (int64_t)sizeof *x)
            __builtin_prefetch(
                w.at[0] + ahead +
                i * (int64_t)sizeof *x); /* processors don't prefetch such short rows */
        const int32_t *index = (const int32_t *)(const void *)w.at[1];
        if (index_stride != (int64_t)sizeof *index) {
            kern_pack(scratch, w.at[1], index_stride, sizeof *index, n);
            index = scratch;
        }
        if ((f->start.pick->greatest ? pick_row_greatest : pick_row_min)(&c, x, index, n))
            pick_open(f->start.pick, &c, x, index, n);
    } while (nest_step(&w));
    kern_unpack(at[0], f->kept.strides[0][lane], c.value, sizeof *c.value, n);
    kern_unpack(at[1], f->kept.strides[1][lane], c.index, sizeof *c.index, n);
}

static void pick_tiles(void *context, int64_t from, int64_t to, int worker)
{
    const struct pick_reducer *f = context;
    int lane = f->kept.rank - 1;
    int64_t n = f->kept.dims[lane], across = ratio_up(n, COLUMNS);
    for (int64_t t = from; t < to; t++) {
        int64_t column = t % across * COLUMNS;
        struct nest_walk w;
        nest_start_from(&w, &f->kept, lane, f->at, t / across);
        for (int k = 0; k < 4; k++)
            w.at[k] += column * f->kept.strides[k][lane];
        pick_columns(f, w.at, n - column < COLUMNS ? n - column : COLUMNS);
    }
}

/* ---- all results ---- */

static void pick_results(void *context, int64_t from, int64_t to, int worker)
{
    const struct pick_reducer *f = context;
    struct nest_walk w;
    nest_start_from(&w, &f->kept, f->kept.rank, f->at, from);
    for (; from < to; from++, nest_step(&w)) {
        struct pick_state s = f->start;
        reduce_pairs(f, &s, w.at[2], w.at[3]);
        memcpy(w.at[0], &s.value, s.value_width);
        memcpy(w.at[1], &s.index, s.index_width);
    }
}

void reduce_by_pick(struct thread_pool *workers, const struct view *out, const struct view *x,
                    const void *const *init, const bool *reduced, const struct kern_pick *pick)
{
    enum { PART = 64 * KERN_TILE }; /* elements */
    struct pick_reducer f = {.work = pick_work_type(x[0].dtype),
                             .at = {out[0].data, out[1].data, x[0].data, x[1].data}};
    struct pick_state *start = &f.start;
    union kern_element element;
    *start = (struct pick_state){.pick = pick,
                                 .value_width = dtype_bytes(x[0].dtype),
                                 .index_width = dtype_bytes(x[1].dtype),
                                 .value_type = x[0].dtype,
                                 .index_type = x[1].dtype};
    loader_init(&f.to_work, f.work, x[0].dtype);
    split_pairs(&f, out, x, reduced);
    memcpy(&start->value, init[0], start->value_width);
    memcpy(&start->index, init[1], start->index_width);
    memcpy(&start->work, loader_read(&f.to_work, &element, init[0], 0, 1), dtype_bytes(f.work));
    start->number = kern_load_index(start->index_type, init[1]);
    const int64_t results = nest_points(&f.kept), under = nest_points(&f.reduced);
    if (columns_apply(&f)) {
        const int64_t n = f.kept.dims[f.kept.rank - 1];
        thread_pool_share(workers, results / n * ratio_up(n, COLUMNS), PART / COLUMNS / under + 1,
                          pick_tiles, &f);
    } else {
        thread_pool_share(workers, results, PART / under + 1, pick_results, &f);
    }
}
