/*
 * The public interface, hlo.h, on top of the rooms: what handles hold and how long it lives.
 *
 * Modules and messages point into the text they speak of; files are counted so that the text stays
 * as long as anything needs it.
 */
#include "hlo_priv.h"

#include "eval/eval.h"
#include "io/io.h"
#include "op/op.h"
#include "plan/plan.h"
#include "text/text.h"
#include "verify/verify.h"
#include "world/world.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static_assert((int)HLO_MAX_PARTICIPANTS == (int)WORLD_MAX_PARTICIPANTS, "hlo.h and world.h say the same");
static_assert((int)HLO_ELIDED_RANDOM == (int)ELIDED_RANDOM, "hlo.h and plan.h number these alike");

void *hlo_calloc(size_t size)
{
    void *p = calloc(1, size);
    if (!p) {
        static const char said[] = "hlo: out of memory\n";
        (void)!write(STDERR_FILENO, said, sizeof said - 1);
        _exit(HLO_FAILED);
    }
    return p;
}

hlo_text hlo_text_of(struct buf *b)
{
    buf_reserve(b, 1);
    b->data[b->size] = '\0';
    return (hlo_text){b->data, b->size};
}

void hlo_text_free(hlo_text *text)
{
    free(text->data);
    *text = (hlo_text){0};
}

/* ---- files ---- */

hlo_file *hlo_file_hold(hlo_file *f)
{
    __atomic_add_fetch(&f->references, 1, __ATOMIC_RELAXED);
    return f;
}

