/*
 * scalar_moves.c: removes moves and dead operations from scalar code: values are computed in their
 * final registers where possible.
 *
 * Loops and branches are generated with moves at their ends, into the registers of the state or of
 * the result. Where the moved value is computed by one operation and the old contents of the
 * destination are not read in between, that operation may write to the destination directly.
 */
#include "plan/scalar.h"

#include <stdlib.h>

enum { TIDY_BUDGET = 1 << 22 }; /* operations processed; longer scalar code is left as it is */

struct live_range { /* A register that is storage of its own, and its live range. */
    const char *at;
    size_t size;
    int writes, reads;             /* number of operations that write and that read it */
    int first, made, last_read;    /* first and last operation that writes it, last that reads it */
    bool outside;                  /* holds an argument or a result */
    bool needed;                   /* read by an operation that is kept */
    int *touching, touching_count; /* operations that read or write it, in order */
};

struct cleanup_pass {
    struct arena *scratch;
    struct scalar_code *code;
    struct scalar_op *ops;
    int op_count, live_range_count;
    struct own_registers registers;
    struct live_range *live_ranges; /* by number of the register */
    /* by operation: the first operation of the innermost loop that contains it, or -1 */
    int *loop;
    bool *gone; /* by operation */
    int64_t budget;
};

/* ---- operands of operations ---- */

static void visit_view(const struct view *v, scalar_place_fn *fn, void *context, bool write)
{
    struct view *own = (struct view *)(uintptr_t)v; /* allocated for this operation */
    fn(context, own->data, &own->data, write);
}

static void visit_slice(struct scalar_slice *s, scalar_place_fn *fn, void *context)
{
    visit_view(&s->whole.view, fn, context, s->update);
    visit_view(&s->piece, fn, context, !s->update);
    for (int d = 0; d < s->whole.view.rank; d++)
        fn(context, s->index[d].at, &s->index[d].at, false);
}

static void visit_reduce(struct scalar_reduce *r, scalar_place_fn *fn, void *context)
{
    for (int k = 0; k < r->n; k++) {
        visit_view(&r->out[k], fn, context, true);
        visit_view(&r->x[k], fn, context, false);
        fn(context, r->init[k], &r->init[k], false);
    }
}

static void visit_step(struct scalar_step *s, scalar_place_fn *fn, void *context)
{
    for (int k = 0; k < s->step->operand_count; k++)
        visit_view(&s->args[k], fn, context, false);
    for (int k = 0; k < s->step->result_count; k++)
        visit_view(&s->results[k], fn, context, true);
}

static void visit_cycle(struct cycle *c, scalar_place_fn *fn, void *context)
{
    for (int k = 0; k < c->part_count; k++)
        visit_view(&c->parts[k].view, fn, context, false);
}

void scalar_visit(struct scalar_op *op, scalar_place_fn *fn, void *context)
{
    for (int k = 0; k < KERN_MAX_ARGS; k++)
        if (op->args[k])
            fn(context, op->args[k], &op->args[k], false);
    switch (op->kind) {
    case SCALAR_COPY:
        visit_view(&op->copy->out, fn, context, true);
        visit_view(&op->copy->x.view, fn, context, false);
        break;
    case SCALAR_PRECISION:
        visit_view(&op->precision->out, fn, context, true);
        visit_view(&op->precision->x, fn, context, false);
        break;
    case SCALAR_SLICE: visit_slice((struct scalar_slice *)(uintptr_t)op->slice, fn, context); break;
    case SCALAR_REDUCE:
        visit_reduce((struct scalar_reduce *)(uintptr_t)op->reduce, fn, context);
        break;
    case SCALAR_GATHER:
    case SCALAR_SCATTER:
        visit_view(&op->gather->whole.view, fn, context, op->kind == SCALAR_SCATTER);
        visit_view(&op->gather->small, fn, context, op->kind == SCALAR_GATHER);
        visit_view(&op->gather->indices, fn, context, false);
        break;
    case SCALAR_JUMP:
        if (op->cycle)
            visit_cycle(op->cycle, fn, context);
        break;
    case SCALAR_STEP: visit_step((struct scalar_step *)(uintptr_t)op->step, fn, context); break;
    case SCALAR_DOT:
        visit_view(&op->dot->out, fn, context, true);
        visit_view(&op->dot->lhs.view, fn, context, false);
        visit_view(&op->dot->rhs.view, fn, context, false);
        break;
    default: break;
    }
    if (op->out)
        fn(context, op->out, &op->out, true);
}

/* ---- live ranges ---- */

static int by_address(const void *a, const void *b)
{
    const struct reg *x = *(const struct reg *const *)a, *y = *(const struct reg *const *)b;
    return (x->at > y->at) - (x->at < y->at);
}

