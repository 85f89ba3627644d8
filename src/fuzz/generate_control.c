/*
 * Generates instructions that call computations, and tuples, tokens, dynamic sizes and
 * collectives.
 */
#include "fuzz/generate_priv.h"

/* Selects operands for a computation, possibly repeated. */
static int some_values(struct gen *g, struct val *out, struct type *types, int min)
{
    int count = (int)gen_between(g, min, 3);
    for (int k = 0; k < count; k++) {
        out[k] = k > 0 && gen_chance(g, 25) ? out[k - 1] : gen_pick(g, TY_ANY, 0);
        types[k] = out[k].type;
    }
    return count;
}

/* An array with rows, few enough for indices of any type. */
static struct val some_rows(struct gen *g, unsigned types)
{
    struct val x = gen_pick(g, types, 1);
    struct type t = x.type;
    t.dims[0] = 2;
    return x.type.dims[0] > 0 && x.type.dims[0] <= INT32_MAX ? x : gen_fresh(g, t);
}

/* ---- call, fusion, async ---- */

static void call(struct gen *g, enum opcode op)
{
    struct shared s;
    struct val args[GEN_PARAMS];
    struct type types[GEN_PARAMS];
    bool fusion = op == OP_FUSION;
    if (gen_chance(g, 40) && gen_some_shared(g, ROLE_CALLEE, &s) && (s.fusible || !fusion)) {
        gen_arguments(g, &s, args);
    } else {
        int n = some_values(g, args, types, 1);
        s = gen_function(g, fusion, n, types);
    }
    gen_call(g, op, &s, args);
    gen_more_calls(g, &s);
}

/* async-start, possibly async-update, async-done. (A wrapped copy would print as the other form of
 * copy-start.) */
static void async(struct gen *g)
{
    struct val x = gen_pick(g, TY_INTEGER | TY_FLOAT, 0), args[2] = {x, gen_value(g, x.type)},
               inner[2];
    struct type types[2] = {x.type, x.type};
    struct region r;
    int n = gen_chance(g, 50) ? 2 : 1;
    gen_open(g, &r, n, types, inner);
    int body = gen_close(g, gen_emit(g, n == 2 ? OP_ADD : OP_NEGATE, x.type, n, inner, NULL));
    struct buf in = {0}, shape = {0};
    put_tuple_type(&in, n, types);
    buf_printf(&shape, "(%s, ", in.data);
    put_plain_type(&shape, &x.type);
    buf_puts(&shape, ", u32[])");
    struct val chain = gen_emit_raw(g, shape.data, "async-start", n, args, ", calls=c%d", body);
    if (gen_chance(g, 30))
        chain = gen_emit_raw(g, shape.data, "async-update", 1, &chain, NULL);
    gen_emit(g, OP_ASYNC_DONE, x.type, 1, &chain, NULL);
    buf_free(&in);
    buf_free(&shape);
}

/* ---- while ---- */

static struct shared loop_signature(enum role role, int count, const struct type *types)
{
    struct shared s = {.role = role, .param_count = count, .takes_tuple = true, .random = true};
    for (int k = 0; k < count; k++)
        s.params[k] = s.results[k] = types[k];
    s.result_count = role == ROLE_CONDITION ? 0 : count;
    if (role == ROLE_CONDITION)
        s.results[0] = type_scalar(DT_PRED);
    return s;
}

/* Number of iterations. */
static int64_t trips(struct gen *g) { return gen_between(g, 0, gen_chance(g, 10) ? 40 : 4); }

/* Ends the loop earlier, depending on a scalar of its state. */
static struct val unless_ended(struct gen *g, struct val go_on, int count, const struct val *v)
{
    for (int k = 1; k < count; k++)
        if (v[k].type.rank == 0 && !dtype_is_complex(v[k].type.dtype) && gen_chance(g, 40)) {
            struct val sides[2] = {v[k], gen_constant(g, v[k].type)};
            struct val both[2] = {go_on,
                                  gen_emit(g, OP_COMPARE, go_on.type, 2, sides, ", direction=%s",
                                           gen_chance(g, 50) ? "NE" : "LT")};
            return gen_emit(g, OP_AND, go_on.type, 2, both, NULL);
        }
    return go_on;
}

