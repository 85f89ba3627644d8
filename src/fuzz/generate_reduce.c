/*
 * Generates instructions that apply a computation to elements: reduce and scan, windows, sort, map.
 */
#include "fuzz/generate_priv.h"

/* ---- computations on scalars ---- */

static enum opcode combiner(struct gen *g, enum dtype t)
{
    static const enum opcode logical[] = {OP_AND, OP_OR, OP_XOR, OP_MAXIMUM, OP_MINIMUM},
                             integers[] = {OP_ADD, OP_MULTIPLY, OP_MAXIMUM, OP_MINIMUM,
                                           OP_AND, OP_OR,       OP_XOR,     OP_ADD},
                             floats[] = {OP_ADD, OP_ADD, OP_MAXIMUM, OP_MINIMUM, OP_MULTIPLY};
    if (t == DT_PRED)
        return logical[gen_below(g, 5)];
    if (dtype_is_integer(t))
        return integers[gen_below(g, 8)];
    return dtype_is_float(t) ? floats[gen_below(g, 5)] : gen_chance(g, 70) ? OP_ADD : OP_MULTIPLY;
}

static struct val combine(struct gen *g, struct val acc, struct val x)
{
    struct val both[2] = {acc, x};
    if (gen_chance(g, 15)) {
        both[0] = x;
        both[1] = acc;
    }
    enum dtype types[2] = {x.type.dtype, x.type.dtype};
    struct shared s = gen_scalar_signature(ROLE_REDUCER, 2, types, x.type);
    int callee = x.type.rank == 0 ? gen_reuse(g, 10, &s) : -1;
    if (callee >= 0)
        return gen_emit(g, OP_CALL, x.type, 2, both, ", to_apply=c%d", callee);
    struct val y = gen_emit(g, combiner(g, x.type.dtype), x.type, 2, both, NULL);
    if (!gen_chance(g, 8))
        return y;
    struct val more[2] = {y, gen_number(g, x.type.dtype, 1)};
    return gen_emit(g, combiner(g, x.type.dtype), x.type, 2, more, NULL);
}

/* Compares scalars. */
static struct val compare(struct gen *g, struct val a, struct val b, const char *direction)
{
    struct val both[2] = {a, b};
    return gen_emit(g, OP_COMPARE, type_scalar(DT_PRED), 2, both, ", direction=%s", direction);
}

static struct val predicate(struct gen *g, enum opcode op, struct val a, struct val b)
{
    struct val both[2] = {a, b};
    return gen_emit(g, op, type_scalar(DT_PRED), 2, both, NULL);
}

static struct val choice(struct gen *g, struct val first, struct val a, struct val b)
{
    struct val all[3] = {first, a, b};
    return gen_emit(g, OP_SELECT, a.type, 3, all, NULL);
}

/* The pair with the greater key, as in argmax: of equal keys the first, or, with `ordered`, that of
 * the smaller second value; NaN is greater than any number. */
static void keep_greater(struct gen *g, int count, const struct val *v, bool ordered,
                         struct val *out)
{
    struct val first = compare(g, v[0], v[count], ordered ? "GT" : "GE"), take = first;
    if (ordered) {
        struct val nan = compare(g, v[0], v[0], "NE"), equal = compare(g, v[0], v[count], "EQ"),
                   smaller = compare(g, v[1], v[count + 1], "LT");
        first = predicate(g, OP_OR, first, nan);
        smaller = predicate(g, OP_AND, equal, smaller);
        take = predicate(g, OP_OR, first, smaller);
    }
    for (int k = 0; k < count; k++)
        out[k] = choice(g, k ? take : first, v[k], v[count + k]);
}

int gen_reducer(struct gen *g, int count, const enum dtype *types)
{
    struct region r;
    struct val v[GEN_PARAMS], out[GEN_PARAMS];
    enum dtype params[GEN_PARAMS];
    for (int k = 0; k < 2 * count; k++)
        params[k] = types[k % count];
    struct shared s = gen_scalar_signature(ROLE_REDUCER, 2 * count, params, type_scalar(types[0]));
    s.fusible = true;
    s.result_count = count == 1 ? 0 : count;
    for (int k = 0; k < count; k++)
        s.results[k] = type_scalar(types[k]);
    int number = gen_reuse(g, 40, &s);
    if (number >= 0)
        return number;
    gen_open(g, &r, 2 * count, s.params, v);
    if (count > 1 && !dtype_is_complex(types[0]) && gen_chance(g, 50))
        keep_greater(g, count, v, dtype_is_integer(types[1]) && gen_chance(g, 50), out);
    else
        for (int k = 0; k < count; k++)
            out[k] = combine(g, v[k], v[count + k]);
    number = count == 1 ? gen_close(g, out[0]) : gen_close_tuple(g, count, out);
    gen_share(g, &s, number);
    return number;
}

