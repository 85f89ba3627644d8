/*
 * copy.c: builds the computations of the new module. Instructions keep their order, except that
 * each is moved after its operands.
 */
#include "edit/edit_priv.h"

/* A computation being copied, either as such or inlined into its caller. */
struct body {
    struct edit *e;
    const struct computation *from;
    struct computation *to;
    /* By index of the old instruction: its replacement for users; NULL: not created yet. */
    struct inst **made;
    struct inst *const *bound; /* when inlined: the values bound to its parameters; else NULL */
    uint8_t *state;
    struct inst **stack;
    size_t depth, capacity;
};
enum { SEEN = 1, DONE = 2 };

static bool copy_body(struct body *b);

static bool fail(struct edit *e, const char *why)
{
    e->problem = why;
    return false;
}

/* ---- parameters ---- */

/* Whether a parameter is kept: it is used, or the parameters of its computation must not be
 * dropped. */
static bool keeps_parameter(const struct edit *e, const struct inst *param)
{
    const struct part *p = part_of(e, param->parent);
    const struct mark *mark = mark_of(e, param);
    if (param->parent != e->entry)
        return p->keeps || (mark->live && mark->becomes == BECOMES_ITSELF);
    return mark->becomes == BECOMES_ITSELF && (mark->live || !e->drop_parameters);
}

static void number_parameters(struct edit *e, const struct computation *c)
{
    struct part *p = part_of(e, c);
    p->numbers = ARENA_ARRAY(&e->arena, int, c->param_count);
    for (int k = 0; k < c->param_count; k++)
        p->numbers[k] = keeps_parameter(e, c->params[k]) ? p->parameters++ : -1;
}

/* Whether an operand is kept: operands of a call or fusion are dropped with the parameters. */
static bool keeps_operand(const struct edit *e, const struct inst *i, int k)
{
    int first;
    if (!edit_passes_operands(i))
        return true;
    const struct computation *c = edit_callee(i, 0, &first);
    return k < c->param_count ? part_of(e, c)->numbers[k] >= 0 : !e->touched;
}

/* ---- attributes ---- */

/* Frontend attributes that the verifier or a run depends on. */
static bool keeps_frontend_attribute(const struct inst *i)
{
    return inst_frontend(i, "_xla_send_recv_source_target_pairs") ||
           inst_frontend(i, "_xla_stream_annotation") || inst_frontend(i, "_collectives_group");
}

static bool is_stripped(const struct edit *e, const struct inst *i, enum attr_id id)
{
    static const uint8_t metadata[] = {A_METADATA, A_ORIGIN, A_STATISTICS};
    /* The name of a composite is a frontend attribute: without it, the call is an ordinary one. */
    static const uint8_t hints[] = {A_FRONTEND_ATTRIBUTES, A_IS_COMPOSITE, A_CONTROL_PREDECESSORS,
                                    A_OUTPUT_TO_OPERAND_ALIASING};
    if (e->strip & EDIT_STRIP_METADATA && memchr(metadata, (int)id, sizeof metadata))
        return true;
    if (e->strip & EDIT_STRIP_SHARDING && id == A_SHARDING)
        return true;
    if (!(e->strip & EDIT_STRIP_HINTS))
        return false;
    if (id == A_FRONTEND_ATTRIBUTES && keeps_frontend_attribute(i))
        return false;
    return memchr(hints, (int)id, sizeof hints) ||
           (id == A_BACKEND_CONFIG && i->opcode != OP_CUSTOM_CALL);
}

static struct inst_list copy_control(const struct body *b, struct inst_list from)
{
    struct arena *a = &b->e->to->arena;
    struct inst_list list = {0, ARENA_ARRAY(a, struct inst *, from.count)};
    for (int k = 0; k < from.count; k++) {
        const struct mark *mark = mark_of(b->e, from.at[k]);
        struct inst *made = b->made[from.at[k]->index];
        if (mark->live && mark->becomes == BECOMES_ITSELF && made &&
            made->opcode == from.at[k]->opcode)
            list.at[list.count++] = made;
    }
    return list;
}

