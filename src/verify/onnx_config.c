/*
 * onnx_config.c: what does the backend_config of a custom call to onnx.Loop say?
 *
 *     {"version": 16, "inputs": ["M", "cond"]}
 *
 * Read as people write it: braces and quotes may be missing, `=` may stand for `:`, a list may be one
 * string with commas, and what is not said has its default. Anything else is refused, not overlooked.
 */
#include "verify/verify.h"

struct reader {
    const char *at, *end;
    struct arena *arena;
    const char *problem; /* the first one */
    struct onnx_loop *out;
};

static bool fail(struct reader *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
    return false;
}

/* Whether the next character is one of `set`, blanks aside; 0: it is not, else the character, which is taken. */
static char take(struct reader *r, const char *set)
{
    while (r->at < r->end && char_is_blank(*r->at))
        r->at++;
    if (r->at == r->end || *r->at == '\0' || !strchr(set, *r->at))
        return 0;
    return *r->at++;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* Quoted or bare. */
static bool read_word(struct reader *r, struct str *out)
{
    char quote = take(r, "\"'");
    const char *from = r->at;
    while (r->at < r->end && (quote ? *r->at != quote : is_word_char(*r->at)))
        r->at++;
    *out = (struct str){from, (size_t)(r->at - from)};
    if (quote && r->at == r->end)
        return fail(r, "a string does not end");
    r->at += quote ? 1 : 0;
    return quote || out->len > 0 || fail(r, "not of the form {\"version\": 16, \"inputs\": [\"M\", \"cond\"]}");
}

static bool read_version(struct reader *r)
{
    struct str word;
    if (!read_word(r, &word))
        return false;
    if (num_parse_i64(word, &r->out->version) && r->out->version >= 1 && r->out->version <= ONNX_LOOP_NEWEST)
        return true;
    return fail(r, arena_printf(r->arena, "there is no version `" STR_FMT "`, only 1 to %d", STR_ARG(word),
                                ONNX_LOOP_NEWEST).ptr);
}

static bool add_input(struct reader *r, struct str name)
{
    bool count = str_is(name, "M") || str_is(name, "trip_count");
    if (!count && !str_is(name, "cond"))
        return fail(r, arena_printf(r->arena, "there is no input `" STR_FMT "`, only M and cond", STR_ARG(name)).ptr);
    if (r->out->has_condition || (count && r->out->has_count))
        return fail(r, "of the inputs, M comes first, then cond, each at most once");
    *(count ? &r->out->has_count : &r->out->has_condition) = true;
    return true;
}

/* One word, or several with commas between them in one string. */
static bool read_inputs_word(struct reader *r)
{
    struct str words;
    if (!read_word(r, &words))
        return false;
    while (words.len > 0) {
        const char *comma = memchr(words.ptr, ',', words.len);
        size_t n = comma ? (size_t)(comma - words.ptr) : words.len;
        if (!add_input(r, str_trim((struct str){words.ptr, n})))
            return false;
        n += comma ? 1 : 0;
        words = (struct str){words.ptr + n, words.len - n};
    }
    return true;
}

static bool read_inputs(struct reader *r)
{
    r->out->has_count = r->out->has_condition = false;
    if (!take(r, "["))
        return read_inputs_word(r);
    if (take(r, "]"))
        return true;
    do
        if (!read_inputs_word(r))
            return false;
    while (take(r, ","));
    return take(r, "]") || fail(r, "the list of inputs does not end with `]`");
}

static bool read_entry(struct reader *r, bool *seen)
{
    struct str key;
    if (!read_word(r, &key))
        return false;
    bool version = str_is(key, "version");
    if (!version && !str_is(key, "inputs"))
        return fail(r, arena_printf(r->arena, "there is no entry `" STR_FMT "`, only version and inputs",
                                    STR_ARG(key)).ptr);
    if (seen[version])
        return fail(r, version ? "version stands there twice" : "inputs stands there twice");
    seen[version] = true;
    if (!take(r, ":="))
        return fail(r, version ? "version lacks its value" : "inputs lacks its value");
    return version ? read_version(r) : read_inputs(r);
}

const char *onnx_loop_config(struct str text, struct arena *a, struct onnx_loop *out)
{
    struct reader r = {.at = text.ptr, .end = text.ptr + text.len, .arena = a, .out = out};
    bool seen[2] = {false, false};
    *out = (struct onnx_loop){.version = ONNX_LOOP_NEWEST, .has_count = true, .has_condition = true};
    if (str_trim(text).len == 0)
        return NULL;
    bool braces = take(&r, "{"), empty = braces && take(&r, "}");
    while (!empty && read_entry(&r, seen) && take(&r, ","))
        ;
    if (!r.problem && braces && !empty && !take(&r, "}"))
        fail(&r, "the entries do not end with `}`");
    take(&r, "");
    if (!r.problem && r.at < r.end)
        fail(&r, "something follows the last entry");
    return r.problem;
}

bool inst_is_onnx_loop(const struct inst *i)
{
    return i->opcode == OP_CUSTOM_CALL && str_is(inst_str(i, A_CUSTOM_CALL_TARGET), "onnx.Loop");
}
