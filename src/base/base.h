/*
 * base: memory arenas, vectors, maps, byte buffers, checked maths, number <-> text. It has never
 * heard of HLO.
 *
 * Small allocations (arenas, byte buffers, blocks of the heap) never return NULL. When there is no
 * memory, the function of hlo.h that was called frees what it took and fails; guard.h explains how,
 * and which rules that needs. Storage whose size a user chooses (tensors) is taken with
 * `mem_alloc`, which may return NULL and must be checked.
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

/* ---- str.c: slices of bytes; never NUL-terminated unless said, may hold NUL bytes ---- */

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
static inline bool str_is(struct str a, const char *z) /* most words differ in the first letter */
{
    return a.len == 0 ? *z == '\0' : *a.ptr == *z && str_eq(a, str_of(z));
}
int str_cmp(struct str a, struct str b); /* bytewise, shorter first on a tie */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str end);
bool str_fits(struct str s,
              struct str pattern); /* one that ends in `*`: all that begin with the rest */
static inline bool char_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
struct str str_trim(struct str s); /* without blanks at either end */
bool str_eq_nocase(struct str a, struct str b);
/* Edit distance (insert, delete, replace, swap neighbours), capped at `limit`. For suggestions. */
unsigned str_distance(struct str a, struct str b, unsigned limit);

/* ---- guard.c: what happens when memory runs out (guard.h), and blocks of the heap ---- */

_Noreturn void out_of_memory(void); /* control goes back to the innermost guard */
void *heap_alloc(size_t size);      /* as malloc, but never NULL; given back by heap_free */
void *heap_zalloc(size_t count, size_t size);
void *heap_grow(void *p, size_t size); /* p may be NULL */
char *heap_str(struct str s);          /* copy, NUL-terminated */
void heap_free(void *p);               /* NULL is fine, from any thread */

/* ---- arena.c: memory that is given back all at once ---- */

struct arena_chunk;
struct arena {
    struct arena_chunk *chunk; /* newest chunk, linked to older ones */
    char *at, *end;            /* free space of the newest chunk */
    size_t total;              /* bytes taken from the system */
    uint64_t born;             /* number of the guard it belongs to when memory runs out; 0: none */
};

void arena_init(struct arena *a);
void arena_free(struct arena *a);                /* everything; the arena may be used again */
void *arena_alloc(struct arena *a, size_t size); /* 16-byte aligned, not cleared */
void arena_reserve(struct arena *a,
                   size_t size); /* makes sure that the next `size` bytes come out of one chunk */
void *arena_zalloc(struct arena *a, size_t size); /* cleared */
void *arena_copy(struct arena *a, const void *src, size_t size);
struct str arena_str(struct arena *a, struct str s); /* copy, NUL-terminated */
struct str arena_printf(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);
struct str arena_vprintf(struct arena *a, const char *format, va_list ap) PRINTF_LIKE(2, 0)
    NOT_NULL(2);

#define ARENA_NEW(a, T) ((T *)arena_zalloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_zalloc((a), (size_t)(n) * sizeof(T)))
#define ARENA_DUP(a, src, n) arena_copy((a), (src), (size_t)(n) * sizeof *(src))

/* Scratch use: everything taken after the mark is given back by the release. */
struct arena_mark {
    struct arena_chunk *chunk;
    char *at;
};
struct arena_mark arena_mark(struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);

/* Room for one more element at the end of an arena-backed array: the (possibly moved) array. */
void *vec_grow(struct arena *a, void *items, size_t count, size_t *capacity, size_t item_size);
#define VEC_PUSH(a, items, count, capacity)                                                        \
    (*((items) = vec_grow((a), (items), (size_t)(count), &(capacity), sizeof *(items)),            \
       (items) + (count)++))

/* ---- storage.c: storage of tensors ---- */

/* 64-byte aligned, NULL when there is not enough. `mem_free(NULL)` is fine, from any thread. */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t size); /* untouched pages cost nothing until they are written */
void mem_free(void *p);
void *mem_keep(
    void *p); /* nobody gives it back when memory runs out but whoever has it; NULL is fine; p */
void *mem_guard(void *p); /* undoes mem_keep: the innermost guard has it again */

/* Large blocks on huge pages, for reuse. What `mem_free` is given goes back to the reserve it came
 * from, whichever thread frees it and however late. A reserve never holds more than was once in use
 * from it plus RESERVE_SLACK. Threads may share it. */
