/*
 * diag: source texts, byte spans, line maps, the message catalogue, and rendering of diagnostics.
 *
 * Every failure is a `struct diag` with a location. A function that can fail takes a `struct
 * diags`, reports with DIAG_ERROR (whose value is false) and returns false or NULL; callers
 * propagate that.
 */
#ifndef HLO_DIAG_H
#define HLO_DIAG_H

#include "base/base.h"

/* Byte offsets [begin, end) in a source. {0, 0}, or no source: unknown location. */
struct span {
    uint32_t begin, end;
};
#define NO_SPAN ((struct span){0, 0})
static inline struct span span_join(struct span a, struct span b)
{
    return (struct span){a.begin, b.end};
}

struct source {
    struct str name; /* as given by the user; "<stdin>" for standard input */
    struct str text;
    uint32_t first_line;   /* number of the first line; 1 unless the text is a part of a file */
    uint32_t *line_starts; /* line_count entries, computed on first use */
    uint32_t line_count;
    /* If the text was assembled from pieces of other sources, messages refer to those. */
    /* In order, the first at offset 0; NULL: the text is not assembled from pieces. */
    struct source_piece *pieces;
    size_t piece_count;
    struct source *origins;
    size_t origin_count;
    /* If the text was made from a structured file, messages refer to the parts of that. */
    const struct source_paths *paths; /* NULL: none */
    struct str path;                  /* the part that messages without a span are about */
    uint64_t generation;              /* generation, as of an arena */
};
/* Which part of a structured file a text was made from. A part is a field of another part. */
struct source_paths {
    struct path_node {
        const char *field;
        int64_t index; /* in a list; -1: no list */
        size_t parent; /* SIZE_MAX: none */
        uint32_t begin;
    } * nodes;
    struct path_mark { /* from `begin` on, the text belongs to this node; SIZE_MAX: to none */
        uint32_t begin;
        size_t node;
    } * marks;
    size_t node_count, mark_count;
};
struct source_piece {
    uint32_t begin;        /* offset in the text */
    struct source *origin; /* NULL: generated text */
    uint32_t at;           /* offset in the origin */
    uint32_t size;         /* of the part of the origin that the piece replaces; 0: it is a copy */
};

struct place {
    uint32_t line, column; /* from 1; columns count bytes */
};

/* Initializes a source; name and text are not copied. */
void source_init(struct source *s, struct str name, struct str text);
void source_free(struct source *s); /* frees the line maps only */
/* Maps a span to the text that it was assembled from: returns that source and changes the span to
 * refer to it. The span becomes NO_SPAN if it is in generated text. */
struct source *source_origin(struct source *s, struct span *span);
/* Writes a node with its parents: `computations[3].instructions[17].shape`. */
void source_paths_write(const struct source_paths *p, size_t node, struct buf *out);
/* Writes the part of a structured file that a span belongs to. Returns false if no part does. */
bool source_path(const struct source *s, struct span span, struct buf *out);
/* The line and column of an offset. */
struct place source_place(struct source *s, uint32_t offset);
/* Without its line end; empty past the last line. */
struct str source_line(struct source *s, uint32_t line);

enum severity { SEV_ERROR, SEV_WARNING, SEV_NOTE };

/* The message catalogue: one id for every message, in msg_text.def (lexer, parser), msg_verify.def,
 * msg_run.def (evaluation, input and output). Ids are stable and appear in --json. */
enum msg {
#define MSG(id, severity, format) MSG_##id,
#include "diag/msg.def"
    MSG_COUNT
};

/* The formats as constants, so that the compiler checks the arguments of every use. */
#define MSG(id, severity, format) static const char MSG_FORMAT_##id[] = format;
#include "diag/msg.def"

const char *msg_name(enum msg m); /* the id, lower case with dashes: "unknown-opcode" */

struct diag_note {
    struct span span;
    struct str text;
    struct diag_note *next;
};

struct diag {
    enum msg msg;
    enum severity severity;
    struct span span;
    struct str text;
    struct str suggestion;   /* replacement for the span; empty: none */
    struct str where;        /* file.py:line of the stack frame or metadata, if known */
    struct diag_note *notes; /* in order */
    struct diag *next;
};

