/*
 * Tests of kernels on arrays large enough to be shared by threads: results are bitwise identical
 * for any number of threads, and agree with the reference kernel as documented at the kernel.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"
#include "thread_pools.h"

/* Floats whose sums round, otherwise as in random_view.h; a repeated pattern. */
static struct random_view large_array(struct random *r, enum dtype t, int rank, const int64_t *dims)
{
    enum { PATTERN = 1009 };
    struct random_view v = random_layout(r, t, rank, dims);
    union {
        char bytes[16];
        uint64_t align;
    } pattern[PATTERN];
    int64_t i[VIEW_MAX_RANK] = {0}, n = 0;
    memset(pattern, 0, sizeof pattern);
    for (int k = 0; k < PATTERN; k++) {
        random_element(r, t, &pattern[k]);
        if (dtype_is_float(t) && t != DT_F8E8M0FNU && !(r->specials && k % 100 == 0))
            float_store(t, &pattern[k], (double)(int64_t)random_bits(r) * 0x1p-63);
    }
    if (view_elements(&v.view) > 0)
        do
            memcpy(view_at(&v.view, i), &pattern[n++ % PATTERN], dtype_bytes(t));
        while (index_next(rank, dims, i));
    return v;
}

static enum dtype one_of(struct random *r, const enum dtype *types, size_t count)
{
    return types[random_in(r, 0, (int64_t)count - 1)];
}
#define ONE_OF(r, ...)                                                                             \
    one_of(r, (const enum dtype[]){__VA_ARGS__}, COUNT_OF(((enum dtype[]){__VA_ARGS__})))

/* Tolerance for sums of elements below 1 in another order. */
static double order_error(enum dtype t)
{
    return t == DT_F64 ? 1e-11 : t == DT_F32 ? 1e-4 : dtype_is_float(t) ? 1e-2 : 0;
}

/* A kernel with its operands: the fast one with a thread pool, or the reference. */
struct trial {
    const char *name;
    int seed;
    bool (*run)(const struct trial *t, struct thread_pool *workers, bool plain, struct view *out);
    int count;                       /* results */
    struct random_view out[2], x[4]; /* x may lack a block */
    double error, scale;
    bool in_place; /* results are initialized with x[0] */
    /* what the kernels take */
    const void *init[2];
    enum dtype acc[2];
    bool reduced[3];
    struct kern_body body;
    struct kern_pad_dim pads[3];
    struct kern_gather_dims gather;
    struct kern_window_dim window[4];
    struct kern_comparator less;
    int dimension;
};

static struct random_view same_layout(const struct random_view *v, struct random *r)
{
    int64_t dims[VIEW_MAX_RANK];
    memcpy(dims, v->view.dims, sizeof dims);
    return random_layout(r, v->view.dtype, v->view.rank, dims);
}

static void run_trial(const struct trial *t, struct thread_pool *workers, bool plain,
                      const struct random_view *out)
{
    struct view views[2] = {out[0].view, out[1].view};
    int64_t i[VIEW_MAX_RANK] = {0};
    if (t->in_place)
        do
            memcpy(view_at(&views[0], i), view_at(&t->x[0].view, i), dtype_bytes(views[0].dtype));
        while (index_next(views[0].rank, views[0].dims, i));
    ck_assert(t->run(t, workers, plain, views));
}

/* Runs the trial, and frees the storage of operands and results. */
static void check_trial(struct trial *t, struct random *r)
{
    struct random_view first[2] = {t->out[0]}, other[2] = {t->out[0]};
    for (int k = 0; k < t->count; k++) {
        first[k] = same_layout(&t->out[k], r);
        other[k] = same_layout(&t->out[k], r);
    }
    run_trial(t, NULL, true, t->out);
    run_trial(t, NULL, false, first);
    for (int k = 0; k < t->count; k++)
        ck_assert_msg(views_agree(&first[k].view, &t->out[k].view, t->error, t->scale),
                      "%s, seed %d", t->name, t->seed);
    for (int size = 0; size < THREAD_POOLS; size++) {
        run_trial(t, thread_pools[size], false, other);
        for (int k = 0; k < t->count; k++)
            ck_assert_msg(views_agree(&other[k].view, &first[k].view, 0, 0),
                          "%s, seed %d, %d threads", t->name, t->seed, thread_counts[size]);
    }
    for (int k = 0; k < t->count; k++) {
        FREE_VIEWS(&t->out[k], &first[k], &other[k]);
    }
    for (int k = 0; k < 4; k++)
        free(t->x[k].block);
}

