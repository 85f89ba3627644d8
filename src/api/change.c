/*
 * Changes of single instructions: a variant of the instruction (variant.c), or another value of a
 * scalar constant (constant.c). A change of an instruction that is applied to elements, such as
 * that of a reducer, is one of the instruction that applies it. A change is a module whose
 * parameters are the operands, or a value.
 */
#include "api/change.h"

/* ---- lines ---- */

struct change_line change_line_of(struct arena *a, const hlo_listing *l, size_t i)
{
    SCOPED_TEXT text = hlo_list_print(l, i, HLO_PRINT_SHORT);
    const struct str all = arena_str(a, (struct str){text.data, text.size});
    const struct str call = arena_printf(a, " %s(", hlo_list_inst(l, i).op);
    const char *start = strstr(all.ptr, call.ptr), *at = start ? start + call.len : NULL;
    for (int depth = 1; at && *at && depth > 0; at++)
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    return at ? (struct change_line){{all.ptr, (size_t)(start + 1 - all.ptr)},
                                     {at, (size_t)(all.ptr + all.len - at)}}
              : (struct change_line){all, STR("")};
}

/* The length of an attribute value at the start of a text. */
static size_t value_length(struct str text)
{
    size_t k = 0;
    for (int depth = 0; k < text.len && (depth > 0 || text.ptr[k] != ','); k++)
        depth += text.ptr[k] == '{' ? 1 : text.ptr[k] == '}' ? -1 : 0;
    return k;
}

void change_put_attributes(struct buf *out, struct str rest, const struct match_variant *v)
{
    const struct str name = v->attribute;
    const char *at = name.len > 0 ? memmem(rest.ptr, rest.len, name.ptr, name.len) : NULL;
    if (at) {
        buf_str(out, str_take(&rest, (size_t)(at - rest.ptr) + name.len));
        buf_str(out, v->value);
        rest = str_skip(rest, value_length(rest));
    }
    buf_str(out, rest);
}

/* ---- modules ---- */

static void put_name(struct buf *out, const hlo_listing *l, const struct change_cone *c, size_t n)
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
                     const struct match_variant *v, struct str rest, const struct change_cone *c)
{
    buf_printf(out, "%s(", op_spelling(v->op));
    for (int k = 0; k < i->operand_count; k++) {
        int from;
        const size_t n = variant_operand(l, i, v, k, &from);
        buf_puts(out, k ? ", " : "");
        if (c && from != v->operand)
            buf_printf(out, "p%d", from);
        else
            put_name(out, l, c, n);
    }
    buf_putc(out, ')');
    change_put_attributes(out, rest, v);
}

struct writing {
    struct arena *a;
    const hlo_listing *l;
    const struct match_candidate *of;
    const struct match_variant *v;
    const struct change_cone *cone;
    struct buf *out;
};

static void put_inst(struct writing *w, size_t n, bool root)
{
    const struct inst *i = hlo_listing_inst(w->l, n);
    const bool changed = n == w->of->inst, applies = n == w->of->by;
    const struct change_line line = change_line_of(w->a, w->l, n);
    const struct match_variant same = variant_unchanged(i);
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

static void put_operands(struct buf *out, const struct change_cone *c, const struct inst *i)
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
    const struct change_cone *c = w->cone;
    for (size_t k = 0; k < c->extra_count; k++)
        buf_printf(w->out, "  e%zu = %s parameter(%zu)\n", k,
                   hlo_list_inst(c->l, c->extras[k]).shape, (size_t)first + k);
    for (size_t k = 0; k < c->inst_count; k++) {
        const struct inst *i = hlo_listing_inst(c->l, c->insts[k]);
        const struct change_line line = change_line_of(w->a, c->l, c->insts[k]);
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

static bool change_inst(const struct matching *m, const struct match_candidate *c,
                        const struct match_variant *v, struct match_change *out)
{
    struct arena *a = m->arena;
    const hlo_listing *l = m->b.l;
    struct change_cone cone = {.l = l, .at = c->inst};
    SCOPED_BUF text = {0}, words = {0};
    if (c->inst == c->by && v->operand >= 0)
        variant_add_to_cone(&cone, v->by);
    put_module(&(struct writing){a, l, c, v, &cone, &text});
    out->module = module_of(buf_view(&text));
    put_call(&words, l, hlo_listing_inst(l, c->inst), v, change_line_of(a, l, c->inst).rest, NULL);
    out->text = arena_str(a, buf_view(&words));
    out->variant = v;
    out->extra_count = cone.extra_count;
    memcpy(out->extras, cone.extras, sizeof out->extras);
    return out->module;
}

bool match_change(const struct matching *m, const struct match_candidate *c,
                  const struct match_variants *variants, size_t k, struct match_change *out)
{
    *out = (struct match_change){.of = *c};
    return k < variants->count && change_inst(m, c, &variants->at[k], out);
}

void match_change_free(struct match_change *c)
{
    hlo_literal_free(c->value);
    hlo_module_free(c->module);
    c->value = NULL;
    c->module = NULL;
}
