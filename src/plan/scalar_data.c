/*
 * scalar_data.c: the data of scalar code: its registers and operations in one block, and copies of
 * the block for runs.
 *
 * Until the code is complete, its parts are where they were made. Then what is used is counted, and
 * moved to the block by the same functions. Pointers in the block are listed, as they are relocated
 * in copies.
 */
#include "plan/scalar.h"

enum { UNIT = 16, LINE = 64 }; /* alignment; of arrays of a cache line and more */

struct packing {
    struct maker *m;
    struct scalar_code *code;
    struct own_registers registers;
    size_t *places; /* by register: 1 + its offset in the block; 0: it is not used */
    size_t registers_size, size;
    char *data; /* the block; NULL: sizes are counted, and nothing is changed */
    uint32_t *relocations;
    struct scalar_body *bodies;
    size_t relocation_capacity, body_capacity;
};

static size_t align_up(size_t n, size_t unit) { return (n + unit - 1) & ~(unit - 1); }

static char *new_block(struct arena *a, size_t size)
{
    return (char *)align_up((uintptr_t)arena_alloc(a, size + LINE), LINE);
}

/* ---- pointers ---- */

/* Sets a pointer in the block to an address in the block. */
static void set_pointer(struct packing *p, void *pointer, const void *at)
{
    struct scalar_code *c = p->code;
    size_t count = (size_t)c->relocation_count++;
    scalar_set_pointer(pointer, at);
    VEC_PUSH(&p->m->pl->scratch, p->relocations, count, p->relocation_capacity) =
        (uint32_t)((char *)pointer - p->data);
}

static size_t bytes_of(const struct reg *r) { return (size_t)r->n * dtype_bytes(r->type); }

/* The address in the block for one in a register; counting, the register becomes a part of it. */
static char *place_of(struct packing *p, const void *at)
{
    const int k = scalar_register_at(&p->registers, at);
    if (k < 0) /* it has no elements */
        return p->data;
    const struct reg *r = p->registers.at[k];
    if (p->places[k] == 0) {
        const size_t start = align_up(p->registers_size, bytes_of(r) < LINE ? UNIT : LINE);
        p->places[k] = 1 + start;
        p->registers_size = start + align_up(bytes_of(r), UNIT);
    }
    return p->data ? p->data + p->places[k] - 1 + ((const char *)at - r->at) : NULL;
}

static void move_place(void *context, const void *at, void *pointer, bool write)
{
    struct packing *p = context;
    const char *to = at ? place_of(p, at) : NULL;
    if (to)
        set_pointer(p, pointer, to);
}

static const struct large_array *large_array_at(char *const *at)
{
    return (const struct large_array *)(const void *)((const char *)at -
                                                      offsetof(struct large_array, at));
}

static void move_origin(struct packing *p, const struct scalar_origin *o)
{
    if (o->large_array && p->data)
        set_pointer(p, (void *)(uintptr_t)&o->large_array,
                    p->data + large_array_at(o->large_array)->place);
}

/* A copy in the block; counting, the original. */
static void *put(struct packing *p, const void *from, size_t size)
{
    const size_t at = p->size;
    p->size += align_up(size, UNIT);
    return p->data && size > 0 ? memcpy(p->data + at, from, size) : (void *)(uintptr_t)from;
}

/* Moves the target of a pointer in the block, of `size` bytes, to the block. */
static void *move(struct packing *p, const void *pointer, size_t size)
{
    void *at;
    memcpy(&at, pointer, sizeof at);
    at = put(p, at, size);
    if (p->data && at)
        set_pointer(p, (void *)(uintptr_t)pointer, at);
    return at;
}

/* ---- operations ---- */

static void move_body(struct packing *p, const struct kern_body *b)
{
    struct scalar_code *c = p->code;
    if (!p->data)
        return;
    size_t count = (size_t)c->body_count++;
    VEC_PUSH(&p->m->pl->scratch, p->bodies, count, p->body_capacity) =
        (struct scalar_body){(uint32_t)((const char *)&b->context - p->data), b->context};
}

static void move_reduce(struct packing *p, struct scalar_reduce *r)
{
    const size_t n = (size_t)r->n;
    move(p, &r->out, n * sizeof *r->out);
    move(p, &r->x, n * sizeof *r->x);
    move(p, &r->init, n * sizeof *r->init);
    move(p, &r->origins, n * sizeof *r->origins);
    for (int k = 0; k < r->n; k++)
        move_origin(p, &r->origins[k]);
    move_body(p, &r->body);
}

static void move_gather(struct packing *p, struct scalar_gather *g)
{
    move_origin(p, &g->whole.origin);
    if (g->body.context)
        move_body(p, &g->body);
}

static void move_dot(struct packing *p, struct scalar_dot *d)
{
    move_origin(p, &d->lhs.origin);
    move_origin(p, &d->rhs.origin);
}

static void move_step(struct packing *p, struct scalar_step *s)
{
    move(p, &s->args, (size_t)s->step->operand_count * sizeof *s->args);
    move(p, &s->results, (size_t)s->step->result_count * sizeof *s->results);
}

