/*
 * Public interface: origins of NaN, infinities and denormal numbers, that is, instructions that
 * produce one from operands without any.
 */
#include "api/api.h"

#include "eval/eval.h"
#include "look/look.h"

#include <math.h>

static const struct trace_event *trace_event_of(const struct hlo_event *s)
{
    return ((const struct event_state *)s->run)->trace_event;
}

/* ---- single elements ---- */

/* The smallest positive normal number of a type; 0 if none. */
static double smallest_normal(enum dtype t)
{
    enum dtype part = dtype_is_complex(t) ? dtype_component(t) : t;
    const struct float_format *f = dtype_is_float(part) ? float_format(part) : NULL;
    return f && f->mantissa_bits > 0 ? ldexp(1, 1 - f->bias) : 0;
}

static bool is_odd(enum dtype t, double v, enum hlo_oddity what)
{
    switch (what) {
    case HLO_ODD_NAN: return isnan(v);
    case HLO_ODD_DENORMAL: return v != 0 && fabs(v) < smallest_normal(t);
    default: return isinf(v);
    }
}

/* Whether an operand explains the exceptional value: it has the same kind, or is NaN where infinity
 * is searched. */
static bool is_tainted(enum dtype t, double v, enum hlo_oddity what)
{
    return is_odd(t, v, what) || (what == HLO_ODD_OVERFLOW && isnan(v));
}

static bool is_pole(const struct inst *i, const double *x)
{
    switch (i->opcode) {
    case OP_DIVIDE: return x[1] == 0;
    case OP_LOG:
    case OP_POWER:
    case OP_RSQRT: return x[0] == 0;
    case OP_LOG_PLUS_ONE: return x[0] == -1;
    default: return false;
    }
}

static uint64_t count_odd(const struct hlo_stats *s, enum hlo_oddity what)
{
    switch (what) {
    case HLO_ODD_NAN: return s->nan;
    case HLO_ODD_DENORMAL: return s->denormal;
    default: return s->positive_inf + s->negative_inf;
    }
}

/* ---- constants ---- */

static bool rearranges(const struct inst *i)
{
    return op_is(i->opcode, OP_VIEW) || op_passes(i->opcode) || i->opcode == OP_BITCAST ||
           i->opcode == OP_CONVERT;
}

/* Whether an operand is a NaN constant of the program. It marks missing values, such as elements
 * beyond the end of an array; the instruction that reads it counts as the origin. Infinities in
 * constants are limits and masks, and do not count. */
static bool is_constant(const struct trace_event *s, const struct inst *i, enum hlo_oddity what)
{
    for (int level = s->depth; what == HLO_ODD_NAN;) {
        if (rearranges(i)) {
            i = i->operands[0];
            continue;
        }
        const struct inst *caller =
            i->opcode == OP_PARAMETER && level > 0 ? s->within[--level].inst : NULL;
        if (!caller || (caller->opcode != OP_CALL && caller->opcode != OP_FUSION))
            break;
        i = caller->operands[i->number];
    }
    return what == HLO_ODD_NAN && i->opcode == OP_CONSTANT;
}

/* Whether an operand is such a constant, and the instruction does more than change its shape or
 * type. */
static bool takes_constant(const struct trace_event *s, const struct inst *i, int operand,
                           enum hlo_oddity what)
{
    return is_constant(s, i->operands[operand], what) && !rearranges(i);
}

/* ---- elementwise instructions ---- */

enum { MAX_OPERANDS = 4 };

/* The operands of an elementwise instruction; operands of rank 0 are used for all elements. */
struct elements {
    int count;
    const struct literal *at[MAX_OPERANDS];
    bool constant[MAX_OPERANDS];
};

static const struct literal *operand_of(const struct hlo_event *s, int k)
{
    const hlo_literal *l = hlo_event_operand(s, (size_t)k);
    return l ? l->l : NULL;
}

