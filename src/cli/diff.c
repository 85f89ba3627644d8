/*
 * hlo diff: compares runs of two modules, or of one with fast and with reference kernels.
 */
#include "cli/arguments.h"

#include <unistd.h>

struct side { /* one of the two modules */
    const char *path, *title;
    size_t dump; /* in the list of dumps, if there is one */
    hlo_file *file;
    hlo_module *module, *inlined; /* inlined: `module` with calls inlined, or NULL */
    hlo_listing *listing;         /* of what runs */
    hlo_program *program;
};
struct diffing {
    const struct options *o;
    hlo_messages *m;
    struct arena arena;
    struct side a, b;
    bool alone;       /* only one module: fast against reference kernels */
    hlo_dumps *dumps; /* whose first and last are compared; or NULL */
    size_t files;     /* number of operands that are not arguments */
    struct arguments arguments;
    hlo_targets *targets;
    hlo_pairing *pairing;
    struct hlo_comparison c;
    struct hlo_tolerance tolerance;
};

enum { MAX_LISTED = 20, SHORT_LINE = 160 };

/* ---- getting ready ---- */

static int read_side(struct diffing *d, struct side *s)
{
    struct arguments sizes = {.o = d->o, .m = d->m};
    if (!d->dumps && !(s->file = open_file(d->o, s->path, d->m)))
        return HLO_USAGE;
    s->module = d->dumps ? hlo_dumps_parse(d->dumps, s->dump, d->m) : hlo_parse(s->file, 0, d->m);
    const int status = arguments_check(&sizes, s->module);
    if (status == HLO_OK)
        s->listing = hlo_list(s->module);
    return status;
}

/* Takes the dumps before and after all passes from a directory. */
static int read_dumps(struct diffing *d)
{
    const char *pick = d->o->value[OPT_MODULE] ? d->o->value[OPT_MODULE] : "";
    const char *directory = d->a.path;
    if (!(d->dumps = hlo_dumps_open(directory, pick, d->m)))
        return HLO_USAGE;
    d->b.dump = hlo_dumps_count(d->dumps) - 1;
    const struct hlo_dump a = hlo_dumps_get(d->dumps, 0), b = hlo_dumps_get(d->dumps, d->b.dump);
    if (!ends_with(a.phase, "before_optimizations") || !ends_with(b.phase, "after_optimizations"))
        return usage_error(d->o, "'%s' has no dumps of the module before and after optimizations",
                           directory);
    d->a.path = a.path;
    d->b.path = b.path;
    return HLO_OK;
}

/* Inlines calls that passes have inlined in the other module, so that each has its own values. */
static void inline_calls(struct diffing *d)
{
    hlo_listing *const listings[2] = {d->a.listing, d->b.listing};
    d->a.inlined = hlo_inline_calls(listings[0], listings[1]);
    d->b.inlined = hlo_inline_calls(listings[1], listings[0]);
    for (int k = 0; k < 2; k++) {
        struct side *s = k ? &d->b : &d->a;
        if (!s->inlined)
            continue;
        s->listing = hlo_list(s->inlined);
        hlo_listing_free(listings[k]);
    }
}

static hlo_module *module_of(const struct side *s) { return s->inlined ? s->inlined : s->module; }

static int same_parameters(const struct diffing *d)
{
    size_t count = hlo_param_count(d->a.module);
    if (count != hlo_param_count(d->b.module))
        return usage_error(d->o, "%s has %zu parameter%s, and %s has %zu", d->a.path, count,
                           count == 1 ? "" : "s", d->b.path, hlo_param_count(d->b.module));
    for (size_t i = 0; i < count; i++)
        if (!same_parameter(d->a.module, d->b.module, i))
            return usage_error(d->o, "parameter %zu of %s and of %s have different shapes", i,
                               d->a.path, d->b.path);
    return HLO_OK;
}

