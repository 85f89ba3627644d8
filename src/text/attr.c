/*
 * attr.c: attribute values. Each kind of value has a parsing and a printing function; the table of
 * these pairs is here, with the pairs for plain values and lists. attr_priv.h lists the files of
 * the others.
 */
#include "text/attr_priv.h"

#include <float.h>
#include <math.h>

bool wrong_count(struct parser *p, struct span span, const char *what, int64_t found,
                 int64_t required, const char *why)
{
    struct str needs = arena_printf(p->arena, "%" PRId64 " (%s)", required, why);
    return DIAG_ERROR(p->ds, span, WRONG_COUNT, what, needs.ptr, (long long)found);
}

/* ---- lists ---- */

bool list_more(struct parser *p, struct list *l)
{
    if (!l->started) {
        l->started = true;
        if (!expect(p, l->open, NULL))
            return false;
        l->ok = accept(p, l->close);
        return !l->ok;
    }
    if (accept(p, TOK_COMMA)) {
        if ((l->trailing || !p->strict) && accept(p, l->close))
            l->ok = true;
        return !l->ok;
    }
    l->ok = expect(p, l->close,
                   l->close == TOK_RBRACE   ? "',' or '}'"
                   : l->close == TOK_RPAREN ? "',' or ')'"
                                            : "',' or ']'");
    return false;
}

void int_vec_init(struct int_vec *v)
{
    v->at = v->few;
    v->count = 0;
    v->capacity = COUNT_OF(v->few);
}

void int_vec_push(struct parser *p, struct int_vec *v, int64_t i)
{
    VEC_PUSH(p->arena, v->at, v->count, v->capacity) = i;
}

struct ints int_vec_ints(struct parser *p, const struct int_vec *v)
{
    if (v->at != v->few)
        return (struct ints){(int64_t)v->count, v->at};
    return (struct ints){(int64_t)v->count, v->count ? ARENA_DUP(p->arena, v->at, v->count) : NULL};
}

/* int_row = INT {"," INT} ; */
bool parse_bare_ints(struct parser *p, struct int_vec *v)
{
    do {
        int64_t i;
        if (!parse_int(p, &i))
            return false;
        int_vec_push(p, v, i);
    } while (accept(p, TOK_COMMA));
    return true;
}

/* `expect` for the opening bracket or the delimiter of a list of integers, after which some token
 * kinds are masked. */
static bool expect_before_int(struct parser *p, enum token_kind kind)
{
    if (p->tok.kind != kind)
        return expect(p, kind, NULL);
    next_in_int_list(p);
    return true;
}

bool parse_masked_ints(struct parser *p, enum token_kind open, enum token_kind delimiter,
                       enum token_kind close, struct int_vec *v)
{
    if (!expect_before_int(p, open))
        return false;
    if (accept(p, close))
        return true;
    for (;;) {
        int64_t i;
        if (!parse_int(p, &i))
            return false;
        int_vec_push(p, v, i);
        if (p->tok.kind != delimiter)
            break;
        next_in_int_list(p);
        if (!p->strict && delimiter == TOK_COMMA && p->tok.kind == close)
            break;
    }
    return expect(p, close, NULL);
}

void print_ints(struct buf *out, struct ints v)
{
    for (int64_t i = 0; BUF_LIST(out, i, v.count, "", ","); i++)
        buf_int(out, v.at[i]);
}

void print_ints_braced(struct buf *out, struct ints v)
{
    for (int64_t i = 0; BUF_LIST(out, i, v.count, "{}", ","); i++)
        buf_int(out, v.at[i]);
}

void print_separator(struct buf *out, int64_t index, bool comments)
{
    if (!index)
        return;
    buf_puts(out, ", ");
    if (comments && index % 5 == 0) {
        buf_puts(out, "/*index=");
        buf_int(out, index);
        buf_puts(out, "*/");
    }
}

void print_name(struct buf *out, struct str name, const struct print_options *options)
{
    if (!options->no_percent)
        buf_putc(out, '%');
    buf_str(out, name);
}

/* ---- lists of values of one kind ---- */

typedef bool parse_value_fn(struct parser *p, const struct attr_site *site, union attr_value *out);
typedef void print_value_fn(struct buf *out, const struct attr_site *site, union attr_value v);

