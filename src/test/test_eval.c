/*
 * Tests of eval on small modules in text: storage is only reused when nothing else reads it;
 * loops; scalar code agrees with kernels; and reuse of memory by the pool.
 */
#include "run_text.h"

#include <stdio.h>

static void check_text(const char *text, const char *expected)
{
    struct run r;
    struct buf out = {0};
    run_text(&r, text, &(struct plan_options){0});
    text_print_literal(&out, r.result);
    buf_putc(&out, '\0');
    ck_assert_str_eq(out.data, expected);
    buf_free(&out);
    run_free(&r);
}

/* Checks the first message of a run that fails. */
static void check_failure(const char *text, const struct literal *const *args, size_t count,
                          const char *expected)
{
    struct run r;
    run_try_plan(&r, text, &(struct plan_options){0});
    if (r.program)
        run_try(&r, args, count);
    ck_assert(!r.result);
    ck_assert_msg(r.ds.first && strstr(r.ds.first->text.ptr, expected), "%s", run_messages(&r));
    run_free(&r);
}

/* ---- storage ---- */

START_TEST(in_place_update_preserves_aliases)
{
    check_text("HloModule m\n"
               "ENTRY e {\n"
               "  i = s32[4] iota(), iota_dimension=0\n"
               "  x = s32[4] add(i, i)\n"
               "  y = s32[4] reverse(x), dimensions={0}\n"
               "  u = s32[1] constant({9})\n"
               "  z = s32[] constant(0)\n"
               "  d = s32[4] dynamic-update-slice(x, u, z)\n"
               "  ROOT t = (s32[4], s32[4]) tuple(d, y)\n"
               "}\n",
               "( {9, 2, 4, 6}, {6, 4, 2, 0} )");
}
END_TEST

START_TEST(update_of_a_constant_copies)
{
    check_text("HloModule m\n"
               "ENTRY e {\n"
               "  x = s32[3] constant({1, 2, 3})\n"
               "  u = s32[1] constant({9})\n"
               "  z = s32[] constant(1)\n"
               "  d = s32[3] dynamic-update-slice(x, u, z)\n"
               "  ROOT t = (s32[3], s32[3]) tuple(d, x)\n"
               "}\n",
               "( {1, 9, 3}, {1, 2, 3} )");
}
END_TEST

START_TEST(loop_state_with_duplicate_value)
{
    check_text("HloModule m\n"
               "c {\n"
               "  p = (s32[], s32[2], s32[2]) parameter(0)\n"
               "  i = s32[] get-tuple-element(p), index=0\n"
               "  n = s32[] constant(3)\n"
               "  ROOT r = pred[] compare(i, n), direction=LT\n"
               "}\n"
               "b {\n"
               "  p = (s32[], s32[2], s32[2]) parameter(0)\n"
               "  i = s32[] get-tuple-element(p), index=0\n"
               "  x = s32[2] get-tuple-element(p), index=1\n"
               "  y = s32[2] get-tuple-element(p), index=2\n"
               "  one = s32[] constant(1)\n"
               "  zero = s32[] constant(0)\n"
               "  j = s32[] add(i, one)\n"
               "  u = s32[1] reshape(j)\n"
               "  d = s32[2] dynamic-update-slice(x, u, zero)\n"
               "  ROOT t = (s32[], s32[2], s32[2]) tuple(j, y, d)\n"
               "}\n"
               "ENTRY e {\n"
               "  z = s32[] constant(0)\n"
               "  k = s32[2] constant({7, 8})\n"
               "  s = s32[2] add(k, k)\n"
               "  t = (s32[], s32[2], s32[2]) tuple(z, s, s)\n"
               "  w = (s32[], s32[2], s32[2]) while(t), condition=c, body=b\n"
               "  ROOT r = ((s32[], s32[2], s32[2]), s32[2]) tuple(w, s)\n"
               "}\n",
               "( ( 3, {2, 16}, {3, 16} ), {14, 16} )");
}
END_TEST

/* A loop that writes one row at a time costs one row: copying 64 MB each time would exceed the time
 * limit of a test. */
