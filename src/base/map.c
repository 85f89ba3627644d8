/*
 * map.c: open-addressing map from a byte string to a pointer, and the hash it uses.
 */
#include "base/base.h"
#include "base/wide.h"

static const uint64_t k0 = 0x9e3779b97f4a7c15, k1 = 0xd6e8feb86659fd93;

static uint64_t load64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

uint64_t hash_from(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ size;
    size_t left = size;
    for (; left > 8; p += 8, left -= 8)
        h = mul_fold(h ^ load64(p), k1);
    uint64_t last = 0;
    /* The last word overlaps the previous one: cheaper than reading single bytes. */
    if (size >= 8)
        last = load64(p + left - 8);
    else
        for (size_t i = 0; i < left; i++)
            last |= (uint64_t)p[i] << 8 * i;
    return mul_fold(h ^ last, k0 ^ k1);
}

uint64_t hash_bytes(const void *bytes, size_t size) { return hash_from(k0, bytes, size); }

uint64_t hash_seed(const void *address) { return mul_fold((uintptr_t)address ^ k0, k1); }

void map_init(struct map *m, struct arena *arena)
{
    *m = (struct map){.arena = arena, .seed = hash_seed(arena)};
}

/* The slot of the key, or the empty slot to insert it. */
static struct map_slot *find(const struct map *m, struct str key, uint64_t hash)
{
    size_t mask = m->capacity - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &m->slots[i];
        if (!slot->value || (slot->hash == hash && str_eq(slot->key, key)))
            return slot;
    }
}

void *map_get(const struct map *m, struct str key)
{
    return m->count ? find(m, key, hash_from(m->seed, key.ptr, key.len))->value : NULL;
}

static void grow(struct map *m)
{
    struct map old = *m;
    const size_t capacity = old.capacity ? old.capacity * 2 : 16;
    m->slots = ARENA_ARRAY(m->arena, struct map_slot, capacity); /* may not return (oom.h) */
    m->capacity = capacity;
    size_t mask = m->capacity - 1;
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.slots[i].value)
            continue;
        /* The keys are distinct: the first empty slot is correct. */
        size_t at = (size_t)old.slots[i].hash & mask;
        while (m->slots[at].value)
            at = (at + 1) & mask;
        m->slots[at] = old.slots[i];
    }
}

void *map_put(struct map *m, struct str key, void *value)
{
    if ((m->count + 1) * 5 > m->capacity * 4)
        grow(m);
    uint64_t hash = hash_from(m->seed, key.ptr, key.len);
    struct map_slot *slot = find(m, key, hash);
    void *before = slot->value;
    if (!before) {
        slot->key = key;
        slot->hash = hash;
        m->count++;
    }
    slot->value = value;
    return before;
}
