/*
 * lapack.c: custom calls of LAPACK routines, in every form that JAX has used, and those that
 * XLA:CPU expands itself (lapack.def). All sizes come from the shapes; the other arguments of the
 * call must agree.
 */
#include "base/dict.h"
#include "eval/eval_priv.h"

static const struct routine {
    const char *name, *types, *arrays, *options, *limits;
} routines[] = {
#define ROUTINE(name, types, arrays, options, limits) {name, types, arrays, options, limits},
#include "eval/lapack.def"
};

static const struct call_form {
    const char *target, *types, *routine, *operands, *results, *attributes;
} forms[] = {
#define FORM(target, types, routine, operands, results, attributes)                                \
    {target, types, routine, operands, results, attributes},
#include "eval/lapack.def"
};

enum { NOWHERE = -1, UNKNOWN = -1 };

struct role { /* an array of the routine */
    struct str name, dims;
    char type;
    bool shared;
    int operand, result; /* operand and result leaf, or NOWHERE */
};

struct option {
    struct str name, letters;
    int64_t value;
};

struct lapack_call {
    struct eval *ev;
    const struct step *s;
    struct str target;
    char letter;       /* type letter of the element type */
    enum dtype narrow; /* the element type, where the letter is h */
    const struct call_form *form;
    const struct kern_lapack_routine *routine;
    int role_count, option_count;
    struct role roles[KERN_LAPACK_ARRAYS];
    struct option options[KERN_LAPACK_OPTIONS];
    int batch_rank; /* UNKNOWN until the first array */
    int64_t batch[VIEW_MAX_RANK];
    int64_t sizes['z' + 1]; /* by the letters of lapack.def; initially UNKNOWN */
};

/* ---- the words of lapack.def ---- */

static bool next_word(struct str *rest, struct str *word)
{
    while (rest->len > 0 && *rest->ptr == ' ')
        rest->ptr++, rest->len--;
    size_t n = 0;
    while (n < rest->len && rest->ptr[n] != ' ')
        n++;
    *word = (struct str){rest->ptr, n};
    *rest = (struct str){rest->ptr + n, rest->len - n};
    return n > 0;
}

/* Splits a word at a separator: the word keeps what precedes it, what follows is returned; empty
 * when there is no separator. */
static struct str divide_at(struct str *word, char sign)
{
    const char *at = memchr(word->ptr, sign, word->len);
    if (!at)
        return (struct str){"", 0};
    struct str behind = {at + 1, word->len - (size_t)(at + 1 - word->ptr)};
    word->len = (size_t)(at - word->ptr);
    return behind;
}

static struct role *find_role(struct lapack_call *c, struct str name)
{
    for (int k = 0; k < c->role_count; k++)
        if (str_eq(c->roles[k].name, name))
            return &c->roles[k];
    return NULL;
}

static struct option *find_option(struct lapack_call *c, struct str name)
{
    for (int k = 0; k < c->option_count; k++)
        if (str_eq(c->options[k].name, name))
            return &c->options[k];
    return NULL;
}

static void read_routine(struct lapack_call *c, const struct routine *r)
{
    struct str rest = str_of(r->arrays), word;
    while (next_word(&rest, &word)) {
        struct str kind = divide_at(&word, ':');
        bool shared = *kind.ptr == '!';
        struct str dims = {kind.ptr + shared + 1, kind.len - shared - 1};
        c->roles[c->role_count++] =
            (struct role){word, dims, kind.ptr[shared], shared, NOWHERE, NOWHERE};
    }
    rest = str_of(r->options);
    while (next_word(&rest, &word)) {
        struct str letters = divide_at(&word, '=');
        c->options[c->option_count++] = (struct option){word, letters, *letters.ptr};
    }
}

/* ---- selection of the form ---- */

/* The type letter of a target without one in its name; `types`: the valid letters. */
static char letter_of_operand(struct lapack_call *c, const char *types)
{
    char letter = 's';
    if (c->s->operand_count == 0 || c->s->operands[0] == NO_VALUE)
        return letter;
    enum dtype t = eval_view(c->ev, c->s, 0)->dtype;
    switch (t) {
    case DT_F32: break;
    case DT_F64: letter = 'd'; break;
    case DT_C64: letter = 'c'; break;
    case DT_C128: letter = 'z'; break;
    default: letter = dtype_is_float(t) ? 'h' : 's'; break;
    }
    c->narrow = t;
    return strchr(types, letter) ? letter : 's';
}

