/*
 * reduce_pass.c: the steps of test-case reduction. Each derives candidates from the current module
 * by bisecting sets of instructions.
 */
#include "edit/reduce_priv.h"

/* ---- sets of instructions ---- */

/* A set of instructions of `now`. */
struct set {
    bool **in; /* by computation and index */
};

static struct set set_new(struct reducer *r, struct arena *a)
{
    struct set s = {ARENA_ARRAY(a, bool *, r->now->computation_count)};
    for (int c = 0; c < r->now->computation_count; c++)
        s.in[c] = ARENA_ARRAY(a, bool, r->now->computations[c]->inst_count);
    return s;
}

static bool *place(const struct set *s, const struct inst *i)
{
    return &s->in[i->parent->index][i->index];
}

static size_t add_names(struct reducer *r, struct set *s, const struct names *names, size_t from,
                        size_t to)
{
    size_t count = 0;
    for (size_t k = from; k < to; k++) {
        const struct inst *i = reducer_find(r, names->at[k]);
        if (!i)
            continue;
        *place(s, i) = true;
        count++;
    }
    return count;
}

/* The members of the set that are used outside of it, or are the root. */
static struct set outputs_of_set(struct reducer *r, struct arena *a, const struct set *s)
{
    struct set edge = set_new(r, a);
    for (struct inst *i = NULL; (i = module_next(r->now, i)) != NULL;) {
        for (int o = 0; !*place(s, i) && o < i->operand_count; o++)
            *place(&edge, i->operands[o]) |= *place(s, i->operands[o]);
        *place(&edge, i) |= i == i->parent->root && *place(s, i);
    }
    return edge;
}

static bool has_no_operands(const struct inst *i)
{
    return i->opcode == OP_PARAMETER || i->opcode == OP_CONSTANT;
}

/* Lists the instructions of a computation, operands first, by name, since names are stable across
 * candidates. */
static void name_all(struct reducer *r, const struct computation *c, struct names *out,
                     size_t *capacity)
{
    SCOPED_ARENA scratch = arena_make();
    struct inst **order = computation_order(&scratch, c);
    for (int k = 0; k < c->inst_count; k++)
        VEC_PUSH(&r->arena, out->at, out->count, *capacity) = arena_str(&r->arena, order[k]->name);
}

static struct names names_of_entry(struct reducer *r)
{
    struct names n = {0};
    size_t capacity = 0;
    name_all(r, r->now->entry, &n, &capacity);
    return n;
}

static struct names names_of_all(struct reducer *r)
{
    struct names n = {0};
    SCOPED_ARENA scratch = arena_make();
    size_t capacity = 0;
    int count;
    struct computation **order = module_order(&scratch, r->now, &count);
    for (int c = 0; c < count; c++)
        name_all(r, order[c], &n, &capacity);
    return n;
}

/* ---- chunks ---- */

/* Requests the replacements for a set; returns the number of changed instructions. */
typedef size_t shrink_fn(struct reducer *r, struct edit *e, struct arena *scratch,
                         const struct set *s, int how);

static bool try_chunk(struct reducer *r, const struct names *names, size_t from, size_t to,
                      shrink_fn *shrink, int how)
{
    SCOPED_ARENA scratch = arena_make();
    struct set s = set_new(r, &scratch);
    struct edit *e = edit_new(r->now);
    if (add_names(r, &s, names, from, to) > 0 && shrink(r, e, &scratch, &s, how) > 0)
        return reducer_try(r, e);
    edit_free(e);
    return false;
}

/* Tries halves, quarters, ... and finally single instructions, later ones first. */
static bool try_chunks(struct reducer *r, struct names *names, shrink_fn *shrink, int how)
{
    bool better = false;
    for (size_t size = names->count; size > 0 && !r->over; size /= 2)
        for (size_t to = names->count; to > 0 && !r->over; to = to > size ? to - size : 0) {
            size_t from = to > size ? to - size : 0;
            if (!try_chunk(r, names, from, to, shrink, how))
                continue;
            better = true;
            for (size_t k = from; k < to; k++)
                names->at[k] = STR("");
        }
    return better;
}

/* ---- replacement by values ---- */

enum { AS_KNOWN, AS_PARAMETER, AS_ZEROS, AS_COUNT };
enum { LARGE = 1 << 16 }; /* bytes; larger constants make the text too long */

static const struct literal *known_value(const struct reducer *r, const struct inst *i)
{
    return r->how->value(r->how->context, i->name);
}

/* Whether the value may become a constant: it is small, or the search is faithful. */
static bool may_be_constant(const struct reducer *r, const struct inst *i)
{
    int64_t size;
    return r->how->faithful || (shape_bytes(i->shape, &size) && size <= LARGE);
}

