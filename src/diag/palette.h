/*
 * The colors of messages and of HLO text.
 */
#ifndef HLO_DIAG_PALETTE_H
#define HLO_DIAG_PALETTE_H

#include "diag/diag.h"

/* Parts of HLO text; those of messages come before them. */
enum text_ink {
    INK_ATTRIBUTE = INK_COUNT,
    INK_COMMENT,
    INK_KEYWORD,
    INK_NAME,
    INK_NUMBER,
    INK_OPERATION,
    INK_SHAPE,
    INK_STRING,
    INK_ALL
};
/* Parses `error=1;31:shape=32` into SGR parameters of the first `count` parts, which get defaults
 * otherwise; false if an item is malformed, which is ignored. */
bool colors_read(struct str *sgr, size_t count, struct str text);

#endif
