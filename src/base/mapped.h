/*
 * mapped.h: files mapped into memory without a copy. Another program may modify them at any time,
 * so mapping is only for arrays, whose elements may have any value, and not for data that is
 * examined twice. If a mapped file is truncated: see hlo_guard_mapped_files.
 */
#ifndef HLO_BASE_MAPPED_H
#define HLO_BASE_MAPPED_H

#include "base/base.h"

/* Like file_read, but a large regular file is mapped. */
bool file_map(const char *path, struct file_bytes *out);

#endif
