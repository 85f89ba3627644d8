/*
 * Changes of single instructions: another opcode, attribute, order of operands or operand; a scalar
 * constant of another value. A change of an instruction that is applied to elements, such as that
 * of a reducer, is one of the instruction that applies it. A change is a module whose parameters
 * are the operands, or a value.
 */
#include "api/match.h"

#include <math.h>

/* ---- instructions ---- */

/* What a change does. */
struct match_variant {
    enum opcode op;
    bool swapped;                /* the last two operands */
    struct str attribute, value; /* the attribute, "direction=", that gets the value; or empty */
    int operand;                 /* is replaced by instruction `by`; -1: none */
    size_t by;
};

struct variants {
    const struct matching *m;
    const struct match_candidate *of;
    const struct inst *i;
    struct match_variant *at;
    size_t count, capacity;
};

static bool is_elementwise(enum opcode op)
{
    return op_is(op, OP_ELEMENTWISE) && op_table[op].class <= CLASS_TERNARY;
}

static struct match_variant *add_variant(struct variants *v)
{
    VEC_PUSH(v->m->arena, v->at, v->count, v->capacity) =
        (struct match_variant){.op = v->i->opcode, .operand = -1};
    return &v->at[v->count - 1];
}

static void add_attribute(struct variants *v, struct str attribute, struct str value)
{
    struct match_variant *one = add_variant(v);
    one->attribute = attribute;
    one->value = value;
}

static void add_opcodes(struct variants *v)
{
    for (int op = 0; op < OP_COUNT; op++)
        if (op != v->i->opcode && op != OP_COMPARE && is_elementwise((enum opcode)op) &&
            op_table[op].class == op_table[v->i->opcode].class)
            add_variant(v)->op = (enum opcode)op;
}

static void add_directions(struct variants *v)
{
    for (int k = 0; k < enum_count(A_DIRECTION); k++)
        if (k != inst_enum(v->i, A_DIRECTION, -1))
            add_attribute(v, STR("direction="), str_of(enum_word(A_DIRECTION, k)));
}

/* Writes a list of dimensions. */
static struct str list_text(struct arena *a, const int64_t *at, int64_t count)
{
    SCOPED_BUF out = {0};
    for (int64_t k = 0; k < count; k++)
        buf_printf(&out, "%s%" PRId64, k ? "," : "{", at[k]);
    buf_putc(&out, '}');
    return arena_str(a, buf_view(&out));
}

/* One dimension is another, or changes places with another. */
static void add_dimensions(struct variants *v, enum attr_id id)
{
    const struct attr *attr = inst_attr(v->i, id);
    const struct shape *s = v->i->operand_count > 0 ? v->i->operands[0]->shape : v->i->shape;
    const int rank = s->rank > v->i->shape->rank ? s->rank : v->i->shape->rank;
    struct arena *a = v->m->arena;
    const struct str name = arena_printf(a, "%s=", attr_spelling(id));
    if (!attr || !shape_is_array(s))
        return;
    int64_t *at = ARENA_DUP(a, attr->v.ints.at, (size_t)attr->v.ints.count);
    for (int64_t k = 0; k < attr->v.ints.count; k++) {
        const int64_t old = at[k];
        for (int64_t d = 0; d < rank; d++) {
            int64_t other = 0;
            while (other < attr->v.ints.count && at[other] != d)
                other++;
            if (other < k || d == old)
                continue;
            at[k] = d;
            if (other < attr->v.ints.count)
                at[other] = old;
            add_attribute(v, name, list_text(a, at, attr->v.ints.count));
            at[k] = old;
            if (other < attr->v.ints.count)
                at[other] = d;
        }
    }
}

static void add_iota_dimensions(struct variants *v)
{
    for (int k = 0; k < v->i->shape->rank; k++)
        if (k != inst_int(v->i, A_IOTA_DIMENSION, -1))
            add_attribute(v, STR("iota_dimension="), arena_printf(v->m->arena, "%d", k));
}

