/*
 * arrays.c: arrays by name, from an .npz archive, a safetensors file or a directory of files; or
 * the single unnamed array of a .npy or raw file, or value of a LiteralProto.
 */
#include "io/io_priv.h"

#include "base/mapped.h"
#include "proto/proto.h"

#include <errno.h>
#include <unistd.h>

/* ---- opening ---- */

static bool ends_with_any(const char *path, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_ends(str_of(path), str_of(ends[i])))
            return true;
    return false;
}

static bool is_of_many(const char *path)
{
    static const char *const many[] = {".npz", ".safetensors"};
    return ends_with_any(path, many, COUNT_OF(many));
}

bool io_arrays_named(const char *path)
{
    static const char *const one[] = {".npy", ".bin", ".raw"};
    return ends_with_any(path, one, COUNT_OF(one)) || is_of_many(path);
}

/* Whether it is a LiteralProto; *text: in text format. */
static bool is_literal(struct str bytes, bool *text)
{
    *text = proto_kind_of_text(bytes) == PROTO_LITERAL;
    return *text || proto_kind_of(bytes) == PROTO_LITERAL;
}

static bool is_literal_file(const char *path)
{
    SCOPED_BYTES file = {0};
    SCOPED_BUF unpacked = {0};
    bool text, malformed = false;
    if (!file_starts_with(path, STR("")) || !file_map(path, &file))
        return false;
    struct str bytes = {file.data, file.size};
    if (io_is_gzip(bytes)) {
        malformed = io_gunzip(bytes, &unpacked) != NULL;
        bytes = buf_view(&unpacked);
    }
    /* opening it reports what is wrong */
    return malformed || is_literal(bytes, &text);
}

bool io_arrays_known(const char *path)
{
    return io_arrays_named(path) || file_is_directory(path) || is_literal_file(path);
}

bool io_arrays_many(const char *path) { return is_of_many(path) || file_is_directory(path); }

static struct str read_bytes(struct diags *ds, const char *path, struct io_arrays *out)
{
    if (!file_map(path, &out->file)) {
        DIAG(ds, NO_SPAN, FILE_NOT_READ, file_problem(errno));
        return (struct str){NULL, 0};
    }
    struct str bytes = {out->file.data, out->file.size};
    out->owner = file_share(&out->file);
    return bytes;
}

/* Decompresses the file; its bytes then have no owner. */
static bool unpack(struct diags *ds, struct io_arrays *out)
{
    const char *wrong = io_gunzip(out->bytes, &out->unpacked);
    if (wrong)
        return DIAG_ERROR(ds, NO_SPAN, GZIP_MALFORMED, wrong);
    owner_drop(out->owner);
    file_release(&out->file);
    out->owner = NULL;
    out->bytes = buf_view(&out->unpacked);
    return true;
}

/* .npy files and literals are recognized by their contents, others by their names; the elements of
 * a raw file may have any value. */
bool io_arrays_open(struct diags *ds, struct arena *a, const char *path, struct io_arrays *out)
{
    *out = (struct io_arrays){.path = arena_str(a, str_of(path)), .kind = IO_DIRECTORY};
    if (file_is_directory(path))
        return true;
    out->bytes = read_bytes(ds, path, out);
    if (!out->bytes.ptr)
        return false;
    const bool npy = str_starts(out->bytes, STR("\x93NUMPY")),
               raw = !npy && (str_ends(out->path, STR(".bin")) || str_ends(out->path, STR(".raw")));
    bool ok = raw || !io_is_gzip(out->bytes) || unpack(ds, out);
    if (raw) {
        out->kind = IO_RAW;
    } else if (!ok || is_literal(out->bytes, &out->text)) {
        out->kind = IO_LITERAL;
    } else if (npy || str_ends(out->path, STR(".npy"))) {
        out->kind = IO_NPY;
    } else if (str_ends(out->path, STR(".safetensors"))) {
        out->kind = IO_SAFETENSORS;
        ok = io_safetensors_open(ds, a, out->bytes, &out->tensors);
        out->tensors.owner = out->owner;
    } else {
        out->kind = IO_NPZ;
        ok = io_npz_open(ds, a, out->bytes, &out->npz);
        out->npz.owner = out->owner;
    }
    if (!ok)
        io_arrays_close(out);
    return ok;
}

void io_arrays_close(struct io_arrays *s)
{
    owner_drop(s->owner);
    if (s->file.data)
        file_release(&s->file);
    buf_free(&s->unpacked);
    *s = (struct io_arrays){0};
}

/* ---- one array ---- */

static const char *const file_ends[] = {".npy", ".bin", ".pb", ".pbtxt"};

