/*
 * mapped.h: files mapped into memory, without a copy. Another program may change them at any time,
 * so this is for arrays, whose elements may be anything, and never for what is looked at twice.
 * What happens when such a file gets shorter: see hlo_guard_mapped_files.
 */
#ifndef HLO_BASE_MAPPED_H
#define HLO_BASE_MAPPED_H

#include "base/base.h"

/* As file_read, but a large regular file is mapped. */
bool file_map(const char *path, struct file_bytes *out);

#endif
