/*
 * The public interface to building modules. Every instruction is written as text and read by the parser (text/build.c), so that
 * what embedders build and what people write is the same by construction.
 */
#include "api/api.h"

#include "text/text.h"
#include "verify/build.h"

struct hlo_builder {
    struct text_builder *b;
    hlo_messages *messages;
    struct sink *sink; /* has no messages yet */
    const char *name;
    bool failed;
};

struct hlo_computation {
    hlo_builder *b;
    struct text_computation *c;
};

/* Handles of instructions are the instructions. */
static struct inst *inst_of(const hlo_inst *i) { return (struct inst *)(uintptr_t)i; }
static hlo_inst *handle_of(struct inst *i) { return (hlo_inst *)i; }

/* ---- messages ---- */

static struct diags *said(hlo_builder *b) { return &b->sink->ds; }

/* If there are messages, they are about this text, whose first line has this number; the next ones get another sink. */
static void keep_messages(hlo_builder *b, struct str text, uint32_t line)
{
    struct diags *ds = said(b);
    b->failed |= ds->errors > 0;
    if (!ds->first)
        return;
    source_init(&b->sink->own, str_of(b->name), arena_str(&b->messages->arena, text));
    b->sink->own.first_line = line;
    hlo_sink_join(b->messages, b->sink);
    b->sink = hlo_sink_new(b->messages);
}

/* Without memory, building fails like after any other mistake. */
static void *starved(hlo_builder *b)
{
    b->failed = true;
    hlo_messages_no_memory(b->messages);
    return NULL;
}

static hlo_inst *refuse(hlo_computation *c, const char *why)
{
    DIAG(said(c->b), NO_SPAN, FAILURE, why);
    keep_messages(c->b, STR(""), 1);
    return NULL;
}

/* ---- builders and computations ---- */

/* False without a message when an operand failed before, with one when it is of another computation. */
static bool operands_fit(hlo_computation *c, hlo_inst *const *operands, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!operands[k])
            return false;
        if (!str_eq(inst_of(operands[k])->parent->name, text_computation_name(c->c)))
            return refuse(c, "an operand belongs to another computation"), false;
    }
    return true;
}

hlo_builder *hlo_builder_new(const char *name, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), NULL));
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
    diags_free(said(b));
    heap_free(b);
}

hlo_computation *hlo_computation_new(hlo_builder *b, const char *name)
{
    GUARDED(starved(b));
    struct arena *a = &b->messages->arena;
    struct str unique = name_sanitize(a, str_of(*name ? name : "computation"));
    for (int k = 1; text_builder_has(b->b, unique); k++)
        unique = name_sanitize(a, arena_printf(a, "%s.%d", name, k));
    hlo_computation *c = ARENA_NEW(a, hlo_computation);
    *c = (hlo_computation){b, text_computation_new(b->b, unique)};
    return c;
}

const char *hlo_computation_name(const hlo_computation *c) { return text_computation_name(c->c).ptr; }

bool hlo_computation_finish(hlo_computation *c, hlo_inst *root)
{
    GUARDED(starved(c->b) != NULL);
    hlo_builder *b = c->b;
    if (!text_computation_open(c->c))
        return refuse(c, "this computation was finished before"), false;
    bool ok = !b->failed && (!root || operands_fit(c, &root, 1)) && text_computation_finish(c->c, said(b), inst_of(root));
    b->failed |= !ok;
    keep_messages(b, text_builder_text(b->b), 1);
    return ok;
}

/* The text of the module as a file, to which the module holds a reference. */
static hlo_file *file_of_builder(const hlo_builder *b)
{
    hlo_file *f = hlo_file_new(false);
    f->parts = ARENA_NEW(&f->arena, struct source);
    f->count = 1;
    source_init(f->parts, arena_str(&f->arena, str_of(b->name)), arena_str(&f->arena, text_builder_text(b->b)));
    return f;
}

static hlo_module *lost(hlo_builder *b)
{
    starved(b);
    hlo_builder_free(b);
    return NULL;
}

hlo_module *hlo_builder_finish(hlo_builder *b, hlo_computation *entry)
{
    GUARDED(lost(b));
    hlo_module *out = NULL;
    if (!b->failed && text_computation_open(entry->c))
        refuse(entry, "the entry computation is not finished");
    if (!b->failed) {
        hlo_file *f = file_of_builder(b);
        struct module *m = text_builder_finish(b->b, said(b), entry->c, f->parts);
        keep_messages(b, f->parts->text, 1);
        if (m) {
            out = heap_zalloc(1, sizeof *out);
            *out = (hlo_module){m, f, 0};
            b->b = NULL; /* the module has taken it over */
        } else {
            hlo_file_free(f);
        }
    }
    hlo_builder_free(b);
    return out;
}

