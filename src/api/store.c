/*
 * store: see store.h. There may be millions of small values, so keys, entries and values of up to
 * SMALL bytes are in one arena, and the values of an instruction share their shape.
 */
#include "api/store.h"

enum { OVERHEAD = 200 /* approximate bytes of an entry */, SMALL = 512 };

struct entry {
    struct literal *value; /* NULL: not kept */
    hlo_literal *handle;   /* handle of the value, created when first requested */
    int64_t iterations;    /* of a while; -1: unknown */
    bool requested;
};

void store_init(struct store *s, const hlo_listing *l, uint64_t budget)
{
    *s = (struct store){.l = l, .budget = budget};
    buf_reserve(&s->key, 64); /* allocate now, in the out-of-memory scope of the store's owner */
    arena_init(&s->arena);
    map_init(&s->entries, &s->arena);
    s->shapes = ARENA_ARRAY(&s->arena, const struct shape *, hlo_list_count(l) + 1);
}

/* ---- keys ---- */

struct store_key store_key_of(const struct hlo_event *e)
{
    return (struct store_key){e->inst, e->participant, e->within, e->depth};
}

static bool is_constant(const struct store *s, size_t inst)
{
    return hlo_listing_inst(s->l, inst)->opcode == OP_CONSTANT;
}

/* Constants have the same key in all calls and iterations. */
static struct str bytes_of_key(struct store *s, const struct store_key *k)
{
    const bool constant = is_constant(s, k->inst);
    s->key.size = 0;
    buf_bytes(&s->key, &k->inst, sizeof k->inst);
    buf_bytes(&s->key, &k->participant, sizeof k->participant);
    for (size_t n = 0; n < k->depth && !constant; n++) {
        buf_bytes(&s->key, &k->within[n].inst, sizeof k->within[n].inst);
        buf_bytes(&s->key, &k->within[n].iteration, sizeof k->within[n].iteration);
    }
    return buf_view(&s->key);
}

static struct entry *find_entry(struct store *s, const struct store_key *k)
{
    return map_get(&s->entries, bytes_of_key(s, k));
}

static struct entry *make_entry(struct store *s, const struct store_key *k)
{
    const struct str key = bytes_of_key(s, k);
    struct entry *e = map_get(&s->entries, key);
    if (e)
        return e;
    e = ARENA_NEW(&s->arena, struct entry);
    e->iterations = -1;
    map_put(&s->entries, arena_str(&s->arena, key), e);
    s->bytes += OVERHEAD + key.len;
    return e;
}

/* ---- copies ---- */

/* Copies into `l`, which is zeroed or has a value of the same shape. False: out of memory. */
static bool copy_literal(struct store *s, struct literal *l, const struct literal *from,
                         const struct shape *shape)
{
    const size_t bytes = (size_t)shape_bytes_or(shape, 0);
    l->shape = shape;
    if (shape_is_tuple(shape)) {
        if (!l->elements)
            l->elements = ARENA_ARRAY(&s->arena, struct literal *, shape->count + 1);
        for (int k = 0; k < shape->count; k++) {
            if (!l->elements[k])
                l->elements[k] = ARENA_NEW(&s->arena, struct literal);
            if (!copy_literal(s, l->elements[k], from->elements[k], shape->elements[k]))
                return false;
        }
        return true;
    }
    if (!l->data)
        l->data = bytes > SMALL ? mem_alloc(bytes) : arena_alloc(&s->arena, bytes + 1);
    if (l->data && bytes > 0)
        memcpy(l->data, from->data, bytes);
    return l->data != NULL;
}

/* Frees storage outside the arena. A partially copied value has NULLs. */
static void free_large(struct literal *l)
{
    if (!l || !l->shape)
        return;
    for (int k = 0; shape_is_tuple(l->shape) && l->elements && k < l->shape->count; k++)
        free_large(l->elements[k]);
    if (!shape_is_tuple(l->shape) && shape_bytes_or(l->shape, 0) > SMALL)
        mem_free(l->data);
}

static void drop(struct entry *e)
{
    free_large(e->value);
    if (e->handle) {
        arena_free(&e->handle->arena);
        heap_free(e->handle);
    }
    e->value = NULL;
    e->handle = NULL;
}

static bool keep(struct store *s, struct entry *e, size_t inst, const struct literal *from)
{
    const struct shape **shape = &s->shapes[inst];
    if (!*shape || !shape_equal(*shape, from->shape, 0))
        *shape = shape_copy(&s->arena, from->shape);
    if (e->value && !shape_equal(e->value->shape, from->shape, 0))
        drop(e);
    if (!e->value)
        e->value = ARENA_NEW(&s->arena, struct literal);
    if (copy_literal(s, e->value, from, *shape))
        return true;
    drop(e);
    return false;
}

/* ---- insertion and lookup ---- */

bool store_put(struct store *s, const struct store_key *k, const struct hlo_event *event)
{
    struct entry *e = find_entry(s, k);
    if (e && e->value && is_constant(s, k->inst))
        return true;
    if (s->refilling && !(e && e->requested))
        return false;
    const hlo_literal *v = s->refilling || s->bytes < s->budget ? hlo_event_value(event) : NULL;
    const uint64_t bytes = v ? (uint64_t)shape_bytes_or(v->l->shape, 0) : 0;
    if (!v || (!s->refilling && bytes >= s->budget - s->bytes)) {
        s->dropped = true;
        return false;
    }
    if (!e)
        e = make_entry(s, k);
    s->bytes += e->value ? 0 : bytes;
    if (keep(s, e, k->inst, v->l))
        return true;
    s->dropped = s->failed = true;
    return false;
}

const hlo_literal *store_get(struct store *s, const struct store_key *k)
{
    struct entry *e = find_entry(s, k);
    if (e && e->value && !e->handle)
        e->handle = hlo_literal_end(hlo_literal_begin(), e->value);
    return e && e->value ? e->handle : NULL;
}

void store_put_iterations(struct store *s, const struct store_key *k, int64_t count)
{
    struct entry *e = s->bytes < s->budget ? make_entry(s, k) : find_entry(s, k);
    if (e)
        e->iterations = count;
    else
        s->dropped = true;
}

int64_t store_iterations(struct store *s, const struct store_key *k)
{
    const struct entry *e = find_entry(s, k);
    return e ? e->iterations : -1;
}

/* ---- later runs ---- */

void store_request(struct store *s, const struct store_key *k)
{
    struct entry *e = s->dropped ? make_entry(s, k) : NULL;
    if (e && !e->requested)
        e->requested = s->missed = true;
}

void store_refill(struct store *s)
{
    s->refilling = true;
    s->missed = s->failed = false;
}

/* Out of memory: some values of the current call are about to be freed, and it is unknown which. */
void store_drop_all(void *store)
{
    struct store *s = store;
    for (size_t k = 0; k < s->entries.capacity; k++) {
        struct entry *e = s->entries.slots[k].value;
        if (!e)
            continue;
        drop(e);
        e->requested = false;
    }
    s->dropped = true;
}

void store_free(struct store *s)
{
    store_drop_all(s);
    buf_free(&s->key);
    arena_free(&s->arena);
}
