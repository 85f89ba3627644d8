/*
 * fused_shape.c: the extent of fused loops and of their blocks (no kernel of its own). It depends
 * on the dimensions alone, not on the number of threads.
 */
#include "kern/fused.h"

enum {
    /* elements of a tile, where rows are reduced; more if a longer row must be whole */
    REDUCTION_TILE = 4 * KERN_TILE,
    /* of several rows, as ops on row values cost a call for each block; not where elements that are
     * only reduced are in a tile */
    ROWS_TILE = 16 * KERN_TILE,
    MANY_BLOCKS = 16,           /* so that each thread has some */
    TILE_BYTES = 8 * KERN_TILE, /* where nothing is reduced: a block costs as much as some bytes */
    LINE = 16,                  /* elements of f32 in a cache line */
    LONG_ROW = 64,              /* columns that are worth a call */
    LANES = 8,                  /* of a vector: the elements beside these are computed singly */
    FEW_ROWS = 8,
    WHOLE_LANES = 256,  /* of a block of all columns: memory is read in runs that are long enough */
    SPREAD = 4,         /* blocks of lanes, so that each thread has some */
    MANY_RESULTS = 256, /* results reduced in one block: see reducer_block() */
    MAX_BYTES = 1 << 18 /* of the longest row that is buffered during its reduction */
};

int kern_fused_lanes(int rank, const int64_t *dims, const bool *reduced)
{
    int count = 0;
    while (count < rank && !reduced[rank - 1 - count])
        count++;
    return count < rank && dims_elements(count, dims + rank - count) >= REDUCER_COLUMNS ? count : 0;
}

bool kern_fused_fits(int rank, const int64_t *dims, const bool *reduced, size_t width)
{
    const int lanes = kern_fused_lanes(rank, dims, reduced);
    int64_t elements = min_i64(dims_elements(lanes, dims + rank - lanes), WHOLE_LANES);
    for (int d = 0; d < rank; d++)
        elements *= reduced[d] ? dims[d] : 1;
    return elements > 0 && elements <= MAX_BYTES / (int64_t)width;
}

void fused_shape_order(const struct kern_fused *f, int *order)
{
    int count = 0, lanes = f->rank - f->lane_rank;
    for (int d = 0; d < lanes; d++)
        if (!f->reduced[d])
            order[count++] = d;
    for (int d = 0; d < lanes; d++)
        if (f->reduced[d])
            order[count++] = d;
    for (int d = lanes; d < f->rank; d++)
        order[count++] = d;
}

/* Lanes of a block, if `lanes` are divided evenly into blocks of about `wanted`. */
static int64_t divide_lanes(int64_t lanes, int64_t wanted)
{
    if (lanes <= wanted)
        return lanes;
    return min_i64(lanes, round_up(ratio_up(lanes, ratio_up(lanes, wanted)), LINE));
}

/* `whole`: a block has all columns. */
static void choose_lanes(struct fused_shape *s, bool whole, size_t width)
{
    const int64_t most =
        whole ? MAX_BYTES / (int64_t)width / s->columns : REDUCTION_TILE / REDUCER_ROWS;
    s->block_lanes = divide_lanes(s->lanes, most);
    if (s->rows < FEW_ROWS && s->rows * s->lanes >= MANY_RESULTS) /* enough for all threads */
        s->block_lanes = divide_lanes(s->lanes, min_i64(s->block_lanes, s->lanes / SPREAD));
    const int64_t columns = REDUCTION_TILE / s->block_lanes;
    s->block_columns = whole ? s->columns : min_i64(s->columns, columns - columns % REDUCER_ROWS);
}

/* Whether reductions read arrays in place, and all else is ops on row values. */
static bool has_row_tiles_only(const struct kern_fused *f)
{
    bool only = f->reducer_count > 0;
    for (int k = 0; k < f->op_count; k++)
        only &= f->ops[k].kind == KERN_FUSED_REDUCE || f->ops[k].rows || f->ops[k].invariant;
    return only;
}

/* Elements of a block of several rows. */
static int64_t choose_rows_tile(const struct fused_shape *s, const struct kern_fused *f,
                                int64_t tile)
{
    if (s->lanes > 1 || !(f->whole_rows || has_row_tiles_only(f)))
        return tile;
    return max_i64(tile, min_i64(ROWS_TILE, s->rows / MANY_BLOCKS * s->columns));
}

void fused_shape_init(struct fused_shape *s, const struct kern_fused *f, int64_t run)
{
    const int64_t all = dims_elements(f->rank, f->dims);
    const int64_t tile =
        f->reducer_count > 0 ? REDUCTION_TILE : max_i64(KERN_TILE, TILE_BYTES / (int64_t)f->width);
    s->lanes = dims_elements(f->lane_rank, f->dims + f->rank - f->lane_rank);
    s->columns = f->row_rank == f->rank ? run : 1;
    for (int d = 0; d < f->rank && f->row_rank < f->rank; d++)
        s->columns *= f->reduced[d] ? f->dims[d] : 1;
    s->rows = all == 0 ? 0 : all / (s->columns * s->lanes);
    s->block_rows = 1;
    if (s->rows == 0)
        return;
    s->by_rows = f->single && s->lanes == 1 && s->columns >= LONG_ROW * (1 + s->columns % LANES);
    const int64_t row = s->columns * s->lanes, rows_tile = choose_rows_tile(s, f, tile);
    if (row < rows_tile) {
        s->block_rows = min_i64(rows_tile / row, s->rows);
        s->block_columns = s->columns;
        s->block_lanes = s->lanes;
    } else if (f->lane_rank > 0) {
        choose_lanes(s, f->whole_rows, f->width);
    } else {
        s->block_columns = f->whole_rows ? s->columns : min_i64(s->columns, tile);
        s->block_lanes = 1;
    }
    s->tile = s->block_rows * s->block_columns * s->block_lanes;
    s->accumulators = s->block_rows * s->block_lanes;
}
