/*
 * sort.c: sorts rows of an array, and finds their best elements (topk).
 *
 * Every row is sorted as a list of its indices, which then selects the elements of all operands. A
 * plain comparison of one operand becomes unsigned keys (sort_keys.c) stored with the index; if
 * there is only one operand, it is reconstructed from its sorted keys. Keys that a comparator
 * compares lexicographically are computed from the operands; as many as fit into a word are sorted
 * at once, the least significant ones first. Any other comparator is used in a merge sort. All
 * sorts are stable, so the result is unique for any number of threads: these are assigned rows, or
 * parts of one long row. Only comparators without code on tiles run on one thread, since a called
 * body has only one set of registers. Partial order: -0 and +0 are equal; the position of NaNs is
 * unspecified (here: last).
 */
#include "kern/sort.h"
#include "kern/plain/plain.h"

/* ---- lines and their keys ---- */

struct sorter {
    /* NULL if the comparator is called: it cannot be called by several threads */
    struct thread_pool *workers;
    int worker; /* that runs all of it, if `workers` is NULL */
    int n;
    const struct view *x, *out;
    int dimension;
    const struct kern_comparator *less;
    int key_count;
    struct key_rule *rules; /* of the keys */
    char **line;            /* the start of each operand's line */
    char *lanes;            /* for each worker `lane_bytes`, for code on tiles */
    size_t lane_bytes;
    void *scratch;  /* a line's entries twice, then, for several groups of keys, a line of keys */
    uint64_t index; /* mask: the bits of a sorted entry that are its index */
    bool failed;
};

/* Processes elements [from, limit) of a line; long lines are split among threads. */
typedef void interval_fn(struct sorter *s, void *with, int64_t from, int64_t limit, int worker);
struct intervals {
    struct sorter *s;
    interval_fn *fn;
    void *with;
};
enum { INTERVAL = 128 * KERN_LANES };

static void sort_interval(void *context, int64_t from, int64_t limit, int worker)
{
    const struct intervals *c = context;
    c->fn(c->s, c->with, from, limit, c->s->worker + worker);
}

static void share_in(struct sorter *s, int64_t n, int64_t length, interval_fn *fn, void *with)
{
    thread_pool_share(s->workers, n, length, sort_interval, &(struct intervals){s, fn, with});
}

static void share_line(struct sorter *s, int64_t n, interval_fn *fn, void *with)
{
    share_in(s, n, INTERVAL, fn, with);
}

/* Storage of a worker for code on tiles: addresses of arguments and results, tiles, temporaries. */
struct lane_storage {
    const void **args;
    void **results;
    char *tiles, *workspace;
};
enum { TILE_BYTES = KERN_LANES * sizeof(union kern_element) };

static size_t lane_storage_bytes(int n, const struct kern_lane_code *c)
{
    const size_t pointers = (size_t)(2 * n + c->result_count) * sizeof(void *);
    return ((pointers + 63) & ~(size_t)63) + (size_t)(n + c->result_count) * TILE_BYTES +
           ((c->workspace + 63) & ~(size_t)63);
}

static struct lane_storage lane_storage(const struct sorter *s, const struct kern_lane_code *c,
                                        int worker)
{
    char *at = s->lanes + (size_t)worker * s->lane_bytes;
    const size_t pointers = (size_t)(2 * s->n + c->result_count) * sizeof(void *);
    struct lane_storage l = {.args = (const void **)(void *)at};
    l.results = (void **)(l.args + 2 * s->n);
    l.tiles = at + ((pointers + 63) & ~(size_t)63);
    l.workspace = l.tiles + (size_t)(s->n + c->result_count) * TILE_BYTES;
    return l;
}

/* The keys after the last one of the group that starts at `first`: as many as fit into a word. */
static int group_end(const struct sorter *s, int first)
{
    size_t width = s->rules[first].width;
    int end = first + 1;
    for (; end < s->key_count && width + s->rules[end].width <= sizeof(uint64_t); end++)
        width += s->rules[end].width;
    return end;
}

/* Keys of elements [i, i + count) that the comparator computes from all operands: those of the
 * group that starts at `first`, the most significant one in the highest bits. */
