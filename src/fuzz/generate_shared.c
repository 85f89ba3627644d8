/*
 * Computations called by several instructions: with one value for two parameters, with constants,
 * with results of other calls; as callee, reducer, comparator, branch and loop body.
 */
#include "fuzz/generate_priv.h"

#include <string.h>

/* ---- recorded computations ---- */

struct shared gen_scalar_signature(enum role role, int count, const enum dtype *params,
                                   struct type result)
{
    struct shared s = {.role = role, .param_count = count, .results = {result}};
    for (int k = 0; k < count; k++)
        s.params[k] = type_scalar(params[k]);
    return s;
}

void gen_share(struct gen *g, struct shared *s, int number)
{
    s->number = number;
    s->nested = g->closed_nested;
    s->random = g->closed_random;
    s->fusible &= !s->nested;
    if (g->shared_count < GEN_SHARED)
        g->shared[g->shared_count++] = *s;
}

static bool same_types(int count, const struct type *a, const struct type *b)
{
    for (int k = 0; k < count; k++)
        if (!type_equal(&a[k], &b[k]))
            return false;
    return true;
}

static bool fits(const struct shared *s, const struct shared *requested)
{
    return (requested->role == ROLE_CALLEE || requested->role == s->role) &&
           s->param_count == requested->param_count && s->takes_tuple == requested->takes_tuple &&
           s->result_count == requested->result_count && (requested->random || !s->random) &&
           same_types(s->param_count, s->params, requested->params) &&
           same_types(s->result_count ? s->result_count : 1, s->results, requested->results);
}

/* Records a call in the region. */
static void note_call(struct gen *g, const struct shared *s)
{
    g->region->nested = true;
    g->region->random |= s->random;
}

int gen_reuse(struct gen *g, int percent, const struct shared *requested)
{
    const struct shared *found = NULL;
    int count = 0;
    if (!gen_chance(g, percent))
        return -1;
    for (int k = 0; k < g->shared_count; k++)
        if (fits(&g->shared[k], requested) && gen_below(g, ++count) == 0)
            found = &g->shared[k];
    if (!found)
        return -1;
    note_call(g, found);
    return found->number;
}

bool gen_some_shared(struct gen *g, enum role role, struct shared *out)
{
    int count = 0;
    for (int k = 0; k < g->shared_count; k++)
        if ((role == ROLE_CALLEE || g->shared[k].role == role) && gen_below(g, ++count) == 0)
            *out = g->shared[k];
    return count > 0;
}

/* ---- calls ---- */

/* The last previous argument of this type; -1: none. */
static int same_before(int count, const struct val *args, const struct type *t)
{
    while (count > 0 && !type_equal(&args[count - 1].type, t))
        count--;
    return count - 1;
}

void gen_arguments(struct gen *g, const struct shared *s, struct val *out)
{
    for (int k = 0; k < s->param_count; k++) {
        int before = same_before(k, out, &s->params[k]);
        struct val last = gen_last(g, &s->params[k]);
        int64_t pick = gen_below(g, 100);
        if (pick < 30 && before >= 0)
            out[k] = out[before];
        else if (pick < 50 && last.id >= 0)
            out[k] = last;
        else
            out[k] = pick < 65 ? gen_constant(g, s->params[k]) : gen_value(g, s->params[k]);
    }
}

void gen_call(struct gen *g, enum opcode op, const struct shared *s, const struct val *args)
{
    const char *composite =
        ", is_composite=true, "
        "frontend_attributes={composite.name=\"own.op\",composite.version=\"1\"}";
    struct buf rest = {0}, shape = {0};
    struct val tuple;
    int count = s->param_count;
    note_call(g, s);
    if (s->takes_tuple) {
        put_tuple_type(&shape, count, s->params);
        tuple = gen_emit_raw(g, shape.data, "tuple", count, args, NULL);
        args = &tuple;
        count = 1;
    }
    if (op == OP_FUSION)
        buf_printf(&rest, ", kind=%s, calls=c%d", enum_word(A_KIND, (int)gen_below(g, 3)),
                   s->number);
    else
        buf_printf(&rest, ", to_apply=c%d%s", s->number, gen_chance(g, 10) ? composite : "");
    if (s->result_count == 0)
        gen_emit(g, op, s->results[0], count, args, "%s", rest.data);
    else
        gen_emit_tuple(g, op, s->result_count, s->results, count, args, NULL, "%s", rest.data);
    for (int k = 0; k < g->shared_count && op == OP_FUSION; k++)
        g->shared[k].fusible &= g->shared[k].number != s->number;
    buf_free(&rest);
    buf_free(&shape);
}

