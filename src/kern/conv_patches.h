/*
 * conv_patches: the elements under the windows of a convolution, as rows of a matrix, block
 * by block. Private to kern.
 */
#ifndef HLO_KERN_CONV_PATCHES_H
#define HLO_KERN_CONV_PATCHES_H

#include "kern/conv.h"

/* Adds to *offset the input position under kernel position k of the window at o; false in padding
 * and holes. */
static inline bool patch_place(const struct conv_axis *d, int64_t o, int64_t k, int64_t *offset)
{
    int64_t i = o * d->stride - d->pad + k * d->dilation;
    if (d->base > 1) {
        if (i < 0 || i % d->base != 0)
            return false;
        i /= d->base;
    }
    *offset += i * d->in_step;
    return i >= 0 && i < d->in;
}

/* The matrix: one row per position of the result (images first, then its dimensions row-major),
 * with the elements under its window (kernel positions row-major, then features). */
struct patches {
    int spatial; /* at least 1 */
    struct conv_axis dim[VIEW_MAX_RANK];
    int64_t outs[VIEW_MAX_RANK],
        sizes[VIEW_MAX_RANK]; /* spatial sizes of the result and of the kernel */
    int64_t taps, image_points, image_step;
    int64_t channels, channel_step, width; /* width: of an element, in bytes */
    const char *at, *limit;                /* start and end of the input */
    bool joined;   /* elements along the last dimension of the window are contiguous */
    int64_t run;   /* elements that are copied in one piece */
    int64_t inner; /* pieces along the last dimension of the window */
};

/* `in`: the images and features of c->in that are used. */
void patches_init(struct patches *p, const struct conv *c, const struct view *in);

/* Replaces a view of dims [n, c, x...] by a dense copy of type `t` with features innermost; the
 * caller frees *storage. False: out of memory. */
bool patches_turn(struct thread_pool *workers, struct view *in, enum dtype t, void **storage);

/* Maximum length of the contracted index that is packed at a time. */
enum { PATCH_DEPTH = 512, PATCH_SLACK = 64 /* bytes after the last row that may be overwritten */ };

/* Packs elements [k0, k1) of positions [from, to), a row for each position, `row` bytes apart. */
void patches_rows(const struct patches *p, int64_t from, int64_t to, int64_t k0, int64_t k1,
                  char *rows, int64_t row);
/* Whether the input itself is such a matrix: the elements of every position are contiguous, and
 * positions `step` bytes apart. */
bool patches_lie(const struct patches *p, int64_t images, int64_t *step);

/* Consecutive positions in one line of the result (its last dimension). */
struct patch_line {
    int64_t image;
    int64_t o[VIEW_MAX_RANK]; /* of the first one */
    int64_t count;
};
void patches_line(const struct patches *p, int64_t from, int64_t to, struct patch_line *s);
/* Finds the kernel positions along all dimensions but the last that are inside the input for a
 * line. Returns their count; `numbers`: their row-major numbers; `offsets`: input positions, in
 * bytes from p->at. */
int64_t patches_outer(const struct patches *p, const struct patch_line *l, int64_t *offsets,
                      int64_t *numbers);

#endif
