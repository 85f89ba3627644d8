/*
 * Reads a TensorProto, whose elements are raw data, a list of numbers, or in another file, as a
 * literal.
 *
 * Sizes are checked against the data before anything is allocated.
 */
#include "onnx/protobuf.h"

#include "base/mapped.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "raw data are copied from files, which are little-endian"
#endif

enum field { FIELD_NONE, FIELD_FLOAT, FIELD_INT32, FIELD_INT64, FIELD_UINT64, FIELD_DOUBLE };

struct layout {
    unsigned bits; /* of an element in raw data */
    enum field field;
};

static const struct layout layouts[] = {
#define ONNX_DTYPE(number, name, hlo, bits, field) [number] = {bits, FIELD_##field},
#include "onnx/dtype.def"
};

/* The tensor being read, and its name in messages. */
struct reading {
    const Onnx__TensorProto *t;
    const char *path;
    struct str who;
    hlo_messages *m;
    struct layout layout;
    struct hlo_array to;
};

static bool fail(const struct reading *r, const char *why)
{
    return onnx_error(r->m, r->path, "tensor '" STR_FMT "': %s", STR_ARG(r->who), why);
}

/* ---- raw data ---- */

/* The normalized code of narrow types in storage: bool as 0 or 1, integers sign-extended. */
static unsigned char normal(const struct reading *r, unsigned code)
{
    unsigned bits = r->layout.bits;
    if (strcmp(r->to.dtype, "pred") == 0)
        return code != 0;
    bool is_signed = r->to.dtype[0] == 's';
    return (unsigned char)(is_signed && code >> (bits - 1) ? code | ~0u << bits : code);
}

/* Elements narrower than a byte are packed from the lowest bit up. */
static void unpack_bits(const struct reading *r, const unsigned char *from)
{
    unsigned bits = r->layout.bits, mask = (1u << bits) - 1;
    unsigned char *to = r->to.data;
    for (size_t i = 0; i < r->to.elements; i++) {
        size_t at = i * bits, byte = at / 8, shift = at % 8;
        unsigned code = from[byte];
        if (shift + bits > 8)
            code |= (unsigned)from[byte + 1] << 8;
        to[i] = normal(r, code >> shift & mask);
    }
}

static size_t raw_size(const struct reading *r)
{
    return r->layout.bits >= 8 ? r->to.elements * (r->layout.bits / 8)
                               : (r->to.elements * r->layout.bits + 7) / 8;
}

static void copy_raw(const struct reading *r, const void *bytes)
{
    if (r->layout.bits < 8)
        unpack_bits(r, bytes);
    else if (r->to.elements > 0)
        memcpy(r->to.data, bytes, raw_size(r));
    if (strcmp(r->to.dtype, "pred") == 0)
        for (size_t i = 0; i < r->to.elements; i++)
            ((unsigned char *)r->to.data)[i] = normal(r, ((unsigned char *)r->to.data)[i]);
}

/* ---- lists of numbers ---- */

/* Integers of up to 32 bits and codes of narrow floats: the low bits of each number in the list. */
static bool copy_int32(const struct reading *r)
{
    unsigned bits = r->layout.bits;
    bool is_signed = r->to.dtype[0] == 's', is_pred = strcmp(r->to.dtype, "pred") == 0;
    int64_t max = ((int64_t)1 << (bits - is_signed)) - 1, min = is_signed ? -max - 1 : 0;
    for (size_t i = 0; i < r->to.elements; i++) {
        int32_t v = r->t->int32_data[i];
        if (v < min || v > max)
            return onnx_error(r->m, r->path,
                              "tensor '" STR_FMT "': element %zu, %" PRId32 ", is not a valid %s",
                              STR_ARG(r->who), i, v, onnx_dtype_name(r->t->data_type));
        if (bits == 32)
            ((int32_t *)r->to.data)[i] = v;
        else if (bits == 16)
            ((uint16_t *)r->to.data)[i] = (uint16_t)v;
        else
            ((unsigned char *)r->to.data)[i] = is_pred ? v != 0 : (unsigned char)v;
    }
    return true;
}

/* For elements of two or four bits, each number in the list is a whole byte of raw data. */
static bool copy_packed(const struct reading *r)
{
    size_t size = raw_size(r);
    unsigned char *bytes = heap_alloc(size + 1);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)r->t->int32_data[i];
    unpack_bits(r, bytes);
    heap_free(bytes);
    return true;
}