static void compute_keys(const struct sorter *s, int first, uint64_t *keys, int64_t i,
                         int64_t count, int worker)
{
    const struct kern_lane_code *c = s->less->make_keys;
    const struct lane_storage l = lane_storage(s, c, worker);
    uint64_t part[KERN_LANES];
    for (int k = 0; k < s->n; k++) {
        size_t width = dtype_bytes(s->x[k].dtype);
        int64_t stride = s->x[k].strides[s->dimension];
        char *at = s->line[k] + i * stride, *tile = l.tiles + (size_t)k * TILE_BYTES;
        if (stride != (int64_t)width)
            kern_pack(tile, at, stride, width, count);
        l.args[2 * k] = l.args[2 * k + 1] = stride == (int64_t)width ? at : tile;
    }
    for (int k = 0; k < s->key_count; k++)
        l.results[k] = l.tiles + (size_t)(s->n + k) * TILE_BYTES;
    kern_run_lanes(c, l.workspace, l.args, l.results, count);
    for (int k = first; k < group_end(s, first); k++) {
        const struct key_rule *r = &s->rules[k];
        keys_make(r, k == first ? keys : part, l.results[k], (int64_t)r->width, count);
        for (int64_t j = 0; j < count && k > first; j++)
            keys[j] = keys[j] << 8 * r->width | part[j];
    }
}

static void take_keys(const struct sorter *s, int first, uint64_t *keys, int64_t i, int64_t count,
                      int worker)
{
    int key = s->less->key;
    if (s->less->make_keys) {
        compute_keys(s, first, keys, i, count, worker);
        return;
    }
    int64_t stride = s->x[key].strides[s->dimension];
    keys_make(s->rules, keys, s->line[key] + i * stride, stride, count);
}

/* ---- the order of a line, by a comparator that is called ---- */

/* Merges of adjacent sorted intervals of `size` indices; each result is made in pieces. */
struct merging {
    struct sorter *s;
    const uint64_t *from;
    uint64_t *to;
    int64_t n, size;
};

/* Whether element a precedes element b. */
static bool precedes(struct sorter *s, const struct lane_storage *l, uint64_t a, uint64_t b)
{
    uint8_t answer = 0;
    void *result = &answer;
    for (int k = 0; k < s->n; k++) {
        int64_t stride = s->x[k].strides[s->dimension];
        l->args[2 * k] = s->line[k] + (int64_t)a * stride;
        l->args[2 * k + 1] = s->line[k] + (int64_t)b * stride;
    }
    if (s->less->lanes)
        kern_run_lanes(s->less->lanes, l->workspace, l->args, &result, 1);
    else if (!s->failed && !s->less->call(s->less->context, l->args, &result))
        s->failed = true; /* no other thread runs in this case */
    return answer != 0;
}

/* How many of the first `count` elements of the merged intervals are from a. */
static int64_t find_cut(struct sorter *s, const struct lane_storage *l, const uint64_t *a,
                        int64_t na, const uint64_t *b, int64_t nb, int64_t count)
{
    int64_t cut = count > nb ? count - nb : 0;
    BISECT(cut, count < na ? count : na, i, !precedes(s, l, b[count - i - 1], a[i]));
    return cut;
}

/* Elements [from, limit) of the next level's intervals. */
static void merge_interval(struct sorter *s, void *merging, int64_t from, int64_t limit, int worker)
{
    const struct merging *m = merging;
    const struct lane_storage l =
        lane_storage(s, s->less->lanes ? s->less->lanes : &(struct kern_lane_code){0}, worker);
    for (int64_t at = from, end; at < limit; at = end) {
        const int64_t start = at / (2 * m->size) * (2 * m->size);
        const int64_t na = min_i64(m->size, m->n - start), nb = min_i64(m->size, m->n - start - na);
        const uint64_t *a = m->from + start, *b = a + na;
        end = min_i64(limit, start + na + nb);
        int64_t i = find_cut(s, &l, a, na, b, nb, at - start), j = at - start - i;
        for (int64_t k = at; k < end; k++) {
            const bool right = i == na || (j < nb && precedes(s, &l, b[j], a[i]));
            m->to[k] = right ? b[j++] : a[i++];
        }
    }
}

