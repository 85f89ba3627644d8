/*
 * Golden tests: modules whose comments contain directives with inputs and expected results.
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

/* A directive: its range of lines, including continuation lines, and the text after its colon. */
struct directive {
    uint32_t line, last_line;
    struct str name;     /* of `in`: name of the parameter; empty: none or all */
    bool in_order;       /* of `in`: it had no name and was assigned to the next parameter */
    int64_t participant; /* N of `KEY@N:` and `in NAME@N:`, or EACH_PARTICIPANT */
    struct str text;
};
enum { EACH_PARTICIPANT = -1 };
struct directives {
    struct directive *at;
    size_t count, capacity;
};

struct golden {
    struct arena *arena;
    enum test_kind kind;
    bool strict, short_form; /* keywords after the kind */
    bool has_tolerance;
    struct hlo_tolerance tolerance;
    enum verdict verdict;
    struct directives test, cases, spec, from, calls, in, out, pairs, infeed, outfeed, errors,
        warnings, expect, print;
    struct str problem; /* error in the directives themselves; empty: none */
    uint32_t problem_line;
};

const char *golden_key(size_t i); /* `KEY` of directive i; NULL past the last */
/* Parses the directives of one part. `sources`: require `from:` for expected values and `why:` for
 * tolerances. */
void golden_read(struct golden *g, struct arena *a, struct str text, uint32_t first_line,
                 bool sources);
/* Parses `exact`, or any of ulp= rel= abs= bits; false for anything else. */
bool golden_tolerance(struct str text, struct hlo_tolerance *t);

/* Replacement of the lines `first` to `last` of a file; if `last` is less, insertion before
 * `first`. */
struct edit {
    uint32_t first, last;
    struct str text;
};
struct edits {
    struct edit *at;
    size_t count, capacity;
    bool aside; /* files are not to be modified */
    bool files; /* files of values have been rewritten */
};

struct golden_run {
    struct arena *arena;
    const struct options *o;
    const char *path;
    hlo_file *file;
    size_t part;
    struct golden g;
    struct buf why;       /* why the test failed; empty: passed */
    bool skipped, stored; /* stored: the expected results are in the file, a snapshot or bundle */
    struct edits *edits;  /* collected for --update; or NULL */
};

/* ---- golden_run.c ---- */

/* Adds a failure at a line of the test's file; 0: none. */
void golden_fail(struct golden_run *r, uint32_t line, const char *format, ...) PRINTF_LIKE(3, 4);
void golden_propose(struct golden_run *r, uint32_t first, uint32_t last, struct str text);
uint32_t golden_test_line(const struct golden_run *r); /* of `test:`; 0 for stored results */

/* ---- golden_messages.c: `error:` and `warning:` directives ---- */

/* Compares the messages of parser, verifier or run with the directives. */
void golden_check_messages(struct golden_run *r, const hlo_messages *messages);

/* ---- golden_feed.c: `infeed:` and `outfeed:` directives ---- */

struct golden_feed {
    struct golden_run *r;
    size_t count;           /* number of participants */
    size_t *read;           /* by participant: number of items read */
    struct buf *written;    /* by participant: items written, one per line */
    struct hlo_feeds feeds; /* callbacks for the run */
};
void golden_feed_begin(struct golden_feed *f, struct golden_run *r, size_t participants);
void golden_feed_check(struct golden_feed *f, hlo_messages *m); /* call it after the run */
void golden_feed_end(struct golden_feed *f);

/* ---- golden_trace.c ---- */

struct golden_trace {
    struct hlo_trace_callbacks trace_callbacks;
    hlo_listing *listing; /* NULL: the test is not traced */
    size_t count, root;   /* number of participants; root of the entry computation */
    hlo_literal **roots;  /* by participant: traced value of the root */
    uint64_t sum; /* sum of the first and last bytes of all traced arrays, so that they are really
                     read */
};
void golden_trace_begin(struct golden_trace *g, const hlo_module *module, hlo_program *p);
void golden_trace_check(struct golden_trace *g, struct golden_run *r, hlo_literal *const *results);
void golden_trace_end(struct golden_trace *g);

/* Directive number n of a list for a participant: of its own ones if there are any, otherwise of
 * those for all. NULL past the end. */
const struct directive *directive_of(const struct directives *list, int64_t participant, size_t n);

/* Runs the test of one part. */
void golden_run(struct golden_run *r);

/* Applies the edits to a file. `aside`: writes FILE.new instead, and prints the difference. */
bool golden_rewrite(const char *path, const struct edits *edits, bool aside, hlo_messages *m);

/* Appends `// KEY: VALUE` lines; continuation lines start with three blanks. */
void golden_put_value(struct buf *out, const char *key, const hlo_literal *l);

/* ---- golden_new.c ---- */

/* --new: inserts directives for the arguments and the results of a run into a file. A status. */
int golden_new(const struct options *o, const char *path);

#endif
