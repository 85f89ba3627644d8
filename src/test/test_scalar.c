/*
 * Tests of scalar code: random nests of loops, branches and calls on scalars and small arrays give
 * the bits of reference runs, and stop after as many steps.
 */
#include "random_view.h"
#include "run_text.h"

/* ---- random programs ---- */

enum type { S32, U32, S64, F32, PRED, ROW, SQUARE, LONG, GRID, BIG, TYPES };
static const char *const type_text[] = {"s32[]",      "u32[]",     "s64[]",    "f32[]",
                                        "pred[]",     "f32[3]",    "s32[2,2]", "f32[64]",
                                        "f32[12,20]", "f32[40,50]"};

struct scope {
    struct buf text;
    int values[TYPES][200], counts[TYPES];
};
struct writer {
    struct random r;
    struct buf text; /* text of complete computations */
    int next, budget;
    int types; /* number of types */
};

/* Large arrays are usually the newest ones: using an older version requires a copy. */
static int pick(struct writer *w, const struct scope *s, enum type t)
{
    if (t == BIG && random_in(&w->r, 0, 19) > 0)
        return s->values[t][s->counts[t] - 1];
    return s
        ->values[t][random_in(&w->r, s->counts[t] > 12 ? s->counts[t] - 12 : 0, s->counts[t] - 1)];
}

static void keep(struct scope *s, enum type t, int value)
{
    if (s->counts[t] < 200)
        s->values[t][s->counts[t]++] = value;
}

static int PRINTF_LIKE(4, 5)
    emit(struct writer *w, struct scope *s, const char *type, const char *format, ...)
{
    char line[400];
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    buf_printf(&s->text, "  v%d = %s %s\n", w->next, type, line);
    return w->next++;
}

static const char *any(struct writer *w, const char *const *words, int count)
{
    return words[random_in(&w->r, 0, count - 1)];
}

static void arithmetic(struct writer *w, struct scope *s, enum type t)
{
    static const char *const whole[] = {"add",
                                        "subtract",
                                        "multiply",
                                        "and",
                                        "or",
                                        "xor",
                                        "shift-left",
                                        "divide",
                                        "remainder",
                                        "shift-right-logical",
                                        "shift-right-arithmetic",
                                        "maximum",
                                        "minimum"},
                             *const real[] = {"add", "subtract", "multiply", "maximum", "minimum"},
                             *const logic[] = {"and", "or", "xor"};
    const char *op = t == PRED                                         ? any(w, logic, 3)
                     : t == S32 || t == U32 || t == S64 || t == SQUARE ? any(w, whole, 13)
                                                                       : any(w, real, 5);
    keep(s, t, emit(w, s, type_text[t], "%s(v%d, v%d)", op, pick(w, s, t), pick(w, s, t)));
}

static void between_types(struct writer *w, struct scope *s)
{
    static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
    static const enum type scalars[] = {S32, U32, S64, F32};
    enum type t = scalars[random_in(&w->r, 0, 3)], from = (enum type)random_in(&w->r, S32, PRED);
    switch (random_in(&w->r, 0, 3)) {
    case 0: keep(s, t, emit(w, s, type_text[t], "convert(v%d)", pick(w, s, from))); break;
    case 1:
        keep(s, PRED,
             emit(w, s, "pred[]", "compare(v%d, v%d), direction=%s", pick(w, s, t), pick(w, s, t),
                  any(w, directions, 6)));
        break;
    case 2:
        keep(s, t,
             emit(w, s, type_text[t], "select(v%d, v%d, v%d)", pick(w, s, PRED), pick(w, s, t),
                  pick(w, s, t)));
        break;
    default:
        keep(s, t,
             emit(w, s, type_text[t], "constant(%d)", (int)random_in(&w->r, t == U32 ? 0 : -9, 9)));
        break;
    }
}

