/*
 * lsp/server: messages, the life cycle of the server, and its documents.
 *
 * No message ends the process except `exit`: malformed ones are answered by an error.
 */
#include "lsp/lsp_priv.h"

enum {
    PAUSE_MS = 200, /* without input, before documents are parsed */
    MESSAGE_LIMIT = 1 << 30,
    HEADER_LIMIT = 4096,
};

/* ---- output ---- */

void put_message(struct buf *out, struct str json)
{
    buf_printf(out, "Content-Length: %zu\r\n\r\n", json.len);
    buf_str(out, json);
}

void put_notification(struct buf *out, const char *method, struct str params)
{
    SCOPED_BUF b = {0};
    buf_puts(&b, "{\"jsonrpc\":\"2.0\"");
    buf_json_text(&b, "method", str_of(method));
    buf_json_key(&b, "params");
    buf_str(&b, params);
    buf_putc(&b, '}');
    put_message(out, buf_view(&b));
}

void put_window(struct buf *out, const char *method, int type, struct str message)
{
    SCOPED_BUF params = {0};
    buf_printf(&params, "{\"type\":%d", type);
    buf_json_text(&params, "message", message);
    buf_putc(&params, '}');
    put_notification(out, method, buf_view(&params));
}

static void put_diagnostics(struct buf *out, const struct document *d, const int64_t *version,
                            struct str json)
{
    SCOPED_BUF b = {0};
    buf_putc(&b, '{');
    buf_json_text(&b, "uri", str_of(d->uri));
    if (version)
        buf_json_int(&b, "version", *version);
    buf_json_key(&b, "diagnostics");
    buf_str(&b, json);
    buf_putc(&b, '}');
    put_notification(out, "textDocument/publishDiagnostics", buf_view(&b));
}

static void begin_response(struct buf *b, const struct dict_value *id)
{
    buf_puts(b, "{\"jsonrpc\":\"2.0\",\"id\":");
    dict_put_id(b, id);
}

static void put_error(struct buf *out, const struct dict_value *id, enum lsp_error code,
                      struct str text)
{
    SCOPED_BUF b = {0};
    begin_response(&b, id);
    buf_json_open(&b, "error", '{');
    buf_json_int(&b, "code", code);
    buf_json_text(&b, "message", text);
    buf_puts(&b, "}}");
    put_message(out, buf_view(&b));
}

static void put_result(struct buf *out, const struct dict_value *id, struct str result)
{
    SCOPED_BUF b = {0};
    begin_response(&b, id);
    buf_json_key(&b, "result");
    buf_str(&b, result.len ? result : STR("null"));
    buf_putc(&b, '}');
    put_message(out, buf_view(&b));
}

void put_position(struct buf *out, const char *key, struct position p)
{
    buf_json_open(out, key, '{');
    buf_json_count(out, "line", p.line);
    buf_json_count(out, "character", p.character);
    buf_putc(out, '}');
}

void put_range(struct buf *out, const char *key, const struct document *d, struct extent e)
{
    buf_json_open(out, key, '{');
    put_position(out, "start", document_position(d, e.begin));
    put_position(out, "end", document_position(d, e.end));
    buf_putc(out, '}');
}

void put_location(struct buf *out, const struct document *d, struct extent e)
{
    buf_putc(out, '{');
    buf_json_text(out, "uri", str_of(d->uri));
    put_range(out, "range", d, e);
    buf_putc(out, '}');
}

void put_edit(struct buf *out, const struct document *d, struct extent e, struct str text)
{
    buf_putc(out, '{');
    put_range(out, "range", d, e);
    buf_json_text(out, "newText", text);
    buf_putc(out, '}');
}

/* ---- parameters ---- */

bool call_fail(struct call *c, enum lsp_error code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    c->problem = arena_vprintf(&c->arena, format, ap);
    va_end(ap);
    c->code = code;
    return false;
}

struct document *find_document(const struct lsp *s, struct str uri)
{
    struct document *d = s->documents;
    while (d && !str_is(uri, d->uri))
        d = d->next;
    return d;
}

static bool take_document(struct call *c)
{
    const struct dict_value *uri =
        dict_member(dict_member(c->params, "textDocument", DICT_DICT), "uri", DICT_STRING);
    c->d = uri ? find_document(c->s, uri->s) : NULL;
    if (!uri)
        return call_fail(c, LSP_PARAMS, "missing 'textDocument.uri'");
    if (!c->d)
        return call_fail(c, LSP_PARAMS, "document '" STR_FMT "' is not open", STR_ARG(uri->s));
    c->range = (struct extent){0, c->d->text.size};
    return true;
}

