/*
 * The one table of subcommands and options: parsing, --help and suggestions come from it.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define IN(command) (1u << CMD_##command)
enum { EVERYWHERE = (1u << CMD_COUNT) - 1 };

struct option_row {
    const char *name;
    const char *value; /* "=FILE", "[=SEED]" (may be left out), or "" for a switch */
    const char *help;
    unsigned commands; /* IN(...) bits */
    char letter;       /* 0: none */
    bool each;         /* for one participant as --NAME@N */
    bool many;         /* may be given several times, each of them kept */
};

static const struct option_row option_table[OPT_COUNT] = {
    [OPT_STRICT] = {"strict", "", "take exactly what XLA's parser (jaxlib 0.10.2) takes",
                    IN(RUN) | IN(VERIFY) | IN(FMT), 0},
    [OPT_PARSE_ONLY] = {"parse-only", "", "stop after the parser", IN(VERIFY), 0},
    [OPT_JSON] = {"json", "", "one JSON object on standard output", IN(VERIFY) | IN(BENCH) | IN(PROF) | IN(PLAN) | IN(OPS), 0},
    [OPT_INPUTS] = {"inputs", "=FILE", "arguments by name: .npz, .safetensors, or a folder of .npy and .bin files", IN(RUN) | IN(BENCH) | IN(PROF) | IN(IMPORT), 0, true},
    [OPT_OUTPUT] = {"output", "=FILE", "write the result: .npz (out0, out1, ...), .npy, or else as text",
                    IN(RUN) | IN(IMPORT), 'o'},
    [OPT_BOUND] = {"bound", "=N", "of a model: how far sizes and loops go that nothing else bounds; a run finds out",
                   IN(RUN) | IN(IMPORT), 0},
    [OPT_RANDOM] = {"random", "[=SEED]",
                    "make up arguments that are not given, the same for the same seed (1)",
                    IN(RUN) | IN(BENCH) | IN(PROF), 0},
    [OPT_ELIDED] = {"elided", "=HOW", "zero, iota or random: what stands for constants written {...}",
                    IN(RUN), 0},
    [OPT_PLAIN] = {"plain", "", "plain kernels: each op by its formula, the same bits on every machine",
                   IN(RUN) | IN(TEST) | IN(BENCH) | IN(PROF) | IN(PLAN) | IN(OPS), 0},
    [OPT_MAX_STEPS] = {"max-steps", "=N", "end a run after N instructions and iterations of loops, status 5",
                       IN(RUN), 0},
    [OPT_MAX_MEMORY] = {"max-memory", "=BYTES", "end a run whose values need more; 64k, 500M and 2G are read",
                        IN(RUN), 0},
    [OPT_TIMEOUT] = {"timeout", "=SECONDS", "end a run that takes longer", IN(RUN), 0},
    [OPT_THREADS] = {"threads", "=N", "so many share large operations (as many as there are processors; hlo test: 1)",
                     IN(RUN) | IN(TEST) | IN(BENCH) | IN(PROF) | IN(PLAN), 0},
    [OPT_REPLICAS] = {"replicas", "=N", "so many replicas in place of replica_count", IN(RUN) | IN(BENCH) | IN(PROF) | IN(PLAN), 0},
    [OPT_PARTITIONS] = {"partitions", "=N", "so many partitions in place of num_partitions", IN(RUN) | IN(BENCH) | IN(PROF) | IN(PLAN), 0},
    [OPT_WORLD] = {"world", "=KIND", "threads; or mpi: participants are spread over what mpirun starts",
                   IN(RUN) | IN(TEST), 0},
    [OPT_INFEED] = {"infeed", "=FILE", "what infeed reads: literals, one a line; - is standard input", IN(RUN), 0, true},
    [OPT_OUTFEED] = {"outfeed", "=FILE", "where outfeed writes: the same; - is standard output", IN(RUN), 0, true},
    [OPT_CUSTOM_CALL] = {"custom-call", "=NAME=HOW",
                         "identity, zeros or a shell command for a target; NAME may end in *",
                         IN(RUN) | IN(TEST) | IN(BENCH) | IN(PROF) | IN(PLAN), 0, .many = true},
    [OPT_CUSTOM_CALL_LIB] = {"custom-call-lib", "=LIB.so", "functions of this library are targets of custom calls",
                             IN(RUN) | IN(TEST) | IN(BENCH) | IN(PROF) | IN(PLAN), 0, .many = true},
    [OPT_MODULE] = {"module", "=N", "only module N of a file that holds several", IN(RUN) | IN(BENCH) | IN(PROF) | IN(PLAN), 0},
    [OPT_IN_PLACE] = {"in-place", "", "rewrite the files; comments above a module stay, others are lost",
                      IN(FMT), 'i'},
    [OPT_DIFF] = {"diff", "", "show what would change; status 1 when something would", IN(FMT), 0},
    [OPT_SHORT] = {"short", "", "without metadata, percent signs and signatures", IN(FMT), 0},
    [OPT_TAP] = {"tap", "", "report as TAP version 13", IN(TEST), 0},
    [OPT_JUNIT] = {"junit", "=FILE", "write a JUnit report as well", IN(TEST), 0},
    [OPT_FILTER] = {"filter", "=RE", "only tests whose name matches", IN(TEST), 0},
    [OPT_JOBS] = {"jobs", "=N", "this many at a time (as many as there are processors)", IN(TEST), 'j'},
    [OPT_UPDATE] = {"update", "",
                    "rewrite out:, print: and error: lines to what comes out; never when CI is set", IN(TEST),
                    0},
    [OPT_TIME_LIMIT] = {"time-limit", "=SECONDS", "end a test that takes longer (60)", IN(TEST), 0},
    [OPT_RUNS] = {"runs", "=N", "run it this often, the first time included (5), or for 20 seconds",
                  IN(BENCH) | IN(PROF), 'n'},
    [OPT_TOP] = {"top", "=N", "show so many steps, and operations (20)", IN(PROF), 0},
    [OPT_CSV] = {"csv", "", "a line for each step, with commas", IN(PROF), 0},
    [OPT_CHROME] = {"chrome", "=FILE", "also write when each step ran, as a trace that browsers show", IN(PROF), 0},
    [OPT_DICT] = {"dict", "", "every word of the language as a dictionary for libFuzzer", IN(OPS), 0},
    [OPT_MATRIX] = {"matrix", "", "operations by element types: what runs, what is rejected, what is missing",
                    IN(OPS), 0},
    [OPT_COLOR] = {"color", "=WHEN", "auto, always or never; NO_COLOR is obeyed", EVERYWHERE, 0},
    [OPT_HELP] = {"help", "", "show this", EVERYWHERE, 'h'},
    [OPT_VERSION] = {"version", "", "show the version", EVERYWHERE, 0},
};