static bool copy_uint64(const struct reading *r)
{
    for (size_t i = 0; i < r->to.elements; i++) {
        uint64_t v = r->t->uint64_data[i];
        if (r->layout.bits == 32 && v > UINT32_MAX)
            return fail(r, "element is not a valid uint32");
        if (r->layout.bits == 32)
            ((uint32_t *)r->to.data)[i] = (uint32_t)v;
        else
            ((uint64_t *)r->to.data)[i] = v;
    }
    return true;
}

/* The actual and the required length of the list for the element type. */
static void count_numbers(const struct reading *r, size_t *have, size_t *expected)
{
    const Onnx__TensorProto *t = r->t;
    bool complex = r->to.dtype[0] == 'c';
    *expected = complex ? 2 * r->to.elements : r->to.elements;
    switch (r->layout.field) {
    case FIELD_FLOAT: *have = t->n_float_data; break;
    case FIELD_INT64: *have = t->n_int64_data; break;
    case FIELD_UINT64: *have = t->n_uint64_data; break;
    case FIELD_DOUBLE: *have = t->n_double_data; break;
    case FIELD_INT32:
        *have = t->n_int32_data;
        if (r->layout.bits < 6)
            *expected = raw_size(r);
        break;
    case FIELD_NONE: *have = 0; break;
    }
}

static bool numbers_fit(const struct reading *r)
{
    size_t have = 0, expected = 0;
    count_numbers(r, &have, &expected);
    return have == expected ||
           onnx_error(r->m, r->path, "tensor '" STR_FMT "' has %zu values, expected %zu",
                      STR_ARG(r->who), have, expected);
}

static bool copy_numbers(const struct reading *r)
{
    size_t size = raw_size(r);
    if (size == 0)
        return true;
    switch (r->layout.field) {
    case FIELD_FLOAT: memcpy(r->to.data, r->t->float_data, size); return true;
    case FIELD_INT64: memcpy(r->to.data, r->t->int64_data, size); return true;
    case FIELD_DOUBLE: memcpy(r->to.data, r->t->double_data, size); return true;
    case FIELD_UINT64: return copy_uint64(r);
    case FIELD_INT32: return r->layout.bits < 6 ? copy_packed(r) : copy_int32(r);
    case FIELD_NONE: break;
    }
    return false;
}

/* ---- data in another file ---- */

struct place {
    const char *location;
    int64_t offset, length; /* -1: to its end */
};

static bool find_place(const struct reading *r, struct place *p)
{
    *p = (struct place){.length = -1};
    for (size_t i = 0; i < r->t->n_external_data; i++) {
        const char *key = r->t->external_data[i]->key, *value = r->t->external_data[i]->value;
        bool valid = key && value;
        if (valid && strcmp(key, "location") == 0)
            p->location = value;
        else if (valid && strcmp(key, "offset") == 0)
            valid = num_parse_i64(str_of(value), &p->offset) && p->offset >= 0;
        else if (valid && strcmp(key, "length") == 0)
            valid = num_parse_i64(str_of(value), &p->length) && p->length >= 0;
        if (!valid)
            return fail(r, "malformed location of external data");
    }
    return p->location || fail(r, "missing location of external data");
}

/* A model may only refer to files in its own directory and below. */
static bool stays_below(const char *location)
{
    if (*location == '/' || *location == '\0')
        return false;
    for (const char *p = location; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    }
    return true;
}

/* Whether a file is in this directory or below it; both are resolved paths. */
static bool lies_below(const char *file, const char *directory)
{
    size_t n = strlen(directory);
    n -= n == 1; /* the root ends in a slash */
    return strncmp(file, directory, n) == 0 && file[n] == '/';
}

/* The resolved directory of a file, given its path or its resolved path. */
static bool directory_of(const char *file, char out[PATH_MAX])
{
    char directory[PATH_MAX];
    const char *slash = strrchr(file, '/');
    int n = !slash ? snprintf(directory, sizeof directory, ".")
                   : snprintf(directory, sizeof directory, "%.*s", (int)(slash + 1 - file), file);
    return n < (int)sizeof directory && realpath(directory, out);
}

/* The resolved path of the file. Links must not lead out of the model's directory, or of the
 * directory that a link to the model resolves to. */