void hlo_file_free(hlo_file *f)
{
    if (!f || __atomic_sub_fetch(&f->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < f->count; i++)
        source_free(&f->parts[i]);
    if (f->bytes.data)
        file_release(&f->bytes);
    arena_free(&f->arena);
    free(f);
}

hlo_file *hlo_file_new(bool strict)
{
    hlo_file *f = hlo_calloc(sizeof *f);
    arena_init(&f->arena);
    f->references = 1;
    f->strict = strict;
    return f;
}

static void file_split(hlo_file *f, const char *name, struct str text)
{
    struct str kept = arena_str(&f->arena, str_of(name));
    if (!f->strict) {
        f->parts = text_split(&f->arena, kept, text, &f->count);
        return;
    }
    f->parts = ARENA_NEW(&f->arena, struct source);
    f->count = 1;
    source_init(f->parts, kept, text);
}

hlo_file *hlo_file_of_text(const char *name, const char *text, size_t size, bool strict)
{
    hlo_file *f = hlo_file_new(strict);
    file_split(f, name, arena_str(&f->arena, (struct str){text, size}));
    return f;
}

size_t hlo_file_count(const hlo_file *f)
{
    return f->count;
}
void hlo_file_strict(hlo_file *f, bool strict)
{
    f->strict = strict;
}

const char *hlo_file_text(const hlo_file *f, size_t part, size_t *size, uint32_t *first_line)
{
    const struct source *s = &f->parts[part];
    *size = s->text.len;
    *first_line = s->first_line ? s->first_line : 1;
    return s->text.ptr;
}

/* ---- messages: one sink for each source that something was said about ---- */

hlo_messages *hlo_messages_new(void)
{
    hlo_messages *m = hlo_calloc(sizeof *m);
    arena_init(&m->arena);
    return m;
}

void hlo_messages_free(hlo_messages *m)
{
    if (!m)
        return;
    for (struct sink *s = m->first; s; s = s->next) {
        diags_free(&s->ds);
        source_free(&s->own);
        hlo_file_free(s->file);
    }
    arena_free(&m->arena);
    free(m);
}

struct sink *hlo_sink_new(hlo_messages *m)
{
    struct sink *s = ARENA_NEW(&m->arena, struct sink);
    diags_init(&s->ds, &s->own);
    return s;
}

void hlo_sink_join(hlo_messages *m, struct sink *s)
{
    *(m->last ? &m->last->next : &m->first) = s;
    m->last = s;
}

static struct sink *sink_add(hlo_messages *m)
{
    struct sink *s = hlo_sink_new(m);
    hlo_sink_join(m, s);
    return s;
}

/* For what is said about a part of a file. */
static struct diags *sink_of_part(hlo_messages *m, hlo_file *f, size_t part)
{
    for (struct sink *s = m->first; s; s = s->next)
        if (s->ds.source == &f->parts[part])
            return &s->ds;
    struct sink *s = sink_add(m);
    s->file = hlo_file_hold(f);
    diags_init(&s->ds, &f->parts[part]);
    return &s->ds;
}

/* For what is said about something else that has a name, and perhaps a text of its own. */
static struct diags *sink_of_name(hlo_messages *m, const char *name, struct str text)
{
    struct sink *s = sink_add(m);
    source_init(&s->own, arena_str(&m->arena, str_of(name)), arena_str(&m->arena, text));
    diags_init(&s->ds, &s->own);
    return &s->ds;
}

void hlo_messages_add(hlo_messages *m, const char *file, const char *text)
{
    DIAG(sink_of_name(m, file, STR("")), NO_SPAN, FAILURE, text);
}

size_t hlo_messages_errors(const hlo_messages *m)
{
    size_t n = 0;
    for (struct sink *s = m->first; s; s = s->next)
        n += s->ds.errors;
    return n;
}

size_t hlo_messages_count(const hlo_messages *m)
{
    size_t n = 0;
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            n++;
    return n;
}

bool hlo_messages_limit(const hlo_messages *m)
{
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            if (d->msg == MSG_LIMIT_MEMORY || d->msg == MSG_LIMIT_STEPS || d->msg == MSG_LIMIT_TIME)
                return true;
    return false;
}

bool hlo_messages_at_end(const hlo_messages *m)
{
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            if (d->severity == SEV_ERROR)
                return d->at_end;
    return false;
}

static struct hlo_message message_of(struct sink *s, const struct diag *d)
{
    struct source *source = s->ds.source;
    struct hlo_message m = {.id = msg_name(d->msg),
                            .error = d->severity == SEV_ERROR,
                            .file = source->name.ptr,
                            .text = d->text.ptr};
    if (d->span.begin || d->span.end) {
        struct place p = source_place(source, d->span.begin);
        m.line = p.line;
        m.column = p.column;
    }
    return m;
}

struct hlo_message hlo_messages_get(const hlo_messages *m, size_t i)
{
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            if (i-- == 0)
                return message_of(s, d);
    return (struct hlo_message){.id = "", .file = "", .text = ""};
}

hlo_text hlo_messages_draw(const hlo_messages *m, bool color)
{
    struct buf b = {0};
    for (struct sink *s = m->first; s; s = s->next)
        diags_draw(&b, &s->ds, color);
    return hlo_text_of(&b);
}

hlo_text hlo_messages_json(const hlo_messages *m)
{
    struct buf b = {0};
    buf_putc(&b, '[');
    for (struct sink *s = m->first; s; s = s->next) {
        if (b.size > 1 && s->ds.first)
            buf_putc(&b, ',');
        diags_json(&b, &s->ds);
    }
    buf_putc(&b, ']');
    return hlo_text_of(&b);
}

/* ---- reading files ---- */

/* The bytes of a file, or a message about it. */
static bool load(struct diags *ds, const char *path, struct file_bytes *out)
{
    return file_read(path, out) || DIAG_ERROR(ds, NO_SPAN, FILE_NOT_READ, strerror(errno));
}

hlo_file *hlo_file_open(const char *path, bool strict, hlo_messages *m)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    hlo_file *f = hlo_file_new(strict);
    if (!file_read(path, &f->bytes)) {
        DIAG(sink_of_name(m, name, STR("")), NO_SPAN, FILE_NOT_READ, strerror(errno));
    } else if (f->bytes.size >= UINT32_MAX) {
        DIAG(sink_of_name(m, name, STR("")), NO_SPAN, TEXT_TOO_LARGE, f->bytes.size);
    } else {
        file_split(f, name, (struct str){f->bytes.data, f->bytes.size});
        return f;
    }
    hlo_file_free(f);
    return NULL;
}

/* ---- modules ---- */

