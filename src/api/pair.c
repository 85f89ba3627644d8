/*
 * Public interface: pairing of the instructions of two modules.
 *
 * Computations are paired first, from the entry computation down to callees. In a pair of
 * computations, instructions are paired by name, by op_name in their metadata, and by position
 * among those of the same op and shape. Remaining instructions are paired by name and op_name in
 * the whole module, since compiler passes move instructions between computations.
 *
 * Several instructions may have the same op_name or position. Such a pair must be confirmed by its
 * operands, which must be pairs or equal constants. Constants are paired by value, or by name if
 * an instruction of the same name uses them.
 */
#include "api/api.h"

#include "look/look.h"

struct hlo_pairing {
    const hlo_listing *a, *b;
    struct arena arena;
    struct hlo_pair *of_a, *of_b;
    long *computations; /* by computation of a: its partner in b, or -1 */
    bool *taken;        /* by computation of b: has a partner */
};

/* What paired instructions have in common: name, op_name or nothing besides op and shape; op_name
 * and shape; name. */
enum key { NAME, METADATA, PLACE, OTHER_OP, OTHER };

/* ---- confirmation ---- */

static bool same_constant(const struct inst *x, const struct inst *y)
{
    int64_t elements = 0;
    if (x->opcode != OP_CONSTANT || y->opcode != OP_CONSTANT || !shape_is_array(x->shape) ||
        !shape_compatible(x->shape, y->shape) || x->literal->elided || y->literal->elided ||
        !shape_elements(x->shape, &elements))
        return false;
    const size_t bytes = (size_t)elements * dtype_bytes(x->shape->dtype);
    return bytes == 0 || memcmp(x->literal->data, y->literal->data, bytes) == 0;
}

/* The operand of the only caller that is the value of a parameter; -1: none. */
static long argument_of(const hlo_listing *l, const struct hlo_listed *x)
{
    const struct hlo_listed_computation c = hlo_list_computation(l, x->computation);
    if (x->parameter < 0 || c.caller_count != 1)
        return -1;
    const enum opcode op = hlo_listing_inst(l, c.callers[0])->opcode;
    const struct hlo_listed call = hlo_list_inst(l, c.callers[0]);
    if ((op != OP_FUSION && op != OP_CALL) || (size_t)x->parameter >= call.operand_count)
        return -1;
    return (long)call.operands[x->parameter];
}

/* The element of a known tuple that the instruction is; -1: none. */
static long element_of(const hlo_listing *l, size_t i, const struct hlo_listed *x)
{
    const struct inst *inst = hlo_listing_inst(l, i);
    if (inst->opcode != OP_GET_TUPLE_ELEMENT)
        return -1;
    const size_t number = hlo_pair_source(l, x->operands[0]);
    const struct hlo_listed tuple = hlo_list_inst(l, number);
    const int64_t index = inst_int(inst, A_INDEX, -1);
    return hlo_listing_inst(l, number)->opcode == OP_TUPLE && index >= 0 &&
                   (size_t)index < tuple.operand_count
               ? (long)tuple.operands[index]
               : -1;
}

/* The root of the computation that a fusion or call returns; -1: none. */
static long returned_by(const hlo_listing *l, size_t i, const struct hlo_listed *x)
{
    const enum opcode op = hlo_listing_inst(l, i)->opcode;
    return (op == OP_FUSION || op == OP_CALL) && x->callee_count == 1
               ? (long)hlo_list_computation(l, x->callees[0]).root
               : -1;
}

size_t hlo_pair_source(const hlo_listing *l, size_t i)
{
    for (;;) {
        const struct hlo_listed x = hlo_list_inst(l, i);
        long from = argument_of(l, &x);
        from = from < 0 ? element_of(l, i, &x) : from;
        from = from < 0 ? returned_by(l, i, &x) : from;
        if (from < 0)
            return i;
        i = (size_t)from;
    }
}

static bool same_operands(const struct hlo_pairing *p, const struct hlo_listed *x,
                          const struct hlo_listed *y)
{
    if (x->operand_count != y->operand_count)
        return false;
    for (size_t k = 0; k < x->operand_count; k++) {
        const size_t a = hlo_pair_source(p->a, x->operands[k]),
                     b = hlo_pair_source(p->b, y->operands[k]);
        if (p->of_a[a].other != (long)b &&
            !same_constant(hlo_listing_inst(p->a, a), hlo_listing_inst(p->b, b)))
            return false;
    }
    return true;
}