hlo_text hlo_inst_shape(const hlo_inst *i)
{
    GUARDED((hlo_text){0});
    struct buf b = {0};
    if (i)
        shape_print(&b, inst_of(i)->shape, false);
    return hlo_text_of(&b);
}

hlo_text hlo_inst_name(const hlo_inst *i)
{
    GUARDED((hlo_text){0});
    struct buf b = {0};
    if (i)
        buf_str(&b, inst_of(i)->name);
    return hlo_text_of(&b);
}

/* ---- any instruction ---- */

static bool may_build(hlo_computation *c)
{
    return text_computation_open(c->c) || refuse(c, "this computation was finished before");
}

static hlo_inst *read_line(hlo_computation *c, struct buf *line)
{
    hlo_builder *b = c->b;
    uint32_t number = text_builder_line(b->b);
    struct inst *i = text_build(c->c, said(b), buf_view(line));
    b->failed |= !i;
    if (!i && said(b)->errors == 0) /* the parser says nothing about names of instructions that failed before */
        DIAG(said(b), ((struct span){0, (uint32_t)line->size}), FAILURE,
             "this names a computation that is not finished, or what failed");
    keep_messages(b, buf_view(line), number);
    buf_free(line);
    return handle_of(i);
}

/* The opcode: the last word. */
static struct str last_word(const char *what)
{
    struct str s = str_trim(str_of(what));
    size_t begin = s.len;
    while (begin > 0 && !char_is_blank(s.ptr[begin - 1]))
        begin--;
    return (struct str){s.ptr + begin, s.len - begin};
}

static bool is_word(struct str s)
{
    for (size_t k = 0; k < s.len; k++) {
        char c = s.ptr[k];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (k > 0 && (c == '-' || (c >= '0' && c <= '9')))))
            return false;
    }
    return s.len > 0;
}

static void put_left(hlo_computation *c, struct buf *line, const char *what)
{
    if (!strchr(what, '=')) {
        struct str word = last_word(what);
        struct str name = text_build_name(c->c, is_word(word) ? word : STR("i"));
        buf_printf(line, "%%" STR_FMT " = ", STR_ARG(name));
    }
    buf_puts(line, what);
}

/* `attributes`, followed by those of `more`, each of which begins with a comma. */
static hlo_inst *build_with(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count, const char *attributes,
                            struct buf *more)
{
    struct buf line = {0};
    if (!may_build(c) || !operands_fit(c, operands, count)) {
        c->b->failed = true;
        buf_free(more);
        return NULL;
    }
    put_left(c, &line, what);
    buf_putc(&line, '(');
    for (size_t k = 0; k < count; k++)
        buf_printf(&line, "%s%%" STR_FMT, k ? ", " : "", STR_ARG(inst_of(operands[k])->name));
    buf_putc(&line, ')');
    if (attributes && *attributes)
        buf_printf(&line, ", %s", attributes);
    buf_str(&line, buf_view(more));
    buf_free(more);
    return read_line(c, &line);
}

hlo_inst *hlo_build(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count, const char *attributes)
{
    GUARDED(starved(c->b));
    struct buf none = {0};
    return build_with(c, what, operands, count, attributes, &none);
}

hlo_inst *hlo_parameter(hlo_computation *c, size_t number, const char *shape, const char *name)
{
    GUARDED(starved(c->b));
    struct buf line = {0};
    struct str made = name ? str_of(name) : text_build_name(c->c, STR("parameter"));
    if (!may_build(c))
        return NULL;
    buf_printf(&line, "%%" STR_FMT " = %s parameter(%zu)", STR_ARG(made), shape, number);
    return read_line(c, &line);
}

hlo_inst *hlo_constant(hlo_computation *c, const hlo_literal *l)
{
    GUARDED(starved(c->b));
    if (!may_build(c) || !l) {
        c->b->failed = true;
        return NULL;
    }
    struct inst *i = text_build_constant(c->c, said(c->b), text_build_name(c->c, STR("constant")), l->l);
    c->b->failed |= !i;
    keep_messages(c->b, STR(""), 1);
    return handle_of(i);
}

