/*
 * Tests of traced runs: events and their order, values replaced by callbacks, runs ended by
 * callbacks or interrupted.
 */
#include "check_quiet.h"
#include "hlo_advanced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a module and the events of its runs ---- */

struct stage {
    hlo_messages *m;
    hlo_file *file;
    hlo_module *module;
    hlo_listing *listing;
    hlo_program *program;
    struct hlo_trace_callbacks trace_callbacks;
    char seen[4096]; /* a line for each executed instruction */
    const char *at;  /* instruction at which `act` is called; NULL: all */
    bool (*act)(struct stage *s, const struct hlo_event *event);
    size_t befores;
    long long trips, trip_count; /* iterations seen, and hlo_run_trip_count */
    hlo_literal *result;
    hlo_messages *messages; /* messages of callbacks */
};

static void add_line(struct stage *s, const char *name, const struct hlo_event *event)
{
    size_t n = strlen(s->seen);
    hlo_text value = hlo_literal_print(hlo_event_value(event), false);
    for (size_t k = 0; k < event->depth; k++)
        n += (size_t)snprintf(s->seen + n, sizeof s->seen - n, "%s#%d/",
                              hlo_list_inst(s->listing, event->within[k].inst).name,
                              (int)event->within[k].iteration);
    snprintf(s->seen + n, sizeof s->seen - n, "%s %s\n", name, value.data);
    hlo_text_free(&value);
}

static bool before(void *context, const struct hlo_event *event)
{
    struct stage *s = context;
    const char *name = hlo_list_inst(s->listing, event->inst).name;
    ck_assert_uint_eq(event->number, s->befores);
    s->befores++;
    ck_assert(hlo_event_value(event) == NULL);
    ck_assert(event->seconds == 0);
    return !s->act || !s->at || strcmp(s->at, name) != 0 || s->act(s, event);
}

static bool after(void *context, const struct hlo_event *event)
{
    struct stage *s = context;
    add_line(s, hlo_list_inst(s->listing, event->inst).name, event);
    return s->act == NULL || s->at != NULL || s->act(s, event);
}

static bool skipped(void *context, const struct hlo_event *event)
{
    struct stage *s = context;
    const size_t n = strlen(s->seen);
    const hlo_literal *value = hlo_event_value(event);
    ck_assert(hlo_literal_leaves(value) == 0 || hlo_literal_count(value) > 0);
    snprintf(s->seen + n, sizeof s->seen - n, "%s -\n",
             hlo_list_inst(s->listing, event->inst).name);
    return true;
}

static void open_stage(struct stage *s, const char *text, const struct hlo_run_options *options)
{
    *s = (struct stage){.m = hlo_messages_new(), .messages = hlo_messages_new()};
    s->file = hlo_file_of_text("m", text, strlen(text), false);
    s->module = hlo_parse(s->file, 0, s->m);
    ck_assert(s->module && hlo_verify(s->module, s->m));
    s->listing = hlo_list(s->module);
    s->program = hlo_plan(s->module, options, s->m);
    ck_assert_ptr_nonnull(s->program);
    s->trace_callbacks =
        (struct hlo_trace_callbacks){sizeof(struct hlo_trace_callbacks), s, before, after, skipped};
    hlo_trace(s->program, &s->trace_callbacks);
}

static void close_stage(struct stage *s)
{
    hlo_literal_free(s->result);
    hlo_program_free(s->program);
    hlo_listing_free(s->listing);
    hlo_module_free(s->module);
    hlo_file_free(s->file);
    hlo_messages_free(s->m);
    hlo_messages_free(s->messages);
}

static void run_stage(struct stage *s)
{
    s->seen[0] = '\0';
    s->befores = 0;
    hlo_literal_free(s->result);
    s->result = hlo_run(s->program, NULL, 0, s->m);
}

static void check_result(const struct stage *s, const char *expected)
{
    ck_assert_ptr_nonnull(s->result);
    hlo_text got = hlo_literal_print(s->result, false);
    ck_assert_str_eq(got.data, expected);
    hlo_text_free(&got);
}

