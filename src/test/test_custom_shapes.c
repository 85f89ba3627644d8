/*
 * Tests of custom calls with wrong shapes: each known target is called with operands and results
 * that match its signature almost or not at all. A call must return values of the written shape,
 * or fail; sanitizers check the rest.
 */
#include "check_quiet.h"
#include "hlo_advanced.h"

#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- reproducible random numbers ---- */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15;
    uint64_t z = (state ^ state >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % below;
}

static bool chance(int percent) { return draw(100) < (uint64_t)percent; }

/* ---- shapes ---- */

enum { MAX_RANK = 6, MAX_ARRAYS = 12 };

struct array {
    const char *type;
    int rank;
    int64_t dims[MAX_RANK];
    bool dynamic[MAX_RANK];
    bool tuple, token; /* anything else */
    bool constant;     /* a constant that the implementation reads */
    int64_t number;
};
struct call {
    char target[64];
    int operands, results;
    struct array operand[MAX_ARRAYS], result[MAX_ARRAYS];
    struct buf rest; /* attributes */
};

static const char *any_type(void)
{
    static const char *const types[] = {"f32", "f64",  "c64",  "c128", "s32",      "s64",     "u8",
                                        "s4",  "pred", "bf16", "u32",  "f8e4m3fn", "f4e2m1fn"};
    return types[draw(COUNT_OF(types))];
}

static struct array any_array(void)
{
    struct array a = {.type = any_type(), .rank = (int)draw(5)};
    for (int d = 0; d < a.rank; d++) {
        a.dims[d] = (int64_t)draw(5);
        a.dynamic[d] = chance(5);
    }
    a.tuple = chance(2);
    a.token = chance(2);
    return a;
}

static struct array array_of(const char *type, int rank, const int64_t *dims)
{
    struct array a = {.type = type, .rank = rank};
    for (int d = 0; d < rank; d++)
        a.dims[d] = dims[d];
    return a;
}

static struct array number_of(int64_t n)
{
    return (struct array){.type = "s32", .constant = true, .number = n};
}

static void put_shape(struct buf *b, const struct array *a)
{
    if (a->token) {
        buf_puts(b, "token[]");
        return;
    }
    buf_printf(b, "%s%s[", a->tuple ? "(" : "", a->type);
    for (int d = 0; d < a->rank; d++)
        buf_printf(b, "%s%s%" PRId64, d ? "," : "", a->dynamic[d] ? "<=" : "", a->dims[d]);
    buf_puts(b, a->tuple ? "])" : "]");
}

static void put_operand(struct buf *b, const struct array *a, int k, int *params)
{
    buf_printf(b, "  x%d = ", k);
    put_shape(b, a);
    if (a->token)
        buf_puts(b, " after-all()\n");
    else if (a->constant && a->rank == 0 && !a->tuple && strcmp(a->type, "s32") == 0)
        buf_printf(b, " constant(%" PRId64 ")\n", a->number);
    else
        buf_printf(b, " parameter(%d)\n", (*params)++);
}

static struct buf module_text(const struct call *c)
{
    struct buf b = {0};
    int params = 0;
    buf_puts(&b, "HloModule m\n"
                 "better { a = f32[] parameter(0)  b = f32[] parameter(1)  i = s32[] parameter(2)  "
                 "j = s32[] parameter(3)\n"
                 "  ROOT c = pred[] compare(a, b), direction=GT }\n"
                 "body { i = s64[] parameter(0)  k = pred[] parameter(1)  x = f32[2] parameter(2)\n"
                 "  y = f32[2] add(x, x)  ROOT t = (pred[], f32[2], f32[2]) tuple(k, y, y) }\n"
                 "ENTRY e {\n");
    for (int k = 0; k < c->operands; k++)
        put_operand(&b, &c->operand[k], k, &params);
    buf_puts(&b, "  ROOT r = ");
    bool tuple = c->results != 1 || draw(8) == 0;
    buf_puts(&b, tuple ? "(" : "");
    for (int k = 0; k < c->results; k++) {
        buf_puts(&b, k ? ", " : "");
        put_shape(&b, &c->result[k]);
    }
    buf_puts(&b, tuple ? ") custom-call(" : " custom-call(");
    for (int k = 0; k < c->operands; k++)
        buf_printf(&b, k ? ", x%d" : "x%d", k);
    buf_printf(&b, "), custom_call_target=\"%s\"", c->target);
    buf_str(&b, buf_view(&c->rest));
    buf_puts(&b, "\n}\n");
    return b;
}

