/*
 * custom.c: custom calls: built-in targets, and calls of user code, which takes precedence.
 *
 * Marker targets are aliases of values and never become steps (plan/alias.c).
 */
#include "eval/eval_priv.h"

/* ---- built-in targets ---- */

static bool all_zeros(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE && !eval_clear(ev, s, r))
            return false;
    return true;
}

/* Any constant is a valid seed; a fixed one makes runs reproducible. */
static bool rng_seed(struct eval *ev, const struct step *s)
{
    struct view *out = eval_result(ev, s, 0);
    if (out)
        memcpy(out->data, &(uint64_t){42}, sizeof(uint64_t));
    return out != NULL;
}

static bool top_k(struct eval *ev, const struct step *s) { return eval_topk(ev, s, true); }

static bool call_failed(struct eval *ev, const struct step *s, struct str why)
{
    struct str target = inst_str(s->inst, A_CUSTOM_CALL_TARGET);
    return EVAL_FAIL(ev, s, CALL_FAILED, STR_ARG(target), STR_ARG(why));
}

/* jax.debug.print, pure_callback and the like. One that returns nothing is skipped, with a warning
 * for each instruction. */
static bool python_callback(struct eval *ev, const struct step *s)
{
    struct str target = inst_str(s->inst, A_CUSTOM_CALL_TARGET);
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE)
            return EVAL_FAIL(ev, s, CALLBACK, STR_ARG(target), STR_ARG(target));
    if (!diag_was_reported(ev->ds, s->inst->span, MSG_CALLBACK_SKIPPED))
        eval_where(s, DIAG(ev->ds, s->inst->span, CALLBACK_SKIPPED, STR_ARG(target)), ev);
    return true;
}

/* Sorted by name; a name that ends in `*` matches every name with that prefix. */
static const struct target {
    const char *name;
    eval_family_fn *run;
    bool in_dry_run;
} targets[] = {
    {"AllocateBuffer", all_zeros},
    {"GetRngSeed", rng_seed},
    {"PadToStatic", eval_pad_to_static},
    {"PartialReduce", eval_partial_reduce, true},
    {"ProductOfElementaryHouseholderReflectors", eval_lapack},
    {"Qr", eval_lapack},
    {"SliceToDynamic", eval_slice_to_dynamic},
    {"TopK", top_k, true},
    {"blas_*", eval_lapack},
    {"ducc_fft", eval_fft_call},
    {"dynamic_ducc_fft", eval_fft_call},
    {"lapack_*", eval_lapack},
    {"onnx.Loop", eval_onnx_loop},
    {"pocketfft", eval_fft_call},
    {"tridiagonal_solve_perturbed_ffi", eval_lapack},
    {"xla.sdy.ShardingGroup", all_zeros}, /* marks its operand; its own result is not used */
    {"xla_buffer_python_cpu_callback", python_callback},
    {"xla_ffi_partitioned_python_cpu_callback", python_callback},
    {"xla_ffi_python_cpu_callback", python_callback},
    {"xla_python_cpu_callback", python_callback},
};

/* ---- user code ---- */

struct outside {
    struct eval *ev;
    const struct step *s;
    struct foreign_array *operands, *results;
    struct value *made; /* dense copies of operands */
};

static void list_leaves(const struct shape *s, struct foreign_array *out, int *count)
{
    if (!shape_is_tuple(s))
        out[(*count)++].shape = s;
    for (int k = 0; shape_is_tuple(s) && k < s->count; k++)
        list_leaves(s->elements[k], out, count);
}

/* operand_layout_constraints= gives the layouts that the code expects; otherwise operands keep
 * their own. */
static void list_operands(struct outside *o)
{
    const struct inst *i = o->s->inst;
    const struct attr *expected = inst_attr(i, A_OPERAND_LAYOUT_CONSTRAINTS);
    int count = 0;
    for (int k = 0; k < i->operand_count; k++)
        list_leaves(expected ? expected->v.shapes.at[k] : i->operands[k]->shape, o->operands,
                    &count);
}

static bool check_kind(struct outside *o, const struct shape *shape)
{
    return shape_is_array(shape) || shape_is_token(shape) ||
           EVAL_FAIL(o->ev, o->s, UNSUPPORTED, op_spelling(o->s->inst->opcode),
                     dtype_spelling(shape->dtype));
}

static bool take_operands(struct outside *o)
{
    struct eval *ev = o->ev;
    for (int k = 0; k < o->s->operand_count; k++) {
        if (!check_kind(o, o->operands[k].shape))
            return false;
        if (o->s->operands[k] == NO_VALUE)
            continue;
        const struct value *v = eval_operand(ev, o->s, k);
        if (v->bounds)
            return call_failed(
                ev, o->s,
                arena_printf(&ev->scratch, "operand leaf %d is smaller than its bound", k));
        const struct view *x = eval_dense(ev, o->s, k, v->view.dtype, &o->made[k]);
        if (!x)
            return false;
        o->operands[k].data = x->data;
    }
    return true;
}