static bool is_elementwise(const struct hlo_event *s, const struct inst *i,
                           const struct literal *value, struct elements *out)
{
    if ((!op_is(i->opcode, OP_ELEMENTWISE) && i->opcode != OP_CONVERT) ||
        !shape_is_array(value->shape) || i->operand_count > MAX_OPERANDS)
        return false;
    *out = (struct elements){.count = i->operand_count};
    for (int k = 0; k < i->operand_count; k++) {
        out->at[k] = operand_of(s, k);
        if (!out->at[k] || !shape_is_array(out->at[k]->shape) ||
            (out->at[k]->shape->rank > 0 && !shape_same_dims(out->at[k]->shape, value->shape)))
            return false;
    }
    return true;
}

static const void *element_at(const struct literal *l, int64_t index)
{
    int64_t at = l->shape->rank == 0 ? 0 : index;
    return (const char *)l->data + at * (int64_t)dtype_bytes(l->shape->dtype);
}

static bool is_origin(const struct inst *i, const struct elements *x, const struct literal *value,
                      int64_t index, enum hlo_oddity what)
{
    double at[MAX_OPERANDS];
    if (!is_odd(value->shape->dtype, look_number(value->shape->dtype, element_at(value, index)),
                what))
        return false;
    for (int k = 0; k < x->count; k++) {
        enum dtype t = x->at[k]->shape->dtype;
        at[k] = look_number(t, element_at(x->at[k], index));
        if (!x->constant[k] && is_tainted(t, at[k], what))
            return false;
    }
    return what != HLO_ODD_OVERFLOW || !is_pole(i, at);
}

static bool find_element(const struct inst *i, const struct elements *x,
                         const struct literal *value, enum hlo_oddity what, struct hlo_origin *out)
{
    int64_t n = 0;
    shape_elements(value->shape, &n);
    for (int64_t k = 0; k < n; k++)
        if (is_origin(i, x, value, k, what)) {
            *out = (struct hlo_origin){.what = what, .index = k};
            return true;
        }
    return false;
}

/* ---- other instructions ---- */

static bool is_clean(const struct hlo_event *s, const struct inst *i, enum hlo_oddity what)
{
    for (int k = 0; k < i->operand_count; k++) {
        if (takes_constant(trace_event_of(s), i, k, what))
            continue;
        const struct literal *l = operand_of(s, k);
        if (!l)
            return false;
        const struct hlo_stats stats = look_stats(l);
        if (count_odd(&stats, what) > 0 || (what == HLO_ODD_OVERFLOW && stats.nan > 0))
            return false;
    }
    return true;
}

/* The first exceptional element, leaf by leaf. */
static bool find_first(const struct literal *l, enum hlo_oddity what, struct hlo_origin *out)
{
    int64_t n = 0;
    if (shape_is_tuple(l->shape)) {
        for (int k = 0; k < l->shape->count; k++)
            if (find_first(l->elements[k], what, out))
                return true;
        return false;
    }
    if (shape_is_array(l->shape))
        shape_elements(l->shape, &n);
    for (out->index = 0; out->index < n; out->index++)
        if (is_odd(l->shape->dtype, look_number(l->shape->dtype, element_at(l, out->index)), what))
            return true;
    out->leaf++;
    return false;
}

static bool find(const struct hlo_event *s, const struct inst *i, const struct literal *value,
                 enum hlo_oddity what, struct hlo_origin *out)
{
    struct elements x;
    if (is_elementwise(s, i, value, &x)) {
        for (int k = 0; k < x.count; k++)
            x.constant[k] = takes_constant(trace_event_of(s), i, k, what);
        return find_element(i, &x, value, what, out);
    }
    *out = (struct hlo_origin){.what = what};
    return is_clean(s, i, what) && find_first(value, what, out);
}

