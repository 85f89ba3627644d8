/*
 * Properties of random modules of all operations: the verifier accepts them; they print as they
 * were parsed; fast, reference and traced runs agree; and results do not depend on the number of
 * threads.
 *
 * `test_generate COUNT [FIRST]` tests COUNT modules, from seed FIRST on (1), instead of the
 * default number.
 */
#include "fuzz/generate.h"
#include "fuzz/differential.h"
#include "text/text.h"

#include "check_quiet.h"

#include <stdlib.h>

static uint64_t first = 1, seeds = 2000, large_seeds = 100;

static void print_of(struct str text, struct buf *out)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("generated"), text);
    diags_init(&ds, &source);
    struct module *m = text_parse_module(&ds, &source, &(struct parse_options){.strict = true});
    ck_assert_msg(m != NULL, "%s", text.ptr);
    text_print_module(out, m, &(struct print_options){.large_constants = true});
    module_free(m);
    diags_free(&ds);
    source_free(&source);
}

START_TEST(print_parse_round_trip)
{
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct buf text = {0}, once = {0}, twice = {0}, thrice = {0};
        generate_of_seed(&text, seed);
        print_of(buf_view(&text), &once); /* the order of computations may still change */
        print_of(buf_view(&once), &twice);
        print_of(buf_view(&twice), &thrice);
        ck_assert_msg(once.size == twice.size && str_eq(buf_view(&twice), buf_view(&thrice)),
                      "seed %d", (int)seed);
        buf_free(&text);
        buf_free(&once);
        buf_free(&twice);
        buf_free(&thrice);
    }
}
END_TEST

START_TEST(fast_reference_and_traced_runs_agree)
{
    uint64_t ran = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct buf text = {0}, why = {0};
        generate_of_seed(&text, seed);
        enum differential outcome = run_all_modes(buf_view(&text), seed, &why);
        ck_assert_msg(outcome != DIFFERENTIAL_DIFFERS && outcome != DIFFERENTIAL_REJECTED,
                      "seed %d: %.3000s", (int)seed, why.data);
        ran += outcome == DIFFERENTIAL_AGREES;
        buf_free(&text);
        buf_free(&why);
    }
    ck_assert_uint_ge(ran, seeds * 3 / 4);
}
END_TEST

START_TEST(results_do_not_depend_on_threads)
{
    uint64_t ran = 0;
    for (uint64_t seed = first; seed < first + large_seeds; seed++) {
        struct buf text = {0}, why = {0};
        generate_large_of_seed(&text, seed);
        enum differential outcome = run_on_threads(buf_view(&text), seed, &why);
        ck_assert_msg(outcome != DIFFERENTIAL_DIFFERS && outcome != DIFFERENTIAL_REJECTED,
                      "large seed %d: %.3000s", (int)seed, why.data);
        ran += outcome == DIFFERENTIAL_AGREES;
        buf_free(&text);
        buf_free(&why);
    }
    ck_assert_uint_ge(ran, large_seeds / 2);
}
END_TEST

/* One byte makes one choice; earlier text is unaffected. */
START_TEST(same_bytes_generate_same_module)
{
    uint8_t bytes[64];
    struct buf a = {0}, b = {0}, c = {0};
    for (size_t k = 0; k < sizeof bytes; k++)
        bytes[k] = (uint8_t)(k * 37);
    generate_of_bytes(&a, bytes, sizeof bytes);
    generate_of_bytes(&b, bytes, sizeof bytes);
    bytes[2] ^= 1;
    generate_of_bytes(&c, bytes, sizeof bytes);
    ck_assert(str_eq(buf_view(&a), buf_view(&b)));
    ck_assert(!str_eq(buf_view(&a), buf_view(&c)));
    buf_free(&a);
    buf_free(&b);
    buf_free(&c);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        seeds = large_seeds = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        first = strtoull(argv[2], NULL, 10);
    Suite *s = suite_create("generate");
    TCase *t = tcase_create("generate");
    tcase_set_timeout(t, argc > 1 ? 0 : 120);
    tcase_add_test(t, print_parse_round_trip);
    tcase_add_test(t, fast_reference_and_traced_runs_agree);
    tcase_add_test(t, results_do_not_depend_on_threads);
    tcase_add_test(t, same_bytes_generate_same_module);
    suite_add_tcase(s, t);
    return check_run(s);
}
