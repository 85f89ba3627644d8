/*
 * Public interface: printing of plans: steps, storage of values, and memory.
 */
#include "api/api.h"

#include "base/table.h"
#include "eval/eval.h"

#include <stddef.h>

/* The state of the first participant that runs in this process. */
static struct run_state *state_of(const hlo_program *p)
{
    for (size_t k = 0; k < p->count; k++)
        if (p->states[k])
            return p->states[k];
    return NULL;
}

static uint64_t bytes_of(const struct shape *const *shapes, int count)
{
    int64_t sum = 0, bytes;
    for (int k = 0; k < count; k++)
        if (shape_is_array(shapes[k]) &&
            (!shape_bytes(shapes[k], &bytes) || !add_i64(sum, bytes, &sum)))
            return UINT64_MAX;
    return (uint64_t)sum;
}

static uint64_t constant_bytes(const struct program *p)
{
    uint64_t sum = 0;
    for (int k = 0; k < p->constant_count; k++)
        sum += (uint64_t)view_elements(&p->constants[k]) * dtype_bytes(p->constants[k].dtype);
    return sum;
}

struct hlo_memory hlo_program_memory(const hlo_program *program)
{
    OOM_SCOPE((struct hlo_memory){0});
    struct run_state *state = state_of(program);
    if (!state)
        return (struct hlo_memory){0};
    const struct function *f = state->program->entry;
    const struct memory_estimate *memory_estimate = eval_estimate_memory(state);
    return (struct hlo_memory){
        .arguments = bytes_of(f->param_shapes, f->param_count),
        .results = bytes_of(f->result_shapes, f->result_count),
        .constants = constant_bytes(state->program),
        .estimated = memory_estimate->known,
        .exact = memory_estimate->exact,
        .peak = memory_estimate->known ? memory_estimate->peak : 0,
        .kernels = memory_estimate->workspace,
        .measured = state->peak,
    };
}

static struct str size_text(struct arena *a, uint64_t bytes)
{
    SCOPED_BUF b = {0};
    buf_byte_size(&b, bytes);
    return arena_str(a, buf_view(&b));
}

/* ---- steps ---- */

static const struct step_estimate *estimated(const struct run_state *state,
                                             const struct function *f, int step)
{
    const struct step_estimate *steps = state->memory_estimate->steps[f->index];
    return steps && steps[step].visits > 0 ? &steps[step] : NULL;
}

struct str hlo_step_text(struct arena *a, const struct run_state *state, const struct function *f,
                         int number)
{
    SCOPED_BUF b = {0};
    const struct step_estimate *n = estimated(state, f, number);
    const char *choice = n ? n->choice : NULL;
    plan_describe(&b, &f->steps[number]);
    if (choice)
        buf_printf(&b, "%s%s", memchr(b.data, ':', b.size) ? "; " : ": ", choice);
    if (n && n->workspace > 0)
        buf_printf(&b, ", in %.*s", STR_ARG(size_text(a, n->workspace)));
    if (f == state->program->entry && f->steps[number].hoist == HOIST_RUN)
        buf_puts(&b, "; cached across runs");
    else if (f->steps[number].hoist != HOIST_NOT)
        buf_puts(&b, f->steps[number].hoist == HOIST_RUN ? "; once per run" : "; once per loop");
    return arena_str(a, buf_view(&b));
}

/* What `describe` appends. */
static struct str described(struct arena *a, const struct step *s,
                            void (*describe)(struct buf *out, const struct step *s))
{
    SCOPED_BUF b = {0};
    describe(&b, s);
    return arena_str(a, buf_view(&b));
}

/* ---- storage and lifetime of values ---- */

enum { TO_THE_END = -1 };

/* State of a function whose slots are followed from step to step. */
struct following {
    const struct run_state *state;
    const struct function *f;
    struct arena *a;
    bool missed;       /* print why steps are not hoisted */
    bool schedules;    /* print schedules of fused loops */
    struct str *names; /* by slot: description of its contents */
    int **until;       /* by step and result: the last step that reads it, or TO_THE_END */
};

