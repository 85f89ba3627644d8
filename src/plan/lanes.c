/*
 * lanes.c: computations over scalars as code on tiles (kern_lane_code). The scalar code of a
 * computation, compiled for KERN_LANES values in each register, is divided into runs of operations
 * that have lane instructions, which become one function of machine code each, and others, which
 * are tile kernels. Without machine code, all are tile kernels.
 */
#include "plan/scalar.h"

#include "jit/jit.h"

enum { MAX_OPS = 1 << 8 };

/* ---- expansion: values by the address of their register ---- */

struct known_element {
    const void *at;
    enum dtype type;
    int value;
};
struct expanding {
    struct jit_builder *b;
    int elements; /* of each register */
    struct known_element known[MAX_OPS];
    int count;
};

static bool set_element(struct expanding *v, const void *at, enum dtype type, int value)
{
    if (v->count == MAX_OPS || value == JIT_NONE)
        return false;
    v->known[v->count++] = (struct known_element){at, type, value};
    return true;
}

static const struct known_element *find_element(const struct expanding *v, const void *at)
{
    for (int k = v->count - 1; k >= 0; k--)
        if (v->known[k].at == at)
            return &v->known[k];
    return NULL;
}

/* What nothing has assigned is a constant. */
static int element_of(const struct expanding *v, const void *at, enum dtype type)
{
    const struct known_element *x = find_element(v, at);
    return !x                ? jit_constant(v->b, type, at)
           : x->type == type ? x->value
                             : jit_bitcast(v->b, type, x->value);
}

static bool expand_op(struct expanding *v, const struct scalar_op *op)
{
    int args[KERN_MAX_ARGS], count = 0;
    if (op->kind != SCALAR_APPLY || op->count != v->elements)
        return false;
    for (; count < KERN_MAX_ARGS && op->args[count]; count++) {
        args[count] = element_of(v, op->args[count], plan_operand_type(&op->meaning, count));
        if (args[count] == JIT_NONE)
            return false;
    }
    return set_element(v, op->out, op->meaning.to, plan_expand(v->b, &op->meaning, args, count));
}

bool plan_expand_code(struct jit_builder *b, const struct scalar_code *code, int elements,
                      const enum dtype *args, const enum dtype *results, int *values)
{
    struct expanding v = {.b = b, .elements = elements};
    bool ok = true;
    for (int k = 0; k < code->arg_count && ok; k++)
        ok = !code->args[k].at || set_element(&v, code->args[k].at, args[k], values[k]);
    for (int k = 0; k + 1 < code->op_count && ok; k++)
        ok = expand_op(&v, &code->ops[k]);
    for (int k = 0; k < code->result_count && ok; k++) {
        values[k] =
            code->results[k].at ? element_of(&v, code->results[k].at, results[k]) : JIT_NONE;
        ok = values[k] != JIT_NONE;
    }
    return ok;
}

/* ---- lowering ---- */

/* A value at an address: an argument, a constant or the result of an operation. */
struct lane_value {
    const void *at;
    enum dtype type;
    int by;   /* operation, -1: an argument or constant */
    int tile; /* NONE: it stays in registers */
};
enum { NONE = -1 };

struct lowering {
    struct planner *pl;
    const struct scalar_code *code;
    const enum dtype *args, *results;
    bool native; /* machine code where possible */
    int op_count;
    int *groups; /* by operation */
    bool *expandable;
    struct lane_value *values;
    int value_count;
    const void **constants;
    struct kern_lane_code *out;
    struct kern_lane_op *ops; /* of `out` */
};

/* ---- values ---- */

static struct lane_value *value_at(const struct lowering *z, const void *at)
{
    for (int k = 0; k < z->value_count; k++)
        if (z->values[k].at == at)
            return &z->values[k];
    return NULL;
}

/* False: the address has a value already. */
static bool add_value(struct lowering *z, const void *at, enum dtype t, int by, int tile)
{
    if (value_at(z, at))
        return false;
    z->values[z->value_count++] = (struct lane_value){at, t, by, tile};
    return true;
}

