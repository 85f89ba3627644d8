/*
 * owner.c: memory shared by several values, freed when the last of them goes.
 */
#include "base/base.h"

void owner_init(struct owner *o, void (*release)(struct owner *o))
{
    o->holders = 1;
    o->release = release;
}

struct owner *owner_hold(struct owner *o)
{
    if (o)
        o->holders++;
    return o;
}

void owner_drop(struct owner *o)
{
    if (o && --o->holders == 0)
        o->release(o);
}
