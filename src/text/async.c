/*
 * async.c: asynchronous instructions and their syntactic sugar.
 *
 * `OP-start` is an async-start around a computation of one OP, which is created here; `OP-update`
 * and `OP-done` are the later links of the chain (grammar/text.md 3.4).
 */
#include "text/parse.h"

/* False for opcodes that have their own -start and -done, and for those without an operand list. */
static bool may_wrap(enum opcode op)
{
    static const enum opcode never[] = {OP_ALL_GATHER, OP_ALL_REDUCE, OP_COLLECTIVE_PERMUTE,
                                        OP_COPY,       OP_RECV,       OP_SEND,
                                        OP_PARAMETER,  OP_CONSTANT};
    for (size_t i = 0; i < COUNT_OF(never); i++)
        if (op == never[i])
            return false;
    return op != OP_INVALID;
}

bool async_opcode(struct str word, enum opcode *op, enum opcode *wrapped)
{
    static const struct {
        struct str suffix;
        enum opcode op;
    } forms[] = {{{"-start", 6}, OP_ASYNC_START},
                 {{"-update", 7}, OP_ASYNC_UPDATE},
                 {{"-done", 5}, OP_ASYNC_DONE}};
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct str suffix = forms[i].suffix;
        if (word.len == suffix.len || !str_ends(word, suffix))
            continue;
        *wrapped = op_find((struct str){word.ptr, word.len - suffix.len});
        *op = forms[i].op;
        return may_wrap(*wrapped);
    }
    return false;
}

/* The async-start of the chain that `i` belongs to. */
static struct inst *chain_start(struct inst *i)
{
    while (i->opcode != OP_ASYNC_START)
        i = i->operands[0];
    return i;
}

static struct str chain_thread(const struct inst *start)
{
    const struct attr *a = inst_attr(start, A_ASYNC_EXECUTION_THREAD);
    return a ? a->v.s : STR("main");
}

/* ---- after the operands ---- */

static bool check_start_shape(struct parser *p, const struct draft *d)
{
    const struct shape *s = d->i.shape;
    if (shape_is_tuple(s) && s->count >= 2 && shape_is_tuple(s->elements[0]))
        return true;
    return DIAG_ERROR(p->ds, d->i.shape_span, ASYNC_SHAPE, STR_ARG(d->word),
                      STR_ARG(shape_text(p->arena, s)));
}

/* Creates the wrapped computation with one parameter per operand, and the draft of its root. */
static bool begin_wrapped(struct parser *p, struct draft *d)
{
    struct computation *c = computation_new(p->m, STR("async_wrapped"));
    struct draft *inner = ARENA_NEW(p->arena, struct draft);
    c->span = d->i.opcode_span;
    for (int k = 0; k < d->i.operand_count; k++) {
        struct inst *param =
            inst_new(c, OP_PARAMETER, STR("async_param"), d->i.operands[k]->shape, 0, NULL);
        param->number = k;
        param->span = param->name_span = d->i.operands[k]->span;
    }
    inner->i.opcode = (uint8_t)d->wrapped;
    inner->i.shape = d->i.shape->elements[1];
    inner->i.parent = c;
    inner->i.operands = ARENA_DUP(p->arena, c->insts, c->inst_count);
    inner->i.operand_count = c->inst_count;
    inner->i.span = d->i.opcode_span;
    inner->i.shape_span = d->i.shape_span;
    inner->i.opcode_span = inner->i.name_span = d->i.opcode_span;
    inner->word = d->word;
    inner->open = d->open;
    inner->form = FORM_NONE;
    inner->wrapped = OP_INVALID;
    inner->wrapped_inside = true;
    inner->dropped = d->dropped;
    inner->dropped_at = d->dropped_at;
    d->inner = inner;
    return check_operand_count(p, inner) && check_operand_kinds(p, inner);
}

/* Creates a draft for a start with malformed operands, only to parse the attributes of the wrapped
 * opcode. */
