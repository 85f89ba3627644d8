/*
 * member_dims.c: the dimensions of the arrays that the members of a replica group contribute to a
 * collective (grammar/values.md 17).
 *
 * In a program with dynamic sizes each member may have an array of other dimensions, and the
 * members exchange them before the data. In all other programs the dimensions of the participant's
 * own operand, which are those of its shape, are those of every member, and nothing is exchanged.
 */
#include "eval/eval_priv.h"

/* Exchanges x[j * stride]->dims with member j. */
static bool exchange_dims(struct eval *ev, const struct step *s, const struct peers *g,
                          const struct view *const *x, int64_t stride, struct member_dims *e)
{
    size_t size = (size_t)e->rank * sizeof(int64_t);
    struct block *out = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
    for (int64_t j = 0; j < g->count; j++) {
        out[j] = (struct block){x[j * stride]->dims, size};
        sizes[j] = size;
    }
    struct rendezvous m = eval_new_rendezvous(ev, s, g, out);
    if (!eval_rendezvous(ev, s, &m, sizes))
        return false;
    e->stride = e->rank;
    for (int64_t j = 0; j < g->count && size > 0; j++)
        memcpy(e->dims + j * e->stride, m.in[j].at, size);
    eval_leave_rendezvous(ev, &m);
    return true;
}

bool member_dims_init(struct eval *ev, const struct step *s, const struct peers *g,
                      const struct view *const *x, int64_t stride, struct member_dims *e)
{
    int64_t rows = ev->p->dynamic ? g->count : 1;
    *e = (struct member_dims){.rank = x[0]->rank, .count = g->count};
    e->dims = ARENA_ARRAY(&ev->scratch, int64_t, rows * e->rank + 1);
    if (ev->p->dynamic)
        return exchange_dims(ev, s, g, x, stride, e);
    for (int d = 0; d < e->rank; d++)
        e->dims[d] = x[0]->dims[d];
    return true;
}

/* ---- queries ---- */

bool member_dims_equal(const struct member_dims *e, int d)
{
    for (int64_t j = 1; j < e->count && e->stride > 0; j++)
        if (member_dims_at(e, j)[d] != member_dims_at(e, 0)[d])
            return false;
    return true;
}

int64_t member_elements(const struct member_dims *e, int64_t j)
{
    return dims_elements(e->rank, member_dims_at(e, j));
}

int64_t member_dims_sum(const struct member_dims *e, int d)
{
    int64_t sum = 0;
    for (int64_t j = 0; j < e->count; j++)
        sum += member_dims_at(e, j)[d];
    return sum;
}

void member_dims_divide(struct member_dims *e, int d, int64_t n)
{
    for (int64_t j = 0; j < (e->stride > 0 ? e->count : 1); j++)
        e->dims[j * e->stride + d] /= n;
}

/* ---- checks ---- */

bool member_dims_check_equal(struct eval *ev, const struct step *s, const struct peers *g,
                             const struct member_dims *e, int d)
{
    for (int64_t j = 1; j < g->count && e->stride > 0; j++)
        if (member_dims_at(e, j)[d] != member_dims_at(e, 0)[d])
            return EVAL_FAIL(ev, s, MEMBER_SIZES, op_spelling(s->inst->opcode), g->members[0],
                             member_dims_at(e, 0)[d], g->members[j], member_dims_at(e, j)[d], d);
    return true;
}

bool member_dims_check_divides(struct eval *ev, const struct step *s, const struct peers *g,
                               const struct member_dims *e, int d)
{
    for (int64_t j = 0; j < (e->stride > 0 ? g->count : 1); j++)
        if (member_dims_at(e, j)[d] % g->count != 0)
            return EVAL_FAIL(ev, s, MEMBER_PARTS, op_spelling(s->inst->opcode), d, g->members[j],
                             member_dims_at(e, j)[d], g->count);
    return true;
}
