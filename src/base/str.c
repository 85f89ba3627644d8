/*
 * str.c: byte slices: comparison, prefixes, edit distance.
 */
#include "base/base.h"

int str_cmp(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_fits(struct str s, struct str pattern)
{
    size_t n = pattern.len;
    return n > 0 && pattern.ptr[n - 1] == '*' ? str_starts(s, (struct str){pattern.ptr, n - 1})
                                              : str_eq(s, pattern);
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

bool str_ends(struct str s, struct str end)
{
    return s.len >= end.len &&
           (end.len == 0 || memcmp(s.ptr + s.len - end.len, end.ptr, end.len) == 0);
}

/* ASCII only, independent of the locale. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    return true;
}

struct str str_cut(struct str *s, char separator)
{
    const char *end = s->len ? memchr(s->ptr, separator, s->len) : NULL;
    const struct str head = str_take(s, end ? (size_t)(end - s->ptr) : s->len);
    *s = str_skip(*s, end != NULL);
    return head;
}

const char *str_last(struct str s, char c)
{
    for (size_t k = s.len; k-- > 0;)
        if (s.ptr[k] == c)
            return s.ptr + k;
    return NULL;
}

struct str str_cut_line(struct str *s)
{
    const char *line = s->ptr;
    str_cut(s, '\n');
    return (struct str){line, (size_t)(s->ptr - line)};
}

enum { DISTANCE_MAX_LEN = 128 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

int str_among(struct str s, const char *const *words, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (str_is(s, words[k]))
            return (int)k;
    return -1;
}

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
    size_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;
    if (gap >= limit || a.len > DISTANCE_MAX_LEN || b.len > DISTANCE_MAX_LEN)
        return limit;
    /* Rows i-2, i-1 and i of the dynamic programming table; a transposition refers two rows
     * back. */
    unsigned rows[3][DISTANCE_MAX_LEN + 1];
    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        unsigned best = row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = a.ptr[i - 1] == b.ptr[j - 1];
            row[j] = min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + !same);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                row[j] = min3(row[j], up2[j - 2] + 1, row[j]);
            best = row[j] < best ? row[j] : best;
        }
        if (best >= limit)
            return limit;
    }
    unsigned d = rows[a.len % 3][b.len];
    return d < limit ? d : limit;
}

struct str str_trim(struct str s)
{
    while (s.len > 0 && char_is_blank(s.ptr[0]))
        s.ptr++, s.len--;
    while (s.len > 0 && char_is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

struct nearest nearest_to(struct str word)
{
    /* accept a distance of at most a third of the length plus one; for up to three letters, one */
    return (struct nearest){
        .word = word, .found = STR(""), .distance = word.len < 4 ? 2 : (unsigned)word.len / 3 + 2};
}

bool nearest_try(struct nearest *n, struct str candidate)
{
    unsigned d = str_distance(n->word, candidate, n->distance);
    /* an instruction without the number that makes its name unique */
    if (d > 1 && candidate.len > n->word.len && candidate.ptr[n->word.len] == '.' &&
        str_eq((struct str){candidate.ptr, n->word.len}, n->word))
        d = 1;
    const bool alike = d < candidate.len || d < n->word.len; /* they have a character in common */
    if (d >= n->distance || !alike)
        return false;
    n->distance = d;
    n->found = candidate;
    return true;
}
