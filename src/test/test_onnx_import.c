/*
 * Tests of the import of ONNX models: values and rejections for each operator, nested graphs, sizes
 * known only at run time; one file because all tests use the parser of the text form of models:
 *
 *     (x, n) => (y) { t = Add(x, x)  y = Slice<axis=0>(t, n) }
 *
 * Attributes are integers 3, floats ~0.5, lists [1,2], tensors 'f32[] 1', types :f32 or :seq:f32,
 * and graphs. Inputs of the model are literals, separated by |: an initializer begins with =, a
 * sequence is [f32[] 1; f32[] 2], an optional ?value or ?.
 */
#include "onnx/onnx.h"

#include "check_quiet.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- models from text ---- */

static struct arena arena;
static hlo_messages *m;
static const char *at;
static struct onnx_value own[64]; /* literals of attributes and inputs */
static size_t name_count;

static void set_up(void)
{
    arena_init(&arena);
    m = hlo_messages_new();
    name_count = 0;
}

static void tear_down(void)
{
    for (size_t k = 0; k < name_count; k++)
        onnx_value_free(&own[k]);
    hlo_messages_free(m);
    arena_free(&arena);
}

static bool is_next(char c)
{
    while (char_is_blank(*at))
        at++;
    return *at == c;
}

static bool eat(char c)
{
    bool is = is_next(c);
    at += is;
    return is;
}

static void expect_char(char c) { ck_assert_msg(eat(c), "expected %c before: %s", c, at); }

static struct str word(void)
{
    is_next(' ');
    const char *begin = at;
    while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
           *at == '_')
        at++;
    return (struct str){begin, (size_t)(at - begin)};
}

/* Names with commas between them, up to `end`; an empty one is absent. */
static struct str *names(char end, size_t *count)
{
    struct str *list = ARENA_ARRAY(&arena, struct str, 64);
    *count = 0;
    while (!is_next(end)) {
        list[(*count)++] = word();
        if (!eat(','))
            break;
        if (is_next(end))
            list[(*count)++] = STR("");
    }
    return list;
}

/* The text up to one of these characters outside brackets. */
static struct str text_to(const char *ends)
{
    int depth = 0;
    is_next(' ');
    const char *begin = at;
    for (; *at && (depth > 0 || !strchr(ends, *at)); at++)
        depth += strchr("{[(", *at) ? 1 : strchr("}])", *at) ? -1 : 0;
    return str_trim((struct str){begin, (size_t)(at - begin)});
}

static struct onnx_value tensor(struct str text)
{
    struct onnx_value v = {.kind = ONNX_TENSOR, .present = true};
    v.tensor = hlo_literal_parse(text.ptr, text.len, m);
    ck_assert_msg(v.tensor != NULL, STR_FMT, STR_ARG(text));
    v.elem = onnx_dtype_find(hlo_literal_leaf(v.tensor, 0).dtype);
    return v;
}

static struct onnx_graph *graph(void);

static void read_type(struct onnx_type *t)
{
    struct str s = word();
    *t = (struct onnx_type){.kind = ONNX_TENSOR, .rank = -1};
    if (str_is(s, "seq") && eat(':')) {
        t->kind = ONNX_SEQUENCE;
        s = word();
    }
    t->elem = onnx_dtype_find(arena_str(&arena, s).ptr);
}

static void attr(struct onnx_attr *a)
{
    a->name = word();
    expect_char('=');
    char *end;
    if (eat('\'')) {
        a->kind = ONNX_ATTR_TENSOR;
        a->tensor = own[name_count++] = tensor(text_to("'"));
        expect_char('\'');
    } else if (eat('[')) {
        a->kind = ONNX_ATTR_INTS;
        a->ints = ARENA_ARRAY(&arena, int64_t, 16);
        while (!eat(']')) {
            a->ints[a->count++] = strtoll(at, &end, 10);
            at = end;
            eat(',');
        }
    } else if (eat('~')) {
        a->kind = ONNX_ATTR_FLOAT;
        a->f = strtof(at, &end);
        at = end;
    } else if (eat(':')) {
        a->kind = ONNX_ATTR_TYPE;
        read_type(&a->type);
    } else if (is_next('(')) {
        a->kind = ONNX_ATTR_GRAPH;
        a->graph = graph();
    } else {
        a->kind = ONNX_ATTR_INT;
        a->i = strtoll(at, &end, 10);
        at = end;
    }
}

static void read_node(struct onnx_node *n)
{
    n->outputs = names('=', &n->output_count);
    expect_char('=');
    n->op = word();
    if (str_is(n->op, "other")) /* of another domain */
        n->domain = STR("com.example");
    n->attrs = ARENA_ARRAY(&arena, struct onnx_attr, 8);
    if (eat('<'))
        while (!eat('>')) {
            attr(&n->attrs[n->attr_count++]);
            eat(',');
        }
    expect_char('(');
    n->inputs = names(')', &n->input_count);
    expect_char(')');
}

static struct onnx_value_info *infos(size_t *count)
{
    expect_char('(');
    struct str *list = names(')', count);
    expect_char(')');
    struct onnx_value_info *out = ARENA_ARRAY(&arena, struct onnx_value_info, *count + 1);
    for (size_t k = 0; k < *count; k++)
        out[k] = (struct onnx_value_info){list[k], {.rank = -1}};
    return out;
}

static struct onnx_graph *graph(void)
{
    struct onnx_graph *g = ARENA_NEW(&arena, struct onnx_graph);
    g->inputs = infos(&g->input_count);
    expect_char('=');
    expect_char('>');
    g->outputs = infos(&g->output_count);
    g->nodes = ARENA_ARRAY(&arena, struct onnx_node, 64);
    expect_char('{');
    while (!eat('}'))
        read_node(&g->nodes[g->node_count++]);
    return g;
}

/* ---- inputs ---- */

static struct onnx_value read_value(struct str text)
{
    struct onnx_value v = {.kind = ONNX_SEQUENCE, .present = true};
    if (text.len == 0 || (*text.ptr != '[' && *text.ptr != '?'))
        return tensor(text);
    if (*text.ptr == '?') {
        v = text.len == 1 ? (struct onnx_value){.kind = ONNX_OPTIONAL}
                          : read_value((struct str){text.ptr + 1, text.len - 1});
        v.kind = v.kind == ONNX_SEQUENCE ? ONNX_OPTIONAL_SEQUENCE : ONNX_OPTIONAL;
        return v;
    }
    v.elements = heap_zalloc(16, sizeof *v.elements);
    const char *outer = at;
    at = text.ptr + 1;
    while (!eat(']')) {
        v.elements[v.count++] = tensor(text_to(";]"));
        eat(';');
    }
    at = outer;
    v.elem = v.count > 0 ? v.elements[0].elem : 1;
    return v;
}

/* Declares the inputs by their values; `open`: only the ranks of those that are not integers. */
static void declare(struct onnx_type *t, const struct onnx_value *v, bool open)
{
    const hlo_literal *l = v->tensor      ? v->tensor
                           : v->count > 0 ? v->elements[v->count - 1].tensor
                                          : NULL;
    *t = (struct onnx_type){.kind = v->kind, .elem = v->elem ? v->elem : 1, .rank = -1};
    if (!l)
        return;
    struct hlo_array x = hlo_literal_leaf(l, 0);
    t->rank = (int)x.rank;
    t->dims = ARENA_ARRAY(&arena, int64_t, x.rank + 1);
    for (size_t d = 0; d < x.rank; d++)
        t->dims[d] = v->kind != ONNX_TENSOR || (open && *x.dtype != 's') ? -1 : x.dims[d];
}

static struct onnx_value *inputs_of(struct onnx_graph *g, const char *text, bool open)
{
    struct onnx_value *values = ARENA_ARRAY(&arena, struct onnx_value, g->input_count + 1);
    size_t given = 0;
    g->initializers = ARENA_ARRAY(&arena, struct onnx_initializer, g->input_count + 1);
    at = text;
    for (size_t k = 0; k < g->input_count; k++) {
        bool known = eat('=');
        struct onnx_value v = own[name_count++] = read_value(text_to("|"));
        eat('|');
        declare(&g->inputs[k].type, &v, open);
        if (known)
            g->initializers[g->initializer_count++] =
                (struct onnx_initializer){g->inputs[k].name, v};
        else
            values[given++] = v;
    }
    return values;
}

/* ---- runs ---- */

