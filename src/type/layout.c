/*
 * layout.c: layouts: defaults, validation, equality, text.
 */
#include "type/type.h"

enum { SHARED_RANK = 8 };

static const int64_t descending[SHARED_RANK] = {7, 6, 5, 4, 3, 2, 1, 0};

#define DESCENDING(n)                                                                              \
    {                                                                                              \
        .rank = (n), .minor_to_major = descending + SHARED_RANK - (n), .tail_padding = 1,          \
        .index_type = DT_COUNT, .pointer_type = DT_COUNT                                           \
    }
static const struct layout shared[SHARED_RANK + 1] = {
    DESCENDING(0), DESCENDING(1), DESCENDING(2), DESCENDING(3), DESCENDING(4),
    DESCENDING(5), DESCENDING(6), DESCENDING(7), DESCENDING(8),
};

const struct layout *layout_default(struct arena *a, int rank)
{
    if (rank <= SHARED_RANK)
        return &shared[rank];
    struct layout *l = arena_copy(a, &shared[0], sizeof *l);
    int64_t *order = ARENA_ARRAY(a, int64_t, rank);
    for (int i = 0; i < rank; i++)
        order[i] = rank - 1 - i;
    l->rank = rank;
    l->minor_to_major = order;
    return l;
}

bool layout_is_descending(const struct layout *l)
{
    for (int i = 0; i < l->rank; i++)
        if (l->minor_to_major[i] != l->rank - 1 - i)
            return false;
    return true;
}

/* Whether only the order of dimensions is specified. */
static bool is_plain(const struct layout *l)
{
    return l->tile_count == 0 && l->tail_padding == 1 && l->index_type == DT_COUNT &&
           l->pointer_type == DT_COUNT && l->element_bits == 0 && l->memory_space == 0 &&
           l->split_count == 0 && l->metadata_prefix == 0;
}

bool layout_is_default(const struct layout *l) { return is_plain(l) && layout_is_descending(l); }

/* ---- validation ---- */

bool ints_are_permutation(int n, const int64_t *order)
{
    bool few[64] = {false};
    SCOPED_ARENA many = arena_make(); /* ranks above 64 occur in adversarial text only */
    bool *seen = n <= 64 ? few : ARENA_ARRAY(&many, bool, n);
    int i = 0;
    for (; i < n && order[i] >= 0 && order[i] < n && !seen[order[i]]; i++)
        seen[order[i]] = true;
    return i == n;
}

static const char *tile_problem(const struct tile *tile)
{
    if (tile->rank == 0)
        return "tile without sizes";
    for (int i = 0; i < tile->rank; i++)
        if (tile->dims[i] <= 0 && tile->dims[i] != TILE_COMBINE)
            return "tile size must be positive";
    return NULL;
}

/* Split dimensions are numbered from the most major one, as in XLA, which checks the split indices
 * against the size of that dimension. */
static const char *split_problem(const struct layout *l, int i, const struct shape *s)
{
    const struct split_config *split = &l->splits[i];
    if (split->dimension < 0 || split->dimension >= s->rank)
        return "split dimension out of range";
    for (int k = 0; k < i; k++)
        if (l->splits[k].dimension == split->dimension)
            return "dimension split twice";
    int64_t size = s->dims[l->minor_to_major[s->rank - 1 - split->dimension]], previous = 0;
    for (int k = 0; k < split->count; k++) {
        if (split->indices[k] <= previous)
            return "split indices must be positive and increasing";
        if (split->indices[k] >= size && size != DIM_UNBOUNDED)
            return "split index must be less than the size of its dimension";
        previous = split->indices[k];
    }
    return NULL;
}

const char *layout_problem(const struct layout *l, const struct shape *s)
{
    const char *problem = NULL;
    if (l->rank != s->rank)
        return "number of entries differs from the rank";
    if (!ints_are_permutation(l->rank, l->minor_to_major))
        return "minor-to-major list is not a permutation of the dimensions";
    for (int i = 0; i < l->tile_count && !problem; i++)
        problem = tile_problem(&l->tiles[i]);
    for (int i = 0; i < l->split_count && !problem; i++)
        problem = split_problem(l, i, s);
    if (problem)
        return problem;
    if (l->index_type != DT_COUNT || l->pointer_type != DT_COUNT)
        return "index or pointer type in a dense layout";
    if (l->element_bits < 0)
        return "element size must not be negative";
    return NULL;
}

