/*
 * hlo serve: handles requests; requests and responses are JSON objects, one per line. No request
 * ends the process: errors are reported in the response.
 */
#include "cli/cli.h"

#include "cli/arguments.h"
#include "cli/listed.h"

#include "base/dict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_HANDLES = 1000 };

struct server {
    struct hlo_run_options usual;    /* defaults from the command line */
    hlo_module *loaded[MAX_HANDLES]; /* by handle - 1; NULL: free */
};

struct request {
    struct server *s;
    struct arena arena;
    struct dict_value d;
    const struct dict_value *options; /* may be NULL */
    hlo_messages *m;
    hlo_module *module;
    bool own;       /* the module belongs to this request only */
    struct buf out; /* further members of the response, each preceded by a comma */
};

/* ---- members of a request ---- */

static int refuse(struct request *r, const char *format, ...) PRINTF_LIKE(2, 3);

static int refuse(struct request *r, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    struct str text = arena_vprintf(&r->arena, format, ap);
    va_end(ap);
    hlo_messages_add(r->m, "request", text.ptr);
    return HLO_USAGE;
}

/* Reads a number from the options of the request; false with a message if it is not a number. */
static bool number(struct request *r, const char *name, double *out)
{
    const struct dict_value *v = r->options ? dict_find(r->options, str_of(name)) : NULL;
    if (!v)
        return true;
    bool fits = (v->kind == DICT_INT || v->kind == DICT_FLOAT) && v->f >= 0 && v->f < 0x1p62;
    if (!fits)
        return refuse(r, "option '%s': expected a non-negative number", name), false;
    *out = v->f;
    return true;
}

/* The index of a keyword in `words`; `absent` if the member is missing, -1 with a message if it is
 * anything else. */
static int word(struct request *r, const char *name, const char *const *words, int count,
                int absent)
{
    const struct dict_value *v = r->options ? dict_find(r->options, str_of(name)) : NULL;
    const int k = v && v->kind == DICT_STRING ? str_among(v->s, words, (size_t)count) : -1;
    if (v && k < 0)
        refuse(r, "invalid value of option '%s'", name);
    return v ? k : absent;
}

/* ---- modules ---- */

/* The module of the handle of the request; NULL: unknown. */
static hlo_module **by_handle(struct request *r)
{
    const struct dict_value *v = dict_member(&r->d, "handle", DICT_INT);
    if (!v || v->i < 1 || v->i > MAX_HANDLES || !r->s->loaded[v->i - 1])
        return NULL;
    return &r->s->loaded[v->i - 1];
}

/* Finds and verifies the module of the request. */
static int find_module(struct request *r)
{
    const struct dict_value *text = dict_member(&r->d, "module", DICT_STRING),
                            *file = dict_member(&r->d, "file", DICT_STRING);
    if (dict_find(&r->d, STR("handle"))) {
        hlo_module **l = by_handle(r);
        r->module = l ? *l : NULL;
        return l ? HLO_OK : refuse(r, "unknown handle");
    }
    if (!text && !file)
        return refuse(r, "expected 'module', 'file' or 'handle'");
    SCOPED_FILE *f = text ? hlo_file_of_text("module", text->s.ptr, text->s.len, false)
                          : hlo_file_open(file->s.ptr, false, r->m);
    if (!f)
        return HLO_USAGE;
    r->own = true;
    r->module = hlo_parse(f, 0, r->m);
    return r->module && hlo_verify(r->module, r->m) ? HLO_OK : HLO_REJECTED;
}

static int answer_load(struct request *r)
{
    size_t k = 0;
    if (!r->own)
        return refuse(r, "'load' expects 'module' or 'file', not 'handle'");
    while (k < MAX_HANDLES && r->s->loaded[k])
        k++;
    if (k == MAX_HANDLES)
        return refuse(r, "too many loaded modules (limit: %d)", MAX_HANDLES);
    r->s->loaded[k] = r->module;
    r->own = false;
    buf_json_count(&r->out, "handle", k + 1);
    buf_json_open(&r->out, "parameters", '[');
    for (size_t i = 0; i < hlo_param_count(r->module); i++) {
        SCOPED_TEXT shape = hlo_param_shape(r->module, i);
        buf_json_open(&r->out, NULL, '{');
        buf_json_text(&r->out, "name", str_of(hlo_param_name(r->module, i)));
        buf_json_text(&r->out, "shape", str_of(shape.data));
        buf_putc(&r->out, '}');
    }
    buf_putc(&r->out, ']');
    return HLO_OK;
}

static int answer_unload(struct request *r)
{
    hlo_module **l = by_handle(r);
    if (!l)
        return refuse(r, "unknown handle");
    hlo_module_free(*l);
    *l = NULL;
    return HLO_OK;
}

