/*
 * For targets that run code that prints, or reads and writes files by name: an empty directory and
 * silenced output.
 */
#ifndef HLO_FUZZ_SANDBOX_H
#define HLO_FUZZ_SANDBOX_H

#include "base/base.h"

/* Enters the directory, once per input, and leaves it, which removes all files in it. */
void sandbox_enter(void);
void sandbox_leave(void);
/* Creates a file in the directory. */
void sandbox_file(const char *name, struct str bytes);

/* Removes and returns the bytes up to the first `mark`, or all of them without a mark; the mark
 * is removed too. */
struct str cut_input(struct str *rest, char mark);
/* A NUL-terminated copy, to be freed. Bytes after a NUL are lost. */
char *copy_text(struct str s);

#endif
