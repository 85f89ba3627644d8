/*
 * conv_patches: what the windows of a convolution see, as rows or columns of a matrix, block by block. Private to kern.
 */
#ifndef HLO_KERN_CONV_PATCHES_H
#define HLO_KERN_CONV_PATCHES_H

#include "kern/conv.h"

struct patch_dim {
    int64_t in, step; /* positions of the input, bytes from one to the next */
    int64_t stride, pad, dilation, base;
};

/* Adds to *offset where kernel position k of the window at o looks; false in padding and holes. */
static inline bool patch_place(const struct patch_dim *d, int64_t o, int64_t k, int64_t *offset)
{
    int64_t i = o * d->stride - d->pad + k * d->dilation;
    if (d->base > 1) {
        if (i < 0 || i % d->base != 0)
            return false;
        i /= d->base;
    }
    *offset += i * d->step;
    return i >= 0 && i < d->in;
}

/* The positions of a result, images first, then its dimensions row-major; behind each of them the elements under its
 * window: kernel positions row-major, then features. */
struct patches {
    int spatial; /* 1 at least */
    struct patch_dim dim[VIEW_MAX_RANK];
    int64_t outs[VIEW_MAX_RANK], sizes[VIEW_MAX_RANK]; /* of the result and the kernel */
    int64_t taps, image_points, image_step;
    int64_t channels, channel_step, width; /* width: of an element, in bytes */
    const char *at, *limit; /* no byte of the input lies at or behind `limit` */
    bool joined;            /* elements under the last dimension of the window lie side by side */
    int64_t run;            /* elements that are copied in one piece */
    int64_t inner;          /* pieces along the last dimension of the window */
};

/* `in`: the images and features that take part, of c->in. */
void patches_init(struct patches *p, const struct conv *c, const struct view *in);

/* Replaces dims [n, c, x...] by a gapless copy of type `t`, features innermost or outside of the space; *storage is then to be
 * freed. False: no memory. */
bool patches_turn(struct team *team, struct view *in, enum dtype t, bool features_last, void **storage);

/* How much of the contracted index is packed in one go, at most. */
enum { PATCH_DEPTH = 512, PATCH_SLACK = 64 /* bytes behind the last row that may be written */ };

/* Elements [k0, k1) of positions [from, to), one row each; rows lie `row` bytes apart. */
void patches_rows(const struct patches *p, int64_t from, int64_t to, int64_t k0, int64_t k1, char *rows, int64_t row);
/* The same, one column each, at most PATCH_COLUMNS; `columns` elements from one row to the next, those behind `to` zero.
 * Elements of up to 8 bytes. */
enum { PATCH_COLUMNS = 64 };
void patches_columns(const struct patches *p, int64_t from, int64_t to, int64_t k0, int64_t k1, char *room,
                     int64_t columns);

/* Whether the elements of every position lie side by side, and positions one after the other, `step` bytes apart. */
bool patches_lie(const struct patches *p, int64_t images, int64_t *step);

/* The positions from `from` on that lie in one line of the result, up to `to`. */
struct patch_line {
    int64_t image;
    int64_t o[VIEW_MAX_RANK]; /* of the first one */
    int64_t count;
};
void patches_line(const struct patches *p, int64_t from, int64_t to, struct patch_line *s);
/* Kernel positions along all dimensions but the last that see something from a line: their number, which they are, counted
 * row-major, and where they look, in bytes from p->at. */
int64_t patches_outer(const struct patches *p, const struct patch_line *l, int64_t *offsets, int64_t *numbers);

#endif
