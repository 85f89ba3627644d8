/*
 * fake.c: generated arguments that satisfy the constraints of io_fake_facts.
 *
 * Numbers derive from random words (kern/random.h). Floats have magnitude 1 or less, decreasing
 * with the number of products that are summed, so that long chains of products stay within the
 * range of narrow types.
 */
#include "io/io_priv.h"

#include "kern/random.h"

#include <math.h>

enum { CHUNK = 1024, NORMAL_WORDS = 3 };

struct maker {
    const struct fake_facts *facts;
    enum io_fake kind;
    enum dtype type; /* element type; for complex elements, that of their parts */
    uint64_t key;
};

/* ---- floats ---- */

static double to_unit_interval(uint64_t word) /* [-1, 1) */
{
    return (double)(int64_t)(word >> 11) * 0x1p-52 - 1.0;
}

/* An approximately normally distributed number with deviation 1: the sum of twelve uniform 16-bit
 * numbers, identical on all machines. */
static double normal_of(const uint64_t *words)
{
    double sum = 0;
    for (int k = 0; k < 4 * NORMAL_WORDS; k++)
        sum += (double)(words[k / 4] >> 16 * (k % 4) & 0xffff);
    return (sum + 4 * NORMAL_WORDS * 0.5) / 65536 - 2 * NORMAL_WORDS;
}

/* 0, 1, 2, ... wrapping to 0 after the largest integer of the type. */
static double counted(enum dtype t, uint64_t at)
{
    double max = fmin(ldexp(1, float_format(t)->mantissa_bits + 1), float_max(t));
    return (double)(at % (max < 1 ? 1 : (uint64_t)max));
}

static double edge_float(const struct fake_facts *facts, enum dtype t, uint64_t word)
{
    const struct float_format *f = float_format(t);
    double max = facts->summed ? 2 : float_max(t), normal = ldexp(1, 1 - f->bias),
           min = ldexp(normal, -f->mantissa_bits);
    const double edges[] = {NAN,       INFINITY,
                            -INFINITY, 0.0,
                            -0.0,      min,
                            -min,      normal,
                            -normal,   max,
                            -max,      1,
                            -1,        1 + ldexp(1, -f->mantissa_bits),
                            0.5,       to_unit_interval(word << 8)};
    return edges[word >> 60];
}

/* Maps a number into the required domain. */
static double fit_float(const struct fake_facts *f, double x)
{
    if (f->above_one)
        return 1 + fabs(x);
    if (f->positive || f->nonzero)
        return f->positive || x >= 0 ? 0.5 + fabs(x) : x - 0.5;
    if (f->bounded)
        return floor((double)f->low + (x - floor(x)) * ((double)f->high - (double)f->low + 1));
    x *= f->fan_in > 1 ? 1 / sqrt(f->fan_in) : 1;
    return f->unit && fabs(x) > 0.9 ? copysign(0.9, x) : x;
}

static double float_at(const struct maker *k, const uint64_t *words, uint64_t at)
{
    const struct fake_facts *f = k->facts;
    switch (k->kind) {
    case IO_FAKE_ZEROS: return 0;
    case IO_FAKE_ONES: return 1;
    case IO_FAKE_IOTA: return counted(k->type, at);
    case IO_FAKE_EDGE: return edge_float(f, k->type, *words);
    case IO_FAKE_NORMAL: return fit_float(f, normal_of(words));
    default: return fit_float(f, to_unit_interval(*words));
    }
}

static void put_floats(const struct maker *k, void *out, uint64_t at, size_t n)
{
    uint64_t words[CHUNK * NORMAL_WORDS];
    double x[CHUNK];
    size_t each = k->kind == IO_FAKE_NORMAL ? NORMAL_WORDS : 1;
    random_words(words, k->key, at * each, n * each);
    for (size_t i = 0; i < n; i++)
        x[i] = k->facts->fixed ? k->facts->value : float_at(k, words + i * each, at + i);
    for (size_t i = 0; i < n; i++)
        float_store(k->type, (char *)out + i * dtype_bytes(k->type), x[i]);
}