/* Rows of three, squares and long rows: sliced, concatenated, transposed. */
static void small_arrays(struct writer *w, struct scope *s)
{
    int a;
    switch (random_in(&w->r, 0, 8)) {
    case 7:
        keep(s, ROW,
             emit(w, s, "f32[3]", "pad(v%d, v%d), padding=1_-1", pick(w, s, ROW), pick(w, s, F32)));
        break;
    case 8:
        keep(
            s, SQUARE,
            emit(w, s, "s32[2,2]", "sort(v%d), dimensions={1}, to_apply=less", pick(w, s, SQUARE)));
        break;
    case 0:
        keep(s, ROW, emit(w, s, "f32[3]", "broadcast(v%d), dimensions={}", pick(w, s, F32)));
        break;
    case 1:
        keep(s, LONG, emit(w, s, "f32[64]", "broadcast(v%d), dimensions={}", pick(w, s, F32)));
        break;
    case 2:
        a = emit(w, s, "f32[1]", "dynamic-slice(v%d, v%d), dynamic_slice_sizes={1}",
                 pick(w, s, LONG), pick(w, s, S32));
        keep(s, F32, emit(w, s, "f32[]", "reshape(v%d)", a));
        break;
    case 3:
        a = emit(w, s, "f32[1]", "reshape(v%d)", pick(w, s, F32));
        keep(s, ROW,
             emit(w, s, "f32[3]", "dynamic-update-slice(v%d, v%d, v%d)", pick(w, s, ROW), a,
                  pick(w, s, S32)));
        break;
    case 4:
        keep(s, SQUARE,
             emit(w, s, "s32[2,2]", "transpose(v%d), dimensions={1,0}", pick(w, s, SQUARE)));
        break;
    case 5:
        a = emit(w, s, "s32[1,2]", "dynamic-slice(v%d, v%d, v%d), dynamic_slice_sizes={1,2}",
                 pick(w, s, SQUARE), pick(w, s, S32), pick(w, s, S32));
        keep(s, SQUARE, emit(w, s, "s32[2,2]", "concatenate(v%d, v%d), dimensions={0}", a, a));
        break;
    default:
        a = emit(w, s, "s32[1,2]", "slice(v%d), slice={[1:2], [0:2]}", pick(w, s, SQUARE));
        keep(s, SQUARE,
             emit(w, s, "s32[2,2]", "dynamic-update-slice(v%d, v%d, v%d, v%d)", pick(w, s, SQUARE),
                  a, pick(w, s, S32), pick(w, s, S32)));
        break;
    }
}

/* Two parts of a grid, exchanged. */
static void rotate_grid(struct writer *w, struct scope *s, int x)
{
    const int d = (int)random_in(&w->r, 0, 1), at = (int)random_in(&w->r, 1, 11);
    int parts[2];
    for (int k = 0; k < 2; k++) {
        char type[40], bounds[80];
        const int from = k ? at : 0, to = k ? (d ? 20 : 12) : at;
        snprintf(type, sizeof type, d ? "f32[12,%d]" : "f32[%d,20]", to - from);
        snprintf(bounds, sizeof bounds, d ? "[0:12], [%d:%d]" : "[%d:%d], [0:20]", from, to);
        parts[k] = emit(w, s, type, "slice(v%d), slice={%s}", x, bounds);
    }
    keep(s, GRID,
         emit(w, s, "f32[12,20]", "concatenate(v%d, v%d), dimensions={%d}", parts[1], parts[0], d));
}

/* One row or column, repeated. */
static void spread_row(struct writer *w, struct scope *s, int x)
{
    const int d = (int)random_in(&w->r, 0, 1), at = (int)random_in(&w->r, 0, 11);
    int a = d ? emit(w, s, "f32[1,20]", "slice(v%d), slice={[%d:%d], [0:20]}", x, at, at + 1)
              : emit(w, s, "f32[12,1]", "slice(v%d), slice={[0:12], [%d:%d]}", x, at, at + 1);
    a = emit(w, s, d ? "f32[20]" : "f32[12]", "reshape(v%d)", a);
    keep(s, GRID, emit(w, s, "f32[12,20]", "broadcast(v%d), dimensions={%d}", a, d));
}