static bool read_count(const struct dict_value *d, const char *name, uint32_t *out)
{
    const struct dict_value *v = dict_member(d, name, DICT_INT);
    if (!v || v->i < 0)
        return false;
    *out = v->i < UINT32_MAX ? (uint32_t)v->i : UINT32_MAX;
    return true;
}

bool read_position(const struct dict_value *v, struct position *out)
{
    return read_count(v, "line", &out->line) && read_count(v, "character", &out->character);
}

bool read_range(const struct document *d, const struct dict_value *v, struct extent *out)
{
    struct position start, end;
    if (!read_position(dict_member(v, "start", DICT_DICT), &start) ||
        !read_position(dict_member(v, "end", DICT_DICT), &end))
        return false;
    *out = (struct extent){document_offset(d, start), document_offset(d, end)};
    return out->begin <= out->end;
}

static bool take_position(struct call *c)
{
    struct position p;
    if (!read_position(dict_member(c->params, "position", DICT_DICT), &p))
        return call_fail(c, LSP_PARAMS, "malformed 'position'");
    c->offset = document_offset(c->d, p);
    return true;
}

bool call_symbol(struct call *c)
{
    return symbol_at(c->d, c->offset, &c->symbol) && symbol_kinds(c->d, c->symbol) != 0;
}

/* ---- documents ---- */

static void publish(struct document *d, struct buf *out)
{
    analyse(d);
    d->unpublished = false;
    put_diagnostics(out, d, &d->version, buf_view(&d->analysis.json));
}

static void set_due(struct lsp *s) { s->due = now_ns() + (int64_t)PAUSE_MS * 1000000; }

static void set_version(struct document *d, const struct dict_value *document)
{
    const struct dict_value *v = dict_member(document, "version", DICT_INT);
    d->version = v ? v->i : d->version + 1;
}

static void remove_document(struct lsp *s, const struct document *d)
{
    struct document **at = &s->documents;
    while (*at && *at != d)
        at = &(*at)->next;
    if (*at)
        *at = d->next;
}

static bool did_open(struct call *c)
{
    const struct dict_value *v = dict_member(c->params, "textDocument", DICT_DICT),
                            *uri = dict_member(v, "uri", DICT_STRING),
                            *text = dict_member(v, "text", DICT_STRING);
    if (!uri || !text)
        return call_fail(c, LSP_PARAMS, "missing 'uri' or 'text'");
    struct document *old = find_document(c->s, uri->s);
    if (old)
        remove_document(c->s, old);
    document_free(old);
    struct document *d = document_new(&c->s->words, uri->s, text->s);
    if (!d)
        return call_fail(c, LSP_PARAMS, "the document is too long (limit: 4 GiB)");
    d->version = -1;
    set_version(d, v);
    d->next = c->s->documents;
    c->s->documents = d;
    set_due(c->s);
    return true;
}

static bool change(struct call *c, struct document *d, const struct dict_value *v)
{
    const struct dict_value *text = dict_member(v, "text", DICT_STRING);
    struct extent e = {0, d->text.size};
    if (!text)
        return call_fail(c, LSP_PARAMS, "missing 'text' of a change");
    if (dict_find(v, STR("range")) && !read_range(d, dict_member(v, "range", DICT_DICT), &e))
        return call_fail(c, LSP_PARAMS, "malformed 'range' of a change");
    if (!document_edit(d, &c->s->words, e, text->s))
        return call_fail(c, LSP_PARAMS, "the document is too long (limit: 4 GiB)");
    return true;
}

static bool did_change(struct call *c)
{
    const struct dict_value *changes = dict_member(c->params, "contentChanges", DICT_LIST);
    if (!changes)
        return call_fail(c, LSP_PARAMS, "missing 'contentChanges'");
    set_version(c->d, dict_member(c->params, "textDocument", DICT_DICT));
    set_due(c->s);
    for (size_t i = 0; i < changes->count; i++)
        if (!change(c, c->d, &changes->items[i].value))
            return false;
    return true;
}

static bool did_close(struct call *c)
{
    remove_document(c->s, c->d);
    put_diagnostics(c->out, c->d, NULL, STR("[]"));
    document_free(c->d);
    return true;
}

static bool did_save(struct call *c)
{
    if (c->d->unpublished)
        publish(c->d, c->out);
    return true;
}

/* ---- life cycle ---- */

