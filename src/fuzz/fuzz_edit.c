/*
 * Fuzz target: edited modules. The first line is a number that determines the edits; the rest is a
 * module or, after a zero byte, choices for the generator. An edit without changes must be a copy;
 * edits, extraction and reduction of a well-formed module must give well-formed modules.
 */
#include "fuzz/generate.h"
#include "fuzz/sandbox.h"
#include "test/random_view.h"

#include "hlo_advanced.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_well_formed(hlo_module *made, const char *what)
{
    hlo_messages *m = hlo_messages_new();
    if (!hlo_verify(made, m)) {
        hlo_text messages = hlo_messages_draw(m, false), text = hlo_print(made, HLO_PRINT_SHORT);
        fprintf(stderr, "%s gives:\n%s%s", what, text.data, messages.data);
        __builtin_trap();
    }
    hlo_messages_free(m);
    hlo_module_free(made);
}

static void copy(const hlo_module *module, const hlo_listing *l)
{
    hlo_messages *m = hlo_messages_new();
    hlo_module *made = hlo_edit_finish(hlo_edit_new(l), m);
    if (!made)
        __builtin_trap();
    hlo_text is = hlo_print(made, HLO_PRINT_FULL), was = hlo_print(module, HLO_PRINT_FULL);
    if (is.size != was.size || memcmp(is.data, was.data, is.size) != 0)
        __builtin_trap();
    hlo_text_free(&is);
    hlo_text_free(&was);
    hlo_messages_free(m);
    expect_well_formed(made, "copying");
}

static void edit(const hlo_listing *l, struct random *r)
{
    size_t count = hlo_list_count(l);
    hlo_messages *m = hlo_messages_new();
    hlo_edit *e = hlo_edit_new(l);
    for (int64_t n = random_in(r, 1, 4); n > 0; n--) {
        size_t i = (size_t)random_in(r, 0, (int64_t)count - 1),
               other = (size_t)random_in(r, 0, (int64_t)count - 1);
        switch (random_in(r, 0, 6)) {
        case 0: hlo_edit_zeros(e, i, m); break;
        case 1: hlo_edit_parameter(e, i, m); break;
        case 2: hlo_edit_replace(e, i, other, m); break;
        case 3: hlo_edit_inline(e, i, other % 3, m); break;
        case 4: hlo_edit_root(e, (size_t[]){i, other}, 1 + other % 2, m); break;
        case 5: hlo_edit_drop_parameters(e); break;
        default: hlo_edit_strip(e, (unsigned)other % 8); break;
        }
    }
    hlo_module *made = hlo_edit_finish(e, m);
    if (made)
        expect_well_formed(made, "an edit");
    hlo_messages_free(m);
}

static void extract(const hlo_listing *l, struct random *r)
{
    const struct hlo_extract what = {.size = sizeof what,
                                     .inst =
                                         (size_t)random_in(r, 0, (int64_t)hlo_list_count(l) - 1),
                                     .height = (size_t)random_in(r, 0, 3),
                                     .parameters = true};
    hlo_messages *m = hlo_messages_new();
    hlo_module *made = hlo_extract(l, &what, &HLO_WITH(hlo_run_options, .threads = 1), NULL, 0, m);
    if (made)
        expect_well_formed(made, "cutting out");
    hlo_messages_free(m);
}

struct search {
    uint64_t seed;
    int left;
};

static bool bad(void *context, const hlo_module *candidate)
{
    struct search *s = context;
    hlo_text text = hlo_print(candidate, HLO_PRINT_SHORT);
    bool is = hash_bytes(text.data, text.size) % 4 != s->seed % 4;
    hlo_text_free(&text);
    return is;
}

static bool may_continue(void *context, size_t instructions, size_t calls)
{
    struct search *s = context;
    return instructions > 0 && calls < 1000 && s->left-- > 0;
}

static void shrink(const hlo_module *module, struct random *r)
{
    struct search s = {random_bits(r), 60};
    hlo_module *made = hlo_shrink(
        module, &HLO_WITH(hlo_shrink, .context = &s, .bad = bad, .progress = may_continue));
    if (made)
        expect_well_formed(made, "reducing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct buf made = {0};
    struct str first = cut_input(&text, '\n');
    struct random r = {.state = hash_bytes(first.ptr, first.len)};
    if (text.len > 0 && text.ptr[0] == '\0') {
        generate_of_bytes(&made, (const uint8_t *)text.ptr + 1, text.len - 1);
        text = buf_view(&made);
    }
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("fuzz", text.ptr, text.len, false);
    hlo_module *module = hlo_parse(f, 0, m);
    if (module && hlo_verify(module, m)) {
        hlo_listing *l = hlo_list(module);
        copy(module, l);
        edit(l, &r);
        extract(l, &r);
        shrink(module, &r);
        hlo_listing_free(l);
    }
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    buf_free(&made);
    return 0;
}
