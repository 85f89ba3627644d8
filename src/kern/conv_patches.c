/*
 * conv_patches.c: copies the elements under the windows of a convolution (spec:
 * ConvWithGeneralPadding) from the input into the blocks that are multiplied (im2col). Patches
 * exist only block by block; padding and the holes of a dilated input become zeros here.
 */
#include "kern/conv_patches.h"

/* 64 bytes, unaligned. */
typedef char chunk __attribute__((vector_size(64), aligned(1), may_alias));

#define OUTSIDE INT64_MIN

/* The dimension at place k from the innermost one outwards: features, those of space, images. */
static int turned_dimension(const struct view *v, int k)
{
    return k == v->rank - 1 ? 0 : k == 0 ? 1 : v->rank - k;
}

bool patches_turn(struct thread_pool *workers, struct view *in, enum dtype t, void **storage)
{
    struct view to = *in;
    int64_t step = (int64_t)dtype_bytes(t);
    to.dtype = t;
    for (int k = 0; k < to.rank; k++) {
        const int d = turned_dimension(in, k);
        to.strides[d] = step;
        if (!mul_i64(step, to.dims[d], &step))
            return false;
    }
    *storage = to.data = mem_alloc((size_t)step);
    if (!to.data)
        return false;
    kern_convert_view(workers, &to, in);
    *in = to;
    return true;
}

void patches_init(struct patches *p, const struct conv *c, const struct view *in)
{
    *p = (struct patches){.spatial = c->spatial, .taps = 1, .image_points = 1, .at = in->data};
    p->width = (int64_t)dtype_bytes(in->dtype);
    p->channels = in->dims[1];
    p->channel_step = in->strides[1];
    p->image_step = in->strides[0];
    p->limit = in->data + kern_view_extent(&c->in);
    for (int d = 0; d < c->spatial; d++) {
        p->dim[d] = conv_axis_of(c, d);
        p->dim[d].in_step = in->strides[d + 2];
        p->outs[d] = p->dim[d].outs;
        p->sizes[d] = p->dim[d].size;
        p->image_points *= p->outs[d];
        p->taps *= p->sizes[d];
    }
    if (c->spatial == 0) { /* a single position in a single line */
        p->spatial = 1;
        p->dim[0] = (struct conv_axis){
            .size = 1, .dilation = 1, .in = 1, .base = 1, .outs = 1, .stride = 1};
        p->outs[0] = p->sizes[0] = 1;
    }
    const struct conv_axis *last = &p->dim[p->spatial - 1];
    const int64_t size = p->sizes[p->spatial - 1];
    p->joined = p->channel_step == p->width && last->dilation == 1 && last->base == 1 &&
                last->in_step == p->channels * p->width;
    p->run = p->channels * (p->joined ? size : 1);
    p->inner = p->joined ? 1 : size;
}

void patches_line(const struct patches *p, int64_t from, int64_t to, struct patch_line *s)
{
    const int last = p->spatial - 1;
    s->image = from / p->image_points;
    index_at(p->spatial, p->outs, from % p->image_points, s->o);
    s->count = p->outs[last] - s->o[last] < to - from ? p->outs[last] - s->o[last] : to - from;
}

/* The input position under kernel position k of all dimensions but the last, for the windows of a
 * line. */
static int64_t look_along(const struct patches *p, const struct patch_line *l, const int64_t *k)
{
    int64_t offset = l->image * p->image_step;
    for (int d = 0; d < p->spatial - 1; d++)
        if (!patch_place(&p->dim[d], l->o[d], k[d], &offset))
            return OUTSIDE;
    return offset;
}

/* look_along() for kernel positions from number `first` on. */
static void look_along_all(const struct patches *p, const struct patch_line *l, int64_t first,
                           int64_t count, int64_t *offsets)
{
    int64_t k[VIEW_MAX_RANK];
    index_at(p->spatial - 1, p->sizes, first, k);
    for (int64_t t = 0; t < count; t++) {
        offsets[t] = look_along(p, l, k);
        index_next(p->spatial - 1, p->sizes, k);
    }
}

int64_t patches_outer(const struct patches *p, const struct patch_line *l, int64_t *offsets,
                      int64_t *numbers)
{
    int64_t all = p->taps / p->sizes[p->spatial - 1], found = 0;
    look_along_all(p, l, 0, all, offsets);
    for (int64_t t = 0; t < all; t++)
        if (offsets[t] != OUTSIDE) {
            numbers[found] = t;
            offsets[found++] = offsets[t];
        }
    return found;
}

/* ---- positions as rows ---- */

static inline void copy_chunks(char *to, const char *from, int64_t bytes, const char *limit)
{
    if (limit - from <
        bytes + (int64_t)sizeof(chunk)) { /* whole chunks would read beyond the input */
        memcpy(to, from, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < bytes; i += (int64_t)sizeof(chunk))
        *(chunk *)(to + i) = *(const chunk *)(from + i);
}

static inline void clear_chunks(char *to, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += (int64_t)sizeof(chunk))
        *(chunk *)(to + i) = (chunk){0};
}

/* ---- rows whose windows cover whole lines of elements ---- */

/* A part of the contracted index: `count` pieces; the first one starts at element `skip`, the last
 * one ends before `end`. */
