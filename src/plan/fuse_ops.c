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
    bool rows, rounded; /* `rounded`: its wide form was rounded, so that any NaN has become the
                           type's own NaN */
    int own, wide;
    struct held *source; /* NULL, or a value held narrow whose wide form is this value */
    /* NULL, or a row value, each of whose elements fills a row of this one */
    struct held *repeats;
};

struct making {
    struct planner *pl;
    const struct fuse_group *g;
    const struct step *const *steps;
    struct held forms[MAX_VALUES];
    int form_count;
    struct fuse_op ops[KERN_FUSED_OPS];
    int op_count, reducer_count;
    bool full;  /* more ops than KERN_FUSED_OPS */
    bool lanes; /* row values are vectors of lanes */
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

static int emit_convert(struct making *m, kern_tile_fn *fn, enum dtype to, enum dtype from,
                        bool rows, int arg)
{
    const struct tile_meaning meaning = {TILE_CONVERT, NULL, from, to, DT_INVALID};
    return emit_apply(m, fn ? fn : m->pl->tiles->convert(to, from), meaning, rows, 1, &arg);
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
        f->own = emit_convert(m, f->rounded ? m->pl->tiles->shorten(f->type) : NULL, f->type,
                              DT_F32, f->rows, f->wide);
    }
    return f->own;
}

static int wide(struct making *m, struct held *f)
{
    if (f->wide == NONE && f->repeats)
        f->wide = emit_repeat(m, wide(m, f->repeats), DT_F32);
    else if (f->wide == NONE)
        f->wide = emit_convert(m, NULL, DT_F32, f->type, f->rows, f->own);
    return f->wide;
}

/* ---- elementwise steps ---- */

static int gather_args(struct making *m, const struct step *s, int *args, bool as_wide)
{
    for (int k = 0; k < s->operand_count; k++) {
        struct held *f = form_of(m, s->operands[k]);
        args[k] = as_wide && fuse_operand_type(s, k) == s->tile_type ? wide(m, f) : own(m, f);
    }
    return s->operand_count;
}

/* A conversion that changes no bits: between f32 and a type that is held as f32, or between two
 * such types. */
static bool rename_form(struct making *m, const struct step *s, bool rows)
{
    struct held *x = form_of(m, s->operands[0]);
    const enum dtype from = s->tile_type, to = s->tile_result;
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
        add_form(m, s->results[0], to, rows, x->own, v)->rounded = x->rounded;
    }
    return true;
}

static bool is_arithmetic(const struct step *s, enum dtype t)
{
    const enum opcode op = s->inst->opcode;
    return s->operand_count == 2 && s->tile_type == t && s->tile_result == t &&
           (op == OP_ADD || op == OP_DIVIDE || op == OP_MULTIPLY || op == OP_SUBTRACT);
}

/* Whether all readers in the group can use this value in its narrow form. */
static bool is_read_narrow(const struct making *m, int value, enum dtype t)
{
    for (int k = 0; k < m->g->steps; k++) {
        const struct step *s = m->steps[k];
        const enum opcode op = s->inst->opcode;
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] == value && op != OP_CONVERT && op != OP_REDUCE &&
                op != OP_RESHAPE && !is_arithmetic(s, t))
                return false;
    }
    return true;
}

/* Whether an operation can read its operands from tiles. One operand may be a single element, of
 * the whole array or of each row. */
static bool make_direct(struct making *m, const struct step *s, bool rows)
{
    unsigned single = 0, by_row = 0;
    int args[2];
    if (rows || !is_arithmetic(s, s->tile_type) ||
        !m->pl->tiles->direct(op_spelling(s->inst->opcode), s->tile_type, 0) ||
        !is_read_narrow(m, s->results[0], s->tile_type))
        return false;
    for (unsigned k = 0; k < 2; k++) {
        struct held *f = form_of(m, s->operands[k]);
        if (f->own == NONE && (!f->repeats || m->lanes))
            return false;
        by_row |= f->own == NONE ? 1u << k : 0;
        single |= f->own == NONE || m->fixed[f->own] ? 1u << k : 0;
    }
    kern_tile_fn *fn = m->pl->tiles->direct(op_spelling(s->inst->opcode), s->tile_type, single);
    if (!fn)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        struct held *f = form_of(m, s->operands[k]);
        args[k] = own(m, by_row >> k & 1 ? f->repeats : f);
    }
    const struct tile_meaning meaning = {TILE_INST, s->inst, s->tile_type, s->tile_type,
                                         DT_INVALID};
    const int out = emit(m,
                         (struct fuse_op){.fn = fn,
                                          .kind = KERN_FUSED_APPLY,
                                          .meaning = meaning,
                                          .by_row = (uint8_t)by_row,
                                          .arg_count = 2},
                         args, dtype_bytes(s->tile_type));
    add_form(m, s->results[0], s->tile_result, rows, out, NONE);
    return true;
}

