/*
 * base: arenas, vectors, maps, byte buffers, checked arithmetic, conversion between numbers and
 * text, tensor storage, the thread pool. Independent of HLO.
 *
 * Small allocations (arenas, byte buffers, heap blocks) never return NULL. If memory runs out, the
 * public function that was called frees what it allocated and fails; oom.h describes the
 * mechanism and the rules that it imposes. Storage whose size a user chooses (tensors) is allocated
 * by `mem_alloc`, which may return NULL and must be checked.
 */
#ifndef HLO_BASE_H
#define HLO_BASE_H

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof(*(a)))

#if defined __GNUC__
#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))
#define NOT_NULL(at) __attribute__((nonnull(at)))
#else
#define PRINTF_LIKE(at, first)
#define NOT_NULL(at)
#endif

/* ---- str.c: byte slices; not NUL-terminated unless documented, may contain NUL bytes ---- */

struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_FMT "%.*s" /* printf: STR_FMT with STR_ARG(s) */
#define STR_ARG(s) ((int)((s).len > INT_MAX ? INT_MAX : (s).len)), (s).ptr

static inline struct str str_of(const char *z) { return (struct str){z, strlen(z)}; }
static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}
/* Most comparisons differ in the first byte. */
static inline bool str_is(struct str a, const char *z)
{
    return a.len == 0 ? *z == '\0' : *a.ptr == *z && str_eq(a, str_of(z));
}
int str_cmp(struct str a, struct str b); /* bytewise; a prefix compares less */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str end);
/* A pattern that ends in `*` matches every string with that prefix. */
bool str_fits(struct str s, struct str pattern);
static inline bool char_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
static inline bool char_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool char_is_letter(char c) /* ASCII, or an underscore */
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/* The value of a hexadecimal digit; -1: none. */
static inline int char_hex(char c)
{
    const char lower = (char)(c | 32);
    return char_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
struct str str_trim(struct str s); /* without leading and trailing blanks */
/* The text after the first `n` bytes; removes and returns them. `n` may be at most the length. */
static inline struct str str_skip(struct str s, size_t n)
{
    return n ? (struct str){s.ptr + n, s.len - n}
             : s; /* the pointer of an empty string may be NULL */
}
static inline struct str str_take(struct str *s, size_t n)
{
    const struct str head = {s->ptr, n};
    *s = str_skip(*s, n);
    return head;
}
/* Removes and returns the text before the first separator, which is removed too; all of the text if
 * it has none. */
struct str str_cut(struct str *s, char separator);
const char *str_last(struct str s, char c); /* the last `c` in `s`, or NULL */
struct str str_cut_line(struct str *s); /* removes and returns the first line, with its line end */
bool str_eq_nocase(struct str a, struct str b);
/* The position of a word in a list; -1: it is not in it. */
int str_among(struct str s, const char *const *words, size_t count);
/* Edit distance (insertion, deletion, substitution, transposition of neighbours), at most `limit`.
 * Used for suggestions. */
unsigned str_distance(struct str a, struct str b, unsigned limit);
/* The nearest of several candidates, for suggestions. */
struct nearest {
    struct str word, found; /* found: empty if none is near */
    unsigned distance;      /* that of `found`, or the least that is too far */
};
struct nearest nearest_to(struct str word);
bool nearest_try(struct nearest *n, struct str candidate); /* whether it is the nearest so far */

/* ---- oom.c: out-of-memory scopes (oom.h) and heap blocks ---- */

_Noreturn void out_of_memory(void); /* transfers control to the innermost out-of-memory scope */
void *heap_alloc(size_t size);      /* like malloc, but never NULL; freed by heap_free */
void *heap_zalloc(size_t count, size_t size);
void *heap_grow(void *p, size_t size); /* p may be NULL */
char *heap_str(struct str s);          /* copy, NUL-terminated */
void heap_free(void *p);               /* NULL is allowed; may be called by any thread */
/* Declares pointers whose block is freed at the end of their scope: see SCOPED_BUF. */
#define SCOPED_HEAP __attribute__((cleanup(heap_free_at)))
static inline void heap_free_at(void *variable)
{
    void *p;
    memcpy(&p, variable, sizeof p); /* the pointer may be to any type */
    heap_free(p);
}

/* ---- arena.c: memory with bulk release ---- */

struct arena_chunk;
struct arena {
    struct arena_chunk *chunk; /* newest chunk, linked to older ones */
    char *at, *end;            /* free space of the newest chunk */
    size_t total;              /* bytes allocated from the system */
    /* Generation: identifies the out-of-memory scope that owns its chunks (oom.h); 0: none. */
    uint64_t generation;
};

/* Initializes an empty arena that belongs to the innermost out-of-memory scope. */
void arena_init(struct arena *a);
struct arena arena_make(void);    /* the same as a value */
void arena_free(struct arena *a); /* frees everything; the arena remains usable */
/* Declares arenas that are freed at the end of their scope: see SCOPED_BUF. */
#define SCOPED_ARENA __attribute__((cleanup(arena_free))) struct arena
void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, uninitialized */
/* Guarantees that the next `size` bytes are in one chunk. */
void arena_reserve(struct arena *a, size_t size);
void *arena_zalloc(struct arena *a, size_t size); /* zero-initialized */
void *arena_copy(struct arena *a, const void *src, size_t size);
struct str arena_str(struct arena *a, struct str s); /* copy, NUL-terminated */
struct str arena_printf(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);
struct str arena_vprintf(struct arena *a, const char *format, va_list ap) PRINTF_LIKE(2, 0)
    NOT_NULL(2);

#define ARENA_NEW(a, T) ((T *)arena_zalloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_zalloc((a), (size_t)(n) * sizeof(T)))
#define ARENA_DUP(a, src, n) arena_copy((a), (src), (size_t)(n) * sizeof *(src))

/* For scratch memory: arena_release frees everything allocated after the mark. */
struct arena_mark {
    struct arena_chunk *chunk;
    char *at;
};
struct arena_mark arena_mark(struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);

/* Grows an arena-backed array for one more element; returns the array, which may have moved. */
void *vec_grow(struct arena *a, void *items, size_t count, size_t *capacity, size_t item_size);
#define VEC_PUSH(a, items, count, capacity)                                                        \
    (*((items) = vec_grow((a), (items), (size_t)(count), &(capacity), sizeof *(items)),            \
       (items) + (count)++))

/* Moves `low` to the first of the positions [low, high) for which `before`, an expression of the
 * position `middle`, is false, or to `high`. It holds for all positions up to that one, and none
 * after it. */
#define BISECT(low, high, middle, before)                                                          \
    do {                                                                                           \
        __typeof__(low) bound_ = (high);                                                           \
        while ((low) < bound_) {                                                                   \
            const __typeof__(low) middle = (low) + (bound_ - (low)) / 2;                           \
            if (before)                                                                            \
                (low) = middle + 1;                                                                \
            else                                                                                   \
                bound_ = middle;                                                                   \
        }                                                                                          \
    } while (0)

/* ---- storage.c: storage of tensors ---- */

/* 64-byte aligned; NULL if the allocation fails. A large block comes from the reserve in use.
 * `mem_free(NULL)` is allowed; any thread may free. */
void *mem_alloc(size_t size);
/* Zeroed; a large block consists of zero pages, committed on the first write. */
void *mem_zalloc(size_t size);
void mem_free(void *p);
/* Detaches the block from its out-of-memory scope: the caller owns it; returns p, which may be
 * NULL. */
void *mem_detach(void *p);
void *mem_track(void *p); /* reverses mem_detach: the innermost scope owns the block */

/* A cache of large blocks on huge pages, for storage that is needed again and again, as in the runs
 * of a program. `mem_free` returns a block to the reserve that it was allocated from, whichever
 * thread calls it and whenever. A reserve holds at most its peak use plus RESERVE_SLACK bytes. Safe
 * for concurrent use. */
struct reserve;
enum { RESERVE_FROM = 1 << 20, RESERVE_SLACK = 16 << 20 }; /* smaller blocks come from the heap */
/* Returns an empty reserve, owned by the caller. */
struct reserve *reserve_new(void);
/* Called by the owner; blocks in use stay valid; NULL is allowed. */
void reserve_release(struct reserve *r);
/* From now on the thread, and tasks that it runs, allocate from this reserve, or from none if NULL.
 * Returns the one that was in use before, to be restored. No effect outside an out-of-memory
 * scope. */
struct reserve *reserve_use(struct reserve *r);
size_t reserve_idle(struct reserve *r); /* bytes kept for reuse */
/* Frees idle blocks until at most `keep` bytes remain. */
void reserve_trim(struct reserve *r, size_t keep);

/* ---- thread_pool.c: the thread pool ---- */

/* A thread pool. Results must not depend on the number of threads: a task is divided into parts by
 * its size only. */
struct thread_pool;
typedef void thread_pool_fn(void *context, int64_t part,
                            int worker); /* 0 <= worker < thread_pool_size */
/* `threads` includes the caller. Returns NULL for one thread or if memory runs out; NULL is a valid
 * pool in which the caller does all the work. */
struct thread_pool *thread_pool_new(int threads);
void thread_pool_free(struct thread_pool *t); /* called by the owner, while no task runs */
int thread_pool_size(const struct thread_pool *t);
/* Calls `fn` once for every part in 0 ... parts-1, in any order and on any worker, and returns when
 * all calls have returned. If the pool is busy with another task (as when a part calls
 * thread_pool_run itself), the caller runs all parts. */
void thread_pool_run(struct thread_pool *t, int64_t parts, thread_pool_fn *fn, void *context);
/* The same, for 0 ... count-1 in ranges of `piece` (the last one may be shorter): [from, to). */
typedef void thread_pool_range_fn(void *context, int64_t from, int64_t to, int worker);
void thread_pool_share(struct thread_pool *t, int64_t count, int64_t piece,
                       thread_pool_range_fn *fn, void *context);

/* ---- buf.c: growable byte buffer on the heap ---- */

struct buf {
    char *data; /* NUL-terminated if size > 0 */
    size_t size, capacity;
};

void buf_free(struct buf *b);
/* Declares buffers that are freed at the end of their scope. In a function with an OOM_SCOPE, they
 * are declared after it. */
#define SCOPED_BUF __attribute__((cleanup(buf_free))) struct buf
/* Guarantees space for `more` further bytes. */
void buf_reserve(struct buf *b, size_t more);
void buf_bytes(struct buf *b, const void *bytes, size_t size);
void buf_str(struct buf *b, struct str s);
void buf_puts(struct buf *b, const char *z);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list ap) PRINTF_LIKE(2, 0);
void buf_int(struct buf *b, int64_t v);
void buf_uint(struct buf *b, uint64_t v);
/* Writes the brackets of a list and the separators between its items; the body writes item K:
 *     for (int k = 0; BUF_LIST(b, k, count, "{}", ", "); k++)
 * BRACKETS may be empty. */
