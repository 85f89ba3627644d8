/*
 * scalar_native_copy.c: copies between views as machine code: of few elements, element by element;
 * else loops over rows of contiguous elements, or of one element.
 */
#include "plan/scalar_native.h"

enum { MOST_LOOPS = 16 };

struct copy_shape scalar_copy_shape(const struct view *out, const struct view *x)
{
    struct copy_shape s = {0};
    for (int d = 0; d < out->rank; d++) {
        const int last = s.rank - 1;
        const int64_t n = out->dims[d], to = out->strides[d], from = x->strides[d];
        if (n == 1)
            continue;
        const bool merges = last >= 0 && s.out[last] == n * to && s.x[last] == n * from;
        const int at = merges ? last : s.rank++;
        s.dims[at] = merges ? s.dims[at] * n : n;
        s.out[at] = to;
        s.x[at] = from;
    }
    return s;
}

/* ---- element by element ---- */

static bool copy_elements(struct translation *t, const struct view *out, const struct view *x,
                          int64_t n)
{
    int64_t index[VIEW_MAX_RANK] = {0};
    for (; n > 0; n--, index_next(out->rank, out->dims, index)) {
        const int v = scalar_read_element(t, view_at(x, index), out->dtype);
        if (v == JIT_NONE || !scalar_write_element(t, view_at(out, index), out->dtype, v))
            return false;
    }
    return true;
}

/* ---- loops over rows ---- */

struct row_copy {
    struct translation *t;
    enum dtype type; /* unsigned, of the width of an element */
    int64_t width;
    bool single; /* rows of one element, or of one that is repeated */
};

static enum dtype type_of_width(int64_t width)
{
    return width == 1 ? DT_U8 : width == 2 ? DT_U16 : width == 4 ? DT_U32 : DT_U64;
}

static void copy_vector(const struct row_copy *c, char *out, int64_t out_stride, char *x,
                        int64_t x_stride, int lanes)
{
    struct jit_builder *b = c->t->b;
    jit_set_lanes(b, lanes);
    const int v = c->single ? jit_single(b, x, c->type) : jit_element(b, x, c->type);
    jit_set_stride(b, x_stride);
    jit_put_element(b, out, v);
    jit_set_stride(b, out_stride);
}

/* `rows` rows of n elements. */
static void copy_rows(const struct row_copy *c, int64_t rows, char *out, int64_t out_stride,
                      char *x, int64_t x_stride, int64_t n)
{
    enum { MOST_UNROLLED = 4 };
    struct jit_builder *b = c->t->b;
    const int most = c->width == 8 ? 4 : 8;
    int64_t at = n / most > MOST_UNROLLED ? n - n % most : 0;
    jit_start_rows(b);
    if (at > 0) {
        jit_set_lanes(b, most);
        jit_start_elements(b);
        copy_vector(c, out, out_stride, x, x_stride, most);
        jit_end_elements(b, (int)at);
    }
    for (int lanes = most; at < n; at += lanes) {
        lanes = n - at >= most ? most : n - at >= 4 ? 4 : 1;
        copy_vector(c, out + at * c->width, out_stride, x + (c->single ? 0 : at * c->width),
                    x_stride, lanes);
    }
    jit_set_lanes(b, 1);
    jit_end_rows(b, (int)rows);
}

/* The number of loops over rows that the dimensions from `d` on are copied by. */
static int64_t loops_of(const struct copy_shape *s, int d, int64_t width)
{
    int64_t n = 1;
    for (; s->rank - d > 2; d++)
        n *= s->dims[d];
    if (s->rank - d < 2 || (s->out[d + 1] == width && (s->x[d + 1] == width || s->x[d + 1] == 0)))
        return n;
    return n * (s->dims[d] < s->dims[d + 1] ? s->dims[d] : s->dims[d + 1]);
}

/* Each index of the outer dimensions is a loop; that of the shorter one, if rows have gaps. */
static void copy_dims(const struct row_copy *c, const struct copy_shape *s, int d, char *out,
                      char *x)
{
    const int rank = s->rank - d, e = d + 1;
    if (rank <= 1) {
        copy_rows(c, rank ? s->dims[d] : 1, out, s->out[d], x, s->x[d], 1);
    } else if (loops_of(s, d, c->width) == 1) {
        struct row_copy row = *c;
        int64_t n = s->dims[e];
        row.single = s->x[e] == 0;
        for (; !row.single && row.width < 4 && n % 2 == 0; row.width *= 2)
            n /= 2;
        row.type = type_of_width(row.width);
        copy_rows(&row, s->dims[d], out, s->out[d], x, s->x[d], n);
    } else if (rank == 2 && s->dims[d] > s->dims[e]) {
        for (int64_t k = 0; k < s->dims[e]; k++)
            copy_rows(c, s->dims[d], out + k * s->out[e], s->out[d], x + k * s->x[e], s->x[d], 1);
    } else {
        for (int64_t k = 0; k < s->dims[d]; k++)
            copy_dims(c, s, e, out + k * s->out[d], x + k * s->x[d]);
    }
}

bool scalar_translate_copy(struct translation *t, const struct scalar_copy *c)
{
    const struct view *out = &c->out, *x = &c->x.view;
    const int64_t n = view_elements(out), width = (int64_t)dtype_bytes(out->dtype);
    if (c->x.origin.large_array)
        return false;
    if (n <= SCALAR_SINGLE_COPIES && copy_elements(t, out, x, n))
        return true;
    struct copy_shape s = scalar_copy_shape(out, x);
    if (width > 8 || n == 0 || !scalar_is_in_memory(t, x->data) ||
        !scalar_is_in_memory(t, out->data) || loops_of(&s, 0, width) > MOST_LOOPS)
        return false;
    copy_dims(&(struct row_copy){t, type_of_width(width), width, true}, &s, 0, out->data,
              (char *)x->data);
    return true;
}