static void put_value(struct buf *b, const struct onnx_value *v)
{
    bool sequence = v->kind == ONNX_SEQUENCE || v->kind == ONNX_OPTIONAL_SEQUENCE;
    if (v->kind == ONNX_OPTIONAL || v->kind == ONNX_OPTIONAL_SEQUENCE)
        buf_putc(b, '?');
    if (!v->present)
        return;
    buf_puts(b, sequence ? "[" : "");
    for (size_t k = 0; k < (sequence ? v->count : 1); k++) {
        hlo_text text = hlo_literal_print(sequence ? v->elements[k].tensor : v->tensor, true);
        buf_printf(b, "%s%s", k ? "; " : "", text.data);
        hlo_text_free(&text);
    }
    buf_puts(b, sequence ? "]" : "");
}

/* The messages, preceded by !. */
static const char *error_message(void)
{
    hlo_text text = hlo_messages_draw(m, false);
    const char *out = arena_printf(&arena, "!%s", text.data).ptr;
    hlo_text_free(&text);
    return out;
}

static const char *outputs_of(const hlo_literal *result)
{
    struct buf b = {0};
    for (size_t k = 0; k < hlo_literal_count(result); k++) {
        struct onnx_value v;
        ck_assert(onnx_from_literal(hlo_literal_element(result, k), NULL, &v, m));
        buf_puts(&b, k ? " | " : "");
        put_value(&b, &v);
        onnx_value_free(&v);
    }
    const char *text = arena_str(&arena, buf_view(&b)).ptr;
    buf_free(&b);
    return text;
}

static const char *run(const hlo_module *module, const struct onnx_value *values)
{
    hlo_literal *args[16];
    size_t count = hlo_param_count(module);
    if (!hlo_verify(module, m))
        return error_message();
    for (size_t k = 0; k < count; k++)
        if (!(args[k] = onnx_to_literal(&values[k], module, k, m)))
            return error_message();
    hlo_program *p = hlo_plan(module, &HLO_WITH(hlo_run_options, .max_steps = 100000), m);
    hlo_literal *result = p ? hlo_run(p, (const hlo_literal *const *)args, count, m) : NULL;
    const char *out = result ? outputs_of(result) : error_message();
    for (size_t k = 0; k < count; k++)
        hlo_literal_free(args[k]);
    hlo_literal_free(result);
    hlo_program_free(p);
    return out;
}

/* The outputs of a model; `open`: translated without its inputs, whose sizes are bounded then. */
static const char *outputs(const char *text, int64_t opset, const char *inputs, bool open)
{
    at = text;
    struct onnx_model model = {
        .path = STR("m.onnx"), .ir_version = 10, .opset = opset, .graph = *graph()};
    struct onnx_value *values = inputs_of(&model.graph, inputs, open);
    hlo_module *module =
        onnx_import(&model, &(struct onnx_import_options){open ? NULL : values, 8}, m);
    const char *out = module ? run(module, values) : error_message();
    hlo_module_free(module);
    return out;
}

/* Without blanks and layouts, which are the braces right behind a bracket. */
static const char *plain(const char *text)
{
    char *out = arena_alloc(&arena, strlen(text) + 1), *to = out;
    for (const char *c = text; *c; c++) {
        if (*c == '{' && c > text && c[-1] == ']')
            while (*c && *c++ != '}')
                continue;
        if (*c && *c != ' ')
            *to++ = *c;
        if (!*c)
            break;
    }
    *to = '\0';
    return out;
}

/* An expectation that begins with ! is a part of the message. */
static void check(const char *text, int64_t opset, const char *inputs, bool open,
                  const char *expected)
{
    set_up();
    const char *got = outputs(text, opset, inputs, open);
    bool agrees = *expected == '!' ? *got == '!' && strstr(got, expected + 1) != NULL
                                   : strcmp(plain(got), plain(expected)) == 0;
    ck_assert_msg(agrees, "opset %d, %s\n%s\n%s\nexpected %s\ngot      %s", (int)opset,
                  open ? "sizes open" : "sizes known", text, inputs, expected, got);
    tear_down();
}

/* ---- operators ---- */

enum mode {
    BOTH,
    KNOWN
}; /* KNOWN: a size comes from an input, so inputs are needed for the import */

struct op_case {
    const char *node; /* of inputs a, b, c ... */
    int opset;
    const char *inputs, *expected;
    enum mode mode;
};

