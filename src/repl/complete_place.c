/*
 * repl/complete_place: where in a text one is, by its brackets and words.
 */
#include "repl/complete_priv.h"

#include "hlo_advanced.h"

enum { DEEPEST = 64 };

struct level {    /* between two brackets, or all of the text */
    char bracket; /* that opened it; 0 */
    enum complete_place_kind kind;
    size_t op; /* whose operands stand here, or stood and attributes follow */
    struct str attribute;
    const char *given; /* what follows the operands begins here */
};

struct walk {
    struct level levels[DEEPEST];
    size_t depth;
    struct str word; /* that was read last, if nothing else but blanks followed; else empty */
    bool comma;      /* the last that was read */
    struct arena *arena;
    struct complete_place *out;
};

bool complete_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
           (unsigned char)c >= 0x80;
}

bool complete_has_attribute(struct str given, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i + length < given.len; i++)
        if (memcmp(given.ptr + i, name, length) == 0 && given.ptr[i + length] == '=' &&
            (i == 0 || !complete_name_char(given.ptr[i - 1])))
            return true;
    return false;
}

/* hlo_op_count(): it is none. A form stands for the op that it becomes. */
static size_t find_op(struct str word)
{
    struct hlo_form form;
    for (size_t i = 0; (form = hlo_form_get(i)).name; i++)
        if (str_is(word, form.name))
            word = str_of(form.op);
    for (size_t i = 0; i < hlo_op_count(); i++)
        if (str_is(word, hlo_op_get(i).name))
            return i;
    return hlo_op_count();
}

static struct level *top(struct walk *w) { return &w->levels[w->depth]; }

/* In order of what may begin there: an instruction of a body, or of the text itself. */
static bool holds_instructions(const struct level *l) { return l->bracket == 0 || l->bracket == 'B'; }

static void start_instruction(struct level *l)
{
    char bracket = l->bracket;
    *l = (struct level){.bracket = bracket, .kind = PLACE_START, .op = hlo_op_count()};
}

static void open_bracket(struct walk *w, char c)
{
    struct level *outer = top(w), inner = {.bracket = c, .kind = PLACE_NOWHERE, .op = hlo_op_count()};
    if (w->depth + 1 == DEEPEST)
        return;
    if (c == '(') {
        size_t op = find_op(w->word);
        if (op < hlo_op_count()) {
            inner.kind = PLACE_OPERAND;
            inner.op = op;
        }
    } else if (c == '{' && outer->kind == PLACE_VALUE) {
        inner.kind = PLACE_VALUE;
        inner.op = outer->op;
        inner.attribute = outer->attribute;
    } else if (c == '{' && outer->kind == PLACE_START && holds_instructions(outer)) {
        inner.bracket = 'B'; /* a body */
        inner.kind = PLACE_START;
    }
    w->levels[++w->depth] = inner;
}

static void close_bracket(struct walk *w, const char *after)
{
    if (w->depth == 0)
        return;
    struct level inner = *top(w);
    w->depth--;
    struct level *l = top(w);
    if (inner.bracket == '(' && inner.kind == PLACE_OPERAND && holds_instructions(l)) {
        l->kind = PLACE_NOWHERE; /* until there is a comma */
        l->op = inner.op;
        l->given = after;
    } else if (inner.bracket == 'B')
        start_instruction(l);
    else if (inner.bracket == '{' && l->kind == PLACE_VALUE)
        l->kind = PLACE_NOWHERE;
    else if (l->kind == PLACE_RIGHT)
        l->kind = PLACE_OP; /* the type has ended */
}

static void take_mark(struct walk *w, char c, const char *after)
{
    struct level *l = top(w);
    if (c == '=' && l->given) {
        l->kind = PLACE_VALUE;
        l->attribute = w->word;
    } else if (c == '=' && l->kind == PLACE_START) {
        struct complete_place *p = w->out;
        VEC_PUSH(w->arena, p->locals, p->local_count, p->local_capacity) = w->word;
        l->kind = PLACE_RIGHT;
    } else if (c == ',' && l->given)
        l->kind = PLACE_ATTRIBUTE;
    else if (c == '\n' && holds_instructions(l) && !w->comma)
        start_instruction(l);
    else if (c == ';' && holds_instructions(l))
        start_instruction(l);
}

/* Past a comment or a string; the end of the text where it isn't closed. NULL: it is neither. */
static const char *skip_text(const char *p, const char *end)
{
    if (*p == '"') {
        for (p++; p < end && *p != '"'; p++)
            if (*p == '\\')
                p++;
        return p < end ? p + 1 : end + 1;
    }
    if (*p != '/' || p + 1 == end || (p[1] != '/' && p[1] != '*'))
        return NULL;
    bool line = p[1] == '/';
    for (p += 2; p < end; p++)
        if (line ? *p == '\n' : p + 1 < end && *p == '*' && p[1] == '/')
            return line ? p : p + 2;
    return end + 1;
}

static const char *take_one(struct walk *w, const char *p, const char *end)
{
    char c = *p;
    if (complete_name_char(c)) {
        const char *from = p;
        while (p < end && complete_name_char(*p))
            p++;
        w->word = (struct str){from, (size_t)(p - from)};
        w->comma = false;
        if (top(w)->kind == PLACE_RIGHT && p < end && char_is_blank(*p))
            top(w)->kind = PLACE_OP; /* a type without sizes: token[] is one with them */
        return p;
    }
    p++;
    if (c == '(' || c == '{' || c == '[')
        open_bracket(w, c);
    else if (c == ')' || c == '}' || c == ']')
        close_bracket(w, p);
    else
        take_mark(w, c, p);
    if (c != ' ' && c != '\t' && c != '%') {
        w->word = (struct str){0};
        w->comma = c == ',' || (w->comma && char_is_blank(c));
    }
    return p;
}

struct complete_place complete_place(struct str text, struct arena *a)
{
    struct complete_place out = {.kind = PLACE_NOWHERE, .op = hlo_op_count()};
    struct walk w = {.arena = a, .out = &out};
    const char *p = text.ptr, *end = text.ptr + text.len;
    start_instruction(top(&w));
    while (p < end) {
        const char *behind = skip_text(p, end);
        p = behind ? behind : take_one(&w, p, end);
    }
    const struct level *l = top(&w);
    if (p > end) /* within a comment or a string */
        return out;
    out.kind = l->kind;
    out.op = l->op;
    out.attribute = l->attribute;
    if (l->given)
        out.given = (struct str){l->given, (size_t)(end - l->given)};
    for (size_t i = 0; i <= w.depth; i++)
        out.inside |= w.levels[i].bracket == 'B';
    return out;
}
