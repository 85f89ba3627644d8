/*
 * Custom calls of Fourier transforms, as jaxlib made them for the CPU until 2024. The first operand
 * holds a flatbuffer that describes the transform:
 *
 *   ducc_fft, pocketfft   dtype, type, shape, strides_in, strides_out, axes, forward, scale
 *   dynamic_ducc_fft      rank, dtype, type, axes, forward; shape, strides and scale are operands
 *
 * Sizes come from the shapes of the call; the descriptor must agree. Strides are those of dense
 * row-major arrays, in elements (pocketfft: in bytes).
 */
#include "eval/eval_priv.h"

enum { BYTES = 1024 }; /* larger than a descriptor of the highest rank */
enum { C2C, C2R, R2C };

struct descriptor {
    unsigned char bytes[BYTES];
    size_t size, table, vtable;
    bool valid; /* no read has been out of range */
};

struct list {
    int64_t count, at[VIEW_MAX_RANK];
};

struct call {
    struct eval *ev;
    const struct step *s;
    const struct view *x;
    const struct shape *out;
    int64_t rank, wide, type, forward;
    double scale;
    struct list axes, shape, strides_in, strides_out;
};

/* ---- flatbuffers: little-endian, offsets relative to their own position ---- */

static uint64_t number_at(struct descriptor *d, size_t at, size_t width)
{
    uint64_t v = 0;
    if (at > d->size || width > d->size - at) {
        d->valid = false;
        return 0;
    }
    for (size_t k = 0; k < width; k++)
        v |= (uint64_t)d->bytes[at + k] << 8 * k;
    return v;
}

/* The offset of a field of the table; 0 for a field with its default. */
static size_t field(struct descriptor *d, int id)
{
    size_t entry = 4 + 2 * (size_t)id;
    uint64_t offset =
        entry + 2 <= number_at(d, d->vtable, 2) ? number_at(d, d->vtable + entry, 2) : 0;
    return offset ? d->table + (size_t)offset : 0;
}

static int64_t number(struct descriptor *d, int id, size_t width)
{
    size_t at = field(d, id);
    return at ? (int64_t)number_at(d, at, width) : 0;
}

static void numbers(struct descriptor *d, int id, size_t width, struct list *out)
{
    size_t at = field(d, id);
    if (!at)
        return;
    at += (size_t)number_at(d, at, 4);
    out->count = (int64_t)number_at(d, at, 4);
    d->valid = d->valid && out->count <= VIEW_MAX_RANK;
    for (int64_t k = 0; k < out->count && d->valid; k++)
        out->at[k] = (int64_t)number_at(d, at + 4 + (size_t)k * width, width);
}

static bool open_descriptor(struct descriptor *d, const struct view *v)
{
    if (v->rank != 1 || dtype_bytes(v->dtype) != 1 || v->dims[0] > BYTES)
        return false;
    d->size = (size_t)v->dims[0];
    d->valid = true;
    for (size_t k = 0; k < d->size; k++)
        d->bytes[k] = (unsigned char)v->data[(int64_t)k * v->strides[0]];
    d->table = (size_t)number_at(d, 0, 4);
    const size_t back =
        (size_t)number_at(d, d->table, 4); /* a signed offset; but the vtable always comes first */
    d->vtable = d->table - back;
    return d->valid && back <= d->table;
}

/* ---- descriptors ---- */

static bool read_fixed(struct call *c, struct descriptor *d)
{
    uint64_t scale;
    c->wide = number(d, 0, 1);
    c->type = number(d, 1, 1);
    numbers(d, 2, 8, &c->shape);
    numbers(d, 3, 8, &c->strides_in);
    numbers(d, 4, 8, &c->strides_out);
    numbers(d, 5, 4, &c->axes);
    c->forward = number(d, 6, 1);
    scale = (uint64_t)number(d, 7, 8);
    memcpy(&c->scale, &scale, sizeof scale);
    c->rank = c->shape.count;
    return d->valid;
}

static bool read_list(struct call *c, int k, struct list *out)
{
    const struct view *v = c->s->operands[k] == NO_VALUE ? NULL : eval_view(c->ev, c->s, k);
    if (!v || v->rank != 1 || !dtype_is_integer(v->dtype) || v->dims[0] > VIEW_MAX_RANK)
        return false;
    out->count = v->dims[0];
    for (int64_t n = 0; n < out->count; n++)
        out->at[n] = kern_load_index(v->dtype, v->data + n * v->strides[0]);
    return true;
}

static bool read_dynamic(struct call *c, struct descriptor *d)
{
    c->rank = number(d, 0, 4);
    c->wide = number(d, 1, 1);
    c->type = number(d, 2, 1);
    numbers(d, 3, 4, &c->axes);
    c->forward = number(d, 4, 1);
    const struct view *scale = c->s->operands[5] == NO_VALUE ? NULL : eval_view(c->ev, c->s, 5);
    if (!d->valid || !scale || !dtype_is_float(scale->dtype) || view_elements(scale) != 1)
        return false;
    c->scale = float_load(scale->dtype, scale->data);
    return read_list(c, 2, &c->shape) && read_list(c, 3, &c->strides_in) &&
           read_list(c, 4, &c->strides_out);
}

/* ---- checks against the shapes ---- */

static bool list_is(const struct list *l, int rank, const int64_t *values)
{
    return l->count == rank && memcmp(l->at, values, (size_t)rank * sizeof *values) == 0;
}

