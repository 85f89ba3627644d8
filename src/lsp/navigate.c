/*
 * lsp/navigate: definitions, references and renaming.
 */
#include "lsp/lsp_priv.h"

#include "text/token.h"

bool lsp_definition(struct call *c)
{
    struct place definition;
    if (symbol_definition(c->d, c->symbol, &definition))
        put_location(&c->result, c->d, symbol_extent(c->d, definition));
    return true;
}

/* Calls `put` for all symbols that are the same as that of the request. */
static bool each_same(struct call *c, unsigned kinds, void (*put)(struct call *c, struct place p))
{
    const struct symbol_scope scope = symbol_scope(c->d, c->symbol);
    const struct str name = symbol_name(c->d, c->symbol);
    struct place at = scope.from;
    while (symbol_find(c->d, &scope, name, kinds & symbol_kinds(c->d, c->symbol), &at)) {
        put(c, at);
        if (!symbol_next(c->d, &at))
            break;
    }
    return true;
}

static void put_reference(struct call *c, struct place p)
{
    buf_json_key(&c->result, NULL);
    put_location(&c->result, c->d, symbol_extent(c->d, p));
}

bool lsp_references(struct call *c)
{
    const struct dict_value *context = dict_member(c->params, "context", DICT_DICT),
                            *all = dict_member(context, "includeDeclaration", DICT_BOOL);
    const unsigned definitions = KIND(PIECE_INST) | KIND(PIECE_COMPUTATION);
    return each_same(c, !all || all->i ? ~0u : ~definitions, put_reference);
}

static void put_highlight(struct call *c, struct place p)
{
    const bool writes = symbol_is(symbol_get(c->d, p), KIND(PIECE_INST) | KIND(PIECE_COMPUTATION));
    buf_json_open(&c->result, NULL, '{');
    put_range(&c->result, "range", c->d, symbol_extent(c->d, p));
    buf_json_count(&c->result, "kind", writes ? 3 : 2);
    buf_putc(&c->result, '}');
}

bool lsp_highlight(struct call *c) { return each_same(c, ~0u, put_highlight); }

/* ---- renaming ---- */

bool lsp_prepare_rename(struct call *c)
{
    buf_putc(&c->result, '{');
    put_range(&c->result, "range", c->d, symbol_extent(c->d, c->symbol));
    buf_json_text(&c->result, "placeholder", symbol_name(c->d, c->symbol));
    buf_putc(&c->result, '}');
    return true;
}

/* Whether the text is a name, also without %. */
static bool is_valid_name(struct str name)
{
    const struct text_token t = text_token_at(name, 0);
    return name.len > 0 && t.kind == TOK_IDENT && t.begin == 0 && t.end == name.len;
}

static bool check_name(struct call *c, struct str name)
{
    const struct document *d = c->d;
    const struct symbol_scope scope = symbol_scope(d, c->symbol);
    struct place clash = scope.from;
    const unsigned kinds = symbol_kinds(d, c->symbol);
    if (!is_valid_name(name))
        return call_fail(c, LSP_PARAMS, "'" STR_FMT "' is not a valid name", STR_ARG(name));
    if (!str_eq(name, symbol_name(d, c->symbol)) && symbol_find(d, &scope, name, kinds, &clash))
        return call_fail(c, LSP_FAILED, "the name '" STR_FMT "' is used on line %zu", STR_ARG(name),
                         clash.line + 1);
    return true;
}

static void put_rename(struct call *c, struct place p)
{
    struct str name = dict_member(c->params, "newName", DICT_STRING)->s;
    if (str_starts(name, STR("%")))
        name = str_skip(name, 1);
    buf_json_key(&c->result, NULL);
    put_edit(&c->result, c->d, symbol_extent(c->d, p), name);
}

bool lsp_rename(struct call *c)
{
    const struct dict_value *v = dict_member(c->params, "newName", DICT_STRING);
    if (!v)
        return call_fail(c, LSP_PARAMS, "missing 'newName'");
    if (!call_symbol(c))
        return call_fail(c, LSP_FAILED, "no name at this position");
    const bool percent = str_starts(v->s, STR("%"));
    if (!check_name(c, (struct str){v->s.ptr + percent, v->s.len - percent}))
        return false;
    buf_puts(&c->result, "{\"changes\":{");
    buf_json_open(&c->result, c->d->uri, '[');
    each_same(c, ~0u, put_rename);
    buf_puts(&c->result, "]}}");
    return true;
}