static size_t reg_size(const struct reg *r) { return (size_t)r->n * dtype_bytes(r->type); }

struct own_registers scalar_own_registers(const struct maker *m)
{
    struct own_registers r = {0, ARENA_ARRAY(&m->pl->scratch, const struct reg *, m->reg_count)};
    for (int k = 0; k < m->reg_count; k++)
        if (m->regs[k].own && reg_size(&m->regs[k]) > 0)
            r.at[r.count++] = &m->regs[k];
    if (r.count > 0)
        qsort(r.at, (size_t)r.count, sizeof *r.at, by_address);
    return r;
}

int scalar_register_at(const struct own_registers *r, const void *at)
{
    int low = 0, high = r->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (r->at[middle]->at <= (const char *)at)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && (const char *)at < r->at[low - 1]->at + reg_size(r->at[low - 1]) ? low - 1
                                                                                       : -1;
}

static struct live_range *live_range_of(const struct cleanup_pass *t, const void *at)
{
    const int k = scalar_register_at(&t->registers, at);
    return k < 0 ? NULL : &t->live_ranges[k];
}

static void list_live_ranges(struct cleanup_pass *t, const struct maker *m)
{
    t->registers = scalar_own_registers(m);
    t->live_range_count = t->registers.count;
    t->live_ranges = ARENA_ARRAY(&m->pl->scratch, struct live_range, t->live_range_count);
    for (int k = 0; k < t->live_range_count; k++)
        t->live_ranges[k] = (struct live_range){.at = t->registers.at[k]->at,
                                                .size = reg_size(t->registers.at[k]),
                                                .made = -1,
                                                .last_read = -1};
}

struct counting {
    struct cleanup_pass *t;
    int at;
    const struct live_range
        *made; /* several places of one operation may share a register: counted as one write */
};

static void count_place(void *context, const void *at, void *pointer, bool write)
{
    struct counting *c = context;
    struct live_range *h = live_range_of(c->t, at);
    if (!h)
        return;
    if (!write) {
        h->reads++;
        h->last_read = c->at;
    } else if (c->made != h) {
        if (h->writes++ == 0)
            h->first = c->at;
        h->made = c->at;
        c->made = h;
    }
}

static void mark_outside(struct cleanup_pass *t, const struct scalar_slot *slots, int count)
{
    for (int k = 0; k < count; k++) {
        struct live_range *h = slots[k].at ? live_range_of(t, slots[k].at) : NULL;
        if (h)
            h->outside = true;
    }
}

static void note_touching(void *context, const void *at, void *pointer, bool write)
{
    struct counting *c = context;
    struct live_range *h = live_range_of(c->t, at);
    if (h && (h->touching_count == 0 || h->touching[h->touching_count - 1] != c->at))
        h->touching[h->touching_count++] = c->at;
}

/* Called after counting: the counts of reads and writes are upper bounds. */
static void list_touching(struct cleanup_pass *t)
{
    size_t total = 0;
    for (int k = 0; k < t->live_range_count; k++)
        total += (size_t)(t->live_ranges[k].reads + t->live_ranges[k].writes);
    int *next = ARENA_ARRAY(t->scratch, int, total);
    for (int k = 0; k < t->live_range_count; k++) {
        t->live_ranges[k].touching = next;
        next += t->live_ranges[k].reads + t->live_ranges[k].writes;
    }
    for (int k = 0; k < t->op_count; k++) {
        struct counting c = {t, k, NULL};
        scalar_visit(&t->ops[k], note_touching, &c);
    }
}

static void count_places(struct cleanup_pass *t)
{
    for (int k = 0; k < t->op_count; k++) {
        struct counting c = {t, k, NULL};
        scalar_visit(&t->ops[k], count_place, &c);
    }
    mark_outside(t, t->code->args, t->code->arg_count + SCALAR_IDS);
    mark_outside(t, t->code->results, t->code->result_count);
}

/* Backward jumps close loops, which are nested. */
static void find_loops(struct cleanup_pass *t)
{
    for (int k = 0; k < t->op_count; k++)
        t->loop[k] = -1;
    for (int k = t->op_count - 1; k >= 0;
         k--) /* outer loops end later, so the inner ones overwrite them */
        if (t->ops[k].kind == SCALAR_JUMP && t->ops[k].count <= k)
            for (int j = t->ops[k].count; j <= k && t->budget > 0; j++, t->budget--)
                t->loop[j] = t->ops[k].count;
}

/* ---- removal of moves ---- */

struct search {
    const struct cleanup_pass *t;
    const struct live_range *h;
    bool found;
};

