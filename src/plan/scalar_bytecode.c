/*
 * scalar_bytecode.c: lowers bytecode to the form that is executed: operations on one element get an
 * opcode of kern/bytecode.h, comparisons that only feed a jump are merged with it, and copies
 * between views become precomputed lists of pieces.
 */
#include "plan/scalar.h"

/* ---- copies ---- */

/* The number of elements, in index order, that are contiguous in both views. */
static int64_t run_length(const struct view *a, const struct view *b)
{
    int64_t n = 1, width = (int64_t)dtype_bytes(a->dtype);
    for (int d = a->rank - 1; d >= 0; d--) {
        if (a->dims[d] != 1 && (a->strides[d] != n * width || b->strides[d] != n * width))
            break;
        n *= a->dims[d];
    }
    return n;
}

/* The pieces of a copy from `x` to `out`, which have equal dims; offsets are relative to both
 * starts. */
static const struct scalar_pieces *pieces_of(struct arena *keep, const struct view *out,
                                             const struct view *x)
{
    int64_t all = view_elements(out), n = all > 0 ? run_length(out, x) : 0,
            index[VIEW_MAX_RANK] = {0};
    struct scalar_pieces *p = ARENA_NEW(keep, struct scalar_pieces);
    p->size = (size_t)n * dtype_bytes(out->dtype);
    p->count = all > 0 ? (int)(all / n) : 0;
    p->to = ARENA_ARRAY(keep, int64_t, p->count);
    p->from = ARENA_ARRAY(keep, int64_t, p->count);
    for (int k = 0; k < p->count; k++) {
        for (int d = 0; d < out->rank; d++) {
            p->to[k] += index[d] * out->strides[d];
            p->from[k] += index[d] * x->strides[d];
        }
        for (int64_t j = 0; j < n; j++)
            index_next(out->rank, out->dims, index);
    }
    return p;
}

static bool is_repeated(const struct view *x)
{
    for (int d = 0; d < x->rank; d++)
        if (x->dims[d] != 1 && x->strides[d] != 0)
            return false;
    return true;
}

static void set_copy(struct planner *pl, struct bytecode_op *q, const struct view *out,
                     const struct view *x)
{
    q->out = out->data;
    q->args[0] = x->data;
    if (view_is_dense(out) && is_repeated(x) && dtype_bytes(out->dtype) == 4) {
        q->code = BYTECODE_FILL;
        q->n = (int32_t)view_elements(out);
        return;
    }
    q->n = SCALAR_COPY;
    q->with = pieces_of(&pl->p->arena, out, x);
}

/* A window of one piece with a few s32 indices. */
static bool set_window(struct planner *pl, struct bytecode_op *q, const struct scalar_slice *s,
                       const struct scalar_window *w)
{
    bool plain =
        w->pieces->count == 1 && w->pieces->size <= INT32_MAX && w->rank <= BYTECODE_INDICES;
    for (int d = 0; d < w->rank; d++)
        plain &= w->index[d].type == DT_S32;
    if (!plain)
        return false;
    struct bytecode_window *bytecode = ARENA_NEW(&pl->p->arena, struct bytecode_window);
    *bytecode = (struct bytecode_window){
        .large_array = w->large_array, .at = s->whole.data, .rank = w->rank};
    for (int d = 0; d < w->rank; d++) {
        bytecode->index[d].at = w->index[d].at;
        bytecode->index[d].last = w->index[d].last;
        bytecode->index[d].stride = w->index[d].stride;
    }
    q->code = s->update ? BYTECODE_WRITE : BYTECODE_READ;
    q->n = (int32_t)w->pieces->size;
    q->window = bytecode;
    q->out = s->update ? NULL : s->piece.data;
    q->args[0] = s->update ? s->piece.data : NULL;
    return true;
}

static void set_slice(struct planner *pl, struct bytecode_op *q, const struct scalar_slice *s)
{
    struct scalar_window *w = ARENA_NEW(&pl->p->arena, struct scalar_window);
    struct view window = s->whole;
    memcpy(window.dims, s->piece.dims, sizeof *window.dims * (size_t)window.rank);
    w->update = s->update;
    w->large_array = s->large_array;
    w->pieces = s->update ? pieces_of(&pl->p->arena, &window, &s->piece)
                          : pieces_of(&pl->p->arena, &s->piece, &window);
    for (int d = 0; d < s->whole.rank; d++)
        if (s->whole.dims[d] > s->piece.dims[d]) /* otherwise the start is fixed */
            w->index[w->rank++] =
                (struct scalar_index){s->index[d].at, s->index[d].type,
                                      s->whole.dims[d] - s->piece.dims[d], s->whole.strides[d]};
    if (set_window(pl, q, s, w))
        return;
    q->n = SCALAR_SLICE;
    q->with = w;
    q->out = s->whole.data;
    q->args[0] = s->piece.data;
}

/* ---- operations ---- */

