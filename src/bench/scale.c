/*
 * Measures what large input costs: makes input of each kind in three sizes, N, 10 N and 100 N, runs
 * commands on it, and prints a table of time and memory in Markdown; or checks with small sizes
 * that ten times the input does not take much more than ten times the time.
 *
 *   scale make KIND N                               prints input of a kind
 *   scale table [-n N] HLO [COMMAND[,COMMAND...] [KIND...]]
 *   scale check HLO                                 prints TAP
 */
#include "scale.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct kind {
    const char *name;
    void (*make)(long n);
    enum scale_of of;
} kinds[] = {
#define KIND(name, function, of) {name, make_##function, of},
#include "scale_kind.def"
#undef KIND
};

enum { ANY_CODE = SCALE_CODE | SCALE_WRONG | SCALE_DEEP | SCALE_DOUBLED, MAX_WORDS = 8 };

/* The commands, and the kinds on which they are run: {} is the file, {name} its last instruction,
 * {KIND} a file of that kind and the same size. */
static const struct command {
    const char *name;
    unsigned of; /* bit set of kinds; SCALE_VALUES: the kind named in its words */
    bool input;  /* the file is standard input */
    const char *words[MAX_WORDS];
} commands[] = {
    {"verify", ANY_CODE, .words = {"verify", "{}"}},
    {"fmt", ANY_CODE, .words = {"fmt", "{}"}},
    {"plan", SCALE_CODE | SCALE_DEEP, .words = {"plan", "{}"}},
    {"run", SCALE_CODE | SCALE_DEEP, .words = {"run", "{}", "--random"}},
    {"run-plain", SCALE_CODE, .words = {"run", "{}", "--random", "--plain"}},
    {"ls", SCALE_CODE, .words = {"ls", "{}"}},
    {"ls-json", SCALE_CODE, .words = {"ls", "--json", "{}"}},
    {"find", SCALE_CODE, .words = {"find", "{}", "users>1", "text~add"}},
    {"graph", SCALE_CODE, .words = {"graph", "{}"}},
    {"cost", SCALE_CODE, .words = {"cost", "{}"}},
    {"annotate", SCALE_CODE, .words = {"annotate", "{}"}},
    {"trace", SCALE_CODE, .words = {"trace", "{}", "--random"}},
    {"prof", SCALE_CODE, .words = {"prof", "{}", "--random", "-n", "1"}},
    {"diff", SCALE_CODE, .words = {"diff", "{}", "{}", "--random"}},
    {"why", SCALE_CODE, .words = {"why", "{}", "{name}", "--random", "--levels=100"}},
    {"extract", SCALE_CODE, .words = {"extract", "{}", "{name}", "--random"}},
    {"reduce", SCALE_CODE,
     .words = {"reduce", "{}", "--random", "--check=grep -q '{name}' \"$1\""}},
    {"test", SCALE_GOLDEN, .words = {"test", "{}"}},
    {"repl", SCALE_SCRIPT, true, .words = {"repl"}},
    {"serve", SCALE_REQUESTS, true, .words = {"serve", "--stdio"}},
    {"import", SCALE_MODEL, .words = {"import", "{}"}},
    {"run", SCALE_MODEL, .words = {"run", "{}", "x={1, 2, 3, 4}"}},
    {"literal", SCALE_VALUES, .words = {"run", "{literal-input}", "@{literal}"}},
    {"feed", SCALE_VALUES, .words = {"run", "{infeeds}", "--infeed={feed}"}},
    {"npz", SCALE_VALUES, .words = {"run", "{inputs}", "--inputs={npz}"}},
    {"safetensors", SCALE_VALUES, .words = {"run", "{inputs}", "--inputs={safetensors}"}},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct kind *find_kind(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strlen(kinds[i].name) == length && !memcmp(name, kinds[i].name, length))
            return &kinds[i];
    fprintf(stderr, "scale: unknown kind %.*s\n", (int)length, name);
    exit(2);
}

/* ---- files and the words of a command ---- */

static char directory[] = "/tmp/hlo-scale-XXXXXX";

static void print_path(FILE *to, const struct kind *k, long n)
{
    fprintf(to, "%s/%ld.%s", directory, n, k->of == SCALE_MODEL ? "onnx" : k->name);
}

static char *path_of(const struct kind *k, long n) /* to be freed */
{
    char *path = NULL;
    size_t size;
    FILE *to = open_memstream(&path, &size);
    print_path(to, k, n);
    fclose(to);
    return path;
}

/* Creates the file in a child process, so that its memory is not measured later. */
static void make_file(const struct kind *k, long n)
{
    char *path = path_of(k, n);
    fflush(stdout);
    pid_t child = access(path, F_OK) ? fork() : -1;
    if (child == 0) {
        if (!freopen(path, "w", stdout))
            _exit(2);
        k->make(n);
        _exit(fclose(stdout) ? 2 : 0);
    }
    int status = 0;
    if (child > 0)
        waitpid(child, &status, 0);
    if (status || access(path, F_OK)) {
        fprintf(stderr, "scale: cannot write %s\n", path);
        exit(2);
    }
    free(path);
}

