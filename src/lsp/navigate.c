/*
 * lsp/navigate: definitions, references and renaming.
 */
#include "lsp/lsp_priv.h"

#include "text/token.h"

/* The document, and the symbol at the position of the request. False after reporting an error, or
 * without one if there is no symbol. */
static bool find_symbol(struct call *c, struct document **d, struct place *p, bool *failed)
{
    size_t offset;
    *d = call_document(c);
    *failed = !*d || !call_offset(c, *d, &offset);
    return !*failed && symbol_at(*d, offset, p) && symbol_kinds(*d, *p) != 0;
}

bool lsp_definition(struct call *c)
{
    struct document *d;
    struct place p, definition;
    bool failed;
    if (!find_symbol(c, &d, &p, &failed))
        return !failed;
    if (symbol_definition(d, p, &definition))
        put_location(&c->result, d, symbol_extent(d, definition));
    return true;
}

/* Calls `put` for all symbols that are the same as the one at `p`. */
static void each_same(struct call *c, const struct document *d, struct place p, unsigned kinds,
                      void (*put)(struct call *c, const struct document *d, struct place p))
{
    const struct symbol_scope scope = symbol_scope(d, p);
    const struct str name = symbol_name(d, p);
    struct place at = scope.from;
    buf_putc(&c->result, '[');
    while (symbol_find(d, &scope, name, kinds & symbol_kinds(d, p), &at)) {
        put(c, d, at);
        if (!symbol_next(d, &at))
            break;
    }
    buf_putc(&c->result, ']');
}

static void put_reference(struct call *c, const struct document *d, struct place p)
{
    buf_json_key(&c->result, NULL);
    put_location(&c->result, d, symbol_extent(d, p));
}

bool lsp_references(struct call *c)
{
    struct document *d;
    struct place p;
    bool failed;
    const struct dict_value *context = member(c->params, "context", DICT_DICT),
                            *all = member(context, "includeDeclaration", DICT_BOOL);
    const unsigned definitions = KIND(PIECE_INST) | KIND(PIECE_COMPUTATION);
    if (!find_symbol(c, &d, &p, &failed))
        return !failed;
    each_same(c, d, p, !all || all->i ? ~0u : ~definitions, put_reference);
    return true;
}

static void put_highlight(struct call *c, const struct document *d, struct place p)
{
    const bool writes = symbol_is(symbol_get(d, p), KIND(PIECE_INST) | KIND(PIECE_COMPUTATION));
    buf_json_open(&c->result, NULL, '{');
    put_range(&c->result, "range", d, symbol_extent(d, p));
    buf_json_count(&c->result, "kind", writes ? 3 : 2);
    buf_putc(&c->result, '}');
}

bool lsp_highlight(struct call *c)
{
    struct document *d;
    struct place p;
    bool failed;
    if (!find_symbol(c, &d, &p, &failed))
        return !failed;
    each_same(c, d, p, ~0u, put_highlight);
    return true;
}

/* ---- renaming ---- */

bool lsp_prepare_rename(struct call *c)
{
    struct document *d;
    struct place p;
    bool failed;
    if (!find_symbol(c, &d, &p, &failed))
        return !failed;
    buf_putc(&c->result, '{');
    put_range(&c->result, "range", d, symbol_extent(d, p));
    buf_json_text(&c->result, "placeholder", symbol_name(d, p));
    buf_putc(&c->result, '}');
    return true;
}

/* Whether the text is a name, also without %. */
static bool is_valid_name(struct str name)
{
    const struct text_token t = text_token_at(name, 0);
    return name.len > 0 && t.kind == TOK_IDENT && t.begin == 0 && t.end == name.len;
}

static bool check_name(struct call *c, const struct document *d, struct place p, struct str name)
{
    const struct symbol_scope scope = symbol_scope(d, p);
    struct place clash = scope.from;
    const unsigned kinds = symbol_kinds(d, p);
    if (!is_valid_name(name))
        return call_fail(c, LSP_PARAMS, "'" STR_FMT "' is not a valid name", STR_ARG(name));
    if (!str_eq(name, symbol_name(d, p)) && symbol_find(d, &scope, name, kinds, &clash))
        return call_fail(c, LSP_FAILED, "the name '" STR_FMT "' is used on line %zu", STR_ARG(name),
                         clash.line + 1);
    return true;
}

static void put_rename(struct call *c, const struct document *d, struct place p)
{
    struct str name = member(c->params, "newName", DICT_STRING)->s;
    if (str_starts(name, STR("%")))
        name = (struct str){name.ptr + 1, name.len - 1};
    buf_json_key(&c->result, NULL);
    put_edit(&c->result, d, symbol_extent(d, p), name);
}

bool lsp_rename(struct call *c)
{
    struct document *d;
    struct place p;
    bool failed;
    const struct dict_value *v = member(c->params, "newName", DICT_STRING);
    if (!v)
        return call_fail(c, LSP_PARAMS, "missing 'newName'");
    if (!find_symbol(c, &d, &p, &failed))
        return failed ? false : call_fail(c, LSP_FAILED, "no name at this position");
    const bool percent = str_starts(v->s, STR("%"));
    if (!check_name(c, d, p, (struct str){v->s.ptr + percent, v->s.len - percent}))
        return false;
    buf_puts(&c->result, "{\"changes\":{");
    buf_json_key(&c->result, d->uri);
    each_same(c, d, p, ~0u, put_rename);
    buf_puts(&c->result, "}}");
    return true;
}
