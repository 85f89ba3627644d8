/*
 * Fuzz target: any bytes as requests to hlo serve, one per line. Each non-blank line must get one
 * response, a line of well-formed JSON.
 */
#include "base/dict.h"
#include "cli/cli.h"
#include "fuzz/sandbox.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether a request asks for too much time. */
static bool is_greedy(struct str line)
{
    static const char *const words[] = {"max_steps", "max_trip", "max_memory", "timeout",
                                        "threads",   "/dev/",    "/proc/"};
    for (size_t k = 0; k < COUNT_OF(words); k++)
        if (memmem(line.ptr, line.len, words[k], strlen(words[k])))
            return true;
    return memchr(line.ptr, '\\', line.len) && memmem(line.ptr, line.len, "\\u", 2);
}

static void check(struct str line, struct str answer)
{
    struct arena a;
    struct dict_value d;
    struct dict_error error;
    arena_init(&a);
    if ((answer.len == 0) != (str_trim(line).len == 0))
        __builtin_trap();
    if (answer.len > 0 &&
        (memchr(answer.ptr, '\n', answer.len) != answer.ptr + answer.len - 1 ||
         !dict_read(&a, answer, DICT_LOOSE, &d, &error) || !dict_find(&d, STR("status"))))
        __builtin_trap();
    arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct options o = {.value = {[OPT_MAX_STEPS] = "2000",
                                  [OPT_MAX_MEMORY] = "16M",
                                  [OPT_TIMEOUT] = "1",
                                  [OPT_THREADS] = "1"}};
    struct str rest = {(const char *)data, size};
    struct buf out = {0};
    sandbox_enter();
    struct server *s = serve_begin(&o);
    for (int n = 0; rest.len > 0 && n < 100; n++) {
        struct str line = cut_input(&rest, '\n');
        if (line.len == 0 || is_greedy(line))
            continue;
        out.size = 0;
        serve_answer(s, line, &out);
        check(line, buf_view(&out));
    }
    serve_end(s);
    sandbox_leave();
    buf_free(&out);
    return 0;
}