/* ---- mutations ---- */

static void mutate_array(struct array *a)
{
    static const int64_t numbers[] = {0, 1, -1, 7, 1 << 20, INT32_MAX, INT32_MIN};
    switch (draw(7)) {
    case 0: a->type = any_type(); break;
    case 1: a->rank += a->rank < MAX_RANK; break; /* of size 0, or anything */
    case 2: a->rank -= a->rank > 0; break;
    case 3: *a = any_array(); break;
    case 4: a->number = numbers[draw(COUNT_OF(numbers))]; break;
    default:
        if (a->rank > 0)
            a->dims[draw((uint64_t)a->rank)] = (int64_t)draw(9);
        break;
    }
}

static void mutate_list(struct array *at, int *count)
{
    if (chance(70) && *count > 0) {
        mutate_array(&at[draw((uint64_t)*count)]);
    } else if (chance(50) && *count < MAX_ARRAYS) {
        at[(*count)++] = any_array();
    } else if (*count > 1) {
        struct array last = at[--*count];
        at[draw((uint64_t)*count)] = last;
    }
}

static void mutate(struct call *c)
{
    for (uint64_t n = draw(3); n > 0; n--)
        if (chance(50))
            mutate_list(c->operand, &c->operands);
        else
            mutate_list(c->result, &c->results);
}

/* ---- LAPACK routines, by lapack.def ---- */

static const struct routine {
    const char *name, *types, *arrays, *options;
} routines[] = {
#define ROUTINE(name, types, arrays, options, limits) {name, types, arrays, options},
#include "eval/lapack.def"
};
static const struct form {
    const char *target, *types, *routine, *operands, *results, *attributes;
} forms[] = {
#define FORM(target, types, routine, operands, results, attributes)                                \
    {target, types, routine, operands, results, attributes},
#include "eval/lapack.def"
};

struct sizes {
    int64_t of['z' + 1];
    int batch_rank;
    int64_t batch[2];
};

static struct sizes draw_sizes(void)
{
    struct sizes s = {.batch_rank = (int)draw(3)};
    int64_t m = (int64_t)draw(5), n = chance(50) ? m : (int64_t)draw(5), few = m < n ? m : n;
    for (char c = 'a'; c <= 'z'; c++)
        s.of[(int)c] = n;
    s.of['m'] = m;
    s.of['k'] = few;
    s.of['h'] = n > 0 ? n - 1 : 0;
    s.of['q'] = chance(50) ? m : n;
    s.of['u'] = chance(50) ? m : few;
    s.of['v'] = chance(50) ? n : few;
    s.of['r'] = s.of['p'] = few;
    for (int d = 0; d < s.batch_rank; d++)
        s.batch[d] = (int64_t)draw(3) + (d == 0);
    return s;
}

static const char *type_of(char kind, char letter)
{
    bool wide = letter == 'd' || letter == 'z', complex = letter == 'c' || letter == 'z';
    switch (kind) {
    case 'T':
        if (letter == 'h')
            return "bf16";
        return complex ? wide ? "c128" : "c64" : wide ? "f64" : "f32";
    case 'R': return wide ? "f64" : "f32";
    case 'C': return wide ? "c128" : "c64";
    default: return "s32";
    }
}

