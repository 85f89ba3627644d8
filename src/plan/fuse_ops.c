/*
 * fuse_ops.c: lowers a group of steps to one: its steps become ops of a fused loop, whose values
 * share tiles when their live ranges do not overlap.
 *
 * Inside a loop, bf16 and f16 numbers are held as f32. Where each op would round to the narrow type
 * only for the next op to widen it again, the value is rounded once, or not at all where the op's
 * result is exact in the narrow type. A value thus may have two forms, its own and the wide one;
 * each is made on demand. (A NaN's payload survives ops that need no rounding; a conversion after
 * each op would lose it.)
 */
#include "plan/fuse.h"

enum { NONE = -1, MAX_VALUES = KERN_FUSED_VIEWS + KERN_FUSED_OPS };

/* A value of the plan within the loop: the number of each form, NONE if that form is not made. */
struct held {
    int value; /* value number in the plan */
    enum dtype type;
    bool rows;
    int own, wide;
    struct held *source; /* NULL, or a value held narrow whose wide form is this value */
    /* NULL, or a row value, each of whose elements fills a row of this one */
    struct held *repeats;
};

struct making {
    struct planner *pl;
    const struct fuse_group *g;
    struct held forms[MAX_VALUES];
    int form_count;
    struct fuse_op ops[KERN_FUSED_OPS];
    int op_count, reducer_count;
    bool full; /* more ops than KERN_FUSED_OPS */
    bool late[MAX_VALUES], fixed[MAX_VALUES], whole_rows;
    size_t width;
};

static bool is_held_wide(enum dtype t) { return t == DT_BF16 || t == DT_F16; }

/* ---- ops ---- */

static int emit(struct making *m, struct fuse_op op, const int *args, size_t width)
{
    if (m->op_count == KERN_FUSED_OPS) {
        m->full = true;
        return 0;
    }
    const int at = m->op_count++, out = m->g->leaf_count + at;
    op.width = (uint8_t)width;
    op.result = NONE;
    op.invariant = op.kind == KERN_FUSED_APPLY;
    for (int k = 0; k < op.arg_count; k++) {
        op.args[k] = args[k];
        op.late |= m->late[args[k]];
        op.invariant &= m->fixed[args[k]];
    }
    m->late[out] = op.late || op.kind == KERN_FUSED_REDUCE;
    m->fixed[out] = op.invariant;
    m->whole_rows |= op.late && (!op.rows || op.kind == KERN_FUSED_REDUCE);
    m->ops[at] = op;
    if (width > m->width)
        m->width = width;
    return out;
}

static int emit_apply(struct making *m, kern_tile_fn *fn, struct tile_meaning meaning, bool rows,
                      int count, const int *args)
{
    return emit(m,
                (struct fuse_op){.fn = fn,
                                 .kind = KERN_FUSED_APPLY,
                                 .meaning = meaning,
                                 .rows = rows,
                                 .arg_count = (uint8_t)count},
                args, dtype_bytes(meaning.to));
}

static int emit_convert(struct making *m, enum dtype to, enum dtype from, bool rows, int arg)
{
    const struct tile_meaning meaning = {TILE_CONVERT, NULL, from, to, DT_INVALID};
    return emit_apply(m, m->pl->tiles->convert(to, from), meaning, rows, 1, &arg);
}

/* The narrow form of a wide one. */
static int emit_narrow(struct making *m, enum dtype t, bool rows, int arg)
{
    const struct tile_meaning meaning = {TILE_NARROW, NULL, DT_F32, t, DT_INVALID};
    return emit_apply(m, m->pl->tiles->narrow(t), meaning, rows, 1, &arg);
}

static int emit_round(struct making *m, enum dtype t, bool rows, int arg)
{
    const struct tile_meaning meaning = {TILE_ROUND, NULL, DT_F32, DT_F32, t};
    return emit_apply(m, m->pl->tiles->rounded(NULL, t), meaning, rows, 1, &arg);
}