/* ---- integers ---- */

struct range {
    int64_t low, high; /* for u64, high is at most the largest s64 */
};

static struct range range_of_type(enum dtype t)
{
    unsigned bits = dtype_bits(t);
    if (dtype_is_signed(t))
        return (struct range){INT64_MIN >> (64 - bits), INT64_MAX >> (64 - bits)};
    return (struct range){0, bits >= 63 ? INT64_MAX : (INT64_C(1) << bits) - 1};
}

/* The range of integers: small ones unless the constraints require others, within the type. */
static struct range range_of(const struct maker *k)
{
    const struct fake_facts *f = k->facts;
    const struct range all = range_of_type(k->type);
    struct range r = {dtype_is_signed(k->type) ? -8 : 0, 8};
    if (f->bounded)
        r = (struct range){f->low, f->high};
    else if (f->nonzero || f->positive || f->above_one)
        r.low = 1;
    r.low = r.low < all.low ? all.low : r.low > all.high ? all.high : r.low;
    r.high = r.high > all.high ? all.high : r.high < r.low ? r.low : r.high;
    return r;
}

static int64_t draw_in_range(struct range r, uint64_t word)
{
    uint64_t width = (uint64_t)r.high - (uint64_t)r.low + 1;
    return (int64_t)((uint64_t)r.low + (width ? word % width : word));
}

/* A limit of the type or of the required range, a number next to them or to 0, or any number. */
static int64_t edge_integer(const struct maker *k, uint64_t word)
{
    const struct range all = range_of_type(k->type), r = range_of(k);
    const int64_t edges[] = {all.low,
                             all.low + 1,
                             all.high,
                             all.high - (all.high > all.low),
                             0,
                             all.low < 0 ? -1 : 0,
                             all.high > 0,
                             draw_in_range(all, word << 3),
                             r.low,
                             r.high,
                             r.high < all.high ? r.high + 1 : r.high,
                             r.low > all.low ? r.low - 1 : r.low};
    return edges[(word >> 32) % COUNT_OF(edges)];
}

static int64_t fixed_integer(enum dtype t, double value)
{
    const struct range all = range_of_type(t);
    return value <= (double)all.low    ? all.low
           : value >= (double)all.high ? all.high
                                       : (int64_t)value;
}

static int64_t integer_at(const struct maker *k, struct range r, const uint64_t *words, uint64_t at)
{
    switch (k->kind) {
    case IO_FAKE_ZEROS: return 0;
    case IO_FAKE_ONES: return 1;
    case IO_FAKE_IOTA: return k->facts->bounded ? draw_in_range(r, at) : (int64_t)at;
    case IO_FAKE_EDGE: return k->facts->loop ? draw_in_range(r, *words) : edge_integer(k, *words);
    case IO_FAKE_NORMAL: {
        double middle = (double)r.low / 2 + (double)r.high / 2,
               sixth = (double)r.high / 6 - (double)r.low / 6;
        double x = floor(middle + normal_of(words) * sixth + 0.5);
        return x < (double)r.low ? r.low : x > (double)r.high ? r.high : (int64_t)x;
    }
    default: return draw_in_range(r, *words);
    }
}

static void put_integers(const struct maker *k, void *out, uint64_t at, size_t n)
{
    uint64_t words[CHUNK * NORMAL_WORDS];
    const struct range r = range_of(k);
    size_t each = k->kind == IO_FAKE_NORMAL ? NORMAL_WORDS : 1;
    bool nonzero = k->facts->nonzero && k->kind != IO_FAKE_EDGE && k->kind != IO_FAKE_ZEROS;
    random_words(words, k->key, at * each, n * each);
    for (size_t i = 0; i < n; i++) {
        int64_t v = k->facts->fixed ? fixed_integer(k->type, k->facts->value)
                                    : integer_at(k, r, words + i * each, at + i);
        words[i] = (uint64_t)(v == 0 && nonzero ? 1 : v);
    }
    random_put_integers(k->type, out, words, n);
}

