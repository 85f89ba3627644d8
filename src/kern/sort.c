/*
 * sort: orders lines of an array and takes their best elements.
 *
 * Every line is sorted as a list of its indices, which then picks the elements of all operands. A plain
 * comparison of one operand becomes unsigned keys: short lines and any other comparator go through a
 * merge sort, long lines of keys through a radix sort. Both are stable, so the result is unique.
 * Partial order: -0 and +0 are equal; where NaNs end up in it no specification says (here: last).
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* ---- keys: unsigned numbers in the order of the elements ---- */

/* A key and where it came from. */
struct entry {
    uint64_t key, index;
};

static uint64_t load_bits(const char *p, size_t width)
{
    uint64_t bits = 0;
    memcpy(&bits, p, width);
    return bits;
}

/* Bits of a float as an unsigned number in total order (hlo-values 5.2). */
static uint64_t float_key(enum dtype t, uint64_t bits, bool total)
{
    const struct float_format *f = float_format(t);
    uint64_t sign = (uint64_t)1 << (f->exponent_bits + f->mantissa_bits), all = sign | (sign - 1);
    uint8_t specials = f->specials;
    if (specials == FS_FNU)
        return bits;
    if (!total && (bits & ~sign) == 0)
        bits = specials == FS_FNUZ ? bits : 0;
    if (!total && float_code_is_nan(t, bits))
        return all;
    if (specials == FS_FNUZ && bits & sign)
        return bits == sign ? 0 : sign - (bits & ~sign);
    return bits & sign ? ~bits & all : bits | sign;
}

static uint64_t element_key(enum dtype t, const char *p, bool total)
{
    size_t width = dtype_bytes(t);
    uint64_t bits = load_bits(p, width);
    if (dtype_is_float(t))
        return float_key(t, bits, total);
    if (dtype_is_signed(t))
        return bits ^ (uint64_t)1 << (8 * width - 1); /* narrow ones are sign-extended to a byte */
    return bits;
}

/* Keys and indices of n elements a stride apart; greatest first when `descending`. */
static void make_entries(struct entry *e, enum dtype t, const char *x, int64_t stride, int64_t n, bool total,
                         bool descending)
{
    uint64_t flip = descending ? UINT64_MAX : 0;
    if (t == DT_F32 && total) {
        for (int64_t i = 0; i < n; i++) {
            uint32_t b = *(const kern_w4 *)(const void *)(x + i * stride);
            uint32_t key = b & 0x80000000 ? ~b : b | 0x80000000;
            e[i] = (struct entry){(flip ^ key) & UINT32_MAX, (uint64_t)i};
        }
        return;
    }
    uint64_t mask = dtype_bytes(t) == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * dtype_bytes(t)) - 1;
    for (int64_t i = 0; i < n; i++)
        e[i] = (struct entry){(flip ^ element_key(t, x + i * stride, total)) & mask, (uint64_t)i};
}

/* ---- radix sort of keys ---- */

enum { RADIX_BITS = 11, BUCKETS = 1 << RADIX_BITS, RADIX_FROM = 512 };

/* One stable pass by the digit at `shift`; false when all keys have the same one and nothing moved. */
static bool radix_pass(struct entry *to, const struct entry *from, int64_t n, unsigned shift)
{
    int64_t place[BUCKETS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++)
        place[from[i].key >> shift & (BUCKETS - 1)]++;
    if (place[from[0].key >> shift & (BUCKETS - 1)] == n)
        return false;
    for (int b = 0; b < BUCKETS; b++) {
        int64_t count = place[b];
        place[b] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[place[from[i].key >> shift & (BUCKETS - 1)]++] = from[i];
    return true;
}

static void insertion_sort(struct entry *e, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        struct entry v = e[i];
        int64_t at = i;
        for (; at > 0 && e[at - 1].key > v.key; at--)
            e[at] = e[at - 1];
        e[at] = v;
    }
}

static void merge_keys(struct entry *to, const struct entry *a, int64_t na, const struct entry *b, int64_t nb)
{
    const struct entry *a_end = a + na, *b_end = b + nb;
    while (a < a_end && b < b_end) {
        bool right = b->key < a->key;
        *to++ = right ? *b : *a;
        b += right;
        a += !right;
    }
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
}

enum { RUN = 16 };

/* Sorts e with as much room beside it; returns where the result is. */
static struct entry *sort_entries(struct entry *e, struct entry *room, int64_t n, unsigned key_bits)
{
    struct entry *from = e, *to = room, *swap;
    if (n >= RADIX_FROM) {
        for (unsigned shift = 0; shift < key_bits; shift += RADIX_BITS)
            if (radix_pass(to, from, n, shift))
                swap = from, from = to, to = swap;
        return from;
    }
    for (int64_t i = 0; i < n; i += RUN)
        insertion_sort(e + i, n - i < RUN ? n - i : RUN);
    for (int64_t size = RUN; size < n; size *= 2) {
        for (int64_t i = 0; i < n; i += 2 * size) {
            int64_t na = n - i < size ? n - i : size, nb = n - i - na < size ? n - i - na : size;
            merge_keys(to + i, from + i, na, from + i + na, nb);
        }
        swap = from, from = to, to = swap;
    }
    return from;
}

