/*
 * Fuzz target: any bytes as an .npz archive, a .npy file and a safetensors file, whose arrays are
 * copied or mapped.
 */
#include "io/io.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads every byte, so that sanitizers detect invalid ones. */
static void keep_or_drop(struct literal *l)
{
    int64_t bytes;
    if (!l)
        return;
    if (l->data && shape_bytes(l->shape, &bytes) && bytes > 0 &&
        memchr(l->data, -1, (size_t)bytes) == (char *)l->data + bytes)
        abort();
    literal_free_data(l);
}

static void unused(struct owner *o) { o->release = NULL; }

static void read_all(struct arena *a, struct diags *ds, struct str bytes, struct owner *owner)
{
    struct npz z;
    struct io_safetensors t;
    const struct shape *bf16 = shape_array(a, DT_BF16, 1, (int64_t[]){2}, NULL, NULL);
    keep_or_drop(io_npy_decode(ds, a, bytes, owner, NULL, STR("it")));
    keep_or_drop(io_npy_decode(ds, a, bytes, owner, bf16, STR("it")));
    keep_or_drop(io_raw_decode(ds, a, bytes, owner, bf16, STR("it")));
    if (io_npz_open(ds, a, bytes, &z)) {
        z.owner = owner;
        for (size_t i = 0; i < z.count && i < 16; i++)
            keep_or_drop(io_npz_get(ds, a, &z, z.entries[i].name, NULL, STR("it")));
    }
    if (io_safetensors_open(ds, a, bytes, &t)) {
        t.owner = owner;
        for (size_t i = 0; i < t.header.count && i < 16; i++)
            if (io_safetensors_has(&t, t.header.items[i].name))
                keep_or_drop(
                    io_safetensors_get(ds, a, &t, t.header.items[i].name, NULL, STR("it")));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, size};
    struct arena a;
    struct diags ds;
    struct owner owner;
    arena_init(&a);
    diags_init(&ds, NULL);
    owner_init(&owner, unused);
    read_all(&a, &ds, bytes, NULL);
    read_all(&a, &ds, bytes, &owner);
    owner_drop(&owner);
    if (owner.release) /* still referenced */
        abort();
    diags_free(&ds);
    arena_free(&a);
    return 0;
}
