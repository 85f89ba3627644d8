/*
 * fused_view.h: the arrays of fused loops, whose elements are numbered in the order of the loop.
 * Private to kern: fused*.c.
 */
#ifndef HLO_KERN_FUSED_VIEW_H
#define HLO_KERN_FUSED_VIEW_H

#include "kern/nest.h"

struct fused_view {
    char *data;
    enum dtype dtype;
    int64_t width;
    /* merged dimensions, at least one; strides in bytes */
    int rank;
    int64_t dims[VIEW_MAX_RANK], strides[VIEW_MAX_RANK];
    int panel_dim;         /* panels extend over some indices of this dimension; -1: no panels */
    int64_t panel, inside; /* elements in a panel, and in one of these indices */
};

/* A position in a view. */
struct fused_place {
    int64_t position; /* the element's number; -1: none yet */
    char *at;
    int64_t index[VIEW_MAX_RANK];
    /* A panel: consecutive elements, packed. Each of their cache lines is read once, although the
     * elements in it are far apart in the order of the loop. */
    char *panel; /* NULL: no memory; elements are then read one by one */
    int64_t panel_from, panel_count;
    int64_t part; /* the first element of the part that repeats what is in the tile; -1: none */
};

/* `strides` are along the `rank` dimensions of the loop, in its order. */
void fused_view_init(struct fused_view *v, const struct view *x, int rank, const int64_t *dims,
                     const int64_t *strides);
/* Decides whether blocks of this size, in elements, are read from panels. */
void fused_view_use_panels(struct fused_view *v, int64_t block);
/* The number of elements after which the view repeats itself, or a part of it does, of `span`
 * elements, the longest whose period is at most `most`; 0: none does. */
int64_t fused_view_period(const struct fused_view *v, int64_t most, int64_t *span);
/* The length of its contiguous runs. */
int64_t fused_view_run(const struct fused_view *v);

/* The address of element `position`. */
char *fused_view_at(const struct fused_view *v, struct fused_place *p, int64_t position);
/* Of runs of n elements that start `distance` elements apart: how many from the address on that
 * fused_view_at() gave last are `*stride` bytes apart. */
int64_t fused_view_runs(const struct fused_view *v, const struct fused_place *p, int64_t n,
                        int64_t distance, int64_t *stride);
/* The address of n elements from `position` on if they are contiguous, else NULL. */
char *fused_view_in_place(const struct fused_view *v, struct fused_place *p, int64_t position,
                          int64_t n);
/* Copies n elements from `position` on to packed storage, and back. */
void fused_view_read(const struct fused_view *v, struct fused_place *p, char *to, int64_t position,
                     int64_t n);
void fused_view_write(const struct fused_view *v, struct fused_place *p, const char *from,
                      int64_t position, int64_t n);
/* n elements from `position` on: in their panel, or in `to`. */
char *fused_view_read_panel(const struct fused_view *v, struct fused_place *p, char *to,
                            int64_t position, int64_t n);

#endif
