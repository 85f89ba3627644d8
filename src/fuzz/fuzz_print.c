/*
 * Fuzz target: printed text must be accepted by the strict parser, and print as the same text
 * again. This includes text that only the default mode accepts, if the verifier accepts the
 * module; it must then accept the reparsed module.
 */
#include "text/text.h"
#include "verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parser modes. */
enum { STRICT = 1, VERIFIED = 2 };

/* Parses and prints; false if the text is rejected. */
static bool print_of(struct str text, int how, struct buf *out)
{
    struct source source;
    struct diags ds;
    source_init(&source, STR("fuzz"), text);
    diags_init(&ds, &source);
    struct module *m =
        text_parse_module(&ds, &source, &(struct parse_options){.strict = how & STRICT});
    bool ok = m && (!(how & VERIFIED) || verify_module(&ds, m, &(struct verify_options){0}));
    if (ok)
        text_print_module(out, m, &(struct print_options){.large_constants = true});
    if (m)
        module_free(m);
    diags_free(&ds);
    source_free(&source);
    return ok;
}

static bool contains(struct str text, struct str part)
{
    return memmem(text.ptr, text.len, part.ptr, part.len) != NULL;
}

/* Whether XLA's own text does not read back: names printed without escapes, and the statistics and
 * the aliasing of an async-start, which are printed next to those of the wrapped instruction. */
static bool may_not_read_back(struct str text)
{
    return memchr(text.ptr, '\\', text.len) || contains(text, STR("statistics=")) ||
           (contains(text, STR("async-start")) &&
            contains(text, STR("output_to_operand_aliasing=")));
}

/* The second print may differ from the first in the order of computations, which follows the order
 * of their callers. From the second one on, prints must be equal. */
static void settles(struct str text, int first, int then)
{
    enum { LARGE = 1 << 22 }; /* shapes of doubly nested tuples grow exponentially */
    struct buf once = {0}, twice = {0}, thrice = {0};
    if (print_of(text, first, &once) && once.size < LARGE) {
        if (!print_of(buf_view(&once), then, &twice) ||
            !print_of(buf_view(&twice), then, &thrice) || once.size != twice.size ||
            !str_eq(buf_view(&twice), buf_view(&thrice)))
            __builtin_trap();
    }
    buf_free(&once);
    buf_free(&twice);
    buf_free(&thrice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    if (may_not_read_back(text))
        return 0;
    settles(text, STRICT, STRICT);
    settles(text, VERIFIED, STRICT | VERIFIED);
    return 0;
}
