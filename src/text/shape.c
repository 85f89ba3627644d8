/*
 * shape.c: parses shapes and layouts.
 *
 * Shapes repeat: an array shape is looked up by its spelling before it is parsed. XLA records
 * errors in the part of a layout after the colon without stopping; so does this parser, and in
 * default mode it reports them.
 */
#include "text/text_priv.h"

struct shape_cache {
    struct map by_text;
    struct str last_text;
    const struct shape *last;
};

struct shape_cache *shape_cache_new(struct arena *a)
{
    struct shape_cache *cache = ARENA_NEW(a, struct shape_cache);
    map_init(&cache->by_text, a);
    return cache;
}

struct i64_vec {
    int64_t *at;
    size_t count, capacity;
};

static void push_int(struct parser *p, struct i64_vec *v, int64_t n)
{
    VEC_PUSH(p->arena, v->at, v->count, v->capacity) = n;
}

bool starts_shape(const struct parser *p)
{
    const struct token *t = &p->tok;
    return t->kind == TOK_DTYPE || t->kind == TOK_LPAREN ||
           (t->kind == TOK_IDENT && t->s.len == 1 && *t->s.ptr == 'b' && peek(p) == TOK_LPAREN);
}

/* ---- layouts ---- */

/* State of a layout. The first error is recorded, not reported. */
struct layout_reader {
    struct parser *p;
    struct layout l;
    const char *missing;
    struct lex_state where;
};

static bool layout_missing(struct layout_reader *r, const char *what)
{
    if (!r->missing) {
        r->missing = what;
        r->where = lex_save(r->p);
    }
    return false;
}

static bool layout_expect(struct layout_reader *r, enum token_kind kind, const char *what)
{
    return accept(r->p, kind) || layout_missing(r, what);
}

static bool layout_int(struct layout_reader *r, int64_t *out)
{
    if (r->p->tok.kind != TOK_INT)
        return layout_missing(r, "an integer");
    *out = r->p->tok.i;
    next(r->p);
    return true;
}

static bool accept_letter(struct parser *p, const char *letter)
{
    if (p->tok.kind != TOK_IDENT || !str_is(p->tok.s, letter))
        return false;
    next(p);
    return true;
}

/* layout_number = "(" INT ")" ; */
static void parse_layout_number(struct layout_reader *r, int64_t *out)
{
    if (layout_expect(r, TOK_LPAREN, "'('") && layout_int(r, out))
        layout_expect(r, TOK_RPAREN, "')'");
}

/* dim_level_types = "D" "(" [level {"," level}] ")" ; level = ("D" | "C" | "S" | "H") ["+"] ["~"] ;
 */
static void parse_dim_level_types(struct layout_reader *r)
{
    struct parser *p = r->p;
    if (!layout_expect(r, TOK_LPAREN, "'('"))
        return;
    if (accept(p, TOK_RPAREN))
        return;
    do {
        bool level = p->tok.kind == TOK_IDENT && p->tok.s.len == 1 && strchr("DCSH", *p->tok.s.ptr);
        if (!level) {
            layout_missing(r, "D, C, S or H");
            return;
        }
        next(p);
        accept(p, TOK_PLUS);
        accept(p, TOK_TILDE);
    } while (accept(p, TOK_COMMA));
    layout_expect(r, TOK_RPAREN, "')'");
}

/* [INT {"," INT}] ")", and with `stars` also "*" for a number */
static bool layout_ints(struct layout_reader *r, bool stars, struct i64_vec *out)
{
    if (r->p->tok.kind != TOK_RPAREN) {
        do {
            int64_t n = TILE_COMBINE;
            if (!(stars && accept(r->p, TOK_STAR)) && !layout_int(r, &n))
                return false;
            push_int(r->p, out, n);
        } while (accept(r->p, TOK_COMMA));
    }
    return layout_expect(r, TOK_RPAREN, "')'");
}

/* tile = "(" [(INT | "*") {"," (INT | "*")}] ")" ; */
static bool parse_tile(struct layout_reader *r, struct tile *out)
{
    struct i64_vec dims = {0};
    const bool ok = layout_expect(r, TOK_LPAREN, "'('") && layout_ints(r, true, &dims);
    *out = (struct tile){(int)dims.count, dims.at};
    return ok;
}

