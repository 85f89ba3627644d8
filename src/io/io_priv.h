/*
 * Shared by the files of io.
 */
#ifndef HLO_IO_PRIV_H
#define HLO_IO_PRIV_H

#include "io/io.h"

/* ---- stored.c: an array as stored in a file of any format ---- */

struct io_stored {
    enum dtype dtype;     /* DT_INVALID: raw bits */
    struct str type_name; /* its name in the file */
    size_t width;         /* bytes of one element */
    bool big_endian, fortran;
    int rank;
    const int64_t *dims;
    struct str data; /* begins with the elements */
    /* Keeps `data` alive for literals that use it in place; NULL: elements must be copied. */
    struct owner *owner;
};

/* The numbers of elements and bytes; false on overflow. */
bool io_stored_size(const struct io_stored *s, int64_t *elements, uint64_t *size);
/* Whether it matches `expected`, with a message if not. io_stored_decode performs this check. */
bool io_stored_fits(struct diags *ds, struct arena *a, const struct io_stored *s,
                    const struct shape *expected, struct str who);
/* Decodes to a literal, as io_npy_decode does. `data` must contain all elements. */
struct literal *io_stored_decode(struct diags *ds, struct arena *a, const struct io_stored *s,
                                 const struct shape *expected, struct str who);

/* Whether the .npy header, complete in `head`, describes an array that matches `expected` and a
 * file of exactly `size` bytes; with a message if not. */
bool io_npy_check(struct diags *ds, struct arena *a, struct str head, uint64_t size,
                  const struct shape *expected, struct str who);

/* ---- fake_uses.c: constraints on the values of a parameter, derived from its uses ---- */

/* Constraints on the elements of one leaf of a parameter. All zeros: none. */
struct fake_facts {
    bool bounded; /* integers in [low, high] */
    int64_t low, high;
    bool loop; /* determines the number of iterations of a loop */
    bool sorted,
        /* As promised by attributes of a gather or scatter; unique also for an unstable sort. */
        unique;
    int vector_dim; /* of index vectors: the dimension of their components; -1: scalar indices */
    int64_t components; /* of an index vector, at least 1 */
    bool positive;      /* operands of log, sqrt, ... */
    bool nonzero;       /* divisors */
    bool unit;          /* in [-1, 1]: operands of acos */
    bool above_one;     /* operands of acosh */
    bool fixed;         /* must equal `value`: the initial value of a reduction */
    double value;
    bool dominant; /* matrices that are factored or solved for: must be diagonally dominant */
    double fan_in; /* number of products summed for one element of a result; 0: none */
    /* Elements are summed: with the largest numbers the result would depend on the order. */
    bool summed;
};

/* The constraints on leaf `leaf` of parameter `param` of the entry computation. */
struct fake_facts io_fake_facts(struct arena *scratch, const struct module *m, int param,
                                int64_t leaf);

#endif
