/*
 * collective.c: collectives: what a participant gives to the others of its group, and what it makes
 * of what they gave.
 *
 * All computing is done here, in the order of the group; the exchange only moves blocks of bytes.
 * An all-reduce of something large takes two rounds: each member folds one part for all, then
 * gathers the parts that the others have folded.
 */
#include "eval/eval_priv.h"

enum { TWO_ROUNDS = 1 << 14 }; /* bytes; below this, each member folds everything itself */

bool eval_not_alone(struct eval *ev, const struct step *s)
{
    return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode), "several participants");
}

/* ---- meetings ---- */

struct meeting eval_new_meeting(struct eval *ev, const struct step *s, const struct peers *g,
                                struct block *out)
{
    return (struct meeting){.inst = s->inst,
                            .tag = eval_tag(s->inst, true),
                            .count = g->count,
                            .me = g->me,
                            .members = g->members,
                            .out = out,
                            .in = ARENA_ARRAY(&ev->scratch, struct block, g->count)};
}

void eval_part(struct eval *ev, struct meeting *m)
{
    if (m->count > 1)
        ev->exchange->part(ev->exchange->context, m);
}

/* Blocks of another size come from members that run another instruction on the same channel. */
static bool check_sizes(struct eval *ev, const struct step *s, const struct meeting *m,
                        const size_t *sizes)
{
    for (int64_t j = 0; j < m->count; j++)
        if (m->in[j].size != sizes[j])
            return EVAL_FAIL(ev, s, BLOCK_SIZE, op_spelling(s->inst->opcode), m->members[j],
                             m->in[j].size, sizes[j]);
    return true;
}

/* Gives out[j] to member j. True: all blocks have come, with these sizes (NULL: any), and
 * `eval_part` must be called afterwards. */
bool eval_meet(struct eval *ev, const struct step *s, struct meeting *m, const size_t *sizes)
{
    if (m->count == 1) {
        m->in[0] = m->out[0];
        return true;
    }
    if (!ev->exchange)
        return eval_not_alone(ev, s);
    if (!ev->exchange->meet(ev->exchange->context, m))
        return false;
    if (!sizes || check_sizes(ev, s, m, sizes))
        return true;
    eval_part(ev, m);
    return false;
}

struct block *eval_same_for_all(struct eval *ev, const struct peers *g, struct block b)
{
    struct block *out = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    for (int64_t j = 0; j < g->count; j++)
        out[j] = b;
    return out;
}

static size_t *same_size(struct eval *ev, const struct peers *g, size_t size)
{
    size_t *out = ARENA_ARRAY(&ev->scratch, size_t, g->count);
    for (int64_t j = 0; j < g->count; j++)
        out[j] = size;
    return out;
}

/* ---- arrays and blocks ---- */

static struct block block_of(const struct view *dense)
{
    return (struct block){dense->data, size_of(dense)};
}

bool eval_has_shape(const struct view *v, const struct shape *s)
{
    bool same = v->rank == s->rank && v->dtype == s->dtype;
    for (int d = 0; d < v->rank && same; d++)
        same = v->dims[d] == s->dims[d];
    return same;
}

bool eval_clear(struct eval *ev, const struct step *s, int r)
{
    struct view *out = eval_result(ev, s, r);
    if (out)
        memset(out->data, 0, size_of(out));
    return out != NULL;
}

/* Part j of n along dimension d. */
/* Part j of n along dimension d. */
static void part_of(struct view *part, const struct view *v, int64_t d, int64_t n, int64_t j)
{
    view_copy(part, v);
    part->dims[d] = v->dims[d] / n;
    part->data += j * part->dims[d] * v->strides[d];
}

static void copy_block(const struct view *out, const void *block)
{
    struct view x;
    view_dense(&x, out->dtype, out->rank, out->dims, (char *)(uintptr_t)block);
    kern_copy(NULL, out, &x);
}

static bool fits(const struct view *small, const struct view *large, int64_t d, int64_t n)
{
    bool ok = small->rank == large->rank && small->dtype == large->dtype;
    for (int k = 0; k < small->rank && ok; k++)
        ok = small->dims[k] * (k == d ? n : 1) == large->dims[k];
    return ok;
}

bool eval_wrong_group(struct eval *ev, const struct step *s, const struct peers *g)
{
    return EVAL_FAIL(ev, s, GROUP_SHAPE, op_spelling(s->inst->opcode), g->count);
}