static void put_preds(const struct maker *k, uint8_t *out, uint64_t at, size_t n)
{
    uint64_t words[CHUNK];
    random_words(words, k->key, at, n);
    for (size_t i = 0; i < n; i++) {
        bool value = k->kind >= IO_FAKE_UNIFORM
                         ? words[i] >> 63
                         : k->kind == IO_FAKE_ONES || (k->kind == IO_FAKE_IOTA && ((at + i) & 1));
        out[i] = k->facts->fixed ? k->facts->value > 0 : value;
    }
}

/* ---- sorted or unique indices ---- */

static int64_t power_below(int64_t base, int64_t exponent)
{
    int64_t n = 1;
    while (exponent-- > 0 && mul_i64(n, base, &n) && n < INT64_C(1) << 62)
        ;
    return n > 0 && n < INT64_C(1) << 62 ? n : INT64_C(1) << 62;
}

/* Number v of `count` ascending numbers below `all`: each is drawn from a subrange of its own, so
 * that they are unique if possible. */
static uint64_t draw_unique(uint64_t v, uint64_t count, uint64_t all, uint64_t word)
{
    if (all < count)
        return v * (all - 1) / (count > 1 ? count - 1 : 1);
    uint64_t part = all / count;
    return v * part + word % part;
}

static void shuffle(uint64_t *of, uint64_t count, uint64_t key)
{
    for (uint64_t i = count; i-- > 1;) {
        uint64_t word, j, t = of[i];
        random_words(&word, key, i, 1);
        j = word % (i + 1);
        of[i] = of[j];
        of[j] = t;
    }
}

/* Stores sorted or unique indices. Component c of index v is at ((v / inner) * components + c) *
 * inner + v % inner; the first component is the most significant. */
static bool put_ordered(const struct maker *k, const struct shape *s, char *out, int64_t elements)
{
    const struct fake_facts *f = k->facts;
    const struct range r = range_of(k);
    bool vectors =
        f->vector_dim >= 0 && f->vector_dim < s->rank && s->dims[f->vector_dim] == f->components;
    int64_t components = vectors ? f->components : 1, count = elements / components;
    int64_t values = r.high - r.low + 1,
            all = power_below(values > 0 ? values : INT64_MAX, components);
    uint64_t *codes = mem_alloc((size_t)count * sizeof *codes);
    if (!codes)
        return false;
    const int first = vectors ? (int)f->vector_dim + 1 : s->rank;
    const int64_t inner = dims_elements(s->rank - first, s->dims + first);
    random_words(codes, k->key, 0, (size_t)count);
    for (int64_t v = 0; v < count; v++)
        codes[v] = draw_unique((uint64_t)v, (uint64_t)count, (uint64_t)all, codes[v]);
    if (!f->sorted)
        shuffle(codes, (uint64_t)count, ~k->key);
    for (int64_t v = 0; v < count; v++)
        for (int64_t c = components; c-- > 0; codes[v] /= (uint64_t)values) {
            uint64_t value = (uint64_t)r.low + codes[v] % (uint64_t)values;
            random_put_integers(k->type,
                                out + ((v / inner * components + c) * inner + v % inner) *
                                          (int64_t)dtype_bytes(k->type),
                                &value, 1);
        }
    mem_free(codes);
    return true;
}

/* ---- arrays ---- */

/* Makes each matrix diagonally dominant. */
static void make_diagonally_dominant(const struct shape *s, enum dtype part, char *out,
                                     int64_t elements)
{
    int64_t rows = s->dims[s->rank - 2], columns = s->dims[s->rank - 1];
    size_t width = dtype_bytes(s->dtype), step = dtype_bytes(part);
    for (char *p = out; p < out + (size_t)elements * width; p += step)
        float_store(part, p, float_load(part, p) / (double)columns);
    for (int64_t at = 0; at < elements; at += rows * columns)
        for (int64_t i = 0; i < rows && i < columns; i++)
            float_store(part, out + (size_t)(at + i * columns + i) * width, 2);
    for (int64_t at = 0; part != s->dtype && at < elements;
         at += rows * columns) /* the diagonal of a complex matrix is real */
        for (int64_t i = 0; i < rows && i < columns; i++)
            float_store(part, out + (size_t)(at + i * columns + i) * width + step, 0);
}

