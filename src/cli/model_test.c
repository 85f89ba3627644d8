/*
 * hlo test for ONNX node tests: a directory with a model and sets of inputs and expected outputs.
 */
#include "cli/model.h"

#include <unistd.h>

bool model_is_data_set(const char *path)
{
    const char *slash = strrchr(path, '/');
    SCOPED_BUF model = {0};
    if (!slash || !str_starts(str_of(slash + 1), STR("test_data_set_")))
        return false;
    buf_printf(&model, "%.*s/model.onnx", (int)(slash - path), path);
    return access(model.data, F_OK) == 0;
}

static void complain(struct buf *why, const char *path, const hlo_messages *m)
{
    SCOPED_TEXT text = hlo_messages_draw(m, false);
    if (why->size > 0)
        buf_putc(why, '\n');
    if (text.size == 0)
        buf_printf(why, "%s: failed", path);
    buf_bytes(why, text.data,
              text.size > 0 && text.data[text.size - 1] == '\n' ? text.size - 1 : text.size);
}

/* Compares with the tolerance of ONNX's own tests. */
static bool tensors_agree(const hlo_literal *actual, const hlo_literal *expected, hlo_text *why)
{
    static const struct hlo_tolerance tolerance = {
        .size = sizeof tolerance, .rel = 1e-3, .abs = 1e-7};
    return hlo_literal_compare(actual, expected, &tolerance, why);
}

static void compare(struct buf *why, const char *path, const hlo_onnx_value *actual,
                    const hlo_onnx_value *expected)
{
    size_t count = hlo_onnx_value_count(expected), have = hlo_onnx_value_count(actual);
    if (hlo_onnx_value_present(actual) != hlo_onnx_value_present(expected)) {
        buf_printf(why, "%s: there is %s value", path, hlo_onnx_value_present(actual) ? "a" : "no");
        return;
    }
    if (have != count) {
        buf_printf(why, "%s: %zu elements, expected %zu", path, have, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        hlo_text messages;
        if (!tensors_agree(hlo_onnx_value_tensor(actual, i), hlo_onnx_value_tensor(expected, i),
                           &messages)) {
            buf_printf(why, "%s%s: ", why->size > 0 ? "\n" : "", path);
            if (hlo_onnx_value_sequence(expected))
                buf_printf(why, "element %zu: ", i);
            buf_puts(why, messages.data);
        }
        hlo_text_free(&messages);
    }
}

static void check_outputs(struct model_inputs *in, const char *directory,
                          hlo_onnx_value *const *outputs, struct buf *why)
{
    size_t count = model_output_count(in->model);
    for (size_t i = 0; i < count; i++) {
        const char *path = arena_printf(&in->arena, "%s/output_%zu.pb", directory, i).ptr;
        hlo_onnx_value *expected = hlo_onnx_read_output(in->model, i, path, in->m);
        if (expected)
            compare(why, path, outputs[i], expected);
        else
            complain(why, path, in->m);
        hlo_onnx_value_free(expected);
    }
}

static void run_set(struct model_inputs *in, const char *directory, struct buf *why)
{
    struct hlo_run_options options = {
        .size = sizeof options, .plain = in->o->given[OPT_PLAIN], .threads = 1};
    SCOPED_MESSAGES *messages = NULL;
    int status;
    if (!model_inputs_read(in, directory)) {
        complain(why, directory, in->m);
        return;
    }
    hlo_onnx_value **outputs = model_run(in, 0, &options, &status, &messages);
    if (outputs)
        check_outputs(in, directory, outputs, why);
    else
        complain(why, directory, messages);
    model_outputs_free(outputs, model_output_count(in->model));
}

void model_test(const struct options *o, const char *data_set, struct buf *why)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_ONNX *model = NULL;
    struct model_inputs in = {.o = o, .m = m};
    SCOPED_BUF path = {0};
    buf_printf(&path, "%s/../model.onnx", data_set);
    if (hlo_onnx_open(path.data, &model, m) == HLO_OK) {
        in.model = model;
        model_inputs_begin(&in);
        run_set(&in, data_set, why);
        model_inputs_free(&in);
    } else {
        complain(why, path.data, m);
    }
}
