/*
 * collective.c: collectives: the blocks that a participant sends to the other members of its
 * replica group, and the result it makes of the blocks it receives.
 *
 * All arithmetic happens here, in the order of the group; the exchange only moves blocks of bytes.
 * Members may contribute arrays of different dimensions in programs with dynamic sizes
 * (member_dims.c). Elements that a member does not have take no part in a reduction, and the result
 * has the dimensions of the participant's own operand. All-gather and all-to-all concatenate what
 * they receive, without gaps. A dimension that is split must divide evenly, and in the other
 * dimensions concatenated arrays must agree.
 *
 * An all-reduce of something large takes two rounds: each member reduces one part for all, then
 * gathers the parts that the others have reduced.
 */
#include "eval/eval_priv.h"

enum { TWO_ROUNDS = 1 << 14 }; /* bytes; below this, each member reduces everything itself */

bool eval_needs_exchange(struct eval *ev, const struct step *s)
{
    return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode), "several participants");
}

/* ---- rendezvous ---- */

struct rendezvous eval_new_rendezvous(struct eval *ev, const struct step *s, const struct peers *g,
                                      struct block *out)
{
    return (struct rendezvous){.inst = s->inst,
                               .tag = eval_tag(s->inst, true),
                               .count = g->count,
                               .me = g->me,
                               .members = g->members,
                               .out = out,
                               .in = ARENA_ARRAY(&ev->scratch, struct block, g->count)};
}

void eval_leave_rendezvous(struct eval *ev, struct rendezvous *m)
{
    if (m->count > 1)
        ev->exchange->leave(ev->exchange->context, m);
}

/* Blocks of another size come from members that run another instruction on the same channel. */
static bool check_sizes(struct eval *ev, const struct step *s, const struct rendezvous *m,
                        const size_t *sizes)
{
    for (int64_t j = 0; j < m->count; j++)
        if (m->in[j].size != sizes[j])
            return EVAL_FAIL(ev, s, BLOCK_SIZE, op_spelling(s->inst->opcode), m->members[j],
                             m->in[j].size, sizes[j]);
    return true;
}

/* Sends out[j] to member j. True: all blocks have been received, with these sizes (NULL: any), and
 * `eval_leave_rendezvous` must be called afterwards. */
bool eval_rendezvous(struct eval *ev, const struct step *s, struct rendezvous *m,
                     const size_t *sizes)
{
    if (m->count == 1) {
        m->in[0] = m->out[0];
        return true;
    }
    if (!ev->exchange)
        return eval_needs_exchange(ev, s);
    if (!ev->exchange->rendezvous(ev->exchange->context, m))
        return false;
    if (!sizes || check_sizes(ev, s, m, sizes))
        return true;
    eval_leave_rendezvous(ev, m);
    return false;
}

static struct block *same_for_all(struct eval *ev, const struct peers *g, struct block b)
{
    struct block *out = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    for (int64_t j = 0; j < g->count; j++)
        out[j] = b;
    return out;
}

/* The sizes of the members' blocks, of elements of type t. */
static size_t *block_sizes(struct eval *ev, const struct member_dims *e, enum dtype t)
{
    size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, e->count);
    for (int64_t j = 0; j < e->count; j++)
        sizes[j] =
            j > 0 && e->stride == 0 ? sizes[0] : (size_t)member_elements(e, j) * dtype_bytes(t);
    return sizes;
}

/* ---- arrays and blocks ---- */

static struct block block_of(const struct view *dense)
{
    return (struct block){dense->data, size_of(dense)};
}

static bool has_shape(const struct view *v, const struct shape *s)
{
    bool same = v->rank == s->rank && v->dtype == s->dtype;
    for (int d = 0; d < v->rank && same; d++)
        same = v->dims[d] == s->dims[d];
    return same;
}

bool eval_conforms(const struct eval *ev, const struct view *v, const struct shape *s)
{
    return ev->p->dynamic ? v->rank == s->rank && v->dtype == s->dtype : has_shape(v, s);
}