/* Writes a slice that starts at `start` along dimension k. */
static struct str slices_text(struct arena *a, const struct slices *at, int k, int64_t start)
{
    bool strides = false;
    SCOPED_BUF out = {0};
    for (int d = 0; d < at->rank; d++)
        strides |= at->dims[d].stride != 1;
    for (int d = 0; d < at->rank; d++) {
        const int64_t from = d == k ? start : at->dims[d].start;
        buf_printf(&out, "%s[%" PRId64 ":%" PRId64, d ? ", " : "{", from,
                   from + at->dims[d].limit - at->dims[d].start);
        if (strides)
            buf_printf(&out, ":%" PRId64, at->dims[d].stride);
        buf_putc(&out, ']');
    }
    buf_putc(&out, '}');
    return arena_str(a, buf_view(&out));
}

/* A slice that starts elsewhere, along one dimension. */
static void add_starts(struct variants *v)
{
    enum { MOST = 64 };
    const struct slices at = inst_attr(v->i, A_SLICE)->v.slices;
    for (int k = 0; k < at.rank; k++) {
        const int64_t size = at.dims[k].limit - at.dims[k].start,
                      most = v->i->operands[0]->shape->dims[k] - size;
        for (int64_t start = 0; start <= most && start < MOST; start++)
            if (start != at.dims[k].start)
                add_attribute(v, STR("slice="), slices_text(v->m->arena, &at, k, start));
    }
}

static void add_operations(struct variants *v)
{
    const enum opcode op = v->i->opcode;
    if (v->i->operand_count >= 2 && op != OP_COMPARE && is_elementwise(op) &&
        !op_is(op, OP_COMMUTATIVE))
        add_variant(v)->swapped = true;
    switch (op) {
    case OP_COMPARE: add_directions(v); break;
    case OP_IOTA: add_iota_dimensions(v); break;
    case OP_SLICE: add_starts(v); break;
    case OP_DOT:
        add_dimensions(v, A_LHS_CONTRACTING_DIMS);
        add_dimensions(v, A_RHS_CONTRACTING_DIMS);
        break;
    default:
        if (is_elementwise(op))
            add_opcodes(v);
        else
            add_dimensions(v, A_DIMENSIONS);
    }
}

/* Whether one of the variants from `first` on has the same value as instruction `n`, or the operand
 * in its place has. */
static bool has_value(const struct variants *v, size_t first, int operand, size_t n)
{
    const size_t old = hlo_listing_number(v->m->b.l, v->i->operands[operand]);
    bool found = n == old || match_same_values(&v->m->b, old, n);
    for (size_t k = first; k < v->count && !found; k++)
        found = match_same_values(&v->m->b, v->at[k].by, n);
    return found;
}

/* What computes the value of another operand: its computation as far as it is executed later than
 * the instruction that is changed, from the values of `extras`, which are executed earlier. */
struct cone {
    const hlo_listing *l;
    size_t at; /* the instruction that is changed */
    size_t extras[MATCH_EXTRA_COUNT], extra_count;
    size_t insts[MATCH_EXTRA_COUNT], inst_count;
};

static bool is_among_numbers(const size_t *at, size_t count, size_t n)
{
    for (size_t k = 0; k < count; k++)
        if (at[k] == n)
            return true;
    return false;
}

/* Adds what computes the value of an instruction; false if it depends on the one that is changed,
 * or on too many others. */
static bool add_to_cone(struct cone *c, size_t n)
{
    const struct hlo_listed x = hlo_list_inst(c->l, n);
    if (is_among_numbers(c->extras, c->extra_count, n) ||
        is_among_numbers(c->insts, c->inst_count, n))
        return true;
    if (n < c->at) {
        if (c->extra_count == MATCH_EXTRA_COUNT)
            return false;
        c->extras[c->extra_count++] = n;
        return true;
    }
    if (n == c->at || x.parameter >= 0 || x.callee_count > 0 ||
        !op_is(hlo_listing_inst(c->l, n)->opcode, OP_PURE | OP_NAMES | OP_COMPUTES))
        return false;
    for (size_t k = 0; k < x.operand_count; k++)
        if (!add_to_cone(c, x.operands[k]))
            return false;
    if (c->inst_count == MATCH_EXTRA_COUNT)
        return false;
    c->insts[c->inst_count++] = n;
    return true;
}

