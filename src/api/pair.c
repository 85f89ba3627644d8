/*
 * Public interface: pairing of the instructions of two modules.
 *
 * Computations are paired first, from the entry computation down to callees. In a pair of
 * computations, instructions are paired by name, by op_name in their metadata, and by position
 * among those of the same op and shape. Remaining instructions are paired by name and op_name in
 * the whole module, since compiler passes move instructions between computations.
 */
#include "api/api.h"

struct hlo_pairing {
    const hlo_listing *a, *b;
    struct arena arena;
    struct hlo_pair *of_a, *of_b;
    long *computations; /* by computation of a: its partner in b, or -1 */
    bool *taken;        /* by computation of b: has a partner */
};

/* ---- pairing by one key ---- */

struct waiting { /* unpaired instructions of b with the same key, in order; `next` is the first of
                    them */
    size_t *at, count, capacity, next;
};

/* The key that paired instructions have in common; empty: the instruction cannot be paired by
 * it. */
static struct str key_of(struct arena *a, const struct hlo_listed *i, enum hlo_paired how)
{
    if (how == HLO_PAIRED_METADATA && i->op_name[0] == '\0')
        return STR("");
    switch (how) {
    case HLO_PAIRED_NAME: return arena_printf(a, "%s\n%s\n%s", i->name, i->op, i->shape);
    case HLO_PAIRED_METADATA: return arena_printf(a, "%s\n%s\n%s", i->op_name, i->op, i->shape);
    case HLO_PAIRED_PLACE: return arena_printf(a, "%s\n%s", i->op, i->shape);
    default: return arena_printf(a, "%s", i->name);
    }
}

struct range {
    size_t first, count;
};

static void pair(struct hlo_pairing *p, size_t a, size_t b, enum hlo_paired how)
{
    p->of_a[a] = (struct hlo_pair){(long)b, how};
    p->of_b[b] = (struct hlo_pair){(long)a, how};
}

/* Pairs the unpaired instructions of two ranges with equal keys, in order. */
static void pair_range(struct hlo_pairing *p, struct range a, struct range b, enum hlo_paired how)
{
    struct arena scratch;
    struct map map;
    arena_init(&scratch);
    map_init(&map, &scratch);
    for (size_t i = b.first; i < b.first + b.count; i++) {
        struct hlo_listed inst = hlo_list_inst(p->b, i);
        struct str key = p->of_b[i].how ? STR("") : key_of(&scratch, &inst, how);
        struct waiting *w = key.len > 0 ? map_get(&map, key) : NULL;
        if (key.len > 0 && !w) {
            w = ARENA_NEW(&scratch, struct waiting);
            map_put(&map, key, w);
        }
        if (w)
            VEC_PUSH(&scratch, w->at, w->count, w->capacity) = i;
    }
    for (size_t i = a.first; i < a.first + a.count; i++) {
        struct hlo_listed inst = hlo_list_inst(p->a, i);
        struct str key = p->of_a[i].how ? STR("") : key_of(&scratch, &inst, how);
        struct waiting *w = key.len > 0 ? map_get(&map, key) : NULL;
        if (w && w->next < w->count)
            pair(p, i, w->at[w->next++], how);
    }
    arena_free(&scratch);
}

/* ---- computations ---- */

static void pair_parameters(struct hlo_pairing *p, const struct hlo_listed_computation *a,
                            const struct hlo_listed_computation *b)
{
    for (size_t k = 0; k < a->parameter_count && k < b->parameter_count; k++)
        if (strcmp(hlo_list_inst(p->a, a->parameters[k]).shape,
                   hlo_list_inst(p->b, b->parameters[k]).shape) == 0)
            pair(p, a->parameters[k], b->parameters[k], HLO_PAIRED_PLACE);
}

static void pair_callees(struct hlo_pairing *p, size_t a)
{
    struct hlo_listed x = hlo_list_inst(p->a, a), y = hlo_list_inst(p->b, (size_t)p->of_a[a].other);
    for (size_t k = 0; k < x.callee_count && k < y.callee_count; k++)
        if (p->computations[x.callees[k]] < 0 && !p->taken[y.callees[k]]) {
            p->computations[x.callees[k]] = (long)y.callees[k];
            p->taken[y.callees[k]] = true;
        }
}

static void pair_computation(struct hlo_pairing *p, size_t c)
{
    struct hlo_listed_computation a = hlo_list_computation(p->a, c),
                                  b = hlo_list_computation(p->b, (size_t)p->computations[c]);
    struct range from = {a.first, a.count}, to = {b.first, b.count};
    pair_parameters(p, &a, &b);
    for (int how = HLO_PAIRED_NAME; how <= HLO_PAIRED_OTHERWISE; how++)
        pair_range(p, from, to, (enum hlo_paired)how);
    if (!p->of_a[a.root].how && !p->of_b[b.root].how)
        pair(p, a.root, b.root, HLO_PAIRED_OTHERWISE);
    for (size_t i = a.first; i < a.first + a.count; i++)
        if (p->of_a[i].how)
            pair_callees(p, i);
}

