/*
 * Fuzz target: results must be bitwise identical on one thread and on several. Inputs are those of
 * fuzz_run.
 */
#include "fuzz/generate.h"
#include "fuzz/differential.h"
#include "text/text.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_agreement(enum differential outcome, struct str text, const struct buf *why)
{
    if (outcome != DIFFERENTIAL_DIFFERS)
        return;
    fprintf(stderr, "%.*s\n%s\n", (int)text.len, text.ptr, why->data);
    __builtin_trap();
}

static void run_part(struct str text, uint64_t seed)
{
    struct buf why = {0};
    expect_agreement(run_on_threads(text, seed, &why), text, &why);
    buf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct buf made = {0};
    struct arena a;
    size_t count;
    arena_init(&a);
    if (size > 0 && data[0] == 0) {
        (size % 2 ? generate_large_of_bytes : generate_of_bytes)(&made, data + 1, size - 1);
        text = buf_view(&made);
    }
    struct source *parts = text_split(&a, STR("fuzz"), text, &count, NULL);
    for (size_t k = 0; k < count && k < 4; k++)
        run_part(parts[k].text, size);
    arena_free(&a);
    buf_free(&made);
    return 0;
}
