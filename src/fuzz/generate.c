/*
 * Core of the generator: random choices, types, values, instructions as text, computations, the
 * module.
 */
#include "fuzz/generate_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- choices ---- */

static uint64_t next_random(struct gen *g)
{
    uint64_t z = g->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Each choice consumes one byte of the fuzzer's input; after its end, choices are random. */
uint64_t gen_bits(struct gen *g)
{
    if (g->left == 0)
        return next_random(g);
    g->left--;
    return *g->bytes++;
}

int64_t gen_below(struct gen *g, int64_t n)
{
    return n > 1 ? (int64_t)(gen_bits(g) % (uint64_t)n) : 0;
}

bool gen_chance(struct gen *g, int percent) { return gen_below(g, 100) < percent; }

void gen_shuffle(struct gen *g, int64_t *items, int count)
{
    for (int k = count - 1; k > 0; k--) {
        int64_t j = gen_below(g, k + 1), kept = items[k];
        items[k] = items[j];
        items[j] = kept;
    }
}

int64_t gen_size(struct gen *g, int64_t low, int64_t high, int64_t large)
{
    return gen_between(g, low, g->large && gen_chance(g, 50) ? large : high);
}

/* ---- types ---- */

enum { MAX_ELEMENTS = 1 << 24 };

static unsigned class_bit(enum dtype t)
{
    switch (dtype_class(t)) {
    case DC_PRED: return TY_PRED;
    case DC_SIGNED: return TY_SIGNED;
    case DC_UNSIGNED: return TY_UNSIGNED;
    case DC_FLOAT: return TY_FLOAT;
    case DC_COMPLEX: return TY_COMPLEX;
    default: return 0;
    }
}

/* The six-bit floats are newer than the XLA version that results are compared with. */
static bool is_usual(enum dtype t) { return t != DT_F6E2M3FN && t != DT_F6E3M2FN; }

enum dtype gen_dtype(struct gen *g, unsigned types)
{
    static const enum dtype common[] = {DT_F32, DT_F32, DT_S32, DT_S32, DT_PRED, DT_BF16, DT_F64,
                                        DT_F16, DT_U8,  DT_S8,  DT_S64, DT_U32,  DT_C64};
    enum dtype fits[64];
    int count = 0;
    if (types == TY_ANY)
        types = TY_ARRAY;
    if (gen_chance(g, 70)) {
        for (size_t k = 0; k < sizeof common / sizeof *common; k++)
            if (class_bit(common[k]) & types)
                fits[count++] = common[k];
    }
    if (count == 0)
        for (int t = 0; t < DT_COUNT; t++)
            if (class_bit((enum dtype)t) & types && is_usual((enum dtype)t))
                fits[count++] = (enum dtype)t;
    return fits[gen_below(g, count)];
}

enum dtype gen_partner(struct gen *g, enum dtype t)
{
    return gen_dtype(g, dtype_is_float(t) ? TY_INTEGER | TY_PRED : TY_ANY);
}

int64_t type_elements(const struct type *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] == 0)
            return 0;
    for (int d = 0; d < t->rank; d++)
        if (!mul_i64(n, t->dims[d], &n))
            return INT64_MAX;
    return n;
}

bool type_is_huge(const struct type *t)
{
    for (int d = 0; d < t->rank; d++)
        if (t->dims[d] > MAX_ELEMENTS)
            return true;
    return false;
}

struct type type_of(enum dtype dtype, int rank, const int64_t *dims)
{
    struct type t = {.dtype = dtype, .rank = rank};
    for (int d = 0; d < rank; d++)
        t.dims[d] = dims[d];
    return t;
}

struct type type_scalar(enum dtype t) { return (struct type){.dtype = t}; }

struct type type_with(struct type t, enum dtype dtype)
{
    t.dtype = dtype;
    return t;
}

bool type_equal(const struct type *a, const struct type *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->dynamic == b->dynamic &&
           memcmp(a->dims, b->dims, sizeof *a->dims * (size_t)a->rank) == 0;
}

