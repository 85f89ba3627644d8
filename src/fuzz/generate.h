/*
 * generate: random modules that the verifier takes, as text.
 *
 * What comes out depends on nothing but what is given: a seed, or the bytes of a fuzzer, each of
 * which decides something, so that a changed byte is a small change of the module.
 */
#ifndef HLO_GENERATE_H
#define HLO_GENERATE_H

#include "base/base.h"

void generate_of_seed(struct buf *out, uint64_t seed);
/* Of arrays large enough for several threads to share their work. */
void generate_large_of_seed(struct buf *out, uint64_t seed);
void generate_of_bytes(struct buf *out, const uint8_t *bytes, size_t size);
void generate_large_of_bytes(struct buf *out, const uint8_t *bytes, size_t size);

#endif
