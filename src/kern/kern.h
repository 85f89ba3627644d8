/*
 * kern: numerics on strided tensors; independent of the IR. The only component that includes cblas,
 * lapacke, fftw3 or sleef.
 *
 * There are two layers. Tile kernels work on n packed elements; all elementwise work is composed of
 * them (whole arrays, fused loops, scalar code). The other kernels take views. Results never
 * overlap operands unless a comment allows it. `workers`, where a kernel takes one, is the thread
 * pool that shares the work; it may be NULL, and the bits are the same for any number of threads. A
 * kernel that needs memory whose size depends on the user's shapes returns false when the
 * allocation fails.
 *
 * kern/plain/ has one plain kernel per op, kern/ the fast ones; a program uses one set or the
 * other, through `struct kernels` below.
 */
#ifndef HLO_KERN_H
#define HLO_KERN_H

#include "type/type.h"

/* ---- elementwise.c, compare.c, convert.c: tile kernels ---- */

/* args[k] and out are packed arrays of n elements; out may be one of the args when the element
 * widths are equal. */
typedef void kern_tile_fn(void *out, const void *const *args, int64_t n);

/* The kernel of an elementwise opcode, named as in HLO text, for operands of type `t`; NULL when
 * the op is not defined for it. For select, `t` is the type of the branches, for clamp that of all
 * three. */
typedef kern_tile_fn *kern_find_elementwise_fn(const char *opcode, enum dtype t);
kern_find_elementwise_fn kern_find_elementwise;

enum kern_direction { KERN_EQ, KERN_NE, KERN_GE, KERN_GT, KERN_LE, KERN_LT };
kern_tile_fn *kern_find_compare(enum kern_direction d, bool total_order, enum dtype t);

/* spec: ConvertElementType. NULL only for conversions that HLO does not define. */
kern_tile_fn *kern_find_convert(enum dtype to, enum dtype from);

/* out[i] = fn(args[0][i], ...) over views of equal dims (an arg of rank 0 is repeated). `out` may
 * be the same view as an arg. */
enum { KERN_MAX_ARGS = 3, KERN_TILE = 1024 };
void kern_map_tiles(struct thread_pool *workers, kern_tile_fn *fn, const struct view *out,
                    int count, const struct view *args);

/* Recognized bodies f(accumulator, value). */
enum kern_combine {
    KERN_CALL,
    KERN_ADD,
    KERN_MULTIPLY,
    KERN_MAXIMUM,
    KERN_MINIMUM,
    KERN_AND,
    KERN_OR,
    KERN_XOR,
    KERN_TAKE_VALUE, /* returns the second argument */
    /* select of select-and-scatter: compare(first, second) */
    KERN_SELECT_GE,
    KERN_SELECT_GT,
    KERN_SELECT_LE,
    KERN_SELECT_LT
};
/* "add"; NULL for bodies that are not a single elementwise op */
const char *kern_combine_opcode(enum kern_combine c);

/*
 * The look-up functions of the tile kernels of one instruction set; NULL where there is no such
 * kernel. kern_find_... determine the instruction set of processor and environment at each call,
 * which takes longer than the look-up itself; code that plans many steps gets this table once.
 */
struct kern_tiles {
    kern_find_elementwise_fn *elementwise;
    /* `elementwise`, but with vectorized versions of functions that libm computes one by one: in
     * f32 with the same bits on every instruction set, most within 0.51 ulp (vector.h), some within
     * 0.8 (vector_single.h); in f64 within 1.0 (elementwise_sleef.c). */
    kern_find_elementwise_fn *vector;
    kern_tile_fn *(*compare)(enum kern_direction d, bool total_order, enum dtype t);
    kern_tile_fn *(*convert)(enum dtype to, enum dtype from);
    /* Rounds f32 numbers, results of operations on values of bf16 or f16, to such values, stored as
     * f32; with `opcode`, an operation on f32 followed by that. "convert" is for any f32. */
    kern_tile_fn *(*rounded)(const char *opcode, enum dtype t);
    kern_tile_fn *(*narrow)(enum dtype t); /* values of bf16 or f16, stored as f32, to that type */
};
const struct kern_tiles *kern_tiles(void);
/* Those of --plain, whose bits are the same on every machine (kern/plain/elementwise.c). */
const struct kern_tiles *kern_plain_tiles(void);