/* ---- merge sort by a called comparator ---- */

struct called {
    int n;
    const struct view *x;
    int dimension;
    const struct kern_comparator *less;
    char **line; /* where each operand's line begins */
    const void **args;
    char *lanes, *keys; /* of make_keys: KERN_LANES elements of each operand; as many keys */
};

/* Whether element a goes before element b. */
static bool call_less(struct called *c, uint64_t a, uint64_t b, bool *before)
{
    uint8_t answer = 0;
    void *result = &answer;
    for (int k = 0; k < c->n; k++) {
        int64_t stride = c->x[k].strides[c->dimension];
        c->args[2 * k] = c->line[k] + (int64_t)a * stride;
        c->args[2 * k + 1] = c->line[k] + (int64_t)b * stride;
    }
    if (!c->less->call(c->less->context, c->args, &result))
        return false;
    *before = answer != 0;
    return true;
}

static bool merge_called(struct called *c, struct entry *to, const struct entry *a, int64_t na,
                         const struct entry *b, int64_t nb)
{
    const struct entry *a_end = a + na, *b_end = b + nb;
    while (a < a_end && b < b_end) {
        bool right;
        if (!call_less(c, b->index, a->index, &right))
            return false;
        *to++ = right ? *b++ : *a++;
    }
    while (a < a_end)
        *to++ = *a++;
    while (b < b_end)
        *to++ = *b++;
    return true;
}

/* NULL when the comparator failed. */
static struct entry *sort_called(struct called *c, struct entry *e, struct entry *room, int64_t n)
{
    struct entry *from = e, *to = room, *swap;
    for (int64_t i = 0; i < n; i++)
        e[i].index = (uint64_t)i;
    for (int64_t size = 1; size < n; size *= 2) {
        for (int64_t i = 0; i < n; i += 2 * size) {
            int64_t na = n - i < size ? n - i : size, nb = n - i - na < size ? n - i - na : size;
            if (!merge_called(c, to + i, from + i, na, from + i + na, nb))
                return NULL;
        }
        swap = from, from = to, to = swap;
    }
    return from;
}

/* ---- lines ---- */

#define PICK(W)                                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                          \
    *(W *)(void *)(out + i * out_stride) = *(const W *)(const void *)(x + (int64_t)e[i].index * x_stride)

/* out[i] = x[e[i].index] */
static void pick_elements(char *out, int64_t out_stride, const char *x, int64_t x_stride, size_t width,
                          const struct entry *e, int64_t n)
{
    switch (width) {
    case 1: PICK(kern_w1); break;
    case 2: PICK(kern_w2); break;
    case 4: PICK(kern_w4); break;
    case 8: PICK(kern_w8); break;
    default: PICK(struct kern_w16); break;
    }
}

/* Entries of keys that are computed from all operands. */
static bool make_computed_entries(struct called *c, struct entry *e, int64_t n, bool total)
{
    const struct kern_comparator *less = c->less;
    void *keys = c->keys;
    for (int64_t i = 0; i < n; i += KERN_LANES) {
        int64_t count = n - i < KERN_LANES ? n - i : KERN_LANES;
        char *at = c->lanes;
        for (int k = 0; k < c->n; k++) {
            size_t width = dtype_bytes(c->x[k].dtype);
            int64_t stride = c->x[k].strides[c->dimension];
            kern_pack(at, c->line[k] + i * stride, stride, width, count);
            c->args[2 * k] = c->args[2 * k + 1] = at;
            at += KERN_LANES * width;
        }
        if (!less->make_keys(less->keys_context, c->args, &keys))
            return false;
        int64_t width = (int64_t)dtype_bytes(less->key_type);
        make_entries(e + i, less->key_type, c->keys, width, count, total, less->order == KERN_ORDER_GREATER);
        for (int64_t j = i; j < i + count; j++)
            e[j].index = (uint64_t)j;
    }
    return true;
}

static struct entry *sort_keys(struct called *c, struct entry *e, int64_t n)
{
    const struct kern_comparator *less = c->less;
    const struct view *key = &c->x[less->key];
    enum dtype t = less->make_keys ? less->key_type : key->dtype;
    bool total = less->total_order || !dtype_is_float(t);
    if (!less->make_keys)
        make_entries(e, t, c->line[less->key], key->strides[c->dimension], n, total,
                     less->order == KERN_ORDER_GREATER);
    else if (!make_computed_entries(c, e, n, total))
        return NULL;
    return sort_entries(e, e + n, n, 8 * (unsigned)dtype_bytes(t));
}

