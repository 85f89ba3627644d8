/*
 * .npy files: which element type and size a header gives, and its bytes as a literal.
 *
 * The format: "\x93NUMPY", major and minor version, the length of the header (two bytes, from
 * version 2 on four), the header, which is a Python dictionary with the keys descr, fortran_order
 * and shape, then the elements.
 */
#include "io/io.h"

#include <stdlib.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "storage is written to files as it lies in memory, which must be little-endian"
#endif

struct npy {
    enum dtype dtype; /* DT_INVALID: raw bits */
    size_t width;     /* bytes of one element */
    bool big_endian, fortran;
    bool has_type, has_order, has_shape;
    int rank;
    int64_t *dims;
    struct str descr;
    struct str data;
};

/* ---- element types by the names numpy gives them ---- */

struct type_name {
    const char *name;
    enum dtype dtype;
};

static const struct type_name short_names[] = {
    {"?", DT_PRED}, {"b1", DT_PRED}, {"c16", DT_C128}, {"c8", DT_C64}, {"f1", DT_F8E5M2}, {"f2", DT_F16},
    {"f4", DT_F32}, {"f8", DT_F64},  {"i1", DT_S8},    {"i2", DT_S16}, {"i4", DT_S32},    {"i8", DT_S64},
    {"u1", DT_U8},  {"u2", DT_U16},  {"u4", DT_U32},   {"u8", DT_U64},
};

/* What ml_dtypes calls the types that numpy has no letter for. */
static const struct type_name long_names[] = {
    {"bfloat16", DT_BF16},
    {"float4_e2m1fn", DT_F4E2M1FN},
    {"float6_e2m3fn", DT_F6E2M3FN},
    {"float6_e3m2fn", DT_F6E3M2FN},
    {"float8_e3m4", DT_F8E3M4},
    {"float8_e4m3", DT_F8E4M3},
    {"float8_e4m3b11fnuz", DT_F8E4M3B11FNUZ},
    {"float8_e4m3fn", DT_F8E4M3FN},
    {"float8_e4m3fnuz", DT_F8E4M3FNUZ},
    {"float8_e5m2", DT_F8E5M2},
    {"float8_e5m2fnuz", DT_F8E5M2FNUZ},
    {"float8_e8m0fnu", DT_F8E8M0FNU},
    {"int1", DT_S1},
    {"int2", DT_S2},
    {"int4", DT_S4},
    {"uint1", DT_U1},
    {"uint2", DT_U2},
    {"uint4", DT_U4},
};

static enum dtype type_by_name(struct str word, const struct type_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_is(word, names[i].name))
            return names[i].dtype;
    return DT_INVALID;
}

static bool read_descr(struct diags *ds, struct npy *npy, struct str descr)
{
    struct str s = descr;
    npy->descr = descr;
    if (s.len > 0 && s.ptr[0] && strchr("<>=|", s.ptr[0])) {
        npy->big_endian = s.ptr[0] == '>';
        s.ptr++, s.len--;
    }
    npy->dtype = type_by_name(s, short_names, COUNT_OF(short_names));
    if (npy->dtype == DT_INVALID)
        npy->dtype = type_by_name(s, long_names, COUNT_OF(long_names));
    if (npy->dtype != DT_INVALID) {
        npy->width = dtype_bytes(npy->dtype);
        return true;
    }
    int64_t width;
    if (s.len > 1 && s.ptr[0] == 'V' && num_parse_i64((struct str){s.ptr + 1, s.len - 1}, &width) &&
        width > 0) {
        npy->big_endian = false; /* numpy never swaps raw bits */
        npy->width = (size_t)width;
        return true;
    }
    return DIAG_ERROR(ds, NO_SPAN, ARRAY_TYPE, STR_ARG(descr));
}

/* ---- the header ---- */

struct cursor {
    const char *at, *end;
};

static void skip_blanks(struct cursor *c)
{
    while (c->at < c->end && char_is_blank(*c->at))
        c->at++;
}

static bool take(struct cursor *c, char wanted)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word)
{
    skip_blanks(c);
    size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return false;
    c->at += n;
    return true;
}

static bool take_string(struct cursor *c, struct str *out)
{
    skip_blanks(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    const char *begin = c->at + 1, *close = memchr(begin, *c->at, (size_t)(c->end - begin));
    if (!close)
        return false;
    *out = (struct str){begin, (size_t)(close - begin)};
    c->at = close + 1;
    return true;
}

static bool take_size(struct cursor *c, int64_t *out)
{
    skip_blanks(c);
    const char *begin = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    bool ok = c->at > begin && num_parse_i64((struct str){begin, (size_t)(c->at - begin)}, out);
    take(c, 'L'); /* Python 2 wrote 3L */
    return ok;
}

static bool take_dims(struct cursor *c, struct arena *a, struct npy *npy)
{
    size_t count = 0, capacity = 0;
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        int64_t size;
        if (!take_size(c, &size) || count == INT16_MAX)
            return false;
        VEC_PUSH(a, npy->dims, count, capacity) = size;
        if (!take(c, ',')) {
            if (!take(c, ')'))
                return false;
            break;
        }
    }
    npy->rank = (int)count;
    return true;
}

