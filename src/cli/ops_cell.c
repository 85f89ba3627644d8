/*
 * ops_cell: whether an operation is accepted and runs for an element type, determined by running
 * its examples.
 */
#include "cli/ops.h"

/* The module of an example; NULL if the parser or the verifier rejects it. */
static hlo_module *accepted(size_t op, size_t example, const char *dtype, const char *other,
                            hlo_messages *m)
{
    SCOPED_TEXT text = hlo_op_example_text(op, example, dtype, other);
    SCOPED_FILE *f = hlo_file_of_text(hlo_op_get(op).name, text.data, text.size, false);
    hlo_module *module = hlo_parse(f, 0, m);
    if (module && !hlo_verify(module, m)) {
        hlo_module_free(module);
        module = NULL;
    }
    return module;
}

/* Whether planning rejected a type that the verifier accepts but the specification leaves
 * undefined. */
static bool is_undefined(const hlo_messages *m)
{
    size_t n = hlo_messages_count(m);
    return n > 0 && strcmp(hlo_messages_get(m, n - 1).id, "not-defined") == 0;
}

/* Argument `i` of the example if its shape matches the parameter, so that sizes and offsets are
 * valid; otherwise random values. */
static hlo_literal *argument(const hlo_module *module, size_t i, const char *args, hlo_messages *m)
{
    for (size_t line = 0; line < i; line++) {
        args += strcspn(args, "\n");
        args += *args == '\n';
    }
    hlo_literal *given = hlo_literal_parse(args, strcspn(args, "\n"), m);
    if (!given)
        return NULL;
    SCOPED_TEXT has = hlo_literal_shape(given), expected = hlo_param_shape(module, i);
    bool fits = strcmp(has.data, expected.data) == 0;
    if (fits)
        return given;
    hlo_literal_free(given);
    return hlo_random_param(module, i, 1, m);
}

/* Infeed callback: an item of the shape of the first parameter. */
static hlo_literal *feed_item(void *context, size_t participant, const hlo_feed_call *call,
                              hlo_messages *m)
{
    return hlo_random_param(context, 0, 1, m);
}

static bool runs(hlo_module *module, const char *example_args, bool plain, hlo_messages *m)
{
    size_t count = hlo_param_count(module), made = 0;
    hlo_literal **args = heap_zalloc(count + 1, sizeof *args), *result = NULL;
    while (made < count && (args[made] = argument(module, made, example_args, m)))
        made++;
    SCOPED_PROGRAM *p =
        made == count
            ? hlo_plan(module, &HLO_WITH(hlo_run_options, .plain = plain, .threads = 1), m)
            : NULL;
    if (p)
        hlo_run_all(p, (const hlo_literal *const *)args, count,
                    &(struct hlo_feeds){sizeof(struct hlo_feeds), module, feed_item, NULL}, &result,
                    m);
    bool ok = result != NULL;
    hlo_literal_free(result);
    hlo_literals_free(args, made);
    return ok;
}

/* Tries one example with one pair of types. */
static enum cell try_example(size_t op, size_t i, const char *dtype, const char *other,
                             enum ops_try how, hlo_messages *m)
{
    struct hlo_op_example e;
    enum cell cell = CELL_REJECTED;
    SCOPED_MODULE *module = accepted(op, i, dtype, other, m);
    if (module && hlo_op_example(op, i, &e)) {
        if (how == TRY_VERIFY || runs(module, e.args, how == TRY_RUN_PLAIN, m))
            cell = CELL_RUNS;
        else if (!is_undefined(m))
            cell = CELL_MISSING;
    }
    return cell;
}

/* Tries one example with every second type. */
static enum cell try_others(size_t op, size_t i, const char *dtype, enum ops_try how,
                            hlo_messages *m)
{
    const char *other;
    enum cell worst = CELL_REJECTED;
    for (size_t u = 0; (other = hlo_dtype_name(u)); u++) {
        if (!hlo_dtype_is_array(u))
            continue;
        const enum cell cell = try_example(op, i, dtype, other, how, m);
        worst = cell > worst ? cell : worst;
    }
    return worst;
}

enum cell ops_cell(size_t op, const char *dtype, const char *other, enum ops_try how,
                   hlo_messages *m)
{
    struct hlo_op_example e;
    enum cell worst = CELL_REJECTED;
    for (size_t i = 0; hlo_op_example(op, i, &e) && !(how == TRY_VERIFY && worst == CELL_RUNS);
         i++) {
        if (!e.dtype != !dtype)
            continue;
        const enum cell cell = e.other && !other ? try_others(op, i, dtype, how, m)
                                                 : try_example(op, i, dtype, other, how, m);
        worst = cell > worst ? cell : worst;
    }
    return worst;
}

bool ops_accepts(size_t op, const char *dtype)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    const enum cell cell = ops_cell(op, dtype, NULL, TRY_VERIFY, m);
    return cell == CELL_RUNS;
}

unsigned ops_types(size_t op)
{
    struct hlo_op_example e;
    unsigned types = 0;
    for (size_t i = 0; hlo_op_example(op, i, &e); i++) {
        const unsigned own = !e.dtype ? 0 : e.other ? 2 : 1;
        types = own > types ? own : types;
    }
    return types;
}
