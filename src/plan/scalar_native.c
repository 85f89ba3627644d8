/*
 * scalar_native.c: scalar operations as machine code. Registers of one element become variables of
 * a machine program (jit.h); what has no lane instructions is called, on registers in memory.
 */
#include "plan/scalar_native.h"

/* ---- cells ---- */

struct cell *scalar_cell_at(const struct translation *t, const void *at)
{
    const int k = scalar_register_at(&t->registers, at);
    return k < 0 ? NULL : &t->cells[k];
}

static struct cell *cell_at(const struct translation *t, const void *at)
{
    struct cell *c = scalar_cell_at(t, at);
    return c && c->single ? c : NULL;
}

bool scalar_is_in_memory(const struct translation *t, const void *at)
{
    const struct cell *c = scalar_cell_at(t, at);
    for (int k = 0; c && k < c->count; k++)
        if (t->cells[c->first + k].value != JIT_NONE)
            return false;
    return c;
}

/* ---- registers of few elements ---- */

static const struct jit_target program_target = {.general = true};

bool scalar_has_lanes(struct planner *pl, const struct scalar_op *op)
{
    return plan_lanes(&pl->scratch, &op->meaning, NULL, program_target) > 0;
}

/* Whether the operation accesses arrays of few elements one by one. */
static bool takes_elements(struct translation *t, const struct scalar_op *op)
{
    switch ((enum scalar_kind)op->kind) {
    case SCALAR_APPLY: return op->count <= SCALAR_FEW && scalar_has_lanes(t->pl, op);
    case SCALAR_COPY:
        return !op->copy->x.origin.large_array &&
               view_elements(&op->copy->out) <= SCALAR_SINGLE_COPIES;
    case SCALAR_REDUCE: return scalar_may_translate_reduce(t, op->reduce);
    case SCALAR_DOT: return scalar_may_translate_dot(op->dot);
    case SCALAR_MOVE:
    case SCALAR_JUMP:
    case SCALAR_JUMP_UNLESS:
    case SCALAR_SWITCH: return true;
    default: return false;
    }
}

struct splitting {
    struct translation *t;
    bool *whole;  /* by register: it is one cell */
    bool touched; /* another one is accessed */
    bool mark;
};

static void note_register(void *context, const void *at, void *pointer, bool write)
{
    struct splitting *s = context;
    const int k = scalar_register_at(&s->t->registers, at);
    if (k < 0 || s->whole[k])
        return;
    s->touched = true;
    s->whole[k] = s->mark;
}

/* Registers that are one cell: of one element or many, or accessed in another way. */
static bool *find_whole(struct translation *t)
{
    struct splitting s = {t, ARENA_ARRAY(&t->pl->scratch, bool, t->registers.count), false, false};
    for (int k = 0; k < t->registers.count; k++)
        s.whole[k] = t->registers.at[k]->n == 1 || t->registers.at[k]->n > SCALAR_FEW;
    for (int k = 0; k < t->code->op_count; k++) {
        s.touched = s.mark = false;
        scalar_visit(&t->code->ops[k], note_register, &s);
        s.mark = s.touched && !takes_elements(t, &t->code->ops[k]);
        if (s.mark)
            scalar_visit(&t->code->ops[k], note_register, &s);
    }
    return s.whole;
}

static void list_cells(struct translation *t, const struct maker *m)
{
    struct arena *a = &m->pl->scratch;
    t->registers = scalar_own_registers(m);
    const struct own_registers all = t->registers;
    const bool *whole = find_whole(t);
    const size_t most = (size_t)all.count * SCALAR_FEW;
    t->registers = (struct own_registers){0, ARENA_ARRAY(a, const struct reg *, most)};
    t->cells = ARENA_ARRAY(a, struct cell, most);
    for (int k = 0; k < all.count; k++) {
        const struct reg *r = all.at[k];
        const int first = t->registers.count, count = whole[k] ? 1 : (int)r->n;
        const size_t size = dtype_bytes(r->type);
        for (int e = 0; e < count; e++) {
            struct reg *element = ARENA_DUP(a, r, 1);
            element->at += (size_t)e * size;
            element->n = whole[k] ? r->n : 1;
            t->cells[first + e] = (struct cell){.at = element->at,
                                                .size = size,
                                                .type = r->type,
                                                .first = first,
                                                .count = count,
                                                .single = element->n == 1,
                                                .value = JIT_NONE};
            t->registers.at[t->registers.count++] = element;
        }
    }
}

