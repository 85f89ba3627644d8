/*
 * sharding.c: parses and prints shardings by tile, and device lists.
 */
#include "text/attr_priv.h"

/* ---- metadata of a sharding ---- */

/* metadata_list = metadata | "{" metadata {"," metadata} "}" ; */
bool parse_sharding_metadata(struct parser *p, struct sharding *s)
{
    struct metadata *at = NULL, m;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    for (int i = 0; i < s->metadata_count; i++)
        VEC_PUSH(p->arena, at, l.count, l.capacity) = s->metadata[i];
    if (p->tok.kind == TOK_LBRACE && peek(p) == TOK_LBRACE) {
        while (list_more(p, &l) && parse_metadata(p, &m))
            VEC_PUSH(p->arena, at, l.count, l.capacity) = m;
    } else if ((l.ok = parse_metadata(p, &m))) {
        VEC_PUSH(p->arena, at, l.count, l.capacity) = m;
    }
    s->metadata_count = (int)l.count;
    s->metadata = at;
    return l.ok;
}

void print_sharding_metadata(struct buf *out, const struct sharding *s)
{
    const char *brackets = s->metadata_count > 1 || s->kind == SHARDING_NAMED ? "{}" : "";
    buf_puts(out, "metadata=");
    for (int i = 0; BUF_LIST(out, i, s->metadata_count, brackets, ", "); i++)
        print_metadata_parts(out, &s->metadata[i]);
}

/* ---- iota orders ---- */

static bool parse_dims_in_brackets(struct parser *p, struct int_vec *v)
{
    return expect(p, TOK_LSQUARE, NULL) && parse_bare_ints(p, v) &&
           expect(p, TOK_RSQUARE, "',' or ']'");
}

/* Parses the transposition, which is required for several dimensions and an error for one. */
static bool parse_iota_transpose(struct parser *p, int64_t dims, struct int_vec *v)
{
    if (dims == 1) {
        int_vec_push(p, v, 0);
        return true;
    }
    if (p->tok.kind != TOK_IDENT || !str_is(p->tok.s, "T"))
        return expected(p, "'T(...)', the dimension order");
    next(p);
    struct span span = p->tok.span;
    if (!expect(p, TOK_LPAREN, NULL) || !parse_bare_ints(p, v) ||
        !expect(p, TOK_RPAREN, "',' or ')'"))
        return false;
    span = span_join(span, (struct span){0, p->prev_end});
    if ((int64_t)v->count != dims)
        return wrong_count(p, span, "T", (int64_t)v->count, dims, "one per dimension");
    for (size_t i = 0; i < v->count; i++)
        if (v->at[i] < 0 || v->at[i] >= dims)
            return DIAG_ERROR(p->ds, span, BAD_SHARDING,
                              "T(...) has a dimension that is out of range");
    return true;
}

/* iota = "[" int_row "]" ["T" "(" int_row ")"] ; */
bool parse_iota_order(struct parser *p, struct iota_order *out)
{
    struct int_vec dims, perm;
    int_vec_init(&dims);
    int_vec_init(&perm);
    if (!parse_dims_in_brackets(p, &dims) || !parse_iota_transpose(p, (int64_t)dims.count, &perm))
        return false;
    *out = iota_canonical(p->arena,
                          (struct iota_order){int_vec_ints(p, &dims), int_vec_ints(p, &perm)});
    return true;
}

void print_iota_order(struct buf *out, struct iota_order order)
{
    buf_putc(out, '[');
    print_ints(out, order.reshape);
    buf_putc(out, ']');
    if (order.reshape.count > 1) {
        buf_puts(out, "T(");
        print_ints(out, order.transpose);
        buf_putc(out, ')');
    }
}

/* ---- parsing of shardings by tile ---- */

static const char *const type_words[] = {"maximal", "manual", "unreduced", "replicated"};

/* The parsed items, before the kind of sharding is known. */
struct tiling {
    bool kinds[SHARDING_TILED]; /* keywords present, by enum sharding_kind */
    bool last_tile_dim_replicate, has_order;
    struct int_vec tile, devices;
    uint8_t *types;
    size_t type_count, type_capacity;
    struct sharding *s;
};

