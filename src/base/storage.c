/*
 * storage.c: storage of tensors, from the heap or from a reserve of large blocks, and reference-
 * counted owners of storage that several values share.
 *
 * The page faults of fresh memory cost more than most operations on its contents, so a reserve maps
 * large blocks at huge-page boundaries and caches freed ones. Each tensor is preceded by a word
 * that identifies its origin (the heap block, or the header of the reserve's block, tagged in the
 * lowest bit) and by the link of its out-of-memory scope.
 */
#include "base/oom.h"

#include "base/system.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* With sanitizers a reserve caches nothing, so that every block has exact bounds and is freed at
 * once. */
#if defined __SANITIZE_ADDRESS__
#define PLAIN_BLOCKS 1
#elif defined __has_feature
#define PLAIN_BLOCKS __has_feature(address_sanitizer)
#else
#define PLAIN_BLOCKS 0
#endif

enum { TENSOR_ALIGNMENT = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, FROM_RESERVE = 1 };

static size_t align_up(size_t size, size_t unit) { return (size + unit - 1) & ~(unit - 1); }

/* ---- heap ---- */

/* Precedes each tensor. */
struct tensor_head {
    struct tracked tracked;
    uintptr_t origin;
};

static struct tensor_head *head_of(void *p) { return (struct tensor_head *)p - 1; }

static void release_block(struct tracked *t) { mem_free((struct tensor_head *)(void *)t + 1); }

static void *set_origin(void *p, uintptr_t origin)
{
    *head_of(p) = (struct tensor_head){.tracked = {.on_oom = release_block}, .origin = origin};
    oom_track(&head_of(p)->tracked, oom_innermost());
    return p;
}

/* Returns the aligned address within a heap block, and records the block before it. */
static void *align_block(char *block)
{
    if (!block)
        return NULL;
    uintptr_t at = (uintptr_t)block + sizeof(struct tensor_head);
    return set_origin(block + sizeof(struct tensor_head) + (-at & (TENSOR_ALIGNMENT - 1)),
                      (uintptr_t)block);
}

/* ---- reserve ---- */

struct reserve_block {           /* in the page before the tensor */
    struct reserve *reserve;     /* NULL: a mapping of its own */
    struct reserve_block *older; /* next idle block, freed earlier */
    size_t size;                 /* of the tensor, a multiple of the page size */
};
struct reserve {
    struct tracked tracked;
    pthread_mutex_t lock;
    struct reserve_block *newest; /* idle blocks, most recently freed first */
    size_t idle, used, most_used; /* bytes */
    size_t blocks;                /* in use */
    bool released;                /* released by its owner: destroyed with the last block in use */
};

static void release_reserve(struct tracked *t);

