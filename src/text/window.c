/*
 * window.c: parses and prints the attributes window, dim_labels, padding and slice.
 */
#include "text/attr_priv.h"

/* ---- pads: 1_2x3_4 or 1_2_0x3_4_1 ---- */

/* Splits `s` at `_` into at most three numbers; returns their number, or 0 if one is out of
 * range. */
static int pad_part(struct str s, int64_t numbers[3])
{
    int count = 0;
    for (size_t begin = 0, i = 0; i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != '_')
            continue;
        if (count == 3 || !num_parse_i64((struct str){s.ptr + begin, i - begin}, &numbers[count]))
            return 0;
        count++;
        begin = i + 1;
    }
    return count;
}

static size_t parts_of(struct str s)
{
    size_t n = 1;
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == 'x';
    return n;
}

/* pad_value = PAD ; */
static bool parse_pads(struct parser *p, int max, struct padding *out)
{
    if (p->tok.kind != TOK_PAD)
        return expected(p, max == 2 ? "padding as in 0_0x1_1"
                                    : "padding as in 0_0x1_1 or 0_0_0x1_1_0");
    struct str s = p->tok.s;
    size_t count = parts_of(s), d = 0;
    struct padding_dim *dims = ARENA_ARRAY(p->arena, struct padding_dim, count);
    for (size_t begin = 0, i = 0; i <= s.len; i++) {
        if (i < s.len && s.ptr[i] != 'x')
            continue;
        int64_t n[3] = {0};
        int found = pad_part((struct str){s.ptr + begin, i - begin}, n);
        if (!found)
            return DIAG_ERROR(p->ds, p->tok.span, VALUE_RANGE, STR_ARG(p->tok.s),
                              "a 64-bit integer");
        if (found < 2 || found > max)
            return wrong_count(p, p->tok.span, "pad", (int64_t)found, (int64_t)2, "low and high");
        dims[d++] = (struct padding_dim){n[0], n[1], n[2]};
        begin = i + 1;
    }
    *out = (struct padding){(int)count, dims};
    next(p);
    return true;
}

bool parse_padding_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    return parse_pads(p, 3, &out->padding);
}

void print_padding_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    bool interior = false;
    for (int d = 0; d < v.padding.rank; d++)
        interior |= v.padding.dims[d].interior != 0;
    for (int d = 0; BUF_LIST(out, d, v.padding.rank, "", "x"); d++) {
        const struct padding_dim *p = &v.padding.dims[d];
        buf_int(out, p->low);
        buf_putc(out, '_');
        buf_int(out, p->high);
        if (interior) {
            buf_putc(out, '_');
            buf_int(out, p->interior);
        }
    }
}

/* ---- padding of windows in builder forms ---- */

/* Converts `{low,high}` pairs, one per dimension, to a padding. */
static bool parse_pad_pairs(struct parser *p, struct padding *out)
{
    struct padding_dim *dims = NULL;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l)) {
        struct ints pair;
        uint32_t begin = p->tok.span.begin;
        if (!parse_int_list(p, &pair))
            return false;
        if (pair.count != 2)
            return wrong_count(p, span_since(p, begin), "padding", pair.count, 2, "low and high");
        VEC_PUSH(p->arena, dims, l.count, l.capacity) =
            (struct padding_dim){pair.at[0], pair.at[1], 0};
    }
    *out = (struct padding){(int)l.count, dims};
    return l.ok;
}

/* window_padding = "same" | "valid" | PAD | "{" [int_list {"," int_list}] "}" ; (* extension *) */
bool parse_window_padding_value(struct parser *p, const struct attr_site *site,
                                union attr_value *out)
{
    struct window_padding *w = ARENA_NEW(p->arena, struct window_padding);
    out->window_padding = w;
    bool same = p->tok.kind == TOK_IDENT && str_eq_nocase(p->tok.s, STR("same"));
    if (same || (p->tok.kind == TOK_IDENT && str_eq_nocase(p->tok.s, STR("valid")))) {
        w->word = same ? PAD_SAME : PAD_VALID;
        next(p);
        return true;
    }
    if (p->tok.kind == TOK_LBRACE)
        return parse_pad_pairs(p, &w->pads);
    if (p->tok.kind == TOK_PAD)
        return parse_pads(p, 2, &w->pads);
    return expected(p, "same, valid, or padding as in 0_0x1_1 or {{0,0},{1,1}}");
}

