/*
 * Fuzz target: any bytes as a protocol buffer, in wire and in text format. What is translated is
 * parsed, verified and printed.
 */
#include "proto/proto.h"
#include "text/text.h"
#include "verify/verify.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct diags *ds, const struct proto_module *p)
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

static void read_as(struct str bytes, enum proto_kind kind, bool text)
{
    struct diags ds;
    struct source source;
    struct buf out = {0};
    source_init(&source, STR("m.pb"), text ? bytes : STR(""));
    diags_init(&ds, &source);
    struct proto_module *p = proto_read(&ds, &(struct proto_input){bytes, kind, text, false});
    if (p)
        use(&ds, p);
    else if (ds.errors == 0)
        abort();
    ds.source = &source;
    if (!p)
        diags_draw(&out, &ds, NULL);
    buf_free(&out);
    proto_free(p);
    source_free(&source);
    diags_free(&ds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str bytes = {(const char *)data, size};
    const enum proto_kind kind = proto_kind_of(bytes), text = proto_kind_of_text(bytes);
    if (kind != PROTO_LITERAL)
        read_as(bytes, kind == PROTO_NONE ? PROTO_MODULE : kind, false);
    if (text != PROTO_NONE)
        read_as(bytes, text, true);
    return 0;
}