/* The operand as dense storage in which its n parts along d follow one another: as it lies, or as a
 * copy, which `made` then holds. */
const char *eval_in_parts(struct eval *ev, const struct step *s, int k, int64_t d, int64_t n,
                          struct value *made)
{
    const struct view *x = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, made);
    int64_t before = 1;
    for (int j = 0; x && j < d; j++)
        before *= x->dims[j];
    if (!x || before == 1 || n == 1)
        return x ? x->data : NULL;
    struct value packed = {0};
    if (!value_new(ev, &packed, x->dtype, x->rank, x->dims))
        return eval_no_memory(ev, s, s->inst->shape), NULL;
    for (int64_t j = 0; j < n; j++) {
        struct view part, to;
        part_of(&part, x, d, n, j);
        view_dense(&to, part.dtype, part.rank, part.dims,
                   packed.view.data + (size_t)j * size_of(&part));
        kern_copy(ev->team, &to, &part);
    }
    value_drop(ev, made);
    value_move(made, &packed);
    return made->view.data;
}

struct block *eval_parts_for_all(struct eval *ev, const struct peers *g, const char *at,
                                 size_t size)
{
    struct block *out = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    for (int64_t j = 0; j < g->count; j++)
        out[j] = (struct block){at + (size_t)j * size, size};
    return out;
}

/* ---- all-reduce, reduce-scatter ---- */

static bool fold_meeting(struct eval *ev, const struct step *s, struct meeting *m,
                         const size_t *sizes, char *out, int64_t elements, enum dtype type)
{
    struct fold f;
    struct bound_body context;
    unsigned errors = ev->ds->errors;
    const char **blocks = ARENA_ARRAY(&ev->scratch, const char *, m->count);
    if (!eval_prepare_fold(ev, s, type, &context, &f) || !eval_meet(ev, s, m, sizes))
        return false;
    for (int64_t j = 0; j < m->count; j++)
        blocks[j] = m->in[j].at;
    bool ok = eval_fold(&f, blocks, m->count, out, elements) || eval_kernel_failed(ev, s, errors);
    eval_part(ev, m);
    return ok;
}

/* Each member folds its own part, then all gather the parts. */
static bool reduce_in_two_rounds(struct eval *ev, const struct step *s, const struct peers *g,
                                 const struct view *x, struct view *out)
{
    int64_t n = g->count, elements = view_elements(x), each = elements / n;
    size_t width = dtype_bytes(x->dtype), *mine = ARENA_ARRAY(&ev->scratch, size_t, n),
           *theirs = ARENA_ARRAY(&ev->scratch, size_t, n);
    struct block *parts = ARENA_ARRAY(&ev->scratch, struct block, n);
    for (int64_t j = 0; j < n; j++) { /* the last one takes the remainder */
        theirs[j] = (size_t)(j < n - 1 ? each : elements - (n - 1) * each) * width;
        parts[j] = (struct block){x->data + (size_t)(j * each) * width, theirs[j]};
    }
    for (int64_t j = 0; j < n; j++)
        mine[j] = theirs[g->me];
    char *own = out->data + (size_t)(g->me * each) * width;
    struct meeting m = eval_new_meeting(ev, s, g, parts);
    if (!fold_meeting(ev, s, &m, mine, own, (int64_t)(mine[0] / width), x->dtype))
        return false;
    m = eval_new_meeting(ev, s, g, eval_same_for_all(ev, g, (struct block){own, mine[0]}));
    if (!eval_meet(ev, s, &m, theirs))
        return false;
    for (int64_t j = 0; j < n; j++)
        if (j != g->me && theirs[j] > 0)
            memcpy(out->data + (size_t)(j * each) * width, m.in[j].at, theirs[j]);
    eval_part(ev, &m);
    return true;
}

static bool all_reduce(struct eval *ev, const struct step *s, const struct peers *g, int r)
{
    struct value made;
    const struct view *x = eval_dense(ev, s, r, eval_view(ev, s, r)->dtype, &made);
    struct view *out = x ? eval_result(ev, s, r) : NULL;
    bool ok = out && (fits(x, out, 0, 1) || eval_wrong_group(ev, s, g));
    if (ok && size_of(x) >= TWO_ROUNDS) {
        ok = reduce_in_two_rounds(ev, s, g, x, out);
    } else if (ok) {
        struct meeting m = eval_new_meeting(ev, s, g, eval_same_for_all(ev, g, block_of(x)));
        ok = fold_meeting(ev, s, &m, same_size(ev, g, size_of(x)), out->data, view_elements(x),
                          x->dtype);
    }
    value_drop(ev, &made);
    return ok;
}