static struct aliasing copy_aliasing(struct edit *e, const struct inst *i, struct aliasing from)
{
    int *place = ARENA_ARRAY(&e->arena, int, i->operand_count), next = 0;
    struct alias *kept = ARENA_ARRAY(&e->to->arena, struct alias, from.count);
    struct aliasing to = {0, kept};
    for (int k = 0; k < i->operand_count; k++)
        place[k] = keeps_operand(e, i, k) ? next++ : -1;
    for (int k = 0; k < from.count; k++) {
        if (from.at[k].operand < 0 || from.at[k].operand >= i->operand_count ||
            place[from.at[k].operand] < 0)
            continue;
        kept[to.count] = from.at[k];
        kept[to.count++].operand = place[from.at[k].operand];
    }
    return to;
}

static struct computation_list copy_computations(struct edit *e, struct computation_list from)
{
    struct computation_list list = {from.count,
                                    ARENA_ARRAY(&e->to->arena, struct computation *, from.count)};
    for (int k = 0; k < from.count; k++)
        list.at[k] = part_of(e, from.at[k])->copy;
    return list;
}

/* Copies attributes, remapping references to instructions, computations and operands. */
static void copy_attrs(const struct body *b, struct inst *i, const struct inst *from)
{
    struct edit *e = b->e;
    inst_copy_attrs(e->to, i, from);
    for (int k = 0; k < i->attr_count; k++) {
        struct attr *a = &i->attrs[k];
        enum attr_id id = (enum attr_id)a->id;
        bool drop = is_stripped(e, from, id);
        switch (drop ? KIND_COUNT : (enum attr_kind)attr_table[id].kind) {
        case KIND_COMPUTATION: a->v.computation = part_of(e, a->v.computation)->copy; break;
        case KIND_COMPUTATION_LIST:
            a->v.computations = copy_computations(e, a->v.computations);
            break;
        case KIND_INST_LIST:
            a->v.insts = copy_control(b, a->v.insts);
            drop = a->v.insts.count == 0;
            break;
        case KIND_ALIASING: a->v.aliasing = copy_aliasing(e, from, a->v.aliasing); break;
        default: break;
        }
        if (drop) {
            inst_remove_attr(i, id);
            k--;
        }
    }
}

/* ---- instructions ---- */

static void copy_places(struct inst *i, const struct inst *from)
{
    i->span = from->span;
    i->name_span = from->name_span;
    i->shape_span = from->shape_span;
    i->opcode_span = from->opcode_span;
}

static struct inst *used(const struct body *b, struct inst *operand)
{
    return b->made[edit_target(b->e, operand)->index];
}

static struct inst *copy_itself(const struct body *b, const struct inst *from)
{
    struct inst **operands = ARENA_ARRAY(&b->e->arena, struct inst *, from->operand_count);
    int count = 0;
    for (int k = 0; k < from->operand_count; k++)
        if (keeps_operand(b->e, from, k))
            operands[count++] = used(b, from->operands[k]);
    struct inst *i =
        inst_new(b->to, (enum opcode)from->opcode, from->name, from->shape, count, operands);
    i->sugar = from->sugar;
    i->shape_inferred = from->shape_inferred;
    if (from->opcode == OP_CONSTANT)
        i->literal = from->literal;
    copy_attrs(b, i, from);
    copy_places(i, from);
    return i;
}

static struct inst *copy_parameter(const struct body *b, const struct inst *from, int number)
{
    struct inst *i = inst_new(b->to, OP_PARAMETER, from->name, from->shape, 0, NULL);
    i->number = number;
    if (from->opcode == OP_PARAMETER) {
        copy_attrs(b, i, from);
    } else { /* only these attributes of another instruction apply to a parameter */
        static const uint8_t kept[] = {A_METADATA, A_SHARDING};
        for (size_t k = 0; k < COUNT_OF(kept); k++) {
            const struct attr *a = inst_attr(from, (enum attr_id)kept[k]);
            if (a && !is_stripped(b->e, from, (enum attr_id)kept[k]))
                inst_set_attr(b->e->to, i, (enum attr_id)kept[k], a->v, a->span);
        }
    }
    copy_places(i, from);
    return i;
}

