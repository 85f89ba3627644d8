/*
 * config: backend_config of a custom call, read as a dictionary. Private to eval.
 */
#ifndef HLO_EVAL_CONFIG_H
#define HLO_EVAL_CONFIG_H

#include "base/base.h"

enum config_kind { CONFIG_INT, CONFIG_FLOAT, CONFIG_BOOL, CONFIG_STRING, CONFIG_WORD, CONFIG_LIST, CONFIG_DICT };

struct config {
    enum config_kind kind;
    int64_t i;                 /* INT, BOOL */
    double f;                  /* INT, FLOAT */
    struct str s;              /* STRING, without quotes and escapes; WORD, as it stands */
    struct str type;           /* what MLIR writes behind a colon, `ui8`; empty when there is none */
    int count;                 /* LIST, DICT */
    struct config_item *items; /* names are empty in a LIST */
};
struct config_item {
    struct str name;
    struct config value;
};

struct config_error {
    const char *wanted; /* instead of what begins with `rest`, a part of the text */
    struct str rest;
};

/* The whole text; an empty one is an empty dictionary. Everything lives in the arena. */
bool config_read(struct arena *a, struct str text, struct config *out, struct config_error *error);
/* NULL when there is no such name. */
const struct config *config_find(const struct config *c, const char *name);

#endif