/* ---- fused.c: several steps in one pass ---- */

/*
 * A fused loop iterates over elements of `rank` dimensions. Reductions reduce some of them, the
 * columns; those they keep count the rows. Where the last dimensions are kept, and are long enough,
 * they are lanes: reductions go down their columns side by side. The order of the loop is rows,
 * columns, lanes. A value has an element for each point, or for each row and lane (a row value), or
 * is a single element that is repeated. A value that one op makes for another stays in a tile, in
 * the nearest caches, and is never stored as an array. Values are numbered: the views first, then
 * tiles, then results.
 */
enum {
    KERN_FUSED_VIEWS = 48,
    KERN_FUSED_ARRAYS = 32, /* views of more than one element */
    KERN_FUSED_OPS = 192,
    KERN_FUSED_REDUCERS = 8,
    KERN_FUSED_RESULTS = 8
};
enum kern_fused_kind {
    KERN_FUSED_APPLY,  /* fn */
    KERN_FUSED_REPEAT, /* repeats a row value along the elements of its row */
    /* reduces elements to a row value: args[0], starting with the one element args[1] */
    KERN_FUSED_REDUCE,
    KERN_FUSED_NATIVE /* several elementwise operations at once, as machine code */
};
/* A recognized reduction: types of its elements, accumulator and result. */
struct kern_reducer {
    enum kern_combine combine;
    enum dtype x, acc, out;
};
/* Machine code of several operations on n elements of tiles: the operands, then the results. */
typedef void kern_native_fn(void *const *tiles, int64_t n);
struct kern_fused_out {
    uint8_t value; /* a tile or a result */
    int8_t result; /* index of the result; -1: none */
    uint8_t width; /* bytes of an element */
};
struct kern_fused_op {
    union {
        kern_tile_fn *fn;
        kern_native_fn *native;
        const struct kern_reducer *reducer;
    };
    uint8_t kind;
    uint8_t arg_count, out_count; /* out_count: 1, except of machine code */
    const uint8_t *args;
    const uint8_t *steps; /* by operand: bytes of an element; 0: only one is read */
    const struct kern_fused_out *outs;
    bool rows;              /* makes a row value */
    bool invariant;         /* loop-invariant: depends on repeated elements alone */
    bool untiled;           /* invariant, and no op reads a tile of its element */
    bool late;              /* depends on a reduction */
    uint8_t reducer_number; /* number of the reduction */
    /* machine code for one long row, which reads one element of operands that repeat it along the
     * row, and its operands; NULL: there are none. There a repetition that nothing else reads is
     * `omitted`. */
    kern_native_fn *of_row;
    const uint8_t *row_args, *row_steps;
    bool omitted;
};
struct kern_fused_result {
    bool rows;
    size_t width;
    /* bit set of the views that it may overwrite, if they have its dims and no other result
     * overwrites them */
    uint64_t over;
};
struct kern_fused {
    int view_count, op_count, tile_count, result_count, reducer_count;
    int rank;
    int row_rank, lane_rank; /* dimensions that are kept; those of them, the last ones, of lanes */
    const int64_t *dims;     /* in logical order; none of them 1 */
    const bool *reduced;     /* by dimension: a column */
    const bool *single;      /* by view: `of_row` reads one element per row; NULL: of none */
    const bool *untiled;     /* by view: repeats one element, of which no op reads a tile */
    /* elements depend on reductions of their row, so a row is processed op by op */
    bool whole_rows;
    size_t width; /* bytes of the widest element in a tile */
    int64_t cost; /* estimated picoseconds per element, at least 1 */
    const struct kern_fused_op *ops;
    const struct kern_fused_result *results;
};
/* Whether kern_reduce reduces elements of type `x` by an accumulator of type `acc` without calling
 * a body. */
bool kern_can_reduce(enum kern_combine combine, enum dtype x, enum dtype acc);
/* The number of trailing dimensions that a fused loop with these reductions runs as lanes. */
int kern_fused_lanes(int rank, const int64_t *dims, const bool *reduced);
/* Whether the columns of a row, of elements of `width` bytes, stay in the caches from one reduction
 * to the next op. */