/* Adds the variant with instruction `n` as an operand, if it has the shape and another value than
 * those of the variants from `first` on. */
static void add_operand(struct variants *v, size_t first, int operand, size_t n)
{
    const hlo_listing *l = v->m->b.l;
    const struct inst *old = v->i->operands[operand], *other = hlo_listing_inst(l, n);
    struct cone c = {.l = l, .at = v->of->inst};
    const bool applied = v->of->inst != v->of->by;
    if (other == old || !shape_is_array(other->shape) ||
        !shape_equal(other->shape, old->shape, IGNORE_LAYOUT) ||
        (applied ? n >= v->of->inst : has_value(v, first, operand, n) || !add_to_cone(&c, n)))
        return;
    struct match_variant *one = add_variant(v);
    one->operand = operand;
    one->by = n;
}

/* An operand is another instruction of the same shape, the nearest ones first. */
static void add_operands(struct variants *v)
{
    enum { MOST = 32 };
    const hlo_listing *l = v->m->b.l;
    const size_t at = v->of->inst;
    const struct hlo_listed_computation in =
        hlo_list_computation(l, hlo_list_inst(l, at).computation);
    for (int k = 0; k < v->i->operand_count; k++) {
        const size_t first = v->count;
        for (size_t d = 1; d < in.count && v->count < first + MOST; d++) {
            if (at >= in.first + d)
                add_operand(v, first, k, at - d);
            if (at + d < in.first + in.count)
                add_operand(v, first, k, at + d);
        }
    }
}

bool match_has_changes(const struct inst *i)
{
    return shape_is_array(i->shape) && op_is(i->opcode, OP_PURE) && !op_is(i->opcode, OP_NAMES) &&
           i->operand_count <= MATCH_OPERAND_COUNT &&
           (i->operand_count > 0 || (i->opcode == OP_IOTA && i->shape->rank > 1));
}

/* An instruction as text, in parts: its operands are between `head` and `rest`. */
struct line {
    struct str head, rest; /* "%sum = f32[2]{0} ", ", dimensions={1}, to_apply=%add" */
};

static struct line line_of(struct arena *a, const hlo_listing *l, size_t i)
{
    SCOPED_TEXT text = hlo_list_print(l, i, HLO_PRINT_SHORT);
    const struct str all = arena_str(a, (struct str){text.data, text.size});
    const struct str call = arena_printf(a, " %s(", hlo_list_inst(l, i).op);
    const char *start = strstr(all.ptr, call.ptr), *at = start ? start + call.len : NULL;
    for (int depth = 1; at && *at && depth > 0; at++)
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    return at ? (struct line){{all.ptr, (size_t)(start + 1 - all.ptr)},
                              {at, (size_t)(all.ptr + all.len - at)}}
              : (struct line){all, STR("")};
}

/* The length of an attribute value at the start of a text. */
static size_t value_length(struct str text)
{
    size_t k = 0;
    for (int depth = 0; k < text.len && (depth > 0 || text.ptr[k] != ','); k++)
        depth += text.ptr[k] == '{' ? 1 : text.ptr[k] == '}' ? -1 : 0;
    return k;
}

/* Writes an attribute list with the value of the variant. */
static void put_rest(struct buf *out, struct str rest, const struct match_variant *v)
{
    const struct str name = v->attribute;
    const char *at = name.len > 0 ? memmem(rest.ptr, rest.len, name.ptr, name.len) : NULL;
    if (at) {
        const size_t head = (size_t)(at - rest.ptr) + name.len;
        buf_bytes(out, rest.ptr, head);
        buf_str(out, v->value);
        rest = (struct str){rest.ptr + head, rest.len - head};
        const size_t old = value_length(rest);
        rest = (struct str){rest.ptr + old, rest.len - old};
    }
    buf_str(out, rest);
}

