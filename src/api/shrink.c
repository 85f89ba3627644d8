/*
 * Public interface: search for the smallest module that still fails (edit/reduce.c).
 */
#include "api/api.h"

#include "edit/edit.h"

struct asking {
    const struct hlo_shrink *how;
    const hlo_module *module;
    struct arena names; /* scratch memory for one call */
};

static hlo_module candidate_of(const struct asking *a, struct module *m)
{
    return (hlo_module){m, a->module->file, a->module->part};
}

static bool bad(void *context, struct module *m)
{
    const struct asking *a = context;
    const hlo_module candidate = candidate_of(a, m);
    bool before = oom_begin_callback(), is_bad = a->how->bad(a->how->context, &candidate);
    oom_end_callback(before);
    return is_bad;
}

static bool verifies(void *context, struct module *m)
{
    const struct asking *a = context;
    const hlo_module candidate = candidate_of(a, m);
    if (a->how->rejected)
        return true;
    SCOPED_MESSAGES *messages = hlo_messages_new();
    struct cleanup freeing;
    oom_push_cleanup(&freeing, hlo_messages_cleanup, messages);
    bool ok = hlo_verify(&candidate, messages);
    oom_pop_cleanup(&freeing);
    return ok;
}

static const struct literal *value(void *context, struct str name)
{
    struct asking *a = context;
    if (!a->how->value)
        return NULL;
    struct arena_mark mark = arena_mark(&a->names);
    bool before = oom_begin_callback();
    const hlo_literal *l = a->how->value(a->how->context, arena_str(&a->names, name).ptr);
    oom_end_callback(before);
    arena_release(&a->names, mark);
    return l ? l->l : NULL;
}

static bool progress(void *context, size_t instructions, size_t asked)
{
    const struct asking *a = context;
    bool before = oom_begin_callback(),
         go_on = !a->how->progress || a->how->progress(a->how->context, instructions, asked);
    oom_end_callback(before);
    return go_on;
}

hlo_module *hlo_shrink(const hlo_module *module, const struct hlo_shrink *how)
{
    OOM_SCOPE(NULL);
    struct hlo_shrink given;
    if (!hlo_options_copy(&given, sizeof given, how, NULL))
        return NULL;
    struct asking a = {.how = &given, .module = module};
    const struct reduction r = {&a, bad, value, verifies, progress, given.faithful, given.seconds};
    arena_init(&a.names);
    hlo_module *out = heap_zalloc(1, sizeof *out);
    struct module *found = reduce_module(module->m, &r);
    arena_free(&a.names);
    if (!found) {
        heap_free(out);
        return NULL;
    }
    *out = (hlo_module){found, hlo_file_hold(module->file), module->part};
    return out;
}
