/*
 * Arguments of a run: literals, arrays from files and generated values, for all participants or
 * for one.
 */
#include "cli/arguments.h"

bool ends_with(const char *s, const char *end) { return str_ends(str_of(s), str_of(end)); }

bool same_parameter(const hlo_module *a, const hlo_module *b, size_t param)
{
    SCOPED_TEXT x = hlo_param_shape(a, param), y = hlo_param_shape(b, param);
    return strcmp(x.data, y.data) == 0;
}

/* Storage for the value of a parameter. */
static hlo_literal **place(struct arguments *a, size_t param, int64_t participant)
{
    return participant == ALL_PARTICIPANTS ? &a->common[param]
                                           : &a->own[(size_t)participant * a->count + param];
}

static bool has_value(const struct arguments *a, size_t param, size_t participant)
{
    return a->own[participant * a->count + param] || a->common[param];
}

/* False for participants that run in other processes, which read their own arguments. */
static bool needs_value(const struct arguments *a, size_t param, size_t participant)
{
    return hlo_world_runs(world_of(a->o), participant) && !has_value(a, param, participant);
}

/* ---- one argument ---- */

/* Reads missing values from a file. With several participants, values of a participant in the file
 * take precedence over common ones. */
static bool all_from(struct arguments *a, const char *path, int64_t only)
{
    SCOPED_ARRAYS *s = hlo_arrays_open(path, a->m);
    if (!s || !hlo_arrays_fit(s, a->module, a->m))
        return false;
    for (size_t p = 0; p < a->participants; p++)
        for (size_t i = 0; i < a->count; i++) {
            if ((only != ALL_PARTICIPANTS && only != (int64_t)p) || !needs_value(a, i, p))
                continue;
            hlo_literal *l = hlo_arrays_param(s, "arg", a->module, i, p, a->m);
            *place(a, i, (int64_t)p) = l;
            if (!l)
                return false;
        }
    return true;
}

static bool one_argument(struct arguments *a, size_t param, int64_t participant, const char *text)
{
    hlo_literal **at = place(a, param, participant);
    hlo_literal_free(*at);
    *at = hlo_read_argument(a->module, param,
                            participant == ALL_PARTICIPANTS ? 0 : (size_t)participant, text, a->m);
    return *at != NULL;
}

/* ---- named and in order ---- */

static int unknown_param(const struct arguments *a, const char *name)
{
    SCOPED_BUF names = {0};
    for (size_t i = 0; i < a->count; i++)
        buf_printf(&names, i ? ", '%s'" : "'%s'", hlo_param_name(a->module, i));
    return usage_error(a->o, "unknown parameter '%s'; the module has %s", name,
                       a->count ? names.data : "none");
}

static int unknown_participant(const struct arguments *a, int64_t participant)
{
    return usage_error(a->o, "no participant %" PRId64 "; there are %zu", participant,
                       a->participants);
}

/* NAME=ARG, NAME@PARTICIPANT=ARG */
static int named_argument(struct arguments *a, const char *arg, const char *value)
{
    SCOPED_BUF name = {0};
    const char *equal = value - 1, *at = memchr(arg, '@', (size_t)(equal - arg)),
               *end = at ? at : equal;
    int64_t participant = ALL_PARTICIPANTS;
    buf_bytes(&name, arg, (size_t)(end - arg));
    long param = hlo_param_find(a->module, name.data);
    int status = HLO_OK;
    if (param < 0)
        status = unknown_param(a, name.data);
    else if (at && !num_parse_i64((struct str){at + 1, (size_t)(equal - at - 1)}, &participant))
        status = usage_error(a->o, "invalid participant '%.*s'", (int)(equal - arg), arg);
    else if (at && (participant < 0 || participant >= (int64_t)a->participants))
        status = unknown_participant(a, participant);
    else if (!one_argument(a, (size_t)param, participant, value))
        status = HLO_USAGE;
    return status;
}

static int positional_argument(struct arguments *a, const char *arg)
{
    if (*arg == '@' && hlo_arrays_many(arg + 1))
        return all_from(a, arg + 1, ALL_PARTICIPANTS) ? HLO_OK : HLO_USAGE;
    while (a->next < a->count && has_value(a, a->next, 0))
        a->next++;
    if (a->next == a->count)
        return usage_error(a->o, "too many arguments: '%s'; the module has %zu parameters", arg,
                           a->count);
    return one_argument(a, a->next, ALL_PARTICIPANTS, arg) ? HLO_OK : HLO_USAGE;
}

