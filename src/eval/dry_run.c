/*
 * dry_run.c: the dry run: unbacked storage, and no kernels.
 *
 * Whether a step makes its results as a view, in place, or in new storage is decided by the code
 * that runs it, from the reference count of an operand's storage and from its layout. In a dry run
 * the same code decides, so the estimate cannot diverge from a real run. Only families that read
 * elements, not just layouts, are replaced here.
 */
#include "eval/eval_priv.h"

#include "base/system.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    /* maximum number of steps of a dry run; nested loops and calls can exceed it */
    MAX_STEPS = 1 << 22,
    MAX_ITERATIONS = 4, /* maximum number of iterations of a loop whose layout keeps changing */
};

struct dry_run {
    struct memory_estimate *out;
    struct unbacked unbacked;
    int buffers;        /* last buffer number */
    const char *choice; /* kernel variant of the running step */
    size_t workspace;
    struct budget budget; /* the state's, restored at the end */
};

/* ---- one step ---- */

/* Makes all results in new storage: for families whose steps depend on elements, or on other
 * participants. */
static bool make_results(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++) {
        struct value *v = s->results[r] == NO_VALUE ? NULL : &ev->frame[s->results[r]];
        if (v && !v->buffer &&
            !value_new(ev, v, s->shapes[r]->dtype, s->shapes[r]->rank, s->shapes[r]->dims))
            return false;
    }
    return true;
}

static bool depends_on_values(const struct step *s)
{
    if (s->aliases)
        return false;
    switch (op_table[s->inst->opcode].family) {
    case FAMILY_collective:
    case FAMILY_dynamic:
    case FAMILY_io:
    case FAMILY_rng:
    case FAMILY_tuple: return true;
    default: return s->inst->opcode == OP_CUSTOM_CALL && !eval_custom_in_dry_run(s);
    }
}

/* Steps within scalar code are not part of the dry run: they use little memory, but some. */
static bool has_steps(const struct scalar_code *c)
{
    for (int k = 0; c && k < c->op_count; k++)
        if (c->ops[k].kind == SCALAR_STEP)
            return true;
    return false;
}

static bool runs_small_steps(const struct step *s)
{
    for (int k = 0; s->bodies && k < 2; k++)
        if (has_steps(s->bodies[k].code))
            return true;
    for (int k = 0; k < s->callee_count; k++)
        if (has_steps(s->callees[k]->code))
            return true;
    return has_steps(step_scalar(s));
}

/* Whether the step calls functions for its elements, and one of its arrays has none. */
static bool may_call_nothing(struct eval *ev, const struct step *s)
{
    const bool calls = s->bodies && (s->bodies[0].function || s->bodies[1].function);
    int64_t n = 1;
    for (int k = 0; calls && k < s->operand_count && n > 0; k++)
        if (s->operands[k] != NO_VALUE)
            n = view_elements(&eval_operand(ev, s, k)->view);
    for (int r = 0; calls && r < s->result_count && n > 0; r++)
        if (shape_is_array(s->shapes[r]) && !shape_elements(s->shapes[r], &n))
            return false;
    return n == 0;
}

/* A step that cannot be run does not end the estimate. */
static bool run(struct eval *ev, const struct step *s)
{
    size_t before = ev->pool.peak;
    const bool calls_nothing = may_call_nothing(ev, s); /* operands may be taken over by the step */
    bool ok = !depends_on_values(s) && eval_step(ev, s);
    bool loop_may_not_run = s->inst->opcode == OP_WHILE && ev->pool.peak > before;
    if ((!ok && op_table[s->inst->opcode].family != FAMILY_rng) ||
        s->inst->opcode == OP_CONDITIONAL || loop_may_not_run || calls_nothing ||
        runs_small_steps(s))
        ev->dry_run->out->exact = false;
    return ok || (ev->state->budget.hit == LIMIT_NONE && make_results(ev, s));
}

/* ---- records ---- */

static struct step_estimate *noted_step(struct eval *ev, const struct function *f,
                                        const struct step *s)
{
    struct arena *keep = &ev->state->arena;
    struct step_estimate **steps = &ev->dry_run->out->steps[f->index];
    if (!*steps)
        *steps = ARENA_ARRAY(keep, struct step_estimate, f->step_count);
    struct step_estimate *n = &(*steps)[s - f->steps];
    if (!n->results)
        n->results = ARENA_ARRAY(keep, struct result_estimate, s->result_count);
    return n;
}