static bool find_file(const struct reading *r, const char *location, char out[PATH_MAX])
{
    char model[PATH_MAX], path[PATH_MAX], named[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(r->path, '/');
    struct stat st;
    int n = snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - r->path) : 0, r->path,
                     location);
    errno = ENAMETOOLONG;
    bool found = stays_below(location);
    if (found && (n >= (int)sizeof path || !realpath(path, out) || stat(out, &st) != 0))
        return onnx_error(r->m, r->path, "tensor '" STR_FMT "': cannot read external data '%s': %s",
                          STR_ARG(r->who), location, strerror(errno));
    found =
        found && ((directory_of(r->path, named) && lies_below(out, named)) ||
                  (realpath(r->path, model) && directory_of(model, real) && lies_below(out, real)));
    if (!found)
        return onnx_error(r->m, r->path,
                          "tensor '" STR_FMT
                          "': external data '%s' is outside the directory of the model",
                          STR_ARG(r->who), location);
    return S_ISREG(st.st_mode) || fail(r, "external data is not a regular file");
}

static bool copy_external(const struct reading *r)
{
    char path[PATH_MAX];
    struct place p;
    SCOPED_BYTES bytes = {0};
    if (!find_place(r, &p) || !find_file(r, p.location, path))
        return false;
    if (!file_map(path, &bytes))
        return onnx_error(r->m, r->path, "tensor '" STR_FMT "': cannot read external data '%s': %s",
                          STR_ARG(r->who), p.location, strerror(errno));
    uint64_t size = raw_size(r), from = (uint64_t)p.offset;
    if (from > bytes.size || size > bytes.size - from ||
        (p.length >= 0 && (uint64_t)p.length != size))
        return fail(r, "size of external data does not match");
    copy_raw(r, bytes.data + from);
    return true;
}

/* ---- whole tensors ---- */

/* Creates a literal of the tensor's shape, after checking that the data can have that many
 * elements. */
static bool shape_is_valid(struct reading *r)
{
    const Onnx__TensorProto *t = r->t;
    const bool empty = i64_in(t->dims, (int64_t)t->n_dims, 0);
    int64_t elements = empty ? 0 : 1, bits;
    if (t->n_dims > INT16_MAX)
        return fail(r, "too many dimensions");
    for (size_t d = 0; d < t->n_dims; d++)
        if (t->dims[d] < 0 || (!empty && !mul_i64(elements, t->dims[d], &elements)))
            return onnx_error(r->m, r->path,
                              "tensor '" STR_FMT "': dimension %zu of size %" PRId64
                              " is out of range",
                              STR_ARG(r->who), d, t->dims[d]);
    if (!mul_i64(elements, r->layout.bits, &bits))
        return fail(r, "too many elements");
    r->to.elements = (size_t)elements;
    r->to.dtype = onnx_dtype_hlo(t->data_type);
    if (t->data_location == 1 || (!t->has_raw_data && elements == 0))
        return true;
    if (t->has_raw_data && t->raw_data.len != raw_size(r))
        return onnx_error(r->m, r->path, "tensor '" STR_FMT "' has %zu bytes, expected %zu",
                          STR_ARG(r->who), t->raw_data.len, raw_size(r));
    return t->has_raw_data || numbers_fit(r);
}

bool tensor_read(const Onnx__TensorProto *t, const char *path, struct str who,
                 struct onnx_value *out, hlo_messages *m)
{
    struct reading r = {.t = t, .path = path, .who = who, .m = m};
    int type = t->data_type;
    if (!onnx_dtype_hlo(type))
        return onnx_error(m, path, "tensor '" STR_FMT "': %s", STR_ARG(who),
                          type == 8 ? "strings have no HLO equivalent" : "unknown element type");
    r.layout = layouts[type];
    if (t->segment)
        return fail(&r, "segmented tensors are not supported");
    if (!shape_is_valid(&r))
        return false;
    hlo_literal *l = hlo_literal_new(r.to.dtype, t->n_dims, t->dims, m);
    if (!l)
        return false;
    r.to = hlo_literal_leaf(l, 0);
    bool ok = true;
    if (t->data_location == 1)
        ok = copy_external(&r);
    else if (t->has_raw_data)
        copy_raw(&r, t->raw_data.data);
    else
        ok = copy_numbers(&r);
    *out = (struct onnx_value){
        .kind = ONNX_TENSOR, .present = true, .elem = type, .tensor = ok ? l : NULL};
    if (!ok)
        hlo_literal_free(l);
    return ok;
}
