/*
 * For targets that run code which prints, or reads and writes files by name: an empty folder of
 * their own, and silence.
 */
#ifndef HLO_FUZZ_ROOM_H
#define HLO_FUZZ_ROOM_H

#include "base/base.h"

/* Enters the folder, once per input, and leaves it, which removes all files there. */
void room_enter(void);
void room_leave(void);
/* Makes a file in the folder. */
void room_file(const char *name, struct str bytes);

/* Cuts off the bytes up to the first `mark` and the mark; all of them if there is none. */
struct str room_cut(struct str *rest, char mark);
/* A copy that ends in NUL, like words of a command line; to be freed. Bytes behind a NUL are lost.
 */
char *room_text(struct str s);

#endif