/* ---- narrow and wide forms of values ---- */

static struct held *form_of(struct making *m, int value)
{
    for (int k = m->form_count - 1; k >= 0; k--)
        if (m->forms[k].value == value)
            return &m->forms[k];
    return NULL;
}

static struct held *add_form(struct making *m, int value, enum dtype type, bool rows, int own,
                             int wide)
{
    m->forms[m->form_count] =
        (struct held){.value = value, .type = type, .rows = rows, .own = own, .wide = wide};
    return &m->forms[m->form_count++];
}

static int emit_repeat(struct making *m, int arg, enum dtype type)
{
    return emit(
        m, (struct fuse_op){.kind = KERN_FUSED_REPEAT, .meaning = {.to = type}, .arg_count = 1},
        &arg, dtype_bytes(type));
}

static int wide(struct making *m, struct held *f);

static int own(struct making *m, struct held *f)
{
    if (f->own == NONE && f->source) {
        f->own = wide(m, f->source);
    } else if (f->own == NONE && f->repeats) {
        f->own = emit_repeat(m, own(m, f->repeats), f->type);
    } else if (f->own == NONE) {
        f->own = emit_narrow(m, f->type, f->rows, f->wide);
    }
    return f->own;
}

static int wide(struct making *m, struct held *f)
{
    if (f->wide == NONE && f->repeats)
        f->wide = emit_repeat(m, wide(m, f->repeats), DT_F32);
    else if (f->wide == NONE)
        f->wide = emit_convert(m, DT_F32, f->type, f->rows, f->own);
    return f->wide;
}

/* ---- elementwise steps ---- */

static int gather_args(struct making *m, const struct step *s, int *args, bool as_wide)
{
    for (int k = 0; k < s->operand_count; k++) {
        struct held *f = form_of(m, s->operands[k]);
        args[k] = as_wide && fuse_operand_type(s, k) == s->as.tile.type ? wide(m, f) : own(m, f);
    }
    return s->operand_count;
}

/* A conversion that changes no bits: between f32 and a type that is held as f32, or between two
 * such types. */
static bool rename_form(struct making *m, const struct step *s, bool rows)
{
    struct held *x = form_of(m, s->operands[0]);
    const enum dtype from = s->as.tile.type, to = s->as.tile.result;
    const bool converts = s->inst->opcode == OP_CONVERT || s->inst->opcode == OP_COPY;
    if (!converts || (from != DT_F32 && !is_held_wide(from)) ||
        (to != DT_F32 && !is_held_wide(to)) || from == DT_F32)
        return false;
    if (to != DT_F32 && to != from)
        return false;
    if (to == DT_F32) {
        add_form(m, s->results[0], to, rows, NONE, NONE)->source = x;
    } else {
        const int v = wide(m, x);
        add_form(m, s->results[0], to, rows, x->own, v);
    }
    return true;
}

