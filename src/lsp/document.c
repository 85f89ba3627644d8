/*
 * lsp/document: text with an index of its lines, kept up to date edit by edit.
 *
 * A line stores its symbols and the state of the scanner at its end. After an edit, scanning
 * continues until a line that was not edited ends in the state that it has stored.
 */
#include "lsp/lsp_priv.h"

#include "text/token.h"

/* ---- lines ---- */

struct collector {
    const struct str text;
    size_t line_begin;
    struct symbol *symbols;
    size_t count, capacity;
};

static void collect(void *context, enum piece kind, struct extent at)
{
    struct collector *c = context;
    if (kind < PIECE_INST)
        return;
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 32;
        c->symbols = heap_grow(c->symbols, c->capacity * sizeof *c->symbols);
    }
    const size_t length = at.end - at.begin;
    c->symbols[c->count++] =
        (struct symbol){.column = (uint32_t)(at.begin - c->line_begin),
                        .length = (uint32_t)length,
                        .hash = (uint32_t)hash_bytes(c->text.ptr + at.begin, length),
                        .kind = kind};
}

static bool is_ascii(struct str s)
{
    unsigned char all = 0;
    for (size_t i = 0; i < s.len; i++)
        all |= (unsigned char)s.ptr[i];
    return all < 0x80;
}

static void set_symbols(struct line *l, const struct collector *c)
{
    if (l->count != c->count) {
        heap_free(l->symbols);
        l->symbols = c->count ? heap_alloc(c->count * sizeof *l->symbols) : NULL;
    }
    l->count = (uint32_t)c->count;
    if (c->count)
        memcpy(l->symbols, c->symbols, c->count * sizeof *l->symbols);
}

/* Scans the lines from `first` to `last`, and further ones until the state is as before. */
static void scan_lines(struct document *d, const struct scan_words *w, size_t first, size_t last)
{
    struct scan_state state = first ? d->lines[first - 1].end : (struct scan_state){0};
    struct collector c = {.text = document_text(d)};
    const struct scan_sink sink = {&c, collect};
    bool same = false;
    for (size_t i = first; i < d->line_count && (i <= last || !same); i++) {
        struct line *l = &d->lines[i];
        const struct extent e = document_line(d, i);
        c.line_begin = e.begin;
        c.count = 0;
        scan_line(w, c.text, e, &state, &sink);
        set_symbols(l, &c);
        l->ascii = is_ascii(document_slice(d, e));
        same = i > last && memcmp(&l->end, &state, sizeof state) == 0;
        l->end = state;
    }
    heap_free(c.symbols);
}

static void reserve_lines(struct document *d, size_t count)
{
    if (count <= d->line_capacity)
        return;
    d->line_capacity = count + count / 2;
    d->lines = heap_grow(d->lines, d->line_capacity * sizeof *d->lines);
}

