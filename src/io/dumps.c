/*
 * dumps.c: input that is not plain HLO text: directories of XLA dumps, and other program formats,
 * which are detected to tell users how to obtain text.
 *
 * A dump is named module_0023.NAME.PHASE.txt; PHASE is before_optimizations,
 * cpu_after_optimizations or NNNN.PIPELINE.after_PASS.before_PASS, whose number is the position in
 * the order of passes.
 */
#include "base/oom.h"
#include "io/io.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- names ---- */

static bool contains(struct str s, struct str word)
{
    return word.len == 0 || (s.len > 0 && memmem(s.ptr, s.len, word.ptr, word.len));
}

/* Other .txt files of a dump, which are not modules. */
static const struct report {
    const char *end, *what;
} reports[] = {
    {"-buffer-assignment.txt", "an XLA buffer assignment"},
    {"-buffer-assignment-values.txt", "an XLA buffer assignment"},
    {"-live-range.txt", "XLA live ranges"},
    {"-memory-usage-report.txt", "an XLA memory usage report"},
    {".config.pbtxt", "a module configuration"},
    {".debug_options", "XLA debug options"},
    {".thunk_sequence.txt", "an XLA thunk sequence"},
    {"_metadata.textproto", "an XLA pass report"},
};

static const char *report_of(struct str file)
{
    for (size_t k = 0; k < COUNT_OF(reports); k++)
        if (str_ends(file, str_of(reports[k].end)))
            return reports[k].what;
    return NULL;
}

static const char *const ends[] = {".txt", ".hlo", ".hlo.pb"};

/* Removes the ending of a file that may be a module; false if it has another one. */
static bool strip_extension(struct str *file)
{
    if (str_ends(*file, STR(".gz")))
        file->len -= 3;
    if (report_of(*file))
        return false;
    for (size_t k = 0; k < COUNT_OF(ends); k++)
        if (str_ends(*file, str_of(ends[k]))) {
            file->len -= strlen(ends[k]);
            return true;
        }
    return false;
}

static bool is_proto_name(struct str file) { return contains(file, STR(".hlo.pb")); }

bool io_dump_of_name(struct str file, struct io_dump *out)
{
    struct str rest = file;
    if (!strip_extension(&rest) || !str_starts(rest, STR("module_")))
        return false;
    rest = str_skip(rest, strlen("module_"));
    const struct str number = str_cut(&rest, '.');
    *out = (struct io_dump){.file = file, .name = str_cut(&rest, '.')};
    out->phase = rest;
    return num_parse_i64(number, &out->number) && out->name.len > 0;
}

void io_dumps_add(struct io_dumps *d, const struct io_dump *dump)
{
    VEC_PUSH(d->a, d->at, d->count, d->capacity) = *dump;
}

/* ---- order ---- */

/* 0: before all passes; 1: after one of them; 2: after all. */
static int phase_order(struct str phase)
{
    return str_ends(phase, STR("before_optimizations"))  ? 0
           : str_ends(phase, STR("after_optimizations")) ? 2
                                                         : 1;
}

static int compare_passes(const void *x, const void *y)
{
    const struct io_dump *a = x, *b = y;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    int order = str_cmp(a->name, b->name);
    if (order == 0)
        order = phase_order(a->phase) - phase_order(b->phase);
    return order ? order : str_cmp(a->file, b->file);
}

static bool same_dump(const struct io_dump *a, const struct io_dump *b)
{
    return a->number == b->number && str_eq(a->name, b->name) && str_eq(a->phase, b->phase);
}

/* Sorts the dumps. Of the same dump as text and as a protocol buffer, which are adjacent then, the
 * text is kept, which has attributes that the other lacks. */
static void sort_dumps(struct io_dumps *d)
{
    size_t kept = 0;
    if (d->count > 1)
        qsort(d->at, d->count, sizeof *d->at, compare_passes);
    for (size_t k = 0; k < d->count; k++) {
        struct io_dump *last = kept > 0 ? &d->at[kept - 1] : NULL;
        if (!last || !same_dump(last, &d->at[k]) ||
            is_proto_name(last->file) == is_proto_name(d->at[k].file))
            d->at[kept++] = d->at[k];
        else if (is_proto_name(last->file))
            *last = d->at[k];
    }
    d->count = kept;
}

/* ---- directories and patterns ---- */

static struct str base_name(struct str path)
{
    const char *slash = str_last(path, '/');
    return slash ? str_skip(path, (size_t)(slash - path.ptr) + 1) : path;
}

/* Adds a file named like a dump; if `plain`, any other file that may be a module. */
static void add_file(struct io_dumps *d, struct str path, bool plain)
{
    struct io_dump dump;
    const struct str file = base_name(path);
    struct str name = file;
    if (plain && strip_extension(&name))
        dump = (struct io_dump){.file = file, .name = name, .number = (int64_t)d->count + 1};
    else if (plain || !io_dump_of_name(file, &dump))
        return;
    dump.path = path;
    io_dumps_add(d, &dump);
}

