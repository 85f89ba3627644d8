/*
 * repl/keys: what keys do beyond what libedit does with them.
 */
#include "repl/line_priv.h"

/* What is in the buffer: all of it, or what is before the cursor. */
static void take_text(const LineInfoW *l, const wchar_t *end, struct buf *out)
{
    out->size = 0;
    buf_wide(out, l->buffer, (size_t)(end - l->buffer));
}

/* The buffer ends, with all of it on the screen; `why` says what is to come of it. */
static unsigned char leave(struct line_editor *e, enum leave why)
{
    const LineInfoW *l = EDIT(wline)(e->el);
    take_text(l, l->cursor, &e->text);
    e->cursor = e->text.size;
    take_text(l, l->lastchar, &e->text);
    e->rows_shown = window_rows(e, buf_view(&e->text));
    e->leave = why;
    e->inject = KEY_NEWLINE;
    return CC_NORM;
}

/* It goes on somewhere else in the entry. */
static unsigned char reopen_at(struct line_editor *e, size_t goal)
{
    leave(e, LEAVE_REOPEN);
    e->goal = goal;
    return CC_NORM;
}

/* All of the entry, or with other text in the buffer. */
static void put_entry(const struct line_editor *e, struct str text, struct buf *out)
{
    buf_str(out, buf_view(&e->before));
    buf_str(out, text);
    buf_str(out, buf_view(&e->after));
}

static bool is_whole(struct line_editor *e)
{
    const LineInfoW *l = EDIT(wline)(e->el);
    struct buf text = {0}, entry = {0};
    take_text(l, l->lastchar, &text);
    put_entry(e, buf_view(&text), &entry);
    bool whole = e->hooks->whole(e->hooks->context, buf_view(&entry));
    buf_free(&text);
    buf_free(&entry);
    return whole;
}

static bool is_vi(EditLine *el)
{
    const char *mode = NULL;
    EDIT(get)(el, EL_EDITOR, &mode);
    return mode && strcmp(mode, "vi") == 0;
}

static unsigned char insert(EditLine *el, const wchar_t *s) { return EDIT(winsertstr)(el, s) == 0 ? CC_REFRESH : CC_ERROR; }

static unsigned char insert_bytes(EditLine *el, struct str s)
{
    wchar_t *w = wide_of(s);
    unsigned char result = w ? insert(el, w) : CC_ERROR;
    heap_free(w);
    return result;
}

/* At the cursor; where there is no more room on the screen, only a part is shown from now on. */
static unsigned char insert_text(EditLine *el, const wchar_t *s)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    struct buf text = {0};
    take_text(l, l->cursor, &text);
    buf_wide(&text, s, wcslen(s));
    size_t cursor = text.size;
    buf_wide(&text, l->cursor, (size_t)(l->lastchar - l->cursor));
    bool fits = window_fits(e, buf_view(&text));
    if (!fits) {
        reopen_at(e, e->before.size + cursor);
        e->text.size = 0;
        buf_str(&e->text, buf_view(&text));
    }
    buf_free(&text);
    return fits ? insert(el, s) : CC_NORM;
}

/* Within an entry that goes on, the line is divided at the cursor. */
static unsigned char key_enter(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    bool at_end = l->cursor == l->lastchar && e->after.size == 0;
    return at_end || is_whole(e) ? leave(e, LEAVE_ENTER) : insert_text(el, L"\n");
}

static unsigned char key_newline(EditLine *el, wint_t key) { return insert_text(el, L"\n"); }

static unsigned char key_cancel(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    EDIT(cursor)(el, (int)(l->lastchar - l->cursor));
    leave(e, LEAVE_CANCEL);
    return insert(el, L"^C"); /* so that one sees it wasn't entered */
}

static unsigned char key_end_or_delete(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    if (l->lastchar == l->buffer)
        return leave(e, e->before.size > 0 ? LEAVE_CANCEL : LEAVE_END);
    if (l->cursor == l->lastchar)
        return CC_ERROR;
    e->inject = KEY_DELETE;
    return CC_NORM;
}

static unsigned char key_suspend(EditLine *el, wint_t key)
{
    input_suspend(editor_of(el));
    return CC_NORM;
}

/* ---- up and down ---- */

/* Rows of one entry: the terminal's end of a row doesn't count, only those in the text. */
static const wchar_t *start_of_line(const LineInfoW *l, const wchar_t *at)
{
    while (at > l->buffer && at[-1] != L'\n')
        at--;
    return at;
}

static const wchar_t *end_of_line(const LineInfoW *l, const wchar_t *at)
{
    while (at < l->lastchar && *at != L'\n')
        at++;
    return at;
}