static int loop_condition(struct gen *g, int count, const struct type *types)
{
    struct region r;
    struct val v[GEN_LEAVES];
    struct shared s = loop_signature(ROLE_CONDITION, count, types);
    int number = gen_reuse(g, 50, &s);
    if (number >= 0)
        return number;
    gen_open_tuple(g, &r, count, types, v);
    struct val both[2] = {v[0], gen_number(g, DT_S32, trips(g))};
    struct val go_on = gen_emit(g, OP_COMPARE, type_scalar(DT_PRED), 2, both, ", direction=LT");
    number = gen_close(g, unless_ended(g, go_on, count, v));
    gen_share(g, &s, number);
    return number;
}

static struct shared loop_body(struct gen *g, int count, const struct type *types)
{
    struct region r;
    struct val v[GEN_LEAVES];
    struct shared s = loop_signature(ROLE_BODY, count, types);
    gen_open_tuple(g, &r, count, types, v);
    for (int64_t n = gen_between(g, 1, 3); n > 0; n--)
        gen_inner(g);
    for (int k = 1; k < count; k++)
        v[k] = gen_last(g, &types[k]);
    struct val both[2] = {v[0], gen_number(g, DT_S32, 1)};
    v[0] = gen_emit(g, OP_ADD, types[0], 2, both, NULL);
    gen_share(g, &s, gen_close_tuple(g, count, v));
    return s;
}

/* An index of a row: the counter, or in reverse order. */
static void put_row_index(struct gen *g, struct val counter, const struct type *rows,
                          struct val *out)
{
    struct val both[2] = {gen_number(g, DT_S32, rows->dims[0] - 1), counter};
    out[0] = gen_chance(g, 30) ? gen_emit(g, OP_SUBTRACT, counter.type, 2, both, NULL) : counter;
    for (int d = 1; d < rows->rank; d++)
        out[d] = gen_number(g, DT_S32, 0);
}

/* The body of a scan over rows. The state: a counter, rows that are read, a carry of the size of a
 * row, rows that are written. */
static struct shared scan_body(struct gen *g, const struct type *types)
{
    struct region r;
    struct val v[4], all[GEN_RANK + 2], one;
    struct shared s = loop_signature(ROLE_BODY, 4, types);
    struct type row = types[1], carry = types[2];
    struct buf sizes = {0};
    row.dims[0] = 1;
    put_list(&sizes, row.dims, row.rank);
    gen_open_tuple(g, &r, 4, types, v);
    all[0] = v[1];
    put_row_index(g, v[0], &types[1], all + 1);
    one = gen_emit(g, OP_DYNAMIC_SLICE, row, 1 + row.rank, all, ", dynamic_slice_sizes=%s",
                   sizes.data);
    struct val both[2] = {gen_emit(g, OP_RESHAPE, carry, 1, &one, NULL), v[2]};
    gen_emit(g, OP_ADD, carry, 2, both, NULL);
    for (int64_t n = gen_between(g, 0, 3); n > 0; n--)
        gen_inner(g);
    v[2] = gen_last(g, &carry);
    all[0] = v[3];
    all[1] = gen_emit(g, OP_RESHAPE, row, 1, &v[2], NULL);
    put_row_index(g, v[0], &types[3], all + 2);
    v[3] = gen_emit(g, OP_DYNAMIC_UPDATE_SLICE, types[3], 2 + row.rank, all, NULL);
    struct val next[2] = {v[0], gen_number(g, DT_S32, 1)};
    v[0] = gen_emit(g, OP_ADD, types[0], 2, next, NULL);
    gen_share(g, &s, gen_close_tuple(g, 4, v));
    buf_free(&sizes);
    return s;
}

/* The initial state of a new scan. */
static struct shared scan(struct gen *g, struct val *init)
{
    struct type types[4] = {type_scalar(DT_S32)}, carry;
    init[1] = some_rows(g, TY_INTEGER | TY_FLOAT);
    types[1] = types[3] = init[1].type;
    carry = type_of(types[1].dtype, types[1].rank - 1, types[1].dims + 1);
    types[2] = carry;
    for (int k = 2; k < 4; k++)
        init[k] = gen_value(g, types[k]);
    return scan_body(g, types);
}

