/*
 * Tests of the library when memory runs out: each allocation of each call fails once, alone and
 * with all later ones. The call must report it, leak nothing (checked by sanitizers), and succeed
 * on the same objects when memory is available again.
 */
#include "hlo_advanced.h"

#include "check_quiet.h"
#include "shim_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A loop, a reduction, a sort, a call and Fourier transforms. */
static const char text[] =
    "HloModule oom\n"
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), "
    "direction=LT }\n"
    "body { p = (s32[], f32[8,8]) parameter(0) i = s32[] get-tuple-element(p), index=0 one = s32[] "
    "constant(1)\n"
    "  next = s32[] add(i, one) m = f32[8,8] get-tuple-element(p), index=1\n"
    "  d = f32[8,8] dot(m, m), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  t = f32[8,8] tanh(d) ROOT r = (s32[], f32[8,8]) tuple(next, t) }\n"
    "cond { p = (s32[], f32[8,8]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] "
    "constant(3)\n"
    "  ROOT l = pred[] compare(i, n), direction=LT }\n"
    "ENTRY main { x = f32[8,8] parameter(0) zero = s32[] constant(0)\n"
    "  start = (s32[], f32[8,8]) tuple(zero, x) loop = (s32[], f32[8,8]) while(start), "
    "condition=cond, body=body\n"
    "  m = f32[8,8] get-tuple-element(loop), index=1 init = f32[] constant(0)\n"
    "  waves = c64[8,5] fft(m), fft_type=RFFT, fft_length={8} back = f32[8,8] fft(waves), "
    "fft_type=IRFFT, fft_length={8}\n"
    "  sums = f32[8] reduce(back, init), dimensions={1}, to_apply=sum\n"
    "  sorted = f32[8] sort(sums), dimensions={0}, to_apply=less\n"
    "  ROOT result = (f32[8,8], f32[8]) tuple(m, sorted) }\n";
static const char all[] =
    "HloModule all, replica_count=3\n"
    "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
    "ENTRY main { x = f32[8,8] parameter(0) r = f32[8,8] all-reduce(x), replica_groups={}, "
    "to_apply=sum\n"
    "  ROOT p = f32[8,8] collective-permute(r), source_target_pairs={{0,1},{1,2},{2,0}} }\n";
static const char fed[] =
    "ENTRY main { t = token[] after-all() in = (f32[2], token[]) infeed(t) x = f32[2] "
    "get-tuple-element(in), index=0\n"
    "  y = f32[2] negate(x) ROOT out = token[] outfeed(y, t), outfeed_shape=f32[2] }\n";

/* Operands of the calls, created without failures. */
struct stage {
    hlo_messages *m; /* of one call */
    hlo_file *file, *all_file, *fed_file;
    hlo_module *module, *all, *fed;
    hlo_listing *listing;
    hlo_program *program, *plain, *traced, *together, *feeding, *threads;
    hlo_profile *profile;
    hlo_literal *x, *y, *zero;
    hlo_pairing *pairing;
    hlo_recorded *recorded;
    hlo_targets *targets;
    hlo_arrays *arrays;
    hlo_text messages;        /* text returned by the call, or NULL */
    bool silent;              /* a function without messages failed */
    char path[64], large[64]; /* files */
};

enum { LARGE = 40000 }; /* elements */

static hlo_module *module_of(hlo_file **file, const char *of, hlo_messages *m)
{
    *file = hlo_file_of_text("test", of, strlen(of), false);
    hlo_module *module = hlo_parse(*file, 0, m);
    ck_assert_msg(module && hlo_verify(module, m), "%s", hlo_messages_draw(m, false).data);
    return module;
}

static bool write_x(struct stage *s)
{
    return hlo_write_arrays(s->path, "arg", (const hlo_literal *const *)&s->x, 1, s->m);
}

