/*
 * fuse_parts.c: fused loops that store results where the steps after them would copy these: in
 * parts of a concatenation, or in windows of arrays that are updated.
 *
 * Not where the runs of a part are shorter than a vector: interleaving them afterwards is faster.
 */
#include "plan/fuse.h"

enum { NONE = -1, VECTOR_BYTES = 32 };

struct parting {
    struct planner *pl;
    struct function *f;
    int value_count;
    int *maker;    /* by value: the step that makes it, or NONE */
    int *reads;    /* by value: how often steps and the function's result read it */
    int *last;     /* by value: the last step that reads it, or NONE */
    bool *dropped; /* by step: its result is a part of a fused loop's */
};

static bool is_long(int64_t run, enum dtype t)
{
    return run * (int64_t)dtype_bytes(t) >= VECTOR_BYTES;
}

static bool is_long_enough(const struct step *s, int64_t d)
{
    for (int j = 0; j < s->operand_count; j++) {
        const struct shape *x = s->inst->operands[j]->shape;
        if (!is_long(dims_elements(x->rank - (int)d, x->dims + d), x->dtype))
            return false;
    }
    return true;
}

/* Whether step k only adds or drops dimensions of size 1, for its only reader. */
static bool is_alias(const struct parting *p, int k)
{
    const struct step *s = &p->f->steps[k];
    return !step_fused(s) && s->inst->opcode == OP_RESHAPE && s->result_count == 1 &&
           s->operands[0] >= 0 && s->hoist == HOIST_NOT &&
           fuse_same_dims(s->inst->shape, s->inst->operands[0]->shape);
}

/* The value of which `value`, read once, is an alias, or NONE if it is read elsewhere too. */
static int find_source(const struct parting *p, int value)
{
    while (value >= 0 && p->reads[value] == 1 && p->maker[value] != NONE &&
           is_alias(p, p->maker[value]))
        value = p->f->steps[p->maker[value]].operands[0];
    return value >= 0 && p->reads[value] == 1 ? value : NONE;
}

static bool is_whole(const struct fused_part *p) { return p->dimension < 0 && !p->window; }

/* The result of the loop that is this value of its step, or NONE. */
static int find_result(const struct step *loop, int value)
{
    const struct fused_step *fused = &loop->as.fused;
    for (int k = 0; k < fused->loop->result_count; k++) {
        const int r = fused->parts ? fused->parts[k].result : k;
        if (loop->results[r] == value && (!fused->parts || is_whole(&fused->parts[k])))
            return fused->loop->results[k].rows ? NONE : k;
    }
    return NONE;
}

/* The fused loop that makes all operands of concatenation c, or NONE; the numbers of these among
 * the loop's results. */
static int find_loop(const struct parting *p, int c, int *results)
{
    const struct step *s = &p->f->steps[c];
    int loop = NONE;
    if (s->inst->opcode != OP_CONCATENATE || step_pieces(s) || s->hoist != HOIST_NOT ||
        s->result_count != 1 || s->results[0] == NO_VALUE || s->operand_count < 2 ||
        s->operand_count > KERN_FUSED_RESULTS || s->operand_count != s->inst->operand_count ||
        s->shapes[0]->rank > VIEW_MAX_RANK ||
        !is_long_enough(s, inst_ints(s->inst, A_DIMENSIONS).at[0]))
        return NONE;
    for (int j = 0; j < s->operand_count; j++) {
        const int v = find_source(p, s->operands[j]), by = v == NONE ? NONE : p->maker[v];
        if (by == NONE || (j > 0 && by != loop) || !step_fused(&p->f->steps[by]) ||
            p->f->steps[by].hoist != HOIST_NOT ||
            s->inst->operands[j]->shape->dtype != s->shapes[0]->dtype)
            return NONE;
        loop = by;
        results[j] = find_result(&p->f->steps[by], v);
        if (results[j] == NONE)
            return NONE;
    }
    return loop;
}

