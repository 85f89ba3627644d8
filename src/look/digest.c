/*
 * A 128-bit digest of a value, to test bitwise equality without keeping the values.
 *
 * It consists of two chains of 128-bit multiplications with folded halves, as in wyhash. It is not
 * collision-resistant against adversaries.
 */
#include "base/wide.h"
#include "look/look.h"

static const uint64_t SEED[4] = {UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db),
                                 UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3)};

static uint64_t word_at(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void take_words(uint64_t d[2], const char *p)
{
    d[0] = mul_fold(word_at(p) ^ SEED[0], word_at(p + 8) ^ d[0] ^ SEED[1]);
    d[1] = mul_fold(word_at(p + 16) ^ SEED[2], word_at(p + 24) ^ d[1] ^ SEED[3]);
}

static void take_bytes(uint64_t d[2], const void *bytes, size_t size)
{
    const char *p = bytes;
    char rest[32] = {0};
    size_t at = 0;
    for (; size - at >= sizeof rest; at += sizeof rest)
        take_words(d, p + at);
    if (size > at)
        memcpy(rest, p + at, size - at);
    take_words(d, rest);
    d[0] = mul_fold(d[0] ^ size, d[1] ^ SEED[0]);
    d[1] = mul_fold(d[1] ^ SEED[1], d[0] ^ SEED[2]);
}

void look_digest(const struct literal *l, uint64_t d[2])
{
    const struct shape *s = l->shape;
    int64_t size = 0, header[2] = {s->dtype, shape_is_tuple(s) ? s->count : 0};
    take_bytes(d, header, sizeof header);
    for (int i = 0; shape_is_tuple(s) && i < s->count; i++)
        look_digest(l->elements[i], d);
    if (!shape_is_array(s))
        return;
    if (shape_bytes(s, &size))
        take_bytes(d, l->data, (size_t)size);
}
