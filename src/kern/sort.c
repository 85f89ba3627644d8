/*
 * sort.c: sorts rows of an array, and finds their best elements (topk).
 *
 * Every row is sorted as a list of its indices, which then selects the elements of all operands. A
 * plain comparison of one operand becomes unsigned keys (sort_keys.c) stored with the index; if
 * there is only one operand, it is reconstructed from its sorted keys. Any other comparator is used
 * in a merge sort. All sorts are stable, so the result is unique for any number of threads: these
 * are assigned rows, or parts of one long row. Only comparators and keys that are called run on one
 * thread, since a called body has only one set of registers. Partial order: -0 and +0 are equal;
 * the position of NaNs is unspecified (here: last).
 */
#include "kern/sort.h"
#include "kern/plain/plain.h"

/* ---- lines and their keys ---- */

struct sorter {
    /* NULL if a comparator or key function is called: it cannot be called by several threads */
    struct thread_pool *workers;
    int n;
    const struct view *x, *out;
    int dimension;
    const struct kern_comparator *less;
    struct key_rule rule; /* of a plain comparison */
    char **line;          /* the start of each operand's line */
    const void **args;
    char *lanes, *computed; /* of make_keys: KERN_LANES elements of each operand; as many keys */
    void *scratch;          /* twice a line of the widest entries */
    uint64_t index;         /* mask: the bits of a sorted entry that are its index */
    bool failed;
};

/* Processes elements [from, limit) of a line; long lines are split among threads. */
typedef void interval_fn(struct sorter *s, void *with, int64_t from, int64_t limit);
struct stretches {
    struct sorter *s;
    interval_fn *fn;
    void *with;
    int64_t n;
};
enum { INTERVAL = 128 * KERN_LANES };

static void sort_interval(void *context, int64_t part, int worker)
{
    const struct stretches *c = context;
    int64_t from = part * INTERVAL;
    c->fn(c->s, c->with, from, c->n - from < INTERVAL ? c->n : from + INTERVAL);
}

static void share_line(struct sorter *s, int64_t n, interval_fn *fn, void *with)
{
    struct stretches c = {s, fn, with, n};
    thread_pool_run(s->workers, ratio_up(n, INTERVAL), sort_interval, &c);
}

/* Keys of elements [i, i + count) that the comparator computes from all operands. */
static bool compute_keys(struct sorter *s, uint64_t *keys, int64_t i, int64_t count)
{
    void *computed = s->computed;
    char *at = s->lanes;
    for (int k = 0; k < s->n; k++) {
        size_t width = dtype_bytes(s->x[k].dtype);
        int64_t stride = s->x[k].strides[s->dimension];
        kern_pack(at, s->line[k] + i * stride, stride, width, count);
        s->args[2 * k] = s->args[2 * k + 1] = at;
        at += KERN_LANES * width;
    }
    if (!s->less->make_keys(s->less->keys_context, s->args, &computed))
        return false;
    keys_make(&s->rule, keys, s->computed, (int64_t)s->rule.width, count);
    return true;
}

static bool take_keys(struct sorter *s, uint64_t *keys, int64_t i, int64_t count)
{
    int key = s->less->key;
    if (s->less->make_keys)
        return compute_keys(s, keys, i, count);
    int64_t stride = s->x[key].strides[s->dimension];
    keys_make(&s->rule, keys, s->line[key] + i * stride, stride, count);
    return true;
}

/* ---- the order of a line ---- */

/* Whether element a precedes element b. */
static bool call_less(struct sorter *s, uint64_t a, uint64_t b, bool *before)
{
    uint8_t answer = 0;
    void *result = &answer;
    for (int k = 0; k < s->n; k++) {
        int64_t stride = s->x[k].strides[s->dimension];
        s->args[2 * k] = s->line[k] + (int64_t)a * stride;
        s->args[2 * k + 1] = s->line[k] + (int64_t)b * stride;
    }
    if (!s->less->call(s->less->context, s->args, &result))
        return false;
    *before = answer != 0;
    return true;
}

