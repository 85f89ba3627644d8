/*
 * repl/expression: translates expressions to HLO.
 *
 * Literals get the type of the other operands, operands with attributes become instructions of
 * their own, and what to_apply names but the session does not define is added: `add` becomes a
 * computation add_f32 of scalars. Scalars are broadcast, and result shapes inferred, by the parser
 * of HLO text.
 */
#include "repl/expression.h"

static bool reject(struct translation *t, struct str place, const char *format, ...)
    PRINTF_LIKE(3, 4);

static bool reject(struct translation *t, struct str place, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    add_error_at(t->m, t->from, place, arena_vprintf(t->arena, format, ap).ptr);
    va_end(ap);
    return false;
}

/* ---- parts ---- */

static void parts_add(struct translation *t, struct parts *p, struct str text, struct str typed)
{
    if (text.len)
        VEC_PUSH(t->arena, p->at, p->count, p->capacity) = (struct text_part){text, typed};
}

static void parts_add_typed(struct translation *t, struct parts *p, struct str s)
{
    parts_add(t, p, s, s);
}

static void parts_add_made(struct translation *t, struct parts *p, const char *text)
{
    parts_add(t, p, arena_str(t->arena, str_of(text)), STR(""));
}

static void parts_add_all(struct translation *t, struct parts *p, const struct parts *more)
{
    for (size_t i = 0; i < more->count; i++)
        parts_add(t, p, more->at[i].text, more->at[i].typed);
}

/* ---- literals ---- */

/* Appends the sizes of nested braces: {{1, 2}, {3, 4}} has sizes 2,2. */
static void put_sizes(struct buf *out, struct str values)
{
    while (values.len > 0 && strchr("{[", values.ptr[0])) {
        size_t count = 0, first = 0;
        for (size_t at = 1; at < values.len;) {
            const size_t begin = syntax_skip(values, at);
            const bool group = begin < values.len && strchr("{[", values.ptr[begin]);
            if (begin >= values.len || strchr("}]", values.ptr[begin]))
                break;
            first = first ? first : begin;
            count++;
            at = group ? text_group_end(values, begin) : begin;
            while (at < values.len && !strchr(",}]", values.ptr[at]))
                at++;
            at += at < values.len && values.ptr[at] == ',';
        }
        buf_printf(out, out->size ? ",%zu" : "%zu", count);
        values = first ? (struct str){values.ptr + first, values.len - first} : STR("");
    }
}

/* Brackets of JSON become braces. */
static struct str with_braces(struct translation *t, struct str values)
{
    struct str copy = arena_str(t->arena, values);
    char *at = (char *)copy.ptr;
    for (size_t i = 0; i < copy.len; i++)
        at[i] = at[i] == '[' ? '{' : at[i] == ']' ? '}' : at[i];
    return copy;
}

static void translate_literal(struct translation *t, struct node *n, struct str type)
{
    t->changed = true;
    if (n->shape.len) {
        parts_add_typed(t, &n->call, n->shape);
    } else {
        SCOPED_BUF sizes = {0};
        put_sizes(&sizes, n->word);
        type = type.len ? type : expression_default_type(n);
        n->inferred =
            arena_printf(t->arena, STR_FMT "[%s]", STR_ARG(type), sizes.size ? sizes.data : "").ptr;
        parts_add_made(t, &n->call, n->inferred);
    }
    parts_add_made(t, &n->call, " constant(");
    parts_add(t, &n->call, n->word.ptr[0] == '[' ? with_braces(t, n->word) : n->word, n->word);
    parts_add_made(t, &n->call, ")");
}

/* ---- operands ---- */

static bool translate(struct translation *t, struct node *n, struct str type);

struct entry *expression_make_entry(struct translation *t, const struct node *n, struct str *name)
{
    struct parts p = {0};
    *name = state_new_name(t->next, t->arena);
    parts_add_made(t, &p, arena_printf(t->arena, STR_FMT " = ", STR_ARG(*name)).ptr);
    parts_add_all(t, &p, &n->call);
    parts_add_all(t, &p, &n->tail);
    return entry_of_parts(*name, t->from, p.at, p.count);
}

