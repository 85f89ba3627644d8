/*
 * stored.c: converts a stored array to a literal: checks that it matches the requested shape, and
 * converts the elements. Those that need no conversion may be used in place.
 */
#include "io/io_priv.h"

#include "base/oom.h"

/* ---- matching the requested shape ---- */

static bool is_unknown_to_numpy(enum dtype t)
{
    return dtype_is_subbyte(t) || (dtype_is_float(t) && t != DT_F16 && t != DT_F32 && t != DT_F64);
}

/* NumPy's types are those of 64 bits unless others are requested. JAX converts such arguments, and
 * the numbers of Python, to the types of 32 bits for which it compiles functions. */
static bool narrows(enum dtype from, enum dtype to)
{
    return (from == DT_F64 && to == DT_F32) || (from == DT_S64 && to == DT_S32) ||
           (from == DT_U64 && to == DT_U32) || (from == DT_C128 && to == DT_C64);
}

static bool type_fits(const struct io_stored *s, enum dtype expected)
{
    if (s->dtype == expected || narrows(s->dtype, expected))
        return true;
    if (s->dtype == DT_INVALID)
        return s->width == dtype_bytes(expected);
    if (!is_unknown_to_numpy(expected) || s->width != dtype_bytes(expected))
        return false;
    /* any type may be saved as unsigned integers of its width, narrow integers as int8 */
    return dtype_is_unsigned(s->dtype) || (dtype_is_integer(expected) && s->dtype == DT_S8);
}

static bool dims_fit(const struct io_stored *s, const struct shape *expected)
{
    if (expected->rank < 0)
        return true;
    if (s->rank != expected->rank)
        return false;
    for (int d = 0; d < expected->rank; d++)
        if (s->dims[d] != expected->dims[d] &&
            !(shape_dim_dynamic(expected, d) &&
              (expected->dims[d] == DIM_UNBOUNDED || s->dims[d] < expected->dims[d])))
            return false;
    return true;
}

static struct str describe(struct arena *a, const struct io_stored *s)
{
    SCOPED_BUF b = {0};
    if (s->dtype == DT_INVALID)
        buf_printf(&b, "raw %zu-byte elements [", s->width);
    else
        buf_printf(&b, "%s[", dtype_spelling(s->dtype));
    for (int d = 0; d < s->rank; d++)
        buf_printf(&b, d ? ",%" PRId64 : "%" PRId64, s->dims[d]);
    buf_putc(&b, ']');
    return arena_str(a, buf_view(&b));
}

/* ---- the elements ---- */

static void reverse_bytes(char *p, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        char c = p[i];
        p[i] = p[n - 1 - i];
        p[n - 1 - i] = c;
    }
}

static void swap_elements(char *data, int64_t elements, enum dtype t)
{
    size_t part = dtype_bytes(dtype_component(t));
    size_t parts = (size_t)elements * (dtype_bytes(t) / part);
    for (size_t i = 0; part > 1 && i < parts; i++)
        reverse_bytes(data + i * part, part);
}

/* Normalizes narrow types as storage requires: pred to 0 or 1, integers sign-extended. */
static void normalise(unsigned char *data, int64_t elements, enum dtype t)
{
    unsigned spare = 8 - dtype_bits(t);
    for (int64_t i = 0; i < elements; i++)
        if (t == DT_PRED)
            data[i] = data[i] != 0;
        else if (dtype_is_signed(t))
            data[i] = (unsigned char)((signed char)(unsigned char)(data[i] << spare) >> spare);
        else
            data[i] = (unsigned char)(data[i] & 0xffu >> spare);
}

/* int8 and uint8 elements that represent a narrower type must be in its range. */
static bool values_fit(struct diags *ds, const struct io_stored *s, uint64_t size, enum dtype t)
{
    unsigned bits = dtype_bits(t) - dtype_is_signed(t);
    int limit = 1 << bits, min = dtype_is_signed(t) ? -limit : 0;
    for (uint64_t i = 0; i < size; i++) {
        int v = s->dtype == DT_S8 ? (signed char)s->data.ptr[i] : (unsigned char)s->data.ptr[i];
        if (v < min || v >= limit)
            return DIAG_ERROR(ds, NO_SPAN, ARRAY_RANGE, (int64_t)v, dtype_spelling(t));
    }
    return true;
}