#define BUF_LIST(b, k, count, brackets, separator)                                                 \
    buf_list((b), (int64_t)(k), (int64_t)(count), (brackets), (separator))
bool buf_list(struct buf *b, int64_t k, int64_t count, const char *brackets, const char *separator);
/* The contents as a slice; the pointer is not NULL, even for an empty buffer. */
static inline struct str buf_view(const struct buf *b)
{
    return b->size ? (struct str){b->data, b->size} : STR("");
}
/* Length of the UTF-8 character at s[i]; 0 if the bytes there are not valid UTF-8 (overlong forms,
 * surrogates and code points above 10FFFF are invalid). */
size_t str_utf8(struct str s, size_t i);
bool str_is_utf8(struct str s);
/* The position of the first byte of the character that `at` is in; the length is a position too. */
size_t str_char_start(struct str s, size_t at);
/* Writes a code point in UTF-8; returns the number of bytes. */
size_t utf8_encode(uint32_t code, char out[4]);
/* Appends a JSON string with quotes; invalid UTF-8 becomes U+FFFD. */
void buf_json_str(struct buf *b, struct str s);
/* Appends a JSON number with `digits` significant digits; an infinity or NaN becomes a string, as
 * "inf". */
void buf_json_number(struct buf *b, double v, int digits);
/* Appends `,"key":`; the comma is omitted at the beginning of an object or a list. KEY NULL: the
 * comma before the next element of a list. */
