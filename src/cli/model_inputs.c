/*
 * Reads the inputs of an ONNX model: literals, sequences of them, arrays in files, ONNX test data.
 */
#include "cli/arguments.h"
#include "cli/model.h"

#include <errno.h>
#include <unistd.h>

/* Tensors of the value being read. */
struct tensors {
    hlo_literal **at;
    size_t count, capacity;
};

void model_inputs_begin(struct model_inputs *in)
{
    struct hlo_onnx_port port;
    arena_init(&in->arena);
    while (hlo_onnx_input(in->model, in->count, &port))
        in->count++;
    in->values = ARENA_ARRAY(&in->arena, hlo_onnx_value *, in->count);
}

void model_inputs_free(struct model_inputs *in)
{
    for (size_t i = 0; i < in->count; i++)
        hlo_onnx_value_free(in->values[i]);
    arena_free(&in->arena);
}

static bool put_value_at(struct model_inputs *in, size_t i, hlo_onnx_value *v)
{
    hlo_onnx_value_free(in->values[i]);
    in->values[i] = v;
    return v != NULL;
}

static bool put_tensors(struct model_inputs *in, size_t i, bool present, const struct tensors *t)
{
    return put_value_at(in, i, hlo_onnx_value_new(in->model, i, present, t->at, t->count, in->m));
}

/* Frees the tensors of an incomplete value. */
static bool drop(struct tensors *t)
{
    for (size_t i = 0; i < t->count; i++)
        hlo_literal_free(t->at[i]);
    t->count = 0;
    return false;
}

/* ---- literals ---- */

static bool opens(char c) { return c == '{' || c == '['; }
static bool closes(char c) { return c == '}' || c == ']'; }

/* The number of elements in the braces that open before `at`. */
static size_t elements_of_braces(struct str s, size_t at)
{
    size_t commas = 0, inner = 0;
    bool blank = true;
    for (; at < s.len && !(inner == 0 && closes(s.ptr[at])); at++) {
        inner += opens(s.ptr[at]) || s.ptr[at] == '(';
        inner -= inner > 0 && (closes(s.ptr[at]) || s.ptr[at] == ')');
        commas += inner == 0 && s.ptr[at] == ',';
        blank = blank && char_is_blank(s.ptr[at]);
    }
    return blank ? 0 : commas + 1;
}

/* Writes the dimensions of nested braces or lists, [2,3] for `{{1, 2, 3}, {4, 5, 6}}`, from the
 * first element of each level. */
static void put_dims_of_braces(struct buf *b, struct str s)
{
    enum { DEEPEST = 64 };
    size_t depth = 0;
    buf_putc(b, '[');
    for (size_t at = 0;
         at < s.len && depth < DEEPEST && (opens(s.ptr[at]) || char_is_blank(s.ptr[at])); at++)
        if (opens(s.ptr[at]))
            buf_printf(b, depth++ ? ",%zu" : "%zu", elements_of_braces(s, at + 1));
    buf_putc(b, ']');
}

static void put_declared_dims(struct buf *b, const struct hlo_onnx_port *port)
{
    buf_putc(b, '[');
    for (size_t d = 0; d < port->rank; d++)
        buf_printf(b, d ? ",%" PRId64 : "%" PRId64, port->dims[d]);
    buf_putc(b, ']');
}

static bool is_static(const struct hlo_onnx_port *port)
{
    bool all = port->ranked && !port->sequence;
    for (size_t d = 0; all && d < port->rank; d++)
        all = port->dims[d] >= 0;
    return all;
}

/* Parses a literal. Without a shape, it has the declared shape of the input or the one inferred
 * from its braces. */
static hlo_literal *tensor_of_text(struct model_inputs *in, const struct hlo_onnx_port *port,
                                   struct str text)
{
    SCOPED_BUF b = {0};
    text = str_trim(text);
    if (!hlo_literal_has_shape(text.ptr, text.len)) {
        buf_puts(&b, port->dtype ? port->dtype : "f32");
        if (is_static(port))
            put_declared_dims(&b, port);
        else
            put_dims_of_braces(&b, text);
        buf_putc(&b, ' ');
    }
    buf_str(&b, text);
    return hlo_literal_parse(b.data, b.size, in->m);
}

/* The end of the element at `at`: a comma outside braces, or the end of the text. */
static size_t element_end(struct str s, size_t at)
{
    int depth = 0;
    for (; at < s.len && !(depth == 0 && s.ptr[at] == ','); at++)
        if (strchr("[{(", s.ptr[at]))
            depth++;
        else if (strchr("]})", s.ptr[at]))
            depth--;
    return at;
}