static void put_capabilities(struct buf *out)
{
    static const char *const simple[] = {"hoverProvider",
                                         "definitionProvider",
                                         "referencesProvider",
                                         "documentHighlightProvider",
                                         "documentSymbolProvider",
                                         "foldingRangeProvider",
                                         "documentFormattingProvider",
                                         "inlayHintProvider"};
    buf_json_open(out, "capabilities", '{');
    buf_json_text(out, "positionEncoding", STR("utf-16"));
    buf_json_key(out, "textDocumentSync");
    buf_puts(out, "{\"openClose\":true,\"change\":2,\"save\":true}");
    for (size_t i = 0; i < COUNT_OF(simple); i++)
        buf_json_bool(out, simple[i], true);
    buf_json_key(out, "completionProvider");
    buf_puts(out, "{\"triggerCharacters\":[\"%\",\"(\",\"=\"]}");
    buf_json_key(out, "renameProvider");
    buf_puts(out, "{\"prepareProvider\":true}");
    buf_json_key(out, "codeActionProvider");
    buf_puts(out, "{\"codeActionKinds\":[\"quickfix\"]}");
    buf_json_open(out, "codeLensProvider", '{');
    buf_putc(out, '}');
    buf_json_open(out, "executeCommandProvider", '{');
    buf_json_open(out, "commands", '[');
    for (size_t i = 0; lsp_command_name(i); i++)
        buf_json_text(out, NULL, str_of(lsp_command_name(i)));
    buf_puts(out, "]}");
    buf_json_open(out, "semanticTokensProvider", '{');
    buf_json_open(out, "legend", '{');
    put_semantic_legend(out);
    buf_putc(out, '}');
    buf_json_bool(out, "full", true);
    buf_json_bool(out, "range", true);
    buf_puts(out, "}}");
}

/* Reads initializationOptions: "fake", "inputs" and "bundle". */
static bool read_options(struct call *c)
{
    static const char *const kinds[] = {HLO_FAKE_WORDS};
    const struct dict_value *options = dict_member(c->params, "initializationOptions", DICT_DICT),
                            *fake = dict_member(options, "fake", DICT_STRING),
                            *inputs = dict_member(options, "inputs", DICT_STRING),
                            *bundle = dict_member(options, "bundle", DICT_STRING);
    if (fake)
        c->s->fake = str_among(fake->s, kinds, COUNT_OF(kinds));
    if (fake && c->s->fake < 0)
        return call_fail(c, LSP_PARAMS,
                         "invalid value of 'fake': expected zeros, ones, iota, uniform, normal or "
                         "edge");
    if (inputs && bundle)
        return call_fail(c, LSP_PARAMS, "'inputs' and 'bundle' cannot be combined");
    if ((!inputs && !bundle) || c->s->options.confined)
        return true;
    char *path = heap_str(inputs ? inputs->s : bundle->s);
    if (inputs || hlo_arrays_known(path))
        c->s->inputs = path;
    else
        c->s->snapshot = path;
    return true;
}

static bool initialize(struct call *c)
{
    if (c->s->initialized)
        return call_fail(c, LSP_INVALID, "already initialized");
    if (!read_options(c))
        return false;
    c->s->initialized = true;
    buf_putc(&c->result, '{');
    put_capabilities(&c->result);
    buf_json_open(&c->result, "serverInfo", '{');
    buf_json_text(&c->result, "name", STR("hlo"));
    buf_json_text(&c->result, "version", STR(HLO_VERSION));
    buf_puts(&c->result, "}}");
    return true;
}

static bool shut_down(struct call *c)
{
    c->s->shut_down = true;
    return true;
}

static bool exit_server(struct call *c)
{
    c->s->exited = true;
    return true;
}

static bool ignore(struct call *c)
{
    (void)c;
    return true;
}

/* ---- dispatch ---- */

/* Flags of methods: handled also before `initialize` and after `shutdown`; what they take of the
 * parameters, of which no symbol means no result; they append the items of a list. */
