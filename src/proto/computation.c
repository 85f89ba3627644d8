/*
 * computation.c: ids and names of instructions and computations, and their order in the text.
 *
 * The text has the order of XLA after reading: that of the ids. If operands would then follow
 * their users, instructions are in postorder, in which they are printed anyway, and computations
 * as in the file. A schedule takes precedence.
 */
#include "proto/proto_priv.h"

#include <stdlib.h>

/* ---- names ---- */

/* Sets *out to a legal form of the name, which must be unique in `used`. */
static bool read_name(struct reader *r, const char *name, struct map *used, struct str *out)
{
    if (!*name)
        return proto_error(r, "name", -1, "name is missing");
    *out = name_sanitize(r->a, str_of(name));
    if (map_get(used, *out))
        return proto_error(r, "name", -1, "duplicate name '" STR_FMT "'", STR_ARG(*out));
    map_put(used, *out, r);
    return true;
}

/* ---- ids ---- */

static uint32_t local(int64_t id) { return (uint32_t)id; }

static int entry_cmp(const void *pa, const void *pb)
{
    const struct inst_entry *a = pa, *b = pb;
    return (a->id > b->id) - (a->id < b->id);
}

size_t proto_find_inst(const struct computation_info *c, int64_t id)
{
    size_t low = 0;
    BISECT(low, c->proto->n_instructions, middle, c->by_id[middle].id < local(id));
    const bool found = low < c->proto->n_instructions && c->by_id[low].id == local(id);
    return found ? c->by_id[low].index : SIZE_MAX;
}

struct computation_info *proto_find_computation(const struct reader *r, int64_t id)
{
    return map_get(&r->computations_by_id, (struct str){(const char *)&id, sizeof id});
}

static bool read_ids(struct reader *r, struct computation_info *c)
{
    const size_t n = c->proto->n_instructions;
    for (size_t k = 0; k < n; k++) {
        const int64_t id = c->proto->instructions[k]->id;
        const size_t node = proto_enter(r, "instructions", (int64_t)k);
        if (id < 0)
            return proto_error(r, "id", -1, "negative id %" PRId64, id);
        proto_leave(r, node);
        c->by_id[k] = (struct inst_entry){local(id), k};
    }
    qsort(c->by_id, n, sizeof *c->by_id, entry_cmp);
    for (size_t k = 1; k < n; k++)
        if (c->by_id[k].id == c->by_id[k - 1].id) {
            proto_enter(
                r, "instructions",
                (int64_t)max_i64((int64_t)c->by_id[k].index, (int64_t)c->by_id[k - 1].index));
            return proto_error(r, "id", -1, "duplicate id %" PRIu32, c->by_id[k].id);
        }
    return true;
}

/* Operands and control predecessors must precede their users in the file, which excludes
 * cycles. */
static bool check_before(struct reader *r, const struct computation_info *c, size_t user,
                         const char *field, size_t count, const int64_t *ids)
{
    for (size_t k = 0; k < count; k++) {
        const size_t index = proto_find_inst(c, ids[k]);
        if (index == SIZE_MAX)
            return proto_error(r, field, (int64_t)k, "no instruction with id %" PRId64, ids[k]);
        if (index >= user)
            return proto_error(r, field, (int64_t)k,
                               "instruction '" STR_FMT "' must precede its user",
                               STR_ARG(c->names[index]));
    }
    return true;
}

static bool check_order(struct reader *r, const struct computation_info *c)
{
    for (size_t k = 0; k < c->proto->n_instructions; k++) {
        const inst_proto *i = c->proto->instructions[k];
        const size_t node = proto_enter(r, "instructions", (int64_t)k);
        if (!check_before(r, c, k, "operand_ids", i->n_operand_ids, i->operand_ids) ||
            !check_before(r, c, k, "control_predecessor_ids", i->n_control_predecessor_ids,
                          i->control_predecessor_ids))
            return false;
        proto_leave(r, node);
    }
    return true;
}

/* ---- order of instructions ---- */

struct visit {
    size_t *stack, depth, capacity;
    uint8_t *state;
    size_t count;
};
enum { SEEN = 1, DONE = 2 };

static void push(struct reader *r, struct visit *v, const struct computation_info *c, int64_t id)
{
    const size_t index = proto_find_inst(c, id);
    if (!(v->state[index] & DONE))
        VEC_PUSH(&r->scratch, v->stack, v->depth, v->capacity) = index;
}

/* The same traversal as that of the printer, computation_order. */
static void visit_from(struct reader *r, struct visit *v, const struct computation_info *c,
                       int64_t id)
{
    push(r, v, c, id);
    while (v->depth) {
        const size_t top = v->stack[v->depth - 1];
        const inst_proto *i = c->proto->instructions[top];
        if (!(v->state[top] & SEEN)) {
            v->state[top] |= SEEN;
            for (size_t k = i->n_operand_ids; k-- > 0;)
                push(r, v, c, i->operand_ids[k]);
            for (size_t k = 0; k < i->n_control_predecessor_ids; k++)
                push(r, v, c, i->control_predecessor_ids[k]);
            continue;
        }
        v->depth--;
        if (!(v->state[top] & DONE))
            c->order[v->count++] = top;
        v->state[top] |= DONE;
    }
}