static enum dtype operand_type(const struct scalar_op *op, int k)
{
    return op->kind == SCALAR_PRECISION ? op->precision->x.dtype
                                        : plan_operand_type(&op->meaning, k);
}

static const void *operand_at(const struct scalar_op *op, int k)
{
    if (op->kind == SCALAR_PRECISION)
        return k == 0 ? op->precision->x.data : NULL;
    return k < KERN_MAX_ARGS ? op->args[k] : NULL;
}

/* The type of a result; a copy has that of its operand. */
static enum dtype result_type(const struct lowering *z, const struct scalar_op *op)
{
    const struct lane_value *from = op->kind == SCALAR_MOVE ? value_at(z, op->args[0]) : NULL;
    return op->kind == SCALAR_APPLY       ? op->meaning.to
           : op->kind == SCALAR_PRECISION ? op->precision->x.dtype
           : from                         ? from->type
                                          : DT_INVALID;
}

/* A constant has no operation that makes it; a copy of one has no type. */
static bool note_operands(struct lowering *z, const struct scalar_op *op)
{
    const void *at;
    for (int k = 0; (at = operand_at(op, k)) != NULL; k++)
        if (!value_at(z, at)) {
            if (op->kind == SCALAR_MOVE)
                return false;
            add_value(z, at, operand_type(op, k), NONE, NONE);
        }
    return true;
}

static bool list_values(struct lowering *z)
{
    const struct scalar_code *c = z->code;
    for (int k = 0; k < c->arg_count; k++)
        if (c->args[k].at && !add_value(z, c->args[k].at, z->args[k], NONE, k))
            return false;
    for (int k = 0; k < z->op_count; k++) {
        const struct scalar_op *op = &c->ops[k];
        const bool known =
            op->kind == SCALAR_APPLY || op->kind == SCALAR_MOVE || op->kind == SCALAR_PRECISION;
        if (!known || !note_operands(z, op) || result_type(z, op) == DT_INVALID ||
            !add_value(z, op->out, result_type(z, op), k, NONE))
            return false;
    }
    for (int k = 0; k < c->result_count; k++) {
        if (!c->results[k].at)
            return false;
        if (!value_at(z, c->results[k].at))
            add_value(z, c->results[k].at, z->results[k], NONE, NONE);
    }
    return true;
}

/* ---- groups: operations that are one function of machine code ---- */

static void group(struct lowering *z)
{
    for (int k = 0; k < z->op_count; k++) {
        const struct scalar_op *op = &z->code->ops[k];
        z->expandable[k] =
            z->native && op->kind == SCALAR_APPLY &&
            plan_lanes(&z->pl->scratch, &op->meaning, NULL, (struct jit_target){0}) > 0;
        const bool same = k > 0 && z->expandable[k] && z->expandable[k - 1];
        z->groups[k] = k == 0 ? 0 : z->groups[k - 1] + !same;
    }
}

/* ---- tiles ---- */

static bool is_constant(const struct lowering *z, const struct lane_value *v)
{
    return v->by == NONE && v->tile == NONE;
}

/* Whether the value must be in a tile: a kernel reads it, or another group than its own. */
static bool needs_tile(const struct lowering *z, const struct lane_value *v)
{
    const void *at;
    for (int k = 0; k < z->op_count; k++)
        for (int j = 0; (at = operand_at(&z->code->ops[k], j)) != NULL; j++)
            if (at == v->at &&
                (v->by == NONE ? !z->expandable[k] : z->groups[k] != z->groups[v->by]))
                return true;
    for (int k = 0; k < z->code->result_count; k++)
        if (z->code->results[k].at == v->at)
            return true;
    return v->by != NONE && !z->expandable[v->by];
}