bool kern_fused_fits(int rank, const int64_t *dims, const bool *reduced, size_t width);
/* Size in bytes of the workspace `workspace` for the tiles of that many threads; it must be aligned
 * to a cache line. */
size_t kern_fused_workspace(const struct kern_fused *f, int worker_count);
/* Views have the dims of elements or of rows (or size 1 in their place), or are a single element.
 * `results` are packed. */
void kern_run_fused(struct thread_pool *workers, const struct kern_fused *f,
                    const struct view *results, const struct view *views, void *workspace);

/* spec: ReducePrecision (grammar/values.md 8.1) */
typedef void kern_reduce_precision_fn(struct thread_pool *workers, const struct view *out,
                                      const struct view *x, int exponent_bits, int mantissa_bits);
/* spec: stochastic-convert (grammar/values.md 8.2) */
typedef void kern_stochastic_convert_fn(struct thread_pool *workers, const struct view *out,
                                        const struct view *x, const struct view *random);
/* spec: BitcastConvertType. Component 0 of a wider element is its low end. */
typedef void kern_bitcast_convert_fn(struct thread_pool *workers, const struct view *out,
                                     const struct view *x);

/* ---- shape.c: moving elements; bits are kept ---- */

typedef void kern_copy_fn(struct thread_pool *workers, const struct view *out,
                          const struct view *x); /* equal dims and type, any strides */
void kern_fill(struct thread_pool *workers, const struct view *out, const void *element);
/* spec: Iota */
typedef void kern_iota_fn(struct thread_pool *workers, const struct view *out, int dimension);
struct kern_pad_dim {
    int64_t low, high, interior;
};
/* spec: Pad */
typedef void kern_pad_fn(struct thread_pool *workers, const struct view *out, const struct view *x,
                         const void *value, const struct kern_pad_dim *dims);

/* Bytes from the first element of a view that is not empty to the end of those after it. */
int64_t kern_view_extent(const struct view *x);

/* Views of views, without copying: row-major `dims` over the same bytes when x is dense (else
 * false); of some dimensions, in any order; broadcast along new dimensions; a strided window;
 * reversed dimensions. */
bool kern_view_reshape(struct view *out, const struct view *x, int rank, const int64_t *dims);
void kern_view_pick(struct view *out, const struct view *x, int count, const int64_t *dimensions);
void kern_view_broadcast(struct view *out, const struct view *x, int rank, const int64_t *dims,
                         const int64_t *dimensions);
void kern_view_slice(struct view *out, const struct view *x, const int64_t *start,
                     const int64_t *limit, const int64_t *stride);
void kern_view_reverse(struct view *out, const struct view *x, const int64_t *dimensions,
                       int count);

/* ---- computations applied to elements ---- */

/* A computation over scalars, called with the addresses of its arguments and of its results (packed
 * storage of their types). If it returns false, the kernel stops and returns false. */
typedef bool kern_call_fn(void *context, const void *const *args, void *const *results);

/* ---- lane_code.c ---- */

/*
 * A computation over scalars for up to KERN_LANES elements at a time, as operations on tiles:
 * packed arrays with one element for each lane. Tiles are numbered: arguments, results, constants
 * (of KERN_LANES elements), temporary tiles. It may run in several threads, each with its own
 * workspace.
 */
enum { KERN_LANES = 256, KERN_LANE_TILES = 256 };
struct kern_lane_op {
    kern_tile_fn *fn;                              /* of `args` to `out`; or NULL: */
    void (*native)(void *const *tiles, int64_t n); /* machine code; or NULL: */
    uint8_t exponent, mantissa;                    /* reduce-precision, unless 0 and 0: */
    enum dtype type;                               /* a copy of elements of this type */
    uint8_t out, args[KERN_MAX_ARGS];
};
struct kern_lane_code {
    int arg_count, result_count, constant_count, tile_count, op_count;
    bool in_place; /* results may overwrite arguments, each element those of its lane */
    size_t workspace, tile_bytes; /* bytes of all temporary tiles, and of one */
    const void *const *constants;
    const struct kern_lane_op *ops;
};
/* Computes n <= KERN_LANES elements. Results must not overlap arguments, except `in_place`. */
void kern_run_lanes(const struct kern_lane_code *c, void *workspace, const void *const *args,
                    void *const *results, int64_t n);