/* ---- reduce.c ---- */

/* A trial that reduces one random array, with a random initial value. */
static void check_reduction(struct trial *t, struct random *r, int rank, const int64_t *dims,
                            int out_rank, const int64_t *out_dims)
{
    char init[16] = {0};
    random_element(r, t->acc[0], init);
    t->init[0] = init;
    t->x[0] = large_array(r, t->acc[0], rank, dims);
    t->out[0] = random_layout(r, t->acc[0], out_rank, out_dims);
    check_trial(t, r);
}

static bool run_reduce(const struct trial *t, struct thread_pool *workers, bool plain,
                       struct view *out)
{
    return (plain ? plain_reduce : kern_reduce)(workers, t->count, out, &t->x[0].view, t->init,
                                                t->acc, t->reduced, &t->body);
}

START_TEST(reductions)
{
    for (int seed = 0; seed < 40; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 4 == 0};
        enum dtype t =
            ONE_OF(&r, DT_F32, DT_F32, DT_BF16, DT_F16, DT_F64, DT_S32, DT_U8, DT_PRED, DT_C64);
        struct trial trial = {"reduce",  seed, run_reduce, 1, .acc = {t}, .error = order_error(t),
                              .scale = 1};
        trial.body.combine = KERN_ADD;
        if (!dtype_is_complex(t) && random_in(&r, 0, 1))
            trial.body.combine = (enum kern_combine)random_in(&r, KERN_MULTIPLY, KERN_MINIMUM);
        int64_t dims[3] = {random_in(&r, 1, 5), random_in(&r, 1, 600), random_in(&r, 1, 600)},
                out_dims[3];
        if (seed % 4 == 1)
            dims[2] = random_in(&r, 60000, 150000) / (dims[0] * (dims[1] = random_in(&r, 1, 5)));
        int kept = 0;
        for (int d = 0; d < 3; d++) {
            trial.reduced[d] = d == 0 ? random_in(&r, 0, 1) : seed % 3 != d - 1;
            if (!trial.reduced[d])
                out_dims[kept++] = dims[d];
        }
        check_reduction(&trial, &r, 3, dims, kept, out_dims);
    }
}
END_TEST

/* Down columns of few adjacent elements. */
START_TEST(reductions_of_short_rows)
{
    static const enum dtype types[] = {DT_PRED, DT_S8,  DT_U8,  DT_S16, DT_U16, DT_S4,
                                       DT_S32,  DT_U32, DT_S64, DT_U64, DT_F16, DT_F32};
    for (int seed = 0; seed < 400; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 4 == 0};
        const enum dtype t = types[seed % (int)COUNT_OF(types)];
        struct trial trial = {"reduce",  seed, run_reduce, 1, .acc = {t}, .error = order_error(t),
                              .scale = 1};
        const int64_t dims[3] = {random_in(&r, 1, 9), random_in(&r, 1, 40),
                                 random_in(&r, 1, 80 / (int64_t)dtype_bytes(t))},
                      out_dims[2] = {dims[0], dims[2]};
        trial.body.combine =
            (enum kern_combine)random_in(&r, KERN_ADD, dtype_is_float(t) ? KERN_MINIMUM : KERN_XOR);
        trial.reduced[1] = true;
        check_reduction(&trial, &r, 3, dims, 2, out_dims);
    }
}
END_TEST

/* The greater value, and of equal ones the one with the lesser index. */
static bool greater_pair(void *context, const void *const *args, void *const *results)
{
    float a = *(const float *)args[0], b = *(const float *)args[2];
    int32_t i = *(const int32_t *)args[1], j = *(const int32_t *)args[3];
    bool keep = a > b || (a == b && i < j);
    memcpy(results[0], args[keep ? 0 : 2], sizeof a);
    memcpy(results[1], args[keep ? 1 : 3], sizeof i);
    return true;
}

