/*
 * random: streams of random numbers that any tool can reproduce. They make up arguments and the
 * values of elided constants; the operations of HLO have generators of their own (rng.h).
 *
 * Word i of stream k of a seed is splitmix64 of the key (seed * 1000003 + k) * 0xD1342543DE82EF95,
 * at position i. f32 maps its top 24 bits to [-1, 1), f64 53 bits, narrower floats are rounded from
 * f32, complex uses words 2i and 2i+1, integers are 0 to 4, pred is the top bit. After 2^22
 * elements the first 2^22 repeat.
 */
#ifndef HLO_KERN_RANDOM_H
#define HLO_KERN_RANDOM_H

#include "type/type.h"

struct random_stream {
    uint64_t key;
    bool ranged; /* numbers from lo to hi, instead of the range above */
    double lo, hi;
};

struct random_stream random_stream(uint64_t seed, uint64_t number);
/* Words at, at + 1, ... of a key. */
void random_words(uint64_t *u, uint64_t key, uint64_t at, size_t n);
/* Stores the low bits of each word as elements of an integer type. */
void random_put_integers(enum dtype t, void *out, const uint64_t *u, size_t n);
/* Generates the first n elements of a stream. */
void random_fill(const struct random_stream *r, enum dtype t, void *out, size_t n);

#endif