/* A part at a constant place that was or is another part. */
static void update_part(struct writer *w, struct scope *s, int x)
{
    int i = emit(w, s, "s32[]", "constant(%d)", (int)random_in(&w->r, -2, 14)),
        j = random_in(&w->r, 0, 3) ? i : pick(w, s, S32), a;
    if (random_in(&w->r, 0, 1)) {
        a = emit(w, s, "f32[5,9]", "slice(v%d), slice={[2:12:2], [11:20]}", x);
        keep(s, GRID,
             emit(w, s, "f32[12,20]", "dynamic-update-slice(v%d, v%d, v%d, v%d)", pick(w, s, GRID),
                  a, i, j));
        return;
    }
    a = emit(w, s, "f32[10,18]", "dynamic-slice(v%d, v%d, v%d), dynamic_slice_sizes={10,18}", x, j,
             i);
    i = emit(w, s, "s32[2]", "constant({%d, %d})", (int)random_in(&w->r, 0, 3),
             (int)random_in(&w->r, -1, 2));
    keep(s, GRID,
         emit(w, s, "f32[12,20]",
              "scatter(v%d, v%d, v%d), update_window_dims={0,1}, inserted_window_dims={}, "
              "scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=sum",
              pick(w, s, GRID), i, a));
}

static void grids(struct writer *w, struct scope *s)
{
    int x = pick(w, s, GRID), a, b;
    switch (random_in(&w->r, 0, 8)) {
    case 0: rotate_grid(w, s, x); break;
    case 1: spread_row(w, s, x); break;
    case 2: update_part(w, s, x); break;
    case 3:
        a = emit(w, s, "f32[11,19]", "slice(v%d), slice={[1:12], [0:19]}", x);
        keep(s, GRID,
             emit(w, s, "f32[12,20]", "pad(v%d, v%d), padding=0_1x1_0", a, pick(w, s, F32)));
        break;
    case 4:
        a = emit(w, s, "f32[20,12]", "reshape(v%d)", x);
        keep(s, GRID, emit(w, s, "f32[12,20]", "transpose(v%d), dimensions={1,0}", a));
        break;
    case 5:
        a = emit(w, s, "f32[12,3]", "slice(v%d), slice={[0:12], [4:7]}", x);
        b = emit(w, s, "f32[1,3]", "slice(v%d), slice={[3:4], [0:3]}", a);
        keep(s, ROW, emit(w, s, "f32[3]", "reshape(v%d)", b));
        break;
    case 6:
        keep(s, F32,
             emit(w, s, "f32[]", "reduce(v%d, v%d), dimensions={0,1}, to_apply=most", x,
                  pick(w, s, F32)));
        break;
    case 7:
        a = emit(w, s, "f32[20]", "reduce(v%d, v%d), dimensions={0}, to_apply=most", x,
                 pick(w, s, F32));
        keep(s, GRID, emit(w, s, "f32[12,20]", "broadcast(v%d), dimensions={1}", a));
        break;
    default:
        a = emit(w, s, "pred[12,20]", "compare(v%d, v%d), direction=LT", x, pick(w, s, GRID));
        b = emit(w, s, "pred[12,20]", "reverse(v%d), dimensions={0}", a);
        keep(s, GRID, emit(w, s, "f32[12,20]", "select(v%d, v%d, v%d)", b, x, pick(w, s, GRID)));
        break;
    }
}

