/*
 * Public interface: arrays in files, written files, arguments in text form, and generated values.
 */
#include "api/api.h"

#include "io/io.h"
#include "text/token.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct hlo_arrays {
    struct arena arena;
    struct io_arrays in;
};

static struct diags *sink(hlo_messages *m, const char *path)
{
    return hlo_sink_of_name(m, path, STR(""));
}

hlo_arrays *hlo_arrays_open(const char *path, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_arrays *s = heap_zalloc(1, sizeof *s);
    arena_init(&s->arena);
    if (io_arrays_open(sink(m, path), &s->arena, path, &s->in))
        return s;
    hlo_arrays_free(s);
    return NULL;
}

void hlo_arrays_free(hlo_arrays *s)
{
    if (!s)
        return;
    io_arrays_close(&s->in);
    arena_free(&s->arena);
    heap_free(s);
}

bool hlo_arrays_known(const char *path) { return io_arrays_known(path); }

bool hlo_arrays_many(const char *path) { return io_arrays_many(path); }

bool hlo_arrays_has(const hlo_arrays *s, const char *name)
{
    OOM_SCOPE(false);
    SCOPED_ARENA a = arena_make();
    return io_arrays_has(&a, &s->in, str_of(name));
}

hlo_literal *hlo_arrays_get(const hlo_arrays *s, const char *name, const char *dtype,
                            hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct diags *ds = sink(m, s->in.path.ptr);
    struct shape expected = {.dtype = dtype ? dtype_find(str_of(dtype)) : DT_INVALID,
                             .rank = -1}; /* any rank */
    hlo_literal *h = hlo_literal_begin();
    struct str who = *name ? arena_printf(&h->arena, "'%s'", name) : STR("it");
    return hlo_literal_end(
        h, io_arrays_get(ds, &h->arena, &s->in, str_of(name), dtype ? &expected : NULL, who));
}

static struct str param_title(struct arena *a, const hlo_module *module, size_t param)
{
    struct str name = hlo_param_of(module, param)->name;
    return arena_printf(a, "parameter '" STR_FMT "'", STR_ARG(name));
}

static int64_t leaves_before(const hlo_module *module, size_t param)
{
    return module->m->entry->leaves_before[param];
}

hlo_literal *hlo_arrays_param(const hlo_arrays *s, const char *prefix, const hlo_module *module,
                              size_t param, size_t participant, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct diags *ds = sink(m, s->in.path.ptr);
    hlo_literal *h = hlo_literal_begin();
    const struct inst *p = hlo_param_of(module, param);
    struct str names[PARAM_NAMES];
    struct io_request w = {.prefix = prefix,
                           .leaf = leaves_before(module, param),
                           .names = names,
                           .name_count = hlo_param_names(module, param, names),
                           .participant = (int64_t)participant,
                           .who = param_title(&h->arena, module, param)};
    return hlo_literal_end_own(h, io_arrays_value(ds, &h->arena, &s->in, &w, p->shape));
}

bool hlo_arrays_fit(const hlo_arrays *s, const hlo_module *module, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    const size_t count = hlo_param_count(module);
    int64_t leaves = 0;
    char name[32], why[96];
    if (count > 0)
        leaves = leaves_before(module, count - 1) +
                 shape_leaf_count(hlo_param_of(module, count - 1)->shape);
    snprintf(name, sizeof name, "arr_%" PRId64, leaves);
    if (!hlo_arrays_has(s, name))
        return true;
    snprintf(why, sizeof why, "file has '%s', but the module has only %" PRId64 " parameters", name,
             leaves);
    return DIAG_ERROR(sink(m, s->in.path.ptr), NO_SPAN, FAILURE, why);
}

/* ---- arguments in text form ---- */

bool hlo_literal_has_shape(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && (text[i] == '(' || char_is_blank(text[i])))
        i++;
    if (i > 0 && i < size && (text[i] == ')' || text[i] == '/')) /* no elements, or a comment */
        return true;
    const size_t begin = i;
    while (i < size && ((text[i] >= 'a' && text[i] <= 'z') || char_is_digit(text[i])))
        i++;
    return i > begin && i < size && text[i] == '[';
}

