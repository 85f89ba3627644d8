/*
 * frames.c: parses the stack frame tables and renumbers their entries.
 *
 * XLA rebuilds the tables from the frames that instructions refer to (grammar/text.md 5.8). Here
 * that is done once, after parsing.
 */
#include "text/attr_priv.h"
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

#define FIELD(type, name, member)                                                                  \
    {                                                                                              \
        name, FIELD_INT32, true, offsetof(struct type, member)                                     \
    }
/* frame_fields = "{" {[","] IDENT "=" INT} "}" ; all of them, in any order */
static const struct field location_fields[] = {
    FIELD(file_location, "file_name_id", file), FIELD(file_location, "function_name_id", function),
    FIELD(file_location, "line", line),         FIELD(file_location, "end_line", end_line),
    FIELD(file_location, "column", column),     FIELD(file_location, "end_column", end_column),
};
static const struct field frame_fields[] = {
    FIELD(stack_frame, "file_location_id", location),
    FIELD(stack_frame, "parent_frame_id", parent),
};
static const struct block location_block = {"FileLocations", location_fields,
                                            COUNT_OF(location_fields), true, false};
static const struct block frame_block = {"StackFrames", frame_fields, COUNT_OF(frame_fields), true,
                                         false};

static bool parse_locations(struct parser *p, struct stack_frame_tables *t)
{
    struct file_location l;
    size_t capacity = 0;
    uint32_t seen;
    bool ok = expect(p, TOK_FILE_LOCATIONS, NULL);
    while (ok && accept(p, TOK_INT) && (ok = parse_block(p, &location_block, &l, &seen)))
        VEC_PUSH(p->arena, t->locations, t->location_count, capacity) = l;
    return ok;
}

static bool parse_frames(struct parser *p, struct stack_frame_tables *t)
{
    struct stack_frame f;
    size_t capacity = 0;
    uint32_t seen;
    bool ok = expect(p, TOK_STACK_FRAMES, NULL);
    while (ok && accept(p, TOK_INT) && (ok = parse_block(p, &frame_block, &f, &seen))) {
        f.parent -= f.parent > INT32_MIN; /* plus one in the text: 1 means no parent */
        VEC_PUSH(p->arena, t->frames, t->frame_count, capacity) = f;
    }
    return ok;
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
