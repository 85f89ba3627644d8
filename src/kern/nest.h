/*
 * nest.h: shared by the structured kernels: loop nests over several views, strided runs of
 * elements, elements read as another type, copies that are planned once and run often. Private to
 * kern.
 */
#ifndef HLO_KERN_NEST_H
#define HLO_KERN_NEST_H

#include "kern/kern.h"

/* Marks a loop that is compiled for several instruction sets, of which the loader selects the best
 * one at program start (function multiversioning). The results are the same: nothing is contracted
 * or reordered. Only for static functions: clang 14 gives others a symbol that no file refers to.
 * Disabled with sanitizers, which are not initialized at that time.
 *
 * There are also sets of kernels (tile.h, gemm_set.h, matvec.h): files compiled once per
 * instruction set, with a table of the functions of each set. That pays off where a file consists
 * of such loops, where an instruction set has another number of lanes or instructions of its own,
 * and where kernels are looked up by name. Loops marked here are one or two in a file with another
 * subject; a set would need a file and a table row for each. The price: the loader selects before
 * there is an environment, so HLO_ISA (cpu.h) does not affect them. Since the bits are the same,
 * this is only visible in measurements. */
/* The loader selects: glibc, not musl. That is before relocation, when sanitizers are not
 * initialized. */
#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KERN_SANITIZED
#endif
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define KERN_SANITIZED
#endif
#if defined __x86_64__ && defined __GLIBC__ && !defined KERN_SANITIZED
#define KERN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KERN_CLONES
#endif

/* Placed before a loop of at most eight iterations, constant after inlining, whose variables should
 * stay in registers. Sanitizers check every access; as there are more registers with AVX-512, such
 * loops would take minutes to compile. */
#if defined __clang__ && defined KERN_SANITIZED && defined __AVX512F__
#define KERN_UNROLL _Pragma("clang loop unroll(disable)")
#elif defined __clang__
#define KERN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KERN_UNROLL _Pragma("GCC unroll 8")
#endif

/* Storage is copied as plain words, whatever its element type. */
typedef uint8_t kern_w1;
typedef uint16_t __attribute__((may_alias)) kern_w2;
typedef uint32_t __attribute__((may_alias)) kern_w4;
typedef uint64_t __attribute__((may_alias)) kern_w8;
struct kern_w16 {
    kern_w8 half[2];
};

/* Storage for one element of any type. */
union kern_element {
    char bytes[16];
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    int32_t s32;
    int64_t s64;
    float f32;
    double f64;
    struct c128 c128;
};

/* ---- nest.c: loops over views of equal dims ---- */

enum { NEST_MAX_VIEWS = 13 };

/* A loop nest over `count` pointers that advance together; row-major. */
struct nest {
    int rank, count;
    int64_t dims[VIEW_MAX_RANK];
    int64_t strides[NEST_MAX_VIEWS][VIEW_MAX_RANK];
};

void nest_init(struct nest *n, int count);
void nest_add(struct nest *n, int64_t dim, const int64_t *strides); /* a new innermost dimension */
/* The same, but where the magnitudes of the strides of view `by` decrease from the outside in. */
void nest_add_sorted(struct nest *n, int64_t dim, const int64_t *strides, int by);
/* Moves dimension `from` to place `to`. */
void nest_move(struct nest *n, int from, int to);
/* Merges adjacent dimensions where the strides of all views allow it and drops those of size 1; the
 * order is kept. */
void nest_merge(struct nest *n);
int64_t nest_points(const struct nest *n);

/* A position in the outer `rank` dimensions of a nest. */
struct nest_walk {
    const struct nest *nest;
    int rank;
    int64_t index[VIEW_MAX_RANK];
    char *at[NEST_MAX_VIEWS];
};
void nest_start(struct nest_walk *w, const struct nest *n, int rank, char *const *at);
void nest_start_from(struct nest_walk *w, const struct nest *n, int rank, char *const *at,
                     int64_t position);
bool nest_step(
    struct nest_walk *w); /* false after the last position (the walk is then at the first again) */

/* ---- runs.c ---- */

/* Copies `count` runs of `bytes` bytes, which start `out_stride` and `x_stride` bytes apart. */
void copy_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
               int64_t bytes);
/* Copies `count` runs of n elements, each from its last element, at x, to its first. */
void reverse_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
                  size_t width, int64_t n);
/* The first of n elements that are `step` elements apart, of 1 to 16 bytes: as many as vectors
 * take. Returns their number, which may be 0. */
int64_t pack_elements(char *out, const char *x, int64_t step, size_t width, int64_t n);
/* Fills `count` runs of n elements, each with one element. */
void repeat_runs(char *out, int64_t out_stride, const char *x, int64_t x_stride, int64_t count,
                 size_t width, int64_t n);

/* ---- copy.c ---- */

/* Writes `count` rows of n elements, `out_stride` bytes apart: one of each contiguous column x[k].
 */
void copy_from_columns(char *out, int64_t out_stride, const char *const *x, int64_t count,
                       int64_t n, size_t width);
/* n elements of `width` bytes that are `stride` bytes apart, to and from packed storage. */
void kern_pack(void *dst, const char *src, int64_t stride, size_t width, int64_t n);
void kern_unpack(char *dst, int64_t stride, const void *src, size_t width, int64_t n);
/* kern_pack() for rows of n elements each, that are `row_stride` bytes apart and consecutive in the
 * packed storage. */