/* How the current value compares to the next element's: as numbers, or because one or both are
 * NaN. */
enum kern_relation {
    KERN_BELOW,
    KERN_EQUAL,
    KERN_ABOVE,
    KERN_SO_FAR_NAN,
    KERN_ELEMENT_NAN,
    KERN_BOTH_NAN,
    KERN_RELATIONS
};
enum { KERN_TAKES_VALUE = 1, KERN_TAKES_INDEX = 2 };
/* A body of two operands, values and integer indices, that keeps the greater (or lesser) value with
 * its index, as a table: what it takes from the next element, by how the values compare and whether
 * the current index is less than, equal to or greater than the element's. A better value brings its
 * index; nothing is taken from a worse one. */
struct kern_pick {
    bool greatest;
    uint8_t takes[KERN_RELATIONS][3];
};
struct kern_body {
    enum kern_combine combine;
    kern_call_fn *call; /* for KERN_CALL, and as fallback for the others */
    void *context;
    const struct kern_lane_code *lanes; /* `call` for many elements; NULL: not available */
    /* `call` for many elements, one after the other, each at a byte offset; or NULL. Tiles: the
     * arguments, which the results replace from the first on, then an array of offsets for each */
    kern_native_fn *indexed;
    const struct kern_pick *pick; /* table of the body, if it is of that kind; else NULL */
};

/* spec: Reduce (grammar/values.md 12.1): accumulator first, row-major over the reduced dims,
 * starting from init. n operands of equal dims; out[k] has the kept dims; init[k] is one element of
 * accumulator type. acc[k]: the element type that the body computes in (operands are converted to
 * it, results from it). */
typedef bool kern_reduce_fn(struct thread_pool *workers, int n, const struct view *out,
                            const struct view *x, const void *const *init, const enum dtype *acc,
                            const bool *reduced, const struct kern_body *body);

/* The variant of the fast kernel, as text; reads no element. */
const char *kern_reduce_choice(int n, const struct view *out, const struct view *x,
                               const enum dtype *acc, const bool *reduced,
                               const struct kern_body *body);

/* How the fast kernel combines the elements of each result, for code that computes the same bits.
 * `work`: the type of all steps. */
enum kern_fold {
    KERN_FOLD_OTHER,
    KERN_FOLD_IN_ORDER,  /* sequentially, starting from init */
    KERN_FOLD_ANY_ORDER, /* independent of the order */
    /* sequentially, starting from init, by the body, whose values are rounded to the types `acc` */
    KERN_FOLD_BODY,
    /* element i belongs to lane i % KERN_FOLD_LANES, which starts from the identity; then halves of
     * the lanes are combined until one is left, which is combined with init */
    KERN_FOLD_IN_LANES
};
enum { KERN_FOLD_LANES = 32 };
enum kern_fold kern_reduce_fold(int n, const struct view *out, const struct view *x,
                                const enum dtype *acc, const bool *reduced,
                                const struct kern_body *body, enum dtype *work);

struct kern_window_dim {
    int64_t size, stride, pad_low, pad_high, base_dilation, window_dilation;
    bool reversal;
};
/* spec: ReduceWindow (grammar/values.md 12.2) */
typedef bool kern_reduce_window_fn(struct thread_pool *workers, int n, const struct view *out,
                                   const struct view *x, const void *const *init,
                                   const enum dtype *acc, const struct kern_window_dim *window,
                                   const struct kern_body *body);
/* spec: SelectAndScatter (grammar/values.md 12.3). `select` returns a pred. */
typedef bool kern_select_and_scatter_fn(struct thread_pool *workers, const struct view *out,
                                        const struct view *x, const struct view *source,
                                        const void *init, const struct kern_window_dim *window,
                                        const struct kern_body *select,
                                        const struct kern_body *scatter);

/* ---- dot.c, conv.c ---- */

struct kern_dot_dims {
    int batch_count, contracting_count;
    int64_t lhs_batch[VIEW_MAX_RANK], rhs_batch[VIEW_MAX_RANK];
    int64_t lhs_contracting[VIEW_MAX_RANK], rhs_contracting[VIEW_MAX_RANK];
};
/* spec: DotGeneral (grammar/values.md 13.1), any element types. False: out of memory. */
typedef bool kern_dot_fn(struct thread_pool *workers, const struct view *out,
                         const struct view *lhs, const struct view *rhs,
                         const struct kern_dot_dims *dims);