hlo_module *hlo_parse(const hlo_file *file, size_t part, hlo_messages *m)
{
    hlo_file *f =
        (hlo_file *)(uintptr_t)file; /* its line maps and count of holders change, its text does not */
    struct parse_options options = {.strict = f->strict};
    struct diags *ds = sink_of_part(m, f, part);
    struct module *module = text_parse_module(ds, &f->parts[part], &options);
    if (!module)
        return NULL;
    hlo_module *out = hlo_calloc(sizeof *out);
    *out = (hlo_module){module, hlo_file_hold(f), part};
    return out;
}

void hlo_module_free(hlo_module *module)
{
    if (!module)
        return;
    module_free(module->m);
    hlo_file_free(module->file);
    free(module);
}

static struct diags *sink_of_module(hlo_messages *m, const hlo_module *module)
{
    return sink_of_part(m, module->file, module->part);
}

bool hlo_verify(const hlo_module *module, hlo_messages *m)
{
    return verify_module(sink_of_module(m, module), module->m, &(struct verify_options){0});
}

hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style)
{
    struct buf b = {0};
    struct print_options options = {
        .short_form = style == HLO_PRINT_SHORT,
        .large_constants = style != HLO_PRINT_ABRIDGED,
    };
    text_print_module(&b, module->m, &options);
    return hlo_text_of(&b);
}

int64_t hlo_replica_count(const hlo_module *module)
{
    return module->m->replica_count;
}
int64_t hlo_num_partitions(const hlo_module *module)
{
    return module->m->num_partitions;
}

void hlo_set_participants(hlo_module *module, int64_t replicas, int64_t partitions)
{
    module->m->replica_count = replicas;
    module->m->num_partitions = partitions;
}

static const struct inst *param_of(const hlo_module *module, size_t i)
{
    return module->m->entry->params[i];
}

size_t hlo_param_count(const hlo_module *module)
{
    return (size_t)module->m->entry->param_count;
}

const char *hlo_param_name(const hlo_module *module, size_t i)
{
    /* Names are slices of the text: the copy that ends in NUL is the module's. */
    return arena_str(&module->m->arena, param_of(module, i)->name).ptr;
}

hlo_text hlo_param_shape(const hlo_module *module, size_t i)
{
    struct buf b = {0};
    shape_print(&b, param_of(module, i)->shape, false);
    return hlo_text_of(&b);
}

