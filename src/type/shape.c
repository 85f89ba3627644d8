/*
 * shape.c: shapes: construction, sizes, comparison, text; strided views.
 */
#include "type/type.h"

/* ---- construction ---- */

#define SCALAR_LAYOUT &scalar_layout
static const struct layout scalar_layout = {
    .tail_padding = 1, .index_type = DT_COUNT, .pointer_type = DT_COUNT};

static const struct shape scalars[DT_COUNT] = {
#define DTYPE(id, spelling, bits, bytes, class, storage, compute, number)                          \
    [DT_##id] = {.dtype = DT_##id, .layout = DC_##class == DC_OTHER ? NULL : SCALAR_LAYOUT},
#include "type/dtype.def"
};

const struct shape *shape_scalar(struct arena *a, enum dtype t) { return &scalars[t]; }

const struct shape *shape_token(void) { return &scalars[DT_TOKEN]; }

const struct shape *shape_opaque(void) { return &scalars[DT_OPAQUE]; }

static const bool *copy_flags(struct arena *a, int rank, const bool *dynamic)
{
    for (int d = 0; dynamic && d < rank; d++)
        if (dynamic[d])
            return ARENA_DUP(a, dynamic, rank);
    return NULL;
}

const struct shape *shape_array(struct arena *a, enum dtype t, int rank, const int64_t *dims,
                                const bool *dynamic, const struct layout *layout)
{
    if (rank == 0 && !layout)
        return &scalars[t];
    struct shape *s = arena_zalloc(a, sizeof *s + (size_t)rank * sizeof *dims);
    int64_t *own = (int64_t *)(s + 1);
    if (rank)
        memcpy(own, dims, (size_t)rank * sizeof *dims);
    s->dtype = t;
    s->rank = rank;
    s->dims = own;
    s->dynamic = copy_flags(a, rank, dynamic);
    s->layout = layout ? layout : layout_default(a, rank);
    return s;
}

/* Computes the summary members of a tuple or buffer from its components. */
static void sum_up(struct arena *a, struct shape *s)
{
    int64_t *starts = NULL;
    s->parts = 1;
    s->leaves = !shape_is_tuple(s);
    for (int i = 0; i < s->count; i++) {
        const struct shape *e = s->elements[i];
        if (!starts && shape_is_tuple(e)) {
            starts = ARENA_ARRAY(a, int64_t, s->count);
            for (int k = 0; k < i; k++)
                starts[k] = k;
        }
        if (starts)
            starts[i] = s->leaves;
        int64_t bytes = 0;
        s->bytes += shape_is_array(e) && shape_bytes(e, &bytes) ? (double)bytes : e->bytes;
        s->inner_dynamic |= shape_has_dynamic(e);
        s->inner_unbounded |= shape_has_unbounded(e);
        s->inner_buffer |= shape_has_buffer(e);
        s->depth = s->depth > e->depth ? s->depth : e->depth;
        if (!add_i64(s->parts, shape_part_count(e), &s->parts))
            s->parts = INT64_MAX;
        if (shape_is_tuple(s) && !add_i64(s->leaves, shape_leaf_count(e), &s->leaves))
            s->leaves = INT64_MAX;
    }
    s->depth++;
    s->starts = starts;
}

const struct shape *shape_tuple(struct arena *a, int count, const struct shape *const *elements)
{
    struct shape *s = ARENA_NEW(a, struct shape);
    s->dtype = DT_TUPLE;
    s->count = count;
    s->elements = ARENA_DUP(a, elements, count);
    sum_up(a, s);
    return s;
}

const struct shape *shape_buffer(struct arena *a, const struct shape *array)
{
    struct shape *s = ARENA_NEW(a, struct shape);
    s->dtype = DT_BUFFER;
    s->count = 1;
    s->elements = ARENA_DUP(a, &array, 1);
    sum_up(a, s);
    return s;
}

const struct shape *shape_with_layout(struct arena *a, const struct shape *s,
                                      const struct layout *l)
{
    struct shape *changed = ARENA_DUP(a, s, 1);
    changed->layout = l;
    return changed;
}

const struct shape *shape_with_dtype(struct arena *a, const struct shape *s, enum dtype t)
{
    if (s->dtype == t)
        return s;
    struct shape *changed = ARENA_DUP(a, s, 1);
    changed->dtype = t;
    if (s->layout->element_bits && !dtype_is_subbyte(t)) {
        struct layout *l = ARENA_DUP(a, s->layout, 1);
        l->element_bits = 0;
        changed->layout = l;
    }
    return changed;
}

static const struct layout *copy_layout(struct arena *a, const struct layout *l)
{
    if (layout_is_default(l))
        return layout_default(a, l->rank);
    struct layout *copy = ARENA_DUP(a, l, 1);
    copy->minor_to_major = ARENA_DUP(a, l->minor_to_major, l->rank);
    struct tile *tiles = ARENA_DUP(a, l->tiles, l->tile_count);
    for (int i = 0; i < l->tile_count; i++)
        tiles[i].dims = ARENA_DUP(a, tiles[i].dims, tiles[i].rank);
    struct split_config *splits = ARENA_DUP(a, l->splits, l->split_count);
    for (int i = 0; i < l->split_count; i++)
        splits[i].indices = ARENA_DUP(a, splits[i].indices, splits[i].count);
    copy->tiles = tiles;
    copy->splits = splits;
    return copy;
}

const struct shape *shape_copy(struct arena *a, const struct shape *s)
{
    if (shape_is_array(s))
        return shape_array(a, s->dtype, s->rank, s->dims, s->dynamic, copy_layout(a, s->layout));
    if (s->count == 0 && !shape_is_tuple(s))
        return &scalars[s->dtype];
    struct shape *copy = ARENA_DUP(a, s, 1);
    const struct shape **elements = ARENA_ARRAY(a, const struct shape *, s->count);
    for (int i = 0; i < s->count; i++)
        elements[i] = shape_copy(a, s->elements[i]);
    copy->elements = elements;
    copy->starts = s->starts ? ARENA_DUP(a, s->starts, s->count) : NULL;
    return copy;
}

/* ---- sizes ---- */

bool shape_has_dynamic(const struct shape *s)
{
    for (int d = 0; s->dynamic && d < s->rank; d++)
        if (s->dynamic[d])
            return true;
    return s->inner_dynamic;
}

bool shape_has_unbounded(const struct shape *s)
{
    for (int d = 0; d < s->rank; d++)
        if (s->dims[d] == DIM_UNBOUNDED)
            return true;
    return s->inner_unbounded;
}

bool shape_elements(const struct shape *s, int64_t *out)
{
    return shape_is_array(s) && dims_product(1, s->rank, s->dims, out);
}

bool shape_bytes(const struct shape *s, int64_t *out)
{
    int64_t total = 0, part;
    if (shape_is_array(s))
        return shape_elements(s, &total) && mul_i64(total, (int64_t)dtype_bytes(s->dtype), out);
    for (int i = 0; i < s->count; i++)
        if (!shape_bytes(s->elements[i], &part) || !add_i64(total, part, &total))
            return false;
    *out = total;
    return true;
}

int64_t shape_leaf_count(const struct shape *s)
{
    return s->count || shape_is_tuple(s) ? s->leaves : 1;
}

int shape_component_of(const struct shape *s, int64_t *leaf)
{
    int next = 1;
    BISECT(next, s->count, middle, shape_first_leaf(s, middle) <= *leaf);
    *leaf -= shape_first_leaf(s, next - 1);
    return next - 1;
}

const struct shape *shape_at(const struct shape *s, const int64_t *index, size_t depth)
{
    for (size_t i = 0; i < depth; i++) {
        if (!shape_is_tuple(s) || index[i] < 0 || index[i] >= s->count)
            return NULL;
        s = s->elements[index[i]];
    }
    return s;
}

/* ---- comparison ---- */

static bool dtypes_equal(enum dtype a, enum dtype b, unsigned ignore)
{
    return a == b || (ignore & IGNORE_ELEMENT) ||
           ((ignore & IGNORE_FP_PRECISION) && dtype_is_float(a) && dtype_is_float(b));
}

static bool arrays_equal(const struct shape *a, const struct shape *b, unsigned ignore)
{
    if (a->rank != b->rank || !dtypes_equal(a->dtype, b->dtype, ignore))
        return false;
    for (int d = 0; d < a->rank; d++) {
        bool same = (ignore & UNBOUNDED_MATCHES) ? dim_compatible(a->dims[d], b->dims[d])
                                                 : a->dims[d] == b->dims[d];
        if (!same ||
            (!(ignore & IGNORE_DYNAMIC) && shape_dim_dynamic(a, d) != shape_dim_dynamic(b, d)))
            return false;
    }
    return layout_equal(a->layout, b->layout, ignore);
}

bool shape_equal(const struct shape *a, const struct shape *b, unsigned ignore)
{
    if (a == b)
        return true;
    if (shape_is_array(a) && shape_is_array(b))
        return arrays_equal(a, b, ignore);
    if (a->dtype != b->dtype || a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!shape_equal(a->elements[i], b->elements[i], ignore))
            return false;
    return true;
}

bool shape_same_dims(const struct shape *a, const struct shape *b)
{
    return shape_is_array(a) && shape_is_array(b) &&
           arrays_equal(a, b, IGNORE_LAYOUT | IGNORE_DYNAMIC | IGNORE_ELEMENT | UNBOUNDED_MATCHES);
}

/* ---- text ---- */

static void put_array(struct buf *out, const struct shape *s, bool with_layout)
{
    buf_puts(out, dtype_spelling(s->dtype));
    for (int d = 0; BUF_LIST(out, d, s->rank, "[]", ","); d++) {
        if (s->dims[d] == DIM_UNBOUNDED) {
            buf_putc(out, '?');
            continue;
        }
        if (shape_dim_dynamic(s, d))
            buf_puts(out, "<=");
        buf_int(out, s->dims[d]);
    }
    if (with_layout && (s->rank > 0 || !layout_is_default(s->layout)))
        layout_print(out, s->layout);
}

static void put_tuple(struct buf *out, const struct shape *s, bool with_layout)
{
    for (int i = 0; BUF_LIST(out, i, s->count, "()", ", "); i++) {
        if (i && i % 5 == 0)
            buf_printf(out, "/*index=%d*/", i);
        shape_print(out, s->elements[i], with_layout);
    }
}

void shape_print(struct buf *out, const struct shape *s, bool with_layout)
{
    if (shape_is_array(s)) {
        put_array(out, s, with_layout);
    } else if (shape_is_tuple(s)) {
        put_tuple(out, s, with_layout);
    } else if (s->dtype == DT_BUFFER) {
        buf_puts(out, "b(");
        shape_print(out, s->elements[0], with_layout);
        buf_putc(out, ')');
    } else {
        buf_puts(out, dtype_spelling(s->dtype));
        buf_puts(out, "[]");
    }
}

struct str shape_text(struct arena *a, const struct shape *s)
{
    SCOPED_BUF b = {0};
    shape_print(&b, s, false);
    return arena_str(a, buf_view(&b));
}

/* ---- strided views ---- */

bool view_is_dense(const struct view *v)
{
    int64_t stride = (int64_t)dtype_bytes(v->dtype);
    if (view_elements(v) == 0)
        return true;
    for (int d = v->rank - 1; d >= 0; d--) {
        if (v->dims[d] != 1 && v->strides[d] != stride)
            return false;
        stride *= v->dims[d];
    }
    return true;
}

void view_dense(struct view *v, enum dtype t, int rank, const int64_t *dims, void *data)
{
    int64_t stride = dims_elements(rank, dims) == 0 ? 0 : (int64_t)dtype_bytes(t);
    v->dtype = t;
    v->rank = rank;
    v->data = data;
    for (int d = rank - 1; d >= 0; d--) {
        v->dims[d] = dims[d];
        v->strides[d] = stride;
        if (stride != 0)
            stride *= dims[d];
    }
}
