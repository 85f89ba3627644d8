/*
 * Thread pools of several sizes, for tests that results do not depend on the number of threads.
 * The first one is the caller alone.
 */
#ifndef HLO_TEST_TEAMS_H
#define HLO_TEST_TEAMS_H

#include "base/base.h"

enum { TEAMS = 4 };
static const int team_sizes[TEAMS] = {1, 2, 3, 8};
static struct team *teams[TEAMS];

/* To be called in the process of the test: fork does not copy threads. */
static inline void start_teams(void)
{
    for (int k = 0; k < TEAMS; k++)
        teams[k] = team_new(team_sizes[k]);
}

static inline void end_teams(void)
{
    for (int k = 0; k < TEAMS; k++)
        team_free(teams[k]);
}

#endif
