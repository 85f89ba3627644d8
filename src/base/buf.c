/*
 * buf.c: a growable byte buffer on the heap, for building text.
 */
#include "base/base.h"

#include <stdio.h>

void buf_free(struct buf *b)
{
    heap_free(b->data);
    *b = (struct buf){0};
}

static void grow(struct buf *b, size_t needed)
{
    size_t capacity = b->capacity ? b->capacity : 64;
    while (capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    b->data = heap_grow(b->data, capacity);
    b->capacity = capacity;
}

void buf_reserve(struct buf *b, size_t more)
{
    if (b->capacity - b->size <= more)
        grow(b, b->size + more + 1);
}

void buf_bytes(struct buf *b, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    buf_reserve(b, size);
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
    b->data[b->size] = '\0';
}

void buf_str(struct buf *b, struct str s) { buf_bytes(b, s.ptr, s.len); }

void buf_puts(struct buf *b, const char *z) { buf_bytes(b, z, strlen(z)); }

void buf_putc(struct buf *b, char c)
{
    buf_reserve(b, 1);
    b->data[b->size++] = c;
    b->data[b->size] = '\0';
}

void buf_vprintf(struct buf *b, const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    buf_reserve(b, 64);
    int n = vsnprintf(b->data + b->size, b->capacity - b->size, format, ap);
    size_t len = n < 0 ? 0 : (size_t)n;
    if (len >= b->capacity - b->size) {
        buf_reserve(b, len);
        vsnprintf(b->data + b->size, b->capacity - b->size, format, again);
    }
    va_end(again);
    b->size += len;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    buf_vprintf(b, format, ap);
    va_end(ap);
}

const char num_digit_pairs[201] =
    "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
    "4445464748495051525354555657585960616263646566676869707172737475767778798081828384858687"
    "888990919293949596979899";

void buf_uint(struct buf *b, uint64_t v)
{
    char text[20];
    size_t at = sizeof text;
    while (v >= 100) {
        at -= 2;
        memcpy(text + at, num_digit_pairs + v % 100 * 2, 2);
        v /= 100;
    }
    if (v >= 10) {
        at -= 2;
        memcpy(text + at, num_digit_pairs + v * 2, 2);
    } else {
        text[--at] = (char)('0' + v);
    }
    buf_bytes(b, text + at, sizeof text - at);
}

bool buf_list(struct buf *b, int64_t k, int64_t count, const char *brackets, const char *separator)
{
    if (k == 0 && *brackets)
        buf_putc(b, brackets[0]);
    else if (k > 0 && k < count)
        buf_puts(b, separator);
    if (k == count && *brackets)
        buf_putc(b, brackets[1]);
    return k < count;
}

void buf_int(struct buf *b, int64_t v)
{
    if (v < 0)
        buf_putc(b, '-');
    buf_uint(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

size_t str_utf8(struct str s, size_t i)
{
    const unsigned char *p = (const unsigned char *)s.ptr + i;
    size_t left = s.len - i, n;
    if (p[0] < 0x80)
        n = 1;
    else if (p[0] < 0xe0)
        n = p[0] < 0xc2 ? 0 : 2;
    else
        n = p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t k = 1; k < n; k++)
        if ((p[k] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90))
        return 0;
    return n;
}

bool str_is_utf8(struct str s)
{
    for (size_t k = 0, n; k < s.len; k += n)
        if ((n = str_utf8(s, k)) == 0)
            return false;
    return true;
}

size_t str_char_start(struct str s, size_t at)
{
    while (at > 0 && at < s.len && ((unsigned char)s.ptr[at] & 0xc0) == 0x80)
        at--;
    return at;
}

size_t utf8_encode(uint32_t code, char out[4])
{
    const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t k = n; k-- > 1; code >>= 6)
        out[k] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xff) | code);
    return n;
}

static void json_ascii(struct buf *b, char c)
{
    switch (c) {
    case '"': buf_puts(b, "\\\""); return;
    case '\\': buf_puts(b, "\\\\"); return;
    case '\n': buf_puts(b, "\\n"); return;
    case '\r': buf_puts(b, "\\r"); return;
    case '\t': buf_puts(b, "\\t"); return;
    default: break;
    }
    if ((unsigned char)c < 0x20 || c == 0x7f)
        buf_printf(b, "\\u%04x", (unsigned)c);
    else
        buf_putc(b, c);
}

void buf_json_str(struct buf *b, struct str s)
{
    buf_putc(b, '"');
    for (size_t i = 0; i < s.len;) {
        size_t n = str_utf8(s, i);
        if (n == 0)
            buf_puts(b, "\xef\xbf\xbd");
        else if (n == 1)
            json_ascii(b, s.ptr[i]);
        else
            buf_bytes(b, s.ptr + i, n);
        i += n ? n : 1;
    }
    buf_putc(b, '"');
}

void buf_json_number(struct buf *b, double v, int digits)
{
    if (v - v == 0)
        buf_g(b, v, digits);
    else
        buf_puts(b, v != v ? "\"nan\"" : v > 0 ? "\"inf\"" : "\"-inf\"");
}

void buf_json_key(struct buf *b, const char *key)
{
    if (b->size > 0 && b->data[b->size - 1] != '{' && b->data[b->size - 1] != '[')
        buf_putc(b, ',');
    if (!key)
        return;
    buf_json_str(b, str_of(key));
    buf_putc(b, ':');
}

void buf_json_text(struct buf *b, const char *key, struct str value)
{
    buf_json_key(b, key);
    buf_json_str(b, value);
}

void buf_json_count(struct buf *b, const char *key, uint64_t value)
{
    buf_json_key(b, key);
    buf_uint(b, value);
}

void buf_json_int(struct buf *b, const char *key, int64_t value)
{
    buf_json_key(b, key);
    buf_int(b, value);
}

void buf_json_real(struct buf *b, const char *key, double value, int digits)
{
    buf_json_key(b, key);
    buf_json_number(b, value, digits);
}

void buf_json_bool(struct buf *b, const char *key, bool value)
{
    buf_json_key(b, key);
    buf_puts(b, value ? "true" : "false");
}

void buf_json_open(struct buf *b, const char *key, char bracket)
{
    buf_json_key(b, key);
    buf_putc(b, bracket);
}