/* Gives the loop's step the concatenation in place of the parts. */
static void replace_results(const struct parting *p, struct step *to, const struct step *s,
                            struct fused_part *parts)
{
    struct arena *keep = &p->pl->p->arena;
    const int parts_count = to->as.fused.loop->result_count;
    int *values = ARENA_ARRAY(keep, int, to->result_count), count = 0;
    const struct shape **shapes = ARENA_ARRAY(keep, const struct shape *, to->result_count);
    const struct inst **makers = ARENA_ARRAY(keep, const struct inst *, to->result_count);
    int *number = ARENA_ARRAY(&p->pl->scratch, int, to->result_count);
    for (int r = 0; r < to->result_count; r++)
        number[r] = NONE;
    for (int k = 0; k < parts_count; k++) {
        const int r = parts[k].result;
        if (r == NONE || number[r] != NONE)
            continue;
        number[r] = count;
        values[count] = to->results[r];
        shapes[count] = to->shapes[r];
        makers[count++] = to->as.fused.makers[r];
    }
    for (int k = 0; k < parts_count; k++)
        parts[k].result = parts[k].result == NONE ? count : number[parts[k].result];
    values[count] = s->results[0];
    shapes[count] = s->shapes[0];
    makers[count++] = s->inst;
    to->results = values;
    to->shapes = shapes;
    to->result_count = count;
    to->as.fused.makers = makers;
    to->as.fused.parts = parts;
}

/* Adds step k to the members of a loop. */
static void add_member(const struct parting *p, struct step *to, int k)
{
    struct arena *keep = &p->pl->p->arena;
    const struct step *s = &p->f->steps[k];
    const int n = to->as.fused.count++;
    const struct inst **members = ARENA_ARRAY(keep, const struct inst *, n + 1);
    struct missed_hoist *missed = ARENA_ARRAY(keep, struct missed_hoist, n + 1);
    memcpy(members, to->as.fused.members, (size_t)n * sizeof *members);
    memcpy(missed, to->missed, (size_t)n * sizeof *missed);
    members[n] = s->inst;
    missed[n] = s->missed ? *s->missed : (struct missed_hoist){0};
    to->as.fused.members = members;
    to->missed = missed;
    p->dropped[k] = true;
}

static void add_aliases(const struct parting *p, struct step *to, int value)
{
    for (int k; (k = p->maker[value]) != NONE && is_alias(p, k); value = p->f->steps[k].operands[0])
        add_member(p, to, k);
}

/* The places of a loop's results so far. */
static struct fused_part *parts_of(const struct parting *p, const struct step *loop)
{
    const int n = loop->as.fused.loop->result_count;
    struct fused_part *parts = ARENA_ARRAY(&p->pl->p->arena, struct fused_part, n);
    for (int k = 0; k < n; k++)
        parts[k] = loop->as.fused.parts ? loop->as.fused.parts[k]
                                        : (struct fused_part){.result = k, .dimension = -1};
    return parts;
}

static void store_in_parts(const struct parting *p, int c, int loop, const int *results)
{
    struct step *to = &p->f->steps[loop];
    const struct step *s = &p->f->steps[c];
    const int d = (int)inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct fused_part *parts = parts_of(p, to);
    int64_t at = 0;
    for (int j = 0; j < s->operand_count; j++) {
        const int64_t size = s->inst->operands[j]->shape->dims[d];
        parts[results[j]] =
            (struct fused_part){.result = NONE, .dimension = d, .at = at, .size = size};
        at += size;
        add_aliases(p, to, s->operands[j]);
    }
    add_member(p, to, c);
    replace_results(p, to, s, parts);
    p->maker[s->results[0]] = loop;
}

/* ---- windows ---- */

enum { ARRAY, UPDATE, START }; /* operands of dynamic-update-slice */

/* A dynamic-update-slice of a result of a fused loop. */
struct update {
    const struct step *s;
    int at, loop; /* the two steps */
    int result;   /* of the loop */
    /* the step that takes the same window of the array for operand `leaf` of the loop; NONE: the
     * loop does not read it */
    int read, leaf;
};

/* Whether the results of the step have storage of their own. */
static bool stores_results(const struct step *s)
{
    return s->kind == STEP_FUSED || s->kind == STEP_TILE || s->inst->opcode == OP_DOT ||
           s->inst->opcode == OP_REDUCE;
}