/* Creates a value in place of an instruction. A parameter replaced by a value is kept if callers
 * still pass it. */
static struct inst *make_value(const struct body *b, const struct inst *from,
                               const struct mark *mark)
{
    struct str name = from->name;
    if (from->opcode == OP_PARAMETER && !b->bound && keeps_parameter(b->e, from)) {
        name = arena_printf(&b->e->to->arena, STR_FMT ".value", STR_ARG(name));
        b->e->fresh_names = true;
    }
    struct inst *i = value_make(b->e, b->to, mark->value, from->shape, name);
    const struct attr *metadata = inst_attr(from, A_METADATA);
    if (!i)
        return NULL;
    if (metadata && !is_stripped(b->e, from, A_METADATA))
        inst_set_attr(b->e->to, i, A_METADATA, metadata->v, metadata->span);
    copy_places(i, from);
    return i;
}

static struct inst *inline_callee(const struct body *b, const struct inst *from, int which)
{
    int first;
    const struct computation *c = edit_callee(from, which, &first);
    struct inst **bound = ARENA_ARRAY(&b->e->arena, struct inst *, c->param_count);
    /* NULL if the parameter is unused. */
    for (int k = 0; k < c->param_count; k++)
        bound[k] = used(b, from->operands[first + k]);
    struct body inner = {.e = b->e, .from = c, .to = b->to, .bound = bound};
    return copy_body(&inner) ? inner.made[edit_target(b->e, c->root)->index] : NULL;
}

/* Whether it would be the second fusion of a computation, since the instruction containing it is
 * copied again. A computation may be called by one fusion only. */
static bool is_second_fusion(const struct body *b, const struct inst *i)
{
    int first;
    const struct computation *c = i->opcode == OP_FUSION ? edit_callee(i, 0, &first) : NULL;
    if (!c)
        return false;
    bool second = part_of(b->e, c)->fused;
    part_of(b->e, c)->fused = true;
    return second;
}

static struct inst *make_inst(const struct body *b, struct inst *from)
{
    const struct mark *mark = mark_of(b->e, from);
    switch ((enum becomes)mark->becomes) {
    case BECOMES_VALUE: return make_value(b, from, mark);
    case BECOMES_PARAMETER: return copy_parameter(b, from, part_of(b->e, b->from)->parameters++);
    case BECOMES_CALLEE: return inline_callee(b, from, mark->which);
    default: break;
    }
    if (is_second_fusion(b, from))
        return inline_callee(b, from, 0);
    if (from->opcode != OP_PARAMETER)
        return copy_itself(b, from);
    return b->bound ? b->bound[from->number]
                    : copy_parameter(b, from, part_of(b->e, b->from)->numbers[from->number]);
}

/* ---- computations ---- */

static void push(struct body *b, struct inst *i)
{
    VEC_PUSH(&b->e->arena, b->stack, b->depth, b->capacity) = i;
}

static bool passes_parameter(const struct body *b, const struct inst *i, int k)
{
    int first;
    const struct mark *mark = mark_of(b->e, i);
    if (mark->becomes != BECOMES_CALLEE)
        return keeps_operand(b->e, i, k);
    const struct computation *c = edit_callee(i, mark->which, &first);
    if (k < first || k >= first + c->param_count)
        return false;
    return part_of(b->e, c)->keeps || mark_of(b->e, c->params[k - first])->live;
}

/* Pushes the operands and predecessors of an instruction; the first operand ends up on top. */
static void push_uses(struct body *b, const struct inst *i)
{
    enum becomes what = (enum becomes)mark_of(b->e, i)->becomes;
    if (what == BECOMES_VALUE || what == BECOMES_PARAMETER)
        return;
    const struct attr *control = inst_attr(i, A_CONTROL_PREDECESSORS);
    for (int k = control && what == BECOMES_ITSELF ? control->v.insts.count : 0; k-- > 0;) {
        struct inst *before = control->v.insts.at[k];
        if (mark_of(b->e, before)->live && mark_of(b->e, before)->becomes == BECOMES_ITSELF)
            push(b, before);
    }
    for (int k = i->operand_count; k-- > 0;)
        if (passes_parameter(b, i, k))
            push(b, edit_target(b->e, i->operands[k]));
}

