/*
 * Tests of completion at the prompt, and of its history.
 */
#include "check_quiet.h"

#include "repl/complete.h"
#include "repl/history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- completion ---- */

static void names(void *context, struct completions *out)
{
    completions_add(out, STR("alpha.1"), STR("f32[2,3]"), "");
    completions_add(out, STR("alphabet"), STR("s32[]"), "");
    completions_add(out, STR("region_0"), STR("computation"), "");
    completions_add(out, STR("ärger"), STR("f32[]"), "");
}

static bool command(void *context, size_t i, struct complete_command *out)
{
    static const struct complete_command table[] = {
        {".break", "stop there", COMPLETE_PLACES, NULL},
        {".doc", "what an op does", COMPLETE_OPS, NULL},
        {".help", "what there is", COMPLETE_COMMANDS, NULL},
        {".load", "read a module", COMPLETE_FILES, "--part"},
        {".mode", "how values are shown", COMPLETE_WORDS, "hlo|json|npy"},
        {".plot", "a picture", COMPLETE_NAMES, "--png"},
        {".quit", "leave", COMPLETE_NOTHING, NULL},
        {".type", "its shape", COMPLETE_ENTRY, NULL},
    };
    if (i < COUNT_OF(table))
        *out = table[i];
    return i < COUNT_OF(table);
}

/* The candidates at the cursor `|` in `text`, with tails, separated by blanks. */
static const char *offered(const char *text)
{
    static struct buf all;
    static const struct complete_source source = {NULL, names, command};
    struct completions c = {0};
    struct buf entry = {0};
    const char *cursor = strchr(text, '|');
    buf_bytes(&entry, text, (size_t)(cursor - text));
    buf_puts(&entry, cursor + 1);
    complete_entry(&source, buf_view(&entry), (size_t)(cursor - text), &c);
    completions_sort(&c);
    all.size = 0;
    buf_puts(&all, "");
    for (size_t i = 0; i < c.count; i++)
        buf_printf(&all, "%s" STR_FMT STR_FMT, i ? " " : "", STR_ARG(c.items[i].text),
                   STR_ARG(c.items[i].tail));
    completions_free(&c);
    buf_free(&entry);
    return all.size ? all.data : "";
}

static void offers(const char *text, const char *expected)
{
    ck_assert_str_eq(offered(text), expected);
}

static bool has(const char *text, const char *word)
{
    struct buf all = {0}, one = {0};
    buf_printf(&all, " %s ", offered(text));
    buf_printf(&one, " %s ", word);
    bool found = strstr(all.data, one.data) != NULL;
    buf_free(&all);
    buf_free(&one);
    return found;
}

START_TEST(commands)
{
    offers(".lo|", ".load ");
    offers(".q|", ".quit");
    offers("  .mo|", ".mode ");
    offers(".mode j|", "json ");
    offers(".mode |", "hlo  json  npy ");
    offers(".mo n|", "npy "); /* abbreviation of .mode */
    offers(".help .l|", ".load");
    offers(".help l|", "load");
    offers(".doc dynamic-s|", "dynamic-slice");
    offers(".plot --|", "--png ");
    offers(".break mul|",
           "mulhi multiply"); /* not the form `mul`, which is no name of an instruction */
    offers(".break alphab|", "alphabet");
    offers(".plot alpha|", "alpha.1 alphabet");
    offers(".plot %alphab|", "alphabet");
    offers(".type dot(alpha.1, alpha.1), lhs_c|", "lhs_contracting_dims=");
    offers(".quit a|", "");
    offers(".nothing a|", "");
    ck_assert(has("|", ".doc") && has("|", "alpha.1"));
    ck_assert(!has("|", "add("));
}
END_TEST

START_TEST(ops_and_types)
{
    offers("x = dynamic-sl|", "dynamic-slice(");
    offers("x = dynamic-u|", "dynamic-update-slice(");
    offers("dynamic-sl|", "dynamic-slice(");
    offers("x = bf1|", "bf16[");
    offers("x = f32[2]{0} dynamic-sl|", "dynamic-slice(");
    offers("x = f32[2] bf1|", ""); /* there is a type already */
    offers("x = (f32[], s32[]) bf1|", "");
    offers("x = broadcast-in|", "broadcast-in-dim(");
    offers("x = f3|", "f32[");
    offers("x = f32[|", "");
    offers("// dynamic-sl|", "");
    offers("x = add(a, b) /* dynamic-sl|", "");
    offers("x = add(a, b) // sum\ny = dynamic-sl|", "dynamic-slice(");
    offers("ENT|", "ENTRY ");
    offers("Hlo|", "HloModule ");
}
END_TEST

