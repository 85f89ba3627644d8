/*
 * frames.c: parses the stack frame tables and renumbers their entries.
 *
 * XLA rebuilds the tables from the frames that instructions refer to (grammar/text.md 5.8). Here
 * that is done once, after parsing.
 */
#include "text/parse.h"

/* ---- reading ---- */

/* names = KEYWORD {INT STRING} ; the number is ignored: entries count from 1 */
static bool parse_names(struct parser *p, enum token_kind keyword, struct str **out, int *count)
{
    size_t capacity = 0;
    if (!expect(p, keyword, NULL))
        return false;
    while (accept(p, TOK_INT)) {
        struct str s;
        if (!parse_string(p, &s))
            return false;
        VEC_PUSH(p->arena, *out, *count, capacity) = s;
    }
    return true;
}

/* frame_fields = "{" {[","] IDENT "=" INT} "}" ; every one of `names`, once, in any order */
static bool parse_frame_fields(struct parser *p, const char *const *names, int count,
                               int32_t *values)
{
    unsigned seen = 0;
    if (!expect(p, TOK_LBRACE, NULL))
        return false;
    while (p->tok.kind != TOK_RBRACE) {
        int k = 0;
        accept(p, TOK_COMMA);
        if (p->tok.kind != TOK_ATTR_NAME)
            return expected(p, "a field of the entry");
        while (k < count && !str_is(p->tok.s, names[k]))
            k++;
        if (k == count)
            return expected(p, "a field of the entry");
        if (seen >> k & 1)
            return DIAG_ERROR(p->ds, p->tok.span, DUPLICATE, "field", STR_ARG(p->tok.s));
        seen |= 1U << k;
        next(p);
        if (!parse_int32(p, &values[k]))
            return false;
    }
    for (int k = 0; k < count; k++)
        if (!(seen >> k & 1))
            return DIAG_ERROR(p->ds, p->tok.span, FIELD_MISSING, names[k]);
    next(p);
    return true;
}

static bool parse_locations(struct parser *p, struct stack_frame_tables *t)
{
    static const char *const names[] = {"file_name_id", "function_name_id", "line",
                                        "end_line",     "column",           "end_column"};
    size_t capacity = 0;
    if (!expect(p, TOK_FILE_LOCATIONS, NULL))
        return false;
    while (accept(p, TOK_INT)) {
        int32_t v[COUNT_OF(names)];
        if (!parse_frame_fields(p, names, COUNT_OF(names), v))
            return false;
        VEC_PUSH(p->arena, t->locations, t->location_count, capacity) =
            (struct file_location){v[0], v[1], v[2], v[3], v[4], v[5]};
    }
    return true;
}

static bool parse_frames(struct parser *p, struct stack_frame_tables *t)
{
    static const char *const names[] = {"file_location_id", "parent_frame_id"};
    size_t capacity = 0;
    if (!expect(p, TOK_STACK_FRAMES, NULL))
        return false;
    while (accept(p, TOK_INT)) {
        int32_t v[COUNT_OF(names)];
        if (!parse_frame_fields(p, names, COUNT_OF(names), v))
            return false;
        /* Stored plus one in the text: 1 means no parent. */
        int32_t parent = v[1] > INT32_MIN ? v[1] - 1 : v[1];
        VEC_PUSH(p->arena, t->frames, t->frame_count, capacity) =
            (struct stack_frame){v[0], parent};
    }
    return true;
}

/* frame_tables = "FileNames" {INT STRING} "FunctionNames" {INT STRING}
 *   "FileLocations" {INT frame_fields} "StackFrames" {INT frame_fields} ; */
bool parse_frame_tables(struct parser *p)
{
    struct stack_frame_tables *t = &p->m->frames;
    t->given = true;
    return parse_names(p, TOK_FILE_NAMES, &t->files, &t->file_count) &&
           parse_names(p, TOK_FUNCTION_NAMES, &t->functions, &t->function_count) &&
           parse_locations(p, t) && parse_frames(p, t);
}

/* ---- renumbering ---- */

struct rebuild {
    const struct stack_frame_tables *old;
    struct stack_frame_tables fresh;
    struct arena *arena, scratch;
    int32_t *frame_of; /* old number -> new; 0: not assigned */
    struct map files, functions, locations, frames;
    size_t file_capacity, function_capacity, location_capacity, frame_capacity;
};

/* The number stored for `key`; 0 if the key is new, in which case `next` is stored. */
static int32_t intern(struct rebuild *r, struct map *m, struct str key, int32_t next)
{
    void *known = map_get(m, key);
    if (known)
        return (int32_t)(intptr_t)known;
    map_put(m, arena_str(&r->scratch, key), (void *)(intptr_t)next);
    return 0;
}

