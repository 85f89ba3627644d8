/*
 * owner.c: reference-counted memory that several values share.
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
