/*
 * Public interface: editing modules. Wraps edit/, with instructions given by number and problems
 * reported as messages.
 */
#include "api/api.h"

#include "edit/edit.h"

struct hlo_edit {
    const hlo_listing *l;
    struct edit *e;
};

_Static_assert((int)HLO_STRIP_METADATA == (int)EDIT_STRIP_METADATA &&
                   (int)HLO_STRIP_SHARDING == (int)EDIT_STRIP_SHARDING &&
                   (int)HLO_STRIP_HINTS == (int)EDIT_STRIP_HINTS,
               "hlo_advanced.h and edit.h have equal flags");

hlo_edit *hlo_edit_new(const hlo_listing *l)
{
    OOM_SCOPE(NULL);
    hlo_edit *e = heap_zalloc(1, sizeof *e);
    *e = (hlo_edit){l, edit_new(hlo_listing_module(l)->m)};
    return e;
}

void hlo_edit_free(hlo_edit *e)
{
    if (!e)
        return;
    edit_free(e->e);
    heap_free(e);
}

/* Whether there is no problem; otherwise adds a message at the instruction. */
static bool judge(const hlo_edit *e, const struct inst *i, const char *what, const char *problem,
                  hlo_messages *m)
{
    if (!problem)
        return true;
    struct str text =
        arena_printf(&m->arena, "'" STR_FMT "' cannot %s: %s", STR_ARG(i->name), what, problem);
    return DIAG_ERROR(hlo_sink_of_module(m, hlo_listing_module(e->l)), i->name_span, FAILURE,
                      text.ptr);
}

bool hlo_edit_constant(hlo_edit *e, size_t inst, const hlo_literal *value, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct inst *i = hlo_listing_inst(e->l, inst);
    return judge(e, i, "become a constant", edit_constant(e->e, i, value->l), m);
}

bool hlo_edit_zeros(hlo_edit *e, size_t inst, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct inst *i = hlo_listing_inst(e->l, inst);
    return judge(e, i, "become zeros", edit_zeros(e->e, i), m);
}

bool hlo_edit_parameter(hlo_edit *e, size_t inst, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct inst *i = hlo_listing_inst(e->l, inst);
    return judge(e, i, "become a parameter", edit_parameter(e->e, i), m);
}

bool hlo_edit_replace(hlo_edit *e, size_t inst, size_t by, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct inst *i = hlo_listing_inst(e->l, inst), *other = hlo_listing_inst(e->l, by);
    struct str what = arena_printf(&m->arena, "become '" STR_FMT "'", STR_ARG(other->name));
    return judge(e, i, what.ptr, edit_replace(e->e, i, other), m);
}

bool hlo_edit_inline(hlo_edit *e, size_t inst, size_t which, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct inst *i = hlo_listing_inst(e->l, inst);
    int branch = which < INT_MAX ? (int)which : -1;
    return judge(e, i, "be inlined", edit_inline(e->e, i, branch), m);
}

bool hlo_edit_root(hlo_edit *e, const size_t *insts, size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct inst **roots = ARENA_ARRAY(&m->arena, struct inst *, count + 1);
    for (size_t k = 0; k < count; k++)
        roots[k] = hlo_listing_inst(e->l, insts[k]);
    const struct inst *named = count > 0 ? roots[0] : hlo_listing_module(e->l)->m->entry->root;
    return judge(e, named, "be the root", edit_root(e->e, roots, (int)count), m);
}

void hlo_edit_drop_parameters(hlo_edit *e) { edit_drop_parameters(e->e); }

void hlo_edit_strip(hlo_edit *e, unsigned what) { edit_strip(e->e, what); }

/* Out of memory for the module: the edit is freed nevertheless. */
static hlo_module *fail(hlo_edit *e, hlo_messages *m)
{
    hlo_edit_free(e);
    hlo_messages_no_memory(m);
    return NULL;
}

hlo_module *hlo_edit_finish(hlo_edit *e, hlo_messages *m)
{
    OOM_SCOPE(fail(e, m));
    const hlo_module *from = hlo_listing_module(e->l);
    const char *problem;
    hlo_module *out = heap_zalloc(1, sizeof *out);
    struct module *made = edit_finish(e->e, &problem);
    e->e = NULL; /* freed by edit_finish */
    if (made) {
        *out = (hlo_module){made, hlo_file_hold(from->file), from->part};
    } else {
        DIAG(hlo_sink_of_module(m, from), NO_SPAN, FAILURE, problem);
        heap_free(out);
        out = NULL;
    }
    hlo_edit_free(e);
    return out;
}

/* ---- inlining calls ---- */

/* Whether a listing has a call of a computation with this name. */
static bool has_call(const hlo_listing *l, const char *name)
{
    const long c = hlo_list_find_computation(l, name);
    if (c < 0)
        return false;
    const struct hlo_listed_computation called = hlo_list_computation(l, (size_t)c);
    for (size_t k = 0; k < called.caller_count; k++)
        if (hlo_listing_inst(l, called.callers[k])->opcode == OP_CALL)
            return true;
    return false;
}

/* Whether to inline an instruction: a call of a computation that the other module does not call. */
static bool is_only_here(const hlo_listing *l, const hlo_listing *other, size_t i)
{
    return hlo_listing_inst(l, i)->opcode == OP_CALL &&
           !has_call(other, hlo_list_computation(l, hlo_list_inst(l, i).callees[0]).name);
}

/* Whether the module has at most `most` instructions with calls inlined. Nested calls multiply
 * them. */
static bool is_small_inlined(const hlo_listing *l, const hlo_listing *other, size_t most)
{
    SCOPED_ARENA scratch = arena_make();
    const size_t count = hlo_list_computations(l);
    size_t *sizes = ARENA_ARRAY(&scratch, size_t, count), all = 0;
    for (size_t c = 0; c < count && all <= most; c++) { /* callees precede callers */
        const struct hlo_listed_computation x = hlo_list_computation(l, c);
        sizes[c] = x.count;
        for (size_t i = x.first; i < x.first + x.count && sizes[c] <= most; i++)
            if (is_only_here(l, other, i))
                sizes[c] += sizes[hlo_list_inst(l, i).callees[0]];
        all += sizes[c];
    }
    return all <= most;
}

hlo_module *hlo_inline_calls(const hlo_listing *l, const hlo_listing *other)
{
    OOM_SCOPE(NULL);
    enum { FACTOR = 16, SMALL = 10000 };
    const size_t count = hlo_list_count(l);
    bool any = false;
    if (!is_small_inlined(l, other, FACTOR * count + SMALL))
        return NULL;
    hlo_edit *e = hlo_edit_new(l);
    edit_keep_dead(e->e);
    for (size_t i = 0; i < count; i++)
        if (is_only_here(l, other, i))
            any |= !edit_inline(e->e, hlo_listing_inst(l, i), 0);
    if (!any) {
        hlo_edit_free(e);
        return NULL;
    }
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    hlo_module *made = hlo_edit_finish(e, ignored);
    if (made && !hlo_verify(made, ignored)) {
        hlo_module_free(made);
        return NULL;
    }
    return made;
}
