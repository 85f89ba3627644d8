/*
 * value.c: creates the instructions for a known value: constants, tuples of them, dynamic sizes.
 */
#include "edit/edit_priv.h"

enum { FEW_ELEMENTS = 16 }; /* more equal elements than this become a broadcast */

bool value_can_be(const struct shape *s)
{
    if (shape_is_token(s))
        return true;
    if (!shape_is_tuple(s))
        return shape_is_array(s) && !shape_has_unbounded(s);
    for (int k = 0; k < s->count; k++)
        if (!value_can_be(s->elements[k]))
            return false;
    return true;
}

/* Whether a literal is a value of this shape. For a token any literal without elements is valid,
 * including an empty tuple. */
bool value_fits(const struct literal *l, const struct shape *s)
{
    const struct shape *is = l->shape;
    if (shape_is_token(s))
        return shape_is_token(is) || (shape_is_tuple(is) && is->count == 0);
    if (shape_is_tuple(s)) {
        bool fits = shape_is_tuple(is) && is->count == s->count;
        for (int k = 0; fits && k < s->count; k++)
            fits = value_fits(l->elements[k], s->elements[k]);
        return fits;
    }
    if (is->dtype != s->dtype || is->rank != s->rank)
        return false;
    for (int d = 0; d < s->rank; d++)
        if (shape_dim_dynamic(s, d) ? is->dims[d] > s->dims[d] : is->dims[d] != s->dims[d])
            return false;
    return true;
}

/* ---- copies ---- */

/* Copies the rows of an array into one with larger dimensions. */
static void copy_rows(struct literal *to, const struct literal *from)
{
    struct view a, b;
    int64_t index[VIEW_MAX_RANK] = {0};
    int rank = from->shape->rank;
    view_dense(&a, to->shape->dtype, rank, to->shape->dims, to->data);
    view_dense(&b, to->shape->dtype, rank, from->shape->dims, from->data);
    if (view_elements(&b) == 0)
        return;
    do
        memcpy(view_at(&a, index), view_at(&b, index), dtype_bytes(to->shape->dtype));
    while (index_next(rank, from->shape->dims, index));
}

static bool copy_array(struct literal *to, const struct literal *from)
{
    int64_t size;
    to->elided = from->elided;
    if (from->elided || !from->data)
        return true;
    if (shape_equal(to->shape, from->shape, IGNORE_LAYOUT | IGNORE_DYNAMIC))
        return shape_bytes(to->shape, &size) && (memcpy(to->data, from->data, (size_t)size), true);
    if (to->shape->rank > VIEW_MAX_RANK)
        return false;
    copy_rows(to, from);
    return true;
}

/* Copies a value to shape `s`: dynamic sizes are the value's, storage is padded to the bounds. */
static struct literal *copy_value(struct arena *a, const struct literal *l, const struct shape *s)
{
    struct literal *copy;
    if (!shape_is_tuple(s)) {
        copy = literal_new(a, s);
        if (copy && shape_is_array(s) && !copy_array(copy, l)) {
            literal_free_data(copy);
            return NULL;
        }
        return copy;
    }
    copy = ARENA_NEW(a, struct literal);
    copy->shape = s;
    copy->elements = ARENA_ARRAY(a, struct literal *, s->count);
    for (int k = 0; k < s->count; k++)
        if (!(copy->elements[k] = copy_value(a, l->elements[k], s->elements[k]))) {
            while (k > 0)
                literal_free_data(copy->elements[--k]);
            return NULL;
        }
    return copy;
}

/* A copy with its dynamic sizes, which a constant of a bounded shape lacks. */
struct sized {
    struct literal literal; /* first */
    const struct shape *is;
};

const struct literal *value_copy(struct edit *e, const struct literal *l, const struct shape *s)
{
    struct literal *copy = copy_value(&e->to->arena, l, s);
    if (!copy)
        return NULL;
    struct sized *sized = ARENA_NEW(&e->to->arena, struct sized);
    sized->literal = *copy;
    sized->is = shape_copy(&e->to->arena, l->shape);
    module_own_literal(e->to, &sized->literal);
    return &sized->literal;
}

/* ---- instructions ---- */

struct maker {
    struct edit *e;
    struct computation *c;
    struct str name;
    bool failed;
};

/* The name of a helper, derived from the instruction that it is created for; the last instruction
 * gets the name itself. */
static struct str name_of(struct maker *m, bool last, const char *what)
{
    m->e->fresh_names |= !last;
    return last ? m->name : arena_printf(&m->e->to->arena, STR_FMT ".%s", STR_ARG(m->name), what);
}

static struct inst *constant(struct maker *m, const struct literal *l, const struct shape *s,
                             struct str name)
{
    struct inst *i = inst_new(m->c, OP_CONSTANT, name, s, 0, NULL);
    if (l) {
        i->literal = (struct literal *)(uintptr_t)l; /* constants are read-only */
        return i;
    }
    struct literal *zeros = literal_new(&m->e->to->arena, s);
    m->failed |= !zeros;
    if (zeros)
        module_own_literal(m->e->to, zeros);
    i->literal = zeros;
    return i;
}

