/*
 * check.h with assertions that are free if they hold: Check reports each one to its parent process
 * by a system call, and the tests have loops of millions. Also the end of main of each test
 * program.
 */
#ifndef HLO_TEST_CHECK_QUIET_H
#define HLO_TEST_CHECK_QUIET_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...)                                                                   \
    ((expr)                                                                                        \
         ? (void)0                                                                                 \
         : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

/* Runs and frees the tests; returns the exit status of main: 0 if all pass. */
static inline int check_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
