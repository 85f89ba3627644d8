/*
 * map.c: applies a tile kernel to views of any strides. It has no kernel of its own.
 *
 * The dimensions are sorted into the memory order of the result and merged where the strides of all
 * views allow it. Runs that are packed in all views are passed to the kernel in place (mostly whole
 * arrays); any other argument is gathered into a tile on the stack, and a strided result scattered
 * from one. Short rows are processed many at a time.
 */
#include <stdlib.h>

#include "kern/nest.h"
#include "kern/tile.h"

enum {
    SHORT_ROW = 64, /* of shorter rows, those of a plane (two innermost dimensions) share tiles, and
                       of parts of rows, where views are transposed */
    SHARE = 1 << 16 /* minimum number of elements in a task */
};

struct tile_job {
    tile_context_fn *fn;
    const void *context;
    int worker;
    struct nest nest; /* view 0 is the result */
    size_t width[NEST_MAX_VIEWS];
    bool packed[NEST_MAX_VIEWS];   /* whether a view is, along the innermost dimension */
    bool repeated[NEST_MAX_VIEWS]; /* a single element for all: its tile is filled once */
    char tiles[NEST_MAX_VIEWS][KERN_TILE * 16] __attribute__((aligned(64)));
};

/* The dimensions are in the order in which the result is row-major in memory; elementwise
 * operations may use any. */
static void job_init(struct tile_job *m, const struct view *out, int count, const struct view *args)
{
    nest_init(&m->nest, 1 + count);
    for (int d = 0; d < out->rank; d++) {
        int64_t strides[NEST_MAX_VIEWS] = {out->strides[d]};
        for (int k = 0; k < count; k++)
            strides[1 + k] = args[k].rank == 0 ? 0 : args[k].strides[d];
        nest_add_sorted(&m->nest, out->dims[d], strides, 0);
    }
    nest_merge(&m->nest);
    const int inner = m->nest.rank - 1;
    for (int k = 0; k <= count; k++) {
        m->width[k] = dtype_bytes(k == 0 ? out->dtype : args[k - 1].dtype);
        m->packed[k] = inner < 0 || m->nest.strides[k][inner] == (int64_t)m->width[k];
        m->repeated[k] = inner >= 0 && k > 0;
        for (int d = 0; d <= inner; d++)
            m->repeated[k] &= m->nest.strides[k][d] == 0;
    }
}

static void fill_repeated(struct tile_job *m, char *const *at, int64_t n)
{
    for (int k = 1; k < m->nest.count; k++)
        if (m->repeated[k])
            kern_pack(m->tiles[k], at[k], 0, m->width[k], n);
}

/* Processes one run of the innermost dimension, by tiles if any view must be gathered. */
static void map_row(struct tile_job *m, char *const *at, int64_t length)
{
    bool in_place = true;
    for (int k = 0; k < m->nest.count; k++)
        in_place &= m->packed[k];
    const int64_t max = in_place ? length : KERN_TILE;
    for (int64_t done = 0; done < length; done += max) {
        const int64_t some = length - done < max ? length - done : max;
        void *out = m->packed[0] ? at[0] + (size_t)done * m->width[0] : m->tiles[0];
        const void *args[NEST_MAX_VIEWS];
        for (int k = 1; k < m->nest.count; k++) {
            const int64_t stride =
                m->packed[k] ? (int64_t)m->width[k] : m->nest.strides[k][m->nest.rank - 1];
            args[k - 1] = m->packed[k] ? at[k] + done * stride : m->tiles[k];
            if (!m->packed[k] && !m->repeated[k])
                kern_pack(m->tiles[k], at[k] + done * stride, stride, m->width[k], some);
        }
        m->fn(m->context, m->worker, out, args, some);
        if (!m->packed[0]) {
            const int64_t stride = m->nest.strides[0][m->nest.rank - 1];
            kern_unpack(at[0] + done * stride, stride, out, m->width[0], some);
        }
    }
}

/* Whether the rows of a view are far apart in memory, but its columns contiguous. */
static bool is_transposed(const struct tile_job *m)
{
    enum { FEW = 4 };
    const int inner = m->nest.rank - 1;
    bool found = false;
    for (int k = 1; k < m->nest.count && inner > 0 && m->nest.dims[inner - 1] >= FEW; k++)
        found |= !m->packed[k] && m->nest.strides[k][inner - 1] == (int64_t)m->width[k];
    return found;
}