/* ---- accesses ---- */

struct access {
    const struct translation *t;
    const struct scalar_op *op;
};

static void note_write(const struct translation *t, const char *at)
{
    struct cell *c = scalar_cell_at(t, at);
    if (c)
        c->written = true;
}

/* Exactly what the operation writes from this address on; the rest keeps its value. */
static void note_writes(const struct access *a, const struct cell *c, const char *at)
{
    int64_t index[VIEW_MAX_RANK] = {0};
    const struct view *out = a->op->kind == SCALAR_COPY ? &a->op->copy->out : NULL;
    const int64_t n = out                           ? view_elements(out)
                      : a->op->kind == SCALAR_APPLY ? a->op->count
                      : a->op->kind == SCALAR_MOVE  ? a->op->count / (int64_t)c->size
                                                    : c->count;
    if (c->count == 1)
        note_write(a->t, at);
    for (int64_t k = 0; k < n && c->count > 1; k++) {
        note_write(a->t, out ? view_at(out, index) : at + (size_t)k * c->size);
        if (out)
            index_next(out->rank, out->dims, index);
    }
}

static void note_access(void *context, const void *at, void *pointer, bool write)
{
    const struct access *a = context;
    struct cell *c = scalar_cell_at(a->t, at), *all = c ? &a->t->cells[c->first] : NULL;
    if (!c)
        return;
    c->partial |= at != c->at;
    for (int k = 0; k < c->count && !write; k++) {
        all[k].reads++;
        all[k].read_first |= !all[k].written;
    }
    if (write)
        note_writes(a, c, at);
}

static void note_slots(const struct translation *t, const struct scalar_slot *slots, int count,
                       bool args)
{
    for (int k = 0; k < count; k++) {
        const struct cell *c = slots[k].at ? scalar_cell_at(t, slots[k].at) : NULL;
        for (int e = 0; c && e < c->count; e++) {
            struct cell *element = &t->cells[c->first + e];
            *(args ? &element->is_arg : &element->is_result) = true;
        }
    }
}

static void survey(struct translation *t)
{
    for (int k = 0; k < t->code->op_count; k++)
        scalar_visit(&t->code->ops[k], note_access, &(struct access){t, &t->code->ops[k]});
    note_slots(t, t->code->args, t->code->arg_count + SCALAR_IDS, true);
    note_slots(t, t->code->results, t->code->result_count, false);
}

/* Makes variables, and constants of what is never written. */
static void make_variables(struct translation *t)
{
    for (int k = 0; k < t->registers.count; k++) {
        struct cell *c = &t->cells[k];
        if (!c->single || c->partial ||
            (!c->written && !c->read_first && !c->is_arg && !c->is_result))
            continue;
        c->value = !c->written && !c->is_arg ? jit_constant(t->b, c->type, c->at)
                                             : jit_variable(t->b, c->type, (char *)(uintptr_t)c->at,
                                                            c->is_arg || c->read_first);
    }
}

/* ---- values ---- */

static bool is_variable(const struct cell *c)
{
    return c && c->value != JIT_NONE && (c->written || c->is_arg);
}

/* The element at an address, as a value of this type. */
int scalar_read_element(struct translation *t, const void *at, enum dtype type)
{
    const struct cell *c = cell_at(t, at);
    if (!c || c->value == JIT_NONE)
        return jit_element(t->b, (char *)(uintptr_t)at, type);
    return c->type == type ? c->value : jit_bitcast(t->b, type, c->value);
}

bool scalar_write_element(struct translation *t, void *at, enum dtype type, int value)
{
    const struct cell *c = cell_at(t, at);
    if (is_variable(c)) {
        if (c->type != type)
            value = jit_bitcast(t->b, c->type, value);
        if (value != JIT_NONE)
            jit_set(t->b, c->value, value);
        return value != JIT_NONE;
    }
    jit_put_element(t->b, at, value);
    return true;
}