/* `width`: bytes of an element of the array, the first ones of the union. NULL: malformed. */
static void *parse_list(struct parser *p, const struct attr_site *site, parse_value_fn *element,
                        size_t width, int *count)
{
    SCOPED_BUF made = {0};
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    bool ok = true;
    for (*count = 0; ok && list_more(p, &l); ++*count) {
        union attr_value v;
        ok = element(p, site, &v);
        if (ok)
            buf_bytes(&made, &v, width);
    }
    return ok && l.ok ? arena_copy(p->arena, made.data, made.size) : NULL;
}

static void print_list(struct buf *out, const struct attr_site *site, print_value_fn *element,
                       const void *at, int64_t count, size_t width, const char *separator)
{
    for (int64_t k = 0; BUF_LIST(out, k, count, "{}", separator); k++) {
        union attr_value v;
        memcpy(&v, (const char *)at + (size_t)k * width, width);
        element(out, site, v);
    }
}

/* The functions of the kind that lists values of another kind. */
#define LIST_OF(kind, member, separator)                                                           \
    static bool parse_##kind##_list_value(struct parser *p, const struct attr_site *site,          \
                                          union attr_value *out)                                   \
    {                                                                                              \
        int count;                                                                                 \
        out->member.at =                                                                           \
            parse_list(p, site, parse_##kind##_value, sizeof *out->member.at, &count);             \
        out->member.count = count;                                                                 \
        return out->member.at != NULL;                                                             \
    }                                                                                              \
    static void print_##kind##_list_value(struct buf *out, const struct attr_site *site,           \
                                          union attr_value v)                                      \
    {                                                                                              \
        print_list(out, site, print_##kind##_value, v.member.at, v.member.count,                   \
                   sizeof *v.member.at, separator);                                                \
    }

/* ---- bool ---- */

/* bool = "true" | "false" ; */
bool parse_bool(struct parser *p, bool *out)
{
    if (p->tok.kind != TOK_TRUE && p->tok.kind != TOK_FALSE)
        return expected(p, "'true' or 'false'");
    *out = p->tok.kind == TOK_TRUE;
    next(p);
    return true;
}

static void print_bool(struct buf *out, bool b) { buf_puts(out, b ? "true" : "false"); }

PARSE_BY(bool, parse_bool, b)
PRINT_BY(bool, print_bool, v.b)

/* ---- whole numbers ---- */

/* int = INT ; */
bool parse_int(struct parser *p, int64_t *out)
{
    if (p->tok.kind != TOK_INT)
        return expected(p, "an integer");
    *out = p->tok.i;
    next(p);
    return true;
}

/* int32 = INT ; */
bool parse_int32(struct parser *p, int32_t *out)
{
    struct token number = p->tok;
    int64_t i;
    if (!parse_int(p, &i))
        return false;
    if (i < INT32_MIN || i > INT32_MAX)
        return DIAG_ERROR(p->ds, number.span, VALUE_RANGE, STR_ARG(number.s), "a 32-bit integer");
    *out = (int32_t)i;
    return true;
}

PARSE_BY(int, parse_int, i)
PRINT_BY(int, buf_int, v.i)

static bool parse_int32_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    int32_t i = 0;
    bool ok = parse_int32(p, &i);
    out->i = i;
    return ok;
}

/* ---- real numbers ---- */

/* number = INT | DECIMAL | "inf" | "-inf" ; */
bool parse_number(struct parser *p, double *out)
{
    switch (p->tok.kind) {
    case TOK_INT: *out = (double)p->tok.i; break;
    case TOK_INF: *out = INFINITY; break;
    case TOK_NEG_INF: *out = -INFINITY; break;
    case TOK_DECIMAL:
        if (isinf(p->tok.d))
            return DIAG_ERROR(p->ds, p->tok.span, VALUE_RANGE, STR_ARG(p->tok.s), "f64");
        *out = p->tok.d;
        break;
    default: return expected(p, "a number");
    }
    next(p);
    return true;
}

static bool parse_float_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct token number = p->tok;
    if (!parse_number(p, &out->f))
        return false;
    if (fabs(out->f) > FLT_MAX)
        return DIAG_ERROR(p->ds, number.span, VALUE_RANGE, STR_ARG(number.s), "f32");
    out->f = (double)(float)out->f;
    return true;
}

static void print_float_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_g(out, v.f, 6);
}

/* ---- enumerations ---- */