static void drop_file(const struct kind *k, long n)
{
    char *path = path_of(k, n);
    unlink(path);
    free(path);
}

static void empty_directory(void) /* removes files created because a command named them */
{
    DIR *dir = opendir(directory);
    struct dirent *e;
    while (dir && (e = readdir(dir)))
        unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
}

/* Prints the name of the last instruction: the word before the last " = ". */
static void print_last_name(FILE *to, const struct kind *k, long n)
{
    char *path = path_of(k, n), *line = NULL, name[256] = "";
    size_t capacity = 0;
    FILE *from = fopen(path, "r");
    while (from && getline(&line, &capacity, from) > 0)
        if (sscanf(line, " ROOT %255s =", name) != 1 && strstr(line, " = "))
            sscanf(line, " %255s =", name);
    if (from)
        fclose(from);
    fputs(name, to);
    free(line);
    free(path);
}

/* A word of a command, with {...} replaced; to be freed. */
static char *word_of(const char *word, const struct kind *k, long n)
{
    char *made = NULL;
    size_t size;
    FILE *to = open_memstream(&made, &size);
    for (const char *s = word; *s; s++) {
        const char *close = *s == '{' && (s[1] == '}' || islower(s[1])) ? strchr(s, '}') : NULL;
        if (!close) {
            fputc(*s, to);
            continue;
        }
        if (!strncmp(s, "{name}", 6)) {
            print_last_name(to, k, n);
        } else {
            const struct kind *named =
                close == s + 1 ? k : find_kind(s + 1, (size_t)(close - s - 1));
            make_file(named, n);
            print_path(to, named, n);
        }
        s = close;
    }
    fclose(to);
    return made;
}

static struct cost run(const char *hlo, const struct command *c, const struct kind *k, long n,
                       unsigned limit)
{
    char *words[MAX_WORDS + 2] = {strdup(hlo)};
    for (int i = 0; i < MAX_WORDS && c->words[i]; i++)
        words[i + 1] = word_of(c->words[i], k, n);
    char *input = c->input ? word_of("{}", k, n) : NULL;
    struct cost cost = scale_run(words, input, limit);
    for (int i = 0; i < MAX_WORDS + 2; i++)
        free(words[i]);
    free(input);
    return cost;
}

/* The mean of repeated runs that take a tenth of a second in total: the system samples processor
 * time every few milliseconds, so shorter times are noise. */
static struct cost run_often(const char *hlo, const struct command *c, const struct kind *k, long n,
                             unsigned limit)
{
    struct cost sum = run(hlo, c, k, n, limit);
    int runs = 1;
    for (; sum.status < 126 && sum.all < 0.1 && runs < 50; runs++) {
        struct cost t = run(hlo, c, k, n, limit);
        sum.user += t.user;
        sum.all += t.all;
    }
    sum.user /= runs;
    sum.all /= runs;
    return sum;
}

static bool goes_with(const struct command *c, const struct kind *k)
{
    return c->of == SCALE_VALUES ? !strcmp(c->name, k->name) : (c->of & k->of) != 0;
}

/* ---- the table ---- */

enum { SIZES = 3, LIMIT = 20 };

/* Ten times the input may take twelve times the time plus 20 ms of noise. System time depends on
 * the load, so both user time and total time must exceed the bound. */
static bool too_much(struct cost less, struct cost more)
{
    return more.user > 12 * less.user + 0.02 && more.all > 12 * less.all + 0.02;
}

static double ratio(double more, double less) { return less > 0 ? more / less : 0; }

static void print_row(const char *hlo, const struct command *c, const struct kind *k, long n)
{
    struct cost t[SIZES] = {0};
    bool bad = false;
    for (int i = 0; i < SIZES; i++, n *= 10) {
        make_file(k, n);
        t[i] = run_often(hlo, c, k, n, LIMIT);
        drop_file(k, n);
        bad |= (i && too_much(t[i - 1], t[i])) || t[i].status >= 126;
        if (t[i].status >= 126)
            break;
    }
    printf("| %s | %s |", c->name, k->name);
    for (int i = 0; i < SIZES; i++)
        printf(" %.3f |", t[i].user);
    printf(" %.1f | %.1f |", ratio(t[1].user, t[0].user), ratio(t[2].user, t[1].user));
    for (int i = 0; i < SIZES; i++)
        printf(" %.1f |", (double)t[i].memory / 1024);
    printf(" %.1f |", ratio((double)t[2].memory, (double)t[1].memory));
    for (int i = 0; i < SIZES; i++)
        printf(" %d", t[i].status);
    printf(" |%s\n", bad ? " **!** |" : " |");
    fflush(stdout);
}

