/*
 * stored.c: values that are no constants: arguments and results of snapshots, and files that are a
 * literal.
 *
 * A container is a message with the sizes of the arguments, which follow it. Such an argument is
 * the size of its shape in eight bytes, the shape, and the elements of each array in the order of
 * the layout, after its sizes (int32) if it has dynamic dimensions. All numbers are little-endian;
 * predicates and elements narrower than a byte are packed from the lowest bit on.
 */
#include "proto/proto_priv.h"

/* ---- arguments after the message ---- */

/* Removes and returns the first bytes; false if there are fewer. */
static bool take(struct str *from, uint64_t size, struct str *out)
{
    if (size > from->len)
        return false;
    *out = str_take(from, (size_t)size);
    return true;
}

static bool truncated(struct reader *r)
{
    return proto_error(r, NULL, -1, "malformed or truncated literal");
}

/* The shape that precedes the elements, in the arena of the reader. */
static const struct shape *take_shape(struct reader *r, struct str *rest)
{
    struct str size, bytes;
    uint64_t n = 0;
    if (!take(rest, sizeof n, &size))
        return truncated(r), NULL;
    for (size_t k = sizeof n; k-- > 0;)
        n = n << 8 | (unsigned char)size.ptr[k];
    if (!take(rest, n, &bytes))
        return truncated(r), NULL;
    struct wire_scan scan = {.arena = &r->scratch, .normalize = true};
    ProtobufCMessage *m = wire_unpack(&scan, &xla__shape_proto__descriptor, bytes);
    if (!m)
        return proto_error(r, NULL, -1, "shape: %s", scan.why), NULL;
    const struct shape *s = proto_shape(r, (const Xla__ShapeProto *)m, NULL, -1);
    if (s)
        s = shape_copy(r->a, s);
    wire_free(m);
    return s;
}

static bool take_sizes(struct reader *r, struct str *rest, const struct shape *s, int64_t *sizes)
{
    struct str bytes;
    int32_t size;
    for (int d = 0; d < s->rank && shape_has_dynamic(s); d++) {
        if (!take(rest, sizeof size, &bytes))
            return truncated(r);
        memcpy(&size, bytes.ptr, sizeof size);
        sizes[d] = size;
        if (!proto_check_size(r, s, d, size))
            return false;
    }
    return true;
}

static unsigned packed_bits(enum dtype t) { return t == DT_PRED ? 1 : dtype_bits(t); }

static void fill_packed(struct filler *f, struct str bytes, unsigned bits)
{
    char elements[4096];
    while (f->done < f->count) {
        const size_t n = (size_t)min_i64(f->count - f->done, (int64_t)sizeof elements);
        for (size_t k = 0; k < n; k++) {
            const size_t at = ((size_t)f->done + k) * bits;
            elements[k] = (char)((unsigned char)bytes.ptr[at / 8] >> at % 8 & ((1u << bits) - 1));
        }
        proto_fill(f, elements, n);
    }
}

static void fill_whole(struct reader *r, struct filler *f, struct str bytes)
{
    enum { PIECE = 1 << 22 };
    struct str piece;
    while (take(&bytes, bytes.len < PIECE ? bytes.len : PIECE, &piece) && piece.len > 0) {
        proto_fill(f, piece.ptr, piece.len / f->width);
        proto_release_pages(r->p->mapped, piece);
    }
}

static struct literal *take_array(struct reader *r, struct str *rest, const struct shape *s)
{
    const unsigned bits = packed_bits(s->dtype), width = (unsigned)dtype_bytes(s->dtype);
    int64_t *sizes = ARENA_DUP(&r->scratch, s->dims, (size_t)s->rank);
    int64_t elements, size;
    struct str bytes;
    if (bits < 8 && 8 % bits != 0)
        return proto_error(r, NULL, -1, "literal of type %s", dtype_spelling(s->dtype)), NULL;
    if (s->rank > VIEW_MAX_RANK || !shape_elements(s, &elements) ||
        !mul_i64(elements, bits < 8 ? bits : width, &size))
        return proto_error(r, NULL, -1, "literal is too large"), NULL;
    if (!take_sizes(r, rest, s, sizes))
        return NULL;
    if (!take(rest, (uint64_t)(bits < 8 ? size / 8 + (size % 8 > 0) : size), &bytes))
        return truncated(r), NULL;
    struct literal *l = proto_new_array(r, s, sizes, elements);
    struct filler f;
    if (!l)
        return NULL;
    proto_filler_init(&f, l, s, elements);
    if (bits >= 8) {
        fill_whole(r, &f, bytes);
        return l;
    }
    fill_packed(&f, bytes, bits);
    if (dtype_is_subbyte(s->dtype))
        proto_extend(l);
    return l;
}

static struct literal *take_value(struct reader *r, struct str *rest, const struct shape *s)
{
    if (shape_is_array(s))
        return take_array(r, rest, s);
    if (!shape_is_tuple(s))
        return proto_error(r, NULL, -1, "literal of type %s", dtype_spelling(s->dtype)), NULL;
    struct literal **elements = ARENA_ARRAY(r->a, struct literal *, s->count + 1);
    for (int k = 0; k < s->count && (elements[k] = take_value(r, rest, s->elements[k])); k++)
        ;
    return literal_tuple(r->a, elements, s->count); /* an element is NULL: frees the others */
}

static struct literal *read_bytes(struct reader *r, struct str bytes)
{
    const struct shape *s = take_shape(r, &bytes);
    struct literal *l = s ? take_value(r, &bytes, s) : NULL;
    if (!l || bytes.len == 0)
        return l;
    literal_free_data(l);
    return proto_error(r, NULL, -1, "%zu bytes after the literal", bytes.len), NULL;
}