static bool is_target(struct lapack_call *c, const struct call_form *f, char *letter)
{
    *letter = '\0';
    if (strlen(f->target) != c->target.len)
        return false;
    for (size_t k = 0; k < c->target.len; k++)
        if (f->target[k] == '?')
            *letter = c->target.ptr[k];
        else if (f->target[k] != c->target.ptr[k])
            return false;
    if (!*letter)
        *letter = letter_of_operand(c, f->types);
    return strchr(f->types, *letter) != NULL;
}

static int count_words(const char *words, bool *more)
{
    int n = 0;
    struct str rest = str_of(words), word;
    for (*more = false; next_word(&rest, &word); n++)
        if (str_is(word, "*")) {
            *more = true;
            break;
        }
    return n;
}

static bool find_form(struct lapack_call *c)
{
    const struct step *s = c->s;
    int operands = 0, results = 0;
    bool more;
    for (size_t k = 0; k < COUNT_OF(forms) && !c->form; k++) {
        if (!is_target(c, &forms[k], &c->letter))
            continue;
        operands = count_words(forms[k].operands, &more);
        results = count_words(forms[k].results, &more);
        if (operands == s->operand_count &&
            (results == s->result_count || (more && results < s->result_count)))
            c->form = &forms[k];
    }
    if (!c->form && operands == 0)
        return EVAL_FAIL(c->ev, s, UNKNOWN_TARGET, STR_ARG(c->target), STR_ARG(c->target));
    if (!c->form)
        return EVAL_FAIL(c->ev, s, CALL_ARITY, STR_ARG(c->target), operands, results,
                         s->operand_count, s->result_count);
    return true;
}

static const struct routine *find_routine(const struct lapack_call *c)
{
    const struct routine *r = routines;
    while (strcmp(r->name, c->form->routine) != 0 || !strchr(r->types, c->letter))
        r++;
    return r;
}

/* ---- arrays and their sizes ---- */

static int64_t letter_of(struct lapack_call *c, const char *option)
{
    return find_option(c, str_of(option))->value;
}

static int64_t vectors(struct lapack_call *c, int64_t all)
{
    int64_t mode = letter_of(c, "mode"),
            few = c->sizes['m'] < c->sizes['n'] ? c->sizes['m'] : c->sizes['n'];
    return mode == 'A' ? all : mode == 'S' ? few : UNKNOWN;
}

static int64_t size_named(struct lapack_call *c, char letter)
{
    int64_t m = c->sizes['m'], n = c->sizes['n'];
    switch (letter) {
    case 'k': return m < n ? m : n;
    case 'h': return n > 1 ? n - 1 : 0;
    case 'q': return letter_of(c, "side") == 'L' ? m : n;
    case 'u': return vectors(c, m);
    case 'v': return vectors(c, n);
    default: return c->sizes[(unsigned char)letter];
    }
}

static enum dtype type_of(const struct lapack_call *c, char type)
{
    bool wide = c->letter == 'd' || c->letter == 'z',
         complex = c->letter == 'c' || c->letter == 'z';
    if (type == 'I')
        return DT_S32;
    if (type == 'C' || (type == 'T' && complex))
        return wide ? DT_C128 : DT_C64;
    if (c->letter == 'h')
        return c->narrow;
    return wide ? DT_F64 : DT_F32;
}

/* `f32[2,4,?]` */
static struct str expected_shape(struct lapack_call *c, const struct role *r)
{
    struct buf b = {0};
    const char *comma = "";
    buf_printf(&b, "%s[", dtype_spelling(type_of(c, r->type)));
    for (int d = 0; d < c->batch_rank && !r->shared; d++, comma = ",")
        buf_printf(&b, "%s%" PRId64, comma, c->batch[d]);
    for (size_t d = 0; d < r->dims.len; d++, comma = ",") {
        int64_t size = size_named(c, r->dims.ptr[d]);
        buf_puts(&b, comma);
        if (size == UNKNOWN)
            buf_putc(&b, '?');
        else
            buf_int(&b, size);
    }
    buf_putc(&b, ']');
    struct str text = arena_str(&c->ev->scratch, buf_view(&b));
    buf_free(&b);
    return text;
}

/* Free dimensions are set by the first array that has them; with `all`, the others are checked
 * against the options too. */