START_TEST(loop_updates_arrays_in_place)
{
    struct run r;
    run_text(&r,
             "HloModule m\n"
             "c {\n"
             "  p = (s32[], s32[1000,16000]) parameter(0)\n"
             "  i = s32[] get-tuple-element(p), index=0\n"
             "  n = s32[] constant(1000)\n"
             "  ROOT r = pred[] compare(i, n), direction=LT\n"
             "}\n"
             "b {\n"
             "  p = (s32[], s32[1000,16000]) parameter(0)\n"
             "  i = s32[] get-tuple-element(p), index=0\n"
             "  x = s32[1000,16000] get-tuple-element(p), index=1\n"
             "  one = s32[] constant(1)\n"
             "  zero = s32[] constant(0)\n"
             "  u = s32[1,16000] broadcast(i), dimensions={}\n"
             "  d = s32[1000,16000] dynamic-update-slice(x, u, i, zero)\n"
             "  j = s32[] add(i, one)\n"
             "  ROOT t = (s32[], s32[1000,16000]) tuple(j, d)\n"
             "}\n"
             "ENTRY e {\n"
             "  z = s32[] constant(0)\n"
             "  k = s32[1000,16000] broadcast(z), dimensions={}\n"
             "  t = (s32[], s32[1000,16000]) tuple(z, k)\n"
             "  w = (s32[], s32[1000,16000]) while(t), condition=c, body=b\n"
             "  ROOT r = s32[1000,16000] get-tuple-element(w), index=1\n"
             "}\n",
             &(struct plan_options){0});
    const int32_t *x = r.result->data;
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(x[i * 16000 + 999 - i], i);
    run_free(&r);
}
END_TEST

START_TEST(pool_reuses_storage)
{
    struct pool p;
    pool_init(&p);
    struct buffer *a = pool_take(&p, 1000);
    char *data = a->data;
    pool_drop(&p, a);
    ck_assert_uint_eq(p.live, 0);
    a = pool_take(&p, 990);
    ck_assert_ptr_eq(a->data, data);
    ck_assert_uint_ge(a->size, 990);
    a->refs++;
    ck_assert_ptr_null(pool_steal(&p, a));
    pool_drop(&p, a);
    char *stolen = pool_steal(&p, a);
    ck_assert_ptr_eq(stolen, data);
    mem_free(stolen);
    ck_assert_ptr_null(pool_take(&p, SIZE_MAX));
    for (size_t size = 1; size < 5000; size++) {
        struct buffer *b = pool_take(&p, size);
        ck_assert_uint_ge(b->size, size);
        ck_assert_uint_le(b->size, size < 64 ? 64 : 3 * size);
        memset(b->data, 1, size);
        pool_drop(&p, b);
    }
    pool_free(&p);
}
END_TEST

START_TEST(pool_keeps_large_storage)
{
    enum { LARGE = 3 << 20 };
    struct pool p;
    struct reserve *reserve = reserve_new();
    for (int run = 0; run < 3; run++) {
        pool_init(&p);
        p.reserve = reserve;
        p.limit = 2 * LARGE;
        struct buffer *a = pool_take(&p, LARGE);
        ck_assert_uint_eq(p.live, LARGE);
        memset(a->data, 1, LARGE);
        struct buffer *b = pool_take(&p, LARGE);
        ck_assert_ptr_null(pool_take(&p, LARGE));
        ck_assert(p.over);
        char *stolen = pool_steal(&p, b);
        ck_assert_ptr_nonnull(stolen);
        pool_drop(&p, a);
        ck_assert_uint_eq(p.live, LARGE); /* live memory is still counted */
        pool_free(&p);
        mem_free(stolen);
    }
    reserve_release(reserve);
}
END_TEST

/* ---- plans ---- */

static const char negations[] = "HloModule m\n"
                                "ENTRY e {\n"
                                "  a = f32[4] parameter(0)\n"
                                "  unused = f32[4] parameter(1)\n"
                                "  dead = f32[4] exponential(unused)\n"
                                "  b = f32[4] negate(a)\n"
                                "  c = f32[4] negate(b)\n"
                                "  d = f32[4] negate(c)\n"
                                "  t = (f32[4], f32[4]) tuple(d, b)\n"
                                "  g = f32[4] get-tuple-element(t), index=0\n"
                                "  ROOT f = f32[4] add(g, b)\n"
                                "}\n";

START_TEST(elementwise_steps_are_fused)
{
    struct run r;
    run_plan(&r, negations, &(struct plan_options){0});
    const struct function *f = r.program->entry;
    ck_assert_int_eq(f->step_count, 1);
    ck_assert_ptr_nonnull(step_fused(&f->steps[0]));
    ck_assert_int_eq(f->steps[0].as.fused.count, 4);
    ck_assert_int_eq(f->steps[0].as.fused.loop->view_count, 1);
    ck_assert_int_eq(f->steps[0].uses[0], USE_ONLY);
    run_free(&r);
}
END_TEST