/* ---- snapshots ---- */

static void note_list(struct proto_module *p, size_t count, Xla__LiteralProto *const *at)
{
    for (size_t k = 0; k < count; k++)
        p->stored[p->stored_count++].literal = at[k];
    p->list_starts[++p->list_count] = p->stored_count;
}

static bool note_descriptors(struct reader *r, const Xla__HloInputs *in, struct str *rest)
{
    struct proto_module *p = r->p;
    for (size_t k = 0; k < in->n_arguments_descriptors; k++) {
        const Xla__HloInputs__LiteralDescriptor *d = in->arguments_descriptors[k];
        const size_t node = proto_enter(r, "arguments_descriptors", (int64_t)k);
        if (d->version > 0)
            return proto_error(r, "version", -1, "unknown version %" PRId32, d->version);
        if (!take(rest, d->argument_size_bytes, &p->stored[p->stored_count++].bytes))
            return proto_error(r, "argument_size_bytes", -1,
                               "%" PRIu64 " bytes, but %zu are left in the file",
                               d->argument_size_bytes, rest->len);
        proto_leave(r, node);
    }
    return true;
}

static bool note_partitions(struct reader *r, const Xla__HloUnoptimizedSnapshot *s, struct str rest)
{
    struct proto_module *p = r->p;
    size_t count = 0;
    if (s->version > 0)
        return proto_error(r, "version", -1, "unknown version %" PRId32, s->version);
    for (size_t k = 0; k < s->n_partitions; k++)
        count += s->partitions[k]->n_arguments + s->partitions[k]->n_arguments_descriptors;
    p->stored = ARENA_ARRAY(&p->arena, struct stored, count);
    p->list_starts = ARENA_ARRAY(&p->arena, size_t, s->n_partitions + 1);
    for (size_t k = 0; k < s->n_partitions; k++) {
        const size_t node = proto_enter(r, "partitions", (int64_t)k);
        if (!note_descriptors(r, s->partitions[k], &rest))
            return false;
        note_list(p, s->partitions[k]->n_arguments, s->partitions[k]->arguments);
        proto_leave(r, node);
    }
    return rest.len == 0 ||
           proto_error(r, "partitions", -1, "%zu bytes after the last argument", rest.len);
}

bool proto_read_stored(struct reader *r, const struct proto_input *input)
{
    struct proto_module *p = r->p;
    const struct str whole = input->bytes;
    struct str rest = {whole.ptr + whole.len, 0};
    if (input->kind == PROTO_CONTAINER) {
        const struct str message = proto_container_message(whole);
        rest.ptr = message.ptr + message.len;
        rest.len = (size_t)(whole.ptr + whole.len - rest.ptr);
    }
    if (input->kind == PROTO_CONTAINER || input->kind == PROTO_UNOPTIMIZED)
        return note_partitions(r, (const Xla__HloUnoptimizedSnapshot *)p->message, rest);
    if (input->kind != PROTO_SNAPSHOT)
        return true;
    const Xla__HloSnapshot *s = (const Xla__HloSnapshot *)p->message;
    p->stored = ARENA_ARRAY(&p->arena, struct stored, s->n_arguments);
    p->list_starts = ARENA_ARRAY(&p->arena, size_t, 2);
    p->result = s->result;
    note_list(p, s->n_arguments, s->arguments);
    return true;
}

size_t proto_argument_lists(const struct proto_module *p)
{
    return p->stored_count ? p->list_count : 0;
}

size_t proto_argument_count(const struct proto_module *p, size_t list)
{
    return p->list_starts[list + 1] - p->list_starts[list];
}

bool proto_has_result(const struct proto_module *p) { return p->result != NULL; }

/* ---- values ---- */

static struct reader value_reader(struct diags *ds, const struct proto_module *p, struct arena *a)
{
    struct proto_module *own = (struct proto_module *)(uintptr_t)p; /* paths are appended */
    struct reader r = {.p = own, .ds = ds, .a = a, .node = SIZE_MAX, .actual_sizes = true};
    arena_init(&r.scratch);
    return r;
}

struct literal *proto_argument(struct diags *ds, const struct proto_module *p, struct arena *a,
                               size_t list, size_t index)
{
    const struct stored *s = &p->stored[p->list_starts[list] + index];
    SCOPED_READER r = value_reader(ds, p, a);
    if (p->message->descriptor == &xla__hlo_unoptimized_snapshot__descriptor)
        proto_enter(&r, "partitions", (int64_t)list);
    proto_enter(&r, "arguments", (int64_t)index);
    return s->literal ? proto_read_literal(&r, s->literal) : read_bytes(&r, s->bytes);
}

struct literal *proto_result(struct diags *ds, const struct proto_module *p, struct arena *a)
{
    SCOPED_READER r = value_reader(ds, p, a);
    proto_enter(&r, "result", -1);
    return proto_read_literal(&r, p->result);
}

struct literal *proto_literal(struct diags *ds, struct arena *a, const struct proto_input *input)
{
    struct proto_module *p = heap_zalloc(1, sizeof *p);
    struct literal *l = NULL;
    if (proto_unpack(ds, p, input, &xla__literal_proto__descriptor)) {
        SCOPED_READER r = value_reader(ds, p, a);
        l = proto_read_literal(&r, (const Xla__LiteralProto *)p->message);
    }
    proto_free(p);
    return l;
}
