/*
 * Runs modules with fast and with reference kernels, traced and untraced, with and without machine
 * code, or on one thread and on several, and compares results.
 *
 * Fast and reference kernels may add floats in different orders. So sums are compared within a
 * bound, and values computed from them are not compared at all: a comparison or rounding may turn
 * a small difference into a large one. Arguments are multiples of 1/4, whose sums are exact.
 */
#include "fuzz/differential.h"

#include "eval/eval.h"
#include "look/look.h"
#include "test/random_view.h"
#include "text/text.h"
#include "verify/verify.h"

/* ---- cost of a module ---- */

enum { MAX_ELEMENTS = 1 << 20, MAX_WORK = 1 << 24, MAX_SHARED_WORK = 1 << 28 };

static int64_t leaf_elements(const struct shape *s)
{
    int64_t n = 0, total = 0;
    if (shape_leaf_count(s) > 1000)
        return MAX_SHARED_WORK;
    if (shape_is_array(s))
        return shape_elements(s, &n) && n < MAX_ELEMENTS ? n : MAX_SHARED_WORK;
    for (int k = 0; k < s->count; k++)
        total += leaf_elements(s->elements[k]);
    return total < MAX_SHARED_WORK ? total : MAX_SHARED_WORK;
}

/* Operand elements read for each element of the result, if that is not all of an operand.
 * `plain`: by reference kernels, which search the whole operand for each result of topk. */
static int64_t inner_work(const struct inst *i, bool plain)
{
    struct window w = inst_window(i);
    int64_t n = 1;
    for (int d = 0; d < w.rank; d++)
        if (!mul_i64(n, w.dims[d].size, &n) || n > MAX_SHARED_WORK)
            return MAX_SHARED_WORK;
    switch (op_table[i->opcode].family) {
    case FAMILY_dot:
    case FAMILY_linalg:
    case FAMILY_conv:
    case FAMILY_gather: return i->operand_count ? n + leaf_elements(i->operands[0]->shape) : n;
    case FAMILY_sort: return plain ? leaf_elements(i->operands[0]->shape) : n;
    default: return n;
    }
}

static bool is_little_work(const struct module *m, int64_t max, bool plain)
{
    int64_t total = 0;
    for (int c = 0; c < m->computation_count; c++)
        for (int k = 0; k < m->computations[c]->inst_count; k++) {
            const struct inst *i = m->computations[c]->insts[k];
            int64_t work;
            if (!mul_i64(1 + leaf_elements(i->shape), inner_work(i, plain), &work) ||
                (total += work) >= max)
                return false;
        }
    return true;
}

/* ---- expected differences ---- */

enum comparison_mode {
    TAME,  /* arguments, and values moved, selected or counted from them, with exact sums */
    EQUAL, /* equal on both sides, but any number */
    CLOSE, /* a function of such a number, whose last bits differ between implementations */
    NEAR,  /* a sum of tame numbers in some order */
    WILD
};

/* Functions whose last bit is not specified. */
static bool approximates(const struct inst *i)
{
    switch (i->opcode) {
    case OP_ACOS:
    case OP_ACOSH:
    case OP_ASIN:
    case OP_ASINH:
    case OP_ATAN2:
    case OP_ATANH:
    case OP_CBRT:
    case OP_COSH:
    case OP_COSINE:
    case OP_ERF:
    case OP_EXPONENTIAL:
    case OP_EXPONENTIAL_MINUS_ONE:
    case OP_LOG:
    case OP_LOG_PLUS_ONE:
    case OP_LOGISTIC:
    case OP_POWER:
    case OP_RSQRT:
    case OP_SINE:
    case OP_SINH:
    case OP_TAN:
    case OP_TANH: return true;
    case OP_ABS:
    case OP_SQRT: return dtype_is_complex(i->operands[0]->shape->dtype);
    case OP_RNG: return inst_enum(i, A_DISTRIBUTION, 0) == E_DISTRIBUTION_NORMAL;
    default: return false;
    }
}

/* Functions of complex numbers that compose two others, of which the second is discontinuous or
 * ill-conditioned for some numbers: it turns a last bit of the first into any difference. */
static bool magnifies(const struct inst *i)
{
    return (i->opcode == OP_ATAN2 || i->opcode == OP_LOGISTIC || i->opcode == OP_POWER) &&
           dtype_is_complex(i->shape->dtype);
}

static bool has_floats(const struct shape *s)
{
    for (int k = 0; k < s->count; k++)
        if (has_floats(s->elements[k]))
            return true;
    return dtype_is_float(s->dtype) || dtype_is_complex(s->dtype);
}

static bool touches_floats(const struct inst *i)
{
    for (int k = 0; k < i->operand_count; k++)
        if (has_floats(i->operands[k]->shape))
            return true;
    return has_floats(i->shape);
}

