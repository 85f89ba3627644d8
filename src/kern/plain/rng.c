/*
 * spec: RngUniform, RngNormal
 *
 * Random numbers made from the bits of a counter (grammar/values.md 14.1, 14.3).
 */
#include "kern/nest.h"
#include "kern/plain/plain.h"
#include "kern/rng.h"

void plain_rng_numbers(struct thread_pool *workers, const struct view *out, const void *a,
                       const void *b, bool is_normal, uint64_t *state)
{
    const size_t width = dtype_bytes(out->dtype);
    const int64_t n = view_elements(out);
    for (int64_t i = 0; i < n; i++)
        rng_number(out->dtype, out->data + (size_t)i * width, a, b, is_normal, true,
                   rng_philox(state[1], state[0]++, 0, 0));
}