/* A key in reverse order, or that of a float: another type, or equal zeros and equal NaNs. */
static struct val key_of(struct gen *g, struct val x, bool wide)
{
    enum dtype t = x.type.dtype;
    if (!dtype_is_float(t))
        return gen_emit(g, OP_NOT, x.type, 1, &x, NULL);
    if (wide || t == DT_F8E8M0FNU)
        return gen_emit(g, OP_CONVERT, type_scalar(DT_F64), 1, &x, NULL);
    struct val zero = gen_number(g, t, 0), minus = gen_emit(g, OP_NEGATE, x.type, 1, &zero, NULL),
               is_zero = compare(g, x, zero, "EQ"), is_nan = compare(g, x, x, "NE");
    return choice(g, is_zero, zero, choice(g, is_nan, minus, x));
}

static struct val is_before(struct gen *g, struct val a, struct val b, const char *direction)
{
    struct val both[2] = {a, b};
    return gen_emit(g, OP_COMPARE, type_scalar(DT_PRED), 2, both, ", direction=%s%s", direction,
                    dtype_is_float(a.type.dtype) ? ", type=TOTALORDER" : "");
}

/* `total`: only equal values compare equal. */
static int comparator(struct gen *g, int count, const struct type *types, bool total)
{
    struct region r;
    enum dtype params[GEN_PARAMS];
    struct val v[GEN_PARAMS];
    int key = (int)gen_below(g, count);
    if (dtype_is_complex(types[key].dtype))
        key = 0;
    for (int k = 0; k < 2 * count; k++)
        params[k] = types[k / 2].dtype;
    struct shared s =
        gen_scalar_signature(ROLE_COMPARATOR, 2 * count, params, type_scalar(DT_PRED));
    int number = total ? -1 : gen_reuse(g, 40, &s);
    if (number >= 0)
        return number;
    gen_open(g, &r, 2 * count, s.params, v);
    struct val a = v[2 * key], b = v[2 * key + 1];
    if (!total && gen_chance(g, 30)) {
        bool wide = gen_chance(g, 50);
        a = key_of(g, a, wide);
        b = key_of(g, b, wide);
    }
    struct val before = is_before(g, a, b, gen_chance(g, 60) ? "LT" : "GT");
    int second = (key + 1) % count;
    if (second != key && !dtype_is_complex(types[second].dtype) && gen_chance(g, 30)) {
        struct val equal = is_before(g, a, b, "EQ"),
                   next = is_before(g, v[2 * second], v[2 * second + 1], "LT");
        next = predicate(g, OP_AND, equal, next);
        before = predicate(g, OP_OR, before, next);
    }
    number = gen_close(g, before);
    gen_share(g, &s, number);
    return number;
}

/* A random opcode of class `class` that accepts this type. */
static enum opcode scalar_opcode(struct gen *g, enum dtype t, enum op_class class)
{
    unsigned bit = t == DT_PRED           ? TY_PRED
                   : dtype_is_signed(t)   ? TY_SIGNED
                   : dtype_is_unsigned(t) ? TY_UNSIGNED
                   : dtype_is_float(t)    ? TY_FLOAT
                                          : TY_COMPLEX;
    enum opcode fits[OP_COUNT];
    int count = 0;
    for (int op = 0; op < OP_COUNT; op++)
        if (op_table[op].class == class && op_table[op].family == FAMILY_elementwise &&
            op_table[op].types & bit && !(op >= OP_SHIFT_LEFT && op <= OP_SHIFT_RIGHT_LOGICAL) &&
            op != OP_IMAG && op != OP_REAL && op != OP_ABS && op != OP_IS_FINITE &&
            op != OP_MULHI && op != OP_REMAINDER &&
            !(bit == TY_COMPLEX && (op == OP_MAXIMUM || op == OP_MINIMUM)))
            fits[count++] = (enum opcode)op;
    return count ? fits[gen_below(g, count)] : OP_INVALID;
}