static void begin_poisoned(struct parser *p, struct draft *d)
{
    d->inner = ARENA_NEW(p->arena, struct draft);
    d->inner->i.opcode = (uint8_t)d->wrapped;
    d->inner->i.parent = d->i.parent;
    d->inner->form = FORM_NONE;
    d->inner->wrapped = OP_INVALID;
    d->inner->poisoned = true;
}

static bool check_chain(struct parser *p, struct draft *d)
{
    const struct inst *i = d->i.operand_count ? d->i.operands[0] : NULL;
    bool single = d->i.operand_count == 1 ||
                  (d->i.operand_count > 1 && !p->strict && d->i.opcode == OP_ASYNC_UPDATE);
    if (!single || (i->opcode != OP_ASYNC_START && i->opcode != OP_ASYNC_UPDATE))
        return DIAG_ERROR(p->ds, d->open, ASYNC_OPERAND, STR_ARG(d->word));
    if (d->i.opcode == OP_ASYNC_UPDATE && p->strict && !shape_equal(d->i.shape, i->shape, 0))
        return DIAG_ERROR(p->ds, d->i.shape_span, ASYNC_UPDATE_SHAPE,
                          STR_ARG(shape_text(p->arena, d->i.shape)),
                          STR_ARG(shape_text(p->arena, i->shape)));
    if (d->wrapped == OP_INVALID)
        return true;
    const struct computation *c = inst_computation(chain_start(d->i.operands[0]), A_CALLS);
    if (c && c->root && c->root->opcode != d->wrapped)
        return DIAG_ERROR(p->ds, d->i.opcode_span, ASYNC_OPCODE, STR_ARG(d->word),
                          op_spelling((enum opcode)c->root->opcode));
    return true;
}

bool async_operands(struct parser *p, struct draft *d)
{
    if (d->poisoned && d->i.opcode == OP_ASYNC_START && d->wrapped != OP_INVALID)
        begin_poisoned(p, d);
    if (d->poisoned || !d->i.shape)
        return true;
    if (d->i.opcode == OP_ASYNC_START)
        return check_start_shape(p, d) && (d->wrapped == OP_INVALID || begin_wrapped(p, d));
    if (d->i.opcode == OP_ASYNC_UPDATE || d->i.opcode == OP_ASYNC_DONE)
        return check_chain(p, d);
    return true;
}

/* ---- after the attributes ---- */

/* Sets the execution thread of a computation and of its callees, recursively. */
static void set_thread(struct parser *p, struct computation *top, struct str thread)
{
    struct arena *a = &p->state->scratch;
    struct arena_mark mark = arena_mark(a);
    bool *seen = ARENA_ARRAY(a, bool, p->m->computation_count + 1);
    struct computation **todo = NULL;
    size_t count = 0, capacity = 0;
    VEC_PUSH(a, todo, count, capacity) = top;
    while (count > 0) {
        struct computation *c = todo[--count];
        c->execution_thread = thread;
        for (int k = 0; k < c->inst_count; k++) {
            int callees;
            struct computation **list = inst_callee_list(a, c->insts[k], &callees);
            for (int n = 0; n < callees; n++) {
                if (list[n]->index < 0 || seen[list[n]->index])
                    continue;
                seen[list[n]->index] = true;
                VEC_PUSH(a, todo, count, capacity) = list[n];
            }
        }
    }
    arena_release(a, mark);
}