static int plan_sides(struct diffing *d)
{
    struct hlo_run_options options;
    if (!run_options(d->o, &options))
        return HLO_USAGE;
    options.targets = d->targets;
    options.traced = true;
    d->a.program = hlo_plan(module_of(&d->a), &options, d->m); /* one module: reference kernels */
    options.plain = options.plain && !d->alone;
    d->b.program = d->a.program ? hlo_plan(module_of(&d->b), &options, d->m) : NULL;
    return d->b.program ? HLO_OK : HLO_FAILED;
}

static int get_ready(struct diffing *d)
{
    const struct options *o = d->o;
    if (!tolerance_options(o, &d->tolerance) || !(d->targets = targets_of(o, d->m)))
        return HLO_USAGE;
    d->tolerance.usual = !tolerance_given(o);
    int status = d->files == 1 && !d->alone ? read_dumps(d) : HLO_OK;
    if (status == HLO_OK)
        status = read_side(d, &d->a);
    if (status == HLO_OK && d->alone)
        d->b = (struct side){
            .path = d->a.path, .title = d->b.title, .module = d->a.module, .listing = d->a.listing};
    else if (status == HLO_OK)
        status = read_side(d, &d->b);
    if (status == HLO_OK)
        status = same_parameters(d);
    if (status == HLO_OK && !d->alone)
        inline_calls(d);
    if (status == HLO_OK)
        status = plan_sides(d);
    if (status == HLO_OK && hlo_participants(d->a.program) != hlo_participants(d->b.program))
        status = usage_error(o, "%s has %zu participant%s, and %s has %zu", d->a.path,
                             hlo_participants(d->a.program),
                             hlo_participants(d->a.program) == 1 ? "" : "s", d->b.path,
                             hlo_participants(d->b.program));
    if (status != HLO_OK)
        return status;
    d->arguments =
        (struct arguments){.o = o,
                           .m = d->m,
                           .module = d->a.module,
                           .with = hlo_stored_arguments(d->a.module) ? NULL : d->b.module,
                           .given = o->args + d->files,
                           .given_count = o->arg_count - d->files};
    if (!arguments_participants(&d->arguments, d->a.module))
        return HLO_USAGE;
    status = arguments_collect(&d->arguments);
    d->pairing = hlo_pair(d->a.listing, d->b.listing);
    d->c = HLO_WITH(hlo_comparison, .tolerance = &d->tolerance);
    d->c.a = d->a.program;
    d->c.b = d->b.program;
    d->c.pairing = d->pairing;
    d->c.args = (const hlo_literal *const *)d->arguments.all;
    d->c.count = d->arguments.count;
    return status;
}

static void free_side(struct side *s)
{
    hlo_program_free(s->program);
    hlo_listing_free(s->listing);
    hlo_module_free(s->inlined);
    hlo_module_free(s->module);
    hlo_file_free(s->file);
}

/* Writes an instruction on one line, truncated. */
static void put_instruction(struct buf *out, const struct side *s, size_t i)
{
    struct hlo_listed inst = hlo_list_inst(s->listing, i);
    SCOPED_TEXT text = hlo_list_print(s->listing, i, HLO_PRINT_ABRIDGED);
    const char *end = strstr(text.data, ", metadata={"),
               *start = text.data + strspn(text.data, " ");
    size_t size = end ? (size_t)(end - start) : strlen(start);
    buf_printf(out, "%s:%" PRIu32 ": %.*s%s\n", s->path, inst.line,
               (int)(size < SHORT_LINE ? size : SHORT_LINE), start,
               size > SHORT_LINE ? " ..." : "");
}

struct list { /* instructions to print under one title */
    size_t *at, count, capacity;
};

static void find_structure(struct diffing *d, struct list *changed, struct list *only_a,
                           struct list *only_b)
{
    for (size_t i = 0; i < hlo_list_count(d->a.listing) && !d->alone; i++)
        if (!hlo_pair_of_a(d->pairing, i).how)
            VEC_PUSH(&d->arena, only_a->at, only_a->count, only_a->capacity) = i;
        else if (hlo_pair_changed(d->pairing, i))
            VEC_PUSH(&d->arena, changed->at, changed->count, changed->capacity) = i;
    for (size_t i = 0; i < hlo_list_count(d->b.listing) && !d->alone; i++)
        if (!hlo_pair_of_b(d->pairing, i).how)
            VEC_PUSH(&d->arena, only_b->at, only_b->count, only_b->capacity) = i;
}