struct reserve;
enum {
    RESERVE_FROM = 2 << 20,
    RESERVE_SLACK = 16 << 20
}; /* below RESERVE_FROM, the heap does as well */
struct reserve *reserve_new(void);
void reserve_release(struct reserve *r); /* by its owner; blocks in use stay valid; NULL is fine */
void *reserve_take(struct reserve *r, size_t size); /* not cleared; NULL when there is not enough */
size_t reserve_idle(struct reserve *r);             /* bytes kept for reuse */
void reserve_trim(struct reserve *r,
                  size_t keep); /* frees idle blocks until no more than `keep` bytes are left */

/* ---- team.c: threads that share the parts of a task ---- */

/* The result must not depend on the number of threads: a task is cut by its size, not by who is
 * there to work on it. */
struct team;
typedef void team_fn(void *context, int64_t part, int member); /* 0 <= member < team_size */
struct team *team_new(int threads); /* `threads` counts the caller. NULL is a team of the caller
                                       alone: for one thread, or without memory */
void team_free(struct team *t);     /* by its owner, when no task runs */
int team_size(const struct team *t);
int team_processors(void); /* that this process may run on */
/* Calls `fn` once for every part below `parts`, in any order and by any member, and returns when
 * all are done. If the team is busy with another task (as when a part calls team_run itself), the
 * caller does all parts. */
void team_run(struct team *t, int64_t parts, team_fn *fn, void *context);

/* ---- buf.c: growing byte buffer on the heap, for text that is being made ---- */

struct buf {
    char *data; /* NUL-terminated whenever size > 0 */
    size_t size, capacity;
};

void buf_free(struct buf *b);
void buf_reserve(struct buf *b, size_t more);
void buf_bytes(struct buf *b, const void *bytes, size_t size);
void buf_str(struct buf *b, struct str s);
void buf_puts(struct buf *b, const char *z);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *format, va_list ap) PRINTF_LIKE(2, 0);
void buf_int(struct buf *b, int64_t v);
void buf_uint(struct buf *b, uint64_t v);
/* Never a null pointer, not even for an empty buffer. */
static inline struct str buf_view(const struct buf *b)
{
    return b->size ? (struct str){b->data, b->size} : STR("");
}
/* Length of the UTF-8 character at s[i], or 0 when the bytes there are not one (overlong forms,
 * surrogates and numbers past 10FFFF included). */
size_t str_utf8(struct str s, size_t i);
/* JSON string with quotes; bytes that are not UTF-8 become U+FFFD. */
void buf_json_str(struct buf *b, struct str s);
/* JSON number of so many digits; what is not finite becomes a string, as "inf". */
void buf_json_number(struct buf *b, double v, int digits);
/* `,"key":`, without the comma where an object begins. */
void buf_json_key(struct buf *b, const char *key);
/* A key and its value: a string, a number, a truth value, or the bracket that begins a list or an
 * object. */
void buf_json_text(struct buf *b, const char *key, struct str value);
void buf_json_count(struct buf *b, const char *key, uint64_t value);
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

void map_init(struct map *m, struct arena *arena);
void *map_get(const struct map *m, struct str key); /* NULL when absent */
/* Stores a non-NULL value; returns the one that was there before (NULL when the key is new). */
void *map_put(struct map *m, struct str key, void *value);
uint64_t hash_bytes(const void *bytes, size_t size); /* the same in every process */
/* The same, but seeded. A seed taken from an address, which differs from process to process, keeps
 * whoever writes a file from choosing names that all fall into one slot of a table. */
uint64_t hash_from(uint64_t seed, const void *bytes, size_t size);
uint64_t hash_seed(const void *address);

/* ---- whole numbers ---- */

/* Of sizes that users choose: false on overflow. */
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

static inline int64_t min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t ratio_up(int64_t a, int64_t b) { return (a + b - 1) / b; } /* a >= 0, b > 0 */
static inline int64_t round_up(int64_t a, int64_t unit) { return ratio_up(a, unit) * unit; }

static inline bool i64_in(const int64_t *list, int64_t count, int64_t value)
{
    for (int64_t k = 0; k < count; k++)
        if (list[k] == value)
            return true;
    return false;
}

/* ---- num.c: numbers <-> text, correctly rounded, whatever the locale ---- */

/* The whole of `s` as a decimal number ([-]digits[.digits][e[+-]digits]), nearest double;
 * false when it is not one. Overflow gives an infinity. Fast for the usual 17 digits and fewer. */
