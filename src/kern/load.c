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

/* Apart from loader_read() and loader_write(), since the sanitizer of addresses takes time for a
 * large array in each call. */
__attribute__((noinline)) static void convert_strided(const struct loader *l, void *out,
                                                      const char *x, int64_t stride, int64_t n)
{
    char packed[LOADER_BYTES] __attribute__((aligned(64)));
    kern_pack(packed, x, stride, l->from, n);
    l->convert(out, (const void *const[]){packed}, n);
}

__attribute__((noinline)) static void convert_to_strided(const struct loader *l, char *out,
                                                         int64_t stride, const void *x, int64_t n)
{
    char packed[LOADER_BYTES] __attribute__((aligned(64)));
    l->convert(packed, &x, n);
    kern_unpack(out, stride, packed, l->to, n);
}

const void *loader_read(const struct loader *l, void *scratch, const char *src, int64_t stride,
                        int64_t n)
{
    const bool dense = stride == (int64_t)l->from || n == 1;
    if (!l->convert && dense)
        return src;
    if (!l->convert)
        kern_pack(scratch, src, stride, l->from, n);
    else if (dense)
        l->convert(scratch, (const void *const[]){src}, n);
    else
        convert_strided(l, scratch, src, stride, n);
    return scratch;
}

void loader_write(const struct loader *l, char *dst, int64_t stride, const void *src, int64_t n)
{
    const bool dense = stride == (int64_t)l->to || n == 1;
    if (!l->convert)
        kern_unpack(dst, stride, src, l->to, n);
    else if (dense)
        l->convert(dst, &src, n);
    else
        convert_to_strided(l, dst, stride, src, n);
}

void kern_convert_view(struct thread_pool *workers, const struct view *out, const struct view *x)
{
    if (out->dtype == x->dtype)
        kern_copy(workers, out, x);
    else
        kern_map_tiles(workers, kern_find_convert(out->dtype, x->dtype), out, 1, x);
}
