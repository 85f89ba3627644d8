/*
 * Tests of confined sessions: they may write files in their directory only, and not start
 * programs.
 */
#include "repl/repl.h"

#include "base/base.h"

#include "check_quiet.h"
#include <stdlib.h>
#include <unistd.h>

static void begin(hlo_program *p) { (void)p; }
static bool end(void) { return false; }
static void stay(void) {}

static int session(bool confined, const char *line)
{
    const char *const commands[] = {"x = f32[2,2] {{1, 2}, {3, 4}};", line};
    const struct repl_options o = {.commands = commands,
                                   .command_count = 2,
                                   .norc = true,
                                   .confined = confined,
                                   .run = HLO_WITH(hlo_run_options, .threads = 1),
                                   .interrupt_begin = begin,
                                   .interrupt_end = end,
                                   .interrupt_stay = stay};
    return repl_main(&o);
}

/* Text before and after the name of a file outside the current directory. */
static const struct {
    const char *head, *tail;
} refused[] = {
    {".save ", ""},
    {".output ", ""},
    {".once ", ""},
    {".plot x --png ", ""},
    {"!touch ", ""},
    {".shell touch ", ""},
    {".mode npy\n.once ", "\nx"},
};

START_TEST(commands_rejected_in_confined_sessions)
{
    char directory[] = "/tmp/hlo-confined-XXXXXX";
    struct buf line = {0}, file = {0};
    ck_assert_ptr_nonnull(mkdtemp(directory));
    buf_printf(&file, "%s/f", directory);
    buf_printf(&line, "%s%s%s", refused[_i].head, file.data, refused[_i].tail);
    ck_assert_int_eq(session(true, line.data), HLO_USAGE);
    ck_assert_int_ne(access(file.data, F_OK), 0);
    ck_assert_int_eq(session(false, line.data), HLO_OK);
    ck_assert_int_eq(access(file.data, F_OK), 0);
    unlink(file.data);
    rmdir(directory);
    buf_free(&line);
    buf_free(&file);
}
END_TEST

START_TEST(commands_allowed_in_confined_sessions)
{
    char directory[] = "/tmp/hlo-confined-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    ck_assert_int_eq(session(true, ".save f"), HLO_OK);
    ck_assert_int_eq(unlink("f"), 0);
    ck_assert_int_eq(chdir("/"), 0);
    rmdir(directory);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("confined");
    TCase *t = tcase_create("confined");
    tcase_add_loop_test(t, commands_rejected_in_confined_sessions, 0, (int)COUNT_OF(refused));
    tcase_add_test(t, commands_allowed_in_confined_sessions);
    suite_add_tcase(s, t);
    return check_run(s);
}
