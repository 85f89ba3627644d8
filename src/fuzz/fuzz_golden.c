/*
 * Fuzz target: any text as a file of golden tests, which are run and rewritten as by --update.
 */
#include "cli/golden.h"
#include "fuzz/sandbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char name[] = "fuzz.hlo";

static void run_part(const struct options *o, hlo_file *file, size_t part, struct edits *edits,
                     struct arena *a)
{
    struct golden_run r = {
        .arena = a, .o = o, .path = name, .file = file, .part = part, .edits = edits};
    golden_run(&r);
    buf_free(&r.why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct options o = {
        .value = {[OPT_MAX_STEPS] = "2000", [OPT_MAX_MEMORY] = "16M", [OPT_TIMEOUT] = "1"}};
    struct edits edits = {0};
    struct arena a;
    arena_init(&a);
    sandbox_enter();
    sandbox_file(name, (struct str){(const char *)data, size});
    hlo_messages *m = hlo_messages_new();
    hlo_file *file = hlo_file_open(name, false, m);
    for (size_t k = 0; file && k < hlo_file_count(file) && k < 8; k++)
        run_part(&o, file, k, &edits, &a);
    if (file && edits.count > 0)
        golden_rewrite(name, &edits, false, m);
    hlo_file_free(file);
    hlo_messages_free(m);
    sandbox_leave();
    arena_free(&a);
    return 0;
}
