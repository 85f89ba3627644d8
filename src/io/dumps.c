/*
 * dumps.c: input that is not plain HLO text: directories of XLA dumps, compressed text, and other
 * program formats, which are detected to tell users how to obtain text.
 *
 * A dump is named module_0023.NAME.PHASE.txt; PHASE is before_optimizations,
 * cpu_after_optimizations or a pass.
 */
#include "io/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

/* ---- directories ---- */

struct dump {
    struct str file, name, phase;
    int64_t number;
};
struct dumps {
    struct arena *a;
    struct dump *at;
    size_t count, capacity;
};

static bool contains(struct str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.len; i++)
        if (memcmp(s.ptr + i, word, n) == 0)
            return true;
    return false;
}

static struct str before(struct str s, char mark) /* the whole string if there is no mark */
{
    const char *p = s.len ? memchr(s.ptr, mark, s.len) : NULL;
    return p ? (struct str){s.ptr, (size_t)(p - s.ptr)} : s;
}

static struct str after(struct str s, size_t n)
{
    return n < s.len ? (struct str){s.ptr + n, s.len - n} : (struct str){s.ptr, 0};
}

/* Other .txt files of a dump, which are not modules. */
static const struct report {
    const char *end, *what;
} reports[] = {
    {"-buffer-assignment.txt", "an XLA buffer assignment"},
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

static void note_dump(struct dumps *d, const char *file)
{
    struct str s = str_of(file), rest = s;
    struct dump dump = {.file = s};
    if (str_ends(rest, STR(".gz")))
        rest.len -= 3;
    static const char *const ends[] = {".txt", ".hlo", ".hlo.pb"};
    size_t end = 0;
    while (end < COUNT_OF(ends) && !str_ends(rest, str_of(ends[end])))
        end++;
    if (report_of(rest) || !str_starts(rest, STR("module_")) || end == COUNT_OF(ends))
        return;
    rest = after((struct str){rest.ptr, rest.len - strlen(ends[end])}, strlen("module_"));
    struct str number = before(rest, '.');
    rest = after(rest, number.len + 1);
    dump.name = before(rest, '.');
    dump.phase = after(rest, dump.name.len + 1);
    if (num_parse_i64(number, &dump.number) && dump.name.len > 0)
        VEC_PUSH(d->a, d->at, d->count, d->capacity) = dump;
}

static int by_file(const void *a, const void *b)
{
    return str_cmp(((const struct dump *)a)->file, ((const struct dump *)b)->file);
}

/* Whether another file has the same dump as text, which has attributes that protocol buffers lack.
 */
static bool is_repeated(const struct dumps *d, size_t k)
{
    const struct dump *dump = &d->at[k];
    if (!contains(dump->file, ".hlo.pb"))
        return false;
    for (size_t i = 0; i < d->count; i++)
        if (i != k && d->at[i].number == dump->number && str_eq(d->at[i].name, dump->name) &&
            str_eq(d->at[i].phase, dump->phase) && !contains(d->at[i].file, ".hlo.pb"))
            return true;
    return false;
}

static void drop_repeated(struct dumps *d)
{
    bool *repeated = ARENA_ARRAY(d->a, bool, d->count);
    size_t kept = 0;
    for (size_t k = 0; k < d->count; k++)
        repeated[k] = is_repeated(d, k);
    for (size_t k = 0; k < d->count; k++)
        if (!repeated[k])
            d->at[kept++] = d->at[k];
    d->count = kept;
}

static bool read_directory(struct dumps *d, const char *directory)
{
    const char **files;
    size_t count;
    if (!directory_names(d->a, directory, &files, &count))
        return false;
    for (size_t k = 0; k < count; k++)
        note_dump(d, files[k]);
    drop_repeated(d);
    if (d->count > 1)
        qsort(d->at, d->count, sizeof *d->at, by_file);
    return true;
}

/* A list for messages: "1 jit_f, 23 jit_step", or with `files` the file names. */
static struct str list_dumps(struct dumps *d, const struct dump *of, size_t count, bool files)
{
    enum { MOST = 12 };
    struct buf b = {0};
    size_t shown = 0;
    for (size_t k = 0; k < count; k++) {
        if (!files && k > 0 && of[k].number == of[k - 1].number &&
            str_eq(of[k].name, of[k - 1].name))
            continue;
        if (shown++ >= MOST)
            continue;
        buf_puts(&b, shown > 1 ? ", " : "");
        if (files)
            buf_str(&b, of[k].file);
        else
            buf_printf(&b, "%" PRId64 " " STR_FMT, of[k].number, STR_ARG(of[k].name));
    }
    if (shown > MOST)
        buf_printf(&b, " and %zu more", shown - MOST);
    struct str s = arena_str(d->a, buf_view(&b));
    buf_free(&b);
    return s.len ? s : STR("no module dumps, such as module_0001.NAME.before_optimizations.txt");
}

/* Moves the dumps of one module, given by number or name, to the front; returns their number. */
static size_t of_module(struct dumps *d, struct str which)
{
    int64_t number;
    bool numbered = num_parse_i64(which, &number);
    size_t n = 0;
    for (size_t k = 0; k < d->count; k++)
        if (numbered ? d->at[k].number == number : str_eq(d->at[k].name, which))
            d->at[n++] = d->at[k];
    return n;
}

static size_t of_phase(struct dump *at, size_t count, struct str word)
{
    const char *end = str_is(word, "after") ? "after_optimizations" : "before_optimizations";
    bool usual = word.len == 0 || str_is(word, "before") || str_is(word, "after");
    char text[64];
    snprintf(text, sizeof text, STR_FMT, STR_ARG(word));
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        if (usual ? str_ends(at[k].phase, str_of(end)) : contains(at[k].phase, text))
            at[n++] = at[k];
    return n;
}

static bool one_module(const struct dumps *d)
{
    for (size_t k = 1; k < d->count; k++)
        if (d->at[k].number != d->at[0].number || !str_eq(d->at[k].name, d->at[0].name))
            return false;
    return d->count > 0;
}

struct str io_dump_find(struct diags *ds, struct arena *a, const char *directory, const char *pick)
{
    struct dumps d = {.a = a};
    struct str which = pick ? before(str_of(pick), ':') : STR(""), none = {0};
    struct str word = pick ? after(str_of(pick), which.len + 1) : STR("");
    if (!read_directory(&d, directory)) {
        DIAG(ds, NO_SPAN, FILE_NOT_READ, strerror(errno));
        return none;
    }
    struct str all = list_dumps(&d, d.at, d.count, false);
    if (which.len == 0 && !one_module(&d)) {
        if (d.count == 0)
            DIAG(ds, NO_SPAN, DUMP_MISSING, STR_ARG(STR("directory contains ")), STR_ARG(all));
        else
            DIAG(ds, NO_SPAN, DUMP_CHOICE, STR_ARG(all), "--module=23");
        return none;
    }
    size_t n = which.len ? of_module(&d, which) : d.count;
    if (n == 0) {
        struct str what =
            arena_printf(a, "no module '" STR_FMT "'; directory contains ", STR_ARG(which));
        DIAG(ds, NO_SPAN, DUMP_MISSING, STR_ARG(what), STR_ARG(all));
        return none;
    }
    struct dump *mine = ARENA_DUP(a, d.at, n);
    size_t fitting = of_phase(mine, n, word);
    if (fitting == 0 && word.len == 0 && n == 1)
        return arena_printf(a, "%s/" STR_FMT, directory, STR_ARG(d.at[0].file));
    if (fitting == 1)
        return arena_printf(a, "%s/" STR_FMT, directory, STR_ARG(mine[0].file));
    if (fitting > 1)
        DIAG(ds, NO_SPAN, DUMP_CHOICE, STR_ARG(list_dumps(&d, mine, fitting, true)),
             "--module=NAME, or with a suffix as in --module=23:after_algsimp");
    else
        DIAG(ds, NO_SPAN, DUMP_CHOICE, STR_ARG(list_dumps(&d, d.at, n, true)), "--module=23:after");
    return none;
}

/* ---- compressed text ---- */

bool io_is_gzip(struct str bytes)
{
    return bytes.len > 2 && memcmp(bytes.ptr, "\x1f\x8b\x08", 3) == 0;
}

/* Text compresses to about a tenth, a repetitive constant further. A small file that would
 * decompress to far more is rejected before it fills the memory. */
static bool is_bomb(size_t packed, size_t size)
{
    enum { ANY_RATIO_UP_TO = 64 << 20, MAX_RATIO = 200 };
    return size > ANY_RATIO_UP_TO && size / MAX_RATIO > packed;
}

const char *io_gunzip(struct str bytes, struct buf *out)
{
    enum { PIECE = 1 << 16 };
    z_stream z = {.next_in = (Bytef *)(uintptr_t)bytes.ptr};
    size_t left = bytes.len;
    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
        return "out of memory";
    int status = Z_OK;
    while (status == Z_OK && out->size < UINT32_MAX && !is_bomb(bytes.len, out->size)) {
        if (z.avail_in == 0) {
            z.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
            left -= z.avail_in;
        }
        buf_reserve(out, PIECE);
        z.next_out = (Bytef *)out->data + out->size;
        z.avail_out = PIECE;
        status = inflate(&z, Z_NO_FLUSH);
        out->size += PIECE - z.avail_out;
        if (status == Z_STREAM_END && z.avail_in > 1) /* another member */
            status = inflateReset(&z);
    }
    inflateEnd(&z);
    if (is_bomb(bytes.len, out->size))
        return "compression ratio exceeds 200";
    return status == Z_STREAM_END || out->size >= UINT32_MAX ? NULL : "corrupt or truncated";
}

/* ---- other program formats ---- */

#define AS_HLO "jax.jit(f).lower(x).as_text('hlo') returns HLO text"
#define DUMP_TEXT "set XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' to dump text"

static bool begins(struct str s, const char *word) { return str_starts(s, str_of(word)); }

/* The text from its first word on, after blanks and line comments. */
static struct str first_word(struct str s)
{
    for (;;) {
        size_t n = 0;
        while (n < s.len && char_is_blank(s.ptr[n]))
            n++;
        s = after(s, n);
        if (!begins(s, "//"))
            return s;
        s = after(s, before(s, '\n').len);
    }
}

static bool is_mlir(struct str s)
{
    enum { LOOK = 1 << 16 };
    struct str head = {s.ptr, s.len < LOOK ? s.len : LOOK};
    if (begins(s, "#loc") || begins(s, "func.func") || begins(s, "\"builtin.module\""))
        return true;
    return begins(s, "module ") &&
           (contains(head, "func.func") || contains(head, "stablehlo.") || contains(head, "mhlo."));
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
    if (begins(text, "ML\xefR"))
        return "MLIR bytecode (StableHLO)";
    *advice = DUMP_TEXT;
    if (is_proto(text))
        return str_ends(name, STR(".onnx"))
                   ? NULL
                   : "a protocol buffer that has no module or is truncated";
    if (begins(s, "; ModuleID"))
        return "LLVM IR";
    *advice = "read the file that ends in before_optimizations.txt or after_optimizations.txt";
    return begins(s, "HloModule") ? NULL : report;
}
