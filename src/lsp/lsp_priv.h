/*
 * lsp_priv: declarations shared by the files of the language server.
 *
 * Offsets are bytes of the text of a document. Positions of the protocol count lines, and in them
 * UTF-16 code units.
 */
#ifndef HLO_LSP_PRIV_H
#define HLO_LSP_PRIV_H

#include "base/dict.h"
#include "base/oom.h"
#include "lsp/lsp.h"

#include <pthread.h>

struct extent { /* bytes [begin, end) */
    size_t begin, end;
};

/* ---- scan.c: pieces of a line, by the lexer ---- */

enum piece {
    PIECE_KEYWORD,
    PIECE_TYPE,
    PIECE_OP,
    PIECE_ATTRIBUTE,
    PIECE_STRING,
    PIECE_NUMBER,
    PIECE_COMMENT,
    /* The pieces from here on are symbols, which documents store. */
    PIECE_INST,     /* definition of an instruction */
    PIECE_INST_USE, /* operand, or instruction in an attribute */
    PIECE_PARAM,    /* parameter in the signature of a computation */
    PIECE_COMPUTATION,
    PIECE_COMPUTATION_USE,
    PIECE_END,    /* the closing brace of a computation */
    PIECE_MODULE, /* name of a module, or without a name a separator of modules */
};

/* State at the end of a line. */
struct scan_state {
    uint8_t place;     /* enum scan_place */
    uint8_t depth;     /* brackets that are open at that place */
    uint8_t reference; /* what the value of the current attribute refers to; 0: nothing */
    bool in_comment;   /* in a block comment */
    bool values;       /* operands are values: of constants and parameters */
    bool comma;        /* after a comma */
    bool named;        /* after the name in the header of a computation or module */
    bool unused;       /* states are compared bytewise */
};

/* Names of attributes that refer to computations or instructions. */
struct scan_words {
    struct arena arena;
    struct map kinds; /* to an element of `kind` */
    uint8_t kind[2];
};
void scan_words_init(struct scan_words *w);

struct scan_sink {
    void *context;
    void (*piece)(void *context, enum piece kind, struct extent at);
};
/* Scans the line in `line` of the text, and continues the state. */
void scan_line(const struct scan_words *w, struct str text, struct extent line,
               struct scan_state *state, const struct scan_sink *sink);

/* ---- document.c: text and its index ---- */

struct symbol {
    uint32_t column, length; /* bytes from the start of the line; without % */
    uint32_t hash;           /* of its name */
    uint32_t kind;           /* enum piece */
};
struct line {
    uint32_t begin;
    uint32_t count;
    struct symbol *symbols;
    struct scan_state end;
    bool ascii; /* all bytes are ASCII: columns are UTF-16 code units */
};

struct position {
    uint32_t line, character;
};

struct diagnostic { /* with a replacement */
    struct extent at;
    struct str text, suggestion;
};

/* What the last analysis found. */
struct analysis {
    bool current;       /* of the text of the document */
    bool valid;         /* all parts could be parsed */
    struct arena arena; /* memory of diagnostics */
    struct diagnostic *fixes;
    size_t fix_count, fix_capacity;
    struct buf json; /* diagnostics of the protocol */
    /* Modules of the last valid text. */
    struct part *parts;
    size_t part_count;
};
struct part {
    hlo_module *module;
    bool verified;
    uint32_t first_line; /* from 1 */
    /* Made when first needed: */
    hlo_listing *list;
    struct arena arena;
    struct map insts; /* by COMPUTATION/NAME, to index + 1 */
    bool run;         /* whether `recorded` was made */
    hlo_recorded *recorded;
    char *problem; /* why it ended early, or was not made; NULL: no reason */
    hlo_literal **args;
};

struct document {
    struct document *next;
    char *uri, *name; /* name: the path, for messages */
    int64_t version;
    struct buf text;
    struct line *lines; /* at least one */
    size_t line_count, line_capacity;
    struct analysis analysis;
    bool unpublished; /* diagnostics must be published */
};

/* A document with this text, which is copied. */
struct document *document_new(const struct scan_words *w, struct str uri, struct str text);
void document_free(struct document *d);
/* Replaces bytes of the text, and scans the lines that have changed. False if the text would have 4
 * GiB or more. */
bool document_edit(struct document *d, const struct scan_words *w, struct extent old,
                   struct str text);
static inline struct str document_text(const struct document *d) { return buf_view(&d->text); }
/* The bytes of a line without its line end. */
struct extent document_line(const struct document *d, size_t line);
size_t document_line_of(const struct document *d, size_t offset);
/* The nearest offset, if there is no such position. */
size_t document_offset(const struct document *d, struct position p);
struct position document_position(const struct document *d, size_t offset);
struct str document_slice(const struct document *d, struct extent e);

