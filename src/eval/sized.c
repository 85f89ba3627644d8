/*
 * sized.c: collectives of arrays that may be smaller than their bounds, on each member by a
 * different amount (grammar/values.md 17).
 *
 * First all members exchange the dimensions of what they give, then the data. Elements that a
 * member does not have take no part in a reduction; a result is as large as the participant's own
 * operand. All-gather and all-to-all put what they receive one after the other, without gaps. What
 * is split must split evenly, and in the other dimensions all members must agree.
 */
#include "eval/eval_priv.h"

/* ---- dimensions ---- */

/* The dimensions of what each member gives this one: `rank` numbers each. */
struct extents {
    int rank;
    int64_t *dims;
};

static const int64_t *extent(const struct extents *e, int64_t member)
{
    return e->dims + member * e->rank;
}

static int64_t elements(const int64_t *dims, int rank)
{
    int64_t n = 1;
    for (int d = 0; d < rank; d++)
        n *= dims[d];
    return n;
}

/* x[j]: what member j is given. */
static bool meet_extents(struct eval *ev, const struct step *s, const struct peers *g,
                         const struct view *const *x, struct extents *e)
{
    e->rank = x[0]->rank;
    size_t size = (size_t)e->rank * sizeof(int64_t);
    struct block *out = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
    e->dims = ARENA_ARRAY(&ev->scratch, int64_t, g->count * e->rank + 1);
    for (int64_t j = 0; j < g->count; j++) {
        out[j] = (struct block){x[j]->dims, size};
        sizes[j] = size;
    }
    struct meeting m = eval_new_meeting(ev, s, g, out);
    if (!eval_meet(ev, s, &m, sizes))
        return false;
    for (int64_t j = 0; j < g->count && size > 0; j++)
        memcpy(e->dims + j * e->rank, m.in[j].at, size);
    eval_part(ev, &m);
    return true;
}

static bool meet_same_extents(struct eval *ev, const struct step *s, const struct peers *g,
                              const struct view *x, struct extents *e)
{
    const struct view **all = ARENA_ARRAY(&ev->scratch, const struct view *, g->count);
    for (int64_t j = 0; j < g->count; j++)
        all[j] = x;
    return meet_extents(ev, s, g, all, e);
}

/* Checks that all are equal along d; all members report the same fault. */
static bool check_along(struct eval *ev, const struct step *s, const struct peers *g,
                        const struct extents *e, int64_t d)
{
    for (int64_t j = 1; j < g->count; j++)
        if (extent(e, j)[d] != extent(e, 0)[d])
            return EVAL_FAIL(ev, s, MEMBER_SIZES, op_spelling(s->inst->opcode), g->members[0],
                             extent(e, 0)[d], g->members[j], extent(e, j)[d], (int)d);
    return true;
}

static bool check_others(struct eval *ev, const struct step *s, const struct peers *g,
                         const struct extents *e, int64_t except)
{
    for (int d = 0; d < e->rank; d++)
        if (d != except && !check_along(ev, s, g, e, d))
            return false;
    return true;
}

/* Checks that everyone's dimension d divides into as many parts as there are members. */
static bool check_parts(struct eval *ev, const struct step *s, const struct peers *g,
                        const struct extents *e, int64_t d)
{
    for (int64_t j = 0; j < g->count; j++)
        if (extent(e, j)[d] % g->count != 0)
            return EVAL_FAIL(ev, s, MEMBER_PARTS, op_spelling(s->inst->opcode), (int)d,
                             g->members[j], extent(e, j)[d], g->count);
    return true;
}

/* ---- results and blocks ---- */

struct view *eval_sized_result(struct eval *ev, const struct step *s, int r, const int64_t *dims)
{
    struct value *v = &ev->frame[s->results[r]];
    const struct shape *shape = s->shapes[r];
    for (int d = 0; d < shape->rank; d++)
        if (dims[d] < 0 || dims[d] > shape->dims[d])
            return EVAL_FAIL(ev, s, UNSUPPORTED, op_spelling(s->inst->opcode),
                             "a result too small for all received rows"),
                   NULL;
    if (!value_new(ev, v, shape->dtype, shape->rank, dims))
        return eval_no_memory(ev, s, shape), NULL;
    value_fit(v, shape, false);
    return &v->view;
}

