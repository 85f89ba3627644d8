/*
 * Slices of values as in NumPy's basic indexing: `[0,:4]`, `[..., -1]`, `[::-2]`.
 *
 *   slice   = { "[" part { "," part } "]" }
 *   part    = integer | [integer] ":" [integer] [":" [integer]] | "..."
 *
 * For a tuple, a bracket holds one integer, which selects a component. Each bracket applies to the
 * result of the previous one.
 */
#include "look/look.h"

struct part {
    enum { PART_INDEX, PART_RANGE, PART_REST } kind;
    int64_t first, limit, step;
    bool has_first, has_limit;
};
struct cut { /* the selection in one dimension */
    int64_t first, step, count;
    bool drop; /* the dimension is removed */
};
struct reading {
    struct str text;
    size_t at;
    struct arena *arena;
    struct buf *why;
};

enum { MAX_PARTS = 64 };

/* ---- parsing ---- */

static bool wrong(struct reading *r, const char *what)
{
    buf_printf(r->why, "'" STR_FMT "': %s at character %zu", STR_ARG(r->text), what, r->at + 1);
    return false;
}

static char peek(struct reading *r)
{
    while (r->at < r->text.len && char_is_blank(r->text.ptr[r->at]))
        r->at++;
    return r->at < r->text.len ? r->text.ptr[r->at] : '\0';
}

static bool eat(struct reading *r, char c)
{
    bool there = peek(r) == c;
    r->at += there;
    return there;
}

/* Parses an optional integer. */
static bool read_integer(struct reading *r, int64_t *out, bool *there)
{
    char c = peek(r);
    size_t start = r->at, end = start;
    *there = c == '-' || c == '+' || char_is_digit(c);
    if (!*there)
        return true;
    end += c == '-' || c == '+';
    while (end < r->text.len && char_is_digit(r->text.ptr[end]))
        end++;
    start += c == '+';
    if (!num_parse_i64((struct str){r->text.ptr + start, end - start}, out))
        return wrong(r, "expected a 64-bit integer");
    r->at = end;
    return true;
}

static bool read_part(struct reading *r, struct part *p)
{
    bool there;
    *p = (struct part){.step = 1};
    if (peek(r) == '.') {
        if (r->text.len - r->at < 3 || memcmp(r->text.ptr + r->at, "...", 3) != 0)
            return wrong(r, "expected '...'");
        r->at += 3;
        p->kind = PART_REST;
        return true;
    }
    if (!read_integer(r, &p->first, &p->has_first))
        return false;
    if (!eat(r, ':'))
        return p->has_first || wrong(r, "expected an integer, ':' or '...'");
    p->kind = PART_RANGE;
    if (!read_integer(r, &p->limit, &p->has_limit))
        return false;
    if (eat(r, ':') && !read_integer(r, &p->step, &there))
        return false;
    return p->step != 0 || wrong(r, "step must not be 0");
}

/* Parses a bracket at its `[`. Returns the number of its parts; 0: an error. */
static size_t read_bracket(struct reading *r, struct part *parts)
{
    size_t n = 0;
    if (!eat(r, '['))
        return wrong(r, "expected '['");
    do {
        if (n == MAX_PARTS)
            return wrong(r, "too many indices");
        if (!read_part(r, &parts[n++]))
            return 0;
    } while (eat(r, ','));
    return eat(r, ']') ? n : (size_t)wrong(r, "expected ',' or ']'");
}

/* ---- resolution ---- */