static void open_stage(struct stage *s)
{
    static const struct hlo_run_options default_options = {.size = sizeof default_options,
                                                           .threads = 1},
                                        plain = {.size = sizeof plain, .plain = true},
                                        traced = {.size = sizeof traced, .traced = true},
                                        shared = {.size = sizeof shared, .threads = 3};
    *s = (struct stage){.m = hlo_messages_new()};
    s->module = module_of(&s->file, text, s->m);
    s->all = module_of(&s->all_file, all, s->m);
    s->fed = module_of(&s->fed_file, fed, s->m);
    s->listing = hlo_list(s->module);
    s->program = hlo_plan(s->module, &default_options, s->m);
    s->plain = hlo_plan(s->module, &plain, s->m);
    s->traced = hlo_plan(s->module, &traced, s->m);
    s->together = hlo_plan(s->all, &default_options, s->m);
    s->feeding = hlo_plan(s->fed, &default_options, s->m);
    s->threads = hlo_plan(s->module, &shared, s->m);
    s->profile = hlo_profile_new(s->plain);
    s->x = hlo_random_param(s->module, 0, 1, s->m);
    s->y = hlo_random_param(s->module, 0, 2, s->m);
    s->zero = hlo_literal_parse("f32[] 0", 7, s->m);
    s->pairing = hlo_pair(s->listing, s->listing);
    s->recorded = hlo_record(s->listing, &default_options, (const hlo_literal *const *)&s->x, 1,
                             &HLO_WITH(hlo_recording, .max = 300), s->m);
    s->targets = hlo_targets_new();
    strcpy(s->path, "/tmp/hlo-oom-XXXXXX.npz");
    close(mkstemps(s->path, 4));
    ck_assert(write_x(s));
    strcpy(s->large, "/tmp/hlo-oom-XXXXXX");
    close(mkstemp(s->large));
    hlo_literal *zeros = hlo_literal_new("f32", 1, (const int64_t[]){LARGE}, s->m);
    ck_assert(zeros && hlo_write_npy(s->large, zeros, s->m));
    hlo_literal_free(zeros);
    s->arrays = hlo_arrays_open(s->path, s->m);
    ck_assert_msg(s->recorded && s->arrays && hlo_messages_errors(s->m) == 0, "%s",
                  hlo_messages_draw(s->m, false).data);
}

static void close_stage(struct stage *s)
{
    unlink(s->path);
    unlink(s->large);
    hlo_arrays_free(s->arrays);
    hlo_targets_free(s->targets);
    hlo_recorded_free(s->recorded);
    hlo_pairing_free(s->pairing);
    hlo_literal_free(s->zero);
    hlo_literal_free(s->x);
    hlo_literal_free(s->y);
    hlo_profile_free(s->profile);
    hlo_program_free(s->threads);
    hlo_program_free(s->feeding);
    hlo_program_free(s->together);
    hlo_program_free(s->traced);
    hlo_program_free(s->plain);
    hlo_program_free(s->program);
    hlo_listing_free(s->listing);
    hlo_module_free(s->fed);
    hlo_module_free(s->all);
    hlo_module_free(s->module);
    hlo_file_free(s->fed_file);
    hlo_file_free(s->all_file);
    hlo_file_free(s->file);
    hlo_messages_free(s->m);
}

/* ---- calls: return true on success ---- */

typedef bool call_fn(struct stage *s);

static bool succeeded(struct stage *s, const void *p)
{
    s->silent |= !p;
    return p != NULL;
}

static bool set_text(struct stage *s, hlo_text t)
{
    hlo_text_free(&s->messages);
    s->messages = t;
    return succeeded(s, t.data);
}

static bool set_literal(struct stage *s, hlo_literal *l)
{
    bool ok = l && set_text(s, hlo_literal_print(l, true));
    hlo_literal_free(l);
    return ok;
}

static bool set_module(struct stage *s, hlo_module *module)
{
    bool ok = module && hlo_verify(module, s->m) && set_text(s, hlo_print(module, HLO_PRINT_FULL));
    hlo_module_free(module);
    return ok;
}