static bool contains_sums(const struct computation *c, int depth)
{
    if (depth > 20)
        return true;
    for (int k = 0; k < c->inst_count; k++) {
        const struct inst *i = c->insts[k];
        struct computation *callees[64];
        int n = inst_callees(i, NULL);
        if (n > 64 || ((op_is(i->opcode, OP_SUMS) || approximates(i)) && touches_floats(i)))
            return true;
        inst_callees(i, callees);
        for (int j = 0; j < n; j++)
            if (contains_sums(callees[j], depth + 1))
                return true;
    }
    return false;
}

static bool moves(const struct inst *i)
{
    enum family f = (enum family)op_table[i->opcode].family;
    return f == FAMILY_shape || f == FAMILY_tuple || f == FAMILY_dynslice || i->opcode == OP_GATHER;
}

static bool stays_tame(const struct inst *i)
{
    switch (i->opcode) {
    case OP_ABS:
    case OP_NEGATE:
    case OP_SELECT:
    case OP_MAXIMUM:
    case OP_MINIMUM:
    case OP_COMPARE: return true;
    default: return moves(i) || i->opcode == OP_PARAMETER;
    }
}

static enum comparison_mode comparison_mode_of(const struct inst *i, const uint8_t *known)
{
    enum comparison_mode worst = TAME;
    struct computation *callees[64];
    int n = inst_callees(i, NULL);
    for (int k = 0; k < i->operand_count; k++)
        if (known[i->operands[k]->index] > worst)
            worst = (enum comparison_mode)known[i->operands[k]->index];
    if (n > 64)
        return WILD;
    inst_callees(i, callees);
    for (int k = 0; k < n; k++)
        if (contains_sums(callees[k], 0))
            return WILD;
    if (op_is(i->opcode, OP_SUMS) && touches_floats(i))
        return worst == TAME ? NEAR : WILD;
    if (worst >= CLOSE)
        return moves(i) ? worst : WILD;
    if (magnifies(i))
        return WILD;
    if (approximates(i) && touches_floats(i))
        return CLOSE;
    return stays_tame(i) ? worst : EQUAL;
}

static uint8_t *classify_values(struct arena *a, const struct computation *c)
{
    uint8_t *known = ARENA_ARRAY(a, uint8_t, c->inst_count);
    struct inst **order = computation_order(a, c);
    for (int k = 0; k < c->inst_count; k++)
        known[order[k]->index] = (uint8_t)comparison_mode_of(order[k], known);
    return known;
}

/* ---- comparing ---- */

/* The largest finite magnitude of an element, or of a part of a complex one; at least 1. */
static double largest(const struct literal *l)
{
    const enum dtype part = dtype_component(l->shape->dtype);
    const size_t width = dtype_bytes(part);
    double max = 1;
    int64_t n = 0;
    shape_elements(l->shape, &n);
    n *= (int64_t)(dtype_bytes(l->shape->dtype) / width);
    for (int64_t k = 0; k < n && dtype_is_float(part); k++) {
        const double v = fabs(float_load(part, (const char *)l->data + (size_t)k * width));
        if (v > max && isfinite(v))
            max = v;
    }
    return max;
}

static bool leaf_agrees(const struct literal *a, const struct literal *b, enum comparison_mode how,
                        struct buf *why)
{
    if (how == WILD)
        return true;
    struct hlo_tolerance t = {.size = sizeof t, .ulp = how == CLOSE ? 4 : 0};
    if (how == NEAR) {
        t.rel = dtype_bits(dtype_component(a->shape->dtype)) >= 32 ? 1e-3 : 0.3;
        t.abs = t.rel * largest(b);
    }
    return look_compare(a, b, &t, why);
}

/* Elements of a root tuple are compared as the instructions that computed them. */
static bool agree(const struct inst *root, const uint8_t *known, const struct literal *a,
                  const struct literal *b, struct buf *why)
{
    if (!shape_is_tuple(a->shape))
        return leaf_agrees(a, b, (enum comparison_mode)known[root->index], why);
    for (int k = 0; k < a->shape->count; k++) {
        const struct inst *from = root->opcode == OP_TUPLE ? root->operands[k] : root;
        if (!agree(from, known, a->elements[k], b->elements[k], why))
            return false;
    }
    return true;
}

/* ---- running ---- */

static struct literal *random_argument(struct arena *a, struct random *r, const struct shape *s)
{
    if (shape_is_tuple(s)) {
        struct literal *l = ARENA_NEW(a, struct literal);
        l->shape = s;
        l->elements = ARENA_ARRAY(a, struct literal *, s->count);
        for (int k = 0; k < s->count; k++)
            l->elements[k] = random_argument(a, r, s->elements[k]);
        return l;
    }
    struct literal *l = literal_new(a, s);
    int64_t n = 0;
    if (l && shape_is_array(s) && shape_elements(s, &n))
        for (int64_t k = 0; k < n; k++)
            random_element(r, s->dtype, (char *)l->data + (size_t)k * dtype_bytes(s->dtype));
    return l;
}