/* Whether a name is `written` with the number behind it that made it unique in the module: x.1 */
static bool is_numbered(struct str name, struct str written)
{
    size_t i = written.len;
    if (!str_starts(name, written) || name.len < i + 2 || name.ptr[i++] != '.')
        return false;
    while (i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9')
        i++;
    return i == name.len;
}

long hlo_param_find(const hlo_module *module, const char *name)
{
    struct str written = str_of(name + (*name == '%'));
    long found = -1;
    size_t alike = 0;
    for (size_t i = 0; i < hlo_param_count(module); i++) {
        if (str_eq(param_of(module, i)->name, written))
            return (long)i;
        if (is_numbered(param_of(module, i)->name, written)) {
            found = (long)i;
            alike++;
        }
    }
    return alike == 1 ? found : -1;
}

uint32_t hlo_result_line(const hlo_module *module, size_t element)
{
    const struct inst *i = module->m->entry->root;
    if (i->opcode == OP_TUPLE && element < (size_t)i->operand_count)
        i = i->operands[element];
    return source_place(&module->file->parts[module->part], i->span.begin).line;
}

/* ---- values ---- */

static hlo_literal *literal_wrap(struct arena *a, struct literal *l)
{
    hlo_literal *h = ARENA_NEW(a, hlo_literal);
    h->l = l;
    if (shape_is_tuple(l->shape)) {
        h->elements = ARENA_ARRAY(a, hlo_literal *, l->shape->count);
        for (int i = 0; i < l->shape->count; i++)
            h->elements[i] = literal_wrap(a, l->elements[i]);
    }
    return h;
}

static hlo_literal *literal_begin(void)
{
    hlo_literal *h = hlo_calloc(sizeof *h);
    arena_init(&h->arena);
    return h;
}

/* Completes a handle around a value that lies in its arena; NULL when there is none. */
static hlo_literal *literal_end(hlo_literal *h, struct literal *l)
{
    if (!l) {
        arena_free(&h->arena);
        free(h);
        return NULL;
    }
    h->l = l;
    h->elements = literal_wrap(&h->arena, l)->elements;
    return h;
}

void hlo_literal_free(hlo_literal *h)
{
    if (!h)
        return;
    literal_free_data(h->l);
    arena_free(&h->arena);
    free(h);
}

hlo_literal *hlo_literal_parse(const char *text, size_t size, hlo_messages *m)
{
    struct diags *ds = sink_of_name(m, "<literal>", (struct str){text, size});
    hlo_literal *h = literal_begin();
    return literal_end(h, text_parse_literal(ds, ds->source, &h->arena));
}

hlo_text hlo_literal_print(const hlo_literal *h, bool with_shape)
{
    struct buf b = {0};
    if (with_shape)
        text_print_literal_with_shape(&b, h->l);
    else
        text_print_literal(&b, h->l);
    return hlo_text_of(&b);
}

hlo_text hlo_literal_shape(const hlo_literal *h)
{
    struct buf b = {0};
    shape_print(&b, h->l->shape, false);
    return hlo_text_of(&b);
}

size_t hlo_literal_leaves(const hlo_literal *h)
{
    return (size_t)shape_leaf_count(h->l->shape);
}
size_t hlo_literal_count(const hlo_literal *h)
{
    return h->elements ? (size_t)h->l->shape->count : 0;
}
const hlo_literal *hlo_literal_element(const hlo_literal *h, size_t i)
{
    return h->elements[i];
}

static const struct literal *leaf_at(const struct literal *l, size_t *i)
{
    if (!shape_is_tuple(l->shape))
        return (*i)-- == 0 ? l : NULL;
    const struct literal *found = NULL;
    for (int k = 0; k < l->shape->count && !found; k++)
        found = leaf_at(l->elements[k], i);
    return found;
}

struct hlo_array hlo_array_of(const struct shape *s, void *data)
{
    int64_t elements = 0;
    if (shape_is_array(s))
        shape_elements(s, &elements);
    return (struct hlo_array){.dtype = dtype_spelling(s->dtype),
                              .rank = (size_t)s->rank,
                              .dims = s->dims,
                              .element_size = dtype_bytes(s->dtype),
                              .elements = (size_t)elements,
                              .data = data};
}

struct hlo_array hlo_literal_leaf(const hlo_literal *h, size_t i)
{
    const struct literal *l = leaf_at(h->l, &i);
    return l ? hlo_array_of(l->shape, l->data) : (struct hlo_array){.dtype = ""};
}

hlo_literal *hlo_literal_new(const char *dtype, size_t rank, const int64_t *dims, hlo_messages *m)
{
    enum dtype t = dtype_find(str_of(dtype));
    hlo_literal *h = literal_begin();
    struct literal *l = NULL;
    if (dtype_is_array(t) && rank <= INT16_MAX)
        l = io_literal_new(sink_of_name(m, dtype, STR("")), &h->arena,
                           shape_array(&h->arena, t, (int)rank, dims, NULL, NULL));
    else
        hlo_messages_add(m, dtype, "no element type");
    return literal_end(h, l);
}

/* The value of an element moves into the tuple: shapes are copied, storage is taken over. */
static struct literal *literal_take(struct arena *a, struct literal *from)
{
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = shape_copy(a, from->shape);
    l->data = from->data;
    l->elided = from->elided;
    if (shape_is_tuple(l->shape)) {
        l->elements = ARENA_ARRAY(a, struct literal *, l->shape->count);
        for (int i = 0; i < l->shape->count; i++)
            l->elements[i] = literal_take(a, from->elements[i]);
    }
    return l;
}

hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count)
{
    hlo_literal *h = literal_begin();
    struct literal *l = ARENA_NEW(&h->arena, struct literal);
    const struct shape **shapes = ARENA_ARRAY(&h->arena, const struct shape *, count);
    l->elements = ARENA_ARRAY(&h->arena, struct literal *, count);
    for (size_t i = 0; i < count; i++) {
        l->elements[i] = literal_take(&h->arena, elements[i]->l);
        shapes[i] = l->elements[i]->shape;
        arena_free(&elements[i]->arena);
        free(elements[i]);
    }
    l->shape = shape_tuple(&h->arena, (int)count, shapes);
    return literal_end(h, l);
}

bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected,
                         const struct hlo_tolerance *t, hlo_text *why)
{
    struct io_tolerance tolerance = {
        .abs = t->abs, .rel = t->rel, .ulp = t->ulp, .zeros = t->zeros, .bits = t->bits};
    struct buf b = {0};
    bool same = io_compare(actual->l, expected->l, &tolerance, &b);
    *why = hlo_text_of(&b);
    return same;
}

/* ---- arrays in files ---- */

static struct str param_title(struct arena *a, const hlo_module *module, size_t param)
{
    struct str name = param_of(module, param)->name;
    return arena_printf(a, "parameter `" STR_FMT "`", STR_ARG(name));
}

/* Leaves of the parameters before this one. */
static int64_t leaves_before(const hlo_module *module, size_t param)
{
    int64_t n = 0;
    for (size_t i = 0; i < param; i++)
        n += shape_leaf_count(param_of(module, i)->shape);
    return n;
}

hlo_literal *hlo_read_npy(const char *path, const hlo_module *module, size_t param, hlo_messages *m)
{
    struct diags *ds = sink_of_name(m, path, STR(""));
    const struct shape *want = module ? param_of(module, param)->shape : NULL;
    struct file_bytes bytes;
    if (!load(ds, path, &bytes))
        return NULL;
    hlo_literal *h = literal_begin();
    struct str who = module ? param_title(&h->arena, module, param) : STR("it");
    struct literal *l = io_npy_decode(ds, &h->arena, (struct str){bytes.data, bytes.size}, want, who);
    file_release(&bytes);
    return literal_end(h, l);
}

static hlo_literal *read_npz(const char *path, const char *prefix, int64_t leaf, const struct shape *want,
                             struct str (*title)(struct arena *, const hlo_module *, size_t),
                             const hlo_module *module, size_t param, size_t participant, hlo_messages *m)
{
    struct diags *ds = sink_of_name(m, path, STR(""));
    struct file_bytes bytes;
    if (!load(ds, path, &bytes))
        return NULL;
    hlo_literal *h = literal_begin();
    struct npz z;
    struct literal *l = NULL;
    if (io_npz_open(ds, &h->arena, (struct str){bytes.data, bytes.size}, &z))
        l = io_npz_value(ds, &h->arena, &z, prefix, &leaf, (int64_t)participant, want, title(&h->arena, module, param));
    file_release(&bytes);
    return literal_end(h, l);
}

hlo_literal *hlo_read_npz(const char *path, const char *prefix, const hlo_module *module, size_t param,
                          size_t participant, hlo_messages *m)
{
    return read_npz(path, prefix, leaves_before(module, param), param_of(module, param)->shape, param_title,
                    module, param, participant, m);
}

static struct str result_title(struct arena *a, const hlo_module *module, size_t param)
{
    (void)a, (void)module, (void)param;
    return STR("the result");
}

hlo_literal *hlo_read_npz_result(const char *path, const char *prefix, const hlo_module *module,
                                 size_t participant, hlo_messages *m)
{
    return read_npz(path, prefix, 0, module->m->entry->root->shape, result_title, module, 0, participant, m);
}

bool hlo_write_npy(const char *path, const hlo_literal *h, hlo_messages *m)
{
    struct diags *ds = sink_of_name(m, path, STR(""));
    if (!shape_is_array(h->l->shape))
        return DIAG_ERROR(ds, NO_SPAN, FAILURE, "a .npy file holds one array; write an .npz file");
    return io_write_npy(ds, path, h->l);
}

bool hlo_write_npz(const char *path, const char *prefix, const hlo_literal *h, hlo_messages *m)
{
    return hlo_write_npz_all(path, prefix, &h, 1, m);
}

