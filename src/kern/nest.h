/*
 * nest.h: what the structured kernels share: loops over several views at once, runs of elements
 * with a stride, elements read as another type, copies that are planned once and run often. Private
 * to kern.
 */
#ifndef HLO_KERN_NEST_H
#define HLO_KERN_NEST_H

#include "kern/kern.h"

/* Marks a loop body that is compiled for several instruction sets, of which the best is chosen when
 * the program starts. The results are the same: nothing is contracted or reordered. Not with
 * sanitizers, which aren't set up yet at that time.
 *
 * There are also sets of kernels (tile.h, gemm_set.h, matvec.h): files compiled once for each
 * instruction set, with a table of what each set has. That pays where a file is nothing but such
 * loops, where an instruction set has another number of lanes or instructions of its own, and where
 * kernels are looked up by name anyway. Loops marked here are one or two in a file that is
 * otherwise about something else; a set would need a file and a table row for each. The price: the
 * loader chooses before there is an environment, so HLO_ISA (cpu.h) does not affect them. Since the
 * bits are the same, only measurements show it. */
#if defined __has_feature /* what chooses runs before a library is relocated: a sanitizer has no   \
                             place in it */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KERN_SANITIZED
#endif
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define KERN_SANITIZED
#endif
#if defined __x86_64__ && defined __linux__ && !defined KERN_SANITIZED
#define KERN_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KERN_CLONES
#endif

/* Put before a loop of at most eight iterations, known once it is inlined, whose variables should
 * stay in registers. */
#if defined __clang__
#define KERN_UNROLL _Pragma("clang loop unroll(full)")
#else
#define KERN_UNROLL _Pragma("GCC unroll 8")
#endif

/* Storage is moved as plain words, whatever its element type. */
typedef uint8_t kern_w1;
typedef uint16_t __attribute__((may_alias)) kern_w2;
typedef uint32_t __attribute__((may_alias)) kern_w4;
typedef uint64_t __attribute__((may_alias)) kern_w8;
struct kern_w16 {
    kern_w8 half[2];
};

/* Room for one element of any type. */
union kern_cell {
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

enum { NEST_MAX_VIEWS = 1 + KERN_FUSED_VIEWS };

/* A loop nest over `count` pointers that step together; row-major. */
struct nest {
    int rank, count;
    int64_t dims[VIEW_MAX_RANK];
    int64_t strides[NEST_MAX_VIEWS][VIEW_MAX_RANK];
};

void nest_init(struct nest *n, int count);
void nest_add(struct nest *n, int64_t dim, const int64_t *strides); /* a new innermost dimension */
/* Joins neighbouring dimensions that step alike and drops those of size 1; the order is kept. */
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
    struct nest_walk *w); /* false after the last position (which is then the first again) */

/* ---- copy.c ---- */

/* n elements of `width` bytes that lie `stride` bytes apart, to and from packed storage. */
void kern_pack(void *dst, const char *src, int64_t stride, size_t width, int64_t n);
void kern_unpack(char *dst, int64_t stride, const void *src, size_t width, int64_t n);
/* The same for rows of n elements each, that lie `row_stride` bytes apart and follow each other in
 * the packed storage. */
void kern_pack_rows(void *dst, const char *src, int64_t rows, int64_t row_stride, int64_t stride,
                    size_t width, int64_t n);
void kern_unpack_rows(char *dst, int64_t rows, int64_t row_stride, int64_t stride, const void *src,
                      size_t width, int64_t n);

/* A copy between views of given dims and strides, planned once, run at many addresses. */
typedef void copy_block_fn(char *out, const char *x, const int64_t *dims,
                           const int64_t *out_strides, const int64_t *x_strides);
struct copy_plan {
    bool empty;
    struct nest nest;           /* outer dimensions; the last two go to `block` */
    int64_t out_shift, x_shift; /* to the first element after turning dimensions round */
    copy_block_fn *block;
    bool streams; /* past the caches */
};
void copy_plan_init(struct copy_plan *p, const struct view *out, const struct view *x);
/* The copies of this plan together make up `whole`: if that is large they bypass the caches. */
void copy_plan_stream(struct copy_plan *p, const struct view *whole);
void copy_plan_run(const struct copy_plan *p, char *out, const char *x);
/* The whole copy that was planned, shared by a team. */
void copy_plan_share(struct team *team, const struct copy_plan *p, const struct view *out,
                     const char *x);
void copy_plan_end(const struct copy_plan *p); /* called after the last run: what was written is now
                                                  visible to others */