static bool read_module(struct stage *s)
{
    hlo_file *f = hlo_file_of_text("test", text, strlen(text), false);
    bool ok = succeeded(s, f) && set_module(s, hlo_parse(f, 0, s->m));
    hlo_file_free(f);
    return ok;
}

static bool read_wrong(struct stage *s)
{
    static const char wrong[] =
        "ENTRY main { x = f32[2] parameter(0)\n ROOT y = f32[2] add(x, z) }";
    hlo_file *f = hlo_file_of_text("test", wrong, strlen(wrong), false);
    hlo_module *module = f ? hlo_parse(f, 0, s->m) : NULL;
    ck_assert_ptr_null(module);
    hlo_file_free(f);
    const char *id =
        succeeded(s, f) && hlo_messages_count(s->m) == 1 ? hlo_messages_get(s->m, 0).id : "";
    s->silent |= strcmp(id, "out-of-memory") == 0;
    return strcmp(id, "unknown-operand") == 0 && set_text(s, hlo_messages_draw(s->m, true));
}

static bool read_file(struct stage *s)
{
    char path[512];
    snprintf(path, sizeof path, "%s/control/while.hlo", getenv("TESTDATA"));
    hlo_file *f = hlo_file_open(path, false, s->m);
    hlo_module *module = f ? hlo_parse(f, 0, s->m) : NULL;
    hlo_file_free(f);
    return set_module(s, module);
}

static bool print(struct stage *s) { return set_text(s, hlo_print(s->module, HLO_PRINT_SHORT)); }
static bool print_plan(struct stage *s)
{
    return set_text(s, hlo_plan_print(s->plain, HLO_PLAN_JSON));
}
static bool about(struct stage *s) { return set_text(s, hlo_about()); }

static bool list(struct stage *s)
{
    hlo_listing *l = hlo_list(s->module);
    bool ok = succeeded(s, l);
    for (size_t i = 0; ok && i < hlo_list_count(l); i++)
        ok = succeeded(s, hlo_list_inst(l, i).name);
    ok = ok && set_text(s, hlo_list_print(l, hlo_list_count(l) - 1, HLO_PRINT_FULL));
    hlo_listing_free(l);
    return ok;
}

static bool plan(struct stage *s)
{
    hlo_program *p = hlo_plan(s->module, &HLO_WITH(hlo_run_options, .threads = 2), s->m);
    bool ok = p && succeeded(s, hlo_program_memory(p).peak > 0 ? p : NULL);
    hlo_program_free(p);
    return ok;
}

static bool run_it(struct stage *s, hlo_program *p)
{
    const hlo_literal *const args[] = {s->x};
    return set_literal(s, hlo_run(p, args, 1, s->m));
}
static bool run(struct stage *s) { return run_it(s, s->program); }
static bool run_plain(struct stage *s)
{
    return run_it(s, s->plain) && hlo_profile_step(s->profile, 0, &(struct hlo_profile_step){0});
}
static bool run_threads(struct stage *s) { return run_it(s, s->threads); }
static bool run_together(struct stage *s) { return run_it(s, s->together); }

static bool run_first(struct stage *s)
{
    hlo_program *p = hlo_plan(s->module, &HLO_WITH(hlo_run_options, .threads = 1), s->m);
    bool ok = p && run_it(s, p);
    hlo_program_free(p);
    return ok;
}

/* Literals allocated by callbacks during a run belong to the callbacks. */
struct feed {
    hlo_literal *kept;
    hlo_messages *m;
};

static hlo_literal *infeed(void *context, size_t participant, const hlo_feed_call *call,
                           hlo_messages *m)
{
    (void)participant, (void)call, (void)context;
    return hlo_literal_parse("f32[2] {1, 2}", 13, m);
}