/* Makes the node an instruction of its own, and returns its name. */
static struct str own_instruction(struct translation *t, struct node *n)
{
    struct str name;
    state_add(t->next, expression_make_entry(t, n, &name), false);
    return name;
}

static void put_operand(struct translation *t, struct parts *p, struct node *n)
{
    if (n->tail.count)
        parts_add(t, p, own_instruction(t, n), n->text);
    else
        parts_add_all(t, p, &n->call);
}

/* Operands with a type of their own are translated first. */
static bool translate_operands(struct translation *t, struct node *n, struct str type)
{
    for (size_t k = 0; k < n->count; k++)
        if (!expression_untyped(n->operands[k]) && !translate(t, n->operands[k], STR("")))
            return false;
    for (size_t k = 0; k < n->count; k++)
        if (expression_untyped(n->operands[k]) &&
            !translate(t, n->operands[k], expression_literal_type(t, n, k, type)))
            return false;
    return true;
}

static void put_operands(struct translation *t, struct node *n)
{
    parts_add_made(t, &n->call, "(");
    for (size_t k = 0; k < n->count; k++) {
        parts_add_made(t, &n->call, k ? ", " : "");
        put_operand(t, &n->call, n->operands[k]);
    }
    parts_add_made(t, &n->call, ")");
}

static bool translate_operator(struct translation *t, struct node *n, struct str type)
{
    struct str common =
        expression_untyped(n) ? (type.len ? type : expression_default_type(n)) : STR("");
    if (common.len == 0 && n->count == 2 && expression_untyped(n->operands[0]) &&
        expression_untyped(n->operands[1]))
        common = expression_default_type(n);
    t->changed = true;
    if (!translate_operands(t, n, common))
        return false;
    parts_add(t, &n->call, str_of(n->op), n->word);
    put_operands(t, n);
    return true;
}

/* ---- computations ---- */

/* Whether `op(a, b)` of scalars is complete without attributes. */
static bool is_scalar_op(struct str word, const struct hlo_op *op)
{
    return op->name && (strcmp(op->family, "elementwise") == 0 ||
                        (strcmp(op->name, "compare") == 0 && !str_is(word, "compare")));
}

/* The computation of scalars of a type that applies an operation; it is added unless it exists. */
static struct str scalar_computation(struct translation *t, struct str word,
                                     const struct hlo_op *op, struct str type)
{
    const struct str name =
        arena_printf(t->arena, STR_FMT "_" STR_FMT, STR_ARG(word), STR_ARG(type));
    SCOPED_BUF b = {0};
    if (state_find_computation(t->next, name) >= 0)
        return name;
    buf_printf(&b, STR_FMT " {\n", STR_ARG(name));
    for (int k = 0; k < op->min_operands; k++)
        buf_printf(&b, "  %c = " STR_FMT "[] parameter(%d)\n", 'a' + k, STR_ARG(type), k);
    buf_printf(&b, "  ROOT r = " STR_FMT "(", STR_ARG(word));
    for (int k = 0; k < op->min_operands; k++)
        buf_printf(&b, k ? ", %c" : "%c", 'a' + k);
    buf_puts(&b, ")\n}");
    const struct text_part all = {buf_view(&b), word}; /* messages refer to the operation */
    state_put_computation(t->next, entry_of_parts(name, t->from, &all, 1));
    return name;
}

static bool is_computation_attribute(struct str name)
{
    static const char *const names[] = {"to_apply",           "computation", "comparator",
                                        "update_computation", "select",      "scatter"};
    return str_among(name, names, COUNT_OF(names)) >= 0;
}

/* Copies attributes; an operation where a computation is expected becomes one. */
static void put_attributes(struct translation *t, struct node *n)
{
    const struct str s = n->attributes;
    struct str name, type = STR("");
    size_t at = 0;
    for (size_t end; syntax_attribute(s, at, &name, &end); at = end) {
        const struct text_token value = text_token_at(s, (size_t)(name.ptr + name.len + 1 - s.ptr));
        const struct hlo_op op = expression_op_named(value.s);
        const bool made = is_computation_attribute(name) && value.end == end && n->count > 0 &&
                          is_scalar_op(value.s, &op) &&
                          state_find_computation(t->next, value.s) < 0;
        if (made)
            type = expression_type(t, n->operands[0]);
        if (!made || type.len == 0) {
            parts_add_typed(t, &n->tail, (struct str){s.ptr + at, end - at});
            continue;
        }
        t->changed = true;
        parts_add_typed(t, &n->tail, (struct str){s.ptr + at, value.begin - at});
        parts_add(t, &n->tail, scalar_computation(t, value.s, &op, type), value.s);
    }
}