static bool parse_enum_word(struct parser *p, enum attr_id id, int *out)
{
    if (p->tok.kind != TOK_IDENT)
        return expected(p, "a word");
    *out = enum_find(id, p->tok.s);
    if (*out < 0 || (p->strict && enum_is_builder(id, *out))) {
        const char *keywords[32];
        int all = enum_count(id);
        size_t count = 0;
        for (int i = 0; i < all; i++)
            if (!p->strict || !enum_is_builder(id, i))
                keywords[count++] = enum_word(id, i);
        struct diag *d =
            DIAG(p->ds, p->tok.span, UNKNOWN_VALUE, STR_ARG(p->tok.s), attr_spelling(id));
        struct str near = diag_nearest(p->tok.s, keywords, count);
        if (near.len)
            diag_suggest(p->ds, d, near);
        return false;
    }
    next(p);
    return true;
}

static bool parse_enum_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    return parse_enum_word(p, site->id, &out->e);
}

static void print_enum_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_puts(out, enum_word(site->id, v.e));
}

/* enum_list = "{" [IDENT {"," IDENT}] "}" ; */
static bool parse_enum_list_value(struct parser *p, const struct attr_site *site,
                                  union attr_value *out)
{
    uint8_t *at = NULL;
    int e = 0;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l) && parse_enum_word(p, site->id, &e))
        VEC_PUSH(p->arena, at, l.count, l.capacity) = (uint8_t)e;
    out->enums = (struct enum_list){(int)l.count, at};
    return l.ok;
}

static void print_enum_list_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    for (int i = 0; BUF_LIST(out, i, v.enums.count, "{}", ","); i++)
        buf_puts(out, enum_word(site->id, v.enums.at[i]));
}

/* ---- lists of bools and integers ---- */

/* bool_list = "{" [bool {"," bool}] "}" ; */
LIST_OF(bool, bools, ",")

/* int_list = "{" [INT {"," INT}] "}" ; */
bool parse_int_list(struct parser *p, struct ints *out)
{
    struct int_vec v;
    int_vec_init(&v);
    if (!parse_masked_ints(p, TOK_LBRACE, TOK_COMMA, TOK_RBRACE, &v))
        return false;
    *out = int_vec_ints(p, &v);
    return true;
}

/* index = "{" [INT {"," INT} [","]] "}" ; */
bool parse_index(struct parser *p, struct ints *out)
{
    struct int_vec v;
    int64_t i;
    struct list l = {TOK_LBRACE, TOK_RBRACE, .trailing = true};
    int_vec_init(&v);
    while (list_more(p, &l) && parse_int(p, &i))
        int_vec_push(p, &v, i);
    *out = int_vec_ints(p, &v);
    return l.ok;
}

PARSE_BY(int_list, parse_int_list, ints)
PRINT_BY(int_list, print_ints_braced, v.ints)

/* int_list_list = "{" [int_list {"," int_list}] "}" ; */
LIST_OF(int_list, ints_list, ",")

/* ---- computations and instructions ---- */

PARSE_BY(computation, parse_computation_ref, computation)

void print_computation_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    print_name(out, v.computation->name, site->options);
}

/* computation_list = "{" [computation_ref {"," computation_ref}] "}" ; */
LIST_OF(computation, computations, ", ")

/* inst_list = "{" inst_ref {"," inst_ref} "}" ; */
static bool parse_inst_list_value(struct parser *p, const struct attr_site *site,
                                  union attr_value *out)
{
    struct inst **at = NULL;
    size_t count = 0, capacity = 0;
    struct map seen;
    map_init(&seen, p->arena);
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    do {
        struct inst *i;
        if (!p->strict && count && p->tok.kind == TOK_RBRACE)
            break;
        if (!parse_inst_ref(p, &i))
            return false;
        if (!map_put(&seen, i->name, i))
            VEC_PUSH(p->arena, at, count, capacity) = i;
    } while (accept(p, TOK_COMMA));
    out->insts = (struct inst_list){(int)count, at};
    return expect(p, TOK_RBRACE, "',' or '}'");
}

static void print_inst_list_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    for (int i = 0; BUF_LIST(out, i, v.insts.count, "{}", ", "); i++)
        print_name(out, v.insts.at[i]->name, site->options);
}

/* ---- element types, shapes and literals ---- */

/* dtype = DTYPE ; (* extension *) */
static bool parse_dtype_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    if (p->tok.kind != TOK_DTYPE)
        return expected(p, "an element type");
    out->e = (int)p->tok.dtype;
    next(p);
    return true;
}