static void large_arrays(struct writer *w, struct scope *s)
{
    int x = pick(w, s, BIG), a, b;
    switch (random_in(&w->r, 0, 4)) {
    case 0:
        a = emit(w, s, "f32[3,1]", "dynamic-slice(v%d, v%d, v%d), dynamic_slice_sizes={3,1}", x,
                 pick(w, s, S32), pick(w, s, S32));
        keep(s, ROW, emit(w, s, "f32[3]", "reshape(v%d)", a));
        break;
    case 1:
        a = emit(w, s, "f32[1,3]", "reshape(v%d)", pick(w, s, ROW));
        keep(s, BIG,
             emit(w, s, "f32[40,50]", "dynamic-update-slice(v%d, v%d, v%d, v%d)", x, a,
                  pick(w, s, S32), pick(w, s, S32)));
        break;
    case 2: keep(s, BIG, emit(w, s, "f32[40,50]", "copy(v%d)", x)); break;
    default:
        a = emit(w, s, "s32[1,2]", "slice(v%d), slice={[0:1], [0:2]}", pick(w, s, SQUARE));
        b = emit(w, s, "s32[2]", "reshape(v%d)", a);
        if (random_in(&w->r, 0, 1))
            keep(s, BIG,
                 emit(w, s, "f32[40,50]",
                      "scatter(v%d, v%d, v%d), update_window_dims={}, inserted_window_dims={0,1}, "
                      "scatter_dims_to_operand_dims={0,1}, index_vector_dim=0, to_apply=sum",
                      x, b, pick(w, s, F32)));
        else
            keep(s, F32,
                 emit(w, s, "f32[]",
                      "gather(v%d, v%d), offset_dims={}, collapsed_slice_dims={0,1}, "
                      "start_index_map={0,1}, "
                      "index_vector_dim=0, slice_sizes={1,1}",
                      x, b));
        break;
    }
}

static void put_types(struct writer *w, struct buf *b)
{
    for (int t = 0; t < w->types; t++)
        buf_printf(b, "%s%s", t ? ", " : "", type_text[t]);
}

static void open_scope(struct writer *w, struct scope *s, bool counts)
{
    int p = w->next++;
    memset(s, 0, sizeof *s);
    buf_printf(&s->text, "f.%d {\n  v%d = (%s", p, p, counts ? "s32[], " : "");
    put_types(w, &s->text);
    buf_printf(&s->text, ") parameter(0)\n");
    for (int t = 0; t < w->types; t++)
        keep(s, (enum type)t,
             emit(w, s, type_text[t], "get-tuple-element(v%d), index=%d", p, t + counts));
}

static int picks(struct writer *w, struct scope *s, struct buf *b)
{
    for (int t = 0; t < w->types; t++)
        buf_printf(b, "%sv%d", t ? ", " : "", pick(w, s, (enum type)t));
    return 0;
}

static void close_scope(struct writer *w, struct scope *s, int counter)
{
    buf_printf(&s->text, "  ROOT v%d = (%s", w->next++, counter ? "s32[], " : "");
    put_types(w, &s->text);
    buf_printf(&s->text, ") tuple(");
    if (counter)
        buf_printf(&s->text, "v%d, ", counter);
    picks(w, s, &s->text);
    buf_printf(&s->text, ")\n}\n");
    buf_printf(&w->text, "%s", s->text.data);
    buf_free(&s->text);
}

static void statements(struct writer *w, struct scope *s, int depth);

/* A computation on the whole state; the body of a loop also counts iterations. Returns its
 * number. */