START_TEST(operands)
{
    offers("add(al|", "all-gather( all-gather-done( all-gather-start( all-reduce( all-reduce-done( "
                      "all-reduce-start( "
                      "all-to-all( alpha.1 alphabet");
    offers("add(alpha.1, %alphab|", "alphabet");
    offers("add(%al|", "alpha.1 alphabet"); /* no ops */
    offers("%al|", "alpha.1 alphabet");
    offers("add(|", "alpha.1 alphabet region_0 ärger");
    offers("add(är|", "ärger");
    offers("add(f32[2] alpha.|, x)", "alpha.1");
    offers("gamma = add(alpha.1, alpha.1)\nsubtract(gam|", "gamma");
    offers("add(alpha.1, alpha.1)\nalphab|", "alphabet");
    offers("y = alphab|", "alphabet");
    offers("alpha.1 + alphab|", "alphabet");
    offers("y = 2 * (alphab|", "alphabet");
    offers("exp(alpha.1) - alphab|", "alphabet");
}
END_TEST

START_TEST(names_in_scope)
{
    offers("f {\n  gamma.1 = f32[] parameter(0)\n  ROOT r = add(gam|", "gamma.1");
    offers("f {\n  gamma.1 = f32[] parameter(0)\n  ROOT r = add(alph|",
           ""); /* not in this computation */
    offers("f {\n  RO|", "ROOT ");
    offers("ENTRY main (x: f32[2]) -> f32[2]{0} {\n  y = dynamic-sl|", "dynamic-slice(");
    offers("f {\n  ROOT x = f32[] parameter(0)\n}\nalphab|", "alphabet");
}
END_TEST

START_TEST(attributes)
{
    offers("dot(x, y), lhs_|", "lhs_batch_dims= lhs_contracting_dims=");
    offers("dot(x, y), lhs_batch_dims={}, lhs_|", "lhs_contracting_dims=");
    offers("z = f32[2,2] dot(x, y), rhs_c|", "rhs_contracting_dims=");
    offers("dot(x, y), shard|", "sharding=");
    offers("dot(x, y), operand_precision={hi|", "high highest");
    offers("dot(x, y), operand_precision={high,highe|", "highest");
    offers("compare(x, y), direction=G|", "GE GT");
    offers("compare(x, y), direction=GT, ty|", "type=");
    offers("reduce(x, y), dimensions={0}, to_apply=reg|", "region_0");
    offers("reduce(x, y), dimensions={0}, to_apply=%reg|", "region_0");
    offers("sort(x), dimensions={0}, is_stable=t|", "true");
    offers("dot(x, y),\n  lhs_c|", "lhs_contracting_dims="); /* continues after a comma */
    offers("add(dot(x, y), lhs_c|", "");
    offers("dot(x, y), metadata={op_name=\"lhs_c|", "");
    offers("conv(x, y), dim_la|", "dim_labels="); /* a form has the attributes of its op */
}
END_TEST

static void make_file(const char *directory, const char *name)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", directory, name);
    int fd = open(path.data, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
    buf_free(&path);
}

START_TEST(files)
{
    char directory[] = "/tmp/hlo-complete-XXXXXX";
    ck_assert(mkdtemp(directory) && chdir(directory) == 0 && mkdir("inner", 0700) == 0);
    make_file(directory, "first.hlo");
    make_file(directory, "first.npy");
    make_file(directory, ".hidden");
    make_file(directory, "inner/second.hlo");
    offers(".load fi|", "first.hlo  first.npy ");
    offers(".load in|", "inner/");
    offers(".load inner/|", "inner/second.hlo ");
    offers(".load ./inner/s|", "./inner/second.hlo ");
    offers(".load .h|", ".hidden ");
    offers(".load |", "first.hlo  first.npy  inner/");
    offers("x = f32[2] @first.n|", "first.npy ");
    offers(".plot x=@inn|", "inner/");
    offers(".load nowhere/|", "");
    setenv("HOME", directory, 1);
    offers(".load ~/inn|", "~/inner/");
    unlink("first.hlo");
    unlink("first.npy");
    unlink(".hidden");
    unlink("inner/second.hlo");
    rmdir("inner");
    rmdir(directory);
}
END_TEST

/* ---- history ---- */

static char file[64];

