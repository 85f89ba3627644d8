/*
 * Amounts with units, for people.
 */
#ifndef HLO_BASE_UNITS_H
#define HLO_BASE_UNITS_H

#include "base/base.h"

/* Appends "320 B"; from 10 KiB on "48.0 KiB", "1.5 GiB". */
void buf_byte_size(struct buf *out, uint64_t bytes);
/* Appends a time in eleven columns: "  12.345 us", "     610 ns". */
void buf_seconds(struct buf *out, double s);
/* Appends an amount in multiples of 10^9: "12.3", "0.0041". */
void buf_giga(struct buf *out, double amount);

#endif