/* ---- index.c: symbols ---- */

struct place { /* of a symbol */
    size_t line, k;
};
struct symbol_scope { /* symbols [from, to) */
    struct place from, to;
};
const struct symbol *symbol_get(const struct document *d, struct place p);
struct extent symbol_extent(const struct document *d, struct place p);
struct str symbol_name(const struct document *d, struct place p);
/* Moves to the next or previous symbol; false: there is none. */
bool symbol_next(const struct document *d, struct place *p);
bool symbol_previous(const struct document *d, struct place *p);
/* The first symbol at or after a line; false: there is none. */
bool symbol_from(const struct document *d, size_t line, struct place *out);
/* The symbol that contains or touches the offset. */
bool symbol_at(const struct document *d, size_t offset, struct place *out);
/* The last symbol of one of these kinds, bits of enum piece, that begins before the offset. */
bool symbol_before(const struct document *d, size_t offset, unsigned kinds, struct place *out);
static inline bool symbol_is(const struct symbol *s, unsigned kinds)
{
    return kinds >> s->kind & 1;
}
#define KIND(piece) (1u << (piece))
enum {
    INST_KINDS = 1 << PIECE_INST | 1 << PIECE_INST_USE | 1 << PIECE_PARAM,
    COMPUTATION_KINDS = 1 << PIECE_COMPUTATION | 1 << PIECE_COMPUTATION_USE
};
/* The computation that contains a symbol, or the module if the symbol names a computation. */
struct symbol_scope symbol_scope(const struct document *d, struct place p);
/* The kinds of symbols that have the same name as this one if they are the same; 0: none. */
unsigned symbol_kinds(const struct document *d, struct place p);
/* The next symbol of the scope with this name and one of these kinds, from *p on, which it becomes;
 * false: there is none. */
bool symbol_find(const struct document *d, const struct symbol_scope *in, struct str name,
                 unsigned kinds, struct place *p);
/* The definition of the symbol; false: there is none. */
bool symbol_definition(const struct document *d, struct place p, struct place *out);
/* The name of the computation that contains the symbol; "" if there is none. */
struct str symbol_computation(const struct document *d, struct place p);
/* The shape that is written in the definition of an instruction; empty: none. `at`, unless NULL, is
 * set to where it is or would be. */
struct str symbol_shape(const struct document *d, struct place inst, size_t *at);
/* The bytes of an instruction or computation, from its name on; those of an instruction without the
 * following line end. */
struct extent symbol_whole(const struct document *d, struct place p);

/* ---- analysis.c: parsing and verification ---- */

/* Analyses the text unless it is done. */
void analyse(struct document *d);
void analysis_free(struct analysis *a);
/* Makes the list of a part and its index; false: out of memory. */
bool part_list(struct part *p);
/* The instruction of the last valid text with this computation and name, and its part; -1: none. */
long analysis_find(struct document *d, struct place inst, struct part **part);
/* Its shape; empty if unknown. Valid until the next analysis. */
struct str analysis_shape(struct document *d, struct place inst);
/* The part in which the line is, of the current text if it is valid; NULL: none. */
struct part *analysis_part(struct document *d, size_t line);

/* ---- server.c: requests ---- */

struct lsp {
    struct lsp_options options;
    struct scan_words words;
    struct document *documents;
    struct buf in;
    struct str following; /* of `in`, after the message that is handled */
    struct buf ahead;     /* input that was read during runs */
    size_t skip;          /* bytes of a message that is too long */
    int64_t due;          /* when diagnostics are due, on the clock of now_ns; 0: never */
    bool initialized, shut_down, exited;
    /* Arguments of runs: generated, from a file of arrays, or from a snapshot. */
    int fake;       /* enum hlo_fake; -1: not given */
    char *inputs;   /* NULL: none */
    char *snapshot; /* NULL: none */
};

enum lsp_error {
    LSP_PARSE = -32700,
    LSP_INVALID = -32600,
    LSP_NO_METHOD = -32601,
    LSP_PARAMS = -32602,
    LSP_NOT_INITIALIZED = -32002,
    LSP_CANCELLED = -32800,
    LSP_MODIFIED = -32801,
    LSP_FAILED = -32803
};

