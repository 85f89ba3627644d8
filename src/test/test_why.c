/*
 * Tests of sources of elements by their definition: for instructions of random modules and of all
 * golden tests, all elements outside the boxes are changed, the instruction is run alone, and the
 * element must keep its bits. That boxes are minimal is tested by hand.
 *
 * `test_why N` tests N random modules, `test_why N FILE...` the modules of these files instead of
 * the golden tests.
 */
#include "fuzz/generate.h"
#include "hlo_advanced.h"

#include "check_quiet.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seeds = 300;
static char **files;
static int file_count;

/* ---- helpers ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void unlinear(size_t rank, const int64_t *dims, int64_t at, int64_t *index)
{
    for (size_t d = rank; d-- > 0; at /= dims[d])
        index[d] = at % dims[d];
}

static bool is_in(const struct hlo_source *s, const int64_t *index)
{
    for (size_t d = 0; d < s->rank; d++) {
        const int64_t away = index[d] - s->start[d];
        if (away % s->step[d] != 0 || away / s->step[d] < 0 || away / s->step[d] >= s->count[d])
            return false;
    }
    return true;
}

/* Any value of the type; of narrow types only the valid bits change. */
static void scramble(const char *dtype, unsigned char *p, size_t size, uint64_t *random)
{
    const uint64_t bits =
        next_random(random) << 32 ^ next_random(random) << 8 ^ next_random(random);
    if (strcmp(dtype, "pred") == 0)
        *p ^= 1;
    else if (strcmp(dtype, "s4") == 0 || strcmp(dtype, "s2") == 0 || strcmp(dtype, "s1") == 0)
        *p = (unsigned char)(*p ? 0 : -1);
    else if (strcmp(dtype, "u4") == 0 || strcmp(dtype, "u2") == 0 || strcmp(dtype, "u1") == 0 ||
             strncmp(dtype, "f4", 2) == 0)
        *p = (unsigned char)(*p ^ 1);
    else
        for (size_t k = 0; k < size; k++)
            p[k] = (unsigned char)(bits >> (k % 8 * 8));
}

/* ---- execution of a single instruction ---- */

struct single {
    hlo_module *module;
    hlo_program *program;
    bool tried;
};
struct search {
    const hlo_listing *l;
    struct single *singles; /* by instruction */
    uint64_t random;
    size_t asked, max;
    uint64_t *checked, *larger; /* elements: all; those of which an operand had other elements */
    const struct hlo_event *at;
    const char *what;
};

static struct single *single_of(struct search *h, size_t inst)
{
    struct single *one = &h->singles[inst];
    const struct hlo_extract what = {.size = sizeof what, .inst = inst, .parameters = true};
    const struct hlo_run_options plain = {.size = sizeof plain, .plain = true, .threads = 1};
    if (one->tried)
        return one;
    one->tried = true;
    hlo_messages *m = hlo_messages_new();
    one->module = hlo_extract(h->l, &what, &plain, NULL, 0, m);
    if (one->module && hlo_verify(one->module, m))
        one->program = hlo_plan(one->module, &plain, m);
    hlo_messages_free(m);
    return one;
}

static const hlo_literal *value(void *context, size_t inst, const struct hlo_within *within,
                                size_t depth)
{
    const struct search *h = context;
    const struct hlo_listed i = hlo_list_inst(h->l, h->at->inst);
    (void)within;
    (void)depth;
    for (size_t k = 0; k < i.operand_count; k++)
        if (i.operands[k] == inst)
            return hlo_event_operand(h->at, k);
    return inst == h->at->inst ? hlo_event_value(h->at) : NULL;
}

/* The operand that a parameter of the extracted module replaces; -1: none. */
static long operand_named(const struct search *h, const char *name)
{
    const struct hlo_listed i = hlo_list_inst(h->l, h->at->inst);
    for (size_t k = 0; k < i.operand_count; k++)
        if (strcmp(hlo_list_inst(h->l, i.operands[k]).name, name) == 0)
            return (long)k;
    return -1;
}

