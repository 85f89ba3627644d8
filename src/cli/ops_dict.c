/*
 * hlo ops --dict: the words of a language as a dictionary for libFuzzer, from the tables: HLO text, directives of golden tests,
 * commands of the prompt, the command line.
 */
#include "cli/golden.h"
#include "cli/ops.h"

#include "repl/repl.h"

struct word_list {
    struct arena arena;
    struct map seen;
};

/* Writes an entry in libFuzzer's format, each word once. */
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

static void put_words(struct word_list *list, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_word(list, words[i]);
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

/* Words that no table has. */
static const char *const text_words[] = {
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

static void put_text(struct word_list *list)
{
    const char *dtype;
    put_words(list, text_words, COUNT_OF(text_words));
    for (size_t i = 0; (dtype = hlo_dtype_name(i)); i++)
        put_word(list, dtype);
    for (size_t i = 0; i < hlo_op_count(); i++)
        put_word(list, hlo_op_get(i).name);
    for (size_t i = 0; hlo_form_get(i).name; i++)
        put_word(list, hlo_form_get(i).name);
    for (size_t i = 0; i <= hlo_op_count(); i++)
        put_attributes(list, i);
}

static void put_test(struct word_list *list)
{
    static const char *const others[] = {"eval",
                                         "verify",
                                         "parse",
                                         "print",
                                         "strict",
                                         "short",
                                         "why: ",
                                         "exact",
                                         "ulp=",
                                         "rel=",
                                         "abs=",
                                         "bits",
                                         "accepted",
                                         "accepted by the parser",
                                         "rejected by the parser",
                                         "rejected by the verifier",
                                         "value",
                                         "edge",
                                         "rejection",
                                         "@0",
                                         "@1",
                                         "in x",
                                         "//   "};
    const char *key;
    put_words(list, others, COUNT_OF(others));
    for (size_t i = 0; (key = golden_key(i)); i++)
        put_word(list, arena_printf(&list->arena, "// %s:", key).ptr);
}

static void put_repl(struct word_list *list)
{
    static const char *const others[] = {"[0]", "[1:]", "[..., -1]", "_1",     "_2",     "on",      "off",
                                         " = ", ";",    "--random",  "--fake", "@x.npy", "module 1"};
    const char *name;
    put_words(list, others, COUNT_OF(others));
    for (size_t i = 0; (name = repl_command_name(i)); i++)
        put_word(list, arena_printf(&list->arena, ".%s ", name).ptr);
}

static void put_options(struct word_list *list)
{
    for (int c = 0; c < CMD_COUNT; c++)
        put_word(list, command_row((enum command)c)->name);
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = option_row((enum option_id)i);
        put_word(list, arena_printf(&list->arena, " --%s%s", row->name, row->value[0] == '=' ? "=" : "").ptr);
        if (row->letter)
            put_word(list, arena_printf(&list->arena, " -%c", row->letter).ptr);
    }
}

int ops_dictionary(const struct options *o)
{
    static const struct {
        const char *name;
        void (*put)(struct word_list *list);
    } kinds[] = {{"options", put_options}, {"repl", put_repl}, {"test", put_test}, {"text", put_text}};
    const char *kind = o->value[OPT_DICT] ? o->value[OPT_DICT] : "text";
    struct word_list list;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        if (strcmp(kinds[k].name, kind) != 0)
            continue;
        arena_init(&list.arena);
        map_init(&list.seen, &list.arena);
        kinds[k].put(&list);
        arena_free(&list.arena);
        return HLO_OK;
    }
    return usage_error(o, "`--dict=%s`: text, test, repl or options is wanted", kind);
}
