/*
 * repl/term: what is asked of the terminal, the environment and the loader.
 */
#include "repl/line_priv.h"

#include <dlfcn.h>
#include <langinfo.h>
#include <link.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool line_possible(void) { return isatty(STDIN_FILENO) && (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO)); }

void line_window(size_t *columns, size_t *rows)
{
    struct winsize w;
    *columns = 80;
    *rows = 24;
    for (int fd = 2; fd >= 0; fd--)
        if (ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_row > 0) {
            *columns = w.ws_col;
            *rows = w.ws_row;
            return;
        }
}

void line_history_path(struct buf *out)
{
    const char *own = getenv("HLO_HISTORY"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    out->size = 0;
    if (own)
        buf_puts(out, own); /* which may be empty */
    else if (state && *state == '/')
        buf_printf(out, "%s/hlo/history", state);
    else if (home && *home)
        buf_printf(out, "%s/.local/state/hlo/history", home);
}

/* ---- characters ---- */

wchar_t *wide_of(struct str s)
{
    wchar_t *w = heap_alloc((s.len + 1) * sizeof *w);
    size_t count = 0;
    mbstate_t state = {0};
    for (size_t i = 0; w && i < s.len;) {
        size_t n = mbrtowc(&w[count], s.ptr + i, s.len - i, &state);
        if (n == 0 || n > s.len) { /* no text: let it be seen as it is */
            w[count] = L'?';
            memset(&state, 0, sizeof state);
            n = 1;
        }
        i += n;
        count++;
    }
    if (w)
        w[count] = L'\0';
    return w;
}

void buf_wide(struct buf *out, const wchar_t *s, size_t count)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    for (size_t i = 0; i < count; i++) {
        size_t n = wcrtomb(bytes, s[i], &state);
        if (n != (size_t)-1)
            buf_bytes(out, bytes, n);
    }
}

static size_t next_width(const char **p, const char *end, mbstate_t *state, size_t column)
{
    wchar_t c;
    size_t n = mbrtowc(&c, *p, (size_t)(end - *p), state);
    if (n == 0 || n > (size_t)(end - *p)) {
        memset(state, 0, sizeof *state);
        *p += 1;
        return 1;
    }
    *p += n;
    if (c == L'\t')
        return 8 - column % 8;
    int width = wcwidth(c);
    return width < 0 ? 2 : (size_t)width;
}

size_t term_width(struct str s)
{
    size_t width = 0;
    mbstate_t state = {0};
    for (const char *p = s.ptr, *end = s.len > 0 ? p + s.len : p; p < end;)
        width += next_width(&p, end, &state, width);
    return width;
}

size_t term_rows(struct str text, size_t prompt, size_t columns)
{
    size_t rows = 1, column = prompt;
    mbstate_t state = {0};
    for (const char *p = text.ptr, *end = text.len > 0 ? p + text.len : p; p < end;) {
        bool ends = *p == '\n';
        size_t width = next_width(&p, end, &state, column);
        if (ends || column + width > columns) {
            rows++;
            column = ends ? 0 : width;
        } else
            column += width;
    }
    return column >= columns ? rows + 1 : rows;
}

/* ---- libedit ---- */

static void *library(void) { return dlopen("libedit.so.2", RTLD_LAZY); }

void line_about(FILE *f)
{
    void *loaded = library();
    struct link_map *map = NULL;
    char *path = loaded && dlinfo(loaded, RTLD_DI_LINKMAP, &map) == 0 ? realpath(map->l_name, NULL) : NULL;
    const char *name = path ? strrchr(path, '/') : NULL; /* its version is in the name that the others are links to */
    if (loaded)
        fprintf(f, "line editing: %s\n", name ? name + 1 : "libedit");
    else
        fputs("line editing: none, libedit is not there; the prompt reads lines as they come\n", f);
    free(path);
}

void *edit_function(const char *name) { return dlsym(library(), name); }

struct line_editor *editor_of(EditLine *el)
{
    struct line_editor *e = NULL;
    EDIT(get)(el, EL_CLIENTDATA, &e);
    return e;
}

/* libedit and the terminal speak the characters of the user's locale; who has none set has a terminal that speaks UTF-8. */
static locale_t character_locale(void)
{
    locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (l && strcmp(nl_langinfo_l(CODESET, l), "ANSI_X3.4-1968") != 0)
        return l;
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8)
        return l;
    if (l)
        freelocale(l);
    return utf8;
}

bool line_utf8(void)
{
    locale_t l = character_locale();
    bool utf8 = l && strcmp(nl_langinfo_l(CODESET, l), "UTF-8") == 0;
    if (l)
        freelocale(l);
    return utf8;
}

/* What libedit doesn't find in the data base of terminals is ANSI's nearly everywhere. */
static void assume_ansi(EditLine *el)
{
    static const char *const strings[][2] = {
        {"ce", "\033[K"}, {"cd", "\033[J"},   {"cl", "\033[H\033[2J"}, {"up", "\033[A"},   {"nd", "\033[C"},   {"le", "\b"},
        {"do", "\n"},     {"DC", "\033[%dP"}, {"dc", "\033[P"},        {"UP", "\033[%dA"}, {"RI", "\033[%dC"},
    };
    for (size_t i = 0; i < COUNT_OF(strings); i++)
        EDIT(set)(el, EL_SETTC, strings[i][0], strings[i][1], NULL);
    EDIT(set)(el, EL_SETTC, "am", "yes", NULL);
    EDIT(set)(el, EL_SETTC, "xn", "yes", NULL);
}

static wchar_t *prompt_of(EditLine *el) { return editor_of(el)->prompt; }

/* The terminal must be able to move its cursor. */
static bool can_edit(void)
{
    const char *term = getenv("TERM");
    return term && *term && strcmp(term, "dumb") != 0 && library();
}

EditLine *term_open(struct line_editor *e)
{
    if (!can_edit() || !(e->locale = character_locale()))
        return NULL;
    locale_t before = uselocale(e->locale);
    char *said = NULL;
    size_t size = 0;
    FILE *complaints = open_memstream(&said, &size);
    EditLine *el =
        complaints ? EDIT(init_fd)("hlo", stdin, e->out, complaints, STDIN_FILENO, fileno(e->out), STDERR_FILENO) : NULL;
    if (el) {
        EDIT(set)(el, EL_CLIENTDATA, e);
        EDIT(set)(el, EL_SETFP, 2, stderr);
        fflush(complaints);
        if (size > 0)
            assume_ansi(el);
        EDIT(set)(el, EL_SIGNAL, 0);
        EDIT(set)(el, EL_EDITOR, "emacs");
        EDIT(set)(el, EL_SETTY, "-d", "-isig", NULL);
        EDIT(wset)(el, EL_PROMPT_ESC, prompt_of, L'\1');
        EDIT(wset)(el, EL_GETCFN, input_key);
        EDIT(source)(el, NULL); /* ~/.editrc */
        keys_bind(el);
    }
    if (complaints)
        fclose(complaints);
    free(said);
    uselocale(before);
    return el;
}
