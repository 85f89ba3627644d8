/*
 * product: sums of products over strided operands, out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n],
 * where each of b, m, n, k stands for any number of dimensions. Dot and convolution both come down to it.
 * Private to kern.
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
bool product_run(struct team *team, struct product *p); /* merges its nests; false: no memory */
const char *product_choice(struct product *p);          /* how product_run computes it; merges its nests */

/* What operand types are multiplied and summed in for a result type (hlo-values 13.1). An operand whose
 * `via` differs from its type is converted to that first. */
struct product_types {
    enum dtype work, via[2];
};
void product_find_types(struct product_types *t, enum dtype out, enum dtype lhs, enum dtype rhs);
/* Replaces a view by a dense converted copy when it needs one on the way; *storage is then to be freed. */
bool product_convert_operand(struct team *team, struct view *x, enum dtype via, void **storage);

/* ---- product_box.c ---- */

/* Where a nest's position, counted row-major, is in one of its views, and how many follow it in the innermost dimension. */
int64_t nest_offset(const struct nest *n, int view, int64_t position, int64_t *run);

struct stretch {
    const struct nest *nest;
    int view;
    int64_t from, count; /* positions */
};
/* Storage with gapless rows. */
struct dense {
    enum dtype type;
    char *at;
    int64_t row, width; /* bytes from one row to the next, and of an element */
};
/* Rows and columns of the operand or result `at`, of a type of its own, to dense storage and back. */
void stretch_fetch(const struct dense *to, enum dtype type, char *at, const struct stretch *rows, const struct stretch *columns);
void stretch_store(const struct dense *from, enum dtype type, char *at, const struct stretch *rows, const struct stretch *columns);
/* A panel of no more than g->columns columns; where lanes take several elements, so many divide the innermost terms. */
void stretch_pack(const struct gemm *g, enum dtype type, const char *at, const struct stretch *terms, const struct stretch *columns,
                  char *panel);

/* ---- product_small.c: f32 and f64, some ten thousand terms ---- */

struct small {
    enum dtype type;
    int64_t m, n, k;                          /* none of them 0 */
    int64_t a_row, a_k, b_k, b_n, c_row, c_n; /* bytes */
};
bool small_applies(const struct small *s);
void small_run(const struct small *s, const char *a, const char *b, char *c);

/* ---- matvec.c: a matrix of floats, gapless in some direction, times up to eight vectors ---- */

enum { MATVEC_MOST = 8 /* vectors */ };
bool matvec_applies(const struct product *p); /* its nests are merged */
bool matvec_run(struct team *team, const struct product *p); /* false: no memory */

#endif
