/*
 * ir.c: construction of modules, computations and instructions, and accessors.
 */
#include "ir/ir.h"

#include "base/oom.h"

/* ---- modules ---- */

/* The base module may be older than the call that ran out of memory. */
static void release_module(struct tracked *t)
{
    struct module *m = heap_block(t);
    if (m->base)
        m->base->holders--;
    heap_free(m);
}

struct module *module_new(void)
{
    struct module *m = heap_zalloc(1, sizeof *m);
    heap_on_oom(m, release_module);
    arena_init(&m->arena);
    m->replica_count = m->num_partitions = 1;
    return m;
}

struct module *module_hold(struct module *m)
{
    m->holders++;
    return m;
}

/* Releases one reference to a module; returns it if that was the last one and it must be freed. */
static struct module *release_reference(struct module *m)
{
    return m && m->holders-- == 0 ? m : NULL;
}

static void free_one(struct module *m)
{
    for (int i = 0; i < m->recovery_count; i++)
        module_free(m->recovery[i].module);
    for (size_t i = 0; i < m->owned_count; i++)
        literal_free_data(m->owned[i]);
    source_free(&m->source);
    arena_free(&m->arena);
    heap_free(m);
}

void module_free(struct module *m)
{
    for (m = release_reference(m); m;) {
        struct module *base = m->base;
        free_one(m);
        m = release_reference(base);
    }
}

static void pass_storage(struct literal *l, struct oom_scope *g)
{
    for (int i = 0; shape_is_tuple(l->shape) && i < l->shape->count; i++)
        pass_storage(l->elements[i], g);
    if (!l->owner)
        mem_pass(l->data, g);
}

void module_own_literal(struct module *m, struct literal *l)
{
    VEC_PUSH(&m->arena, m->owned, m->owned_count, m->owned_capacity) = l;
    pass_storage(l, oom_scope_of(m->arena.generation));
}

/* Grows an array by one element. Capacities are `first` and then powers of two, so they follow from
 * the count and need not be stored: there are many such arrays. */
static void *grow(struct arena *a, void *items, int count, int first, size_t item_size)
{
    bool full = count == 0 || (count >= first && (count & (count - 1)) == 0);
    if (!full)
        return items;
    size_t new_capacity = count ? 2 * (size_t)count : (size_t)first;
    void *moved = arena_alloc(a, new_capacity * item_size);
    if (count)
        memcpy(moved, items, (size_t)count * item_size);
    return moved;
}

struct inst *module_next(const struct module *m, const struct inst *i)
{
    for (int c = i ? i->parent->index : 0, k = i ? i->index + 1 : 0; c < m->computation_count;
         c++, k = 0)
        if (k < m->computations[c]->inst_count)
            return m->computations[c]->insts[k];
    return NULL;
}

struct computation *computation_new(struct module *m, struct str name)
{
    struct computation *c = ARENA_NEW(&m->arena, struct computation);
    c->module = m;
    c->name = name;
    c->index = -1;
    c->execution_thread = STR("main");
    return c;
}

/* Indexes the parameters by number; false if the numbers are not 0 ... n-1. */
static bool list_params(struct computation *c)
{
    int count = c->param_count, listed = 0;
    struct inst **params = ARENA_ARRAY(&c->module->arena, struct inst *, count);
    for (int i = 0; listed < count; i++) { /* parameters usually come first */
        struct inst *p = c->insts[i];
        if (p->opcode != OP_PARAMETER)
            continue;
        if (p->number < 0 || p->number >= count || params[p->number])
            return false;
        params[p->number] = p;
        listed++;
    }
    c->params = params;
    return true;
}

static void count_leaves(struct computation *c)
{
    int64_t n = 0;
    c->leaves_before = ARENA_ARRAY(&c->module->arena, int64_t, c->param_count);
    for (int i = 0; i < c->param_count; i++) {
        c->leaves_before[i] = n;
        n += c->params[i]->shape ? shape_leaf_count(c->params[i]->shape) : 0;
    }
}

bool computation_finish(struct computation *c)
{
    struct module *m = c->module;
    if (c->inst_count == 0 || !list_params(c))
        return false;
    count_leaves(c);
    if (!c->root)
        c->root = c->insts[c->inst_count - 1];
    m->computations =
        grow(&m->arena, m->computations, m->computation_count, 4, sizeof *m->computations);
    c->index = m->computation_count++;
    m->computations[c->index] = c;
    return true;
}

/* ---- instructions ---- */

struct inst *inst_new(struct computation *c, enum opcode op, struct str name,
                      const struct shape *shape, int operand_count, struct inst *const *operands)
{
    struct arena *a = &c->module->arena;
    size_t list_size = (size_t)operand_count * sizeof *operands;
    struct inst *i = arena_alloc(a, sizeof *i + list_size);
    memset(i, 0, sizeof *i);
    i->opcode = (uint8_t)op;
    i->name = name;
    i->shape = shape;
    i->parent = c;
    i->operand_count = operand_count;
    i->operands = (struct inst **)(i + 1);
    for (int k = 0; k < operand_count; k++) {
        i->operands[k] = operands[k];
        operands[k]->user_count++;
    }
    c->param_count += op == OP_PARAMETER;
    c->marks_callees |= op == OP_FUSION || op == OP_ASYNC_START;
    c->insts = grow(a, c->insts, c->inst_count, 4, sizeof *c->insts);
    i->index = c->inst_count++;
    c->insts[i->index] = i;
    return i;
}