static int64_t some_large_size(struct gen *g, int64_t limit)
{
    static const int64_t sizes[] = {64, 1000, 257, 70000, 33, 200000, 4096, 513};
    const int64_t size = gen_chance(g, 50) ? sizes[gen_below(g, sizeof sizes / sizeof *sizes)]
                                           : gen_between(g, 2, 700);
    return size < limit ? size : limit;
}

static int64_t some_size(struct gen *g)
{
    static const int64_t sizes[] = {2, 3, 4, 5, 2, 3, 1, 7, 8, 1, 6};
    return gen_chance(g, 3) ? 0 : sizes[gen_below(g, sizeof sizes / sizeof *sizes)];
}

/* Makes the array empty, with dimensions whose product overflows. */
static void make_huge(struct gen *g, struct type *t)
{
    int d = (int)gen_below(g, t->rank), empty = (int)gen_below(g, t->rank - 1);
    t->dims[d] = GEN_HUGE;
    t->dims[empty + (empty >= d)] = 0;
}

struct type gen_type(struct gen *g, unsigned types, int min_rank)
{
    static const int ranks[] = {2, 1, 3, 2, 1, 0, 2, 4, 3, 5};
    struct type t = {.dtype = gen_dtype(g, types)};
    t.rank = ranks[gen_below(g, sizeof ranks / sizeof *ranks)];
    if (t.rank < min_rank)
        t.rank = min_rank;
    int64_t limit = g->large ? GEN_LARGE : GEN_ELEMENTS;
    for (int d = 0; d < t.rank; d++) {
        t.dims[d] = g->large && gen_chance(g, 60) ? some_large_size(g, limit) : some_size(g);
        if (t.dims[d] > limit)
            t.dims[d] = 1;
        limit = t.dims[d] > 0 ? limit / t.dims[d] : GEN_ELEMENTS;
    }
    if (t.rank > 1 && gen_chance(g, 2))
        make_huge(g, &t);
    return t;
}

static void put_layout(struct gen *g, struct buf *out, int rank)
{
    int64_t order[GEN_RANK];
    for (int d = 0; d < rank; d++)
        order[d] = d;
    gen_shuffle(g, order, rank);
    put_list(out, order, rank);
}

void put_plain_type(struct buf *out, const struct type *t)
{
    buf_printf(out, "%s[", dtype_spelling(t->dtype));
    for (int d = 0; d < t->rank; d++)
        buf_printf(out, "%s%s%" PRId64, d ? "," : "", t->dynamic >> d & 1 ? "<=" : "", t->dims[d]);
    buf_putc(out, ']');
}

void put_type(struct gen *g, struct buf *out, const struct type *t)
{
    put_plain_type(out, t);
    if (t->rank > 1 && gen_chance(g, 8))
        put_layout(g, out, t->rank);
}

void put_list(struct buf *out, const int64_t *items, int count)
{
    buf_putc(out, '{');
    for (int k = 0; k < count; k++)
        buf_printf(out, "%s%" PRId64, k ? "," : "", items[k]);
    buf_putc(out, '}');
}

void put_tuple_type(struct buf *out, int count, const struct type *types)
{
    buf_putc(out, '(');
    for (int k = 0; k < count; k++) {
        if (k)
            buf_puts(out, ", ");
        put_plain_type(out, &types[k]);
    }
    buf_putc(out, ')');
}

/* ---- instructions ---- */

static struct val add_value(struct gen *g, struct type t, bool plumbing)
{
    struct region *r = g->region;
    struct val v = {.id = g->ids++, .type = t, .plumbing = plumbing};
    g->excess |= !plumbing && type_elements(&t) > MAX_ELEMENTS;
    if (r->count < GEN_VALUES)
        r->vals[r->count++] = v;
    return v;
}

