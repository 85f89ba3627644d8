/*
 * scope.c: the instruction names of one computation. Which instruction does this name mean?
 */
#include "text/parse.h"

struct scope_slot {
    uint64_t hash;
    struct inst *inst; /* NULL: empty slot */
};

/* Names that differ in the last character only stand side by side: `add.10` ... `add.19` are defined one
 * after the other and used soon after. */
static uint64_t hash_name(struct str name)
{
    if (name.len == 0)
        return 0;
    return hash_bytes(name.ptr, name.len - 1) + (unsigned char)name.ptr[name.len - 1];
}

static struct scope_slot *find_slot(const struct scope *s, struct str name, uint64_t hash)
{
    size_t mask = s->capacity - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
        struct scope_slot *slot = &s->slots[at];
        if (!slot->inst || (slot->hash == hash && str_eq(slot->inst->name, name)))
            return slot;
    }
}

struct inst *scope_find(const struct scope *s, struct str name)
{
    return s->count ? find_slot(s, name, hash_name(name))->inst : NULL;
}

/* A large table has an arena of its own, which goes when the table has grown. */
static void grow(struct parser *p, struct scope *s)
{
    enum { LARGE = 1 << 14 };
    struct scope_slot *old = s->slots;
    struct arena old_table = s->table;
    size_t old_capacity = s->capacity;
    s->capacity = old_capacity ? old_capacity * 2 : 16;
    arena_init(&s->table);
    s->slots = ARENA_ARRAY(s->capacity < LARGE ? &p->state->scratch : &s->table, struct scope_slot, s->capacity);
    size_t mask = s->capacity - 1;
    for (size_t i = 0; i < old_capacity; i++) {
        if (!old[i].inst)
            continue;
        size_t at = old[i].hash & mask;
        while (s->slots[at].inst)
            at = (at + 1) & mask;
        s->slots[at] = old[i];
    }
    arena_free(&old_table);
}

void scope_prefetch(const struct scope *s, struct str name)
{
    if (s->capacity)
        __builtin_prefetch(&s->slots[hash_name(name) & (s->capacity - 1)]);
}

struct inst *scope_add(struct parser *p, struct scope *s, struct inst *i)
{
    if ((s->count + 1) * 2 > s->capacity)
        grow(p, s);
    uint64_t hash = hash_name(i->name);
    struct scope_slot *slot = find_slot(s, i->name, hash);
    struct inst *before = slot->inst;
    if (before && !inst_is_poisoned(before))
        return before;
    s->count += !before;
    *slot = (struct scope_slot){hash, i};
    return NULL;
}

struct inst *scope_poison(struct parser *p, struct scope *s, struct str name, struct span span, const struct shape *shape)
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

struct str scope_nearest(const struct scope *s, struct str name)
{
    unsigned best = (unsigned)(name.len / 3) + 1;
    struct str nearest = STR("");
    for (size_t i = 0; i < s->capacity; i++) {
        const struct inst *candidate = s->slots[i].inst;
        if (!candidate || inst_is_poisoned(candidate))
            continue;
        unsigned distance = str_distance(name, candidate->name, best + 1);
        if (distance < best || (distance == best && distance < name.len && nearest.len == 0)) {
            best = distance;
            nearest = candidate->name;
        }
    }
    return nearest;
}
