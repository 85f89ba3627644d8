/*
 * ffi_abi.h: the binary interface of API_VERSION_TYPED_FFI: the memory layout for which handlers
 * are compiled against version 0.3 of XLA's xla/ffi/api/c_api.h. The names are this program's; the
 * order of members and the numbers are XLA's. Every struct begins with its size, by which either
 * side detects missing members.
 */
#ifndef HLO_WORLD_FFI_ABI_H
#define HLO_WORLD_FFI_ABI_H

#include "base/base.h"

enum { FFI_MAJOR = 0, FFI_MINOR = 3 };
enum ffi_stage { FFI_INSTANTIATE, FFI_PREPARE, FFI_INITIALIZE, FFI_EXECUTE };
enum ffi_attr_type { FFI_ARRAY = 1, FFI_DICTIONARY, FFI_SCALAR, FFI_STRING };
enum { FFI_BUFFER = 1 }; /* the only type of arguments and results */
enum ffi_code {
    FFI_OK = 0,
    FFI_UNKNOWN = 2,
    FFI_INVALID = 3,
    FFI_NOT_FOUND = 5,
    FFI_NO_MEMORY = 8,
    FFI_UNIMPLEMENTED = 12
};

enum ffi_dtype {
#define DTYPE(id, spelling, bits, bytes, class, storage, compute, number) FFI_DT_##id = number,
#include "type/dtype.def"
};

#define FFI_HEAD                                                                                   \
    size_t size;                                                                                   \
    void *extension /* chain of extensions */

struct ffi_head {
    FFI_HEAD;
};
struct ffi_version {
    FFI_HEAD;
    int major, minor;
};
struct ffi_bytes {
    const char *ptr;
    size_t len;
};
struct ffi_scalar {
    enum ffi_dtype dtype;
    void *value;
};
struct ffi_array {
    enum ffi_dtype dtype;
    size_t count;
    void *data;
};
struct ffi_buffer {
    FFI_HEAD;
    enum ffi_dtype dtype;
    void *data;
    int64_t rank;
    int64_t *dims;
};
struct ffi_list { /* arguments, results */
    FFI_HEAD;
    int64_t count;
    int *types;
    void **at;
};
struct ffi_attrs {
    FFI_HEAD;
    int64_t count;
    enum ffi_attr_type *types;
    struct ffi_bytes **names; /* sorted */
    void **at;
};

struct ffi_api;
struct ffi_context;
struct ffi_error;
struct ffi_future;
struct ffi_frame {
    FFI_HEAD;
    const struct ffi_api *api;
    struct ffi_context *context;
    enum ffi_stage stage;
    struct ffi_list args, results;
    struct ffi_attrs attrs;
    struct ffi_future *future; /* out */
};
enum {
    FFI_FRAME_SIZE = offsetof(struct ffi_frame, future)
}; /* as XLA computes it; handlers check it */
typedef struct ffi_error *ffi_handler(struct ffi_frame *frame);

/* ---- arguments of the functions of the api ---- */

struct ffi_error_create {
    FFI_HEAD;
    const char *message;
    int code;
};
struct ffi_error_message {
    FFI_HEAD;
    struct ffi_error *error;
    const char *message; /* out */
};
struct ffi_error_destroy {
    FFI_HEAD;
    struct ffi_error *error;
};
struct ffi_allocate {
    FFI_HEAD;
    struct ffi_context *context;
    size_t bytes, alignment;
    void *data; /* out */
};
struct ffi_free {
    FFI_HEAD;
    struct ffi_context *context;
    size_t bytes;
    void *data;
};
struct ffi_schedule {
    FFI_HEAD;
    struct ffi_context *context;
    void (*task)(void *data);
    void *data;
};
struct ffi_threads {
    FFI_HEAD;
    struct ffi_context *context;
    int64_t *count; /* out */
};
struct ffi_future_create {
    FFI_HEAD;
    struct ffi_future *future; /* out */
};
struct ffi_future_set {
    FFI_HEAD;
    struct ffi_future *future;
    struct ffi_error *error; /* the error it is set to */
};
struct ffi_run_id {
    FFI_HEAD;
    struct ffi_context *context;
    int64_t id; /* out */
};
struct ffi_ordinal {
    FFI_HEAD;
    struct ffi_context *context;
    int32_t ordinal; /* out */
};

struct ffi_api {
    FFI_HEAD;
    struct ffi_version version;
    const void *internal; /* XLA's own, not part of the stable interface */
    struct ffi_error *(*error_create)(struct ffi_error_create *);
    void (*error_message)(struct ffi_error_message *);
    void (*error_destroy)(struct ffi_error_destroy *);
    struct ffi_error *(*handler_register)(struct ffi_head *);
    struct ffi_error *(*stream_get)(struct ffi_head *);
    struct ffi_error *(*type_register)(struct ffi_head *);
    struct ffi_error *(*context_get)(struct ffi_head *);
    struct ffi_error *(*state_set)(struct ffi_head *);
    struct ffi_error *(*state_get)(struct ffi_head *);
    struct ffi_error *(*allocate)(struct ffi_allocate *);
    struct ffi_error *(*free)(struct ffi_free *);
    struct ffi_error *(*schedule)(struct ffi_schedule *);
    struct ffi_error *(*thread_count)(struct ffi_threads *);
    struct ffi_error *(*future_create)(struct ffi_future_create *);
    struct ffi_error *(*future_set_available)(struct ffi_future_set *);
    struct ffi_error *(*future_set_error)(struct ffi_future_set *);
    struct ffi_error *(*run_id)(struct ffi_run_id *);
    struct ffi_error *(*ordinal)(struct ffi_ordinal *);
};

/* ---- attributes.c ---- */

/* Reads a backend_config, `{eps = 1.5 : f32, n = 3 : i64, name = "x", sizes = array<i64: 1, 2>}`,
 * as attributes in the arena; empty text has none. False, with the reason, when it is no such
 * dictionary. */
bool ffi_read_attrs(struct arena *a, struct str text, struct ffi_attrs *out, struct buf *why);

#endif