/* Products of a single term, of f32 or f64, with at least as many elements are a multiplication and
 * an addition to 0, each rounded: plans replace them by these. */
enum { KERN_SINGLE_TERM = 256 };

/* Whether the fast kernel computes each sum from 0 on, term by term, products and sums rounded to
 * the type of the operands; these have a rank of 1 or 2. */
bool kern_dot_is_sequential(const struct view *out, const struct view *lhs, const struct view *rhs,
                            const struct kern_dot_dims *dims);
/* A product that the fast kernel computes without workspace on one thread, prepared for any number
 * of computations with operands at other addresses. Returns NULL for other products. */
struct kern_ready_dot;
const struct kern_ready_dot *kern_make_ready_dot(struct arena *a, const struct view *out,
                                                 const struct view *lhs, const struct view *rhs,
                                                 const struct kern_dot_dims *dims);
void kern_run_ready_dot(const struct kern_ready_dot *d, char *out, const char *lhs,
                        const char *rhs);
/* A reduction by a recognized combiner, prepared likewise; NULL for others, and for those that need
 * workspace. */
struct kern_ready_reduce;
const struct kern_ready_reduce *kern_make_ready_reduce(struct arena *a, int n,
                                                       const struct view *out, const struct view *x,
                                                       const enum dtype *acc, const bool *reduced,
                                                       const struct kern_body *body);
void kern_run_ready_reduce(const struct kern_ready_reduce *ready, char *out, const char *x,
                           const void *init);
/* The variant of the fast kernel, as text; reads no element. */
const char *kern_dot_choice(const struct view *out, const struct view *lhs, const struct view *rhs,
                            const struct kern_dot_dims *dims);

/*
 * A dot whose ragged dimension of lhs is divided into groups, consecutive from its start; positions
 * after the last group belong to no group. By the kind of the ragged dimension:
 *
 *   free         rhs has one matrix per group, along `rhs_group`; rows of no group give zeros
 *   contracting  the result has one sum per group, along a new first dimension
 *   batch        products of no group are zeros
 */
enum kern_ragged { KERN_RAGGED_FREE, KERN_RAGGED_CONTRACTING, KERN_RAGGED_BATCH };
struct kern_ragged_dims {
    struct kern_dot_dims dot;
    enum kern_ragged mode;
    int64_t lhs_ragged, rhs_group;
    /* the dimensions of lhs that correspond to those of `sizes` before the last */
    int64_t prefix[VIEW_MAX_RANK];
};
/* spec: RaggedDot (grammar/values.md 13.2). lhs, rhs and out have one type; sizes, of s64, has the
 * sizes of the groups along its last dimension. False: out of memory. */
typedef bool kern_ragged_dot_fn(struct thread_pool *workers, const struct view *out,
                                const struct view *lhs, const struct view *rhs,
                                const struct view *sizes, const struct kern_ragged_dims *dims);
/* spec: ScaledDot (grammar/values.md 13.3). All have one type. scale[i] has the rank of operand i,
 * and each of its dimensions divides the operand's; NULL: no scale. False: out of memory. */
typedef bool kern_scaled_dot_fn(struct thread_pool *workers, const struct view *out,
                                const struct view *lhs, const struct view *rhs,
                                const struct view *const scale[2],
                                const struct kern_dot_dims *dims);

struct kern_conv_dims {
    int spatial_count;
    int64_t input_batch, input_feature, kernel_input_feature, kernel_output_feature, output_batch,
        output_feature;
    int64_t input_spatial[VIEW_MAX_RANK], kernel_spatial[VIEW_MAX_RANK],
        output_spatial[VIEW_MAX_RANK];
    struct kern_window_dim window[VIEW_MAX_RANK];
    int64_t feature_groups, batch_groups;
};
/* spec: ConvWithGeneralPadding (grammar/values.md 13.4). False: out of memory. */
typedef bool kern_conv_fn(struct thread_pool *workers, const struct view *out,
                          const struct view *lhs, const struct view *rhs,
                          const struct kern_conv_dims *dims);