static bool shrink_value(struct reducer *r, struct edit *e, struct inst *i, int how)
{
    const struct literal *value;
    if (i->opcode == OP_CONSTANT || (i->opcode == OP_PARAMETER && how == AS_PARAMETER))
        return false;
    switch (how) {
    case AS_KNOWN:
        if (!may_be_constant(r, i) || !(value = known_value(r, i)))
            return false;
        return !edit_constant(e, i, value);
    case AS_PARAMETER: return !edit_parameter(e, i);
    default: return !edit_zeros(e, i);
    }
}

/* All of the edge must be replaced, else its operands would remain live. */
static size_t shrink_values(struct reducer *r, struct edit *e, struct arena *scratch,
                            const struct set *s, int how)
{
    struct set edge = outputs_of_set(r, scratch, s);
    size_t count = 0;
    for (struct inst *i = NULL; (i = module_next(r->now, i)) != NULL;)
        count += *place(&edge, i) && shrink_value(r, e, i, how);
    return count;
}

/* ---- steps ---- */

bool pass_strip(struct reducer *r)
{
    static const unsigned what[] = {EDIT_STRIP_METADATA | EDIT_STRIP_SHARDING | EDIT_STRIP_HINTS,
                                    EDIT_STRIP_METADATA, EDIT_STRIP_SHARDING, EDIT_STRIP_HINTS};
    bool better = false;
    for (size_t k = 0; k < COUNT_OF(what) && (k == 0 || !better); k++) {
        struct edit *e = edit_new(r->now);
        edit_strip(e, what[k]);
        better |= reducer_try(r, e);
    }
    return better;
}

/* Drops some components of the result. */
static size_t shrink_outputs(struct reducer *r, struct edit *e, struct arena *scratch,
                             const struct set *s, int how)
{
    const struct inst *root = r->now->entry->root;
    struct inst **kept = ARENA_ARRAY(scratch, struct inst *, root->operand_count);
    int count = 0;
    for (int k = 0; k < root->operand_count; k++)
        if (!*place(s, root->operands[k]))
            kept[count++] = root->operands[k];
    return count > 0 && count < root->operand_count && !edit_root(e, kept, count);
}

bool pass_outputs(struct reducer *r)
{
    const struct inst *root = r->now->entry->root;
    struct names names = {0};
    size_t capacity = 0;
    if (root->opcode != OP_TUPLE)
        return false;
    for (int k = 0; k < root->operand_count; k++)
        VEC_PUSH(&r->arena, names.at, names.count, capacity) =
            arena_str(&r->arena, root->operands[k]->name);
    if (names.count == 1) { /* only the tuple is left */
        struct edit *e = edit_new(r->now);
        if (!edit_root(e, root->operands, 1))
            return reducer_try(r, e);
        edit_free(e);
        return false;
    }
    return try_chunks(r, &names, shrink_outputs, 0);
}

/* Makes the members of the set that are used outside of it, or unused, the root; an edit would drop
 * the latter otherwise. */
static size_t shrink_root(struct reducer *r, struct edit *e, struct arena *scratch,
                          const struct set *s, int how)
{
    const struct computation *entry = r->now->entry;
    struct set edge = outputs_of_set(r, scratch, s);
    struct inst **roots = ARENA_ARRAY(scratch, struct inst *, entry->inst_count);
    int count = 0;
    for (int k = 0; k < entry->inst_count; k++) {
        struct inst *i = entry->insts[k];
        bool unused = *place(s, i) && i->user_count == 0;
        if ((*place(&edge, i) || unused) && !has_no_operands(i))
            roots[count++] = i;
    }
    return count > 0 && !edit_root(e, roots, count);
}

/* Searches for the shortest or longest prefix of the computation for which a candidate fails; the
 * bounds are numbers of instructions. */
static bool search_prefix(struct reducer *r, size_t low, size_t high, bool longest,
                          shrink_fn *shrink, int how)
{
    struct names names = names_of_entry(r);
    bool better = false;
    while (low < high && !r->over) {
        const size_t middle = low + (high - low + longest) / 2;
        const bool fails = try_chunk(r, &names, 0, middle, shrink, how);
        better |= fails;
        if (fails == longest)
            low = middle + !longest;
        else
            high = middle - longest;
    }
    return better;
}

/* Drops what follows the shortest prefix that still fails. */
bool pass_from_below(struct reducer *r)
{
    return search_prefix(r, 1, (size_t)r->now->entry->inst_count, false, shrink_root, 0);
}

/* Replaces the longest prefix possible by known values; unless the search is faithful, unknown or
 * large ones become parameters. */
