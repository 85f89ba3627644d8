/*
 * Public interface: values.
 */
#include "api/api.h"

#include "io/io.h"
#include "text/text.h"

/* ---- values ---- */

/* Makes handles for the elements of a literal; LEAVES has space for all leaves of L. */
static void literal_wrap(struct arena *a, struct literal *l, const struct literal **leaves,
                         hlo_literal *h)
{
    h->l = l;
    h->leaves = leaves;
    if (!shape_is_tuple(l->shape)) {
        leaves[h->leaf_count++] = l;
        return;
    }
    h->elements = ARENA_ARRAY(a, hlo_literal *, l->shape->count);
    for (int i = 0; i < l->shape->count; i++) {
        h->elements[i] = ARENA_NEW(a, hlo_literal);
        literal_wrap(a, l->elements[i], leaves + h->leaf_count, h->elements[i]);
        h->leaf_count += h->elements[i]->leaf_count;
    }
}

hlo_literal *hlo_literal_begin(void)
{
    hlo_literal *h = heap_zalloc(1, sizeof *h);
    arena_init(&h->arena);
    return h;
}

hlo_literal *hlo_literal_end(hlo_literal *h, struct literal *l)
{
    if (!l) {
        arena_free(&h->arena);
        heap_free(h);
        return NULL;
    }
    literal_wrap(&h->arena, l,
                 ARENA_ARRAY(&h->arena, const struct literal *, shape_leaf_count(l->shape) + 1), h);
    return h;
}

void hlo_literal_free(hlo_literal *h)
{
    if (!h)
        return;
    literal_free_data(h->l);
    arena_free(&h->arena);
    heap_free(h);
}

void hlo_literals_free(hlo_literal **literals, size_t count)
{
    for (size_t k = 0; literals && k < count; k++)
        hlo_literal_free(literals[k]);
    heap_free(literals);
}

/* Copies the shape of a literal; `own` is the copy, which usually contains the shapes of tuple
 * elements. */
static void own_shape(struct arena *a, struct literal *l, const struct shape *own)
{
    for (int i = 0; shape_is_tuple(own) && i < own->count; i++) {
        struct literal *e = l->elements[i];
        own_shape(a, e,
                  e->shape == l->shape->elements[i] ? own->elements[i] : shape_copy(a, e->shape));
    }
    l->shape = own;
}

static void own_shapes(struct arena *a, struct literal *l)
{
    own_shape(a, l, shape_copy(a, l->shape));
}

hlo_literal *hlo_literal_end_own(hlo_literal *h, struct literal *l)
{
    if (l)
        own_shapes(&h->arena, l);
    return hlo_literal_end(h, l);
}

hlo_literal *hlo_literal_parse_named(const char *name, struct str text, const struct shape *shape,
                                     hlo_messages *m)
{
    struct diags *ds = hlo_sink_of_name(m, name, text);
    hlo_literal *h = hlo_literal_begin();
    return hlo_literal_end_own(h, text_parse_literal(ds, ds->source, &h->arena, shape));
}

hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return hlo_literal_parse_named("<literal>", (struct str){text, size}, NULL, m);
}

hlo_text hlo_literal_print(const hlo_literal *h, bool with_shape)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    if (with_shape)
        text_print_literal_with_shape(&b, h->l);
    else
        text_print_literal(&b, h->l);
    return hlo_text_of(&b);
}

hlo_text hlo_literal_shape(const hlo_literal *h)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    shape_print(&b, h->l->shape, false);
    return hlo_text_of(&b);
}

size_t hlo_literal_leaves(const hlo_literal *h) { return h->leaf_count; }
size_t hlo_literal_count(const hlo_literal *h)
{
    return h->elements ? (size_t)h->l->shape->count : 0;
}
const hlo_literal *hlo_literal_element(const hlo_literal *h, size_t i) { return h->elements[i]; }

struct hlo_array hlo_array_of(const struct shape *s, void *data)
{
    int64_t elements = 0;
    if (shape_is_array(s))
        shape_elements(s, &elements);
    return (struct hlo_array){.dtype = dtype_spelling(s->dtype),
                              .rank = (size_t)s->rank,
                              .dims = s->dims,
                              .element_size = dtype_bytes(s->dtype),
                              .elements = (size_t)elements,
                              .data = data};
}

