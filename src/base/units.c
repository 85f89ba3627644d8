/*
 * units.c: amounts with units.
 */
#include "base/base.h"

/* Appends at most three decimals, right-aligned, with a point in any locale. */
static void put_decimal(struct buf *out, int width, double v, int decimals)
{
    static const uint64_t scales[] = {1, 10, 100, 1000};
    const uint64_t scale = scales[decimals];
    const double rounded = v > 0 ? v * (double)scale + 0.5 : 0;
    const uint64_t n = rounded < 0x1p63 ? (uint64_t)rounded : INT64_MAX;
    const int whole = decimals > 0 ? width - decimals - 1 : width;
    buf_printf(out, "%*" PRIu64, whole > 0 ? whole : 0, n / scale);
    if (decimals > 0)
        buf_printf(out, ".%0*" PRIu64, decimals, n % scale);
}

void buf_byte_size(struct buf *out, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double scaled = (double)bytes;
    int unit = -1;
    for (; scaled >= 1024 && bytes >= 10240 && unit < 5; unit++)
        scaled /= 1024;
    if (unit < 0) {
        buf_printf(out, "%" PRIu64 " B", bytes);
        return;
    }
    put_decimal(out, 0, scaled, 1);
    buf_printf(out, " %s", units[unit]);
}

void buf_seconds(struct buf *out, double s)
{
    static const struct {
        double from, scale;
        int decimals;
        const char *name;
    } units[] = {
        {1, 1, 3, " s "}, {1e-3, 1e3, 3, " ms"}, {1e-6, 1e6, 3, " us"}, {0, 1e9, 0, " ns"}};
    int k = 0;
    while (k < 3 && s < units[k].from)
        k++;
    put_decimal(out, 8, s * units[k].scale, units[k].decimals);
    buf_puts(out, units[k].name);
}

void buf_giga(struct buf *out, double amount)
{
    enum { DIGITS = 2 };
    const double giga = amount * 1e-9;
    if (giga < 0.1)
        buf_g(out, giga, DIGITS);
    else
        put_decimal(out, 0, giga, giga >= 100 ? 0 : giga >= 10 ? 1 : 2);
}