static int computation(struct writer *w, int depth, bool counts)
{
    struct scope *s = malloc(sizeof *s);
    int number = w->next, i = 0;
    open_scope(w, s, counts);
    if (counts) {
        int one = emit(w, s, "s32[]", "constant(%d)", (int)random_in(&w->r, 1, 2)),
            old = emit(w, s, "s32[]", "get-tuple-element(v%d), index=0", number);
        i = emit(w, s, "s32[]", "add(v%d, v%d)", old, one);
        keep(s, S32, old); /* is compared with constants, among them the bounds of the loop */
        for (int k = 0; k < 3; k++) {
            static const char *const directions[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
            int edge = emit(w, s, "s32[]", "constant(%d)", (int)random_in(&w->r, -4, 4));
            int holds = emit(w, s, "pred[]", "compare(v%d, v%d), direction=%s", k % 2 ? edge : old,
                             k % 2 ? old : edge, any(w, directions, 6));
            keep(s, PRED, holds);
            keep(s, S32, emit(w, s, "s32[]", "select(v%d, v%d, v%d)", holds, edge, old));
            keep(s, S32,
                 emit(w, s, "s32[]", "%s(v%d, v%d)", random_in(&w->r, 0, 1) ? "maximum" : "minimum",
                      old, edge));
        }
    }
    statements(w, s, depth);
    close_scope(w, s, i);
    free(s);
    return number;
}

static int condition(struct writer *w, int trips)
{
    int number = w->next++;
    buf_printf(&w->text, "f.%d {\n  p%d = (s32[], ", number, number);
    put_types(w, &w->text);
    buf_printf(&w->text,
               ") parameter(0)\n  i%d = s32[] get-tuple-element(p%d), index=0\n  n%d = s32[] "
               "constant(%d)\n"
               "  ROOT r%d = pred[] compare(i%d, n%d), direction=LT\n}\n",
               number, number, number, trips, number, number, number);
    return number;
}

static void control(struct writer *w, struct scope *s, int depth)
{
    struct buf state = {0}, line = {0}, type = {0};
    int kind = (int)random_in(&w->r, 0, 3), counts = kind == 0, first = 0, result;
    if (counts)
        first = emit(w, s, "s32[]", "constant(%d)", (int)random_in(&w->r, -3, 1));
    buf_printf(&type, "(%s", counts ? "s32[], " : "");
    put_types(w, &type);
    buf_printf(&type, ")");
    if (counts)
        buf_printf(&state, "v%d, ", first);
    picks(w, s, &state);
    int t = emit(w, s, type.data, "tuple(%s)", state.data);
    int body = computation(w, depth + 1, counts),
        other = kind > 1 ? computation(w, depth + 1, false) : 0;
    switch (kind) {
    case 0:
        buf_printf(&line, "while(v%d), condition=f.%d, body=f.%d", t,
                   condition(w, (int)random_in(&w->r, 0, 4)), body);
        break;
    case 1: buf_printf(&line, "call(v%d), to_apply=f.%d", t, body); break;
    case 2:
        buf_printf(&line, "conditional(v%d, v%d, v%d), branch_computations={f.%d, f.%d}",
                   pick(w, s, S32), t, t, body, other);
        break;
    default:
        buf_printf(&line,
                   "conditional(v%d, v%d, v%d), true_computation=f.%d, false_computation=f.%d",
                   pick(w, s, PRED), t, t, body, other);
        break;
    }
    result = emit(w, s, type.data, "%s", line.data);
    for (int k = 0; k < w->types; k++)
        keep(s, (enum type)k,
             emit(w, s, type_text[k], "get-tuple-element(v%d), index=%d", result, k + counts));
    buf_free(&state);
    buf_free(&line);
    buf_free(&type);
}

static void statements(struct writer *w, struct scope *s, int depth)
{
    for (int k = (int)random_in(&w->r, 2, 12); k > 0 && w->budget > 0; k--, w->budget--)
        switch (random_in(&w->r, 0, 8)) {
        case 0:
            if (depth < 3)
                control(w, s, depth);
            break;
        case 1: small_arrays(w, s); break;
        case 2: between_types(w, s); break;
        case 3:
            if (w->types > BIG)
                large_arrays(w, s);
            break;
        case 4: grids(w, s); break;
        default: arithmetic(w, s, (enum type)random_in(&w->r, 0, GRID)); break;
        }
}

/* With an enclosing loop, so that it is one step of the entry computation. */
static void random_program(struct buf *text, uint64_t seed)
{
    static const char *const begin[] = {
        "7", "5", "-11", "1.5", "true", "{1, -2, 0.5}", "{{1, 2}, {3, -4}}"};
    struct writer w = {.r = {.state = seed}, .budget = 150, .types = seed % 2 ? BIG : TYPES};
    int body = computation(&w, 0, true), test = condition(&w, (int)random_in(&w.r, 1, 4));
    buf_printf(text,
               "HloModule m\nsum {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = "
               "f32[] add(x, y)\n}\n"
               "most {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT r = "
               "f32[] maximum(x, y)\n}\n"
               "less {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT r = pred[] "
               "compare(x, y), direction=LT\n}\n"
               "%sENTRY e {\n  z = s32[] constant(0)\n",
               w.text.data);
    for (int t = 0; t < w.types; t++)
        if (t < LONG)
            buf_printf(text, "  a%d = %s constant(%s)\n", t, type_text[t], begin[t]);
        else
            buf_printf(text, "  a%d = %s iota(), iota_dimension=0\n", t, type_text[t]);
    buf_printf(text, "  t = (s32[], ");
    put_types(&w, text);
    buf_printf(text, ") tuple(z");
    for (int t = 0; t < w.types; t++)
        buf_printf(text, ", a%d", t);
    buf_printf(text, ")\n  ROOT w = (s32[], ");
    put_types(&w, text);
    buf_printf(text, ") while(t), condition=f.%d, body=f.%d\n}\n", test, body);
    buf_putc(text, '\0');
    buf_free(&w.text);
}

/* Runs with a limit of steps. */
static void run_steps(struct run *r, const char *text, bool plain, uint64_t steps)
{
    run_plan(r, text, &(struct plan_options){.plain = plain, .limits = {.steps = steps}});
    run_try(r, NULL, 0);
}

static bool is_scalar_program(const struct run *r)
{
    const struct function *f = r->program->entry;
    return step_scalar(&f->steps[f->step_count - 1]) != NULL;
}

START_TEST(random_programs_agree_with_reference)
{
    int scalar[2] = {0};
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct buf text = {0};
        struct run fast, plain;
        random_program(&text, seed);
        uint64_t steps = seed % 6 > 1 ? 1 << 20 : seed % 97;
        run_steps(&fast, text.data, false, steps);
        run_steps(&plain, text.data, true, steps);
        const struct function *f = fast.program->entry;
        bool is_scalar = is_scalar_program(&fast), ran = fast.result && plain.result;
        scalar[seed % 2] += is_scalar;
        ck_assert_msg(!ran || same_literal(fast.result, plain.result, false), "seed %d", (int)seed);
        if (is_scalar && f->step_count == plain.program->entry->step_count &&
            is_scalar_program(&plain))
            ck_assert_msg(!fast.result == !plain.result &&
                              budget_left(&fast.state->budget) == budget_left(&plain.state->budget),
                          "seed %d", (int)seed);
        run_free(&fast);
        run_free(&plain);
        buf_free(&text);
    }
    ck_assert_int_gt(scalar[0], 40); /* some of them with large arrays */
    ck_assert_int_gt(scalar[1], 150);
}
END_TEST

