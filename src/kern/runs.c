/*
 * runs.c: copies and repeats short runs of elements, at regular distances or at lists of offsets
 * (no kernel of its own). A run is moved in pieces of one size, a power of two; the last one
 * overlaps the one before where the run is no multiple of it. So nothing beyond the run is read or
 * written.
 *
 * Lists are known in advance, so runs that the processor would wait for are prefetched; loops over
 * runs of one or two pieces do not need that, since several of them overlap in its window.
 */
#include "kern/indexed.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { LONG_RUN = 256 }; /* bytes from which on a run is worth a call */

struct runs {
    char *out;
    const char *x;
    int64_t out_stride, x_stride, count, bytes;
    const int64_t *out_at, *x_at; /* offsets of runs in place of strides */
};

/* The functions below are expanded for each size of pieces and for both kinds of distances. */
#define INLINE __attribute__((always_inline)) static inline
enum { MAX_PIECE = 16 };

INLINE char *run_out(struct runs r, bool listed, int64_t i)
{
    return r.out + (listed ? r.out_at[i] : i * r.out_stride);
}

INLINE const char *run_x(struct runs r, bool listed, int64_t i)
{
    return r.x + (listed ? r.x_at[i] : i * r.x_stride);
}

/* ---- copies ---- */

/* Runs of `size` to twice that. */
INLINE void copy_pairs(struct runs r, bool listed, size_t size)
{
    const int64_t end = r.bytes - (int64_t)size;
    for (int64_t i = 0; end == 0 && i < r.count; i++)
        memcpy(run_out(r, listed, i), run_x(r, listed, i), size);
    for (int64_t i = 0; end > 0 && i < r.count; i++) {
        const char *x = run_x(r, listed, i);
        char *out = run_out(r, listed, i), first[MAX_PIECE], last[MAX_PIECE];
        memcpy(first, x, size);
        memcpy(last, x + end, size);
        memcpy(out, first, size);
        memcpy(out + end, last, size);
    }
}

/* Runs of more than two pieces. */
INLINE void copy_pieces(char *out, const char *x, int64_t bytes)
{
    const int64_t end = bytes - MAX_PIECE;
    char last[MAX_PIECE];
    memcpy(last, x + end, MAX_PIECE);
    for (int64_t j = 0; j < end; j += MAX_PIECE)
        memcpy(out + j, x + j, MAX_PIECE);
    memcpy(out + end, last, MAX_PIECE);
}

INLINE void copy_many(struct runs r, bool listed)
{
    for (int64_t i = 0; i < r.count; i++) {
        if (listed && i + RUNS_AHEAD < r.count)
            indexed_fetch(run_x(r, listed, i + RUNS_AHEAD), r.bytes);
        if (r.bytes >= LONG_RUN)
            memcpy(run_out(r, listed, i), run_x(r, listed, i), (size_t)r.bytes);
        else
            copy_pieces(run_out(r, listed, i), run_x(r, listed, i), r.bytes);
    }
}

INLINE void copy(struct runs r, bool listed)
{
    if (r.bytes > 2 * MAX_PIECE)
        copy_many(r, listed);
    else if (r.bytes >= 16)
        copy_pairs(r, listed, 16);
    else if (r.bytes >= 8)
        copy_pairs(r, listed, 8);
    else if (r.bytes >= 4)
        copy_pairs(r, listed, 4);
    else if (r.bytes >= 2)
        copy_pairs(r, listed, 2);
    else if (r.bytes == 1)
        copy_pairs(r, listed, 1);
}

void copy_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
               int64_t bytes)
{
    copy((struct runs){out, x, out_stride, x_stride, count, bytes, NULL, NULL}, false);
}

void indexed_copy(char *out, const int64_t *out_at, const char *x, const int64_t *x_at, int64_t n,
                  int64_t bytes)
{
    copy((struct runs){out, x, 0, 0, n, bytes, out_at, x_at}, true);
}

/* ---- repetitions ---- */