/* A shape without layouts. */
static const struct shape *plain_shape(struct arena *a, const struct shape *s)
{
    if (s->dtype == DT_BUFFER)
        s = s->elements[0];
    if (shape_is_array(s))
        return shape_array(a, s->dtype, s->rank, s->dims, s->dynamic, NULL);
    if (!shape_is_tuple(s))
        return s;
    const struct shape **elements = ARENA_ARRAY(a, const struct shape *, s->count);
    for (int i = 0; i < s->count; i++)
        elements[i] = plain_shape(a, s->elements[i]);
    return shape_tuple(a, s->count, elements);
}

/* Parses nested lists of JSON, or a literal without a shape. */
static hlo_literal *parse_lists(const char *name, struct str text, const struct shape *shape,
                                hlo_messages *m)
{
    SCOPED_ARENA a = arena_make();
    return hlo_literal_parse_named(name, text, plain_shape(&a, shape), m);
}

static bool is_list(struct str text) { return text.len > 0 && text.ptr[0] == '['; }

/* Parses a literal whose shape may be omitted, or nested lists. CALLED: the name in messages. */
static hlo_literal *parse_shaped(const char *called, struct str text, const struct shape *shape,
                                 hlo_messages *m)
{
    SCOPED_BUF b = {0};
    const bool shaped = hlo_literal_has_shape(text.ptr, text.len);
    if (is_list(text) || (!shaped && shape_is_tuple(shape)))
        return parse_lists(called, text, shape, m);
    if (!shaped) {
        shape_print(&b, shape, false);
        buf_putc(&b, ' ');
    }
    buf_str(&b, text);
    return hlo_literal_parse_named(called, buf_view(&b), NULL, m);
}

hlo_literal *hlo_result_parse(const hlo_module *module, const char *text, size_t size,
                              hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    return parse_shaped("<literal>", str_trim((struct str){text, size}),
                        module->m->entry->root->shape, m);
}

/* Parses a literal; NAME is the file that contains the text, or NULL. */
static hlo_literal *literal_argument(const hlo_module *module, size_t param, const char *name,
                                     struct str text, hlo_messages *m)
{
    SCOPED_BUF called = {0};
    if (name)
        buf_puts(&called, name);
    else
        buf_printf(&called, "argument '" STR_FMT "'", STR_ARG(hlo_param_of(module, param)->name));
    return parse_shaped(called.data, str_trim(text), hlo_param_of(module, param)->shape, m);
}

static hlo_literal *array_argument(const hlo_module *module, size_t param, size_t participant,
                                   const char *path, hlo_messages *m)
{
    SCOPED_ARRAYS *s = hlo_arrays_open(path, m);
    return s ? hlo_arrays_param(s, "arg", module, param, participant, m) : NULL;
}

static hlo_literal *literal_file(const hlo_module *module, size_t param, const char *path,
                                 hlo_messages *m)
{
    SCOPED_BYTES bytes = {0};
    if (file_read(path, &bytes))
        return literal_argument(module, param, path, (struct str){bytes.data, bytes.size}, m);
    DIAG(sink(m, path), NO_SPAN, FILE_NOT_READ, file_problem(errno));
    return NULL;
}

bool hlo_argument_fits(const hlo_module *module, size_t param, const hlo_literal *l,
                       hlo_messages *m)
{
    const struct inst *p = hlo_param_of(module, param);
    SCOPED_TEXT got = hlo_literal_shape(l), expected = hlo_param_shape(module, param);
    bool fits = strcmp(got.data, expected.data) == 0 || strstr(expected.data, "<=") ||
                strchr(expected.data, '?');
    if (!fits) {
        SCOPED_BUF why = {0};
        buf_printf(&why, "parameter '" STR_FMT "' is %s, but the argument is %s", STR_ARG(p->name),
                   expected.data, got.data);
        DIAG(hlo_sink_of_module(m, module), p->span, FAILURE, why.data);
    }
    return fits;
}

