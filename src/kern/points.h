/*
 * points.h: gathers and scatters of single elements at a line of index tuples: neither offsets nor
 * runs are listed. Private to kern.
 */
#ifndef HLO_KERN_POINTS_H
#define HLO_KERN_POINTS_H

#include "kern/nest.h"

/* Element i of the line (the gather's result or the scatter's updates) belongs to the element of
 * the array at index tuple i. */
struct points {
    char *line, *array;
    enum dtype index_type;
    int64_t count;
    bool inside;    /* whether components with one index are in bounds; `array` includes them */
    int components; /* the others */
    struct point_component {
        const char *index;
        int64_t step;          /* bytes between indices */
        int32_t limit, stride; /* greatest index; bytes between elements of the array */
    } component[VIEW_MAX_RANK];
};

/* False: the windows are not such points, or offsets in the array do not fit into 32 bits. `line`
 * has elements. */
bool points_init(struct points *p, const struct view *line, const struct view *array,
                 const struct view *indices, const struct kern_gather_dims *dims);

/* Indices are clamped. `width`: bytes of an element. */
void points_gather(struct thread_pool *workers, const struct points *p, size_t width);

/* Combines the line into the array in its order; skips elements whose index is outside. */
typedef void points_fn(const struct points *p);
/* NULL if no such function exists for this element type. */
points_fn *points_combiner(enum kern_combine combine, enum dtype t);

#endif
