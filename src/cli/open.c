/*
 * Opens the file of a command, whose module --module selects; and shared code of commands on one
 * module and a name in it: hlo why, hlo extract, and partly hlo reduce.
 */
#include "cli/arguments.h"

#include <ctype.h>

const char *file_argument(const struct options *o)
{
    return o->arg_count > 0 ? o->args[0] : o->value[OPT_BUNDLE];
}

hlo_file *open_file(const struct options *o, const char *path, hlo_messages *m)
{
    bool strict = o->given[OPT_STRICT];
    if (world_of(o) && strcmp(path, "-") == 0)
        return world_stdin(o, strict, m);
    return hlo_file_open_module(path, o->value[OPT_MODULE], strict, m);
}

/* ---- directories ---- */

/* Adds the dumps of a directory and its subdirectories, or of a pattern. False with a message if
 * there are none. */
static bool add_dumps(struct files *f, const char *path, hlo_messages *m, int depth)
{
    enum { DEEPEST = 64 };
    const char **names, *between = ends_with(path, "/") ? "" : "/";
    size_t count = 0;
    hlo_dumps *d = hlo_dumps_open(path, NULL, m);
    bool found = d != NULL;
    for (size_t k = 0; d && k < hlo_dumps_count(d); k++)
        VEC_PUSH(&f->arena, f->at, f->count, f->capacity) =
            arena_str(&f->arena, str_of(hlo_dumps_get(d, k).path)).ptr;
    hlo_dumps_free(d);
    if (depth < DEEPEST && file_is_directory(path))
        directory_names(&f->arena, path, &names, &count);
    for (size_t k = 0; k < count; k++) {
        SCOPED_MESSAGES *ignored = hlo_messages_new();
        const char *name = arena_printf(&f->arena, "%s%s%s", path, between, names[k]).ptr;
        if (names[k][0] != '.' && file_is_directory(name))
            found |= add_dumps(f, name, ignored, depth + 1);
    }
    return found;
}

bool files_of(struct files *f, const struct options *o, const char *const *paths, size_t count)
{
    bool ok = true;
    arena_init(&f->arena);
    for (size_t k = 0; k < count; k++) {
        SCOPED_MESSAGES *m = hlo_messages_new();
        if (o->given[OPT_MODULE] || !hlo_dumps_many(paths[k])) {
            VEC_PUSH(&f->arena, f->at, f->count, f->capacity) = paths[k];
        } else if (!add_dumps(f, paths[k], m, 0)) {
            report(o, m);
            ok = false;
        }
    }
    return ok;
}

void files_free(struct files *f) { arena_free(&f->arena); }

/* ---- one module and a name ---- */

int put_module(const struct options *o, const hlo_module *module, hlo_messages *m)
{
    SCOPED_TEXT text = hlo_print(module, HLO_PRINT_EXACT);
    bool ok = put_hlo(o, (struct str){text.data, text.size}, m);
    return ok ? HLO_OK : HLO_USAGE;
}

hlo_module *open_one(const struct options *o, const char *path, hlo_messages *m, int *status)
{
    *status = HLO_USAGE;
    SCOPED_FILE *f = open_file(o, path, m);
    hlo_module *module = f ? hlo_parse(f, 0, m) : NULL;
    if (f && !module)
        *status = HLO_REJECTED;
    return module;
}

/* Whether a word is an argument of a run rather than the name of an instruction. */
static bool is_argument(const char *word)
{
    return strpbrk(word, "={( ") || strchr("[@-+.", word[0]) || isdigit((unsigned char)word[0]);
}

/* The `rest` of the operands are a name and the arguments of the run. */
static int with_name_of(const struct options *o, hlo_module *module, const char *path,
                        const char *const *rest, size_t count, bool optional, named_fn *fn,
                        hlo_messages *m)
{
    const bool named = count > 0 && !(optional && is_argument(rest[0]));
    struct arguments a = {
        .o = o, .m = m, .module = module, .given = rest + named, .given_count = count - named};
    int status = arguments_check(&a, module);
    if (status != HLO_OK)
        return status;
    SCOPED_LISTING *l = hlo_list(module);
    status = fn(&a, l, path, named ? rest[0] : "");
    arguments_free(&a);
    return status;
}

int with_name(const struct options *o, const char *missing, named_fn *fn)
{
    int status;
    const bool bundled =
        o->arg_count == 1 && o->given[OPT_BUNDLE]; /* the module is in the bundle */
    if (missing && o->arg_count < 2 && !bundled)
        return usage_error(o, "%s", missing);
    const char *path = bundled ? o->value[OPT_BUNDLE] : o->args[0];
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_MODULE *module = open_one(o, path, m, &status);
    if (module)
        status = with_name_of(o, module, path, o->args + !bundled, o->arg_count - !bundled,
                              missing == NULL, fn, m);
    report(o, m);
    return status;
}
