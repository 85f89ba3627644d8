/*
 * repl/state: the texts that a session consists of, and the values that were set. States share what they have in common.
 */
#include "repl/session.h"

void *repl_alloc(size_t size)
{
    void *p = heap_zalloc(1, size ? size : 1);
    return p;
}

char *repl_copy(struct str s)
{
    char *z = repl_alloc(s.len + 1);
    if (s.len)
        memcpy(z, s.ptr, s.len);
    return z;
}

void repl_set(char **text, const char *to)
{
    char *copy = to ? repl_copy(str_of(to)) : NULL;
    heap_free(*text);
    *text = copy;
}

/* ---- texts ---- */

struct typed *typed_new(const char *name, struct str text, uint32_t first_line)
{
    struct typed *t = repl_alloc(sizeof *t);
    *t = (struct typed){1, repl_copy(str_of(name)), repl_copy(text), text.len, first_line};
    return t;
}

/* NULL holds nothing, here and in typed_drop. */
static struct typed *typed_hold(struct typed *t)
{
    if (t)
        t->holders++;
    return t;
}

void typed_drop(struct typed *t)
{
    if (!t || --t->holders > 0)
        return;
    heap_free(t->name);
    heap_free(t->text);
    heap_free(t);
}

struct entry *entry_of_parts(struct str name, struct typed *from, const char *before, struct str text, const char *between,
                             struct str more, const char *after)
{
    struct entry *e = repl_alloc(sizeof *e);
    const struct str parts[] = {str_of(before), text, str_of(between), more, str_of(after)};
    *e = (struct entry){.holders = 1,
                        .name = repl_copy(name),
                        .from = typed_hold(from),
                        .text = text,
                        .more = more,
                        .before = repl_copy(parts[0]),
                        .between = repl_copy(parts[2]),
                        .after = repl_copy(parts[4])};
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        e->hash = mix(e->hash, hash_bytes(parts[i].ptr, parts[i].len));
    return e;
}

struct entry *entry_new(struct str name, struct typed *from, struct str text, const char *before, const char *after)
{
    return entry_of_parts(name, from, before, text, "", STR(""), after);
}

struct entry *entry_hold(struct entry *e)
{
    if (e)
        e->holders++;
    return e;
}

void entry_drop(struct entry *e)
{
    if (!e || --e->holders > 0)
        return;
    typed_drop(e->from);
    heap_free(e->name);
    heap_free(e->before);
    heap_free(e->between);
    heap_free(e->after);
    heap_free(e);
}

/* ---- values with several owners ---- */

static uint64_t bytes_of(const hlo_literal *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < hlo_literal_leaves(l); i++) {
        struct hlo_array a = hlo_literal_leaf(l, i);
        sum += (uint64_t)a.elements * a.element_size;
    }
    return sum;
}

struct held *held_new(hlo_literal *l)
{
    if (!l)
        return NULL;
    struct held *h = repl_alloc(sizeof *h);
    *h = (struct held){.holders = 1, .l = l, .own = l, .bytes = bytes_of(l)};
    return h;
}

struct held *held_element(struct held *tuple, size_t i)
{
    struct held *h = repl_alloc(sizeof *h);
    const hlo_literal *l = hlo_literal_element(tuple->l, i);
    *h = (struct held){.holders = 1, .l = l, .within = held_hold(tuple), .bytes = bytes_of(l)};
    return h;
}

struct held *held_hold(struct held *h)
{
    if (h)
        h->holders++;
    return h;
}

void held_drop(struct held *h)
{
    if (!h || --h->holders > 0)
        return;
    hlo_literal_free(h->own);
    held_drop(h->within);
    heap_free(h);
}

/* ---- states ---- */

struct state *state_new(void)
{
    struct state *s = repl_alloc(sizeof *s);
    s->root = LAST;
    s->entry_name = repl_copy(STR("main"));
    s->entry_tail = repl_copy(STR(""));
    return s;
}

static struct entry **copy_entries(struct entry *const *from, size_t count)
{
    struct entry **to = repl_alloc((count + 1) * sizeof *to); /* room for one more */
    for (size_t i = 0; i < count; i++)
        to[i] = entry_hold(from[i]);
    return to;
}

