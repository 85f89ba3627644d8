/*
 * Fuzz target: any bytes through lexer and parser, in default and strict mode; the result must be
 * a module or a message.
 */
#include "text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse_once(const uint8_t *data, size_t size, bool strict)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("fuzz"), (struct str){(const char *)data, size});
    diags_init(&ds, &source);
    struct module *m = text_parse_module(&ds, &source, &(struct parse_options){.strict = strict});
    if ((m == NULL) != (ds.errors > 0))
        __builtin_trap(); /* rejected without a message, or accepted with an error */
    struct buf b = {0};
    diags_draw(&b, &ds, NULL);
    buf_free(&b);
    if (m)
        module_free(m);
    diags_free(&ds);
    source_free(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse_once(data, size, false);
    parse_once(data, size, true);
    return 0;
}
