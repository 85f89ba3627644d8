/*
 * Generates instructions that move elements: shape, dynslice, gather.
 */
#include "fuzz/generate_priv.h"

/* ---- shape ---- */

static void broadcast(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    struct type t = gen_type(g, TY_ANY, 0);
    int64_t place[GEN_RANK], dims[GEN_RANK];
    int rank = x.type.rank + (int)gen_below(g, 3);
    if (rank > 6 || type_elements(&x.type) > 64)
        rank = x.type.rank;
    for (int d = 0; d < rank; d++) {
        place[d] = d;
        dims[d] = d < t.rank && t.dims[d] < 5 ? t.dims[d] : 2;
    }
    gen_shuffle(g, place, rank);
    for (int d = 0; d < x.type.rank; d++)
        dims[place[d]] = x.type.dims[d];
    struct buf list = {0};
    put_list(&list, place, x.type.rank);
    gen_emit(g, OP_BROADCAST, type_of(x.type.dtype, rank, dims), 1, &x, ", dimensions=%s",
             list.data);
    buf_free(&list);
}

static void concatenate(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 1), all[4];
    int d = (int)gen_below(g, x.type.rank), count = (int)gen_between(g, 1, 4);
    struct type result = x.type;
    result.dims[d] = 0;
    for (int k = 0; k < count; k++) {
        struct type t = x.type;
        t.dims[d] = k ? gen_between(g, 0, 4) : t.dims[d];
        all[k] = k ? gen_value(g, t) : x;
        result.dims[d] += t.dims[d];
    }
    gen_emit(g, OP_CONCATENATE, result, count, all, ", dimensions={%d}", d);
}

static void copy_start_done(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    struct type both[2] = {x.type, x.type};
    struct buf shape = {0};
    put_tuple_type(&shape, 2, both);
    shape.size--; /* the bracket */
    buf_puts(&shape, ", u32[])");
    struct val start = gen_emit_raw(g, shape.data, "copy-start", 1, &x, NULL);
    gen_emit(g, OP_COPY_DONE, x.type, 1, &start, NULL);
    buf_free(&shape);
}

static void iota(struct gen *g)
{
    struct type t = gen_type(g, TY_INTEGER | TY_FLOAT | TY_COMPLEX, 1);
    gen_emit(g, OP_IOTA, t, 0, NULL, ", iota_dimension=%d", (int)gen_below(g, t.rank));
}

static void pad(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 1);
    struct val both[2] = {x, gen_value(g, type_scalar(x.type.dtype))};
    struct type t = x.type;
    struct buf config = {0};
    for (int d = 0; d < t.rank; d++) {
        int64_t interior = gen_chance(g, 25) ? gen_between(g, 1, 2) : 0;
        int64_t size = t.dims[d] > 0 ? t.dims[d] + (t.dims[d] - 1) * interior : 0;
        int64_t low = gen_between(g, -2, 2), high = gen_between(g, -2, 2);
        if (size + low + high < 0)
            low = high = 0;
        t.dims[d] = size + low + high;
        buf_printf(&config, "%s%" PRId64 "_%" PRId64, d ? "x" : "", low, high);
        if (interior > 0 || gen_chance(g, 10))
            buf_printf(&config, "_%" PRId64, interior);
    }
    gen_emit(g, OP_PAD, t, 2, both, ", padding=%s", config.data);
    buf_free(&config);
}

/* Reshapes by merging and splitting dimensions at random. */
static void reshape(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    struct type t = x.type;
    for (int64_t n = gen_between(g, 1, 4); n > 0; n--) {
        int d = (int)gen_below(g, t.rank);
        if (gen_chance(g, 40) && t.rank > 1 && d + 1 < t.rank) {
            t.dims[d] *= t.dims[d + 1];
            for (int k = d + 1; k + 1 < t.rank; k++)
                t.dims[k] = t.dims[k + 1];
            t.rank--;
        } else if (t.rank < 6) {
            int64_t size = t.rank ? t.dims[d] : 1,
                    part = gen_chance(g, 60) && size % 2 == 0 ? 2 : 1;
            for (int k = t.rank; k > d; k--)
                t.dims[k] = t.dims[k - 1];
            t.rank++;
            t.dims[d] = part;
            if (t.rank > 1)
                t.dims[d + 1] = size / part;
        }
    }
    gen_emit(g, OP_RESHAPE, t, 1, &x, NULL);
}