static int number_of(struct eval *ev, struct buffer *b)
{
    if (!b->number)
        b->number = ++ev->dry_run->buffers;
    return b->number;
}

/* An operand and the number of its storage before the step: its address may since have been
 * reused. */
struct held {
    int number, operand;
};

static int by_number(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : x->operand - y->operand;
}

/* The number of operands whose storage a result may be in: all, or for a tuple those leaves that
 * are selected. */
static int candidates(const struct step *s)
{
    return step_takes_element(s) ? s->result_count : s->operand_count;
}

/* Sorted by number: steps with many operands often have as many results. */
static struct held *held_before(struct eval *ev, const struct step *s)
{
    const int count = candidates(s);
    struct held *held = ARENA_ARRAY(&ev->scratch, struct held, count);
    for (int j = 0; j < count; j++) {
        const int k = step_takes_element(s) ? s->aliases[j] : j;
        struct buffer *b =
            k == NO_VALUE || s->operands[k] == NO_VALUE ? NULL : eval_operand(ev, s, k)->buffer;
        held[j] = b ? (struct held){number_of(ev, b), k} : (struct held){0};
    }
    if (count > 1)
        qsort(held, (size_t)count, sizeof *held, by_number);
    return held;
}

/* The first operand that was in the storage of this number, or -1. */
static int operand_in(const struct held *held, int count, int number)
{
    int low = 0;
    BISECT(low, count, middle, held[middle].number < number);
    return low < count && held[low].number == number ? held[low].operand : -1;
}

static void note_result(struct eval *ev, const struct step *s, int r, const struct held *before,
                        bool within, struct result_estimate *out)
{
    struct buffer *b = s->results[r] == NO_VALUE ? NULL : ev->frame[s->results[r]].buffer;
    *out = (struct result_estimate){.making = MADE_NOTHING};
    if (!b)
        return;
    out->making = within ? MADE_WITHIN : MADE_NEW;
    out->buffer = number_of(ev, b);
    out->storage = b->class == POOL_BORROWED ? 0 : b->used;
    int k = operand_in(before, candidates(s), b->number);
    if (k < 0)
        return;
    out->making = eval_operand(ev, s, k)->buffer == b ? MADE_VIEW : MADE_IN_PLACE;
    out->operand = k;
    if (s->inst->opcode == OP_DYNAMIC_SLICE && out->storage > 0)
        ev->dry_run->out->exact =
            false; /* a piece at the very start can be detached without a copy */
}

void dry_run_report_choice(struct eval *ev, const char *choice, size_t workspace)
{
    ev->dry_run->choice = choice;
    ev->dry_run->workspace = workspace;
}

bool dry_run_step(struct eval *ev, const struct function *f, const struct step *s)
{
    struct dry_run *h = ev->dry_run;
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct held *before = held_before(ev, s);
    size_t peak = ev->pool.peak;
    ev->pool.peak = ev->pool.live;
    dry_run_report_choice(ev, NULL, 0);
    bool ok = run(ev, s);
    struct step_estimate *n = noted_step(ev, f, s);
    n->choice = h->choice;
    n->workspace = h->workspace;
    if (h->workspace > h->out->workspace)
        h->out->workspace = h->workspace;
    dry_run_report_choice(
        ev, NULL,
        0); /* discards what steps of callees have reported; this step has a kernel of its own */
    n->visits++;
    for (int r = 0; r < s->result_count && ok; r++)
        note_result(ev, s, r, before, s->callee_count > 0, &n->results[r]);
    if (ev->pool.peak > n->peak)
        n->peak = ev->pool.peak;
    if (ev->pool.peak > h->out->peak) { /* steps of callees have been counted already */
        h->out->peak = ev->pool.peak;
        h->out->at = s;
        h->out->in = f;
    }
    if (peak > ev->pool.peak)
        ev->pool.peak = peak;
    arena_release(&ev->scratch, mark);
    return ok;
}

/* ---- bodies that are functions ---- */

/* The values of elements are irrelevant. */
static bool call_body(kern_call_fn *call, void *context)
{
    if (call != eval_call_body)
        return true; /* scalar code, which allocates nothing from the pool */
    const struct bound_body *c = context;
    struct arena_mark mark = arena_mark(&c->ev->scratch);
    const void **args = ARENA_ARRAY(&c->ev->scratch, const void *, c->body->arg_count);
    void **results = ARENA_ARRAY(&c->ev->scratch, void *, c->body->result_count);
    for (int k = 0; k < c->body->arg_count; k++)
        args[k] = arena_zalloc(&c->ev->scratch, sizeof(struct c128));
    for (int k = 0; k < c->body->result_count; k++)
        results[k] = arena_zalloc(&c->ev->scratch, sizeof(struct c128));
    bool ok = call(context, args, results);
    arena_release(&c->ev->scratch, mark);
    return ok;
}