bool hlo_event_origin(const struct hlo_event *s, unsigned what, struct hlo_origin *out)
{
    OOM_SCOPE(false);
    const struct step *step = trace_event_of(s)->step;
    const hlo_literal *value = hlo_event_value(s);
    if (!value || step->aliases || step->callee_count > 0)
        return false;
    const struct hlo_stats stats = look_stats(value->l);
    for (unsigned kind = HLO_ODD_NAN; kind <= HLO_ODD_DENORMAL; kind <<= 1)
        if ((what & kind) && count_odd(&stats, (enum hlo_oddity)kind) > 0 &&
            find(s, step->inst, value->l, (enum hlo_oddity)kind, out)) {
            out->count = count_odd(&stats, (enum hlo_oddity)kind);
            return true;
        }
    return false;
}

/* ---- messages ---- */

static const char *words_of(enum hlo_oddity what, bool constant)
{
    switch (what) {
    case HLO_ODD_NAN:
        return constant ? "reads nan from a constant" : "produces nan from operands without any";
    case HLO_ODD_INF: return "produces inf from operands without any";
    case HLO_ODD_OVERFLOW: return "produces inf from finite operands";
    default: return "produces a denormal from operands without any";
    }
}

static const struct literal *leaf_of(const struct literal *l, size_t *leaf)
{
    if (!shape_is_tuple(l->shape))
        return (*leaf)-- == 0 ? l : NULL;
    const struct literal *found = NULL;
    for (int k = 0; k < l->shape->count && !found; k++)
        found = leaf_of(l->elements[k], leaf);
    return found;
}

static void put_element(struct buf *out, const struct literal *l, int64_t index)
{
    look_put_element(out, l->shape->dtype, element_at(l, index), &(struct hlo_view){0});
}

static void note_operand(struct diags *ds, struct diag *d, const struct hlo_event *s,
                         const struct inst *i, int k, bool elementwise, int64_t index)
{
    const struct literal *l = operand_of(s, k);
    SCOPED_BUF b = {0};
    for (int j = 0; j < k; j++)
        if (i->operands[j] == i->operands[k]) /* has a note already */
            return;
    if (!l)
        return;
    if (elementwise && l->shape->rank > 0) {
        look_put_index(&b, l->shape, index);
        buf_putc(&b, ' ');
    }
    if (elementwise)
        put_element(&b, l, index);
    else
        look_put_summary(&b, l);
    diag_note(ds, d, i->operands[k]->span, "operand %d is '" STR_FMT "': " STR_FMT, k,
              STR_ARG(i->operands[k]->name), STR_ARG(buf_view(&b)));
}

/* Notes which instruction produced the infinity that made a NaN of an element. */
static void note_infinities(struct diags *ds, struct diag *d, const struct hlo_event *s,
                            const struct hlo_origin *o, bool elementwise)
{
    const struct event_state *w = s->run;
    const struct inst *i = w->trace_event->step->inst;
    bool found = false;
    if (o->what != HLO_ODD_NAN || o->infinities == 0)
        return;
    for (int k = 0; k < i->operand_count && !found; k++) {
        const struct literal *l = operand_of(s, k);
        if (!l)
            continue;
        const struct hlo_stats stats = look_stats(l);
        found = elementwise ? isinf(look_number(l->shape->dtype, element_at(l, o->index)))
                            : count_odd(&stats, HLO_ODD_INF) > 0;
    }
    const struct inst *by = hlo_listing_inst(w->listing, o->infinities - 1);
    if (found && by != i)
        diag_note(ds, d, by->span, "'" STR_FMT "' produced the first infinity", STR_ARG(by->name));
}

static void note_within(struct diags *ds, struct diag *d, const struct trace_event *s)
{
    for (int k = s->depth - 1; k >= 0; k--) {
        const struct inst *i = s->within[k].inst;
        if (i->opcode == OP_WHILE && s->within[k].iteration >= 0)
            diag_note(ds, d, i->span, "in iteration %" PRId64 " of '" STR_FMT "'",
                      s->within[k].iteration, STR_ARG(i->name));
        else
            diag_note(ds, d, i->span, "in '" STR_FMT "'", STR_ARG(i->name));
    }
}

