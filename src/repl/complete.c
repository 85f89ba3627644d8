/*
 * repl/complete: what may stand at the cursor.
 */
#include "repl/complete.h"

#include "hlo.h"

#include <stdlib.h>

void completions_add(struct completions *c, struct str text, struct str note, const char *tail)
{
    if (!str_starts(text, c->word))
        return;
    struct completion item = {arena_str(&c->arena, text), arena_str(&c->arena, note), arena_str(&c->arena, str_of(tail))};
    VEC_PUSH(&c->arena, c->items, c->count, c->capacity) = item;
}

void completions_free(struct completions *c)
{
    arena_free(&c->arena);
    *c = (struct completions){0};
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(((const struct completion *)a)->text, ((const struct completion *)b)->text);
}

void completions_sort(struct completions *c)
{
    size_t kept = 0;
    if (c->count > 0)
        qsort(c->items, c->count, sizeof *c->items, compare_texts);
    for (size_t i = 0; i < c->count; i++)
        if (i == 0 || !str_eq(c->items[i].text, c->items[kept - 1].text))
            c->items[kept++] = c->items[i];
    c->count = kept;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
           (unsigned char)c >= 0x80;
}

void complete_entry(const struct complete_source *s, struct str entry, size_t cursor, struct completions *out)
{
    size_t start = cursor;
    while (start > 0 && is_name_char(entry.ptr[start - 1]))
        start--;
    out->word = (struct str){entry.ptr + start, cursor - start};
    s->names(s->context, out);
    for (size_t i = 0; i < hlo_op_count(); i++) {
        struct hlo_op op = hlo_op_get(i);
        completions_add(out, str_of(op.name), str_of(op.help), "(");
    }
}
