/*
 * permute.c: pairwise collectives: collective-permute, of whole arrays and in place, and
 * ragged-all-to-all.
 */
#include "eval/eval_priv.h"

/* ---- whole arrays ---- */

static bool send_operand(struct eval *ev, const struct step *s, int k, const struct partners *p)
{
    struct value made;
    const struct view *x = eval_dense(ev, s, k, eval_view(ev, s, k)->dtype, &made);
    bool ok = x != NULL;
    for (int64_t t = 0; t < p->target_count && ok; t++)
        ok = p->targets[t] == eval_self(ev) ||
             eval_send_array(ev, s, eval_tag(s->inst, true), x, p->targets[t]);
    value_drop(ev, &made);
    return ok;
}

static bool take(struct eval *ev, const struct step *s, int r, const struct partners *p)
{
    if (p->source_count == 0)
        return eval_sized_zeros(ev, s, r, eval_view(ev, s, r)->dims);
    if (p->sources[0] == eval_self(ev)) {
        value_share(&ev->frame[s->results[r]], eval_operand(ev, s, r));
        return true;
    }
    return eval_receive_array(ev, s, eval_tag(s->inst, true), r, p->sources[0]);
}

static bool permute(struct eval *ev, const struct step *s, const struct partners *p)
{
    if (s->operand_count != s->result_count)
        return eval_unsupported(ev, s);
    for (int k = 0; k < s->operand_count; k++)
        if (!eval_conforms(ev, eval_view(ev, s, k), s->shapes[k]))
            return eval_unsupported(ev, s);
    for (int k = 0; k < s->operand_count; k++)
        if (!send_operand(ev, s, k, p))
            return false;
    for (int r = 0; r < s->result_count; r++)
        if (!take(ev, s, r, p))
            return false;
    return true;
}

/* ---- in place: slices of operand 0 are written to operand 1 ----
 *
 * Operands 2 and 3 are the offsets of the slices in operands 0 and 1. Their leaves are scalars: one
 * for each dimension of the buffer, for each slice, for each buffer. The nth pair of a participant
 * moves slice n of every buffer.
 */

struct slices_in_place {
    int buffers, slices;
    struct ints_list
        sizes; /* of slice buffer * slices + slice; the last one holds for all later slices */
};

/* The window of `whole` for a slice, at clamped offsets that start at operand leaf `first`. */
static bool window_at(struct eval *ev, const struct step *s, const struct view *whole,
                      struct ints size, int first, struct view *out)
{
    if (size.count != whole->rank)
        return eval_unsupported(ev, s);
    view_copy(out, whole);
    for (int d = 0; d < whole->rank; d++) {
        if (size.at[d] < 0 || size.at[d] > whole->dims[d])
            return eval_unsupported(ev, s);
        const struct view *index = eval_view(ev, s, first + d);
        int64_t at = kern_load_index(index->dtype, index->data), last = whole->dims[d] - size.at[d];
        at = at < 0 ? 0 : at > last ? last : at;
        out->dims[d] = size.at[d];
        out->data += at * whole->strides[d];
    }
    return true;
}

static struct ints slice_size(const struct slices_in_place *p, int b, int64_t n)
{
    int64_t k = (int64_t)b * p->slices + n;
    return p->sizes.at[k < p->sizes.count ? k : p->sizes.count - 1];
}

/* The operand leaf at which the offsets of slice n of buffer b begin. */
static int offsets_of(const struct slices_in_place *p, const struct view *buffer, int first, int b,
                      int64_t n)
{
    return first + (b * p->slices + (int)n) * buffer->rank;
}

