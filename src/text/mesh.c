/*
 * mesh.c: parses and prints shardings that refer to mesh axes.
 */
#include "text/attr_priv.h"

#include <stdlib.h>

static bool bad_mesh(struct parser *p, struct span span, const char *problem)
{
    return DIAG_ERROR(p->ds, span, BAD_MESH, problem);
}

static bool at_word(const struct parser *p, const char *word)
{
    return p->tok.kind == TOK_IDENT && str_is(p->tok.s, word);
}

bool starts_mesh(const struct parser *p)
{
    return at_word(p, "mesh") || at_word(p, "maximal_mesh");
}

/* ---- parsing of meshes ---- */

static bool axis_exists(const struct mesh_axis *axes, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(axes[i].name, name))
            return true;
    return false;
}

/* mesh_shape = "[" [STRING "=" INT {"," STRING "=" INT}] "]" ; */
static bool parse_mesh_shape(struct parser *p, struct mesh *m)
{
    struct mesh_axis *at = NULL;
    size_t count = 0, capacity = 0;
    struct list l = {TOK_LSQUARE, TOK_RSQUARE};
    while (list_more(p, &l)) {
        struct mesh_axis axis;
        struct span span = p->tok.span;
        if (!parse_string(p, &axis.name) || !expect(p, TOK_EQUAL, NULL) ||
            !parse_int(p, &axis.size))
            return false;
        if (axis_exists(at, count, axis.name))
            return bad_mesh(p, span, "duplicate axis name");
        VEC_PUSH(p->arena, at, count, capacity) = axis;
    }
    m->axes = at;
    m->axis_count = (int)count;
    return l.ok;
}

/* The ids must be a permutation of the devices other than the default order. */
static bool check_device_ids(struct parser *p, const struct mesh *m, struct span span)
{
    int64_t devices, n = m->device_ids.count;
    if (!mesh_device_count(m, &devices) || devices != n)
        return wrong_count(p, span, "device_ids", n, devices, "one per device of the mesh");
    bool *seen = ARENA_ARRAY(p->arena, bool, n), plain = true;
    for (int64_t i = 0; i < n; i++) {
        int64_t id = m->device_ids.at[i];
        if (id < 0 || id >= n || seen[id])
            return bad_mesh(p, span, "device_ids is not a permutation of 0, 1, 2 ...");
        seen[id] = true;
        plain &= id == i;
    }
    return !plain || bad_mesh(p, span, "device_ids is the default order and must be omitted");
}

/* device_ids = "(" ([INT {"," INT}] | iota) ")" ; */
static bool parse_device_ids(struct parser *p, struct mesh *m)
{
    uint32_t begin = p->tok.span.begin;
    if (!expect(p, TOK_LPAREN, NULL))
        return false;
    if (p->tok.kind == TOK_LSQUARE) {
        if (!parse_iota_order(p, &m->order))
            return false;
        m->has_iota = m->order.reshape.count > 1;
        return expect(p, TOK_RPAREN, NULL);
    }
    struct int_vec v;
    int_vec_init(&v);
    if (p->tok.kind != TOK_RPAREN && !parse_bare_ints(p, &v))
        return false;
    if (!expect(p, TOK_RPAREN, "',' or ')'"))
        return false;
    m->has_list = true;
    m->device_ids = int_vec_ints(p, &v);
    return check_device_ids(p, m, span_since(p, begin));
}

/* mesh = "mesh" mesh_shape ["," ["device_ids=" device_ids]] ; */
bool parse_mesh(struct parser *p, struct mesh **out, bool *comma)
{
    *comma = false;
    struct mesh *m = *out = ARENA_NEW(p->arena, struct mesh);
    if (!at_word(p, "mesh"))
        return expected(p, "'mesh'");
    next(p);
    if (!parse_mesh_shape(p, m))
        return false;
    *comma = m->axis_count && accept(p, TOK_COMMA);
    if (!*comma || p->tok.kind != TOK_ATTR_NAME || !str_is(p->tok.s, "device_ids"))
        return true;
    *comma = false;
    next(p);
    return parse_device_ids(p, m);
}

/* ---- parsing of axes ---- */

