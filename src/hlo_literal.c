/*
 * The public interface to values: handles of them, and arrays in files.
 */
#include "hlo_priv.h"

#include "io/io.h"
#include "text/text.h"

#include <errno.h>
#include <stdlib.h>

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

hlo_literal *hlo_literal_begin(void)
{
    hlo_literal *h = hlo_calloc(sizeof *h);
    arena_init(&h->arena);
    return h;
}

hlo_literal *hlo_literal_end(hlo_literal *h, struct literal *l)
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
    struct diags *ds = hlo_sink_of_name(m, "<literal>", (struct str){text, size});
    hlo_literal *h = hlo_literal_begin();
    return hlo_literal_end(h, text_parse_literal(ds, ds->source, &h->arena));
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
    hlo_literal *h = hlo_literal_begin();
    struct literal *l = NULL;
    if (dtype_is_array(t) && rank <= INT16_MAX)
        l = io_literal_new(hlo_sink_of_name(m, dtype, STR("")), &h->arena,
                           shape_array(&h->arena, t, (int)rank, dims, NULL, NULL));
    else
        hlo_messages_add(m, dtype, "no element type");
    return hlo_literal_end(h, l);
}

struct literal *hlo_literal_take(struct arena *a, struct literal *from)
{
    struct literal *l = ARENA_NEW(a, struct literal);
    l->shape = shape_copy(a, from->shape);
    l->data = from->data;
    l->elided = from->elided;
    if (shape_is_tuple(l->shape)) {
        l->elements = ARENA_ARRAY(a, struct literal *, l->shape->count);
        for (int i = 0; i < l->shape->count; i++)
            l->elements[i] = hlo_literal_take(a, from->elements[i]);
    }
    return l;
}

hlo_literal *hlo_literal_tuple(hlo_literal **elements, size_t count)
{
    hlo_literal *h = hlo_literal_begin();
    struct literal *l = ARENA_NEW(&h->arena, struct literal);
    const struct shape **shapes = ARENA_ARRAY(&h->arena, const struct shape *, count);
    l->elements = ARENA_ARRAY(&h->arena, struct literal *, count);
    for (size_t i = 0; i < count; i++) {
        l->elements[i] = hlo_literal_take(&h->arena, elements[i]->l);
        shapes[i] = l->elements[i]->shape;
        arena_free(&elements[i]->arena);
        free(elements[i]);
    }
    l->shape = shape_tuple(&h->arena, (int)count, shapes);
    return hlo_literal_end(h, l);
}

bool hlo_literal_compare(const hlo_literal *actual, const hlo_literal *expected,
                         const struct hlo_tolerance *t, hlo_text *why)
{
    struct io_tolerance tolerance = {
        .abs = t->abs, .rel = t->rel, .ulp = t->ulp, .zeros = t->zeros, .bits = t->bits};
    struct buf b = {0};
    bool same = io_compare(actual->l, expected->l, &tolerance, &b);
    if (why)
        *why = hlo_text_of(&b);
    else
        buf_free(&b);
    return same;
}

/* ---- arrays in files ---- */

/* The bytes of a file, or a message about it. */
static bool load(struct diags *ds, const char *path, struct file_bytes *out)
{
    return file_read(path, out) || DIAG_ERROR(ds, NO_SPAN, FILE_NOT_READ, strerror(errno));
}

static struct str param_title(struct arena *a, const hlo_module *module, size_t param)
{
    struct str name = hlo_param_of(module, param)->name;
    return arena_printf(a, "parameter `" STR_FMT "`", STR_ARG(name));
}

/* Leaves of the parameters before this one. */
static int64_t leaves_before(const hlo_module *module, size_t param)
{
    int64_t n = 0;
    for (size_t i = 0; i < param; i++)
        n += shape_leaf_count(hlo_param_of(module, i)->shape);
    return n;
}

hlo_literal *hlo_read_npy(const char *path, const hlo_module *module, size_t param, hlo_messages *m)
{
    struct diags *ds = hlo_sink_of_name(m, path, STR(""));
    const struct shape *want = module ? hlo_param_of(module, param)->shape : NULL;
    struct file_bytes bytes;
    if (!load(ds, path, &bytes))
        return NULL;
    hlo_literal *h = hlo_literal_begin();
    struct str who = module ? param_title(&h->arena, module, param) : STR("it");
    struct literal *l = io_npy_decode(ds, &h->arena, (struct str){bytes.data, bytes.size}, want, who);
    file_release(&bytes);
    return hlo_literal_end(h, l);
}

