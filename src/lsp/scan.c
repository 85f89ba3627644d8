/*
 * lsp/scan: pieces of a line.
 *
 * The text may be broken anywhere, so the scanner follows only what tells names apart: the header
 * of a computation, the name, operands and attributes of an instruction. A line that begins like an
 * instruction or the header of a computation is one, whatever precedes it; so an unclosed bracket
 * affects the rest of its instruction only, and an edit of a line rarely requires others to be
 * scanned again.
 */
#include "lsp/lsp_priv.h"

#include "text/token.h"

enum scan_place {
    AT_TOP,    /* between computations */
    AT_MODULE, /* after HloModule */
    AT_HEADER, /* of a computation, before its body */
    AT_BODY,   /* before the first instruction */
    AT_RIGHT,  /* after `=`: a shape and an opcode */
    AT_OPERANDS,
    AT_ATTRIBUTES
};

struct scanner {
    const struct scan_words *words;
    struct str text; /* up to the end of the line */
    struct scan_state *st;
    const struct scan_sink *sink;
    bool first;  /* at the first token of the line, or after ROOT */
    bool header; /* the line ends in `{` */
};

/* ---- attributes that refer to names ---- */

static void add_words(struct scan_words *w, size_t op)
{
    struct hlo_op_attribute a;
    for (size_t i = 0; hlo_op_attribute(op, i, &a); i++) {
        const bool computation = strstr(a.kind, "computation"),
                   instruction = strstr(a.kind, "instruction");
        if (computation || instruction)
            map_put(&w->kinds, str_of(a.name), &w->kind[instruction]);
    }
}

void scan_words_init(struct scan_words *w)
{
    arena_init(&w->arena);
    map_init(&w->kinds, &w->arena);
    w->kind[0] = PIECE_COMPUTATION_USE;
    w->kind[1] = PIECE_INST_USE;
    for (size_t op = 0; op <= hlo_op_count(); op++)
        add_words(w, op);
}

static uint8_t reference_of(const struct scanner *s, struct str attribute)
{
    const uint8_t *kind = map_get(&s->words->kinds, attribute);
    return kind ? *kind : 0;
}

/* ---- pieces ---- */

static void emit(const struct scanner *s, enum piece kind, size_t begin, size_t end)
{
    s->sink->piece(s->sink->context, kind, (struct extent){begin, end});
}

static void emit_name(const struct scanner *s, enum piece kind, struct text_token t)
{
    const size_t begin = (size_t)(t.s.ptr - s->text.ptr);
    emit(s, kind, begin, begin + t.s.len);
}

static char char_at(const struct scanner *s, size_t at)
{
    return at < s->text.len ? s->text.ptr[at] : '\0';
}

/* Whether `=` follows the token. */
static bool is_assigned(const struct scanner *s, struct text_token t)
{
    size_t at = t.end;
    while (char_at(s, at) == ' ' || char_at(s, at) == '\t')
        at++;
    return char_at(s, at) == '=';
}

/* Whether the token may be a name. Keywords may be, too. */
static bool is_name(struct text_token t)
{
    return t.kind == TOK_NAME || t.kind == TOK_IDENT || (t.kind >= TOK_MAXIMAL && t.s.len > 0);
}

/* Emits tokens that mean the same everywhere. */
static void emit_plain(const struct scanner *s, struct text_token t)
{
    if (t.kind == TOK_DTYPE)
        emit(s, PIECE_TYPE, t.begin, t.end);
    else if (t.kind == TOK_STRING)
        emit(s, PIECE_STRING, t.begin, t.end);
    else if (token_is_number(t.kind))
        emit(s, PIECE_NUMBER, t.begin, t.end);
    else if (token_is_keyword(t.kind))
        emit(s, PIECE_KEYWORD, t.begin, t.end);
}

/* ---- states ---- */

static void go(struct scanner *s, enum scan_place place)
{
    *s->st = (struct scan_state){.place = (uint8_t)place};
}

static bool is_close(struct text_token t)
{
    return t.kind == TOK_RPAREN || t.kind == TOK_RBRACE || t.kind == TOK_RSQUARE;
}

