/*
 * hlo ops --json: an operation with all its properties as a JSON object.
 */
#include "cli/ops.h"

static void put_types(struct buf *out, size_t op)
{
    const char *dtype;
    buf_json_open(out, "types", '[');
    for (size_t i = 0; ops_types(op) > 0 && (dtype = hlo_dtype_name(i)); i++)
        if (hlo_dtype_is_array(i) && ops_accepts(op, dtype))
            buf_json_text(out, NULL, str_of(dtype));
    buf_putc(out, ']');
}

static void put_attributes(struct buf *out, size_t op)
{
    struct hlo_op_attribute a;
    const char *word;
    buf_json_open(out, "attributes", '[');
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        buf_json_open(out, NULL, '{');
        buf_json_text(out, "name", str_of(a.name));
        buf_json_text(out, "kind", str_of(a.kind));
        buf_json_text(out, "help", str_of(a.help));
        buf_json_bool(out, "required", a.required);
        buf_json_open(out, "words", '[');
        for (size_t k = 0; (word = hlo_op_attribute_word(op, i, k)); k++)
            buf_json_text(out, NULL, str_of(word));
        buf_puts(out, "]}");
    }
    buf_putc(out, ']');
}

static void put_examples(struct buf *out, size_t op)
{
    struct hlo_op_example e;
    buf_json_open(out, "examples", '[');
    for (size_t i = 0; hlo_op_example(op, i, &e); i++) {
        buf_json_open(out, NULL, '{');
        buf_json_open(out, "args", '[');
        for (const char *at = e.args; *at; at += strcspn(at, "\n") + 1)
            buf_json_text(out, NULL, (struct str){at, strcspn(at, "\n")});
        buf_putc(out, ']');
        buf_json_text(out, "module", str_of(e.text));
        buf_json_text(out, "result", str_of(e.result));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

void put_op_json(struct buf *out, size_t i)
{
    const struct hlo_op op = hlo_op_get(i);
    const char *const texts[][2] = {{"name", op.name},
                                    {"form", op.form},
                                    {"help", op.help},
                                    {"rule", op.rule},
                                    {"differences", op.differences},
                                    {"family", op.family},
                                    {"specification", op.spec}};
    buf_putc(out, '{');
    for (size_t k = 0; k < COUNT_OF(texts); k++)
        buf_json_text(out, texts[k][0], str_of(texts[k][1]));
    buf_printf(out, ",\"min_operands\":%d,\"max_operands\":", op.min_operands);
    buf_printf(out, op.max_operands < 0 ? "null" : "%d", op.max_operands);
    put_types(out, i);
    put_attributes(out, i);
    put_examples(out, i);
    buf_putc(out, '}');
}
