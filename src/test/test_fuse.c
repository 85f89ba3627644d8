/*
 * Property of fused steps: random graphs of elementwise operations, with values that are read several times,
 * scalars, rows and columns repeated, transposes, several results, give the same bits with the plain
 * kernels, which fuse nothing.
 */
#include "hlo.h"

#include "check_quiet.h"
#include "random_view.h"

enum { GRAPHS = 400, MOST_VALUES = 60 };

struct graph {
    struct random random;
    hlo_messages *m;
    hlo_computation *c;
    hlo_inst *values[MOST_VALUES]; /* all of the same dims */
    enum dtype types[MOST_VALUES];
    int count, params;
    char dims[64];
    int64_t at[3];
    int rank;
};

static const enum dtype types[] = {DT_F32, DT_BF16, DT_S32, DT_F64, DT_U8};

static void keep(struct graph *g, hlo_inst *i, enum dtype t)
{
    ck_assert_ptr_nonnull(i);
    g->types[g->count] = t;
    g->values[g->count++] = i;
}

static hlo_inst *make(struct graph *g, const char *what, hlo_inst *x, hlo_inst *y, hlo_inst *z, const char *attributes)
{
    hlo_inst *operands[] = {x, y, z};
    return hlo_build(g->c, what, operands, z ? 3 : y ? 2 : 1, attributes);
}

/* An array of all dims, or one of fewer that is repeated, or one that is turned round. */
static void add_param(struct graph *g)
{
    enum dtype t = types[random_in(&g->random, 0, 4)];
    char shape[96], number[24];
    int64_t d = random_in(&g->random, 0, g->rank - 1);
    switch (random_in(&g->random, 0, 3)) {
    case 0:
        snprintf(shape, sizeof shape, "%s[]", dtype_spelling(t));
        hlo_inst *scalar = hlo_parameter(g->c, (size_t)g->params++, shape, NULL);
        snprintf(shape, sizeof shape, "%s[%s] broadcast", dtype_spelling(t), g->dims);
        keep(g, make(g, shape, scalar, NULL, NULL, "dimensions={}"), t);
        break;
    case 1:
        snprintf(shape, sizeof shape, "%s[%" PRId64 "]", dtype_spelling(t), g->at[d]);
        hlo_inst *row = hlo_parameter(g->c, (size_t)g->params++, shape, NULL);
        snprintf(shape, sizeof shape, "%s[%s] broadcast", dtype_spelling(t), g->dims);
        snprintf(number, sizeof number, "dimensions={%" PRId64 "}", d);
        keep(g, make(g, shape, row, NULL, NULL, number), t);
        break;
    case 2:
        snprintf(shape, sizeof shape, "%s[%s]", dtype_spelling(t), g->dims);
        snprintf(number, sizeof number, "dimensions={%" PRId64 "}", d);
        keep(g, make(g, "reverse", hlo_parameter(g->c, (size_t)g->params++, shape, NULL), NULL, NULL, number), t);
        break;
    default:
        snprintf(shape, sizeof shape, "%s[%s]", dtype_spelling(t), g->dims);
        keep(g, hlo_parameter(g->c, (size_t)g->params++, shape, NULL), t);
        break;
    }
}

static hlo_inst *any(struct graph *g, enum dtype t)
{
    for (int tries = 0; tries < 20; tries++) {
        int k = (int)random_in(&g->random, 0, g->count - 1);
        if (g->types[k] == t)
            return g->values[k];
    }
    hlo_inst *x = hlo_convert(g->c, g->values[random_in(&g->random, 0, g->count - 1)], dtype_spelling(t));
    keep(g, x, t);
    return x;
}

static void add_operation(struct graph *g)
{
    static const char *const two[] = {"add", "subtract", "multiply", "maximum", "minimum"};
    static const char *const one[] = {"negate", "abs", "sign"};
    enum dtype t = types[random_in(&g->random, 0, 4)];
    hlo_inst *x = any(g, t), *y = any(g, t);
    switch (random_in(&g->random, 0, 6)) {
    case 0: keep(g, make(g, t == DT_U8 ? "not" : one[random_in(&g->random, 0, 2)], x, NULL, NULL, NULL), t); break;
    case 1: keep(g, make(g, "select", make(g, "compare", x, y, NULL, "direction=LT"), y, any(g, t), NULL), t); break;
    case 2: keep(g, make(g, "clamp", x, any(g, t), y, NULL), t); break;
    default: keep(g, make(g, two[random_in(&g->random, 0, 4)], x, y, NULL, NULL), t); break;
    }
}

static hlo_module *random_graph(struct graph *g)
{
    hlo_builder *b = hlo_builder_new("graph", g->m);
    g->c = hlo_computation_new(b, "main");
    g->rank = (int)random_in(&g->random, 1, 3);
    int used = 0;
    for (int d = 0; d < g->rank; d++) {
        g->at[d] = random_in(&g->random, d == 0 ? 1 : 0, 8) == 0 ? 0 : random_in(&g->random, 1, g->rank == 1 ? 5000 : d == 0 ? 40 : 90);
        used += snprintf(g->dims + used, sizeof g->dims - (size_t)used, "%s%" PRId64, d ? "," : "", g->at[d]);
    }
    for (int64_t k = random_in(&g->random, 1, 5); k > 0; k--)
        add_param(g);
    for (int64_t k = random_in(&g->random, 2, 25); k > 0 && g->count < MOST_VALUES - 6; k--)
        add_operation(g);
    hlo_inst *results[3];
    size_t n = (size_t)random_in(&g->random, 1, 3);
    for (size_t k = 0; k < n; k++)
        results[k] = g->values[g->count - 1 - (int)random_in(&g->random, 0, g->count > 4 ? 3 : 0)];
    hlo_computation_finish(g->c, hlo_tuple(g->c, results, n));
    return hlo_builder_finish(b, g->c);
}

static hlo_literal *run(const struct graph *g, const hlo_module *module, bool plain)
{
    struct hlo_run_options o = {.plain = plain};
    hlo_literal *args[8];
    for (int k = 0; k < g->params; k++)
        args[k] = hlo_random_param(module, (size_t)k, 1, g->m);
    hlo_program *p = hlo_plan(module, &o, g->m);
    ck_assert_ptr_nonnull(p);
    hlo_literal *out = hlo_run(p, (const hlo_literal *const *)args, (size_t)g->params, g->m);
    ck_assert_ptr_nonnull(out);
    hlo_program_free(p);
    for (int k = 0; k < g->params; k++)
        hlo_literal_free(args[k]);
    return out;
}

START_TEST(fused_steps_give_the_same_bits)
{
    for (int seed = 0; seed < GRAPHS; seed++) {
        struct graph g = {.random = {(uint64_t)seed, 0, 0}, .m = hlo_messages_new()};
        hlo_module *module = random_graph(&g);
        ck_assert_msg(module && hlo_verify(module, g.m), "graph %d", seed);
        hlo_literal *fused = run(&g, module, false), *plain = run(&g, module, true);
        hlo_text why = {0};
        ck_assert_msg(hlo_literal_compare(fused, plain, &(struct hlo_tolerance){.bits = true}, &why), "graph %d: %s", seed, why.data);
        hlo_text_free(&why);
        hlo_literal_free(fused);
        hlo_literal_free(plain);
        hlo_module_free(module);
        hlo_messages_free(g.m);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fuse");
    TCase *tc = tcase_create("properties");
    suite_add_tcase(s, tc);
    tcase_add_test(tc, fused_steps_give_the_same_bits);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