const struct view *extent_message(struct extent_message *m, int rank, const int64_t *dims)
{
    int64_t count = rank;
    for (int d = 0; d < rank && dims; d++)
        m->at[d] = dims[d];
    view_dense(&m->view, DT_S64, 1, &count, (char *)m->at);
    return &m->view;
}

/* A view of this rank and type. */
static bool is_like(const struct view *x, const struct step *s, int r)
{
    return x->rank == s->shapes[r]->rank && x->dtype == s->shapes[r]->dtype;
}

static size_t *block_sizes(struct eval *ev, const struct peers *g, const struct extents *e,
                           enum dtype t)
{
    size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
    for (int64_t j = 0; j < g->count; j++)
        sizes[j] = (size_t)elements(extent(e, j), e->rank) * dtype_bytes(t);
    return sizes;
}

/* ---- all-reduce, reduce-scatter ---- */

struct row {
    const char **blocks; /* of the members that take part */
    int64_t *lengths;    /* and how much of the row they have */
    const char **left;   /* the members that have elements from some position on */
};

/* Folds a row of n elements in pieces, in each of which the same members take part. */
static bool fold_row(const struct fold *f, const struct row *row, int64_t members, char *out,
                     int64_t n)
{
    size_t width = dtype_bytes(f->type);
    for (int64_t at = 0, end; at < n; at = end) {
        int64_t count = 0;
        end = n;
        for (int64_t j = 0; j < members; j++)
            if (row->lengths[j] > at) {
                row->left[count++] = row->blocks[j] + (size_t)at * width;
                end = row->lengths[j] < end ? row->lengths[j] : end;
            }
        if (!eval_fold(f, row->left, count, out + (size_t)at * width, end - at))
            return false;
    }
    return true;
}

/* How many elements member j has of the row at `index` (its last entry is ignored), and where they
 * are. */
static int64_t find_row(const struct extents *e, int64_t j, const int64_t *index, int64_t *at)
{
    const int64_t *dims = extent(e, j);
    *at = 0;
    for (int d = 0; d < e->rank - 1; d++) {
        if (index[d] >= dims[d])
            return 0;
        *at = (*at + index[d]) * dims[d + 1];
    }
    return e->rank > 0 ? dims[e->rank - 1] : 1;
}

/* Folds blocks of different sizes into a dense result of one's own size. */
static bool fold_boxes(struct eval *ev, const struct fold *f, const struct meeting *m,
                       const struct extents *e, char *out)
{
    size_t width = dtype_bytes(f->type);
    struct row row = {ARENA_ARRAY(&ev->scratch, const char *, m->count),
                      ARENA_ARRAY(&ev->scratch, int64_t, m->count),
                      ARENA_ARRAY(&ev->scratch, const char *, m->count)};
    const int64_t *own = extent(e, m->me);
    int64_t index[VIEW_MAX_RANK] = {0}, length = e->rank > 0 ? own[e->rank - 1] : 1;
    int64_t rows = length > 0 ? elements(own, e->rank) / length : 0;
    for (int64_t k = 0; k < rows; k++) {
        for (int64_t j = 0, at; j < m->count; j++) {
            int64_t has = find_row(e, j, index, &at);
            row.lengths[j] = has < length ? has : length;
            row.blocks[j] = (const char *)m->in[j].at + (size_t)at * width;
        }
        if (!fold_row(f, &row, m->count, out + (size_t)(k * length) * width, length))
            return false;
        for (int d = e->rank - 2; d >= 0 && ++index[d] == own[d]; d--)
            index[d] = 0;
    }
    return true;
}

/* Gives `blocks` and folds what is received, whose dimensions are in `e`. */
static bool reduce(struct eval *ev, const struct step *s, const struct peers *g, int r,
                   struct block *blocks, const struct extents *e)
{
    struct view *out = eval_sized_result(ev, s, r, extent(e, g->me));
    struct fold f;
    struct bound_body context;
    unsigned errors = ev->ds->errors;
    if (!out || !eval_prepare_fold(ev, s, out->dtype, &context, &f))
        return false;
    struct meeting m = eval_new_meeting(ev, s, g, blocks);
    if (!eval_meet(ev, s, &m, block_sizes(ev, g, e, out->dtype)))
        return false;
    bool ok = fold_boxes(ev, &f, &m, e, out->data) || eval_kernel_failed(ev, s, errors);
    eval_part(ev, &m);
    return ok;
}

