/*
 * fused.h: parts of fused loops. Private to kern: fused*.c.
 */
#ifndef HLO_KERN_FUSED_H
#define HLO_KERN_FUSED_H

#include "kern/fused_view.h"
#include "kern/reducer.h"

/* ---- fused_shape.c ---- */

/* The extent of a loop, and of its blocks. A block consists of several rows, or of columns of one
 * row; of a part of the lanes only if it has one row. */
struct fused_shape {
    int64_t rows, columns, lanes;
    int64_t block_rows, block_columns, block_lanes;
    bool by_rows;         /* rows are long enough for machine code that runs row by row */
    int64_t tile;         /* elements of a block, at most */
    int64_t accumulators; /* row values of a block, at most */
};
/* `run`: without reductions, the number of elements that are a row. */
void fused_shape_init(struct fused_shape *s, const struct kern_fused *f, int64_t run);
/* The dimensions in the order of the loop. */
void fused_shape_order(const struct kern_fused *f, int *order);

/* ---- fused_reducer.c ---- */

struct fused_reducer {
    struct reducer reducer;
    size_t x_width;
    int64_t block; /* columns */
    bool down;     /* rows are short: many are reduced side by side */
    bool lanes;    /* the loop has lanes: one, the last, may be alone in its block */
};
/* Packed accumulators, one for each of the row values of a block. */
struct fused_accumulators {
    char *last, *before; /* for the current block of columns; for all blocks before it */
    int64_t from;        /* the first column reduced into these */
};
void fused_reducer_init(struct fused_reducer *f, const struct kern_fused *loop,
                        const struct kern_reducer *k, const void *init);
/* Reduces n columns of each row, of `lanes` elements each, which are `line` bytes apart; without
 * lanes, KERN_TILE packed columns, or all remaining ones. Several rows are packed. */
void fused_reducer_rows(const struct fused_reducer *f, const struct fused_accumulators *c,
                        const char *x, int64_t rows, int64_t column, int64_t n, int64_t lanes,
                        int64_t line);
/* Stores n results, after the last column. */
void fused_reducer_finish(const struct fused_reducer *f, const struct fused_accumulators *c,
                          char *out, int64_t n, int64_t columns);

/* ---- fused_loop.c ---- */

/* Access modes: how the elements of a view get to the ops. */
enum access_mode {
    ACCESS_IN_PLACE,
    ACCESS_SINGLE,    /* one element, of each row or of all */
    ACCESS_REPEATED,  /* the view, or a long part of it, repeats elements: they are in its tile */
    ACCESS_IN_PIECES, /* each op reads the contiguous runs of a block in place, one after another */
    ACCESS_COPIED,
    ACCESS_PANEL, /* elements along a row are far apart: more than one block is copied at once */
    ACCESS_ROWS_IN_PLACE, /* a row value */
    ACCESS_ROWS_COPIED
};
struct fused_loop {
    const struct kern_fused *f;
    struct fused_shape shape;
    const struct view *results;
    enum access_mode access_modes[KERN_FUSED_VIEWS];
    int64_t periods[KERN_FUSED_VIEWS]; /* of repeated views */
    int64_t spans[KERN_FUSED_VIEWS];   /* elements of the parts that repeat themselves */
    struct fused_view views[KERN_FUSED_VIEWS], placed[KERN_FUSED_RESULTS];
    /* a large view that is read run by run: prefetched */
    bool fetches[KERN_FUSED_VIEWS];
    /* op whose machine code for rows runs after all reductions: it prefetches the next block of
     * large views, from which reductions would otherwise wait for memory; or NULL */
    const struct kern_fused_op *fetcher;
    bool fetches_next[KERN_FUSED_VIEWS];
    bool scatters[KERN_FUSED_RESULTS];
    bool in_pieces[KERN_FUSED_RESULTS]; /* scattered, run by run, by the op that makes it */
    bool streams[KERN_FUSED_RESULTS];
    bool any_panel;
    int64_t part_rows;                 /* rows of a task; 1 where rows are split */
    int64_t segments, segment_columns; /* per row */
    int64_t lane_tiles;                /* per row; 1 where it is cut into segments */
    size_t tile_bytes, view_tile_bytes, scratch_bytes;
    char *scratches;
    char *accumulators; /* accumulators of the segments */
    struct fused_reducer reducers[KERN_FUSED_REDUCERS];
};
/* Per-thread workspace. */
struct fused_scratch {
    bool ready; /* loop-invariant ops are done */
    char *tiles;
    struct fused_accumulators accumulators[KERN_FUSED_REDUCERS];
    struct fused_place places[KERN_FUSED_VIEWS], result_places[KERN_FUSED_RESULTS];
};

enum { FUSED_LINE = 64 }; /* bytes of a cache line */

void fused_loop_init(struct fused_loop *l, const struct kern_fused *f, const struct view *results,
                     const struct view *views);
/* Divides the workspace of kern_fused_workspace() among that many threads. */
void fused_divide_workspace(struct fused_loop *l, int worker_count, char *workspace);
struct fused_scratch *fused_scratch_of(const struct fused_loop *l, int worker);
/* Of values, views and results, by number; accumulators of the segments of a row. */
char *fused_tile(const struct fused_loop *l, const struct fused_scratch *s, int k);
char *fused_view_tile(const struct fused_loop *l, const struct fused_scratch *s, int k);
char *fused_result_tile(const struct fused_loop *l, const struct fused_scratch *s, int k);
char *fused_segment(const struct fused_loop *l, int reducer, int64_t row, int64_t segment);
/* Whether a loop takes long enough for several threads. */
bool fused_is_shared(const struct kern_fused *f, int64_t elements);

#endif