static void reverse(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    int64_t order[GEN_RANK];
    for (int d = 0; d < x.type.rank; d++)
        order[d] = d;
    gen_shuffle(g, order, x.type.rank);
    struct buf list = {0};
    put_list(&list, order, (int)gen_between(g, x.type.rank > 0, x.type.rank));
    gen_emit(g, OP_REVERSE, x.type, 1, &x, ", dimensions=%s", list.data);
    buf_free(&list);
}

static void slice(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 1);
    struct type t = x.type;
    struct buf config = {0};
    for (int d = 0; d < t.rank; d++) {
        int64_t start = gen_below(g, t.dims[d] + 1), limit = gen_between(g, start, t.dims[d]);
        int64_t stride = gen_chance(g, 70) ? 1 : gen_between(g, 2, 3);
        t.dims[d] = (limit - start + stride - 1) / stride;
        buf_printf(&config, "%s[%" PRId64 ":%" PRId64, d ? ", " : "", start, limit);
        if (stride > 1)
            buf_printf(&config, ":%" PRId64, stride);
        buf_putc(&config, ']');
    }
    gen_emit(g, OP_SLICE, t, 1, &x, ", slice={%s}", config.data);
    buf_free(&config);
}

static void transpose(struct gen *g)
{
    struct val x = gen_pick(g, TY_ANY, 0);
    int64_t order[GEN_RANK];
    struct type t = x.type;
    for (int d = 0; d < t.rank; d++)
        order[d] = d;
    gen_shuffle(g, order, t.rank);
    for (int d = 0; d < t.rank; d++)
        t.dims[d] = x.type.dims[order[d]];
    struct buf list = {0};
    put_list(&list, order, t.rank);
    gen_emit(g, OP_TRANSPOSE, t, 1, &x, ", dimensions=%s", list.data);
    buf_free(&list);
}

void gen_shape(struct gen *g, enum opcode op)
{
    struct val x;
    switch (op) {
    case OP_BROADCAST: broadcast(g); break;
    case OP_CONCATENATE: concatenate(g); break;
    case OP_COPY_START:
    case OP_COPY_DONE: copy_start_done(g); break;
    case OP_IOTA: iota(g); break;
    case OP_PAD: pad(g); break;
    case OP_RESHAPE: reshape(g); break;
    case OP_REVERSE: reverse(g); break;
    case OP_SLICE: slice(g); break;
    case OP_TRANSPOSE: transpose(g); break;
    default:
        x = gen_pick(g, TY_ANY, 0);
        gen_emit(g, OP_COPY, x.type, 1, &x, NULL);
        break;
    }
}

/* ---- dynslice ---- */

static enum dtype index_type(struct gen *g)
{
    return gen_chance(g, 60) ? DT_S32 : gen_dtype(g, TY_INTEGER);
}

/* Operands from `first` on: one scalar for each dimension, or sometimes a vector. */
static int put_starts(struct gen *g, int rank, struct val *out)
{
    enum dtype t = index_type(g);
    int64_t n = rank;
    if (rank > 0 && gen_chance(g, 10)) {
        out[0] = gen_value(g, type_of(t, 1, &n));
        return 1;
    }
    for (int d = 0; d < rank; d++)
        out[d] = gen_value(g, type_scalar(t));
    return rank;
}

/* A window within the dimensions of an array. */
static struct type window_of(struct gen *g, struct type t)
{
    for (int d = 0; d < t.rank; d++)
        t.dims[d] = gen_chance(g, 40)
                        ? t.dims[d]
                        : gen_between(g, t.dims[d] > 0 && gen_chance(g, 95), t.dims[d]);
    return t;
}