static bool all_reduce(struct eval *ev, const struct step *s, const struct peers *g, int r)
{
    struct value made;
    struct extents e;
    const struct view *x = eval_dense(ev, s, r, eval_view(ev, s, r)->dtype, &made);
    bool ok =
        x && meet_same_extents(ev, s, g, x, &e) &&
        reduce(ev, s, g, r, eval_same_for_all(ev, g, (struct block){x->data, size_of(x)}), &e);
    value_drop(ev, &made);
    return ok;
}

static bool reduce_scatter(struct eval *ev, const struct step *s, const struct peers *g, int r)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct value made = {0};
    struct extents e;
    const struct view *x = eval_view(ev, s, r);
    size_t size = size_of(x) / (size_t)g->count;
    /* Parts that belong together begin at the same place. */
    if (!meet_same_extents(ev, s, g, x, &e) || !check_along(ev, s, g, &e, d) ||
        !check_parts(ev, s, g, &e, d))
        return false;
    for (int64_t j = 0; j < g->count; j++)
        e.dims[j * e.rank + d] /= g->count;
    const char *parts = eval_in_parts(ev, s, r, d, g->count, &made);
    bool ok = parts && reduce(ev, s, g, r, eval_parts_for_all(ev, g, parts, size), &e);
    value_drop(ev, &made);
    return ok;
}

/* ---- all-gather, all-to-all, collective-broadcast ---- */

/* Gives `blocks`; what is received, with dimensions from `e`, is concatenated along d. */
static bool concatenate(struct eval *ev, const struct step *s, const struct peers *g, int r,
                        struct block *blocks, const struct extents *e, int64_t d)
{
    int64_t dims[VIEW_MAX_RANK];
    for (int k = 0; k < e->rank; k++)
        dims[k] = extent(e, 0)[k];
    for (int64_t j = 1; j < g->count; j++)
        dims[d] += extent(e, j)[d];
    struct view *out = eval_sized_result(ev, s, r, dims), to, from;
    struct meeting m = eval_new_meeting(ev, s, g, blocks);
    if (!out || !eval_meet(ev, s, &m, block_sizes(ev, g, e, out->dtype)))
        return false;
    view_copy(&to, out);
    for (int64_t j = 0; j < g->count; j++) {
        to.dims[d] = extent(e, j)[d];
        view_dense(&from, to.dtype, to.rank, to.dims, (char *)(uintptr_t)m.in[j].at);
        kern_copy(ev->team, &to, &from);
        to.data += to.dims[d] * to.strides[d];
    }
    eval_part(ev, &m);
    return true;
}

static bool all_gather(struct eval *ev, const struct step *s, const struct peers *g, int r)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct value made;
    struct extents e;
    const struct view *x = eval_dense(ev, s, r, eval_view(ev, s, r)->dtype, &made);
    bool ok = x && meet_same_extents(ev, s, g, x, &e) && check_others(ev, s, g, &e, d) &&
              concatenate(ev, s, g, r,
                          eval_same_for_all(ev, g, (struct block){x->data, size_of(x)}), &e, d);
    value_drop(ev, &made);
    return ok;
}

static bool all_to_all_array(struct eval *ev, const struct step *s, const struct peers *g)
{
    int64_t d = inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct value made = {0};
    struct extents e;
    const struct view *x = eval_view(ev, s, 0);
    size_t size = size_of(x) / (size_t)g->count;
    if (!meet_same_extents(ev, s, g, x, &e) || !check_others(ev, s, g, &e, d) ||
        !check_parts(ev, s, g, &e, d))
        return false;
    for (int64_t j = 0; j < g->count; j++)
        e.dims[j * e.rank + d] /= g->count;
    const char *parts = eval_in_parts(ev, s, 0, d, g->count, &made);
    bool ok = parts && concatenate(ev, s, g, 0, eval_parts_for_all(ev, g, parts, size), &e, d);
    value_drop(ev, &made);
    return ok;
}

/* What is received becomes results `leaf`, `leaf + leaves` and so on. */
static bool take_leaves(struct eval *ev, const struct step *s, const struct peers *g, int leaf,
                        int leaves, struct block *blocks, const struct extents *e)
{
    struct meeting m = eval_new_meeting(ev, s, g, blocks);
    for (int64_t j = 0; j < g->count; j++)
        if (!eval_sized_result(ev, s, (int)j * leaves + leaf, extent(e, j)))
            return false;
    if (!eval_meet(ev, s, &m, block_sizes(ev, g, e, s->shapes[leaf]->dtype)))
        return false;
    for (int64_t j = 0; j < g->count; j++)
        if (m.in[j].size > 0)
            memcpy(ev->frame[s->results[j * leaves + leaf]].view.data, m.in[j].at, m.in[j].size);
    eval_part(ev, &m);
    return true;
}

