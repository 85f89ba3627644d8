/*
 * highlight: HLO text in color.
 */
#ifndef HLO_TEXT_HIGHLIGHT_H
#define HLO_TEXT_HIGHLIGHT_H

#include "base/base.h"

/* Appends HLO text, complete or not, in colors such as "shape=32:string=31". */
void text_highlight(struct buf *out, struct str text, struct str colors);

#endif