void kern_pack_rows(void *dst, const char *src, int64_t rows, int64_t row_stride, int64_t stride,
                    size_t width, int64_t n);
void kern_unpack_rows(char *dst, int64_t rows, int64_t row_stride, int64_t stride, const void *src,
                      size_t width, int64_t n);

/* Copies elements of `width` bytes between two arrays of two dimensions with any strides. */
void kern_copy_block(char *out, const char *x, const int64_t *dims, const int64_t *out_strides,
                     const int64_t *x_strides, size_t width);

/* A copy between views of given dims and strides, planned once, run at many addresses. */
typedef void copy_block_fn(char *out, const char *x, const int64_t *dims,
                           const int64_t *out_strides, const int64_t *x_strides);
struct copy_plan {
    bool empty;
    struct nest nest; /* the last `block_rank` dimensions, 2 or 3, go to `block` */
    int block_rank;
    int64_t out_shift, x_shift; /* to the first element after reversing dimensions */
    copy_block_fn *block;
    bool streams; /* non-temporal stores */
};
void copy_plan_init(struct copy_plan *p, const struct view *out, const struct view *x);
/* The copies of this plan together write `whole`: if that is large they use non-temporal stores. */
void copy_plan_stream(struct copy_plan *p, const struct view *whole);
void copy_plan_run(const struct copy_plan *p, char *out, const char *x);
/* The whole copy that was planned, split among the threads of the pool. */
void copy_plan_share(struct thread_pool *workers, const struct copy_plan *p, const struct view *out,
                     const char *x);
/* called after the last run: makes the stores visible to other threads */
void copy_plan_end(const struct copy_plan *p);

/* Copies n bytes with non-temporal stores where possible; and ends a series of such copies. */
void copy_stream(char *out, const char *x, int64_t n);
void copy_stream_end(void);
/* bytes from which on results are written with non-temporal stores */
enum { COPY_STREAM_FROM = 32 << 20 };

/* ---- bits.c: one element as a bit pattern ---- */

uint64_t bits_load(enum dtype t, const void *p); /* zero-extended */
void bits_store(enum dtype t, void *p,
                uint64_t w); /* as the type is stored: sign-extended, pred 0 or 1 */

/* ---- load.c: elements as another type ---- */

struct loader {
    size_t from, to;       /* widths */
    kern_tile_fn *convert; /* NULL: the types are the same */
};
/* False when HLO has no such conversion. */
bool loader_init(struct loader *l, enum dtype to, enum dtype from);
/* loader_init() with given tables, for several loaders. */
bool loader_init_by(const struct kern_tiles *tiles, struct loader *l, enum dtype to,
                    enum dtype from);
/* n <= KERN_TILE elements as packed storage of the target type: in `scratch` (KERN_TILE elements of
 * 16 bytes), or in place. */
const void *loader_read(const struct loader *l, void *scratch, const char *src, int64_t stride,
                        int64_t n);
void loader_write(const struct loader *l, char *dst, int64_t stride, const void *src, int64_t n);
/* Converts whole views of equal dims. */
void kern_convert_view(struct thread_pool *workers, const struct view *out, const struct view *x);

enum { LOADER_BYTES = KERN_TILE * 16 };

/* ---- reduce.c ---- */

/* kern_reduce of one operand by a recognized combiner, in the given work type. False: out of
 * memory. */
/* Fills n results with their initial values: reductions of nothing. */
void fill_with_init(struct thread_pool *workers, int n, const struct view *out,
                    const void *const *init, const enum dtype *acc);
bool reduce_dimensions(struct thread_pool *workers, const struct view *out, const struct view *x,
                       const void *init, enum dtype acc, enum dtype work, const bool *reduced,
                       enum kern_combine combine);

/* ---- window_rows.c: reduce by any body with code on tiles, many results at once ---- */

bool lanes_apply(const struct view *out, const struct kern_body *body);
bool reduce_by_lanes(struct thread_pool *workers, int n, const struct view *out,
                     const struct view *x, const void *const *init, const enum dtype *acc,
                     const bool *reduced, const struct kern_body *body);

/* ---- reduce_pick.c: bodies with a `pick` ---- */

bool pick_applies(int n, const struct view *out, const struct view *x, const enum dtype *acc,
                  const bool *reduced, const struct kern_body *body);
void reduce_by_pick(struct thread_pool *workers, const struct view *out, const struct view *x,
                    const void *const *init, const bool *reduced, const struct kern_pick *pick);

/* ---- body.c: recognized combiners ---- */

/* The work type of a recognized reduction of elements of type `t` (grammar/values.md 12.1). */
enum dtype combine_work_type(enum kern_combine c, enum dtype t);
/* combine_work_type() for reduce-window, whose sums run in f32 as far as that is wide enough. */
enum dtype combine_window_type(enum kern_combine c, enum dtype t);
/* Whether a reduction of elements of type `t`, run in `work`, is independent of the order (double
 * sums of narrower floats count). */
bool combine_order_free(enum kern_combine c, enum dtype t, enum dtype work);
/* The element e with f(a, e) = a for every a, in type `t`; false if none. */
bool combine_identity(enum kern_combine c, enum dtype t, void *element);

#endif