static size_t shown_of(const struct diffing *d, const struct list *l)
{
    return l->count <= MAX_LISTED || d->o->given[OPT_VERBOSE] ? l->count : MAX_LISTED;
}

static void put_more(struct buf *out, size_t more)
{
    if (more > 0)
        buf_printf(out, "  and %zu more (--verbose shows all)\n", more);
}

static void put_only(const struct diffing *d, struct buf *out, const struct side *s,
                     const struct list *l)
{
    size_t shown = shown_of(d, l);
    if (l->count > 0)
        buf_printf(out, "%zu only in %s\n", l->count, s->title);
    for (size_t k = 0; k < shown; k++) {
        buf_puts(out, "  ");
        put_instruction(out, s, l->at[k]);
    }
    put_more(out, l->count - shown);
}

static void put_changed(const struct diffing *d, struct buf *out, const struct list *l)
{
    size_t shown = shown_of(d, l);
    if (l->count > 0)
        buf_printf(out, "%zu changed\n", l->count);
    for (size_t k = 0; k < shown; k++) {
        buf_puts(out, "  ");
        put_instruction(out, &d->a, l->at[k]);
        buf_puts(out, "  ");
        put_instruction(out, &d->b, (size_t)hlo_pair_of_a(d->pairing, l->at[k]).other);
    }
    put_more(out, l->count - shown);
}

static const char *how_paired(enum hlo_paired how)
{
    switch (how) {
    case HLO_PAIRED_METADATA: return ", paired by op_name";
    case HLO_PAIRED_PLACE: return ", paired by position";
    case HLO_PAIRED_OTHERWISE: return ", paired despite changes";
    default: return "";
    }
}

/* Prints the pair of instructions in the computations that the first instruction applies. */
static void put_applied(const struct diffing *d, struct buf *out, const struct hlo_divergence *v)
{
    const struct hlo_listed by = hlo_list_inst(d->b.listing, v->b);
    buf_printf(out, "first difference: %%%s, applied by %%%s\n  ",
               hlo_list_inst(d->b.listing, v->applied_b).name, by.name);
    put_instruction(out, &d->a, v->applied_a);
    buf_puts(out, "  ");
    put_instruction(out, &d->b, v->applied_b);
}

/* Prints what uses a constant, itself or broadcast. */
static void put_user(const struct diffing *d, struct buf *out, size_t constant)
{
    struct hlo_listed inst = hlo_list_inst(d->b.listing, constant);
    size_t user = constant;
    while (inst.user_count > 0 && (user == constant || strcmp(inst.op, "broadcast") == 0)) {
        user = inst.users[0];
        inst = hlo_list_inst(d->b.listing, user);
    }
    if (user == constant)
        return;
    buf_puts(out, "used by:\n  ");
    put_instruction(out, &d->b, user);
}

/* Prints the instructions that may have been changed, and what they were. */
static void put_changes(const struct diffing *d, struct buf *out, const struct hlo_divergence *v)
{
    for (size_t k = 0; k < v->change_count; k++) {
        const struct hlo_change *c = &v->changes[k];
        const struct hlo_listed inst = hlo_list_inst(d->b.listing, c->inst);
        buf_printf(out, "%s: %%%s", k ? "or" : "first difference", inst.name);
        if (c->by != c->inst)
            buf_printf(out, ", applied by %%%s", hlo_list_inst(d->b.listing, c->by).name);
        buf_printf(out, "; results agree if it is %s\n  ", c->text.data);
        put_instruction(out, &d->b, c->inst);
        if (strcmp(inst.op, "constant") == 0)
            put_user(d, out, c->inst);
    }
}