bool pass_from_above(struct reducer *r)
{
    const struct inst *root = r->now->entry->root;
    const bool constant = r->how->faithful || (known_value(r, root) && may_be_constant(r, root));
    return search_prefix(r, 0, (size_t)r->now->entry->inst_count - 1, true, shrink_values,
                         constant ? AS_KNOWN : AS_PARAMETER);
}

bool pass_values(struct reducer *r)
{
    bool better = false;
    if (r->how->faithful) { /* in computations that were executed once */
        struct names names = names_of_entry(r);
        return try_chunks(r, &names, shrink_values, AS_KNOWN);
    }
    for (int how = 0; how < AS_COUNT; how++) {
        struct names names = names_of_all(r);
        better |= try_chunks(r, &names, shrink_values, how);
    }
    return better;
}

/* ---- replacement by operands ---- */

/* The tuple operand that a get-tuple-element of a tuple instruction selects. */
static struct inst *selected_operand(const struct inst *i)
{
    if (i->opcode != OP_GET_TUPLE_ELEMENT || i->operand_count != 1 ||
        i->operands[0]->opcode != OP_TUPLE)
        return NULL;
    int64_t index = inst_int(i, A_INDEX, -1);
    return index >= 0 && index < i->operands[0]->operand_count ? i->operands[0]->operands[index]
                                                               : NULL;
}

static bool shrink_operand(struct edit *e, struct inst *i, bool faithful)
{
    struct inst *same = selected_operand(i);
    if (same && !edit_replace(e, i, same))
        return true;
    for (int k = 0; !faithful && k < i->operand_count; k++)
        if (!edit_replace(e, i, i->operands[k]))
            return true;
    return false;
}

static size_t shrink_operands(struct reducer *r, struct edit *e, struct arena *scratch,
                              const struct set *s, int how)
{
    size_t count = 0;
    for (struct inst *i = NULL; (i = module_next(r->now, i)) != NULL;)
        count += *place(s, i) && shrink_operand(e, i, r->how->faithful);
    return count;
}

bool pass_operands(struct reducer *r)
{
    struct names names = names_of_all(r);
    return try_chunks(r, &names, shrink_operands, 0);
}

/* ---- calls ---- */

static int callers(const struct module *m, const struct computation *callee)
{
    int count = 0;
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;)
        for (int first, n = 0; n < inst_callees(i, NULL); n++)
            count += edit_callee(i, n, &first) == callee;
    return count;
}

/* Whether a callee may be inlined: in a faithful search only if it was executed once, so that its
 * values are known. */
static bool may_inline(const struct reducer *r, const struct inst *i, int which)
{
    int first;
    const struct computation *c = edit_callee(i, which, &first);
    return c && (!r->how->faithful || (callers(r->now, c) == 1 && known_value(r, c->root)));
}

static size_t shrink_inline(struct reducer *r, struct edit *e, struct arena *scratch,
                            const struct set *s, int how)
{
    size_t count = 0;
    for (struct inst *i = NULL; (i = module_next(r->now, i)) != NULL;)
        count += *place(s, i) && may_inline(r, i, how) && !edit_inline(e, i, how);
    return count;
}

static int most_branches(const struct module *m)
{
    int max = 1;
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;) {
        int count = i->opcode == OP_CONDITIONAL ? inst_callees(i, NULL) : 1;
        max = count > max ? count : max;
    }
    return max;
}

bool pass_inline(struct reducer *r)
{
    bool better = false;
    for (int which = 0; which < most_branches(r->now) && !r->over; which++) {
        struct names names = {0}, all = names_of_all(r);
        size_t capacity = 0;
        for (size_t k = 0; k < all.count; k++)
            if (may_inline(r, reducer_find(r, all.at[k]), which))
                VEC_PUSH(&r->arena, names.at, names.count, capacity) = all.at[k];
        better |= try_chunks(r, &names, shrink_inline, which);
    }
    return better;
}

/* Tries a computation as a module of its own, with the operands of a call as arguments. */
static bool try_computation(struct reducer *r, const struct computation *c)
{
    struct edit *e = edit_new(r->now);
    struct inst *root = c->root;
    bool ok = !edit_root(e, &root, 1);
    for (int k = 0; ok && k < c->param_count; k++) {
        const struct literal *value = known_value(r, c->params[k]);
        if (value && may_be_constant(r, c->params[k]))
            edit_constant(e, c->params[k], value);
        ok = value || !r->how->faithful;
    }
    if (ok)
        return reducer_try(r, e);
    edit_free(e);
    return false;
}

bool pass_computations(struct reducer *r)
{
    /* Other computations may no longer exist. */
    for (int c = 0; c < r->now->computation_count && !r->over; c++)
        if (r->now->computations[c] != r->now->entry && try_computation(r, r->now->computations[c]))
            return true;
    return false;
}