static bool run_pick(const struct trial *t, struct thread_pool *workers, bool plain,
                     struct view *out)
{
    struct view x[2] = {t->x[0].view, t->x[1].view};
    return (plain ? plain_reduce : kern_reduce)(workers, 2, out, x, t->init, t->acc, t->reduced,
                                                &t->body);
}

START_TEST(argmin_argmax)
{
    static const struct kern_pick greatest = {true,
                                              {[KERN_BELOW] = {3, 3, 3},
                                               [KERN_EQUAL] = {0, 3, 3},
                                               [KERN_ELEMENT_NAN] = {3, 3, 3},
                                               [KERN_SO_FAR_NAN] = {3, 3, 3},
                                               [KERN_BOTH_NAN] = {3, 3, 3}}};
    static const float low = -2;
    static const int32_t none = -1;
    for (int seed = 0; seed < 12; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 2};
        struct trial trial = {
            "pick", seed, run_pick, 2, .init = {&low, &none}, .acc = {DT_F32, DT_S32}};
        int64_t dims[2] = {random_in(&r, 1, 700), random_in(&r, 1, 700)};
        trial.body =
            (struct kern_body){.combine = KERN_CALL, .call = greater_pair, .pick = &greatest};
        trial.reduced[seed % 2] = true;
        trial.x[0] = large_array(&r, DT_F32, 2, dims);
        trial.x[1] = large_array(&r, DT_S32, 2, dims);
        trial.out[0] = random_layout(&r, DT_F32, 1, &dims[!(seed % 2)]);
        trial.out[1] = random_layout(&r, DT_S32, 1, &dims[!(seed % 2)]);
        check_trial(&trial, &r);
    }
}
END_TEST

/* ---- window.c, window_lanes.c, cumulative.c, select_scatter.c ---- */

static bool run_window(const struct trial *t, struct thread_pool *workers, bool plain,
                       struct view *out)
{
    return (plain ? plain_reduce_window : kern_reduce_window)(workers, 1, out, &t->x[0].view,
                                                              t->init, t->acc, t->window, &t->body);
}

/* Images, whose last dimension is a feature's or a column's. */
static void window_dims(struct trial *t, struct random *r, int64_t *dims, int64_t *out_dims)
{
    int64_t features = random_in(r, 1, 70);
    dims[0] = random_in(r, 1, 3);
    dims[1] = random_in(r, 1, 40);
    dims[2] = 60000 / (dims[0] * dims[1] * features) + 1;
    dims[3] = features;
    random_window(r, 4, dims, t->window, out_dims);
    for (int d = 0; d < 4; d += 3)
        if (random_in(r, 0, 4)) {
            t->window[d] = (struct kern_window_dim){1, 1, 0, 0, 1, 1, false};
            out_dims[d] = dims[d];
        }
}

START_TEST(reduce_windows)
{
    for (int seed = 0; seed < 48; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 4 == 0};
        enum dtype t = ONE_OF(&r, DT_F32, DT_F32, DT_BF16, DT_F64, DT_S32, DT_U8);
        struct trial trial = {"reduce-window",         seed,      run_window, 1, .acc = {t},
                              .error = order_error(t), .scale = 1};
        int64_t dims[4], out_dims[4];
        window_dims(&trial, &r, dims, out_dims);
        if (seed % 8 == 7) { /* running sums */
            int d = (int)random_in(&r, 1, 2);
            for (int k = 0; k < 4; k++)
                trial.window[k] = (struct kern_window_dim){1, 1, 0, 0, 1, 1, false};
            dims[d] = dims[d] > 200 ? 200 : dims[d];
            trial.window[d].size = dims[d];
            trial.window[d].pad_low = random_in(&r, 0, 1) ? dims[d] - 1 : 0;
            memcpy(out_dims, dims, sizeof dims);
        } else if (seed % 4 == 1) { /* long ones, or many positions, in several slices */
            const int64_t size = random_in(&r, 6, 70), wide = min_i64(dims[1], seed % 8);
            trial.window[1] = (struct kern_window_dim){wide, 1, wide - 1, 0, 1, 1, false};
            trial.window[2] = (struct kern_window_dim){size, 1, size, 0, 1, 1, false};
            out_dims[1] = dims[1];
            out_dims[2] = dims[2] + 1;
        }
        trial.body.combine = (enum kern_combine)random_in(&r, KERN_MAXIMUM, KERN_MINIMUM);
        if (random_in(&r, 0, 1))
            trial.body.combine = KERN_ADD;
        check_reduction(&trial, &r, 4, dims, 4, out_dims);
    }
}
END_TEST

