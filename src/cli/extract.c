/*
 * hlo extract: an instruction and what it needs as a module that runs alone.
 */
#include "cli/arguments.h"

/* NAME, COMPUTATION/NAME, and behind it @N: the time that it is done, from 0. */
static bool find(const struct options *o, const char *path, const hlo_listing *l, const char *text, struct hlo_extract *x)
{
    struct buf name = {0};
    const char *at = strrchr(text, '@');
    int64_t execution = 0;
    buf_bytes(&name, text, at ? (size_t)(at - text) : strlen(text));
    long found = name.size > 0 ? hlo_list_find(l, name.data) : -1;
    bool ok = false;
    if (found < 0)
        usage_error(o, "%s has no instruction `%s`", path, name.size > 0 ? name.data : "");
    else if (at && (!num_parse_i64(str_of(at + 1), &execution) || execution < 0))
        usage_error(o, "`%s`: which time it is done is wanted behind the @, from 0", text);
    else
        ok = true;
    x->inst = (size_t)(found < 0 ? 0 : found);
    x->execution = (uint64_t)execution;
    buf_free(&name);
    return ok;
}

int put_module(const struct options *o, const hlo_module *module, hlo_messages *m)
{
    hlo_text text = hlo_print(module, HLO_PRINT_EXACT);
    bool ok = put_output(o, (struct str){text.data, text.size}, m);
    hlo_text_free(&text);
    return ok ? HLO_OK : HLO_USAGE;
}

static int extract(struct arguments *a, const hlo_listing *l, struct hlo_extract *x)
{
    struct hlo_run_options options;
    int64_t height;
    if (!run_options(a->o, &options) || !option_int(a->o, OPT_HEIGHT, 0, INT64_MAX, -1, &height))
        return HLO_USAGE;
    x->height = height < 0 ? SIZE_MAX : (size_t)height;
    x->parameters = a->o->given[OPT_PARAMETERS];
    hlo_targets *targets = targets_of(a->o, a->m);
    int status = !targets ? HLO_USAGE : x->parameters ? HLO_OK : arguments_collect(a);
    options.targets = targets;
    if (status == HLO_OK) {
        hlo_module *made = hlo_extract(l, x, &options, a->all, a->count, a->m);
        bool sound = made && hlo_verify(made, a->m);
        status = sound ? put_module(a->o, made, a->m) : hlo_messages_limit(a->m) ? HLO_LIMIT : HLO_FAILED;
        hlo_module_free(made);
    }
    hlo_targets_free(targets);
    return status;
}

/* NAME and what follows stand from argument number `at` on. */
static int extract_from(const struct options *o, hlo_module *module, const char *path, size_t at, hlo_messages *m)
{
    struct hlo_extract x = {0};
    struct arguments a = {.o = o, .m = m, .module = module, .given = o->args + at + 1, .given_count = o->arg_count - at - 1};
    if (!arguments_participants(&a, module))
        return HLO_USAGE;
    if (!hlo_verify(module, m))
        return HLO_REJECTED;
    hlo_listing *l = hlo_list(module);
    int status = find(o, path, l, o->args[at], &x) ? extract(&a, l, &x) : HLO_USAGE;
    arguments_free(&a);
    hlo_listing_free(l);
    return status;
}

hlo_module *open_one(const struct options *o, const char *path, hlo_messages *m, int *status)
{
    *status = HLO_USAGE;
    hlo_file *f = open_file(o, path, m);
    hlo_module *module = f ? hlo_parse(f, 0, m) : NULL;
    if (f && !module)
        *status = HLO_REJECTED;
    hlo_file_free(f);
    return module;
}

int extract_command(const struct options *o)
{
    int status;
    bool bundled = o->arg_count == 1 && o->given[OPT_BUNDLE]; /* which brings its module */
    if (o->arg_count < 2 && !bundled)
        return usage_error(o, "FILE and the NAME of an instruction are wanted");
    const char *path = bundled ? o->value[OPT_BUNDLE] : o->args[0];
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = open_one(o, path, m, &status);
    if (module)
        status = extract_from(o, module, path, bundled ? 0 : 1, m);
    report(o, m);
    hlo_module_free(module);
    hlo_messages_free(m);
    return status;
}