void gen_dynslice(struct gen *g, enum opcode op)
{
    struct val x = gen_pick(g, TY_ANY, 0), all[GEN_RANK + 2] = {x};
    struct type part = window_of(g, x.type);
    if (op == OP_DYNAMIC_UPDATE_SLICE) {
        all[1] = gen_value(g, part);
        int n = put_starts(g, x.type.rank, all + 2);
        gen_emit(g, op, x.type, 2 + n, all, NULL);
        return;
    }
    int n = put_starts(g, x.type.rank, all + 1);
    struct buf list = {0};
    put_list(&list, part.dims, part.rank);
    gen_emit(g, op, part, 1 + n, all, ", dynamic_slice_sizes=%s", list.data);
    buf_free(&list);
}

/* ---- gather ---- */

/* Dimension numbers shared by gather and scatter. */
struct dims {
    struct type operand, indices; /* indices: batch dimensions, and the index vector somewhere */
    int64_t slice[GEN_RANK];      /* size along each dimension of the operand */
    int64_t collapsed[GEN_RANK], batching[GEN_RANK], index_batching[GEN_RANK], map[GEN_RANK],
        offset[GEN_RANK];
    int collapsed_count, batching_count, map_count, offset_count;
    int vector;         /* index_vector_dim */
    struct type slices; /* the gathered array: batch dimensions with the windows among them */
};

static void choose_slices(struct gen *g, struct dims *s)
{
    int64_t order[GEN_RANK];
    for (int d = 0; d < s->operand.rank; d++) {
        int64_t n = s->operand.dims[d];
        s->slice[d] = gen_between(g, n > 0, n);
        order[d] = d;
        if (n > 0 && gen_chance(g, 40)) {
            s->slice[d] = 1;
            s->collapsed[s->collapsed_count++] = d;
        } else if (n > 0 && s->batching_count == 0 && gen_chance(g, 15)) {
            s->slice[d] = 1;
            s->batching[s->batching_count++] = d;
        }
    }
    gen_shuffle(g, order, s->operand.rank);
    int max = (int)gen_between(g, s->operand.rank > 0, s->operand.rank);
    for (int k = 0; k < max; k++)
        if (s->batching_count == 0 || order[k] != s->batching[0])
            s->map[s->map_count++] = order[k];
}

static void choose_indices(struct gen *g, struct dims *s)
{
    int batch = (int)gen_between(g, s->batching_count, 2), rank = 0;
    bool implicit = s->map_count == 1 && gen_chance(g, 50);
    s->vector = implicit ? batch : (int)gen_between(g, 0, batch);
    s->indices = (struct type){.dtype = index_type(g)};
    for (int d = 0, b = 0; d < batch + !implicit; d++) {
        bool vector = d == s->vector && !implicit;
        if (!vector && b++ < s->batching_count) {
            s->index_batching[0] = rank;
            s->indices.dims[rank++] = s->operand.dims[s->batching[0]];
        } else {
            s->indices.dims[rank++] =
                vector ? s->map_count : gen_size(g, 1, gen_chance(g, 20) ? 30 : 3, 300);
        }
    }
    s->indices.rank = rank;
}

static bool holds(const int64_t *items, int count, int64_t x)
{
    for (int k = 0; k < count; k++)
        if (items[k] == x)
            return true;
    return false;
}

/* Places the window dimensions among the batch dimensions. */
static void choose_offsets(struct gen *g, struct dims *s)
{
    int64_t windows[GEN_RANK], batch[GEN_RANK];
    int window_count = 0, batch_count = 0;
    for (int d = 0; d < s->operand.rank; d++)
        if (!holds(s->collapsed, s->collapsed_count, d) &&
            !holds(s->batching, s->batching_count, d))
            windows[window_count++] = s->slice[d];
    for (int d = 0; d < s->indices.rank; d++)
        if (d != s->vector)
            batch[batch_count++] = s->indices.dims[d];
    s->slices = type_of(s->operand.dtype, 0, NULL);
    for (int w = 0, b = 0; w + b < window_count + batch_count;) {
        bool window = w < window_count && (b == batch_count || gen_chance(g, 50));
        if (window)
            s->offset[s->offset_count++] = s->slices.rank;
        s->slices.dims[s->slices.rank++] = window ? windows[w++] : batch[b++];
    }
}