static void emit_loop(struct gen *g, int condition, const struct shared *body,
                      const struct val *init)
{
    struct buf shape = {0};
    put_tuple_type(&shape, body->param_count, body->params);
    struct val state = gen_emit_raw(g, shape.data, "tuple", body->param_count, init, NULL);
    gen_emit_tuple(g, OP_WHILE, body->param_count, body->params, 1, &state, NULL,
                   ", condition=c%d, body=c%d", condition, body->number);
    buf_free(&shape);
}

/* A new loop body, or that of another loop, from one initial state or from several. */
static void loop(struct gen *g)
{
    struct shared body;
    struct val init[GEN_PARAMS];
    struct type types[GEN_PARAMS];
    if (gen_chance(g, 40) && gen_some_shared(g, ROLE_BODY, &body)) {
        gen_arguments(g, &body, init);
    } else if (gen_chance(g, 25)) {
        body = scan(g, init);
    } else {
        int count = 1 + some_values(g, init + 1, types + 1, 1);
        types[0] = type_scalar(DT_S32);
        body = loop_body(g, count, types);
    }
    init[0] = gen_number(g, DT_S32, gen_chance(g, 60) ? 0 : gen_between(g, -1, 2));
    emit_loop(g, loop_condition(g, body.param_count, body.params), &body, init);
    for (int n = 0; n < 2 && gen_chance(g, 30); n++) {
        gen_arguments(g, &body, init);
        init[0] = gen_number(g, DT_S32, gen_between(g, -1, 3));
        emit_loop(g, loop_condition(g, body.param_count, body.params), &body, init);
    }
}

/* ---- conditional ---- */

/* The branches map a tuple to one of the same type. */
static void conditional_on_tuples(struct gen *g)
{
    struct val init[GEN_PARAMS], v[GEN_LEAVES], all[4];
    struct type types[GEN_PARAMS];
    struct region r;
    int count = some_values(g, init, types, 2), branches = (int)gen_between(g, 1, 3);
    struct buf shape = {0}, list = {0};
    put_tuple_type(&shape, count, types);
    all[0] = gen_value(g, type_scalar(DT_S32));
    for (int b = 0; b < branches; b++) {
        gen_open_tuple(g, &r, count, types, v);
        for (int64_t n = gen_between(g, 0, 3); n > 0; n--)
            gen_inner(g);
        for (int k = 0; k < count; k++)
            v[k] = gen_last(g, &types[k]);
        buf_printf(&list, "%sc%d", b ? ", " : "", gen_close_tuple(g, count, v));
        for (int k = 0; k < count; k++)
            init[k] = b ? gen_value(g, types[k]) : init[k];
        all[b + 1] = gen_emit_raw(g, shape.data, "tuple", count, init, NULL);
    }
    gen_emit_tuple(g, OP_CONDITIONAL, count, types, branches + 1, all, NULL,
                   ", branch_computations={%s}", list.data);
    buf_free(&shape);
    buf_free(&list);
}

static void conditional(struct gen *g)
{
    if (gen_chance(g, 30)) {
        conditional_on_tuples(g);
        return;
    }
    bool two = gen_chance(g, 50);
    int branches = two ? 2 : (int)gen_between(g, 1, 4), body = 0;
    struct type t = gen_pick(g, TY_ANY, 0).type;
    struct val all[5] = {gen_value(g, type_scalar(two ? DT_PRED : DT_S32))};
    struct buf rest = {0};
    for (int k = 0; k < branches; k++) {
        all[k + 1] = gen_value(g, t);
        body = k > 0 && gen_chance(g, 30) ? body : gen_step(g, t);
        if (two)
            buf_printf(&rest, ", %s_computation=c%d", k ? "false" : "true", body);
        else
            buf_printf(&rest, "%sc%d%s", k ? ", " : ", branch_computations={", body,
                       k == branches - 1 ? "}" : "");
    }
    gen_emit(g, OP_CONDITIONAL, t, branches + 1, all, "%s", rest.data);
    buf_free(&rest);
}

/* A call of a target that does not exist, as dead code: its result is unused, or an unused
 * component of a tuple. */
