/*
 * hlo ops --mdoc: operations, builder forms and element types as sections of an mdoc page, for
 * hlo(5).
 */
#include "cli/ops.h"

#include <stdio.h>

/* Writes text, escaped so that it is not parsed as a macro. */
static void put_text(const char *s)
{
    if (*s == '.' || *s == '\'')
        fputs("\\&", stdout);
    for (; *s; s++)
        if (*s == '\\')
            fputs("\\e", stdout);
        else
            putchar(*s);
}

/* Writes a quoted macro argument. */
static void put_quoted(const char *s)
{
    putchar('"');
    for (; *s; s++)
        fputs(*s == '"' ? "\"\"" : *s == '\\' ? "\\e" : (char[]){*s, 0}, stdout);
    putchar('"');
}

static void put_attributes(size_t op)
{
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        fputs(".Cm ", stdout);
        put_quoted(a.name);
        printf(" Pq \"%s%s\"", a.kind, a.required ? ", required" : "");
        puts(hlo_op_attribute(op, i + 1, &a) ? " ," : " .");
    }
}

static void put_op(const struct hlo_op *op, size_t i)
{
    printf(".It Ic %s Ns Pq Ar ", op->name);
    put_quoted(op->form);
    putchar('\n');
    put_text(op->help);
    puts(hlo_op_attribute(i, 0, &(struct hlo_op_attribute){0}) ? "\nAttributes:" : "");
    put_attributes(i);
}

static void put_forms(void)
{
    struct hlo_form form;
    puts(".Ss Builder forms\nAlternative names of operations, accepted without\n.Fl -strict\n"
         "and printed as the operation in parentheses.\n.Bl -tag -width Ds");
    for (size_t i = 0; (form = hlo_form_get(i)).name; i++) {
        printf(".It Ic %s Pq Ic %s\n", form.name, form.op);
        put_text(form.help);
        putchar('\n');
    }
    puts(".El");
}

static void put_dtypes(void)
{
    const char *dtype;
    size_t last = 0;
    for (size_t i = 0; hlo_dtype_name(i); i++)
        last = hlo_dtype_is_array(i) ? i : last;
    puts(".Ss Element types\nThe elements of an array are of type");
    for (size_t i = 0; (dtype = hlo_dtype_name(i)); i++)
        if (hlo_dtype_is_array(i))
            printf(i == last ? "or\n.Cm %s .\n" : ".Cm %s ,\n", dtype);
    puts(
        "The prefix denotes predicates, signed and unsigned integers, floats and complex numbers;\n"
        "the first number is the size of an element in bits.");
}

int ops_mdoc(void)
{
    size_t n = hlo_op_count();
    put_dtypes();
    puts(".Ss Attributes of every operation\nAny instruction may carry");
    put_attributes(n);
    for (size_t i = 0; i < n; i++) {
        struct hlo_op op = hlo_op_get(i);
        bool first = true;
        for (size_t k = 0; k < i; k++)
            first &= strcmp(hlo_op_get(k).family, op.family) != 0;
        if (!first)
            continue;
        printf(".Ss Operations: %s\n.Bl -tag -width Ds\n", op.family);
        for (size_t k = i; k < n; k++) {
            struct hlo_op other = hlo_op_get(k);
            if (strcmp(other.family, op.family) == 0)
                put_op(&other, k);
        }
        puts(".El");
    }
    put_forms();
    return HLO_OK;
}
