/*
 * hlo run for ONNX models: imports and runs the model, and prints its outputs as ONNX values.
 *
 * Sizes that a model computes are bounded dimensions. If a run exceeds the bound, the model is
 * imported and run again with a larger one.
 */
#include "base/system.h"
#include "cli/arguments.h"
#include "cli/model.h"

#include <unistd.h>

enum { FIRST_BOUND = 16, LARGEST_BOUND = 1 << 24, BOUND_FACTOR = 4 };

size_t model_output_count(const hlo_onnx *model)
{
    struct hlo_onnx_port port;
    size_t count = 0;
    while (hlo_onnx_output(model, count, &port))
        count++;
    return count;
}

void model_outputs_free(hlo_onnx_value **outputs, size_t count)
{
    for (size_t i = 0; outputs && i < count; i++)
        hlo_onnx_value_free(outputs[i]);
    heap_free(outputs);
}

/* ---- one run ---- */

static hlo_onnx_value **outputs_of(const struct model_inputs *in, const hlo_literal *result,
                                   hlo_messages *m)
{
    size_t count = model_output_count(in->model);
    hlo_onnx_value **outputs = heap_zalloc(count + 1, sizeof(hlo_onnx_value *));
    for (size_t i = 0; i < count; i++)
        if (!(outputs[i] = hlo_onnx_result(in->model, i, hlo_literal_element(result, i), m))) {
            model_outputs_free(outputs, count);
            return NULL;
        }
    return outputs;
}

static hlo_onnx_value **run_module(const struct model_inputs *in, const hlo_module *module,
                                   const struct hlo_run_options *options, int *status,
                                   hlo_messages *m)
{
    SCOPED_HEAP hlo_literal **args = heap_zalloc(in->count + 1, sizeof(hlo_literal *));
    hlo_onnx_value **outputs = NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < in->count; i++)
        ok = (args[i] = hlo_onnx_argument(in->values[i], module, i, m)) != NULL;
    SCOPED_PROGRAM *p = ok ? hlo_plan(module, options, m) : NULL;
    SCOPED_LITERAL *result = p ? hlo_run(p, (const hlo_literal *const *)args, in->count, m) : NULL;
    if (result)
        outputs = outputs_of(in, result, m);
    *status = outputs ? HLO_OK : hlo_messages_limit(m) ? HLO_LIMIT : HLO_FAILED;
    for (size_t i = 0; args && i < in->count; i++)
        hlo_literal_free(args[i]);
    return outputs;
}

static hlo_onnx_value **run_bounded(const struct model_inputs *in, int64_t bound,
                                    const struct hlo_run_options *options, int *status,
                                    hlo_messages *m)
{
    SCOPED_MODULE *module = hlo_onnx_import(in->model, in->values, bound, m);
    hlo_onnx_value **outputs = NULL;
    *status = HLO_REJECTED;
    if (module && hlo_verify(module, m))
        outputs = run_module(in, module, options, status, m);
    return outputs;
}

/* ---- increasing bounds ---- */

static const char *error_with(const hlo_messages *m, const char *id)
{
    for (size_t i = 0; i < hlo_messages_count(m); i++)
        if (strcmp(hlo_messages_get(m, i).id, id) == 0)
            return hlo_messages_get(m, i).text;
    return NULL;
}

/* The message about a size beyond its bound; NULL if the run failed for another reason. */
static const char *beyond_bound(const hlo_messages *m)
{
    const char *loop = error_with(m, "loop-bound");
    return loop ? loop : error_with(m, "size-out-of-bounds");
}

/* Whether a larger bound may help after a run that failed with `m`: not if the previous run, which
 * failed with `before`, exceeded the same bound by the same size. */
static bool try_larger(const hlo_messages *m, const hlo_messages *before)
{
    const char *text = beyond_bound(m), *earlier = before ? beyond_bound(before) : NULL;
    return text && !(earlier && strcmp(text, earlier) == 0);
}