/* Sends the slices of the operand, or receives those of the result. */
static bool exchange_slices(struct eval *ev, const struct step *s, const struct slices_in_place *p,
                            const struct partners *w, bool sends)
{
    const struct tag tag = eval_tag(s->inst, true);
    for (int64_t n = 0; n < (sends ? w->target_count : w->source_count); n++)
        for (int b = 0; b < p->buffers; b++) {
            const struct view *whole =
                sends ? eval_view(ev, s, s->starts[0] + b) : &ev->frame[s->results[b]].view;
            struct view slice;
            struct value made;
            if (!window_at(ev, s, whole, slice_size(p, b, n),
                           offsets_of(p, whole, s->starts[sends ? 2 : 3], b, n), &slice))
                return false;
            if (!value_new(ev, &made, slice.dtype, slice.rank, slice.dims))
                return eval_no_memory(ev, s, s->inst->shape);
            if (sends)
                kern_copy(ev->workers, &made.view, &slice);
            bool ok = sends ? eval_send_data(ev, s, tag, &made.view, w->targets[n])
                            : eval_receive_data(ev, s, tag, &made.view, w->sources[n]);
            if (ok && !sends)
                kern_copy(ev->workers, &slice, &made.view);
            value_drop(ev, &made);
            if (!ok)
                return false;
        }
    return true;
}

static bool permute_in_place(struct eval *ev, const struct step *s, struct ints_list sizes,
                             const struct partners *w)
{
    struct slices_in_place p = {.buffers = s->starts[1], .slices = 1, .sizes = sizes};
    int64_t scalars = 0; /* offsets of one slice of every buffer */
    for (int b = 0; b < p.buffers; b++)
        scalars += eval_view(ev, s, b)->rank;
    if (s->inst->operand_count != 4 || s->starts[2] - s->starts[1] != p.buffers ||
        p.buffers != s->result_count)
        return eval_unsupported(ev, s);
    int offsets = s->starts[3] - s->starts[2];
    if (scalars > 0)
        p.slices = (int)(offsets / scalars);
    if (p.slices * scalars != offsets || s->starts[4] - s->starts[3] != offsets ||
        w->target_count > p.slices || w->source_count > p.slices)
        return eval_unsupported(ev, s);
    for (int b = 0; b < p.buffers; b++)
        if (!eval_update(ev, s, b, s->starts[1] + b))
            return false;
    return exchange_slices(ev, s, &p, w, true) && exchange_slices(ev, s, &p, w, false);
}

bool eval_permute(struct eval *ev, const struct step *s)
{
    const struct attr *pairs = inst_attr(s->inst, A_SOURCE_TARGET_PAIRS),
                      *sizes = inst_attr(s->inst, A_SLICE_SIZES_LIST);
    struct partners w;
    if (!eval_partners(ev, s, pairs->v.ints_list, inst_group_mode(s->inst), &w))
        return false;
    return sizes && sizes->v.ints_list.count > 0 ? permute_in_place(ev, s, sizes->v.ints_list, &w)
                                                 : permute(ev, s, &w);
}

/* ---- ragged-all-to-all ----
 *
 * The sender has the offsets of its slices among the receiver's rows. The block for a member
 * consists, for each of its slices, of two numbers and the rows.
 */

struct ragged_head {
    int64_t at, rows;
};

/* Element n of an operand of offsets or sizes. */
static int64_t number_at(struct eval *ev, const struct step *s, int operand, int64_t n)
{
    const struct view *v = eval_view(ev, s, operand);
    const char *at = v->data;
    int64_t fast = v->rank > 1 ? v->dims[1] : 1;
    at += n / fast * v->strides[0];
    if (v->rank > 1)
        at += n % fast * v->strides[1];
    return kern_load_index(v->dtype, at);
}

static bool outside(struct eval *ev, const struct step *s, int64_t at, int64_t rows,
                    const struct view *v)
{
    return at < 0 || rows < 0 || at > v->dims[0] - rows
               ? !EVAL_FAIL(ev, s, RAGGED_SLICE, at, rows, v->dims[0])
               : false;
}

static void rows_of(struct view *out, const struct view *v, int64_t at, int64_t rows)
{
    view_copy(out, v);
    out->data += at * v->strides[0];
    out->dims[0] = rows;
}

/* Bytes of a slice within a block, padded to the alignment of the next one. */
static size_t padded(int64_t rows, size_t row) { return ((size_t)rows * row + 15) / 16 * 16; }

static size_t row_size(const struct view *v)
{
    struct view row;
    rows_of(&row, v, 0, 1);
    return size_of(&row);
}