struct reserve *reserve_new(void)
{
    struct reserve *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->tracked.on_oom = release_reserve;
    oom_track(&r->tracked, oom_innermost());
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

/* One page for the header, then the tensor at a huge-page boundary. */
static struct reserve_block *map_block(struct reserve *r, size_t size)
{
    size_t mapped_size = size + PAGE + HUGE_PAGE;
    char *all = mmap(NULL, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *data = (char *)align_up((uintptr_t)all + PAGE, HUGE_PAGE), *head = data - PAGE,
         *end = data + size;
    if (head > all)
        munmap(all, (size_t)(head - all));
    if (end < all + mapped_size)
        munmap(end, (size_t)(all + mapped_size - end));
    /* a last huge page that would be less than half full becomes small pages */
    size_t huge = (size + HUGE_PAGE / 2) & ~(size_t)(HUGE_PAGE - 1);
    system_advise_huge(data, huge < size ? huge : size);
    struct reserve_block *b = (struct reserve_block *)(void *)head;
    *b = (struct reserve_block){.reserve = r, .size = size};
    return b;
}

static void *tensor_of_block(struct reserve_block *b)
{
    return b ? set_origin((char *)b + PAGE, (uintptr_t)b | FROM_RESERVE) : NULL;
}

/* Of its own, not of a reserve. */
static void *map_tensor(size_t size)
{
    return tensor_of_block(map_block(NULL, align_up(size, PAGE)));
}

/* A large block gets a mapping of its own, as blocks of a reserve do: it needs no clearing and
 * consists of huge pages, on which kernels are faster. */
void *mem_zalloc(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    if (size >= RESERVE_FROM && !PLAIN_BLOCKS)
        return map_tensor(size);
    size += sizeof(struct tensor_head) + TENSOR_ALIGNMENT;
    return align_block(calloc(1, size));
}

static void unmap_blocks(struct reserve_block *b)
{
    while (b) {
        struct reserve_block *older = b->older;
        munmap((char *)b, PAGE + b->size);
        b = older;
    }
}

/* Removes idle blocks, least recently used first, until the reserve holds at most `keep` bytes.
 * Returns them as a list. */
static struct reserve_block *take_oldest(struct reserve *r, size_t keep)
{
    struct reserve_block **at = &r->newest;
    size_t held = 0;
    while (*at && held + (*at)->size <= keep) {
        held += (*at)->size;
        at = &(*at)->older;
    }
    struct reserve_block *rest = *at;
    *at = NULL;
    r->idle = held;
    return rest;
}

/* The smallest idle block that is large enough and not much too large. */
static struct reserve_block *take_idle(struct reserve *r, size_t size)
{
    struct reserve_block **best = NULL, *b;
    for (struct reserve_block **at = &r->newest; *at; at = &(*at)->older)
        if ((*at)->size >= size && (*at)->size / 2 <= size &&
            (!best || (*at)->size < (*best)->size))
            best = at;
    if (!best)
        return NULL;
    b = *best;
    *best = b->older;
    r->idle -= b->size;
    return b;
}

static void add_used_block(struct reserve *r, const struct reserve_block *b)
{
    r->blocks++;
    r->used += b->size;
    if (r->used > r->most_used)
        r->most_used = r->used;
}

static void *take_from_reserve(struct reserve *r, size_t size)
{
    size = align_up(size, PAGE);
    struct reserve_block *surplus = NULL;
    pthread_mutex_lock(&r->lock);
    struct reserve_block *b = take_idle(r, size);
    if (!b) {
        size_t after = r->used + size,
               max = (after > r->most_used ? after : r->most_used) + RESERVE_SLACK;
        surplus = take_oldest(r, max - after);
        b = map_block(r, size);
    }
    if (b)
        add_used_block(r, b);
    pthread_mutex_unlock(&r->lock);
    unmap_blocks(surplus);
    return tensor_of_block(b);
}

struct reserve *reserve_use(struct reserve *r)
{
    struct oom_scope *g = oom_innermost();
    if (!g)
        return NULL;
    struct reserve *before = g->reserve;
    g->reserve = r;
    return before;
}

/* Aligned blocks of the heap leave gaps into which no other one fits: with large ones, the heap
 * would grow from call to call. */
void *mem_alloc(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    if (size < RESERVE_FROM || PLAIN_BLOCKS)
        return align_block(malloc(size + sizeof(struct tensor_head) + TENSOR_ALIGNMENT));
    struct oom_scope *g = oom_innermost();
    return g && g->reserve ? take_from_reserve(g->reserve, size) : map_tensor(size);
}

size_t reserve_idle(struct reserve *r)
{
    pthread_mutex_lock(&r->lock);
    size_t idle = r->idle;
    pthread_mutex_unlock(&r->lock);
    return idle;
}

void reserve_trim(struct reserve *r, size_t keep)
{
    pthread_mutex_lock(&r->lock);
    struct reserve_block *surplus = take_oldest(r, keep);
    pthread_mutex_unlock(&r->lock);
    unmap_blocks(surplus);
}

static void free_reserve(struct reserve *r)
{
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static void release_reserve(struct tracked *t)
{
    struct reserve *r = (struct reserve *)(void *)t;
    pthread_mutex_lock(&r->lock);
    struct reserve_block *idle = take_oldest(r, 0);
    r->released = true;
    bool last = r->blocks == 0;
    pthread_mutex_unlock(&r->lock);
    unmap_blocks(idle);
    if (last)
        free_reserve(r);
}

void reserve_release(struct reserve *r)
{
    if (!r)
        return;
    oom_untrack(&r->tracked);
    release_reserve(&r->tracked);
}

static void return_block(struct reserve_block *b)
{
    struct reserve *r = b->reserve;
    if (!r) {
        b->older = NULL;
        unmap_blocks(b);
        return;
    }
    pthread_mutex_lock(&r->lock);
    r->used -= b->size;
    bool last = --r->blocks == 0 && r->released, keep = !r->released;
    b->older = keep ? r->newest : NULL;
    if (keep) {
        r->newest = b;
        r->idle += b->size;
    }
    pthread_mutex_unlock(&r->lock);
    if (!keep)
        unmap_blocks(b);
    if (last)
        free_reserve(r);
}

void mem_free(void *p)
{
    if (!p)
        return;
    uintptr_t origin = head_of(p)->origin;
    oom_untrack(&head_of(p)->tracked);
    if (origin & FROM_RESERVE)
        return_block((struct reserve_block *)(origin - FROM_RESERVE));
    else
        free((void *)origin);
}

void *mem_pass(void *p, struct oom_scope *g)
{
    if (p) {
        oom_untrack(&head_of(p)->tracked);
        oom_track(&head_of(p)->tracked, g);
    }
    return p;
}

void *mem_detach(void *p) { return mem_pass(p, NULL); }

void *mem_track(void *p) { return mem_pass(p, oom_innermost()); }

/* ---- shared storage ---- */

void owner_init(struct owner *o, void (*release)(struct owner *o))
{
    o->holders = 1;
    o->release = release;
}

struct owner *owner_hold(struct owner *o)
{
    if (o)
        o->holders++;
    return o;
}

void owner_drop(struct owner *o)
{
    if (o && --o->holders == 0)
        o->release(o);
}