/* ---- attributes in words ---- */

static void put_ints(struct buf *b, const char *name, const int64_t *at, size_t count)
{
    buf_printf(b, ", %s={", name);
    for (size_t k = 0; k < count; k++)
        buf_printf(b, "%s%" PRId64, k ? "," : "", at[k]);
    buf_putc(b, '}');
}

static void put_ints_if(struct buf *b, const char *name, const int64_t *at, size_t count)
{
    if (at)
        put_ints(b, name, at, count);
}

static void put_int(struct buf *b, const char *name, int64_t v) { buf_printf(b, ", %s=%" PRId64, name, v); }

static void put_word(struct buf *b, const char *name, const char *word) { buf_printf(b, ", %s=%s", name, word); }

static void put_computation(struct buf *b, const char *name, const hlo_computation *c)
{
    buf_printf(b, ", %s=%%%s", name, hlo_computation_name(c));
}

static void put_instructions(struct buf *b, const char *name, hlo_inst *const *at, size_t count)
{
    buf_printf(b, ", %s={", name);
    for (size_t k = 0; k < count; k++)
        buf_printf(b, "%s%%" STR_FMT, k ? "," : "", STR_ARG(inst_of(at[k])->name));
    buf_putc(b, '}');
}

static hlo_inst *build_one(hlo_computation *c, const char *what, hlo_inst *operand, struct buf *attributes)
{
    return build_with(c, what, &operand, 1, NULL, attributes);
}

/* The same with one attribute, a list of integers. */
static hlo_inst *build_with_ints(hlo_computation *c, const char *what, hlo_inst *operand, const char *name, const int64_t *at,
                                 size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, name, at, count);
    return build_one(c, what, operand, &b);
}

/* ---- elements ---- */

hlo_inst *hlo_iota(hlo_computation *c, const char *shape, int64_t dimension)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_word(&b, "shape", shape);
    put_int(&b, "iota_dimension", dimension);
    return build_with(c, "iota", NULL, 0, NULL, &b);
}

hlo_inst *hlo_binary(hlo_computation *c, const char *opcode, hlo_inst *lhs, hlo_inst *rhs, const int64_t *broadcast_dimensions,
                     size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints_if(&b, "broadcast_dimensions", broadcast_dimensions, count);
    return build_with(c, opcode, (hlo_inst *[]){lhs, rhs}, 2, NULL, &b);
}

hlo_inst *hlo_unary(hlo_computation *c, const char *opcode, hlo_inst *operand) { return hlo_build(c, opcode, &operand, 1, NULL); }

hlo_inst *hlo_compare(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const char *direction,
                      const int64_t *broadcast_dimensions, size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_word(&b, "direction", direction);
    put_ints_if(&b, "broadcast_dimensions", broadcast_dimensions, count);
    return build_with(c, "compare", (hlo_inst *[]){lhs, rhs}, 2, NULL, &b);
}

hlo_inst *hlo_select(hlo_computation *c, hlo_inst *pred, hlo_inst *on_true, hlo_inst *on_false)
{
    return hlo_build(c, "select", (hlo_inst *[]){pred, on_true, on_false}, 3, NULL);
}

hlo_inst *hlo_clamp(hlo_computation *c, hlo_inst *min, hlo_inst *operand, hlo_inst *max)
{
    return hlo_build(c, "clamp", (hlo_inst *[]){min, operand, max}, 3, NULL);
}

hlo_inst *hlo_convert(hlo_computation *c, hlo_inst *operand, const char *dtype)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_word(&b, "new_element_type", dtype);
    return build_one(c, "convert", operand, &b);
}

hlo_inst *hlo_bitcast_convert(hlo_computation *c, hlo_inst *operand, const char *dtype)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_word(&b, "new_element_type", dtype);
    return build_one(c, "bitcast-convert", operand, &b);
}

/* ---- dimensions ---- */

hlo_inst *hlo_broadcast(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t count)
{
    return build_with_ints(c, "broadcast", operand, "sizes", sizes, count);
}

hlo_inst *hlo_broadcast_in_dim(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t rank,
                               const int64_t *dimensions, size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "sizes", sizes, rank);
    put_ints(&b, "broadcast_dimensions", dimensions, count);
    return build_one(c, "broadcast-in-dim", operand, &b);
}

