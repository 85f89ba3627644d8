/*
 * Calls of machine code from shared libraries, in the form that XLA:CPU calls it.
 *
 *     API_VERSION_ORIGINAL                  void f(void *out, const void **in)
 *     API_VERSION_STATUS_RETURNING          void f(void *out, const void **in,
 *                                                  XlaCustomCallStatus *status)
 *     API_VERSION_STATUS_RETURNING_UNIFIED  void f(void *out, const void **in, const char *opaque,
 *                                                  size_t length, XlaCustomCallStatus *status)
 *     API_VERSION_TYPED_FFI                 ffi.c
 *
 * `in` has a pointer for each leaf of the operands, tuples flattened in order, tokens among them;
 * `out` is the buffer of an array, or a list of such pointers for a tuple, even of one element.
 * Arrays are dense in the order of their layouts; pred takes a byte; types narrower than a byte are
 * packed, the first element in the low bits. Results have guard bytes around them, which detect
 * writes out of bounds.
 */
#include "world/targets.h"
#include "kern/kern.h"

enum { GUARD = 64, GUARD_BYTE = 0xA7 };
static const char nothing[64] = {0}; /* what pointers of tokens and empty arrays point to */

struct XlaCustomCallStatus_ {
    bool failed;
    struct buf *why;
};

void XlaCustomCallStatusSetSuccess(struct XlaCustomCallStatus_ *status)
{
    status->failed = false;
    status->why->size = 0;
}

void XlaCustomCallStatusSetFailure(struct XlaCustomCallStatus_ *status, const char *message,
                                   size_t length)
{
    status->failed = true;
    status->why->size = 0;
    buf_bytes(status->why, message, strnlen(message, length));
}

/* ---- arrays in XLA's form ---- */

static bool is_packed(const struct shape *s) { return dtype_is_subbyte(s->dtype); }

/* Bytes allocated for an array. Packed ones get a byte per element too: that is their size in XLA's
 * own header, so handlers copy as much. */
static size_t padded_size(const struct shape *s)
{
    int64_t bytes = 0;
    shape_bytes(s, &bytes);
    return (size_t)bytes;
}

/* The elements at `data`, of the element size of this program, in the order of the layout. */
static void layout_view(struct view *v, const struct shape *s, void *data)
{
    int64_t stride = (int64_t)dtype_bytes(s->dtype);
    view_dense(v, s->dtype, s->rank, s->dims, data);
    if (view_elements(v) == 0)
        return;
    for (int k = 0; k < s->rank; k++) {
        v->strides[s->layout->minor_to_major[k]] = stride;
        stride *= s->dims[s->layout->minor_to_major[k]];
    }
}

static void pack(uint8_t *to, const uint8_t *from, int64_t count, unsigned bits)
{
    unsigned each = 8 / bits, mask = (1u << bits) - 1;
    for (int64_t i = 0; i < count; i += each) {
        unsigned byte = 0;
        for (unsigned j = 0; j < each && i + j < count; j++)
            byte |= (from[i + j] & mask) << j * bits;
        *to++ = (uint8_t)byte;
    }
}

static void unpack(uint8_t *to, const uint8_t *from, int64_t count, enum dtype t)
{
    unsigned bits = dtype_bits(t), each = 8 / bits, mask = (1u << bits) - 1,
             sign = 1u << (bits - 1);
    for (int64_t i = 0; i < count; i++) {
        unsigned v = from[i / each] >> i % each * bits & mask;
        to[i] = (uint8_t)(dtype_is_signed(t) && (v & sign) ? v | ~mask : v);
    }
}

/* Any byte but 0 counts as true. */
static void clean_pred(uint8_t *at, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        at[i] = at[i] != 0;
}

/* Converts between this program's form and XLA's, of padded_size bytes. False: out of memory. */
static bool convert(const struct shape *s, void *ours, void *native, bool out)
{
    struct view x, y;
    int64_t elements = 0;
    shape_elements(s, &elements);
    uint8_t *wide = is_packed(s) ? mem_alloc((size_t)elements + 1) : native;
    if (!wide)
        return false;
    view_dense(&x, s->dtype, s->rank, s->dims, ours);
    layout_view(&y, s, wide);
    if (!out)
        kern_copy(NULL, &y, &x);
    if (is_packed(s) && !out)
        pack(native, wide, elements, dtype_bits(s->dtype));
    if (is_packed(s) && out)
        unpack(wide, native, elements, s->dtype);
    if (out)
        kern_copy(NULL, &x, &y);
    if (out && s->dtype == DT_PRED)
        clean_pred(ours, elements);
    if (is_packed(s))
        mem_free(wide);
    return true;
}

/* ---- operands and results ---- */

struct native {
    const struct foreign_call *c;
    struct arena arena;
    struct foreign_array *in, *out; /* in XLA's form */
    const void **in_data;
    void **out_data;
    bool *copied; /* by operand */
};

static void *no_data(void) { return (void *)(uintptr_t)nothing; }

static bool is_passed_directly(const struct foreign_array *x)
{
    return layout_is_descending(x->shape->layout) && !is_packed(x->shape) &&
           (uintptr_t)x->data % 64 == 0;
}