static bool outfeed(void *context, size_t participant, const hlo_literal *item,
                    const hlo_feed_call *call, hlo_messages *m)
{
    struct feed *f = context;
    (void)participant, (void)call, (void)m;
    f->kept = hlo_literal_copy(item);
    if (!f->kept)
        hlo_messages_no_memory(m);
    return f->kept != NULL;
}

static bool run_feeds(struct stage *s)
{
    struct feed f = {0};
    const struct hlo_feeds feeds = {sizeof feeds, &f, infeed, outfeed};
    hlo_literal *result = NULL;
    bool ok = hlo_run_all(s->feeding, NULL, 0, &feeds, &result, s->m);
    ck_assert(ok == (result != NULL));
    hlo_literal_free(result);
    if (ok)
        return set_literal(s, f.kept);
    hlo_literal_free(f.kept);
    return false;
}

struct observed_values {
    hlo_literal *kept[64];
    size_t count;
    hlo_messages *m;
};

static bool on_event(void *context, const struct hlo_event *event)
{
    struct observed_values *w = context;
    const hlo_literal *l = hlo_event_value(event);
    if (l && w->count < 64 && (w->kept[w->count] = hlo_literal_copy(l)) != NULL) {
        w->count++;
        return true;
    }
    hlo_messages_no_memory(w->m);
    return false;
}

static bool run_with_trace(struct stage *s)
{
    struct observed_values w = {.m = s->m};
    const struct hlo_trace_callbacks o = {sizeof o, &w, NULL, on_event};
    hlo_trace(s->traced, &o);
    bool ok = run_it(s, s->traced);
    hlo_trace(s->traced, NULL);
    for (size_t k = 0; k < w.count; k++)
        hlo_literal_free(w.kept[k]);
    return ok && w.count > 20;
}

static bool parse_literal(struct stage *s)
{
    return set_literal(s, hlo_literal_parse("(f32[2] {1, 2}, s4[3] {1, 2, 3})", 32, s->m));
}
static bool slice(struct stage *s)
{
    return set_literal(s, hlo_literal_slice(s->x, "[1:3,::2]", s->m));
}
static bool copy(struct stage *s)
{
    hlo_literal *l = hlo_literal_copy(s->x);
    return succeeded(s, l) && set_literal(s, l);
}
static bool show(struct stage *s) { return set_text(s, hlo_literal_show(s->x, NULL)); }
static bool show_json(struct stage *s) { return set_text(s, hlo_literal_json(s->x, NULL)); }
static bool plot(struct stage *s)
{
    return set_text(s, hlo_literal_plot(s->x, HLO_PLOT_AUTO, NULL));
}

static bool tuple(struct stage *s)
{
    hlo_literal *parts[] = {hlo_literal_copy(s->x), hlo_literal_copy(s->y)}, *t = NULL;
    if (parts[0] && parts[1])
        t = hlo_literal_tuple(parts, 2);
    if (!t) {
        hlo_literal_free(parts[0]);
        hlo_literal_free(parts[1]);
    }
    return succeeded(s, t) && set_literal(s, t);
}

static bool compare(struct stage *s)
{
    const struct hlo_tolerance exactly = HLO_TOLERANCE_INIT;
    struct hlo_difference d = hlo_literal_difference(s->x, s->y, &exactly);
    return set_text(s, hlo_difference_print(&d, s->x, s->y, NULL)) &&
           set_text(s, hlo_difference_table(&d, s->x, s->y, NULL));
}

static bool arrays(struct stage *s)
{
    return set_literal(s, hlo_arrays_param(s->arrays, "arg", s->module, 0, 0, s->m));
}

/* Large enough to be mapped. */
static bool map_array(struct stage *s)
{
    hlo_arrays *in = hlo_arrays_open(s->large, s->m);
    hlo_literal *l = in ? hlo_arrays_get(in, "", NULL, s->m) : NULL;
    hlo_arrays_free(in);
    bool ok = l && succeeded(s, hlo_literal_leaf(l, 0).data) &&
              ((const float *)hlo_literal_leaf(l, 0).data)[LARGE - 1] == 0;
    hlo_literal_free(l);
    return ok;
}