hlo_inst *hlo_collapse(hlo_computation *c, hlo_inst *operand, const int64_t *dimensions, size_t count)
{
    return build_with_ints(c, "collapse", operand, "dimensions", dimensions, count);
}

hlo_inst *hlo_reshape(hlo_computation *c, hlo_inst *operand, const int64_t *sizes, size_t rank)
{
    return build_with_ints(c, "reshape", operand, "sizes", sizes, rank);
}

hlo_inst *hlo_reshape_order(hlo_computation *c, hlo_inst *operand, const int64_t *order, size_t count, const int64_t *sizes,
                            size_t rank)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "dimensions", order, count);
    put_ints(&b, "sizes", sizes, rank);
    return build_one(c, "reshape", operand, &b);
}

hlo_inst *hlo_transpose(hlo_computation *c, hlo_inst *operand, const int64_t *permutation, size_t rank)
{
    return build_with_ints(c, "transpose", operand, "dimensions", permutation, rank);
}

hlo_inst *hlo_rev(hlo_computation *c, hlo_inst *operand, const int64_t *dimensions, size_t count)
{
    return build_with_ints(c, "reverse", operand, "dimensions", dimensions, count);
}

hlo_inst *hlo_concat_in_dim(hlo_computation *c, hlo_inst *const *operands, size_t count, int64_t dimension)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "dimensions", &dimension, 1);
    return build_with(c, "concatenate", operands, count, NULL, &b);
}

hlo_inst *hlo_slice(hlo_computation *c, hlo_inst *operand, const int64_t *start, const int64_t *limit, const int64_t *strides,
                    size_t rank)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "start_indices", start, rank);
    put_ints(&b, "limit_indices", limit, rank);
    put_ints_if(&b, "strides", strides, rank);
    return build_one(c, "slice", operand, &b);
}

/* The operands, followed by the start indices. */
static hlo_inst *build_indexed(hlo_computation *c, const char *what, hlo_inst *const *front, size_t fronts,
                               hlo_inst *const *start, size_t count, struct buf *attributes)
{
    struct arena scratch;
    arena_init(&scratch);
    hlo_inst **all = ARENA_ARRAY(&scratch, hlo_inst *, fronts + count);
    memcpy(all, front, fronts * sizeof *all);
    if (count)
        memcpy(all + fronts, start, count * sizeof *all);
    hlo_inst *i = build_with(c, what, all, fronts + count, NULL, attributes);
    arena_free(&scratch);
    return i;
}

hlo_inst *hlo_dynamic_slice(hlo_computation *c, hlo_inst *operand, hlo_inst *const *start, size_t count, const int64_t *sizes,
                            size_t rank)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "dynamic_slice_sizes", sizes, rank);
    return build_indexed(c, "dynamic-slice", &operand, 1, start, count, &b);
}

hlo_inst *hlo_dynamic_update_slice(hlo_computation *c, hlo_inst *operand, hlo_inst *update, hlo_inst *const *start, size_t count)
{
    GUARDED(starved(c->b));
    struct buf none = {0};
    return build_indexed(c, "dynamic-update-slice", (hlo_inst *[]){operand, update}, 2, start, count, &none);
}

hlo_inst *hlo_pad(hlo_computation *c, hlo_inst *operand, hlo_inst *value, const struct hlo_padding *padding, size_t rank)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    buf_puts(&b, ", padding_config={");
    for (size_t k = 0; k < rank; k++)
        buf_printf(&b, "%s{%" PRId64 ",%" PRId64 ",%" PRId64 "}", k ? "," : "", padding[k].low, padding[k].high,
                   padding[k].interior);
    buf_putc(&b, '}');
    return build_with(c, "pad", (hlo_inst *[]){operand, value}, 2, NULL, &b);
}

/* ---- products and windows ---- */

hlo_inst *hlo_dot_general(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const struct hlo_dot_dimensions *d)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "lhs_contracting_dims", d->lhs_contracting, d->contracting);
    put_ints(&b, "rhs_contracting_dims", d->rhs_contracting, d->contracting);
    if (d->batch) {
        put_ints(&b, "lhs_batch_dims", d->lhs_batch, d->batch);
        put_ints(&b, "rhs_batch_dims", d->rhs_batch, d->batch);
    }
    return build_with(c, "dot", (hlo_inst *[]){lhs, rhs}, 2, NULL, &b);
}

