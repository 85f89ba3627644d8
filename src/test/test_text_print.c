/*
 * Tests of attribute values and the printer that golden tests cannot express: options; forms
 * accepted by default only; and that the canonical form of a sharding assigns the same devices.
 */
#include "text/text.h"

#include "check_quiet.h"
#include <stdlib.h>

static struct module *parse(const char *text, bool strict)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("test"), str_of(text));
    diags_init(&ds, &source);
    struct module *m = text_parse_module(&ds, &source, &(struct parse_options){.strict = strict});
    diags_free(&ds);
    source_free(&source);
    return m;
}

static struct buf print(const struct module *m, const struct print_options *options)
{
    struct buf out = {0};
    text_print_module(&out, m, options);
    return out;
}

/* ---- options ---- */

static const char sample[] =
    "HloModule m\n"
    "ENTRY e {\n"
    "  p = f32[2,2]{0,1} parameter(0), metadata={op_name=\"n\"}, sharding={replicated "
    "metadata={op_name=\"s\"}}\n"
    "  c = s32[12] constant({1,2,3,4,5,6,7,8,9,10,11,12})\n"
    "  a = f32[2,2]{0,1} add(p, p), backend_config=\"b\"\n"
    "  ROOT t = (f32[2,2]{0,1}, s32[12]) tuple(a, c), control-predecessors={p}\n"
    "}\n";

static void check_option(struct print_options options, const char *present, const char *absent)
{
    struct module *m = parse(sample, true);
    ck_assert_ptr_nonnull(m);
    struct buf plain = print(m, NULL), with = print(m, &options);
    ck_assert_msg(!present || strstr(with.data, present), "'%s' is not in\n%s", present, with.data);
    ck_assert_msg(!absent || !strstr(with.data, absent), "'%s' is in\n%s", absent, with.data);
    ck_assert_msg(!present || !strstr(plain.data, present), "'%s' is present without the option",
                  present);
    ck_assert_msg(!absent || strstr(plain.data, absent), "'%s' is always absent", absent);
    buf_free(&plain);
    buf_free(&with);
    module_free(m);
}

START_TEST(print_options)
{
    check_option((struct print_options){.large_constants = true}, "constant({1, 2, 3", "{...}");
    check_option((struct print_options){.no_metadata = true}, "sharding={replicated}", "op_name");
    check_option((struct print_options){.no_backend_config = true}, NULL, "backend_config");
    check_option((struct print_options){.operand_shapes = true}, "add(f32[2,2]{0,1} %p, ",
                 "add(%p");
    check_option((struct print_options){.no_percent = true}, "  a = ", "%");
    check_option((struct print_options){.no_program_shape = true}, "ENTRY %e {", "ENTRY %e (");
    check_option((struct print_options){.no_result_shape = true}, "%a = add(", "%a = f32");
    check_option((struct print_options){.no_layouts = true}, "%a = f32[2,2] add(",
                 "%a = f32[2,2]{0,1}");
    check_option((struct print_options){.no_control_dependencies = true}, NULL,
                 "control-predecessors");
    check_option((struct print_options){.short_form = true}, "  a = f32[2,2]{0,1} add(p, p)",
                 "metadata");
}
END_TEST

/* ---- both modes ---- */

static bool accepts(const char *attribute, bool strict)
{
    struct buf text = {0};
    buf_printf(&text,
               "HloModule m\nENTRY e {\n p = f32[4] parameter(0)\n ROOT r = f32[8] all-gather(p), "
               "dimensions={0}, %s\n}\n",
               attribute);
    struct module *m = parse(text.data, strict);
    if (m)
        module_free(m);
    buf_free(&text);
    return m != NULL;
}

START_TEST(default_mode_accepts_more)
{
    static const char *const lenient[] = {
        "sharding={mesh['a'=2], unreduced=sum}",
        "sharding={mesh['a'=2,'b'=2], [], unreduced=max{'a'}}",
        "sharding={mesh['a'=2], [{'a'},]}",
        "sharding={replicated, shard_as 1}",
        "replica_groups=mesh['a'=1,'b'=4] {'a'}",
        "replica_groups={{0,1},{2,3},}",
        "metadata={op_name=\"x\",}",
        "frontend_attributes={a=\"1\",}",
        "control-predecessors={p,}",
    };
    for (size_t i = 0; i < COUNT_OF(lenient); i++) {
        ck_assert_msg(accepts(lenient[i], false), "%s is rejected", lenient[i]);
        ck_assert_msg(!accepts(lenient[i], true), "%s is accepted by --strict", lenient[i]);
    }
    /* XLA's parser accepts it, but aborts later */
    ck_assert(!accepts("replica_groups=[2,2]<=[8]", true));
    ck_assert(!accepts("replica_groups=[2,2]<=[8]", false));
}
END_TEST

