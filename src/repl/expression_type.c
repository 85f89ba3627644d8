/*
 * repl/expression_type: shapes of the nodes of expressions, and the types of literals.
 */
#include "repl/expression.h"

/* ---- operations ---- */

size_t expression_op_number(struct str word)
{
    for (size_t i = 0; hlo_form_get(i).name; i++)
        if (str_is(word, hlo_form_get(i).name))
            word = str_of(hlo_form_get(i).op);
    return op_number(word);
}

struct hlo_op expression_op_named(struct str word)
{
    const size_t op = expression_op_number(word);
    return op < hlo_op_count() ? hlo_op_get(op) : (struct hlo_op){0};
}

bool expression_op(struct str word) { return expression_op_named(word).name != NULL; }

const char *expression_instead(struct str word)
{
    static const struct {
        const char *word, *instead;
    } rows[] = {
        {"all", "reduce(x, true), to_apply=and"},
        {"any", "reduce(x, false), to_apply=or"},
        {"arange", "s32[5] iota(), iota_dimension=0"},
        {"astype", "convert(x, new_element_type=f32)"},
        {"concat", "concatenate(x, y), dimensions={0}"},
        {"cumsum", "reduce-window(x, 0), to_apply=add, window={size=3 pad=2_0}"},
        {"dtype", ".type x"},
        {"flip", "reverse(x), dimensions={0}"},
        {"float", "convert(x, new_element_type=f32)"},
        {"int", "convert(x, new_element_type=s32)"},
        {"isnan", "x != x"},
        {"len", ".type x"},
        {"matmul", "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"},
        {"mean", "reduce(x, 0), to_apply=add, and divide"},
        {"ndim", ".type x"},
        {"ones", "f32[2,3] broadcast(1)"},
        {"print", ".print x"},
        {"prod", "reduce(x, 1), to_apply=multiply"},
        {"relu", "max(x, 0)"},
        {"shape", ".type x"},
        {"sigmoid", "logistic(x)"},
        {"square", "x * x"},
        {"sum", "reduce(x, 0), to_apply=add"},
        {"T", "transpose(x), dimensions={1,0}"},
        {"take", "gather, which .doc gather describes"},
        {"type", ".type x"},
        {"where", "select(condition, x, y)"},
        {"zeros", "f32[2,3] broadcast(0)"},
    };
    for (size_t i = 0; i < word.len; i++)
        if (word.ptr[i] == '.')
            return expression_instead((struct str){word.ptr + i + 1, word.len - i - 1});
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (str_is(word, rows[i].word))
            return rows[i].instead;
    return "";
}

bool expression_is_computation(const struct translation *t, struct str word)
{
    return !expression_op(word) && state_find_computation(t->next, word) >= 0;
}

/* ---- shapes ---- */

/* Reads f32[2,<=3]{1,0}. */
struct array_shape expression_read_shape(struct str text)
{
    struct array_shape s = {0};
    const char *open = text.len ? memchr(text.ptr, '[', text.len) : NULL;
    if (!open || text.ptr[0] == '(')
        return s;
    struct str dims = {open + 1, text.len - (size_t)(open + 1 - text.ptr)};
    const char *close = dims.len ? memchr(dims.ptr, ']', dims.len) : NULL;
    dims.len = close ? (size_t)(close - dims.ptr) : 0;
    while (dims.len > 0 && s.rank < RANKS) {
        struct str dim = str_trim(str_cut(&dims, ','));
        const size_t bound = str_starts(dim, STR("<=")) ? 2 : 0;
        if (!num_parse_i64((struct str){dim.ptr + bound, dim.len - bound}, &s.dims[s.rank++]))
            return (struct array_shape){0};
    }
    if (dims.len == 0)
        s.dtype = (struct str){text.ptr, (size_t)(open - text.ptr)};
    return s;
}

const char *expression_infer(struct translation *t, const struct node *n)
{
    struct str name;
    struct entry *e = expression_make_entry(t, n, &name);
    SCOPED_HEAP char *shape = build_shape(&t->s->built, t->next, e);
    const char *kept = shape ? arena_str(t->arena, str_of(shape)).ptr : "";
    entry_unref(e);
    return kept;
}