static struct str leaf_name(struct arena *a, const struct inst *i, int leaf, int leaves)
{
    return leaves > 1 ? arena_printf(a, "%%%.*s.%d", STR_ARG(i->name), leaf)
                      : arena_printf(a, "%%%.*s", STR_ARG(i->name));
}

static struct str result_name(struct arena *a, const struct step *s, int r)
{
    return step_fused(s) ? leaf_name(a, s->as.fused.makers[r], 0, 1)
                         : leaf_name(a, s->inst, r, s->result_count);
}

static void name_params(struct following *w)
{
    const struct computation *c = w->f->computation;
    for (int k = 0, leaf = 0; k < c->param_count; k++) {
        int n = (int)shape_leaf_count(c->params[k]->shape);
        for (int j = 0; j < n; j++, leaf++)
            if (w->f->params[leaf] != NO_VALUE)
                w->names[w->f->params[leaf]] = leaf_name(w->a, c->params[k], j, n);
    }
}

static void find_ends(struct following *w)
{
    const struct function *f = w->f;
    int **holder = ARENA_ARRAY(
        w->a, int *, f->slot_count); /* by slot: where to store the last use of its contents */
    w->until = ARENA_ARRAY(w->a, int *, f->step_count);
    for (int k = 0; k < f->step_count; k++) {
        const struct step *s = &f->steps[k];
        w->until[k] = ARENA_ARRAY(w->a, int, s->result_count);
        for (int r = 0; r < s->result_count; r++) {
            w->until[k][r] = TO_THE_END;
            if (s->results[r] != NO_VALUE)
                holder[s->results[r]] = &w->until[k][r];
        }
        for (int j = 0; j < s->release_count; j++)
            if (holder[s->release[j]])
                *holder[s->release[j]] = k;
    }
}

static struct following follow(struct arena *a, const struct run_state *state,
                               const struct function *f, bool missed)
{
    struct following w = {.state = state,
                          .f = f,
                          .a = a,
                          .missed = missed,
                          .names = ARENA_ARRAY(a, struct str, f->slot_count)};
    name_params(&w);
    find_ends(&w);
    return w;
}

static void name_results(struct following *w, const struct step *s)
{
    for (int r = 0; r < s->result_count; r++)
        if (s->results[r] != NO_VALUE)
            w->names[s->results[r]] = result_name(w->a, s, r);
}

static struct str operand_name(const struct following *w, const struct step *s, int k)
{
    int at = s->operands[k];
    return at == NO_VALUE ? STR("nothing")
           : at < 0       ? arena_printf(w->a, "constant %d", ~at)
                          : w->names[at];
}

/* ---- text ---- */

static const struct table_column step_columns[] = {
    {"step", true},   {"result", false}, {"shape", false}, {"bytes", true},
    {"where", false}, {"until", true},   {"alive", true},  {"what", false},
};

static const char *const makings[] = {[MADE_NOTHING] = "token",
                                      [MADE_NEW] = "new",
                                      [MADE_IN_PLACE] = "in place",
                                      [MADE_VIEW] = "view",
                                      [MADE_WITHIN] = "within"};

static struct str where_text(const struct following *w, const struct step *s,
                             const struct result_estimate *r)
{
    struct str name = r->making == MADE_VIEW || r->making == MADE_IN_PLACE
                          ? operand_name(w, s, r->operand)
                          : STR("");
    switch (r->making) {
    case MADE_NOTHING: return STR("");
    case MADE_VIEW: return arena_printf(w->a, "view of %.*s", STR_ARG(name));
    case MADE_IN_PLACE:
        return arena_printf(w->a, "b%d, in place of %.*s", r->buffer, STR_ARG(name));
    case MADE_WITHIN: return arena_printf(w->a, "b%d, from the callee", r->buffer);
    default: return arena_printf(w->a, "b%d", r->buffer);
    }
}

