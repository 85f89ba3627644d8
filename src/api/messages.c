/*
 * Public interface: messages, a list of sinks, one for each source text.
 */
#include "api/api.h"
#include "text/text.h"

hlo_messages *hlo_messages_new(void)
{
    OOM_SCOPE(NULL);
    hlo_messages *m = heap_zalloc(1, sizeof *m);
    arena_init(&m->arena);
    map_init(&m->by_source, &m->arena);
    return m;
}

void hlo_messages_cleanup(void *m) { hlo_messages_free(m); }

void hlo_messages_free(hlo_messages *m)
{
    if (!m)
        return;
    for (struct sink *s = m->first; s; s = s->next) {
        diags_free(&s->ds);
        source_free(&s->own);
        hlo_file_free(s->file);
    }
    for (hlo_messages *t = m->taken, *next; t;
         t = next) { /* the sinks were freed above, the structs are freed here */
        next = t->taken;
        arena_free(&t->arena);
        heap_free(t);
    }
    arena_free(&m->arena);
    heap_free(m);
}

/* Key of a sink in `by_source`: the address of its source. */
static struct str source_key(const struct sink *s)
{
    return (struct str){(const char *)&s->ds.source, sizeof s->ds.source};
}

void hlo_messages_take(hlo_messages *m, hlo_messages *from)
{
    hlo_messages **end = &from;
    for (struct sink *s = from->first; s; s = s->next)
        if (s->file && !map_get(&m->by_source, source_key(s)))
            map_put(&m->by_source, source_key(s), s);
    if (from->first) {
        *(m->last ? &m->last->next : &m->first) = from->first;
        m->last = from->last;
    }
    while (*end)
        end = &(*end)->taken;
    *end = m->taken;
    m->taken = from;
}

/* Messages are allocated for the owner of the messages, not in the out-of-memory scope of the
 * current call. */
static void sink_init(hlo_messages *m, struct sink *s, struct source *source)
{
    diags_init(&s->ds, source);
    s->ds.arena.generation = s->own.generation = m->arena.generation;
}