static void set_tiles(struct lowering *z)
{
    struct kern_lane_code *c = z->out;
    const int first = c->arg_count + c->result_count;
    c->constant_count = 0;
    for (int k = c->result_count - 1; k >= 0; k--) {
        struct lane_value *v = value_at(z, z->code->results[k].at);
        if (v->by != NONE)
            v->tile = c->arg_count + k;
    }
    for (int k = 0; k < z->value_count; k++)
        if (is_constant(z, &z->values[k]) && needs_tile(z, &z->values[k]))
            z->constants[c->constant_count++] = z->values[k].at;
    c->tile_count = first + c->constant_count;
    for (int k = 0, constant = first; k < z->value_count; k++) {
        struct lane_value *v = &z->values[k];
        if (v->tile != NONE || !needs_tile(z, v))
            continue;
        v->tile = v->by == NONE ? constant++ : c->tile_count++;
    }
}

/* ---- operations ---- */

/* Loads what other operations or the caller have stored in tiles. */
static bool load_operands(const struct lowering *z, struct expanding *v, const struct scalar_op *op)
{
    bool ok = true;
    for (int k = 0; k < KERN_MAX_ARGS && op->args[k] && ok; k++) {
        const struct lane_value *x = value_at(z, op->args[k]);
        const bool constant = x->by == NONE && (x->tile == NONE || x->tile >= z->out->arg_count);
        ok = constant || find_element(v, x->at) ||
             set_element(v, x->at, x->type, jit_load(v->b, x->tile, x->type, false));
    }
    return ok;
}

/* Operations [from, limit) as machine code. */
static bool add_native(struct lowering *z, int from, int limit)
{
    struct expanding v = {plan_tile_builder(&z->pl->scratch, false), KERN_LANES};
    for (int k = from; k < limit; k++)
        if (!load_operands(z, &v, &z->code->ops[k]) || !expand_op(&v, &z->code->ops[k]))
            return false;
    for (int k = from; k < limit; k++) {
        const struct lane_value *x = value_at(z, z->code->ops[k].out);
        if (x->tile != NONE)
            jit_store(v.b, x->tile, element_of(&v, x->at, x->type));
    }
    struct kern_lane_op *op = &z->ops[z->out->op_count++];
    op->native = jit_tile_function(v.b, z->pl->p->code);
    return op->native != NULL;
}

static void add_op(struct lowering *z, const struct scalar_op *op)
{
    struct kern_lane_op *to = &z->ops[z->out->op_count++];
    const void *at;
    to->out = (uint8_t)value_at(z, op->out)->tile;
    to->type = value_at(z, op->out)->type;
    if (op->kind == SCALAR_APPLY)
        to->fn = op->fn;
    if (op->kind == SCALAR_PRECISION) {
        to->exponent = (uint8_t)op->precision->exponent;
        to->mantissa = (uint8_t)op->precision->mantissa;
    }
    for (int k = 0; (at = operand_at(op, k)) != NULL; k++)
        to->args[k] = (uint8_t)value_at(z, at)->tile;
}

/* Results that are arguments, constants or other results. */
static void add_copies(struct lowering *z)
{
    for (int k = 0; k < z->code->result_count; k++) {
        const struct lane_value *v = value_at(z, z->code->results[k].at);
        if (v->tile != z->out->arg_count + k)
            z->ops[z->out->op_count++] = (struct kern_lane_op){
                .type = v->type,
                .out = (uint8_t)(z->out->arg_count + k),
                .args = {(uint8_t)v->tile},
            };
    }
}

static size_t widest(const struct lowering *z)
{
    size_t most = 1;
    for (int k = 0; k < z->value_count; k++)
        most = dtype_bytes(z->values[k].type) > most ? dtype_bytes(z->values[k].type) : most;
    return most;
}

static bool lower(struct lowering *z)
{
    struct kern_lane_code *c = z->out;
    z->value_count = c->op_count = 0;
    memset(z->ops, 0, (size_t)(z->op_count + c->result_count) * sizeof *z->ops);
    if (!list_values(z))
        return false;
    group(z);
    set_tiles(z);
    if (c->tile_count > KERN_LANE_TILES)
        return false;
    for (int k = 0, end; k < z->op_count; k = end) {
        for (end = k + 1; end < z->op_count && z->groups[end] == z->groups[k];)
            end++;
        if (!z->expandable[k])
            add_op(z, &z->code->ops[k]);
        else if (!add_native(z, k, end))
            return false;
    }
    add_copies(z);
    c->tile_bytes = KERN_LANES * widest(z);
    c->workspace = (size_t)(c->tile_count - c->constant_count - c->arg_count - c->result_count) *
                   c->tile_bytes;
    c->in_place = c->op_count <= 1 && !(c->op_count == 1 && !c->ops->fn && !c->ops->native);
    return true;
}

