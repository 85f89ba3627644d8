/*
 * pool.c: storage of values: accounted, and reused within a run.
 *
 * There are four size classes per power of two. Fresh pages cost more than most operations, so
 * freed storage is kept for the next value of about that size. Large storage comes from the reserve
 * of the run state, which keeps it between runs.
 */
#include "eval/eval_priv.h"

/* Limit of idle storage: IDLE_BYTES plus half of the storage in use. */
enum { IDLE_BYTES = 64 << 20 };

static unsigned class_of(size_t size, size_t *rounded)
{
    if (size <= 64) {
        *rounded = 64;
        return 0;
    }
    unsigned e =
        63 - (unsigned)__builtin_clzll((unsigned long long)(size - 1)); /* 2^e < size <= 2^(e+1) */
    size_t quarter = (size_t)1 << (e - 2), q = (size - 1 - ((size_t)1 << e)) >> (e - 2);
    *rounded = ((size_t)1 << e) + (q + 1) * quarter;
    return (e - 6) * 4 + (unsigned)q + 1;
}

void pool_init(struct pool *p)
{
    memset(p, 0, sizeof *p);
    arena_init(&p->headers);
}

void *pool_take_unbacked(struct unbacked *p, size_t size)
{
    enum { LINE = 64 };
    size = (size + LINE) & ~(size_t)(LINE - 1); /* never 0: no two buffers have the same address */
    if (size > p->size - p->at)
        p->at = 0;
    char *at = p->pages + p->at;
    p->at += size < p->size ? size : 0;
    return at;
}

static void free_storage(struct pool *p, void *data)
{
    if (!p->unbacked)
        mem_free(data);
}

static void make_spare(struct pool *p, struct buffer *b)
{
    b->data = NULL;
    b->refs = 0;
    b->next = p->spare;
    p->spare = b;
}

static void trim(struct pool *p)
{
    for (unsigned c = 0; c < POOL_CLASSES; c++)
        while (p->free[c]) {
            struct buffer *b = p->free[c];
            p->free[c] = b->next;
            free_storage(p, b->data);
            make_spare(p, b);
        }
    p->cached = 0;
}

void pool_free(struct pool *p)
{
    for (struct buffer *b = p->newest; b; b = b->older)
        if (b->class != POOL_BORROWED)
            free_storage(p, b->data);
    arena_free(&p->headers);
}

static struct buffer *new_header(struct pool *p)
{
    struct buffer *b = p->spare;
    if (b) {
        p->spare = b->next;
    } else {
        b = ARENA_NEW(&p->headers, struct buffer);
        b->older = p->newest;
        p->newest = b;
    }
    b->refs = 1;
    b->number = 0;
    b->next = NULL;
    return b;
}

static void count_used(struct pool *p, struct buffer *b, size_t size)
{
    b->used = size;
    p->live += size;
    if (p->live > p->peak)
        p->peak = p->live;
}

/* Finds idle storage of at most twice the size. */
static struct buffer *find_idle(struct pool *p, unsigned class, size_t size)
{
    for (unsigned c = class; c <= class + 4 && c < POOL_CLASSES; c++)
        if (p->free[c]) {
            struct buffer *b = p->free[c];
            p->free[c] = b->next;
            p->cached -= b->size;
            count_used(p, b, size);
            b->refs = 1;
            b->number = 0;
            b->next = NULL;
            return b;
        }
    return NULL;
}

static size_t idle_large(const struct pool *p) { return p->reserve ? reserve_idle(p->reserve) : 0; }

/* Frees all idle storage. */
static void trim_all(struct pool *p)
{
    trim(p);
    if (p->reserve)
        reserve_trim(p->reserve, 0);
}

/* Whether `more` bytes are within the limit; frees idle storage if that suffices. */
static bool fits_limit(struct pool *p, size_t more)
{
    if (p->limit && p->live + p->cached + idle_large(p) + more > p->limit)
        trim_all(p);
    bool over = p->limit && p->live + more > p->limit;
    p->over |= over;
    return !over;
}

static char *fresh_storage(struct pool *p, size_t size)
{
    return p->unbacked ? pool_take_unbacked(p->unbacked, size) : mem_alloc(size);
}

struct buffer *pool_take(struct pool *p, size_t size)
{
    size_t rounded;
    if (size > SIZE_MAX / 16)
        return NULL;
    bool large = p->reserve && size >= RESERVE_FROM;
    unsigned class = large ? POOL_LARGE : class_of(size, &rounded);
    if (large)
        rounded = size;
    struct buffer *b = large ? NULL : find_idle(p, class, rounded);
    if (b)
        return b;
    if (p->cached > IDLE_BYTES + p->live / 2)
        trim(p);
    if (!fits_limit(p, rounded))
        return NULL;
    char *data = fresh_storage(p, rounded);
    if (!data) {
        trim_all(p);
        data = fresh_storage(p, rounded);
    }
    if (!data)
        return NULL;
    b = new_header(p);
    b->class = class;
    b->size = rounded;
    b->data = p->unbacked ? data : mem_pass(data, oom_scope_of(p->headers.generation));
    count_used(p, b, rounded);
    return b;
}

struct buffer *pool_borrow(struct pool *p, void *data, size_t size)
{
    struct buffer *b = new_header(p);
    b->class = POOL_BORROWED;
    b->size = size;
    b->used = 0;
    b->data = data;
    return b;
}

void pool_drop(struct pool *p, struct buffer *b)
{
    if (--b->refs > 0)
        return;
    if (b->class == POOL_BORROWED || b->class == POOL_LARGE) {
        if (b->class == POOL_LARGE) {
            p->live -= b->used;
            free_storage(p, b->data);
        }
        make_spare(p, b);
        return;
    }
    p->live -= b->used;
    p->cached += b->size;
    b->next = p->free[b->class];
    p->free[b->class] = b;
}

/* Buffers without references are already in the free lists. */
void pool_settle(struct pool *p)
{
    size_t kept = 0;
    for (struct buffer *b = p->newest; b; b = b->older)
        if (b->kept > 0) {
            b->refs = b->kept;
            b->kept = 0;
            kept += b->used;
        } else if (b->refs > 0) {
            b->refs = 1;
            pool_drop(p, b);
        }
    if (p->cached > IDLE_BYTES)
        trim(p);
    p->live = p->peak = kept;
    p->over = false;
}

void *pool_steal(struct pool *p, struct buffer *b)
{
    if (b->refs != 1 || b->class == POOL_BORROWED)
        return NULL;
    void *data = b->data; /* it still counts as in use, now by the caller */
    make_spare(p, b);
    return p->unbacked ? data : mem_track(data); /* an earlier run may have allocated it */
}

void view_copy(struct view *to, const struct view *from)
{
    to->dtype = from->dtype;
    to->rank = from->rank;
    to->data = from->data;
    for (int d = 0; d < from->rank; d++) {
        to->dims[d] = from->dims[d];
        to->strides[d] = from->strides[d];
    }
}
