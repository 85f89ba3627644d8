/*
 * lsp/semantic: semantic tokens, by the pieces of the scanner.
 */
#include "lsp/lsp_priv.h"

static const char *const types[] = {
    [PIECE_KEYWORD] = "keyword",
    [PIECE_TYPE] = "type",
    [PIECE_OP] = "method",
    [PIECE_ATTRIBUTE] = "property",
    [PIECE_STRING] = "string",
    [PIECE_NUMBER] = "number",
    [PIECE_COMMENT] = "comment",
    [PIECE_INST] = "variable",
    [PIECE_INST_USE] = "variable",
    [PIECE_PARAM] = "parameter",
    [PIECE_COMPUTATION] = "function",
    [PIECE_COMPUTATION_USE] = "function",
    [PIECE_END] = "operator",
    [PIECE_MODULE] = "namespace",
};

void put_semantic_legend(struct buf *out)
{
    buf_json_open(out, "tokenTypes", '[');
    for (size_t i = 0; i < COUNT_OF(types); i++)
        buf_json_text(out, NULL, str_of(types[i]));
    buf_putc(out, ']');
    buf_json_open(out, "tokenModifiers", '[');
    buf_json_text(out, NULL, STR("definition"));
    buf_putc(out, ']');
}

struct writer {
    struct buf *out;
    const struct document *d;
    struct position last;
};

static void put_token(void *context, enum piece kind, struct extent at)
{
    struct writer *w = context;
    if (at.end == at.begin || kind == PIECE_END)
        return;
    const struct position p = document_position(w->d, at.begin),
                          q = document_position(w->d, at.end);
    const bool same_line = p.line == w->last.line,
               definition = kind == PIECE_INST || kind == PIECE_COMPUTATION;
    const uint32_t numbers[] = {p.line - w->last.line,
                                same_line ? p.character - w->last.character : p.character,
                                q.character - p.character, kind, definition};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        buf_json_count(w->out, NULL, numbers[i]);
    w->last = p;
}

/* For the whole document, or for params.range. */
bool lsp_semantic_tokens(struct call *c)
{
    const struct document *d = c->d;
    const size_t first = document_line_of(d, c->range.begin),
                 last = document_line_of(d, c->range.end);
    struct scan_state state = first ? d->lines[first - 1].end : (struct scan_state){0};
    struct writer w = {&c->result, d, {0, 0}};
    const struct scan_sink sink = {&w, put_token};
    buf_puts(&c->result, "{\"data\":[");
    for (size_t line = first; line <= last; line++)
        scan_line(&c->s->words, document_text(d), document_line(d, line), &state, &sink);
    buf_puts(&c->result, "]}");
    return true;
}
