/*
 * hlo ops --dict: keywords as a dictionary for libFuzzer, from the tables: HLO text, directives of
 * golden tests, commands of the prompt, the command line.
 */
#include "cli/golden.h"
#include "cli/ops.h"

#include "repl/repl.h"

struct word_list {
    struct arena arena;
    struct map seen;
};

/* Writes an entry in libFuzzer's format, unless it has been written before. */
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

static void put_lines(struct word_list *list, const char *lines)
{
    for (size_t n; *lines; lines += n + 1) {
        n = strcspn(lines, "\n");
        put_word(list, arena_printf(&list->arena, "%.*s", (int)n, lines).ptr);
    }
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

/* Keywords that are in no table, one per line. */
static const char text_words[] =
    "HloModule\nENTRY\nROOT\n%\n->\n<=\n...\n{...}\n()\n{}\n{{0,1},{2,3}}\n[]\nconstant({\ninf\n"
    "-inf\nnan\nnan(0x1)\ntrue\nfalse\nreplica_count=\nnum_partitions=\nis_scheduled=true\n"
    "entry_computation_layout={\ninput_output_alias={\nbuffer_donor={\nFileNames\nFunctionNames\n"
    "FileLocations\nStackFrames\n{replicated}\n{maximal device=0}\n{devices=[2,1]0,1}\n"
    "{devices=[2,2]<=[4]}\nsize=2x2\nstride=\npad=0_1x1_0\nlhs_dilate=\nrhs_dilate=\n"
    "rhs_reversal=\nb01f_01io->b01f\n{1,0:T(8,128)}\n:S(1)\n:E(4)\n/*index=5*/\n// -----\n1e-45\n"
    "9223372036854775807\n-9223372036854775808\n18446744073709551615\n%cycle\n"
    "execution_thread=\"main\"\n";

static const char test_words[] =
    "eval\nverify\nparse\nprint\nstrict\nshort\nwhy: "
    "\nexact\nulp=\nrel=\nabs=\nbits\nusual\naccepted\n"
    "accepted by the parser\nrejected by the parser\nrejected by the verifier\nvalue\nedge\n"
    "rejection\n@0\n@1\nin x\n//   \n";
static const char repl_words[] =
    "[0]\n[1:]\n[..., -1]\n_1\n_2\non\noff\n = \n;\n--random\n--fake\n@x.npy\nmodule 1\n";

static void put_text(struct word_list *list)
{
    const char *dtype;
    put_lines(list, text_words);
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
    const char *key;
    put_lines(list, test_words);
    for (size_t i = 0; (key = golden_key(i)); i++)
        put_word(list, arena_printf(&list->arena, "// %s:", key).ptr);
}

static void put_repl(struct word_list *list)
{
    const char *name;
    put_lines(list, repl_words);
    for (size_t i = 0; (name = repl_command_name(i)); i++)
        put_word(list, arena_printf(&list->arena, ".%s ", name).ptr);
}

static void put_options(struct word_list *list)
{
    for (int c = 0; c < CMD_COUNT; c++)
        put_word(list, command_row((enum command)c)->name);
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = option_row((enum option_id)i);
        put_word(
            list,
            arena_printf(&list->arena, " --%s%s", row->name, row->value[0] == '=' ? "=" : "").ptr);
        if (row->letter)
            put_word(list, arena_printf(&list->arena, " -%c", row->letter).ptr);
    }
}

int ops_dictionary(const struct options *o)
{
    static const char *const kinds[] = {"text", "test", "repl", "options"};
    static void (*const put[])(struct word_list * list) = {put_text, put_test, put_repl,
                                                           put_options};
    struct word_list list;
    int kind;
    if (!option_word(o, OPT_DICT, kinds, COUNT_OF(kinds), 0, &kind))
        return HLO_USAGE;
    arena_init(&list.arena);
    map_init(&list.seen, &list.arena);
    put[kind](&list);
    arena_free(&list.arena);
    return HLO_OK;
}
