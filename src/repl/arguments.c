/*
 * repl/arguments: arguments of the entry computation, which are kept until they are replaced.
 */
#include "repl/session.h"

/* ---- words ---- */

static bool ends_in_shape(const struct buf *b)
{
    return b->size > 0 && strchr("]}", b->data[b->size - 1]) &&
           hlo_literal_has_shape(b->data, b->size) && !memchr(b->data, ' ', b->size);
}

/* Extracts the argument at `*at`, quoted as in a shell, except that blanks in brackets, around `=`
 * and between a shape and its values are part of it. False: no more arguments. */
static bool next_argument(struct str s, size_t *at, struct buf *out)
{
    size_t i = *at, value = 0;
    buf_reserve(out, 1);
    out->data[0] = '\0'; /* `''` appends nothing */
    while (i < s.len && char_is_blank(s.ptr[i]))
        i++;
    if (i == s.len)
        return false;
    while (i < s.len) {
        char c = s.ptr[i];
        size_t end = i + 1;
        if (c == '\'') {
            const char *close = memchr(s.ptr + end, c, s.len - end);
            size_t stop = close ? (size_t)(close - s.ptr) : s.len;
            buf_bytes(out, s.ptr + end, stop - end);
            i = close ? stop + 1 : stop;
            continue;
        }
        if (char_is_blank(c)) {
            while (end < s.len && char_is_blank(s.ptr[end]))
                end++;
            bool around = end < s.len &&
                          (s.ptr[end] == '=' || (out->size > 0 && out->data[out->size - 1] == '='));
            struct buf tail = {out->data + value, out->size - value, 0};
            if (!around && !(end < s.len && ends_in_shape(&tail)))
                break;
            if (!around)
                buf_putc(out, ' ');
            i = end;
            continue;
        }
        if (strchr("([{\"", c) && (end = text_group_end(s, i)) == NOWHERE)
            end = s.len;
        buf_bytes(out, s.ptr + i, end - i);
        if (c == '=' && value == 0)
            value = out->size;
        i = end;
    }
    *at = i;
    return true;
}

/* ---- assignment ---- */

struct argument_list {
    struct session *s;
    struct state *next;
    bool *given;
    size_t count, at; /* number of parameters; the next one for an argument without a name */
    bool random, fake, again; /* again: an option of the arguments, not of the session */
    enum hlo_fake kind;
    int64_t seed;
    char *file; /* of --inputs or --bundle; NULL: none */
    hlo_messages *m;
};

/* The name in the session of a parameter; the module may have renamed x to x.1. */
static const char *typed_name(const struct session *s, size_t param)
{
    const struct hlo_listed_computation main = listed_entry(s->built.listing);
    const struct entry *e = s->built.entries[main.parameters[param] - s->built.first];
    return e ? e->name : hlo_param_name(s->built.module, param);
}

static void set_argument(struct argument_list *g, size_t param, hlo_literal *l, bool generated)
{
    struct shared_value *value = shared_value_new(l);
    if (value)
        value->generated = generated;
    state_set(g->next, str_of(typed_name(g->s, param)), value, ++g->s->ids);
    g->given[param] = true;
}

/* Sets all arguments that are not given to those of a file of arrays or, if FILE is NULL, those
 * stored with a module. */
static bool set_all(struct argument_list *g, const hlo_arrays *file, const hlo_module *stored)
{
    for (size_t p = 0; p < g->count; p++) {
        if (g->given[p])
            continue;
        hlo_literal *l = file ? hlo_arrays_param(file, "arg", g->s->built.module, p, 0, g->m)
                              : hlo_stored_argument(stored, stored, p, 0, g->m);
        if (!l)
            return false;
        set_argument(g, p, l, false);
    }
    return true;
}

static int set_from_file(struct argument_list *g, const char *path)
{
    SCOPED_ARRAYS *file = hlo_arrays_open(path, g->m);
    bool ok = file && hlo_arrays_fit(file, g->s->built.module, g->m) && set_all(g, file, NULL);
    return ok ? HLO_OK : HLO_USAGE;
}

static int set_from_text(struct argument_list *g, size_t param, const char *text)
{
    hlo_literal *l = hlo_read_argument(g->s->built.module, param, 0, text, g->m);
    if (!l)
        return HLO_USAGE;
    set_argument(g, param, l, false);
    return HLO_OK;
}

/* NAME@N=VALUE */
static int set_for_participant(struct argument_list *g, const char *text, size_t value,
                               const char *at)
{
    const hlo_module *module = g->s->built.module;
    int64_t n;
    if (hlo_replica_count(module) * hlo_num_partitions(module) == 1 &&
        num_parse_i64((struct str){at + 1, (size_t)(text + value - at) - 2}, &n) && n == 0)
        return HLO_OK;
    return report_error(g->s, HLO_USAGE,
                        "'%.*s': all participants get the same arguments at the prompt",
                        (int)value - 1, text);
}

static int set_named(struct argument_list *g, const char *text, size_t value)
{
    const char *at = memchr(text, '@', value);
    int status = at ? set_for_participant(g, text, value, at) : HLO_OK;
    if (status != HLO_OK)
        return status;
    SCOPED_HEAP char *name = heap_str((struct str){text, at ? (size_t)(at - text) : value - 1});
    long param = hlo_param_find(g->s->built.module, name);
    status = param < 0 ? report_error(g->s, HLO_USAGE, "unknown parameter '%s'", name)
                       : set_from_text(g, (size_t)param, text + value);
    return status;
}

static bool read_kind(struct argument_list *g, const char *word)
{
    static const char *const kinds[] = {HLO_FAKE_WORDS};
    const int kind = word ? str_among(str_of(word), kinds, COUNT_OF(kinds)) : HLO_FAKE_UNIFORM;
    g->kind = kind < 0 ? HLO_FAKE_UNIFORM : (enum hlo_fake)kind;
    return kind >= 0;
}

