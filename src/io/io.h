/*
 * io: arrays in files (.npy, .npz, safetensors, raw, LiteralProto), reproducible generated inputs,
 * and shell commands as custom calls.
 *
 * Files are untrusted: each offset, size and count is checked before use. Failures are reported to
 * the diagnostics without a span; their source is named after the file. The caller frees the
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

/* literal_new with a diagnostic if the allocation fails. */
struct literal *io_literal_new(struct diags *ds, struct arena *a, const struct shape *shape);
/* That diagnostic, with the size. */
void io_literal_too_large(struct diags *ds, struct arena *a, const struct shape *shape);

/* Decodes the .npy file in `bytes`. `expected`: the expected array shape, which also determines the
 * interpretation of raw bits; its rank -1 accepts any sizes. An array of another type or size is an
 * error, reported as meant for `who`. NULL: any type of NumPy. `owner`: keeps `bytes` alive;
 * elements that need no conversion are used in place (literal.owner). NULL: all are copied. */
struct literal *io_npy_decode(struct diags *ds, struct arena *a, struct str bytes,
                              struct owner *owner, const struct shape *expected, struct str who);
/* Writes the header that precedes the row-major storage of an array of this shape. */
void io_npy_header(struct buf *out, const struct shape *s);

/* ---- npz.c ---- */

struct npz_entry {
    struct str name; /* without .npy */
    uint64_t offset, packed_size, size;
    uint64_t limit; /* upper bound of its end offset */
    uint32_t crc;
    uint16_t method;
};
struct npz {
    struct str bytes;
    struct owner *owner; /* of `bytes`, as for io_npy_decode; io_npz_open sets it to NULL */
    struct npz_entry *entries;
    size_t count;
    struct map names; /* entries by name */
};

/* Parses the directory. Entries are in the arena; `bytes` must outlive them. */
bool io_npz_open(struct diags *ds, struct arena *a, struct str bytes, struct npz *out);
bool io_npz_has(const struct npz *z, struct str name);
/* Decodes the array of an existing name, as io_npy_decode does. The checksum of an array that is
 * used in place is not verified. */
struct literal *io_npz_get(struct diags *ds, struct arena *a, const struct npz *z, struct str name,
                           const struct shape *expected, struct str who);
/* A list of its names, for the message that a name is missing. */
struct str io_npz_names(struct arena *a, const struct npz *z);

/* ---- safetensors.c ---- */

struct io_safetensors {
    struct dict_value header;
    struct map tensors; /* header entries by name */
    struct str data;
    struct owner *owner; /* as for struct npz */
};

/* Parses the header. Entries are in the arena; `bytes` must outlive them. */
bool io_safetensors_open(struct diags *ds, struct arena *a, struct str bytes,
                         struct io_safetensors *out);
bool io_safetensors_has(const struct io_safetensors *t, struct str name);
/* Decodes the tensor of an existing name, as io_npy_decode does. */
struct literal *io_safetensors_get(struct diags *ds, struct arena *a,
                                   const struct io_safetensors *t, struct str name,
                                   const struct shape *expected, struct str who);
struct str io_safetensors_names(struct arena *a, const struct io_safetensors *t);
/* As io_write_npz; fails if the format does not support an element type. */
bool io_write_safetensors(struct diags *ds, const char *path, const char *prefix,
                          const struct literal *const *l, int64_t count);

/* ---- stored.c ---- */

/* Decodes the plain elements of an array of this shape, in memory order. */
struct literal *io_raw_decode(struct diags *ds, struct arena *a, struct str bytes,
                              struct owner *owner, const struct shape *expected, struct str who);

/* ---- arrays.c: arrays by name, in any kind of file or in a directory ---- */

struct io_arrays {
    enum {
        IO_NPY,
        IO_RAW,
        IO_LITERAL,
        IO_NPZ,
        IO_SAFETENSORS,
        IO_DIRECTORY
    } kind; /* the first three hold one value, named "" */
    struct str path, bytes;
    struct file_bytes file; /* the file of `bytes`, unless ... */
    struct owner *owner;    /* ... this keeps them alive, or ... */
    struct buf unpacked;    /* ... they were decompressed */
    bool text;              /* of a literal: in text format */
    struct npz npz;
    struct io_safetensors tensors;
};
/* A requested value, and the possible names of its leaves. */
struct io_request {
    const char *prefix; /* leaves are named `prefix`N with N counting from `leaf`, */
    int64_t leaf;
    /* or one of these names followed by .K for each enclosing tuple, or arr_N (numpy.savez). */
    const struct str *names;
    size_t name_count;
    int64_t participant; /* a name with the suffix @PARTICIPANT takes precedence */
    struct str who;      /* the requester, for messages */
};

/* Whether this path is treated as a file of arrays or a directory of such files. */
bool io_arrays_known(const char *path);
bool io_arrays_named(const char *path); /* judged by its extension only, as for an output file */
/* Whether its arrays have names. */
bool io_arrays_many(const char *path);
/* Literals may refer to the bytes even after io_arrays_close. */
bool io_arrays_open(struct diags *ds, struct arena *a, const char *path, struct io_arrays *out);
/* Releases the file. */
void io_arrays_close(struct io_arrays *s);
bool io_arrays_has(struct arena *a, const struct io_arrays *s, struct str name);
/* Decodes the array with this name, as io_npy_decode does. */
struct literal *io_arrays_get(struct diags *ds, struct arena *a, const struct io_arrays *s,
                              struct str name, const struct shape *expected, struct str who);
