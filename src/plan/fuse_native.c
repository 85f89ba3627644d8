/*
 * fuse_native.c: lowers the ops of a fused loop. Elementwise ops whose operations have lane
 * instructions (jit.h) become machine code, as many at a time as the order of the others allows:
 * their values stay in registers. Values that remain share tiles when their live ranges do not
 * overlap.
 */
#include "plan/fuse.h"

#include "jit/jit.h"

#include <limits.h>

enum { MAX_VALUES = KERN_FUSED_VIEWS + KERN_FUSED_OPS };

/* An op as it will be: one of the loop's, or the machine code of several. */
struct lowered {
    int first, count;       /* its ops, in `order` */
    kern_native_fn *native; /* NULL: the only op is run as it is */
    kern_native_fn *of_row; /* as in kern_fused_op */
    int arg_count, out_count;
    int *args, *outs; /* values */
};

struct lowering {
    struct planner *pl;
    struct jit_memory *code; /* NULL: no machine code */
    int leaf_count, op_count;
    const struct fuse_leaf *leaves;
    const bool *fixed;
    bool single[MAX_VALUES];  /* by value: blocks of one row read one element of it */
    bool untiled[MAX_VALUES]; /* by value: one element, of which no op reads a tile */
    const struct fuse_op *ops;
    int order[KERN_FUSED_OPS];      /* ops, by stage */
    int stages[KERN_FUSED_OPS];     /* a multiple of CLASSES plus the class of the op */
    int lowered_by[KERN_FUSED_OPS]; /* by op */
    struct lowered lowered[KERN_FUSED_OPS];
    int lowered_count;
    int tiles[MAX_VALUES]; /* by value: a tile or result of kern_fused */
};

/* ---- stages: ops that are machine code, and others, in turn ---- */

/* Machine code is for elements, for row values, or for row values after all reductions. */
enum { OF_ELEMENTS, OF_ROWS, OF_LATE_ROWS, OTHERS, CLASSES };

/* The element that a leaf repeats, if it is known: part of the code of operations. */
static const char *immediate(const struct lowering *z, int value)
{
    return value < z->leaf_count && z->fixed[value] ? z->leaves[value].constant : NULL;
}

static bool is_native(struct lowering *z, const struct fuse_op *op)
{
    const char *constants[KERN_MAX_ARGS];
    for (int k = 0; k < op->arg_count; k++)
        constants[k] = immediate(z, op->args[k]);
    return z->code && op->kind == KERN_FUSED_APPLY && !op->invariant &&
           plan_lanes(&z->pl->scratch, &op->meaning, constants,
                      (struct jit_target){.complex = true}) > 0;
}

static int class_of(struct lowering *z, const struct fuse_op *op)
{
    return !is_native(z, op) ? OTHERS : !op->rows ? OF_ELEMENTS : op->late ? OF_LATE_ROWS : OF_ROWS;
}

static bool is_machine_code(const struct lowering *z, int op)
{
    return z->stages[op] % CLASSES != OTHERS;
}

/* The first stage of the class that is not before this one. */
static int stage_from(int stage, int class)
{
    return stage + (class - stage % CLASSES + CLASSES) % CLASSES;
}

/* Loop-invariant ops run before all stages. */
static void set_stages(struct lowering *z)
{
    for (int k = 0; k < z->op_count; k++) {
        const struct fuse_op *op = &z->ops[k];
        const int class = class_of(z, op);
        z->stages[k] = class;
        for (int j = 0; j < op->arg_count; j++) {
            const int by = op->args[j] - z->leaf_count;
            const bool ready = by < 0 || z->ops[by].invariant;
            const int after = ready ? 0 : stage_from(z->stages[by], class);
            if (after > z->stages[k])
                z->stages[k] = after;
        }
    }
}

static bool is_of_leaf(const struct lowering *z, const struct fuse_op *op)
{
    return op->arg_count == 1 && op->args[0] < z->leaf_count && op->result < 0 && !op->invariant;
}

/* An op of machine code that reads only a leaf is moved to the stage of its first reader: its value
 * would need a tile until then. */
static void delay(struct lowering *z)
{
    for (int k = 0; k < z->op_count; k++) {
        int first = INT_MAX;
        for (int r = k + 1; r < z->op_count; r++)
            for (int j = 0; j < z->ops[r].arg_count; j++)
                if (z->ops[r].args[j] == z->leaf_count + k && z->stages[r] < first)
                    first = z->stages[r];
        if (is_of_leaf(z, &z->ops[k]) && is_machine_code(z, k) && first < INT_MAX)
            z->stages[k] += (first - z->stages[k]) / CLASSES * CLASSES;
    }
}