/* The block for member j, in storage from the pool; NULL with a message. */
static struct buffer *pack_ragged(struct eval *ev, const struct step *s, int64_t j, int64_t slices,
                                  size_t *size)
{
    const struct view *x = eval_view(ev, s, 0);
    size_t row = row_size(x);
    *size = 0;
    for (int64_t k = j * slices; k < (j + 1) * slices; k++) {
        int64_t rows = number_at(ev, s, 3, k);
        if (outside(ev, s, number_at(ev, s, 2, k), rows, x))
            return NULL;
        *size += sizeof(struct ragged_head) + padded(rows, row);
    }
    struct buffer *b = pool_take(&ev->pool, *size);
    char *to = b ? b->data : NULL;
    for (int64_t k = j * slices; k < (j + 1) * slices && b; k++) {
        struct ragged_head head = {number_at(ev, s, 4, k), number_at(ev, s, 3, k)};
        struct view from, dense;
        memcpy(to, &head, sizeof head);
        rows_of(&from, x, number_at(ev, s, 2, k), head.rows);
        view_dense(&dense, from.dtype, from.rank, from.dims, to + sizeof head);
        kern_copy(ev->workers, &dense, &from);
        to += sizeof head + padded(head.rows, row);
    }
    if (!b)
        eval_no_memory(ev, s, s->inst->shape);
    return b;
}

static bool unpack_ragged(struct eval *ev, const struct step *s, struct block in, int64_t slices,
                          const struct view *out)
{
    const char *at = in.at;
    size_t row = row_size(out), left = in.size;
    for (int64_t k = 0; k < slices; k++) {
        struct ragged_head head = {0, 0};
        if (left >= sizeof head)
            memcpy(&head, at, sizeof head);
        if (outside(ev, s, head.at, head.rows, out))
            return false;
        size_t need = sizeof head + padded(head.rows, row);
        if (left < need)
            return EVAL_FAIL(ev, s, BLOCK_SIZE, op_spelling(s->inst->opcode), eval_self(ev), left,
                             need);
        struct view to, dense;
        rows_of(&to, out, head.at, head.rows);
        view_dense(&dense, to.dtype, to.rank, to.dims, (char *)(uintptr_t)at + sizeof head);
        kern_copy(ev->workers, &to, &dense);
        at += need;
        left -= need;
    }
    return true;
}

static bool rows_alike(const struct view *a, const struct view *b)
{
    bool same = a->rank == b->rank && a->dtype == b->dtype && a->rank > 0;
    for (int d = 1; d < a->rank && same; d++)
        same = a->dims[d] == b->dims[d];
    return same;
}

static bool exchange_ragged(struct eval *ev, const struct step *s, const struct peers *g,
                            int64_t slices, struct block *blocks, struct buffer **packed)
{
    struct view *out = eval_update(ev, s, 0, 1);
    if (!out)
        return false;
    for (int64_t j = 0; j < g->count; j++) {
        if (!(packed[j] = pack_ragged(ev, s, j, slices, &blocks[j].size)))
            return false;
        blocks[j].at = packed[j]->data;
    }
    struct rendezvous m = eval_new_rendezvous(ev, s, g, blocks);
    if (!eval_rendezvous(ev, s, &m, NULL))
        return false;
    bool ok = true;
    for (int64_t j = 0; j < g->count && ok; j++)
        ok = unpack_ragged(ev, s, m.in[j], slices, out);
    eval_leave_rendezvous(ev, &m);
    return ok;
}

bool eval_ragged(struct eval *ev, const struct step *s, const struct peers *g)
{
    if (s->operand_count != 6)
        return eval_unsupported(ev, s);
    int64_t updates = view_elements(eval_view(ev, s, 2));
    if (updates % g->count != 0 || !rows_alike(eval_view(ev, s, 0), eval_view(ev, s, 1)))
        return EVAL_FAIL(ev, s, GROUP_SHAPE, op_spelling(s->inst->opcode), g->count);
    struct block *blocks = ARENA_ARRAY(&ev->scratch, struct block, g->count);
    struct buffer **packed = ARENA_ARRAY(&ev->scratch, struct buffer *, g->count);
    bool ok = exchange_ragged(ev, s, g, updates / g->count, blocks, packed);
    for (int64_t j = 0; j < g->count; j++)
        if (packed[j])
            pool_drop(&ev->pool, packed[j]);
    return ok;
}