/* The shape of a translated node as text; empty if it is not well-formed. */
const char *expression_shape(struct translation *t, struct node *n)
{
    if (n->inferred)
        return n->inferred;
    const long number = n->kind == NODE_NAME ? session_find(t->s, n->word) : -1;
    if (number >= 0)
        n->inferred = arena_str(t->arena, str_of(built_at(&t->s->built, (size_t)number).shape)).ptr;
    else if (n->kind == NODE_NAME)
        n->inferred = "";
    else
        n->inferred = expression_infer(t, n);
    return n->inferred;
}

/* ---- types of literals ---- */

/* Whether it has the type that its context needs: a literal without shape, or an expression of
 * such. */
bool expression_untyped(const struct node *n)
{
    bool untyped = n->kind == NODE_OPERATOR ? !expression_compares(n)
                                            : n->kind == NODE_LITERAL && n->shape.len == 0;
    for (size_t k = 0; k < n->count; k++)
        untyped = untyped && expression_untyped(n->operands[k]);
    return untyped;
}

static bool has_char(struct str s, const char *of)
{
    for (size_t i = 0; i < s.len; i++)
        if (strchr(of, s.ptr[i]))
            return true;
    return false;
}

/* The type of an untyped node without context: f32 if there is a fraction, pred for true. */
struct str expression_default_type(const struct node *n)
{
    struct str type = STR("s32");
    for (size_t k = 0; k < n->count; k++) {
        const struct str of = expression_default_type(n->operands[k]);
        type = str_is(of, "f32") || k == 0 ? of : type;
    }
    if (n->count == 0 && has_char(n->word, "tf") && !has_char(n->word, "i"))
        return STR("pred");
    return n->count == 0 && has_char(n->word, ".einN") ? STR("f32") : type;
}

struct str expression_type(struct translation *t, struct node *n)
{
    if (n->kind == NODE_LITERAL && n->shape.len)
        return expression_read_shape(n->shape).dtype;
    if (expression_compares(n))
        return STR("pred");
    for (size_t k = 0; k < n->count && n->kind == NODE_OPERATOR; k++)
        if (!expression_untyped(n->operands[k]))
            return expression_type(t, n->operands[k]);
    return expression_read_shape(str_of(expression_shape(t, n))).dtype;
}

/* The type of the operands of a node that are translated; empty: unknown. */
static struct str type_of_others(struct translation *t, const struct node *n)
{
    for (size_t k = 0; k < n->count && !str_is(n->word, "tuple"); k++)
        if (!expression_untyped(n->operands[k]))
            return expression_type(t, n->operands[k]);
    return STR("");
}

static struct str type_of_typed(struct translation *t, struct node *n)
{
    return expression_untyped(n) ? STR("") : expression_type(t, n);
}

/* The type of parameter K of a computation of the session. */
static struct str parameter_type(struct translation *t, struct str name, size_t k)
{
    const hlo_listing *l = session_listing(t->s);
    const long c = l ? hlo_list_find_computation(l, arena_str(t->arena, name).ptr) : -1;
    const struct hlo_listed_computation of =
        c >= 0 ? hlo_list_computation(l, (size_t)c) : (struct hlo_listed_computation){0};
    if (k >= of.parameter_count)
        return STR("");
    return arena_str(t->arena,
                     expression_read_shape(str_of(hlo_list_inst(l, of.parameters[k]).shape)).dtype);
}

/* The type of a literal as operand K. */
struct str expression_literal_type(struct translation *t, const struct node *n, size_t k,
                                   struct str wanted)
{
    static const struct {
        const char *op;
        size_t from, to;
        const char *type;
    } rows[] = {{"select", 0, 0, "pred"},
                {"dynamic-slice", 1, SIZE_MAX, "s32"},
                {"dynamic-update-slice", 2, SIZE_MAX, "s32"},
                {"gather", 1, 1, "s32"},
                {"scatter", 1, 1, "s32"}};
    for (size_t i = 0; i < COUNT_OF(rows) && n->kind == NODE_CALL; i++)
        if (str_is(n->word, rows[i].op) && k >= rows[i].from && k <= rows[i].to)
            return str_of(rows[i].type);
    struct str type = STR("");
    const size_t half = n->count / 2;
    if (n->kind == NODE_CALL && expression_is_computation(t, n->word))
        type = parameter_type(t, n->word, k);
    else if (str_is(n->word, "select") && n->count == 3)
        type = type_of_typed(t, n->operands[3 - k]);
    else if (str_is(n->word, "reduce") && k >= half)
        type = type_of_typed(t, n->operands[k - half]);
    else
        type = type_of_others(t, n);
    return type.len ? type : wanted;
}
