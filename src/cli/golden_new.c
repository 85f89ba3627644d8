/*
 * hlo test --new: makes golden tests of modules. A module is run on generated or given arguments,
 * and directives with these and the results are inserted above it. If there are many elements, the
 * directives refer to a bundle beside the file instead.
 */
#include "cli/arguments.h"
#include "cli/golden.h"

enum { INLINE_ELEMENTS = 256, PLAIN_SECONDS = 5 };

struct new_test {
    struct arguments a;
    const hlo_file *file;
    const char *path;
    size_t part;
    struct arena *arena;
    struct edits edits; /* insertions in the file, by part */
    bool bundled;       /* values of a test are in a bundle */
    bool rounded;       /* results depend on the processor */
};

static size_t elements_of(const hlo_literal *const *values, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < hlo_literal_leaves(values[i]); k++)
            n += hlo_literal_leaf(values[i], k).elements;
    return n;
}

/* `in NAME: VALUE` and `out: VALUE`, for each participant if there are several. */
static void put_values(const struct new_test *t, struct buf *out, hlo_literal *const *results)
{
    const struct arguments *a = &t->a;
    for (size_t i = 0; i < a->participants * a->count; i++) {
        const char *name = hlo_param_name(a->module, i % a->count);
        struct str key = arena_printf(t->arena, "in %s", name);
        if (a->participants > 1)
            key = arena_printf(t->arena, "in %s@%zu", name, i / a->count);
        golden_put_value(out, key.ptr, a->all[i]);
    }
    for (size_t p = 0; p < a->participants; p++)
        golden_put_value(out,
                         a->participants > 1 ? arena_printf(t->arena, "out@%zu", p).ptr : "out",
                         results[p]);
}

/* The bundle of `dir/module.hlo`, part 2: `dir/module.2.npz`. */
static bool put_bundle(struct new_test *t, struct buf *out, hlo_literal *const *results)
{
    const struct arguments *a = &t->a;
    struct str stem = str_of(t->path);
    if (str_ends(stem, STR(".hlo")))
        stem.len -= 4;
    struct str part = STR("");
    if (hlo_file_count(t->file) > 1)
        part = arena_printf(t->arena, ".%zu", t->part + 1);
    struct hlo_bundle b = {.size = sizeof b,
                           .participants = a->participants,
                           .count = a->count,
                           .args = a->all,
                           .results = (const hlo_literal *const *)results};
    uint32_t line;
    b.text = hlo_file_text(t->file, t->part, &b.text_size, &line);
    const char *path =
        arena_printf(t->arena, STR_FMT STR_FMT ".npz", STR_ARG(stem), STR_ARG(part)).ptr;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (a->count > 0)
        buf_printf(out, "// in: @%s\n", name);
    buf_printf(out, "// out: @%s\n", name);
    t->bundled = true;
    return hlo_write_bundle(path, &b, a->m);
}

static bool put_test(struct new_test *t, hlo_literal *const *results)
{
    const struct arguments *a = &t->a;
    struct edit e = {0};
    SCOPED_BUF lines = {0};
    size_t elements = elements_of(a->all, a->participants * a->count) +
                      elements_of((const hlo_literal *const *)results, a->participants);
    bool ok = true;
    buf_printf(&lines, "// test: eval%s\n",
               t->rounded ? " usual why: rounding depends on the processor" : "");
    if (elements <= INLINE_ELEMENTS)
        put_values(t, &lines, results);
    else
        ok = put_bundle(t, &lines, results);
    size_t size;
    hlo_file_text(t->file, t->part, &size, &e.first);
    e.text = arena_str(t->arena, buf_view(&lines));
    VEC_PUSH(t->arena, t->edits.at, t->edits.count, t->edits.capacity) = e;
    return ok;
}

/* Whether the reference kernels compute the same bits. If they do not, or take too long, results
 * may differ on another processor. */