/* Parses the elements of a sequence, `[f32[1] {1}, f32[2] {1, 2}]`, without the brackets. */
static bool elements_of_text(struct model_inputs *in, const struct hlo_onnx_port *port,
                             struct str s, struct tensors *t)
{
    for (size_t at = 0; str_trim(s).len > 0 && at <= s.len;) {
        size_t end = element_end(s, at);
        hlo_literal *l = tensor_of_text(in, port, (struct str){s.ptr + at, end - at});
        if (!l)
            return drop(t);
        VEC_PUSH(&in->arena, t->at, t->count, t->capacity) = l;
        at = end + 1;
    }
    return true;
}

static bool value_of_text(struct model_inputs *in, size_t i, struct str text)
{
    struct hlo_onnx_port port;
    struct tensors t = {0};
    hlo_onnx_input(in->model, i, &port);
    text = str_trim(text);
    if (port.optional && str_is(text, "none"))
        return put_tensors(in, i, false, &t);
    if (port.sequence) {
        if (text.len < 2 || text.ptr[0] != '[' || text.ptr[text.len - 1] != ']')
            return usage_error(in->o,
                               "input '%s' is %s: write its elements in brackets, [{1}, {1, 2}]",
                               port.name, port.type),
                   false;
        return elements_of_text(in, &port, (struct str){text.ptr + 1, text.len - 2}, &t) &&
               put_tensors(in, i, true, &t);
    }
    hlo_literal *l = tensor_of_text(in, &port, text);
    return l && put_tensors(in, i, true, &(struct tensors){&l, 1, 1});
}

/* ---- files ---- */

/* The name in the file of an input, or of element k of a sequence: by the input's name or by its
 * number. NULL: none. */
static const char *array_name(struct model_inputs *in, const hlo_arrays *z, size_t i,
                              const struct hlo_onnx_port *port, size_t k)
{
    struct arena *a = &in->arena;
    const char *by_number = arena_printf(a, "arg%zu", i).ptr;
    const char *names[] = {port->name, by_number, arena_printf(a, "arr_%zu", i).ptr},
               *elements[] = {arena_printf(a, "%s[%zu]", port->name, k).ptr,
                              arena_printf(a, "%s.%zu", port->name, k).ptr,
                              arena_printf(a, "%s[%zu]", by_number, k).ptr,
                              arena_printf(a, "%s.%zu", by_number, k).ptr};
    const char **list = port->sequence ? elements : names;
    size_t count = port->sequence ? COUNT_OF(elements) : COUNT_OF(names);
    for (size_t n = 0; n < count; n++)
        if (hlo_arrays_has(z, list[n]))
            return list[n];
    return NULL;
}

/* Reads an input from an archive; a missing sequence or optional is empty. */
static bool value_of_npz(struct model_inputs *in, const hlo_arrays *z, size_t i)
{
    struct hlo_onnx_port port;
    struct tensors t = {0};
    const char *name;
    hlo_onnx_input(in->model, i, &port);
    while ((name = array_name(in, z, i, &port, t.count))) {
        hlo_literal *l = hlo_arrays_get(z, name, port.dtype, in->m);
        if (!l)
            return drop(&t);
        VEC_PUSH(&in->arena, t.at, t.count, t.capacity) = l;
        if (!port.sequence)
            break;
    }
    if (t.count == 0 && !port.sequence && !port.optional)
        return true; /* reported later as missing */
    return put_tensors(in, i, t.count > 0 || !port.optional, &t);
}

static bool all_of_npz(struct model_inputs *in, const char *path)
{
    SCOPED_ARRAYS *z = hlo_arrays_open(path, in->m);
    bool ok = z != NULL;
    for (size_t i = 0; ok && i < in->count; i++)
        ok = in->values[i] || value_of_npz(in, z, i);
    return ok;
}

static bool value_of_npy(struct model_inputs *in, size_t i, const char *path)
{
    struct hlo_onnx_port port;
    hlo_onnx_input(in->model, i, &port);
    SCOPED_ARRAYS *z = hlo_arrays_open(path, in->m);
    hlo_literal *l = z ? hlo_arrays_get(z, "", port.dtype, in->m) : NULL;
    return l && put_tensors(in, i, true, &(struct tensors){&l, 1, 1});
}

