/*
 * Fuzz target: any bytes as the text of a value, after an optional first line `[...` with a slice.
 * The printed text and the .npy bytes of an accepted value must read back as the same value; it
 * can be printed in all formats, and its JSON must be well-formed.
 */
#include "base/dict.h"
#include "io/io.h"
#include "look/look.h"
#include "text/text.h"

#include "hlo_advanced.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct literal *read_text(struct arena *a, struct str text)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("fuzz"), text);
    diags_init(&ds, &source);
    struct literal *l = text_parse_literal(&ds, &source, a, NULL);
    if ((l == NULL) != (ds.errors > 0))
        __builtin_trap();
    diags_free(&ds);
    source_free(&source);
    return l;
}

/* NaNs print without their bits. */
static void expect_same(const struct literal *l, const struct literal *other)
{
    struct buf why = {0};
    if (!other || !look_compare(other, l, &HLO_WITH(hlo_tolerance, .zeros = true), &why))
        __builtin_trap();
    buf_free(&why);
}

static void through_text(struct arena *a, const struct literal *l)
{
    struct buf once = {0}, twice = {0};
    text_print_literal_with_shape(&once, l);
    struct literal *again = read_text(a, buf_view(&once));
    expect_same(l, again);
    text_print_literal_with_shape(&twice, again);
    if (!str_eq(buf_view(&once), buf_view(&twice)))
        __builtin_trap();
    literal_free_data(again);
    buf_free(&once);
    buf_free(&twice);
}

static void through_npy(struct arena *a, const struct literal *l)
{
    struct buf b = {0};
    struct diags ds;
    int64_t bytes;
    if (!shape_is_array(l->shape) || !shape_bytes(l->shape, &bytes) || l->shape->dtype == DT_TOKEN)
        return;
    diags_init(&ds, NULL);
    io_npy_header(&b, l->shape);
    buf_bytes(&b, l->data, (size_t)bytes);
    struct literal *again = io_npy_decode(&ds, a, buf_view(&b), NULL, l->shape, STR("it"));
    expect_same(l, again);
    literal_free_data(again);
    diags_free(&ds);
    buf_free(&b);
}

static void expect_json(hlo_text text)
{
    struct arena a;
    struct dict_value d;
    struct dict_error error;
    arena_init(&a);
    if (!dict_read(&a, (struct str){text.data, text.size}, DICT_LOOSE, &d, &error))
        __builtin_trap();
    arena_free(&a);
    hlo_text_free(&text);
}

static void drop(hlo_text text) { hlo_text_free(&text); }

static void show(const hlo_literal *l)
{
    static const struct hlo_view views[] = {
        HLO_VIEW_INIT,
        {.size = sizeof *views, .max = 5, .edge = 1, .precision = 3, .width = 20},
        {.size = sizeof *views, .hex = true, .bits = true, .max = 50},
    };
    struct hlo_stats s = hlo_literal_stats(l);
    expect_json(hlo_stats_json(&s));
    for (size_t k = 0; k < COUNT_OF(views); k++) {
        drop(hlo_literal_show(l, &views[k]));
        expect_json(hlo_literal_json(l, &views[k]));
    }
    drop(hlo_literal_summary(l));
    for (int kind = HLO_PLOT_AUTO; kind <= HLO_PLOT_CURVE; kind++)
        drop(hlo_literal_plot(l, (enum hlo_plot)kind, NULL));
}

/* Skips huge arrays filled by one number, which cost much and cover nothing new. */
static bool is_small(const struct literal *l)
{
    int64_t bytes;
    return shape_bytes(l->shape, &bytes) && bytes < 1 << 20;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *index = size ? memmem(data, size, "\n[", 2) : NULL;
    size_t length = index ? (size_t)(index - text) : size;
    struct arena a;
    arena_init(&a);
    struct literal *l = read_text(&a, (struct str){text, length});
    if (l && is_small(l)) {
        hlo_messages *m = hlo_messages_new();
        hlo_literal *h = hlo_literal_parse(text, length, m);
        through_text(&a, l);
        through_npy(&a, l);
        show(h);
        if (index) {
            char *slice = strndup(index + 1, size - length - 1);
            hlo_literal *part = hlo_literal_slice(h, slice, m);
            if (part)
                show(part);
            hlo_literal_free(part);
            free(slice);
        }
        hlo_literal_free(h);
        hlo_messages_free(m);
    }
    if (l)
        literal_free_data(l);
    arena_free(&a);
    return 0;
}