/* Processes the short rows of one plane: views whose rows are contiguous are used in place. */
static void map_plane(struct tile_job *m, char *const *at, int64_t rows, int64_t length)
{
    const int inner = m->nest.rank - 1;
    const int64_t max = KERN_TILE / length;
    for (int64_t done = 0; done < rows; done += max) {
        const int64_t some = rows - done < max ? rows - done : max;
        void *where[NEST_MAX_VIEWS];
        bool gapless = true;
        for (int k = m->nest.count - 1; k >= 0; k--) {
            const int64_t row = m->nest.strides[k][inner - 1];
            gapless = m->packed[k] && row == length * (int64_t)m->width[k];
            where[k] = gapless ? at[k] + done * row : m->tiles[k];
            if (!gapless && k > 0 && !m->repeated[k] && !(row == 0 && done > 0))
                kern_pack_rows(m->tiles[k], at[k] + done * row, some, row,
                               m->nest.strides[k][inner], m->width[k], length);
        }
        m->fn(m->context, m->worker, where[0], (const void *const *)(where + 1), some * length);
        if (!gapless)
            kern_unpack_rows(at[0] + done * m->nest.strides[0][inner - 1], some,
                             m->nest.strides[0][inner - 1], m->nest.strides[0][inner], m->tiles[0],
                             m->width[0], length);
    }
}

/* Processes a plane whose rows are short, or parts of them, which begin one after the other. */
static void map_planes(struct tile_job *m, char *const *at, int64_t rows, int64_t length)
{
    const int64_t most = length < SHORT_ROW ? length : SHORT_ROW;
    for (int64_t i = 0; i < length; i += most) {
        char *part[NEST_MAX_VIEWS];
        for (int k = 0; k < m->nest.count; k++)
            part[k] = at[k] + i * m->nest.strides[k][m->nest.rank - 1];
        map_plane(m, part, rows, min_i64(most, length - i));
    }
}

static void map_views(tile_context_fn *fn, const void *context, int worker, const struct view *out,
                      int count, const struct view *args)
{
    struct tile_job m;
    struct nest_walk walk;
    char *at[NEST_MAX_VIEWS] = {out->data};
    for (int k = 0; k < count; k++)
        at[1 + k] = args[k].data;
    m.fn = fn;
    m.context = context;
    m.worker = worker;
    job_init(&m, out, count, args);
    const int64_t points = nest_points(&m.nest);
    if (points == 0)
        return;
    const int inner = m.nest.rank - 1;
    const int64_t length = inner < 0 ? 1 : m.nest.dims[inner];
    fill_repeated(&m, at, points < KERN_TILE ? points : KERN_TILE);
    const bool planes = inner > 0 && (length < SHORT_ROW || is_transposed(&m));
    nest_start(&walk, &m.nest, inner < 0 ? 0 : inner - planes, at);
    do
        if (planes)
            map_planes(&m, walk.at, m.nest.dims[inner - 1], length);
        else
            map_row(&m, walk.at, length);
    while (nest_step(&walk));
}

/* ---- multithreaded: split along the dimension with the largest stride in the result ---- */

struct shared_map {
    tile_context_fn *fn;
    const void *context;
    const struct view *out, *args;
    int count, dimension;
};

static void take_rows(struct view *part, const struct view *v, const struct shared_map *s,
                      int64_t begin, int64_t end)
{
    *part = *v;
    if (v->rank == 0)
        return;
    part->data += begin * v->strides[s->dimension];
    part->dims[s->dimension] = end - begin;
}

static void map_part(void *context, int64_t begin, int64_t end, int worker)
{
    const struct shared_map *s = context;
    struct view out, args[KERN_FUSED_VIEWS];
    take_rows(&out, s->out, s, begin, end);
    for (int k = 0; k < s->count; k++)
        take_rows(&args[k], &s->args[k], s, begin, end);
    map_views(s->fn, s->context, worker, &out, s->count, args);
}

static int outermost(const struct view *out)
{
    int best = 0;
    for (int d = 1; d < out->rank; d++)
        if (out->dims[d] > 1 &&
            (out->dims[best] == 1 || llabs(out->strides[d]) > llabs(out->strides[best])))
            best = d;
    return best;
}

void tile_map(struct thread_pool *workers, tile_context_fn *fn, const void *context,
              const struct view *out, int count, const struct view *args)
{
    const int64_t points = view_elements(out);
    if (thread_pool_size(workers) == 1 || points < 2 * SHARE) {
        map_views(fn, context, 0, out, count, args);
        return;
    }
    struct shared_map s = {fn, context, out, args, count, outermost(out)};
    const int64_t rows = out->dims[s.dimension], row = points / rows;
    thread_pool_share(workers, rows, max_i64(SHARE / row, 1), map_part, &s);
}

static void call_plain(const void *context, int worker, void *out, const void *const *args,
                       int64_t n)
{
    (*(kern_tile_fn *const *)context)(out, args, n);
}

void kern_map_tiles(struct thread_pool *workers, kern_tile_fn *fn, const struct view *out,
                    int count, const struct view *args)
{
    tile_map(workers, call_plain, &fn, out, count, args);
}