enum { ANY_TIME = 1, DOCUMENT = 2, POSITION = 4, SYMBOL = 8, RANGE = 16, LISTS = 32 };
static const struct method {
    const char *name;
    bool (*handle)(struct call *c);
    int flags;
} methods[] = {
    {"$/cancelRequest", ignore, ANY_TIME}, /* a run is interrupted before, by watch.c */
    {"$/setTrace", ignore, ANY_TIME},
    {"exit", exit_server, ANY_TIME},
    {"initialize", initialize, ANY_TIME},
    {"initialized", ignore, 0},
    {"shutdown", shut_down, 0},
    {"textDocument/codeAction", lsp_code_action, DOCUMENT | RANGE | LISTS},
    {"textDocument/codeLens", lsp_code_lens, DOCUMENT | LISTS},
    {"textDocument/completion", lsp_completion, DOCUMENT | POSITION},
    {"textDocument/definition", lsp_definition, DOCUMENT | POSITION | SYMBOL},
    {"textDocument/didChange", did_change, DOCUMENT},
    {"textDocument/didClose", did_close, DOCUMENT},
    {"textDocument/didOpen", did_open, 0},
    {"textDocument/didSave", did_save, DOCUMENT},
    {"textDocument/documentHighlight", lsp_highlight, DOCUMENT | POSITION | SYMBOL | LISTS},
    {"textDocument/documentSymbol", lsp_symbols, DOCUMENT | LISTS},
    {"textDocument/foldingRange", lsp_folding, DOCUMENT | LISTS},
    {"textDocument/formatting", lsp_formatting, DOCUMENT | LISTS},
    {"textDocument/hover", lsp_hover, DOCUMENT | POSITION},
    {"textDocument/inlayHint", lsp_inlay_hint, DOCUMENT | RANGE | LISTS},
    {"textDocument/prepareRename", lsp_prepare_rename, DOCUMENT | POSITION | SYMBOL},
    {"textDocument/references", lsp_references, DOCUMENT | POSITION | SYMBOL | LISTS},
    {"textDocument/rename", lsp_rename, DOCUMENT | POSITION},
    {"textDocument/semanticTokens/full", lsp_semantic_tokens, DOCUMENT},
    {"textDocument/semanticTokens/range", lsp_semantic_tokens, DOCUMENT | RANGE},
    {"workspace/didChangeConfiguration", ignore, 0},
    {"workspace/executeCommand", lsp_execute_command, 0},
};

static bool handle(struct call *c, struct str name)
{
    const struct method *m = methods, *end = methods + COUNT_OF(methods);
    while (m < end && !str_is(name, m->name))
        m++;
    const int flags = m < end ? m->flags : 0;
    if (!c->s->initialized && !(flags & ANY_TIME))
        return call_fail(c, LSP_NOT_INITIALIZED, "expected 'initialize' first");
    if (c->s->shut_down && !(flags & ANY_TIME))
        return call_fail(c, LSP_INVALID, "the server is shut down");
    if (m == end)
        return call_fail(c, LSP_NO_METHOD, "unknown method '" STR_FMT "'", STR_ARG(name));
    if ((flags & DOCUMENT && !take_document(c)) || (flags & POSITION && !take_position(c)))
        return false;
    if (flags & SYMBOL && !call_symbol(c))
        return true;
    if (flags & RANGE && !read_range(c->d, dict_member(c->params, "range", DICT_DICT), &c->range))
        return call_fail(c, LSP_PARAMS, "malformed 'range'");
    if (flags & LISTS)
        buf_putc(&c->result, '[');
    const bool ok = m->handle(c);
    if (flags & LISTS)
        buf_putc(&c->result, ']');
    return ok;
}

/* Reports the failure of a notification, which has no response. Unknown ones may be ignored. */
static void put_log(struct call *c, struct str method)
{
    if (c->code != LSP_NO_METHOD && c->code != LSP_NOT_INITIALIZED)
        put_window(
            c->out, "window/logMessage", 1,
            arena_printf(&c->arena, STR_FMT ": " STR_FMT, STR_ARG(method), STR_ARG(c->problem)));
}

/* Handles a request or notification. */
static void receive_call(struct call *c, const struct dict_value *message)
{
    const struct dict_value *id = dict_find(message, STR("id")), *params,
                            *method = dict_member(message, "method", DICT_STRING);
    static const struct dict_value none = {.kind = DICT_UNIT};
    if (!method) {
        const bool response = dict_find(message, STR("result")) || dict_find(message, STR("error"));
        if (!response)
            put_error(c->out, id, LSP_INVALID, STR("expected 'method'"));
        return;
    }
    params = dict_find(message, STR("params"));
    c->params = params ? params : &none;
    c->id = id;
    const bool good = handle(c, method->s);
    if (!id && !good)
        put_log(c, method->s);
    else if (id && good)
        put_result(c->out, id, buf_view(&c->result));
    else if (id)
        put_error(c->out, id, c->code, c->problem);
}

static void receive(struct lsp *s, struct str body, struct buf *out)
{
    struct call c = {.s = s, .out = out};
    struct dict_value message;
    struct dict_error error;
    arena_init(&c.arena);
    if (!str_is_utf8(body))
        put_error(out, NULL, LSP_PARSE, STR("invalid UTF-8"));
    else if (dict_read(&c.arena, body, DICT_JSON, &message, &error))
        receive_call(&c, &message);
    else
        put_error(out, NULL, LSP_PARSE,
                  arena_printf(&c.arena, "malformed JSON: %s", dict_problem(&c.arena, &error)));
    buf_free(&c.result);
    arena_free(&c.arena);
}

