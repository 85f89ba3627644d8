/*
 * Fuzz target: any bytes as a file whose suffix is selected by the first byte: modules as text,
 * compressed or in a bundle; arrays.
 */
#include "fuzz/sandbox.h"

#include "hlo_advanced.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void open_modules(const char *name, bool strict)
{
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_open(name, strict, m);
    if ((f == NULL) != (hlo_messages_errors(m) > 0))
        __builtin_trap();
    for (size_t k = 0; f && k < hlo_file_count(f) && k < 4; k++)
        hlo_module_free(hlo_parse(f, k, m));
    hlo_file_free(f);
    hlo_text messages = hlo_messages_draw(m, true);
    hlo_text_free(&messages);
    hlo_messages_free(m);
}

static void open_arrays(const char *name)
{
    static const char *const names[] = {"", "arg0", "x"};
    static const char *const types[] = {NULL, "bf16", "s4", "pred", "c64"};
    hlo_messages *m = hlo_messages_new();
    hlo_arrays *s = hlo_arrays_open(name, m);
    for (size_t k = 0; s && k < COUNT_OF(names) * COUNT_OF(types); k++) {
        const char *array = names[k % COUNT_OF(names)];
        hlo_literal *l = hlo_arrays_has(s, array)
                             ? hlo_arrays_get(s, array, types[k / COUNT_OF(names)], m)
                             : NULL;
        if (l) {
            hlo_text text = hlo_literal_summary(l); /* reads every element */
            hlo_text_free(&text);
        }
        hlo_literal_free(l);
    }
    hlo_arrays_free(s);
    hlo_messages_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"m.hlo",         "m.txt.gz", "m.npz",  "m.npy",
                                        "m.safetensors", "m.bin",    "m.onnx", "m.stablehlo"};
    if (size == 0)
        return 0;
    const char *name = names[data[0] % COUNT_OF(names)];
    sandbox_enter();
    sandbox_file(name, (struct str){(const char *)data + 1, size - 1});
    open_modules(name, size % 2);
    open_arrays(name);
    sandbox_leave();
    return 0;
}
