/*
 * Writes random modules: `generate SEED` one to standard output, `generate SEED COUNT DIRECTORY` a
 * file for each of COUNT seeds.
 */
#include "fuzz/generate.h"

#include <stdio.h>
#include <stdlib.h>

static bool write_one(uint64_t seed, const char *directory)
{
    struct buf text = {0}, path = {0};
    generate_of_seed(&text, seed);
    buf_printf(&path, "%s/g%" PRIu64 ".hlo", directory ? directory : ".", seed);
    FILE *f = directory ? fopen(path.data, "w") : stdout;
    bool ok = f && fwrite(text.data, 1, text.size, f) == text.size;
    if (f && directory)
        ok &= fclose(f) == 0;
    buf_free(&text);
    buf_free(&path);
    return ok;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
             count = argc > 3 ? strtoull(argv[2], NULL, 10) : 1;
    for (uint64_t k = 0; k < count; k++)
        if (!write_one(seed + k, argc > 3 ? argv[3] : NULL))
            return 1;
    return 0;
}