/* Part j of n along dimension d. */
static void part_of(struct view *part, const struct view *v, int64_t d, int64_t n, int64_t j)
{
    view_copy(part, v);
    part->dims[d] = v->dims[d] / n;
    part->data += j * part->dims[d] * v->strides[d];
}

static bool wrong_group(struct eval *ev, const struct step *s, const struct peers *g)
{
    return EVAL_FAIL(ev, s, GROUP_SHAPE, op_spelling(s->inst->opcode), g->count);
}

/* The operand as dense storage in which its n parts along d follow one another: its own storage, or
 * a copy, which `made` then holds. */
static const char *in_parts(struct eval *ev, const struct step *s, int k, int64_t d, int64_t n,
                            struct value *made)
{
    const struct view *x = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, made);
    if (!x || n == 1 || dims_elements((int)d, x->dims) == 1)
        return x ? x->data : NULL;
    struct value packed = {0};
    if (!value_new(ev, &packed, x->dtype, x->rank, x->dims))
        return eval_no_memory(ev, s, s->inst->shape), NULL;
    for (int64_t j = 0; j < n; j++) {
        struct view part, to;
        part_of(&part, x, d, n, j);
        view_dense(&to, part.dtype, part.rank, part.dims,
                   packed.view.data + (size_t)j * size_of(&part));
        kern_copy(ev->workers, &to, &part);
    }
    value_drop(ev, made);
    value_move(made, &packed);
    return made->view.data;
}

/* ---- all-reduce, reduce-scatter, all-gather, all-to-all ---- */

/* What one of these operations does with an operand and with what it receives. */
struct pattern {
    bool split;  /* each member is sent one part of the operand; else all of it */
    bool reduce; /* what is received is reduced; else concatenated */
    int d;       /* dimension that is split or concatenated; 0 for all-reduce, which does neither */
};

static struct pattern pattern_of(const struct inst *i)
{
    bool reduce = i->opcode == OP_ALL_REDUCE || i->opcode == OP_ALL_REDUCE_START;
    bool scatter = i->opcode == OP_REDUCE_SCATTER;
    return (struct pattern){.split = scatter || i->opcode == OP_ALL_TO_ALL,
                            .reduce = scatter || reduce,
                            .d = reduce ? 0 : (int)inst_ints(i, A_DIMENSIONS).at[0]};
}

/* Checks that operand r yields result r in a group of this size. Where sizes are dynamic, that
 * depends on all members, and only rank and type can be checked. */
static bool check_form(struct eval *ev, const struct step *s, const struct peers *g,
                       const struct pattern *p, int r)
{
    const struct view *x = eval_view(ev, s, r);
    const struct shape *shape = s->shapes[r];
    int64_t parts = p->split ? g->count : 1, copies = p->reduce ? 1 : g->count;
    bool ok = x->rank == shape->rank && x->dtype == shape->dtype;
    for (int k = 0; k < x->rank && ok && !ev->p->dynamic; k++)
        ok = k == p->d ? x->dims[k] % parts == 0 && x->dims[k] / parts * copies == shape->dims[k]
                       : x->dims[k] == shape->dims[k];
    return ok || wrong_group(ev, s, g);
}

/* Checks what only the dimensions of all members show; each member reports the same fault. */
static bool check_members(struct eval *ev, const struct step *s, const struct peers *g,
                          const struct pattern *p, const struct member_dims *e)
{
    for (int k = 0; k < e->rank; k++)
        if ((p->reduce ? p->split && k == p->d : k != p->d) &&
            !member_dims_check_equal(ev, s, g, e, k))
            return false;
    return !p->split || member_dims_check_divides(ev, s, g, e, p->d);
}

/* The blocks for the members, of operand r or of a copy, which `made` then holds; NULL with a
 * message. */
static struct block *blocks_of(struct eval *ev, const struct step *s, const struct peers *g,
                               const struct pattern *p, int r, struct value *made)
{
    const struct view *x = eval_view(ev, s, r);
    if (!p->split) {
        x = eval_dense(ev, s, r, x->dtype, made);
        return x ? same_for_all(ev, g, block_of(x)) : NULL;
    }
    size_t size = size_of(x) / (size_t)g->count;
    const char *parts = in_parts(ev, s, r, p->d, g->count, made);
    struct block *out = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    for (int64_t j = 0; j < g->count && parts; j++)
        out[j] = (struct block){parts + (size_t)j * size, size};
    return parts ? out : NULL;
}

