/*
 * palette.c: the colors of HLO_COLORS.
 */
#include "diag/diag.h"

static const struct {
    const char *name, *usual; /* parameters of SGR */
} inks[] = {
    [INK_CARET] = {"caret", "1;32"},       [INK_ERROR] = {"error", "1;31"},
    [INK_HELP] = {"help", "1;32"},         [INK_NOTE] = {"note", "1;36"},
    [INK_PLACE] = {"place", "1"},          [INK_WARNING] = {"warning", "1;35"},
    [INK_ATTRIBUTE] = {"attribute", "34"}, [INK_COMMENT] = {"comment", "90"},
    [INK_KEYWORD] = {"keyword", "1;35"},   [INK_NAME] = {"name", "36"},
    [INK_NUMBER] = {"number", "33"},       [INK_OPERATION] = {"operation", "1"},
    [INK_SHAPE] = {"shape", "32"},         [INK_STRING] = {"string", "31"},
};

/* Only SGR parameters (digits and semicolons) may be sent to a terminal. */
static bool is_sgr(struct str s)
{
    for (size_t k = 0; k < s.len; k++)
        if (!char_is_digit(s.ptr[k]) && s.ptr[k] != ';')
            return false;
    return true;
}

static bool read_one(struct str *colors, size_t count, struct str word)
{
    const char *equals = memchr(word.ptr, '=', word.len);
    if (!equals)
        return false;
    const size_t n = (size_t)(equals - word.ptr);
    const struct str name = {word.ptr, n}, sgr = {equals + 1, word.len - n - 1};
    for (size_t k = 0; k < COUNT_OF(inks); k++)
        if (str_is(name, inks[k].name) && is_sgr(sgr)) {
            if (k < count)
                colors[k] = sgr;
            return true;
        }
    return false;
}

bool colors_read(struct str *sgr, size_t count, struct str text)
{
    bool ok = true;
    for (size_t k = 0; k < count; k++)
        sgr[k] = str_of(inks[k].usual);
    while (text.len > 0) {
        const struct str word = str_cut(&text, ':');
        ok &= word.len == 0 || read_one(sgr, count, word);
    }
    return ok;
}

bool palette_read(struct palette *p, struct str text)
{
    *p = (struct palette){.text = text};
    return colors_read(p->sgr, INK_COUNT, text);
}
