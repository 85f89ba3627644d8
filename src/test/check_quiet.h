/*
 * check.h, except that an assertion that holds costs nothing: Check tells its parent process of every
 * one by a system call, and here are loops of millions.
 */
#ifndef HLO_TEST_CHECK_QUIET_H
#define HLO_TEST_CHECK_QUIET_H

#include <check.h>

#undef ck_assert_msg
#define ck_assert_msg(expr, ...) \
    ((expr) ? (void)0 : _ck_assert_failed(__FILE__, __LINE__, "Assertion '" #expr "' failed", ##__VA_ARGS__))

#endif
