/*
 * stored.h: an array as stored in a file of any format.
 */
#ifndef HLO_IO_STORED_H
#define HLO_IO_STORED_H

#include "io/io.h"

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

#endif