hlo_inst *hlo_dot(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs)
{
    GUARDED(starved(c->b));
    int64_t left, right;
    if (!lhs || !rhs)
        return hlo_build(c, "dot", (hlo_inst *[]){lhs, rhs}, 2, NULL);
    if (!build_dot_numbers(inst_of(lhs)->shape, inst_of(rhs)->shape, &left, &right))
        return refuse(c, "dot takes vectors and matrices whose last and first dimensions are of one size; see hlo_dot_general");
    return hlo_dot_general(c, lhs, rhs, &(struct hlo_dot_dimensions){&left, &right, 1, NULL, NULL, 0});
}

static void put_window(struct buf *b, const struct hlo_window *w, const char *base, const char *window)
{
    static const char *const words[] = {[HLO_PADDING_SAME] = "same", [HLO_PADDING_VALID] = "valid"};
    put_ints_if(b, "window_strides", w->stride, w->rank);
    put_ints_if(b, base, w->base_dilation, w->rank);
    put_ints_if(b, window, w->window_dilation, w->rank);
    if (w->word != HLO_PADDING_LIST) {
        put_word(b, "padding", words[w->word]);
        return;
    }
    buf_puts(b, ", padding={");
    for (size_t k = 0; k < w->rank; k++)
        buf_printf(b, "%s{%" PRId64 ",%" PRId64 "}", k ? "," : "", w->low ? w->low[k] : 0, w->high ? w->high[k] : 0);
    buf_putc(b, '}');
}

hlo_inst *hlo_conv(hlo_computation *c, hlo_inst *lhs, hlo_inst *rhs, const struct hlo_window *w, const char *attributes)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_window(&b, w, "lhs_dilation", "rhs_dilation");
    return build_with(c, "conv-with-general-padding", (hlo_inst *[]){lhs, rhs}, 2, attributes, &b);
}

hlo_inst *hlo_reduce_window(hlo_computation *c, hlo_inst *const *operands, hlo_inst *const *init, size_t n,
                            const hlo_computation *computation, const struct hlo_window *w)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints_if(&b, "window_dimensions", w->size, w->rank);
    put_window(&b, w, "base_dilations", "window_dilations");
    put_computation(&b, "to_apply", computation);
    return build_indexed(c, "reduce-window", operands, n, init, n, &b);
}

hlo_inst *hlo_select_and_scatter(hlo_computation *c, hlo_inst *operand, hlo_inst *source, hlo_inst *init,
                                 const hlo_computation *select, const hlo_computation *scatter, const struct hlo_window *w)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints_if(&b, "window_dimensions", w->size, w->rank);
    put_window(&b, w, "base_dilations", "window_dilations");
    put_computation(&b, "select", select);
    put_computation(&b, "scatter", scatter);
    return build_with(c, "select-and-scatter", (hlo_inst *[]){operand, source, init}, 3, NULL, &b);
}

/* ---- operations that apply computations ---- */

hlo_inst *hlo_reduce(hlo_computation *c, hlo_inst *const *operands, hlo_inst *const *init, size_t n,
                     const hlo_computation *computation, const int64_t *dimensions, size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_ints(&b, "dimensions", dimensions, count);
    put_computation(&b, "to_apply", computation);
    return build_indexed(c, "reduce", operands, n, init, n, &b);
}

hlo_inst *hlo_map(hlo_computation *c, hlo_inst *const *operands, size_t n, const hlo_computation *computation,
                  hlo_inst *const *static_operands, size_t statics)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    if (!operands_fit(c, static_operands, statics)) {
        c->b->failed = true;
        return NULL;
    }
    put_computation(&b, "to_apply", computation);
    if (statics)
        put_instructions(&b, "static_operands", static_operands, statics);
    return build_with(c, "map", operands, n, NULL, &b);
}

hlo_inst *hlo_sort(hlo_computation *c, hlo_inst *const *operands, size_t n, const hlo_computation *comparator, int64_t dimension,
                   bool stable)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    if (dimension >= 0)
        put_ints(&b, "dimensions", &dimension, 1);
    if (comparator)
        put_computation(&b, "to_apply", comparator);
    if (stable)
        put_word(&b, "is_stable", "true");
    return build_with(c, "sort", operands, n, NULL, &b);
}

hlo_inst *hlo_call(hlo_computation *c, const hlo_computation *computation, hlo_inst *const *args, size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_computation(&b, "to_apply", computation);
    return build_with(c, "call", args, count, NULL, &b);
}