/* ---- equality ---- */

static bool ints_equal(int n, const int64_t *a, const int64_t *b)
{
    return n == 0 || a == b || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

static bool tiles_equal(const struct layout *a, const struct layout *b)
{
    if (a->tile_count != b->tile_count)
        return false;
    for (int i = 0; i < a->tile_count; i++) {
        const struct tile *x = &a->tiles[i], *y = &b->tiles[i];
        if (x->rank != y->rank || !ints_equal(x->rank, x->dims, y->dims))
            return false;
    }
    return true;
}

static bool splits_equal(const struct layout *a, const struct layout *b)
{
    if (a->split_count != b->split_count)
        return false;
    for (int i = 0; i < a->split_count; i++) {
        const struct split_config *x = &a->splits[i], *y = &b->splits[i];
        if (x->dimension != y->dimension || x->count != y->count ||
            !ints_equal(x->count, x->indices, y->indices))
            return false;
    }
    return true;
}

bool layout_equal(const struct layout *a, const struct layout *b, unsigned ignore)
{
    if (a == b || (ignore & IGNORE_LAYOUT))
        return true;
    return a->rank == b->rank && ints_equal(a->rank, a->minor_to_major, b->minor_to_major) &&
           a->index_type == b->index_type && a->pointer_type == b->pointer_type &&
           a->metadata_prefix == b->metadata_prefix &&
           ((ignore & IGNORE_TILES) || tiles_equal(a, b)) &&
           ((ignore & IGNORE_TAIL_PADDING) || a->tail_padding == b->tail_padding) &&
           ((ignore & IGNORE_ELEMENT_BITS) || a->element_bits == b->element_bits) &&
           ((ignore & IGNORE_MEMORY_SPACE) || a->memory_space == b->memory_space) &&
           ((ignore & IGNORE_SPLITS) || splits_equal(a, b));
}

/* ---- text ---- */

static void put_ints(struct buf *out, int n, const int64_t *at, bool stars)
{
    for (int i = 0; BUF_LIST(out, i, n, stars ? "()" : "", ","); i++)
        if (stars && at[i] == TILE_COMBINE)
            buf_putc(out, '*');
        else
            buf_int(out, at[i]);
}

static void put_number(struct buf *out, const char *letter, int64_t v)
{
    buf_puts(out, letter);
    buf_putc(out, '(');
    buf_int(out, v);
    buf_putc(out, ')');
}

static void put_type(struct buf *out, char sign, enum dtype t)
{
    if (t != DT_COUNT)
        buf_printf(out, "%c(%s)", sign, t == DT_TUPLE ? "invalid" : dtype_spelling(t));
}

static void put_tiles(struct buf *out, const struct layout *l)
{
    if (l->tile_count)
        buf_putc(out, 'T');
    for (int i = 0; i < l->tile_count; i++)
        put_ints(out, l->tiles[i].rank, l->tiles[i].dims, true);
}

static void put_splits(struct buf *out, const struct layout *l)
{
    if (l->split_count)
        buf_puts(out, "SC");
    for (int i = 0; i < l->split_count; i++) {
        buf_putc(out, '(');
        buf_int(out, l->splits[i].dimension);
        buf_putc(out, ':');
        put_ints(out, l->splits[i].count, l->splits[i].indices, false);
        buf_putc(out, ')');
    }
}

void layout_print(struct buf *out, const struct layout *l)
{
    buf_putc(out, '{');
    put_ints(out, l->rank, l->minor_to_major, false);
    size_t before = out->size;
    buf_putc(out, ':');
    put_tiles(out, l);
    if (l->tail_padding != 1)
        put_number(out, "L", l->tail_padding);
    put_type(out, '#', l->index_type);
    put_type(out, '*', l->pointer_type);
    if (l->element_bits)
        put_number(out, "E", l->element_bits);
    if (l->memory_space)
        put_number(out, "S", l->memory_space);
    put_splits(out, l);
    if (l->metadata_prefix > 0)
        put_number(out, "M", l->metadata_prefix);
    if (out->size == before + 1)
        out->size = before; /* no attribute followed the colon */
    buf_putc(out, '}');
}
