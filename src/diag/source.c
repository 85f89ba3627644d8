/*
 * source.c: line maps: the line and column of a byte offset, the text of a line, the origin of a
 * span, the part of a structured file.
 */
#include "diag/diag.h"

#include "base/oom.h"

void source_init(struct source *s, struct str name, struct str text)
{
    *s = (struct source){
        .name = name, .text = text, .first_line = 1, .generation = oom_generation()};
}

void source_free(struct source *s)
{
    heap_free(s->line_starts);
    s->line_starts = NULL;
    s->line_count = 0;
    for (size_t i = 0; i < s->origin_count; i++)
        source_free(&s->origins[i]);
}

/* The last piece that begins at or before `offset`. */
static size_t piece_at(const struct source *s, uint32_t offset)
{
    size_t next = 1;
    BISECT(next, s->piece_count, middle, s->pieces[middle].begin <= offset);
    return next - 1;
}

/* Whether the next piece continues the line. */
static bool piece_continues_line(const struct source *s, size_t piece, uint32_t from)
{
    return !memchr(s->text.ptr + from, '\n', s->pieces[piece + 1].begin - from);
}

/* A span that begins in generated text is moved to the beginning of the next piece, within the span
 * or the line. */
struct source *source_origin(struct source *s, struct span *span)
{
    if (s->piece_count == 0 || (span->begin == 0 && span->end == 0))
        return s;
    size_t i = piece_at(s, span->begin);
    uint32_t begin = span->begin, end = span->end;
    while (i + 1 < s->piece_count && !s->pieces[i].origin &&
           (s->pieces[i + 1].begin < end || piece_continues_line(s, i, begin)))
        begin = s->pieces[++i].begin;
    const struct source_piece *p = &s->pieces[i];
    uint32_t piece_end = i + 1 < s->piece_count ? s->pieces[i + 1].begin : (uint32_t)s->text.len;
    if (!p->origin) {
        *span = NO_SPAN;
        return s;
    }
    end = end > piece_end ? piece_end : end;
    if (p->size)
        *span = (struct span){p->at, p->at + p->size};
    else
        *span = (struct span){p->at + (begin - p->begin),
                              p->at + ((end > begin ? end : begin) - p->begin)};
    if (span->end == 0) /* offset 0, which must differ from NO_SPAN */
        span->end = 1;
    return p->origin;
}

/* ---- structured files ---- */

void source_paths_write(const struct source_paths *p, size_t node, struct buf *out)
{
    enum { DEEPEST = 128 };
    size_t chain[DEEPEST], depth = 0;
    for (; node != SIZE_MAX && depth < DEEPEST; node = p->nodes[node].parent)
        chain[depth++] = node;
    for (size_t k = depth; k-- > 0;) {
        const struct path_node *n = &p->nodes[chain[k]];
        buf_puts(out, k + 1 < depth ? "." : "");
        buf_puts(out, n->field);
        if (n->index >= 0)
            buf_printf(out, "[%" PRId64 "]", n->index);
    }
}

bool source_path(const struct source *s, struct span span, struct buf *out)
{
    const struct source_paths *p = s->paths;
    if (span.begin == 0 && span.end == 0) {
        buf_str(out, s->path);
        return s->path.len > 0;
    }
    size_t low = 0; /* the marks before it begin at or before the span */
    BISECT(low, p ? p->mark_count : 0, middle, p->marks[middle].begin <= span.begin);
    if (low == 0 || p->marks[low - 1].node == SIZE_MAX)
        return false;
    source_paths_write(p, p->marks[low - 1].node, out);
    return true;
}

/* ---- lines ---- */

static const char *next_newline(const char *p, const char *end)
{
    return p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
}

/* Counts the lines first, to allocate exactly. */
static void build_line_map(struct source *s)
{
    const char *begin = s->text.ptr, *end = begin + s->text.len;
    size_t count = 1;
    for (const char *p = begin; (p = next_newline(p, end)); p++)
        count++;
    s->line_starts = heap_alloc_for(count * sizeof *s->line_starts, oom_scope_of(s->generation));
    s->line_starts[s->line_count++] = 0;
    for (const char *p = begin; (p = next_newline(p, end)); p++)
        s->line_starts[s->line_count++] = (uint32_t)(p + 1 - begin);
}

struct place source_place(struct source *s, uint32_t offset)
{
    if (!s->line_starts)
        build_line_map(s);
    if (offset > s->text.len)
        offset = (uint32_t)s->text.len;
    uint32_t next = 1; /* the line after the one at the offset */
    BISECT(next, s->line_count, middle, s->line_starts[middle] <= offset);
    return (struct place){s->first_line + next - 1, offset - s->line_starts[next - 1] + 1};
}

struct str source_line(struct source *s, uint32_t line)
{
    if (!s->line_starts)
        build_line_map(s);
    if (line < s->first_line || line - s->first_line >= s->line_count)
        return STR("");
    uint32_t i = line - s->first_line;
    size_t begin = s->line_starts[i];
    size_t end = i + 1 < s->line_count ? s->line_starts[i + 1] - 1 : s->text.len;
    if (end > begin && s->text.ptr[end - 1] == '\r')
        end--;
    return (struct str){s->text.ptr + begin, end - begin};
}