static void dead_call(struct gen *g, struct val x)
{
    const struct type types[2] = {x.type, x.type};
    struct buf one = {0}, two = {0};
    put_plain_type(&one, &x.type);
    put_tuple_type(&two, 2, types);
    struct val both[2] = {
        x, gen_emit_raw(g, one.data, "custom-call", 1, &x, ", custom_call_target=\"unknown\"")};
    if (gen_chance(g, 50))
        gen_element(g, gen_emit_raw(g, two.data, "tuple", 2, both, NULL), 0, x.type);
    buf_free(&one);
    buf_free(&two);
}

/* Custom calls that later became operations. */
static void custom_call(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    if (gen_chance(g, 30)) {
        dead_call(g, x);
        return;
    }
    gen_emit(g, OP_CUSTOM_CALL, x.type, 1, &x,
             ", custom_call_target=\"Sharding\", sharding={replicated}");
}

void gen_control(struct gen *g, enum opcode op)
{
    static const enum opcode frequent[] = {OP_CALL, OP_CALL, OP_WHILE, OP_CONDITIONAL, OP_FUSION};
    if (gen_chance(g, 60))
        op = frequent[gen_below(g, 5)];
    switch (op) {
    case OP_WHILE: loop(g); break;
    case OP_CONDITIONAL: conditional(g); break;
    case OP_MAP: gen_map(g); break;
    case OP_CUSTOM_CALL: custom_call(g); break;
    case OP_CALL:
    case OP_FUSION: call(g, op); break;
    default: async(g); break;
    }
}

/* ---- tuple ---- */

static struct val token(struct gen *g)
{
    return gen_emit_raw(g, "token[]", "after-all", 0, NULL, NULL);
}

static void tuple(struct gen *g)
{
    struct val all[3];
    struct type types[3];
    int n = some_values(g, all, types, 1);
    struct buf shape = {0};
    put_tuple_type(&shape, n, types);
    struct val t = gen_emit_raw(g, shape.data, "tuple", n, all, NULL);
    if (gen_chance(g, 30))
        t = gen_emit_raw(g, shape.data, "opt-barrier", 1, &t, NULL);
    int k = (int)gen_below(g, n);
    gen_element(g, t, k, types[k]);
    buf_free(&shape);
}

void gen_tuple(struct gen *g, enum opcode op)
{
    struct val both[2];
    switch (op) {
    case OP_ADD_DEPENDENCY:
    case OP_AFTER_ALL:
        both[0] = gen_pick(g, TY_ANY, 0);
        both[1] = token(g);
        gen_emit(g, OP_ADD_DEPENDENCY, both[0].type, 2, both, NULL);
        break;
    case OP_CONSTANT: gen_constant(g, gen_type(g, TY_ANY, 0)); break;
    case OP_DOMAIN:
        both[0] = gen_pick(g, TY_ANY, 0);
        gen_emit(g, op, both[0].type, 1, both,
                 ", domain={kind=\"sharding\", entry={replicated}, exit={maximal device=0}}");
        break;
    case OP_OPT_BARRIER:
        both[0] = gen_pick(g, TY_ANY, 0);
        gen_emit(g, op, both[0].type, 1, both, NULL);
        break;
    case OP_PARAMETER: gen_fresh(g, gen_type(g, TY_ANY, 0)); break;
    default: tuple(g); break;
    }
}

/* ---- dynamic: sets a size, operates on the array, and sums it ---- */

static struct val shortened(struct gen *g, struct val x, int d)
{
    struct type t = x.type;
    t.dynamic |= 1u << d;
    struct val held[3] = {gen_number(g, DT_S32, 0), gen_value(g, type_scalar(DT_S32)),
                          gen_number(g, DT_S32, t.dims[d])};
    struct val both[2] = {x, gen_emit(g, OP_CLAMP, held[0].type, 3, held, NULL)};
    return gen_emit(g, OP_SET_DIMENSION_SIZE, t, 2, both, ", dimensions={%d}", d);
}

static struct val turned(struct gen *g, struct val x)
{
    int64_t order[GEN_RANK];
    struct type t = x.type;
    for (int d = 0; d < t.rank; d++)
        order[d] = d;
    gen_shuffle(g, order, t.rank);
    t.dynamic = 0;
    for (int d = 0; d < t.rank; d++) {
        t.dims[d] = x.type.dims[order[d]];
        t.dynamic |= (x.type.dynamic >> order[d] & 1) << d;
    }
    struct buf list = {0};
    put_list(&list, order, t.rank);
    struct val y = gen_emit(g, OP_TRANSPOSE, t, 1, &x, ", dimensions=%s", list.data);
    buf_free(&list);
    return y;
}