/* The cells from `result` to `until`. */
static void add_result(const struct following *w, struct table *t, int number, int r)
{
    const struct step *s = &w->f->steps[number];
    const struct step_estimate *n = estimated(w->state, w->f, number);
    const bool there = r < s->result_count;
    int64_t bytes = 0;
    const bool stored = there && s->results[r] != NO_VALUE && shape_bytes(s->shapes[r], &bytes);
    table_cell(t, there ? result_name(w->a, s, r) : STR(""));
    if (there)
        shape_print(&t->text, s->shapes[r], false);
    table_next(t);
    table_cell(t, stored ? size_text(w->a, (uint64_t)bytes) : STR(""));
    table_cell(t, stored && n ? where_text(w, s, &n->results[r]) : STR(""));
    if (stored && w->until[number][r] == TO_THE_END)
        buf_puts(&t->text, "end");
    else if (stored)
        buf_int(&t->text, w->until[number][r]);
    table_next(t);
}

static void add_step(struct following *w, struct table *t, int number)
{
    const struct step *s = &w->f->steps[number];
    const struct step_estimate *n = estimated(w->state, w->f, number);
    for (int r = 0; r < s->result_count || r == 0; r++) {
        if (r == 0)
            buf_int(&t->text, number);
        table_next(t);
        add_result(w, t, number, r);
        if (r == 0) {
            table_cell(t, n ? size_text(w->a, n->peak) : STR(""));
            struct str what = hlo_step_text(w->a, w->state, w->f, number),
                       missed = w->missed ? described(w->a, s, plan_describe_missed) : STR(""),
                       loop = w->schedules ? described(w->a, s, plan_describe_loop) : STR("");
            if (loop.len > 0)
                what = arena_printf(w->a, STR_FMT "; " STR_FMT, STR_ARG(what), STR_ARG(loop));
            if (missed.len > 0)
                what = arena_printf(w->a, STR_FMT "; not hoisted: " STR_FMT, STR_ARG(what),
                                    STR_ARG(missed));
            table_cell(t, what);
        }
        table_end_row(t);
    }
    name_results(w, s);
}

static void put_function(struct buf *out, const struct run_state *state, const struct function *f,
                         bool missed, bool schedules)
{
    SCOPED_ARENA a = arena_make();
    struct following w = follow(&a, state, f, missed);
    w.schedules = schedules;
    struct table t = TABLE(step_columns);
    for (int k = 0; k < f->step_count; k++)
        add_step(&w, &t, k);
    buf_printf(out, "%s %%%.*s: %d parameter%s, %d step%s\n",
               f == state->program->entry ? "entry" : "computation", STR_ARG(f->computation->name),
               f->param_count, f->param_count == 1 ? "" : "s", f->step_count,
               f->step_count == 1 ? "" : "s");
    if (f->step_count > 0)
        table_put(out, &t);
    buf_putc(out, '\n');
}

/* ---- totals ---- */

static const struct {
    const char *name, *help;
    size_t at;
} passes[] = {
    {"inlined", "calls and fusions inlined", offsetof(struct plan_stats, inlined)},
    {"mapped", "maps turned into elementwise steps", offsetof(struct plan_stats, mapped)},
    {"merged", "common subexpressions eliminated", offsetof(struct plan_stats, merged)},
    {"simplified", "instructions simplified", offsetof(struct plan_stats, simplified)},
    {"folded", "constants folded", offsetof(struct plan_stats, folded)},
    {"dropped", "dead steps eliminated", offsetof(struct plan_stats, dropped)},
    {"cached", "steps cached across runs, after fusion", offsetof(struct plan_stats, kept)},
    {"hoisted", "steps executed once per run, after fusion", offsetof(struct plan_stats, hoist)},
    {"invariant", "loop-invariant steps hoisted, after fusion",
     offsetof(struct plan_stats, invariant)},
};

static int pass_count(const struct program *p, size_t k)
{
    return *(const int *)(const void *)((const char *)&p->stats + passes[k].at);
}