static bool out_of_range(struct reading *r, int64_t index, const char *what, int d, int64_t size)
{
    buf_printf(r->why, "'" STR_FMT "': index %" PRId64 " is out of range for %s", STR_ARG(r->text),
               index, what);
    if (d >= 0)
        buf_printf(r->why, " %d, of size %" PRId64, d, size);
    else
        buf_printf(r->why, " of %" PRId64 " elements", size);
    return false;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* A bound of a range: negative ones count from the end; those out of range are clamped. */
static int64_t bound_of(int64_t v, int64_t size, int64_t low, int64_t high)
{
    return clamp(v < 0 ? v + size : v, low, high);
}

static bool cut_dimension(struct reading *r, const struct part *p, int d, int64_t size,
                          struct cut *c)
{
    if (p->kind == PART_INDEX) {
        if (p->first < -size || p->first >= size)
            return out_of_range(r, p->first, "dimension", d, size);
        *c = (struct cut){p->first < 0 ? p->first + size : p->first, 1, 1, true};
        return true;
    }
    int64_t low = p->step > 0 ? 0 : -1, high = p->step > 0 ? size : size - 1;
    int64_t first = p->has_first ? bound_of(p->first, size, low, high) : p->step > 0 ? low : high;
    int64_t limit = p->has_limit ? bound_of(p->limit, size, low, high) : p->step > 0 ? high : low;
    uint64_t step = p->step > 0 ? (uint64_t)p->step : 0 - (uint64_t)p->step;
    int64_t distance = p->step > 0 ? limit - first : first - limit;
    *c = (struct cut){first, p->step,
                      distance > 0 ? (int64_t)(((uint64_t)distance - 1) / step) + 1 : 0, false};
    if (c->count <= 1)
        c->step = 1; /* unused; a huge step would overflow in products */
    return true;
}

/* One selection per dimension; dimensions without a part are kept whole. */
static bool cut_all(struct reading *r, const struct part *parts, size_t n, const struct shape *s,
                    struct cut *cuts)
{
    size_t rest = n, rests = 0;
    for (size_t i = 0; i < n; i++)
        if (parts[i].kind == PART_REST)
            rest = i, rests++;
    if (rests > 1)
        return wrong(r, "duplicate '...'");
    if (n - rests > (size_t)s->rank) {
        buf_printf(r->why, "'" STR_FMT "': %zu indices for an array of rank %d", STR_ARG(r->text),
                   n - rests, s->rank);
        return false;
    }
    size_t whole = (size_t)s->rank - (n - rests), part = 0;
    for (int d = 0; d < s->rank; d++) {
        bool missing = part >= rest && whole > 0;
        whole -= missing;
        part += rests > 0 && part == rest && !missing;
        const struct part all = {.kind = PART_RANGE, .step = 1};
        if (!cut_dimension(r, missing ? &all : &parts[part], d, s->dims[d], &cuts[d]))
            return false;
        part += !missing;
    }
    return true;
}

/* ---- copying ---- */

struct copying {
    const struct cut *cuts;
    const int64_t *strides; /* of the whole array, in bytes */
    int rank;
    size_t width;
    char *to;
};

static void copy_dimension(struct copying *c, int d, const char *from)
{
    if (d == c->rank) {
        memcpy(c->to, from, c->width);
        c->to += c->width;
        return;
    }
    const struct cut *cut = &c->cuts[d];
    from += cut->first * c->strides[d];
    if (d == c->rank - 1 && cut->step == 1) {
        memcpy(c->to, from, (size_t)cut->count * c->width);
        c->to += (size_t)cut->count * c->width;
        return;
    }
    for (int64_t i = 0; i < cut->count; i++)
        copy_dimension(c, d + 1, from + i * cut->step * c->strides[d]);
}

static struct literal *cut_array(struct reading *r, const struct literal *l, const struct cut *cuts)
{
    const struct shape *s = l->shape;
    int64_t *dims = ARENA_ARRAY(r->arena, int64_t, s->rank),
            *strides = ARENA_ARRAY(r->arena, int64_t, s->rank);
    int64_t stride = (int64_t)dtype_bytes(s->dtype), elements = 0;
    int rank = 0;
    for (int d = s->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        /* Unsigned: may overflow for an empty array. */
        stride = (int64_t)((uint64_t)stride * (uint64_t)s->dims[d]);
    }
    for (int d = 0; d < s->rank; d++)
        if (!cuts[d].drop)
            dims[rank++] = cuts[d].count;
    struct literal *piece =
        literal_new(r->arena, shape_array(r->arena, s->dtype, rank, dims, NULL, NULL));
    if (!piece) {
        buf_puts(r->why, "out of memory");
        return NULL;
    }
    struct copying c = {cuts, strides, s->rank, dtype_bytes(s->dtype), piece->data};
    if (shape_elements(piece->shape, &elements) && elements > 0)
        copy_dimension(&c, 0, l->data);
    return piece;
}

static struct literal *cut_bracket(struct reading *r, const struct literal *l)
{
    struct part parts[MAX_PARTS];
    size_t n = read_bracket(r, parts);
    if (n == 0)
        return NULL;
    if (!shape_is_array(l->shape)) {
        buf_printf(r->why, "'" STR_FMT "': a token has no elements", STR_ARG(r->text));
        return NULL;
    }
    struct cut *cuts = ARENA_ARRAY(r->arena, struct cut, l->shape->rank);
    return cut_all(r, parts, n, l->shape, cuts) ? cut_array(r, l, cuts) : NULL;
}

static const struct literal *choose_component(struct reading *r, const struct literal *l)
{
    struct part parts[MAX_PARTS];
    size_t n = read_bracket(r, parts);
    int64_t count = l->shape->count, index = parts[0].first;
    if (n == 0)
        return NULL;
    if (n != 1 || parts[0].kind != PART_INDEX) {
        buf_printf(r->why, "'" STR_FMT "': select a tuple element first, as in '[1][0,:4]'",
                   STR_ARG(r->text));
        return NULL;
    }
    if (index < -count || index >= count)
        return out_of_range(r, index, "a tuple", -1, count), NULL;
    return l->elements[index < 0 ? index + count : index];
}

struct literal *look_slice(struct arena *a, const struct literal *l, struct str text,
                           struct buf *why)
{
    struct reading r = {.text = text, .arena = a, .why = why};
    struct literal *piece = NULL;
    while (peek(&r) != '\0' || r.at < text.len) {
        if (shape_is_tuple(l->shape)) {
            l = choose_component(&r, l);
        } else {
            struct literal *next = cut_bracket(&r, l);
            if (piece)
                literal_free_data(piece);
            l = piece = next;
        }
        if (!l)
            return NULL;
    }
    if (!piece && !(piece = literal_copy(a, l)))
        buf_puts(why, "out of memory");
    return piece;
}
