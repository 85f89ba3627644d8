/*
 * gzip.c: files compressed by gzip.
 */
#include "io/io.h"

#include <zlib.h>

/* Memory of zlib is released if memory runs out. */
static voidpf zlib_alloc(voidpf context, uInt count, uInt size)
{
    (void)context;
    return heap_zalloc(count, size);
}

static void zlib_free(voidpf context, voidpf block)
{
    (void)context;
    heap_free(block);
}

/* ---- reading ---- */

bool io_is_gzip(struct str bytes)
{
    return bytes.len > 2 && memcmp(bytes.ptr, "\x1f\x8b\x08", 3) == 0;
}

/* Text compresses to about a tenth, a repetitive constant further. A small file that would
 * decompress to far more is rejected before it fills the memory. */
static bool is_decompression_bomb(size_t packed, size_t size)
{
    enum { ANY_RATIO_UP_TO = 64 << 20, MAX_RATIO = 200 };
    return size > ANY_RATIO_UP_TO && size / MAX_RATIO > packed;
}

const char *io_gunzip(struct str bytes, struct buf *out)
{
    enum { PIECE = 1 << 16 };
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)bytes.ptr, .zalloc = zlib_alloc, .zfree = zlib_free};
    size_t left = bytes.len;
    if (inflateInit2(&z, MAX_WBITS + 16) != Z_OK)
        return "incompatible version of zlib";
    int status = Z_OK;
    while (status == Z_OK && out->size < UINT32_MAX &&
           !is_decompression_bomb(bytes.len, out->size)) {
        if (z.avail_in == 0) {
            z.avail_in = left < 1u << 30 ? (uInt)left : 1u << 30;
            left -= z.avail_in;
        }
        buf_reserve(out, PIECE);
        z.next_out = (Bytef *)out->data + out->size;
        z.avail_out = PIECE;
        status = inflate(&z, Z_NO_FLUSH);
        out->size += PIECE - z.avail_out;
        if (status == Z_STREAM_END && z.avail_in > 1) /* another member */
            status = inflateReset(&z);
    }
    inflateEnd(&z);
    if (is_decompression_bomb(bytes.len, out->size))
        return "compression ratio exceeds 200";
    return status == Z_STREAM_END || out->size >= UINT32_MAX ? NULL : "corrupt or truncated";
}

/* ---- writing ---- */

struct io_stream {
    struct io_output *to;
    bool gzip;
    z_stream z;
    Bytef buffer[1 << 16];
};

struct io_stream *io_stream_open(struct diags *ds, const char *path, bool gzip)
{
    struct io_stream *s = heap_zalloc(1, sizeof *s);
    s->gzip = gzip;
    s->z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free};
    s->to = io_output_open(ds, path);
    if (s->to && (!gzip || deflateInit2(&s->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                                        Z_DEFAULT_STRATEGY) == Z_OK))
        return s;
    if (s->to)
        io_output_drop(s->to);
    heap_free(s);
    return NULL;
}

/* Compresses bytes, the last ones if `flush` is Z_FINISH. */
static bool compress_bytes(struct diags *ds, struct io_stream *s, struct str bytes, int flush)
{
    s->z.next_in = (Bytef *)(uintptr_t)bytes.ptr;
    s->z.avail_in = (uInt)bytes.len;
    do {
        s->z.next_out = s->buffer;
        s->z.avail_out = sizeof s->buffer;
        deflate(&s->z, flush);
        const size_t n = sizeof s->buffer - s->z.avail_out;
        if (n > 0 && !io_output_put(ds, s->to, (struct str){(const char *)s->buffer, n}))
            return false;
    } while (s->z.avail_out == 0);
    return true;
}

bool io_stream_put(struct diags *ds, struct io_stream *s, struct str bytes)
{
    enum { PIECE = 1 << 30 };
    if (!s->gzip)
        return io_output_put(ds, s->to, bytes);
    while (bytes.len > 0) {
        const size_t n = bytes.len < PIECE ? bytes.len : PIECE;
        if (!compress_bytes(ds, s, (struct str){bytes.ptr, n}, Z_NO_FLUSH))
            return false;
        bytes = str_skip(bytes, n);
    }
    return true;
}

bool io_stream_close(struct diags *ds, struct io_stream *s, bool keep)
{
    bool ok = !s->gzip || !keep || compress_bytes(ds, s, STR(""), Z_FINISH);
    if (s->gzip)
        deflateEnd(&s->z);
    ok &= io_output_close(ds, s->to, keep && ok);
    heap_free(s);
    return ok;
}