static int scalar_function(struct gen *g, int count, const struct type *types)
{
    struct region r;
    enum dtype params[GEN_PARAMS];
    struct val v[GEN_PARAMS];
    for (int k = 0; k < count; k++)
        params[k] = types[k].dtype;
    struct shared s = gen_scalar_signature(ROLE_CALLEE, count, params, type_scalar(params[0]));
    int number = gen_reuse(g, 40, &s);
    if (number >= 0)
        return number;
    gen_open(g, &r, count, s.params, v);
    struct val x = v[0];
    for (int64_t n = gen_between(g, 1, 4); n > 0; n--) {
        bool two = gen_chance(g, 60);
        enum opcode op = scalar_opcode(g, x.type.dtype, two ? CLASS_BINARY : CLASS_UNARY);
        struct val both[2] = {x, gen_value(g, x.type)};
        if (op != OP_INVALID)
            x = gen_emit(g, op, x.type, two ? 2 : 1, both, NULL);
    }
    number = gen_close(g, x);
    gen_share(g, &s, number);
    return number;
}

/* ---- reduce ---- */

/* Dimensions to reduce, in any order, and those that are kept. */
struct reduction {
    int64_t reduced[GEN_RANK], kept[GEN_RANK];
    int count;
    struct type result;
};

static struct reduction some_reduction(struct gen *g, const struct type *x)
{
    struct reduction r = {.result = type_scalar(x->dtype)};
    unsigned reduced = 0;
    for (int d = 0; d < x->rank; d++)
        r.reduced[d] = d;
    gen_shuffle(g, r.reduced, x->rank);
    r.count = (int)gen_between(g, x->rank > 0 && gen_chance(g, 95), x->rank);
    for (int k = 0; k < r.count; k++)
        reduced |= 1u << r.reduced[k];
    for (int d = 0; d < x->rank; d++)
        if (!(reduced >> d & 1)) {
            r.kept[r.result.rank] = d;
            r.result.dims[r.result.rank++] = x->dims[d];
        }
    return r;
}

static void reduce(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0), all[4] = {x};
    int n = gen_chance(g, 80) ? 1 : 2;
    enum dtype types[2] = {x.type.dtype, gen_partner(g, x.type.dtype)};
    const struct reduction r = some_reduction(g, &x.type);
    struct type results[2] = {r.result, type_with(r.result, types[1])};
    for (int k = 0; k < n; k++) {
        all[k] = k ? gen_value(g, type_with(x.type, types[k])) : x;
        all[n + k] =
            gen_chance(g, 50) ? gen_number(g, types[k], 0) : gen_value(g, type_scalar(types[k]));
    }
    int body = gen_reducer(g, n, types);
    struct buf list = {0};
    put_list(&list, r.reduced, r.count);
    if (n == 1)
        gen_emit(g, OP_REDUCE, results[0], 2, all, ", dimensions=%s, to_apply=c%d", list.data,
                 body);
    else
        gen_emit_tuple(g, OP_REDUCE, n, results, 2 * n, all, NULL, ", dimensions=%s, to_apply=c%d",
                       list.data, body);
    buf_free(&list);
}

/* Reductions whose results are combined with their operand, as in a softmax. */
static void normalize(struct gen *g)
{
    struct val x = gen_pick(g, TY_INTEGER | TY_FLOAT, 1);
    const enum dtype t = x.type.dtype;
    for (int64_t n = gen_between(g, 1, 3); n > 0; n--) {
        const struct reduction r = some_reduction(g, &x.type);
        struct buf reduced = {0}, kept = {0};
        put_list(&reduced, r.reduced, r.count);
        put_list(&kept, r.kept, r.result.rank);
        struct val both[2] = {x, gen_number(g, t, 0)}, sides[2] = {x};
        const int body = gen_reducer(g, 1, &t);
        struct val y = gen_emit(g, OP_REDUCE, r.result, 2, both, ", dimensions=%s, to_apply=c%d",
                                reduced.data, body);
        if (gen_chance(g, 50)) {
            struct val more[2] = {y, gen_value(g, r.result)};
            y = gen_emit(g, combiner(g, t), r.result, 2, more, NULL);
        }
        sides[1] = gen_emit(g, OP_BROADCAST, x.type, 1, &y, ", dimensions=%s", kept.data);
        x = gen_emit(g, combiner(g, t), x.type, 2, sides, NULL);
        buf_free(&reduced);
        buf_free(&kept);
    }
}

static struct type without_dim(struct type t, int d)
{
    for (int k = d; k + 1 < t.rank; k++)
        t.dims[k] = t.dims[k + 1];
    t.rank--;
    return t;
}

static void scan(struct gen *g)
{
    struct val x = gen_pick(g, TY_INTEGER | TY_FLOAT, 1);
    int d = (int)gen_below(g, x.type.rank);
    struct type slice = without_dim(x.type, d), params[2] = {slice, slice},
                results[2] = {x.type, slice};
    struct region r;
    struct val v[2], out[2];
    gen_open(g, &r, 2, params, v);
    for (int k = 0; k < 2; k++)
        out[k] = gen_emit(g, combiner(g, slice.dtype), slice, 2, v, NULL);
    int body = gen_close_tuple(g, 2, out);
    struct val all[2] = {x, gen_value(g, slice)};
    gen_emit_tuple(g, OP_SCAN, 2, results, 2, all, NULL,
                   ", dimensions={%d}, num_carries=1%s, is_associative=false, to_apply=c%d", d,
                   gen_chance(g, 30) ? ", is_reverse=true" : "", body);
}