bool dry_run_body(const struct kern_body *b)
{
    return b->combine != KERN_CALL || call_body(b->call, b->context);
}

bool dry_run_order(const struct kern_comparator *c)
{
    return c->order != KERN_ORDER_CALL || call_body(c->call, c->context);
}

/* ---- loops ---- */

static void mix(uint64_t *h, uint64_t v)
{
    *h = (*h ^ v) * 0x100000001b3;
    *h ^= *h >> 29;
}

/* A hash of the layouts of values in storage, and of whether the storage is shared. */
static uint64_t layout_of(const struct value *v, int count)
{
    uint64_t h = 0xcbf29ce484222325;
    for (int k = 0; k < count; k++) {
        const struct buffer *b = v[k].buffer;
        mix(&h, b ? b->size + 1 : 0);
        if (!b)
            continue;
        mix(&h, b->class);
        mix(&h, (uint64_t)b->refs);
        mix(&h, (uint64_t)(v[k].view.data - b->data));
        for (int d = 0; d < v[k].view.rank; d++)
            mix(&h, (uint64_t)v[k].view.strides[d]);
    }
    return h;
}

bool dry_run_repeats(const struct eval *ev, struct dry_run_loop *l, const struct value *state,
                     int count)
{
    uint64_t now = layout_of(state, count);
    bool again = l->iterations == 0 || (now != l->before && l->iterations < MAX_ITERATIONS);
    if (l->iterations > 0 &&
        now != l->before) /* the loop may end earlier, with the previous layout */
        ev->dry_run->out->exact = false;
    l->before = now;
    l->iterations++;
    return again;
}

/* ---- branches ---- */

/* An operand that a branch takes over, to be restored for the next branch. */
struct given {
    struct value value;
    struct buffer was;
    bool shared; /* the storage has other references */
};

static bool takes_over(const struct step *s, int k)
{
    return s->operands[k] != NO_VALUE && s->operands[k] >= 0 && s->uses[k] != USE_KEEP;
}

static void note_given(struct eval *ev, const struct step *s, int first, int count, struct given *g)
{
    for (int k = 0; k < count; k++) {
        g[k] = (struct given){0};
        if (!takes_over(s, first + k))
            continue;
        const struct value *v = eval_operand(ev, s, first + k);
        if (!v->buffer)
            continue;
        g[k].value.buffer = v->buffer;
        g[k].value.bounds = v->bounds;
        g[k].value.padded = v->padded;
        view_copy(&g[k].value.view, &v->view);
        g[k].was = *v->buffer;
    }
    for (int k = 0; k < count; k++) {
        int held = 0;
        for (int j = 0; j < count && g[k].value.buffer; j++)
            held += g[j].value.buffer == g[k].value.buffer;
        g[k].shared = held < g[k].was.refs;
    }
}

/* Restores operands for the next branch: where the storage was released or reused, similar storage
 * is taken. */
static bool reuse_storage(struct eval *ev, const struct step *s, int first, int count,
                          const struct given *g)
{
    for (int k = 0; k < count; k++) {
        const struct value *was = &g[k].value;
        struct value *v = takes_over(s, first + k) ? eval_operand(ev, s, first + k) : NULL;
        if (!v || !was->buffer || v->buffer)
            continue;
        int same_storage = 0;
        while (g[same_storage].value.buffer != was->buffer)
            same_storage++;
        if (g[k].shared) {
            value_share(v, was);
        } else if (same_storage < k) {
            value_share(v, eval_operand(ev, s, first + same_storage));
        } else {
            v->buffer = g[k].was.class == POOL_BORROWED
                            ? pool_borrow(&ev->pool, g[k].was.data, g[k].was.size)
                            : pool_take(&ev->pool, g[k].was.used);
            if (!v->buffer)
                return false;
            v->bounds = was->bounds;
            v->padded = was->padded;
        }
        view_copy(&v->view, &was->view);
        v->view.data = v->buffer->data + (was->view.data - g[k].was.data);
    }
    return true;
}

static void drop_results(struct eval *ev, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE)
            value_drop(ev, &ev->frame[s->results[r]]);
}

