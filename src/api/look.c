/*
 * Public interface: presentation and comparison of values.
 */
#include "api/api.h"

#include "look/look.h"

hlo_literal *hlo_literal_slice(const hlo_literal *h, const char *text, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    SCOPED_BUF why = {0};
    hlo_literal *piece = hlo_literal_begin();
    struct literal *l = look_slice(&piece->arena, h->l, str_of(text), &why);
    if (!l) {
        buf_putc(&why, '\0');
        hlo_messages_add(m, "<slice>", why.data);
    }
    return hlo_literal_end(piece, l);
}

struct hlo_stats hlo_literal_stats(const hlo_literal *h) { return look_stats(h->l); }

hlo_text hlo_literal_summary(const hlo_literal *h)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    look_put_summary(&b, h->l);
    return hlo_text_of(&b);
}

hlo_text hlo_stats_json(const struct hlo_stats *s)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    look_put_stats_json(&b, s);
    return hlo_text_of(&b);
}

static hlo_text shown(const hlo_literal *h, const struct hlo_view *v, bool json)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    struct hlo_view view;
    if (!hlo_options_copy(&view, sizeof view, v, NULL))
        return (hlo_text){0};
    (json ? look_json : look_show)(&b, h->l, &view, NULL);
    return hlo_text_of(&b);
}

hlo_text hlo_literal_show(const hlo_literal *h, const struct hlo_view *v)
{
    return shown(h, v, false);
}

hlo_text hlo_literal_json(const hlo_literal *h, const struct hlo_view *v)
{
    return shown(h, v, true);
}

bool hlo_literal_write(const hlo_literal *h, const struct hlo_view *v, bool json,
                       bool (*put)(void *context, const char *text, size_t size), void *context,
                       hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    SCOPED_BUF b = {0};
    struct hlo_view view;
    struct look_sink to = {put, context, false};
    if (!hlo_options_copy(&view, sizeof view, v, m))
        return false;
    (json ? look_json : look_show)(&b, h->l, &view, &to);
    return !to.stopped && put(context, b.data, b.size);
}

hlo_text hlo_literal_plot(const hlo_literal *h, enum hlo_plot kind, const struct hlo_canvas *c)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    struct hlo_canvas canvas;
    if (!hlo_options_copy(&canvas, sizeof canvas, c, NULL))
        return (hlo_text){0};
    look_plot(&b, h->l, kind, &canvas);
    return hlo_text_of(&b);
}

bool hlo_write_png(const char *path, const hlo_literal *h, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    return look_png(hlo_sink_of_name(m, path, STR("")), path, h->l);
}

bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected,
                         const struct hlo_tolerance *t, hlo_text *why)
{
    OOM_SCOPE(false);
    struct buf b = {0};
    struct hlo_tolerance tolerance;
    bool same = hlo_options_copy(&tolerance, sizeof tolerance, t, NULL);
    if (same)
        same = look_compare(actual->l, expected->l, &tolerance, &b);
    else
        buf_puts(&b, "the size of the tolerance is not set");
    if (why)
        *why = hlo_text_of(&b);
    else
        buf_free(&b);
    return same;
}

struct hlo_difference hlo_literal_difference(const hlo_literal *actual, const hlo_literal *expected,
                                             const struct hlo_tolerance *t)
{
    OOM_SCOPE((struct hlo_difference){0});
    struct hlo_difference d = {0};
    struct hlo_tolerance tolerance;
    if (hlo_options_copy(&tolerance, sizeof tolerance, t, NULL))
        look_difference(actual->l, expected->l, &tolerance, &d);
    return d;
}

hlo_text hlo_difference_print(const struct hlo_difference *d, const hlo_literal *actual,
                              const hlo_literal *expected, const char *const names[2])
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    look_put_difference(&b, d, actual->l, expected->l, names);
    return hlo_text_of(&b);
}

hlo_text hlo_difference_table(const struct hlo_difference *d, const hlo_literal *actual,
                              const hlo_literal *expected, const char *const names[2])
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    if (d->comparable)
        look_put_difference_table(&b, d, actual->l, expected->l, names);
    return hlo_text_of(&b);
}

hlo_text hlo_difference_json(const struct hlo_difference *d)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    look_put_difference_json(&b, d);
    return hlo_text_of(&b);
}