static bool take_operand(struct native *n, int k)
{
    const struct foreign_array *x = &n->c->operands[k];
    struct foreign_array *in = &n->in[k];
    *in = (struct foreign_array){x->shape, no_data()};
    if (x->data && padded_size(x->shape) > 0) {
        n->copied[k] = !is_passed_directly(x);
        in->data = n->copied[k] ? mem_zalloc(padded_size(x->shape)) : x->data;
        if (!in->data || (n->copied[k] && !convert(x->shape, x->data, in->data, false)))
            return false;
    }
    n->in_data[k] = in->data;
    return true;
}

static bool make_result(struct native *n, int r)
{
    const struct foreign_array *x = &n->c->results[r];
    struct foreign_array *out = &n->out[r];
    *out = (struct foreign_array){x->shape, no_data()};
    if (x->data) {
        size_t size = padded_size(x->shape);
        char *allocation = mem_zalloc(size + 2 * GUARD);
        if (!allocation)
            return false;
        memset(allocation, GUARD_BYTE, GUARD);
        memset(allocation + GUARD + size, GUARD_BYTE, GUARD);
        out->data = allocation + GUARD;
        if (size > 0 && !convert(x->shape, x->data, out->data, false))
            return false;
    }
    n->out_data[r] = out->data;
    return true;
}

static bool guard_holds(const char *guard)
{
    for (int k = 0; k < GUARD; k++)
        if ((unsigned char)guard[k] != GUARD_BYTE)
            return false;
    return true;
}

static bool handle_result(struct native *n, int r, struct buf *why)
{
    const struct foreign_array *x = &n->c->results[r];
    char *data = n->out[r].data;
    size_t size = padded_size(x->shape);
    if (!x->data)
        return true;
    if (!guard_holds(data - GUARD) || !guard_holds(data + size)) {
        buf_printf(why, "out-of-bounds write to leaf %d of its result, ", r);
        shape_print(why, x->shape, false);
        return false;
    }
    return size == 0 || convert(x->shape, x->data, data, true) ||
           (buf_puts(why, "out of memory"), false);
}

/* ---- the call ---- */

typedef void original_fn(void *out, const void **in);
typedef void status_fn(void *out, const void **in, struct XlaCustomCallStatus_ *status);
typedef void unified_fn(void *out, const void **in, const char *opaque, size_t length,
                        struct XlaCustomCallStatus_ *status);

static bool call_target(struct native *n, native_fn *code, struct buf *why)
{
    const struct inst *i = n->c->inst;
    struct XlaCustomCallStatus_ status = {.why = why};
    struct str opaque = arena_str(&n->arena, inst_str(i, A_BACKEND_CONFIG)); /* NUL-terminated */
    void *out = shape_is_tuple(i->shape) ? (void *)n->out_data : n->out_data[0];
    switch (inst_enum(i, A_API_VERSION, E_API_VERSION_ORIGINAL)) {
    case E_API_VERSION_TYPED_FFI: return ffi_call(code, n->c, n->in, n->out, why);
    case E_API_VERSION_STATUS_RETURNING: ((status_fn *)code)(out, n->in_data, &status); break;
    case E_API_VERSION_STATUS_RETURNING_UNIFIED:
        ((unified_fn *)code)(out, n->in_data, opaque.ptr, opaque.len, &status);
        break;
    default: ((original_fn *)code)(out, n->in_data); break;
    }
    if (status.failed && why->size == 0)
        buf_puts(why, "failed without a message");
    return !status.failed;
}

static bool run(struct native *n, native_fn *code, struct buf *why)
{
    bool ok = true;
    for (int k = 0; k < n->c->operand_count && ok; k++)
        ok = take_operand(n, k);
    for (int r = 0; r < n->c->result_count && ok; r++)
        ok = make_result(n, r);
    if (!ok)
        return buf_puts(why, "out of memory"), false;
    ok = call_target(n, code, why);
    for (int r = 0; r < n->c->result_count && ok; r++)
        ok = handle_result(n, r, why);
    return ok;
}

bool native_call(native_fn *code, const struct foreign_call *c, struct buf *why)
{
    struct native n = {.c = c};
    arena_init(&n.arena);
    n.in = ARENA_ARRAY(&n.arena, struct foreign_array, c->operand_count);
    n.out = ARENA_ARRAY(&n.arena, struct foreign_array, c->result_count);
    n.in_data = ARENA_ARRAY(&n.arena, const void *, c->operand_count + 1);
    n.out_data = ARENA_ARRAY(&n.arena, void *, c->result_count + 1);
    n.copied = ARENA_ARRAY(&n.arena, bool, c->operand_count);
    bool ok = run(&n, code, why);
    for (int k = 0; k < c->operand_count; k++)
        if (n.copied[k])
            mem_free(n.in[k].data);
    for (int r = 0; r < c->result_count; r++)
        if (c->results[r].data && n.out[r].data && n.out[r].data != no_data())
            mem_free((char *)n.out[r].data - GUARD);
    arena_free(&n.arena);
    return ok;
}