static void count_users(struct gen *g, int count, const struct val *operands)
{
    for (int k = 0; k < count; k++)
        for (int j = 0; j < g->region->count; j++)
            if (g->region->vals[j].id == operands[k].id)
                g->region->vals[j].users++;
}

static void put_operands(struct gen *g, int count, const struct val *operands)
{
    struct buf *out = &g->region->text;
    buf_putc(out, '(');
    for (int k = 0; k < count; k++)
        buf_printf(out, "%sv%d", k ? ", " : "", operands[k].id);
    buf_putc(out, ')');
    count_users(g, count, operands);
}

PRINTF_LIKE(2, 0) static void put_rest(struct gen *g, const char *rest, va_list ap)
{
    char line[1024];
    if (rest) {
        vsnprintf(line, sizeof line, rest, ap);
        buf_puts(&g->region->text, line);
    }
    buf_putc(&g->region->text, '\n');
}

/* Whether to omit a result shape that can be inferred. */
static bool may_leave_out(struct gen *g, enum opcode op)
{
    enum op_class class = op_table[op].class;
    return (class == CLASS_UNARY || class == CLASS_BINARY) && gen_chance(g, 10);
}

struct val gen_emit(struct gen *g, enum opcode op, struct type t, int count,
                    const struct val *operands, const char *rest, ...)
{
    va_list ap;
    struct val v = add_value(g, t, false);
    struct buf *out = &g->region->text;
    buf_printf(out, "  v%d = ", v.id);
    if (!may_leave_out(g, op)) {
        put_type(g, out, &t);
        buf_putc(out, ' ');
    }
    buf_puts(out, op_spelling(op));
    put_operands(g, count, operands);
    va_start(ap, rest);
    put_rest(g, rest, ap);
    va_end(ap);
    return v;
}

struct val gen_emit_raw(struct gen *g, const char *shape, const char *op, int count,
                        const struct val *operands, const char *rest, ...)
{
    va_list ap;
    struct val v = add_value(g, (struct type){.dtype = DT_TUPLE}, true);
    buf_printf(&g->region->text, "  v%d = %s %s", v.id, shape, op);
    put_operands(g, count, operands);
    va_start(ap, rest);
    put_rest(g, rest, ap);
    va_end(ap);
    return v;
}

struct val gen_element(struct gen *g, struct val tuple, int index, struct type t)
{
    return gen_emit(g, OP_GET_TUPLE_ELEMENT, t, 1, &tuple, ", index=%d", index);
}

void gen_emit_tuple(struct gen *g, enum opcode op, int result_count, const struct type *results,
                    int count, const struct val *operands, struct val *out, const char *rest, ...)
{
    va_list ap;
    struct val v = add_value(g, (struct type){.dtype = DT_TUPLE}, true);
    buf_printf(&g->region->text, "  v%d = ", v.id);
    put_tuple_type(&g->region->text, result_count, results);
    buf_printf(&g->region->text, " %s", op_spelling(op));
    put_operands(g, count, operands);
    va_start(ap, rest);
    put_rest(g, rest, ap);
    va_end(ap);
    for (int k = 0; k < result_count; k++) {
        struct val element = gen_element(g, v, k, results[k]);
        if (out)
            out[k] = element;
    }
}

/* ---- values ---- */

static void put_number(struct gen *g, enum dtype t)
{
    struct buf *out = &g->region->text;
    int64_t n = gen_between(g, t == DT_F8E8M0FNU ? 1 : dtype_is_unsigned(t) ? 0 : -3, 6);
    int bits = (int)dtype_bits(t);
    if (t == DT_PRED)
        buf_puts(out, n & 1 ? "true" : "false");
    else if (dtype_is_complex(t))
        buf_printf(out, "(%" PRId64 ", %" PRId64 ".5)", n, gen_between(g, -2, 2));
    else if (dtype_is_float(t))
        buf_printf(out, "%" PRId64 "%s", n, gen_chance(g, 50) ? "" : ".5");
    else if (bits < 4)
        buf_printf(out, "%d", (int)(dtype_is_signed(t) ? -(n & 1) : n & 1));
    else
        buf_int(out, n);
}