static void note_touched(void *context, const void *at, void *pointer, bool write)
{
    struct translation *t = context;
    const struct cell *c = cell_at(t, at);
    for (int k = 0; c && k < c->count; k++)
        if (is_variable(&t->cells[c->first + k]))
            t->touched[t->touched_count++] = t->cells[c->first + k].value;
}

static void find_touched(struct translation *t, struct scalar_op *op)
{
    t->touched_count = 0;
    scalar_visit(op, note_touched, t);
}

/* ---- operations ---- */

static bool translate_element(struct translation *t, const struct scalar_op *op, int element)
{
    const struct tile_meaning *m = &op->meaning;
    int args[KERN_MAX_ARGS], count = 0;
    for (; count < KERN_MAX_ARGS && op->args[count]; count++) {
        enum dtype type = plan_operand_type(m, count);
        args[count] = scalar_read_element(
            t, (const char *)op->args[count] + (size_t)element * dtype_bytes(type), type);
        if (args[count] == JIT_NONE)
            return false;
    }
    int v = plan_expand(t->b, m, args, count);
    return v != JIT_NONE &&
           scalar_write_element(t, (char *)op->out + (size_t)element * dtype_bytes(m->to), m->to,
                                v);
}

static bool translate_apply(struct translation *t, struct scalar_op *op)
{
    if (op->count <= SCALAR_FEW && scalar_has_lanes(t->pl, op)) {
        for (int k = 0; k < op->count; k++)
            if (!translate_element(t, op, k))
                return false;
        return true;
    }
    find_touched(t, op);
    jit_kernel(t->b, op->fn, op->out, op->args, op->count, t->touched, t->touched_count);
    return true;
}

void scalar_copy_bytes(struct translation *t, void *to, const void *from, int64_t n)
{
    const struct jit_place at = {.base = (char *)(uintptr_t)from};
    jit_copy_from(t->b, to, &at, n);
}

/* The array of a slice, if its piece is contiguous: a single element, or rows of the innermost
 * dimensions as a whole. */
static bool find_place(struct translation *t, const struct scalar_slice *s, struct jit_place *at)
{
    struct jit_index *indices = ARENA_ARRAY(&t->pl->scratch, struct jit_index, VIEW_MAX_RANK);
    const struct view *whole = &s->whole.view;
    *at = (struct jit_place){whole->data, s->whole.origin.large_array, 0, indices};
    bool inner = true; /* all dimensions so far are taken as a whole */
    for (int d = whole->rank - 1; d >= 0; d--) {
        if (!inner && s->piece.dims[d] != 1)
            return false;
        inner &= s->piece.dims[d] == whole->dims[d];
        if (s->piece.dims[d] == whole->dims[d])
            continue; /* the start is fixed */
        const int v = s->index[d].type == DT_U64
                          ? JIT_NONE
                          : scalar_read_element(t, s->index[d].at, s->index[d].type);
        if (v == JIT_NONE)
            return false;
        indices[at->count++] = (struct jit_index){
            v, s->index[d].inside ? JIT_INSIDE : whole->dims[d] - s->piece.dims[d],
            whole->strides[d]};
    }
    return true;
}

/* Jumps to the label where an update is dropped; false: starts of this type are not supported. */
static bool skip_outside(struct translation *t, const struct scalar_slice *s, int label)
{
    const int64_t zero = 0;
    for (int d = 0; d < s->piece.rank; d++) {
        const int64_t greatest = s->whole.view.dims[d] - s->piece.dims[d];
        if (!s->drops[d])
            continue;
        const int start = s->index[d].type == DT_U64
                              ? JIT_NONE
                              : scalar_read_element(t, s->index[d].at, s->index[d].type),
                  v = start == JIT_NONE ? start : jit_convert(t->b, DT_S64, start);
        if (v == JIT_NONE)
            return false;
        const int least = jit_constant(t->b, DT_S64, &zero),
                  last = jit_constant(t->b, DT_S64, &greatest);
        jit_jump_unless(t->b, jit_compare(t->b, JIT_GE, false, v, least), label);
        jit_jump_unless(t->b, jit_compare(t->b, JIT_LE, false, v, last), label);
    }
    return true;
}