static void make_apply(struct making *m, const struct step *s, bool rows)
{
    const struct inst *i = s->inst;
    int args[KERN_MAX_ARGS];
    const bool to_wide = is_held_wide(s->as.tile.result), from_wide = is_held_wide(s->as.tile.type);
    kern_tile_fn *fn = NULL;
    if (rename_form(m, s, rows))
        return;
    if (from_wide)
        fn = plan_tile_of(m->pl, i, DT_F32);
    if (i->opcode == OP_CONVERT && to_wide && (s->as.tile.type == DT_F32 || from_wide))
        fn = m->pl->tiles->rounded(op_spelling(i->opcode), s->as.tile.result);
    if (fn) { /* on f32 throughout */
        const int n = gather_args(m, s, args, from_wide);
        kern_tile_fn *rounded =
            to_wide ? m->pl->tiles->rounded(op_spelling(i->opcode), s->as.tile.result) : NULL;
        const struct tile_meaning meaning = {
            i->opcode == OP_CONVERT && to_wide ? TILE_ROUND : TILE_INST, i,
            from_wide ? DT_F32 : s->as.tile.type, to_wide ? DT_F32 : s->as.tile.result,
            rounded ? s->as.tile.result : DT_INVALID};
        int out = emit_apply(m, rounded ? rounded : fn, meaning, rows, n, args);
        if (to_wide && !rounded && i->opcode != OP_CONVERT && !op_is(i->opcode, OP_EXACT))
            out = emit_round(m, s->as.tile.result, rows, out);
        add_form(m, s->results[0], s->as.tile.result, rows, to_wide ? NONE : out,
                 to_wide ? out : NONE);
        return;
    }
    const struct tile_meaning meaning = {TILE_INST, i, s->as.tile.type, s->as.tile.result,
                                         DT_INVALID};
    const int n = gather_args(m, s, args, false);
    add_form(m, s->results[0], s->as.tile.result, rows,
             emit_apply(m, s->as.tile.run, meaning, rows, n, args), NONE);
}

/* ---- other steps ---- */

static void rename_value(struct making *m, int value, const struct held *x, bool rows)
{
    struct held *f = &m->forms[m->form_count++];
    *f = *x;
    f->value = value;
    f->rows = rows;
}

/* Readers may use the row value directly. */
static void make_repeat(struct making *m, const struct step *s)
{
    struct held *x = form_of(m, s->operands[0]);
    add_form(m, s->results[0], x->type, false, NONE, NONE)->repeats = x;
}

/* Sums of bf16, and extremes of bf16 and f16 along rows, read narrow numbers directly. */
static bool reduces_narrow(const struct making *m, const struct held *x, const struct body *body)
{
    const struct fuse_group *g = m->g;
    const bool sums = x->type == DT_BF16 && body->combine == KERN_ADD &&
                      (body->args[0] == DT_F32 || body->args[0] == DT_F64),
               picks = (body->combine == KERN_MAXIMUM || body->combine == KERN_MINIMUM) &&
                       kern_fused_lanes(g->rank, g->dims, g->reduced) == 0;
    return is_held_wide(x->type) && x->own != NONE && x->wide == NONE && (sums || picks);
}

static struct held *reduce_operand(const struct making *m, struct held *x, const struct body *body)
{
    return x->own == NONE && x->source && reduces_narrow(m, x->source, body) ? x->source : x;
}

/* The ops after a reduction are other machine code than those before it, and widen the elements of
 * a leaf as they load them: no tile of wide numbers has to be kept for them. */
static void drop_wide_leaves(struct making *m)
{
    for (int k = 0; k < m->g->leaf_count; k++)
        if (!m->fixed[k])
            m->forms[k].wide = NONE;
}

static void make_reduce(struct making *m, const struct step *s)
{
    if (m->reducer_count == KERN_FUSED_REDUCERS) {
        m->full = true;
        return;
    }
    const struct body *body = s->bodies;
    struct held *x = reduce_operand(m, form_of(m, s->operands[0]), body);
    const bool as_wide = is_held_wide(x->type) && !reduces_narrow(m, x, body);
    const int args[] = {as_wide ? wide(m, x) : own(m, x), own(m, form_of(m, s->operands[1]))};
    struct kern_reducer *reducer = ARENA_NEW(&m->pl->p->arena, struct kern_reducer);
    const enum dtype type = s->shapes[0]->dtype;
    *reducer =
        (struct kern_reducer){body->combine, as_wide ? DT_F32 : x->type, body->args[0], type};
    struct fuse_op op = {.kind = KERN_FUSED_REDUCE,
                         .reducer = reducer,
                         .meaning = {.to = type},
                         .rows = true,
                         .arg_count = 2,
                         .reducer_number = (uint8_t)m->reducer_count++};
    const int out = emit(m, op, args, dtype_bytes(type));
    add_form(m, s->results[0], type, true, out, NONE);
    drop_wide_leaves(m);
}