/* The value whose storage the value may share, as a slice does. */
static int storage_of(const struct parting *p, int value)
{
    while (value >= 0 && p->maker[value] != NONE) {
        const struct step *s = &p->f->steps[p->maker[value]];
        if (stores_results(s) || !op_is(s->inst->opcode, OP_VIEW) || s->operands[0] < 0)
            break;
        value = s->operands[0];
    }
    return value;
}

/* Whether something may read the storage of the array in the loop or after it, besides the update
 * and the step that takes the window. */
static bool is_read_later(const struct parting *p, const struct update *u, struct leaves results)
{
    struct arena *scratch = &p->pl->scratch;
    const struct arena_mark mark = arena_mark(scratch);
    const int array = storage_of(p, u->s->operands[ARRAY]);
    bool *shares = ARENA_ARRAY(scratch, bool, p->value_count), later = false;
    shares[array] = true;
    for (int k = p->maker[array] + 1, last = p->last[array]; k <= last && !later; k++) {
        const struct step *s = &p->f->steps[k];
        bool reads = false;
        for (int j = 0; j < s->operand_count; j++)
            reads |= s->operands[j] >= 0 && shares[s->operands[j]];
        if (!reads || p->dropped[k] || k == u->at || k == u->read)
            continue;
        later = k >= u->loop;
        for (int r = 0; r < s->result_count && !stores_results(s); r++)
            if (s->results[r] >= 0) {
                shares[s->results[r]] = true;
                last = last > p->last[s->results[r]] ? last : p->last[s->results[r]];
            }
    }
    for (int j = 0; j < results.count; j++)
        later |= results.at[j] >= 0 && shares[results.at[j]];
    arena_release(scratch, mark);
    return later;
}

/* Whether start index d of the update is this constant. */
static bool starts_at(const struct parting *p, const struct step *update, int d, int64_t start)
{
    const int operand = update->operands[START + d];
    if (operand >= 0 || operand == NO_VALUE)
        return false;
    const struct view *v = &p->pl->p->constants[~operand];
    return v->rank == 0 && kern_load_index(v->dtype, v->data) == start;
}

/* Whether the step takes the window of the array that is updated. */
static bool takes_window(const struct parting *p, const struct step *s, const struct step *update)
{
    const struct shape *x = update->inst->operands[UPDATE]->shape;
    if (s->operand_count < 1 || s->operands[0] != update->operands[ARRAY] ||
        update->operand_count != START + x->rank || !same_elements(s->shapes[0], x) ||
        (s->inst->opcode != OP_SLICE && s->inst->opcode != OP_DYNAMIC_SLICE))
        return false;
    bool same = s->inst->opcode == OP_SLICE || s->operand_count == 1 + x->rank;
    for (int d = 0; d < x->rank && same; d++) {
        if (s->inst->opcode == OP_SLICE) {
            const struct slice_dim *dim = &inst_attr(s->inst, A_SLICE)->v.slices.dims[d];
            same = dim->stride == 1 && starts_at(p, update, d, dim->start);
        } else {
            same = s->operands[1 + d] == update->operands[START + d];
        }
    }
    return same;
}

/* Finds the operand of the loop that is the window, if the loop reads each element before it stores
 * the new one, and nothing else reads it. */
static void find_window_read(const struct parting *p, struct update *u)
{
    const struct step *loop = &p->f->steps[u->loop];
    u->read = u->leaf = NONE;
    for (int j = 0; j < loop->as.fused.loop->view_count; j++) {
        const int v = loop->operands[j], by = v >= 0 ? p->maker[v] : NONE;
        if (by != NONE && p->reads[v] == 1 && p->f->steps[by].hoist == HOIST_NOT &&
            loop->as.fused.loop->results[u->result].over >> j & 1 &&
            takes_window(p, &p->f->steps[by], u->s)) {
            u->read = by;
            u->leaf = j;
            return;
        }
    }
}