static const struct op_case op_cases[] = {
    /* arithmetic and broadcasting */
    {"Add(a, b)", 7, "f32[2,2] {{1, 2}, {3, 4}} | f32[2] {10, 20}",
     "f32[2,2] { { 11, 22 }, { 13, 24 } }"},
    {"Add(a, b)", 14, "f32[3] {1, 2, 3} | f32[1] 10", "f32[3] {11, 12, 13}"},
    {"Add(a, b)", 14, "f32[2,1] {{1}, {2}} | f32[1,3] {{10, 20, 30}}",
     "f32[2,3] { { 11, 21, 31 }, { 12, 22, 32 } }"},
    {"Add(a, b)", 14, "f32[0,2] {} | f32[1,2] {{1, 2}}", "f32[0,2] { }"},
    {"Add(a, b)", 14, "f32[2] {1, 2} | f32[3] {1, 2, 3}", "!cannot broadcast ", KNOWN},
    {"Add(a, b)", 14, "f32[2] {1, 2} | f64[2] {1, 2}",
     "!incompatible inputs float[2] and double[2]", KNOWN},
    {"Add(a, b)", 6, "f32[] 1 | f32[] 2", "!supported from opset 7; the model has opset 6"},
    {"Add(a)", 14, "f32[] 1", "!1 inputs, expected at least 2"},
    {"Sub(a, b)", 14, "s64[] 1 | s64[2] {1, 2}", "s64[2] {0, -1}"},
    {"Sub(a, z)", 14, "s64[] 1", "!undefined input 'z'"},
    {"Mul(a, b)", 14, "f64[2] {1, 2} | f64[2] {3, 4}", "f64[2] {3, 8}"},
    {"Mul(a, b, c)", 14, "f32[] 1 | f32[] 1 | f32[] 1", "!3 inputs, expected at most 2"},
    {"Div(a, b)", 14, "s32[3] {7, -7, 6} | s32[] 2", "s32[3] {3, -3, 3}"},
    {"Div(a, b)", 14, "s32[3] {7, -7, 6} | f32[] 2", "!incompatible inputs int32[3] and float[]",
     KNOWN},
    {"Mod(a, b)", 13, "s32[4] {7, -7, 7, -7} | s32[4] {3, 3, -3, -3}", "s32[4] {1, 2, -2, -1}"},
    {"Mod<fmod=1>(a, b)", 13, "f32[2] {7.5, -7.5} | f32[] 2", "f32[2] {1.5, -1.5}"},
    {"Mod(a, b)", 9, "s32[] 1 | s32[] 1", "!supported from opset 10; the model has opset 9"},
    {"Pow(a, b)", 13, "f32[3] {1, 2, 3} | s64[] 2", "f32[3] {1, 4, 9}"},
    {"Pow(a, b)", 13, "s32[2] {4, 9} | f32[] 0.5", "s32[2] {2, 3}"},
    {"Pow(a, b)", 13, "f32[2] {4, 9} | f32[3] {1, 1, 1}", "!cannot broadcast ", KNOWN},
    {"Neg(a)", 13, "s8[2] {1, -2}", "s8[2] {-1, 2}"},
    {"Abs(a)", 13, "f32[2] {1, -2}", "f32[2] {1, 2}"},
    {"Abs(a)", 13, "u8[2] {1, 2}", "u8[2] {1, 2}"},
    {"Sign(a)", 13, "f32[3] {3, -2, 0}", "f32[3] {1, -1, 0}"},
    {"Ceil(a)", 13, "f32[2] {1.5, -1.5}", "f32[2] {2, -1}"},
    {"Floor(a)", 13, "f32[2] {1.5, -1.5}", "f32[2] {1, -2}"},
    {"Round(a)", 11, "f32[3] {0.5, 1.5, 2.6}", "f32[3] {0, 2, 3}"},
    {"Sqrt(a)", 13, "f32[2] {4, 9}", "f32[2] {2, 3}"},
    {"Exp(a)", 13, "f32[2] {0, -inf}", "f32[2] {1, 0}"},
    {"Log(a)", 13, "f32[2] {1, 0}", "f32[2] {0, -inf}"},
    {"Erf(a)", 13, "f32[1] {0}", "f32[1] {0}"},
    {"Sin(a)", 7, "f32[1] {0}", "f32[1] {0}"},
    {"Cos(a)", 7, "f32[1] {0}", "f32[1] {1}"},
    {"Tan(a)", 7, "f32[1] {0}", "f32[1] {0}"},
    {"Tanh(a)", 13, "f32[2] {0, inf}", "f32[2] {0, 1}"},
    {"Sigmoid(a)", 13, "f32[2] {0, inf}", "f32[2] {0.5, 1}"},
    {"Relu(a)", 14, "f32[2] {-1, 2}", "f32[2] {0, 2}"},
    {"Reciprocal(a)", 13, "f32[2] {2, 4}", "f32[2] {0.5, 0.25}"},
    {"IsNaN(a)", 13, "f32[2] {nan, 1}", "pred[2] {1, 0}"},
    {"Sqrt(a)", 5, "f32[] 4", "!supported from opset 6; the model has opset 5"},
    {"Exp(a, a)", 13, "f32[] 1", "!2 inputs, expected at most 1"},
    {"Clip(a, b, c)", 13, "f32[3] {-1, 2, 9} | f32[] 0 | f32[] 5", "f32[3] {0, 2, 5}"},
    {"Clip(a, , b)", 13, "f32[3] {-1, 2, 9} | f32[] 5", "f32[3] {-1, 2, 5}"},
    {"Clip(a, b)", 13, "f32[3] {-1, 2, 9} | f32[2] {0, 0}",
     "!bounds must be scalars of type float, got float["},
    {"Sum(a, b, c)", 13, "f32[2] {1, 2} | f32[] 3 | f32[2] {1, 1}", "f32[2] {5, 6}"},
    {"Max(a, b)", 13, "s32[2] {1, 5} | s32[2] {4, 2}", "s32[2] {4, 5}"},
    {"Min(a)", 13, "s32[2] {1, 5}", "s32[2] {1, 5}"},
    {"Min(a, b)", 13, "s32[2] {1, 5} | s64[2] {1, 5}",
     "!incompatible inputs int32[2] and int64[2]"},
    {"Mean(a, b)", 13, "f32[2] {1, 5} | f32[] 3", "f32[2] {2, 4}"},
    {"Sum(a, b)", 13, "f32[2] {1, 5} | f32[3] {1, 1, 1}", "!cannot broadcast ", KNOWN},
    /* logic */
    {"Less(a, b)", 13, "f32[2] {1, 5} | f32[] 3", "pred[2] {1, 0}"},
    {"LessOrEqual(a, b)", 13, "s64[2] {1, 5} | s64[] 1", "pred[2] {1, 0}"},
    {"Greater(a, b)", 13, "f32[2] {1, 5} | f32[] 3", "pred[2] {0, 1}"},
    {"GreaterOrEqual(a, b)", 13, "f32[2] {1, 5} | f32[] 5", "pred[2] {0, 1}"},
    {"GreaterOrEqual(a, b)", 11, "f32[] 1 | f32[] 1",
     "!supported from opset 12; the model has opset 11"},
    {"Equal(a, b)", 13, "pred[2] {1, 0} | pred[2] {1, 1}", "pred[2] {1, 0}"},
    {"Equal(a, b)", 13, "pred[2] {1, 0} | f32[2] {1, 1}",
     "!incompatible inputs bool[2] and float[2]", KNOWN},
    {"Not(a)", 13, "pred[2] {1, 0}", "pred[2] {0, 1}"},
    {"Not(a)", 13, "f32[2] {1, 0}", "!expected bool"},
    {"And(a, b)", 13, "pred[2] {1, 0} | pred[] true", "pred[2] {1, 0}"},
    {"Or(a, b)", 13, "pred[2] {1, 0} | pred[] true", "pred[2] {1, 1}"},
    {"Xor(a, b)", 13, "pred[2] {1, 0} | pred[] true", "pred[2] {0, 1}"},
    {"And(a, b)", 13, "pred[2] {1, 0} | pred[3] {1, 1, 1}", "!cannot broadcast ", KNOWN},
    {"BitwiseAnd(a, b)", 18, "u8[2] {6, 3} | u8[] 2", "u8[2] {2, 2}"},
    {"BitwiseOr(a, b)", 18, "u8[2] {6, 3} | u8[] 1", "u8[2] {7, 3}"},
    {"BitwiseXor(a, b)", 18, "u8[2] {6, 3} | u8[] 2", "u8[2] {4, 1}"},
    {"BitwiseNot(a)", 18, "u8[2] {6, 3}", "u8[2] {249, 252}"},
    {"BitwiseNot(a)", 17, "u8[2] {6, 3}", "!supported from opset 18; the model has opset 17"},
    {"Where(a, b, c)", 16, "pred[2] {1, 0} | f32[2] {1, 2} | f32[] 9", "f32[2] {1, 9}"},
    {"Where(a, b, c)", 16, "pred[2,1] {{1}, {0}} | f32[2] {1, 2} | f32[1,1] {{9}}",
     "f32[2,2] { { 1, 2 }, { 9, 9 } }"},
    {"Where(a, b, c)", 16, "pred[2] {1, 0} | f32[2] {1, 2} | s32[] 9",
     "!incompatible inputs bool[2], float[2] and int32[]", KNOWN},
    /* conversions */
    {"Cast<to=9>(a)", 13, "f32[3] {0, 0.5, nan}", "pred[3] {0, 1, 1}"},
    {"Cast<to=7>(a)", 13, "f32[2] {1.9, -1.9}", "s64[2] {1, -1}"},
    {"Cast<to=2>(a)", 13, "s32[2] {257, -1}", "u8[2] {1, 255}"},
    {"Cast<to=1>(a)", 13, "pred[2] {1, 0}", "f32[2] {1, 0}"},
    {"Cast<to=17>(a)", 19, "f32[3] {1, 1000, -inf}", "f8e4m3fn[3] {1, 448, -448}"},
    {"Cast<to=17, saturate=0>(a)", 19, "f32[2] {1, 1000}", "f8e4m3fn[2] {1, nan}"},
    {"Cast<to=19>(a)", 19, "s32[2] {1, 100000}", "f8e5m2[2] {1, 5.7e+04}", KNOWN},
    {"Cast<to=22>(a)", 21, "f32[3] {-9, 7, 8}", "s4[3] {7, 7, -8}"},
    {"Cast<to=8>(a)", 13, "f32[] 1", "!element type string has no HLO equivalent"},
    {"Cast(a)", 13, "f32[] 1", "!attribute 'to' is not an element type"},
    {"CastLike(a, b)", 15, "f32[1] {1.5} | s32[] 0", "s32[1] {1}"},
    {"CastLike(a)", 15, "f32[1] {1.5}", "!1 inputs, expected at least 2"},
    /* shapes */
    {"Identity(a)", 16, "[f32[] 1; f32[2] {1, 2}]", "[f32[] 1; f32[2] {1, 2}]", KNOWN},
    {"Identity()", 16, "f32[] 1", "!0 inputs, expected at least 1"},
    {"Shape(a)", 13, "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "s64[2] {2, 3}"},
    {"Shape<start=-1>(a)", 15, "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "s64[1] {3}"},
    {"Shape<start=1, end=1>(a)", 15, "f32[2] {1, 2}", "s64[0] {}"},
    {"Shape(a)", 13, "[f32[] 1]", "!input 0 is seq(float[]), expected a tensor", KNOWN},
    {"Size(a)", 13, "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "s64[] 6"},
    {"Size(a)", 13, "?", "!input 0 is optional(float), expected a tensor", KNOWN},
    {"Reshape(a, b)", 14, "f32[2,3] {{1, 2, 3}, {4, 5, 6}} | =s64[2] {3, -1}",
     "f32[3,2] { { 1, 2 }, { 3, 4 }, { 5, 6 } }"},
    {"Reshape(a, b)", 14, "f32[2,3] {{1, 2, 3}, {4, 5, 6}} | s64[3] {0, 1, -1}",
     "f32[2,1,3] { { { 1, 2, 3 } }, { { 4, 5, 6 } } }"},
    {"Reshape(a, b)", 14, "f32[2,3] {{1, 2, 3}, {4, 5, 6}} | s64[1] {5}",
     "!float[2,3] and float[5] differ in the number of elements", KNOWN},
    {"Reshape(a, b)", 14, "f32[4] {1, 2, 3, 4} | =s64[2] {-1, -1}", "!at most one size may be -1"},
    {"Reshape<allowzero=1>(a, b)", 14, "f32[0] {} | =s64[2] {0, 3}", "f32[0,3] { }"},
    {"Flatten(a)", 13, "f32[2,1,2] {{{1, 2}}, {{3, 4}}}", "f32[2,2] { { 1, 2 }, { 3, 4 } }"},
    {"Flatten<axis=0>(a)", 13, "f32[2,2] {{1, 2}, {3, 4}}", "f32[1,4] { { 1, 2, 3, 4 } }"},
    {"Flatten<axis=3>(a)", 13, "f32[2,2] {{1, 2}, {3, 4}}", "!axis 3 is out of range for rank 2"},
    {"Squeeze<axes=[0]>(a)", 11, "f32[1,2] {{1, 2}}", "f32[2] {1, 2}"},
    {"Squeeze(a, b)", 13, "f32[1,2,1] {{{1}, {2}}} | =s64[2] {0, -1}", "f32[2] {1, 2}"},
    {"Squeeze(a, b)", 13, "f32[1,2,1] {{{1}, {2}}} | s64[1] {0}", "f32[2,1] { { 1 }, { 2 } }",
     KNOWN},
    {"Squeeze(a)", 13, "f32[1,2,1] {{{1}, {2}}}", "f32[2] {1, 2}", KNOWN},
    {"Squeeze<axes=[1]>(a)", 11, "f32[1,2] {{1, 2}}", "!dimension 1 of float[1,2] is not 1", KNOWN},
    {"Unsqueeze<axes=[0, 2]>(a)", 11, "f32[2] {1, 2}", "f32[1,2,1] { { { 1 }, { 2 } } }"},
    {"Unsqueeze(a, b)", 13, "f32[2] {1, 2} | =s64[] -1", "f32[2,1] { { 1 }, { 2 } }"},
    {"Unsqueeze(a, b)", 13, "f32[2] {1, 2} | =s64[2] {0, 0}", "!duplicate axis 0"},
    {"Unsqueeze(a)", 13, "f32[2] {1, 2}", "!missing axes"},
    {"Transpose(a)", 13, "f32[1,2] {{1, 2}}", "f32[2,1] { { 1 }, { 2 } }"},
    {"Transpose<perm=[0, 2, 1]>(a)", 13, "f32[1,1,2] {{{1, 2}}}",
     "f32[1,2,1] { { { 1 }, { 2 } } }"},
    {"Transpose<perm=[0, 0]>(a)", 13, "f32[1,2] {{1, 2}}",
     "!perm is not a permutation of 2 dimensions"},
    {"Expand(a, b)", 13, "f32[2,1] {{1}, {2}} | =s64[3] {2, 1, 2}",
     "f32[2,2,2] { { { 1, 1 }, { 2, 2 } }, { { 1, 1 }, { 2, 2 } } }"},
    {"Expand(a, b)", 13, "f32[2] {1, 2} | s64[1] {1}", "f32[2] {1, 2}"},
    {"Expand(a, b)", 13, "f32[2] {1, 2} | =s64[1] {3}",
     "!cannot expand dimension 0 of float[2] to 3", KNOWN},
    {"Tile(a, b)", 13, "f32[1,2] {{1, 2}} | =s64[2] {2, 2}",
     "f32[2,4] { { 1, 2, 1, 2 }, { 1, 2, 1, 2 } }"},
    {"Tile(a, b)", 13, "f32[2] {1, 2} | s64[1] {3}", "f32[6] {1, 2, 1, 2, 1, 2}"},
    {"Tile(a, b)", 13, "f32[2] {1, 2} | s64[2] {3, 1}",
     "!repeats are int64[2], expected one for each of 1 dimensions", KNOWN},
    {"Concat<axis=0>(a, b)", 13, "f32[2] {1, 2} | f32[1] {3}", "f32[3] {1, 2, 3}"},
    {"Concat<axis=-1>(a, b)", 13, "f32[2,1] {{1}, {2}} | f32[2,2] {{3, 4}, {5, 6}}",
     "f32[2,3] { { 1, 3, 4 }, { 2, 5, 6 } }"},
    {"Concat<axis=0>(a, b)", 13, "f32[1,2] {{1, 2}} | f32[1,3] {{1, 2, 3}}", "!cannot broadcast ",
     KNOWN},
    {"Concat(a)", 13, "f32[1] {1}", "!missing attribute 'axis'"},
    /* positions */
    {"Slice<starts=[1], ends=[3], axes=[0]>(a)", 9, "f32[4] {1, 2, 3, 4}", "f32[2] {2, 3}"},
    {"Slice(a, b, c)", 13, "f32[4] {1, 2, 3, 4} | s64[1] {1} | s64[1] {-1}", "f32[2] {2, 3}"},
    {"Slice(a, b, c, d, e)", 13,
     "f32[4] {1, 2, 3, 4} | s64[1] {-1} | s64[1] {-9223372036854775808} | =s64[1] {0} | s64[1] "
     "{-2}",
     "f32[2] {4, 2}"},
    {"Slice(a, b, c, d, e)", 13,
     "f32[4] {1, 2, 3, 4} | =s64[1] {3} | =s64[1] {-100} | =s64[1] {0} | =s64[1] {-1}",
     "f32[4] {4, 3, 2, 1}"},
    {"Slice(a, b, c, d)", 13, "f32[1,3] {{1, 2, 3}} | =s64[1] {1} | =s64[1] {1000} | =s64[1] {-1}",
     "f32[1,2] { { 2, 3 } }"},
    {"Slice(a, b, c)", 13, "f32[4] {1, 2, 3, 4} | s64[1] {3} | s64[1] {1}", "f32[0] {}"},
    {"Slice(a, b, c, d, e)", 13,
     "f32[4] {1, 2, 3, 4} | =s64[1] {3} | =s64[1] {1} | =s64[1] {0} | =s64[1] {0}",
     "!step of axis 0 is 0"},
    {"Slice(a, b, c, d)", 13, "f32[4] {1, 2, 3, 4} | =s64[1] {3} | =s64[1] {1} | =s64[2] {0, 1}",
     "!1 starts, 1 ends, 2 axes"},
    {"Gather(a, b)", 13, "f32[3] {1, 2, 3} | s64[2] {-1, 0}", "f32[2] {3, 1}"},
    {"Gather<axis=1>(a, b)", 13, "f32[2,2] {{1, 2}, {3, 4}} | s32[] 1", "f32[2] {2, 4}"},
    {"Gather(a, b)", 13, "f32[2,2] {{1, 2}, {3, 4}} | s64[1,2] {{1, 0}}",
     "f32[1,2,2] { { { 3, 4 }, { 1, 2 } } }"},
    {"Gather<axis=2>(a, b)", 13, "f32[2,2] {{1, 2}, {3, 4}} | s32[] 1",
     "!axis 2 is out of range for rank 2"},
    {"Gather(a, b)", 13, "f32[2] {1, 2} | f32[] 1", "!indices are float[]"},
    /* constants and optionals */
    {"Constant<value='f32[2] {1, 2}'>()", 13, "f32[] 0", "f32[2] {1, 2}"},
    {"Constant<value_ints=[3, 4]>()", 13, "f32[] 0", "s64[2] {3, 4}"},
    {"Constant<value_int=3>()", 13, "f32[] 0", "s64[] 3"},
    {"Constant<value_float=~0.5>()", 13, "f32[] 0", "f32[] 0.5"},
    {"Constant()", 13, "f32[] 0", "!missing value"},
    {"ConstantOfShape(a)", 9, "s64[2] {1, 2}", "f32[1,2] { { 0, 0 } }"},
    {"ConstantOfShape<value='s32[1] {7}'>(a)", 9, "s64[1] {3}", "s32[3] {7, 7, 7}"},
    {"ConstantOfShape(a)", 9, "=s64[1] {-1}", "!negative size"},
    {"Range(a, b, c)", 11, "s64[] 0 | s64[] 5 | s64[] 2", "s64[3] {0, 2, 4}"},
    {"Range(a, b, c)", 11, "f32[] 1 | f32[] 0 | f32[] -0.25", "f32[4] {1, 0.75, 0.5, 0.25}"},
    {"Range(a, b, c)", 11, "s32[] 5 | s32[] 0 | s32[] 1", "s32[0] {}"},
    {"Range(a, b, c)", 11, "=s64[] 0 | =s64[] 5 | =s64[] 0", "!limit is never reached"},
    {"Range(a, b, c)", 11, "s64[] 0 | f32[] 5 | s64[] 0", "!expected scalars of one type"},
    /* sums */
    {"MatMul(a, b)", 13, "f32[2,2] {{1, 2}, {3, 4}} | f32[2] {1, 1}", "f32[2] {3, 7}"},
    {"MatMul(a, b)", 13, "f32[2] {1, 2} | f32[2] {3, 4}", "f32[] 11"},
    {"MatMul(a, b)", 13, "f32[2,1,2] {{{1, 2}}, {{3, 4}}} | f32[2,1] {{1}, {1}}",
     "f32[2,1,1] { { { 3 } }, { { 7 } } }"},
    {"MatMul(a, b)", 13, "f32[2,2] {{1, 2}, {3, 4}} | f32[3] {1, 1, 1}", "!cannot broadcast ",
     KNOWN},
    {"ReduceSum(a)", 13, "f32[2,2] {{1, 2}, {3, 4}}", "f32[1,1] { { 10 } }"},
    {"ReduceSum<keepdims=0>(a, b)", 13, "f32[2,2] {{1, 2}, {3, 4}} | =s64[1] {-1}",
     "f32[2] {3, 7}"},
    {"ReduceSum<noop_with_empty_axes=1>(a)", 13, "f32[1] {3}", "f32[1] {3}"},
    {"ReduceMax<axes=[0]>(a)", 13, "s8[2,2] {{-1, 2}, {-3, -4}}", "s8[1,2] { { -1, 2 } }"},
    {"ReduceMin<axes=[0], keepdims=0>(a)", 13, "u16[2,2] {{1, 2}, {3, 1}}", "u16[2] {1, 1}"},
    {"ReduceMean<axes=[1], keepdims=0>(a)", 13, "f32[2,2] {{1, 2}, {3, 4}}", "f32[2] {1.5, 3.5}"},
    {"ReduceProd<keepdims=0>(a)", 13, "f32[2,2] {{1, 2}, {3, 4}}", "f32[] 24"},
    {"ReduceProd<axes=[2]>(a)", 13, "f32[2,2] {{1, 2}, {3, 4}}",
     "!axis 2 is out of range for rank 2"},
    /* sequences and optionals */
    {"SequenceEmpty()", 11, "f32[] 1", "[]"},
    {"SequenceEmpty<dtype=8>()", 11, "f32[] 1", "!HLO has no element type 8"},
    {"SequenceConstruct(a, b)", 11, "f32[2] {1, 2} | f32[1] {3}", "[f32[2] {1, 2}; f32[1] {3}]"},
    {"SequenceConstruct(a, b)", 11, "f32[] 1 | f32[1,2] {{2, 3}}",
     "[f32[] 1; f32[1,2] { { 2, 3 } }]"},
    {"SequenceConstruct(a, b)", 11, "f32[] 1 | s32[] 1", "!elements of types float[] and int32[]"},
    {"SequenceInsert(a, b)", 11, "[f32[2] {1, 2}] | f32[1] {3}", "[f32[2] {1, 2}; f32[1] {3}]"},
    {"SequenceInsert(a, b, c)", 11, "[f32[1] {1}; f32[1] {2}] | f32[1] {3} | s64[] 1",
     "[f32[1] {1}; f32[1] {3}; f32[1] {2}]"},
    {"SequenceInsert(a, b, c)", 11, "[f32[1] {1}; f32[1] {2}] | f32[1] {3} | s64[] -2",
     "[f32[1] {3}; f32[1] {1}; f32[1] {2}]"},
    {"SequenceInsert(a, b)", 11, "[] | f32[1,1] {{3}}", "[f32[1,1] { { 3 } }]", KNOWN},
    {"SequenceInsert(a, b)", 11, "[f32[1] {1}] | s32[] 3", "!int32[] into seq(float[1])", KNOWN},
    {"SequenceErase(a)", 11, "[f32[1] {1}; f32[2] {2, 3}]", "[f32[1] {1}]"},
    {"SequenceErase(a, b)", 11, "[f32[1] {1}; f32[2] {2, 3}] | s64[] 0", "[f32[2] {2, 3}]"},
    {"SequenceErase(a)", 11, "[]", "!empty sequence", KNOWN},
    {"SequenceAt(a, b)", 11, "[f32[1] {1}; f32[2] {2, 3}] | s64[] -1", "f32[2] {2, 3}"},
    {"SequenceAt(a, b)", 11, "[f32[1,2] {{1, 2}}; f32[1,2] {{2, 3}}] | s32[] 0",
     "f32[1,2] { { 1, 2 } }"},
    {"SequenceAt(a, b)", 11, "[f32[] 1; f32[1] {2}] | s64[] 0", "!elements differ in rank", KNOWN},
    {"SequenceAt(a, b)", 11, "f32[1] {2} | s64[] 0", "!input 0 is float[1], expected a sequence",
     KNOWN},
    {"SequenceLength(a)", 11, "[f32[] 1; f32[] 2]", "s64[] 2"},
    {"SequenceLength(a)", 11, "[]", "s64[] 0", KNOWN},
    {"SequenceLength(a)", 11, "f32[] 1", "!input 0 is float[], expected a sequence"},
    {"ConcatFromSequence<axis=0>(a)", 11, "[f32[1] {1}; f32[2] {2, 3}; f32[0] {}; f32[1] {4}]",
     "f32[4] {1, 2, 3, 4}"},
    {"ConcatFromSequence<axis=1>(a)", 11, "[f32[2,1] {{1}, {2}}; f32[2,2] {{3, 4}, {5, 6}}]",
     "f32[2,3] { { 1, 3, 4 }, { 2, 5, 6 } }"},
    {"ConcatFromSequence<axis=-1>(a)", 11, "[f32[1,2] {{1, 2}}; f32[1,2] {{3, 4}}]",
     "f32[1,4] { { 1, 2, 3, 4 } }"},
    {"ConcatFromSequence<axis=-1, new_axis=1>(a)", 11, "[f32[2] {1, 2}; f32[2] {3, 4}]",
     "f32[2,2] { { 1, 3 }, { 2, 4 } }"},
    {"ConcatFromSequence<axis=1>(a)", 11, "[f32[2] {1, 2}]", "!axis 1 is out of range for rank 1"},
    {"SplitToSequence(a)", 11, "f32[2,2] {{1, 2}, {3, 4}}",
     "[f32[1,2] { { 1, 2 } }; f32[1,2] { { 3, 4 } }]"},
    {"SplitToSequence<axis=1, keepdims=0>(a)", 11, "f32[2,2] {{1, 2}, {3, 4}}",
     "[f32[2] {1, 3}; f32[2] {2, 4}]"},
    {"SplitToSequence(a, b)", 11, "f32[5] {1, 2, 3, 4, 5} | s64[] 2",
     "[f32[2] {1, 2}; f32[2] {3, 4}; f32[1] {5}]", KNOWN},
    {"SplitToSequence(a, b)", 11, "f32[3] {1, 2, 3} | s64[2] {1, 2}",
     "[f32[1] {1}; f32[2] {2, 3}]"},
    {"SplitToSequence<axis=1>(a)", 11, "f32[3] {1, 2, 3}", "!axis 1 is out of range for rank 1"},
    {"SequenceMap<body=(e) => (r) { r = Add(e, e) }>(a)", 17, "[f32[1] {1}; f32[2] {2, 3}]",
     "[f32[1] {2}; f32[2] {4, 6}]"},
    {"SequenceMap<body=(e, t) => (r) { r = Add(e, t) }>(a, b)", 17,
     "[f32[1] {1}; f32[1] {2}] | f32[] 5", "[f32[1] {6}; f32[1] {7}]"},
    {"SequenceMap<body=(e) => () { }>(a)", 17, "[f32[1] {1}]",
     "!1 inputs and 1 outputs, but the body has 1 and 0"},
    {"Optional(a)", 15, "f32[2] {1, 2}", "?f32[2] {1, 2}"},
    {"Optional(a)", 15, "[f32[2] {1, 2}]", "?[f32[2] {1, 2}]"},
    {"Optional<type=:f32>()", 15, "f32[] 1", "?"},
    {"Optional<type=:seq:f32>()", 15, "f32[] 1", "?"},
    {"Optional()", 15, "f32[] 1", "!a type is required without an input"},
    {"Optional(a)", 15, "?f32[] 1", "!nested optionals are not supported", KNOWN},
    {"OptionalHasElement(a)", 15, "?f32[2] {1, 2}", "pred[] true"},
    {"OptionalHasElement(a)", 15, "?", "pred[] false", KNOWN},
    {"OptionalHasElement(a)", 18, "f32[2] {1, 2}", "pred[] true"},
    {"OptionalHasElement()", 18, "f32[2] {1, 2}", "pred[] false"},
    {"OptionalHasElement(a, a)", 18, "f32[2] {1, 2}", "!2 inputs, expected at most 1"},
    {"OptionalGetElement(a)", 15, "?f32[2] {1, 2}", "f32[2] {1, 2}"},
    {"OptionalGetElement(a)", 15, "?[f32[2] {1, 2}]", "[f32[2] {1, 2}]"},
    {"OptionalGetElement()", 15, "f32[] 1", "!0 inputs, expected at least 1"},
    /* unsupported operators */
    {"Conv(a)", 15, "f32[] 1", "!Conv 'y': unknown operator in domain 'ai.onnx'"},
    {"other(a)", 15, "f32[] 1", "!unknown operator in domain 'com.example'"},
};

START_TEST(operators)
{
    const struct op_case *o = &op_cases[_i];
    size_t count = 1;
    char names[64] = "a", text[512];
    for (const char *c = o->inputs; *c; c++)
        if (*c == '|') {
            snprintf(names + strlen(names), 4, ", %c", (char)('a' + count));
            count++;
        }
    snprintf(text, sizeof text, "(%s) => (y) { y = %s }", names, o->node);
    check(text, o->opset, o->inputs, false, o->expected);
    if (o->mode == BOTH)
        check(text, o->opset, o->inputs, true, o->expected);
}
END_TEST

/* ---- graphs ---- */

static const struct op_case graph_cases[] = {
    {"(a) => (y, z) { y, z = Split<axis=0>(a) }", 13, "f32[4] {1, 2, 3, 4}",
     "f32[2] {1, 2} | f32[2] {3, 4}"},
    {"(a) => (y, z) { y, z = Split(a) }", 18, "f32[3] {1, 2, 3}", "f32[2] {1, 2} | f32[1] {3}"},
    {"(a, n) => (y, z) { y, z = Split(a, n) }", 13, "f32[3] {1, 2, 3} | s64[2] {3, 0}",
     "f32[3] {1, 2, 3} | f32[0] {}"},
    {"(a) => (y, z) { y, z = Split<split=[1, 1]>(a) }", 11, "f32[3] {1, 2, 3}",
     "!split sizes do not add up to 3", KNOWN},
    {"(a) => (y, z) { y = Add(a, z)  z = Add(a, y) }", 13, "f32[] 1", "!undefined input 'z'"},
    {"(a) => (y) { }", 13, "f32[] 1", "!undefined output 'y'"},
    {"(a) => (y, z) { y = Relu(a) }", 13, "f32[] 1", "!undefined output 'z'"},
    /* sizes computed from shapes are known */
    {"(a) => (y) { s = Shape(a)  n = Gather(s, i)  i = Constant<value_int=1>()  y = Reshape(a, n) "
     "}",
     13, "f32[1,2] {{1, 2}}", "!undefined input 'i'"},
    {"(a) => (y) { s = Shape(a)  i = Constant<value_ints=[1]>()  n = Gather(s, i)  m = "
     "Constant<value_ints=[1, 1]>()  "
     "t = Concat<axis=0>(n, m)  y = Reshape(a, t) }",
     13, "f32[1,2] {{1, 2}}", "f32[2,1,1] { { { 1 } }, { { 2 } } }"},
    /* sizes computed from values are not known at import */
    {"(a, n) => (y) { k = Cast<to=7>(n)  y = Reshape(a, k) }", 13,
     "f32[2,3] {{1, 2, 3}, {4, 5, 6}} | f32[2] {3, 2}", "f32[3,2] { { 1, 2 }, { 3, 4 }, { 5, 6 } }",
     KNOWN},
    {"(a, n) => (y) { k = Cast<to=7>(n)  y = Reshape(a, k) }", 13,
     "f32[2,3] {{1, 2, 3}, {4, 5, 6}} | f32[2] {4, 2}",
     "!size 8 of dimension 0 is out of range [0, 6]", KNOWN},
    {"(n) => (y) { k = Cast<to=7>(n)  y = ConstantOfShape(k) }", 13, "f32[1] {2}", "f32[2] {0, 0}",
     KNOWN},
    {"(n) => (y) { k = Cast<to=7>(n)  y = ConstantOfShape(k) }", 13, "f32[1] {9}",
     "!size 9 of dimension 0 is out of range [0, 8]", KNOWN},
    {"(a, n) => (y) { k = Cast<to=7>(n)  y = Expand(a, k) }", 13,
     "f32[2,1] {{1}, {2}} | f32[2] {1, 2}", "f32[2,2] { { 1, 1 }, { 2, 2 } }", KNOWN},
    {"(a, n) => (y) { k = Cast<to=7>(n)  y = Squeeze(a, k) }", 13, "f32[1] {1} | f32[1] {0}",
     "!input 1 must be a constant, but it is computed from inputs of the model", KNOWN},
    {"(a, n) => (y) { k = Cast<to=7>(n)  t = Slice(a, k, k, , k)  y = Shape(t) }", 13,
     "f32[1] {1} | f32[1] {1}", "s64[1] {0}", KNOWN},
    /* If */
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Add(a, a) }, else_branch=() => (q) { q = "
     "Identity(a) }>(c) }",
     13, "pred[] true | f32[2] {1, 2}", "f32[2] {2, 4}"},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Concat<axis=0>(a, a) }, else_branch=() => "
     "(a) { }>(c) }",
     13, "pred[1] {1} | f32[2] {1, 2}", "f32[4] {1, 2, 1, 2}", KNOWN},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Concat<axis=0>(a, a) }, else_branch=() => "
     "(a) { }>(c) }",
     13, "pred[] false | f32[2] {1, 2}", "f32[2] {1, 2}"},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Relu(a) }, else_branch=() => (q) { q = "
     "Shape(a) }>(c) }",
     13, "pred[] false | f32[2] {1, 2}",
     "!output 0 is float[2] in one branch and int64[1] in the other", KNOWN},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Relu(a) }, else_branch=() => (q) { q = "
     "Shape(a) }>(c) }",
     13, "=pred[] false | f32[2] {1, 2}", "s64[1] {2}"},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Relu(a) }, else_branch=() => () { }>(c) }",
     13, "pred[] false | f32[2] {1, 2}", "!branches have 1 and 0 outputs"},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Relu(a) }>(c) }", 13,
     "pred[] false | f32[] 1", "!attribute 'else_branch' is not a graph"},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Relu(z) }, else_branch=() => (q) { q = "
     "Relu(a) }>(c) }",
     13, "pred[] false | f32[] 1", "!undefined input 'z'"},
    {"(c, a) => (y) { y = If<then_branch=() => (p) { p = Relu(a) }, else_branch=() => (q) { q = "
     "Relu(a) }>(a) }",
     13, "pred[] false | f32[] 1", "!condition is float[], expected a scalar of type bool"},
    {"(c, d, a) => (y) { b = Add(a, a)  y = If<then_branch=() => (p) { p = If<then_branch=() => "
     "(q) { q = Add(b, a) }, "
     "else_branch=() => (r) { r = Add(b, b) }>(d) }, else_branch=() => (a) { }>(c) }",
     13, "pred[] true | pred[] true | f32[] 1", "f32[] 3"},
    {"(c) => (y) { y = If<then_branch=() => (p) { p = Optional<type=:f32>() }, else_branch=() => "
     "(q) { o = "
     "Constant<value_float=~2>() "
     "q = Optional(o) }>(c) }",
     15, "pred[] true", "?"},
    {"(c) => (y) { y = If<then_branch=() => (p) { p = Optional<type=:f32>() }, else_branch=() => "
     "(q) { o = "
     "Constant<value_float=~2>() "
     "q = Optional(o) }>(c) }",
     15, "pred[] false", "?f32[] 2"},
    /* Loop: the five modes */
    {"(m, c, x) => (s, t) { s, t = Loop<body=(i, c2, x2) => (c3, y, x2) { y = Add(x2, x2)  c3 = "
     "Identity(c2) }>(m, c, x) }",
     16, "s64[] 3 | pred[] true | f32[] 1", "f32[] 8 | f32[3] {1, 2, 4}"},
    {"(x) => (s) { s, t, u = Loop<body=(i, c, x) => (c, y) { y = Add(x, x) }>(, , x) }", 16,
     "f32[] 1", "!3 outputs, but the body has 1"},
    {"(x) => (s) { s = Loop<body=(i, c, x) => (c, y) { y = Add(x, x) }>(, , x) }", 16, "f32[] 1",
     "!step limit exceeded: more than 100000 steps (--max-steps)"},
    {"(c, x) => (s, t) { s, t = Loop<body=(i, c, v) => (k, y, v) { one = Constant<value='f32[] "
     "1'>()  y = Add(v, one)  "
     "l = Constant<value='f32[] 3'>()  k = Less(y, l) }>(, c, x) }",
     13, "pred[] true | f32[] 0", "f32[] 3 | f32[3] {0, 1, 2}"},
    {"(c, x) => (s, t) { s, t = Loop<body=(i, c, v) => (k, y, v) { one = Constant<value='f32[] "
     "1'>()  y = Add(v, one)  "
     "l = Constant<value='f32[] 3'>()  k = Less(y, l) }>(, c, x) }",
     13, "pred[] false | f32[] 0", "f32[] 0 | f32[0] {}"},
    {"(m, x) => (s, t) { s, t = Loop<body=(i, c, v) => (k, y, i) { one = Constant<value='f32[] "
     "1'>()  y = Add(v, one)  "
     "l = Constant<value='f32[] 3'>()  k = Less(y, l) }>(m, , x) }",
     11, "s64[] 5 | f32[] 0", "f32[] 5 | s64[5] {0, 1, 2, 3, 4}"},
    {"(m, c, x) => (s, t) { s, t = Loop<body=(i, c, v) => (k, y, i) { one = Constant<value='f32[] "
     "1'>()  y = Add(v, one)  "
     "l = Constant<value='f32[] 3'>()  k = Less(y, l) }>(m, c, x) }",
     11, "s64[1] {5} | pred[] true | f32[] 0", "f32[] 3 | s64[3] {0, 1, 2}"},
    {"(m, n) => (t) { k = Cast<to=7>(n)  z = Constant<value_ints=[0]>()  f = Slice(m, z, k)  t = "
     "Loop<body=(i, c) => (c, i) { "
     "}>(f, ) }",
     11, "s64[3] {2, 3, 4} | f32[1] {1}", "s64[2] {0, 1}", KNOWN},
    {"(m, n) => (t) { k = Cast<to=7>(n)  z = Constant<value_ints=[0]>()  f = Slice(m, z, k)  t = "
     "Loop<body=(i, c) => (c, i) { "
     "}>(f, ) }",
     11, "s64[3] {2, 3, 4} | f32[1] {2}", "!cannot reshape 2 elements to 1 elements", KNOWN},
    {"(m) => (t) { t = Loop<body=(i, c) => (c, i) { }>(m, ) }", 11, "=s64[] 3", "s64[3] {0, 1, 2}"},
    {"(m) => (t) { t = Loop<body=(i, c) => (c, i) { }>(m, ) }", 10, "s64[] 3",
     "!2 inputs, expected at least 3"},
    {"(m) => (t) { t = Loop<body=(i, c) => (c, i) { }>(m, ) }", 11, "s64[] 9",
     "!9 elements along dimension 0, more than its bound 8"},
    /* carried values that change their size; values of the outer scope */
    {"(m, x) => (s) { s = Loop<body=(i, c, v) => (c, y) { y = Concat<axis=0>(v, x) }>(m, , x) }",
     13, "s64[] 3 | f32[1] {7}", "f32[4] {7, 7, 7, 7}"},
    {"(m, x) => (s) { s = Loop<body=(i, c, v) => (c, y) { y = Concat<axis=0>(v, v) }>(m, , x) }",
     13, "s64[] 4 | f32[1] {7}", "!16 elements along dimension 0, more than its bound 8", KNOWN},
    {"(m, x) => (s) { s = Loop<body=(i, c, v) => (c, y) { k = Constant<value_ints=[0]>()  o = "
     "Constant<value_ints=[1]>() "
     "e = Constant<value_ints=[9]>()  y = Slice(v, o, e, k) }>(m, , x) }",
     13, "s64[] 2 | f32[4] {1, 2, 3, 4}", "f32[2] {3, 4}"},
    {"(m, x) => (s) { s = Loop<body=(i, c, v) => (c, y) { k = Constant<value_ints=[0]>()  y = "
     "Unsqueeze(v, k) }>(m, , x) }",
     13, "s64[] 2 | f32[1] {1}", "!carried value 0 changes type from float[1] to float[1,1]",
     KNOWN},
    {"(m, x) => (s) { s = Loop<body=(i, c, v) => (c, y) { y = Shape(v) }>(m, , x) }", 13,
     "s64[] 2 | f32[1] {1}", "!carried value 0 changes type from float[1] to int64[1]", KNOWN},
    {"(m, x) => (s) { s = Loop<body=(i, c) => (c, i) { }>(m, , x) }", 13, "s64[] 2 | f32[1] {1}",
     "!1 carried values, but the body has 2 inputs and 2 outputs"},
    {"(m, x) => (s) { s = Loop(m, , x) }", 13, "s64[] 2 | f32[1] {1}",
     "!attribute 'body' is not a graph"},
    {"(m, x) => (s) { s = Loop<body=(i, c, v) => (c, v) { }>(x, , x) }", 13, "s64[] 2 | f32[1] {1}",
     "!expected a scalar of type int64", KNOWN},
    {"(m, n, x) => (s) { s = Loop<body=(i, c, v) => (c, w) { w = Loop<body=(j, d, u) => (d, t) { "
     "t0 = Add(u, x)  t = Add(t0, v) "
     "}>(n, , v) }>(m, , x) }",
     13, "s64[] 2 | s64[] 1 | f32[] 1", "f32[] 7"},
    {"(m, q) => (s) { z = Constant<value='f32[] 0'>()  s = Loop<body=(i, c, v) => (c, w) { e = "
     "SequenceAt(q, i)  w = Add(v, e) "
     "}>(m, , z) }",
     11, "s64[] 2 | [f32[] 1; f32[] 2]", "f32[] 3"},
    /* Scan */
    {"(s, x) => (t, y) { t, y = Scan<num_scan_inputs=1, body=(a, e) => (b, c) { b = Add(a, e)  c = "
     "Mul(b, b) }>(s, x) }",
     11, "f32[] 1 | f32[3] {1, 2, 3}", "f32[] 7 | f32[3] {4, 16, 49}"},
    {"(x, z) => (y) { y = Scan<num_scan_inputs=2, scan_input_axes=[1, 0], "
     "scan_input_directions=[0, 1], scan_output_axes=[1], "
     "scan_output_directions=[1], body=(e, f) => (c) { c = Add(e, f) }>(x, z) }",
     11, "f32[2,3] {{1, 2, 3}, {4, 5, 6}} | f32[3] {10, 20, 30}",
     "f32[2,3] { { 13, 22, 31 }, { 16, 25, 34 } }"},
    {"(s, x) => (t, y) { t, y = Scan<num_scan_inputs=2, body=(a, e) => (b, c) { b = Add(a, e)  c = "
     "Mul(b, b) }>(s, x, x) }",
     11, "f32[] 1 | f32[3] {1, 2, 3}",
     "!3 inputs, 2 of them scanned, and 2 outputs, but the body has 2 and 2"},
    {"(s, x) => (t, y) { t, y = Scan<num_scan_inputs=1, scan_output_axes=[0, 0], body=(a, e) => "
     "(a, e) { }>(s, x) }",
     11, "f32[] 1 | f32[3] {1, 2, 3}",
     "!expected an axis and a direction for each of 1 inputs and 1 outputs"},
    {"(s, x) => (t, y) { t, y = Scan<num_scan_inputs=1, body=(a, e) => (a, e) { }>(s, x) }", 8,
     "f32[] 1 | f32[3] {1, 2, 3}", "!supported from opset 9; the model has opset 8"},
    /* carried sequences and optionals */
    {"(m, x) => (s) { e = SequenceEmpty()  s = Loop<body=(i, c, v) => (c, w) { w = "
     "SequenceInsert(v, x) }>(m, , e) }",
     13, "s64[] 3 | f32[1] {4}", "[f32[1] {4}; f32[1] {4}; f32[1] {4}]"},
    {"(m, x) => (s) { e = SequenceEmpty()  s = Loop<body=(i, c, v) => (c, w) { w = "
     "SequenceInsert(v, x) }>(m, , e) }",
     13, "s64[] 0 | f32[1] {4}", "[]"},
    {"(m, x) => (s) { e = SequenceEmpty()  s = Loop<body=(i, c, v) => (c, w) { w = "
     "SequenceInsert(v, x) }>(m, , e) }",
     11, "s64[] 3 | f32[1] {4}",
     "!carried value 0 is seq(float), not allowed in version 11 of Loop"},
    {"(m, x) => (s) { e = SequenceEmpty()  s = Loop<body=(i, c, v) => (c, w) { w = "
     "SequenceInsert(v, x) }>(m, , e) }",
     13, "s64[] 9 | f32[1] {4}", "!9 elements along dimension 0, more than its bound 8"},
    {"(m, q, x) => (s) { s = Loop<body=(i, c, v) => (c, w) { h = OptionalHasElement(v)  n = Not(h) "
     " t = If<then_branch=() => (p) "
     "{ "
     "p = SequenceConstruct(x) }, else_branch=() => (g) { g = OptionalGetElement(v) }>(n)  w = "
     "SequenceInsert(t, x) }>(m, , q) }",
     16, "s64[] 1 | ? | f32[1] {4}", "?[f32[1] {4}; f32[1] {4}]", KNOWN},
    {"(m, q, x) => (s) { s = Loop<body=(i, c, v) => (c, w) { g = OptionalGetElement(v)  w = Add(g, "
     "x) }>(m, , q) }",
     16, "s64[] 2 | ?f32[1] {4} | f32[1] {1}", "?f32[1] {6}", KNOWN},
    {"(m, q, x) => (s) { s = Loop<body=(i, c, v) => (c, w) { g = OptionalGetElement(v)  w = Add(g, "
     "x) }>(m, , q) }",
     13, "s64[] 2 | ?f32[1] {4} | f32[1] {1}",
     "!carried value 0 is optional(float[1]), not allowed in version 13 of Loop", KNOWN},
    {"(m, q) => (s) { z = Constant<value='f32[] 0'>()  s = Loop<body=(i, c, v) => (c, v, q) { "
     "}>(m, , z) }",
     13, "s64[] 2 | [f32[] 1]", "!scan output 0 is seq(float[]), expected a tensor", KNOWN},
};

