/*
 * scalar_product.c: matrices that scalar code multiplies by a vector and never changes, as in the
 * iterations of a loop: they are turned once, at the start, so that adjacent results have adjacent
 * operands, which machine code computes in lanes. The order of each sum stays.
 */
#include "plan/scalar.h"

struct turning {
    struct maker *m;
    struct own_registers registers;
    bool *written; /* by number of the register */
    struct scalar_op *copies;
    int count;
    size_t capacity;
};

static void note_written(void *context, const void *at, void *pointer, bool write)
{
    struct turning *t = context;
    const int k = scalar_register_at(&t->registers, at);
    if (k >= 0 && write)
        t->written[k] = true;
}

static bool is_unchanged(const struct turning *t, const struct view *v)
{
    const int k = scalar_register_at(&t->registers, v->data);
    return k >= 0 && !t->written[k];
}

/* The matrix of a product by a vector whose terms are adjacent, instead of its results. */
static struct scalar_view *find_matrix(struct scalar_dot *d)
{
    enum { ENOUGH = 4 }; /* lanes */
    const bool left = d->lhs.view.rank == 2;
    struct scalar_view *matrix = left ? &d->lhs : &d->rhs;
    const struct view *v = &matrix->view;
    if (v->rank != 2 || d->out.rank != 1 || d->lhs.origin.large_array ||
        d->rhs.origin.large_array ||
        !kern_dot_is_sequential(&d->out, &d->lhs.view, &d->rhs.view, &d->dims))
        return NULL;
    const int64_t term = left ? d->dims.lhs_contracting[0] : d->dims.rhs_contracting[0];
    return v->dims[!term] >= ENOUGH && v->dims[term] > 1 &&
                   v->strides[term] == (int64_t)dtype_bytes(v->dtype)
               ? matrix
               : NULL;
}

static void turn(struct turning *t, struct scalar_dot *d, struct view *v)
{
    struct maker *m = t->m;
    struct scalar_copy *c = ARENA_NEW(&m->pl->scratch, struct scalar_copy);
    const int reg = scalar_new_reg(m, v->dtype, view_elements(v));
    const int inner = v->strides[1] < v->strides[0];
    if (reg < 0)
        return;
    c->x.view = c->out = *v;
    c->out.data = m->regs[reg].at;
    c->out.strides[!inner] = (int64_t)dtype_bytes(v->dtype);
    c->out.strides[inner] = v->dims[!inner] * c->out.strides[!inner];
    *v = c->out;
    d->ready = kern_make_ready_dot(&m->pl->p->arena, &d->out, &d->lhs.view, &d->rhs.view, &d->dims);
    VEC_PUSH(&m->pl->scratch, t->copies, t->count, t->capacity) =
        (struct scalar_op){.kind = SCALAR_COPY, .copy = c, .out = m->regs[reg].at};
}

void scalar_turn_matrices(struct maker *m)
{
    struct turning t = {.m = m};
    if (!scalar_has_loop(m))
        return;
    for (int k = 0; k < m->op_count; k++) {
        struct scalar_op *op = &m->ops[k];
        struct scalar_dot *d = (struct scalar_dot *)(uintptr_t)op->dot;
        struct scalar_view *matrix = op->kind == SCALAR_DOT ? find_matrix(d) : NULL;
        if (matrix && !t.written) {
            t.registers = scalar_own_registers(m);
            t.written = ARENA_ARRAY(&m->pl->scratch, bool, t.registers.count + 1);
            for (int j = 0; j < m->op_count; j++)
                scalar_visit(&m->ops[j], note_written, &t);
        }
        if (matrix && is_unchanged(&t, &matrix->view))
            turn(&t, d, &matrix->view);
    }
    if (t.count > 0)
        scalar_put_first(m, t.copies, t.count);
}