/* The variant of the kernel, as text. */
const char *kern_conv_choice(const struct view *out, const struct view *lhs, const struct view *rhs,
                             const struct kern_conv_dims *dims);

/* ---- gather.c ---- */

struct kern_gather_dims { /* lists as in HLO text, each with its length */
    int offset_count, collapsed_count, map_count, batching_count;
    int64_t offset_dims[VIEW_MAX_RANK], collapsed[VIEW_MAX_RANK], start_index_map[VIEW_MAX_RANK];
    int64_t operand_batching[VIEW_MAX_RANK], indices_batching[VIEW_MAX_RANK];
    int64_t index_vector_dim;
    int64_t slice_sizes[VIEW_MAX_RANK]; /* gather only */
    /* 0: one array of index tuples. Else `indices` are this many arrays, one for each component,
     * with size 1 in index_vector_dim; not for n > 1, nor for bodies that are called. */
    int component_count;
};
/* spec: Gather (grammar/values.md 11.3) */
typedef void kern_gather_fn(struct thread_pool *workers, const struct view *out,
                            const struct view *operand, const struct view *indices,
                            const struct kern_gather_dims *dims);
/* spec: Scatter (grammar/values.md 11.4). out[k] initially holds the operands and is updated in
 * place. For a scatter, offset_dims is update_window_dims and collapsed is inserted_window_dims. */
typedef bool kern_scatter_fn(struct thread_pool *workers, int n, const struct view *out,
                             const struct view *indices, const struct view *updates,
                             const struct kern_gather_dims *dims, const struct kern_body *body);
/* window[d]: size of a scatter's windows along dimension d of the array, which has this rank; from
 * the dimensions of the updates. */
void kern_update_window(int rank, const int64_t *updates, const struct kern_gather_dims *dims,
                        int64_t *window);
/* One integer element of any integer type, as a signed number (u64 above 2^63-1: INT64_MAX). */
int64_t kern_load_index(enum dtype t, const void *p);

/* ---- sort.c ---- */

/* spec: Sort (grammar/values.md 12.5): stable. The arguments of the comparator are a0, b0, a1, b1,
 * ...; it returns a pred. KERN_ORDER_LESS / GREATER: a plain comparison of operand `key`, or of the
 * keys that make_keys computes from the operands. False: out of memory, or `less` failed. */
enum kern_order { KERN_ORDER_CALL, KERN_ORDER_LESS, KERN_ORDER_GREATER };
enum { KERN_SORT_KEYS = 8 };
struct kern_sort_key {
    enum dtype type;
    bool total_order, descending;
};
struct kern_comparator {
    enum kern_order order;
    int key;
    bool total_order;
    kern_call_fn *call;
    void *context;
    const struct kern_lane_code *lanes; /* `call` for many elements; NULL: not available */
    /* NULL, or computes the keys of elements, the most significant one first. Takes arguments as
     * `call` does, but reads only the a's or only the b's. */
    const struct kern_lane_code *make_keys;
    struct kern_sort_key keys[KERN_SORT_KEYS];
};
typedef bool kern_sort_fn(struct thread_pool *workers, int n, const struct view *out,
                          const struct view *x, int dimension, const struct kern_comparator *less);
/* The variant of the fast kernel, as text, and the size of its workspace; reads no element. */
const char *kern_sort_choice(struct thread_pool *workers, int n, const struct view *out,
                             const struct view *x, int dimension,
                             const struct kern_comparator *less, size_t *workspace);
/* spec: TopK (grammar/values.md 12.6) */
typedef bool kern_topk_fn(struct thread_pool *workers, const struct view *values,
                          const struct view *indices, const struct view *x, int64_t k,
                          bool largest);

/* ---- rng.c, plain/rng.c: `out` is dense ---- */

/* spec: RngBitGenerator (grammar/values.md 14.1): state of two u64, or three for philox; `next`
 * likewise. */
enum kern_rng { KERN_THREE_FRY, KERN_PHILOX };
typedef void kern_rng_bits_fn(struct thread_pool *workers, const struct view *out,
                              enum kern_rng algorithm, const uint64_t *state, int words,
                              uint64_t *next);
/* spec: RngUniform, RngNormal (grammar/values.md 14.3): a and b are elements of out's type.
 * state[0]: count of numbers drawn, which is advanced; state[1]: the key of the stream. */
