/*
 * The public interface, hlo.h, on top of the rooms: what handles hold and how long it lives.
 *
 * Modules and messages point into the text they speak of; files are counted so that the text stays
 * as long as anything needs it.
 */
#include "hlo_priv.h"

#include "kern/kern.h"
#include "op/op.h"
#include "text/text.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

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

hlo_text hlo_about(void)
{
    struct buf b = {0};
    buf_puts(&b, "hlo " HLO_VERSION "\n");
    kern_about(&b);
    return hlo_text_of(&b);
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

void hlo_file_split(hlo_file *f, const char *name, struct str text)
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
    hlo_file_split(f, name, arena_str(&f->arena, (struct str){text, size}));
    return f;
}

/* The origin of a piece, copied once however many pieces are from it. */
static struct source *origin_of(hlo_file *f, struct source *s, const struct hlo_piece *piece, const char **copied)
{
    for (size_t i = s->origin_count; i-- > 0;) /* neighbours mostly come from the same one */
        if (copied[i] == piece->whole)
            return &s->origins[i];
    copied[s->origin_count] = piece->whole;
    struct source *origin = &s->origins[s->origin_count++];
    source_init(origin, arena_str(&f->arena, str_of(piece->name)),
                arena_str(&f->arena, (struct str){piece->whole, piece->whole_size}));
    origin->first_line = piece->first_line;
    return origin;
}

hlo_file *hlo_file_of_pieces(const char *name, const struct hlo_piece *pieces, size_t count)
{
    hlo_file *f = hlo_file_new(false);
    struct buf text = {0};
    const char **copied;
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += pieces[i].size;
    if (size >= UINT32_MAX) {
        hlo_file_free(f);
        return NULL;
    }
    copied = hlo_calloc((count + 1) * sizeof *copied);
    f->parts = ARENA_NEW(&f->arena, struct source);
    f->count = 1;
    struct source *s = f->parts;
    source_init(s, arena_str(&f->arena, str_of(name)), STR(""));
    s->pieces = ARENA_ARRAY(&f->arena, struct source_piece, count + 1);
    s->origins = ARENA_ARRAY(&f->arena, struct source, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct hlo_piece *p = &pieces[i];
        struct source_piece *at = &s->pieces[s->piece_count++];
        at->begin = (uint32_t)text.size;
        if (p->name) {
            at->origin = origin_of(f, s, p, copied);
            at->at = (uint32_t)(p->text - p->whole);
        }
        buf_bytes(&text, p->text, p->size);
    }
    s->text = arena_str(&f->arena, buf_view(&text));
    buf_free(&text);
    free(copied);
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
    for (hlo_messages *t = m->taken, *next; t; t = next) { /* their sinks are freed, but not what these lie in */
        next = t->taken;
        arena_free(&t->arena);
        free(t);
    }
    arena_free(&m->arena);
    free(m);
}

void hlo_messages_take(hlo_messages *m, hlo_messages *from)
{
    hlo_messages **end = &from;
    if (from->first) {
        *(m->last ? &m->last->next : &m->first) = from->first;
        m->last = from->last;
    }
    while (*end)
        end = &(*end)->taken;
    *end = m->taken;
    m->taken = from;
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

struct diags *hlo_sink_of_name(hlo_messages *m, const char *name, struct str text)
{
    struct sink *s = sink_add(m);
    source_init(&s->own, arena_str(&m->arena, str_of(name)), arena_str(&m->arena, text));
    diags_init(&s->ds, &s->own);
    return &s->ds;
}

void hlo_messages_add(hlo_messages *m, const char *file, const char *text)
{
    DIAG(hlo_sink_of_name(m, file, STR("")), NO_SPAN, FAILURE, text);
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
            if (d->msg == MSG_LIMIT_MEMORY || d->msg == MSG_PLAN_MEMORY || d->msg == MSG_LIMIT_STEPS || d->msg == MSG_LIMIT_TIME ||
                d->msg == MSG_LIMIT_TRIP)
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
    struct span span = d->span;
    struct source *source = source_origin(s->ds.source, &span);
    struct hlo_message m = {.id = msg_name(d->msg),
                            .error = d->severity == SEV_ERROR,
                            .file = source->name.ptr,
                            .text = d->text.ptr};
    if (span.begin || span.end) {
        struct place p = source_place(source, span.begin);
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

struct diags *hlo_sink_of_module(hlo_messages *m, const hlo_module *module)
{
    return sink_of_part(m, module->file, module->part);
}

bool hlo_verify(const hlo_module *module, hlo_messages *m)
{
    return verify_module(hlo_sink_of_module(m, module), module->m, &(struct verify_options){0});
}

hlo_text hlo_print(const hlo_module *module, enum hlo_print_style style)
{
    struct buf b = {0};
    struct print_options options = {
        .short_form = style == HLO_PRINT_SHORT,
        .large_constants = style != HLO_PRINT_ABRIDGED,
        .no_metadata = style == HLO_PRINT_BARE,
        .exact = style == HLO_PRINT_EXACT,
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

size_t hlo_param_count(const hlo_module *module)
{
    return (size_t)module->m->entry->param_count;
}

const char *hlo_param_name(const hlo_module *module, size_t i)
{
    /* Names are slices of the text: the copy that ends in NUL is the module's. */
    return arena_str(&module->m->arena, hlo_param_of(module, i)->name).ptr;
}

hlo_text hlo_param_shape(const hlo_module *module, size_t i)
{
    struct buf b = {0};
    shape_print(&b, hlo_param_of(module, i)->shape, false);
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
        if (str_eq(hlo_param_of(module, i)->name, written))
            return (long)i;
        if (is_numbered(hlo_param_of(module, i)->name, written)) {
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
