/*
 * rng.c: random bits, the same as plain/rng.c's, by blocks made many at a time.
 *
 * A block's words lie one behind the other in a result of 32-bit elements, and in one of 64-bit elements too,
 * so both are written in place; narrower elements keep the low bits of a word each.
 * spec: RngBitGenerator (hlo-values 14.1)
 */
#include "kern/rng.h"
#include "kern/tile.h"

enum { BLOCKS = 256, WORDS = 4 * BLOCKS };

/* `n` words as elements from number `first` on, or as the halves of elements of 64 bits. */
static void put_words(const struct view *out, int64_t first, const uint32_t *words, int64_t n)
{
    const size_t width = dtype_bytes(out->dtype);
    char *at = out->data + (size_t)first * (width < 4 ? width : 4);
    if (width >= 4) {
        memcpy(at, words, (size_t)n * 4);
        return;
    }
    const uint32_t kept = out->dtype == DT_PRED ? 1 : UINT32_MAX;
    for (int64_t i = 0; i < n; i++)
        bits_store(out->dtype, at + (size_t)i * width, words[i] & kept);
}

static int64_t words_of(const struct view *out)
{
    return view_elements(out) * (dtype_bits(out->dtype) > 32 ? 2 : 1);
}

static uint64_t philox_bits(const struct view *out, const uint64_t *state, uint64_t hi)
{
    const struct tile_set *set = tile_set();
    const int64_t n = words_of(out), blocks = n / 4 + (n % 4 != 0);
    uint32_t words[WORDS];
    for (int64_t at = 0; at < blocks; at += BLOCKS) {
        const int64_t some = blocks - at < BLOCKS ? blocks - at : BLOCKS, left = n - 4 * at;
        set->philox(state[0], state[1], hi, (uint64_t)at, some, words);
        put_words(out, 4 * at, words, left < 4 * some ? left : 4 * some);
    }
    return (uint64_t)blocks;
}

static uint64_t threefry_pairs(const struct view *out, uint64_t key, uint64_t counter)
{
    const struct tile_set *set = tile_set();
    const int64_t blocks = words_of(out) / 2;
    uint32_t words[WORDS];
    for (int64_t at = 0; at < blocks; at += WORDS / 2) {
        const int64_t some = blocks - at < WORDS / 2 ? blocks - at : WORDS / 2;
        set->threefry_pairs(key, counter + (uint64_t)at, some, words);
        put_words(out, 2 * at, words, 2 * some);
    }
    return (uint64_t)blocks;
}

/* Along the split dimension two rows of `inner` elements belong together: the first words of as many blocks,
 * and the second ones, which fall away behind an odd end. */
static uint64_t threefry_rows(const struct view *out, int split, uint64_t key, uint64_t counter)
{
    const struct tile_set *set = tile_set();
    const int64_t length = out->dims[split], pairs = (length + 1) / 2;
    int64_t inner = 1, blocks = pairs;
    for (int d = 0; d < out->rank; d++) {
        inner *= d > split ? out->dims[d] : 1;
        blocks *= d != split ? out->dims[d] : 1;
    }
    uint32_t first[BLOCKS], second[BLOCKS];
    for (int64_t at = 0; at < blocks; at += BLOCKS) {
        const int64_t some = blocks - at < BLOCKS ? blocks - at : BLOCKS;
        set->threefry_rows(key, counter + (uint64_t)at, some, first, second);
        for (int64_t done = 0, run; done < some; done += run) {
            const int64_t pair = (at + done) / inner, column = (at + done) % inner;
            const int64_t row = pair / pairs * length + 2 * (pair % pairs);
            run = inner - column < some - done ? inner - column : some - done;
            put_words(out, row * inner + column, first + done, run);
            if (2 * (pair % pairs) + 1 < length)
                put_words(out, (row + 1) * inner + column, second + done, run);
        }
    }
    return (uint64_t)blocks;
}

static uint64_t threefry_bits(const struct view *out, uint64_t key, uint64_t counter)
{
    const int split = rng_split_dimension(out);
    if (view_elements(out) == 0)
        return 0;
    if (dtype_bits(out->dtype) > 32)
        return threefry_pairs(out, key, counter);
    if (out->rank == 0) {
        put_words(out, 0, rng_threefry(key, counter).w, 1);
        return 1;
    }
    const bool innermost = split == out->rank - 1 && out->dims[split] % 2 == 0;
    return innermost ? threefry_pairs(out, key, counter) : threefry_rows(out, split, key, counter);
}

void kern_rng_bits(struct team *team, const struct view *out, enum kern_rng algorithm, const uint64_t *state, int words,
                   uint64_t *next)
{
    next[0] = state[0];
    if (algorithm == KERN_THREE_FRY) {
        next[1] = state[1] + threefry_bits(out, state[0], state[1]);
        return;
    }
    const uint64_t hi = words == 3 ? state[2] : state[0], lo = state[1];
    next[1] = lo + philox_bits(out, state, hi);
    if (words == 3)
        next[2] = hi + (next[1] < lo ? 1 : 0);
}