static bool fill(const struct maker *k, const struct shape *s, char *out, int64_t elements)
{
    bool random = k->kind >= IO_FAKE_UNIFORM, floats = dtype_is_float(k->type);
    int64_t n = elements * (int64_t)(dtype_bytes(s->dtype) / dtype_bytes(k->type));
    if (random && dtype_is_integer(k->type) && elements > 0 && !k->facts->fixed &&
        (k->facts->sorted || k->facts->unique))
        return put_ordered(k, s, out, elements);
    for (int64_t at = 0; at < n; at += CHUNK) {
        size_t some = (size_t)(n - at < CHUNK ? n - at : CHUNK);
        char *p = out + (size_t)at * dtype_bytes(k->type);
        if (floats)
            put_floats(k, p, (uint64_t)at, some);
        else if (k->type == DT_PRED)
            put_preds(k, (uint8_t *)p, (uint64_t)at, some);
        else
            put_integers(k, p, (uint64_t)at, some);
    }
    if (k->facts->dominant && floats && (k->kind == IO_FAKE_UNIFORM || k->kind == IO_FAKE_NORMAL) &&
        s->rank >= 2)
        make_diagonally_dominant(s, k->type, out, elements);
    return true;
}

static struct literal *fake_array(struct diags *ds, struct arena *a, const struct shape *s,
                                  const struct maker *k)
{
    int64_t elements;
    if (s->dynamic) /* dynamic sizes equal the bounds */
        s = shape_array(a, s->dtype, s->rank, s->dims, NULL, s->layout);
    struct literal *l = io_literal_new(ds, a, s);
    if (!l || !shape_elements(s, &elements) || fill(k, s, l->data, elements))
        return l;
    literal_free_data(l);
    DIAG(ds, NO_SPAN, FAILURE, "out of memory");
    return NULL;
}

struct source_of_values {
    struct diags *ds;
    const struct module *module;
    int param;
    enum io_fake kind;
    int64_t first, leaf; /* the first leaf of the parameter, and the next one */
    uint64_t seed;
};

static struct literal *fake_leaf(struct source_of_values *v, struct arena *a, const struct shape *s)
{
    struct arena_mark mark = arena_mark(a);
    struct fake_facts facts = io_fake_facts(a, v->module, v->param, v->leaf - v->first);
    arena_release(a, mark);
    struct maker k = {&facts, v->kind, dtype_component(s->dtype),
                      (v->seed * 1000003 + (uint64_t)v->leaf) * 0xD1342543DE82EF95u};
    v->leaf++;
    return shape_is_array(s) ? fake_array(v->ds, a, s, &k) : literal_new(a, s);
}

static struct literal *fake_value(struct source_of_values *v, struct arena *a,
                                  const struct shape *s)
{
    if (!shape_is_tuple(s))
        return fake_leaf(v, a, s);
    struct literal **elements = ARENA_ARRAY(a, struct literal *, s->count);
    bool ok = true;
    for (int i = 0; i < s->count && ok; i++) {
        elements[i] = fake_value(v, a, s->elements[i]);
        ok = elements[i] != NULL;
    }
    return literal_tuple(a, elements, s->count);
}

struct literal *io_fake(struct diags *ds, struct arena *a, const struct module *m, int param,
                        enum io_fake kind, int64_t leaf, uint64_t seed)
{
    struct source_of_values v = {ds, m, param, kind, leaf, leaf, seed};
    return fake_value(&v, a, m->entry->params[param]->shape);
}