static void sort_by_stage(struct lowering *z)
{
    int count = 0;
    for (int stage = 0; count < z->op_count; stage++)
        for (int k = 0; k < z->op_count; k++)
            if (z->stages[k] == stage)
                z->order[count++] = k;
}

static void group(struct lowering *z)
{
    for (int at = 0; at < z->op_count;) {
        int stage = z->stages[z->order[at]], end = at + 1;
        while (is_machine_code(z, z->order[at]) && end < z->op_count &&
               z->stages[z->order[end]] == stage)
            end++;
        for (int k = at; k < end; k++)
            z->lowered_by[z->order[k]] = z->lowered_count;
        z->lowered[z->lowered_count++] = (struct lowered){.first = at, .count = end - at};
        at = end;
    }
}

/* ---- operands and results ---- */

static void add_value(int *values, int *count, int value)
{
    for (int k = 0; k < *count; k++)
        if (values[k] == value)
            return;
    values[(*count)++] = value;
}

static bool is_read_elsewhere(const struct lowering *z, int op)
{
    for (int k = 0; k < z->op_count; k++)
        for (int j = 0; j < z->ops[k].arg_count; j++)
            if (z->ops[k].args[j] == z->leaf_count + op && z->lowered_by[k] != z->lowered_by[op])
                return true;
    return false;
}

/* One op has its operands as they are, machine code each of them once. */
static void find_values(struct lowering *z, int number)
{
    struct lowered *l = &z->lowered[number];
    struct arena *keep = &z->pl->scratch;
    l->args = ARENA_ARRAY(keep, int, l->count *KERN_MAX_ARGS);
    l->outs = ARENA_ARRAY(keep, int, l->count);
    for (int k = l->first; k < l->first + l->count; k++) {
        const struct fuse_op *op = &z->ops[z->order[k]];
        for (int j = 0; j < op->arg_count; j++) {
            int by = op->args[j] - z->leaf_count;
            if (l->count == 1)
                l->args[l->arg_count++] = op->args[j];
            else if (by < 0 ? !immediate(z, op->args[j]) : z->lowered_by[by] != number)
                add_value(l->args, &l->arg_count, op->args[j]);
        }
        if (l->count == 1 || op->result >= 0 || is_read_elsewhere(z, z->order[k]))
            l->outs[l->out_count++] = z->leaf_count + z->order[k];
    }
}

/* ---- machine code ---- */

/* A single element can be read by machine code of elements only. */
static void find_singles(struct lowering *z)
{
    for (int v = 0; v < z->leaf_count + z->op_count; v++) {
        const int by = v - z->leaf_count;
        z->single[v] = z->code && !z->fixed[v] &&
                       (by < 0 ? z->leaves[v].repeats
                               : z->ops[by].kind == KERN_FUSED_REPEAT && z->ops[by].result < 0);
    }
    for (int k = 0; k < z->op_count; k++)
        for (int j = 0; j < z->ops[k].arg_count; j++)
            z->single[z->ops[k].args[j]] &= z->stages[k] % CLASSES == OF_ELEMENTS;
}

static bool any_single(const struct lowering *z)
{
    bool any = false;
    for (int v = 0; v < z->leaf_count + z->op_count; v++)
        any |= z->single[v];
    return any;
}

/* The value that a block of one row reads: of a repetition its operand, a row value. */
static int value_of_row(const struct lowering *z, int value)
{
    return z->single[value] && value >= z->leaf_count ? z->ops[value - z->leaf_count].args[0]
                                                      : value;
}

static enum dtype type_of(const struct lowering *z, int value)
{
    int by = value - z->leaf_count;
    return by < 0 ? z->leaves[value].type : z->ops[by].meaning.to;
}

static void add_immediates(const struct lowering *z, struct jit_builder *b, int *values)
{
    for (int v = 0; v < z->leaf_count; v++)
        if (immediate(z, v))
            values[v] = jit_constant(b, z->leaves[v].type, immediate(z, v));
}

static bool expand_op(const struct lowering *z, struct jit_builder *b, int number, int *values)
{
    const struct fuse_op *op = &z->ops[number];
    int args[KERN_MAX_ARGS];
    for (int j = 0; j < op->arg_count; j++) {
        args[j] = values[op->args[j]];
        if (args[j] == JIT_NONE)
            return false;
    }
    values[z->leaf_count + number] = plan_expand(b, &op->meaning, args, op->arg_count);
    return values[z->leaf_count + number] != JIT_NONE;
}