/* Finds the array `name` in a routine's list. False: there is none. */
static bool find_array(const char *arrays, struct str name, char letter, const struct sizes *s,
                       struct array *out)
{
    for (const char *at = arrays; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        const char *colon = strchr(at, ':');
        if (!str_eq((struct str){at, (size_t)(colon - at)}, name))
            continue;
        bool shared = colon[1] == '!';
        const char *kind = colon + 1 + shared;
        *out = array_of(type_of(*kind, letter), shared ? 0 : s->batch_rank, s->batch);
        for (const char *dim = kind + 1; *dim && *dim != ' '; dim++)
            out->dims[out->rank++] = s->of[(int)*dim];
        return true;
    }
    return false;
}

/* A value for an option of a routine: the code of one of its letters. */
static int64_t draw_option(const char *options, struct str name)
{
    const char *at = memchr(name.ptr, '@', name.len);
    if (at)
        return (int64_t)draw((uint64_t)(name.ptr + name.len - at - 1));
    for (at = options; at && *at; at = strchr(at, ' ')) {
        at += *at == ' ';
        const char *letters = strchr(at, '=') + 1;
        if (str_eq((struct str){at, (size_t)(letters - 1 - at)}, name))
            return *letters == '#' ? (int64_t)draw(4) : letters[draw(strcspn(letters, " "))];
    }
    return (int64_t)draw(4);
}

static int64_t draw_number(const struct routine *r, struct str word, const struct sizes *s)
{
    int64_t batch = 1;
    for (int d = 0; d < s->batch_rank; d++)
        batch *= s->batch[d];
    if (word.len > 1 || *word.ptr == '_')
        return draw_option(r->options, word);
    return *word.ptr == 'B' ? batch : s->of[(int)*word.ptr];
}

static struct str take_word(const char **words)
{
    struct str word = {*words, strcspn(*words, " ")};
    *words += word.len + strspn(*words + word.len, " ");
    return word;
}

static void draw_arrays(const char *words, const struct routine *r, char letter,
                        const struct sizes *s, struct array *at, int *count)
{
    while (*words && *words != '*' && *count < MAX_ARRAYS) {
        struct str word = take_word(&words);
        if (!find_array(r->arrays, word, letter, s, &at[*count]))
            at[*count] = number_of(draw_number(r, word, s));
        (*count)++;
    }
}

static void put_attributes(struct buf *b, const char *words, const struct routine *r)
{
    static const char *const wrong[] = {
        "true", "1 : i64", "\"N\"", "-1 : i8", "1.5 : f32", "{}", "9999999999 : i64", "0 : ui8"};
    buf_puts(b, ", api_version=API_VERSION_TYPED_FFI, backend_config={");
    for (const char *comma = ""; *words; comma = ", ") { /* option:attribute@letters */
        struct str option = take_word(&words);
        const char *colon = memchr(option.ptr, ':', option.len),
                   *from = colon ? colon + 1 : option.ptr;
        const char *at = memchr(option.ptr, '@', option.len),
                   *end = at ? at : option.ptr + option.len;
        if (colon && !at)
            option.len = (size_t)(colon - option.ptr);
        buf_printf(b, "%s%.*s = ", comma, (int)(end - from), from);
        if (chance(5))
            buf_puts(b, wrong[draw(COUNT_OF(wrong))]);
        else
            buf_printf(b, "%" PRId64 " : ui8", draw_option(r->options, option));
    }
    buf_puts(b, "}");
}

static void draw_lapack(struct call *c, size_t k)
{
    const struct form *f = &forms[k];
    const struct routine *r = routines;
    char letter = f->types[draw(strlen(f->types))];
    struct sizes s = draw_sizes();
    while (strcmp(r->name, f->routine) != 0 || !strchr(r->types, letter))
        r++;
    for (size_t n = 0; n < sizeof c->target; n++) {
        c->target[n] = f->target[n] == '?' ? letter : f->target[n];
        if (!f->target[n])
            break;
    }
    draw_arrays(f->operands, r, letter, &s, c->operand, &c->operands);
    draw_arrays(f->results, r, letter, &s, c->result, &c->results);
    if (f->attributes)
        put_attributes(&c->rest, f->attributes, r);
}

/* ---- other targets ---- */