static const struct table_column total_columns[] = {{NULL, false}, {NULL, true}, {NULL, false}};

static void put_passes(struct buf *out, const struct program *p)
{
    struct table t = TABLE(total_columns);
    for (size_t k = 0; k < COUNT_OF(passes); k++)
        if (pass_count(p, k) > 0) {
            table_cell(&t, str_of(passes[k].name));
            buf_int(&t.text, pass_count(p, k));
            table_next(&t);
            table_cell(&t, str_of(passes[k].help));
        }
    if (t.text.size == 0)
        return;
    buf_puts(out, "passes\n");
    table_put(out, &t);
    buf_putc(out, '\n');
}

/* A row up to the last cell, a note. */
static void add_size(struct table *t, struct arena *a, const char *name, uint64_t bytes)
{
    table_cell(t, str_of(name));
    table_cell(t, size_text(a, bytes));
}

static void put_peak(struct buf *out, const struct hlo_memory *m, const struct memory_estimate *e)
{
    if (!m->exact)
        buf_puts(out, "(estimate; data-dependent) ");
    if (e->at)
        buf_printf(out, "at step %d of %%%.*s, %%%.*s", (int)(e->at - e->in->steps),
                   STR_ARG(e->in->computation->name), STR_ARG(e->at->inst->name));
    else
        buf_puts(out, "as results");
}

static void put_memory(struct buf *out, const hlo_program *program, const struct run_state *state)
{
    SCOPED_ARENA a = arena_make();
    struct hlo_memory m = hlo_program_memory(program);
    struct table t = TABLE(total_columns);
    add_size(&t, &a, "arguments", m.arguments);
    table_end_row(&t);
    add_size(&t, &a, "constants", m.constants);
    table_end_row(&t);
    add_size(&t, &a, "results", m.results);
    table_end_row(&t);
    if (m.estimated) {
        add_size(&t, &a, "values", m.peak);
        put_peak(&t.text, &m, state->memory_estimate);
    } else {
        table_cell(&t, STR("values"));
        table_next(&t);
        buf_puts(&t.text, "unknown (data-dependent)");
    }
    table_end_row(&t);
    if (m.kernels > 0) {
        add_size(&t, &a, "kernels", m.kernels);
        table_cell(&t, STR("largest kernel workspace"));
    }
    buf_puts(out, "memory\n");
    table_put(out, &t);
}

/* ---- JSON ---- */

static void json_result(struct buf *out, const struct following *w, int number, int r)
{
    const struct step *s = &w->f->steps[number];
    const struct step_estimate *n = estimated(w->state, w->f, number);
    int64_t bytes;
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "shape", shape_text(w->a, s->shapes[r]));
    if (s->results[r] != NO_VALUE && shape_bytes(s->shapes[r], &bytes))
        buf_json_count(out, "bytes", (uint64_t)bytes);
    if (n) {
        const struct result_estimate *made = &n->results[r];
        buf_json_text(out, "made", str_of(makings[made->making]));
        if (made->making == MADE_VIEW || made->making == MADE_IN_PLACE)
            buf_json_text(out, "of", operand_name(w, s, made->operand));
        buf_json_count(out, "buffer", (uint64_t)made->buffer);
        buf_json_count(out, "storage", made->storage);
    }
    if (w->until[number][r] != TO_THE_END)
        buf_json_count(out, "until", (uint64_t)w->until[number][r]);
    buf_putc(out, '}');
}