struct command_row {
    const char *name, *usage, *summary, *examples;
};

static const struct command_row command_table[CMD_COUNT] = {
    [CMD_RUN] = {"run", "hlo run [OPTION...] FILE [ARG...]",
                 "Run the entry computation and print its result.",
                 "  hlo run add.hlo 'f32[3] {1, 2, 3}' '{4, 5, 6}'\n"
                 "  hlo run step.hlo x=@x.npy lr=0.1\n"
                 "  hlo run step.hlo --inputs in.npz --output out.npz\n"
                 "  hlo run dump.txt --random=7 --elided=zero\n"
                 "  hlo run sum.hlo --replicas=2 x@0='{1, 2}' x@1='{3, 4}'\n"
                 "  hlo run loop.hlo --infeed=- --outfeed=out.txt <items.txt\n"
                 "  mpirun -n 4 hlo run step.hlo --replicas=4 --world=mpi\n"
                 "  hlo run model.onnx x='{1, 2}' --bound=100\n"
                 "\n"
                 "An ARG stands for the next parameter, or for the one it names as NAME=ARG; NAME@N=ARG\n"
                 "is for participant N alone, which is replica * partitions + partition:\n"
                 "  'f32[2] {1, 2}'  a literal; the shape may be left out: 5, '{1, 2}'\n"
                 "  @x.txt           a literal from a file\n"
                 "  @x.npy  @x.bin   an array; of .bin and .raw the bytes and nothing else\n"
                 "  @x.npz  @x.safetensors  @folder\n"
                 "                   arrays by name: arg0, arg1, ..., which are the leaves of all parameters in\n"
                 "                   order, or the parameter's name, with .0, .1, ... for parts of a tuple;\n"
                 "                   arg0@2 is for participant 2; in a folder, files with .npy or .bin behind the name\n"
                 "\n"
                 "Large arrays are used where they lie in a file, unless it is compressed: it must not change\n"
                 "while it is used.\n"
                 "\n"
                 "Of a model of ONNX, FILE.onnx, ARGs are for its inputs, by their names or in order; as\n"
                 "well as the above they may be\n"
                 "  '[{1}, {1, 2}]'  a sequence of tensors\n"
                 "  none             an optional that is empty\n"
                 "  @x.pb            a file of ONNX's test data; --inputs=DIR takes input_0.pb, ... from a folder\n"},
    [CMD_VERIFY] = {"verify", "hlo verify [OPTION...] FILE...",
                    "Say everything that is wrong with each file.",
                    "  hlo verify module.hlo\n"
                    "  hlo verify --strict --parse-only *.hlo\n"
                    "  hlo verify --json module.hlo | jq '.files[].diagnostics[].text'\n"},
    [CMD_FMT] = {"fmt", "hlo fmt [OPTION...] FILE...", "Print modules in XLA's canonical form.",
                 "  hlo fmt module.hlo\n"
                 "  hlo fmt --short - <dump.txt\n"
                 "  hlo fmt --diff *.hlo\n"},
    [CMD_TEST] = {"test", "hlo test [OPTION...] PATH...", "Run the golden tests, and the node tests of ONNX, in files and folders.",
                  "  hlo test testdata\n"
                  "  hlo test --filter=reduce -j4 testdata\n"
                  "  hlo test --tap testdata/io\n"
                  "  hlo test --update testdata/new.hlo\n"},
    [CMD_IMPORT] = {"import", "hlo import [OPTION...] MODEL.onnx [ARG...]",
                    "Translate a model of ONNX into HLO text.",
                    "  hlo import model.onnx\n"
                    "  hlo import model.onnx --bound=100 -o model.hlo\n"
                    "  hlo import model.onnx --inputs=in.npz\n"
                    "\n"
                    "Where the values of the inputs are given, as for hlo run, sizes that the model leaves open\n"
                    "are theirs.\n"},
    [CMD_BENCH] = {"bench", "hlo bench [OPTION...] FILE...",
                   "Say how long modules take to read, plan and run.",
                   "  hlo bench step.hlo\n"
                   "  hlo bench step.hlo -n 20 --json\n"
                   "  hlo bench model.hlo --inputs=weights.npz\n"
                   "\n"
                   "Inputs are made up, unless --inputs has them. In seconds, of each FILE:\n"
                   "  parse_s         from text to module\n"
                   "  plan_s          checking and planning\n"
                   "  inputs_s        reading or making up the inputs; in no other figure\n"
                   "  first_run_s     the first run\n"
                   "  first_result_s  from the start of the process, or the end of the FILE before, to the first result\n"
                   "  run_median_s    and run_min_s: of the runs after the first, where there are any\n"
                   "and peak_rss, the most memory that was resident, in bytes. --json: an object a line.\n"},
    [CMD_PLAN] = {"plan", "hlo plan [OPTION...] FILE",
                  "Say what a run will do, step by step, and what memory it takes.",
                  "  hlo plan step.hlo\n"
                  "  hlo plan step.hlo --json | jq .memory\n"
                  "\n"
                  "Of each step: its results and their shapes, where each of them lives (a buffer of its own,\n"
                  "an operand's that is needed no more, or a view of an operand), until which step; the bytes\n"
                  "of values alive while it runs; and by what means it is done.\n"},
    [CMD_PROF] = {"prof", "hlo prof [OPTION...] FILE [ARG...]",
                  "Say what a module spends its time on, by step and by operation.",
                  "  hlo prof step.hlo\n"
                  "  hlo prof step.hlo x=@x.npy --runs=100 --top=5\n"
                  "  hlo prof step.hlo --chrome=trace.json\n"
                  "\n"
                  "ARGs are those of hlo run; what is not given is made up. Runs ten times, or for a second.\n"
                  "Times are without the steps within a step; operations and bytes are told from shapes.\n"},
    [CMD_OPS] = {"ops", "hlo ops [OPTION...] [NAME]",
                 "List the operations, or say all of one: rule, types, attributes, an example.",
                 "  hlo ops\n"
                 "  hlo ops dynamic-slice\n"
                 "  hlo ops --matrix\n"
                 "  hlo ops --matrix convert\n"
                 "  hlo ops --dict >hlo.dict\n"},
};