bool num_parse_double(struct str s, double *out);
/* The whole of `s` as [-]digits. False when malformed or outside -2^63 .. 2^64-1; values above
 * 2^63-1 wrap, as XLA's lexer does. */
bool num_parse_int(struct str s, int64_t *out);
bool num_parse_i64(struct str s, int64_t *out); /* the same, but refuses what does not fit */
/* C's %.{digits}g with a point as the decimal separator; nan and inf are the caller's. Returns
 * length. */
size_t num_format_g(char *out, size_t size, double v, int digits);
void buf_g(struct buf *b, double v, int digits);

/* ---- budget.c: how much a run may take ---- */

int64_t now_ns(void); /* nanoseconds of a clock that nobody sets */
static inline double now_seconds(void) { return (double)now_ns() * 1e-9; }

struct limits {      /* 0: none */
    uint64_t steps;  /* instructions run, and iterations of loops */
    uint64_t memory; /* bytes of values alive at once */
    double seconds;
    uint64_t trip; /* iterations of any one loop */
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
    int64_t slice;                 /* steps until the next look at the clock */
    uint64_t steps;                /* what is left after those */
    int64_t deadline;              /* of now_ns; INT64_MAX: none */
    const _Atomic bool *stop;      /* somebody else may end the run: LIMIT_STOPPED; or NULL */
    const _Atomic bool *interrupt; /* and the user: LIMIT_INTERRUPTED; or NULL */
    enum limit hit;                /* the one that ended the run */
};
void budget_start(struct budget *b, const struct limits *l, const _Atomic bool *stop);
bool budget_refill(struct budget *b);
uint64_t budget_left(const struct budget *b);
/* Pays for `steps` steps, of those that are left, without a look at the clock. */
void budget_pay(struct budget *b, uint64_t steps);
bool budget_look(
    struct budget *b); /* looks at the clock and at `stop` and `interrupt`; costs no step */
/* Ends the slice, so that the next step calls budget_refill; costs no step. */
void budget_end_slice(struct budget *b);
/* Pays for one step; false, with `hit` set, once a limit is reached. */
static inline bool budget_step(struct budget *b) { return --b->slice >= 0 || budget_refill(b); }
/* The same before an instruction, which may take long: whoever waits for the run to end, or has set
 * a time limit, should not have to wait for thousands of instructions. */
static inline bool budget_inst(struct budget *b)
{
    bool waited_for = b->deadline != INT64_MAX || (b->interrupt && *b->interrupt);
    return (!waited_for || budget_look(b)) && budget_step(b);
}

/* ---- owner.c: memory shared by several values, freed when the last of them goes ---- */

struct owner {
    _Atomic size_t holders;
    void (*release)(struct owner *o); /* frees the memory, and the owner itself */
};
/* Its count begins at one. */
void owner_init(struct owner *o, void (*release)(struct owner *o));
struct owner *owner_hold(struct owner *o); /* returns o; NULL is fine, and gives NULL */
void owner_drop(struct owner *o);

/* ---- file.c: whole files ---- */

struct file_bytes {
    const char *data; /* never NULL after success, even for an empty file */
    size_t size;
    struct mapping *mapping; /* NULL: on the heap */
};
/* Reads it ("-": standard input): the bytes stay what they are whatever becomes of the file. False
 * with errno set, to EFBIG where it has 4 GiB, or goes on and on as pipes and devices may. */
bool file_read(const char *path, struct file_bytes *out);
void file_release(struct file_bytes *f);
const char *file_problem(int error);                 /* strerror, with words of those limits */
bool file_begins(const char *path, struct str with); /* a regular file, with these few bytes */
/* The names in a folder, hidden files included, sorted, in the arena. False with errno set. */
bool folder_names(struct arena *a, const char *path, const char ***names, size_t *count);
/* Adds the next line with its end, if it has one; to an endless one no more than the limit. */
enum file_line { FILE_LINE, FILE_END, FILE_ENDLESS };
enum file_line file_line(FILE *f, struct buf *out);
bool file_too_long(int fd, size_t size); /* for what is read of it into memory, at one time */
/* Takes over a mapped file (base/mapped.h) that several values will lie in. NULL, and the file is
 * still the caller's, when it is not mapped. The file must not get shorter while it is used:
 * reading past its end is SIGBUS. */
struct owner *file_share(struct file_bytes *f);

#endif
