/*
 * safetensors.c: safetensors files: an 8-byte size, a JSON header of that size, then the elements
 * of all tensors.
 *
 *   {"__metadata__": {...}, "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * Offsets are relative to the end of the header. The format requires no alignment; some writers pad
 * the header. Tensors must cover the file without overlap or gap, so that no data are hidden
 * between them.
 */
#include "io/io_priv.h"

#include <stdlib.h>

enum { LONGEST_HEADER = 100000000 }; /* the limit of the reference implementation */

static bool report_invalid(struct diags *ds, const char *why)
{
    return DIAG_ERROR(ds, NO_SPAN, SAFETENSORS_MALFORMED, why);
}

static const struct {
    const char *name;
    enum dtype dtype;
} type_names[] = {
    {"BF16", DT_BF16},
    {"BOOL", DT_PRED},
    {"C64", DT_C64},
    {"F16", DT_F16},
    {"F32", DT_F32},
    {"F64", DT_F64},
    {"F8_E4M3", DT_F8E4M3FN},
    {"F8_E5M2", DT_F8E5M2},
    {"F8_E8M0", DT_F8E8M0FNU},
    {"I16", DT_S16},
    {"I32", DT_S32},
    {"I64", DT_S64},
    {"I8", DT_S8},
    {"U16", DT_U16},
    {"U32", DT_U32},
    {"U64", DT_U64},
    {"U8", DT_U8},
};

/* Parses the list of non-negative numbers `name` in the description of a tensor. */
static bool take_numbers(struct arena *a, const struct dict_value *tensor, const char *name,
                         const int64_t **out, int *count)
{
    const struct dict_value *v = dict_find(tensor, str_of(name));
    if (!v || v->kind != DICT_LIST || v->count > INT16_MAX)
        return false;
    int64_t *numbers = ARENA_ARRAY(a, int64_t, v->count);
    for (size_t i = 0; i < v->count; i++) {
        if (v->items[i].value.kind != DICT_INT || v->items[i].value.i < 0)
            return false;
        numbers[i] = v->items[i].value.i;
    }
    *out = numbers;
    *count = (int)v->count;
    return true;
}

/* ---- positions of tensors ---- */

struct extent {
    int64_t begin, end;
    struct str name;
};