/* devices = "[" int_row "]" (int_row | "<=" iota) ; */
static bool parse_devices(struct parser *p, struct tiling *t)
{
    if (!parse_dims_in_brackets(p, &t->tile))
        return false;
    if (p->tok.kind != TOK_LESS_EQUAL)
        return parse_bare_ints(p, &t->devices);
    if (t->has_order)
        return DIAG_ERROR(p->ds, p->tok.span, BAD_SHARDING, "duplicate device order");
    t->has_order = true;
    next(p);
    return parse_iota_order(p, &t->s->order);
}

static int type_of_token(enum token_kind kind)
{
    switch (kind) {
    case TOK_MAXIMAL: return TILE_MAXIMAL;
    case TOK_MANUAL: return TILE_MANUAL;
    case TOK_UNREDUCED: return TILE_UNREDUCED;
    case TOK_REPLICATED: return TILE_REPLICATED;
    default: return -1;
    }
}

/* last_tile_dims = "{" [type_word {"," type_word}] "}" ; */
static bool parse_last_tile_dims(struct parser *p, struct tiling *t)
{
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l)) {
        int type = type_of_token(p->tok.kind);
        if (type < 0)
            return expected(p, "'maximal', 'manual', 'replicated' or 'unreduced'");
        next(p);
        VEC_PUSH(p->arena, t->types, t->type_count, t->type_capacity) = (uint8_t)type;
    }
    return l.ok;
}

static bool parse_sharding_attr(struct parser *p, struct tiling *t)
{
    static const char *const keywords[] = {"device", "devices", "last_tile_dims", "metadata"};
    struct token key = p->tok;
    next(p);
    if (str_is(key.s, "devices"))
        return parse_devices(p, t);
    if (str_is(key.s, "last_tile_dims"))
        return parse_last_tile_dims(p, t);
    if (str_is(key.s, "metadata"))
        return parse_sharding_metadata(p, t->s);
    if (!str_is(key.s, "device"))
        return unknown_key(p, key.span, key.s, "sharding", keywords, COUNT_OF(keywords));
    int64_t device;
    if (!parse_int(p, &device))
        return false;
    t->devices.count = 0;
    int_vec_push(p, &t->devices, device);
    return true;
}

static bool parse_shard_group(struct parser *p, struct sharding *s)
{
    /* If both are present, shard_as takes precedence. */
    if (p->tok.kind == TOK_SHARD_AS || s->group == SHARD_NO_GROUP)
        s->group = p->tok.kind == TOK_SHARD_AS ? SHARD_AS : SHARD_LIKE;
    next(p);
    return parse_int(p, &s->group_id);
}

/* tiling_item = "replicated" | "maximal" | "manual" | "unknown" | "unreduced" |
 * "last_tile_dim_replicate" | ("shard_as" | "shard_like") INT | "device=" INT | "devices=" devices
 *             | "last_tile_dims=" last_tile_dims | "metadata=" metadata_list ; */
static bool parse_tiling_item(struct parser *p, struct tiling *t)
{
    switch (p->tok.kind) {
    case TOK_REPLICATED: t->kinds[SHARDING_REPLICATED] = true; break;
    case TOK_MAXIMAL: t->kinds[SHARDING_MAXIMAL] = true; break;
    case TOK_MANUAL: t->kinds[SHARDING_MANUAL] = true; break;
    case TOK_UNKNOWN: t->kinds[SHARDING_UNKNOWN] = true; break;
    case TOK_UNREDUCED: t->kinds[SHARDING_UNREDUCED] = true; break;
    case TOK_LAST_TILE_DIM_REPLICATE: t->last_tile_dim_replicate = true; break;
    case TOK_SHARD_AS:
    case TOK_SHARD_LIKE: return parse_shard_group(p, t->s);
    case TOK_ATTR_NAME: return parse_sharding_attr(p, t);
    default:
        return expected(p, p->strict ? "a sharding item or '}' (items are not separated by commas)"
                                     : "a sharding item or '}'");
    }
    next(p);
    return true;
}