/* The file with this name in a directory; NULL: none. */
static const char *file_called(struct arena *a, const struct io_arrays *s, struct str name)
{
    for (size_t i = 0; i < COUNT_OF(file_ends); i++) {
        const char *path =
            arena_printf(a, STR_FMT "/" STR_FMT "%s", STR_ARG(s->path), STR_ARG(name), file_ends[i])
                .ptr;
        if (access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

bool io_arrays_has(struct arena *a, const struct io_arrays *s, struct str name)
{
    switch (s->kind) {
    case IO_NPZ: return io_npz_has(&s->npz, name);
    case IO_SAFETENSORS: return io_safetensors_has(&s->tensors, name);
    case IO_DIRECTORY: return file_called(a, s, name) != NULL;
    default: return name.len == 0;
    }
}

struct str io_list_names(struct arena *a, const void *of,
                         struct str (*name)(const void *of, size_t i), size_t count)
{
    SCOPED_BUF b = {0};
    size_t shown = count > 8 ? 8 : count;
    for (size_t i = 0; i < shown; i++)
        buf_printf(&b, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(name(of, i)));
    if (shown < count)
        buf_printf(&b, " and %zu more", count - shown);
    if (count == 0)
        buf_puts(&b, "nothing");
    return arena_str(a, buf_view(&b));
}

static struct str names_in(struct arena *a, const struct io_arrays *s)
{
    switch (s->kind) {
    case IO_NPZ: return io_npz_names(a, &s->npz);
    case IO_SAFETENSORS: return io_safetensors_names(a, &s->tensors);
    case IO_LITERAL: return STR("one unnamed value");
    default: return STR("one unnamed array");
    }
}

/* Reports that no array has any of these names; names with a participant's number are not
 * listed. */
static void report_missing(struct diags *ds, struct arena *a, const struct io_arrays *s,
                           const struct str *names, size_t count, struct str who)
{
    SCOPED_BUF b = {0};
    for (size_t k = 1; k < count; k += 2)
        if (s->kind == IO_DIRECTORY)
            buf_printf(&b, "%s'" STR_FMT "%s', '" STR_FMT "%s'", k > 1 ? ", " : "",
                       STR_ARG(names[k]), file_ends[0], STR_ARG(names[k]), file_ends[1]);
        else
            buf_printf(&b, "%s'" STR_FMT "'", k > 1 ? " or " : "", STR_ARG(names[k]));
    if (s->kind == IO_DIRECTORY)
        DIAG(ds, NO_SPAN, ARRAY_NO_FILE, STR_ARG(who), STR_ARG(buf_view(&b)));
    else
        DIAG(ds, NO_SPAN, ARRAY_MISSING, STR_ARG(buf_view(&b)), STR_ARG(who),
             STR_ARG(names_in(a, s)));
}

/* Adds the array's name to a message about the file. */
static struct literal *report_about(struct diags *ds, struct str name)
{
    if (ds->last)
        diag_note(ds, ds->last, NO_SPAN, "in reading '" STR_FMT "'", STR_ARG(name));
    return NULL;
}

static struct literal *get_from_directory(struct diags *ds, struct arena *a,
                                          const struct io_arrays *s, struct str name,
                                          const struct shape *expected, struct str who)
{
    struct io_arrays file;
    const char *path = file_called(a, s, name);
    struct literal *l = NULL;
    if (path && io_arrays_open(ds, a, path, &file)) {
        l = io_arrays_get(ds, a, &file, STR(""), expected, who);
        io_arrays_close(&file);
    }
    return l || !path ? l : report_about(ds, str_of(path));
}

/* Whether a value matches the requested shape, with a message if not. */
static bool value_fits(struct diags *ds, struct arena *a, const struct shape *got,
                       const struct shape *expected, struct str who)
{
    const struct io_stored array = {.dtype = got->dtype, .rank = got->rank, .dims = got->dims};
    bool same = got->dtype == expected->dtype && got->count == expected->count;
    if (same && shape_is_array(got))
        return io_stored_fits(ds, a, &array, expected, who);
    for (int k = 0; same && shape_is_tuple(got) && k < got->count; k++)
        if (!value_fits(ds, a, got->elements[k], expected->elements[k], who))
            return false;
    return same ||
           DIAG_ERROR(ds, NO_SPAN, ARRAY_MISMATCH, STR_ARG(shape_text(a, got)), STR_ARG(who),
                      STR_ARG(expected->rank < 0 ? str_of(dtype_spelling(expected->dtype))
                                                 : shape_text(a, expected)));
}

static struct literal *get_literal(struct diags *ds, struct arena *a, const struct io_arrays *s,
                                   const struct shape *expected, struct str who)
{
    const struct proto_input input = {s->bytes, PROTO_LITERAL, s->text, s->file.mapping != NULL};
    struct literal *l = proto_literal(ds, a, &input);
    if (!l && s->text) /* the message refers to its lines, and may outlive the file */
        ds->source->text = arena_str(&ds->arena, s->bytes);
    if (!l || !expected || value_fits(ds, a, l->shape, expected, who))
        return l;
    literal_free_data(l);
    return NULL;
}

struct literal *io_arrays_get(struct diags *ds, struct arena *a, const struct io_arrays *s,
                              struct str name, const struct shape *expected, struct str who)
{
    if (!io_arrays_has(a, s, name)) {
        report_missing(ds, a, s, (struct str[]){name, name}, 2, who);
        return NULL;
    }
    if (s->kind == IO_RAW && (!expected || expected->rank < 0)) {
        DIAG(ds, NO_SPAN, FAILURE, "raw bytes have no shape");
        return NULL;
    }
    struct literal *l;
    switch (s->kind) {
    case IO_NPZ:
        l = io_npz_get(ds, a, &s->npz, name, expected, who);
        return l ? l : report_about(ds, name);
    case IO_SAFETENSORS:
        l = io_safetensors_get(ds, a, &s->tensors, name, expected, who);
        return l ? l : report_about(ds, name);
    case IO_DIRECTORY: return get_from_directory(ds, a, s, name, expected, who);
    case IO_LITERAL: return get_literal(ds, a, s, expected, who);
    case IO_NPY: return io_npy_decode(ds, a, s->bytes, s->owner, expected, who);
    default: return io_raw_decode(ds, a, s->bytes, s->owner, expected, who);
    }
}

/* ---- values ---- */

/* The possible names of an array, in order of preference: pairs of a name with the number of the
 * participant and the name without; `part` is the position in enclosing tuples. */
static size_t names_of(struct arena *a, const struct io_request *w, struct str part,
                       struct str **out)
{
    const size_t count = 2 * (w->name_count + 2);
    struct str *names = ARENA_ARRAY(a, struct str, count);
    names[1] = arena_printf(a, "%s%" PRId64, w->prefix, w->leaf);
    for (size_t k = 0; k < w->name_count; k++)
        names[2 * k + 3] = arena_printf(a, STR_FMT STR_FMT, STR_ARG(w->names[k]), STR_ARG(part));
    names[count - 1] = arena_printf(a, "arr_%" PRId64, w->leaf);
    for (size_t k = 0; k < count; k += 2)
        names[k] = arena_printf(a, STR_FMT "@%" PRId64, STR_ARG(names[k + 1]), w->participant);
    *out = names;
    return count;
}

static struct literal *leaf_value(struct diags *ds, struct arena *a, const struct io_arrays *s,
                                  struct io_request *w, struct str part,
                                  const struct shape *expected)
{
    struct str *names;
    if (!shape_is_array(expected)) {
        w->leaf++;
        return literal_new(a, expected);
    }
    size_t count = names_of(a, w, part, &names), k = 0;
    w->leaf++;
    if (s->kind == IO_NPY || s->kind == IO_RAW)
        return io_arrays_get(ds, a, s, STR(""), expected, w->who);
    while (k < count && !io_arrays_has(a, s, names[k]))
        k++;
    if (k < count)
        return io_arrays_get(ds, a, s, names[k], expected, w->who);
    report_missing(ds, a, s, names, count - 2, w->who);
    return NULL;
}

static struct literal *value_called(struct diags *ds, struct arena *a, const struct io_arrays *s,
                                    struct io_request *w, struct str part,
                                    const struct shape *expected)
{
    if (!shape_is_tuple(expected))
        return leaf_value(ds, a, s, w, part, expected);
    struct literal **elements = ARENA_ARRAY(a, struct literal *, expected->count);
    bool ok = true;
    for (int i = 0; i < expected->count && ok; i++) {
        struct str element = arena_printf(a, STR_FMT ".%d", STR_ARG(part), i);
        elements[i] = value_called(ds, a, s, w, element, expected->elements[i]);
        ok = elements[i] != NULL;
    }
    return literal_tuple(a, elements, expected->count);
}

struct literal *io_arrays_value(struct diags *ds, struct arena *a, const struct io_arrays *s,
                                const struct io_request *request, const struct shape *expected)
{
    struct io_request w = *request;
    if (s->kind == IO_LITERAL)
        return get_literal(ds, a, s, expected, w.who);
    return value_called(ds, a, s, &w, STR(""), expected);
}
