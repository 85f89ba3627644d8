/*
 * digits.h: floats as text that reads back as the same value.
 */
#ifndef HLO_BASE_DIGITS_H
#define HLO_BASE_DIGITS_H

#include "base/base.h"

/* Formats a finite double as %.15g does if that reads back as the same double, otherwise as %.17g
 * does; with `single` a float, with 6 or 9 digits. `out` has NUM_EXACT_SIZE bytes, the result no
 * NUL. Returns the length. */
enum { NUM_EXACT_SIZE = 32 };
size_t num_format_exact(char *out, double v, bool single);

extern const char num_digit_pairs[201]; /* 000102 ... 99 */

#endif