static unsigned char move_to(EditLine *el, const LineInfoW *l, const wchar_t *line, ptrdiff_t column)
{
    const wchar_t *end = end_of_line(l, line);
    const wchar_t *to = end - line > column ? line + column : end;
    EDIT(cursor)(el, (int)(to - l->cursor));
    return CC_REFRESH;
}

static unsigned char replace(EditLine *el, struct str text)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    if (e->before.size > 0 || !window_fits(e, text)) {
        leave(e, LEAVE_REOPEN);
        e->before.size = e->text.size = e->after.size = 0;
        buf_str(&e->text, text);
        e->goal = text.len;
        e->moved = true;
        return CC_NORM;
    }
    EDIT(cursor)(el, (int)(l->lastchar - l->cursor));
    EDIT(deletestr)(el, (int)(l->lastchar - l->buffer));
    e->after.size = 0;
    return text.len > 0 ? insert_bytes(el, text) : CC_REFRESH;
}

/* What libedit's search has found is where we are in the history, too. */
static void follow_search(struct line_editor *e, struct str shown)
{
    const struct history *h = &e->history;
    if (e->search_at > 0 && e->search_at <= h->count && str_eq(buf_view(&h->entries[e->search_at - 1]), shown))
        e->older = h->count - e->search_at + 1;
    e->search_at = 0;
}

/* libedit's own function forgets what was typed when one comes back from the history without having been there. */
static unsigned char through_history(EditLine *el, int step)
{
    struct line_editor *e = editor_of(el);
    const struct history *h = &e->history;
    const LineInfoW *l = EDIT(wline)(el);
    struct buf text = {0}, shown = {0};
    take_text(l, l->lastchar, &text);
    put_entry(e, buf_view(&text), &shown);
    buf_free(&text);
    follow_search(e, buf_view(&shown));
    e->last_move = e->keys;
    bool there = step > 0 ? e->older < h->count : e->older > 0;
    if (there) {
        if (e->older == 0) {
            e->draft.size = 0;
            buf_str(&e->draft, buf_view(&shown));
        }
        e->older = step > 0 ? e->older + 1 : e->older - 1;
    }
    buf_free(&shown);
    if (!there)
        return CC_ERROR;
    return replace(el, buf_view(e->older > 0 ? &h->entries[h->count - e->older] : &e->draft));
}

/* Pressed again at once, it goes on through the history, whatever is found there. `key` is the last character of what
 * was pressed: of ESC [ A, or k. */
static bool moves_in_history(struct line_editor *e, wint_t key)
{
    enum { ARROW = 3 };
    return e->last_move + (key == L'A' || key == L'B' ? ARROW : 1) == e->keys;
}

/* To a line outside of the buffer: of `lines`, which begin at `from` in the entry, the first or the last. */
static unsigned char move_out(struct line_editor *e, struct str lines, size_t from, bool last, size_t column)
{
    const char *start = lines.ptr;
    for (const char *p; last && (p = memchr(start, '\n', (size_t)(lines.ptr + lines.len - start)));)
        start = p + 1;
    size_t left = (size_t)(lines.ptr + lines.len - start);
    const char *end = memchr(start, '\n', left);
    struct str line = {start, end ? (size_t)(end - start) : left};
    return reopen_at(e, from + (size_t)(start - lines.ptr) + window_column(line, column));
}

static unsigned char key_up(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    const wchar_t *line = start_of_line(l, l->cursor);
    if (moves_in_history(e, key))
        return through_history(el, 1);
    if (line > l->buffer)
        return move_to(el, l, start_of_line(l, line - 1), l->cursor - line);
    if (e->before.size == 0)
        return through_history(el, 1);
    struct str before = {e->before.data, e->before.size - 1};
    return move_out(e, before, 0, true, (size_t)(l->cursor - line));
}

static unsigned char key_down(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    const LineInfoW *l = EDIT(wline)(el);
    const wchar_t *line = start_of_line(l, l->cursor), *end = end_of_line(l, l->cursor);
    if (moves_in_history(e, key))
        return through_history(el, -1);
    if (end < l->lastchar)
        return move_to(el, l, end + 1, l->cursor - line);
    if (e->after.size == 0)
        return through_history(el, -1);
    struct buf text = {0};
    take_text(l, l->lastchar, &text);
    struct str after = {e->after.data + 1, e->after.size - 1};
    unsigned char result = move_out(e, after, e->before.size + text.size + 1, false, (size_t)(l->cursor - line));
    buf_free(&text);
    return result;
}

