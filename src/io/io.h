/*
 * io: arrays in files (.npy, .npz, safetensors, raw), reproducible made-up inputs, and commands in
 * place of custom calls.
 *
 * No file is trusted: each offset, size and count in it is checked before it is used. Failures are
 * reported to the sink without a span; its source is named after the file. The caller frees the
 * storage of literals (literal_free_data).
 */
#ifndef HLO_IO_H
#define HLO_IO_H

#include "base/base.h"
#include "base/dict.h"
#include "diag/diag.h"
#include "ir/ir.h"
#include "plan/foreign.h"
#include "type/type.h"

/* ---- npy.c ---- */

/* literal_new with a diagnostic when there is no memory. */
struct literal *io_literal_new(struct diags *ds, struct arena *a, const struct shape *shape);
void io_literal_too_large(struct diags *ds, struct arena *a,
                          const struct shape *shape); /* that diagnostic, with the size */

/* Decodes the .npy file in `bytes`.
 * `want`: the array shape that is expected, which also says what raw bits mean; its rank -1 leaves
 * the sizes open. An array of another type or size is refused with a message that it is for `who`.
 * NULL: any type that numpy has. `owner`: keeps `bytes` alive; elements that need no conversion are
 * used in place (literal.owner). NULL: all are copied. */
struct literal *io_npy_decode(struct diags *ds, struct arena *a, struct str bytes,
                              struct owner *owner, const struct shape *want, struct str who);
/* The header that goes before the row-major storage of an array of this shape. */
void io_npy_header(struct buf *out, const struct shape *s);

/* ---- npz.c ---- */

struct npz_entry {
    struct str name; /* without .npy */
    uint64_t offset, packed_size, size;
    uint64_t limit; /* offset of what comes after it */
    uint32_t crc;
    uint16_t method;
};
struct npz {
    struct str bytes;
    struct owner *owner; /* of `bytes`, as of io_npy_decode; io_npz_open sets it to NULL */
    struct npz_entry *entries;
    size_t count;
    struct map names; /* from name to entry */
};

/* Reads the directory. Entries are in the arena; `bytes` must outlive them. */
bool io_npz_open(struct diags *ds, struct arena *a, struct str bytes, struct npz *out);
bool io_npz_has(const struct npz *z, struct str name);
/* The array of a name that it has, as io_npy_decode. The checksum of an array that is used in place
 * isn't checked. */
struct literal *io_npz_get(struct diags *ds, struct arena *a, const struct npz *z, struct str name,
                           const struct shape *want, struct str who);
/* A list of its names, for the message that another one is missing. */
struct str io_npz_names(struct arena *a, const struct npz *z);

/* ---- safetensors.c ---- */

struct io_safetensors {
    struct dict_value header;
    struct map tensors; /* from name to entry of the header */
    struct str data;
    struct owner *owner; /* as of struct npz */
};

bool io_safetensors_open(struct diags *ds, struct arena *a, struct str bytes,
                         struct io_safetensors *out);
bool io_safetensors_has(const struct io_safetensors *t, struct str name);
/* The tensor of a name that it has, as io_npy_decode. */
struct literal *io_safetensors_get(struct diags *ds, struct arena *a,
                                   const struct io_safetensors *t, struct str name,
                                   const struct shape *want, struct str who);
struct str io_safetensors_names(struct arena *a, const struct io_safetensors *t);
/* As io_write_npz; fails if the format has no name for an element type. */
bool io_write_safetensors(struct diags *ds, const char *path, const char *prefix,
                          const struct literal *const *l, int64_t count);

/* ---- stored.c ---- */

/* Decodes bytes that are just the elements of an array of this shape, as they lie in memory. */
struct literal *io_raw_decode(struct diags *ds, struct arena *a, struct str bytes,
                              struct owner *owner, const struct shape *want, struct str who);

/* ---- arrays.c: arrays by name, in any kind of file or in a folder ---- */

struct io_arrays {
    enum {
        IO_NPY,
        IO_RAW,
        IO_NPZ,
        IO_SAFETENSORS,
        IO_FOLDER
    } kind; /* the first two hold one array, called "" */
    struct str path, bytes;
    struct file_bytes file; /* the file of `bytes`, unless ... */
    struct owner *owner;    /* ... this keeps them alive */
    struct npz npz;
    struct io_safetensors tensors;
};
/* A value that is looked for, and the names its leaves may have. */
struct io_wanted {
    const char *prefix; /* leaves are called `prefix`N, N counting from `leaf`, */
    int64_t leaf;
    struct str
        name; /* or, unless this is empty, by this name with .K added for each tuple around them */
    int64_t participant; /* a name with @PARTICIPANT after it is preferred to one without */
    struct str who;      /* what wants it, for messages */
};

/* Whether this path is taken for a file of arrays or a folder of such files. */
bool io_arrays_known(const char *path);
bool io_arrays_named(
    const char *path); /* by the end of its name alone, as for a file to be written */