static bool write_arrays(struct stage *s)
{
    hlo_arrays *a = write_x(s) ? hlo_arrays_open(s->path, s->m) : NULL;
    hlo_literal *l = a ? hlo_arrays_param(a, "arg", s->module, 0, 0, s->m) : NULL;
    hlo_arrays_free(a);
    return set_literal(s, l);
}

static bool write_bit_by_bit(struct stage *s)
{
    hlo_output *o = hlo_output_open(s->path, s->m);
    if (!o)
        return false;
    bool ok = hlo_output_put(o, "one ", 4, s->m) && hlo_output_put(o, "two", 3, s->m);
    return hlo_output_close(o, ok, s->m) && ok;
}

static bool fake(struct stage *s)
{
    return set_literal(s, hlo_fake_param(s->module, 0, HLO_FAKE_EDGE, 1, s->m));
}
static bool argument(struct stage *s)
{
#define ROW "[1, 2, 3, 4, 5, 6, 7, 0.5]"
#define TWO_ROWS ROW ", " ROW
    return set_literal(
        s, hlo_read_argument(s->module, 0, 0,
                             "[" TWO_ROWS ", " TWO_ROWS ", " TWO_ROWS ", " TWO_ROWS "]", s->m));
}

static bool why(struct stage *s)
{
    struct hlo_element e;
    const struct hlo_why_view view = {.size = sizeof view, .levels = 3};
    return hlo_recorded_find(s->recorded, "sums[1]", &e, s->m) &&
           set_text(s, hlo_recorded_why(s->recorded, &e, &view));
}

static bool record(struct stage *s)
{
    struct hlo_element e;
    hlo_recorded *r =
        hlo_record(s->listing, NULL, (const hlo_literal *const *)&s->x, 1, NULL, s->m);
    bool ok = r && hlo_recorded_find(r, "body/t@1[2,3]", &e, s->m) &&
              set_text(s, hlo_recorded_why(r, &e, NULL));
    hlo_recorded_free(r);
    return ok;
}

static bool diverge(struct stage *s)
{
    const struct hlo_run_options options = {.size = sizeof options, .traced = true},
                                 plain = {.size = sizeof plain, .traced = true, .plain = true};
    const hlo_literal *const args[] = {s->x};
    struct hlo_comparison c = {.size = sizeof c,
                               .pairing = s->pairing,
                               .args = args,
                               .count = 1,
                               .tolerance = &HLO_WITH(hlo_tolerance, .abs = 1, .rel = 1)};
    struct hlo_divergence d;
    c.a = hlo_plan(s->module, &options, s->m);
    c.b = hlo_plan(s->module, &plain, s->m);
    bool ok = c.a && c.b && hlo_diverge(&c, &d, s->m);
    if (ok) {
        ok = d.results_agree;
        hlo_divergence_free(&d);
    }
    hlo_program_free(c.a);
    hlo_program_free(c.b);
    return ok;
}

static bool extract(struct stage *s)
{
    const struct hlo_extract what = {
        .size = sizeof what, .inst = (size_t)hlo_list_find(s->listing, "sums"), .height = 1};
    const hlo_literal *const args[] = {s->x};
    return set_module(s, hlo_extract(s->listing, &what, NULL, args, 1, s->m));
}

static bool edit(struct stage *s)
{
    hlo_edit *e = hlo_edit_new(s->listing);
    bool ok = succeeded(s, e) &&
              hlo_edit_constant(e, (size_t)hlo_list_find(s->listing, "m"), s->x, s->m) &&
              hlo_edit_parameter(e, (size_t)hlo_list_find(s->listing, "sums"), s->m);
    if (ok)
        return set_module(s, hlo_edit_finish(e, s->m));
    hlo_edit_free(e);
    return false;
}