/* The operations on which results depend, in order; the last one, the stop, is dropped. */
static int live_ops(struct planner *pl, const struct scalar_code *c, struct scalar_op *live)
{
    int count = 0;
    bool *needed = ARENA_ARRAY(&pl->scratch, bool, c->op_count);
    const void *at;
    for (int k = c->op_count - 2; k >= 0; k--) {
        for (int j = 0; j < c->result_count; j++)
            needed[k] |= c->results[j].at == c->ops[k].out;
        for (int later = k + 1; later + 1 < c->op_count && !needed[k]; later++)
            for (int j = 0; needed[later] && (at = operand_at(&c->ops[later], j)) != NULL; j++)
                needed[k] |= at == c->ops[k].out;
    }
    for (int k = 0; k + 1 < c->op_count; k++)
        if (needed[k])
            live[count++] = c->ops[k];
    return count;
}

/* False: the code is too large. */
static bool start(struct lowering *z, struct planner *pl, const struct scalar_code *code,
                  const enum dtype *args, const enum dtype *results)
{
    struct arena *keep = &pl->p->arena, *scratch = &pl->scratch;
    const int results_count = code->result_count;
    if (code->op_count > MAX_OPS || code->arg_count + results_count > KERN_LANE_TILES / 2)
        return false;
    struct scalar_code *live = ARENA_DUP(scratch, code, 1);
    live->ops = ARENA_ARRAY(scratch, struct scalar_op, code->op_count);
    const int ops = live_ops(pl, code, live->ops);
    const int values = code->arg_count + ops * (1 + KERN_MAX_ARGS) + results_count;
    *z = (struct lowering){.pl = pl,
                           .code = live,
                           .args = args,
                           .results = results,
                           .native = plan_code(pl) != NULL,
                           .op_count = ops,
                           .groups = ARENA_ARRAY(scratch, int, ops),
                           .expandable = ARENA_ARRAY(scratch, bool, ops),
                           .values = ARENA_ARRAY(scratch, struct lane_value, values),
                           .constants = ARENA_ARRAY(keep, const void *, values),
                           .out = ARENA_NEW(keep, struct kern_lane_code),
                           .ops = ARENA_ARRAY(keep, struct kern_lane_op, ops + results_count)};
    *z->out = (struct kern_lane_code){.arg_count = code->arg_count,
                                      .result_count = results_count,
                                      .constants = z->constants,
                                      .ops = z->ops};
    return true;
}

const struct kern_lane_code *plan_lane_code(struct planner *pl, const struct scalar_code *code,
                                            const enum dtype *args, const enum dtype *results)
{
    struct lowering z;
    if (!start(&z, pl, code, args, results))
        return NULL;
    if (z.native && lower(&z))
        return z.out;
    z.native = false;
    return lower(&z) ? z.out : NULL;
}

kern_native_fn *plan_indexed_code(struct planner *pl, const struct scalar_code *code,
                                  const enum dtype *args, const enum dtype *results)
{
    struct jit_builder *b = jit_builder_new(&pl->scratch);
    const int count = code->arg_count;
    int values[KERN_LANE_TILES];
    if (!plan_code(pl) || count + code->result_count > KERN_LANE_TILES / 2)
        return NULL;
    for (int k = 0; k < count; k++)
        values[k] = code->args[k].at ? jit_load_indexed(b, k, count + k, args[k]) : JIT_NONE;
    if (!plan_expand_code(b, code, KERN_LANES, args, results, values))
        return NULL;
    for (int k = 0; k < code->result_count; k++)
        jit_store_indexed(b, k, count + k, values[k]);
    return jit_tile_function(b, plan_code(pl));
}
