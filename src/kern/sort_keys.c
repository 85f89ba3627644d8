/*
 * sort_keys.c: elements as unsigned keys (spec: Sort), and stable sorts of them: a radix sort for
 * many keys, a merge sort of short runs for few.
 */
#include "kern/sort.h"

/* ---- keys ---- */

/* The bits of a float of any format as an unsigned number in total order (grammar/values.md 5.2).
 */
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

void key_rule_init(struct key_rule *r, enum dtype t, bool total_order, bool descending)
{
    size_t width = dtype_bytes(t);
    bool is_float = dtype_is_float(t);
    *r = (struct key_rule){.type = t, .width = width, .is_float = is_float && width > 1};
    r->all = width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
    r->sign = is_float || dtype_is_signed(t) ? r->all ^ r->all >> 1
                                             : 0; /* narrow integers are sign-extended */
    r->flip = descending ? r->all : 0;
    r->one_to_one = total_order || !is_float;
    r->max = r->zero = r->all;
    if (r->is_float && !total_order) {
        int mantissa = float_format(t)->mantissa_bits;
        r->max = (r->all >> 1 >> mantissa)
                 << mantissa; /* infinity: formats of 16 bits and more are like IEEE's */
        r->zero = ~r->sign;
    }
    for (unsigned b = 0; b < 256 && width == 1; b++)
        r->table[b] = (uint8_t)(r->flip ^ (is_float ? float_key(t, b, total_order) : b ^ r->sign));
}

#define WIDEN(W)                                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                \
    keys[i] = ((const W *)x)[i]

KERN_CLONES static void widen_words(uint64_t *restrict keys, const void *restrict x, size_t width,
                                    int64_t n)
{
    switch (width) {
    case 2: WIDEN(kern_w2); break;
    case 4: WIDEN(kern_w4); break;
    default: WIDEN(kern_w8); break;
    }
}

KERN_CLONES static void float_keys(const struct key_rule *r, uint64_t *keys, int64_t n)
{
    uint64_t sign = r->sign, all = r->all, max = r->max, zero = r->zero, flip = r->flip;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = keys[i], magnitude = bits & ~sign;
        bits &= magnitude == 0 ? zero : all;
        uint64_t key = bits & sign ? bits ^ all : bits | sign;
        keys[i] = (magnitude > max ? all : key) ^ flip;
    }
}

void keys_make(const struct key_rule *r, uint64_t *keys, const char *x, int64_t stride, int64_t n)
{
    char packed[KERN_LANES * sizeof(uint64_t)] __attribute__((aligned(64)));
    if (r->width == 1) {
        for (int64_t i = 0; i < n; i++)
            keys[i] = r->table[(uint8_t)x[i * stride]];
        return;
    }
    if (stride != (int64_t)r->width) {
        kern_pack(packed, x, stride, r->width, n);
        x = packed;
    }
    widen_words(keys, x, r->width, n);
    if (r->is_float)
        float_keys(r, keys, n);
    else
        for (int64_t i = 0; i < n; i++)
            keys[i] ^= r->sign ^ r->flip;
}

uint64_t key_element(const struct key_rule *r, uint64_t key)
{
    key ^= r->flip;
    return !r->is_float || key & r->sign ? key ^ r->sign : key ^ r->all;
}

/* ---- sequential sorts ---- */

enum {
    RUN = 16,          /* entries in a run, which is sorted by insertion */
    DIGITS_FROM = 192, /* fewer entries are sorted by merging */
    DIGIT = 9,         /* bits; limited by the number of streams that caches and TLB support */
    MAX_DIGIT = 11,    /* bits, if that saves the second pass */
    MAX_BUCKETS = 1 << MAX_DIGIT
};

/* The sorts for each of three types E of entries, whose key is KEY(e). They sort by the bits from
 * `lowest` on: by the lower bits, entries are in order already. */