static void print_dtype_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_puts(out, dtype_spelling((enum dtype)v.e));
}

PARSE_BY(shape, parse_shape, shape)

void print_shape_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    shape_print(out, v.shape, true);
}

/* shape_list = "{" [shape {"," shape}] "}" ; */
LIST_OF(shape, shapes, ", ")

PARSE_BY(literal, parse_literal_with_shape, literal)
PRINT_BY(literal, text_print_literal_with_shape, v.literal)

/* ---- dispatch ---- */

static const struct attr_pair {
    parse_value_fn *parse;
    print_value_fn *print;
} pairs[KIND_COUNT] = {
#define KIND(id, function, name) {parse_##function##_value, print_##function##_value},
#define print_int32_value print_int_value
#include "op/kind.def"
};

bool attr_parse_value(struct parser *p, enum attr_id id, const struct inst *i,
                      union attr_value *out)
{
    struct attr_site site = {.id = id, .inst = i};
    memset(out, 0, sizeof *out);
    return pairs[attr_table[id].kind].parse(p, &site, out);
}

void attr_print_value(struct buf *out, enum attr_id id, const struct inst *i, union attr_value v,
                      const struct print_options *options)
{
    struct attr_site site = {id, i, options};
    pairs[attr_table[id].kind].print(out, &site, v);
}

/* ---- which attributes are printed ---- */

static bool any_enum(struct enum_list l)
{
    for (int i = 0; i < l.count; i++)
        if (l.at[i])
            return true;
    return false;
}

static bool metadata_is_set(const struct metadata *m)
{
    return m->op_type.len || m->op_name.len || m->source_file.len || m->stack_frame_id ||
           (m->rest && (m->rest->scheduling_name.len || m->rest->has_payload));
}

/* Whether the value differs in meaning from an absent attribute. */
static bool differs_from_default(const struct inst *i, const struct attr *a)
{
    union attr_value v = a->v;
    int8_t usual = attr_table[a->id].default_value;
    switch ((enum attr_kind)attr_table[a->id].kind) {
    case KIND_BOOL:
        /* the default of topk's is_stable is true */
        return a->id == A_IS_STABLE && i->opcode == OP_TOPK ? !v.b : v.b != (usual == 1);
    case KIND_INT: return usual == NO_DEFAULT || v.i != usual;
    case KIND_ENUM: return a->id == A_TYPE ? v.e != inst_usual_compare_type(i) : v.e != 0;
    case KIND_ENUM_LIST: return any_enum(v.enums);
    case KIND_INT_LIST: return v.ints.count > 0;
    case KIND_INT_LIST_LIST: return v.ints_list.count > 0;
    case KIND_WINDOW: return v.window.rank > 0 || i->opcode == OP_CUSTOM_CALL;
    case KIND_COMPUTATION_LIST: return v.computations.count > 0;
    case KIND_ALIASING: return v.aliasing.count > 0;
    case KIND_STRING: return a->id == A_ASYNC_EXECUTION_THREAD ? !str_is(v.s, "main") : v.s.len > 0;
    case KIND_STRING_OR_DICT: return v.s.len > 0;
    case KIND_FRONTEND_ATTRIBUTES: return v.frontend.count > 0;
    case KIND_INST_LIST: return v.insts.count > 0;
    case KIND_STATISTICS: return v.statistics->count > 0;
    case KIND_RESULT_ACCURACY: return v.accuracy->tolerance || v.accuracy->highest;
    case KIND_SPARSITY_CONFIG: return v.sparsity->lhs.given || v.sparsity->rhs.given;
    case KIND_METADATA: return metadata_is_set(v.metadata);
    default: return true;
    }
}

bool attr_is_printed(const struct inst *i, const struct attr *a,
                     const struct print_options *options)
{
    if (a->id == A_METADATA && options->no_metadata)
        return false;
    if (a->id == A_BACKEND_CONFIG && options->no_backend_config)
        return false;
    if (a->id == A_CONTROL_PREDECESSORS && options->no_control_dependencies)
        return false;
    const struct op_attr *own = op_attr_of(i->opcode, (enum attr_id)a->id);
    if (own && own->use & USE_DROPPED)
        return false;
    return (own && own->use & (USE_REQUIRED | USE_ALWAYS)) || differs_from_default(i, a);
}
