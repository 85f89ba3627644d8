/*
 * pager: long output on a terminal, one screen at a time.
 */
#ifndef HLO_REPL_PAGER_H
#define HLO_REPL_PAGER_H

#include <stdbool.h>
#include <stddef.h>

bool terminal_is_dumb(void); /* TERM=dumb: without colors and cursor movement */

/* Starts the pager: HLO_PAGER, PAGER or less. Returns the descriptor of its standard input, and its
 * process, for which the caller waits; -1: output is not to be paged. */
int pager_open(int *process);
/* Waits until the user leaves the pager. */
void pager_wait(int process);
/* Writes text to standard output, through the pager if it has more lines than the screen. */
void pager_show(const char *text, size_t size);

#endif
