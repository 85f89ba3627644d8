/*
 * Fuzz target: the verifier must accept each parsed module or report an error.
 */
#include "text/text.h"
#include "verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("fuzz"), (struct str){(const char *)data, size});
    diags_init(&ds, &source);
    struct module *m = text_parse_module(&ds, &source, &(struct parse_options){0});
    if (m) {
        bool valid = verify_module(&ds, m, &(struct verify_options){0});
        if (valid != (ds.errors == 0))
            __builtin_trap();
        verify_module(&ds, m,
                      &(struct verify_options){.layout_sensitive = true, .mixed_precision = true});
        module_free(m);
    }
    diags_free(&ds);
    source_free(&source);
    return 0;
}