void print_window_padding_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    static const char *const keywords[] = {[PAD_SAME] = "same", [PAD_VALID] = "valid"};
    const struct window_padding *w = v.window_padding;
    if (w->word == PAD_LIST)
        print_padding_value(out, site, (union attr_value){.padding = w->pads});
    else
        buf_puts(out, keywords[w->word]);
}

/* ---- window ---- */

/* The order of window_fields. */
enum window_key { WIN_SIZE, WIN_STRIDE, WIN_PAD, WIN_BASE, WIN_WINDOW, WIN_REVERSAL, WIN_KEYS };

struct window_text {
    struct int_words words[WIN_KEYS]; /* of all keys but WIN_PAD */
    struct window_pads pads;
};
/* window_item = ("size=" | "stride=" | "lhs_dilate=" | "rhs_dilate=" | "rhs_reversal=") int_words
 * | "pad=" pad_value ; */
static const struct field window_fields[] = {
    {"size", FIELD_INT_WORDS, false, offsetof(struct window_text, words[WIN_SIZE])},
    {"stride", FIELD_INT_WORDS, false, offsetof(struct window_text, words[WIN_STRIDE])},
    {"pad", FIELD_PADS, false, offsetof(struct window_text, pads)},
    {"lhs_dilate", FIELD_INT_WORDS, false, offsetof(struct window_text, words[WIN_BASE])},
    {"rhs_dilate", FIELD_INT_WORDS, false, offsetof(struct window_text, words[WIN_WINDOW])},
    {"rhs_reversal", FIELD_INT_WORDS, false, offsetof(struct window_text, words[WIN_REVERSAL])},
};
static const struct block window_block = {"window", window_fields, COUNT_OF(window_fields), false,
                                          false};

bool parse_window_pads(struct parser *p, struct window_pads *out)
{
    out->span = p->tok.span;
    return parse_pads(p, 2, &out->padding);
}

/* Strides, pads and dilations must have as many entries as sizes. A reversal that is too short is
 * an error, one that is too long is truncated. */
static bool check_window(struct parser *p, const struct window_text *w, uint32_t seen)
{
    int64_t rank = w->words[WIN_SIZE].ints.count;
    for (int key = WIN_STRIDE; key < WIN_KEYS; key++) {
        int64_t count = key == WIN_PAD ? w->pads.padding.rank : w->words[key].ints.count;
        if (seen >> key & 1 && (key == WIN_REVERSAL ? count < rank : count != rank))
            return wrong_count(p, key == WIN_PAD ? w->pads.span : w->words[key].span,
                               window_fields[key].key, count, rank, "one per entry of size");
    }
    return true;
}

/* Entry d of an item, by default `absent`. */
static int64_t entry(const struct window_text *w, enum window_key key, int d, int64_t absent)
{
    return w->words[key].ints.count ? w->words[key].ints.at[d] : absent;
}

static struct window window_of(struct parser *p, const struct window_text *w)
{
    int rank = (int)w->words[WIN_SIZE].ints.count;
    struct window_dim *dims = ARENA_ARRAY(p->arena, struct window_dim, rank);
    for (int d = 0; d < rank; d++)
        dims[d] = (struct window_dim){
            .size = w->words[WIN_SIZE].ints.at[d],
            .stride = entry(w, WIN_STRIDE, d, 1),
            .pad_low = w->pads.padding.rank ? w->pads.padding.dims[d].low : 0,
            .pad_high = w->pads.padding.rank ? w->pads.padding.dims[d].high : 0,
            .base_dilation = entry(w, WIN_BASE, d, 1),
            .window_dilation = entry(w, WIN_WINDOW, d, 1),
            .reversal = entry(w, WIN_REVERSAL, d, 0) == 1,
        };
    return (struct window){rank, dims};
}

