/*
 * random.c: random inputs that any tool can reproduce, from the random stream of each leaf
 * (kern/random.h).
 *
 * The module's text may change the range and add to the diagonal: `// peers: param=K range=LO,HI
 * eye=X`, where K is the number of a leaf.
 */
#include "io/io.h"
#include "kern/random.h"

enum { HINT_BYTES = 20000 };

struct recipe {
    struct random_stream stream;
    bool eyed;
    double eye;
};

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

static bool read_range(struct str s, struct random_stream *r)
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
    r->stream.ranged = range.len > 0;
    r->eyed = eye.len > 0;
    if ((r->stream.ranged && !read_range(range, &r->stream)) ||
        (r->eyed && !num_parse_double(eye, &r->eye)))
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

/* ---- arrays ---- */

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
    random_fill(&r->stream, shape->dtype, l->data, (size_t)elements);
    if (r->eyed && shape->rank >= 2 && elements > 0)
        add_eye(l, r, elements);
    return l;
}

static struct literal *random_value(struct diags *ds, struct arena *a, struct str text,
                                    const struct shape *shape, int64_t *leaf, uint64_t seed)
{
    if (!shape_is_tuple(shape)) {
        struct recipe r = {.stream = random_stream(seed, (uint64_t)*leaf)};
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