/* tiles = "T" tile {tile} ; */
static void parse_tiles(struct layout_reader *r)
{
    struct tile *tiles = NULL;
    size_t count = 0, capacity = 0;
    bool ok;
    do {
        struct tile t;
        ok = parse_tile(r, &t);
        VEC_PUSH(r->p->arena, tiles, count, capacity) = t;
    } while (ok && r->p->tok.kind == TOK_LPAREN);
    r->l.tiles = tiles;
    r->l.tile_count = (int)count;
}

/* layout_type = "(" DTYPE ")" ; after `#` or `*`. As in XLA, a missing piece doesn't stop the
 * reading. */
static void parse_layout_type(struct layout_reader *r, enum dtype *out)
{
    struct parser *p = r->p;
    layout_expect(r, TOK_LPAREN, "'('");
    if (p->tok.kind == TOK_DTYPE) {
        *out = dtype_is_integer(p->tok.dtype) ? p->tok.dtype : DT_TUPLE;
        next(p);
    } else {
        layout_missing(r, "an element type");
    }
    layout_expect(r, TOK_RPAREN, "')'");
}

/* split_configs = "SC" split {split} ; split = "(" INT ":" [INT {"," INT}] ")" ; */
static void parse_split_configs(struct layout_reader *r)
{
    struct parser *p = r->p;
    struct split_config *splits = NULL;
    size_t count = 0, capacity = 0;
    bool ok;
    do {
        struct split_config s = {0};
        struct i64_vec indices = {0};
        if (!layout_expect(r, TOK_LPAREN, "'('") || !layout_int(r, &s.dimension))
            break;
        ok = layout_expect(r, TOK_COLON, "':'") && layout_ints(r, false, &indices);
        s.count = (int)indices.count;
        s.indices = indices.at;
        VEC_PUSH(p->arena, splits, count, capacity) = s;
    } while (ok && p->tok.kind == TOK_LPAREN);
    r->l.splits = splits;
    r->l.split_count = (int)count;
}

/* layout_attributes = [dim_level_types] [tiles] ["L" layout_number] ["#" layout_type] ["*"
 * layout_type]
 *   ["E" layout_number] ["S" layout_number] [split_configs] ["M" layout_number] ; in this order */
static bool parse_layout_attributes(struct layout_reader *r)
{
    struct parser *p = r->p;
    if (accept_letter(p, "D"))
        parse_dim_level_types(r);
    if (accept_letter(p, "T"))
        parse_tiles(r);
    if (accept_letter(p, "L"))
        parse_layout_number(r, &r->l.tail_padding);
    if (accept(p, TOK_HASH))
        parse_layout_type(r, &r->l.index_type);
    if (accept(p, TOK_STAR))
        parse_layout_type(r, &r->l.pointer_type);
    if (accept_letter(p, "E"))
        parse_layout_number(r, &r->l.element_bits);
    if (accept_letter(p, "S"))
        parse_layout_number(r, &r->l.memory_space);
    if (accept_letter(p, "SC"))
        parse_split_configs(r);
    if (accept_letter(p, "M"))
        parse_layout_number(r, &r->l.metadata_prefix);
    return true;
}

/* Rejects sizes for which XLA aborts. */
static bool check_layout_sizes(struct parser *p, const struct layout *l, struct span span)
{
    for (int i = 0; i < l->tile_count; i++)
        for (int d = 0; d < l->tiles[i].rank; d++)
            if (l->tiles[i].dims[d] < 0 && l->tiles[i].dims[d] != TILE_COMBINE)
                return DIAG_ERROR(p->ds, span, BAD_LAYOUT, "negative tile size");
    if (l->tail_padding < 1)
        return DIAG_ERROR(p->ds, span, BAD_LAYOUT, "tail padding L(n) must be at least 1");
    return true;
}

