/*
 * hlo run: arguments from wherever they come, the run, and its result.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct run {
    const struct options *o;
    hlo_messages *m;
    const hlo_module *module;
    size_t count;         /* parameters */
    hlo_literal **values; /* one for each; NULL until it is known */
    size_t next;          /* the next parameter that an argument without a name is for */
};

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

/* ---- arguments ---- */

/* Whether the text names its shape: `f32[2] {1, 2}`, `(f32[] 1, ...)`. */
static bool has_shape(struct str s)
{
    size_t i = 0;
    if (s.len > 0 && s.ptr[0] == '(')
        return true;
    while (i < s.len && ((s.ptr[i] >= 'a' && s.ptr[i] <= 'z') || (s.ptr[i] >= '0' && s.ptr[i] <= '9')))
        i++;
    return i > 0 && i < s.len && s.ptr[i] == '[';
}

/* A literal; where it names no shape it gets that of the parameter. */
static hlo_literal *literal_argument(const struct run *r, size_t param, struct str text)
{
    struct buf b = {0};
    text = str_trim(text);
    if (!has_shape(text)) {
        hlo_text shape = hlo_param_shape(r->module, param);
        buf_bytes(&b, shape.data, shape.size);
        buf_putc(&b, ' ');
        hlo_text_free(&shape);
    }
    buf_str(&b, text);
    hlo_literal *l = hlo_literal_parse(b.data, b.size, r->m);
    buf_free(&b);
    return l;
}

static hlo_literal *literal_file(const struct run *r, size_t param, const char *path)
{
    struct file_bytes bytes;
    if (!file_read(path, &bytes)) {
        struct buf why = {0};
        buf_printf(&why, "cannot read the file: %s", strerror(errno));
        hlo_messages_add(r->m, path, why.data);
        buf_free(&why);
        return NULL;
    }
    hlo_literal *l = literal_argument(r, param, (struct str){bytes.data, bytes.size});
    file_release(&bytes);
    return l;
}

static bool all_from_npz(struct run *r, const char *path)
{
    for (size_t i = 0; i < r->count; i++) {
        if (r->values[i])
            continue;
        r->values[i] = hlo_read_npz(path, "arg", r->module, i, 0, r->m);
        if (!r->values[i])
            return false;
    }
    return true;
}

/* A literal that names its shape must name the parameter's; sizes of a dynamic one are checked later. */
static bool shape_fits(const struct run *r, size_t param, const hlo_literal *l)
{
    hlo_text got = hlo_literal_shape(l), want = hlo_param_shape(r->module, param);
    bool fits = strcmp(got.data, want.data) == 0 || strstr(want.data, "<=") || strchr(want.data, '?');
    if (!fits)
        usage_error(r->o, "parameter `%s` is %s; the argument given is %s", hlo_param_name(r->module, param),
                    want.data, got.data);
    hlo_text_free(&got);
    hlo_text_free(&want);
    return fits;
}

static bool one_argument(struct run *r, size_t param, const char *text)
{
    hlo_literal *l;
    if (*text != '@')
        l = literal_argument(r, param, str_of(text));
    else if (ends_with(text, ".npy"))
        l = hlo_read_npy(text + 1, r->module, param, r->m);
    else if (ends_with(text, ".npz"))
        l = hlo_read_npz(text + 1, "arg", r->module, param, 0, r->m);
    else
        l = literal_file(r, param, text + 1);
    hlo_literal_free(r->values[param]);
    r->values[param] = l;
    return l && shape_fits(r, param, l);
}

/* Where the `=` of NAME=ARG stands; NULL when the argument has no name. */
static const char *name_end(const char *arg)
{
    const char *p = arg + (*arg == '%');
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_'))
        return NULL;
    while (*p && !strchr("=[{( ,", *p))
        p++;
    return *p == '=' ? p : NULL;
}