enum { DIAG_ERROR_LIMIT = 20 };

struct diags {
    struct arena arena;
    struct source *source; /* the text that spans refer to; may be NULL */
    struct diag *first, *last;
    unsigned errors, warnings;
    unsigned dropped; /* errors beyond the limit; warnings have a separate limit */
    unsigned kept_warnings;
    bool quiet;           /* count messages, but keep none (speculative parsing) */
    struct diag dummy;    /* what diag_report returns if it keeps nothing */
    struct diag oom_diag; /* the preallocated out-of-memory message; counts as kept if `oom` */
    bool oom;
};

void diags_init(struct diags *ds, struct source *source);
void diags_free(struct diags *ds);

/* Adds a message. Returns it, so that notes and suggestions can be added (beyond the limit a dummy,
 * never NULL). Use the macros below: they take the id without MSG_ and check the arguments against
 * its format. */
struct diag *diag_report(struct diags *ds, struct span span, enum msg m, const char *format, ...)
    PRINTF_LIKE(4, 5);
#define DIAG(ds, span, id, ...) diag_report((ds), (span), MSG_##id, MSG_FORMAT_##id, ##__VA_ARGS__)
/* The same as an expression with the value false: `return DIAG_ERROR(ds, span, UNKNOWN_OPCODE,
 * ...);` */
#define DIAG_ERROR(ds, span, id, ...) (DIAG(ds, span, id, ##__VA_ARGS__), false)
void diags_no_memory(struct diags *ds); /* allocates nothing */
/* Whether there is such a message about this span. */
bool diag_was_reported(const struct diags *ds, struct span span, enum msg m);
/* Appends a note to a message. */
void diag_note(struct diags *ds, struct diag *d, struct span span, const char *format, ...)
    PRINTF_LIKE(4, 5);
/* Sets the suggested replacement of a message's span, unless it is empty. */
void diag_suggest(struct diags *ds, struct diag *d, struct str replacement);
/* Copies a message of another struct diags about the same source, with its notes. */
struct diag *diag_copy(struct diags *ds, const struct diag *from);
void diags_copy(struct diags *ds, const struct diags *from); /* all messages */

/* The word of `keywords` nearest to `word` by edit distance; empty if none is near. */
struct str diag_nearest(struct str word, const char *const *keywords, size_t count);

/* ---- draw.c: rendering ---- */

enum ink { INK_CARET, INK_ERROR, INK_HELP, INK_NOTE, INK_PLACE, INK_WARNING, INK_COUNT };
struct palette {
    struct str sgr[INK_COUNT]; /* SGR parameters, such as "1;31" */
    struct str text;           /* that it was read from */
    /* Appends a source line in the colors of that text; NULL: lines are not colored. */
    void (*highlight)(struct buf *out, struct str line, struct str colors);
};
/* Parses `error=1;31:note=36` into the palette, which holds defaults; false if an item is
 * malformed, which is ignored. Lines are not colored. */
bool palette_read(struct palette *p, struct str text);

/* Renders all messages, each as `file:line:col: error: text`, the source line, a caret under the
 * span, then notes and suggestion in the same form. `colors` NULL: none. */
void diags_draw(struct buf *out, struct diags *ds, const struct palette *colors);
/* Writes one JSON object per message, as the next elements of an array. */
void diags_json(struct buf *out, struct diags *ds);

/* ---- palette.c: the colors of messages and of HLO text ---- */

/* Parts of HLO text; those of messages come before them. */
enum text_ink {
    INK_ATTRIBUTE = INK_COUNT,
    INK_COMMENT,
    INK_KEYWORD,
    INK_NAME,
    INK_NUMBER,
    INK_OPERATION,
    INK_SHAPE,
    INK_STRING,
    INK_ALL
};
/* Parses `error=1;31:shape=32` into SGR parameters of the first `count` parts, which get defaults
 * otherwise; false if an item is malformed, which is ignored. */
bool colors_read(struct str *sgr, size_t count, struct str text);

#endif
