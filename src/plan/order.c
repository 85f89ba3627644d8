/*
 * order.c: chooses the order in which the instructions of a computation run.
 *
 * The canonical order is kept except for channels: a recv-done waits. Where no dependence orders it
 * after the send of its channel, that send should come first; otherwise all participants wait for
 * data that each of them would send later. Scheduled modules run in textual order.
 */
#include "plan/plan_priv.h"

#include <stdlib.h>

/* Limit for one computation: beyond it, a module that calls something with thousands of channels
 * thousands of times keeps the canonical order. */
enum { MAX_TRAFFIC = 1 << 20 };

/* ---- channels on which an instruction, or its callees, send or receive ---- */

struct traffic {
    int64_t channel;
    bool waits; /* recv-done; else send */
    int place;  /* position of the instruction, where that matters */
};

struct traffic_list {
    struct traffic *at;
    size_t count, capacity;
};

static int compare(const void *a, const void *b)
{
    const struct traffic *x = a, *y = b;
    if (x->channel != y->channel)
        return x->channel < y->channel ? -1 : 1;
    if (x->waits != y->waits)
        return x->waits ? 1 : -1;
    return (x->place > y->place) - (x->place < y->place);
}

static void add(struct planner *pl, struct traffic_list *l, struct traffic t)
{
    if (l->count < MAX_TRAFFIC)
        VEC_PUSH(&pl->scratch, l->at, l->count, l->capacity) = t;
}

static const struct traffic_list *traffic_of(struct planner *pl, const struct computation *c);

static void add_inst(struct planner *pl, struct traffic_list *l, const struct inst *i, int place)
{
    int n;
    struct computation **callees = inst_callee_list(&pl->scratch, i, &n);
    if ((i->opcode == OP_SEND || i->opcode == OP_RECV_DONE) && !inst_bool(i, A_IS_HOST_TRANSFER)) {
        const struct inst *named =
            i->opcode == OP_SEND || inst_has(i, A_CHANNEL_ID) ? i : i->operands[0];
        add(pl, l,
            (struct traffic){inst_int(named, A_CHANNEL_ID, 0), i->opcode == OP_RECV_DONE, place});
    }
    for (int k = 0; k < n; k++) {
        const struct traffic_list *inner = traffic_of(pl, callees[k]);
        for (size_t j = 0; j < inner->count; j++)
            add(pl, l, (struct traffic){inner->at[j].channel, inner->at[j].waits, place});
    }
}

/* The channel operations of a computation, each kind once per channel. */
static const struct traffic_list *traffic_of(struct planner *pl, const struct computation *c)
{
    static const struct traffic_list nothing;
    struct traffic_list **known = &pl->traffic[c->index];
    if (*known || pl->depth >= PLAN_MAX_DEPTH)
        return *known ? *known : &nothing; /* too deeply nested; planning reports that */
    pl->depth++;
    *known = ARENA_NEW(&pl->scratch, struct traffic_list);
    struct traffic_list all = {0};
    for (int k = 0; k < c->inst_count; k++)
        add_inst(pl, &all, c->insts[k], 0);
    if (all.count > 0)
        qsort(all.at, all.count, sizeof *all.at, compare);
    for (size_t k = 0; k < all.count; k++)
        if (k == 0 || compare(&all.at[k - 1], &all.at[k]) != 0)
            add(pl, *known, all.at[k]);
    pl->depth--;
    return *known;
}

/* ---- required and preferred edges ---- */

struct edge {
    int before, after; /* positions in the canonical order */
};

struct ordering {
    struct arena *arena;
    struct inst **canonical;
    int count;
    int *place;              /* by index of the instruction: its position in the canonical order */
    struct edge *soft_edges; /* send before the recv-done of its data, wherever possible */
    size_t soft_edge_count, soft_edge_capacity;
    /* users of the instruction at position k start at users[first_user[k]] */
    int *first_user, *users;
    int *first_soft_edge; /* by position: its first edge in `soft_edges`, which is sorted by
                             `before` */
    int *needed,
        *soft_predecessors; /* by position: operands and preferred predecessors that have not run */
    int *walked;            /* number of the last walk that visited it */
    bool *done;
    int *ready, ready_count; /* a heap: the smallest position on top */
};

/* Pairs the k-th send of a channel with its k-th recv-done. True when a send comes after its
 * recv-done in the canonical order. */
static bool find_soft_edges(struct planner *pl, struct ordering *o)
{
    struct traffic_list all = {0};
    bool late = false;
    for (int k = 0; k < o->count; k++)
        add_inst(pl, &all, o->canonical[k], k);
    if (all.count > 0)
        qsort(all.at, all.count, sizeof *all.at, compare);
    for (size_t first = 0, next; first < all.count; first = next) {
        size_t waits = first;
        while (waits < all.count && all.at[waits].channel == all.at[first].channel &&
               !all.at[waits].waits)
            waits++;
        for (next = waits; next < all.count && all.at[next].channel == all.at[first].channel;)
            next++;
        for (size_t k = 0; first + k < waits && waits + k < next; k++) {
            struct edge e = {all.at[first + k].place, all.at[waits + k].place};
            if (e.before == e.after) /* both are within the callees of one instruction */
                continue;
            VEC_PUSH(o->arena, o->soft_edges, o->soft_edge_count, o->soft_edge_capacity) = e;
            late |= e.before > e.after;
        }
    }
    return late;
}

static int predecessor(const struct ordering *o, const struct inst *i, int k)
{
    const struct attr *control = inst_attr(i, A_CONTROL_PREDECESSORS);
    if (k < i->operand_count)
        return o->place[i->operands[k]->index];
    k -= i->operand_count;
    return control && k < control->v.insts.count ? o->place[control->v.insts.at[k]->index] : -1;
}

