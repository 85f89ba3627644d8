/*
 * lapack: shared by the wrappers of LAPACK's routines. Private to kern.
 *
 *   lapack.c           batches, transposition
 *   lapack_call.c      calls of the library, workspace
 *   lapack_factor.c    factorizations and systems of equations
 *   lapack_spectral.c  eigenvalues and singular values
 *   lapack_tiny.c      small real matrices, without the library
 *   plain/lapack_*.c   the same routines for --plain and builds without the library (matrix.h)
 *   tridiagonal.c      a solver of jaxlib that LAPACK lacks
 *   householder.c      QR factors as defined by XLA
 */
#ifndef HLO_KERN_LAPACK_H
#define HLO_KERN_LAPACK_H

#include "kern/kern.h"
#include "kern/plain/function.h"

typedef int32_t fint; /* Fortran's INTEGER */

/* One item of a batch for a routine; arrays are column-major and packed. */
struct lapack_item {
    enum dtype type;
    void *x[KERN_LAPACK_ARRAYS];
    bool given[KERN_LAPACK_ARRAYS]; /* whether the array holds an operand; else zeros */
    fint rows[KERN_LAPACK_ARRAYS],
        columns[KERN_LAPACK_ARRAYS]; /* 1 where the array has lower rank */
    const int64_t *options;
    bool plain; /* do not use the library */
    fint info;
    /* Workspace, kept between items of the batch. `work` is of the routine's type and has the
     * length that the routine requests; `extra` is for anything else. */
    void *work, *extra;
    fint work_size;
    /* Where a routine takes them: the length of `extra`, and a part of it with its length. */
    fint integers, reals;
    void *real;
    bool no_memory;
};

/* Calls the library's routine for the item's element type. `name` is the one for real types;
 * `arguments` are separated by spaces, with the number of an array or option where one is needed:
 *
 *   a0 r0 c0 l0  an array, its rows, columns and leading dimension
 *   o0 n0        an option: a letter, a number
 *   w s          `work` and its length: a first call asks for that, and `work` is allocated
 *   e E f F      `extra` and `integers`; `real` and `reals`, which only complex types have
 *   i -          info; none
 */
void lapack_call(struct lapack_item *it, const char *name, const char *arguments);
enum { LAPACK_SMALL = 64 }; /* bytes; space for a routine's answer to a workspace query */
/* `extra` with at least count * size bytes; NULL: out of memory. */
void *lapack_extra(struct lapack_item *it, int64_t count, size_t size);
/* Makes it `real`, with `count` numbers, for complex types. False: out of memory. */
bool lapack_real_extra(struct lapack_item *it, int64_t count);

static inline fint at_least_one(fint n) { return n > 1 ? n : 1; }
static inline fint smaller(fint a, fint b) { return a < b ? a : b; }
static inline bool lapack_complex(const struct lapack_item *it)
{
    return dtype_is_complex(it->type);
}
static inline size_t lapack_real(const struct lapack_item *it)
{
    return dtype_bytes(dtype_component(it->type));
}

/* The byte offset of an item of a batch, whose dimensions are the first `rank` of v. */
static inline int64_t lapack_offset(const struct view *v, int rank, int64_t number)
{
    int64_t offset = 0;
    for (int d = rank - 1; d >= 0; number /= v->dims[d--])
        offset += number % v->dims[d] * v->strides[d];
    return offset;
}

/* Reads a number of type t; real ones have imaginary part 0. lapack_store rounds to that type. */
static inline struct c128 lapack_load(enum dtype t, const char *at)
{
    const double *wide = (const void *)at;
    const float *narrow = (const void *)at;
    switch (t) {
    case DT_F32: return (struct c128){(double)narrow[0], 0};
    case DT_F64: return (struct c128){wide[0], 0};
    case DT_C64: return (struct c128){(double)narrow[0], (double)narrow[1]};
    default: return (struct c128){wide[0], wide[1]};
    }
}

static inline void lapack_store(enum dtype t, char *at, struct c128 v)
{
    v.re = v.re == v.re ? v.re : NAN_MADE;
    v.im = v.im == v.im ? v.im : NAN_MADE;
    const struct c64 narrow = {(float)v.re, (float)v.im};
    switch (t) {
    case DT_F32: memcpy(at, &narrow.re, sizeof narrow.re); break;
    case DT_F64: memcpy(at, &v.re, sizeof v.re); break;
    case DT_C64: memcpy(at, &narrow, sizeof narrow); break;
    default: memcpy(at, &v, sizeof v); break;
    }
}

typedef void lapack_fn(struct lapack_item *it);
lapack_fn lapack_geev, lapack_gees, lapack_gehrd, lapack_geqp3, lapack_geqrf, lapack_gesdd,
    lapack_gesvd, lapack_getrf, lapack_gtsp, lapack_gtsv, lapack_heevd, lapack_householder_product,
    lapack_householder_qr, lapack_orgqr, lapack_ormqr, lapack_potrf, lapack_sytrd, lapack_trsm;

/* The same without the library, with results that have the same bits on every machine. */
lapack_fn plain_gees, plain_geev, plain_gehrd, plain_geqp3, plain_gesdd, plain_getrf, plain_gtsv,
    plain_heevd, plain_ormqr, plain_potrf, plain_sytrd, plain_trsm;

/* Whether the rows and columns that gehrd reduces exist; sets info. */
bool lapack_gehrd_range(struct lapack_item *it);
/* Whether singular values do not exist, because of an infinity or a NaN, for which LAPACK might not
 * terminate: then results are NaN, and info is set. */
bool lapack_without_end(struct lapack_item *it);

/* ---- lapack_tiny.c ---- */

/* One item of a batch of small real matrices, which are read and written in place. */
struct lapack_place {
    char *at;            /* NULL: absent */
    int64_t row, column; /* bytes between rows, and between columns */
};
struct lapack_tiny {
    enum dtype type;
    fint rows[KERN_LAPACK_ARRAYS], columns[KERN_LAPACK_ARRAYS];
    struct lapack_place in[KERN_LAPACK_ARRAYS], out[KERN_LAPACK_ARRAYS];
    const int64_t *options;
};
/* Whether its `count` arrays are small enough for these routines. */
bool lapack_is_tiny(const struct lapack_tiny *t, int count);
typedef fint lapack_tiny_fn(const struct lapack_tiny *t); /* info */
lapack_tiny_fn lapack_tiny_geqrf, lapack_tiny_getrf, lapack_tiny_orgqr, lapack_tiny_potrf,
    lapack_tiny_trsm;

#endif
