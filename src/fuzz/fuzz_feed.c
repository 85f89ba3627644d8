/*
 * Fuzz target: any bytes as the file of --infeed, for two participants of a program that reads
 * three items and writes them to outfeed.
 */
#include "cli/arguments.h"
#include "fuzz/sandbox.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char reader[] = "HloModule reader, replica_count=2\n"
                             "ENTRY main {\n"
                             "  t0 = token[] after-all()\n"
                             "  i0 = ((f32[2], s4[]), token[]) infeed(t0)\n"
                             "  t1 = token[] get-tuple-element(i0), index=1\n"
                             "  i1 = (bf16[<=4], token[]) infeed(t1)\n"
                             "  t2 = token[] get-tuple-element(i1), index=1\n"
                             "  i2 = ((), token[]) infeed(t2)\n"
                             "  d0 = (f32[2], s4[]) get-tuple-element(i0), index=0\n"
                             "  d1 = bf16[<=4] get-tuple-element(i1), index=0\n"
                             "  t3 = token[] get-tuple-element(i2), index=1\n"
                             "  o0 = token[] outfeed(d0, t3), outfeed_shape=(f32[2], s4[])\n"
                             "  ROOT o1 = token[] outfeed(d1, o0), outfeed_shape=bf16[<=4]\n"
                             "}\n";

static void run(hlo_program *p, hlo_messages *m)
{
    struct buf ahead = {0};
    struct options o = {.value = {[OPT_INFEED] = "in", [OPT_OUTFEED] = "out"}};
    struct arguments a = {.o = &o, .m = m, .participants = 2, .ahead = &ahead};
    struct feed_files f;
    hlo_literal *results[2] = {NULL, NULL};
    if (feed_open(&f, &a) == HLO_OK) {
        hlo_run_all(p, NULL, 0, &f.feeds, results, m);
        feed_finish(&f, true, m);
    }
    feed_free(&f);
    hlo_literal_free(results[0]);
    hlo_literal_free(results[1]);
    buf_free(&ahead);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("reader", reader, sizeof reader - 1, false);
    hlo_module *module = hlo_parse(f, 0, m);
    hlo_program *p = module && hlo_verify(module, m)
                         ? hlo_plan(module, &HLO_WITH(hlo_run_options, .threads = 1), m)
                         : NULL;
    if (!p)
        __builtin_trap();
    sandbox_enter();
    sandbox_file("in", (struct str){(const char *)data, size});
    run(p, m);
    sandbox_leave();
    hlo_program_free(p);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    return 0;
}