void gen_reduce(struct gen *g, enum opcode op)
{
    if (op == OP_SCAN)
        scan(g);
    else if (gen_chance(g, 30))
        normalize(g);
    else
        reduce(g);
}

/* ---- windows ---- */

struct window {
    int64_t size, stride, low, high, base, dilation;
};

/* The number of window positions over n elements; negative: invalid. */
static int64_t positions(const struct window *w, int64_t n)
{
    int64_t padded = w->low + (n ? (n - 1) * w->base + 1 : 0) + w->high,
            win = (w->size - 1) * w->dilation + 1;
    return padded < 0 ? -1 : padded == 0 || win > padded ? 0 : (padded - win) / w->stride + 1;
}

static struct window some_window(struct gen *g, int64_t n, bool simple)
{
    struct window w = {1, 1, 0, 0, 1, 1};
    w.size = gen_chance(g, 30) ? 1 : gen_between(g, 1, 3);
    w.stride = gen_chance(g, 60) ? 1 : gen_between(g, 2, 3);
    if (gen_chance(g, 40)) {
        w.low = gen_between(g, simple ? 0 : -1, 2);
        w.high = gen_between(g, simple ? 0 : -1, 2);
    }
    if (!simple && gen_chance(g, 15))
        w.base = 2;
    if (!simple && gen_chance(g, 15))
        w.dilation = 2;
    return positions(&w, n) < 0 ? (struct window){1, 1, 0, 0, 1, 1} : w;
}

static void put_window(struct buf *out, const struct window *w, int count)
{
    static const struct {
        const char *name;
        size_t at;
    } parts[] = {{"size", offsetof(struct window, size)},
                 {"stride", offsetof(struct window, stride)},
                 {"lhs_dilate", offsetof(struct window, base)},
                 {"rhs_dilate", offsetof(struct window, dilation)}};
    buf_puts(out, "window={");
    for (size_t p = 0; p < 4; p++) {
        buf_printf(out, "%s%s=", p ? " " : "", parts[p].name);
        for (int k = 0; k < count; k++) {
            int64_t n;
            memcpy(&n, (const char *)&w[k] + parts[p].at, sizeof n);
            buf_printf(out, "%s%" PRId64, k ? "x" : "", n);
        }
    }
    buf_puts(out, " pad=");
    for (int k = 0; k < count; k++)
        buf_printf(out, "%s%" PRId64 "_%" PRId64, k ? "x" : "", w[k].low, w[k].high);
    buf_putc(out, '}');
}

static struct type windowed(struct gen *g, struct type t, struct window *w, bool simple)
{
    for (int d = 0; d < t.rank; d++) {
        w[d] = some_window(g, t.dims[d], simple);
        t.dims[d] = positions(&w[d], t.dims[d]);
    }
    return t;
}

static void reduce_window(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 1), all[4] = {x};
    int n = gen_chance(g, 85) ? 1 : 2;
    struct window w[GEN_RANK];
    struct type t = windowed(g, x.type, w, false);
    enum dtype types[2] = {x.type.dtype, gen_dtype(g, TY_ANY)};
    struct type results[2] = {t, type_with(t, types[1])};
    for (int k = 0; k < n; k++) {
        all[k] = k ? gen_value(g, type_with(x.type, types[k])) : x;
        all[n + k] =
            gen_chance(g, 60) ? gen_number(g, types[k], 0) : gen_value(g, type_scalar(types[k]));
    }
    int body = gen_reducer(g, n, types);
    struct buf rest = {0};
    put_window(&rest, w, t.rank);
    if (n == 1)
        gen_emit(g, OP_REDUCE_WINDOW, t, 2, all, ", %s, to_apply=c%d", rest.data, body);
    else
        gen_emit_tuple(g, OP_REDUCE_WINDOW, n, results, 2 * n, all, NULL, ", %s, to_apply=c%d",
                       rest.data, body);
    buf_free(&rest);
}

