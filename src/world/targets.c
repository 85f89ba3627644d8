/*
 * targets.c: the table of custom-call targets, and the built-in rules.
 */
#include "world/targets.h"

#include "base/system.h"

#include <dlfcn.h>

/* A library, or a name with its function. */
struct entry {
    struct entry *older;
    void *library;
    struct str name;
    target_fn *fn;
    void *user;
    void (*done)(void *user);
};

struct targets {
    struct arena arena;
    struct entry *newest;
};

struct targets *targets_new(void)
{
    struct arena arena;
    arena_init(&arena);
    struct targets *t = ARENA_NEW(&arena, struct targets);
    t->arena = arena;
    return t;
}

void targets_free(struct targets *t)
{
    if (!t)
        return;
    for (struct entry *e = t->newest; e; e = e->older) {
        if (e->library)
            dlclose(e->library);
        if (e->done)
            e->done(e->user);
    }
    struct arena arena = t->arena; /* the table itself is allocated in it */
    arena_free(&arena);
}

static struct entry *add(struct targets *t)
{
    struct entry *e = ARENA_NEW(&t->arena, struct entry);
    e->older = t->newest;
    t->newest = e;
    return e;
}

void targets_add(struct targets *t, struct str name, target_fn *fn, void *user,
                 void (*done)(void *user))
{
    struct entry *e = add(t);
    e->name = arena_str(&t->arena, name);
    e->fn = fn;
    e->user = user;
    e->done = done;
}

bool targets_add_library(struct targets *t, const char *path, struct buf *why)
{
    /* Without a slash, dlopen would search the system's library directories. */
    struct str file = arena_printf(&t->arena, strchr(path, '/') ? "%s" : "./%s", path);
    void *library = dlopen(file.ptr, RTLD_NOW | RTLD_LOCAL);
    if (library)
        add(t)->library = library;
    else
        buf_puts(why, dlerror());
    return library != NULL;
}

/* ---- finding ---- */

/* A function that the library itself defines, not one of its dependencies; else NULL. */
static native_fn *find_function(void *library, struct str name)
{
    char text[512];
    native_fn *code;
    if (name.len >= sizeof text || memchr(name.ptr, '\0', name.len))
        return NULL;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    void *at = dlsym(library, text);
    if (!at || !system_library_has_code(library, at))
        return NULL;
    memcpy(&code, &at, sizeof code); /* C does not convert object pointers to function pointers */
    return code;
}

/* The newest entry that matches a target; with `fallback`, the newest named `*`. */
static struct foreign_target find(void *context, struct str target, bool fallback)
{
    const struct targets *t = context;
    for (const struct entry *e = t->newest; e; e = e->older) {
        bool for_all = !e->library && str_is(e->name, "*");
        native_fn *code = e->library && !fallback ? find_function(e->library, target) : NULL;
        if (code || (!e->library && for_all == fallback && str_fits(target, e->name)))
            return (struct foreign_target){e, code};
    }
    return (struct foreign_target){NULL, NULL};
}

static bool call(void *context, struct foreign_target target, const struct foreign_call *c,
                 struct buf *why)
{
    const struct entry *e = target.entry;
    return target.code ? native_call(target.code, c, why) : e->fn(e->user, c, why);
}

struct foreign targets_foreign(struct targets *t)
{
    return t ? (struct foreign){t, find, call} : (struct foreign){NULL, NULL, NULL};
}

/* ---- rules ---- */

static size_t size_of(const struct foreign_array *x)
{
    return x->data ? (size_t)shape_bytes_or(x->shape, 0) : 0;
}

bool target_zeros(void *user, const struct foreign_call *c, struct buf *why)
{
    for (int r = 0; r < c->result_count; r++)
        if (size_of(&c->results[r]) > 0)
            memset(c->results[r].data, 0, size_of(&c->results[r]));
    return true;
}

static void put_shapes(struct buf *out, int count, const struct foreign_array *x)
{
    for (int k = 0; k < count; k++) {
        buf_puts(out, k > 0 ? ", " : "");
        shape_print(out, x[k].shape, false);
    }
    buf_puts(out, count == 0 ? "nothing" : "");
}

bool target_identity(void *user, const struct foreign_call *c, struct buf *why)
{
    bool fits = c->result_count <= c->operand_count;
    for (int r = 0; r < c->result_count && fits; r++)
        fits = shape_compatible(c->results[r].shape, c->operands[r].shape);
    if (!fits) {
        buf_puts(why, "identity: the result is ");
        put_shapes(why, c->result_count, c->results);
        buf_puts(why, ", the operands are ");
        put_shapes(why, c->operand_count, c->operands);
        return false;
    }
    for (int r = 0; r < c->result_count; r++)
        if (size_of(&c->results[r]) > 0)
            memcpy(c->results[r].data, c->operands[r].data, size_of(&c->results[r]));
    return true;
}
