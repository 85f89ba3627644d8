/*
 * io: arrays in files (.npy, .npz, safetensors, raw), reproducible made-up inputs, and commands that values go through.
 *
 * Everything read here is hostile until proven sound: each offset, size and count of a file is
 * checked before it is used. Failures go to the sink without a span; its source is named after the
 * file. Storage of literals is the caller's to free (literal_free_data).
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

/* literal_new with a diagnostic when there is no memory for it. */
struct literal *io_literal_new(struct diags *ds, struct arena *a, const struct shape *shape);
void io_literal_too_large(struct diags *ds, struct arena *a, const struct shape *shape); /* says so, and how large */

/* The array in `bytes`. `want`: the array shape it is for, which says what raw bits mean; an array
 * of another type or size is refused, naming `who` wants it; rank -1 leaves its sizes open.
 * NULL: whatever numpy says it is.
 * `owner`: who keeps `bytes` there; elements that are right as they lie there are used in place (literal.owner).
 * NULL: all are copied. */
struct literal *io_npy_decode(struct diags *ds, struct arena *a, struct str bytes, struct owner *owner,
                              const struct shape *want, struct str who);
/* The header that goes before the row-major storage of an array of this shape. */
void io_npy_header(struct buf *out, const struct shape *s);

/* ---- npz.c ---- */

struct npz_entry {
    struct str name; /* without .npy */
    uint64_t offset, packed_size, size;
    uint64_t limit; /* what comes after it begins here */
    uint32_t crc;
    uint16_t method;
};
struct npz {
    struct str bytes;
    struct owner *owner; /* who keeps them, as of io_npy_decode; NULL when it is opened */
    struct npz_entry *entries;
    size_t count;
    struct map names; /* the entry of each */
};

/* Reads the directory; entries live in the arena, `bytes` must outlive them. */
bool io_npz_open(struct diags *ds, struct arena *a, struct str bytes, struct npz *out);
bool io_npz_has(const struct npz *z, struct str name);
/* The array of that name, which it has, as io_npy_decode. What is used in place is not held against its checksum. */
struct literal *io_npz_get(struct diags *ds, struct arena *a, const struct npz *z, struct str name,
                           const struct shape *want, struct str who);
/* The names that are there, for the message that one is not. */
struct str io_npz_names(struct arena *a, const struct npz *z);

/* ---- safetensors.c ---- */

struct io_safetensors {
    struct dict_value header;
    struct map tensors; /* the entry of the header of each */
    struct str data;
    struct owner *owner; /* as above */
};

bool io_safetensors_open(struct diags *ds, struct arena *a, struct str bytes, struct io_safetensors *out);
bool io_safetensors_has(const struct io_safetensors *t, struct str name);
/* The tensor of that name, which it has. */
struct literal *io_safetensors_get(struct diags *ds, struct arena *a, const struct io_safetensors *t, struct str name,
                                   const struct shape *want, struct str who);
struct str io_safetensors_names(struct arena *a, const struct io_safetensors *t);
/* As io_write_npz; refused where the format has no name for a type. */
bool io_write_safetensors(struct diags *ds, const char *path, const char *prefix, const struct literal *const *l, int64_t count);

/* ---- stored.c ---- */

/* Bytes that are the elements of an array of this shape, as they lie in memory, and nothing else. */
struct literal *io_raw_decode(struct diags *ds, struct arena *a, struct str bytes, struct owner *owner,
                              const struct shape *want, struct str who);

/* ---- arrays.c: by name, in any kind of file or in a folder ---- */

struct io_arrays {
    enum { IO_NPY, IO_RAW, IO_NPZ, IO_SAFETENSORS, IO_FOLDER } kind; /* the first two hold one array, called "" */
    struct str path, bytes;
    struct file_bytes file; /* that `bytes` are of, or else */
    struct owner *owner;    /* who keeps them */
    struct npz npz;
    struct io_safetensors tensors;
};
struct io_wanted {
    const char *prefix;  /* leaves are called `prefix`N, N counted on from `leaf`, */
    int64_t leaf;
    struct str name;     /* or by this name, .K added for each tuple they are in; empty: not so. */
    int64_t participant; /* A name with @PARTICIPANT behind it goes before one without. */
    struct str who;      /* wants it */
};

