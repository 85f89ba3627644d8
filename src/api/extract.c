/*
 * Public interface: extraction of an instruction and its operands as a standalone module.
 *
 * The instructions to keep are determined first, level by level of operands. Cut-off operands get
 * their values from a traced run, which ends when the instruction is about to run.
 */
#include "api/store.h"

#include "edit/edit.h"

struct extract {
    const hlo_listing *l;
    const struct hlo_extract *what;
    hlo_messages *m;
    struct arena arena;
    const struct computation *c;
    const struct inst *target;
    bool *kept, *cut; /* by index of an instruction in the computation; cut: replaced by its value
                         or a parameter */
    struct store values; /* of cut-off operands: the last ones before the target runs */
    uint64_t executions; /* number of executions of the target so far */
    bool reached;        /* the requested execution has been reached */
    bool failed;         /* out of memory */
};

/* ---- kept instructions ---- */

/* Whether the instruction has no operands, so that cutting it off gains nothing. */
static bool is_source(const struct extract *x, const struct inst *i)
{
    return i->opcode == OP_CONSTANT || i->opcode == OP_IOTA ||
           (i->opcode == OP_PARAMETER && x->what->parameters);
}

/* Whether the instruction is kept at this height. Instructions that cannot be replaced, such as a
 * -start used by its -done, always are. */
static bool stays(const struct extract *x, const struct inst *i, size_t height)
{
    if (is_source(x, i) || edit_may_change(i))
        return true;
    return i->opcode != OP_PARAMETER && height <= x->what->height;
}

struct level {
    const struct inst **at;
    size_t count, capacity;
};

static void keep(struct extract *x, struct level *level, const struct inst *i)
{
    if (x->kept[i->index])
        return;
    x->kept[i->index] = true;
    VEC_PUSH(&x->arena, level->at, level->count, level->capacity) = i;
}

static void find_retained(struct extract *x)
{
    struct level now = {0};
    if (x->target->opcode == OP_PARAMETER && !x->what->parameters)
        return; /* the module is just its value */
    keep(x, &now, x->target);
    for (size_t height = 1; now.count > 0; height++) {
        struct level above = {0};
        for (size_t k = 0; k < now.count; k++)
            for (int o = 0; o < now.at[k]->operand_count; o++)
                if (stays(x, now.at[k]->operands[o], height))
                    keep(x, &above, now.at[k]->operands[o]);
        now = above;
    }
}

/* Whether the instruction extracts an element of a tuple that is cut off: then the element is cut
 * off instead, which is less. */
static bool is_component(const struct extract *x, const struct inst *i)
{
    return i != x->target && i->opcode == OP_GET_TUPLE_ELEMENT && !x->kept[i->operands[0]->index] &&
           !edit_may_change(i);
}

static void find_cut(struct extract *x)
{
    x->cut[x->target->index] = !x->kept[x->target->index];
    for (bool more = true; more;) { /* nested tuples */
        more = false;
        for (int k = 0; k < x->c->inst_count; k++)
            if (x->kept[k] && is_component(x, x->c->insts[k])) {
                x->kept[k] = false;
                more = true;
            }
    }
    for (int k = 0; k < x->c->inst_count; k++)
        for (int o = 0; x->kept[k] && o < x->c->insts[k]->operand_count; o++)
            x->cut[x->c->insts[k]->operands[o]->index] |=
                !x->kept[x->c->insts[k]->operands[o]->index];
}

/* ---- recorded values ---- */

static const struct inst *inst_of(const struct extract *x, const struct hlo_event *s)
{
    const struct inst *i = hlo_listing_inst(x->l, s->inst);
    return s->participant == 0 && i->parent == x->c ? i : NULL;
}

/* Callback: when the requested execution of the target is about to run, the last values of its
 * operands are the right ones. */
static bool before(void *context, const struct hlo_event *s)
{
    struct extract *x = context;
    if (inst_of(x, s) != x->target || x->executions != x->what->execution ||
        x->cut[x->target->index])
        return true;
    x->reached = true;
    return false;
}

