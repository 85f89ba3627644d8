/*
 * Whether an operation is accepted and runs for an element type, found out by its worked examples.
 */
#include "cli/ops.h"

/* The module of an example; NULL when parser or verifier reject it. */
static hlo_module *accepted(size_t op, size_t example, const char *dtype, const char *other, hlo_messages *m)
{
    hlo_text text = hlo_op_example_text(op, example, dtype, other);
    hlo_file *f = hlo_file_of_text(hlo_op_get(op).name, text.data, text.size, false);
    hlo_module *module = hlo_parse(f, 0, m);
    if (module && !hlo_verify(module, m)) {
        hlo_module_free(module);
        module = NULL;
    }
    hlo_file_free(f);
    hlo_text_free(&text);
    return module;
}

/* XLA's verifier, and so ours, takes some ops on types for which the specification gives them no value;
 * the plan says so. */
static bool is_undefined(const hlo_messages *m)
{
    size_t n = hlo_messages_count(m);
    return n > 0 && strcmp(hlo_messages_get(m, n - 1).id, "not-defined") == 0;
}

/* Argument `i` of the example where the parameter has its shape, so that sizes and offsets make sense;
 * made-up values for a parameter of another element type. */
static hlo_literal *argument(const hlo_module *module, size_t i, const char *args, hlo_messages *m)
{
    for (size_t line = 0; line < i; line++) {
        args += strcspn(args, "\n");
        args += *args == '\n';
    }
    hlo_literal *given = hlo_literal_parse(args, strcspn(args, "\n"), m);
    if (!given)
        return NULL;
    hlo_text has = hlo_literal_shape(given), wants = hlo_param_shape(module, i);
    bool fits = strcmp(has.data, wants.data) == 0;
    hlo_text_free(&has);
    hlo_text_free(&wants);
    if (fits)
        return given;
    hlo_literal_free(given);
    return hlo_random_param(module, i, 1, m);
}

/* The item for infeed. */
struct item {
    size_t op, example;
    const char *dtype;
};

static hlo_literal *give_item(void *context, size_t participant, const hlo_feed_call *call, hlo_messages *m)
{
    const struct item *i = context;
    (void)participant, (void)call;
    hlo_text text = hlo_op_example_feed(i->op, i->example, i->dtype);
    hlo_literal *l = hlo_literal_parse(text.data, text.size, m);
    hlo_text_free(&text);
    return l;
}

/* Whether the module runs. */
static bool runs(const hlo_module *module, const char *example_args, struct item item, bool plain, hlo_messages *m)
{
    size_t count = hlo_param_count(module), made = 0;
    hlo_literal **args = heap_zalloc(count + 1, sizeof *args), *result = NULL;
    while (args && made < count && (args[made] = argument(module, made, example_args, m)))
        made++;
    hlo_program *p = args && made == count ? hlo_plan(module, &HLO_WITH(hlo_run_options, .plain = plain, .threads = 1), m) : NULL;
    if (p)
        hlo_run_all(p, (const hlo_literal *const *)args, count,
                    &(struct hlo_feeds){sizeof(struct hlo_feeds), &item, give_item, NULL}, &result, m);
    bool ok = result != NULL;
    hlo_literal_free(result);
    hlo_program_free(p);
    for (size_t i = 0; i < made; i++)
        hlo_literal_free(args[i]);
    heap_free(args);
    return ok;
}

enum cell ops_try(size_t op, size_t example, const char *dtype, const char *other, bool plain, hlo_messages *m)
{
    struct hlo_op_example e;
    enum cell cell = CELL_REJECTED;
    hlo_module *module = accepted(op, example, dtype, other, m);
    if (!module || !hlo_op_example(op, example, &e))
        return cell;
    if (runs(module, e.args, (struct item){op, example, dtype}, plain, m))
        cell = CELL_RUNS;
    else if (!is_undefined(m))
        cell = CELL_MISSING;
    hlo_module_free(module);
    return cell;
}

static bool accepts_example(size_t op, size_t i, const char *dtype, const char *other)
{
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = accepted(op, i, dtype, other, m);
    hlo_module_free(module);
    hlo_messages_free(m);
    return module != NULL;
}

bool ops_accepts(size_t op, const char *dtype)
{
    struct hlo_op_example e;
    for (size_t i = 0; hlo_op_example(op, i, &e); i++) {
        if (!e.dtype)
            continue;
        if (accepts_example(op, i, dtype, NULL))
            return true;
        const char *other;
        for (size_t u = 0; e.other && (other = hlo_dtype_name(u)); u++)
            if (hlo_dtype_is_array(u) && accepts_example(op, i, dtype, other))
                return true;
    }
    return false;
}

bool ops_is_typed(size_t op)
{
    struct hlo_op_example e;
    for (size_t i = 0; hlo_op_example(op, i, &e); i++)
        if (e.dtype)
            return true;
    return false;
}

bool ops_has_pairs(size_t op)
{
    struct hlo_op_example e;
    for (size_t i = 0; hlo_op_example(op, i, &e); i++)
        if (e.other)
            return true;
    return false;
}
