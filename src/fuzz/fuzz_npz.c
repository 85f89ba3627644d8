/*
 * Fuzz target: any bytes as a .npz archive, as a .npy file and as safetensors.
 */
#include "io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void keep_or_drop(struct literal *l)
{
    if (l)
        literal_free_data(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    struct arena a;
    struct diags ds;
    struct npz z;
    struct io_safetensors t;
    arena_init(&a);
    diags_init(&ds, NULL);
    const struct shape *bf16 = shape_array(&a, DT_BF16, 1, (int64_t[]){2}, NULL, NULL);
    keep_or_drop(io_npy_decode(&ds, &a, bytes, NULL, NULL, STR("it")));
    keep_or_drop(io_npy_decode(&ds, &a, bytes, NULL, bf16, STR("it")));
    if (io_npz_open(&ds, &a, bytes, &z))
        for (size_t i = 0; i < z.count && i < 16; i++)
            keep_or_drop(io_npz_get(&ds, &a, &z, z.entries[i].name, NULL, STR("it")));
    if (io_safetensors_open(&ds, &a, bytes, &t))
        for (size_t i = 0; i < t.header.count && i < 16; i++)
            keep_or_drop(io_safetensors_get(&ds, &a, &t, t.header.items[i].name, NULL, STR("it")));
    diags_free(&ds);
    arena_free(&a);
    return 0;
}