static const char *read_entry(struct cursor *c, struct diags *ds, struct arena *a, struct npy *npy)
{
    struct str key, value;
    if (!take_string(c, &key) || !take(c, ':'))
        return "its header is no dictionary";
    if (str_is(key, "descr")) {
        npy->has_type = true;
        if (!take_string(c, &value))
            return "it holds records, not one element type";
        return read_descr(ds, npy, value) ? NULL : "";
    }
    if (str_is(key, "fortran_order")) {
        npy->has_order = true;
        npy->fortran = take_word(c, "True");
        return npy->fortran || take_word(c, "False") ? NULL : "fortran_order is neither True nor False";
    }
    if (str_is(key, "shape")) {
        npy->has_shape = true;
        return take_dims(c, a, npy) ? NULL : "its shape is no tuple of sizes";
    }
    return "its header has a key that the format does not know";
}

/* NULL, what is wrong, or "" when that has been said. */
static const char *read_dictionary(struct diags *ds, struct arena *a, struct str text, struct npy *npy)
{
    struct cursor c = {text.ptr, text.ptr + text.len};
    if (!take(&c, '{'))
        return "its header is no dictionary";
    while (!take(&c, '}')) {
        const char *wrong = read_entry(&c, ds, a, npy);
        if (wrong)
            return wrong;
        if (!take(&c, ',')) {
            if (!take(&c, '}'))
                return "its header does not end";
            break;
        }
    }
    return npy->has_type && npy->has_order && npy->has_shape
               ? NULL
               : "its header lacks descr, fortran_order or shape";
}

static const char *read_header(struct diags *ds, struct arena *a, struct str bytes, struct npy *npy)
{
    const unsigned char *b = (const unsigned char *)bytes.ptr;
    if (bytes.len < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return "it does not begin with \\x93NUMPY";
    if (b[6] < 1 || b[6] > 3)
        return "its format version is none of 1, 2 and 3";
    size_t at = b[6] == 1 ? 10 : 12;
    if (bytes.len < at)
        return "it ends in its header";
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length > bytes.len - at)
        return "it ends in its header";
    npy->data = (struct str){bytes.ptr + at + length, bytes.len - at - length};
    return read_dictionary(ds, a, (struct str){bytes.ptr + at, length}, npy);
}

/* ---- does the array fit what is wanted ---- */

static bool nameless_in_numpy(enum dtype t)
{
    return dtype_is_subbyte(t) || (dtype_is_float(t) && t != DT_F16 && t != DT_F32 && t != DT_F64);
}

static bool type_fits(const struct npy *npy, enum dtype want)
{
    if (npy->dtype == want)
        return true;
    if (npy->dtype == DT_INVALID)
        return npy->width == dtype_bytes(want);
    if (!nameless_in_numpy(want) || npy->width != dtype_bytes(want))
        return false;
    /* Bits saved as unsigned integers of the same width; small integers as int8 values. */
    return dtype_is_unsigned(npy->dtype) || (dtype_is_integer(want) && npy->dtype == DT_S8);
}

static bool dims_fit(const struct npy *npy, const struct shape *want)
{
    if (want->rank < 0)
        return true;
    if (npy->rank != want->rank)
        return false;
    for (int d = 0; d < want->rank; d++)
        if (npy->dims[d] != want->dims[d] &&
            !(shape_dim_dynamic(want, d) && (want->dims[d] == DIM_UNBOUNDED || npy->dims[d] < want->dims[d])))
            return false;
    return true;
}