/* ---- attributes ---- */

enum { RANK_FOREIGN = 1000, RANK_COMMON = 2000 };

/* The position of an attribute in the order of its instruction. Attributes that the opcode does not
 * list (syntactic sugar for async-start has those of the wrapped opcode) come between the opcode's
 * own and the common ones. */
static int attr_rank(enum opcode op, enum attr_id id)
{
    for (int k = 0; op_table[op].attrs[k].id != A_NONE; k++)
        if (op_table[op].attrs[k].id == id)
            return k;
    for (int k = 0; attr_common[k] != A_NONE; k++)
        if (attr_common[k] == id)
            return RANK_COMMON + k;
    return RANK_FOREIGN + (int)id;
}

struct attr *inst_set_attr(struct module *m, struct inst *i, enum attr_id id, union attr_value v,
                           struct span span)
{
    enum opcode op = (enum opcode)i->opcode;
    int rank = attr_rank(op, id), at = i->attr_count;
    for (int k = 0; k < i->attr_count; k++) {
        if (i->attrs[k].id == id) {
            i->attrs[k].v = v;
            i->attrs[k].span = span;
            return &i->attrs[k];
        }
    }
    i->attrs = grow(&m->arena, i->attrs, i->attr_count, 1, sizeof *i->attrs);
    for (; at > 0 && attr_rank(op, (enum attr_id)i->attrs[at - 1].id) > rank; at--)
        i->attrs[at] = i->attrs[at - 1];
    i->attrs[at] = (struct attr){.id = (uint8_t)id, .span = span, .v = v};
    i->attr_count++;
    return &i->attrs[at];
}

void inst_remove_attr(struct inst *i, enum attr_id id)
{
    for (int k = 0; k < i->attr_count; k++) {
        if (i->attrs[k].id != id)
            continue;
        i->attr_count--;
        memmove(&i->attrs[k], &i->attrs[k + 1], (size_t)(i->attr_count - k) * sizeof *i->attrs);
        return;
    }
}

void inst_copy_attrs(struct module *m, struct inst *i, const struct inst *from)
{
    i->attrs = NULL;
    for (int k = 0; k < from->attr_count; k++) {
        i->attrs = grow(&m->arena, i->attrs, k, 1, sizeof *i->attrs);
        i->attrs[k] = from->attrs[k];
    }
    i->attr_count = from->attr_count;
}

const struct attr *inst_attr(const struct inst *i, enum attr_id id)
{
    for (int k = 0; k < i->attr_count; k++)
        if (i->attrs[k].id == id)
            return &i->attrs[k];
    return NULL;
}

bool inst_bool(const struct inst *i, enum attr_id id)
{
    const struct attr *a = inst_attr(i, id);
    return a && a->v.b;
}

const struct str *inst_frontend(const struct inst *i, const char *key)
{
    const struct attr *a = inst_attr(i, A_FRONTEND_ATTRIBUTES);
    for (int k = 0; a && k < a->v.frontend.count; k++)
        if (str_is(a->v.frontend.at[k].key, key))
            return &a->v.frontend.at[k].value;
    return NULL;
}

bool ints_product(struct ints v, int64_t *out)
{
    *out = 1;
    for (int64_t i = 0; i < v.count; i++)
        if (!mul_i64(*out, v.at[i], out))
            return false;
    return true;
}

bool inst_has_effect(const struct inst *i)
{
    return op_is(i->opcode, OP_EFFECT) || inst_bool(i, A_CUSTOM_CALL_HAS_SIDE_EFFECT);
}

int64_t inst_int(const struct inst *i, enum attr_id id, int64_t absent)
{
    const struct attr *a = inst_attr(i, id);
    return a ? a->v.i : absent;
}

int inst_enum(const struct inst *i, enum attr_id id, int absent)
{
    const struct attr *a = inst_attr(i, id);
    return a ? a->v.e : absent;
}

struct ints inst_ints(const struct inst *i, enum attr_id id)
{
    const struct attr *a = inst_attr(i, id);
    return a ? a->v.ints : (struct ints){0, NULL};
}

struct window inst_window(const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_WINDOW);
    return a ? a->v.window : (struct window){0, NULL};
}

bool inst_sort_dimension(const struct inst *i, int *out)
{
    const int64_t d = inst_ints(i, A_DIMENSIONS).at[0], rank = i->operands[0]->shape->rank;
    *out = (int)(d < 0 ? d + rank : d);
    return d >= -rank && d < rank;
}

struct computation *inst_computation(const struct inst *i, enum attr_id id)
{
    const struct attr *a = inst_attr(i, id);
    return a ? a->v.computation : NULL;
}