START_TEST(slots_are_shared)
{
    struct run r;
    run_plan(
        &r, negations,
        &(struct plan_options){.plain = true}); /* with reference kernels, which fuse nothing */
    const struct function *f = r.program->entry;
    ck_assert_int_eq(f->step_count, 4); /* no tuple, no dead step */
    ck_assert_int_le(f->slot_count, 4);
    ck_assert_int_eq(f->params[1], NO_VALUE);
    ck_assert_int_eq(f->steps[0].uses[0], USE_ONLY);
    ck_assert_int_eq(f->steps[1].uses[0], USE_KEEP);
    ck_assert_int_eq(f->steps[3].uses[1], USE_ONLY);
    run_free(&r);
}
END_TEST

static void check_body(const char *body, const char *type, enum kern_combine expected)
{
    struct run r;
    char text[1000];
    snprintf(
        text, sizeof text,
        "HloModule m\n"
        "inner {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT r = %s[] add(a, b)\n}\n"
        "f {\n  a = %s[] parameter(0)\n  b = %s[] parameter(1)\n  ROOT r = %s[] %s\n}\n"
        "ENTRY e {\n  x = %s[8] parameter(0)\n  z = %s[] constant(0)\n"
        "  ROOT s = %s[] reduce(x, z), dimensions={0}, to_apply=f\n}\n",
        type, type, type, type, type, type, body, type, type, type);
    run_plan(&r, text, &(struct plan_options){0});
    ck_assert_int_eq(r.program->entry->steps[0].bodies->combine, expected);
    ck_assert_ptr_nonnull(r.program->entry->steps[0].bodies->code);
    run_free(&r);
}

START_TEST(standard_reducers_are_recognized)
{
    check_body("add(a, b)", "f32", KERN_ADD);
    check_body("add(b, a)", "s32", KERN_ADD);
    check_body("maximum(a, b)", "bf16", KERN_MAXIMUM);
    check_body("minimum(b, a)", "f16", KERN_MINIMUM);
    check_body("multiply(a, b)", "u8", KERN_MULTIPLY);
    check_body("xor(a, b)", "u32", KERN_XOR);
    check_body("call(a, b), to_apply=inner", "f32", KERN_ADD);
    check_body("add(a, a)", "f32", KERN_CALL);
    check_body("subtract(a, b)", "f32", KERN_CALL);
    check_body("copy(b)", "f32", KERN_TAKE_VALUE);
}
END_TEST

/* ---- scalar code ---- */

#define COUNTING(shape)                                                                            \
    "HloModule m\n"                                                                                \
    "half {\n  x = " shape " parameter(0)\n  q = f32[] constant(1.7)\n  k = " shape                \
    " broadcast(q), dimensions={}\n  ROOT r = " shape " divide(x, k)\n}\n"                         \
    "twice {\n  x = " shape " parameter(0)\n  ROOT r = " shape " add(x, x)\n}\n"                   \
    "c {\n"                                                                                        \
    "  p = (s32[], " shape ") parameter(0)\n"                                                      \
    "  i = s32[] get-tuple-element(p), index=0\n"                                                  \
    "  n = s32[] constant(11)\n"                                                                   \
    "  ROOT r = pred[] compare(i, n), direction=LT\n"                                              \
    "}\n"                                                                                          \
    "b {\n"                                                                                        \
    "  p = (s32[], " shape ") parameter(0)\n"                                                      \
    "  i = s32[] get-tuple-element(p), index=0\n"                                                  \
    "  x = " shape " get-tuple-element(p), index=1\n"                                              \
    "  one = s32[] constant(1)\n"                                                                  \
    "  three = s32[] constant(3)\n"                                                                \
    "  j = s32[] add(i, one)\n"                                                                    \
    "  m = s32[] remainder(i, three)\n"                                                            \
    "  y = " shape " conditional(m, x, x, x), branch_computations={half, twice, twice}\n"          \
    "  s = " shape " sine(y)\n"                                                                    \
    "  z = " shape " add(y, s)\n"                                                                  \
    "  ROOT t = (s32[], " shape ") tuple(j, z)\n"                                                  \
    "}\n"                                                                                          \
    "ENTRY e {\n"                                                                                  \
    "  z = s32[] constant(0)\n"                                                                    \
    "  q = f32[] constant(1.7)\n"                                                                  \
    "  x = " shape " broadcast(q), dimensions={}\n"                                                \
    "  t = (s32[], " shape ") tuple(z, x)\n"                                                       \
    "  w = (s32[], " shape ") while(t), condition=c, body=b\n"                                     \
    "  ROOT r = " shape " get-tuple-element(w), index=1\n"                                         \
    "}\n"