/* Finishes the root of the wrapped computation, and makes the start call the computation. */
static bool finish_wrapped(struct parser *p, struct draft *d)
{
    struct draft *inner = d->inner;
    struct computation *c = inner->i.parent;
    if (!check_required(p, inner) || !check_draft(p, inner))
        return false;
    normalise_draft(p, inner);
    struct str name = str_of(op_spelling((enum opcode)inner->i.opcode));
    struct inst *root = inst_new(c, (enum opcode)inner->i.opcode, name, inner->i.shape,
                                 inner->i.operand_count, inner->i.operands);
    root->attr_count = inner->i.attr_count;
    root->attrs = inner->i.attrs;
    root->span = d->i.span;
    root->name_span = root->opcode_span = d->i.opcode_span;
    root->shape_span = d->i.shape_span;
    c->root = root;
    computation_finish(c);
    inst_set_attr(p->m, &d->i, A_CALLS, (union attr_value){.computation = c}, d->i.opcode_span);
    return true;
}

static bool finish_start(struct parser *p, struct draft *d)
{
    if (d->inner && !finish_wrapped(p, d))
        return false;
    struct computation *c = inst_computation(&d->i, A_CALLS);
    set_thread(p, c, chain_thread(&d->i));
    return true;
}

/* Attributes repeated at -update and -done must agree with the start; they are not stored. */
static bool finish_link(struct parser *p, struct draft *d)
{
    struct inst *start = chain_start(d->i.operands[0]);
    const struct attr *calls = inst_attr(&d->i, A_CALLS),
                      *thread = inst_attr(&d->i, A_ASYNC_EXECUTION_THREAD);
    if (calls && calls->v.computation != inst_computation(start, A_CALLS))
        return DIAG_ERROR(p->ds, calls->span, ASYNC_DIFFERS, "calls a different computation");
    if (thread && !str_eq(thread->v.s, chain_thread(start)))
        return DIAG_ERROR(p->ds, thread->span, ASYNC_DIFFERS, "names a different thread");
    inst_remove_attr(&d->i, A_CALLS);
    inst_remove_attr(&d->i, A_ASYNC_EXECUTION_THREAD);
    return true;
}

/* These attributes of a line of the chain also apply to the root of its computation; the last line
 * takes precedence. */
static void tell_root(struct parser *p, const struct draft *d, const struct inst *start)
{
    static const uint8_t told[] = {A_FRONTEND_ATTRIBUTES, A_STATISTICS, A_ORIGIN, A_METADATA,
                                   A_BACKEND_CONFIG};
    struct computation *c = inst_computation(start, A_CALLS);
    for (size_t k = 0; k < COUNT_OF(told) && c && c->root; k++) {
        const struct attr *a = inst_attr(&d->i, (enum attr_id)told[k]);
        if (a)
            inst_set_attr(p->m, c->root, (enum attr_id)told[k], a->v, a->span);
    }
}

bool async_finish(struct parser *p, struct draft *d)
{
    bool starts = d->i.opcode == OP_ASYNC_START;
    if (!starts && d->i.opcode != OP_ASYNC_UPDATE && d->i.opcode != OP_ASYNC_DONE)
        return true;
    if (!(starts ? finish_start(p, d) : finish_link(p, d)))
        return false;
    tell_root(p, d, starts ? &d->i : chain_start(d->i.operands[0]));
    return true;
}

/* ---- at the end of the text ---- */

/* In strict mode, two async-starts must not call the same computation. */
bool async_starts_distinct(struct parser *p)
{
    struct module *m = p->m;
    struct inst **callers = ARENA_ARRAY(&p->state->scratch, struct inst *, m->computation_count);
    for (int c = 0; c < m->computation_count; c++) {
        int count = m->computations[c]->marks_callees ? m->computations[c]->inst_count : 0;
        for (int k = 0; k < count; k++) {
            struct inst *i = m->computations[c]->insts[k];
            struct computation *called =
                i->opcode == OP_ASYNC_START ? inst_computation(i, A_CALLS) : NULL;
            if (!called || called->index < 0)
                continue;
            if (callers[called->index]) {
                struct diag *d = DIAG(p->ds, i->span, ASYNC_SHARED, STR_ARG(called->name));
                diag_note(p->ds, d, callers[called->index]->span, "other async-start here");
                return false;
            }
            callers[called->index] = i;
        }
    }
    return true;
}