bool dry_run_branches(struct eval *ev, const struct step *s)
{
    size_t max = 0;
    int best = 0, n = s->callee_count;
    for (int run = 0; run <= n; run++) {
        int b = run < n ? run : best;
        if (run == n && best == n - 1)
            break; /* its results are complete */
        int first = s->starts[b + 1], count = s->callees[b]->param_count;
        struct arena_mark mark = arena_mark(&ev->scratch);
        struct given *g = ARENA_ARRAY(&ev->scratch, struct given, count + 1);
        if (run > 0)
            drop_results(ev, s);
        note_given(ev, s, first, count, g);
        bool ok = eval_call(ev, s, s->callees[b], first);
        if (ok && ev->pool.live >= max) {
            max = ev->pool.live;
            best = b;
        }
        ok = ok && (run == n || (b == n - 1 && best == b) || reuse_storage(ev, s, first, count, g));
        arena_release(&ev->scratch, mark);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- the dry run ---- */

/* Reserves far more addresses than physical memory; fewer where the system refuses. */
static bool open_pages(struct unbacked *p)
{
    for (size_t size = (size_t)min_i64(INT64_C(1) << 42, PTRDIFF_MAX / 2 + 1);
         size >= (size_t)1 << 30; size >>= 2) {
        p->pages = system_reserve(size);
        p->size = size;
        p->at = 0;
        if (p->pages)
            return true;
    }
    return false;
}

static bool make_unbacked_arguments(struct eval *ev, struct value *values)
{
    const struct function *f = ev->p->entry;
    int64_t bytes;
    for (int k = 0; k < f->param_count; k++) {
        const struct shape *s = f->param_shapes[k];
        if (!shape_is_array(s))
            continue;
        char *at = shape_bytes(s, &bytes) && bytes <= PTRDIFF_MAX
                       ? pool_take_unbacked(ev->pool.unbacked, (size_t)bytes)
                       : NULL;
        if (!at)
            return false;
        values[k].buffer = pool_borrow(&ev->pool, at, (size_t)bytes);
        view_dense(&values[k].view, s->dtype, s->rank, s->dims, at);
    }
    return true;
}

static bool dry_run(struct eval *ev, struct dry_run *h)
{
    const struct function *f = ev->p->entry;
    int n = f->param_count > f->result_count ? f->param_count : f->result_count;
    struct value *values = ARENA_ARRAY(&ev->scratch, struct value, n);
    if (!make_unbacked_arguments(ev, values) || !eval_entry(ev, values, &ev->scratch))
        return false;
    if (ev->pool.peak > h->out->peak) {
        h->out->peak = ev->pool.peak;
        h->out->at = NULL;
        h->out->in = f;
    }
    return true;
}

/* Out-of-memory cleanup: no estimate. */
static void forget(void *context)
{
    struct eval *ev = context;
    munmap(ev->dry_run->unbacked.pages, ev->dry_run->unbacked.size);
    ev->state->memory_estimate = NULL;
    ev->state->budget = ev->dry_run->budget;
}

const struct memory_estimate *eval_estimate_memory(struct run_state *s)
{
    if (!s->memory_estimate && s->shared)
        s->memory_estimate = eval_estimate_memory(s->shared);
    if (s->memory_estimate)
        return s->memory_estimate;
    const struct program *p = s->program;
    struct diags messages;
    struct cleanup forgetting;
    struct memory_estimate *out = ARENA_NEW(&s->arena, struct memory_estimate);
    struct dry_run h = {.out = out, .budget = s->budget};
    out->exact = !p->dynamic;
    out->steps = ARENA_ARRAY(&s->arena, struct step_estimate *, p->function_count);
    s->memory_estimate = out;
    if (!open_pages(&h.unbacked))
        return out;
    diags_init(&messages, NULL);
    struct eval ev = {.ds = &messages,
                      .p = p,
                      .state = s,
                      .workers = p->options.workers,
                      .dry_run = &h,
                      .reports_steps = true};
    oom_push_cleanup(&forgetting, forget, &ev);
    eval_begin(&ev);
    ev.pool.unbacked = &h.unbacked;
    budget_start(&s->budget, &(struct limits){.steps = MAX_STEPS}, NULL);
    out->known = dry_run(&ev, &h);
    eval_end(&ev);
    oom_pop_cleanup(&forgetting);
    diags_free(&messages);
    munmap(h.unbacked.pages, h.unbacked.size);
    s->budget = h.budget;
    return out;
}
