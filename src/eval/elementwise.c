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

/* Storage for result r, which may overlap the operands of the bit set, among the first `count`. */
static struct view *find_storage(struct eval *ev, const struct step *s, int r, int count,
                                 uint64_t over)
{
    for (int k = 0; k < count; k++) {
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
    struct view *out = find_storage(ev, s, 0, s->operand_count, UINT64_MAX);
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

/* Storage for the results of a fused loop: results of the step, or parts of these. `views` are
 * those that the loop reads, one of which may be the window that it updates. */
struct storage {
    struct view *results, *views;
};

/* First, so that no other result takes the storage of an array that is updated. */
static bool update_windows(struct eval *ev, const struct step *s, struct storage *z)
{
    const struct fused_step *fused = &s->as.fused;
    for (int k = 0; fused->parts && k < fused->loop->result_count; k++) {
        const struct fused_part *p = &fused->parts[k];
        if (!p->window)
            continue;
        if (!eval_update_window(ev, s, p->result, p->array, p->start, p->window, &z->results[k]))
            return false;
        if (p->array < fused->loop->view_count)
            view_copy(&z->views[p->array], &z->results[k]);
    }
    return true;
}

static bool find_results(struct eval *ev, const struct step *s, struct storage *z)
{
    const struct fused_step *fused = &s->as.fused;
    struct view **stored = ARENA_ARRAY(&ev->scratch, struct view *, s->result_count);
    if (!update_windows(ev, s, z))
        return false;
    for (int k = 0; k < fused->loop->result_count; k++) {
        const struct fused_part *part = fused->parts ? &fused->parts[k] : NULL;
        const bool whole = !part || part->dimension < 0;
        const int r = part ? part->result : k;
        if (part && part->window)
            continue;
        if (!stored[r])
            stored[r] = find_storage(ev, s, r, fused->loop->view_count,
                                     whole ? fused->loop->results[k].over : 0);
        if (!stored[r])
            return false;
        view_copy(&z->results[k], stored[r]);
        if (whole)
            continue;
        z->results[k].dims[part->dimension] = part->size;
        z->results[k].data += part->at * z->results[k].strides[part->dimension];
    }
    return true;
}

static bool run_fused(struct eval *ev, const struct step *s)
{
    enum { LINE = 64 };
    const struct fused_step *fused = &s->as.fused;
    const struct kern_fused *loop = fused->loop;
    struct storage z = {ARENA_ARRAY(&ev->scratch, struct view, loop->result_count),
                        ARENA_ARRAY(&ev->scratch, struct view, loop->view_count)};
    for (int k = 0; k < loop->view_count; k++) {
        view_copy(&z.views[k], eval_view(ev, s, k));
        if (z.views[k].dtype != fused->types[k])
            return eval_unsupported(ev, s);
    }
    const bool found = find_results(ev, s, &z);
    if (!found || eval_is_dry_run(ev))
        return found;
    const size_t size = kern_fused_workspace(loop, thread_pool_size(ev->workers)) + LINE;
    void *large = size >= RESERVE_FROM ? mem_alloc(size) : NULL;
    char *workspace = large ? large : arena_alloc(&ev->scratch, size);
    workspace += (LINE - (uintptr_t)workspace % LINE) % LINE;
    kern_run_fused(ev->workers, loop, z.results, z.views, workspace);
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