/* The number of operand k of a variant, whose value is that of operand `*from`, or, if there are no
 * others, of the instruction that is returned. */
static size_t operand_of(const hlo_listing *l, const struct inst *i, const struct match_variant *v,
                         int k, int *from)
{
    const int last = i->operand_count - 1;
    *from = v->swapped && k >= last - 1 ? 2 * last - 1 - k : k;
    return *from == v->operand ? v->by : hlo_listing_number(l, i->operands[*from]);
}

static void put_name(struct buf *out, const hlo_listing *l, const struct cone *c, size_t n)
{
    for (size_t k = 0; c && k < c->extra_count; k++)
        if (c->extras[k] == n) {
            buf_printf(out, "e%zu", k);
            return;
        }
    buf_printf(out, "%%%s", hlo_list_inst(l, n).name);
}

/* Writes "add(%x, %y), attributes"; `c`: with parameters as operands, and the cone of another. */
static void put_call(struct buf *out, const hlo_listing *l, const struct inst *i,
                     const struct match_variant *v, struct str rest, const struct cone *c)
{
    buf_printf(out, "%s(", op_spelling(v->op));
    for (int k = 0; k < i->operand_count; k++) {
        int from;
        const size_t n = operand_of(l, i, v, k, &from);
        buf_puts(out, k ? ", " : "");
        if (c && from != v->operand)
            buf_printf(out, "p%d", from);
        else
            put_name(out, l, c, n);
    }
    buf_putc(out, ')');
    put_rest(out, rest, v);
}

struct writing {
    struct arena *a;
    const hlo_listing *l;
    const struct match_candidate *of;
    const struct match_variant *v;
    const struct cone *cone;
    struct buf *out;
};

static void put_inst(struct writing *w, size_t n, bool root)
{
    const struct inst *i = hlo_listing_inst(w->l, n);
    const bool changed = n == w->of->inst, applies = n == w->of->by;
    const struct line line = line_of(w->a, w->l, n);
    const struct match_variant same = {.op = i->opcode, .operand = -1};
    buf_puts(w->out, root ? "  ROOT " : "  ");
    if (changed || applies) {
        buf_str(w->out, line.head);
        put_call(w->out, w->l, i, changed ? w->v : &same, line.rest, applies ? w->cone : NULL);
    } else {
        SCOPED_TEXT text = hlo_list_print(w->l, n, HLO_PRINT_SHORT);
        buf_bytes(w->out, text.data, text.size);
    }
    buf_putc(w->out, '\n');
}

/* Writes the computations that an instruction calls, callees first. */
static void put_callees(struct writing *w, size_t n, bool *seen)
{
    const struct hlo_listed x = hlo_list_inst(w->l, n);
    for (size_t k = 0; k < x.callee_count; k++) {
        const struct hlo_listed_computation c = hlo_list_computation(w->l, x.callees[k]);
        if (seen[x.callees[k]])
            continue;
        seen[x.callees[k]] = true;
        for (size_t i = c.first; i < c.first + c.count; i++)
            put_callees(w, i, seen);
        buf_printf(w->out, "%%%s {\n", c.name);
        for (size_t i = c.first; i < c.first + c.count; i++)
            put_inst(w, i, i == c.root);
        buf_puts(w->out, "}\n");
    }
}

static void put_operands(struct buf *out, const struct cone *c, const struct inst *i)
{
    buf_printf(out, "%s(", op_spelling(i->opcode));
    for (int k = 0; k < i->operand_count; k++) {
        buf_puts(out, k ? ", " : "");
        put_name(out, c->l, c, hlo_listing_number(c->l, i->operands[k]));
    }
    buf_putc(out, ')');
}

/* Writes the parameters for the values that another operand is computed from, and what computes
 * it. */