struct str inst_str(const struct inst *i, enum attr_id id)
{
    const struct attr *a = inst_attr(i, id);
    return a ? a->v.s : STR("");
}

const struct metadata *inst_metadata(const struct inst *i)
{
    const struct attr *a = inst_attr(i, A_METADATA);
    return a ? a->v.metadata : NULL;
}

struct span inst_attr_span(const struct inst *i, enum attr_id id)
{
    const struct attr *a = inst_attr(i, id);
    return a ? a->span : i->span;
}

/* ---- accessors that combine several attributes ---- */

/* Appends the computations of one attribute to `out`, if not NULL; returns the new count. */
static int add_callees(const struct attr *a, struct computation **out, int count)
{
    switch ((enum attr_kind)attr_table[a->id].kind) {
    case KIND_COMPUTATION:
        if (out)
            out[count] = a->v.computation;
        return count + 1;
    case KIND_COMPUTATION_LIST:
        for (int k = 0; out && k < a->v.computations.count; k++)
            out[count + k] = a->v.computations.at[k];
        return count + a->v.computations.count;
    default: return count;
    }
}

int inst_callees(const struct inst *i, struct computation **out)
{
    int count = 0;
    /* Called by the start of the chain. */
    if (i->opcode == OP_ASYNC_UPDATE || i->opcode == OP_ASYNC_DONE)
        return 0;
    if (i->opcode == OP_WHILE) { /* the printed order is the reverse */
        for (int k = i->attr_count - 1; k >= 0; k--)
            count = add_callees(&i->attrs[k], out, count);
        return count;
    }
    for (int k = 0; k < i->attr_count; k++)
        count = add_callees(&i->attrs[k], out, count);
    return count;
}

struct computation **inst_callee_list(struct arena *a, const struct inst *i, int *count)
{
    *count = inst_callees(i, NULL);
    if (*count == 0)
        return NULL;
    struct computation **list = ARENA_ARRAY(a, struct computation *, *count);
    inst_callees(i, list);
    return list;
}

int inst_usual_compare_type(const struct inst *i)
{
    enum dtype t = i->operand_count ? i->operands[0]->shape->dtype : DT_F32;
    return dtype_is_float(t) || dtype_is_complex(t) ? E_TYPE_FLOAT
           : dtype_is_signed(t)                     ? E_TYPE_SIGNED
                                                    : E_TYPE_UNSIGNED;
}

int inst_compare_type(const struct inst *i)
{
    return inst_enum(i, A_TYPE, inst_usual_compare_type(i));
}

/* Table entries are numbered from 1; NULL for a number without an entry. */
static const struct file_location *frame_location(const struct stack_frame_tables *t, int32_t frame)
{
    if (frame < 1 || frame > t->frame_count)
        return NULL;
    int32_t location = t->frames[frame - 1].location;
    return location >= 1 && location <= t->location_count ? &t->locations[location - 1] : NULL;
}

struct str inst_where(struct arena *a, const struct inst *i)
{
    const struct metadata *meta = inst_metadata(i);
    if (!meta)
        return STR("");
    const struct stack_frame_tables *t = &i->parent->module->frames;
    const struct file_location *l = frame_location(t, meta->stack_frame_id);
    if (l && l->file >= 1 && l->file <= t->file_count)
        return arena_printf(a, STR_FMT ":%" PRId32, STR_ARG(t->files[l->file - 1]), l->line);
    if (meta->source_file.len == 0)
        return STR("");
    return arena_printf(a, STR_FMT ":%" PRId32, STR_ARG(meta->source_file), meta->source_line);
}

int32_t inst_missing_frame(const struct inst *i)
{
    const struct metadata *meta = inst_metadata(i);
    return meta ? meta->missing_frame : 0;
}

/* ---- marks that depend on the whole module ---- */

static void link_computation(struct computation *c)
{
    for (int k = 0; k < c->inst_count; k++) {
        struct inst *i = c->insts[k];
        struct computation *callee = inst_computation(i, A_CALLS);
        if (callee && i->opcode == OP_FUSION)
            callee->fused = true;
        if (callee && i->opcode == OP_ASYNC_START)
            callee->async_start = i;
    }
}

void module_link(struct module *m)
{
    for (int c = 0; c < m->computation_count; c++) {
        m->computations[c]->fused = false;
        m->computations[c]->async_start = NULL;
    }
    for (int c = 0; c < m->computation_count; c++)
        if (m->computations[c]->marks_callees)
            link_computation(m->computations[c]);
}

int inst_group_mode(const struct inst *i)
{
    if (inst_has(i, A_MODE))
        return inst_enum(i, A_MODE, 0);
    if (!inst_has(i, A_CHANNEL_ID))
        return E_MODE_CROSS_REPLICA;
    if (!op_attr_of(i->opcode, A_USE_GLOBAL_DEVICE_IDS))
        return E_MODE_CROSS_PARTITION;
    return inst_bool(i, A_USE_GLOBAL_DEVICE_IDS) ? E_MODE_FLATTENED_ID
                                                 : E_MODE_CROSS_REPLICA_AND_PARTITION;
}