static struct str describe(struct arena *a, const struct npy *npy)
{
    struct buf b = {0};
    if (npy->dtype == DT_INVALID)
        buf_printf(&b, "raw %zu-byte elements [", npy->width);
    else
        buf_printf(&b, "%s[", dtype_spelling(npy->dtype));
    for (int d = 0; d < npy->rank; d++)
        buf_printf(&b, d ? ",%" PRId64 : "%" PRId64, npy->dims[d]);
    buf_putc(&b, ']');
    struct str s = arena_str(a, buf_view(&b));
    buf_free(&b);
    return s;
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

/* Our storage of narrow types has one form for each value: pred 0 or 1, integers sign-extended. */
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

/* int8 and uint8 elements that stand for a narrower type must be values of it. */
static bool values_fit(struct diags *ds, const struct npy *npy, enum dtype t)
{
    unsigned bits = dtype_bits(t) - dtype_is_signed(t);
    int limit = 1 << bits, least = dtype_is_signed(t) ? -limit : 0;
    for (size_t i = 0; i < npy->data.len; i++) {
        int v = npy->dtype == DT_S8 ? (signed char)npy->data.ptr[i] : (unsigned char)npy->data.ptr[i];
        if (v < least || v >= limit)
            return DIAG_ERROR(ds, NO_SPAN, ARRAY_RANGE, v, dtype_spelling(t));
    }
    return true;
}

/* Column-major bytes to row-major storage. */
static void copy_fortran(struct arena *a, char *to, const char *from, const struct npy *npy)
{
    int64_t *index = ARENA_ARRAY(a, int64_t, npy->rank), *strides = ARENA_ARRAY(a, int64_t, npy->rank);
    int64_t step = (int64_t)npy->width;
    for (int d = 0; d < npy->rank; d++) {
        strides[d] = step;
        step *= npy->dims[d];
    }
    do {
        int64_t at = 0;
        for (int d = 0; d < npy->rank; d++)
            at += index[d] * strides[d];
        memcpy(to, from + at, npy->width);
        to += npy->width;
    } while (index_next(npy->rank, npy->dims, index));
}

struct literal *io_literal_new(struct diags *ds, struct arena *a, const struct shape *shape)
{
    int64_t bytes;
    struct literal *l = literal_new(a, shape);
    if (!l) {
        struct str size =
            shape_bytes(shape, &bytes) ? arena_printf(a, "%" PRId64, bytes) : STR("more than 2^63");
        DIAG(ds, NO_SPAN, OUT_OF_MEMORY, STR_ARG(shape_text(a, shape)), size.ptr);
    }
    return l;
}

static struct literal *fill(struct diags *ds, struct arena *a, const struct npy *npy, enum dtype t)
{
    int64_t elements = 1, size;
    bool fits = true;
    for (int d = 0; d < npy->rank; d++)
        fits = fits && mul_i64(elements, npy->dims[d], &elements);
    if (!fits || !mul_i64(elements, (int64_t)npy->width, &size) || (uint64_t)size > npy->data.len) {
        DIAG(ds, NO_SPAN, NPY_MALFORMED, "it ends before the elements that its shape promises");
        return NULL;
    }
    if (dtype_is_subbyte(t) && dtype_is_integer(t) && dtype_is_integer(npy->dtype) &&
        !values_fit(ds, &(struct npy){.dtype = npy->dtype, .data = {npy->data.ptr, (size_t)size}}, t))
        return NULL;
    const struct shape *shape = shape_array(a, t, npy->rank, npy->dims, NULL, NULL);
    struct literal *l = io_literal_new(ds, a, shape);
    if (!l || elements == 0)
        return l;
    if (npy->fortran && npy->rank > 1)
        copy_fortran(a, l->data, npy->data.ptr, npy);
    else
        memcpy(l->data, npy->data.ptr, (size_t)size);
    if (npy->big_endian)
        swap_elements(l->data, elements, t);
    if (dtype_is_subbyte(t) || t == DT_PRED)
        normalise(l->data, elements, t);
    return l;
}

struct literal *io_npy_decode(struct diags *ds, struct arena *a, struct str bytes, const struct shape *want,
                              struct str who)
{
    struct npy npy = {.dtype = DT_INVALID};
    const char *wrong = read_header(ds, a, bytes, &npy);
    if (wrong) {
        if (*wrong)
            DIAG(ds, NO_SPAN, NPY_MALFORMED, wrong);
        return NULL;
    }
    if (want && (!type_fits(&npy, want->dtype) || !dims_fit(&npy, want))) {
        DIAG(ds, NO_SPAN, ARRAY_MISMATCH, STR_ARG(describe(a, &npy)), STR_ARG(who),
             STR_ARG(want->rank < 0 ? str_of(dtype_spelling(want->dtype)) : shape_text(a, want)));
        return NULL;
    }
    if (!want && npy.dtype == DT_INVALID) {
        DIAG(ds, NO_SPAN, ARRAY_TYPE, STR_ARG(npy.descr));
        return NULL;
    }
    return fill(ds, a, &npy, want ? want->dtype : npy.dtype);
}

/* ---- writing ---- */

static const char *descr_of(enum dtype t)
{
    for (size_t i = 1; i < COUNT_OF(short_names); i++) /* the first is another name of the second */
        if (short_names[i].dtype == t && t != DT_F8E5M2)
            return short_names[i].name;
    return dtype_bytes(t) == 1 ? "V1" : "V2";
}

void io_npy_header(struct buf *out, const struct shape *s)
{
    struct buf dict = {0};
    buf_printf(&dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
               dtype_bytes(s->dtype) == 1 ? '|' : '<', descr_of(s->dtype));
    for (int d = 0; d < s->rank; d++)
        buf_printf(&dict, d ? " %" PRId64 "," : "%" PRId64 ",", s->dims[d]);
    buf_puts(&dict, "), }");
    bool long_form = dict.size > 60000;
    size_t head = long_form ? 12 : 10, total = (head + dict.size + 1 + 63) / 64 * 64;
    while (dict.size + head + 1 < total)
        buf_putc(&dict, ' ');
    buf_putc(&dict, '\n');
    buf_bytes(out, long_form ? "\x93NUMPY\2\0" : "\x93NUMPY\1\0", 8);
    for (size_t i = 0; i < head - 8; i++)
        buf_putc(out, (char)(dict.size >> 8 * i));
    buf_str(out, buf_view(&dict));
    buf_free(&dict);
}