START_TEST(graphs)
{
    const struct op_case *o = &graph_cases[_i];
    check(o->node, o->opset, o->inputs, false, o->expected);
    if (o->mode == BOTH)
        check(o->node, o->opset, o->inputs, true, o->expected);
}
END_TEST

/* ---- limits ---- */

/* If nodes nested to this depth. */
static const char *nested(int depth)
{
    struct buf b = {0};
    buf_puts(&b, "(c, a) => (y) { y = ");
    for (int k = 0; k < depth; k++)
        buf_puts(&b, "If<then_branch=() => (a) { }, else_branch=() => (q) { q = ");
    buf_puts(&b, "Relu(a)");
    for (int k = 0; k < depth; k++)
        buf_puts(&b, " }>(c)");
    buf_puts(&b, " }");
    const char *text = arena_str(&arena, buf_view(&b)).ptr;
    buf_free(&b);
    return text;
}

START_TEST(graph_nesting_limit)
{
    struct arena mine;
    arena_init(&arena);
    const char *shallow = nested(20), *deep = nested(40);
    mine = arena;
    check(shallow, 13, "pred[] false | f32[] -1", false, "f32[] 0");
    check(deep, 13, "pred[] false | f32[] -1", false, "!graphs are nested more than 32 deep");
    arena = mine;
    arena_free(&arena);
}
END_TEST