/* Reads a whole value, including tuples. */
struct literal *io_arrays_value(struct diags *ds, struct arena *a, const struct io_arrays *s,
                                const struct io_request *w, const struct shape *expected);
/* A list of the first of `count` names, for a message. */
struct str io_list_names(struct arena *a, const void *of,
                         struct str (*name)(const void *of, size_t i), size_t count);

/* ---- write.c: output files, which replace existing ones atomically when complete; `-` is standard
 * output ---- */

bool io_write_npy(struct diags *ds, const char *path, const struct literal *l);
/* Writes the value of each of `count` participants; if there are several, names have the
 * participant's number. */
bool io_write_npz(struct diags *ds, const char *path, const char *prefix,
                  const struct literal *const *l, int64_t count);
/* Writes named arrays. */
bool io_write_npz_named(struct diags *ds, const char *path, const char *const *names,
                        const struct literal *const *l, size_t count);
/* A run in one .npz file: `module`, its text as bytes; arg0, arg1, ...; out0, out1, ... */
struct io_bundle {
    struct str text;
    int64_t participants, count;          /* number of arguments of each participant */
    const struct literal *const *args;    /* all of one participant, then those of the next */
    const struct literal *const *results; /* one per participant; NULL: none */
};
bool io_write_bundle(struct diags *ds, const char *path, const struct io_bundle *b);
/* Writes bytes in the same way, or a list of parts. */
bool io_write_bytes(struct diags *ds, const char *path, struct str bytes);
bool io_write_parts(struct diags *ds, const char *path, const struct str *parts, size_t count);
/* An output file that is written in pieces. If the system supports unnamed files, it is not visible
 * until it is closed with `keep`. If memory runs out, it is closed and removed. */
struct io_output;
/* Opens an output; NULL with a message. */
struct io_output *io_output_open(struct diags *ds, const char *path);
/* Appends bytes; false with a message. */
bool io_output_put(struct diags *ds, struct io_output *o, struct str bytes);
bool io_output_close(struct diags *ds, struct io_output *o, bool keep); /* frees it in any case */
void io_output_drop(struct io_output *o); /* closes and frees it without a message */
/* The same, optionally compressed by gzip (gzip.c). */
struct io_stream;
struct io_stream *io_stream_open(struct diags *ds, const char *path, bool gzip);
bool io_stream_put(struct diags *ds, struct io_stream *s, struct str bytes);
bool io_stream_close(struct diags *ds, struct io_stream *s, bool keep);
/* Writes the elements of an array in memory order, for io_raw_decode. */
bool io_write_raw(struct diags *ds, const char *path, const struct literal *l);

/* ---- command.c ---- */

/* Runs a shell command that computes the results of a custom call from its operands: a target_fn of
 * world. */
bool io_command(void *command, const struct foreign_call *c, struct buf *why);

/* ---- random.c ---- */

/* A random value of this shape, whose leaves are numbered from `leaf`; `text`, the module's, may
 * contain hints. */
struct literal *io_random(struct diags *ds, struct arena *a, struct str text,
                          const struct shape *shape, int64_t leaf, uint64_t seed);

/* ---- dumps.c ---- */

struct io_dump {
    struct str path;        /* of the file; empty: a part of a file */
    struct str file;        /* name of the file, without directories, or of the part */
    struct str name, phase; /* of the module; no phase: the file is not named like a dump */
    int64_t number;         /* of the module */
    size_t part;            /* number of the part in its file, from 0 */
};
/* The dumps of a directory or a file; all memory is in the arena. */
struct io_dumps {
    struct arena *a;
    const char *place; /* for messages: "directory contains " */
    struct io_dump *at;
    size_t count, capacity;
};

/* Takes the name of a dump apart, module_0023.NAME.PHASE.txt, except `path`. False: another name.
 */
bool io_dump_of_name(struct str file, struct io_dump *out);
void io_dumps_add(struct io_dumps *d, const struct io_dump *dump);
/* Whether it is a directory or a pattern of file names, as for the shell, and no file. */
bool io_dumps_many(const char *path);
/* Lists the dumps in a directory or the files that match a pattern, by module and in the order of
 * passes; modules in other files if there is no dump. Of the same dump as text and as a protocol
 * buffer, the text. False with a message. */
bool io_dumps_read(struct diags *ds, struct io_dumps *d, const char *path);
/* Keeps the dumps of one module, given by number, name, or a part of a name; empty: the only one.
 * False with a message. */
bool io_dumps_select(struct diags *ds, struct io_dumps *d, struct str module);
/* The dump that `pick` selects: "23", "23:after", "NAME:WORD", a part of a file name; NULL if there
 * is only one module. Without a word after the colon, the module before optimizations. Changes `d`.
 * NULL with a message. */
const struct io_dump *io_dumps_pick(struct diags *ds, struct io_dumps *d, const char *pick);
bool io_is_gzip(struct str bytes);
/* Decompresses gzip data. Returns NULL, or the problem, such as a decompressed size beyond the
 * limit of a text or out of proportion to the compressed one. */
const char *io_gunzip(struct str bytes, struct buf *out);
/* The format of a file that is certainly not HLO text, with advice on obtaining text; else NULL. */
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
/* A generated value for a parameter of the entry computation that suits its uses; its leaves are
 * numbered from `leaf`. */
struct literal *io_fake(struct diags *ds, struct arena *a, const struct module *m, int param,
                        enum io_fake kind, int64_t leaf, uint64_t seed);

#endif