/* Sorts [from, limit), a multiple of the size of intervals that are sorted, into `to`. */
static void sort_chunk(struct sorter *s, void *merging, int64_t from, int64_t limit, int worker)
{
    struct merging m = *(struct merging *)merging;
    uint64_t *to = m.to, *other = (uint64_t *)(uintptr_t)m.from;
    const int64_t n = limit - from;
    for (int64_t i = from; i < limit; i++)
        to[i] = (uint64_t)i;
    for (m.size = 1; m.size < n; m.size *= 2) {
        uint64_t *swap = to;
        to = other, other = swap;
        m.from = other + from, m.to = to + from, m.n = n;
        merge_interval(s, &m, 0, n, worker);
    }
    if (to != ((struct merging *)merging)->to)
        memcpy(other + from, to + from, (size_t)n * sizeof *to);
}

/* NULL when the comparator failed. */
static uint64_t *order_by_calls(struct sorter *s, int64_t n)
{
    enum { CHUNK = 1 << 10 };
    uint64_t *first = s->scratch;
    struct merging m = {s, first + n, first, n, CHUNK};
    share_in(s, n, CHUNK, sort_chunk, &m);
    for (; m.size < n; m.size *= 2) {
        uint64_t *swap = m.to;
        m.to = (uint64_t *)(uintptr_t)m.from;
        m.from = swap;
        share_in(s, n, CHUNK, merge_interval, &m);
    }
    return s->failed ? NULL : m.to;
}

/* ---- the order of a line, by keys ---- */

static bool fits_word(const struct sorter *s, int64_t n)
{
    size_t width = 0;
    for (int k = 0; k < s->key_count; k++)
        width += s->rules[k].width;
    return width <= sizeof(uint32_t) && n <= UINT32_MAX;
}

static void make_words(struct sorter *s, void *words, int64_t from, int64_t limit, int worker)
{
    uint64_t *e = words, keys[KERN_LANES];
    for (int64_t i = from; i < limit; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        take_keys(s, 0, keys, i, count, worker);
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
    return sort_words64(s->workers, e, e + n, n, PACKED_KEY);
}

struct entry_making {
    int group; /* its first key */
    struct key_entry *entries;
};

static void make_entries(struct sorter *s, void *making, int64_t from, int64_t limit, int worker)
{
    const struct entry_making *m = making;
    uint64_t keys[KERN_LANES];
    for (int64_t i = from; i < limit; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        take_keys(s, m->group, keys, i, count, worker);
        for (int64_t j = 0; j < count; j++)
            m->entries[i + j] = (struct key_entry){keys[j], (uint64_t)(i + j)};
    }
}

/* Sorts entries, which are in order by the keys of less significant groups, by those of a group. */
static struct key_entry *sort_group(struct sorter *s, int64_t n, struct key_entry *sorted,
                                    int group)
{
    struct key_entry *e = s->scratch, *other = sorted == e ? e + n : e, *made = e + 2 * n;
    share_line(s, n, make_entries, &(struct entry_making){group, made});
    for (int64_t i = 0; i < n; i++)
        sorted[i].key = made[sorted[i].index].key;
    return sort_key_entries(s->workers, sorted, other, n, 0);
}

/* Key and index as a struct; from the least significant group of keys on. */
static uint64_t *order_by_entries(struct sorter *s, int64_t n)
{
    struct key_entry *e = s->scratch, *scratch = e + n;
    int groups[KERN_SORT_KEYS], count = 0;
    for (int k = 0; k < s->key_count; k = group_end(s, k))
        groups[count++] = k;
    share_line(s, n, make_entries, &(struct entry_making){groups[count - 1], e});
    struct key_entry *sorted = sort_key_entries(s->workers, e, scratch, n, 0);
    for (int k = count - 2; k >= 0; k--)
        sorted = sort_group(s, n, sorted, groups[k]);
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
static void pick_elements(struct sorter *s, void *picking, int64_t from, int64_t limit, int worker)
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
    const struct key_rule *r = s->rules;
    return s->n == 1 && s->less->order != KERN_ORDER_CALL && !s->less->make_keys &&
           (r->is_float || r->one_to_one) && !(dtype_is_float(r->type) && r->width == 1);
}

static uint64_t sorted_key(const struct sorter *s, const void *sorted, int64_t i)
{
    return s->rules->width <= sizeof(uint32_t) ? ((const uint32_t *)sorted)[i]
                                               : ((const uint64_t *)sorted)[i];
}

/* The first position whose key is not less than `key`. */
static int64_t find_key(const struct sorter *s, const void *sorted, int64_t n, uint64_t key)
{
    int64_t first = 0;
    BISECT(first, n, middle, sorted_key(s, sorted, middle) < key);
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
        keys_make(s->rules, keys, x + i * stride, stride, count);
        for (int64_t j = 0; j < count; j++)
            if (keys[j] == key)
                memcpy(out + at++ * out_stride, x + (i + j) * stride, s->rules->width);
    }
}