/* ---- other instructions that call the same computation ---- */

static bool is_scalar(const struct type *t) { return t->rank == 0 && t->dynamic == 0; }

/* From scalars of one type to a scalar. */
static bool is_elementwise(const struct shared *s)
{
    for (int k = 0; k < s->param_count; k++)
        if (!is_scalar(&s->params[k]) || s->params[k].dtype != s->params[0].dtype)
            return false;
    return s->param_count > 0 && !s->takes_tuple && !s->random && s->result_count == 0 &&
           is_scalar(&s->results[0]);
}

static void put_all_dims(struct buf *out, int rank)
{
    int64_t dims[GEN_RANK];
    for (int d = 0; d < rank; d++)
        dims[d] = d;
    put_list(out, dims, rank);
}

static void map(struct gen *g, const struct shared *s)
{
    struct val args[GEN_PARAMS];
    struct type t = gen_type(g, TY_ANY, 0);
    struct buf list = {0};
    for (int k = 0; k < s->param_count; k++) {
        struct type own = type_with(t, s->params[k].dtype);
        args[k] = k > 0 && gen_chance(g, 30) ? args[k - 1] : gen_value(g, own);
    }
    put_all_dims(&list, t.rank);
    note_call(g, s);
    gen_emit(g, OP_MAP, type_with(t, s->results[0].dtype), s->param_count, args,
             ", dimensions=%s, to_apply=c%d", list.data, s->number);
    buf_free(&list);
}

/* Along all dimensions, with an initial value of any kind. */
static void reduce(struct gen *g, const struct shared *s)
{
    struct type t = type_with(gen_type(g, TY_ANY, 0), s->params[0].dtype);
    struct val both[2] = {gen_value(g, t), gen_value(g, s->params[0])};
    struct buf list = {0};
    put_all_dims(&list, t.rank);
    note_call(g, s);
    gen_emit(g, OP_REDUCE, s->results[0], 2, both, ", dimensions=%s, to_apply=c%d", list.data,
             s->number);
    buf_free(&list);
}

/* A conditional all of whose branches are this computation. */
static void conditional(struct gen *g, const struct shared *s)
{
    struct val all[3] = {gen_value(g, type_scalar(DT_PRED))};
    gen_arguments(g, s, all + 1);
    gen_arguments(g, s, all + 2);
    note_call(g, s);
    if (s->result_count == 0)
        gen_emit(g, OP_CONDITIONAL, s->results[0], 3, all,
                 ", true_computation=c%d, false_computation=c%d", s->number, s->number);
    else
        gen_emit_tuple(g, OP_CONDITIONAL, s->result_count, s->results, 3, all, NULL,
                       ", true_computation=c%d, false_computation=c%d", s->number, s->number);
}

static void use_otherwise(struct gen *g, const struct shared *s)
{
    if (s->role == ROLE_REDUCER && s->result_count == 0 && gen_chance(g, 50))
        reduce(g, s);
    else if (is_elementwise(s))
        map(g, s);
    else if (s->param_count == 1 && !s->takes_tuple)
        conditional(g, s);
}

void gen_more_calls(struct gen *g, const struct shared *s)
{
    struct val args[GEN_PARAMS];
    for (int n = 0; n < 3 && gen_chance(g, 45); n++) {
        gen_arguments(g, s, args);
        gen_call(g, OP_CALL, s, args);
    }
    if (gen_chance(g, 30))
        use_otherwise(g, s);
}
