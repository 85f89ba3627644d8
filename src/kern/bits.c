/*
 * bits.c: operations on the bit pattern of an element: reduce-precision, stochastic-convert and
 * bitcast-convert. spec: ReducePrecision, stochastic-convert, BitcastConvertType
 */
#include "kern/nest.h"
#include "kern/tile.h"

#include <math.h>

/* ---- reduce-precision ---- */

struct precision {
    int type_exponent, type_mantissa; /* bits of the type */
    int exponent, mantissa;           /* bits to keep */
};

/* The same as bit patterns. */
struct reduction {
    uint64_t sign, infinity;
    uint64_t last, half, kept; /* what is added to round: `half` and the bit `last` after a shift */
    int shift;
    uint64_t too_large, least; /* become infinite from `too_large` on, zero below `least` */
};

/* grammar/values.md 8.1: rounds the bit pattern to nearest even; values above the reduced exponent
 * range become infinite, and values that would be subnormal in it become zero. NaNs are kept. */
static struct reduction reduction_of(const struct precision *p)
{
    struct reduction r = {.sign = (uint64_t)1 << (p->type_exponent + p->type_mantissa),
                          .kept = UINT64_MAX};
    r.infinity = r.too_large = (((uint64_t)1 << p->type_exponent) - 1) << p->type_mantissa;
    if (p->mantissa < p->type_mantissa) {
        r.shift = p->type_mantissa - p->mantissa;
        r.last = 1;
        r.half = ((uint64_t)1 << (r.shift - 1)) - 1;
        r.kept = UINT64_MAX << r.shift;
    }
    if (p->exponent < p->type_exponent) {
        const uint64_t bias = ((uint64_t)1 << (p->type_exponent - 1)) - 1;
        const uint64_t kept_bias = ((uint64_t)1 << (p->exponent - 1)) - 1;
        r.too_large = (bias + kept_bias + 1) << p->type_mantissa;
        r.least = (bias - kept_bias + 1) << p->type_mantissa;
    }
    return r;
}

#define REDUCE(W)                                                                                  \
    KERN_CLONES static void reduce_words_##W(uint##W##_t *out, const uint##W##_t *x, int64_t n,    \
                                             const struct reduction *r)                            \
    {                                                                                              \
        typedef uint##W##_t word;                                                                  \
        const word sign = (word)r->sign, infinity = (word)r->infinity, last = (word)r->last,       \
                   half = (word)r->half, kept = (word)r->kept, too_large = (word)r->too_large,     \
                   least = (word)r->least;                                                         \
        const int shift = r->shift;                                                                \
        TILE_LOOP                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const word b = x[i], a = (word)(b & (word)~sign);                                      \
            word y = (word)((word)(a + half + (word)((word)(a >> shift) & last)) & kept);          \
            y = y >= too_large ? infinity : y;                                                     \
            y = y < least ? 0 : y;                                                                 \
            out[i] = a > infinity ? b : (word)(y | (b & sign));                                    \
        }                                                                                          \
    }                                                                                              \
    static void reduce_##W(const void *context, int worker, void *result, const void *const *args, \
                           int64_t n)                                                              \
    {                                                                                              \
        const struct reduction r = reduction_of(context);                                          \
        reduce_words_##W(result, args[0], n, &r);                                                  \
    }
REDUCE(8)
REDUCE(16)
REDUCE(32)
REDUCE(64)
#undef REDUCE

/* For formats other than IEEE's: computes in f32. */
struct reduce_in_f32 {
    enum dtype type;
    struct precision precision;
};

static void reduce_other(const void *context, int worker, void *out, const void *const *args,
                         int64_t n)
{
    enum { CHUNK = 512 };
    const struct reduce_in_f32 *r = context;
    const struct tile_set *set = tile_set();
    const size_t size = dtype_bytes(r->type);
    float x[CHUNK];
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        set->widen(r->type, x, (const char *)args[0] + (size_t)at * size, some);
        reduce_32(&r->precision, worker, x, (const void *const[]){x}, some);
        set->narrow(r->type, (char *)out + (size_t)at * size, x, some);
    }
}

