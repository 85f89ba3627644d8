/*
 * product: sums of products over strided operands, out[b, m, n] = sum over k of lhs[b, m, k] *
 * rhs[b, k, n], where each of b, m, n, k represents any number of dimensions. Dot and convolution
 * are lowered to it. Private to kern.
 */
#ifndef HLO_KERN_PRODUCT_H
#define HLO_KERN_PRODUCT_H

#include "kern/gemm.h"
#include "kern/nest.h"

struct product {
    enum dtype out_type, lhs_type, rhs_type, work;
    char *out, *lhs, *rhs;
    struct nest batch; /* views: out, lhs, rhs */
    struct nest m;     /* out, lhs */
    struct nest n;     /* out, rhs */
    struct nest k;     /* lhs, rhs */
};
/* merges its nests; false: out of memory */
bool product_run(struct thread_pool *workers, struct product *p);
/* The result of sums without terms. */
void product_fill_zero(struct thread_pool *workers, const struct view *out);
void product_merge(struct product *p); /* its nests */
/* The transposed product of the transposed matrices. */
void product_transpose(struct product *to, const struct product *p);
/* A product of one of the following forms that needs no workspace; merges its nests. */
struct ready_product;
bool product_make_ready(struct product *p, struct ready_product *out);
/* the algorithm of product_run, as text; merges its nests */
const char *product_choice(struct product *p);

/* The type that products and sums are computed in, for given types of operands and result
 * (grammar/values.md 13.1). An operand whose `via` differs from its type is converted to that
 * first. */
struct product_types {
    enum dtype work, via[2];
};
void product_find_types(struct product_types *t, enum dtype out, enum dtype lhs, enum dtype rhs);
/* Replaces a view by a dense copy of type `via` if it needs one; the caller frees *storage. False:
 * out of memory. */
bool product_convert_operand(struct thread_pool *workers, struct view *x, enum dtype via,
                             void **storage);

/* ---- product_box.c ---- */

/* The byte offset of a nest's position, counted row-major, in one of its views; *run: number of
 * positions left in the innermost dimension. */
int64_t nest_offset(const struct nest *n, int view, int64_t position, int64_t *run);

struct position_range {
    const struct nest *nest;
    int view;
    int64_t from, count; /* positions */
};
/* Storage with packed rows. */
struct dense {
    enum dtype type;
    char *at;
    int64_t row, width; /* bytes between rows, and of an element */
};
/* Copies rows and columns of the operand or result at `at`, converting from and to `type`, to dense
 * storage and back. */
void position_range_fetch(const struct dense *to, enum dtype type, char *at,
                          const struct position_range *rows, const struct position_range *columns);
void position_range_store(const struct dense *from, enum dtype type, char *at,
                          const struct position_range *rows, const struct position_range *columns);
/* The same for all rows and columns of the matrices of a batch; those in dense storage are `item`
 * bytes apart. */
void position_range_move_items(bool fetch, const struct dense *s, int64_t item, enum dtype type,
                               char *at, const struct position_range *items,
                               const struct position_range *rows,
                               const struct position_range *columns);
/* Packs a panel of at most g->columns columns. If a lane has several elements, their number must
 * divide the innermost dimension of terms. */
void position_range_pack(const struct gemm *g, enum dtype type, const char *at,
                         const struct position_range *terms, const struct position_range *columns,
                         char *panel);

/* ---- product_small.c: products of f32 and f64 of up to some ten thousand multiplications ---- */

struct small {
    enum dtype type;
    int64_t m, n, k;                          /* none of them 0 */
    int64_t a_row, a_k, b_k, b_n, c_row, c_n; /* bytes */
    const struct product_lanes *lanes;        /* set by small_applies() */
};
bool small_applies(struct small *s);
void small_run(const struct small *s, const char *a, const char *b, char *c);

/* ---- product_complex.c ---- */

/* A product of complex numbers, none of its dimensions 0; merges its nests. False: it is of another
 * form, or a result is NaN; the result may then be partly written. */
bool product_run_complex(struct product *p);

/* ---- product_batch.c: batches of small products of floats ---- */

/* Whether the product, whose nests are merged, is one; may change the nests to that form. */
bool product_is_batch(struct product *p);
bool product_run_batch(struct thread_pool *workers,
                       const struct product *p); /* false: out of memory */
const char *product_batch_choice(const struct product *p);

/* ---- matvec.c: a matrix of floats, packed along rows or columns, times up to eight vectors ----
 */

enum { MATVEC_MAX = 8 /* vectors */ };
bool matvec_applies(const struct product *p);                          /* its nests are merged */
bool matvec_run(struct thread_pool *workers, const struct product *p); /* false: out of memory */
const char *matvec_choice(const struct product *p);
/* sums[r][row] = the sum of matrix[row][i] * x[r][i] over n elements; in lanes, which are added by
 * halves. */
typedef void matvec_rows_fn(const char *matrix, int64_t row_step, int64_t rows, const char *x,
                            int64_t x_step, int64_t n, char *sums, int64_t sums_step);
/* One vector in place times a matrix packed along rows. */
struct ready_matvec {
    matvec_rows_fn *rows;
    bool by_lhs; /* the matrix is the left operand */
    int64_t row_step, row_count, terms;
};
bool matvec_make_ready(const struct product *p, struct ready_matvec *out);

struct ready_product {
    bool is_small;
    struct small small;
    struct ready_matvec matvec;
};

#endif