/* Finds an axis by its name or its number; -1 if not found. */
static int find_axis(const struct mesh *m, struct str name)
{
    for (int i = 0; i < m->axis_count; i++)
        if (str_eq(m->axes[i].name, name))
            return i;
    int64_t number;
    if (num_parse_i64(name, &number) && number >= 0 && number < m->axis_count)
        return (int)number;
    return -1;
}

static bool check_sub_axis(struct parser *p, const struct mesh *m, struct axis_ref a,
                           struct span span)
{
    int64_t end, size = m->axes[a.axis].size;
    if (a.pre_size < 1 || a.size < 2 || a.size >= size || !mul_i64(a.pre_size, a.size, &end) ||
        size % end)
        return bad_mesh(p, span, "size of a sub-axis does not divide its axis");
    return true;
}

/* axis = STRING [":" "(" INT ")" INT] ; */
static bool parse_axis(struct parser *p, const struct mesh *m, struct axis_ref *out)
{
    struct span span = p->tok.span;
    struct str name;
    if (!parse_string(p, &name))
        return false;
    *out = (struct axis_ref){.axis = find_axis(m, name)};
    if (out->axis < 0)
        return DIAG_ERROR(p->ds, span, UNKNOWN_AXIS, STR_ARG(name));
    if (!accept(p, TOK_COLON))
        return true;
    if (!expect(p, TOK_LPAREN, NULL) || !parse_int(p, &out->pre_size) ||
        !expect(p, TOK_RPAREN, NULL) || !parse_int(p, &out->size))
        return false;
    return check_sub_axis(p, m, *out, span_since(p, span.begin));
}

struct axis_vec {
    struct axis_ref *at;
    size_t count, capacity;
};

/* Appends an axis to a list; it must not continue the preceding one. */
static bool push_axis(struct parser *p, const struct mesh *m, struct axis_vec *v)
{
    uint32_t begin = p->tok.span.begin;
    struct axis_ref a;
    if (!parse_axis(p, m, &a))
        return false;
    const struct axis_ref *last = v->count ? &v->at[v->count - 1] : NULL;
    if (last && last->axis == a.axis && last->size && a.size &&
        last->pre_size * last->size == a.pre_size)
        return bad_mesh(p, span_since(p, begin), "adjacent sub-axes can be merged");
    VEC_PUSH(p->arena, v->at, v->count, v->capacity) = a;
    return true;
}

static bool parse_axes_onto(struct parser *p, const struct mesh *m, struct mesh_axes *axes)
{
    struct axis_vec v = {0};
    for (int i = 0; i < axes->count; i++)
        VEC_PUSH(p->arena, v.at, v.count, v.capacity) = axes->at[i];
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l))
        if (!push_axis(p, m, &v))
            return false;
    *axes = (struct mesh_axes){(int)v.count, v.at};
    return l.ok;
}

static int axis_cmp(const void *a, const void *b)
{
    const struct axis_ref *x = a, *y = b;
    if (x->axis != y->axis)
        return x->axis < y->axis ? -1 : 1;
    return x->pre_size < y->pre_size ? -1 : x->pre_size > y->pre_size;
}

/* Whether two axis references overlap; x must precede y in the order of axis_cmp. */
static bool axes_clash(const struct axis_ref *x, const struct axis_ref *y)
{
    if (x->axis != y->axis)
        return false;
    return !x->size || !y->size || y->pre_size % (x->pre_size * x->size);
}

/* No part of an axis may be used twice. After sorting, comparing neighbours suffices. */
static bool check_disjoint(struct parser *p, struct axis_ref *all, size_t count, struct span span)
{
    if (count > 1)
        qsort(all, count, sizeof *all, axis_cmp);
    for (size_t i = 1; i < count; i++)
        if (axes_clash(&all[i - 1], &all[i]))
            return bad_mesh(p, span, "axis or sub-axis used twice");
    return true;
}

