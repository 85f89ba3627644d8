/*
 * Tests of memory estimates: they equal the memory of the run for every golden test that runs
 * without arguments; and for small programs the number of bytes computed by hand.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct tally {
    int runs, exact;
};

static hlo_literal *run(hlo_program *p, const hlo_module *module, hlo_messages *m)
{
    size_t n = hlo_param_count(module);
    hlo_literal **args = calloc(n + 1, sizeof(hlo_literal *)), *result = NULL;
    bool ok = true;
    for (size_t k = 0; k < n && ok; k++) {
        args[k] = hlo_random_param(module, k, 1, m);
        ok = args[k] != NULL;
    }
    if (ok)
        result = hlo_run(p, (const hlo_literal *const *)args, n, m);
    for (size_t k = 0; k < n; k++)
        hlo_literal_free(args[k]);
    free(args);
    return result;
}

/* Runs twice: the second run reuses storage of the first. */
static void check_program(hlo_program *p, const hlo_module *module, hlo_messages *m,
                          const char *name, size_t part, struct tally *t)
{
    struct hlo_memory estimated = hlo_program_memory(p);
    for (int k = 0; k < 2; k++) {
        hlo_literal *result = run(p, module, m);
        if (!result)
            return;
        hlo_literal_free(result);
        struct hlo_memory now = hlo_program_memory(p);
        if (estimated.exact)
            ck_assert_msg(estimated.estimated && now.measured == estimated.peak,
                          "%s, module %zu: estimated %zu, measured %zu", name, part + 1,
                          (size_t)estimated.peak, (size_t)now.measured);
    }
    t->runs++;
    t->exact += estimated.exact;
}

static void check_part(const hlo_file *f, size_t part, const char *name, struct tally *t)
{
    struct hlo_run_options o = {
        .size = sizeof o, .max_steps = 100000, .timeout = 10, .elided = HLO_ELIDED_ZERO};
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = hlo_parse(f, part, m);
    hlo_program *p = module && hlo_verify(module, m) ? hlo_plan(module, &o, m) : NULL;
    if (p && hlo_participants(p) == 1)
        check_program(p, module, m, name, part, t);
    hlo_program_free(p);
    hlo_module_free(module);
    hlo_messages_free(m);
}

static void check_file(const char *path, struct tally *t)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_open(path, false, m);
    for (size_t k = 0; f && k < hlo_file_count(f); k++)
        check_part(f, k, path, t);
    hlo_file_free(f);
    hlo_messages_free(m);
}

static void check_directory(const char *path, struct tally *t)
{
    DIR *d = opendir(path);
    char inner[4096];
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        struct stat s;
        if (stat(inner, &s) == 0 && S_ISDIR(s.st_mode))
            check_directory(inner, t);
        else if (n > 4 && strcmp(e->d_name + n - 4, ".hlo") == 0)
            check_file(inner, t);
    }
    if (d)
        closedir(d);
}

START_TEST(estimates_of_golden_tests)
{
    struct tally t = {0};
    const char *root = getenv("TESTDATA");
    ck_assert_ptr_nonnull(root);
    check_directory(root, &t);
    ck_assert_msg(t.runs > 500 && t.exact > t.runs * 4 / 5, "%d run, %d exactly", t.runs, t.exact);
}
END_TEST

static void check_text(const char *text, uint64_t peak)
{
    struct tally t = {0};
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("test", text, strlen(text), false);
    struct hlo_run_options o = HLO_RUN_OPTIONS_INIT;
    hlo_module *module = hlo_parse(f, 0, m);
    ck_assert_msg(module && hlo_verify(module, m), "%s", hlo_messages_draw(m, false).data);
    hlo_program *p = hlo_plan(module, &o, m);
    ck_assert_ptr_nonnull(p);
    check_program(p, module, m, "text", 0, &t);
    ck_assert_int_eq(t.runs, 1);
    struct hlo_memory now = hlo_program_memory(p);
    ck_assert_uint_eq(now.peak, peak);
    ck_assert(now.measured <= peak);
    hlo_program_free(p);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
}

START_TEST(estimates_of_small_programs)
{
    enum { MIB = 1 << 20 };
    /* The sort needs storage; later steps work in place. */
    check_text("HloModule a\n"
               "less { x = f32[] parameter(0) y = f32[] parameter(1) ROOT l = pred[] compare(x, "
               "y), direction=LT }\n"
               "ENTRY e { p = f32[262144] parameter(0)\n s = f32[262144] sort(p), dimensions={0}, "
               "to_apply=less\n"
               " r = f32[512,512] reshape(s) ROOT n = f32[512,512] negate(r) }",
               MIB);
    /* A broadcast is a view, unless it is a result. */
    check_text("HloModule b\nENTRY e { p = f32[] parameter(0)\n ROOT b = f32[262144] broadcast(p), "
               "dimensions={} }",
               MIB);
    /* A loop updates its state in place, here as scalar code with registers of its own; the
     * initial state is the argument, which must not be modified. */
    check_text(
        "HloModule c\n"
        "body { s = (s32[], f32[262144]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
        " v = f32[262144] get-tuple-element(s), index=1 one = s32[] constant(1) j = s32[] add(i, "
        "one)\n"
        " x = f32[1] constant({7}) w = f32[262144] dynamic-update-slice(v, x, i)\n"
        " ROOT t = (s32[], f32[262144]) tuple(j, w) }\n"
        "cond { s = (s32[], f32[262144]) parameter(0) i = s32[] get-tuple-element(s), index=0\n"
        " n = s32[] constant(9) ROOT l = pred[] compare(i, n), direction=LT }\n"
        "ENTRY e { v = f32[262144] parameter(0) zero = s32[] constant(0)\n"
        " t = (s32[], f32[262144]) tuple(zero, v) w = (s32[], f32[262144]) while(t), body=body, "
        "condition=cond\n"
        " ROOT r = f32[262144] get-tuple-element(w), index=1 }",
        MIB + 64);
    /* The maximum of two branches. */
    check_text(
        "HloModule d\n"
        "less { x = f32[] parameter(0) y = f32[] parameter(1) ROOT l = pred[] compare(x, y), "
        "direction=LT }\n"
        "twice { x = f32[262144] parameter(0) s = f32[262144] sort(x), dimensions={0}, "
        "to_apply=less\n"
        " ROOT y = f32[524288] concatenate(s, x), dimensions={0} }\n"
        "more { x = f32[262144] parameter(0) y = f32[524288] concatenate(x, x), dimensions={0}\n"
        " ROOT z = f32[524288] sort(y), dimensions={0}, to_apply=less }\n"
        "ENTRY e { c = pred[] parameter(0) v = f32[262144] parameter(1)\n"
        " ROOT r = f32[524288] conditional(c, v, v), true_computation=twice, "
        "false_computation=more }",
        4 * MIB);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memory");
    TCase *tc = tcase_create("estimates");
    suite_add_tcase(s, tc);
    tcase_add_test(tc, estimates_of_golden_tests);
    tcase_add_test(tc, estimates_of_small_programs);
    return check_run(s);
}