static hlo_literal *read_npz(const char *path, const char *prefix, int64_t leaf, const struct shape *want,
                             struct str (*title)(struct arena *, const hlo_module *, size_t),
                             const hlo_module *module, size_t param, size_t participant, hlo_messages *m)
{
    struct diags *ds = hlo_sink_of_name(m, path, STR(""));
    struct file_bytes bytes;
    if (!load(ds, path, &bytes))
        return NULL;
    hlo_literal *h = hlo_literal_begin();
    struct npz z;
    struct literal *l = NULL;
    if (io_npz_open(ds, &h->arena, (struct str){bytes.data, bytes.size}, &z))
        l = io_npz_value(ds, &h->arena, &z, prefix, &leaf, (int64_t)participant, want, title(&h->arena, module, param));
    file_release(&bytes);
    return hlo_literal_end(h, l);
}

hlo_literal *hlo_read_npz(const char *path, const char *prefix, const hlo_module *module, size_t param,
                          size_t participant, hlo_messages *m)
{
    return read_npz(path, prefix, leaves_before(module, param), hlo_param_of(module, param)->shape, param_title,
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
    struct diags *ds = hlo_sink_of_name(m, path, STR(""));
    if (!shape_is_array(h->l->shape))
        return DIAG_ERROR(ds, NO_SPAN, FAILURE, "a .npy file holds one array; write an .npz file");
    return io_write_npy(ds, path, h->l);
}

bool hlo_write_npz(const char *path, const char *prefix, const hlo_literal *h, hlo_messages *m)
{
    return hlo_write_npz_all(path, prefix, &h, 1, m);
}

static const struct literal **literals_of(const hlo_literal *const *h, size_t count)
{
    const struct literal **l = hlo_calloc((count + 1) * sizeof *l);
    for (size_t i = 0; i < count; i++)
        l[i] = h[i]->l;
    return l;
}

bool hlo_write_npz_all(const char *path, const char *prefix, const hlo_literal *const *h, size_t count,
                       hlo_messages *m)
{
    const struct literal **l = literals_of(h, count);
    bool ok = io_write_npz(hlo_sink_of_name(m, path, STR("")), path, prefix, l, (int64_t)count);
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
    struct diags *ds = hlo_sink_of_name(m, path, STR(""));
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
    struct diags *ds = hlo_sink_of_name(m, z->path.ptr, STR(""));
    struct shape want = {.dtype = dtype ? dtype_find(str_of(dtype)) : DT_INVALID, .rank = -1}; /* of any size */
    const struct shape *wanted = dtype ? &want : NULL;
    hlo_literal *h = hlo_literal_begin();
    struct str who = arena_printf(&h->arena, "`%s`", name);
    struct literal *l = z->single ? io_npy_decode(ds, &h->arena, (struct str){z->file.data, z->file.size}, wanted, STR("it"))
                                  : io_npz_get(ds, &h->arena, &z->z, str_of(name), wanted, who);
    return hlo_literal_end(h, l);
}

bool hlo_write_npz_named(const char *path, const char *const *names, const hlo_literal *const *h, size_t count,
                         hlo_messages *m)
{
    const struct literal **l = literals_of(h, count);
    bool ok = io_write_npz_named(hlo_sink_of_name(m, path, STR("")), path, names, l, count);
    free(l);
    return ok;
}

bool hlo_write_text(const char *path, const char *text, size_t size, hlo_messages *m)
{
    return io_write_bytes(hlo_sink_of_name(m, path, STR("")), path, (struct str){text, size});
}

hlo_literal *hlo_random_param(const hlo_module *module, size_t param, uint64_t seed, hlo_messages *m)
{
    hlo_literal *h = hlo_literal_begin();
    const struct source *source = &module->file->parts[module->part];
    return hlo_literal_end(h, io_random(hlo_sink_of_module(m, module), &h->arena, source->text,
                                    hlo_param_of(module, param)->shape, leaves_before(module, param), seed));
}
