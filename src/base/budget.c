/*
 * budget.c: the limits of a run. Steps are counted down, and the clock is checked at intervals.
 */
#include "base/base.h"

#include <time.h>

enum { STEPS_A_LOOK = 1 << 12 }; /* steps between two checks of the clock */

int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void next_slice(struct budget *b)
{
    uint64_t n = b->steps < STEPS_A_LOOK ? b->steps : STEPS_A_LOOK;
    b->slice = (int64_t)n;
    b->steps -= n;
}

void budget_start(struct budget *b, const struct limits *l, const _Atomic bool *stop)
{
    double ns = l->seconds * 1e9;
    *b = (struct budget){
        .steps = l->steps ? l->steps : UINT64_MAX, .deadline = INT64_MAX, .stop = stop};
    if (ns > 0 && ns < 0x1p62)
        b->deadline = now_ns() + (int64_t)ns;
    next_slice(b);
}

uint64_t budget_left(const struct budget *b)
{
    return b->steps + (uint64_t)(b->slice > 0 ? b->slice : 0);
}

void budget_charge(struct budget *b, uint64_t steps)
{
    uint64_t left = budget_left(b);
    b->steps = steps < left ? left - steps : 0;
    next_slice(b);
}

bool budget_look(struct budget *b)
{
    if (b->hit == LIMIT_NONE && b->stop && *b->stop)
        b->hit = LIMIT_STOPPED;
    else if (b->hit == LIMIT_NONE && b->interrupt && *b->interrupt)
        b->hit = LIMIT_INTERRUPTED;
    else if (b->hit == LIMIT_NONE && b->deadline != INT64_MAX && now_ns() >= b->deadline)
        b->hit = LIMIT_TIME;
    return b->hit == LIMIT_NONE;
}

void budget_end_slice(struct budget *b)
{
    if (b->slice > 0)
        b->steps += (uint64_t)b->slice;
    b->slice = 0;
}

bool budget_refill(struct budget *b)
{
    if (budget_look(b) && b->steps == 0)
        b->hit = LIMIT_STEPS;
    if (b->hit != LIMIT_NONE) {
        b->slice = 0; /* a caller that continues after the limit fails again */
        return false;
    }
    next_slice(b);
    b->slice--;
    return true;
}