/* Changes the elements outside all boxes; returns their number. */
static size_t change_outside(struct search *h, hlo_literal *arg, size_t inst,
                             const struct hlo_source *sources, long count)
{
    size_t changed = 0;
    for (size_t leaf = 0; leaf < hlo_literal_leaves(arg); leaf++) {
        const struct hlo_array a = hlo_literal_leaf(arg, leaf);
        for (size_t n = 0; n < a.elements; n++) {
            int64_t index[HLO_MAX_RANK];
            bool inside = false;
            unlinear(a.rank, a.dims, (int64_t)n, index);
            for (long k = 0; k < count && !inside; k++)
                inside =
                    sources[k].inst == inst && sources[k].leaf == leaf && is_in(&sources[k], index);
            if (inside)
                continue;
            scramble(a.dtype, (unsigned char *)a.data + n * a.element_size, a.element_size,
                     &h->random);
            changed++;
        }
    }
    return changed;
}

static hlo_literal *run_single(const struct single *one, hlo_literal *const *args, size_t count)
{
    hlo_messages *m = hlo_messages_new();
    hlo_literal *result = hlo_run(one->program, (const hlo_literal *const *)args, count, m);
    hlo_messages_free(m);
    return result;
}

static void same_element(const struct search *h, const hlo_literal *a, const hlo_literal *b,
                         size_t leaf, size_t n)
{
    const struct hlo_array x = hlo_literal_leaf(a, leaf), y = hlo_literal_leaf(b, leaf);
    if (memcmp((char *)x.data + n * x.element_size, (char *)y.data + n * x.element_size,
               x.element_size) == 0)
        return;
    hlo_text text = hlo_list_print(h->l, h->at->inst, HLO_PRINT_FULL);
    ck_abort_msg("%s: leaf %zu, element %zu of %.2000s depends on elements outside the boxes",
                 h->what, leaf, n, text.data);
}

static void check_element(struct search *h, const struct single *one, size_t leaf, size_t n,
                          const struct hlo_source *sources, long count)
{
    const struct hlo_listed i = hlo_list_inst(h->l, h->at->inst);
    const size_t params = hlo_param_count(one->module);
    hlo_literal **args = calloc(params + 1, sizeof *args), *before = NULL, *after = NULL;
    size_t changed = 0;
    bool ok = true;
    for (size_t k = 0; k < params && ok; k++) {
        const long operand = operand_named(h, hlo_param_name(one->module, k));
        ok =
            operand >= 0 && (args[k] = hlo_literal_copy(hlo_event_operand(h->at, (size_t)operand)));
    }
    if (ok)
        before = run_single(one, args, params);
    for (size_t k = 0; k < params && before; k++)
        changed +=
            change_outside(h, args[k], i.operands[operand_named(h, hlo_param_name(one->module, k))],
                           sources, count);
    if (before && changed > 0)
        after = run_single(one, args, params);
    if (after)
        same_element(h, before, after, leaf, n);
    ++*h->checked;
    *h->larger += changed > 0;
    for (size_t k = 0; k < params; k++)
        hlo_literal_free(args[k]);
    hlo_literal_free(before);
    hlo_literal_free(after);
    free(args);
}

/* ---- selection of instructions ---- */

static bool all_here(const struct hlo_source *sources, long count)
{
    for (long k = 0; k < count; k++)
        if (sources[k].place != HLO_SOURCE_HERE)
            return false;
    return true;
}

/* Whether the instruction can be run alone, with reproducible results. */
static bool is_fit(const struct search *h, const struct hlo_event *s)
{
    const struct hlo_listed i = hlo_list_inst(h->l, s->inst);
    if (i.operand_count == 0 || strstr(i.shape, "token") || strcmp(i.op, "rng") == 0)
        return false;
    for (size_t k = 0; k < i.operand_count; k++)
        if (strstr(hlo_list_inst(h->l, i.operands[k]).shape, "token"))
            return false;
    return true;
}