/* The number of a name in a list; a new name is appended. */
static int32_t intern_name(struct rebuild *r, struct map *m, struct str name, struct str **list,
                           int *count, size_t *capacity)
{
    int32_t n = intern(r, m, name, *count + 1);
    if (n == 0)
        VEC_PUSH(r->arena, *list, *count, *capacity) = name;
    return n ? n : *count;
}

/* The new number of a location, which must be well-formed. */
static int32_t intern_location(struct rebuild *r, int32_t old)
{
    struct file_location l = r->old->locations[old - 1];
    l.file = intern_name(r, &r->files, r->old->files[l.file - 1], &r->fresh.files,
                         &r->fresh.file_count, &r->file_capacity);
    l.function = intern_name(r, &r->functions, r->old->functions[l.function - 1],
                             &r->fresh.functions, &r->fresh.function_count, &r->function_capacity);
    int32_t n = intern(r, &r->locations, (struct str){(const char *)&l, sizeof l},
                       r->fresh.location_count + 1);
    if (n == 0)
        VEC_PUSH(r->arena, r->fresh.locations, r->fresh.location_count, r->location_capacity) = l;
    return n ? n : r->fresh.location_count;
}

static bool location_is_good(const struct stack_frame_tables *t, int32_t number)
{
    if (number < 1 || number > t->location_count)
        return false;
    const struct file_location *l = &t->locations[number - 1];
    return l->file >= 1 && l->file <= t->file_count && l->function >= 1 &&
           l->function <= t->function_count;
}

/* Whether a frame and its chain of parents are well-formed; malformed ones are marked. */
static bool chain_is_good(struct rebuild *r, int32_t number)
{
    const struct stack_frame_tables *t = r->old;
    int32_t steps = 0, n = number;
    for (; n != 0 && steps <= t->frame_count; steps++) {
        if (n < 1 || n > t->frame_count || !location_is_good(t, t->frames[n - 1].location))
            return false;
        if (r->frame_of[n] > 0)
            return true;
        n = t->frames[n - 1].parent;
    }
    return n == 0;
}

/* The new number of a frame whose chain is well-formed; parents are numbered first. */
static int32_t intern_frame(struct rebuild *r, int32_t number)
{
    const struct stack_frame *frames = r->old->frames;
    int32_t count = 0, parent = 0;
    for (int32_t n = number; n != 0 && r->frame_of[n] == 0; n = frames[n - 1].parent)
        count++;
    if (count == 0)
        return r->frame_of[number];
    int32_t *chain = ARENA_ARRAY(&r->scratch, int32_t, count);
    for (int32_t n = number, k = 0; k < count; n = frames[n - 1].parent)
        chain[k++] = n;
    int32_t above = frames[chain[count - 1] - 1].parent;
    parent = above ? r->frame_of[above] : 0;
    while (count-- > 0) {
        int32_t n = chain[count];
        struct stack_frame f = {intern_location(r, frames[n - 1].location), parent};
        int32_t known = intern(r, &r->frames, (struct str){(const char *)&f, sizeof f},
                               r->fresh.frame_count + 1);
        if (known == 0)
            VEC_PUSH(r->arena, r->fresh.frames, r->fresh.frame_count, r->frame_capacity) = f;
        parent = r->frame_of[n] = known ? known : r->fresh.frame_count;
    }
    return parent;
}

static void renumber_inst(struct rebuild *r, struct inst *i)
{
    const struct metadata *meta = inst_metadata(i);
    if (!meta || meta->stack_frame_id == 0)
        return;
    int32_t old = meta->stack_frame_id;
    int32_t fresh =
        old > 0 && old <= r->old->frame_count && chain_is_good(r, old) ? intern_frame(r, old) : 0;
    if (fresh == old)
        return;
    struct metadata *copy = ARENA_DUP(r->arena, meta, 1);
    copy->stack_frame_id = fresh;
    copy->missing_frame = fresh == 0 ? old : 0;
    for (int k = 0; k < i->attr_count; k++)
        if (i->attrs[k].id == A_METADATA)
            i->attrs[k].v.metadata = copy;
}

void text_rebuild_frames(struct module *m)
{
    struct stack_frame_tables old = m->frames;
    struct rebuild r = {.old = &old, .arena = &m->arena};
    arena_init(&r.scratch);
    map_init(&r.files, &r.scratch);
    map_init(&r.functions, &r.scratch);
    map_init(&r.locations, &r.scratch);
    map_init(&r.frames, &r.scratch);
    r.frame_of = ARENA_ARRAY(&r.scratch, int32_t, old.frame_count + 1);
    for (struct inst *i = NULL; (i = module_next(m, i)) != NULL;)
        renumber_inst(&r, i);
    m->frames = r.fresh;
    m->frames.given = r.fresh.frame_count > 0;
    arena_free(&r.scratch);
}