/* Sends `blocks`; what is received, with dimensions from `e`, is reduced into `out`, dense storage
 * of the participant's own dimensions. */
static bool reduce_blocks(struct eval *ev, const struct step *s, const struct peers *g,
                          struct block *blocks, const struct member_dims *e, enum dtype type,
                          char *out)
{
    struct block_reducer f;
    struct bound_body context;
    unsigned errors = ev->ds->errors;
    struct member_rows rows;
    struct rendezvous m = eval_new_rendezvous(ev, s, g, blocks);
    eval_prepare_rows(ev, e, &rows);
    if (!eval_prepare_reducer(ev, s, type, &context, &f) ||
        !eval_rendezvous(ev, s, &m, block_sizes(ev, e, type)))
        return false;
    bool ok = eval_reduce_rows(&f, &m, &rows, out) || eval_kernel_failed(ev, s, errors);
    eval_leave_rendezvous(ev, &m);
    return ok;
}

/* Sends `blocks`; what is received, with dimensions from `e`, is concatenated along d in `out`.
 * The participant's own block may be in place already. */
static bool concatenate_blocks(struct eval *ev, const struct step *s, const struct peers *g,
                               struct block *blocks, const struct member_dims *e, int d,
                               const struct view *out)
{
    struct view to, from;
    struct rendezvous m = eval_new_rendezvous(ev, s, g, blocks);
    if (!eval_rendezvous(ev, s, &m, block_sizes(ev, e, out->dtype)))
        return false;
    view_copy(&to, out);
    for (int64_t j = 0; j < g->count; j++) {
        to.dims[d] = member_dims_at(e, j)[d];
        view_dense(&from, to.dtype, to.rank, to.dims, (char *)(uintptr_t)m.in[j].at);
        if (from.data != to.data)
            kern_copy(NULL, &to, &from);
        to.data += to.dims[d] * to.strides[d];
    }
    eval_leave_rendezvous(ev, &m);
    return true;
}

/* Each member reduces its own part of the elements, then all gather the parts. All operands have
 * the dimensions of `out`; the first one is at `x`. */
static bool reduce_in_two_rounds(struct eval *ev, const struct step *s, const struct peers *g,
                                 const char *x, const struct view *out)
{
    int64_t n = g->count, elements = view_elements(out), each = elements / n;
    size_t part = (size_t)each * dtype_bytes(out->dtype);
    struct block *parts = ARENA_ARRAY(&ev->scratch, struct block, n);
    struct member_dims all = {
        .rank = 1, .count = n, .stride = 1, .dims = ARENA_ARRAY(&ev->scratch, int64_t, n)};
    struct member_dims own = {.rank = 1, .count = n, .dims = all.dims + g->me};
    for (int64_t j = 0; j < n; j++) { /* the last part takes the remainder */
        all.dims[j] = j < n - 1 ? each : elements - (n - 1) * each;
        parts[j] =
            (struct block){x + (size_t)j * part, (size_t)all.dims[j] * dtype_bytes(out->dtype)};
    }
    struct view flat;
    view_dense(&flat, out->dtype, 1, &elements, out->data);
    struct block reduced = {out->data + (size_t)g->me * part, parts[g->me].size};
    return reduce_blocks(ev, s, g, parts, &own, out->dtype, (char *)(uintptr_t)reduced.at) &&
           concatenate_blocks(ev, s, g, same_for_all(ev, g, reduced), &all, 0, &flat);
}

static bool all_equal(const struct member_dims *e)
{
    for (int d = 0; d < e->rank; d++)
        if (!member_dims_equal(e, d))
            return false;
    return true;
}