static bool look(void *context, const struct hlo_event *s)
{
    struct search *h = context;
    enum { MOST = 4096 };
    if (s->participant != 0 || h->asked >= h->max || !is_fit(h, s))
        return true;
    h->at = s;
    const hlo_literal *v = hlo_event_value(s);
    const struct hlo_known known = {.size = sizeof known, .context = h, .value = value};
    struct hlo_source *sources = malloc(MOST * sizeof *sources);
    hlo_messages *m = hlo_messages_new();
    for (size_t leaf = 0; leaf < hlo_literal_leaves(v) && leaf < 4; leaf++) {
        const struct hlo_array a = hlo_literal_leaf(v, leaf);
        struct hlo_element e = {
            .inst = s->inst, .leaf = leaf, .within = s->within, .depth = s->depth};
        if (a.elements == 0)
            continue;
        const size_t n = next_random(&h->random) % a.elements;
        unlinear(a.rank, a.dims, (int64_t)n, e.index);
        const long count = hlo_why(h->l, &e, &known, sources, MOST, m);
        ck_assert_msg(count >= 0, "%s: %s has no element", h->what,
                      hlo_list_inst(h->l, s->inst).name);
        if (count > MOST || !all_here(sources, count))
            continue;
        const struct single *one = single_of(h, s->inst);
        if (one->program)
            check_element(h, one, leaf, n, sources, count);
        h->asked++;
    }
    hlo_messages_free(m);
    free(sources);
    return true;
}

static void check_why_module(const hlo_module *module, const char *what, uint64_t seed,
                             uint64_t *checked, uint64_t *larger)
{
    const struct hlo_run_options options = {.size = sizeof options,
                                            .traced = true,
                                            .plain = true,
                                            .threads = 1,
                                            .max_steps = 20000,
                                            .timeout = 2,
                                            .elided = HLO_ELIDED_IOTA};
    hlo_messages *m = hlo_messages_new();
    hlo_listing *l = hlo_list(module);
    struct search h = {.l = l,
                       .singles = calloc(hlo_list_count(l) + 1, sizeof *h.singles),
                       .random = seed * 77 + 1,
                       .max = 60,
                       .checked = checked,
                       .larger = larger,
                       .what = what};
    const struct hlo_trace_callbacks trace_callbacks = {
        .size = sizeof trace_callbacks, .context = &h, .after = look};
    const size_t count = hlo_param_count(module);
    hlo_program *p = hlo_plan(module, &options, m);
    const size_t participants = p ? hlo_participants(p) : 0;
    hlo_literal **args = calloc(count * participants + 1, sizeof *args),
                **results = calloc(participants + 1, sizeof *results);
    bool ok = p != NULL;
    for (size_t k = 0; k < count * participants && ok; k++)
        ok = (args[k] = hlo_fake_param(module, k % count, HLO_FAKE_UNIFORM, seed, m)) != NULL;
    if (ok) {
        hlo_trace(p, &trace_callbacks);
        hlo_run_all(p, (const hlo_literal *const *)args, count, NULL, results, m);
    }
    for (size_t k = 0; k < count * participants; k++)
        hlo_literal_free(args[k]);
    for (size_t k = 0; k < participants; k++)
        hlo_literal_free(results[k]);
    for (size_t k = 0; k < hlo_list_count(l); k++) {
        hlo_program_free(h.singles[k].program);
        hlo_module_free(h.singles[k].module);
    }
    hlo_program_free(p);
    free(args);
    free(results);
    free(h.singles);
    hlo_listing_free(l);
    hlo_messages_free(m);
}

START_TEST(random_modules)
{
    uint64_t checked = 0, larger = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct buf text = {0};
        char what[32];
        generate_of_seed(&text, seed);
        hlo_messages *m = hlo_messages_new();
        hlo_file *f = hlo_file_of_text("generated", text.data, text.size, false);
        hlo_module *module = hlo_parse(f, 0, m);
        ck_assert(module && hlo_verify(module, m));
        snprintf(what, sizeof what, "seed %d", (int)seed);
        check_why_module(module, what, seed, &checked, &larger);
        hlo_module_free(module);
        hlo_file_free(f);
        hlo_messages_free(m);
        buf_free(&text);
    }
    ck_assert_uint_gt(checked, seeds * 5);
    ck_assert_uint_gt(larger, seeds * 2);
}
END_TEST

