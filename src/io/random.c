/*
 * random.c: random inputs that any tool can reproduce.
 *
 * Element i of leaf k derives from word mix(seed * 1000003 + k, i) of splitmix64. f32 maps its top
 * 24 bits to [-1, 1), f64 53 bits, narrower floats are rounded from f32, complex uses words 2i and
 * 2i+1, integers are 0 to 4, pred is the top bit. After 2^22 elements the first 2^22 repeat. The
 * module's text may change the range and add to the diagonal: `// peers: param=K range=LO,HI
 * eye=X`, where K is the number of a leaf.
 */
#include "base/wide.h"
#include "io/io.h"
#include "kern/kern.h"

enum { BLOCK = 1 << 22, CHUNK = 1024, HINT_BYTES = 20000 };

struct recipe {
    bool ranged, eyed;
    double lo, hi, eye;
    uint64_t key;
};

/* Word i of splitmix64 is mix(key + (i + 1) STEP). */
static const uint64_t STEP = 0x9E3779B97F4A7C15u;

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* ---- hints in the text ---- */

static struct str rest_of_line(struct str text, size_t at)
{
    const char *end = memchr(text.ptr + at, '\n', text.len - at);
    return (struct str){text.ptr + at, end ? (size_t)(end - text.ptr) - at : text.len - at};
}

/* The value of ` name=value` in a line; empty if absent. */
static struct str hint_value(struct str line, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n < line.len; i++) {
        if (memcmp(line.ptr + i, name, n) != 0 || line.ptr[i + n] != '=' ||
            (i > 0 && !char_is_blank(line.ptr[i - 1])))
            continue;
        size_t begin = i + n + 1, end = begin;
        while (end < line.len && !char_is_blank(line.ptr[end]))
            end++;
        return (struct str){line.ptr + begin, end - begin};
    }
    return (struct str){NULL, 0};
}

static bool read_range(struct str s, struct recipe *r)
{
    const char *comma = s.len ? memchr(s.ptr, ',', s.len) : NULL;
    if (!comma)
        return false;
    size_t n = (size_t)(comma - s.ptr);
    return num_parse_double((struct str){s.ptr, n}, &r->lo) &&
           num_parse_double((struct str){comma + 1, s.len - n - 1}, &r->hi) && r->hi > r->lo;
}

static bool read_hint(struct diags *ds, struct str line, int64_t leaf, struct recipe *r)
{
    int64_t k;
    if (!num_parse_i64(hint_value(line, "param"), &k) || k != leaf)
        return true;
    struct str range = hint_value(line, "range"), eye = hint_value(line, "eye");
    r->ranged = range.len > 0;
    r->eyed = eye.len > 0;
    if ((r->ranged && !read_range(range, r)) || (r->eyed && !num_parse_double(eye, &r->eye)))
        return DIAG_ERROR(ds, NO_SPAN, RANDOM_HINT, STR_ARG(line));
    return true;
}

static bool read_hints(struct diags *ds, struct str text, int64_t leaf, struct recipe *r)
{
    static const char mark[] = "peers:";
    text.len = text.len < HINT_BYTES ? text.len : HINT_BYTES;
    for (size_t at = 0; at + sizeof mark < text.len; at++) {
        const char *p = memchr(text.ptr + at, 'p', text.len - at - sizeof mark);
        if (!p)
            break;
        at = (size_t)(p - text.ptr);
        size_t before = at;
        while (before > 0 && (text.ptr[before - 1] == ' ' || text.ptr[before - 1] == '\t'))
            before--;
        if (memcmp(p, mark, sizeof mark - 1) != 0 || before < 2 ||
            memcmp(text.ptr + before - 2, "//", 2) != 0)
            continue;
        if (!read_hint(ds, rest_of_line(text, at + sizeof mark - 1), leaf, r))
            return false;
    }
    return true;
}

/* ---- elements: in chunks, one loop per kind of type ---- */

void io_random_words(uint64_t *u, uint64_t key, uint64_t at, size_t n)
{
    uint64_t state = at * STEP + key;
    for (size_t i = 0; i < n; i++)
        u[i] = mix(state += STEP);
}

/* 24 and 53 bits: exact as signed integers, whose conversion is faster than that of unsigned
 * ones. */
static void put_f32(const struct recipe *r, float *out, const uint64_t *u, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(int32_t)(u[i] >> 40) * 0x1p-23f - 1.0f;
    const float half = (float)((r->hi - r->lo) / 2), lo = (float)r->lo;
    for (size_t i = 0; r->ranged && i < n; i++)
        out[i] = (out[i] + 1.0f) * half + lo;
}

static void put_f64(const struct recipe *r, double *out, const uint64_t *u, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (double)(int64_t)(u[i] >> 11) * 0x1p-52 - 1.0;
    const double half = (r->hi - r->lo) / 2;
    for (size_t i = 0; r->ranged && i < n; i++)
        out[i] = (out[i] + 1.0) * half + r->lo;
}

static int64_t whole(double x)
{
    return x < -0x1p62 ? -(INT64_C(1) << 62) : x > 0x1p62 ? INT64_C(1) << 62 : (int64_t)x;
}

/* lo + u % (hi - lo). The quotient estimated with floor((2^64 - 1) / width) is exact or one too
 * small. */