static void put_cone(struct writing *w, int first)
{
    const struct cone *c = w->cone;
    for (size_t k = 0; k < c->extra_count; k++)
        buf_printf(w->out, "  e%zu = %s parameter(%zu)\n", k,
                   hlo_list_inst(c->l, c->extras[k]).shape, (size_t)first + k);
    for (size_t k = 0; k < c->inst_count; k++) {
        const struct inst *i = hlo_listing_inst(c->l, c->insts[k]);
        const struct line line = line_of(w->a, c->l, c->insts[k]);
        SCOPED_TEXT text = hlo_list_print(c->l, c->insts[k], HLO_PRINT_SHORT);
        buf_puts(w->out, "  ");
        if (i->operand_count > 0) {
            buf_str(w->out, line.head);
            put_operands(w->out, c, i);
            buf_str(w->out, line.rest);
        } else {
            buf_bytes(w->out, text.data, text.size);
        }
        buf_putc(w->out, '\n');
    }
}

/* Writes a module whose parameters are the operands of the instruction that is computed. */
static void put_module(struct writing *w)
{
    const struct inst *by = hlo_listing_inst(w->l, w->of->by);
    put_callees(w, w->of->by, ARENA_ARRAY(w->a, bool, hlo_list_computations(w->l)));
    buf_puts(w->out, "ENTRY e {\n");
    for (int k = 0; k < by->operand_count; k++)
        buf_printf(w->out, "  p%d = " STR_FMT " parameter(%d)\n", k,
                   STR_ARG(shape_text(w->a, by->operands[k]->shape)), k);
    put_cone(w, by->operand_count);
    put_inst(w, w->of->by, true);
    buf_puts(w->out, "}\n");
}

static hlo_module *module_of(struct str text)
{
    const struct hlo_piece piece = {.text = text.ptr, .size = text.len};
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_FILE *file = hlo_file_of_pieces("change", &piece, 1);
    hlo_module *module = hlo_parse(file, 0, ignored);
    if (module && !hlo_verify(module, ignored)) {
        hlo_module_free(module);
        module = NULL;
    }
    return module;
}

/* The word of an operation: an opcode, or the direction of a comparison. */
static struct str word_of(const struct inst *i, const struct match_variant *v)
{
    if (v->op != OP_COMPARE)
        return str_of(op_spelling(v->op));
    return v->attribute.len > 0 ? v->value
                                : str_of(enum_word(A_DIRECTION, inst_enum(i, A_DIRECTION, -1)));
}

/* Whether a name, or the last part of an op_name, is that of an operation: JAX abbreviates
 * "subtract" to "sub" and writes "select_n" for "select". */
static bool is_named_after(struct str name, struct str word)
{
    const size_t common = name.len < word.len ? name.len : word.len;
    return name.len >= 2 && strncasecmp(name.ptr, word.ptr, common) == 0 &&
           (common == name.len || name.ptr[common] == '_');
}

/* How well names fit: those of the program's operations are kept by passes. */
static int likelihood_of(const struct hlo_listed *x, struct str old, struct str new)
{
    const struct str names[] = {match_stem(x->name), match_stem(x->op_name)};
    int likelihood = 0;
    for (int k = 0; k < 2; k++)
        likelihood += is_named_after(names[k], new) - is_named_after(names[k], old);
    return likelihood;
}

static bool change_inst(const struct matching *m, const struct match_candidate *c,
                        const struct match_variant *v, struct match_change *out)
{
    struct arena *a = m->arena;
    const hlo_listing *l = m->b.l;
    struct cone cone = {.l = l, .at = c->inst};
    SCOPED_BUF text = {0}, words = {0};
    if (c->inst == c->by && v->operand >= 0)
        add_to_cone(&cone, v->by);
    put_module(&(struct writing){a, l, c, v, &cone, &text});
    out->module = module_of(buf_view(&text));
    put_call(&words, l, hlo_listing_inst(l, c->inst), v, line_of(a, l, c->inst).rest, NULL);
    out->text = arena_str(a, buf_view(&words));
    out->variant = v;
    out->extra_count = cone.extra_count;
    memcpy(out->extras, cone.extras, sizeof out->extras);
    return out->module;
}