static bool bad_sharding(struct parser *p, struct span span, const char *problem)
{
    return DIAG_ERROR(p->ds, span, BAD_SHARDING, problem);
}

/* A sharding given by one keyword; only `maximal` has a device. */
static bool settle_word(struct parser *p, struct tiling *t, struct span span)
{
    struct sharding *s = t->s;
    s->order = (struct iota_order){0};
    if (s->kind == SHARDING_MAXIMAL) {
        if (t->devices.count != 1)
            return bad_sharding(p, span,
                                "'maximal' requires exactly one device, as in 'maximal device=0'");
        s->devices = int_vec_ints(p, &t->devices);
        s->explicit_devices = true;
        return true;
    }
    return !t->devices.count || bad_sharding(p, span, "this kind of sharding has no devices");
}

static bool settle_devices(struct parser *p, struct tiling *t, struct span span)
{
    int64_t tiles, devices = (int64_t)t->devices.count;
    if (!t->tile.count)
        return bad_sharding(p, span, "missing tile shape, as in 'devices=[2,4]<=[8]'");
    if (t->has_order)
        return !devices || bad_sharding(p, span, "devices given both as an order and as a list");
    if (devices <= 1)
        return bad_sharding(p, span, "a device list requires more than one device");
    t->s->devices = int_vec_ints(p, &t->devices);
    t->s->explicit_devices = true;
    if (!ints_product(t->s->tile, &tiles) || tiles != devices)
        return wrong_count(p, span, "devices", devices, tiles, "the product of the tile shape");
    return true;
}

static bool settle_tiling(struct parser *p, struct tiling *t, struct span span)
{
    struct sharding *s = t->s;
    s->kind = SHARDING_TILED;
    s->tile = int_vec_ints(p, &t->tile);
    if (!settle_devices(p, t, span))
        return false;
    if (t->last_tile_dim_replicate) {
        if (t->type_count)
            return bad_sharding(
                p, span, "last_tile_dim_replicate and last_tile_dims are mutually exclusive");
        VEC_PUSH(p->arena, t->types, t->type_count, t->type_capacity) = TILE_REPLICATED;
    }
    if (t->type_count > t->tile.count)
        return bad_sharding(p, span, "last_tile_dims has more entries than the tile shape");
    s->last_type_count = (int)t->type_count;
    s->last_types = t->types;
    const char *problem = sharding_canonicalize(p->arena, s);
    return !problem || bad_sharding(p, span, problem);
}

/* tiling = "{" {tiling_item} "}" ; */
static bool parse_tiling(struct parser *p, uint32_t begin, struct sharding *s)
{
    struct tiling t = {.s = s};
    int_vec_init(&t.tile);
    int_vec_init(&t.devices);
    while (p->tok.kind != TOK_RBRACE) {
        if (!parse_tiling_item(p, &t))
            return false;
        if (!p->strict)
            accept(p, TOK_COMMA);
    }
    next(p);
    for (int kind = SHARDING_REPLICATED; kind < SHARDING_TILED; kind++)
        if (t.kinds[kind]) {
            s->kind = (enum sharding_kind)kind;
            return settle_word(p, &t, span_since(p, begin));
        }
    return settle_tiling(p, &t, span_since(p, begin));
}

/* sharding_one = tiling | "{" named_sharding "}" ; */
static bool parse_sharding_one(struct parser *p, struct sharding **out)
{
    struct sharding *s = *out = ARENA_NEW(p->arena, struct sharding);
    uint32_t begin = p->tok.span.begin;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    if (!starts_mesh(p))
        return parse_tiling(p, begin, s);
    s->kind = SHARDING_NAMED;
    return parse_named_sharding(p, s) && expect(p, TOK_RBRACE, NULL);
}