static void look_for(void *context, const void *at, void *pointer, bool write)
{
    struct search *s = context;
    s->found |= live_range_of(s->t, at) == s->h;
}

static bool touches(const struct cleanup_pass *t, int k, const struct live_range *h)
{
    struct search s = {t, h, false};
    scalar_visit(&t->ops[k], look_for, &s);
    return s.found;
}

/* Whether an operation after one and before another reads or writes it. A removed move counts: from
 * there on, a branch that does not get to the second operation may need the value. */
static bool touched_between(const struct live_range *h, int after, int before)
{
    int low = 0, high = h->touching_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (h->touching[middle] <= after)
            low = middle + 1;
        else
            high = middle;
    }
    return low < h->touching_count && h->touching[low] < before;
}

struct renaming {
    const struct cleanup_pass *t;
    const struct live_range *from, *to;
};

static void rename_place(void *context, const void *at, void *pointer, bool write)
{
    const struct renaming *r = context;
    if (live_range_of(r->t, at) == r->from)
        scalar_set_pointer(pointer, r->to->at + ((const char *)at - r->from->at));
}

/* An operation may overwrite an operand that it reads elementwise from exactly the address it
 * writes. */
static bool may_overwrite(const struct cleanup_pass *t, const struct scalar_op *op,
                          const struct live_range *h)
{
    if (op->kind != SCALAR_APPLY)
        return false;
    for (int k = 0; k < KERN_MAX_ARGS; k++)
        if (op->args[k] && live_range_of(t, op->args[k]) == h && op->args[k] != h->at)
            return false;
    return true;
}

/* Whether the moved value can be computed in its destination, by one operation or, part by part or
 * as the state of a loop, by several. */
static bool can_be_made_there(struct cleanup_pass *t, int k, const struct live_range *from,
                              const struct live_range *to)
{
    const struct scalar_op *op = &t->ops[k];
    int made = from ? from->first : -1;
    if (!from || !to || from == to || from->outside || from->writes < 1 || from->last_read != k ||
        made < 0 || made >= k || from->made >= k || t->loop[made] != t->loop[k] ||
        from->at != op->args[0] || to->at != op->out || from->size != (size_t)op->count ||
        to->size != from->size)
        return false;
    if (touches(t, made, to) && !may_overwrite(t, &t->ops[made], to))
        return false;
    return !touched_between(to, made, k);
}

/* Whether the moved value is a copy of its destination that was then updated, as in a loop that
 * updates a piece of its state: the piece can be updated in the destination. */
static bool comes_from_there(struct cleanup_pass *t, int k, const struct live_range *from,
                             const struct live_range *to)
{
    int first = from ? from->first : -1;
    if (!from || !to || from == to || from->outside || from->writes < 2 || from->last_read != k ||
        from->made >= k || t->gone[first] || t->loop[first] != t->loop[k] ||
        from->at != t->ops[k].args[0] || to->at != t->ops[k].out ||
        from->size != (size_t)t->ops[k].count || to->size != from->size)
        return false;
    const struct scalar_op *copy = &t->ops[first];
    if (copy->kind != SCALAR_MOVE || copy->args[0] != to->at || copy->out != from->at ||
        (size_t)copy->count != from->size)
        return false;
    return !touched_between(to, first, k);
}

/* Merges the two lists of operations into `to`. */
static void join_touching(struct cleanup_pass *t, struct live_range *from, struct live_range *to)
{
    int *both = ARENA_ARRAY(t->scratch, int, from->touching_count + to->touching_count), n = 0,
        i = 0, j = 0;
    while (i < from->touching_count || j < to->touching_count) {
        bool first = j == to->touching_count ||
                     (i < from->touching_count && from->touching[i] < to->touching[j]);
        int next = first ? from->touching[i++] : to->touching[j++];
        if (n == 0 || both[n - 1] != next)
            both[n++] = next;
    }
    t->budget -= n;
    to->touching = both;
    to->touching_count = n;
    from->touching_count = 0;
}

/* Merges the live range of `from` into `to`. */
static void make_one(struct cleanup_pass *t, int k, struct live_range *from, struct live_range *to)
{
    struct renaming r = {t, from, to};
    for (int j = 0; j < from->touching_count && from->touching[j] < k; j++)
        if (from->touching[j] >= from->first)
            scalar_visit(&t->ops[from->touching[j]], rename_place, &r);
    join_touching(t, from, to);
    to->reads += from->reads - 1;
    to->writes += from->writes - 1;
    if (to->made == k)
        to->made = from->made;
    if (to->first > from->first)
        to->first = from->first;
    if (to->last_read < k && from->reads > 1)
        to->last_read = k;
    from->reads = from->writes = 0;
    t->gone[k] = true;
}