static int compare_extents(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static bool report_invalid_tensor(struct diags *ds, struct arena *a, struct str name,
                                  const char *why)
{
    return report_invalid(ds, arena_printf(a, "tensor '" STR_FMT "': %s", STR_ARG(name), why).ptr);
}

static bool take_extent(struct diags *ds, struct arena *a, const struct dict_value *tensor,
                        struct extent *p)
{
    const int64_t *offsets;
    int count;
    if (tensor->kind != DICT_DICT)
        return report_invalid_tensor(ds, a, p->name, "value is not a tensor description");
    if (!take_numbers(a, tensor, "data_offsets", &offsets, &count) || count != 2)
        return report_invalid_tensor(ds, a, p->name, "data_offsets are not two integers");
    if (offsets[0] > offsets[1])
        return report_invalid_tensor(ds, a, p->name, "data_offsets are not in order");
    p->begin = offsets[0];
    p->end = offsets[1];
    return true;
}

/* Whether each tensor begins at the end of the previous one, and the last one ends at the end of
 * the file. */
static bool extents_are_valid(struct diags *ds, struct arena *a, struct io_safetensors *t)
{
    struct extent *extents = ARENA_ARRAY(a, struct extent, t->header.count);
    size_t count = 0;
    int64_t at = 0;
    for (size_t i = 0; i < t->header.count; i++) {
        struct dict_entry *e = &t->header.items[i];
        if (str_is(e->name, "__metadata__"))
            continue;
        extents[count].name = e->name;
        if (map_put(&t->tensors, e->name, &e->value))
            return report_invalid_tensor(ds, a, e->name, "duplicate name");
        if (!take_extent(ds, a, &e->value, &extents[count++]))
            return false;
    }
    if (count > 1)
        qsort(extents, count, sizeof *extents, compare_extents);
    for (size_t i = 0; i < count; i++) {
        if (extents[i].begin < at)
            return report_invalid_tensor(
                ds, a, extents[i].name,
                arena_printf(a, "overlaps with '" STR_FMT "'", STR_ARG(extents[i - 1].name)).ptr);
        if (extents[i].begin > at)
            return report_invalid_tensor(ds, a, extents[i].name, "gap in the data before it");
        at = extents[i].end;
        if ((uint64_t)at > t->data.len)
            return report_invalid_tensor(ds, a, extents[i].name,
                                         "extends past the end of the file");
    }
    return (uint64_t)at == t->data.len || report_invalid(ds, "trailing data");
}

bool io_safetensors_open(struct diags *ds, struct arena *a, struct str bytes,
                         struct io_safetensors *out)
{
    struct dict_error error;
    uint64_t size = 0;
    if (bytes.len < 8)
        return report_invalid(ds, "file too short for a header");
    for (size_t i = 8; i-- > 0;)
        size = size << 8 | (unsigned char)bytes.ptr[i];
    if (size > bytes.len - 8)
        return report_invalid(ds, "truncated header");
    if (size > LONGEST_HEADER)
        return report_invalid(ds, "header exceeds 100 million bytes");
    /* A copy: the file may change. */
    struct str header = arena_str(a, (struct str){bytes.ptr + 8, (size_t)size});
    *out = (struct io_safetensors){.data = {bytes.ptr + 8 + size, bytes.len - 8 - (size_t)size}};
    map_init(&out->tensors, a);
    if (size == 0 || *header.ptr != '{')
        return report_invalid(ds, "header is not a JSON object");
    if (!dict_read(a, header, DICT_LOOSE, &out->header, &error))
        return report_invalid(ds, arena_printf(a, "header: %s", dict_problem(a, &error)).ptr);
    return extents_are_valid(ds, a, out);
}

/* ---- a tensor ---- */

bool io_safetensors_has(const struct io_safetensors *t, struct str name)
{
    return map_get(&t->tensors, name) != NULL;
}

static struct str tensor_name(const void *header, size_t i)
{
    return ((const struct dict_value *)header)->items[i].name;
}

struct str io_safetensors_names(struct arena *a, const struct io_safetensors *t)
{
    return io_list_names(a, &t->header, tensor_name, t->header.count);
}

static bool read_type(struct diags *ds, const struct dict_value *tensor, struct io_stored *s)
{
    const struct dict_value *v = dict_find(tensor, STR("dtype"));
    if (!v || v->kind != DICT_STRING)
        return report_invalid(ds, "tensor without dtype");
    s->type_name = v->s;
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (str_is(v->s, type_names[i].name)) {
            s->dtype = type_names[i].dtype;
            s->width = dtype_bytes(s->dtype);
            return true;
        }
    return DIAG_ERROR(ds, NO_SPAN, ARRAY_TYPE, STR_ARG(v->s));
}

static bool read_tensor(struct diags *ds, struct arena *a, const struct io_safetensors *t,
                        struct str name, struct io_stored *s)
{
    const struct dict_value *tensor = map_get(&t->tensors, name);
    struct extent p = {.name = name};
    int64_t elements;
    uint64_t size;
    if (!read_type(ds, tensor, s))
        return false;
    if (!take_numbers(a, tensor, "shape", &s->dims, &s->rank))
        return report_invalid(ds, "shape of a tensor is not a list of sizes");
    if (!take_extent(ds, a, tensor, &p))
        return false;
    s->data = (struct str){t->data.ptr + p.begin, (size_t)(p.end - p.begin)};
    return (io_stored_size(s, &elements, &size) && size == s->data.len) ||
           report_invalid(ds, "data_offsets of a tensor do not match its shape");
}

struct literal *io_safetensors_get(struct diags *ds, struct arena *a,
                                   const struct io_safetensors *t, struct str name,
                                   const struct shape *expected, struct str who)
{
    struct io_stored s = {.owner = t->owner};
    if (!read_tensor(ds, a, t, name, &s))
        return NULL;
    return io_stored_decode(ds, a, &s, expected, who);
}

/* ---- writing ---- */

struct writing {
    struct arena a;
    struct buf header;
    struct str *parts; /* the header, then the tensors */
    size_t count, capacity;
    int64_t size;
    enum dtype nameless; /* an element type that the format does not support */
};

static const char *name_of(enum dtype t)
{
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        if (type_names[i].dtype == t)
            return type_names[i].name;
    return NULL;
}

static void put_tensor(struct writing *w, struct str name, const struct literal *l)
{
    const struct shape *s = l->shape;
    int64_t size = 0;
    shape_bytes(s, &size);
    if (!name_of(s->dtype))
        w->nameless = s->dtype;
    else
        buf_printf(&w->header, "%s\"" STR_FMT "\":{\"dtype\":\"%s\",\"shape\":[",
                   w->count > 1 ? "," : "", STR_ARG(name), name_of(s->dtype));
    for (int d = 0; d < s->rank; d++)
        buf_printf(&w->header, d ? ",%" PRId64 : "%" PRId64, s->dims[d]);
    buf_printf(&w->header, "],\"data_offsets\":[%" PRId64 ",%" PRId64 "]}", w->size,
               w->size + size);
    w->size += size;
    VEC_PUSH(&w->a, w->parts, w->count, w->capacity) = (struct str){l->data, (size_t)size};
}

static void put_leaves(struct writing *w, const char *prefix, const char *after,
                       const struct literal *l, int64_t *leaf)
{
    if (!shape_is_tuple(l->shape)) {
        struct str name = arena_printf(&w->a, "%s%" PRId64 "%s", prefix, (*leaf)++, after);
        if (shape_is_array(l->shape))
            put_tensor(w, name, l);
        return;
    }
    for (int i = 0; i < l->shape->count; i++)
        put_leaves(w, prefix, after, l->elements[i], leaf);
}

/* The header with its size, padded with blanks so that tensors begin at a multiple of eight
 * bytes. */
static struct str padded_header(struct writing *w)
{
    buf_putc(&w->header, '}');
    while (w->header.size % 8)
        buf_putc(&w->header, ' ');
    uint64_t size = w->header.size - 8;
    for (size_t i = 0; i < 8; i++)
        w->header.data[i] = (char)(size >> 8 * i);
    return buf_view(&w->header);
}

bool io_write_safetensors(struct diags *ds, const char *path, const char *prefix,
                          const struct literal *const *l, int64_t count)
{
    struct writing w = {.nameless = DT_INVALID};
    arena_init(&w.a);
    VEC_PUSH(&w.a, w.parts, w.count, w.capacity) = (struct str){0};
    buf_bytes(&w.header, "12345678{", 9);
    for (int64_t k = 0; k < count; k++) {
        int64_t leaf = 0;
        put_leaves(&w, prefix, count > 1 ? arena_printf(&w.a, "@%" PRId64, k).ptr : "", l[k],
                   &leaf);
    }
    w.parts[0] = padded_header(&w);
    bool ok =
        w.nameless == DT_INVALID
            ? io_write_parts(ds, path, w.parts, w.count)
            : DIAG_ERROR(
                  ds, NO_SPAN, FAILURE,
                  arena_printf(&w.a,
                               "element type %s has no safetensors equivalent; write an .npz file",
                               dtype_spelling(w.nameless))
                      .ptr);
    buf_free(&w.header);
    arena_free(&w.a);
    return ok;
}
