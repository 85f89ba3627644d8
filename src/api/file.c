/*
 * Public interface: text in memory, as a file of several parts or one text made of pieces of
 * several.
 *
 * Modules and messages point into their text. Files are reference-counted, so that the text lives
 * as long as anything refers to it.
 */
#include "api/api.h"

#include "proto/proto.h"
#include "text/text.h"

hlo_file *hlo_file_hold(hlo_file *f)
{
    __atomic_add_fetch(&f->references, 1, __ATOMIC_RELAXED);
    return f;
}

void hlo_file_free(hlo_file *f)
{
    if (!f || __atomic_sub_fetch(&f->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < f->count; i++)
        source_free(&f->parts[i]);
    proto_free(f->proto);
    hlo_arrays_free(f->bundle);
    hlo_text_free(&f->full);
    if (f->bytes.data)
        file_release(&f->bytes);
    arena_free(&f->arena);
    heap_free(f);
}

hlo_file *hlo_file_new(bool strict)
{
    hlo_file *f = heap_zalloc(1, sizeof *f);
    arena_init(&f->arena);
    f->references = 1;
    f->strict = strict;
    return f;
}

struct source *hlo_file_part(hlo_file *f)
{
    f->parts = ARENA_NEW(&f->arena, struct source);
    f->titles = ARENA_NEW(&f->arena, struct str);
    f->count = 1;
    return f->parts;
}

void hlo_file_split(hlo_file *f, const char *name, struct str text)
{
    struct str kept = arena_str(&f->arena, str_of(name));
    if (!f->strict) {
        f->parts = text_split(&f->arena, kept, text, &f->count, &f->titles);
        return;
    }
    source_init(hlo_file_part(f), kept, text);
}

hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict)
{
    OOM_SCOPE(NULL);
    if (size >= UINT32_MAX) /* offsets have 32 bits */
        return NULL;
    hlo_file *f = hlo_file_new(strict);
    hlo_file_split(f, name, arena_str(&f->arena, (struct str){text, size}));
    return f;
}

/* The source of a piece. It is copied once, however many pieces refer to it. */
static struct source *origin_of(hlo_file *f, struct source *s, const struct hlo_piece *piece,
                                const char **copied)
{
    for (size_t i = s->origin_count;
         i-- > 0;) /* backwards: neighbors mostly have the same source */
        if (copied[i] == piece->whole)
            return &s->origins[i];
    copied[s->origin_count] = piece->whole;
    struct source *origin = &s->origins[s->origin_count++];
    source_init(origin, arena_str(&f->arena, str_of(piece->name)),
                arena_str(&f->arena, (struct str){piece->whole, piece->whole_size}));
    origin->first_line = piece->first_line;
    return origin;
}

hlo_file *hlo_file_of_pieces(const char *name, const struct hlo_piece *pieces, size_t count)
{
    OOM_SCOPE(NULL);
    hlo_file *f = hlo_file_new(false);
    SCOPED_BUF text = {0};
    const char **copied;
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += pieces[i].size;
    if (size >= UINT32_MAX) {
        hlo_file_free(f);
        return NULL;
    }
    copied = heap_zalloc(count + 1, sizeof *copied);
    struct source *s = hlo_file_part(f);
    source_init(s, arena_str(&f->arena, str_of(name)), STR(""));
    s->pieces = ARENA_ARRAY(&f->arena, struct source_piece, count + 1);
    s->origins = ARENA_ARRAY(&f->arena, struct source, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct hlo_piece *p = &pieces[i];
        struct source_piece *at = &s->pieces[s->piece_count++];
        at->begin = (uint32_t)text.size;
        if (p->name) {
            at->origin = origin_of(f, s, p, copied);
            at->at = (uint32_t)((p->replaced ? p->at : p->text) - p->whole);
            at->size = (uint32_t)p->replaced;
        }
        buf_bytes(&text, p->text, p->size);
    }
    s->text = arena_str(&f->arena, buf_view(&text));
    heap_free(copied);
    return f;
}

size_t hlo_file_count(const hlo_file *f) { return f->count; }
size_t hlo_file_number(const hlo_file *f, size_t part) { return f->skipped + part + 1; }
const char *hlo_file_title(const hlo_file *f, size_t part)
{
    return f->titles[part].len ? f->titles[part].ptr : "";
}
void hlo_file_strict(hlo_file *f, bool strict) { f->strict = strict; }

bool hlo_file_is_proto(const hlo_file *f) { return f->proto != NULL; }

/* Prints the module of a protocol buffer; leaves `full` empty on failure. */
static void print_proto(hlo_file *f)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_MODULE *module = m ? hlo_parse(f, 0, m) : NULL;
    if (module)
        f->full = hlo_print(module, HLO_PRINT_EXACT);
    if (f->full.size >= UINT32_MAX)
        hlo_text_free(&f->full);
}

const char *hlo_file_text(const hlo_file *f, size_t part, size_t *size, uint32_t *first_line)
{
    const struct source *s = &f->parts[part];
    if (f->proto && !f->full.data)
        print_proto((hlo_file *)(uintptr_t)f);
    const bool full = f->full.data != NULL;
    *size = full ? f->full.size : s->text.len;
    *first_line = s->first_line ? s->first_line : 1;
    return full ? f->full.data : s->text.ptr;
}