typedef uint64_t pair __attribute__((vector_size(MAX_PIECE)));

/* The element x, as often as it fits into 8 bytes. */
#define PATTERN(W) ((uint64_t)(*(const W *)(const void *)x) * (UINT64_MAX / ((W)-1)))
INLINE uint64_t pattern_of(const char *x, size_t width)
{
    return width == 1   ? PATTERN(kern_w1)
           : width == 2 ? PATTERN(kern_w2)
           : width == 4 ? PATTERN(kern_w4)
                        : PATTERN(kern_w8);
}

INLINE void repeat_width(struct runs r, size_t size, size_t width)
{
    const int64_t end = r.bytes - (int64_t)size;
    for (int64_t i = 0; i < r.count; i++) {
        char *out = run_out(r, false, i);
        const pair piece = (pair){0} + pattern_of(run_x(r, false, i), width);
        for (int64_t j = 0; j < end; j += (int64_t)size)
            memcpy(out + j, &piece, size);
        memcpy(out + end, &piece, size);
    }
}

INLINE void repeat(struct runs r, size_t size, size_t width)
{
    switch (width) {
    case 1: repeat_width(r, size, 1); break;
    case 2: repeat_width(r, size, 2); break;
    case 4: repeat_width(r, size, 4); break;
    default: repeat_width(r, size, 8); break;
    }
}

typedef uint64_t __attribute__((aligned(1), may_alias)) word;

enum {
    SHUFFLES = 8,      /* most repeats of an element */
    SHUFFLED_FROM = 64 /* elements from which on shuffles are worth their tables */
};
typedef uint8_t vector16 __attribute__((vector_size(16), aligned(1), may_alias));

/* Byte from[k] of x at each k. */
static inline __attribute__((always_inline)) vector16 shuffled(vector16 x, vector16 from)
{
#ifdef __clang__
    vector16 r = x;
    for (int k = 0; k < 16; k++)
        r[k] = x[from[k]];
    return r;
#else
    return __builtin_shuffle(x, from);
#endif
}

static void reverse_short(char *out, const char *last, size_t width, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        memcpy(out + j * (int64_t)width, last - j * (int64_t)width, width);
}

KERN_CLONES static void reverse_by_shuffles(char *out, int64_t out_stride, const char *x,
                                            int64_t x_stride, int64_t count, size_t width,
                                            int64_t n)
{
    union {
        vector16 v;
        uint8_t bytes[sizeof(vector16)];
    } from;
    const int64_t bytes = n * (int64_t)width, piece = (int64_t)sizeof(vector16);
    for (size_t k = 0; k < sizeof from; k++)
        from.bytes[k] = (uint8_t)(sizeof from - (k / width + 1) * width + k % width);
    for (int64_t i = 0; i < count; i++, out += out_stride, x += x_stride) {
        const char *end = x + (int64_t)width; /* of the element that comes first */
        if (bytes < piece)
            reverse_short(out, x, width, n);
        for (int64_t j = 0; bytes >= piece && j < bytes; j += piece) {
            const int64_t at = min_i64(j, bytes - piece);
            *(vector16 *)(void *)(out + at) =
                shuffled(*(const vector16 *)(const void *)(end - piece - at), from.v);
        }
    }
}

void reverse_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
                  size_t width, int64_t n)
{
    reverse_by_shuffles(out, out_stride, x, x_stride, count, width, n);
}

/* Repeats each of adjacent elements `n` times, a vector of elements at a time; returns the number
 * of elements that are done. */
