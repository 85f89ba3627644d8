/*
 * timed.c: prepares a module, runs it, and records the times.
 */
#include "cli/timed.h"

static int collect(struct timed *t)
{
    const double start = now_seconds();
    const int status = arguments_collect(&t->arguments);
    t->inputs = now_seconds() - start;
    t->results = heap_zalloc(t->arguments.participants, sizeof *t->results);
    return status;
}

int timed_prepare(struct timed *t, const struct options *o, const char *path,
                  const char *const *given, size_t count)
{
    *t = (struct timed){.o = o, .m = hlo_messages_new()};
    struct hlo_run_options options = {.size = sizeof options,
                                      .plain = o->given[OPT_PLAIN],
                                      .elided = HLO_ELIDED_RANDOM,
                                      .seed = 1};
    t->file = open_file(o, path, t->m);
    options.targets = t->targets = t->file ? targets_of(o, t->m) : NULL;
    if (!t->targets || !option_threads(o, 0, &options.threads))
        return HLO_USAGE;
    const double start = now_seconds();
    t->module = hlo_parse(t->file, 0, t->m);
    const double parsed = now_seconds();
    t->arguments = (struct arguments){.o = o,
                                      .m = t->m,
                                      .module = t->module,
                                      .given = given,
                                      .given_count = count,
                                      .make_up = true};
    const int status = arguments_check(&t->arguments, t->module);
    if (status != HLO_OK)
        return status;
    t->program = hlo_plan(t->module, &options, t->m);
    t->parse = parsed - start;
    t->plan = now_seconds() - parsed;
    return t->program ? collect(t) : HLO_FAILED;
}

bool timed_requested(struct timed *t, int64_t otherwise, int64_t *requested)
{
    if (!option_int(t->o, OPT_RUNS, 1, TIMED_MAX_RUNS, otherwise, requested))
        return false;
    t->runs = heap_zalloc((size_t)*requested + 1, sizeof *t->runs);
    return true;
}

bool timed_run(struct timed *t)
{
    const struct arguments *a = &t->arguments;
    const double start = now_seconds();
    const bool ok = hlo_run_all(t->program, (const hlo_literal *const *)a->all, a->count, NULL,
                                t->results, t->m);
    t->runs[t->run_count++] = now_seconds() - start;
    for (size_t k = 0; k < a->participants; k++)
        hlo_literal_free(t->results[k]);
    return ok;
}

void timed_free(struct timed *t)
{
    report(t->o, t->m);
    arguments_free(&t->arguments);
    heap_free(t->results);
    heap_free(t->runs);
    hlo_program_free(t->program);
    hlo_targets_free(t->targets);
    hlo_module_free(t->module);
    hlo_file_free(t->file);
    hlo_messages_free(t->m);
}