static bool has_attribute(struct str s, const char *wanted)
{
    struct str name;
    bool has = false;
    for (size_t at = 0, end; !has && syntax_attribute(s, at, &name, &end); at = end)
        has = str_is(name, wanted);
    return has;
}

/* A reduction without dimensions is one of all dimensions. */
static void put_all_dimensions(struct translation *t, struct node *n)
{
    const struct array_shape s = expression_read_shape(str_of(expression_shape(t, n->operands[0])));
    if (s.dtype.len == 0)
        return;
    parts_add_made(t, &n->tail, ", dimensions={");
    for (size_t k = 0; k < s.rank; k++)
        parts_add_made(t, &n->tail, arena_printf(t->arena, k ? ",%zu" : "%zu", k).ptr);
    parts_add_made(t, &n->tail, "}");
    t->changed = true;
}

/* Without an operand of known type, literals have the type of the result if that is written, and
 * are s32 only if the operation accepts integers. */
static struct str common_type(struct translation *t, const struct node *n)
{
    struct parts call = {0};
    const struct str type = expression_default_type(n);
    bool untyped = n->count > 0 && !str_is(n->word, "tuple");
    for (size_t k = 0; k < n->count; k++)
        untyped = untyped && expression_untyped(n->operands[k]);
    const struct str result = expression_read_shape(n->shape).dtype;
    if (untyped && result.len && !str_is(result, "pred"))
        return result;
    if (!untyped || !str_is(type, "s32"))
        return untyped ? type : STR("");
    parts_add_made(t, &call, arena_printf(t->arena, STR_FMT "(", STR_ARG(n->word)).ptr);
    for (size_t k = 0; k < n->count; k++)
        parts_add_made(t, &call, k ? ", s32[] constant(1)" : "s32[] constant(1)");
    parts_add_made(t, &call, ")");
    const struct node probe = {.call = call};
    return *expression_infer(t, &probe) || n->attributes.len ? type : STR("f32");
}

/* Rejects functions of NumPy that HLO lacks: sum(x), max(x). */
static bool check_function(struct translation *t, const struct node *n)
{
    const struct hlo_op op = expression_op_named(n->word);
    const char *instead = op.name ? "" : expression_instead(n->word);
    if (*instead)
        return reject(t, n->word, "unknown opcode '" STR_FMT "'; use %s", STR_ARG(n->word),
                      instead);
    if (op.name && n->count == 1 &&
        (strcmp(op.name, "maximum") == 0 || strcmp(op.name, "minimum") == 0))
        return reject(t, n->word,
                      "'" STR_FMT "' expects 2 operands, got 1; reduce(x, x[0]), to_apply=" STR_FMT
                      " reduces an array",
                      STR_ARG(n->word), STR_ARG(n->word));
    return true;
}

static bool translate_call(struct translation *t, struct node *n)
{
    const bool computation = expression_is_computation(t, n->word);
    if (!computation && !check_function(t, n))
        return false;
    if (!translate_operands(t, n, computation ? STR("") : common_type(t, n)))
        return false;
    parts_add_typed(t, &n->call, n->shape);
    parts_add_made(t, &n->call, n->shape.len ? " " : "");
    parts_add(t, &n->call, computation ? STR("call") : n->word,
              n->op ? (struct str){n->text.ptr, 1} : n->word);
    t->changed |= n->op != NULL;
    put_operands(t, n);
    if (str_is(n->word, "reduce") && n->count > 0 && !has_attribute(n->attributes, "dimensions"))
        put_all_dimensions(t, n);
    if (computation) {
        parts_add_made(t, &n->tail, ", to_apply=");
        parts_add_typed(t, &n->tail, n->word);
    }
    put_attributes(t, n);
    t->changed |= computation || (n->attributes.len && n->text.ptr[n->text.len - 1] == ')' &&
                                  n->attributes.ptr < n->text.ptr + n->text.len);
    return true;
}