static bool reduce_scatter(struct eval *ev, const struct step *s, const struct peers *g, int r)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct value made = {0};
    struct view *out = eval_result(ev, s, r);
    bool ok = out && (fits(out, eval_view(ev, s, r), d, g->count) || eval_wrong_group(ev, s, g));
    const char *parts = ok ? eval_in_parts(ev, s, r, d, g->count, &made) : NULL;
    if (parts) {
        struct meeting m =
            eval_new_meeting(ev, s, g, eval_parts_for_all(ev, g, parts, size_of(out)));
        ok = fold_meeting(ev, s, &m, same_size(ev, g, size_of(out)), out->data, view_elements(out),
                          out->dtype);
    }
    value_drop(ev, &made);
    return ok && parts;
}

/* ---- all-gather, all-to-all ---- */

/* The blocks received become the parts of the result along d. */
static bool take_parts(struct eval *ev, const struct step *s, struct meeting *m, struct view *out,
                       int64_t d)
{
    struct view part;
    part_of(&part, out, d, m->count, 0);
    struct peers g = {.count = m->count};
    if (!eval_meet(ev, s, m, same_size(ev, &g, size_of(&part))))
        return false;
    for (int64_t j = 0; j < m->count; j++) {
        part_of(&part, out, d, m->count, j);
        copy_block(&part, m->in[j].at);
    }
    eval_part(ev, m);
    return true;
}

static bool all_gather(struct eval *ev, const struct step *s, const struct peers *g, int r)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct value made;
    const struct view *x = eval_dense(ev, s, r, eval_view(ev, s, r)->dtype, &made);
    struct view *out = x ? eval_result(ev, s, r) : NULL;
    bool ok = out && (fits(x, out, d, g->count) || eval_wrong_group(ev, s, g));
    if (ok) {
        struct meeting m = eval_new_meeting(ev, s, g, eval_same_for_all(ev, g, block_of(x)));
        ok = take_parts(ev, s, &m, out, d);
    }
    value_drop(ev, &made);
    return ok;
}

static bool all_to_all_array(struct eval *ev, const struct step *s, const struct peers *g)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct value made = {0};
    struct view *out = eval_result(ev, s, 0);
    const struct view *x = eval_view(ev, s, 0);
    bool ok =
        out && ((fits(x, out, 0, 1) && x->dims[d] % g->count == 0) || eval_wrong_group(ev, s, g));
    const char *parts = ok ? eval_in_parts(ev, s, 0, d, g->count, &made) : NULL;
    if (parts) {
        struct meeting m = eval_new_meeting(
            ev, s, g, eval_parts_for_all(ev, g, parts, size_of(out) / (size_t)g->count));
        ok = take_parts(ev, s, &m, out, d);
    }
    value_drop(ev, &made);
    return ok && parts;
}

/* Operand j, which may be a tuple, is for member j; component j of the result is from it. */
static bool all_to_all_leaf(struct eval *ev, const struct step *s, const struct peers *g, int leaf,
                            int leaves)
{
    struct block *blocks = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
    struct value *made = ARENA_ARRAY(&ev->scratch, struct value, g->count);
    bool ok = true;
    for (int64_t j = 0; j < g->count && ok; j++) {
        int k = (int)j * leaves + leaf;
        const struct view *x = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, &made[j]);
        struct view *out = x ? eval_result(ev, s, k) : NULL;
        ok = out != NULL;
        if (ok) {
            blocks[j] = block_of(x);
            sizes[j] = size_of(out);
        }
    }
    struct meeting m = eval_new_meeting(ev, s, g, blocks);
    ok = ok && eval_meet(ev, s, &m, sizes);
    for (int64_t j = 0; j < g->count && ok; j++)
        if (sizes[j] > 0)
            memcpy(ev->frame[s->results[j * leaves + leaf]].view.data, m.in[j].at, sizes[j]);
    if (ok)
        eval_part(ev, &m);
    for (int64_t j = 0; j < g->count; j++)
        value_drop(ev, &made[j]);
    return ok;
}