/* ---- the fused step ---- */

static void add_leaves(struct making *m, const struct fuse_leaf *leaves)
{
    const struct fuse_group *g = m->g;
    for (int k = 0; k < g->leaf_count; k++) {
        const bool rows =
            leaves[k].rank == g->row_rank && leaves[k].rank < g->rank && leaves[k].rank > 0;
        add_form(m, g->leaves[k], leaves[k].type, rows, k, NONE);
        m->fixed[k] = leaves[k].rank == 0;
        if (dtype_bytes(leaves[k].type) > m->width)
            m->width = dtype_bytes(leaves[k].type);
    }
}

static bool is_of_rows(const struct fuse_group *g, const struct shape *s)
{
    int rank = 0;
    for (int d = 0; d < s->rank; d++)
        rank += s->dims[d] != 1;
    return g->row_rank < g->rank && rank == g->row_rank;
}

static void make_ops(struct making *m, const struct step *const *steps, const enum fuse_role *roles)
{
    for (int k = 0; k < m->g->steps && !m->full; k++) {
        const struct step *s = steps[k];
        const bool rows = is_of_rows(m->g, s->shapes[0]);
        const struct held *x = form_of(m, s->operands[0]);
        switch (roles[k]) {
        case FUSE_APPLY: make_apply(m, s, rows); break;
        case FUSE_REPEAT: make_repeat(m, s); break;
        case FUSE_ALIAS: rename_value(m, s->results[0], x, rows); break;
        default: make_reduce(m, s); break;
        }
    }
}

/* Whether ops or another result read a value, or it is a leaf. */
static bool is_read(struct making *m, const struct step *const *outs, int number, int v)
{
    bool read = v < m->g->leaf_count;
    for (int k = 0; k < m->op_count && !read; k++)
        for (int j = 0; j < m->ops[k].arg_count; j++)
            read |= m->ops[k].args[j] == v;
    for (int k = 0; k < m->g->out_count && !read; k++)
        read = k != number && own(m, form_of(m, outs[k]->results[0])) == v;
    return read;
}

/* The op that makes a value writes it directly to the result array, unless it is read elsewhere. */
static void make_result(struct making *m, const struct step *const *outs, int number,
                        struct kern_fused_result *result)
{
    const int views = m->g->leaf_count;
    struct held *f = form_of(m, outs[number]->results[0]);
    int v = own(m, f);
    if (is_read(m, outs, number, v))
        v = emit_convert(m, f->type, f->type, f->rows, v);
    if (m->full)
        return;
    struct fuse_op *op = &m->ops[v - views];
    op->result = (int8_t)number;
    op->invariant = m->fixed[v] = false;
    /* a reduction determines itself when it is complete */
    op->late |= op->rows && op->kind != KERN_FUSED_REDUCE;
    *result = (struct kern_fused_result){.rows = f->rows, .width = dtype_bytes(f->type)};
}

/* ---- cost, in picoseconds per element ---- */

/* Of one f32 on one thread, from the nearest cache: exact enough to choose the number of threads.
 */
static int64_t cost_of_opcode(enum opcode op)
{
    switch (op) {
    case OP_DIVIDE:
    case OP_REMAINDER:
    case OP_SQRT: return 250;
    default: return op_is(op, OP_ELEMENTARY) ? 800 : 60;
    }
}

static int64_t cost_of_op(const struct fuse_op *op)
{
    if (op->rows && op->kind != KERN_FUSED_REDUCE)
        return 0;
    const int64_t cost = op->kind == KERN_FUSED_REDUCE   ? 150
                         : op->meaning.kind == TILE_INST ? cost_of_opcode(op->meaning.inst->opcode)
                                                         : 60;
    /* parts of complex numbers are separated, and products are four */
    return cost * ratio_up(op->width, 4) * (dtype_is_complex(op->meaning.to) ? 3 : 1);
}