static bool reduce(struct eval *ev, const struct step *s, const struct peers *g,
                   const struct pattern *p, int r, struct block *blocks,
                   const struct member_dims *e)
{
    struct view *out = eval_sized_result(ev, s, r, member_dims_at(e, g->me));
    if (!out)
        return false;
    if (!p->split && size_of(out) >= TWO_ROUNDS && all_equal(e))
        return reduce_in_two_rounds(ev, s, g, blocks[0].at, out);
    return reduce_blocks(ev, s, g, blocks, e, out->dtype, out->data);
}

static bool concatenate(struct eval *ev, const struct step *s, const struct peers *g,
                        const struct pattern *p, int r, struct block *blocks,
                        const struct member_dims *e)
{
    int64_t dims[VIEW_MAX_RANK];
    for (int k = 0; k < e->rank; k++)
        dims[k] = k == p->d ? member_dims_sum(e, k) : member_dims_at(e, 0)[k];
    struct view *out = eval_sized_result(ev, s, r, dims);
    return out && concatenate_blocks(ev, s, g, blocks, e, p->d, out);
}

static bool one_operand(struct eval *ev, const struct step *s, const struct peers *g,
                        const struct pattern *p, int r)
{
    struct value made = {0};
    struct member_dims e;
    const struct view *x = eval_view(ev, s, r);
    if (g->count == 1 && has_shape(x, s->shapes[r]))
        return eval_alias(ev, s, r, r, x);
    if (!check_form(ev, s, g, p, r) || !member_dims_init(ev, s, g, &x, 0, &e) ||
        !check_members(ev, s, g, p, &e))
        return false;
    if (p->split)
        member_dims_divide(&e, p->d, g->count);
    struct block *blocks = blocks_of(ev, s, g, p, r, &made);
    bool ok = blocks && (p->reduce ? reduce(ev, s, g, p, r, blocks, &e)
                                   : concatenate(ev, s, g, p, r, blocks, &e));
    value_drop(ev, &made);
    return ok;
}

/* One operand after the other, each with a rendezvous of its own. */
static bool each_operand(struct eval *ev, const struct step *s, const struct peers *g)
{
    struct pattern p = pattern_of(s->inst);
    if (s->operand_count != s->result_count)
        return eval_unsupported(ev, s);
    for (int r = 0; r < s->result_count; r++)
        if (!one_operand(ev, s, g, &p, r))
            return false;
    return true;
}

/* ---- all-to-all of a tuple ---- */

/* Sends `blocks`; what is received, with dimensions from `e`, becomes results `leaf`,
 * `leaf + leaves` and so on. */
static bool receive_leaves(struct eval *ev, const struct step *s, const struct peers *g, int leaf,
                           int leaves, struct block *blocks, const struct member_dims *e)
{
    struct rendezvous m = eval_new_rendezvous(ev, s, g, blocks);
    for (int64_t j = 0; j < g->count; j++)
        if (!eval_sized_result(ev, s, (int)j * leaves + leaf, member_dims_at(e, j)))
            return false;
    if (!eval_rendezvous(ev, s, &m, block_sizes(ev, e, s->shapes[leaf]->dtype)))
        return false;
    for (int64_t j = 0; j < g->count; j++)
        if (m.in[j].size > 0)
            memcpy(ev->frame[s->results[j * leaves + leaf]].view.data, m.in[j].at, m.in[j].size);
    eval_leave_rendezvous(ev, &m);
    return true;
}

/* Operand j, which may be a tuple, is for member j; component j of the result is from it. */
static bool all_to_all_leaf(struct eval *ev, const struct step *s, const struct peers *g, int leaf,
                            int leaves)
{
    struct block *blocks = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    const struct view **x = ARENA_ARRAY(&ev->scratch, const struct view *, g->count);
    struct value *made = ARENA_ARRAY(&ev->scratch, struct value, g->count);
    struct member_dims e;
    bool ok = true;
    for (int64_t j = 0; j < g->count && ok; j++) {
        int k = (int)j * leaves + leaf;
        x[j] = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, &made[j]);
        ok = x[j] && (eval_conforms(ev, x[j], s->shapes[k]) || wrong_group(ev, s, g));
        if (ok)
            blocks[j] = block_of(x[j]);
    }
    ok = ok && member_dims_init(ev, s, g, x, 1, &e) &&
         receive_leaves(ev, s, g, leaf, leaves, blocks, &e);
    for (int64_t j = 0; j < g->count; j++)
        value_drop(ev, &made[j]);
    return ok;
}