static void check_why_file(const char *path, uint64_t *checked, uint64_t *larger)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_open(path, false, m);
    for (size_t part = 0; f && part < hlo_file_count(f); part++) {
        hlo_module *module = hlo_parse(f, part, m);
        char what[512];
        snprintf(what, sizeof what, "%s, part %zu", path, part + 1);
        if (module && hlo_replica_count(module) * hlo_num_partitions(module) == 1 &&
            hlo_verify(module, m))
            check_why_module(module, what, part + 1, checked, larger);
        hlo_module_free(module);
    }
    hlo_file_free(f);
    hlo_messages_free(m);
}

static void check_why_directory(const char *root, const char *family, uint64_t *checked,
                                uint64_t *larger)
{
    char path[1024];
    struct dirent *entry;
    snprintf(path, sizeof path, "%s/%s", root, family);
    DIR *directory = opendir(path);
    ck_assert_msg(directory != NULL, "%s", path);
    while ((entry = readdir(directory))) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".hlo") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", root, family, entry->d_name);
        check_why_file(path, checked, larger);
    }
    closedir(directory);
}

START_TEST(golden_tests)
{
    static const char *const families[] = {
        "batchnorm", "compare",  "control",     "conv", "convert", "dot",
        "dynamic",   "dynslice", "elementwise", "fft",  "gather",  "linalg",
        "reduce",    "rng",      "shape",       "sort", "tuple",   "window"};
    uint64_t checked = 0, larger = 0;
    for (int k = 0; k < file_count; k++)
        check_why_file(files[k], &checked, &larger);
    for (size_t k = 0; k < sizeof families / sizeof *families && file_count == 0; k++) {
        const uint64_t before = checked;
        check_why_directory(getenv("TESTDATA"), families[k], &checked, &larger);
        ck_assert_msg(checked > before, "no element of %s was checked", families[k]);
    }
    if (file_count > 0)
        fprintf(stderr, "%d elements, %d of them with others outside\n", (int)checked, (int)larger);
}
END_TEST

/* ---- boxes by hand ---- */

static char answer[2048];

static void put_sources(const hlo_listing *l, const struct hlo_source *s, long count)
{
    size_t n = 0;
    answer[0] = '\0';
    for (long k = 0; k < count; k++) {
        n += (size_t)snprintf(answer + n, sizeof answer - n, "%s%s %s", k ? "; " : "", s[k].role,
                              hlo_list_inst(l, s[k].inst).name);
        for (size_t d = 0; d < s[k].rank; d++)
            n += (size_t)snprintf(answer + n, sizeof answer - n,
                                  s[k].count[d] == 1 ? " %d" : " %d*%d/%d", (int)s[k].start[d],
                                  (int)s[k].count[d], (int)s[k].step[d]);
    }
}

/* Prints the sources of an element of the root of a computation with one instruction, without known
 * values: "lhs a 1 0*4/1; rhs b ...". */
static const char *sources_of(const char *body, size_t leaf, const int64_t *index, size_t rank)
{
    struct buf text = {0};
    struct hlo_source s[16];
    buf_printf(&text,
               "add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] add(p, q) }\n"
               "ge { u = f32[] parameter(0) v = f32[] parameter(1) ROOT t = pred[] compare(u, v), "
               "direction=GE }\nENTRY e {\n%s\n}\n",
               body);
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("hand", text.data, text.size, false);
    hlo_module *module = hlo_parse(f, 0, m);
    ck_assert_msg(module && hlo_verify(module, m), "%s\n%s", body,
                  hlo_messages_draw(m, false).data);
    hlo_listing *l = hlo_list(module);
    struct hlo_element e = {.inst = hlo_list_computation(l, hlo_list_computations(l) - 1).root,
                            .leaf = leaf};
    memcpy(e.index, index, rank * sizeof *index);
    put_sources(l, s, hlo_why(l, &e, NULL, s, 16, m));
    hlo_listing_free(l);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    buf_free(&text);
    return answer;
}
#define SOURCES(body, ...)                                                                         \
    sources_of(body, 0, (const int64_t[]){__VA_ARGS__},                                            \
               sizeof(const int64_t[]){__VA_ARGS__} / sizeof(int64_t))

