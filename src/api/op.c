/*
 * The public interface to what the language has: operations, attributes, examples and element types, from the tables of op/ and
 * type/.
 */
#include "hlo_advanced.h"

#include "base/guard.h"
#include "op/op.h"
#include "type/type.h"

static const char *const kind_names[KIND_COUNT] = {
    [KIND_ALIASING] = "output and operand indices",
    [KIND_BOOL] = "true or false",
    [KIND_BOOL_LIST] = "list of true or false",
    [KIND_COMPUTATION] = "computation",
    [KIND_COMPUTATION_LIST] = "list of computations",
    [KIND_DEVICE_LIST] = "groups of participants",
    [KIND_DIM_LABELS] = "dimension labels",
    [KIND_DOMAIN] = "pair of shardings",
    [KIND_DTYPE] = "element type",
    [KIND_ENUM] = "word",
    [KIND_ENUM_LIST] = "list of words",
    [KIND_FLOAT] = "number",
    [KIND_FRONTEND_ATTRIBUTES] = "dictionary of strings",
    [KIND_INST_LIST] = "list of instructions",
    [KIND_INT] = "integer",
    [KIND_INT32] = "integer of 32 bits",
    [KIND_INT_LIST] = "list of integers",
    [KIND_INT_LIST_LIST] = "list of lists of integers",
    [KIND_LITERAL] = "literal",
    [KIND_METADATA] = "metadata",
    [KIND_ORIGIN] = "original value",
    [KIND_PADDING] = "padding",
    [KIND_RESULT_ACCURACY] = "accuracy",
    [KIND_SHAPE] = "shape",
    [KIND_SHAPE_LIST] = "list of shapes",
    [KIND_SHARDING] = "sharding",
    [KIND_SLICES] = "slice ranges",
    [KIND_SPARSITY_CONFIG] = "sparsity",
    [KIND_STATISTICS] = "statistics",
    [KIND_STRING] = "string",
    [KIND_STRING_OR_DICT] = "string or dictionary",
    [KIND_WINDOW] = "window",
    [KIND_WINDOW_PADDING] = "same, valid or pads",
};

size_t hlo_op_count(void) { return OP_COUNT; }

struct hlo_op hlo_op_get(size_t i)
{
    const struct op_info *op = &op_table[i];
    return (struct hlo_op){.name = op->spelling,
                           .form = op_docs[i].form,
                           .rule = op_docs[i].rule,
                           .family = family_names[op->family],
                           .spec = op->spec,
                           .help = op->help,
                           .min_operands = op->min_operands,
                           .max_operands = op->max_operands == OPERANDS_MANY ? -1 : op->max_operands};
}

/* A_NONE past the end. */
static struct op_attr op_attr_at(size_t op, size_t i)
{
    for (size_t k = 0;; k++) {
        struct op_attr a = op < OP_COUNT ? op_table[op].attrs[k] : (struct op_attr){attr_common[k], 0};
        if (k == i || a.id == A_NONE)
            return a;
    }
}

bool hlo_op_attribute(size_t op, size_t i, struct hlo_op_attribute *out)
{
    struct op_attr a = op_attr_at(op, i);
    if (a.id == A_NONE)
        return false;
    *out = (struct hlo_op_attribute){.name = attr_table[a.id].spelling,
                                     .kind = kind_names[attr_table[a.id].kind],
                                     .help = attr_table[a.id].help,
                                     .required = (a.use & USE_REQUIRED) != 0};
    return true;
}

const char *hlo_op_attribute_word(size_t op, size_t attribute, size_t i)
{
    struct op_attr a = op_attr_at(op, attribute);
    bool has_words = a.id != A_NONE && (attr_table[a.id].kind == KIND_ENUM || attr_table[a.id].kind == KIND_ENUM_LIST);
    return has_words && i < (size_t)enum_count((enum attr_id)a.id) ? enum_word((enum attr_id)a.id, (int)i) : NULL;
}

/* ---- examples ---- */

bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out)
{
    const struct op_example *e = op_docs[op].examples;
    while (i > 0 && e->text)
        i--, e++;
    if (!e->text)
        return false;
    *out = (struct hlo_op_example){
        .args = e->args, .result = e->result, .dtype = e->dtype, .other = e->other, .feeds = e->feed != NULL};
    return true;
}