/* Whether an operand of one is a constant and that of the other another one, by name and value. */
static bool other_constants(const struct inst *i, const struct inst *j)
{
    for (int k = 0; k < i->operand_count && k < j->operand_count; k++)
        if (i->operands[k]->opcode == OP_CONSTANT && j->operands[k]->opcode == OP_CONSTANT &&
            !str_eq(i->operands[k]->name, j->operands[k]->name) &&
            !same_constant(i->operands[k], j->operands[k]))
            return true;
    return false;
}

/* Whether instructions of the same name and op use both as the same operand. */
static bool same_user(const struct hlo_pairing *p, size_t a, size_t b)
{
    enum { MOST = 16 };
    const struct hlo_listed x = hlo_list_inst(p->a, a), y = hlo_list_inst(p->b, b);
    for (size_t i = 0; i < x.user_count && i < MOST; i++)
        for (size_t j = 0; j < y.user_count && j < MOST; j++) {
            const struct hlo_listed u = hlo_list_inst(p->a, x.users[i]),
                                    v = hlo_list_inst(p->b, y.users[j]);
            if (strcmp(u.op, v.op) != 0 ||
                (strcmp(u.name, v.name) != 0 && p->of_a[x.users[i]].other != (long)y.users[j]))
                continue;
            for (size_t k = 0; k < u.operand_count && k < v.operand_count; k++)
                if (u.operands[k] == a && v.operands[k] == b)
                    return true;
        }
    return false;
}

/* Whether two instructions with the same key are a pair; `unique`: no others have it. */
static bool is_pair(const struct hlo_pairing *p, size_t a, size_t b, enum key key, bool unique)
{
    const struct inst *i = hlo_listing_inst(p->a, a), *j = hlo_listing_inst(p->b, b);
    const struct hlo_listed x = hlo_list_inst(p->a, a), y = hlo_list_inst(p->b, b);
    const bool by_metadata = key == METADATA || key == OTHER_OP;
    if (i->opcode == OP_CONSTANT)
        return same_constant(i, j) || (!by_metadata && same_user(p, a, b));
    if (x.parameter >= 0)
        return p->computations[x.computation] == (long)y.computation;
    if (key == NAME || key == OTHER || (by_metadata && unique && !other_constants(i, j)))
        return true;
    return (key != OTHER_OP || x.operand_count > 0) && same_operands(p, &x, &y);
}

/* ---- pairing by one key ---- */

enum { WINDOW = 32 };

struct waiting { /* unpaired instructions with the same key: those of b in order, from `next` on,
                    and the number of those of a */
    size_t *at, count, capacity, next, others;
};

/* The key that paired instructions have in common; empty: the instruction cannot be paired by
 * it. */
static struct str key_of(struct arena *a, const hlo_listing *l, size_t number, enum key by)
{
    const struct hlo_listed i = hlo_list_inst(l, number);
    const struct inst *inst = hlo_listing_inst(l, number);
    SCOPED_BUF key = {0};
    uint64_t value[2] = {0};
    const bool named = by == NAME || by == OTHER;
    buf_puts(&key, named ? i.name : by == PLACE ? "" : i.op_name);
    if (by != PLACE && key.size == 0)
        return STR("");
    if (by != OTHER)
        shape_print(&key, inst->shape, false);
    if (by == PLACE && inst->opcode == OP_CONSTANT && !inst->literal->elided) {
        look_digest(inst->literal, value);
        buf_printf(&key, "%" PRIx64 "%" PRIx64, value[0], value[1]);
    }
    if (by <= PLACE)
        buf_puts(&key, i.op);
    return arena_str(a, buf_view(&key));
}

struct range {
    size_t first, count;
};

static void pair(struct hlo_pairing *p, size_t a, size_t b, enum hlo_paired how)
{
    p->of_a[a] = (struct hlo_pair){(long)b, how};
    p->of_b[b] = (struct hlo_pair){(long)a, how};
}

static struct waiting *waiting_for(struct map *map, struct str key)
{
    struct waiting *w = map_get(map, key);
    if (!w)
        map_put(map, key, w = ARENA_NEW(map->arena, struct waiting));
    return w;
}