static void put_literal(struct gen *g, const struct type *t, int d)
{
    if (d == t->rank) {
        put_number(g, t->dtype);
        return;
    }
    buf_putc(&g->region->text, '{');
    for (int64_t k = 0; k < t->dims[d]; k++) {
        if (k)
            buf_puts(&g->region->text, ", ");
        put_literal(g, t, d + 1);
    }
    buf_putc(&g->region->text, '}');
}

/* Too many elements to write individually: a broadcast or an iota. */
static struct val large_constant(struct gen *g, struct type t)
{
    if (t.dtype != DT_PRED && gen_chance(g, 50))
        return gen_emit(g, OP_IOTA, t, 0, NULL, ", iota_dimension=%d", (int)gen_below(g, t.rank));
    struct val one = gen_constant(g, type_scalar(t.dtype));
    return gen_emit(g, OP_BROADCAST, t, 1, &one, ", dimensions={}");
}

struct val gen_constant(struct gen *g, struct type t)
{
    if (type_elements(&t) > GEN_ELEMENTS || type_is_huge(&t))
        return large_constant(g, t);
    struct val v = add_value(g, t, false);
    buf_printf(&g->region->text, "  v%d = ", v.id);
    put_plain_type(&g->region->text, &t);
    buf_puts(&g->region->text, " constant(");
    put_literal(g, &t, 0);
    buf_puts(&g->region->text, ")\n");
    return v;
}

struct val gen_number(struct gen *g, enum dtype t, int64_t n)
{
    if (dtype_is_integer(t) && dtype_bits(t) < 4)
        n = dtype_is_signed(t) ? -(n & 1) : n & 1;
    if (t == DT_F8E8M0FNU && n < 1)
        n = 1;
    struct val v = add_value(g, type_scalar(t), false);
    buf_printf(&g->region->text, "  v%d = %s[] constant(", v.id, dtype_spelling(t));
    if (t == DT_PRED)
        buf_puts(&g->region->text, n ? "true" : "false");
    else if (dtype_is_complex(t))
        buf_printf(&g->region->text, "(%" PRId64 ", 0)", n);
    else
        buf_int(&g->region->text, n);
    buf_puts(&g->region->text, ")\n");
    return v;
}

static struct val new_parameter(struct gen *g, struct type t)
{
    struct val v = add_value(g, t, false);
    buf_printf(&g->region->text, "  v%d = ", v.id);
    put_type(g, &g->region->text, &t);
    buf_printf(&g->region->text, " parameter(%d)\n", g->region->params++);
    return v;
}

struct val gen_fresh(struct gen *g, struct type t)
{
    bool counts = t.rank > 0 && t.dtype != DT_PRED;
    if (g->region->takes_more && gen_chance(g, 85))
        return new_parameter(g, t);
    if (counts && gen_chance(g, 40))
        return gen_emit(g, OP_IOTA, t, 0, NULL, ", iota_dimension=%d", (int)gen_below(g, t.rank));
    if (t.rank > 0 && (type_elements(&t) > 16 || gen_chance(g, 20))) {
        struct val x = gen_constant(g, type_scalar(t.dtype));
        return gen_emit(g, OP_BROADCAST, t, 1, &x, ", dimensions={}");
    }
    return gen_constant(g, t);
}

/* Selects an existing value; false if none is suitable. */
static bool find(struct gen *g, const struct type *requested, unsigned types, int min_rank,
                 struct val *out)
{
    int count = 0;
    for (int k = 0; k < g->region->count; k++) {
        const struct val *v = &g->region->vals[k];
        bool fits = !v->plumbing && (requested ? type_equal(&v->type, requested)
                                               : class_bit(v->type.dtype) & types &&
                                                     v->type.rank >= min_rank && !v->type.dynamic);
        if (fits && gen_below(g, ++count) == 0)
            *out = *v;
    }
    return count > 0;
}

