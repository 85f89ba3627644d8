/*
 * repl/cache: a cache of values by mark. Evicted values are recomputed on demand.
 */
#include "repl/session.h"

/* The slot of a mark, or the empty slot for it. */
static struct cache_entry *slot_of(const struct cache *k, uint64_t mark)
{
    size_t mask = k->capacity - 1, i = (size_t)mark & mask;
    while (k->slots[i].mark && k->slots[i].mark != mark)
        i = (i + 1) & mask;
    return &k->slots[i];
}

static void rebuild(struct cache *k, size_t capacity, uint64_t without)
{
    struct cache old = *k;
    k->capacity = capacity;
    k->slots = heap_zalloc(capacity, sizeof *k->slots);
    k->count = 0;
    k->bytes = 0;
    for (size_t i = 0; i < old.capacity; i++) {
        struct cache_entry *from = &old.slots[i];
        if (!from->mark)
            continue;
        if (from->mark == without) {
            shared_value_unref(from->value);
            continue;
        }
        *slot_of(k, from->mark) = *from;
        k->count++;
        k->bytes += from->value->bytes;
    }
    heap_free(old.slots);
}

void cache_drop(struct cache *k, uint64_t mark)
{
    if (k->count > 0 && slot_of(k, mark)->mark)
        rebuild(k, k->capacity, mark);
}

struct shared_value *cache_get(struct cache *k, uint64_t mark)
{
    if (k->count == 0)
        return NULL;
    struct cache_entry *slot = slot_of(k, mark);
    if (!slot->mark)
        return NULL;
    slot->used = ++k->clock;
    return slot->value;
}

static uint64_t oldest(const struct cache *k)
{
    const struct cache_entry *found = NULL;
    for (size_t i = 0; i < k->capacity; i++)
        if (k->slots[i].mark && (!found || k->slots[i].used < found->used))
            found = &k->slots[i];
    return found ? found->mark : 0;
}

void cache_put(struct cache *k, uint64_t mark, struct shared_value *value)
{
    if (mark == 0)
        return;
    if (k->capacity < 2 * (k->count + 1))
        rebuild(k, k->capacity ? 2 * k->capacity : 64, 0);
    struct cache_entry *slot = slot_of(k, mark);
    shared_value_ref(value);
    if (slot->mark) {
        k->bytes -= slot->value->bytes;
        shared_value_unref(slot->value);
    } else {
        k->count++;
    }
    *slot = (struct cache_entry){mark, value, ++k->clock};
    k->bytes += value->bytes;
    while (k->bytes > k->max && k->count > 1)
        cache_drop(k, oldest(k));
}

void cache_free(struct cache *k)
{
    for (size_t i = 0; i < k->capacity; i++)
        if (k->slots[i].mark)
            shared_value_unref(k->slots[i].value);
    heap_free(k->slots);
    *k = (struct cache){0};
}
