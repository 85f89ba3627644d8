/*
 * Large models of ONNX.
 */
#include "scale.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    unsigned char *at;
    size_t size, capacity;
};

static void put(struct bytes *b, const void *from, size_t size)
{
    while (b->size + size > b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 256;
        b->at = realloc(b->at, b->capacity);
        if (!b->at)
            abort();
    }
    memcpy(b->at + b->size, from, size);
    b->size += size;
}

static void put_number(struct bytes *b, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        put(b, &(unsigned char){(unsigned char)(v | 128)}, 1);
    put(b, &(unsigned char){(unsigned char)v}, 1);
}

static void put_field(struct bytes *b, int number, const void *from, size_t size)
{
    put_number(b, (uint64_t)number << 3 | 2);
    put_number(b, size);
    put(b, from, size);
}

static void put_text(struct bytes *b, int number, const char *text)
{
    put_field(b, number, text, strlen(text));
}

static void put_inner(struct bytes *b, int number, struct bytes *inner)
{
    put_field(b, number, inner->at, inner->size);
    free(inner->at);
    *inner = (struct bytes){0};
}

static void put_value(struct bytes *graph, int number, const char *name) /* of type float[4] */
{
    static const unsigned char type[] = {0x0a, 0x08, 0x08, 0x01, 0x12,
                                         0x04, 0x0a, 0x02, 0x08, 0x04};
    struct bytes value = {0};
    put_text(&value, 1, name);
    put_field(&value, 2, type, sizeof type);
    put_inner(graph, number, &value);
}

/* y0 = OP(x), y1 = OP(y0) ... with one more operand, w0, w1 ..., if `weights` is set */
static void put_node(struct bytes *graph, long i, const char *operation, bool weights)
{
    struct bytes node = {0};
    char name[32] = "x";
    if (i)
        snprintf(name, sizeof name, "y%ld", i - 1);
    put_text(&node, 1, name);
    snprintf(name, sizeof name, "w%ld", i);
    if (weights)
        put_text(&node, 1, name);
    snprintf(name, sizeof name, "y%ld", i);
    put_text(&node, 2, name);
    put_text(&node, 4, operation);
    put_inner(graph, 1, &node);
}

static void put_weight(struct bytes *graph, long i)
{
    static const unsigned char type[] = {0x08, 0x01, 0x10, 0x01}; /* dims 1, float */
    struct bytes tensor = {0};
    char name[32];
    snprintf(name, sizeof name, "w%ld", i);
    put(&tensor, type, sizeof type);
    put_text(&tensor, 8, name);
    put_field(&tensor, 9, "\0\0\200\77", 4);
    put_inner(graph, 5, &tensor);
}

static void print_model(struct bytes *graph)
{
    struct bytes model = {0};
    static const unsigned char head[] = {0x08, 0x08, 0x42,
                                         0x02, 0x10, 0x11}; /* IR version 8, opset 17 */
    put(&model, head, sizeof head);
    put_inner(&model, 7, graph);
    fwrite(model.at, 1, model.size, stdout);
    free(model.at);
}

static void print_nodes(long n, const char *operation, bool weights)
{
    struct bytes graph = {0};
    for (long i = 0; i < n; i++)
        put_node(&graph, i, operation, weights);
    put_text(&graph, 2, "g");
    for (long i = 0; weights && i < n; i++)
        put_weight(&graph, i);
    put_value(&graph, 11, "x");
    char name[32];
    snprintf(name, sizeof name, "y%ld", n - 1);
    put_value(&graph, 12, name);
    print_model(&graph);
}

void make_onnx(long n) { print_nodes(n, "Neg", false); }
void make_onnx_weights(long n) { print_nodes(n, "Add", true); }

void make_types_deep(long n) /* of ONNX: a sequence of sequences ... */
{
    struct bytes inner = {0}, outer = {0};
    for (long i = 0; i < n && inner.size < 60000; i++) {
        put_field(&outer, i & 1 ? 4 : 1, inner.at ? (const char *)inner.at : "", inner.size);
        free(inner.at);
        inner = outer;
        outer = (struct bytes){0};
    }
    put_inner(&outer, 2, &inner);
    struct bytes graph = {0};
    put_inner(&graph, 11, &outer);
    print_model(&graph);
}
