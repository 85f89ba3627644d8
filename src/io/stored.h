/*
 * stored.h: an array as it is stored in a file of any kind.
 */
#ifndef HLO_IO_STORED_H
#define HLO_IO_STORED_H

#include "io/io.h"

struct io_stored {
    enum dtype dtype;     /* DT_INVALID: raw bits */
    struct str type_name; /* what the file calls it */
    size_t width;         /* bytes of one element */
    bool big_endian, fortran;
    int rank;
    const int64_t *dims;
    struct str data;     /* begins with the elements */
    struct owner *owner; /* keeps `data` alive for literals that use it in place; NULL: elements
                            must be copied */
};

/* Its numbers of elements and of bytes; false on overflow. */
bool io_stored_size(const struct io_stored *s, int64_t *elements, uint64_t *size);
/* Whether it fits `want`, with a message if not. io_stored_decode checks this first. */
bool io_stored_fits(struct diags *ds, struct arena *a, const struct io_stored *s,
                    const struct shape *want, struct str who);
/* The literal, as of io_npy_decode. `data` must hold all elements. */
struct literal *io_stored_decode(struct diags *ds, struct arena *a, const struct io_stored *s,
                                 const struct shape *want, struct str who);

/* Whether the header of a .npy file, which is complete in `head`, describes an array that fits
 * `want` and a file of just `size` bytes; with a message if not. */
bool io_npy_check(struct diags *ds, struct arena *a, struct str head, uint64_t size,
                  const struct shape *want, struct str who);

#endif
