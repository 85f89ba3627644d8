/*
 * npy.c: .npy files: parses element type and sizes from the header, and the elements to a literal;
 * writes headers.
 *
 * The format: "\x93NUMPY", major and minor version, the length of the header (two bytes, from
 * version 2 on four), the header, which is a Python dictionary with the keys descr, fortran_order
 * and shape, then the elements.
 */
#include "io/io_priv.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "storage is written to files unchanged, which requires a little-endian machine"
#endif

#define TOO_SHORT "truncated data"

struct npy {
    struct io_stored array;
    bool has_type, has_order, has_shape;
};

/* ---- element types by their NumPy names ---- */

struct type_name {
    const char *name;
    enum dtype dtype;
};

static const struct type_name short_names[] = {
    {"?", DT_PRED},    {"b1", DT_PRED}, {"c16", DT_C128}, {"c8", DT_C64},
    {"f1", DT_F8E5M2}, {"f2", DT_F16},  {"f4", DT_F32},   {"f8", DT_F64},
    {"i1", DT_S8},     {"i2", DT_S16},  {"i4", DT_S32},   {"i8", DT_S64},
    {"u1", DT_U8},     {"u2", DT_U16},  {"u4", DT_U32},   {"u8", DT_U64},
};

/* ml_dtypes' names of the types that have no NumPy letter. */
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

static bool read_descr(struct diags *ds, struct io_stored *npy, struct str descr)
{
    struct str s = descr;
    npy->type_name = descr;
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
        npy->big_endian = false; /* NumPy does not byte-swap raw bits */
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

static bool take(struct cursor *c, char needed)
{
    skip_blanks(c);
    if (c->at == c->end || *c->at != needed)
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
    while (c->at < c->end && char_is_digit(*c->at))
        c->at++;
    bool ok = c->at > begin && num_parse_i64((struct str){begin, (size_t)(c->at - begin)}, out);
    take(c, 'L'); /* Python 2 wrote 3L */
    return ok;
}

static bool take_dims(struct cursor *c, struct arena *a, struct io_stored *npy)
{
    int64_t *dims = NULL;
    size_t count = 0, capacity = 0;
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        int64_t size;
        if (!take_size(c, &size) || count == INT16_MAX)
            return false;
        VEC_PUSH(a, dims, count, capacity) = size;
        if (!take(c, ',')) {
            if (!take(c, ')'))
                return false;
            break;
        }
    }
    npy->rank = (int)count;
    npy->dims = dims;
    return true;
}

static const char *read_entry(struct cursor *c, struct diags *ds, struct arena *a, struct npy *npy)
{
    struct str key, value;
    if (!take_string(c, &key) || !take(c, ':'))
        return "header is not a dictionary";
    if (str_is(key, "descr")) {
        npy->has_type = true;
        if (!take_string(c, &value))
            return "structured element types are not supported";
        return read_descr(ds, &npy->array, value) ? NULL : "";
    }
    if (str_is(key, "fortran_order")) {
        npy->has_order = true;
        npy->array.fortran = take_word(c, "True");
        return npy->array.fortran || take_word(c, "False")
                   ? NULL
                   : "fortran_order is neither True nor False";
    }
    if (str_is(key, "shape")) {
        npy->has_shape = true;
        return take_dims(c, a, &npy->array) ? NULL : "shape is not a tuple of sizes";
    }
    return "unknown key in the header";
}

/* Returns NULL, the problem, or "" if it has been reported already. */
static const char *read_dictionary(struct diags *ds, struct arena *a, struct str text,
                                   struct npy *npy)
{
    struct cursor c = {text.ptr, text.ptr + text.len};
    if (!take(&c, '{'))
        return "header is not a dictionary";
    while (!take(&c, '}')) {
        const char *wrong = read_entry(&c, ds, a, npy);
        if (wrong)
            return wrong;
        if (!take(&c, ',')) {
            if (!take(&c, '}'))
                return "unterminated header";
            break;
        }
    }
    return npy->has_type && npy->has_order && npy->has_shape
               ? NULL
               : "missing descr, fortran_order or shape in the header";
}