/* Copies column-major elements to row-major storage. */
static void copy_fortran(struct arena *a, char *to, const char *from, const struct io_stored *s)
{
    int64_t *index = ARENA_ARRAY(a, int64_t, s->rank), *strides = ARENA_ARRAY(a, int64_t, s->rank);
    int64_t step = (int64_t)s->width;
    for (int d = 0; d < s->rank; d++) {
        strides[d] = step;
        step *= s->dims[d];
    }
    do {
        int64_t at = 0;
        for (int d = 0; d < s->rank; d++)
            at += index[d] * strides[d];
        memcpy(to, from + at, s->width);
        to += s->width;
    } while (index_next(s->rank, s->dims, index));
}

void io_literal_too_large(struct diags *ds, struct arena *a, const struct shape *shape)
{
    int64_t bytes;
    struct str size =
        shape_bytes(shape, &bytes) ? arena_printf(a, "%" PRId64, bytes) : STR("more than 2^63");
    DIAG(ds, NO_SPAN, OUT_OF_MEMORY, STR_ARG(shape_text(a, shape)), size.ptr);
}

struct literal *io_literal_new(struct diags *ds, struct arena *a, const struct shape *shape)
{
    struct literal *l = literal_new(a, shape);
    if (!l)
        io_literal_too_large(ds, a, shape);
    return l;
}

/* Whether the elements can be used in place: they need no conversion, and their memory has an
 * owner. */
static bool is_usable_in_place(const struct io_stored *s, enum dtype t)
{
    size_t part = dtype_bytes(dtype_component(t));
    return s->owner && !(s->fortran && s->rank > 1) && !(s->big_endian && part > 1) &&
           !dtype_is_subbyte(t) && t != DT_PRED && (uintptr_t)s->data.ptr % part == 0;
}

static void copy_elements(struct arena *a, struct literal *l, const struct io_stored *s,
                          int64_t elements, size_t size)
{
    enum dtype t = l->shape->dtype;
    if (s->fortran && s->rank > 1 && elements > 0)
        copy_fortran(a, l->data, s->data.ptr, s);
    else
        memcpy(l->data, s->data.ptr, size);
    if (s->big_endian)
        swap_elements(l->data, elements, t);
    if (dtype_is_subbyte(t) || t == DT_PRED)
        normalise(l->data, elements, t);
}

bool io_stored_size(const struct io_stored *s, int64_t *elements, uint64_t *size)
{
    int64_t bytes;
    if (!dims_product(1, s->rank, s->dims, elements) ||
        !mul_i64(*elements, (int64_t)s->width, &bytes))
        return false;
    *size = (uint64_t)bytes;
    return true;
}

/* A reference to memory with an owner, released if the allocation of the literal fails. */
struct share {
    struct owner owner;
    struct owner *of;
};

static void release_share(struct owner *o)
{
    struct share *s = (struct share *)(void *)o;
    owner_drop(s->of);
    heap_free(s);
}

static void release_share_on_oom(struct tracked *t)
{
    struct share *s = heap_block(t);
    release_share(&s->owner);
}

static struct owner *share_of(struct owner *of)
{
    struct share *s = heap_alloc(sizeof *s);
    owner_init(&s->owner, release_share);
    s->of = owner_hold(of);
    heap_on_oom(s, release_share_on_oom);
    return &s->owner;
}

static struct literal *literal_of(struct diags *ds, struct arena *a, const struct io_stored *s,
                                  enum dtype t);

static bool narrow_integers(struct diags *ds, struct literal *to, const struct literal *from,
                            int64_t count)
{
    const bool is_signed = dtype_is_signed(to->shape->dtype);
    const int64_t *wide = from->data;
    int32_t *narrow = to->data;
    for (int64_t i = 0; i < count; i++) {
        if (is_signed ? wide[i] != (int32_t)wide[i] : (uint64_t)wide[i] > UINT32_MAX)
            return DIAG_ERROR(ds, NO_SPAN, ARRAY_RANGE, wide[i], dtype_spelling(to->shape->dtype));
        narrow[i] = (int32_t)wide[i];
    }
    return true;
}

