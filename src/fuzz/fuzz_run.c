/*
 * Fuzz target: modules accepted by the verifier must run to their end, a limit or an error, and
 * fast, reference and traced runs must agree.
 *
 * The input is a file of modules or, after a zero byte, choices for the generator, all of whose
 * modules must be accepted.
 */
#include "fuzz/generate.h"
#include "fuzz/differential.h"
#include "text/text.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_part(struct str text, uint64_t seed, bool generated)
{
    struct buf why = {0};
    enum differential outcome = run_all_modes(text, seed, &why);
    if (outcome == DIFFERENTIAL_DIFFERS || (outcome == DIFFERENTIAL_REJECTED && generated)) {
        fprintf(stderr, "%.*s\n%s\n", (int)text.len, text.ptr, why.data);
        __builtin_trap();
    }
    buf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    if (size > 0 && data[0] == 0) {
        struct buf made = {0};
        generate_of_bytes(&made, data + 1, size - 1);
        run_part(buf_view(&made), size, true);
        buf_free(&made);
        return 0;
    }
    struct arena a;
    size_t count;
    arena_init(&a);
    struct source *parts = text_split(&a, STR("fuzz"), text, &count, NULL);
    for (size_t k = 0; k < count && k < 16; k++)
        run_part(parts[k].text, size, false);
    arena_free(&a);
    return 0;
}
