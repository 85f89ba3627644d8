/*
 * buffers.c: checks that buffers `b(...)` occur only where they are allowed, and that each buffer
 * value is written at most once.
 */
#include "verify/verify_priv.h"

/* The leaf number of an index path; -1 for an invalid path. */
static int64_t leaf_of_index(const struct shape *s, struct ints index)
{
    int64_t at = 0;
    for (int64_t d = 0; d < index.count; d++) {
        if (s->dtype != DT_TUPLE || index.at[d] < 0 || index.at[d] >= s->count)
            return -1;
        at += shape_first_leaf(s, index.at[d]);
        s = s->elements[index.at[d]];
    }
    return s->dtype == DT_TUPLE ? -1 : at;
}

/* ---- where buffers are allowed ---- */

static bool any_buffer_operand(const struct inst *i, int from)
{
    for (int k = from; k < i->operand_count; k++)
        if (shape_has_buffer(i->operands[k]->shape))
            return true;
    return false;
}

static bool may_hold_buffers(const struct verify *v, const struct inst *i)
{
    switch ((enum opcode)i->opcode) {
    case OP_CUSTOM_CALL:
    case OP_WHILE:
    case OP_TUPLE:
    case OP_GET_TUPLE_ELEMENT:
    case OP_ASYNC_START:
    case OP_ASYNC_UPDATE:
    case OP_ASYNC_DONE: return true;
    case OP_PARAMETER: return i->parent != v->m->entry;
    case OP_DYNAMIC_UPDATE_SLICE: return i->shape->dtype == DT_BUFFER && !any_buffer_operand(i, 1);
    case OP_CALL: return inst_frontend(i, "_xla_stream_annotation");
    default: return false;
    }
}

/* ---- custom calls ---- */

/* Marks the leaves of `s` that are buffers. */
static void mark_buffers(const struct shape *s, bool *leaf)
{
    *leaf = s->dtype == DT_BUFFER;
    for (int k = 0; s->dtype == DT_TUPLE && k < s->count; k++)
        mark_buffers(s->elements[k], leaf + shape_first_leaf(s, k));
}

/* Counts how often the aliases refer to each leaf of `s`, as part of this operand or, with operand
 * -1, of the output. */
static void count_aliases(const struct inst *i, const struct shape *s, int operand, int *counts)
{
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    for (int k = 0; a && k < a->v.aliasing.count; k++) {
        const struct alias *e = &a->v.aliasing.at[k];
        const int64_t leaf = operand >= 0 && e->operand != operand
                                 ? -1
                                 : leaf_of_index(s, operand >= 0 ? e->index : e->output);
        if (leaf >= 0)
            counts[leaf]++;
    }
}

static bool aliased_once(struct verify *v, const struct inst *i, const struct shape *s, int operand)
{
    if (!shape_has_buffer(s))
        return true;
    const int64_t n = shape_leaf_count(s);
    bool *buffer = ARENA_ARRAY(v->arena, bool, n + 1);
    int *counts = ARENA_ARRAY(v->arena, int, n);
    mark_buffers(s, buffer);
    count_aliases(i, s, operand, counts);
    for (int64_t leaf = 0; leaf < n; leaf++)
        if (buffer[leaf] && counts[leaf] != 1) {
            struct str what =
                operand < 0 ? str_of("the result") : arena_printf(v->arena, "operand %d", operand);
            return DIAG_ERROR(v->ds, i->opcode_span, BUFFER_ALIAS, STR_ARG(what));
        }
    return true;
}

/* Pin converts an array to a buffer, Unpin a buffer to an array; both require the alias. */
static bool check_pin(struct verify *v, const struct inst *i, bool pin)
{
    const char *target = pin ? "Pin" : "Unpin";
    const struct attr *a = inst_attr(i, A_OUTPUT_TO_OPERAND_ALIASING);
    const struct shape *from = i->operand_count == 1 ? i->operands[0]->shape : NULL;
    const struct shape *array = pin ? from : i->shape, *buffer = pin ? i->shape : from;
    if (!from || !array || !shape_is_array(array) || buffer->dtype != DT_BUFFER ||
        !shape_equal(array, buffer->elements[0], IGNORE_LAYOUT) || !a || a->v.aliasing.count != 1)
        return DIAG_ERROR(v->ds, i->opcode_span, BUFFER_PIN, target, pin ? "an array" : "a buffer",
                          pin ? "a buffer" : "an array");
    return true;
}

static bool check_custom_call(struct verify *v, const struct inst *i)
{
    struct str target = inst_str(i, A_CUSTOM_CALL_TARGET);
    if (str_is(target, "Pin") || str_is(target, "Unpin"))
        return check_pin(v, i, str_is(target, "Pin"));
    if (str_is(target, "CreateBuffer")) {
        if (i->operand_count || i->shape->dtype != DT_BUFFER)
            return DIAG_ERROR(v->ds, i->opcode_span, BUFFER_CREATE);
        return true;
    }
    for (int k = 0; k < i->operand_count; k++)
        if (!aliased_once(v, i, i->operands[k]->shape, k))
            return false;
    return aliased_once(v, i, i->shape, -1);
}