static const struct hlo_run_options traced = {.size = sizeof traced, .traced = true, .threads = 1};

/* ---- events ---- */

static const char *const simple = "HloModule m\n"
                                  "ENTRY e {\n"
                                  "  x = f32[2] constant({1, 2})\n"
                                  "  dead = f32[2] negate(x)\n"
                                  "  y = f32[2] add(x, x)\n"
                                  "  t = (f32[2], f32[2]) tuple(x, y)\n"
                                  "  z = f32[2] get-tuple-element(t), index=1\n"
                                  "  ROOT r = f32[2] multiply(z, y)\n"
                                  "}\n";

START_TEST(every_instruction)
{
    struct stage s;
    open_stage(&s, simple, &traced);
    for (int k = 0; k < 2; k++) { /* runs are reproducible */
        run_stage(&s);
        check_result(&s, "{4, 16}");
        ck_assert_str_eq(
            s.seen,
            "x {1, 2}\ndead {-1, -2}\ny {2, 4}\nt ( {1, 2}, {2, 4} )\nz {2, 4}\nr {4, 16}\n");
    }
    hlo_trace(s.program, NULL);
    run_stage(&s);
    check_result(&s, "{4, 16}");
    ck_assert_str_eq(s.seen, "");
    close_stage(&s);
}
END_TEST

static bool check_operands(struct stage *s, const struct hlo_event *event)
{
    struct hlo_listed i = hlo_list_inst(s->listing, event->inst);
    ck_assert_ptr_null(hlo_event_operand(event, i.operand_count));
    for (size_t k = 0; k < i.operand_count; k++) {
        const hlo_literal *l = hlo_event_operand(event, k);
        hlo_text shape = hlo_literal_shape(l);
        ck_assert_ptr_nonnull(l);
        ck_assert_ptr_eq(l, hlo_event_operand(event, k));
        ck_assert_msg(strncmp(shape.data, i.operands[k] == 3 ? "(f32[2], f32[2])" : "f32[2]",
                              shape.size) == 0,
                      "%s", shape.data);
        hlo_text_free(&shape);
    }
    return true;
}

START_TEST(operands_are_available)
{
    struct stage s;
    open_stage(&s, simple, &traced);
    s.act = check_operands;
    run_stage(&s);
    check_result(&s, "{4, 16}");
    close_stage(&s);
}
END_TEST

static const char *const loop = "HloModule m\n"
                                "c {\n"
                                "  p = (s32[], f32[]) parameter(0)\n"
                                "  i = s32[] get-tuple-element(p), index=0\n"
                                "  n = s32[] constant(2)\n"
                                "  ROOT t = pred[] compare(i, n), direction=LT\n"
                                "}\n"
                                "b {\n"
                                "  q = (s32[], f32[]) parameter(0)\n"
                                "  j = s32[] get-tuple-element(q), index=0\n"
                                "  one = s32[] constant(1)\n"
                                "  k = s32[] add(j, one)\n"
                                "  x = f32[] get-tuple-element(q), index=1\n"
                                "  y = f32[] add(x, x)\n"
                                "  ROOT r = (s32[], f32[]) tuple(k, y)\n"
                                "}\n"
                                "ENTRY e {\n"
                                "  zero = s32[] constant(0)\n"
                                "  f = f32[] constant(1)\n"
                                "  s = (s32[], f32[]) tuple(zero, f)\n"
                                "  ROOT w = (s32[], f32[]) while(s), condition=c, body=b\n"
                                "}\n";

START_TEST(iterations)
{
    struct stage s;
    open_stage(&s, loop, &traced);
    run_stage(&s);
    check_result(&s, "( 2, 4 )");
    static const char *const lines[] = {"zero 0\n",         "w#-1/i 0\n",     "w#0/k 1\n",
                                        "w#0/y 2\n",        "w#-1/i 1\n",     "w#1/y 4\n",
                                        "w#1/r ( 2, 4 )\n", "w#-1/t false\n", "\nw ( 2, 4 )\n"};
    const char *at = s.seen;
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        const char *found = strstr(at, lines[k]);
        ck_assert_msg(found, "no '%s' in '%s'", lines[k], at);
        at = found + 1;
    }
    close_stage(&s);
}
END_TEST