void buf_json_key(struct buf *b, const char *key);
/* A key and its value: a string, a number, a truth value, or the bracket that begins a list or an
 * object. KEY NULL: the next element of a list. */
void buf_json_text(struct buf *b, const char *key, struct str value);
void buf_json_count(struct buf *b, const char *key, uint64_t value);
void buf_json_int(struct buf *b, const char *key, int64_t value);
void buf_json_real(struct buf *b, const char *key, double value, int digits);
void buf_json_bool(struct buf *b, const char *key, bool value);
void buf_json_open(struct buf *b, const char *key, char bracket);

/* ---- map.c: open-addressing map from a byte string to a pointer; keys are not copied ---- */

struct map_slot {
    struct str key;
    uint64_t hash;
    void *value; /* NULL: empty slot */
};
struct map {
    struct arena *arena;
    struct map_slot *slots;
    size_t count, capacity;
    uint64_t seed;
};

/* Initializes an empty map whose table is allocated in `arena`. */
void map_init(struct map *m, struct arena *arena);
void *map_get(const struct map *m, struct str key); /* NULL when absent */
/* Stores a non-NULL value; returns the previous value of the key, NULL if there was none. */
void *map_put(struct map *m, struct str key, void *value);
uint64_t hash_bytes(const void *bytes, size_t size); /* independent of the process */
/* The same with a seed. A seed derived from an address differs from process to process, so the
 * author of an input cannot choose names that collide. */