/* Whether arrays in it have names. */
bool io_arrays_many(const char *path);
/* Literals may use the bytes even after io_arrays_close. */
bool io_arrays_open(struct diags *ds, struct arena *a, const char *path, struct io_arrays *out);
void io_arrays_close(struct io_arrays *s);
bool io_arrays_has(struct arena *a, const struct io_arrays *s, struct str name);
struct literal *io_arrays_get(struct diags *ds, struct arena *a, const struct io_arrays *s,
                              struct str name, const struct shape *want, struct str who);
/* A whole value, tuples included. */
struct literal *io_arrays_value(struct diags *ds, struct arena *a, const struct io_arrays *s,
                                const struct io_wanted *w, const struct shape *want);
/* A list of the first of `count` names, for a message. */
struct str io_list_names(struct arena *a, const void *of,
                         struct str (*name)(const void *of, size_t i), size_t count);

/* ---- write.c: writing to a new file, which replaces an old one once it is complete ---- */

bool io_write_npy(struct diags *ds, const char *path, const struct literal *l);
/* The value of each of `count` participants; if there are several, names have the participant's
 * number. */
bool io_write_npz(struct diags *ds, const char *path, const char *prefix,
                  const struct literal *const *l, int64_t count);
/* Arrays with a name each. */
bool io_write_npz_named(struct diags *ds, const char *path, const char *const *names,
                        const struct literal *const *l, size_t count);
/* All of a run in one .npz file: `module`, its text as bytes; arg0, arg1, ...; out0, out1, ... */
struct io_bundle {
    struct str text;
    int64_t participants, count;          /* `count` arguments for each participant */
    const struct literal *const *args;    /* those of one participant after those of the other */
    const struct literal *const *results; /* one for each participant; NULL: there are none */
};
bool io_write_bundle(struct diags *ds, const char *path, const struct io_bundle *b);
/* Writes any bytes in the same way; parts one after the other. */
bool io_write_bytes(struct diags *ds, const char *path, struct str bytes);
bool io_write_parts(struct diags *ds, const char *path, const struct str *parts, size_t count);
/* Writes a file in pieces. If the system has files without a name, it isn't visible until it is
 * closed, and then only with `keep`. When memory runs out, it is closed and removed. */
struct io_output;
struct io_output *io_output_open(struct diags *ds, const char *path);
bool io_output_put(struct diags *ds, struct io_output *o, struct str bytes);
bool io_output_close(struct diags *ds, struct io_output *o, bool keep); /* frees it in any case */
void io_output_drop(struct io_output *o); /* closes and frees it without a message */
/* The elements of an array as they lie in memory, for io_raw_decode. */
bool io_write_raw(struct diags *ds, const char *path, const struct literal *l);

/* ---- command.c ---- */

/* Runs a shell command on the operands of a custom call, for its results: a target_fn of world. */
bool io_command(void *command, const struct foreign_call *c, struct buf *why);

/* ---- random.c ---- */

/* A random value of this shape, whose leaves count from `leaf`; `text`, the module's, may hold
 * hints. */
struct literal *io_random(struct diags *ds, struct arena *a, struct str text,
                          const struct shape *shape, int64_t leaf, uint64_t seed);
/* Words at, at + 1, ... of the random stream of a key. */
void io_random_words(uint64_t *u, uint64_t key, uint64_t at, size_t n);
/* Stores the low bits of each word as elements of an integer type. */
void io_put_integers(enum dtype t, void *out, const uint64_t *u, size_t n);

/* ---- dumps.c ---- */

/* The file in a folder of XLA's dumps that `pick` selects: "23", "23:after", "NAME:WORD"; NULL if
 * there is only one module. Without a word after the colon it is the module before optimizations.
 * Empty with a message. */
struct str io_dump_find(struct diags *ds, struct arena *a, const char *folder, const char *pick);
bool io_is_gzip(struct str bytes);
/* Unpacks gzip data. NULL, or what is wrong with it, such as more bytes than a text may have or
 * than such small data can reasonably hold. */
const char *io_gunzip(struct str bytes, struct buf *out);
/* What kind of file it is, if it certainly isn't HLO text, with advice how to get that; else NULL.
 */
const char *io_not_hlo(const char *path, struct str text, const char **advice);

/* ---- fake.c ---- */

enum io_fake {
    IO_FAKE_ZEROS,
    IO_FAKE_ONES,
    IO_FAKE_IOTA,
    IO_FAKE_UNIFORM,
    IO_FAKE_NORMAL,
    IO_FAKE_EDGE
};
/* A value for a parameter of the entry computation that the program can use; its leaves count from
 * `leaf`. */
struct literal *io_fake(struct diags *ds, struct arena *a, const struct module *m, int param,
                        enum io_fake kind, int64_t leaf, uint64_t seed);

#endif