static bool run_select(const struct trial *t, struct thread_pool *workers, bool plain,
                       struct view *out)
{
    struct kern_body select = {.combine = KERN_SELECT_GE};
    return (plain ? plain_select_and_scatter : kern_select_and_scatter)(
        workers, out, &t->x[0].view, &t->x[1].view, t->init[0], t->window, &select, &t->body);
}

START_TEST(select_and_scatters)
{
    for (int seed = 0; seed < 20; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 4 == 0};
        enum dtype t = ONE_OF(&r, DT_F32, DT_F32, DT_BF16, DT_S32);
        struct trial trial = {"select-and-scatter", seed, run_select, 1, .error = EQUAL_NUMBERS};
        int64_t dims[4], out_dims[4];
        char init[16] = {0};
        window_dims(&trial, &r, dims, out_dims);
        random_element(&r, t, init);
        trial.body.combine = KERN_ADD;
        trial.init[0] = init;
        trial.x[0] = large_array(&r, t, 4, dims);
        trial.x[1] = large_array(&r, t, 4, out_dims);
        trial.out[0] = random_layout(&r, t, 4, dims);
        check_trial(&trial, &r);
    }
}
END_TEST

/* ---- copy.c, shape.c ---- */

static bool run_copy(const struct trial *t, struct thread_pool *workers, bool plain,
                     struct view *out)
{
    int64_t i[VIEW_MAX_RANK] = {0};
    if (!plain)
        kern_copy(workers, out, &t->x[0].view);
    else
        do
            memcpy(view_at(out, i), view_at(&t->x[0].view, i), dtype_bytes(out->dtype));
        while (index_next(out->rank, out->dims, i));
    return true;
}

START_TEST(copies)
{
    for (int seed = 0; seed < 20; seed++) {
        struct random r = {(uint64_t)seed};
        enum dtype t = ONE_OF(&r, DT_U8, DT_BF16, DT_F32, DT_S64, DT_C128);
        struct trial trial = {"copy", seed, run_copy, 1};
        int rank = (int)random_in(&r, 1, 3);
        int64_t dims[3], left = random_in(&r, 500, 1200) * 1024 / (int64_t)dtype_bytes(t);
        for (int d = 0; d < rank; d++) {
            dims[d] = d == rank - 1 ? left : random_in(&r, 1, rank == 2 ? 900 : 60);
            left = left / dims[d] + 1;
        }
        trial.x[0] = large_array(&r, t, rank, dims);
        if (random_in(&r, 0, 5) == 0)
            trial.x[0].view.strides[random_in(&r, 0, rank - 1)] = 0;
        trial.out[0] = random_layout(&r, t, rank, dims);
        check_trial(&trial, &r);
    }
}
END_TEST

static bool run_pad(const struct trial *t, struct thread_pool *workers, bool plain,
                    struct view *out)
{
    (plain ? plain_pad : kern_pad)(workers, out, &t->x[0].view, t->init[0], t->pads);
    return true;
}

START_TEST(pads)
{
    for (int seed = 0; seed < 12; seed++) {
        struct random r = {(uint64_t)seed};
        enum dtype t = ONE_OF(&r, DT_U8, DT_BF16, DT_F32, DT_F64);
        struct trial trial = {"pad", seed, run_pad, 1};
        char value[16] = {0};
        int64_t dims[2] = {random_in(&r, 1, 700), random_in(&r, 1, 700)}, out_dims[2];
        for (int d = 0; d < 2; d++) {
            struct kern_pad_dim *p = &trial.pads[d];
            *p = (struct kern_pad_dim){random_in(&r, -20, 90), random_in(&r, -20, 90),
                                       random_in(&r, 0, 1)};
            int64_t size = p->low + p->high + (dims[d] - 1) * (p->interior + 1) + 1;
            out_dims[d] = size < 1 ? (p->high += 1 - size, 1) : size;
        }
        random_element(&r, t, value);
        trial.init[0] = value;
        trial.x[0] = large_array(&r, t, 2, dims);
        trial.out[0] = random_layout(&r, t, 2, out_dims);
        check_trial(&trial, &r);
    }
}
END_TEST