/* Concatenates it with an array of static size. */
static struct val joined(struct gen *g, struct val x, int d)
{
    struct type t = x.type, more = x.type;
    more.dynamic = 0;
    more.dims[d] = gen_between(g, 1, 3);
    struct val y = gen_value(g, more), both[2] = {x, y};
    if (gen_chance(g, 40)) {
        both[0] = y;
        both[1] = x;
    }
    t.dims[d] += more.dims[d];
    return gen_emit(g, OP_CONCATENATE, t, 2, both, ", dimensions={%d}", d);
}

static struct val padded(struct gen *g, struct val x, int d)
{
    struct type t = x.type;
    struct buf config = {0};
    int64_t low = gen_between(g, 0, 2), high = gen_between(g, 0, 2);
    for (int k = 0; k < t.rank; k++)
        buf_printf(&config, "%s%d_%d", k ? "x" : "", k == d ? (int)low : 0, k == d ? (int)high : 0);
    t.dims[d] += low + high;
    struct val both[2] = {x, gen_number(g, t.dtype, 1)};
    struct val y = gen_emit(g, OP_PAD, t, 2, both, ", padding=%s", config.data);
    buf_free(&config);
    return y;
}

static struct val counted(struct gen *g, struct val x, int d)
{
    struct type t = x.type;
    t.dynamic = 0;
    struct val both[2] = {x, gen_emit(g, OP_IOTA, t, 0, NULL, ", iota_dimension=%d", d)};
    return gen_emit(g, OP_MULTIPLY, x.type, 2, both, NULL);
}

static int sum_of(struct gen *g, enum dtype t)
{
    struct region r;
    struct val v[2];
    struct type scalars[2] = {type_scalar(t), type_scalar(t)};
    gen_open(g, &r, 2, scalars, v);
    return gen_close(g, gen_emit(g, OP_ADD, scalars[0], 2, v, NULL));
}

/* An instruction on an array that is dynamic in dimension d. */
static struct val worked(struct gen *g, struct val x)
{
    static const enum opcode unary[] = {OP_NEGATE, OP_ABS, OP_COPY, OP_NOT};
    struct val both[2] = {x, x};
    int d = 0;
    while (!(x.type.dynamic >> d & 1))
        d++;
    switch (gen_below(g, 8)) {
    case 0: return turned(g, x);
    case 1: return joined(g, x, d);
    case 2: return padded(g, x, d);
    case 3: return counted(g, x, d);
    case 4: return gen_emit(g, OP_REVERSE, x.type, 1, &x, ", dimensions={%d}", d);
    case 5: return gen_emit(g, gen_chance(g, 50) ? OP_ADD : OP_MULTIPLY, x.type, 2, both, NULL);
    case 6: return x.type.rank > 1 ? shortened(g, x, (d + 1) % x.type.rank) : x;
    default: return gen_emit(g, unary[gen_below(g, 4)], x.type, 1, &x, NULL);
    }
}

void gen_dynamic(struct gen *g, enum opcode op)
{
    struct val x = gen_pick(g, TY_SIGNED, 1);
    while (type_is_huge(&x.type)) /* sizes at run time are s32 */
        x = gen_fresh(g, gen_type(g, TY_SIGNED, 1));
    int64_t all[GEN_RANK];
    int before = g->region->count;
    enum dtype t = x.type.dtype;
    struct val y = shortened(g, x, (int)gen_below(g, x.type.rank));
    for (int64_t n = gen_below(g, 4); n > 0; n--)
        y = worked(g, y);
    for (int k = 0; k < y.type.rank; k++)
        all[k] = k;
    if (op == OP_GET_DIMENSION_SIZE) {
        gen_emit(g, op, type_scalar(DT_S32), 1, &y, ", dimensions={%d}",
                 (int)gen_below(g, y.type.rank));
    } else {
        struct val both[2] = {y, gen_number(g, t, 0)};
        struct buf list = {0};
        put_list(&list, all, y.type.rank);
        gen_emit(g, OP_REDUCE, type_scalar(t), 2, both, ", dimensions=%s, to_apply=c%d", list.data,
                 sum_of(g, t));
        buf_free(&list);
    }
    for (int k = before; k < g->region->count; k++) /* dynamic values are not used elsewhere */
        if (g->region->vals[k].type.dynamic)
            g->region->vals[k].plumbing = true;
}