static void fit_integers(const struct recipe *r, enum dtype t, uint64_t *u, size_t n)
{
    int64_t lo = r->ranged ? whole(r->lo) : 0, hi = r->ranged ? whole(r->hi) : 5;
    if (dtype_is_subbyte(t)) {
        lo = lo > 0 ? lo : 0;
        hi = hi < 2 ? hi : 2;
    }
    const uint64_t width = hi > lo ? (uint64_t)(hi - lo) : 1, inverse = UINT64_MAX / width;
    for (size_t i = 0; i < n; i++) {
        uint64_t rest = u[i] - mul_high(u[i], inverse) * width;
        rest -= rest >= width ? width : 0;
        u[i] = (uint64_t)lo + rest;
    }
    for (size_t i = 0; t == DT_S1 && i < n; i++)
        u[i] = 0 - u[i]; /* its values are 0 and -1 */
}

#define PUT_LOW_BITS(W)                                                                            \
    static void put_low_##W(void *out, const uint64_t *u, size_t n)                                \
    {                                                                                              \
        uint##W##_t *to = out;                                                                     \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = (uint##W##_t)u[i];                                                             \
    }
PUT_LOW_BITS(8)
PUT_LOW_BITS(16)
PUT_LOW_BITS(32)
#undef PUT_LOW_BITS

void io_put_integers(enum dtype t, void *out, const uint64_t *u, size_t n)
{
    switch (dtype_bytes(t)) {
    case 1: put_low_8(out, u, n); break;
    case 2: put_low_16(out, u, n); break;
    case 4: put_low_32(out, u, n); break;
    default: memcpy(out, u, n * sizeof *u); break;
    }
}

/* Generates n elements, from number `at` on. */
static void put_chunk(const struct recipe *r, enum dtype t, void *out, uint64_t at, size_t n)
{
    uint64_t u[2 * CHUNK];
    float x[CHUNK];
    size_t parts = dtype_is_complex(t) ? 2 : 1;
    io_random_words(u, r->key, parts * at, parts * n);
    if (t == DT_F32 || t == DT_C64) {
        put_f32(r, out, u, parts * n);
    } else if (t == DT_F64 || t == DT_C128) {
        put_f64(r, out, u, parts * n);
    } else if (dtype_is_float(t)) {
        put_f32(r, x, u, n);
        kern_find_convert(t, DT_F32)(out, (const void *const[]){x}, (int64_t)n);
    } else if (t == DT_PRED) {
        for (size_t i = 0; i < n; i++)
            u[i] >>= 63;
        io_put_integers(t, out, u, n);
    } else {
        fit_integers(r, t, u, n);
        io_put_integers(t, out, u, n);
    }
}

/* Adds the hint's X to the diagonal of the last two dimensions, in f64, rounded to the type. */
static void add_eye(const struct literal *l, const struct recipe *r, int64_t elements)
{
    const struct shape *s = l->shape;
    int64_t rows = s->dims[s->rank - 2], columns = s->dims[s->rank - 1],
            n = rows < columns ? rows : columns;
    size_t width = dtype_bytes(s->dtype);
    for (int64_t matrix = 0; matrix < elements; matrix += rows * columns) {
        for (int64_t i = 0; i < n; i++) {
            char *p = (char *)l->data + (size_t)(matrix + i * columns + i) * width;
            if (dtype_is_float(s->dtype)) {
                float_store(s->dtype, p, float_load(s->dtype, p) + r->eye);
            } else if (dtype_is_integer(s->dtype)) {
                int64_t v = 0;
                memcpy(&v, p, width);
                v += (int64_t)r->eye;
                memcpy(p, &v, width);
            }
        }
    }
}

static struct literal *random_array(struct diags *ds, struct arena *a, const struct shape *shape,
                                    const struct recipe *r)
{
    int64_t elements;
    if (shape->dynamic) /* dynamic sizes equal the bounds */
        shape = shape_array(a, shape->dtype, shape->rank, shape->dims, NULL, shape->layout);
    struct literal *l = io_literal_new(ds, a, shape);
    if (!l || !shape_elements(shape, &elements))
        return NULL;
    char *data = l->data;
    size_t width = dtype_bytes(shape->dtype);
    int64_t head = elements < BLOCK ? elements : BLOCK;
    for (int64_t i = 0; i < head; i += CHUNK)
        put_chunk(r, shape->dtype, data + (size_t)i * width, (uint64_t)i,
                  (size_t)(head - i < CHUNK ? head - i : CHUNK));
    for (int64_t i = BLOCK; i < elements; i += BLOCK)
        memcpy(data + (size_t)i * width, data,
               (size_t)(elements - i < BLOCK ? elements - i : BLOCK) * width);
    if (r->eyed && shape->rank >= 2 && elements > 0)
        add_eye(l, r, elements);
    return l;
}

static struct literal *random_value(struct diags *ds, struct arena *a, struct str text,
                                    const struct shape *shape, int64_t *leaf, uint64_t seed)
{
    if (!shape_is_tuple(shape)) {
        struct recipe r = {.key = (seed * 1000003 + (uint64_t)*leaf) * 0xD1342543DE82EF95u};
        if (!read_hints(ds, text, (*leaf)++, &r))
            return NULL;
        return shape_is_array(shape) ? random_array(ds, a, shape, &r) : literal_new(a, shape);
    }
    struct literal **elements = ARENA_ARRAY(a, struct literal *, shape->count);
    bool ok = true;
    for (int i = 0; i < shape->count && ok; i++) {
        elements[i] = random_value(ds, a, text, shape->elements[i], leaf, seed);
        ok = elements[i] != NULL;
    }
    return literal_tuple(a, elements, shape->count);
}

struct literal *io_random(struct diags *ds, struct arena *a, struct str text,
                          const struct shape *shape, int64_t leaf, uint64_t seed)
{
    return random_value(ds, a, text, shape, &leaf, seed);
}
