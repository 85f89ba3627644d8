/*
 * Public interface: opening files of modules: text, protocol buffers, gzip, dump directories,
 * bundles; and detection of other formats.
 */
#include "api/api.h"

#include "base/mapped.h"
#include "io/io.h"
#include "proto/proto.h"

#include <errno.h>

static bool unpack(hlo_file *f, struct diags *ds)
{
    struct buf text = {0};
    if (!io_is_gzip((struct str){f->bytes.data, f->bytes.size}))
        return true;
    const char *wrong = io_gunzip((struct str){f->bytes.data, f->bytes.size}, &text);
    if (wrong) {
        buf_free(&text);
        return DIAG_ERROR(ds, NO_SPAN, GZIP_MALFORMED, wrong);
    }
    file_release(&f->bytes);
    f->bytes = (struct file_bytes){.data = text.data, .size = text.size};
    return true;
}

static bool is_text(const hlo_file *f, struct diags *ds, const char *path)
{
    const char *advice,
        *what = io_not_hlo(path, (struct str){f->bytes.data, f->bytes.size}, &advice);
    if (what)
        DIAG(ds, NO_SPAN, FILE_NOT_HLO, what, advice);
    return !what;
}

/* Opens the text of the module in a bundle. */
static hlo_file *open_bundle(const char *path, bool strict, hlo_messages *m)
{
    hlo_arrays *s = hlo_arrays_open(path, m);
    hlo_literal *text = s ? hlo_arrays_get(s, "module", "u8", m) : NULL;
    hlo_file *f = NULL;
    if (text) {
        struct hlo_array bytes = hlo_literal_leaf(text, 0);
        f = hlo_file_of_text(path, bytes.data, bytes.elements, strict);
        if (!f)
            DIAG(hlo_sink_of_name(m, path, STR("")), NO_SPAN, TEXT_TOO_LARGE, bytes.elements);
    }
    hlo_literal_free(text);
    hlo_arrays_free(s);
    return f;
}

/* ---- protocol buffers ---- */

/* The kind of protocol buffer in an opened file; *text: it is in text format. */
static enum proto_kind kind_of(const hlo_file *f, bool *text)
{
    const struct str bytes = {f->bytes.data, f->bytes.size};
    *text = false;
    enum proto_kind kind = proto_kind_of(bytes);
    if (kind != PROTO_NONE)
        return kind;
    kind = proto_kind_of_text(bytes);
    *text = kind != PROTO_NONE;
    return kind;
}

/* Translates a protocol buffer to the text of the file's only part. */
static bool read_proto(hlo_file *f, const char *name, enum proto_kind kind, bool text,
                       hlo_messages *m)
{
    const struct str bytes = {f->bytes.data, f->bytes.size};
    const struct proto_input input = {bytes, kind, text, f->bytes.mapping != NULL};
    struct diags *ds = hlo_sink_of_name(m, name, text ? bytes : STR(""));
    if (kind == PROTO_LITERAL)
        return DIAG_ERROR(ds, NO_SPAN, FILE_NOT_HLO, "a LiteralProto",
                          "read a file that has a module");
    f->proto = proto_read(ds, &input);
    if (!f->proto)
        return false;
    f->parts = ARENA_NEW(&f->arena, struct source);
    f->count = 1;
    source_init(f->parts, arena_str(&f->arena, str_of(name)), proto_text(f->proto));
    f->parts->paths = proto_paths(f->proto);
    return true;
}

/* Maps a large binary file, whose values are then read without a copy of the file. */
static bool map_proto(hlo_file *f, const char *path)
{
    if (!file_begins(path, STR("\n")) || !file_map(path, &f->bytes))
        return false;
    if (f->bytes.mapping && proto_kind_of((struct str){f->bytes.data, f->bytes.size}))
        return true;
    file_release(&f->bytes);
    return false;
}

static hlo_file *open_file(const char *path, bool strict, hlo_messages *m)
{
    if (file_begins(path, STR("PK\3\4")))
        return open_bundle(path, strict, m);
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    hlo_file *f = hlo_file_new(strict);
    struct diags *ds = hlo_sink_of_name(m, name, STR(""));
    bool text, ok = true;
    if (!map_proto(f, path) && !file_read(path, &f->bytes)) {
        ok = DIAG_ERROR(ds, NO_SPAN, FILE_NOT_READ, file_problem(errno));
    } else if ((ok = unpack(f, ds))) {
        const enum proto_kind kind = kind_of(f, &text);
        if (kind != PROTO_NONE)
            ok = read_proto(f, name, kind, text, m);
        else if ((ok = is_text(f, ds, path)))
            hlo_file_split(f, name, (struct str){f->bytes.data, f->bytes.size});
    }
    if (ok)
        return f;
    hlo_file_free(f);
    return NULL;
}

/* Drops all parts but the one selected by PICK. If there is no such part, frees the file and
 * returns NULL with a message. */
static hlo_file *keep_part(hlo_file *f, const char *path, const char *pick, hlo_messages *m)
{
    int64_t n;
    if (num_parse_i64(str_of(pick), &n) && n >= 1 && n <= (int64_t)f->count) {
        for (size_t k = 0; k < f->count; k++)
            if (k != (size_t)n - 1)
                source_free(&f->parts[k]);
        f->parts += n - 1;
        f->count = 1;
        return f;
    }
    struct str there = arena_printf(&f->arena,
                                    f->count == 1 ? "no module '%s'; file has %zu module"
                                                  : "no module '%s'; file has %zu modules",
                                    pick, f->count);
    DIAG(hlo_sink_of_name(m, path, STR("")), NO_SPAN, DUMP_MISSING, STR_ARG(there),
         STR_ARG(STR("")));
    hlo_file_free(f);
    return NULL;
}

hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    if (!file_is_directory(path)) {
        hlo_file *f = open_file(path, strict, m);
        return f && pick ? keep_part(f, path, pick, m) : f;
    }
    struct arena a;
    arena_init(&a);
    struct str file = io_dump_find(hlo_sink_of_name(m, path, STR("")), &a, path, pick);
    hlo_file *f = file.len ? open_file(file.ptr, strict, m) : NULL;
    arena_free(&a);
    return f;
}

hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return hlo_file_open_module(path, NULL, strict, m);
}