static bool dims_fit(struct lapack_call *c, const struct role *r, int rank, const int64_t *dims,
                     bool all)
{
    int own = (int)r->dims.len, batch = rank - own;
    if (batch < 0 || (r->shared && batch > 0))
        return false;
    if (!r->shared && c->batch_rank == UNKNOWN) {
        c->batch_rank = batch;
        if (batch > 0)
            memcpy(c->batch, dims, (size_t)batch * sizeof *dims);
    }
    if (!r->shared && (batch != c->batch_rank ||
                       (batch > 0 && memcmp(c->batch, dims, (size_t)batch * sizeof *dims) != 0)))
        return false;
    for (int d = 0; d < own; d++) {
        char letter = r->dims.ptr[d];
        int64_t *size = &c->sizes[(unsigned char)letter], known;
        if (strchr("mnpr", letter) && *size == UNKNOWN)
            *size = dims[batch + d];
        known = all || strchr("mnpr", letter) ? size_named(c, letter) : UNKNOWN;
        if (known != UNKNOWN && known != dims[batch + d])
            return false;
    }
    return true;
}

static bool array_fits(struct lapack_call *c, const struct role *r, bool result, bool all)
{
    struct arena *a = &c->ev->scratch;
    int leaf = result ? r->result : r->operand;
    const struct shape *found = result ? c->s->shapes[leaf] : shape_token();
    if (!result && c->s->operands[leaf] != NO_VALUE) {
        const struct view *v = eval_view(c->ev, c->s, leaf);
        found = shape_array(a, v->dtype, v->rank, v->dims, NULL, NULL);
    }
    if (found->dtype == type_of(c, r->type) && found->rank <= VIEW_MAX_RANK &&
        dims_fit(c, r, found->rank, found->dims, all))
        return true;
    return EVAL_FAIL(c->ev, c->s, CALL_ARRAY, STR_ARG(c->target), result ? "result" : "operand",
                     leaf, STR_ARG(shape_text(a, found)), STR_ARG(expected_shape(c, r)));
}

static bool arrays_fit(struct lapack_call *c, bool all)
{
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < c->role_count; k++) {
            const struct role *r = &c->roles[k];
            if ((turn ? r->result : r->operand) != NOWHERE && !array_fits(c, r, turn, all))
                return false;
        }
    return true;
}

static void place_arrays(struct lapack_call *c)
{
    for (int turn = 0; turn < 2; turn++) {
        struct str rest = str_of(turn ? c->form->results : c->form->operands), word;
        for (int k = 0; next_word(&rest, &word); k++) {
            struct role *r = find_role(c, word);
            if (r)
                *(turn ? &r->result : &r->operand) = k;
        }
    }
}

static bool within_limits(struct lapack_call *c, const struct routine *r)
{
    for (const char *letter = "mnpr"; *letter; letter++)
        if (c->sizes[(unsigned char)*letter] > INT32_MAX)
            return EVAL_FAIL(c->ev, c->s, UNSUPPORTED, arena_str(&c->ev->scratch, c->target).ptr,
                             "matrices of 2^31 rows or columns");
    const bool is_empty = c->sizes['m'] == 0 || c->sizes['n'] == 0;
    struct str rest = str_of(r->limits), word;
    while (!is_empty && next_word(&rest, &word)) { /* one letter, `<=`, one letter */
        int64_t low = size_named(c, word.ptr[0]), high = size_named(c, word.ptr[3]);
        if (low > high)
            return EVAL_FAIL(c->ev, c->s, CALL_LIMIT, STR_ARG(c->target), 1, word.ptr, low, 1,
                             word.ptr + 3, high);
    }
    return true;
}

/* ---- options and sizes that are given as numbers ---- */

static bool wrong_value(struct lapack_call *c, struct str name, struct str found,
                        struct str expected)
{
    return EVAL_FAIL(c->ev, c->s, CALL_VALUE, STR_ARG(c->target), STR_ARG(name), STR_ARG(found),
                     STR_ARG(expected));
}

static struct str letters_text(struct arena *a, struct str letters)
{
    struct str text = {"", 0};
    for (size_t k = 0; k < letters.len; k++)
        text = arena_printf(a, "%.*s%s%d (%c)", STR_ARG(text), k == 0 ? "" : " or ", letters.ptr[k],
                            letters.ptr[k]);
    return text;
}

