/*
 * Heat maps as PNG files: 256 colours from dark blue through green to yellow; NaN is red,
 * infinities are magenta.
 */
#include "look/look.h"

#include "io/io.h"

#include <math.h>
#include <zlib.h>

enum { MAX_PIXELS = 8192, GOOD_SIZE = 512, STEPS = 254, PIXEL_INF = 254, PIXEL_NAN = 255 };

static void put_u32(struct buf *out, uint32_t v)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_putc(out, (char)(v >> shift & 0xff));
}

static void put_chunk(struct buf *out, const char *type, const void *data, size_t size)
{
    put_u32(out, (uint32_t)size);
    size_t start = out->size;
    buf_puts(out, type);
    buf_bytes(out, data, size);
    put_u32(out, (uint32_t)crc32(0, (const Bytef *)out->data + start, (uInt)(size + 4)));
}

/* Interpolates the palette between equidistant colours. */
static void put_palette(struct buf *out)
{
    static const unsigned char stops[][3] = {
        {68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}};
    unsigned char colors[256][3] = {[PIXEL_INF] = {255, 0, 255}, [PIXEL_NAN] = {255, 0, 0}};
    for (size_t i = 0; i < STEPS; i++)
        for (size_t k = 0; k < 3; k++) {
            double at = (double)i / (STEPS - 1) * (COUNT_OF(stops) - 1);
            size_t stop = at < COUNT_OF(stops) - 1 ? (size_t)at : COUNT_OF(stops) - 2;
            double part = at - (double)stop;
            colors[i][k] =
                (unsigned char)(stops[stop][k] * (1 - part) + stops[stop + 1][k] * part + 0.5);
        }
    put_chunk(out, "PLTE", colors, sizeof colors);
}

static unsigned char pixel_of(const struct look_grid *g, size_t cell)
{
    if (g->mark[cell] != LOOK_FINITE)
        return g->mark[cell] == LOOK_NAN ? PIXEL_NAN : PIXEL_INF;
    return (unsigned char)(look_part(g->mean[cell], g->low, g->high) * (STEPS - 1) + 0.5);
}

/* The rows of the picture, each preceded by its filter type, none. */
static void put_pixels(struct buf *out, const struct look_grid *g, size_t times)
{
    for (size_t y = 0; y < g->rows * times; y++) {
        buf_putc(out, 0);
        for (size_t x = 0; x < g->columns; x++)
            for (size_t k = 0; k < times; k++)
                buf_putc(out, (char)pixel_of(g, y / times * g->columns + x));
    }
}

static bool put_picture(struct buf *out, const struct look_grid *g, size_t times)
{
    SCOPED_BUF pixels = {0}, header = {0};
    put_pixels(&pixels, g, times);
    uLongf size = compressBound((uLong)pixels.size);
    SCOPED_HEAP Bytef *packed = heap_alloc(size);
    bool ok =
        packed && compress(packed, &size, (const Bytef *)pixels.data, (uLong)pixels.size) == Z_OK;
    put_u32(&header, (uint32_t)(g->columns * times));
    put_u32(&header, (uint32_t)(g->rows * times));
    buf_bytes(&header, "\10\3\0\0\0", 5); /* eight bits per pixel, with a palette */
    buf_bytes(out, "\211PNG\r\n\032\n", 8);
    put_chunk(out, "IHDR", header.data, header.size);
    put_palette(out);
    if (ok)
        put_chunk(out, "IDAT", packed, size);
    put_chunk(out, "IEND", "", 0);
    return ok;
}

bool look_png(struct diags *ds, const char *path, const struct literal *l)
{
    struct look_plane p = look_plane_of(l);
    struct look_grid g;
    SCOPED_BUF file = {0};
    if (!p.of)
        return DIAG_ERROR(ds, NO_SPAN, FAILURE, "no elements to draw");
    look_grid_fill(&g, &p, MAX_PIXELS, MAX_PIXELS);
    size_t large = g.rows > g.columns ? g.rows : g.columns;
    bool ok = put_picture(&file, &g, large < GOOD_SIZE ? GOOD_SIZE / large : 1);
    ok = ok ? io_write_bytes(ds, path, buf_view(&file))
            : DIAG_ERROR(ds, NO_SPAN, FAILURE, "out of memory for the image");
    look_grid_free(&g);
    return ok;
}