/* minor_to_major = [INT {"," INT}] ; */
static bool parse_minor_to_major(struct parser *p, struct layout *l)
{
    struct i64_vec order = {0};
    if (p->tok.kind == TOK_INT) {
        do {
            if (p->tok.kind != TOK_INT)
                return expected(p, "a dimension number");
            push_int(p, &order, p->tok.i);
            next(p);
        } while (accept(p, TOK_COMMA));
    }
    l->rank = (int)order.count;
    l->minor_to_major = order.at;
    return true;
}

/* layout = "{" minor_to_major [":" layout_attributes] "}" ;
 * layout = "<" minor_to_major ">" ; (* extension *) */
static bool parse_layout(struct parser *p, int rank, const struct layout **out)
{
    struct layout_reader r = {
        .p = p, .l = {.tail_padding = 1, .index_type = DT_COUNT, .pointer_type = DT_COUNT}};
    struct span span = p->tok.span;
    enum token_kind close = p->tok.kind == TOK_LESS ? TOK_GREATER : TOK_RBRACE;
    next(p);
    if (!parse_minor_to_major(p, &r.l))
        return false;
    if (close == TOK_RBRACE && accept(p, TOK_COLON))
        parse_layout_attributes(&r);
    if (p->tok.kind != close) {
        if (r.missing)
            lex_restore(p, r.where);
        return expected(p, r.missing ? r.missing : close == TOK_RBRACE ? "',', ':' or '}'" : "'>'");
    }
    span.end = p->tok.span.end;
    next(p);
    if (r.missing && !p->strict)
        DIAG(p->ds, r.where.tok.span, LAYOUT_PART_IGNORED, r.missing);
    if (r.l.rank != rank)
        return DIAG_ERROR(p->ds, span, LAYOUT_RANK, r.l.rank, rank);
    if (!check_layout_sizes(p, &r.l, span))
        return false;
    *out = ARENA_DUP(p->arena, &r.l, 1);
    return true;
}

/* ---- arrays ---- */

/* The end of a shape that is written without blanks, as printers do; 0 if it is not. */
static size_t spelling_end(const struct parser *p)
{
    enum { LONGEST = 96 };
    const char *s = p->text.ptr + p->at, *begin = s, *end = p->text.ptr + p->text.len;
    if (s == end || *s++ != '[')
        return 0;
    for (; s < end && *s != ']'; s++)
        if (s - begin > LONGEST ||
            ((unsigned char)(*s - '0') >= 10 && *s != ',' && *s != '<' && *s != '=' && *s != '?'))
            return 0;
    if (s == end)
        return 0;
    s++;
    if (end - s < 2 || s[0] != '{' || !(s[1] == ':' || (unsigned char)(s[1] - '0') < 10))
        return (size_t)(s - p->text.ptr);
    for (s++; s < end && *s != '}'; s++)
        if (s - begin > LONGEST || *s <= ' ' || *s == '{' || *s == '/')
            return 0;
    return s == end ? 0 : (size_t)(s + 1 - p->text.ptr);
}

/* The cached shape of this spelling, whose text is then consumed; NULL if it is not cached. */
static const struct shape *cached_shape(struct parser *p, struct str spelling, size_t end)
{
    struct shape_cache *cache = p->shapes;
    const struct shape *s =
        str_eq(spelling, cache->last_text) ? cache->last : map_get(&cache->by_text, spelling);
    if (!s)
        return NULL;
    struct lex_state before = lex_save(p);
    lex_jump(p, end);
    bool layout_follows = p->tok.kind == TOK_LBRACE || p->tok.kind == TOK_LESS;
    if (layout_follows && spelling.ptr[spelling.len - 1] == ']') {
        lex_restore(p, before);
        return NULL;
    }
    cache->last_text = spelling;
    cache->last = s;
    return s;
}

/* dimension = INT | "<=" INT | "?" ; */
static bool parse_dimension(struct parser *p, int64_t *size, bool *dynamic)
{
    *dynamic = true;
    *size = DIM_UNBOUNDED;
    if (accept(p, TOK_QUESTION))
        return true;
    *dynamic = accept(p, TOK_LESS_EQUAL);
    if (p->tok.kind != TOK_INT)
        return expected(p, *dynamic ? "a size" : "a size, '<=' or '?'");
    *size = p->tok.i;
    if (*size < 0)
        return DIAG_ERROR(p->ds, p->tok.span, NEGATIVE_SIZE, (long long)*size);
    next(p);
    return true;
}

