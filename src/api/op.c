/*
 * Public interface: operations, attributes, examples and element types, from the tables of op/ and
 * type/.
 */
#include "hlo_advanced.h"

#include "base/oom.h"
#include "op/op.h"
#include "type/type.h"

static const char *const kind_names[KIND_COUNT] = {
#define KIND(id, function, name) name,
#include "op/kind.def"
};

size_t hlo_op_count(void) { return OP_COUNT; }

struct hlo_op hlo_op_get(size_t i)
{
    const struct op_info *op = &op_table[i];
    return (struct hlo_op){.name = op->spelling,
                           .form = op_docs[i].form,
                           .rule = op_docs[i].rule,
                           .differences = op_docs[i].differences,
                           .script = op_docs[i].script,
                           .family = family_names[op->family],
                           .spec = op->spec,
                           .help = op->help,
                           .min_operands = op->min_operands,
                           .max_operands =
                               op->max_operands == OPERANDS_MANY ? -1 : op->max_operands};
}

/* A_NONE past the end. */
static struct op_attr op_attr_at(size_t op, size_t i)
{
    for (size_t k = 0;; k++) {
        struct op_attr a =
            op < OP_COUNT ? op_table[op].attrs[k] : (struct op_attr){attr_common[k], 0};
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
    bool has_words = a.id != A_NONE && (attr_table[a.id].kind == KIND_ENUM ||
                                        attr_table[a.id].kind == KIND_ENUM_LIST);
    return has_words && i < (size_t)enum_count((enum attr_id)a.id)
               ? enum_word((enum attr_id)a.id, (int)i)
               : NULL;
}

/* ---- examples ---- */

bool hlo_op_example(size_t op, size_t i, struct hlo_op_example *out)
{
    const struct op_example *e = op_docs[op].examples;
    while (i > 0 && e->text)
        i--, e++;
    if (!e->text)
        return false;
    *out = (struct hlo_op_example){.args = e->args,
                                   .text = e->text,
                                   .result = e->result,
                                   .dtype = e->dtype,
                                   .other = e->other};
    return true;
}

/* An example rewritten for other element types. */
struct rewriting {
    enum opcode op;
    const struct op_example *example;
    enum dtype first, second; /* replacements of the example's `dtype` and `other` */
};

static enum dtype complex_of(enum dtype t)
{
    return t == DT_F32 ? DT_C64 : t == DT_F64 ? DT_C128 : t;
}

/* The replacement of an element type of the example: of `dtype`, of `other`, or of the complex type
 * or component type of `dtype`; DT_COUNT: not a type to replace. */
static enum dtype rewritten(const struct rewriting *r, struct str word)
{
    const struct op_example *e = r->example;
    const enum dtype own = dtype_find(str_of(e->dtype)), t = dtype_find(word);
    if (t >= DT_COUNT)
        return DT_COUNT;
    if (t == own)
        return r->first;
    if (e->other && str_is(word, e->other))
        return r->second;
    if (e->bits && str_is(word, e->bits))
        return dtype_unsigned(r->first);
    if (t == complex_of(own))
        return complex_of(r->first);
    return t == dtype_component(own) ? dtype_component(r->first) : t;
}

/* Copies the dimensions at `p` of an array of type `t`, for bitcast-convert to a wider type with an
 * additional dimension. Returns the position after them. */
static const char *put_dims(struct buf *out, const struct rewriting *r, enum dtype t, const char *p)
{
    const unsigned wide = dtype_bits(t == r->first ? r->second : r->first), narrow = dtype_bits(t);
    if (r->op != OP_BITCAST_CONVERT || *p != '[' || narrow >= wide)
        return p;
    const size_t n = strcspn(p, "]");
    buf_printf(out, "%.*s,%u", (int)n, p, wide / narrow);
    return p + n;
}

static void put_rewritten(struct buf *out, const struct rewriting *r)
{
    for (const char *p = r->example->text; *p;) {
        const size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789_-");
        const struct str word = {p, n > 0 ? n : 1};
        const enum dtype t = rewritten(r, word);
        p += word.len;
        if (t < DT_COUNT) {
            buf_puts(out, dtype_spelling(t));
            p = put_dims(out, r, t, p);
        } else {
            buf_printf(out, STR_FMT, STR_ARG(word));
        }
    }
}

static enum dtype dtype_or(const char *name, const char *otherwise)
{
    const enum dtype t = name ? dtype_find(str_of(name)) : DT_COUNT;
    return t < DT_COUNT || !otherwise ? t : dtype_find(str_of(otherwise));
}

hlo_text hlo_op_example_text(size_t op, size_t i, const char *dtype, const char *other)
{
    OOM_SCOPE((hlo_text){0});
    const struct op_example *e = &op_docs[op].examples[i];
    struct buf b = {0};
    if (e->dtype)
        put_rewritten(&b, &(struct rewriting){(enum opcode)op, e, dtype_or(dtype, e->dtype),
                                              dtype_or(other, e->other)});
    else
        buf_puts(&b, e->text);
    buf_putc(&b, '\0');
    return (hlo_text){b.data, b.size - 1};
}

/* ---- element types ---- */

struct hlo_form hlo_form_get(size_t i)
{
    if (i >= FORM_COUNT)
        return (struct hlo_form){0};
    const struct form_info *form = &form_table[i];
    return (struct hlo_form){form->spelling, op_spelling((enum opcode)form->opcode), form->spec,
                             form->help};
}

const char *hlo_dtype_name(size_t i) { return i < DT_COUNT ? dtype_spelling((enum dtype)i) : NULL; }

bool hlo_dtype_is_array(size_t i) { return i < DT_COUNT && dtype_is_array((enum dtype)i); }