hlo_pairing *hlo_pair(const hlo_listing *a, const hlo_listing *b)
{
    OOM_SCOPE(NULL);
    size_t count = hlo_list_computations(a), others = hlo_list_computations(b);
    hlo_pairing *p = heap_zalloc(1, sizeof *p);
    *p = (struct hlo_pairing){.a = a, .b = b};
    arena_init(&p->arena);
    p->of_a = ARENA_ARRAY(&p->arena, struct hlo_pair, hlo_list_count(a));
    p->of_b = ARENA_ARRAY(&p->arena, struct hlo_pair, hlo_list_count(b));
    p->computations = ARENA_ARRAY(&p->arena, long, count);
    p->taken = ARENA_ARRAY(&p->arena, bool, others);
    for (size_t i = 0; i < hlo_list_count(a); i++)
        p->of_a[i].other = -1;
    for (size_t i = 0; i < hlo_list_count(b); i++)
        p->of_b[i].other = -1;
    for (size_t c = 0; c < count; c++)
        p->computations[c] = -1;
    p->computations[count - 1] =
        (long)others - 1; /* the entry computations are last, and callers follow callees */
    p->taken[others - 1] = true;
    for (size_t c = count; c-- > 0;) {
        long same = p->computations[c] < 0
                        ? hlo_list_find_computation(b, hlo_list_computation(a, c).name)
                        : -1;
        if (same >= 0 && !p->taken[same]) {
            p->computations[c] = same;
            p->taken[same] = true;
        }
        if (p->computations[c] >= 0)
            pair_computation(p, c);
    }
    struct range all_a = {0, hlo_list_count(a)}, all_b = {0, hlo_list_count(b)};
    pair_range(p, all_a, all_b, HLO_PAIRED_NAME);
    pair_range(p, all_a, all_b, HLO_PAIRED_METADATA);
    return p;
}

void hlo_pairing_free(hlo_pairing *p)
{
    if (!p)
        return;
    arena_free(&p->arena);
    heap_free(p);
}

struct hlo_pair hlo_pair_of_a(const hlo_pairing *p, size_t i) { return p->of_a[i]; }
struct hlo_pair hlo_pair_of_b(const hlo_pairing *p, size_t i) { return p->of_b[i]; }

/* ---- changes ---- */

enum { SHORT_CONSTANT = 10 };

static bool is_long_constant(const hlo_listing *l, size_t i)
{
    const struct inst *inst = hlo_listing_inst(l, i);
    int64_t elements = 0;
    return inst->opcode == OP_CONSTANT &&
           (!shape_elements(inst->shape, &elements) || elements > SHORT_CONSTANT);
}

/* Counts the calls of each computation by an instruction, by name. */
static void count_calls(struct map *calls, const hlo_listing *l, const struct hlo_listed *inst)
{
    for (size_t k = 0; k < inst->callee_count; k++) {
        struct str name = str_of(hlo_list_computation(l, inst->callees[k]).name);
        size_t *count = map_get(calls, name);
        if (!count)
            map_put(calls, name, count = ARENA_NEW(calls->arena, size_t));
        ++*count;
    }
}

/* Replaces names of callees that are attribute values, or elements of lists of them, by `#`, each
 * at most as often as it is called. A single pass over the text, since there may be as many callees
 * as words. */
static struct str without_callees(struct arena *a, const hlo_listing *l,
                                  const struct hlo_listed *inst, struct str text)
{
    struct map calls;
    char *out = ARENA_ARRAY(a, char, text.len + 1);
    size_t size = 0, word = 0; /* word: start in `out` of a word that may be a name; 0: none */
    map_init(&calls, a);
    count_calls(&calls, l, inst);
    for (size_t k = 0; k <= text.len; k++) {
        const char c = k < text.len ? text.ptr[k] : '\0';
        size_t *left = word > 0 && strchr(",} ", c)
                           ? map_get(&calls, (struct str){out + word, size - word})
                           : NULL;
        if (left && *left > 0) {
            --*left;
            size = word;
            out[size++] = '#';
        }
        out[size++] = c;
        if (strchr("={, %", c))
            word = size;
        else if (c == '}')
            word = 0;
    }
    return (struct str){out, size - 1};
}

/* The text after the operands without names of callees; for a constant the value. */
static struct str attributes_of(struct arena *a, const hlo_listing *l, size_t i)
{
    struct hlo_listed inst = hlo_list_inst(l, i);
    hlo_text text = hlo_list_print(l, i, HLO_PRINT_SHORT);
    struct str call = arena_printf(a, " %s(", inst.op), rest = {text.data, text.size};
    const char *at = text.data ? strstr(text.data, call.ptr) : NULL;
    int depth = 0;
    bool constant = strcmp(inst.op, "constant") == 0;
    for (at = at && !constant ? at + call.len - 1 : NULL; at && *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0) {
            rest = (struct str){at + 1, (size_t)(text.data + text.size - at - 1)};
            break;
        }
    }
    if (constant && strchr(text.data, '='))
        rest = str_of(strchr(text.data, '='));
    rest = without_callees(a, l, &inst, rest);
    hlo_text_free(&text);
    return rest;
}

bool hlo_pair_changed(const hlo_pairing *p, size_t i)
{
    OOM_SCOPE(true);
    long other = p->of_a[i].other;
    if (other < 0)
        return false;
    struct hlo_listed x = hlo_list_inst(p->a, i), y = hlo_list_inst(p->b, (size_t)other);
    bool changed = strcmp(x.op, y.op) != 0 || x.operand_count != y.operand_count ||
                   strcmp(x.shape, y.shape) != 0;
    for (size_t k = 0; k < x.operand_count && !changed; k++)
        changed = p->of_a[x.operands[k]].other != (long)y.operands[k];
    if (changed || is_long_constant(p->a, i))
        return changed;
    struct arena scratch;
    arena_init(&scratch);
    changed =
        !str_eq(attributes_of(&scratch, p->a, i), attributes_of(&scratch, p->b, (size_t)other));
    arena_free(&scratch);
    return changed;
}