static int answer_verify(struct request *r)
{
    (void)r;
    return HLO_OK; /* already verified by find_module */
}

static int answer_fmt(struct request *r)
{
    SCOPED_TEXT text = hlo_print(r->module, HLO_PRINT_FULL);
    buf_json_text(&r->out, "text", (struct str){text.data, text.size});
    return HLO_OK;
}

static int answer_ls(struct request *r)
{
    SCOPED_LISTING *l = hlo_list(r->module);
    buf_json_open(&r->out, "instructions", '[');
    for (size_t i = 0; BUF_LIST(&r->out, i, hlo_list_count(l), "", ","); i++)
        put_listed_json(&r->out, l, i);
    buf_putc(&r->out, ']');
    return HLO_OK;
}

/* ---- runs ---- */

static bool run_options_of(struct request *r, struct hlo_run_options *out)
{
    static const char *const elided[] = {"refuse", "zero", "iota", "random"};
    const struct dict_value *plain = dict_member(r->options, "plain", DICT_BOOL);
    *out = r->s->usual;
    double steps = (double)out->max_steps, memory = (double)out->max_memory,
           trip = (double)out->max_trip, threads = out->threads, seed = (double)out->seed;
    int how = word(r, "elided", elided, COUNT_OF(elided), (int)out->elided);
    if (how < 0 || !number(r, "max_steps", &steps) || !number(r, "max_memory", &memory) ||
        !number(r, "max_trip", &trip) || !number(r, "timeout", &out->timeout) ||
        !number(r, "threads", &threads) || !number(r, "seed", &seed))
        return false;
    if (threads > 256)
        return refuse(r, "option 'threads': at most 256"), false;
    out->elided = (enum hlo_elided)how;
    out->max_steps = (uint64_t)steps;
    out->max_memory = (uint64_t)memory;
    out->max_trip = (uint64_t)trip;
    out->threads = (int)threads;
    out->seed = (uint64_t)seed;
    out->plain = plain ? plain->i != 0 : out->plain;
    return true;
}

/* The argument for parameter i: an element of an array, or a member by name. */
static const struct dict_value *argument_of(const struct request *r, size_t i)
{
    const struct dict_value *list = dict_member(&r->d, "args", DICT_LIST),
                            *named = dict_member(&r->d, "args", DICT_DICT);
    if (list)
        return i < list->count ? &list->items[i].value : NULL;
    return named ? dict_find(named, str_of(hlo_param_name(r->module, i))) : NULL;
}

/* The value of a parameter without argument. */
static hlo_literal *other_argument(struct request *r, size_t i)
{
    static const char *const kinds[] = {HLO_FAKE_WORDS};
    double seed = 1;
    int kind = word(r, "fake", kinds, COUNT_OF(kinds), COUNT_OF(kinds));
    if (kind < 0 || !number(r, "seed", &seed))
        return NULL;
    if (kind == COUNT_OF(kinds) && hlo_stored_arguments(r->module))
        return hlo_stored_argument(r->module, r->module, i, 0, r->m);
    if (kind == COUNT_OF(kinds))
        return refuse(r, "missing argument for parameter '%s'; the option \"fake\" generates one",
                      hlo_param_name(r->module, i)),
               NULL;
    return hlo_fake_param(r->module, i, (enum hlo_fake)kind, (uint64_t)seed, r->m);
}

static bool arguments_of(struct request *r, hlo_literal **args, size_t count)
{
    const struct dict_value *list = dict_member(&r->d, "args", DICT_LIST);
    if (list && list->count > count)
        return refuse(r, "%zu arguments for %zu parameters", list->count, count), false;
    for (size_t i = 0; i < count; i++) {
        const struct dict_value *v = argument_of(r, i);
        if (v && v->kind != DICT_STRING && v->kind != DICT_INT && v->kind != DICT_FLOAT)
            return refuse(r, "argument '%s' is not a string", hlo_param_name(r->module, i)), false;
        struct str text = v ? arena_str(&r->arena, v->s) : STR("");
        args[i] = v ? hlo_read_argument(r->module, i, 0, text.ptr, r->m) : other_argument(r, i);
        if (!args[i])
            return false;
    }
    return true;
}

static void put_result(struct request *r, const hlo_literal *l)
{
    const struct dict_value *json = dict_member(r->options, "json", DICT_BOOL);
    SCOPED_BUF text = {0};
    if (json && json->i) {
        SCOPED_TEXT nested = hlo_literal_json(l, NULL);
        buf_bytes(&r->out, nested.data, nested.size);
        return;
    }
    put_value(&text, l, NULL);
    buf_json_str(&r->out, buf_view(&text));
}