static struct str op_name_of(const struct inst *i)
{
    const struct metadata *m = inst_metadata(i);
    return m ? m->op_name : STR("");
}

/* The source line of the instruction or, if unknown, of the nearest caller. */
static struct str line_of(struct arena *a, const struct trace_event *s)
{
    struct str place = inst_where(a, s->step->inst);
    for (int k = s->depth - 1; k >= 0 && place.len == 0; k--)
        place = inst_where(a, s->within[k].inst);
    return place;
}

/* The joined op_names of the callers, outermost first, and the instruction; prefixes of the next
 * one are omitted. */
static struct str names_of(struct arena *a, const struct trace_event *s)
{
    struct str place = op_name_of(s->step->inst);
    for (int k = s->depth - 1; k >= 0; k--) {
        struct str outer = op_name_of(s->within[k].inst);
        if (outer.len == 0 || str_starts(place, outer))
            continue;
        place = place.len == 0
                    ? outer
                    : arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(outer), STR_ARG(place));
    }
    return place;
}

/* Notes why no source line is known: dumps often contain ids of stack frames without their
 * tables. */
static void note_missing_frame(struct diags *ds, struct diag *d, const struct trace_event *s)
{
    const struct inst *i = s->step->inst;
    for (int k = s->depth - 1; k >= 0 && inst_missing_frame(i) == 0; k--)
        i = s->within[k].inst;
    if (inst_missing_frame(i) > 0)
        diag_note(ds, d, NO_SPAN,
                  "source line unknown: no stack frame table entry %" PRId32 " of '" STR_FMT "'",
                  inst_missing_frame(i), STR_ARG(i->name));
}

void hlo_event_report(const struct hlo_event *s, const struct hlo_origin *o, bool error,
                      hlo_messages *m)
{
    OOM_SCOPE(hlo_messages_no_memory(m));
    const struct event_state *w = s->run;
    const struct inst *i = w->trace_event->step->inst;
    struct diags *ds = hlo_sink_of_module(m, w->module);
    const hlo_literal *value = hlo_event_value(s);
    size_t leaf = o->leaf;
    const struct literal *l = value ? leaf_of(value->l, &leaf) : NULL;
    struct elements x;
    SCOPED_BUF at = {0}, is = {0};
    int64_t n = 0;
    if (!l)
        return;
    bool elementwise = is_elementwise(s, i, value->l, &x);
    if (shape_is_tuple(value->l->shape))
        buf_printf(&at, "leaf %zu ", o->leaf);
    look_put_index(&at, l->shape, o->index);
    put_element(&is, l, o->index);
    shape_elements(l->shape, &n);
    bool constant = false;
    for (int k = 0; k < i->operand_count; k++) {
        const struct literal *operand = operand_of(s, k);
        constant |=
            operand && takes_constant(w->trace_event, i, k, o->what) && look_stats(operand).nan > 0;
    }
    const struct str value_text = buf_view(&is), index = buf_view(&at);
    struct diag *d =
        error ? DIAG(ds, i->span, STOPPED_ON, STR_ARG(i->name), words_of(o->what, constant),
                     STR_ARG(value_text), STR_ARG(index), o->count, (uint64_t)n)
              : DIAG(ds, i->span, WARNED_ON, STR_ARG(i->name), words_of(o->what, constant),
                     STR_ARG(value_text), STR_ARG(index), o->count, (uint64_t)n);
    d->where = line_of(&ds->arena, w->trace_event);
    for (int k = 0; k < i->operand_count; k++)
        note_operand(ds, d, s, i, k, elementwise, o->index);
    note_infinities(ds, d, s, o, elementwise);
    note_within(ds, d, w->trace_event);
    if (d->where.len == 0) {
        d->where = names_of(&ds->arena, w->trace_event);
        note_missing_frame(ds, d, w->trace_event);
    }
}