/* The parts of complex numbers are counted as elements. */
static bool narrow_elements(struct diags *ds, struct literal *to, const struct literal *from,
                            int64_t count)
{
    if (dtype_is_integer(to->shape->dtype))
        return narrow_integers(ds, to, from, count);
    const double *wide = from->data;
    float *narrow = to->data;
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)wide[i];
    return true;
}

static struct literal *narrowed(struct diags *ds, struct arena *a, const struct io_stored *s,
                                enum dtype t)
{
    struct literal *from = literal_of(ds, a, s, s->dtype);
    struct literal *to =
        from ? io_literal_new(ds, a, shape_array(a, t, s->rank, s->dims, NULL, NULL)) : NULL;
    int64_t count = 0;
    if (to)
        shape_elements(to->shape, &count);
    if (to && !narrow_elements(ds, to, from, dtype_is_complex(t) ? 2 * count : count)) {
        literal_free_data(to);
        to = NULL;
    }
    if (from)
        literal_free_data(from);
    if (to && s->rank > 0)
        DIAG(ds, NO_SPAN, ARRAY_NARROWED, STR_ARG(describe(a, s)), dtype_spelling(t));
    return to;
}

static struct literal *literal_of(struct diags *ds, struct arena *a, const struct io_stored *s,
                                  enum dtype t)
{
    if (narrows(s->dtype, t))
        return narrowed(ds, a, s, t);

    int64_t elements;
    uint64_t size;
    const struct shape *shape = shape_array(a, t, s->rank, s->dims, NULL, NULL);
    if (!io_stored_size(s, &elements, &size)) {
        DIAG(ds, NO_SPAN, OUT_OF_MEMORY, STR_ARG(shape_text(a, shape)), "more than 2^63");
        return NULL;
    }
    if (dtype_is_subbyte(t) && dtype_is_integer(t) && dtype_is_integer(s->dtype) &&
        !values_fit(ds, s, size, t))
        return NULL;
    if (elements > 0 && is_usable_in_place(s, t)) {
        struct literal *l = ARENA_NEW(a, struct literal);
        l->shape = shape;
        l->data = (void *)(uintptr_t)s->data.ptr;
        l->owner = share_of(s->owner);
        return l;
    }
    struct literal *l = io_literal_new(ds, a, shape);
    if (l && elements > 0)
        copy_elements(a, l, s, elements, (size_t)size);
    return l;
}

bool io_stored_fits(struct diags *ds, struct arena *a, const struct io_stored *s,
                    const struct shape *expected, struct str who)
{
    if (expected && (!type_fits(s, expected->dtype) || !dims_fit(s, expected)))
        return DIAG_ERROR(ds, NO_SPAN, ARRAY_MISMATCH, STR_ARG(describe(a, s)), STR_ARG(who),
                          STR_ARG(expected->rank < 0 ? str_of(dtype_spelling(expected->dtype))
                                                     : shape_text(a, expected)));
    return expected || s->dtype != DT_INVALID ||
           DIAG_ERROR(ds, NO_SPAN, ARRAY_TYPE, STR_ARG(s->type_name));
}

struct literal *io_stored_decode(struct diags *ds, struct arena *a, const struct io_stored *s,
                                 const struct shape *expected, struct str who)
{
    return io_stored_fits(ds, a, s, expected, who)
               ? literal_of(ds, a, s, expected ? expected->dtype : s->dtype)
               : NULL;
}

struct literal *io_raw_decode(struct diags *ds, struct arena *a, struct str bytes,
                              struct owner *owner, const struct shape *expected, struct str who)
{
    int64_t size = -1;
    struct io_stored s = {.width = dtype_bytes(expected->dtype),
                          .rank = expected->rank,
                          .dims = expected->dims,
                          .data = bytes,
                          .owner = owner};
    if (!shape_bytes(expected, &size) || (uint64_t)size != bytes.len) {
        DIAG(ds, NO_SPAN, RAW_SIZE, bytes.len, STR_ARG(who), STR_ARG(shape_text(a, expected)),
             size);
        return NULL;
    }
    return literal_of(ds, a, &s, expected->dtype);
}