static void put_first(const struct diffing *d, struct buf *out, const struct hlo_divergence *v)
{
    const bool explained = v->applied || v->change_count > 0;
    const size_t at = v->change_count > 0 ? v->b : v->origin;
    struct hlo_listed inst = hlo_list_inst(d->b.listing, at);
    const char *const names[2] = {d->b.title, d->a.title};
    put_changes(d, out, v);
    if (v->applied)
        put_applied(d, out, v);
    buf_printf(out, "first difference%s: %%%s%s", explained ? " of values" : "", inst.name,
               at == v->b ? how_paired(hlo_pair_of_b(d->pairing, v->b).how)
                          : ", without counterpart");
    if (v->participant > 0)
        buf_printf(out, ", participant %zu", v->participant);
    if (v->occurrence > 0)
        buf_printf(out, ", executed %" PRIu64 " times before", v->occurrence);
    buf_printf(out, "\n  ");
    if (at != v->b) {
        put_instruction(out, &d->b, at);
        buf_puts(out, "first difference of values that can be compared:\n  ");
    }
    put_instruction(out, &d->a, v->a);
    if (!d->alone) {
        buf_puts(out, "  ");
        put_instruction(out, &d->b, v->b);
    }
    inst = hlo_list_inst(d->a.listing, v->a);
    if (inst.where[0] || inst.op_name[0])
        buf_printf(out, "  %s%s%s\n", inst.where, inst.where[0] && inst.op_name[0] ? "  " : "",
                   inst.op_name);
    SCOPED_TEXT text = hlo_difference_print(&v->difference, v->value_b, v->value_a, names);
    buf_bytes(out, text.data, text.size);
}

/* Reports results that differ although no paired instruction does: the differing instructions may
 * be present in one module only. */
static void put_results_apart(const struct diffing *d, struct buf *out,
                              const struct hlo_divergence *v)
{
    const char *const names[2] = {d->b.title, d->a.title};
    SCOPED_TEXT text = hlo_difference_print(&v->results, v->result_b, v->result_a, names);
    put_changes(d, out, v);
    if (v->change_count == 0)
        buf_puts(out, "no instruction present in both modules differs\n");
    buf_bytes(out, text.data, text.size);
}

/* The verdict, the first difference and, with --text, textual changes. */
static void put_text(struct diffing *d, struct buf *out, const struct hlo_divergence *v)
{
    struct list changed = {0}, only_a = {0}, only_b = {0};
    buf_printf(out, "results %s; %" PRIu64 " of %" PRIu64 " instructions compared",
               v->results_agree        ? "agree"
               : v->results.comparable ? "differ"
                                       : "have different shapes",
               v->compared, v->instructions);
    if (v->results_agree)
        buf_printf(out, ", %" PRIu64 " not bit-identical", v->unequal);
    buf_putc(out, '\n');
    if (v->found)
        put_first(d, out, v);
    else if (!v->results_agree)
        put_results_apart(d, out, v);
    if (!d->o->given[OPT_TEXT])
        return;
    find_structure(d, &changed, &only_a, &only_b);
    put_changed(d, out, &changed);
    put_only(d, out, &d->a, &only_a);
    put_only(d, out, &d->b, &only_b);
}

/* ---- for programs ---- */

/* KEY NULL: an element of a list. */
static void json_name(struct buf *out, const char *key, const struct side *s, size_t i)
{
    struct hlo_listed inst = hlo_list_inst(s->listing, i);
    buf_json_open(out, key, '{');
    buf_json_text(out, "name", str_of(inst.name));
    buf_json_text(out, "computation",
                  str_of(hlo_list_computation(s->listing, inst.computation).name));
    buf_json_text(out, "op", str_of(inst.op));
    buf_json_text(out, "shape", str_of(inst.shape));
    buf_json_count(out, "line", inst.line);
    buf_putc(out, '}');
}

static void json_list(struct buf *out, const char *key, const struct side *s, const struct list *l)
{
    buf_json_open(out, key, '[');
    for (size_t k = 0; k < l->count; k++)
        json_name(out, NULL, s, l->at[k]);
    buf_putc(out, ']');
}

static void json_difference(struct buf *out, const char *key, const struct hlo_difference *x)
{
    SCOPED_TEXT text = hlo_difference_json(x);
    buf_json_key(out, key);
    buf_puts(out, text.data);
}