static void make_apply(struct making *m, const struct step *s, bool rows)
{
    const struct inst *i = s->inst;
    int args[KERN_MAX_ARGS];
    const bool to_wide = is_held_wide(s->tile_result), from_wide = is_held_wide(s->tile_type);
    kern_tile_fn *fn = NULL;
    if (rename_form(m, s, rows) || make_direct(m, s, rows))
        return;
    if (from_wide)
        fn = plan_tile_of(m->pl, i, DT_F32);
    if (i->opcode == OP_CONVERT && to_wide && (s->tile_type == DT_F32 || from_wide))
        fn = m->pl->tiles->rounded(NULL, s->tile_result);
    if (fn) { /* on f32 throughout */
        const int n = gather_args(m, s, args, from_wide);
        kern_tile_fn *rounded =
            to_wide ? m->pl->tiles->rounded(op_spelling(i->opcode), s->tile_result) : NULL;
        const struct tile_meaning meaning = {
            i->opcode == OP_CONVERT && to_wide ? TILE_ROUND : TILE_INST, i,
            from_wide ? DT_F32 : s->tile_type, to_wide ? DT_F32 : s->tile_result,
            rounded || (i->opcode == OP_CONVERT && to_wide) ? s->tile_result : DT_INVALID};
        int out = emit_apply(m, rounded ? rounded : fn, meaning, rows, n, args);
        if (to_wide && !rounded && i->opcode != OP_CONVERT && !op_is(i->opcode, OP_EXACT))
            out = emit_round(m, s->tile_result, rows, out);
        struct held *made = add_form(m, s->results[0], s->tile_result, rows, to_wide ? NONE : out,
                                     to_wide ? out : NONE);
        made->rounded = to_wide && !(i->opcode != OP_CONVERT && op_is(i->opcode, OP_EXACT));
        return;
    }
    const struct tile_meaning meaning = {TILE_INST, i, s->tile_type, s->tile_result, DT_INVALID};
    const int n = gather_args(m, s, args, false);
    add_form(m, s->results[0], s->tile_result, rows, emit_apply(m, s->tile, meaning, rows, n, args),
             NONE);
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

/* Sums of bf16 read narrow numbers directly. */
static bool sums_narrow(const struct held *x, const struct body *body)
{
    return x->type == DT_BF16 && x->own != NONE && x->wide == NONE && body->combine == KERN_ADD &&
           (body->args[0] == DT_F32 || body->args[0] == DT_F64);
}

static struct held *reduce_operand(struct held *x, const struct body *body)
{
    return x->own == NONE && x->source && sums_narrow(x->source, body) ? x->source : x;
}

static void make_reduce(struct making *m, const struct step *s)
{
    if (m->reducer_count == KERN_FUSED_REDUCERS) {
        m->full = true;
        return;
    }
    const struct body *body = s->bodies;
    struct held *x = reduce_operand(form_of(m, s->operands[0]), body);
    const bool as_wide = is_held_wide(x->type) && !sums_narrow(x, body);
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
}

/* ---- sums of squares: one op, which does not store the squares ---- */

static void remove_op(struct making *m, int at)
{
    const int views = m->g->leaf_count;
    const size_t rest = (size_t)(--m->op_count - at);
    memmove(&m->ops[at], &m->ops[at + 1], rest * sizeof *m->ops);
    memmove(&m->late[views + at], &m->late[views + at + 1], rest * sizeof *m->late);
    memmove(&m->fixed[views + at], &m->fixed[views + at + 1], rest * sizeof *m->fixed);
    for (int k = at; k < m->op_count; k++)
        for (int j = 0; j < m->ops[k].arg_count; j++)
            m->ops[k].args[j] -= m->ops[k].args[j] > views + at;
}

static int count_readers(const struct making *m, int value)
{
    int n = 0;
    for (int k = 0; k < m->op_count; k++)
        for (int j = 0; j < m->ops[k].arg_count; j++)
            n += m->ops[k].args[j] == value;
    return n;
}

/* The op that makes the squares, if the reduction is its only reader; else -1. */
static int find_squares(const struct making *m, const struct fuse_op *op)
{
    const int at = op->kind == KERN_FUSED_REDUCE ? op->args[0] - m->g->leaf_count : -1;
    if (at < 0 || op->reducer->x != DT_BF16 || op->reducer->combine != KERN_ADD || m->lanes)
        return -1;
    int64_t columns = 1;
    for (int d = 0; d < m->g->rank; d++)
        columns *= m->g->reduced[d] ? m->g->dims[d] : 1;
    const struct fuse_op *by = &m->ops[at];
    kern_tile_fn *multiply = m->pl->tiles->direct("multiply", DT_BF16, 0);
    return multiply && by->fn == multiply && by->args[0] == by->args[1] && !by->invariant &&
                   by->result < 0 && columns >= KERN_SQUARES_FROM &&
                   count_readers(m, op->args[0]) == 1
               ? at
               : -1;
}

static void sum_squares(struct making *m)
{
    for (int k = 0; k < m->op_count; k++) {
        const int at = find_squares(m, &m->ops[k]);
        if (at < 0)
            continue;
        struct kern_reducer *reducer = ARENA_DUP(&m->pl->p->arena, m->ops[k].reducer, 1);
        reducer->squares = true;
        m->ops[k].reducer = reducer;
        m->ops[k].args[0] = m->ops[at].args[0];
        remove_op(m, at);
        k--;
    }
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

/* The op that makes a value writes it directly to the result array, unless other ops read it or it
 * is a leaf. */
static void make_result(struct making *m, const struct step *s, int number,
                        struct kern_fused_result *result)
{
    const int views = m->g->leaf_count;
    struct held *f = form_of(m, s->results[0]);
    int v = own(m, f);
    bool read = v < views;
    for (int k = 0; k < m->op_count && !read; k++)
        for (int j = 0; j < m->ops[k].arg_count; j++)
            read |= m->ops[k].args[j] == v;
    if (read)
        v = emit_convert(m, NULL, f->type, f->type, f->rows, v);
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
    case OP_ACOS:
    case OP_ACOSH:
    case OP_ASIN:
    case OP_ASINH:
    case OP_ATAN2:
    case OP_ATANH:
    case OP_CBRT:
    case OP_COSH:
    case OP_COSINE:
    case OP_ERF:
    case OP_EXPONENTIAL:
    case OP_EXPONENTIAL_MINUS_ONE:
    case OP_LOG:
    case OP_LOG_PLUS_ONE:
    case OP_LOGISTIC:
    case OP_POWER:
    case OP_RSQRT:
    case OP_SINE:
    case OP_SINH:
    case OP_TAN:
    case OP_TANH: return 800;
    default: return 60;
    }
}

static int64_t cost_of_op(const struct fuse_op *op)
{
    if (op->rows && op->kind != KERN_FUSED_REDUCE)
        return 0;
    const int64_t cost = op->kind == KERN_FUSED_REDUCE   ? 150
                         : op->meaning.kind == TILE_INST ? cost_of_opcode(op->meaning.inst->opcode)
                                                         : 60;
    return cost * ratio_up(op->width, 4);
}

static int64_t cost_of(const struct making *m)
{
    int64_t cost = 100;
    for (int k = 0; k < m->op_count; k++)
        cost += cost_of_op(&m->ops[k]);
    return cost;
}

/* Gives the step the operands and results of the group. */
static void set_values(struct making *m, const struct step *const *outs, struct step *to)
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
    to->makers = makers;
    to->unused = false; /* some of its results may be used */
    to->result_count = n;
    to->operands = ARENA_DUP(keep, m->g->leaves, m->g->leaf_count);
    to->operand_count = m->g->leaf_count;
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
    m->steps = steps;
    m->lanes = kern_fused_lanes(g->rank, g->dims, g->reduced) > 0;
    add_leaves(m, leaves);
    make_ops(m, steps, roles);
    for (int k = g->out_count - 1; k >= 0 && !m->full; k--)
        make_result(m, outs[k], k, &results[k]);
    if (m->full)
        return false;
    sum_squares(m);
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
    set_values(m, outs, to);
    to->fused = fused;
    to->fused_types = types;
    to->fused_steps = g->steps;
    to->members = members;
    to->missed = missed;
    return true;
}