/* The beginning and the end of the line; there already, of the buffer. */
static unsigned char key_home(EditLine *el, wint_t key)
{
    const LineInfoW *l = EDIT(wline)(el);
    const wchar_t *to = start_of_line(l, l->cursor);
    EDIT(cursor)(el, (int)((to == l->cursor ? l->buffer : to) - l->cursor));
    return CC_REFRESH;
}

static unsigned char key_last(EditLine *el, wint_t key)
{
    const LineInfoW *l = EDIT(wline)(el);
    const wchar_t *to = end_of_line(l, l->cursor);
    EDIT(cursor)(el, (int)((to == l->cursor ? l->lastchar : to) - l->cursor));
    return CC_REFRESH;
}

static unsigned char key_older(EditLine *el, wint_t key) { return through_history(el, 1); }

static unsigned char key_newer(EditLine *el, wint_t key) { return through_history(el, -1); }

size_t keys_rows_to_cursor(struct line_editor *e)
{
    const LineInfoW *l = EDIT(wline)(e->el);
    struct buf text = {0};
    take_text(l, l->cursor, &text);
    size_t rows = window_rows(e, buf_view(&text));
    buf_free(&text);
    return rows;
}

/* ---- completion ---- */

/* What all of them begin with. */
static struct str common_part(const struct completions *c)
{
    struct str common = c->items[0].text;
    for (size_t i = 1; i < c->count; i++) {
        struct str other = c->items[i].text;
        size_t n = 0;
        while (n < common.len && n < other.len && common.ptr[n] == other.ptr[n])
            n++;
        common.len = n;
    }
    while (common.len > 0 && common.len < c->items[0].text.len && ((unsigned char)common.ptr[common.len] & 0xc0) == 0x80)
        common.len--; /* not within a character */
    return common;
}

static void find_completions(struct line_editor *e)
{
    const LineInfoW *l = EDIT(wline)(e->el);
    struct buf text = {0}, entry = {0};
    take_text(l, l->cursor, &text);
    size_t cursor = e->before.size + text.size;
    take_text(l, l->lastchar, &text);
    put_entry(e, buf_view(&text), &entry);
    buf_free(&text);
    completions_free(&e->found);
    struct str kept = arena_str(&e->found.arena, buf_view(&entry)); /* `word` points into it */
    buf_free(&entry);
    e->hooks->complete(e->hooks->context, kept, cursor, &e->found);
    completions_sort(&e->found);
}

/* Once: as far as there is but one way to go on. Twice: what may stand here; three times: all of that. */
static unsigned char key_complete(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    e->tabs = e->last_tab + 1 == e->keys ? e->tabs + 1 : 1;
    e->last_tab = e->keys;
    if (!e->hooks->complete)
        return insert(el, L"  ");
    find_completions(e);
    if (e->found.count == 0)
        return CC_ERROR;
    struct str common = common_part(&e->found);
    size_t typed = e->found.word.len;
    if (e->found.count == 1 || common.len > typed) {
        struct buf more = {0};
        buf_bytes(&more, common.ptr + typed, common.len - typed);
        if (e->found.count == 1)
            buf_str(&more, e->found.items[0].tail);
        unsigned char result = more.size ? insert_bytes(el, buf_view(&more)) : CC_ERROR;
        buf_free(&more);
        return result;
    }
    if (e->tabs == 1)
        return CC_ERROR;
    e->list_all = e->tabs > 2;
    return leave(e, LEAVE_LIST);
}

/* ---- paste ---- */

/* Everything up to the mark that ends it is text. */
static unsigned char key_paste(EditLine *el, wint_t key)
{
    static const wchar_t end[] = L"\033[201~";
    wchar_t *text = NULL, c;
    size_t size = 0, capacity = 0, matched = 0;
    bool after_return = false;
    while (matched < COUNT_OF(end) - 1 && EDIT(wgetc)(el, &c) == 1) {
        matched = c == end[matched] ? matched + 1 : c == end[0] ? 1 : 0;
        if (size + 2 > capacity) {
            capacity = capacity ? capacity * 2 : 256;
            text = heap_grow(text, capacity * sizeof *text);
        }
        bool second = c == L'\n' && after_return; /* of \r\n */
        after_return = c == L'\r';
        if (c == L'\r')
            c = L'\n';
        if (!second)
            text[size++] = c;
    }
    if (!text)
        return CC_ERROR;
    size -= matched < size ? matched : size;
    size_t kept = 0;
    for (size_t i = 0; i < size; i++) /* other control characters have no business in a text */
        if ((text[i] >= L' ' && text[i] != 0x7f) || text[i] == L'\n' || text[i] == L'\t')
            text[kept++] = text[i];
    while (kept > 0 && text[kept - 1] == L'\n')
        kept--;
    text[kept] = L'\0';
    unsigned char result = kept ? insert_text(el, text) : CC_NORM;
    heap_free(text);
    if (is_vi(el) && !editor_of(el)->inject)
        editor_of(el)->inject = L"a"; /* the escape at the beginning of the mark has ended insertion */
    return result;
}

