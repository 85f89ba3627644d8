/*
 * Splits the text of HLO_OPTIONS and of --options=FILE into words, as a shell would.
 */
#include "cli/cli.h"

/* The next word: blanks part words, quotes hold them together, a backslash takes what follows as it
 * is; # begins a comment. False: there is none, or (*open) a quote is not closed. */
static bool next_word(struct str *s, struct buf *out, bool *open)
{
    char quote = 0;
    bool any = false, comment = false;
    size_t i = 0;
    out->size = 0;
    for (; i < s->len; i++) {
        char c = s->ptr[i];
        if (comment) {
            comment = c != '\n';
        } else if (quote && c == quote) {
            quote = 0;
        } else if (!quote && (c == '\'' || c == '"')) {
            quote = c;
            any = true;
        } else if (c == '\\' && quote != '\'' && i + 1 < s->len) {
            buf_putc(out, s->ptr[++i]);
            any = true;
        } else if (!quote && char_is_blank(c)) {
            if (any)
                break;
        } else if (!quote && c == '#' && !any) {
            comment = true;
        } else {
            buf_putc(out, c);
            any = true;
        }
    }
    *s = (struct str){s->ptr + i, s->len - i};
    *open = quote != 0;
    return any && !*open;
}

bool split_words(struct arena *a, struct str text, char ***words, int *count)
{
    struct buf word = {0};
    size_t n = 0, capacity = 0;
    bool open;
    *words = NULL;
    while (next_word(&text, &word, &open))
        VEC_PUSH(a, *words, n, capacity) = (char *)(uintptr_t)arena_str(a, buf_view(&word)).ptr;
    buf_free(&word);
    *count = (int)n;
    return !open;
}