static bool is_bad(void *context, const hlo_module *candidate)
{
    hlo_text t = hlo_print(candidate, HLO_PRINT_SHORT);
    bool bad = t.data && strstr(t.data, "sort(");
    *(bool *)context |= t.data == NULL;
    hlo_text_free(&t);
    return bad;
}

static bool shrink(struct stage *s)
{
    bool ran_out_of_memory = false;
    const struct hlo_shrink how = {
        .size = sizeof how, .context = &ran_out_of_memory, .bad = is_bad};
    hlo_module *small = hlo_shrink(s->module, &how);
    s->silent |= ran_out_of_memory;
    return succeeded(s, small) && set_module(s, small) && !ran_out_of_memory;
}

static bool build(struct stage *s)
{
    hlo_builder *b = hlo_builder_new("built", s->m);
    if (!b)
        return false;
    hlo_computation *sum = hlo_computation_new(b, "sum"),
                    *c = sum ? hlo_computation_new(b, "main") : NULL;
    if (!c) {
        hlo_builder_free(b);
        return false;
    }
    hlo_inst *p = hlo_parameter(sum, 0, "f32[]", "p"), *q = hlo_parameter(sum, 1, "f32[]", NULL);
    hlo_build(sum, "add", (hlo_inst *[]){p, q}, 2, NULL);
    hlo_computation_finish(sum, NULL);
    hlo_inst *x = hlo_parameter(c, 0, "f32[8,8]", "x"), *k = hlo_constant(c, s->y),
             *zero = hlo_constant(c, s->zero);
    hlo_inst *v = hlo_parameter(c, 1, "f32[8]", NULL);
    hlo_inst *wide = hlo_build(c, "multiply", (hlo_inst *[]){x, k}, 2, NULL);
    wide = hlo_build(c, "broadcast", &wide, 1, "sizes={2}");
    hlo_inst *reduced =
        hlo_build(c, "reduce", (hlo_inst *[]){wide, zero}, 2, "dimensions={0,1,2}, to_apply=sum");
    hlo_inst *normal = hlo_build(c, "batch-norm-inference", (hlo_inst *[]){x, v, v, v, v}, 5,
                                 "epsilon=0.001, feature_index=1");
    hlo_tuple(c, (hlo_inst *[]){reduced, normal}, 2);
    if (!hlo_computation_finish(c, NULL)) {
        hlo_builder_free(b);
        return false;
    }
    return set_module(s, hlo_builder_finish(b, c));
}

/* ---- formats of XLA ---- */

/* Writes a module and reads it back. */
static bool rewrite(struct stage *s, const hlo_module *from, enum hlo_format format, bool gzip)
{
    hlo_file *f = hlo_write_module(s->large, from, format, gzip, s->m)
                      ? hlo_file_open(s->large, false, s->m)
                      : NULL;
    hlo_module *module = f ? hlo_parse(f, 0, s->m) : NULL;
    bool ok = module && set_text(s, hlo_print(module, HLO_PRINT_FULL));
    hlo_module_free(module);
    hlo_file_free(f);
    return ok;
}
static bool write_text(struct stage *s) { return rewrite(s, s->module, HLO_FORMAT_TEXT, true); }

static bool rewrite_literal(struct stage *s, enum hlo_format format)
{
    char argument[sizeof s->large + 1];
    snprintf(argument, sizeof argument, "@%s", s->large);
    return hlo_write_literal(s->large, s->x, format, false, s->m) &&
           set_literal(s, hlo_read_argument(s->module, 0, 0, argument, s->m));
}
static bool literal_text(struct stage *s) { return rewrite_literal(s, HLO_FORMAT_TEXT); }

#ifdef HAS_PROTO
static bool write_proto(struct stage *s) { return rewrite(s, s->module, HLO_FORMAT_PROTO, false); }
static bool write_pbtxt(struct stage *s)
{
    return rewrite(s, s->module, HLO_FORMAT_PROTO_TEXT, false);
}
static bool literal_proto(struct stage *s) { return rewrite_literal(s, HLO_FORMAT_PROTO); }
static bool literal_pbtxt(struct stage *s) { return rewrite_literal(s, HLO_FORMAT_PROTO_TEXT); }