static const struct step *last_step(const struct run *r)
{
    const struct function *f = r->program->entry;
    return &f->steps[f->step_count - 1];
}

START_TEST(scalar_code_agrees_with_kernels)
{
    struct run scalar, array;
    run_text(&scalar, COUNTING("f32[]"), &(struct plan_options){0});
    run_text(&array, COUNTING("f32[5000]"), &(struct plan_options){0});
    ck_assert_ptr_nonnull(step_scalar(last_step(&scalar)));
    ck_assert_ptr_null(step_scalar(last_step(&array)));
    ck_assert_mem_eq(scalar.result->data, array.result->data, sizeof(float));
    ck_assert_float_ne(*(float *)scalar.result->data, 1.7F);
    run_free(&scalar);
    run_free(&array);
}
END_TEST

/* Operations without lane instructions are calls from machine code. */
START_TEST(loops_of_complex_numbers_are_machine_code)
{
    struct run r;
    run_try_plan(&r,
                 "HloModule m\n"
                 "c {\n  p = (s32[], c64[]) parameter(0)\n"
                 "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(5)\n"
                 "  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
                 "b {\n  p = (s32[], c64[]) parameter(0)\n"
                 "  i = s32[] get-tuple-element(p), index=0\n"
                 "  x = c64[] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n"
                 "  j = s32[] add(i, one)\n  y = c64[] multiply(x, x)\n"
                 "  ROOT t = (s32[], c64[]) tuple(j, y)\n}\n"
                 "ENTRY e {\n  z = s32[] constant(0)\n  x = c64[] parameter(0)\n"
                 "  t = (s32[], c64[]) tuple(z, x)\n"
                 "  ROOT w = (s32[], c64[]) while(t), condition=c, body=b\n}\n",
                 &(struct plan_options){0});
    ck_assert_ptr_nonnull(r.program);
    const struct scalar_code *code = step_scalar(last_step(&r));
    ck_assert_ptr_nonnull(code);
    ck_assert_int_eq(code->native != NULL, r.program->code != NULL); /* there is memory for it */
    run_free(&r);
}
END_TEST

/* The next state is a permutation of the previous one. */
START_TEST(scalar_code_loop_permutes_its_state)
{
    check_text(
        "HloModule m\n"
        "c {\n  p = (s32[], s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  n = s32[] constant(5)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
        "b {\n  p = (s32[], s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  x = s32[] get-tuple-element(p), index=1\n  y = s32[] get-tuple-element(p), index=2\n"
        "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  ROOT t = (s32[], s32[], s32[]) tuple(j, y, x)\n}\n"
        "ENTRY e {\n  z = s32[] constant(0)\n  a = s32[] constant(10)\n  b.1 = s32[] constant(20)\n"
        "  t = (s32[], s32[], s32[]) tuple(z, a, b.1)\n"
        "  ROOT w = (s32[], s32[], s32[]) while(t), condition=c, body=b\n}\n",
        "( 5, 20, 10 )");
}
END_TEST

/* Peak memory of a loop with a large state that one branch changes, `piece` elements at a time, and
 * the other does not. */