static void move_op(struct packing *p, struct scalar_op *op)
{
    switch (op->kind) {
    case SCALAR_COPY:
        move_origin(p, &((struct scalar_copy *)move(p, &op->copy, sizeof *op->copy))->x.origin);
        break;
    case SCALAR_PRECISION: move(p, &op->precision, sizeof *op->precision); break;
    case SCALAR_SLICE:
        move_origin(p,
                    &((struct scalar_slice *)move(p, &op->slice, sizeof *op->slice))->whole.origin);
        break;
    case SCALAR_REDUCE: move_reduce(p, move(p, &op->reduce, sizeof *op->reduce)); break;
    case SCALAR_DOT: move_dot(p, move(p, &op->dot, sizeof *op->dot)); break;
    case SCALAR_GATHER:
    case SCALAR_SCATTER: move_gather(p, move(p, &op->gather, sizeof *op->gather)); break;
    case SCALAR_STEP: move_step(p, move(p, &op->step, sizeof *op->step)); break;
    case SCALAR_JUMP:
        if (p->data && !p->code->monitor)
            op->cycle = NULL;
        else if (p->data && op->cycle)
            set_pointer(p, &op->cycle, &p->code->monitor->cycles[op->cycle->number]);
        break;
    default: break;
    }
    scalar_visit(op, move_place, p);
}

/* ---- everything ---- */

static void move_monitor(struct packing *p)
{
    struct cycle_monitor *monitor = p->code->monitor;
    if (!monitor)
        return;
    monitor = put(p, monitor, sizeof *monitor);
    struct cycle *cycles = move(p, &monitor->cycles, (size_t)monitor->count * sizeof *cycles);
    for (int k = 0; k < monitor->count; k++) {
        const struct scalar_view *parts =
            move(p, &cycles[k].parts, (size_t)cycles[k].part_count * sizeof *parts);
        for (int j = 0; j < cycles[k].part_count; j++)
            move_origin(p, &parts[j].origin);
    }
    p->code->monitor = monitor;
}

static void move_slots(struct packing *p, struct scalar_slot *slots, int count)
{
    for (int k = 0; k < count; k++) {
        if (!slots[k].at)
            continue;
        char *to = slots[k].large ? p->data : place_of(p, slots[k].at);
        if (p->data && slots[k].large)
            to += large_array_at(slots[k].at)->place;
        if (p->data)
            slots[k].at = to;
    }
}

static void move_all(struct packing *p)
{
    struct scalar_code *c = p->code;
    c->ops = put(p, p->m->ops, (size_t)p->m->op_count * sizeof *c->ops);
    move_monitor(p);
    for (int k = 0; k < c->op_count; k++)
        move_op(p, &c->ops[k]);
    move_slots(p, c->args, c->arg_count + SCALAR_IDS);
    move_slots(p, c->results, c->result_count);
}

/* The addresses of large arrays are at the start of the block. */
static void place_large_arrays(struct packing *p)
{
    for (int k = 0; k < p->m->large_array_count; k++) {
        p->m->large_arrays[k]->place = p->registers_size;
        p->registers_size += sizeof(char *);
    }
}

static void fill_registers(struct packing *p)
{
    memset(p->data, 0, p->code->size);
    for (int k = 0; k < p->m->large_array_count; k++)
        scalar_set_pointer(p->data + p->m->large_arrays[k]->place, p->m->large_arrays[k]->at);
    for (int k = 0; k < p->registers.count; k++)
        if (p->places[k])
            memcpy(p->data + p->places[k] - 1, p->registers.at[k]->at,
                   bytes_of(p->registers.at[k]));
}

/* The registers of the maker are now in the block; those that are not used are forgotten. */
static void set_registers(const struct packing *p)
{
    for (int k = 0; k < p->registers.count; k++) {
        struct reg *r = &p->m->regs[p->registers.at[k] - p->m->regs];
        r->own = p->places[k] != 0;
        r->at = r->own ? p->data + p->places[k] - 1 : NULL;
    }
}

void scalar_pack(struct maker *m, struct scalar_code *code)
{
    struct arena *keep = &m->pl->p->arena;
    struct packing p = {.m = m, .code = code, .registers = scalar_own_registers(m)};
    struct cycle_monitor *monitor = code->monitor;
    p.places = ARENA_ARRAY(&m->pl->scratch, size_t, p.registers.count);
    code->op_count = m->op_count;
    place_large_arrays(&p);
    move_all(&p);
    p.registers_size = align_up(p.registers_size, UNIT);
    code->size = p.registers_size + p.size;
    p.data = code->data = new_block(keep, code->size);
    p.size = p.registers_size;
    code->monitor = monitor;
    fill_registers(&p);
    move_all(&p);
    set_registers(&p);
    code->relocations = ARENA_DUP(keep, p.relocations, code->relocation_count);
    code->bodies = ARENA_DUP(keep, p.bodies, code->body_count);
}

/* ---- copies ---- */

static void *relocate(const struct scalar_code *code, char *data, const void *at)
{
    return at ? data + ((const char *)at - code->data) : NULL;
}

struct scalar_frame *scalar_frame_new(struct arena *a, const struct scalar_code *code,
                                      const struct scalar_run *run)
{
    char *data = new_block(a, code->size);
    struct scalar_frame *f = ARENA_NEW(a, struct scalar_frame);
    memcpy(data, code->data, code->size);
    for (int k = 0; k < code->relocation_count; k++) {
        const void *at;
        memcpy(&at, data + code->relocations[k], sizeof at);
        scalar_set_pointer(data + code->relocations[k], relocate(code, data, at));
    }
    for (int k = 0; k < code->body_count; k++)
        scalar_set_pointer(data + code->bodies[k].at,
                           scalar_frame_new(a, code->bodies[k].code, run));
    *f = (struct scalar_frame){code, run, relocate(code, data, code->ops),
                               relocate(code, data, code->monitor), data};
    return f;
}