uint64_t hash_from(uint64_t seed, const void *bytes, size_t size);
/* A seed for hash_from, derived from an address. */
uint64_t hash_seed(const void *address);

/* ---- integers ---- */

/* Checked arithmetic on sizes that users choose: false on overflow. */
static inline bool mul_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool add_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool sub_i64(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_sub_overflow(a, b, out);
}

/* `unit` times the product of the dimensions, in whatever order they come: 0 if one of them is 0,
 * however long the others are. False on overflow or for a negative dimension. */
bool dims_product(int64_t unit, int rank, const int64_t *dims, int64_t *out);
/* The number of elements; INT64_MAX stands for more. The dimensions must not be negative. */
int64_t dims_elements(int rank, const int64_t *dims);

static inline void swap_i64(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;
    *a = *b;
    *b = kept;
}
static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ratio_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
} /* a >= 0, b > 0 */
static inline int64_t round_up(int64_t a, int64_t unit) { return ratio_up(a, unit) * unit; }

/* The first position of the value in the list; -1: none. */
static inline int64_t i64_find(const int64_t *list, int64_t count, int64_t value)
{
    for (int64_t k = 0; k < count; k++)
        if (list[k] == value)
            return k;
    return -1;
}
static inline bool i64_in(const int64_t *list, int64_t count, int64_t value)
{
    return i64_find(list, count, value) >= 0;
}

/* ---- num.c: numbers <-> text, correctly rounded, independent of the locale ---- */

/* Parses all of `s` as a decimal number ([-]digits[.digits][e[+-]digits]) and rounds to the nearest
 * double; false if malformed. Overflow gives an infinity. Numbers of at most 17 digits take a fast
 * path. */
bool num_parse_double(struct str s, double *out);
/* Parses all of `s` as [-]digits. False if malformed or outside -2^63 .. 2^64-1; values above
 * 2^63-1 wrap, as in XLA's lexer. */
bool num_parse_int(struct str s, int64_t *out);
/* The same, but values outside int64 are an error. */
bool num_parse_i64(struct str s, int64_t *out);
/* Formats like C's %.{digits}g, always with a decimal point; v must be finite. Returns the
 * length. */
size_t num_format_g(char *out, size_t size, double v, int digits);
/* The same for any number: nan, without its sign, inf or -inf. */
void buf_g(struct buf *b, double v, int digits);

/* Formats a finite double as %.15g does if that reads back as the same double, otherwise as %.17g
 * does; with `single` a float, with 6 or 9 digits. `out` has NUM_EXACT_SIZE bytes, the result no
 * NUL. Returns the length. */
enum { NUM_EXACT_SIZE = 32 };
size_t num_format_exact(char *out, double v, bool single);

extern const char num_digit_pairs[201]; /* 000102 ... 99 */

/* ---- units.c: amounts with units, for people ---- */

/* Appends "320 B"; from 10 KiB on "48.0 KiB", "1.5 GiB". */
void buf_byte_size(struct buf *out, uint64_t bytes);
/* Appends a time in eleven columns: "  12.345 us", "     610 ns". */
void buf_seconds(struct buf *out, double s);
/* Appends an amount in multiples of 10^9: "12.3", "0.0041". */
void buf_giga(struct buf *out, double amount);

/* ---- budget.c: the limits of a run ---- */

int64_t now_ns(void); /* monotonic clock, nanoseconds */
static inline double now_seconds(void) { return (double)now_ns() * 1e-9; }

