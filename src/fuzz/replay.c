/*
 * Runs a fuzz target on every file below a directory and prints TAP: inputs of former bugs serve
 * as regression tests.
 */
#include "base/base.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(struct arena *a, const char *path, unsigned *count)
{
    struct stat st;
    struct file_bytes bytes;
    struct dirent **entries = NULL;
    if (stat(path, &st) != 0)
        return;
    if (S_ISDIR(st.st_mode)) {
        int n = scandir(path, &entries, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            if (entries[i]->d_name[0] != '.')
                replay(a, arena_printf(a, "%s/%s", path, entries[i]->d_name).ptr, count);
            free(entries[i]);
        }
        free(entries);
        return;
    }
    if (!file_read(path, &bytes))
        return;
    LLVMFuzzerTestOneInput((const uint8_t *)bytes.data, bytes.size);
    file_release(&bytes);
    printf("ok %u - %s\n", ++*count, path);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct arena a;
    unsigned count = 0;
    arena_init(&a);
    for (int i = 1; i < argc; i++)
        replay(&a, argv[i], &count);
    printf("1..%u\n", count);
    arena_free(&a);
    return count == 0;
}