/* mesh_axes = "{" [axis {"," axis}] "}" ; */
bool parse_mesh_axes(struct parser *p, const struct mesh *mesh, struct mesh_axes *out)
{
    uint32_t begin = p->tok.span.begin;
    *out = (struct mesh_axes){0};
    if (!parse_axes_onto(p, mesh, out))
        return false;
    return check_disjoint(p, ARENA_DUP(p->arena, out->at, out->count), (size_t)out->count,
                          span_since(p, begin));
}

/* ---- parsing of named shardings ---- */

/* dim_sharding = "{" [{axis ","} (axis | "?")] "}" ; */
static bool parse_dim_sharding(struct parser *p, const struct mesh *m, struct dim_sharding *out)
{
    struct axis_vec v = {0};
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    *out = (struct dim_sharding){0};
    while (list_more(p, &l)) {
        if (accept(p, TOK_QUESTION)) {
            out->open = true;
            l.ok = expect(p, TOK_RBRACE, NULL);
            break;
        }
        if (!push_axis(p, m, &v))
            return false;
    }
    out->axes = (struct mesh_axes){(int)v.count, v.at};
    return l.ok;
}

/* dim_shardings = "[" [dim_sharding {"," dim_sharding}] "]" ; */
static bool parse_dim_shardings(struct parser *p, struct sharding *s)
{
    struct dim_sharding *at = NULL;
    size_t count = 0, capacity = 0;
    struct list l = {TOK_LSQUARE, TOK_RSQUARE};
    while (list_more(p, &l)) {
        struct dim_sharding d;
        if (!parse_dim_sharding(p, s->mesh, &d))
            return false;
        VEC_PUSH(p->arena, at, count, capacity) = d;
    }
    s->dims = at;
    s->dim_count = (int)count;
    return l.ok;
}

static struct mesh_axes all_axes(struct parser *p, const struct mesh *m)
{
    struct axis_ref *at = ARENA_ARRAY(p->arena, struct axis_ref, m->axis_count);
    for (int i = 0; i < m->axis_count; i++)
        at[i].axis = i;
    return (struct mesh_axes){m->axis_count, at};
}

/* `unreduced=sum` or `unreduced=max{'a'}`, a form of XLA's main branch; *whole is set if no axes
 * are listed. */
static bool parse_reduction(struct parser *p, struct sharding *s, bool *whole)
{
    *whole = false;
    if (!p->strict && p->tok.kind == TOK_IDENT) {
        s->reduction = p->tok.s;
        next(p);
        *whole = p->tok.kind != TOK_LBRACE;
    }
    if (*whole) {
        s->unreduced = all_axes(p, s->mesh);
        return true;
    }
    return parse_axes_onto(p, s->mesh, &s->unreduced);
}

/* named_item = ("replicated=" | "manual=" | "unreduced=") mesh_axes | "metadata=" metadata_list ;
 */
static bool parse_named_item(struct parser *p, struct sharding *s)
{
    static const char *const keywords[] = {"replicated", "manual", "unreduced", "metadata"};
    struct token key = p->tok;
    bool whole;
    if (!expect(p, TOK_ATTR_NAME, "'name='"))
        return false;
    if (str_is(key.s, "replicated"))
        return parse_axes_onto(p, s->mesh, &s->replicated);
    if (str_is(key.s, "manual"))
        return parse_axes_onto(p, s->mesh, &s->manual);
    if (str_is(key.s, "unreduced"))
        return parse_reduction(p, s, &whole);
    if (str_is(key.s, "metadata"))
        return parse_sharding_metadata(p, s);
    return unknown_key(p, key.span, key.s, "sharding", keywords, COUNT_OF(keywords));
}

static bool check_ascending(struct parser *p, struct mesh_axes axes, struct span span)
{
    for (int i = 1; i < axes.count; i++)
        if (axis_cmp(&axes.at[i - 1], &axes.at[i]) > 0)
            return bad_mesh(p, span, "axes are not in mesh order");
    return true;
}

static size_t copy_axes(struct axis_ref *to, struct mesh_axes axes)
{
    if (axes.count)
        memcpy(to, axes.at, (size_t)axes.count * sizeof *to);
    return (size_t)axes.count;
}

