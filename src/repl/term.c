/*
 * repl/term: libedit and the terminal: capabilities, characters, input and signals.
 *
 * During editing, keys generate no signals: Ctrl-C and Ctrl-Z are read as keys. Other signals are
 * blocked and read as a stream (base/system.h) together with the input, so that each arrives while
 * terminal and libedit are in a known state.
 */
#include "repl/line_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

bool line_possible(void)
{
    return isatty(STDIN_FILENO) && (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO));
}

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

/* ---- characters ---- */

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

static struct place place_of(struct str text, size_t column, size_t columns)
{
    struct place at = {0, column};
    mbstate_t state = {0};
    for (const char *p = text.ptr, *end = p + text.len; p < end;) {
        bool newline = *p == '\n';
        size_t width = next_width(&p, end, &state, at.column);
        bool wraps = newline || at.column + width > columns;
        at = wraps ? (struct place){at.row + 1, newline ? 0 : width}
                   : (struct place){at.row, at.column + width};
    }
    return at.column < columns ? at : (struct place){at.row + 1, 0};
}

struct place term_place(struct str text, size_t prompt_width)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    return place_of(text, prompt_width, columns);
}

size_t term_width(struct str s) { return place_of(s, 0, SIZE_MAX).column; }

static bool has_codeset(locale_t l, const char *name)
{
    locale_t before = uselocale(l);
    const bool has = strcmp(nl_langinfo(CODESET), name) == 0;
    uselocale(before);
    return has;
}

/* The locale of the user; UTF-8 if none is set. */
static locale_t character_locale(void)
{
    locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (l && !has_codeset(l, "ANSI_X3.4-1968") && !has_codeset(l, "ASCII")) /* glibc, musl */
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
    bool utf8 = l && has_codeset(l, "UTF-8");
    if (l)
        freelocale(l);
    return utf8;
}

/* ---- signals ---- */

static sigset_t watched_set(const struct line_editor *e)
{
    static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < (e->el ? COUNT_OF(watched) : 1);
         i++) /* without libedit only the first */
        sigaddset(&set, watched[i]);
    return set;
}

/* Enables bracketed paste: the terminal encloses pasted text in marks. */
static void set_paste_marks(struct line_editor *e, bool on)
{
    if (e->el)
        fputs(on ? "\033[?2004h" : "\033[?2004l", e->out);
    fflush(e->out);
}

void term_begin(struct line_editor *e)
{
    sigset_t set = watched_set(e);
    pthread_sigmask(SIG_BLOCK, &set, &e->mask);
    system_signals_open(&e->signals, &set);
    memset(&e->decoding, 0, sizeof e->decoding);
    set_paste_marks(e, true);
}

void term_end(struct line_editor *e)
{
    set_paste_marks(e, false);
    system_signals_close(&e->signals);
    pthread_sigmask(SIG_SETMASK, &e->mask, NULL);
}

/* Delivers a signal with the terminal settings from before editing. Returns unless the signal ends
 * the process; if it stops the process, after it continues. */
static void deliver(struct line_editor *e, int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    EDIT(set)(e->el, EL_PREP_TERM, 0);
    set_paste_marks(e, false);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    system_discard_signal(SIGCONT);
    /* A thread that forwards signals may have taken it: the line is displayed again, in place. */
    fputs("\r\033[J", e->out);
    EDIT(set)(e->el, EL_PREP_TERM, 1);
    set_paste_marks(e, true);
}

/* Erases the buffer, which is redrawn for the new width. */
static void erase_buffer(struct line_editor *e)
{
    const LineInfo *l = EDIT(line)(e->el);
    size_t columns, rows;
    line_window(&columns, &rows);
    size_t up =
        term_place((struct str){l->buffer, (size_t)(l->cursor - l->buffer)}, e->prompt_width).row;
    if (up > 0 && up < rows)
        fprintf(e->out, "\033[%zuA", up);
    fputs("\r\033[J", e->out);
}

/* Whether the signal is SIGINT, which the caller handles. */
static bool take_signal(struct line_editor *e)
{
    int number = system_signals_take(&e->signals);
    if (number == 0)
        return false;
    if (number == SIGINT)
        return true;
    if (number == SIGWINCH)
        erase_buffer(e);
    else
        deliver(e, number);
    EDIT(resize)(e->el);
    EDIT(set)(e->el, EL_REFRESH);
    return false;
}

