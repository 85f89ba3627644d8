/*
 * rng.c: random bits from a counter, computed many blocks at a time.
 *
 * A block's words are consecutive in a result of 32-bit elements, and of 64-bit elements too, so
 * both are written in place; each narrower element has the low bits of a word. spec:
 * RngBitGenerator (grammar/values.md 14.1)
 */
#include "kern/rng.h"
#include "kern/tile.h"

enum { BLOCKS = 256, WORDS = 4 * BLOCKS };

/* Stores n words as elements from number `first` on, or as halves of elements of 64 bits. */
static void put_words(const struct view *out, int64_t first, const uint32_t *words, int64_t n)
{
    const size_t width = dtype_bytes(out->dtype);
    char *at = out->data + (size_t)first * (width < 4 ? width : 4);
    if (width >= 4) {
        memcpy(at, words, (size_t)n * 4);
        return;
    }
    if (out->dtype == DT_U8 || out->dtype == DT_S8) {
        for (int64_t i = 0; i < n; i++)
            at[i] = (char)words[i];
        return;
    }
    if (width == 2) {
        for (int64_t i = 0; i < n; i++)
            ((uint16_t *)(void *)at)[i] = (uint16_t)words[i];
        return;
    }
    const uint32_t kept = out->dtype == DT_PRED ? 1 : UINT32_MAX;
    for (int64_t i = 0; i < n; i++)
        bits_store(out->dtype, at + (size_t)i * width, words[i] & kept);
}

static int64_t words_of(const struct view *out)
{
    return view_elements(out) * (dtype_bits(out->dtype) > 32 ? 2 : 1);
}

/* Blocks are computed BLOCKS at a time; a task has SHARE blocks. */
enum { SHARE = 64 * BLOCKS };

struct task {
    const struct view *out;
    const struct tile_set *set;
    uint64_t key, lo, hi; /* the counter */
    int64_t words;
    int split; /* threefry_rows: the dimension that is split */
    int64_t pairs, inner;
};

/* Returns the number of blocks. */
static uint64_t run_shares(struct thread_pool *workers, int64_t blocks, thread_pool_range_fn *fn,
                           struct task *t)
{
    t->set = tile_set();
    thread_pool_share(workers, blocks, SHARE, fn, t);
    return (uint64_t)blocks;
}

static void philox_share(void *context, int64_t from, int64_t end, int worker)
{
    const struct task *t = context;
    uint32_t words[WORDS];
    for (int64_t at = from; at < end; at += BLOCKS) {
        const int64_t some = end - at < BLOCKS ? end - at : BLOCKS, left = t->words - 4 * at;
        t->set->philox(t->key, t->lo, t->hi, (uint64_t)at, some, words);
        put_words(t->out, 4 * at, words, left < 4 * some ? left : 4 * some);
    }
}

static uint64_t philox_bits(struct thread_pool *workers, const struct view *out,
                            const uint64_t *state, uint64_t hi)
{
    struct task t = {.out = out, .key = state[0], .lo = state[1], .hi = hi, .words = words_of(out)};
    return run_shares(workers, ratio_up(t.words, 4), philox_share, &t);
}

static void pairs_share(void *context, int64_t from, int64_t end, int worker)
{
    const struct task *t = context;
    uint32_t words[WORDS];
    for (int64_t at = from; at < end; at += WORDS / 2) {
        const int64_t some = end - at < WORDS / 2 ? end - at : WORDS / 2;
        t->set->threefry_pairs(t->key, t->lo + (uint64_t)at, some, words);
        put_words(t->out, 2 * at, words, 2 * some);
    }
}

static uint64_t threefry_pairs(struct thread_pool *workers, const struct view *out, uint64_t key,
                               uint64_t counter)
{
    struct task t = {.out = out, .key = key, .lo = counter};
    return run_shares(workers, words_of(out) / 2, pairs_share, &t);
}

static void rows_share(void *context, int64_t from, int64_t end, int worker)
{
    const struct task *t = context;
    const int64_t length = t->out->dims[t->split], inner = t->inner;
    uint32_t first[BLOCKS], second[BLOCKS];
    for (int64_t at = from; at < end; at += BLOCKS) {
        const int64_t some = end - at < BLOCKS ? end - at : BLOCKS;
        t->set->threefry_rows(t->key, t->lo + (uint64_t)at, some, first, second);
        for (int64_t done = 0, run; done < some; done += run) {
            const int64_t pair = (at + done) / inner, column = (at + done) % inner;
            const int64_t row = pair / t->pairs * length + 2 * (pair % t->pairs);
            run = inner - column < some - done ? inner - column : some - done;
            put_words(t->out, row * inner + column, first + done, run);
            if (2 * (pair % t->pairs) + 1 < length)
                put_words(t->out, (row + 1) * inner + column, second + done, run);
        }
    }
}