bool hlo_write_npz_all(const char *path, const char *prefix, const hlo_literal *const *h, size_t count,
                       hlo_messages *m)
{
    const struct literal **l = hlo_calloc((count + 1) * sizeof *l);
    for (size_t i = 0; i < count; i++)
        l[i] = h[i]->l;
    bool ok = io_write_npz(sink_of_name(m, path, STR("")), path, prefix, l, (int64_t)count);
    free(l);
    return ok;
}

struct hlo_npz {
    struct arena arena;
    struct file_bytes file;
    struct str path;
    bool single; /* a .npy file */
    struct npz z;
};

hlo_npz *hlo_npz_open(const char *path, hlo_messages *m)
{
    struct diags *ds = sink_of_name(m, path, STR(""));
    hlo_npz *z = hlo_calloc(sizeof *z);
    arena_init(&z->arena);
    z->path = arena_str(&z->arena, str_of(path));
    bool ok = load(ds, path, &z->file);
    z->single = ok && str_starts((struct str){z->file.data, z->file.size}, STR("\x93NUMPY"));
    if (ok && (z->single || io_npz_open(ds, &z->arena, (struct str){z->file.data, z->file.size}, &z->z)))
        return z;
    hlo_npz_free(z);
    return NULL;
}

void hlo_npz_free(hlo_npz *z)
{
    if (!z)
        return;
    if (z->file.data)
        file_release(&z->file);
    arena_free(&z->arena);
    free(z);
}

bool hlo_npz_has(const hlo_npz *z, const char *name)
{
    return z->single ? *name == '\0' : io_npz_has(&z->z, str_of(name));
}

hlo_literal *hlo_npz_get(const hlo_npz *z, const char *name, const char *dtype, hlo_messages *m)
{
    struct diags *ds = sink_of_name(m, z->path.ptr, STR(""));
    struct shape want = {.dtype = dtype ? dtype_find(str_of(dtype)) : DT_INVALID, .rank = -1}; /* of any size */
    const struct shape *wanted = dtype ? &want : NULL;
    hlo_literal *h = literal_begin();
    struct str who = arena_printf(&h->arena, "`%s`", name);
    struct literal *l = z->single ? io_npy_decode(ds, &h->arena, (struct str){z->file.data, z->file.size}, wanted, STR("it"))
                                  : io_npz_get(ds, &h->arena, &z->z, str_of(name), wanted, who);
    return literal_end(h, l);
}

bool hlo_write_npz_named(const char *path, const char *const *names, const hlo_literal *const *h, size_t count,
                         hlo_messages *m)
{
    const struct literal **l = hlo_calloc((count + 1) * sizeof *l);
    for (size_t i = 0; i < count; i++)
        l[i] = h[i]->l;
    bool ok = io_write_npz_named(sink_of_name(m, path, STR("")), path, names, l, count);
    free(l);
    return ok;
}

bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m)
{
    return io_write_bytes(sink_of_name(m, path, STR("")), path, (struct str){text, size});
}

hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed, hlo_messages *m)
{
    hlo_literal *h = literal_begin();
    const struct source *source = &module->file->parts[module->part];
    return literal_end(h, io_random(sink_of_module(m, module), &h->arena, source->text,
                                    param_of(module, param)->shape, leaves_before(module, param), seed));
}

/* ---- running ---- */

struct hlo_program {
    const hlo_module *module;
    hlo_world *world;           /* NULL: threads */
    size_t count;               /* participants */
    struct program *programs[]; /* one each: what a program keeps while it runs is its participant's; NULL: not here */
};

void hlo_program_free(hlo_program *p)
{
    for (size_t k = 0; p && k < p->count; k++)
        program_free(p->programs[k]);
    free(p);
}