static void order_by_visit(struct reader *r, const struct computation_info *c)
{
    const size_t n = c->proto->n_instructions;
    struct visit v = {.state = ARENA_ARRAY(&r->scratch, uint8_t, n)};
    bool *used = ARENA_ARRAY(&r->scratch, bool, n);
    for (size_t k = 0; k < n; k++)
        for (size_t o = 0; o < c->proto->instructions[k]->n_operand_ids; o++)
            used[proto_find_inst(c, c->proto->instructions[k]->operand_ids[o])] = true;
    for (size_t k = 0; k < n; k++)
        if (!used[c->by_id[k].index])
            visit_from(r, &v, c, c->by_id[k].id);
}

static bool ids_precede(const int64_t *ids, size_t count, uint32_t user)
{
    for (size_t k = 0; k < count; k++)
        if (local(ids[k]) >= user)
            return false;
    return true;
}

/* Whether the order of ids is one in which operands precede their users. */
static bool ids_are_ordered(const struct computation_info *c)
{
    for (size_t k = 0; k < c->proto->n_instructions; k++) {
        const inst_proto *i = c->proto->instructions[k];
        if (!ids_precede(i->operand_ids, i->n_operand_ids, local(i->id)) ||
            !ids_precede(i->control_predecessor_ids, i->n_control_predecessor_ids, local(i->id)))
            return false;
    }
    return true;
}

typedef const Xla__HloScheduleProto__InstructionSequence sequence;

static void register_schedule(struct reader *r)
{
    const Xla__HloScheduleProto *s = r->m->schedule;
    map_init(&r->sequences, r->a);
    for (size_t k = 0; s && k < s->n_sequences; k++) /* the last entry of a key counts */
        if (s->sequences[k]->value)
            map_put(&r->sequences,
                    (struct str){(const char *)&s->sequences[k]->key, sizeof s->sequences[k]->key},
                    s->sequences[k]->value);
}

static sequence *sequence_of(const struct reader *r, int64_t id)
{
    return map_get(&r->sequences, (struct str){(const char *)&id, sizeof id});
}

/* The order of the schedule, in which each instruction must be once and after its operands. */
static bool order_by_schedule(struct reader *r, const struct computation_info *c, sequence *s)
{
    const size_t n = c->proto->n_instructions;
    bool *placed = ARENA_ARRAY(&r->scratch, bool, n);
    if (s->n_instruction_ids != n)
        return proto_error(r, "schedule", -1,
                           "computation '" STR_FMT "' has %zu instructions, got %zu",
                           STR_ARG(c->name), n, s->n_instruction_ids);
    for (size_t k = 0; k < n; k++) {
        const size_t index = proto_find_inst(c, s->instruction_ids[k]);
        if (index == SIZE_MAX || placed[index])
            return proto_error(r, "schedule", -1,
                               "%s id %" PRId64 " in the sequence of '" STR_FMT "'",
                               index == SIZE_MAX ? "unknown" : "repeated", s->instruction_ids[k],
                               STR_ARG(c->name));
        const inst_proto *i = c->proto->instructions[index];
        for (size_t o = 0; o < i->n_operand_ids; o++)
            if (!placed[proto_find_inst(c, i->operand_ids[o])])
                return proto_error(r, "schedule", -1,
                                   "'" STR_FMT "' is scheduled before its operand",
                                   STR_ARG(c->names[index]));
        placed[index] = true;
        c->order[k] = index;
    }
    return true;
}

static bool order_instructions(struct reader *r, const struct computation_info *c)
{
    sequence *s = sequence_of(r, c->proto->id);
    if (s)
        return order_by_schedule(r, c, s);
    if (!ids_are_ordered(c)) {
        order_by_visit(r, c);
        return true;
    }
    for (size_t k = 0; k < c->proto->n_instructions; k++)
        c->order[k] = c->by_id[k].index;
    return true;
}

/* ---- computations ---- */

static bool read_computation(struct reader *r, struct computation_info *c, struct map *used)
{
    const size_t n = c->proto->n_instructions;
    c->names = ARENA_ARRAY(r->a, struct str, n);
    c->by_id = ARENA_ARRAY(r->a, struct inst_entry, n);
    c->order = ARENA_ARRAY(r->a, size_t, n);
    if (n == 0)
        return proto_error(r, "instructions", -1, "computation without instructions");
    for (size_t k = 0; k < n; k++) {
        const size_t node = proto_enter(r, "instructions", (int64_t)k);
        if (!read_name(r, c->proto->instructions[k]->name, used, &c->names[k]))
            return false;
        proto_leave(r, node);
    }
    if (!read_ids(r, c) || !check_order(r, c))
        return false;
    if (proto_find_inst(c, c->proto->root_id) == SIZE_MAX)
        return proto_error(r, "root_id", -1, "no instruction with id %" PRId64, c->proto->root_id);
    return order_instructions(r, c);
}