struct val gen_value(struct gen *g, struct type t)
{
    struct val v;
    return gen_chance(g, 65) && find(g, &t, 0, 0, &v) ? v : gen_fresh(g, t);
}

struct val gen_pick(struct gen *g, unsigned types, int min_rank)
{
    struct val v;
    if (types == TY_ANY)
        types = TY_ARRAY;
    return gen_chance(g, 70) && find(g, NULL, types, min_rank, &v)
               ? v
               : gen_fresh(g, gen_type(g, types, min_rank));
}

struct val gen_last(struct gen *g, const struct type *t)
{
    struct val v = {.id = -1};
    for (int k = 0; k < g->region->count; k++)
        if (!g->region->vals[k].plumbing && type_equal(&g->region->vals[k].type, t))
            v = g->region->vals[k];
    return v;
}

/* ---- computations ---- */

void gen_open(struct gen *g, struct region *r, int param_count, const struct type *params,
              struct val *out)
{
    memset(r, 0, sizeof *r);
    r->outer = g->region;
    g->region = r;
    g->depth++;
    for (int k = 0; k < param_count; k++) {
        struct val v = new_parameter(g, params[k]);
        if (out)
            out[k] = v;
    }
}

void gen_open_tuple(struct gen *g, struct region *r, int count, const struct type *types,
                    struct val *out)
{
    gen_open(g, r, 0, NULL, NULL);
    struct val v = add_value(g, (struct type){.dtype = DT_TUPLE}, true);
    buf_printf(&r->text, "  v%d = ", v.id);
    put_tuple_type(&r->text, count, types);
    buf_puts(&r->text, " parameter(0)\n");
    for (int k = 0; k < count; k++)
        out[k] = gen_element(g, v, k, types[k]);
}

/* Writes the region's text as a computation whose root is the last instruction. */
static void finish(struct gen *g, const char *name)
{
    struct region *r = g->region;
    char *last = r->text.data;
    for (char *p = r->text.data; p && p[0]; p = strchr(p, '\n') + 1)
        last = p;
    buf_printf(&g->done, "%s {\n", name);
    buf_bytes(&g->done, r->text.data, (size_t)(last - r->text.data));
    buf_printf(&g->done, "  ROOT %s}\n\n", last + 2);
    buf_free(&r->text);
    g->closed_nested = r->nested;
    g->closed_random = r->random;
    g->region = r->outer;
    g->depth--;
    if (r->outer) {
        r->outer->nested = true;
        r->outer->random |= r->random;
    }
}

static void finish_called(struct gen *g, int number)
{
    char name[32];
    snprintf(name, sizeof name, "c%d", number);
    finish(g, name);
}

int gen_close(struct gen *g, struct val root)
{
    int number = g->computations++;
    if (root.id != g->ids - 1) /* the root is the last instruction */
        gen_emit(g, OP_COPY, root.type, 1, &root, NULL);
    finish_called(g, number);
    return number;
}

static void emit_root_tuple(struct gen *g, int count, const struct val *roots)
{
    struct type types[GEN_VALUES];
    struct buf shape = {0};
    for (int k = 0; k < count; k++)
        types[k] = roots[k].type;
    put_tuple_type(&shape, count, types);
    gen_emit_raw(g, shape.data, "tuple", count, roots, NULL);
    buf_free(&shape);
}

int gen_close_tuple(struct gen *g, int count, const struct val *roots)
{
    int number = g->computations++;
    emit_root_tuple(g, count, roots);
    finish_called(g, number);
    return number;
}

/* Collects unused values, at most `max`. */
static int unused(struct gen *g, struct val *out, int max)
{
    int count = 0;
    for (int k = 0; k < g->region->count && count < max; k++)
        if (g->region->vals[k].users == 0 && !g->region->vals[k].plumbing)
            out[count++] = g->region->vals[k];
    return count;
}

