/*
 * check.h, except that an assertion that holds costs nothing: Check tells its parent process of every
 * one by a system call, and here are loops of millions. And how each of these programs ends.
 */
#ifndef HLO_TEST_CHECK_QUIET_H
#define HLO_TEST_CHECK_QUIET_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
    ((expr) ? (void)0 : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

/* Runs the tests and frees them; what main is to return: 0 when they all hold. */
static inline int check_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

#endif
