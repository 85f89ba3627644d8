/*
 * lsp/completion: completion, by the rules of the prompt. Of the text, only the instruction at the
 * cursor is analyzed; names come from the index.
 */
#include "lsp/lsp_priv.h"

#include "repl/complete.h"

/* Names that are offered; more of them are incomplete completions. */
enum { NAME_LIMIT = 1000 };

struct names {
    struct document *d;
    size_t offset; /* of the cursor */
    bool incomplete;
};

static bool adds(struct names *n, struct place p, struct completions *out)
{
    if (!str_starts(symbol_name(n->d, p), out->word))
        return false;
    n->incomplete = out->count >= NAME_LIMIT;
    return !n->incomplete;
}

/* Adds the instructions of the computation, the nearest before the cursor first. */
static void add_insts(void *context, struct completions *out)
{
    struct names *n = context;
    struct place p;
    const unsigned kinds = KIND(PIECE_INST) | KIND(PIECE_COMPUTATION) | KIND(PIECE_MODULE);
    bool own = true; /* the instruction that is being written */
    size_t at = n->offset;
    while (!n->incomplete && symbol_before(n->d, at, kinds, &p)) {
        if (symbol_get(n->d, p)->kind != PIECE_INST)
            return;
        at = symbol_extent(n->d, p).begin;
        if (!own && adds(n, p, out)) {
            struct str shape = symbol_shape(n->d, p, NULL);
            if (shape.len == 0)
                shape = analysis_shape(n->d, p);
            completions_add(out, symbol_name(n->d, p), shape, "");
        }
        own = false;
    }
}

static void add_computations(void *context, struct completions *out)
{
    struct names *n = context;
    struct place p;
    for (bool more = symbol_from(n->d, 0, &p); more && !n->incomplete; more = symbol_next(n->d, &p))
        if (symbol_get(n->d, p)->kind == PIECE_COMPUTATION && adds(n, p, out))
            completions_add(out, symbol_name(n->d, p), STR("computation"), "");
}

/* Where the text that matters begins: at the instruction or computation before the cursor. Whether
 * that is in the body of a computation is written to `inside`. */
static size_t context_begin(const struct document *d, size_t offset, bool *inside)
{
    struct place p;
    const unsigned kinds =
        KIND(PIECE_INST) | KIND(PIECE_COMPUTATION) | KIND(PIECE_END) | KIND(PIECE_MODULE);
    *inside = false;
    if (!symbol_before(d, offset, kinds, &p))
        return 0;
    const struct extent e = symbol_extent(d, p);
    switch (symbol_get(d, p)->kind) {
    case PIECE_INST: *inside = true; return e.begin;
    case PIECE_COMPUTATION: {
        if (offset < e.end) /* in its name */
            return e.begin;
        const char *text = document_text(d).ptr;
        const char *brace = str_last((struct str){text + e.end, offset - e.end}, '{');
        const bool body = brace && (brace[-1] == ' ' || brace[-1] == '\n');
        *inside = body;
        return body ? (size_t)(brace + 1 - text) : e.begin;
    }
    default: return e.end;
    }
}

/* LSP's CompletionItemKind. */
static int kind_of(const struct completion *item)
{
    return str_is(item->tail, "(")   ? 3  /* function */
           : str_is(item->tail, "=") ? 10 /* property */
           : str_is(item->tail, "[") ? 25 /* type parameter */
           : str_is(item->tail, " ") ? 14 /* keyword */
           : item->note.len == 0     ? 12 /* value */
                                     : 6;     /* variable */
}

static void put_items(struct call *c, const struct document *d, struct extent word,
                      const struct completions *all, bool incomplete)
{
    struct buf *out = &c->result;
    SCOPED_BUF text = {0};
    buf_putc(out, '{');
    buf_json_bool(out, "isIncomplete", incomplete);
    buf_json_open(out, "items", '[');
    for (size_t i = 0; i < all->count; i++) {
        const struct completion *item = &all->items[i];
        text.size = 0;
        buf_str(&text, item->text);
        buf_str(&text, item->tail);
        buf_json_open(out, NULL, '{');
        buf_json_text(out, "label", item->text);
        buf_json_int(out, "kind", kind_of(item));
        if (item->note.len)
            buf_json_text(out, "detail", item->note);
        buf_json_key(out, "textEdit");
        put_edit(out, d, word, buf_view(&text));
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}

bool lsp_completion(struct call *c)
{
    struct document *d = c->d;
    const size_t offset = c->offset;
    bool inside;
    struct names names = {d, offset, false};
    const struct complete_source source = {&names, add_insts, NULL, add_computations};
    struct completions all = {0};
    arena_init(&all.arena);
    const size_t begin = context_begin(d, offset, &inside);
    complete_module(&source, document_slice(d, (struct extent){begin, offset}), inside, &all);
    const struct extent word = {offset - all.word.len, offset};
    completions_sort(&all);
    put_items(c, d, word, &all, names.incomplete);
    completions_free(&all);
    return true;
}
