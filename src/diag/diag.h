/*
 * diag: sources, byte spans, line maps, the catalogue of messages, and how they are drawn.
 *
 * Every failure in the project is a `struct diag` with a place. A function that can fail takes a
 * `struct diags`, reports with DIAG_ERROR (which is false) and returns false or NULL; callers pass
 * that on.
 */
#ifndef HLO_DIAG_H
#define HLO_DIAG_H

#include "base/base.h"

/* Byte offsets [begin, end) in a source. {0, 0}, or no source: the place is not known. */
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
    uint32_t first_line;   /* number of the first line, 1 unless the text is a part of a file */
    uint32_t *line_starts; /* built when first needed; line_count entries */
    uint32_t line_count;
    /* If the text was put together from pieces of others, messages refer to those. */
    struct source_piece
        *pieces; /* in order, the first at 0; NULL: the text is not made of pieces */
    size_t piece_count;
    struct source *origins;
    size_t origin_count;
    uint64_t born; /* as of an arena */
};
struct source_piece {
    uint32_t begin;        /* in the text */
    struct source *origin; /* NULL: nobody has written it */
    uint32_t at;           /* in the origin */
};

struct place {
    uint32_t line, column; /* from 1; columns count bytes */
};

void source_init(struct source *s, struct str name, struct str text);
void source_free(struct source *s); /* the line maps only */
/* Where the text of a span comes from; the span then refers to the source that is returned. It
 * becomes NO_SPAN where nobody wrote that text. */
struct source *source_origin(struct source *s, struct span *span);
struct place source_place(struct source *s, uint32_t offset);
struct str source_line(struct source *s, uint32_t line); /* without its end; empty past the last */

enum severity { SEV_ERROR, SEV_WARNING, SEV_NOTE };

/* The catalogue: one id for every message, in msg_text.def (lexer, parser), msg_verify.def,
 * msg_run.def (evaluation, input and output). Ids are permanent and appear in --json. */
enum msg {
#define MSG(id, severity, format) MSG_##id,
#include "diag/msg.def"
#undef MSG
    MSG_COUNT
};

/* The formats as constants, so that the compiler checks every use against its arguments. */
#define MSG(id, severity, format) static const char MSG_FORMAT_##id[] = format;
#include "diag/msg.def"
#undef MSG

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
    struct str suggestion;   /* replacement for the span; empty when there is none */
    struct str where;        /* file.py:line of the stack frame or metadata, when known */
    struct diag_note *notes; /* in order */
    bool at_end;             /* the text ended too early: a prompt should ask for more */
    struct diag *next;
};

enum { DIAG_ERROR_LIMIT = 20 };

struct diags {
    struct arena arena;
    struct source *source; /* the text that spans refer to; may be NULL */
    struct diag *first, *last;
    unsigned errors, warnings;
    unsigned dropped; /* errors beyond the limit; warnings have a limit of their own */
    unsigned kept_warnings;
    bool quiet;           /* count messages, but keep none (speculative parsing) */
    struct diag dummy;    /* what diag_say returns when it keeps nothing */
    struct diag starving; /* the message that there was no memory, which needs none itself; counts
                             as kept once `starved` */
    bool starved;
};

void diags_init(struct diags *ds, struct source *source);
void diags_free(struct diags *ds);

/* Adds a message. Returns it, so that notes and suggestions can be added (beyond the limit a dummy,
 * never NULL). Use the macros, which take the id without MSG_ and the arguments of its format. */
struct diag *diag_say(struct diags *ds, struct span span, enum msg m, const char *format, ...)
    PRINTF_LIKE(4, 5);
#define DIAG(ds, span, id, ...) diag_say((ds), (span), MSG_##id, MSG_FORMAT_##id, ##__VA_ARGS__)
/* The same as an expression that is false: `return DIAG_ERROR(ds, span, UNKNOWN_OPCODE, ...);` */
#define DIAG_ERROR(ds, span, id, ...) (DIAG(ds, span, id, ##__VA_ARGS__), false)
void diags_no_memory(struct diags *ds); /* takes none */
void diag_note(struct diags *ds, struct diag *d, struct span span, const char *format, ...)
    PRINTF_LIKE(4, 5);
void diag_suggest(struct diags *ds, struct diag *d, struct str replacement);
/* Adds a message of another struct diags about the same source, with its notes. */
struct diag *diag_copy(struct diags *ds, const struct diag *from);

/* The nearest of `count` words to `word`, or an empty slice when none is near. */
struct str diag_nearest(struct str word, const char *const *words, size_t count);

/* ---- palette.c ---- */

enum ink { INK_CARET, INK_ERROR, INK_HELP, INK_NOTE, INK_PLACE, INK_WARNING, INK_COUNT };
struct palette {
    struct str sgr[INK_COUNT]; /* parameters of the terminal's command that sets a colour: "1;31" */
};
/* Reads `error=1;31:note=36` over the usual colours; false: something is not of this form, and was
 * ignored. */
bool palette_read(struct palette *p, struct str text);

/* ---- draw.c ---- */

/* Draws all messages, each as `file:line:col: error: text`, the source line, a caret under the
 * span, then notes and suggestion in the same form. */
void diags_draw(struct buf *out, struct diags *ds, const struct palette *colors); /* NULL: none */
/* One JSON object per message, comma-separated, to stand inside an array. */
void diags_json(struct buf *out, struct diags *ds);

#endif