static void make_keys_alone(struct sorter *s, void *scratch, int64_t from, int64_t limit,
                            int worker)
{
    uint64_t keys[KERN_LANES], *wide = scratch;
    uint32_t *narrow = scratch;
    bool is_wide = s->rules->width == sizeof *wide;
    for (int64_t i = from; i < limit; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        take_keys(s, 0, keys, i, count, worker);
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
    if (s->rules->width == sizeof *wide)
        return sort_words64(s->workers, wide, wide + n, n, 0);
    return sort_words32(s->workers, narrow, narrow + n, n, 0);
}

struct storing {
    const void *sorted;
    char *out;
};

static void store_alone(struct sorter *s, void *storing, int64_t from, int64_t limit, int worker)
{
    const struct storing *to = storing;
    char packed[KERN_LANES * sizeof(uint64_t)];
    uint64_t elements[KERN_LANES];
    int64_t stride = s->out->strides[s->dimension];
    size_t width = s->rules->width;
    for (int64_t i = from; i < limit; i += KERN_LANES) {
        int64_t count = limit - i < KERN_LANES ? limit - i : KERN_LANES;
        for (int64_t j = 0; j < count; j++)
            elements[j] = key_element(s->rules, sorted_key(s, to->sorted, i + j));
        kern_pack(packed, (const char *)elements, sizeof *elements, width,
                  count); /* little-endian */
        kern_unpack(to->out + i * stride, stride, packed, width, count);
    }
}

static void sort_alone(struct sorter *s, const int64_t *index, int64_t n)
{
    struct storing to = {sorted_keys(s, n), view_at(s->out, index)};
    share_line(s, n, store_alone, &to);
    if (s->rules->one_to_one)
        return;
    place_alike(s, to.out, to.sorted, n, s->rules->sign ^ s->rules->flip);
    place_alike(s, to.out, to.sorted, n, s->rules->all ^ s->rules->flip);
}

/* ---- all lines ---- */

/* Lines of the same dimensions, which are distributed among threads, each with its own
 * workspace. */
struct line_task {
    const struct sorter *all;
    int64_t lines, piece;        /* in all, and in a task */
    int64_t dims[VIEW_MAX_RANK]; /* for counting lines: 1 along the sorted dimension */
    char *workspaces;
    size_t entries, scratch; /* bytes: of entries, and of the whole workspace */
    int workers;             /* that sort lines at the same time */
    bool failed;
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

static void sort_lines(void *context, int64_t from, int64_t to, int worker)
{
    struct line_task *t = context;
    struct sorter s = *t->all;
    int64_t index[VIEW_MAX_RANK];
    s.scratch = t->workspaces + (size_t)worker * t->scratch;
    s.line = (char **)(void *)((char *)s.scratch + t->entries);
    s.worker = worker;
    s.workers = t->workers > 1 ? NULL : s.workers;
    index_at(t->all->out->rank, t->dims, from, index);
    for (; from < to && sort_line(&s, index); from++)
        index_next(s.out->rank, t->dims, index);
    if (s.failed)
        t->failed = true; /* no other thread runs in this case */
}

/* Sets the rules of the keys; their storage is that of all KERN_SORT_KEYS. */
static void set_rules(struct sorter *s, struct key_rule *rules)
{
    const struct kern_comparator *c = s->less;
    s->rules = rules;
    if (c->order == KERN_ORDER_CALL)
        return;
    s->key_count = c->make_keys ? c->make_keys->result_count : 1;
    if (!c->make_keys)
        key_rule_init(rules, s->x[c->key].dtype, c->total_order, c->order == KERN_ORDER_GREATER);
    for (int k = 0; k < s->key_count && c->make_keys; k++)
        key_rule_init(&rules[k], c->keys[k].type, c->keys[k].total_order, c->keys[k].descending);
}

/* Bytes of the entries of a line. */
static size_t entry_bytes(const struct sorter *s, int64_t length)
{
    const bool is_word = s->less->order == KERN_ORDER_CALL || fits_word(s, length);
    const bool groups = !is_word && group_end(s, 0) < s->key_count;
    return (size_t)(groups ? 3 : 2) * (size_t)length *
           (is_word ? sizeof(uint64_t) : sizeof(struct key_entry));
}

/* Initializes everything except the buffer, whose size in bytes it returns. There must be something
 * to sort. */
static size_t prepare(struct line_task *t, struct sorter *s, struct key_rule *rules,
                      struct thread_pool *workers, int n, const struct view *out,
                      const struct view *x, int dimension, const struct kern_comparator *less)
{
    enum { PART = 1 << 14 }; /* elements */
    const bool called = less->order == KERN_ORDER_CALL && !less->lanes;
    const struct kern_lane_code none = {0}, *code = less->order != KERN_ORDER_CALL ? less->make_keys
                                                                                   : less->lanes;
    const int64_t length = out->dims[dimension];
    *s = (struct sorter){.workers = called ? NULL : workers,
                         .n = n,
                         .x = x,
                         .out = out,
                         .dimension = dimension,
                         .less = less,
                         .lane_bytes = lane_storage_bytes(n, code ? code : &none),
                         .index = UINT64_MAX};
    set_rules(s, rules);
    *t = (struct line_task){.all = s, .lines = view_elements(out) / length};
    t->piece = called ? t->lines : PART / length + 1;
    memcpy(t->dims, out->dims, sizeof *t->dims * (size_t)out->rank);
    t->dims[dimension] = 1;
    t->entries = entry_bytes(s, length);
    t->scratch = (t->entries + (size_t)n * sizeof(void *) + 63) & ~(size_t)63;
    t->workers = t->lines <= t->piece ? 1 : thread_pool_size(workers);
    return (size_t)thread_pool_size(workers) * s->lane_bytes + (size_t)t->workers * t->scratch;
}

/* spec: Sort */
bool kern_sort(struct thread_pool *workers, int n, const struct view *out, const struct view *x,
               int dimension, const struct kern_comparator *less)
{
    struct sorter s;
    struct line_task t;
    struct key_rule rules[KERN_SORT_KEYS];
    if (view_elements(out) == 0)
        return true;
    const size_t size = prepare(&t, &s, rules, workers, n, out, x, dimension, less);
    s.lanes = mem_alloc(size);
    if (!s.lanes)
        return false;
    t.workspaces = s.lanes + (size_t)thread_pool_size(workers) * s.lane_bytes;
    thread_pool_share(workers, t.lines, t.piece, sort_lines, &t);
    mem_free(s.lanes);
    return !t.failed;
}

const char *kern_sort_choice(struct thread_pool *workers, int n, const struct view *out,
                             const struct view *x, int dimension,
                             const struct kern_comparator *less, size_t *scratch)
{
    struct sorter s;
    struct line_task t;
    struct key_rule rules[KERN_SORT_KEYS];
    *scratch = 0;
    if (view_elements(out) == 0)
        return "nothing to sort";
    *scratch = prepare(&t, &s, rules, workers, n, out, x, dimension, less);
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
    int64_t k;
};

static void topk_lines(void *context, int64_t from, int64_t to, int worker)
{
    const struct topk_task *t = context;
    int rank = t->x->rank - 1;
    int64_t index[VIEW_MAX_RANK] = {0};
    index_at(rank, t->x->dims, from, index);
    for (; from < to; from++) {
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
    t.best = mem_alloc((size_t)(thread_pool_size(workers) * k) * sizeof *t.best);
    if (!t.best)
        return false;
    key_rule_init(&rule, x->dtype, true, largest);
    thread_pool_share(workers, view_elements(x) / length, PART / length + 1, topk_lines, &t);
    mem_free(t.best);
    return true;
}
