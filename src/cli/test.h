/*
 * hlo test: the tests of a run and their results.
 */
#ifndef HLO_CLI_TEST_H
#define HLO_CLI_TEST_H

#include "cli/cli.h"

#include <regex.h>

struct test_result {
    const char *path;
    struct str name;
    enum { TEST_PASSED, TEST_FAILED, TEST_SKIPPED } status;
    struct str why;
    double seconds;
    size_t part; /* part of the file */
    bool done;   /* the test was run */
};

struct suite {
    const struct options *o;
    struct arena arena;
    const char **files;
    size_t file_count, file_capacity;
    struct test_result *tests; /* in order of the report */
    size_t count, capacity;
    regex_t filter;
    int64_t jobs, time_limit, slowest;
    size_t not_run;
    bool stop;  /* a test failed with --fail-fast */
    bool aside; /* --update with CI set: files are not modified */
    size_t put_aside;
    size_t done;
    int usage; /* HLO_OK, or the status that ended the search for tests */
};

/* ---- test_report.c ---- */

/* Writes the reports that the options ask for; returns the exit status of the command. */
int test_report(struct suite *s);
int test_list(const struct suite *s); /* --list; returns the exit status */

#endif