START_TEST(boxes_known_answers)
{
    ck_assert_str_eq(
        SOURCES("a = f32[2,3] parameter(0) b = f32[2,3] parameter(1) ROOT o = f32[2,3] add(a, b)",
                1, 2),
        "lhs a 1 2; rhs b 1 2");
    ck_assert_str_eq(
        SOURCES("a = f32[5,2,4] parameter(0) b = f32[5,4,3] parameter(1) ROOT o = f32[5,2,3] "
                "dot(a, b), lhs_batch_dims={0}, "
                "rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}",
                4, 1, 2),
        "lhs a 4 1 0*4/1; rhs b 4 0*4/1 2");
    ck_assert_str_eq(SOURCES("a = f32[2,3,4] parameter(0) z = f32[] parameter(1) ROOT o = f32[3] "
                             "reduce(a, z), dimensions={0,2}, to_apply=add",
                             1),
                     "reduced a 0*2/1 1 0*4/1; init z");
    ck_assert_str_eq(
        SOURCES(
            "a = f32[4,3] parameter(0) i = s32[2,1] constant({{9},{1}}) ROOT o = f32[2,3] "
            "gather(a, i), offset_dims={1}, "
            "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
            0, 2),
        "operand a 3 2; index i 0 0");
    ck_assert_str_eq(
        SOURCES(
            "a = f32[4,3] parameter(0) i = s32[2,1] parameter(1) ROOT o = f32[2,3] gather(a, i), "
            "offset_dims={1}, "
            "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
            0, 2),
        "operand a 0*4/1 2; index i 0 0");
    ck_assert_str_eq(SOURCES("a = f32[3] parameter(0) z = f32[] parameter(1) ROOT o = f32[7] "
                             "pad(a, z), padding=1_1_1",
                             3),
                     "operand a 1");
    ck_assert_str_eq(SOURCES("a = f32[3] parameter(0) z = f32[] parameter(1) ROOT o = f32[7] "
                             "pad(a, z), padding=1_1_1",
                             2),
                     "padding value z");
    ck_assert_str_eq(SOURCES("a = f32[3,4] parameter(0) ROOT o = f32[2,6] reshape(a)", 1, 3),
                     "operand a 2 1");
    ck_assert_str_eq(
        SOURCES("a = f32[3,4] parameter(0) ROOT o = f32[4,3] transpose(a), dimensions={1,0}", 3, 2),
        "operand a 2 3");
    ck_assert_str_eq(SOURCES("a = f32[2] parameter(0) b = f32[3] parameter(1) ROOT o = f32[5] "
                             "concatenate(a, b), dimensions={0}",
                             3),
                     "operand b 1");
    ck_assert_str_eq(
        SOURCES(
            "a = f32[6] parameter(0) z = f32[] parameter(1) ROOT o = f32[3] reduce-window(a, z), "
            "window={size=3 stride=2 pad=1_0}, to_apply=add",
            0),
        "window a 0*2/1; init z");
    ck_assert_str_eq(SOURCES("a = f32[1,5,1] parameter(0) k = f32[3,1,1] parameter(1) ROOT o = "
                             "f32[1,7,1] convolution(a, k), "
                             "window={size=3 lhs_dilate=2}, dim_labels=b0f_0io->b0f",
                             0, 1, 0),
                     "input a 0 1 0; kernel k 1 0 0");
    ck_assert_str_eq(SOURCES("a = f32[1,6,1] parameter(0) k = f32[3,1,1] parameter(1) ROOT o = "
                             "f32[1,4,1] convolution(a, k), "
                             "window={size=3 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
                             0, 1, 0),
                     "input a 0 1*3/1 0; kernel k 2*3/-1 0 0");
    ck_assert_str_eq(SOURCES("c = pred[2] constant({1,0}) a = f32[2] parameter(0) b = f32[2] "
                             "parameter(1) ROOT o = f32[2] select(c, a, b)",
                             1),
                     "condition c 1; chosen b 1");
    ck_assert_str_eq(SOURCES("ROOT o = f32[4] iota(), iota_dimension=0", 1), "");
}
END_TEST