/* Nested loops; `last` is the expression of v in the innermost one. */
static const char *loops(int depth, const char *last)
{
    struct buf b = {0};
    buf_puts(&b, "(m, a) => (y) { y = ");
    for (int k = 0; k < depth; k++)
        buf_puts(&b, "Loop<body=(i, c, v) => (c, w) { w = ");
    buf_puts(&b, last);
    for (int k = 0; k < depth; k++)
        buf_printf(&b, " }>(m, , %s)", k < depth - 1 ? "v" : "a");
    buf_puts(&b, " }");
    const char *text = arena_str(&arena, buf_view(&b)).ptr;
    buf_free(&b);
    return text;
}

/* Type inference is not exponential in the nesting depth, and ends with an error if it does not
 * converge. */
START_TEST(nested_loops)
{
    struct arena mine;
    arena_init(&arena);
    const char *steady = loops(24, "Relu(v)"), *growing = loops(24, "Concat<axis=0>(v, v)");
    mine = arena;
    check(steady, 13, "s64[] 1 | f32[] -1", false, "f32[] 0");
    check(growing, 13, "s64[] 1 | f32[1] {-1}", false,
          "!type inference of nested loops did not converge");
    arena = mine;
    arena_free(&arena);
}
END_TEST

static hlo_module *module_of(const char *text, const char *inputs, struct onnx_value **values)
{
    at = text;
    struct onnx_model model = {
        .path = STR("m.onnx"), .ir_version = 10, .opset = 13, .graph = *graph()};
    *values = inputs_of(&model.graph, inputs, false);
    return onnx_import(&model, &(struct onnx_import_options){*values, 8}, m);
}

