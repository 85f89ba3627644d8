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
    const bool is_bundle = s && hlo_arrays_has(s, "module");
    SCOPED_LITERAL *text = is_bundle ? hlo_arrays_get(s, "module", "u8", m) : NULL;
    hlo_file *f = NULL;
    if (s && !is_bundle)
        DIAG(hlo_sink_of_name(m, path, STR("")), NO_SPAN, FILE_NOT_HLO, "an archive of arrays",
             "--inputs=FILE reads arguments from it");
    if (text) {
        struct hlo_array bytes = hlo_literal_leaf(text, 0);
        f = hlo_file_of_text(path, bytes.data, bytes.elements, strict);
        if (!f)
            DIAG(hlo_sink_of_name(m, path, STR("")), NO_SPAN, TEXT_TOO_LARGE, bytes.elements);
    }
    if (f)
        f->bundle = s;
    else
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
    struct diags *ds = hlo_sink_of_name(m, name, STR(""));
    if (kind == PROTO_LITERAL)
        return DIAG_ERROR(ds, NO_SPAN, FILE_NOT_HLO, "a LiteralProto",
                          "read a file that has a module");
    f->proto = proto_read(ds, &input);
    if (!f->proto && text) /* the message refers to its lines, and outlives the file */
        ds->source->text = arena_str(&ds->arena, bytes);
    if (!f->proto)
        return false;
    source_init(hlo_file_part(f), arena_str(&f->arena, str_of(name)), proto_text(f->proto));
    f->parts->paths = proto_paths(f->proto);
    return true;
}

/* Maps a large protocol buffer, whose values are then read without a copy of the file. Text is
 * read, since it is examined more than once. */
static bool load_bytes(hlo_file *f, const char *path)
{
    if (!file_map(path, &f->bytes))
        return false;
    if (!f->bytes.mapping || proto_kind_of((struct str){f->bytes.data, f->bytes.size}))
        return true;
    file_release(&f->bytes);
    return file_read(path, &f->bytes);
}

static hlo_file *open_file(const char *path, bool strict, hlo_messages *m)
{
    if (file_starts_with(path, STR("PK\3\4")))
        return open_bundle(path, strict, m);
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    hlo_file *f = hlo_file_new(strict);
    struct diags *ds = hlo_sink_of_name(m, name, STR(""));
    bool text, ok = true;
    if (!load_bytes(f, path)) {
        ok = DIAG_ERROR(ds, NO_SPAN, FILE_NOT_READ, file_problem(errno));
    } else if ((ok = unpack(f, ds))) {
        const enum proto_kind kind = kind_of(f, &text);
        if (kind != PROTO_NONE)
            ok = read_proto(f, name, kind, text, m);
        else if ((ok = is_text(f, ds, path))) {
            hlo_file_split(f, name, (struct str){f->bytes.data, f->bytes.size});
            f->path = f->parts->name.ptr;
        }
    }
    if (ok)
        return f;
    hlo_file_free(f);
    return NULL;
}

/* The parts of a file as dumps. */
static struct io_dumps dumps_of(hlo_file *f)
{
    struct io_dumps d = {.a = &f->arena, .place = "file has "};
    for (size_t k = 0; k < f->count; k++) {
        struct io_dump dump;
        if (!io_dump_of_name(f->titles[k], &dump))
            dump = (struct io_dump){
                .file = f->titles[k], .name = f->titles[k], .number = (int64_t)k + 1};
        dump.part = k;
        io_dumps_add(&d, &dump);
    }
    return d;
}

/* Drops all parts but the one selected by PICK. If there is no such part, frees the file and
 * returns NULL with a message. */
static hlo_file *keep_part(hlo_file *f, const char *path, const char *pick, hlo_messages *m)
{
    struct io_dumps d = dumps_of(f);
    const struct io_dump *only = io_dumps_pick(hlo_sink_of_name(m, path, STR("")), &d, pick);
    if (!only) {
        hlo_file_free(f);
        return NULL;
    }
    for (size_t k = 0; k < f->count; k++)
        if (k != only->part)
            source_free(&f->parts[k]);
    f->parts += only->part;
    f->titles += only->part;
    f->skipped = only->part;
    f->count = 1;
    return f;
}

hlo_file *hlo_file_open_module(const char *path, const char *pick, bool strict, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    if (!io_dumps_many(path)) {
        hlo_file *f = open_file(path, strict, m);
        return f && pick ? keep_part(f, path, pick, m) : f;
    }
    struct diags *ds = hlo_sink_of_name(m, path, STR(""));
    SCOPED_ARENA a = arena_make();
    struct io_dumps d = {.a = &a};
    const struct io_dump *only = io_dumps_read(ds, &d, path) ? io_dumps_pick(ds, &d, pick) : NULL;
    return only ? open_file(only->path.ptr, strict, m) : NULL;
}

hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return hlo_file_open_module(path, NULL, strict, m);
}

/* ---- lists of dumps ---- */

struct hlo_dumps {
    struct arena arena;
    struct io_dumps d;
    hlo_file *file; /* whose parts the dumps are; NULL: they are files */
};

hlo_dumps *hlo_dumps_open(const char *path, const char *pick, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_dumps *l = heap_zalloc(1, sizeof *l);
    struct diags *ds = hlo_sink_of_name(m, path, STR(""));
    arena_init(&l->arena);
    l->d.a = &l->arena;
    bool ok;
    if (io_dumps_many(path))
        ok = io_dumps_read(ds, &l->d, path);
    else if ((ok = (l->file = open_file(path, false, m)) != NULL))
        l->d = dumps_of(l->file);
    if (ok && (!pick || io_dumps_select(ds, &l->d, str_of(pick))))
        return l;
    hlo_dumps_free(l);
    return NULL;
}

void hlo_dumps_free(hlo_dumps *d)
{
    if (!d)
        return;
    hlo_file_free(d->file);
    arena_free(&d->arena);
    heap_free(d);
}

bool hlo_dumps_many(const char *path) { return io_dumps_many(path); }
size_t hlo_dumps_count(const hlo_dumps *d) { return d->d.count; }

struct hlo_dump hlo_dumps_get(const hlo_dumps *d, size_t i)
{
    OOM_SCOPE((struct hlo_dump){0});
    const struct io_dump *dump = &d->d.at[i];
    struct arena *a = (struct arena *)(uintptr_t)&d->arena;
    return (struct hlo_dump){.path = dump->path.len ? dump->path.ptr : d->file->parts->name.ptr,
                             .name = arena_str(a, dump->file).ptr,
                             .module = arena_str(a, dump->name).ptr,
                             .phase = arena_str(a, dump->phase).ptr,
                             .number = dump->number};
}

hlo_module *hlo_dumps_parse(const hlo_dumps *d, size_t i, hlo_messages *m)
{
    const struct io_dump *dump = &d->d.at[i];
    if (d->file)
        return hlo_parse(d->file, dump->part, m);
    SCOPED_FILE *f = hlo_file_open(dump->path.ptr, false, m);
    return f ? hlo_parse(f, 0, m) : NULL;
}