static const char *read_header(struct diags *ds, struct arena *a, struct str bytes, struct npy *npy)
{
    const unsigned char *b = (const unsigned char *)bytes.ptr;
    if (bytes.len < 10 || memcmp(b, "\x93NUMPY", 6) != 0)
        return "missing magic number \\x93NUMPY";
    if (b[6] < 1 || b[6] > 3)
        return "unsupported format version";
    size_t at = b[6] == 1 ? 10 : 12;
    if (bytes.len < at)
        return "truncated header";
    size_t length = (size_t)b[8] | (size_t)b[9] << 8;
    if (b[6] > 1)
        length |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (length > bytes.len - at)
        return "truncated header";
    npy->array.data = (struct str){bytes.ptr + at + length, bytes.len - at - length};
    return read_dictionary(ds, a, (struct str){bytes.ptr + at, length}, npy);
}

struct literal *io_npy_decode(struct diags *ds, struct arena *a, struct str bytes,
                              struct owner *owner, const struct shape *expected, struct str who)
{
    struct npy npy = {.array = {.dtype = DT_INVALID, .owner = owner}};
    const char *wrong = read_header(ds, a, bytes, &npy);
    int64_t elements;
    uint64_t size;
    if (!wrong && (!io_stored_size(&npy.array, &elements, &size) || size > npy.array.data.len))
        wrong = TOO_SHORT;
    if (!wrong)
        return io_stored_decode(ds, a, &npy.array, expected, who);
    if (*wrong)
        DIAG(ds, NO_SPAN, NPY_MALFORMED, wrong);
    return NULL;
}

bool io_npy_check(struct diags *ds, struct arena *a, struct str head, uint64_t size,
                  const struct shape *expected, struct str who)
{
    struct npy npy = {.array = {.dtype = DT_INVALID}};
    const char *wrong = read_header(ds, a, head, &npy);
    int64_t elements;
    uint64_t needed, there = size - (head.len - npy.array.data.len);
    if (!wrong && (!io_stored_size(&npy.array, &elements, &needed) || needed > there))
        wrong = TOO_SHORT;
    else if (!wrong && needed < there)
        wrong = "trailing data";
    if (!wrong)
        return io_stored_fits(ds, a, &npy.array, expected, who);
    return *wrong && DIAG_ERROR(ds, NO_SPAN, NPY_MALFORMED, wrong);
}

/* ---- writing ---- */

static const char *descr_of(enum dtype t)
{
    for (size_t i = 1; i < COUNT_OF(short_names); i++) /* the first is an alias of the second */
        if (short_names[i].dtype == t && t != DT_F8E5M2)
            return short_names[i].name;
    return dtype_bytes(t) == 1 ? "V1" : "V2";
}

enum { SHORT_HEADER = 60000 }; /* bytes; version 1.0 has a 16-bit length, which includes padding */

void io_npy_header(struct buf *out, const struct shape *s)
{
    SCOPED_BUF dict = {0};
    buf_printf(&dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
               dtype_bytes(s->dtype) == 1 ? '|' : '<', descr_of(s->dtype));
    for (int d = 0; d < s->rank; d++)
        buf_printf(&dict, d ? " %" PRId64 "," : "%" PRId64 ",", s->dims[d]);
    buf_puts(&dict, "), }");
    bool long_form = dict.size > SHORT_HEADER;
    size_t head = long_form ? 12 : 10, total = (head + dict.size + 1 + 63) / 64 * 64;
    while (dict.size + head + 1 < total)
        buf_putc(&dict, ' ');
    buf_putc(&dict, '\n');
    buf_bytes(out, long_form ? "\x93NUMPY\2\0" : "\x93NUMPY\1\0", 8);
    for (size_t i = 0; i < head - 8; i++)
        buf_putc(out, (char)(dict.size >> 8 * i));
    buf_str(out, buf_view(&dict));
}