/* ---- collectives with one participant ---- */

static const char *groups(struct gen *g) { return gen_chance(g, 50) ? "{}" : "{{0}}"; }

static void all_reduce(struct gen *g, bool as_pair)
{
    struct val x = gen_pick(g, TY_INTEGER | TY_FLOAT, 0);
    int body = gen_reducer(g, 1, &x.type.dtype);
    if (!as_pair) {
        gen_emit(g, OP_ALL_REDUCE, x.type, 1, &x, ", replica_groups=%s, to_apply=c%d", groups(g),
                 body);
        return;
    }
    struct val start = gen_emit(g, OP_ALL_REDUCE_START, x.type, 1, &x,
                                ", replica_groups=%s, to_apply=c%d", groups(g), body);
    for (int k = 0; k < g->region->count; k++)
        if (g->region->vals[k].id == start.id)
            g->region->vals[k].plumbing = true;
    gen_emit(g, OP_ALL_REDUCE_DONE, x.type, 1, &start, NULL);
}

/* A -start and -done pair of an operation that keeps operand and result in its tuple. */
static void as_pair(struct gen *g, const char *start, enum opcode done, const char *rest)
{
    struct val x = some_rows(g, TY_ANY);
    struct type both[2] = {x.type, x.type};
    struct buf shape = {0};
    put_tuple_type(&shape, 2, both);
    struct val begun = gen_emit_raw(g, shape.data, start, 1, &x, "%s", rest);
    gen_emit(g, done, x.type, 1, &begun, NULL);
    buf_free(&shape);
}

static void one_array(struct gen *g, enum opcode op, const char *rest)
{
    struct val x = some_rows(g, TY_ANY);
    gen_emit(g, op, x.type, 1, &x, "%s", rest);
}

void gen_collective(struct gen *g, enum opcode op)
{
    struct val x;
    switch (op) {
    case OP_ALL_REDUCE: all_reduce(g, false); break;
    case OP_ALL_REDUCE_START:
    case OP_ALL_REDUCE_DONE: all_reduce(g, true); break;
    case OP_ALL_GATHER: one_array(g, op, ", replica_groups={}, dimensions={0}"); break;
    case OP_ALL_GATHER_START:
    case OP_ALL_GATHER_DONE:
        as_pair(g, "all-gather-start", OP_ALL_GATHER_DONE, ", replica_groups={}, dimensions={0}");
        break;
    case OP_ALL_TO_ALL: one_array(g, op, ", replica_groups={}, dimensions={0}"); break;
    case OP_COLLECTIVE_BROADCAST: one_array(g, op, ", replica_groups={{0}}"); break;
    case OP_COLLECTIVE_PERMUTE:
        one_array(g, op,
                  gen_chance(g, 70) ? ", source_target_pairs={{0,0}}" : ", source_target_pairs={}");
        break;
    case OP_COLLECTIVE_PERMUTE_START:
    case OP_COLLECTIVE_PERMUTE_DONE:
        as_pair(g, "collective-permute-start", OP_COLLECTIVE_PERMUTE_DONE,
                ", source_target_pairs={{0,0}}");
        break;
    case OP_REDUCE_SCATTER:
        x = some_rows(g, TY_INTEGER | TY_FLOAT);
        gen_emit(g, op, x.type, 1, &x, ", replica_groups={}, dimensions={0}, to_apply=c%d",
                 gen_reducer(g, 1, &x.type.dtype));
        break;
    case OP_REPLICA_ID:
    case OP_PARTITION_ID: gen_emit(g, op, type_scalar(DT_U32), 0, NULL, NULL); break;
    default: break; /* ragged-all-to-all */
    }
}

/* Queues and channels have no peer here. */
void gen_io(struct gen *g, enum opcode op)
{
    (void)op;
    gen_elementwise(g, OP_ADD);
}