static bool all_to_all_leaf(struct eval *ev, const struct step *s, const struct peers *g, int leaf,
                            int leaves)
{
    struct block *blocks = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    const struct view **x = ARENA_ARRAY(&ev->scratch, const struct view *, g->count);
    struct value *made = ARENA_ARRAY(&ev->scratch, struct value, g->count);
    struct extents e;
    bool ok = true;
    for (int64_t j = 0; j < g->count && ok; j++) {
        int k = (int)j * leaves + leaf;
        x[j] = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, &made[j]);
        ok = x[j] && (is_like(x[j], s, k) || eval_wrong_group(ev, s, g));
        if (ok)
            blocks[j] = (struct block){x[j]->data, size_of(x[j])};
    }
    ok = ok && meet_extents(ev, s, g, x, &e) && take_leaves(ev, s, g, leaf, leaves, blocks, &e);
    for (int64_t j = 0; j < g->count; j++)
        value_drop(ev, &made[j]);
    return ok;
}

bool eval_sized_broadcast(struct eval *ev, const struct step *s, const struct peers *g)
{
    struct value made;
    struct extents e;
    const struct view *x = eval_dense(ev, s, 0, eval_view(ev, s, 0)->dtype, &made);
    bool ok = x && (is_like(x, s, 0) || eval_wrong_group(ev, s, g));
    if (ok && (g->count == 0 || g->me < 0)) {
        ok = eval_sized_zeros(ev, s, 0, x->dims);
    } else if (ok && meet_same_extents(ev, s, g, x, &e)) {
        struct block given =
            g->me == 0 ? (struct block){x->data, size_of(x)} : (struct block){NULL, 0};
        struct meeting m = eval_new_meeting(ev, s, g, eval_same_for_all(ev, g, given));
        size_t *sizes = ARENA_ARRAY(&ev->scratch, size_t, g->count);
        struct view *out = eval_sized_result(ev, s, 0, extent(&e, 0));
        sizes[0] = out ? size_of(out) : 0;
        ok = out && eval_meet(ev, s, &m, sizes);
        if (ok && sizes[0] > 0)
            memcpy(out->data, m.in[0].at, sizes[0]);
        if (ok)
            eval_part(ev, &m);
    } else {
        ok = false;
    }
    value_drop(ev, &made);
    return ok;
}

bool eval_sized_zeros(struct eval *ev, const struct step *s, int r, const int64_t *dims)
{
    struct view *out = eval_sized_result(ev, s, r, dims);
    if (out)
        memset(out->data, 0, size_of(out));
    return out != NULL;
}

/* ---- one instruction ---- */

static bool each_operand(struct eval *ev, const struct step *s, const struct peers *g,
                         operand_fn *fn)
{
    if (s->operand_count != s->result_count)
        return eval_unsupported(ev, s);
    for (int r = 0; r < s->result_count; r++) {
        if (!is_like(eval_view(ev, s, r), s, r))
            return eval_wrong_group(ev, s, g);
        if (!fn(ev, s, g, r))
            return false;
    }
    return true;
}

bool eval_sized_collective(struct eval *ev, const struct step *s, const struct peers *g)
{
    switch (s->inst->opcode) {
    case OP_ALL_REDUCE:
    case OP_ALL_REDUCE_START: return each_operand(ev, s, g, all_reduce);
    case OP_REDUCE_SCATTER: return each_operand(ev, s, g, reduce_scatter);
    case OP_ALL_GATHER:
    case OP_ALL_GATHER_START: return each_operand(ev, s, g, all_gather);
    case OP_ALL_TO_ALL:
        if (!inst_has(s->inst, A_DIMENSIONS))
            return eval_all_to_all_tuple(ev, s, g, all_to_all_leaf);
        return is_like(eval_view(ev, s, 0), s, 0) ? all_to_all_array(ev, s, g)
                                                  : eval_wrong_group(ev, s, g);
    default: return eval_unsupported(ev, s);
    }
}
