/*
 * --world=mpi: a run shared by the processes started by mpirun. Rank 0 does all input and output.
 * Diagnostics of other ranks are buffered, and printed for the first rank that failed.
 */
#include "cli/cli.h"

#include <stdlib.h>

struct processes {
    hlo_world *world;
    FILE *message_file; /* buffered diagnostics of this rank; NULL: rank 0 */
    char *text;
    size_t size;
    bool settled; /* a rank has failed, and all end with this status: */
    int status;
};

hlo_world *world_of(const struct options *o) { return o->processes ? o->processes->world : NULL; }
bool world_first(const struct options *o) { return hlo_world_rank(world_of(o)) == 0; }
FILE *world_stderr(const struct options *o)
{
    return o->processes && o->processes->message_file ? o->processes->message_file : stderr;
}

int world_begin(struct options *o)
{
    static const char *const kinds[] = {"threads", "mpi"};
    int kind;
    if (!option_word(o, OPT_WORLD, kinds, COUNT_OF(kinds), 0, &kind))
        return HLO_USAGE;
    if (kind == 0)
        return HLO_OK;
    SCOPED_MESSAGES *m = hlo_messages_new();
    hlo_world *world = hlo_world_open(kinds[kind], m);
    if (world) {
        o->processes = heap_zalloc(1, sizeof *o->processes);
        o->processes->world = world;
        if (!world_first(o))
            o->processes->message_file = open_memstream(&o->processes->text, &o->processes->size);
    } else {
        usage_error(o,
                    "'--world=mpi': %s.\n"
                    "install libopenmpi-dev and openmpi-bin and rebuild hlo",
                    hlo_messages_get(m, 0).text);
    }
    return world ? HLO_OK : HLO_USAGE;
}

int world_agree(const struct options *o, int status)
{
    struct processes *p = o->processes;
    int who = 0;
    if (!p)
        return status;
    if (p->settled)
        return p->status;
    p->status = hlo_world_agree(p->world, status, &who);
    p->settled = p->status != HLO_OK;
    if (p->settled && p->message_file && who == hlo_world_rank(p->world)) {
        fflush(p->message_file);
        fprintf(stderr, "hlo: on rank %d:\n", who);
        fwrite(p->text, 1, p->size, stderr);
    }
    return p->status;
}

hlo_file *world_stdin(const struct options *o, bool strict, hlo_messages *m)
{
    struct file_bytes bytes = {0};
    hlo_text text = {0};
    bool first = world_first(o);
    if (first && file_read("-", &bytes))
        text = (hlo_text){(char *)(uintptr_t)bytes.data, bytes.size};
    else if (first)
        hlo_messages_add(m, "<stdin>", "cannot be read");
    bool given = hlo_world_share(world_of(o), &text);
    hlo_file *f = given ? hlo_file_of_text("<stdin>", text.data, text.size, strict) : NULL;
    if (first && given)
        file_release(&bytes);
    else
        hlo_text_free(&text);
    return f;
}

int world_end(struct options *o, int status)
{
    struct processes *p = o->processes;
    if (!p)
        return status;
    fflush(stdout);
    status = world_agree(o, status);
    hlo_world_close(p->world);
    if (p->message_file)
        fclose(p->message_file);
    free(p->text);
    heap_free(p);
    o->processes = NULL;
    return status;
}
