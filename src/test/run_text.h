/*
 * For tests that run modules: plans and runs a module from its text, and compares results.
 */
#ifndef HLO_TEST_RUN_TEXT_H
#define HLO_TEST_RUN_TEXT_H

#include "check_quiet.h"
#include "eval/eval_priv.h"
#include "text/text.h"

#include <math.h>

/* A run; run_free releases it. */
struct run {
    struct source source;
    struct diags ds;
    struct arena arena;
    struct module *module;
    struct program *program; /* NULL: the text or its plan was rejected */
    struct run_state *state; /* of the program; or NULL */
    struct literal *result;  /* NULL before the run, and if it fails */
};

/* The messages, for a failed assertion. */
static inline const char *run_messages(struct run *r)
{
    struct buf out = {0};
    diags_draw(&out, &r->ds, NULL);
    const char *copy = out.data ? arena_str(&r->arena, buf_view(&out)).ptr : "";
    buf_free(&out);
    return copy;
}

/* Plans a module; may fail. */
static inline void run_try_plan(struct run *r, const char *text, const struct plan_options *options)
{
    memset(r, 0, sizeof *r);
    source_init(&r->source, str_of("test"), str_of(text));
    diags_init(&r->ds, &r->source);
    arena_init(&r->arena);
    r->module = text_parse_module(&r->ds, &r->source, &(struct parse_options){0});
    if (r->module)
        r->program = plan_module(&r->ds, r->module, options);
    if (r->program)
        r->state = run_state_new(r->program, 0);
}

static inline void run_plan(struct run *r, const char *text, const struct plan_options *options)
{
    run_try_plan(r, text, options);
    ck_assert_msg(r->program != NULL, "%s\n%.3000s", run_messages(r), text);
}

/* Runs the program; may fail. */
static inline void run_try(struct run *r, const struct literal *const *args, size_t count)
{
    r->result = eval_program(&r->ds, r->state, args, count, NULL, &r->arena);
}

/* Runs a module without parameters. */
static inline void run_text(struct run *r, const char *text, const struct plan_options *options)
{
    run_plan(r, text, options);
    run_try(r, NULL, 0);
    ck_assert_msg(r->result != NULL, "%s\n%.3000s", run_messages(r), text);
}

static inline void run_free(struct run *r)
{
    if (r->result)
        literal_free_data(r->result);
    run_state_free(r->state);
    program_free(r->program);
    module_free(r->module);
    diags_free(&r->ds);
    source_free(&r->source);
    arena_free(&r->arena);
}

/* ---- results ---- */

/* NaNs are equal whatever their bits. */
static inline bool same_number(enum dtype t, const void *x, const void *y)
{
    return memcmp(x, y, dtype_bytes(t)) == 0 ||
           (dtype_is_float(t) && isnan(float_load(t, x)) && isnan(float_load(t, y)));
}

/* Equal numbers or, with `to_the_bit`, also equal NaN bits. */
static inline bool same_literal(const struct literal *x, const struct literal *y, bool to_the_bit)
{
    for (int k = 0; shape_is_tuple(x->shape) && k < x->shape->count; k++)
        if (!same_literal(x->elements[k], y->elements[k], to_the_bit))
            return false;
    if (!shape_is_array(x->shape))
        return true;
    int64_t count;
    ck_assert(shape_elements(x->shape, &count));
    const size_t width = dtype_bytes(x->shape->dtype), bytes = (size_t)count * width;
    if (to_the_bit)
        return memcmp(x->data, y->data, bytes) == 0;
    for (size_t at = 0; at < bytes; at += width)
        if (!same_number(x->shape->dtype, (const char *)x->data + at, (const char *)y->data + at))
            return false;
    return true;
}

#endif