static size_t peak_of_branches(const char *piece)
{
    struct run r;
    char text[3000];
    snprintf(text, sizeof text,
             "HloModule m\n"
             "yes {\n  p = (f32[1000000], s32[]) parameter(0)\n  x = f32[1000000] "
             "get-tuple-element(p), index=0\n"
             "  i = s32[] get-tuple-element(p), index=1\n  u = f32[%s] dynamic-slice(x, i), "
             "dynamic_slice_sizes={%s}\n"
             "  v = f32[%s] add(u, u)\n  ROOT r = f32[1000000] dynamic-update-slice(x, v, i)\n}\n"
             "no {\n  p = (f32[1000000], s32[]) parameter(0)\n  ROOT x = f32[1000000] "
             "get-tuple-element(p), index=0\n}\n"
             "c {\n  p = (s32[], (f32[1000000])) parameter(0)\n  i = s32[] get-tuple-element(p), "
             "index=0\n"
             "  n = s32[] constant(7)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
             "b {\n  p = (s32[], (f32[1000000])) parameter(0)\n  i = s32[] get-tuple-element(p), "
             "index=0\n"
             "  w = (f32[1000000]) get-tuple-element(p), index=1\n  x = f32[1000000] "
             "get-tuple-element(w), index=0\n"
             "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  k = s32[] and(i, one)\n"
             "  t = (f32[1000000], s32[]) tuple(x, i)\n"
             "  y = f32[1000000] conditional(k, t, t), branch_computations={yes, no}\n"
             "  z = (f32[1000000]) tuple(y)\n  ROOT r = (s32[], (f32[1000000])) tuple(j, z)\n}\n"
             "ENTRY e {\n  z = s32[] constant(0)\n  x = f32[1000000] iota(), iota_dimension=0\n"
             "  y = f32[1000000] negate(x)\n  w = (f32[1000000]) tuple(y)\n  t = (s32[], "
             "(f32[1000000])) tuple(z, w)\n"
             "  ROOT r = (s32[], (f32[1000000])) while(t), condition=c, body=b\n}\n",
             piece, piece, piece);
    run_text(&r, text, &(struct plan_options){0});
    const float *x = r.result->elements[1]->elements[0]->data;
    ck_assert_float_eq(x[6], -6 * 2 * 2 * 2 * 2); /* windows start at 0, 2, 4 and 6 */
    ck_assert_float_eq(x[7000], -7000);
    size_t peak = r.state->peak;
    run_free(&r);
    return peak;
}

START_TEST(branches_update_loop_state_in_place)
{
    ck_assert_uint_lt(peak_of_branches("8"), 5000000);    /* entirely as scalar code */
    ck_assert_uint_lt(peak_of_branches("5000"), 5000000); /* step by step */
}
END_TEST

/* Reads the array before the update, but comes after it in the text. */
static size_t peak_of_late_reader(const char *piece)
{
    struct run r;
    char text[2000];
    snprintf(
        text, sizeof text,
        "HloModule m\n"
        "c {\n  p = (s32[], f32[1000000], f32[%s]) parameter(0)\n  i = s32[] get-tuple-element(p), "
        "index=0\n"
        "  n = s32[] constant(3)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
        "b {\n  p = (s32[], f32[1000000], f32[%s]) parameter(0)\n  i = s32[] get-tuple-element(p), "
        "index=0\n"
        "  x = f32[1000000] get-tuple-element(p), index=1\n  u = f32[%s] get-tuple-element(p), "
        "index=2\n"
        "  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
        "  y = f32[1000000] dynamic-update-slice(x, u, i)\n"
        "  v = f32[%s] dynamic-slice(x, i), dynamic_slice_sizes={%s}\n  w = f32[%s] add(u, v)\n"
        "  ROOT r = (s32[], f32[1000000], f32[%s]) tuple(j, y, w)\n}\n"
        "ENTRY e {\n  z = s32[] constant(0)\n  x = f32[1000000] iota(), iota_dimension=0\n"
        "  y = f32[1000000] negate(x)\n  f = f32[] constant(1)\n  u = f32[%s] broadcast(f), "
        "dimensions={}\n"
        "  t = (s32[], f32[1000000], f32[%s]) tuple(z, y, u)\n"
        "  ROOT r = (s32[], f32[1000000], f32[%s]) while(t), condition=c, body=b\n}\n",
        piece, piece, piece, piece, piece, piece, piece, piece, piece, piece);
    run_text(&r, text, &(struct plan_options){0});
    const float *x = r.result->elements[1]->data, *u = r.result->elements[2]->data;
    ck_assert_float_eq(x[0], 1);
    ck_assert_float_eq(x[1], 1);
    ck_assert_float_eq(
        u[0], strcmp(piece, "1")
                  ? 1 + 1 + 0
                  : 1 + 0 - 1 - 2); /* where windows overlap, earlier ones were overwritten */
    size_t peak = r.state->peak;
    run_free(&r);
    return peak;
}

/* Each has random numbers and cached values of its own. */
START_TEST(states_of_one_plan_are_independent)
{
    struct run r;
    run_plan(&r,
             "HloModule m\nENTRY e {\n  g = u64[2] rng-get-and-update-state(), delta=1\n"
             "  i = u64[2] iota(), iota_dimension=0\n  x = u64[2] multiply(i, i)\n"
             "  ROOT s = u64[2] add(g, x)\n}\n",
             &(struct plan_options){0});
    struct run_state *states[2] = {r.state, run_state_new(r.program, 0)};
    for (int run = 0; run < 2; run++)
        for (int k = 0; k < 2; k++) {
            struct literal *l = eval_program(&r.ds, states[k], NULL, 0, NULL, &r.arena);
            ck_assert_ptr_nonnull(l);
            const uint64_t *got = l->data;
            ck_assert_uint_eq(got[0], 0x7012395 + (uint64_t)run);
            ck_assert_uint_eq(got[1], 1);
            literal_free_data(l);
        }
    run_state_free(states[1]);
    run_free(&r);
}
END_TEST