/* Whether the `{` here begins a layout. */
static bool starts_layout(const struct parser *p)
{
    if (p->tok.kind == TOK_LESS)
        return true;
    if (p->tok.kind != TOK_LBRACE)
        return false;
    enum token_kind ahead = peek(p);
    if (ahead != TOK_INT && ahead != TOK_COLON)
        return false;
    if (!p->bare_literals)
        return true;
    struct parser after = {.text = p->text, .strict = p->strict, .at = p->at, .tok = p->tok};
    struct diags none = {.quiet = true};
    after.ds = &none;
    struct str dict;
    return p->tok.span.begin == p->prev_end && lex_dict(&after, &dict) &&
           after.tok.kind != TOK_EOF && after.tok.kind != TOK_COMMA && after.tok.kind != TOK_RPAREN;
}

/* array = DTYPE "[" [dimension {"," dimension}] "]" [layout] ; */
static bool parse_array_shape(struct parser *p, const struct shape **out)
{
    enum dtype t = p->tok.dtype;
    struct span span = p->tok.span;
    struct i64_vec dims = {0};
    bool *dynamic = NULL, any_dynamic = false;
    size_t flags = 0, capacity = 0;
    next(p);
    if (!expect(p, TOK_LSQUARE, "'[' after the element type"))
        return false;
    if (p->tok.kind != TOK_RSQUARE) {
        do {
            int64_t size;
            bool flag;
            if (!parse_dimension(p, &size, &flag))
                return false;
            push_int(p, &dims, size);
            VEC_PUSH(p->arena, dynamic, flags, capacity) = flag;
            any_dynamic |= flag;
        } while (accept(p, TOK_COMMA));
    }
    span.end = p->tok.span.end;
    if (!expect(p, TOK_RSQUARE, "',' or ']'"))
        return false;
    if (!dtype_is_array(t) && dims.count)
        return DIAG_ERROR(p->ds, span, NO_DIMENSIONS, dtype_spelling(t));
    if (!dtype_is_array(t) && starts_layout(p))
        return DIAG_ERROR(p->ds, p->tok.span, BAD_LAYOUT, "only arrays have a layout");
    const struct layout *layout = NULL;
    if (starts_layout(p) && !parse_layout(p, (int)dims.count, &layout))
        return false;
    if (!dtype_is_array(t))
        *out = t == DT_TOKEN ? shape_token() : shape_opaque();
    else
        *out = shape_array(p->arena, t, (int)dims.count, dims.at, any_dynamic ? dynamic : NULL,
                           layout);
    return true;
}

/* The last shape, if the same spelling, up to the end of its layout, is repeated here. */
static const struct shape *repeated_shape(struct parser *p)
{
    struct str last = p->shapes ? p->shapes->last_text : STR("");
    size_t begin = p->tok.span.begin;
    if (last.len == 0 || last.ptr[last.len - 1] != '}' || p->text.len - begin < last.len ||
        memcmp(p->text.ptr + begin, last.ptr, last.len) != 0)
        return NULL;
    lex_jump(p, begin + last.len);
    return p->shapes->last;
}

/* A separate function, to keep the stack frame of the recursive parse_shape small. */
__attribute__((noinline)) static bool parse_array_by_spelling(struct parser *p,
                                                              const struct shape **out)
{
    if ((*out = repeated_shape(p)))
        return true;
    size_t begin = p->tok.span.begin, end = p->shapes ? spelling_end(p) : 0;
    unsigned warnings = p->ds->warnings;
    struct str spelling = {p->text.ptr + begin, end - begin};
    if (end && (*out = cached_shape(p, spelling, end)))
        return true;
    if (!parse_array_shape(p, out))
        return false;
    if (end && p->prev_end == end && p->ds->warnings == warnings)
        map_put(&p->shapes->by_text, spelling, (void *)(uintptr_t)*out);
    return true;
}

/* ---- tuples and buffers ---- */

/* Whether XLA can count the elements. It multiplies dimension by dimension, so [2^40,2^40,0] has
 * too many and [0,2^40,2^40] does not. Only strict mode rejects the former. */
