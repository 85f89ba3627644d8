/*
 * scope.c: the symbol table of a computation: instructions by name.
 */
#include "text/parse.h"

struct scope_slot {
    uint64_t hash;
    struct inst *inst; /* NULL: empty slot */
};

/* Names that differ only in the last character are hashed to adjacent slots: `add.10` ... `add.19`
 * are usually defined together and used soon after. */
static uint64_t hash_name(const struct scope *s, struct str name)
{
    if (name.len == 0)
        return 0;
    return hash_from(s->seed, name.ptr, name.len - 1) + (unsigned char)name.ptr[name.len - 1];
}

static struct scope_slot *find_slot(const struct scope *s, struct str name, uint64_t hash)
{
    size_t mask = s->capacity - 1;
    for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
        struct scope_slot *slot = &s->slots[at];
        if (!slot->inst || (slot->hash == hash && str_eq(slot->inst->name, name)))
            return slot;
    }
}

struct inst *scope_find(const struct scope *s, struct str name)
{
    return s->count ? find_slot(s, name, hash_name(s, name))->inst : NULL;
}

/* ---- tables: most scopes are small and reuse the table of an ended scope ---- */

struct small_table {
    struct small_table *next; /* in the free list: the next free table */
    struct scope_slot slots[64];
};

static void take_small(struct parser *p, struct scope *s)
{
    struct parse_state *state = p->state;
    s->small = state->spare;
    if (s->small)
        state->spare = s->small->next;
    else
        s->small = ARENA_NEW(&state->scratch, struct small_table);
    s->slots = s->small->slots;
    s->capacity = COUNT_OF(s->small->slots);
}

void scope_free(struct parser *p, struct scope *s)
{
    if (s->small) {
        memset(s->small->slots, 0, sizeof s->small->slots);
        s->small->next = p->state->spare;
        p->state->spare = s->small;
    }
    arena_free(&s->table);
}

static void grow(struct parser *p, struct scope *s)
{
    struct scope old = *s;
    if (old.capacity == 0) {
        take_small(p, s);
        return;
    }
    s->small = NULL;
    s->capacity = old.capacity * 2;
    arena_init(&s->table);
    s->slots = ARENA_ARRAY(&s->table, struct scope_slot, s->capacity);
    size_t mask = s->capacity - 1;
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.slots[i].inst)
            continue;
        size_t at = (size_t)old.slots[i].hash & mask;
        while (s->slots[at].inst)
            at = (at + 1) & mask;
        s->slots[at] = old.slots[i];
    }
    scope_free(p, &old);
}

/* ---- names ---- */

void scope_prefetch(const struct scope *s, struct str name)
{
    if (s->capacity)
        __builtin_prefetch(&s->slots[hash_name(s, name) & (s->capacity - 1)]);
}

struct inst *scope_add(struct parser *p, struct scope *s, struct inst *i)
{
    if ((s->count + 1) * 2 > s->capacity)
        grow(p, s);
    uint64_t hash = hash_name(s, i->name);
    struct scope_slot *slot = find_slot(s, i->name, hash);
    struct inst *before = slot->inst;
    if (before && !inst_is_poisoned(before))
        return before;
    s->count += !before;
    *slot = (struct scope_slot){hash, i};
    return NULL;
}

struct inst *scope_poison(struct parser *p, struct scope *s, struct str name, struct span span,
                          const struct shape *shape)
{
    struct inst *i = ARENA_NEW(p->arena, struct inst);
    i->name = name;
    i->name_span = span;
    i->shape = shape;
    struct inst *known = scope_find(s, name);
    if (!known)
        scope_add(p, s, i);
    return known && inst_is_poisoned(known) ? known : i;
}

/* The nearest name by edit distance; of equally near ones the least, since positions in the table
 * differ from process to process. */
struct str scope_nearest(const struct scope *s, struct str name)
{
    unsigned best = (unsigned)(name.len / 3) + 1;
    struct str nearest = STR("");
    for (size_t i = 0; i < s->capacity; i++) {
        const struct inst *candidate = s->slots[i].inst;
        if (!candidate || inst_is_poisoned(candidate))
            continue;
        unsigned distance = str_distance(name, candidate->name, best + 1);
        const bool first =
            nearest.len == 0 ? distance < name.len : str_cmp(candidate->name, nearest) < 0;
        if (distance < best || (distance == best && first)) {
            best = distance;
            nearest = candidate->name;
        }
    }
    return nearest;
}