static int64_t cost_of(const struct making *m)
{
    int64_t cost = 100;
    for (int k = 0; k < m->op_count; k++)
        cost += cost_of_op(&m->ops[k]);
    return cost;
}

/* Gives the step the operands and results of the group. Returns by result the instruction that
 * makes it. */
static const struct inst **set_values(struct making *m, const struct step *const *outs,
                                      struct step *to)
{
    struct arena *keep = &m->pl->p->arena;
    const int n = m->g->out_count;
    int *values = ARENA_ARRAY(keep, int, n);
    const struct shape **shapes = ARENA_ARRAY(keep, const struct shape *, n);
    const struct inst **makers = ARENA_ARRAY(keep, const struct inst *, n);
    for (int k = 0; k < n; k++) {
        values[k] = outs[k]->results[0];
        shapes[k] = outs[k]->shapes[0];
        makers[k] = outs[k]->inst;
    }
    to->results = values;
    to->shapes = shapes;
    to->unused = false; /* some of its results may be used */
    to->result_count = n;
    to->operands = ARENA_DUP(keep, m->g->leaves, m->g->leaf_count);
    to->operand_count = m->g->leaf_count;
    return makers;
}

bool fuse_make(struct planner *pl, const struct fuse_group *g, const struct fuse_leaf *leaves,
               const struct step *const *steps, const enum fuse_role *roles,
               const struct step *const *outs, struct step *to)
{
    struct arena *keep = &pl->p->arena;
    struct making *m = ARENA_NEW(&pl->scratch, struct making);
    struct kern_fused_result results[KERN_FUSED_RESULTS];
    m->pl = pl;
    m->g = g;
    add_leaves(m, leaves);
    make_ops(m, steps, roles);
    for (int k = g->out_count - 1; k >= 0 && !m->full; k--)
        make_result(m, outs, k, &results[k]);
    if (m->full)
        return false;
    enum dtype *types = ARENA_ARRAY(keep, enum dtype, g->leaf_count);
    for (int k = 0; k < g->leaf_count; k++)
        types[k] = leaves[k].type;
    struct kern_fused *fused = ARENA_NEW(keep, struct kern_fused);
    fuse_lower(pl, g->leaf_count, leaves, m->fixed, m->ops, m->op_count, fused, results);
    *fused = (struct kern_fused){.view_count = g->leaf_count,
                                 .tile_count = fused->tile_count,
                                 .op_count = fused->op_count,
                                 .ops = fused->ops,
                                 .result_count = g->out_count,
                                 .reducer_count = m->reducer_count,
                                 .rank = g->rank,
                                 .row_rank = g->row_rank,
                                 .dims = ARENA_DUP(keep, g->dims, g->rank),
                                 .reduced = ARENA_DUP(keep, g->reduced, g->rank),
                                 .lane_rank = kern_fused_lanes(g->rank, g->dims, g->reduced),
                                 .whole_rows = m->whole_rows,
                                 .single = fused->single,
                                 .untiled = fused->untiled,
                                 .width = m->width,
                                 .cost = cost_of(m),
                                 .results = ARENA_DUP(keep, results, g->out_count)};
    const struct inst **members = ARENA_ARRAY(keep, const struct inst *, g->steps);
    struct missed_hoist *missed = ARENA_ARRAY(keep, struct missed_hoist, g->steps);
    for (int k = 0; k < g->steps; k++) {
        members[k] = steps[k]->inst;
        missed[k] = steps[k]->missed ? *steps[k]->missed : (struct missed_hoist){0};
    }
    const struct inst **makers = set_values(m, outs, to);
    to->kind = STEP_FUSED;
    to->as.fused = (struct fused_step){
        .loop = fused, .types = types, .count = g->steps, .members = members, .makers = makers};
    to->missed = missed;
    return true;
}