static void put_instructions(struct gen *g, bool simple)
{
    for (int64_t n = gen_between(g, 1, 3); n > 0; n--)
        (simple ? gen_simple : gen_inner)(g);
}

struct shared gen_function(struct gen *g, bool simple, int param_count, const struct type *params)
{
    struct region r;
    struct val roots[GEN_VALUES];
    struct shared s = {.param_count = param_count, .fusible = simple};
    memcpy(s.params, params, sizeof *params * (size_t)param_count);
    gen_open(g, &r, param_count, params, NULL);
    put_instructions(g, simple);
    int count = unused(g, roots, GEN_VALUES);
    if (count == 0) /* only dead code uses the parameters */
        roots[count++] = gen_value(g, type_scalar(DT_F32));
    s.result_count = count < GEN_LEAVES ? count : GEN_LEAVES;
    for (int k = 0; k < s.result_count; k++)
        s.results[k] = roots[k].type;
    if (count == 1 && gen_chance(g, 80))
        s.result_count = 0;
    int number =
        s.result_count ? gen_close_tuple(g, s.result_count, roots) : gen_close(g, roots[0]);
    gen_share(g, &s, number);
    return s;
}

int gen_step(struct gen *g, struct type t)
{
    struct region r;
    struct shared s = {.param_count = 1, .params = {t}, .results = {t}, .random = true};
    int number = gen_reuse(g, 30, &s);
    if (number >= 0)
        return number;
    gen_open(g, &r, 1, &t, NULL);
    put_instructions(g, false);
    number = gen_close(g, gen_last(g, &t));
    gen_share(g, &s, number);
    return number;
}

/* ---- the module ---- */

typedef void family_fn(struct gen *g, enum opcode op);
static family_fn *const families[FAMILY_COUNT] = {
#define X(name, flags) gen_##name,
    FAMILIES(X)
#undef X
};

static enum opcode some_opcode(struct gen *g, unsigned allowed)
{
    enum opcode fits[OP_COUNT];
    for (;;) {
        int64_t pick =
            gen_below(g, FAMILY_COUNT + 14); /* the largest families are drawn more often */
        enum family f = pick < FAMILY_COUNT        ? (enum family)pick
                        : pick < FAMILY_COUNT + 6  ? FAMILY_elementwise
                        : pick < FAMILY_COUNT + 10 ? FAMILY_shape
                                                   : FAMILY_control;
        int count = 0;
        for (int op = 0; op < OP_COUNT; op++)
            if (op_table[op].family == f && allowed >> f & 1)
                fits[count++] = (enum opcode)op;
        if (count > 0)
            return fits[gen_below(g, count)];
    }
}

#define FAMILY(name) (1u << FAMILY_##name)

/* State before an instruction, to be restored. */
struct before {
    size_t text, done;
    int count, params, shared_count, computations;
    int users[GEN_VALUES];
    bool nested, random, excess;
};

static void remember(const struct gen *g, struct before *b)
{
    const struct region *r = g->region;
    *b = (struct before){r->text.size, g->done.size,    r->count,
                         r->params,    g->shared_count, g->computations};
    b->nested = r->nested;
    b->random = r->random;
    b->excess = g->excess;
    for (int k = 0; k < r->count; k++)
        b->users[k] = r->vals[k].users;
}

static void cut(struct buf *b, size_t size)
{
    b->size = size;
    if (b->data)
        b->data[size] = 0;
}

static void restore_state(struct gen *g, const struct before *b)
{
    struct region *r = g->region;
    cut(&r->text, b->text);
    cut(&g->done, b->done);
    r->count = b->count;
    r->params = b->params;
    r->nested = b->nested;
    r->random = b->random;
    g->shared_count = b->shared_count;
    g->computations = b->computations;
    g->excess = b->excess;
    for (int k = 0; k < r->count; k++)
        r->vals[k].users = b->users[k];
}

/* Adds an instruction unless its result is too large: if the empty dimension of an array is removed
 * and the huge one remains. */
