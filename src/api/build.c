/*
 * Public interface: building modules. Each instruction is written as text and parsed
 * (text/build.c), so that building follows the rules of parsing.
 */
#include "api/api.h"

#include "text/text.h"

struct hlo_builder {
    struct text_builder *b;
    hlo_messages *messages;
    struct sink *sink; /* for the next message */
    const char *name;
    bool failed;
};

struct hlo_computation {
    hlo_builder *b;
    struct text_computation *c;
};

/* The handle of an instruction is the instruction itself. */
static struct inst *inst_of(const hlo_inst *i) { return (struct inst *)(uintptr_t)i; }
static hlo_inst *handle_of(struct inst *i) { return (hlo_inst *)i; }

/* ---- messages ---- */

static struct diags *diags_of(hlo_builder *b) { return &b->sink->ds; }

/* Moves the messages of the sink, if any, to those of the builder; `text` is their source, whose
 * first line has number `line`. */
static void flush_messages(hlo_builder *b, struct str text, uint32_t line)
{
    struct diags *ds = diags_of(b);
    b->failed |= ds->errors > 0;
    if (!ds->first)
        return;
    source_init(&b->sink->own, str_of(b->name), arena_str(&b->messages->arena, text));
    b->sink->own.first_line = line;
    hlo_sink_join(b->messages, b->sink);
    b->sink = hlo_sink_new(b->messages);
}

static void *fail_no_memory(hlo_builder *b)
{
    b->failed = true;
    hlo_messages_no_memory(b->messages);
    return NULL;
}

static bool fail(hlo_builder *b, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(hlo_builder *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct str why = arena_vprintf(&b->messages->arena, format, args);
    va_end(args);
    DIAG(diags_of(b), NO_SPAN, FAILURE, why.ptr);
    flush_messages(b, STR(""), 1);
    return false;
}

/* ---- builders and computations ---- */

static bool is_open(hlo_computation *c)
{
    return text_computation_open(c->c) ||
           fail(c->b, "computation '%s' is already finished", hlo_computation_name(c));
}

/* Checks that the operands belong to the computation. Without a message for NULL, whose failure has
 * been reported. */
static bool check_operands(hlo_computation *c, hlo_inst *const *operands, size_t count)
{
    const struct str name = text_computation_name(c->c);
    for (size_t k = 0; k < count; k++) {
        if (!operands[k])
            return false;
        const struct inst *i = inst_of(operands[k]);
        if (!str_eq(i->parent->name, name))
            return fail(c->b,
                        "operand '" STR_FMT "' belongs to computation '" STR_FMT "', not '" STR_FMT
                        "'",
                        STR_ARG(i->name), STR_ARG(i->parent->name), STR_ARG(name));
    }
    return true;
}

hlo_builder *hlo_builder_new(const char *name, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    hlo_builder *b = heap_zalloc(1, sizeof *b);
    b->messages = m;
    b->name = arena_str(&m->arena, str_of(name)).ptr;
    b->sink = hlo_sink_new(m);
    b->b = text_builder_new(str_of(b->name));
    return b;
}

void hlo_builder_free(hlo_builder *b)
{
    if (!b)
        return;
    if (b->b)
        text_builder_free(b->b);
    diags_free(diags_of(b));
    heap_free(b);
}

hlo_computation *hlo_computation_new(hlo_builder *b, const char *name)
{
    OOM_SCOPE(fail_no_memory(b));
    struct arena *a = &b->messages->arena;
    struct str unique = name_sanitize(a, str_of(*name ? name : "computation"));
    for (int k = 1; text_builder_has(b->b, unique); k++)
        unique = name_sanitize(a, arena_printf(a, "%s.%d", name, k));
    hlo_computation *c = ARENA_NEW(a, hlo_computation);
    *c = (hlo_computation){b, text_computation_new(b->b, unique)};
    return c;
}

const char *hlo_computation_name(const hlo_computation *c)
{
    return text_computation_name(c->c).ptr;
}

bool hlo_computation_finish(hlo_computation *c, hlo_inst *root)
{
    OOM_SCOPE(fail_no_memory(c->b) != NULL);
    hlo_builder *b = c->b;
    if (!is_open(c))
        return false;
    bool ok = !b->failed && (!root || check_operands(c, &root, 1)) &&
              text_computation_finish(c->c, diags_of(b), inst_of(root));
    b->failed |= !ok;
    flush_messages(b, text_builder_text(b->b), 1);
    return ok;
}

/* The text of the module as a file, to which the module holds a reference. */
static hlo_file *file_of_builder(const hlo_builder *b)
{
    hlo_file *f = hlo_file_new(false);
    f->parts = ARENA_NEW(&f->arena, struct source);
    f->count = 1;
    source_init(f->parts, arena_str(&f->arena, str_of(b->name)),
                arena_str(&f->arena, text_builder_text(b->b)));
    return f;
}

static hlo_module *free_no_memory(hlo_builder *b)
{
    fail_no_memory(b);
    hlo_builder_free(b);
    return NULL;
}

hlo_module *hlo_builder_finish(hlo_builder *b, hlo_computation *entry)
{
    OOM_SCOPE(free_no_memory(b));
    hlo_module *out = NULL;
    if (!b->failed && text_computation_open(entry->c))
        fail(b, "entry computation '%s' is not finished", hlo_computation_name(entry));
    if (!b->failed) {
        hlo_file *f = file_of_builder(b);
        struct module *m = text_builder_finish(b->b, diags_of(b), entry->c, f->parts);
        flush_messages(b, f->parts->text, 1);
        if (m) {
            out = heap_zalloc(1, sizeof *out);
            *out = (hlo_module){m, f, 0};
            b->b = NULL; /* owned by the module */
        } else {
            hlo_file_free(f);
        }
    }
    hlo_builder_free(b);
    return out;
}

hlo_text hlo_inst_shape(const hlo_inst *i)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    if (i)
        shape_print(&b, inst_of(i)->shape, false);
    return hlo_text_of(&b);
}

