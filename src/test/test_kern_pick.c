/*
 * Tests of argmin and argmax reductions: whatever a body does with ties and NaNs, the fast kernel
 * must give the same bits as calling the body for every element.
 */
#include "check_quiet.h"

#include "kern/plain/plain.h"
#include "random_view.h"

struct described_body {
    const struct kern_pick *pick;
    const enum dtype *types;
};

static enum kern_relation compare_values(enum dtype t, const void *a, const void *b)
{
    if (!dtype_is_float(t)) {
        uint8_t less, equal;
        kern_find_compare(KERN_LT, false, t)(&less, (const void *const[]){a, b}, 1);
        kern_find_compare(KERN_EQ, false, t)(&equal, (const void *const[]){a, b}, 1);
        return less ? KERN_BELOW : equal ? KERN_EQUAL : KERN_ABOVE;
    }
    double x = float_load(t, a), y = float_load(t, b);
    if (isnan(x) || isnan(y))
        return !isnan(y) ? KERN_SO_FAR_NAN : !isnan(x) ? KERN_ELEMENT_NAN : KERN_BOTH_NAN;
    return x < y ? KERN_BELOW : x == y ? KERN_EQUAL : KERN_ABOVE;
}

/* The body described by the table. */
static bool run_body(void *context, const void *const *args, void *const *results)
{
    const struct described_body *a = context;
    int64_t i = kern_load_index(a->types[1], args[1]), j = kern_load_index(a->types[1], args[3]);
    uint8_t takes =
        a->pick->takes[compare_values(a->types[0], args[0], args[2])][1 + (i > j) - (i < j)];
    memcpy(results[0], takes & KERN_TAKES_VALUE ? args[2] : args[0], dtype_bytes(a->types[0]));
    memcpy(results[1], takes & KERN_TAKES_INDEX ? args[3] : args[1], dtype_bytes(a->types[1]));
    return true;
}

static void random_pick(struct random *r, struct kern_pick *p)
{
    p->greatest = random_in(r, 0, 1);
    for (int relation = 0; relation < KERN_RELATIONS; relation++)
        for (int order = 0; order < 3; order++)
            p->takes[relation][order] = (uint8_t)random_in(r, 0, 3);
    for (int order = 0; order < 3; order++) {
        p->takes[p->greatest ? KERN_BELOW : KERN_ABOVE][order] =
            KERN_TAKES_VALUE | KERN_TAKES_INDEX;
        p->takes[p->greatest ? KERN_ABOVE : KERN_BELOW][order] = 0;
    }
}

START_TEST(argmin_argmax_agree_with_reference)
{
    static const enum dtype values[] = {DT_F32, DT_F32, DT_F64, DT_BF16, DT_F16, DT_S32,
                                        DT_S64, DT_U64, DT_U8,  DT_S8,   DT_U32, DT_PRED},
                            indices[] = {DT_S32, DT_S64, DT_U32, DT_U8};
    for (int seed = 0; seed < 1500; seed++) {
        struct random r = {(uint64_t)seed, .specials = seed % 3 == 0};
        int64_t dims[VIEW_MAX_RANK], out_dims[VIEW_MAX_RANK];
        int rank = (int)random_in(&r, 1, 4), kept = 0;
        enum dtype types[2] = {values[random_in(&r, 0, (int64_t)COUNT_OF(values) - 1)],
                               indices[random_in(&r, 0, (int64_t)COUNT_OF(indices) - 1)]};
        struct kern_pick pick;
        struct described_body described = {&pick, types};
        bool reduced[VIEW_MAX_RANK];
        struct random_view x[2], out[2], expected[2];
        char init[2][16] = {{0}};
        random_pick(&r, &pick);
        random_dims(&r, rank, rank > 2 ? 12 : 90, dims);
        if (seed % 20 == 0)
            dims[random_in(&r, 0, rank - 1)] = 2600;
        for (int d = 0; d < rank; d++) {
            reduced[d] = random_in(&r, 0, 1);
            if (!reduced[d])
                out_dims[kept++] = dims[d];
        }
        for (int k = 0; k < 2; k++) {
            random_element(&r, types[k], init[k]);
            x[k] = random_operand(&r, types[k], rank, dims);
            out[k] = random_layout(&r, types[k], kept, out_dims);
            expected[k] = random_layout(&r, types[k], kept, out_dims);
        }
        if (seed % 4 == 1)
            kern_iota(NULL, &x[1].view, (int)random_in(&r, 0, rank - 1));
        struct view xs[2] = {x[0].view, x[1].view}, outs[2] = {out[0].view, out[1].view},
                    expected_views[2] = {expected[0].view, expected[1].view};
        struct kern_body body = {.combine = KERN_CALL, .call = run_body, .context = &described},
                         fast = body;
        fast.pick = &pick;
        const void *const inits[2] = {init[0], init[1]};
        ck_assert(kern_reduce(NULL, 2, outs, xs, inits, types, reduced, &fast));
        ck_assert(plain_reduce(NULL, 2, expected_views, xs, inits, types, reduced, &body));
        for (int k = 0; k < 2; k++) {
            ck_assert_msg(views_agree(&outs[k], &expected_views[k], 0, 0), "pick, seed %d", seed);
            FREE_VIEWS(&x[k], &out[k], &expected[k]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_pick");
    TCase *tests = tcase_create("pick");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, argmin_argmax_agree_with_reference);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