START_TEST(updates_run_after_readers)
{
    ck_assert_uint_lt(peak_of_late_reader("1"), 5000000);
    ck_assert_uint_lt(peak_of_late_reader("5000"), 5000000);
}
END_TEST

/* ---- constant folding ---- */

START_TEST(constants_are_computed_once_and_cached)
{
    const char *text =
        "HloModule m\n"
        "add {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] add(a, b)\n}\n"
        "c {\n  p = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  n = s32[] constant(3)\n  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
        "b {\n  p = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  sum = s32[] get-tuple-element(p), index=1\n"
        "  one = s32[] constant(1)\n  zero = s32[] constant(0)\n  j = s32[] add(i, one)\n"
        "  x = s32[5000] iota(), iota_dimension=0\n"
        "  y = s32[5000] multiply(x, x)\n"
        "  u = s32[1] reshape(j)\n"
        "  z = s32[5000] dynamic-update-slice(y, u, zero)\n"
        "  s = s32[] reduce(z, sum), dimensions={0}, to_apply=add\n"
        "  ROOT t = (s32[], s32[]) tuple(j, s)\n}\n"
        "ENTRY e {\n  z = s32[] constant(0)\n  t = (s32[], s32[]) tuple(z, z)\n"
        "  w = (s32[], s32[]) while(t), condition=c, body=b\n"
        "  ROOT r = s32[] get-tuple-element(w), index=1\n}\n";
    struct run r;
    run_text(&r, text, &(struct plan_options){0});
    int once = 0;
    for (int f = 0; f < r.program->function_count; f++)
        for (int k = 0; k < r.program->functions[f]->step_count; k++)
            once += r.program->functions[f]->steps[k].hoist == HOIST_RUN;
    ck_assert_int_eq(
        once,
        3); /* iota and its square in the loop, and the loop, which does not depend on parameters */
    uint32_t squares = 0; /* wraps like the sum of the module */
    for (uint32_t k = 0; k < 5000; k++)
        squares += k * k;
    ck_assert_uint_eq(*(uint32_t *)r.result->data, 3 * squares + 1 + 2 + 3);
    run_free(&r);
}
END_TEST

/* ---- failures ---- */

START_TEST(failures_are_reported)
{
    check_failure("HloModule m\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n", NULL, 0,
                  "the argument is missing");
    struct arena a;
    arena_init(&a);
    int64_t three = 3;
    struct literal *l = literal_new(&a, shape_array(&a, DT_F32, 1, &three, NULL, NULL));
    const struct literal *args[] = {l};
    check_failure("HloModule m\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n", args, 1, "f32[3]");
    check_failure(
        "HloModule m\nENTRY e {\n  c = f32[2] constant({...})\n  ROOT n = f32[2] negate(c)\n}\n",
        NULL, 0, "--elided=");
    literal_free_data(l);
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("eval");
    TCase *c = tcase_create("eval");
    tcase_add_test(c, in_place_update_preserves_aliases);
    tcase_add_test(c, update_of_a_constant_copies);
    tcase_add_test(c, loop_state_with_duplicate_value);
    tcase_add_test(c, loop_updates_arrays_in_place);
    tcase_add_test(c, pool_reuses_storage);
    tcase_add_test(c, elementwise_steps_are_fused);
    tcase_add_test(c, pool_keeps_large_storage);
    tcase_add_test(c, slots_are_shared);
    tcase_add_test(c, standard_reducers_are_recognized);
    tcase_add_test(c, scalar_code_agrees_with_kernels);
    tcase_add_test(c, loops_of_complex_numbers_are_machine_code);
    tcase_add_test(c, scalar_code_loop_permutes_its_state);
    tcase_add_test(c, branches_update_loop_state_in_place);
    tcase_add_test(c, states_of_one_plan_are_independent);
    tcase_add_test(c, updates_run_after_readers);
    tcase_add_test(c, constants_are_computed_once_and_cached);
    tcase_add_test(c, failures_are_reported);
    suite_add_tcase(suite, c);
    return check_run(suite);
}
