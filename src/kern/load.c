/*
 * load.c: reads and writes elements as another type, a tile at a time (spec: ConvertElementType, as
 * used within dot, convolution and reductions).
 */
#include "kern/nest.h"

bool loader_init_by(const struct kern_tiles *tiles, struct loader *l, enum dtype to,
                    enum dtype from)
{
    l->from = dtype_bytes(from);
    l->to = dtype_bytes(to);
    l->convert = to == from ? NULL : tiles->convert(to, from);
    return to == from || l->convert;
}

bool loader_init(struct loader *l, enum dtype to, enum dtype from)
{
    return loader_init_by(to == from ? NULL : kern_tiles(), l, to, from);
}

const void *loader_read(const struct loader *l, void *scratch, const char *src, int64_t stride,
                        int64_t n)
{
    char packed[LOADER_BYTES] __attribute__((aligned(64)));
    const void *from = src;
    bool dense = stride == (int64_t)l->from || n == 1;
    if (!l->convert) {
        if (dense)
            return src;
        kern_pack(scratch, src, stride, l->from, n);
        return scratch;
    }
    if (!dense) {
        kern_pack(packed, src, stride, l->from, n);
        from = packed;
    }
    l->convert(scratch, &from, n);
    return scratch;
}

void loader_write(const struct loader *l, char *dst, int64_t stride, const void *src, int64_t n)
{
    char packed[LOADER_BYTES] __attribute__((aligned(64)));
    bool dense = stride == (int64_t)l->to || n == 1;
    if (l->convert) {
        l->convert(dense ? (void *)dst : packed, &src, n);
        src = packed;
        if (dense)
            return;
    }
    kern_unpack(dst, stride, src, l->to, n);
}

void kern_convert_view(struct thread_pool *workers, const struct view *out, const struct view *x)
{
    if (out->dtype == x->dtype)
        kern_copy(workers, out, x);
    else
        kern_map_tiles(workers, kern_find_convert(out->dtype, x->dtype), out, 1, x);
}
