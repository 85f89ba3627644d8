/*
 * Tests of the lexer, the parser and literals, in strict and default mode; one file because they
 * share tables of texts. Strict mode must accept and reject the same texts as XLA's own parser
 * (jaxlib 0.10.2).
 */
#include "text/text.h"
#include "text/text_priv.h"

#include "check_quiet.h"
#include <math.h>
#include <stdlib.h>

/* ---- one text ---- */

struct outcome {
    struct module *m;
    struct diags ds;
    struct source source;
};

static struct outcome parse(struct str text, bool strict)
{
    struct outcome *o = calloc(1, sizeof *o);
    struct parse_options options = {.strict = strict};
    ck_assert_ptr_nonnull(o);
    source_init(&o->source, STR("test"), text);
    diags_init(&o->ds, &o->source);
    o->m = text_parse_module(&o->ds, &o->source, &options);
    struct outcome copy = *o;
    free(o);
    ck_assert_msg((copy.m == NULL) == (copy.ds.errors > 0), "verdict and messages disagree: %.*s",
                  STR_ARG(text));
    return copy;
}

static void done(struct outcome *o)
{
    module_free(o->m);
    source_free(&o->source);
    diags_free(&o->ds);
}

static bool accepts(const char *text, bool strict)
{
    struct outcome o = parse(str_of(text), strict);
    bool ok = o.m != NULL;
    done(&o);
    return ok;
}

/* Verdicts of XLA and --strict; DEFAULT_ONLY: accepted by default only. */
enum verdict { NO, YES, DEFAULT_ONLY };
struct sample {
    enum verdict verdict;
    const char *text;
};

static void check_samples(const struct sample *samples, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const struct sample *s = &samples[k];
        ck_assert_msg(accepts(s->text, true) == (s->verdict == YES), "strict: %s", s->text);
        ck_assert_msg(accepts(s->text, false) == (s->verdict != NO), "default: %s", s->text);
    }
}

/* An entry computation of one line for each instruction. */
#define E(body) "ENTRY e {\n" body "\n}"
#define P2 "p = f32[2] parameter(0)\n"

