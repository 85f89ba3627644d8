/*
 * fuse_parts.c: concatenations of results of one fused loop, which then stores each result in its
 * part of the concatenation, and no arrays of them.
 *
 * Not where the runs of a part are shorter than a vector: interleaving them afterwards is faster.
 */
#include "plan/fuse.h"

enum { NONE = -1, VECTOR_BYTES = 32 };

struct parting {
    struct planner *pl;
    struct function *f;
    int *maker;    /* by value: the step that makes it, or NONE */
    int *reads;    /* by value: how often steps and the function's result read it */
    bool *dropped; /* by step: its result is a part of a fused loop's */
};

static bool is_long_enough(const struct step *s, int64_t d)
{
    for (int j = 0; j < s->operand_count; j++) {
        const struct shape *x = s->inst->operands[j]->shape;
        const int64_t run = dims_elements(x->rank - (int)d, x->dims + d);
        if (run * (int64_t)dtype_bytes(x->dtype) < VECTOR_BYTES)
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

/* The result of the loop that is this value of its step, or NONE. */
static int find_result(const struct step *loop, int value)
{
    const struct fused_step *fused = &loop->as.fused;
    for (int k = 0; k < fused->loop->result_count; k++) {
        const int r = fused->parts ? fused->parts[k].result : k;
        if (loop->results[r] == value && (!fused->parts || fused->parts[k].dimension < 0))
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

static void store_in_parts(const struct parting *p, int c, int loop, const int *results)
{
    struct step *to = &p->f->steps[loop];
    const struct step *s = &p->f->steps[c];
    const int n = to->as.fused.loop->result_count;
    const int d = (int)inst_ints(s->inst, A_DIMENSIONS).at[0];
    struct fused_part *parts = ARENA_ARRAY(&p->pl->p->arena, struct fused_part, n);
    for (int k = 0; k < n; k++)
        parts[k] = to->as.fused.parts ? to->as.fused.parts[k] : (struct fused_part){k, -1, 0, 0};
    int64_t at = 0;
    for (int j = 0; j < s->operand_count; j++) {
        const int64_t size = s->inst->operands[j]->shape->dims[d];
        parts[results[j]] = (struct fused_part){NONE, d, at, size};
        at += size;
        add_aliases(p, to, s->operands[j]);
    }
    add_member(p, to, c);
    replace_results(p, to, s, parts);
    p->maker[s->results[0]] = loop;
}

void fuse_parts(struct planner *pl, struct function *f, int value_count, struct leaves results)
{
    struct arena *a = &pl->scratch;
    const struct parting p = {pl, f, ARENA_ARRAY(a, int, value_count),
                              ARENA_ARRAY(a, int, value_count),
                              ARENA_ARRAY(a, bool, f->step_count)};
    int at[KERN_FUSED_RESULTS], count = 0;
    for (int v = 0; v < value_count; v++)
        p.maker[v] = NONE;
    for (int k = 0; k < f->step_count; k++) {
        const struct step *s = &f->steps[k];
        for (int j = 0; j < s->operand_count; j++)
            if (s->operands[j] >= 0)
                p.reads[s->operands[j]]++;
        for (int r = 0; r < s->result_count; r++)
            if (s->results[r] >= 0)
                p.maker[s->results[r]] = k;
    }
    for (int j = 0; j < results.count; j++)
        if (results.at[j] >= 0)
            p.reads[results.at[j]]++;
    for (int c = 0; c < f->step_count; c++) {
        const int loop = find_loop(&p, c, at);
        if (loop != NONE)
            store_in_parts(&p, c, loop, at);
    }
    for (int k = 0; k < f->step_count; k++)
        if (!p.dropped[k])
            f->steps[count++] = f->steps[k];
    f->step_count = count;
}