/* ---- help ---- */

static void put_option(FILE *f, const struct option_row *row)
{
    char left[64];
    const char *each = row->each ? "[@N]" : "";
    int n = row->letter ? snprintf(left, sizeof left, "-%c, --%s%s%s", row->letter, row->name, each, row->value)
                        : snprintf(left, sizeof left, "    --%s%s%s", row->name, each, row->value);
    fprintf(f, n > 24 ? "  %s\n%28s%s\n" : "  %-25s %.0s%s\n", left, "", row->help);
}

static void put_general_help(FILE *f)
{
    fputs("hlo: reads, checks, formats and runs HLO, the text language of XLA.\n\n"
          "  hlo run add.hlo 'f32[3] {1, 2, 3}' '{4, 5, 6}'\n"
          "  hlo verify module.hlo\n"
          "  hlo fmt dump.txt\n"
          "  hlo ops dynamic-slice\n\n"
          "usage: hlo COMMAND [OPTION...] ...     or: hlo FILE [ARG...], the same as hlo run\n\n",
          f);
    for (int c = 0; c < CMD_COUNT; c++)
        fprintf(f, "  %-8s %s\n", command_table[c].name, command_table[c].summary);
    fputs("\n`hlo COMMAND --help` says more; FILE may be - for standard input.\n"
          "Exit status: 0 done; 1 a comparison or test failed; 2 usage or file; 3 rejected by parser or\n"
          "verifier; 4 run-time error or unsupported; 5 a limit was hit; 130 interrupted.\n",
          f);
}

