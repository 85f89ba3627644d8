/*
 * See read_proto.h.
 */
#include "fuzz/read_proto.h"

#include "text/text.h"
#include "verify/verify.h"

#include <stdlib.h>

static void use_module(struct diags *ds, const struct proto_module *p)
{
    struct source source;
    struct buf out = {0};
    source_init(&source, STR("m.pb"), proto_text(p));
    source.paths = proto_paths(p);
    ds->source = &source;
    struct module *m = text_parse_module(ds, &source, &(struct parse_options){.core = true});
    if (m && proto_complete(ds, p, m) && verify_module(ds, m, &(struct verify_options){0}))
        text_print_module(&out, m, &(struct print_options){.large_constants = true});
    diags_draw(&out, ds, NULL);
    diags_json(&out, ds);
    buf_free(&out);
    if (m)
        module_free(m);
    source_free(&source);
}

/* Prints a value, so that sanitizers see every byte. */
static void use_value(const struct diags *ds, struct literal *l)
{
    struct buf out = {0};
    if (!l && ds->errors == 0)
        abort();
    if (!l)
        return;
    text_print_literal_with_shape(&out, l);
    buf_free(&out);
    literal_free_data(l);
}

static void use_stored(struct diags *ds, const struct proto_module *p)
{
    struct arena a;
    arena_init(&a);
    for (size_t list = 0; list < proto_argument_lists(p); list++)
        for (size_t k = 0; k < proto_argument_count(p, list); k++)
            use_value(ds, proto_argument(ds, p, &a, list, k));
    if (proto_has_result(p))
        use_value(ds, proto_result(ds, p, &a));
    arena_free(&a);
}

static void draw(struct diags *ds)
{
    struct buf out = {0};
    diags_draw(&out, ds, NULL);
    buf_free(&out);
}

static void read_literal(struct diags *ds, const struct proto_input *input)
{
    struct arena a;
    arena_init(&a);
    use_value(ds, proto_literal(ds, &a, input));
    draw(ds);
    arena_free(&a);
}

static void read_module(struct diags *ds, const struct proto_input *input)
{
    struct source *source = ds->source;
    struct proto_module *p = proto_read(ds, input);
    if (!p && ds->errors == 0)
        abort();
    if (p) {
        use_stored(ds, p);
        use_module(ds, p);
    } else {
        draw(ds);
    }
    ds->source = source;
    proto_free(p);
}

void fuzz_read_proto(struct str bytes, enum proto_kind kind, bool text)
{
    const struct proto_input input = {bytes, kind, text, false};
    struct diags ds;
    struct source source;
    source_init(&source, STR("m.pb"), text ? bytes : STR(""));
    diags_init(&ds, &source);
    if (kind == PROTO_LITERAL)
        read_literal(&ds, &input);
    else
        read_module(&ds, &input);
    source_free(&source);
    diags_free(&ds);
}