START_TEST(lexer)
{
    static const struct sample samples[] = {
        {YES, E("ROOT p = f32[] parameter(0)")},
        {YES, E("ROOT %p = f32[] parameter(0) // c\r/* d */")},
        {YES, E("ROOT p: = f32[] parameter(0)")},
        {NO, E("ROOT %p: = f32[] parameter(0)")},
        {DEFAULT_ONLY, E("x=f32[] parameter(0)")},
        {YES, E("x =f32[] parameter(0)")},
        {YES, E("%x=f32[] parameter(0)")},
        {NO, E("ROOT s4 = f32[] parameter(0)")},
        {NO, E("ROOT %s4 = f32[] parameter(0)")},
        {NO, E("ROOT a->b = f32[] parameter(0)")},
        {YES, E("ROOT c = f32[] constant(-.5)")},
        {DEFAULT_ONLY, E("ROOT c = f32[] constant(.5)")},
        {YES, E("ROOT c = f32[] constant(5.)")},
        {NO, E("ROOT c = f32[] constant(1e)")},
        {NO, E("ROOT c = f32[] constant(+1)")},
        {NO, E("ROOT c = f32[] constant(1_0)")},
        {NO, E("ROOT c = s32[] constant(0x10)")},
        {DEFAULT_ONLY, E("ROOT c = f32[] constant(0x1.8p1)")},
        {YES, E("ROOT c = f32[] constant(nan(0x1))")},
        {NO, E("ROOT c = f32[] constant(nan (0x1))")},
        {NO, E("ROOT c = f32[] constant(nan(0x))")},
        {YES, E("ROOT c = f32[] constant(-nan)")},
        {NO, E("ROOT c = f32[] constant(-NaN)")},
        {NO, E("ROOT p = f32[] parameter(0) /* open")},
        {NO, E("ROOT p = f32[] parameter(0) / 2")},
        {YES, E("ROOT p = f32[] parameter(0), metadata={op_name='a\\x41\\u00e9\\101'}")},
        {YES, E("ROOT p = f32[] parameter(0), metadata={op_name=\"\\x4G\"}")},
        {NO, E("ROOT p = f32[] parameter(0), metadata={op_name=\"\\xG\"}")},
        {NO, E("ROOT p = f32[] parameter(0), metadata={op_name=\"\\q\"}")},
        {NO, E("ROOT p = f32[] parameter(0), metadata={op_name=\"a\\\nb\"}")},
        {YES, E("ROOT p = f32[] parameter(0), metadata={op_name=\"a\nb\"}")},
        {YES, E("ROOT p = f32[] parameter(0), backend_config={\"a\": {\"}\": 1}}")},
        {NO, E("ROOT p = f32[] parameter(0), backend_config={\"a\": {\"}\": 1}")},
        {NO, "\xef\xbb\xbf" E("ROOT p = f32[] parameter(0)")},
        {NO, E("ROOT p = f32[] parameter(0)\f")},
        {NO, ""},
        {NO, "// nothing"},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

START_TEST(shapes)
{
    static const struct sample samples[] = {
        {YES, E("ROOT p = f32[2]{0:T(8S(3)} parameter(0)")},
        {YES, E("ROOT p = f32[512]{0:T(512} parameter(0)")},
        {YES, E("ROOT p = f32[2]{0:T} parameter(0)")},
        {YES, E("ROOT p = f32[2]{0:E(} parameter(0)")},
        {YES, E("ROOT p = f32[2]{0:#u32)} parameter(0)")},
        {YES, E("ROOT p = f32[2]{0:SC(0} parameter(0)")},
        {NO, E("ROOT p = f32[512]{0:T(512]} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:T 8} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:S(x)} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:T(8,)} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:S(1)T(8)} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:P(f32[2])} parameter(0)")},
        {YES,
         E("ROOT p = f32[2]{0:D(D,C+~)T(2)(*,3)L(2)#(u32)*(u8)E(4)S(1)SC(0:1)M(16)} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:T(-1)} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0:L(0)} parameter(0)")},
        {YES, E("ROOT p = f32[]{:T(256)} parameter(0)")},
        {NO, E("ROOT p = f32[]{} parameter(0)")},
        {NO, E("ROOT p = f32[2]{0,1} parameter(0)")},
        {YES, E("ROOT p = f32[2]{1} parameter(0)")},
        {NO, E("ROOT p = (f32[2]{1}) parameter(0)")},
        {YES, E("ROOT p = (f32[2]{0}) parameter(0)")},
        {NO, E("ROOT p = (f32[2,3]{0,0}) parameter(0)")},
        {NO, E("ROOT p = (f32[2]{0:T(0)}) parameter(0)")},
        {NO, E("ROOT p = (f32[4000000000,4000000000]) parameter(0)")},
        {YES, E("ROOT p = f32[4000000000,4000000000] parameter(0)")},
        {YES, E("ROOT p = b(f32[2]) parameter(0)")},
        {NO, E("ROOT p = b(token[]) parameter(0)")},
        {NO, E("ROOT p = b((f32[])) parameter(0)")},
        {YES, E("ROOT p = (token[], s4[3]{0:E(4)}) parameter(0)")},
        {NO, E("ROOT p = token[2] parameter(0)")},
        {NO, E("ROOT p = token[]{:T(8)} parameter(0)")},
        {YES, E("ROOT p = f32[<=4,?] parameter(0)")},
        {NO, E("ROOT p = f32[<=-4] parameter(0)")},
        {NO, E("ROOT p = f32[-1] parameter(0)")},
        {NO, E("ROOT p = f32[2,] parameter(0)")},
        {NO, E("ROOT p = (f32[],) parameter(0)")},
        {NO, E("ROOT p = tuple[2] parameter(0)")},
        {YES, E("ROOT p = f6e2m3fn[2] parameter(0)")},
        {DEFAULT_ONLY, E("ROOT p = f32[10]<0> parameter(0)")},
        {DEFAULT_ONLY, E("ROOT p = f32[1,2]<1,0> parameter(0)")},
        {NO, E("ROOT p = f32[1,2]<1> parameter(0)")},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

START_TEST(literals)
{
    static const struct sample samples[] = {
        {YES, E("ROOT c = s32[2] constant(5)")},
        {YES, E("ROOT c = s32[2] constant({1 2})")},
        {YES, E("ROOT c = s32[2] constant({1,,2,})")},
        {YES, E("ROOT c = s32[2] constant(,)")},
        {YES, E("ROOT c = s32[2] constant({...})")},
        {YES, E("ROOT c = s32[2,2] constant({{1,2},...})")},
        {NO, E("ROOT c = s32[2,2] constant({{...},{1,2}})")},
        {NO, E("ROOT c = s32[2] constant({,})")},
        {NO, E("ROOT c = s32[2] constant({1})")},
        {NO, E("ROOT c = s32[2] constant({1,2,3})")},
        {NO, E("ROOT c = s32[2] constant({{1,2}})")},
        {NO, E("ROOT c = s32[2] constant(})")},
        {NO, E("ROOT c = s32[2,2] constant({{1,2},{3}})")},
        {YES, E("ROOT c = s32[0] constant({})")},
        {YES, E("ROOT c = s32[2,0] constant({{},{}})")},
        {NO, E("ROOT c = s32[2,0] constant({{}})")},
        {NO, E("ROOT c = u8[] constant(-1)")},
        {YES, E("ROOT c = u64[] constant(-1)")},
        {YES, E("ROOT c = u64[] constant(18446744073709551615)")},
        {NO, E("ROOT c = u64[] constant(18446744073709551616)")},
        {NO, E("ROOT c = s8[] constant(128)")},
        {YES, E("ROOT c = s8[] constant(-128)")},
        {NO, E("ROOT c = s32[] constant(1.5)")},
        {NO, E("ROOT c = s32[] constant(true)")},
        {YES, E("ROOT c = pred[3] constant({true,0,7})")},
        {NO, E("ROOT c = pred[] constant(1.0)")},
        {NO, E("ROOT c = f32[] constant(true)")},
        {NO, E("ROOT c = f16[] constant(65520)")},
        {YES, E("ROOT c = f16[] constant(65519)")},
        {NO, E("ROOT c = f32[] constant(1e39)")},
        {NO, E("ROOT c = f64[] constant(1e309)")},
        {YES, E("ROOT c = f8e4m3fn[] constant(464)")},
        {NO, E("ROOT c = f8e4m3fn[] constant(465)")},
        {NO, E("ROOT c = f8e8m0fnu[] constant(0)")},
        {NO, E("ROOT c = f8e8m0fnu[] constant(-1)")},
        {YES, E("ROOT c = f4e2m1fn[] constant(1e30)")},
        {NO, E("ROOT c = f8e4m3fn[] constant(nan(0x1))")},
        {NO, E("ROOT c = f8e5m2[] constant(nan(0x4))")},
        {YES, E("ROOT c = f8e5m2[] constant(nan(0x3))")},
        {YES, E("ROOT c = c64[2] constant({(1,nan),(nan,2)})")},
        {NO, E("ROOT c = c64[2] constant({1,2})")},
        {NO, E("ROOT c = c64[1] constant({(1,2),(3,4)})")},
        {NO, E("ROOT c = f32[1] constant({(1,2)})")},
        {YES, E("ROOT c = (s32[], (f32[2])) constant((1, ({2, 3})))")},
        {YES, E("ROOT c = (s32[], s32[]) constant((1 2))")},
        {NO, E("ROOT c = (s32[], s32[]) constant((1))")},
        {NO, E("ROOT c = (s32[]) constant((1, 2))")},
        {YES, E("ROOT c = (s32[], s32[]) constant(())")},
        {NO, E("ROOT c = token[] constant(1)")},
        {NO, E("ROOT c = s32[2,2]{5,7} constant({{1,2},{3,4}})")},
        {NO, E("ROOT c = constant(1)")},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

START_TEST(operands)
{
    static const struct sample samples[] = {
        {YES, E(P2 "ROOT a = f32[2] abs(p)")},
        {YES, E(P2 "ROOT a = f32[2] abs(p,)")},
        {YES, E(P2 "ROOT a = f32[2] abs(,p)")},
        {YES, E(P2 "ROOT a = f32[2] add(p, f32[], p)")},
        {YES, E(P2 "ROOT a = f32[2] add(p, abs(p,p), p)")},
        {YES, E(P2 "ROOT a = f32[2] add(p, abs(p))")},
        {YES, E(P2 "ROOT a = f32[2] add(f32[2] p, f32[2]{0} abs(f32[2]{0} p))")},
        {YES, E(P2 "ROOT a = f32[2] add(p, f32[2] constant({1,2}))")},
        {NO, E(P2 "ROOT a = f32[2] add(p, constant(1))")},
        {NO, E(P2 "ROOT a = f32[2] add(p, q)")},
        {NO, E(P2 "ROOT a = f32[2] add(p, a)")},
        {NO, E("ROOT a = f32[2] abs(p)\n" P2)},
        {NO, E(P2 "ROOT a = f32[2] abs(f32[3] p)")},
        {YES, E(P2 "ROOT a = f32[2] abs(f32[?] p)")},
        {NO, E(P2 "ROOT a = f32[2] abs(s32[2] p)")},
        {NO, E(P2 "ROOT a = f32[2] abs(p p)")},
        {NO, E(P2 "ROOT a = f32[2] abs(p")},
        {NO, E(P2 "ROOT a = f32[2] add(p)")},
        {YES, E(P2 "ROOT a = () tuple(f32[2])")},
        {YES, E(P2 "b = f32[2] add(p, negate(p))\nROOT a = f32[2] abs(negate.anon)")},
        {NO, E(P2 "b = f32[2] add(p, negate(p))\nROOT negate.anon = f32[2] abs(p)")},
        {DEFAULT_ONLY, E("p = (f32[2], (f32[3])) parameter(0)\nROOT a = f32[3] abs(%p#1#0)")},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

START_TEST(names)
{
    static const struct sample samples[] = {
        {NO, E("ROOT __x = f32[] parameter(0)")},
        {YES, E("ROOT __xla_x = f32[] parameter(0)")},
        {YES, "%f32 { ROOT p = f32[] parameter(0) }\n" E(
                  "p = f32[] parameter(0)\nROOT c = f32[] call(p), to_apply=%f32")},
        {NO, E(P2 P2)},
        {YES, "a { " P2 "}\nb { " P2 "}\n" E(P2)},
        {NO, "a { " P2 "}\na { " P2 "}\n" E(P2)},
        {NO, E("ROOT p = f32[] parameter(0)\nROOT q = f32[] parameter(1)")},
        {NO, E(P2) "\nENTRY f { " P2 "}"},
        {NO, E("p = f32[] parameter(0)\nq = f32[] parameter(0)")},
        {NO, E("p = f32[] parameter(1)")},
        {NO, E("p = f32[] parameter(-1)")},
        {NO,
         E("p = f32[] parameter(0)\nROOT c = f32[] call(p), to_apply=later") "\nlater { " P2 "}"},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

START_TEST(modules)
{
    static const struct sample samples[] = {
        {YES, "HloModule m\n" E(P2)},
        {YES, "HloModule m:\n" E(P2)},
        {NO, "HloModule %m:\n" E(P2)},
        {NO, "HloModule\n" E(P2)},
        {NO, "HloModule m"},
        {NO, "HloModule m,\n" E(P2)},
        {NO, "HloModule m " E("")},
        {YES, "e { " P2 "}"},
        {DEFAULT_ONLY, "e (p: f32[2]) -> f32[2] { " P2 "}"},
        {YES, "ENTRY e (p: f32[2]) -> f32[2] { " P2 "}"},
        {YES, "ENTRY e (p f32[9]) -> f32[2] { " P2 "}"},
        {DEFAULT_ONLY, "ENTRY e (%p: f32[2]) -> f32[2] { " P2 "}"},
        {DEFAULT_ONLY, "ENTRY e (p : f32[2]) -> f32[2] { " P2 "}"},
        {NO, "ENTRY e (p: f32[2]) -> f32[3] { " P2 "}"},
        {NO, "ENTRY e (p: f32[2]) { " P2 "}"},
        {YES, E(P2) ", execution_thread=\"t\""},
        {NO, E(P2) ", execution_thread=\"t\", execution_thread=\"t\""},
        {NO, E(P2) ", other=\"t\""},
        {NO, "HloModule m\n" E(P2) "\nHloModule n\n" E(P2)},
        {DEFAULT_ONLY, "HloModule m, unheard_of={1, {2}}\n" E(P2)},
        {YES, "HloModule m, replica_count=2, num_partitions=4, is_scheduled=true\n" E(P2)},
        {NO, "HloModule m, replica_count=2, replica_count=2\n" E(P2)},
        {DEFAULT_ONLY, "HloModule m, replica_count =2\n" E(P2)},
        {YES, "HloModule m, input_output_alias={{}: (0, {}, must-alias)}\n" E(P2)},
        {NO, "HloModule m, input_output_alias={{0}: (0, {})}\n" E(P2)},
        {YES, "HloModule m, buffer_donor={(0, {}), (3, {1,})}\n" E(P2)},
        {YES, "HloModule m, entry_computation_layout={(f32[7],)->f32[8]}\n" E(P2)},
        {YES, "f32[2] add(f32[2] a, f32[2])"},
        {YES, "x = f32[2] add(f32[2] a, a)"},
        {YES, "ROOT x = add(f32[2] a, f32[2] b)"},
        {NO, "x = f32[2] add(f32[2] a, b)"},
        {NO, "x = f32[2] add(f32[2] x, f32[2] b)"},
        {NO, "x = f32[2] abs(f32[2] a) x"},
        {DEFAULT_ONLY, "f32[2] y = add(f32[2] a, f32[2] b)"},
        {YES, "f32[2] call(f32[2] b), to_apply={" P2 "}"},
        {NO, "f32[2] call(f32[2] b), to_apply={ROOT x = f32[2] abs(f32[2] b)}"},
        {DEFAULT_ONLY, E("f32[2]{0} %p = f32[2]{0} parameter(0)")},
        {DEFAULT_ONLY, E(P2 "x = f32[2,2] concatenate(p, p), dimensions ={0}")},
        {DEFAULT_ONLY, E(P2 "x = slice(p), slice={[0:1]}")},
        {NO, E("x = parameter(0)")},
        {DEFAULT_ONLY, "I0000 00:00:1700000000.123456  12345 file.cc:123] HloModule m\n"
                       "2024-01-01 12:00:00.123: I xla/service/a.cc:12] " E(P2)},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

#define START "s = ((f32[2]), f32[2], s32[]) "
START_TEST(asynchronous)
{
    static const struct sample samples[] = {
        {YES, E(P2 START "negate-start(p)\nROOT d = f32[2] negate-done(s)")},
        {YES, E(P2 START "negate-start(p)\nu = ((f32[2]), f32[2], s32[]) negate-update(s)\nROOT d "
                         "= f32[2] negate-done(u)")},
        {DEFAULT_ONLY,
         E(P2 START "negate-start(p)\nu = ((f32[2]), f32[2], u32[]) negate-update(s)\nROOT "
                    "d = f32[2] negate-done(u)")},
        {NO, E(P2 START "negate-start(p)\nROOT d = f32[2] abs-done(s)")},
        {NO, E(P2 "ROOT d = f32[2] negate-done(p)")},
        {NO,
         E(P2 START "negate-start(p)\nd = f32[2] negate-done(s)\nROOT f = f32[2] negate-done(d)")},
        {NO, E(P2 "s = f32[2] negate-start(p)")},
        {YES, E(P2 START "negate-start(p, p)")}, /* XLA drops the second one */
        {NO, E(P2 START "negate-start()")},
        {NO, E(P2 START "negate-start(p), calls={" P2 "}")},
        {NO, E(P2 START "all-gather-update(p)")},
        {NO, E(P2 START "recv-start(p)")},
        {NO, E(P2 START "parameter-start(0)")},
        {YES,
         E(P2 START
           "exponential-start(p), async_execution_thread=\"t\", result_accuracy={mode=highest}")},
        {YES, E(P2 START
                "async-start(p), calls={q = f32[2] parameter(0)}\nROOT d = f32[2] async-done(s)")},
        {DEFAULT_ONLY,
         "f { " P2
         "}\n" E(P2 START
                 "async-start(p), calls=f\nt = ((f32[2]), f32[2], s32[]) async-start(p), calls=f")},
        {YES, "f { " P2
              "}\n" E(P2 START "async-start(p), calls=f\nROOT d = f32[2] async-done(s), calls=f")},
        {NO, "f { " P2 "}\ng { " P2
             "}\n" E(P2 START "async-start(p), calls=f\nROOT d = f32[2] async-done(s), calls=g")},
    };
    check_samples(samples, COUNT_OF(samples));
}
END_TEST

/* ---- parsed modules ---- */

START_TEST(structure)
{
    struct outcome o =
        parse(STR("HloModule m, input_output_alias={{1}: (1, {}), {0}: (0, {})}\n"
                  "f { " P2 "ROOT n = f32[2] negate(p) }\n"
                  "ENTRY e {\n" P2 "q = f32[2] parameter(1)\n"
                  "  c = f32[2] call(p), to_apply=f\n  a = f32[2] add(c, negate(q))\n"
                  "  ROOT t = (f32[2], f32[2]) tuple(a, c)\n  m = f32[2] map(p), dimensions={}, "
                  "to_apply=f\n}"),
              true);
    ck_assert_ptr_nonnull(o.m);
    ck_assert_int_eq(o.m->computation_count, 2);
    struct computation *e = o.m->entry;
    ck_assert(str_is(e->name, "e"));
    ck_assert_int_eq(e->inst_count, 7);
    ck_assert_int_eq(e->param_count, 2);
    ck_assert(e->root == e->insts[5]);
    ck_assert_int_eq(e->insts[3]->opcode, OP_NEGATE);
    ck_assert(str_is(e->insts[3]->name, "negate.anon"));
    ck_assert(inst_computation(e->insts[2], A_TO_APPLY) == o.m->computations[0]);
    ck_assert_int_eq(inst_ints(e->insts[6], A_DIMENSIONS).count, 1);
    ck_assert_int_eq(e->insts[0]->user_count, 2);
    ck_assert_int_eq(o.m->input_output_alias.at[0].output.at[0], 0);
    ck_assert_int_eq(o.m->entry_param_count, 2);
    done(&o);
}
END_TEST

START_TEST(attributes_with_defaults_are_set)
{
    struct outcome o = parse(
        STR("ENTRY e {\n" P2
            "d = f32[] dot(p, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
            "  g = f32[4] all-gather(p), dimensions={0,7}\n  k = topk(p), k=1\n"
            "  c = pred[2] compare(p, p), direction=LT, type=FLOAT\n"
            "  r = f32[] all-reduce(d), to_apply={a = f32[] parameter(0)}, mode=cross_replica\n}"),
        true);
    ck_assert_ptr_nonnull(o.m);
    for (int c = 0; c < o.m->computation_count; c++) {
        for (int k = 0; k < o.m->computations[c]->inst_count; k++) {
            const struct inst *i = o.m->computations[c]->insts[k];
            for (const struct op_attr *a = op_table[i->opcode].attrs; a->id != A_NONE; a++) {
                if (a->use & (USE_ALWAYS | USE_REQUIRED))
                    ck_assert_msg(inst_has(i, (enum attr_id)a->id), "%s",
                                  attr_spelling((enum attr_id)a->id));
                if (a->use & USE_DROPPED)
                    ck_assert(!inst_has(i, (enum attr_id)a->id));
            }
        }
    }
    struct inst **i = o.m->entry->insts;
    ck_assert_int_eq(inst_ints(i[2], A_DIMENSIONS).count, 1);
    ck_assert(inst_bool(i[3], A_LARGEST));
    ck_assert(!inst_has(i[4], A_TYPE));
    done(&o);
}
END_TEST

START_TEST(backend_config_is_normalized)
{
    struct outcome o = parse(STR("ENTRY e { p = f32[] parameter(0), "
                                 "backend_config={\"wait_on_operation_queues\" :[ ],\"a\":1} }"),
                             true);
    ck_assert_ptr_nonnull(o.m);
    ck_assert(str_is(inst_str(o.m->entry->insts[0], A_BACKEND_CONFIG), "{\"a\":1}"));
    done(&o);
}
END_TEST

static struct buf printed(const struct outcome *o)
{
    struct buf b = {0};
    text_print_module(&b, o->m, &(struct print_options){0});
    return b;
}

static const char *const metadata_texts[] = {
    "op_type=\"a\"",
    "op_name=\"a}b\" source_line=7",
    "op_type=\"\" op_name=\"x y\" source_file=\"f.py\" source_line=12",
    "source_line=3 op_name=\"a\"",
    "op_name=\"a\" op_name=\"b\"",
    "op_name=\"a\\n\" source_line=1",
    "op_name='a' source_line=1",
    "source_line=999999999",
    "source_line=1999999999",
    "source_line=9999999999",
    "source_line=-5",
    "source_line=007",
    "source_line=5x",
    "source_line=",
    "source_line=5 ",
    "op_name=\"a\"source_line=5",
    "op_name=\"a\",source_line=5",
    "op_name=a",
    "op_name=\"a",
    "op_name=",
    "op_nam=\"a\"",
    "source_line=1 source_end_line=2 source_column=3 source_end_column=4",
    "op_name=\"a\" deduplicated_name=\"d\" scheduling_name=\"s\" stack_frame_id=0",
    "profile_type={1} op_name=\"a\"",
    "op_name=\"a\" metadata_payload=\"\"",
    "op_name=\"a\" /* c */ source_line=5",
    "op_name=\"\xff\" source_line=5",
    "stack_frame_id=1",
};

/* Simple fields in the order of print are read without tokens; two leading blanks disable that
 * path. */
START_TEST(metadata_fast_path_agrees_with_tokens)
{
    for (int strict = 0; strict < 2; strict++) {
        struct buf simple = {0}, tokens = {0};
        buf_printf(
            &simple,
            "ENTRY e {\n ROOT p = f32[] parameter(0), metadata={%s}, sharding={replicated}\n}",
            metadata_texts[_i]);
        buf_printf(
            &tokens,
            "ENTRY e {\n ROOT p = f32[] parameter(0), metadata={  %s}, sharding={replicated}\n}",
            metadata_texts[_i]);
        struct outcome a = parse(buf_view(&simple), strict), b = parse(buf_view(&tokens), strict);
        ck_assert_msg((a.m == NULL) == (b.m == NULL), "%s", metadata_texts[_i]);
        ck_assert_uint_eq(a.ds.errors, b.ds.errors);
        if (a.m) {
            struct buf x = printed(&a), y = printed(&b);
            ck_assert_str_eq(x.data, y.data);
            buf_free(&x);
            buf_free(&y);
        } else {
            ck_assert_str_eq(a.ds.first->text.ptr, b.ds.first->text.ptr);
        }
        done(&a);
        done(&b);
        buf_free(&simple);
        buf_free(&tokens);
    }
}
END_TEST

START_TEST(stack_frames_are_renumbered)
{
    struct outcome o =
        parse(STR("HloModule m\nFileNames\n1 \"a\"\n2 \"b\"\nFunctionNames\n1 \"f\"\n"
                  "FileLocations\n1 {file_name_id=2 function_name_id=1 line=3 end_line=3 column=0 "
                  "end_column=1}\n"
                  "StackFrames\n1 {file_location_id=1 parent_frame_id=3}\n2 {file_location_id=1 "
                  "parent_frame_id=1}\n"
                  "3 {file_location_id=1 parent_frame_id=4}\n"
                  "ENTRY e {\n p = f32[] parameter(0), metadata={stack_frame_id=1}\n"
                  " n = f32[] negate(p), metadata={stack_frame_id=3}\n}"),
              true);
    ck_assert_ptr_nonnull(o.m);
    ck_assert_int_eq(o.m->frames.frame_count, 2);
    ck_assert_int_eq(o.m->frames.file_count, 1);
    ck_assert(str_is(o.m->frames.files[0], "b"));
    ck_assert_int_eq(inst_metadata(o.m->entry->insts[0])->stack_frame_id, 2);
    ck_assert_int_eq(inst_metadata(o.m->entry->insts[1])->stack_frame_id,
                     0); /* it is its own ancestor */
    done(&o);
}
END_TEST

/* ---- messages ---- */

static void check_places(const char *text, size_t count, const char *const *expected)
{
    struct outcome o = parse(str_of(text), false);
    size_t k = 0;
    for (const struct diag *d = o.ds.first; d; d = d->next, k++) {
        struct place at = source_place(&o.source, d->span.begin);
        struct str messages =
            arena_printf(&o.ds.arena, "%u:%u: " STR_FMT, at.line, at.column, STR_ARG(d->text));
        ck_assert_msg(k < count && str_eq(messages, str_of(expected[k])), "got %.*s",
                      STR_ARG(messages));
    }
    ck_assert_uint_eq(k, count);
    done(&o);
}

START_TEST(each_error_is_reported_once)
{
    static const char *const expected[] = {
        "3:7: unknown element type 'f31'",
        "5:18: instruction 'z' is not defined above",
        "6:14: unknown opcode 'ngate'",
        "7:24: 'negate' expects 1 operand, got 2",
        "9:3: expected ',' or ')' after the operand, got 'ROOT'",
        "11:9: expected a shape or an opcode, got '}'",
        "12:1: duplicate computation 'g'",
    };
    check_places("HloModule m\nENTRY e {\n  p = f31[2] parameter(0)\n  q = f32[2] parameter(1)\n  "
                 "a = f32[2] abs(z), metadata={}\n"
                 "  c = f32[2] ngate(q), metadata={op_name=\"x\"}\n"
                 "  d = f32[2] add(negate(q, q), q), sharding={replicated}\n  f = f32[2] add(q, "
                 "q\n  ROOT e = f32[2] add(c, d)\n}\n"
                 "g { x = }\ng { a = f32[] parameter(0) }\n",
                 COUNT_OF(expected), expected);
}
END_TEST

START_TEST(errors_do_not_cascade)
{
    static const char *const expected[] = {
        "3:7: unknown element type 'f31'",
        "5:14: unknown opcode 'ngate'",
        "8:25: computation 'sum' is not defined above",
    };
    check_places(
        "HloModule m\nENTRY e {\n  p = f31[2] parameter(0)\n  a = f32[2] negate(p)\n"
        "  b = f32[2] ngate(a), metadata={op_name=\"x\"}\n  c = add(a, b)\n  d = f32[2] abs(c)\n"
        "  e = call(d), to_apply=sum\n",
        COUNT_OF(expected), expected);
}
END_TEST

/* A computation in braces with an error in it, however its lines are indented, and one in the
 * attribute after it. */
static const char *const nested_texts[] = {
    "ENTRY e {\n  p = f32[4] parameter(0)\n  z = f32[] constant(0)\n"
    "  r = f32[] reduce(p, z), to_apply={ a = f32[] parameter(0) b = f32[] parameter(1)\n"
    "    ROOT s = f32[] add(a, q)\n  }, dimension={0}\n  ROOT n = f32[] negate(r)\n}\n",
    "ENTRY e {\n  p = f32[4] parameter(0)\n  z = f32[] constant(0)\n"
    "  ROOT r = f32[] reduce(p, z), to_apply={ a = f32[] parameter(0)\n"
    "  b = f32[] parameter(1) ROOT s = f32[] add(a, q)\n  }, dimension={0}\n}\n",
    "ENTRY e { p = f32[4] parameter(0)\n  z = f32[] constant(0)\n"
    "  ROOT r = f32[] reduce(p, z), to_apply={ a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
    " ROOT s = f32[] add(a, q) }, \n dimension={0}\n}\n",
    "ENTRY e {\n p = f32[4] parameter(0)\n  z = f32[] constant(0) ROOT r = f32[] reduce(p, z),\n"
    "  to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, q) },"
    " dimension={0}\n}\n",
};
static const char *const nested_errors[][2] = {
    {"5:27: instruction 'q' is not defined above", "6:6: 'reduce' has no attribute 'dimension'"},
    {"5:48: instruction 'q' is not defined above", "6:6: 'reduce' has no attribute 'dimension'"},
    {"5:24: instruction 'q' is not defined above", "6:2: 'reduce' has no attribute 'dimension'"},
    {"4:82: instruction 'q' is not defined above", "4:88: 'reduce' has no attribute 'dimension'"},
};
_Static_assert(COUNT_OF(nested_texts) == COUNT_OF(nested_errors), "a row of errors for each text");

START_TEST(nested_errors_stay_inside)
{
    check_places(nested_texts[_i], COUNT_OF(nested_errors[_i]), nested_errors[_i]);
}
END_TEST

/* Every message is kept once, and no more than the limit. */
START_TEST(messages_are_limited)
{
    struct buf text = {0};
    buf_puts(&text, "ENTRY e {\n");
    for (int k = 0; k < 1000; k++)
        buf_printf(&text, "  x%d = f32[] nothing(y)\n", k);
    buf_puts(&text, "}\n");
    struct outcome o = parse(buf_view(&text), false);
    size_t kept = 0;
    for (const struct diag *d = o.ds.first; d; d = d->next)
        kept++;
    ck_assert_uint_eq(kept, DIAG_ERROR_LIMIT);
    done(&o);
    buf_free(&text);
}
END_TEST

/* ---- malformed text ---- */

static const char rich[] =
    "HloModule m, input_output_alias={{}: (0, {})}, frontend_attributes={a=\"b\",c={\"d\": 1}}, "
    "replica_count=2\n\n"
    "FileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
    "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=0 end_column=3}\n\nStackFrames\n"
    "1 {file_location_id=1 parent_frame_id=1}\n\n"
    "ENTRY e {\n  p = f32[4,4]{1,0:T(8,128)} parameter(0), sharding={devices=[2,1]<=[2]}\n"
    "  c = f32[2,2] constant({{1, -2.5e3}, {nan(0x1), inf}}), metadata={op_name=\"x\\n\" "
    "stack_frame_id=1}\n"
    "  z = f32[] constant(0)\n  s = f32[4] reduce(p, z), dimensions={0}, to_apply={\n"
    "    x = f32[] parameter(0)\n    y = f32[] parameter(1)\n    ROOT v = f32[] add(x, y)\n  }\n"
    "  t = (f32[4], c64[1]) tuple(s, c64[1] constant({(1,2)}))\n"
    "  g = ((f32[4]), f32[4], s32[]) negate-start(s), async_execution_thread=\"q\"\n  d = f32[4] "
    "negate-done(g)\n"
    "  w = f32[4,4] reduce-window(p, z), window={size=1x2 pad=0_0x0_1}, to_apply={\n    x = f32[] "
    "parameter(0)\n"
    "    y = f32[] parameter(1)\n    ROOT v = f32[] maximum(x, y)\n  }\n"
    "  ROOT o = f32[4,4] negate(w), control-predecessors={d}, origin={{\"k\" {1}}}\n}\n";

START_TEST(truncated_text)
{
    ck_assert(accepts(rich, true));
    for (size_t n = 0; n + 2 < sizeof rich; n++) {
        char *copy = malloc(n + 1); /* of its own, so that a sanitizer sees a read past it */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, rich, n);
        for (int strict = 0; strict < 2; strict++) {
            struct outcome o = parse((struct str){copy, n}, strict);
            ck_assert_msg(o.m == NULL, "%zu bytes", n);
            done(&o);
        }
        free(copy);
    }
}
END_TEST

START_TEST(damaged_text)
{
    static const char bytes[] = "{}()[],=:\"%.-#<>?/\\ \n0x\0\xff"
                                "a";
    char *copy = malloc(sizeof rich);
    ck_assert_ptr_nonnull(copy);
    for (size_t n = 0; n + 1 < sizeof rich; n++) {
        for (int how = 0; how < 3; how++) {
            memcpy(copy, rich, sizeof rich);
            copy[n] = bytes[(n * 7 + (size_t)how * 5) % (sizeof bytes - 1)];
            struct outcome strict = parse((struct str){copy, sizeof rich - 1}, true);
            struct outcome plain = parse((struct str){copy, sizeof rich - 1}, false);
            ck_assert_msg(plain.m || !strict.m, "default mode rejects what strict mode accepts: %s",
                          copy);
            done(&strict);
            done(&plain);
        }
    }
    free(copy);
}
END_TEST

static void nest(const char *before, const char *open, const char *middle, const char *close,
                 const char *after)
{
    struct buf text = {0};
    buf_puts(&text, before);
    for (int k = 0; k < 100000; k++)
        buf_puts(&text, open);
    buf_puts(&text, middle);
    for (int k = 0; k < 100000; k++)
        buf_puts(&text, close);
    buf_puts(&text, after);
    for (int strict = 0; strict < 2; strict++) {
        struct outcome o = parse(buf_view(&text), strict);
        ck_assert(o.m == NULL);
        done(&o);
    }
    buf_free(&text);
}

START_TEST(deep_nesting_is_an_error)
{
    nest("ENTRY e { p = ", "(", "", ")", " parameter(0) }");
    nest("ENTRY e { p = ", "b(", "f32[]", ")", " parameter(0) }");
    nest("ENTRY e { c = s32[] constant(", "{", "1", "}", ") }");
    nest("ENTRY e { c = (s32[]) constant(", "(", "1", ")", ") }");
    nest("ENTRY e { p = f32[] parameter(0) a = ", "abs(", "p", ")", " }");
    nest("ENTRY e { p = f32[] parameter(0) a = f32[] call(p), to_apply=",
         "{ p = f32[] parameter(0) c = f32[] call(p), to_apply=", "x", "}", " }");
    nest("ENTRY e { p = f32[] parameter(0), sharding=", "{", "{replicated}", "}", " }");
    nest("ENTRY e { p = f32[] parameter(0), origin={", "(", "{}", ")", "} }");
    nest("HloModule m, a={", "{", "", "}", "} ");
    nest("ENTRY e { x = f32[] custom-call(), custom_call_target=\"\", literal=", "(", "", ")",
         " }");
}
END_TEST

/* ---- round trips of literals ---- */

static void round_trip(const char *text, const char *expected)
{
    struct arena a;
    struct source s;
    struct diags ds;
    struct buf out = {0};
    arena_init(&a);
    source_init(&s, STR("literal"), str_of(text));
    diags_init(&ds, &s);
    struct literal *l = text_parse_literal(&ds, &s, &a, NULL);
    if (!expected) {
        ck_assert_msg(!l, "%s", text);
        ck_assert_uint_ge(ds.errors, 1);
    } else {
        ck_assert_msg(l != NULL, "%s: %.*s", text, ds.first ? (int)ds.first->text.len : 0,
                      ds.first ? ds.first->text.ptr : "");
        text_print_literal_with_shape(&out, l);
        ck_assert_str_eq(out.data, expected);
        literal_free_data(l);
    }
    buf_free(&out);
    diags_free(&ds);
    arena_free(&a);
}

START_TEST(command_line_literals)
{
    round_trip("f32[2] {1,2}", "f32[2]{0} {1, 2}");
    round_trip("f32[2]{1,2}", "f32[2]{0} {1, 2}");
    round_trip("f32[2]{0} {1,2}", "f32[2]{0} {1, 2}");
    round_trip("f32[] 5", "f32[] 5");
    round_trip("pred[] true", "pred[] true");
    round_trip("pred[2] {true, 0}", "pred[2]{0} {1, 0}");
    round_trip("(f32[] 1, s32[2] {1,2})", "( f32[] 1, s32[2]{0} {1, 2} )");
    round_trip("( s32[] 1, f32[2]{0} {1, 2} )", "( s32[] 1, f32[2]{0} {1, 2} )");
    round_trip("f32[2,2]{0,1} {{1,2},{3,4}}", "f32[2,2]{0,1} { { 1, 2 }, { 3, 4 } }");
    round_trip("f32[3,1] {{1},{2},{3}}", "f32[3,1]{1,0} { {1}, {2}, {3} }");
    round_trip("f32[0,2] {}", "f32[0,2]{1,0} {  }");
    round_trip("c64[1] {(1,-inf)}", "c64[1]{0} {(1, -inf)}");
    round_trip("f64[2] {0.1, 1e22}", "f64[2]{0} {0.1, 1e+22}");
    round_trip("f32[2] {0.1, 16777217}", "f32[2]{0} {0.1, 16777216}");
    round_trip("f16[3] {0.1, 65504, -0.0}", "f16[3]{0} {0.099976, 65504, -0}");
    round_trip("f32[3] {nan, -nan, nan(0x1)}", "f32[3]{0} {nan, -nan, nan(0x1)}");
    round_trip("f8e4m3fn[2] {nan, inf}", "f8e4m3fn[2]{0} {nan, nan}");
    round_trip("f8e5m2fnuz[1] {nan}", "f8e5m2fnuz[1]{0} {-nan}");
    round_trip("f4e2m1fn[4] {inf, nan, -nan, -inf}", "f4e2m1fn[4]{0} {6, -0, 0, -6}");
    round_trip("u64[1] {18446744073709551615}", "u64[1]{0} {18446744073709551615}");
    round_trip("s4[2] {-8, 7}", "s4[2]{0} {-8, 7}");
    round_trip("f32[1,1,1,2] {{{{1,2}}}}",
               "f32[1,1,1,2]{3,2,1,0} { { /*i0=0*/ { /*i1=0*/ { 1, 2 } } } }");
    round_trip("f32[2] [1, 2.5]", "f32[2]{0} {1, 2.5}");
    round_trip("s32[2,2] [[1,2],\n\t[3,4]]", "s32[2,2]{1,0} { { 1, 2 }, { 3, 4 } }");
    round_trip("f32[5] [NaN, \"nan\", Infinity, -Infinity, \"-inf\"]",
               "f32[5]{0} {nan, nan, inf, -inf, -inf}");
    round_trip("c64[2] [[1,2],[3,\"inf\"]]", "c64[2]{0} {(1, 2), (3, inf)}");
    round_trip("c64[] [1,2]", "c64[] (1, 2)");
    round_trip("pred[2] [true, false]", "pred[2]{0} {1, 0}");
    round_trip("f32[0,3] []", "f32[0,3]{1,0} {  }");
    round_trip("f32[<=4] [1, 2]", "f32[2]{0} {1, 2}");
    round_trip("f32[2] [1, 2}", NULL);
    round_trip("f32[2] {1, 2]", NULL);
    round_trip("f32[2,2] [{1, 2}, {3, 4}]", NULL);
    round_trip("f32[2] [1]", NULL);
    round_trip("f32[2] [1, null]", NULL);
    round_trip("f32[2] 1", NULL);
    round_trip("f32[5] {...}", NULL);
    round_trip("f32[2] {1,2} x", NULL);
    round_trip("f32[2] {1,2", NULL);
    round_trip("f32[2]", NULL);
    round_trip("", NULL);
    round_trip("{1,2}", NULL);
}
END_TEST

/* A comment in a literal disables the path that reads numbers without tokens. */
START_TEST(literal_fast_path_agrees_with_tokens)
{
    static const char *const numbers[] = {"1",
                                          "-1",
                                          "0",
                                          "-0",
                                          "-0.0",
                                          "1.5",
                                          "1e3",
                                          "-2.5E-3",
                                          "123456789012345678",
                                          "0.30000000000000004",
                                          "1.e2",
                                          "-.5",
                                          "5.",
                                          "1e-46",
                                          "3.4e38",
                                          "16777217",
                                          "0.1",
                                          "1e+2",
                                          "9007199254740993"};
    static const char *const types[] = {"f32", "f64", "bf16", "f16", "f8e5m2", "f4e2m1fn"};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        for (size_t k = 0; k < COUNT_OF(numbers); k++) {
            struct arena a;
            arena_init(&a);
            struct literal *l[2];
            bool ok[2];
            for (int by_tokens = 0; by_tokens < 2; by_tokens++) {
                struct source s;
                struct diags ds;
                struct str text = arena_printf(&a, "%s[2,1] {{0},{%s%s}}", types[t],
                                               by_tokens ? "/**/" : "", numbers[k]);
                source_init(&s, STR("literal"), text);
                diags_init(&ds, &s);
                l[by_tokens] = text_parse_literal(&ds, &s, &a, NULL);
                ok[by_tokens] = l[by_tokens] != NULL;
                diags_free(&ds);
            }
            ck_assert_msg(ok[0] == ok[1], "%s %s", types[t], numbers[k]);
            if (ok[0])
                ck_assert_msg(memcmp(l[0]->data, l[1]->data, 2 * dtype_bytes(l[0]->shape->dtype)) ==
                                  0,
                              "%s %s", types[t], numbers[k]);
            for (int by_tokens = 0; by_tokens < 2 && ok[0]; by_tokens++)
                literal_free_data(l[by_tokens]);
            arena_free(&a);
        }
    }
}
END_TEST

/* Every bit pattern of the narrow types, and many of the wide ones. */
START_TEST(value_round_trip)
{
    static const enum dtype types[] = {
        DT_F32,    DT_F64,      DT_F16,        DT_BF16,       DT_F8E5M2,   DT_F8E4M3,
        DT_F8E3M4, DT_F8E4M3FN, DT_F8E4M3FNUZ, DT_F8E5M2FNUZ, DT_F4E2M1FN, DT_F8E8M0FNU,
        DT_S8,     DT_U16,      DT_S64,        DT_U64,        DT_PRED};
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        enum dtype type = types[t];
        uint64_t bits = 1, steps = type == DT_PRED          ? 2
                                   : type == DT_F4E2M1FN    ? 16
                                   : dtype_bytes(type) == 1 ? 256
                                                            : 3000;
        int64_t n = (int64_t)steps;
        struct arena a;
        arena_init(&a);
        struct literal *l = literal_new(&a, shape_array(&a, type, 1, &n, NULL, NULL));
        for (uint64_t k = 0; k < steps; k++) {
            bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint64_t code = steps == 3000 ? bits >> 7 : k;
            memcpy((char *)l->data + k * dtype_bytes(type), &code, dtype_bytes(type));
        }
        struct buf out = {0};
        struct source s;
        struct diags ds;
        text_print_literal_with_shape(&out, l);
        source_init(&s, STR("literal"), buf_view(&out));
        diags_init(&ds, &s);
        struct literal *back = text_parse_literal(&ds, &s, &a, NULL);
        ck_assert_msg(back != NULL, "%s: %.*s", dtype_spelling(type),
                      ds.first ? (int)ds.first->text.len : 0, ds.first ? ds.first->text.ptr : "");
        for (uint64_t k = 0; k < steps; k++)
            ck_assert_msg(memcmp((char *)back->data + k * dtype_bytes(type),
                                 (char *)l->data + k * dtype_bytes(type), dtype_bytes(type)) == 0,
                          "%s element %d", dtype_spelling(type), (int)k);
        literal_free_data(l);
        literal_free_data(back);
        buf_free(&out);
        diags_free(&ds);
        arena_free(&a);
    }
}
END_TEST

/* ---- files of several modules ---- */

START_TEST(splitting_files)
{
    struct arena a;
    size_t n;
    arena_init(&a);
    struct source *parts =
        text_split(&a, STR("f"), STR("a\n// -----\nb\nc\n//-----  \nd"), &n, NULL);
    ck_assert_uint_eq(n, 3);
    ck_assert(str_is(parts[0].text, "a\n"));
    ck_assert(str_is(parts[1].text, "b\nc\n"));
    ck_assert(str_is(parts[2].text, "d"));
    ck_assert_uint_eq(parts[1].first_line, 3);
    ck_assert_uint_eq(parts[2].first_line, 6);
    parts = text_split(&a, STR("f"), STR("// a head\n\n// -----\nb\n// -----\n"), &n, NULL);
    ck_assert_uint_eq(n, 1);
    ck_assert_uint_eq(parts[0].first_line, 1);
    text_split(&a, STR("f"), STR(""), &n, NULL);
    ck_assert_uint_eq(n, 1);
    text_split(&a, STR("f"), STR("// expect: rejected by the parser\n// -----\nb"), &n, NULL);
    ck_assert_uint_eq(n, 2);
    arena_free(&a);
}
END_TEST

/* Modules printed one after the other, and dumps to standard output. `parts` are the first line,
 * the title and the beginning of each part. */
static const struct printed_case {
    const char *text;
    struct printed_part {
        uint32_t line;
        const char *title, *begin;
    } parts[4];
} printed_files[] = {
    {"HloModule a, x=1\nENTRY e {\n}\n\nHloModule b\nENTRY e {\n}\n",
     {{1, "a", "HloModule a"}, {4, "b", "\nHloModule b"}}},
    {"// of a\nHloModule %a\n{ }\n// of b\n\nHloModule b\n{ }\n// -----\n{ }\n",
     {{1, "a", "// of a"}, {4, "b", "// of b"}, {9, "", "{ }"}}},
    {"e { }\nHloModule b\n{ }", {{1, "b", "e { }"}}}, /* rejected by the parser */
    /* not outside of brackets, comments and strings, and not within a line */
    {"HloModule a\ne { \"\nHloModule b\n\"\nHloModule c\n} HloModule d\n/*\nHloModule e\n*/\n",
     {{1, "a", "HloModule a"}}},
    {"/* x\n*/\nHloModule a\n{ }\nHloModules\n", {{1, "a", "/* x"}}},
    {"/* x\nHloModule */\nHloModule a\n{ }\n", {{1, "a", "/* x"}}},
    {"I0000 00:00:17.123456   12 x.cc:3] HloModule a\nI0000 00:00:17.123456   12 x.cc:3] e { }\n"
     "I0000 00:00:17.123456   12 x.cc:3] HloModule b\nI0000 00:00:17.123456   12 x.cc:3] e { }\n",
     {{1, "a", "I0000"}, {3, "b", "I0000"}}},
    {"log\n*** Begin m.f.before.txt ***\nHloModule f\n{ }\n\n*** End m.f.before.txt ***\nlog\n"
     "*** Begin m.f.ll ***\ndefine\n*** End m.f.ll ***\n*** Begin m.f.after.txt ***\r\n"
     "// x\nHloModule f\n",
     {{3, "m.f.before.txt", "HloModule f"}, {12, "m.f.after.txt", "// x"}}},
    {"*** Begin m.f.txt ***\nHloModule f\n*** End m.f.txt ***", {{2, "m.f.txt", "HloModule f"}}},
    {"*** Begin x ***\nnothing\n", {{1, "", "*** Begin"}}},
    {"*** Begin ", {{1, "", "*** Begin"}}},
};

START_TEST(splitting_printed_modules)
{
    const struct printed_case *c = &printed_files[_i];
    struct arena a;
    struct str *titles;
    size_t n, expected = 0;
    arena_init(&a);
    struct source *parts = text_split(&a, STR("f"), str_of(c->text), &n, &titles);
    while (expected < COUNT_OF(c->parts) && c->parts[expected].line > 0)
        expected++;
    ck_assert_uint_eq(n, expected);
    for (size_t k = 0; k < n; k++) {
        ck_assert_uint_eq(parts[k].first_line, c->parts[k].line);
        ck_assert_msg(str_is(titles[k], c->parts[k].title), "case %d: title " STR_FMT, _i,
                      STR_ARG(titles[k]));
        ck_assert_msg(str_starts(parts[k].text, str_of(c->parts[k].begin)), "case %d: " STR_FMT, _i,
                      STR_ARG(parts[k].text));
    }
    arena_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tcase = tcase_create("text");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, lexer);
    tcase_add_test(tcase, shapes);
    tcase_add_test(tcase, literals);
    tcase_add_test(tcase, operands);
    tcase_add_test(tcase, names);
    tcase_add_test(tcase, modules);
    tcase_add_test(tcase, asynchronous);
    tcase_add_test(tcase, structure);
    tcase_add_test(tcase, attributes_with_defaults_are_set);
    tcase_add_test(tcase, backend_config_is_normalized);
    tcase_add_test(tcase, stack_frames_are_renumbered);
    tcase_add_loop_test(tcase, metadata_fast_path_agrees_with_tokens, 0, COUNT_OF(metadata_texts));
    tcase_add_test(tcase, each_error_is_reported_once);
    tcase_add_test(tcase, errors_do_not_cascade);
    tcase_add_loop_test(tcase, nested_errors_stay_inside, 0, COUNT_OF(nested_texts));
    tcase_add_test(tcase, messages_are_limited);
    tcase_add_test(tcase, truncated_text);
    tcase_add_test(tcase, damaged_text);
    tcase_add_test(tcase, deep_nesting_is_an_error);
    tcase_add_test(tcase, command_line_literals);
    tcase_add_test(tcase, literal_fast_path_agrees_with_tokens);
    tcase_add_test(tcase, value_round_trip);
    tcase_add_test(tcase, splitting_files);
    tcase_add_loop_test(tcase, splitting_printed_modules, 0, COUNT_OF(printed_files));
    suite_add_tcase(suite, tcase);
    return check_run(suite);
}