void print_help(FILE *f, enum command c)
{
    if (c == CMD_NONE) {
        put_general_help(f);
        return;
    }
    const struct command_row *row = &command_table[c];
    fprintf(f, "%s\n\n%s\nusage: %s\n\n", row->summary, row->examples, row->usage);
    for (int i = 0; i < OPT_COUNT; i++)
        if (option_table[i].commands >> c & 1)
            put_option(f, &option_table[i]);
}

/* ---- names and suggestions ---- */

const char *option_name(enum option_id id)
{
    return option_table[id].name;
}

enum command command_find(const char *word)
{
    for (int c = 0; c < CMD_COUNT; c++)
        if (strcmp(word, command_table[c].name) == 0)
            return (enum command)c;
    return CMD_NONE;
}

static void keep_nearest(struct str word, const char *candidate, unsigned *best, const char **nearest)
{
    unsigned limit = word.len > 4 ? 3 : 2, d = str_distance(word, str_of(candidate), limit);
    if (d < limit && d < *best) {
        *best = d;
        *nearest = candidate;
    }
}

const char *command_nearest(const char *word)
{
    const char *nearest = "";
    unsigned best = UINT_MAX;
    for (int c = 0; c < CMD_COUNT; c++)
        keep_nearest(str_of(word), command_table[c].name, &best, &nearest);
    return nearest;
}

int usage_error(const struct options *o, const char *format, ...)
{
    va_list ap;
    FILE *f = world_stderr(o);
    va_start(ap, format);
    fputs(o->color ? "\033[1mhlo: \033[31merror:\033[0m " : "hlo: error: ", f);
    vfprintf(f, format, ap);
    va_end(ap);
    if (o->command == CMD_NONE)
        fputs("\nTry `hlo --help`.\n", f);
    else
        fprintf(f, "\nTry `hlo %s --help`.\n", command_table[o->command].name);
    return HLO_USAGE;
}

static bool unknown_option(const struct options *o, struct str name)
{
    const char *nearest = "";
    unsigned best = UINT_MAX;
    for (int i = 0; i < OPT_COUNT; i++) {
        if (!(o->command == CMD_NONE || option_table[i].commands >> o->command & 1))
            continue;
        if (name.len > 1 && str_starts(str_of(option_table[i].name), name) && best > 0) {
            best = 0;
            nearest = option_table[i].name;
        }
        keep_nearest(name, option_table[i].name, &best, &nearest);
    }
    if (*nearest)
        usage_error(o, "unknown option `--" STR_FMT "`; did you mean `--%s`?", STR_ARG(name), nearest);
    else
        usage_error(o, "unknown option `--" STR_FMT "`", STR_ARG(name));
    return false;
}

/* ---- parsing ---- */

struct words {
    int count, at;
    char **words;
};

static enum option_id find_option(const struct options *o, struct str name, char letter)
{
    for (int i = 0; i < OPT_COUNT; i++) {
        const struct option_row *row = &option_table[i];
        bool here = o->command == CMD_NONE ? row->commands == EVERYWHERE : row->commands >> o->command & 1;
        if (here && (letter ? row->letter == letter : str_is(name, row->name)))
            return (enum option_id)i;
    }
    return OPT_COUNT;
}