/* Sets an option from its value; `where` is for the message. */
static bool set_option(struct lapack_call *c, struct option *o, struct str map, int64_t v,
                       struct str where)
{
    struct arena *a = &c->ev->scratch;
    struct str found = arena_printf(a, "%" PRId64, v);
    if (map.len > 0) {
        if (v < 0 || v >= (int64_t)map.len)
            return wrong_value(c, where, found, arena_printf(a, "0 to %d", (int)map.len - 1));
        if (map.ptr[v] != '.')
            o->value = map.ptr[v];
        return true;
    }
    bool is_number = *o->letters.ptr == '#';
    if (is_number && (v < 0 || v > INT32_MAX))
        return wrong_value(c, where, found, STR("a row number"));
    if (!is_number && (v <= 0 || v > 'z' || !memchr(o->letters.ptr, (int)v, o->letters.len)))
        return wrong_value(c, where, found, letters_text(a, o->letters));
    o->value = v;
    return true;
}

static bool batch_is(const struct lapack_call *c, int64_t v)
{
    int64_t n;
    return dims_product(1, c->batch_rank, c->batch, &n) && n == v;
}

static bool read_number(struct lapack_call *c, int k, struct str word)
{
    struct arena *a = &c->ev->scratch;
    struct str where = arena_printf(a, "operand %d", k), map = divide_at(&word, '@');
    const struct view *x = c->s->operands[k] == NO_VALUE ? NULL : eval_view(c->ev, c->s, k);
    struct option *o = find_option(c, word);
    if (!x || x->rank != 0 || !dtype_is_integer(x->dtype))
        return wrong_value(c, where, STR("another type"), STR("an integer"));
    int64_t v = kern_load_index(x->dtype, x->data);
    struct str found = arena_printf(a, "%" PRId64, v);
    if (o)
        return set_option(c, o, map, v, where);
    if (*word.ptr == 'B')
        return batch_is(c, v) || wrong_value(c, where, found, STR("the size of the batch"));
    int64_t size = size_named(c, *word.ptr);
    return v == size ||
           wrong_value(c, where, found, arena_printf(a, "%" PRId64 ", as in the shapes", size));
}

static bool read_numbers(struct lapack_call *c)
{
    struct str rest = str_of(c->form->operands), word;
    for (int k = 0; next_word(&rest, &word); k++)
        if (!str_is(word, "_") && !find_role(c, word) && !read_number(c, k, word))
            return false;
    return true;
}

/* Letters may be given as numbers, 76, or as text, "L". */
static bool set_attribute(struct lapack_call *c, struct option *o, struct str map,
                          const struct dict_value *v, struct str name)
{
    struct arena *a = &c->ev->scratch;
    struct str where = arena_printf(a, "'%.*s'", STR_ARG(name));
    if (v->kind == DICT_INT || v->kind == DICT_BOOL || v->kind == DICT_UNIT)
        return set_option(c, o, map, v->i, where);
    if (v->kind == DICT_STRING && v->s.len == 1 && map.len == 0)
        return set_option(c, o, map, *v->s.ptr, where);
    return wrong_value(c, where, STR("another type"), STR("a number"));
}

/* Splits a word of the form `option:attribute@map`; without `:attribute` the attribute has the
 * option's name. */
static struct str attribute_name(struct str *word, struct str *map)
{
    *map = divide_at(word, '@');
    struct str name = divide_at(word, ':');
    return name.len ? name : *word;
}

static bool is_attribute(const struct lapack_call *c, struct str name)
{
    struct str rest = str_of(c->form->attributes), word, map;
    while (next_word(&rest, &word))
        if (str_eq(attribute_name(&word, &map), name))
            return true;
    return false;
}

static bool read_attributes(struct lapack_call *c)
{
    const struct inst *i = c->s->inst;
    struct dict_value config;
    struct dict_error error;
    if (!dict_read(&c->ev->scratch, inst_str(i, A_BACKEND_CONFIG), DICT_LOOSE, &config, &error))
        return eval_where(c->s,
                          DIAG(c->ev->ds, inst_attr_span(i, A_BACKEND_CONFIG), CALL_CONFIG,
                               dict_problem(&c->ev->scratch, &error)),
                          c->ev);
    struct str rest = str_of(c->form->attributes), word, map;
    while (next_word(&rest, &word)) {
        struct str name = attribute_name(&word, &map);
        const struct dict_value *v = dict_find(&config, name);
        if (!v)
            return EVAL_FAIL(c->ev, c->s, CALL_LACKS, STR_ARG(c->target), STR_ARG(name));
        if (!set_attribute(c, find_option(c, word), map, v, name))
            return false;
    }
    for (size_t k = 0; k < config.count; k++)
        if (!is_attribute(c, config.items[k].name))
            return EVAL_FAIL(c->ev, c->s, CALL_STRANGE, STR_ARG(c->target),
                             STR_ARG(config.items[k].name));
    return true;
}

