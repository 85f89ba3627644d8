/*
 * reduce.c: tests candidates, and drives the sequence of reduction steps.
 */
#include "edit/reduce_priv.h"

#include "base/oom.h"
#include "text/text.h"

#include <stdlib.h>

/* ---- the size of a module ---- */

static bool is_splat(const struct inst *i)
{
    return i->opcode == OP_BROADCAST && i->operand_count == 1 &&
           i->operands[0]->opcode == OP_CONSTANT && i->operands[0]->shape->rank == 0;
}

enum { WEIGHT_VALUE = 1, WEIGHT_INST = 3 };

static int64_t weight_of(const struct inst *i)
{
    return i->opcode == OP_CONSTANT || i->opcode == OP_PARAMETER || is_splat(i) ? WEIGHT_VALUE
                                                                                : WEIGHT_INST;
}

/* The score of a module, and a hash of its text and of the constants that the text elides. */
static uint64_t score_module(const struct module *m, struct score *score)
{
    struct buf text = {0};
    text_print_module(&text, m, NULL);
    uint64_t hash = hash_bytes(text.data, text.size);
    *score = (struct score){.bytes = (int64_t)text.size};
    buf_free(&text);
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;) {
        int64_t size;
        score->weight += weight_of(i);
        score->calls += inst_callees(i, NULL);
        if (i->opcode != OP_CONSTANT || !i->literal || !i->literal->data ||
            !shape_bytes(i->literal->shape, &size))
            continue;
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + hash_bytes(i->literal->data, (size_t)size);
        score->bytes += size;
    }
    return hash;
}

static bool smaller(const struct score *a, const struct score *b)
{
    if (a->weight != b->weight)
        return a->weight < b->weight;
    if (a->calls != b->calls)
        return a->calls < b->calls;
    return a->bytes < b->bytes;
}

/* ---- testing candidates ---- */

static bool mark_as_tried(struct reducer *r, uint64_t hash)
{
    for (size_t k = 0; k < r->tried_count; k++)
        if (r->tried[k] == hash)
            return false;
    VEC_PUSH(&r->arena, r->tried, r->tried_count, r->tried_capacity) = hash;
    return true;
}

static size_t inst_total(const struct module *m)
{
    size_t n = 0;
    for (int c = 0; c < m->computation_count; c++)
        n += (size_t)m->computations[c]->inst_count;
    return n;
}

static bool test_candidate(struct reducer *r, struct module *m)
{
    if (r->over || (r->deadline > 0 && now_ns() >= r->deadline)) {
        r->over = true;
        return false;
    }
    if (r->how->progress && !r->how->progress(r->how->context, inst_total(r->now), r->asked)) {
        r->over = true;
        return false;
    }
    r->asked++;
    return r->how->bad(r->how->context, m);
}

static void accept_candidate(struct reducer *r, struct module *m, const struct score *score)
{
    module_free(r->now);
    r->now = m;
    r->score = *score;
    arena_free(&r->index);
    map_init(&r->names, &r->index);
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;)
        map_put(&r->names, i->name, i);
}

struct inst *reducer_find(const struct reducer *r, struct str name)
{
    return name.len ? map_get(&r->names, name) : NULL;
}

bool reducer_try(struct reducer *r, struct edit *e)
{
    const char *problem;
    struct score score;
    edit_drop_parameters(e);
    struct module *m = edit_finish(e, &problem);
    if (!m)
        return false;
    uint64_t hash = score_module(m, &score);
    if (smaller(&score, &r->score) && mark_as_tried(r, hash) &&
        r->how->verifies(r->how->context, m) && test_candidate(r, m)) {
        accept_candidate(r, m, &score);
        return true;
    }
    module_free(m);
    return false;
}

/* ---- the sequence of steps ---- */

/* One round of all steps. Those that remove many instructions with few tests come first, and enable
 * later ones. */
static bool run_round(struct reducer *r)
{
    static pass_fn *const passes[] = {
        pass_strip,  pass_outputs, pass_from_below,   pass_outputs,  pass_from_above,
        pass_values, pass_inline,  pass_computations, pass_operands,
    };
    bool better = false;
    for (size_t k = 0; k < COUNT_OF(passes) && !r->over; k++)
        better |= passes[k](r);
    return better;
}

/* Cleanup when memory runs out: candidates are freed elsewhere, but not the module that they derive
 * from. */
static void release(void *reducer)
{
    struct reducer *r = reducer;
    if (r->now == r->first)
        module_free(r->first);
}

struct module *reduce_module(struct module *m, const struct reduction *how)
{
    struct reducer r = {.how = how, .first = m, .now = module_hold(m)};
    struct score score;
    struct cleanup cleanup;
    oom_push_cleanup(&cleanup, release, &r);
    arena_init(&r.arena);
    arena_init(&r.index);
    score_module(m, &score);
    struct module *found = NULL;
    if (test_candidate(&r, m)) {
        if (how->seconds > 0)
            r.deadline = now_ns() + (int64_t)(how->seconds * 1e9);
        accept_candidate(&r, module_hold(m), &score);
        while (run_round(&r))
            continue;
        found = module_hold(r.now);
    }
    oom_pop_cleanup(&cleanup);
    module_free(r.now);
    arena_free(&r.index);
    arena_free(&r.arena);
    return found;
}
