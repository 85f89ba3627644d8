/*
 * hlo ops: what the language has, from its one table.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the dictionary ---- */

struct word_list {
    struct arena arena;
    struct map seen;
};

/* One entry of libFuzzer's format, each word once. */
static void put_word(struct word_list *list, const char *word)
{
    if (!*word || map_put(&list->seen, str_of(word), list))
        return;
    putchar('"');
    for (; *word; word++) {
        if (*word == '"' || *word == '\\')
            putchar('\\');
        putchar(*word);
    }
    fputs("\"\n", stdout);
}

static void put_attributes(struct word_list *list, size_t op)
{
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        struct str assigned = arena_printf(&list->arena, "%s=", a.name);
        put_word(list, assigned.ptr);
        const char *word;
        for (size_t k = 0; (word = hlo_op_attribute_word(op, i, k)); k++)
            put_word(list, word);
    }
}

static int put_dictionary(void)
{
    static const char *const others[] = {
        "HloModule",
        "ENTRY",
        "ROOT",
        "%",
        "->",
        "<=",
        "...",
        "{...}",
        "()",
        "{}",
        "{{0,1},{2,3}}",
        "[]",
        "constant({",
        "inf",
        "-inf",
        "nan",
        "nan(0x1)",
        "true",
        "false",
        "replica_count=",
        "num_partitions=",
        "is_scheduled=true",
        "entry_computation_layout={",
        "input_output_alias={",
        "buffer_donor={",
        "FileNames",
        "FunctionNames",
        "FileLocations",
        "StackFrames",
        "{replicated}",
        "{maximal device=0}",
        "{devices=[2,1]0,1}",
        "{devices=[2,2]<=[4]}",
        "size=2x2",
        "stride=",
        "pad=0_1x1_0",
        "lhs_dilate=",
        "rhs_dilate=",
        "rhs_reversal=",
        "b01f_01io->b01f",
        "{1,0:T(8,128)}",
        ":S(1)",
        ":E(4)",
        "/*index=5*/",
        "// -----",
        "1e-45",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "%cycle",
        "execution_thread=\"main\"",
    };
    struct word_list list;
    arena_init(&list.arena);
    map_init(&list.seen, &list.arena);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        put_word(&list, others[i]);
    const char *dtype;
    for (size_t i = 0; (dtype = hlo_dtype_name(i)); i++)
        put_word(&list, dtype);
    for (size_t i = 0; i < hlo_op_count(); i++)
        put_word(&list, hlo_op_get(i).name);
    for (size_t i = 0; i <= hlo_op_count(); i++)
        put_attributes(&list, i);
    arena_free(&list.arena);
    return HLO_OK;
}

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

static void put_words(size_t op, size_t attribute)
{
    const char *word;
    for (size_t i = 0; (word = hlo_op_attribute_word(op, attribute, i)); i++)
        printf(i ? ", %s" : "%33s%s", i ? word : "", word);
    if (hlo_op_attribute_word(op, attribute, 0))
        putchar('\n');
}

static void put_attribute_rows(size_t op)
{
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        printf("  %-30s %s: %s%s\n", a.name, a.kind, a.help, a.required ? " Required." : "");
        put_words(op, i);
    }
}

static int put_op(size_t i)
{
    struct hlo_op op = hlo_op_get(i);
    struct hlo_op_attribute a;
    printf("%s: %s\n\n", op.name, op.help);
    put_operands(&op);
    printf("Family: %s\nSpecification: %s\n", op.family, op.spec);
    if (hlo_op_attribute(i, 0, &a)) {
        puts("\nAttributes:");
        put_attribute_rows(i);
    }
    puts("\nEvery operation may also carry:");
    put_attribute_rows(hlo_op_count());
    return HLO_OK;
}

static int unknown_op(const struct options *o, const char *name)
{
    const char *nearest = "";
    unsigned best = 4;
    for (size_t i = 0; i < hlo_op_count(); i++) {
        unsigned d = str_distance(str_of(name), str_of(hlo_op_get(i).name), 4);
        if (d < best) {
            best = d;
            nearest = hlo_op_get(i).name;
        }
    }
    if (*nearest)
        return usage_error(o, "no operation `%s`; did you mean `%s`?", name, nearest);
    return usage_error(o, "no operation `%s`", name);
}

/* ---- all of them ---- */

static int by_family(const void *a, const void *b)
{
    struct hlo_op x = hlo_op_get(*(const size_t *)a), y = hlo_op_get(*(const size_t *)b);
    int c = strcmp(x.family, y.family);
    return c ? c : strcmp(x.name, y.name);
}

static int put_all(void)
{
    size_t n = hlo_op_count(), *order = calloc(n, sizeof *order);
    if (!order)
        return HLO_FAILED;
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
    free(order);
    return HLO_OK;
}

int ops_command(const struct options *o)
{
    if (o->given[OPT_DICT])
        return put_dictionary();
    if (o->arg_count == 0)
        return put_all();
    for (size_t i = 0; i < hlo_op_count(); i++)
        if (strcmp(hlo_op_get(i).name, o->args[0]) == 0)
            return put_op(i);
    return unknown_op(o, o->args[0]);
}