static bool merge_called(struct sorter *s, uint64_t *to, const uint64_t *a, int64_t na,
                         const uint64_t *b, int64_t nb)
{
    const uint64_t *a_end = a + na, *b_end = b + nb;
    while (a < a_end && b < b_end) {
        bool right;
        if (!call_less(s, *b, *a, &right))
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
static uint64_t *order_by_calls(struct sorter *s, int64_t n)
{
    uint64_t *from = s->scratch, *to = from + n, *swap;
    for (int64_t i = 0; i < n; i++)
        from[i] = (uint64_t)i;
    for (int64_t size = 1; size < n; size *= 2) {
        for (int64_t i = 0; i < n; i += 2 * size) {
            int64_t na = n - i < size ? n - i : size, nb = n - i - na < size ? n - i - na : size;
            if (!merge_called(s, to + i, from + i, na, from + i + na, nb))
                return NULL;
        }
        swap = from, from = to, to = swap;
    }
    return from;
}

static bool fits_word(const struct sorter *s, int64_t n)
{
    return s->rule.width <= sizeof(uint32_t) && n <= UINT32_MAX;
}

static void make_words(struct sorter *s, void *words, int64_t from, int64_t limit)
{
    uint64_t *e = words, keys[KERN_LANES];
    for (int64_t i = from; i < limit && !s->failed; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        if (!take_keys(s, keys, i, count))
            s->failed = true; /* no other thread runs in this case */
        for (int64_t j = 0; j < count; j++)
            e[i + j] = keys[j] << PACKED_KEY | (uint64_t)(i + j);
    }
}

/* Key and index in one word. */
static uint64_t *order_by_words(struct sorter *s, int64_t n)
{
    uint64_t *e = s->scratch;
    share_line(s, n, make_words, e);
    s->index = UINT32_MAX;
    return s->failed ? NULL : sort_words64(s->workers, e, e + n, n, PACKED_KEY);
}

static void make_entries(struct sorter *s, void *entries, int64_t from, int64_t limit)
{
    struct key_entry *e = entries;
    uint64_t keys[KERN_LANES];
    for (int64_t i = from; i < limit && !s->failed; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        if (!take_keys(s, keys, i, count))
            s->failed = true;
        for (int64_t j = 0; j < count; j++)
            e[i + j] = (struct key_entry){keys[j], (uint64_t)(i + j)};
    }
}

/* Key and index as a struct. */
static uint64_t *order_by_entries(struct sorter *s, int64_t n)
{
    struct key_entry *e = s->scratch, *scratch = e + n;
    share_line(s, n, make_entries, e);
    if (s->failed)
        return NULL;
    const struct key_entry *sorted = sort_key_entries(s->workers, e, scratch, n);
    uint64_t *order = (uint64_t *)(void *)(sorted == e ? scratch : e);
    for (int64_t i = 0; i < n; i++)
        order[i] = sorted[i].index;
    return order;
}

/* ---- elements in an order ---- */

struct picking {
    const uint64_t *order;
    const char *x;
    char *out;
    int64_t x_stride, out_stride;
    size_t width;
};

#define PICK(W)                                                                                    \
    for (int64_t i = from; i < limit; i++)                                                         \
    *(W *)(void *)(p->out + i * p->out_stride) =                                                   \
        *(const W *)(const void *)(p->x + (int64_t)(p->order[i] & s->index) * p->x_stride)

/* out[i] = x[order[i]] */
static void pick_elements(struct sorter *s, void *picking, int64_t from, int64_t limit)
{
    const struct picking *p = picking;
    switch (p->width) {
    case 1: PICK(kern_w1); break;
    case 2: PICK(kern_w2); break;
    case 4: PICK(kern_w4); break;
    case 8: PICK(kern_w8); break;
    default: PICK(struct kern_w16); break;
    }
}

enum order { ORDER_CALLS, ORDER_WORDS, ORDER_ENTRIES };

static enum order order_of(const struct sorter *s, int64_t n)
{
    return s->less->order == KERN_ORDER_CALL ? ORDER_CALLS
           : fits_word(s, n)                 ? ORDER_WORDS
                                             : ORDER_ENTRIES;
}

static bool sort_by_order(struct sorter *s, const int64_t *index, int64_t n)
{
    const enum order method = order_of(s, n);
    const uint64_t *order = method == ORDER_CALLS   ? order_by_calls(s, n)
                            : method == ORDER_WORDS ? order_by_words(s, n)
                                                    : order_by_entries(s, n);
    for (int k = 0; order && k < s->n; k++) {
        struct picking p = {order,
                            s->line[k],
                            view_at(&s->out[k], index),
                            s->x[k].strides[s->dimension],
                            s->out[k].strides[s->dimension],
                            dtype_bytes(s->out[k].dtype)};
        share_line(s, n, pick_elements, &p);
    }
    return order != NULL;
}

/* ---- a single operand: its elements are made from the sorted keys ---- */

static bool is_standalone(const struct sorter *s)
{
    return s->n == 1 && s->less->order != KERN_ORDER_CALL && !s->less->make_keys &&
           (s->rule.is_float || s->rule.one_to_one) &&
           !(dtype_is_float(s->rule.type) && s->rule.width == 1);
}

static uint64_t sorted_key(const struct sorter *s, const void *sorted, int64_t i)
{
    return s->rule.width <= sizeof(uint32_t) ? ((const uint32_t *)sorted)[i]
                                             : ((const uint64_t *)sorted)[i];
}

/* The first position whose key is not less than `key`. */
static int64_t find_key(const struct sorter *s, const void *sorted, int64_t n, uint64_t key)
{
    int64_t first = 0;
    while (first < n) {
        int64_t middle = first + (n - first) / 2;
        if (sorted_key(s, sorted, middle) < key)
            first = middle + 1;
        else
            n = middle;
    }
    return first;
}

/* For different elements that have this same key: stores them in the original order. */
static void place_alike(struct sorter *s, char *out, const void *sorted, int64_t n, uint64_t key)
{
    const char *x = s->line[0];
    int64_t stride = s->x->strides[s->dimension], out_stride = s->out->strides[s->dimension];
    int64_t at = find_key(s, sorted, n, key);
    uint64_t keys[KERN_LANES];
    if (at == n || sorted_key(s, sorted, at) != key)
        return;
    for (int64_t i = 0; i < n; i += KERN_LANES) {
        int64_t count = n - i < KERN_LANES ? n - i : KERN_LANES;
        keys_make(&s->rule, keys, x + i * stride, stride, count);
        for (int64_t j = 0; j < count; j++)
            if (keys[j] == key)
                memcpy(out + at++ * out_stride, x + (i + j) * stride, s->rule.width);
    }
}

static void make_keys_alone(struct sorter *s, void *scratch, int64_t from, int64_t limit)
{
    uint64_t keys[KERN_LANES], *wide = scratch;
    uint32_t *narrow = scratch;
    bool is_wide = s->rule.width == sizeof *wide;
    for (int64_t i = from; i < limit; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        take_keys(s, keys, i, count);
        if (is_wide)
            memcpy(wide + i, keys, (size_t)count * sizeof *wide);
        else
            for (int64_t j = 0; j < count; j++)
                narrow[i + j] = (uint32_t)keys[j];
    }
}

static void *sorted_keys(struct sorter *s, int64_t n)
{
    uint64_t *wide = s->scratch;
    uint32_t *narrow = s->scratch;
    share_line(s, n, make_keys_alone, s->scratch);
    if (s->rule.width == sizeof *wide)
        return sort_words64(s->workers, wide, wide + n, n, 0);
    return sort_words32(s->workers, narrow, narrow + n, n);
}

struct storing {
    const void *sorted;
    char *out;
};

static void store_alone(struct sorter *s, void *storing, int64_t from, int64_t limit)
{
    const struct storing *to = storing;
    char packed[KERN_LANES * sizeof(uint64_t)];
    uint64_t elements[KERN_LANES];
    int64_t stride = s->out->strides[s->dimension];
    size_t width = s->rule.width;
    for (int64_t i = from; i < limit; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        for (int64_t j = 0; j < count; j++)
            elements[j] = key_element(&s->rule, sorted_key(s, to->sorted, i + j));
        kern_pack(packed, (const char *)elements, sizeof *elements, width,
                  count); /* little-endian */
        kern_unpack(to->out + i * stride, stride, packed, width, count);
    }
}

static void sort_alone(struct sorter *s, const int64_t *index, int64_t n)
{
    struct storing to = {sorted_keys(s, n), view_at(s->out, index)};
    share_line(s, n, store_alone, &to);
    if (s->rule.one_to_one)
        return;
    place_alike(s, to.out, to.sorted, n, s->rule.sign ^ s->rule.flip);
    place_alike(s, to.out, to.sorted, n, s->rule.all ^ s->rule.flip);
}

/* ---- all lines ---- */

/* Lines of the same dimensions, which are distributed among threads, each with its own
 * workspace. */
struct line_task {
    const struct sorter *all;
    int64_t lines, piece;
    int64_t dims[VIEW_MAX_RANK]; /* for counting lines: 1 along the sorted dimension */
    char *workspaces;
    size_t entries, scratch; /* bytes: of entries, and of the whole workspace */
    bool called;   /* a comparator or key function is called, so lines are processed sequentially */
    int64_t parts; /* number of tasks */
    size_t lanes;  /* bytes for the arguments and results of the key function */
};

static bool sort_line(struct sorter *s, const int64_t *index)
{
    int64_t n = s->out->dims[s->dimension];
    for (int k = 0; k < s->n; k++)
        s->line[k] = view_at(&s->x[k], index);
    if (!is_standalone(s))
        return sort_by_order(s, index, n);
    sort_alone(s, index, n);
    return true;
}

/* The index of line number `line`. */
static void find_line(const struct line_task *t, int64_t line, int64_t *index)
{
    for (int d = t->all->out->rank - 1; d >= 0; d--) {
        index[d] = line % t->dims[d];
        line /= t->dims[d];
    }
}

static void sort_part(void *context, int64_t part, int worker)
{
    struct line_task *t = context;
    struct sorter s = *t->all;
    int64_t index[VIEW_MAX_RANK], from = part * t->piece, left = t->lines - from;
    s.scratch = t->workspaces + (size_t)worker * t->scratch;
    s.line = (char **)(void *)((char *)s.scratch + t->entries);
    s.args = (const void **)(s.line + s.n);
    find_line(t, from, index);
    for (int64_t k = left < t->piece ? left : t->piece; k > 0 && sort_line(&s, index); k--)
        index_next(s.out->rank, t->dims, index);
}

/* Sorts with a comparator or key function that is called, in one buffer, until a call fails. */
static bool sort_by_calls(struct line_task *t)
{
    struct sorter s = *t->all;
    int64_t index[VIEW_MAX_RANK] = {0};
    s.scratch = t->workspaces;
    s.line = (char **)(void *)(t->workspaces + t->entries);
    s.args = (const void **)(s.line + s.n);
    do
        if (!sort_line(&s, index))
            return false;
    while (index_next(s.out->rank, t->dims, index));
    return true;
}

/* Initializes everything except the buffer, whose size in bytes it returns. There must be something
 * to sort. */
static size_t prepare(struct line_task *t, struct sorter *s, struct thread_pool *workers, int n,
                      const struct view *out, const struct view *x, int dimension,
                      const struct kern_comparator *less)
{
    enum { PART = 1 << 14 }; /* elements */
    t->called = less->order == KERN_ORDER_CALL || less->make_keys;
    *s = (struct sorter){.workers = t->called ? NULL : workers,
                         .n = n,
                         .x = x,
                         .out = out,
                         .dimension = dimension,
                         .less = less,
                         .index = UINT64_MAX};
    if (less->order != KERN_ORDER_CALL) {
        enum dtype type = less->make_keys ? less->key_type : x[less->key].dtype;
        key_rule_init(&s->rule, type, less->total_order, less->order == KERN_ORDER_GREATER);
    }
    int64_t length = out->dims[dimension];
    t->all = s;
    t->lines = view_elements(out) / length;
    t->piece = PART / length + 1;
    memcpy(t->dims, out->dims, sizeof *t->dims * (size_t)out->rank);
    t->dims[dimension] = 1;
    t->entries =
        2 * (size_t)length * (fits_word(s, length) ? sizeof(uint64_t) : sizeof(struct key_entry));
    t->scratch = (t->entries + 3 * (size_t)n * sizeof(void *) + 63) & ~(size_t)63;
    t->parts = ratio_up(t->lines, t->piece);
    t->lanes = less->make_keys ? (size_t)(n + 1) * KERN_LANES * sizeof(union kern_element) : 0;
    return t->lanes +
           (size_t)(t->called || t->parts == 1 ? 1 : thread_pool_size(workers)) * t->scratch;
}

/* spec: Sort */
bool kern_sort(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
               int dimension, const struct kern_comparator *less)
{
    struct sorter s;
    struct line_task t;
    if (view_elements(out) == 0)
        return true;
    s.computed = mem_alloc(prepare(&t, &s, workers, n, out, x, dimension, less));
    if (!s.computed)
        return false;
    memset(s.computed, 0, t.lanes); /* since the unused last lanes of a line are not written */
    s.lanes = s.computed + (t.lanes > 0 ? KERN_LANES * sizeof(union kern_element) : 0);
    t.workspaces = s.computed + t.lanes;
    bool ok = true;
    if (t.called)
        ok = sort_by_calls(&t);
    else
        thread_pool_run(workers, t.parts, sort_part, &t);
    mem_free(s.computed);
    return ok;
}

const char *kern_sort_choice(struct thread_pool *workers, int n, const struct view *out,
                             const struct view *x, int dimension,
                             const struct kern_comparator *less, size_t *scratch)
{
    struct sorter s;
    struct line_task t;
    *scratch = 0;
    if (view_elements(out) == 0)
        return "nothing to sort";
    *scratch = prepare(&t, &s, workers, n, out, x, dimension, less);
    if (is_standalone(&s))
        return "radix sort of keys";
    switch (order_of(&s, out->dims[dimension])) {
    case ORDER_CALLS: return "merge sort with calls of the comparator";
    case ORDER_WORDS: return "radix sort of keys packed with their indices";
    default: return "radix sort of keys with separate indices";
    }
}

/* ---- topk ---- */

static bool comes_after(const struct key_entry *a, const struct key_entry *b)
{
    return a->key != b->key ? a->key > b->key : a->index > b->index;
}

/* Moves the entry at `at` down a heap whose root is the last in order. */
static void sift_down(struct key_entry *heap, int64_t k, int64_t at)
{
    struct key_entry v = heap[at];
    for (int64_t child; (child = 2 * at + 1) < k; at = child) {
        child += child + 1 < k && comes_after(&heap[child + 1], &heap[child]);
        if (!comes_after(&heap[child], &v))
            break;
        heap[at] = heap[child];
    }
    heap[at] = v;
}

/* Merges elements [from, from + count) of a line, whose keys are given, into the k best of those
 * before. */
static void join_best(struct key_entry *best, int64_t k, const uint64_t *keys, int64_t from,
                      int64_t count)
{
    int64_t i = 0;
    if (from < k) {
        for (; i < count && from + i < k; i++)
            best[from + i] = (struct key_entry){keys[i], (uint64_t)(from + i)};
        for (int64_t at = k / 2 - 1; from + i == k && at >= 0; at--)
            sift_down(best, k, at);
    }
    for (; i < count; i++) {
        if (keys[i] < best[0].key) { /* an equal key comes later: its index is greater */
            best[0] = (struct key_entry){keys[i], (uint64_t)(from + i)};
            sift_down(best, k, 0);
        }
    }
}

/* Pops all entries of the heap: the last in order is stored at the end. */
static void sort_heap(struct key_entry *heap, int64_t k)
{
    for (int64_t n = k - 1; n > 0; n--) {
        struct key_entry last = heap[0];
        heap[0] = heap[n];
        heap[n] = last;
        sift_down(heap, n, 0);
    }
}

static void topk_line(const struct key_rule *rule, const struct view *values,
                      const struct view *indices, const struct view *x, const int64_t *index,
                      struct key_entry *best, int64_t k)
{
    int d = x->rank - 1;
    uint64_t keys[KERN_LANES];
    char *from = view_at(x, index), *to = view_at(indices, index), *picked = view_at(values, index);
    for (int64_t i = 0; i < x->dims[d]; i += KERN_LANES) {
        int64_t count = x->dims[d] - i < KERN_LANES ? x->dims[d] - i : KERN_LANES;
        keys_make(rule, keys, from + i * x->strides[d], x->strides[d], count);
        join_best(best, k, keys, i, count);
    }
    sort_heap(best, k);
    for (int64_t i = 0; i < k; i++) {
        int64_t at = (int64_t)best[i].index;
        *(int32_t *)(void *)(to + i * indices->strides[d]) = (int32_t)at;
        memcpy(picked + i * values->strides[d], from + at * x->strides[d], rule->width);
    }
}

struct topk_task {
    const struct key_rule *rule;
    const struct view *values, *indices, *x;
    struct key_entry *best; /* k for each worker */
    int64_t k, lines, piece;
};

static void topk_part(void *context, int64_t part, int worker)
{
    const struct topk_task *t = context;
    int rank = t->x->rank - 1;
    int64_t index[VIEW_MAX_RANK] = {0}, from = part * t->piece, left = t->lines - from;
    for (int64_t d = rank - 1, line = from; d >= 0; line /= t->x->dims[d--])
        index[d] = line % t->x->dims[d];
    for (int64_t i = left < t->piece ? left : t->piece; i > 0; i--) {
        topk_line(t->rule, t->values, t->indices, t->x, index, t->best + worker * t->k, t->k);
        index_next(rank, t->x->dims, index);
    }
}

/* spec: TopK. In the total order of the elements; of equal ones the smaller index comes first. */
bool kern_topk(struct thread_pool *workers, const struct view *values, const struct view *indices,
               const struct view *x, int64_t k, bool largest)
{
    enum { PART = 1 << 16 }; /* elements */
    struct key_rule rule;
    struct topk_task t = {&rule, values, indices, x, .k = k};
    if (view_elements(values) == 0)
        return true;
    if (dtype_is_complex(x->dtype)) /* the order needs more than a key of 64 bits */
        return plain_topk(NULL, values, indices, x, k, largest);
    int64_t length = x->dims[x->rank - 1];
    t.lines = view_elements(x) / length;
    t.piece = PART / length + 1;
    t.best = mem_alloc((size_t)(thread_pool_size(workers) * k) * sizeof *t.best);
    if (!t.best)
        return false;
    key_rule_init(&rule, x->dtype, true, largest);
    thread_pool_run(workers, ratio_up(t.lines, t.piece), topk_part, &t);
    mem_free(t.best);
    return true;
}