static bool named_in(const char *list, const char *name) /* a list of words, separated by commas */
{
    size_t length = strlen(name);
    for (const char *s = list; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
        if (!strncmp(s, name, length) && (s[length] == ',' || !s[length]))
            return true;
    return false;
}

static int table(int argc, char **argv)
{
    long n = 300;
    if (argc > 2 && !strcmp(argv[0], "-n")) {
        n = atol(argv[1]);
        argv += 2, argc -= 2;
    }
    printf("| command | kind | %ld: s | %ld: s | %ld: s | x10 | x10 | MiB | MiB | MiB | x10 | "
           "status | |\n",
           n, 10 * n, 100 * n);
    printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const struct command *c = commands; c < commands + COUNT(commands); c++) {
        if (argc > 1 && !named_in(argv[1], c->name))
            continue;
        for (const struct kind *k = kinds; k < kinds + COUNT(kinds); k++) {
            bool requested = argc < 3;
            for (int i = 2; i < argc; i++)
                requested |= !strcmp(argv[i], k->name);
            if (requested && goes_with(c, k))
                print_row(argv[0], c, k, n);
        }
    }
    return 0;
}

/* ---- the check ---- */

enum { SMALL = 1000, SMALLEST = 10, LARGEST = 100 * SMALL, TRIES = 5, FACTOR = 40 };

/* The shorter of `min` and the time of a run, if it ends within LIMIT; NaN: it crashed. */
static double shorter(double min, const char *hlo, const struct command *c, const struct kind *k,
                      long n)
{
    struct cost t = run(hlo, c, k, n, LIMIT);
    if (t.status >= 126)
        return t.all < LIMIT / 2 ? NAN : min;
    return t.all < min ? t.all : min;
}

struct times {
    double small, large; /* of an input and of ten times as much */
};

/*
 * Whether ten times the input takes less than 40 times the time: linear is ten times, quadratic a
 * hundred. Since times vary, the bound is wide, 50 ms are ignored, and times beyond it are measured
 * again. `start`, the time that the program takes to start, is subtracted from both.
 */
static bool is_linear(const char *hlo, const struct command *c, const struct kind *k, long n,
                      double start, struct times *t)
{
    bool good = false;
    *t = (struct times){LIMIT, LIMIT};
    make_file(k, n);
    make_file(k, 10 * n);
    for (int i = 0; i < TRIES && !good && (i == 0 || t->large < LIMIT); i++) {
        t->small = shorter(t->small, hlo, c, k, n);
        t->large = shorter(t->large, hlo, c, k, 10 * n);
        good = t->small < LIMIT && t->large < LIMIT &&
               t->large - start < FACTOR * fmax(t->small - start, 0) + 0.05;
    }
    drop_file(k, n);
    drop_file(k, 10 * n);
    return good;
}

/* Another size decides where these times do not, so that the speed of the machine does not matter:
 * a smaller one if both reach the limit, a larger one while what depends on the size is short. */
static bool check(const char *hlo, const struct command *c, const struct kind *k, double start)
{
    struct times t;
    long n = SMALL;
    bool good = is_linear(hlo, c, k, n, start, &t);
    while (!good && FACTOR * t.small >= LIMIT && t.large >= LIMIT && n > SMALLEST)
        good = is_linear(hlo, c, k, n /= 10, start, &t);
    while (!good && n >= SMALL && t.large < 1 && n < LARGEST)
        good = is_linear(hlo, c, k, n *= 10, start, &t);
    if (!good)
        printf("# %.3f s for %ld, and %.3f s for ten times as much\n", t.small, n, t.large);
    return good;
}

/* Fast commands are checked with all kinds; diff, which runs a module, only with kinds on which
 * traced runs were slow. */
static bool is_checked(const struct command *c, const struct kind *k)
{
    return named_in("verify,plan,repl", c->name) ||
           (named_in("diff", c->name) && named_in("branches,elements,loop-wide", k->name));
}

static int check_all(const char *hlo)
{
    int n = 0, bad = 0;
    for (const struct command *c = commands; c < commands + COUNT(commands); c++) {
        if (!named_in("verify,plan,diff,repl", c->name))
            continue;
        const struct kind *chain = find_kind("chain", 5);
        make_file(chain, 2);
        double start = LIMIT;
        for (int i = 0; i < 3; i++)
            start = shorter(start, hlo, c, chain, 2);
        drop_file(chain, 2);
        for (const struct kind *k = kinds; k < kinds + COUNT(kinds); k++)
            if (goes_with(c, k) && is_checked(c, k)) {
                bool good = check(hlo, c, k, start);
                printf("%s %d - %s of %s\n", good ? "ok" : "not ok", ++n, c->name, k->name);
                bad += !good;
            }
    }
    printf("1..%d\n", n);
    return bad ? 1 : 0;
}

static int make(const char *name, const char *n)
{
    find_kind(name, strlen(name))->make(atol(n));
    return ferror(stdout) || fflush(stdout) ? 2 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "make"))
        return make(argv[2], argv[3]);
    bool tables = argc > 2 && !strcmp(argv[1], "table");
    if (!tables && !(argc == 3 && !strcmp(argv[1], "check"))) {
        fprintf(stderr, "usage: scale make KIND N\n       scale table [-n N] HLO "
                        "[COMMAND[,COMMAND...] [KIND...]]\n"
                        "       scale check HLO\n");
        return 2;
    }
    if (!mkdtemp(directory)) {
        perror(directory);
        return 2;
    }
    int status = tables ? table(argc - 2, argv + 2) : check_all(argv[2]);
    empty_directory();
    rmdir(directory);
    return status;
}
