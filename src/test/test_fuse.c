/*
 * Property of fused loops: random graphs give the same bits as the reference kernels, which fuse
 * nothing, and with any number of threads. The graphs have elementwise operations, values that are
 * read several times, broadcasts of scalars, rows and columns, transposes, reductions of some
 * dimensions and uses of these, windows of arrays, some of which they update, and several results.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include "kern/tile.h"
#include "random_view.h"

enum { GRAPHS = 600, LARGE_GRAPHS = 12, MAX_VALUES = 60, MAX_WINDOWS = 12 };

/* A window of a larger array, of the dims of the graph. */
struct window {
    hlo_inst *array;
    enum dtype type;
    char shape[96];            /* of the array */
    int64_t start[3], room[3]; /* room: the greatest start */
};

struct graph {
    struct random random;
    hlo_messages *m;
    hlo_computation *c;
    bool made[3][6]; /* reducers created so far */
    hlo_builder *b;
    hlo_inst *values[MAX_VALUES]; /* all of the same dims */
    enum dtype types[MAX_VALUES];
    int count, params;
    struct window windows[MAX_WINDOWS];
    int window_count;
    char dims[64];
    int64_t at[3];
    int rank;
    bool large;
};

enum { TYPES = 6 };
static const enum dtype types[TYPES] = {DT_F32, DT_BF16, DT_S32, DT_F64, DT_U8, DT_F16};

static void keep(struct graph *g, hlo_inst *i, enum dtype t)
{
    ck_assert_ptr_nonnull(i);
    g->types[g->count] = t;
    g->values[g->count++] = i;
}

static hlo_inst *make(struct graph *g, const char *what, hlo_inst *x, hlo_inst *y, hlo_inst *z,
                      const char *attributes)
{
    hlo_inst *operands[] = {x, y, z};
    return hlo_build(g->c, what, operands, z ? 3 : y ? 2 : 1, attributes);
}

/* A window of a new array, which is a parameter or has storage of its own, or of an array that has
 * other windows. */
static const struct window *new_window(struct graph *g, enum dtype t)
{
    struct window w = {.type = t};
    const struct window *old =
        g->window_count > 0 ? &g->windows[random_in(&g->random, 0, g->window_count - 1)] : NULL;
    if (old && old->type == t && random_in(&g->random, 0, 1) == 0) {
        w = *old;
    } else {
        int used = snprintf(w.shape, sizeof w.shape, "%s[", dtype_spelling(t));
        for (int d = 0; d < g->rank; d++) {
            w.room[d] = random_in(&g->random, 0, 3);
            used += snprintf(w.shape + used, sizeof w.shape - (size_t)used, "%" PRId64 "%s",
                             g->at[d] + w.room[d], d < g->rank - 1 ? "," : "]");
        }
        w.array = hlo_parameter(g->c, (size_t)g->params++, w.shape, NULL);
        if (random_in(&g->random, 0, 1) == 0)
            w.array = make(g, t == DT_U8 ? "not" : "negate", w.array, NULL, NULL, NULL);
    }
    for (int d = 0; d < g->rank; d++)
        w.start[d] = random_in(&g->random, 0, w.room[d]);
    if (g->window_count == MAX_WINDOWS)
        g->window_count--;
    g->windows[g->window_count] = w;
    return &g->windows[g->window_count++];
}

static hlo_inst *slice_of(struct graph *g, const struct window *w)
{
    char slice[96];
    int used = snprintf(slice, sizeof slice, "slice={");
    for (int d = 0; d < g->rank; d++)
        used += snprintf(slice + used, sizeof slice - (size_t)used, "[%" PRId64 ":%" PRId64 "]%s",
                         w->start[d], w->start[d] + g->at[d], d < g->rank - 1 ? "," : "}");
    return make(g, "slice", w->array, NULL, NULL, slice);
}

static hlo_inst *start_of(struct graph *g, int64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "s32[] %" PRId64, n);
    hlo_literal *l = hlo_literal_parse(text, strlen(text), g->m);
    hlo_inst *i = hlo_constant(g->c, l);
    hlo_literal_free(l);
    return i;
}