static bool make_results(struct outside *o)
{
    for (int r = 0; r < o->s->result_count; r++) {
        if (!check_kind(o, o->results[r].shape))
            return false;
        if (o->s->results[r] == NO_VALUE)
            continue;
        if (!eval_clear(o->ev, o->s, r))
            return false;
        o->results[r].data = o->ev->frame[o->s->results[r]].view.data;
    }
    return true;
}

/* The index of the first leaf of the component at an index path. */
static int64_t leaf_at(const struct shape *s, struct ints path)
{
    int64_t leaf = 0;
    for (int64_t d = 0; d < path.count; d++) {
        leaf += shape_first_leaf(s, path.at[d]);
        s = s->elements[path.at[d]];
    }
    return leaf;
}

/* Copies aliased operands to their results: output_to_operand_aliasing=. */
static void fill_aliased(struct outside *o)
{
    const struct inst *i = o->s->inst;
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    for (int k = 0; a && k < a->v.aliasing.count; k++) {
        const struct alias *alias = &a->v.aliasing.at[k];
        const struct shape *operand = i->operands[alias->operand]->shape;
        const struct foreign_array *in =
            &o->operands[o->s->starts[alias->operand] + leaf_at(operand, alias->index)];
        const struct foreign_array *out = &o->results[leaf_at(i->shape, alias->output)];
        int64_t have, result_bytes,
            n = shape_leaf_count(shape_at(operand, alias->index.at, (size_t)alias->index.count));
        for (; n > 0; n--, in++, out++)
            if (in->data && out->data && shape_bytes(in->shape, &have) &&
                shape_bytes(out->shape, &result_bytes))
                memcpy(out->data, in->data, (size_t)(have < result_bytes ? have : result_bytes));
    }
}

static bool call_out(struct outside *o, struct foreign_target target)
{
    struct eval *ev = o->ev;
    const struct foreign *f = &ev->p->options.foreign;
    struct foreign_call c = {
        .inst = o->s->inst,
        .participant = eval_self(ev),
        .budget = &ev->state->budget,
        .operand_count = o->s->operand_count,
        .result_count = o->s->result_count,
        .operands = o->operands,
        .results = o->results,
    };
    struct buf why = {0};
    bool ok = f->call(f->context, target, &c, &why);
    if (!ok && ev->state->budget.hit != LIMIT_NONE)
        eval_limit(ev, o->s);
    else if (!ok)
        call_failed(ev, o->s, buf_view(&why));
    buf_free(&why);
    return ok;
}

static bool run_outside(struct eval *ev, const struct step *s, struct foreign_target target)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct outside o = {.ev = ev, .s = s};
    int count = 0;
    o.operands = ARENA_ARRAY(&ev->scratch, struct foreign_array, s->operand_count);
    o.results = ARENA_ARRAY(&ev->scratch, struct foreign_array, s->result_count);
    o.made = ARENA_ARRAY(&ev->scratch, struct value, s->operand_count);
    list_operands(&o);
    list_leaves(s->inst->shape, o.results, &count);
    bool ok = take_operands(&o) && make_results(&o);
    if (ok)
        fill_aliased(&o);
    ok = ok && call_out(&o, target);
    for (int k = 0; k < s->operand_count; k++)
        value_drop(ev, &o.made[k]);
    arena_release(&ev->scratch, mark);
    return ok;
}

static const struct target *find_target(const struct step *s)
{
    struct str name = inst_str(s->inst, A_CUSTOM_CALL_TARGET);
    for (size_t k = 0; k < COUNT_OF(targets); k++)
        if (str_fits(name, str_of(targets[k].name)))
            return &targets[k];
    return NULL;
}

bool eval_custom_in_dry_run(const struct step *s)
{
    const struct target *t = s->as.call.foreign.entry ? NULL : find_target(s);
    return t && t->in_dry_run;
}

/* spec: CustomCall */
bool eval_custom(struct eval *ev, const struct step *s)
{
    struct str name = inst_str(s->inst, A_CUSTOM_CALL_TARGET);
    if (s->as.call.foreign.entry)
        return run_outside(ev, s, s->as.call.foreign);
    const struct target *t = find_target(s);
    if (s->as.call.fallback.entry && (!t || t->run == python_callback))
        return run_outside(ev, s, s->as.call.fallback);
    if (t)
        return t->run(ev, s);
    return EVAL_FAIL(ev, s, UNKNOWN_TARGET, STR_ARG(name), STR_ARG(name));
}
