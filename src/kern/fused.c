/*
 * fused.c: several tile kernels in one pass over their operands; it has no kernel of its own. Each
 * element is computed by the same kernels in the same order as by one pass for each of them, so the bits
 * are the same.
 */
#include "kern/tile.h"

struct run {
    const struct kern_fused *f;
    const struct view *out, *views;
    char *room; /* of all members, one after the other */
};

static size_t tile_bytes(const struct kern_fused *f)
{
    return KERN_TILE * f->width;
}

size_t kern_fused_room(const struct kern_fused *f)
{
    return (size_t)f->tile_count * tile_bytes(f);
}

/* At most a tile of elements. */
static void run_tile(const struct run *r, int member, void *out, const void *const *views, int64_t n)
{
    const struct kern_fused *f = r->f;
    char *room = r->room + (size_t)member * kern_fused_room(f);
    for (int k = 0; k < f->op_count; k++) {
        const struct kern_fused_op *op = &f->ops[k];
        const void *args[KERN_MAX_ARGS];
        for (int j = 0; j < op->arg_count; j++)
            args[j] = op->args[j] < f->view_count
                          ? views[op->args[j]]
                          : room + (size_t)(op->args[j] - f->view_count) * tile_bytes(f);
        void *to = k == f->op_count - 1 ? out : room + (size_t)(op->out - f->view_count) * tile_bytes(f);
        op->fn(to, args, n);
    }
}

/* Packed elements; more than a tile of them come only when all views are packed. */
static void run_packed(const void *context, int member, void *out, const void *const *views, int64_t n)
{
    const struct run *r = context;
    const void *at[KERN_FUSED_VIEWS];
    for (int64_t done = 0; done < n; done += KERN_TILE) {
        for (int k = 0; k < r->f->view_count; k++)
            at[k] = (const char *)views[k] + (size_t)done * dtype_bytes(r->views[k].dtype);
        run_tile(r, member, (char *)out + (size_t)done * dtype_bytes(r->out->dtype), at,
                 n - done < KERN_TILE ? n - done : KERN_TILE);
    }
}

void kern_run_fused(struct team *team, const struct kern_fused *f, const struct view *out, const struct view *views, void *room)
{
    struct run r = {f, out, views, room};
    tile_map(team, run_packed, &r, out, f->view_count, views);
}
