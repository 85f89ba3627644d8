/*
 * hlo ops: lists and describes operations, from the tables of the language.
 */
#include "cli/ops.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- one operation ---- */

static void put_operands(const struct hlo_op *op)
{
    fputs("Operands: ", stdout);
    if (op->max_operands < 0)
        printf(op->min_operands ? "%d or more\n" : "any number\n", op->min_operands);
    else if (op->max_operands == op->min_operands)
        printf("%d\n", op->min_operands);
    else
        printf("%d to %d\n", op->min_operands, op->max_operands);
}

/* Writes the accepted element types of one kind, as found by running the examples: the name of the
 * kind if all are accepted. */
static void put_kind(size_t op, const char *initials, const char *name, const char **comma)
{
    const char *dtype;
    SCOPED_BUF list = {0};
    size_t all = 0, taken = 0;
    for (size_t i = 0; (dtype = hlo_dtype_name(i)); i++) {
        if (!hlo_dtype_is_array(i) || !strchr(initials, *dtype))
            continue;
        all++;
        if (ops_accepts(op, dtype))
            buf_printf(&list, taken++ ? ", %s" : "%s", dtype);
    }
    if (taken > 0) {
        printf("%s%s", *comma, taken == all ? name : list.data);
        *comma = ", ";
    }
}

static void put_types(size_t op)
{
    const char *comma = "Element types: ";
    if (ops_types(op) == 0)
        return;
    put_kind(op, "p", "pred", &comma);
    put_kind(op, "s", "signed", &comma);
    put_kind(op, "u", "unsigned", &comma);
    put_kind(op, "fb", "floats", &comma);
    put_kind(op, "c", "complex", &comma);
    putchar('\n');
}

static void put_words(size_t op, size_t attribute)
{
    const char *word;
    for (size_t i = 0; (word = hlo_op_attribute_word(op, attribute, i)); i++)
        printf(i ? ", %s" : "%33s%s", i ? word : "", word);
    if (hlo_op_attribute_word(op, attribute, 0))
        putchar('\n');
}

static void put_attributes_of(size_t op)
{
    struct hlo_op_attribute a;
    if (hlo_op_attribute(op, 0, &a))
        puts("\nAttributes:");
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        printf("  %-30s %s: %s%s\n", a.name, a.kind, a.help, a.required ? " Required." : "");
        put_words(op, i);
    }
    fputs("\nAttributes of all operations:", stdout);
    for (size_t i = 0; hlo_op_attribute(hlo_op_count(), i, &a); i++)
        printf("%s%s", i % 5 == 0 ? (i ? ",\n  " : "\n  ") : ", ", a.name);
    putchar('\n');
}

static void put_op(size_t i)
{
    struct hlo_op op = hlo_op_get(i);
    printf("%s(%s): %s\n\n%s\n", op.name, op.form, op.help, op.rule);
    put_operands(&op);
    put_types(i);
    printf("Family: %s\nSpecification: %s\n", op.family, op.spec);
    put_attributes_of(i);
    if (*op.differences)
        printf("\nImplementations differ:\n\n%s", op.differences);
    printf("\nExamples:\n\n%s", op.script);
}

/* Describes a builder form and the operation that it is lowered to. */
static bool put_form(const char *name)
{
    struct hlo_form form = {0};
    for (size_t i = 0; (form = hlo_form_get(i)).name && strcmp(form.name, name) != 0; i++)
        ;
    if (!form.name)
        return false;
    printf("%s: %s\nSpecification: %s\n\nA builder form, which --strict rejects; it is read as "
           "core HLO that usually ends in "
           "%s:\n\n",
           form.name, form.help, form.spec, form.op);
    put_op(op_number(str_of(form.op)));
    return true;
}

static int unknown_op(const struct options *o, const char *name)
{
    struct nearest n = nearest_to(str_of(name));
    for (size_t i = 0; i < hlo_op_count(); i++)
        nearest_try(&n, str_of(hlo_op_get(i).name));
    if (n.found.len)
        return usage_error(o, "unknown operation '%s'; did you mean '%s'?", name, n.found.ptr);
    return usage_error(o, "unknown operation '%s'", name);
}

/* ---- list ---- */

static int by_family(const void *a, const void *b)
{
    struct hlo_op x = hlo_op_get(*(const size_t *)a), y = hlo_op_get(*(const size_t *)b);
    int c = strcmp(x.family, y.family);
    return c ? c : strcmp(x.name, y.name);
}

static int put_all(void)
{
    size_t n = hlo_op_count(), *order = heap_zalloc(n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort(order, n, sizeof *order, by_family);
    const char *family = "";
    for (size_t i = 0; i < n; i++) {
        struct hlo_op op = hlo_op_get(order[i]);
        if (strcmp(op.family, family) != 0)
            printf(i ? "\n%s\n" : "%s\n", op.family);
        family = op.family;
        printf("  %-28s %s\n", op.name, op.help);
    }
    heap_free(order);
    return HLO_OK;
}

static int put_json(size_t op)
{
    struct buf b = {0};
    bool one = op < hlo_op_count();
    buf_puts(&b, "{\"schema\":1,\"ops\":[");
    for (size_t i = one ? op : 0; i < (one ? op + 1 : hlo_op_count()); i++) {
        buf_puts(&b, i > 0 && !one ? ",\n" : "\n");
        put_op_json(&b, i);
    }
    buf_puts(&b, "\n]}\n");
    print_buf(&b);
    return HLO_OK;
}

int ops_command(const struct options *o)
{
    if (o->arg_count > 1)
        return usage_error(o, "expected at most one operation, got %zu", o->arg_count);
    size_t op = o->arg_count ? op_number(str_of(o->args[0])) : hlo_op_count();
    if (o->arg_count && op == hlo_op_count())
        return put_form(o->args[0]) ? HLO_OK : unknown_op(o, o->args[0]);
    if (o->given[OPT_DICT])
        return ops_dictionary(o);
    if (o->given[OPT_MDOC])
        return ops_mdoc();
    if (o->given[OPT_MATRIX])
        return ops_matrix(o, op);
    if (o->given[OPT_JSON])
        return put_json(op);
    if (!o->arg_count)
        return put_all();
    put_op(op);
    return HLO_OK;
}