static void list_users(struct ordering *o)
{
    int p, n = 0;
    o->first_user = ARENA_ARRAY(o->arena, int, o->count + 2);
    for (int k = 0; k < o->count; k++)
        for (int j = 0; (p = predecessor(o, o->canonical[k], j)) >= 0; j++, n++) {
            o->first_user[p + 2]++;
            o->needed[k]++;
        }
    for (int k = 2; k < o->count + 2; k++)
        o->first_user[k] += o->first_user[k - 1];
    o->users = ARENA_ARRAY(o->arena, int, n);
    for (int k = 0; k < o->count; k++)
        for (int j = 0; (p = predecessor(o, o->canonical[k], j)) >= 0; j++)
            o->users[o->first_user[p + 1]++] = k;
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->before != y->before ? (x->before > y->before) - (x->before < y->before)
                                  : (x->after > y->after) - (x->after < y->after);
}

static void list_soft_edges(struct ordering *o)
{
    qsort(o->soft_edges, o->soft_edge_count, sizeof *o->soft_edges, compare_edges);
    o->first_soft_edge = ARENA_ARRAY(o->arena, int, o->count + 1);
    for (size_t k = 0; k < o->soft_edge_count; k++) {
        o->first_soft_edge[o->soft_edges[k].before + 1]++;
        o->soft_predecessors[o->soft_edges[k].after]++;
    }
    for (int k = 0; k < o->count; k++)
        o->first_soft_edge[k + 1] += o->first_soft_edge[k];
}

/* ---- the order ---- */

static void push(struct ordering *o, int place)
{
    int k = o->ready_count++;
    for (; k > 0 && o->ready[(k - 1) / 2] > place; k = (k - 1) / 2)
        o->ready[k] = o->ready[(k - 1) / 2];
    o->ready[k] = place;
}

static int pop(struct ordering *o)
{
    int top = o->ready[0], last = o->ready[--o->ready_count], k = 0;
    for (int child; (child = 2 * k + 1) < o->ready_count; k = child) {
        child += child + 1 < o->ready_count && o->ready[child + 1] < o->ready[child];
        if (o->ready[child] >= last)
            break;
        o->ready[k] = o->ready[child];
    }
    o->ready[k] = last;
    return top;
}

static int undone_send(const struct ordering *o, int place)
{
    size_t k = 0;
    while (o->soft_edges[k].after != place || o->done[o->soft_edges[k].before])
        k++;
    return o->soft_edges[k].before;
}

/* Called when every remaining instruction waits for another: finds a recv-done to be run before its
 * send. Walks backwards over required and preferred edges until it closes a cycle. A preferred edge
 * is followed only from a recv-done whose operands are complete, so every cycle contains such a
 * recv-done. */
static int break_cycle(struct ordering *o, int walk)
{
    int k = 0;
    while (o->done[k] || o->needed[k] > 0)
        k++;
    for (;;) {
        if (o->needed[k] == 0) {
            if (o->walked[k] == walk)
                return k;
            o->walked[k] = walk;
            k = undone_send(o, k);
            continue;
        }
        int j = 0;
        while (o->done[predecessor(o, o->canonical[k], j)])
            j++;
        k = predecessor(o, o->canonical[k], j);
    }
}

static void run_next(struct ordering *o, int place)
{
    o->done[place] = true;
    for (int k = o->first_user[place]; k < o->first_user[place + 1]; k++)
        if (--o->needed[o->users[k]] == 0 && o->soft_predecessors[o->users[k]] == 0)
            push(o, o->users[k]);
    for (int k = o->first_soft_edge[place]; k < o->first_soft_edge[place + 1]; k++) {
        int after = o->soft_edges[k].after;
        if (--o->soft_predecessors[after] == 0 && o->needed[after] == 0 && !o->done[after])
            push(o, after);
    }
}

/* Stays close to the canonical order: required edges always hold, preferred ones where possible. */
static struct inst **arrange(struct planner *pl, struct ordering *o)
{
    struct inst **order = ARENA_ARRAY(&pl->scratch, struct inst *, o->count);
    o->needed = ARENA_ARRAY(o->arena, int, o->count);
    o->soft_predecessors = ARENA_ARRAY(o->arena, int, o->count);
    o->walked = ARENA_ARRAY(o->arena, int, o->count);
    o->done = ARENA_ARRAY(o->arena, bool, o->count);
    o->ready = ARENA_ARRAY(o->arena, int, o->count);
    list_users(o);
    list_soft_edges(o);
    for (int k = 0; k < o->count; k++)
        if (o->needed[k] == 0 && o->soft_predecessors[k] == 0)
            push(o, k);
    for (int n = 0; n < o->count; n++) {
        int place = o->ready_count > 0 ? pop(o) : break_cycle(o, n + 1);
        order[n] = o->canonical[place];
        run_next(o, place);
    }
    return order;
}

struct inst **plan_order(struct planner *pl, const struct computation *c)
{
    struct inst **canonical = computation_order(&pl->scratch, c);
    if (c->module->is_scheduled || !pl->has[OP_SEND] || !pl->has[OP_RECV_DONE] ||
        traffic_of(pl, c)->count < 2)
        return canonical;
    struct arena scratch;
    arena_init(&scratch);
    struct ordering o = {.arena = &scratch, .canonical = canonical, .count = c->inst_count};
    o.place = ARENA_ARRAY(&scratch, int, c->inst_count);
    for (int k = 0; k < c->inst_count; k++)
        o.place[canonical[k]->index] = k;
    struct inst **order = find_soft_edges(pl, &o) ? arrange(pl, &o) : canonical;
    arena_free(&scratch);
    return order;
}