static void set_apply(struct bytecode_op *q, const struct scalar_op *op)
{
    bool one = op->kind == SCALAR_APPLY && op->count == 1 && op->bytecode != BYTECODE_NONE;
    q->code = (uint16_t)(one                       ? op->bytecode
                         : op->kind == SCALAR_MOVE ? bytecode_move((size_t)op->count)
                                                   : BYTECODE_CALL);
    q->fn = op->fn;
}

static void set_op(struct planner *pl, struct bytecode_op *q, const struct scalar_op *op)
{
    *q = (struct bytecode_op){.code = BYTECODE_OTHER, .n = op->count, .out = op->out};
    memcpy(q->args, op->args, sizeof q->args);
    switch (op->kind) {
    case SCALAR_APPLY:
    case SCALAR_MOVE: set_apply(q, op); break;
    case SCALAR_JUMP:
        q->code = BYTECODE_JUMP;
        q->with = op->cycle;
        break;
    case SCALAR_JUMP_UNLESS: q->code = BYTECODE_JUMP_UNLESS; break;
    case SCALAR_SWITCH:
        q->code = BYTECODE_SWITCH;
        q->targets = op->targets;
        break;
    case SCALAR_STOP: q->code = BYTECODE_STOP; break;
    case SCALAR_COPY: set_copy(pl, q, &op->copy->out, &op->copy->x); break;
    case SCALAR_SLICE: set_slice(pl, q, op->slice); break;
    default:
        q->n = op->kind;
        q->with = op;
        break;
    }
}

/* ---- jumps ---- */

static void mark_targets(const struct scalar_code *c, bool *target)
{
    for (int k = 0; k < c->op_count; k++) {
        const struct scalar_op *op = &c->ops[k];
        if (op->kind == SCALAR_JUMP || op->kind == SCALAR_JUMP_UNLESS)
            target[op->count] = true;
        else if (op->kind == SCALAR_SWITCH)
            for (int j = 0; j < op->count; j++)
                target[op->targets[j]] = true;
    }
}

/* Merges a comparison into the jump that follows it. */
static bool join_branch(struct bytecode_op *before, const struct scalar_op *op)
{
    int code = bytecode_branch(before->code);
    if (op->kind != SCALAR_JUMP_UNLESS || code == BYTECODE_NONE || before->out != op->args[0])
        return false;
    before->code = (uint16_t)code;
    before->n = op->count;
    return true;
}

static bool is_jump(int code)
{
    return code == BYTECODE_JUMP || code == BYTECODE_JUMP_UNLESS || bytecode_is_branch(code);
}

static void move_targets(struct planner *pl, struct bytecode_op *q, const int *place)
{
    if (is_jump(q->code))
        q->n = place[q->n];
    if (q->code != BYTECODE_SWITCH)
        return;
    int32_t *targets = ARENA_DUP(&pl->p->arena, q->targets, q->n);
    for (int j = 0; j < q->n; j++)
        targets[j] = place[targets[j]];
    q->targets = targets;
}

static int operations_of(const struct scalar_op *op)
{
    return op->kind == SCALAR_APPLY && op->bytecode != BYTECODE_NONE && op->count > 0 &&
                   op->count <= SCALAR_FEW
               ? op->count
               : 1;
}

/* Lowers one operation to one instruction, or to one for each of its elements. */
static int set_ops(struct planner *pl, struct bytecode_op *q, const struct scalar_op *op)
{
    int n = operations_of(op);
    struct bytecode_widths w = bytecode_widths(op->bytecode);
    struct scalar_op one = *op;
    if (n == 1) {
        set_op(pl, q, op);
        return n;
    }
    one.count = 1;
    for (int k = 0; k < n; k++) {
        set_op(pl, &q[k], &one);
        one.out = (char *)one.out + w.out;
        for (int j = 0; j < KERN_MAX_ARGS; j++)
            if (one.args[j])
                one.args[j] = (const char *)one.args[j] + w.args[j];
    }
    return n;
}

void scalar_set_bytecode(struct planner *pl, struct scalar_code *code)
{
    struct arena *scratch = &pl->scratch;
    int max = 0;
    for (int k = 0; k < code->op_count; k++)
        max += operations_of(&code->ops[k]);
    struct bytecode_op *ops = ARENA_ARRAY(&pl->p->arena, struct bytecode_op, max);
    bool *target = ARENA_ARRAY(scratch, bool, code->op_count);
    int *place = ARENA_ARRAY(scratch, int, code->op_count), n = 0;
    mark_targets(code, target);
    for (int k = 0; k < code->op_count; k++) {
        place[k] = n;
        if (n == 0 || target[k] || !join_branch(&ops[n - 1], &code->ops[k]))
            n += set_ops(pl, &ops[n], &code->ops[k]);
    }
    for (int k = 0; k < n; k++)
        move_targets(pl, &ops[k], place);
    code->bytecode = ops;
}