/* The unsigned type as wide as `t`, for examples that handle its bits. */
static const char *unsigned_of(enum dtype t)
{
    for (int u = DT_U1; u <= DT_U64; u++)
        if (dtype_bits((enum dtype)u) == dtype_bits(t))
            return dtype_spelling((enum dtype)u);
    return "u64";
}

/* ",4": the dimension that is added when elements of `wide` are taken apart into elements of `narrow`; nothing if they are no
 * wider. */
static void put_ratio(struct buf *out, enum dtype wide, enum dtype narrow)
{
    if (dtype_bits(wide) > dtype_bits(narrow))
        buf_printf(out, ",%u", dtype_bits(wide) / dtype_bits(narrow));
}

/* What a letter after `$` stands for with the element types `t` and `u`; op/doc/all.def lists the letters. */
static void put_place(struct buf *out, char letter, enum dtype t, enum dtype u)
{
    bool complex = dtype_is_complex(t);
    switch (letter) {
    case 'T': buf_puts(out, dtype_spelling(t)); break;
    case 'U': buf_puts(out, dtype_spelling(u)); break;
    case 'R': buf_puts(out, dtype_spelling(dtype_component(t))); break;
    case 'C': buf_puts(out, dtype_spelling(t == DT_F32 ? DT_C64 : t == DT_F64 ? DT_C128 : t)); break;
    case 'V': buf_puts(out, unsigned_of(t)); break;
    case 'A': put_ratio(out, u, t); break;
    case 'B': put_ratio(out, t, u); break;
    case '<': buf_puts(out, complex ? "NE" : "LT"); break;
    case '>': buf_puts(out, complex ? "EQ" : "GE"); break;
    default: /* a digit; s1 holds 0 and -1 */
        buf_printf(out, complex ? "(%c, 0)" : t == DT_S1 && letter == '1' ? "-%c" : "%c", letter);
    }
}

static void put_template(struct buf *out, const char *text, enum dtype t, enum dtype u)
{
    for (const char *p = text; *p; p++)
        if (*p == '$')
            put_place(out, *++p, t, u);
        else
            buf_putc(out, *p);
}

static enum dtype dtype_or(const char *name, enum dtype otherwise)
{
    enum dtype t = name ? dtype_find(str_of(name)) : otherwise;
    return t < DT_COUNT ? t : otherwise;
}

hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other)
{
    GUARDED((hlo_text){0});
    const struct op_example *e = &op_docs[op].examples[i];
    enum dtype t = dtype_or(dtype ? dtype : e->dtype, DT_F32), u = dtype_or(other ? other : e->other, DT_F32);
    struct buf b = {0};
    buf_puts(&b, "HloModule ");
    for (const char *p = op_table[op].spelling; *p; p++)
        buf_putc(&b, *p == '-' ? '_' : *p);
    buf_puts(&b, "\n\n");
    put_template(&b, e->text, t, u);
    buf_putc(&b, '\0');
    return (hlo_text){b.data, b.size - 1};
}

hlo_text hlo_op_example_feed(size_t op, size_t i, const char *dtype)
{
    GUARDED((hlo_text){0});
    const struct op_example *e = &op_docs[op].examples[i];
    struct buf b = {0};
    put_template(&b, e->feed, dtype_or(dtype ? dtype : e->dtype, DT_F32), DT_F32);
    buf_putc(&b, '\0');
    return (hlo_text){b.data, b.size - 1};
}

/* ---- element types ---- */

struct hlo_form hlo_form_get(size_t i)
{
    if (i >= FORM_COUNT)
        return (struct hlo_form){0};
    const struct form_info *form = &form_table[i];
    return (struct hlo_form){form->spelling, op_spelling((enum opcode)form->opcode), form->spec, form->help};
}

const char *hlo_dtype_name(size_t i) { return i < DT_COUNT ? dtype_spelling((enum dtype)i) : NULL; }

bool hlo_dtype_is_array(size_t i) { return i < DT_COUNT && dtype_is_array((enum dtype)i); }