/* ---- indices ---- */

struct range {
    int64_t from, to, step;
    bool single;
};

/* Reads one of `-1`, `1:3`, `::2`, with the defaults of NumPy for a dimension of a size. */
static bool read_range(struct translation *t, struct str text, int64_t size, struct range *out)
{
    struct str left = text;
    int64_t values[3] = {0, size, 1};
    size_t count = 0;
    bool ok = true, more = true;
    for (; ok && more && count < COUNT_OF(values); count++) {
        more = memchr(left.ptr, ':', left.len) != NULL;
        const struct str word = str_trim(str_cut(&left, ':'));
        ok = (word.len == 0 && (count > 0 || more)) || num_parse_i64(word, &values[count]);
        if (count < 2 && values[count] < 0)
            values[count] += size;
    }
    if (!ok || more || values[2] < 1)
        return reject(t, text, "expected an index or a range FROM:TO:STEP");
    *out = (struct range){values[0], values[1], values[2], count == 1};
    if (count == 1 && (out->from < 0 || out->from >= size))
        return reject(t, text,
                      "index " STR_FMT " is out of bounds: the dimension has %" PRId64 " elements",
                      STR_ARG(text), size);
    out->from = out->from < 0 ? 0 : out->from > size ? size : out->from;
    out->to = count == 1 ? out->from + 1 : out->to > size ? size : out->to;
    out->to = out->to < out->from ? out->from : out->to;
    return true;
}

static bool translate_element(struct translation *t, struct node *n, struct str index)
{
    parts_add(t, &n->call, STR("get-tuple-element"), n->text);
    put_operands(t, n);
    parts_add_made(t, &n->tail, ", index=");
    parts_add_typed(t, &n->tail, str_trim(index));
    return true;
}

/* A slice, reshaped if there are single indices. */
static bool translate_slice(struct translation *t, struct node *n, struct str indices)
{
    const struct array_shape s = expression_read_shape(str_of(expression_shape(t, n->operands[0])));
    SCOPED_BUF ranges = {0}, sizes = {0};
    bool single = false, ok = true;
    if (s.dtype.len == 0)
        return reject(t, n->text, "not an array");
    for (size_t k = 0; k < s.rank && ok; k++) {
        struct range r = {0, s.dims[k], 1, false};
        if (indices.len)
            ok = read_range(t, str_trim(str_cut(&indices, ',')), s.dims[k], &r);
        buf_printf(&ranges, "%s[%" PRId64 ":%" PRId64 ":%" PRId64 "]", k ? ", " : "", r.from, r.to,
                   r.step);
        if (!r.single)
            buf_printf(&sizes, sizes.size ? ",%" PRId64 : "%" PRId64,
                       (r.to - r.from + r.step - 1) / r.step);
        single |= r.single;
    }
    if (ok && indices.len)
        ok = reject(t, n->attributes, "too many indices: the array has %zu dimensions", s.rank);
    if (ok) {
        parts_add(t, &n->call, STR("slice"), n->attributes);
        put_operands(t, n);
        parts_add_made(t, &n->tail, ", slice={");
        parts_add_made(t, &n->tail, ranges.size ? ranges.data : "");
        parts_add_made(t, &n->tail, "}");
    }
    if (ok && single) {
        const struct str whole = own_instruction(t, n);
        n->call = n->tail = (struct parts){0};
        n->inferred =
            arena_printf(t->arena, STR_FMT "[%s]", STR_ARG(s.dtype), sizes.size ? sizes.data : "")
                .ptr;
        parts_add_made(t, &n->call, arena_printf(t->arena, "%s reshape(", n->inferred).ptr);
        parts_add(t, &n->call, whole, n->text);
        parts_add_made(t, &n->call, ")");
    }
    return ok;
}

static bool translate_index(struct translation *t, struct node *n)
{
    const struct str indices = {n->attributes.ptr + 1, n->attributes.len - 2};
    if (!translate_operands(t, n, STR("")))
        return false;
    t->changed = true;
    return expression_shape(t, n->operands[0])[0] == '(' ? translate_element(t, n, indices)
                                                         : translate_slice(t, n, indices);
}

/* ---- nodes ---- */

