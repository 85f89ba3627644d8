/*
 * ffi.c: calls of handlers in the form of XLA's typed FFI, for the execute stage.
 *
 * A handler gets its leaves with types and sizes, its attributes, and a table of functions of the
 * runtime. Implemented are errors, memory, tasks (run at once, on the same thread), futures and
 * device ordinals. Functions that need a GPU stream, state kept between stages, or types registered
 * for contexts return an error, as XLA's do where these do not exist.
 */
#include "world/ffi_abi.h"
#include "world/targets.h"

#include <pthread.h>
#include <stdlib.h>

struct ffi_context {
    int64_t participant;
};
struct ffi_error {
    int code;
    char *message;
};
struct ffi_future {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_set;
    struct ffi_error *error;
};

/* ---- errors ---- */

static struct ffi_error *error_new(int code, const char *message)
{
    struct ffi_error *e = malloc(sizeof *e);
    if (e)
        *e = (struct ffi_error){code, strdup(message ? message : "")};
    return e;
}

static struct ffi_error *error_create(struct ffi_error_create *args)
{
    return error_new(args->code, args->message);
}

static void error_message(struct ffi_error_message *args)
{
    args->message = args->error->message ? args->error->message : "";
}

static void error_free(struct ffi_error *e)
{
    if (e)
        free(e->message);
    free(e);
}

static void error_destroy(struct ffi_error_destroy *args) { error_free(args->error); }

static struct ffi_error *unsupported_function(struct ffi_head *args)
{
    return error_new(FFI_UNIMPLEMENTED, "streams, states and registered types are not supported");
}

/* ---- memory, tasks, numbers ---- */

static struct ffi_error *allocate(struct ffi_allocate *args)
{
    size_t alignment = args->alignment < sizeof(void *) ? sizeof(void *) : args->alignment;
    args->data = NULL;
    if (posix_memalign(&args->data, alignment, args->bytes ? args->bytes : 1) == 0)
        return NULL;
    args->data = NULL;
    return error_new(FFI_NO_MEMORY, "out of memory");
}

static struct ffi_error *free_memory(struct ffi_free *args)
{
    free(args->data);
    return NULL;
}

static struct ffi_error *schedule(struct ffi_schedule *args)
{
    args->task(args->data);
    return NULL;
}

static struct ffi_error *thread_count(struct ffi_threads *args)
{
    *args->count = 1;
    return NULL;
}

static struct ffi_error *run_id(struct ffi_run_id *args)
{
    args->id = 1;
    return NULL;
}

static struct ffi_error *ordinal(struct ffi_ordinal *args)
{
    args->ordinal = (int32_t)args->context->participant;
    return NULL;
}

/* ---- futures: a handler may return before its work is done ---- */

static struct ffi_error *future_create(struct ffi_future_create *args)
{
    args->future = calloc(1, sizeof *args->future);
    if (!args->future)
        return error_new(FFI_NO_MEMORY, "out of memory");
    pthread_mutex_init(&args->future->lock, NULL);
    pthread_cond_init(&args->future->done, NULL);
    return NULL;
}

static void future_set(struct ffi_future *f, struct ffi_error *error)
{
    pthread_mutex_lock(&f->lock);
    f->is_set = true;
    f->error = error;
    pthread_cond_signal(&f->done);
    pthread_mutex_unlock(&f->lock);
}

static struct ffi_error *future_set_available(struct ffi_future_set *args)
{
    future_set(args->future, NULL);
    return NULL;
}

static struct ffi_error *future_set_error(struct ffi_future_set *args)
{
    future_set(args->future, args->error);
    return NULL;
}

/* Waits for the future, and frees it. */
static struct ffi_error *future_take(struct ffi_future *f)
{
    pthread_mutex_lock(&f->lock);
    while (!f->is_set)
        pthread_cond_wait(&f->done, &f->lock);
    pthread_mutex_unlock(&f->lock);
    struct ffi_error *error = f->error;
    pthread_cond_destroy(&f->done);
    pthread_mutex_destroy(&f->lock);
    free(f);
    return error;
}

/* ---- the frame ---- */

static const struct ffi_api api = {
    .size = sizeof api,
    .version = {.size = sizeof api.version, .major = FFI_MAJOR, .minor = FFI_MINOR},
    .error_create = error_create,
    .error_message = error_message,
    .error_destroy = error_destroy,
    .handler_register = unsupported_function,
    .stream_get = unsupported_function,
    .type_register = unsupported_function,
    .context_get = unsupported_function,
    .state_set = unsupported_function,
    .state_get = unsupported_function,
    .allocate = allocate,
    .free = free_memory,
    .schedule = schedule,
    .thread_count = thread_count,
    .future_create = future_create,
    .future_set_available = future_set_available,
    .future_set_error = future_set_error,
    .run_id = run_id,
    .ordinal = ordinal,
};

static bool make_list(struct arena *a, const struct foreign_array *x, int count,
                      struct ffi_list *out, struct buf *why)
{
    struct ffi_buffer *buffers = ARENA_ARRAY(a, struct ffi_buffer, count);
    *out = (struct ffi_list){.size = sizeof *out, .count = count};
    out->types = ARENA_ARRAY(a, int, count);
    out->at = ARENA_ARRAY(a, void *, count);
    for (int k = 0; k < count; k++) {
        const struct shape *s = x[k].shape;
        if (dtype_table[s->dtype].number == 0)
            return buf_printf(why, "typed FFI does not support %s", dtype_spelling(s->dtype)),
                   false;
        buffers[k] = (struct ffi_buffer){.size = sizeof *buffers,
                                         .dtype = (enum ffi_dtype)dtype_table[s->dtype].number,
                                         .data = x[k].data,
                                         .rank = s->rank,
                                         .dims = ARENA_DUP(a, s->dims, s->rank)};
        out->types[k] = FFI_BUFFER;
        out->at[k] = &buffers[k];
    }
    return true;
}

static bool run(struct ffi_frame *frame, ffi_handler *handler, struct buf *why)
{
    struct ffi_error *error = handler(frame);
    if (!error && frame->future)
        error = future_take(frame->future);
    if (error)
        buf_puts(why,
                 error->message && *error->message ? error->message : "failed without a message");
    bool ok = !error;
    error_free(error);
    return ok;
}

bool ffi_call(native_fn *code, const struct foreign_call *c, const struct foreign_array *in,
              const struct foreign_array *out, struct buf *why)
{
    SCOPED_ARENA a = arena_make();
    struct ffi_context context = {c->participant};
    struct ffi_frame frame = {
        .size = FFI_FRAME_SIZE, .api = &api, .context = &context, .stage = FFI_EXECUTE};
    return make_list(&a, in, c->operand_count, &frame.args, why) &&
           make_list(&a, out, c->result_count, &frame.results, why) &&
           ffi_read_attrs(&a, inst_str(c->inst, A_BACKEND_CONFIG), &frame.attrs, why) &&
           run(&frame, (ffi_handler *)code, why);
}
