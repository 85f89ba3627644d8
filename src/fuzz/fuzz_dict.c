/*
 * Fuzz target: any bytes as a dictionary, in MLIR's form and in the lenient form, which includes
 * JSON. The lenient form must accept everything that MLIR's form accepts.
 */
#include "base/dict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_once(struct str text, enum dict_form form)
{
    struct arena a;
    struct dict_value d;
    struct dict_error error;
    arena_init(&a);
    bool ok = dict_read(&a, text, form, &d, &error);
    if (ok)
        dict_find(&d, STR("name"));
    else if (dict_problem(&a, &error)[0] == '\0')
        __builtin_trap(); /* rejected without a message */
    arena_free(&a);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    if (read_once(text, DICT_MLIR) && !read_once(text, DICT_LOOSE))
        __builtin_trap();
    return 0;
}