static bool check_named(struct parser *p, const struct sharding *s, struct span span)
{
    size_t count = (size_t)(s->replicated.count + s->unreduced.count + s->manual.count);
    for (int d = 0; d < s->dim_count; d++)
        count += (size_t)s->dims[d].axes.count;
    struct axis_ref *all = ARENA_ARRAY(p->arena, struct axis_ref, count);
    count = 0;
    for (int d = 0; d < s->dim_count; d++)
        count += copy_axes(all + count, s->dims[d].axes);
    count += copy_axes(all + count, s->replicated);
    count += copy_axes(all + count, s->unreduced);
    count += copy_axes(all + count, s->manual);
    return check_ascending(p, s->replicated, span) && check_ascending(p, s->unreduced, span) &&
           check_ascending(p, s->manual, span) && check_disjoint(p, all, count, span);
}

/* Consumes a keyword that describes the whole mesh, if present. */
static bool accept_whole(struct parser *p, struct sharding *s)
{
    if (accept(p, TOK_REPLICATED))
        return true;
    if (accept(p, TOK_MANUAL)) {
        s->manual = all_axes(p, s->mesh);
        return true;
    }
    if (accept(p, TOK_UNREDUCED)) {
        s->unreduced = all_axes(p, s->mesh);
        return true;
    }
    return false;
}

/* named_metadata = ["," "metadata=" metadata_list] ; */
static bool parse_named_metadata(struct parser *p, struct sharding *s)
{
    if (!accept(p, TOK_COMMA))
        return true;
    if (p->tok.kind != TOK_ATTR_NAME || !str_is(p->tok.s, "metadata"))
        return expected(p, "'metadata='");
    next(p);
    return parse_sharding_metadata(p, s);
}

/* maximal_mesh = "maximal_mesh" "[" "device_id=" INT "]" named_metadata ; */
static bool parse_maximal_mesh(struct parser *p, struct sharding *s)
{
    struct mesh *m = ARENA_NEW(p->arena, struct mesh);
    s->mesh = m;
    m->maximal = true;
    next(p);
    if (!expect(p, TOK_LSQUARE, NULL))
        return false;
    if (p->tok.kind != TOK_ATTR_NAME || !str_is(p->tok.s, "device_id"))
        return expected(p, "'device_id='");
    next(p);
    return parse_int(p, &m->device) && expect(p, TOK_RSQUARE, NULL) && parse_named_metadata(p, s);
}

static bool parse_dims_and_items(struct parser *p, struct sharding *s)
{
    if (!parse_dim_shardings(p, s))
        return false;
    while (accept(p, TOK_COMMA)) {
        if (!p->strict && p->tok.kind == TOK_RBRACE)
            break;
        if (!parse_named_item(p, s))
            return false;
    }
    return true;
}

/* named_sharding = mesh [","] ("replicated" | "manual" | "unreduced") named_metadata
 *                | mesh [","] dim_shardings {"," named_item} | maximal_mesh ; */
bool parse_named_sharding(struct parser *p, struct sharding *s)
{
    uint32_t begin = p->tok.span.begin;
    if (at_word(p, "maximal_mesh"))
        return parse_maximal_mesh(p, s);
    struct mesh *m;
    bool comma;
    if (!parse_mesh(p, &m, &comma))
        return false;
    s->mesh = m;
    if (!comma)
        accept(p, TOK_COMMA);
    if (p->tok.kind == TOK_LSQUARE)
        return parse_dims_and_items(p, s) && check_named(p, s, span_since(p, begin));
    bool whole = accept_whole(p, s);
    if (!whole && !p->strict && p->tok.kind == TOK_ATTR_NAME && str_is(p->tok.s, "unreduced")) {
        next(p);
        if (!parse_reduction(p, s, &whole))
            return false;
    }
    if (!whole)
        return expected(p, "'[', 'replicated', 'manual' or 'unreduced'");
    if (!m->axis_count && (s->manual.at || s->unreduced.at))
        return bad_mesh(p, span_since(p, begin), "it has no axes");
    return parse_named_metadata(p, s);
}

/* ---- printing ---- */