struct hlo_array hlo_literal_leaf(const hlo_literal *h, size_t i)
{
    const struct literal *l = i < h->leaf_count ? h->leaves[i] : NULL;
    return l ? hlo_array_of(l->shape, l->data) : (struct hlo_array){.dtype = ""};
}

hlo_literal *hlo_literal_new(const char *dtype, size_t rank, const int64_t *dims, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    enum dtype t = dtype_find(str_of(dtype));
    hlo_literal *h = hlo_literal_begin();
    struct literal *l = NULL;
    if (dtype_is_array(t) && rank <= INT16_MAX) {
        const struct shape *shape = shape_array(&h->arena, t, (int)rank, dims, NULL, NULL);
        l = literal_new(&h->arena, shape);
        if (!l) /* create the sink only on failure: it stays in the messages, and successful calls
                   may be many */
            io_literal_too_large(hlo_sink_of_name(m, dtype, STR("")), &h->arena, shape);
    } else {
        hlo_messages_add(m, dtype, "not an array element type");
    }
    return hlo_literal_end(h, l);
}

struct borrowed_storage {
    struct owner owner;
    void (*release)(void *context);
    void *context;
};

static void release_borrowed(struct owner *o)
{
    struct borrowed_storage *l = (struct borrowed_storage *)(void *)o;
    if (l->release)
        l->release(l->context);
    heap_free(l);
}

hlo_literal *hlo_literal_map(const char *dtype, size_t rank, const int64_t *dims, const void *data,
                             void (*release)(void *context), void *context, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    enum dtype t = dtype_find(str_of(dtype));
    hlo_literal *h = hlo_literal_begin();
    struct literal *l = NULL;
    int64_t size;
    const struct shape *shape = NULL;
    if (dtype_is_array(t) && rank <= INT16_MAX)
        shape = shape_array(&h->arena, t, (int)rank, dims, NULL, NULL);
    if (!shape) {
        hlo_messages_add(m, dtype, "not an array element type");
    } else if (!shape_bytes(shape, &size)) {
        hlo_messages_add(m, dtype, "size overflows");
    } else if ((uintptr_t)data % dtype_bytes(dtype_component(t)) != 0) {
        hlo_messages_add(m, dtype, "data is not aligned to the element size");
    } else {
        struct borrowed_storage *owner = heap_zalloc(1, sizeof *owner);
        *owner = (struct borrowed_storage){.release = release, .context = context};
        owner_init(&owner->owner, release_borrowed);
        l = ARENA_NEW(&h->arena, struct literal);
        *l = (struct literal){
            .shape = shape, .data = (void *)(uintptr_t)data, .owner = &owner->owner};
    }
    return hlo_literal_end(h, l);
}

struct literal *hlo_literal_take(struct arena *a, struct literal *from)
{
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = shape_copy(a, from->shape);
    l->data = from->data;
    l->owner = from->owner;
    if (shape_is_tuple(l->shape)) {
        l->elements = ARENA_ARRAY(a, struct literal *, l->shape->count);
        for (int i = 0; i < l->shape->count; i++)
            l->elements[i] = hlo_literal_take(a, from->elements[i]);
    }
    return l;
}

static void adopt(struct literal *l)
{
    for (int i = 0; shape_is_tuple(l->shape) && i < l->shape->count; i++)
        adopt(l->elements[i]);
    if (l->data && !l->owner)
        mem_track(l->data);
}

void hlo_literal_adopt(hlo_literal *h)
{
    if (!h)
        return;
    heap_adopt(h);
    arena_adopt(&h->arena);
    adopt(h->l);
}

hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count)
{
    OOM_SCOPE(NULL);
    hlo_literal *h = hlo_literal_begin();
    struct literal **parts = ARENA_ARRAY(&h->arena, struct literal *, count);
    for (size_t i = 0; i < count; i++)
        parts[i] = hlo_literal_take(&h->arena, elements[i]->l);
    hlo_literal *tuple = hlo_literal_end(h, literal_tuple(&h->arena, parts, (int)count));
    for (size_t i = 0; i < count;
         i++) { /* only now: out of memory, the caller keeps the elements */
        arena_free(&elements[i]->arena);
        heap_free(elements[i]);
    }
    return tuple;
}

hlo_literal *hlo_literal_copy(const hlo_literal *l)
{
    OOM_SCOPE(NULL);
    hlo_literal *h = hlo_literal_begin();
    return hlo_literal_end(h, literal_copy(&h->arena, l->l));
}