/* sharding = sharding_one | "{" [sharding_one {"," sharding_one}] "}" ; */
bool parse_sharding(struct parser *p, struct sharding **out)
{
    enum token_kind second = peek(p);
    if (p->tok.kind != TOK_LBRACE || (second != TOK_LBRACE && second != TOK_RBRACE))
        return parse_sharding_one(p, out);
    struct sharding **at = NULL, *one;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l) && parse_sharding_one(p, &one))
        VEC_PUSH(p->arena, at, l.count, l.capacity) = one;
    struct sharding *s = *out = ARENA_NEW(p->arena, struct sharding);
    s->kind = SHARDING_TUPLE;
    s->element_count = (int)l.count;
    s->elements = at;
    return l.ok;
}

/* ---- printing of shardings by tile ---- */

static void print_tile(struct buf *out, const struct sharding *s)
{
    buf_puts(out, "devices=[");
    print_ints(out, s->tile);
    buf_putc(out, ']');
    if (s->explicit_devices) {
        print_ints(out, s->devices);
    } else {
        buf_puts(out, "<=");
        print_iota_order(out, s->order);
    }
    if (s->last_tile_dim_replicate)
        buf_puts(out, " last_tile_dim_replicate");
    if (!s->last_type_count)
        return;
    buf_puts(out, " last_tile_dims=");
    for (int i = 0; BUF_LIST(out, i, s->last_type_count, "{}", ", "); i++)
        buf_puts(out, type_words[s->last_types[i]]);
}

static void print_kind(struct buf *out, const struct sharding *s)
{
    static const char *const keywords[] = {"replicated", "maximal device=", "manual", "unknown",
                                           "unreduced"};
    if (s->kind == SHARDING_TILED) {
        print_tile(out, s);
        return;
    }
    buf_puts(out, keywords[s->kind]);
    if (s->kind == SHARDING_MAXIMAL)
        print_ints(out, s->devices);
}

static void print_one(struct buf *out, const struct sharding *s,
                      const struct print_options *options)
{
    buf_putc(out, '{');
    if (s->kind == SHARDING_NAMED) {
        print_named_sharding(out, s, options);
    } else {
        print_kind(out, s);
        if (s->group != SHARD_NO_GROUP) {
            buf_puts(out, s->group == SHARD_AS ? " shard_as " : " shard_like ");
            buf_int(out, s->group_id);
        }
        if (s->metadata_count && !options->no_metadata) {
            buf_putc(out, ' ');
            print_sharding_metadata(out, s);
        }
    }
    buf_putc(out, '}');
}

static void print_sharding_at(struct buf *out, const struct sharding *s,
                              const struct print_options *options)
{
    if (s->kind != SHARDING_TUPLE) {
        print_one(out, s, options);
        return;
    }
    buf_putc(out, '{');
    for (int i = 0; i < s->element_count; i++) {
        print_separator(out, i, true);
        print_one(out, s->elements[i], options);
    }
    buf_putc(out, '}');
}

PARSE_BY(sharding, parse_sharding, sharding)

void print_sharding_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    print_sharding_at(out, v.sharding, site->options);
}

/* ---- domain ---- */

struct domain_text {
    struct str kind;
    struct sharding *entry, *exit;
};
static const struct field domain_fields[] = {
    {"kind", FIELD_STRING, true, offsetof(struct domain_text, kind)},
    {"entry", FIELD_SHARDING, true, offsetof(struct domain_text, entry)},
    {"exit", FIELD_SHARDING, true, offsetof(struct domain_text, exit)},
};
static const struct block domain_block = {"domain", domain_fields, COUNT_OF(domain_fields), true,
                                          false};

/* domain = sub_attributes ; */
bool parse_domain_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct domain_text t = {0};
    uint32_t begin = p->tok.span.begin, seen;
    if (!parse_block(p, &domain_block, &t, &seen))
        return false;
    if (!str_is(t.kind, "sharding"))
        return DIAG_ERROR(p->ds, span_since(p, begin), UNKNOWN_VALUE, STR_ARG(t.kind), "kind");
    struct domain *d = ARENA_NEW(p->arena, struct domain);
    *d = (struct domain){t.entry, t.exit};
    out->domain = d;
    return true;
}