void print_mesh(struct buf *out, const struct mesh *m)
{
    if (m->maximal) {
        buf_printf(out, "maximal_mesh[device_id=%" PRId64 "]", m->device);
        return;
    }
    buf_puts(out, "mesh[");
    for (int i = 0; i < m->axis_count; i++) {
        buf_puts(out, i ? ",'" : "'");
        buf_str(out, m->axes[i].name);
        buf_puts(out, "'=");
        buf_int(out, m->axes[i].size);
    }
    buf_putc(out, ']');
    if (!m->has_iota && !m->has_list)
        return;
    buf_puts(out, ", device_ids=(");
    if (m->has_iota)
        print_iota_order(out, m->order);
    else
        print_ints(out, m->device_ids);
    buf_putc(out, ')');
}

static void print_axis(struct buf *out, const struct mesh *m, struct axis_ref a)
{
    buf_putc(out, '\'');
    buf_str(out, m->axes[a.axis].name);
    buf_putc(out, '\'');
    if (a.size)
        buf_printf(out, ":(%" PRId64 ")%" PRId64, a.pre_size, a.size);
}

static void print_axis_row(struct buf *out, const struct mesh *m, struct mesh_axes axes,
                           const char *separator)
{
    for (int i = 0; i < axes.count; i++) {
        buf_puts(out, i ? separator : "");
        print_axis(out, m, axes.at[i]);
    }
}

void print_mesh_axes(struct buf *out, const struct mesh *m, struct mesh_axes axes,
                     const char *separator)
{
    buf_putc(out, '{');
    print_axis_row(out, m, axes, separator);
    buf_putc(out, '}');
}

static void print_dim_shardings(struct buf *out, const struct sharding *s)
{
    buf_putc(out, '[');
    for (int d = 0; d < s->dim_count; d++) {
        const struct dim_sharding *dim = &s->dims[d];
        print_separator(out, d, false);
        buf_putc(out, '{');
        print_axis_row(out, s->mesh, dim->axes, ", ");
        if (dim->open)
            buf_puts(out, dim->axes.count ? ", ?" : "?");
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

/* Whether `axes` are the undivided axes of the mesh with more than one device, all of them in
 * order. */
static bool names_whole_mesh(const struct mesh *m, struct mesh_axes axes)
{
    int k = 0;
    for (int i = 0; i < m->axis_count; i++) {
        bool here = k < axes.count && axes.at[k].axis == i && !axes.at[k].size;
        k += here;
        if (!here && m->axes[i].size != 1)
            return false;
    }
    return axes.count > 0 && k == axes.count;
}

/* The keyword that describes the whole sharding; NULL if none. */
static const char *whole_word(const struct sharding *s)
{
    if (s->dim_count || s->replicated.count)
        return NULL;
    if (!s->manual.count && !s->unreduced.count)
        return "replicated";
    if (!s->manual.count && names_whole_mesh(s->mesh, s->unreduced))
        return "unreduced";
    return !s->unreduced.count && names_whole_mesh(s->mesh, s->manual) ? "manual" : NULL;
}

static void print_named_axes(struct buf *out, const struct sharding *s, const char *key,
                             struct mesh_axes axes)
{
    if (!axes.count)
        return;
    buf_puts(out, ", ");
    buf_puts(out, key);
    buf_putc(out, '=');
    if (key[0] == 'u')
        buf_str(out, s->reduction);
    print_mesh_axes(out, s->mesh, axes, ", ");
}

void print_named_sharding(struct buf *out, const struct sharding *s,
                          const struct print_options *options)
{
    print_mesh(out, s->mesh);
    const char *word = s->mesh->maximal ? NULL : whole_word(s);
    if (word) {
        buf_puts(out, ", ");
        buf_puts(out, word);
        if (s->reduction.len) {
            buf_putc(out, '=');
            buf_str(out, s->reduction);
        }
    } else if (!s->mesh->maximal) {
        buf_puts(out, ", ");
        print_dim_shardings(out, s);
        print_named_axes(out, s, "replicated", s->replicated);
        print_named_axes(out, s, "unreduced", s->unreduced);
        print_named_axes(out, s, "manual", s->manual);
    }
    if (s->metadata_count && !options->no_metadata) {
        buf_puts(out, ", ");
        print_sharding_metadata(out, s);
    }
}