struct span {
    int64_t count, skip, end;
};

/* Copies elements [a, b) of a piece of which only [low, high) are in the input; the others become
 * zeros. */
static inline char *copy_clipped(const struct patches *p, const char *from, int64_t a, int64_t b,
                                 int64_t low, int64_t high, char *to)
{
    const int64_t w = p->width;
    low = low < a ? a : low < b ? low : b;
    high = high < low ? low : high < b ? high : b;
    if (low > a)
        clear_chunks(to, (low - a) * w);
    if (high > low)
        copy_chunks(to + (low - a) * w, from + low * w, (high - low) * w, p->limit);
    if (high < b)
        clear_chunks(to + (high - a) * w, (b - high) * w);
    return to + (b - a) * w;
}

/* Copying and clearing may write up to 63 bytes too many, which the next piece or row
 * overwrites. */
KERN_CLONES static void joined_rows(const struct patches *p, const struct patch_line *s,
                                    const int64_t *lines, struct span k, char *rows, int64_t row)
{
    const struct conv_axis *last = &p->dim[p->spatial - 1];
    const int64_t c = p->channels, run = p->run;
    int64_t x = s->o[p->spatial - 1] * last->stride - last->pad;
    for (int64_t i = 0; i < s->count; i++, x += last->stride) {
        const int64_t low = x < 0 ? -x * c : 0, high = (last->in - x) * c;
        const char *from = p->at + x * last->in_step;
        char *to = rows + i * row;
        for (int64_t t = 0; t < k.count; t++) {
            const int64_t a = t == 0 ? k.skip : 0, b = t == k.count - 1 ? k.end : run;
            if (lines[t] == OUTSIDE) {
                clear_chunks(to, (b - a) * p->width);
                to += (b - a) * p->width;
            } else if (low <= a && high >= b) {
                copy_chunks(to, from + lines[t] + a * p->width, (b - a) * p->width, p->limit);
                to += (b - a) * p->width;
            } else {
                to = copy_clipped(p, from + lines[t], a, b, low, high, to);
            }
        }
    }
}

/* ---- rows of single kernel positions ---- */

/* Copies elements [a, b) of a piece of one kernel position. */
static inline void copy_features(const struct patches *p, const char *at, int64_t a, int64_t b,
                                 char *to)
{
    if (p->channel_step == p->width)
        copy_chunks(to, at + a * p->width, (b - a) * p->width, p->limit);
    else
        kern_pack(to, at + a * p->channel_step, p->channel_step, (size_t)p->width, b - a);
}

/* `inner`: the first piece's kernel position along the last dimension. */
KERN_CLONES static void single_rows(const struct patches *p, const struct patch_line *s,
                                    const int64_t *lines, struct span k, int64_t inner, char *rows,
                                    int64_t row)
{
    const struct conv_axis *last = &p->dim[p->spatial - 1];
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t o = s->o[p->spatial - 1] + i;
        const int64_t *line = lines;
        char *to = rows + i * row;
        for (int64_t t = 0, at_inner = inner; t < k.count; t++) {
            const int64_t a = t == 0 ? k.skip : 0, b = t == k.count - 1 ? k.end : p->run;
            int64_t at = *line;
            if (at != OUTSIDE && patch_place(last, o, at_inner, &at))
                copy_features(p, p->at + at, a, b, to);
            else
                clear_chunks(to, (b - a) * p->width);
            to += (b - a) * p->width;
            if (++at_inner == p->inner) {
                at_inner = 0;
                line++;
            }
        }
    }
}

void patches_rows(const struct patches *p, int64_t from, int64_t to, int64_t k0, int64_t k1,
                  char *rows, int64_t row)
{
    const int64_t first = k0 / p->run, end = (k1 - 1) / p->run + 1, line = first / p->inner;
    const struct span k = {end - first, k0 - first * p->run, k1 - (end - 1) * p->run};
    int64_t lines[PATCH_DEPTH + 1];
    struct patch_line s;
    for (int64_t at = from; at < to; at += s.count) {
        patches_line(p, at, to, &s);
        look_along_all(p, &s, line, (end - 1) / p->inner + 1 - line, lines);
        if (p->joined)
            joined_rows(p, &s, lines, k, rows + (at - from) * row, row);
        else
            single_rows(p, &s, lines, k, first % p->inner, rows + (at - from) * row, row);
    }
}

/* ---- patches that can be used in place ---- */

bool patches_lie(const struct patches *p, int64_t images, int64_t *step)
{
    int64_t next = 0;
    *step = 0;
    if (p->channel_step != p->width)
        return false;
    for (int d = p->spatial; d >= 0; d--) {
        const struct conv_axis *dim =
            d > 0 ? &p->dim[d - 1] : NULL; /* images are the outermost dimension */
        const int64_t count = dim ? p->outs[d - 1] : images,
                      here = dim ? dim->stride * dim->in_step : p->image_step;
        if (dim && (p->sizes[d - 1] != 1 || dim->base > 1 || dim->pad != 0 ||
                    (count - 1) * dim->stride >= dim->in))
            return false;
        if (count == 1)
            continue;
        if (*step != 0 && here != next)
            return false;
        *step = *step ? *step : here;
        next = here * count;
    }
    return true;
}