static int given_arguments(struct arguments *a)
{
    int status = HLO_OK;
    for (size_t i = 0; i < a->given_count && status == HLO_OK;
         i++) { /* named arguments first; unnamed ones take the remaining parameters */
        size_t value = hlo_argument_value(a->given[i]);
        if (value)
            status = named_argument(a, a->given[i], a->given[i] + value);
    }
    for (size_t i = 0; i < a->given_count && status == HLO_OK; i++)
        if (!hlo_argument_value(a->given[i]))
            status = positional_argument(a, a->given[i]);
    return status;
}

/* --inputs@N=FILE first, then --inputs=FILE, then the bundle. */
static int input_files(struct arguments *a)
{
    for (size_t k = 0; k < a->o->each_count; k++) {
        const struct each_option *e = &a->o->each[k];
        if (e->participant >= (int64_t)a->participants)
            return unknown_participant(a, e->participant);
        if (e->id == OPT_INPUTS && !all_from(a, e->value, e->participant))
            return HLO_USAGE;
    }
    const char *const files[] = {a->o->value[OPT_INPUTS], bundle_of_arrays(a->o)};
    for (size_t k = 0; k < COUNT_OF(files); k++)
        if (files[k] && !all_from(a, files[k], ALL_PARTICIPANTS))
            return HLO_USAGE;
    return HLO_OK;
}

const char *bundle_of_arrays(const struct options *o)
{
    const char *path = o->value[OPT_BUNDLE];
    return path && (hlo_arrays_known(path) || file_starts_with(path, STR("PK"))) ? path : NULL;
}

/* Opens the snapshot of --bundle. */
static int open_bundle(struct arguments *a)
{
    const char *path = a->o->value[OPT_BUNDLE];
    if (!path || bundle_of_arrays(a->o) || path == file_argument(a->o))
        return HLO_OK;
    a->bundle = hlo_file_open(path, false, a->m);
    a->bundled = a->bundle ? hlo_parse(a->bundle, 0, a->m) : NULL;
    if (!a->bundled)
        return HLO_USAGE;
    if (hlo_stored_arguments(a->bundled) > 0 || hlo_file_has_results(a->bundle))
        return HLO_OK;
    return usage_error(a->o, "'%s' has neither arguments nor results", path);
}

static bool any_value(const struct arguments *a)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t p = 0; p < a->participants; p++)
            if (has_value(a, i, p))
                return true;
    return false;
}

/* Takes missing arguments from the snapshot of --bundle or, unless they are to be generated, from
 * the file of the module, a bundle or snapshot. */
static int stored_arguments(struct arguments *a)
{
    const hlo_module *from = a->bundled ? a->bundled : a->with ? a->with : a->module;
    const size_t lists = hlo_stored_arguments(from);
    const bool generated =
        !a->bundled && (a->as || a->o->given[OPT_FAKE] || a->o->given[OPT_RANDOM]);
    a->stored = a->count == 0 || (lists > 0 && !generated && !any_value(a));
    if (lists == 0 || generated)
        return HLO_OK;
    if (lists > a->participants && world_first(a->o))
        fprintf(world_stderr(a->o),
                "hlo: warning: arguments of %zu participants are stored, but %zu run; use "
                "--replicas or --partitions to run more\n",
                lists, a->participants);
    for (size_t p = 0; p < a->participants; p++)
        for (size_t i = 0; i < a->count; i++)
            if (needs_value(a, i, p) &&
                !(*place(a, i, (int64_t)p) = hlo_stored_argument(from, a->module, i, p, a->m)))
                return HLO_USAGE;
    return HLO_OK;
}

static int missing_argument(const struct arguments *a, size_t i)
{
    SCOPED_TEXT shape = hlo_param_shape(a->module, i);
    return usage_error(
        a->o,
        "%s%smissing argument for parameter %zu, '%s', of shape %s; --fake or --random generates "
        "one",
        a->path ? a->path : "", a->path ? ": " : "", i, hlo_param_name(a->module, i), shape.data);
}

bool fake_kind(const struct options *o, enum hlo_fake *out)
{
    static const char *const keywords[] = {HLO_FAKE_WORDS};
    int k;
    const bool ok = option_word(o, OPT_FAKE, keywords, COUNT_OF(keywords), HLO_FAKE_UNIFORM, &k);
    *out = (enum hlo_fake)k;
    return ok;
}