static void add_files(struct io_dumps *d, const struct str *paths, size_t count)
{
    for (size_t k = 0; k < count; k++)
        add_file(d, paths[k], false);
    const bool plain = d->count == 0;
    for (size_t k = 0; k < count && plain; k++)
        add_file(d, paths[k], true);
    sort_dumps(d);
}

static bool list_directory(struct arena *a, const char *path, struct str **out, size_t *count)
{
    const char **names;
    if (!directory_names(a, path, &names, count))
        return false;
    const size_t len = strlen(path);
    *out = ARENA_ARRAY(a, struct str, *count + 1);
    for (size_t k = 0; k < *count; k++)
        (*out)[k] =
            arena_printf(a, "%s%s%s", path, len && path[len - 1] == '/' ? "" : "/", names[k]);
    return true;
}

/* Whether no file has this name, but files may match it as a pattern. */
static bool is_pattern(const char *path) { return strpbrk(path, "*?[") && access(path, F_OK) != 0; }

bool io_dumps_many(const char *path) { return file_is_directory(path) || is_pattern(path); }

static void free_glob(void *g) { globfree(g); }

static bool list_pattern(struct arena *a, const char *pattern, struct str **out, size_t *count)
{
    glob_t g = {0};
    struct cleanup freeing;
    const int status = glob(pattern, 0, NULL, &g);
    oom_push_cleanup(&freeing, free_glob, &g);
    *count = status == 0 ? g.gl_pathc : 0;
    *out = ARENA_ARRAY(a, struct str, *count + 1);
    for (size_t k = 0; k < *count; k++)
        (*out)[k] = arena_str(a, str_of(g.gl_pathv[k]));
    oom_pop_cleanup(&freeing);
    globfree(&g);
    errno = status == GLOB_NOSPACE ? ENOMEM : ENOENT;
    return *count > 0;
}

bool io_dumps_read(struct diags *ds, struct io_dumps *d, const char *path)
{
    struct str *files;
    size_t count;
    const bool ok = is_pattern(path) ? list_pattern(d->a, path, &files, &count)
                                     : list_directory(d->a, path, &files, &count);
    if (!ok)
        return DIAG_ERROR(ds, NO_SPAN, FILE_NOT_READ, strerror(errno));
    add_files(d, files, count);
    d->place = "directory contains ";
    if (d->count > 0)
        return true;
    return DIAG_ERROR(ds, NO_SPAN, DUMP_MISSING, STR_ARG(str_of(d->place)),
                      STR_ARG(STR("no module dumps, such as "
                                  "module_0001.NAME.before_optimizations.txt")));
}

/* ---- selection ---- */

/* A list for messages: "1 jit_f, 23 jit_step", or with `files` the file names. */
static struct str list_dumps(const struct io_dumps *d, size_t count, bool files)
{
    enum { MOST = 12 };
    SCOPED_BUF b = {0};
    size_t shown = 0;
    for (size_t k = 0; k < count; k++) {
        const struct io_dump *dump = &d->at[k];
        if (!files && k > 0 && dump->number == dump[-1].number && str_eq(dump->name, dump[-1].name))
            continue;
        if (shown++ >= MOST)
            continue;
        buf_puts(&b, shown > 1 ? ", " : "");
        if (files)
            buf_str(&b, dump->file);
        else
            buf_printf(&b, "%" PRId64 "%s" STR_FMT, dump->number, dump->name.len ? " " : "",
                       STR_ARG(dump->name));
    }
    if (shown > MOST)
        buf_printf(&b, " and %zu more", shown - MOST);
    return arena_str(d->a, buf_view(&b));
}

/* Ways to name a module, in order of precedence. */
enum naming { NUMBER, NAME, PART_OF_NAME, PART_OF_FILE, NAMINGS };

static bool is_named(const struct io_dump *dump, struct str word, enum naming how)
{
    int64_t number;
    const bool numeric = num_parse_i64(word, &number);
    switch (how) {
    case NUMBER: return numeric && dump->number == number;
    case NAME: return str_eq(dump->name, word);
    case PART_OF_NAME: return !numeric && contains(dump->name, word);
    default: return (!numeric || str_starts(word, STR("00"))) && contains(dump->file, word);
    }
}

/* Moves the dumps that `fits` to the front; returns their number. */
static size_t select_matching(struct io_dumps *d, struct str word, enum naming how)
{
    size_t n = 0;
    for (size_t k = 0; k < d->count; k++)
        if (is_named(&d->at[k], word, how))
            d->at[n++] = d->at[k];
    return n;
}

