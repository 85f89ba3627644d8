/*
 * hlo convert: writes a module or an array in another format.
 */
#include "cli/arguments.h"

/* A format of --to and of the suffixes of file names. */
struct format {
    const char *word;
    enum hlo_format format;
};
static const struct format formats[] = {
    {"hlo", HLO_FORMAT_TEXT},
    {"txt", HLO_FORMAT_TEXT},
    {"pb", HLO_FORMAT_PROTO},
    {"pbtxt", HLO_FORMAT_PROTO_TEXT},
    {"prototxt", HLO_FORMAT_PROTO_TEXT},
    {"textproto", HLO_FORMAT_PROTO_TEXT},
};

static const struct format *find_format(struct str word)
{
    for (size_t k = 0; k < COUNT_OF(formats); k++)
        if (str_eq(word, str_of(formats[k].word)))
            return &formats[k];
    return NULL;
}

struct target {
    const char *path;
    bool arrays, gzip; /* arrays: in a format of arrays */
    enum hlo_format format;
};

/* The format is that of --to or of the suffix, in front of `.gz`. */
static bool read_target(const struct options *o, struct target *out)
{
    const char *path = o->given[OPT_OUTPUT] ? o->value[OPT_OUTPUT] : "-";
    *out = (struct target){.path = path, .gzip = ends_with(path, ".gz")};
    struct str name = {path, strlen(path) - (out->gzip ? 3 : 0)};
    const char *dot = str_last(name, '.');
    struct str word = {dot ? dot + 1 : "", dot ? (size_t)(name.ptr + name.len - dot - 1) : 0};
    if (o->given[OPT_TO])
        word = str_of(o->value[OPT_TO]);
    const struct format *f = find_format(word);
    out->arrays = !f && !o->given[OPT_TO] && hlo_write_knows(path);
    if (f)
        out->format = f->format;
    if (f || out->arrays)
        return true;
    if (o->given[OPT_TO])
        usage_error(o, "invalid value '%s' for '--to': expected hlo, pb or pbtxt",
                    o->value[OPT_TO]);
    else if (strcmp(path, "-") == 0)
        usage_error(o, "no format given: use --to, or -o with a file name");
    else
        usage_error(o, "unknown format of '%s': expected .hlo, .pb or .pbtxt, or use --to", path);
    return false;
}

static int convert_array(const char *path, const struct target *to, hlo_messages *m)
{
    SCOPED_ARRAYS *s = hlo_arrays_open(path, m);
    SCOPED_LITERAL *l = s ? hlo_arrays_get(s, "", NULL, m) : NULL;
    const hlo_literal *const all[] = {l};
    const bool ok = l && (to->arrays ? hlo_write_arrays(to->path, "", all, 1, m)
                                     : hlo_write_literal(to->path, l, to->format, to->gzip, m));
    return ok ? HLO_OK : HLO_USAGE;
}

static int convert_module(const struct options *o, const struct target *to, hlo_messages *m)
{
    const char *path = o->args[0];
    int status = HLO_USAGE;
    if (to->arrays)
        return usage_error(o, "cannot write a module to '%s'", to->path);
    SCOPED_FILE *f = open_file(o, path, m);
    if (f && hlo_file_count(f) > 1)
        usage_error(o, "'%s' has %zu modules; select one with --module=N", path, hlo_file_count(f));
    SCOPED_MODULE *module = f && hlo_file_count(f) == 1 ? hlo_parse(f, 0, m) : NULL;
    if (f && hlo_file_count(f) == 1 && !module)
        status = HLO_REJECTED;
    if (module)
        status = hlo_write_module(to->path, module, to->format, to->gzip, m) ? HLO_OK : HLO_USAGE;
    return status;
}

int convert_command(const struct options *o)
{
    struct target to;
    if (o->arg_count > 1)
        return usage_error(o, "extra argument '%s'", o->args[1]);
    if (!read_target(o, &to))
        return HLO_USAGE;
    SCOPED_MESSAGES *m = hlo_messages_new();
    const char *path = o->args[0];
    const bool array = hlo_arrays_known(path) && !hlo_arrays_many(path);
    const int status = array ? convert_array(path, &to, m) : convert_module(o, &to, m);
    report(o, m);
    return status;
}