/* Reports a hint if the text looks like an argument of another tool: a file name without @, or
 * values without braces. */
static bool hint(const hlo_module *module, size_t param, const char *text, hlo_messages *m)
{
    SCOPED_BUF called = {0}, why = {0};
    text += strspn(text, " \t\n");
    bool number = !text[strspn(text, "0123456789+-.eE")];
    if (hlo_literal_has_shape(text, strlen(text)))
        return false;
    if (!number && strchr(text, '.') && access(text, R_OK) == 0)
        buf_printf(&why, "'%s' is a file; use '@%s' to read its contents", text, text);
    else if (!strchr("[{(", *text) && strchr(text, ','))
        buf_puts(&why, "write arrays in braces or brackets: '{1, 2, 3}'");
    if (why.size > 0) {
        buf_printf(&called, "argument '" STR_FMT "'", STR_ARG(hlo_param_of(module, param)->name));
        hlo_messages_add(m, called.data, why.data);
    }
    return why.size > 0;
}

hlo_literal *hlo_read_argument(const hlo_module *module, size_t param, size_t participant,
                               const char *text, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_literal *l;
    if (hint(module, param, text, m))
        return NULL;
    if (*text != '@')
        l = literal_argument(module, param, NULL, str_of(text), m);
    else if (hlo_arrays_known(text + 1))
        l = array_argument(module, param, participant, text + 1, m);
    else
        l = literal_file(module, param, text + 1, m);
    if (l && hlo_argument_fits(module, param, l, m))
        return l;
    hlo_literal_free(l);
    return NULL;
}

size_t hlo_argument_value(const char *text)
{
    const char *p = text + (*text == '%');
    if (!char_is_letter(*p))
        return 0;
    while (*p && !strchr("={( ,", *p)) {
        const size_t end = *p == '[' ? text_group_end(str_of(p), 0) : 1;
        if (end == SIZE_MAX)
            return 0;
        p += end;
    }
    return *p == '=' ? (size_t)(p + 1 - text) : 0;
}

hlo_literal *hlo_arrays_result(const hlo_arrays *s, const char *prefix, const hlo_module *module,
                               size_t participant, hlo_messages *m)
{
    hlo_literal *h = hlo_literal_begin();
    const struct io_request w = {
        .prefix = prefix, .participant = (int64_t)participant, .who = STR("result")};
    struct diags *ds = sink(m, s->in.path.ptr);
    return hlo_literal_end_own(
        h, io_arrays_value(ds, &h->arena, &s->in, &w, module->m->entry->root->shape));
}

hlo_literal *hlo_read_result(const char *path, const char *prefix, const hlo_module *module,
                             size_t participant, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    SCOPED_ARRAYS *s = hlo_arrays_open(path, m);
    return s ? hlo_arrays_result(s, prefix, module, participant, m) : NULL;
}

/* ---- writing ---- */

bool hlo_write_npy(const char *path, const hlo_literal *h, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct diags *ds = sink(m, path);
    if (!shape_is_array(h->l->shape))
        return DIAG_ERROR(ds, NO_SPAN, FAILURE,
                          "a .npy file holds a single array; write an .npz file");
    return io_write_npy(ds, path, h->l);
}

/* NULL entries are missing values. */
static const struct literal **literals_of(const hlo_literal *const *h, size_t count)
{
    const struct literal **l = heap_zalloc(count + 1, sizeof *l);
    for (size_t i = 0; h && i < count; i++)
        l[i] = h[i] ? h[i]->l : NULL;
    return l;
}

bool hlo_write_knows(const char *path) { return io_arrays_named(path); }

