/*
 * repl/state: states, that is, the texts of a session and the values that were set. States share
 * common data.
 */
#include "repl/session.h"

void repl_set(char **text, const char *to)
{
    char *copy = to ? heap_str(str_of(to)) : NULL;
    heap_free(*text);
    *text = copy;
}

/* ---- texts ---- */

struct source_text *source_text_new(const char *name, struct str text, uint32_t first_line)
{
    struct source_text *t = heap_zalloc(1, sizeof *t);
    *t = (struct source_text){1, heap_str(str_of(name)), heap_str(text), text.len, first_line};
    return t;
}

/* NULL is allowed, here and in source_text_unref. */
static struct source_text *source_text_ref(struct source_text *t)
{
    if (t)
        t->refs++;
    return t;
}

void source_text_unref(struct source_text *t)
{
    if (!t || --t->refs > 0)
        return;
    heap_free(t->name);
    heap_free(t->text);
    heap_free(t);
}

struct entry *entry_of_parts(struct str name, struct source_text *from,
                             const struct text_part *parts, size_t count)
{
    struct entry *e = heap_zalloc(1, sizeof *e);
    SCOPED_BUF generated = {0};
    size_t at = 0;
    *e = (struct entry){.refs = 1,
                        .name = heap_str(name),
                        .from = source_text_ref(from),
                        .parts = heap_zalloc(count + 1, sizeof *e->parts)};
    for (size_t i = 0; i < count; i++)
        if (!part_is_typed(&parts[i]))
            buf_str(&generated, parts[i].text);
    e->generated = heap_str(buf_view(&generated));
    for (size_t i = 0; i < count; i++) {
        struct text_part *p = &e->parts[e->part_count];
        *p = parts[i];
        if (p->text.len == 0)
            continue;
        if (!part_is_typed(p)) {
            p->text.ptr = e->generated + at;
            at += p->text.len;
        }
        e->hash = mix(e->hash, hash_bytes(p->text.ptr, p->text.len));
        e->part_count++;
    }
    return e;
}

struct entry *entry_new(struct str name, struct source_text *from, struct str text,
                        const char *before, const char *after)
{
    const struct text_part parts[] = {
        {str_of(before), STR("")}, {text, text}, {str_of(after), STR("")}};
    return entry_of_parts(name, from, parts, COUNT_OF(parts));
}

struct str entry_typed(const struct entry *e)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (part_is_typed(&e->parts[i]))
            return e->parts[i].text;
    return STR("");
}

bool entry_mentions(const struct entry *e, const char *word)
{
    for (size_t i = 0; i < e->part_count; i++)
        if (part_is_typed(&e->parts[i]) &&
            memmem(e->parts[i].text.ptr, e->parts[i].text.len, word, strlen(word)))
            return true;
    return false;
}

struct entry *entry_ref(struct entry *e)
{
    if (e)
        e->refs++;
    return e;
}

void entry_unref(struct entry *e)
{
    if (!e || --e->refs > 0)
        return;
    source_text_unref(e->from);
    shared_value_unref(e->value);
    heap_free(e->name);
    heap_free(e->parts);
    heap_free(e->generated);
    heap_free(e);
}

/* ---- reference-counted values ---- */

static uint64_t bytes_of(const hlo_literal *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < hlo_literal_leaves(l); i++) {
        struct hlo_array a = hlo_literal_leaf(l, i);
        sum += (uint64_t)a.elements * a.element_size;
    }
    return sum;
}

struct shared_value *shared_value_new(hlo_literal *l)
{
    if (!l)
        return NULL;
    struct shared_value *h = heap_zalloc(1, sizeof *h);
    *h = (struct shared_value){.refs = 1, .l = l, .own = l, .bytes = bytes_of(l)};
    return h;
}

struct shared_value *shared_value_element(struct shared_value *tuple, size_t i)
{
    struct shared_value *h = heap_zalloc(1, sizeof *h);
    const hlo_literal *l = hlo_literal_element(tuple->l, i);
    *h = (struct shared_value){
        .refs = 1, .l = l, .within = shared_value_ref(tuple), .bytes = bytes_of(l)};
    return h;
}

struct shared_value *shared_value_ref(struct shared_value *h)
{
    if (h)
        h->refs++;
    return h;
}

void shared_value_unref(struct shared_value *h)
{
    if (!h || --h->refs > 0)
        return;
    hlo_literal_free(h->own);
    shared_value_unref(h->within);
    heap_free(h);
}

/* ---- lists of entries, shared between states ---- */

static struct entry_list *list_new(void)
{
    struct entry_list *l = heap_zalloc(1, sizeof *l);
    l->refs = 1;
    arena_init(&l->arena);
    map_init(&l->places, &l->arena);
    return l;
}

static void note_place(struct entry_list *l, size_t at)
{
    const struct str name = str_of(l->at[at]->name);
    const struct str key =
        map_get(&l->places, name)
            ? name
            : arena_str(&l->arena, name); /* the entry may be freed before the list */
    map_put(&l->places, key, (void *)(uintptr_t)(at + 1));
}

static void list_add(struct entry_list *l, struct entry *e)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 8;
        l->at = heap_grow(l->at, l->capacity * sizeof *l->at);
    }
    l->at[l->count++] = e;
    note_place(l, l->count - 1);
}

static struct entries entries_ref(struct entries e)
{
    if (e.list)
        e.list->refs++;
    return e;
}

