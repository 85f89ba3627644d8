/*
 * hlo import: a model of ONNX as HLO text.
 */
#include "cli/cli.h"

enum { BOUND = 64 }; /* where --bound says nothing */

static int write_module(const struct options *o, const hlo_module *module, hlo_messages *m)
{
    const char *path = o->value[OPT_OUTPUT];
    hlo_text text = hlo_print(module, HLO_PRINT_FULL);
    bool ok = true;
    if (path && strcmp(path, "-") != 0)
        ok = hlo_write_text(path, text.data, text.size, m);
    else
        fwrite(text.data, 1, text.size, stdout);
    hlo_text_free(&text);
    return ok ? HLO_OK : HLO_USAGE;
}

int import_command(const struct options *o)
{
    int64_t bound;
    hlo_onnx *model = NULL;
    if (o->arg_count == 0)
        return usage_error(o, "no file given");
    if (!option_int(o, OPT_BOUND, 1, INT32_MAX, BOUND, &bound))
        return HLO_USAGE;
    hlo_messages *m = hlo_messages_new();
    int status = (int)hlo_onnx_open(o->args[0], &model, m);
    hlo_module *module = model ? hlo_onnx_import(model, NULL, bound, m) : NULL;
    if (module)
        status = hlo_verify(module, m) ? write_module(o, module, m) : HLO_REJECTED;
    else if (model)
        status = HLO_REJECTED;
    report(o, m);
    hlo_module_free(module);
    hlo_onnx_free(model);
    hlo_messages_free(m);
    return status;
}
