/*
 * source.c: which line and column is a byte offset in, and what does that line say?
 */
#include "diag/diag.h"

#include <stdlib.h>

void source_init(struct source *s, struct str name, struct str text)
{
    *s = (struct source){.name = name, .text = text, .first_line = 1};
}

void source_free(struct source *s)
{
    free(s->line_starts);
    s->line_starts = NULL;
    s->line_count = 0;
}

static const char *next_newline(const char *p, const char *end)
{
    return p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
}

/* Counts first: the map then takes exactly what it needs. Without memory for it everything stands
 * in line 1, which beats giving up on the message. */
static void build_line_map(struct source *s)
{
    const char *begin = s->text.ptr, *end = begin + s->text.len;
    size_t count = 1;
    for (const char *p = begin; (p = next_newline(p, end)); p++)
        count++;
    s->line_starts = malloc(count * sizeof *s->line_starts);
    if (!s->line_starts)
        return;
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
    uint32_t low = 0, high = s->line_count; /* line_starts[low] <= offset < line_starts[high] */
    while (high > low + 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->line_starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    uint32_t start = s->line_starts ? s->line_starts[low] : 0;
    return (struct place){s->first_line + low, offset - start + 1};
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