static bool copy_from(struct body *b, struct inst *start)
{
    push(b, start);
    while (b->depth) {
        struct inst *top = b->stack[b->depth - 1];
        uint8_t *state = &b->state[top->index];
        if (*state == DONE) {
            b->depth--;
            continue;
        }
        if (*state == SEEN) { /* all its operands are created or pending: a cycle */
            size_t depth = b->depth;
            push_uses(b, top);
            for (size_t k = depth; k < b->depth; k++)
                if (b->state[b->stack[k]->index] != DONE)
                    return fail(b->e, "instruction would depend on itself");
            b->depth = depth - 1;
            *state = DONE;
            if (!(b->made[top->index] = make_inst(b, top)))
                return false;
            continue;
        }
        *state = SEEN;
        push_uses(b, top);
    }
    return true;
}

/* Copies an unused parameter that callers pass. */
static void copy_unread(struct body *b, struct inst *param)
{
    int number = part_of(b->e, b->from)->numbers[param->number];
    bool itself = mark_of(b->e, param)->becomes == BECOMES_ITSELF;
    if (number < 0 || (itself && b->state[param->index] == DONE))
        return;
    struct inst *i = copy_parameter(b, param, number);
    if (!itself)
        return;
    b->made[param->index] = i;
    b->state[param->index] = DONE;
}

static bool copy_body(struct body *b)
{
    const struct computation *c = b->from;
    b->made = ARENA_ARRAY(&b->e->arena, struct inst *, c->inst_count);
    b->state = ARENA_ARRAY(&b->e->arena, uint8_t, c->inst_count);
    for (int k = 0; k < c->inst_count; k++) {
        struct inst *i = c->insts[k];
        if (i->opcode == OP_PARAMETER && !b->bound)
            copy_unread(b, i);
        const struct mark *mark = mark_of(b->e, i);
        if (mark->live && mark->becomes != BECOMES_OTHER && !copy_from(b, i))
            return false;
    }
    return true;
}

static struct inst *result_of(const struct body *b)
{
    struct edit *e = b->e;
    if (b->from != e->entry || !e->new_root)
        return used(b, b->from->root);
    if (e->root_count == 1)
        return used(b, e->roots[0]);
    struct inst **elements = ARENA_ARRAY(&e->arena, struct inst *, e->root_count);
    const struct shape **shapes = ARENA_ARRAY(&e->arena, const struct shape *, e->root_count);
    for (int k = 0; k < e->root_count; k++) {
        elements[k] = used(b, e->roots[k]);
        shapes[k] = elements[k]->shape;
    }
    e->fresh_names = true;
    return inst_new(b->to, OP_TUPLE, STR("result"),
                    shape_tuple(&e->to->arena, e->root_count, shapes), e->root_count, elements);
}

/* Fills in the copy of a computation, which has been created empty so that others can call it. */
static bool fill(struct edit *e, const struct computation *c)
{
    struct computation *to = part_of(e, c)->copy;
    struct body b = {.e = e, .from = c, .to = to};
    to->execution_thread = c->execution_thread;
    to->span = c->span;
    to->name_span = c->name_span;
    if (!copy_body(&b))
        return false;
    to->root = result_of(&b);
    return computation_finish(to) || fail(e, "computation would be empty");
}

bool edit_copy(struct edit *e)
{
    struct module *m = e->from;
    for (int k = 0; k < m->computation_count; k++)
        number_parameters(e, m->computations[k]);
    for (int k = 0; k < m->computation_count; k++)
        if (e->parts[k].called)
            e->parts[k].copy = computation_new(e->to, m->computations[k]->name);
    for (int k = 0; k < m->computation_count; k++)
        if (e->parts[k].called && !fill(e, m->computations[k]))
            return false;
    e->to->entry = part_of(e, e->entry)->copy;
    return true;
}