#define SORT_OF(NAME, E, KEY)                                                                      \
    static void NAME##_insert(E *e, int64_t n)                                                     \
    {                                                                                              \
        for (int64_t i = 1; i < n; i++) {                                                          \
            E v = e[i];                                                                            \
            int64_t at = i;                                                                        \
            for (; at > 0 && KEY(e[at - 1]) > KEY(v); at--)                                        \
                e[at] = e[at - 1];                                                                 \
            e[at] = v;                                                                             \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_merge(E *to, const E *a, int64_t na, const E *b, int64_t nb)                \
    {                                                                                              \
        const E *a_end = a + na, *b_end = b + nb;                                                  \
        while (a < a_end && b < b_end) {                                                           \
            bool right = KEY(*b) < KEY(*a);                                                        \
            *to++ = right ? *b : *a;                                                               \
            b += right;                                                                            \
            a += !right;                                                                           \
        }                                                                                          \
        while (a < a_end)                                                                          \
            *to++ = *a++;                                                                          \
        while (b < b_end)                                                                          \
            *to++ = *b++;                                                                          \
    }                                                                                              \
    static E *NAME##_by_merging(E *from, E *to, int64_t n)                                         \
    {                                                                                              \
        for (int64_t i = 0; i < n; i += RUN)                                                       \
            NAME##_insert(from + i, n - i < RUN ? n - i : RUN);                                    \
        for (int64_t size = RUN; size < n; size *= 2) {                                            \
            for (int64_t i = 0; i < n; i += 2 * size) {                                            \
                int64_t na = n - i < size ? n - i : size,                                          \
                        nb = n - i - na < size ? n - i - na : size;                                \
                NAME##_merge(to + i, from + i, na, from + i + na, nb);                             \
            }                                                                                      \
            E *swap = from;                                                                        \
            from = to;                                                                             \
            to = swap;                                                                             \
        }                                                                                          \
        return from;                                                                               \
    }                                                                                              \
    /* One stable pass by a digit. Adjacent entries are counted separately, since equal ones       \
     * would depend on each other. */                                                              \
    static void NAME##_pass(E *restrict to, const E *restrict from, int64_t n, unsigned shift,     \
                            unsigned bits)                                                         \
    {                                                                                              \
        uint32_t place[MAX_BUCKETS], other[MAX_BUCKETS], sum = 0, buckets = 1u << bits,            \
                                                         mask = buckets - 1;                       \
        memset(place, 0, buckets * sizeof *place);                                                 \
        memset(other, 0, buckets * sizeof *other);                                                 \
        for (int64_t i = 0; i + 1 < n; i += 2) {                                                   \
            place[KEY(from[i]) >> shift & mask]++;                                                 \
            other[KEY(from[i + 1]) >> shift & mask]++;                                             \
        }                                                                                          \
        place[KEY(from[n - 1]) >> shift & mask] += (uint32_t)(n % 2);                              \
        for (uint32_t b = 0; b < buckets; b++) {                                                   \
            uint32_t count = place[b] + other[b];                                                  \
            place[b] = sum;                                                                        \
            sum += count;                                                                          \
        }                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[place[KEY(from[i]) >> shift & mask]++] = from[i];                                   \
    }                                                                                              \
    static E *NAME##_sort(E *from, E *to, int64_t n, unsigned lowest)                              \
    {                                                                                              \
        if (n < DIGITS_FROM || n > UINT32_MAX)                                                     \
            return NAME##_by_merging(from, to, n);                                                 \
        uint64_t differ = 0;                                                                       \
        for (int64_t i = 1; i < n; i++)                                                            \
            differ |= KEY(from[i]) ^ KEY(from[0]);                                                 \
        differ = differ >> lowest << lowest;                                                       \
        if (differ == 0)                                                                           \
            return from;                                                                           \
        unsigned at = (unsigned)__builtin_ctzll(differ),                                           \
                 end = 64 - (unsigned)__builtin_clzll(differ);                                     \
        unsigned max = end - at <= MAX_DIGIT ? MAX_DIGIT : DIGIT;                                  \
        for (unsigned bits; at < end; at += bits) {                                                \
            bits = end - at < max ? end - at : max;                                                \
            NAME##_pass(to, from, n, at, bits);                                                    \
            E *swap = from;                                                                        \
            from = to;                                                                             \
            to = swap;                                                                             \
        }                                                                                          \
        return from;                                                                               \
    }

/* ---- parallel sorts ---- */

/*
 * First, entries are distributed to buckets by the highest digit, block by block. Each block counts
 * its entries, so that its positions in every bucket are known: after those of the blocks before.
 * Then the buckets, which fit into a core's caches, are sorted.
 */
enum {
    SHARED_FROM = 1 << 16, /* entries */
    GROUPS = 32,           /* groups of buckets: the tasks of the last step */
    MAX_BLOCKS = 16
};
struct shared_sort {
    void *from, *to;
    int64_t n, block; /* number of entries, in total and in a block */
    unsigned lowest, shift, buckets;
    bool one_digit; /* all bits that differ are in the digit */
    uint64_t differ[MAX_BLOCKS];
    /* for each block and bucket, the next position; finally those of the last block are the
     * buckets' ends */
    uint32_t *places;
};

#define SHARED_SORT_OF(NAME, SORT, E, KEY)                                                         \
    static void NAME##_differ(void *context, int64_t part, int worker)                             \
    {                                                                                              \
        struct shared_sort *s = context;                                                           \
        const E *from = s->from;                                                                   \
        int64_t i = part * s->block, limit = s->n - i < s->block ? s->n : i + s->block;            \
        uint64_t differ = 0;                                                                       \
        for (; i < limit; i++)                                                                     \
            differ |= KEY(from[i]) ^ KEY(from[0]);                                                 \
        s->differ[part] = differ;                                                                  \
    }                                                                                              \
    static void NAME##_count(void *context, int64_t part, int worker)                              \
    {                                                                                              \
        struct shared_sort *s = context;                                                           \
        const E *from = s->from;                                                                   \
        uint32_t mask = s->buckets - 1, *place = s->places + part * s->buckets;                    \
        int64_t i = part * s->block, limit = s->n - i < s->block ? s->n : i + s->block;            \
        memset(place, 0, s->buckets * sizeof *place);                                              \
        for (; i < limit; i++)                                                                     \
            place[KEY(from[i]) >> s->shift & mask]++;                                              \
    }                                                                                              \
    static void NAME##_spread(void *context, int64_t part, int worker)                             \
    {                                                                                              \
        struct shared_sort *s = context;                                                           \
        const E *from = s->from;                                                                   \
        E *to = s->to;                                                                             \
        uint32_t mask = s->buckets - 1, *place = s->places + part * s->buckets;                    \
        int64_t i = part * s->block, limit = s->n - i < s->block ? s->n : i + s->block;            \
        for (; i < limit; i++)                                                                     \
            to[place[KEY(from[i]) >> s->shift & mask]++] = from[i];                                \
    }                                                                                              \
    /* Sorts the buckets that begin in this part's share of the places. */                         \
    static void NAME##_finish(void *context, int64_t part, int worker)                             \
    {                                                                                              \
        const struct shared_sort *s = context;                                                     \
        E *from = s->from, *to = s->to;                                                            \
        const uint32_t *ends = s->places + (block_count(s) - 1) * s->buckets;                      \
        int64_t first = s->n * part / GROUPS, limit = s->n * (part + 1) / GROUPS;                  \
        for (unsigned b = 0; b < s->buckets; b++) {                                                \
            int64_t begin = b > 0 ? ends[b - 1] : 0, n = ends[b] - begin;                          \
            if (n == 0 || begin < first || begin >= limit)                                         \
                continue;                                                                          \
            if (NAME##_sort(to + begin, from + begin, n, s->lowest) != to + begin)                 \
                memcpy(to + begin, from + begin, (size_t)n * sizeof *to);                          \
        }                                                                                          \
    }                                                                                              \
    E *SORT(struct thread_pool *workers, E *from, E *to, int64_t n, unsigned lowest)               \
    {                                                                                              \
        struct shared_sort s = {.from = from, .to = to, .n = n, .lowest = lowest};                 \
        if (n < SHARED_FROM || n > UINT32_MAX)                                                     \
            return NAME##_sort(from, to, n, lowest);                                               \
        set_blocks(&s, workers);                                                                   \
        thread_pool_run(workers, block_count(&s), NAME##_differ, &s);                              \
        if (!choose_digit(&s))                                                                     \
            return NAME##_sort(from, to, n, lowest);                                               \
        thread_pool_run(workers, block_count(&s), NAME##_count, &s);                               \
        add_up_places(&s);                                                                         \
        thread_pool_run(workers, block_count(&s), NAME##_spread, &s);                              \
        if (!s.one_digit)                                                                          \
            thread_pool_run(workers, GROUPS, NAME##_finish, &s);                                   \
        mem_free(s.places);                                                                        \
        return to;                                                                                 \
    }

static int64_t block_count(const struct shared_sort *s) { return ratio_up(s->n, s->block); }

static void set_blocks(struct shared_sort *s, struct thread_pool *workers)
{
    int64_t blocks = thread_pool_size(workers) == 1 ? 1 : 2 * thread_pool_size(workers);
    blocks = blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
    s->block = ratio_up(s->n, blocks);
}

/* Chooses the digit: the highest bits that differ. False: none differ, or out of memory. */
static bool choose_digit(struct shared_sort *s)
{
    uint64_t differ = 0;
    for (int64_t k = 0; k < block_count(s); k++)
        differ |= s->differ[k];
    differ = differ >> s->lowest << s->lowest;
    if (differ == 0)
        return false;
    unsigned end = 64 - (unsigned)__builtin_clzll(differ);
    unsigned first = (unsigned)__builtin_ctzll(differ);
    s->shift = end < first + MAX_DIGIT ? first : end - MAX_DIGIT;
    s->buckets = 1u << (end - s->shift);
    s->one_digit = differ >> s->shift << s->shift == differ;
    s->places = mem_alloc((size_t)(block_count(s) * s->buckets) * sizeof *s->places);
    return s->places != NULL;
}

/* Turns counts into positions. */
static void add_up_places(struct shared_sort *s)
{
    uint32_t sum = 0;
    for (unsigned b = 0; b < s->buckets; b++)
        for (int64_t k = 0; k < block_count(s); k++) {
            uint32_t *place = &s->places[k * s->buckets + b], count = *place;
            *place = sum;
            sum += count;
        }
}

#define WORD_KEY(e) (e)
#define ENTRY_KEY(e) ((e).key)
SORT_OF(word32, uint32_t, WORD_KEY)
SORT_OF(word64, uint64_t, WORD_KEY)
SORT_OF(entry, struct key_entry, ENTRY_KEY)
SHARED_SORT_OF(word32, sort_words32, uint32_t, WORD_KEY)
SHARED_SORT_OF(word64, sort_words64, uint64_t, WORD_KEY)
SHARED_SORT_OF(entry, sort_key_entries, struct key_entry, ENTRY_KEY)
