/*
 * hlo ops --json: everything that is known about an operation, as a JSON object.
 */
#include "cli/ops.h"

static void put_text(struct buf *out, const char *key, const char *value)
{
    buf_printf(out, "\"%s\":", key);
    buf_json_str(out, str_of(value));
}

static void put_types(struct buf *out, size_t op)
{
    const char *dtype, *comma = "";
    buf_puts(out, ",\"types\":[");
    for (size_t i = 0; ops_is_typed(op) && (dtype = hlo_dtype_name(i)); i++) {
        if (!hlo_dtype_is_array(i) || !ops_accepts(op, dtype))
            continue;
        buf_printf(out, "%s\"%s\"", comma, dtype);
        comma = ",";
    }
    buf_putc(out, ']');
}

static void put_words(struct buf *out, size_t op, size_t attribute)
{
    const char *word;
    buf_puts(out, ",\"words\":[");
    for (size_t i = 0; (word = hlo_op_attribute_word(op, attribute, i)); i++) {
        buf_puts(out, i ? "," : "");
        buf_json_str(out, str_of(word));
    }
    buf_putc(out, ']');
}

static void put_attributes(struct buf *out, size_t op)
{
    struct hlo_op_attribute a;
    buf_puts(out, ",\"attributes\":[");
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        buf_puts(out, i ? ",{" : "{");
        put_text(out, "name", a.name);
        buf_putc(out, ',');
        put_text(out, "kind", a.kind);
        buf_putc(out, ',');
        put_text(out, "help", a.help);
        buf_printf(out, ",\"required\":%s", a.required ? "true" : "false");
        put_words(out, op, i);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* Writes literals, one per line, as a list. */
static void put_args(struct buf *out, const char *args)
{
    buf_puts(out, "\"args\":[");
    for (const char *at = args; *at; at += *at == '\n') {
        size_t n = strcspn(at, "\n");
        buf_puts(out, at == args ? "" : ",");
        buf_json_str(out, (struct str){at, n});
        at += n;
    }
    buf_putc(out, ']');
}

static void put_examples(struct buf *out, size_t op)
{
    struct hlo_op_example e;
    buf_puts(out, ",\"examples\":[");
    for (size_t i = 0; hlo_op_example(op, i, &e); i++) {
        hlo_text module = hlo_op_example_text(op, i, NULL, NULL);
        buf_puts(out, i ? ",{" : "{");
        put_args(out, e.args);
        buf_putc(out, ',');
        put_text(out, "module", module.data);
        buf_putc(out, ',');
        put_text(out, "result", e.result);
        buf_putc(out, '}');
        hlo_text_free(&module);
    }
    buf_putc(out, ']');
}

void put_op_json(struct buf *out, size_t i)
{
    const struct hlo_op op = hlo_op_get(i);
    const char *const texts[][2] = {{"name", op.name}, {"form", op.form},     {"help", op.help},
                                    {"rule", op.rule}, {"family", op.family}, {"specification", op.spec}};
    for (size_t k = 0; k < COUNT_OF(texts); k++) {
        buf_putc(out, k ? ',' : '{');
        put_text(out, texts[k][0], texts[k][1]);
    }
    buf_printf(out, ",\"min_operands\":%d,\"max_operands\":", op.min_operands);
    buf_printf(out, op.max_operands < 0 ? "null" : "%d", op.max_operands);
    put_types(out, i);
    put_attributes(out, i);
    put_examples(out, i);
    buf_putc(out, '}');
}