static void json_step(struct buf *out, struct following *w, int number)
{
    const struct step *s = &w->f->steps[number];
    const struct step_estimate *n = estimated(w->state, w->f, number);
    buf_json_open(out, NULL, '{');
    buf_json_count(out, "step", (uint64_t)number);
    buf_json_text(out, "name", s->inst->name);
    buf_json_text(out, "op", str_of(op_spelling(s->inst->opcode)));
    buf_json_text(out, "what", hlo_step_text(w->a, w->state, w->f, number));
    struct str missed = w->missed ? described(w->a, s, plan_describe_missed) : STR("");
    if (missed.len > 0)
        buf_json_text(out, "not_hoisted", missed);
    buf_json_open(out, "members", '[');
    for (int k = 0; step_fused(s) && k < s->as.fused.count; k++)
        buf_json_text(out, NULL, s->as.fused.members[k]->name);
    buf_putc(out, ']');
    if (n)
        buf_json_count(out, "alive", n->peak);
    if (n && n->workspace > 0)
        buf_json_count(out, "workspace", n->workspace);
    buf_json_open(out, "results", '[');
    for (int r = 0; r < s->result_count; r++)
        json_result(out, w, number, r);
    buf_puts(out, "]}");
    name_results(w, s);
}

static void json_function(struct buf *out, const struct run_state *state, const struct function *f,
                          bool missed)
{
    SCOPED_ARENA a = arena_make();
    struct following w = follow(&a, state, f, missed);
    buf_json_open(out, NULL, '{');
    buf_json_text(out, "name", f->computation->name);
    buf_json_bool(out, "entry", f == state->program->entry);
    buf_json_count(out, "parameters", (uint64_t)f->param_count);
    buf_json_open(out, "steps", '[');
    for (int k = 0; k < f->step_count; k++)
        json_step(out, &w, k);
    buf_puts(out, "]}");
}

static void json_memory(struct buf *out, const hlo_program *program, const struct run_state *state)
{
    struct hlo_memory m = hlo_program_memory(program);
    buf_json_open(out, "memory", '{');
    buf_json_count(out, "arguments", m.arguments);
    buf_json_count(out, "constants", m.constants);
    buf_json_count(out, "results", m.results);
    buf_json_bool(out, "estimated", m.estimated);
    buf_json_bool(out, "exact", m.exact);
    buf_json_count(out, "peak", m.peak);
    buf_json_count(out, "kernels", m.kernels);
    const struct memory_estimate *e = state->memory_estimate;
    if (m.estimated && e->at) {
        buf_json_text(out, "peak_computation", e->in->computation->name);
        buf_json_count(out, "peak_step", (uint64_t)(e->at - e->in->steps));
    }
    buf_putc(out, '}');
}

static void put_json(struct buf *out, const hlo_program *program, const struct run_state *state)
{
    const struct program *p = state->program;
    SCOPED_ARENA a = arena_make();
    const bool *in_loop = plan_find_in_loops(&a, p);
    buf_puts(out, "{\"schema\":1");
    buf_json_text(out, "module", p->module->name);
    buf_json_open(out, "functions", '[');
    for (int k = 0; k < p->function_count; k++)
        json_function(out, state, p->functions[k], in_loop[k]);
    buf_putc(out, ']');
    json_memory(out, program, state);
    buf_json_open(out, "passes", '{');
    for (size_t k = 0; k < COUNT_OF(passes); k++)
        buf_json_count(out, passes[k].name, (uint64_t)pass_count(p, k));
    buf_puts(out, "}}\n");
}

static void put_text(struct buf *out, const hlo_program *program, const struct run_state *state,
                     bool verbose)
{
    const struct program *p = state->program;
    SCOPED_ARENA a = arena_make();
    const bool *in_loop = plan_find_in_loops(&a, p);
    put_function(out, state, p->entry, false, verbose);
    for (int k = 0; k < p->function_count; k++)
        if (p->functions[k] != p->entry)
            put_function(out, state, p->functions[k], verbose && in_loop[k], verbose);
    put_passes(out, p);
    put_memory(out, program, state);
}

hlo_text hlo_plan_print(const hlo_program *program, enum hlo_plan_form form)
{
    OOM_SCOPE((hlo_text){0});
    struct buf out = {0};
    struct run_state *state = state_of(program);
    if (state)
        eval_estimate_memory(state);
    if (state && form == HLO_PLAN_JSON)
        put_json(&out, program, state);
    else if (state)
        put_text(&out, program, state, form == HLO_PLAN_VERBOSE);
    return hlo_text_of(&out);
}
