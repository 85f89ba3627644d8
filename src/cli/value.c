/*
 * Values and times as text: `f32[2] {1, 2}`; a tuple with one element per line.
 */
#include "cli/cli.h"

void put_value(struct buf *out, const hlo_literal *l, const struct hlo_view *v)
{
    const struct hlo_view all = {.size = sizeof all, .most = SIZE_MAX, .width = SIZE_MAX};
    hlo_text text = hlo_literal_show(l, v ? v : &all);
    buf_bytes(out, text.data, text.size);
    hlo_text_free(&text);
}

void put_item(struct buf *out, const hlo_literal *l)
{
    struct buf b = {0};
    put_value(&b, l, NULL);
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

void put_csv_field(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            buf_putc(out, '"');
        buf_putc(out, *text);
    }
    buf_puts(out, "\",");
}

void put_seconds(struct buf *out, double s)
{
    if (s >= 1)
        buf_printf(out, "%8.3f s ", s);
    else if (s >= 1e-3)
        buf_printf(out, "%8.3f ms", s * 1e3);
    else
        buf_printf(out, "%8.3f us", s * 1e6);
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