static bool translate_slice(struct translation *t, struct scalar_op *op)
{
    const struct scalar_slice *s = op->slice;
    const struct cell *piece = cell_at(t, s->piece.data);
    const enum dtype type = s->piece.dtype;
    const int64_t n = view_elements(&s->piece);
    struct jit_place at;
    char *whole = s->whole.view.data;
    if (!s->whole.origin.large_array && cell_at(t, whole)) { /* of an array of one element */
        void *from = s->update ? s->piece.data : whole, *to = s->update ? whole : s->piece.data;
        const int v = n == 1 ? scalar_read_element(t, from, type) : JIT_NONE;
        return v != JIT_NONE && scalar_write_element(t, to, type, v);
    }
    if (n == 0 || !view_is_dense(&s->piece) || !find_place(t, s, &at))
        return false;
    if (piece && piece->value != JIT_NONE && piece->type != type)
        return false;
    if (piece && piece->value != JIT_NONE && s->update) {
        jit_store_at(t->b, &at, piece->value);
    } else if (is_variable(piece)) {
        const int v = jit_load_at(t->b, type, &at);
        return v != JIT_NONE && scalar_write_element(t, s->piece.data, type, v);
    } else if (s->update) {
        jit_copy_to(t->b, &at, s->piece.data, n * (int64_t)dtype_bytes(type));
    } else {
        jit_copy_from(t->b, s->piece.data, &at, n * (int64_t)dtype_bytes(type));
    }
    return true;
}

/* Functions that are called check the starts themselves. */
static void translate_window(struct translation *t, struct scalar_op *op)
{
    bool drops = false;
    for (int d = 0; d < op->slice->piece.rank; d++)
        drops |= op->slice->drops[d];
    const int label = drops ? jit_label(t->b) : -1;
    if ((drops && !skip_outside(t, op->slice, label)) || !translate_slice(t, op)) {
        find_touched(t, op);
        jit_call(t->b, scalar_run_other, op, t->touched, t->touched_count);
    }
    if (drops)
        jit_put_label(t->b, label);
}

/* Elements of the type of `like`. */
static bool move_elements(struct translation *t, const struct scalar_op *op,
                          const struct cell *like)
{
    for (size_t at = 0; at < (size_t)op->count; at += like->size) {
        const int v = scalar_read_element(t, (const char *)op->args[0] + at, like->type);
        if (v == JIT_NONE || !scalar_write_element(t, (char *)op->out + at, like->type, v))
            return false;
    }
    return true;
}

/* A move between elements of one type stays in registers. */
static bool translate_move(struct translation *t, struct scalar_op *op)
{
    const struct cell *from = cell_at(t, op->args[0]), *to = cell_at(t, op->out);
    const struct cell *known = from ? from : to;
    if (known && op->count % (int64_t)known->size == 0 &&
        (is_variable(to) || (from && from->value != JIT_NONE)))
        return move_elements(t, op, known);
    if (from || to) {
        find_touched(t, op);
        jit_call(t->b, scalar_run_other, op, t->touched, t->touched_count);
    } else {
        scalar_copy_bytes(t, op->out, op->args[0], op->count);
    }
    return true;
}

static bool translate_jump(struct translation *t, struct scalar_op *op)
{
    find_touched(t, op);
    jit_charge(t->b, scalar_look, op, t->touched, t->touched_count);
    jit_jump(t->b, t->labels[op->count]);
    return true;
}

static bool translate_switch(struct translation *t, const struct scalar_op *op)
{
    int chooser = scalar_read_element(t, op->args[0], DT_S32);
    int *labels = ARENA_ARRAY(&t->pl->scratch, int, op->count);
    for (int k = 0; k < op->count; k++)
        labels[k] = t->labels[op->targets[k]];
    if (chooser != JIT_NONE)
        jit_switch(t->b, chooser, labels, op->count);
    return chooser != JIT_NONE;
}

static bool translate_jump_unless(struct translation *t, const struct scalar_op *op)
{
    int condition = scalar_read_element(t, op->args[0], DT_PRED);
    if (condition != JIT_NONE)
        jit_jump_unless(t->b, condition, t->labels[op->count]);
    return condition != JIT_NONE;
}

static void translate_stop(struct translation *t)
{
    for (int k = 0; k < t->registers.count; k++)
        if (t->cells[k].is_result && is_variable(&t->cells[k]))
            jit_flush(t->b, t->cells[k].value);
    jit_return(t->b);
}

