/*
 * hlo reduce: minimizes a module while it still fails.
 */
#include "cli/reduce.h"

#include <stdio.h>

struct searching {
    struct check *check;
    size_t asked;
};

static bool bad(void *context, const hlo_module *candidate)
{
    struct searching *s = context;
    return check_bad(s->check, candidate);
}

static const hlo_literal *value(void *context, const char *name)
{
    struct searching *s = context;
    return check_value(s->check, name);
}

static bool progress(void *context, size_t instructions, size_t asked)
{
    struct searching *s = context;
    s->asked = asked + 1;
    progress_step(instructions, asked);
    return !was_interrupted() && s->check->shell.error == 0;
}

static size_t inst_count(const hlo_module *module)
{
    SCOPED_LISTING *l = hlo_list(module);
    return hlo_list_count(l);
}

static int not_bad(const struct options *o, bool interrupted)
{
    if (!interrupted && !o->given[OPT_QUIET])
        fprintf(stderr, "hlo: %s does not fail the check\n", o->args[0]);
    return interrupted ? STATUS_INTERRUPTED : HLO_DIFFERS;
}

/* Reports that a check could not be executed, so that the result would be wrong. */
static int cannot_ask(const struct check *c, hlo_messages *m)
{
    hlo_messages_add(m, c->shell.path, strerror(c->shell.error));
    return HLO_USAGE;
}

static int search(struct check *c, const hlo_module *module, hlo_messages *m)
{
    const struct options *o = c->o;
    struct searching s = {.check = c};
    const struct hlo_shrink how = {.size = sizeof how,
                                   .context = &s,
                                   .bad = bad,
                                   .value = value,
                                   .progress = progress,
                                   .faithful = c->kind == CHECK_MISMATCH || c->kind == CHECK_NAN,
                                   .rejected = c->kind == CHECK_ERROR,
                                   .seconds = (double)c->seconds};
    interrupt_begin(NULL);
    progress_parts(o, "instructions,", "candidates");
    SCOPED_MODULE *small = hlo_shrink(module, &how);
    bool interrupted = interrupt_end();
    progress_end(o);
    if (c->shell.error)
        return cannot_ask(c, m);
    if (!small)
        return not_bad(o, interrupted);
    if (!o->given[OPT_QUIET])
        fprintf(stderr, "hlo: reduced to %zu of %zu instructions; %zu candidates tried\n",
                inst_count(small), inst_count(module), s.asked);
    int status = put_module(o, small, m);
    return interrupted ? STATUS_INTERRUPTED : status;
}

/* Prepares the arguments; a module rejected by the verifier is not run and needs none. */
static int prepare(struct check *c, struct arguments *a, hlo_messages *m)
{
    SCOPED_MESSAGES *messages = hlo_messages_new();
    bool verified =
        hlo_verify(a->module, c->kind == CHECK_ERROR || c->kind == CHECK_COMMAND ? messages : m);
    int status = verified                                             ? arguments_collect(a)
                 : c->kind == CHECK_ERROR || c->kind == CHECK_COMMAND ? HLO_OK
                                                                      : HLO_REJECTED;
    return status == HLO_OK ? check_open(c, a, m) : status;
}

static int reduce(struct check *c, hlo_module *module, hlo_messages *m)
{
    const struct options *o = c->o;
    struct arguments a = {.o = o,
                          .m = m,
                          .module = module,
                          .given = o->args + 1,
                          .given_count = o->arg_count - 1,
                          .make_up = true};
    if (!arguments_participants(&a, module))
        return HLO_USAGE;
    SCOPED_TARGETS *targets = targets_of(o, m);
    c->options.targets = targets;
    int status = targets ? prepare(c, &a, m) : HLO_USAGE;
    if (status == HLO_OK)
        status = search(c, module, m);
    arguments_free(&a);
    return status;
}

/* Reduces a text that the parser rejects, line by line. */
static int reduce_text(struct check *c, hlo_messages *m)
{
    const struct options *o = c->o;
    SCOPED_FILE *f = open_file(o, o->args[0], m);
    int status = f ? check_open(c, NULL, m) : HLO_USAGE;
    if (status == HLO_OK) {
        SCOPED_BUF small = {0};
        size_t size;
        uint32_t line;
        const char *text = hlo_file_text(f, 0, &size, &line);
        interrupt_begin(NULL);
        bool bad = reduce_lines(c, (struct str){text, size}, (double)c->seconds, &small);
        bool interrupted = interrupt_end();
        if (c->shell.error)
            status = cannot_ask(c, m);
        else if (!bad)
            status = not_bad(o, interrupted);
        else if (!put_hlo(o, buf_view(&small), m))
            status = HLO_USAGE;
        else if (interrupted)
            status = STATUS_INTERRUPTED;
    }
    return status;
}

int reduce_command(const struct options *o)
{
    struct check c;
    int status;
    if (!check_options(&c, o))
        return HLO_USAGE;
    SCOPED_MESSAGES *m = hlo_messages_new();
    SCOPED_MODULE *module = open_one(o, o->args[0], m, &status);
    bool lines = (c.kind == CHECK_COMMAND || c.kind == CHECK_ERROR) && strcmp(o->args[0], "-") != 0;
    if (module)
        status = reduce(&c, module, m);
    else if (status == HLO_REJECTED && lines)
        status = reduce_text(&c, m);
    if (!(lines && !module &&
          status !=
              HLO_USAGE)) /* if the text is expected to be rejected, its errors are not reported */
        report(o, m);
    check_close(&c);
    return status;
}