/* ---- callbacks with effects ---- */

static bool set_to(struct stage *s, const struct hlo_event *event, const char *text, bool fits)
{
    hlo_literal *l = hlo_literal_parse(text, strlen(text), s->m);
    ck_assert_ptr_nonnull(l);
    ck_assert_int_eq(hlo_event_set(event, l, s->m), fits);
    hlo_literal_free(l);
    return true;
}

static bool set_y(struct stage *s, const struct hlo_event *event)
{
    return set_to(s, event, "f32[2] {5, 6}", true);
}

static bool set_pair(struct stage *s, const struct hlo_event *event)
{
    return set_to(s, event, "(f32[2] {0, 0}, f32[2] {7, 8})", true);
}

static bool set_wrong(struct stage *s, const struct hlo_event *event)
{
    return set_to(s, event, "f32[3] {5, 6, 7}", false);
}

static bool set_after(struct stage *s, const struct hlo_event *event)
{
    if (strcmp(hlo_list_inst(s->listing, event->inst).name, "y") != 0)
        return true;
    const hlo_literal *old = hlo_event_value(event);
    set_to(s, event, "f32[2] {9, 1}", true);
    ck_assert_ptr_ne(old, hlo_event_value(event));
    add_line(s, "now", event);
    return true;
}

START_TEST(replaced_values)
{
    static const struct {
        const char *at;
        bool (*act)(struct stage *s, const struct hlo_event *event);
        const char *result, *seen;
        size_t errors;
    } cases[] = {
        {"y", set_y, "{25, 36}", "y {5, 6}\nt ( {1, 2}, {5, 6} )\nz {5, 6}\nr {25, 36}\n", 0},
        {"x", set_y, "{100, 144}", "x {5, 6}\ndead {-5, -6}\ny {10, 12}\n", 0}, /* a constant */
        {"t", set_pair, "{14, 32}", "y {2, 4}\nt ( {0, 0}, {7, 8} )\nz {7, 8}\n",
         0}, /* but not its alias */
        {"y", set_wrong, "{4, 16}", "y {2, 4}\n", 1},
        {NULL, set_after, "{81, 1}", "y {2, 4}\nnow {9, 1}\nt ( {1, 2}, {9, 1} )\n", 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct stage s;
        open_stage(&s, simple, &traced);
        s.at = cases[k].at;
        s.act = cases[k].act;
        run_stage(&s);
        check_result(&s, cases[k].result);
        ck_assert_msg(strstr(s.seen, cases[k].seen), "no '%s' in '%s'", cases[k].seen, s.seen);
        ck_assert_uint_eq(hlo_messages_errors(s.m), cases[k].errors);
        s.act = NULL; /* the program is unchanged */
        run_stage(&s);
        check_result(&s, "{4, 16}");
        close_stage(&s);
    }
}
END_TEST

/* u and w cannot be executed, s cannot even be planned; neither they nor their users are used. */
static const char *const unused = "HloModule m\n"
                                  "ENTRY e {\n"
                                  "  x = f32[2] constant({1, 2})\n"
                                  "  u = f32[2] custom-call(x), custom_call_target=\"unknown\"\n"
                                  "  d = f32[2] add(u, x)\n"
                                  "  w = f32[2,3] custom-call(x), custom_call_target=\"Qr\"\n"
                                  "  s = f32[2] shift-left(x, x)\n"
                                  "  n = f32[2] negate(s)\n"
                                  "  t = (f32[2], f32[2]) tuple(x, d)\n"
                                  "  g = f32[2] get-tuple-element(t), index=1\n"
                                  "  ROOT r = f32[2] get-tuple-element(t), index=0\n"
                                  "}\n";

START_TEST(unused_instructions)
{
    struct stage s;
    for (int set = 0; set < 2; set++) {
        open_stage(&s, unused, &traced);
        s.at = set ? "u" : "";
        s.act = set_y;
        run_stage(&s);
        check_result(&s, "{1, 2}");
        ck_assert_str_eq(s.seen,
                         set ? "x {1, 2}\nw -\nu {5, 6}\nd {6, 8}\nt ( {1, 2}, {6, 8} )\n"
                               "g {6, 8}\nr {1, 2}\n"
                             : "x {1, 2}\nw -\nu -\nd -\nt ( {1, 2}, (  ) )\ng -\nr {1, 2}\n");
        ck_assert_uint_eq(hlo_messages_count(s.m), 0);
        close_stage(&s);
    }
}
END_TEST

/* In an infinite loop, the value that ends it after 12 iterations. */
static bool set_end(struct stage *s, const struct hlo_event *event)
{
    const bool end = event->within[event->depth - 1].iteration == 12;
    return set_to(s, event, end ? "s32[] 5" : "s32[] 1", true);
}

START_TEST(replaced_value_ends_a_loop)
{
    static const char text[] = "HloModule m\n"
                               "c { p = s32[] parameter(0)\n"
                               "  five = s32[] constant(5)\n"
                               "  ROOT go = pred[] compare(p, five), direction=NE }\n"
                               "b { p = s32[] parameter(0)\n"
                               "  one = s32[] constant(1)\n"
                               "  ROOT y = s32[] multiply(p, one) }\n"
                               "ENTRY e { i = s32[] constant(1)\n"
                               "  ROOT w = s32[] while(i), condition=c, body=b }\n";
    struct stage s;
    open_stage(&s, text, &traced);
    s.at = "y";
    s.act = set_end;
    run_stage(&s);
    check_result(&s, "5");
    s.act = NULL;
    run_stage(&s);
    ck_assert_ptr_null(s.result);
    close_stage(&s);
}
END_TEST

static const char *const taken_apart = "HloModule m\n"
                                       "ENTRY e {\n"
                                       "  x = f32[2] constant({1, 2})\n"
                                       "  y = f32[2] add(x, x)\n"
                                       "  n = f32[2] negate(y)\n"
                                       "  k = token[] after-all()\n"
                                       "  u = (f32[2], token[]) tuple(n, k)\n"
                                       "  t = (f32[2], (f32[2], token[]), f32[2]) tuple(y, u, x)\n"
                                       "  a = f32[2] get-tuple-element(t), index=0\n"
                                       "  s = f32[2] abs(a)\n"
                                       "  b = (f32[2], token[]) get-tuple-element(t), index=1\n"
                                       "  c = f32[2] get-tuple-element(b), index=0\n"
                                       "  v = f32[2] add(s, c)\n"
                                       "  d = f32[2] get-tuple-element(t), index=2\n"
                                       "  w = f32[2] add(v, d)\n"
                                       "  ROOT r = f32[2] multiply(w, w)\n"
                                       "}\n";

/* A get-tuple-element has the whole tuple as its operand, even the last one; replacing an element
 * does not affect the tuple. */
static bool set_element(struct stage *s, const struct hlo_event *event)
{
    struct hlo_listed i = hlo_list_inst(s->listing, event->inst);
    if (strcmp(i.op, "get-tuple-element") != 0)
        return true;
    hlo_text tuple = hlo_literal_print(hlo_event_operand(event, 0), false);
    ck_assert_str_eq(tuple.data, strcmp(i.name, "c") == 0
                                     ? "( {-2, -4}, (  ) )"
                                     : "( {2, 4}, ( {-2, -4}, (  ) ), {1, 2} )");
    hlo_text_free(&tuple);
    return strcmp(i.name, "a") != 0 || set_y(s, event);
}

START_TEST(tuple_operands_are_complete)
{
    struct stage s;
    open_stage(&s, taken_apart, &traced);
    s.act = set_element;
    for (int k = 0; k < 2; k++) {
        run_stage(&s);
        check_result(&s, "{16, 16}");
        ck_assert_msg(
            strstr(s.seen, "s {5, 6}\nb ( {-2, -4}, (  ) )\nc {-2, -4}\nv {3, 2}\nd {1, 2}\n"),
            "%s", s.seen);
    }
    close_stage(&s);
}
END_TEST

static bool refuse(struct stage *s, const struct hlo_event *event) { return false; }

START_TEST(callback_ends_the_run)
{
    struct stage s;
    open_stage(&s, loop, &traced);
    s.at = "y";
    s.act = refuse;
    run_stage(&s);
    ck_assert_ptr_null(s.result);
    ck_assert_uint_eq(hlo_messages_errors(s.m), 0);
    ck_assert_ptr_nonnull(strstr(s.seen, "w#0/x 1\n"));
    ck_assert_ptr_null(strstr(s.seen, "/y"));
    s.act = NULL;
    run_stage(&s);
    check_result(&s, "( 2, 4 )");
    close_stage(&s);
}
END_TEST

static hlo_literal *kept;

static bool keep(struct stage *s, const struct hlo_event *event)
{
    if (strcmp(hlo_list_inst(s->listing, event->inst).name, "t") == 0)
        kept = hlo_literal_copy(hlo_event_value(event));
    return true;
}

START_TEST(copies_outlive_the_run)
{
    struct stage s;
    open_stage(&s, simple, &traced);
    s.act = keep;
    run_stage(&s);
    close_stage(&s);
    hlo_text text = hlo_literal_print(kept, true);
    ck_assert_str_eq(text.data, "( f32[2]{0} {1, 2}, f32[2]{0} {2, 4} )");
    hlo_text_free(&text);
    hlo_literal_free(kept);
}
END_TEST

/* ---- origins of NaN and other exceptional values ---- */

static bool note_origins(struct stage *s, const struct hlo_event *event)
{
    struct hlo_origin o;
    for (unsigned what = HLO_ODD_NAN; what <= HLO_ODD_DENORMAL; what <<= 1)
        if (hlo_event_origin(event, what, &o)) {
            ck_assert_uint_eq(o.what, what);
            snprintf(s->seen + strlen(s->seen), sizeof s->seen - strlen(s->seen),
                     "!%u %d of leaf %d, %d\n", what, (int)o.index, (int)o.leaf, (int)o.count);
            hlo_event_report(event, &o, what == HLO_ODD_NAN, s->messages);
        }
    return true;
}

static const struct {
    const char *text, *seen; /* a module of one line, and the expected origins */
} origins[] = {
    {"x = f32[3] constant({-1, 0, 4})\n ROOT r = f32[3] log(x)",
     "!1 0 of leaf 0, 1\n!2 1 of leaf 0, 1\n"}, /* a pole, no overflow */
    {"x = f32[3] constant({-1, 100, 4})\n ROOT r = f32[3] exponential(x)",
     "!2 1 of leaf 0, 1\n!4 1 of leaf 0, 1\n"},
    {"x = f32[2] constant({inf, 4})\n ROOT r = f32[2] exponential(x)",
     ""}, /* present in the operands */
    {"x = f32[2] constant({inf, 100})\n ROOT r = f32[2] exponential(x)",
     "!2 1 of leaf 0, 2\n!4 1 of leaf 0, 2\n"},
    {"x = f16[2] constant({6e-5, 1})\n ROOT r = f16[2] multiply(x, x)", ""}, /* to zero */
    {"x = f16[2] constant({0.007, 1})\n ROOT r = f16[2] multiply(x, x)", "!8 0 of leaf 0, 1\n"},
    {"x = f32[2] constant({1, 1e9})\n ROOT r = f8e5m2[2] convert(x)",
     "!2 1 of leaf 0, 1\n!4 1 of leaf 0, 1\n"},
    {"x = f32[2] constant({3e38, 3e38})\n ROOT r = f32[] dot(x, x), lhs_contracting_dims={0}, "
     "rhs_contracting_dims={0}",
     "!2 0 of leaf 0, 1\n!4 0 of leaf 0, 1\n"},
    {"x = f32[2] constant({inf, 0})\n ROOT r = f32[] dot(x, x), lhs_contracting_dims={0}, "
     "rhs_contracting_dims={0}",
     ""},
    {"x = f32[2] constant({inf, -inf})\n y = f32[2] constant({1, 1})\n"
     " ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
     "!1 0 of leaf 0, 1\n"},
    {"n = f32[] constant(nan)\n ROOT r = f32[2] broadcast(n), dimensions={}",
     ""}, /* a constant nevertheless */
    {"n = f32[] constant(nan)\n x = f32[1] iota(), iota_dimension=0\n ROOT r = f32[3] pad(x, n), "
     "padding=1_1",
     "!1 0 of leaf 0, 2\n"},
    {"x = c64[1] constant({(0, 0)})\n ROOT r = c64[1] divide(x, x)", "!1 0 of leaf 0, 1\n"},
    {"x = s32[1] constant({0})\n ROOT r = s32[1] divide(x, x)", ""},
};

START_TEST(origin_of_a_value)
{
    char text[512];
    struct stage s;
    snprintf(text, sizeof text, "HloModule m\nENTRY e {\n %s\n}\n", origins[_i].text);
    open_stage(&s, text, &traced);
    s.act = note_origins;
    run_stage(&s);
    ck_assert_ptr_nonnull(s.result);
    const char *root = strstr(s.seen, "\nr ");
    ck_assert_ptr_nonnull(root);
    root = strchr(root + 1, '\n') + 1;
    ck_assert_msg(strcmp(root, origins[_i].seen) == 0, "case %d: '%s', expected '%s'", _i, root,
                  origins[_i].seen);
    ck_assert_uint_eq(hlo_messages_errors(s.messages), strncmp(root, "!1", 2) == 0);
    close_stage(&s);
}
END_TEST

/* ---- several participants ---- */

static bool count_participants(struct stage *s, const struct hlo_event *event)
{
    s->befores++; /* calls are serialized, otherwise this fails sometimes */
    return true;
}

static bool nothing_before(void *context, const struct hlo_event *event) { return true; }

START_TEST(participants)
{
    struct stage s;
    hlo_literal *results[4];
    open_stage(
        &s,
        "HloModule m, replica_count=4\n"
        "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT c = s32[] add(a, b) }\n"
        "ENTRY e {\n i = u32[] replica-id()\n x = s32[] convert(i)\n"
        " y = s32[] all-reduce(x), to_apply=add\n ROOT z = s32[] add(x, y) }\n",
        &traced);
    s.trace_callbacks.before = nothing_before;
    s.act = count_participants;
    hlo_trace(s.program, &s.trace_callbacks);
    ck_assert(hlo_run_all(s.program, NULL, 0, NULL, results, s.m));
    ck_assert_uint_eq(s.befores, 16);
    for (int k = 0; k < 4; k++) {
        hlo_text text = hlo_literal_print(results[k], false);
        ck_assert_int_eq(atoi(text.data), 6 + k);
        hlo_text_free(&text);
        hlo_literal_free(results[k]);
    }
    close_stage(&s);
}
END_TEST

/* ---- interruptions and limits ---- */

static void check_failure(const struct stage *s, const char *id, bool limit)
{
    ck_assert_ptr_null(s->result);
    ck_assert_uint_eq(hlo_messages_errors(s->m), 1);
    ck_assert_str_eq(hlo_messages_get(s->m, 0).id, id);
    ck_assert_int_eq(hlo_messages_limit(s->m), limit);
}

static bool interrupt(struct stage *s, const struct hlo_event *event)
{
    hlo_interrupt(s->program);
    return true;
}

/* In the loop, whose own instructions are not steps of the entry computation. */
static bool ask_how_far(struct stage *s, const struct hlo_event *event)
{
    const struct hlo_progress p = hlo_run_progress(s->program);
    ck_assert(p.name_size == 1 && p.name[0] == 'w');
    ck_assert_uint_gt(p.count, p.done);
    ck_assert_int_eq(p.iteration, (long long)event->within[0].iteration);
    return true;
}

START_TEST(progress_of_a_run)
{
    struct stage s;
    open_stage(&s, loop, &traced);
    ck_assert_uint_eq(hlo_run_progress(s.program).name_size, 0);
    s.at = "y";
    s.act = ask_how_far;
    run_stage(&s);
    ck_assert_uint_gt(s.befores, 0);
    close_stage(&s);
}
END_TEST

static bool count_trips(struct stage *s, const struct hlo_event *event)
{
    s->trips++;
    s->trip_count = hlo_run_trip_count(s->program);
    return true;
}

/* Loops that count from `first` by `step` while the comparison with `bound` holds. */
START_TEST(trip_counts)
{
    static const struct {
        const char *condition, *sum;
        int first, bound, step;
        bool known;
    } cases[] = {
        {"compare(i, n), direction=LT", "add(j, one)", 0, 7, 2, true},
        {"compare(i, n), direction=LT", "add(one, j)", -3, 4, 1, true},
        {"compare(i, n), direction=LE", "add(j, one)", 1, 9, 4, true},
        {"compare(i, n), direction=GT", "add(j, one)", 9, 0, -2, true},
        {"compare(i, n), direction=NE", "add(j, one)", 2, 5, 1, true},
        {"call(i, n), to_apply=below", "call(j, one), to_apply=sum", 0, 5, 1, true},
        {"compare(i, n), direction=NE", "add(j, one)", 0, 6, 2, false},
        {"compare(n, i), direction=GT", "add(j, one)", 0, 6, 2, false},
        {"compare(i, n), direction=LT", "add(j, j)", 1, 6, 1, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct stage s;
        char text[1024];
        snprintf(text, sizeof text,
                 "below { a = s32[] parameter(0) b = s32[] parameter(1)\n"
                 "  ROOT l = pred[] compare(a, b), direction=LT }\n"
                 "sum { a = s32[] parameter(0) b = s32[] parameter(1)\n"
                 "  ROOT l = s32[] add(a, b) }\n"
                 "on { s = (s32[], f32[2]) parameter(0)\n"
                 "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(%d)\n"
                 "  ROOT go = pred[] %s }\n"
                 "body { s = (s32[], f32[2]) parameter(0)\n"
                 "  j = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(%d)\n"
                 "  next = s32[] %s\n  x = f32[2] get-tuple-element(s), index=1\n"
                 "  y = f32[2] negate(x)\n  ROOT t = (s32[], f32[2]) tuple(next, y) }\n"
                 "ENTRY main { first = s32[] constant(%d)\n  v = f32[2] iota(), iota_dimension=0\n"
                 "  t = (s32[], f32[2]) tuple(first, v)\n"
                 "  ROOT w = (s32[], f32[2]) while(t), condition=on, body=body }\n",
                 cases[k].bound, cases[k].condition, cases[k].step, cases[k].sum, cases[k].first);
        open_stage(&s, text, &traced);
        s.at = "y";
        s.act = count_trips;
        ck_assert_int_eq(hlo_run_trip_count(s.program), -1);
        run_stage(&s);
        ck_assert_int_gt(s.trips, 0);
        ck_assert_int_eq(s.trip_count, cases[k].known ? s.trips : -1);
        close_stage(&s);
    }
}
END_TEST

START_TEST(interruptions)
{
    for (int k = 0; k < 2; k++) {
        struct stage s;
        struct hlo_run_options options = {.size = sizeof options, .traced = k == 0, .threads = 1};
        open_stage(&s, loop, &options);
        s.at = "y";
        s.act = interrupt;
        if (k > 0) /* before it runs */
            hlo_interrupt(s.program);
        run_stage(&s);
        check_failure(&s, "run-interrupted", false);
        if (k == 0)
            ck_assert_ptr_null(strstr(s.seen, "#1/"));
        s.act = NULL;
        run_stage(&s);
        check_result(&s, "( 2, 4 )");
        close_stage(&s);
    }
}
END_TEST

START_TEST(trip_limit)
{
    for (int k = 0; k < 4; k++) {
        struct stage s;
        struct hlo_run_options options = {
            .size = sizeof options, .traced = k % 2, .threads = 1, .max_trip = k < 2 ? 1 : 2};
        open_stage(&s, loop, &options);
        run_stage(&s);
        if (k < 2)
            check_failure(&s, "limit-trip", true);
        else
            check_result(&s, "( 2, 4 )");
        close_stage(&s);
    }
}
END_TEST

/* ---- option structs of callers compiled against other versions ---- */

static const char small_module[] = "ENTRY main { ROOT r = s32[] constant(1) }";

static bool plans_with(const struct hlo_run_options *options, const char *message)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("m", small_module, sizeof small_module - 1, false);
    hlo_module *module = hlo_parse(f, 0, m);
    hlo_program *p = hlo_plan(module, options, m);
    const bool planned = p != NULL;
    if (message)
        ck_assert_msg(strstr(hlo_messages_get(m, 0).text, message) != NULL, "%s",
                      hlo_messages_get(m, 0).text);
    else
        ck_assert_uint_eq(hlo_messages_errors(m), 0);
    hlo_program_free(p);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    return planned;
}

START_TEST(option_struct_sizes)
{
    struct {
        struct hlo_run_options known;
        uint64_t later; /* a member of a later version */
    } options = {HLO_RUN_OPTIONS_INIT, 0};
    ck_assert(plans_with(NULL, NULL) && plans_with(&options.known, NULL));
    options.known.size = sizeof options;
    ck_assert(plans_with(&options.known, NULL));
    options.later = 1;
    ck_assert(!plans_with(&options.known, "an option is set that this version"));
    options.known.size = 0;
    ck_assert(!plans_with(&options.known, "size of the option struct is not set"));
    /* an earlier version: members after its size are not read */
    options.known.size = offsetof(struct hlo_run_options, elided);
    options.known.threads = -1;
    ck_assert(plans_with(&options.known, NULL));

    hlo_messages *m = hlo_messages_new();
    hlo_literal *l = hlo_literal_parse("f32[] 1", 7, m);
    struct hlo_tolerance t = {0};
    struct hlo_view v = {0};
    hlo_text why = {0}, text = hlo_literal_show(l, &v);
    ck_assert(!hlo_literal_compare(l, l, &t, &why) && strstr(why.data, "size") &&
              text.data == NULL);
    ck_assert(hlo_literal_compare(l, l, NULL, NULL) &&
              !hlo_literal_difference(l, l, &t).comparable);
    hlo_text_free(&why);
    hlo_literal_free(l);
    hlo_messages_free(m);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("trace");
    TCase *c = tcase_create("all");
    tcase_add_test(c, every_instruction);
    tcase_add_test(c, operands_are_available);
    tcase_add_test(c, iterations);
    tcase_add_test(c, replaced_values);
    tcase_add_test(c, unused_instructions);
    tcase_add_test(c, replaced_value_ends_a_loop);
    tcase_add_test(c, tuple_operands_are_complete);
    tcase_add_test(c, callback_ends_the_run);
    tcase_add_test(c, copies_outlive_the_run);
    tcase_add_loop_test(c, origin_of_a_value, 0, sizeof origins / sizeof *origins);
    tcase_add_test(c, participants);
    tcase_add_test(c, progress_of_a_run);
    tcase_add_test(c, trip_counts);
    tcase_add_test(c, interruptions);
    tcase_add_test(c, trip_limit);
    tcase_add_test(c, option_struct_sizes);
    suite_add_tcase(s, c);
    return check_run(s);
}
