/*
 * reduce_blocks.c: reduction of the blocks of several participants, in the order of the group.
 */
#include "eval/eval_priv.h"

bool eval_prepare_reducer(struct eval *ev, const struct step *s, enum dtype type,
                          struct bound_body *context, struct block_reducer *f)
{
    const struct body *b = s->bodies;
    const char *opcode = kern_combine_opcode(b->combine);
    *f = (struct block_reducer){
        .body = b, .call = eval_bind(ev, b, context), .type = type, .acc = b->args[0]};
    if (f->call.lanes)
        f->workspace = arena_zalloc(&ev->scratch, f->call.lanes->workspace);
    if (opcode) { /* sums of narrow floats are rounded once */
        f->acc = dtype_is_float(f->acc) && dtype_bytes(f->acc) < 4 ? DT_F32 : f->acc;
        f->fn =
            (ev->p->options.plain ? kern_plain_tiles() : kern_tiles())->elementwise(opcode, f->acc);
    }
    if (f->acc != type) {
        f->widen = kern_find_convert(f->acc, type);
        f->narrow = kern_find_convert(type, f->acc);
        return (f->widen && f->narrow) || eval_unsupported(ev, s);
    }
    return true;
}

/* acc = f(acc, x), for up to KERN_LANES elements. */
static bool combine_tile(const struct block_reducer *f, char *acc, const char *x, int64_t n)
{
    size_t width = dtype_bytes(f->acc);
    if (f->fn) {
        f->fn(acc, (const void *const[]){acc, x}, n);
        return true;
    }
    if (f->call.lanes) {
        struct c128 next[KERN_LANES];
        kern_run_lanes(f->call.lanes, f->workspace, (const void *const[]){acc, x}, (void *[]){next},
                       n);
        memcpy(acc, next, (size_t)n * width);
        return true;
    }
    for (int64_t k = 0; k < n; k++) {
        void *to = acc + (size_t)k * width;
        if (!f->call.call(f->call.context, (const void *const[]){to, x + (size_t)k * width}, &to))
            return false;
    }
    return true;
}

static bool reduce_blocks(const struct block_reducer *f, const char *const *blocks, int64_t count,
                          char *out, int64_t n)
{
    size_t width = dtype_bytes(f->type);
    struct c128 acc[KERN_LANES], other[KERN_LANES]; /* large enough for every type */
    for (int64_t done = 0; done < n; done += KERN_LANES) {
        int64_t lanes = n - done < KERN_LANES ? n - done : KERN_LANES;
        size_t at = (size_t)done * width;
        char *to = f->widen ? (char *)acc : out + at;
        for (int64_t j = 0; j < count; j++) {
            const void *x = blocks[j] + at;
            if (f->widen) {
                f->widen(j == 0 ? acc : other, &x, lanes);
                x = other;
            } else if (j == 0) {
                memcpy(to, x, (size_t)lanes * width);
            }
            if (j > 0 && !combine_tile(f, to, x, lanes))
                return false;
        }
        if (f->narrow)
            f->narrow(out + at, (const void *const[]){acc}, lanes);
    }
    return true;
}

/* ---- arrays of different dimensions ---- */

void eval_prepare_rows(struct eval *ev, const struct member_dims *e, struct member_rows *rows)
{
    *rows = (struct member_rows){.e = e,
                                 .d = e->rank - 1,
                                 .inner = 1,
                                 .blocks = ARENA_ARRAY(&ev->scratch, const char *, e->count),
                                 .lengths = ARENA_ARRAY(&ev->scratch, int64_t, e->count),
                                 .left = ARENA_ARRAY(&ev->scratch, const char *, e->count)};
    while (rows->d > 0 && member_dims_equal(e, rows->d))
        rows->inner *= member_dims_at(e, 0)[rows->d--];
}

/* The length of member j's row at `index`, and the elements before it. */
static int64_t find_row(const struct member_rows *rows, int64_t j, const int64_t *index,
                        int64_t *at)
{
    const int64_t *dims = member_dims_at(rows->e, j);
    *at = 0;
    for (int d = 0; d < rows->d; d++) {
        if (index[d] >= dims[d])
            return 0;
        *at = (*at + index[d]) * dims[d + 1];
    }
    *at *= rows->inner;
    return rows->d >= 0 ? dims[rows->d] * rows->inner : 1;
}

/* Reduces a row of n elements in pieces, in each of which the same members take part. */
static bool reduce_row(const struct block_reducer *f, const struct member_rows *rows, char *out,
                       int64_t n)
{
    size_t width = dtype_bytes(f->type);
    for (int64_t at = 0, end; at < n; at = end) {
        int64_t count = 0;
        end = n;
        for (int64_t j = 0; j < rows->e->count; j++)
            if (rows->lengths[j] > at) {
                rows->left[count++] = rows->blocks[j] + (size_t)at * width;
                end = min_i64(rows->lengths[j], end);
            }
        if (!reduce_blocks(f, rows->left, count, out + (size_t)at * width, end - at))
            return false;
    }
    return true;
}

bool eval_reduce_rows(const struct block_reducer *f, const struct rendezvous *m,
                      const struct member_rows *rows, char *out)
{
    const struct member_dims *e = rows->e;
    size_t width = dtype_bytes(f->type);
    const int64_t *own = member_dims_at(e, m->me);
    int64_t index[VIEW_MAX_RANK] = {0}, length = rows->d >= 0 ? own[rows->d] * rows->inner : 1;
    int64_t count = length > 0 ? member_elements(e, m->me) / length : 0;
    for (int64_t k = 0; k < count; k++) {
        for (int64_t j = 0, at; j < m->count; j++) {
            rows->lengths[j] = min_i64(find_row(rows, j, index, &at), length);
            rows->blocks[j] = (const char *)m->in[j].at + (size_t)at * width;
        }
        if (!reduce_row(f, rows, out + (size_t)(k * length) * width, length))
            return false;
        for (int d = rows->d - 1; d >= 0 && ++index[d] == own[d]; d--)
            index[d] = 0;
    }
    return true;
}