/* Reports why a larger bound was not possible. */
static void add_attempt(hlo_messages *messages, int64_t bound, const hlo_messages *m)
{
    size_t i = 0, count = hlo_messages_count(m);
    while (i < count && !hlo_messages_get(m, i).error)
        i++;
    if (i < count)
        file_error(messages, hlo_messages_get(m, i).file, "with a bound of %" PRId64 ": %s", bound,
                   hlo_messages_get(m, i).text);
}

hlo_onnx_value **model_run(const struct model_inputs *in, int64_t bound,
                           const struct hlo_run_options *options, int *status,
                           hlo_messages **messages)
{
    bool fixed = bound > 0;
    struct hlo_run_options limited = *options;
    double start = now_seconds();
    if (!fixed && limited.max_memory == 0)
        limited.max_memory = system_memory() / 2;
    *messages = NULL;
    for (bound = fixed ? bound : FIRST_BOUND;; bound *= BOUND_FACTOR) {
        int result;
        hlo_messages *m = hlo_messages_new();
        hlo_onnx_value **outputs = run_bounded(in, bound, &limited, &result, m);
        /* Without memory for larger arrays, the error to report is the one that required them. */
        if (*messages && !outputs &&
            (result == HLO_REJECTED || error_with(m, "limit-memory") ||
             error_with(m, "out-of-memory"))) {
            add_attempt(*messages, bound, m);
            hlo_messages_free(m);
            *status = options->max_memory > 0 ? result : *status;
            return NULL;
        }
        bool again =
            !outputs && !fixed && bound <= LARGEST_BOUND / BOUND_FACTOR && try_larger(m, *messages);
        hlo_messages_free(*messages);
        *messages = m;
        *status = result;
        if (!again)
            return outputs;
        double left = options->timeout - (now_seconds() - start);
        if (options->timeout > 0)
            limited.timeout = left > 0 ? left : 1e-9; /* 0 means no limit */
    }
}

/* ---- results ---- */

/* Writes `f32[2] {1, 2}` or `none`; a sequence in brackets, one element per line. */
static void put_model_value(struct buf *out, const hlo_onnx_value *v, const struct hlo_view *view)
{
    size_t count = hlo_onnx_value_count(v);
    if (!hlo_onnx_value_present(v)) {
        buf_puts(out, "none");
        return;
    }
    if (!hlo_onnx_value_sequence(v)) {
        put_value(out, hlo_onnx_value_tensor(v, 0), view);
        return;
    }
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, i ? ",\n  " : "\n  ");
        put_value(out, hlo_onnx_value_tensor(v, i), view);
    }
    buf_puts(out, count ? "\n]" : "]");
}

/* Writes a JSON object for an output: a sequence has a list of tensors, an empty optional
 * "present":false. */
static void put_model_json(struct buf *out, const char *name, const hlo_onnx_value *v,
                           const struct hlo_view *view)
{
    bool sequence = hlo_onnx_value_sequence(v);
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "output", str_of(name));
    if (sequence)
        buf_json_open(out, "sequence", '[');
    else if (!hlo_onnx_value_present(v))
        buf_json_bool(out, "present", false);
    for (size_t i = 0; i < hlo_onnx_value_count(v); i++) {
        SCOPED_TEXT text = hlo_literal_json(hlo_onnx_value_tensor(v, i), view);
        const struct str object = {text.data, text.size}, members = {text.data + 1, text.size - 2};
        buf_json_key(out, NULL);
        buf_str(out, sequence ? object : members);
    }
    buf_puts(out, sequence ? "]}" : "}");
}

static bool write_text(const struct options *o, const hlo_onnx *model,
                       hlo_onnx_value *const *outputs, hlo_messages *m)
{
    struct hlo_onnx_port port;
    SCOPED_BUF b = {0};
    struct hlo_view view;
    bool json = o->given[OPT_JSON];
    if (o->given[OPT_QUIET] && (!o->given[OPT_OUTPUT] || strcmp(o->value[OPT_OUTPUT], "-") == 0))
        return true;
    if (!result_view(o, &view))
        return false;
    buf_puts(&b, json ? "{\"schema\":1,\"results\":[" : "");
    for (size_t i = 0; hlo_onnx_output(model, i, &port); i++) {
        if (json) {
            put_model_json(&b, port.name, outputs[i], &view);
        } else {
            buf_printf(&b, "%s = ", port.name);
            put_model_value(&b, outputs[i], &view);
            buf_putc(&b, '\n');
        }
    }
    buf_puts(&b, json ? "]}\n" : "");
    return put_output(o, buf_view(&b), m);
}