static int computation_cmp(const void *pa, const void *pb)
{
    const struct computation_info *a = pa, *b = pb;
    return (a->proto->id > b->proto->id) - (a->proto->id < b->proto->id);
}

static int file_cmp(const void *pa, const void *pb)
{
    const struct computation_info *a = pa, *b = pb;
    return (a->index > b->index) - (a->index < b->index);
}

/* Registers ids; false for a duplicate. */
static bool register_ids(struct reader *r)
{
    for (size_t k = 0; k < r->m->n_computations; k++) {
        struct computation_info *c = &r->computations[k];
        const struct str key = {(const char *)&c->proto->id, sizeof c->proto->id};
        if (map_put(&r->computations_by_id, key, c)) {
            proto_enter(r, "computations", (int64_t)c->index);
            return proto_error(r, "id", -1, "duplicate id %" PRId64, c->proto->id);
        }
    }
    return true;
}

/* Callees must precede their callers in the file, which excludes recursion. *ordered: whether the
 * order of ids is another such order. */
static bool check_callees(struct reader *r, const struct computation_info *c, bool *ordered)
{
    for (size_t k = 0; k < c->proto->n_instructions; k++) {
        const inst_proto *i = c->proto->instructions[k];
        const size_t node = proto_enter(r, "instructions", (int64_t)k);
        for (size_t n = 0; n < i->n_called_computation_ids; n++) {
            const struct computation_info *callee =
                proto_find_computation(r, i->called_computation_ids[n]);
            if (!callee)
                return proto_error(r, "called_computation_ids", (int64_t)n,
                                   "no computation with id %" PRId64, i->called_computation_ids[n]);
            if (callee->index >= c->index)
                return proto_error(r, "called_computation_ids", (int64_t)n,
                                   "computation '" STR_FMT "' must precede its caller",
                                   STR_ARG(callee->name));
            *ordered &= callee->proto->id < c->proto->id;
        }
        proto_leave(r, node);
    }
    return true;
}

bool proto_read_computations(struct reader *r)
{
    const size_t n = r->m->n_computations;
    struct map names, inst_names;
    bool ordered = true;
    register_schedule(r);
    map_init(&names, r->a);
    map_init(&inst_names, r->a);
    map_init(&r->computations_by_id, r->a);
    r->computations = ARENA_ARRAY(r->a, struct computation_info, n);
    for (size_t k = 0; k < n; k++) {
        struct computation_info *c = &r->computations[k];
        *c = (struct computation_info){.proto = r->m->computations[k], .index = k};
        const size_t node = proto_enter(r, "computations", (int64_t)k);
        if (!read_name(r, c->proto->name, &names, &c->name) || !read_computation(r, c, &inst_names))
            return false;
        proto_leave(r, node);
    }
    if (!register_ids(r))
        return false;
    for (size_t k = 0; k < n; k++) {
        const size_t node = proto_enter(r, "computations", (int64_t)k);
        if (!check_callees(r, &r->computations[k], &ordered))
            return false;
        proto_leave(r, node);
    }
    qsort(r->computations, n, sizeof *r->computations, ordered ? computation_cmp : file_cmp);
    map_init(&r->computations_by_id, r->a); /* the entries have moved */
    return register_ids(r);
}

/* Notes the order of ids, which the order of computations in canonical text depends on. */
static void note_order(struct reader *r, const struct computation_info *c)
{
    struct proto_module *p = r->p;
    const size_t n = c->proto->n_instructions;
    int *visit = ARENA_ARRAY(&p->arena, int, n), *place = ARENA_ARRAY(&p->arena, int, n);
    bool same = true;
    for (size_t k = 0; k < n; k++)
        place[c->order[k]] = (int)k;
    for (size_t k = 0; k < n; k++) {
        visit[k] = place[c->by_id[k].index];
        same &= visit[k] == (int)k;
    }
    if (!same && !r->inline_values)
        VEC_PUSH(&p->arena, p->orders, p->order_count, p->order_capacity) =
            (struct proto_order){(uint32_t)r->out->size, (int)n, visit};
}

bool proto_put_computation(struct reader *r, const struct computation_info *c)
{
    const size_t node = proto_enter(r, "computations", (int64_t)c->index);
    const size_t root = proto_find_inst(c, c->proto->root_id);
    r->c = c;
    buf_puts(r->out, c->proto->id == r->m->entry_computation_id ? "ENTRY " : "");
    note_order(r, c);
    proto_put_name(r->out, c->name);
    buf_puts(r->out, " {\n");
    for (size_t k = 0; k < c->proto->n_instructions; k++) {
        const struct arena_mark mark = arena_mark(&r->scratch);
        buf_puts(r->out, c->order[k] == root ? "  ROOT " : "  ");
        if (!proto_put_inst(r, c, c->order[k]))
            return false;
        arena_release(&r->scratch, mark);
    }
    buf_putc(r->out, '}');
    if (*c->proto->execution_thread && strcmp(c->proto->execution_thread, "main") != 0) {
        buf_puts(r->out, ", execution_thread=");
        text_print_quoted(r->out, str_of(c->proto->execution_thread));
    }
    buf_puts(r->out, "\n\n");
    proto_leave(r, node);
    return true;
}
