/*
 * test_kern_shared: kernels whose work a team shares. Teams of any size must give the same bits.
 */
#include "check_quiet.h"

#include "random_view.h"

enum { TEAMS = 4 };
static const int sizes[TEAMS] = {1, 2, 3, 8};

/* ---- random bits ---- */

/* Large enough for several shares each; next to the end a share may be of any length. */
static void bits_of_all(enum dtype t, int rank, const int64_t *dims, enum kern_rng algorithm, struct team *const *teams)
{
    static const uint64_t state[3] = {0x0123456789abcdef, UINT64_MAX - 20000, 77};
    const int words = algorithm == KERN_PHILOX ? 3 : 2;
    uint64_t want_next[3] = {0}, next[3] = {0};
    static char plain[1 << 20], fast[1 << 20];
    struct view want, out;
    view_dense(&want, t, rank, dims, plain);
    view_dense(&out, t, rank, dims, fast);
    const size_t bytes = (size_t)view_elements(&out) * dtype_bytes(t);
    ck_assert(bytes <= sizeof fast);
    kern_plain.rng_bits(NULL, &want, algorithm, state, words, want_next);
    for (int k = 0; k < TEAMS; k++) {
        memset(fast, 0, bytes);
        kern_fast.rng_bits(teams[k], &out, algorithm, state, words, next);
        ck_assert(memcmp(next, want_next, (size_t)words * sizeof *next) == 0);
        ck_assert_msg(memcmp(fast, plain, bytes) == 0, "%s, team of %d", dtype_spelling(t), sizes[k]);
    }
}

START_TEST(bits_by_teams)
{
    struct team *teams[TEAMS];
    for (int k = 0; k < TEAMS; k++)
        teams[k] = team_new(sizes[k]);
    bits_of_all(DT_U32, 1, (int64_t[]){150001}, KERN_PHILOX, teams);
    bits_of_all(DT_U64, 2, (int64_t[]){3, 30007}, KERN_PHILOX, teams);
    bits_of_all(DT_U64, 1, (int64_t[]){70001}, KERN_THREE_FRY, teams);
    bits_of_all(DT_U32, 2, (int64_t[]){5, 20002}, KERN_THREE_FRY, teams);
    bits_of_all(DT_U16, 3, (int64_t[]){5, 7, 3001}, KERN_THREE_FRY, teams);
    bits_of_all(DT_U8, 2, (int64_t[]){500, 251}, KERN_THREE_FRY, teams);
    for (int k = 0; k < TEAMS; k++)
        team_free(teams[k]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_shared");
    TCase *tests = tcase_create("shared");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, bits_by_teams);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