static void begin(void)
{
    strcpy(file, "/tmp/hlo-history-XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(file);
}

static void end(void) { unlink(file); }

static void add(struct history *h, const char *entry) { ck_assert(history_add(h, str_of(entry))); }

static void holds(const struct history *h, size_t count, const char *first, const char *last)
{
    ck_assert_uint_eq(h->count, count);
    ck_assert_str_eq(h->entries[0].data, first);
    ck_assert_str_eq(h->entries[count - 1].data, last);
}

START_TEST(history_is_saved)
{
    struct history h;
    history_open(&h, file);
    ck_assert_uint_eq(h.count, 0);
    add(&h, "x = add(a, b)");
    add(&h, "f {\n  \\ back\n}");
    add(&h, " not kept");
    add(&h, "   \n ");
    add(&h, "x = add(a, b)"); /* once, at its last position */
    holds(&h, 2, "f {\n  \\ back\n}", "x = add(a, b)");
    history_close(&h);
    struct stat st;
    ck_assert(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600);
    history_open(&h, file);
    holds(&h, 2, "f {\n  \\ back\n}", "x = add(a, b)");
    history_close(&h);
}
END_TEST

START_TEST(history_is_shared_by_sessions)
{
    struct history one, two, later;
    history_open(&one, file);
    history_open(&two, file);
    add(&one, "first of one");
    add(&two, "first of two");
    add(&one, "last of one");
    holds(&two, 1, "first of two", "first of two");
    history_open(&later, file);
    holds(&later, 3, "first of one", "last of one");
    history_close(&one);
    history_close(&two);
    history_close(&later);
}
END_TEST

START_TEST(history_size_is_limited)
{
    struct history h;
    char entry[32];
    history_open(&h, file);
    for (int i = 0; i < 3 * HISTORY_LIMIT; i++) {
        snprintf(entry, sizeof entry, "entry %d", i);
        add(&h, entry);
    }
    holds(&h, HISTORY_LIMIT, "entry 2000", "entry 2999");
    history_close(&h);
    struct stat before, after;
    stat(file, &before);
    history_open(&h, file); /* which shortens the file */
    holds(&h, HISTORY_LIMIT, "entry 2000", "entry 2999");
    history_close(&h);
    stat(file, &after);
    ck_assert_int_lt(after.st_size, before.st_size / 2);
    history_open(&h, file);
    holds(&h, HISTORY_LIMIT, "entry 2000", "entry 2999");
    history_close(&h);
}
END_TEST

START_TEST(malformed_history_files)
{
    struct history h;
    int fd = open(file, O_CREAT | O_WRONLY, 0644);
    ck_assert_int_eq((int)write(fd, "one\n\n  \ntwo\\nlines\nno end", 24), 24); /* "no en" */
    close(fd);
    history_open(&h, file);
    holds(&h, 3, "one", "no en");
    ck_assert_str_eq(h.entries[1].data, "two\nlines");
    add(&h, "next");
    history_close(&h);
    struct stat st;
    ck_assert(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600);
    history_open(&h, file);
    holds(&h, 4, "one", "next");
    history_close(&h);

    history_open(&h, "/dev/null");
    add(&h, "x");
    history_close(&h);
    history_open(&h, "/proc/nowhere/history");
    ck_assert(!history_add(&h, STR("x")));
    ck_assert_uint_eq(h.count, 1); /* kept in memory nevertheless */
    history_close(&h);
    history_open(&h, NULL);
    add(&h, "x");
    holds(&h, 1, "x", "x");
    history_close(&h);
}
END_TEST

START_TEST(history_creates_its_directories)
{
    struct history h;
    struct buf path = {0};
    buf_printf(&path, "%s/state/hlo/history", file);
    history_open(&h, path.data);
    add(&h, "x");
    history_close(&h);
    struct stat st;
    ck_assert(stat(path.data, &st) == 0);
    ck_assert(stat(file, &st) == 0 && (st.st_mode & 0777) == 0700);
    unlink(path.data);
    for (int i = 0; i < 3; i++) {
        *strrchr(path.data, '/') = '\0';
        rmdir(path.data);
    }
    buf_free(&path);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("complete");
    TCase *c = tcase_create("complete");
    tcase_add_test(c, commands);
    tcase_add_test(c, ops_and_types);
    tcase_add_test(c, operands);
    tcase_add_test(c, names_in_scope);
    tcase_add_test(c, attributes);
    tcase_add_test(c, files);
    suite_add_tcase(s, c);
    c = tcase_create("history");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_test(c, history_is_saved);
    tcase_add_test(c, history_is_shared_by_sessions);
    tcase_add_test(c, history_size_is_limited);
    tcase_add_test(c, malformed_history_files);
    tcase_add_test(c, history_creates_its_directories);
    suite_add_tcase(s, c);
    return check_run(s);
}
