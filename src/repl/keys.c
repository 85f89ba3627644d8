/*
 * repl/keys: functions bound to keys: multi-line entries, history, completion, paste.
 */
#include "repl/line_priv.h"

#include <unistd.h>
#include <wchar.h>

/* ---- the buffer ---- */

/* Ends the buffer; the entry and its cursor become those of the buffer. */
static unsigned char leave(struct line_editor *e, enum leave why)
{
    line_take(e);
    e->leave = why;
    return CC_EOF;
}

/* Number of characters between two positions of the buffer, negative backwards. */
static int characters(const char *from, const char *to)
{
    mbstate_t state = {0};
    const char *p = from < to ? from : to;
    size_t n = mbsnrtowcs(NULL, &p, (size_t)(from < to ? to - from : from - to), 0, &state);
    return from < to ? (int)n : -(int)n;
}

/* Moves the cursor to this byte of the entry. */
static unsigned char move_to(struct line_editor *e, size_t at)
{
    line_take(e);
    if (at < e->from || at > e->to) {
        e->cursor = at;
        e->leave = LEAVE_REOPEN;
        return CC_EOF;
    }
    const LineInfo *l = EDIT(line)(e->el);
    EDIT(cursor)(e->el, characters(l->cursor, l->buffer + at - e->from));
    return CC_REFRESH;
}

/* Replaces the entry, in the same buffer if it contains all of the old entry and has space for the
 * new one. */
static unsigned char set_entry(struct line_editor *e, struct str text, size_t cursor)
{
    bool all = e->from == 0 && e->to == e->entry->size && line_fits(e, text);
    if (all) {
        const LineInfo *l = EDIT(line)(e->el);
        int after = characters(l->cursor, l->lastchar), size = characters(l->buffer, l->lastchar);
        EDIT(cursor)(e->el, after);
        EDIT(deletestr)(e->el, size);
    }
    e->entry->size = 0;
    buf_str(e->entry, text);
    if (all) {
        e->to = text.len;
        EDIT(insertstr)(e->el, e->entry->data);
        return move_to(e, cursor);
    }
    e->cursor = cursor;
    e->leave = LEAVE_REOPEN;
    return CC_EOF;
}

/* Inserts text at the cursor of the entry. */
static unsigned char insert(struct line_editor *e, struct str text)
{
    SCOPED_BUF all = {0};
    line_take(e);
    struct str before = {buf_view(e->entry).ptr, e->cursor};
    buf_str(&all, before);
    buf_str(&all, text);
    buf_bytes(&all, before.ptr + before.len, e->entry->size - before.len);
    unsigned char result = set_entry(e, buf_view(&all), e->cursor + text.len);
    return result;
}

static bool is_vi(EditLine *el)
{
    const char *mode = NULL;
    EDIT(get)(el, EL_EDITOR, &mode);
    return mode && strcmp(mode, "vi") == 0;
}

/* ---- ends of lines ---- */

static unsigned char key_newline(EditLine *el, wint_t key)
{
    return insert(editor_of(el), STR("\n"));
}

/* In an incomplete entry, inserts a line break. */
static unsigned char key_enter(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    line_take(e);
    bool at_end = e->cursor == e->entry->size;
    if (at_end || e->hooks->whole(e->hooks->context, buf_view(e->entry)))
        return leave(e, LEAVE_ENTER);
    return key_newline(el, key);
}

static unsigned char key_cancel(EditLine *el, wint_t key)
{
    return leave(editor_of(el), LEAVE_CANCEL);
}

static unsigned char key_end_or_delete(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    const LineInfo *l = EDIT(line)(el);
    if (l->lastchar == l->buffer)
        return leave(e, e->entry->size > 0 ? LEAVE_CANCEL : LEAVE_END);
    EDIT(push)(el, KEY_DELETE);
    return CC_NORM;
}

static unsigned char key_suspend(EditLine *el, wint_t key)
{
    kill(getpid(), SIGTSTP); /* handled like any other signal during editing */
    return CC_NORM;
}

/* Fills a new buffer with its lines. */
static unsigned char key_resume(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    size_t cursor = e->cursor;
    SCOPED_HEAP char *text = heap_str((struct str){e->entry->data + e->from, e->to - e->from});
    EDIT(insertstr)(el, text);
    return move_to(e, cursor);
}

/* ---- movement and history ---- */