static void entries_drop(struct entries e)
{
    if (!e.list || --e.list->refs > 0)
        return;
    for (size_t i = 0; i < e.list->count; i++)
        entry_unref(e.list->at[i]);
    heap_free(e.list->at);
    arena_free(&e.list->arena);
    heap_free(e.list);
}

/* Makes a list that is not shared with other states and may be modified. */
static void entries_own(struct entries *e)
{
    const struct entries shared = *e;
    if (shared.list && shared.list->refs == 1 && shared.list->count == shared.count)
        return;
    e->list = list_new();
    for (size_t i = 0; i < shared.count; i++)
        list_add(e->list, entry_ref(shared.list->at[i]));
    entries_drop(shared);
}

static long entries_find(const struct entries *e, struct str name)
{
    const size_t place = e->list ? (size_t)(uintptr_t)map_get(&e->list->places, name) : 0;
    return place > 0 && place <= e->count ? (long)place - 1 : -1;
}

/* Appends an entry. The list may stay shared, since other states use its first entries only.
 * Returns its index. */
static long entries_add(struct entries *e, struct entry *added)
{
    if (!e->list || e->list->count != e->count)
        entries_own(e);
    list_add(e->list, added);
    return (long)e->count++;
}

/* Replaces the entry of the same name, or appends. Returns its index. */
static long entries_put(struct entries *e, struct entry *put)
{
    const long at = entries_find(e, str_of(put->name));
    if (at < 0)
        return entries_add(e, put);
    entries_own(e);
    entry_unref(e->list->at[at]);
    e->list->at[at] = put;
    return at;
}

/* ---- states ---- */

struct state *state_new(void)
{
    struct state *s = heap_zalloc(1, sizeof *s);
    s->root = LAST;
    s->entry_name = heap_str(STR("main"));
    s->entry_tail = heap_str(STR(""));
    return s;
}

struct state *state_copy(const struct state *from)
{
    struct state *s = heap_zalloc(1, sizeof *s);
    *s = *from;
    entry_ref(s->header);
    entries_ref(s->computations);
    entries_ref(s->insts);
    s->entry_name = heap_str(str_of(from->entry_name));
    s->entry_tail = heap_str(str_of(from->entry_tail));
    entries_ref(s->settings);
    s->change = NULL;
    return s;
}

void state_free(struct state *s)
{
    if (!s)
        return;
    entry_unref(s->header);
    entries_drop(s->computations);
    entries_drop(s->insts);
    entries_drop(s->settings);
    heap_free(s->entry_name);
    heap_free(s->entry_tail);
    heap_free(s->change);
    heap_free(s);
}

long state_find(const struct state *s, struct str name) { return entries_find(&s->insts, name); }

long state_find_computation(const struct state *s, struct str name)
{
    return entries_find(&s->computations, name);
}

struct str state_new_name(struct state *s, struct arena *a)
{
    for (;; s->unnamed++) {
        struct str name = arena_printf(a, "_%zu", s->unnamed + 1);
        if (state_find(s, name) < 0 && state_find_computation(s, name) < 0)
            return name;
    }
}

void state_put(struct state *s, struct entry *e, bool root)
{
    long at = entries_put(&s->insts, e);
    if (root)
        s->root = at;
}

void state_add(struct state *s, struct entry *e, bool root)
{
    long at = entries_add(&s->insts, e);
    if (root)
        s->root = at;
}

void state_move(struct state *s, size_t from, size_t to)
{
    const size_t low = from < to ? from : to, high = from < to ? to : from;
    const struct entry *root = s->root == LAST ? NULL : state_inst(s, (size_t)s->root);
    entries_own(&s->insts);
    struct entry_list *l = s->insts.list;
    struct entry *e = l->at[from];
    if (from < to)
        memmove(&l->at[low], &l->at[low + 1], (high - low) * sizeof *l->at);
    else
        memmove(&l->at[low + 1], &l->at[low], (high - low) * sizeof *l->at);
    l->at[to] = e;
    for (size_t i = low; i <= high; i++) {
        note_place(l, i);
        if (l->at[i] == root)
            s->root = (long)i;
    }
}

void state_keep(struct state *s, size_t count)
{
    s->insts.count = count;
    if (s->root >= (long)count)
        s->root = LAST;
}

void state_put_computation(struct state *s, struct entry *e) { entries_put(&s->computations, e); }

const struct entry *state_setting(const struct state *s, const char *name)
{
    const long at = entries_find(&s->settings, str_of(name));
    return at < 0 ? NULL : s->settings.list->at[at];
}

void state_set(struct state *s, struct str name, struct shared_value *value, uint64_t id)
{
    const long at = entries_find(&s->settings, name);
    if (value) {
        struct entry *e = entry_new(name, NULL, STR(""), "", "");
        e->value = value;
        e->id = id;
        entries_put(&s->settings, e);
    } else if (at >= 0) {
        const struct entries old = s->settings;
        s->settings = (struct entries){0};
        for (size_t i = 0; i < old.count; i++)
            if (i != (size_t)at)
                entries_add(&s->settings, entry_ref(old.list->at[i]));
        entries_drop(old);
    }
}

struct entry *state_root(const struct state *s)
{
    if (s->insts.count == 0)
        return NULL;
    return state_inst(s, s->root == LAST ? s->insts.count - 1 : (size_t)s->root);
}