static struct dims choose_dims(struct gen *g)
{
    struct dims s = {.operand = gen_pick(g, TY_ANY, 1).type};
    if (s.operand.rank > 4)
        s.operand.rank = 4;
    choose_slices(g, &s);
    choose_indices(g, &s);
    choose_offsets(g, &s);
    return s;
}

static void put_named_list(struct buf *out, const char *name, const int64_t *items, int count)
{
    buf_printf(out, ", %s=", name);
    put_list(out, items, count);
}

/* The indices: sometimes a small number everywhere, as of a window at a known place. */
static struct val index_values(struct gen *g, const struct dims *s)
{
    if (!gen_chance(g, 30))
        return gen_value(g, s->indices);
    struct val n = gen_number(g, s->indices.dtype, gen_between(g, 0, 2));
    return gen_emit(g, OP_BROADCAST, s->indices, 1, &n, ", dimensions={}");
}

static void gather(struct gen *g, struct dims *s)
{
    struct val both[2] = {gen_value(g, s->operand), index_values(g, s)};
    struct buf rest = {0};
    put_named_list(&rest, "offset_dims", s->offset, s->offset_count);
    put_named_list(&rest, "collapsed_slice_dims", s->collapsed, s->collapsed_count);
    put_named_list(&rest, "start_index_map", s->map, s->map_count);
    if (s->batching_count > 0) {
        put_named_list(&rest, "operand_batching_dims", s->batching, s->batching_count);
        put_named_list(&rest, "start_indices_batching_dims", s->index_batching, s->batching_count);
    }
    buf_printf(&rest, ", index_vector_dim=%d", s->vector);
    put_named_list(&rest, "slice_sizes", s->slice, s->operand.rank);
    gen_emit(g, OP_GATHER, s->slices, 2, both, "%s", rest.data);
    buf_free(&rest);
}

/* The later of several updates of an element is the one that remains. */
static int replacement(struct gen *g, int count, const enum dtype *types)
{
    struct region r;
    struct type params[4];
    struct val v[4];
    for (int k = 0; k < 2 * count; k++)
        params[k] = type_scalar(types[k % count]);
    gen_open(g, &r, 2 * count, params, v);
    return count == 1 ? gen_close(g, v[1]) : gen_close_tuple(g, count, v + count);
}

static void scatter(struct gen *g, struct dims *s)
{
    int n = gen_chance(g, 85) ? 1 : 2;
    struct type types[2] = {s->operand, type_with(s->operand, gen_partner(g, s->operand.dtype))};
    enum dtype dtypes[2] = {types[0].dtype, types[1].dtype};
    struct val all[5];
    struct buf rest = {0};
    for (int k = 0; k < n; k++) {
        all[k] = gen_value(g, types[k]);
        all[n + 1 + k] = gen_value(g, type_with(s->slices, dtypes[k]));
    }
    all[n] = index_values(g, s);
    put_named_list(&rest, "update_window_dims", s->offset, s->offset_count);
    put_named_list(&rest, "inserted_window_dims", s->collapsed, s->collapsed_count);
    put_named_list(&rest, "scatter_dims_to_operand_dims", s->map, s->map_count);
    if (s->batching_count > 0) {
        put_named_list(&rest, "input_batching_dims", s->batching, s->batching_count);
        put_named_list(&rest, "scatter_indices_batching_dims", s->index_batching,
                       s->batching_count);
    }
    buf_printf(&rest, ", index_vector_dim=%d, to_apply=c%d", s->vector,
               gen_chance(g, 40) ? replacement(g, n, dtypes) : gen_reducer(g, n, dtypes));
    if (n == 1)
        gen_emit(g, OP_SCATTER, types[0], 3, all, "%s", rest.data);
    else
        gen_emit_tuple(g, OP_SCATTER, n, types, 2 * n + 1, all, NULL, "%s", rest.data);
    buf_free(&rest);
}

void gen_gather(struct gen *g, enum opcode op)
{
    struct dims s = choose_dims(g);
    if (op == OP_GATHER)
        gather(g, &s);
    else
        scatter(g, &s);
}