/* Along the split dimension two rows of `inner` elements are a pair: the first words of as many
 * blocks and their second words, which are dropped if the number of rows is odd. */
static uint64_t threefry_rows(struct thread_pool *workers, const struct view *out, int split,
                              uint64_t key, uint64_t counter)
{
    struct task t = {.out = out, .key = key, .lo = counter, .split = split, .inner = 1};
    int64_t blocks = t.pairs = (out->dims[split] + 1) / 2;
    for (int d = 0; d < out->rank; d++) {
        t.inner *= d > split ? out->dims[d] : 1;
        blocks *= d != split ? out->dims[d] : 1;
    }
    return run_shares(workers, blocks, rows_share, &t);
}

static uint64_t threefry_bits(struct thread_pool *workers, const struct view *out, uint64_t key,
                              uint64_t counter)
{
    const int split = rng_split_dimension(out);
    if (view_elements(out) == 0)
        return 0;
    if (dtype_bits(out->dtype) > 32)
        return threefry_pairs(workers, out, key, counter);
    if (out->rank == 0) {
        put_words(out, 0, rng_threefry(key, counter).w, 1);
        return 1;
    }
    const bool innermost = split == out->rank - 1 && out->dims[split] % 2 == 0;
    return innermost ? threefry_pairs(workers, out, key, counter)
                     : threefry_rows(workers, out, split, key, counter);
}

void kern_rng_bits(struct thread_pool *workers, const struct view *out, enum kern_rng algorithm,
                   const uint64_t *state, int words, uint64_t *next)
{
    next[0] = state[0];
    if (algorithm == KERN_THREE_FRY) {
        next[1] = state[1] + threefry_bits(workers, out, state[0], state[1]);
        return;
    }
    const uint64_t hi = words == 3 ? state[2] : state[0], lo = state[1];
    next[1] = lo + philox_bits(workers, out, state, hi);
    if (words == 3)
        next[2] = hi + (next[1] < lo ? 1 : 0);
}

/* ---- numbers of a range or a distribution, one for each block ---- */

struct numbers {
    const struct view *out;
    const void *a, *b;
    bool is_normal;
    const struct tile_set *set;
    uint64_t first, key;
};

/* rng_float() of uniform numbers. The bits are those of the mantissa of 1 + u. */
#define UNIFORM_LOOP(T)                                                                            \
    static void uniform_##T(T *out, const uint32_t *words, double lo, double hi, T first,          \
                            int64_t n)                                                             \
    {                                                                                              \
        const double range = hi - lo;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const union {                                                                          \
                uint64_t bits;                                                                     \
                double value;                                                                      \
            } u = {(words[4 * i] | (uint64_t)words[4 * i + 1] << 32) >> 12 | 0x3ffULL << 52};      \
            const T x = (T)((u.value - 1) * range + lo);                                           \
            out[i] = lo < hi && x >= hi ? first : x;                                               \
        }                                                                                          \
    }
UNIFORM_LOOP(float)
UNIFORM_LOOP(double)

static void put_numbers(const struct numbers *t, int64_t from, const uint32_t *words, int64_t n)
{
    const enum dtype type = t->out->dtype;
    const size_t width = dtype_bytes(type);
    char *at = t->out->data + (size_t)from * width;
    if (type == DT_F32 && !t->is_normal) {
        const float lo = *(const float *)t->a, hi = *(const float *)t->b;
        uniform_float((float *)(void *)at, words, (double)lo, (double)hi, lo, n);
        return;
    }
    if (type == DT_F64 && !t->is_normal) {
        const double lo = *(const double *)t->a, hi = *(const double *)t->b;
        uniform_double((double *)(void *)at, words, lo, hi, lo, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint32_t *w = words + 4 * i;
        rng_number(type, at + (size_t)i * width, t->a, t->b, t->is_normal, false,
                   (struct rng_block){{w[0], w[1], w[2], w[3]}});
    }
}

static void numbers_share(void *context, int64_t from, int64_t end, int worker)
{
    const struct numbers *t = context;
    uint32_t words[WORDS];
    for (int64_t at = from; at < end; at += BLOCKS) {
        const int64_t some = min_i64(BLOCKS, end - at);
        t->set->philox(t->key, 0, 0, t->first + (uint64_t)at, some, words);
        put_numbers(t, at, words, some);
    }
}

void kern_rng_numbers(struct thread_pool *workers, const struct view *out, const void *a,
                      const void *b, bool is_normal, uint64_t *state)
{
    struct numbers t = {.out = out,
                        .a = a,
                        .b = b,
                        .is_normal = is_normal,
                        .set = tile_set(),
                        .first = state[0],
                        .key = state[1]};
    const int64_t count = view_elements(out);
    thread_pool_share(workers, count, SHARE, numbers_share, &t);
    state[0] += (uint64_t)count;
}
