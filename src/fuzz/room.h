/*
 * Where a target runs code that prints, or reads and writes files by name: in an empty folder of its own, and nobody hears it.
 */
#ifndef HLO_FUZZ_ROOM_H
#define HLO_FUZZ_ROOM_H

#include "base/base.h"

/* Goes there, once per input, and back; what was left there is gone then. */
void room_enter(void);
void room_leave(void);
/* Makes a file there. */
void room_file(const char *name, struct str bytes);

/* The bytes up to the first `mark`, which is taken away with them; all of them where there is none. */
struct str room_cut(struct str *rest, char mark);
/* Text that ends in a NUL, as the command line has it: of bytes with a NUL in them what is before it. To be freed. */
char *room_text(struct str s);

#endif