static bool translate(struct translation *t, struct scalar_op *op)
{
    switch ((enum scalar_kind)op->kind) {
    case SCALAR_APPLY: return translate_apply(t, op);
    case SCALAR_MOVE: return translate_move(t, op);
    case SCALAR_JUMP: return translate_jump(t, op);
    case SCALAR_JUMP_UNLESS: return translate_jump_unless(t, op);
    case SCALAR_SWITCH: return translate_switch(t, op);
    case SCALAR_STOP: translate_stop(t); return true;
    case SCALAR_SLICE: translate_window(t, op); return true;
    case SCALAR_COPY:
        if (scalar_translate_copy(t, op->copy))
            return true;
        break;
    case SCALAR_REDUCE:
        if (scalar_translate_reduce(t, op->reduce))
            return true;
        break;
    case SCALAR_DOT:
        if (scalar_translate_dot(t, op->dot))
            return true;
        break;
    default: break;
    }
    find_touched(t, op);
    jit_call(t->b, scalar_run_other, op, t->touched, t->touched_count);
    return true;
}

/* ---- the program ---- */

static void make_label(struct translation *t, int at)
{
    if (t->labels[at] < 0)
        t->labels[at] = jit_label(t->b);
}

/* False: without a loop, machine code is not worth making. */
static bool make_labels(struct translation *t)
{
    bool loops = false;
    t->labels = ARENA_ARRAY(&t->pl->scratch, int, t->code->op_count + 1);
    for (int k = 0; k <= t->code->op_count; k++)
        t->labels[k] = -1;
    for (int k = 0; k < t->code->op_count; k++) {
        const struct scalar_op *op = &t->code->ops[k];
        for (int j = 0; j < scalar_target_count(op); j++)
            make_label(t, scalar_target(op, j));
        loops |= op->kind == SCALAR_JUMP && op->count <= k;
    }
    return loops;
}

/* The greatest number of registers that an operation touches. */
static void count_access(void *context, const void *at, void *pointer, bool write)
{
    ++*(int *)context;
}

static int most_touched(struct scalar_code *code)
{
    int most = 0;
    for (int k = 0; k < code->op_count; k++) {
        int n = 0;
        scalar_visit(&code->ops[k], count_access, &n);
        most = n > most ? n : most;
    }
    return most;
}

/* Operations `first` up to `end` in order. The label of the first exists. */
static bool translate_range(struct translation *t, int first, int end)
{
    bool ok = true;
    for (int k = first, taken; k < end && ok; k += taken) {
        if (k > first && t->labels[k] >= 0)
            jit_put_label(t->b, t->labels[k]);
        taken = scalar_gather_group(t, k, end);
        if (taken > 0) { /* before the group, which is gathered again */
            ok = translate_range(t, k, k + taken);
            continue;
        }
        taken = scalar_translate_group(t);
        ok = taken > 0 || (taken == 0 && translate(t, scalar_op_at(t, k)));
        taken = taken > 0 ? taken : 1;
    }
    return ok;
}

void scalar_set_native(struct maker *m, struct scalar_code *code, bool is_body)
{
    struct arena *a = &m->pl->scratch;
    struct translation t = {.pl = m->pl, .code = code, .b = jit_builder_new(a)};
    jit_set_target(t.b, program_target);
    jit_set_data(t.b, code->data, code->size);
    bool ok = (make_labels(&t) || is_body) && m->lanes == 1 && plan_code(m->pl);
    if (!ok)
        return;
    list_cells(&t, m);
    survey(&t);
    make_variables(&t);
    t.touched = ARENA_ARRAY(a, int, (size_t)most_touched(code) * SCALAR_FEW);
    t.order = ARENA_ARRAY(a, int, code->op_count);
    for (int k = 0; k < code->op_count; k++)
        t.order[k] = k;
    t.grouping = scalar_new_grouping(a, t.registers.count, code->op_count);
    if (code->op_count > 0 && t.labels[0] >= 0)
        jit_put_label(t.b, t.labels[0]);
    ok = translate_range(&t, 0, code->op_count);
    code->native = ok ? jit_program(t.b, m->pl->p->code) : NULL;
}