/* Stores a value, perhaps combined with what is there, in a window of its type. */
static hlo_inst *update_window(struct graph *g, hlo_inst *value, enum dtype t)
{
    int k = (int)random_in(&g->random, 0, MAX_WINDOWS);
    while (k < g->window_count && g->windows[k].type != t)
        k++;
    const struct window *w = k < g->window_count ? &g->windows[k] : new_window(g, t);
    if (random_in(&g->random, 0, 3) > 0)
        value = make(g, "subtract", value, slice_of(g, w), NULL, NULL);
    hlo_inst *operands[2 + 3] = {w->array, value};
    for (int d = 0; d < g->rank; d++)
        operands[2 + d] = start_of(g, w->start[d]);
    return hlo_build(g->c, "dynamic-update-slice", operands, (size_t)(2 + g->rank), NULL);
}

/* An array of all dimensions, a broadcast one, a transposed one, or a slice. */
static void add_param(struct graph *g)
{
    enum dtype t = types[random_in(&g->random, 0, TYPES - 1)];
    char shape[96], number[24];
    int64_t d = random_in(&g->random, 0, g->rank - 1);
    switch (random_in(&g->random, 0, 5)) {
    case 5: keep(g, slice_of(g, new_window(g, t)), t); break;
    case 4: { /* dimensions in the opposite order */
        int used = snprintf(shape, sizeof shape, "%s[", dtype_spelling(t)),
            also = snprintf(number, sizeof number, "dimensions={");
        for (int k = g->rank - 1; k >= 0; k--) {
            used += snprintf(shape + used, sizeof shape - (size_t)used, "%" PRId64 "%s", g->at[k],
                             k ? "," : "]");
            also += snprintf(number + also, sizeof number - (size_t)also, "%d%s", k, k ? "," : "}");
        }
        keep(g,
             make(g, "transpose", hlo_parameter(g->c, (size_t)g->params++, shape, NULL), NULL, NULL,
                  number),
             t);
        break;
    }
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
        keep(g,
             make(g, "reverse", hlo_parameter(g->c, (size_t)g->params++, shape, NULL), NULL, NULL,
                  number),
             t);
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
    char attribute[32];
    snprintf(attribute, sizeof attribute, "new_element_type=%s", dtype_spelling(t));
    hlo_inst *x = hlo_build(g->c, "convert", &g->values[random_in(&g->random, 0, g->count - 1)], 1,
                            attribute);
    keep(g, x, t);
    return x;
}

/* The dimensions of the graph's that are in a set, and their numbers, as text. */
static void write_dims(const struct graph *g, unsigned set, char *dims, char *numbers, size_t size)
{
    int used = 0, also = 0;
    dims[0] = numbers[0] = 0;
    for (int d = 0; d < g->rank; d++) {
        if (!(set >> d & 1))
            continue;
        used += snprintf(dims + used, size - (size_t)used, "%s%" PRId64, used ? "," : "", g->at[d]);
        also += snprintf(numbers + also, size - (size_t)also, "%s%d", also ? "," : "", d);
    }
}

/* Reduces some dimensions, operates on the result, and broadcasts it to all elements again. */
static hlo_inst *reduce_and_broadcast(struct graph *g, hlo_inst *x, enum dtype t)
{
    static const char *const combine[] = {"add", "maximum", "minimum"};
    const unsigned all = (1u << g->rank) - 1;
    const unsigned kept = all & ~(unsigned)random_in(&g->random, 1, all);
    char dims[64], numbers[32], inner[64], folded[32], what[96], attributes[80];
    write_dims(g, kept, dims, numbers, sizeof numbers);
    write_dims(g, all & ~kept, inner, folded, sizeof folded);
    int c = (int)random_in(&g->random, t == DT_F64 ? 1 : 0, 2),
        k = 0; /* the order of sums of f64 differs */
    while (types[k] != t)
        k++;
    if (!g->made[c][k]) {
        char name[16], scalar[16];
        snprintf(name, sizeof name, "%s_%s", combine[c], dtype_spelling(t));
        snprintf(scalar, sizeof scalar, "%s[]", dtype_spelling(t));
        hlo_computation *body = hlo_computation_new(g->b, name);
        hlo_inst *both[] = {hlo_parameter(body, 0, scalar, NULL),
                            hlo_parameter(body, 1, scalar, NULL)};
        hlo_computation_finish(body, hlo_build(body, combine[c], both, 2, NULL));
        g->made[c][k] = true;
    }
    snprintf(what, sizeof what, "%s[]", dtype_spelling(t));
    hlo_inst *init = hlo_parameter(g->c, (size_t)g->params++, what, NULL);
    snprintf(what, sizeof what, "%s[%s] reduce", dtype_spelling(t), dims);
    snprintf(attributes, sizeof attributes, "dimensions={%s}, to_apply=%s_%s", folded, combine[c],
             dtype_spelling(t));
    hlo_inst *row = make(g, what, x, init, NULL, attributes);
    for (int64_t n = random_in(&g->random, 0, 2); n > 0; n--)
        row = make(g, n == 2 || t == DT_U8 ? "add" : "abs", row, n == 2 || t == DT_U8 ? row : NULL,
                   NULL, NULL);
    if (random_in(&g->random, 0, 2) == 0) { /* through another shape */
        snprintf(what, sizeof what, "%s[1%s%s,1] reshape", dtype_spelling(t), kept ? "," : "",
                 dims);
        row = make(g, what, row, NULL, NULL, NULL);
        snprintf(what, sizeof what, "%s[%s] reshape", dtype_spelling(t), dims);
        row = make(g, what, row, NULL, NULL, NULL);
    }
    snprintf(what, sizeof what, "%s[%s] broadcast", dtype_spelling(t), g->dims);
    snprintf(attributes, sizeof attributes, "dimensions={%s}", numbers);
    return make(g, what, row, NULL, NULL, attributes);
}

static void add_operation(struct graph *g)
{
    static const char *const two[] = {"add", "subtract", "multiply", "maximum", "minimum"};
    static const char *const one[] = {"negate", "abs", "sign"};
    enum dtype t = types[random_in(&g->random, 0, TYPES - 1)];
    hlo_inst *x = any(g, t), *y = any(g, t);
    switch (random_in(&g->random, 0, 8)) {
    case 7:
    case 8: keep(g, reduce_and_broadcast(g, x, t), t); break;
    case 0:
        keep(g, make(g, t == DT_U8 ? "not" : one[random_in(&g->random, 0, 2)], x, NULL, NULL, NULL),
             t);
        break;
    case 1:
        keep(g,
             make(g, "select", make(g, "compare", x, y, NULL, "direction=LT"), y, any(g, t), NULL),
             t);
        break;
    case 2: keep(g, make(g, "clamp", x, any(g, t), y, NULL), t); break;
    default: keep(g, make(g, two[random_in(&g->random, 0, 4)], x, y, NULL, NULL), t); break;
    }
}

static hlo_module *random_graph(struct graph *g)
{
    hlo_builder *b = g->b = hlo_builder_new("graph", g->m);
    g->c = hlo_computation_new(b, "main");
    g->rank = (int)random_in(&g->random, 1, 3);
    int used = 0;
    for (int d = 0; d < g->rank; d++) {
        g->at[d] = random_in(&g->random, d == 0 ? 1 : 0, 8) == 0
                       ? 0
                       : random_in(&g->random, 1,
                                   g->rank == 1 ? (g->large ? 300000 : 5000)
                                   : d == 0     ? (g->large ? 400 : 40)
                                   : g->large   ? 600 / g->rank
                                   : d == 1     ? 90
                                                : 300);
        used += snprintf(g->dims + used, sizeof g->dims - (size_t)used, "%s%" PRId64, d ? "," : "",
                         g->at[d]);
    }
    for (int64_t k = random_in(&g->random, 1, 5); k > 0; k--)
        add_param(g);
    for (int64_t k = random_in(&g->random, 2, 25); k > 0 && g->count < MAX_VALUES - 6; k--)
        add_operation(g);
    hlo_inst *results[3];
    size_t n = (size_t)random_in(&g->random, 1, 3);
    for (size_t k = 0; k < n; k++) {
        const int v = g->count - 1 - (int)random_in(&g->random, 0, g->count > 4 ? 3 : 0);
        results[k] = random_in(&g->random, 0, 2) == 0 ? update_window(g, g->values[v], g->types[v])
                                                      : g->values[v];
    }
    hlo_computation_finish(g->c, hlo_tuple(g->c, results, n));
    return hlo_builder_finish(b, g->c);
}

static hlo_literal *run(const struct graph *g, const hlo_module *module, bool plain, int threads)
{
    struct hlo_run_options o = {.size = sizeof o, .plain = plain, .threads = threads};
    hlo_literal *args[MAX_VALUES];
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

static void expect_same(int seed, const char *what, const hlo_literal *a, const hlo_literal *b)
{
    hlo_text why = {0};
    ck_assert_msg(hlo_literal_compare(a, b, &HLO_WITH(hlo_tolerance, .bits = true), &why),
                  "graph %d, %s: %s", seed, what, why.data);
    hlo_text_free(&why);
}

START_TEST(fused_loops_agree_with_reference)
{
    for (int seed = 0; seed < GRAPHS; seed++) {
        struct graph g = {.random = {(uint64_t)seed, 0, 0}, .m = hlo_messages_new()};
        hlo_module *module = random_graph(&g);
        ck_assert_msg(module && hlo_verify(module, g.m), "graph %d", seed);
        hlo_literal *fused = run(&g, module, false, 1), *plain = run(&g, module, true, 1);
        expect_same(seed, "plain", fused, plain);
        hlo_literal_free(fused);
        hlo_literal_free(plain);
        hlo_module_free(module);
        hlo_messages_free(g.m);
    }
}
END_TEST

START_TEST(fused_loops_do_not_depend_on_threads)
{
    for (int seed = 0; seed < LARGE_GRAPHS; seed++) {
        struct graph g = {
            .random = {(uint64_t)(seed + GRAPHS), 0, 0}, .m = hlo_messages_new(), .large = true};
        hlo_module *module = random_graph(&g);
        ck_assert_msg(module && hlo_verify(module, g.m), "graph %d", seed);
        hlo_literal *one = run(&g, module, false, 1);
        static const int threads[] = {2, 3, 8};
        for (size_t k = 0; k < COUNT_OF(threads); k++) {
            hlo_literal *many = run(&g, module, false, threads[k]);
            expect_same(seed, "threads", many, one);
            hlo_literal_free(many);
        }
        hlo_literal_free(one);
        hlo_module_free(module);
        hlo_messages_free(g.m);
    }
}
END_TEST

/* As if each result were rounded to the narrow type and widened again. */
START_TEST(narrow_results_are_rounded)
{
    enum { N = 3000 };
    static const char *const opcodes[] = {NULL, "convert", "add", "divide", "multiply", "subtract"};
    static const enum dtype narrow[] = {DT_BF16, DT_F16};
    static float x[2][N], got[N], expected[N];
    static uint16_t codes[N];
    struct random r = {.state = 1, .specials = true};
    for (int k = 0; k < 2 * N; k++) {
        const uint32_t bits = (uint32_t)random_bits(&r);
        float v = (float)random_float(&r);
        if (k % 3)
            memcpy(&v, &bits, sizeof v);
        x[k / N][k % N] = v != v ? NAN : v;
    }
    for (size_t t = 0; t < COUNT_OF(narrow); t++)
        for (size_t op = 0; op < COUNT_OF(opcodes); op++) {
            const void *args[] = {x[0], x[1]}, *to_widen = codes,
                       *to_round = op > 1 ? expected : x[0];
            if (op > 1)
                kern_find_elementwise(opcodes[op], DT_F32)(expected, args, N);
            kern_find_convert(narrow[t], DT_F32)(codes, &to_round, N);
            kern_find_convert(DT_F32, narrow[t])(expected, &to_widen, N);
            kern_tiles()->rounded(opcodes[op], narrow[t])(got, args, N);
            for (int k = 0; k < N; k++)
                ck_assert_msg(memcmp(&got[k], &expected[k], sizeof *got) == 0,
                              "%s of %a, %a: %a, not %a", op ? opcodes[op] : "rounding",
                              (double)x[0][k], (double)x[1][k], (double)got[k],
                              (double)expected[k]);
        }
}
END_TEST

/* ---- sums of bf16 ---- */

/* Numbers of one magnitude or several, with a few of any magnitude. */
static void make_codes(struct random *r, uint16_t *codes, int64_t n)
{
    const int64_t sizes =
        random_in(r, 0, 3) > 0 ? 5 : random_in(r, 10, 20); /* sums may have to be rounded */
    const int64_t odd = random_in(r, 0, 3) == 0 ? random_in(r, 1, 200) : n + 1,
                  size = random_in(r, 0, 250);
    for (int64_t k = 0; k < n; k++) {
        const uint64_t bits = random_bits(r);
        codes[k] = (uint16_t)(k % odd == odd / 2
                                  ? bits
                                  : (bits & 0x807f) |
                                        (uint64_t)min_i64(size + random_in(r, 0, sizes), 255) << 7);
        if (random_in(r, 0, 20) == 0)
            codes[k] &= 0x8000;
    }
}

/* The sum of 32 elements, in pairs. */
static double sum_of(const uint16_t *x, int64_t n)
{
    double lanes[32];
    for (int j = 0; j < 32; j++)
        lanes[j] = -0.0;
    for (int64_t k = 0; k < n; k++)
        lanes[k % 32] += (double)bf16_to_f32(x[k]);
    for (int step = 16; step > 0; step /= 2)
        for (int j = 0; j < step; j++)
            lanes[j] += lanes[j + step];
    return lanes[0];
}

/* The three batch normalizations of an array, as text. */
static hlo_module *parse_norms(const char *x, const char *of_feature, int feature, hlo_messages *m)
{
    char text[1500];
    snprintf(text, sizeof text,
             "HloModule norms\n"
             "ENTRY main {\n"
             "  x = %s parameter(0)\n"
             "  a = %s parameter(1)\n"
             "  b = %s parameter(2)\n"
             "  v = %s multiply(b, b)\n"
             "  y = (%s, %s, %s) batch-norm-training(x, a, b), epsilon=0.1, feature_index=%d\n"
             "  z = %s batch-norm-inference(x, a, b, a, v), epsilon=0.1, feature_index=%d\n"
             "  g = (%s, %s, %s) batch-norm-grad(x, a, b, v, z), epsilon=0.1, feature_index=%d\n"
             "  ROOT r = ((%s, %s, %s), %s, (%s, %s, %s)) tuple(y, z, g)\n"
             "}\n",
             x, of_feature, of_feature, of_feature, x, of_feature, of_feature, feature, x, feature,
             x, of_feature, of_feature, feature, x, of_feature, of_feature, x, x, of_feature,
             of_feature);
    hlo_file *f = hlo_file_of_text("norms", text, strlen(text), false);
    hlo_module *module = hlo_parse(f, 0, m);
    hlo_file_free(f);
    return module;
}

START_TEST(batch_norms_agree_with_reference)
{
    static const struct {
        const char *x, *of_feature;
        int feature;
    } cases[] = {{"f32[4,6,7,7]", "f32[6]", 1},      {"f32[3,5,40,40]", "f32[5]", 1},
                 {"f32[2,3,170,170]", "f32[3]", 1},  {"f32[4,9,9,24]", "f32[24]", 3},
                 {"f32[2,60,60,40]", "f32[40]", 3},  {"bf16[8,33,11]", "bf16[33]", 1},
                 {"f32[50,5]", "f32[5]", 1},         {"f32[3,1000]", "f32[3]", 0},
                 {"f16[700,300]", "f16[300]", 1},    {"f64[6,20,11]", "f64[20]", 1},
                 {"bf16[4,28,28,64]", "bf16[64]", 3}};
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        hlo_messages *m = hlo_messages_new();
        hlo_module *module = parse_norms(cases[k].x, cases[k].of_feature, cases[k].feature, m);
        ck_assert_msg(module && hlo_verify(module, m), "%s", cases[k].x);
        struct graph g = {.m = m, .params = 3};
        hlo_literal *fused = run(&g, module, false, 1), *plain = run(&g, module, true, 1),
                    *shared = run(&g, module, false, 2);
        hlo_text why = {0};
        const struct hlo_tolerance near = HLO_WITH(hlo_tolerance, .rel = 1e-6, .abs = 1e-6);
        ck_assert_msg(hlo_literal_compare(fused, plain, &near, &why), "%s: %s", cases[k].x,
                      why.data);
        expect_same((int)k, "threads", fused, shared);
        hlo_literal_free(fused);
        hlo_literal_free(plain);
        hlo_literal_free(shared);
        hlo_text_free(&why);
        hlo_module_free(module);
        hlo_messages_free(m);
    }
}
END_TEST

START_TEST(bf16_sums_use_32_lanes)
{
    static uint16_t x[KERN_TILE];
    struct random r = {.state = 3};
    for (int k = 0; k < 5000; k++) {
        const int64_t n = random_in(&r, 1, KERN_TILE);
        make_codes(&r, x, n);
        double got;
        const double init = -0.0, expected = init + sum_of(x, n);
        const enum dtype acc = DT_F64;
        const struct kern_body body = {.combine = KERN_ADD};
        struct view in, out;
        view_dense(&in, DT_BF16, 1, &n, (char *)x);
        view_dense(&out, DT_F64, 0, NULL, (char *)&got);
        ck_assert(kern_reduce(NULL, 1, &out, &in, (const void *const[]){&init}, &acc,
                              (bool[]){true}, &body));
        ck_assert_msg(memcmp(&got, &expected, sizeof got) == 0 ||
                          (got != got && expected != expected),
                      "%d: %a, not %a", (int)n, got, expected);
    }
}
END_TEST

/* A sum or a product in 32 lanes, as above; an extreme, or NaN if there is one. */
static double fold_of_row(const double *x, int64_t n, bool product)
{
    double lanes[32];
    for (int j = 0; j < 32; j++)
        lanes[j] = product ? 1 : -0.0;
    for (int64_t k = 0; k < n; k++)
        lanes[k % 32] = product ? lanes[k % 32] * x[k] : lanes[k % 32] + x[k];
    for (int step = 16; step > 0; step /= 2)
        for (int j = 0; j < step; j++)
            lanes[j] = product ? lanes[j] * lanes[j + step] : lanes[j] + lanes[j + step];
    return lanes[0];
}

static float extreme_of_row(const float *x, int64_t n, bool greatest)
{
    float best = x[0];
    for (int64_t k = 1; k < n && best == best; k++)
        if (x[k] != x[k] || (greatest ? x[k] > best : x[k] < best))
            best = x[k];
    return best;
}

/* Of f32, and of the same numbers as f64. */
static void expect_folds(const float *x, int64_t rows, int64_t n, bool product)
{
    const struct tile_set *set = tile_set();
    double folds[2][100], *wide = mem_alloc((size_t)(rows * n) * sizeof *wide);
    for (int64_t k = 0; k < rows * n; k++)
        wide[k] = (double)x[k];
    for (int64_t r = 0; r < rows; r++)
        folds[0][r] = folds[1][r] = (double)r;
    (product ? set->multiply_rows_f32 : set->sum_rows_f32)(folds[0], x, rows, n);
    (product ? set->multiply_rows_f64 : set->sum_rows_f64)(folds[1], wide, rows, n);
    for (int64_t r = 0; r < 2 * rows; r++) {
        const double got = folds[r / rows][r % rows], start = (double)(r % rows),
                     fold = fold_of_row(wide + r % rows * n, n, product),
                     expected = product ? start * fold : start + fold;
        ck_assert_msg(memcmp(&got, &expected, sizeof expected) == 0 ||
                          (got != got && expected != expected),
                      "row %d of %d: %a, not %a", (int)(r % rows), (int)n, got, expected);
    }
    mem_free(wide);
}

/* Of the columns, of f32 or bf16. */
static void expect_columns(const float *x, int64_t rows, int64_t n, bool product)
{
    const struct tile_set *set = tile_set();
    double folds[2][KERN_TILE], expected[2][KERN_TILE];
    const void *at[2][100];
    uint16_t *codes = mem_alloc((size_t)(rows * n) * sizeof *codes);
    set->narrow(DT_BF16, codes, x, rows * n);
    for (int64_t k = 0; k < n; k++)
        folds[0][k] = folds[1][k] = expected[0][k] = expected[1][k] = (double)k;
    for (int64_t k = 0; k < rows * n; k++) {
        double *of_f32 = &expected[0][k % n];
        *of_f32 = product ? *of_f32 * (double)x[k] : *of_f32 + (double)x[k];
        expected[1][k % n] += (double)bf16_to_f32(codes[k]);
    }
    for (int64_t r = 0; r < rows; r++) {
        at[0][r] = x + r * n;
        at[1][r] = codes + r * n;
    }
    (product ? set->multiply_columns_f32 : set->sum_columns_f32)(folds[0], at[0], (int)rows, n);
    set->sum_columns_bf16(folds[1], at[1], (int)rows, n);
    for (int of = 0; of < 2; of++)
        for (int64_t k = 0; k < n; k++)
            ck_assert_msg(memcmp(&folds[of][k], &expected[of][k], sizeof(double)) == 0 ||
                              (folds[of][k] != folds[of][k] && expected[of][k] != expected[of][k]),
                          "column %d of %d: %a, not %a", (int)k, (int)n, folds[of][k],
                          expected[of][k]);
    mem_free(codes);
}

static void expect_extremes(const float *x, int64_t rows, int64_t n, bool greatest)
{
    float found[100];
    bool nan = false;
    const bool ok = tile_set()->extreme_rows(found, x, rows, n, greatest);
    for (int64_t r = 0; r < rows; r++) {
        const float expected = extreme_of_row(x + r * n, n, greatest);
        nan |= expected != expected;
        ck_assert_msg(!ok || found[r] == expected, "row %d of %d: %a, not %a", (int)r, (int)n,
                      (double)found[r], (double)expected);
    }
    ck_assert_int_eq(ok, !nan);
}

/* Of the elements as bf16 or f16, with the sign of zero: +0 is greater than -0. */
static void expect_extreme_codes(enum dtype t, const float *x, int64_t rows, int64_t n,
                                 bool greatest)
{
    uint16_t *codes = mem_alloc((size_t)(rows * n) * sizeof *codes);
    float *wide = mem_alloc((size_t)(rows * n) * sizeof *wide), found[100];
    bool nan = false;
    tile_set()->narrow(t, codes, x, rows * n);
    tile_set()->widen(t, wide, codes, rows * n);
    const bool ok = tile_set()->extreme_codes(t, found, codes, rows, n, greatest);
    for (int64_t r = 0; r < rows; r++) {
        const float *row = wide + r * n, expected = extreme_of_row(row, n, greatest);
        bool zeros[2] = {false};
        for (int64_t k = 0; k < n; k++)
            zeros[signbit(row[k]) != 0] |= row[k] == 0;
        nan |= expected != expected;
        ck_assert_msg(!ok || found[r] == expected, "%a, not %a", (double)found[r],
                      (double)expected);
        if (ok && expected == 0)
            ck_assert_int_eq(signbit(found[r]) != 0, greatest ? !zeros[0] : zeros[1]);
    }
    ck_assert_int_eq(ok, !nan);
    mem_free(codes);
    mem_free(wide);
}

/* Rows end where the storage ends, which the sanitizers check. */
START_TEST(short_rows_are_reduced_as_one_by_one)
{
    static const float special[] = {0.0f, -0.0f, INFINITY, -INFINITY, 0x1p-149f, -0x1.8p127f};
    struct random r = {.state = 4};
    for (int k = 0; k < 1000; k++) {
        const int64_t rows = random_in(&r, 1, k % 2 ? 3 : 100),
                      n = random_in(&r, 1, k % 4 ? 80 : KERN_TILE);
        float *x = mem_alloc((size_t)(rows * n) * sizeof *x);
        for (int64_t i = 0; i < rows * n; i++)
            x[i] = random_in(&r, 0, 9) > 0 ? (float)random_in(&r, -1000, 1000) * 0.37f
                                           : special[random_in(&r, 0, COUNT_OF(special) - 1)];
        if (k % 8 == 0)
            x[random_in(&r, 0, rows * n - 1)] = NAN;
        expect_folds(x, rows, n, false);
        expect_folds(x, rows, n, true);
        expect_columns(x, rows, n, false);
        expect_columns(x, rows, n, true);
        expect_extremes(x, rows, n, true);
        expect_extremes(x, rows, n, false);
        for (int greatest = 0; greatest < 2; greatest++) {
            expect_extreme_codes(DT_BF16, x, rows, n, greatest);
            expect_extreme_codes(DT_F16, x, rows, n, greatest);
        }
        mem_free(x);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("fuse");
    TCase *tc = tcase_create("properties");
    tcase_set_timeout(tc, 120);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, fused_loops_agree_with_reference);
    tcase_add_test(tc, fused_loops_do_not_depend_on_threads);
    tcase_add_test(tc, narrow_results_are_rounded);
    tcase_add_test(tc, batch_norms_agree_with_reference);
    tcase_add_test(tc, bf16_sums_use_32_lanes);
    tcase_add_test(tc, short_rows_are_reduced_as_one_by_one);
    return check_run(s);
}