struct limits {      /* 0: none */
    uint64_t steps;  /* instructions executed, and iterations of loops */
    uint64_t memory; /* bytes of live values */
    double seconds;
    uint64_t trip; /* iterations of a single loop */
};
enum limit {
    LIMIT_NONE,
    LIMIT_STEPS,
    LIMIT_MEMORY,
    LIMIT_TIME,
    LIMIT_TRIP,
    LIMIT_STOPPED,
    LIMIT_INTERRUPTED
};
struct budget {
    int64_t slice;    /* steps until the clock is checked again */
    uint64_t steps;   /* remaining steps, without those of the slice */
    int64_t deadline; /* on the clock of now_ns; INT64_MAX: none */
    /* Set by another thread to end the run with LIMIT_STOPPED; may be NULL. */
    const _Atomic bool *stop;
    /* Set when the user interrupts: LIMIT_INTERRUPTED; may be NULL. */
    const _Atomic bool *interrupt;
    enum limit hit; /* the limit that ended the run */
};
/* Starts a run with these limits; the time limit counts from now. `stop` as in struct budget. */
void budget_start(struct budget *b, const struct limits *l, const _Atomic bool *stop);
/* Starts the next slice, and charges one step; false, with `hit` set, when a limit is reached. */
bool budget_refill(struct budget *b);
/* The number of remaining steps. */
uint64_t budget_left(const struct budget *b);
/* Charges `steps` steps, at most those that remain, without checking the clock. */
void budget_charge(struct budget *b, uint64_t steps);
bool budget_look(struct budget *b); /* checks the clock, `stop` and `interrupt`; charges nothing */
/* Ends the slice, so that the next step calls budget_refill; charges nothing. */
void budget_end_slice(struct budget *b);
/* Charges one step; false, with `hit` set, when a limit is reached. */
static inline bool budget_step(struct budget *b) { return --b->slice >= 0 || budget_refill(b); }
/* Charges one step before an instruction. Since an instruction may take long, a time limit or an
 * interruption is checked before each one, not only at the end of a slice. */
static inline bool budget_inst(struct budget *b)
{
    bool waited_for = b->deadline != INT64_MAX || (b->interrupt && *b->interrupt);
    return (!waited_for || budget_look(b)) && budget_step(b);
}

/* ---- storage.c: reference-counted memory that several values share ---- */

struct owner {
    _Atomic size_t holders;
    void (*release)(struct owner *o); /* frees the memory and the owner itself */
};
/* The reference count starts at 1. */
void owner_init(struct owner *o, void (*release)(struct owner *o));
struct owner *owner_hold(struct owner *o); /* increments the count; returns o, which may be NULL */
/* Decrements the count, and releases the memory at 0; o may be NULL. */
void owner_drop(struct owner *o);

/* ---- file.c: whole files ---- */

struct file_bytes {
    const char *data; /* not NULL after success, even for an empty file */
    size_t size;
    struct mapping *mapping; /* NULL: on the heap */
};
/* Reads a file ("-": standard input) into memory, so that later changes of the file have no effect.
 * False with errno set; EFBIG if a file has 4 GiB or more, or a stream (pipe, device) exceeds its
 * limit. */
bool file_read(const char *path, struct file_bytes *out);
/* Frees or unmaps the contents; {0} is allowed. */
void file_release(struct file_bytes *f);
/* Declares contents that are released at the end of their scope: see SCOPED_BUF. */
#define SCOPED_BYTES __attribute__((cleanup(file_release))) struct file_bytes
const char *file_problem(int error);      /* strerror, with messages for those limits */
bool file_is_directory(const char *path); /* false, too, if it does not exist */
/* Whether it is a regular file that begins with these bytes. */
bool file_starts_with(const char *path, struct str with);
/* Lists the names in a directory, hidden files included, sorted, allocated in the arena. False with
 * errno set. */
bool directory_names(struct arena *a, const char *path, const char ***names, size_t *count);
/* Appends the next line with its line end, if it has one; FILE_ENDLESS if it exceeds the limit. */
enum file_line { FILE_LINE, FILE_END, FILE_ENDLESS };
enum file_line file_line(FILE *f, struct buf *out);
/* Whether `size` bytes exceed the limit for a file read into memory at once. */
bool file_too_long(int fd, size_t size);
/* Takes ownership of a mapped file (base/mapped.h) that several values will refer to. Returns NULL,
 * and the caller keeps the file, if it is not mapped. The file must not be truncated while it is in
 * use: reading past its end raises SIGBUS. */
struct owner *file_share(struct file_bytes *f);

#endif