struct call {
    struct lsp *s;
    struct arena arena;
    const struct dict_value *id;     /* NULL: a notification */
    const struct dict_value *params; /* never NULL; may be of any kind */
    /* What the method takes of the parameters, see `methods` in server.c: */
    struct document *d;
    size_t offset;       /* of params.position */
    struct place symbol; /* at the offset */
    struct extent range; /* params.range, or the whole document */
    struct buf result;   /* JSON; empty: null */
    enum lsp_error code;
    struct str problem; /* if the call failed */
    struct buf *out;    /* further messages */
};
/* Fails: sets the error of the call. */
bool call_fail(struct call *c, enum lsp_error code, const char *format, ...) PRINTF_LIKE(3, 4);
struct document *find_document(const struct lsp *s, struct str uri); /* NULL: not open */
/* Whether a name is at the offset; sets c->symbol. */
bool call_symbol(struct call *c);
/* Reads `{"line": 1, "character": 2}`; false: malformed. */
bool read_position(const struct dict_value *v, struct position *out);
/* The offsets of a range in `d`, in order; false: malformed. */
bool read_range(const struct document *d, const struct dict_value *v, struct extent *out);
/* Appends `"key":{"line":...,"character":...}`. */
void put_position(struct buf *out, const char *key, struct position p);
/* Appends `"key":{"start":...,"end":...}`. */
void put_range(struct buf *out, const char *key, const struct document *d, struct extent e);
/* Appends `{"uri":...,"range":...}`. */
void put_location(struct buf *out, const struct document *d, struct extent e);
/* Appends `{"range":...,"newText":...}`. */
void put_edit(struct buf *out, const struct document *d, struct extent e, struct str text);
/* The header of the message at the start of the input: its size, and the length of its body. */
enum header {
    HEADER_PARTIAL, /* the message is incomplete */
    HEADER_TOO_LONG,
    HEADER_MALFORMED,
    HEADER_OF_TOO_MUCH, /* the length is over the limit */
    HEADER_WHOLE
};
enum header read_header(struct str in, size_t *size, int64_t *length);
/* Appends a message with its header. */
void put_message(struct buf *out, struct str json);
/* Appends a notification whose parameters are this JSON. */
void put_notification(struct buf *out, const char *method, struct str params);
/* Appends a message for the user. `type`: 1: an error ... 3: information. */
void put_window(struct buf *out, const char *method, int type, struct str message);

/* Handlers of requests: append the result, or the items of a list, to c->result. */
bool lsp_hover(struct call *c);           /* hover.c */
bool lsp_definition(struct call *c);      /* navigate.c */
bool lsp_references(struct call *c);      /* navigate.c */
bool lsp_highlight(struct call *c);       /* navigate.c */
bool lsp_prepare_rename(struct call *c);  /* navigate.c */
bool lsp_rename(struct call *c);          /* navigate.c */
bool lsp_symbols(struct call *c);         /* outline.c */
bool lsp_folding(struct call *c);         /* outline.c */
bool lsp_completion(struct call *c);      /* completion.c */
bool lsp_formatting(struct call *c);      /* edits.c */
bool lsp_code_action(struct call *c);     /* edits.c */
bool lsp_inlay_hint(struct call *c);      /* outline.c */
bool lsp_semantic_tokens(struct call *c); /* semantic.c */
bool lsp_code_lens(struct call *c);       /* run.c */
bool lsp_execute_command(struct call *c); /* run.c */

/* ---- semantic.c ---- */

void put_semantic_legend(struct buf *out); /* the types of tokens, as members of an object */

/* ---- run.c: runs ---- */

/* The value of an instruction in a run on the arguments of the server; NULL: unknown. */
const hlo_literal *part_value(struct call *c, struct part *p, size_t inst);
void part_free(struct part *p);
const char *lsp_command_name(size_t i); /* name of a command of code lenses; NULL past the last */

/* ---- watch.c: input that arrives during a run ---- */

enum watched {
    WATCH_NOTHING,
    WATCH_EDIT,  /* a document was edited */
    WATCH_CANCEL /* the request was cancelled */
};
/* Watches the input during the runs of a request, from a thread: an edit or the cancellation of the
 * request interrupts the run, so that no keystroke waits for it. */
struct watch {
    struct call *c;
    struct buf bytes; /* the input after the message of the request */
    size_t known;     /* bytes of it that the server has */
    size_t examined;
    enum watched found;
    /* of a run: */
    hlo_program *program;
    pthread_t thread;
    bool started;
    int wake[2]; /* a pipe; its end is closed to stop the thread */
    struct oom_scope *oom_scope;
    struct cleanup cleanup; /* stops the thread */
};
void watch_init(struct watch *w, struct call *c);
void watch_begin(struct watch *w, hlo_program *p);
void watch_end(struct watch *w);
/* Passes what was read to the server; frees the buffer. */
void watch_finish(struct watch *w);

#endif