void print_domain_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_puts(out, "{kind=\"sharding\", entry=");
    print_sharding_at(out, v.domain->entry, site->options);
    buf_puts(out, ", exit=");
    print_sharding_at(out, v.domain->exit, site->options);
    buf_putc(out, '}');
}

/* ---- replica_groups ---- */

static bool parse_group_lists(struct parser *p, struct device_list *out)
{
    union attr_value v;
    if (!attr_parse_value(p, A_SOURCE_TARGET_PAIRS, NULL, &v))
        return false;
    *out = (struct device_list){.form = GROUPS_LIST, .groups = v.ints_list};
    return true;
}

static bool parse_group_order(struct parser *p, struct device_list *out)
{
    struct span span = p->tok.span;
    struct int_vec tile;
    int_vec_init(&tile);
    if (!parse_dims_in_brackets(p, &tile))
        return false;
    if (tile.count != 2)
        return wrong_count(p, span_since(p, span.begin), "replica_groups", (int64_t)tile.count,
                           (int64_t)2, "[groups,size]");
    *out = (struct device_list){
        .form = GROUPS_IOTA, .group_count = tile.at[0], .group_size = tile.at[1]};
    if (!expect(p, TOK_LESS_EQUAL, NULL) || !parse_iota_order(p, &out->order))
        return false;
    int64_t ids, places;
    bool fits = ints_product(out->order.reshape, &ids) && mul_i64(tile.at[0], tile.at[1], &places);
    if (fits && places == ids) /* otherwise XLA aborts when it lists the groups */
        return true;
    return DIAG_ERROR(p->ds, span_since(p, span.begin), BAD_SHARDING,
                      "sizes of groups and device order differ");
}

static bool parse_group_mesh(struct parser *p, struct device_list *out)
{
    uint32_t begin = p->tok.span.begin;
    struct mesh *m;
    struct mesh_axes *axes = ARENA_NEW(p->arena, struct mesh_axes);
    bool comma;
    if (!parse_mesh(p, &m, &comma) || !parse_mesh_axes(p, m, axes))
        return false;
    *out = (struct device_list){.form = GROUPS_MESH, .mesh = m, .axes = axes};
    if (!mesh_axes_product(m, *axes, &out->group_size) || out->group_size < (p->strict ? 2 : 1))
        return DIAG_ERROR(p->ds, span_since(p, begin), BAD_MESH,
                          "groups have fewer than two devices");
    int64_t total;
    if (!mesh_device_count(m, &total)) /* more devices than can exist */
        total = INT64_MAX;
    out->group_count = total / out->group_size;
    return true;
}

/* device_list = int_list_list | "[" INT "," INT "]" "<=" iota | mesh mesh_axes ; */
static bool parse_device_list(struct parser *p, struct device_list *out)
{
    if (p->tok.kind == TOK_LSQUARE)
        return parse_group_order(p, out);
    if (p->tok.kind == TOK_LBRACE)
        return parse_group_lists(p, out);
    if (starts_mesh(p))
        return parse_group_mesh(p, out);
    return expected(p, "groups as in {{0,1},{2,3}} or [2,2]<=[4]");
}

void print_device_list_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    const struct device_list *d = v.groups;
    switch (d->form) {
    case GROUPS_LIST:
        attr_print_value(out, A_SOURCE_TARGET_PAIRS, NULL,
                         (union attr_value){.ints_list = d->groups}, NULL);
        break;
    case GROUPS_IOTA:
        buf_printf(out, "[%" PRId64 ",%" PRId64 "]<=", d->group_count, d->group_size);
        print_iota_order(out, d->order);
        break;
    case GROUPS_MESH:
        print_mesh(out, d->mesh);
        buf_putc(out, ' ');
        print_mesh_axes(out, d->mesh, *d->axes, false, ",");
        break;
    }
}

bool parse_device_list_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct device_list *d = ARENA_NEW(p->arena, struct device_list);
    out->groups = d;
    return parse_device_list(p, d);
}
