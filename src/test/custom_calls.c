/*
 * A shared library with custom-call targets for every api_version=, used by transcripts and tests.
 */
#include "world/ffi_abi.h"

#include <math.h>
#include <stdio.h>

struct status;
void XlaCustomCallStatusSetFailure(struct status *s, const char *message, size_t length);
void XlaCustomCallStatusSetSuccess(struct status *s);

void myfunc(void *out, const void **in);
void swap_pair(void *out, const void **in);
void divide(void *out, const void **in, struct status *s);
void repeat(void *out, const void **in, const char *opaque, size_t length, struct status *s);
void bytes_of(void *out, const void **in);
void nibbles(void *out, const void **in);
void count_up(void *out, const void **in);
void too_far(void *out, const void **in);
void wide_pred(void *out, const void **in);
void no_results(void *out, const void **in);
ffi_handler scale;
extern const int data_of_the_library;

/* The example of the specification: z[0][0] = x[1] + y[1][0], with its preconditions. */
void myfunc(void *out, const void **in)
{
    const float *x = in[0], (*y)[3] = in[1];
    float(*z)[3] = out;
    bool right =
        x[0] == 1 && x[1] == 2 && y[0][0] == 10 && y[0][2] == 30 && y[1][0] == 40 && y[1][2] == 60;
    z[0][0] = right ? x[1] + y[1][0] : NAN;
    z[2][2] = 1;
}

/* ((a, b), c) -> (c, (b, a)): leaves by their order. */
void swap_pair(void *out, const void **in)
{
    void **leaves = out;
    memcpy(leaves[0], in[2], sizeof(double));
    memcpy(leaves[1], in[1], 2 * sizeof(int32_t));
    memcpy(leaves[2], in[0], sizeof(float));
}

void divide(void *out, const void **in, struct status *s)
{
    const float *x = in[0], *y = in[1];
    static const char why[] = "division by zero, and more that does not count";
    if (*y == 0)
        XlaCustomCallStatusSetFailure(s, why, strcspn(why, ","));
    else
        XlaCustomCallStatusSetSuccess(s);
    *(float *)out = *x / *y;
}

/* The number of repetitions is the text of backend_config. */
void repeat(void *out, const void **in, const char *opaque, size_t length, struct status *s)
{
    int n = 0;
    if (length < 6 || sscanf(opaque, "times=%d", &n) != 1)
        XlaCustomCallStatusSetFailure(s, opaque, length);
    for (int k = 0; k < n; k++)
        ((int32_t *)out)[k] = *(const int32_t *)in[0];
}

/* The first six bytes of the operand in memory. */
void bytes_of(void *out, const void **in) { memcpy(out, in[0], 6); }

/* The two bytes of three 4-bit elements as u8[2]; and the conversion back. */
void nibbles(void *out, const void **in)
{
    void **leaves = out;
    const uint8_t *x = in[0];
    memcpy(leaves[0], x, 2);
    memcpy(leaves[1], x, 2);
}

/* Adds one to the initial contents of the output: the aliased operand. */
void count_up(void *out, const void **in)
{
    (void)in;
    ++*(int32_t *)out;
}

void too_far(void *out, const void **in)
{
    (void)in;
    memset(out, 1, 9);
}

/* A true value in a byte other than 0. */
void wide_pred(void *out, const void **in)
{
    (void)in;
    memcpy(out, "\0\1\2\377", 4);
}

void no_results(void *out, const void **in) { (void)out, (void)in; }

const int data_of_the_library = 1; /* not a function, so not a target */

/* ---- the typed form ---- */

static const void *attribute(const struct ffi_frame *f, const char *name, enum ffi_attr_type type)
{
    for (int64_t k = 0; k < f->attrs.count; k++)
        if (f->attrs.types[k] == type && f->attrs.names[k]->len == strlen(name) &&
            memcmp(f->attrs.names[k]->ptr, name, strlen(name)) == 0)
            return f->attrs.at[k];
    return NULL;
}

static struct ffi_error *make_error(const struct ffi_frame *f, const char *why)
{
    struct ffi_error_create args = {.size = sizeof args, .message = why, .code = FFI_INVALID};
    return f->api->error_create(&args);
}

/* out = factor : f32 * x + sum of shift : array<i64>; `mode` selects how the result is returned. */
struct ffi_error *scale(struct ffi_frame *f)
{
    const struct ffi_scalar *factor = attribute(f, "factor", FFI_SCALAR);
    const struct ffi_array *shift = attribute(f, "shift", FFI_ARRAY);
    const struct ffi_bytes *mode = attribute(f, "mode", FFI_STRING);
    if (f->args.count != 1 || f->results.count != 1)
        return make_error(f, "scale expects one operand and one result");
    const struct ffi_buffer *x = f->args.at[0], *y = f->results.at[0];
    if (x->dtype != FFI_DT_F32 || x->rank != 1)
        return make_error(f, "scale expects f32 of rank 1");
    if (!factor || factor->dtype != FFI_DT_F32)
        return make_error(f, "scale expects factor : f32");
    float sum = 0;
    for (size_t k = 0; shift && k < shift->count; k++)
        sum += (float)((const int64_t *)shift->data)[k];
    for (int64_t k = 0; k < x->dims[0]; k++)
        ((float *)y->data)[k] = *(const float *)factor->value * ((const float *)x->data)[k] + sum;
    if (!mode || mode->len != 5 || memcmp(mode->ptr, "async", 5) != 0)
        return NULL;
    struct ffi_future_create args = {.size = sizeof args};
    struct ffi_error *error = f->api->future_create(&args);
    f->future = args.future;
    struct ffi_future_set set = {
        .size = sizeof set, .future = args.future, .error = make_error(f, "too late")};
    return error ? error : f->api->future_set_error(&set);
}
