/*
 * schedule.h: how a fused loop with dense operands runs, and the time it is estimated to take.
 */
#ifndef HLO_KERN_SCHEDULE_H
#define HLO_KERN_SCHEDULE_H

#include "kern/kern.h"

struct kern_fused_schedule {
    int64_t loop[3], block[3]; /* rows, columns, lanes */
    int64_t picoseconds;       /* estimated, on one thread */
    bool shared;               /* by threads */
};
struct kern_fused_schedule kern_fused_schedule(const struct kern_fused *f);

#endif
