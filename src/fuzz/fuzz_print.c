/*
 * Fuzz target: what the printer writes, the strict parser reads back, and it prints the same again.
 */
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses and prints; false when the text is rejected. */
static bool print_of(struct str text, bool strict, struct buf *out)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("fuzz"), text);
    diags_init(&ds, &source);
    struct module *m = text_parse_module(&ds, &source, &(struct parse_options){.strict = strict});
    if (m) {
        text_print_module(out, m, &(struct print_options){.large_constants = true});
        module_free(m);
    }
    diags_free(&ds);
    source_free(&source);
    return m != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LARGE = 1 << 22 }; /* shapes of shapes of shapes print without end */
    struct buf once = {0}, twice = {0};
    if (print_of((struct str){(const char *)data, size}, true, &once) && once.size < LARGE) {
        if (!print_of(buf_view(&once), true, &twice) || !str_eq(buf_view(&once), buf_view(&twice)))
            __builtin_trap();
    }
    buf_free(&once);
    buf_free(&twice);
    return 0;
}