/* ---- framing ---- */

/* The value of Content-Length in a header; false: missing or malformed. */
static bool content_length(struct str header, int64_t *out)
{
    while (header.len > 0) {
        struct str line = str_trim(str_cut_line(&header));
        const struct str name = str_trim(str_cut(&line, ':'));
        if (str_eq_nocase(name, STR("Content-Length")))
            return num_parse_i64(str_trim(line), out) && *out >= 0;
    }
    return false;
}

enum header read_header(struct str in, size_t *size, int64_t *length)
{
    const char *end = memmem(in.ptr, in.len, "\r\n\r\n", 4);
    *size = end ? (size_t)(end + 4 - in.ptr) : 0;
    *length = 0;
    if (!end || *size > HEADER_LIMIT)
        return in.len <= HEADER_LIMIT ? HEADER_PARTIAL : HEADER_TOO_LONG;
    if (!content_length((struct str){in.ptr, *size}, length)) {
        *length = 0;
        return HEADER_MALFORMED;
    }
    return *length > MESSAGE_LIMIT            ? HEADER_OF_TOO_MUCH
           : (size_t)*length > in.len - *size ? HEADER_PARTIAL
                                              : HEADER_WHOLE;
}

/* Takes one message off the input; false: it is incomplete. */
static bool take_message(struct lsp *s, struct str *in, struct buf *out)
{
    size_t size;
    int64_t length;
    switch (read_header(*in, &size, &length)) {
    case HEADER_PARTIAL: return false;
    case HEADER_TOO_LONG:
        put_error(out, NULL, LSP_PARSE, STR("header too long"));
        *in = STR("");
        return true;
    case HEADER_MALFORMED:
        put_error(out, NULL, LSP_PARSE, STR("missing or malformed 'Content-Length'"));
        break;
    case HEADER_OF_TOO_MUCH:
        put_error(out, NULL, LSP_PARSE, STR("message too long (limit: 1 GiB)"));
        s->skip = (size_t)length;
        length = 0;
        break;
    case HEADER_WHOLE: {
        const struct str body = {in->ptr + size, (size_t)length};
        s->following = (struct str){body.ptr + body.len, in->len - size - body.len};
        receive(s, body, out);
    }
    }
    *in = str_skip(*in, size + (size_t)length);
    return true;
}

/* Drops what remains of a message that is too long. */
static void skip_bytes(struct lsp *s, struct str *in)
{
    const size_t n = s->skip < in->len ? s->skip : in->len;
    *in = str_skip(*in, n);
    s->skip -= n;
}

/* Appends what was read during runs to the input. */
static void append_ahead(struct lsp *s, struct str *in)
{
    const size_t taken = s->in.size - in->len;
    if (s->ahead.size == 0)
        return;
    buf_str(&s->in, buf_view(&s->ahead));
    s->ahead.size = 0;
    *in = (struct str){s->in.data + taken, s->in.size - taken};
}

void lsp_feed(struct lsp *s, struct str bytes, struct buf *out)
{
    buf_str(&s->in, bytes);
    struct str in = buf_view(&s->in);
    bool more;
    do {
        skip_bytes(s, &in);
        more = in.len > 0 && !s->exited && take_message(s, &in, out);
        append_ahead(s, &in);
    } while (more);
    if (in.len > 0)
        memmove(s->in.data, in.ptr, in.len);
    s->in.size = in.len;
}

/* ---- the server ---- */

struct lsp *lsp_begin(const struct lsp_options *o)
{
    struct lsp *s = heap_zalloc(1, sizeof *s);
    s->options = *o;
    s->fake = -1;
    scan_words_init(&s->words);
    return s;
}

void lsp_end(struct lsp *s)
{
    for (struct document *d = s->documents, *next; d; d = next) {
        next = d->next;
        document_free(d);
    }
    arena_free(&s->words.arena);
    buf_free(&s->in);
    buf_free(&s->ahead);
    heap_free(s->inputs);
    heap_free(s->snapshot);
    heap_free(s);
}

int lsp_pause(const struct lsp *s)
{
    if (s->due == 0)
        return -1;
    const int64_t left = s->due - now_ns();
    return left > 0 ? (int)(left / 1000000) + 1 : 0;
}

void lsp_idle(struct lsp *s, struct buf *out)
{
    s->due = 0;
    for (struct document *d = s->documents; d; d = d->next)
        if (d->unpublished)
            publish(d, out);
}

bool lsp_exited(const struct lsp *s) { return s->exited; }
