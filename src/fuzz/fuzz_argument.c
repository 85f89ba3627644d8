/*
 * Fuzz target: any text as an argument of the command line, for parameters of several shapes, and
 * as a --custom-call rule. Accepted values must match the parameter.
 */
#include "fuzz/sandbox.h"

#include "hlo_advanced.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char taker[] = "HloModule taker\n"
                            "ENTRY main {\n"
                            "  a = f32[] parameter(0)\n"
                            "  b = s4[2,3] parameter(1)\n"
                            "  c = (pred[2], (bf16[<=3], c64[])) parameter(2)\n"
                            "  d = f8e4m3fn[0,2] parameter(3)\n"
                            "  ROOT r = (f32[]) tuple(a)\n"
                            "}\n";

static void take(const hlo_module *module, const char *text)
{
    hlo_messages *m = hlo_messages_new();
    hlo_targets *t = hlo_targets_new();
    for (size_t i = 0; i < hlo_param_count(module) && *text != '@'; i++) {
        size_t errors = hlo_messages_errors(m);
        hlo_literal *l = hlo_read_argument(module, i, 0, text, m);
        if ((l == NULL) != (hlo_messages_errors(m) > errors))
            __builtin_trap();
        hlo_literal_free(l);
    }
    hlo_argument_value(text);
    hlo_targets_add_rule(t, text, m);
    hlo_targets_free(t);
    hlo_messages_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("taker", taker, sizeof taker - 1, false);
    hlo_module *module = hlo_parse(f, 0, m);
    char *text = copy_text((struct str){(const char *)data, size});
    if (!module || !hlo_verify(module, m))
        __builtin_trap();
    take(module, text);
    free(text);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    return 0;
}
