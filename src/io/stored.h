/*
 * stored.h: an array as it lies in a file, whatever kind of file that is.
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
    struct str data;      /* the elements at least */
    struct owner *owner;  /* who keeps them there for values that lie in them; NULL: they must be copied */
};

/* How many elements it has, and bytes; false when that is beyond all bounds. */
bool io_stored_size(const struct io_stored *s, int64_t *elements, uint64_t *size);
/* Whether it is what is wanted, with a message if not: what io_stored_decode asks first. */
bool io_stored_fits(struct diags *ds, struct arena *a, const struct io_stored *s, const struct shape *want, struct str who);
/* The literal, as io_npy_decode has it. The elements are all there. */
struct literal *io_stored_decode(struct diags *ds, struct arena *a, const struct io_stored *s, const struct shape *want,
                                 struct str who);

/* Whether the header of a .npy file, which is whole in `head`, gives an array that is wanted, and that makes the file just
 * `size` bytes long; with a message if not. */
bool io_npy_check(struct diags *ds, struct arena *a, struct str head, uint64_t size, const struct shape *want, struct str who);

#endif
