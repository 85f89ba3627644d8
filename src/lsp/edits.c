/*
 * lsp/edits: formatting, and code actions with the replacements that diagnostics suggest.
 */
#include "lsp/lsp_priv.h"

/* Appends the canonical text of all modules. */
static void put_canonical(const struct analysis *a, struct buf *out)
{
    for (size_t i = 0; i < a->part_count; i++) {
        SCOPED_TEXT text = hlo_print(a->parts[i].module, HLO_PRINT_COMMENTED);
        struct str s = {text.data ? text.data : "", text.size};
        while (s.len > 0 && s.ptr[s.len - 1] == '\n')
            s.len--;
        if (i > 0)
            buf_puts(out, "// -----\n");
        buf_str(out, s);
        buf_putc(out, '\n');
    }
}

static size_t line_start(struct str s, size_t at)
{
    while (at > 0 && s.ptr[at - 1] != '\n')
        at--;
    return at;
}

/* The lines that differ: returns those of `old`, and reduces `text` to its own. */
static struct extent changed_lines(struct str old, struct str *text)
{
    const size_t shorter = old.len < text->len ? old.len : text->len;
    size_t head = 0, tail = 0;
    while (head < shorter && old.ptr[head] == text->ptr[head])
        head++;
    head = line_start(old, head);
    while (tail < shorter - head && old.ptr[old.len - 1 - tail] == text->ptr[text->len - 1 - tail])
        tail++;
    while (tail > 0 && tail < old.len && old.ptr[old.len - tail - 1] != '\n')
        tail--; /* to a line start of the old text, and so of the new one */
    const struct extent e = {head, old.len - tail};
    *text = (struct str){text->ptr + head, text->len - tail - head};
    return e;
}

bool lsp_formatting(struct call *c)
{
    struct document *d = c->d;
    SCOPED_BUF canonical = {0};
    analyse(d);
    if (!d->analysis.valid)
        return call_fail(c, LSP_FAILED, "the text has errors");
    put_canonical(&d->analysis, &canonical);
    struct str text = buf_view(&canonical);
    const struct extent e = changed_lines(document_text(d), &text);
    if (e.end > e.begin || text.len > 0)
        put_edit(&c->result, d, e, text);
    return true;
}

static void put_fix(struct call *c, const struct document *d, const struct diagnostic *fix)
{
    struct buf *out = &c->result;
    SCOPED_BUF title = {0};
    buf_printf(&title, "replace '" STR_FMT "' with '" STR_FMT "'",
               STR_ARG(document_slice(d, fix->at)), STR_ARG(fix->suggestion));
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "title", buf_view(&title));
    buf_json_text(out, "kind", STR("quickfix"));
    buf_json_bool(out, "isPreferred", true);
    buf_json_open(out, "edit", '{');
    buf_json_open(out, "changes", '{');
    buf_json_open(out, d->uri, '[');
    buf_json_key(out, NULL);
    put_edit(out, d, fix->at, fix->suggestion);
    buf_puts(out, "]}}}");
}

bool lsp_code_action(struct call *c)
{
    analyse(c->d);
    for (size_t i = 0; i < c->d->analysis.fix_count; i++) {
        const struct diagnostic *fix = &c->d->analysis.fixes[i];
        if (fix->at.begin <= c->range.end && c->range.begin <= fix->at.end)
            put_fix(c, c->d, fix);
    }
    return true;
}