KERN_CLONES static int64_t repeat_by_shuffles(char *out, const char *x, int64_t count,
                                              int64_t width, int64_t n)
{
    union {
        uint8_t bytes[16 * SHUFFLES];
        vector16 v[SHUFFLES];
    } from;
    const int64_t piece = (int64_t)sizeof(vector16), per_vector = piece / width;
    /* byte / (n * width), multiplied by the reciprocal: quotients are less than 128 */
    const uint32_t low = (uint32_t)width - 1, reciprocal = (1u << 16) / (uint32_t)(n * width) + 1;
    for (uint32_t byte = 0; byte < sizeof from; byte++)
        from.bytes[byte] = (uint8_t)((byte * reciprocal >> 16) * (low + 1) + (byte & low));
    int64_t i = 0;
    for (; i + per_vector <= count; i += per_vector, x += piece)
        for (int64_t k = 0; k < n; k++, out += piece)
            *(vector16 *)(void *)out = shuffled(*(const vector16 *)(const void *)x, from.v[k]);
    return i;
}

#ifdef __x86_64__
/* The same with vectors of 64 bytes, by words of 16 bits, of which an element has one or more; at
 * least a vector of elements. */
__attribute__((target("avx512f,avx512bw"))) static int64_t
repeat_by_permutations(char *out, const char *x, int64_t count, int64_t width, int64_t n)
{
    static const uint16_t lanes[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                     22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    __m512i from[SHUFFLES], at = _mm512_loadu_si512(lanes);
    const int64_t piece = (int64_t)sizeof(__m512i), per_vector = piece / width, words = width / 2;
    const __m512i reciprocal = _mm512_set1_epi16((int16_t)((1 << 16) / (words * n) + 1)),
                  scale = _mm512_set1_epi16((int16_t)words),
                  mask = _mm512_set1_epi16((int16_t)(words - 1)),
                  step = _mm512_set1_epi16((int16_t)COUNT_OF(lanes));
    for (int64_t k = 0; k < n; k++, at = _mm512_add_epi16(at, step))
        from[k] = _mm512_add_epi16(_mm512_mullo_epi16(_mm512_mulhi_epu16(at, reciprocal), scale),
                                   _mm512_and_si512(at, mask));
    for (int64_t i = 0; i < count; i += per_vector) { /* the last vector overlaps the one before */
        const int64_t first = min_i64(i, count - per_vector);
        const __m512i all = _mm512_loadu_si512(x + first * width);
        for (int64_t k = 0; k < n; k++)
            _mm512_storeu_si512(out + first * n * width + k * piece,
                                _mm512_permutexvar_epi16(from[k], all));
    }
    return count;
}

/* Selected like clones, whatever HLO_ISA is: the results are the same. */
static int64_t repeat_vectors(char *out, const char *x, int64_t count, int64_t width, int64_t n)
{
    const bool permutes = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    return permutes && width > 1 && n > 1 && count >= SHUFFLED_FROM
               ? repeat_by_permutations(out, x, count, width, n)
               : repeat_by_shuffles(out, x, count, width, n);
}
#else
static int64_t repeat_vectors(char *out, const char *x, int64_t count, int64_t width, int64_t n)
{
    return repeat_by_shuffles(out, x, count, width, n);
}
#endif

/* ---- elements at a distance ---- */

#ifdef __x86_64__
enum {
    MOST_STEP = 15,     /* vectors that are blended to one */
    MOST_DISTANCE = 20, /* bytes between elements */
    PICKED_FROM = 128   /* elements from which on the masks are worth making */
};
union bytes32 {
    uint8_t bytes[32];
    uint32_t words[8];
    __m256i v;
};
struct picking {
    union bytes32 masks[MOST_STEP]; /* by vector: the bytes that are taken from it */
    union bytes32 near, far;        /* bytes of the same half of a vector, and of the other one */
    union bytes32 words;
};

/* With an odd step, the elements of one result have different places in their vectors: they are
 * put together there, and then permuted. */
static void start_picking(struct picking *p, int64_t step, int64_t width)
{
    enum { NONE = 0x80 };
    memset(p->masks, 0, (size_t)step * sizeof *p->masks);
    for (uint32_t k = 0, first = 0; k < 32; first += (uint32_t)(width * step))
        for (uint32_t x = first; x < first + width; x++, k++) {
            const uint32_t at = x % 32;
            const bool near = at / 16 == k / 16;
            p->masks[x / 32].bytes[at] = UINT8_MAX;
            p->near.bytes[k] = near ? (uint8_t)(at % 16) : NONE;
            p->far.bytes[k] = near ? NONE : (uint8_t)(at % 16);
            p->words.words[k / 4] = at / 4;
        }
}

__attribute__((target("avx2"), always_inline)) static inline int64_t
pick_by_blends(char *out, const char *x, int64_t step, bool words, int64_t n, int64_t width)
{
    struct picking p;
    const int64_t some = 32 / width;
    int64_t i = 0;
    start_picking(&p, step, width);
    for (; i + some < n; i += some, out += 32) { /* the next element is not read beyond */
        __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)x);
        for (int64_t k = 1; k < step; k++) {
            const __m256i next = _mm256_loadu_si256((const __m256i *)(const void *)(x + 32 * k));
            all = _mm256_blendv_epi8(all, next, p.masks[k].v);
        }
        all = words ? _mm256_permutevar8x32_epi32(all, p.words.v)
                    : _mm256_or_si256(
                          _mm256_shuffle_epi8(all, p.near.v),
                          _mm256_shuffle_epi8(_mm256_permute4x64_epi64(all, 0x4e), p.far.v));
        _mm256_storeu_si256((__m256i *)(void *)out, all);
        x += 32 * step;
    }
    return i;
}

