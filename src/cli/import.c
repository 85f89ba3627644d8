/*
 * hlo import: converts an ONNX model to HLO text.
 */
#include "cli/model.h"

enum { BOUND = 64 }; /* default of --bound */

/* Names may contain any character; a comment must not contain a line break. */
static void put_comment(struct buf *b, const char *what, size_t number,
                        const struct hlo_onnx_port *port)
{
    buf_printf(b, "// %s %zu, ", what, number);
    for (const char *p = port->name; *p; p++)
        buf_putc(b, (unsigned char)*p < ' ' ? '?' : *p);
    buf_printf(b, ", is %s\n", port->type);
}

/* Writes comments that map parameters and results to inputs and outputs, followed by the module. */
static bool write_module(const struct model_inputs *in, const hlo_module *module)
{
    SCOPED_TEXT text = hlo_print(module, HLO_PRINT_EXACT);
    struct hlo_onnx_port port;
    SCOPED_BUF b = {0};
    for (size_t i = 0; hlo_onnx_input(in->model, i, &port); i++)
        put_comment(&b, "parameter", i, &port);
    for (size_t i = 0; hlo_onnx_output(in->model, i, &port); i++)
        put_comment(&b, "result", i, &port);
    buf_bytes(&b, text.data, text.size);
    return put_hlo(in->o, buf_view(&b), in->m);
}

/* Imports for the sizes of given inputs, otherwise for any sizes up to the bound. */
static int import(struct model_inputs *in, int64_t bound)
{
    const struct options *o = in->o;
    bool given = o->arg_count > 1 || o->given[OPT_INPUTS];
    int status = given ? model_inputs_collect(in) : HLO_OK;
    if (status != HLO_OK)
        return status;
    SCOPED_MODULE *module = hlo_onnx_import(in->model, given ? in->values : NULL, bound, in->m);
    status = !module || !hlo_verify(module, in->m) ? HLO_REJECTED
             : write_module(in, module)            ? HLO_OK
                                                   : HLO_USAGE;
    return status;
}

int import_command(const struct options *o)
{
    int64_t bound;
    SCOPED_ONNX *model = NULL;
    if (!option_int(o, OPT_BOUND, 1, INT32_MAX, BOUND, &bound))
        return HLO_USAGE;
    SCOPED_MESSAGES *m = hlo_messages_new();
    int status = (int)hlo_onnx_open(o->args[0], &model, m);
    struct model_inputs in = {.o = o, .m = m, .model = model};
    if (model) {
        model_inputs_begin(&in);
        status = import(&in, bound);
        model_inputs_free(&in);
    }
    report(o, m);
    return status;
}
