/*
 * sort: keys, which are unsigned numbers in the order of the elements, and stable sorts of them.
 * Private to kern.
 */
#ifndef HLO_KERN_SORT_H
#define HLO_KERN_SORT_H

#include "kern/nest.h"

/* How elements of a type are mapped to keys. Floats that are equal in partial order have the same
 * key: all zeros, and here also all NaNs, which come last, or first when the greatest element comes
 * first. */
struct key_rule {
    enum dtype type;
    size_t width;    /* of an element, in bytes; keys have the same width */
    bool is_float;   /* of 16 bits and more */
    bool one_to_one; /* different elements have different keys */
    uint64_t sign, all, flip;
    uint64_t max;  /* greatest magnitude that is no NaN; all ones if NaNs are ordered as well */
    uint64_t zero; /* the significant bits of a zero */
    uint8_t table[256]; /* keys of elements of one byte */
};
void key_rule_init(struct key_rule *r, enum dtype t, bool total_order, bool descending);
/* Makes the keys of n <= KERN_LANES elements that are `stride` bytes apart. */
void keys_make(const struct key_rule *r, uint64_t *keys, const char *x, int64_t stride, int64_t n);
/* An element with this key; for integers, and other types of 16 bits and more. */
uint64_t key_element(const struct key_rule *r, uint64_t key);

/* A key and the index of its element; keys of up to 32 bits are packed with the index into one
 * word, with the key in the high half. */
struct key_entry {
    uint64_t key, index;
};
enum { PACKED_KEY = 32 };

/* Sort n entries, with workspace for as many more; return which of the two buffers has the result.
 * By bits below `lowest`, words are in order already. */
uint32_t *sort_words32(struct thread_pool *workers, uint32_t *e, uint32_t *scratch, int64_t n,
                       unsigned lowest);
uint64_t *sort_words64(struct thread_pool *workers, uint64_t *e, uint64_t *scratch, int64_t n,
                       unsigned lowest);
struct key_entry *sort_key_entries(struct thread_pool *workers, struct key_entry *e,
                                   struct key_entry *scratch, int64_t n, unsigned lowest);

#endif