void kern_reduce_precision(struct thread_pool *workers, const struct view *out,
                           const struct view *x, int exponent_bits, int mantissa_bits)
{
    const struct float_format *f = float_format(x->dtype);
    const struct precision p = {f->exponent_bits, f->mantissa_bits, exponent_bits, mantissa_bits};
    if (f->specials != FS_IEEE) {
        const struct reduce_in_f32 r = {x->dtype, {8, 23, exponent_bits, mantissa_bits}};
        tile_map(workers, reduce_other, &r, out, 1, x);
        return;
    }
    tile_context_fn *const by_width[] = {
        [1] = reduce_8, [2] = reduce_16, [4] = reduce_32, [8] = reduce_64};
    const bool dense = view_is_dense(x);
    if (!dense) /* copies are faster than tiles of a view at turning lines */
        kern_copy(workers, out, x);
    tile_map(workers, by_width[dtype_bytes(x->dtype)], &p, out, 1, dense ? x : out);
}

/* ---- stochastic-convert ---- */

static uint64_t load_word(const void *p, size_t bytes)
{
    uint64_t w = 0;
    memcpy(&w, p, bytes);
    return w;
}

static void store_word(void *p, uint64_t w, size_t bytes) { memcpy(p, &w, bytes); }

/* grammar/values.md 8.2. x = sign * (whole + fraction) steps of the result's grid; the fraction
 * times 2^w counts how many of the 2^w random words round away from zero. The grid of a float type
 * depends on the binade of x, and is the finest one for subnormals. */
static double round_to_float(double x, enum dtype t, uint64_t random, int width)
{
    const struct float_format *f = float_format(t);
    const int min = (f->specials == FS_FNU ? 0 : 1) - f->bias;
    int exponent; /* |x| is in [2^(exponent-1), 2^exponent) */
    if (!isfinite(x))
        return x;
    frexp(x, &exponent);
    const double step = ldexp(1, (exponent - 1 < min ? min : exponent - 1) - f->mantissa_bits);
    const double steps = fabs(x) / step, whole = floor(steps);
    const bool away = steps != whole && random < (uint64_t)ldexp(steps - whole, width);
    return copysign(step * (away ? whole + 1 : whole), x);
}

struct stochastic {
    enum dtype to, from, random;
    const struct tile_set *set;
    kern_tile_fn *widen, *widen_random, *convert;
};

/* Numbers out of range are converted as by convert. */
static void stochastic_tile(const void *context, int worker, void *out, const void *const *args,
                            int64_t n)
{
    enum { CHUNK = 256 };
    const struct stochastic *s = context;
    const enum dtype to = dtype_component(s->to);
    const int width = (int)dtype_bits(s->random);
    double x[CHUNK];
    uint64_t random[CHUNK]; /* or f64: as round_randomly takes them */
    for (int64_t at = 0; at < n; at += CHUNK) {
        const int64_t some = n - at < CHUNK ? n - at : CHUNK;
        const char *from = (const char *)args[0] + (size_t)at * dtype_bytes(s->from),
                   *words = (const char *)args[1] + (size_t)at * dtype_bytes(s->random);
        s->widen(x, (const void *const[]){from}, some);
        s->widen_random(random, (const void *const[]){words}, some);
        if (!dtype_is_float(to))
            s->set->round_randomly(x, random, width, some);
        for (int64_t i = 0; i < some && dtype_is_float(to); i++)
            x[i] = round_to_float(x[i], to, random[i], width);
        s->convert((char *)out + (size_t)at * dtype_bytes(s->to), (const void *const[]){x}, some);
    }
}

void kern_stochastic_convert(struct thread_pool *workers, const struct view *out,
                             const struct view *x, const struct view *random)
{
    const enum dtype to = dtype_component(out->dtype);
    const struct stochastic s = {
        .to = out->dtype,
        .from = x->dtype,
        .random = random->dtype,
        .set = tile_set(),
        .widen = kern_find_convert(DT_F64, x->dtype),
        .widen_random = kern_find_convert(
            dtype_bits(random->dtype) == 64 || dtype_is_float(to) ? DT_U64 : DT_F64, random->dtype),
        .convert = kern_find_convert(out->dtype, DT_F64)};
    tile_map(workers, stochastic_tile, &s, out, 2, (const struct view[]){*x, *random});
}

/* ---- bitcast-convert ---- */

uint64_t bits_load(enum dtype t, const void *p)
{
    const int bits = (int)dtype_bits(t);
    const uint64_t w = load_word(p, dtype_bytes(t));
    return bits < 8 ? w & (((uint64_t)1 << bits) - 1) : w;
}