static bool translate_name(struct translation *t, struct node *n)
{
    const struct str name = session_alias(t->s, n->word);
    if (str_eq(name, t->name) && state_find(t->next, name) >= 0)
        return reject(t, n->word, "'" STR_FMT "' cannot be computed from itself; use another name",
                      STR_ARG(name));
    t->changed |= name.ptr != n->word.ptr;
    parts_add_typed(t, &n->call, n->shape);
    parts_add_made(t, &n->call, n->shape.len ? " " : "");
    parts_add(t, &n->call, name, n->word);
    return true;
}

/* TYPE: that of an untyped node; empty: unknown. */
static bool translate(struct translation *t, struct node *n, struct str type)
{
    switch (n->kind) {
    case NODE_NAME: return translate_name(t, n);
    case NODE_HLO: parts_add_typed(t, &n->call, n->text); return true;
    case NODE_LITERAL: translate_literal(t, n, type); return true;
    case NODE_OPERATOR: return translate_operator(t, n, type);
    case NODE_CALL: return translate_call(t, n);
    case NODE_INDEX: return translate_index(t, n);
    }
    return false;
}

/* ---- entries ---- */

static bool is_known(void *context, struct str name)
{
    const struct translation *t = context;
    return state_find(t->next, name) >= 0 || expression_op(name) ||
           state_find_computation(t->next, name) >= 0 || session_alias(t->s, name).ptr != name.ptr;
}

/* A typed literal is read by the session, which accepts tuples and large values. */
static bool is_plain(const struct node *n, bool named)
{
    return n->kind == NODE_HLO ||
           (n->kind == NODE_NAME && !named && n->text.len && n->text.ptr[0] != '(') ||
           (n->kind == NODE_LITERAL && n->shape.len);
}

/* The type of a literal that replaces an instruction: that of the instruction if it can have
 * it. */
static struct str replaced_type(struct translation *t, const struct node *n)
{
    const bool replaces = expression_untyped(n) && state_find(t->next, t->name) >= 0;
    const long number = replaces ? session_find(t->s, t->name) : -1;
    if (number < 0)
        return STR("");
    const struct hlo_listed at = built_at(&t->s->built, (size_t)number);
    const struct str old = expression_read_shape(str_of(at.shape)).dtype,
                     type = expression_default_type(n);
    const bool fits =
        old.len && (str_is(type, "s32") ? strchr("fbsu", old.ptr[0]) != NULL
                                        : str_is(type, "f32") && strchr("fb", old.ptr[0]));
    return fits ? arena_str(t->arena, old) : STR("");
}

static enum translated translate_root(struct translation *t, struct node *n, struct parts *out)
{
    if (!translate(t, n, replaced_type(t, n)))
        return TRANSLATED_BADLY;
    if (n->kind == NODE_NAME) {
        parts_add(t, out, STR("copy"), n->word);
        parts_add_made(t, out, "(");
        parts_add_all(t, out, &n->call);
        parts_add_made(t, out, ")");
        t->changed = true;
    } else {
        parts_add_all(t, out, &n->call);
    }
    parts_add_all(t, out, &n->tail);
    if (n->kind != NODE_CALL)
        parts_add_typed(t, out,
                        n->attributes.len && n->kind != NODE_INDEX ? n->attributes : STR(""));
    return t->changed ? TRANSLATED : TRANSLATED_NOTHING;
}

enum translated expression_translate(struct session *s, struct state *next,
                                     struct source_text *from, struct str text, struct str name,
                                     bool must, struct arena *a, struct parts *out, hlo_messages *m)
{
    struct translation t = {.s = s, .next = next, .from = from, .name = name, .arena = a, .m = m};
    struct expression x = {.text = text, .arena = a, .known = is_known, .context = &t};
    expression_parse(&x);
    if (x.root)
        return is_plain(x.root, name.len > 0) ? TRANSLATED_NOTHING
                                              : translate_root(&t, x.root, out);
    if (!x.operators && !must)
        return TRANSLATED_NOTHING;
    const char *at = text.ptr + (x.problem_at < text.len ? x.problem_at : text.len);
    reject(&t, (struct str){at - (at == text.ptr + text.len), 1}, "%s",
           x.problem); /* or after `=` */
    return TRANSLATED_BADLY;
}