/* ---- input ---- */

enum input term_read(struct line_editor *e, char *out)
{
    for (;;) {
        struct pollfd wait[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                 {.fd = e->signals.fd, .events = POLLIN}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return INPUT_END;
        if (wait[0].revents) { /* first: a key may consist of several bytes */
            ssize_t n = read(STDIN_FILENO, out, 1);
            if (n >= 0 || (errno != EINTR && errno != EAGAIN))
                return n == 1 ? INPUT_BYTE : INPUT_END;
        } else if (wait[1].revents & POLLIN && take_signal(e)) {
            return INPUT_INTERRUPT;
        }
    }
}

/* Reads a character for libedit: 1; 0 at the end. */
static int read_key(EditLine *el, wchar_t *out)
{
    struct line_editor *e = editor_of(el);
    char c;
    for (enum input got; (got = term_read(e, &c)) != INPUT_END;) {
        size_t n = got == INPUT_INTERRUPT ? 1 : mbrtowc(out, &c, 1, &e->decoding);
        if (got == INPUT_INTERRUPT)
            *out = L'\003';
        if (n == (size_t)-1) /* invalid: skipped */
            memset(&e->decoding, 0, sizeof e->decoding);
        if (n <= 1) {
            e->keys++;
            return 1;
        }
    }
    return 0;
}

/* ---- libedit ---- */

/* Debian's name, and that of other distributions. */
static void *library(void)
{
    void *debian = dlopen("libedit.so.2", RTLD_LAZY);
    return debian ? debian : dlopen("libedit.so.0", RTLD_LAZY);
}

void line_about(FILE *f)
{
    void *loaded = library();
    const char *from = loaded ? system_library_path(loaded) : NULL;
    char *path = from ? realpath(from, NULL) : NULL;
    const char *name =
        path ? strrchr(path, '/') : NULL; /* symbolic links resolve to a name with the version */
    if (loaded)
        fprintf(f, "line editing: %s\n", name ? name + 1 : "libedit");
    else
        fputs("line editing: disabled (libedit is not installed)\n", f);
    free(path);
}

void *edit_function(const char *name) { return dlsym(library(), name); }

struct line_editor *editor_of(EditLine *el)
{
    struct line_editor *e = NULL;
    EDIT(get)(el, EL_CLIENTDATA, &e);
    return e;
}

static char *prompt_of(EditLine *el) { return editor_of(el)->prompt.data; }

/* The terminal must support cursor movement. An unknown terminal is treated as an ANSI terminal. */
static void set_up(struct line_editor *e, EditLine *el)
{
    EDIT(set)(el, EL_CLIENTDATA, e);
    if (EDIT(set)(el, EL_TERMINAL, NULL) < 0)
        EDIT(set)(el, EL_TERMINAL, "ansi");
    EDIT(set)(el, EL_SETFP, 2, stderr);
    EDIT(set)(el, EL_SIGNAL, 0);
    EDIT(set)(el, EL_EDITOR, "emacs");
    EDIT(set)(el, EL_SETTY, "-d", "-isig", NULL);
    EDIT(set)(el, EL_PROMPT_ESC, prompt_of, '\1');
    EDIT(set)(el, EL_GETCFN, read_key);
    EDIT(source)(el, NULL); /* ~/.editrc */
    keys_bind(el);
}

EditLine *term_open(struct line_editor *e)
{
    const char *term = getenv("TERM");
    e->signals.fd = -1;
    if (!term || !*term || strcmp(term, "dumb") == 0 || !library() ||
        !(e->locale = character_locale()))
        return NULL;
    locale_t before = uselocale(e->locale);
    FILE *nowhere = fopen("/dev/null", "w"); /* suppress messages about unknown terminals */
    EditLine *el = EDIT(init_fd)("hlo", stdin, e->out, nowhere ? nowhere : stderr, STDIN_FILENO,
                                 fileno(e->out), STDERR_FILENO);
    if (el)
        set_up(e, el);
    if (nowhere)
        fclose(nowhere);
    uselocale(before);
    return el;
}