/* window = "{" {window_item} "}" ; */
bool parse_window_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct window_text w = {0};
    uint32_t seen;
    if (!parse_block(p, &window_block, &w, &seen) || !check_window(p, &w, seen))
        return false;
    out->window = window_of(p, &w);
    return true;
}

/* Prints one item, if any of its entries differs from the default. */
static void print_window_item(struct buf *out, struct window w, enum window_key key)
{
    static const int64_t usual[WIN_KEYS] = {0, 1, 0, 1, 1, 0};
    bool any = false;
    size_t begin = out->size;
    if (key)
        buf_putc(out, ' ');
    buf_puts(out, window_fields[key].key);
    buf_putc(out, '=');
    for (int d = 0; BUF_LIST(out, d, w.rank, "", "x"); d++) {
        const struct window_dim *x = &w.dims[d];
        const int64_t values[WIN_KEYS] = {x->size,          x->stride,          x->pad_low,
                                          x->base_dilation, x->window_dilation, x->reversal};
        buf_int(out, values[key]);
        any |= values[key] != usual[key] || key == WIN_SIZE;
        if (key == WIN_PAD) {
            buf_putc(out, '_');
            buf_int(out, x->pad_high);
            any |= x->pad_high != 0;
        }
    }
    if (!any)
        out->size = begin;
}

void print_window_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    buf_putc(out, '{');
    for (int key = 0; key < WIN_KEYS; key++)
        print_window_item(out, v.window, (enum window_key)key);
    buf_putc(out, '}');
}

/* ---- dim_labels ---- */

/* One of the three parts: the positions of its two letters and of its spatial digits. */
struct label_part {
    const char *what;
    char letters[2];
    int64_t positions[2];
    int spatial_count;
    int64_t *spatial;
};

static bool bad_labels(struct parser *p, const char *what, const char *problem)
{
    return DIAG_ERROR(p->ds, p->tok.span, BAD_DIM_LABELS, what, problem);
}

static bool read_label_part(struct parser *p, struct str s, struct label_part *part)
{
    for (size_t i = 0; i < s.len; i++)
        part->spatial_count += char_is_digit(s.ptr[i]);
    part->spatial = ARENA_ARRAY(p->arena, int64_t, part->spatial_count);
    uint32_t digits = 0, letters = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        uint32_t digit = (uint32_t)(c - '0'), letter = c == part->letters[0] ? 0 : 1;
        if (c == '?')
            continue;
        if (char_is_digit(c)) {
            if (digits >> digit & 1)
                return bad_labels(p, part->what, "duplicate dimension label");
            if ((int)digit >= part->spatial_count)
                return bad_labels(p, part->what, "spatial labels must be 0, 1, 2 ...");
            digits |= 1u << digit;
            part->spatial[digit] = (int64_t)i;
            continue;
        }
        if (c != part->letters[letter])
            return bad_labels(p, part->what, "label belongs to another operand");
        if (letters >> letter & 1)
            return bad_labels(p, part->what, "duplicate dimension label");
        letters |= 1u << letter;
        part->positions[letter] = (int64_t)i;
    }
    return true;
}

/* Splits `lhs_rhs->out` into its parts. */
static void split_labels(struct str s, struct str parts[3])
{
    size_t bar = 0, arrow = 0;
    while (s.ptr[bar] != '_')
        bar++;
    arrow = bar;
    while (s.ptr[arrow] != '-')
        arrow++;
    parts[0] = (struct str){s.ptr, bar};
    parts[1] = (struct str){s.ptr + bar + 1, arrow - bar - 1};
    parts[2] = (struct str){s.ptr + arrow + 2, s.len - arrow - 2};
}