static bool run_iota(const struct trial *t, struct thread_pool *workers, bool plain,
                     struct view *out)
{
    (plain ? plain_iota : kern_iota)(workers, out, t->dimension);
    return true;
}

START_TEST(iotas)
{
    for (int seed = 0; seed < 10; seed++) {
        struct random r = {(uint64_t)seed};
        struct trial trial = {"iota", seed, run_iota, 1, .dimension = seed % 2};
        int64_t dims[2] = {random_in(&r, 1, 1500), random_in(&r, 1, 1500)};
        trial.out[0] = random_layout(&r, ONE_OF(&r, DT_U8, DT_F32, DT_S64), 2, dims);
        check_trial(&trial, &r);
    }
}
END_TEST

/* ---- gather.c ---- */

static bool run_gather(const struct trial *t, struct thread_pool *workers, bool plain,
                       struct view *out)
{
    (plain ? plain_gather : kern_gather)(workers, out, &t->x[0].view, &t->x[1].view, &t->gather);
    return true;
}

static bool run_scatter(const struct trial *t, struct thread_pool *workers, bool plain,
                        struct view *out)
{
    return (plain ? plain_scatter : kern_scatter)(workers, 1, out, &t->x[1].view, &t->x[2].view,
                                                  &t->gather, &t->body);
}

/* Rows of a table, or slices of them, some out of bounds. */
static void row_trial(struct trial *t, struct random *r, bool few)
{
    int64_t rows = random_in(r, 3, 400), columns = random_in(r, 1, 300),
            width = random_in(r, 0, 3) ? random_in(r, 1, columns) : 1;
    int64_t tuples = few ? random_in(r, 1, 5) : 1 + 500000 / (width * 4),
            index_dims[2] = {tuples, random_in(r, 1, 2)};
    int64_t out_dims[2] = {tuples, width};
    enum dtype type = ONE_OF(r, DT_F32, DT_F32, DT_BF16, DT_U8, DT_C128);
    if (few) {
        rows = 2 * random_in(r, 1, 3);
        columns = 300000;
        out_dims[1] = width = random_in(r, 200000, columns);
    }
    t->gather = (struct kern_gather_dims){.offset_count = 1,
                                          .offset_dims = {1},
                                          .collapsed_count = 1,
                                          .map_count = (int)index_dims[1],
                                          .start_index_map = {0, 1},
                                          .index_vector_dim = 1,
                                          .slice_sizes = {1, width}};
    t->x[0] = large_array(r, type, 2, (int64_t[]){rows, columns});
    t->x[1] = random_layout(r, DT_S32, 2, index_dims);
    t->x[2] = large_array(r, type, 2, out_dims);
    for (int64_t i[2] = {0}; i[0] < tuples; i[0]++) {
        *(int32_t *)(void *)view_at(&t->x[1].view, (int64_t[]){i[0], 0}) =
            (int32_t)random_in(r, -1, rows);
        if (index_dims[1] == 2)
            *(int32_t *)(void *)view_at(&t->x[1].view, (int64_t[]){i[0], 1}) =
                (int32_t)random_in(r, 0, columns - width);
    }
}

START_TEST(gathers)
{
    for (int seed = 0; seed < 15; seed++) {
        struct random r = {(uint64_t)seed};
        struct trial trial = {"gather", seed, run_gather, 1};
        row_trial(&trial, &r, seed % 5 == 0);
        trial.out[0] = same_layout(&trial.x[2], &r);
        check_trial(&trial, &r);
    }
}
END_TEST

START_TEST(scatters)
{
    for (int seed = 0; seed < 15; seed++) {
        struct random r = {(uint64_t)seed};
        struct trial trial = {"scatter", seed, run_scatter, 1, .in_place = true};
        row_trial(&trial, &r, seed % 5 == 0);
        bool adds = seed % 3 == 1 ||
                    dtype_is_complex(trial.x[0].view.dtype); /* products overflow: any NaN */
        trial.body.combine = seed % 3 == 0 ? KERN_TAKE_VALUE : adds ? KERN_ADD : KERN_MULTIPLY;
        trial.out[0] = same_layout(&trial.x[0], &r);
        check_trial(&trial, &r);
    }
}
END_TEST

