/*
 * repl/input: keys as the terminal sends them, and the signals that come while somebody types.
 *
 * Ctrl-C and Ctrl-Z are keys here, for the terminal makes no signals of keys while we edit. Signals that come from elsewhere are
 * blocked meanwhile and read like keys, so that they find the terminal and libedit in a known state.
 */
#include "repl/line_priv.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* Where the terminal itself edits, only the first. */
static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH};

static sigset_t watched_set(const struct line_editor *e)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < (e->el ? COUNT_OF(watched) : 1); i++)
        sigaddset(&set, watched[i]);
    return set;
}

/* What is pasted is to come between marks, so that it is not taken for typing. */
static void paste_marks(struct line_editor *e, bool on)
{
    fputs(on ? "\033[?2004h" : "\033[?2004l", e->out);
    fflush(e->out);
}

static void raw_terminal(struct line_editor *e, bool on)
{
    EDIT(set)(e->el, EL_PREP_TERM, on);
    paste_marks(e, on);
}

void input_begin(struct line_editor *e)
{
    sigset_t set = watched_set(e);
    pthread_sigmask(SIG_BLOCK, &set, &e->mask);
    e->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    e->inject = NULL;
    memset(&e->decoding, 0, sizeof e->decoding);
    if (e->el)
        paste_marks(e, true);
}

void input_end(struct line_editor *e)
{
    if (e->el)
        paste_marks(e, false);
    if (e->signals >= 0)
        close(e->signals);
    e->signals = -1;
    pthread_sigmask(SIG_SETMASK, &e->mask, NULL);
}

/* Lets a signal do what it does when nobody edits. Returns where that doesn't end the process. */
static void pass_on(struct line_editor *e, int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    raw_terminal(e, false);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL); /* now it comes */
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    raw_terminal(e, true);
}

/* Draws the buffer anew where the cursor is. */
static void draw(struct line_editor *e)
{
    EDIT(resize)(e->el);
    EDIT(set)(e->el, EL_REFRESH);
}

void input_suspend(struct line_editor *e)
{
    sigset_t goes_on;
    struct timespec now = {0};
    pass_on(e, SIGTSTP);
    sigemptyset(&goes_on);
    sigaddset(&goes_on, SIGCONT);
    sigtimedwait(&goes_on, NULL, &now); /* it has come, and what it asks for is done here */
    draw(e);
}

static void resize(struct line_editor *e)
{
    size_t columns, rows;
    line_window(&columns, &rows);
    size_t up = keys_rows_to_cursor(e) - 1;
    if (up > 0 && up < rows)
        fprintf(e->out, "\033[%zuA", up);
    fputs("\r\033[J", e->out);
    draw(e);
}

static void take_signal(struct line_editor *e)
{
    struct signalfd_siginfo info;
    if (read(e->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    switch ((int)info.ssi_signo) {
    case SIGINT: e->inject = L"\003"; break;
    case SIGWINCH: resize(e); break;
    case SIGCONT: /* somebody else has had the terminal */
        raw_terminal(e, false);
        raw_terminal(e, true);
        draw(e);
        break;
    case SIGTSTP: input_suspend(e); break;
    default:
        pass_on(e, (int)info.ssi_signo);
        draw(e);
        break;
    }
}

bool input_byte(struct line_editor *e, char *out)
{
    for (;;) {
        struct pollfd wait[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = e->signals, .events = POLLIN}};
        if (poll(wait, 2, -1) < 0 && errno != EINTR)
            return false;
        if (wait[0].revents) { /* first, for a key may be several bytes */
            ssize_t n = read(STDIN_FILENO, out, 1);
            if (n >= 0 || (errno != EINTR && errno != EAGAIN))
                return n == 1;
        } else if (wait[1].revents & POLLIN) {
            take_signal(e);
            if (e->inject)
                return true;
        }
    }
}

/* For libedit: 1 and a key; 0 at the end. */
int input_key(EditLine *el, wchar_t *out)
{
    struct line_editor *e = editor_of(el);
    for (;;) {
        if (e->inject && *e->inject) {
            *out = *e->inject++;
            return 1;
        }
        e->inject = NULL;
        char c;
        if (!input_byte(e, &c))
            return 0;
        if (e->inject)
            continue;
        size_t n = mbrtowc(out, &c, 1, &e->decoding);
        if (n == (size_t)-1) /* not UTF-8: drop it */
            memset(&e->decoding, 0, sizeof e->decoding);
        if (n > 1)
            continue;
        e->keys++;
        return 1;
    }
}