/* ---- one writer ---- */

static bool is_writer(const struct inst *i)
{
    return op_is(i->opcode, OP_RUNS) || i->opcode == OP_CUSTOM_CALL ||
           i->opcode == OP_DYNAMIC_UPDATE_SLICE || i->opcode == OP_ASYNC_START ||
           i->opcode == OP_ASYNC_UPDATE;
}

static bool is_while_body(const struct verify *v, const struct computation *c)
{
    for (struct inst *i = NULL; (i = module_next(v->m, i)) != NULL;)
        if (i->opcode == OP_WHILE && inst_computation(i, A_BODY) == c)
            return true;
    return false;
}

enum { DEPTH_LIMIT = 64 }; /* nesting depth of tuples */

struct writers {
    bool in_body; /* in the body of a while: the root tuple counts as a writer */
    const struct inst *last;
    int count;
};

static void add_writer(struct writers *w, const struct inst *i)
{
    w->count += w->last != i;
    w->last = i;
}

/* Collects the instructions that write the buffer at index[0 .. depth) of `i`, also through
 * tuples. */
static void find_writers(const struct inst *i, const int64_t *index, int depth, struct writers *w)
{
    const struct computation *c = i->parent;
    int64_t deeper[DEPTH_LIMIT + 1];
    for (int k = i->index + 1; k < c->inst_count; k++) {
        const struct inst *user = c->insts[k];
        for (int o = 0; o < user->operand_count; o++) {
            if (user->operands[o] != i)
                continue;
            if (is_writer(user) || (user->opcode == OP_TUPLE && user == c->root && w->in_body))
                add_writer(w, user);
            if (user->opcode == OP_GET_TUPLE_ELEMENT && depth > 0 &&
                inst_int(user, A_INDEX, -1) == index[0])
                find_writers(user, index + 1, depth - 1, w);
            if (user->opcode == OP_TUPLE && depth < DEPTH_LIMIT) {
                deeper[0] = o;
                memcpy(deeper + 1, index, (size_t)depth * sizeof *index);
                find_writers(user, deeper, depth + 1, w);
            }
        }
    }
}

/* Whether every buffer in `s`, the part of the shape of `i` at index[0 .. depth), is written at
 * most once. */
static bool written_once(struct verify *v, const struct inst *i, const struct shape *s,
                         int64_t *index, int depth)
{
    if (s->dtype == DT_BUFFER) {
        struct writers w = {.in_body = is_while_body(v, i->parent)};
        find_writers(i, index, depth, &w);
        return w.count <= 1 ||
               DIAG_ERROR(v->ds, i->name_span, BUFFER_WRITERS, STR_ARG(i->name), w.count);
    }
    for (int k = 0; s->dtype == DT_TUPLE && k < s->count && depth < DEPTH_LIMIT; k++) {
        index[depth] = k;
        if (!written_once(v, i, s->elements[k], index, depth + 1))
            return false;
    }
    return true;
}

static bool creates_buffers(const struct inst *i)
{
    return i->opcode != OP_TUPLE && i->opcode != OP_GET_TUPLE_ELEMENT && shape_has_buffer(i->shape);
}

static bool check_writers(struct verify *v, const struct computation *c)
{
    int64_t index[DEPTH_LIMIT + 1];
    bool ok = true;
    for (int k = 0; k < c->inst_count; k++)
        if (creates_buffers(c->insts[k]))
            ok &= written_once(v, c->insts[k], c->insts[k]->shape, index, 0);
    return ok;
}

/* Custom calls that create or consume buffers are checked even if no shape of the module has
 * any. */
static bool uses_buffers(const struct inst *i)
{
    struct str target = inst_str(i, A_CUSTOM_CALL_TARGET);
    return shape_has_buffer(i->shape) || any_buffer_operand(i, 0) || str_is(target, "Pin") ||
           str_is(target, "Unpin") || str_is(target, "CreateBuffer");
}

bool verify_buffers(struct verify *v)
{
    bool ok = true;
    for (int k = 0; k < v->m->computation_count; k++) {
        const struct computation *c = v->m->computations[k];
        bool seen = false;
        for (int j = 0; j < c->inst_count; j++) {
            const struct inst *i = c->insts[j];
            if (!uses_buffers(i))
                continue;
            seen = true;
            if (!may_hold_buffers(v, i))
                ok = DIAG_ERROR(v->ds, i->opcode_span, BUFFER_PLACE, op_spelling(i->opcode));
            else if (i->opcode == OP_CUSTOM_CALL)
                ok &= check_custom_call(v, i);
        }
        if (seen && ok)
            ok = check_writers(v, c);
    }
    return ok;
}
