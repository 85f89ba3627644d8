/*
 * Random inputs that every tool can make again: the same bits as ../shared/tools/peers.py gives.
 *
 * Element i of leaf k comes from word mix(seed * 1000003 + k, i) of splitmix64. f32 takes its top 24
 * bits into [-1, 1), f64 53 bits, narrower floats are rounded from f32, complex takes words 2i and
 * 2i+1, integers are 0 to 4, pred is the top bit. Past 2^22 elements the first 2^22 repeat. The
 * module's text may say more: `// peers: param=K range=LO,HI eye=X`, K counting leaves.
 */
#include "io/io.h"

enum { BLOCK = 1 << 22, HINT_BYTES = 20000 };

struct recipe {
    bool ranged, eyed;
    double lo, hi, eye;
    uint64_t key;
};

static uint64_t mix(uint64_t key, uint64_t i)
{
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + key;
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

/* The value of ` name=value` in a line; empty when it is not there. */
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

/* ---- elements ---- */

static float unit_f32(const struct recipe *r, uint64_t u)
{
    float x = (float)(u >> 40) * 0x1p-23f - 1.0f;
    return r->ranged ? (x + 1.0f) * (float)((r->hi - r->lo) / 2) + (float)r->lo : x;
}

static double unit_f64(const struct recipe *r, uint64_t u)
{
    double x = (double)(u >> 11) * 0x1p-52 - 1.0;
    return r->ranged ? (x + 1.0) * ((r->hi - r->lo) / 2) + r->lo : x;
}

static int64_t integer(const struct recipe *r, enum dtype t, uint64_t u)
{
    int64_t lo = 0, hi = 5;
    if (r->ranged) {
        lo = r->lo < -0x1p62 ? -(INT64_C(1) << 62) : (int64_t)r->lo;
        hi = r->hi > 0x1p62 ? INT64_C(1) << 62 : (int64_t)r->hi;
    }
    if (dtype_is_subbyte(t)) {
        lo = lo > 0 ? lo : 0;
        hi = hi < 2 ? hi : 2;
    }
    return hi > lo ? lo + (int64_t)(u % (uint64_t)(hi - lo)) : lo;
}

static void put_element(const struct recipe *r, enum dtype t, char *p, uint64_t i)
{
    if (t == DT_C64) {
        struct c64 v = {unit_f32(r, mix(r->key, 2 * i)), unit_f32(r, mix(r->key, 2 * i + 1))};
        memcpy(p, &v, sizeof v);
        return;
    }
    if (t == DT_C128) {
        struct c128 v = {unit_f64(r, mix(r->key, 2 * i)), unit_f64(r, mix(r->key, 2 * i + 1))};
        memcpy(p, &v, sizeof v);
        return;
    }
    uint64_t u = mix(r->key, i);
    if (dtype_is_float(t)) {
        float_store(t, p, t == DT_F64 ? unit_f64(r, u) : (double)unit_f32(r, u));
        return;
    }
    int64_t v = t == DT_PRED ? (int64_t)(u >> 63) : integer(r, t, u);
    memcpy(p, &v, dtype_bytes(t));
}

/* Adds X to the diagonal of the last two dimensions, in f64, rounded to the type. */
static void add_eye(const struct literal *l, const struct recipe *r, int64_t elements)
{
    const struct shape *s = l->shape;
    int64_t rows = s->dims[s->rank - 2], columns = s->dims[s->rank - 1], n = rows < columns ? rows : columns;
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
    if (shape->dynamic) /* as large as it can be */
        shape = shape_array(a, shape->dtype, shape->rank, shape->dims, NULL, shape->layout);
    struct literal *l = io_literal_new(ds, a, shape);
    if (!l || !shape_elements(shape, &elements))
        return NULL;
    char *data = l->data;
    size_t width = dtype_bytes(shape->dtype);
    int64_t head = elements < BLOCK ? elements : BLOCK;
    for (int64_t i = 0; i < head; i++)
        put_element(r, shape->dtype, data + (size_t)i * width, (uint64_t)i);
    for (int64_t i = BLOCK; i < elements; i += BLOCK)
        memcpy(data + (size_t)i * width, data, (size_t)(elements - i < BLOCK ? elements - i : BLOCK) * width);
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
    struct literal *l = ARENA_NEW(a, struct literal);
    const struct shape **shapes = ARENA_ARRAY(a, const struct shape *, shape->count);
    l->elements = ARENA_ARRAY(a, struct literal *, shape->count);
    for (int i = 0; i < shape->count; i++) {
        l->elements[i] = random_value(ds, a, text, shape->elements[i], leaf, seed);
        if (!l->elements[i]) {
            while (i-- > 0)
                literal_free_data(l->elements[i]);
            return NULL;
        }
        shapes[i] = l->elements[i]->shape;
    }
    l->shape = shape_tuple(a, shape->count, shapes);
    return l;
}

struct literal *io_random(struct diags *ds, struct arena *a, struct str text, const struct shape *shape,
                          int64_t leaf, uint64_t seed)
{
    return random_value(ds, a, text, shape, &leaf, seed);
}
