/*
 * gather_windows.h: the windows that gather and scatter move between two arrays: their byte
 * offsets, computed block by block from the indices, and the runs of elements that a window
 * consists of. Private to kern.
 */
#ifndef HLO_KERN_GATHER_WINDOWS_H
#define HLO_KERN_GATHER_WINDOWS_H

#include "kern/nest.h"

/* An index tuple for each position of the batch dimensions, and a window of the array for each
 * tuple. `whole` is the gather's result or the scatter's updates. */
struct windows {
    int64_t count;
    struct nest batch;        /* views: whole, indices, array; of tuples */
    struct nest whole, array; /* each view of `batch` alone, merged */
    enum dtype index_type;
    int map_count;
    bool separate;            /* components are in separate arrays */
    int64_t component_stride; /* bytes between components of a tuple */
    /* by component: its first element, and the axes along which it is read; if not `separate`, the
     * axes of the first are those of all */
    const char *component[VIEW_MAX_RANK];
    struct index_axes {
        int rank;
        int64_t dims[VIEW_MAX_RANK], strides[VIEW_MAX_RANK];
    } axes[VIEW_MAX_RANK];
    int64_t stride[VIEW_MAX_RANK]; /* of the array, for component k */
    /* greatest start of component k for which the window is inside */
    int64_t limit[VIEW_MAX_RANK];
    bool fits; /* windows are not empty and not larger than the array */
    struct view whole_window, array_window; /* views of one window, without their data address */
    bool fixed[VIEW_MAX_RANK]; /* by dimension of the window: all have the same start */
};

/* window[d] is the size of a window along dimension d of the array. `indices`: one array, or those
 * of the components. */
void windows_init(struct windows *w, const struct view *whole, const struct view *array,
                  const struct view *indices, const struct kern_gather_dims *dims,
                  const int64_t *window);

/* Loads n starts, `step` bytes apart, as s32, saturated: limits are less than INT32_MAX. */
void windows_load_starts(enum dtype t, int32_t *out, const char *at, int64_t step, int64_t n);

/* Byte offsets of consecutive windows in both arrays; `line` is 0 before the first block. */
enum { WINDOW_BLOCK = 512 };
struct window_block {
    int64_t n, array[WINDOW_BLOCK];
    int64_t whole_from, whole[WINDOW_BLOCK]; /* offsets in `whole` are relative to whole_from */
    int64_t line; /* windows in `whole` whose offsets the next block can reuse */
};
/* Windows `from` to from + n, n <= WINDOW_BLOCK; starts are clamped so that windows are inside. */
void windows_clamped(const struct windows *w, int64_t from, int64_t n, struct window_block *b);
/* Those that are inside, and whose start in component `component` is in [low, high]. */
void windows_inside(const struct windows *w, int64_t from, int64_t n, int component, int64_t low,
                    int64_t high, struct window_block *b);
/* Offsets relative to a window: of its elements `from` to from + n. */
void window_elements(const struct windows *w, int64_t from, int64_t n, struct window_block *b);

/* How the elements of a window are visited. */
enum { WINDOW_RUNS = 64 };
struct window_runs {
    enum {
        RUNS_LISTED,    /* window by window, run by run: their offsets are in the lists */
        RUNS_OUTERMOST, /* one position of all windows after the other */
        RUNS_MANY       /* too many to be listed */
    } mode;
    int64_t length;    /* elements that are contiguous in both arrays */
    struct nest outer; /* runs of a window; views: whole, array */
    int count;         /* RUNS_LISTED */
    int64_t whole[WINDOW_RUNS], array[WINDOW_RUNS];
};
/* `across`: the windows, if positions may be outermost; or NULL. */
void window_runs_init(struct window_runs *r, const struct view *whole, const struct view *array,
                      const struct windows *across);

/* Calls fn with lists of the runs of all windows of the block; not for RUNS_MANY. For
 * RUNS_OUTERMOST, those of `positions` positions from number `position` on. */
typedef void window_runs_fn(const void *context, char *whole, const int64_t *whole_at, char *array,
                            const int64_t *array_at, int64_t n);
void window_runs_visit(const struct window_runs *r, const struct window_block *b, char *whole,
                       char *array, int64_t position, int64_t positions, window_runs_fn *fn,
                       const void *context);

#endif
