/*
 * literal.c: literals: storage and equality.
 */
#include "ir/ir.h"

static bool allocate(struct arena *a, struct literal *l)
{
    const struct shape *s = l->shape;
    if (shape_is_tuple(s)) {
        l->elements = ARENA_ARRAY(a, struct literal *, s->count);
        for (int i = 0; i < s->count; i++) {
            l->elements[i] = ARENA_NEW(a, struct literal);
            l->elements[i]->shape = s->elements[i];
        }
        for (int i = 0; i < s->count; i++)
            if (!allocate(a, l->elements[i]))
                return false;
        return true;
    }
    int64_t size;
    if (!shape_is_array(s))
        return true;
    if (!shape_bytes(s, &size) || size > PTRDIFF_MAX)
        return false;
    l->data = mem_zalloc((size_t)size);
    return l->data != NULL;
}

struct literal *literal_new(struct arena *a, const struct shape *shape)
{
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = shape;
    if (allocate(a, l))
        return l;
    literal_free_data(l);
    return NULL;
}

struct literal *literal_tuple(struct arena *a, struct literal **elements, int count)
{
    const struct shape **shapes = ARENA_ARRAY(a, const struct shape *, count);
    bool whole = true;
    for (int i = 0; i < count; i++) {
        whole &= elements[i] != NULL;
        shapes[i] = elements[i] ? elements[i]->shape : NULL;
    }
    for (int i = 0; !whole && i < count; i++)
        if (elements[i])
            literal_free_data(elements[i]);
    if (!whole)
        return NULL;
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = shape_tuple(a, count, shapes);
    l->elements = elements;
    return l;
}

void literal_free_data(struct literal *l)
{
    if (l->owner)
        owner_drop(l->owner);
    else
        mem_free(l->data);
    l->data = l->owner = NULL;
    for (int i = 0; l->elements && i < l->shape->count; i++)
        literal_free_data(l->elements[i]);
}

static void copy_data(struct literal *to, const struct literal *from)
{
    int64_t size;
    to->elided = from->elided;
    if (to->data && from->data && shape_bytes(to->shape, &size))
        memcpy(to->data, from->data, (size_t)size);
    for (int i = 0; to->elements && from->elements && i < to->shape->count; i++)
        copy_data(to->elements[i], from->elements[i]);
}

struct literal *literal_copy(struct arena *a, const struct literal *l)
{
    struct literal *copy = literal_new(a, shape_copy(a, l->shape));
    if (copy)
        copy_data(copy, l);
    return copy;
}
