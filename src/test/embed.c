/*
 * The smallest program that uses the library: parses a module, runs it on one argument, prints the
 * result. src/test/test_install.sh builds it against an installed libhlo and runs it; libhlo(3)
 * shows it.
 */
#include <hlo.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "ENTRY main {\n"
                           "  x = f32[3] parameter(0)\n"
                           "  ROOT y = f32[3] multiply(x, x)\n"
                           "}\n";

/* Prints the messages, if any. */
static int finish(hlo_messages *m, hlo_literal *result)
{
    hlo_text messages = result ? hlo_literal_print(result, true) : hlo_messages_draw(m, false);
    fprintf(result ? stdout : stderr, "%s\n", messages.data);
    hlo_text_free(&messages);
    return result ? 0 : 1;
}

int main(void)
{
    struct hlo_run_options options = HLO_RUN_OPTIONS_INIT;
    const char argument[] = "f32[3] {1, 2, 3}";
    hlo_messages *m = hlo_messages_new();
    options.threads = 1;
    hlo_file *file = hlo_file_of_text("square", text, strlen(text), false);
    hlo_module *module = hlo_parse(file, 0, m);
    hlo_program *program = module && hlo_verify(module, m) ? hlo_plan(module, &options, m) : NULL;
    hlo_literal *x = hlo_literal_parse(argument, strlen(argument), m);
    const hlo_literal *const arguments[] = {x};
    hlo_literal *result = program && x ? hlo_run(program, arguments, 1, m) : NULL;
    int status = finish(m, result);
    hlo_literal_free(result);
    hlo_literal_free(x);
    hlo_program_free(program);
    hlo_module_free(module);
    hlo_file_free(file);
    hlo_messages_free(m);
    return status;
}
