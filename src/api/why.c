/*
 * Public interface: sources of an element, one level of operands.
 */
#include "api/api.h"

#include "why/why.h"

_Static_assert((int)HLO_MAX_RANK == (int)VIEW_MAX_RANK,
               "hlo_advanced.h and type.h have equal limits");

/* Context of a query: the caller's functions for known values. */
struct asking {
    const hlo_listing *l;
    const struct hlo_element *e;
    const struct hlo_known *known;
};

static const struct literal *value(void *context, const struct inst *i)
{
    const struct asking *q = context;
    bool before = oom_begin_callback();
    const hlo_literal *v =
        q->known->value(q->known->context, hlo_listing_number(q->l, i), q->e->within, q->e->depth);
    oom_end_callback(before);
    return v ? v->l : NULL;
}

/* The loop is in the same computation as the instruction, or is the enclosing one. */
static int64_t iterations(void *context, const struct inst *i)
{
    const struct asking *q = context;
    const size_t number = hlo_listing_number(q->l, i);
    const bool around = i->parent != hlo_listing_inst(q->l, q->e->inst)->parent;
    bool before = oom_begin_callback();
    int64_t n = q->known->iterations(q->known->context, number, q->e->within, q->e->depth - around);
    oom_end_callback(before);
    return n;
}

static bool report(hlo_messages *m, const char *text)
{
    hlo_messages_add(m, "<element>", text);
    return false;
}

static bool exists(const hlo_listing *l, const struct hlo_element *e, hlo_messages *m)
{
    const struct inst *i = e->inst < hlo_list_count(l) ? hlo_listing_inst(l, e->inst) : NULL;
    if (!i || (int64_t)e->leaf >= shape_leaf_count(i->shape) ||
        !shape_is_array(why_leaf_shape(i->shape, (int64_t)e->leaf)))
        return report(m, "unknown instruction or tuple element");
    if (!why_fits(i))
        return report(m, "rank exceeds the limit");
    const struct shape *s = why_leaf_shape(i->shape, (int64_t)e->leaf);
    for (int d = 0; d < s->rank; d++)
        if (e->index[d] < 0 || e->index[d] >= s->dims[d])
            return report(m, "index out of bounds");
    return true;
}

static struct hlo_source source_of(const hlo_listing *l, const struct why_source *s)
{
    static const enum hlo_source_place places[] = {[WHY_HERE] = HLO_SOURCE_HERE,
                                                   [WHY_INSIDE] = HLO_SOURCE_INSIDE,
                                                   [WHY_OUTSIDE] = HLO_SOURCE_OUTSIDE,
                                                   [WHY_BESIDE] = HLO_SOURCE_BESIDE};
    struct hlo_source out = {.inst = hlo_listing_number(l, s->inst),
                             .leaf = (size_t)s->leaf,
                             .rank = (size_t)s->rank,
                             .operand = s->operand,
                             .place = places[s->where],
                             .iteration = s->iteration,
                             .product = s->product,
                             .role = s->role};
    for (int d = 0; d < s->rank; d++) {
        out.start[d] = s->start[d];
        out.count[d] = s->count[d];
        out.step[d] = s->step[d];
        out.walk[d] = (size_t)s->walk[d];
    }
    return out;
}

long hlo_why(const hlo_listing *l, const struct hlo_element *e, const struct hlo_known *known,
             struct hlo_source *out, size_t max, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), -1));
    struct hlo_known given;
    if (!exists(l, e, m) || !hlo_options_copy(&given, sizeof given, known, m))
        return -1;
    SCOPED_ARENA arena = arena_make();
    struct asking q = {l, e, &given};
    const struct why_known asked = {&q, given.value ? value : NULL,
                                    given.iterations ? iterations : NULL};
    struct why w = {.arena = &arena, .known = &asked};
    if (e->depth > 0) {
        w.caller = hlo_listing_inst(l, e->within[e->depth - 1].inst);
        w.iteration = e->within[e->depth - 1].iteration;
    }
    why_element(&w, hlo_listing_inst(l, e->inst), (int64_t)e->leaf, e->index);
    for (size_t k = 0; k < w.count && k < max; k++)
        out[k] = source_of(l, &w.at[k]);
    return (long)w.count;
}