struct sink *hlo_sink_new(hlo_messages *m)
{
    struct sink *s = ARENA_NEW(&m->arena, struct sink);
    sink_init(m, s, &s->own);
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

struct diags *hlo_sink_of_part(hlo_messages *m, hlo_file *f, size_t part)
{
    const struct source *source = &f->parts[part];
    struct sink *s = map_get(&m->by_source, (struct str){(const char *)&source, sizeof source});
    if (s)
        return &s->ds;
    s = sink_add(m);
    s->file = hlo_file_hold(f);
    sink_init(m, s, &f->parts[part]);
    map_put(&m->by_source, source_key(s), s);
    return &s->ds;
}

struct diags *hlo_sink_of_module(hlo_messages *m, const hlo_module *module)
{
    return hlo_sink_of_part(m, module->file, module->part);
}

struct diags *hlo_sink_of_name(hlo_messages *m, const char *name, struct str text)
{
    struct sink *s = sink_add(m);
    source_init(&s->own, arena_str(&m->arena, str_of(name)), arena_str(&m->arena, text));
    sink_init(m, s, &s->own);
    return &s->ds;
}

void hlo_messages_add(hlo_messages *m, const char *file, const char *text)
{
    struct oom_scope g;
    if (oom_begin(&g) && setjmp(g.back) != 0)
        hlo_messages_no_memory(m);
    else
        DIAG(hlo_sink_of_name(m, file, STR("")), NO_SPAN, FAILURE, text);
    oom_leave(&g);
}

static struct span span_of(const struct hlo_piece *place)
{
    return (struct span){0, place->size ? (uint32_t)place->size : 1};
}

void hlo_messages_add_at(hlo_messages *m, const struct hlo_piece *place, const char *text)
{
    struct oom_scope g;
    SCOPED_FILE *f = hlo_file_of_pieces(place->name, place, 1);
    if (!f || (oom_begin(&g) && setjmp(g.back) != 0))
        hlo_messages_no_memory(m);
    else
        DIAG(hlo_sink_of_part(m, f, 0), span_of(place), FAILURE, text);
    if (f)
        oom_leave(&g);
}

void hlo_messages_no_memory(hlo_messages *m)
{
    struct sink *s = &m->oom;
    if (s->ds.oom)
        return;
    source_init(&s->own, STR("hlo"), STR(""));
    diags_init(&s->ds, &s->own);
    diags_no_memory(&s->ds);
    hlo_sink_join(m, s);
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
            if (d->msg == MSG_LIMIT_MEMORY || d->msg == MSG_PLAN_MEMORY ||
                d->msg == MSG_LIMIT_STEPS || d->msg == MSG_LIMIT_TIME || d->msg == MSG_LIMIT_TRIP)
                return true;
    return false;
}

static struct hlo_message message_of(struct sink *s, const struct diag *d)
{
    struct span span = d->span;
    struct source *source = source_origin(s->ds.source, &span);
    struct hlo_message m = {.id = msg_name(d->msg),
                            .error = d->severity == SEV_ERROR,
                            .file = source->name.ptr,
                            .text = d->text.ptr};
    SCOPED_BUF path = {0};
    const bool structured = source_path(source, span, &path);
    if ((span.begin || span.end) && !structured) {
        struct place p = source_place(source, span.begin);
        m.line = p.line;
        m.column = p.column;
    }
    return m;
}

struct hlo_message hlo_messages_get(const hlo_messages *m, size_t i)
{
    OOM_SCOPE(((struct hlo_message){
        .id = msg_name(MSG_OUT_OF_MEMORY), .error = true, .file = "hlo", .text = "out of memory"}));
    size_t before = i;
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            if (before-- == 0)
                return message_of(s, d);
    return (struct hlo_message){.id = "", .file = "", .text = ""};
}

/* The palette for messages about a source, of which modules are in color; NULL: no color. */
static const struct palette *palette_for(struct palette *p, const struct sink *s,
                                         const char *colors)
{
    palette_read(p, str_of(colors ? colors : ""));
    p->highlight = s->file ? text_highlight : NULL;
    return colors ? p : NULL;
}

hlo_text hlo_messages_draw_in(const hlo_messages *m, const char *colors)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    struct palette p;
    for (struct sink *s = m->first; s; s = s->next)
        diags_draw(&b, &s->ds, palette_for(&p, s, colors));
    return hlo_text_of(&b);
}

/* Renders one message, without the notes about omitted ones. */
static void draw_one(struct buf *out, const struct diags *ds, const struct diag *d,
                     const struct palette *colors)
{
    struct diag one = *d;
    struct diags only = *ds;
    one.next = NULL;
    only.first = only.last = &one;
    only.warnings = only.kept_warnings = only.dropped = 0;
    diags_draw(out, &only, colors);
}

hlo_text hlo_messages_draw_one(const hlo_messages *m, size_t i, const char *colors)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    struct palette p;
    size_t before = i;
    for (struct sink *s = m->first; s; s = s->next)
        for (struct diag *d = s->ds.first; d; d = d->next)
            if (before-- == 0)
                draw_one(&b, &s->ds, d, palette_for(&p, s, colors));
    return hlo_text_of(&b);
}

hlo_text hlo_messages_draw(const hlo_messages *m, bool color)
{
    return hlo_messages_draw_in(m, color ? "" : NULL);
}

hlo_text hlo_highlight(const char *text, size_t size, const char *colors)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    text_highlight(&b, (struct str){text, size}, str_of(colors));
    return hlo_text_of(&b);
}

bool hlo_colors_known(const char *colors)
{
    struct palette p;
    return palette_read(&p, str_of(colors));
}

hlo_text hlo_messages_json(const hlo_messages *m)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    buf_putc(&b, '[');
    for (struct sink *s = m->first; s; s = s->next)
        diags_json(&b, &s->ds);
    buf_putc(&b, ']');
    return hlo_text_of(&b);
}