/* Pairs an instruction of a with the first of `w` that fits, of the next WINDOW. */
static bool pair_one(struct hlo_pairing *p, size_t a, struct waiting *w, enum key key)
{
    static const enum hlo_paired hows[] = {HLO_PAIRED_NAME, HLO_PAIRED_METADATA, HLO_PAIRED_PLACE,
                                           HLO_PAIRED_OTHERWISE, HLO_PAIRED_OTHERWISE};
    const bool unique = w->count == 1 && w->others == 1;
    while (w->next < w->count && p->of_b[w->at[w->next]].how)
        w->next++;
    for (size_t k = w->next; k < w->count && k < w->next + WINDOW; k++)
        if (!p->of_b[w->at[k]].how && is_pair(p, a, w->at[k], key, unique)) {
            pair(p, a, w->at[k], hows[key]);
            return true;
        }
    return false;
}

/* Pairs unpaired instructions of two ranges with equal keys, in order; returns their number. */
static size_t pair_range(struct hlo_pairing *p, struct range a, struct range b, enum key by)
{
    SCOPED_ARENA scratch = arena_make();
    struct map map;
    size_t found = 0;
    map_init(&map, &scratch);
    struct waiting **of_a = ARENA_ARRAY(&scratch, struct waiting *, a.count);
    for (size_t i = 0; i < a.count; i++) {
        if (p->of_a[a.first + i].how)
            continue;
        const struct str key = key_of(&scratch, p->a, a.first + i, by);
        if (key.len > 0)
            (of_a[i] = waiting_for(&map, key))->others++;
    }
    for (size_t i = b.first; i < b.first + b.count; i++) {
        if (p->of_b[i].how)
            continue;
        const struct str key = key_of(&scratch, p->b, i, by);
        struct waiting *w = key.len > 0 ? map_get(&map, key) : NULL;
        if (w)
            VEC_PUSH(&scratch, w->at, w->count, w->capacity) = i;
    }
    for (size_t i = 0; i < a.count; i++)
        found += of_a[i] && pair_one(p, a.first + i, of_a[i], by);
    return found;
}

/* Pairs two ranges by all keys. A pair may confirm others. */
static void pair_ranges(struct hlo_pairing *p, struct range a, struct range b, bool places)
{
    enum { ROUNDS = 4 };
    size_t found = 1;
    for (int round = 0; round < ROUNDS && found > 0; round++) {
        found = pair_range(p, a, b, NAME);
        found += pair_range(p, a, b, METADATA);
        found += pair_range(p, a, b, places ? PLACE : OTHER_OP);
    }
    if (places)
        pair_range(p, a, b, OTHER);
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
    pair_ranges(p, from, to, true);
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
    pair_ranges(p, all_a, all_b, false);
    return p;
}

void hlo_pairing_free(hlo_pairing *p)
{
    if (!p)
        return;
    arena_free(&p->arena);
    heap_free(p);
}

void hlo_pair_copy(hlo_pairing *p, const hlo_pairing *from)
{
    memcpy(p->of_a, from->of_a, hlo_list_count(p->a) * sizeof *p->of_a);
    memcpy(p->of_b, from->of_b, hlo_list_count(p->b) * sizeof *p->of_b);
}

void hlo_pair_add(hlo_pairing *p, size_t a, size_t b, enum hlo_paired how)
{
    if (!p->of_a[a].how)
        p->of_a[a] = (struct hlo_pair){(long)b, how};
    if (!p->of_b[b].how)
        p->of_b[b] = (struct hlo_pair){(long)a, how};
}

void hlo_pair_remove(hlo_pairing *p, size_t b)
{
    const long a = p->of_b[b].other;
    if (a >= 0 && p->of_a[a].other == (long)b)
        p->of_a[a] = (struct hlo_pair){.other = -1};
    p->of_b[b] = (struct hlo_pair){.other = -1};
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
    SCOPED_TEXT text = hlo_list_print(l, i, HLO_PRINT_SHORT);
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
    return rest;
}

static bool same_attributes(const hlo_listing *a, size_t i, const hlo_listing *b, size_t j)
{
    SCOPED_ARENA scratch = arena_make();
    return str_eq(attributes_of(&scratch, a, i), attributes_of(&scratch, b, j));
}

bool pair_same_op(const hlo_listing *a, size_t i, const hlo_listing *b, size_t j)
{
    const struct inst *x = hlo_listing_inst(a, i), *y = hlo_listing_inst(b, j);
    return x->opcode == y->opcode &&
           (x->opcode == OP_CONSTANT ? same_constant(x, y) : same_attributes(a, i, b, j));
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
        changed = p->of_a[x.operands[k]].other != (long)y.operands[k] &&
                  p->of_b[y.operands[k]].other != (long)x.operands[k];
    return changed ||
           (!is_long_constant(p->a, i) && !same_attributes(p->a, i, p->b, (size_t)other));
}