/* Inputs that do not match the types for which the model was imported. */
START_TEST(mismatched_inputs)
{
    static const struct {
        const char *made_for, *given, *expected;
    } cases[] = {
        {"f32[2] {1, 2}", "f32[3] {1, 2, 3}", "tensor does not match f32[2]"},
        {"f32[2] {1, 2}", "s32[2] {1, 2}", "tensor does not match f32[2]"},
        {"f32[2] {1, 2}", "[f32[2] {1, 2}]", "a sequence does not match f32[2]"},
        {"f32[2] {1, 2}", "?", "an empty optional does not match f32[2]"},
        {"[f32[2] {1, 2}]", "f32[2] {1, 2}", "a tensor does not match (f32[<=1,2]"},
        {"[f32[2] {1, 2}]", "[f32[2] {1, 2}; f32[2] {1, 2}]",
         "length of the sequence does not match"},
        {"[f32[2] {1, 2}]", "[f32[2,1] {{1}, {2}}]", "element of the sequence does not match"},
        {"[f32[2] {1, 2}]", "[f32[3] {1, 2, 3}]", "element of the sequence does not match"},
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        struct onnx_value *values;
        set_up();
        hlo_module *module =
            module_of("(a) => (y) { y = Identity(a) }", cases[k].made_for, &values);
        ck_assert_ptr_nonnull(module);
        struct onnx_value given = own[name_count++] = read_value(str_of(cases[k].given));
        ck_assert_ptr_null(onnx_to_literal(&given, module, 0, m));
        ck_assert_msg(strstr(error_message(), cases[k].expected) != NULL, "%s: %s", cases[k].given,
                      error_message());
        hlo_module_free(module);
        tear_down();
    }
}
END_TEST