/* Whether an operand of `x`, of a, may be the operand of an instruction of b. */
static bool correspond(const struct matching *m, size_t x, size_t y)
{
    const size_t a = hlo_pair_source(m->a.l, x), b = hlo_pair_source(m->b.l, y);
    return hlo_pair_of_b(m->pairing, b).other == (long)a ||
           match_are_related(hlo_list_inst(m->a.l, a), hlo_list_inst(m->b.l, b));
}

/* How well an instruction of b, or a variant of it, fits instruction `x` of a: 0: another
 * operation, 1: other operands. */
static int fit_of(const struct matching *m, size_t x, size_t b, const struct match_variant *v)
{
    const hlo_listing *l = m->b.l;
    const struct inst *i = hlo_listing_inst(l, b), *j = hlo_listing_inst(m->a.l, x);
    SCOPED_BUF rest = {0};
    if (j->opcode != v->op || j->operand_count != i->operand_count)
        return 0;
    put_rest(&rest, line_of(m->arena, l, b).rest, v);
    if (!str_eq(buf_view(&rest), line_of(m->arena, m->a.l, x).rest))
        return 0;
    for (int k = 0; k < i->operand_count; k++) {
        int from;
        const size_t y = operand_of(l, i, v, k, &from);
        if (!correspond(m, hlo_listing_number(m->a.l, j->operands[k]), y))
            return 1;
    }
    return 2;
}

/* Whether two op_names may be that of one operation: inlining puts that of the call in front. */
static bool same_op_name(const char *x, const char *y)
{
    const size_t a = strlen(x), b = strlen(y);
    return a > 0 && b >= a && strcmp(y + b - a, x) == 0 && (b == a || y[b - a - 1] == '/');
}

/* How much better a variant fits the instructions of a with the same op_name, of which one is the
 * original. */
static int fit_better(const struct matching *m, size_t b, const struct match_variant *v)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const struct match_variant same = {.op = hlo_listing_inst(m->b.l, b)->opcode, .operand = -1};
    int before = 0, after = 0;
    for (size_t x = 0; x < m->a.insts; x++) {
        if (!same_op_name(hlo_list_inst(m->a.l, x).op_name, y.op_name))
            continue;
        const int old = fit_of(m, x, b, &same), new = fit_of(m, x, b, v);
        before = old > before ? old : before;
        after = new > after ? new : after;
    }
    return after - before;
}

bool match_is_misplaced(const struct matching *m, size_t b)
{
    const struct hlo_listed y = hlo_list_inst(m->b.l, b);
    const long a = hlo_pair_of_b(m->pairing, b).other;
    for (size_t k = 0; a >= 0 && k < y.user_count; k++) {
        const struct hlo_listed v = hlo_list_inst(m->b.l, y.users[k]);
        const long other = hlo_pair_of_b(m->pairing, y.users[k]).other;
        if (other < 0)
            continue;
        const struct hlo_listed u = hlo_list_inst(m->a.l, (size_t)other);
        for (size_t n = 0; n < v.operand_count && strcmp(u.op, v.op) == 0 && n < u.operand_count;
             n++)
            if (v.operands[n] == b && u.operands[n] != (size_t)a)
                return true;
    }
    return false;
}

int match_likelihood(const struct matching *m, const struct match_change *c)
{
    const struct inst *i = hlo_listing_inst(m->b.l, c->of.inst);
    const struct match_variant same = {.op = i->opcode, .operand = -1};
    if (!c->variant)
        return c->common ? -1 : 0;
    const struct hlo_listed x = hlo_list_inst(m->b.l, c->of.inst);
    return likelihood_of(&x, word_of(i, &same), word_of(i, c->variant)) +
           fit_better(m, c->of.inst, c->variant);
}

/* ---- constants ---- */

bool match_is_scalar_constant(const struct inst *i)
{
    return i->opcode == OP_CONSTANT && shape_is_array(i->shape) && i->shape->rank == 0 &&
           !i->literal->elided;
}