static size_t count_newlines(struct str s)
{
    size_t n = 0;
    const char *end = s.ptr + s.len;
    for (const char *p = s.ptr; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        n++;
    return n;
}

/* Replaces lines first + 1 to `last` by empty lines for the line ends in `text`, which is at offset
 * `at`; line `first` stays. Returns the number of the last of them. */
static size_t replace_lines(struct document *d, size_t first, size_t last, struct str text,
                            size_t at)
{
    const size_t added = count_newlines(text), removed = last - first;
    for (size_t i = first + 1; i <= last; i++)
        heap_free(d->lines[i].symbols);
    reserve_lines(d, d->line_count + added);
    memmove(d->lines + first + 1 + added, d->lines + last + 1,
            (d->line_count - last - 1) * sizeof *d->lines);
    d->line_count += added;
    d->line_count -= removed;
    size_t line = first;
    for (size_t i = 0; i < text.len; i++) {
        const char *newline = memchr(text.ptr + i, '\n', text.len - i);
        if (!newline)
            break;
        i = (size_t)(newline - text.ptr);
        d->lines[++line] = (struct line){.begin = (uint32_t)(at + i + 1)};
    }
    return first + added;
}

/* ---- text ---- */

static void replace_text(struct buf *b, struct extent old, struct str text)
{
    const size_t removed = old.end - old.begin;
    if (text.len > removed)
        buf_reserve(b, text.len - removed);
    if (!b->data)
        return;
    memmove(b->data + old.begin + text.len, b->data + old.end, b->size - old.end);
    if (text.len)
        memcpy(b->data + old.begin, text.ptr, text.len);
    b->size = b->size - removed + text.len;
    b->data[b->size] = '\0';
}

bool document_edit(struct document *d, const struct scan_words *w, struct extent old,
                   struct str text)
{
    if (d->text.size - (old.end - old.begin) + text.len >= UINT32_MAX)
        return false;
    const size_t first = document_line_of(d, old.begin), last = document_line_of(d, old.end);
    const uint32_t delta = (uint32_t)(text.len - (old.end - old.begin)); /* modulo 2^32 */
    replace_text(&d->text, old, text);
    const size_t edited = replace_lines(d, first, last, text, old.begin);
    for (size_t i = edited + 1; delta && i < d->line_count; i++)
        d->lines[i].begin += delta;
    scan_lines(d, w, first, edited);
    d->analysis.current = false;
    d->unpublished = true;
    return true;
}

/* The path of a file URI; otherwise the URI. */
static char *path_of(struct str uri)
{
    SCOPED_BUF path = {0};
    if (!str_starts(uri, STR("file://")))
        return heap_str(uri);
    for (size_t i = 7; i < uri.len; i++) {
        const bool coded = uri.ptr[i] == '%' && i + 2 < uri.len;
        const int high = coded ? char_hex(uri.ptr[i + 1]) : -1,
                  low = coded ? char_hex(uri.ptr[i + 2]) : -1;
        if (high >= 0 && low >= 0 && high + low > 0) {
            buf_putc(&path, (char)(high * 16 + low));
            i += 2;
        } else {
            buf_putc(&path, uri.ptr[i]);
        }
    }
    return heap_str(buf_view(&path));
}

struct document *document_new(const struct scan_words *w, struct str uri, struct str text)
{
    struct document *d = heap_zalloc(1, sizeof *d);
    d->uri = heap_str(uri);
    d->name = path_of(uri);
    arena_init(&d->analysis.arena);
    reserve_lines(d, 1);
    d->lines[0] = (struct line){0};
    d->line_count = 1;
    if (!document_edit(d, w, (struct extent){0, 0}, text)) {
        document_free(d);
        return NULL;
    }
    return d;
}

void document_free(struct document *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->line_count; i++)
        heap_free(d->lines[i].symbols);
    heap_free(d->lines);
    analysis_free(&d->analysis);
    buf_free(&d->text);
    heap_free(d->uri);
    heap_free(d->name);
    heap_free(d);
}

/* ---- positions ---- */

struct extent document_line(const struct document *d, size_t line)
{
    const char *text = document_text(d).ptr;
    struct extent e = {d->lines[line].begin,
                       line + 1 < d->line_count ? d->lines[line + 1].begin - 1 : d->text.size};
    if (e.end > e.begin && text[e.end - 1] == '\r')
        e.end--;
    return e;
}

size_t document_line_of(const struct document *d, size_t offset)
{
    size_t low = 1;
    BISECT(low, d->line_count, middle, d->lines[middle].begin <= offset);
    return low - 1;
}

/* The length of the character at a byte in UTF-16 code units; a byte that is not UTF-8 counts as
 * one. */
static uint32_t units(struct str s, size_t at, size_t *bytes)
{
    const size_t n = str_utf8(s, at);
    *bytes = n ? n : 1;
    return n == 4 ? 2 : 1;
}

size_t document_offset(const struct document *d, struct position p)
{
    if (p.line >= d->line_count)
        return d->text.size;
    const struct extent e = document_line(d, p.line);
    const struct str text = {document_text(d).ptr, e.end};
    if (d->lines[p.line].ascii)
        return p.character < e.end - e.begin ? e.begin + p.character : e.end;
    size_t at = e.begin, bytes;
    for (uint32_t done = 0; at < e.end && done < p.character; at += bytes)
        done += units(text, at, &bytes);
    return at;
}

struct position document_position(const struct document *d, size_t offset)
{
    const size_t line = document_line_of(d, offset);
    const struct extent e = document_line(d, line);
    struct position p = {(uint32_t)line, 0};
    if (offset > e.end)
        offset = e.end;
    if (d->lines[line].ascii) {
        p.character = (uint32_t)(offset - e.begin);
        return p;
    }
    size_t bytes;
    for (size_t at = e.begin; at < offset; at += bytes)
        p.character += units(document_text(d), at, &bytes);
    return p;
}

struct str document_slice(const struct document *d, struct extent e)
{
    return (struct str){document_text(d).ptr + e.begin, e.end - e.begin};
}