static bool has_strides(const struct list *l, int rank, const int64_t *dims, int64_t step)
{
    int64_t strides[VIEW_MAX_RANK];
    for (int d = rank - 1; d >= 0; d--) {
        strides[d] = step;
        if (!mul_i64(step, dims[d], &step))
            return false;
    }
    return list_is(l, rank, strides);
}

/* The size of the transform: that of the real array, if any. */
static const int64_t *whole(const struct call *c)
{
    return c->type == C2R ? c->out->dims : c->x->dims;
}

/* The error in the call; NULL when it is valid. */
static const char *problem(const struct call *c, bool in_bytes)
{
    int rank = c->x->rank;
    const int64_t *dims = whole(c), *other = c->type == C2R ? c->x->dims : c->out->dims;
    enum dtype real = c->wide ? DT_F64 : DT_F32, complex = c->wide ? DT_C128 : DT_C64;
    if (c->type < C2C || c->type > R2C || (c->type == C2R && c->forward) ||
        (c->type == R2C && !c->forward))
        return "unknown transform type";
    if (c->x->dtype != (c->type == R2C ? real : complex) ||
        c->out->dtype != (c->type == C2R ? real : complex))
        return "element types do not match the descriptor";
    if (c->rank != rank || c->out->rank != rank || c->axes.count < 1 || c->axes.count > rank)
        return "ranks do not match the descriptor";
    for (int d = 0; d < rank; d++)
        if (other[d] != (c->type != C2C && d == rank - 1 ? dims[d] / 2 + 1 : dims[d]))
            return "dimensions do not match each other";
    if (!list_is(&c->shape, rank, dims))
        return "dimensions do not match the descriptor";
    for (int64_t k = 0; k < c->axes.count; k++)
        if (c->axes.at[k] != rank - c->axes.count + k)
            return "only the innermost dimensions can be transformed";
    if (!has_strides(&c->strides_in, rank, c->x->dims,
                     in_bytes ? (int64_t)dtype_bytes(c->x->dtype) : 1) ||
        !has_strides(&c->strides_out, rank, c->out->dims,
                     in_bytes ? (int64_t)dtype_bytes(c->out->dtype) : 1))
        return "strides are not those of dense arrays";
    return NULL;
}

/* The kernel's forward transform is the plain sum, its inverse divides by the count; the call may
 * have another factor. */
static void scale_result(struct thread_pool *workers, const struct call *c, const struct view *out,
                         const int64_t *lengths)
{
    double factor = c->scale;
    for (int64_t k = 0; k < c->axes.count && !c->forward; k++)
        factor *= (double)lengths[k];
    if (factor > 1 - 1e-12 && factor < 1 + 1e-12) /* 1, up to the rounding of 1/n */
        return;
    struct c128 wide = {factor, 0};
    struct c64 narrow = {(float)factor, 0};
    bool single = dtype_component(out->dtype) ==
                  DT_F32; /* a real element is read as the first half of a complex one */
    struct view args[2] = {*out,
                           {.dtype = out->dtype, .data = single ? (char *)&narrow : (char *)&wide}};
    kern_map_tiles(workers, kern_find_elementwise("multiply", out->dtype), out, 2, args);
}

static bool fail(struct eval *ev, const struct step *s, const char *why)
{
    return EVAL_FAIL(ev, s, CALL_FAILED, STR_ARG(inst_str(s->inst, A_CUSTOM_CALL_TARGET)),
                     STR_ARG(str_of(why)));
}

/* spec: CustomCall */
bool eval_fft_call(struct eval *ev, const struct step *s)
{
    static const enum kern_fft types[][2] = {/* inverse, forward */
                                             [C2C] = {KERN_IFFT, KERN_FFT},
                                             [C2R] = {KERN_IRFFT, KERN_IRFFT},
                                             [R2C] = {KERN_RFFT, KERN_RFFT}};
    bool dynamic = str_is(inst_str(s->inst, A_CUSTOM_CALL_TARGET), "dynamic_ducc_fft");
    struct descriptor d = {0};
    /* The old compiler appended the shape of the result as an operand. */
    if (s->result_count != 1 ||
        (dynamic ? s->operand_count != 6 && s->operand_count != 7 : s->operand_count != 2) ||
        s->operands[0] == NO_VALUE || s->operands[1] == NO_VALUE)
        return fail(ev, s, "unexpected operands or results");
    struct call c = {.ev = ev, .s = s, .x = eval_view(ev, s, 1), .out = s->shapes[0]};
    if (!open_descriptor(&d, eval_view(ev, s, 0)) ||
        !(dynamic ? read_dynamic(&c, &d) : read_fixed(&c, &d)))
        return fail(ev, s, "malformed descriptor");
    const char *why = problem(&c, str_is(inst_str(s->inst, A_CUSTOM_CALL_TARGET), "pocketfft"));
    if (why)
        return fail(ev, s, why);
    const int64_t *lengths = whole(&c) + c.x->rank - c.axes.count;
    struct view *out = eval_result(ev, s, 0);
    if (out && !EVAL_TRY(ev, fft, ev->workers, &ev->state->transforms, out, c.x,
                         types[c.type][c.forward != 0], (int)c.axes.count))
        return eval_no_memory(ev, s, s->shapes[0]);
    if (out)
        scale_result(ev->workers, &c, out, lengths);
    return out != NULL;
}