static hlo_module *open_proto(struct stage *s, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/proto/%s", getenv("TESTDATA"), name);
    hlo_file *f = hlo_file_open(path, false, s->m);
    hlo_module *module = f ? hlo_parse(f, 0, s->m) : NULL;
    hlo_file_free(f);
    return module;
}

/* Many attributes. */
static bool attributes(struct stage *s)
{
    hlo_module *module = open_proto(s, "attributes.pbtxt");
    bool ok = module && rewrite(s, module, HLO_FORMAT_PROTO, true);
    hlo_module_free(module);
    return ok;
}

static bool snapshot(struct stage *s)
{
    hlo_module *module = open_proto(s, "run.pbtxt");
    hlo_literal *parts[] = {module ? hlo_stored_argument(module, module, 0, 0, s->m) : NULL,
                            module ? hlo_stored_result(module, 0, s->m) : NULL};
    hlo_literal *both = parts[0] && parts[1] ? hlo_literal_tuple(parts, 2) : NULL;
    s->silent |= parts[0] && parts[1] && !both;
    for (int k = 0; k < 2 && !both; k++)
        hlo_literal_free(parts[k]);
    hlo_module_free(module);
    return set_literal(s, both);
}
#endif

#ifdef HAS_ONNX
static bool onnx(struct stage *s)
{
    char path[512];
    hlo_onnx *model = NULL;
    snprintf(path, sizeof path, "%s/onnx/example.onnx", getenv("TESTDATA"));
    bool ok = hlo_onnx_open(path, &model, s->m) == HLO_OK &&
              set_module(s, hlo_onnx_import(model, NULL, 10, s->m));
    hlo_onnx_free(model);
    return ok;
}
#endif

static bool targets(struct stage *s)
{
    hlo_targets *t = hlo_targets_new();
    bool ok = succeeded(s, t) && hlo_targets_add_rule(t, "a=cat", s->m);
    hlo_targets_free(t);
    return ok;
}

static bool op_text(struct stage *s) { return set_text(s, hlo_op_example_text(3, 0, "f32", NULL)); }

static bool pieces(struct stage *s)
{
    hlo_messages_add(s->m, "here", "something");
    return set_text(s, hlo_messages_json(s->m)) &&
           strcmp(hlo_messages_get(s->m, 0).text, "something") == 0;
}

/* ---- failures ---- */

static bool reports_out_of_memory(const hlo_messages *m)
{
    for (size_t k = 0; k < hlo_messages_count(m); k++)
        if (strstr(hlo_messages_get(m, k).text, "memory"))
            return true;
    return false;
}

static bool do_call(struct stage *s, call_fn *call)
{
    hlo_messages_free(s->m);
    s->m = hlo_messages_new();
    s->messages = (hlo_text){0};
    return call(s);
}

static const struct trial {
    const char *name;
    call_fn *call;
} trials[] = {
    {"about", about},
    {"argument", argument},
    {"arrays", arrays},
    {"build", build},
    {"compare", compare},
    {"copy", copy},
    {"diverge", diverge},
    {"edit", edit},
    {"extract", extract},
    {"fake", fake},
    {"list", list},
    {"literal_text", literal_text},
    {"map_array", map_array},
    {"op_text", op_text},
    {"parse_literal", parse_literal},
    {"pieces", pieces},
    {"plan", plan},
    {"plot", plot},
    {"print", print},
    {"print_plan", print_plan},
    {"read_file", read_file},
    {"read_module", read_module},
    {"read_wrong", read_wrong},
    {"record", record},
    {"run", run},
    {"run_feeds", run_feeds},
    {"run_first", run_first},
    {"run_observed", run_with_trace},
    {"run_plain", run_plain},
    {"run_threads", run_threads},
    {"run_together", run_together},
    {"show", show},
    {"show_json", show_json},
    {"shrink", shrink},
    {"slice", slice},
    {"targets", targets},
    {"tuple", tuple},
    {"why", why},
    {"write_arrays", write_arrays},
    {"write_bit_by_bit", write_bit_by_bit},
    {"write_text", write_text},
#ifdef HAS_PROTO
    {"attributes", attributes},
    {"literal_pbtxt", literal_pbtxt},
    {"literal_proto", literal_proto},
    {"snapshot", snapshot},
    {"write_pbtxt", write_pbtxt},
    {"write_proto", write_proto},
#endif
#ifdef HAS_ONNX
    {"onnx", onnx},
#endif
};