/* Continues from the entry found by libedit's search, if it is displayed. */
static void follow_search(struct line_editor *e)
{
    const struct history *h = &e->history;
    if (e->search_at > 0 && e->search_at <= h->count &&
        str_eq(buf_view(&h->entries[e->search_at - 1]), buf_view(e->entry)))
        e->older = h->count - e->search_at + 1;
    e->search_at = 0;
}

static unsigned char through_history(EditLine *el, bool up)
{
    struct line_editor *e = editor_of(el);
    const struct history *h = &e->history;
    line_take(e);
    follow_search(e);
    e->last_move = e->keys;
    if (up ? e->older == h->count : e->older == 0)
        return CC_ERROR;
    if (e->older == 0) {
        e->draft.size = 0;
        buf_str(&e->draft, buf_view(e->entry));
    }
    e->older += up ? 1 : (size_t)-1;
    struct str text = buf_view(e->older > 0 ? &h->entries[h->count - e->older] : &e->draft);
    return set_entry(e, text, text.len);
}

static unsigned char key_older(EditLine *el, wint_t key) { return through_history(el, true); }

static unsigned char key_newer(EditLine *el, wint_t key) { return through_history(el, false); }

/* Whether the previous key was a move in the history: the move continues through all lines of the
 * entry. `key` is the last character of the key sequence: ESC [ A, or k. */
static bool moves_in_history(const struct line_editor *e, wint_t key)
{
    return e->last_move > 0 && e->last_move + (key == L'A' || key == L'B' ? 3 : 1) == e->keys;
}

/* The position in a line nearest to a column in bytes, at a character boundary. */
static size_t in_line(struct str all, size_t line, size_t column)
{
    const size_t end = line_end(all, line);
    return str_char_start(all, end - line > column ? line + column : end);
}

static unsigned char key_up(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    line_take(e);
    struct str all = buf_view(e->entry);
    size_t line = line_start(all, e->cursor);
    if (line == 0 || moves_in_history(e, key))
        return through_history(el, true);
    return move_to(e, in_line(all, line_start(all, line - 1), e->cursor - line));
}

static unsigned char key_down(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    line_take(e);
    struct str all = buf_view(e->entry);
    size_t end = line_end(all, e->cursor);
    if (end == all.len || moves_in_history(e, key))
        return through_history(el, false);
    return move_to(e, in_line(all, end + 1, e->cursor - line_start(all, e->cursor)));
}

/* Moves to the start or end of the line; pressed there, of the entry. */
static unsigned char key_home(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    line_take(e);
    size_t to = line_start(buf_view(e->entry), e->cursor);
    return move_to(e, to == e->cursor ? 0 : to);
}

static unsigned char key_last(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    line_take(e);
    size_t to = line_end(buf_view(e->entry), e->cursor);
    return move_to(e, to == e->cursor ? e->entry->size : to);
}

/* ---- completion ---- */

/* The common prefix; candidates are sorted. */
static struct str common_part(const struct completions *c)
{
    struct str common = c->items[0].text, last = c->items[c->count - 1].text;
    size_t n = 0;
    while (n < common.len && n < last.len && common.ptr[n] == last.ptr[n])
        n++;
    return (struct str){common.ptr, str_char_start(common, n)};
}

/* First Tab: inserts the common prefix of all candidates. Second: lists them. Third: lists all of
 * them. */
static unsigned char key_complete(EditLine *el, wint_t key)
{
    struct line_editor *e = editor_of(el);
    struct completions *c = &e->found;
    e->tabs = e->last_tab + 1 == e->keys ? e->tabs + 1 : 1;
    e->last_tab = e->keys;
    line_take(e);
    completions_free(c);
    struct str entry = arena_str(&c->arena, buf_view(e->entry)); /* `word` is a slice of it */
    e->hooks->complete(e->hooks->context, entry, e->cursor, c);
    completions_sort(c);
    if (c->count == 0)
        return CC_ERROR;
    struct str common = common_part(c);
    if (c->count > 1 && common.len == c->word.len) {
        e->list_all = e->tabs > 2;
        return e->tabs > 1 ? leave(e, LEAVE_LIST) : CC_ERROR;
    }
    SCOPED_BUF more = {0};
    buf_bytes(&more, common.ptr + c->word.len, common.len - c->word.len);
    if (c->count == 1)
        buf_str(&more, c->items[0].tail);
    unsigned char result = more.size > 0 ? insert(e, buf_view(&more)) : CC_ERROR;
    return result;
}

/* ---- paste ---- */

