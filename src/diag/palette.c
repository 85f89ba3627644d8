/*
 * palette.c: the colours of messages and of what is shown with them.
 */
#include "diag/diag.h"

static const struct {
    const char *name, *usual; /* parameters of SGR */
} inks[] = {
    [INK_CARET] = {"caret", "1;32"}, [INK_ERROR] = {"error", "1;31"},
    [INK_HELP] = {"help", "1;32"},   [INK_NOTE] = {"note", "1;36"},
    [INK_PLACE] = {"place", "1"},    [INK_WARNING] = {"warning", "1;35"},
};

static void palette_usual(struct palette *p)
{
    for (size_t k = 0; k < COUNT_OF(inks); k++)
        p->sgr[k] = str_of(inks[k].usual);
}

/* Only SGR parameters (digits and semicolons) may be sent to a terminal. */
static bool is_sgr(struct str s)
{
    for (size_t k = 0; k < s.len; k++)
        if ((s.ptr[k] < '0' || s.ptr[k] > '9') && s.ptr[k] != ';')
            return false;
    return true;
}

static bool read_one(struct palette *p, struct str word)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    if (!equals)
        return false;
    const size_t n = (size_t)(equals - word.ptr);
    const struct str name = {word.ptr, n}, sgr = {equals + 1, word.len - n - 1};
    for (size_t k = 0; k < COUNT_OF(inks); k++)
        if (str_is(name, inks[k].name) && is_sgr(sgr)) {
            p->sgr[k] = sgr;
            return true;
        }
    return false;
}

bool palette_read(struct palette *p, struct str text)
{
    palette_usual(p);
    bool ok = true;
    while (text.len > 0) {
        const char *end = memchr(text.ptr, ':', text.len);
        const struct str word = {text.ptr, end ? (size_t)(end - text.ptr) : text.len};
        ok &= word.len == 0 || read_one(p, word);
        text.ptr += word.len + (end != NULL);
        text.len -= word.len + (end != NULL);
    }
    return ok;
}
