/*
 * What instructions gave in a run, by name.
 */
#include "cli/reduce.h"

enum { MOST_BYTES = 1 << 30 }; /* of all values together */

struct value_of {
    hlo_literal *l;
};

void values_init(struct values *v)
{
    *v = (struct values){0};
    arena_init(&v->arena);
    map_init(&v->named, &v->arena);
}

void values_free(struct values *v)
{
    for (size_t k = 0; k < v->named.capacity; k++)
        if (v->named.slots[k].value)
            hlo_literal_free(((struct value_of *)v->named.slots[k].value)->l);
    arena_free(&v->arena);
}

const hlo_literal *values_get(const struct values *v, const char *name)
{
    const struct value_of *at = map_get(&v->named, str_of(name));
    return at ? at->l : NULL;
}

void values_put(struct values *v, const char *name, hlo_literal *l)
{
    if (values_get(v, name)) {
        hlo_literal_free(l);
        return;
    }
    struct value_of *at = ARENA_NEW(&v->arena, struct value_of);
    at->l = l;
    map_put(&v->named, arena_str(&v->arena, str_of(name)), at);
}

/* ---- from a run ---- */

struct keeping {
    struct values *v;
    const hlo_listing *l;
    bool *seen;
    uint64_t most;
};

static uint64_t bytes_of(const hlo_literal *l)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < hlo_literal_leaves(l); k++) {
        struct hlo_array a = hlo_literal_leaf(l, k);
        bytes += a.element_size * a.elements;
    }
    return bytes;
}

static bool keep(void *context, const struct hlo_sight *s)
{
    struct keeping *k = context;
    k->v->steps = s->number > k->v->steps ? s->number : k->v->steps;
    if (s->participant != 0 || k->seen[s->inst])
        return true;
    k->seen[s->inst] = true;
    const hlo_literal *value = hlo_sight_value(s);
    uint64_t bytes = value ? bytes_of(value) : 0;
    if (!value || bytes > k->most || k->v->bytes + bytes > MOST_BYTES)
        return true;
    k->v->bytes += bytes;
    hlo_literal *copy = hlo_literal_copy(value);
    if (copy)
        values_put(k->v, hlo_list_inst(k->l, s->inst).name, copy);
    return true;
}

bool values_of_run(struct values *v, const hlo_module *module, const struct hlo_run_options *options,
                   const hlo_literal *const *args, uint64_t most, hlo_messages *m)
{
    hlo_listing *l = hlo_list(module);
    struct keeping k = {v, l, heap_zalloc(hlo_list_count(l) + 1, sizeof(bool)), most};
    const struct hlo_observer observer = {&k, NULL, keep};
    bool ok = k.seen && hlo_run_observed(module, options, &observer, args, hlo_param_count(module), m);
    heap_free(k.seen);
    hlo_listing_free(l);
    return ok;
}