/* There is one operand for each member, all of the same shape. */
static bool all_to_all_tuple(struct eval *ev, const struct step *s, const struct peers *g)
{
    if (s->inst->operand_count != g->count || s->operand_count != s->result_count)
        return wrong_group(ev, s, g);
    int leaves = s->operand_count / s->inst->operand_count;
    for (int leaf = 0; leaf < leaves; leaf++)
        if (s->results[leaf] != NO_VALUE && !all_to_all_leaf(ev, s, g, leaf, leaves))
            return false;
    return true;
}

/* ---- collective-broadcast ---- */

/* The array x of the first member becomes the result of all. */
static bool broadcast_array(struct eval *ev, const struct step *s, const struct peers *g,
                            const struct view *x)
{
    struct member_dims e;
    struct view *out = member_dims_init(ev, s, g, &x, 0, &e)
                           ? eval_sized_result(ev, s, 0, member_dims_at(&e, 0))
                           : NULL;
    struct block block = g->me == 0 ? block_of(x) : (struct block){NULL, 0};
    struct rendezvous m = eval_new_rendezvous(ev, s, g, same_for_all(ev, g, block));
    size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
    sizes[0] = out ? size_of(out) : 0;
    if (!out || !eval_rendezvous(ev, s, &m, sizes))
        return false;
    if (sizes[0] > 0)
        memcpy(out->data, m.in[0].at, sizes[0]);
    eval_leave_rendezvous(ev, &m);
    return true;
}

static bool broadcast(struct eval *ev, const struct step *s, const struct peers *g)
{
    struct value made;
    const struct view *x = eval_dense(ev, s, 0, eval_view(ev, s, 0)->dtype, &made);
    bool ok = x && (eval_conforms(ev, x, s->shapes[0]) || wrong_group(ev, s, g));
    if (ok && (g->count == 0 || g->me < 0))
        ok = eval_sized_zeros(ev, s, 0, x->dims);
    else
        ok = ok && broadcast_array(ev, s, g, x);
    value_drop(ev, &made);
    return ok;
}

/* ---- one instruction ---- */

static bool set_id(struct eval *ev, const struct step *s, enum scalar_id id)
{
    struct view *out = eval_result(ev, s, 0);
    const uint32_t *v = &ev->state->scalar_run.ids[id];
    if (out)
        memcpy(out->data, v, sizeof *v);
    return out != NULL;
}

static bool in_group(struct eval *ev, const struct step *s)
{
    struct peers g;
    if (!eval_peers(ev, s, &g))
        return false;
    if (s->inst->opcode == OP_COLLECTIVE_BROADCAST)
        return broadcast(ev, s, &g);
    if (g.me < 0)
        return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode),
                         "a participant that is in no group");
    switch (s->inst->opcode) {
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START:
    case OP_REDUCE_SCATTER:
    case OP_ALL_GATHER:
    case OP_ALL_GATHER_START: return each_operand(ev, s, &g);
    case OP_RAGGED_ALL_TO_ALL: return eval_ragged(ev, s, &g);
    case OP_ALL_TO_ALL:
        return inst_has(s->inst, A_DIMENSIONS) ? each_operand(ev, s, &g)
                                               : all_to_all_tuple(ev, s, &g);
    default: return eval_unsupported(ev, s);
    }
}

bool eval_collective(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok;
    switch (s->inst->opcode) {
    case OP_REPLICA_ID: ok = set_id(ev, s, SCALAR_REPLICA); break;
    case OP_PARTITION_ID: ok = set_id(ev, s, SCALAR_PARTITION); break;
    case OP_COLLECTIVE_PERMUTE:
    case OP_COLLECTIVE_PERMUTE_START: ok = eval_permute(ev, s); break;
    default: ok = in_group(ev, s); break;
    }
    arena_release(&ev->scratch, mark);
    return ok;
}