bool hlo_write_arrays(const char *path, const char *prefix, const hlo_literal *const *h,
                      size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    const bool npz = str_ends(str_of(path), STR(".npz"));
    if (npz || str_ends(str_of(path), STR(".safetensors"))) {
        SCOPED_HEAP const struct literal **l = literals_of(h, count);
        return (npz ? io_write_npz : io_write_safetensors)(sink(m, path), path, prefix, l,
                                                           (int64_t)count);
    }
    if (count != 1) {
        char why[96];
        snprintf(
            why, sizeof why,
            "a file of this type cannot hold the results of %zu participants; write an .npz file",
            count);
        return DIAG_ERROR(sink(m, path), NO_SPAN, FAILURE, why);
    }
    if (str_ends(str_of(path), STR(".npy")))
        return hlo_write_npy(path, h[0], m);
    if (!shape_is_array(h[0]->l->shape))
        return DIAG_ERROR(sink(m, path), NO_SPAN, FAILURE,
                          "a raw file holds a single array; write an .npz file");
    return io_write_raw(sink(m, path), path, h[0]->l);
}

bool hlo_write_npz_named(const char *path, const char *const *names, const hlo_literal *const *h,
                         size_t count, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    SCOPED_HEAP const struct literal **l = literals_of(h, count);
    return io_write_npz_named(sink(m, path), path, names, l, count);
}

bool hlo_write_bundle(const char *path, const struct hlo_bundle *given, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    struct hlo_bundle copy;
    const struct hlo_bundle *b = &copy;
    if (!hlo_options_copy(&copy, sizeof copy, given, m))
        return false;
    SCOPED_HEAP const struct literal **args = literals_of(b->args, b->participants * b->count);
    SCOPED_HEAP const struct literal **results = literals_of(b->results, b->participants);
    const struct io_bundle bundle = {.text = {b->text, b->text_size},
                                     .participants = (int64_t)b->participants,
                                     .count = (int64_t)b->count,
                                     .args = args,
                                     .results = results};
    return io_write_bundle(sink(m, path), path, &bundle);
}

bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    return io_write_bytes(sink(m, path), path, (struct str){text, size});
}

/* ---- files written incrementally ---- */

struct hlo_output {
    struct io_output *to;
    char *path;
};

hlo_output *hlo_output_open(const char *path, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_output *o = heap_zalloc(1, sizeof *o);
    o->path = heap_str(str_of(path));
    o->to = io_output_open(sink(m, path), path);
    if (o->to)
        return o;
    heap_free(o->path);
    heap_free(o);
    return NULL;
}

bool hlo_output_put(hlo_output *o, const char *text, size_t size, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), false));
    return io_output_put(sink(m, o->path), o->to, (struct str){text, size});
}

/* Out of memory for a message: the output is closed and freed nevertheless. */
static bool starved(hlo_output *o, hlo_messages *m)
{
    hlo_messages_no_memory(m);
    if (o->to)
        io_output_drop(o->to);
    heap_free(o->path);
    heap_free(o);
    return false;
}

bool hlo_output_close(hlo_output *o, bool keep, hlo_messages *m)
{
    OOM_SCOPE(starved(o, m));
    struct io_output *to = o->to;
    struct diags *ds = sink(m, o->path);
    o->to = NULL;
    bool ok = io_output_close(ds, to, keep);
    heap_free(o->path);
    heap_free(o);
    return ok;
}

/* ---- generated values ---- */

hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed,
                              hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_literal *h = hlo_literal_begin();
    const struct source *source = &module->file->parts[module->part];
    return hlo_literal_end_own(h, io_random(hlo_sink_of_module(m, module), &h->arena, source->text,
                                            hlo_param_of(module, param)->shape,
                                            leaves_before(module, param), seed));
}

hlo_literal *hlo_fake_param(const hlo_module *module, size_t param, enum hlo_fake kind,
                            uint64_t seed, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_literal *h = hlo_literal_begin();
    return hlo_literal_end_own(h, io_fake(hlo_sink_of_module(m, module), &h->arena, module->m,
                                          (int)param, (enum io_fake)kind,
                                          leaves_before(module, param), seed));
}