/* Takes the value that stands with the option, or the next word where one must follow. */
static bool set_option(struct options *o, enum option_id id, const char *value, struct words *w)
{
    const struct option_row *row = &option_table[id];
    if (value && !*row->value)
        return usage_error(o, "option `--%s` takes no value", row->name), false;
    if (!value && row->value[0] == '=') {
        if (w->at == w->count)
            return usage_error(o, "option `--%s` needs a value: --%s%s", row->name, row->name, row->value),
                   false;
        value = w->words[w->at++];
    }
    o->given[id] = true;
    o->value[id] = value;
    if (row->many)
        o->each[o->each_count++] = (struct each_option){id, -1, value};
    return true;
}

/* --NAME@N=VALUE */
static bool option_for_one(struct options *o, enum option_id id, struct str number, const char *value, struct words *w)
{
    const struct option_row *row = &option_table[id];
    struct each_option *e = &o->each[o->each_count];
    if (!row->each)
        return usage_error(o, "option `--%s` is not for one participant", row->name), false;
    if (!num_parse_i64(number, &e->participant) || e->participant < 0)
        return usage_error(o, "`--%s@" STR_FMT "`: the number of a participant is wanted", row->name, STR_ARG(number)),
               false;
    if (!value && w->at == w->count)
        return usage_error(o, "option `--%s` needs a value: --%s%s", row->name, row->name, row->value), false;
    e->id = id;
    e->value = value ? value : w->words[w->at++];
    o->each_count++;
    return true;
}

static bool long_option(struct options *o, const char *word, struct words *w)
{
    const char *equal = strchr(word, '=');
    struct str name = {word, equal ? (size_t)(equal - word) : strlen(word)};
    const char *at = memchr(name.ptr, '@', name.len);
    if (at) {
        struct str number = {at + 1, (size_t)(name.ptr + name.len - at - 1)};
        name.len = (size_t)(at - name.ptr);
        enum option_id one = find_option(o, name, 0);
        return one == OPT_COUNT ? unknown_option(o, name) : option_for_one(o, one, number, equal ? equal + 1 : NULL, w);
    }
    enum option_id id = find_option(o, name, 0);
    return id == OPT_COUNT ? unknown_option(o, name) : set_option(o, id, equal ? equal + 1 : NULL, w);
}

static bool short_options(struct options *o, const char *word, struct words *w)
{
    for (; *word; word++) {
        enum option_id id = find_option(o, STR(""), *word);
        if (id == OPT_COUNT)
            return usage_error(o, "unknown option `-%c`", *word), false;
        if (option_table[id].value[0] == '=')
            return set_option(o, id, word[1] ? word + 1 : NULL, w);
        set_option(o, id, NULL, w);
    }
    return true;
}

/* `-`, -5, -0.5 and -inf are arguments, not options. */
static bool is_argument(const char *word)
{
    return word[0] != '-' || !word[1] || (word[1] >= '0' && word[1] <= '9') || word[1] == '.' ||
           strcmp(word, "-inf") == 0 || strcmp(word, "-nan") == 0;
}

static bool choose_color(struct options *o)
{
    const char *when = o->value[OPT_COLOR], *no = getenv("NO_COLOR"), *term = getenv("TERM");
    o->color = isatty(STDERR_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
    if (!when || strcmp(when, "auto") == 0)
        return true;
    o->color = strcmp(when, "always") == 0;
    return o->color || strcmp(when, "never") == 0 ||
           (usage_error(o, "`--color=%s`: auto, always or never is wanted", when), false);
}

bool options_parse(struct options *o, int argc, char **argv)
{
    struct words w = {argc, 0, argv};
    bool options_end = false, ok = true;
    while (ok && w.at < w.count) {
        const char *word = w.words[w.at++];
        if (options_end || is_argument(word))
            o->args[o->arg_count++] = word;
        else if (strcmp(word, "--") == 0)
            options_end = true;
        else
            ok = word[1] == '-' ? long_option(o, word + 2, &w) : short_options(o, word + 1, &w);
    }
    return ok && choose_color(o);
}

bool option_int(const struct options *o, enum option_id id, int64_t low, int64_t high, int64_t absent,
                int64_t *out)
{
    *out = absent;
    if (!o->value[id] || (num_parse_i64(str_of(o->value[id]), out) && *out >= low && *out <= high))
        return true;
    usage_error(o, "`--%s=%s`: a number from %" PRId64 " to %" PRId64 " is wanted", option_table[id].name,
                o->value[id], low, high);
    return false;
}

bool option_threads(const struct options *o, int absent, int *out)
{
    enum { MOST_THREADS = 256 };
    int64_t n;
    bool ok = option_int(o, OPT_THREADS, 1, MOST_THREADS, absent, &n);
    *out = (int)n;
    return ok;
}
