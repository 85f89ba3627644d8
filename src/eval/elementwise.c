/*
 * elementwise.c: elementwise operations and comparisons: one tile kernel over the operands, in the
 * storage of an operand that is not read again.
 */
#include "eval/eval_priv.h"

/* Whether operand k is a select's predicate: a kernel may overwrite the numbers that it reads, but
 * not the predicate. */
static bool is_chooser(const struct step *s, int k)
{
    return step_fused(s) ? s->as.fused.types[k] == DT_PRED : s->inst->opcode == OP_SELECT && k == 0;
}

/* Storage for result r, which may overlap the operands of the bit set. */
static struct view *find_storage(struct eval *ev, const struct step *s, int r, uint64_t over)
{
    for (int k = 0; k < s->operand_count; k++) {
        struct view *out =
            is_chooser(s, k) || !(over >> k & 1) ? NULL : eval_reuse(ev, s, r, k, false);
        if (out)
            return out;
    }
    return eval_result(ev, s, r);
}

static bool apply(struct eval *ev, const struct step *s)
{
    struct view args[KERN_MAX_ARGS];
    for (int k = 0; k < s->operand_count; k++)
        view_copy(&args[k], eval_view(ev, s, k));
    struct view *out = find_storage(ev, s, 0, UINT64_MAX);
    if (!out || eval_is_dry_run(ev))
        return out != NULL;
    if (out->rank == 0) {
        const void *at[KERN_MAX_ARGS];
        for (int k = 0; k < s->operand_count; k++)
            at[k] = args[k].data;
        s->as.tile.run(out->data, at, 1);
    } else {
        kern_map_tiles(ev->workers, s->as.tile.run, out, s->operand_count, args);
    }
    return true;
}

/* ---- several steps in one ---- */

/* Storage for the results of a fused loop: results of the step, or parts of these. */
static struct view *find_results(struct eval *ev, const struct step *s)
{
    const struct fused_step *fused = &s->as.fused;
    const int n = fused->loop->result_count;
    struct view *results = ARENA_ARRAY(&ev->scratch, struct view, n);
    struct view **stored = ARENA_ARRAY(&ev->scratch, struct view *, s->result_count);
    for (int k = 0; k < n; k++) {
        const struct fused_part *part = fused->parts ? &fused->parts[k] : NULL;
        const bool whole = !part || part->dimension < 0;
        const int r = part ? part->result : k;
        if (!stored[r])
            stored[r] = find_storage(ev, s, r, whole ? fused->loop->results[k].over : 0);
        if (!stored[r])
            return NULL;
        view_copy(&results[k], stored[r]);
        if (whole)
            continue;
        results[k].dims[part->dimension] = part->size;
        results[k].data += part->at * results[k].strides[part->dimension];
    }
    return results;
}

static bool run_fused(struct eval *ev, const struct step *s)
{
    enum { LINE = 64 };
    const struct fused_step *fused = &s->as.fused;
    struct view *views = ARENA_ARRAY(&ev->scratch, struct view, s->operand_count);
    for (int k = 0; k < s->operand_count; k++) {
        view_copy(&views[k], eval_view(ev, s, k));
        if (views[k].dtype != fused->types[k])
            return eval_unsupported(ev, s);
    }
    struct view *results = find_results(ev, s);
    if (!results || eval_is_dry_run(ev))
        return results != NULL;
    const size_t size = kern_fused_workspace(fused->loop, thread_pool_size(ev->workers)) + LINE;
    void *large = size >= RESERVE_FROM ? mem_alloc(size) : NULL;
    char *workspace = large ? large : arena_alloc(&ev->scratch, size);
    workspace += (LINE - (uintptr_t)workspace % LINE) % LINE;
    kern_run_fused(ev->workers, fused->loop, results, views, workspace);
    mem_free(large);
    return true;
}

bool eval_fused(struct eval *ev, const struct step *s)
{
    for (int k = 1; k < s->as.fused.count; k++) /* each counts as one step */
        if (!budget_step(&ev->state->budget))
            return eval_limit(ev, s);
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok = run_fused(ev, s);
    arena_release(&ev->scratch, mark);
    return ok;
}

bool eval_elementwise(struct eval *ev, const struct step *s)
{
    const struct tile_step *tile = step_tile(s);
    if (!tile || s->operand_count > KERN_MAX_ARGS)
        return eval_unsupported(ev, s);
    bool fits = tile->result == s->shapes[0]->dtype;
    for (int k = 0; k < s->operand_count && fits; k++)
        fits = is_chooser(s, k) || eval_view(ev, s, k)->dtype == tile->type;
    return fits ? apply(ev, s) : eval_unsupported(ev, s);
}

/* Comparisons are elementwise: the plan has chosen their kernel by direction and order. */
bool eval_compare(struct eval *ev, const struct step *s) { return eval_elementwise(ev, s); }
