/*
 * Constant folding: nodes whose inputs are all known are executed during the import, as a module of
 * their own, and their outputs become known. This determines the axes, shapes and bounds that
 * models compute, without a second implementation of the operators.
 */
#include "hlo_scoped.h"
#include "onnx/import_priv.h"

static bool may_fold(struct scope *s, const struct onnx_node *node)
{
    bool any = false;
    for (size_t k = 0; k < node->input_count; k++) {
        if (node->inputs[k].len == 0)
            continue;
        struct val *v = find_val(s, node->inputs[k]);
        if (!v || v->kind != ONNX_TENSOR || !v->known || known_count(v) > ONNX_SMALL)
            return false;
        any = true;
    }
    return any;
}

/* Binds the inputs without their instructions, which belong to another module. */
static void bind_known(struct scope *s, struct scope *outer, const struct onnx_node *node)
{
    for (size_t k = 0; k < node->input_count; k++) {
        if (node->inputs[k].len == 0)
            continue;
        struct val v = *find_val(outer, node->inputs[k]);
        v.data = NULL;
        bind_val(s, node->inputs[k], v);
    }
}

static hlo_module *build(struct scope *s, const struct onnx_node *node, const struct op_row *row,
                         struct val *outputs)
{
    s->node = node;
    hlo_inst *all[8];
    bool ok = node->output_count <= COUNT_OF(all) && translate_by(s, node, row, outputs);
    for (size_t k = 0; ok && k < node->output_count; k++)
        ok = outputs[k].kind == ONNX_TENSOR && array_elements(&outputs[k].a) <= ONNX_SMALL;
    for (size_t k = 0; ok && k < node->output_count; k++)
        all[k] = data_of(s, &outputs[k]);
    if (!ok || !hlo_tuple(s->c, all, node->output_count) || !hlo_computation_finish(s->c, NULL)) {
        hlo_builder_free(s->b);
        return NULL;
    }
    return hlo_builder_finish(s->b, s->c);
}

static hlo_literal *run(const hlo_module *module, hlo_messages *m)
{
    const struct hlo_run_options o = {
        .size = sizeof o, .threads = 1, .max_steps = 100000, .max_memory = 1 << 22};
    SCOPED_PROGRAM *p = module && hlo_verify(module, m) ? hlo_plan(module, &o, m) : NULL;
    return p ? hlo_run(p, NULL, 0, m) : NULL;
}

/* Makes the results known outputs. False if the type of one differs from its translation because of
 * a dynamic size. */
static bool keep(struct scope *s, const hlo_literal *result, size_t count, struct val *outputs)
{
    for (size_t k = 0; k < count; k++) {
        struct hlo_array x = hlo_literal_leaf(result, k);
        struct array a = array_of(outputs[k].a.elem, (int)x.rank, x.dims);
        hlo_literal *l = keep_literal(s->imp, copy_array(hlo_literal_element(result, k), s->m));
        if (!l)
            return false;
        outputs[k] = tensor_val(&a, NULL);
        outputs[k].known = l;
    }
    return true;
}

bool fold_node(struct scope *s, const struct onnx_node *node, const struct op_row *row,
               struct val *outputs)
{
    if (!row->foldable || node->output_count == 0 || !may_fold(s, node))
        return false;
    /* Discarded: errors are reported when the node is translated regularly. */
    SCOPED_MESSAGES *m = hlo_messages_new();
    struct map names, constants;
    struct scope inner = {.imp = s->imp,
                          .m = m,
                          .b = hlo_builder_new("fold", m),
                          .names = &names,
                          .constants = &constants};
    inner.c = hlo_computation_new(inner.b, "main");
    map_init(&names, s->imp->arena);
    map_init(&constants, s->imp->arena);
    map_init(&inner.vals, s->imp->arena);
    bind_known(&inner, s, node);
    SCOPED_MODULE *module = build(&inner, node, row, outputs);
    SCOPED_LITERAL *result = run(module, m);
    return result && keep(s, result, node->output_count, outputs);
}