static bool is_reproducible(const struct arguments *a, struct hlo_run_options options,
                            hlo_literal *const *results)
{
    const struct hlo_tolerance bits = HLO_WITH(hlo_tolerance, .bits = true);
    struct hlo_feeds feeds = HLO_FEEDS_INIT;
    options.plain = true;
    options.timeout = PLAIN_SECONDS;
    SCOPED_MESSAGES *ignored = hlo_messages_new();
    SCOPED_PROGRAM *p = hlo_plan(a->module, &options, ignored);
    hlo_literal **plain = heap_zalloc(a->participants + 1, sizeof *plain);
    bool same =
        p && hlo_run_all(p, (const hlo_literal *const *)a->all, a->count, &feeds, plain, ignored);
    for (size_t i = 0; i < a->participants && same; i++)
        same = hlo_literal_compare(plain[i], results[i], &bits, NULL);
    hlo_literals_free(plain, a->participants);
    return same;
}

/* Runs the module on its arguments. A status. */
static int run_new(struct new_test *t)
{
    struct arguments *a = &t->a;
    struct hlo_run_options options;
    int status = arguments_prepare(a, &options);
    SCOPED_PROGRAM *p = status == HLO_OK ? hlo_plan(a->module, &options, a->m) : NULL;
    hlo_literal **results = heap_zalloc(a->participants + 1, sizeof *results);
    const hlo_literal *const *all = (const hlo_literal *const *)a->all;
    struct hlo_feeds feeds = HLO_FEEDS_INIT;
    if (status == HLO_OK)
        status = p && hlo_run_all(p, all, a->count, &feeds, results, a->m) ? HLO_OK : HLO_FAILED;
    t->rounded = status == HLO_OK && !is_reproducible(a, options, results);
    if (status == HLO_OK && !put_test(t, results))
        status = HLO_USAGE;
    hlo_literals_free(results, a->participants);
    return status;
}

static bool is_test(const struct new_test *t)
{
    struct golden g;
    struct str text;
    uint32_t line;
    text.ptr = hlo_file_text(t->file, t->part, &text.len, &line);
    golden_read(&g, t->arena, text, line, false);
    return g.test.count > 0;
}

static int new_part(struct new_test *t)
{
    if (is_test(t))
        return HLO_OK;
    SCOPED_MODULE *module = hlo_parse(t->file, t->part, t->a.m);
    t->a.module = module;
    int status = arguments_check(&t->a, module);
    if (status == HLO_OK) {
        status = run_new(t);
        arguments_free(&t->a);
    }
    return status;
}

/* Says what was done with a file. */
static void put_note(const struct new_test *t)
{
    if (t->a.o->given[OPT_QUIET])
        return;
    if (t->edits.count == 0)
        fprintf(stderr,
                "hlo: %s: unchanged: it has tests; --update changes their expected values\n",
                t->path);
    else
        fprintf(stderr, "hlo: %s: added %zu test%s%s\n", t->path, t->edits.count,
                t->edits.count == 1 ? "" : "s",
                t->bundled ? ", with values in .npz files beside it" : "");
}

int golden_new(const struct options *o, const char *path)
{
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_FILE *f = hlo_file_open(path, false, m);
    SCOPED_ARENA arena = arena_make();
    struct new_test t = {.a = {.o = o, .m = m}, .file = f, .path = path, .arena = &arena};
    int status = f ? HLO_OK : HLO_USAGE;
    if (f && hlo_file_is_proto(f))
        status = usage_error(o, "'%s' is not text", path);
    for (; status == HLO_OK && t.part < hlo_file_count(f); t.part++) {
        t.a = (struct arguments){.o = o, .m = m, .path = path};
        status = new_part(&t);
    }
    if (status == HLO_OK && t.edits.count > 0 && !golden_rewrite(path, &t.edits, false, m))
        status = HLO_USAGE;
    if (status == HLO_OK)
        put_note(&t);
    report(o, m);
    return status;
}
