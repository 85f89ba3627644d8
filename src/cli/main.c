/*
 * hlo: dispatch to the subcommand. `hlo FILE` is `hlo run FILE`, and `hlo` alone on a terminal is
 * `hlo repl`.
 */
#include "cli/cli.h"

#include "base/oom.h"
#include "base/system.h"
#include "repl/line.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STACK_NEEDED = 1 << 20 };

static command_fn *const command_functions[CMD_COUNT] = {
#define COMMAND(id, name, function, flags, usage, summary, examples) function,
#include "cli/command.def"
#undef COMMAND
};

/* Flushes standard output; a write error, such as a full disk, is a failure. */
static int finish(int status)
{
    enum { STATUS_PIPE = 141 }; /* exit status of a program ended by SIGPIPE */
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    /* An earlier write failed, and the C library has dropped its text and reason: another write
     * fails for the same reason. */
    const bool lost = errno == 0 && write(STDOUT_FILENO, "\n", 1) == 1;
    if (errno == EPIPE)
        return STATUS_PIPE;
    fprintf(stderr, "hlo: error: cannot write to standard output: %s\n",
            lost ? "write error" : strerror(errno));
    return status ? status : HLO_USAGE;
}

/* Whether the word is an option that is valid without a command. */
static bool is_general(const char *word)
{
    const struct str name = {word + 2, strcspn(word, "=") - 2};
    if (word[1] != '-')
        return false;
    for (int i = 0; i < OPT_COUNT; i++)
        if (str_is(name, option_row((enum option_id)i)->name))
            return option_belongs((enum option_id)i, CMD_NONE) &&
                   !option_belongs((enum option_id)i, CMD_RUN);
    return false;
}

static int unknown_command(struct options *o, const char *word)
{
    const char *nearest = command_nearest(word);
    return *nearest
               ? usage_error(o, "'%s' is not a command or file; did you mean '%s'?", word, nearest)
               : usage_error(o, "'%s' is not a command or file", word);
}

/* Whether standard input is a pipe or a file, from which a module can be read. */
static bool is_fed(void)
{
    struct stat s;
    return fstat(STDIN_FILENO, &s) == 0 &&
           (S_ISFIFO(s.st_mode) || S_ISREG(s.st_mode) || S_ISSOCK(s.st_mode));
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0)
            return true;
    return false;
}

/* The command that the first word names; otherwise that of `hlo help X`, `hlo --help` or
 * `hlo FILE` or `... | hlo`, or CMD_NONE for a misspelled command. */
static enum command choose_command(struct options *o, int *argc, char ***argv, bool *fail)
{
    const char *word = *argc > 0 ? **argv : "";
    enum command c = command_find(word);
    if (c != CMD_NONE) {
        --*argc;
        ++*argv;
        return c;
    }
    bool option = word[0] == '-' && word[1];
    bool plain_word = *word && !option && !strpbrk(word, "./\\-") && access(word, F_OK) != 0 &&
                      !(is_value(word) && is_fed());
    if (plain_word) {
        *fail = true;
        unknown_command(o, word);
    }
    if (option && is_general(word))
        return CMD_NONE;
    for (int i = 0; i < *argc; i++) /* hlo --random FILE */
        if ((*argv)[i][0] != '-' || !(*argv)[i][1])
            return CMD_RUN;
    return !*fail && is_fed() && !asks_for_help(*argc, *argv) ? CMD_RUN : CMD_NONE;
}

/* Inserts the operand `-` if no file is given, and the module can be read from standard input. */
static void default_to_stdin(struct options *o)
{
    const char *infeed = o->value[OPT_INFEED];
    if ((o->arg_count > 0 && !is_value(o->args[0])) ||
        !(command_row(o->command)->flags & COMMAND_READS) || o->given[OPT_BUNDLE] ||
        (infeed && strcmp(infeed, "-") == 0) || !is_fed())
        return;
    memmove(o->args + 1, o->args, o->arg_count++ * sizeof *o->args);
    o->args[0] = "-";
}

static int show_help(struct options *o)
{
    pager_begin(o);
    if (o->short_help)
        print_short_help(stdout, o->command);
    else
        print_help(stdout, o->command);
    return HLO_OK;
}

