/*
 * Fuzz target: sources of elements. The first line is a text for hlo_recorded_find, the rest a
 * module, run on generated arguments. The sources of that element are queried or, if there is
 * none, those of the first element of each instruction.
 */
#include "base/dict.h"
#include "fuzz/sandbox.h"

#include "hlo_advanced.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct hlo_run_options options = {.size = sizeof options,
                                               .threads = 1,
                                               .max_steps = 2000,
                                               .max_memory = 16 << 20,
                                               .timeout = 1,
                                               .elided = HLO_ELIDED_IOTA};

static void print(hlo_recorded *r, const struct hlo_element *e)
{
    struct arena a;
    struct dict_value d;
    struct dict_error error;
    hlo_text lines = hlo_recorded_why(r, e, &HLO_WITH(hlo_why_view, .levels = 3));
    hlo_text json =
        hlo_recorded_why(r, e, &HLO_WITH(hlo_why_view, .levels = 2, .max = 2, .json = true));
    arena_init(&a);
    if (!dict_read(&a, (struct str){json.data, json.size}, DICT_LOOSE, &d, &error))
        __builtin_trap();
    arena_free(&a);
    hlo_text_free(&lines);
    hlo_text_free(&json);
}

static void ask(hlo_recorded *r, const hlo_listing *l, const char *what, hlo_messages *m)
{
    struct hlo_element e;
    if (hlo_recorded_find(r, what, &e, m)) {
        print(r, &e);
        return;
    }
    for (size_t i = 0; i < hlo_list_count(l) && i < 20; i++) {
        struct hlo_listed at = hlo_list_inst(l, i);
        struct buf name = {0};
        buf_printf(&name, "%s/%s", hlo_list_computation(l, at.computation).name, at.name);
        if (hlo_recorded_find(r, name.data, &e, m))
            print(r, &e);
        buf_free(&name);
    }
}

static void record(hlo_module *module, const char *what, hlo_messages *m)
{
    size_t participants = (size_t)(hlo_replica_count(module) * hlo_num_partitions(module)),
           count = hlo_param_count(module);
    hlo_literal **args = calloc(participants * count + 1, sizeof *args);
    hlo_listing *l = hlo_list(module);
    bool ok = args != NULL;
    for (size_t i = 0; ok && i < participants * count; i++)
        ok = (args[i] = hlo_fake_param(module, i % count, HLO_FAKE_UNIFORM, i, m)) != NULL;
    hlo_recorded *r =
        ok ? hlo_record(l, &options, (const hlo_literal *const *)args, count, NULL, m) : NULL;
    if (r)
        ask(r, l, what, m);
    hlo_recorded_free(r);
    for (size_t i = 0; args && i < participants * count; i++)
        hlo_literal_free(args[i]);
    free(args);
    hlo_listing_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    char *what = copy_text(cut_input(&text, '\n'));
    hlo_messages *m = hlo_messages_new();
    hlo_file *f = hlo_file_of_text("fuzz", text.ptr, text.len, false);
    hlo_module *module = hlo_parse(f, 0, m);
    if (module && hlo_verify(module, m) &&
        hlo_replica_count(module) * hlo_num_partitions(module) <= 4)
        record(module, what, m);
    hlo_module_free(module);
    hlo_file_free(f);
    hlo_messages_free(m);
    free(what);
    return 0;
}