/* TEXT is `--NAME` or `--NAME=VALUE`. */
static int read_option(struct argument_list *g, const char *text)
{
    const char *equal = strchr(text, '='), *value = equal ? equal + 1 : NULL;
    const struct str name = {text, equal ? (size_t)(equal - text) : strlen(text)};
    bool ok = false;
    if (str_is(name, "--random")) {
        ok = !value || num_parse_i64(str_of(value), &g->seed);
        g->random = g->again = true;
    } else if (str_is(name, "--fake")) {
        ok = read_kind(g, value);
        g->fake = g->again = true;
    } else if (str_is(name, "--seed")) {
        ok = value && num_parse_i64(str_of(value), &g->seed) && g->seed >= 0;
    } else if (str_is(name, "--inputs") || str_is(name, "--bundle")) {
        ok = value && *value;
        repl_set(&g->file, value);
    }
    if (ok)
        return HLO_OK;
    return report_error(g->s, HLO_USAGE,
                        "invalid option '%s': expected --inputs=FILE, --bundle=FILE, "
                        "--random[=SEED], --seed=N or --fake[=KIND] with KIND zeros, ones, iota, "
                        "uniform, normal or edge",
                        text);
}

static int set_next(struct argument_list *g, const char *text)
{
    if (*text == '@' && hlo_arrays_many(text + 1))
        return set_from_file(g, text + 1);
    while (g->at < g->count && g->given[g->at])
        g->at++;
    if (g->at == g->count)
        return report_error(g->s, HLO_USAGE,
                            "too many arguments: '%s'; the module has %zu parameters", text,
                            g->count);
    return set_from_text(g, g->at, text);
}

enum argument_form { OPTION, NAMED, IN_ORDER, FORMS };

static int read_argument(struct argument_list *g, const char *text, enum argument_form form)
{
    const size_t value = hlo_argument_value(text);
    const bool option = text[0] == '-' && text[1] == '-';
    if (form != (option ? OPTION : value ? NAMED : IN_ORDER))
        return HLO_OK;
    return option ? read_option(g, text) : value ? set_named(g, text, value) : set_next(g, text);
}

/* Whether the parameter has a value that is kept: all but those of an earlier --random or --fake,
 * which are generated again if the option is. */
static bool is_kept(const struct argument_list *g, size_t param)
{
    const struct entry *set = state_setting(g->next, typed_name(g->s, param));
    return g->given[param] || (set && !(g->again && set->value && set->value->generated));
}

static int make_up(struct argument_list *g)
{
    for (size_t p = 0; p < g->count && (g->random || g->fake); p++) {
        hlo_literal *l;
        if (is_kept(g, p))
            continue;
        if (g->fake)
            l = hlo_fake_param(g->s->built.module, p, g->kind, (uint64_t)g->seed, g->m);
        else
            l = hlo_random_param(g->s->built.module, p, (uint64_t)g->seed, g->m);
        if (!l)
            return HLO_FAILED;
        set_argument(g, p, l, true);
    }
    return HLO_OK;
}

static void arguments_begin(struct argument_list *g, struct session *s, hlo_messages *m)
{
    *g = (struct argument_list){.s = s,
                                .next = state_copy(session_state(s)),
                                .count = hlo_param_count(session_module(s)),
                                .m = m,
                                .random = s->o->random,
                                .seed = (int64_t)s->o->seed};
    g->given = heap_zalloc(g->count, sizeof *g->given);
}

static int arguments_end(struct argument_list *g, int status)
{
    bool any = false;
    for (size_t p = 0; p < g->count; p++)
        any |= g->given[p];
    heap_free(g->given);
    repl_set(&g->file, NULL);
    if (status != HLO_OK || !any)
        state_free(g->next);
    else if (!session_take(g->s, g->next, g->m))
        status = HLO_REJECTED;
    return status;
}

/* Options, then named arguments; the others are the remaining parameters in order. */
static int read_arguments(struct argument_list *g, struct str args)
{
    int status = HLO_OK;
    for (int form = 0; form < FORMS; form++) {
        SCOPED_BUF text = {0};
        for (size_t at = 0; status == HLO_OK && next_argument(args, &at, &text); buf_free(&text))
            status = read_argument(g, text.data, (enum argument_form)form);
    }
    return status;
}

int run_arguments(struct session *s, struct str args)
{
    struct argument_list g;
    hlo_messages *m = hlo_messages_new();
    arguments_begin(&g, s, m);
    int status = read_arguments(&g, args);
    if (status == HLO_OK && g.file)
        status = set_from_file(&g, g.file);
    if (status == HLO_OK)
        status = make_up(&g);
    status = arguments_end(&g, status);
    report_messages(s, m);
    return status;
}

bool set_parameters(struct session *s, const hlo_arrays *file, const hlo_module *stored,
                    hlo_messages *m)
{
    struct argument_list g;
    arguments_begin(&g, s, m);
    return arguments_end(&g, set_all(&g, file, stored) ? HLO_OK : HLO_USAGE) == HLO_OK;
}

hlo_literal *value_read(const char *name, const char *shape, const char *text, hlo_messages *m)
{
    SCOPED_BUF b = {0};
    buf_printf(&b, "ENTRY value {\n  ROOT %s = %s parameter(0)\n}\n", name, shape);
    struct hlo_piece piece = {.text = b.data, .size = b.size};
    SCOPED_FILE *f = hlo_file_of_pieces("value", &piece, 1);
    SCOPED_MODULE *module = hlo_parse(f, 0, m);
    return module ? hlo_read_argument(module, 0, 0, text, m) : NULL;
}