static void put_all_results(struct request *r, const hlo_literal *result)
{
    size_t parts = hlo_literal_count(result);
    buf_json_open(&r->out, "results", '[');
    for (size_t k = 0; k < parts; k++) {
        buf_json_key(&r->out, NULL);
        put_result(r, hlo_literal_element(result, k));
    }
    if (parts == 0)
        put_result(r, result);
    buf_putc(&r->out, ']');
}

static int run_once(struct request *r, const struct hlo_run_options *options, hlo_literal **args,
                    size_t count)
{
    SCOPED_PROGRAM *p = hlo_plan(r->module, options, r->m);
    hlo_literal *result = p ? hlo_run(p, (const hlo_literal *const *)args, count, r->m) : NULL;
    if (result)
        put_all_results(r, result);
    hlo_literal_free(result);
    return result ? HLO_OK : hlo_messages_limit(r->m) ? HLO_LIMIT : HLO_FAILED;
}

static int answer_run(struct request *r)
{
    struct hlo_run_options options;
    size_t count = hlo_param_count(r->module);
    hlo_literal **args = ARENA_ARRAY(&r->arena, hlo_literal *, count + 1);
    r->options = dict_member(&r->d, "options", DICT_DICT);
    int status = HLO_USAGE;
    if (run_options_of(r, &options) && arguments_of(r, args, count))
        status = run_once(r, &options, args, count);
    for (size_t i = 0; i < count; i++)
        hlo_literal_free(args[i]);
    return status;
}

/* ---- dispatch ---- */

static const struct op {
    const char *name;
    int (*answer)(struct request *r);
    bool module; /* whether the method needs a module */
} ops[] = {
    {"fmt", answer_fmt, true}, {"load", answer_load, true},      {"ls", answer_ls, true},
    {"run", answer_run, true}, {"unload", answer_unload, false}, {"verify", answer_verify, true},
};

static int answer_op(struct request *r)
{
    const struct dict_value *name = dict_member(&r->d, "op", DICT_STRING);
    for (size_t k = 0; name && k < COUNT_OF(ops); k++) {
        if (!str_is(name->s, ops[k].name))
            continue;
        int status = ops[k].module ? find_module(r) : HLO_OK;
        return status == HLO_OK ? ops[k].answer(r) : status;
    }
    return refuse(r, "invalid 'op': expected fmt, load, ls, run, unload or verify");
}

static void put_answer(struct request *r, int status, struct buf *out)
{
    SCOPED_TEXT json = hlo_messages_json(r->m);
    buf_puts(out, "{\"schema\":1,\"id\":");
    dict_put_id(out, r->d.kind == DICT_DICT ? dict_find(&r->d, STR("id")) : NULL);
    buf_printf(out, ",\"status\":%d", status);
    if (r->out.size > 0)
        buf_putc(out, ',');
    buf_str(out, buf_view(&r->out));
    buf_puts(out, ",\"diagnostics\":");
    buf_bytes(out, json.data, json.size);
    buf_puts(out, "}\n");
}

void serve_answer(struct server *s, struct str line, struct buf *out)
{
    line = str_trim(line);
    if (line.len == 0)
        return;
    struct request r = {.s = s, .m = hlo_messages_new()};
    struct dict_error error;
    arena_init(&r.arena);
    int status = HLO_USAGE;
    if (line.ptr[0] != '{')
        refuse(&r, "expected a JSON object");
    else if (dict_read(&r.arena, line, DICT_LOOSE, &r.d, &error))
        status = answer_op(&r);
    else
        refuse(&r, "malformed JSON: %s", dict_problem(&r.arena, &error));
    put_answer(&r, status, out);
    if (r.own)
        hlo_module_free(r.module);
    hlo_messages_free(r.m);
    buf_free(&r.out);
    arena_free(&r.arena);
}

struct server *serve_begin(const struct options *o)
{
    struct server *s = heap_zalloc(1, sizeof *s);
    if (run_options(o, &s->usual))
        return s;
    heap_free(s);
    return NULL;
}

void serve_end(struct server *s)
{
    for (size_t k = 0; k < MAX_HANDLES; k++)
        hlo_module_free(s->loaded[k]);
    heap_free(s);
}

int serve_command(const struct options *o)
{
    struct server *s = o->given[OPT_STDIO] ? serve_begin(o) : NULL;
    SCOPED_BUF out = {0}, line = {0};
    enum file_line got;
    if (!o->given[OPT_STDIO])
        return usage_error(o, "missing '--stdio'");
    if (!s)
        return HLO_USAGE;
    for (; (got = file_line(stdin, &line)) == FILE_LINE; line.size = 0) {
        out.size = 0;
        serve_answer(s, buf_view(&line), &out);
        fwrite(out.data, 1, out.size, stdout);
        fflush(stdout);
    }
    serve_end(s);
    if (got == FILE_END)
        return HLO_OK;
    usage_error(o, "request too long: %s", file_problem(EFBIG));
    return HLO_LIMIT;
}
