/*
 * Fuzz target: what the verifier accepts runs to its end, to a limit or to an error, and the fast
 * kernels give what the plain ones do.
 *
 * The input is a module, or, when it begins with a zero byte, decisions for the generator.
 */
#include "fuzz/generate.h"
#include "fuzz/twice.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf text = {0};
    bool generated = size > 0 && data[0] == 0;
    if (generated)
        generate_of_bytes(&text, data + 1, size - 1);
    else
        buf_bytes(&text, data, size);
    struct buf why = {0};
    switch (run_twice(buf_view(&text), size, &why)) {
    case TWICE_REJECTED:
        if (generated) {
            fprintf(stderr, "%s\n%s\n", text.data, why.data);
            __builtin_trap(); /* the generator is to make sound modules only */
        }
        break;
    case TWICE_DIFFERS: fprintf(stderr, "%s\n%s\n", text.data, why.data); __builtin_trap();
    default: break;
    }
    buf_free(&why);
    buf_free(&text);
    return 0;
}
