/*
 * Round trips through protocol buffers: every module of the golden tests is written in wire and in
 * text format and read back, with equal text: apart from some attributes of the header, a message
 * has all that HLO text has.
 */
#include "hlo_advanced.h"

#include "base/base.h"

#include "check_quiet.h"
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

static char wire[64], text[64], again[64]; /* temporary files */
static size_t modules, files, differences;

static bool parses(const char *path, hlo_file **f, hlo_module **m)
{
    hlo_messages *messages = hlo_messages_new();
    *f = hlo_file_open(path, false, messages);
    *m = *f ? hlo_parse(*f, 0, messages) : NULL;
    const bool ok = *m != NULL;
    hlo_messages_free(messages);
    return ok;
}

static struct buf contents(const char *path)
{
    struct file_bytes bytes;
    struct buf out = {0};
    ck_assert_msg(file_read(path, &bytes), "cannot read %s", path);
    buf_bytes(&out, bytes.data, bytes.size);
    file_release(&bytes);
    return out;
}

static void check_equal(const char *name, struct buf a, struct buf b)
{
    if (a.size != b.size || (a.size > 0 && memcmp(a.data, b.data, a.size) != 0)) {
        printf("# %s differs\n", name);
        differences++;
    }
    buf_free(&a);
    buf_free(&b);
}

static struct buf printed(const hlo_module *m)
{
    hlo_text t = hlo_print(m, HLO_PRINT_EXACT);
    struct buf out = {0};
    buf_bytes(&out, t.data, t.size);
    hlo_text_free(&t);
    return out;
}

/* Whether the module has what the message does not have: attributes of the header, elided values in
 * tuples, channel 0. */
static bool loses(const hlo_module *m)
{
    struct buf t = printed(m);
    const char *end = t.size ? memchr(t.data, '\n', t.size) : NULL;
    const size_t n = end ? (size_t)(end - t.data) : t.size;
    const bool found = memmem(t.data, n, ", allow_spmd_", 13) ||
                       memmem(t.data, n, ", alias_passthrough_params", 26) ||
                       memmem(t.data, n, ", debug_attributes", 18) ||
                       memmem(t.data, t.size, "( {...}", 7) ||
                       memmem(t.data, t.size, ", channel_id=0", 14);
    buf_free(&t);
    return found;
}

/* The module written, read and written is that of the file, in either format. */
static void check_module(const char *name, hlo_module *m)
{
    hlo_messages *messages = hlo_messages_new();
    hlo_file *f;
    hlo_module *back;
    hlo_set_participants(m, 1, 1);
    if (hlo_write_module(wire, m, HLO_FORMAT_PROTO, false, messages) && !loses(m)) {
        ck_assert_msg(hlo_write_module(text, m, HLO_FORMAT_PROTO_TEXT, true, messages), "%s", name);
        ck_assert_msg(parses(wire, &f, &back), "%s is not read back", name);
        check_equal(name, printed(m), printed(back));
        hlo_module_free(back);
        hlo_file_free(f);
        ck_assert_msg(parses(text, &f, &back), "%s is not read back from text format", name);
        ck_assert(hlo_write_module(again, back, HLO_FORMAT_PROTO, false, messages));
        check_equal(name, contents(wire), contents(again));
        hlo_module_free(back);
        hlo_file_free(f);
        modules++;
    }
    hlo_messages_free(messages);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)where;
    const size_t n = strlen(path);
    if (type != FTW_F || n < 4 || strcmp(path + n - 4, ".hlo") != 0 || strstr(path, "/fuzz/"))
        return 0;
    hlo_messages *messages = hlo_messages_new();
    hlo_file *f = hlo_file_open(path, false, messages);
    for (size_t part = 0; f && part < hlo_file_count(f); part++) {
        hlo_module *m = hlo_parse(f, part, messages);
        if (m && hlo_verify(m, messages))
            check_module(path, m);
        hlo_module_free(m);
    }
    files++;
    hlo_file_free(f);
    hlo_messages_free(messages);
    return 0;
}

static void make_temporary(char *path, const char *suffix)
{
    snprintf(path, sizeof wire, "/tmp/hlo-proto-XXXXXX%s", suffix);
    const int fd = mkstemps(path, (int)strlen(suffix));
    ck_assert_int_ge(fd, 0);
    close(fd);
}

START_TEST(golden_modules)
{
    const char *testdata = getenv("TESTDATA");
    make_temporary(wire, ".pb");
    make_temporary(text, ".pbtxt.gz");
    make_temporary(again, ".pb");
    nftw(testdata ? testdata : "testdata", visit, 8, FTW_PHYS);
    unlink(wire);
    unlink(text);
    unlink(again);
    ck_assert_msg(modules > 1000, "%zu modules in %zu files", modules, files);
    ck_assert_uint_eq(differences, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("proto_write");
    TCase *c = tcase_create("round trips");
    tcase_set_timeout(c, 600);
    tcase_add_test(c, golden_modules);
    suite_add_tcase(s, c);
    return check_run(s);
}