/* False: an operation has no expansion in lanes of 16 bits. */
static bool expand_ops(const struct lowering *z, const struct lowered *l, bool of_row,
                       struct jit_builder *b)
{
    int values[MAX_VALUES];
    add_immediates(z, b, values);
    for (int k = 0; k < l->arg_count; k++) {
        const int v = l->args[k];
        values[v] = jit_load(b, k, type_of(z, v), z->fixed[v] || (of_row && z->single[v]));
    }
    for (int k = l->first; k < l->first + l->count; k++)
        if (!expand_op(z, b, z->order[k], values))
            return false;
    for (int k = 0; k < l->out_count; k++)
        jit_store(b, l->arg_count + k, values[l->outs[k]]);
    return true;
}

/* NULL: out of memory for code. */
static kern_native_fn *compile_ops(struct lowering *z, const struct lowered *l, bool of_row)
{
    struct jit_builder *b = plan_tile_builder(&z->pl->scratch, true);
    if (!expand_ops(z, l, of_row, b)) {
        b = plan_tile_builder(&z->pl->scratch, false);
        expand_ops(z, l, of_row, b);
    }
    return jit_tile_function(b, z->code);
}

/* False: out of memory for code. */
static bool compile(struct lowering *z, struct lowered *l)
{
    const bool native = l->count > 1;
    bool single = false;
    for (int k = 0; k < l->arg_count; k++)
        single |= z->single[l->args[k]];
    if (native)
        l->native = compile_ops(z, l, false);
    if (single)
        l->of_row = compile_ops(z, l, true);
    return (!native || l->native) && (!single || l->of_row);
}

/* ---- tiles ---- */

static int take_tile(bool *busy, int *count)
{
    int t = 0;
    while (busy[t])
        t++;
    busy[t] = true;
    if (t == *count)
        ++*count;
    return t;
}

static void release_tile(const struct lowering *z, int value, int at, const int *last, bool *busy)
{
    if (value >= z->leaf_count && last[value] == at && !z->fixed[value])
        busy[z->tiles[value] - z->leaf_count] = false;
}

/* Chooses tiles for values. Results of an op are in other tiles than its operands. Returns the
 * number of tiles. */
static int choose_tiles(struct lowering *z)
{
    int last[MAX_VALUES] = {0}, count = 0;
    bool busy[KERN_FUSED_OPS] = {false};
    for (int v = 0; v < z->leaf_count; v++)
        z->tiles[v] = v;
    for (int k = 0; k < z->op_count; k++)
        if (z->ops[k].invariant) { /* runs before all others, and its result is kept */
            busy[count] = true;
            z->tiles[z->leaf_count + k] = z->leaf_count + count++;
        }
    for (int k = 0; k < z->lowered_count; k++)
        for (int j = 0; j < z->lowered[k].arg_count; j++) {
            last[z->lowered[k].args[j]] = k;
            last[value_of_row(z, z->lowered[k].args[j])] = k;
        }
    for (int k = 0; k < z->lowered_count; k++) {
        const struct lowered *l = &z->lowered[k];
        for (int j = 0; j < l->out_count; j++) {
            const struct fuse_op *op = &z->ops[l->outs[j] - z->leaf_count];
            if (!op->invariant && op->result < 0)
                z->tiles[l->outs[j]] = z->leaf_count + take_tile(busy, &count);
        }
        for (int j = 0; j < l->arg_count; j++) {
            release_tile(z, l->args[j], k, last, busy);
            release_tile(z, value_of_row(z, l->args[j]), k, last, busy);
        }
    }
    for (int k = 0; k < z->op_count; k++)
        if (z->ops[k].result >= 0)
            z->tiles[z->leaf_count + k] = z->leaf_count + count + z->ops[k].result;
    return count;
}

/* Finds leaves that no op reads after the op that makes a result: the result may reuse their
 * storage. */
static void find_buffers(const struct lowering *z, struct kern_fused_result *results)
{
    for (int k = 0; k < z->op_count; k++) {
        if (z->ops[k].result < 0)
            continue;
        struct kern_fused_result *r = &results[z->ops[k].result];
        r->over = ((uint64_t)1 << z->leaf_count) - 1;
        for (int later = z->lowered_by[k] + 1; later < z->lowered_count; later++)
            for (int j = 0; j < z->lowered[later].arg_count; j++)
                if (z->lowered[later].args[j] < z->leaf_count)
                    r->over &= ~((uint64_t)1 << z->lowered[later].args[j]);
    }
}

