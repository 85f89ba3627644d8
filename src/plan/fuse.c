/*
 * Elementwise steps that only feed each other become one: their values go from kernel to kernel in
 * tiles, and only what others read becomes an array.
 *
 * From the last step to the first, a step joins the group of its readers when all of them are in one
 * group, of the same dimensions. The group runs where its last step stands; that the others run later than
 * they stand must not keep an array alive that somebody in between wants to change in place.
 */
#include "plan/plan_priv.h"

enum { NOBODY = -1, OTHERS = -2 };

/* Of the step that is last in it. */
struct group {
    int steps, first; /* how many, and the first of them */
    int leaf_count;
    int leaves[KERN_FUSED_VIEWS]; /* values from outside, each once */
};

struct fusing {
    struct planner *pl;
    struct function *f;
    struct group *groups; /* by step */
    int *root;            /* by step: the last step of its group; itself when it is alone; NOBODY: it can't be in one */
    int *next;            /* by step: the one after it in its group; meaningless for the last */
    int *reader;          /* by value: the group that reads it, NOBODY, or OTHERS */
    int *next_other;      /* by value: the first step known to read it outside of any group */
};

/* ---- which steps ---- */

static bool same_dims(const struct shape *a, const struct shape *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

static enum dtype wanted_type(const struct step *s, int k)
{
    return s->inst->opcode == OP_SELECT && k == 0 ? DT_PRED : s->tile_type;
}

static bool can_fuse(const struct step *s)
{
    const struct inst *i = s->inst;
    if (!s->tile || s->once != ONCE_NOT || s->operand_count > KERN_MAX_ARGS || s->operand_count != i->operand_count ||
        s->result_count != 1 || s->results[0] == NO_VALUE)
        return false;
    const struct shape *out = s->shapes[0];
    bool ok = out->rank > 0 && s->tile_result == out->dtype;
    for (int k = 0; k < s->operand_count && ok; k++) {
        const struct shape *x = i->operands[k]->shape;
        ok = s->operands[k] != NO_VALUE && x->dtype == wanted_type(s, k) && (x->rank == 0 || same_dims(x, out));
    }
    return ok;
}

/* ---- groups ---- */

static int find_leaf(const struct group *g, int value)
{
    int k = 0;
    while (k < g->leaf_count && g->leaves[k] != value)
        k++;
    return k;
}

static bool add_leaves(struct group *g, const struct step *s)
{
    for (int k = 0; k < s->operand_count; k++) {
        int at = find_leaf(g, s->operands[k]);
        if (at == KERN_FUSED_VIEWS)
            return false;
        g->leaves[at] = s->operands[k];
        g->leaf_count += at == g->leaf_count;
    }
    return true;
}

/* Whether step k may run where the group of `root` runs. */
static bool may_move(const struct fusing *z, int k, int root)
{
    const struct step *s = &z->f->steps[k];
    for (int j = 0; j < s->operand_count; j++)
        if (s->operands[j] >= 0 && z->next_other[s->operands[j]] < root)
            return false;
    return true;
}

static bool join(struct fusing *z, int k, int root)
{
    const struct step *s = &z->f->steps[k];
    struct group g = z->groups[root];
    if (g.steps == KERN_FUSED_OPS || !same_dims(s->shapes[0], z->f->steps[root].shapes[0]) || !may_move(z, k, root))
        return false;
    g.leaves[find_leaf(&g, s->results[0])] = g.leaves[g.leaf_count - 1];
    g.leaf_count--;
    if (!add_leaves(&g, s))
        return false;
    z->next[k] = g.first; /* steps come from the last to the first */
    g.first = k;
    g.steps++;
    z->groups[root] = g;
    z->root[k] = root;
    return true;
}

static void place(struct fusing *z, int k)
{
    const struct step *s = &z->f->steps[k];
    if (!can_fuse(s)) {
        z->root[k] = NOBODY;
        return;
    }
    int root = z->reader[s->results[0]];
    if (root >= 0 && join(z, k, root))
        return;
    z->root[k] = k;
    z->groups[k] = (struct group){.steps = 1, .first = k};
    add_leaves(&z->groups[k], s);
}

static void note_reads(struct fusing *z, int k)
{
    const struct step *s = &z->f->steps[k];
    int by = z->root[k] == NOBODY ? OTHERS : z->root[k];
    for (int j = 0; j < s->operand_count; j++) {
        int v = s->operands[j];
        if (v < 0)
            continue;
        z->reader[v] = z->reader[v] == NOBODY || z->reader[v] == by ? by : OTHERS;
        if (by == OTHERS)
            z->next_other[v] = k;
    }
}

/* ---- one step of a group ---- */

struct numbering {
    const struct group *group;
    struct kern_fused *fused;
    int *tile;        /* by value of the group, in `values` */
    int *values;
    int *last;        /* by the same: the op that reads it last */
    bool busy[KERN_FUSED_OPS];
};

static int find_value(const struct numbering *n, int count, int value)
{
    int k = 0;
    while (k < count && n->values[k] != value)
        k++;
    return k;
}

static uint8_t number_of(const struct numbering *n, int ops, int value)
{
    int leaf = find_leaf(n->group, value);
    return (uint8_t)(leaf < n->group->leaf_count ? leaf : n->group->leaf_count + n->tile[find_value(n, ops, value)]);
}

static int take_tile(struct numbering *n)
{
    int t = 0;
    while (n->busy[t])
        t++;
    n->busy[t] = true;
    if (t >= n->fused->tile_count)
        n->fused->tile_count = t + 1;
    return t;
}

/* The steps of a group, in their order, as operations; tiles are shared by values that don't live at the same time. */
static void number(struct numbering *n, const struct step *const *steps, int count, struct kern_fused_op *ops)
{
    for (int k = 0; k < count; k++) {
        n->values[k] = steps[k]->results[0];
        for (int j = 0; j < steps[k]->operand_count; j++) {
            int at = find_value(n, k, steps[k]->operands[j]);
            if (at < k)
                n->last[at] = k;
        }
    }
    for (int k = 0; k < count; k++) {
        const struct step *s = steps[k];
        ops[k] = (struct kern_fused_op){.fn = s->tile, .arg_count = (uint8_t)s->operand_count};
        for (int j = 0; j < s->operand_count; j++)
            ops[k].args[j] = number_of(n, k, s->operands[j]);
        n->tile[k] = take_tile(n);
        ops[k].out = (uint8_t)(n->group->leaf_count + n->tile[k]);
        for (int j = 0; j < k; j++)
            if (n->last[j] == k)
                n->busy[n->tile[j]] = false;
        if (dtype_bytes(s->shapes[0]->dtype) > n->fused->width)
            n->fused->width = dtype_bytes(s->shapes[0]->dtype);
    }
}

static void make_fused(struct fusing *z, int root)
{
    struct arena *keep = &z->pl->p->arena, *scratch = &z->pl->scratch;
    const struct group *g = &z->groups[root];
    struct step *s = &z->f->steps[root];
    const struct step **steps = ARENA_ARRAY(scratch, const struct step *, g->steps);
    for (int at = 0, k = g->first; at < g->steps; at++, k = z->next[k])
        steps[at] = &z->f->steps[k];
    struct kern_fused *fused = ARENA_NEW(keep, struct kern_fused);
    struct kern_fused_op *ops = ARENA_ARRAY(keep, struct kern_fused_op, g->steps);
    struct numbering n = {.group = g, .fused = fused, .tile = ARENA_ARRAY(scratch, int, g->steps),
                          .values = ARENA_ARRAY(scratch, int, g->steps), .last = ARENA_ARRAY(scratch, int, g->steps)};
    number(&n, steps, g->steps, ops);
    fused->view_count = g->leaf_count;
    fused->op_count = g->steps;
    fused->ops = ops;
    enum dtype *types = ARENA_ARRAY(keep, enum dtype, g->leaf_count);
    for (int k = 0; k < g->steps; k++)
        for (int j = 0; j < steps[k]->operand_count; j++)
            if (ops[k].args[j] < g->leaf_count)
                types[ops[k].args[j]] = wanted_type(steps[k], j);
    s->operands = ARENA_DUP(keep, g->leaves, g->leaf_count);
    s->operand_count = g->leaf_count;
    s->fused = fused;
    s->fused_types = types;
}

/* ---- all of them ---- */

static void fuse_groups(struct fusing *z)
{
    struct function *f = z->f;
    for (int k = 0; k < f->step_count; k++)
        if (z->root[k] == k && z->groups[k].steps > 1)
            make_fused(z, k);
    int count = 0;
    for (int k = 0; k < f->step_count; k++)
        if (z->root[k] == NOBODY || z->root[k] == k)
            f->steps[count++] = f->steps[k];
    f->step_count = count;
}

void plan_fuse(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    struct arena *a = &pl->scratch;
    struct fusing z = {.pl = pl, .f = f, .groups = ARENA_ARRAY(a, struct group, f->step_count),
                       .root = ARENA_ARRAY(a, int, f->step_count), .next = ARENA_ARRAY(a, int, f->step_count),
                       .reader = ARENA_ARRAY(a, int, value_count), .next_other = ARENA_ARRAY(a, int, value_count)};
    for (int v = 0; v < value_count; v++) {
        z.reader[v] = NOBODY;
        z.next_other[v] = INT_MAX;
    }
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            z.reader[results.at[j]] = OTHERS;
    for (int k = f->step_count - 1; k >= 0; k--) {
        place(&z, k);
        note_reads(&z, k);
    }
    fuse_groups(&z);
}