static bool count_elements(const struct shape *s, bool strict, int64_t *elements)
{
    bool fits = true, empty = false;
    *elements = 1;
    for (int d = 0; d < s->rank; d++) {
        empty |= s->dims[d] == 0;
        if (s->dims[d] != DIM_UNBOUNDED)
            fits = fits && mul_i64(*elements, s->dims[d], elements);
    }
    if (empty)
        *elements = 0;
    return fits || (empty && !strict);
}

/* Why XLA rejects a component at the end of the tuple; NULL if it does not. */
static const char *component_problem(const struct shape *s, bool strict)
{
    if (s->dtype == DT_BUFFER)
        return component_problem(s->elements[0], strict);
    if (!shape_is_array(s))
        return NULL;
    int64_t elements, bytes;
    if (!count_elements(s, strict, &elements))
        return "too many elements";
    if (!mul_i64(elements, (int64_t)dtype_bytes(s->dtype), &bytes))
        return "too many bytes";
    return layout_problem(s->layout, s);
}

/* tuple_shape = "(" [shape {"," shape}] ")" ; */
static bool parse_tuple_shape(struct parser *p, const struct shape **out)
{
    const struct shape **elements = NULL;
    struct span *spans = NULL;
    size_t count = 0, capacity = 0, span_count = 0, span_capacity = 0;
    next(p);
    if (p->tok.kind != TOK_RPAREN) {
        do {
            const struct shape *s;
            struct span span = p->tok.span;
            if (!parse_shape(p, &s))
                return false;
            span.end = p->prev_end;
            VEC_PUSH(p->arena, elements, count, capacity) = s;
            VEC_PUSH(p->arena, spans, span_count, span_capacity) = span;
        } while (accept(p, TOK_COMMA));
    }
    if (!expect(p, TOK_RPAREN, "',' or ')'"))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *problem = component_problem(elements[i], p->strict);
        if (problem)
            return DIAG_ERROR(p->ds, spans[i], BAD_LAYOUT, problem);
    }
    *out = shape_tuple(p->arena, (int)count, elements);
    return true;
}

/* buffer_shape = "b" "(" array ")" ; */
static bool parse_buffer_shape(struct parser *p, const struct shape **out)
{
    const struct shape *array;
    next(p);
    next(p);
    struct span span = p->tok.span;
    if (!parse_shape(p, &array))
        return false;
    if (!shape_is_array(array))
        return DIAG_ERROR(p->ds, span_join(span, (struct span){0, p->prev_end}), BUFFER_OF_ARRAY);
    *out = shape_buffer(p->arena, array);
    return expect(p, TOK_RPAREN, NULL);
}

/* Reports that the current word is not an element type. */
static bool report_no_shape(struct parser *p)
{
    if (p->tok.kind != TOK_IDENT || peek(p) != TOK_LSQUARE)
        return expected(p, "a shape");
    const char *keywords[DT_COUNT];
    size_t count = 0;
    for (int t = 0; t < DT_COUNT; t++)
        if (dtype_find(str_of(dtype_spelling((enum dtype)t))) != DT_INVALID)
            keywords[count++] = dtype_spelling((enum dtype)t);
    struct diag *d = DIAG(p->ds, p->tok.span, UNKNOWN_TYPE, STR_ARG(p->tok.s));
    diag_suggest(p->ds, d, diag_nearest(p->tok.s, keywords, count));
    return false;
}

/* shape = array | tuple_shape | buffer_shape ; */
bool parse_shape(struct parser *p, const struct shape **out)
{
    if (p->tok.kind == TOK_DTYPE)
        return parse_array_by_spelling(p, out);
    /* stack usage of one level: the unit; NESTING_LIMIT of them must fit even with sanitizers */
    enum { WEIGHT = 1 };
    p->depth += WEIGHT;
    bool ok = enter(p);
    if (ok && p->tok.kind == TOK_LPAREN)
        ok = parse_tuple_shape(p, out);
    else if (ok && starts_shape(p))
        ok = parse_buffer_shape(p, out);
    else if (ok)
        ok = report_no_shape(p);
    leave(p);
    p->depth -= WEIGHT;
    return ok;
}
