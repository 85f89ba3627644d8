/*
 * Fuzz target: a module or value, as text or as a protocol buffer, which is written in wire and in
 * text format; what was written must read back as the same module or value.
 */
#include "look/look.h"
#include "proto/proto.h"
#include "text/text.h"
#include "verify/verify.h"

#include "hlo_advanced.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool put(void *to, struct str bytes)
{
    buf_str(to, bytes);
    return true;
}

/* ---- modules ---- */

struct loaded {
    struct source source;
    struct diags ds;
    struct proto_module *proto; /* that the text was made from, or NULL */
    struct module *m;           /* NULL: not a module */
};

/* PROTO_NONE: of HLO text. */
static void load(struct loaded *l, const struct proto_input *input)
{
    struct str text = input->bytes;
    *l = (struct loaded){0};
    diags_init(&l->ds, NULL);
    if (input->kind != PROTO_NONE) {
        source_init(&l->source, STR("fuzz"), input->text ? text : STR(""));
        l->ds.source = &l->source;
        l->proto = proto_read(&l->ds, input);
        source_free(&l->source);
        text = l->proto ? proto_text(l->proto) : STR("");
    }
    source_init(&l->source, STR("fuzz"), text);
    l->ds.source = &l->source;
    if (l->proto)
        l->source.paths = proto_paths(l->proto);
    if (l->proto || input->kind == PROTO_NONE)
        l->m = text_parse_module(&l->ds, &l->source, &(struct parse_options){.core = l->proto});
    if (l->m && l->proto && !proto_complete(&l->ds, l->proto, l->m)) {
        module_free(l->m);
        l->m = NULL;
    }
}

static void unload(struct loaded *l)
{
    if (l->m)
        module_free(l->m);
    proto_free(l->proto);
    source_free(&l->source);
    diags_free(&l->ds);
}

static void print(struct buf *out, const struct loaded *l)
{
    text_print_module(out, l->m, &(struct print_options){.large_constants = true, .exact = true});
}

/* Whether all of the module is written: parts may have no form in the message. */
static bool write_module(struct loaded *l, bool text, struct buf *out)
{
    const unsigned before = l->ds.warnings;
    return proto_write(&l->ds, l->m, &(struct proto_sink){text, put, out}) &&
           l->ds.warnings == before;
}

/* The text format has NaNs without their bits. */
static bool has_payload(struct str text) { return memmem(text.ptr, text.len, "nan(0x", 6) != NULL; }

static void module_through(struct loaded *l, bool text, struct str expected)
{
    struct buf bytes = {0}, printed = {0};
    struct loaded back;
    if (write_module(l, text, &bytes)) {
        load(&back, &(struct proto_input){buf_view(&bytes), PROTO_MODULE, text, false});
        if (!back.m)
            __builtin_trap();
        print(&printed, &back);
        if (!str_eq(expected, buf_view(&printed)) && !(text && has_payload(expected)))
            __builtin_trap();
        unload(&back);
    }
    buf_free(&bytes);
    buf_free(&printed);
}

static void check_module(const struct proto_input *input)
{
    enum { LARGE = 1 << 20 }; /* shapes of doubly nested tuples grow exponentially */
    struct loaded l;
    struct buf text = {0};
    load(&l, input);
    if (l.m && verify_module(&l.ds, l.m, &(struct verify_options){0})) {
        print(&text, &l);
        for (int format = 0; format < 2 && text.size < LARGE; format++)
            module_through(&l, format, buf_view(&text));
    }
    buf_free(&text);
    unload(&l);
}

/* ---- values ---- */

static struct literal *read_value(struct arena *a, const struct proto_input *input)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("fuzz"), input->bytes);
    diags_init(&ds, &source);
    struct literal *l = input->kind == PROTO_NONE ? text_parse_literal(&ds, &source, a, NULL)
                                                  : proto_literal(&ds, a, input);
    diags_free(&ds);
    source_free(&source);
    return l;
}

static void value_through(struct arena *a, const struct literal *l, bool text)
{
    struct diags ds;
    struct buf bytes = {0}, why = {0};
    diags_init(&ds, NULL);
    if (proto_write_literal(&ds, l, &(struct proto_sink){text, put, &bytes})) {
        struct literal *back =
            read_value(a, &(struct proto_input){buf_view(&bytes), PROTO_LITERAL, text, false});
        if (!back || !look_compare(back, l, &HLO_WITH(hlo_tolerance, .zeros = true), &why))
            __builtin_trap();
        literal_free_data(back);
    }
    buf_free(&bytes);
    buf_free(&why);
    diags_free(&ds);
}

static void check_value(const struct proto_input *input)
{
    int64_t bytes;
    struct arena a;
    arena_init(&a);
    struct literal *l = read_value(&a, input);
    if (l && shape_bytes(l->shape, &bytes) && bytes < 1 << 20) {
        value_through(&a, l, false);
        value_through(&a, l, true);
    }
    if (l)
        literal_free_data(l);
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct proto_input input = {.bytes = {(const char *)data, size}};
    input.kind = proto_kind_of(input.bytes);
    if (input.kind == PROTO_NONE)
        input.text = (input.kind = proto_kind_of_text(input.bytes)) != PROTO_NONE;
    if (input.kind != PROTO_LITERAL)
        check_module(&input);
    if (input.kind == PROTO_LITERAL || input.kind == PROTO_NONE)
        check_value(&input);
    return 0;
}
