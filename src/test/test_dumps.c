/*
 * Tests of the choice of a dump in a directory, and of the order of passes.
 */
#include "io/io.h"

#include "check_quiet.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const files[] = {
    "module_0010.jit_step.cpu_after_optimizations.txt",
    "module_0010.jit_step.cpu_after_optimizations-buffer-assignment.txt",
    "module_0010.jit_step.0010.simplification.after_algsimp.before_dce.txt",
    "module_0010.jit_step.0009.after_layout.after_pipeline-start.before_cse.txt",
    "module_0010.jit_step.before_optimizations.hlo.pb",
    "module_0010.jit_step.before_optimizations.txt.gz",
    "module_0010.jit_step.debug_options",
    "module_0002.jit_step_more.before_optimizations.hlo.pb",
    "module_0002.jit_step_more.cpu_after_optimizations.txt",
    "module_0003.jit_f.before_optimizations.txt",
    "unrelated.hlo",
};

static struct arena arena;
static struct diags ds;
static char directory[32];

static void set_up(void)
{
    arena_init(&arena);
    diags_init(&ds, NULL);
    strcpy(directory, "/tmp/hlo-dumps-XXXXXX");
    ck_assert(mkdtemp(directory) != NULL);
    for (size_t k = 0; k < COUNT_OF(files); k++)
        close(
            open(arena_printf(&arena, "%s/%s", directory, files[k]).ptr, O_CREAT | O_WRONLY, 0600));
}

static void tear_down(void)
{
    for (size_t k = 0; k < COUNT_OF(files); k++)
        unlink(arena_printf(&arena, "%s/%s", directory, files[k]).ptr);
    rmdir(directory);
    diags_free(&ds);
    arena_free(&arena);
}

START_TEST(dumps_in_order_of_passes)
{
    static const char *const phases[] = {
        "before_optimizations",
        "cpu_after_optimizations",
        "before_optimizations",
        "before_optimizations",
        "0009.after_layout.after_pipeline-start.before_cse",
        "0010.simplification.after_algsimp.before_dce",
        "cpu_after_optimizations",
    };
    struct io_dumps d = {.a = &arena};
    ck_assert(io_dumps_read(&ds, &d, directory));
    ck_assert_uint_eq(d.count, COUNT_OF(phases));
    for (size_t k = 0; k < d.count; k++)
        ck_assert_msg(str_is(d.at[k].phase, phases[k]), "%zu: " STR_FMT, k, STR_ARG(d.at[k].phase));
    ck_assert(str_is(d.at[3].file, files[5])); /* the text, not the protocol buffer */
}
END_TEST

static const struct choice {
    const char *pick, *file; /* NULL: ambiguous or missing; then `why` is in the message */
    const char *why;
} choices[] = {
    {"10", "module_0010.jit_step.before_optimizations.txt.gz", NULL},
    {"10:after", "module_0010.jit_step.cpu_after_optimizations.txt", NULL},
    {"10:0009", "module_0010.jit_step.0009.after_layout.after_pipeline-start.before_cse.txt", NULL},
    {"10:algsimp", "module_0010.jit_step.0010.simplification.after_algsimp.before_dce.txt", NULL},
    {"10:none", NULL, "several modules: module_0010.jit_step.before_optimizations.txt.gz, "},
    {"10:before_", NULL, "select one with --module=NAME or --module=23:after_algsimp"},
    {"jit_step", "module_0010.jit_step.before_optimizations.txt.gz", NULL}, /* the whole name */
    {"more", "module_0002.jit_step_more.before_optimizations.hlo.pb", NULL},
    {"more:after", "module_0002.jit_step_more.cpu_after_optimizations.txt", NULL},
    {"step", NULL, "several modules: 2 jit_step_more, 10 jit_step; select one with --module=10"},
    {"algsimp", "module_0010.jit_step.0010.simplification.after_algsimp.before_dce.txt", NULL},
    {"0009", "module_0010.jit_step.0009.after_layout.after_pipeline-start.before_cse.txt", NULL},
    {"_f.before", "module_0003.jit_f.before_optimizations.txt", NULL},
    {"9", NULL, "no module '9'; directory contains 2 jit_step_more, 3 jit_f, 10 jit_step"},
    {"absent", NULL, "no module 'absent'"},
    {"", NULL, "several modules: 2 jit_step_more, 3 jit_f, 10 jit_step"},
    {NULL, NULL, "several modules"},
};

START_TEST(dumps_by_name)
{
    const struct choice *c = &choices[_i];
    struct io_dumps d = {.a = &arena};
    ck_assert(io_dumps_read(&ds, &d, directory));
    const struct io_dump *found = io_dumps_pick(&ds, &d, c->pick);
    ck_assert_msg((found != NULL) == (c->file != NULL), "case %d", _i);
    if (found)
        ck_assert_msg(str_is(found->file, c->file), "case %d: " STR_FMT, _i, STR_ARG(found->file));
    else
        ck_assert_msg(strstr(ds.first->text.ptr, c->why), "case %d: %s", _i, ds.first->text.ptr);
}
END_TEST

START_TEST(dumps_by_pattern)
{
    struct io_dumps d = {.a = &arena}, plain = {.a = &arena}, none = {.a = &arena};
    ck_assert(io_dumps_read(&ds, &d, arena_printf(&arena, "%s/*jit_f*", directory).ptr));
    ck_assert_uint_eq(d.count, 1);
    ck_assert(io_dumps_read(&ds, &plain, arena_printf(&arena, "%s/unrel*", directory).ptr));
    ck_assert_uint_eq(plain.count, 1);
    ck_assert(str_is(plain.at[0].name, "unrelated") && plain.at[0].number == 1);
    ck_assert(!io_dumps_read(&ds, &none, arena_printf(&arena, "%s/[x]", directory).ptr));
    ck_assert(strstr(ds.first->text.ptr, "No such file or directory"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dumps");
    TCase *t = tcase_create("dumps");
    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, dumps_in_order_of_passes);
    tcase_add_loop_test(t, dumps_by_name, 0, COUNT_OF(choices));
    tcase_add_test(t, dumps_by_pattern);
    suite_add_tcase(s, t);
    return check_run(s);
}
