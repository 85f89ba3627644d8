/*
 * onnx_loop.c: parses the backend_config of a custom call to onnx.Loop.
 *
 *   {"version": 16, "inputs": ["M", "cond"]}
 *
 * A list may also be a comma-separated string, and missing keys have defaults. Unknown keys are
 * errors.
 */
#include "base/dict.h"
#include "ir/ir.h"

/* These functions return NULL, or the problem. */

static const char *set_version(struct arena *a, struct str word, struct onnx_loop *out)
{
    if (num_parse_i64(word, &out->version) && out->version >= 1 && out->version <= ONNX_LOOP_NEWEST)
        return NULL;
    return arena_printf(a, "unknown version '" STR_FMT "', expected 1 to %d", STR_ARG(word),
                        ONNX_LOOP_NEWEST)
        .ptr;
}

static const char *add_input(struct arena *a, struct str name, struct onnx_loop *out)
{
    bool count = str_is(name, "M") || str_is(name, "trip_count");
    if (!count && !str_is(name, "cond"))
        return arena_printf(a, "unknown input '" STR_FMT "', expected M or cond", STR_ARG(name))
            .ptr;
    if (out->has_condition || (count && out->has_count))
        return "inputs must be M, cond or both, in this order";
    *(count ? &out->has_count : &out->has_condition) = true;
    return NULL;
}

/* Adds one name, or several separated by commas. */
static const char *add_inputs(struct arena *a, struct str names, struct onnx_loop *out)
{
    const char *problem = NULL;
    while (names.len > 0 && !problem) {
        const char *comma = memchr(names.ptr, ',', names.len);
        size_t n = comma ? (size_t)(comma - names.ptr) : names.len;
        problem = add_input(a, str_trim((struct str){names.ptr, n}), out);
        n += comma ? 1 : 0;
        names = (struct str){names.ptr + n, names.len - n};
    }
    return problem;
}

static const char *set_inputs(struct arena *a, const struct dict_value *v, struct onnx_loop *out)
{
    const char *problem = NULL;
    out->has_count = out->has_condition = false;
    if (v->kind != DICT_LIST)
        return add_inputs(a, v->s, out);
    for (size_t k = 0; k < v->count && !problem; k++)
        problem = add_inputs(a, v->items[k].value.s, out);
    return problem;
}

static const char *set_entry(struct arena *a, const struct dict_entry *e, bool *seen,
                             struct onnx_loop *out)
{
    bool version = str_is(e->name, "version");
    if (!version && !str_is(e->name, "inputs"))
        return arena_printf(a, "unknown entry '" STR_FMT "', expected version or inputs",
                            STR_ARG(e->name))
            .ptr;
    if (seen[version])
        return version ? "duplicate version" : "duplicate inputs";
    seen[version] = true;
    if (e->value.kind == DICT_UNIT)
        return version ? "version has no value" : "inputs has no value";
    return version ? set_version(a, e->value.s, out) : set_inputs(a, &e->value, out);
}

const char *onnx_loop_config(struct str text, struct arena *a, struct onnx_loop *out)
{
    struct dict_value config;
    struct dict_error error;
    bool seen[2] = {false, false};
    const char *problem = NULL;
    *out =
        (struct onnx_loop){.version = ONNX_LOOP_NEWEST, .has_count = true, .has_condition = true};
    if (!dict_read(a, text, DICT_LOOSE, &config, &error))
        return dict_problem(a, &error);
    for (size_t k = 0; k < config.count && !problem; k++)
        problem = set_entry(a, &config.items[k], seen, out);
    return problem;
}

bool inst_is_onnx_loop(const struct inst *i)
{
    return i->opcode == OP_CUSTOM_CALL && str_is(inst_str(i, A_CUSTOM_CALL_TARGET), "onnx.Loop");
}