static void put_json(struct diffing *d, struct buf *out, const struct hlo_divergence *v)
{
    static const char *const hows[] = {"", "name", "op_name", "place", "otherwise", "value"};
    struct list changed = {0}, only_a = {0}, only_b = {0};
    find_structure(d, &changed, &only_a, &only_b);
    buf_puts(out, "{\"schema\":1");
    buf_json_bool(out, "same", !v->found && v->results_agree);
    buf_json_count(out, "instructions", v->instructions);
    buf_json_count(out, "compared", v->compared);
    buf_json_count(out, "unequal", v->unequal);
    buf_json_bool(out, "results_agree", v->results_agree);
    if (!v->results_agree)
        json_difference(out, "results", &v->results);
    buf_json_open(out, "explanations", '[');
    for (size_t k = 0; k < v->change_count; k++) {
        buf_json_open(out, NULL, '{');
        json_name(out, "instruction", &d->b, v->changes[k].inst);
        json_name(out, "applied_by", &d->b, v->changes[k].by);
        buf_json_text(out, "agrees_if", str_of(v->changes[k].text.data));
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    json_list(out, "changed", &d->a, &changed);
    json_list(out, "only_a", &d->a, &only_a);
    json_list(out, "only_b", &d->b, &only_b);
    if (v->found) {
        buf_json_open(out, "first", '{');
        json_name(out, "a", &d->a, v->a);
        json_name(out, "b", &d->b, v->b);
        if (v->applied) {
            json_name(out, "applied_a", &d->a, v->applied_a);
            json_name(out, "applied_b", &d->b, v->applied_b);
        }
        buf_json_text(out, "paired", str_of(hows[hlo_pair_of_a(d->pairing, v->a).how]));
        buf_json_count(out, "participant", v->participant);
        buf_json_count(out, "occurrence", v->occurrence);
        json_difference(out, "difference", &v->difference);
        buf_putc(out, '}');
    }
    buf_puts(out, "}\n");
}

/* ---- the command ---- */

/* Whether the operands are a directory of dumps and arguments. */
static bool has_directory(const struct options *o)
{
    return o->arg_count > 0 && hlo_dumps_many(o->args[0]) &&
           (o->arg_count == 1 || access(o->args[1], F_OK) != 0);
}

static int compare_runs(struct diffing *d)
{
    struct hlo_divergence v;
    struct buf out = {0};
    if (!hlo_diverge(&d->c, &v, d->m))
        return hlo_messages_limit(d->m) ? HLO_LIMIT : HLO_FAILED;
    if (d->o->given[OPT_JSON])
        put_json(d, &out, &v);
    else
        put_text(d, &out, &v);
    print_buf(&out);
    hlo_divergence_free(&v);
    return v.results_agree ? HLO_OK : HLO_DIFFERS;
}

int diff_command(const struct options *o)
{
    struct diffing d = {.o = o, .m = hlo_messages_new(), .alone = o->given[OPT_PLAIN]};
    d.files = d.alone || has_directory(o) ? 1 : 2;
    d.a = (struct side){.path = o->arg_count > 0 ? o->args[0] : NULL,
                        .title = d.alone ? "plain" : "A"};
    d.b = (struct side){.path = o->arg_count >= d.files && d.files > 1 ? o->args[1] : NULL,
                        .title = d.alone ? "fast" : "B"};
    arena_init(&d.arena);
    int status = HLO_OK;
    if (o->arg_count < d.files)
        status =
            usage_error(o, "expected two files, a directory of dumps, or one file with --plain");
    else if ((status = get_ready(&d)) == HLO_OK)
        status = compare_runs(&d);
    report(o, d.m);
    hlo_pairing_free(d.pairing);
    arguments_free(&d.arguments);
    if (d.alone)
        hlo_program_free(d.b.program);
    else
        free_side(&d.b);
    free_side(&d.a);
    hlo_dumps_free(d.dumps);
    hlo_targets_free(d.targets);
    hlo_messages_free(d.m);
    arena_free(&d.arena);
    return status;
}