/* ---- recorded runs ---- */

static const char loop[] =
    "body { p = (s32[], f32[2]) parameter(0) n = s32[] get-tuple-element(p), index=0 x = f32[2] "
    "get-tuple-element(p), index=1\n"
    " one = s32[] constant(1) m = s32[] add(n, one) y = f32[2] add(x, x) ROOT t = (s32[], f32[2]) "
    "tuple(m, y) }\n"
    "cond { q = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(q), index=0 k = s32[] "
    "constant(4) ROOT c = pred[] "
    "compare(i, k), direction=LT }\n"
    "ENTRY e { a = f32[2] parameter(0) zero = s32[] constant(0) init = (s32[], f32[2]) tuple(zero, "
    "a)\n"
    " w = (s32[], f32[2]) while(init), condition=cond, body=body ROOT o = f32[2] "
    "get-tuple-element(w), index=1 }\n";

/* The memory budget does not affect results: dropped values are recomputed. */
START_TEST(memory_budget)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("loop", loop, strlen(loop), false);
    hlo_module *module = hlo_parse(f, 0, m);
    ck_assert(module && hlo_verify(module, m));
    hlo_listing *l = hlo_list(module);
    const struct hlo_run_options options = HLO_RUN_OPTIONS_INIT;
    const struct hlo_why_view view = {.size = sizeof view, .levels = 9};
    hlo_literal *arg = hlo_literal_parse("f32[2] {1, 3}", 13, m);
    hlo_text texts[2];
    for (int k = 0; k < 2; k++) {
        struct hlo_element e;
        const struct hlo_recording little = {.size = sizeof little, .max = 300};
        hlo_recorded *r =
            hlo_record(l, &options, (const hlo_literal *const *)&arg, 1, k ? &little : NULL, m);
        ck_assert(r && hlo_recorded_find(r, "o[1]", &e, m));
        texts[k] = hlo_recorded_why(r, &e, &view);
        hlo_recorded_free(r);
    }
    ck_assert_str_eq(texts[0].data, texts[1].data);
    ck_assert(strstr(texts[0].data, "a[1] = 3") && strstr(texts[0].data, "y@3[1] = 48") &&
              !strchr(texts[0].data, '?'));
    hlo_text_free(&texts[0]);
    hlo_text_free(&texts[1]);
    hlo_literal_free(arg);
    hlo_listing_free(l);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
}
END_TEST

START_TEST(elements_that_do_not_exist)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("loop", loop, strlen(loop), false);
    hlo_module *module = hlo_parse(f, 0, m);
    ck_assert(module && hlo_verify(module, m));
    hlo_listing *l = hlo_list(module);
    const struct hlo_element none[] = {{.inst = hlo_list_count(l)},
                                       {.inst = 0, .leaf = 2},
                                       {.inst = (size_t)hlo_list_find(l, "a"), .index = {2}}};
    for (size_t k = 0; k < sizeof none / sizeof *none; k++)
        ck_assert_int_eq(hlo_why(l, &none[k], NULL, NULL, 0, m), -1);
    ck_assert_uint_eq(hlo_messages_errors(m), 3);
    hlo_listing_free(l);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1)
        seeds = strtoull(argv[1], NULL, 10);
    files = argv + 2;
    file_count = argc > 2 ? argc - 2 : 0;
    Suite *s = suite_create("why");
    TCase *t = tcase_create("why");
    tcase_set_timeout(t, argc > 1 ? 0 : 120);
    tcase_add_test(t, boxes_known_answers);
    tcase_add_test(t, memory_budget);
    tcase_add_test(t, elements_that_do_not_exist);
    tcase_add_test(t, random_modules);
    tcase_add_test(t, golden_tests);
    suite_add_tcase(s, t);
    return check_run(s);
}