struct state *state_copy(const struct state *from)
{
    struct state *s = repl_alloc(sizeof *s);
    *s = *from;
    entry_hold(s->header);
    s->computations = copy_entries(from->computations, from->computation_count);
    s->insts = copy_entries(from->insts, from->inst_count);
    s->entry_name = repl_copy(str_of(from->entry_name));
    s->entry_tail = repl_copy(str_of(from->entry_tail));
    s->settings = repl_alloc((from->setting_count + 1) * sizeof *s->settings);
    for (size_t i = 0; i < s->setting_count; i++) {
        s->settings[i] = from->settings[i];
        s->settings[i].name = repl_copy(str_of(from->settings[i].name));
        held_hold(s->settings[i].value);
    }
    return s;
}

static void drop_entries(struct entry **e, size_t count)
{
    for (size_t i = 0; i < count; i++)
        entry_drop(e[i]);
    heap_free(e);
}

void state_free(struct state *s)
{
    if (!s)
        return;
    entry_drop(s->header);
    drop_entries(s->computations, s->computation_count);
    drop_entries(s->insts, s->inst_count);
    for (size_t i = 0; i < s->setting_count; i++) {
        heap_free(s->settings[i].name);
        held_drop(s->settings[i].value);
    }
    heap_free(s->settings);
    heap_free(s->entry_name);
    heap_free(s->entry_tail);
    heap_free(s);
}

static long find_entry(struct entry *const *entries, size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_is(name, entries[i]->name))
            return (long)i;
    return -1;
}

long state_find(const struct state *s, struct str name)
{
    return find_entry(s->insts, s->inst_count, name);
}

long state_find_computation(const struct state *s, struct str name)
{
    return find_entry(s->computations, s->computation_count, name);
}

static long add_entry(struct entry ***entries, size_t *count, struct entry *e)
{
    struct entry **more = heap_grow(*entries, (*count + 1) * sizeof *more);
    *entries = more;
    more[*count] = e;
    return (long)(*count)++;
}

/* In place of the one of its name, or behind the others. Its number. */
static long put_entry(struct entry ***entries, size_t *count, struct entry *e)
{
    long at = find_entry(*entries, *count, str_of(e->name));
    if (at < 0)
        return add_entry(entries, count, e);
    entry_drop((*entries)[at]);
    (*entries)[at] = e;
    return at;
}

void state_put(struct state *s, struct entry *e, bool root)
{
    long at = put_entry(&s->insts, &s->inst_count, e);
    if (root)
        s->root = at;
}

void state_add(struct state *s, struct entry *e, bool root)
{
    long at = add_entry(&s->insts, &s->inst_count, e);
    if (root)
        s->root = at;
}

void state_move_last(struct state *s, long at)
{
    struct entry *e = s->insts[at];
    memmove(&s->insts[at], &s->insts[at + 1], (s->inst_count - (size_t)at - 1) * sizeof *s->insts);
    s->insts[s->inst_count - 1] = e;
    if (s->root == at)
        s->root = (long)s->inst_count - 1;
    else if (s->root > at)
        s->root--;
}

void state_put_computation(struct state *s, struct entry *e)
{
    put_entry(&s->computations, &s->computation_count, e);
}

static struct setting *setting_of(const struct state *s, struct str name)
{
    for (size_t i = 0; i < s->setting_count; i++)
        if (str_is(name, s->settings[i].name))
            return &s->settings[i];
    return NULL;
}

const struct setting *state_setting(const struct state *s, const char *name)
{
    return setting_of(s, str_of(name));
}

void state_set(struct state *s, struct str name, struct held *value, uint64_t id)
{
    struct setting *old = setting_of(s, name);
    if (old) {
        heap_free(old->name);
        held_drop(old->value);
        *old = s->settings[--s->setting_count];
    }
    if (!value)
        return;
    struct setting *more = heap_grow(s->settings, (s->setting_count + 1) * sizeof *more);
    s->settings = more;
    more[s->setting_count++] = (struct setting){repl_copy(name), value, id};
}

struct entry *state_root(const struct state *s)
{
    if (s->inst_count == 0)
        return NULL;
    return s->insts[s->root == LAST ? (long)s->inst_count - 1 : s->root];
}