/* Lets allocations fail one after the other, each alone or, with `on`, with all later ones. At most
 * MAX_TRIALS are selected, unless OOM_ALL is set. Returns the number of allocations. */
static unsigned long run_without_memory(struct stage *s, const struct trial *t, bool on)
{
    enum { MAX_TRIALS = 100 };
    shim_alloc_fail(0, false);
    ck_assert_msg(do_call(s, t->call), "%s: %s", t->name, hlo_messages_draw(s->m, false).data);
    const unsigned long count = shim_alloc_count(),
                        step = getenv("OOM_ALL") ? 1 : count / MAX_TRIALS + 1;
    hlo_text expected = s->messages;
    for (unsigned long at = 1, failed = 1; failed > 0; at += step) {
        hlo_messages *m = hlo_messages_new();
        hlo_messages_free(s->m);
        s->m = m;
        s->messages = (hlo_text){0};
        s->silent = false;
        shim_alloc_fail(at, on);
        bool ok = t->call(s);
        failed = shim_alloc_failed();
        shim_alloc_fail(0, false);
        if (ok) /* the allocation was optional, or there were fewer */
            ck_assert_msg(expected.size == s->messages.size &&
                              (expected.size == 0 ||
                               memcmp(expected.data, s->messages.data, expected.size) == 0),
                          "%s, allocation %lu: result is %s", t->name, at, s->messages.data);
        else
            ck_assert_msg(s->silent || reports_out_of_memory(s->m),
                          "%s, allocation %lu: wrong error: %s", t->name, at,
                          hlo_messages_draw(s->m, false).data);
        hlo_text_free(&s->messages);
        ck_assert_msg(do_call(s, t->call), "%s, after allocation %lu: %s", t->name, at,
                      hlo_messages_draw(s->m, false).data);
        ck_assert_msg(
            expected.size == s->messages.size &&
                (expected.size == 0 || memcmp(expected.data, s->messages.data, expected.size) == 0),
            "%s, after allocation %lu: result is %s", t->name, at, s->messages.data);
        hlo_text_free(&s->messages);
    }
    hlo_text_free(&expected);
    return count;
}

START_TEST(every_allocation_fails)
{
    struct stage s;
    const struct trial *t = &trials[_i];
    open_stage(&s);
    unsigned long one = run_without_memory(&s, t, false), on = run_without_memory(&s, t, true);
    ck_assert_msg(one > 0 && on > 0, "%s allocates no memory", t->name);
    if (getenv("OOM_COUNTS"))
        fprintf(stderr, "%s: %lu allocations\n", t->name, one);
    close_stage(&s);
}
END_TEST

/* test_oom [NAME] */
int main(int argc, char **argv)
{
    Suite *s = suite_create("oom");
    TCase *tc = tcase_create("embedder");
    int from = 0, to = (int)(sizeof trials / sizeof *trials);
    for (int k = 0; k < to && argc > 1; k++)
        if (strcmp(trials[k].name, argv[1]) == 0)
            from = k, to = k + 1;
    suite_add_tcase(s, tc);
    tcase_add_loop_test(tc, every_allocation_fails, from, to);
    return check_run(s);
}