/* dim_labels = DIM_LABELS ; */
bool parse_dim_labels_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    if (p->tok.kind != TOK_DIM_LABELS)
        return expected(p, "dimension labels as in b01f_01io->b01f");
    struct str texts[3];
    split_labels(p->tok.s, texts);
    struct label_part parts[3] = {{.what = "input", .letters = "bf"},
                                  {.what = "kernel", .letters = "io"},
                                  {.what = "output", .letters = "bf"}};
    for (int k = 0; k < 3; k++)
        if (!read_label_part(p, texts[k], &parts[k]))
            return false;
    for (int k = 1; k < 3; k++)
        if (parts[k].spatial_count != parts[0].spatial_count)
            return bad_labels(p, parts[k].what,
                              "number of spatial dimensions differs from that of the input");
    struct dim_labels *l = ARENA_NEW(p->arena, struct dim_labels);
    *l = (struct dim_labels){
        .spatial_count = parts[0].spatial_count,
        .input_batch = parts[0].positions[0],
        .input_feature = parts[0].positions[1],
        .input_spatial = parts[0].spatial,
        .kernel_input_feature = parts[1].positions[0],
        .kernel_output_feature = parts[1].positions[1],
        .kernel_spatial = parts[1].spatial,
        .output_batch = parts[2].positions[0],
        .output_feature = parts[2].positions[1],
        .output_spatial = parts[2].spatial,
    };
    out->dim_labels = l;
    next(p);
    return true;
}

static void print_label_part(struct buf *out, const char *letters, int64_t first, int64_t second,
                             const int64_t *spatial, int spatial_count)
{
    int64_t last = max_i64(first, second);
    for (int i = 0; i < spatial_count; i++)
        last = max_i64(last, spatial[i]);
    size_t begin = out->size;
    for (int64_t i = 0; i <= last; i++)
        buf_putc(out, '?');
    char *at = out->data + begin;
    at[first] = letters[0];
    at[second] = letters[1];
    for (int i = 0; i < spatial_count; i++)
        at[spatial[i]] = (char)('0' + i);
}

void print_dim_labels_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    const struct dim_labels *l = v.dim_labels;
    print_label_part(out, "bf", l->input_batch, l->input_feature, l->input_spatial,
                     l->spatial_count);
    buf_putc(out, '_');
    print_label_part(out, "io", l->kernel_input_feature, l->kernel_output_feature,
                     l->kernel_spatial, l->spatial_count);
    buf_puts(out, "->");
    print_label_part(out, "bf", l->output_batch, l->output_feature, l->output_spatial,
                     l->spatial_count);
}

/* ---- slices ---- */

/* slice_dim = "[" INT ":" INT [":" INT] "]" ; */
static bool parse_slice_dim(struct parser *p, struct slice_dim *out)
{
    struct int_vec v;
    int_vec_init(&v);
    uint32_t begin = p->tok.span.begin;
    if (!parse_masked_ints(p, TOK_LSQUARE, TOK_COLON, TOK_RSQUARE, &v))
        return false;
    if (v.count < 2 || v.count > 3)
        return wrong_count(p, span_since(p, begin), "slice", (int64_t)v.count, (int64_t)2,
                           "start, limit and optional stride");
    *out = (struct slice_dim){v.at[0], v.at[1], v.count == 3 ? v.at[2] : 1};
    return true;
}

/* slices = "{" [slice_dim {"," slice_dim}] "}" ; */
bool parse_slices_value(struct parser *p, const struct attr_site *site, union attr_value *out)
{
    struct slice_dim *dims = NULL, d;
    struct list l = {TOK_LBRACE, TOK_RBRACE};
    while (list_more(p, &l) && parse_slice_dim(p, &d))
        VEC_PUSH(p->arena, dims, l.count, l.capacity) = d;
    out->slices = (struct slices){(int)l.count, dims};
    return l.ok;
}

void print_slices_value(struct buf *out, const struct attr_site *site, union attr_value v)
{
    bool strides = false;
    for (int d = 0; d < v.slices.rank; d++)
        strides |= v.slices.dims[d].stride != 1;
    for (int d = 0; BUF_LIST(out, d, v.slices.rank, "{}", ", "); d++) {
        const struct slice_dim *s = &v.slices.dims[d];
        const struct ints parts = {strides ? 3 : 2,
                                   (const int64_t[]){s->start, s->limit, s->stride}};
        for (int64_t k = 0; BUF_LIST(out, k, parts.count, "[]", ":"); k++)
            buf_int(out, parts.at[k]);
    }
}
