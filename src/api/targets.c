/*
 * Public interface: custom-call targets: libraries, functions and rules.
 */
#include "api/api.h"

#include "io/io.h"
#include "world/targets.h"

struct hlo_targets {
    struct targets *t;
};

hlo_targets *hlo_targets_new(void)
{
    OOM_SCOPE(NULL);
    hlo_targets *t = heap_zalloc(1, sizeof *t);
    t->t = targets_new();
    return t;
}

void hlo_targets_free(hlo_targets *t)
{
    if (t)
        targets_free(t->t);
    heap_free(t);
}

void hlo_custom_call_status(void *status, const char *message, size_t size)
{
    if (message)
        XlaCustomCallStatusSetFailure(status, message, size);
    else
        XlaCustomCallStatusSetSuccess(status);
}

struct foreign hlo_targets_foreign(const hlo_targets *t)
{
    return targets_foreign(t ? t->t : NULL);
}

bool hlo_targets_add_library(hlo_targets *t, const char *path, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    SCOPED_BUF why = {0};
    bool ok = targets_add_library(t->t, path, &why);
    if (!ok)
        hlo_messages_add(m, path, why.data);
    return ok;
}

bool hlo_targets_add_rule(hlo_targets *t, const char *rule, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    const char *equal = strchr(rule, '=');
    if (!equal || equal == rule || !equal[1])
        return hlo_messages_add(m, rule, "expected NAME=identity, NAME=zeros or NAME=COMMAND"),
               false;
    struct str name = {rule, (size_t)(equal - rule)}, what = str_of(equal + 1);
    if (str_is(what, "identity"))
        targets_add(t->t, name, target_identity, NULL, NULL);
    else if (str_is(what, "zeros"))
        targets_add(t->t, name, target_zeros, NULL, NULL);
    else
        targets_add(t->t, name, io_command, heap_str(what), heap_free);
    return true;
}

/* ---- functions ---- */

struct function {
    hlo_call_fn *fn;
    void *context;
};

static struct hlo_array *arrays_of(struct arena *a, const struct foreign_array *x, int count)
{
    struct hlo_array *out = ARENA_ARRAY(a, struct hlo_array, count);
    for (int k = 0; k < count; k++)
        out[k] = hlo_array_of(x[k].shape, x[k].data);
    return out;
}

static bool call_function(void *user, const struct foreign_call *c, struct buf *why)
{
    struct function *f = user;
    char text[1024] = "";
    SCOPED_ARENA a = arena_make();
    struct str config = arena_str(&a, inst_str(c->inst, A_BACKEND_CONFIG));
    struct hlo_call call = {
        .target = arena_str(&a, inst_str(c->inst, A_CUSTOM_CALL_TARGET)).ptr,
        .config = config.ptr,
        .config_size = config.len,
        .participant = (size_t)c->participant,
        .operand_count = (size_t)c->operand_count,
        .result_count = (size_t)c->result_count,
        .operands = arrays_of(&a, c->operands, c->operand_count),
        .results = arrays_of(&a, c->results, c->result_count),
    };
    bool before = oom_begin_callback(), ok = f->fn(f->context, &call, text, sizeof text);
    oom_end_callback(before);
    text[sizeof text - 1] = '\0';
    if (!ok)
        buf_puts(why, *text ? text : "failed without a message");
    return ok;
}

void hlo_targets_add_function(hlo_targets *t, const char *name, hlo_call_fn *fn, void *context)
{
    OOM_SCOPE();
    struct function *f = heap_zalloc(1, sizeof *f);
    *f = (struct function){fn, context};
    targets_add(t->t, str_of(name), call_function, f, heap_free);
}
