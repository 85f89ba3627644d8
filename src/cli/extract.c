/*
 * hlo extract: an instruction and its operands as a standalone module.
 */
#include "cli/arguments.h"

/* Finds NAME or COMPUTATION/NAME, optionally followed by @N, the execution, from 0. */
static bool find(const struct options *o, const char *path, const hlo_listing *l, const char *text,
                 struct hlo_extract *x)
{
    SCOPED_BUF name = {0};
    const char *at = strrchr(text, '@');
    int64_t execution = 0;
    buf_bytes(&name, text, at ? (size_t)(at - text) : strlen(text));
    long found = name.size > 0 ? hlo_list_find(l, name.data) : -1;
    bool ok = false;
    if (found < 0)
        usage_error(o, "%s has no instruction '%s'", path, name.size > 0 ? name.data : "");
    else if (at && (!num_parse_i64(str_of(at + 1), &execution) || execution < 0))
        usage_error(o, "invalid instruction '%s': expected an execution number after '@'", text);
    else
        ok = true;
    x->inst = (size_t)(found < 0 ? 0 : found);
    x->execution = (uint64_t)execution;
    return ok;
}

static int extract(struct arguments *a, const hlo_listing *l, struct hlo_extract *x)
{
    struct hlo_run_options options;
    int64_t height;
    if (!option_int(a->o, OPT_HEIGHT, 0, INT64_MAX, -1, &height))
        return HLO_USAGE;
    x->height = height < 0 ? SIZE_MAX : (size_t)height;
    x->parameters = a->o->given[OPT_PARAMETERS];
    int status = arguments_prepare(a, &options);
    if (status != HLO_OK)
        return status;
    SCOPED_MODULE *made = hlo_extract(l, x, &options, a->all, a->count, a->m);
    const bool valid = made && hlo_verify(made, a->m);
    status = valid                      ? put_module(a->o, made, a->m)
             : hlo_messages_limit(a->m) ? HLO_LIMIT
                                        : HLO_FAILED;
    return status;
}

static int extract_named(struct arguments *a, const hlo_listing *l, const char *path,
                         const char *name)
{
    struct hlo_extract x = HLO_EXTRACT_INIT;
    return find(a->o, path, l, name, &x) ? extract(a, l, &x) : HLO_USAGE;
}

int extract_command(const struct options *o)
{
    return with_name(o, "expected FILE and the NAME of an instruction", extract_named);
}