/* ---- sort.c ---- */

static bool run_sort(const struct trial *t, struct thread_pool *workers, bool plain,
                     struct view *out)
{
    struct view x[2] = {t->x[0].view, t->x[1].view};
    return (plain ? plain_sort : kern_sort)(workers, t->count, out, x, t->dimension, &t->less);
}

START_TEST(sorts)
{
    for (int seed = 0; seed < 12; seed++) {
        struct random r = {(uint64_t)seed, .small = true, .specials = seed % 2};
        struct trial trial = {"sort", seed, run_sort, (int)random_in(&r, 1, 2),
                              .dimension = seed % 3 == 0};
        int64_t dims[2] = {random_in(&r, 66000, 90000), 1};
        if (seed % 3 == 0) {
            dims[0] = random_in(&r, 20, 60);
            dims[1] = random_in(&r, 1000, 3000);
        }
        trial.less =
            (struct kern_comparator){seed % 4 < 2 ? KERN_ORDER_LESS : KERN_ORDER_GREATER,
                                     (int)random_in(&r, 0, trial.count - 1), seed % 2, NULL, NULL};
        for (int k = 0; k < trial.count; k++) {
            trial.x[k] =
                large_array(&r, ONE_OF(&r, DT_F32, DT_BF16, DT_S32, DT_F64, DT_U8), 2, dims);
            trial.out[k] = same_layout(&trial.x[k], &r);
        }
        check_trial(&trial, &r);
    }
}
END_TEST

static bool run_topk(const struct trial *t, struct thread_pool *workers, bool plain,
                     struct view *out)
{
    return (plain ? plain_topk : kern_topk)(workers, &out[0], &out[1], &t->x[0].view,
                                            out[0].dims[1], t->dimension == 1);
}

START_TEST(topks)
{
    for (int seed = 0; seed < 10; seed++) {
        struct random r = {(uint64_t)seed};
        struct trial trial = {"topk", seed, run_topk, 2, .dimension = seed % 2};
        int64_t dims[2] = {random_in(&r, 40, 90), random_in(&r, 2000, 4000)};
        trial.x[0] = large_array(&r, ONE_OF(&r, DT_F32, DT_BF16, DT_S32), 2, dims);
        dims[1] = random_in(&r, 1, 50);
        trial.out[0] = random_layout(&r, trial.x[0].view.dtype, 2, dims);
        trial.out[1] = random_layout(&r, DT_S32, 2, dims);
        check_trial(&trial, &r);
    }
}
END_TEST

/* ---- random bits ---- */

/* Large enough for several shares each; the last share may have any length. */
static void bits_of_all(enum dtype t, int rank, const int64_t *dims, enum kern_rng algorithm)
{
    static const uint64_t state[3] = {0x0123456789abcdef, UINT64_MAX - 20000, 77};
    const int words = algorithm == KERN_PHILOX ? 3 : 2;
    uint64_t expected_next[3] = {0}, next[3] = {0};
    static char plain[1 << 20], fast[1 << 20];
    struct view expected, out;
    view_dense(&expected, t, rank, dims, plain);
    view_dense(&out, t, rank, dims, fast);
    const size_t bytes = (size_t)view_elements(&out) * dtype_bytes(t);
    ck_assert(bytes <= sizeof fast);
    kern_plain.rng_bits(NULL, &expected, algorithm, state, words, expected_next);
    for (int k = 0; k < THREAD_POOLS; k++) {
        memset(fast, 0, bytes);
        kern_fast.rng_bits(thread_pools[k], &out, algorithm, state, words, next);
        ck_assert(memcmp(next, expected_next, (size_t)words * sizeof *next) == 0);
        ck_assert_msg(memcmp(fast, plain, bytes) == 0, "%s, %d threads", dtype_spelling(t),
                      thread_counts[k]);
    }
}