static int unknown_param(const struct run *r, const char *name)
{
    struct buf names = {0};
    for (size_t i = 0; i < r->count; i++)
        buf_printf(&names, i ? ", `%s`" : "`%s`", hlo_param_name(r->module, i));
    int status =
        usage_error(r->o, "no parameter `%s`; the module takes %s", name, r->count ? names.data : "none");
    buf_free(&names);
    return status;
}

static int named_argument(struct run *r, const char *arg, const char *equal)
{
    struct buf name = {0};
    buf_bytes(&name, arg, (size_t)(equal - arg));
    long param = hlo_param_find(r->module, name.data);
    int status = HLO_OK;
    if (param < 0)
        status = unknown_param(r, name.data);
    else if (!one_argument(r, (size_t)param, equal + 1))
        status = HLO_USAGE;
    buf_free(&name);
    return status;
}

static int positional_argument(struct run *r, const char *arg)
{
    if (*arg == '@' && ends_with(arg, ".npz"))
        return all_from_npz(r, arg + 1) ? HLO_OK : HLO_USAGE;
    while (r->next < r->count && r->values[r->next])
        r->next++;
    if (r->next == r->count)
        return usage_error(r->o, "argument `%s` is one too many: the module takes %zu", arg, r->count);
    return one_argument(r, r->next, arg) ? HLO_OK : HLO_USAGE;
}

static int given_arguments(struct run *r)
{
    int status = HLO_OK;
    for (size_t i = 1; i < r->o->arg_count && status == HLO_OK; i++) { /* names first: they leave gaps */
        const char *equal = name_end(r->o->args[i]);
        if (equal)
            status = named_argument(r, r->o->args[i], equal);
    }
    for (size_t i = 1; i < r->o->arg_count && status == HLO_OK; i++)
        if (!name_end(r->o->args[i]))
            status = positional_argument(r, r->o->args[i]);
    return status;
}

static int missing_argument(const struct run *r, size_t i)
{
    hlo_text shape = hlo_param_shape(r->module, i);
    int status = usage_error(r->o, "no argument for parameter %zu, `%s`, of shape %s; --random makes one up",
                             i, hlo_param_name(r->module, i), shape.data);
    hlo_text_free(&shape);
    return status;
}

static int collect_arguments(struct run *r)
{
    int64_t seed;
    int status = given_arguments(r);
    if (status != HLO_OK)
        return status;
    if (r->o->given[OPT_INPUTS] && !all_from_npz(r, r->o->value[OPT_INPUTS]))
        return HLO_USAGE;
    if (!option_int(r->o, OPT_RANDOM, 0, INT64_MAX, 1, &seed))
        return HLO_USAGE;
    for (size_t i = 0; i < r->count; i++) {
        if (r->values[i])
            continue;
        if (!r->o->given[OPT_RANDOM])
            return missing_argument(r, i);
        r->values[i] = hlo_random_param(r->module, i, (uint64_t)seed, r->m);
        if (!r->values[i])
            return HLO_FAILED;
    }
    return HLO_OK;
}

/* ---- the run ---- */

/* A number of bytes: 500, 64k, 500M, 2G. */
static bool byte_count(const char *text, uint64_t *out)
{
    static const char units[] = "kMGT";
    struct str s = str_of(text);
    const char *unit = s.len > 1 ? strchr(units, s.ptr[s.len - 1]) : NULL;
    int64_t n, scale = 1;
    for (; unit && unit >= units; unit--)
        scale *= 1024;
    if (scale > 1)
        s.len--;
    if (!num_parse_i64(s, &n) || n < 1 || !mul_i64(n, scale, &n))
        return false;
    *out = (uint64_t)n;
    return true;
}

static bool limit_options(const struct options *o, struct hlo_run_options *out)
{
    const char *memory = o->value[OPT_MAX_MEMORY], *seconds = o->value[OPT_TIMEOUT];
    int64_t steps;
    if (!option_int(o, OPT_MAX_STEPS, 1, INT64_MAX, 0, &steps))
        return false;
    out->max_steps = (uint64_t)steps;
    if (memory && !byte_count(memory, &out->max_memory))
        return usage_error(o, "`--max-memory=%s`: a number of bytes is wanted", memory), false;
    if (seconds && !(num_parse_double(str_of(seconds), &out->timeout) && out->timeout > 0))
        return usage_error(o, "`--timeout=%s`: a number of seconds is wanted", seconds), false;
    return true;
}

