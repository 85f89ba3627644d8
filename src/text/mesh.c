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

/* Finds an axis by its name or, if `numbers`, by its number; -1 if not found. */
static int find_axis(const struct mesh *m, struct str name, bool numbers)
{
    for (int i = 0; i < m->axis_count; i++)
        if (str_eq(m->axes[i].name, name))
            return i;
    int64_t number;
    if (numbers && num_parse_i64(name, &number) && number >= 0 && number < m->axis_count)
        return (int)number;
    return -1;
}

/* mesh_shape = "[" [STRING "=" INT {"," STRING "=" INT}] "]" ; */
static bool parse_mesh_shape(struct parser *p, struct mesh *m)
{
    struct mesh_axis *at = NULL;
    struct list l = {TOK_LSQUARE, TOK_RSQUARE};
    while (list_more(p, &l)) {
        struct mesh_axis axis;
        struct span span = p->tok.span;
        if (!parse_string(p, &axis.name) || !expect(p, TOK_EQUAL, NULL) ||
            !parse_int(p, &axis.size))
            return false;
        if (find_axis(m, axis.name, false) >= 0)
            return bad_mesh(p, span, "duplicate axis name");
        VEC_PUSH(p->arena, at, l.count, l.capacity) = axis;
        m->axes = at;
        m->axis_count = (int)l.count;
    }
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
    *out = (struct axis_ref){.axis = find_axis(m, name, true)};
    if (out->axis < 0)
        return DIAG_ERROR(p->ds, span, UNKNOWN_AXIS, STR_ARG(name));
    if (!accept(p, TOK_COLON))
        return true;
    if (!expect(p, TOK_LPAREN, NULL) || !parse_int(p, &out->pre_size) ||
        !expect(p, TOK_RPAREN, NULL) || !parse_int(p, &out->size))
        return false;
    return check_sub_axis(p, m, *out, span_since(p, span.begin));
}

/* Appends the axes of a list; none may continue the preceding one. `open`: whether the list ends in
 * `?`; NULL: it must not. */
static bool parse_axes_onto(struct parser *p, const struct mesh *m, struct mesh_axes *axes,
                            bool *open)
{
    struct axis_ref *at = NULL, a;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    for (int i = 0; i < axes->count; i++)
        VEC_PUSH(p->arena, at, l.count, l.capacity) = axes->at[i];
    while (list_more(p, &l)) {
        uint32_t begin = p->tok.span.begin;
        if (open && (*open = accept(p, TOK_QUESTION))) {
            l.ok = expect(p, TOK_RBRACE, NULL);
            break;
        }
        if (!parse_axis(p, m, &a))
            return false;
        const struct axis_ref *last = l.count ? &at[l.count - 1] : NULL;
        if (last && last->axis == a.axis && last->size && a.size &&
            last->pre_size * last->size == a.pre_size)
            return bad_mesh(p, span_since(p, begin), "adjacent sub-axes can be merged");
        VEC_PUSH(p->arena, at, l.count, l.capacity) = a;
    }
    *axes = (struct mesh_axes){(int)l.count, at};
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
    if (!parse_axes_onto(p, mesh, out, NULL))
        return false;
    return check_disjoint(p, ARENA_DUP(p->arena, out->at, out->count), (size_t)out->count,
                          span_since(p, begin));
}

/* ---- parsing of named shardings ---- */

/* dim_sharding = "{" [{axis ","} (axis | "?")] "}" ; */
static bool parse_dim_sharding(struct parser *p, const struct mesh *m, struct dim_sharding *out)
{
    *out = (struct dim_sharding){0};
    return parse_axes_onto(p, m, &out->axes, &out->open);
}

/* dim_shardings = "[" [dim_sharding {"," dim_sharding}] "]" ; */
static bool parse_dim_shardings(struct parser *p, struct sharding *s)
{
    struct dim_sharding *at = NULL, d;
    struct list l = {TOK_LSQUARE, TOK_RSQUARE};
    while (list_more(p, &l) && parse_dim_sharding(p, s->mesh, &d))
        VEC_PUSH(p->arena, at, l.count, l.capacity) = d;
    s->dims = at;
    s->dim_count = (int)l.count;
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
    return parse_axes_onto(p, s->mesh, &s->unreduced, NULL);
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
        return parse_axes_onto(p, s->mesh, &s->replicated, NULL);
    if (str_is(key.s, "manual"))
        return parse_axes_onto(p, s->mesh, &s->manual, NULL);
    if (str_is(key.s, "unreduced"))
        return parse_reduction(p, s, &whole);
    if (str_is(key.s, "metadata"))
        return parse_sharding_metadata(p, s);
    return unknown_key(p, key.span, key.s, "sharding", keywords, COUNT_OF(keywords));
}

/* The axes of each of the other lists must be in mesh order, and no two of all may overlap. */
static bool check_named(struct parser *p, const struct sharding *s, struct span span)
{
    const struct mesh_axes others[] = {s->replicated, s->unreduced, s->manual};
    struct axis_ref *all = NULL;
    size_t count = 0, capacity = 0;
    for (int d = 0; d < s->dim_count; d++)
        for (int i = 0; i < s->dims[d].axes.count; i++)
            VEC_PUSH(p->arena, all, count, capacity) = s->dims[d].axes.at[i];
    for (size_t k = 0; k < COUNT_OF(others); k++)
        for (int i = 0; i < others[k].count; i++) {
            if (i > 0 && axis_cmp(&others[k].at[i - 1], &others[k].at[i]) > 0)
                return bad_mesh(p, span, "axes are not in mesh order");
            VEC_PUSH(p->arena, all, count, capacity) = others[k].at[i];
        }
    return check_disjoint(p, all, count, span);
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
    buf_puts(out, "mesh");
    for (int i = 0; BUF_LIST(out, i, m->axis_count, "[]", ","); i++) {
        buf_putc(out, '\'');
        buf_str(out, m->axes[i].name);
        buf_puts(out, "'=");
        buf_int(out, m->axes[i].size);
    }
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

void print_mesh_axes(struct buf *out, const struct mesh *m, struct mesh_axes axes, bool open,
                     const char *separator)
{
    for (int i = 0; BUF_LIST(out, i, axes.count + open, "{}", separator); i++)
        if (i == axes.count)
            buf_putc(out, '?');
        else
            print_axis(out, m, axes.at[i]);
}

static void print_dim_shardings(struct buf *out, const struct sharding *s)
{
    for (int d = 0; BUF_LIST(out, d, s->dim_count, "[]", ", "); d++)
        print_mesh_axes(out, s->mesh, s->dims[d].axes, s->dims[d].open, ", ");
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
    print_mesh_axes(out, s->mesh, axes, false, ", ");
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
