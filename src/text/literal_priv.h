/*
 * Private to the parsing of literals: its state, and the storing of elements.
 */
#ifndef HLO_TEXT_LITERAL_PRIV_H
#define HLO_TEXT_LITERAL_PRIV_H

#include "text/text_priv.h"

/* State of an array literal. Storage is allocated at the first value, since `{...}` may have any
 * size. */
struct literal_reader {
    struct parser *p;
    const struct shape *shape;
    enum dtype dtype;
    int rank, depth;
    int64_t *seen;     /* number of values or rows so far, by dimension */
    int64_t at, total; /* index of the next element, number of elements */
    struct literal *literal;
    char *data;
    bool elided;
    bool json;    /* in brackets, not in braces */
    bool ignored; /* a count was wrong where XLA accepts that */
    struct span ignored_span;
};

/* ---- literal_scan.c ---- */

/* Encodes a value as an element of type `t`; false if it is out of range. */
bool literal_encode_int(enum dtype t, int64_t v, uint64_t *code);
/* The same; the range is checked after rounding if the rounded value is finite. */
bool literal_encode_float(enum dtype t, double v, uint64_t *code);
/* Stores the bits of an element of 1, 2, 4 or 8 bytes. */
void literal_store_bits(void *at, size_t bytes, uint64_t code);
/* Scans plain numbers; afterwards the current token is the one after them. */
void literal_scan(struct literal_reader *r);

#endif