static bool is_single_module(const struct io_dumps *d)
{
    for (size_t k = 1; k < d->count; k++)
        if (d->at[k].number != d->at[0].number || !str_eq(d->at[k].name, d->at[0].name))
            return false;
    return true;
}

bool io_dumps_select(struct diags *ds, struct io_dumps *d, struct str module)
{
    const struct str all = list_dumps(d, d->count, false);
    size_t n = module.len == 0 ? d->count : 0;
    for (enum naming how = NUMBER; how < NAMINGS && n == 0; how++)
        n = select_matching(d, module, how);
    if (n == 0) {
        const struct str what =
            arena_printf(d->a, "no module '" STR_FMT "'; %s", STR_ARG(module), d->place);
        return DIAG_ERROR(ds, NO_SPAN, DUMP_MISSING, STR_ARG(what), STR_ARG(all));
    }
    d->count = n;
    if (is_single_module(d))
        return true;
    const struct str choice = arena_printf(d->a, "--module=%" PRId64, d->at[n - 1].number);
    return DIAG_ERROR(ds, NO_SPAN, DUMP_CHOICE, STR_ARG(list_dumps(d, n, false)), choice.ptr);
}

/* Moves the dumps of a phase to the front: by default that before optimizations. */
static size_t select_phase(struct io_dumps *d, struct str word)
{
    const int usual = word.len == 0 || str_is(word, "before") ? 0 : str_is(word, "after") ? 2 : -1;
    size_t n = 0;
    for (size_t k = 0; k < d->count; k++)
        if (usual >= 0 ? phase_order(d->at[k].phase) == usual : contains(d->at[k].phase, word))
            d->at[n++] = d->at[k];
    return n;
}

const struct io_dump *io_dumps_pick(struct diags *ds, struct io_dumps *d, const char *pick)
{
    struct str word = pick ? str_of(pick) : STR("");
    const struct str module = str_cut(&word, ':');
    if (!io_dumps_select(ds, d, module))
        return NULL;
    if (d->count == 1 && word.len == 0)
        return d->at;
    const struct str files = list_dumps(d, d->count, true);
    const size_t n = select_phase(d, word);
    if (n > 1)
        DIAG(ds, NO_SPAN, DUMP_CHOICE, STR_ARG(list_dumps(d, n, true)),
             "--module=NAME or --module=23:after_algsimp");
    else if (n == 0)
        DIAG(ds, NO_SPAN, DUMP_CHOICE, STR_ARG(files), "--module=23:after");
    return n == 1 ? d->at : NULL;
}

/* ---- other program formats ---- */

#define AS_HLO "jax.jit(f).lower(x).as_text('hlo') returns HLO text"
#define DUMP_TEXT "set XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' to dump text"

static bool starts_with(struct str s, const char *word) { return str_starts(s, str_of(word)); }

/* The text from its first word on, after blanks and line comments. */
static struct str first_word(struct str s)
{
    for (s = str_trim(s); starts_with(s, "//"); s = str_trim(s))
        str_cut(&s, '\n');
    return s;
}

static bool is_mlir(struct str s)
{
    enum { LOOK = 1 << 16 };
    struct str head = {s.ptr, s.len < LOOK ? s.len : LOOK};
    if (starts_with(s, "#loc") || starts_with(s, "func.func") ||
        starts_with(s, "\"builtin.module\""))
        return true;
    return starts_with(s, "module ") &&
           (contains(head, STR("func.func")) || contains(head, STR("stablehlo.")) ||
            contains(head, STR("mhlo.")));
}

/* Whether it is a protobuf message whose first field is number 1, a message or a string. Text does
 * not contain such bytes. */
static bool is_proto(struct str s)
{
    size_t odd = 0;
    for (size_t k = 0; k < s.len && k < 64; k++)
        odd += (unsigned char)s.ptr[k] < 9;
    return s.len > 2 && (s.ptr[0] == 0x0a || s.ptr[0] == 0x08) && odd > 0;
}

const char *io_not_hlo(const char *path, struct str text, const char **advice)
{
    struct str s = first_word(text), name = str_of(path);
    const char *report =
        report_of(str_ends(name, STR(".gz")) ? (struct str){name.ptr, name.len - 3} : name);
    *advice = AS_HLO;
    if (is_mlir(s))
        return "MLIR text (StableHLO)";
    if (starts_with(text, "ML\xefR"))
        return "MLIR bytecode (StableHLO)";
    *advice = "'hlo import' converts it";
    if (str_ends(name, STR(".onnx")))
        return "an ONNX model";
    *advice = DUMP_TEXT;
    if (is_proto(text))
        return "a protocol buffer that has no module or is truncated";
    if (starts_with(s, "; ModuleID"))
        return "LLVM IR";
    *advice = "read the file that ends in before_optimizations.txt or after_optimizations.txt";
    return starts_with(s, "HloModule") ? NULL : report;
}
