/*
 * Tests of the functions of --plain: correctly rounded values (computed by mpmath with 300 bits),
 * special cases, and a digest of results, which is the same on every machine.
 */
#include "check_quiet.h"

#include "kern/plain/function.h"
#include "random_view.h"

static const struct {
    const char *name;
    real_fn *fn;
    double x, result;
} known[] = {
    {"acos", real_acos, 0x1.3333333333333p-2, 0x1.441f5ecbeef59p+0},
    {"acos", real_acos, -0x1.fffeb074a771dp-1, 0x1.918d2a3d6c3dfp+1},
    {"acos", real_acos, 0x1.6666666666666p-1, 0x1.973e83f5d5c9bp-1},
    {"acosh", real_acosh, 0x1.000001ad7f29bp+0, 0x1.d4effc065cae4p-12},
    {"acosh", real_acosh, 0x1.d99999999999ap+1, 0x1.fb9206e748ee8p+0},
    {"acosh", real_acosh, 0x1.4e718d7d7625ap+664, 0x1.cd35cd6cad20fp+8},
    {"asin", real_asin, 0x1.3333333333333p-2, 0x1.380159e14f6ffp-2},
    {"asin", real_asin, -0x1.fffeb074a771dp-1, -0x1.90fa9f3695aa5p+0},
    {"asin", real_asin, 0x1.4f8b588e368f1p-17, 0x1.4f8b588e4e940p-17},
    {"asinh", real_asinh, 0x1.3333333333333p-2, 0x1.2ec4ea565fcc1p-2},
    {"asinh", real_asinh, -0x1.4f8b588e368f1p-17, -0x1.4f8b588e1e8a2p-17},
    {"asinh", real_asinh, 0x1.4e718d7d7625ap+664, 0x1.cd35cd6cad20fp+8},
    {"atanh", real_atanh, 0x1.3333333333333p-2, 0x1.3cf2b50617c95p-2},
    {"atanh", real_atanh, -0x1.ff7ced916872bp-1, -0x1.e66cfde9c7c2dp+1},
    {"atanh", real_atanh, 0x1.4f8b588e368f1p-17, 0x1.4f8b588e6698ep-17},
    {"cbrt", real_cbrt, 0x1.0000000000000p+1, 0x1.428a2f98d728bp+0},
    {"cbrt", real_cbrt, -0x1.56e1fc2f8f359p-997, -0x1.bff2ee48e0530p-333},
    {"cbrt", real_cbrt, 0x1.999999999999ap-4, 0x1.db4c7760bcff3p-2},
    {"cos", real_cos, 0x1.0000000000000p+0, 0x1.14a280fb5068cp-1},
    {"cos", real_cos, 0x1.0f0cf064dd592p+73, 0x1.0be2cef01c8f4p-1},
    {"cos", real_cos, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    {"cosh", real_cosh, 0x1.0000000000000p-1, 0x1.20ac1862ae8d0p+0},
    {"cosh", real_cosh, 0x1.0000000000000p+1, 0x1.e18fa0df2d9bcp+1},
    {"cosh", real_cosh, -0x1.6300000000000p+9, 0x1.3e21a464507f9p+1023},
    {"erf", real_erf, 0x1.0000000000000p-1, 0x1.0a7ef5c18edd2p-1},
    {"erf", real_erf, -0x1.8000000000000p+1, -0x1.fffd1ac4135f9p-1},
    {"erf", real_erf, 0x1.4f8b588e368f1p-17, 0x1.7a9f084b5e44cp-17},
    {"exp", real_exp, 0x1.0000000000000p+0, 0x1.5bf0a8b145769p+1},
    {"exp", real_exp, -0x1.7480000000000p+9, 0x0.0000000000001p-1022},
    {"exp", real_exp, 0x1.62d999999999ap+9, 0x1.d75ae7a50ee14p+1023},
    {"expm1", real_expm1, 0x1.4f8b588e368f1p-17, 0x1.4f8bc681cdfb6p-17},
    {"expm1", real_expm1, -0x1.0000000000000p-1, -0x1.92e9a0720d3ecp-2},
    {"expm1", real_expm1, 0x1.e000000000000p+4, 0x1.370470aec26edp+43},
    {"log", real_log, 0x1.0000000000000p+1, 0x1.62e42fefa39efp-1},
    {"log", real_log, 0x1.000001ad7f29bp+0, 0x1.ad7f2847b6492p-24},
    {"log", real_log, 0x0.012688b70e62bp-1022, -0x1.64e69394d9508p+9},
    {"log1p", real_log1p, 0x1.4f8b588e368f1p-17, 0x1.4f8aea9ae7317p-17},
    {"log1p", real_log1p, -0x1.8000000000000p-1, -0x1.62e42fefa39efp+0},
    {"log1p", real_log1p, 0x1.4e718d7d7625ap+664, 0x1.cc845b54b54f2p+8},
    {"sin", real_sin, 0x1.0000000000000p+0, 0x1.aed548f090ceep-1},
    {"sin", real_sin, 0x1.0f0cf064dd592p+73, -0x1.b453ab76bf397p-1},
    {"sin", real_sin, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
    {"sinh", real_sinh, 0x1.0000000000000p+1, 0x1.d03cf63b6e19fp+1},
    {"sinh", real_sinh, -0x1.4f8b588e368f1p-17, -0x1.4f8b588e4e940p-17},
    {"sinh", real_sinh, 0x1.6300000000000p+9, 0x1.3e21a464507f9p+1023},
    {"tan", real_tan, 0x1.0000000000000p+0, 0x1.8eb245cbee3a6p+0},
    {"tan", real_tan, 0x1.0f0cf064dd592p+73, -0x1.a0f79c1b6b257p+0},
    {"tan", real_tan, -0x1.921fb54442d18p+0, -0x1.d02967c31cdb5p+53},
    {"tanh", real_tanh, 0x1.0000000000000p-1, 0x1.d9353d7568af3p-2},
    {"tanh", real_tanh, -0x1.4f8b588e368f1p-17, -0x1.4f8b588e06854p-17},
    {"tanh", real_tanh, 0x1.8000000000000p+1, 0x1.fd77d111a0b00p-1},
};

typedef double real_fn_2(double x, double y);
static const struct {
    const char *name;
    real_fn_2 *fn;
    double x, y, result;
} known_2[] = {
    {"atan2", real_atan2, 0x1.0624dd2f1a9fcp-10, -0x1.0000000000000p+1, 0x1.920f52f686c7fp+1},
    {"atan2", real_atan2, 0x1.8000000000000p+1, 0x1.0000000000000p+2, 0x1.4978fa3269ee1p-1},
    {"atan2", real_atan2, -0x1.87e92154ef7acp-665, -0x1.c83e7ad4e6efep-632, -0x1.921fb5440bd7cp+1},
    {"hypot", real_hypot, 0x1.7e43c8800759cp+996, 0x1.31cfd3999f7b0p+993, 0x1.802bdd6d667bap+996},
    {"hypot", real_hypot, 0x1.999999999999ap-4, 0x1.999999999999ap-3, 0x1.c9f25c5bfeddap-3},
    {"hypot", real_hypot, 0x0.012688b70e62bp-1022, 0x0.001d74124e3d1p-1022,
     0x0.012800c7e35b3p-1022},
    {"pow", real_pow, 0x1.000001ad7f29bp+0, 0x1.dcd6500000000p+29, 0x1.349445c228792p+144},
    {"pow", real_pow, 0x1.999999999999ap-4, -0x1.2c00000000000p+8, 0x1.7e43c8800752cp+996},
    {"pow", real_pow, 0x1.c000000000000p+2, 0x1.554c985f06f69p-2, 0x1.e9adba005d036p+0},
};

static bool same(double x, double y) { return memcmp(&x, &y, sizeof x) == 0; }

START_TEST(functions_are_correctly_rounded)
{
    for (size_t k = 0; k < COUNT_OF(known); k++) {
        const double r = known[k].fn(known[k].x);
        ck_assert_msg(same(r, known[k].result), "%s(%a) = %a", known[k].name, known[k].x, r);
    }
    for (size_t k = 0; k < COUNT_OF(known_2); k++) {
        const double r = known_2[k].fn(known_2[k].x, known_2[k].y);
        ck_assert_msg(same(r, known_2[k].result), "%s(%a, %a) = %a", known_2[k].name, known_2[k].x,
                      known_2[k].y, r);
    }
}
END_TEST

/* A value where C99 defines one, with the sign of zeros. */
START_TEST(functions_have_the_special_cases_of_c)
{
    static const double values[] = {0.0,    -0.0,      1,          -1,       0.5,       -0.5,
                                    2,      -2,        3,          -3,       2.5,       1e300,
                                    -1e300, 0x1p-1074, -0x1p-1060, INFINITY, -INFINITY, NAN};
    real_fn *const of_libm[] = {acos, acosh, asin, asinh, atanh, cbrt, cos, cosh, erf,
                                exp,  expm1, log,  log1p, sin,   sinh, tan, tanh};
    real_fn *const ours[] = {real_acos,  real_acosh, real_asin, real_asinh, real_atanh, real_cbrt,
                             real_cos,   real_cosh,  real_erf,  real_exp,   real_expm1, real_log,
                             real_log1p, real_sin,   real_sinh, real_tan,   real_tanh};
    real_fn_2 *const of_libm_2[] = {atan2, hypot, pow}, *const ours_2[] = {real_atan2, real_hypot,
                                                                           real_pow};
    for (size_t i = 0; i < COUNT_OF(values); i++)
        for (size_t k = 0; k < COUNT_OF(ours); k++) {
            const double x = values[i], r = ours[k](x), c = of_libm[k](x);
            ck_assert_msg(c != c ? r != r : r == c || fabs(r - c) <= fabs(c) * 0x1p-50,
                          "%s(%a) = %a", known[3 * k].name, x, r);
            ck_assert_msg(c != c || signbit(r) == signbit(c), "sign of %s(%a)", known[3 * k].name,
                          x);
        }
    for (size_t i = 0; i < COUNT_OF(values); i++)
        for (size_t j = 0; j < COUNT_OF(values); j++)
            for (size_t k = 0; k < COUNT_OF(ours_2); k++) {
                const double x = values[i], y = values[j], r = ours_2[k](x, y),
                             c = of_libm_2[k](x, y);
                ck_assert_msg(c != c ? r != r : r == c || fabs(r - c) <= fabs(c) * 0x1p-50,
                              "%s(%a, %a) = %a", known_2[3 * k].name, x, y, r);
                ck_assert_msg(c != c || signbit(r) == signbit(c), "sign of %s(%a, %a)",
                              known_2[3 * k].name, x, y);
            }
}
END_TEST

START_TEST(a_nan_is_that_of_an_operand)
{
    const double nan = (double)NAN;
    ck_assert(same(real_sin(nan), nan));
    ck_assert(same(real_sin(-nan), -nan));
    ck_assert(same(real_sin((double)INFINITY), NAN_MADE));
    ck_assert(same(real_log(-1), NAN_MADE));
    ck_assert(same(real_pow(2, nan), nan));
    ck_assert(same(real_atan2(-nan, nan), -nan));
}
END_TEST

/* ---- the same bits on every machine ---- */

static void add_to_digest(uint64_t *digest, double r)
{
    uint64_t u;
    memcpy(&u, &r, sizeof u);
    *digest = (*digest ^ u) * 0x100000001b3u;
    *digest ^= *digest >> 29;
}

/* Of any size, or moderate, or special. */
static double next_number(struct random *r)
{
    const uint64_t u = random_bits(r);
    double x;
    switch (random_in(r, 0, 3)) {
    case 0: return random_float(r);
    case 1: memcpy(&x, &u, sizeof x); return x;
    case 2: return (double)(int64_t)u * 0x1p-61;
    default: return (double)(int64_t)u * 0x1p-54;
    }
}

START_TEST(bits_are_the_same_on_every_machine)
{
    complex_fn *const complex[] = {complex_acos,  complex_acosh, complex_asin, complex_asinh,
                                   complex_atanh, complex_cos,   complex_cosh, complex_exp,
                                   complex_log,   complex_sin,   complex_sinh, complex_sqrt,
                                   complex_tan,   complex_tanh};
    struct random r = {.state = 1, .specials = true};
    uint64_t digest = 0;
    for (int i = 0; i < 2000; i++) {
        const double x = next_number(&r), y = next_number(&r);
        for (size_t k = 0; k < COUNT_OF(known); k += 3)
            add_to_digest(&digest, known[k].fn(x));
        for (size_t k = 0; k < COUNT_OF(known_2); k += 3)
            add_to_digest(&digest, known_2[k].fn(x, y));
        for (size_t k = 0; k < COUNT_OF(complex); k++) {
            const struct c128 z = complex[k]((struct c128){x, y});
            add_to_digest(&digest, z.re);
            add_to_digest(&digest, z.im);
        }
    }
    ck_assert_msg(digest == UINT64_C(0x323da4ae3704263a), "%#llx", (unsigned long long)digest);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kern_function");
    TCase *tests = tcase_create("function");
    tcase_add_test(tests, functions_are_correctly_rounded);
    tcase_add_test(tests, functions_have_the_special_cases_of_c);
    tcase_add_test(tests, a_nan_is_that_of_an_operand);
    tcase_add_test(tests, bits_are_the_same_on_every_machine);
    suite_add_tcase(suite, tests);
    return check_run(suite);
}