hlo_program *hlo_plan(const hlo_module *module, const struct hlo_run_options *o, hlo_messages *m)
{
    struct diags *ds = sink_of_module(m, module);
    int64_t replicas = module->m->replica_count, partitions = module->m->num_partitions, count;
    if (!mul_i64(replicas, partitions, &count) || count < 1 || count > WORLD_MAX_PARTICIPANTS) {
        DIAG(ds, NO_SPAN, TOO_MANY_PARTICIPANTS, replicas, partitions, WORLD_MAX_PARTICIPANTS);
        return NULL;
    }
    hlo_program *p = hlo_calloc(sizeof *p + (size_t)count * sizeof *p->programs);
    p->module = module;
    p->world = o->world;
    p->count = (size_t)count;
    for (size_t k = 0; k < p->count; k++) {
        struct plan_options options = {.plain = o->plain,
                                       .elided = (enum elided_mode)o->elided,
                                       .seed = o->seed,
                                       .replica = (int64_t)k / partitions,
                                       .partition = (int64_t)k % partitions,
                                       .foreign = hlo_targets_foreign(o->targets),
                                       .limits = {o->max_steps, o->max_memory, o->timeout}};
        if (!hlo_world_runs(p->world, k))
            continue;
        p->programs[k] = plan_module(ds, module->m, &options);
        if (!p->programs[k]) {
            hlo_program_free(p);
            return NULL;
        }
    }
    return p;
}

size_t hlo_participants(const hlo_program *p)
{
    return p->count;
}

/* ---- feeds ---- */

struct feeding {
    const struct hlo_feeds *feeds;
    hlo_messages *m;
};

static enum feed feed_in(void *context, int64_t participant, struct arena *a, struct literal **out)
{
    struct feeding *f = context;
    size_t errors = hlo_messages_errors(f->m);
    hlo_literal *h = f->feeds->infeed ? f->feeds->infeed(f->feeds->context, (size_t)participant, f->m) : NULL;
    if (!h)
        return hlo_messages_errors(f->m) > errors ? FEED_FAILED : FEED_EMPTY;
    *out = literal_take(a, h->l);
    arena_free(&h->arena);
    free(h);
    return FEED_ITEM;
}

static bool feed_out(void *context, int64_t participant, const struct literal *l)
{
    struct feeding *f = context;
    if (!f->feeds->outfeed)
        return true;
    hlo_literal *h = literal_begin();
    h->l = (struct literal *)(uintptr_t)l; /* lent: only its handle is freed */
    h->elements = literal_wrap(&h->arena, h->l)->elements;
    bool ok = f->feeds->outfeed(f->feeds->context, (size_t)participant, h, f->m);
    arena_free(&h->arena);
    free(h);
    return ok;
}

/* ---- the run ---- */

bool hlo_run_all(hlo_program *p, const hlo_literal *const *args, size_t count, const struct hlo_feeds *feeds,
                 hlo_literal **results, hlo_messages *m)
{
    struct arena a;
    struct feeding feeding = {feeds, m};
    struct world_feeds world = {&feeding, feed_in, feed_out};
    arena_init(&a);
    struct world_participant *tasks = ARENA_ARRAY(&a, struct world_participant, p->count);
    for (size_t k = 0; k < p->count; k++) {
        const struct literal **values = ARENA_ARRAY(&a, const struct literal *, count);
        for (size_t i = 0; i < count && p->programs[k]; i++)
            values[i] = args[k * count + i]->l;
        results[k] = literal_begin();
        tasks[k] = (struct world_participant){
            .program = p->programs[k], .args = values, .arg_count = count, .arena = &results[k]->arena};
    }
    struct diags *ds = sink_of_module(m, p->module);
    const struct world_feeds *host = feeds ? &world : NULL;
    bool ok = p->world ? ranks_run(p->world->ranks, ds, tasks, (int64_t)p->count, host)
                       : world_run(ds, tasks, (int64_t)p->count, host);
    for (size_t k = 0; k < p->count; k++)
        results[k] = literal_end(results[k], tasks[k].result);
    arena_free(&a);
    return ok;
}

hlo_literal *hlo_run(hlo_program *p, const hlo_literal *const *args, size_t count, hlo_messages *m)
{
    const hlo_literal **all = hlo_calloc((p->count * count + 1) * sizeof *all);
    hlo_literal **results = hlo_calloc(p->count * sizeof *results);
    for (size_t i = 0; i < p->count * count; i++)
        all[i] = args[i % count];
    hlo_run_all(p, all, count, NULL, results, m);
    hlo_literal *first = results[0];
    for (size_t k = 1; k < p->count; k++)
        hlo_literal_free(results[k]);
    free(results);
    free(all);
    return first;
}
