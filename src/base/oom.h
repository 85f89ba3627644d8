/*
 * oom.h: out-of-memory scopes.
 *
 * Small allocations (arenas, vectors, maps, byte buffers, heap blocks) never return NULL. If memory
 * runs out, the innermost *scope* (`struct oom_scope`) of the thread handles it: everything
 * allocated since the scope was entered is freed, and control is transferred by longjmp to the
 * function that entered it, which reports the failure. For this to leak nothing and leave no
 * inconsistent state:
 *
 * - Memory is allocated by `arena_`, `buf_`, `heap_` and `mem_` functions, which track it.
 * - Objects that are older than the scope may grow and are not freed: an arena belongs to the scope
 *   that was innermost when `arena_init` was called, and a block that grows remains in the scope
 *   that it was first allocated in. A new block that an older object refers to is moved to the
 *   scope of that object (`mem_pass`), or a cleanup removes it again.
 * - Any other state that must be reverted (a lock, an open file, a reference count, a thread) has a
 *   registered cleanup (`struct cleanup`) while memory is allocated, or no memory is allocated
 * between its change and its reversal.
 *
 * Public functions are scopes (OOM_SCOPE). So are threads that run a participant or parts of a
 * task; when one of those fails, its caller fails as well. A program that owns all frames on its
 * stack, as the command line does, is a single scope. Memory whose size a user chooses (tensors) is
 * allocated by `mem_alloc`, which returns NULL on failure; its callers report what the memory was
 * for.
 */
#ifndef HLO_BASE_OOM_H
#define HLO_BASE_OOM_H

#include "base/base.h"

#include <setjmp.h>

struct oom_scope;

/* Precedes each tracked block. */
struct tracked {
    struct tracked *prev, *next;
    struct oom_scope *oom_scope;       /* NULL: the block belongs to no scope */
    void (*on_oom)(struct tracked *t); /* releases the block; NULL: free */
};

typedef void cleanup_fn(void *what);
/* A registered cleanup; lives in the stack frame that registers it. */
struct cleanup {
    cleanup_fn *fn;
    void *what;
    struct oom_scope *oom_scope;
    struct cleanup *older;
};

struct oom_scope {
    struct oom_scope *outer; /* the enclosing scope, perhaps of another thread */
    /* The scope that owns the allocations: itself, or that of the thread it works for. */
    struct oom_scope *holder;
    struct oom_scope *before; /* the thread's innermost scope when this one was entered */
    uint64_t since;           /* generation; unique to this scope */
    struct tracked *tracked;
    struct cleanup *cleanup; /* newest first */
    struct reserve *reserve; /* see reserve_use; or NULL */
    bool busy;               /* spin lock of the list */
    /* All frames since it was entered belong to the program: oom_begin enters no nested scope. */
    bool whole;
    bool ours; /* the same permanently, callbacks included */
    bool entered;
    jmp_buf back;
};

/* Enters a scope: `oom_enter(&g, outer); if (setjmp(g.back)) ...failed...; ...; oom_leave(&g);`
 * After a failure the scope is still entered, and empty. A worker thread passes the scope of the
 * thread that it works for as `outer`: its allocations are freed when the outer scope fails. If a
 * worker fails, its caller must fail as well. */
void oom_enter(struct oom_scope *g, struct oom_scope *outer);
/* Enters a scope at the top of a public function, which returns `failed` if memory runs out. No
 * effect if the caller is another public function. */
#define OOM_SCOPE(failed)                                                                          \
    struct oom_scope oom_scope_ __attribute__((cleanup(oom_leave)));                               \
    if (oom_begin(&oom_scope_) && setjmp(oom_scope_.back) != 0)                                    \
    return failed
bool oom_begin(struct oom_scope *g);
/* Brackets a call to a callback of the user, whose frames longjmp must not skip: public functions
 * that the callback calls enter scopes of their own, and the callback owns their results. */
bool oom_begin_callback(void);
void oom_end_callback(bool before);
/* Leaves the innermost scope; the caller owns its blocks unless it failed. */
void oom_leave(struct oom_scope *g);
struct oom_scope *oom_innermost(void);

/* Runs if memory runs out, newest first. */
void oom_push_cleanup(struct cleanup *u, cleanup_fn *fn, void *what);
void oom_pop_cleanup(struct cleanup *u); /* removes the cleanup; newest first */

/* ---- for allocators ---- */

uint64_t oom_generation(void); /* generation of the innermost scope; 0: none */
/* The entered scope that was innermost when an object of this generation was created; it owns what
 * the object allocates later. NULL: the object is older than the call and is not released. */
struct oom_scope *oom_scope_of(uint64_t generation);
void oom_track(struct tracked *t,
               struct oom_scope *g);              /* moves the block to scope g; NULL: to none */
struct oom_scope *oom_untrack(struct tracked *t); /* detaches the block; returns its scope */
/* Set to 0 by tests, so that each allocation is a chunk of its own and can fail. */
extern const size_t arena_chunk_most;
/* As heap_alloc, in scope g. */
void *heap_alloc_for(size_t size, struct oom_scope *g);
/* Registers `release`, which is called before p is freed because memory ran out, to release what p
 * refers to; it must not allocate. NULL: nothing to release. */
void heap_on_oom(void *p, void (*release)(struct tracked *t));
void *heap_block(struct tracked *t); /* the block of a link, for `release`; heap_free frees it */
/* Moves the storage of a tensor to scope g; returns p, which may be NULL. */
void *mem_pass(void *p, struct oom_scope *g);
/* Takes ownership of memory that a callback allocated: the innermost scope owns it. */
void heap_adopt(void *p);
/* Moves an arena to the innermost scope. */
void arena_adopt(struct arena *a);

#endif