START_TEST(unreduced_sharding_is_printed)
{
    struct module *m = parse("HloModule m\nENTRY e {\n ROOT p = f32[4] parameter(0), "
                             "sharding={mesh['a'=2,'b'=2], [{'b'}], unreduced=max{'a'}}\n}\n",
                             false);
    ck_assert_ptr_nonnull(m);
    struct buf out = print(m, NULL);
    ck_assert_ptr_nonnull(
        strstr(out.data, "sharding={mesh['a'=2,'b'=2], [{'b'}], unreduced=max{'a'}}"));
    buf_free(&out);
    module_free(m);
}
END_TEST

/* ---- canonical shardings assign the same devices ---- */

enum { MAX_DIMS = 6, MAX_DEVICES = 72 };

static uint64_t state;
static int pick(int n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

/* A tiling as written, and its list of devices. */
struct tiling {
    int count, types;
    int64_t tile[MAX_DIMS];
    int64_t devices[MAX_DEVICES], total;
    struct buf text;
};

static void share_out(int64_t n, int count, int64_t *dims)
{
    for (int i = 0; i < count; i++)
        dims[i] = 1;
    for (int64_t p = 2; n > 1; p++)
        for (; n % p == 0; n /= p)
            dims[pick(count)] *= p;
}

static void print_dims(struct buf *out, const char *open, int count, const int64_t *dims,
                       const char *close)
{
    buf_puts(out, open);
    for (int i = 0; i < count; i++) {
        buf_puts(out, i ? "," : "");
        buf_int(out, dims[i]);
    }
    buf_puts(out, close);
}

/* The numbers of an iota over `dims`, transposed. */
static void write_out(int rank, const int64_t *dims, const int64_t *perm, int64_t total,
                      int64_t *devices)
{
    int64_t index[MAX_DIMS] = {0}, sizes[MAX_DIMS];
    for (int i = 0; i < rank; i++)
        sizes[i] = dims[perm[i]];
    for (int64_t k = 0; k < total; k++) {
        int64_t at[MAX_DIMS], number = 0;
        for (int i = 0; i < rank; i++)
            at[perm[i]] = index[i];
        for (int i = 0; i < rank; i++)
            number = number * dims[i] + at[i];
        devices[k] = number;
        index_next(rank, sizes, index);
    }
}

static void make_tiling(struct tiling *t)
{
    static const int totals[] = {2, 4, 6, 8, 12, 16, 24, 36, 72};
    static const char *const words[] = {"manual", "replicated", "unreduced"};
    int64_t dims[MAX_DIMS], perm[MAX_DIMS];
    int rank = 1 + pick(4);
    *t = (struct tiling){.count = 1 + pick(5), .total = totals[pick(COUNT_OF(totals))]};
    share_out(t->total, t->count, t->tile);
    share_out(t->total, rank, dims);
    for (int i = 0; i < rank; i++) {
        int k = pick(i + 1);
        perm[i] = perm[k];
        perm[k] = i;
    }
    write_out(rank, dims, perm, t->total, t->devices);
    print_dims(&t->text, "{devices=[", t->count, t->tile, "]");
    if (pick(4)) {
        print_dims(&t->text, "<=[", rank, dims, "]");
        if (rank > 1)
            print_dims(&t->text, "T(", rank, perm, ")");
    } else {
        print_dims(&t->text, "", (int)t->total, t->devices, "");
    }
    t->types = pick(t->count + 1);
    buf_puts(&t->text, " last_tile_dims={");
    for (int i = 0; i < t->types; i++)
        buf_printf(&t->text, i ? ",%s" : "%s", words[pick(3)]);
    buf_puts(&t->text, "}}");
}

static int i64_cmp(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Sorts the devices of each data tile, of which there are `tiles`. */
static void sort_tiles(int64_t *devices, int64_t total, int64_t tiles)
{
    for (int64_t i = 0; i < tiles; i++)
        qsort(devices + i * (total / tiles), (size_t)(total / tiles), sizeof *devices, i64_cmp);
}

static int64_t product(const int64_t *dims, int64_t count)
{
    int64_t n = 1;
    for (int64_t i = 0; i < count; i++)
        n *= dims[i];
    return n;
}

static void check_same_places(const struct tiling *t, const struct sharding *s)
{
    int64_t tiles = product(t->tile, t->count - t->types), expected[MAX_DEVICES],
            found[MAX_DEVICES];
    if (s->kind != SHARDING_TILED) { /* one keyword: every device has all of it */
        ck_assert_int_eq(tiles, 1);
        return;
    }
    int subgroups = s->last_type_count + s->last_tile_dim_replicate;
    ck_assert_int_eq(product(s->tile.at, s->tile.count - subgroups), tiles);
    ck_assert_int_eq(product(s->tile.at, s->tile.count), t->total);
    if (s->explicit_devices)
        memcpy(found, s->devices.at, (size_t)t->total * sizeof *found);
    else
        write_out((int)s->order.reshape.count, s->order.reshape.at, s->order.transpose.at, t->total,
                  found);
    memcpy(expected, t->devices, sizeof expected);
    sort_tiles(expected, t->total, tiles);
    sort_tiles(found, t->total, tiles);
    ck_assert_msg(memcmp(found, expected, (size_t)t->total * sizeof *found) == 0, "%s",
                  t->text.data);
}

/* Prints and parses a module. */
static struct module *reread(const struct module *m, struct buf *text)
{
    *text = print(m, NULL);
    struct module *again = parse(text->data, true);
    ck_assert_msg(again != NULL, "%s is rejected", text->data);
    return again;
}

/* A second print may still find a shorter keyword, as in XLA; after that it is a fixed point. */
START_TEST(canonical_shardings_keep_their_devices)
{
    state = 42;
    for (int n = 0; n < 3000; n++) {
        struct tiling t;
        make_tiling(&t);
        struct buf texts[4] = {0};
        struct module *m[4];
        buf_printf(&texts[0],
                   "HloModule m\nENTRY e {\n ROOT p = f32[] parameter(0), sharding=%s\n}\n",
                   t.text.data);
        m[0] = parse(texts[0].data, true);
        ck_assert_msg(m[0] != NULL, "%s is rejected", t.text.data);
        for (int k = 1; k < 4; k++)
            m[k] = reread(m[k - 1], &texts[k]);
        for (int k = 0; k < 2; k++)
            check_same_places(&t, inst_attr(m[k]->entry->root, A_SHARDING)->v.sharding);
        ck_assert_str_eq(texts[2].data, texts[3].data);
        for (int k = 0; k < 4; k++) {
            buf_free(&texts[k]);
            module_free(m[k]);
        }
        buf_free(&t.text);
    }
}
END_TEST

/* ---- highlighting ---- */

/* Text without escape sequences, all of which end on their line. */
static void check_highlighted(struct str text)
{
    struct buf out = {0}, plain = {0};
    bool colored = false;
    text_highlight(&out, text, STR(""));
    for (size_t k = 0; k < out.size; k++) {
        ck_assert(!colored || out.data[k] != '\n');
        if (out.data[k] != '\033') {
            buf_putc(&plain, out.data[k]);
            continue;
        }
        colored = out.data[k + 2] != '0';
        while (out.data[k] != 'm')
            k++;
    }
    ck_assert(!colored && str_eq(buf_view(&plain), text));
    buf_free(&out);
    buf_free(&plain);
}

/* Any text is highlighted, and nothing is lost: beginnings of a module, and what is no HLO. */
START_TEST(highlighting_keeps_the_text)
{
    static const char odd[] = "a\0b @ ' \"open\n /* f32[ f32[2]{ \xff\xc3 $ -> // end";
    for (size_t n = 0; n < sizeof sample; n++)
        check_highlighted((struct str){sample, n});
    for (size_t n = 0; n < sizeof odd; n++)
        for (size_t from = 0; from <= n; from++)
            check_highlighted((struct str){odd + from, n - from});
}
END_TEST

int main(void)
{
    Suite *s = suite_create("text_print");
    TCase *c = tcase_create("text_print");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, print_options);
    tcase_add_test(c, default_mode_accepts_more);
    tcase_add_test(c, unreduced_sharding_is_printed);
    tcase_add_test(c, canonical_shardings_keep_their_devices);
    tcase_add_test(c, highlighting_keeps_the_text);
    suite_add_tcase(s, c);
    return check_run(s);
}