/* Reads --fake, --random and --seed; false after reporting an invalid value. */
static bool fake_options(struct arguments *a, enum hlo_fake *kind, int64_t *seed)
{
    if (a->as) {
        *kind = a->as->kind;
        *seed = (int64_t)a->as->seed;
        return true;
    }
    a->make_up |= a->o->given[OPT_FAKE] || a->o->given[OPT_RANDOM];
    if (!fake_kind(a->o, kind))
        return false;
    if (a->o->given[OPT_FAKE] && a->o->given[OPT_RANDOM])
        return usage_error(a->o, "'--fake' and '--random' are mutually exclusive"), false;
    return option_int(a->o, OPT_RANDOM, 0, INT64_MAX, 1, seed) &&
           option_int(a->o, OPT_SEED, 0, INT64_MAX, *seed, seed);
}

/* Generates missing arguments, with different values for each participant. */
static int make_up(struct arguments *a)
{
    enum hlo_fake kind;
    int64_t seed;
    if (!fake_options(a, &kind, &seed))
        return HLO_USAGE;
    for (size_t p = 0; p < a->participants; p++)
        for (size_t i = 0; i < a->count; i++) {
            if (!needs_value(a, i, p))
                continue;
            if (!a->make_up && !a->as)
                return missing_argument(a, i);
            hlo_literal *l = a->as || a->o->given[OPT_FAKE]
                                 ? hlo_fake_param(a->module, i, kind, (uint64_t)seed + p, a->m)
                                 : hlo_random_param(a->module, i, (uint64_t)seed + p, a->m);
            *place(a, i, (int64_t)p) = l;
            if (!l)
                return HLO_FAILED;
        }
    return HLO_OK;
}

bool arguments_participants(struct arguments *a, hlo_module *module)
{
    int64_t replicas, partitions, n;
    if (!option_int(a->o, OPT_REPLICAS, 1, INT32_MAX, hlo_replica_count(module), &replicas) ||
        !option_int(a->o, OPT_PARTITIONS, 1, INT32_MAX, hlo_num_partitions(module), &partitions))
        return false;
    hlo_set_participants(module, replicas, partitions);
    bool many = !mul_i64(replicas, partitions, &n) || n < 1 ||
                n > HLO_MAX_PARTICIPANTS; /* hlo_plan reports the error */
    a->participants = many ? 1 : (size_t)n;
    return true;
}

int arguments_check(struct arguments *a, hlo_module *module)
{
    if (module && !arguments_participants(a, module))
        return HLO_USAGE;
    return module && hlo_verify(module, a->m) ? HLO_OK : HLO_REJECTED;
}

int arguments_collect(struct arguments *a)
{
    a->count = hlo_param_count(a->module);
    a->common = heap_zalloc(a->count + 1, sizeof(hlo_literal *));
    a->own = heap_zalloc(a->participants * a->count + 1, sizeof(hlo_literal *));
    a->all = heap_zalloc(a->participants * a->count + 1, sizeof(hlo_literal *));
    int status = given_arguments(a);
    if (status == HLO_OK)
        status = input_files(a);
    if (status == HLO_OK)
        status = open_bundle(a);
    if (status == HLO_OK)
        status = stored_arguments(a);
    if (status == HLO_OK)
        status = make_up(a);
    for (size_t k = 0; status == HLO_OK && k < a->participants * a->count; k++)
        a->all[k] = a->own[k] ? a->own[k] : a->common[k % a->count];
    return status;
}

int arguments_prepare(struct arguments *a, struct hlo_run_options *options)
{
    if (!run_options(a->o, options) || !(a->targets = targets_of(a->o, a->m)))
        return HLO_USAGE;
    options->targets = a->targets;
    return a->o->given[OPT_PARAMETERS] ? HLO_OK : arguments_collect(a);
}

void arguments_free(struct arguments *a)
{
    hlo_targets_free(a->targets);
    for (size_t i = 0; a->common && i < a->count; i++)
        hlo_literal_free(a->common[i]);
    for (size_t k = 0; a->own && k < a->participants * a->count; k++)
        hlo_literal_free(a->own[k]);
    hlo_module_free(a->bundled);
    hlo_file_free(a->bundle);
    heap_free(a->common);
    heap_free(a->own);
    heap_free(a->all);
}