bool eval_all_to_all_tuple(struct eval *ev, const struct step *s, const struct peers *g,
                           leaf_fn *fn)
{
    if (s->inst->operand_count != g->count || s->operand_count != s->result_count)
        return eval_wrong_group(ev, s, g);
    int leaves = s->operand_count / s->inst->operand_count;
    for (int leaf = 0; leaf < leaves; leaf++)
        if (s->results[leaf] != NO_VALUE && !fn(ev, s, g, leaf, leaves))
            return false;
    return true;
}

/* ---- collective-broadcast ---- */

static bool broadcast(struct eval *ev, const struct step *s, const struct peers *g)
{
    if (g->count == 0 || g->me < 0)
        return eval_clear(ev, s, 0);
    struct value made;
    const struct view *x = eval_dense(ev, s, 0, eval_view(ev, s, 0)->dtype, &made);
    struct view *out = x ? eval_result(ev, s, 0) : NULL;
    bool ok = out && (fits(x, out, 0, 1) || eval_wrong_group(ev, s, g));
    if (ok) {
        struct block given = g->me == 0 ? block_of(x) : (struct block){NULL, 0};
        struct meeting m = eval_new_meeting(ev, s, g, eval_same_for_all(ev, g, given));
        size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
        sizes[0] = size_of(out);
        ok = eval_meet(ev, s, &m, sizes);
        if (ok) {
            copy_block(out, m.in[0].at);
            eval_part(ev, &m);
        }
    }
    value_drop(ev, &made);
    return ok;
}

/* ---- one instruction ---- */

static bool number(struct eval *ev, const struct step *s, int64_t n)
{
    struct view *out = eval_result(ev, s, 0);
    uint32_t v = (uint32_t)n;
    if (out)
        memcpy(out->data, &v, sizeof v);
    return out != NULL;
}

/* One operand after the other, each with a meeting of its own. */
static bool each_operand(struct eval *ev, const struct step *s, const struct peers *g,
                         operand_fn *fn)
{
    if (s->operand_count != s->result_count)
        return eval_unsupported(ev, s);
    for (int r = 0; r < s->result_count; r++) {
        const struct view *x = eval_view(ev, s, r);
        if (g->count == 1 && eval_has_shape(x, s->shapes[r]) ? !eval_alias(ev, s, r, r, x)
                                                             : !fn(ev, s, g, r))
            return false;
    }
    return true;
}

static bool in_group(struct eval *ev, const struct step *s)
{
    struct peers g;
    if (!eval_peers(ev, s, &g))
        return false;
    if (s->inst->opcode == OP_COLLECTIVE_BROADCAST)
        return ev->p->dynamic ? eval_sized_broadcast(ev, s, &g) : broadcast(ev, s, &g);
    if (g.me < 0)
        return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode),
                         "a participant that is in no group");
    if (ev->p->dynamic && s->inst->opcode != OP_RAGGED_ALL_TO_ALL)
        return eval_sized_collective(ev, s, &g);
    switch (s->inst->opcode) {
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START: return each_operand(ev, s, &g, all_reduce);
    case OP_REDUCE_SCATTER: return each_operand(ev, s, &g, reduce_scatter);
    case OP_ALL_GATHER:
    case OP_ALL_GATHER_START: return each_operand(ev, s, &g, all_gather);
    case OP_RAGGED_ALL_TO_ALL: return eval_ragged(ev, s, &g);
    case OP_ALL_TO_ALL:
        return inst_has(s->inst, A_DIMENSIONS) ? all_to_all_array(ev, s, &g)
                                               : eval_all_to_all_tuple(ev, s, &g, all_to_all_leaf);
    default: return eval_unsupported(ev, s);
    }
}

bool eval_collective(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    bool ok;
    switch (s->inst->opcode) {
    case OP_REPLICA_ID: ok = number(ev, s, ev->p->options.replica); break;
    case OP_PARTITION_ID: ok = number(ev, s, ev->p->options.partition); break;
    case OP_COLLECTIVE_PERMUTE:
    case OP_COLLECTIVE_PERMUTE_START: ok = eval_permute(ev, s); break;
    default: ok = in_group(ev, s); break;
    }
    arena_release(&ev->scratch, mark);
    return ok;
}
