/*
 * test_kern_shared: kernels on arrays large enough to be shared by threads. A team of any size gives the bits
 * that one thread gives, and these are the plain kernel's, as far as the kernel's comment says.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"

/* NULL, and teams of these sizes. */
static const int sizes[] = {1, 2, 3, 8};
enum { TEAMS = COUNT_OF(sizes) };
static struct team *teams[TEAMS];

static void start_teams(void)
{
    for (int k = 0; k < TEAMS; k++)
        teams[k] = team_new(sizes[k]);
}

static void end_teams(void)
{
    for (int k = 0; k < TEAMS; k++)
        team_free(teams[k]);
}

/* Floats whose sums round, anything else as in random_view.h; one pattern over and over. */
static struct random_view large_array(struct random *r, enum dtype t, int rank, const int64_t *dims)
{
    enum { PATTERN = 1009 };
    struct random_view v = random_layout(r, t, rank, dims);
    union {
        char bytes[16];
        uint64_t align;
    } pattern[PATTERN];
    int64_t i[VIEW_MAX_RANK] = {0}, n = 0;
    memset(pattern, 0, sizeof pattern);
    for (int k = 0; k < PATTERN; k++) {
        random_element(r, t, &pattern[k]);
        if (dtype_is_float(t) && t != DT_F8E8M0FNU && !(r->specials && k % 100 == 0))
            float_store(t, &pattern[k], (double)(int64_t)random_bits(r) * 0x1p-63);
    }
    if (view_elements(&v.view) > 0)
        do
            memcpy(view_at(&v.view, i), &pattern[n++ % PATTERN], dtype_bytes(t));
        while (index_next(rank, dims, i));
    return v;
}

static enum dtype one_of(struct random *r, const enum dtype *types, size_t count)
{
    return types[random_in(r, 0, (int64_t)count - 1)];
}
#define ONE_OF(r, ...) one_of(r, (const enum dtype[]){__VA_ARGS__}, COUNT_OF(((enum dtype[]){__VA_ARGS__})))

/* How far the plain kernel may be off, of elements below 1 that were added up in another order. */
static double order_error(enum dtype t)
{
    return t == DT_F64 ? 1e-11 : t == DT_F32 ? 1e-4 : dtype_is_float(t) ? 1e-2 : 0;
}

START_TEST(reductions)
{
    for (int seed = 0; seed < 60; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 4 == 0};
        enum dtype t = ONE_OF(&r, DT_F32, DT_F32, DT_BF16, DT_F16, DT_F64, DT_S32, DT_U8, DT_PRED, DT_C64);
        struct kern_body body = {.combine = KERN_ADD};
        if (!dtype_is_complex(t) && random_in(&r, 0, 1))
            body.combine = (enum kern_combine)random_in(&r, KERN_MULTIPLY, KERN_MINIMUM);
        int64_t dims[3] = {random_in(&r, 1, 5), random_in(&r, 1, 600), random_in(&r, 1, 600)}, out_dims[3];
        bool reduced[3] = {random_in(&r, 0, 1), seed % 3 != 0, seed % 3 != 1};
        if (seed % 4 == 1)
            dims[2] = random_in(&r, 60000, 150000) / (dims[0] * (dims[1] = random_in(&r, 1, 5)));
        int kept = 0;
        for (int d = 0; d < 3; d++)
            if (!reduced[d])
                out_dims[kept++] = dims[d];
        char init[16] = {0};
        random_element(&r, t, init);
        struct random_view x = large_array(&r, t, 3, dims), first = random_layout(&r, t, kept, out_dims),
                           out = random_layout(&r, t, kept, out_dims);
        const void *inits[] = {init};
        ck_assert(plain_reduce(NULL, 1, &out.view, &x.view, inits, &t, reduced, &body));
        ck_assert(kern_reduce(NULL, 1, &first.view, &x.view, inits, &t, reduced, &body));
        ck_assert_msg(views_agree(&first.view, &out.view, order_error(t), 1), "reduce, seed %d", seed);
        for (int k = 0; k < TEAMS; k++) {
            ck_assert(kern_reduce(teams[k], 1, &out.view, &x.view, inits, &t, reduced, &body));
            ck_assert_msg(views_agree(&out.view, &first.view, 0, 0), "reduce, seed %d, %d threads", seed,
                          sizes[k]);
        }
        free(x.block);
        free(first.block);
        free(out.block);
    }
}
END_TEST

/* ---- random bits ---- */

/* Large enough for several shares each; next to the end a share may be of any length. */
static void bits_of_all(enum dtype t, int rank, const int64_t *dims, enum kern_rng algorithm)
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
    bits_of_all(DT_U32, 1, (int64_t[]){150001}, KERN_PHILOX);
    bits_of_all(DT_U64, 2, (int64_t[]){3, 30007}, KERN_PHILOX);
    bits_of_all(DT_U64, 1, (int64_t[]){70001}, KERN_THREE_FRY);
    bits_of_all(DT_U32, 2, (int64_t[]){5, 20002}, KERN_THREE_FRY);
    bits_of_all(DT_U16, 3, (int64_t[]){5, 7, 3001}, KERN_THREE_FRY);
    bits_of_all(DT_U8, 2, (int64_t[]){500, 251}, KERN_THREE_FRY);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_shared");
    TCase *tests = tcase_create("shared");
    tcase_add_checked_fixture(tests, start_teams, end_teams);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, reductions);
    tcase_add_test(tests, bits_by_teams);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