/* Follows brackets; false if the token closes one that is not open. */
static bool nest(struct scanner *s, struct text_token t)
{
    if (token_opens(t.kind) && s->st->depth < UINT8_MAX)
        s->st->depth++;
    if (!is_close(t))
        return true;
    if (s->st->depth == 0)
        return false;
    s->st->depth--;
    return true;
}

static void end_computation(struct scanner *s, struct text_token t)
{
    emit(s, PIECE_END, t.begin, t.end);
    go(s, AT_TOP);
}

static void start_inst(struct scanner *s, struct text_token t)
{
    emit_name(s, PIECE_INST, t);
    go(s, AT_RIGHT);
}

/* Whether an instruction begins with this name. */
static bool starts_inst(const struct scanner *s, struct text_token t)
{
    const struct scan_state *st = s->st;
    const bool between =
        st->place == AT_BODY || (st->place == AT_ATTRIBUTES && st->depth == 0 && !st->comma);
    if (t.kind == TOK_ATTR_NAME)
        return between;
    return is_name(t) && (s->first || between) && st->place != AT_MODULE && is_assigned(s, t);
}

static void start_header(struct scanner *s, struct text_token t)
{
    go(s, AT_HEADER);
    if (is_name(t)) {
        emit_name(s, PIECE_COMPUTATION, t);
        s->st->named = true;
    }
}

/* Takes a token that begins something wherever it is; false: it does not. */
static bool restart(struct scanner *s, struct text_token t)
{
    const bool line_start = s->first && (t.begin == 0 || s->text.ptr[t.begin - 1] == '\n');
    if (t.kind == TOK_HLO_MODULE && s->st->depth == 0) {
        go(s, AT_MODULE);
        emit_plain(s, t);
    } else if (t.kind == TOK_ENTRY && (s->st->depth == 0 || line_start)) {
        emit_plain(s, t);
        start_header(s, t);
    } else if (t.kind == TOK_ROOT) {
        emit_plain(s, t);
        if (s->st->place == AT_ATTRIBUTES && s->st->depth == 0)
            go(s, AT_BODY);
        s->st->comma = false;
        return true; /* the name that follows counts as the first token */
    } else if (starts_inst(s, t)) {
        start_inst(s, t);
    } else if (line_start && s->header && is_name(t)) {
        start_header(s, t);
    } else {
        return false;
    }
    s->first = false;
    return true;
}

/* ---- places ---- */

static void take_module(struct scanner *s, struct text_token t)
{
    if (is_name(t) && !s->st->named) {
        emit_name(s, PIECE_MODULE, t);
        s->st->named = true;
    } else if (t.kind == TOK_ATTR_NAME) {
        emit_name(s, PIECE_ATTRIBUTE, t);
    } else {
        nest(s, t);
        emit_plain(s, t);
    }
}

static void take_header(struct scanner *s, struct text_token t)
{
    const bool layout = t.begin > 0 && s->text.ptr[t.begin - 1] == ']';
    if (t.kind == TOK_LBRACE && s->st->depth == 0 && !layout) {
        go(s, AT_BODY);
    } else if (is_name(t) && s->st->depth == 0 && !s->st->named) {
        emit_name(s, PIECE_COMPUTATION, t);
        s->st->named = true;
    } else if (is_name(t) && s->st->depth == 1 && s->st->named) {
        emit_name(s, PIECE_PARAM, t);
    } else {
        nest(s, t);
        emit_plain(s, t);
    }
}

static void take_right(struct scanner *s, struct text_token t)
{
    if (s->st->depth == 0 && t.kind != TOK_NAME && is_name(t)) {
        emit(s, PIECE_OP, t.begin, t.end);
        s->st->values = str_is(t.s, "constant") || str_is(t.s, "parameter");
        if (char_at(s, t.end) == '(')
            s->st->place = AT_OPERANDS;
    } else if (t.kind == TOK_RBRACE && s->st->depth == 0) {
        end_computation(s, t);
    } else {
        nest(s, t);
        emit_plain(s, t);
    }
}

static void take_operand(struct scanner *s, struct text_token t)
{
    if (t.kind == TOK_RBRACE && s->st->depth == 1) { /* the parenthesis is not closed */
        end_computation(s, t);
    } else if (is_name(t) && s->st->depth == 1 && !s->st->values) {
        emit_name(s, PIECE_INST_USE, t);
    } else {
        nest(s, t);
        emit_plain(s, t);
        if (is_close(t) && s->st->depth == 0)
            go(s, AT_ATTRIBUTES);
    }
}