static void draw_topk(struct call *c)
{
    struct array x = any_array(), i;
    x.type = chance(70) ? "f32" : x.type;
    c->operand[c->operands++] = x;
    if (x.rank > 0)
        x.dims[x.rank - 1] = (int64_t)draw((uint64_t)x.dims[x.rank - 1] + 1);
    i = x;
    i.type = "s32";
    c->result[0] = x;
    c->result[1] = i;
    c->results = 2;
    if (chance(50))
        buf_puts(&c->rest, ", api_version=API_VERSION_TYPED_FFI, backend_config={largest = true}");
}

static void draw_partial(struct call *c)
{
    struct array x = any_array();
    x.type = "f32";
    c->operand[0] = c->result[0] = x;
    c->operand[1] = c->result[1] = x;
    c->operand[1].type = c->result[1].type = "s32";
    c->operand[2] = array_of("f32", 0, NULL);
    c->operand[3] = number_of(-1);
    c->operands = 4;
    c->results = 2;
    for (int k = 0; k < 2 && x.rank > 0; k++)
        c->result[k].dims[x.rank - 1] = (int64_t)draw(5);
    buf_printf(&c->rest,
               ", called_computations={better}, backend_config={\"log2_reduction\": %d, "
               "\"reduction_dim\": %d, "
               "\"to_apply_type\": \"comparator\", \"top_k\": %d, \"recall_target\": 0.9}",
               (int)draw(4) - 1, x.rank - (int)draw(3), (int)draw(5) - 1);
}

static void draw_dynamic(struct call *c, bool to_static)
{
    struct array bounded = any_array(), full;
    full = bounded;
    memset(full.dynamic, 0, sizeof full.dynamic);
    for (int d = 0; d < bounded.rank; d++)
        bounded.dynamic[d] = true;
    struct array *from = c->operand, *to = c->result;
    if (to_static) {
        from[0] = bounded;
        to[0] = full;
    } else {
        from[0] = full;
        to[0] = bounded;
    }
    c->operands = c->results = 1;
    for (int d = 0; d < bounded.rank; d++)
        if (to_static)
            to[c->results++] = array_of("s32", 0, NULL);
        else
            from[c->operands++] = number_of((int64_t)draw(7) - 1);
}

static void draw_fft(struct call *c)
{
    static const int64_t length = 200;
    struct array x = any_array();
    x.type = chance(50) ? "c64" : "f32";
    c->operand[0] = array_of("u8", 1, &length);
    c->operand[1] = c->result[0] = x;
    c->operands = chance(50) ? 2 : 6;
    c->results = 1;
    for (int k = 2; k < c->operands; k++)
        c->operand[k] = any_array();
}

static void draw_loop(struct call *c)
{
    static const int64_t two = 2, rows[] = {5, 2};
    c->operand[0] = array_of("s64", 0, NULL);
    c->operand[1] = array_of("pred", 0, NULL);
    c->operand[2] = c->result[0] = array_of("f32", 1, &two);
    c->result[1] = array_of("f32", 2, rows);
    c->result[1].dynamic[0] = true;
    c->operands = 3;
    c->results = 2;
    buf_puts(&c->rest, ", called_computations={body}");
}

static void draw_any(struct call *c)
{
    for (uint64_t n = draw(3); n > 0; n--)
        c->operand[c->operands++] = any_array();
    if (c->operands > 0 && chance(60))
        c->result[c->results++] = c->operand[0];
    else
        for (uint64_t n = draw(3); n > 0; n--)
            c->result[c->results++] = any_array();
}

/* Some of these calls run; those that require a buffer, a descriptor or Python do not. */
static const struct {
    const char *target;
    bool runs;
} others[] = {
    {"AllocateBuffer", true},
    {"GetRngSeed", false},
    {"LayoutConstraint", true},
    {"MoveToDevice", true},
    {"PadToStatic", true},
    {"PartialReduce", true},
    {"Pin", false},
    {"SPMDFullToShardShape", true},
    {"SPMDShardToFullShape", true},
    {"SetBound", true},
    {"Sharding", true},
    {"SliceToDynamic", true},
    {"TopK", true},
    {"Unpin", false},
    {"__xla_internal_call_marker_1", true},
    {"ducc_fft", false},
    {"dynamic_ducc_fft", false},
    {"onnx.Loop", true},
    {"pocketfft", false},
    {"xla.sdy.GlobalToLocalShape", true},
    {"xla.sdy.ShardingGroup", true},
    {"xla_ffi_python_cpu_callback", false},
};