__attribute__((target("avx2"))) static int64_t pick_vectors(char *out, const char *x, int64_t step,
                                                            int64_t width, int64_t n)
{
    if (step == 3)
        return width >= 4 ? pick_by_blends(out, x, 3, true, n, width)
                          : pick_by_blends(out, x, 3, false, n, width);
    return pick_by_blends(out, x, step, width >= 4, n, width);
}
#endif

int64_t pack_elements(char *out, const char *x, int64_t step, size_t width, int64_t n)
{
#ifdef __x86_64__
    if (n >= PICKED_FROM && step % 2 == 1 && step > 1 && step <= MOST_STEP &&
        step * (int64_t)width <= MOST_DISTANCE && __builtin_cpu_supports("avx2"))
        return pick_vectors(out, x, step, (int64_t)width, n);
#else
    (void)out, (void)x, (void)step, (void)width, (void)n;
#endif
    return 0;
}

/* ---- repetitions of one element ---- */

KERN_CLONES static void fill_words(word *out, uint64_t x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = x;
}

/* Long runs. */
static void fill_runs(struct runs r, size_t width)
{
    for (int64_t i = 0; i < r.count; i++) {
        char *out = run_out(r, false, i);
        const uint64_t pattern = pattern_of(run_x(r, false, i), width);
        fill_words((word *)(void *)out, pattern, r.bytes / 8);
        *(word *)(void *)(out + r.bytes - 8) = pattern;
    }
}

static void repeat_complex(struct runs r)
{
    for (int64_t i = 0; i < r.count; i++)
        for (int64_t j = 0; j < r.bytes; j += 16)
            memcpy(r.out + i * r.out_stride + j, r.x + i * r.x_stride, 16);
}

void repeat_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
                 size_t width, int64_t n)
{
    const int64_t bytes = n * (int64_t)width;
    if (n <= SHUFFLES && width <= 8 && x_stride == (int64_t)width && out_stride == bytes &&
        count >= SHUFFLED_FROM) {
        const int64_t done = repeat_vectors(out, x, count, x_stride, n);
        out += done * bytes;
        x += done * x_stride;
        count -= done;
    }
    const struct runs r = {out, x, out_stride, x_stride, count, bytes, NULL, NULL};
    if (width > 8)
        repeat_complex(r);
    else if (bytes >= LONG_RUN)
        fill_runs(r, width);
    else if (bytes >= 16)
        repeat(r, 16, width);
    else if (bytes >= 8)
        repeat(r, 8, width);
    else if (bytes >= 4)
        repeat(r, 4, width);
    else if (bytes >= 2)
        repeat(r, 2, width);
    else if (bytes == 1)
        repeat(r, 1, width);
}