static bool run_options(const struct options *o, struct hlo_run_options *out)
{
    const char *how = o->value[OPT_ELIDED];
    *out = (struct hlo_run_options){.plain = o->given[OPT_PLAIN], .seed = 1};
    if (!limit_options(o, out))
        return false;
    if (!how)
        return true;
    if (strcmp(how, "zero") == 0)
        out->elided = HLO_ELIDED_ZERO;
    else if (strcmp(how, "iota") == 0)
        out->elided = HLO_ELIDED_IOTA;
    else if (strcmp(how, "random") == 0)
        out->elided = HLO_ELIDED_RANDOM;
    else
        return usage_error(o, "`--elided=%s`: zero, iota or random is wanted", how), false;
    return true;
}

static bool put_result(const struct run *r, const hlo_literal *result)
{
    const char *path = r->o->value[OPT_OUTPUT];
    if (path && ends_with(path, ".npz"))
        return hlo_write_npz(path, "out", result, r->m);
    if (path && ends_with(path, ".npy"))
        return hlo_write_npy(path, result, r->m);
    struct buf b = {0};
    put_value(&b, result);
    buf_putc(&b, '\n');
    bool ok = true;
    if (path && strcmp(path, "-") != 0)
        ok = hlo_write_text(path, b.data, b.size, r->m);
    else
        fwrite(b.data, 1, b.size, stdout);
    buf_free(&b);
    return ok;
}

static int run_module(struct run *r)
{
    struct hlo_run_options options;
    if (!run_options(r->o, &options))
        return HLO_USAGE;
    int status = collect_arguments(r);
    if (status != HLO_OK)
        return status;
    hlo_program *p = hlo_plan(r->module, &options, r->m);
    hlo_literal *result = p ? hlo_run(p, (const hlo_literal *const *)r->values, r->count, r->m) : NULL;
    if (!result)
        status = hlo_messages_limit(r->m) ? HLO_LIMIT : HLO_FAILED;
    else if (!put_result(r, result))
        status = HLO_USAGE;
    hlo_literal_free(result);
    hlo_program_free(p);
    return status;
}

static int run_part(const struct options *o, const hlo_file *f, size_t part)
{
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = hlo_parse(f, part, m);
    int status = HLO_REJECTED;
    if (module && hlo_verify(module, m)) {
        struct run r = {.o = o, .m = m, .module = module, .count = hlo_param_count(module)};
        r.values = calloc(r.count + 1, sizeof(hlo_literal *));
        status = r.values ? run_module(&r) : HLO_FAILED;
        for (size_t i = 0; r.values && i < r.count; i++)
            hlo_literal_free(r.values[i]);
        free(r.values);
    }
    report(o, m);
    hlo_module_free(module);
    hlo_messages_free(m);
    return status;
}

static int run_file(const struct options *o, const hlo_file *f)
{
    size_t count = hlo_file_count(f);
    int64_t only;
    if (!option_int(o, OPT_MODULE, 1, (int64_t)count, 0, &only))
        return HLO_USAGE;
    if (only > 0)
        return run_part(o, f, (size_t)only - 1);
    if (o->given[OPT_OUTPUT] && count > 1)
        return usage_error(o, "the file holds %zu modules: --output needs --module=N", count);
    int status = HLO_OK;
    for (size_t part = 0; part < count && status == HLO_OK; part++)
        status = run_part(o, f, part);
    return status;
}

int run_command(const struct options *o)
{
    if (o->arg_count == 0)
        return usage_error(o, "no file given");
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_open(o->args[0], o->given[OPT_STRICT], m);
    report(o, m);
    int status = f ? run_file(o, f) : HLO_USAGE;
    hlo_file_free(f);
    hlo_messages_free(m);
    return status;
}
