/*
 * lsp/outline: document symbols, folding ranges, and inlay hints for shapes that are not written.
 */
#include "lsp/lsp_priv.h"

enum { KIND_FUNCTION = 12, KIND_VARIABLE = 13 }; /* of the protocol */

/* ---- symbols ---- */

static void open_symbol(struct buf *out, const struct document *d, struct place p,
                        struct str detail, int kind)
{
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "name", symbol_name(d, p));
    if (detail.len)
        buf_json_text(out, "detail", detail);
    buf_json_int(out, "kind", kind);
    put_range(out, "range", d, symbol_whole(d, p));
    put_range(out, "selectionRange", d, symbol_extent(d, p));
}

bool lsp_symbols(struct call *c)
{
    const struct document *d = c->d;
    struct buf *out = &c->result;
    struct place p;
    bool inside = false;
    for (bool more = symbol_from(d, 0, &p); more; more = symbol_next(d, &p)) {
        const struct symbol *s = symbol_get(d, p);
        if (inside && symbol_is(s, KIND(PIECE_COMPUTATION) | KIND(PIECE_MODULE))) {
            buf_puts(out, "]}");
            inside = false;
        }
        if (s->kind == PIECE_COMPUTATION) {
            open_symbol(out, d, p, STR(""), KIND_FUNCTION);
            buf_json_open(out, "children", '[');
            inside = true;
        } else if (s->kind == PIECE_INST) {
            open_symbol(out, d, p, symbol_shape(d, p, NULL), KIND_VARIABLE);
            buf_putc(out, '}');
        }
    }
    buf_puts(out, inside ? "]}" : "");
    return true;
}

/* ---- folding ---- */

static void put_fold(struct buf *out, size_t first, size_t last, const char *kind)
{
    if (last <= first)
        return;
    buf_json_open(out, NULL, '{');
    buf_json_count(out, "startLine", first);
    buf_json_count(out, "endLine", last);
    if (kind)
        buf_json_text(out, "kind", str_of(kind));
    buf_putc(out, '}');
}

static bool is_comment_line(const struct document *d, size_t line)
{
    return str_starts(str_trim(document_slice(d, document_line(d, line))), STR("//"));
}

static void put_comment_folds(struct buf *out, const struct document *d)
{
    for (size_t line = 0, last; line < d->line_count; line = last + 1) {
        last = line;
        if (!is_comment_line(d, line))
            continue;
        while (last + 1 < d->line_count && is_comment_line(d, last + 1))
            last++;
        put_fold(out, line, last, "comment");
    }
}

bool lsp_folding(struct call *c)
{
    const struct document *d = c->d;
    struct place p;
    size_t first = 0;
    for (bool more = symbol_from(d, 0, &p); more; more = symbol_next(d, &p)) {
        const struct symbol *s = symbol_get(d, p);
        if (s->kind == PIECE_COMPUTATION)
            first = p.line;
        else if (s->kind == PIECE_END && p.line > 0)
            put_fold(&c->result, first, p.line - 1, NULL); /* the closing brace stays visible */
    }
    put_comment_folds(&c->result, d);
    return true;
}

/* ---- inlay hints ---- */

static void put_hint(struct call *c, struct document *d, struct place inst)
{
    size_t at;
    if (symbol_shape(d, inst, &at).len)
        return;
    const struct str shape = analysis_shape(d, inst);
    if (shape.len == 0)
        return;
    buf_json_open(&c->result, NULL, '{');
    put_position(&c->result, "position", document_position(d, at));
    buf_json_text(&c->result, "label", shape);
    buf_json_count(&c->result, "kind", 1);
    buf_json_bool(&c->result, "paddingRight", true);
    buf_putc(&c->result, '}');
}

bool lsp_inlay_hint(struct call *c)
{
    struct document *d = c->d;
    struct place p;
    const size_t first = document_line_of(d, c->range.begin),
                 last = document_line_of(d, c->range.end);
    for (bool more = symbol_from(d, first, &p); more && p.line <= last; more = symbol_next(d, &p))
        if (symbol_get(d, p)->kind == PIECE_INST)
            put_hint(c, d, p);
    return true;
}
