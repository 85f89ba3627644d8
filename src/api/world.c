/*
 * Public interface: worlds, processes that share a run.
 */
#include "api/api.h"

#include "world/transport.h"
#include "world/world.h"

hlo_world *hlo_world_open(const char *kind, hlo_messages *m)
{
    OOM_SCOPE((hlo_messages_no_memory(m), NULL));
    struct transport t;
    SCOPED_BUF why = {0};
    hlo_world *w = NULL;
    if (transport_load(kind, &t, &why)) {
        w = heap_zalloc(1, sizeof *w);
        w->ranks = ranks_open(&t);
    } else {
        hlo_messages_add(m, kind, why.data);
    }
    return w;
}

void hlo_world_close(hlo_world *w)
{
    if (w)
        ranks_close(w->ranks);
    heap_free(w);
}

int hlo_world_rank(const hlo_world *w) { return w ? ranks_rank(w->ranks) : 0; }
bool hlo_world_runs(const hlo_world *w, size_t participant)
{
    return !w || ranks_has(w->ranks, (int64_t)participant);
}

bool hlo_world_share(hlo_world *w, hlo_text *text)
{
    OOM_SCOPE(false);
    struct buf b = {0};
    bool first = hlo_world_rank(w) == 0, given = text->data != NULL;
    if (!w)
        return given;
    if (first)
        buf_bytes(&b, text->data, text->size);
    given = ranks_share(w->ranks, &b, given);
    if (!first && given)
        *text = hlo_text_of(&b);
    else
        buf_free(&b);
    return given;
}

int hlo_world_agree(hlo_world *w, int status, int *who)
{
    OOM_SCOPE(0);
    int first = 0, all = w ? ranks_agree(w->ranks, status, &first) : status;
    if (who)
        *who = first;
    return all;
}