static bool is_made_before(const struct parting *p, int value, int step)
{
    return value != NO_VALUE && (value < 0 || p->maker[value] < step);
}

static bool find_update(const struct parting *p, int at, struct leaves results, struct update *u)
{
    const struct step *s = &p->f->steps[at];
    if (s->inst->opcode != OP_DYNAMIC_UPDATE_SLICE || p->pl->p->dynamic || s->hoist != HOIST_NOT ||
        s->result_count != 1 || s->results[0] == NO_VALUE || s->operand_count < START)
        return false;
    const struct shape *x = s->inst->operands[ARRAY]->shape, *y = s->inst->operands[UPDATE]->shape;
    const int v = find_source(p, s->operands[UPDATE]);
    *u = (struct update){.s = s, .at = at, .loop = v < 0 ? NONE : p->maker[v]};
    if (u->loop == NONE || s->operands[ARRAY] < 0 || x->rank == 0 || x->rank > VIEW_MAX_RANK ||
        x->dtype != y->dtype || !is_long(y->dims[x->rank - 1], x->dtype))
        return false;
    const struct step *loop = &p->f->steps[u->loop];
    if (!step_fused(loop) || loop->hoist != HOIST_NOT)
        return false;
    for (int j = 0; j < s->operand_count; j++)
        if (j != UPDATE && !is_made_before(p, s->operands[j], u->loop))
            return false;
    u->result = find_result(loop, v);
    if (u->result == NONE)
        return false;
    find_window_read(p, u);
    return !is_read_later(p, u, results);
}

/* The loop's step gets the operands of the update. */
static void store_in_window(const struct parting *p, const struct update *u)
{
    struct arena *keep = &p->pl->p->arena;
    struct step *to = &p->f->steps[u->loop];
    const struct step *s = u->s;
    int *operands = ARENA_ARRAY(keep, int, to->operand_count + s->operand_count);
    int count = to->operand_count;
    struct fused_part *parts = parts_of(p, to);
    memcpy(operands, to->operands, (size_t)count * sizeof *operands);
    const int array = u->leaf == NONE ? count++ : u->leaf;
    operands[array] = s->operands[ARRAY];
    parts[u->result] = (struct fused_part){.result = NONE,
                                           .dimension = -1,
                                           .window = s->inst->operands[UPDATE]->shape->dims,
                                           .array = array,
                                           .start = count};
    for (int j = START; j < s->operand_count; j++)
        operands[count++] = s->operands[j];
    to->operands = operands;
    to->operand_count = count;
    if (u->read != NONE)
        add_member(p, to, u->read);
    add_aliases(p, to, s->operands[UPDATE]);
    add_member(p, to, u->at);
    replace_results(p, to, s, parts);
    p->maker[s->results[0]] = u->loop;
}

void fuse_parts(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    struct arena *a = &pl->scratch;
    const struct parting p = {pl,
                              f,
                              value_count,
                              ARENA_ARRAY(a, int, value_count),
                              ARENA_ARRAY(a, int, value_count),
                              ARENA_ARRAY(a, int, value_count),
                              ARENA_ARRAY(a, bool, f->step_count)};
    int at[KERN_FUSED_RESULTS], count = 0;
    for (int v = 0; v < value_count; v++)
        p.maker[v] = p.last[v] = NONE;
    for (int k = 0; k < f->step_count; k++) {
        const struct step *s = &f->steps[k];
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0) {
                p.reads[s->operands[j]]++;
                p.last[s->operands[j]] = k;
            }
        for (int r = 0; r < s->result_count; r++)
            if (s->results[r] >= 0)
                p.maker[s->results[r]] = k;
    }
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            p.reads[results.at[j]]++;
    for (int c = 0; c < f->step_count; c++) {
        const int loop = find_loop(&p, c, at);
        struct update u;
        if (loop != NONE)
            store_in_parts(&p, c, loop, at);
        else if (find_update(&p, c, results, &u))
            store_in_window(&p, &u);
    }
    for (int k = 0; k < f->step_count; k++)
        if (!p.dropped[k])
            f->steps[count++] = f->steps[k];
    f->step_count = count;
}