struct pair {
    struct diags *ds;
    struct module *m;
    struct arena arena;
    const struct literal **args;
    struct buf memory; /* memory that differed from the estimate */
};

static void check_memory_estimate(struct pair *p, struct run_state *state)
{
    const struct memory_estimate *f = eval_estimate_memory(state);
    if (f->known && f->exact && state->peak != f->peak)
        buf_printf(&p->memory, "estimated %zu bytes, used %zu bytes\n", f->peak, state->peak);
}

struct run_mode {
    bool plain, traced, portable;
    struct thread_pool *workers;
};

static bool on_event(void *context, struct trace_event *s)
{
    bool ok = eval_event_value(s, TRACE_VALUE) != NULL;
    for (int k = 0; k < s->step->inst->operand_count && ok; k++)
        ok = eval_event_value(s, k) != NULL;
    return ok;
}

static struct literal *run_one(struct pair *p, struct run_mode how)
{
    static const struct trace_callbacks trace_callbacks = {.after = on_event};
    struct plan_options options = {.plain = how.plain,
                                   .traced = how.traced,
                                   .portable = how.portable,
                                   .workers = how.workers,
                                   .elided = ELIDED_IOTA,
                                   .limits = {20000, 256 << 20, 10}};
    struct program *program = plan_module(p->ds, p->m, &options);
    struct run_state *state = program ? run_state_new(program, 0) : NULL;
    if (state && how.traced)
        state->trace_callbacks = &trace_callbacks;
    struct literal *l = state ? eval_program(p->ds, state, p->args,
                                             (size_t)p->m->entry->param_count, NULL, &p->arena)
                              : NULL;
    if (l && !how.traced) /* printing also uses memory */
        check_memory_estimate(p, state);
    run_state_free(state);
    program_free(program);
    return l;
}

static bool hit_limit(const struct diags *ds)
{
    for (const struct diag *d = ds->first; d; d = d->next)
        if (d->msg == MSG_LIMIT_MEMORY || d->msg == MSG_LIMIT_STEPS || d->msg == MSG_LIMIT_TIME ||
            d->msg == MSG_PLAN_MEMORY || d->msg == MSG_OUT_OF_MEMORY)
            return true;
    return false;
}

static bool same_bits(const struct literal *a, const struct literal *b)
{
    int64_t bytes = 0, others = 0;
    if (!shape_is_tuple(a->shape))
        return shape_bytes(a->shape, &bytes) && shape_bytes(b->shape, &others) && bytes == others &&
               (bytes == 0 || memcmp(a->data, b->data, (size_t)bytes) == 0);
    for (int k = 0; k < a->shape->count; k++)
        if (!same_bits(a->elements[k], b->elements[k]))
            return false;
    return true;
}

/* A run of a module, and the run to compare its results with. */
struct comparison {
    const char *name;
    struct run_mode how;
    int with;    /* index of an earlier run */
    bool exact;  /* bitwise; otherwise by comparison mode */
    bool nans;   /* NaNs may have different bits */
    int threads; /* 0: the only thread is this one */
    bool slow;   /* only of modules with little work */
};

static const struct comparison kinds_of_run[] = {
    {.name = "fast kernels"},
    {.name = "fast kernels, 2 threads", .with = 0, .exact = true, .threads = 2},
    {.name = "fast kernels, traced",
     .how = {.traced = true},
     .with = 0,
     .exact = true,
     .nans = true},
    {.name = "fast kernels, traced, 2 threads",
     .how = {.traced = true},
     .with = 2,
     .exact = true,
     .threads = 2},
    {.name = "no machine code", .how = {.portable = true}, .with = 0, .exact = true, .nans = true},
    {.name = "plain kernels", .how = {.plain = true}, .with = 0},
    {.name = "plain kernels, 2 threads",
     .how = {.plain = true},
     .with = 5,
     .exact = true,
     .threads = 2},
    {.name = "plain kernels, traced",
     .how = {.plain = true, .traced = true},
     .with = 5,
     .exact = true},
};

static const struct comparison numbers_of_threads[] = {
    {.name = "1 thread"},
    {.name = "2 threads", .with = 0, .exact = true, .threads = 2},
    {.name = "3 threads", .with = 0, .exact = true, .threads = 3},
    {.name = "8 threads", .with = 0, .exact = true, .threads = 8},
    {.name = "no machine code", .how = {.portable = true}, .with = 0, .exact = true, .nans = true},
    {.name = "traced", .how = {.traced = true}, .with = 0, .exact = true, .nans = true},
    {.name = "plain kernels", .how = {.plain = true}, .with = 0, .slow = true},
};
enum { MOST_COMPARISONS = 8 };

