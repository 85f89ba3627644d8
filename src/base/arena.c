/*
 * arena.c: region allocation with bulk release, and growable arrays in arenas.
 *
 * An arena allocates from chunks whose size grows geometrically. If the last allocation of an arena
 * is a growable array, it is extended in place.
 */
#include "base/oom.h"

#include "base/system.h"

#include <stdlib.h>

/* The first chunk is small: a run of a few microseconds has arenas of its own, and larger chunks
 * would make malloc and free dominate its time. */
enum { CHUNK_MIN = 2 * 1024, ALIGNMENT = 16 };
/* Large arenas grow by multiples of the huge page size: the page faults of small pages would cost
 * more than parsing. */
enum { HUGE_PAGE = 2 * 1024 * 1024, HUGE_CHUNK = 4 * HUGE_PAGE };

struct arena_chunk {
    struct tracked tracked;
    struct arena_chunk *older;
    size_t size; /* including this header */
    char *end;
    char *pad; /* makes the header size a multiple of the alignment */
};

struct arena arena_make(void) { return (struct arena){.generation = oom_generation()}; }

void arena_init(struct arena *a) { *a = arena_make(); }

void arena_adopt(struct arena *a)
{
    a->generation = oom_generation();
    for (struct arena_chunk *chunk = a->chunk; chunk; chunk = chunk->older) {
        oom_untrack(&chunk->tracked);
        oom_track(&chunk->tracked, oom_innermost());
    }
}

static void drop_newest(struct arena *a)
{
    struct arena_chunk *chunk = a->chunk;
    a->chunk = chunk->older;
    a->total -= chunk->size;
    oom_untrack(&chunk->tracked);
    free(chunk);
}

void arena_free(struct arena *a)
{
    while (a->chunk)
        drop_newest(a);
    *a = (struct arena){.generation = a->generation};
}

/* Rounds `*size` up to a multiple of the huge page size. Without huge pages, the system uses
 * small ones. */
static void *huge_chunk(size_t *size)
{
    *size = (*size + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    void *chunk = aligned_alloc(HUGE_PAGE, *size);
    if (chunk)
        system_advise_huge(chunk, *size);
    return chunk;
}

static void add_chunk(struct arena *a, size_t need)
{
    size_t size = a->total < CHUNK_MIN ? CHUNK_MIN : a->total;
    bool huge = a->total >= HUGE_CHUNK || need >= HUGE_CHUNK;
    if (need > SIZE_MAX / 2)
        out_of_memory();
    if (size > arena_chunk_most)
        size = arena_chunk_most;
    if (huge)
        size = HUGE_CHUNK;
    if (size < need + sizeof(struct arena_chunk))
        size = need + sizeof(struct arena_chunk);
    struct arena_chunk *chunk = huge ? huge_chunk(&size) : malloc(size);
    if (!chunk)
        out_of_memory();
    *chunk = (struct arena_chunk){.older = a->chunk, .size = size, .end = (char *)chunk + size};
    oom_track(&chunk->tracked, oom_scope_of(a->generation));
    a->chunk = chunk;
    a->at = (char *)(chunk + 1);
    a->end = chunk->end;
    a->total += size;
}

/* `alignment` is a power of two of at most ALIGNMENT. */
static void *take(struct arena *a, size_t size, size_t alignment)
{
    size_t skip = (size_t)(-(uintptr_t)a->at & (alignment - 1));
    if ((size_t)(a->end - a->at) < skip || (size_t)(a->end - a->at) - skip < size || !a->chunk) {
        add_chunk(a, size);
        skip = 0;
    }
    char *p = a->at + skip;
    a->at = p + size;
    return p;
}

void *arena_alloc(struct arena *a, size_t size) { return take(a, size, ALIGNMENT); }

void arena_reserve(struct arena *a, size_t size)
{
    if (!a->chunk || (size_t)(a->end - a->at) < size)
        add_chunk(a, size);
}

void *arena_zalloc(struct arena *a, size_t size)
{
    void *p = arena_alloc(a, size);
    memset(p, 0, size);
    return p;
}

void *arena_copy(struct arena *a, const void *src, size_t size)
{
    void *p = arena_alloc(a, size);
    if (size)
        memcpy(p, src, size);
    return p;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = take(a, s.len + 1, 1);
    if (s.len)
        memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return (struct str){p, s.len};
}

/* Formats into the free space of the chunk, and again into a new chunk if the text did not fit. */
struct str arena_vprintf(struct arena *a, const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t available = (size_t)(a->end - a->at);
    int n = vsnprintf(a->at, available, format, ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    char *p = take(a, len + 1, 1);
    if (len >= available)
        vsnprintf(p, len + 1, format, again);
    p[len] = '\0';
    va_end(again);
    return (struct str){p, len};
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    struct str s = arena_vprintf(a, format, ap);
    va_end(ap);
    return s;
}

struct arena_mark arena_mark(struct arena *a) { return (struct arena_mark){a->chunk, a->at}; }

/* The first chunk of an arena that was empty is small and is kept for reuse. */
void arena_release(struct arena *a, struct arena_mark mark)
{
    while (a->chunk != mark.chunk && (mark.chunk || a->chunk->older || a->chunk->size > CHUNK_MIN))
        drop_newest(a);
    bool kept = a->chunk && !mark.chunk;
    a->at = kept ? (char *)(a->chunk + 1) : mark.at;
    a->end = a->chunk ? a->chunk->end : NULL;
}

void *vec_grow(struct arena *a, void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity)
        return items;
    size_t requested = *capacity ? *capacity * 2 : 4;
    if (requested <= count)
        requested = count + 1;
    if (requested > SIZE_MAX / 2 / item_size)
        out_of_memory();
    size_t old_size = *capacity * item_size, more = (requested - *capacity) * item_size;
    if (old_size && (char *)items + old_size == a->at && (size_t)(a->end - a->at) >= more) {
        a->at += more;
    } else {
        void *moved = arena_alloc(a, requested * item_size);
        if (count)
            memcpy(moved, items, count * item_size);
        items = moved;
    }
    *capacity = requested;
    return items;
}
