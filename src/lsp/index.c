/*
 * lsp/index: the symbols of a document. Names are resolved by scanning the symbols of a computation
 * or module, which takes about a millisecond per megabyte of text.
 */
#include "lsp/lsp_priv.h"

#include "repl/syntax.h"

const struct symbol *symbol_get(const struct document *d, struct place p)
{
    return &d->lines[p.line].symbols[p.k];
}

struct extent symbol_extent(const struct document *d, struct place p)
{
    const struct symbol *s = symbol_get(d, p);
    const size_t begin = d->lines[p.line].begin + s->column;
    return (struct extent){begin, begin + s->length};
}

struct str symbol_name(const struct document *d, struct place p)
{
    return document_slice(d, symbol_extent(d, p));
}

bool symbol_from(const struct document *d, size_t line, struct place *out)
{
    while (line < d->line_count && d->lines[line].count == 0)
        line++;
    *out = (struct place){line, 0};
    return line < d->line_count;
}

bool symbol_next(const struct document *d, struct place *p)
{
    struct place next = {p->line, p->k + 1};
    if (next.k >= d->lines[p->line].count && !symbol_from(d, p->line + 1, &next))
        return false;
    *p = next;
    return true;
}

bool symbol_previous(const struct document *d, struct place *p)
{
    size_t line = p->line, k = p->k;
    while (k == 0) {
        if (line == 0)
            return false;
        k = d->lines[--line].count;
    }
    *p = (struct place){line, k - 1};
    return true;
}

/* The number of symbols of the line that begin before the offset. */
static size_t begun(const struct document *d, size_t line, size_t offset)
{
    const struct line *l = &d->lines[line];
    size_t k = 0;
    BISECT(k, l->count, middle, l->begin + (size_t)l->symbols[middle].column < offset);
    return k;
}

bool symbol_at(const struct document *d, size_t offset, struct place *out)
{
    const size_t line = document_line_of(d, offset);
    const size_t k = begun(d, line, offset + 1);
    for (size_t back = 1; back <= 2 && back <= k; back++) {
        const struct place p = {line, k - back};
        const struct extent e = symbol_extent(d, p);
        if (offset < e.begin || offset > e.end || e.begin == e.end)
            continue;
        *out = p;
        return true;
    }
    return false;
}

bool symbol_before(const struct document *d, size_t offset, unsigned kinds, struct place *out)
{
    const size_t line = document_line_of(d, offset);
    struct place p = {line, begun(d, line, offset)};
    while (symbol_previous(d, &p)) {
        if (!symbol_is(symbol_get(d, p), kinds))
            continue;
        *out = p;
        return true;
    }
    return false;
}

/* ---- scopes ---- */

unsigned symbol_kinds(const struct document *d, struct place p)
{
    const struct symbol *s = symbol_get(d, p);
    return symbol_is(s, INST_KINDS)          ? (unsigned)INST_KINDS
           : symbol_is(s, COMPUTATION_KINDS) ? (unsigned)COMPUTATION_KINDS
                                             : 0;
}

struct symbol_scope symbol_scope(const struct document *d, struct place p)
{
    unsigned bounds = KIND(PIECE_MODULE);
    if (symbol_is(symbol_get(d, p), INST_KINDS))
        bounds |= KIND(PIECE_COMPUTATION);
    struct symbol_scope s = {p, p};
    while (!symbol_is(symbol_get(d, s.from), bounds) && symbol_previous(d, &s.from))
        ;
    do {
        if (symbol_next(d, &s.to))
            continue;
        s.to = (struct place){d->line_count, 0};
        break;
    } while (!symbol_is(symbol_get(d, s.to), bounds));
    return s;
}

static bool is_before(struct place a, struct place b)
{
    return a.line < b.line || (a.line == b.line && a.k < b.k);
}

bool symbol_find(const struct document *d, const struct symbol_scope *in, struct str name,
                 unsigned kinds, struct place *p)
{
    const uint32_t hash = (uint32_t)hash_bytes(name.ptr, name.len);
    for (bool more = is_before(*p, in->to); more;
         more = symbol_next(d, p) && is_before(*p, in->to)) {
        const struct symbol *s = symbol_get(d, *p);
        if (s->hash == hash && symbol_is(s, kinds) && str_eq(symbol_name(d, *p), name))
            return true;
    }
    return false;
}

bool symbol_definition(const struct document *d, struct place p, struct place *out)
{
    const unsigned kinds = symbol_kinds(d, p) & (KIND(PIECE_INST) | KIND(PIECE_COMPUTATION));
    const struct symbol_scope scope = symbol_scope(d, p);
    *out = scope.from;
    return kinds && symbol_find(d, &scope, symbol_name(d, p), kinds, out);
}

struct str symbol_computation(const struct document *d, struct place p)
{
    const struct symbol_scope scope = symbol_scope(d, p);
    return symbol_is(symbol_get(d, scope.from), KIND(PIECE_COMPUTATION))
               ? symbol_name(d, scope.from)
               : STR("");
}

/* ---- texts of definitions ---- */

struct str symbol_shape(const struct document *d, struct place inst, size_t *at)
{
    const struct extent line = document_line(d, inst.line);
    const struct str text = {document_text(d).ptr, line.end};
    size_t begin = symbol_extent(d, inst).end;
    while (begin < text.len && text.ptr[begin] != '=')
        begin++;
    begin += begin < text.len;
    while (begin < text.len && char_is_blank(text.ptr[begin]))
        begin++;
    if (at)
        *at = begin;
    const struct str right = {text.ptr + begin, text.len - begin};
    return (struct str){right.ptr, right.len ? syntax_shape_end(right, 0) : 0};
}

/* The end of the text without blanks, and without the beginning of another instruction. */
static size_t trimmed_end(struct str text)
{
    size_t end = text.len;
    while (end > 0 && (char_is_blank(text.ptr[end - 1]) || text.ptr[end - 1] == '%'))
        end--;
    if (str_ends((struct str){text.ptr, end}, STR(" ROOT")))
        return trimmed_end((struct str){text.ptr, end - 5});
    return end;
}

struct extent symbol_whole(const struct document *d, struct place p)
{
    const bool inst = symbol_is(symbol_get(d, p), KIND(PIECE_INST));
    const unsigned ends = KIND(PIECE_END) | KIND(PIECE_COMPUTATION) | KIND(PIECE_MODULE) |
                          (inst ? KIND(PIECE_INST) : 0);
    struct extent e = symbol_extent(d, p);
    struct place q = p;
    size_t end = d->text.size;
    while (symbol_next(d, &q)) {
        const struct symbol *s = symbol_get(d, q);
        if (!symbol_is(s, ends))
            continue;
        const struct extent other = symbol_extent(d, q);
        /* The next definition begins with its line. */
        end = !inst && symbol_is(s, KIND(PIECE_END))              ? other.end
              : q.line > p.line && !symbol_is(s, KIND(PIECE_END)) ? d->lines[q.line].begin
                                                                  : other.begin;
        break;
    }
    if (inst)
        end = trimmed_end(document_slice(d, (struct extent){0, end}));
    return (struct extent){e.begin, end > e.end ? end : e.end};
}