static void select_and_scatter(struct gen *g)
{
    static const char *const directions[] = {"GE", "GT", "LE", "LT"};
    struct val x = gen_pick(g, TY_INTEGER | TY_FLOAT, 1);
    struct window w[GEN_RANK];
    struct type source = windowed(g, x.type, w, true);
    struct type scalars[2] = {type_scalar(x.type.dtype), type_scalar(x.type.dtype)};
    enum dtype both[2] = {x.type.dtype, x.type.dtype};
    struct shared chooses = gen_scalar_signature(ROLE_COMPARATOR, 2, both, type_scalar(DT_PRED));
    struct shared adds = gen_scalar_signature(ROLE_REDUCER, 2, both, scalars[0]);
    int select = gen_reuse(g, 30, &chooses), scatter = gen_reuse(g, 30, &adds);
    struct region r;
    struct val v[2];
    if (select < 0) {
        gen_open(g, &r, 2, scalars, v);
        select = gen_close(g, gen_emit(g, OP_COMPARE, type_scalar(DT_PRED), 2, v, ", direction=%s",
                                       directions[gen_below(g, 4)]));
    }
    if (scatter < 0) {
        gen_open(g, &r, 2, scalars, v);
        scatter = gen_close(
            g, gen_emit(g, gen_chance(g, 80) ? OP_ADD : OP_MAXIMUM, scalars[0], 2, v, NULL));
    }
    struct val all[3] = {x, gen_value(g, source),
                         gen_number(g, x.type.dtype, gen_chance(g, 70) ? 0 : 1)};
    struct buf rest = {0};
    put_window(&rest, w, source.rank);
    gen_emit(g, OP_SELECT_AND_SCATTER, x.type, 3, all, ", %s, select=c%d, scatter=c%d", rest.data,
             select, scatter);
    buf_free(&rest);
}

void gen_window(struct gen *g, enum opcode op)
{
    if (op == OP_SELECT_AND_SCATTER)
        select_and_scatter(g);
    else
        reduce_window(g);
}

/* ---- sort ---- */

static void topk(struct gen *g)
{
    struct val x = gen_pick(g, TY_INTEGER | TY_FLOAT, 1);
    struct type t = x.type;
    t.dims[t.rank - 1] = gen_between(g, 0, t.dims[t.rank - 1]);
    struct type results[2] = {t, type_with(t, DT_S32)};
    gen_emit_tuple(g, OP_TOPK, 2, results, 1, &x, NULL, ", k=%" PRId64 ", largest=%s",
                   t.dims[t.rank - 1], gen_chance(g, 60) ? "true" : "false");
}

void gen_sort(struct gen *g, enum opcode op)
{
    if (op == OP_TOPK) {
        topk(g);
        return;
    }
    struct val all[3] = {gen_pick(g, TY_PRED | TY_INTEGER | TY_FLOAT, 1)};
    struct type types[3] = {all[0].type};
    int n = gen_chance(g, 60) ? 1 : (int)gen_between(g, 2, 3);
    for (int k = 1; k < n; k++) {
        types[k] = type_with(types[0], gen_dtype(g, TY_ANY));
        all[k] = gen_value(g, types[k]);
    }
    bool unstable = n == 1 && gen_chance(g, 50);
    int body = comparator(g, n, types, unstable), d = (int)gen_below(g, types[0].rank);
    const char *stable = unstable ? "" : ", is_stable=true"; /* for a unique result */
    if (n == 1)
        gen_emit(g, op, types[0], 1, all, ", dimensions={%d}%s, to_apply=c%d", d, stable, body);
    else
        gen_emit_tuple(g, op, n, types, n, all, NULL, ", dimensions={%d}%s, to_apply=c%d", d,
                       stable, body);
}

/* ---- map, which belongs to control flow in op.def ---- */

void gen_map(struct gen *g)
{
    struct val all[3] = {gen_pick(g, TY_ANY, 0)};
    struct type types[3] = {all[0].type, all[0].type, all[0].type};
    int n = (int)gen_between(g, 1, 3);
    int64_t dims[GEN_RANK];
    for (int d = 0; d < types[0].rank; d++)
        dims[d] = d;
    for (int k = 1; k < n; k++)
        all[k] = gen_value(g, types[k]);
    struct buf list = {0};
    put_list(&list, dims, types[0].rank);
    gen_emit(g, OP_MAP, types[0], n, all, ", dimensions=%s, to_apply=c%d", list.data,
             scalar_function(g, n, types));
    buf_free(&list);
}

/* ---- window of a convolution ---- */

struct type gen_conv_window(struct gen *g, struct type spatial, struct buf *out, int64_t *kernel)
{
    struct window w[GEN_RANK];
    struct type t = windowed(g, spatial, w, false);
    for (int d = 0; d < t.rank; d++)
        kernel[d] = w[d].size;
    put_window(out, w, t.rank);
    return t;
}