static void find_untiled(struct lowering *z)
{
    memcpy(z->untiled, z->fixed, (size_t)(z->leaf_count + z->op_count) * sizeof *z->fixed);
    for (int k = 0; k < z->lowered_count; k++)
        for (int j = 0; j < z->lowered[k].arg_count; j++)
            if (!z->lowered[k].native && !z->ops[z->order[z->lowered[k].first]].invariant)
                z->untiled[z->lowered[k].args[j]] = false;
}

/* ---- results ---- */

static struct kern_fused_op finish(struct lowering *z, const struct lowered *l)
{
    struct arena *keep = &z->pl->p->arena;
    const struct fuse_op *op = &z->ops[z->order[l->first]];
    uint8_t *args = ARENA_ARRAY(keep, uint8_t, l->arg_count),
            *row_args = ARENA_ARRAY(keep, uint8_t, l->arg_count),
            *steps = ARENA_ARRAY(keep, uint8_t, l->arg_count),
            *row_steps = ARENA_ARRAY(keep, uint8_t, l->arg_count);
    struct kern_fused_out *outs = ARENA_ARRAY(keep, struct kern_fused_out, l->out_count);
    for (int k = 0; k < l->arg_count; k++) {
        const int v = l->args[k];
        args[k] = (uint8_t)z->tiles[v];
        steps[k] = z->fixed[v] ? 0 : (uint8_t)dtype_bytes(type_of(z, v));
        row_steps[k] = z->single[v] ? 0 : steps[k];
        row_args[k] = (uint8_t)z->tiles[value_of_row(z, l->args[k])];
    }
    for (int k = 0; k < l->out_count; k++) {
        const struct fuse_op *by = &z->ops[l->outs[k] - z->leaf_count];
        outs[k] = (struct kern_fused_out){(uint8_t)z->tiles[l->outs[k]], by->result, by->width};
    }
    struct kern_fused_op out = {.kind = l->native ? KERN_FUSED_NATIVE : op->kind,
                                .arg_count = (uint8_t)l->arg_count,
                                .out_count = (uint8_t)l->out_count,
                                .args = args,
                                .steps = steps,
                                .outs = outs,
                                .rows = op->rows,
                                .invariant = op->invariant,
                                .untiled = z->untiled[z->leaf_count + z->order[l->first]],
                                .late = op->late && (op->rows || !l->native),
                                .reducer_number = op->reducer_number,
                                .of_row = l->of_row,
                                .row_args = row_args,
                                .row_steps = row_steps,
                                .omitted = z->single[z->leaf_count + z->order[l->first]]};
    if (l->native)
        out.native = l->native;
    else if (op->kind == KERN_FUSED_REDUCE)
        out.reducer = op->reducer;
    else
        out.fn = op->fn;
    return out;
}

/* Divides the ops among machine code and others; false: out of memory for code. */
static bool divide(struct lowering *z)
{
    bool ok = true;
    z->lowered_count = 0;
    set_stages(z);
    delay(z);
    find_singles(z);
    sort_by_stage(z);
    group(z);
    for (int k = 0; k < z->lowered_count && ok; k++) {
        find_values(z, k);
        ok = compile(z, &z->lowered[k]);
    }
    return ok;
}

static bool repeats(const struct lowering *z)
{
    bool any = false;
    for (int k = 0; k < z->leaf_count; k++)
        any |= z->leaves[k].repeats;
    return any;
}

void fuse_lower(struct planner *pl, int leaf_count, const struct fuse_leaf *leaves,
                const bool *fixed, const struct fuse_op *ops, int op_count, struct kern_fused *out,
                struct kern_fused_result *results)
{
    struct lowering *z = ARENA_NEW(&pl->scratch, struct lowering);
    *z = (struct lowering){.pl = pl,
                           .leaf_count = leaf_count,
                           .op_count = op_count,
                           .leaves = leaves,
                           .fixed = fixed,
                           .ops = ops};
    z->code = op_count > 1 || repeats(z) ? plan_code(pl) : NULL;
    if (!divide(z)) {
        z->code = NULL;
        divide(z);
    }
    out->tile_count = choose_tiles(z);
    out->single = any_single(z) ? ARENA_DUP(&pl->p->arena, z->single, leaf_count) : NULL;
    find_buffers(z, results);
    find_untiled(z);
    out->untiled = ARENA_DUP(&pl->p->arena, z->untiled, leaf_count);
    struct kern_fused_op *lowered =
        ARENA_ARRAY(&pl->p->arena, struct kern_fused_op, z->lowered_count);
    for (int k = 0; k < z->lowered_count; k++)
        lowered[k] = finish(z, &z->lowered[k]);
    out->ops = lowered;
    out->op_count = z->lowered_count;
}