hlo_text hlo_inst_name(const hlo_inst *i)
{
    OOM_SCOPE((hlo_text){0});
    struct buf b = {0};
    if (i)
        buf_str(&b, inst_of(i)->name);
    return hlo_text_of(&b);
}

/* ---- instructions ---- */

/* Parses the line and frees it. */
static hlo_inst *parse_line(hlo_computation *c, struct buf *line)
{
    hlo_builder *b = c->b;
    const uint32_t number = text_builder_line(b->b);
    struct inst *i = text_build(c->c, diags_of(b), buf_view(line));
    b->failed |= !i;
    /* The parser has no message about names of instructions that failed before. */
    if (!i && diags_of(b)->errors == 0)
        DIAG(diags_of(b), ((struct span){0, (uint32_t)line->size}), FAILURE,
             "refers to an instruction that failed or to a computation that is not finished");
    flush_messages(b, buf_view(line), number);
    buf_free(line);
    return handle_of(i);
}

/* Returns the opcode, the last word of "SHAPE OPCODE". */
static struct str last_word(const char *what)
{
    struct str s = str_trim(str_of(what));
    size_t begin = s.len;
    while (begin > 0 && !char_is_blank(s.ptr[begin - 1]))
        begin--;
    return (struct str){s.ptr + begin, s.len - begin};
}

static bool is_opcode(struct str s)
{
    for (size_t k = 0; k < s.len; k++) {
        const char c = s.ptr[k];
        if (!char_is_letter(c) && (k == 0 || (c != '-' && !char_is_digit(c))))
            return false;
    }
    return s.len > 0;
}

static void put_name(struct buf *line, struct str name)
{
    buf_printf(line, "%%" STR_FMT " = ", STR_ARG(name));
}

hlo_inst *hlo_build(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count,
                    const char *attributes)
{
    OOM_SCOPE(fail_no_memory(c->b));
    struct buf line = {0};
    if (!is_open(c) || !check_operands(c, operands, count)) {
        c->b->failed = true;
        return NULL;
    }
    if (!strchr(what, '=')) {
        const struct str opcode = last_word(what);
        put_name(&line, text_build_name(c->c, is_opcode(opcode) ? opcode : STR("i")));
    }
    buf_printf(&line, "%s(", what);
    for (size_t k = 0; k < count; k++)
        buf_printf(&line, "%s%%" STR_FMT, k ? ", " : "", STR_ARG(inst_of(operands[k])->name));
    buf_putc(&line, ')');
    if (attributes && *attributes)
        buf_printf(&line, ", %s", attributes);
    return parse_line(c, &line);
}

hlo_inst *hlo_parameter(hlo_computation *c, size_t number, const char *shape, const char *name)
{
    OOM_SCOPE(fail_no_memory(c->b));
    struct buf line = {0};
    if (!is_open(c))
        return NULL;
    put_name(&line, name ? str_of(name) : text_build_name(c->c, STR("parameter")));
    buf_printf(&line, "%s parameter(%zu)", shape, number);
    return parse_line(c, &line);
}

hlo_inst *hlo_constant(hlo_computation *c, const hlo_literal *l)
{
    OOM_SCOPE(fail_no_memory(c->b));
    if (!is_open(c) || !l) {
        c->b->failed = true;
        return NULL;
    }
    struct str name = text_build_name(c->c, STR("constant"));
    struct inst *i = text_build_constant(c->c, diags_of(c->b), name, l->l);
    c->b->failed |= !i;
    flush_messages(c->b, STR(""), 1);
    return handle_of(i);
}

hlo_inst *hlo_tuple(hlo_computation *c, hlo_inst *const *elements, size_t count)
{
    return hlo_build(c, "tuple", elements, count, NULL);
}

hlo_inst *hlo_get_tuple_element(hlo_computation *c, hlo_inst *tuple, int64_t index)
{
    char attribute[32];
    snprintf(attribute, sizeof attribute, "index=%" PRId64, index);
    return hlo_build(c, "get-tuple-element", &tuple, 1, attribute);
}