static void drop_moves(struct cleanup_pass *t)
{
    for (int k = 0; k < t->op_count && t->budget > 0; k++) {
        if (t->ops[k].kind != SCALAR_MOVE)
            continue;
        struct live_range *from = live_range_of(t, t->ops[k].args[0]),
                          *to = live_range_of(t, t->ops[k].out);
        if (can_be_made_there(t, k, from, to)) {
            make_one(t, k, from, to);
        } else if (comes_from_there(t, k, from, to)) {
            make_one(t, k, from, to);
            t->gone[from->first] = true; /* the copy, now of itself */
            to->reads--;
            to->writes--;
        }
    }
}

/* ---- dead operations ---- */

static void look_for_reader(void *context, const void *at, void *pointer, bool write)
{
    struct search *s = context;
    const struct live_range *h = live_range_of(s->t, at);
    s->found |= write && (!h || h->outside || h->needed);
}

static void note_needed(void *context, const void *at, void *pointer, bool write)
{
    struct live_range *h = live_range_of(context, at);
    if (h && !write)
        h->needed = true;
}

/* Keeps what has an effect, and what is read by operations that are kept: not the state of a loop
 * that only its own next value depends on. */
static void drop_unread(struct cleanup_pass *t)
{
    bool *kept = ARENA_ARRAY(t->scratch, bool, t->op_count);
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = t->op_count - 1; k >= 0; k--) {
            struct search s = {t, NULL, t->ops[k].kind >= SCALAR_JUMP};
            if (t->gone[k] || kept[k])
                continue;
            scalar_visit(&t->ops[k], look_for_reader, &s);
            kept[k] = s.found;
            changed |= s.found;
            if (s.found)
                scalar_visit(&t->ops[k], note_needed, t);
        }
    }
    for (int k = 0; k < t->op_count; k++)
        t->gone[k] |= !kept[k];
}

/* ---- removing gaps ---- */

void scalar_set_targets(struct scalar_op *ops, int count, const int *place)
{
    for (int k = 0; k < count; k++) {
        struct scalar_op *op = &ops[k];
        if (op->kind == SCALAR_JUMP || op->kind == SCALAR_JUMP_UNLESS)
            op->count = place[op->count];
        else if (op->kind == SCALAR_SWITCH)
            for (int j = 0; j < op->count; j++)
                ((int32_t *)(uintptr_t)op->targets)[j] = place[op->targets[j]];
    }
}

static void close_up(struct cleanup_pass *t, struct arena *scratch)
{
    int *place = ARENA_ARRAY(scratch, int, t->op_count + 1), n = 0;
    for (int k = 0; k < t->op_count; k++) {
        place[k] = n;
        n += !t->gone[k];
    }
    scalar_set_targets(t->ops, t->op_count, place);
    for (int k = 0; k < t->op_count; k++)
        if (!t->gone[k])
            t->ops[place[k]] = t->ops[k];
    t->op_count = n;
}

void scalar_put_first(struct maker *m, const struct scalar_op *ops, int count)
{
    struct arena *scratch = &m->pl->scratch;
    struct scalar_op *all = ARENA_ARRAY(scratch, struct scalar_op, count + m->op_count);
    int *place = ARENA_ARRAY(scratch, int, m->op_count + 1);
    for (int k = 0; k <= m->op_count; k++)
        place[k] = count + k;
    scalar_set_targets(m->ops, m->op_count, place);
    memcpy(all, ops, (size_t)count * sizeof *all);
    memcpy(all + count, m->ops, (size_t)m->op_count * sizeof *all);
    m->ops = all;
    m->op_count += count;
    m->op_capacity = (size_t)m->op_count;
}

bool scalar_has_loop(const struct maker *m)
{
    for (int k = 0; k < m->op_count; k++)
        if (m->ops[k].kind == SCALAR_JUMP && m->ops[k].count <= k)
            return true;
    return false;
}

/* Not worth the time for scalar code that runs once. */
void scalar_tidy(struct maker *m, struct scalar_code *code)
{
    struct arena *scratch = &m->pl->scratch;
    struct cleanup_pass t = {.scratch = scratch,
                             .code = code,
                             .ops = m->ops,
                             .op_count = m->op_count,
                             .budget = TIDY_BUDGET};
    if (!scalar_has_loop(m))
        return;
    t.loop = ARENA_ARRAY(scratch, int, m->op_count);
    t.gone = ARENA_ARRAY(scratch, bool, m->op_count);
    list_live_ranges(&t, m);
    count_places(&t);
    list_touching(&t);
    find_loops(&t);
    if (t.budget > 0)
        drop_moves(&t);
    drop_unread(&t);
    close_up(&t, scratch);
    m->op_count = t.op_count;
}