typedef void kern_rng_numbers_fn(struct thread_pool *workers, const struct view *out, const void *a,
                                 const void *b, bool is_normal, uint64_t *state);

/* ---- linalg.c: matrices in the last two dimensions; false: out of memory ---- */

/* spec: Cholesky (grammar/values.md 13.5) */
typedef bool kern_cholesky_fn(struct thread_pool *workers, const struct view *out,
                              const struct view *a, bool lower);
struct kern_triangular {
    bool left_side, lower, unit_diagonal, transpose, conjugate;
};
/* spec: TriangularSolve (grammar/values.md 13.6) */
typedef bool kern_triangular_solve_fn(struct thread_pool *workers, const struct view *out,
                                      const struct view *a, const struct view *b,
                                      const struct kern_triangular *how);

/* ---- lapack.c ---- */

/* An array of a LAPACK routine: matrices (rank 2), vectors (1) or scalars (0), one for each
 * position of the leading batch dimensions; `shared`: one for all. Its initial contents are `in`
 * (NULL: zeros), its final contents are stored to `out` (NULL: discarded); if both are NULL, the
 * routine does not use it. */
struct kern_lapack_array {
    const struct view *in, *out;
    int rank;
    bool shared;
};
enum { KERN_LAPACK_ARRAYS = 8, KERN_LAPACK_OPTIONS = 4 };
/* By its name without the type letter: "potrf"; NULL: none. */
const struct kern_lapack_routine *kern_find_lapack(const char *name);
struct kern_lapack {
    struct thread_pool *workers; /* items of the batch are distributed among them; may be NULL */
    const struct kern_lapack_routine *routine;
    enum dtype type;
    bool plain; /* do not use the library */
    int count;
    struct kern_lapack_array arrays[KERN_LAPACK_ARRAYS]; /* with consistent dimensions */
    int info; /* index of the array that receives LAPACK's info; -1: none */
    int64_t options[KERN_LAPACK_OPTIONS]; /* letters and numbers */
    int batch_rank;
    const int64_t *batch;
};
/* spec: CustomCall. lapack_factor.c, lapack_spectral.c and householder.c document the arrays and
 * options of each routine. False: out of memory. */
bool kern_lapack(const struct kern_lapack *call);

/* ---- fft.c ---- */

/* spec: Fft (grammar/values.md 13.7) of the last `count` dimensions. Half a spectrum, the result of
 * KERN_RFFT and the operand of KERN_IRFFT, has n / 2 + 1 elements in the last dimension where the
 * other side has n; else dimensions are the same. `plans` are kept from call to call; NULL: none
 * are. False: out of memory. */
enum kern_fft { KERN_FFT, KERN_IFFT, KERN_RFFT, KERN_IRFFT };
struct kern_fft_plans {
    struct fft_plan *first; /* NULL at first */
    uint64_t generation;    /* oom_generation() when their owner was made */
};
typedef bool kern_fft_fn(struct thread_pool *workers, struct kern_fft_plans *plans,
                         const struct view *out, const struct view *x, enum kern_fft type,
                         int count);
void kern_fft_plans_free(struct kern_fft_plans *plans);
/* How the fast kernel does it, in words, and how much scratch memory it takes; looks at no element.
 */
const char *kern_fft_choice(struct thread_pool *workers, const struct view *out,
                            const struct view *x, enum kern_fft type, int count, size_t *workspace);

/* ---- table.c: which kernels a program runs ---- */

/* A kernel for every op that is not elementwise. kern_plain has the plain ones, kern_fast the fast
 * ones where they exist. Rearrangements are views, which plain runs copy. */
struct kernels {
#define KERNEL(name) kern_##name##_fn *name;
#include "kern/kernel.def"
};
extern const struct kernels kern_fast, kern_plain;

/* The fast kernels. */
#define KERNEL(name) kern_##name##_fn kern_##name;
#include "kern/kernel.def"
struct c128 kern_root_of_unity(int64_t k, int64_t n); /* exp(-2 pi i k / n), 0 <= k < n */

/* ---- table.c ---- */

/* Appends lines of text: the instruction set in use, the libraries and their versions. */
void kern_about(struct buf *out);

#endif