static bool after(void *context, const struct hlo_event *s)
{
    struct extract *x = context;
    const struct inst *i = inst_of(x, s);
    if (!i)
        return true;
    const struct store_key key = {.inst = s->inst};
    x->failed |= x->cut[i->index] && !store_put(&x->values, &key, s);
    if (i == x->target)
        x->reached = x->executions++ == x->what->execution;
    return !x->reached && !x->failed;
}

static bool report(const struct extract *x, const struct str text)
{
    return DIAG_ERROR(hlo_sink_of_module(x->m, hlo_listing_module(x->l)), x->target->name_span,
                      FAILURE, text.ptr);
}

static bool has_cut(const struct extract *x)
{
    for (int k = 0; k < x->c->inst_count; k++)
        if (x->cut[k])
            return true;
    return false;
}

static bool run(struct extract *x, const struct hlo_run_options *options,
                const hlo_literal *const *args, size_t count)
{
    const struct hlo_trace_callbacks callbacks = {sizeof callbacks, x, before, after};
    const size_t errors = hlo_messages_errors(x->m);
    hlo_run_traced_within(hlo_listing_module(x->l), options, &callbacks, args, count, x->m);
    if (x->failed)
        return report(x, STR("out of memory for the values"));
    if (x->reached)
        return true;
    if (hlo_messages_errors(x->m) > errors)
        return false; /* the run ended early */
    return report(x, arena_printf(&x->m->arena,
                                  "'" STR_FMT "' was executed %" PRIu64
                                  " times on whole values; its operands were not recorded",
                                  STR_ARG(x->target->name), x->executions));
}

/* ---- the module ---- */

static const char *cut_off(struct extract *x, struct edit *e, const struct inst *i)
{
    const struct store_key key = {.inst = hlo_listing_number(x->l, i)};
    if (x->what->parameters)
        return edit_parameter(e, x->c->insts[i->index]);
    return edit_constant(e, x->c->insts[i->index], store_get(&x->values, &key)->l);
}

static hlo_module *finish(struct extract *x)
{
    const hlo_module *from = hlo_listing_module(x->l);
    struct edit *e = edit_new(from->m);
    struct inst *root = x->c->insts[x->target->index];
    const char *problem = edit_root(e, &root, 1);
    for (int k = 0; k < x->c->inst_count && !problem; k++)
        if (x->cut[k])
            problem = cut_off(x, e, x->c->insts[k]);
    struct module *made = NULL;
    edit_drop_parameters(e);
    if (problem)
        edit_free(e);
    else
        made = edit_finish(e, &problem);
    if (!made) {
        report(x, arena_printf(&x->m->arena, "'" STR_FMT "' cannot be extracted: %s",
                               STR_ARG(x->target->name), problem));
        return NULL;
    }
    hlo_module *out = heap_zalloc(1, sizeof *out);
    *out = (hlo_module){made, hlo_file_hold(from->file), from->part};
    return out;
}

hlo_module *hlo_extract(const hlo_listing *l, const struct hlo_extract *what,
                        const struct hlo_run_options *options, const hlo_literal *const *args,
                        size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct hlo_extract given;
    if (!hlo_options_copy(&given, sizeof given, what, m))
        return NULL;
    struct extract x = {.l = l, .what = &given, .m = m, .target = hlo_listing_inst(l, given.inst)};
    hlo_module *out = NULL;
    arena_init(&x.arena);
    x.c = x.target->parent;
    x.kept = ARENA_ARRAY(&x.arena, bool, x.c->inst_count);
    x.cut = ARENA_ARRAY(&x.arena, bool, x.c->inst_count);
    store_init(&x.values, l, UINT64_MAX);
    find_retained(&x);
    find_cut(&x);
    if (given.parameters || !has_cut(&x) || run(&x, options, args, count))
        out = finish(&x);
    store_free(&x.values);
    arena_free(&x.arena);
    return out;
}