/* Copies n bytes, bypassing the caches where possible; and ends a series of such copies. */
void copy_stream(char *out, const char *x, int64_t n);
void copy_stream_end(void);
enum { COPY_STREAM_FROM = 32 << 20 }; /* bytes from which on results are written that way */

/* ---- bits.c: one element as a bit pattern ---- */

uint64_t bits_load(enum dtype t, const void *p); /* zeros above the element's own */
void bits_store(enum dtype t, void *p,
                uint64_t w); /* as the type is stored: extended by its sign, pred 0 or 1 */

/* ---- load.c: elements as another type ---- */

struct loader {
    size_t from, to;       /* widths */
    kern_tile_fn *convert; /* NULL: the types are the same */
};
/* False when the language has no such conversion. */
bool loader_init(struct loader *l, enum dtype to, enum dtype from);
/* The same, for those who need several. */
bool loader_init_by(const struct kern_tiles *tiles, struct loader *l, enum dtype to,
                    enum dtype from);
/* n <= KERN_TILE elements as packed storage of the wanted type: in `room` (KERN_TILE elements of 16
 * bytes), or where they already are. */
const void *loader_read(const struct loader *l, void *room, const char *src, int64_t stride,
                        int64_t n);
void loader_write(const struct loader *l, char *dst, int64_t stride, const void *src, int64_t n);
/* Whole views of equal dims. */
void kern_convert_view(struct team *team, const struct view *out, const struct view *x);

enum { LOADER_ROOM = KERN_TILE * 16 };

/* A view of x with dims and strides taken from a list of its dimensions. */
void view_pick(struct view *out, const struct view *x, int count, const int64_t *dimensions);

/* ---- reduce.c ---- */

/* kern_reduce of one operand by a recognised combiner, in the given work type. False: out of
 * memory. */
bool fold_dimensions(struct team *team, const struct view *out, const struct view *x,
                     const void *init, enum dtype acc, enum dtype work, const bool *reduced,
                     enum kern_combine combine);

/* ---- reduce_lanes.c ---- */

bool lanes_apply(const struct view *out, const struct kern_body *body);
bool reduce_by_lanes(int n, const struct view *out, const struct view *x, const void *const *init,
                     const enum dtype *acc, const bool *reduced, const struct kern_body *body);

/* ---- reduce_pick.c: bodies with a `pick` ---- */

bool pick_applies(int n, const struct view *out, const struct view *x, const enum dtype *acc,
                  const bool *reduced, const struct kern_body *body);
void reduce_by_pick(struct team *team, const struct view *out, const struct view *x,
                    const void *const *init, const bool *reduced, const struct kern_pick *pick);
/* The greatest (or least) of n elements; NaNs are skipped and reported. */
float pick_best_f32(const float *x, int64_t n, bool greatest, bool *nan);

/* ---- body.c: recognised combiners, and the others called element by element ---- */

/* The type that a recognised fold of elements of type `t` runs in (grammar/values.md 12.1). */
enum dtype combine_work_type(enum kern_combine c, enum dtype t);
/* The same for the folds of reduce-window, whose sums run in f32 as far as that is wide enough. */
enum dtype combine_window_type(enum kern_combine c, enum dtype t);
/* Whether a fold of elements of type `t`, run in `work`, gives the same whatever the order (double
 * sums of narrower floats count). */
bool combine_order_free(enum kern_combine c, enum dtype t, enum dtype work);
/* The element e with f(a, e) = a for every a, in type `t`; false when there is none. */
bool combine_identity(enum kern_combine c, enum dtype t, void *element);

/* A fold of n operands through body->call. `acc`: the types it runs in; NULL: those of the results.
 */
struct call_slot {
    union kern_cell acc, value, result;
    struct loader in, out; /* operand -> accumulator type -> result */
    const char *at;        /* where the operand's next element is */
    size_t width;          /* of the accumulator */
};
struct call_fold {
    int n;
    const struct kern_body *body;
    struct call_slot *slots;
    const void **args;
    void **results;
};
bool call_fold_init(struct call_fold *f, int n, const struct view *out, const struct view *x,
                    const enum dtype *acc, const struct kern_body *body); /* false: no memory */
void call_fold_free(struct call_fold *f);
void call_fold_start(struct call_fold *f, const void *const *init);
bool call_fold_value(struct call_fold *f); /* folds in the values that the slots' `at` point to */
void call_fold_store(struct call_fold *f, int k, char *out);

#endif
