/*
 * Checks the benchmark cases: results of the fast kernels, on one thread and on two, agree with
 * those of the reference kernels.
 *
 *   check FILE...
 *
 * `// agrees: rel=R abs=A` in a case gives a tolerance; without it, results must be equal. Prints
 * TAP.
 */
#include "hlo_advanced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 1 };

struct check {
    const char *path;
    hlo_messages *m;
    hlo_module *module;
    hlo_literal **args;
    size_t count;
    struct hlo_tolerance agrees;
};

static void read_tolerance(struct check *c, const hlo_file *f)
{
    static const char mark[] = "// agrees: ";
    size_t size;
    uint32_t first;
    const char *text = hlo_file_text(f, 0, &size, &first);
    for (size_t i = 0; i + sizeof mark < size; i++)
        if (memcmp(text + i, mark, sizeof mark - 1) == 0) {
            char line[80];
            snprintf(line, sizeof line, "%.*s", (int)(size - i < 79 ? size - i : 79),
                     text + i + sizeof mark - 1);
            sscanf(line, "rel=%lf abs=%lf", &c->agrees.rel, &c->agrees.abs);
            return;
        }
}

static hlo_literal *run(struct check *c, bool plain, int threads)
{
    struct hlo_run_options options = {
        .size = sizeof options, .plain = plain, .threads = threads, .seed = SEED};
    hlo_program *p = hlo_plan(c->module, &options, c->m);
    hlo_literal *l = p ? hlo_run(p, (const hlo_literal *const *)c->args, c->count, c->m) : NULL;
    hlo_program_free(p);
    return l;
}

static bool agree(struct check *c)
{
    bool ok = true;
    hlo_literal *plain = run(c, true, 1);
    for (int threads = 1; threads <= 2 && ok; threads++) {
        hlo_text why = {0};
        hlo_literal *fast = run(c, false, threads);
        ok = plain && fast && hlo_literal_compare(fast, plain, &c->agrees, &why);
        if (!ok && why.size > 0)
            printf("# %d threads: %s\n", threads, why.data);
        hlo_text_free(&why);
        hlo_literal_free(fast);
    }
    hlo_literal_free(plain);
    return ok;
}

static bool check_module(struct check *c)
{
    bool ok = true;
    c->count = hlo_param_count(c->module);
    c->args = calloc(c->count + 1, sizeof(hlo_literal *));
    for (size_t i = 0; ok && i < c->count; i++)
        ok = c->args && (c->args[i] = hlo_random_param(c->module, i, SEED, c->m));
    ok = ok && agree(c);
    for (size_t i = 0; c->args && i < c->count; i++)
        hlo_literal_free(c->args[i]);
    free(c->args);
    return ok;
}

static bool check_file(const char *path)
{
    struct check c = {.path = path, .m = hlo_messages_new(), .agrees = HLO_TOLERANCE_INIT};
    hlo_file *f = hlo_file_open(path, false, c.m);
    if (f)
        read_tolerance(&c, f);
    c.module = f ? hlo_parse(f, 0, c.m) : NULL;
    bool ok = c.module && hlo_verify(c.module, c.m) && check_module(&c);
    hlo_text message = hlo_messages_draw(c.m, false);
    fputs(message.data, stderr);
    hlo_text_free(&message);
    hlo_module_free(c.module);
    hlo_file_free(f);
    hlo_messages_free(c.m);
    return ok;
}

int main(int argc, char **argv)
{
    bool all = true;
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        bool ok = check_file(argv[i]);
        const char *name = strrchr(argv[i], '/');
        printf("%sok %d - %s\n", ok ? "" : "not ", i, name ? name + 1 : argv[i]);
        fflush(stdout);
        all = all && ok;
    }
    return !all;
}
