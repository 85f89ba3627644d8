/*
 * plain bitcast-convert: moves bits from one array to the same position in the other.
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"

/* Moves narrow element k of the wide one at `whole` to or from `part`. */
static void move_part(enum dtype wide, char *whole, enum dtype narrow, char *part, int64_t k,
                      bool split)
{
    const unsigned bits = dtype_bits(narrow);
    if (bits >= 8 && narrow != DT_PRED && wide != DT_PRED) {
        char *place = whole + (size_t)k * dtype_bytes(narrow);
        memcpy(split ? part : place, split ? place : part, dtype_bytes(narrow));
        return;
    }
    const enum dtype word = dtype_bytes(wide) > sizeof(uint64_t) ? DT_U64 : wide;
    const unsigned place = (unsigned)k * bits, shift = place % dtype_bits(word);
    whole += place / dtype_bits(word) * dtype_bytes(word);
    if (split)
        bits_store(narrow, part, bits_load(word, whole) >> shift);
    else /* the first part overwrites the whole element */
        bits_store(word, whole,
                   (shift ? bits_load(word, whole) : 0) | bits_load(narrow, part) << shift);
}

/* spec: BitcastConvertType. The array of narrow elements has one more dimension, along which are
 * the parts of a wide element, the lowest bits first. */
void plain_bitcast_convert(struct thread_pool *workers, const struct view *out,
                           const struct view *x)
{
    int64_t i[VIEW_MAX_RANK] = {0};
    const bool split = out->rank > x->rank;
    const struct view *wide = split ? x : out, *narrow = split ? out : x;
    if (view_elements(narrow) == 0)
        return;
    do {
        const int64_t k = narrow->rank > wide->rank ? i[wide->rank] : 0;
        move_part(wide->dtype, view_at(wide, i), narrow->dtype, view_at(narrow, i), k, split);
    } while (index_next(narrow->rank, narrow->dims, i));
}