/* Whether all elements are bitwise equal. */
static bool is_uniform(const struct literal *l, int64_t count)
{
    const char *p = l->data;
    size_t width = dtype_bytes(l->shape->dtype);
    return p && !l->elided && memcmp(p, p + width, (size_t)(count - 1) * width) == 0;
}

/* A scalar with the common value of all elements; without a literal, 0. */
static struct inst *scalar(struct maker *m, const struct literal *l, enum dtype t)
{
    struct arena *a = &m->e->to->arena;
    struct literal *one = literal_new(a, shape_scalar(a, t));
    m->failed |= !one;
    /* The edit as a whole fails later. */
    if (!one)
        return inst_new(m->c, OP_CONSTANT, m->name, shape_scalar(a, t), 0, NULL);
    module_own_literal(m->e->to, one);
    if (l)
        memcpy(one->data, l->data, dtype_bytes(t));
    return constant(m, one, one->shape, name_of(m, false, l ? "element" : "zero"));
}

static struct inst *static_array(struct maker *m, const struct literal *l, const struct shape *s,
                                 bool last)
{
    int64_t count;
    if ((shape_elements(s, &count) && count <= FEW_ELEMENTS) || (l && !is_uniform(l, count)))
        return constant(m, l, s, name_of(m, last, "value"));
    struct inst *element = scalar(m, l, s->dtype);
    struct inst *i = inst_new(m->c, OP_BROADCAST, name_of(m, last, "value"), s, 1, &element);
    inst_set_attr(m->e->to, i, A_DIMENSIONS, (union attr_value){.ints = {0, NULL}}, NO_SPAN);
    return i;
}

/* The shape with static sizes for all dimensions from `from` on. */
static const struct shape *with_fixed(struct arena *a, const struct shape *s, int from)
{
    bool *dynamic = ARENA_ARRAY(a, bool, s->rank);
    for (int d = 0; d < from; d++)
        dynamic[d] = shape_dim_dynamic(s, d);
    return shape_array(a, s->dtype, s->rank, s->dims, dynamic, s->layout);
}

static struct inst *dynamic_array(struct maker *m, const struct literal *l, const struct shape *is,
                                  const struct shape *s, bool last)
{
    struct arena *a = &m->e->to->arena;
    const struct literal *whole = l;
    if (l) {
        struct literal *copy = ARENA_DUP(a, l, 1);
        copy->shape = with_fixed(a, s, 0);
        whole = copy; /* the storage remains owned by l */
    }
    struct inst *i = static_array(m, whole, with_fixed(a, s, 0), false);
    int end = s->rank;
    while (end > 0 && !shape_dim_dynamic(s, end - 1))
        end--;
    for (int d = 0; d < end; d++) {
        if (!shape_dim_dynamic(s, d))
            continue;
        struct literal *size = literal_new(a, shape_scalar(a, DT_S32));
        m->failed |= !size;
        if (!size)
            return i;
        *(int32_t *)size->data = (int32_t)(is ? is->dims[d] : s->dims[d]);
        module_own_literal(m->e->to, size);
        struct inst *operands[2] = {i, constant(m, size, size->shape, name_of(m, false, "size"))};
        bool final = d == end - 1;
        i = inst_new(m->c, OP_SET_DIMENSION_SIZE, name_of(m, last && final, "value"),
                     with_fixed(a, s, d + 1), 2, operands);
        inst_set_attr(m->e->to, i, A_DIMENSIONS,
                      (union attr_value){.ints = {1, ARENA_DUP(a, (&(int64_t){d}), 1)}}, NO_SPAN);
    }
    return i;
}

static struct inst *make(struct maker *m, const struct literal *l, const struct shape *is,
                         const struct shape *s, bool last)
{
    if (shape_is_token(s))
        return inst_new(m->c, OP_AFTER_ALL, name_of(m, last, "token"), s, 0, NULL);
    if (!shape_is_tuple(s))
        return shape_has_dynamic(s) ? dynamic_array(m, l, is, s, last)
                                    : static_array(m, l, s, last);
    struct inst **elements = ARENA_ARRAY(&m->e->arena, struct inst *, s->count);
    for (int k = 0; k < s->count; k++)
        elements[k] =
            make(m, l ? l->elements[k] : NULL, is ? is->elements[k] : NULL, s->elements[k], false);
    return inst_new(m->c, OP_TUPLE, name_of(m, last, "tuple"), s, s->count, elements);
}

struct inst *value_make(struct edit *e, struct computation *c, const struct literal *l,
                        const struct shape *s, struct str name)
{
    struct maker m = {.e = e, .c = c, .name = name};
    const struct shape *is = l ? ((const struct sized *)(const void *)l)->is : NULL;
    struct inst *i = make(&m, l, is, s, true);
    return m.failed ? NULL : i;
}