/* A loop that counts to 10 and sums `index`, computed from the counter i. */
static int loop_operations(const char *first, const char *index)
{
    struct buf text = {0};
    struct run r;
    buf_printf(
        &text,
        "HloModule m\nb {\n  p = (s32[], s32[], s32[]) parameter(0)\n  i = s32[] "
        "get-tuple-element(p), index=0\n"
        "  s = s32[] get-tuple-element(p), index=1\n  n = s32[] get-tuple-element(p), index=2\n  "
        "one = s32[] constant(1)\n"
        "  j = s32[] add(i, one)\n  zero = s32[] constant(0)\n  nine = s32[] constant(9)\n  ten = "
        "s32[] constant(10)\n%s"
        "  t = s32[] add(s, at)\n  ROOT o = (s32[], s32[], s32[]) tuple(j, t, n)\n}\n"
        "c {\n  p = (s32[], s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  n = s32[] get-tuple-element(p), index=2\n  ROOT r = pred[] compare(i, n), "
        "direction=LT\n}\n"
        "ENTRY e {\n  f = s32[] constant(%s)\n  z = s32[] constant(0)\n  n = s32[] constant(10)\n"
        "  t = (s32[], s32[], s32[]) tuple(f, z, n)\n  ROOT w = (s32[], s32[], s32[]) while(t), "
        "condition=c, body=b\n}\n",
        index, first);
    buf_putc(&text, '\0');
    run_plan(&r, text.data, &(struct plan_options){0});
    const struct function *f = r.program->entry;
    ck_assert(is_scalar_program(&r));
    const int count = f->steps[f->step_count - 1].as.scalar->op_count;
    run_free(&r);
    buf_free(&text);
    return count;
}

