/*
 * repl/complete: what may stand at the cursor.
 */
#include "repl/complete.h"

#include "hlo.h"

void completions_add(struct completions *c, struct str text, struct str note, const char *tail)
{
    if (!str_starts(text, c->word))
        return;
    struct completion item = {arena_str(&c->arena, text), arena_str(&c->arena, note), arena_str(&c->arena, str_of(tail))};
    VEC_PUSH(&c->arena, c->items, c->count, c->capacity) = item;
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
