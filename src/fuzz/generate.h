/*
 * Generates random modules as text, all accepted by the verifier.
 *
 * A module depends only on a seed or on the bytes of a fuzzer: each byte makes one choice, so that
 * a changed byte is a small change of the module.
 */
#ifndef HLO_GENERATE_H
#define HLO_GENERATE_H

#include "base/base.h"

void generate_of_seed(struct buf *out, uint64_t seed);
/* With arrays large enough for several threads to share the work. */
void generate_large_of_seed(struct buf *out, uint64_t seed);
void generate_of_bytes(struct buf *out, const uint8_t *bytes, size_t size);
void generate_large_of_bytes(struct buf *out, const uint8_t *bytes, size_t size);

#endif