START_TEST(bounds_checks_of_loop_counters_are_removed)
{
    static const char wrapped[] = "  low = pred[] compare(i, zero), direction=LT\n  up = s32[] "
                                  "add(i, ten)\n  at = s32[] select(low, up, i)\n",
                      clipped[] = "  m = s32[] maximum(zero, i)\n  at = s32[] minimum(nine, m)\n";
    const int plain = loop_operations("0", "  at = s32[] copy(i)\n");
    ck_assert_int_eq(loop_operations("0", wrapped), plain);
    ck_assert_int_eq(loop_operations("0", clipped), plain);
    ck_assert_int_gt(loop_operations("-1", wrapped), plain);
    ck_assert_int_gt(loop_operations("-1", clipped), plain);
}
END_TEST

START_TEST(equal_instructions_are_compiled_once)
{
    static const char twice[] = "  x = s32[] multiply(i, nine)\n  y = s32[] multiply(i, nine)\n"
                                "  at = s32[] xor(x, y)\n",
                      once[] = "  x = s32[] multiply(i, nine)\n  at = s32[] xor(x, x)\n",
                      different[] = "  x = s32[] multiply(i, nine)\n  y = s32[] multiply(i, ten)\n"
                                    "  at = s32[] xor(x, y)\n";
    const int count = loop_operations("0", once);
    ck_assert_int_eq(loop_operations("0", twice), count);
    ck_assert_int_gt(loop_operations("0", different), count);
}
END_TEST

/* The number of steps of a loop that adds a column or a row of an array, and of what is hoisted out
 * of it. */
static int steps_with_slice(bool column)
{
    const char *type = column ? "64,4" : "4,64";
    struct buf text = {0};
    struct run r;
    buf_printf(&text,
               "HloModule m\nb {\n  p = (s32[], f32[64], f32[%s]) parameter(0)\n"
               "  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n"
               "  s = f32[64] get-tuple-element(p), index=1\n"
               "  x = f32[%s] get-tuple-element(p), index=2\n  j = s32[] add(i, one)\n"
               "  c = f32[%s] slice(x), slice=%s\n  d = f32[64] reshape(c)\n"
               "  t = f32[64] add(s, d)\n"
               "  ROOT o = (s32[], f32[64], f32[%s]) tuple(j, t, x)\n}\n"
               "c {\n  p = (s32[], f32[64], f32[%s]) parameter(0)\n"
               "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(10)\n"
               "  ROOT r = pred[] compare(i, n), direction=LT\n}\n"
               "ENTRY e {\n  z = s32[] constant(0)\n  s = f32[64] parameter(0)\n"
               "  x = f32[%s] parameter(1)\n  t = (s32[], f32[64], f32[%s]) tuple(z, s, x)\n"
               "  ROOT w = (s32[], f32[64], f32[%s]) while(t), condition=c, body=b\n}\n",
               type, type, column ? "64,1" : "1,64", column ? "{[0:64], [2:3]}" : "{[2:3], [0:64]}",
               type, type, type, type, type);
    buf_putc(&text, '\0');
    run_plan(&r, text.data, &(struct plan_options){0});
    ck_assert(is_scalar_program(&r));
    const int count = r.program->entry->step_count;
    run_free(&r);
    buf_free(&text);
    return count;
}

START_TEST(columns_are_copied_before_the_loop)
{
    ck_assert_int_gt(steps_with_slice(true), steps_with_slice(false));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scalar");
    TCase *tc = tcase_create("properties");
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    tcase_add_test(tc, random_programs_agree_with_reference);
    tcase_add_test(tc, bounds_checks_of_loop_counters_are_removed);
    tcase_add_test(tc, equal_instructions_are_compiled_once);
    tcase_add_test(tc, columns_are_copied_before_the_loop);
    return check_run(s);
}