/* Inserts everything up to the end mark except control characters. */
static unsigned char key_paste(EditLine *el, wint_t key)
{
    static const char end[] = "\033[201~";
    struct line_editor *e = editor_of(el);
    SCOPED_BUF raw = {0}, text = {0};
    char c;
    while (!str_ends(buf_view(&raw), str_of(end)) && term_read(e, &c) == INPUT_BYTE)
        buf_putc(&raw, c);
    if (str_ends(buf_view(&raw), str_of(end)))
        raw.size -= sizeof end - 1;
    for (size_t i = 0; i < raw.size; i++) {
        c = raw.data[i];
        if (c == '\r' || (c == '\n' && (i == 0 || raw.data[i - 1] != '\r')))
            buf_putc(&text, '\n');
        else if (((unsigned char)c >= ' ' && c != 0x7f) || c == '\t')
            buf_putc(&text, c);
    }
    while (text.size > 0 && text.data[text.size - 1] == '\n')
        text.size--;
    unsigned char result = insert(e, buf_view(&text));
    if (is_vi(el) && e->leave == LEAVE_NOT)
        EDIT(push)
    (el, "a"); /* the escape of the mark has ended vi's insert mode, in which a new buffer starts */
    return result;
}

/* ---- key bindings ---- */

/* libedit keeps pointers to the names; its narrow el_set() leaks copies of them. */
static const struct {
    const wchar_t *name;
    unsigned char (*function)(EditLine *el, wint_t key);
} functions[] = {
    {L"hlo-enter", key_enter},     {L"hlo-newline", key_newline},
    {L"hlo-cancel", key_cancel},   {L"hlo-end-or-delete", key_end_or_delete},
    {L"hlo-suspend", key_suspend}, {L"hlo-complete", key_complete},
    {L"hlo-paste", key_paste},     {L"hlo-resume", key_resume},
    {L"hlo-older", key_older},     {L"hlo-newer", key_newer},
    {L"hlo-up", key_up},           {L"hlo-down", key_down},
    {L"hlo-home", key_home},       {L"hlo-last", key_last},
};

static const struct {
    const char *key;
    const char *function; /* of the table above, or of libedit */
} bindings[] = {
    {"\r", "hlo-enter"},
    {"\n", "hlo-enter"},
    {"\033\r", "hlo-newline"},
    {"\033\n", "hlo-newline"},
    {"\003", "hlo-cancel"},
    {"\004", "hlo-end-or-delete"},
    {"\032", "hlo-suspend"},
    {"\t", "hlo-complete"},
    {"\033[200~", "hlo-paste"},
    {KEY_RESUME, "hlo-resume"},
    {KEY_DELETE, "ed-delete-next-char"},
    {"\033[3~", "ed-delete-next-char"},
    {"\022", "em-inc-search-prev"},
    {"\020", "hlo-older"},
    {"\033[5~", "hlo-older"},
    {"\016", "hlo-newer"},
    {"\033[6~", "hlo-newer"},
    {"\033[A", "hlo-up"},
    {"\033OA", "hlo-up"},
    {"\033k", "hlo-up"},
    {"\033[B", "hlo-down"},
    {"\033OB", "hlo-down"},
    {"\033j", "hlo-down"},
    {"\033[C", "ed-next-char"},
    {"\033OC", "ed-next-char"},
    {"\033[1;5C", "em-next-word"},
    {"\033[D", "ed-prev-char"},
    {"\033OD", "ed-prev-char"},
    {"\033[1;5D", "ed-prev-word"},
    {"\001", "hlo-home"},
    {"\033[H", "hlo-home"},
    {"\033OH", "hlo-home"},
    {"\033[1~", "hlo-home"},
    {"\005", "hlo-last"},
    {"\033[F", "hlo-last"},
    {"\033OF", "hlo-last"},
    {"\033[4~", "hlo-last"},
};

/* In vi's command mode, which Escape enters, key sequences are bound without their leading
 * escape. */
void keys_bind(EditLine *el)
{
    bool vi = is_vi(el);
    for (size_t i = 0; i < COUNT_OF(functions); i++)
        EDIT(wset)(el, EL_ADDFN, functions[i].name, L"", functions[i].function);
    for (size_t i = 0; i < COUNT_OF(bindings); i++) {
        const char *key = bindings[i].key, *function = bindings[i].function;
        bool escaped = key[0] == '\033';
        if (!vi || !escaped)
            EDIT(set)(el, EL_BIND, key, function, NULL);
        if (vi && !(escaped && strchr("\r\n", key[1])))
            EDIT(set)(el, EL_BIND, "-a", key + escaped, function, NULL);
    }
}