struct execution {
    const struct comparison *comparisons;
    size_t count;
    int64_t most_work;
};

static bool exactly(const struct literal *a, const struct literal *b, bool nans, struct buf *why)
{
    return same_bits(a, b) || look_compare(a, b, &(struct hlo_tolerance){.bits = !nans}, why);
}

/* Whether run b agrees with the earlier run that it is compared with. */
static bool agrees_with_earlier(struct pair *p, const struct comparison *c, const struct literal *a,
                                const struct literal *b, struct buf *why)
{
    bool same;
    if (a && b)
        same = c->exact
                   ? exactly(a, b, c->nans, why)
                   : agree(p->m->entry->root, classify_values(&p->arena, p->m->entry), a, b, why);
    else
        same = (!a && !b) || hit_limit(p->ds);
    if (!same)
        buf_printf(why, "\n%s: %s\n", c->name,
                   a && b ? "another result"
                   : b    ? "no error"
                          : "an error");
    return same;
}

static struct literal *run_on(struct pair *p, const struct comparison *c)
{
    struct run_mode how = c->how;
    how.workers = c->threads ? thread_pool_new(c->threads) : NULL;
    struct literal *l = run_one(p, how);
    thread_pool_free(how.workers);
    return l;
}

static enum differential run_each(struct pair *p, const struct execution *execution,
                                  struct buf *why)
{
    struct literal *runs[MOST_COMPARISONS] = {0};
    const bool little = is_little_work(p->m, MAX_WORK, true);
    enum differential outcome = DIFFERENTIAL_AGREES;
    for (size_t k = 0; k < execution->count && outcome != DIFFERENTIAL_DIFFERS; k++) {
        const struct comparison *c = &execution->comparisons[k];
        if (c->slow && !little)
            continue;
        runs[k] = run_on(p, c);
        if (!agrees_with_earlier(p, c, runs[c->with], runs[k], why))
            outcome = DIFFERENTIAL_DIFFERS;
        else if (!runs[k])
            outcome = DIFFERENTIAL_STOPPED;
    }
    for (size_t k = 0; k < execution->count; k++)
        if (runs[k])
            literal_free_data(runs[k]);
    return outcome;
}

static enum differential run_module(struct diags *ds, struct module *m,
                                    const struct execution *execution, uint64_t seed,
                                    struct buf *why)
{
    struct pair p = {.ds = ds, .m = m};
    struct random r = {.state = seed};
    enum differential outcome = DIFFERENTIAL_SKIPPED;
    arena_init(&p.arena);
    if (!is_little_work(m, execution->most_work, false)) {
        buf_puts(why, "not run: takes longer than a test may\n");
    } else {
        int n = m->entry->param_count;
        struct literal **args = ARENA_ARRAY(&p.arena, struct literal *, n);
        for (int k = 0; k < n; k++)
            args[k] = random_argument(&p.arena, &r, m->entry->params[k]->shape);
        p.args = (const struct literal **)args;
        outcome = run_each(&p, execution, why);
        if (p.memory.size > 0) {
            buf_str(why, buf_view(&p.memory));
            outcome = DIFFERENTIAL_DIFFERS;
        }
        buf_free(&p.memory);
        for (int k = 0; k < n; k++)
            if (args[k])
                literal_free_data(args[k]);
    }
    arena_free(&p.arena);
    return outcome;
}

static enum differential run_text(struct str text, const struct execution *execution, uint64_t seed,
                                  struct buf *why)
{
    struct source source;
    struct diags ds;
    enum differential outcome = DIFFERENTIAL_REJECTED;
    source_init(&source, STR("generated"), text);
    diags_init(&ds, &source);
    struct module *m = text_parse_module(&ds, &source, &(struct parse_options){0});
    if (m && verify_module(&ds, m, &(struct verify_options){0}))
        outcome = run_module(&ds, m, execution, seed, why);
    if (ds.first)
        diags_draw(why, &ds, NULL);
    if (m)
        module_free(m);
    diags_free(&ds);
    source_free(&source);
    return outcome;
}

#define EXECUTION(comparisons, most)                                                               \
    &(struct execution) { comparisons, sizeof comparisons / sizeof *comparisons, most }

enum differential run_all_modes(struct str text, uint64_t seed, struct buf *why)
{
    return run_text(text, EXECUTION(kinds_of_run, MAX_WORK), seed, why);
}

enum differential run_on_threads(struct str text, uint64_t seed, struct buf *why)
{
    return run_text(text, EXECUTION(numbers_of_threads, MAX_SHARED_WORK), seed, why);
}