/* ---- the call ---- */

static bool role_of_result(const struct lapack_call *c, int result)
{
    for (int k = 0; k < c->role_count; k++)
        if (c->roles[k].result == result)
            return true;
    return false;
}

/* Runs the routine on the arrays of its roles. */
static bool run(struct lapack_call *c, const struct view *const *in, const struct view *const *out)
{
    struct kern_lapack k = {.workers = c->ev->workers,
                            .routine = c->routine,
                            .type = type_of(c, 'T'),
                            .plain = c->ev->p->options.plain,
                            .count = c->role_count,
                            .info = -1,
                            .batch_rank = c->batch_rank,
                            .batch = c->batch};
    for (int n = 0; n < c->role_count; n++) {
        const struct role *role = &c->roles[n];
        k.arrays[n] = (struct kern_lapack_array){in[n], out[n], (int)role->dims.len, role->shared};
        if (str_is(role->name, "info"))
            k.info = n;
    }
    for (int n = 0; n < c->option_count; n++)
        k.options[n] = c->options[n].value;
    return kern_lapack(&k) || eval_no_memory(c->ev, c->s, c->s->shapes[0]);
}

static bool run_step(struct lapack_call *c)
{
    const struct step *s = c->s;
    const struct view *in[KERN_LAPACK_ARRAYS] = {NULL}, *out[KERN_LAPACK_ARRAYS] = {NULL};
    for (int r = 0; r < s->result_count; r++) /* workspace is not read, but must have a value */
        if (!role_of_result(c, r) && s->results[r] != NO_VALUE && !eval_clear(c->ev, s, r))
            return false;
    for (int n = 0; n < c->role_count; n++) {
        const struct role *role = &c->roles[n];
        if (role->operand != NOWHERE)
            in[n] = eval_view(c->ev, s, role->operand);
        if (role->result != NOWHERE && !(out[n] = eval_result(c->ev, s, role->result)))
            return false;
    }
    return run(c, in, out);
}

static bool parse(struct lapack_call *c)
{
    for (size_t k = 0; k < COUNT_OF(c->sizes); k++)
        c->sizes[k] = UNKNOWN;
    if (!find_form(c))
        return false;
    const struct routine *r = find_routine(c);
    c->routine = kern_find_lapack(r->name);
    read_routine(c, r);
    place_arrays(c);
    return arrays_fit(c, false) && (c->form->attributes ? read_attributes(c) : read_numbers(c)) &&
           arrays_fit(c, true) && within_limits(c, r);
}

/* Whether the call depends on neither sizes nor values of its operands. */
static bool is_fixed(const struct lapack_call *c)
{
    return c->form->attributes && !c->ev->p->dynamic && c->s->as.call.number > 0;
}

/* spec: CustomCall */
bool eval_lapack(struct eval *ev, const struct step *s)
{
    struct arena_mark mark = arena_mark(&ev->scratch);
    struct lapack_call *c = ev->pool.calls[s->as.call.number];
    bool ok = c != NULL;
    if (!c) {
        struct str target = inst_str(s->inst, A_CUSTOM_CALL_TARGET);
        c = ARENA_NEW(&ev->scratch, struct lapack_call);
        *c = (struct lapack_call){.ev = ev, .s = s, .target = target, .batch_rank = UNKNOWN};
        ok = parse(c);
        if (ok && is_fixed(c))
            ev->pool.calls[s->as.call.number] = ARENA_DUP(&ev->pool.headers, c, 1);
    }
    c->ev = ev;
    ok = ok && run_step(c);
    arena_release(&ev->scratch, mark);
    return ok;
}

bool eval_small_lapack(struct eval *ev, const struct scalar_step *t, bool *done)
{
    struct lapack_call *c = ev->pool.calls[t->step->as.call.number];
    const struct view *in[KERN_LAPACK_ARRAYS] = {NULL}, *out[KERN_LAPACK_ARRAYS] = {NULL};
    *done = c != NULL;
    for (int r = 0; r < t->step->result_count && *done; r++)
        *done = role_of_result(c, r);
    if (!*done)
        return false;
    c->ev = ev;
    for (int n = 0; n < c->role_count; n++) {
        in[n] = c->roles[n].operand == NOWHERE ? NULL : &t->args[c->roles[n].operand];
        out[n] = c->roles[n].result == NOWHERE ? NULL : &t->results[c->roles[n].result];
    }
    return run(c, in, out);
}