static bool value_of_text_file(struct model_inputs *in, size_t i, const char *path)
{
    SCOPED_BYTES file = {0};
    if (!file_read(path, &file))
        return file_error(in->m, path, "cannot read file: %s", file_problem(errno));
    return value_of_text(in, i, (struct str){file.data, file.size});
}

bool model_inputs_read(struct model_inputs *in, const char *directory)
{
    for (size_t i = 0; i < in->count; i++) {
        const char *path = arena_printf(&in->arena, "%s/input_%zu.pb", directory, i).ptr;
        if (!in->values[i] && !put_value_at(in, i, hlo_onnx_read_input(in->model, i, path, in->m)))
            return false;
    }
    return true;
}

/* ---- all inputs ---- */

static bool value_of_argument(struct model_inputs *in, size_t i, const char *text)
{
    if (*text != '@')
        return value_of_text(in, i, str_of(text));
    if (ends_with(text, ".npy"))
        return value_of_npy(in, i, text + 1);
    if (ends_with(text, ".pb"))
        return put_value_at(in, i, hlo_onnx_read_input(in->model, i, text + 1, in->m));
    return value_of_text_file(in, i, text + 1);
}

/* Finds the input of NAME=ARG and the position of its value. Names in ONNX may contain any
 * character, even `=`. */
static bool find_named(const struct model_inputs *in, const char *arg, size_t *i,
                       const char **value)
{
    struct hlo_onnx_port port;
    for (*i = 0; hlo_onnx_input(in->model, *i, &port); ++*i) {
        size_t n = strlen(port.name);
        if (n > 0 && strncmp(arg, port.name, n) == 0 && arg[n] == '=') {
            *value = arg + n + 1;
            return true;
        }
    }
    return false;
}

static int unknown_input(const struct model_inputs *in, const char *arg)
{
    SCOPED_BUF names = {0};
    struct hlo_onnx_port port;
    for (size_t i = 0; hlo_onnx_input(in->model, i, &port); i++)
        buf_printf(&names, i ? ", '%s'" : "'%s'", port.name);
    return usage_error(in->o, "unknown input '%.*s'; the model has %s",
                       (int)hlo_argument_value(arg) - 1, arg, in->count ? names.data : "none");
}

static int named_arguments(struct model_inputs *in)
{
    for (size_t k = 1; k < in->o->arg_count; k++) {
        size_t i;
        const char *arg = in->o->args[k], *value;
        if (find_named(in, arg, &i, &value)) {
            if (!value_of_argument(in, i, value))
                return HLO_USAGE;
        } else if (hlo_argument_value(arg)) {
            return unknown_input(in, arg);
        }
    }
    return HLO_OK;
}

static int positional_arguments(struct model_inputs *in)
{
    for (size_t k = 1; k < in->o->arg_count; k++) {
        size_t i;
        const char *arg = in->o->args[k], *value;
        if (find_named(in, arg, &i, &value))
            continue;
        if (*arg == '@' && ends_with(arg, ".npz")) {
            if (!all_of_npz(in, arg + 1))
                return HLO_USAGE;
            continue;
        }
        while (in->next < in->count && in->values[in->next])
            in->next++;
        if (in->next == in->count)
            return usage_error(in->o, "too many arguments: '%s'; the model has %zu inputs", arg,
                               in->count);
        if (!value_of_argument(in, in->next, arg))
            return HLO_USAGE;
    }
    return HLO_OK;
}

static int input_file(struct model_inputs *in)
{
    const char *path = in->o->value[OPT_INPUTS];
    if (!in->o->given[OPT_INPUTS])
        return HLO_OK;
    return (file_is_directory(path) ? model_inputs_read(in, path) : all_of_npz(in, path))
               ? HLO_OK
               : HLO_USAGE;
}

/* Sets missing optionals to empty. */
static int missing_values(struct model_inputs *in)
{
    struct hlo_onnx_port port;
    for (size_t i = 0; hlo_onnx_input(in->model, i, &port); i++) {
        if (in->values[i])
            continue;
        if (!port.optional)
            return usage_error(in->o, "missing value for input %zu, '%s', of type %s", i, port.name,
                               port.type);
        if (!put_tensors(in, i, false, &(struct tensors){0}))
            return HLO_USAGE;
    }
    return HLO_OK;
}

int model_inputs_collect(struct model_inputs *in)
{
    int status =
        named_arguments(in); /* named arguments first; unnamed ones take the remaining inputs */
    if (status == HLO_OK)
        status = positional_arguments(in);
    if (status == HLO_OK)
        status = input_file(in);
    return status == HLO_OK ? missing_values(in) : status;
}