void bits_store(enum dtype t, void *p, uint64_t w)
{
    const int bits = (int)dtype_bits(t);
    if (t == DT_PRED)
        w = (w & 0xff) != 0;
    else if (bits < 64 && dtype_is_signed(t))
        w = (uint64_t)((int64_t)(w << (64 - bits)) >> (64 - bits));
    else if (bits < 8)
        w &= ((uint64_t)1 << bits) - 1;
    store_word(p, w, dtype_bytes(t));
}

struct recast {
    enum dtype to, from;
};

static void recast_tile(const void *context, int worker, void *out, const void *const *args,
                        int64_t n)
{
    const struct recast *r = context;
    const size_t to = dtype_bytes(r->to), from = dtype_bytes(r->from);
    for (int64_t i = 0; i < n; i++)
        bits_store(r->to, (char *)out + (size_t)i * to,
                   bits_load(r->from, (const char *)args[0] + (size_t)i * from));
}

static bool same_in_memory(enum dtype a, enum dtype b)
{
    return a == b || (dtype_bits(a) == dtype_bits(b) && dtype_bits(a) >= 8 && a != DT_PRED);
}

/* Stores the narrow elements of one wide element, from the low end on, `step` bytes apart. */
static void split_word(enum dtype wide, const char *whole, enum dtype narrow, char *part,
                       int64_t step)
{
    const unsigned all = dtype_bits(wide), bits = dtype_bits(narrow);
    const uint64_t w = bits_load(wide, whole);
    for (unsigned at = 0; at < all; at += bits, part += step)
        bits_store(narrow, part, w >> at);
}

static void join_word(enum dtype wide, char *whole, enum dtype narrow, const char *part,
                      int64_t step)
{
    const unsigned all = dtype_bits(wide), bits = dtype_bits(narrow);
    uint64_t w = 0;
    for (unsigned at = 0; at < all; at += bits, part += step)
        w |= bits_load(narrow, part) << at;
    bits_store(wide, whole, w);
}

/* For narrow elements of less than a byte, or preds. The narrow view has one more dimension, along
 * which are the narrow elements of each wide one. */
static void split_or_join(const struct view *wide, const struct view *narrow, bool split)
{
    const enum dtype word = dtype_bytes(wide->dtype) > sizeof(uint64_t) ? DT_U64 : wide->dtype;
    const int words = (int)(dtype_bits(wide->dtype) / dtype_bits(word));
    const int64_t step = narrow->strides[wide->rank];
    const int64_t word_step = step * (int64_t)(dtype_bits(word) / dtype_bits(narrow->dtype));
    int64_t index[VIEW_MAX_RANK] = {0};
    struct view outer = *narrow;
    outer.rank = wide->rank;
    if (view_elements(wide) == 0)
        return;
    do {
        char *whole = view_at(wide, index), *part = view_at(&outer, index);
        for (int k = 0; k < words; k++, whole += dtype_bytes(word), part += word_step)
            if (split)
                split_word(word, whole, narrow->dtype, part, step);
            else
                join_word(word, whole, narrow->dtype, part, step);
    } while (index_next(wide->rank, wide->dims, index));
}

/* Views the elements of `wide` as elements of a narrower type, along one more dimension. */
static void parts(struct view *v, const struct view *wide, enum dtype narrow)
{
    *v = *wide;
    v->dtype = narrow;
    v->dims[v->rank] = (int64_t)(dtype_bytes(wide->dtype) / dtype_bytes(narrow));
    v->strides[v->rank++] = (int64_t)dtype_bytes(narrow);
}

static bool whole_parts(enum dtype narrow) { return dtype_bits(narrow) >= 8 && narrow != DT_PRED; }

void kern_bitcast_convert(struct thread_pool *workers, const struct view *out, const struct view *x)
{
    if (same_in_memory(out->dtype, x->dtype)) {
        struct view same = *x;
        same.dtype = out->dtype;
        kern_copy(workers, out, &same);
    } else if (dtype_bits(out->dtype) == dtype_bits(x->dtype)) {
        const struct recast r = {out->dtype, x->dtype};
        tile_map(workers, recast_tile, &r, out, 1, x);
    } else if (dtype_bits(out->dtype) < dtype_bits(x->dtype)) {
        struct view v;
        if (!whole_parts(out->dtype)) {
            split_or_join(x, out, true);
        } else {
            parts(&v, x, out->dtype);
            kern_copy(workers, out, &v);
        }
    } else if (whole_parts(x->dtype)) {
        struct view v;
        parts(&v, out, x->dtype);
        kern_copy(workers, &v, x);
    } else {
        split_or_join(out, x, false);
    }
}