static void draw_other(struct call *c, const char *target)
{
    memcpy(c->target, target, strlen(target) + 1);
    if (strcmp(target, "TopK") == 0)
        draw_topk(c);
    else if (strcmp(target, "PartialReduce") == 0)
        draw_partial(c);
    else if (strcmp(target, "PadToStatic") == 0 || strcmp(target, "SliceToDynamic") == 0)
        draw_dynamic(c, *target == 'P');
    else if (strstr(target, "fft"))
        draw_fft(c);
    else if (strcmp(target, "onnx.Loop") == 0)
        draw_loop(c);
    else
        draw_any(c);
}

/* ---- runs ---- */

static hlo_literal *run(hlo_module *module, hlo_messages *m)
{
    static const struct hlo_run_options options = {.size = sizeof options,
                                                   .threads = 1,
                                                   .max_steps = 10000,
                                                   .max_memory = 16 << 20,
                                                   .max_trip = 100};
    hlo_literal *args[MAX_ARRAYS] = {0}, *result = NULL;
    size_t count = hlo_param_count(module);
    hlo_program *p = hlo_plan(module, &options, m);
    for (size_t k = 0; p && k < count; k++)
        args[k] = hlo_fake_param(module, k, (enum hlo_fake)draw(HLO_FAKE_EDGE + 1), draw(1000), m);
    if (p && (count == 0 || args[count - 1]))
        result = hlo_run(p, (const hlo_literal *const *)args, count, m);
    for (size_t k = 0; k < count; k++)
        hlo_literal_free(args[k]);
    hlo_program_free(p);
    return result;
}

/* Whether the call ran. */
static bool try_call(const struct call *c)
{
    struct buf text = module_text(c);
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("m", text.data, text.size, false);
    hlo_module *module = hlo_parse(f, 0, m);
    hlo_literal *result = module && hlo_verify(module, m) ? run(module, m) : NULL;
    ck_assert_msg(result || hlo_messages_count(m) > 0, "neither a value nor a message:\n%s",
                  text.data);
    if (result) {
        hlo_text values = hlo_literal_print(result, true); /* reads them all */
        hlo_text_free(&values);
    }
    bool ran = result != NULL;
    hlo_literal_free(result);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    buf_free(&text);
    return ran;
}

/* Some of the almost correct calls must run; otherwise only messages would be tested. */
START_TEST(lapack)
{
    enum { CALLS = 60 };
    int ran = 0;
    state = (uint64_t)_i;
    for (int n = 0; n < CALLS; n++) {
        struct call c = {0};
        draw_lapack(&c, (size_t)_i);
        if (n >= CALLS / 2)
            mutate(&c);
        ran += try_call(&c);
        buf_free(&c.rest);
    }
    ck_assert_msg(ran > 0, "%s: none of the calls ran", forms[_i].target);
}
END_TEST

START_TEST(other_targets)
{
    int ran = 0;
    state = 1000 + (uint64_t)_i;
    for (int n = 0; n < 150; n++) {
        struct call c = {0};
        draw_other(&c, others[_i].target);
        if (chance(50))
            mutate(&c);
        ran += try_call(&c);
        buf_free(&c.rest);
    }
    ck_assert_msg(ran > 0 || !others[_i].runs, "%s: none of the calls ran", others[_i].target);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("custom shapes");
    TCase *t = tcase_create("custom shapes");
    tcase_add_loop_test(t, lapack, 0, COUNT_OF(forms));
    tcase_add_loop_test(t, other_targets, 0, COUNT_OF(others));
    suite_add_tcase(s, t);
    return check_run(s);
}
