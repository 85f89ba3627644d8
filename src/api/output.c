/*
 * The public interface to writing files bit by bit.
 */
#include "api/api.h"

#include "io/io.h"

struct hlo_output {
    struct io_output *to;
    char *path;
};

static struct diags *sink(hlo_messages *m, const char *path)
{
    return hlo_sink_of_name(m, path, STR(""));
}

hlo_output *hlo_output_open(const char *path, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), NULL));
    hlo_output *o = heap_zalloc(1, sizeof *o);
    o->path = heap_str(str_of(path));
    o->to = io_output_open(sink(m, path), path);
    if (o->to)
        return o;
    heap_free(o->path);
    heap_free(o);
    return NULL;
}

bool hlo_output_put(hlo_output *o, const char *text, size_t size, hlo_messages *m)
{
    GUARDED((hlo_messages_no_memory(m), false));
    return io_output_put(sink(m, o->path), o->to, (struct str){text, size});
}

/* Without memory for a message, the output is closed and freed all the same. */
static bool starved(hlo_output *o, hlo_messages *m)
{
    hlo_messages_no_memory(m);
    if (o->to)
        io_output_drop(o->to);
    heap_free(o->path);
    heap_free(o);
    return false;
}

bool hlo_output_close(hlo_output *o, bool keep, hlo_messages *m)
{
    GUARDED(starved(o, m));
    struct io_output *to = o->to;
    struct diags *ds = sink(m, o->path);
    o->to = NULL;
    bool ok = io_output_close(ds, to, keep);
    heap_free(o->path);
    heap_free(o);
    return ok;
}