/* Whether what is called so is taken for a file of arrays, or for a folder of such. */
bool io_arrays_known(const char *path);
bool io_arrays_named(const char *path); /* by what its name ends in alone, as it is for a file to be written */
/* Whether arrays in it have names. */
bool io_arrays_many(const char *path);
/* What is closed may still be used by literals. */
bool io_arrays_open(struct diags *ds, struct arena *a, const char *path, struct io_arrays *out);
void io_arrays_close(struct io_arrays *s);
bool io_arrays_has(struct arena *a, const struct io_arrays *s, struct str name);
struct literal *io_arrays_get(struct diags *ds, struct arena *a, const struct io_arrays *s, struct str name,
                              const struct shape *want, struct str who);
/* A whole value, tuples included. */
struct literal *io_arrays_value(struct diags *ds, struct arena *a, const struct io_arrays *s, const struct io_wanted *w,
                                const struct shape *want);
/* Some of `count` names, for a message. */
struct str io_list_names(struct arena *a, const void *of, struct str (*name)(const void *of, size_t i), size_t count);

/* ---- write.c: to a new file that takes the old one's place once it is whole ---- */

bool io_write_npy(struct diags *ds, const char *path, const struct literal *l);
/* Values of `count` participants; the names of several say which. */
bool io_write_npz(struct diags *ds, const char *path, const char *prefix, const struct literal *const *l,
                  int64_t count);
/* Arrays, each by a name of its own. */
bool io_write_npz_named(struct diags *ds, const char *path, const char *const *names, const struct literal *const *l,
                        size_t count);
/* A run: `module`, its text as bytes; arg0, arg1, ...; out0, out1, ... */
struct io_bundle {
    struct str text;
    int64_t participants, count;         /* `count` arguments for each */
    const struct literal *const *args;   /* of one participant after the other */
    const struct literal *const *results; /* one for each; NULL: there is none */
};
bool io_write_bundle(struct diags *ds, const char *path, const struct io_bundle *b);
/* Any bytes at all, in the same way; one part after the other. */
bool io_write_bytes(struct diags *ds, const char *path, struct str bytes);
bool io_write_parts(struct diags *ds, const char *path, const struct str *parts, size_t count);
/* Bit by bit: nobody sees the file until it is closed, nor then without `keep`, where the system has files without a name. It is
 * closed and gone where memory runs out. */
struct io_output;
struct io_output *io_output_open(struct diags *ds, const char *path);
bool io_output_put(struct diags *ds, struct io_output *o, struct str bytes);
bool io_output_close(struct diags *ds, struct io_output *o, bool keep); /* and freed, whatever comes of it */
void io_output_drop(struct io_output *o);                               /* likewise, without a word */
/* The elements of an array as they lie in memory, for io_raw_decode. */
bool io_write_raw(struct diags *ds, const char *path, const struct literal *l);

/* ---- command.c ---- */

/* Runs a shell command on the operands of a custom call, for its results: a target_fn of world. */
bool io_command(void *command, const struct foreign_call *c, struct buf *why);

/* ---- random.c ---- */

/* A value of this shape whose leaves are numbered on from `leaf`; `text` may hold hints. */
struct literal *io_random(struct diags *ds, struct arena *a, struct str text, const struct shape *shape,
                          int64_t leaf, uint64_t seed);
/* Words at, at + 1, ... of the stream that a key stands for. */
void io_random_words(uint64_t *u, uint64_t key, uint64_t at, size_t n);
/* The low bits of each word as elements of a type of whole numbers. */
void io_put_integers(enum dtype t, void *out, const uint64_t *u, size_t n);

/* ---- dumps.c ---- */

/* The file in a folder of XLA's dumps that `pick` names: "23", "23:after", "NAME:WORD"; NULL: there is one module. What stands
 * before the optimizations, unless it says otherwise. Empty with a message. */
struct str io_dump_find(struct diags *ds, struct arena *a, const char *folder, const char *pick);
bool io_is_gzip(struct str bytes);
/* NULL, or what is wrong with it. No more than a text may have, or one so small can hold. */
const char *io_gunzip(struct str bytes, struct buf *out);
/* What a file is when it is certain that it isn't HLO text, with a way to get that; else NULL. */
const char *io_not_hlo(const char *path, struct str text, const char **advice);

/* ---- fake.c ---- */

enum io_fake { IO_FAKE_ZEROS, IO_FAKE_ONES, IO_FAKE_IOTA, IO_FAKE_UNIFORM, IO_FAKE_NORMAL, IO_FAKE_EDGE };
/* A value for a parameter of the entry computation, such as the program can use; leaves are numbered on from `leaf`. */
struct literal *io_fake(struct diags *ds, struct arena *a, const struct module *m, int param, enum io_fake kind,
                        int64_t leaf, uint64_t seed);

#endif