static int show_version(const struct options *o)
{
    if (!o->given[OPT_VERBOSE]) {
        puts("hlo " HLO_VERSION);
        return HLO_OK;
    }
    hlo_text about = hlo_about();
    print_text(&about);
    line_about(stdout);
    return HLO_OK;
}

/* `hlo help WORD` */
static int show_help_of(struct options *o, const char *word)
{
    o->command = command_find(word);
    if (o->command == CMD_NONE && op_number(str_of(word)) < hlo_op_count())
        return usage_error(o, "'%s' is an operation; see 'hlo ops %s'", word, word);
    if (o->command == CMD_NONE && *word)
        return unknown_command(o, word);
    pager_begin(o);
    print_help(stdout, o->command);
    return HLO_OK;
}

static int run_the_command(const struct options *o)
{
    const int needs_file = COMMAND_READS | COMMAND_NEEDS;
    if ((command_row(o->command)->flags & needs_file) && !file_argument(o))
        return usage_error(o, "no file given");
    return command_functions[o->command](o);
}

static int dispatch(struct options *o, int argc, char **argv)
{
    bool fail = false;
    o->command = CMD_NONE;
    if (argc > 0 && strcmp(argv[0], "help") == 0)
        return show_help_of(o, argc > 1 ? argv[1] : "");
    o->command = argc == 0 && line_possible() ? CMD_REPL : choose_command(o, &argc, &argv, &fail);
    if (fail || !options_parse(o, argc, argv))
        return HLO_USAGE;
    if (o->given[OPT_HELP])
        return show_help(o);
    if (o->given[OPT_VERSION])
        return show_version(o);
    if (o->given[OPT_COMPLETION])
        return print_completion(o);
    if (o->command != CMD_NONE) {
        default_to_stdin(o);
        be_quiet(o);
        if (command_row(o->command)->flags & COMMAND_PAGED)
            pager_begin(o);
        int status = world_begin(o);
        return status == HLO_OK ? world_end(o, run_the_command(o)) : status;
    }
    print_help(stderr, CMD_NONE);
    return HLO_USAGE;
}

/* Not inlined, so that its frame is below that of the caller. */
__attribute__((noinline)) static void grow_stack(void)
{
    enum { PAGE = 4096 };
    char stack[STACK_NEEDED];
    for (volatile char *page = stack + STACK_NEEDED - PAGE; page > stack;
         page -= PAGE) /* downwards, the direction of stack growth */
        *page = 0;
}

/* Where the address space is limited, the stack may fail to grow later, which would be a crash: so
 * its pages are touched now. False: not enough memory. */
static bool has_stack(void)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_AS, &l) != 0 || l.rlim_cur == RLIM_INFINITY)
        return true;
    if (getrlimit(RLIMIT_STACK, &l) != 0 || l.rlim_cur < 2 * STACK_NEEDED)
        return true; /* the stack limit is lower anyway */
    void *reservation = mmap(NULL, 2 * STACK_NEEDED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (reservation == MAP_FAILED)
        return false;
    munmap(reservation, 2 * STACK_NEEDED);
    grow_stack();
    return true;
}

static int no_memory(void)
{
    interrupt_end();
    temporary_end();
    fputs("hlo: error: out of memory\n", stderr);
    return HLO_FAILED;
}

/* Runs the command in an out-of-memory scope, like a public function of the library. */
static int guarded(struct options *o, int argc, char **argv)
{
    struct oom_scope g;
    int status;
    oom_enter(&g, NULL);
    g.ours = true;
    if (setjmp(g.back) == 0) {
        arena_init(&o->arena);
        o->args = heap_zalloc((size_t)argc + 1, sizeof *o->args);
        status = finish(dispatch(o, argc - 1, argv + 1));
        heap_free(o->args);
        arena_free(&o->arena);
    } else {
        status = no_memory();
    }
    oom_leave(&g);
    return status;
}

int main(int argc, char **argv)
{
    struct options o = {.command = CMD_NONE};
    /* Returning the workspace of each kernel to the system would cost more in page faults than many
     * kernels take. */
    system_keep_freed_memory();
    hlo_guard_mapped_files();
    signal(SIGPIPE, SIG_DFL); /* a reader that closes its pipe is not an error */
    signal(SIGXFSZ, SIG_IGN); /* exceeding the file size limit is a write error */
    int status = has_stack() ? guarded(&o, argc, argv) : no_memory();
    pager_end();
    return status;
}