hlo_inst *hlo_while(hlo_computation *c, const hlo_computation *condition, const hlo_computation *body, hlo_inst *init)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_computation(&b, "condition", condition);
    put_computation(&b, "body", body);
    return build_one(c, "while", init, &b);
}

hlo_inst *hlo_conditional(hlo_computation *c, hlo_inst *index, const hlo_computation *const *branches, hlo_inst *const *operands,
                          size_t count)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    if (index && inst_of(index)->shape->dtype == DT_PRED && count == 2) {
        put_computation(&b, "true_computation", branches[0]);
        put_computation(&b, "false_computation", branches[1]);
    } else {
        buf_puts(&b, ", branch_computations={");
        for (size_t k = 0; k < count; k++)
            buf_printf(&b, "%s%%%s", k ? ", " : "", hlo_computation_name(branches[k]));
        buf_putc(&b, '}');
    }
    return build_indexed(c, "conditional", &index, 1, operands, count, &b);
}

/* ---- batch normalisation ---- */

static hlo_inst *build_batch_norm(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count, double epsilon,
                                  int64_t feature_index)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    buf_puts(&b, ", epsilon=");
    buf_g(&b, epsilon, 17);
    put_int(&b, "feature_index", feature_index);
    return build_with(c, what, operands, count, NULL, &b);
}

hlo_inst *hlo_batch_norm_training(hlo_computation *c, hlo_inst *operand, hlo_inst *scale, hlo_inst *offset, double epsilon,
                                  int64_t feature_index)
{
    return build_batch_norm(c, "batch-norm-training", (hlo_inst *[]){operand, scale, offset}, 3, epsilon, feature_index);
}

hlo_inst *hlo_batch_norm_inference(hlo_computation *c, hlo_inst *operand, hlo_inst *scale, hlo_inst *offset, hlo_inst *mean,
                                   hlo_inst *variance, double epsilon, int64_t feature_index)
{
    return build_batch_norm(c, "batch-norm-inference", (hlo_inst *[]){operand, scale, offset, mean, variance}, 5, epsilon,
                            feature_index);
}

hlo_inst *hlo_batch_norm_grad(hlo_computation *c, hlo_inst *operand, hlo_inst *scale, hlo_inst *mean, hlo_inst *variance,
                              hlo_inst *grad_output, double epsilon, int64_t feature_index)
{
    return build_batch_norm(c, "batch-norm-grad", (hlo_inst *[]){operand, scale, mean, variance, grad_output}, 5, epsilon,
                            feature_index);
}

/* ---- tuples, random numbers, replicas, feeds ---- */

hlo_inst *hlo_tuple(hlo_computation *c, hlo_inst *const *elements, size_t count)
{
    return hlo_build(c, "tuple", elements, count, NULL);
}

hlo_inst *hlo_get_tuple_element(hlo_computation *c, hlo_inst *tuple, int64_t index)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_int(&b, "index", index);
    return build_one(c, "get-tuple-element", tuple, &b);
}

static hlo_inst *build_random(hlo_computation *c, const char *what, hlo_inst *const *operands, size_t count, const char *shape)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_word(&b, "shape", shape);
    return build_with(c, what, operands, count, NULL, &b);
}

hlo_inst *hlo_rng_uniform(hlo_computation *c, hlo_inst *a, hlo_inst *b, const char *shape)
{
    return build_random(c, "rng-uniform", (hlo_inst *[]){a, b}, 2, shape);
}

hlo_inst *hlo_rng_normal(hlo_computation *c, hlo_inst *mu, hlo_inst *sigma, const char *shape)
{
    return build_random(c, "rng-normal", (hlo_inst *[]){mu, sigma}, 2, shape);
}

hlo_inst *hlo_rng_bernoulli(hlo_computation *c, hlo_inst *mean, const char *shape)
{
    return build_random(c, "rng-bernoulli", &mean, 1, shape);
}

hlo_inst *hlo_cross_replica_sum(hlo_computation *c, hlo_inst *operand)
{
    return hlo_build(c, "cross-replica-sum", &operand, 1, NULL);
}

hlo_inst *hlo_infeed(hlo_computation *c, const char *shape)
{
    GUARDED(starved(c->b));
    struct buf b = {0};
    put_word(&b, "shape", shape);
    return build_with(c, "infeed", NULL, 0, NULL, &b);
}

hlo_inst *hlo_outfeed(hlo_computation *c, hlo_inst *operand) { return hlo_build(c, "outfeed", &operand, 1, NULL); }
