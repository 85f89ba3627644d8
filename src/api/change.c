/*
 * Changes of single instructions: an elementwise instruction with another opcode, direction or
 * order of operands, an iota along another dimension, a scalar constant of another value. A change
 * of an instruction that is applied to elements, such as that of a reducer, is one of the
 * instruction that applies it. A change is a module whose parameters are the operands, or a value.
 */
#include "api/match.h"

#include <math.h>

/* ---- instructions ---- */

/* What a change does. */
struct variant {
    enum opcode op;
    int direction; /* of a comparison */
    int dimension; /* of an iota */
    bool swapped;  /* the last two operands */
};

static bool is_elementwise(enum opcode op)
{
    return op_is(op, OP_ELEMENTWISE) && op_table[op].class <= CLASS_TERNARY;
}

/* Variant number `k` of an instruction; false if it does not apply. */
static bool find_variant(const struct inst *i, size_t k, struct variant *out)
{
    const enum opcode op = i->opcode;
    *out = (struct variant){op, inst_enum(i, A_DIRECTION, -1),
                            (int)inst_int(i, A_IOTA_DIMENSION, -1), k == 0};
    if (k == 0)
        return i->operand_count >= 2 && op != OP_COMPARE && !op_is(op, OP_COMMUTATIVE);
    k--;
    if (op == OP_IOTA) {
        out->dimension = (int)k;
        return k < (size_t)i->shape->rank && out->dimension != inst_int(i, A_IOTA_DIMENSION, -1);
    }
    if (op == OP_COMPARE) {
        out->direction = (int)k;
        return k < (size_t)enum_count(A_DIRECTION) &&
               out->direction != inst_enum(i, A_DIRECTION, -1);
    }
    out->op = (enum opcode)k;
    return k < OP_COUNT && out->op != op && out->op != OP_COMPARE && is_elementwise(out->op) &&
           op_table[out->op].class == op_table[op].class;
}

bool match_has_changes(const struct inst *i)
{
    return shape_is_array(i->shape) &&
           (i->opcode == OP_IOTA ? i->shape->rank > 1
                                 : is_elementwise(i->opcode) && i->operand_count > 0);
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

/* Writes an attribute list with other values of the direction and the dimension. */
static void put_rest(struct buf *out, struct str rest, const struct variant *v)
{
    const struct str found[] = {STR("direction="), STR("iota_dimension=")};
    for (int k = 0; k < 2; k++) {
        const char *at = memmem(rest.ptr, rest.len, found[k].ptr, found[k].len);
        if (!at || (k == 0 ? v->direction : v->dimension) < 0)
            continue;
        const size_t head = (size_t)(at - rest.ptr) + found[k].len;
        buf_bytes(out, rest.ptr, head);
        if (k == 0)
            buf_puts(out, enum_word(A_DIRECTION, v->direction));
        else
            buf_printf(out, "%d", v->dimension);
        rest = (struct str){rest.ptr + head, rest.len - head};
        const size_t old = strcspn(rest.ptr, ",");
        rest = (struct str){rest.ptr + old, rest.len - old};
    }
    buf_str(out, rest);
}

/* Writes "add(%x, %y), attributes". */
static void put_call(struct buf *out, const struct inst *i, const struct variant *v,
                     struct str rest, bool parameters)
{
    const int last = i->operand_count - 1;
    buf_printf(out, "%s(", op_spelling(v->op));
    for (int k = 0; k <= last; k++) {
        const int from = v->swapped && k >= last - 1 ? 2 * last - 1 - k : k;
        buf_puts(out, k ? ", " : "");
        if (parameters)
            buf_printf(out, "p%d", from);
        else
            buf_printf(out, "%%" STR_FMT, STR_ARG(i->operands[from]->name));
    }
    buf_putc(out, ')');
    put_rest(out, rest, v);
}

struct writing {
    struct arena *a;
    const hlo_listing *l;
    const struct match_candidate *of;
    const struct variant *v;
    struct buf *out;
};

static void put_inst(struct writing *w, size_t n, bool root)
{
    const struct inst *i = hlo_listing_inst(w->l, n);
    const bool changed = n == w->of->inst, applies = n == w->of->by;
    const struct line line = line_of(w->a, w->l, n);
    const struct variant same = {i->opcode, -1, -1, false};
    buf_puts(w->out, root ? "  ROOT " : "  ");
    if (changed || applies) {
        buf_str(w->out, line.head);
        put_call(w->out, i, changed ? w->v : &same, line.rest, applies);
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

/* Writes a module whose parameters are the operands of the instruction that is computed. */
static void put_module(struct writing *w)
{
    const struct inst *by = hlo_listing_inst(w->l, w->of->by);
    put_callees(w, w->of->by, ARENA_ARRAY(w->a, bool, hlo_list_computations(w->l)));
    buf_puts(w->out, "ENTRY e {\n");
    for (int k = 0; k < by->operand_count; k++)
        buf_printf(w->out, "  p%d = " STR_FMT " parameter(%d)\n", k,
                   STR_ARG(shape_text(w->a, by->operands[k]->shape)), k);
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

/* Whether a name, or the last part of an op_name, is that of an opcode or a direction: JAX
 * abbreviates "subtract" to "sub" and writes "select_n" for "select". */
static bool is_named_after(struct str name, const struct variant *v)
{
    const char *word =
        v->op == OP_COMPARE ? enum_word(A_DIRECTION, v->direction) : op_spelling(v->op);
    const size_t len = strlen(word), common = name.len < len ? name.len : len;
    return name.len >= 2 && strncasecmp(name.ptr, word, common) == 0 &&
           (common == name.len || name.ptr[common] == '_');
}

/* How well names fit: those of the program's operations are kept by passes. */
static int likelihood_of(const struct hlo_listed *x, const struct variant *old,
                         const struct variant *v)
{
    const struct str names[] = {match_stem(x->name), match_stem(x->op_name)};
    int likelihood = 0;
    for (int k = 0; k < 2; k++)
        likelihood += is_named_after(names[k], v) - is_named_after(names[k], old);
    return likelihood;
}

static bool change_inst(struct arena *a, const hlo_listing *l, const struct match_candidate *c,
                        size_t k, struct match_change *out)
{
    const struct inst *i = hlo_listing_inst(l, c->inst);
    const struct hlo_listed x = hlo_list_inst(l, c->inst);
    const struct variant old = {i->opcode, inst_enum(i, A_DIRECTION, -1), -1, false};
    struct variant v;
    if (!find_variant(i, k, &v))
        return false;
    SCOPED_BUF text = {0}, words = {0};
    put_module(&(struct writing){a, l, c, &v, &text});
    out->module = module_of(buf_view(&text));
    put_call(&words, i, &v, line_of(a, l, c->inst).rest, false);
    out->text = arena_str(a, buf_view(&words));
    out->likelihood = likelihood_of(&x, &old, &v);
    return out->module;
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

bool match_change(const struct matching *m, const struct match_candidate *c,
                  const struct match_values *values, size_t k, struct match_change *out)
{
    const struct inst *i = hlo_listing_inst(m->b.l, c->inst);
    *out = (struct match_change){.of = *c};
    if (match_is_scalar_constant(i)) {
        out->likelihood = is_among(values, values->own, i) ? -1 : 0;
        return k < (is_among(values, values->single, i) ? values->single : values->count) &&
               change_constant(m->arena, i, values->at[k], out);
    }
    return change_inst(m->arena, m->b.l, c, k, out);
}

void match_change_free(struct match_change *c)
{
    hlo_literal_free(c->value);
    hlo_module_free(c->module);
    c->value = NULL;
    c->module = NULL;
}