static void add_value(struct arena *a, struct match_values *g, double v)
{
    for (size_t k = 0; k < g->count; k++)
        if (g->at[k] == v)
            return;
    if (isfinite(v))
        VEC_PUSH(a, g->at, g->count, g->capacity) = v;
}

/* Adds the constants of a, with or without partners. */
static void add_constants(const struct matching *m, struct match_values *g, bool paired)
{
    for (size_t i = 0; i < m->a.insts; i++) {
        const struct inst *inst = hlo_listing_inst(m->a.l, i);
        if (match_is_scalar_constant(inst) && (hlo_pair_of_a(m->pairing, i).other >= 0) == paired)
            add_value(m->arena, g, look_number(inst->shape->dtype, inst->literal->data));
    }
}

/* What passes make of two constants. */
static void add_pairs(struct arena *a, struct match_values *g, size_t count)
{
    enum { MOST = 24 };
    for (size_t i = 0; i < count && count <= MOST; i++)
        for (size_t j = 0; j < count; j++) {
            const double x = g->at[i], y = g->at[j], forms[] = {x * y, x + y, x - y, x / y};
            for (size_t k = 0; k < COUNT_OF(forms); k++)
                add_value(a, g, forms[k]);
        }
}

struct match_values match_values_of_constants(const struct matching *m)
{
    struct match_values g = {0};
    add_constants(m, &g, false);
    add_constants(m, &g, true);
    const size_t count = g.own = g.count;
    for (int v = 0; v <= 2; v++)
        add_value(m->arena, &g, v < 2 ? v : -1);
    for (size_t i = 0; i < count; i++) {
        const double v = g.at[i], forms[] = {-v, 1 / v, v - 1, -v - 1};
        for (size_t k = 0; k < COUNT_OF(forms); k++)
            add_value(m->arena, &g, forms[k]);
    }
    g.single = g.count;
    add_pairs(m->arena, &g, count);
    return g;
}

/* Whether a constant has one of the first `count` values. */
static bool is_among(const struct match_values *g, size_t count, const struct inst *i)
{
    const double v = look_number(i->shape->dtype, i->literal->data);
    for (size_t k = 0; k < count; k++)
        if (fabs(g->at[k] - v) <= look_usual_error(i->shape->dtype) * fabs(v))
            return true;
    return false;
}

static bool change_constant(struct arena *a, const struct inst *i, double v,
                            struct match_change *out)
{
    enum { DIGITS = 17 };
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_BUF text = {0};
    buf_g(&text, v, DIGITS);
    out->value = hlo_literal_parse_named("", buf_view(&text), i->shape, ignored);
    if (!out->value)
        return false; /* the type has no such value */
    SCOPED_TEXT shown = hlo_literal_print(out->value, false);
    out->text = arena_str(a, (struct str){shown.data, shown.size});
    return true;
}

/* ---- changes ---- */

struct match_variants match_variants_of(const struct matching *m, const struct match_candidate *c,
                                        enum match_kind kind)
{
    struct variants v = {.m = m, .of = c, .i = hlo_listing_inst(m->b.l, c->inst)};
    if (kind == MATCH_OPERATION)
        add_operations(&v);
    else
        add_operands(&v);
    return (struct match_variants){v.at, v.count};
}

bool match_change(const struct matching *m, const struct match_candidate *c,
                  const struct match_variants *variants, size_t k, struct match_change *out)
{
    *out = (struct match_change){.of = *c};
    return k < variants->count && change_inst(m, c, &variants->at[k], out);
}

bool match_change_constant(const struct matching *m, const struct match_candidate *c,
                           const struct match_values *values, size_t k, struct match_change *out)
{
    const struct inst *i = hlo_listing_inst(m->b.l, c->inst);
    *out = (struct match_change){.of = *c, .common = is_among(values, values->own, i)};
    return k < (is_among(values, values->single, i) ? values->single : values->count) &&
           change_constant(m->arena, i, values->at[k], out);
}

void match_change_free(struct match_change *c)
{
    hlo_literal_free(c->value);
    hlo_module_free(c->module);
    c->value = NULL;
    c->module = NULL;
}
