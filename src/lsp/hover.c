/*
 * lsp/hover: what is known about the name, operation or attribute at a position, in Markdown.
 */
#include "lsp/lsp_priv.h"

enum { CODE_LENGTH = 400 }; /* longer definitions are cut off */

/* ---- operations and attributes ---- */

static void put_attribute(struct buf *out, size_t op, size_t i, const struct hlo_op_attribute *a)
{
    const char *word;
    buf_printf(out, "`%s=` *%s*%s: %s", a->name, a->kind, a->required ? ", required" : "", a->help);
    for (size_t k = 0; (word = hlo_op_attribute_word(op, i, k)); k++)
        buf_printf(out, "%s`%s`", k ? ", " : " One of: ", word);
    buf_putc(out, '\n');
}

static void put_op_line(struct buf *out, struct str name)
{
    const size_t op = op_number(name);
    if (op == hlo_op_count())
        return;
    const struct hlo_op o = hlo_op_get(op);
    buf_printf(out, "`%s(%s)`: %s\n", o.name, o.form, o.help);
}

static void put_op(struct buf *out, struct str name)
{
    struct hlo_op_attribute a;
    const size_t op = op_number(name);
    if (op == hlo_op_count())
        return;
    const struct hlo_op o = hlo_op_get(op);
    const char *paragraph = strstr(o.rule, "\n\n");
    put_op_line(out, name);
    buf_putc(out, '\n');
    buf_bytes(out, o.rule, paragraph ? (size_t)(paragraph - o.rule) : strlen(o.rule));
    buf_puts(out, "\n\n");
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        buf_puts(out, "- ");
        put_attribute(out, op, i, &a);
    }
}

static void put_attribute_of(struct buf *out, size_t op, struct str name)
{
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++)
        if (str_is(name, a.name))
            put_attribute(out, op, i, &a);
}

/* ---- pieces of lines ---- */

struct finder {
    size_t offset;
    struct extent op;    /* the last operation up to the offset */
    struct extent found; /* the piece at the offset */
    enum piece kind;
};

static void find_piece(void *context, enum piece kind, struct extent at)
{
    struct finder *f = context;
    if (kind == PIECE_OP && at.begin <= f->offset)
        f->op = at;
    if (at.begin <= f->offset && f->offset <= at.end &&
        (kind == PIECE_OP || kind == PIECE_ATTRIBUTE)) {
        f->found = at;
        f->kind = kind;
    }
}

/* Scans the instruction at the offset, up to the end of its line. */
static struct finder find_at(const struct call *c, const struct document *d, size_t offset)
{
    struct finder f = {.offset = offset, .kind = PIECE_END};
    struct place inst;
    const size_t last = document_line_of(d, offset);
    const size_t first = symbol_before(d, offset, KIND(PIECE_INST), &inst) ? inst.line : last;
    struct scan_state state = first ? d->lines[first - 1].end : (struct scan_state){0};
    const struct scan_sink sink = {&f, find_piece};
    for (size_t line = first; line <= last; line++)
        scan_line(&c->s->words, document_text(d), document_line(d, line), &state, &sink);
    return f;
}

static void hover_piece(struct call *c, const struct document *d, size_t offset, struct buf *out,
                        struct extent *range)
{
    const struct finder f = find_at(c, d, offset);
    const struct str name = document_slice(d, f.found);
    *range = f.found;
    if (f.kind == PIECE_OP)
        put_op(out, name);
    if (f.kind != PIECE_ATTRIBUTE)
        return;
    put_attribute_of(out, op_number(document_slice(d, f.op)), name);
    if (out->size == 0)
        put_attribute_of(out, hlo_op_count(), name);
}

/* ---- names ---- */

static void put_code(struct buf *out, struct str text)
{
    const size_t length = str_char_start(text, text.len < CODE_LENGTH ? text.len : CODE_LENGTH);
    buf_puts(out, "```hlo\n");
    buf_bytes(out, text.ptr, length);
    buf_puts(out, length < text.len ? " ...\n```\n" : "\n```\n");
}

static void put_value(struct call *c, struct part *part, size_t inst, struct buf *out)
{
    const hlo_literal *value = part_value(c, part, inst);
    if (!value && part->problem)
        buf_printf(out, "\nno value: %s\n", part->problem);
    if (!value)
        return;
    SCOPED_TEXT text = hlo_literal_summary(value);
    if (text.data)
        buf_printf(out, "\nvalue: `%s`\n", text.data);
}

/* The opcode in the definition of an instruction; empty: none. */
static struct str op_of(const struct call *c, const struct document *d, struct place inst)
{
    return document_slice(d, find_at(c, d, symbol_whole(d, inst).end).op);
}

static void hover_inst(struct call *c, struct document *d, struct place inst, struct buf *out)
{
    struct part *part;
    put_code(out, document_slice(d, symbol_whole(d, inst)));
    const long i = analysis_find(d, inst, &part);
    const struct hlo_listed l =
        i >= 0 ? hlo_list_inst(part->list, (size_t)i) : (struct hlo_listed){.shape = ""};
    const struct str written = symbol_shape(d, inst, NULL);
    if (written.len || *l.shape)
        buf_printf(out, "\nshape: `" STR_FMT "`\n",
                   STR_ARG(written.len ? written : str_of(l.shape)));
    if (i >= 0 && *l.where)
        buf_printf(out, "\ntraced from `%s`%s%s%s\n", l.where, *l.op_name ? ", `" : "", l.op_name,
                   *l.op_name ? "`" : "");
    if (i >= 0)
        put_value(c, part, (size_t)i, out);
    buf_putc(out, '\n');
    put_op_line(out, op_of(c, d, inst));
}

static void hover_computation(const struct document *d, struct place p, struct buf *out)
{
    const struct extent e = symbol_whole(d, p), line = document_line(d, p.line);
    size_t insts = 0;
    struct place q = p;
    while (symbol_next(d, &q) && symbol_extent(d, q).begin < e.end)
        insts += symbol_get(d, q)->kind == PIECE_INST;
    put_code(out, document_slice(d, (struct extent){e.begin, line.end < e.end ? line.end : e.end}));
    buf_printf(out, "\n%zu instruction%s\n", insts, insts == 1 ? "" : "s");
}

bool lsp_hover(struct call *c)
{
    struct document *d = c->d;
    struct place p, definition;
    struct extent range = {0, 0};
    SCOPED_BUF text = {0};
    if (symbol_at(d, c->offset, &p)) {
        range = symbol_extent(d, p);
        if (symbol_definition(d, p, &definition)) {
            if (symbol_get(d, definition)->kind == PIECE_INST)
                hover_inst(c, d, definition, &text);
            else
                hover_computation(d, definition, &text);
        }
    } else {
        hover_piece(c, d, c->offset, &text, &range);
    }
    if (text.size > 0) {
        buf_puts(&c->result, "{\"contents\":{\"kind\":\"markdown\"");
        buf_json_text(&c->result, "value", buf_view(&text));
        buf_putc(&c->result, '}');
        put_range(&c->result, "range", d, range);
        buf_putc(&c->result, '}');
    }
    return true;
}