/* Instructions are named after the outputs of nodes. */
START_TEST(instruction_names)
{
    struct onnx_value *values;
    set_up();
    hlo_module *module = module_of("(a) => (y) { long_name = Add(a, a)  constant = Relu(long_name) "
                                   " u2 = Neg(constant)  __u = Neg(u2)  y = Neg(__u) }",
                                   "f32[] 1", &values);
    ck_assert_ptr_nonnull(module);
    hlo_text text = hlo_print(module, HLO_PRINT_FULL);
    ck_assert_msg(strstr(text.data, "%long_name = f32[] add(%a, %a), metadata={op_type=\"Add\"}") !=
                      NULL,
                  "%s", text.data);
    ck_assert_msg(strstr(text.data, "%x_constant = f32[] maximum") != NULL, "%s", text.data);
    ck_assert_msg(strstr(text.data, "%x_u2 = f32[] negate") != NULL, "%s", text.data);
    ck_assert_msg(strstr(text.data, "%x___u = f32[] negate") != NULL, "%s", text.data);
    hlo_text_free(&text);
    hlo_module_free(module);
    tear_down();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("onnx import");
    TCase *t = tcase_create("onnx import");
    tcase_add_loop_test(t, operators, 0, COUNT_OF(op_cases));
    tcase_add_loop_test(t, graphs, 0, COUNT_OF(graph_cases));
    tcase_add_test(t, graph_nesting_limit);
    tcase_add_test(t, nested_loops);
    tcase_add_test(t, mismatched_inputs);
    tcase_add_test(t, instruction_names);
    suite_add_tcase(s, t);
    return check_run(s);
}