START_TEST(rng_results)
{
    bits_of_all(DT_U32, 1, (int64_t[]){150001}, KERN_PHILOX);
    bits_of_all(DT_U64, 2, (int64_t[]){3, 30007}, KERN_PHILOX);
    bits_of_all(DT_U64, 1, (int64_t[]){70001}, KERN_THREE_FRY);
    bits_of_all(DT_U32, 2, (int64_t[]){5, 20002}, KERN_THREE_FRY);
    bits_of_all(DT_U16, 3, (int64_t[]){5, 7, 3001}, KERN_THREE_FRY);
    bits_of_all(DT_U8, 2, (int64_t[]){500, 251}, KERN_THREE_FRY);
    bits_of_all(DT_S8, 1, (int64_t[]){70001}, KERN_PHILOX);
    bits_of_all(DT_F16, 1, (int64_t[]){70001}, KERN_PHILOX);
    bits_of_all(DT_U4, 1, (int64_t[]){70001}, KERN_PHILOX);
}
END_TEST

/* Uniform numbers of [a, b), or normal ones, whose bytes are those of the plain kernel. */
static void numbers_of_all(enum dtype t, const void *a, const void *b, bool is_normal, int64_t n)
{
    static char plain[1 << 20], fast[1 << 20];
    struct view expected, out;
    view_dense(&expected, t, 1, &n, plain);
    view_dense(&out, t, 1, &n, fast);
    const size_t bytes = (size_t)n * dtype_bytes(t);
    uint64_t state[2] = {UINT64_MAX - 1000, 0x0123456789abcdef};
    ck_assert(bytes <= sizeof fast);
    kern_plain.rng_numbers(NULL, &expected, a, b, is_normal, state);
    for (int k = 0; k < THREAD_POOLS; k++) {
        uint64_t next[2] = {UINT64_MAX - 1000, 0x0123456789abcdef};
        memset(fast, 0, bytes);
        kern_fast.rng_numbers(thread_pools[k], &out, a, b, is_normal, next);
        ck_assert(memcmp(next, state, sizeof state) == 0);
        ck_assert_msg(memcmp(fast, plain, bytes) == 0, "%s, %d threads", dtype_spelling(t),
                      thread_counts[k]);
    }
}

START_TEST(rng_number_results)
{
    const float few[] = {16777215, 16777216}, wide[] = {-3, INFINITY}, none[] = {2, -1};
    numbers_of_all(DT_F32, &(float){-1.5F}, &(float){2.75F}, false, 100001);
    numbers_of_all(DT_F32, &few[0], &few[1], false, 5000);
    numbers_of_all(DT_F32, &wide[0], &wide[1], false, 300);
    numbers_of_all(DT_F32, &none[0], &none[1], false, 300);
    numbers_of_all(DT_F32, &(float){NAN}, &(float){1}, false, 300);
    numbers_of_all(DT_F64, &(double){0}, &(double){1}, false, 100001);
    numbers_of_all(DT_F32, &(float){1}, &(float){3}, true, 20000);
    numbers_of_all(DT_BF16, &(uint16_t){0x3f80}, &(uint16_t){0x4000}, false, 20000);
    numbers_of_all(DT_S32, &(int32_t){-7}, &(int32_t){INT32_MAX}, false, 20000);
    numbers_of_all(DT_U8, &(uint8_t){3}, &(uint8_t){200}, false, 20000);
    numbers_of_all(DT_PRED, &(uint8_t){0}, &(uint8_t){1}, false, 20000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_shared");
    TCase *tests = tcase_create("shared");
    tcase_add_checked_fixture(tests, start_thread_pools, end_thread_pools);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, reductions);
    tcase_add_test(tests, reductions_of_short_rows);
    tcase_add_test(tests, copies);
    tcase_add_test(tests, pads);
    tcase_add_test(tests, iotas);
    tcase_add_test(tests, gathers);
    tcase_add_test(tests, scatters);
    tcase_add_test(tests, reduce_windows);
    tcase_add_test(tests, select_and_scatters);
    tcase_add_test(tests, argmin_argmax);
    tcase_add_test(tests, sorts);
    tcase_add_test(tests, topks);
    tcase_add_test(tests, rng_results);
    tcase_add_test(tests, rng_number_results);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
