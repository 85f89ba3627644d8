/*
 * shape.c: views of views, and the kernels that fill arrays (iota, pad).
 */
#include "kern/nest.h"

void kern_fill(struct thread_pool *workers, const struct view *out, const void *element)
{
    struct view x = *out;
    memset(x.strides, 0, sizeof x.strides);
    x.data = (char *)(uintptr_t)element;
    kern_copy(workers, out, &x);
}

/* Stores the n indices from `first` on as elements of type t. */
static void index_tile(void *tile, enum dtype t, int64_t first, int64_t n)
{
    int64_t indices[KERN_TILE];
    for (int64_t i = 0; i < n; i++)
        indices[i] = first + i;
    if (t == DT_S64)
        memcpy(tile, indices, (size_t)n * sizeof *indices);
    else
        kern_find_convert(t, DT_S64)(tile, (const void *const[]){indices}, n);
}

/* spec: Iota. An element is its index along `dimension`, converted from s64. */
void kern_iota(struct thread_pool *workers, const struct view *out, int dimension)
{
    char tile[LOADER_BYTES] __attribute__((aligned(64)));
    struct view part = *out, x = *out;
    if (view_elements(out) == 0)
        return;
    memset(x.strides, 0, sizeof x.strides);
    x.strides[dimension] = (int64_t)dtype_bytes(out->dtype);
    x.data = tile;
    for (int64_t i = 0; i < out->dims[dimension]; i += KERN_TILE) {
        int64_t n = out->dims[dimension] - i < KERN_TILE ? out->dims[dimension] - i : KERN_TILE;
        index_tile(tile, out->dtype, i, n);
        part.dims[dimension] = x.dims[dimension] = n;
        part.data = out->data + i * out->strides[dimension];
        kern_copy(workers, &part, &x);
    }
}

/* Operand element k is stored at low + k * (interior + 1). Those stored in [0, dim) are [*first,
 * *limit). */
static void landing_range(const struct kern_pad_dim *p, int64_t n, int64_t dim, int64_t *first,
                          int64_t *limit)
{
    int64_t step = p->interior + 1;
    *first = p->low < 0 ? ratio_up(-p->low, step) : 0;
    *limit = p->low >= dim ? 0 : ratio_up(dim - p->low, step);
    if (*limit > n)
        *limit = n;
    if (*first > *limit)
        *first = *limit;
}

/* Fills [from, to) of dimension d of `part`. */
static void fill_slab(struct thread_pool *workers, const struct view *part, int d, int64_t from,
                      int64_t to, const void *value)
{
    struct view slab = *part;
    if (from >= to)
        return;
    slab.dims[d] = to - from;
    slab.data += from * slab.strides[d];
    kern_fill(workers, &slab, value);
}

/* Restricts both views, along dimension d, to the operand elements that are stored in the padded
 * array; `out` still includes the elements between them. */
static void narrow_to_landing(struct view *out, struct view *x, const struct kern_pad_dim *p, int d)
{
    int64_t first, limit, step = p->interior + 1;
    landing_range(p, x->dims[d], out->dims[d], &first, &limit);
    int64_t count = limit - first, at = count ? p->low + first * step : 0;
    out->data += at * out->strides[d];
    out->dims[d] = count ? (count - 1) * step + 1 : 0;
    x->data += first * x->strides[d];
    x->dims[d] = count;
}

/* Restricts the result of a pad and its operand to the operand elements that are stored in the
 * result. */
static void pad_landing(struct view *out, struct view *x, const struct kern_pad_dim *dims)
{
    for (int d = 0; d < out->rank; d++) {
        narrow_to_landing(out, x, &dims[d], d);
        out->dims[d] = x->dims[d];
        out->strides[d] *= dims[d].interior + 1;
    }
}

/* spec: Pad. Padding is written as slabs around the operand; holes between its elements are written
 * together with these, which are then written again. */
void kern_pad(struct thread_pool *workers, const struct view *out, const struct view *x,
              const void *value, const struct kern_pad_dim *dims)
{
    struct view inner = *out, from = *x;
    bool holes = false;
    if (view_elements(out) == 0)
        return;
    for (int d = 0; d < out->rank; d++) {
        struct view before = inner;
        narrow_to_landing(&inner, &from, &dims[d], d);
        int64_t at = inner.dims[d]
                         ? (inner.data - before.data) / (before.strides[d] ? before.strides[d] : 1)
                         : 0;
        fill_slab(workers, &before, d, 0, at, value);
        fill_slab(workers, &before, d, at + inner.dims[d], out->dims[d], value);
        holes |= dims[d].interior > 0 && from.dims[d] > 1;
    }
    if (holes)
        kern_fill(workers, &inner, value);
    inner = *out;
    from = *x;
    pad_landing(&inner, &from, dims);
    kern_copy(workers, &inner, &from);
}

/* spec: Reshape */
bool kern_view_reshape(struct view *out, const struct view *x, int rank, const int64_t *dims)
{
    if (!view_is_dense(x))
        return false;
    view_dense(out, x->dtype, rank, dims, x->data);
    return true;
}

/* spec: Transpose */
int64_t kern_view_extent(const struct view *x)
{
    int64_t last = 0;
    for (int d = 0; d < x->rank; d++)
        last += x->strides[d] > 0 ? (x->dims[d] - 1) * x->strides[d] : 0;
    return last + (int64_t)dtype_bytes(x->dtype);
}

void kern_view_pick(struct view *out, const struct view *x, int count, const int64_t *dimensions)
{
    struct view picked = {.dtype = x->dtype, .rank = count, .data = x->data};
    for (int d = 0; d < count; d++) {
        picked.dims[d] = x->dims[dimensions[d]];
        picked.strides[d] = x->strides[dimensions[d]];
    }
    *out = picked;
}

/* spec: BroadcastInDim */
void kern_view_broadcast(struct view *out, const struct view *x, int rank, const int64_t *dims,
                         const int64_t *dimensions)
{
    struct view wide = {.dtype = x->dtype, .rank = rank, .data = x->data};
    for (int d = 0; d < rank; d++)
        wide.dims[d] = dims[d];
    for (int d = 0; d < x->rank; d++)
        wide.strides[dimensions[d]] +=
            x->strides[d]; /* two dimensions mapped to one give the diagonal */
    *out = wide;
}

/* spec: Slice */
void kern_view_slice(struct view *out, const struct view *x, const int64_t *start,
                     const int64_t *limit, const int64_t *stride)
{
    struct view part = *x;
    for (int d = 0; d < x->rank; d++) {
        part.data += start[d] * x->strides[d];
        part.dims[d] = limit[d] > start[d] ? (limit[d] - start[d] - 1) / stride[d] + 1 : 0;
        if (part.dims[d] > 1) /* other strides are never used, and may overflow */
            part.strides[d] = x->strides[d] * stride[d];
    }
    *out = part;
}

/* spec: Rev (reverse) */
void kern_view_reverse(struct view *out, const struct view *x, const int64_t *dimensions, int count)
{
    struct view turned = *x;
    for (int k = 0; k < count; k++) {
        int64_t d = dimensions[k];
        if (x->dims[d] > 0)
            turned.data += (x->dims[d] - 1) * x->strides[d];
        turned.strides[d] = -x->strides[d];
    }
    *out = turned;
}
