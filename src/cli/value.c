/*
 * Values in print: `f32[2] {1, 2}`; a tuple over lines, one element a line.
 */
#include "cli/cli.h"

static void put_indented(struct buf *out, const hlo_literal *l, int depth)
{
    hlo_text shape = hlo_literal_shape(l);
    if (shape.size > 0 && shape.data[0] == '(') {
        size_t count = hlo_literal_count(l);
        buf_puts(out, "(");
        for (size_t i = 0; i < count; i++) {
            buf_printf(out, "\n%*s", (depth + 1) * 2, "");
            put_indented(out, hlo_literal_element(l, i), depth + 1);
            if (i + 1 < count)
                buf_putc(out, ',');
        }
        if (count > 0)
            buf_printf(out, "\n%*s", depth * 2, "");
        buf_putc(out, ')');
    } else {
        hlo_text values = hlo_literal_print(l, false);
        buf_bytes(out, shape.data, shape.size);
        if (values.size > 0)
            buf_putc(out, ' ');
        buf_bytes(out, values.data, values.size);
        hlo_text_free(&values);
    }
    hlo_text_free(&shape);
}

void put_value(struct buf *out, const hlo_literal *l)
{
    put_indented(out, l, 0);
}

void put_item(struct buf *out, const hlo_literal *l)
{
    struct buf b = {0};
    put_value(&b, l);
    for (size_t i = 0; i < b.size; i++)
        if (b.data[i] != '\n') {
            buf_putc(out, b.data[i]);
        } else {
            if (i > 0 && b.data[i - 1] == ',')
                buf_putc(out, ' ');
            while (i + 1 < b.size && b.data[i + 1] == ' ') /* of the indentation */
                i++;
        }
    buf_putc(out, '\n');
    buf_free(&b);
}

bool put_output(const struct options *o, struct str text, hlo_messages *m)
{
    const char *path = o->value[OPT_OUTPUT];
    if (path && strcmp(path, "-") != 0)
        return hlo_write_text(path, text.ptr, text.len, m);
    if (text.len > 0)
        fwrite(text.ptr, 1, text.len, stdout);
    return true;
}
