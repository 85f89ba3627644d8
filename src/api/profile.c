/*
 * Public interface: profiles, the time that each step of a run takes.
 */
#include "api/api.h"

#include "eval/eval.h"

#include <stdlib.h>

enum {
    MAX_SAMPLES =
        256, /* samples of a step, for its median; when full, every second one is dropped */
    MAX_EVENTS = 1000000
};

struct timed_step {
    const struct function *f;
    int number;
    struct cost cost;
    const char *name, *what, *computation;
    uint64_t calls;
    int64_t spent;  /* nanoseconds of all calls, without nested steps */
    float *samples; /* seconds of every `stride`th call */
    size_t sample_count, stride;
};

struct open_step {
    int64_t start, within; /* within: nanoseconds of nested steps */
};

struct hlo_profile {
    struct arena arena;
    struct run_state *state;
    struct step_callbacks step_callbacks;
    int64_t generation;
    struct timed_step *steps;
    size_t step_count;
    size_t *first; /* by index of a function: its first step in `steps` */
    struct open_step *open;
    size_t open_count, open_capacity;
    struct event {
        uint32_t step;
        int64_t start, duration;
    } * events;
    size_t event_count, event_capacity;
};

static void add_sample(struct hlo_profile *p, struct timed_step *t, int64_t ns)
{
    if (!t->samples) {
        t->samples = ARENA_ARRAY(&p->arena, float, MAX_SAMPLES);
        t->stride = 1;
    }
    if (t->calls % t->stride != 0)
        return;
    if (t->sample_count == MAX_SAMPLES) {
        t->sample_count /= 2;
        for (size_t k = 0; k < t->sample_count; k++)
            t->samples[k] = t->samples[2 * k];
        t->stride *= 2;
        if (t->calls % t->stride != 0)
            return;
    }
    t->samples[t->sample_count++] = (float)((double)ns * 1e-9);
}

static void begin(void *context, const struct function *f, const struct step *s)
{
    struct hlo_profile *p = context;
    VEC_PUSH(&p->arena, p->open, p->open_count, p->open_capacity) =
        (struct open_step){.start = now_ns()};
}

static void end(void *context, const struct function *f, const struct step *s)
{
    struct hlo_profile *p = context;
    const int64_t now = now_ns();
    const struct open_step o = p->open[--p->open_count];
    const size_t number = p->first[f->index] + (size_t)(s - f->steps);
    struct timed_step *t = &p->steps[number];
    const int64_t all = now - o.start, own = all - o.within;
    add_sample(p, t, own);
    t->calls++;
    t->spent += own;
    if (p->open_count > 0)
        p->open[p->open_count - 1].within += all;
    if (p->event_count < MAX_EVENTS)
        VEC_PUSH(&p->arena, p->events, p->event_count, p->event_capacity) =
            (struct event){(uint32_t)number, o.start - p->generation, all};
}

/* The cost of a step; a view of its operand moves no bytes. */
static struct cost cost_of(const struct memory_estimate *memory_estimate, const struct function *f,
                           int number)
{
    const struct step *s = &f->steps[number];
    const struct step_estimate *steps = memory_estimate->steps[f->index];
    struct cost c = plan_cost(s);
    if (steps && s->result_count == 1 && steps[number].visits > 0 &&
        steps[number].results[0].making == MADE_VIEW)
        c.bytes = 0;
    return c;
}

static void list_steps(struct hlo_profile *p)
{
    const struct program *q = p->state->program;
    const struct memory_estimate *memory_estimate = eval_estimate_memory(p->state);
    p->first = ARENA_ARRAY(&p->arena, size_t, q->function_count);
    for (int k = 0; k < q->function_count; k++) {
        p->first[k] = p->step_count;
        p->step_count += (size_t)q->functions[k]->step_count;
    }
    p->steps = ARENA_ARRAY(&p->arena, struct timed_step, p->step_count);
    for (int k = 0; k < q->function_count; k++) {
        const char *computation = arena_str(&p->arena, q->functions[k]->computation->name).ptr;
        for (int n = 0; n < q->functions[k]->step_count; n++) {
            const struct step *s = &q->functions[k]->steps[n];
            p->steps[p->first[k] + (size_t)n] = (struct timed_step){
                .f = q->functions[k],
                .number = n,
                .cost = cost_of(memory_estimate, q->functions[k], n),
                .name = arena_str(&p->arena, s->inst->name).ptr,
                .computation = computation,
                .what = hlo_step_text(&p->arena, p->state, q->functions[k], n).ptr,
            };
        }
    }
}

hlo_profile *hlo_profile_new(hlo_program *program)
{
    OOM_SCOPE(NULL);
    struct hlo_profile *p = heap_zalloc(1, sizeof *p);
    arena_init(&p->arena);
    p->generation = now_ns();
    for (size_t k = 0; k < program->count && !p->state; k++)
        p->state = program->states[k];
    if (!p->state)
        return p;
    list_steps(p);
    p->step_callbacks = (struct step_callbacks){p, begin, end};
    p->state->step_callbacks = &p->step_callbacks;
    return p;
}

void hlo_profile_free(hlo_profile *p)
{
    if (!p)
        return;
    if (p->state)
        p->state->step_callbacks = NULL;
    arena_free(&p->arena);
    heap_free(p);
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median(const struct timed_step *t)
{
    float sorted[MAX_SAMPLES];
    if (t->sample_count == 0)
        return 0;
    memcpy(sorted, t->samples, t->sample_count * sizeof *sorted);
    qsort(sorted, t->sample_count, sizeof *sorted, by_size);
    return (double)sorted[t->sample_count / 2];
}

bool hlo_profile_step(const hlo_profile *p, size_t i, struct hlo_profile_step *out)
{
    if (i >= p->step_count)
        return false;
    const struct timed_step *t = &p->steps[i];
    *out = (struct hlo_profile_step){
        .name = t->name,
        .op = op_spelling(t->f->steps[t->number].inst->opcode),
        .computation = t->computation,
        .what = t->what,
        .step = (size_t)t->number,
        .calls = t->calls,
        .seconds = (double)t->spent * 1e-9,
        .median = median(t),
        .operations = t->cost.operations,
        .bytes = t->cost.bytes,
    };
    return true;
}

bool hlo_profile_event(const hlo_profile *p, size_t i, struct hlo_profile_event *out)
{
    if (i >= p->event_count)
        return false;
    const struct event *e = &p->events[i];
    *out = (struct hlo_profile_event){e->step, (double)e->start * 1e-9, (double)e->duration * 1e-9};
    return true;
}