/* Writes arrays out0, out1, ...; elements of a sequence as out2[0], out2[1], ...; nothing for an
 * empty optional. */
static bool write_npz(const char *path, const hlo_onnx *model, hlo_onnx_value *const *outputs,
                      hlo_messages *m)
{
    SCOPED_ARENA a = arena_make();
    const char **names = NULL;
    const hlo_literal **arrays = NULL;
    size_t count = 0, name_capacity = 0, array_capacity = 0;
    for (size_t i = 0; i < model_output_count(model); i++)
        for (size_t k = 0; k < hlo_onnx_value_count(outputs[i]); k++) {
            struct str name = hlo_onnx_value_sequence(outputs[i])
                                  ? arena_printf(&a, "out%zu[%zu]", i, k)
                                  : arena_printf(&a, "out%zu", i);
            arrays = vec_grow(&a, arrays, count, &array_capacity, sizeof *arrays);
            arrays[count] = hlo_onnx_value_tensor(outputs[i], k);
            VEC_PUSH(&a, names, count, name_capacity) = name.ptr;
        }
    return hlo_write_npz_named(path, names, arrays, count, m);
}

static bool write_outputs(const struct options *o, const hlo_onnx *model,
                          hlo_onnx_value *const *outputs, hlo_messages *m)
{
    const char *path = o->value[OPT_OUTPUT];
    if (path && ends_with(path, ".npz"))
        return write_npz(path, model, outputs, m);
    if (!path || !hlo_write_knows(path))
        return write_text(o, model, outputs, m);
    if (model_output_count(model) != 1 || hlo_onnx_value_sequence(outputs[0]) ||
        hlo_onnx_value_count(outputs[0]) != 1)
        return usage_error(
                   o,
                   "'%s' holds one array, but the model returns several values; write an .npz file",
                   path),
               false;
    const hlo_literal *only = hlo_onnx_value_tensor(outputs[0], 0);
    return hlo_write_arrays(path, "out", &only, 1, m);
}

/* ---- the command ---- */

static int run_collected(const struct model_inputs *in, const struct hlo_run_options *options)
{
    int64_t bound;
    int status = HLO_USAGE;
    SCOPED_MESSAGES *messages = NULL;
    if (!option_int(in->o, OPT_BOUND, 1, INT32_MAX, 0, &bound))
        return HLO_USAGE;
    hlo_onnx_value **outputs = model_run(in, bound, options, &status, &messages);
    if (outputs && !write_outputs(in->o, in->model, outputs, messages))
        status = HLO_USAGE;
    report(in->o, messages);
    model_outputs_free(outputs, model_output_count(in->model));
    return status;
}

int model_command(const struct options *o, const struct hlo_run_options *options)
{
    static const enum option_id others[] = {OPT_RANDOM, OPT_REPLICAS,    OPT_PARTITIONS,
                                            OPT_WORLD,  OPT_INFEED,      OPT_OUTFEED,
                                            OPT_MODULE, OPT_CUSTOM_CALL, OPT_CUSTOM_CALL_LIB};
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (o->given[others[i]])
            return usage_error(o, "'--%s' is not supported for ONNX models",
                               option_row(others[i])->name);
    if (o->each_count > 0)
        return usage_error(o, "ONNX models have no participants");
    SCOPED_ONNX *model = NULL;
    SCOPED_MESSAGES *m = hlo_messages_new();
    int status = (int)hlo_onnx_open(o->args[0], &model, m);
    struct model_inputs in = {.o = o, .m = m, .model = model};
    if (model) {
        model_inputs_begin(&in);
        status = model_inputs_collect(&in);
        report(o, m);
        if (status == HLO_OK)
            status = run_collected(&in, options);
        model_inputs_free(&in);
    } else {
        report(o, m);
    }
    return status;
}