static void take_attribute(struct scanner *s, struct text_token t)
{
    if (t.kind == TOK_RBRACE && s->st->depth == 0) {
        end_computation(s, t);
    } else if (t.kind == TOK_ATTR_NAME) {
        emit_name(s, PIECE_ATTRIBUTE, t);
        if (s->st->depth == 0)
            s->st->reference = reference_of(s, t.s);
    } else if (is_name(t) && s->st->reference) {
        emit_name(s, s->st->reference, t);
    } else {
        nest(s, t);
        emit_plain(s, t);
    }
}

static void take(struct scanner *s, struct text_token t)
{
    if (restart(s, t))
        return;
    s->first = false;
    switch ((enum scan_place)s->st->place) {
    case AT_TOP:
        if (is_name(t))
            start_header(s, t);
        else if (t.kind == TOK_ATTR_NAME)
            emit_name(s, PIECE_ATTRIBUTE, t);
        else
            emit_plain(s, t);
        break;
    case AT_MODULE: take_module(s, t); break;
    case AT_HEADER: take_header(s, t); break;
    case AT_BODY:
        if (t.kind == TOK_RBRACE)
            end_computation(s, t);
        else
            emit_plain(s, t);
        break;
    case AT_RIGHT: take_right(s, t); break;
    case AT_OPERANDS: take_operand(s, t); break;
    case AT_ATTRIBUTES: take_attribute(s, t); break;
    }
    s->st->comma = t.kind == TOK_COMMA;
}

/* ---- lines ---- */

/* Skips the end of a block comment that began on an earlier line; false if it does not end here. */
static bool leave_comment(struct scanner *s, size_t *at)
{
    const size_t begin = *at;
    if (!s->st->in_comment)
        return true;
    const char *close = memmem(s->text.ptr + begin, s->text.len - begin, "*/", 2);
    *at = close ? (size_t)(close + 2 - s->text.ptr) : s->text.len;
    if (*at > begin)
        emit(s, PIECE_COMMENT, begin, *at);
    s->st->in_comment = !close;
    return close != NULL;
}

/* Emits the comments between two tokens. */
static void take_gap(struct scanner *s, size_t from, size_t to)
{
    while (from < to && s->text.ptr[from] != '/')
        from++;
    while (to > from && char_is_blank(s->text.ptr[to - 1]))
        to--;
    if (from < to)
        emit(s, PIECE_COMMENT, from, to);
}

static bool begins(const struct scanner *s, size_t at, const char *with)
{
    return str_starts((struct str){s->text.ptr + at, s->text.len - at}, str_of(with));
}

static void start_line(struct scanner *s, size_t at)
{
    size_t end = s->text.len;
    while (end > at && char_is_blank(s->text.ptr[end - 1]))
        end--;
    s->first = true;
    s->header = end > at && s->text.ptr[end - 1] == '{';
    if (s->st->place == AT_MODULE && s->st->depth == 0 && !s->st->comma)
        go(s, AT_TOP);
    if (begins(s, at, "// -----")) {
        go(s, AT_TOP);
        emit(s, PIECE_MODULE, at, at);
    }
}

void scan_line(const struct scan_words *w, struct str text, struct extent line,
               struct scan_state *state, const struct scan_sink *sink)
{
    struct scanner s = {.words = w, .text = {text.ptr, line.end}, .st = state, .sink = sink};
    size_t at = line.begin;
    if (!leave_comment(&s, &at))
        return;
    start_line(&s, at);
    while (at < line.end) {
        const struct text_token t = text_token_at(s.text, at);
        take_gap(&s, at, t.begin);
        if (t.kind == TOK_EOF)
            return;
        if (t.kind == TOK_ERROR && begins(&s, t.begin, "/*")) {
            emit(&s, PIECE_COMMENT, t.begin, line.end);
            state->in_comment = true;
            return;
        }
        if (t.kind == TOK_ERROR && *t.s.ptr == '"') { /* unterminated */
            emit(&s, PIECE_STRING, t.begin, line.end);
            return;
        }
        take(&s, t);
        at = t.end > at ? t.end : at + 1;
    }
}
