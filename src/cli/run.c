/*
 * hlo run: the run, and its results.
 */
#include "cli/arguments.h"
#include "cli/model.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the run ---- */

static int run_program(const struct arguments *a, struct feed_files *feeds, hlo_program *p)
{
    hlo_literal **results = calloc(a->participants, sizeof(hlo_literal *));
    int status = HLO_OK;
    if (!results)
        return HLO_FAILED;
    interrupt_begin(p);
    bool ok = hlo_run_all(p, (const hlo_literal *const *)a->all, a->count, &feeds->feeds, results, a->m);
    bool interrupted = interrupt_end();
    bool written = feed_finish(feeds, ok, a->m);
    if (!ok && interrupted)
        status = STATUS_INTERRUPTED;
    else if (!ok)
        status = hlo_messages_limit(a->m) ? HLO_LIMIT : HLO_FAILED;
    else if (!written || (world_first(a->o) && !put_results(a->o, results, a->participants, a->m)))
        status = HLO_USAGE;
    for (size_t k = 0; k < a->participants; k++)
        hlo_literal_free(results[k]);
    free(results);
    return status;
}

static int run_module(struct arguments *a)
{
    struct hlo_run_options options;
    struct feed_files feeds = {0};
    hlo_program *p = NULL;
    if (!run_options(a->o, &options))
        return HLO_USAGE;
    hlo_targets *targets = targets_of(a->o, a->m);
    int status = targets ? arguments_collect(a) : HLO_USAGE;
    options.targets = targets;
    if (status == HLO_OK && world_first(a->o))
        status = feed_open(&feeds, a);
    if (status == HLO_OK && !(p = hlo_plan(a->module, &options, a->m)))
        status = HLO_FAILED;
    status = world_agree(a->o, status);
    if (status == HLO_OK)
        status = run_program(a, &feeds, p);
    hlo_program_free(p);
    feed_free(&feeds);
    hlo_targets_free(targets);
    return status;
}

static int run_part(const struct options *o, const hlo_file *f, size_t part, struct buf *ahead)
{
    hlo_messages *m = hlo_messages_new();
    hlo_module *module = hlo_parse(f, part, m);
    struct arguments a = {.o = o, .m = m, .module = module, .given = o->args + 1, .given_count = o->arg_count - 1,
                          .make_up = o->given[OPT_RANDOM], .ahead = ahead};
    int status = HLO_REJECTED;
    if (module && !arguments_participants(&a, module)) {
        status = HLO_USAGE;
    } else if (module && hlo_verify(module, m)) {
        status = run_module(&a);
        arguments_free(&a);
    }
    report(o, m);
    hlo_module_free(module);
    hlo_messages_free(m);
    return status;
}

static int run_file(const struct options *o, const hlo_file *f)
{
    size_t count = hlo_file_count(f);
    int64_t only;
    if (!option_int(o, OPT_MODULE, 1, (int64_t)count, 0, &only))
        return HLO_USAGE;
    if (only == 0 && o->given[OPT_OUTPUT] && count > 1)
        return usage_error(o, "the file holds %zu modules: --output needs --module=N", count);
    int status = HLO_OK;
    struct buf ahead = {0};
    size_t part = only > 0 ? (size_t)only - 1 : 0, end = only > 0 ? (size_t)only : count;
    for (; part < end && status == HLO_OK; part++)
        status = run_part(o, f, part, &ahead);
    buf_free(&ahead);
    return status;
}

int run_command(const struct options *o)
{
    struct hlo_run_options options;
    if (o->arg_count == 0)
        return usage_error(o, "no file given");
    if (ends_with(o->args[0], ".onnx") && world_of(o))
        return usage_error(o, "a model of ONNX has one participant: leave out --world=mpi");
    if (ends_with(o->args[0], ".onnx"))
        return run_options(o, &options) ? model_command(o, &options) : HLO_USAGE;
    if (o->given[OPT_BOUND])
        return usage_error(o, "`--bound` is for models of ONNX");
    hlo_messages *m = hlo_messages_new();
    bool shared = world_of(o) && strcmp(o->args[0], "-") == 0, strict = o->given[OPT_STRICT];
    hlo_file *f = shared ? world_stdin(o, strict, m) : hlo_file_open(o->args[0], strict, m);
    report(o, m);
    int status = f ? run_file(o, f) : HLO_USAGE;
    hlo_file_free(f);
    hlo_messages_free(m);
    return status;
}