/* The text that this buffer begins with. */
static unsigned char key_resume(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    struct str text = buf_view(&e->text), head = {text.ptr, e->cursor};
    unsigned char result = insert_bytes(el, text);
    wchar_t *w = wide_of(head);
    const LineInfoW *l = EDIT(wline)(el);
    if (w)
        EDIT(cursor)(el, (int)((ptrdiff_t)wcslen(w) - (l->lastchar - l->buffer)));
    heap_free(w);
    e->text.size = 0;
    return result;
}

/* ---- the table ---- */

typedef unsigned char key_function(EditLine *el, wint_t key);

static const struct {
    const wchar_t *name;
    key_function *function;
} functions[] = {
    {L"hlo-cancel", key_cancel},   {L"hlo-complete", key_complete},
    {L"hlo-down", key_down},       {L"hlo-end-or-delete", key_end_or_delete},
    {L"hlo-enter", key_enter},     {L"hlo-home", key_home},
    {L"hlo-last", key_last},       {L"hlo-newer", key_newer},
    {L"hlo-newline", key_newline}, {L"hlo-older", key_older},
    {L"hlo-paste", key_paste},     {L"hlo-resume", key_resume},
    {L"hlo-suspend", key_suspend}, {L"hlo-up", key_up},
};

struct binding {
    const wchar_t *key, *function;
};

/* In all modes. */
static const struct binding everywhere[] = {
    {L"\r", L"hlo-enter"},
    {L"\n", L"hlo-enter"},
    {L"\003", L"hlo-cancel"},
    {L"\004", L"hlo-end-or-delete"},
    {L"\032", L"hlo-suspend"},
    {L"\t", L"hlo-complete"},
    {L"\001", L"hlo-home"},
    {L"\005", L"hlo-last"},
    {L"\022", L"em-inc-search-prev"},
    {L"\020", L"hlo-older"},
    {L"\016", L"hlo-newer"},
    {KEY_NEWLINE, L"ed-newline"},
    {KEY_RESUME, L"hlo-resume"},
    {KEY_DELETE, L"ed-delete-next-char"},
};

/* After an escape. In vi's mode that is a key of its own, and these are bound where it leads, in the mode for commands. */
static const struct binding escaped[] = {
    {L"[200~", L"hlo-paste"},    {L"[A", L"hlo-up"},          {L"OA", L"hlo-up"},       {L"[B", L"hlo-down"},
    {L"OB", L"hlo-down"},        {L"[C", L"ed-next-char"},    {L"OC", L"ed-next-char"}, {L"[D", L"ed-prev-char"},
    {L"OD", L"ed-prev-char"},    {L"[H", L"hlo-home"},        {L"OH", L"hlo-home"},     {L"[1~", L"hlo-home"},
    {L"[F", L"hlo-last"},        {L"OF", L"hlo-last"},        {L"[4~", L"hlo-last"},    {L"[3~", L"ed-delete-next-char"},
    {L"[1;5C", L"em-next-word"}, {L"[1;5D", L"ed-prev-word"}, {L"[5~", L"hlo-older"},   {L"[6~", L"hlo-newer"},
};

void keys_bind(EditLine *el)
{
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        EDIT(wset)(el, EL_ADDFN, functions[i].name, L"of hlo", functions[i].function);
    bool vi = is_vi(el);
    if (vi) {
        EDIT(wset)(el, EL_BIND, L"-a", L"k", L"hlo-up", NULL);
        EDIT(wset)(el, EL_BIND, L"-a", L"j", L"hlo-down", NULL);
    }
    for (size_t i = 0; i < COUNT_OF(everywhere); i++) {
        EDIT(wset)(el, EL_BIND, everywhere[i].key, everywhere[i].function, NULL);
        if (vi)
            EDIT(wset)(el, EL_BIND, L"-a", everywhere[i].key, everywhere[i].function, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(escaped); i++) {
        wchar_t key[16] = L"\033";
        if (vi)
            EDIT(wset)(el, EL_BIND, L"-a", escaped[i].key, escaped[i].function, NULL);
        else
            EDIT(wset)(el, EL_BIND, wcscat(key, escaped[i].key), escaped[i].function, NULL);
    }
    if (!vi) {
        EDIT(wset)(el, EL_BIND, L"\033\r", L"hlo-newline", NULL);
        EDIT(wset)(el, EL_BIND, L"\033\n", L"hlo-newline", NULL);
    }
}
