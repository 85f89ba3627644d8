/*
 * Golden tests: what a part of a file says must come of it, and whether it did.
 */
#ifndef HLO_CLI_GOLDEN_H
#define HLO_CLI_GOLDEN_H

#include "cli/cli.h"

enum test_kind { TEST_NONE, TEST_EVAL, TEST_VERIFY, TEST_PARSE, TEST_PRINT };

enum verdict {
    VERDICT_NONE,
    VERDICT_ACCEPTED,
    VERDICT_PARSER_ACCEPTS,
    VERDICT_PARSER_REJECTS,
    VERDICT_VERIFIER_REJECTS
};

/* One directive: the lines it takes, with those that continue it, and what stands after its colon. */
struct directive {
    uint32_t line, last_line;
    struct str name;     /* `in`: the parameter; empty when it is for all */
    bool in_order;       /* `in`: it had no name; the parameter is the next one */
    int64_t participant; /* whom it is for: `KEY@1:`, `in NAME@1:`; EVERYONE */
    struct str text;
};
enum { EVERYONE = -1 };
struct directives {
    struct directive *at;
    size_t count, capacity;
};

struct golden {
    struct arena *arena;
    enum test_kind kind;
    bool strict, short_form; /* words after the kind */
    bool has_tolerance;
    struct hlo_tolerance tolerance;
    enum verdict verdict;
    struct directives test, cases, spec, from, calls, in, out, pairs, infeed, outfeed, errors, warnings, expect, print;
    const char *problem; /* what is wrong with the directives themselves; or NULL */
    uint32_t problem_line;
};

const char *golden_key(size_t i); /* `// KEY:`; NULL past the last */
/* Reads the directives of one part. */
void golden_read(struct golden *g, struct arena *a, struct str text, uint32_t first_line);
/* `exact`, or any of ulp= rel= abs= bits; false when it is something else. */
bool golden_tolerance(struct str text, struct hlo_tolerance *t);

/* Text that takes the place of lines of the file: `first` to `last`, or before `first` when last is less. */
struct edit {
    uint32_t first, last;
    struct str text;
};
struct edits {
    struct edit *at;
    size_t count, capacity;
};

struct golden_run {
    struct arena *arena;
    const struct options *o;
    const char *path;
    hlo_file *file;
    size_t part;
    struct golden g;
    struct buf why; /* what went wrong; empty: it passed */
    bool skipped;
    struct edits *edits; /* where --update wants them; or NULL */
};

/* ---- golden_run.c ---- */

/* Something is wrong with the test that runs, at a line of its file. */
void golden_fail(struct golden_run *r, uint32_t line, const char *format, ...) PRINTF_LIKE(3, 4);
void golden_propose(struct golden_run *r, uint32_t first, uint32_t last, struct str text);

/* ---- golden_feed.c: `infeed:` and `outfeed:` lines ---- */

struct golden_feed {
    struct golden_run *r;
    size_t count;   /* participants */
    size_t *read;   /* items that each of them has taken */
    struct buf *written; /* items that each of them has given, one a line */
    struct hlo_feeds feeds; /* what the run is given */
};
void golden_feed_begin(struct golden_feed *f, struct golden_run *r, size_t participants);
void golden_feed_check(struct golden_feed *f, hlo_messages *m); /* once the run is over */
void golden_feed_end(struct golden_feed *f);

/* ---- golden_observe.c ---- */

struct golden_sight {
    struct hlo_observer observer;
    hlo_listing *listing; /* NULL: nobody looks */
    size_t count, root;   /* participants; an instruction */
    hlo_literal **roots;  /* as they were seen */
    uint64_t sum;         /* of bytes that were looked at */
};
void golden_sight_begin(struct golden_sight *g, const hlo_module *module, hlo_program *p);
void golden_sight_check(struct golden_sight *g, struct golden_run *r, hlo_literal *const *results);
void golden_sight_end(struct golden_sight *g);

/* The directives of a list that are for a participant: its own, else everyone's. Number n of them; or NULL. */
const struct directive *directive_of(const struct directives *list, int64_t participant, size_t n);

/* Runs the test of one part. */
void golden_run(struct golden_run *r);

/* Applies the edits to a file; `aside`: to FILE.new beside it, and shows the difference. */
bool golden_rewrite(const char *path, const struct edits *edits, bool aside, hlo_messages *m);

/* ---- junit.c ---- */

struct test_result {
    const char *path;
    struct str name;
    enum { TEST_PASSED, TEST_FAILED, TEST_SKIPPED } status;
    struct str why;
    double seconds;
    size_t part; /* of its file */
    bool done;   /* false: it was not run (yet) */
};
bool junit_write(const char *path, const struct test_result *results, size_t count, hlo_messages *m);

#endif