static void attempt(struct gen *g, enum opcode op)
{
    struct before before;
    remember(g, &before);
    g->excess = false;
    families[op_table[op].family](g, op);
    if (g->excess)
        restore_state(g, &before);
    g->excess = before.excess;
}

void gen_simple(struct gen *g)
{
    enum opcode op = some_opcode(g, FAMILY(elementwise) | FAMILY(compare) | FAMILY(convert) |
                                        FAMILY(shape) | FAMILY(dynslice));
    families[op_table[op].family](g, op);
}

enum { DEEPEST = 4 }; /* maximum depth of nested computations */

void gen_inner(struct gen *g)
{
    unsigned allowed = FAMILY(control) | FAMILY(rng) | FAMILY(tuple);
    if (!g->calls)
        allowed |= FAMILY(gather) | FAMILY(reduce) | FAMILY(sort) | FAMILY(window);
    if (g->depth >= DEEPEST || !gen_chance(g, g->calls ? 55 : 30)) {
        gen_simple(g);
        return;
    }
    enum opcode op = some_opcode(g, allowed);
    families[op_table[op].family](g, op);
}

void gen_instruction(struct gen *g)
{
    unsigned calling =
        FAMILY(control) | FAMILY(gather) | FAMILY(reduce) | FAMILY(sort) | FAMILY(window);
    enum opcode op = some_opcode(g, g->calls && gen_chance(g, 60) ? calling : ~0u);
    attempt(g, op);
}

/* Selects all values or only the unused ones as results: unused operands can be updated in place,
 * which results prevent. */
static int roots_of(struct gen *g, struct val *out)
{
    bool all = gen_chance(g, 40);
    int count = 0;
    if (!all)
        return unused(g, out, GEN_VALUES);
    for (int k = 0; k < g->region->count; k++)
        if (!g->region->vals[k].plumbing)
            out[count++] = g->region->vals[k];
    return count;
}

static bool has_dynamic(int count, const struct val *v)
{
    for (int k = 0; k < count; k++)
        if (v[k].type.dynamic)
            return true;
    return false;
}

static void generate(struct gen *g, struct buf *out)
{
    struct region entry;
    struct val roots[GEN_VALUES];
    gen_open(g, &entry, 0, NULL, NULL);
    entry.takes_more = true;
    g->calls = gen_chance(g, 35);
    for (int64_t n = gen_between(g, 1, gen_chance(g, 50) ? 3 : 8); n > 0; n--)
        gen_instruction(g);
    if (entry.count == 0)
        gen_fresh(g, type_scalar(DT_F32));
    int count = roots_of(g, roots);
    if (count != 1 || has_dynamic(count, roots))
        emit_root_tuple(g, count, roots);
    else if (roots[0].id != g->ids - 1)
        gen_emit(g, OP_COPY, roots[0].type, 1, &roots[0], NULL);
    finish(g, "ENTRY main");
    buf_puts(out, "HloModule generated\n\n");
    buf_str(out, buf_view(&g->done));
    buf_free(&g->done);
}

void generate_of_seed(struct buf *out, uint64_t seed)
{
    struct gen g = {.state = seed};
    for (int k = 0; k < 4; k++) /* decorrelates neighboring seeds */
        g.state ^= next_random(&g);
    generate(&g, out);
}

void generate_large_of_seed(struct buf *out, uint64_t seed)
{
    struct gen g = {.state = ~seed, .large = true};
    for (int k = 0; k < 4; k++)
        g.state ^= next_random(&g);
    generate(&g, out);
}

void generate_of_bytes(struct buf *out, const uint8_t *bytes, size_t size)
{
    struct gen g = {.bytes = bytes, .left = size, .state = hash_bytes(bytes, size)};
    generate(&g, out);
}

void generate_large_of_bytes(struct buf *out, const uint8_t *bytes, size_t size)
{
    struct gen g = {.bytes = bytes, .left = size, .state = hash_bytes(bytes, size), .large = true};
    generate(&g, out);
}