static bool sort_line(struct called *c, const struct view *out, const int64_t *index, struct entry *e,
                      int64_t n)
{
    for (int k = 0; k < c->n; k++)
        c->line[k] = view_at(&c->x[k], index);
    struct entry *sorted =
        c->less->order == KERN_ORDER_CALL ? sort_called(c, e, e + n, n) : sort_keys(c, e, n);
    for (int k = 0; sorted && k < c->n; k++)
        pick_elements(view_at(&out[k], index), out[k].strides[c->dimension], c->line[k],
                      c->x[k].strides[c->dimension], dtype_bytes(out[k].dtype), sorted, n);
    return sorted != NULL;
}

static bool sort_lines(struct called *c, const struct view *out, struct entry *e)
{
    int64_t index[VIEW_MAX_RANK] = {0}, lines[VIEW_MAX_RANK], n = out->dims[c->dimension];
    memcpy(lines, out->dims, sizeof *lines * (size_t)out->rank);
    lines[c->dimension] = 1;
    do {
        if (!sort_line(c, out, index, e, n))
            return false;
    } while (index_next(out->rank, lines, index));
    return true;
}

/* spec: Sort */
bool kern_sort(int n, const struct view *out, const struct view *x, int dimension,
               const struct kern_comparator *less)
{
    if (view_elements(out) == 0)
        return true;
    size_t count = (size_t)out->dims[dimension];
    size_t lanes = less->make_keys ? (size_t)(n + 1) * KERN_LANES * sizeof(union kern_cell) : 0;
    struct entry *e = mem_zalloc(2 * count * sizeof *e + lanes + (size_t)n * 3 * sizeof(void *));
    if (!e)
        return false;
    struct called c = {.n = n, .x = x, .dimension = dimension, .less = less, .keys = (char *)(e + 2 * count)};
    c.lanes = c.keys + (less->make_keys ? KERN_LANES * sizeof(union kern_cell) : 0);
    c.args = (const void **)(void *)(c.keys + lanes);
    c.line = (char **)(c.args + 2 * n);
    bool ok = sort_lines(&c, out, e);
    mem_free(e);
    return ok;
}

/* ---- topk ---- */

static bool comes_after(const struct entry *a, const struct entry *b)
{
    return a->key != b->key ? a->key > b->key : a->index > b->index;
}

/* Moves the entry at `at` down a heap whose root is the last in order. */
static void sift_down(struct entry *heap, int64_t k, int64_t at)
{
    struct entry v = heap[at];
    for (int64_t child; (child = 2 * at + 1) < k; at = child) {
        child += child + 1 < k && comes_after(&heap[child + 1], &heap[child]);
        if (!comes_after(&heap[child], &v))
            break;
        heap[at] = heap[child];
    }
    heap[at] = v;
}

/* Gathers the first k in order of n entries at the front of e, in any order. */
static void select_first(struct entry *e, int64_t n, int64_t k)
{
    for (int64_t i = k / 2 - 1; i >= 0; i--)
        sift_down(e, k, i);
    for (int64_t i = k; i < n; i++) {
        if (e[i].key < e[0].key) { /* an equal key comes later: its index is greater */
            e[0] = e[i];
            sift_down(e, k, 0);
        }
    }
}

/* Back into the order of indices, on which the stable sort by key relies. */
static struct entry *sort_by_index(struct entry *e, struct entry *room, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        e[i] = (struct entry){e[i].index, e[i].key};
    struct entry *sorted = sort_entries(e, room, n, 64);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (struct entry){sorted[i].index, sorted[i].key};
    return sorted;
}

static void topk_line(const struct view *values, const struct view *indices, const struct view *x,
                      const int64_t *index, struct entry *e, int64_t k, bool largest)
{
    int d = x->rank - 1;
    int64_t n = x->dims[d];
    struct entry *room = e + n;
    make_entries(e, x->dtype, view_at(x, index), x->strides[d], n, true, largest);
    if (k < n) {
        select_first(e, n, k);
        e = sort_by_index(e, room, k);
        room = e == room ? room - n : room;
    }
    e = sort_entries(e, room, k, 8 * (unsigned)dtype_bytes(x->dtype));
    pick_elements(view_at(values, index), values->strides[d], view_at(x, index), x->strides[d],
                  dtype_bytes(x->dtype), e, k);
    char *to = view_at(indices, index);
    for (int64_t i = 0; i < k; i++)
        *(int32_t *)(void *)(to + i * indices->strides[d]) = (int32_t)e[i].index;
}

/* spec: TopK. In the total order of the elements; of equal ones the smaller index comes first. */
bool kern_topk(const struct view *values, const struct view *indices, const struct view *x, int64_t k,
               bool largest)
{
    int64_t index[VIEW_MAX_RANK] = {0};
    if (view_elements(values) == 0)
        return true;
    if (dtype_is_complex(x->dtype)) /* whose order no key of 64 bits has */
        return plain_topk(values, indices, x, k, largest);
    struct entry *e = mem_alloc(2 * (size_t)x->dims[x->rank - 1] * sizeof *e);
    if (!e)
        return false;
    do {
        topk_line(values, indices, x, index, e, k, largest);
    } while (index_next(x->rank - 1, x->dims, index));
    mem_free(e);
    return true;
}
